/* supervisor.h - starts the runners, asks for the transfers, kills runners on the
 * way and starts them again, until every transfer is settled.
 *
 *     transfer_supervisor_open -> transfer_supervisor_work -> transfer_supervisor_close
 *
 * The number of transfers under way is limited, so that at every moment of the run
 * some are in each of their steps. For each kill a number of settled transfers is drawn, at which it
 * is due; it kills a runner that has handled many messages, or any runner.
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
    pid_t                   runners[TRANSFER_RUNNERS_MAX]; /* 0: it is not there */
    pawl_store             *store;
    pawl_sender            *sender;
    pawl_arena             *arena; /* of one look */
    example_progress        progress;
    size_t                  sent;
    size_t                  window;     /* transfers that are under way at most */
    bool                   *is_settled; /* by number - 1 */
    size_t                  settled;
    int64_t                 seq;      /* of the last event that a look has met */
    int64_t                 moved_at; /* monotonic */
    size_t                 *moments;  /* of the kills: transfers settled, rising */
    int64_t                 kills;    /* delivered */
    int64_t                 elapsed;  /* microseconds, from the first request to the end */
} transfer_supervisor;

/* Makes the tables, or opens those that are to be checked. It may be closed whatever the answer. */
pawl_code transfer_supervisor_open(transfer_supervisor *self, const transfer_options *options,
                                   const transfer_plan *plan, pawl_error *error);
/* Returns when all is settled, delivered and every runner has ended well. */
pawl_code transfer_supervisor_work(transfer_supervisor *self, pawl_error *error);
/* Ends the runners that are left; drops the tables unless they are to stay. */
void transfer_supervisor_close(transfer_supervisor *self, bool is_kept);

#endif
