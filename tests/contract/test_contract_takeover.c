/* test_contract_takeover.c - the cases on a worker that is taken over, on a store that does not end the older session:
 * they are not applicable where the store says that the login may not, and fail behind every other answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"
#include "pawl/store_driver.h"
#include "support/tests.h"

#define SEED 1

extern const pawl_store_ops pawl__memory_driver;

static pawl_store_ops ops;

/* The answer to a handle whose worker has another one that is open. */
static pawl_code   answer;
static const char *answer_text;

/* "takeover:x" is "memory:x". */
static pawl_code open_memory(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    return pawl__memory_driver.open(store, test_text("memory:%s", strchr(url, ':') + 1), options,
                                    error);
}

static pawl_code open_worker(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                             pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_WORKERS, .limit = INT64_MAX};
    pawl_arena     *arena = pawl_arena_create(0);
    pawl_found      found = {.count = 0};
    assert_non_null(arena);
    assert_int_equal(pawl__memory_driver.find(store, &asked, arena, &found, error), PAWL_OK);
    const pawl_worker_info *items   = found.items;
    bool                    is_open = false;
    for (size_t i = 0; i < found.count; i++)
        is_open = is_open || pawl_uuid_compare(items[i].id.uuid, store->worker.uuid) == 0;
    pawl_arena_destroy(arena);
    if (is_open && answer != PAWL_OK)
        return pawl_error_set(error, answer, "%s", answer_text);
    return pawl__memory_driver.worker_open(store, endpoint, types, now, error);
}

static pawl_code begin_nothing(pawl_store *store, pawl_error *error)
{
    return PAWL_OK;
}

static void end_nothing(pawl_store *store)
{
}

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "takeover:%u", number);
}

typedef struct results {
    unsigned passed, failed, left;
} results;

static void take(const suite_report *report, void *context)
{
    results *all = context;
    all->passed += report->result == SUITE_PASS;
    all->failed += report->result == SUITE_FAIL;
    all->left += report->result == SUITE_NOT_APPLICABLE;
    if (report->result == SUITE_NOT_APPLICABLE)
        assert_string_equal(report->reason, "the login may not end another session");
    if (report->result == SUITE_FAIL)
        assert_non_null(strstr(report->reason, answer_text));
}

static void expect(pawl_code code, const char *text, results expected)
{
    const suite_fixture fixture = {.name = "takeover", .fresh = fresh};
    results             all     = {0};
    suite_options options = {.filter = "taken over", .seed = SEED, .report = take, .context = &all};
    answer                = code;
    answer_text           = text;
    suite_run(&fixture, &options);
    assert_int_equal(all.passed, expected.passed);
    assert_int_equal(all.failed, expected.failed);
    assert_int_equal(all.left, expected.left);
}

TEST(a_store_that_takes_over_passes)
{
    expect(PAWL_OK, "", (results){.passed = 3});
}

TEST(a_login_without_the_right_is_let_off)
{
    expect(PAWL_EBUSY, "another session keeps lock 7: the login may not end another session",
           (results){.left = 3});
}

TEST(every_other_answer_fails)
{
    expect(PAWL_EBUSY, "it is in a statement that does not end", (results){.failed = 3});
    expect(PAWL_EDENIED, "the login may not end another session", (results){.failed = 3});
}

int main(void)
{
    pawl_error error              = PAWL_ERROR_INIT;
    ops                           = pawl__memory_driver;
    ops.scheme                    = "takeover";
    ops.open                      = open_memory;
    ops.worker_open               = open_worker;
    ops.handler_transaction_begin = begin_nothing;
    ops.handler_transaction_end   = end_nothing;
    ops.promises |= PAWL_STORE_ROW_LOCKS;
    if (pawl_store_register(&ops, &error) != PAWL_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return tests_run(NULL, NULL);
}
