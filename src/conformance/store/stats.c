/* stats.c - counts for an operator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

/* The queue must be there. */
static const pawl_queue_stats *queue_of(suite *s, const pawl_stats *stats, pawl_text queue)
{
    for (size_t i = 0; i < stats->queue_count; i++)
        if (pawl_text_equal(stats->queues[i].queue, queue))
            return &stats->queues[i];
    suite_fail(s, __FILE__, __LINE__, "the statistics do not contain queue '%.*s'",
               PAWL_TEXT_ARGS(queue));
}

static void the_statistics_of_an_empty_store_are_zero(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_stats  stats = suite_stats_of(s, a, SUITE_NOW);
    for (size_t i = 0; i < stats.queue_count; i++)
        EXPECT_EQ(s, stats.queues[i].ready + stats.queues[i].scheduled, 0);
    EXPECT_EQ(s, stats.timeouts_due + stats.timeouts_pending, 0);
    EXPECT_EQ(s, stats.outbox_pending + stats.outbox_blocked + stats.outbox_dead, 0);
    EXPECT_EQ(s, stats.outbox_oldest, 0);
    EXPECT_EQ(s, stats.aggregator_rows + stats.flushes_dead + stats.dead + stats.inbox, 0);
    EXPECT_EQ(s, stats.workers, 1);
    EXPECT_EQ(s, stats.counters.messages, 0);
}

static void statistics_tell_a_queues_ready_messages_from_its_scheduled_ones(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW - 8);
    suite_send(s, a, TEXT("orders"), "m-2", SUITE_NOW);
    suite_send(s, a, TEXT("orders"), "m-3", SUITE_NOW + 1);
    suite_send(s, a, TEXT("billing"), "m-1", SUITE_NOW + 1);
    pawl_stats              stats = suite_stats_of(s, a, SUITE_NOW);
    const pawl_queue_stats *queue = queue_of(s, &stats, TEXT("orders"));
    EXPECT_EQ(s, queue->ready, 2);
    EXPECT_EQ(s, queue->scheduled, 1);
    EXPECT_EQ(s, queue->oldest, SUITE_NOW - 8);
    queue = queue_of(s, &stats, TEXT("billing"));
    EXPECT_EQ(s, queue->ready, 0);
    EXPECT_EQ(s, queue->scheduled, 1);
    EXPECT_EQ(s, queue->oldest, 0);
}

static void statistics_tell_the_earliest_due_time_of_a_queues_messages(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, TEXT("orders"), "m-1", SUITE_NOW - 9);
    suite_send(s, a, TEXT("orders"), "m-2", SUITE_NOW - 5);
    int64_t first = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1).items[0].seq;
    /* The retried message keeps its place before the other, but is due after it. */
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("orders"),
               .seq = first, .due = SUITE_NOW - 1, .attempts = 1);
    pawl_stats              stats = suite_stats_of(s, a, SUITE_NOW);
    const pawl_queue_stats *queue = queue_of(s, &stats, TEXT("orders"));
    EXPECT_EQ(s, queue->ready, 2);
    EXPECT_EQ(s, queue->oldest, SUITE_NOW - 5);
}

static void retry_at(suite *s, pawl_store *store, const pawl_queue_row *row, pawl_time due,
                     int attempts)
{
    COMMIT_ONE(s, store, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("orders"),
               .seq = row->seq, .due = due, .attempts = attempts,
               .waiting_since = attempts == 0 ? SUITE_NOW : 0);
}

/* A message that only waits, was sent for later or is due again is not counted as a delayed retry. */
static void statistics_count_messages_that_wait_for_a_delayed_retry(suite *s)
{
    pawl_store *a     = suite_open(s);
    const char *ids[] = {"due again", "waits", "first", "second"};
    for (int i = 0; i < 4; i++)
        suite_send(s, a, TEXT("orders"), ids[i], SUITE_NOW - 9 + i);
    suite_send(s, a, TEXT("orders"), "later", SUITE_NOW + 50);
    suite_send(s, a, TEXT("mail"), "later", SUITE_NOW + 50);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 4);
    EXPECT_EQ(s, rows.count, 4);
    retry_at(s, a, &rows.items[0], SUITE_NOW, 1);
    retry_at(s, a, &rows.items[1], SUITE_NOW + 30, 0);
    retry_at(s, a, &rows.items[2], SUITE_NOW + 40, 2);
    retry_at(s, a, &rows.items[3], SUITE_NOW + 20, 1);
    pawl_stats              stats = suite_stats_of(s, a, SUITE_NOW);
    const pawl_queue_stats *queue = queue_of(s, &stats, TEXT("orders"));
    EXPECT_EQ(s, queue->scheduled, 4);
    EXPECT_EQ(s, queue->retried, 2);
    EXPECT_EQ(s, queue->retried_since, SUITE_NOW - 7);
    queue = queue_of(s, &stats, TEXT("mail"));
    EXPECT_EQ(s, queue->scheduled, 1);
    EXPECT_EQ(s, queue->retried, 0);
    EXPECT_EQ(s, queue->retried_since, 0);
    stats = suite_stats_of(s, a, SUITE_NOW + 20);
    queue = queue_of(s, &stats, TEXT("orders"));
    EXPECT_EQ(s, queue->retried, 1);
    EXPECT_EQ(s, queue->retried_since, SUITE_NOW - 7);
    stats = suite_stats_of(s, a, SUITE_NOW + 40);
    queue = queue_of(s, &stats, TEXT("orders"));
    EXPECT_EQ(s, queue->retried, 0);
    EXPECT_EQ(s, queue->retried_since, 0);
}

static void statistics_count_outbox_rows_and_timeouts_by_state(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 1; i <= 5; i++)
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(i), .version = i,
            .source = TEXT("S"), .endpoint = TEXT("suite"), .destination = TEXT("billing"),
            .message = suite_message(s, TEXT("m")), .at = SUITE_NOW + i);
    for (unsigned i = 1; i <= 2; i++)
        ADD(&set, timeout_set, .id = suite_timeout_id(i), .destination = TEXT("orders"),
            .due = SUITE_NOW + 10 * i);
    COMMIT(&set, a);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    suite_set        last = suite_changes(s);
    ADD(&last, outbox_settle, .id = rows.items[0].id, .state = PAWL_OUTBOX_DEAD, .attempts = 1,
        .outcome = PAWL_ATTEMPT_REJECTED, .at = SUITE_NOW);
    ADD(&last, outbox_settle, .id = rows.items[1].id, .state = PAWL_OUTBOX_DISPATCHED,
        .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW);
    ADD(&last, outbox_block, .source = TEXT("S"), .after = rows.items[3].id);
    COMMIT(&last, a);
    pawl_stats stats = suite_stats_of(s, a, SUITE_NOW);
    EXPECT_EQ(s, stats.outbox_pending, 2);
    EXPECT_EQ(s, stats.outbox_blocked, 1);
    EXPECT_EQ(s, stats.outbox_dead, 1);
    EXPECT_EQ(s, stats.outbox_oldest, SUITE_NOW + 3);
    EXPECT_EQ(s, stats.timeouts_due, 0);
    EXPECT_EQ(s, stats.timeouts_pending, 2);
    stats = suite_stats_of(s, a, SUITE_NOW + 10);
    EXPECT_EQ(s, stats.timeouts_due, 1);
    EXPECT_EQ(s, stats.timeouts_pending, 1);
    stats = suite_stats_of(s, a, SUITE_NOW + 20);
    EXPECT_EQ(s, stats.timeouts_due, 2);
    EXPECT_EQ(s, stats.timeouts_pending, 0);
}

static void statistics_count_deduplication_records_dead_letters_and_aggregators(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 3; i++) {
        pawl_text id = suite_printf(s, "m-%u", i);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = id, .at = SUITE_NOW);
        if (i < 2)
            ADD(&set, aggregator_add, .name = TEXT("Bills"), .partition = TEXT("Bills"), .key = id,
                .message = suite_message(s, id), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    }
    ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"),
        .message = suite_message(s, TEXT("d-1")), .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    ADD(&set, flush_set, .partition = TEXT("Bills"), .due = SUITE_NOW, .is_dead = true);
    COMMIT(&set, a);
    pawl_stats stats = suite_stats_of(s, a, SUITE_NOW);
    EXPECT_EQ(s, stats.inbox, 3);
    EXPECT_EQ(s, stats.aggregator_rows, 2);
    EXPECT_EQ(s, stats.dead, 1);
    EXPECT_EQ(s, stats.flushes_dead, 1);
}

/* For all aggregators; dead partitions, and those that are not due, do not count. */
static void statistics_count_partitions_whose_flush_is_due(suite *s)
{
    static const struct {
        const char *name, *partition;
        pawl_time   due;
        bool        is_dead;
    } rows[] = {
        {"Bills", "Bills/a", SUITE_NOW + 3, false}, {"Bills", "Bills/b", SUITE_NOW + 2, false},
        {"Bills", "Bills/c", SUITE_NOW + 9, false}, {"Vans", "Vans/a", SUITE_NOW + 1, false},
        {"Vans", "Vans/b", SUITE_NOW - 9, true},    {"Alike", "Alike", PAWL_TIME_MAX, false},
        {"Dead", "Dead", SUITE_NOW - 9, true},      {"Trams", "Trams", SUITE_NOW + 4, false},
    };
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pawl_text partition = pawl_text_of(rows[i].partition);
        ADD(&set, aggregator_add, .name = pawl_text_of(rows[i].name), .partition = partition,
            .key = TEXT("k"), .message = suite_message(s, partition), .at = SUITE_NOW,
            .due = rows[i].due);
        if (rows[i].is_dead)
            ADD(&set, flush_set, .partition = partition, .due = rows[i].due, .is_dead = true);
    }
    COMMIT(&set, a);
    pawl_stats stats = suite_stats_of(s, a, SUITE_NOW);
    EXPECT_EQ(s, stats.flushes_due, 0);
    EXPECT_EQ(s, stats.flushes_oldest, 0);
    stats = suite_stats_of(s, a, SUITE_NOW + 1);
    EXPECT_EQ(s, stats.flushes_due, 1);
    EXPECT_EQ(s, stats.flushes_oldest, SUITE_NOW + 1);
    stats = suite_stats_of(s, a, SUITE_NOW + 4);
    EXPECT_EQ(s, stats.flushes_due, 4);
    EXPECT_EQ(s, stats.flushes_oldest, SUITE_NOW + 1);
    EXPECT_EQ(s, stats.flushes_dead, 2);
}

static void count(suite *s, pawl_store *store, int64_t by)
{
    suite_set set        = suite_changes(s);
    set.changes.counters = (pawl_counters){by, 2 * by, 3 * by, 4 * by, 5 * by, 6 * by};
    COMMIT(&set, store);
}

static void statistics_sum_the_counters_of_all_workers_closed_ones_included(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    count(s, a, 1);
    count(s, a, 10);
    count(s, b, 100);
    suite_end_worker(s, a);
    pawl_stats stats = suite_stats_of(s, b, SUITE_NOW);
    EXPECT_EQ(s, stats.workers, 1);
    EXPECT_EQ(s, stats.counters.messages, 111);
    EXPECT_EQ(s, stats.counters.timeouts, 222);
    EXPECT_EQ(s, stats.counters.flushes, 333);
    EXPECT_EQ(s, stats.counters.failures, 444);
    EXPECT_EQ(s, stats.counters.conflicts, 555);
    EXPECT_EQ(s, stats.counters.dead, 666);
    suite_close(s, a);
    pawl_store *c = suite_open(s);
    count(s, c, 1000);
    stats = suite_stats_of(s, b, SUITE_NOW);
    EXPECT_EQ(s, stats.workers, 2);
    EXPECT_EQ(s, stats.counters.messages, 1111);
}

static pawl_stats stats_up_to(suite *s, pawl_store *store, int64_t count_max)
{
    pawl_stats stats = PAWL_STATS_INIT;
    stats.count_max  = count_max;
    EXPECT_OK(s, pawl_store_stats(store, SUITE_NOW, s->arena, &stats, &s->error));
    return stats;
}

/* Adds three rows of every kind, in two queues. */
static void place_three_of_each(suite *s, pawl_store *store)
{
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < 3; i++) {
        pawl_text id = suite_printf(s, "m-%u", i), name = suite_printf(s, "P-%u", i);
        suite_send(s, store, TEXT("orders"), id.data, SUITE_NOW - 9 + i);
        suite_send(s, store, TEXT("mail"), id.data, SUITE_NOW + 1);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = id, .at = SUITE_NOW);
        ADD(&set, aggregator_add, .name = TEXT("Bills"), .partition = name, .key = id,
            .message = suite_message(s, id), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
        ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"),
            .message = suite_message(s, id), .code = TEXT("X"), .at = SUITE_NOW + i);
        ADD(&set, flush_set, .partition = name, .due = SUITE_NOW, .is_dead = true);
        ADD(&set, timeout_set, .id = suite_timeout_id(i + 1), .destination = TEXT("orders"),
            .due = SUITE_NOW - i);
        ADD(&set, timeout_set, .id = suite_timeout_id(i + 4), .destination = TEXT("mail"),
            .due = SUITE_NOW + 1 + i);
    }
    for (unsigned i = 1; i <= 9; i++)
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(i), .version = i,
            .source = i < 7 ? TEXT("S") : TEXT("T"), .endpoint = TEXT("suite"),
            .destination = TEXT("billing"), .message = suite_message(s, TEXT("m")),
            .at = SUITE_NOW + i);
    COMMIT(&set, store);
    pawl_outbox_rows rows = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING);
    suite_set        last = suite_changes(s);
    for (unsigned i = 0; i < 3; i++)
        ADD(&last, outbox_settle, .id = rows.items[i].id, .state = PAWL_OUTBOX_DEAD, .attempts = 1,
            .outcome = PAWL_ATTEMPT_REJECTED, .at = SUITE_NOW);
    ADD(&last, outbox_block, .source = TEXT("S"), .after = rows.items[2].id);
    COMMIT(&last, store);
}

/* However many rows there are, counting reads a limited number. */
static void statistics_count_each_kind_of_row_up_to_the_requested_maximum(suite *s)
{
    pawl_store *a = suite_open(s);
    place_three_of_each(s, a);
    for (int64_t max = 1; max <= 4; max++) {
        pawl_stats stats = stats_up_to(s, a, max);
        int64_t    count = max < 3 ? max : 3;
        EXPECT_EQ(s, stats.count_max, max);
        EXPECT_EQ(s, stats.queue_count, 2);
        EXPECT_TEXT(s, stats.queues[0].queue, TEXT("mail"));
        EXPECT_EQ(s, stats.queues[0].ready, 0);
        EXPECT_EQ(s, stats.queues[0].scheduled, count);
        EXPECT_TEXT(s, stats.queues[1].queue, TEXT("orders"));
        EXPECT_EQ(s, stats.queues[1].ready, count);
        EXPECT_EQ(s, stats.queues[1].scheduled, 0);
        EXPECT_EQ(s, stats.queues[1].oldest, SUITE_NOW - 9);
        EXPECT_EQ(s, stats.timeouts_due, count);
        EXPECT_EQ(s, stats.timeouts_pending, count);
        EXPECT_EQ(s, stats.outbox_pending, count);
        EXPECT_EQ(s, stats.outbox_oldest, SUITE_NOW + 7);
        EXPECT_EQ(s, stats.outbox_blocked, count);
        EXPECT_EQ(s, stats.outbox_dead, count);
        EXPECT_EQ(s, stats.aggregator_rows, count);
        EXPECT_EQ(s, stats.flushes_dead, count);
        EXPECT_EQ(s, stats.dead, count);
        EXPECT_EQ(s, stats.inbox, count);
    }
    pawl_stats stats = PAWL_STATS_INIT;
    stats.count_max  = -1;
    EXPECT_CODE(s, pawl_store_stats(a, SUITE_NOW, s->arena, &stats, &s->error), PAWL_EINVAL);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).count_max, PAWL_STATS_COUNT_MAX);
}

static const suite_case cases[] = {
    {"O23 the statistics of an empty store are zero", the_statistics_of_an_empty_store_are_zero},
    {"O23 statistics tell a queue's ready messages from its scheduled ones",
     statistics_tell_a_queues_ready_messages_from_its_scheduled_ones},
    {"O23 statistics tell the earliest due time of a queue's messages",
     statistics_tell_the_earliest_due_time_of_a_queues_messages},
    {"O23 statistics count messages that wait for a delayed retry",
     statistics_count_messages_that_wait_for_a_delayed_retry},
    {"O23 statistics count outbox rows and timeouts by state",
     statistics_count_outbox_rows_and_timeouts_by_state},
    {"O23 statistics count deduplication records, dead letters and aggregators",
     statistics_count_deduplication_records_dead_letters_and_aggregators},
    {"O23 statistics count partitions whose flush is due",
     statistics_count_partitions_whose_flush_is_due},
    {"O23 statistics sum the counters of all workers, closed ones included",
     statistics_sum_the_counters_of_all_workers_closed_ones_included},
    {"O23 statistics count each kind of row up to the requested maximum",
     statistics_count_each_kind_of_row_up_to_the_requested_maximum},
};

const suite_cases cases_stats = SUITE_CASES("stats", cases);
