/* stream.h - processes and entities in a batch: an entry of the identity map whose
 * state is the fold of a stream.
 *
 *     load -> { open a copy -> emit* -> seal -> keep }* -> changes
 *
 * Threads: as the batch.
 * Tests: tests/unit/test_engine_process.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_STREAM_H
#define PAWL_ENGINE_STREAM_H

#include "engine/context.h"
#include "engine/recent.h"

/* The library's own events. */
#define PAWL__EVENT_HANDLED "pawl.handled"     /* a unit that sent and emitted nothing (O5) */
#define PAWL__EVENT_COMPLETED "pawl.completed" /* a process is over */

struct pawl__stream_entry {
    pawl_text          text;         /* "Account/7" */
    int64_t            version;      /* with the events of this batch */
    int64_t            fold_version; /* of the stored fold; 0: none */
    bool               is_fold_bad;  /* there is one, which this program cannot use */
    bool               is_completed;
    pawl__recent       recent;
    pawl_event_append *events; /* of this batch */
    size_t             event_count, event_capacity;
};

/* Its name and key make a stream's name? PAWL_ELIMIT, EINVAL. */
pawl_code pawl__stream_check(const pawl__saga_model *model, pawl_text key, pawl_error *error);
/* Gives a new entry of the identity map what it needs as a stream's. */
pawl_code pawl__stream_prepare(pawl__batch *batch, pawl__entry *entry);
/* Reads the streams of all entries of the model that were not read yet, those of
 * its timeouts included. */
pawl_code pawl__stream_load(pawl__batch *batch, const pawl__saga_model *model, pawl_error *error);
/* Reads these, again if need be. */
pawl_code pawl__stream_read(pawl__batch *batch, pawl__entry *const *entries, size_t count,
                            pawl_error *error);
/* The dispatch id that a message carries as its own id; zero: it has none. */
pawl_uuid pawl__carried_dispatch(const pawl_message *message);
/* Did the entry's process or entity handle the message in hand before? */
bool pawl__stream_knows(const pawl_context *ctx, const pawl__entry *entry);
/* The handlers are done: adds what the library itself has to say. */
pawl_code pawl__stream_seal(pawl_context *ctx, size_t touch);
/* Makes the copy and its events the entry's. */
pawl_code pawl__stream_keep(pawl_context *ctx, pawl__touch *touch);
/* Headers that lead a timeout, or an answer, back to its process. */
pawl_code pawl__stream_headers(pawl__batch *batch, const pawl__entry *entry,
                               const pawl_message *message, pawl_text *headers, pawl_error *error);
/* A fold to store, when the batch brought the stream to where one is due. */
bool      pawl__stream_is_fold_due(const pawl__entry *entry);
pawl_code pawl__stream_fold(pawl__batch *batch, const pawl__entry *entry, pawl_fold_set *fold,
                            pawl_error *error);

/* fold.c: what the event does to the state. PAWL_EDECODE names its type. */
pawl_code pawl__stream_apply(const pawl__stream_model *stream, const pawl_event *event, void *state,
                             pawl_arena *arena, pawl_error *error);
/* The id by which timeouts belong to a stream. */
pawl_saga_id pawl__stream_id(pawl_text endpoint, pawl_text stream);

/* A stream from outside of a batch. */
typedef struct pawl__stream_seen {
    pawl_text name;
    void     *state;   /* of the model's state record */
    int64_t   version; /* 0: there is none */
} pawl__stream_seen;

pawl_code pawl__stream_look(pawl_store *store, const pawl__saga_model *model, pawl_text key,
                            pawl_arena *arena, pawl__stream_seen *seen, pawl_error *error);

/* answer.c: tells the process that sent the command in hand, if it asked. */
pawl_code pawl__answer_accepted(pawl_context *ctx);
/* `*is_told` false: nobody wants to know. */
pawl_code pawl__answer_rejected(pawl_context *ctx, pawl_text reason, bool *is_told);

#endif
