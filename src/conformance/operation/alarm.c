/* alarm.c - alarms, which are raised until they end or their worker ends.
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
    READ_ROWS(s, pawl_store_alarms(store, s->arena, &rows, &s->error), rows);
    return rows;
}

static void raise_it(suite *s, pawl_store *store, const char *what, const char *text)
{
    const pawl_alarm alarm = alarm_of(store, what, text);
    EXPECT_OK(s, pawl_store_alarm_raise(store, &alarm, &s->error));
}

static void an_alarm_is_listed_until_it_is_ended(suite *s)
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

static void an_alarm_is_listed_after_others_raised_and_ended_many(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    raise_it(s, a, "route", "bank");
    for (int i = 0; i < 40; i++) {
        const pawl_alarm ended = alarm_of(b, "breaker", "");
        raise_it(s, b, "breaker", "away");
        EXPECT_OK(s, pawl_store_alarm_end(b, &ended, &s->error));
    }
    pawl_alarm_rows rows = alarms(s, b);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].what, TEXT("route"));
}

static void an_alarm_ends_when_its_worker_is_closed(suite *s)
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

static void an_alarm_of_another_epoch_of_its_worker_is_not_listed(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    pawl_alarm  alarm = alarm_of(a, "route", "away");
    alarm.epoch       = pawl_store_epoch(a) + 1;
    EXPECT_OK(s, pawl_store_alarm_raise(b, &alarm, &s->error));
    EXPECT_EQ(s, alarms(s, b).count, 0);
    alarm.epoch--;
    EXPECT_OK(s, pawl_store_alarm_raise(a, &alarm, &s->error));
    EXPECT_EQ(s, alarms(s, b).count, 1);
}

/* Shorter than the heartbeat timeout of workers. */
#define SHORT_LEASE PAWL_SECONDS(1)

static bool leads(suite *s, pawl_store *store, pawl_text name, pawl_time now)
{
    bool is_held = false;
    EXPECT_OK(s, pawl_store_lead(store, name, now, SHORT_LEASE, &is_held, &s->error));
    return is_held;
}

/* When a worker takes over a lease, the old leader's alarms for that lease disappear, its other alarms stay. */
static void an_alarm_of_a_lease_ends_when_another_worker_takes_the_lease(suite *s)
{
    const pawl_text lease = TEXT("outbox/suite");
    pawl_store     *a = suite_open(s), *b = suite_open(s);
    pawl_alarm      alarm = alarm_of(a, "route", "away");
    alarm.lease           = lease;
    EXPECT(s, leads(s, a, lease, SUITE_NOW));
    EXPECT(s, leads(s, b, TEXT("outbox/other"), SUITE_NOW));
    EXPECT_OK(s, pawl_store_alarm_raise(a, &alarm, &s->error));
    raise_it(s, a, "breaker", "open");
    EXPECT_EQ(s, alarms(s, b).count, 2);
    EXPECT(s, leads(s, b, lease, SUITE_NOW + SHORT_LEASE));
    pawl_alarm_rows rows = alarms(s, b);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].what, TEXT("breaker"));
    alarm.worker = pawl_store_worker(b);
    EXPECT_OK(s, pawl_store_alarm_raise(b, &alarm, &s->error));
    EXPECT_EQ(s, alarms(s, a).count, 2);
}

static void an_alarm_without_an_endpoint_is_refused(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_alarm  alarm = alarm_of(a, "breaker", "away");
    alarm.endpoint    = TEXT("");
    EXPECT_CODE(s, pawl_store_alarm_raise(a, &alarm, &s->error), PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_alarm_end(a, &alarm, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, alarms(s, a).count, 0);
}

static const suite_case cases[] = {
    {"O23 an alarm is listed until it is ended", an_alarm_is_listed_until_it_is_ended},
    {"O23 an alarm is listed after others raised and ended many",
     an_alarm_is_listed_after_others_raised_and_ended_many},
    {"O23 an alarm ends when its worker is closed", an_alarm_ends_when_its_worker_is_closed},
    {"O23 an alarm of another epoch of its worker is not listed",
     an_alarm_of_another_epoch_of_its_worker_is_not_listed},
    {"O23 an alarm of a lease ends when another worker takes the lease",
     an_alarm_of_a_lease_ends_when_another_worker_takes_the_lease},
    {"O23 an alarm without an endpoint is refused", an_alarm_without_an_endpoint_is_refused},
};

const suite_cases cases_alarm = SUITE_CASES("alarm", cases);
