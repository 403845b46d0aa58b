/* set.c - many changes of one kind in one set: a driver may write them with one statement, but each has its own result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <string.h>

#define COUNT 21 /* not a power of two */
#define ORDERS TEXT("orders")

static const unsigned odd_ones[] = {9, 10, 20};

static bool is_odd_one(unsigned number)
{
    return number == odd_ones[0] || number == odd_ones[1] || number == odd_ones[2];
}

static void insert_orders(suite *s, pawl_store *store)
{
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++)
        ADD(&set, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(i + 1),
            .main = pawl_value_text(suite_printf(s, "order-%u", i)), .metadata = TEXT("{}"),
            .data = TEXT("{}"), .type_version = TEXT("1.0"));
    COMMIT(&set, store);
}

static void expect_odd_ones(suite *s, const pawl_refusals *refused, pawl_code reason)
{
    EXPECT_EQ(s, refused->count, 3);
    for (unsigned i = 0; i < 3; i++) {
        const pawl_refusal *refusal = suite_refusal(refused, odd_ones[i]);
        EXPECT(s, refusal != NULL && refusal->reason == reason);
    }
}

static void add_update(suite_set *set, unsigned number, int64_t version, pawl_text data)
{
    suite *s = set->s;
    suite_unit(set, number, number);
    ADD(set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(number + 1),
        .version = version, .metadata = TEXT("{}"), .data = data, .type_version = TEXT("1.0"));
}

static void of_many_saga_updates_in_a_commit_only_outdated_ones_are_refused(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    insert_orders(s, a);
    for (unsigned i = 0; i < COUNT; i++)
        add_update(&set, i, is_odd_one(i) ? 2 : 1, suite_printf(s, "{\"n\":%u}", i));
    pawl_refusals refused = REFUSED(&set, a);
    expect_odd_ones(s, &refused, PAWL_ECONFLICT);
    for (unsigned i = 0; i < COUNT; i++) {
        pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, i + 1);
        EXPECT_EQ(s, row.version, is_odd_one(i) ? 1 : 2);
        EXPECT_TEXT(s, suite_compact(s, row.data),
                    is_odd_one(i) ? TEXT("{}") : suite_printf(s, "{\"n\":%u}", i));
    }
}

static void of_many_saga_deletes_in_a_commit_only_outdated_ones_are_refused(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    insert_orders(s, a);
    for (unsigned i = 0; i < COUNT; i++) {
        suite_unit(&set, i, i);
        ADD(&set, saga_delete, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(i + 1),
            .version = is_odd_one(i) ? 2 : 1);
    }
    pawl_refusals refused = REFUSED(&set, a);
    expect_odd_ones(s, &refused, PAWL_ECONFLICT);
    for (unsigned i = 0; i < COUNT; i++)
        EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, i + 1).version, is_odd_one(i));
}

static pawl_text long_state(suite *s)
{
    enum { SIZE = 100000 };
    static const char begin[] = "{\"n\":\"", end[] = "\"}";
    char             *text = pawl_arena_take(s->arena, SIZE);
    EXPECT(s, text != NULL);
    memset(text, 'x', SIZE);
    memcpy(text, begin, sizeof begin - 1);
    memcpy(text + SIZE - (sizeof end - 1), end, sizeof end - 1);
    return (pawl_text){.data = text, .size = SIZE};
}

static void long_and_short_saga_states_can_be_saved_in_one_commit(suite *s)
{
    pawl_store *a    = suite_open(s);
    suite_set   set  = suite_changes(s);
    pawl_text   data = long_state(s);
    insert_orders(s, a);
    for (unsigned i = 0; i < COUNT; i++)
        add_update(&set, i, 1, is_odd_one(i) ? data : TEXT("{\"n\":1}"));
    COMMIT(&set, a);
    for (unsigned i = 0; i < COUNT; i++) {
        pawl_saga_row row = suite_load_id(s, a, SUITE_ORDER, i + 1);
        EXPECT_EQ(s, row.version, 2);
        EXPECT(s, is_odd_one(i) == (row.data.size >= data.size));
    }
}

static void of_many_sends_in_a_commit_only_ids_that_are_queued_are_ignored(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    suite_send(s, a, ORDERS, "m-9", SUITE_NOW);
    for (unsigned i = 0; i < COUNT; i++)
        ADD(&set, queue_send, .queue = ORDERS, .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "m-%u", i % 20)));
    COMMIT(&set, a);
    EXPECT_EQ(s, suite_queue(s, a, ORDERS).count, 20);
}

/* Appends the second event of each stream; some streams have no first one. */
static void of_many_appends_in_a_commit_only_those_that_leave_a_gap_are_refused(suite *s)
{
    pawl_store *a     = suite_open(s);
    suite_set   first = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++) {
        pawl_text stream = suite_printf(s, "stream-%u", i);
        suite_unit(&set, i, i);
        ADD(&set, event_append, .stream = stream, .version = 2, .is_first = true,
            .event = suite_event(s, suite_printf(s, "m-%u", i)));
        if (!is_odd_one(i))
            ADD(&first, event_append, .stream = stream, .version = 1, .is_first = true,
                .event = suite_event(s, TEXT("m")));
    }
    COMMIT(&first, a);
    pawl_refusals refused = REFUSED(&set, a);
    expect_odd_ones(s, &refused, PAWL_ECONFLICT);
    for (unsigned i = 0; i < COUNT; i++)
        EXPECT_EQ(s, suite_stream(s, a, suite_printf(s, "stream-%u", i), 0).version,
                  is_odd_one(i) ? 0 : 2);
}

/* With characters that a driver may have to write differently. */
static pawl_text stream_of(suite *s, unsigned number)
{
    return suite_printf(s, "\"%u\"\\\t{\xc3\xa9", number);
}

/* Each stream has a different length; all are continued in one set. */
static void one_commit_can_append_to_many_streams_each_at_its_own_version(suite *s)
{
    pawl_store *a     = suite_open(s);
    suite_set   first = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 1; i <= COUNT; i++) {
        pawl_text stream = stream_of(s, i);
        for (unsigned k = 1; k <= i; k++)
            ADD(&first, event_append, .stream = stream, .version = k, .is_first = k == 1,
                .event = suite_event(s, TEXT("m")));
        ADD(&set, event_append, .stream = stream, .version = i + 1, .is_first = true,
            .event = suite_event(s, suite_printf(s, "m-%u", i)));
    }
    COMMIT(&first, a);
    COMMIT(&set, a);
    for (unsigned i = 1; i <= COUNT; i++) {
        pawl_stream stream = suite_stream(s, a, stream_of(s, i), 0);
        EXPECT_EQ(s, stream.version, i + 1);
        EXPECT_EQ(s, stream.count, i + 1);
        EXPECT_TEXT(s, stream.events[i].event.message_id, suite_printf(s, "m-%u", i));
    }
}

static void of_two_retries_of_a_timeout_in_one_commit_the_later_counts(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   all = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++) {
        ADD(&all, timeout_set, .id = suite_timeout_id(i + 1), .saga_type = TEXT("Order"),
            .destination = ORDERS, .due = SUITE_NOW, .is_new = true);
        ADD(&set, timeout_settle, .id = suite_timeout_id(i + 1), .action = PAWL_TIMEOUT_RETRY,
            .due = SUITE_NOW + i, .attempts = 1);
    }
    ADD(&set, timeout_settle, .id = suite_timeout_id(1), .action = PAWL_TIMEOUT_RETRY,
        .due = SUITE_NOW + 500, .attempts = 7);
    COMMIT(&all, a);
    COMMIT(&set, a);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, COUNT);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 1);
    EXPECT_EQ(s, rows.items[COUNT - 1].due, SUITE_NOW + 500);
    EXPECT_EQ(s, rows.items[COUNT - 1].attempts, 7);
}

static void of_many_timeouts_only_those_that_a_commit_cancels_are_deleted(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   all = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++) {
        ADD(&all, timeout_set, .id = suite_timeout_id(i + 1), .saga_id = suite_saga_id(i + 1),
            .name = TEXT("late"), .saga_type = TEXT("Order"), .destination = ORDERS,
            .due = SUITE_NOW, .is_new = true);
        if (!is_odd_one(i))
            ADD(&set, timeout_cancel, .saga_id = suite_saga_id(i + 1), .name = TEXT("late"));
        else
            ADD(&set, timeout_cancel, .saga_id = suite_saga_id(i + 1), .name = TEXT("other"));
    }
    COMMIT(&all, a);
    COMMIT(&set, a);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 3);
}

/* Row i had i attempts before, so its next history line has its own number. */
static int64_t add_dead_row(suite *s, pawl_store *store, unsigned i)
{
    COMMIT_ONE(s, store, outbox_add, .dispatch_id = suite_dispatch_id(i), .source = TEXT("saga"),
               .version = i + 1, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
               .message = suite_message(s, suite_printf(s, "m-%u", i)), .at = SUITE_NOW);
    pawl_outbox_rows rows = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, rows.count, 1);
    for (unsigned k = 1; k <= i + 1; k++)
        COMMIT_ONE(s, store, outbox_settle, .id = rows.items[0].id, .source = TEXT("saga"),
                   .state = k <= i ? PAWL_OUTBOX_PENDING : PAWL_OUTBOX_DEAD, .attempts = (int32_t)k,
                   .outcome = PAWL_ATTEMPT_TRANSIENT, .at = SUITE_NOW);
    return rows.items[0].id;
}

static void outbox_rows_that_an_operator_retries_in_one_commit_are_each_recorded(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    int64_t     ids[6];
    for (unsigned i = 0; i < 6; i++) {
        ids[i] = add_dead_row(s, a, i);
        ADD(&set, outbox_reset, .id = ids[i], .action = PAWL_OUTBOX_RETRY, .at = SUITE_NOW);
    }
    COMMIT(&set, a);
    for (unsigned i = 0; i < 6; i++) {
        pawl_attempt_rows lines = suite_attempts(s, a, ids[i]);
        EXPECT_EQ(s, lines.count, i + 2);
        EXPECT_EQ(s, lines.items[i + 1].attempt, (int32_t)i + 2);
    }
}

static void retried_messages_wait_for_their_due_time_to_the_microsecond(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   all = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 0; i < COUNT; i++)
        ADD(&all, queue_send, .queue = ORDERS, .due = SUITE_NOW,
            .message = suite_message(s, suite_printf(s, "m-%u", i)));
    COMMIT(&all, a);
    pawl_queue_rows rows = suite_claim(s, a, ORDERS, SUITE_NOW, COUNT);
    EXPECT_EQ(s, rows.count, COUNT);
    for (size_t i = 0; i < rows.count; i++)
        ADD(&set, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = ORDERS,
            .seq = rows.items[i].seq, .due = SUITE_NOW + 1, .attempts = 1);
    COMMIT(&set, a);
    EXPECT_EQ(s, suite_claim(s, a, ORDERS, SUITE_NOW, COUNT).count, 0);
    EXPECT_EQ(s, suite_claim(s, a, ORDERS, SUITE_NOW + 1, COUNT).count, COUNT);
}

/* The first item has no value, so a driver must not derive the type from it. */
static void transitional_times_saved_in_one_commit_are_kept_to_the_microsecond(suite *s)
{
    pawl_store            *a   = suite_open(s);
    suite_set              all = suite_changes(s), set = suite_changes(s);
    const pawl_saga_table *alarm = s->tables[SUITE_ALARM];
    for (unsigned i = 0; i < COUNT; i++) {
        pawl_value next =
            i == 0 ? (pawl_value){.type = PAWL_VALUE_NONE} : pawl_value_time(SUITE_NOW + 1000 + i);
        ADD(&all, saga_insert, .table = alarm, .id = suite_saga_id(i + 1),
            .main = pawl_value_time(SUITE_NOW + i), .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
        ADD(&set, saga_update, .table = alarm, .id = suite_saga_id(i + 1), .version = 1,
            .transitional = next, .metadata = TEXT("{}"), .data = TEXT("{}"),
            .type_version = TEXT("1.0"));
    }
    COMMIT(&all, a);
    COMMIT(&set, a);
    for (unsigned i = 1; i < COUNT; i++) {
        pawl_saga_row row = suite_load(s, a, SUITE_ALARM, PAWL_SAGA_BY_TRANSITIONAL,
                                       pawl_value_time(SUITE_NOW + 1000 + i));
        EXPECT_EQ(s, row.version, 2);
        EXPECT_EQ(s, row.transitional.as.time, SUITE_NOW + 1000 + i);
    }
}

/* Rows are blocked one by one, by id: other rows of the source stay free, and so do rows that were tried or dispatched.
 * An unblock later in the set frees rows of its source again. */
static void outbox_rows_can_be_blocked_by_their_ids(suite *s)
{
    pawl_store *a    = suite_open(s);
    suite_set   rows = suite_changes(s), set = suite_changes(s);
    for (unsigned i = 1; i <= COUNT; i++)
        ADD(&rows, outbox_add, .dispatch_id = {suite_uuid(i)},
            .source = i <= 10 ? ORDERS : TEXT("other"), .version = i, .endpoint = TEXT("suite"),
            .destination = TEXT("far"), .message = suite_message(s, suite_printf(s, "m-%u", i)),
            .at = SUITE_NOW);
    COMMIT(&rows, a);
    pawl_outbox_rows all = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, all.count, COUNT);
    const pawl_outbox_row *of = all.items - 1; /* indexed by number */
    COMMIT_ONE(s, a, outbox_settle, .id = of[3].id, .source = ORDERS, .state = PAWL_OUTBOX_PENDING,
               .attempts = 1, .next_attempt = SUITE_NOW + 10, .outcome = PAWL_ATTEMPT_TRANSIENT,
               .at = SUITE_NOW);
    COMMIT_ONE(s, a, outbox_settle, .id = of[4].id, .source = ORDERS,
               .state = PAWL_OUTBOX_DISPATCHED, .attempts = 1, .next_attempt = SUITE_NOW,
               .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW);
    ADD(&set, outbox_block, .source = ORDERS, .id = of[2].id);
    ADD(&set, outbox_block, .source = TEXT("other"), .id = of[12].id);
    ADD(&set, outbox_block, .source = ORDERS, .is_unblock = true);
    for (unsigned i = 3; i <= 6; i++)
        ADD(&set, outbox_block, .source = ORDERS, .id = of[i].id);
    ADD(&set, outbox_block, .source = TEXT("other"), .id = of[COUNT].id);
    COMMIT(&set, a);
    pawl_outbox_rows held       = suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED);
    const unsigned   expected[] = {5, 6, 12, COUNT};
    EXPECT_EQ(s, held.count, 4);
    for (size_t i = 0; i < held.count; i++)
        EXPECT_EQ(s, held.items[i].id, of[expected[i]].id);
    COMMIT_ONE(s, a, outbox_block, .source = ORDERS, .is_unblock = true);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 2);
    EXPECT_EQ(s, suite_outbox_row(s, a, 3).attempts, 1);
}

/* ---- In a handler's transaction -------------------------------------------- */

/* Sends a message in a new handler transaction, as pawl_sender_enlist does for a handler. */
static void enlist_message(suite *s, pawl_store *store, const char *id)
{
    suite_set set = suite_changes(s);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(store, &s->error));
    ADD(&set, queue_send, .queue = TEXT("orders"), .message = suite_message(s, pawl_text_of(id)),
        .due = SUITE_NOW, .is_new = true);
    suite_enlist(&set, store);
}

static void enlisted_changes_are_applied_with_the_handler_transaction_or_undone_with_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    if (!pawl_store_can_enlist(a) || (pawl_store_promises(a) & PAWL_STORE_HAS_SQL) == 0)
        suite_not_applicable(s, "the driver has no enlist, or promises no handler transactions");
    enlist_message(s, a, "m-1");
    pawl_store_handler_transaction_end(a);
    EXPECT_EQ(s, suite_queue(s, b, TEXT("orders")).count, 0);
    enlist_message(s, a, "m-2");
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-0"),
               .at = SUITE_NOW);
    pawl_queue_rows rows = suite_queue(s, b, TEXT("orders"));
    EXPECT_EQ(s, rows.count, 1);
    pawl_message sent = suite_message(s, TEXT("m-2"));
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT(s, suite_knows(s, b, TEXT("suite"), TEXT("m-0")));
}

static const suite_case cases[] = {
    {"E35 S7 of many saga updates in a commit only outdated ones are refused",
     of_many_saga_updates_in_a_commit_only_outdated_ones_are_refused},
    {"E35 S14 of many saga deletes in a commit only outdated ones are refused",
     of_many_saga_deletes_in_a_commit_only_outdated_ones_are_refused},
    {"S15 long and short saga states can be saved in one commit",
     long_and_short_saga_states_can_be_saved_in_one_commit},
    {"E35 of many sends in a commit only ids that are queued are ignored",
     of_many_sends_in_a_commit_only_ids_that_are_queued_are_ignored},
    {"E35 of many appends in a commit only those that leave a gap are refused",
     of_many_appends_in_a_commit_only_those_that_leave_a_gap_are_refused},
    {"E35 O1 one commit can append to many streams, each at its own version",
     one_commit_can_append_to_many_streams_each_at_its_own_version},
    {"E35 of two retries of a timeout in one commit the later counts",
     of_two_retries_of_a_timeout_in_one_commit_the_later_counts},
    {"O12 outbox rows that an operator retries in one commit are each recorded",
     outbox_rows_that_an_operator_retries_in_one_commit_are_each_recorded},
    {"E26 retried messages wait for their due time to the microsecond",
     retried_messages_wait_for_their_due_time_to_the_microsecond},
    {"S16 transitional times saved in one commit are kept to the microsecond",
     transitional_times_saved_in_one_commit_are_kept_to_the_microsecond},
    {"E13 of many timeouts only those that a commit cancels are deleted",
     of_many_timeouts_only_those_that_a_commit_cancels_are_deleted},
    {"O14 outbox rows can be blocked by their ids", outbox_rows_can_be_blocked_by_their_ids},
    {"S33 enlisted changes are applied with the handler transaction, or undone with it",
     enlisted_changes_are_applied_with_the_handler_transaction_or_undone_with_it},
};

const suite_cases cases_set = SUITE_CASES("set", cases);
