/* prefix.c - stores with different prefixes in one database do not affect each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/event_store.h"
#include "pawl/operations.h"

#define ACCOUNT TEXT("Account/1")

static void add_all(suite *s, suite_set *set, const char *owner)
{
    pawl_message message = suite_message(s, suite_printf(s, "of-%s", owner));
    ADD(set, queue_send, .queue = TEXT("orders"), .message = message, .due = SUITE_NOW);
    ADD(set, inbox_entry, .endpoint = TEXT("suite"), .message_id = message.id, .at = SUITE_NOW);
    ADD(set, event_append, .stream = ACCOUNT, .version = 1, .is_first = true,
        .event = suite_event(s, message.id));
    ADD(set, stream_snapshot_set, .stream = ACCOUNT, .version = 1, .type_version = 1,
        .state = message.id, .dispatches = TEXT("[]"), .at = SUITE_NOW);
    ADD(set, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 5, .at = SUITE_NOW);
    ADD(set, timeout_set, .id = suite_timeout_id(1), .destination = TEXT("orders"),
        .due = SUITE_NOW, .correlation_id = message.id);
    message.causation_id = message.id;
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = ACCOUNT, .version = 1,
        .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = message,
        .at = SUITE_NOW);
    ADD(set, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"), .key = TEXT("k"),
        .message = message, .at = SUITE_NOW, .due = SUITE_NOW);
    ADD(set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = message,
        .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    ADD(set, subscription_set, .type = message.id, .queue = TEXT("orders"));
    ADD(set, history_add,
        .entry = {.endpoint   = TEXT("suite"),
                  .source     = ACCOUNT,
                  .message_id = message.id,
                  .kind       = TEXT("message"),
                  .outcome    = TEXT("handled"),
                  .at         = SUITE_NOW});
}

static void expect_nothing(suite *s, pawl_store *store)
{
    EXPECT_EQ(s, suite_queue(s, store, TEXT("orders")).count, 0);
    EXPECT(s, !suite_knows(s, store, TEXT("suite"), TEXT("of-a")));
    EXPECT_EQ(s, suite_events(s, store, (pawl_event_query){0}).count, 0);
    EXPECT_EQ(s, suite_stream(s, store, ACCOUNT, 9).version, 0);
    EXPECT_EQ(s, suite_stream(s, store, ACCOUNT, 9).snapshot.version, 0);
    EXPECT_EQ(s, suite_checkpoint(s, store, TEXT("totals")), 0);
    EXPECT_EQ(s, suite_timeouts(s, store).count, 0);
    EXPECT_EQ(s, suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING).count, 0);
    EXPECT_EQ(s, suite_rows(s, store, TEXT("Bills")).count, 0);
    EXPECT_EQ(s, suite_dead_rows(s, store, TEXT("")).count, 0);
    EXPECT_EQ(s, suite_stats_of(s, store, SUITE_NOW).inbox, 0);
}

static void expect_own(suite *s, pawl_store *store, const char *owner)
{
    pawl_text       id   = suite_printf(s, "of-%s", owner);
    pawl_queue_rows rows = suite_queue(s, store, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].message.id, id);
    EXPECT(s, suite_knows(s, store, TEXT("suite"), id));
    pawl_event_rows events = suite_events(s, store, (pawl_event_query){0});
    EXPECT_EQ(s, events.count, 1);
    EXPECT_TEXT(s, events.items[0].event.message_id, id);
    EXPECT_TEXT(s, suite_stream(s, store, ACCOUNT, 9).snapshot.state, id);
    pawl_timeout_rows timeouts = suite_timeouts(s, store);
    EXPECT_EQ(s, timeouts.count, 1);
    EXPECT_TEXT(s, timeouts.items[0].correlation_id, id);
    pawl_outbox_rows outbox = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, outbox.count, 1);
    EXPECT_TEXT(s, outbox.items[0].message.id, id);
    EXPECT_EQ(s, suite_rows(s, store, TEXT("Bills")).count, 1);
    EXPECT_EQ(s, suite_dead_rows(s, store, TEXT("suite")).count, 1);
    EXPECT_EQ(s, suite_stats_of(s, store, SUITE_NOW).inbox, 1);
    EXPECT_EQ(s, suite_stats_of(s, store, SUITE_NOW).workers, 1);
    pawl_subscriptions list = {0};
    READ_ROWS(s, pawl_store_subscriptions(store, s->arena, &list, &s->error), list);
    EXPECT_EQ(s, list.count, 1);
    EXPECT_TEXT(s, list.items[0].type, id);
}

static void stores_with_different_table_prefixes_share_no_data(suite *s)
{
    pawl_store        *a = suite_open(s), *b = suite_open_other(s);
    bool               is_found = true;
    pawl_outbox_record record;
    suite_set          first = suite_changes(s);
    add_all(s, &first, "a");
    COMMIT(&first, a);
    expect_nothing(s, b);
    suite_set second = suite_changes(s);
    add_all(s, &second, "b"); /* no key exists yet */
    COMMIT(&second, b);
    expect_own(s, a, "a");
    expect_own(s, b, "b");
    EXPECT_OK(s, pawl_store_outbox_get(b, TEXT("suite"), TEXT("of-a"), s->arena, &record, &is_found,
                                       &s->error));
    EXPECT(s, !is_found);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 9).count, 1);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 9).count, 1);
    suite_number(s, a);
    pawl_event_query by_position = {.is_by_position = true};
    EXPECT_EQ(s, suite_events(s, a, by_position).count, 1);
    suite_number(s, b);
    EXPECT_EQ(s, suite_events(s, b, by_position).items[0].position, 1);
}

static const suite_case cases[] = {
    {"O31 O33 stores with different table prefixes share no data",
     stores_with_different_table_prefixes_share_no_data},
};

const suite_cases cases_prefix = SUITE_CASES("prefix", cases);
