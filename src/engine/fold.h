/* fold.h - one stream, without a batch: its name, its id, and the state made from its events.
 *
 * Threads: any; nothing is kept.
 * Tests: tests/unit/engine/test_engine_process_folds.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_FOLD_H
#define PAWL_ENGINE_FOLD_H

#include "pawl/store_calls.h"
#include "workflow/model.h"

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

#endif
