/* run.h - the replay in one process: steps both endpoints on one thread until no work is left.
 *
 *     replay_run_open -> replay_run_work -> read the result -> replay_run_close
 *
 * A run that was killed is continued by opening it under the same name: the stores have its whole state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "application.h"
#include "options.h"
#include "patience.h"
#include "workspace.h"

/* Exit code of a replay whose result differs from the single pass. */
#define REPLAY_NOT_VERIFIED 1

typedef struct replay_run replay_run;

/* Called after each step that committed something. A code other than PAWL_OK ends the run. */
typedef pawl_code replay_watch_fn(const replay_run *run, void *context, pawl_error *error);

struct replay_run {
    const replay_options   *options;
    const replay_workspace *workspace;
    replay_patience        *patience; /* for stores that were reached once */
    replay_application      made;
    replay_job              job;
    pawl_route              routes[3];
    char                   *transport;                /* URL#QUEUE, owned; NULL: no broker */
    char                   *wire;                     /* URL of the route to it, owned */
    char                    queue[REPLAY_QUEUE_SIZE]; /* queue in the broker */
    /* At the end of time, so that everything is due; with a broker at the last event that has come back from it. */
    pawl_clock      *clock;
    pawl_endpoint   *replay;
    pawl_endpoint   *archive;
    pawl_arena      *arena;    /* for one read of the stores */
    int64_t          messages; /* handled by this process */
    int64_t          commits;
    int64_t          wait;       /* for messages from the broker */
    size_t           received;   /* messages of the last read from the broker */
    bool             is_flushed; /* the aggregator's remaining messages are flushed, too */
    replay_watch_fn *watch;
    void            *context;
};

/* Messages in one commit: the option, or a number that suits the log. */
int64_t replay_run_batch(const replay_options *options, const replay_log *log);

/* Opens the run; the arguments must outlive it. Close it even after a failure. */
pawl_code replay_run_open(replay_run *run, const replay_options *options,
                          const replay_workspace *workspace, const replay_log *log,
                          replay_patience *patience, pawl_error *error);
/* Runs until no work is left. PAWL_EINPUT: the run was begun with another log. */
pawl_code replay_run_work(replay_run *run, replay_watch_fn *watch, void *context,
                          pawl_error *error);
void      replay_run_close(replay_run *run);

#endif
