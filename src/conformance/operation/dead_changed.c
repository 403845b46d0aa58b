/* dead_changed.c - dead letters that were changed since they were read are not settled, and count as gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"
#include "pawl/store_calls.h"

#define ORDERS TEXT("orders")
#define LINE TEXT("line")
#define ANN TEXT("ann")
#define BOB TEXT("bob")
#define EDITED TEXT("{\"edited\":1}")

static void add_dead_letter(suite *s, pawl_store *store, const pawl_message *message, pawl_time at)
{
    suite_set set = suite_changes(s);
    ADD(&set, dead_set, .endpoint = ORDERS, .queue = LINE, .message = *message,
        .code = TEXT("EPERSIST"), .error = TEXT("x"), .attempts = 1, .at = at);
    ADD(&set, inbox_entry, .endpoint = ORDERS, .message_id = message->id,
        .outcome = PAWL_INBOX_DEAD, .at = at);
    COMMIT(&set, store);
}

/* Sends the message again with another body, and dead-letters it again at this time. */
static void edit_and_fail_again(suite *s, pawl_store *store, pawl_text id, pawl_time at)
{
    EXPECT_OK(s, pawl_store_dead_edit(store, ORDERS, id, EDITED, BOB, TEXT(""), at - 1, &s->error));
    pawl_queue_rows rows = suite_claim(s, store, LINE, at, 9);
    EXPECT_EQ(s, rows.count, 1);
    COMMIT_ONE(s, store, queue_settle, .action = PAWL_QUEUE_DONE, .queue = LINE,
               .seq = rows.items[0].seq);
    add_dead_letter(s, store, &rows.items[0].message, at);
}

static size_t count_actions(suite *s, pawl_store *store, pawl_text id)
{
    pawl_event_rows rows;
    READ_ROWS(s, pawl_store_dead_actions(store, ORDERS, id, s->arena, &rows, &s->error), rows);
    return rows.count;
}

/* Reads two letters; another operator changes the first; then both are settled as they were read. */
static void settle_what_was_read(suite *s, pawl_dead_action action)
{
    const pawl_dead_settle how = {
        .action = action, .by = ANN, .body = action == PAWL_DEAD_EDIT ? TEXT("{}") : TEXT("")};
    pawl_store       *a = suite_open(s), *b = suite_open_bare(s);
    pawl_message      first = suite_message(s, TEXT("m-1")), second = suite_message(s, TEXT("m-2"));
    pawl_dead_settled settled = {9, 9};
    add_dead_letter(s, a, &first, SUITE_NOW);
    add_dead_letter(s, a, &second, SUITE_NOW + 1);
    pawl_dead_rows seen = suite_dead_rows(s, b, ORDERS);
    edit_and_fail_again(s, a, first.id, SUITE_NOW + 4);
    EXPECT_CODE(s, pawl_store_dead_settle(b, seen.items, 2, &how, SUITE_NOW + 5, NULL, &s->error),
                PAWL_EGONE);
    EXPECT_EQ(s, suite_dead_rows(s, a, ORDERS).count, 2);
    EXPECT_OK(s,
              pawl_store_dead_settle(b, seen.items, 2, &how, SUITE_NOW + 5, &settled, &s->error));
    EXPECT_EQ(s, settled.gone_count, 1);
    EXPECT_EQ(s, settled.left_count, 0);
    pawl_dead_rows left = suite_dead_rows(s, a, ORDERS);
    EXPECT_EQ(s, left.count, 1);
    EXPECT_TEXT(s, left.items[0].message.id, first.id);
    EXPECT_TEXT(s, left.items[0].message.body, EDITED);
    EXPECT_EQ(s, left.items[0].at, SUITE_NOW + 4);
    EXPECT(s, suite_knows(s, a, ORDERS, first.id));
    EXPECT_EQ(s, suite_queue(s, a, LINE).count, action == PAWL_DEAD_DISCARD ? 0 : 1);
    EXPECT_EQ(s, count_actions(s, a, first.id), 1);
    EXPECT_EQ(s, count_actions(s, a, second.id), 1);
}

static void a_retry_leaves_out_a_dead_letter_that_changed_since_it_was_read(suite *s)
{
    settle_what_was_read(s, PAWL_DEAD_RETRY);
}

static void an_edit_leaves_out_a_dead_letter_that_changed_since_it_was_read(suite *s)
{
    settle_what_was_read(s, PAWL_DEAD_EDIT);
}

static void a_discard_leaves_out_a_dead_letter_that_changed_since_it_was_read(suite *s)
{
    settle_what_was_read(s, PAWL_DEAD_DISCARD);
}

static const suite_case cases[] = {
    {"E34 a retry leaves out a dead letter that changed since it was read",
     a_retry_leaves_out_a_dead_letter_that_changed_since_it_was_read},
    {"E34 an edit leaves out a dead letter that changed since it was read",
     an_edit_leaves_out_a_dead_letter_that_changed_since_it_was_read},
    {"E34 a discard leaves out a dead letter that changed since it was read",
     a_discard_leaves_out_a_dead_letter_that_changed_since_it_was_read},
};

const suite_cases cases_op_dead_changed = SUITE_CASES("operation changed dead letter", cases);
