/* stream.h - processes and entities: a stream alone, and in a batch, where it is an entry of the identity map whose
 * state is computed from the stream's events.
 *
 *     load -> { open a copy -> emit* -> seal -> keep }* -> changes
 *
 * Threads: as the batch; without one any, nothing is kept.
 * Tests: tests/unit/engine/test_engine_process.c, test_engine_process_folds.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_STREAM_H
#define PAWL_ENGINE_STREAM_H

#include "engine/context.h"

/* ---- One stream, without a batch: fold.c ---------------------------------- */

/* The library's own events. */
#define PAWL__EVENT_HANDLED "pawl.handled"     /* a handled message without effects (O5) */
#define PAWL__EVENT_COMPLETED "pawl.completed" /* a process is over */

/* Do the model's name and the key make a stream's name? PAWL_ELIMIT, PAWL_EINVAL. */
pawl_code pawl__stream_check(const pawl__saga_model *model, pawl_text key, pawl_error *error);
/* Upcasts the event to the record's version and decodes it into the arena. Errors other than PAWL_ENOMEM name the
 * event's type. */
pawl_code pawl__event_decode(const pawl_record *record, const pawl_event *event, pawl_arena *arena,
                             void **decoded, pawl_error *error);
/* Applies the event to the state. PAWL_EDECODE names the event's type. */
pawl_code pawl__stream_apply(const pawl__stream_model *stream, const pawl_event *event, void *state,
                             pawl_arena *arena, pawl_error *error);
/* The id by which timeouts belong to a stream. */
pawl_saga_id pawl__stream_id(pawl_text endpoint, pawl_text stream);

/* A stream and its state, read outside of a batch. */
typedef struct pawl__stream_seen {
    pawl_text name;
    void     *state;   /* of the model's state record */
    int64_t   version; /* 0: there is no stream */
} pawl__stream_seen;

pawl_code pawl__stream_look(pawl_store *store, const pawl__saga_model *model, pawl_text key,
                            pawl_arena *arena, pawl__stream_seen *seen, pawl_error *error);

/* ---- In a batch ----------------------------------------------------------- */

/* Reads the streams of all entries of the model that were not read yet, those of
 * its timeouts included. */
pawl_code pawl__stream_load(pawl__batch *batch, const pawl__saga_model *model, pawl_error *error);
/* Reads these streams, even if they were read before. */
pawl_code pawl__stream_read(pawl__batch *batch, pawl__entry *const *entries, size_t count,
                            pawl_error *error);
/* The message's id, if it is a dispatch id; else zero. */
pawl_uuid pawl__carried_dispatch(const pawl_message *message);
/* Has the process or entity handled the current message before? */
bool pawl__stream_knows(const pawl_context *ctx, const pawl__entry *entry);
/* Adds the library's own events when the handlers are done: handled, completed. */
pawl_code pawl__stream_seal(pawl_context *ctx, size_t touch);
/* Makes the copy and its events the entry's. */
pawl_code pawl__stream_keep(pawl_context *ctx, pawl__touch *touch);
/* Headers that lead a timeout, or an answer, back to its process. */
pawl_code pawl__stream_headers(pawl__batch *batch, const pawl__entry *entry,
                               const pawl_message *message, pawl_text *headers, pawl_error *error);
/* Snapshots ("folds"): whether the batch made one due, and its row. */
bool      pawl__stream_is_fold_due(const pawl__entry *entry);
pawl_code pawl__stream_fold(pawl__batch *batch, const pawl__entry *entry,
                            pawl_stream_snapshot_set *snapshot, pawl_error *error);

/* answer.c: sends the answer to the process that sent the current command, if it asked for one. */
pawl_code pawl__answer_accepted(pawl_context *ctx);
/* `*is_told` false: the command asks for no such answer, none was sent. */
pawl_code pawl__answer_rejected(pawl_context *ctx, pawl_text reason, bool *is_answered);

#endif
