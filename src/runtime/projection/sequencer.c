/* sequencer.c - gives committed events their global positions.
 *
 * If transactions commit in another order than they insert, an event that becomes visible late must not get a position
 * before one that was already read. So positions are given after the commit, batch by batch, to the events that are
 * visible then. An open transaction does not delay the events of others:
 *
 *     insert   1 ............ commit       positions   2: 1, 3: 2
 *     insert   2 commit                                1: 3
 *     insert   3 commit
 *
 * A store whose commits are ordered gives positions at insertion, and reports 0 events here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/projection/projection.h"

/* The lease is free at once if the holder's session is gone. If the holder hangs, it lasts this long. */
#define LEASE PAWL_SECONDS(60)
#define RENEWAL PAWL_SECONDS(25)
#define TRIAL PAWL_SECONDS(14) /* between tries of a service that does not have the lease */
#define NUMBER_COUNT 1000      /* in one transaction */
#define NUMBER_ROUNDS 16       /* in a row */

void pawl__lease_forget(pawl__lease *lease)
{
    lease->is_ours = false;
    lease->renewal = PAWL_TIME_MIN;
}

pawl_code pawl__lease_keep(pawl__lease *lease, pawl_store *store, pawl_time now, pawl_error *error)
{
    if (now < lease->renewal)
        return PAWL_OK;
    pawl_code code = pawl_store_lead(store, lease->name, now, LEASE, &lease->is_ours, error);
    if (code != PAWL_OK)
        pawl__lease_forget(lease);
    else
        lease->renewal = pawl_time_add(now, lease->is_ours ? RENEWAL : TRIAL);
    return code;
}

pawl_code pawl__sequencer_run(pawl__lease *lease, pawl_store *store, bool is_needed, pawl_time now,
                              int64_t *count, bool *more, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *count         = 0;
    *more          = false;
    if (is_needed)
        code = pawl__lease_keep(lease, store, now, error);
    else if (lease->is_ours)
        code = pawl_store_unlead(store, lease->name, error);
    if (!is_needed)
        pawl__lease_forget(lease);
    *more = code == PAWL_OK && lease->is_ours;
    for (int i = 0; i < NUMBER_ROUNDS && code == PAWL_OK && *more; i++) {
        int64_t given = 0;
        code          = pawl_store_event_number(store, NUMBER_COUNT, &given, error);
        *count += given;
        *more = code == PAWL_OK && given == NUMBER_COUNT;
    }
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "global positions of events");
}
