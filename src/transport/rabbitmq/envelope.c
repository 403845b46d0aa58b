/* envelope.c - makes the properties and headers of an outgoing message.
 *
 * A header that the application set itself is kept, and no default replaces it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/envelope.h"

#include <stdio.h>
#include <string.h>

#define DELAY_IGNORED PAWL_SECONDS(5) /* clocks of machines may differ by that much */
#define PERSISTENT 2
#define EXPIRATION_MS_MAX INT64_C(4294967295) /* RabbitMQ takes no more */

/* ---- Headers ------------------------------------------------------------------------ */

typedef struct headers {
    amqp_table_entry_t *items;
    size_t              count, capacity;
    size_t              size; /* size in bytes, in AMQP's encoding */
    pawl_arena         *arena;
    bool                has_failed; /* an allocation failed */
    bool                is_too_long;
    bool                has_copies; /* a header CC or BCC */
} headers;

static bool has(const headers *to, pawl_text key)
{
    for (size_t i = 0; i < to->count; i++)
        if (to->items[i].key.len == key.size &&
            memcmp(to->items[i].key.bytes, key.data, key.size) == 0)
            return true;
    return false;
}

static void put(headers *to, pawl_text key, pawl_text value)
{
    if (to->has_failed || has(to, key))
        return;
    if (to->count == to->capacity)
        to->items =
            pawl_arena_grow(to->arena, to->items, to->count, &to->capacity, sizeof to->items[0]);
    to->has_failed = to->items == NULL;
    if (to->has_failed)
        return;
    to->is_too_long = to->is_too_long || key.size > PAWL__RABBITMQ_NAME_SIZE_MAX;
    to->has_copies  = to->has_copies || pawl_text_equal(key, PAWL_TEXT("CC")) ||
                     pawl_text_equal(key, PAWL_TEXT("BCC"));
    to->size += key.size + value.size + 6;
    to->items[to->count++] = (amqp_table_entry_t){
        .key   = pawl__amqp_bytes(key),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = pawl__amqp_bytes(value)}};
}

/* Adds a default, if there is one and the message has no such header. */
static void put_default(headers *to, pawl_text key, pawl_text value)
{
    if (value.size > 0)
        put(to, key, value);
}

/* Adds a default made for this message. Without data its allocation failed. */
static void put_made(headers *to, pawl_text key, pawl_text value)
{
    to->has_failed = to->has_failed || value.data == NULL;
    put_default(to, key, value);
}

static void *json_take(void *context, size_t size)
{
    return pawl_arena_take(context, size);
}

static void *json_resize(void *context, void *old, size_t old_size, size_t size)
{
    void *made = pawl_arena_take(context, size);
    if (made != NULL)
        memcpy(made, old, old_size < size ? old_size : size);
    return made;
}

static void json_free(void *context, void *old)
{
    (void)context;
    (void)old;
}

yyjson_alc pawl__rabbitmq_json_memory(pawl_arena *arena)
{
    return (yyjson_alc){json_take, json_resize, json_free, arena};
}

/* The message, with the values that AMQP and other systems need. */
typedef struct letter {
    const pawl_delivery *item;
    pawl_text            reply_to;
    bool                 is_publish;
    bool                 expires;
    pawl_time            sent_at, end; /* of its time to be processed, if it expires */
    char                 sent[PAWL_TIME_TEXT_SIZE + 1];
    pawl_text            endpoint, machine, started, ended; /* of a copy for an audit */
} letter;

/* Keeps a header of pawl from which properties, or headers of other systems, are made. */
static void note_own(letter *of, pawl_text name, pawl_text text)
{
    const struct {
        pawl_text  name;
        pawl_text *to;
    } rows[] = {{PAWL_TEXT("pawl.reply_to"), &of->reply_to},
                {PAWL_TEXT(PAWL_HEADER_AUDIT_ENDPOINT), &of->endpoint},
                {PAWL_TEXT(PAWL_HEADER_AUDIT_MACHINE), &of->machine},
                {PAWL_TEXT(PAWL_HEADER_AUDIT_STARTED), &of->started},
                {PAWL_TEXT(PAWL_HEADER_AUDIT_ENDED), &of->ended}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pawl_text_equal(name, rows[i].name))
            *rows[i].to = text;
    if (pawl_text_equal(name, PAWL_TEXT(PAWL_HEADER_EXPIRES)))
        of->expires = pawl_time_parse(text, &of->end, NULL) == PAWL_OK;
}

/* Adds the headers of the message: a JSON object of strings, which the store has checked. */
static void put_own(headers *to, pawl_text json, letter *of)
{
    yyjson_alc  memory   = pawl__rabbitmq_json_memory(to->arena);
    yyjson_doc *document = json.size > 0 ? yyjson_read_opts((char *)(uintptr_t)json.data, json.size,
                                                            YYJSON_READ_NOFLAG, &memory, NULL)
                                         : NULL;
    yyjson_val *key;
    size_t      i, count;
    yyjson_val *value;
    if (document == NULL) {
        to->has_failed |= json.size > 0;
        return;
    }
    yyjson_obj_foreach(yyjson_doc_get_root(document), i, count, key, value)
    {
        pawl_text name = {.data = yyjson_get_str(key), .size = yyjson_get_len(key)};
        pawl_text text = {.data = yyjson_get_str(value), .size = yyjson_get_len(value)};
        if (!yyjson_is_str(value))
            continue;
        put(to, name, text);
        note_own(of, name, text);
    }
}

/* ---- The headers of other systems ------------------------------------------------------- */

/* "2026-01-31 23:59:59:123456 Z". Empty: there is no such time. */
static pawl_text nservicebus_time(pawl_text time, pawl_arena *arena)
{
    if (time.size != PAWL_TIME_TEXT_SIZE)
        return (pawl_text){.data = "", .size = 0};
    return pawl_arena_printf(arena, "%.10s %.8s:%.6s Z", time.data, time.data + 11, time.data + 20);
}

/* A TimeSpan of .NET, "1.23:59:59.123456". */
static pawl_text nservicebus_span(const letter *of, pawl_arena *arena)
{
    int64_t left    = of->end > of->sent_at ? of->end - of->sent_at : 0;
    int64_t seconds = left / PAWL_SECONDS(1);
    return pawl_arena_printf(arena, "%lld.%02d:%02d:%02d.%06d", (long long)(seconds / 86400),
                             (int)(seconds / 3600 % 24), (int)(seconds / 60 % 60),
                             (int)(seconds % 60), (int)(left % PAWL_SECONDS(1)));
}

static void put_nservicebus(headers *to, const letter *of)
{
    const pawl_message *message = &of->item->message;
    put_default(to, PAWL_TEXT("NServiceBus.MessageId"), message->id);
    put_default(to, PAWL_TEXT("NServiceBus.EnclosedMessageTypes"), message->type);
    put_default(to, PAWL_TEXT("NServiceBus.ContentType"), PAWL_TEXT("application/json"));
    put_default(to, PAWL_TEXT("NServiceBus.MessageIntent"),
                of->is_publish ? PAWL_TEXT("Publish") : PAWL_TEXT("Send"));
    put_default(to, PAWL_TEXT("NServiceBus.ConversationId"), message->correlation_id);
    put_default(to, PAWL_TEXT("NServiceBus.CorrelationId"), message->correlation_id);
    put_default(to, PAWL_TEXT("NServiceBus.RelatedTo"), message->causation_id);
    put_default(to, PAWL_TEXT("NServiceBus.ReplyToAddress"), of->reply_to);
    put_made(to, PAWL_TEXT("NServiceBus.TimeSent"),
             nservicebus_time(pawl_text_of(of->sent), to->arena));
    put_default(to, PAWL_TEXT("NServiceBus.ProcessingEndpoint"), of->endpoint);
    put_default(to, PAWL_TEXT("NServiceBus.ProcessingMachine"), of->machine);
    put_made(to, PAWL_TEXT("NServiceBus.ProcessingStarted"),
             nservicebus_time(of->started, to->arena));
    put_made(to, PAWL_TEXT("NServiceBus.ProcessingEnded"), nservicebus_time(of->ended, to->arena));
    if (of->expires)
        put_made(to, PAWL_TEXT("NServiceBus.TimeToBeReceived"), nservicebus_span(of, to->arena));
}

static void put_serviceconnect(headers *to, const letter *of)
{
    const pawl_message *message = &of->item->message;
    put_default(to, PAWL_TEXT("MessageId"), message->id);
    put_default(to, PAWL_TEXT("MessageType"),
                of->is_publish ? PAWL_TEXT("Publish") : PAWL_TEXT("Send"));
    put_default(to, PAWL_TEXT("TypeName"), message->type);
    put_default(to, PAWL_TEXT("FullTypeName"), message->type);
    put_default(to, PAWL_TEXT("CorrelationId"), message->correlation_id);
    put_default(to, PAWL_TEXT("DestinationAddress"),
                of->endpoint.size > 0 ? of->endpoint : of->item->queue);
    put_default(to, PAWL_TEXT("DestinationMachine"), of->machine);
    put_default(to, PAWL_TEXT("TimeReceived"), of->started);
    put_default(to, PAWL_TEXT("TimeProcessed"), of->ended);
    put_default(to, PAWL_TEXT("SourceAddress"), of->reply_to);
    put_made(to, PAWL_TEXT("TimeSent"), pawl_arena_text(to->arena, pawl_text_of(of->sent)));
    put_default(to, PAWL_TEXT("ConsumerType"), PAWL_TEXT("RabbitMQ"));
    put_default(to, PAWL_TEXT("Language"), PAWL_TEXT("C"));
}

static void put_foreign(headers *to, const pawl__rabbitmq_url *url, const letter *of)
{
    if (url->headers == PAWL__RABBITMQ_HEADERS_NSERVICEBUS)
        put_nservicebus(to, of);
    else if (url->headers == PAWL__RABBITMQ_HEADERS_SERVICECONNECT)
        put_serviceconnect(to, of);
}

/* ---- The envelope ------------------------------------------------------------------------- */

static void set_text(amqp_basic_properties_t *properties, amqp_flags_t flag, amqp_bytes_t *member,
                     pawl_text text)
{
    if (text.size == 0)
        return;
    properties->_flags |= flag;
    *member = pawl__amqp_bytes(text);
}

/* Sets the remaining milliseconds; when they are over, RabbitMQ drops the message from its queue. */
static void set_expiration(amqp_basic_properties_t *properties, const letter *of, pawl_time now,
                           headers *all)
{
    int64_t left = of->end > now ? (of->end - now) / PAWL_MILLISECONDS(1) : 0;
    if (!of->expires || left > EXPIRATION_MS_MAX)
        return;
    pawl_text text  = pawl_arena_printf(all->arena, "%lld", (long long)left);
    all->has_failed = all->has_failed || text.data == NULL;
    set_text(properties, AMQP_BASIC_EXPIRATION_FLAG, &properties->expiration, text);
}

static void set_properties(amqp_basic_properties_t *properties, const letter *of,
                           const headers *all)
{
    const pawl_message *message = &of->item->message;
    pawl_time           sent    = of->sent_at;
    *properties = (amqp_basic_properties_t){._flags = AMQP_BASIC_DELIVERY_MODE_FLAG |
                                                      AMQP_BASIC_TIMESTAMP_FLAG,
                                            .delivery_mode = PERSISTENT,
                                            .timestamp     = (uint64_t)(sent / PAWL_SECONDS(1))};
    set_text(properties, AMQP_BASIC_CONTENT_TYPE_FLAG, &properties->content_type,
             PAWL_TEXT("application/json"));
    set_text(properties, AMQP_BASIC_MESSAGE_ID_FLAG, &properties->message_id, message->id);
    set_text(properties, AMQP_BASIC_TYPE_FLAG, &properties->type, message->type);
    set_text(properties, AMQP_BASIC_CORRELATION_ID_FLAG, &properties->correlation_id,
             message->correlation_id);
    set_text(properties, AMQP_BASIC_REPLY_TO_FLAG, &properties->reply_to, of->reply_to);
    if (all->count == 0)
        return;
    properties->_flags |= AMQP_BASIC_HEADERS_FLAG;
    properties->headers = (amqp_table_t){.num_entries = (int)all->count, .entries = all->items};
}

/* The reason why AMQP cannot carry the message; empty: it can. */
static pawl_text refusal(const pawl__rabbitmq_url *url, const letter *of, const headers *all,
                         pawl_time now, pawl_arena *arena)
{
    const struct {
        const char *name;
        pawl_text   text;
    } shorts[] = {{"the queue's name", of->item->queue},
                  {"the id", of->item->message.id},
                  {"the type", of->item->message.type},
                  {"the correlation id", of->item->message.correlation_id},
                  {"the header pawl.reply_to", of->reply_to}};
    char time[PAWL_TIME_TEXT_SIZE + 1];
    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (shorts[i].text.size > PAWL__RABBITMQ_NAME_SIZE_MAX)
            return pawl_arena_printf(arena, "%s has %zu bytes, the limit of AMQP is %d",
                                     shorts[i].name, shorts[i].text.size,
                                     PAWL__RABBITMQ_NAME_SIZE_MAX);
    if (all->is_too_long)
        return pawl_arena_printf(arena, "a header's name has more than %d bytes, the limit of AMQP",
                                 PAWL__RABBITMQ_NAME_SIZE_MAX);
    if (all->size > PAWL__RABBITMQ_PROPERTIES_SIZE_MAX)
        return pawl_arena_printf(arena, "the headers have %zu bytes, the limit is %d", all->size,
                                 PAWL__RABBITMQ_PROPERTIES_SIZE_MAX);
    if (all->has_copies)
        return pawl_arena_printf(arena, "it has a header CC or BCC: to RabbitMQ these are lists of "
                                        "more queues, and a text there closes the channel");
    if (url->delay == PAWL__RABBITMQ_DELAY_HEADER || of->item->due <= now + DELAY_IGNORED)
        return (pawl_text){.data = "", .size = 0};
    pawl_time_format(of->item->due, time);
    return pawl_arena_printf(arena,
                             "it must not be handled before %s, and RabbitMQ keeps no message "
                             "back: send it when it is due, by a timeout, or, to an endpoint of "
                             "pawl, by a route with delay=header",
                             time);
}

static pawl_text due_text(pawl_time due, pawl_arena *arena)
{
    char text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(due, text);
    return pawl_arena_text(arena, pawl_text_of(text));
}

static void address(const pawl__rabbitmq_url *url, const pawl_delivery *item,
                    pawl__envelope *envelope)
{
    pawl_text exchange    = url->is_per_type ? item->message.type : pawl_text_of(url->exchange);
    envelope->exchange    = pawl__amqp_bytes(exchange);
    envelope->routing_key = url->routing_key != NULL ? amqp_cstring_bytes(url->routing_key)
                                                     : pawl__amqp_bytes(item->queue);
    envelope->body        = pawl__amqp_bytes(item->message.body);
}

pawl_code pawl__envelope_make(const pawl__rabbitmq_url *url, const pawl_delivery *item,
                              pawl_time now, pawl_arena *arena, pawl__envelope *envelope,
                              pawl_text *why)
{
    headers   all  = {.arena = arena};
    letter    of   = {.item = item, .is_publish = url->is_per_type};
    pawl_time sent = item->due > 0 ? item->due : now;
    pawl_time_format(sent, of.sent);
    of.sent_at = sent;
    put_own(&all, item->message.headers, &of);
    put_default(&all, PAWL_TEXT("pawl.causation_id"), item->message.causation_id);
    if (url->delay == PAWL__RABBITMQ_DELAY_HEADER)
        put_made(&all, PAWL_TEXT("pawl.due"), due_text(item->due, arena));
    put_foreign(&all, url, &of);
    address(url, item, envelope);
    set_properties(&envelope->properties, &of, &all);
    set_expiration(&envelope->properties, &of, now, &all);
    *why = refusal(url, &of, &all, now, arena);
    return all.has_failed || why->data == NULL ? PAWL_ENOMEM : PAWL_OK;
}
