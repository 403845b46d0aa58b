/* test_postgres_ahead.c - the claim that PostgreSQL makes in the trip of a commit (pawl_store_options.claims_ahead):
 * who gets its rows, and what gives them back. E5, E15.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define ALONE 16 /* one claim in so many goes alone */

static pawl_store *open_as(fixture *p, bool claims_ahead)
{
    pawl_store        *store   = NULL;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CHECK;
    options.tables             = order_tables;
    options.table_count        = 1;
    options.claims_ahead       = claims_ahead;
    apply_schema(p, p->url, order_tables, 1);
    ok(p, fixture_open(p, p->url, &options, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    store->is_attached              = true;
    pawl__pg_of(store)->ahead.count = 1; /* the first one does not go alone */
    return store;
}

/* The clock of the worker's claims goes on. */
static pawl_time later(void)
{
    static int64_t seconds = 60;
    return NOW + PAWL_SECONDS(++seconds);
}

/* A claim on a busy machine takes as long as one over many dead rows (front.h): this one was quick. */
static pawl_queue_rows claim_due(fixture *p, pawl_store *store, pawl_time due_max, size_t count)
{
    pawl__pg       *driver     = pawl__pg_of(store);
    pawl_queue_rows rows       = claim_some(p, store, "orders", due_max, count);
    driver->fronts[0].pause_ms = 0;
    if (driver->ahead.is_wanted && rows.count == count)
        driver->ahead.front = &driver->fronts[0];
    return rows;
}

static pawl_queue_rows claim_next(fixture *p, pawl_store *store, size_t count)
{
    return claim_due(p, store, later(), count);
}

typedef struct two {
    pawl_store *worker; /* claims ahead */
    pawl_store *other;
} two;

/* A queue of five messages, of which the worker has handled the first. */
static two open_two(fixture *p, bool claims_ahead)
{
    two t = {open_as(p, claims_ahead), open_as(p, false)};
    for (int i = 1; i <= 5; i++)
        ok(p, send_one(p, t.other, "orders", test_text("m-%d", i)));
    pawl_queue_rows rows = claim_due(p, t.worker, NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    return t;
}

/* Claims one message and handles it. */
static void expect_next(fixture *p, pawl_store *store, const char *id)
{
    pawl_queue_rows rows = claim_next(p, store, 1);
    assert_int_equal(rows.count, 1);
    assert_memory_equal(rows.items[0].message.id.data, id, strlen(id));
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
}

static bool has_rows(const pawl_store *store)
{
    const pawl__pg *driver = pawl__pg_of((pawl_store *)(uintptr_t)store);
    return driver->ahead.transaction != 0 && driver->ahead.transaction == driver->main.transactions;
}

/* The first one is handled, the second one as said. */
static pawl_code settle_both(fixture *p, pawl_store *store, const pawl_queue_rows *rows,
                             pawl_queue_action action)
{
    pawl_queue_settle settles[] = {{.queue = TEXT("orders"), .seq = rows->items[0].seq},
                                   {.queue  = TEXT("orders"),
                                    .seq    = rows->items[1].seq,
                                    .action = action,
                                    .due    = NOW,
                                    .unit   = 1,
                                    .group  = 1}};
    pawl_changes      changes   = {.now          = NOW,
                                   .group_count  = 2,
                                   .unit_count   = 2,
                                   .queue_settle = {.items = settles, .count = 2}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

ON_TROUBLE(e5_the_next_message_is_the_workers_once_its_commit_returned, fixture *p)
{
    two t = open_two(p, true);
    assert_true(has_rows(t.worker));
    expect_next(p, t.other, "m-3");
    expect_next(p, t.worker, "m-2");
    expect_next(p, t.worker, "m-4");
    expect_next(p, t.worker, "m-5");
    assert_int_equal(queue_count(p), 0);
}

ON_TROUBLE(e5_a_handle_that_did_not_ask_claims_nothing_ahead, fixture *p)
{
    two t = open_two(p, false);
    assert_false(has_rows(t.worker));
    expect_next(p, t.other, "m-2");
}

static void give_back_by_wait(fixture *p, two *t)
{
    ok(p, pawl_store_wait(t->worker, 0, -1, &p->error));
}

static void give_back_by_a_send(fixture *p, two *t)
{
    ok(p, send_one(p, t->worker, "others", "o-1"));
}

static void give_back_by_close(fixture *p, two *t)
{
    test_now(t->worker);
    t->worker = NULL;
}

static void give_back_by_a_lease(fixture *p, two *t)
{
    pawl_timeout_rows  rows;
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = NOW + PAWL_MINUTES(60),
                                .count_max   = 1,
                                .owner       = {uuid_of(1)},
                                .now         = NOW,
                                .lease       = PAWL_MINUTES(5)};
    pawl_timeout_set   set   = {
            .id = {uuid_of(2)}, .destination = TEXT("orders"), .name = TEXT("patience"), .due = NOW};
    pawl_changes one = {.now = NOW, ONE_UNIT, .timeout_set = {.items = &set, .count = 1}};
    ok(p, pawl_store_commit(t->other, &one, NULL, &p->error));
    ok(p, pawl_store_timeout_claim(t->worker, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    assert_null(pawl__pg_of(t->worker)->side.pg); /* one connection is enough */
}

static void give_back_by_a_lead(fixture *p, two *t)
{
    bool is_ours = false;
    ok(p, pawl_store_lead(t->worker, TEXT("lead"), NOW, PAWL_MINUTES(1), &is_ours, &p->error));
    assert_true(is_ours);
    assert_null(pawl__pg_of(t->worker)->side.pg);
}

static void give_back_by_numbers(fixture *p, two *t)
{
    int64_t count = 0;
    ok(p, pawl_store_event_number(t->worker, 10, &count, &p->error));
    assert_null(pawl__pg_of(t->worker)->side.pg);
}

static void give_back_by_the_outbox(fixture *p, two *t)
{
    pawl_outbox_rows rows;
    ok(p, pawl_store_outbox_claim(t->worker, TEXT("orders"), NOW, 1, p->arena, &rows, &p->error));
}

static void give_back_by_numbers_of_others(fixture *p, two *t)
{
    pawl_queue_rows  rows;
    const int64_t    none  = INT64_MAX;
    pawl_queue_claim claim = {.queue     = TEXT("orders"),
                              .due_max   = NOW,
                              .count_max = 1,
                              .seqs      = &none,
                              .seq_count = 1,
                              .now       = NOW};
    ok(p, pawl_store_queue_claim(t->worker, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 0);
    assert_null(pawl__pg_of(t->worker)->ahead.request.result);
}

static void give_back_by_a_search(fixture *p, two *t)
{
    pawl_next_due next;
    ok(p, pawl_store_next_due(t->worker, TEXT("orders"), NULL, 0, &next, &p->error));
    assert_null(pawl__pg_of(t->worker)->side.pg);
}

/* Whatever comes instead of the claim, another worker gets the rows, and each message is handled once. */
ON_TROUBLE(e5_rows_that_are_not_asked_for_go_back, fixture *p)
{
    static void (*const ways[])(fixture *, two *) = {
        give_back_by_wait,    give_back_by_a_send,     give_back_by_close,
        give_back_by_a_lease, give_back_by_a_search,   give_back_by_a_lead,
        give_back_by_numbers, give_back_by_the_outbox, give_back_by_numbers_of_others};
    for (size_t i = 0; i < COUNT(ways); i++) {
        raw_run(p->pg, "drop table if exists pawl_queue, pawl_inbox, pawl_timeouts cascade");
        two t = open_two(p, true);
        assert_true(has_rows(t.worker));
        ways[i](p, &t);
        expect_next(p, t.other, "m-2");
        if (t.worker != NULL)
            expect_next(p, t.worker, "m-3");
        test_end();
    }
}

/* The worker learns of it at its commit, as of any connection that is lost while handlers run. */
ON_TROUBLE(e5_rows_of_a_lost_connection_are_handled_once, fixture *p)
{
    two t = open_two(p, true);
    kill_pid(p, pid_of(t.worker));
    expect_next(p, t.other, "m-2");
    pawl_queue_rows rows = claim_next(p, t.worker, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, settle_one(p, t.worker, "orders", rows.items[0].seq), PAWL_ELOST);
    expect_next(p, t.worker, "m-3");
}

ON_TROUBLE(e5_a_smaller_claim_takes_no_more_than_it_asks_for, fixture *p)
{
    two t = open_two(p, true);
    expect_next(p, t.worker, "m-2");
    pawl_queue_rows rows = claim_next(p, t.worker, 2);
    assert_int_equal(rows.count, 1); /* as many as the claim before it */
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    rows = claim_next(p, t.worker, 1);
    assert_int_equal(rows.count, 1);
}

/* Of two that were locked ahead one is asked for: the other one is free. */
ON_TROUBLE(e5_a_smaller_claim_leaves_the_rest_to_others, fixture *p)
{
    two t = open_two(p, true);
    give_back_by_wait(p, &t);
    pawl_queue_rows rows = claim_next(p, t.worker, 2);
    assert_int_equal(rows.count, 2);
    ok(p, settle_both(p, t.worker, &rows, PAWL_QUEUE_DONE));
    assert_true(has_rows(t.worker));
    rows = claim_next(p, t.worker, 1);
    assert_int_equal(rows.count, 1);
    expect_next(p, t.other, "m-5");
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 0);
}

/* A worker that gives a message back, or only writes its in-flight marker, does not go on. */
ON_TROUBLE(e5_a_commit_that_gives_back_claims_nothing_ahead, fixture *p)
{
    two t = open_two(p, true);
    give_back_by_wait(p, &t);
    pawl_queue_rows rows = claim_next(p, t.worker, 2);
    ok(p, settle_both(p, t.worker, &rows, PAWL_QUEUE_RELEASE));
    assert_false(has_rows(t.worker));
    rows = claim_next(p, t.worker, 2);
    assert_int_equal(rows.count, 2);
    ok(p, settle_both(p, t.worker, &rows, PAWL_QUEUE_RETRY));
    assert_true(has_rows(t.worker)); /* one of the two was handled */
    rows = claim_next(p, t.worker, 1);
    COMMIT_OK(p, t.worker, queue_settle, NOW, .queue = TEXT("orders"), .seq = rows.items[0].seq,
              .action = PAWL_QUEUE_RETRY, .due = NOW);
    assert_false(has_rows(t.worker));
}

ON_TROUBLE(e5_rows_that_were_locked_long_ago_are_claimed_anew, fixture *p)
{
    two       t      = open_two(p, true);
    pawl__pg *driver = pawl__pg_of(t.worker);
    uint64_t  before = driver->main.transactions;
    driver->ahead.sent_ms -= 2000;
    pawl_queue_rows rows = claim_next(p, t.worker, 1);
    assert_int_equal(rows.count, 1);
    assert_int_equal(driver->main.transactions, before + 1);
}

ON_TROUBLE(e15_nothing_goes_ahead_while_the_clock_is_behind, fixture *p)
{
    two              t     = open_two(p, true);
    pawl_queue_rows  rows  = {0};
    pawl_queue_claim claim = {
        .queue = TEXT("orders"), .due_max = later(), .count_max = 1, .now = NOW - PAWL_SECONDS(1)};
    ok(p, pawl_store_queue_claim(t.worker, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    assert_null(pawl__pg_of(t.worker)->ahead.front);
}

/* Two of the three that are claimed are settled: those in hand stay claimed, and nothing goes ahead. */
ON_TROUBLE(e5_claims_in_hand_stay_where_a_commit_settles_some, fixture *p)
{
    two             t    = open_two(p, true);
    pawl_queue_rows rows = claim_next(p, t.worker, 1);
    pawl_queue_rows more = claim_next(p, t.worker, 1);
    assert_int_equal(rows.count + more.count, 2);
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_false(has_rows(t.worker));
    expect_next(p, t.other, "m-4");
    ok(p, settle_one(p, t.worker, "orders", more.items[0].seq));
    assert_int_equal(queue_count(p), 1);
}

/* The guarded commit fails as its message is known: nothing goes ahead of the claim that stays. */
ON_TROUBLE(e5_a_refused_commit_claims_nothing_ahead, fixture *p)
{
    two               t      = open_two(p, true);
    pawl_queue_rows   rows   = claim_next(p, t.worker, 1);
    pawl_queue_settle settle = {.queue = TEXT("orders"), .seq = rows.items[0].seq};
    pawl_inbox_entry  entry  = {.endpoint = TEXT("orders"), .message_id = TEXT("m-2"), .at = NOW};
    pawl_changes      marks  = {.now = NOW, ONE_UNIT, .inbox_entry = {.items = &entry, .count = 1}};
    ok(p, pawl_store_commit(t.other, &marks, NULL, &p->error));
    pawl_refusals refused    = {.arena = p->arena};
    marks.queue_settle.items = &settle;
    marks.queue_settle.count = 1;
    ok(p, pawl_store_commit(t.worker, &marks, &refused, &p->error));
    assert_int_equal(refused.count, 1);
    assert_false(has_rows(t.worker));
    expect_next(p, t.other, "m-3");
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 2);
}

ON_TROUBLE(e15_what_is_sent_after_an_empty_look_ahead_is_found, fixture *p)
{
    two t = open_two(p, true);
    for (int i = 2; i <= 5; i++)
        expect_next(p, t.worker, test_text("m-%d", i));
    assert_false(has_rows(t.worker));
    ok(p, send_one(p, t.other, "orders", "m-6"));
    expect_next(p, t.worker, "m-6");
    assert_int_equal(claim_due(p, t.worker, NOW, 1).count, 0);
}

/* The due time moves with the machine's clock: a row that is due in a minute is not taken. */
ON_TROUBLE(e15_rows_that_are_not_due_yet_are_left, fixture *p)
{
    two t = open_two(p, true);
    raw_run(p->pg, "update pawl_queue set \"Due\" = \"Due\" + interval '1 minute' "
                   "where \"MessageId\" <> 'm-2'");
    pawl_queue_rows rows = claim_due(p, t.worker, NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_false(has_rows(t.worker));
    assert_int_equal(claim_due(p, t.worker, NOW, 1).count, 0);
}

/* One in 16 goes alone, so that its time is known; so does each behind one that took long (front.h). */
ON_TROUBLE(e15_the_due_time_moves_with_the_machines_clock, fixture *p)
{
    two             t      = open_two(p, true);
    pawl__pg       *driver = pawl__pg_of(t.worker);
    pawl_queue_rows rows   = claim_due(p, t.worker, NOW, 1);
    raw_run(p->pg, "update pawl_queue set \"Due\" = \"Due\" + interval '3 seconds' "
                   "where \"MessageId\" <> 'm-2'");
    driver->last_now_ms -= 5000;
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_true(has_rows(t.worker));
    assert_int_equal(claim_due(p, t.worker, NOW, 1).count, 0);
}

ON_TROUBLE(e5_rows_are_of_the_queue_that_is_asked_for, fixture *p)
{
    two t = open_two(p, true);
    ok(p, send_one(p, t.other, "others", "o-1"));
    assert_true(has_rows(t.worker));
    pawl_queue_rows rows = claim_some(p, t.worker, "others", later(), 1);
    assert_int_equal(rows.count, 1);
    assert_memory_equal(rows.items[0].message.id.data, "o-1", 3);
}

/* The next transaction of the session may be another worker's there. */
ON_TROUBLE(e5_behind_a_pooler_nothing_goes_ahead, fixture *p)
{
    two t                                  = open_two(p, false);
    pawl__pg_of(t.worker)->ahead.is_wanted = true;
    pawl__pg_of(t.worker)->is_pooled       = true;
    pawl_queue_rows rows                   = claim_some(p, t.worker, "orders", later(), 1);
    assert_int_equal(rows.count, 1);
    assert_null(pawl__pg_of(t.worker)->ahead.front);
}

ON_TROUBLE(e15_some_claims_go_alone, fixture *p)
{
    two t     = open_two(p, true);
    int alone = 0;
    for (int i = 0; i < 2 * ALONE; i++)
        ok(p, send_one(p, t.other, "orders", test_text("more-%d", i)));
    for (int i = 0; i < 2 * ALONE; i++) {
        pawl_queue_rows rows = claim_next(p, t.worker, 1);
        ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
        alone += !has_rows(t.worker);
    }
    assert_int_equal(alone, 2);
    pawl__pg_of(t.worker)->fronts[0].pause_ms = 60000;
    pawl_queue_rows rows                      = claim_some(p, t.worker, "orders", later(), 1);
    ok(p, settle_one(p, t.worker, "orders", rows.items[0].seq));
    assert_false(has_rows(t.worker));
}
