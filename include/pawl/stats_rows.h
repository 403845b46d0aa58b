/* stats_rows.h - counts of a store for operators.
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

/* Of the rows of a queue that are not due yet, the first so many are checked for retries. */
#define PAWL_RETRIED_SCAN_MAX 4096
/* Where counts of rows end, so that a query costs the same for a table of any size: some 10 ms for
 * each of them that is so large. */
#define PAWL_STATS_COUNT_MAX 100000

/* Counts for operators. None of them reads more entries of an index than the limits above. */
typedef struct pawl_queue_stats {
    pawl_text queue;
    int64_t   ready;         /* due */
    int64_t   scheduled;     /* not yet due */
    pawl_time oldest;        /* due time of the oldest ready row, 0 */
    int64_t   retried;       /* of the scheduled ones: in delayed retry; with more rows than
                                PAWL_RETRIED_SCAN_MAX before them there may be more */
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
    pawl_counters     counters;  /* summed over all workers that ever were */
    int64_t           count_max; /* in: every count of rows ends here, and as large as this says "so
                                    many or more"; 0: PAWL_STATS_COUNT_MAX, which is written here */
    int64_t           flushes_due;    /* partitions whose flush by time is due, dead ones not */
    pawl_time         flushes_oldest; /* when the earliest of these was due, 0 */
} pawl_stats;

#define PAWL_STATS_INIT                  \
    {                                    \
        .stats_size = sizeof(pawl_stats) \
    }

#ifdef __cplusplus
}
#endif
#endif
