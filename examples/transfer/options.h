/* options.h - the command line of the program.
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
    const char *check;  /* a run that stayed, to be read only; NULL: a new one */
    const char *resume; /* a run that broke off, to be brought to its end; NULL: none */
    const char *run;    /* of a runner: the name of the run it belongs to */
    int64_t     transfers;
    int64_t     accounts;
    int64_t     runners;
    int64_t     kills;
    int64_t     seed; /* 0: from the system */
    int64_t     late; /* microseconds */
    bool        is_json;
    bool        is_kept;
    bool        wants_help;
} transfer_options;

/* Reads the words behind the program's name. PAWL_EINVAL names the wrong one. */
pawl_code transfer_options_parse(int count, char **words, transfer_options *options,
                                 pawl_error *error);
void      transfer_options_help(void); /* on standard output */

#endif
