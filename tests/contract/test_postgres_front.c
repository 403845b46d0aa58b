/* test_postgres_front.c - rows that are due before the front of a queue, where claims on
 * PostgreSQL begin for a while after one from the first row took long. E15.
 *
 * The long claim is pretended: its time is written into the handle's front.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAVE_POSTGRES
#include <stdio.h>

int main(void)
{
    puts("skipped: built without libpq");
    return 77;
}
#else

#include "contract/postgres_ground.h"
#include "store/postgres/postgres.h"

#define PAUSE_MS 60000

static void send_due(ground *p, pawl_store *store, const char *id, pawl_time due)
{
    pawl_queue_send send     = {.queue = TEXT("orders"), .message = message_of(id), .due = due};
    pawl_changes    changes  = {.now = NOW, .group_count = 1, .unit_count = 1};
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_OK);
}

/* One from the first row took 600 ms, `ago_ms` ago by the monotonic clock and by that of the due
 * times, which now shows `now`. */
static void pretend_long_claim(pawl_store *store, int64_t ago_ms, pawl_time now)
{
    pawl__pg_front *front = &pawl__pg_of(store)->fronts[0];
    front->pause_ms       = PAUSE_MS;
    front->whole_ms       = clock_ms() - ago_ms;
    front->whole_due_max  = now - PAWL_MILLISECONDS(ago_ms);
}

/* A queue whose front is at NOW, and a row that is due an hour earlier. */
static pawl_store *open_behind(ground *p)
{
    pawl_store *store = open_store(p, p->url);
    send_due(p, store, "first", NOW);
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    expect_code(p, settle_one(p, store, "orders", rows.items[0].seq), PAWL_OK);
    send_due(p, store, "early", NOW - PAWL_MINUTES(60));
    return store;
}

static void e15_a_row_before_the_front_is_claimed_when_there_is_no_other(void **state)
{
    ground     *p     = *state;
    pawl_store *store = open_behind(p);
    pretend_long_claim(store, PAUSE_MS / 10, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 1);
    pawl_store_close(store);
}

static void e15_a_row_before_the_front_waits_for_a_tenth_of_the_pause(void **state)
{
    ground     *p     = *state;
    pawl_store *store = open_behind(p);
    pretend_long_claim(store, 0, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    pretend_long_claim(store, PAUSE_MS / 10 - 1, NOW);
    int64_t begin = clock_ms();
    expect_code(p, pawl_store_wait(store, PAWL_SECONDS(20), -1, &p->error), PAWL_OK);
    assert_in_range(clock_ms() - begin, 0, 19000);
    pretend_long_claim(store, PAUSE_MS / 10, NOW);
    send_due(p, store, "second", NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
    pawl_store_close(store);
}

static void e15_a_row_before_the_front_waits_for_others_up_to_the_pause(void **state)
{
    ground     *p     = *state;
    pawl_store *store = open_behind(p);
    send_due(p, store, "second", NOW);
    send_due(p, store, "third", NOW);
    pretend_long_claim(store, PAUSE_MS - 1000, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW);
    pretend_long_claim(store, PAUSE_MS, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
    pawl_store_close(store);
}

/* A clock that jumps, stands still or is set back: `moved` is what the due times moved by while the
 * monotonic clock went on for `passed_ms`. */
static void expect_first_row(ground *p, int64_t passed_ms, int64_t moved)
{
    pawl_store *store = open_behind(p);
    send_due(p, store, "second", NOW);
    pretend_long_claim(store, passed_ms, NOW + PAWL_MILLISECONDS(passed_ms) - moved);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
    pawl_store_close(store);
    raw_run(p->pg, "delete from pawl_queue");
}

static void e15_with_a_virtual_clock_claims_begin_with_the_first_row(void **state)
{
    ground *p = *state;
    expect_first_row(p, 0, PAWL_SECONDS(2));
    expect_first_row(p, 0, -PAWL_SECONDS(2));
    expect_first_row(p, 3000, 0);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, ground_setup, ground_teardown)
    const struct CMUnitTest tests[] = {
        CASE(e15_a_row_before_the_front_is_claimed_when_there_is_no_other),
        CASE(e15_a_row_before_the_front_waits_for_a_tenth_of_the_pause),
        CASE(e15_a_row_before_the_front_waits_for_others_up_to_the_pause),
        CASE(e15_with_a_virtual_clock_claims_begin_with_the_first_row),
    };
    if (ground_server() == NULL)
        return ground_skip();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
