/* test_fault_hot.c - every call of the store fails in turn while a worker handles messages of two hot sagas, one of
 * which another worker has locked at first. Each message counts once, and none is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/fault_strides.h"
#include "support/hot.h"
#include "support/locks.h"

#include <limits.h>

#define STEPS_MAX 200

/* Until nothing happens in three steps, each a while after the one before. Returns how many failed. */
static long go(world *it)
{
    long failures = 0;
    for (int idle = 0, i = 0; idle < 3; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_step  step  = PAWL_STEP_INIT;
        assert_true(i < STEPS_MAX);
        pawl_code code = pawl_endpoint_step(it->endpoint, &step, &error);
        failures += code != PAWL_OK;
        idle = code == PAWL_OK && step.is_idle ? idle + 1 : 0;
        if (code != PAWL_OK || step.is_idle) {
            pawl_clock_set(it->business, pawl_clock_now(it->business) + PAWL_SECONDS(5));
            pawl_clock_set(it->machine, pawl_clock_now(it->machine) + PAWL_SECONDS(5));
        }
    }
    return failures;
}

static long calls; /* of the last play, those that its plan was about */

/* Counts its failures; false if the plan's call was not reached. */
static bool play(world *it, const fault_plan *plan, long *failures)
{
    fault_plan_set(NULL);
    world_go_machine(it, PAWL_MINUTES(3)); /* no saga is hot any more */
    hot_make_each(it, "ab");
    const int a = hot_count(it, "a"), b = hot_count(it, "b");
    for (const char *at = "aab"; *at != '\0'; at++)
        hot_bump(it, (char[]){*at, '\0'});
    locks_hold("a");
    locks_counts before = locks_counted();
    fault_plan_set(plan);
    *failures += go(it);
    assert_true(locks_counted().elsewhere > before.elsewhere);
    locks_hold(NULL);
    *failures += go(it);
    bool was_reached = fault_was_reached();
    calls            = fault_counts_now().eligible;
    fault_plan_set(NULL);
    if (hot_count(it, "a") != a + 2 || hot_count(it, "b") != b + 1 ||
        world_queue(it, "desk").count != 0)
        fail_msg("kind %d, call %ld of %ld, seed %llu: counted %d and %d, %zu messages are left",
                 (int)plan->kind, plan->n, calls, (unsigned long long)plan->seed,
                 hot_count(it, "a") - a, hot_count(it, "b") - b, world_queue(it, "desk").count);
    return was_reached;
}

static world *open_faulty(const char *url)
{
    fault_bind("hot", locks_url(url));
    return hot_open_on("fault:hot", NULL);
}

ON_ALL_STORES(s32_each_call_goes_wrong_in_turn, const char *url)
{
    static const fault_plan plans[] = {{.kind = FAULT_BEFORE, .code = PAWL_ELOST},
                                       {.kind = FAULT_BEFORE, .code = PAWL_EBUSY},
                                       {.kind = FAULT_AFTER},
                                       {.kind = FAULT_LATE},
                                       {.kind = FAULT_JUST_LATE}};
    for (size_t i = 0; i < COUNT(plans); i++) {
        world     *it       = open_faulty(url);
        fault_plan plan     = plans[i];
        long       failures = 0, runs = 0;
        plan.n = LONG_MAX;
        assert_false(play(it, &plan, &failures));
        fault_strides all =
            calls > 2 * SERVER_SLACK ? fault_strides_of(url, calls) : (fault_strides){1, 1, calls};
        for (plan.n = all.first; plan.n <= all.last; plan.n += all.stride, runs++)
            assert_true(play(it, &plan, &failures));
        print_message("kind %d: of %ld calls %ld went wrong in turn, %ld failures were borne\n",
                      (int)plan.kind, all.last, runs, failures);
        assert_true(runs > 0);
        world_close(it);
    }
}

ON_ALL_STORES(s32_calls_go_wrong_by_chance, const char *url)
{
    static const fault_plan plans[] = {{.kind = FAULT_UNKNOWN, .chance = 333},
                                       {.kind = FAULT_AGAIN, .chance = 500},
                                       {.kind = FAULT_STEAL, .chance = 500}};
    for (size_t i = 0; i < COUNT(plans); i++) {
        world     *it       = open_faulty(url);
        fault_plan plan     = plans[i];
        long       failures = 0, met = 0;
        for (plan.seed = 1; plan.seed <= seeds_of(url, 10); plan.seed++)
            met += play(it, &plan, &failures);
        print_message("kind %d: %ld of %d seeds met a call, %ld failures were borne\n",
                      (int)plan.kind, met, (int)plan.seed - 1, failures);
        assert_true(met > 0);
        world_close(it);
    }
}
