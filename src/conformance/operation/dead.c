/* dead.c - an operator's operations on dead letters (retry, edit, discard), and the events that they record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#include <stdatomic.h>
#include <string.h>

#define ORDERS TEXT("orders")
#define ANN TEXT("ann")

static void add_letter_without_record(suite *s, pawl_store *store, const char *id, pawl_time at)
{
    COMMIT_ONE(s, store, dead_set, .endpoint = ORDERS, .queue = TEXT("line"),
               .message = suite_message(s, pawl_text_of(id)), .code = TEXT("EPERSIST"),
               .error = TEXT("the \"bank\" is closed"), .attempts = 4,
               .history = TEXT("[{\"attempt\":1}]"), .at = at);
}

static void add_dead_letter(suite *s, pawl_store *store, const char *id, pawl_time at)
{
    add_letter_without_record(s, store, id, at);
    COMMIT_ONE(s, store, inbox_entry, .endpoint = ORDERS, .message_id = pawl_text_of(id),
               .outcome = PAWL_INBOX_DEAD, .at = at);
}

static pawl_event_rows actions_of(suite *s, pawl_store *store, const char *id)
{
    pawl_event_rows rows;
    READ_ROWS(s,
              pawl_store_dead_actions(store, ORDERS, pawl_text_of(id), s->arena, &rows, &s->error),
              rows);
    return rows;
}

/* The only message of the queue. */
static pawl_queue_row queued(suite *s, pawl_store *store)
{
    pawl_queue_rows rows = suite_queue(s, store, TEXT("line"));
    EXPECT_EQ(s, rows.count, 1);
    return rows.items[0];
}

static void a_retried_dead_letter_is_in_its_queue(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open_bare(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    add_dead_letter(s, a, "m-1", SUITE_NOW);
    add_dead_letter(s, a, "m-2", SUITE_NOW);
    EXPECT_OK(s, pawl_store_dead_retry(b, ORDERS, TEXT("m-1"), ANN, TEXT("it is open"),
                                       SUITE_NOW + 7, &s->error));
    pawl_queue_row row = queued(s, a);
    EXPECT_MESSAGE(s, &row.message, &sent);
    EXPECT_EQ(s, row.due, SUITE_NOW + 7);
    EXPECT_EQ(s, row.attempts, 0);
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 1);
    EXPECT(s, !suite_knows(s, a, ORDERS, TEXT("m-1")));
    EXPECT(s, suite_knows(s, a, ORDERS, TEXT("m-2")));
    EXPECT_EQ(s, actions_of(s, a, "m-2").count, 0);
}

static void a_retry_is_kept(suite *s)
{
    static const char *const parts[] = {"\"by\":\"ann\"",          "\"reason\":\"it is open\"",
                                        "\"endpoint\":\"orders\"", "\"queue\":\"line\"",
                                        "\"code\":\"EPERSIST\"",   "the \\\"bank\\\" is closed",
                                        "\"attempts\":\"4\"",      "\"history\":\"[{"};
    pawl_store              *a       = suite_open(s);
    add_dead_letter(s, a, "m-1", SUITE_NOW);
    EXPECT_OK(s, pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), ANN, TEXT("it is open"),
                                       SUITE_NOW + 7, &s->error));
    pawl_event_rows rows = actions_of(s, a, "m-1");
    EXPECT_EQ(s, rows.count, 1);
    const pawl_event *event = &rows.items[0].event;
    EXPECT_TEXT(s, event->type, TEXT(PAWL_DEAD_RETRIED));
    EXPECT_TEXT(s, event->message_id, TEXT("m-1"));
    EXPECT_TEXT(s, event->correlation_id, suite_message(s, TEXT("m-1")).correlation_id);
    EXPECT_EQ(s, event->at, SUITE_NOW + 7);
    EXPECT_EQ(s, event->body.size, 0);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!suite_text_has(event->headers, pawl_text_of(parts[i])))
            suite_fail(s, __FILE__, __LINE__, "the event's headers lack %s: %.*s", parts[i],
                       PAWL_TEXT_ARGS(event->headers));
}

static void an_edited_letter_has_its_new_body(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    add_dead_letter(s, a, "m-1", SUITE_NOW);
    EXPECT_OK(s, pawl_store_dead_edit(a, ORDERS, TEXT("m-1"), TEXT("{\"new\":1}"), ANN, TEXT(""),
                                      SUITE_NOW + 1, &s->error));
    pawl_queue_row  row  = queued(s, a);
    pawl_event_rows rows = actions_of(s, a, "m-1");
    EXPECT_TEXT(s, row.message.body, TEXT("{\"new\":1}"));
    EXPECT_TEXT(s, row.message.headers, sent.headers);
    EXPECT_TEXT(s, row.message.id, sent.id);
    EXPECT(s, !suite_knows(s, a, ORDERS, TEXT("m-1")));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].event.type, TEXT(PAWL_DEAD_EDITED));
    EXPECT_TEXT(s, rows.items[0].event.body, sent.body);
}

/* The inbox entry remains, so a copy that a broker delivers later is still dropped. */
static void a_discard_keeps_the_record(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    add_dead_letter(s, a, "m-1", SUITE_NOW);
    EXPECT_OK(s, pawl_store_dead_discard(a, ORDERS, TEXT("m-1"), ANN, TEXT("a test order"),
                                         SUITE_NOW + 1, &s->error));
    pawl_event_rows rows = actions_of(s, a, "m-1");
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 0);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("line")).count, 0);
    EXPECT(s, suite_knows(s, a, ORDERS, TEXT("m-1")));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].event.type, TEXT(PAWL_DEAD_DISCARDED));
    EXPECT_TEXT(s, rows.items[0].event.body, sent.body);
}

static const pawl_dead_settle retry = {.action = PAWL_DEAD_RETRY, .by = {.data = "ann", .size = 3}};

/* Two operators have read the letters. The second learns which of them were settled meanwhile, and that nothing was
 * sent, even if the retried message was already handled. */
static void a_dead_letter_can_be_settled_once(suite *s)
{
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    pawl_dead_settled settled = {9, 9};
    add_dead_letter(s, a, "m-1", SUITE_NOW);
    add_dead_letter(s, a, "m-2", SUITE_NOW + 1);
    pawl_dead_rows seen = suite_dead_rows(s, b, ORDERS);
    EXPECT_OK(
        s, pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW + 2, &s->error));
    suite_set set = suite_changes(s);
    ADD(&set, inbox_entry, .endpoint = ORDERS, .message_id = TEXT("m-1"), .at = SUITE_NOW + 2);
    COMMIT(&set, a);
    EXPECT_CODE(s, pawl_store_dead_settle(b, seen.items, 1, &retry, SUITE_NOW + 3, NULL, &s->error),
                PAWL_EGONE);
    EXPECT_CODE(s, pawl_store_dead_settle(b, seen.items, 2, &retry, SUITE_NOW + 3, NULL, &s->error),
                PAWL_EGONE);
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 1);
    EXPECT_OK(s,
              pawl_store_dead_settle(b, seen.items, 2, &retry, SUITE_NOW + 3, &settled, &s->error));
    EXPECT_EQ(s, settled.gone_count, 1);
    EXPECT_EQ(s, settled.left_count, 0);
    EXPECT(s, suite_knows(s, a, ORDERS, TEXT("m-1")));
    EXPECT(s, !suite_knows(s, a, ORDERS, TEXT("m-2")));
    EXPECT_EQ(s, suite_queue(s, a, TEXT("line")).count, 2);
    EXPECT_EQ(s, actions_of(s, a, "m-1").count, 1);
    EXPECT_EQ(s, actions_of(s, a, "m-2").count, 1);
    EXPECT_CODE(
        s, pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW + 4, &s->error),
        PAWL_EGONE);
}

/* A worker may have claimed the copy, read the inbox entry and be about to drop the copy as a duplicate. If the letter
 * were settled now, the message would be lost. */
static void no_retry_beside_a_copy(suite *s)
{
    pawl_store       *a = suite_open(s), *b = suite_open_bare(s);
    pawl_dead_settled settled = {9, 9};
    for (int i = 0; i < 3; i++)
        add_dead_letter(s, a, suite_printf(s, "m-%d", i).data, SUITE_NOW + i);
    suite_send(s, a, TEXT("line"), "m-1", SUITE_NOW);
    pawl_dead_rows seen = suite_dead_rows(s, b, ORDERS);
    EXPECT_CODE(
        s, pawl_store_dead_retry(b, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW + 7, &s->error),
        PAWL_EDUPLICATE);
    EXPECT_CODE(s,
                pawl_store_dead_edit(b, ORDERS, TEXT("m-1"), TEXT("{}"), ANN, TEXT(""),
                                     SUITE_NOW + 7, &s->error),
                PAWL_EDUPLICATE);
    EXPECT_CODE(s, pawl_store_dead_settle(b, seen.items, 3, &retry, SUITE_NOW + 7, NULL, &s->error),
                PAWL_EDUPLICATE);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("line")).count, 1);
    EXPECT_OK(s,
              pawl_store_dead_settle(b, seen.items, 3, &retry, SUITE_NOW + 7, &settled, &s->error));
    EXPECT_EQ(s, settled.gone_count, 0);
    EXPECT_EQ(s, settled.left_count, 1);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("line")).count, 3);
    EXPECT_TEXT(s, suite_dead_rows(s, a, ORDERS).items[0].message.id, TEXT("m-1"));
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 1);
    EXPECT(s, suite_knows(s, a, ORDERS, TEXT("m-1")));
    EXPECT(s, !suite_knows(s, a, ORDERS, TEXT("m-2")));
    EXPECT_EQ(s, actions_of(s, a, "m-1").count, 0);
    EXPECT_EQ(s, actions_of(s, a, "m-2").count, 1);
    EXPECT_OK(s, pawl_store_dead_discard(b, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW + 8,
                                         &s->error));
}

/* Removes the only message from the queue. */
static void take_out(suite *s, pawl_store *store)
{
    pawl_queue_rows rows = suite_claim(s, store, TEXT("line"), SUITE_NOW + 9, 9);
    EXPECT_EQ(s, rows.count, 1);
    COMMIT_ONE(s, store, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("line"),
               .seq = rows.items[0].seq);
}

static void retried_a_second_time(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 3; i++) {
        add_dead_letter(s, a, "m-1", SUITE_NOW + i);
        EXPECT_OK(s, pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW + i,
                                           &s->error));
        take_out(s, a);
    }
    pawl_event_rows rows = actions_of(s, a, "m-1");
    EXPECT_EQ(s, rows.count, 3);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(s, rows.items[i].event.at, SUITE_NOW + i);
}

static void without_a_queue_only_a_discard(suite *s)
{
    pawl_store *a = suite_open(s);
    COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .message = suite_message(s, TEXT("m-1")),
               .code = TEXT("X"), .error = TEXT("x"), .at = SUITE_NOW);
    EXPECT_CODE(s,
                pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), ANN, TEXT(""), SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(
        s, pawl_store_dead_retry(a, ORDERS, TEXT("m-1"), TEXT(""), TEXT(""), SUITE_NOW, &s->error),
        PAWL_EINVAL);
    EXPECT_CODE(s,
                pawl_store_dead_discard(a, ORDERS, TEXT("m-1"), ANN,
                                        suite_repeat(s, TEXT("x"), 498), SUITE_NOW, &s->error),
                PAWL_ELIMIT);
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 1);
    EXPECT_OK(s, pawl_store_dead_discard(a, ORDERS, TEXT("m-1"), ANN,
                                         suite_repeat(s, TEXT("x"), 497), SUITE_NOW, &s->error));
}

/* The names are too long for a stream name, so they are shortened, but remain distinct. */
static void long_names_are_kept_apart(suite *s)
{
    pawl_store     *a       = suite_open(s);
    pawl_text       long_id = suite_repeat(s, TEXT("m"), PAWL_MESSAGE_ID_SIZE_MAX);
    pawl_event_rows rows;
    COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"),
               .message = suite_message(s, long_id), .code = TEXT("X"), .error = TEXT("x"),
               .at = SUITE_NOW);
    EXPECT_OK(s, pawl_store_dead_retry(a, ORDERS, long_id, ANN, TEXT(""), SUITE_NOW, &s->error));
    READ_ROWS(s, pawl_store_dead_actions(a, ORDERS, long_id, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    READ_ROWS(s, pawl_store_dead_actions(a, TEXT("billing"), long_id, s->arena, &rows, &s->error),
              rows);
    EXPECT_EQ(s, rows.count, 0);
}

/* Both letters have a UUID as id and headers that name a saga. The timeout's letter has no causation id, so it is
 * set again. The other is a message that a foreign timeout became; its causation id is the timeout, and it is queued
 * again. */
static void from_a_timeout(suite *s)
{
    static const char *const ids[]    = {"01a20a97-1295-7006-ac35-ef034474ec01",
                                         "01a20a97-1295-7006-ac35-ef034474ec02"};
    static const char *const causes[] = {"", "01a20a97-1295-7006-ac35-ef034474ec09"};
    pawl_store              *a        = suite_open(s);
    pawl_timeout_rows        timeouts;
    for (size_t i = 0; i < 2; i++) {
        pawl_message message = suite_message(s, pawl_text_of(ids[i]));
        message.causation_id = pawl_text_of(causes[i]);
        message.body         = TEXT("{}");
        message.headers      = TEXT("{\"" PAWL_HEADER_SAGA "\":\"Order\",\"" PAWL_HEADER_SAGA_ID
                                    "\":\"01a20a97-1295-7006-ac35-ef034474ec10\"}");
        COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"), .message = message,
                   .code = TEXT("EPERSIST"), .error = TEXT("x"), .at = SUITE_NOW);
        EXPECT_OK(s, pawl_store_dead_retry(a, ORDERS, message.id, ANN, TEXT(""), SUITE_NOW + 7,
                                           &s->error));
    }
    READ_ROWS(s,
              pawl_store_timeout_list(a, (pawl_saga_id){{{0}}}, 0, s->arena, &timeouts, &s->error),
              timeouts);
    EXPECT_EQ(s, timeouts.count, 1);
    EXPECT_TEXT(s, timeouts.items[0].saga_type, TEXT("Order"));
    EXPECT_TEXT(s, timeouts.items[0].headers, TEXT(""));
    pawl_queue_row row = queued(s, a);
    EXPECT_TEXT(s, row.message.id, pawl_text_of(ids[1]));
    EXPECT_TEXT(s, row.message.causation_id, pawl_text_of(causes[1]));
}

/* Letters without a causation id whose headers name a saga, but that are not timeouts: one has a body, the others a
 * saga type or an id that no timeout has. Each is queued as a message, and none blocks the others of its commit. */
static void not_a_timeout(suite *s)
{
    const pawl_text ids[]      = {TEXT("01a20a97-1295-7006-ac35-ef034474ec01"),
                                  TEXT("01a20a97-1295-7006-ac35-ef034474ec02"),
                                  TEXT("00000000-0000-0000-0000-000000000000")};
    const pawl_text bodies[]   = {TEXT("{\"precious\":100}"), TEXT("{}"), TEXT("{}")};
    const pawl_text types[]    = {TEXT("Order"), suite_repeat(s, TEXT("x"), PAWL_NAME_SIZE_MAX + 1),
                                  TEXT("Order")};
    pawl_store     *a          = suite_open(s);
    const pawl_dead_settle how = {.action = PAWL_DEAD_RETRY, .by = ANN, .reason = TEXT("")};
    pawl_dead_settled      settled;
    pawl_timeout_rows      timeouts;
    for (size_t i = 0; i < 3; i++) {
        pawl_message message = suite_message(s, ids[i]);
        message.causation_id = TEXT("");
        message.body         = bodies[i];
        message.headers      = suite_printf(s,
                                            "{\"" PAWL_HEADER_SAGA "\":\"%.*s\",\"" PAWL_HEADER_SAGA_ID
                                            "\":\"01a20a97-1295-7006-ac35-ef034474ec10\"}",
                                            PAWL_TEXT_ARGS(types[i]));
        COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"), .message = message,
                   .code = TEXT("EPERSIST"), .error = TEXT("x"), .at = SUITE_NOW);
    }
    pawl_dead_rows letters = suite_dead_rows(s, a, ORDERS);
    EXPECT_OK(s, pawl_store_dead_settle(a, letters.items, letters.count, &how, SUITE_NOW + 7,
                                        &settled, &s->error));
    EXPECT_EQ(s, settled.gone_count + settled.left_count, 0);
    READ_ROWS(s,
              pawl_store_timeout_list(a, (pawl_saga_id){{{0}}}, 0, s->arena, &timeouts, &s->error),
              timeouts);
    EXPECT_EQ(s, timeouts.count, 0);
    pawl_queue_rows rows = suite_queue(s, a, TEXT("line"));
    EXPECT_EQ(s, rows.count, 3);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            if (pawl_text_equal(rows.items[i].message.id, ids[k]))
                EXPECT_TEXT(s, rows.items[i].message.body, bodies[k]);
}

/* The letter of a timeout has the timeout's headers besides those that name the saga. */
static void a_timeout_is_set_again(suite *s)
{
    pawl_store       *a       = suite_open(s);
    pawl_message      message = suite_message(s, TEXT("01a20a97-1295-7006-ac35-ef034474ec01"));
    pawl_timeout_rows timeouts;
    message.causation_id   = TEXT("");
    message.body           = TEXT("{}");
    message.correlation_id = TEXT("c-7");
    message.headers = TEXT("{\"a\":\"1\",\"" PAWL_HEADER_SAGA "\":\"Order\",\"" PAWL_HEADER_SAGA_ID
                           "\":\"01a20a97-1295-7006-ac35-ef034474ec10\",\"b\":\"\\u00e9\"}");
    COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"), .message = message,
               .code = TEXT("EPERSIST"), .error = TEXT("x"), .at = SUITE_NOW);
    EXPECT_OK(
        s, pawl_store_dead_retry(a, ORDERS, message.id, ANN, TEXT(""), SUITE_NOW + 7, &s->error));
    READ_ROWS(s,
              pawl_store_timeout_list(a, (pawl_saga_id){{{0}}}, 0, s->arena, &timeouts, &s->error),
              timeouts);
    EXPECT_EQ(s, timeouts.count, 1);
    EXPECT_TEXT(s, timeouts.items[0].headers, TEXT("{\"a\":\"1\",\"b\":\"\xc3\xa9\"}"));
    EXPECT_TEXT(s, timeouts.items[0].correlation_id, TEXT("c-7"));
    EXPECT_TEXT(s, timeouts.items[0].name, message.type);
    /* Another timeout of this name: its id is unused, but the saga has one with this name already. */
    message.id = TEXT("01a20a97-1295-7006-ac35-ef034474ec02");
    COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"), .message = message,
               .code = TEXT("EPERSIST"), .error = TEXT("x"), .at = SUITE_NOW);
    EXPECT_CODE(
        s, pawl_store_dead_retry(a, ORDERS, message.id, ANN, TEXT(""), SUITE_NOW + 8, &s->error),
        PAWL_EDUPLICATE);
    EXPECT(s, strstr(s->error.text, "or its saga has set a timeout of this name") != NULL);
}

/* ---- Old bodies ---------------------------------------------------------- */

static void discard(suite *s, pawl_store *store, const char *id, pawl_time at)
{
    add_letter_without_record(s, store, id, at);
    EXPECT_OK(s, pawl_store_dead_discard(store, ORDERS, pawl_text_of(id), ANN, TEXT("no use"), at,
                                         &s->error));
}

static void edit(suite *s, pawl_store *store, const char *id, pawl_time at)
{
    add_dead_letter(s, store, id, at);
    EXPECT_OK(s, pawl_store_dead_edit(store, ORDERS, pawl_text_of(id), TEXT("{\"n\":2}"), ANN,
                                      TEXT("mended"), at, &s->error));
}

static int64_t sweep_bodies(suite *s, pawl_store *store, pawl_sweep what, bool *more)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_sweep(store, &what, &count, more, &s->error));
    return count;
}

/* Does the event have its body? Everything else must be unchanged. */
static void expect_body(suite *s, pawl_store *store, const char *id, bool is_there)
{
    pawl_event_rows    rows    = actions_of(s, store, id);
    const pawl_event  *event   = &rows.items[0].event;
    const pawl_message message = suite_message(s, pawl_text_of(id));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, event->type_version, is_there ? PAWL_DEAD_WITH_BODY : PAWL_DEAD_WITHOUT_BODY);
    EXPECT_TEXT(s, event->body, is_there ? message.body : TEXT(""));
    EXPECT_TEXT(s, event->message_id, pawl_text_of(id));
    EXPECT(s, suite_text_has(event->headers, TEXT("\"by\":\"ann\"")));
    EXPECT(s, suite_text_has(event->headers, TEXT("\"reason\":")));
}

static void expect_other(suite *s, pawl_store *store, const char *stream, bool is_written,
                         const char *type)
{
    if (is_written)
        COMMIT_ONE(s, store, event_append, .stream = pawl_text_of(stream), .version = 1,
                   .is_first = true,
                   .event    = {.type         = pawl_text_of(type),
                                .type_version = 1,
                                .body         = TEXT("{}"),
                                .at           = SUITE_NOW});
    pawl_stream found = suite_stream(s, store, pawl_text_of(stream), 0);
    EXPECT_EQ(s, found.count, 1);
    EXPECT_TEXT(s, found.events[0].event.body, TEXT("{}"));
}

/* Events of the application, which no sweep may change: in other streams, or of another type. */
static void expect_others(suite *s, pawl_store *store, bool is_written)
{
    expect_other(s, store, "Account/1", is_written, PAWL_DEAD_DISCARDED);
    expect_other(s, store, "pawl.deaths/1", is_written, PAWL_DEAD_DISCARDED);
    expect_other(s, store, "pawl.dead/own/1", is_written, "Deposited");
}

static void sweep_of_bodies(suite *s)
{
    pawl_store *a    = suite_open(s);
    bool        more = true;
    discard(s, a, "m-1", SUITE_NOW);
    edit(s, a, "m-2", SUITE_NOW + 1);
    discard(s, a, "m-3", SUITE_NOW + 9);
    add_dead_letter(s, a, "m-4", SUITE_NOW);
    EXPECT_OK(s,
              pawl_store_dead_retry(a, ORDERS, TEXT("m-4"), ANN, TEXT(""), SUITE_NOW, &s->error));
    expect_others(s, a, true);
    pawl_sweep what = {
        .inbox_before = PAWL_TIME_MIN, .outbox_before = PAWL_TIME_MIN, .count_max = 100};
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 0);
    what.bodies_before = SUITE_NOW + 9;
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 2);
    EXPECT(s, !more);
    expect_body(s, a, "m-1", false);
    expect_body(s, a, "m-2", false);
    expect_body(s, a, "m-3", true);
    EXPECT_EQ(s, actions_of(s, a, "m-4").items[0].event.type_version, PAWL_DEAD_WITH_BODY);
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 0);
    expect_others(s, a, false);
}

/* Two streams have two events, the third has one; a page of one event takes all of its stream. */
static void a_limited_sweep_of_bodies(suite *s)
{
    pawl_store       *a     = suite_open(s);
    bool              more  = false;
    pawl_sweep_cursor place = {.size = 0};
    for (pawl_time at = SUITE_NOW; at < SUITE_NOW + 2; at++) {
        discard(s, a, "m-1", at);
        discard(s, a, "m-2", at);
    }
    discard(s, a, "m-3", SUITE_NOW);
    pawl_sweep what = {.inbox_before  = PAWL_TIME_MIN,
                       .outbox_before = PAWL_TIME_MIN,
                       .bodies_before = SUITE_NOW + 9,
                       .bodies_cursor = &place,
                       .count_max     = 1};
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(s, sweep_bodies(s, a, what, &more), i < 2 ? 2 : 1);
        EXPECT(s, more && place.size != 0);
    }
    discard(s, a, "m-1", SUITE_NOW); /* before the cursor: swept in the next round */
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 0);
    EXPECT(s, !more && place.size == 0);
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 1);
    EXPECT(s, more && place.size != 0);
    /* After a full page without an old body the sweep stops until it is called again. */
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 0);
    EXPECT(s, !more && place.size != 0);
}

/* A body of the maximum size, which a store may keep in parts. */
static void the_sweep_of_the_longest_bodies(suite *s)
{
    pawl_store  *a    = suite_open(s);
    bool         more = true;
    pawl_message sent = suite_message(s, TEXT("m-1"));
    sent.body         = suite_bytes(s, PAWL_BODY_SIZE_MAX);
    COMMIT_ONE(s, a, dead_set, .endpoint = ORDERS, .queue = TEXT("line"), .message = sent,
               .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    EXPECT_OK(
        s, pawl_store_dead_discard(a, ORDERS, sent.id, ANN, TEXT("no use"), SUITE_NOW, &s->error));
    EXPECT_TEXT(s, actions_of(s, a, "m-1").items[0].event.body, sent.body);
    pawl_sweep what = {.inbox_before  = PAWL_TIME_MIN,
                       .outbox_before = PAWL_TIME_MIN,
                       .bodies_before = SUITE_NOW + 9,
                       .count_max     = 100};
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 1);
    expect_body(s, a, "m-1", false);
    EXPECT_EQ(s, sweep_bodies(s, a, what, &more), 0);
}

#define WRITERS 3
#define DISCARDS 40
#define ROUNDS 120 /* of threads 0 and 1 */

/* Thread 0 gives positions, thread 1 removes bodies, the others discard. */
static void discard_number_or_sweep(suite_thread *thread)
{
    suite            *s     = thread->s;
    pawl_store       *store = suite_open(s);
    pawl_sweep_cursor place = {.size = 0};
    int64_t           count = 0;
    bool              more  = false;
    pawl_sweep        what  = {.inbox_before  = PAWL_TIME_MIN,
                               .outbox_before = PAWL_TIME_MIN,
                               .bodies_before = SUITE_NOW + 9,
                               .bodies_cursor = &place,
                               .count_max     = 7};
    for (unsigned i = 0; thread->index > 1 && i < DISCARDS; i++)
        discard(s, store, suite_printf(s, "m-%u-%u", thread->index, i).data, SUITE_NOW);
    for (unsigned i = 0; thread->index <= 1 && i < ROUNDS; i++)
        if (thread->index == 0)
            EXPECT_OK(s, pawl_store_event_number(store, 5, &count, &s->error));
        else
            sweep_bodies(s, store, what, &more);
}

static void sweep_while_numbering(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     count = 0;
    bool        more  = true;
    suite_threads(s, 2 + WRITERS, discard_number_or_sweep, NULL);
    pawl_sweep what = {.inbox_before  = PAWL_TIME_MIN,
                       .outbox_before = PAWL_TIME_MIN,
                       .bodies_before = SUITE_NOW + 9,
                       .count_max     = 1000};
    sweep_bodies(s, a, what, &more);
    EXPECT_OK(s, pawl_store_event_number(a, 1000, &count, &s->error));
    pawl_event_rows rows = suite_events(s, a, (pawl_event_query){.is_by_position = true});
    EXPECT_EQ(s, rows.count, WRITERS * DISCARDS);
    for (size_t i = 0; i < rows.count; i++) {
        EXPECT_EQ(s, rows.items[i].position, i + 1);
        EXPECT_EQ(s, rows.items[i].event.type_version, PAWL_DEAD_WITHOUT_BODY);
        EXPECT_EQ(s, rows.items[i].event.body.size, 0);
    }
}

#define CONTESTED 20

/* Every thread reads the letters before any is settled. */
static void settle_each(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    atomic_int *won   = thread->context;
    for (unsigned i = 0; i < CONTESTED; i++) {
        pawl_dead_query query = {
            .endpoint = ORDERS, .message_id = suite_printf(s, "m-%u", i), .count_max = 1};
        pawl_dead_rows found = {.count = 0};
        READ_ROWS(s, pawl_store_dead_find(store, &query, s->arena, &found, &s->error), found);
        if (found.count == 0)
            continue;
        pawl_code code =
            pawl_store_dead_settle(store, found.items, 1, &retry, SUITE_NOW + 3, NULL, &s->error);
        EXPECT(s, code == PAWL_OK || code == PAWL_EGONE);
        atomic_fetch_add(won, code == PAWL_OK);
    }
}

/* The loser gets PAWL_EGONE, not a conflict that leaves the outcome open. */
static void one_of_concurrent_settles(suite *s)
{
    pawl_store *a = suite_open(s);
    atomic_int  won;
    atomic_init(&won, 0);
    for (unsigned i = 0; i < CONTESTED; i++)
        add_dead_letter(s, a, suite_printf(s, "m-%u", i).data, SUITE_NOW);
    suite_threads(s, 4, settle_each, &won);
    EXPECT_EQ(s, atomic_load(&won), CONTESTED);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("line")).count, CONTESTED);
}

static const suite_case cases[] = {
    {"E34 a retried dead letter is in its queue again", a_retried_dead_letter_is_in_its_queue},
    {"E34 a retry of a dead letter leaves an event with author, time and reason", a_retry_is_kept},
    {"E34 an edited dead letter is queued with its new body", an_edited_letter_has_its_new_body},
    {"E34 a discarded dead letter keeps its deduplication record", a_discard_keeps_the_record},
    {"E34 a dead letter can be settled once", a_dead_letter_can_be_settled_once},
    {"E34 of concurrent settles of a dead letter one succeeds", one_of_concurrent_settles},
    {"E34 a dead letter cannot be retried while a copy of it is queued", no_retry_beside_a_copy},
    {"E34 a message that becomes a dead letter again can be retried again", retried_a_second_time},
    {"E34 a dead letter without a queue can only be discarded", without_a_queue_only_a_discard},
    {"E34 the dead letter of a message sent by a timeout is retried as a message", from_a_timeout},
    {"E34 the dead letter of a message is not a timeout because of its headers", not_a_timeout},
    {"E34 the dead letter of a timeout is set again with its headers", a_timeout_is_set_again},
    {"E34 events about dead letters with long names are kept apart", long_names_are_kept_apart},
    {"E34 the sweep deletes old bodies of discarded letters and keeps the events", sweep_of_bodies},
    {"E34 the sweep deletes old bodies a limited number at a time", a_limited_sweep_of_bodies},
    {"E34 the sweep deletes old bodies of the maximum size", the_sweep_of_the_longest_bodies},
    {"E34 O4 the sweep can delete bodies while events get global positions", sweep_while_numbering},
};

const suite_cases cases_op_dead = SUITE_CASES("operation dead letter", cases);
