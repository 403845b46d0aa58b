/* letter.c - reads the properties and headers of an incoming message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "transport/rabbitmq/envelope.h"

#include <inttypes.h>
#include <string.h>

static pawl_text text_of(amqp_bytes_t bytes)
{
    return (pawl_text){.data = bytes.len > 0 ? bytes.bytes : "", .size = bytes.len};
}

/* ---- The time to be processed ------------------------------------------------------------------ */

/* Reads a number that ends at `end` or at the text's end, and moves `text` behind it. */
static bool take_number(pawl_text *text, char end, int64_t *number)
{
    size_t size = 0;
    *number     = 0;
    while (size < text->size && size < 10 && text->data[size] >= '0' && text->data[size] <= '9')
        *number = *number * 10 + (text->data[size++] - '0');
    bool has_end = size < text->size && text->data[size] == end;
    bool is_ok   = size > 0 && (size == text->size || has_end);
    if (is_ok)
        *text =
            (pawl_text){.data = text->data + size + has_end, .size = text->size - size - has_end};
    return is_ok;
}

#define SPAN_DAYS_MAX \
    1000000 /* as much in hours: a producer may write any digits, and the sum has 64 bits */

/* Reads the fraction of a second; digits below a microsecond round up to one. */
static int64_t fraction_read(pawl_text digits)
{
    int64_t unit = PAWL_SECONDS(1) / 10, fraction = 0;
    for (size_t i = 0; i < digits.size && unit > 0; i++, unit /= 10)
        fraction +=
            digits.data[i] >= '0' && digits.data[i] <= '9' ? (digits.data[i] - '0') * unit : 0;
    return fraction + (digits.size > 6 && digits.data[6] != '0');
}

/* A TimeSpan of .NET, "1.23:59:59.1234567" or "00:00:10". */
static bool span_read(pawl_text text, int64_t *span)
{
    int64_t   days = 0, hours = 0, minutes = 0, seconds = 0;
    pawl_text rest = text;
    if (!take_number(&rest, '.', &days) || rest.size == 0) {
        days = 0;
        rest = text;
    }
    if (days > SPAN_DAYS_MAX || !take_number(&rest, ':', &hours) || hours > SPAN_DAYS_MAX * 24 ||
        !take_number(&rest, ':', &minutes) || !take_number(&rest, '.', &seconds))
        return false;
    *span = PAWL_DAYS(days) + PAWL_HOURS(hours) + PAWL_MINUTES(minutes) + PAWL_SECONDS(seconds) +
            fraction_read(rest);
    return true;
}

/* NServiceBus writes "2026-01-31 23:59:59:123456 Z", with a colon before the fraction. */
static bool sent_read(pawl_text text, pawl_time *sent)
{
    char copy[PAWL_TIME_TEXT_SIZE + 8];
    if (text.size < 2 || text.size >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.size);
    if (text.size > 19 && copy[19] == ':')
        copy[19] = '.';
    if (copy[text.size - 1] == 'Z' && copy[text.size - 2] == ' ')
        copy[--text.size - 1] = 'Z';
    return pawl_time_parse((pawl_text){.data = copy, .size = text.size}, sent, NULL) == PAWL_OK;
}

/* ---- Headers ------------------------------------------------------------------------------ */

/* The shortest text that is read as the same number, with a point whatever the locale is. */
static pawl_text real_text(double number, pawl_arena *arena)
{
    yyjson_mut_val value  = {.tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL, .uni.f64 = number};
    yyjson_alc     memory = pawl__rabbitmq_json_memory(arena);
    pawl_text      text   = {0};
    text.data = yyjson_mut_val_write_opts(&value, YYJSON_WRITE_ALLOW_INF_AND_NAN, &memory,
                                          &text.size, NULL);
    return text;
}

/* A header's value as text; false: a table, a list or nothing, which headers of pawl never are. */
static bool value_text(const amqp_field_value_t *value, pawl_arena *arena, pawl_text *text)
{
    switch (value->kind) {
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES: *text = text_of(value->value.bytes); return true;
    case AMQP_FIELD_KIND_BOOLEAN:
        *text = value->value.boolean ? PAWL_TEXT("true") : PAWL_TEXT("false");
        return true;
    case AMQP_FIELD_KIND_I8: *text = pawl_arena_printf(arena, "%d", value->value.i8); return true;
    case AMQP_FIELD_KIND_U8: *text = pawl_arena_printf(arena, "%u", value->value.u8); return true;
    case AMQP_FIELD_KIND_I16: *text = pawl_arena_printf(arena, "%d", value->value.i16); return true;
    case AMQP_FIELD_KIND_U16: *text = pawl_arena_printf(arena, "%u", value->value.u16); return true;
    case AMQP_FIELD_KIND_I32:
        *text = pawl_arena_printf(arena, "%" PRId32, value->value.i32);
        return true;
    case AMQP_FIELD_KIND_U32:
        *text = pawl_arena_printf(arena, "%" PRIu32, value->value.u32);
        return true;
    case AMQP_FIELD_KIND_I64:
        *text = pawl_arena_printf(arena, "%" PRId64, value->value.i64);
        return true;
    case AMQP_FIELD_KIND_U64:
    case AMQP_FIELD_KIND_TIMESTAMP:
        *text = pawl_arena_printf(arena, "%" PRIu64, value->value.u64);
        return true;
    case AMQP_FIELD_KIND_F32: *text = real_text(value->value.f32, arena); return true;
    case AMQP_FIELD_KIND_F64: *text = real_text(value->value.f64, arena); return true;
    case AMQP_FIELD_KIND_DECIMAL:
        *text = pawl_arena_printf(arena, "%" PRId32 "e-%u", (int32_t)value->value.decimal.value,
                                  value->value.decimal.decimals);
        return true;
    default: return false;
    }
}

/* The value of the first header in `names` that is there and not empty; the list ends with NULL. */
static pawl_text header_of(const amqp_table_t *headers, const char *const *names, pawl_arena *arena)
{
    pawl_text text = {.data = "", .size = 0};
    for (size_t i = 0; names[i] != NULL; i++)
        for (int j = 0; j < headers->num_entries; j++) {
            const amqp_table_entry_t *entry = &headers->entries[j];
            if (pawl_text_equal(text_of(entry->key), pawl_text_of(names[i])) &&
                value_text(&entry->value, arena, &text) && text.size > 0)
                return text;
        }
    return (pawl_text){.data = "", .size = 0};
}

typedef struct header_writer {
    yyjson_mut_doc *document;
    yyjson_mut_val *root;
    pawl_arena     *arena;
    bool            has_failed; /* an allocation failed */
} header_writer;

static void write_header(header_writer *to, pawl_text name, pawl_text value)
{
    yyjson_mut_val *key  = yyjson_mut_strn(to->document, name.data, name.size);
    yyjson_mut_val *text = yyjson_mut_strn(to->document, value.data, value.size);
    to->has_failed       = to->has_failed || !yyjson_mut_obj_add(to->root, key, text);
}

static bool is_text(pawl_text text)
{
    size_t at = 0;
    return pawl_text_is_valid(text, &at);
}

/* Is the header ignored? An empty pawl.expires or pawl.reply_to gives way to the property. */
static bool is_unsaid(pawl_text name, pawl_text value)
{
    return value.size == 0 && (pawl_text_equal(name, PAWL_TEXT(PAWL_HEADER_EXPIRES)) ||
                               pawl_text_equal(name, PAWL_TEXT("pawl.reply_to")));
}

/* Writes a header. One that no store can keep is left out, and reported as the refusal. */
static void write_entry(header_writer *to, const amqp_table_entry_t *entry, pawl_text *refusal)
{
    pawl_text name = text_of(entry->key), value = {.data = "", .size = 0};
    if (!value_text(&entry->value, to->arena, &value))
        return;
    to->has_failed = to->has_failed || value.data == NULL;
    if (to->has_failed || is_unsaid(name, value))
        return;
    if (is_text(name) && is_text(value)) {
        write_header(to, name, value);
        return;
    }
    *refusal = is_text(name) ? pawl_arena_printf(to->arena, "header '%.*s' is not a text in UTF-8",
                                                 PAWL_TEXT_ARGS(name))
                             : PAWL_TEXT("the name of a header is not a text in UTF-8");
}

/* Computes the expiry time from the time of sending and the time to live, as NServiceBus and AMQP give them. False:
 * one of the two is missing. */
static bool find_expiry(const amqp_basic_properties_t *properties, const amqp_table_t *headers,
                        pawl_arena *arena, pawl_time *end)
{
    static const char *const sents[]  = {"NServiceBus.TimeSent", "TimeSent", NULL};
    static const char *const spans[]  = {"NServiceBus.TimeToBeReceived", NULL};
    pawl_text                millis   = text_of(properties->expiration);
    int64_t                  span     = 0;
    bool                     has_span = span_read(header_of(headers, spans, arena), &span);
    if (!has_span && (properties->_flags & AMQP_BASIC_EXPIRATION_FLAG) != 0) {
        has_span = take_number(&millis, ' ', &span);
        span     = PAWL_MILLISECONDS(span);
    }
    if (!has_span)
        return false;
    bool has_sent = sent_read(header_of(headers, sents, arena), end);
    if (!has_sent && (properties->_flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0 &&
        properties->timestamp < (uint64_t)(PAWL_TIME_MAX / PAWL_SECONDS(1))) {
        *end     = PAWL_SECONDS((int64_t)properties->timestamp +
                                1); /* AMQP's timestamps have whole seconds: sent within this one */
        has_sent = true;
    }
    *end = pawl_time_add(*end, span);
    return has_sent;
}

static void write_expiry(header_writer *to, const amqp_basic_properties_t *properties,
                         const amqp_table_t *headers)
{
    static const char *const own[] = {PAWL_HEADER_EXPIRES, NULL};
    char                     text[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time                end = 0;
    if (header_of(headers, own, to->arena).size > 0 ||
        !find_expiry(properties, headers, to->arena, &end))
        return;
    pawl_time_format(end, text);
    pawl_text kept = pawl_arena_text(to->arena, pawl_text_of(text));
    to->has_failed = to->has_failed || kept.data == NULL;
    if (!to->has_failed)
        write_header(to, PAWL_TEXT(PAWL_HEADER_EXPIRES), kept);
}

/* Writes all headers as a JSON object, with `reply_to` as pawl.reply_to unless the header exists. */
static pawl_code write_headers(const amqp_basic_properties_t *properties,
                               const amqp_table_t *headers, pawl_text reply_to, pawl_arena *arena,
                               pawl_taken *taken)
{
    static const char *const own[]  = {"pawl.reply_to", NULL};
    yyjson_alc               memory = pawl__rabbitmq_json_memory(arena);
    yyjson_mut_doc          *made   = yyjson_mut_doc_new(&memory);
    header_writer            to = {.document = made, .arena = arena, .root = yyjson_mut_obj(made)};
    size_t                   size = 0;
    if (made == NULL || to.root == NULL)
        return PAWL_ENOMEM;
    yyjson_mut_doc_set_root(made, to.root);
    for (int i = 0; i < headers->num_entries; i++)
        write_entry(&to, &headers->entries[i], &taken->refusal);
    bool is_asked = reply_to.size > 0 && header_of(headers, own, arena).size == 0;
    if (is_asked && is_text(reply_to))
        write_header(&to, PAWL_TEXT("pawl.reply_to"), reply_to);
    else if (is_asked)
        taken->refusal = PAWL_TEXT("the reply address (reply_to) is not a text in UTF-8");
    write_expiry(&to, properties, headers);
    if (to.has_failed)
        return PAWL_ENOMEM;
    if (yyjson_mut_obj_size(to.root) == 0)
        return PAWL_OK;
    taken->message.headers.data =
        yyjson_mut_write_opts(made, YYJSON_WRITE_NOFLAG, &memory, &size, NULL);
    taken->message.headers.size = size;
    return taken->message.headers.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* ---- The message ------------------------------------------------------------------------------ */

/* The property if it is set, else a header. */
static pawl_text first_of(const amqp_basic_properties_t *properties, amqp_flags_t flag,
                          amqp_bytes_t property, const amqp_table_t *headers,
                          const char *const *names, pawl_arena *arena)
{
    if ((properties->_flags & flag) != 0 && property.len > 0)
        return text_of(property);
    return header_of(headers, names, arena);
}

/* The full name of the first class in "Shop.Placed, Shop, Version=1.0;Shop.Event, Shop". */
static pawl_text class_of(pawl_text type)
{
    size_t size = 0;
    while (size < type.size && type.data[size] != ',' && type.data[size] != ';')
        size++;
    return (pawl_text){.data = type.data, .size = size};
}

/* The conversation's id. In NServiceBus it is a header of its own; its correlation id names a message. */
static pawl_text conversation_of(const amqp_basic_properties_t *properties,
                                 const amqp_table_t *headers, pawl_arena *arena)
{
    static const char *const first[] = {"NServiceBus.ConversationId", NULL};
    static const char *const last[]  = {"NServiceBus.CorrelationId", "CorrelationId", NULL};
    pawl_text                found   = header_of(headers, first, arena);
    return found.size > 0 ? found
                          : first_of(properties, AMQP_BASIC_CORRELATION_ID_FLAG,
                                     properties->correlation_id, headers, last, arena);
}

/* Copies a text that lies in the connection's memory. */
static bool keep(pawl_arena *arena, pawl_text *text)
{
    *text = pawl_arena_text(arena, *text);
    return text->data != NULL;
}

/* Reads the due time that a route with delay=header sets. */
static void read_due(const amqp_table_t *headers, pawl_arena *arena, pawl_taken *taken)
{
    static const char *const dues[] = {"pawl.due", NULL};
    pawl_text                text   = header_of(headers, dues, arena);
    if (text.size > 0 && pawl_time_parse(text, &taken->due, NULL) != PAWL_OK)
        taken->refusal =
            PAWL_TEXT("header 'pawl.due' is not a time: expected 2026-01-31T23:59:59.123456Z");
}

pawl_code pawl__letter_read(const amqp_message_t *message, pawl_arena *arena, pawl_taken *taken)
{
    static const char *const ids[]     = {"NServiceBus.MessageId", "MessageId", NULL};
    static const char *const types[]   = {"NServiceBus.EnclosedMessageTypes", "FullTypeName",
                                          "TypeName", NULL};
    static const char *const causes[]  = {"pawl.causation_id", "NServiceBus.RelatedTo", NULL};
    static const char *const answers[] = {"NServiceBus.ReplyToAddress", "SourceAddress", NULL};
    const amqp_basic_properties_t *properties = &message->properties;
    const amqp_table_t             none       = {.num_entries = 0};
    const amqp_table_t            *headers =
        (properties->_flags & AMQP_BASIC_HEADERS_FLAG) != 0 ? &properties->headers : &none;
    pawl_message *to = &taken->message;
    *taken           = (pawl_taken){.refusal = {.data = "", .size = 0}};
    to->id = first_of(properties, AMQP_BASIC_MESSAGE_ID_FLAG, properties->message_id, headers, ids,
                      arena);
    to->type = class_of(
        first_of(properties, AMQP_BASIC_TYPE_FLAG, properties->type, headers, types, arena));
    to->correlation_id = conversation_of(properties, headers, arena);
    to->causation_id   = header_of(headers, causes, arena);
    to->body           = text_of(message->body);
    pawl_text reply_to = first_of(properties, AMQP_BASIC_REPLY_TO_FLAG, properties->reply_to,
                                  headers, answers, arena);
    bool      is_kept  = keep(arena, &to->id) && keep(arena, &to->type) &&
                   keep(arena, &to->correlation_id) && keep(arena, &to->causation_id) &&
                   keep(arena, &to->body);
    if (!is_kept)
        return PAWL_ENOMEM;
    if (to->type.size == 0)
        taken->refusal = PAWL_TEXT("it has no type: neither the property of AMQP nor a header of "
                                   "NServiceBus or ServiceConnect names one");
    read_due(headers, arena, taken);
    return write_headers(properties, headers, reply_to, arena, taken);
}
