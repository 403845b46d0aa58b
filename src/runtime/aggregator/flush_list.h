/* flush_list.h - which partitions are to hand over: those that were asked for, that are due, and that may be full.
 *
 *     takes_check -> asked -> checked or due -> (flush.c hands them over) -> next
 *
 * Threads: as the worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_FLUSH_LIST_H
#define PAWL_RUNTIME_FLUSH_LIST_H

#include "runtime/runtime.h"

#define PAWL__FLUSH_NOT_READ ((pawl_text){.data = "", .size = 0}) /* the error of a flush row */

/* A partition to hand over. */
typedef struct pawl__flush_target {
    const pawl__aggregator_model *aggregator;
    pawl_text                     partition;
    pawl_text                     error; /* of its flush row, where that was read */
    bool                          is_by_size;
    bool                          is_checked; /* id_max was read */
    int64_t                       id_max;     /* not by size: rows up to this one */
    int64_t                       left;       /* rows of these, leased or not, taken in no piece */
    bool                          is_shared;  /* not by size: took a piece that left some */
    pawl_aggregator_counts        gate;     /* as read; pieces taken since are not ready any more */
    int                           meetings; /* snapshots released for too few rows, by size */
    bool                          is_done;
} pawl__flush_target;

/* Unless it is one of the first `known` items, in which it may be. */
pawl_code pawl__flush_list_add(pawl__flush_list *list, size_t known,
                               const pawl__aggregator_model *aggregator, pawl_text partition,
                               pawl_text why, bool is_by_size);
/* Partitions for which pawl_endpoint_flush was called. */
pawl_code pawl__flush_list_asked(pawl__worker *worker, pawl_error *error);
pawl_code pawl__flush_list_due(pawl__worker *worker, pawl_time due_max, pawl_error *error);

/* Is the check of all partitions this worker's? One worker of the endpoint makes it each period,
 * and each worker once at its start. */
bool pawl__flush_list_takes_check(pawl__worker *worker);
/* Checks all partitions for full ones that were not flushed: a worker died after the commit, or a
 * failed flush waits for its next try. Idle workers do it every few seconds: one read for each
 * aggregator with a size, one for all others together, and these also tell when the next period
 * ends. */
pawl_code pawl__flush_list_checked(pawl__worker *worker, pawl_time due_max, pawl_error *error);
/* Reads when the next period ends, so that an idle worker sleeps no longer. */
pawl_code pawl__flush_list_next(pawl__worker *worker, pawl_error *error);

#endif
