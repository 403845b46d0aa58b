/* horizon.h - the horizon: every row below it is visible.
 *
 * A sequence numbers a row before its commit. So a row with a smaller number can become visible
 * after one with a larger number, N, was seen; but only until all transactions have ended that
 * were open when N was seen, since statements that insert numbered rows take their transaction
 * id first (PAWL__PG_NUMBERED_FIRST). Then the horizon moves up to N. The search for new rows
 * begins at the horizon.
 *
 * To know when that is: a transaction id drawn after N was seen is larger than the ids of all
 * transactions open at that moment; they have ended when pg_snapshot_xmin has reached it.
 * (pg_snapshot_xmax cannot be used: open transactions may have ids from it on.) An open snapshot
 * that writes nothing has no id, and does not delay the horizon.
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_HORIZON_H
#define PAWL_STORE_POSTGRES_HORIZON_H

#include <stdint.h>

/* All zero: nothing is known. */
typedef struct pawl__pg_horizon {
    int64_t from;  /* rows not seen yet have this number or a larger one */
    int64_t limit; /* first row that the last scan left for the next one, INT64_MAX: none */
    int64_t seen;  /* number of a row that was seen, or 0, ... */
    int64_t next;  /* ... before the transaction with this id began */
} pawl__pg_horizon;

/* The result of a scan that began at the horizon, or before it. */
typedef struct pawl__pg_sight {
    int64_t last;   /* largest number of a row that was found, or 0 */
    int64_t limit;  /* smallest number of a row that the next scan must find again */
    int64_t oldest; /* pg_snapshot_xmin: transactions with smaller ids have ended */
    int64_t next;   /* a transaction id drawn after the rows were found, or 0 */
} pawl__pg_sight;

/* The number at which the next scan begins. */
static inline int64_t pawl__pg_horizon_begin(const pawl__pg_horizon *horizon)
{
    return horizon->from < horizon->limit ? horizon->from : horizon->limit;
}

static inline void pawl__pg_horizon_move(pawl__pg_horizon *horizon, const pawl__pg_sight *sight)
{
    if (horizon->seen != 0 && sight->oldest >= horizon->next) {
        if (horizon->from < horizon->seen)
            horizon->from = horizon->seen;
        horizon->seen = 0;
    }
    horizon->limit = sight->limit;
    if (horizon->seen == 0 && sight->last != 0 && sight->next != 0) {
        horizon->seen = sight->last;
        horizon->next = sight->next;
    }
}

/* pg_current_xact_id() draws the transaction id before the first row is numbered: part of
 * statements that insert numbered rows, always true, evaluated once. */
#define PAWL__PG_NUMBERED_FIRST "pg_current_xact_id() is not null"

/* The columns of `oldest` and `next`. */
#define PAWL__PG_OLDEST "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
#define PAWL__PG_NEXT "pg_current_xact_id()::text::bigint"

#endif
