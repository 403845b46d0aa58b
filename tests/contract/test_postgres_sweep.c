/* test_postgres_sweep.c - sweeps of a large inbox, due times beside the claims of
 * others, and what statistics cost on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "support/tests.h"

#include <sys/wait.h>

static int64_t sweep_once(fixture *p, pawl_store *store, pawl_sweep what, bool *more)
{
    int64_t count = -1;
    ok(p, pawl_store_sweep(store, &what, &count, more, &p->error));
    return count;
}

/* Sweeps as the runtime does: again while there is more, then a minute later, up
 * to `rounds` minutes. */
static int64_t sweep_rounds(fixture *p, pawl_store *store, pawl_sweep what, unsigned rounds)
{
    int64_t count = 0;
    bool    more  = false;
    while (rounds > 0) {
        int64_t found = sweep_once(p, store, what, &more);
        assert_true(found <= (int64_t)what.count_max);
        count += found;
        rounds -= !more;
    }
    return count;
}

/* `count` marks at the end of the table, `age` seconds before NOW. */
static void add_marks(fixture *p, int count, int age)
{
    raw_run(p->pg,
            test_text("insert into pawl_inbox (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
                      "select 'orders', gen_random_uuid()::text, 'handled', "
                      "timestamptz '2026-01-01 00:00:00Z' - interval '1 second' * %d "
                      "from generate_series(1, %d)",
                      age, count));
}

static int64_t mark_count(fixture *p, const char *condition)
{
    return raw_number(p->pg, test_text("select count(*) from pawl_inbox where %s", condition));
}

#define IS_OLD "\"At\" < '2025-12-31 23:59:00Z'"

static const pawl_sweep a_minute_old = {.inbox_before   = NOW - PAWL_MINUTES(1),
                                        .outbox_before  = PAWL_TIME_MIN,
                                        .workers_before = PAWL_TIME_MIN,
                                        .count_max      = 2000};

static int64_t keep_hand(fixture *p)
{
    return raw_number(p->pg, "select \"Process\" from pawl_leases where \"Name\" = 'sweep:'");
}

/* Oldest first, as they are made: the hand follows them, for any worker. */
ON_FIXTURE(the_hand_follows_the_oldest, fixture *p)
{
    bool        more  = false;
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    add_marks(p, 15000, 90);
    add_marks(p, 15000, 30);
    assert_int_equal(sweep_once(p, first, a_minute_old, &more), 2000);
    assert_true(more);
    int64_t hand = keep_hand(p);
    assert_true(hand > 10);
    assert_int_equal(sweep_once(p, second, a_minute_old, &more), 2000);
    assert_true(keep_hand(p) > hand);
    assert_int_equal(sweep_rounds(p, first, a_minute_old, 1), 11000);
    assert_int_equal(mark_count(p, IS_OLD), 0);
    assert_int_equal(mark_count(p, "true"), 15000);
    /* A quarter of a minute later nothing is old; then all the rest is. */
    hand = keep_hand(p);
    assert_int_equal(sweep_once(p, second, a_minute_old, &more), 0);
    assert_false(more);
    assert_int_equal(keep_hand(p), hand);
    pawl_sweep later   = a_minute_old;
    later.inbox_before = NOW;
    assert_int_equal(sweep_rounds(p, first, later, 1), 15000);
}

/* Thousands of pages with an old mark here and there: a sweep stops on its way, says that there is more, and the next
 * one goes on from there. */
ON_FIXTURE(a_walk_that_stops_on_its_way_is_gone_on_with, fixture *p)
{
    bool        more  = false;
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg,
            "insert into pawl_inbox (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
            "select rpad('orders', 200, 'x'), rpad(n::text, 200, 'x'), 'handled', "
            "timestamptz '2026-01-01 00:00:00Z' - interval '90 seconds' * (n % 400 = 0)::int "
            "from generate_series(1, 40000) as n");
    assert_true(raw_number(p->pg, "select pg_relation_size('pawl_inbox') / 8192") > 2100);
    int64_t found = sweep_once(p, store, a_minute_old, &more);
    assert_in_range(found, 30, 99);
    assert_true(more);
    int64_t hand = keep_hand(p);
    assert_in_range(hand, 900, 1023);
    assert_in_range(sweep_once(p, store, a_minute_old, &more), 30, 99 - found);
    assert_true(more);
    assert_in_range(keep_hand(p), 1900, 2047);
    (void)sweep_rounds(p, store, a_minute_old, 1);
    assert_int_equal(mark_count(p, IS_OLD), 0);
}

/* Far from the hand, few or many: found by the strolls. */
ON_FIXTURE(marks_out_of_order_go_too, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_marks(p, 10000, 10);
    add_marks(p, 5, 90);
    add_marks(p, 10000, 10);
    add_marks(p, 5000, 90);
    add_marks(p, 10000, 10);
    assert_int_equal(sweep_rounds(p, store, a_minute_old, 1), 0);
    assert_int_equal(sweep_rounds(p, store, a_minute_old, 12), 5005);
    assert_int_equal(mark_count(p, IS_OLD), 0);
    assert_int_equal(mark_count(p, "true"), 30000);
}

/* After a `vacuum full` the hand may be far before the old marks, and strolls have to reach them within hours, however
 * large the table is: a stroll goes through more than its least number of pages. */
ON_FIXTURE(a_round_of_strolls_is_not_longer_with_the_table, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg, "insert into pawl_inbox (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
                   "select rpad('orders', 200, 'x'), rpad(n::text, 200, 'x'), 'handled', "
                   "timestamptz '2026-01-01 00:00:00Z' - interval '90 seconds' * (n > 39990)::int "
                   "from generate_series(1, 40000) as n");
    raw_run(p->pg, "insert into pawl_leases (\"Name\", \"Process\", \"Pid\", \"Epoch\", "
                   "\"Expires\") values ('sweep:', 100, 0, 0, 'epoch')");
    int64_t pages = raw_number(p->pg, "select pg_relation_size('pawl_inbox') / 8192");
    assert_in_range(pages, 2100, 2600);
    /* A sweep that leaves more of the outbox is soon followed by another one. */
    pawl_sweep both    = a_minute_old;
    bool       more    = false;
    both.outbox_before = NOW;
    both.count_max     = 1;
    raw_run(p->pg,
            "insert into pawl_outbox (\"DispatchId\", \"State\", \"Attempts\", \"NextAttempt\", "
            "\"Due\", \"At\", \"DispatchedAt\", \"Source\", \"Version\", \"Index\", \"Endpoint\", "
            "\"Destination\", \"AttemptsBefore\", \"MessageId\", \"Type\", \"CorrelationId\", "
            "\"CausationId\", \"Headers\", \"Body\") select gen_random_uuid(), 'dispatched', 1, t, "
            "t, t, t, '', 1, 0, 'orders', 'billing', 0, '', 'ping', '', '', '', '' "
            "from (select timestamptz '2025-12-31 00:00:00Z' as t) as x");
    assert_int_equal(sweep_once(p, store, both, &more), 1);
    assert_int_equal(
        raw_number(p->pg, "select \"Epoch\" from pawl_leases where \"Name\" = 'sweep:'"), 64);
    assert_int_equal(
        sweep_rounds(p, store, a_minute_old, (unsigned)(pages / (64 + pages / 96)) + 1), 10);
}

/* The table became smaller behind the hand. */
ON_FIXTURE(a_hand_past_the_end_begins_again, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    add_marks(p, 100, 90);
    raw_run(p->pg, "insert into pawl_leases (\"Name\", \"Process\", \"Pid\", \"Epoch\", "
                   "\"Expires\") values ('sweep:', 5000, 0, 7000, 'epoch')");
    assert_int_equal(sweep_rounds(p, store, a_minute_old, 1), 100);
    raw_run(p->pg, "truncate pawl_inbox");
    assert_int_equal(sweep_rounds(p, store, a_minute_old, 1), 0);
}

/* A mark that a transaction holds is left for the next time. */
ON_FIXTURE(a_held_mark_is_passed_over, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    bool        more  = true;
    add_marks(p, 10, 90);
    raw_run(p->pg, "begin; select 1 from pawl_inbox limit 3 for update");
    assert_int_equal(sweep_once(p, store, a_minute_old, &more), 7);
    raw_run(p->pg, "rollback");
    assert_int_equal(sweep_once(p, store, a_minute_old, &more), 3);
    assert_false(more);
}

/* In a process of its own: sweeps, and says with its exit code what it deleted. */
static pid_t start_sweep(fixture *p)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pawl_store *store = NULL;
        int64_t     count = 0;
        bool        more;
        pawl_code   code = open_with(p, p->url, NULL, 0, &store);
        if (code == PAWL_OK)
            code = pawl_store_sweep(store, &a_minute_old, &count, &more, &p->error);
        if (code != PAWL_OK)
            fprintf(stderr, "child: %s\n", p->error.text);
        _exit(code == PAWL_OK ? (int)count : 99);
    }
    return child;
}

/* The sweep's lock is taken without waiting: while one worker sweeps, another leaves it to that
 * one, which stands still where it writes down how far it came. */
ON_FIXTURE(one_worker_sweeps_at_a_time, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    bool        more  = true;
    int         status;
    add_marks(p, 10000, 10);
    add_marks(p, 10, 90);
    raw_run(p->pg, "insert into pawl_leases (\"Name\", \"Process\", \"Pid\", \"Epoch\", "
                   "\"Expires\") values ('sweep:', 100, 0, 0, 'epoch')");
    raw_run(p->pg, "begin; select 1 from pawl_leases for update");
    pid_t child = start_sweep(p);
    raw_wait(p->pg,
             test_text("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                       "and query like 'insert into \"%s\"%%leases%%'",
                       p->schema),
             1);
    assert_int_equal(sweep_once(p, store, a_minute_old, &more), 0);
    assert_false(more);
    raw_run(p->pg, "commit");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 10);
    assert_int_equal(mark_count(p, "true"), 10000);
}

/* ---- Due times ---------------------------------------------------------- */

static pawl_next_due next_of(fixture *p, pawl_store *store)
{
    static const pawl_text aggregators[] = {PAWL_TEXT_INIT("stock"), PAWL_TEXT_INIT("prices")};
    pawl_next_due          next          = {0};
    ok(p, pawl_store_next_due(store, TEXT("orders"), aggregators, 2, &next, &p->error));
    return next;
}

/* Rows in hand are left out, this handle's and those of others; looking leaves no
 * lock behind. */
ON_FIXTURE(rows_in_hand_are_not_due, fixture *p)
{
    pawl_store *first = open_store(p, p->url), *second = open_store(p, p->url);
    raw_run(p->pg, "select pawl_send('orders', 'ping', '', due => timestamptz "
                   "'2026-01-01 00:00:00Z' + interval '1 second' * n) "
                   "from generate_series(1, 3) as n");
    assert_int_equal(next_of(p, first).queue, NOW + PAWL_SECONDS(1));
    assert_int_equal(claim_some(p, first, "orders", NOW + PAWL_SECONDS(9), 1).count, 1);
    assert_int_equal(next_of(p, first).queue, NOW + PAWL_SECONDS(2));
    assert_int_equal(next_of(p, second).queue, NOW + PAWL_SECONDS(2));
    assert_int_equal(claim_some(p, second, "orders", NOW + PAWL_SECONDS(9), 9).count, 2);
    assert_int_equal(next_of(p, first).queue, PAWL_TIME_MAX);
    assert_int_equal(next_of(p, second).queue, PAWL_TIME_MAX);
    test_now(second);
    assert_int_equal(next_of(p, first).queue, NOW + PAWL_SECONDS(2));
}

ON_FIXTURE(flushes_and_timeouts_are_due, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    raw_run(p->pg, "insert into pawl_aggregator_flush values "
                   "('stock/a', 'stock', '2026-01-01 00:00:09Z', 0, 0, ''), "
                   "('prices', 'prices', '2026-01-01 00:00:07Z', 0, 0, ''), "
                   "('stock/b', 'stock', '2026-01-01 00:00:05Z', 0, 1, 'dead'), "
                   "('other', 'other', '2026-01-01 00:00:01Z', 0, 0, '')");
    raw_run(p->pg, "insert into pawl_timeouts select gen_random_uuid(), 1, null, '', 'n' || n, d, "
                   "timestamptz '2026-01-01 00:00:00Z' + interval '1 second' * n, 0, o, "
                   "null, null, '', '' from (values (3, 'orders', gen_random_uuid()), "
                   "(4, 'orders', null), (2, 'billing', null)) as v (n, d, o)");
    pawl_next_due next = next_of(p, store);
    assert_int_equal(next.flush, NOW + PAWL_SECONDS(7));
    assert_int_equal(next.timeout, NOW + PAWL_SECONDS(4));
    assert_int_equal(next.queue, PAWL_TIME_MAX);
}

/* Another program set it and notified nobody: this handle did not sleep yet. */
ON_FIXTURE(a_timeout_that_came_since_the_claim_ends_a_wait, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    for (int due_s = 0; due_s <= 60; due_s += 60) { /* a second one is not due yet: it ends none */
        assert_int_equal(claim_some(p, store, "orders", NOW, 9).count, 0);
        raw_run(p->pg, "delete from pawl_timeouts");
        raw_run(
            p->pg,
            test_text(
                "insert into pawl_timeouts select gen_random_uuid(), 1, null, '', '', 'orders', "
                "timestamptz '2026-01-01 00:00:00Z' + interval '1 second' * %d, 0, null, null, "
                "null, '', ''",
                due_s));
        int64_t begun = clock_ms();
        ok(p, pawl_store_wait(store, due_s == 0 ? 20000000 : 300000, -1, &p->error));
        if (due_s == 0)
            assert_true(clock_ms() - begun < 10000);
        else
            assert_true(clock_ms() - begun >= 300);
    }
}
