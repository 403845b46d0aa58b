/* scan.c - scans over all live rows of a kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/pawl.h"

#include <string.h>

/* The page after the last row of the one before. */
static pawl_scan_rows page_of(suite *s, pawl_store *store, pawl_scan_kind kind,
                              const pawl_scan_rows *before, size_t count_max)
{
    pawl_scan_rows  rows;
    const pawl_scan scan = {.kind      = kind,
                            .table     = s->tables[SUITE_MOVE],
                            .after     = before != NULL ? &before->items[before->count - 1] : NULL,
                            .count_max = count_max};
    READ_ROWS(s, pawl_store_scan(store, &scan, s->arena, &rows, &s->error), rows);
    return rows;
}

/* Reads three rows as two pages: two rows and one. */
static pawl_scan_row *three_of(suite *s, pawl_store *store, pawl_scan_kind kind)
{
    pawl_scan_rows first = page_of(s, store, kind, NULL, 2);
    EXPECT_EQ(s, first.count, 2);
    pawl_scan_rows second = page_of(s, store, kind, &first, 2);
    EXPECT_EQ(s, second.count, 1);
    EXPECT_EQ(s, page_of(s, store, kind, &second, 2).count, 0);
    pawl_scan_rows all = page_of(s, store, kind, NULL, 0);
    EXPECT_EQ(s, all.count, 3);
    EXPECT(s, memcmp(&all.items[2].id, &second.items[0].id, sizeof all.items[2].id) == 0);
    EXPECT_EQ(s, all.items[2].number, second.items[0].number);
    EXPECT_TEXT(s, all.items[2].belongs_to, second.items[0].belongs_to);
    EXPECT_TEXT(s, all.items[2].message.id, second.items[0].message.id);
    return all.items;
}

static void a_scan_returns_all_sagas_of_a_type_by_id(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, page_of(s, a, PAWL_SCAN_SAGAS, NULL, 0).count, 0);
    for (unsigned number = 3; number >= 1; number--)
        COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_MOVE], .id = suite_saga_id(number),
                   .main         = pawl_value_text(suite_printf(s, "old-%u", number)),
                   .transitional = pawl_value_integer(number), .metadata = TEXT("{}"),
                   .data         = suite_printf(s, "{\"n\":%u}", number),
                   .type_version = suite_printf(s, "%u.0", number));
    suite_insert_order(s, a, 4, "another table's");
    pawl_scan_row *rows = three_of(s, a, PAWL_SCAN_SAGAS);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQ(s, pawl_uuid_compare(rows[i].id, suite_uuid(i + 1)), 0);
        EXPECT_TEXT(s, suite_compact(s, rows[i].message.body),
                    suite_printf(s, "{\"n\":%u}", i + 1));
        EXPECT_TEXT(s, rows[i].type_version, suite_printf(s, "%u.0", i + 1));
        EXPECT_TEXT(s, rows[i].persistence_version, pawl_text_of(pawl_version()));
    }
}

static void a_scan_returns_the_messages_of_all_queues(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    suite_send(s, a, TEXT("billing"), "m-2", SUITE_NOW - 5);
    suite_send(s, a, TEXT("orders"), "m-3", SUITE_NOW + PAWL_DAYS(1));
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1).count, 1);
    pawl_scan_row     *rows    = three_of(s, suite_open(s), PAWL_SCAN_QUEUE);
    static const char *ids[]   = {"m-1", "m-2", "m-3"};
    static const char *where[] = {"orders", "billing", "orders"};
    for (unsigned i = 0; i < 3; i++) {
        pawl_message sent = suite_message(s, pawl_text_of(ids[i]));
        EXPECT_MESSAGE(s, &rows[i].message, &sent);
        EXPECT_TEXT(s, rows[i].belongs_to, pawl_text_of(where[i]));
        EXPECT(s, i == 0 || rows[i].number > rows[i - 1].number);
    }
}

static void a_scan_returns_all_timeouts_by_id(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned number = 3; number >= 1; number--)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(number), .is_new = true,
                   .saga_id = suite_saga_id(number), .saga_type = suite_printf(s, "Saga%u", number),
                   .name        = suite_printf(s, "late%u", number),
                   .destination = suite_printf(s, "queue%u", number), .due = SUITE_NOW - number);
    pawl_scan_row *rows = three_of(s, a, PAWL_SCAN_TIMEOUTS);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQ(s, pawl_uuid_compare(rows[i].id, suite_uuid(i + 1)), 0);
        EXPECT_EQ(s, pawl_uuid_compare(rows[i].saga_id, suite_saga_id(i + 1).uuid), 0);
        EXPECT_TEXT(s, rows[i].message.type, suite_printf(s, "Saga%u", i + 1));
        EXPECT_TEXT(s, rows[i].name, suite_printf(s, "late%u", i + 1));
        EXPECT_TEXT(s, rows[i].belongs_to, suite_printf(s, "queue%u", i + 1));
    }
}

static void a_scan_returns_all_outbox_rows_that_are_not_delivered(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned number = 1; number <= 4; number++)
        COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(number),
                   .endpoint = TEXT("suite"), .destination = suite_printf(s, "to%u", number),
                   .message = suite_message(s, suite_printf(s, "m-%u", number)), .at = SUITE_NOW);
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_POISON, SUITE_NOW);
    pawl_scan_row        *rows   = three_of(s, a, PAWL_SCAN_OUTBOX);
    static const unsigned left[] = {1, 3, 4};
    for (unsigned i = 0; i < 3; i++) {
        pawl_message sent = suite_message(s, suite_printf(s, "m-%u", left[i]));
        EXPECT_MESSAGE(s, &rows[i].message, &sent);
        EXPECT_TEXT(s, rows[i].belongs_to, suite_printf(s, "to%u", left[i]));
        EXPECT_TEXT(s, rows[i].name, TEXT("suite"));
    }
}

static void a_scan_returns_all_events_and_stream_snapshots(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned number = 1; number <= 3; number++) {
        pawl_text  stream  = suite_printf(s, "Account/%u", number);
        pawl_event event   = suite_event(s, suite_printf(s, "m-%u", number));
        event.type_version = (int32_t)number;
        COMMIT_ONE(s, a, event_append, .stream = stream, .version = 1, .is_first = true,
                   .event = event);
        COMMIT_ONE(s, a, stream_snapshot_set, .stream = stream, .version = 1,
                   .type_version = (int32_t)number, .state = suite_printf(s, "{\"n\":%u}", number),
                   .dispatches = TEXT("[]"), .at = SUITE_NOW);
    }
    pawl_scan_row *events = three_of(s, a, PAWL_SCAN_EVENTS);
    pawl_scan_row *folds  = three_of(s, a, PAWL_SCAN_STREAM_SNAPSHOTS);
    for (unsigned i = 0; i < 3; i++) {
        pawl_event event = suite_event(s, suite_printf(s, "m-%u", i + 1));
        EXPECT_TEXT(s, events[i].belongs_to, suite_printf(s, "Account/%u", i + 1));
        EXPECT_TEXT(s, events[i].message.type, event.type);
        EXPECT_TEXT(s, events[i].message.body, event.body);
        EXPECT_EQ(s, events[i].version, i + 1);
        EXPECT_TEXT(s, folds[i].belongs_to, suite_printf(s, "Account/%u", i + 1));
        EXPECT_TEXT(s, folds[i].message.body, suite_printf(s, "{\"n\":%u}", i + 1));
        EXPECT_EQ(s, folds[i].version, i + 1);
    }
}

static void a_scan_returns_all_checkpoints_by_name(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned number = 3; number >= 1; number--)
        COMMIT_ONE(s, a, checkpoint_set, .name = suite_printf(s, "to%u", number),
                   .to = (int64_t)number * 10, .at = SUITE_NOW);
    pawl_scan_row *rows = three_of(s, a, PAWL_SCAN_CHECKPOINTS);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_TEXT(s, rows[i].belongs_to, suite_printf(s, "to%u", i + 1));
        EXPECT_EQ(s, rows[i].number, (i + 1) * 10);
    }
}

static void a_scan_returns_the_messages_of_all_aggregators(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned number = 1; number <= 3; number++)
        COMMIT_ONE(s, a, aggregator_add, .name = suite_printf(s, "sum%u", number),
                   .partition = suite_printf(s, "sum%u/x", number), .key = TEXT("k"),
                   .message = suite_message(s, suite_printf(s, "m-%u", number)), .at = SUITE_NOW,
                   .due = PAWL_TIME_MAX);
    pawl_scan_row *rows = three_of(s, a, PAWL_SCAN_AGGREGATORS);
    for (unsigned i = 0; i < 3; i++) {
        pawl_message sent = suite_message(s, suite_printf(s, "m-%u", i + 1));
        EXPECT_MESSAGE(s, &rows[i].message, &sent);
        EXPECT_TEXT(s, rows[i].belongs_to, suite_printf(s, "sum%u", i + 1));
    }
}

static void a_scan_returns_all_dead_letters_by_endpoint_and_message_id(suite *s)
{
    pawl_store              *a             = suite_open(s);
    static const char *const letters[3][2] = {{"a", "m-1"}, {"a", "m-2"}, {"b", "m-1"}};
    for (unsigned i = 3; i-- > 0;)
        COMMIT_ONE(s, a, dead_set, .endpoint = pawl_text_of(letters[i][0]), .queue = TEXT("q"),
                   .message = suite_message(s, pawl_text_of(letters[i][1])), .code = TEXT("X"),
                   .error = TEXT("x"), .attempts = 1, .at = SUITE_NOW - i);
    pawl_scan_row *rows = three_of(s, a, PAWL_SCAN_DEAD);
    for (unsigned i = 0; i < 3; i++) {
        pawl_message sent = suite_message(s, pawl_text_of(letters[i][1]));
        EXPECT_MESSAGE(s, &rows[i].message, &sent);
        EXPECT_TEXT(s, rows[i].belongs_to, pawl_text_of(letters[i][0]));
        EXPECT_TEXT(s, rows[i].name, TEXT("q"));
        EXPECT_TEXT(s, rows[i].code, TEXT("X"));
    }
    /* A page continues with the letters of the next endpoint, up to its count. */
    const pawl_scan_rows of_one = {.items = rows, .count = 1};
    pawl_scan_rows       both   = page_of(s, a, PAWL_SCAN_DEAD, &of_one, 3);
    EXPECT_EQ(s, both.count, 2);
    EXPECT_TEXT(s, both.items[0].message.id, TEXT("m-2"));
    EXPECT_TEXT(s, both.items[1].belongs_to, TEXT("b"));
    EXPECT_EQ(s, page_of(s, a, PAWL_SCAN_DEAD, &of_one, 2).count, 2);
    EXPECT_EQ(s, page_of(s, a, PAWL_SCAN_DEAD, &of_one, 1).count, 1);
}

static const suite_case cases[] = {
    {"S27 a scan returns all sagas of a type, by id", a_scan_returns_all_sagas_of_a_type_by_id},
    {"E28 a scan returns the messages of all queues", a_scan_returns_the_messages_of_all_queues},
    {"E13 a scan returns all timeouts, by id", a_scan_returns_all_timeouts_by_id},
    {"O19 a scan returns all outbox rows that are not delivered",
     a_scan_returns_all_outbox_rows_that_are_not_delivered},
    {"O18 a scan returns all events and stream snapshots",
     a_scan_returns_all_events_and_stream_snapshots},
    {"A6 a scan returns the messages of all aggregators",
     a_scan_returns_the_messages_of_all_aggregators},
    {"E34 a scan returns all dead letters, by endpoint and message id",
     a_scan_returns_all_dead_letters_by_endpoint_and_message_id},
    {"O4 a scan returns all checkpoints, by name", a_scan_returns_all_checkpoints_by_name},
};

const suite_cases cases_scan = SUITE_CASES("scan", cases);
