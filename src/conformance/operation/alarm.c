/* alarm.c - alarms that stand until they end, or their worker does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_alarm.h"

static pawl_alarm alarm_of(pawl_store *store, const char *what, const char *text)
{
    return (pawl_alarm){.worker   = pawl_store_worker(store),
                        .endpoint = TEXT("suite"),
                        .what     = pawl_text_of(what),
                        .text     = pawl_text_of(text),
                        .since    = SUITE_NOW};
}

static pawl_alarm_rows alarms(suite *s, pawl_store *store)
{
    pawl_alarm_rows rows = {.count = 0};
    EXPECT_OK(s, pawl_store_alarms(store, s->arena, &rows, &s->error));
    return rows;
}

static void raise_it(suite *s, pawl_store *store, const char *what, const char *text)
{
    const pawl_alarm alarm = alarm_of(store, what, text);
    EXPECT_OK(s, pawl_store_alarm_raise(store, &alarm, &s->error));
}

static void an_alarm_stands_until_it_ends(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, alarms(s, a).count, 0);
    raise_it(s, a, "breaker", "the bank is \"away\"");
    raise_it(s, b, "retention", "no right");
    pawl_alarm_rows rows = alarms(s, b);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].what, TEXT("retention"));
    EXPECT_TEXT(s, rows.items[1].what, TEXT("breaker"));
    EXPECT_TEXT(s, rows.items[1].endpoint, TEXT("suite"));
    EXPECT_TEXT(s, rows.items[1].text, TEXT("the bank is \"away\""));
    EXPECT_EQ(s, rows.items[1].since, SUITE_NOW);
    EXPECT(s, pawl_uuid_compare(rows.items[1].worker.uuid, pawl_store_worker(a).uuid) == 0);
    const pawl_alarm ended = alarm_of(a, "breaker", "");
    EXPECT_OK(s, pawl_store_alarm_end(a, &ended, &s->error));
    rows = alarms(s, b);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].what, TEXT("retention"));
    raise_it(s, a, "breaker", "again");
    EXPECT_EQ(s, alarms(s, b).count, 2);
}

static void an_alarm_goes_with_its_worker(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    raise_it(s, a, "breaker", "away");
    raise_it(s, b, "breaker", "away");
    EXPECT_EQ(s, alarms(s, b).count, 2);
    suite_end_worker(s, a);
    suite_close(s, a);
    pawl_alarm_rows rows = alarms(s, b);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, pawl_uuid_compare(rows.items[0].worker.uuid, pawl_store_worker(b).uuid) == 0);
}

static void an_alarm_names_its_endpoint(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_alarm  alarm = alarm_of(a, "breaker", "away");
    alarm.endpoint    = TEXT("");
    EXPECT_CODE(s, pawl_store_alarm_raise(a, &alarm, &s->error), PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_alarm_end(a, &alarm, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, alarms(s, a).count, 0);
}

static const suite_case cases[] = {
    {"O23 an alarm stands until it ends", an_alarm_stands_until_it_ends},
    {"O23 an alarm goes with its worker", an_alarm_goes_with_its_worker},
    {"O23 an alarm names its endpoint", an_alarm_names_its_endpoint},
};

const suite_cases cases_alarm = SUITE_CASES("alarm", cases);
