/* test_lost_refusals.c - drivers whose list of refusals is not that of the commit whose
 * answer was lost: what the caller is told is what is there, or that it is not known
 * (O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/lost_answers.h"
#include "support/fault_store.h"
#include "support/world.h"

/* The fault store loses whole calls: a commit makes one request. */
static void lose(const lossy *way, lossy_what what, int number, bool is_kept)
{
    static const fault_kind kinds[] = {[LOSSY_NOTHING] = FAULT_NONE,
                                       [LOSSY_REQUEST] = FAULT_UNKNOWN,
                                       [LOSSY_ANSWER]  = FAULT_AFTER};
    const fault_list       *list    = way->context;
    const fault_plan        plan    = {
                  .kind = kinds[what], .op = fault_op_commit, .n = number, .list = *list};
    fault_plan_set(&plan);
}

/* Arrived right before the core asked, which is no other loss. */
static void lose_in_time(const lossy *way, lossy_what what, int number, bool is_kept)
{
    const fault_list *list = way->context;
    const fault_plan  plan = {.kind = FAULT_JUST_LATE, .n = number, .list = *list};
    lose(way, what, number, is_kept);
    if (what == LOSSY_ANSWER)
        fault_plan_set(&plan);
}

static bool was_lost(const lossy *way)
{
    return fault_was_reached();
}

static void make_tables(const char *url, suite_address *address)
{
    suite_tables tables;
    assert_true(strlen(url) < sizeof address->url);
    strcpy(address->url, url);
    suite_tables_make(&tables, address);
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &tables.spec, NULL, NULL, world_error()));
}

static void try_list(const char *url, lossy *way, fault_list list)
{
    char failure[1000];
    way->context     = &list;
    way->is_ignorant = list != FAULT_LIST_WHOLE;
    way->has_no_hold = strncmp(url, "memory:", 7) == 0 || strncmp(url, "mongodb:", 8) == 0;
    way->is_brief    = server_is(url) && strncmp(url, "mongodb:", 8) != 0;
    make_tables(url, &way->direct);
    fault_bind("lossy", url);
    strcpy(way->through.url, "fault:lossy");
    unsigned lost = lost_answers_run(way, failure, sizeof failure);
    fault_plan_set(NULL);
    if (failure[0] != '\0')
        fail_msg("list %d: %s", (int)list, failure);
    print_message("list %d: %u losses\n", (int)list, lost);
    assert_true(lost > (way->is_brief ? 15 : 40));
}

static void expect_all_told(const char *given, lossy *way)
{
    for (fault_list list = FAULT_LIST_WHOLE; list < FAULT_LIST_COUNT; list++) {
        char url[1000];
        scenario_url_like(given, url, sizeof url);
        try_list(url, way, list);
        scenario_forget(url);
    }
}

ON_ALL_STORES_IN_TIME(o32_what_is_told_is_what_is_there, const char *url)
{
    lossy way = {.lose = lose, .was_lost = was_lost};
    expect_all_told(url, &way);
}

ON_ALL_STORES_IN_TIME(o32_and_so_it_is_when_the_commit_came_in_time, const char *url)
{
    lossy way = {.lose = lose_in_time, .was_lost = was_lost};
    expect_all_told(url, &way);
}

void (*const tests_first)(void) = scenario_files_in_memory;
