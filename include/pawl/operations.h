/* operations.h - single operations on a store: sagas, timeouts, aggregators, outbox rows, dead
 * letters, the event store, projections. The rules below hold for all of them.
 *
 *     pawl_store_open -> { one operation = one read, or one commit of one change }
 *                     -> pawl_store_close
 *
 * Endpoints do not use these calls: they commit a batch at once. The calls
 * are for programs with a loop of their own, for tools and for tests. An
 * item in parentheses, as (A21), is explained in docs/GUARANTEES.md.
 *
 * Threads: a handle is used by one thread at a time; different handles may be
 *     used at the same time (A25, T7, S9).
 * Time: `now` and every other pawl_time are microseconds since the epoch, UTC,
 *     and given by the caller (T19). Leases and durations are microseconds.
 * Memory: arguments are borrowed for the call; results live in the arena
 *     that is passed in. On failure the caller's row is unchanged, unless
 *     the call's comment says otherwise (S8).
 * Worker: the first call that writes or leases opens a worker for the handle;
 *     closing the handle frees its leases.
 *
 * Answers, besides those of the connection (PAWL_EBUSY, PAWL_ELOST ...):
 *
 *     the contract says   the call answers
 *     INVALID_ARG         PAWL_EINVAL; PAWL_ELIMIT for a size over its limit
 *     NOT_FOUND           PAWL_ENOTFOUND: aggregator_remove, partition_find,
 *                             partition_run_now, partition_remove, projection_find
 *     CONCURRENCY         PAWL_ECONFLICT: saga_update, saga_delete,
 *                             aggregator_remove, aggregator_remove_leased_batch,
 *                             append, checkpoint_set
 *                         PAWL_EDUPLICATE: saga_insert, saga_update (transitional
 *                             value), timeout_insert, dead_settle, dead_retry,
 *                             dead_edit
 *                         PAWL_EGONE: timeout_remove and timeout_release with an
 *                             owner, outbox_settle, outbox_retry, outbox_discard,
 *                             dead_settle, dead_retry, dead_edit, dead_discard
 *     mismatch            PAWL_EMISMATCH: outbox_insert, append
 *     CONFIG              PAWL_ECONFIG: append
 *     PERSISTENCE         PAWL_EPERSIST; the text has the lower error (A23)
 *     SCHEMA              PAWL_ESCHEMA
 *
 * All of CONCURRENCY have the retry class PAWL_RETRY_RELOAD; nothing was changed.
 * PAWL_EUNSUPPORTED: the driver lacks a read that the operation needs.
 *
 * Tests: src/conformance/operation, tests/unit/store/test_store_operations.c,
 *     tests/unit/store/test_store_operations_refused.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_OPERATIONS_H
#define PAWL_OPERATIONS_H

#include "pawl/store_aggregator.h"
#include "pawl/store_alarm.h"
#include "pawl/store_dead.h"
#include "pawl/store_event_store.h"
#include "pawl/store_history.h"
#include "pawl/store_outbox.h"
#include "pawl/store_partition.h"
#include "pawl/store_projection.h"
#include "pawl/store_queue.h"
#include "pawl/store_saga.h"
#include "pawl/store_schedule.h"
#include "pawl/store_timeout.h"
#include "pawl/store_worker.h"

#endif
