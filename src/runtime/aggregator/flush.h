/* flush.h - flushes aggregators: passes collected messages to their handler, by size, by period or on request.
 *
 *     a commit adds to a partition --> worker->grown --after_commit--> if full: lease, handler, commit
 *     a period ends, a request, a check after a crash  --is_due, due--> the same for each such partition
 *
 * Threads: as the worker. Tests: tests/unit/engine/test_engine_aggregator.c, tests/unit/runtime
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_FLUSH_H
#define PAWL_RUNTIME_FLUSH_H

#include "runtime/runtime.h"

/* Flushes by size the full partitions among worker->grown. */
pawl_code pawl__flush_after_commit(pawl__worker *worker, pawl_step *step, pawl_error *error);
/* Flushes on request, by period, retries of failed flushes, and partitions that a crash left full. `*did`: there was
 * something to flush. */
pawl_code pawl__flush_due(pawl__worker *worker, pawl_time due_max, bool *did, pawl_step *step,
                          pawl_error *error);
/* Makes the endpoint's next check read all partitions, as a full one may have been left. */
void pawl__flush_check_soon(pawl_endpoint *endpoint);
/* Has a step left partitions to the next one? */
bool pawl__flush_is_left(const pawl__worker *worker);
/* Is there something to flush or to check? Without a virtual clock never directly after a step that flushed. */
bool pawl__flush_is_due(pawl__worker *worker, pawl_time business_now);
/* Business time at which the next period ends, as far as the worker knows. */
pawl_time pawl__flush_next(const pawl__worker *worker, pawl_time business_now);

/* ---- The partitions to flush: flush_list.c ---------------------------------- *
 *
 * Those requested, those due, and those that may be full:
 *
 *     takes_check -> asked -> checked or due -> (flush.c flushes them) -> next */

#define PAWL__FLUSH_NOT_READ ((pawl_text){.data = "", .size = 0}) /* the error of a flush row */

/* A partition to flush. */
typedef struct pawl__flush_target {
    const pawl__aggregator_model *aggregator;
    pawl_text                     partition;
    pawl_text                     error; /* of its flush row, if that was read */
    bool                          is_by_size;
    bool                          is_checked; /* id_max has been read */
    int64_t                       id_max;     /* not by size: flush the rows up to this one */
    int64_t                left; /* how many of these are not in a leased batch of this worker */
    bool                   is_shared;     /* not by size: a batch left some rows */
    pawl_aggregator_counts gate;          /* counts as read, less the batches leased since */
    int                    too_few_count; /* by size: batches released for too few rows */
    bool                   is_done;
} pawl__flush_target;

/* Adds the partition, unless it is among the first `known` items. */
pawl_code pawl__flush_list_add(pawl__flush_list *list, size_t known,
                               const pawl__aggregator_model *aggregator, pawl_text partition,
                               pawl_text why, bool is_by_size);
/* Adds partitions for which pawl_endpoint_flush was called. */
pawl_code pawl__flush_list_asked(pawl__worker *worker, pawl_error *error);
pawl_code pawl__flush_list_due(pawl__worker *worker, pawl_time due_max, pawl_error *error);

/* Does this worker make the check now? One worker of the endpoint does so each period, and each worker once at its
 * start. */
bool pawl__flush_list_takes_check(pawl__worker *worker);
/* Adds due partitions; costs one statement while there are none, so idle workers do it every few seconds. Once a
 * minute, and at the endpoint's start, one worker checks all partitions: a full one was not flushed if its worker died
 * after the commit. */
pawl_code pawl__flush_list_checked(pawl__worker *worker, pawl_time due_max, pawl_error *error);
/* Reads when the next period ends, until which an idle worker may sleep. */
pawl_code pawl__flush_list_next(pawl__worker *worker, pawl_error *error);

#endif
