/* partition.c - partitions of aggregators as an operator sees them, and what may be done with one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#include <string.h>

#define ANN TEXT("ann")
#define LONG_SIZE 195 /* makes "pawl.partition/NAME" too long for a stream */

static void collect(suite *s, pawl_store *store, const char *aggregator, const char *partition,
                    const char *key, pawl_time at)
{
    const pawl_aggregator_row row = {.name      = pawl_text_of(aggregator),
                                     .partition = pawl_text_of(partition),
                                     .key       = pawl_text_of(key),
                                     .message   = suite_message(s, pawl_text_of(key))};
    EXPECT_OK(s,
              pawl_store_aggregator_insert(store, &row, SUITE_NOW + PAWL_HOURS(1), at, &s->error));
}

static void die(suite *s, pawl_store *store, const char *partition)
{
    COMMIT_ONE(s, store, flush_set, .partition = pawl_text_of(partition), .due = SUITE_NOW + 9,
               .attempts = 10, .is_dead = true, .error = TEXT("the \"van\" is broken"));
}

static pawl_partition_rows list(suite *s, pawl_store *store, const pawl_partition_query *query)
{
    pawl_partition_rows rows;
    READ_ROWS(s, pawl_store_partition_list(store, query, s->arena, &rows, &s->error), rows);
    return rows;
}

static pawl_partition_row find(suite *s, pawl_store *store, const char *partition)
{
    pawl_partition_row row;
    EXPECT_OK(s,
              pawl_store_partition_find(store, pawl_text_of(partition), s->arena, &row, &s->error));
    return row;
}

static void expect_gone(suite *s, pawl_store *store, const char *partition)
{
    pawl_partition_row row;
    EXPECT_CODE(
        s, pawl_store_partition_find(store, pawl_text_of(partition), s->arena, &row, &s->error),
        PAWL_ENOTFOUND);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text),
                             suite_printf(s, "there is no aggregator partition '%s'", partition)));
}

static pawl_event_rows actions_of(suite *s, pawl_store *store, pawl_text partition)
{
    pawl_event_rows rows;
    READ_ROWS(s, pawl_store_partition_actions(store, partition, s->arena, &rows, &s->error), rows);
    return rows;
}

static void partitions_are_listed_with_their_message_counts_and_flushes(suite *s)
{
    pawl_store                *a = suite_open(s), *b = suite_open_bare(s);
    const pawl_partition_query all = {.count_max = 0};
    EXPECT_EQ(s, list(s, b, &all).count, 0);
    collect(s, a, "vans", "vans/kiel", "m-1", SUITE_NOW + 5);
    collect(s, a, "vans", "vans/kiel", "m-2", SUITE_NOW + 3);
    collect(s, a, "vans", "vans/bonn", "m-1", SUITE_NOW + 7);
    collect(s, a, "bills", "bills", "m-1", SUITE_NOW);
    die(s, a, "vans/bonn");
    pawl_partition_rows rows = list(s, b, &all);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("bills"));
    EXPECT_TEXT(s, rows.items[0].aggregator, TEXT("bills"));
    EXPECT_TEXT(s, rows.items[1].partition, TEXT("vans/bonn"));
    EXPECT_TEXT(s, rows.items[1].aggregator, TEXT("vans"));
    EXPECT_EQ(s, rows.items[1].count, 1);
    EXPECT(s, rows.items[1].is_dead);
    EXPECT_EQ(s, rows.items[1].attempts, 10);
    EXPECT_TEXT(s, rows.items[1].error, TEXT("the \"van\" is broken"));
    EXPECT_TEXT(s, rows.items[2].partition, TEXT("vans/kiel"));
    EXPECT_EQ(s, rows.items[2].count, 2);
    EXPECT_EQ(s, rows.items[2].oldest, SUITE_NOW + 3);
    EXPECT_EQ(s, rows.items[2].due, SUITE_NOW + PAWL_HOURS(1));
    EXPECT(s, !rows.items[2].is_dead);
    EXPECT_EQ(s, rows.items[2].attempts, 0);
}

static void partitions_are_listed_by_aggregator_state_and_page(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 5; i++)
        collect(s, a, "vans", suite_printf(s, "vans/%d", i).data, "m-1", SUITE_NOW);
    collect(s, a, "van", "van", "m-1", SUITE_NOW);
    die(s, a, "vans/3");
    const pawl_partition_query of   = {.aggregator = TEXT("vans"), .count_max = 2};
    const pawl_partition_query next = {
        .aggregator = TEXT("vans"), .after = TEXT("vans/1"), .count_max = 9};
    const pawl_partition_query dead = {.is_dead = true};
    pawl_partition_rows        rows = list(s, a, &of);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("vans/0"));
    rows = list(s, a, &next);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("vans/2"));
    rows = list(s, a, &dead);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("vans/3"));
}

static void a_released_partition_is_due_and_has_no_failure(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    collect(s, a, "vans", "vans/kiel", "m-1", SUITE_NOW);
    collect(s, a, "vans", "vans/bonn", "m-1", SUITE_NOW);
    die(s, a, "vans/kiel");
    EXPECT_OK(s, pawl_store_partition_run_now(b, TEXT("vans/kiel"), ANN, TEXT("it is mended"),
                                              SUITE_NOW + 7, &s->error));
    pawl_partition_row row = find(s, a, "vans/kiel");
    EXPECT(s, !row.is_dead);
    EXPECT_EQ(s, row.attempts, 0);
    EXPECT_EQ(s, row.due, SUITE_NOW + 7);
    EXPECT_EQ(s, row.count, 1);
    EXPECT_EQ(s, row.error.size, 0);
    EXPECT_EQ(s, find(s, a, "vans/bonn").due, SUITE_NOW + PAWL_HOURS(1));
    pawl_flush_rows due;
    READ_ROWS(s,
              pawl_store_flush_list(a, TEXT("vans"), SUITE_NOW + 7, 9, s->arena, &due, &s->error),
              due);
    EXPECT_EQ(s, due.count, 1);
}

static void a_removed_partition_is_deleted_with_its_messages(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    int64_t     count = -1;
    collect(s, a, "vans", "vans/kiel", "m-1", SUITE_NOW);
    collect(s, a, "vans", "vans/kiel", "m-2", SUITE_NOW);
    collect(s, a, "vans", "vans/bonn", "m-1", SUITE_NOW);
    pawl_aggregator_leased_batch         leased;
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    pawl_text                            type    = suite_message(s, TEXT("m-1")).type;
    options.partition                            = TEXT("vans/kiel");
    options.types                                = &type;
    options.type_count                           = 1;
    options.size                                 = 1;
    EXPECT_OK(s, pawl_store_aggregator_leased_batch(a, &options, SUITE_NOW, s->arena, &leased,
                                                    &s->error));
    EXPECT_EQ(s, leased.count, 1);
    EXPECT_OK(s, pawl_store_partition_remove(b, TEXT("vans/kiel"), ANN, TEXT("a test"),
                                             SUITE_NOW + 1, &count, &s->error));
    EXPECT_EQ(s, count, 2);
    expect_gone(s, a, "vans/kiel");
    EXPECT_OK(s, pawl_store_aggregator_count(a, TEXT("vans/kiel"), &count, &s->error));
    EXPECT_EQ(s, count, 0);
    EXPECT_EQ(s, find(s, a, "vans/bonn").count, 1);
    EXPECT_CODE(s, pawl_store_aggregator_remove_leased_batch(a, &leased, SUITE_NOW + 2, &s->error),
                PAWL_ECONFLICT);
    collect(s, a, "vans", "vans/kiel", "m-1", SUITE_NOW + 3);
    EXPECT_EQ(s, find(s, a, "vans/kiel").count, 1);
}

/* A flush row without messages remains if another program removed them. */
static void a_partition_without_messages_can_be_removed(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     count = -1;
    collect(s, a, "vans", "vans", "m-1", SUITE_NOW);
    EXPECT_OK(s, pawl_store_aggregator_remove_all(a, TEXT("vans"), SUITE_NOW, &s->error));
    pawl_partition_row row = find(s, a, "vans");
    EXPECT_EQ(s, row.count, 0);
    EXPECT_EQ(s, row.oldest, 0);
    EXPECT_OK(s, pawl_store_partition_remove(a, TEXT("vans"), ANN, TEXT(""), SUITE_NOW, &count,
                                             &s->error));
    EXPECT_EQ(s, count, 0);
    expect_gone(s, a, "vans");
}

static void actions_on_a_partition_leave_events_with_author_time_and_reason(suite *s)
{
    static const char *const parts[] = {"\"by\":\"ann\"",
                                        "\"reason\":\"it is mended\"",
                                        "\"count\":1",
                                        "\"attempts\":10",
                                        "\"was\":\"dead\"",
                                        "the \\\"van\\\" is broken",
                                        "\"aggregator\":\"vans\""};
    pawl_store              *a       = suite_open(s);
    int64_t                  count;
    collect(s, a, "vans", "vans/kiel", "m-1", SUITE_NOW);
    die(s, a, "vans/kiel");
    EXPECT_EQ(s, actions_of(s, a, TEXT("vans/kiel")).count, 0);
    EXPECT_OK(s, pawl_store_partition_run_now(a, TEXT("vans/kiel"), ANN, TEXT("it is mended"),
                                              SUITE_NOW + 7, &s->error));
    EXPECT_OK(s, pawl_store_partition_remove(a, TEXT("vans/kiel"), ANN, TEXT(""), SUITE_NOW + 8,
                                             &count, &s->error));
    pawl_event_rows rows = actions_of(s, a, TEXT("vans/kiel"));
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].event.type, TEXT(PAWL_PARTITION_RUN_NOW));
    EXPECT_EQ(s, rows.items[0].event.at, SUITE_NOW + 7);
    EXPECT_TEXT(s, rows.items[1].event.type, TEXT(PAWL_PARTITION_REMOVED));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!suite_text_has(rows.items[0].event.headers, pawl_text_of(parts[i])))
            suite_fail(s, __FILE__, __LINE__, "the event's headers lack %s: %.*s", parts[i],
                       PAWL_TEXT_ARGS(rows.items[0].event.headers));
}

static void actions_on_a_partition_with_a_long_name_leave_events_too(suite *s)
{
    pawl_store *a = suite_open(s);
    char        name[LONG_SIZE + 1];
    memset(name, 'n', LONG_SIZE);
    name[LONG_SIZE] = '\0';
    collect(s, a, "vans", name, "m-1", SUITE_NOW);
    EXPECT_OK(s, pawl_store_partition_run_now(a, pawl_text_of(name), ANN, TEXT(""), SUITE_NOW,
                                              &s->error));
    EXPECT_EQ(s, actions_of(s, a, pawl_text_of(name)).count, 1);
}

static void an_invalid_action_on_a_partition_is_refused(suite *s)
{
    pawl_store *a     = suite_open(s);
    int64_t     count = -1;
    char        why[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    memset(why, 'y', PAWL_ERROR_TEXT_SIZE_MAX);
    why[PAWL_ERROR_TEXT_SIZE_MAX] = '\0';
    collect(s, a, "vans", "vans", "m-1", SUITE_NOW);
    EXPECT_CODE(s,
                pawl_store_partition_run_now(a, TEXT("van"), ANN, TEXT(""), SUITE_NOW, &s->error),
                PAWL_ENOTFOUND);
    EXPECT_CODE(
        s, pawl_store_partition_remove(a, TEXT("van"), ANN, TEXT(""), SUITE_NOW, &count, &s->error),
        PAWL_ENOTFOUND);
    EXPECT_CODE(
        s, pawl_store_partition_run_now(a, TEXT("vans"), TEXT(""), TEXT(""), SUITE_NOW, &s->error),
        PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_partition_run_now(a, TEXT(""), ANN, TEXT(""), SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(
        s,
        pawl_store_partition_run_now(a, TEXT("vans"), ANN, pawl_text_of(why), SUITE_NOW, &s->error),
        PAWL_ELIMIT);
    EXPECT_EQ(s, find(s, a, "vans").due, SUITE_NOW + PAWL_HOURS(1));
    EXPECT_EQ(s, actions_of(s, a, TEXT("vans")).count, 0);
    EXPECT_EQ(s, actions_of(s, a, TEXT("van")).count, 0);
}

static const suite_case cases[] = {
    {"A7 A6 partitions are listed with their message counts and flushes",
     partitions_are_listed_with_their_message_counts_and_flushes},
    {"A7 partitions are listed by aggregator, state and page",
     partitions_are_listed_by_aggregator_state_and_page},
    {"A7 a released partition is due and has no failure",
     a_released_partition_is_due_and_has_no_failure},
    {"A24 A27 a removed partition is deleted with its messages",
     a_removed_partition_is_deleted_with_its_messages},
    {"A24 a partition without messages can be removed",
     a_partition_without_messages_can_be_removed},
    {"A24 actions on a partition leave events with author, time and reason",
     actions_on_a_partition_leave_events_with_author_time_and_reason},
    {"A7 actions on a partition with a long name leave events, too",
     actions_on_a_partition_with_a_long_name_leave_events_too},
    {"A22 an invalid action on a partition is refused",
     an_invalid_action_on_a_partition_is_refused},
};

const suite_cases cases_op_partition = SUITE_CASES("operation partition", cases);
