/* test_postgres_front.c - rows that are due before the front of a queue, where claims on
 * PostgreSQL begin for a while after one from the first row took long. E15.
 *
 * The long claim is pretended: its time is written into the handle's front.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_fixture.h"
#include "store/postgres/postgres.h"
#include "support/tests.h"

#define PAUSE_MS 60000

static void send_due(fixture *p, pawl_store *store, const char *id, pawl_time due)
{
    COMMIT_OK(p, store, queue_send, NOW, .queue = TEXT("orders"), .message = message_of(id),
              .due = due);
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
static pawl_store *open_behind(fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    send_due(p, store, "first", NOW);
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    send_due(p, store, "early", NOW - PAWL_MINUTES(60));
    return store;
}

ON_FIXTURE(e15_a_row_before_the_front_is_claimed_when_there_is_no_other, fixture *p)
{
    pawl_store *store = open_behind(p);
    pretend_long_claim(store, PAUSE_MS / 10, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 1);
}

ON_FIXTURE(e15_a_row_before_the_front_waits_for_a_tenth_of_the_pause, fixture *p)
{
    pawl_store *store = open_behind(p);
    pretend_long_claim(store, 0, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    pretend_long_claim(store, PAUSE_MS / 10 - 1, NOW);
    int64_t begin = clock_ms();
    ok(p, pawl_store_wait(store, PAWL_SECONDS(20), -1, &p->error));
    assert_in_range(clock_ms() - begin, 0, 19000);
    pretend_long_claim(store, PAUSE_MS / 10, NOW);
    send_due(p, store, "second", NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
}

ON_FIXTURE(e15_a_row_before_the_front_waits_for_others_up_to_the_pause, fixture *p)
{
    pawl_store *store = open_behind(p);
    send_due(p, store, "second", NOW);
    send_due(p, store, "third", NOW);
    pretend_long_claim(store, PAUSE_MS - 1000, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW);
    pretend_long_claim(store, PAUSE_MS, NOW);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
}

/* A clock that jumps, stands still or is set back: `moved` is what the due times moved by while the
 * monotonic clock went on for `passed_ms`. */
static void expect_first_row(fixture *p, int64_t passed_ms, int64_t moved)
{
    pawl_store *store = open_behind(p);
    send_due(p, store, "second", NOW);
    pretend_long_claim(store, passed_ms, NOW + PAWL_MILLISECONDS(passed_ms) - moved);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).items[0].due, NOW - PAWL_MINUTES(60));
    test_now(store);
    raw_run(p->pg, "delete from pawl_queue");
}

ON_FIXTURE(e15_with_a_virtual_clock_claims_begin_with_the_first_row, fixture *p)
{
    expect_first_row(p, 0, PAWL_SECONDS(2));
    expect_first_row(p, 0, -PAWL_SECONDS(2));
    expect_first_row(p, 3000, 0);
}

/* ---- The front of the outbox -------------------------------------------------- */

typedef struct step {
    const char *what;
    int64_t     now;     /* seconds behind NOW */
    int64_t     start;   /* expected */
    int64_t     waiting; /* found; 0: none waits */
    int64_t     later;   /* seconds */
} step;

static const step steps[] = {
    {"the whole", 0, 0, 10, 100},
    {"from the horizon, nothing waits there", 1, 50, 0, 0},
    {"rows that wait longer", 2, 50, 60, 200},
    {"rows that wait less long", 3, 50, 70, 20},
    {"none is due", 19, 50, 0, 0},
    {"the last ones are due: from the first of all", 20, 10, 10, 100},
    {"they are forgotten, the others are not", 21, 50, 0, 0},
    {"the first is due", 100, 10, 60, 200},
    {"from the horizon, before all that wait", 101, 50, 55, 150},
    {"nothing waits before the horizon", 150, 50, 60, 200},
    {"the clock was set back", -50, 50, 60, 200},
    {"all are gone", 200, 50, 0, 0},
    {"nothing waits", 300, 50, 0, 0},
};

typedef void begin_fn(pawl__pg_outbox_front *, pawl_text, pawl_time, pawl__pg_outbox_scan *);
typedef void end_fn(pawl__pg_outbox_front *, const pawl__pg_outbox_scan *);

/* Rows before the front wait: the next claim goes back to them when the first of all that were seen is due, and
 * forgets none because of those that came later. */
TEST(rows_that_were_passed_over_are_gone_back_to)
{
    pawl__pg_outbox_front front  = {.is_claimed = false};
    void                 *module = test_module("postgres");
    begin_fn             *begin;
    end_fn               *end;
    *(void **)&begin = test_symbol(module, "pawl__pg_outbox_front_begin");
    *(void **)&end   = test_symbol(module, "pawl__pg_outbox_front_end");
    for (size_t i = 0; i < COUNT(steps); i++) {
        pawl__pg_outbox_scan scan = {.sight = {.limit = INT64_MAX}};
        begin(&front, TEXT("orders"), NOW + PAWL_SECONDS(steps[i].now), &scan);
        if (scan.start != steps[i].start)
            fail_msg("%s: begins at %lld, expected %lld", steps[i].what, (long long)scan.start,
                     (long long)steps[i].start);
        scan.waiting = steps[i].waiting != 0 ? steps[i].waiting : INT64_MAX;
        scan.later   = steps[i].waiting != 0 ? NOW + PAWL_SECONDS(steps[i].later) : PAWL_TIME_MAX;
        end(&front, &scan);
        front.pause_ms     = PAUSE_MS; /* as after a claim from the first row that took long */
        front.whole_ms     = clock_ms();
        front.horizon.from = 50;
    }
}
