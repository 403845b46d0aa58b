/* store_event_store.h - single operations on the event store: append events with the messages that
 * they send, read them, store snapshots and checkpoints. operations.h has the rules of
 * all calls.
 *
 *     { stream_read -> apply -> append }        a stream; append checks its version
 *     { checkpoint_get -> events in global order -> checkpoint_set }    a projection
 *
 * Threads: as the handle's. Of two appends at one version only one succeeds, from any handles or
 *     processes, at any isolation level (O3, O4).
 * Tests: src/conformance/operation/event_store.c, tests/unit/store/test_store_operations_refused.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_EVENT_STORE_H
#define PAWL_STORE_EVENT_STORE_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Events to append to a stream, and messages to be sent because of them. */
typedef struct pawl_append {
    pawl_text              stream;  /* "type/id" */
    int64_t                version; /* of its last event; 0: there is none yet */
    const pawl_event      *events;  /* get the versions behind it */
    size_t                 event_count;
    const pawl_outbox_row *dispatches;
    size_t                 dispatch_count;
    pawl_text outbox; /* the endpoint whose dispatcher delivers them; empty: there is none */
} pawl_append;

/* Appends the events and adds the dispatches to the outbox in one commit: after
 * PAWL_OK all are durable, after a failure none exists (O1).
 *
 * Of a dispatch destination, message, due and dispatch_id are read. A zero dispatch id is
 * computed from (outbox, stream, version of the last event, index of the dispatch),
 * so that a repeated append makes the same ids (O5, O7); an empty message id
 * becomes the dispatch id's text. Dispatches are delivered in this order, after those of the
 * stream's earlier versions (O8).
 *
 * PAWL_ECONFIG    there are dispatches, but `outbox` is empty or the store has no
 *                 outbox. Nothing was written (O2).
 * PAWL_ECONFLICT  the stream does not end at `version`: load it again. Nothing was written (O4).
 *                 If an append is repeated because its answer was lost, this code
 *                 means that the first one succeeded (O7).
 * PAWL_EMISMATCH  a dispatch id exists with another type or body (O5).
 * PAWL_EINVAL     there is no event (dispatches alone would repeat the ids of the
 *                 version before), or the version is negative.
 * PAWL_ELIMIT     more than PAWL_BATCH_MESSAGES_MAX events or dispatches. */
PAWL_API pawl_code pawl_store_append(pawl_store *store, const pawl_append *append, pawl_time now,
                                     pawl_error *error);

/* One consistent read of a stream: its version, its snapshot when one is
 * requested, and the events behind that (O4, O18). A stream that does not exist has version 0. */
PAWL_API pawl_code pawl_store_stream_read(pawl_store *store, const pawl_stream_read *read,
                                          pawl_arena *arena, pawl_stream *stream,
                                          pawl_error *error);

/* Events of one stream or of all. A reader in global order misses no event: global positions are
 * assigned in order, without a gap, after the events' commits. */
PAWL_API pawl_code pawl_store_events(pawl_store *store, const pawl_event_query *query,
                                     pawl_arena *arena, pawl_event_rows *rows, pawl_error *error);

/* Stores a snapshot, the state computed from a stream's events: version, type_version,
 * state and dispatches of it; `at` is not read. A stored snapshot of the same or a later version
 * stays. */
PAWL_API pawl_code pawl_store_stream_snapshot_save(pawl_store *store, pawl_text stream,
                                                   const pawl_stream_snapshot_row *snapshot,
                                                   pawl_time now, pawl_error *error);

/* The global position up to which the projection of that name has read; 0: its checkpoint was never set. */
PAWL_API pawl_code pawl_store_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                             pawl_error *error);
/* Moves the checkpoint of that name from one global position to a later one.
 *
 * PAWL_ECONFLICT  the checkpoint is not at `from`: another worker moved it.
 * PAWL_EINVAL     `to` is not behind `from`. */
PAWL_API pawl_code pawl_store_checkpoint_set(pawl_store *store, pawl_text name, int64_t from,
                                             int64_t to, pawl_time now, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
