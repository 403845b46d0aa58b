/* test_store_memory_commit.c - a commit of every kind of change, and
 * memory that runs out in the middle of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include "conformance/suite/run.h"
#include "conformance/suite/sample_rows.h"
#include "pawl/store_driver.h"
#include "support/tests.h"

/* Changes of every kind, with a second one of some rows; and in group 1 some more, which are refused, because the
 * saga that one of them updates is not at that version. */
static suite_set changes_of_every_kind(suite *s, const suite_sample_rows *sample)
{
    suite_set set = suite_changes(s);
    suite_sample_rows_add_changes(sample, &set);
    ADD(&set, timeout_set, .id = suite_timeout_id(14), .saga_id = suite_saga_id(9),
        .name = TEXT("delivery"), .destination = TEXT("orders"), .due = SUITE_NOW + 9);
    ADD(&set, outbox_block, .source = TEXT("Order/2"), .is_unblock = true);
    set.changes.counters.messages = 3;
    suite_unit(&set, 1, 1);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("group-1"));
    ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1), .version = 4);
    ADD(&set, queue_send, .queue = TEXT("billing"), .message = suite_message(s, TEXT("w-9")));
    return set;
}

static void expect_refusal(suite *s, const pawl_refusals *refused)
{
    EXPECT_EQ(s, refused->count, 1);
    EXPECT_EQ(s, refused->items[0].group, 1);
    EXPECT_EQ(s, refused->items[0].reason, PAWL_ECONFLICT);
    EXPECT_TEXT(s, refused->items[0].text,
                TEXT("saga 'Order' 5a000000-0000-7000-8000-000000000001: "
                     "expected version 4, it is gone"));
}

/* Commits to a new store with the sample rows, while the n-th allocation fails; 0: none does. If one fails, nothing was applied, and the
 * same set can be committed then. `after` is the dump of the store in the end, in the arena. */
static pawl_code commit_without(long n, pawl_arena *arena, pawl_text *after)
{
    suite_address     address = {.url = "memory:short"};
    suite_tables      tables;
    suite             s = {.address = &address, .arena = pawl_arena_create(0)};
    suite_sample_rows sample;
    suite_tables_make(&tables, &address);
    memcpy(s.tables, tables.list, sizeof s.tables);
    if (setjmp(s.failed) != 0)
        fail_msg("%s", s.failure);
    pawl_store *store = suite_open(&s);
    suite_sample_rows_make(&sample, &s, store);
    pawl_text before = suite_dump(&s, store);
    suite_set set    = changes_of_every_kind(&s, &sample);
    /* A small arena, so that refusals ask for memory as well. */
    pawl_refusals refused = {.arena = pawl_arena_create(16)};
    fault_memory_begin(n);
    pawl_code code = pawl_store_commit(store, &set.changes, &refused, NULL);
    fault_memory_pause();
    if (code == PAWL_ENOMEM) {
        EXPECT_TEXT(&s, suite_dump(&s, store), before);
        EXPECT_EQ(&s, suite_stats_of(&s, store, SUITE_NOW).counters.messages, 0);
        EXPECT_EQ(&s, refused.count, 0);
        refused = (pawl_refusals){.arena = refused.arena};
        EXPECT_OK(&s, pawl_store_commit(store, &set.changes, &refused, &s.error));
    }
    expect_refusal(&s, &refused);
    EXPECT_EQ(&s, suite_stats_of(&s, store, SUITE_NOW).counters.messages, 3);
    *after = pawl_arena_printf(arena, "%s", suite_dump_unnumbered(&s, store));
    EXPECT(&s, strstr(after->data, "w-9") == NULL); /* of the group that was refused */
    suite_close_all(&s);
    pawl_arena_destroy(refused.arena);
    pawl_arena_destroy(s.arena);
    return code;
}

/* Fails the first allocation of the commit, then the second ..., until it runs untouched. */
TEST(a_commit_without_memory_leaves_nothing)
{
    pawl_arena *arena = test_arena();
    pawl_text   expected, after;
    pawl_code   code = PAWL_ENOMEM;
    int         n    = 0;
    fault_memory_install();
    assert_int_equal(commit_without(0, arena, &expected), PAWL_OK);
    for (; code == PAWL_ENOMEM; n++) {
        code = commit_without(n + 1, arena, &after);
        assert_string_equal(after.data, expected.data);
    }
    assert_int_equal(code, PAWL_OK);
    assert_false(fault_memory_was_reached());
    pawl_allocator_set(NULL);
    assert_in_range(n, 30, 1000); /* the commit allocates that often at least */
}

/* One row of each kind that can be claimed. */
static void make_claimable(pawl_store *store)
{
    const pawl_message message = {.id = TEXT("m-1"), .type = TEXT("PlaceOrder")};
    MUST_COMMIT(store, queue_send, 0, .queue = TEXT("orders"), .message = message);
    MUST_COMMIT(store, timeout_set, 0, .id = {{{4}}}, .destination = TEXT("orders"));
    MUST_COMMIT(store, aggregator_add, 0, .name = TEXT("Bills"), .partition = TEXT("Bills"),
                .key = TEXT("m-1"), .message = message);
}

static const pawl_session_id session = {{{6}}};

static pawl_code claim_message(pawl_store *store, pawl_arena *arena, size_t *count)
{
    pawl_queue_claim claim = {.queue = TEXT("orders"), .count_max = 9};
    pawl_queue_rows  rows;
    pawl_code        code = pawl_store_queue_claim(store, &claim, arena, &rows, NULL);
    *count                = rows.count;
    return code;
}

static pawl_code claim_timeout(pawl_store *store, pawl_arena *arena, size_t *count)
{
    pawl_timeout_claim claim = {.owner = session, .lease = 1000};
    pawl_timeout_rows  rows;
    pawl_code          code = pawl_store_timeout_claim(store, &claim, arena, &rows, NULL);
    *count                  = rows.count;
    return code;
}

static pawl_code claim_snapshot(pawl_store *store, pawl_arena *arena, size_t *count)
{
    const pawl_text         types[] = {TEXT("PlaceOrder")};
    pawl_leased_batch_claim claim   = {.partition  = TEXT("Bills"),
                                       .session    = session,
                                       .types      = types,
                                       .type_count = 1,
                                       .lease      = 1000};
    pawl_leased_batch       leased;
    pawl_code code = pawl_store_leased_batch_claim(store, &claim, arena, &leased, NULL);
    *count         = leased.count;
    return code;
}

/* A claim that could not be handed out left the row free: the next one, which
 * has memory, takes it. */
TEST(a_claim_without_memory_takes_nothing)
{
    typedef pawl_code      claim_fn(pawl_store * store, pawl_arena * arena, size_t * count);
    static claim_fn *const claims[] = {claim_message, claim_timeout, claim_snapshot};
    fault_memory_install();
    for (size_t i = 0; i < COUNT(claims); i++) {
        pawl_store *store = test_open("memory:short");
        size_t      count = 0;
        pawl_code   code  = PAWL_ENOMEM;
        int         n     = 0;
        make_claimable(store);
        for (; code == PAWL_ENOMEM; n++) {
            pawl_arena *arena = pawl_arena_create(16);
            fault_memory_begin(n + 1);
            code = claims[i](store, arena, &count);
            fault_memory_pause();
            assert_int_equal(count, code == PAWL_OK ? 1 : 0);
            pawl_arena_destroy(arena);
        }
        assert_int_equal(code, PAWL_OK);
        assert_false(fault_memory_was_reached());
        assert_in_range(n, 3, 100);
        test_now(store);
    }
    pawl_allocator_set(NULL);
}
