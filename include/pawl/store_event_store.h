/* store_event_store.h - the event store, one call each: append events with what they
 * dispatch, read them, store snapshots and checkpoints. operations.h says what is the same
 * for all of these calls.
 *
 *     { stream_read -> apply -> append }        a stream, by its one next version
 *     { checkpoint_get -> events in global order -> checkpoint_set }    a projection
 *
 * Threads: as the handle's. Of two appends at one version one wins, whatever the
 *     handles, processes and stores' isolation levels (O3, O4).
 * Tests: src/conformance/operation/journal.c, tests/unit/store/test_store_operations_refused.c
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

/* Appends the events and adds the dispatches to the outbox in one commit: when it
 * answers PAWL_OK all are durable, else none is there (O1).
 *
 * Of a dispatch are read: destination, message, due and dispatch_id. A zero id is
 * made of (outbox, stream, version of the last event, index of the dispatch),
 * so that the same append run again makes the same ids (O5, O7); an empty message id
 * becomes the dispatch id's text. They are delivered in this order, those of the
 * stream's earlier versions before them (O8).
 *
 * PAWL_ECONFIG    dispatches, but no outbox: the name is empty, or the store has
 *                 none. Nothing was written (O2).
 * PAWL_ECONFLICT  the stream does not end at `version`: load it again. No dispatch
 *                 was left either (O4). Run again after an append whose answer was
 *                 lost, it says that that one came through (O7).
 * PAWL_EMISMATCH  a dispatch id exists with another type or body (O5).
 * PAWL_EINVAL     no event: dispatches alone would repeat the ids of the version
 *                 before. A negative version.
 * PAWL_ELIMIT     more than PAWL_BATCH_MESSAGES_MAX events or dispatches. */
PAWL_API pawl_code pawl_store_append(pawl_store *store, const pawl_append *append, pawl_time now,
                                     pawl_error *error);

/* One consistent read of a stream: its version, its snapshot when one is
 * requested, and the events behind that (O4, O18). A stream that does not exist has version 0. */
PAWL_API pawl_code pawl_store_stream_read(pawl_store *store, const pawl_stream_read *read,
                                          pawl_arena *arena, pawl_stream *stream,
                                          pawl_error *error);

/* Events of one stream or of all. In global order none is ever missed: global positions are
 * assigned in order, without a gap, to events whose commit is past. */
PAWL_API pawl_code pawl_store_events(pawl_store *store, const pawl_event_query *query,
                                     pawl_arena *arena, pawl_event_rows *rows, pawl_error *error);

/* Stores a snapshot, the state computed from a stream's events: version, type_version,
 * state and dispatches of it; `at` is not read. A stored snapshot of the same or a later version
 * stays: a snapshot saves reads, it is not a fact. */
PAWL_API pawl_code pawl_store_stream_snapshot_save(pawl_store *store, pawl_text stream,
                                                   const pawl_stream_snapshot_row *snapshot,
                                                   pawl_time now, pawl_error *error);

/* The global position that the projection of that name has come to; 0: it was never set. */
PAWL_API pawl_code pawl_store_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                             pawl_error *error);
/* Moves the checkpoint of that name from one global position to a later one.
 *
 * PAWL_ECONFLICT  the checkpoint is not at `from`: another one moved it.
 * PAWL_EINVAL     `to` is not behind `from`. */
PAWL_API pawl_code pawl_store_checkpoint_set(pawl_store *store, pawl_text name, int64_t from,
                                             int64_t to, pawl_time now, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
