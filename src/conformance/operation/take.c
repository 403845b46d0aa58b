/* take.c - an operator removes messages from a queue: to dead letters ("bury"), for good (discard), or to another queue
 * (move).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#include <string.h>

#define ANN TEXT("ann")
#define LINE TEXT("line")
#define OTHER TEXT("other")

/* Ids of a queue's messages in queue order: "m-1 m-2 ". */
static pawl_text ids_of(suite *s, pawl_store *store, pawl_text queue)
{
    pawl_queue_rows rows = suite_queue(s, store, queue);
    pawl_text       ids  = TEXT("");
    for (size_t i = 0; i < rows.count; i++)
        ids = suite_printf(s, "%.*s%.*s ", PAWL_TEXT_ARGS(ids),
                           PAWL_TEXT_ARGS(rows.items[i].message.id));
    return ids;
}

/* Takes all messages that the queue has; how many went, and how many of these as copies. */
static size_t take_counted(suite *s, pawl_store *store, pawl_queue_take_action action, pawl_text to,
                           size_t *copies)
{
    const pawl_queue_take how = {
        .action = action, .queue = LINE, .to = to, .by = ANN, .reason = TEXT("a \"test\"")};
    pawl_queue_rows rows = suite_queue(s, store, LINE);
    int64_t         seqs[9];
    size_t          taken = 99;
    for (size_t i = 0; i < rows.count; i++)
        seqs[i] = rows.items[i].seq;
    EXPECT_OK(s, pawl_store_queue_take(store, &how, seqs, rows.count, SUITE_NOW + 9, &taken, copies,
                                       &s->error));
    return taken;
}

static size_t take(suite *s, pawl_store *store, pawl_queue_take_action action, pawl_text to)
{
    return take_counted(s, store, action, to, NULL);
}

static void send_three(suite *s, pawl_store *store)
{
    suite_send(s, store, LINE, "m-1", SUITE_NOW + 3);
    suite_send(s, store, LINE, "m-2", SUITE_NOW + 1);
    suite_send(s, store, LINE, "m-3", SUITE_NOW + PAWL_HOURS(2));
}

static void messages_moved_to_the_dead_letters_can_be_retried(suite *s)
{
    pawl_store           *a     = suite_open(s);
    const pawl_dead_query query = {.message_id = TEXT("m-2")};
    pawl_dead_rows        rows;
    send_three(s, a);
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_DEAD_LETTER, TEXT("")), 3);
    EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT(""));
    READ_ROWS(s, pawl_store_dead_find(a, &query, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].queue, LINE);
    EXPECT_TEXT(s, rows.items[0].code, TEXT(PAWL_TAKE_CODE));
    EXPECT_TEXT(s, rows.items[0].error, TEXT("purged by ann: a \"test\""));
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW + 9);
    EXPECT(s, suite_knows(s, a, LINE, TEXT("m-2")));
    EXPECT_OK(s, pawl_store_dead_retry(a, LINE, TEXT("m-2"), ANN, TEXT(""), SUITE_NOW, &s->error));
    EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT("m-2 "));
    EXPECT(s, !suite_knows(s, a, LINE, TEXT("m-2")));
}

/* Senders may write any headers: a message with the headers and the body of a timeout's letter is still a message. */
static void a_message_with_a_timeouts_headers_stays_a_message_as_a_dead_letter(suite *s)
{
    pawl_store       *a       = suite_open(s);
    pawl_message      message = suite_message(s, TEXT("01a20a97-1295-7006-ac35-ef034474ec01"));
    pawl_timeout_rows timeouts;
    message.causation_id = TEXT("");
    message.body         = TEXT("{}");
    message.headers      = TEXT("{\"" PAWL_HEADER_SAGA "\":\"Order\",\"" PAWL_HEADER_SAGA_ID
                                "\":\"01a20a97-1295-7006-ac35-ef034474ec10\"}");
    COMMIT_ONE(s, a, queue_send, .queue = LINE, .message = message, .due = SUITE_NOW);
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_DEAD_LETTER, TEXT("")), 1);
    EXPECT_OK(s, pawl_store_dead_retry(a, LINE, message.id, ANN, TEXT(""), SUITE_NOW, &s->error));
    EXPECT_EQ(s, suite_queue(s, a, LINE).count, 1);
    READ_ROWS(s,
              pawl_store_timeout_list(a, (pawl_saga_id){{{0}}}, 0, s->arena, &timeouts, &s->error),
              timeouts);
    EXPECT_EQ(s, timeouts.count, 0);
}

static void a_discarded_message_is_deleted_and_its_id_stays_known(suite *s)
{
    pawl_store           *a    = suite_open(s);
    const pawl_dead_query all  = {.count_max = 0};
    pawl_dead_rows        rows = {.count = 9};
    send_three(s, a);
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_DISCARD, TEXT("")), 3);
    EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT(""));
    READ_ROWS(s, pawl_store_dead_find(a, &all, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 0);
    EXPECT(s, suite_knows(s, a, LINE, TEXT("m-3")));
}

static void a_moved_message_keeps_its_id_order_and_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    send_three(s, a);
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_MOVE, OTHER), 3);
    EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT(""));
    EXPECT_TEXT(s, ids_of(s, a, OTHER), TEXT("m-2 m-1 m-3 "));
    EXPECT_EQ(s, suite_queue(s, a, OTHER).items[2].due, SUITE_NOW + PAWL_HOURS(2));
    EXPECT(s, !suite_knows(s, a, LINE, TEXT("m-1")));
    EXPECT(s, !suite_knows(s, a, OTHER, TEXT("m-1")));
    pawl_event_rows rows;
    EXPECT_OK(s, pawl_store_queue_pause(a, LINE, ANN, TEXT(""), SUITE_NOW + 5, &s->error));
    READ_ROWS(s, pawl_store_queue_actions(a, LINE, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].event.type, TEXT(PAWL_QUEUE_PAUSED));
    EXPECT_TEXT(s, rows.items[1].event.type, TEXT(PAWL_QUEUE_MOVED));
    EXPECT(s, suite_text_has(rows.items[1].event.headers, TEXT("\"to\":\"other\"")));
    EXPECT(s, suite_text_has(rows.items[1].event.headers, TEXT("\"by\":\"ann\"")));
    EXPECT(s, suite_text_has(rows.items[1].event.body, TEXT("\"m-2\",\"m-1\",\"m-3\"")));
}

/* A message that the target queue has already is not duplicated. */
static void a_message_moved_to_a_queue_that_has_it_already_is_there_once(suite *s)
{
    pawl_store *a = suite_open(s);
    send_three(s, a);
    suite_send(s, a, OTHER, "m-1", SUITE_NOW);
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_MOVE, OTHER), 3);
    EXPECT_TEXT(s, ids_of(s, a, OTHER), TEXT("m-1 m-2 m-3 "));
}

static void a_claimed_message_cannot_be_moved_out_of_its_queue(suite *s)
{
    pawl_store     *a = suite_open(s), *b = suite_open(s);
    pawl_queue_rows mine;
    send_three(s, a);
    mine = suite_claim(s, a, LINE, SUITE_NOW + 1, 1);
    EXPECT_EQ(s, mine.count, 1);
    const pawl_queue_take how = {
        .action = PAWL_TAKE_DEAD_LETTER, .queue = LINE, .by = ANN, .reason = TEXT("")};
    pawl_queue_rows rows = suite_queue(s, a, LINE);
    int64_t         seqs[3];
    size_t          taken = 99;
    for (size_t i = 0; i < 3; i++)
        seqs[i] = rows.items[i].seq;
    pawl_code code = pawl_store_queue_take(b, &how, seqs, 3, SUITE_NOW, &taken, NULL, &s->error);
    if (code == PAWL_EBUSY) /* another worker reads the queue, so this one cannot claim */
        EXPECT_EQ(s, taken, 0);
    else {
        EXPECT_OK(s, code);
        EXPECT_EQ(s, taken, 2);
        EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT("m-2 "));
    }
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_DONE, .queue = LINE,
               .seq = mine.items[0].seq);
}

/* A copy of a handled message would be dropped as a duplicate, so it does not become a dead letter. */
static void a_copy_of_a_handled_message_does_not_become_a_dead_letter(suite *s)
{
    pawl_store           *a    = suite_open(s);
    const pawl_dead_query all  = {.count_max = 0};
    pawl_dead_rows        rows = {.count = 9};
    size_t                copies;
    send_three(s, a);
    COMMIT_ONE(s, a, inbox_entry, .endpoint = LINE, .message_id = TEXT("m-1"),
               .outcome = PAWL_INBOX_HANDLED, .at = SUITE_NOW);
    EXPECT_EQ(s, take_counted(s, a, PAWL_TAKE_DEAD_LETTER, TEXT(""), &copies), 3);
    EXPECT_EQ(s, copies, 1);
    READ_ROWS(s, pawl_store_dead_find(a, &all, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 2);
}

static void an_invalid_move_of_messages_out_of_a_queue_is_refused(suite *s)
{
    pawl_store     *a     = suite_open(s);
    size_t          taken = 9;
    pawl_queue_take how   = {.action = PAWL_TAKE_MOVE, .queue = LINE, .by = ANN};
    send_three(s, a);
    int64_t seq = suite_queue(s, a, LINE).items[0].seq;
#define REFUSE_TAKE()                                                                           \
    EXPECT_CODE(s, pawl_store_queue_take(a, &how, &seq, 1, SUITE_NOW, &taken, NULL, &s->error), \
                PAWL_EINVAL)
    REFUSE_TAKE();
    how.to = LINE;
    REFUSE_TAKE();
    how.to = OTHER;
    how.by = TEXT("");
    REFUSE_TAKE();
    how.by    = ANN;
    how.queue = TEXT("");
    REFUSE_TAKE();
    how.queue  = LINE;
    how.action = (pawl_queue_take_action)9;
    REFUSE_TAKE();
    how.action = PAWL_TAKE_MOVE;
    EXPECT_CODE(s,
                pawl_store_queue_take(a, &how, &seq, PAWL_BATCH_MESSAGES_MAX + 1, SUITE_NOW, &taken,
                                      NULL, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, taken, 0);
    EXPECT_OK(s, pawl_store_queue_take(a, &how, &seq, 0, SUITE_NOW, &taken, NULL, &s->error));
    EXPECT_EQ(s, taken, 0);
    seq += 1000;
    EXPECT_OK(s, pawl_store_queue_take(a, &how, &seq, 1, SUITE_NOW, &taken, NULL, &s->error));
    EXPECT_EQ(s, taken, 0);
    EXPECT_EQ(s, suite_queue(s, a, LINE).count, 3);
}

/* A moved message starts without attempts: earlier failures belong to the other queue. */
static void a_moved_message_begins_without_attempts(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_send(s, a, LINE, "m-1", SUITE_NOW);
    pawl_queue_rows mine = suite_claim(s, a, LINE, SUITE_NOW, 1);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = LINE,
               .seq = mine.items[0].seq, .due = SUITE_NOW + 7, .attempts = 3, .crashes = 1,
               .error = TEXT("no bank"));
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_MOVE, OTHER), 1);
    pawl_queue_rows rows = suite_queue(s, a, OTHER);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 7);
    EXPECT_EQ(s, rows.items[0].attempts, 0);
    EXPECT_EQ(s, rows.items[0].crashes, 0);
}

/* The letter keeps the row's attempts, crash count and causation id. */
static void a_message_moved_to_the_dead_letters_keeps_its_attempts_and_crash_count(suite *s)
{
    pawl_store           *a    = suite_open(s);
    const pawl_dead_query all  = {.count_max = 0};
    pawl_message          sent = suite_message(s, TEXT("m-1"));
    pawl_dead_rows        rows;
    sent.causation_id = TEXT("m-0");
    COMMIT_ONE(s, a, queue_send, .queue = LINE, .message = sent, .due = SUITE_NOW);
    pawl_queue_rows mine = suite_claim(s, a, LINE, SUITE_NOW, 1);
    EXPECT_EQ(s, mine.count, 1);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = LINE,
               .seq = mine.items[0].seq, .due = SUITE_NOW + 7, .attempts = 3, .crashes = 2,
               .error = TEXT("no bank"), .history = TEXT("[{\"attempt\":1}]"));
    EXPECT_EQ(s, take(s, a, PAWL_TAKE_DEAD_LETTER, TEXT("")), 1);
    READ_ROWS(s, pawl_store_dead_find(a, &all, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 3);
    EXPECT_EQ(s, rows.items[0].crashes, 2);
    EXPECT_TEXT(s, rows.items[0].history, TEXT("[{\"attempt\":1}]"));
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
}

/* After a refused commit the claimed messages are free again, also for other handles. */
static void a_refused_move_leaves_no_message_claimed(suite *s)
{
    pawl_store     *a = suite_open(s), *b = suite_open(s);
    pawl_queue_take how = {
        .action = PAWL_TAKE_MOVE, .queue = LINE, .to = TEXT("no\xff"), .by = ANN};
    size_t taken = 9;
    send_three(s, a);
    int64_t seq = suite_queue(s, a, LINE).items[0].seq;
    EXPECT_CODE(s, pawl_store_queue_take(a, &how, &seq, 1, SUITE_NOW, &taken, NULL, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, taken, 0);
    EXPECT_TEXT(s, ids_of(s, a, LINE), TEXT("m-2 m-1 m-3 "));
    EXPECT_EQ(s, suite_claim(s, b, LINE, PAWL_TIME_MAX, 9).count, 3);
}

static void an_operators_long_reason_is_cut_in_the_dead_letters_error(suite *s)
{
    pawl_store           *a   = suite_open(s);
    const pawl_dead_query all = {.count_max = 0};
    pawl_dead_rows        rows;
    pawl_event_rows       actions;
    size_t                taken = 9;
    char                  reason[PAWL_ERROR_TEXT_SIZE_MAX - 3];
    memset(reason, 'x', sizeof reason);
    const pawl_queue_take how = {.action = PAWL_TAKE_DEAD_LETTER,
                                 .queue  = LINE,
                                 .by     = ANN,
                                 .reason = {.data = reason, .size = sizeof reason}};
    send_three(s, a);
    int64_t seq = suite_queue(s, a, LINE).items[0].seq;
    EXPECT_OK(s, pawl_store_queue_take(a, &how, &seq, 1, SUITE_NOW, &taken, NULL, &s->error));
    EXPECT_EQ(s, taken, 1);
    READ_ROWS(s, pawl_store_dead_find(a, &all, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].error.size, PAWL_ERROR_TEXT_SIZE_MAX);
    EXPECT(s, suite_text_has(rows.items[0].error, TEXT("purged by ann: xxx")));
    EXPECT(s, suite_text_has(rows.items[0].error, TEXT("xxx...")));
    READ_ROWS(s, pawl_store_queue_actions(a, LINE, s->arena, &actions, &s->error), actions);
    EXPECT_EQ(s, actions.count, 1);
    EXPECT(s, suite_text_has(actions.items[0].event.headers, how.reason));
}

#define TAKERS 4
#define TAKEN_EACH 40

/* Takes one message per commit. A store in which only one process may claim returns PAWL_EBUSY. */
static void take_own(suite_thread *thread)
{
    suite                *s     = thread->s;
    pawl_store           *store = suite_open(s);
    const pawl_queue_take how   = {
          .action = PAWL_TAKE_MOVE, .queue = LINE, .to = OTHER, .by = ANN, .reason = TEXT("")};
    for (size_t i = 0; i < TAKEN_EACH; i++) {
        const int64_t *seqs  = thread->context;
        size_t         taken = 9;
        pawl_code code = pawl_store_queue_take(store, &how, &seqs[thread->index * TAKEN_EACH + i],
                                               1, SUITE_NOW, &taken, NULL, &s->error);
        EXPECT(s, code == PAWL_EBUSY || (code == PAWL_OK && taken == 1));
    }
}

/* All commits append to the same stream, that of the queue. */
static void several_operators_can_move_messages_out_of_one_queue_at_a_time(suite *s)
{
    pawl_store *a = suite_open(s);
    int64_t     seqs[TAKERS * TAKEN_EACH];
    for (size_t i = 0; i < TAKERS * TAKEN_EACH; i++)
        suite_send(s, a, LINE, suite_printf(s, "m-%zu", i).data, SUITE_NOW);
    pawl_queue_rows rows = suite_queue(s, a, LINE);
    EXPECT_EQ(s, rows.count, TAKERS * TAKEN_EACH);
    for (size_t i = 0; i < rows.count; i++)
        seqs[i] = rows.items[i].seq;
    suite_threads(s, TAKERS, take_own, seqs);
    EXPECT_EQ(s, suite_queue(s, a, LINE).count + suite_queue(s, a, OTHER).count,
              TAKERS * TAKEN_EACH);
}

static const suite_case cases[] = {
    {"E34 messages moved to the dead letters can be retried",
     messages_moved_to_the_dead_letters_can_be_retried},
    {"E34 a message with a timeout's headers stays a message as a dead letter",
     a_message_with_a_timeouts_headers_stays_a_message_as_a_dead_letter},
    {"E34 a discarded message is deleted and its id stays known",
     a_discarded_message_is_deleted_and_its_id_stays_known},
    {"E26 a moved message keeps its id, order and due time",
     a_moved_message_keeps_its_id_order_and_due_time},
    {"E26 a message moved to a queue that has it already is there once",
     a_message_moved_to_a_queue_that_has_it_already_is_there_once},
    {"E26 a moved message begins without attempts", a_moved_message_begins_without_attempts},
    {"E34 a message moved to the dead letters keeps its attempts and crash count",
     a_message_moved_to_the_dead_letters_keeps_its_attempts_and_crash_count},
    {"E26 a refused move leaves no message claimed", a_refused_move_leaves_no_message_claimed},
    {"E34 an operator's long reason is cut in the dead letter's error",
     an_operators_long_reason_is_cut_in_the_dead_letters_error},
    {"E26 a claimed message cannot be moved out of its queue",
     a_claimed_message_cannot_be_moved_out_of_its_queue},
    {"E34 a copy of a handled message does not become a dead letter",
     a_copy_of_a_handled_message_does_not_become_a_dead_letter},
    {"E26 an invalid move of messages out of a queue is refused",
     an_invalid_move_of_messages_out_of_a_queue_is_refused},
    {"E26 several operators can move messages out of one queue at a time",
     several_operators_can_move_messages_out_of_one_queue_at_a_time},
};

const suite_cases cases_op_take = SUITE_CASES("operation queue move", cases);
