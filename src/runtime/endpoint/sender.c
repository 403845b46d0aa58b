/* sender.c - sends messages from outside a handler, in a commit of its own or in the caller's transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/endpoint.h"

#include "base/delay.h"
#include "base/sized.h"
#include "record/record_internal.h"

#include <string.h>

struct pawl_sender {
    pawl_store      *store;
    bool             owns_store;
    void            *native; /* enlisted: the caller's connection */
    pawl_arena      *arena;  /* texts of the collected messages; emptied by commit */
    pawl_random      random;
    pawl_queue_send *sends;
    size_t           count, capacity;
};

static pawl_code create(pawl_store *store, bool owns_store, void *native, pawl_sender **sender,
                        pawl_error *error)
{
    pawl_sender *made  = pawl_allocate(sizeof *made);
    pawl_arena  *arena = pawl_arena_create(0);
    if (made == NULL || arena == NULL) {
        pawl_free(made);
        pawl_arena_destroy(arena);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a sender");
    }
    *made =
        (pawl_sender){.store = store, .owns_store = owns_store, .native = native, .arena = arena};
    pawl_random_seed(&made->random, pawl__system_seed());
    *sender = made;
    return PAWL_OK;
}

pawl_code pawl_sender_open(const char *url, const pawl_store_options *options, pawl_sender **sender,
                           pawl_error *error)
{
    static const pawl_store_options existing = {.options_size = sizeof existing,
                                                .mode         = PAWL_OPEN_EXISTING};
    pawl_store                     *store    = NULL;
    *sender                                  = NULL;
    pawl_code code = pawl_store_open(url, options != NULL ? options : &existing, &store, error);
    if (code == PAWL_OK)
        code = create(store, true, NULL, sender, error);
    if (code != PAWL_OK)
        pawl_store_close(store);
    return code;
}

pawl_code pawl_enlist(pawl_store *store, void *native, pawl_sender **sender, pawl_error *error)
{
    *sender = NULL;
    if (store == NULL || native == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "store and connection may not be NULL");
    if (!pawl_store_can_enlist(store))
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "a %s store has no transaction of the caller's to join",
                              pawl_store_scheme(store));
    return create(store, false, native, sender, error);
}

void pawl_sender_close(pawl_sender *sender)
{
    if (sender == NULL)
        return;
    if (sender->owns_store) {
        if (pawl_store_is_attached(sender->store))
            pawl_store_worker_close(sender->store, pawl_clock_now(NULL), NULL);
        pawl_store_close(sender->store);
    }
    pawl_arena_destroy(sender->arena);
    pawl_free(sender);
}

/* ---- Messages -------------------------------------------------------------------- */

static pawl_code check_sender(const pawl_sender *sender, pawl_error *error)
{
    return sender != NULL ? PAWL_OK : pawl_error_set(error, PAWL_EINVAL, "the sender is NULL");
}

static pawl_code take_text(pawl_sender *sender, const char *text, pawl_text *copy)
{
    *copy = pawl_arena_text(sender->arena, pawl_text_of(text));
    return copy->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code fill(pawl_sender *sender, const pawl_send_options *options, const char *type,
                      pawl_message *message)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl_uuid_v7(&sender->random, pawl_clock_now(NULL)), id);
    pawl_code code = take_text(sender, options->id != NULL ? options->id : id, &message->id);
    if (code == PAWL_OK)
        code = take_text(sender, type, &message->type);
    if (code == PAWL_OK)
        code = take_text(
            sender, options->correlation_id != NULL ? options->correlation_id : message->id.data,
            &message->correlation_id);
    message->causation_id = (pawl_text){.data = "", .size = 0};
    return code;
}

static pawl_code write_enlisted(pawl_sender *sender, pawl_queue_send *send, pawl_error *error)
{
    pawl_changes changes = {PAWL__ONE_UNIT(pawl_clock_now(NULL)), .queue_send = {send, 1}};
    pawl_code    code    = pawl_changes_check(&changes, error);
    return code == PAWL_OK ? pawl_store_enlist(sender->store, sender->native, &changes, error)
                           : code;
}

static pawl_code put(pawl_sender *sender, const char *queue, const pawl_message *message,
                     const pawl_send_options *options, pawl_error *error)
{
    pawl_queue_send send = {.message = *message};
    send.due =
        options->due != 0 ? options->due : pawl__after_delay(pawl_clock_now(NULL), options->delay);
    if (take_text(sender, queue, &send.queue) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
    pawl_changes changes = {.group_count = 1, .unit_count = 1, .queue_send = {&send, 1}};
    pawl_code    code    = pawl_changes_check(&changes, error);
    if (code == PAWL_OK)
        code = pawl__check_time("the due time of a message", "", options->due, pawl_clock_now(NULL),
                                error);
    if (code != PAWL_OK)
        return code;
    if (sender->native != NULL)
        return write_enlisted(sender, &send, error);
    pawl_queue_send *grown = pawl_arena_grow(sender->arena, sender->sends, sender->count,
                                             &sender->capacity, sizeof sender->sends[0]);
    if (grown == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
    sender->sends                  = grown;
    sender->sends[sender->count++] = send;
    return PAWL_OK;
}

/* Ends a call and returns `code`. An enlisted message is written already, so the arena can be emptied. */
static pawl_code end(pawl_sender *sender, pawl_code code)
{
    if (sender != NULL && sender->native != NULL)
        pawl_arena_reset(sender->arena);
    return code;
}

/* Copies the options, which are shorter in programs built with older headers. NULL: none. */
static pawl_code take_options(const pawl_sender *sender, const pawl_send_options *given,
                              pawl_send_options *taken, pawl_error *error)
{
    pawl_code code = check_sender(sender, error);
    *taken         = (pawl_send_options){PAWL_SEND_OPTIONS_HEAD};
    if (code != PAWL_OK)
        return code;
    return pawl__sized_read(given, taken, sizeof *taken, "options of a send",
                            "PAWL_SEND_OPTIONS_HEAD", error);
}

static pawl_code build(pawl_sender *sender, const pawl_send_options *options,
                       const pawl_record *record, const void *body, pawl_message *message,
                       pawl_error *error)
{
    pawl_text none = {.data = "", .size = 0};
    pawl_code code = pawl_record_encode(record, body, 0, sender->arena, &message->body, error);
    if (code == PAWL_OK)
        code = pawl__headers_build(none, record, options->headers, NULL, sender->arena,
                                   &message->headers, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "message %s", pawl_record_type(record));
    code = fill(sender, options, pawl_record_type(record), message);
    return code == PAWL_OK ? code : pawl_error_set(error, code, "no memory for a message");
}

pawl_code pawl_sender_send(pawl_sender *sender, const char *queue, const pawl_send_options *given,
                           const pawl_record *record, const void *message, pawl_error *error)
{
    pawl_message      made = {.id = {.size = 0}};
    pawl_send_options options;
    pawl_code         code = take_options(sender, given, &options, error);
    if (code == PAWL_OK)
        code = build(sender, &options, record, message, &made, error);
    return end(sender, code == PAWL_OK ? put(sender, queue, &made, &options, error) : code);
}

pawl_code pawl__sender_send_text(pawl_sender *sender, const char *queue,
                                 const pawl_send_options *given, const char *type, pawl_text body,
                                 pawl_error *error)
{
    pawl_message      made = {.body = pawl_arena_text(sender->arena, body)};
    pawl_text         none = {.data = "", .size = 0};
    pawl_send_options options;
    pawl_code         code = take_options(sender, given, &options, error);
    if (code == PAWL_OK && made.body.data == NULL)
        code = PAWL_ENOMEM;
    if (code == PAWL_OK)
        code = pawl__headers_build(none, NULL, options.headers, NULL, sender->arena, &made.headers,
                                   error);
    if (code == PAWL_OK)
        code = fill(sender, &options, type, &made);
    if (code == PAWL_ENOMEM)
        return end(sender, pawl_error_set(error, code, "no memory for a message"));
    return end(sender, code == PAWL_OK ? put(sender, queue, &made, &options, error) : code);
}

pawl_code pawl_sender_send_json(pawl_sender *sender, const char *queue,
                                const pawl_send_options *options, const char *type, pawl_text body,
                                pawl_error *error)
{
    pawl_code code = check_sender(sender, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__json_try(body, sender->arena, error);
    return code == PAWL_OK ? pawl__sender_send_text(sender, queue, options, type, body, error)
                           : pawl_error_wrap(error, code, "message %s", type != NULL ? type : "");
}

pawl_code pawl_sender_publish(pawl_sender *sender, const pawl_send_options *given,
                              const pawl_record *record, const void *message, pawl_error *error)
{
    pawl_subscriptions list = {NULL, 0};
    pawl_message       made = {.id = {.size = 0}};
    pawl_send_options  options;
    pawl_arena        *read = pawl_arena_create(4096);
    if (read == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for subscriptions");
    pawl_code code = take_options(sender, given, &options, error);
    if (code == PAWL_OK)
        code = pawl__value_check(record, message, error);
    if (code == PAWL_OK)
        code = pawl_store_subscriptions(sender->store, read, &list, error);
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++) {
        if (!pawl__is_subscriber(&list, i, record))
            continue;
        if (made.id.size == 0) /* one id and one conversation for all queues */
            code = build(sender, &options, record, message, &made, error);
        if (code == PAWL_OK)
            code = put(sender, list.items[i].queue.data, &made, &options, error);
    }
    pawl_arena_destroy(read);
    return end(sender, code);
}

/* ---- Starting ----------------------------------------------------------------------- */

/* Do the rows have one for the message? With `starts`: one that starts a saga. */
static bool has_row(const pawl_on *rows, uint32_t stride, const pawl_record *record, bool starts)
{
    for (size_t i = 0; rows != NULL; i++) {
        pawl_on row;
        pawl__table_row(rows, i, stride, &row, sizeof row);
        if (row.handle == NULL)
            return false;
        if (row.starts == starts && row.handle->message != NULL &&
            strcmp(pawl_record_type(row.handle->message()), pawl_record_type(record)) == 0)
            return true;
    }
    return false;
}

static bool is_started_by(const pawl_endpoint_spec *spec, uint32_t stride,
                          const pawl_record *record)
{
    for (size_t i = 0; i < pawl__list_count(spec->sagas); i++)
        if (has_row(spec->sagas[i]->on, stride, record, true))
            return true;
    for (size_t i = 0; i < pawl__list_count(spec->processes); i++)
        if (has_row(spec->processes[i]->on, stride, record, true))
            return true;
    for (size_t i = 0; i < pawl__list_count(spec->entities); i++)
        if (has_row(spec->entities[i]->on, stride, record, false) ||
            has_row(spec->entities[i]->on, stride, record, true))
            return true;
    return has_row(spec->handlers, stride, record, false);
}

static const char *queue_started_by(const pawl_application *application, const pawl_record *record)
{
    for (size_t i = 0; application->endpoints[i] != NULL; i++) {
        pawl_endpoint_spec spec;
        pawl__table_row(application->endpoints[i], 0, application->endpoint_size, &spec,
                        sizeof spec);
        if (is_started_by(&spec, application->on_size, record))
            return spec.queue != NULL ? spec.queue : spec.name;
    }
    return NULL;
}

pawl_code pawl_sender_start(pawl_sender *sender, const pawl_application *application,
                            const pawl_send_options *options, const pawl_record *record,
                            const void *message, pawl_error *error)
{
    pawl_code code = pawl_application_check(application, error);
    if (code == PAWL_OK)
        code = pawl__value_check(record, message, error);
    if (code != PAWL_OK)
        return code;
    const pawl_record *type  = record;
    const char        *queue = queue_started_by(application, type);
    for (int depth = 0; queue == NULL && type->base != NULL && depth < PAWL__BASES_MAX; depth++) {
        type  = type->base();
        queue = queue_started_by(application, type);
    }
    if (queue == NULL)
        return pawl_error_set(
            error, PAWL_ENOTFOUND,
            "message %s starts no saga, process, entity or handler of application %s",
            pawl_record_type(record), application->name != NULL ? application->name : "");
    return pawl_sender_send(sender, queue, options, record, message, error);
}

void pawl_sender_clear(pawl_sender *sender)
{
    if (sender == NULL)
        return;
    sender->sends = NULL;
    sender->count = sender->capacity = 0;
    pawl_arena_reset(sender->arena);
}

pawl_code pawl_sender_commit(pawl_sender *sender, pawl_error *error)
{
    pawl_code given = check_sender(sender, error);
    if (given != PAWL_OK)
        return given;
    if (sender->native != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "an enlisted sender has no commit: commit your own transaction");
    pawl_refusals refused = {.arena = sender->arena};
    pawl_changes  changes = {PAWL__ONE_UNIT(pawl_clock_now(NULL)),
                             .queue_send = {sender->sends, sender->count}};
    pawl_code     code =
        sender->count > 0 ? pawl_store_commit(sender->store, &changes, &refused, error) : PAWL_OK;
    if (code == PAWL_OK) /* otherwise the messages are kept for another try */
        pawl_sender_clear(sender);
    return code;
}
