/* run.h - the replay in one process: both endpoints stepped on one thread until
 * everything has come to its end.
 *
 *     replay_run_open -> replay_run_work -> look -> replay_run_close
 *
 * A run that was killed is opened again by the same name and goes on; what is
 * left to do is read from the stores alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "application.h"
#include "ground.h"
#include "options.h"
#include "patience.h"

/* Exit code of a replay that came to something else than the single pass. */
#define REPLAY_NOT_VERIFIED 1

typedef struct replay_run replay_run;

/* Called after each step that committed something. Any code but PAWL_OK ends
 * the run with it. */
typedef pawl_code replay_watch_fn(const replay_run *run, void *context, pawl_error *error);

struct replay_run {
    const replay_options *options;
    const replay_ground  *ground;
    replay_patience      *patience; /* with stores that were reached */
    replay_application    made;
    replay_job            job;
    pawl_route            routes[3];
    char                 *transport;                /* URL#QUEUE, owned; NULL: no broker */
    char                 *wire;                     /* URL of the route to it, owned */
    char                  queue[REPLAY_QUEUE_SIZE]; /* of the broker */
    pawl_clock           *clock; /* at the end of time: everything that is known is due. With a
                                    broker at the last event that has come back from it */
    pawl_endpoint        *replay;
    pawl_endpoint        *archive;
    pawl_arena           *arena;    /* of one look at the stores */
    int64_t               messages; /* handled by this process */
    int64_t               commits;
    int64_t               wait;       /* for messages of the broker */
    size_t                received;   /* messages of the last look into the broker */
    bool                  is_flushed; /* nothing more may stay with the aggregator */
    replay_watch_fn      *watch;
    void                 *context;
};

/* Messages in one commit: as asked, or what suits the log. */
int64_t replay_run_batch(const replay_options *options, const replay_log *log);

/* Opens the run; the arguments must outlive it. It may be closed whatever the answer. */
pawl_code replay_run_open(replay_run *run, const replay_options *options,
                          const replay_ground *ground, const replay_log *log,
                          replay_patience *patience, pawl_error *error);
/* Goes on until nothing is left to do. PAWL_EINPUT: the run was begun with
 * another log. */
pawl_code replay_run_work(replay_run *run, replay_watch_fn *watch, void *context,
                          pawl_error *error);
void      replay_run_close(replay_run *run);

#endif
