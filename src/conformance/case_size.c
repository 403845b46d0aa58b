/* case_size.c - many rows and large rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite.h"

#define BILLS TEXT("Bills")
#define MEGABYTE ((size_t)1024 * 1024)

/* `count` bills, in sets of 4,000. */
static void fill(suite *s, pawl_store *store, unsigned count)
{
    pawl_arena_mark start = pawl_arena_position(s->arena);
    for (unsigned done = 0; done < count;) {
        suite_set set = suite_changes(s);
        for (unsigned i = 0; i < 4000 && done < count; i++, done++) {
            pawl_text key = suite_printf(s, "key-%u", done);
            ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = key,
                .message = {.id = key, .type = TEXT("PlaceOrder"), .body = TEXT("{}")},
                .at = SUITE_NOW, .due = PAWL_TIME_MAX);
        }
        COMMIT(&set, store);
        pawl_arena_rewind(s->arena, start);
    }
}

static void a_snapshot_of_20000_rows_is_removed_at_once(suite *s)
{
    enum { COUNT = 20000 };
    pawl_store *a = suite_open(s);
    fill(s, a, COUNT);
    pawl_snapshot taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, COUNT);
    int64_t *ids = pawl_arena_take(s->arena, (COUNT + 1) * sizeof *ids);
    EXPECT(s, ids != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = taken.items[i].id;
        EXPECT_TEXT(s, taken.items[i].key, suite_printf(s, "key-%zu", i));
    }
    ids[COUNT] = ids[COUNT - 1] + 1000;
    REFUSE_ONE(s, a, PAWL_ECONFLICT, snapshot_remove, .partition = BILLS,
               .session = suite_session_id(70), .ids = ids, .id_count = COUNT + 1);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, COUNT);
    COMMIT_ONE(s, a, snapshot_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids, .id_count = COUNT);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
    EXPECT_EQ(s, suite_rows(s, a, BILLS).count, 0);
}

static void bodies_of_a_megabyte_are_kept(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    sent.body         = suite_bytes(s, MEGABYTE);
    suite_set set     = suite_changes(s);
    ADD(&set, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = TEXT("S"), .version = 1,
        .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = sent,
        .at = SUITE_NOW);
    ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = TEXT("k"), .message = sent,
        .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"), .message = sent,
        .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    COMMIT(&set, a);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    pawl_outbox_rows outbox = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_MESSAGE(s, &outbox.items[0].message, &sent);
    EXPECT_MESSAGE(s, &suite_rows(s, a, BILLS).items[0].message, &sent);
    EXPECT_MESSAGE(s, &suite_dead_rows(s, a, TEXT("suite")).items[0].message, &sent);
}

static void a_state_of_a_megabyte_is_kept(suite *s)
{
    pawl_store *a    = suite_open(s);
    pawl_text   pad  = suite_repeat(s, TEXT("0123456789abcdef"), MEGABYTE / 16);
    pawl_text   data = pawl_arena_printf(s->arena, "{\"pad\":\"%.*s\"}", PAWL_TEXT_ARGS(pad));
    EXPECT(s, data.data != NULL);
    COMMIT_ONE(s, a, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1),
               .main = pawl_value_text(TEXT("order-1")), .metadata = TEXT("{}"), .data = data,
               .type_version = TEXT("1.0"));
    EXPECT_TEXT(s, suite_compact(s, suite_load_id(s, a, SUITE_ORDER, 1).data), data);
}

/* As the engine does it: claim, mark, save, send, settle, in one commit. */
static void a_batch_of_4096_units_commits(suite *s)
{
    enum { COUNT = PAWL_BATCH_MESSAGES_MAX };
    pawl_store *a     = suite_open(s);
    suite_set   first = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++)
        ADD(&first, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW,
            .message = {
                .id = suite_printf(s, "m-%u", i), .type = TEXT("PlaceOrder"), .body = TEXT("{}")});
    COMMIT(&first, a);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, COUNT);
    EXPECT_EQ(s, rows.count, COUNT);
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++) {
        suite_unit(&set, i, i);
        ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
            .seq = rows.items[i].seq);
        ADD(&set, inbox_mark, .endpoint = TEXT("suite"), .message_id = rows.items[i].message.id,
            .at = SUITE_NOW);
        ADD(&set, saga_insert, .table = s->tables[SUITE_TICKET], .id = suite_saga_id(i),
            .main = pawl_value_integer(i % 4000), .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, COUNT - 4000);
    for (unsigned i = 4000; i < COUNT; i++) {
        const pawl_refusal *refusal = suite_refusal(&refused, i);
        EXPECT(s, refusal != NULL && refusal->reason == PAWL_EDUPLICATE);
    }
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_TICKET), 4000);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("orders")).count, COUNT - 4000);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).inbox, 4000);
}

static const suite_case cases[] = {
    {"A12 A13 a snapshot of 20,000 rows is removed at once or not at all",
     a_snapshot_of_20000_rows_is_removed_at_once},
    {"E26 O24 bodies of a megabyte are kept byte for byte", bodies_of_a_megabyte_are_kept},
    {"S15 a state of a megabyte is kept", a_state_of_a_megabyte_is_kept},
    {"E35 a batch of 4,096 units commits, less what is refused", a_batch_of_4096_units_commits},
};

const suite_cases cases_size = SUITE_CASES("size", cases);
