/* test_trace.c - `traceparent`: what is valid, what goes on in what is sent.
 * O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "engine/batch.h"
#include "engine/headers.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define GOOD "00-" TRACE "-" SPAN "-01"
#define OWN "00-" TRACE "-" SPAN "-00"

/* ---- Reading and writing ------------------------------------------------------ */

static const struct {
    const char *text;
    const char *again; /* as it is written; NULL: invalid */
} vectors[] = {
    {GOOD, GOOD},
    {"00-" TRACE "-" SPAN "-00", "00-" TRACE "-" SPAN "-00"},
    {"00-" TRACE "-" SPAN "-03", "00-" TRACE "-" SPAN "-03"},
    {"00-" TRACE "-" SPAN "-ff", "00-" TRACE "-" SPAN "-03"}, /* unknown flags are not passed on */
    {"01-" TRACE "-" SPAN "-01", GOOD},                       /* a later version */
    {"cc-" TRACE "-" SPAN "-01-what the future holds", GOOD},
    {"cc-" TRACE "-" SPAN "-01.what", NULL},
    {"00-" TRACE "-" SPAN "-01-", NULL}, /* this version is not longer */
    {"00-" TRACE "-" SPAN "-01-more", NULL},
    {"ff-" TRACE "-" SPAN "-01", NULL},
    {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL},
    {"00-00000000000000000000000000000000-" SPAN "-01", NULL},
    {"00-" TRACE "-0000000000000000-01", NULL},
    {"00-" TRACE "-" SPAN "-0", NULL},
    {"00-" TRACE "-" SPAN "-0x", NULL},
    {"0g-" TRACE "-" SPAN "-01", NULL},
    {"00_" TRACE "-" SPAN "-01", NULL},
    {"00-" TRACE "_" SPAN "-01", NULL},
    {"00-" TRACE "-" SPAN "_01", NULL},
    {"00-" TRACE "--" SPAN "01", NULL},
    {"", NULL},
    {"-", NULL},
};

TEST(o23_traceparent_vectors)
{
    for (size_t i = 0; i < COUNT(vectors); i++) {
        pawl__trace trace;
        char        text[PAWL__TRACE_TEXT_SIZE + 1];
        bool        is_good = pawl__trace_parse(pawl_text_of(vectors[i].text), &trace);
        if (is_good != (vectors[i].again != NULL))
            fail_msg("'%s' is %s", vectors[i].text, is_good ? "taken" : "refused");
        if (!is_good)
            continue;
        pawl__trace_format(&trace, text);
        assert_string_equal(text, vectors[i].again);
    }
    assert_false(pawl__trace_parse((pawl_text){0}, &(pawl__trace){.flags = 0}));
}

/* One byte of the header is anything else: no byte may be ignored. */
TEST(o23_every_byte_of_traceparent_counts)
{
    for (size_t i = 0; i < PAWL__TRACE_TEXT_SIZE; i++) {
        char        text[] = GOOD;
        pawl__trace trace;
        text[i] = 'G';
        assert_false(pawl__trace_parse(pawl_text_of(text), &trace));
    }
}

static pawl__trace child_of(const char *parent, const char *queue, const char *id)
{
    pawl__trace trace;
    assert_true(pawl__trace_parse(pawl_text_of(parent), &trace));
    return pawl__trace_child(&trace, pawl_text_of(queue), pawl_text_of(id));
}

TEST(o23_a_unit_has_a_span_of_its_own)
{
    pawl__trace one = child_of(GOOD, "orders", "m1"), same = child_of(GOOD, "orders", "m1");
    pawl__trace others[] = {child_of(GOOD, "orders", "m2"), child_of(GOOD, "billing", "m1"),
                            child_of(GOOD, "ordersm", "1"),
                            child_of("00-" TRACE "-00f067aa0ba902b8-01", "orders", "m1")};
    pawl__trace parent;
    char        text[PAWL__TRACE_TEXT_SIZE + 1];
    pawl__trace_parse(PAWL_TEXT(GOOD), &parent);
    assert_memory_equal(one.trace_id, parent.trace_id, 16);
    assert_int_equal(one.flags, parent.flags);
    assert_memory_not_equal(one.span_id, parent.span_id, 8);
    assert_memory_equal(one.span_id, same.span_id, 8);
    for (size_t i = 0; i < COUNT(others); i++)
        assert_memory_not_equal(one.span_id, others[i].span_id, 8);
    pawl__trace_format(&one, text);
    assert_true(pawl__trace_parse(pawl_text_of(text), &parent));
}

/* ---- Through an endpoint -------------------------------------------------------- */

PAWL_RECORD(ping, A_NUMBER);

/* To "own" with headers: with a trace of its own, then with a state of it, then with others. */
static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    static const pawl_header trace[] = {{"traceparent", OWN}, {0}};
    static const pawl_header state[] = {{"tracestate", "own=1"}, {"traceparent", OWN}, {0}};
    static const pawl_header other[] = {{"kind", "other"}, {0}};
    const pawl_header *const lists[] = {trace, state, other};
    for (size_t i = 0; i < COUNT(lists); i++)
        pawl_send_with(ctx, "own",
                       &(pawl_send_options){PAWL_SEND_OPTIONS_HEAD, .headers = lists[i]},
                       PAWL_MESSAGE(ping, .number = 1));
    pawl_send(ctx, "next", PAWL_MESSAGE(ping, .number = message->number));
    return pawl_send(ctx, "next", PAWL_MESSAGE(ping, .number = message->number + 1));
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static const pawl_application application =
    ONE_ENDPOINT("trace", .name = "pings", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)}));

static pawl_text header_of(world *it, const pawl_queue_row *row, const char *name)
{
    pawl_text value;
    assert_int_equal(
        pawl__headers_value(row->message.headers, pawl_text_of(name), it->arena, &value), PAWL_OK);
    return value;
}

/* Messages that the endpoint sent for a message with this header. */
static pawl_queue_rows sent_after(world *it, const char *traceparent, const char *tracestate)
{
    pawl_header       list[]  = {{"traceparent", traceparent}, {"tracestate", tracestate}, {0}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .headers = list,
                                 .id = "m1"};
    test_send(it->sender, it->queue, &options, PAWL_MESSAGE(ping, .number = 1));
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "next");
    assert_int_equal(rows.count, 2);
    return rows;
}

ON_ALL_STORES(o23_a_trace_goes_on_in_what_is_sent, const char *url)
{
    pawl__trace expected = child_of(GOOD, "pings", "m1");
    char        text[PAWL__TRACE_TEXT_SIZE + 1];
    pawl__trace_format(&expected, text);
    world          *it   = world_begin(url, &application, NULL, NULL);
    pawl_queue_rows rows = sent_after(it, GOOD, "vendor=7,other=8");
    for (size_t i = 0; i < rows.count; i++) {
        assert_string_equal(header_of(it, &rows.items[i], "traceparent").data, text);
        assert_string_equal(header_of(it, &rows.items[i], "tracestate").data, "vendor=7,other=8");
    }
}

/* A trace state belongs to its traceparent. */
ON_ALL_STORES(o23_a_trace_of_a_message_s_own_has_no_inherited_state, const char *url)
{
    world *it = world_begin(url, &application, NULL, NULL);
    sent_after(it, GOOD, "vendor=7");
    pawl_queue_rows rows = world_queue(it, "own");
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(header_of(it, &rows.items[i], "traceparent").data, OWN);
    assert_null(header_of(it, &rows.items[0], "tracestate").data);
    assert_string_equal(header_of(it, &rows.items[1], "tracestate").data, "own=1");
    assert_string_equal(header_of(it, &rows.items[2], "tracestate").data, "vendor=7");
}

ON_ALL_STORES(o23_an_invalid_trace_ends, const char *url)
{
    world          *it   = world_begin(url, &application, NULL, NULL);
    pawl_queue_rows rows = sent_after(it, "00-" TRACE "-" SPAN "-01-more", "vendor=7");
    for (size_t i = 0; i < rows.count; i++) {
        assert_null(header_of(it, &rows.items[i], "traceparent").data);
        assert_null(header_of(it, &rows.items[i], "tracestate").data);
    }
}

ON_ALL_STORES(o23_a_long_trace_state_ends, const char *url)
{
    char state[PAWL__TRACE_STATE_SIZE_MAX + 2];
    memset(state, 'a', sizeof state);
    state[sizeof state - 1] = '\0';
    world          *it      = world_begin(url, &application, NULL, NULL);
    pawl_queue_rows rows    = sent_after(it, GOOD, state);
    assert_non_null(header_of(it, &rows.items[0], "traceparent").data);
    assert_null(header_of(it, &rows.items[0], "tracestate").data);
}
