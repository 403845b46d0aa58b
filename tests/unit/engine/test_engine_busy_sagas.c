/* test_engine_busy_sagas.c - messages and timeouts whose saga another worker has:
 * put back, uncounted, whatever finds the saga. S32, E3, E7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hot.h"
#include "support/locks.h"
#include "support/native.h"

#include "runtime/runtime.h"
#include "runtime/worker/worker.h"

#define WAIT PAWL_MILLISECONDS(20)

/* ---- In other hands ----------------------------------------------------------------------- */

ON_ALL_STORES(s32_what_others_have_is_put_back_uncounted, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    pawl_counters before = world_stats(it).counters;
    hot_bump(it, "a");
    hot_bump(it, "b");
    hot_bump(it, "a");
    pawl_queue_rows posted = world_queue(it, "desk");
    pawl_step       step   = world_step(it);
    assert_string_equal(hot_seen.text, "bump(b) ");
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 0);
    assert_int_equal(step.dead, 0);
    assert_int_equal(world_stats(it).counters.messages, before.messages + 1);
    assert_int_equal(world_stats(it).counters.conflicts, before.conflicts);
    assert_int_equal(world_stats(it).counters.failures, before.failures);
    pawl_queue_rows rows = world_queue(it, "desk");
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const pawl_queue_row *was = &posted.items[2 * i];
        assert_int_equal(rows.items[i].seq, was->seq);
        assert_int_equal(rows.items[i].placed, was->placed);
        assert_int_equal(rows.items[i].due, WORLD_START + WAIT);
        assert_int_equal(rows.items[i].attempts, 0);
        assert_int_equal(rows.items[i].crashes, 0);
        assert_int_equal(rows.items[i].waiting_since, 0);
    }
    /* Not before its time, and then like any other. */
    locks_hold(NULL);
    assert_int_equal(world_go(it, WAIT - 1).handled, 0);
    assert_int_equal(world_go(it, 1).handled, 2);
    assert_int_equal(hot_count(it, "a"), 4);
}

ON_ALL_STORES(what_was_counted_stays_counted, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    hot_fails = 1;
    hot_bump(it, "a");
    world_drain(it);
    assert_int_equal(world_queue(it, "desk").items[0].attempts, 1);
    locks_hold("a");
    pawl_clock_set(it->business, world_now(it) + PAWL_SECONDS(1));
    hot_bump(it, "b");
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(world_queue_row(it, "desk").attempts, 1);
    locks_hold(NULL);
    assert_int_equal(world_go(it, PAWL_SECONDS(1)).handled, 1);
}

ON_ALL_STORES(a_batch_of_nothing_else_writes_nothing, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    for (int i = 0; i < 3; i++)
        hot_bump(it, "a");
    locks_counts before = locks_counted();
    pawl_step    step   = world_step(it);
    assert_int_equal(step.handled, 0);
    assert_int_equal(step.refused, 0);
    assert_true(step.is_idle);
    assert_int_equal(step.next_due, WORLD_START + WAIT);
    assert_int_equal(locks_counted().commits, before.commits);
    assert_int_equal(locks_counted().releases, before.releases + 1);
    assert_int_equal(locks_counted().elsewhere, before.elsewhere + 1);
    pawl_queue_rows rows = world_queue(it, "desk");
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rows.items[i].due, WORLD_START);
    /* The claims are free, and a virtual clock knows no pause. */
    locks_hold(NULL);
    assert_int_equal(world_step(it).handled, 3);
    assert_string_equal(hot_seen.text, "bump(a) bump(a) bump(a) ");
}

/* The message that runs alone after two conflicts gives way as well. */
ON_ALL_STORES(a_unit_alone_gives_way, const char *url)
{
    world *it         = hot_open(url);
    hot_meddlings     = 2;
    hot_is_taken_then = true;
    hot_bump(it, "a");
    locks_counts before = locks_counted();
    pawl_step    step   = world_step(it);
    assert_string_equal(hot_seen.text, "bump(a) meddled bump(a) meddled ");
    assert_int_equal(step.refused, 2);
    assert_int_equal(step.handled, 0);
    assert_int_equal(locks_counted().elsewhere, before.elsewhere + 1);
    assert_int_equal(world_stats(it).counters.conflicts, 2);
    assert_int_equal(world_stats(it).counters.messages, 2);
    assert_int_equal(world_queue_row(it, "desk").due, WORLD_START);
    locks_hold(NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(hot_count(it, "a"), 2);
}

/* ---- Which worker goes on -------------------------------------------------------------------------- */

/* Of a batch of hot sagas the worker goes on that has the most wanted one, or more than half. */
ON_ALL_STORES(s32_hot_sagas_go_to_the_worker_that_has_most, const char *url)
{
    static const struct {
        const char *hot, *held, *posted, *runs;
    } rows[] = {
        {"ab", "a", "aab", ""},
        {"ab", "a", "baab", ""},
        {"ab", "a", "abb", "bump(b) bump(b) "},
        {"ab", "a", "aabd", "bump(b) bump(d) "}, /* d is not hot */
        {"a", "a", "aab", "bump(b) "},
        {"abcd", "a", "aabcd", "bump(b) bump(c) bump(d) "},    /* more than half */
        {"abc", "a c", "aaccbbb", "bump(b) bump(b) bump(b) "}, /* b is the most wanted */
        {"abc", "a c", "aacccbb", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world *it = hot_open(url);
        hot_bump(it, "c");
        hot_bump(it, "d");
        world_drain(it);
        hot_make_each(it, rows[i].hot);
        locks_hold(rows[i].held);
        for (const char *at = rows[i].posted; *at != '\0'; at++)
            hot_bump(it, (char[]){*at, '\0'});
        locks_counts before = locks_counted();
        pawl_step    step   = world_step(it);
        assert_string_equal(hot_seen.text, rows[i].runs);
        size_t left = strlen(rows[i].posted) - (size_t)step.handled;
        assert_int_equal(world_queue(it, "desk").count, left);
        assert_int_equal(locks_counted().commits - before.commits, rows[i].runs[0] != '\0');
        locks_hold(NULL);
        assert_int_equal(world_go(it, WAIT).handled, left);
        world_close(it);
    }
}

/* An ordered endpoint works on other keys, whatever saga the most messages are for. */
ON_ALL_STORES(s32_an_ordered_endpoint_goes_on_with_other_keys, const char *url)
{
    world *it = hot_open_on(locks_url(url), "property:name");
    hot_make_each(it, "ab");
    locks_hold("a");
    for (const char *at = "aab"; *at != '\0'; at++)
        hot_bump(it, (char[]){*at, '\0'});
    assert_int_equal(world_step(it).handled, 1);
    assert_string_equal(hot_seen.text, "bump(b) ");
    locks_hold(NULL);
    assert_int_equal(world_go(it, WAIT).handled, 2);
    assert_string_equal(hot_seen.text, "bump(b) bump(a) bump(a) ");
}

/* Between processes a worker that keeps giving way comes less and less often. With the sagas it has whole batches at
 * once, and its pauses become short again one by one: it may lose them soon. */
ON_ALL_STORES(s32_a_worker_without_its_hot_sagas_asks_less_often, const char *url)
{
    world        *it     = hot_open(url);
    pawl__worker *worker = it->endpoint->worker;
    hot_make(it);
    size_t whole = worker->claim_count;
    locks_hold("a");
    hot_bump(it, "a");
    for (int32_t i = 1; i <= 8; i++) {
        world_step(it);
        assert_int_equal(worker->busy_pauses, i < 5 ? i : 5);
        assert_int_equal(worker->claim_count, i <= 5 ? 4 << i : (int)whole);
    }
    assert_true(whole > 128);
    for (int32_t i = 4; i >= 0; i--) {
        locks_hold(NULL);
        if (i < 4)
            hot_bump(it, "a");
        assert_int_equal(world_step(it).handled, 1);
        assert_int_equal(worker->busy_pauses, i);
    }
    locks_hold("a");
    hot_bump(it, "a");
    world_step(it);
    assert_int_equal(worker->claim_count, 8);
    locks_hold(NULL);
    assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(worker->claim_count, whole);
    world_go_machine(it, PAWL_MINUTES(2)); /* "a" is hot no longer */
    worker->busy_pauses = 3;
    hot_bump(it, "a");
    assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(worker->busy_pauses, 0);
}

/* ---- Other ways to a saga --------------------------------------------------------------------- */

ON_ALL_STORES(a_timeout_is_put_back_uncounted, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    hot_set_timeout(it, hot_counter_id, WORLD_START + PAWL_SECONDS(1));
    locks_hold("a");
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(2));
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(2),
                  PAWL_MESSAGE(bump, .name = PAWL_TEXT("b"), .number = 'b'));
    locks_loads();
    pawl_step step = world_step(it);
    assert_int_equal(step.handled, 1);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) Counter:id:skip(1) ");
    pawl_timeout_rows rows = world_timeouts(it);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].due, WORLD_START + PAWL_SECONDS(1) + WAIT);
    assert_int_equal(rows.items[0].attempts, 0);
    assert_true(pawl_uuid_is_zero(rows.items[0].owner.uuid));
    /* With nothing else in the batch it is only set free. */
    step = world_step(it);
    assert_true(step.is_idle);
    rows = world_timeouts(it);
    assert_int_equal(rows.items[0].due, WORLD_START + PAWL_SECONDS(1) + WAIT);
    assert_true(pawl_uuid_is_zero(rows.items[0].owner.uuid));
    assert_string_equal(hot_seen.text, "bump(b) ");
    locks_hold(NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(hot_seen.text, "bump(b) ring(a) ");
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(an_answer_is_put_back_uncounted, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    hot_answer(it, hot_counter_id);
    hot_bump(it, "b");
    locks_loads();
    assert_int_equal(world_step(it).handled, 1);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) Counter:id:skip(1) ");
    pawl_queue_row rows = world_queue_row(it, "desk");
    assert_int_equal(rows.due, WORLD_START + WAIT);
    assert_int_equal(rows.attempts, 0);
    assert_int_equal(rows.waiting_since, 0);
    locks_hold(NULL);
    assert_int_equal(world_go(it, WAIT).handled, 1);
    assert_string_equal(hot_seen.text, "bump(b) no(a) ");
}

/* Found by its value, its transitional value and its id in one batch: all wait. */
ON_ALL_STORES(nothing_of_a_saga_runs_however_it_is_found, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    hot_set_timeout(it, hot_counter_id, WORLD_START);
    locks_hold("a");
    hot_bump(it, "b");
    hot_touch(it, "unknown", 'a');
    hot_touch(it, "a", 0);
    pawl_step step = world_step(it);
    assert_string_equal(hot_seen.text, "bump(b) ");
    assert_int_equal(step.handled, 1);
    assert_int_equal(world_queue(it, "desk").count, 2);
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_dead(it).count, 0);
    locks_hold(NULL);
    step = world_go(it, WAIT);
    assert_int_equal(step.handled, 3);
    assert_int_equal(hot_count(it, "a"), 5);
}

/* "c" has the number that "a" had when it conflicted: it is locked by that, and
 * left, though its own value is read without a lock. */
ON_ALL_STORES(a_row_that_one_key_finds_busy_is_left_by_all, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_post(it, NULL, PAWL_MESSAGE(bump, .name = PAWL_TEXT("a"), .number = 500));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(bump, .name = PAWL_TEXT("c"), .number = 'a'));
    world_drain(it);
    world_forget(&hot_seen);
    hot_set_timeout(it, hot_counter_id, WORLD_START);
    locks_hold("c");
    hot_touch(it, "unknown", 'a');
    hot_touch(it, "c", 0);
    hot_bump(it, "b");
    assert_int_equal(world_step(it).handled, 1);
    assert_string_equal(hot_seen.text, "bump(b) ");
    assert_int_equal(world_queue(it, "desk").count, 2);
    assert_int_equal(world_timeouts(it).count, 1);
    locks_hold(NULL);
    assert_int_equal(world_go(it, WAIT).handled, 3);
    assert_int_equal(hot_count(it, "c"), 4);
}

ON_ALL_STORES(a_saga_found_by_a_handler_is_left_too, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    world_post(it, NULL, PAWL_MESSAGE(found, .name = PAWL_TEXT("x")));
    locks_counts before = locks_counted();
    pawl_step    step   = world_step(it);
    assert_true(step.is_idle);
    assert_string_equal(locks_loads(), "Counter:id:skip(1) ");
    assert_int_equal(locks_counted().commits, before.commits);
    assert_string_equal(hot_seen.text, "");
    assert_int_equal(world_stats(it).counters.failures, 0);
    locks_hold(NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(hot_seen.text, "found(a) ");
}

/* A message that could begin a saga finds the one that its finder names, in another worker's
 * hands. */
ON_ALL_STORES(e30_a_starter_begins_nothing_beside_a_saga_that_is_elsewhere, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    int64_t before = world_saga_count(it, "Counter");
    locks_hold("a");
    world_post(it, NULL, PAWL_MESSAGE(begin_found, .name = PAWL_TEXT("x")));
    assert_true(world_step(it).is_idle);
    assert_string_equal(hot_seen.text, "");
    assert_int_equal(world_saga_count(it, "Counter"), before);
    assert_int_equal(world_queue(it, "desk").count, 1);
    locks_hold(NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(hot_seen.text, "begin(a) ");
    assert_int_equal(world_saga_count(it, "Counter"), before);
}

/* Its finder names none, and the message's value is that of a saga in another worker's hands. */
ON_ALL_STORES(e30_a_starter_without_a_find_leaves_the_saga_of_its_value, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    int64_t before = world_saga_count(it, "Counter");
    hot_counter_id = (pawl_saga_id){{{0}}};
    locks_hold("a");
    world_post(it, NULL, PAWL_MESSAGE(begin_found, .name = PAWL_TEXT("a")));
    assert_true(world_step(it).is_idle);
    assert_string_equal(hot_seen.text, "");
    assert_int_equal(world_queue(it, "desk").count, 1);
    locks_hold(NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(hot_seen.text, "begin(a) ");
    assert_int_equal(world_saga_count(it, "Counter"), before);
}

/* The older message was put back and will begin the saga anew: "none" is not
 * final for the later one while it waits. */
ON_ALL_STORES(not_found_waits_for_what_was_put_back, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    hot_bump(it, "a");
    hot_bump(it, "b");
    assert_int_equal(world_step(it).handled, 1);
    locks_hold(NULL);
    hot_delete_a();
    hot_touch(it, "a", 0);
    assert_int_equal(world_step(it).handled, 0);
    assert_int_equal(world_queue(it, "desk").count, 2);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(1)), hot_seen, "bump(b) bump(a) touch(a) ");
    assert_int_equal(hot_count(it, "a"), 2);
}

/* The one that begins "Other" continues a saga of others and is put back in this very
 * batch: who continues "Other" waits. */
ON_ALL_STORES(e3_waits_for_what_its_own_batch_put_back, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("a");
    world_post(it, NULL, PAWL_MESSAGE(both, .name = PAWL_TEXT("a")));
    world_post(it, NULL, PAWL_MESSAGE(nudge, .name = PAWL_TEXT("a")));
    hot_bump(it, "b");
    assert_int_equal(world_step(it).handled, 1);
    assert_string_equal(hot_seen.text, "bump(b) ");
    assert_int_equal(world_queue(it, "desk").count, 2);
    locks_hold(NULL);
    assert_int_equal(world_go_both(it, PAWL_SECONDS(1)).handled, 2);
    assert_string_equal(hot_seen.text, "bump(b) both(a) nudge(a,1) ");
}

/* Another worker claims the only message there is, finds no saga, and puts it back. */
static void wait_since(world *it, pawl_time since)
{
    pawl_store      *store = it->store;
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim claim = {
        .queue = PAWL_TEXT("desk"), .due_max = WORLD_START, .count_max = 1, .now = WORLD_START};
    must(pawl_store_worker_open(store, PAWL_TEXT("desk"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    store->is_attached = true;
    must(pawl_store_queue_claim(store, &claim, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    MUST_COMMIT(store, queue_settle, WORLD_START, .queue = PAWL_TEXT("desk"),
                .seq = rows.items[0].seq, .action = PAWL_QUEUE_RETRY, .due = WORLD_START,
                .waiting_since = since);
}

/* A message waited for its saga, which came and is elsewhere: should it go again, the time that the
 * message may wait counts from the first time. */
ON_ALL_STORES(e3_what_is_put_back_has_waited_since_the_first_time, const char *url)
{
    const pawl_time since = WORLD_START - PAWL_SECONDS(10);
    world          *it    = hot_open(url);
    hot_make(it);
    hot_touch(it, "a", 0);
    wait_since(it, since);
    locks_hold("a");
    hot_bump(it, "b");
    assert_int_equal(world_step(it).handled, 1);
    pawl_queue_row rows = world_queue_row(it, "desk");
    assert_int_equal(rows.waiting_since, since);
    assert_int_equal(rows.due, WORLD_START + WAIT);
    locks_hold(NULL);
}

/* A saga that is declared pessimistic waits for its row, in a batch of one. */
ON_SQL_STORES(s32_a_pessimistic_saga_runs_alone_still, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    for (int i = 0; i < 2; i++)
        world_post(it, NULL, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("s")));
    locks_counts before = locks_counted();
    assert_int_equal(world_drain(it).handled, 2);
    assert_string_equal(locks_loads(), "Safe:main:wait(1) Safe:main:wait(1) ");
    assert_int_equal(locks_counted().commits, before.commits + 2);
}

/* Where no row can be locked, a program that asks for it is told. */
ON_ALL_STORES(s32_a_store_without_row_locks_says_so, const char *url)
{
    test_lines said;
    test_listen(&said, PAWL_LOG_WARNING, "saga Safe says .is_pessimistic");
    world *it = hot_open(url);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
    bool has_sql = (pawl_store_promises(it->store) & PAWL_STORE_HAS_SQL) != 0;
    assert_int_equal(said.count, has_sql ? 0 : 1);
}

/* The id that a finder names is read with its lock, like a key. */
ON_SQL_STORES(s32_a_pessimistic_saga_is_locked_for_a_finder, const char *url)
{
    world *it = hot_open(url);
    world_post(it, NULL, PAWL_MESSAGE(put_in, .name = PAWL_TEXT("s")));
    world_drain(it);
    world_post(it, NULL, PAWL_MESSAGE(take_out, .name = PAWL_TEXT("s")));
    (void)locks_loads();
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(locks_loads(), "Safe:id:wait(1) ");
}
