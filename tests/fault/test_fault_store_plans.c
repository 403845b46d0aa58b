/* test_fault_store_plans.c - the fault store itself: each kind of fault does what
 * it says, once, and without a plan nothing is changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/world.h"

#define QUEUE PAWL_TEXT("q")

typedef struct fixture {
    pawl_store *behind; /* keeps a memory store, and looks */
    pawl_store *store;
    pawl_arena *arena;
    pawl_clock *clock;
} fixture;

static void close_fixture(void *context)
{
    fixture *it = context;
    fault_plan_set(NULL);
    must(pawl_store_worker_close(it->store, WORLD_START, world_error()));
    pawl_store_close(it->store);
    pawl_store_close(it->behind);
    pawl_clock_destroy(it->clock);
    pawl_arena_destroy(it->arena);
}

/* Until the test ends. */
static fixture *open_fixture(const char *url, const fault_plan *plan)
{
    static fixture opened;
    fixture       *it = &opened;
    memset(it, 0, sizeof *it);
    fault_bind("plans", url);
    fault_plan_set(NULL);
    it->arena = pawl_arena_create(0);
    it->clock = pawl_clock_create(WORLD_START);
    must(pawl_store_open(url, NULL, &it->behind, world_error()));
    must(pawl_store_open("fault:plans", NULL, &it->store, world_error()));
    must(pawl_store_worker_open(it->store, PAWL_TEXT("e"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    fault_plan made = *plan;
    made.clock      = it->clock;
    fault_plan_set(&made);
    test_later(close_fixture, it);
    return it;
}

static pawl_code send(fixture *it, const char *id, pawl_error *error)
{
    pawl_queue_send change  = {.queue   = QUEUE,
                               .message = {.id             = pawl_text_of(id),
                                           .type           = PAWL_TEXT("t"),
                                           .body           = PAWL_TEXT("{}"),
                                           .correlation_id = pawl_text_of(id)},
                               .due     = WORLD_START};
    pawl_changes    changes = {ONE_UNIT, .now = WORLD_START,
                               .queue_send = {.items = &change, .count = 1}};
    return pawl_store_commit(it->store, &changes, NULL, error);
}

static size_t count_sent(fixture *it)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(it->behind, QUEUE, 0, it->arena, &rows, world_error()));
    return rows.count;
}

static pawl_queue_rows claim(fixture *it)
{
    pawl_queue_rows  rows = {.count = 0};
    pawl_queue_claim what = {
        .queue = QUEUE, .due_max = WORLD_START, .count_max = 10, .now = WORLD_START};
    must(pawl_store_queue_claim(it->store, &what, it->arena, &rows, world_error()));
    return rows;
}

static pawl_code finish(fixture *it, int64_t seq, pawl_error *error)
{
    pawl_queue_settle change  = {.action = PAWL_QUEUE_DONE, .queue = QUEUE, .seq = seq};
    pawl_changes      changes = {ONE_UNIT, .now = WORLD_START,
                                 .queue_settle = {.items = &change, .count = 1}};
    return pawl_store_commit(it->store, &changes, NULL, error);
}

/* ---- The tests -------------------------------------------------------------- */

ON_ALL_STORES(without_a_plan_calls_are_only_counted, const char *url)
{
    fault_plan none = {.kind = FAULT_NONE};
    fixture   *it   = open_fixture(url, &none);
    must(send(it, "m-1", world_error()));
    assert_int_equal(claim(it).count, 1);
    assert_false(fault_was_reached());
    assert_int_equal(fault_counts_now().total, 2);
    assert_int_equal(fault_counts_now().by_op[fault_op_commit], 1);
    assert_int_equal(fault_counts_now().by_op[fault_op_queue_claim], 1);
    assert_int_equal(it->store->ops->promises, it->behind->ops->promises);
    assert_string_equal(it->store->identity, it->behind->identity);
}

ON_ALL_STORES(the_nth_call_fails_before_it_does_anything, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_plan plan  = {.kind = FAULT_BEFORE, .op = fault_op_commit, .n = 2, .code = PAWL_EPERSIST};
    fixture   *it    = open_fixture(url, &plan);
    must(send(it, "m-1", world_error()));
    assert_false(fault_was_reached());
    assert_int_equal(send(it, "m-2", &error), PAWL_EPERSIST);
    assert_string_equal(error.text, "the test says EPERSIST in commit");
    assert_true(fault_was_reached());
    assert_int_equal(fault_op_met(), fault_op_commit);
    assert_int_equal(count_sent(it), 1);
    must(send(it, "m-2", world_error()));
    assert_int_equal(count_sent(it), 2);
}

ON_ALL_STORES(o32_the_answer_of_a_commit_is_lost, const char *url)
{
    fault_plan plan = {.kind = FAULT_AFTER, .op = fault_op_commit, .n = 1};
    fixture   *it   = open_fixture(url, &plan);
    must(send(it, "m-1", world_error())); /* found by the resolve */
    assert_int_equal(fault_counts_now().by_op[fault_op_resolve], 1);
    assert_int_equal(count_sent(it), 1);
}

/* Whatever a driver leaves in the list that does not know: of a set that nothing in can be
 * refused all is known, of another one nothing is believed. */
ON_ALL_STORES(o32_a_list_that_nobody_promised_is_not_believed, const char *url)
{
    for (fault_list list = FAULT_LIST_EMPTY; list < FAULT_LIST_COUNT; list++) {
        pawl_error error = PAWL_ERROR_INIT;
        fault_plan plan  = {.kind = FAULT_AFTER, .op = fault_op_commit, .n = 1, .list = list};
        char       own[1000];
        scenario_url_like(url, own, sizeof own);
        fixture *it = open_fixture(own, &plan);
        must(send(it, "m-1", world_error()));
        assert_true(fault_was_reached());
        pawl_queue_rows rows = claim(it);
        assert_int_equal(rows.count, 1);
        fault_plan_set(&plan);
        assert_int_equal(finish(it, rows.items[0].seq, &error), PAWL_EUNKNOWN);
        assert_non_null(strstr(error.text, "the driver cannot say which changes it refused"));
        assert_int_equal(count_sent(it), 0);
        test_now(it);
        scenario_forget(own);
    }
}

ON_ALL_STORES(the_answer_of_a_claim_is_lost, const char *url)
{
    pawl_error       error = PAWL_ERROR_INIT;
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim what  = {
         .queue = QUEUE, .due_max = WORLD_START, .count_max = 10, .now = WORLD_START};
    fault_plan plan = {.kind = FAULT_AFTER, .op = fault_op_queue_claim, .n = 1};
    fixture   *it   = open_fixture(url, &plan);
    must(send(it, "m-1", world_error()));
    assert_int_equal(pawl_store_queue_claim(it->store, &what, it->arena, &rows, &error),
                     PAWL_ELOST);
    assert_int_equal(claim(it).count, 0); /* the row was claimed all the same */
}

ON_ALL_STORES(o32_an_unknown_commit_did_nothing, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_plan plan  = {.kind = FAULT_UNKNOWN, .n = 1};
    fixture   *it    = open_fixture(url, &plan);
    assert_int_equal(send(it, "m-1", &error), PAWL_ELOST);
    assert_int_equal(count_sent(it), 0);
    must(send(it, "m-1", world_error()));
}

ON_ALL_STORES(o32_a_late_commit_is_fenced, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_plan plan  = {.kind = FAULT_LATE, .n = 1};
    fixture   *it    = open_fixture(url, &plan);
    assert_int_equal(send(it, "m-1", &error), PAWL_ELOST);
    assert_int_equal(fault_late_code(), PAWL_EFENCED);
    assert_int_equal(count_sent(it), 0);
    must(send(it, "m-1", world_error())); /* under the epoch that was raised */
    assert_int_equal(count_sent(it), 1);
}

ON_ALL_STORES(o32_a_commit_just_before_the_resolve_is_found, const char *url)
{
    fault_plan plan = {.kind = FAULT_JUST_LATE, .n = 1};
    fixture   *it   = open_fixture(url, &plan);
    must(send(it, "m-1", world_error()));
    assert_int_equal(fault_late_code(), PAWL_OK);
    assert_int_equal(count_sent(it), 1);
}

ON_ALL_STORES(o32_a_deaf_store_leaves_the_outcome_unknown, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_plan plan  = {.kind = FAULT_DONE_RESOLVE_FAILS, .n = 1};
    fixture   *it    = open_fixture(url, &plan);
    assert_int_equal(send(it, "m-1", &error), PAWL_EUNKNOWN);
    assert_non_null(strstr(error.text, "the test says ELOST in resolve"));
    assert_int_equal(count_sent(it), 1);
    test_now(it);
    plan.kind     = FAULT_LOST_RESOLVE_FAILS;
    it            = open_fixture(url, &plan);
    size_t before = count_sent(it);
    assert_int_equal(send(it, "m-2", &error), PAWL_EUNKNOWN);
    assert_int_equal(count_sent(it), before);
}

ON_ALL_STORES(a_call_takes_long_only_by_the_clock, const char *url)
{
    fault_plan plan = {
        .kind = FAULT_DELAY, .op = fault_op_commit, .n = 1, .delay = PAWL_MINUTES(6)};
    fixture *it = open_fixture(url, &plan);
    must(send(it, "m-1", world_error()));
    assert_int_equal(pawl_clock_now(it->clock), WORLD_START + PAWL_MINUTES(6));
    must(send(it, "m-2", world_error()));
    assert_int_equal(pawl_clock_now(it->clock), WORLD_START + PAWL_MINUTES(6));
    assert_int_equal(count_sent(it), 2);
}

/* The second claim hands out what the first one did, though it is settled. */
ON_ALL_STORES(a_row_is_handed_out_again, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_plan plan  = {.kind = FAULT_AGAIN, .op = fault_op_queue_claim, .n = 1};
    fixture   *it    = open_fixture(url, &plan);
    must(send(it, "m-1", world_error()));
    pawl_queue_rows first = claim(it);
    assert_int_equal(first.count, 1);
    must(finish(it, first.items[0].seq, world_error()));
    pawl_queue_rows second = claim(it);
    assert_int_equal(second.count, 1);
    assert_string_equal(second.items[0].message.id.data, "m-1");
    assert_int_equal(second.items[0].seq, first.items[0].seq);
    assert_int_equal(fault_row_count(), 1);
    assert_int_equal(finish(it, second.items[0].seq, &error), PAWL_EGONE);
    assert_int_equal(claim(it).count, 0);
}

static bool is_always(const pawl_message *left, const pawl_message *right)
{
    return true;
}

ON_ALL_STORES(rows_change_places_and_none_is_lost, const char *url)
{
    fault_plan               plan = {.kind = FAULT_REORDER, .seed = 3, .is_independent = is_always};
    bool                     seen[5]  = {false};
    bool                     is_moved = false;
    fixture                 *it       = open_fixture(url, &plan);
    static const char *const ids[]    = {"m-0", "m-1", "m-2", "m-3", "m-4"};
    for (size_t i = 0; i < 5; i++)
        must(send(it, ids[i], world_error()));
    pawl_queue_rows rows = claim(it);
    assert_int_equal(rows.count, 5);
    for (size_t i = 0; i < 5; i++) {
        size_t number = (size_t)(rows.items[i].message.id.data[2] - '0');
        assert_false(seen[number]);
        seen[number] = true;
        is_moved |= number != i;
    }
    assert_true(is_moved);
    assert_true(fault_row_count() > 0);
}

ON_ALL_STORES(a_timeout_is_stolen_and_given_back, const char *url)
{
    pawl_error         error   = PAWL_ERROR_INIT;
    fault_plan         plan    = {.kind = FAULT_STEAL, .n = 1};
    pawl_timeout_set   set     = {.id          = {{{1}}},
                                  .saga_type   = PAWL_TEXT("s"),
                                  .name        = PAWL_TEXT("late"),
                                  .destination = QUEUE,
                                  .due         = WORLD_START};
    pawl_changes       changes = {ONE_UNIT, .now = WORLD_START,
                                  .timeout_set = {.items = &set, .count = 1}};
    pawl_timeout_claim what    = {.destination = QUEUE,
                                  .due_max     = WORLD_START,
                                  .count_max   = 10,
                                  .owner       = {{{9}}},
                                  .now         = WORLD_START,
                                  .lease       = PAWL_MINUTES(5)};
    pawl_timeout_rows  rows    = {.count = 0};
    fixture           *it      = open_fixture(url, &plan);
    must(pawl_store_commit(it->store, &changes, NULL, world_error()));
    must(pawl_store_timeout_claim(it->store, &what, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    assert_int_equal(fault_row_count(), 1);
    pawl_timeout_settle settle   = {.action     = PAWL_TIMEOUT_REMOVE,
                                    .id         = rows.items[0].id,
                                    .has_owner  = true,
                                    .owner      = what.owner,
                                    .generation = rows.items[0].generation};
    changes                      = (pawl_changes){ONE_UNIT, .now = WORLD_START};
    changes.timeout_settle.items = &settle;
    changes.timeout_settle.count = 1;
    assert_int_equal(pawl_store_commit(it->store, &changes, NULL, &error), PAWL_EGONE);
    must(pawl_store_timeout_claim(it->store, &what, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
}

TEST(an_unbound_name_is_unreachable)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    fault_bind("plans", "memory:plans");
    assert_int_equal(pawl_store_open("fault:nowhere", NULL, &store, &error), PAWL_EUNREACHABLE);
    assert_null(store);
    assert_string_equal(error.text, "fault:nowhere is bound to no store");
}
