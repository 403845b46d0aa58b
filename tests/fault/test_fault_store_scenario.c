/* test_fault_store_scenario.c - the engine under the fault store: for every kind of
 * fault the n-th call goes wrong, for n = 1, 2, 3 ... until the scenario passes
 * untouched, on a server for a few of them. The scenario checks the guarantees after
 * each run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/fault_scenario.h"
#include "support/fault_strides.h"
#include "support/world.h"

#include <limits.h>
#include <unistd.h>

static const char *scheme_of(const char *url)
{
    static char scheme[20];
    snprintf(scheme, sizeof scheme, "%.*s", (int)strcspn(url, ":"), url);
    return scheme;
}

/* On a server: one allocation of so many fails. */
#define MEMORY_STRIDE 149

/* Untouched: how many calls the plan is about, and what was handled. */
static fault_result count_calls(const char *url, fault_plan plan)
{
    plan.n          = LONG_MAX;
    fault_result it = fault_scenario_run(scheme_of(url), &plan);
    assert_false(it.was_reached);
    return it;
}

/* The loop; of how many calls some went wrong in turn. */
static long raise_n(const char *url, const char *name, fault_plan plan, fault_result *last)
{
    fault_result  untouched = count_calls(url, plan);
    fault_strides it        = fault_strides_of(url, untouched.counts.eligible);
    long          failures = 0, rows = 0, runs = 0;
    for (plan.n = it.first; plan.n <= it.last; plan.n += it.stride, runs++) {
        *last = fault_scenario_run(scheme_of(url), &plan);
        assert_true(last->was_reached);
        failures += last->failures;
        rows += last->rows;
        if (last->handled != untouched.handled)
            fail_msg("%s of call %ld: %lld units were handled, %lld untouched", name, plan.n,
                     (long long)last->handled, (long long)untouched.handled);
    }
    print_message("%s, %s: of %ld calls %ld went wrong in turn, %ld failures were borne",
                  scheme_of(url), name, it.last, runs, failures);
    print_message(rows > 0 ? ", %ld rows\n" : "\n", rows);
    return it.last;
}

/* ---- What the scenario reaches ------------------------------------------------- */

/* Not called in steps: only people ask for these, or only threads do. */
static bool is_for_people(fault_op op, bool has_sql)
{
    switch (op) {
    case fault_op_aggregator_get:
    case fault_op_stats:
    case fault_op_timeout_list:
    case fault_op_outbox_attempts:
    case fault_op_dead_count:
    case fault_op_dead_find:
    case fault_op_diagnose:
    case fault_op_queue_find:
    case fault_op_history_find:
    case fault_op_unlead:
    case fault_op_enlist:
    case fault_op_event_list:
    case fault_op_lead_list:
    case fault_op_scan:
    case fault_op_worker_heartbeat:
    case fault_op_stream_load:  /* of processes: tests/fault/test_fault_process.c */
    case fault_op_event_number: /* of projections: tests/unit/runtime/test_projection_failure.c */
        return true;
    case fault_op_handler_transaction_begin: return !has_sql;
    case fault_op_resolve: return true; /* reached once a commit's outcome is unknown */
    default: return false;
    }
}

/* MongoDB tells of no deaths. */
static bool is_there(fault_op op, const char *url)
{
    return op != fault_op_worker_crashed || strcmp(scheme_of(url), "mongodb") != 0;
}

ON_ALL_STORES_IN_TIME(untouched_it_reaches_every_kind_of_call, const char *url)
{
    fault_plan   plan  = {.kind = FAULT_NONE};
    fault_result found = fault_scenario_run(scheme_of(url), &plan);
    bool is_sql = strcmp(scheme_of(url), "memory") != 0 && strcmp(scheme_of(url), "mongodb") != 0;
    assert_false(found.was_reached);
    assert_int_equal(found.failures, 0);
    print_message("%s: %ld calls:", scheme_of(url), found.counts.total);
    for (int op = 1; op < fault_op_count; op++) {
        if (found.counts.by_op[op] > 0)
            print_message(" %s %ld", fault_op_name((fault_op)op), found.counts.by_op[op]);
        if (is_there((fault_op)op, url) && !is_for_people((fault_op)op, is_sql) &&
            found.counts.by_op[op] == 0)
            fail_msg("%s is never called", fault_op_name((fault_op)op));
    }
    print_message("\n");
    assert_true(found.counts.total >= 40);
}

/* ---- The loops ------------------------------------------------------------------- */

ON_ALL_STORES_IN_TIME(e27_before_it_does_anything_busy, const char *url)
{
    fault_result last;
    long         calls = raise_n(url, "before, EBUSY",
                                 (fault_plan){.kind = FAULT_BEFORE, .code = PAWL_EBUSY}, &last);
    assert_true(calls >= 40);
}

ON_ALL_STORES_IN_TIME(e6_e27_before_it_does_anything_failed, const char *url)
{
    fault_result last;
    raise_n(url, "before, EPERSIST", (fault_plan){.kind = FAULT_BEFORE, .code = PAWL_EPERSIST},
            &last);
}

ON_ALL_STORES_IN_TIME(e27_before_it_does_anything_lost, const char *url)
{
    fault_result last;
    raise_n(url, "before, ELOST", (fault_plan){.kind = FAULT_BEFORE, .code = PAWL_ELOST}, &last);
}

ON_ALL_STORES_IN_TIME(o32_e27_after_it_did_everything, const char *url)
{
    fault_result last;
    long         calls = raise_n(url, "after", (fault_plan){.kind = FAULT_AFTER}, &last);
    assert_true(calls >= 40);
}

ON_ALL_STORES_IN_TIME(o32_outcome_unknown_and_nothing_done, const char *url)
{
    fault_result last;
    raise_n(url, "unknown", (fault_plan){.kind = FAULT_UNKNOWN}, &last);
}

ON_ALL_STORES_IN_TIME(o32_a_late_commit_is_fenced, const char *url)
{
    fault_plan    plan = {.kind = FAULT_LATE};
    fault_strides all  = fault_strides_of(url, count_calls(url, plan).counts.eligible);
    for (plan.n = all.first; plan.n <= all.last; plan.n += all.stride) {
        fault_result it = fault_scenario_run(scheme_of(url), &plan);
        if (it.late != PAWL_EFENCED)
            fail_msg("commit %ld came late and was answered %s", plan.n, pawl_code_name(it.late));
        assert_int_equal(it.counts.by_op[fault_op_resolve], 1);
    }
    print_message("%s, late: of %ld commits each that came so was fenced\n", scheme_of(url),
                  all.last);
    assert_true(all.last > 10);
}

ON_ALL_STORES_IN_TIME(o32_a_commit_that_came_in_time_is_found, const char *url)
{
    fault_plan    plan = {.kind = FAULT_JUST_LATE};
    fault_strides all  = fault_strides_of(url, count_calls(url, plan).counts.eligible);
    for (plan.n = all.first; plan.n <= all.last; plan.n += all.stride) {
        fault_result it = fault_scenario_run(scheme_of(url), &plan);
        if (it.late != PAWL_OK || it.failures != 0)
            fail_msg("commit %ld came just in time: %s, %ld failures", plan.n,
                     pawl_code_name(it.late), it.failures);
    }
    print_message("%s, just late: of %ld commits each that came so was found\n", scheme_of(url),
                  all.last);
    assert_true(all.last > 10);
}

ON_ALL_STORES_IN_TIME(o32_an_outcome_that_cannot_be_asked, const char *url)
{
    fault_result last;
    raise_n(url, "done, resolve fails", (fault_plan){.kind = FAULT_DONE_RESOLVE_FAILS}, &last);
    raise_n(url, "lost, resolve fails", (fault_plan){.kind = FAULT_LOST_RESOLVE_FAILS}, &last);
}

/* Longer than any lease, at every call. */
ON_ALL_STORES_IN_TIME(a_call_that_takes_too_long, const char *url)
{
    fault_result last;
    raise_n(url, "delay", (fault_plan){.kind = FAULT_DELAY, .delay = PAWL_MINUTES(6)}, &last);
}

ON_ALL_STORES_IN_TIME(rows_handed_out_once_more, const char *url)
{
    fault_result last;
    raise_n(url, "again", (fault_plan){.kind = FAULT_AGAIN}, &last);
}

/* Timeouts that another worker took may not be settled by the one before, though the rows are the same. */
ON_ALL_STORES_IN_TIME(t7_e13_a27_rows_taken_by_another_worker, const char *url)
{
    fault_plan    plan  = {.kind = FAULT_STEAL};
    long          taken = 0;
    fault_strides all   = fault_strides_of(url, count_calls(url, plan).counts.eligible);
    for (plan.n = all.first; plan.n <= all.last; plan.n += all.stride) {
        fault_result it = fault_scenario_run(scheme_of(url), &plan);
        taken += it.rows;
        if ((it.rows > 0) != (it.conflicts > 0))
            fail_msg("claim %ld: %ld rows were taken, %lld units refused", plan.n, it.rows,
                     (long long)it.conflicts);
    }
    print_message("%s, steal: of %ld claims, %ld rows\n", scheme_of(url), all.last, taken);
    assert_true(server_is(url) || taken >= (stride_of(url, 1) == 1 ? 6 : 1));
}

/* By what each message is about, the second letter of an id's name: orders a and
 * b, the stray and the unknown one have nothing to do with each other. */
static bool is_independent(const pawl_message *left, const pawl_message *right)
{
    return pawl_text_compare(left->id, right->id) != 0 && left->id.size > 2 && right->id.size > 2 &&
           left->id.data[0] == 'm' && right->id.data[0] == 'm';
}

ON_ALL_STORES_IN_TIME(independent_rows_in_another_order, const char *url)
{
    long           moved = 0;
    const uint64_t seeds = seeds_of(url, 20);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        fault_plan   plan = {.kind = FAULT_REORDER, .seed = seed, .is_independent = is_independent};
        fault_result it   = fault_scenario_run(scheme_of(url), &plan);
        moved += it.rows;
    }
    print_message("%s, reorder: %ld rows changed places, seeds 1 to %d\n", scheme_of(url), moved,
                  (int)seeds);
    assert_true(moved * 2 > (long)seeds);
}

/* ---- Many faults in one run -------------------------------------------------------- */

static void many(const char *url, const char *name, fault_plan plan)
{
    long           failures = 0, met = 0;
    const uint64_t seeds = seeds_of(url, 15);
    for (plan.seed = 1; plan.seed <= seeds; plan.seed++) {
        fault_result it = fault_scenario_run(scheme_of(url), &plan);
        failures += it.failures;
        met += it.was_reached;
    }
    print_message("%s, %s: %d of 1000 calls, seeds 1 to %d, %ld failures were borne\n",
                  scheme_of(url), name, plan.chance, (int)seeds, failures);
    assert_true(met * 3 > (long)seeds);
}

ON_ALL_STORES_IN_TIME(one_call_of_ten_goes_wrong, const char *url)
{
    many(url, "before", (fault_plan){.kind = FAULT_BEFORE, .code = PAWL_ELOST, .chance = 100});
    many(url, "after", (fault_plan){.kind = FAULT_AFTER, .chance = 100});
}

ON_ALL_STORES_IN_TIME(o32_one_commit_of_three_is_in_doubt, const char *url)
{
    many(url, "late", (fault_plan){.kind = FAULT_LATE, .chance = 333});
    many(url, "done, resolve fails", (fault_plan){.kind = FAULT_DONE_RESOLVE_FAILS, .chance = 333});
    many(url, "lost, resolve fails", (fault_plan){.kind = FAULT_LOST_RESOLVE_FAILS, .chance = 333});
}

ON_ALL_STORES_IN_TIME(every_other_claim_is_not_alone, const char *url)
{
    many(url, "again", (fault_plan){.kind = FAULT_AGAIN, .chance = 500});
    many(url, "steal", (fault_plan){.kind = FAULT_STEAL, .chance = 500});
}

/* ---- Memory ------------------------------------------------------------------------ */

ON_ALL_STORES_IN_TIME(the_nth_allocation_fails, const char *url)
{
    const long stride   = stride_of(url, MEMORY_STRIDE);
    long       failures = 0, n = 1;
    for (;; n += stride) {
        long         before = fault_memory_live();
        fault_result it     = fault_scenario_run_memory(scheme_of(url), n);
        if (fault_memory_live() != before)
            fail_msg("allocation %ld failed, %ld blocks are left", n, fault_memory_live() - before);
        if (!it.was_reached)
            break;
        failures += it.failures;
    }
    print_message("%s, memory: %ld allocations failed in turn, %ld failures were borne\n",
                  scheme_of(url), (n - 1) / stride, failures);
    assert_true(n > 200);
}

int main(void)
{
    fault_memory_install();
    scenario_files_in_memory();
    world_quiet();
    int result = tests_run(NULL, NULL);
    pawl_allocator_set(NULL);
    return result;
}
