/* diagnose.c - diagnosis of a database, its server and its settings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static pawl_finding_rows diagnose(suite *s, pawl_store *store)
{
    pawl_finding_rows rows  = {0};
    pawl_diagnosis    asked = {.now = SUITE_NOW, .transaction_age = INT64_MAX};
    pawl_code         code  = pawl_store_diagnose(store, &asked, s->arena, &rows, &s->error);
    if (code == PAWL_EUNSUPPORTED)
        suite_not_applicable(s, "the driver has no entry diagnose");
    EXPECT_OK(s, code);
    return rows;
}

/* The suite's time differs from the server's. */
static void a_diagnosis_of_a_new_store_finds_no_failure_but_the_clock_difference(suite *s)
{
    pawl_finding_rows rows = diagnose(s, suite_open(s));
    EXPECT(s, rows.count > 0);
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_finding *found = &rows.items[i];
        EXPECT(s, found->name.size > 0);
        EXPECT(s, found->text.size > 0);
        bool is_clock = pawl_text_equal(found->name, TEXT("clock"));
        if (is_clock != (found->level == PAWL_FINDING_FAIL))
            suite_fail(s, __FILE__, __LINE__, "finding %.*s has the wrong level %d: %.*s",
                       PAWL_TEXT_ARGS(found->name), (int)found->level, PAWL_TEXT_ARGS(found->text));
    }
}

static void a_diagnosis_changes_no_data(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW);
    pawl_stats before = suite_stats_of(s, a, SUITE_NOW);
    (void)diagnose(s, a);
    pawl_stats after = suite_stats_of(s, a, SUITE_NOW);
    EXPECT_EQ(s, after.queue_count, before.queue_count);
    EXPECT_EQ(s, after.workers, before.workers);
    EXPECT_EQ(s, after.inbox + after.dead + after.outbox_pending, 0);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("orders"), SUITE_NOW, 9).count, 1);
}

/* The value of the finding "clock" is the difference between the suite's time and the server's. */
static void a_brief_diagnosis_reports_only_the_clock_and_open_transactions(suite *s)
{
    pawl_store       *a     = suite_open(s);
    pawl_finding_rows rows  = {0};
    pawl_diagnosis    asked = {.now = SUITE_NOW, .is_brief = true};
    (void)diagnose(s, a);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    READ_ROWS(s, pawl_store_diagnose(a, &asked, s->arena, &rows, &s->error), rows);
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_finding *found    = &rows.items[i];
        bool                is_clock = pawl_text_equal(found->name, TEXT("clock"));
        EXPECT(s, is_clock || pawl_text_equal(found->name, TEXT("transactions")) ||
                      pawl_text_equal(found->name, TEXT("prepared")));
        if (is_clock)
            EXPECT(s, found->value > PAWL_SECONDS(5));
    }
}

/* The given time is 1970. A file can only tell the time by its records: here there is one, with the suite's time. */
static void a_diagnosis_for_the_time_only_returns_no_other_finding(suite *s)
{
    pawl_store       *a     = suite_open(s);
    pawl_finding_rows rows  = {0};
    pawl_diagnosis    asked = {.is_brief = true, .is_time = true};
    (void)diagnose(s, a);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    READ_ROWS(s, pawl_store_diagnose(a, &asked, s->arena, &rows, &s->error), rows);
    EXPECT(s, rows.count <= 1);
    if (rows.count == 1 && pawl_text_equal(rows.items[0].name, TEXT("recorded")))
        EXPECT_EQ(s, rows.items[0].value, SUITE_NOW);
    else if (rows.count == 1) {
        EXPECT_TEXT(s, rows.items[0].name, TEXT("clock"));
        EXPECT(s, rows.items[0].value > SUITE_NOW);
        asked.now = rows.items[0].value + PAWL_DAYS(1);
        READ_ROWS(s, pawl_store_diagnose(a, &asked, s->arena, &rows, &s->error), rows);
        EXPECT(s, rows.items[0].value > PAWL_HOURS(23));
    }
}

static const suite_case cases[] = {
    {"O23 a diagnosis of a new store finds no failure but the clock difference",
     a_diagnosis_of_a_new_store_finds_no_failure_but_the_clock_difference},
    {"O23 a diagnosis changes no data", a_diagnosis_changes_no_data},
    {"O23 a brief diagnosis reports only the clock and open transactions",
     a_brief_diagnosis_reports_only_the_clock_and_open_transactions},
    {"E34 a diagnosis for the time only returns no other finding",
     a_diagnosis_for_the_time_only_returns_no_other_finding},
};

const suite_cases cases_diagnose = SUITE_CASES("diagnose", cases);
