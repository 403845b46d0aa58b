/* history.c - history lines: reading, finding and sweeping them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

static pawl_history_entry line_of(const char *source, const char *message, pawl_time at)
{
    return (pawl_history_entry){.endpoint   = TEXT("orders"),
                                .source     = pawl_text_of(source),
                                .message_id = pawl_text_of(message),
                                .type       = TEXT("PlaceOrder"),
                                .kind       = TEXT("message"),
                                .outcome    = TEXT("handled"),
                                .at         = at};
}

static pawl_history_rows find(suite *s, pawl_store *store, pawl_history_query query)
{
    pawl_history_rows rows;
    READ_ROWS(s, pawl_store_history_find(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

static void a_history_row_is_read_as_it_was_written(suite *s)
{
    pawl_store        *a = suite_open(s), *b = suite_open(s);
    pawl_history_entry line = line_of("Order/1", "m-1", SUITE_NOW);
    line.kind               = TEXT("timeout");
    line.outcome            = TEXT("retry");
    line.version            = INT64_MAX;
    line.attempts           = 3;
    line.duration           = 1250;
    line.error              = TEXT("the bank is closed");
    line.out                = TEXT("{\"sends\":[{\"id\":\"m-2\"}]}");
    COMMIT_ONE(s, a, history_add, .entry = line);
    pawl_history_rows rows = find(s, b, (pawl_history_query){0});
    EXPECT_EQ(s, rows.count, 1);
    const pawl_history_entry *found = &rows.items[0].entry;
    EXPECT_TEXT(s, found->endpoint, TEXT("orders"));
    EXPECT_TEXT(s, found->source, TEXT("Order/1"));
    EXPECT_TEXT(s, found->message_id, TEXT("m-1"));
    EXPECT_TEXT(s, found->type, TEXT("PlaceOrder"));
    EXPECT_TEXT(s, found->kind, TEXT("timeout"));
    EXPECT_TEXT(s, found->outcome, TEXT("retry"));
    EXPECT_EQ(s, found->version, INT64_MAX);
    EXPECT_EQ(s, found->attempts, 3);
    EXPECT_EQ(s, found->duration, 1250);
    EXPECT_EQ(s, found->at, SUITE_NOW);
    EXPECT_TEXT(s, found->error, TEXT("the bank is closed"));
    EXPECT_TEXT(s, found->out, TEXT("{\"sends\":[{\"id\":\"m-2\"}]}"));
}

/* Five lines in one commit: of two sagas, of no saga, and of a message that two sagas handled. */
static void make_lines(suite *s, pawl_store *store)
{
    suite_set set = suite_changes(s);
    ADD(&set, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW));
    ADD(&set, history_add, .entry = line_of("Order/2", "m-2", SUITE_NOW));
    ADD(&set, history_add, .entry = line_of("Order/1", "m-2", SUITE_NOW));
    ADD(&set, history_add, .entry = line_of("", "m-3", SUITE_NOW + 1));
    ADD(&set, history_add, .entry = line_of("Order/1", "m-3", SUITE_NOW - 1));
    COMMIT(&set, store);
}

static void history_rows_are_listed_in_the_order_in_which_they_were_written(suite *s)
{
    static const char *const order[] = {"m-1", "m-2", "m-2", "m-3", "m-3"};
    pawl_store              *a       = suite_open(s);
    make_lines(s, a);
    pawl_history_rows rows = find(s, a, (pawl_history_query){0});
    EXPECT_EQ(s, rows.count, 5);
    for (size_t i = 0; i < 5; i++) {
        EXPECT_TEXT(s, rows.items[i].entry.message_id, pawl_text_of(order[i]));
        EXPECT(s, i == 0 || rows.items[i].id > rows.items[i - 1].id);
    }
    rows = find(s, a, (pawl_history_query){.after = rows.items[1].id, .count_max = 2});
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].entry.source, TEXT("Order/1"));
    EXPECT_TEXT(s, rows.items[1].entry.source, TEXT(""));
}

static void history_rows_are_found_by_saga_and_by_message(suite *s)
{
    pawl_store *a = suite_open(s);
    make_lines(s, a);
    pawl_history_rows rows = find(s, a, (pawl_history_query){.source = TEXT("Order/1")});
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].entry.message_id, TEXT("m-1"));
    EXPECT_TEXT(s, rows.items[2].entry.message_id, TEXT("m-3"));
    rows = find(
        s, a,
        (pawl_history_query){.source = TEXT("Order/1"), .after = rows.items[0].id, .count_max = 1});
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].entry.message_id, TEXT("m-2"));
    rows = find(s, a, (pawl_history_query){.message_id = TEXT("m-2")});
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].entry.source, TEXT("Order/2"));
    EXPECT_TEXT(s, rows.items[1].entry.source, TEXT("Order/1"));
    rows = find(s, a, (pawl_history_query){.source = TEXT("Order/1"), .message_id = TEXT("m-2")});
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, find(s, a, (pawl_history_query){.source = TEXT("order/1")}).count, 0);
    EXPECT_EQ(s, find(s, a, (pawl_history_query){.message_id = TEXT("m-9")}).count, 0);
    EXPECT_EQ(s,
              find(s, a, (pawl_history_query){.source = TEXT("Order/2"), .message_id = TEXT("m-1")})
                  .count,
              0);
}

static void a_history_row_of_a_refused_group_is_not_stored(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"), .at = SUITE_NOW);
    ADD(&set, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW));
    suite_unit(&set, 1, 1);
    ADD(&set, history_add, .entry = line_of("Order/2", "m-2", SUITE_NOW));
    EXPECT_EQ(s, REFUSED(&set, a).count, 1);
    pawl_history_rows rows = find(s, a, (pawl_history_query){0});
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].entry.message_id, TEXT("m-2"));
}

typedef struct swept {
    int64_t count;
    bool    more;
} swept;

static void sweep(suite *s, pawl_store *store, pawl_time before, size_t count_max,
                  const swept *expected, size_t count)
{
    const pawl_sweep what = {.inbox_before   = PAWL_TIME_MIN,
                             .outbox_before  = PAWL_TIME_MIN,
                             .history_before = before,
                             .count_max      = count_max};
    for (size_t i = 0; i < count; i++) {
        swept found = {-1, !expected[i].more};
        EXPECT_OK(s, pawl_store_sweep(store, &what, &found.count, &found.more, &s->error));
        EXPECT_EQ(s, found.count, expected[i].count);
        EXPECT_EQ(s, found.more, expected[i].more);
    }
}
#define SWEEP(s, store, before, count_max, ...)                              \
    sweep((s), (store), (before), (count_max), (const swept[]){__VA_ARGS__}, \
          sizeof((const swept[]){__VA_ARGS__}) / sizeof(swept))

static void the_retention_sweep_deletes_old_history_rows(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 5; i++)
        COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW + i));
    SWEEP(s, a, 0, 2, {0, false});
    SWEEP(s, a, SUITE_NOW + 3, 2, {2, true}, {1, true}, {0, false});
    pawl_history_rows rows = find(s, a, (pawl_history_query){0});
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, rows.items[0].entry.at, SUITE_NOW + 3);
    /* Next to four newer lines one old line is not worth another sweep at once. */
    for (int i = 0; i < 5; i++)
        COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW + 9));
    SWEEP(s, a, SUITE_NOW + 4, 5, {1, false});
}

/* Lines of a clock that was ahead have lower numbers than older lines. */
static void the_retention_sweep_finds_old_history_rows_after_newer_ones(suite *s)
{
    static const char lines[] = "nnnnoooooon"; /* newer, or old */
    pawl_store       *a       = suite_open(s);
    for (size_t i = 0; lines[i] != '\0'; i++)
        COMMIT_ONE(s, a, history_add,
                   .entry = line_of("Order/1", "m-1", SUITE_NOW - (lines[i] == 'o')));
    SWEEP(s, a, SUITE_NOW, 3, {2, true}, {3, true}, {1, true}, {0, false}, {0, false});
    EXPECT_EQ(s, find(s, a, (pawl_history_query){0}).count, 5);
    COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW + 1));
    COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW));
    SWEEP(s, a, SUITE_NOW + 1, 3, {3, true}, {3, true}, {0, false});
    EXPECT_EQ(s, find(s, a, (pawl_history_query){0}).count, 1);
}

/* A sweep removes its maximum in total: from the first lines and from later ones. */
static void the_retention_sweep_finds_old_history_rows_between_newer_ones(suite *s)
{
    static const char lines[] = "nnooooon";
    pawl_store       *a       = suite_open(s);
    for (size_t i = 0; lines[i] != '\0'; i++)
        COMMIT_ONE(s, a, history_add,
                   .entry = line_of("Order/1", "m-1", SUITE_NOW - (lines[i] == 'o')));
    SWEEP(s, a, SUITE_NOW, 3, {3, true}, {2, true}, {0, false});
    EXPECT_EQ(s, find(s, a, (pawl_history_query){0}).count, 3);
}

/* The position of the search moves on from sweep to sweep, to the last line. */
static void the_retention_sweep_finds_old_history_rows_after_many_newer_ones(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 7; i++)
        COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW - i / 6));
    SWEEP(s, a, SUITE_NOW, 2, {0, false}, {0, false}, {1, true}, {0, false});
    COMMIT_ONE(s, a, history_add, .entry = line_of("Order/1", "m-1", SUITE_NOW - 1));
    SWEEP(s, a, SUITE_NOW, 2, {0, false}, {1, true}, {0, false}, {0, false});
    EXPECT_EQ(s, find(s, a, (pawl_history_query){0}).count, 6);
}

static const suite_case cases[] = {
    {"a history row is read as it was written", a_history_row_is_read_as_it_was_written},
    {"history rows are listed in the order in which they were written",
     history_rows_are_listed_in_the_order_in_which_they_were_written},
    {"history rows are found by saga and by message",
     history_rows_are_found_by_saga_and_by_message},
    {"E35 a history row of a refused group is not stored",
     a_history_row_of_a_refused_group_is_not_stored},
    {"the retention sweep deletes old history rows", the_retention_sweep_deletes_old_history_rows},
    {"the retention sweep finds old history rows after newer ones",
     the_retention_sweep_finds_old_history_rows_after_newer_ones},
    {"the retention sweep finds old history rows between newer ones",
     the_retention_sweep_finds_old_history_rows_between_newer_ones},
    {"the retention sweep finds old history rows after many newer ones",
     the_retention_sweep_finds_old_history_rows_after_many_newer_ones},
};

const suite_cases cases_history = SUITE_CASES("history", cases);
