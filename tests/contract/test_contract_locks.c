/* test_contract_locks.c - the cases on row locks, on the memory store behind the
 * locks of support/locks.h; and that they see a lock that does not hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"
#include "support/locks.h"
#include "support/world.h"

#define SEED 1

static pawl_saga_lock taken_as; /* SKIP_LOCKED as the store takes it */

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "%s",
             locks_url(test_text("memory:locks-%u", number)));
    locks_take_as(taken_as);
}

typedef struct results {
    unsigned passed, failed, others;
} results;

static void take(const suite_report *report, void *context)
{
    results *all = context;
    if (report->result == SUITE_PASS)
        all->passed++;
    else if (report->result == SUITE_FAIL)
        all->failed++;
    else
        all->others++;
    if (report->result == SUITE_FAIL && taken_as == PAWL_SAGA_SKIP_LOCKED)
        print_message("%s: %s\n", report->name, report->reason);
}

static results run(pawl_saga_lock lock)
{
    const suite_fixture fixture = {.name = "locks", .fresh = fresh};
    results             all     = {0};
    suite_options       options = {
              .filter = "saga lock: ", .seed = SEED, .report = take, .context = &all};
    taken_as = lock;
    suite_run(&fixture, &options);
    return all;
}

TEST(row_locks_hold)
{
    results all = run(PAWL_SAGA_SKIP_LOCKED);
    assert_int_equal(all.failed, 0);
    assert_int_equal(all.others, 0);
    assert_true(all.passed >= 4);
}

TEST(a_store_that_locks_nothing_is_caught)
{
    results all = run(PAWL_SAGA_UNLOCKED);
    assert_int_equal(all.passed, 0);
    assert_true(all.failed >= 4);
}
