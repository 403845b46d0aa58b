/* test_postgres_wake_events.c - NOTIFY of events and of their positions wakes readers of the
 * event store on PostgreSQL, and nobody else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_sleep.h"
#include "support/tests.h"

/* ---- Events ---------------------------------------------------------------------- */

static void expect_events(fixture *p, pawl_store *store, int64_t after, size_t count)
{
    pawl_event_query query = {.is_by_position = true, .after = after};
    pawl_event_rows  rows;
    ok(p, pawl_store_event_list(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, count);
}

static void give_positions(fixture *p, pawl_store *store, int64_t expected)
{
    int64_t count = -1;
    ok(p, pawl_store_event_number(store, 100, &count, &p->error));
    assert_int_equal(count, expected);
}

/* A handle that sleeps for the event store, and whose locks are taken. */
static pawl_store *open_reader(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    expect_events(p, store, 0, 0);
    sleep_briefly(p, store);
    return store;
}

static pawl_store *open_other(fixture *p)
{
    pawl_store *store = NULL;
    ok(p, open_with(p, p->url, order_tables, 1, &store));
    return store;
}

/* ---- Waking ------------------------------------------------------------------------ */

ON_FIXTURE(events_and_their_positions_wake_a_reader, fixture *p)
{
    pawl_store *reader = open_reader(p), *other = open_other(p);
    sleeper     it;
    lie_down(&it, reader);
    append_event(p, other, 1);
    expect_woken(&it);
    expect_events(p, reader, 0, 0);
    lie_down(&it, reader);
    give_positions(p, other, 1);
    expect_woken(&it);
    expect_events(p, reader, 0, 1);
    /* A call ends one wait, whatever was done since. */
    expect_sleeps_on(p, reader);
}

/* Committed before the reader had the lock that makes others call it. */
ON_FIXTURE(no_event_is_slept_through, fixture *p)
{
    pawl_store *reader = open_store(p, p->url), *other = open_other(p);
    expect_events(p, reader, 0, 0);
    append_event(p, other, 1);
    expect_does_not_sleep(p, reader);
    expect_sleeps_on(p, reader);
    test_now(reader);
    reader = open_store(p, p->url);
    expect_events(p, reader, 0, 0);
    give_positions(p, other, 1);
    expect_does_not_sleep(p, reader);
    test_now(reader);
    reader = open_store(p, p->url);
    expect_events(p, reader, 0, 1);
    expect_sleeps_on(p, reader);
}

/* A handle that sleeps for a queue begins to read the event store. */
ON_FIXTURE(what_it_sleeps_for_may_grow, fixture *p)
{
    pawl_store *store = open_sleeper(p, "orders"), *other = open_other(p);
    sleeper     it;
    expect_events(p, store, 0, 0);
    sleep_briefly(p, store);
    assert_int_equal(pawl__pg_of(store)->sleep_lock_count, 2);
    lie_down(&it, store);
    append_event(p, other, 1);
    expect_woken(&it);
}

ON_FIXTURE(others_are_not_called, fixture *p)
{
    pawl_store      *worker = open_sleeper(p, "orders");
    pawl_store      *reader = open_reader(p), *other = open_other(p);
    pawl_event_query query = {.stream = TEXT("A/1")};
    pawl_event_rows  rows;
    append_event(p, other, 1);
    give_positions(p, other, 1);
    find_nothing(p, worker, "orders");
    expect_sleeps_on(p, worker);
    expect_does_not_sleep(p, reader);
    expect_events(p, reader, 0, 1);
    raw_run(p->pg, "select pawl_send('orders', 'ping', '')");
    expect_sleeps_on(p, reader);
    /* Nothing was given a position: nobody is told. */
    give_positions(p, other, 0);
    expect_sleeps_on(p, reader);
    /* A look at one stream is no reading of the event store. */
    ok(p, pawl_store_event_list(other, &query, p->arena, &rows, &p->error));
    sleep_briefly(p, other);
    assert_false(pawl__pg_of(other)->sleeps);
}

/* The positions are committed before. */
ON_FIXTURE(positions_are_given_where_notify_is_refused, fixture *p)
{
    test_lines  h;
    pawl_store *reader = open_reader(p), *other = open_unheard(p);
    append_event(p, reader, 1);
    test_listen(&h, PAWL_LOG_WARNING, "NOTIFY after a commit failed");
    give_positions(p, other, 1);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "too many notifications in the queue [54000]"));
    expect_events(p, reader, 0, 1);
}

ON_FIXTURE(positions_are_given_where_notify_fails_at_its_end, fixture *p)
{
    test_lines  h;
    pawl_store *reader = open_reader(p), *other = open_unheard_at_end(p);
    test_listen(&h, PAWL_LOG_WARNING, "NOTIFY after a commit failed");
    for (int i = 1; i <= 2; i++) {
        append_event(p, reader, i);
        give_positions(p, other, 1);
    }
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "gate_is_full"));
    expect_events(p, reader, 0, 2);
}
