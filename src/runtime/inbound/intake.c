/* intake.c - writes taken messages as rows and dead letters; creates and destroys an intake.
 *
 * The commit needs no worker and no fence: rows are unique by queue and id, dead letters and deduplication records by
 * endpoint and id. So to repeat a commit has no further effect.
 *
 * For an ordered endpoint each commit raises a checkpoint to the last due time that it gave. The process that reads the
 * broker next continues from there, if its clock is at most PAWL__BEHIND_MAX behind; otherwise it sets the checkpoint
 * back, as the clock that raised it was wrong. If the checkpoint is refused, the rest of the commit is not: its
 * messages are only redelivered ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/intake.h"

#include "base/arena.h"
#include "base/calm.h"
#include "base/storable.h"
#include "base/text.h"
#include "engine/order.h"

#include <stdio.h>
#include <string.h>

#define RETRY_SLEEP_FIRST PAWL_MILLISECONDS(100)
#define RETRY_SLEEP_MAX PAWL_SECONDS(30)

/* ---- Rows and dead letters of taken messages --------------------------------------------------- */

/* The changes for one take. Each message has its own unit and group, so that a dead letter that exists already refuses
 * nothing else. */
typedef struct passage {
    pawl_changes changes;
    pawl_taken  *settled; /* messages to acknowledge after the commit */
    size_t       settled_count;
    size_t       without_id;
} passage;

static pawl_code make_passage(pawl__intake *it, size_t count, passage *made)
{
    size_t room                = count + 1;
    *made                      = (passage){.changes = {.group_count = (uint32_t)count,
                                                       .unit_count  = (uint32_t)count,
                                                       .now         = pawl__machine_now(it->endpoint)}};
    pawl_changes *changes      = &made->changes;
    changes->queue_send.items  = pawl_arena_take(it->arena, room * sizeof(pawl_queue_send));
    changes->dead_set.items    = pawl_arena_take(it->arena, room * sizeof(pawl_dead_set));
    changes->inbox_entry.items = pawl_arena_take(it->arena, room * sizeof(pawl_inbox_entry));
    made->settled              = pawl_arena_take(it->arena, room * sizeof(pawl_taken));
    bool is_made = changes->queue_send.items != NULL && changes->dead_set.items != NULL &&
                   changes->inbox_entry.items != NULL && made->settled != NULL;
    return is_made ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code make_id(pawl__intake *it, pawl_text *id)
{
    *id = pawl__arena_uuid(it->arena, pawl_uuid_v7(&it->random, pawl__machine_now(it->endpoint)));
    return id->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* Can the row be written? If not, `why` tells the reason. */
static bool is_fit(const pawl_queue_send *send, pawl_error *why)
{
    pawl_queue_send one     = *send;
    pawl_changes    changes = {.group_count = 1, .unit_count = 1, .queue_send = {&one, 1}};
    one.unit = one.group = 0;
    return pawl_changes_check(&changes, why) == PAWL_OK;
}

bool pawl__intake_is_fit(const pawl__intake *it, const pawl_taken *taken)
{
    pawl_error      why  = PAWL_ERROR_INIT;
    pawl_queue_send send = {
        .queue = it->endpoint->model->queue, .message = taken->message, .due = taken->due};
    return is_fit(&send, &why);
}

/* Why the row cannot be written: the text of the message that is too long or not UTF-8, otherwise `why`. */
static pawl_text unfit_text(pawl__intake *it, const pawl_message *from, const pawl_error *why)
{
    pawl_message message = *from;
    pawl_text    text;
    if (pawl__make_storable(PAWL__STORABLE_TEXTS(&message), it->arena, &text) != PAWL_OK)
        return (pawl_text){.data = NULL, .size = 0};
    return text.size > 0 ? text : pawl_arena_text(it->arena, pawl_text_of(why->text));
}

/* Makes an id from one that no store can keep: each delivery of the message gets the same. The error of the
 * dead letter then begins with the broker's id, for operators. */
static pawl_code derive_id(pawl__intake *it, pawl_text was, pawl_text *id, pawl_text *why)
{
    char   shown[PAWL_MESSAGE_ID_SIZE_MAX + 1], text[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    size_t size = was.size < PAWL_MESSAGE_ID_SIZE_MAX ? was.size : PAWL_MESSAGE_ID_SIZE_MAX;
    memcpy(shown, was.data, size);
    shown[size] = '\0';
    pawl__calm_line(shown, size);
    if (size < was.size)
        pawl__text_end_cut(shown, sizeof shown);
    if ((size_t)snprintf(text, sizeof text, "message '%s': %.*s", shown, PAWL_TEXT_ARGS(*why)) >=
        sizeof text)
        pawl__text_end_cut(text, sizeof text);
    *id  = pawl__arena_uuid(it->arena, pawl_uuid_v5((pawl_uuid){{0}}, was.data, was.size));
    *why = pawl_arena_text(it->arena, pawl_text_of(text));
    return id->data != NULL && why->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* Empties fields that no store can keep, so that a dead letter can be written. The caller knows the reason. */
static pawl_code make_keepable(pawl__intake *it, pawl_message *message, pawl_text *why)
{
    pawl_text was  = message->id, unfit;
    pawl_code code = pawl__make_storable(PAWL__STORABLE_TEXTS(message), it->arena, &unfit);
    if (code != PAWL_OK || message->id.size > 0)
        return code;
    return was.size > 0 ? derive_id(it, was, &message->id, why) : make_id(it, &message->id);
}

static pawl_code add_dead(pawl__intake *it, passage *to, uint32_t unit, const pawl_message *from,
                          pawl_code reason, pawl_text why)
{
    const pawl__model *model   = it->endpoint->model;
    pawl_message       message = *from;
    pawl_code          code    = make_keepable(it, &message, &why);
    if (code != PAWL_OK)
        return code;
    if (PAWL__ROW_OF(pawl_inbox_entry, message_id, to->changes.inbox_entry.items,
                     to->changes.inbox_entry.count, message.id) != NULL)
        return PAWL_OK; /* the same commit has a dead letter with this id already */
    message.causation_id = pawl__dead_cause(message.id, message.causation_id, message.headers);
    to->changes.dead_set.items[to->changes.dead_set.count++] =
        (pawl_dead_set){.unit     = unit,
                        .group    = unit,
                        .endpoint = model->endpoint,
                        .queue    = model->queue,
                        .message  = message,
                        .code     = pawl_text_of(pawl_code_name(reason)),
                        .error    = why,
                        .attempts = 1,
                        .history  = PAWL_TEXT("[]"),
                        .at       = to->changes.now};
    to->changes.inbox_entry.items[to->changes.inbox_entry.count++] =
        (pawl_inbox_entry){.unit       = unit,
                           .group      = unit,
                           .endpoint   = model->endpoint,
                           .message_id = message.id,
                           .outcome    = PAWL_INBOX_DEAD,
                           .at         = to->changes.now};
    return PAWL_OK;
}

/* Adds a dead letter without the body, which the store cannot keep; its error tells so. Unacknowledged, such messages
 * would fill the prefetch, and no more would be delivered. */
static pawl_code add_bodiless(pawl__intake *it, passage *to, uint32_t unit,
                              const pawl_message *from, pawl_code reason, const char *says)
{
    pawl_message message = *from;
    pawl_text    why     = pawl_arena_printf(
               it->arena, "%s: its body is left out of this dead letter, and gone", says);
    message.body = (pawl_text){.data = "", .size = 0};
    return why.data != NULL ? add_dead(it, to, unit, &message, reason, why) : PAWL_ENOMEM;
}

static pawl_code add_too_large(pawl__intake *it, passage *to, uint32_t unit,
                               const pawl_message *message)
{
    char says[80];
    (void)snprintf(says, sizeof says, "its body has %zu bytes, the limit is %d", message->body.size,
                   PAWL_BODY_SIZE_MAX);
    return add_bodiless(it, to, unit, message, PAWL_ELIMIT, says);
}

/* Due time of the next message. The queue is read by due time; on an ordered endpoint due times never decrease, even if
 * the clock is set back a little, or that of the next process is a little behind. */
static pawl_time due_of(pawl__intake *it)
{
    pawl_time now = pawl__business_now(it->endpoint);
    it->due_last  = it->is_ordered ? pawl__due_after(it->due_last, now) : now;
    return it->due_last;
}

static pawl_code add_taken(pawl__intake *it, passage *to, const pawl_taken *taken)
{
    uint32_t     unit                = (uint32_t)to->settled_count;
    pawl_error   why                 = PAWL_ERROR_INIT;
    pawl_code    code                = PAWL_OK;
    pawl_message message             = taken->message;
    to->settled[to->settled_count++] = *taken;
    if (message.body.size > PAWL_BODY_SIZE_MAX)
        return add_too_large(it, to, unit, &message);
    if (taken->refusal.size > 0)
        return add_dead(it, to, unit, &message, PAWL_EDECODE, taken->refusal);
    if (message.id.size == 0) {
        to->without_id++;
        code = make_id(it, &message.id);
    }
    if (message.correlation_id.size == 0)
        message.correlation_id = message.id;
    pawl_queue_send send = {.unit    = unit,
                            .group   = unit,
                            .queue   = it->endpoint->model->queue,
                            .message = message,
                            .due     = taken->due != 0 ? taken->due : due_of(it)};
    if (code != PAWL_OK)
        return code;
    if (is_fit(&send, &why)) {
        to->changes.queue_send.items[to->changes.queue_send.count++] = send;
        return PAWL_OK;
    }
    pawl_text text = unfit_text(it, &message, &why);
    return text.data != NULL ? add_dead(it, to, unit, &message, PAWL_EDECODE, text) : PAWL_ENOMEM;
}

/* ---- The commit ---------------------------------------------------------------------------------- */

/* Does the code mean that the store refuses a row, not that the store failed? */
static bool is_of_row(pawl_code code)
{
    return code == PAWL_EINVAL || code == PAWL_ELIMIT || code == PAWL_EUNSUPPORTED ||
           code == PAWL_EDECODE;
}

/* Closes the store handle unless the failure is about a row. */
static void leave_store(pawl__intake *it, pawl_code code)
{
    if (code == PAWL_OK || is_of_row(code))
        return;
    pawl_store_close(it->store);
    it->store = NULL;
}

/* Reads the checkpoint after messages were taken, as another process may have read the broker until then. */
static pawl_code read_place(pawl__intake *it, pawl_error *error)
{
    if (!it->is_ordered || it->has_place)
        return PAWL_OK;
    pawl_code code = pawl_store_checkpoint_get(it->store, it->place_name, &it->place, error);
    it->has_place  = code == PAWL_OK;
    if (it->has_place && it->place > it->due_last)
        it->due_last = it->place;
    leave_store(it, code);
    return code;
}

/* If a dead letter is refused, its message is handled or dead already, and is dropped. */
static pawl_code commit(pawl__intake *it, pawl_changes *changes, size_t count, pawl_error *error)
{
    pawl_refusals       refused = {.arena = it->arena};
    uint32_t            units   = (uint32_t)count;
    pawl_checkpoint_set raise   = {.unit    = units,
                                   .group   = units,
                                   .name    = it->place_name,
                                   .from    = it->place,
                                   .to      = it->due_last,
                                   .at      = changes->now,
                                   .is_back = it->due_last < it->place};
    if (count == 0)
        return PAWL_OK;
    changes->checkpoint_set.items = &raise;
    changes->checkpoint_set.count = it->has_place && raise.to != raise.from && raise.to > 0;
    changes->group_count = changes->unit_count = units + (uint32_t)changes->checkpoint_set.count;
    pawl_code code = pawl_store_commit(it->store, changes, &refused, error);
    /* A connection that broke while idle is noticed only now: try once more. */
    if (code == PAWL_ELOST || code == PAWL_EUNKNOWN)
        code = pawl_store_commit(it->store, changes, &refused, error);
    leave_store(it, code);
    if (code == PAWL_OK && pawl__refused_checkpoint(&refused))
        it->has_place = false;
    else if (code == PAWL_OK && changes->checkpoint_set.count > 0)
        it->place = raise.to;
    changes->checkpoint_set.count = 0;
    return code;
}

/* Keeps a dead letter and its deduplication record; only the record if the message has no id, as the next delivery of
 * it gets another one. */
static bool keep_dead(pawl__intake *it, const passage *of, size_t index)
{
    pawl_dead_set    dead    = of->changes.dead_set.items[index];
    pawl_inbox_entry mark    = of->changes.inbox_entry.items[index];
    bool             is_made = of->settled[dead.unit].message.id.size == 0;
    dead.unit = dead.group = mark.unit = mark.group = it->kept.unit_count;
    dead.error                                      = pawl_arena_text(it->kept_arena, dead.error);
    if (dead.error.data == NULL ||
        !pawl__arena_texts(it->kept_arena, PAWL__MESSAGE_TEXTS(&dead.message)))
        return false;
    mark.message_id                                          = dead.message.id;
    it->kept.inbox_entry.items[it->kept.inbox_entry.count++] = mark;
    if (!is_made)
        it->kept.dead_set.items[it->kept.dead_set.count++] = dead;
    return true;
}

/* Keeps a row. If its id was made here, the broker delivers the message again, under another id. So the row comes with
 * a deduplication record, and only proves that the store can be written. */
static bool keep_row(pawl__intake *it, const passage *of, size_t index)
{
    pawl_queue_send row     = of->changes.queue_send.items[index];
    bool            is_made = of->settled[row.unit].message.id.size == 0;
    row.unit = row.group = it->kept.unit_count;
    if (!pawl__arena_texts(it->kept_arena, PAWL__MESSAGE_TEXTS(&row.message)))
        return false;
    it->kept.queue_send.items[it->kept.queue_send.count++] = row;
    if (is_made)
        it->kept.inbox_entry.items[it->kept.inbox_entry.count++] =
            (pawl_inbox_entry){.unit       = row.unit,
                               .group      = row.group,
                               .endpoint   = it->endpoint->model->endpoint,
                               .message_id = row.message.id,
                               .outcome    = PAWL_INBOX_DISCARDED,
                               .at         = of->changes.now};
    return true;
}

/* Copies the rows and dead letters of a failed commit; fewer if memory is short. */
static void keep(pawl__intake *it, const passage *of)
{
    const pawl_changes *changes = &of->changes;
    size_t              room    = changes->queue_send.count + changes->dead_set.count + 1;
    pawl_arena_reset(it->kept_arena);
    it->kept = (pawl_changes){
        .queue_send.items  = pawl_arena_take(it->kept_arena, room * sizeof(pawl_queue_send)),
        .dead_set.items    = pawl_arena_take(it->kept_arena, room * sizeof(pawl_dead_set)),
        .inbox_entry.items = pawl_arena_take(it->kept_arena, room * sizeof(pawl_inbox_entry))};
    if (it->kept.queue_send.items == NULL || it->kept.dead_set.items == NULL ||
        it->kept.inbox_entry.items == NULL)
        return;
    for (size_t i = 0; i < changes->queue_send.count; i++)
        it->kept.unit_count += keep_row(it, of, i);
    for (size_t i = 0; i < changes->dead_set.count; i++)
        it->kept.unit_count += keep_dead(it, of, i);
}

static pawl_code commit_taken(pawl__intake *it, passage *made, pawl_error *error)
{
    pawl_code code = pawl__intake_drop_seconds(it, &made->changes, made->settled, error);
    leave_store(it, code);
    if (code != PAWL_OK)
        return code;
    code = commit(it, &made->changes, made->settled_count, error);
    if (code != PAWL_OK && !is_of_row(code))
        keep(it, made);
    return code;
}

pawl_code pawl__intake_store_kept(pawl__intake *it, pawl_error *error)
{
    if (it->kept.unit_count == 0)
        return PAWL_OK;
    it->kept.now   = pawl__machine_now(it->endpoint);
    pawl_code code = read_place(it, error);
    if (code == PAWL_OK)
        code = commit(it, &it->kept, it->kept.unit_count, error);
    it->has_place = false; /* another process may read the broker meanwhile */
    if (code == PAWL_OK || is_of_row(code))
        it->kept = (pawl_changes){.unit_count = 0};
    return code;
}

static void set_unsettled(pawl__intake *it, size_t count)
{
    it->unsettled = count;
    pawl__metric_set(&it->endpoint->metrics, PAWL__METRIC_INTAKE_UNSETTLED, (int64_t)count);
}

static void say_without_id(pawl__intake *it, size_t count)
{
    pawl__metric_add(&it->endpoint->metrics, PAWL__METRIC_INTAKE_WITHOUT_ID, 0, (int64_t)count);
    if (count == 0 || it->has_told)
        return;
    it->has_told = true;
    pawl_log(
        PAWL_LOG_WARNING,
        "endpoint %s: messages without an id come from queue %s of the broker; a copy of one is "
        "handled again, as nothing tells it from the first",
        it->endpoint->model->endpoint.data, it->queue);
}

pawl_code pawl__intake_settle(pawl__intake *it, const pawl_taken *items, size_t count,
                              pawl_error *error)
{
    pawl__app_call_set_waits(&it->app_call, PAWL__WAITS_FOR_BROKER);
    pawl_code code = count > 0 ? it->driver->ops->settle(it->driver, items, count, error) : PAWL_OK;
    pawl__app_call_set_waits(&it->app_call, NULL);
    if (code == PAWL_OK)
        set_unsettled(it, it->unsettled - count);
    return pawl__app_call_answer(code, "inbound", error);
}

/* Commits each message separately: one that the store refuses becomes a dead letter. */
static pawl_code store_each(pawl__intake *it, const pawl_takings *takings, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < takings->count && code == PAWL_OK; i++) {
        passage made = {.settled_count = 0};
        code         = make_passage(it, 1, &made);
        if (code == PAWL_OK)
            code = add_taken(it, &made, &takings->items[i]);
        if (code == PAWL_OK)
            code = commit_taken(it, &made, error);
        if (!is_of_row(code))
            continue;
        made.changes.queue_send.count      = made.changes.dead_set.count =
            made.changes.inbox_entry.count = 0;
        code = add_bodiless(it, &made, 0, &takings->items[i].message, code, error->text);
        if (code == PAWL_OK)
            code = commit_taken(it, &made, error);
    }
    return code;
}

pawl_code pawl__intake_store(pawl__intake *it, const pawl_takings *takings, pawl_error *error)
{
    passage made = {.settled_count = 0};
    if (takings->count == 0)
        return PAWL_OK;
    pawl_code code = read_place(it, error);
    if (code != PAWL_OK)
        return code;
    code = make_passage(it, takings->count, &made);
    for (size_t i = 0; i < takings->count && code == PAWL_OK; i++)
        code = add_taken(it, &made, &takings->items[i]);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for %zu messages of a broker",
                              takings->count);
    code = commit_taken(it, &made, error);
    if (is_of_row(code))
        code = store_each(it, takings, error);
    if (code != PAWL_OK)
        return code;
    say_without_id(it, made.without_id);
    return pawl__intake_settle(it, made.settled, made.settled_count, error);
}

void pawl__intake_count(pawl__intake *it, size_t count)
{
    set_unsettled(it, it->unsettled + count);
}

void pawl__intake_disconnect(pawl__intake *it)
{
    set_unsettled(it, 0);
    pawl__offers_forget(&it->endpoint->offers);
    it->has_place = false;
    it->driver->ops->leave(it->driver);
}

int64_t pawl__intake_pause(pawl__intake *it, int retries)
{
    return pawl__jittered(pawl__doubled(RETRY_SLEEP_FIRST, retries, RETRY_SLEEP_MAX), &it->random);
}

/* ---- Creation ---------------------------------------------------------------------------------------- */

/* Does the '#' belong to a routing key, as in "?routing-key=order.#.eu" or "?routing-key=#&prefetch=5"? Then the rest
 * of the key or the next option follows. */
static bool is_of_key(const char *url, const char *hash)
{
    const char *options = strchr(url, '?');
    return options != NULL && options < hash &&
           (hash[1] == '\0' || hash[1] == '.' || hash[1] == '&');
}

/* URL#QUEUE */
static pawl_code read_url(pawl__intake *it, pawl_error *error)
{
    const char *url  = it->endpoint->settings.transport;
    size_t      size = strlen(url);
    if (size > PAWL_URL_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "it has %zu bytes, the limit is %d", size,
                              PAWL_URL_SIZE_MAX);
    it->url = pawl_allocate(size + 1);
    if (it->url == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a URL");
    memcpy(it->url, url, size + 1);
    char *hash = strrchr(it->url, '#');
    it->queue  = it->endpoint->model->queue.data;
    if (hash != NULL && is_of_key(it->url, hash))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "a '#' in a routing key is written %%23: the last '#' of the URL "
                              "begins the queue's name, and here none follows");
    if (hash != NULL) {
        *hash     = '\0';
        it->queue = hash + 1;
    }
    return PAWL_OK;
}

/* The types that the endpoint handles, for its subscriptions. */
static pawl_code list_types(pawl__intake *it)
{
    const pawl__model *model = it->endpoint->model;
    it->types                = pawl_allocate((model->type_count + 1) * sizeof it->types[0]);
    for (size_t i = 0; i < model->type_count && it->types != NULL; i++)
        it->types[i] = model->types[i]->type;
    return it->types != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code open_driver(pawl__intake *it, pawl_error *error)
{
    const pawl_inbound_ops *ops  = NULL;
    pawl_code               code = pawl_inbound_find(it->url, &ops, error);
    if (code != PAWL_OK)
        return code;
    it->driver = pawl_allocate(ops->inbound_size);
    if (it->driver == NULL || list_types(it) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an inbound transport");
    it->driver->ops              = ops;
    pawl_inbound_options options = {.options_size = sizeof options,
                                    .queue        = it->queue,
                                    .types        = it->types,
                                    .type_count   = it->endpoint->model->type_count,
                                    .prefetch   = (size_t)it->endpoint->settings.batch_messages * 2,
                                    .is_ordered = it->is_ordered};
    return pawl__app_call_answer(ops->open(it->driver, it->url, &options, error), "inbound", error);
}

pawl_code pawl__intake_create(pawl_endpoint *endpoint, pawl__intake **inbound, pawl_error *error)
{
    pawl__intake *made = pawl_allocate(sizeof *made);
    *inbound           = NULL;
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for an inbound transport");
    made->endpoint = endpoint;
    pawl__order_key key;
    made->is_ordered =
        pawl__order_read(endpoint->settings.ordered, &key) && key.kind != PAWL__ORDER_NONE;
    made->due_last   = PAWL_TIME_MIN;
    made->place_name = pawl__lease_name("intake", endpoint->model->queue, endpoint->model->arena);
    pawl__app_call_init(&made->app_call);
    pawl_random_seed(&made->random, endpoint->settings.seed != 0 ? endpoint->settings.seed + 2
                                                                 : pawl__system_seed());
    made->arena      = pawl_arena_create(0);
    made->kept_arena = pawl_arena_create(0);
    pawl_code code =
        made->arena != NULL && made->kept_arena != NULL && made->place_name.data != NULL
            ? read_url(made, error)
            : pawl_error_set(error, PAWL_ENOMEM, "no memory");
    if (code == PAWL_OK)
        code = open_driver(made, error);
    if (code == PAWL_OK) {
        *inbound = made;
        return code;
    }
    pawl__intake_destroy(made);
    return pawl_error_wrap(error, code == PAWL_ENOMEM ? code : PAWL_ECONFIG, "option transport");
}

void pawl__intake_leave(pawl__intake *it)
{
    if (it->driver != NULL && it->driver->ops != NULL)
        it->driver->ops->leave(it->driver);
    pawl_store_close(it->store);
    it->store     = NULL;
    it->has_place = false;
}

void pawl__intake_destroy(pawl__intake *it)
{
    if (it == NULL)
        return;
    pawl_store_close(it->store);
    if (it->driver != NULL && it->driver->ops != NULL)
        it->driver->ops->close(it->driver);
    pawl_free(it->driver);
    pawl__app_call_destroy(&it->app_call);
    pawl_arena_destroy(it->arena);
    pawl_arena_destroy(it->kept_arena);
    pawl_free(it->types);
    pawl_free(it->url);
    pawl_free(it);
}
