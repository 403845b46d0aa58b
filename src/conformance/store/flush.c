/* flush.c - flush rows: the state of each partition's flushes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define BILLS TEXT("Bills")

static void add(suite *s, pawl_store *store, const char *partition, const char *key, pawl_time due)
{
    COMMIT_ONE(s, store, aggregator_add, .name = BILLS, .partition = pawl_text_of(partition),
               .key = pawl_text_of(key), .message = suite_message(s, pawl_text_of(key)),
               .at = SUITE_NOW, .due = due);
}

static pawl_flush_rows flushes(suite *s, pawl_store *store, pawl_time due_max)
{
    pawl_flush_rows rows = {0};
    READ_ROWS(s, pawl_store_flush_list(store, BILLS, due_max, 100, s->arena, &rows, &s->error),
              rows);
    return rows;
}

static void the_first_message_of_a_partition_creates_its_flush(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, flushes(s, a, PAWL_TIME_MAX).count, 0);
    add(s, a, "Bills/1", "key-1", SUITE_NOW + 10);
    add(s, a, "Bills/1", "key-2", SUITE_NOW - 10);
    EXPECT_EQ(s, flushes(s, a, SUITE_NOW + 9).count, 0);
    pawl_flush_rows rows = flushes(s, a, SUITE_NOW + 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].name, BILLS);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("Bills/1"));
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 10);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
    EXPECT(s, !rows.items[0].is_dead);
}

static void flushes_are_listed_by_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills/3", "key-1", SUITE_NOW + 3);
    add(s, a, "Bills/4", "key-1", SUITE_NOW + 1);
    add(s, a, "Bills/2", "key-1", SUITE_NOW + 2);
    add(s, a, "Bills/1", "key-1", PAWL_TIME_MAX);
    COMMIT_ONE(s, a, aggregator_add, .name = TEXT("Other"), .partition = TEXT("Other"),
               .key = TEXT("key-1"), .message = suite_message(s, TEXT("key-1")), .at = SUITE_NOW,
               .due = SUITE_NOW);
    pawl_flush_rows rows = flushes(s, a, SUITE_NOW + 3);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("Bills/4"));
    EXPECT_TEXT(s, rows.items[1].partition, TEXT("Bills/2"));
    EXPECT_TEXT(s, rows.items[2].partition, TEXT("Bills/3"));
    READ_ROWS(s, pawl_store_flush_list(a, BILLS, SUITE_NOW + 3, 2, s->arena, &rows, &s->error),
              rows);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[1].partition, TEXT("Bills/2"));
}

static void a_failed_flush_keeps_its_attempts_its_error_and_its_next_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    COMMIT_ONE(s, a, flush_set, .partition = BILLS, .due = SUITE_NOW + 70, .attempts = 2,
               .error = TEXT("the printer is on fire"));
    EXPECT_EQ(s, flushes(s, a, SUITE_NOW + 69).count, 0);
    pawl_flush_rows rows = flushes(s, a, SUITE_NOW + 70);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 2);
    EXPECT_TEXT(s, rows.items[0].error, TEXT("the printer is on fire"));
    add(s, a, "Bills", "key-2", SUITE_NOW);
    EXPECT_EQ(s, flushes(s, a, SUITE_NOW + 70).items[0].attempts, 2);
}

static void a_flush_of_a_dead_partition_is_not_due_until_the_partition_is_restarted(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    COMMIT_ONE(s, a, flush_set, .partition = BILLS, .due = SUITE_NOW, .attempts = 9,
               .is_dead = true, .error = TEXT("given up"));
    EXPECT_EQ(s, flushes(s, a, PAWL_TIME_MAX).count, 0);
    add(s, a, "Bills", "key-2", SUITE_NOW);
    EXPECT_EQ(s, flushes(s, a, PAWL_TIME_MAX).count, 0);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 2);
    COMMIT_ONE(s, a, flush_set, .partition = BILLS, .due = SUITE_NOW + 1);
    pawl_flush_rows rows = flushes(s, a, SUITE_NOW + 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
}

static void a_finished_flush_is_deleted_only_if_its_partition_is_empty(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    add(s, a, "Bills", "key-2", SUITE_NOW + 500);
    suite_set set = suite_changes(s);
    ADD(&set, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
        .ids = &taken.items[0].id, .id_count = 1);
    ADD(&set, flush_set, .partition = BILLS, .due = SUITE_NOW + 60, .is_done = true);
    COMMIT(&set, a);
    pawl_flush_rows rows = flushes(s, a, PAWL_TIME_MAX);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 60);
    taken          = suite_snapshot_of(s, a, BILLS, 71, SUITE_NOW);
    suite_set last = suite_changes(s);
    ADD(&last, leased_batch_remove, .partition = BILLS, .session = suite_session_id(71),
        .ids = &taken.items[0].id, .id_count = 1);
    ADD(&last, flush_set, .partition = BILLS, .due = SUITE_NOW + 60, .is_done = true);
    COMMIT(&last, a);
    EXPECT_EQ(s, flushes(s, a, PAWL_TIME_MAX).count, 0);
    add(s, a, "Bills", "key-3", SUITE_NOW + 90);
    EXPECT_EQ(s, flushes(s, a, PAWL_TIME_MAX).items[0].due, SUITE_NOW + 90);
}

static void take_all(suite *s, pawl_store *store, suite_set *set, const char *partition,
                     unsigned session)
{
    pawl_leased_batch taken =
        suite_snapshot_of(s, store, pawl_text_of(partition), session, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 1);
    int64_t *id = pawl_arena_copy(s->arena, &taken.items[0].id, sizeof *id);
    ADD(set, leased_batch_remove, .partition = pawl_text_of(partition),
        .session = suite_session_id(session), .ids = id, .id_count = 1);
}

static const pawl_flush_row *find_flush(const pawl_flush_rows *rows, const char *partition)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_text_equal(rows->items[i].partition, pawl_text_of(partition)))
            return &rows->items[i];
    return NULL;
}

/* Several sets in one commit act as in separate commits: a set after the one that removed the row finds none, and
 * inserts none. */
static void changes_of_flushes_in_one_commit_apply_in_their_order(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 1; i < 6; i++)
        add(s, a, suite_printf(s, "Bills/%u", i).data, "key-1", SUITE_NOW);
    take_all(s, a, &set, "Bills/1", 71);
    take_all(s, a, &set, "Bills/2", 72);
    take_all(s, a, &set, "Bills/4", 74);
    ADD(&set, flush_set, .partition = TEXT("Bills/2"), .due = SUITE_NOW + 7, .attempts = 1);
    ADD(&set, flush_set, .partition = TEXT("Bills/4"), .due = SUITE_NOW + 8, .attempts = 1);
    ADD(&set, flush_set, .partition = TEXT("Bills/1"), .due = SUITE_NOW + 60, .is_done = true);
    ADD(&set, flush_set, .partition = TEXT("Bills/3"), .due = SUITE_NOW + 60, .is_done = true);
    ADD(&set, flush_set, .partition = TEXT("Bills/4"), .due = SUITE_NOW + 60, .is_done = true);
    ADD(&set, flush_set, .partition = TEXT("Bills/1"), .due = SUITE_NOW + 9, .attempts = 3);
    ADD(&set, flush_set, .partition = TEXT("Bills/3"), .due = SUITE_NOW + 61, .attempts = 2);
    COMMIT(&set, a);
    pawl_flush_rows rows = flushes(s, a, PAWL_TIME_MAX);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT(s, find_flush(&rows, "Bills/2") != NULL && find_flush(&rows, "Bills/3") != NULL);
    EXPECT_EQ(s, find_flush(&rows, "Bills/2")->due, SUITE_NOW + 7);
    EXPECT_EQ(s, find_flush(&rows, "Bills/2")->attempts, 1);
    EXPECT_EQ(s, find_flush(&rows, "Bills/3")->due, SUITE_NOW + 61);
    EXPECT_EQ(s, find_flush(&rows, "Bills/3")->attempts, 2);
    EXPECT(s, find_flush(&rows, "Bills/5") != NULL);
}

static void a_change_of_a_flush_that_does_not_exist_is_ignored(suite *s)
{
    pawl_store *a = suite_open(s);
    COMMIT_ONE(s, a, flush_set, .partition = BILLS, .due = SUITE_NOW, .is_done = true);
    COMMIT_ONE(s, a, flush_set, .partition = TEXT("Bills/2"), .due = SUITE_NOW, .attempts = 1);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
}

static void counting_a_partition_returns_its_flushs_due_time_and_attempts_too(suite *s)
{
    pawl_store            *a      = suite_open(s);
    pawl_aggregator_counts counts = suite_counts(s, a, BILLS, SUITE_NOW);
    EXPECT_EQ(s, counts.flush_due, 0);
    EXPECT_EQ(s, counts.flush_attempts, 0);
    EXPECT(s, !counts.flush_is_dead);
    add(s, a, "Bills", "key-1", SUITE_NOW + 5);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).flush_due, SUITE_NOW + 5);
    COMMIT_ONE(s, a, flush_set, .partition = BILLS, .due = SUITE_NOW + 6, .attempts = 3,
               .is_dead = true);
    counts = suite_counts(s, a, BILLS, SUITE_NOW);
    EXPECT_EQ(s, counts.flush_due, SUITE_NOW + 6);
    EXPECT_EQ(s, counts.flush_attempts, 3);
    EXPECT(s, counts.flush_is_dead);
    EXPECT_EQ(s, counts.all, 1);
}

static pawl_time next_flush(suite *s, pawl_store *store, const pawl_text *names, size_t count)
{
    pawl_next_due next = {0};
    EXPECT_OK(s, pawl_store_next_due(store, TEXT("orders"), names, count, &next, &s->error));
    return next.flush;
}

static void the_next_due_time_of_flushes_is_the_earliest_of_the_named_aggregators(suite *s)
{
    pawl_store *a       = suite_open(s);
    pawl_text   names[] = {TEXT("Other"), BILLS};
    EXPECT_EQ(s, next_flush(s, a, names, 2), PAWL_TIME_MAX);
    add(s, a, "Bills/1", "key-1", SUITE_NOW + 20);
    add(s, a, "Bills/2", "key-1", PAWL_TIME_MAX);
    COMMIT_ONE(s, a, aggregator_add, .name = TEXT("Other"), .partition = TEXT("Other"),
               .key = TEXT("key-1"), .message = suite_message(s, TEXT("key-1")), .at = SUITE_NOW,
               .due = SUITE_NOW + 10);
    EXPECT_EQ(s, next_flush(s, a, names, 2), SUITE_NOW + 10);
    EXPECT_EQ(s, next_flush(s, a, names + 1, 1), SUITE_NOW + 20);
    EXPECT_EQ(s, next_flush(s, a, NULL, 0), PAWL_TIME_MAX);
    COMMIT_ONE(s, a, flush_set, .partition = TEXT("Other"), .due = SUITE_NOW + 10, .is_dead = true);
    EXPECT_EQ(s, next_flush(s, a, names, 2), SUITE_NOW + 20);
    COMMIT_ONE(s, a, flush_set, .partition = TEXT("Bills/1"), .due = PAWL_TIME_MAX);
    EXPECT_EQ(s, next_flush(s, a, names, 2), PAWL_TIME_MAX);
}

static const suite_case cases[] = {
    {"E20 the first message of a partition creates its flush",
     the_first_message_of_a_partition_creates_its_flush},
    {"E20 flushes are listed by due time", flushes_are_listed_by_due_time},
    {"E21 a failed flush keeps its attempts, its error and its next due time",
     a_failed_flush_keeps_its_attempts_its_error_and_its_next_due_time},
    {"E21 a flush of a dead partition is not due until the partition is restarted",
     a_flush_of_a_dead_partition_is_not_due_until_the_partition_is_restarted},
    {"E20 a finished flush is deleted only if its partition is empty",
     a_finished_flush_is_deleted_only_if_its_partition_is_empty},
    {"E20 changes of flushes in one commit apply in their order",
     changes_of_flushes_in_one_commit_apply_in_their_order},
    {"E20 a change of a flush that does not exist is ignored",
     a_change_of_a_flush_that_does_not_exist_is_ignored},
    {"E21 counting a partition returns its flush's due time and attempts, too",
     counting_a_partition_returns_its_flushs_due_time_and_attempts_too},
    {"E20 the next due time of flushes is the earliest of the named aggregators",
     the_next_due_time_of_flushes_is_the_earliest_of_the_named_aggregators},
};

const suite_cases cases_flush = SUITE_CASES("flush", cases);
