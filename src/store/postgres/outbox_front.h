/* outbox_front.h - the front of the outbox: where the next claim begins.
 *
 * Entries of delivered rows stay in the index of pending rows until no snapshot can see them.
 * While a snapshot is open for minutes, a claim from the beginning reads the entries of all rows
 * delivered since. If that takes long, a claim begins at the first due row, but not after the
 * horizon (horizon.h): if a row that is committed late were skipped, a later row of its source
 * would be delivered before it. Skipped rows that wait for a retry are claimed when the first of
 * them is due. About 1 % of the time is spent on claims that begin with the first
 * row.
 *
 *     begin -> the claim -> end
 *
 * Threads: belongs to the handle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_OUTBOX_FRONT_H
#define PAWL_STORE_POSTGRES_OUTBOX_FRONT_H

#include "pawl/base.h"
#include "pawl/limits.h"
#include "store/postgres/horizon.h"

#include <stdbool.h>

/* All zero: nothing was claimed yet. */
typedef struct pawl__pg_outbox_front {
    char             endpoint[PAWL_NAME_SIZE_MAX + 1];
    size_t           endpoint_size;
    bool             is_claimed; /* a claim was made */
    pawl__pg_horizon horizon;
    int64_t          waiting;  /* smallest id of the rows that wait for a retry, */
    pawl_time        later;    /* and the earliest due time of those that are skipped */
    int64_t          whole_ms; /* monotonic: when a claim last began with the first row */
    int64_t          pause_ms; /* until the next claim begins with it again */
    int64_t          begun_ms; /* monotonic: when the claim under way began */
} pawl__pg_outbox_front;

/* Where a claim begins, and its results. */
typedef struct pawl__pg_outbox_scan {
    int64_t start; /* the id at which it begins, 0: the first row */
    int64_t
        far; /* a due row with this id or a larger one makes it draw a transaction id, sight.next */
    pawl__pg_sight sight;   /* of the due rows; its limit is the first of them */
    int64_t        waiting; /* the smallest id of the rows that wait, INT64_MAX: there are none */
    pawl_time      later;   /* when the first of the rows that wait is due, or PAWL_TIME_MAX */
} pawl__pg_outbox_scan;

/* Chooses the id at which the claim begins, and `far`, from which on the horizon is moved. */
void pawl__pg_outbox_front_begin(pawl__pg_outbox_front *front, pawl_text endpoint, pawl_time now,
                                 pawl__pg_outbox_scan *scan);
void pawl__pg_outbox_front_end(pawl__pg_outbox_front *front, const pawl__pg_outbox_scan *scan);
/* Rows from before the front are pending again: the next claim begins with the first row. */
void pawl__pg_outbox_front_restart(pawl__pg_outbox_front *front);
/* Forgets what was seen: the connection may be another server's now. */
void pawl__pg_outbox_front_forget(pawl__pg_outbox_front *front);

#endif
