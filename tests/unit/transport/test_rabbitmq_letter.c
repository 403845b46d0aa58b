/* test_rabbitmq_letter.c - a message of AMQP as pawl has it, from producers with properties alone, NServiceBus and
 * ServiceConnect. No server is asked. E28.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "support/tests.h"
#include "transport/rabbitmq/envelope.h"

#include <math.h>

#define ENTRIES_MAX 20

/* A message that is made up, and what is read of it. */
typedef struct made {
    amqp_message_t     message;
    amqp_table_entry_t entries[ENTRIES_MAX];
    pawl_arena        *arena;
    pawl_taken         taken;
} made;

static void make(made *m, const char *body)
{
    *m              = (made){.arena = test_arena()};
    m->message.body = amqp_cstring_bytes(body);
}

#define PROPERTY(m, flag, member, value)                            \
    do {                                                            \
        (m)->message.properties._flags |= AMQP_BASIC_##flag##_FLAG; \
        (m)->message.properties.member = amqp_cstring_bytes(value); \
    } while (0)

static amqp_field_value_t *add(made *m, const char *key, uint8_t kind)
{
    amqp_table_t *headers = &m->message.properties.headers;
    assert_true(headers->num_entries < ENTRIES_MAX);
    m->message.properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    headers->entries          = m->entries;
    amqp_table_entry_t *entry = &m->entries[headers->num_entries++];
    *entry = (amqp_table_entry_t){.key = amqp_cstring_bytes(key), .value.kind = kind};
    return &entry->value;
}

static void header(made *m, const char *key, const char *value)
{
    add(m, key, AMQP_FIELD_KIND_UTF8)->value.bytes = amqp_cstring_bytes(value);
}

static void read_it(made *m)
{
    assert_int_equal(pawl__letter_read(&m->message, m->arena, &m->taken), PAWL_OK);
}

static void is(pawl_text text, const char *expected)
{
    if (!pawl_text_equal(text, pawl_text_of(expected)))
        fail_msg("'%.*s' is not '%s'", PAWL_TEXT_ARGS(text), expected);
}

TEST(properties_are_enough)
{
    made m;
    make(&m, "{\"n\":1}");
    PROPERTY(&m, MESSAGE_ID, message_id, "m-1");
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, CORRELATION_ID, correlation_id, "c-1");
    read_it(&m);
    is(m.taken.message.id, "m-1");
    is(m.taken.message.type, "ping");
    is(m.taken.message.correlation_id, "c-1");
    is(m.taken.message.causation_id, "");
    is(m.taken.message.body, "{\"n\":1}");
    is(m.taken.message.headers, "");
    is(m.taken.refusal, "");
}

TEST(headers_of_pawl_come_back_as_they_went)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, REPLY_TO, reply_to, "answers");
    header(&m, "pawl.causation_id", "m-0");
    header(&m, "pawl.version", "2");
    header(&m, "tone", "ki\"nd");
    read_it(&m);
    is(m.taken.message.causation_id, "m-0");
    is(m.taken.message.headers, "{\"pawl.causation_id\":\"m-0\",\"pawl.version\":\"2\",\"tone\":"
                                "\"ki\\\"nd\",\"pawl.reply_to\":\"answers\"}");
    make(&m, "{}");
    PROPERTY(&m, REPLY_TO, reply_to, "answers");
    header(&m, "pawl.reply_to", "elsewhere");
    read_it(&m);
    is(m.taken.message.headers, "{\"pawl.reply_to\":\"elsewhere\"}");
    make(&m, "{}");
    PROPERTY(&m, REPLY_TO, reply_to, "answers");
    header(&m, "pawl.reply_to", "");
    read_it(&m);
    is(m.taken.message.headers, "{\"pawl.reply_to\":\"answers\"}");
}

TEST(headers_of_nservicebus_are_understood)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, CORRELATION_ID, correlation_id, "m-before"); /* names a message there */
    header(&m, "NServiceBus.MessageId", "n-1");
    header(&m, "NServiceBus.EnclosedMessageTypes",
           "Shop.Placed, Shop, Version=1.0.0.0;Shop.Event, Shop");
    header(&m, "NServiceBus.ConversationId", "talk");
    header(&m, "NServiceBus.CorrelationId", "m-before");
    header(&m, "NServiceBus.RelatedTo", "n-0");
    header(&m, "NServiceBus.ReplyToAddress", "desk");
    read_it(&m);
    is(m.taken.message.id, "n-1");
    is(m.taken.message.type, "Shop.Placed");
    is(m.taken.message.correlation_id, "talk");
    is(m.taken.message.causation_id, "n-0");
    is(m.taken.refusal, "");
    assert_non_null(strstr(m.taken.message.headers.data, "\"pawl.reply_to\":\"desk\""));
}

TEST(headers_of_serviceconnect_are_understood)
{
    made m;
    make(&m, "{}");
    header(&m, "MessageId", "s-1");
    header(&m, "TypeName", "Placed");
    header(&m, "FullTypeName", "Shop.Placed, Shop");
    header(&m, "CorrelationId", "talk");
    header(&m, "SourceAddress", "desk");
    read_it(&m);
    is(m.taken.message.id, "s-1");
    is(m.taken.message.type, "Shop.Placed");
    is(m.taken.message.correlation_id, "talk");
    assert_non_null(strstr(m.taken.message.headers.data, "\"pawl.reply_to\":\"desk\""));
}

TEST(what_a_property_says_comes_before_a_header)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, MESSAGE_ID, message_id, "m-1");
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, REPLY_TO, reply_to, "here");
    header(&m, "MessageId", "s-1");
    header(&m, "TypeName", "Placed");
    header(&m, "SourceAddress", "there");
    read_it(&m);
    is(m.taken.message.id, "m-1");
    is(m.taken.message.type, "ping");
    assert_non_null(strstr(m.taken.message.headers.data, "\"pawl.reply_to\":\"here\""));
}

/* A property or a header without a text says nothing: the next one is asked. */
TEST(what_is_empty_says_nothing)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, MESSAGE_ID, message_id, "");
    PROPERTY(&m, TYPE, type, "");
    PROPERTY(&m, CORRELATION_ID, correlation_id, "");
    PROPERTY(&m, REPLY_TO, reply_to, "");
    header(&m, "NServiceBus.MessageId", "");
    header(&m, "MessageId", "m-1");
    header(&m, "NServiceBus.EnclosedMessageTypes", "");
    header(&m, "FullTypeName", "");
    header(&m, "TypeName", "placed");
    header(&m, "NServiceBus.ConversationId", "");
    header(&m, "CorrelationId", "c-1");
    header(&m, "NServiceBus.ReplyToAddress", "");
    header(&m, "SourceAddress", "desk");
    header(&m, "pawl.due", "");
    read_it(&m);
    is(m.taken.refusal, "");
    is(m.taken.message.id, "m-1");
    is(m.taken.message.type, "placed");
    is(m.taken.message.correlation_id, "c-1");
    assert_true(m.taken.due == 0);
    assert_non_null(strstr(m.taken.message.headers.data, "\"pawl.reply_to\":\"desk\""));
    assert_non_null(strstr(m.taken.message.headers.data, "\"NServiceBus.MessageId\":\"\""));
}

/* The first class's full name, with or without an assembly behind it. */
TEST(of_several_types_the_first_counts)
{
    static const char *const texts[] = {"Shop.Placed, Shop, Version=1.0;Shop.Event, Shop",
                                        "Shop.Placed;Shop.Event", "Shop.Placed;Shop.Event, Shop",
                                        "Shop.Placed, Shop", "Shop.Placed"};
    for (size_t i = 0; i < 2 * (COUNT(texts)); i++) {
        made m;
        make(&m, "{}");
        if (i % 2 == 0)
            PROPERTY(&m, TYPE, type, texts[i / 2]);
        else
            header(&m, "NServiceBus.EnclosedMessageTypes", texts[i / 2]);
        read_it(&m);
        is(m.taken.message.type, "Shop.Placed");
    }
}

TEST(e28_without_a_type_it_is_refused)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, MESSAGE_ID, message_id, "m-1");
    header(&m, "TypeName", "");
    read_it(&m);
    is(m.taken.message.type, "");
    assert_non_null(strstr(m.taken.refusal.data, "it has no type"));
}

TEST(values_become_texts)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    add(&m, "yes", AMQP_FIELD_KIND_BOOLEAN)->value.boolean = 1;
    add(&m, "no", AMQP_FIELD_KIND_BOOLEAN)->value.boolean  = 0;
    add(&m, "small", AMQP_FIELD_KIND_I8)->value.i8         = -8;
    add(&m, "byte", AMQP_FIELD_KIND_U8)->value.u8          = 200;
    add(&m, "short", AMQP_FIELD_KIND_I16)->value.i16       = -300;
    add(&m, "word", AMQP_FIELD_KIND_U16)->value.u16        = 60000;
    add(&m, "int", AMQP_FIELD_KIND_I32)->value.i32         = -70000;
    add(&m, "unsigned", AMQP_FIELD_KIND_U32)->value.u32    = 4000000000u;
    add(&m, "long", AMQP_FIELD_KIND_I64)->value.i64        = INT64_MIN;
    add(&m, "time", AMQP_FIELD_KIND_TIMESTAMP)->value.u64  = UINT64_MAX;
    add(&m, "float", AMQP_FIELD_KIND_F32)->value.f32       = 0.5F;
    add(&m, "double", AMQP_FIELD_KIND_F64)->value.f64      = 0.1;
    add(&m, "none", AMQP_FIELD_KIND_F64)->value.f64        = NAN;
    add(&m, "decimal", AMQP_FIELD_KIND_DECIMAL)->value.decimal =
        (amqp_decimal_t){.decimals = 2, .value = 314};
    add(&m, "loss", AMQP_FIELD_KIND_DECIMAL)->value.decimal =
        (amqp_decimal_t){.decimals = 1, .value = (uint32_t)-15};
    add(&m, "x-death", AMQP_FIELD_KIND_ARRAY);
    add(&m, "nothing", AMQP_FIELD_KIND_VOID);
    read_it(&m);
    is(m.taken.message.headers,
       "{\"yes\":\"true\",\"no\":\"false\",\"small\":\"-8\",\"byte\":\"200\",\"short\":\"-300\","
       "\"word\":\"60000\",\"int\":\"-70000\",\"unsigned\":\"4000000000\",\"long\":"
       "\"-9223372036854775808\",\"time\":\"18446744073709551615\",\"float\":\"0.5\","
       "\"double\":\"0.1\",\"none\":\"NaN\",\"decimal\":\"314e-2\",\"loss\":\"-15e-1\"}");
}

TEST(e28_a_header_that_is_no_text_is_left_out_and_told)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    header(&m, "good", "yes");
    header(&m, "bad", "\xff");
    read_it(&m);
    is(m.taken.message.headers, "{\"good\":\"yes\"}");
    is(m.taken.refusal, "header 'bad' is not a text in UTF-8");
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    header(&m, "\xfe", "yes");
    read_it(&m);
    is(m.taken.refusal, "the name of a header is not a text in UTF-8");
    make(&m, "{}"); /* the answer would go nowhere */
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, REPLY_TO, reply_to, "\xff");
    header(&m, "good", "yes");
    read_it(&m);
    is(m.taken.message.headers, "{\"good\":\"yes\"}");
    is(m.taken.refusal, "the reply address (reply_to) is not a text in UTF-8");
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, REPLY_TO, reply_to, "\xff");
    header(&m, "pawl.reply_to", "here"); /* which comes first */
    read_it(&m);
    is(m.taken.refusal, "");
}

TEST(a_due_time_is_read_and_one_that_is_none_refused)
{
    made      m;
    pawl_time due = 0;
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    read_it(&m);
    assert_int_equal(m.taken.due, 0);
    header(&m, "pawl.due", "2026-01-31T23:59:59.123456Z");
    read_it(&m);
    must(pawl_time_parse(PAWL_TEXT("2026-01-31T23:59:59.123456Z"), &due, world_error()));
    assert_int_equal(m.taken.due, due);
    is(m.taken.refusal, "");
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    header(&m, "pawl.due", "soon");
    read_it(&m);
    is(m.taken.refusal, "header 'pawl.due' is not a time: expected 2026-01-31T23:59:59.123456Z");
}

static void expires(made *m, const char *expected)
{
    const char *text = test_text("\"pawl.expires\":\"%s\"", expected);
    read_it(m);
    is(m->taken.refusal, "");
    if (expected[0] != '\0' ? strstr(m->taken.message.headers.data, text) == NULL
                            : m->taken.message.headers.size > 0 &&
                                  strstr(m->taken.message.headers.data, "pawl.expires") != NULL)
        fail_msg("'%.*s' has not %s", PAWL_TEXT_ARGS(m->taken.message.headers), text);
}

TEST(a_time_to_be_processed_becomes_its_end)
{
    made m;
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    PROPERTY(&m, EXPIRATION, expiration, "1500");
    expires(&m, ""); /* nobody says since when; RabbitMQ has dropped it by then itself */
    m.message.properties._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    m.message.properties.timestamp = 1767258000;
    expires(&m, "2026-01-01T09:00:02.500000Z");
    header(&m, "NServiceBus.TimeSent", "2026-01-31 23:59:50:123456 Z");
    expires(&m, "2026-01-31T23:59:51.623456Z");
    header(&m, "NServiceBus.TimeToBeReceived", "1.00:00:10");
    expires(&m, "2026-02-02T00:00:00.123456Z");
    header(&m, "pawl.expires", ""); /* says nothing, and is left out */
    expires(&m, "2026-02-02T00:00:00.123456Z");
    assert_null(strstr(m.taken.message.headers.data, "\"pawl.expires\":\"\""));
    header(&m, "pawl.expires", "2030-01-01T00:00:00.000000Z");
    expires(&m, "2030-01-01T00:00:00.000000Z");
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    header(&m, "TimeSent", "2026-01-31T23:59:50.5Z");
    header(&m, "NServiceBus.TimeToBeReceived", "00:00:09.9999999");
    expires(&m, "2026-02-01T00:00:00.500000Z");
    make(&m, "{}");
    PROPERTY(&m, TYPE, type, "ping");
    header(&m, "TimeSent", "2026-01-31T23:59:50.5Z");
    header(&m, "NServiceBus.TimeToBeReceived", "00:00:00.0500000");
    expires(&m, "2026-01-31T23:59:50.550000Z");
    static const char *const odd[] = {"",        "x",         "10",  "00:10",
                                      "00:00:x", "-00:00:01", "1.2", "9999999999:00:00"};
    for (size_t i = 0; i < COUNT(odd); i++) {
        make(&m, "{}");
        PROPERTY(&m, TYPE, type, "ping");
        header(&m, "TimeSent", "2026-01-31T23:59:50.5Z");
        header(&m, "NServiceBus.TimeToBeReceived", odd[i]);
        expires(&m, "");
    }
}
