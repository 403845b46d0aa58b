/* stats_rows.h - counts of a store's rows, for operators (pawl_store_stats).
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: src/conformance/store/stats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STATS_ROWS_H
#define PAWL_STATS_ROWS_H

#include "pawl/change.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many of a queue's scheduled rows, by due time, are searched for retried ones. */
#define PAWL_RETRIED_SCAN_MAX 4096
/* The largest count of rows: it limits the cost of a query to some 10 ms for each table, however large. */
#define PAWL_STATS_COUNT_MAX 100000

/* Counts of a queue. None of them reads more entries of an index than the limits above. */
typedef struct pawl_queue_stats {
    pawl_text queue;
    int64_t   ready;         /* due */
    int64_t   scheduled;     /* not yet due */
    pawl_time oldest;        /* due time of the oldest ready row, 0 */
    int64_t   retried;       /* scheduled rows in delayed retry, among the first
                                PAWL_RETRIED_SCAN_MAX scheduled ones */
    pawl_time retried_since; /* when the oldest of these was placed, 0 */
} pawl_queue_stats;

/* A program begins with PAWL_STATS_INIT; the rest is written by each call. */
typedef struct pawl_stats {
    size_t            stats_size; /* sizeof(pawl_stats) */
    pawl_queue_stats *queues;
    size_t            queue_count;
    int64_t           timeouts_due, timeouts_pending;
    int64_t           outbox_pending, outbox_blocked, outbox_dead;
    pawl_time         outbox_oldest; /* oldest pending row, 0 */
    int64_t           aggregator_rows, flushes_dead;
    int64_t           dead;
    int64_t           inbox;
    int64_t           workers;
    pawl_counters     counters;    /* summed over all workers that ever were */
    int64_t           count_max;   /* in: the largest count; a count of this size means "so many or
                                    more"; 0: set to PAWL_STATS_COUNT_MAX */
    int64_t           flushes_due; /* partitions whose flush by time is due, without dead ones */
    pawl_time         flushes_oldest; /* when the earliest of these was due, 0 */
} pawl_stats;

#define PAWL_STATS_INIT PAWL__BRACES(PAWL__SET(stats_size, sizeof(pawl_stats)))

#ifdef __cplusplus
}
#endif
#endif
