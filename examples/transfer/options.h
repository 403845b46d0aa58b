/* options.h - the program's command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_OPTIONS_H
#define TRANSFER_OPTIONS_H

#include "pawl/base.h"

#define TRANSFER_RUNNERS_MAX 64
#define TRANSFER_RUN_SIZE 8 /* of a run's name */

typedef struct transfer_options {
    const char *store;
    const char *check;  /* an existing run that is only checked; NULL: a new run */
    const char *resume; /* an aborted run that is to be completed; or NULL */
    const char *run;    /* of a runner: the name of its run */
    int64_t     transfers;
    int64_t     accounts;
    int64_t     runners;
    int64_t     kills;
    int64_t     seed; /* 0: drawn by the system */
    int64_t     late; /* microseconds */
    bool        is_json;
    bool        is_kept;
    bool        wants_help;
} transfer_options;

/* Reads the arguments after the program's name. PAWL_EINVAL names the wrong one. */
pawl_code transfer_options_parse(int count, char **words, transfer_options *options,
                                 pawl_error *error);
void      transfer_options_help(void); /* on standard output */

#endif
