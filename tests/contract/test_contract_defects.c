/* test_contract_defects.c - the suite catches broken stores: each of the defects
 * of broken_changes.c, broken_reads.c and broken_event_store.c, applied alone to the
 * memory store, is caught by a case that names the item which it breaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"
#include "contract/broken_store.h"
#include "support/tests.h"

#include <stdatomic.h>

#define DEFECTS_MIN 20
#define SEED 1

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "broken:defect-%u", number);
}

static const suite_fixture broken_fixture = {.name = "broken", .fresh = fresh};

/* Failures of the cases. */
typedef struct catch
{
    const char *item;      /* the item that a case has to name */
    unsigned    run;       /* cases that name it */
    unsigned    caught;    /* of these, failed */
    char        text[700]; /* the first of them */
}
catch;

static bool names_item(const char *name, const char *item)
{
    size_t size = strlen(item);
    for (const char *at = name; suite_item_next(&name) >= 0; at = name)
        if (strncmp(at, item, size) == 0 && at[size] == ' ')
            return true;
    return false;
}

static void take(const suite_report *report, void *context)
{
    catch *all = context;
    if (!names_item(report->name, all->item))
        return;
    all->run++;
    if (report->result == SUITE_FAIL && all->caught++ == 0)
        snprintf(all->text, sizeof all->text, "%s: %s", report->noun, report->name);
}

/* Only cases that name the item are run: no other may be what catches it. */
static void is_caught(void **state)
{
    const defect *it = *state;
    char          filter[16];
    catch all             = {.item = it->item};
    suite_options options = {.filter = filter, .seed = SEED, .report = take, .context = &all};
    snprintf(filter, sizeof filter, "%s ", it->item);
    broken_set(it);
    suite_run(&broken_fixture, &options);
    broken_set(NULL);
    if (all.run == 0)
        fail_msg("no case names %s", it->item);
    if (all.caught == 0)
        fail_msg("%u cases name %s, and none sees '%s'", all.run, it->item, it->name);
    print_message("%s: %s: caught by '%s'\n", it->item, it->name, all.text);
}

static void expect_pass(const suite_report *report, void *context)
{
    if (report->result == SUITE_FAIL)
        fail_msg("%s: %s: %s", report->noun, report->name, report->reason);
}

static void without_a_defect_all_pass(void **state)
{
    suite_options options = {.seed = SEED, .report = expect_pass};
    broken_set(NULL);
    assert_int_equal(suite_run(&broken_fixture, &options), 0);
}

/* ---- Stores whose answers could crash a case, or let it run for ever ------------------------------ */

static void lose_every_seventh_commit(edit *e)
{
    static unsigned commits;
    if (++commits % 7 != 0)
        return;
#define DROP_KIND(name, is_refusable) e->changes.name.count = 0;
    PAWL_CHANGE_KINDS(DROP_KIND)
#undef DROP_KIND
}

static pawl_code claim_without_array(pawl_store *store, const pawl_queue_claim *claim,
                                     pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = pawl__memory_driver.queue_claim(store, claim, arena, rows, error);
    rows->items    = NULL;
    return code;
}

static pawl_code claim_without_bodies(pawl_store *store, const pawl_queue_claim *claim,
                                      pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = pawl__memory_driver.queue_claim(store, claim, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        rows->items[i].message.body = (pawl_text){.data = NULL, .size = 5};
    return code;
}

static pawl_code find_without_array(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error)
{
    pawl_code code = pawl__memory_driver.find(store, asked, arena, found, error);
    found->items   = NULL;
    return code;
}

static pawl_code find_nothing(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                              pawl_found *found, pawl_error *error)
{
    (void)store, (void)asked, (void)arena, (void)error;
    *found = (pawl_found){.count = 0};
    return PAWL_OK;
}

/* Every update conflicts. */
static pawl_code load_before_last(pawl_store *store, const pawl_saga_table *table,
                                  pawl_saga_key key, const pawl_value *values, size_t count,
                                  pawl_saga_lock lock, pawl_arena *arena, pawl_saga_row *rows,
                                  pawl_error *error)
{
    pawl_code code =
        pawl__memory_driver.saga_load(store, table, key, values, count, lock, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        rows[i].version -= rows[i].version > 1;
    return code;
}

static const defect wrong_answers[] = {
    {"commits lost", NULL, lose_every_seventh_commit, {.abi = 0}},
    {"claim without an array", NULL, NULL, {.queue_claim = claim_without_array}},
    {"claim without bodies", NULL, NULL, {.queue_claim = claim_without_bodies}},
    {"find without an array", NULL, NULL, {.find = find_without_array}},
    {"old versions of sagas", NULL, NULL, {.saga_load = load_before_last}},
    {"find of nothing", NULL, NULL, {.find = find_nothing}},
};

static void count_case(const suite_report *report, void *context)
{
    (void)report;
    ++*(unsigned *)context;
}

/* All cases run to their end, and some fail. */
static void is_survived(void **state)
{
    unsigned      ended   = 0;
    suite_options options = {.seed = SEED, .report = count_case, .context = &ended};
    broken_set(*state);
    unsigned failed = suite_run(&broken_fixture, &options);
    broken_set(NULL);
    assert_int_equal(ended, suite_count(NULL));
    assert_in_range(failed, 1, ended);
}

/* ---- What a failure says --------------------------------------------------- */

static pawl_code reap_with_unknown_code(pawl_store *store, pawl_time now, int64_t *count,
                                        pawl_error *error)
{
    (void)store, (void)now, (void)count;
    return pawl_error_set(error, (pawl_code)9999, "the reaper sleeps");
}

static void expect_readable(const suite_report *report, void *context)
{
    unsigned *failed = context;
    if (report->result != SUITE_FAIL || strcmp(report->noun, "timeout") != 0)
        return;
    ++*failed;
    assert_int_equal(strncmp(report->reason, "src/conformance/", 16), 0);
    assert_non_null(strstr(report->reason, "pawl_store_timeout_reap("));
    assert_non_null(strstr(report->reason, "SUITE_NOW"));
    assert_non_null(strstr(report->reason, " is code 9999, expected OK: the reaper sleeps"));
}

static void a_failure_names_file_source_text_and_unknown_code(void **state)
{
    static const defect no_reaper = {.ops = {.timeout_reap = reap_with_unknown_code}};
    unsigned            failed    = 0;
    suite_options       options   = {
                .filter = "timeout: T14 ", .seed = SEED, .report = expect_readable, .context = &failed};
    (void)state;
    broken_set(&no_reaper);
    assert_int_not_equal(suite_run(&broken_fixture, &options), 0);
    broken_set(NULL);
    assert_int_not_equal(failed, 0);
}

/* ---- The end of a run ------------------------------------------------------- */

typedef struct end_after {
    atomic_int calls; /* false for so many */
    char       reason[200];
} end_after;

static bool is_ended(void *context)
{
    end_after *after = context;
    return atomic_fetch_sub(&after->calls, 1) <= 0;
}

static void keep_reason(const suite_report *report, void *context)
{
    end_after *after = context;
    snprintf(after->reason, sizeof after->reason, "%s", report->reason);
}

static void a_run_that_is_ended_ends_in_its_case_too(void **state)
{
    end_after     after   = {.calls = 20};
    suite_options options = {.filter  = "S9 writers that retry",
                             .seed    = SEED,
                             .report  = keep_reason,
                             .is_over = is_ended,
                             .context = &after};
    (void)state;
    broken_set(NULL);
    assert_int_equal(suite_count(options.filter), 1);
    assert_int_equal(suite_run(&broken_fixture, &options), 1);
    assert_non_null(strstr(after.reason, "the run was ended in this case"));
}

static void every_item_has_a_case_or_a_reason(void **state)
{
    suite_item items[SUITE_ITEM_COUNT];
    suite_items_make(items);
    for (size_t i = 0; i < SUITE_ITEM_COUNT; i++) {
        char filter[16];
        catch all = {.item = filter};
        snprintf(filter, sizeof filter, "%c%u", items[i].letter, items[i].number);
        suite_list(take, &all);
        if (all.run == 0 && items[i].result == SUITE_PASS)
            fail_msg("%s has neither a case nor a reason", filter);
        if (items[i].result != SUITE_PASS && items[i].reason[0] == '\0')
            fail_msg("%s is %s without a reason", filter, suite_result_name(items[i].result));
    }
}

static void add(struct CMUnitTest *tests, size_t *count, const char *name, CMUnitTestFunction test,
                const void *state)
{
    tests[(*count)++] = (struct CMUnitTest){
        .name = name, .test_func = test, .initial_state = (void *)(uintptr_t)state};
}

int main(void)
{
    static struct CMUnitTest tests[128];
    size_t                   count = 0;
    size_t all = broken_changes_count + broken_reads_count + broken_event_store_count;
    if (all < DEFECTS_MIN || all + 4 + COUNT(wrong_answers) > COUNT(tests))
        return 1;
    broken_register();
    add(tests, &count, "without_a_defect_all_pass", without_a_defect_all_pass, NULL);
    add(tests, &count, "every_item_has_a_case_or_a_reason", every_item_has_a_case_or_a_reason,
        NULL);
    add(tests, &count, "a_failure_names_file_source_text_and_unknown_code",
        a_failure_names_file_source_text_and_unknown_code, NULL);
    add(tests, &count, "a_run_that_is_ended_ends_in_its_case_too",
        a_run_that_is_ended_ends_in_its_case_too, NULL);
    for (size_t i = 0; i < COUNT(wrong_answers); i++)
        add(tests, &count, wrong_answers[i].name, is_survived, &wrong_answers[i]);
    for (size_t i = 0; i < broken_changes_count; i++)
        add(tests, &count, broken_changes[i].name, is_caught, &broken_changes[i]);
    for (size_t i = 0; i < broken_reads_count; i++)
        add(tests, &count, broken_reads[i].name, is_caught, &broken_reads[i]);
    for (size_t i = 0; i < broken_event_store_count; i++)
        add(tests, &count, broken_event_store[i].name, is_caught, &broken_event_store[i]);
    return _cmocka_run_group_tests("defects", tests, count, NULL, NULL);
}
