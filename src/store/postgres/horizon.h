/* horizon.h - the horizon: every row below it is visible.
 *
 * A sequence numbers a row before its commit: a row with a smaller number can become visible
 * after one with a larger number was seen. It cannot any more once every transaction is over
 * that was under way when the larger one was seen, because statements that insert numbered rows
 * take their transaction id first (PAWL__PG_NUMBERED_FIRST). So the search for new rows begins
 * at the horizon, and the horizon moves up that way.
 *
 * A transaction id says which transaction began later: one drawn after a row was seen is larger
 * than those of all transactions that were under way then. pg_snapshot_xmax will not do: from
 * it on there are ids of transactions under way. A snapshot that is kept open and writes
 * nothing keeps no horizon back.
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
    int64_t from;  /* rows that were not seen have this number or a larger one */
    int64_t limit; /* first row that the last scan left to be found again, INT64_MAX: none */
    int64_t seen;  /* number of a row that was seen, or 0, ... */
    int64_t next;  /* ... before the transaction with this id began */
} pawl__pg_horizon;

/* The findings of a scan that began at the horizon, or before it. */
typedef struct pawl__pg_sight {
    int64_t last;   /* largest number of a row that was found, or 0 */
    int64_t limit;  /* smallest number of a row that the next scan is to find again */
    int64_t oldest; /* transactions with smaller ids were over: pg_snapshot_xmin */
    int64_t next;   /* a transaction id drawn after the rows were found, or 0 */
} pawl__pg_sight;

/* The number at which the next scan begins. */
int64_t pawl__pg_horizon_begin(const pawl__pg_horizon *horizon);
void    pawl__pg_horizon_move(pawl__pg_horizon *horizon, const pawl__pg_sight *sight);

/* pg_current_xact_id() draws the transaction id before the first row is numbered: part of
 * statements that insert numbered rows, always true, evaluated once. */
#define PAWL__PG_NUMBERED_FIRST "pg_current_xact_id() is not null"

/* The columns of `oldest` and `next`. */
#define PAWL__PG_OLDEST "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
#define PAWL__PG_NEXT "pg_current_xact_id()::text::bigint"

#endif
