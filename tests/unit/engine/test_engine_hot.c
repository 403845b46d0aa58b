/* test_engine_hot.c - sagas that conflict often are loaded with a row lock, for a
 * while. S9, E7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hot.h"
#include "support/locks.h"

/* ---- Becoming hot ------------------------------------------------------------------------ */

ON_ALL_STORES_IN_TIME(s9_two_conflicts_lock_the_third_load, const char *url)
{
    world *it     = hot_open(url);
    hot_meddlings = 2;
    hot_bump(it, "a");
    pawl_step step = world_drain(it);
    assert_string_equal(hot_seen.text, "bump(a) meddled bump(a) meddled bump(a) ");
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 2);
    assert_int_equal(world_stats(it).counters.conflicts, 2);
    assert_int_equal(hot_count(it, "a"), 2);
    locks_loads();
    /* A saga that is not hot is locked beside it. */
    hot_bump(it, "a");
    hot_bump(it, "b");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:skip(2) ");
}

ON_ALL_STORES_IN_TIME(the_lock_is_taken_when_a_unit_runs_alone, const char *url)
{
    world *it = hot_open(url);
    /* The second conflict meets the unit alone, and so does the lock. */
    hot_meddlings = 2;
    hot_bump(it, "a");
    world_step(it);
    const char *loads = locks_loads();
    assert_string_equal(strstr(loads, "Counter:main:skip"), "Counter:main:skip(1) ");
    assert_int_equal(hot_count(it, "a"), 2);
}

ON_ALL_STORES_IN_TIME(conflicts_far_apart_lock_nothing, const char *url)
{
    world *it = hot_open(url);
    for (int i = 0; i < 3; i++) {
        hot_meddlings = 1;
        hot_bump(it, "a");
        assert_int_equal(world_drain(it).refused, 1);
        assert_null(strstr(locks_loads(), "skip"));
        world_go_machine(it, PAWL_SECONDS(61));
    }
}

/* Three units of one group: that is more than one conflict, and they are better
 * claimed again than run one by one. */
ON_ALL_STORES_IN_TIME(a_refused_batch_is_claimed_again_with_the_lock, const char *url)
{
    world *it = hot_open(url);
    for (int i = 0; i < 3; i++)
        hot_bump(it, "a");
    hot_meddlings  = 1;
    pawl_step step = world_step(it);
    assert_int_equal(step.refused, 3);
    assert_int_equal(step.handled, 0);
    assert_false(step.is_idle);
    /* The claims are free, and what the refused commit counted is taken back. */
    assert_int_equal(world_stats(it).counters.conflicts, 3);
    assert_int_equal(world_stats(it).counters.messages, 2);
    assert_int_equal(world_queue(it, "desk").count, 3);
    locks_loads();
    step = world_step(it);
    assert_int_equal(step.handled, 3);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
    assert_int_equal(hot_count(it, "a"), 4);
    assert_int_equal(world_stats(it).counters.conflicts, 3);
    assert_int_equal(world_stats(it).counters.messages, 5);
    assert_int_equal(world_queue(it, "desk").count, 0);
}

/* Another worker was faster with one message of a group: it may have any of them by
 * now, and what it left is claimed again with it, as a batch. */
ON_ALL_STORES_IN_TIME(e7_a_group_that_lost_a_claim_is_claimed_again, const char *url)
{
    world *it = hot_open(url);
    for (int i = 0; i < 3; i++)
        hot_bump(it, "a");
    locks_lose();
    pawl_step step = world_step(it);
    assert_int_equal(step.refused, 3);
    assert_int_equal(step.handled, 0);
    assert_int_equal(hot_count(it, "a"), 1);
    assert_int_equal(world_queue(it, "desk").count, 3);
    locks_counts before = locks_counted();
    assert_int_equal(world_step(it).handled, 3);
    assert_int_equal(locks_counted().commits, before.commits + 1);
    assert_int_equal(hot_count(it, "a"), 4);
    assert_int_equal(world_stats(it).counters.messages, 5);
}

/* Nothing is left to run again, and so no commit follows that would correct the counts. */
ON_ALL_STORES_IN_TIME(counts_are_right_when_all_claims_were_lost, const char *url)
{
    world        *it     = hot_open(url);
    pawl_counters before = world_stats(it).counters;
    for (int i = 0; i < 3; i++)
        hot_bump(it, "a");
    locks_lose_all();
    pawl_step step = world_step(it);
    assert_int_equal(step.refused, 3);
    assert_int_equal(step.handled, 0);
    assert_true(world_step(it).is_idle);
    assert_int_equal(hot_count(it, "a"), 1);
    assert_int_equal(world_stats(it).counters.messages, before.messages);
    assert_int_equal(world_stats(it).counters.conflicts, before.conflicts + 3);
}

/* Other is declared before Counter. */
ON_ALL_STORES_IN_TIME(all_sagas_beside_a_hot_one_are_locked, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_post(it, NULL, PAWL_MESSAGE(both, .name = PAWL_TEXT("a")));
    hot_bump(it, "b");
    world_drain(it);
    assert_string_equal(locks_loads(), "Other:main:skip(1) Counter:main:skip(2) ");
}

/* Else this worker would wait for "b" with the row of "a", which the worker that has "b" may want. */
ON_ALL_STORES_IN_TIME(a_saga_beside_a_hot_one_is_not_waited_for, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    locks_hold("b");
    hot_bump(it, "a");
    hot_bump(it, "b");
    pawl_step step = world_step(it);
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.refused, 0);
    assert_int_equal(world_queue(it, "desk").count, 1);
    locks_hold(NULL);
    assert_int_equal(world_go(it, PAWL_MILLISECONDS(20)).handled, 1);
    assert_int_equal(world_stats(it).counters.conflicts, 2);
}

ON_ALL_STORES_IN_TIME(the_lock_is_left_after_a_minute, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_go_machine(it, PAWL_SECONDS(59));
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
    world_go_machine(it, PAWL_SECONDS(1));
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:none(1) ");
}

/* Each by itself: another saga that is hot still keeps none but itself so. */
ON_ALL_STORES_IN_TIME(one_saga_cools_while_another_is_hot, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_go_machine(it, PAWL_SECONDS(50));
    hot_meddlings = 2;
    hot_bump(it, "b");
    world_drain(it);
    world_go_machine(it, PAWL_SECONDS(15));
    locks_loads();
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:none(1) ");
    hot_bump(it, "b");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
}

ON_ALL_STORES_IN_TIME(what_others_have_stays_hot, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_go_machine(it, PAWL_SECONDS(50));
    locks_hold("a");
    hot_bump(it, "a");
    world_drain(it);
    locks_hold(NULL);
    locks_loads();
    world_go_machine(it, PAWL_SECONDS(50)); /* the message is handled */
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
    assert_int_equal(hot_count(it, "a"), 3);
}

/* On a server nobody writes the row of a hot saga that a worker has locked. */
ON_STORES(a_conflict_on_a_hot_saga_keeps_it_hot, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_go_machine(it, PAWL_SECONDS(50));
    hot_meddlings = 1;
    hot_bump(it, "a");
    assert_int_equal(world_drain(it).refused, 1);
    world_go_machine(it, PAWL_SECONDS(59));
    locks_loads();
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
}

static void conflict_on_many(world *it, int first, int count)
{
    for (int round = 0; round < 2; round++) {
        hot_meddlings = round * count;
        for (int i = first; i < first + count; i++)
            world_post(
                it, NULL,
                PAWL_MESSAGE(bump, .name = pawl_text_of(test_text("n%d", i)), .number = 5000 + i));
        pawl_step step = world_drain(it);
        assert_int_equal(step.handled, count);
        assert_int_equal(step.refused, round * count);
    }
    locks_loads();
    world_forget(&hot_seen);
}

/* 256 are remembered; the one that was of use longest ago makes room. */
ON_ALL_STORES_IN_TIME(the_oldest_is_forgotten, const char *url)
{
    world *it = hot_open(url);
    hot_make(it);
    world_go_machine(it, PAWL_SECONDS(1));
    conflict_on_many(it, 0, 65);
    conflict_on_many(it, 65, 65);
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:skip(1) ");
    world_go_machine(it, PAWL_SECONDS(1));
    conflict_on_many(it, 130, 65);
    conflict_on_many(it, 195, 65);
    hot_bump(it, "a");
    world_drain(it);
    assert_string_equal(locks_loads(), "Counter:main:none(1) ");
    /* The others are not. */
    hot_meddlings = 1;
    world_post(it, NULL, PAWL_MESSAGE(bump, .name = PAWL_TEXT("n259"), .number = 5259));
    assert_int_equal(world_drain(it).refused, 1);
    assert_string_equal(locks_loads(), "Counter:main:none(1) Counter:main:skip(1) ");
}
