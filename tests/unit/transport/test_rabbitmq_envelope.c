/* test_rabbitmq_envelope.c - a message as AMQP has it: properties, headers of its own and of other systems, and what
 * AMQP cannot carry. No server is asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "support/fault_memory.h"
#include "support/tests.h"
#include "transport/rabbitmq/envelope.h"

#define NOW INT64_C(1767258000123456) /* 2026-01-01T09:00:00.123456Z */

typedef struct sample {
    pawl_arena        *arena;
    pawl__rabbitmq_url url;
    pawl_delivery      item;
    pawl__envelope     envelope;
    pawl_text          why;
} sample;

static void begin(sample *s, const char *url)
{
    *s = (sample){.arena = pawl_arena_create(4096)};
    must(pawl__rabbitmq_url_read(&s->url, PAWL__RABBITMQ_ROUTE, url, world_error()));
    s->item.queue   = PAWL_TEXT("desk");
    s->item.message = (pawl_message){.id             = PAWL_TEXT("m-1"),
                                     .type           = PAWL_TEXT("Shop.OrderPlaced"),
                                     .body           = PAWL_TEXT("{\"number\":1}"),
                                     .headers        = PAWL_TEXT("{\"tone\":\"kind\",\"none\":\"\","
                                                                        "\"pawl.reply_to\":\"orders\"}"),
                                     .correlation_id = PAWL_TEXT("c-1"),
                                     .causation_id   = PAWL_TEXT("m-0")};
}

static void make(sample *s)
{
    assert_int_equal(pawl__envelope_make(&s->url, &s->item, NOW, s->arena, &s->envelope, &s->why),
                     PAWL_OK);
}

static void end(sample *s)
{
    pawl__rabbitmq_url_free(&s->url);
    pawl_arena_destroy(s->arena);
}

static void is(amqp_bytes_t bytes, const char *expected)
{
    if (bytes.len != strlen(expected) || memcmp(bytes.bytes, expected, bytes.len) != 0)
        fail_msg("'%.*s' is not '%s'", (int)bytes.len, (const char *)bytes.bytes, expected);
}

/* All headers, as "key=value ". */
static void headers_are(const sample *s, const char *expected)
{
    char                text[2000] = "";
    const amqp_table_t *table      = &s->envelope.properties.headers;
    for (int i = 0; i < table->num_entries; i++) {
        const amqp_table_entry_t *entry = &table->entries[i];
        assert_int_equal(entry->value.kind, AMQP_FIELD_KIND_UTF8);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s=%.*s;", (int)entry->key.len,
                 (const char *)entry->key.bytes, (int)entry->value.value.bytes.len,
                 (const char *)entry->value.value.bytes.bytes);
    }
    assert_string_equal(text, expected);
}

static void rejects(sample *s, const char *expected)
{
    make(s);
    assert_string_equal(s->why.data, expected);
}

#define OWN "tone=kind;none=;pawl.reply_to=orders;pawl.causation_id=m-0;"

TEST(properties_say_what_the_message_is)
{
    sample s;
    begin(&s, "amqp://broker");
    make(&s);
    assert_int_equal(s.why.size, 0);
    is(s.envelope.exchange, "");
    is(s.envelope.routing_key, "desk");
    is(s.envelope.body, "{\"number\":1}");
    is(s.envelope.properties.message_id, "m-1");
    is(s.envelope.properties.type, "Shop.OrderPlaced");
    is(s.envelope.properties.correlation_id, "c-1");
    is(s.envelope.properties.content_type, "application/json");
    is(s.envelope.properties.reply_to, "orders");
    assert_int_equal(s.envelope.properties.delivery_mode, 2);
    assert_int_equal(s.envelope.properties.timestamp, NOW / 1000000);
    assert_int_equal(s.envelope.properties._flags,
                     AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG |
                         AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG |
                         AMQP_BASIC_REPLY_TO_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                         AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_HEADERS_FLAG);
    headers_are(&s, OWN);
    end(&s);
}

TEST(an_end_of_its_time_is_the_expiration)
{
    static const struct {
        const char *headers, *expiration;
    } cases[] = {{"{\"pawl.expires\":\"2026-01-01T09:00:01.623456Z\"}", "1500"},
                 {"{\"pawl.expires\":\"2026-01-01T09:00:00.123456Z\"}", "0"},
                 {"{\"pawl.expires\":\"2020-01-01T09:00:00.000000Z\"}", "0"},
                 {"{\"pawl.expires\":\"2026-02-20T02:02:47.418456Z\"}", "4294967295"},
                 {"{\"pawl.expires\":\"2026-02-20T02:02:47.419456Z\"}", NULL},
                 {"{\"pawl.expires\":\"soon\"}", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        sample s;
        begin(&s, "amqp://broker?headers=nservicebus");
        s.item.message.headers = pawl_text_of(cases[i].headers);
        make(&s);
        bool has = (s.envelope.properties._flags & AMQP_BASIC_EXPIRATION_FLAG) != 0;
        assert_int_equal(has, cases[i].expiration != NULL);
        if (has)
            is(s.envelope.properties.expiration, cases[i].expiration);
        if (i == 0) {
            const amqp_table_t *all = &s.envelope.properties.headers;
            is(all->entries[all->num_entries - 1].key, "NServiceBus.TimeToBeReceived");
            is(all->entries[all->num_entries - 1].value.value.bytes, "0.00:00:01.500000");
        }
        end(&s);
    }
}

TEST(what_a_message_does_not_have_is_left_out)
{
    sample s;
    begin(&s, "amqp://broker?headers=nservicebus");
    s.url.headers                 = PAWL__RABBITMQ_HEADERS_NONE;
    s.item.message.headers        = PAWL_TEXT("");
    s.item.message.correlation_id = PAWL_TEXT("");
    s.item.message.causation_id   = PAWL_TEXT("");
    s.item.due                    = NOW - PAWL_SECONDS(60);
    make(&s);
    assert_int_equal(
        s.envelope.properties._flags &
            (AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_REPLY_TO_FLAG),
        0);
    assert_int_equal(s.envelope.properties.timestamp, NOW / 1000000 - 60);
    end(&s);
}

TEST(an_exchange_takes_its_own_key_or_the_route_s_queue)
{
    sample s;
    begin(&s, "amqp://broker?exchange=events");
    make(&s);
    is(s.envelope.exchange, "events");
    is(s.envelope.routing_key, "desk");
    end(&s);
    begin(&s, "amqp://broker?exchange=events&routing-key=a.b");
    make(&s);
    is(s.envelope.routing_key, "a.b");
    end(&s);
    begin(&s, "amqp://broker?per-type=yes");
    make(&s);
    is(s.envelope.exchange, "Shop.OrderPlaced");
    end(&s);
}

#define AUDIT(member, value) "\"pawl.audit." member "\":\"" value "\""
#define AUDITED                                                                                 \
    "{" AUDIT("endpoint", "desk") "," AUDIT("machine", "box") "," AUDIT(                        \
        "started",                                                                              \
        "2026-01-01T08:59:58.000001Z") "," AUDIT("ended",                                       \
                                                 "2026-01-01T08:59:59.123456Z") "," AUDIT("id", \
                                                                                          "m-1") "}"

/* NULL `value`: whatever it is. */
static bool has_header(const sample *s, const char *name, const char *value)
{
    const amqp_table_t *table = &s->envelope.properties.headers;
    for (int i = 0; i < table->num_entries; i++) {
        amqp_bytes_t key = table->entries[i].key, found = table->entries[i].value.value.bytes;
        if (key.len == strlen(name) && memcmp(key.bytes, name, key.len) == 0)
            return value == NULL ||
                   (found.len == strlen(value) && memcmp(found.bytes, value, found.len) == 0);
    }
    return false;
}

TEST(a_copy_for_an_audit_has_the_headers_of_the_other_system_s_audits)
{
    sample s;
    begin(&s, "amqp://broker?headers=nservicebus");
    s.item.queue           = PAWL_TEXT("audit");
    s.item.message.headers = PAWL_TEXT(AUDITED);
    make(&s);
    is(s.envelope.properties.message_id, "m-1");
    assert_true(has_header(&s, "NServiceBus.MessageId", "m-1"));
    assert_true(has_header(&s, "NServiceBus.ProcessingEndpoint", "desk"));
    assert_true(has_header(&s, "NServiceBus.ProcessingMachine", "box"));
    assert_true(has_header(&s, "NServiceBus.ProcessingStarted", "2026-01-01 08:59:58:000001 Z"));
    assert_true(has_header(&s, "NServiceBus.ProcessingEnded", "2026-01-01 08:59:59:123456 Z"));
    assert_true(has_header(&s, "pawl.audit.started", "2026-01-01T08:59:58.000001Z"));
    s.item.message.headers = PAWL_TEXT("{\"pawl.audit.started\":\"early\"}");
    make(&s);
    assert_true(has_header(&s, "pawl.audit.started", "early"));
    assert_false(has_header(&s, "NServiceBus.ProcessingStarted", NULL));
    end(&s);
    begin(&s, "amqp://broker?headers=serviceconnect");
    s.item.queue           = PAWL_TEXT("audit");
    s.item.message.headers = PAWL_TEXT(AUDITED);
    make(&s);
    assert_true(has_header(&s, "DestinationAddress", "desk"));
    assert_true(has_header(&s, "DestinationMachine", "box"));
    assert_true(has_header(&s, "TimeReceived", "2026-01-01T08:59:58.000001Z"));
    assert_true(has_header(&s, "TimeProcessed", "2026-01-01T08:59:59.123456Z"));
    end(&s);
    begin(&s, "amqp://broker");
    s.item.message.headers = PAWL_TEXT(AUDITED);
    make(&s);
    assert_false(has_header(&s, "NServiceBus.ProcessingEndpoint", NULL));
    assert_false(has_header(&s, "DestinationMachine", NULL));
    end(&s);
}

TEST(the_headers_of_nservicebus)
{
    sample s;
    begin(&s, "amqp://broker?headers=nservicebus");
    make(&s);
    headers_are(&s, OWN "NServiceBus.MessageId=m-1;"
                        "NServiceBus.EnclosedMessageTypes=Shop.OrderPlaced;"
                        "NServiceBus.ContentType=application/json;NServiceBus.MessageIntent=Send;"
                        "NServiceBus.ConversationId=c-1;NServiceBus.CorrelationId=c-1;"
                        "NServiceBus.RelatedTo=m-0;NServiceBus.ReplyToAddress=orders;"
                        "NServiceBus.TimeSent=2026-01-01 09:00:00:123456 Z;");
    end(&s);
    begin(&s, "amqp://broker?headers=nservicebus&per-type=yes");
    /* Headers of the application stay. */
    s.item.message.headers = PAWL_TEXT("{\"NServiceBus.ConversationId\":\"own\"}");
    make(&s);
    headers_are(&s, "NServiceBus.ConversationId=own;pawl.causation_id=m-0;"
                    "NServiceBus.MessageId=m-1;NServiceBus.EnclosedMessageTypes=Shop.OrderPlaced;"
                    "NServiceBus.ContentType=application/json;NServiceBus.MessageIntent=Publish;"
                    "NServiceBus.CorrelationId=c-1;NServiceBus.RelatedTo=m-0;"
                    "NServiceBus.TimeSent=2026-01-01 09:00:00:123456 Z;");
    end(&s);
}

TEST(the_headers_of_serviceconnect)
{
    sample s;
    begin(&s, "amqp://broker?headers=serviceconnect");
    make(&s);
    headers_are(&s, OWN "MessageId=m-1;MessageType=Send;TypeName=Shop.OrderPlaced;"
                        "FullTypeName=Shop.OrderPlaced;CorrelationId=c-1;DestinationAddress=desk;"
                        "SourceAddress=orders;TimeSent=2026-01-01T09:00:00.123456Z;"
                        "ConsumerType=RabbitMQ;Language=C;");
    end(&s);
}

TEST(what_amqp_cannot_carry_is_rejected)
{
    sample s;
    char   text[300], large[130000];
    memset(text, 'x', sizeof text);
    memset(large, 'x', sizeof large);
    begin(&s, "amqp://broker");
    s.item.queue = (pawl_text){.data = text, .size = 256};
    rejects(&s, "the queue's name has 256 bytes, the limit of AMQP is 255");
    s.item.queue.size = 255;
    rejects(&s, "");
    s.item.message.correlation_id = (pawl_text){.data = text, .size = 256};
    rejects(&s, "the correlation id has 256 bytes, the limit of AMQP is 255");
    s.item.message.correlation_id = PAWL_TEXT("");
    s.item.message.headers        = pawl_text_of(test_text("{\"%.256s\":\"1\"}", text));
    rejects(&s, "a header's name has more than 255 bytes, the limit of AMQP");
    s.item.message.headers = pawl_text_of(test_text("{\"%.255s\":\"1\"}", text));
    rejects(&s, "");
    s.item.message.headers = pawl_text_of(test_text("{\"a\":\"%.120000s\"}", large));
    rejects(&s, "the headers have 120033 bytes, the limit is 120000");
    for (int i = 0; i < 2; i++) {
        s.item.message.headers = i == 0 ? PAWL_TEXT("{\"CC\":\"a\"}") : PAWL_TEXT("{\"BCC\":\"\"}");
        rejects(&s,
                "it has a header CC or BCC: to RabbitMQ these are lists of more queues, and a text "
                "there closes the channel");
    }
    s.item.message.headers = PAWL_TEXT("{\"Cc\":\"a\"}");
    rejects(&s, "");
    s.item.message.headers = PAWL_TEXT("");
    s.item.due             = NOW + PAWL_SECONDS(5);
    rejects(&s, ""); /* another machine's clock */
    s.item.due = NOW + PAWL_HOURS(1);
    rejects(&s,
            "it must not be handled before 2026-01-01T10:00:00.123456Z, and RabbitMQ keeps no "
            "message back: send it when it is due, by a timeout, or, to an endpoint of pawl, by "
            "a route with delay=header");
    end(&s);
}

/* To an endpoint of pawl, which keeps it until then. */
TEST(a_delay_may_go_in_a_header)
{
    sample s;
    begin(&s, "amqp://broker?delay=header");
    s.item.due = NOW + PAWL_HOURS(1);
    rejects(&s, "");
    headers_are(&s, OWN "pawl.due=2026-01-01T10:00:00.123456Z;");
    s.item.message.headers = PAWL_TEXT("{\"pawl.due\":\"mine\"}");
    make(&s);
    headers_are(&s, "pawl.due=mine;pawl.causation_id=m-0;");
    end(&s);
    begin(&s, "amqp://broker");
    s.item.due = NOW;
    make(&s);
    headers_are(&s, OWN);
    end(&s);
}

TEST(every_allocation_fails_in_turn)
{
    bool was_reached = true;
    for (long n = 0; was_reached; n++) { /* 0: none fails */
        sample s;
        begin(&s, "amqp://broker?delay=header&headers=nservicebus");
        pawl_arena_destroy(s.arena);
        s.arena    = pawl_arena_create(1);
        s.item.due = NOW + PAWL_HOURS(1);
        s.item.message.headers =
            PAWL_TEXT("{\"" PAWL_HEADER_EXPIRES "\":\"2026-01-02T00:00:00Z\"}");
        fault_memory_begin(n);
        pawl_code code = pawl__envelope_make(&s.url, &s.item, NOW, s.arena, &s.envelope, &s.why);
        was_reached    = fault_memory_end() || n == 0;
        assert_int_equal(code, was_reached && n > 0 ? PAWL_ENOMEM : PAWL_OK);
        end(&s);
        assert_true(n < 100);
    }
}

void (*const tests_first)(void) = fault_memory_install;
