/* context.h - effects and saga states that one run of a unit's handlers has recorded so far.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_CONTEXT_H
#define PAWL_ENGINE_CONTEXT_H

#include "engine/batch.h"

/* A saga that the unit uses: a copy of its state, which replaces the entry's state when the unit
 * succeeds. */
typedef struct pawl__touch {
    pawl__entry      *entry;
    void             *state;
    pawl_saga_id      id;
    bool              is_begun; /* by this unit */
    bool              is_completed;
    bool              is_changed; /* the saga has to be saved; known when the handlers are done */
    bool              has_sent;   /* or published, if only to nobody */
    pawl__timeout_ops timeouts;
    pawl_event       *events; /* of a stream: emitted by this unit */
    size_t            event_count, event_capacity;
    int32_t           next_index; /* of a stream: of its dispatches by this unit */
} pawl__touch;

typedef struct pawl__callback {
    pawl_before_commit_fn *call;
    void                  *data;
} pawl__callback;

/* An outbox row, whose source is known only when the unit is kept. Also a send of a process or entity to a queue of
 * this store: its id is computed in the same way. */
typedef struct pawl__dispatch {
    pawl_outbox_add add;
    size_t          touch; /* index + 1; 0: no saga */
    bool            has_id;
    bool            is_local; /* a send to a queue of this store */
} pawl__dispatch;

struct pawl_context {
    pawl__batch       *batch;
    pawl__unit        *unit;
    pawl__lookup      *lookup; /* of the handler being called; NULL between handlers */
    size_t             touch;  /* of that handler: index + 1; 0: none */
    pawl__touch       *touches;
    size_t             touch_count, touch_capacity;
    pawl__effects      effects; /* without dispatches, which are below */
    pawl__dispatch    *dispatches;
    size_t             dispatch_count, dispatch_capacity;
    pawl__callback    *callbacks;
    size_t             callback_count, callback_capacity;
    size_t             effect_count; /* of every kind */
    pawl_code          failed;       /* the first effect that was refused */
    pawl_text          failed_text;  /* its error, in the arena */
    pawl_error         error;        /* text of the newest refusal, or of pawl_fail */
    int64_t            retry_delay;  /* -1: the handler asked for no delay */
    const pawl_effect *does;         /* of the handler being called; NULL: not declared */
    bool               is_sql_open;
    bool               is_keeping;  /* effects are being copied: a failure now spoils the batch */
    bool               is_rejected; /* an entity rejected the command */
    bool               is_answer;   /* the application's function returned the failure */
};

/* The saga of the handler being called; NULL: it has none. */
static inline pawl__touch *pawl__current_touch(const pawl_context *ctx)
{
    return ctx->touch != 0 ? &ctx->touches[ctx->touch - 1] : NULL;
}

void pawl__context_init(pawl_context *ctx, pawl__batch *batch, pawl__unit *unit);
/* send.c: refuses an effect that the handler being called does not declare. `type` NULL: a
 * timeout; `name` is its name, or the destination. */
pawl_code pawl__context_declared(pawl_context *ctx, pawl_effect_kind kind, const char *type,
                                 const char *name);
/* Adds an aggregator delivery of the message in hand. */
pawl_code pawl__context_aggregate(pawl_context *ctx, const pawl__lookup *lookup);
/* flush.c: calls the aggregator with the messages that can be decoded. */
pawl_code pawl__context_flush(pawl_context *ctx);
/* failed.c: notes the first failure; returns `code`. */
pawl_code pawl__context_failed(pawl_context *ctx, pawl_code code);
pawl_code pawl__context_no_memory(pawl_context *ctx);
/* Refuses a name of something (`what`) that is empty, too long or not UTF-8. */
pawl_code pawl__context_check_name(pawl_context *ctx, const char *what, const char *name);
/* The code of the run: that of an effect that failed for lack of memory, else that of the function. */
pawl_code pawl__context_answered(pawl_context *ctx, pawl_code answer);

/* call.c: around each call of the application's code. False, or PAWL_EFENCED: the worker was given
 * up, and the function is not called. */
bool pawl__call_begin(pawl_context *ctx, const char *kind, const char *name);
/* Returns the code that counts, as pawl__context_answered. */
pawl_code pawl__call_end(pawl_context *ctx, pawl_code answer);
pawl_code pawl__call_handler(pawl_context *ctx, const pawl_handler *handler,
                             const pawl_effect *does, void *state, const void *message,
                             size_t count);

/* line.c: lines of history, if the endpoint keeps it (engine->has_history): the outcome of each unit, written in its
 * commit. Notes the unit's sagas and what it sent; called when ids and versions are known. */
pawl_code pawl__lines_keep(pawl_context *ctx);
/* Upper bound of the batch's history lines, to reserve room in the change set. */
size_t pawl__lines_room(const pawl__batch *batch);
/* Adds the lines of the unit to the change set, where room was reserved. */
void pawl__lines_put(pawl__batch *batch, const pawl__unit *unit, uint32_t group);

/* event.c: calls the projection's handler for the event in hand. */
pawl_code pawl__event_run(pawl_context *ctx);

/* forward.c: sends the due timeout in hand to its destination. */
pawl_code pawl__forward_run(pawl_context *ctx);

/* schedule.c: sends the messages of the due schedule in hand, and sets its next time. */
pawl_code pawl__schedule_run(pawl_context *ctx);

/* Adds a send to a queue of this store, or an outbox row. `due` NO_DELAY: due now in this store, on arrival in
 * another one. */
#define PAWL__NO_DELAY PAWL_TIME_MIN
pawl_code pawl__context_put(pawl_context *ctx, pawl_text destination, const pawl_message *message,
                            pawl_time due, bool has_id);
/* Type and body of a message: a struct of a record, or JSON of a type that has no record here. */
typedef struct pawl__content {
    const char        *type;
    const pawl_record *record; /* NULL: `json` */
    const void        *value;
    pawl_text          json;
} pawl__content;

static inline pawl__content pawl__content_of(const pawl_record *record, const void *value)
{
    return (pawl__content){.type = pawl_record_type(record), .record = record, .value = value};
}

/* send.c: checks and writes type and body. A failure fails the unit. */
pawl_code pawl__body_write(pawl_context *ctx, const pawl__content *content, pawl_message *message);
/* pawl_send_with, as a send or a reply. `options` may be NULL. */
pawl_code pawl__context_send(pawl_context *ctx, pawl_effect_kind kind, const char *destination,
                             const pawl_send_options *options, const pawl__content *content);
/* Notes the first failure, with its text: an effect over its limit fails the message. */
pawl_code pawl__context_refuse(pawl_context *ctx, pawl_code code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* keep.c: makes the states and effects the batch's. A failure that leaves the
 * batch half changed sets is_keeping. */
pawl_code pawl__unit_keep(pawl_context *ctx);

#endif
