/* options.h - the command line of pawl-replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_OPTIONS_H
#define REPLAY_OPTIONS_H

#include "log.h"

#define REPLAY_QUIET_DEFAULT PAWL_DAYS(30)
#define REPLAY_BATCH_DEFAULT 50
#define REPLAY_BATCH_MESSAGES_DEFAULT 256
#define REPLAY_BATCH_MAX 10000 /* of one group; limits the input of one handler call */
#define REPLAY_KILLS_MAX 10000

typedef struct replay_options {
    const char    *log;
    const char    *store;     /* NULL: a file in the work folder */
    const char    *archive;   /* NULL: a file in the work folder */
    const char    *work;      /* NULL: a folder of this run only */
    const char    *transport; /* URL of a broker, or NULL */
    const char    *run;       /* run to be continued; NULL: a new one */
    const char    *child;     /* for a child: arguments from crash.c */
    replay_columns columns;
    int64_t        quiet;          /* microseconds */
    int64_t        batch;          /* events of a group that are handled together */
    int64_t        batch_messages; /* messages in one commit; 0: default */
    int64_t        deadline; /* of one store call, in microseconds; 0: the library's default */
    int64_t        kills;    /* number of kills; 0: one process, no kill */
    int64_t        seed;     /* of the times of kills; 0: drawn by the system */
    bool           is_json;
    bool           is_kept; /* do not drop the tables */
    bool           wants_help;
    bool           wants_version;
    const char    *workers; /* refused */
} replay_options;

/* Reads the arguments after the program's name. PAWL_EINVAL names the wrong one. */
pawl_code replay_options_parse(int count, char **words, replay_options *options, pawl_error *error);
void      replay_options_help(void); /* on standard output */

#endif
