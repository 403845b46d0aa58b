/* sweep.c - retention: which rows a sweep removes, and how many at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static int64_t sweep(suite *s, pawl_store *store, pawl_sweep what, bool *more)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_sweep(store, &what, &count, more, &s->error));
    return count;
}

static void the_sweep_deletes_old_deduplication_records_a_limited_number_at_a_time(suite *s)
{
    pawl_store *a    = suite_open(s);
    bool        more = true;
    for (int i = 0; i < 5; i++)
        COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"),
                   .message_id = suite_printf(s, "m-%d", i), .at = SUITE_NOW + i);
    EXPECT_EQ(s, sweep(s, a, (pawl_sweep){.inbox_before = SUITE_NOW, .count_max = 100}, &more), 0);
    EXPECT(s, !more);
    EXPECT_EQ(s, sweep(s, a, (pawl_sweep){.inbox_before = SUITE_NOW + 3, .count_max = 2}, &more),
              2);
    EXPECT(s, more);
    EXPECT_EQ(s, sweep(s, a, (pawl_sweep){.inbox_before = SUITE_NOW + 3, .count_max = 100}, &more),
              1);
    EXPECT(s, !more);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(s, suite_knows(s, a, TEXT("suite"), suite_printf(s, "m-%d", i)), i >= 3);
}

/* Clocks differ, so an old inbox entry may come after many newer ones. */
static void the_sweep_deletes_old_deduplication_records_between_newer_ones(suite *s)
{
    pawl_store *a    = suite_open(s);
    suite_set   set  = suite_changes(s);
    bool        more = true;
    for (unsigned i = 0; i < 1400; i++)
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = suite_printf(s, "m-%u", i),
            .at = i % 700 == 699 ? SUITE_NOW : SUITE_NOW + 9);
    COMMIT(&set, a);
    pawl_sweep what = {.inbox_before = SUITE_NOW + 9, .count_max = 100};
    EXPECT_EQ(s, sweep(s, a, what, &more), 2);
    EXPECT(s, !more);
    EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("m-699")));
    EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("m-1399")));
    EXPECT(s, suite_knows(s, a, TEXT("suite"), TEXT("m-1398")));
}

/* Rows 1 to 6: two dispatched early, one late, one dead, one pending, one blocked. */
static void make_outbox(suite *s, pawl_store *a, int64_t *ids)
{
    suite_set set = suite_changes(s);
    for (unsigned i = 1; i <= 6; i++)
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(i),
            .source = suite_printf(s, "S/%u", i), .version = 1, .endpoint = TEXT("suite"),
            .destination = TEXT("billing"), .message = suite_message(s, TEXT("m")),
            .at = SUITE_NOW - PAWL_DAYS(90));
    COMMIT(&set, a);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, rows.count, 6);
    suite_set last = suite_changes(s);
    for (unsigned i = 0; i < 6; i++) {
        ids[i] = rows.items[i].id;
        if (i < 4)
            ADD(&last, outbox_settle, .id = ids[i],
                .state = i < 3 ? PAWL_OUTBOX_DISPATCHED : PAWL_OUTBOX_DEAD, .attempts = 1,
                .outcome = i < 3 ? PAWL_ATTEMPT_SUCCESS : PAWL_ATTEMPT_REJECTED,
                .at      = i < 2 ? SUITE_NOW - PAWL_DAYS(31) : SUITE_NOW - PAWL_DAYS(30));
    }
    ADD(&last, outbox_block, .source = TEXT("S/6"), .after = 0);
    COMMIT(&last, a);
}

static void the_sweep_deletes_only_old_delivered_outbox_rows_with_their_attempts(suite *s)
{
    pawl_store *a    = suite_open(s);
    bool        more = true;
    int64_t     ids[6];
    make_outbox(s, a, ids);
    pawl_sweep what = {.outbox_before = SUITE_NOW - PAWL_DAYS(30), .count_max = 1};
    EXPECT_EQ(s, sweep(s, a, what, &more), 1);
    EXPECT(s, more);
    what.count_max = 100;
    EXPECT_EQ(s, sweep(s, a, what, &more), 1);
    EXPECT(s, !more);
    EXPECT_EQ(s, sweep(s, a, what, &more), 0);
    for (size_t i = 0; i < 4; i++)
        EXPECT_EQ(s, suite_attempts(s, a, ids[i]).count, i >= 2 ? 1 : 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DEAD).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 1);
}

static void the_sweep_counts_deleted_outbox_rows_separately_too(suite *s)
{
    pawl_store *a      = suite_open(s);
    bool        more   = false;
    int64_t     outbox = -1, ids[6];
    make_outbox(s, a, ids);
    for (int i = 0; i < 2; i++)
        COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"),
                   .message_id = suite_printf(s, "m-%d", i), .at = SUITE_NOW);
    pawl_sweep what = {.inbox_before  = SUITE_NOW + 1,
                       .outbox_before = SUITE_NOW - PAWL_DAYS(30),
                       .count_max     = 1,
                       .outbox_count  = &outbox};
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(s, sweep(s, a, what, &more), 2);
        EXPECT_EQ(s, outbox, 1);
        EXPECT(s, more || i == 1);
        outbox = -1;
    }
    EXPECT_EQ(s, sweep(s, a, what, &more), 0);
    EXPECT_EQ(s, outbox, 0);
    EXPECT(s, !more);
}

static void the_sweep_of_workers_keeps_live_workers_and_all_counters(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    bool        more              = true;
    suite_set   set               = suite_changes(s);
    set.changes.counters.messages = 7;
    COMMIT(&set, a);
    suite_end_worker(s, a);
    sweep(s, b, (pawl_sweep){.workers_before = SUITE_NOW, .count_max = 100}, &more);
    pawl_stats stats = suite_stats_of(s, b, SUITE_NOW);
    EXPECT_EQ(s, stats.counters.messages, 7);
    EXPECT_EQ(s, stats.workers, 1);
    suite_send(s, b, TEXT("orders"), "m-1", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, b, TEXT("orders"), SUITE_NOW, 1).count, 1);
}

static const suite_case cases[] = {
    {"E34 the sweep deletes old deduplication records, a limited number at a time",
     the_sweep_deletes_old_deduplication_records_a_limited_number_at_a_time},
    {"E34 the sweep deletes old deduplication records between newer ones",
     the_sweep_deletes_old_deduplication_records_between_newer_ones},
    {"O19 E34 the sweep counts deleted outbox rows separately, too",
     the_sweep_counts_deleted_outbox_rows_separately_too},
    {"O19 the sweep deletes only old delivered outbox rows, with their attempts",
     the_sweep_deletes_only_old_delivered_outbox_rows_with_their_attempts},
    {"the sweep of workers keeps live workers and all counters",
     the_sweep_of_workers_keeps_live_workers_and_all_counters},
};

const suite_cases cases_sweep = SUITE_CASES("sweep", cases);
