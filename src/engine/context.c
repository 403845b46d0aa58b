/* context.c - the functions that handlers call: records their effects for the commit, and answers questions
 * about the current message.
 *
 * A message is encoded at the call, so memory that a handler points to need live no longer. Memory
 * comes from the batch's arena: effects of a failed unit are forgotten, not freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/context.h"

#include "base/delay.h"
#include "base/sized.h"
#include "engine/stream.h"
#include "pawl/process.h"

#include <string.h>

void pawl__context_init(pawl_context *ctx, pawl__batch *batch, pawl__unit *unit)
{
    *ctx             = (pawl_context){.batch = batch, .unit = unit, .retry_delay = -1};
    ctx->is_sql_open = batch->has_sql;
}

static pawl_code out_of_memory(pawl_context *ctx)
{
    return pawl__context_refuse(ctx, PAWL_ENOMEM, "no memory for an effect of message %.*s",
                                PAWL_TEXT_ARGS(ctx->unit->message.id));
}

/* ---- Sending ------------------------------------------------------------------ */

static pawl_text new_id(pawl_context *ctx)
{
    const pawl__engine *engine = ctx->batch->engine;
    return pawl__arena_uuid(ctx->batch->arena, pawl_uuid_v7(engine->random, engine->machine_now));
}

static pawl_code check_id(pawl_context *ctx, const pawl_message *message, const char *what,
                          pawl_text id)
{
    if (id.size == 0 || id.size > PAWL_MESSAGE_ID_SIZE_MAX)
        return pawl__context_refuse(ctx, PAWL_ELIMIT,
                                    "message %s: %s has %zu bytes, the limit is 1 to %d",
                                    message->type.data, what, id.size, PAWL_MESSAGE_ID_SIZE_MAX);
    if (!pawl_text_is_valid(id, NULL))
        return pawl__context_refuse(ctx, PAWL_EINVAL, "message %s: %s is not UTF-8",
                                    message->type.data, what);
    return PAWL_OK;
}

/* Where answers go: "NAME/KEY" of a process, "NAME/ID" of a saga. NULL without memory. */
static const char *address_of(pawl_context *ctx, const pawl__touch *touch)
{
    if (touch->entry->stream != NULL)
        return touch->entry->stream->text.data;
    return pawl__saga_source(ctx->batch->arena, touch->entry->model, touch->id).data;
}

/* A saga or a process with handlers for answers asks its receivers for them: returns the extra
 * headers with two more behind them, or as they are. NULL without memory. */
static const pawl_header *headers_of(pawl_context *ctx, const pawl_header *extra, bool is_asking)
{
    static const pawl_header none     = {NULL, NULL};
    static const char *const wanted[] = {[PAWL__ANSWER_ACCEPTED] = "accepted",
                                         [PAWL__ANSWER_REJECTED] = "rejected",
                                         [PAWL__ANSWER_ACCEPTED | PAWL__ANSWER_REJECTED] =
                                             "accepted,rejected"};
    const pawl__touch       *touch    = pawl__current_touch(ctx);
    size_t                   count    = 0;
    if (extra == NULL)
        extra = &none;
    unsigned answers = touch != NULL ? touch->entry->model->answers : PAWL__ANSWER_NONE;
    if (!is_asking || answers == PAWL__ANSWER_NONE)
        return extra;
    while (extra[count].name != NULL)
        count++;
    const char  *address = address_of(ctx, touch);
    pawl_header *all     = pawl_arena_take(ctx->batch->arena, (count + 3) * sizeof *all);
    if (address == NULL || all == NULL)
        return NULL;
    memcpy(all, extra, count * sizeof *all);
    all[count++] = (pawl_header){PAWL_HEADER_PROCESS, address};
    all[count++] = (pawl_header){PAWL_HEADER_ANSWER, wanted[answers]};
    return all;
}

/* `is_asking`: a command, which a receiver can accept or reject. An event that is published asks
 * nobody. */
static pawl_code build_message(pawl_context *ctx, const pawl_send_options *options, bool is_asking,
                               const pawl__content *content, pawl_message *message)
{
    pawl_arena *arena = ctx->batch->arena;
    pawl__cause cause = {&ctx->unit->message, ctx->batch->engine->model->queue};
    pawl_code   code  = pawl__body_write(ctx, content, message);
    if (code != PAWL_OK)
        return code;
    const pawl_header *extra = headers_of(ctx, options->headers, is_asking);
    code                     = extra != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (code == PAWL_OK)
        code = pawl__headers_build(cause.queue, content->record, extra->name != NULL ? extra : NULL,
                                   &cause, arena, &message->headers, &ctx->error);
    if (code != PAWL_OK) {
        pawl_error_wrap(&ctx->error, code, "message %s", content->type);
        return pawl__context_failed(ctx, code);
    }
    message->id =
        options->id != NULL ? pawl_arena_text(arena, pawl_text_of(options->id)) : new_id(ctx);
    message->causation_id   = ctx->unit->message.id;
    message->correlation_id = options->correlation_id != NULL
                                  ? pawl_arena_text(arena, pawl_text_of(options->correlation_id))
                                  : ctx->unit->message.correlation_id;
    if (message->correlation_id.size == 0)
        message->correlation_id = message->id;
    if (message->id.data == NULL || message->correlation_id.data == NULL)
        return out_of_memory(ctx);
    if (check_id(ctx, message, "id", message->id) != PAWL_OK ||
        check_id(ctx, message, "correlation id", message->correlation_id) != PAWL_OK)
        return ctx->failed;
    return PAWL_OK;
}

static pawl_time due_of(const pawl_context *ctx, const pawl_send_options *options)
{
    if (options->due != 0)
        return options->due;
    return options->delay > 0 ? pawl_time_add(ctx->unit->now, options->delay) : PAWL__NO_DELAY;
}

static pawl_time due_here(const pawl_context *ctx, pawl_time due)
{
    return due != PAWL__NO_DELAY ? due : ctx->unit->now;
}

/* With due 0 the receiver gets messages in outbox order, which is that of each source. Due times would not keep that
 * order, since batches and machines have different clocks. Under a virtual clock the due time is
 * kept. */
static pawl_time due_remote(const pawl_context *ctx, pawl_time due)
{
    bool is_at_arrival = due == PAWL__NO_DELAY && !ctx->batch->engine->is_virtual;
    return is_at_arrival ? 0 : due_here(ctx, due);
}

static pawl_code add_queued(pawl_context *ctx, pawl_text queue, const pawl_message *message,
                            pawl_time due)
{
    pawl__effects   *effects = &ctx->effects;
    pawl_queue_send *grown = pawl_arena_grow(ctx->batch->arena, effects->sends, effects->send_count,
                                             &effects->send_capacity, sizeof effects->sends[0]);
    if (grown == NULL)
        return out_of_memory(ctx);
    effects->sends                        = grown;
    effects->sends[effects->send_count++] = (pawl_queue_send){
        .unit = ctx->unit->index, .queue = queue, .message = *message, .due = due_here(ctx, due)};
    ctx->effect_count++;
    return PAWL_OK;
}

static void note_sent(pawl_context *ctx)
{
    pawl__touch *touch = pawl__current_touch(ctx);
    if (touch != NULL)
        touch->has_sent = true;
}

static pawl_code add_dispatch(pawl_context *ctx, pawl_text destination, const pawl_message *message,
                              pawl_time due, bool has_id, bool is_local)
{
    pawl__dispatch *grown = pawl_arena_grow(ctx->batch->arena, ctx->dispatches, ctx->dispatch_count,
                                            &ctx->dispatch_capacity, sizeof ctx->dispatches[0]);
    if (grown == NULL)
        return out_of_memory(ctx);
    ctx->dispatches = grown;
    ctx->dispatches[ctx->dispatch_count++] =
        (pawl__dispatch){.add      = {.unit        = ctx->unit->index,
                                      .endpoint    = ctx->batch->engine->model->endpoint,
                                      .destination = destination,
                                      .message     = *message,
                                      .due = is_local ? due_here(ctx, due) : due_remote(ctx, due),
                                      .at  = ctx->batch->engine->machine_now},
                         .touch    = ctx->touch,
                         .has_id   = has_id,
                         .is_local = is_local};
    note_sent(ctx);
    ctx->effect_count++;
    return PAWL_OK;
}

/* Sends of a process, an entity or a projection get computed ids, which a replay computes again; so do their sends to
 * queues of this store. Other sends go to the queue directly. */
static pawl_code add_send(pawl_context *ctx, pawl_text queue, const pawl_message *message,
                          pawl_time due, bool has_id)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    if (ctx->unit->kind == PAWL__UNIT_EVENT || (touch != NULL && touch->entry->stream != NULL))
        return add_dispatch(ctx, queue, message, due, has_id, true);
    return add_queued(ctx, queue, message, due);
}

pawl_code pawl__context_put(pawl_context *ctx, pawl_text destination, const pawl_message *message,
                            pawl_time due, bool has_id)
{
    pawl__engine     *engine = ctx->batch->engine;
    pawl__destination where  = engine->resolve(engine->runtime, destination);
    if (where.is_remote)
        return add_dispatch(ctx, destination, message, due, has_id, false);
    return add_send(ctx, where.queue, message, due, has_id);
}

/* Options of a program that was built with older headers are shorter. NULL: none. */
static pawl_code take_options(pawl_context *ctx, const pawl_send_options *given,
                              pawl_send_options *taken)
{
    *taken         = (pawl_send_options){PAWL_SEND_OPTIONS_HEAD};
    pawl_code code = pawl__sized_read(given, taken, sizeof *taken, "options of a send",
                                      "PAWL_SEND_OPTIONS_HEAD", &ctx->error);
    if (code == PAWL_OK)
        code =
            pawl__check_time("the due time of a send", "", taken->due, ctx->unit->now, &ctx->error);
    return pawl__context_failed(ctx, code);
}

pawl_code pawl__context_send(pawl_context *ctx, pawl_effect_kind kind, const char *destination,
                             const pawl_send_options *given, const pawl__content *content)
{
    pawl_message      made = {.id = {.size = 0}};
    pawl_send_options options;
    pawl_code         code = pawl__context_check_name(ctx, "destination", destination);
    if (code == PAWL_OK)
        code = take_options(ctx, given, &options);
    if (code == PAWL_OK)
        code = pawl__context_declared(ctx, kind, content->type, destination);
    if (code == PAWL_OK)
        code = build_message(ctx, &options, true, content, &made);
    if (code != PAWL_OK)
        return code;
    pawl_text name = pawl_arena_text(ctx->batch->arena, pawl_text_of(destination));
    if (name.data == NULL)
        return out_of_memory(ctx);
    return pawl__context_put(ctx, name, &made, due_of(ctx, &options), options.id != NULL);
}

pawl_code pawl_send_with(pawl_context *ctx, const char *destination,
                         const pawl_send_options *options, const pawl_record *record,
                         const void *message)
{
    const pawl__content content = pawl__content_of(record, message);
    return pawl__context_send(ctx, PAWL_EFFECT_SEND, destination, options, &content);
}

pawl_code pawl_send_json(pawl_context *ctx, const char *destination,
                         const pawl_send_options *options, const char *type, pawl_text json)
{
    const pawl__content content = {.type = type, .json = json};
    return pawl__context_send(ctx, PAWL_EFFECT_SEND, destination, options, &content);
}

pawl_code pawl_send(pawl_context *ctx, const char *destination, const pawl_record *record,
                    const void *message)
{
    return pawl_send_with(ctx, destination, NULL, record, message);
}

pawl_code pawl_reply_with(pawl_context *ctx, const pawl_send_options *options,
                          const pawl_record *record, const void *message)
{
    pawl_text queue = pawl_header_value(ctx, "pawl.reply_to");
    if (ctx->failed != PAWL_OK)
        return ctx->failed;
    if (queue.size == 0)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "message %.*s has no header pawl.reply_to to reply to",
                                    PAWL_TEXT_ARGS(ctx->unit->message.id));
    const pawl__content content = pawl__content_of(record, message);
    return pawl__context_send(ctx, PAWL_EFFECT_REPLY, queue.data, options, &content);
}

pawl_code pawl_reply(pawl_context *ctx, const pawl_record *record, const void *message)
{
    return pawl_reply_with(ctx, NULL, record, message);
}

pawl_code pawl_publish_with(pawl_context *ctx, const pawl_send_options *given,
                            const pawl_record *record, const void *message)
{
    pawl__engine             *engine  = ctx->batch->engine;
    const pawl_subscriptions *list    = NULL;
    pawl_message              made    = {.id = {.size = 0}};
    const pawl__content       content = pawl__content_of(record, message);
    pawl_send_options         options;
    pawl_code                 code = take_options(ctx, given, &options);
    if (code == PAWL_OK)
        code = pawl__context_declared(ctx, PAWL_EFFECT_PUBLISH, content.type, NULL);
    if (code == PAWL_OK)
        code = build_message(ctx, &options, false, &content, &made);
    if (code != PAWL_OK)
        return code;
    /* Subscriptions that cannot be read fail the message: published to nobody, it would be lost. */
    code = engine->subscriptions(engine->runtime, &list, &ctx->error);
    if (code != PAWL_OK)
        return pawl__context_failed(ctx, code);
    for (size_t i = 0; i < list->count && code == PAWL_OK; i++) {
        const pawl_subscription *item = &list->items[i];
        if (!pawl__is_subscriber(list, i, record))
            continue;
        pawl_text queue = pawl_arena_text(ctx->batch->arena, item->queue);
        code            = queue.data != NULL
                              ? add_send(ctx, queue, &made, due_of(ctx, &options), options.id != NULL)
                              : out_of_memory(ctx);
    }
    note_sent(ctx);
    ctx->effect_count++; /* publishing counts even when nobody subscribes */
    return code;
}

pawl_code pawl_publish(pawl_context *ctx, const pawl_record *record, const void *message)
{
    return pawl_publish_with(ctx, NULL, record, message);
}

/* Not before the saga's row is committed: an answer that came first would be dropped. An answer to a process waits. */
static bool can_ask_now(pawl_context *ctx)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    return touch != NULL && touch->entry->stream != NULL;
}

pawl_code pawl_send_now(pawl_context *ctx, const char *destination, const pawl_record *record,
                        const void *message)
{
    static const pawl_send_options defaults = {.options_size = sizeof(pawl_send_options)};
    pawl__engine                  *engine   = ctx->batch->engine;
    pawl_message                   made     = {.id = {.size = 0}};
    const pawl__content            content  = pawl__content_of(record, message);
    pawl_code                      code = pawl__context_check_name(ctx, "destination", destination);
    if (code == PAWL_OK)
        code = pawl__context_declared(ctx, PAWL_EFFECT_SEND, content.type, destination);
    if (code == PAWL_OK)
        code = build_message(ctx, &defaults, can_ask_now(ctx), &content, &made);
    if (code != PAWL_OK)
        return code;
    pawl_text         name    = pawl_text_of(destination);
    pawl__destination where   = engine->resolve(engine->runtime, name);
    pawl_queue_send   send    = {.queue = where.queue, .message = made, .due = ctx->unit->now};
    pawl_outbox_add   row     = {.dispatch_id = {pawl_uuid_v7(engine->random, engine->machine_now)},
                                 .endpoint    = engine->model->endpoint,
                                 .destination = name,
                                 .message     = made,
                                 .due         = due_remote(ctx, PAWL__NO_DELAY),
                                 .at          = engine->machine_now};
    pawl_changes      changes = {.group_count = 1,
                                 .unit_count  = 1,
                                 .now         = engine->machine_now,
                                 .queue_send  = {&send, !where.is_remote},
                                 .outbox_add  = {&row, where.is_remote}};
    note_sent(ctx);
    code = engine->send_now(engine->runtime, &changes, &ctx->error);
    return pawl__context_failed(ctx, code);
}

/* ---- Aggregators -------------------------------------------------------------- */

static pawl_code partition_of(pawl_context *ctx, const pawl__lookup *lookup, pawl_text *partition)
{
    const pawl__aggregator_model *aggregator = lookup->binding->aggregator;
    *partition                               = aggregator->name;
    if (aggregator->aggregator->key == NULL)
        return PAWL_OK;
    pawl_value value;
    pawl_code  code = pawl_record_value(aggregator->message, aggregator->aggregator->key,
                                        lookup->message, &value, &ctx->error);
    if (code == PAWL_OK && value.type != PAWL_VALUE_NONE)
        code = pawl_value_coerce(PAWL_VALUE_TEXT, &value, ctx->batch->arena, &ctx->error);
    if (code != PAWL_OK)
        return pawl__context_failed(ctx, code);
    pawl_text key =
        value.type == PAWL_VALUE_TEXT ? value.as.text : (pawl_text){.data = "", .size = 0};
    *partition = pawl_arena_printf(ctx->batch->arena, "%.*s/%.*s", PAWL_TEXT_ARGS(aggregator->name),
                                   PAWL_TEXT_ARGS(key));
    if (partition->data == NULL)
        return out_of_memory(ctx);
    if (partition->size > PAWL_PARTITION_SIZE_MAX)
        return pawl__context_refuse(ctx, PAWL_ELIMIT,
                                    "aggregator %s: partition '%.40s...' has %zu bytes, the "
                                    "limit is %d",
                                    aggregator->name.data, partition->data, partition->size,
                                    PAWL_PARTITION_SIZE_MAX);
    return PAWL_OK;
}

/* An aggregator row has the aggregator's type, by which its body is read; this may be a base of the
 * message's type, which is then kept in a header, if there is room for it. */
static pawl_code message_of(pawl_context *ctx, const pawl__aggregator_model *aggregator,
                            pawl_message *message)
{
    pawl_text headers;
    *message = ctx->unit->message;
    if (pawl_text_equal(message->type, aggregator->type))
        return PAWL_OK;
    if (pawl__headers_set(message->headers, PAWL_HEADER_TYPE, message->type, ctx->batch->arena,
                          &headers) != PAWL_OK)
        return out_of_memory(ctx);
    message->type = aggregator->type;
    if (headers.size <= PAWL_HEADERS_SIZE_MAX)
        message->headers = headers;
    return PAWL_OK;
}

pawl_code pawl__context_aggregate(pawl_context *ctx, const pawl__lookup *lookup)
{
    const pawl__aggregator_model *aggregator = lookup->binding->aggregator;
    pawl__effects                *effects    = &ctx->effects;
    pawl_text                     partition;
    pawl_message                  message;
    pawl_code                     code = partition_of(ctx, lookup, &partition);
    if (code == PAWL_OK)
        code = message_of(ctx, aggregator, &message);
    if (code != PAWL_OK)
        return code;
    pawl_aggregator_add *grown =
        pawl_arena_grow(ctx->batch->arena, effects->adds, effects->add_count,
                        &effects->add_capacity, sizeof effects->adds[0]);
    if (grown == NULL)
        return out_of_memory(ctx);
    effects->adds                       = grown;
    effects->adds[effects->add_count++] = (pawl_aggregator_add){
        .unit      = ctx->unit->index,
        .name      = aggregator->name,
        .partition = partition,
        .key       = ctx->unit->message.id,
        .message   = message,
        .at        = ctx->batch->engine->machine_now,
        .due       = aggregator->period > 0 ? pawl_time_add(ctx->unit->now, aggregator->period)
                                            : PAWL_TIME_MAX};
    ctx->effect_count++;
    return PAWL_OK;
}

/* ---- Timeouts, completion, failure ---------------------------------------------- */

static pawl_code put_timeout(pawl_context *ctx, const char *name, pawl_time due, bool is_cancel)
{
    pawl__touch *touch = pawl__current_touch(ctx);
    pawl_text    text  = pawl_text_of(name);
    if (touch == NULL)
        return pawl__context_refuse(
            ctx, PAWL_EINVAL, "timeout '%s': the handler has no saga or process to set it for",
            name != NULL ? name : "");
    if (pawl__context_check_name(ctx, "name of a timeout", name) != PAWL_OK)
        return ctx->failed; /* to a store, no name is every timeout of the saga */
    if (!is_cancel &&
        pawl__check_time("timeout ", name, due, ctx->unit->now, &ctx->error) != PAWL_OK)
        return pawl__context_failed(ctx, PAWL_EINVAL);
    if (touch->entry->stream != NULL && touch->entry->model->stream->is_entity)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "timeout '%s': only a process has timeouts, %s is an entity",
                                    name, touch->entry->stream->text.data);
    if (!is_cancel && pawl__model_timeout(ctx->batch->engine->model,
                                          touch->entry->model->table.type, text) == NULL)
        return pawl__context_refuse(ctx, PAWL_EINVAL, "%s %s has no handler for timeout '%s'",
                                    pawl__model_kind(touch->entry->model),
                                    touch->entry->model->saga->name, name);
    if (!is_cancel && pawl__context_declared(ctx, PAWL_EFFECT_TIMEOUT, NULL, name) != PAWL_OK)
        return ctx->failed;
    pawl__timeout_ops *ops   = &touch->timeouts;
    pawl__timeout_op  *grown = pawl_arena_grow(ctx->batch->arena, ops->items, ops->count,
                                               &ops->capacity, sizeof ops->items[0]);
    pawl_text          copy  = pawl_arena_text(ctx->batch->arena, text);
    if (grown == NULL || copy.data == NULL)
        return out_of_memory(ctx);
    ops->items               = grown;
    ops->items[ops->count++] = (pawl__timeout_op){copy, due, is_cancel, ctx->unit->index};
    ctx->effect_count++;
    return PAWL_OK;
}

pawl_code pawl_timeout(pawl_context *ctx, const char *name, int64_t delay)
{
    return put_timeout(ctx, name, pawl__after_delay(ctx->unit->now, delay), false);
}

pawl_code pawl_timeout_at(pawl_context *ctx, const char *name, pawl_time due)
{
    return put_timeout(ctx, name, due, false);
}

pawl_code pawl_cancel_timeout(pawl_context *ctx, const char *name)
{
    return put_timeout(ctx, name, 0, true);
}

pawl_code pawl_complete(pawl_context *ctx)
{
    pawl__touch *touch = pawl__current_touch(ctx);
    if (touch == NULL)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "the handler has no saga or process to complete");
    if (touch->entry->stream != NULL && touch->entry->model->stream->is_entity)
        return pawl__context_refuse(ctx, PAWL_EINVAL,
                                    "entity %s cannot be completed: only a process is over",
                                    touch->entry->stream->text.data);
    touch->is_completed = true;
    return PAWL_OK;
}

pawl_code pawl_retry_after(pawl_context *ctx, int64_t delay)
{
    ctx->retry_delay = delay > 0 ? delay : 0;
    return PAWL_RETRY_AFTER;
}

pawl_code pawl_before_commit(pawl_context *ctx, pawl_before_commit_fn *call, void *data)
{
    if (call == NULL)
        return pawl__context_refuse(ctx, PAWL_EINVAL, "pawl_before_commit: the function is NULL");
    pawl__callback *grown = pawl_arena_grow(ctx->batch->arena, ctx->callbacks, ctx->callback_count,
                                            &ctx->callback_capacity, sizeof ctx->callbacks[0]);
    if (grown == NULL)
        return out_of_memory(ctx);
    ctx->callbacks                        = grown;
    ctx->callbacks[ctx->callback_count++] = (pawl__callback){call, data};
    return PAWL_OK;
}

/* ---- Questions -------------------------------------------------------------------- */

pawl_time pawl_now(const pawl_context *ctx)
{
    return ctx->unit->now;
}

const pawl_message *pawl_message_in_flight(const pawl_context *ctx)
{
    return &ctx->unit->message;
}

pawl_text pawl_header_value(pawl_context *ctx, const char *name)
{
    pawl_text value;
    if (pawl__headers_value(ctx->unit->message.headers, pawl_text_of(name),
                            ctx->batch->engine->scratch, &value) != PAWL_OK)
        out_of_memory(ctx); /* fails the message, which then runs again */
    return value;
}

pawl_saga_id pawl_saga_id_in_flight(const pawl_context *ctx)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    return touch != NULL ? touch->id : (pawl_saga_id){{{0}}};
}

int64_t pawl_saga_version(const pawl_context *ctx)
{
    const pawl__touch *touch = pawl__current_touch(ctx);
    if (touch == NULL || touch->is_begun)
        return 0;
    /* New: begun earlier in the batch. */
    return touch->entry->is_new ? 1 : touch->entry->stored.version;
}

pawl_text pawl_partition_in_flight(const pawl_context *ctx)
{
    return ctx->unit->kind == PAWL__UNIT_FLUSH ? ctx->unit->flush.partition
                                               : (pawl_text){.data = "", .size = 0};
}

int32_t pawl_attempts(const pawl_context *ctx)
{
    return pawl__unit_attempts(ctx->unit);
}

void *pawl_user(const pawl_context *ctx)
{
    return ctx->batch->engine->user;
}

bool pawl_stopping(const pawl_context *ctx)
{
    return ctx->batch->engine->is_stopping(ctx->batch->engine->runtime);
}

pawl_arena *pawl_scratch(pawl_context *ctx)
{
    return ctx->batch->engine->scratch;
}
