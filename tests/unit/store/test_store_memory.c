/* test_store_memory.c - names and handles of the memory store. All that every store does is proved by
 * test_contract_memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/changes.h"
#include "support/fault_memory.h"

#include "pawl/operations.h"
#include "pawl/store_driver.h"
#include "store/memory/memory.h"
#include "store/memory/table.h"
#include "support/tests.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Handles ------------------------------------------------------------- */

static pawl_message message_of(const char *id)
{
    return (pawl_message){.id   = pawl_text_of(id),
                          .type = PAWL_TEXT("place_order"),
                          .body = PAWL_TEXT("{\"order_id\":\"o-1\"}")};
}

static void send_one(pawl_store *store, const char *id)
{
    pawl_error      error   = PAWL_ERROR_INIT;
    pawl_queue_send send    = {.queue = PAWL_TEXT("orders"), .message = message_of(id), .due = 10};
    pawl_changes    changes = {ONE_UNIT, .queue_send = {&send, 1}};
    if (pawl_store_commit(store, &changes, NULL, &error) != PAWL_OK)
        fail_msg("%s: %s", id, error.text);
}

static size_t claim_all(pawl_store *store, pawl_arena *arena)
{
    pawl_queue_claim claim = {.queue = PAWL_TEXT("orders"), .due_max = 10, .count_max = 100};
    pawl_queue_rows  rows;
    assert_int_equal(pawl_store_queue_claim(store, &claim, arena, &rows, NULL), PAWL_OK);
    return rows.count;
}

TEST(handles_of_one_name_share_the_data)
{
    pawl_arena *arena = test_arena();
    pawl_store *first = test_open("memory:shop"), *second = test_open("memory:shop");
    pawl_store *other = test_open("memory:"), *unnamed = test_open("memory:?create=no");
    send_one(first, "m-1");
    send_one(other, "m-2");
    assert_string_equal(first->identity, second->identity);
    assert_string_not_equal(first->identity, other->identity);
    assert_int_equal(claim_all(second, arena), 1);
    assert_int_equal(claim_all(unnamed, arena), 1);
    test_now(first);
    test_now(second);
    test_now(other);
    test_now(unnamed);

    pawl_store *fresh = test_open("memory:shop");
    assert_int_equal(claim_all(fresh, arena), 0);
}

TEST(bad_names_are_refused)
{
    pawl_store *store = NULL;
    must_fail(pawl_store_open("memory:x?size=3", NULL, &store, world_error()), PAWL_ECONFIG,
              "memory store: '?size=3' is unknown; 'create' is the only parameter");
    char url[220] = "memory:";
    memset(url + 7, 'x', 200);
    must_fail_with(pawl_store_open(url, NULL, &store, world_error()), PAWL_ECONFIG,
                   "it has 200 bytes, limit 151");
    /* The longest name keeps its last byte. */
    url[7 + 151]       = '\0';
    pawl_store *first  = test_open(url);
    url[7 + 150]       = 'y';
    pawl_store *second = test_open(url);
    assert_string_not_equal(first->identity, second->identity);
}

TEST(what_a_closed_handle_held_is_free)
{
    pawl_arena *arena = test_arena();
    pawl_store *first = test_open("memory:shop"), *second = test_open("memory:shop");
    bool        is_held = false;
    send_one(first, "m-1");
    assert_int_equal(claim_all(first, arena), 1);
    assert_int_equal(claim_all(second, arena), 0);
    assert_int_equal(pawl_store_lead(first, PAWL_TEXT("outbox"), 0, 1000, &is_held, NULL), 0);
    assert_true(is_held);
    assert_int_equal(pawl_store_lead(second, PAWL_TEXT("outbox"), 1, 1000, &is_held, NULL), 0);
    assert_false(is_held);

    test_now(first);
    assert_int_equal(claim_all(second, arena), 1);
    assert_int_equal(pawl_store_lead(second, PAWL_TEXT("outbox"), 2, 1000, &is_held, NULL), 0);
    assert_true(is_held);
}

/* A thread of the parent that was inside a call left its mutex locked in the child, for good:
 * the handle is only forgotten there. */
TEST(a_child_closes_a_handle_whose_mutex_is_held)
{
    pawl_store  *store = test_open("memory:shop");
    memory_data *data  = pawl__memory_enter(store);
    pid_t        child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        alarm(10); /* a child that waits for the mutex is ended */
        test_now(store);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pawl__memory_leave(data);
}

/* An interrupt is of the call that is under way: the next wait does not end by an old one. */
TEST(an_interrupt_from_before_a_wait_counts_for_nothing)
{
    pawl_store *store = test_open("memory:shop");
    store->ops->interrupt(store);
    must(store->ops->wait(store, 0, -1, world_error()));
}

/* In the caller's unit: an idle worker's next message is due by then. */
TEST(o21_a_wait_is_as_long_as_asked)
{
    struct timespec begun, ended;
    pawl_store     *store = test_open("memory:shop");
    clock_gettime(CLOCK_MONOTONIC, &begun);
    assert_int_equal(pawl_store_wait(store, PAWL_MILLISECONDS(20), -1, NULL), PAWL_OK);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    int64_t taken =
        (ended.tv_sec - begun.tv_sec) * 1000000 + (ended.tv_nsec - begun.tv_nsec) / 1000;
    assert_in_range(taken, 19000, PAWL_SECONDS(15));
}

/* ---- Memory -------------------------------------------------------------- */

static void retry_one(pawl_store *store, pawl_arena *arena, int32_t attempts)
{
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_queue_rows  rows;
    pawl_queue_claim claim = {.queue = PAWL_TEXT("orders"), .due_max = 10, .count_max = 1};
    assert_int_equal(pawl_store_queue_claim(store, &claim, arena, &rows, &error), PAWL_OK);
    assert_int_equal(rows.count, 1);
    pawl_queue_settle settle  = {.action   = PAWL_QUEUE_RETRY,
                                 .queue    = PAWL_TEXT("orders"),
                                 .seq      = rows.items[0].seq,
                                 .due      = 10,
                                 .attempts = attempts,
                                 .error    = PAWL_TEXT("the bank is closed"),
                                 .history  = PAWL_TEXT("[{\"attempt\":1}]")};
    pawl_changes      changes = {ONE_UNIT, .queue_settle = {&settle, 1}};
    must(pawl_store_commit(store, &changes, NULL, world_error()));
    pawl_arena_reset(arena);
}

/* Each try writes its error and its history anew: the texts that went are given back. */
TEST(a_message_that_is_retried_takes_no_more_memory)
{
    fault_memory_install();
    pawl_store *store = test_open("memory:shop");
    pawl_arena *arena = pawl_arena_create(0);
    send_one(store, "m-1");
    retry_one(store, arena, 1);
    retry_one(store, arena, 2);
    long before = fault_memory_live();
    for (int32_t i = 3; i < 20; i++)
        retry_one(store, arena, i);
    assert_int_equal(fault_memory_live(), before);
    pawl_arena_destroy(arena);
    test_now(store);
    pawl_allocator_set(NULL);
}

/* Two names of one hash, whatever follows them: what tells them apart is their bytes. */
TEST(names_of_one_hash_are_apart)
{
    static const pawl_text names[] = {PAWL_TEXT_INIT("ogzDQ5qV6mF"), PAWL_TEXT_INIT("yv8PawoVvBH")};
    pawl_store            *store   = test_open("memory:shop");
    pawl_arena            *arena   = test_arena();
    assert_true(pawl__hash_texts(names[0], PAWL_TEXT("m-1")) ==
                pawl__hash_texts(names[1], PAWL_TEXT("m-1")));
    for (size_t i = 0; i < 2; i++) {
        pawl_inbox_entry    mark = {.endpoint = names[i], .message_id = PAWL_TEXT("m-1")};
        pawl_queue_send     send = {.queue = names[i], .message = message_of("m-1")};
        pawl_aggregator_add add  = {.name      = PAWL_TEXT("totals"),
                                    .partition = names[i],
                                    .key       = PAWL_TEXT("m-1"),
                                    .message   = message_of("m-1")};
        pawl_changes changes     = {ONE_UNIT, .inbox_entry = {&mark, 1}, .queue_send = {&send, 1},
                                    .aggregator_add = {&add, 1}};
        must(pawl_store_commit(store, &changes, NULL, world_error()));
    }
    for (size_t i = 0; i < 2; i++) {
        pawl_queue_rows        rows;
        pawl_aggregator_counts counts;
        assert_int_equal(pawl_store_queue_list(store, names[i], 0, arena, &rows, NULL), PAWL_OK);
        assert_int_equal(rows.count, 1);
        must(pawl_store_aggregator_counts(store, names[i], NULL, 0, 1, &counts, world_error()));
        assert_int_equal(counts.all, 1);
    }
}

/* One of each row that a commit can add. */
static void fill(pawl_store *store)
{
    static const pawl_change_kind adds[] = {pawl_change_inbox_entry, pawl_change_saga_insert,
                                            pawl_change_timeout_set, pawl_change_outbox_add,
                                            pawl_change_queue_send,  pawl_change_aggregator_add,
                                            pawl_change_dead_set,    pawl_change_subscription_set};
    static good_set               set;
    good_make(&set);
    for (int kind = 0; kind < (int)pawl_change_kind_count; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < COUNT(adds); i++)
            count += (int)adds[i] == kind;
        *good_count(&set, (pawl_change_kind)kind) = count;
    }
    set.table = (pawl_saga_table){.type = PAWL_TEXT("Order"), .name = PAWL_TEXT("t_order")};
    set.saga_insert[0].table = &set.table;
    must(pawl_store_commit(store, &set.changes, NULL, world_error()));
}

/* Counts the rows of every kind. */
static int64_t count_rows(pawl_store *store, pawl_arena *arena)
{
    const pawl_saga_table table = {.type = PAWL_TEXT("Order"), .name = PAWL_TEXT("t_order")};
    pawl_stats            stats = PAWL_STATS_INIT;
    pawl_subscriptions    subscriptions;
    pawl_flush_rows       flushes;
    int64_t               sagas = 0;
    assert_int_equal(pawl_store_stats(store, 10, arena, &stats, NULL), PAWL_OK);
    assert_int_equal(pawl_store_subscriptions(store, arena, &subscriptions, NULL), PAWL_OK);
    must(pawl_store_flush_list(store, PAWL_TEXT("totals"), 10, 10, arena, &flushes, world_error()));
    assert_int_equal(pawl_store_saga_count(store, &table, &sagas, NULL), PAWL_OK);
    return (int64_t)stats.queue_count + stats.timeouts_due + stats.outbox_pending +
           stats.aggregator_rows + stats.dead + stats.inbox + (int64_t)subscriptions.count +
           (int64_t)flushes.count + sagas;
}

/* The rows go; the worker and what it leads stay. */
TEST(a_dropped_schema_leaves_no_row)
{
    const pawl_saga_table        table = {.type = PAWL_TEXT("Order"), .name = PAWL_TEXT("t_order")};
    const pawl_saga_table *const tables[] = {&table};
    const pawl_schema_spec       spec     = {.tables = tables, .table_count = 1};
    pawl_arena                  *arena    = test_arena();
    pawl_store *store = test_open("memory:shop"), *other = test_open("memory:shop");
    bool        is_held = false;
    for (int round = 0; round < 2; round++) { /* the second one finds nothing in its way */
        fill(store);
        assert_int_equal(count_rows(store, arena), 9);
        must(pawl_store_lead(store, PAWL_TEXT("outbox"), 1, 1000, &is_held, world_error()));
        assert_true(is_held);
        assert_int_equal(store->ops->schema(store, PAWL_SCHEMA_DROP, &spec, NULL, NULL, NULL),
                         PAWL_OK);
        assert_int_equal(count_rows(store, arena), 0);
        must(pawl_store_lead(other, PAWL_TEXT("outbox"), 2, 1000, &is_held, world_error()));
        assert_false(is_held);
    }
    send_one(store, "m-1");
    assert_int_equal(claim_all(store, arena), 1);
}

static void keep_line(pawl_text line, void *context)
{
    snprintf(context, 80, "%.*s", PAWL_TEXT_ARGS(line));
}

TEST(the_schema_is_said_to_be_none)
{
    char        line[80] = "";
    pawl_arena *arena    = test_arena();
    pawl_store *store    = test_open("memory:shop");
    const char *url      = "memory:shop";
    send_one(store, "m-1");
    assert_int_equal(pawl_store_schema(url, PAWL_SCHEMA_PRINT, NULL, keep_line, line, NULL), 0);
    assert_string_equal(line, "-- the memory store has no schema");
    assert_int_equal(pawl_store_schema(url, PAWL_SCHEMA_APPLY, NULL, keep_line, line, NULL), 0);
    assert_int_equal(pawl_store_schema(url, PAWL_SCHEMA_VERIFY, NULL, keep_line, line, NULL), 0);
    assert_int_equal(claim_all(store, arena), 1);
    assert_int_equal(pawl_store_schema(url, PAWL_SCHEMA_DROP, NULL, keep_line, line, NULL), 0);
    pawl_stats stats = PAWL_STATS_INIT;
    assert_int_equal(pawl_store_stats(store, 10, arena, &stats, NULL), PAWL_OK);
    assert_int_equal(stats.queue_count, 0);
    assert_int_equal(pawl_store_handler_transaction_begin(store, NULL), PAWL_EUNSUPPORTED);
}

/* ---- Correlation properties ------------------------------------------------ */

static pawl_code begin_by(pawl_store *store, const char *property, pawl_saga_row *row,
                          pawl_error *error)
{
    const pawl_saga_table table = {
        .type = PAWL_TEXT("Order"),
        .name = PAWL_TEXT("shop_Order"),
        .main = {.property = pawl_text_of(property), .type = PAWL_VALUE_TEXT}};
    *row = (pawl_saga_row){.main = pawl_value_text(PAWL_TEXT("o-1"))};
    return pawl_store_saga_insert(store, &table, row, 10, error);
}

/* Values of one property are not found by another one; a property of which no row has a value any
 * more makes room. */
TEST(d29_values_of_four_properties_are_apart)
{
    static const char *const properties[] = {"a", "b", "c", "d"};
    pawl_error               error        = PAWL_ERROR_INIT;
    pawl_store              *store        = test_open("memory:shop");
    pawl_saga_row            rows[COUNT(properties)], more;
    for (size_t i = 0; i < COUNT(properties); i++)
        if (begin_by(store, properties[i], &rows[i], &error) != PAWL_OK)
            fail_msg("%s", error.text);
    assert_int_equal(begin_by(store, "c", &more, &error), PAWL_EDUPLICATE);
    must_fail_with(begin_by(store, "e", &more, world_error()), PAWL_EUNSUPPORTED,
                   "values of 4 other correlation properties");
    const pawl_saga_table table = {.type = PAWL_TEXT("Order"), .name = PAWL_TEXT("shop_Order")};
    must(pawl_store_saga_delete(store, &table, &rows[1], 11, world_error()));
    must(begin_by(store, "e", &more, world_error()));
    assert_int_equal(begin_by(store, "d", &more, &error), PAWL_EDUPLICATE);
    assert_int_equal(begin_by(store, "b", &more, &error), PAWL_EUNSUPPORTED);
}

/* The commit that removes the last row of a property gives its column to no other: it would come
 * back with its value when the commit is taken back. */
TEST(d29_a_column_is_free_behind_the_commit)
{
    static const char *const properties[] = {"a", "b", "c", "d"};
    pawl_store              *store        = test_open("memory:shop");
    pawl_saga_row            rows[COUNT(properties)], more;
    for (size_t i = 0; i < COUNT(properties); i++)
        must(begin_by(store, properties[i], &rows[i], world_error()));
    const pawl_saga_table table   = {.type = PAWL_TEXT("Order"),
                                     .name = PAWL_TEXT("shop_Order"),
                                     .main = {.property = PAWL_TEXT("e"), .type = PAWL_VALUE_TEXT}};
    pawl_saga_delete      gone    = {.table = &table, .id = rows[0].id, .version = 1};
    pawl_saga_insert      insert  = {.table = &table,
                                     .id    = {{{9}}},
                                     .main  = pawl_value_text(PAWL_TEXT("o-1")),
                                     .data  = PAWL_TEXT("{}")};
    pawl_changes          changes = {.now = 11,
                                     ONE_UNIT,
                                     .saga_delete = {.items = &gone, .count = 1},
                                     .saga_insert = {.items = &insert, .count = 1}};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, world_error()), PAWL_EUNSUPPORTED);
    assert_int_equal(begin_by(store, "a", &more, world_error()), PAWL_EDUPLICATE);
}

/* A newer core may know more kinds than the driver. */
TEST(an_unknown_kind_of_rows_is_unsupported)
{
    const pawl_find asked = {.find_size = sizeof asked, .kind = (pawl_find_kind)PAWL_FIND_KINDS};
    pawl_found      found = {.count = 0};
    pawl_store     *store = NULL;
    assert_int_equal(pawl_store_open("memory:kinds", NULL, &store, NULL), PAWL_OK);
    assert_int_equal(store->ops->find(store, &asked, NULL, &found, NULL), PAWL_EUNSUPPORTED);
    pawl_store_close(store);
}
