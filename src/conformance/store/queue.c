/* queue.c - queue rows: order, claims, settling, deduplication, `placed`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define QUEUE TEXT("orders")
#define LATE (SUITE_NOW + PAWL_HOURS(1))

static void settle(suite *s, pawl_store *store, pawl_queue_action action, int64_t seq)
{
    COMMIT_ONE(s, store, queue_settle, .action = action, .queue = QUEUE, .seq = seq,
               .due = SUITE_NOW);
}

static void expect_ids(suite *s, const pawl_queue_rows *rows, const char *const *ids, size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_TEXT(s, rows->items[i].message.id, pawl_text_of(ids[i]));
}

static void a_message_is_claimed_as_it_was_sent(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    COMMIT_ONE(s, a, queue_send, .queue = QUEUE, .message = sent, .due = SUITE_NOW - 7,
               .attempts = 2);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, SUITE_NOW, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW - 7);
    EXPECT_EQ(s, rows.items[0].placed, SUITE_NOW - 7);
    EXPECT_EQ(s, rows.items[0].attempts, 2);
    EXPECT_EQ(s, rows.items[0].crashes, 0);
    EXPECT_EQ(s, rows.items[0].waiting_since, 0);
    EXPECT(s, rows.items[0].seq > 0);
    EXPECT(s, rows.items[0].message.body.data[rows.items[0].message.body.size] == '\0');
}

static void messages_are_claimed_by_due_time_then_in_the_order_of_sending(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "last", SUITE_NOW + 30);
    suite_set set = suite_changes(s);
    ADD(&set, queue_send, .queue = QUEUE, .message = suite_message(s, TEXT("b")), .due = SUITE_NOW);
    ADD(&set, queue_send, .queue = QUEUE, .message = suite_message(s, TEXT("a")), .due = SUITE_NOW);
    COMMIT(&set, a);
    suite_send(s, a, QUEUE, "0", SUITE_NOW);
    suite_send(s, a, QUEUE, "first", SUITE_NOW - 1);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 10);
    expect_ids(s, &rows, (const char *const[]){"first", "b", "a", "0", "last"}, 5);
    EXPECT(s, rows.items[1].seq < rows.items[2].seq);
    EXPECT(s, rows.items[2].seq < rows.items[3].seq);
}

static void a_message_can_be_claimed_from_its_due_time_on_not_before(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "at", SUITE_NOW);
    suite_send(s, a, QUEUE, "after", SUITE_NOW + 1);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, SUITE_NOW - 1, 10).count, 0);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, SUITE_NOW, 10);
    expect_ids(s, &rows, (const char *const[]){"at"}, 1);
    rows = suite_claim(s, a, QUEUE, SUITE_NOW + 1, 10);
    expect_ids(s, &rows, (const char *const[]){"after"}, 1);
}

static void a_claim_returns_at_most_the_requested_number_of_messages(suite *s)
{
    pawl_store *a = suite_open(s);
    for (int i = 0; i < 5; i++)
        suite_send(s, a, QUEUE, suite_printf(s, "m-%d", i).data, SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 2);
    expect_ids(s, &rows, (const char *const[]){"m-0", "m-1"}, 2);
    rows = suite_claim(s, a, QUEUE, LATE, 2);
    expect_ids(s, &rows, (const char *const[]){"m-2", "m-3"}, 2);
    rows = suite_claim(s, a, QUEUE, LATE, 2);
    expect_ids(s, &rows, (const char *const[]){"m-4"}, 1);
}

static void a_message_claimed_by_one_worker_is_not_claimed_by_another(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (int i = 0; i < 4; i++)
        suite_send(s, a, QUEUE, suite_printf(s, "m-%d", i).data, SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 2).count, 2);
    pawl_queue_rows rows = suite_claim(s, b, QUEUE, LATE, 10);
    expect_ids(s, &rows, (const char *const[]){"m-2", "m-3"}, 2);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 10).count, 0);
    EXPECT_EQ(s, suite_queue(s, b, QUEUE).count, 4);
}

static void a_claim_returns_messages_of_its_own_queue_only(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW);
    suite_send(s, a, TEXT("Orders"), "m-1", SUITE_NOW);
    suite_send(s, a, TEXT("orders2"), "m-1", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 10).count, 1);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("Orders"), LATE, 10).count, 1);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("order"), LATE, 10).count, 0);
}

static void a_message_that_is_done_is_deleted_from_its_queue(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW);
    suite_send(s, a, QUEUE, "m-2", SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 1);
    settle(s, a, PAWL_QUEUE_DONE, rows.items[0].seq);
    rows = suite_queue(s, a, QUEUE);
    expect_ids(s, &rows, (const char *const[]){"m-2"}, 1);
}

static void a_released_message_can_be_claimed_again_and_is_unchanged(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW - 5);
    pawl_queue_rows before = suite_claim(s, a, QUEUE, LATE, 1);
    /* Only the claim ends; RETRY alone changes due time and attempts. */
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RELEASE, .queue = QUEUE,
               .seq = before.items[0].seq, .due = LATE, .attempts = 9, .crashes = 9,
               .waiting_since = 9, .error = TEXT("none"));
    pawl_queue_rows after = suite_claim(s, b, QUEUE, SUITE_NOW, 1);
    EXPECT_EQ(s, after.count, 1);
    EXPECT_EQ(s, after.items[0].seq, before.items[0].seq);
    EXPECT_EQ(s, after.items[0].due, SUITE_NOW - 5);
    EXPECT_EQ(s, after.items[0].placed, SUITE_NOW - 5);
    EXPECT_EQ(s, after.items[0].attempts, 0);
    EXPECT_EQ(s, after.items[0].crashes, 0);
    EXPECT_EQ(s, after.items[0].waiting_since, 0);
}

static void a_retried_message_waits_for_its_due_time_and_keeps_its_queue_order(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    COMMIT_ONE(s, a, queue_send, .queue = QUEUE, .message = sent, .due = SUITE_NOW);
    suite_send(s, a, QUEUE, "m-2", SUITE_NOW);
    int64_t seq = suite_claim(s, a, QUEUE, LATE, 1).items[0].seq;
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = QUEUE, .seq = seq,
               .due = SUITE_NOW + 100, .attempts = 3, .crashes = 1, .waiting_since = SUITE_NOW - 9,
               .error = TEXT("the bank is closed"), .history = TEXT("[{\"attempt\":1}]"));
    pawl_queue_rows rows = suite_claim(s, b, QUEUE, SUITE_NOW + 99, 10);
    expect_ids(s, &rows, (const char *const[]){"m-2"}, 1);
    EXPECT_EQ(s, rows.items[0].history.size, 0);
    rows = suite_claim(s, b, QUEUE, SUITE_NOW + 100, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"attempt\":1}]"));
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_EQ(s, rows.items[0].seq, seq);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 100);
    EXPECT_EQ(s, rows.items[0].placed, SUITE_NOW);
    EXPECT_EQ(s, rows.items[0].attempts, 3);
    EXPECT_EQ(s, rows.items[0].crashes, 1);
    EXPECT_EQ(s, rows.items[0].waiting_since, SUITE_NOW - 9);
    rows = suite_queue(s, a, QUEUE);
    expect_ids(s, &rows, (const char *const[]){"m-1", "m-2"}, 2);
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"attempt\":1}]"));
    /* Claimed again by its number, with its new values. */
    pawl_queue_claim again = {.queue     = QUEUE,
                              .due_max   = LATE,
                              .count_max = 1,
                              .seqs      = &seq,
                              .seq_count = 1,
                              .now       = SUITE_NOW};
    READ_ROWS(s, pawl_store_queue_claim(b, &again, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"attempt\":1}]"));
    COMMIT_ONE(s, b, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = QUEUE, .seq = seq,
               .due = SUITE_NOW, .attempts = 4, .history = TEXT("[{\"n\":2}]"));
    EXPECT_TEXT(s, suite_claim(s, a, QUEUE, SUITE_NOW, 1).items[0].history, TEXT("[{\"n\":2}]"));
}

static void sending_a_message_id_that_is_still_queued_changes_nothing(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1")), other = sent;
    other.body    = TEXT("{\"other\":true}");
    suite_set set = suite_changes(s);
    ADD(&set, queue_send, .queue = QUEUE, .message = sent, .due = SUITE_NOW);
    ADD(&set, queue_send, .queue = QUEUE, .message = other, .due = SUITE_NOW - 1);
    COMMIT(&set, a);
    COMMIT_ONE(s, b, queue_send, .queue = QUEUE, .message = other, .due = SUITE_NOW - 2);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW);
    COMMIT_ONE(s, b, queue_send, .queue = QUEUE, .message = other, .due = SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, b, QUEUE, LATE, 10).count, 0);
    settle(s, a, PAWL_QUEUE_DONE, rows.items[0].seq);
    EXPECT_EQ(s, suite_queue(s, a, QUEUE).count, 0);
}

/* Sends with and without is_new alternate, each in its own group. The later of two with one id is refused, and claimed
 * rows refuse as well as free ones. */
static void a_send_marked_as_new_is_refused_while_its_message_id_is_queued(suite *s)
{
    static const char *const sent[]   = {"m-1", "m-2", "m-3", "m-4", "m-2", "m-5", "m-1"};
    static const bool        is_new[] = {true, true, false, true, true, true, false};
    static const uint32_t    groups[] = {0, 4, 5};
    pawl_store              *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW);
    suite_send(s, a, QUEUE, "m-5", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, b, QUEUE, SUITE_NOW, 1).count, 1);
    suite_set set = suite_changes(s);
    for (uint32_t i = 0; i < 7; i++) {
        suite_unit(&set, i, i);
        ADD(&set, queue_send, .queue = QUEUE, .due = SUITE_NOW + 1, .is_new = is_new[i],
            .message = suite_message(s, pawl_text_of(sent[i])));
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 3);
    for (size_t i = 0; i < 3; i++) {
        EXPECT_EQ(s, refused.items[i].kind, pawl_change_queue_send);
        EXPECT_EQ(s, refused.items[i].reason, PAWL_EDUPLICATE);
        EXPECT_EQ(s, refused.items[i].group, groups[i]);
    }
    pawl_queue_rows rows = suite_queue(s, a, QUEUE);
    expect_ids(s, &rows, (const char *const[]){"m-1", "m-5", "m-2", "m-3", "m-4"}, 5);
}

static void a_message_id_can_be_sent_again_after_its_message_was_deleted(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW);
    int64_t first = suite_claim(s, a, QUEUE, LATE, 1).items[0].seq;
    /* In one commit the row is removed and sent again: settles are applied before sends. */
    suite_set set = suite_changes(s);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE, .seq = first);
    ADD(&set, queue_send, .queue = QUEUE, .message = suite_message(s, TEXT("m-1")),
        .due = SUITE_NOW);
    COMMIT(&set, a);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT(s, rows.items[0].seq > first);
    settle(s, a, PAWL_QUEUE_DONE, rows.items[0].seq);
    suite_send(s, a, QUEUE, "m-2", SUITE_NOW);
    EXPECT(s, suite_claim(s, a, QUEUE, LATE, 1).items[0].seq > rows.items[0].seq);
}

static void a_worker_can_settle_only_messages_that_it_has_claimed(suite *s)
{
    static const pawl_queue_action actions[] = {PAWL_QUEUE_DONE, PAWL_QUEUE_RELEASE,
                                                PAWL_QUEUE_RETRY};
    pawl_store                    *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, QUEUE, "held", SUITE_NOW);
    suite_send(s, a, QUEUE, "free", SUITE_NOW + 1);
    int64_t held = suite_claim(s, a, QUEUE, SUITE_NOW, 1).items[0].seq;
    int64_t free = suite_queue(s, a, QUEUE).items[1].seq;
    for (size_t i = 0; i < 3; i++) {
        REFUSE_ONE(s, b, PAWL_EGONE, queue_settle, .action = actions[i], .queue = QUEUE,
                   .seq = held, .due = LATE, .attempts = 1);
        REFUSE_ONE(s, b, PAWL_EGONE, queue_settle, .action = actions[i], .queue = QUEUE,
                   .seq = free, .due = LATE, .attempts = 1);
        REFUSE_ONE(s, b, PAWL_EGONE, queue_settle, .action = actions[i], .queue = QUEUE,
                   .seq = free + 100, .due = LATE, .attempts = 1);
    }
    pawl_queue_rows rows = suite_queue(s, b, QUEUE);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, rows.items[0].attempts + rows.items[1].attempts, 0);
    settle(s, a, PAWL_QUEUE_DONE, held);
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE,
               .seq = held);
}

/* Refused even for the worker that has claimed it and also reads the other queue. */
static void a_message_can_be_settled_only_under_the_name_of_its_queue(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "here", SUITE_NOW);
    suite_send(s, a, TEXT("other"), "there", SUITE_NOW);
    int64_t here = suite_claim(s, a, QUEUE, SUITE_NOW, 1).items[0].seq;
    EXPECT_EQ(s, suite_claim(s, a, TEXT("other"), SUITE_NOW, 1).count, 1);
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT("other"),
               .seq = here, .due = LATE, .attempts = 1);
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("other"),
               .seq = here);
    pawl_queue_rows rows = suite_queue(s, a, QUEUE);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
}

static void a_message_that_was_released_can_no_longer_be_settled(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW);
    int64_t seq = suite_claim(s, a, QUEUE, LATE, 1).items[0].seq;
    settle(s, a, PAWL_QUEUE_RELEASE, seq);
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE,
               .seq = seq);
    EXPECT_EQ(s, suite_claim(s, b, QUEUE, LATE, 1).count, 1);
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE,
               .seq = seq);
    settle(s, b, PAWL_QUEUE_DONE, seq);
}

static void closing_a_worker_releases_its_claimed_messages(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s), *c = suite_open(s);
    for (int i = 0; i < 4; i++)
        suite_send(s, a, QUEUE, suite_printf(s, "m-%d", i).data, SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 2).count, 2);
    EXPECT_EQ(s, suite_claim(s, b, QUEUE, LATE, 2).count, 2);
    EXPECT_EQ(s, suite_claim(s, c, QUEUE, LATE, 10).count, 0);
    suite_end_worker(s, a);
    pawl_queue_rows rows = suite_claim(s, c, QUEUE, LATE, 10);
    expect_ids(s, &rows, (const char *const[]){"m-0", "m-1"}, 2);
    suite_end_worker(s, b);
    suite_close(s, b);
    rows = suite_claim(s, c, QUEUE, LATE, 10);
    expect_ids(s, &rows, (const char *const[]){"m-2", "m-3"}, 2);
}

static pawl_queue_rows claim_seqs(suite *s, pawl_store *store, const int64_t *seqs, size_t count)
{
    pawl_queue_rows  rows  = {0};
    pawl_queue_claim claim = {.queue     = QUEUE,
                              .due_max   = LATE,
                              .count_max = 100,
                              .seqs      = seqs,
                              .seq_count = count,
                              .now       = SUITE_NOW};
    READ_ROWS(s, pawl_store_queue_claim(store, &claim, s->arena, &rows, &s->error), rows);
    return rows;
}

static void a_claim_by_serial_number_skips_messages_not_due_or_of_another_queue(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "due", LATE);
    suite_send(s, a, QUEUE, "later", LATE + 1);
    suite_send(s, a, TEXT("other"), "elsewhere", SUITE_NOW);
    pawl_queue_rows all     = suite_queue(s, a, QUEUE);
    int64_t         other   = suite_queue(s, a, TEXT("other")).items[0].seq;
    int64_t         named[] = {all.items[1].seq, other, all.items[0].seq};
    pawl_queue_rows rows    = claim_seqs(s, a, named, 3);
    expect_ids(s, &rows, (const char *const[]){"due"}, 1);
    EXPECT_EQ(s, suite_claim(s, a, TEXT("other"), SUITE_NOW, 10).count, 1);
    /* A claimed message can only be settled in its own queue. */
    REFUSE_ONE(s, a, PAWL_EGONE, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE,
               .seq = other);
    EXPECT_EQ(s, suite_queue(s, a, TEXT("other")).count, 1);
}

static void messages_can_be_claimed_by_their_serial_numbers(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (int i = 0; i < 5; i++)
        suite_send(s, a, QUEUE, suite_printf(s, "m-%d", i).data, SUITE_NOW + i);
    pawl_queue_rows all = suite_queue(s, a, QUEUE);
    EXPECT_EQ(s, all.count, 5);
    int64_t         wanted[] = {all.items[3].seq, all.items[1].seq, all.items[4].seq + 50};
    pawl_queue_rows rows     = claim_seqs(s, a, wanted, 3);
    expect_ids(s, &rows, (const char *const[]){"m-1", "m-3"}, 2);
    int64_t mixed[] = {all.items[1].seq, all.items[2].seq};
    rows            = claim_seqs(s, b, mixed, 2);
    expect_ids(s, &rows, (const char *const[]){"m-2"}, 1);
    /* This handle's own rows can be claimed again, as a rerun does. */
    rows = claim_seqs(s, a, mixed, 2);
    expect_ids(s, &rows, (const char *const[]){"m-1"}, 1);
    settle(s, a, PAWL_QUEUE_RELEASE, all.items[1].seq);
    rows = claim_seqs(s, b, mixed, 1);
    expect_ids(s, &rows, (const char *const[]){"m-1"}, 1);
    settle(s, b, PAWL_QUEUE_DONE, all.items[1].seq);
    EXPECT_EQ(s, claim_seqs(s, b, mixed, 1).count, 0);
}

static void expect_oldest(suite *s, pawl_store *store, pawl_time due_max, const int64_t *except,
                          size_t except_count, const pawl_queue_row *expected)
{
    pawl_time placed = -1;
    int64_t   seq    = -1;
    EXPECT_OK(s, pawl_store_queue_oldest(store, QUEUE, due_max, except, except_count, &placed, &seq,
                                         &s->error));
    EXPECT_EQ(s, placed, expected != NULL ? expected->placed : PAWL_TIME_MAX);
    EXPECT_EQ(s, seq, expected != NULL ? expected->seq : INT64_MAX);
}

static void the_oldest_message_is_found_by_queue_order_claimed_or_not(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    expect_oldest(s, a, LATE, NULL, 0, NULL);
    suite_send(s, a, TEXT("other"), "m-0", SUITE_NOW - 50);
    suite_send(s, a, QUEUE, "second", SUITE_NOW);
    suite_send(s, a, QUEUE, "third", SUITE_NOW);
    suite_send(s, a, QUEUE, "first", SUITE_NOW - 5);
    pawl_queue_rows rows = suite_queue(s, a, QUEUE);
    expect_ids(s, &rows, (const char *const[]){"first", "second", "third"}, 3);
    expect_oldest(s, b, LATE, NULL, 0, &rows.items[0]);
    expect_oldest(s, b, SUITE_NOW - 5, NULL, 0, &rows.items[0]);
    expect_oldest(s, b, SUITE_NOW - 6, NULL, 0, NULL);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 1).count, 1);
    expect_oldest(s, a, LATE, NULL, 0, &rows.items[0]);
    expect_oldest(s, b, LATE, NULL, 0, &rows.items[0]);
    int64_t except[] = {rows.items[2].seq, rows.items[0].seq, rows.items[1].seq};
    expect_oldest(s, b, LATE, except, 2, &rows.items[1]);
    expect_oldest(s, b, LATE, except, 3, NULL);
}

static void the_oldest_message_is_never_a_deferred_or_retried_one(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, QUEUE, "waits", SUITE_NOW - 3);
    suite_send(s, a, QUEUE, "retried", SUITE_NOW - 2);
    suite_send(s, a, QUEUE, "plain", SUITE_NOW - 1);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 10);
    EXPECT_EQ(s, rows.count, 3);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = QUEUE,
               .seq = rows.items[0].seq, .due = SUITE_NOW - 3, .waiting_since = SUITE_NOW);
    expect_oldest(s, a, LATE, NULL, 0, &rows.items[1]);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = QUEUE,
               .seq = rows.items[1].seq, .due = SUITE_NOW - 2, .attempts = 1);
    expect_oldest(s, a, LATE, NULL, 0, &rows.items[2]);
    settle(s, a, PAWL_QUEUE_RELEASE, rows.items[2].seq);
    expect_oldest(s, a, LATE, NULL, 0, &rows.items[2]);
}

static pawl_queue_rows retried(suite *s, pawl_store *store, pawl_time after, size_t scan,
                               size_t count)
{
    const pawl_retried_query query = {QUEUE, TEXT("type"), after, scan, count, 0};
    pawl_queue_rows          rows  = {.count = 0};
    READ_ROWS(s, pawl_store_queue_retried(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

/* Rows of another type or queue, and rows that only wait, are not found. */
static void retried_messages_are_found_by_type_claimed_or_not(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, retried(s, a, PAWL_TIME_MIN, 1000, 9).count, 0);
    for (int i = 0; i < 5; i++) {
        const char *const ids[]   = {"m-0", "m-1", "waits", "other", "fresh"};
        pawl_message      message = suite_message(s, pawl_text_of(ids[i]));
        message.type              = i == 3 ? TEXT("another") : TEXT("type");
        message.body              = TEXT("{}");
        COMMIT_ONE(s, a, queue_send, .queue = QUEUE, .due = SUITE_NOW - 9 + i, .message = message);
    }
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, LATE, 4);
    EXPECT_EQ(s, rows.count, 4);
    for (size_t i = 0; i < 4; i++)
        COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = QUEUE,
                   .seq = rows.items[i].seq, .due = SUITE_NOW + 40 - 10 * (int64_t)i,
                   .attempts = i != 2, .waiting_since = i == 2 ? SUITE_NOW : 0);
    pawl_queue_rows found = retried(s, b, PAWL_TIME_MIN, 1000, 9);
    EXPECT_EQ(s, found.count, 2);
    EXPECT_TEXT(s, found.items[0].message.id, TEXT("m-0"));
    EXPECT_EQ(s, found.items[0].due, SUITE_NOW + 40);
    EXPECT_EQ(s, found.items[0].attempts, 1);
    EXPECT_EQ(s, found.items[0].placed, SUITE_NOW - 9);
    EXPECT_TEXT(s, found.items[0].message.body, TEXT("{}"));
    EXPECT_TEXT(s, found.items[1].message.id, TEXT("m-1"));
    EXPECT_EQ(s, retried(s, b, SUITE_NOW + 30, 1000, 9).count, 1);
    found = retried(s, b, PAWL_TIME_MIN, 4, 9); /* 4 of 5 */
    EXPECT_EQ(s, found.count != 0, true);
    EXPECT_TEXT(s, found.items[found.count - 1].message.id, TEXT("m-1"));
    EXPECT_EQ(s, retried(s, b, SUITE_NOW + 40, 1000, 9).count, 0);
    EXPECT_EQ(s, retried(s, b, PAWL_TIME_MIN, 1000, 1).count, 1);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, SUITE_NOW + 40, 10).count, 5);
    EXPECT_EQ(s, retried(s, b, PAWL_TIME_MIN, 1000, 9).count, 2);
}

static pawl_time next_queue(suite *s, pawl_store *store)
{
    pawl_next_due next = {0};
    EXPECT_OK(s, pawl_store_next_due(store, QUEUE, NULL, 0, &next, &s->error));
    return next.queue;
}

static void the_next_due_time_of_a_queue_leaves_out_claimed_messages(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, next_queue(s, a), PAWL_TIME_MAX);
    suite_send(s, a, TEXT("other"), "m-0", SUITE_NOW - 9);
    suite_send(s, a, QUEUE, "m-2", SUITE_NOW + 20);
    suite_send(s, a, QUEUE, "m-1", SUITE_NOW + 10);
    EXPECT_EQ(s, next_queue(s, b), SUITE_NOW + 10);
    pawl_queue_rows rows = suite_claim(s, a, QUEUE, SUITE_NOW + 10, 10);
    EXPECT_EQ(s, next_queue(s, a), SUITE_NOW + 20);
    EXPECT_EQ(s, next_queue(s, b), SUITE_NOW + 20);
    settle(s, a, PAWL_QUEUE_RELEASE, rows.items[0].seq);
    EXPECT_EQ(s, next_queue(s, b), SUITE_NOW + 10);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 10).count, 2);
    EXPECT_EQ(s, next_queue(s, b), PAWL_TIME_MAX);
}

static void messages_are_listed_in_queue_order_claimed_ones_included(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_send(s, a, QUEUE, "second", SUITE_NOW + 2);
    suite_send(s, a, QUEUE, "first", SUITE_NOW + 1);
    suite_send(s, a, QUEUE, "third", SUITE_NOW + 2);
    suite_send(s, a, TEXT("other"), "m-0", SUITE_NOW);
    EXPECT_EQ(s, suite_claim(s, a, QUEUE, LATE, 1).count, 1);
    pawl_queue_rows rows = suite_queue(s, b, QUEUE);
    expect_ids(s, &rows, (const char *const[]){"first", "second", "third"}, 3);
    READ_ROWS(s, pawl_store_queue_list(b, QUEUE, 2, s->arena, &rows, &s->error), rows);
    expect_ids(s, &rows, (const char *const[]){"first", "second"}, 2);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("nothing")).count, 0);
}

static const suite_case cases[] = {
    {"T1 E26 a message is claimed as it was sent", a_message_is_claimed_as_it_was_sent},
    {"messages are claimed by due time, then in the order of sending",
     messages_are_claimed_by_due_time_then_in_the_order_of_sending},
    {"T5 a message can be claimed from its due time on, not before",
     a_message_can_be_claimed_from_its_due_time_on_not_before},
    {"a claim returns at most the requested number of messages",
     a_claim_returns_at_most_the_requested_number_of_messages},
    {"T7 a message claimed by one worker is not claimed by another",
     a_message_claimed_by_one_worker_is_not_claimed_by_another},
    {"E26 a claim returns messages of its own queue only",
     a_claim_returns_messages_of_its_own_queue_only},
    {"E27 a message that is done is deleted from its queue",
     a_message_that_is_done_is_deleted_from_its_queue},
    {"E16 a released message can be claimed again and is unchanged",
     a_released_message_can_be_claimed_again_and_is_unchanged},
    {"E26 a retried message waits for its due time and keeps its queue order",
     a_retried_message_waits_for_its_due_time_and_keeps_its_queue_order},
    {"E34 sending a message id that is still queued changes nothing",
     sending_a_message_id_that_is_still_queued_changes_nothing},
    {"E34 a send marked as new is refused while its message id is queued",
     a_send_marked_as_new_is_refused_while_its_message_id_is_queued},
    {"A4 a message id can be sent again after its message was deleted",
     a_message_id_can_be_sent_again_after_its_message_was_deleted},
    {"E27 a worker can settle only messages that it has claimed",
     a_worker_can_settle_only_messages_that_it_has_claimed},
    {"E27 a message can be settled only under the name of its queue",
     a_message_can_be_settled_only_under_the_name_of_its_queue},
    {"E27 a message that was released can no longer be settled",
     a_message_that_was_released_can_no_longer_be_settled},
    {"E16 closing a worker releases its claimed messages",
     closing_a_worker_releases_its_claimed_messages},
    {"E35 messages can be claimed by their serial numbers",
     messages_can_be_claimed_by_their_serial_numbers},
    {"E35 a claim by serial number skips messages not due or of another queue",
     a_claim_by_serial_number_skips_messages_not_due_or_of_another_queue},
    {"E3 the oldest message is found by queue order, claimed or not",
     the_oldest_message_is_found_by_queue_order_claimed_or_not},
    {"E3 the oldest message is never a deferred or retried one",
     the_oldest_message_is_never_a_deferred_or_retried_one},
    {"E3 retried messages are found by type, claimed or not",
     retried_messages_are_found_by_type_claimed_or_not},
    {"E15 the next due time of a queue leaves out claimed messages",
     the_next_due_time_of_a_queue_leaves_out_claimed_messages},
    {"messages are listed in queue order, claimed ones included",
     messages_are_listed_in_queue_order_claimed_ones_included},
};

const suite_cases cases_queue = SUITE_CASES("queue", cases);
