/* supervisor.h - starts the runners, requests transfers, kills and restarts runners meanwhile, until every transfer is
 * settled.
 *
 *     transfer_supervisor_open -> transfer_supervisor_work -> transfer_supervisor_close
 *
 * The number of concurrent transfers is limited, so that at any time some are in each step. Each kill is due at a
 * random number of settled transfers; it kills a runner that has handled many messages, or any runner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_SUPERVISOR_H
#define TRANSFER_SUPERVISOR_H

#include "options.h"
#include "pawl/operate.h"
#include "plan.h"
#include "support/progress.h"

#include <sys/types.h>

typedef struct transfer_supervisor {
    const transfer_options *options;
    const transfer_plan    *plan;
    char                    run[TRANSFER_RUN_SIZE + 1];
    char                    prefix[PAWL_PREFIX_SIZE_MAX + 1]; /* of the tables */
    pawl_random             random;
    pid_t                   runners[TRANSFER_RUNNERS_MAX]; /* 0: not running */
    pawl_store             *store;
    pawl_sender            *sender;
    pawl_arena             *arena; /* for one read */
    example_progress        progress;
    size_t                  sent;
    size_t                  window;     /* maximum of concurrent transfers */
    bool                   *is_settled; /* index: number - 1 */
    size_t                  settled;
    int64_t                 seq;      /* of the last event that was read */
    int64_t                 moved_at; /* monotonic */
    size_t                 *moments;  /* of the kills: numbers of settled transfers, ascending */
    int64_t                 kills;    /* number of runners killed */
    int64_t                 elapsed;  /* microseconds, from the first request to the end */
} transfer_supervisor;

/* Creates the tables, or opens those to be checked. Close it even after a failure. */
pawl_code transfer_supervisor_open(transfer_supervisor *self, const transfer_options *options,
                                   const transfer_plan *plan, pawl_error *error);
/* Returns when all is settled and delivered, and every runner has ended without error. */
pawl_code transfer_supervisor_work(transfer_supervisor *self, pawl_error *error);
/* Ends the remaining runners; drops the tables unless `is_kept`. */
void transfer_supervisor_close(transfer_supervisor *self, bool is_kept);

#endif
