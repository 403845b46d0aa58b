/* store_partition.h - an operator's calls on partitions of aggregators: list, find, run now, remove the
 * rows. operations.h has the rules of all calls.
 *
 *     partition_list or partition_find -> partition_run_now, partition_remove -> partition_actions
 *
 * A partition exists from its first row until a flush leaves it empty.
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
    bool      is_dead;  /* failed too often: it collects messages, but is not flushed */
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
/* The partition of that name. PAWL_ENOTFOUND: there is no such partition. */
PAWL_API pawl_code pawl_store_partition_find(pawl_store *store, pawl_text partition,
                                             pawl_arena *arena, pawl_partition_row *row,
                                             pawl_error *error);

/* ---- What an operator does ---------------------------------------------- */

/* Makes the partition due now, and resets its failures: a dead or failing partition is tried again, and any
 * other is flushed before it is full. Workers check for this every ten seconds. A flush that is under way
 * overwrites this with its own outcome.
 *
 * PAWL_ENOTFOUND  there is no such partition
 * PAWL_ECONFLICT  another operator acts on it at this moment
 * PAWL_EINVAL, PAWL_ELIMIT  `by` is empty; `by` and `reason` have more than
 *                 PAWL_ERROR_TEXT_SIZE_MAX bytes together */
PAWL_API pawl_code pawl_store_partition_run_now(pawl_store *store, pawl_text partition,
                                                pawl_text by, pawl_text reason, pawl_time now,
                                                pawl_error *error);
/* Removes all rows of the partition, leased or not (A24), and the state of its flushes; `*count` is the
 * number of rows. The commit of a flush that is under way is refused, so its handler's effects are dropped. Errors as
 * of run_now. */
PAWL_API pawl_code pawl_store_partition_remove(pawl_store *store, pawl_text partition, pawl_text by,
                                               pawl_text reason, pawl_time now, int64_t *count,
                                               pawl_error *error);

/* ---- What was done ------------------------------------------------------ */

/* Types of the events that actions append, one stream for each partition. Headers: "by", "reason",
 * "aggregator", "count", "attempts", "error" and "was": "dead", "failing" or "collecting". */
#define PAWL_PARTITION_STREAMS "pawl.partition" /* the name of a stream begins so, then a slash */
#define PAWL_PARTITION_RUN_NOW "pawl.partition_released"
#define PAWL_PARTITION_REMOVED "pawl.partition_removed"

/* Events of actions on the partition, oldest first, whether it exists now or not. */
PAWL_API pawl_code pawl_store_partition_actions(pawl_store *store, pawl_text partition,
                                                pawl_arena *arena, pawl_event_rows *rows,
                                                pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
