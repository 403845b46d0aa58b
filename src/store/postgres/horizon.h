/* horizon.h - up to where every row has shown itself.
 *
 * A row is numbered before its commit: one with a smaller number can show up after
 * one with a larger was seen. It cannot any more when every transaction is over that
 * was under way when the larger one was seen, for statements that number rows see to
 * it that their transaction is numbered first (PAWL__PG_NUMBERED_FIRST). So
 * whoever looks for new rows begins at the horizon, which moves that way.
 *
 * A transaction is known to have begun later by a larger number than that of a
 * transaction which was numbered when the row was in sight: pg_snapshot_xmax will not
 * do, there are some under way from it on. A snapshot that is held and writes nothing
 * keeps no horizon back.
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
    int64_t from;  /* what was not seen has this number or a larger one */
    int64_t limit; /* of the last look */
    int64_t seen;  /* a row that was seen, or 0, ... */
    int64_t next;  /* ... before a transaction of this number began */
} pawl__pg_horizon;

/* What a look from the horizon, or from before it, saw. */
typedef struct pawl__pg_sight {
    int64_t last;   /* the largest number, or 0 */
    int64_t limit;  /* what was looked for and is still there has this number or a larger one */
    int64_t oldest; /* transactions before it were over: pg_snapshot_xmin */
    int64_t next;   /* a transaction that was numbered since, or 0 */
} pawl__pg_sight;

/* The number from which to look. */
int64_t pawl__pg_horizon_begin(const pawl__pg_horizon *horizon);
void    pawl__pg_horizon_move(pawl__pg_horizon *horizon, const pawl__pg_sight *sight);

/* A condition that is true; part of statements that insert rows with numbers. It is
 * looked at once, before the first row. */
#define PAWL__PG_NUMBERED_FIRST "pg_current_xact_id() is not null"

/* The columns of `oldest` and `next`. */
#define PAWL__PG_OLDEST "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
#define PAWL__PG_NEXT "pg_current_xact_id()::text::bigint"

#endif
