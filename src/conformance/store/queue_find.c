/* queue_find.c - messages of a queue by a query, and queues as operators see them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#define LINE TEXT("line")

/* Ids of the messages that match the query, in order: "m-1 m-2 ". */
static pawl_text ids_of(suite *s, pawl_store *store, pawl_queue_query query)
{
    pawl_queue_messages found;
    pawl_text           ids = TEXT("");
    query.queue             = LINE;
    READ_ROWS(s, pawl_store_queue_find(store, &query, s->arena, &found, &s->error), found);
    for (size_t i = 0; i < found.count; i++)
        ids = suite_printf(s, "%.*s%.*s ", PAWL_TEXT_ARGS(ids),
                           PAWL_TEXT_ARGS(found.items[i].row.message.id));
    return ids;
}

#define FOUND(wanted, ...) \
    EXPECT_TEXT(s, ids_of(s, a, (pawl_queue_query){__VA_ARGS__}), TEXT(wanted))

static void send_four(suite *s, pawl_store *store)
{
    pawl_message other = suite_message(s, TEXT("m-4"));
    other.type         = TEXT("Other");
    suite_send(s, store, LINE, "m-1", SUITE_NOW + 3);
    suite_send(s, store, LINE, "m-2", SUITE_NOW + 1);
    suite_send(s, store, LINE, "m-3", SUITE_NOW + 3);
    COMMIT_ONE(s, store, queue_send, .queue = LINE, .message = other, .due = SUITE_NOW + 2);
    suite_send(s, store, TEXT("other"), "m-1", SUITE_NOW);
}

static void queued_messages_are_found_in_the_order_in_which_they_are_claimed(suite *s)
{
    pawl_store *a = suite_open(s);
    send_four(s, a);
    FOUND("m-2 m-4 m-1 m-3 ", .message_id = TEXT(""));
    FOUND("m-1 ", .message_id = TEXT("m-1"));
    FOUND("", .message_id = TEXT("M-1"));
    FOUND("", .message_id = TEXT("m-1"), .type = TEXT("Other"));
    FOUND("m-4 ", .type = TEXT("Other"));
    FOUND("m-4 m-1 m-3 ", .due_min = SUITE_NOW + 2);
    FOUND("m-2 m-4 ", .due_max = SUITE_NOW + 2);
    FOUND("m-2 m-4 ", .count_max = 2);
    EXPECT_EQ(s, suite_claim(s, a, LINE, SUITE_NOW + 1, 9).count, 1);
    FOUND("m-2 m-4 m-1 m-3 ", .message_id = TEXT(""));
}

static void a_page_of_queued_messages_begins_after_the_given_message(suite *s)
{
    pawl_store         *a = suite_open(s);
    pawl_queue_messages found;
    pawl_queue_query    all = {.queue = LINE};
    send_four(s, a);
    READ_ROWS(s, pawl_store_queue_find(a, &all, s->arena, &found, &s->error), found);
    pawl_queue_row second = {.due = found.items[1].row.due, .seq = found.items[1].row.seq};
    pawl_queue_row third  = {.due = found.items[2].row.due, .seq = found.items[2].row.seq};
    FOUND("m-1 m-3 ", .after = &second);
    FOUND("m-3 ", .after = &third);
    FOUND("m-1 ", .after = &second, .count_max = 1);
    FOUND("m-2 m-1 ", .seq_max = found.items[0].row.seq);
    FOUND("m-1 m-3 ", .after = &second, .due_min = SUITE_NOW + 1);
}

static void a_page_of_queued_messages_can_begin_among_those_of_one_due_time(suite *s)
{
    static const int    dues[] = {3, 3, 3, 5, 5, 1};
    pawl_store         *a      = suite_open(s);
    pawl_queue_messages found;
    pawl_queue_query    all = {.queue = LINE};
    for (size_t i = 0; i < sizeof dues / sizeof dues[0]; i++)
        suite_send(s, a, LINE, suite_printf(s, "m-%zu", i + 1).data, SUITE_NOW + dues[i]);
    READ_ROWS(s, pawl_store_queue_find(a, &all, s->arena, &found, &s->error), found);
    pawl_queue_row first = found.items[1].row, last = found.items[5].row;
    pawl_queue_row between = {.due = SUITE_NOW + 4};
    FOUND("m-2 m-3 m-4 m-5 ", .after = &first);
    FOUND("m-2 ", .after = &first, .count_max = 1);
    FOUND("m-2 m-3 ", .after = &first, .count_max = 2);
    FOUND("m-2 m-3 m-4 ", .after = &first, .count_max = 3);
    FOUND("m-2 m-3 ", .after = &first, .due_max = SUITE_NOW + 3);
    FOUND("m-2 m-3 m-4 m-5 ", .after = &first, .due_min = SUITE_NOW + 3);
    FOUND("m-4 m-5 ", .after = &first, .due_min = SUITE_NOW + 4);
    FOUND("m-4 m-5 ", .after = &found.items[0].row, .due_min = SUITE_NOW + 4);
    FOUND("", .after = &first, .due_max = SUITE_NOW + 2);
    FOUND("m-2 ", .after = &first, .seq_max = found.items[2].row.seq);
    FOUND("m-3 ", .after = &first, .message_id = TEXT("m-3"));
    FOUND("m-5 ", .after = &first, .message_id = TEXT("m-5"));
    FOUND("", .after = &first, .type = TEXT("Other"));
    FOUND("m-4 m-5 ", .after = &between);
    FOUND("", .after = &last);
}

static void a_retried_message_is_found_with_its_error(suite *s)
{
    pawl_store         *a = suite_open(s), *b = suite_open_bare(s);
    pawl_message        sent  = suite_message(s, TEXT("m-1"));
    pawl_queue_query    query = {.queue = LINE, .message_id = TEXT("m-1")};
    pawl_queue_messages found;
    suite_send(s, a, LINE, "m-1", SUITE_NOW);
    int64_t seq = suite_claim(s, a, LINE, SUITE_NOW, 1).items[0].seq;
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = LINE, .seq = seq,
               .due = SUITE_NOW + 5, .attempts = 3, .crashes = 1, .waiting_since = SUITE_NOW - 9,
               .error = TEXT("the bank is closed"), .history = TEXT("[{\"attempt\":1}]"));
    READ_ROWS(s, pawl_store_queue_find(b, &query, s->arena, &found, &s->error), found);
    EXPECT_EQ(s, found.count, 1);
    const pawl_queue_row *row = &found.items[0].row;
    EXPECT_TEXT(s, found.items[0].error, TEXT("the bank is closed"));
    EXPECT_MESSAGE(s, &row->message, &sent);
    EXPECT_TEXT(s, row->history, TEXT("[{\"attempt\":1}]"));
    EXPECT_EQ(s, row->seq, seq);
    EXPECT_EQ(s, row->due, SUITE_NOW + 5);
    EXPECT_EQ(s, row->placed, SUITE_NOW);
    EXPECT_EQ(s, row->attempts, 3);
    EXPECT_EQ(s, row->crashes, 1);
    EXPECT_EQ(s, row->waiting_since, SUITE_NOW - 9);
    query.queue = TEXT("");
    EXPECT_CODE(s, pawl_store_queue_find(b, &query, s->arena, &found, &s->error), PAWL_EINVAL);
}

static void add_dead_letter(suite *s, pawl_store *store, const char *id, const char *queue,
                            pawl_time at)
{
    COMMIT_ONE(s, store, dead_set, .endpoint = TEXT("orders"), .queue = pawl_text_of(queue),
               .message = suite_message(s, pawl_text_of(id)), .code = TEXT("X"), .error = TEXT("x"),
               .at = at);
}

static void dead_letters_are_counted_by_queue(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open_bare(s);
    pawl_dead_counts counts;
    READ_ROWS(s, pawl_store_dead_count(b, s->arena, &counts, &s->error), counts);
    EXPECT_EQ(s, counts.count, 0);
    add_dead_letter(s, a, "m-1", "line", SUITE_NOW + 3);
    add_dead_letter(s, a, "m-2", "billing", SUITE_NOW + 1);
    add_dead_letter(s, a, "m-3", "line", SUITE_NOW + 2);
    add_dead_letter(s, a, "m-4", "", SUITE_NOW + 4);
    READ_ROWS(s, pawl_store_dead_count(b, s->arena, &counts, &s->error), counts);
    EXPECT_EQ(s, counts.count, 3);
    EXPECT_TEXT(s, counts.items[0].queue, TEXT(""));
    EXPECT_TEXT(s, counts.items[1].queue, TEXT("billing"));
    EXPECT_EQ(s, counts.items[1].count, 1);
    EXPECT_TEXT(s, counts.items[2].queue, LINE);
    EXPECT_EQ(s, counts.items[2].count, 2);
    EXPECT_EQ(s, counts.items[2].oldest, SUITE_NOW + 2);
}

/* The entry of the queue, which must exist. */
static pawl_queue_info info_of(suite *s, const pawl_queue_infos *infos, const char *queue)
{
    for (size_t i = 0; i < infos->count; i++) {
        if (i > 0)
            EXPECT(s, pawl_text_compare(infos->items[i - 1].queue, infos->items[i].queue) < 0);
        if (pawl_text_equal(infos->items[i].queue, pawl_text_of(queue)))
            return infos->items[i];
    }
    suite_fail(s, __FILE__, __LINE__, "queue %s is not listed", queue);
}

static void queues_are_listed_with_their_messages_dead_letters_and_readers(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open(s);
    pawl_queue_infos infos;
    send_four(s, a);
    add_dead_letter(s, a, "m-9", "given up", SUITE_NOW);
    add_dead_letter(s, a, "m-10", "", SUITE_NOW);
    COMMIT_ONE(s, b, subscription_set, .type = TEXT("Placed"), .queue = TEXT("quiet"));
    COMMIT_ONE(s, b, subscription_set, .type = TEXT("route:bank"), .queue = TEXT("quiet"));
    COMMIT_ONE(s, b, subscription_set, .type = TEXT("inbox_retention:7"), .queue = TEXT("quiet"));
    READ_ROWS(s, pawl_store_queue_infos(a, SUITE_NOW + 2, s->arena, &infos, &s->error), infos);
    EXPECT_EQ(s, infos.count, 5);
    pawl_queue_info line = info_of(s, &infos, "line");
    EXPECT_EQ(s, line.ready, 2);
    EXPECT_EQ(s, line.scheduled, 2);
    EXPECT_EQ(s, line.oldest, SUITE_NOW + 1);
    EXPECT_EQ(s, line.workers, 0);
    EXPECT_EQ(s, info_of(s, &infos, "given up").dead, 1);
    EXPECT_EQ(s, info_of(s, &infos, "quiet").types, 1);
    EXPECT_EQ(s, info_of(s, &infos, "other").ready, 1);
    EXPECT_EQ(s, info_of(s, &infos, "suite").workers, 2);
}

/* If a queue is not named like its endpoint, its reader is found by comparing the queue's subscriptions with the types
 * that a worker handles. */
static void a_queues_readers_are_found_by_the_types_that_they_handle(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open_bare(s);
    pawl_queue_infos infos;
    EXPECT_OK(s, pawl_store_worker_open(b, TEXT("billing"), TEXT("[\"Paid\",\"Placed\"]"),
                                        SUITE_NOW, &s->error));
    COMMIT_ONE(s, a, subscription_set, .type = TEXT("Place"), .queue = TEXT("near"));
    COMMIT_ONE(s, a, subscription_set, .type = TEXT("Placed"), .queue = TEXT("line"));
    READ_ROWS(s, pawl_store_queue_infos(a, SUITE_NOW, s->arena, &infos, &s->error), infos);
    EXPECT_EQ(s, info_of(s, &infos, "line").workers, 1);
    EXPECT_EQ(s, info_of(s, &infos, "near").workers, 0);
    COMMIT_ONE(s, a, subscription_set, .type = TEXT("Placed"), .queue = TEXT("billing"));
    READ_ROWS(s, pawl_store_queue_infos(a, SUITE_NOW, s->arena, &infos, &s->error), infos);
    EXPECT_EQ(s, info_of(s, &infos, "line").workers, 0);
    EXPECT_EQ(s, info_of(s, &infos, "billing").workers, 1);
}

/* A new reader of an ordered queue relies on this: it sees claimed messages in their order, and after it has moved the
 * checkpoint, the earlier reader can settle nothing. */
static void the_new_reader_of_an_ordered_queue_makes_the_old_ones_commits_fail(suite *s)
{
    const pawl_text number = TEXT("ordered/line");
    pawl_store     *b = suite_open(s), *a = suite_open(s);
    suite_set       late = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 1; i <= 3; i++)
        suite_send(s, a, LINE, suite_printf(s, "m-%u", i).data, SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, b, LINE, SUITE_NOW, 2);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, suite_claim(s, a, LINE, SUITE_NOW, 9).count, 1);
    FOUND("m-1 m-2 m-3 ", .due_max = SUITE_NOW, .count_max = 9);
    COMMIT_ONE(s, a, checkpoint_set, .name = number, .from = 0, .to = 1, .at = SUITE_NOW);
    ADD(&late, checkpoint_set, .name = number, .from = 0, .to = 1, .at = SUITE_NOW);
    ADD(&late, queue_settle, .action = PAWL_QUEUE_DONE, .queue = LINE, .seq = rows.items[0].seq);
    ADD(&late, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = LINE, .seq = rows.items[1].seq,
        .due = SUITE_NOW + 9, .attempts = 1);
    REFUSED(&late, b);
    FOUND("m-1 m-2 m-3 ", .due_max = SUITE_NOW, .count_max = 9);
    ADD(&set, checkpoint_set, .name = number, .from = 1, .to = 2, .at = SUITE_NOW);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = LINE, .seq = rows.items[0].seq);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = LINE, .seq = rows.items[1].seq);
    COMMIT(&set, b);
    FOUND("m-3 ", .due_max = SUITE_NOW, .count_max = 9);
}

static const suite_case cases[] = {
    {"E26 queued messages are found in the order in which they are claimed",
     queued_messages_are_found_in_the_order_in_which_they_are_claimed},
    {"E26 a page of queued messages begins after the given message",
     a_page_of_queued_messages_begins_after_the_given_message},
    {"E26 a page of queued messages can begin among those of one due time",
     a_page_of_queued_messages_can_begin_among_those_of_one_due_time},
    {"E26 a retried message is found with its error", a_retried_message_is_found_with_its_error},
    {"E34 dead letters are counted by queue", dead_letters_are_counted_by_queue},
    {"E26 queues are listed with their messages, dead letters and readers",
     queues_are_listed_with_their_messages_dead_letters_and_readers},
    {"E26 a queue's readers are found by the types that they handle",
     a_queues_readers_are_found_by_the_types_that_they_handle},
    {"E27 E35 the new reader of an ordered queue makes the old one's commits fail",
     the_new_reader_of_an_ordered_queue_makes_the_old_ones_commits_fail},
};

const suite_cases cases_queue_find = SUITE_CASES("queue query", cases);
