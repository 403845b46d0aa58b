/* store_partition.h - partitions of aggregators, and what an operator does with one: list, run
 * now, remove its rows. operations.h says what is the same for all of these calls.
 *
 *     partition_list or partition_find -> partition_run_now, partition_remove -> partition_actions
 *
 * A partition is there from its first row until the flush that leaves it empty.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/partition.c, tests/unit/engine/test_engine_aggregator.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_PARTITION_H
#define PAWL_STORE_PARTITION_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Finding ------------------------------------------------------------ */

typedef struct pawl_partition_row {
    pawl_text partition; /* the aggregator's name, or that, '/' and a key */
    pawl_text aggregator;
    int64_t   count;    /* rows, leased ones too */
    pawl_time oldest;   /* when the oldest of them was added; 0: there is none */
    pawl_time due;      /* business time of the next flush by time; PAWL_TIME_MAX: none */
    int32_t   attempts; /* flushes in a row that failed */
    bool      is_dead;  /* failed too often: it collects, and nothing is handed over */
    pawl_text error;    /* of the last flush, when it failed */
} pawl_partition_row;

typedef struct pawl_partition_rows {
    pawl_partition_row *items;
    size_t              count;
} pawl_partition_rows;

/* A filter of partitions; a field that is empty or zero matches any. */
typedef struct pawl_partition_query {
    pawl_text aggregator;
    bool      is_dead; /* dead ones only */
    pawl_text after;   /* larger than this, by the order of bytes */
    size_t    count_max;
} pawl_partition_query;

/* Partitions that the query matches, in the order of the bytes of their names (A7). */
PAWL_API pawl_code pawl_store_partition_list(pawl_store *store, const pawl_partition_query *query,
                                             pawl_arena *arena, pawl_partition_rows *rows,
                                             pawl_error *error);
/* PAWL_ENOTFOUND: there is none of that name. */
PAWL_API pawl_code pawl_store_partition_find(pawl_store *store, pawl_text partition,
                                             pawl_arena *arena, pawl_partition_row *row,
                                             pawl_error *error);

/* ---- What an operator does ---------------------------------------------- */

/* Makes the partition due now, with no failure behind it: a dead one starts again, one that waits
 * for its next try is tried at once, and any other is handed over however few its rows are. Workers
 * check every ten seconds. A flush that is under way at this moment writes its own outcome after.
 *
 * PAWL_ENOTFOUND  there is no such partition
 * PAWL_ECONFLICT  somebody else acts on it at this moment
 * PAWL_EINVAL, PAWL_ELIMIT  `by` is empty; `by` and `reason` have more than
 *                 PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_partition_run_now(pawl_store *store, pawl_text partition,
                                                pawl_text by, pawl_text reason, pawl_time now,
                                                pawl_error *error);
/* Removes all rows of the partition, leased or not (A24), and what is known of its flushes;
 * `*count` is how many it had. A flush that is under way is refused, and its handler's effects with
 * it. The errors of run_now. */
PAWL_API pawl_code pawl_store_partition_remove(pawl_store *store, pawl_text partition, pawl_text by,
                                               pawl_text reason, pawl_time now, int64_t *count,
                                               pawl_error *error);

/* ---- What was done ------------------------------------------------------ */

/* Types of the events that actions leave, one stream for each partition. Headers: "by", "reason",
 * "aggregator", "count", "attempts", "error" and "was": "dead", "failing" or "collecting". */
#define PAWL_PARTITION_STREAMS "pawl.partition" /* the name of a stream begins so, then a slash */
#define PAWL_PARTITION_RUN_NOW "pawl.partition_released"
#define PAWL_PARTITION_REMOVED "pawl.partition_removed"

/* Actions on the partition, oldest first, whether it is there now or not. */
PAWL_API pawl_code pawl_store_partition_actions(pawl_store *store, pawl_text partition,
                                                pawl_arena *arena, pawl_event_rows *rows,
                                                pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
