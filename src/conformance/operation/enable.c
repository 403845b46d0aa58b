/* enable.c - an operator's operations on outbox rows: find, retry a dead row ("enable"), discard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#define MINUTE PAWL_MINUTES(1)

static void insert(suite *s, pawl_store *store, unsigned number, const char *source)
{
    pawl_outbox_row row = {.dispatch_id = suite_dispatch_id(number),
                           .source      = pawl_text_of(source),
                           .version     = number,
                           .endpoint    = TEXT("suite"),
                           .destination = TEXT("billing"),
                           .message     = suite_message(s, suite_printf(s, "m-%u", number))};
    EXPECT_OK(s, pawl_store_outbox_insert(store, &row, SUITE_NOW, &s->error));
}

static pawl_outbox_rows find(suite *s, pawl_store *store, pawl_outbox_query query)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_find(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

static pawl_outbox_rows claim(suite *s, pawl_store *store, pawl_time now)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s,
              pawl_store_outbox_claim(store, (pawl_text){.data = "", .size = 0}, now, 32, s->arena,
                                      &rows, &s->error),
              rows);
    return rows;
}

static size_t due(suite *s, pawl_store *store, pawl_time now)
{
    return claim(s, store, now).count;
}

static void expect_line(suite *s, const pawl_attempt_rows *lines, size_t at,
                        pawl_attempt_outcome outcome, const char *error, pawl_time when)
{
    EXPECT(s, at < lines->count);
    EXPECT_EQ(s, lines->items[at].attempt, at + 1);
    EXPECT_EQ(s, lines->items[at].outcome, outcome);
    EXPECT_TEXT(s, lines->items[at].error, pawl_text_of(error));
    EXPECT_EQ(s, lines->items[at].at, when);
    EXPECT_EQ(s, lines->items[at].duration, 0);
}

/* ---- Enable ------------------------------------------------------------- */

static void a_retried_outbox_row_is_pending_and_due_again(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    insert(s, a, 1, "Order/1");
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW);
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_REJECTED, SUITE_NOW + 1);
    pawl_outbox_row before = suite_outbox_row(s, a, 1);
    EXPECT_EQ(s, before.state, PAWL_OUTBOX_DEAD);
    EXPECT_EQ(s, before.attempts_before, 0);
    EXPECT_EQ(s, due(s, a, SUITE_NOW + MINUTE), 0);
    EXPECT_OK(s, pawl_store_outbox_retry(b, before.id, TEXT("ada: fixed"), SUITE_NOW + MINUTE,
                                         &s->error));
    pawl_outbox_row row = suite_outbox_row(s, a, 1);
    EXPECT_EQ(s, row.id, before.id);
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, row.next_attempt, SUITE_NOW + MINUTE);
    EXPECT_EQ(s, row.attempts, 3);
    EXPECT_EQ(s, row.attempts_before, 3);
    EXPECT_EQ(s, row.dispatched, 0);
    EXPECT_MESSAGE(s, &row.message, &before.message);
    EXPECT_EQ(s, due(s, a, SUITE_NOW + MINUTE - 1), 0);
    EXPECT_EQ(s, due(s, a, SUITE_NOW + MINUTE), 1);
    EXPECT_EQ(s, claim(s, a, SUITE_NOW + MINUTE).items[0].attempts_before, 3);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).items[0].attempts_before, 3);
    pawl_attempt_rows lines = suite_attempts(s, a, row.id);
    EXPECT_EQ(s, lines.count, 3);
    expect_line(s, &lines, 2, PAWL_ATTEMPT_RETRIED, "ada: fixed", SUITE_NOW + MINUTE);
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_SUCCESS, SUITE_NOW + 2 * MINUTE);
    row = suite_outbox_row(s, a, 1);
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_DISPATCHED);
    EXPECT_EQ(s, row.dispatched, SUITE_NOW + 2 * MINUTE);
    lines = suite_attempts(s, a, row.id);
    expect_line(s, &lines, 3, PAWL_ATTEMPT_SUCCESS, "", SUITE_NOW + 2 * MINUTE);
}

/* A retried row gets the full number of attempts again, while its history continues with the next number. */
static void a_retried_outbox_row_has_all_its_attempts_again(suite *s)
{
    pawl_store *a   = suite_open(s);
    pawl_time   now = SUITE_NOW;
    insert(s, a, 1, "Order/1");
    for (int round = 1; round <= 3; round++) {
        for (int i = 1; i <= PAWL_OUTBOX_ATTEMPTS_MAX; i++) {
            EXPECT_EQ(s, suite_outbox_row(s, a, 1).state, PAWL_OUTBOX_PENDING);
            suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_TRANSIENT, now++);
        }
        pawl_outbox_row row = suite_outbox_row(s, a, 1);
        EXPECT_EQ(s, row.state, PAWL_OUTBOX_DEAD);
        EXPECT_EQ(s, row.attempts - row.attempts_before, PAWL_OUTBOX_ATTEMPTS_MAX);
        EXPECT_EQ(s, row.attempts, round * (PAWL_OUTBOX_ATTEMPTS_MAX + 1) - 1);
        EXPECT_OK(s, pawl_store_outbox_retry(a, row.id, TEXT(""), now, &s->error));
    }
    pawl_attempt_rows lines = suite_attempts(s, a, suite_outbox_row(s, a, 1).id);
    EXPECT_EQ(s, lines.count, 3 * (PAWL_OUTBOX_ATTEMPTS_MAX + 1));
    for (size_t i = 0; i < lines.count; i++)
        EXPECT_EQ(s, lines.items[i].attempt, i + 1);
}

/* A retried row is delivered after later rows of its source that are due already. */
static void a_retried_outbox_row_blocks_no_other_row(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, 1, "Order/1");
    insert(s, a, 2, "Order/1");
    insert(s, a, 3, "Order/1");
    suite_outbox_settle(s, a, 1, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    EXPECT_OK(s, pawl_store_outbox_retry(a, suite_outbox_row(s, a, 1).id, TEXT(""), SUITE_NOW + 1,
                                         &s->error));
    EXPECT_EQ(s, due(s, a, SUITE_NOW), 1); /* row 3 */
    EXPECT_EQ(s, due(s, a, SUITE_NOW + 1), 2);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 0);
}

/* ---- Discard ------------------------------------------------------------ */

static void a_discarded_outbox_row_is_swept_like_a_delivered_one(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open_bare(s);
    int64_t     count = -1;
    bool        more  = true;
    for (unsigned i = 1; i <= 2; i++) {
        insert(s, a, i, "Order/1");
        suite_outbox_settle(s, a, i, PAWL_ATTEMPT_POISON, SUITE_NOW);
    }
    int64_t id = suite_outbox_row(s, a, 1).id;
    EXPECT_OK(s, pawl_store_outbox_discard(b, id, TEXT("not wanted"), SUITE_NOW + 5, &s->error));
    pawl_outbox_row row = suite_outbox_row(s, b, 1);
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_DISCARDED);
    EXPECT_EQ(s, row.dispatched, SUITE_NOW + 5);
    EXPECT_EQ(s, row.attempts, 2);
    EXPECT_EQ(s, due(s, a, PAWL_TIME_MAX), 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DISCARDED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DEAD).count, 1);
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).outbox_dead, 1);
    pawl_attempt_rows lines = suite_attempts(s, a, id);
    EXPECT_EQ(s, lines.count, 2);
    expect_line(s, &lines, 1, PAWL_ATTEMPT_DISCARDED, "not wanted", SUITE_NOW + 5);
    pawl_sweep what = {.outbox_before = SUITE_NOW + 5, .count_max = 100};
    EXPECT_OK(s, pawl_store_sweep(a, &what, &count, &more, &s->error));
    EXPECT_EQ(s, count, 0);
    what.outbox_before++;
    EXPECT_OK(s, pawl_store_sweep(a, &what, &count, &more, &s->error));
    EXPECT_EQ(s, count, 1);
    EXPECT_EQ(s, find(s, a, (pawl_outbox_query){0}).count, 1); /* the dead row stays */
    EXPECT_EQ(s, suite_attempts(s, a, id).count, 0);
}

static void an_outbox_row_can_be_retried_or_discarded_only_while_it_is_dead(suite *s)
{
    pawl_store *a = suite_open(s);
    int64_t     ids[6];
    for (unsigned i = 1; i <= 5; i++)
        insert(s, a, i, i == 3 ? "Held/1" : suite_printf(s, "Order/%u", i).data);
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    COMMIT_ONE(s, a, outbox_block, .source = TEXT("Held/1"), .after = 0);
    suite_outbox_settle(s, a, 4, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    suite_outbox_settle(s, a, 5, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    for (unsigned i = 1; i <= 5; i++)
        ids[i - 1] = suite_outbox_row(s, a, i).id;
    ids[5] = ids[4] + 1000;
    EXPECT_OK(s, pawl_store_outbox_discard(a, ids[3], TEXT(""), SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_outbox_retry(a, ids[4], TEXT(""), SUITE_NOW, &s->error));
    for (size_t i = 0; i < 6; i++) {
        pawl_attempt_rows lines = suite_attempts(s, a, ids[i]);
        EXPECT_CODE(s, pawl_store_outbox_retry(a, ids[i], TEXT("x"), SUITE_NOW, &s->error),
                    PAWL_EGONE);
        EXPECT(s, suite_text_has(pawl_text_of(s->error.text),
                                 suite_printf(s, "%lld", (long long)ids[i])));
        EXPECT_CODE(s, pawl_store_outbox_discard(a, ids[i], TEXT("x"), SUITE_NOW, &s->error),
                    PAWL_EGONE);
        EXPECT_EQ(s, suite_attempts(s, a, ids[i]).count, lines.count);
    }
    static const pawl_outbox_state states[] = {PAWL_OUTBOX_PENDING, PAWL_OUTBOX_DISPATCHED,
                                               PAWL_OUTBOX_BLOCKED, PAWL_OUTBOX_DISCARDED,
                                               PAWL_OUTBOX_PENDING};
    for (unsigned i = 1; i <= 5; i++)
        EXPECT_EQ(s, suite_outbox_row(s, a, i).state, states[i - 1]);
}

/* Row 2 was tried and waits for its next attempt; only rows that were never tried are blocked. */
static void an_outbox_row_that_was_attempted_is_not_blocked(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, 1, "Held/1");
    insert(s, a, 2, "Held/1");
    insert(s, a, 3, "Held/1");
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW);
    COMMIT_ONE(s, a, outbox_block, .source = TEXT("Held/1"), .after = 0);
    EXPECT_EQ(s, suite_outbox_row(s, a, 1).state, PAWL_OUTBOX_BLOCKED);
    EXPECT_EQ(s, suite_outbox_row(s, a, 2).state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, suite_outbox_row(s, a, 3).state, PAWL_OUTBOX_BLOCKED);
}

/* Two endpoints may share a process, whose events have one ordering key: each endpoint claims only its own rows. */
static void a_claim_returns_one_endpoints_outbox_rows_of_a_shared_ordering_key(suite *s)
{
    pawl_store      *store = suite_open(s);
    pawl_outbox_rows rows  = {0};
    insert(s, store, 1, "Stay/1");
    COMMIT_ONE(s, store, outbox_add, .dispatch_id = suite_dispatch_id(2), .source = TEXT("Stay/1"),
               .version = 2, .endpoint = TEXT("other"), .destination = TEXT("billing"),
               .message = suite_message(s, TEXT("m-2")), .at = SUITE_NOW);
    READ_ROWS(
        s, pawl_store_outbox_claim(store, TEXT("other"), SUITE_NOW, 9, s->arena, &rows, &s->error),
        rows);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].dispatch_id.uuid.bytes[15], 2);
}

/* ---- Find --------------------------------------------------------------- */

static void expect_found(suite *s, pawl_store *store, pawl_outbox_query query, const char *expected)
{
    pawl_outbox_rows rows  = find(s, store, query);
    pawl_text        found = TEXT("");
    for (size_t i = 0; i < rows.count; i++)
        found = suite_printf(s, "%.*s%s%u", PAWL_TEXT_ARGS(found), i > 0 ? " " : "",
                             rows.items[i].dispatch_id.uuid.bytes[15]);
    EXPECT_TEXT(s, found, pawl_text_of(expected));
}

static void add_labelled(suite_set *set, unsigned number, const char *endpoint, const char *source,
                         const char *destination, const char *type, const char *cause)
{
    pawl_message message = suite_message(set->s, suite_printf(set->s, "m-%u", number));
    message.type         = pawl_text_of(type);
    message.causation_id = pawl_text_of(cause);
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(number), .source = pawl_text_of(source),
        .version = 1, .index = (int32_t)number, .endpoint = pawl_text_of(endpoint),
        .destination = pawl_text_of(destination), .message = message, .at = SUITE_NOW);
}

static void outbox_rows_are_found_by_endpoint_ordering_key_destination_and_type(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    add_labelled(&set, 1, "orders", "Order/1", "billing", "Charge", "c-1");
    add_labelled(&set, 2, "orders", "Order/1", "mail", "Tell", "c-1");
    add_labelled(&set, 3, "orders", "Order/2", "billing", "Charge", "c-2");
    add_labelled(&set, 4, "Orders", "order/1", "Billing", "charge", "C-1");
    add_labelled(&set, 5, "orders", "", "mail", "Tell", "");
    COMMIT(&set, a);
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    int64_t third = suite_outbox_row(s, a, 3).id;
    expect_found(s, a, (pawl_outbox_query){0}, "1 2 3 4 5");
    expect_found(s, a, (pawl_outbox_query){.states = 1u << PAWL_OUTBOX_PENDING}, "1 4 5");
    expect_found(
        s, a, (pawl_outbox_query){.states = 1u << PAWL_OUTBOX_DEAD | 1u << PAWL_OUTBOX_DISPATCHED},
        "2 3");
    expect_found(s, a, (pawl_outbox_query){.states = 1u << PAWL_OUTBOX_BLOCKED}, "");
    expect_found(s, a, (pawl_outbox_query){.id = third}, "3");
    expect_found(s, a, (pawl_outbox_query){.id = third + 1000}, "");
    expect_found(s, a, (pawl_outbox_query){.dispatch_id = suite_dispatch_id(4)}, "4");
    expect_found(s, a, (pawl_outbox_query){.endpoint = TEXT("orders")}, "1 2 3 5");
    expect_found(s, a, (pawl_outbox_query){.source = TEXT("Order/1")}, "1 2");
    expect_found(s, a, (pawl_outbox_query){.destination = TEXT("billing")}, "1 3");
    expect_found(s, a, (pawl_outbox_query){.message_type = TEXT("Charge")}, "1 3");
    expect_found(s, a, (pawl_outbox_query){.causation_id = TEXT("c-1")}, "1 2");
    expect_found(s, a, (pawl_outbox_query){.after = third - 1, .id = third}, "3");
    expect_found(s, a, (pawl_outbox_query){.after = third, .id = third}, "");
    expect_found(s, a, (pawl_outbox_query){.after = third}, "4 5");
    expect_found(s, a, (pawl_outbox_query){.count_max = 2}, "1 2");
    expect_found(s, a, (pawl_outbox_query){.after = third - 1, .count_max = 1}, "3");
    expect_found(s, a,
                 (pawl_outbox_query){.states       = 1u << PAWL_OUTBOX_PENDING,
                                     .endpoint     = TEXT("orders"),
                                     .source       = TEXT("Order/1"),
                                     .destination  = TEXT("billing"),
                                     .message_type = TEXT("Charge"),
                                     .causation_id = TEXT("c-1")},
                 "1");
}

static void outbox_rows_are_found_by_the_number_of_their_attempts(suite *s)
{
    const unsigned waits = 1u << PAWL_OUTBOX_PENDING;
    pawl_store    *a = suite_open(s), *b = suite_open(s);
    suite_set      set = suite_changes(s);
    for (unsigned i = 1; i <= 7; i++)
        add_labelled(&set, i, i == 7 ? "mail" : "orders", suite_printf(s, "Order/%u", i).data,
                     "billing", "Charge", "");
    COMMIT(&set, a);
    for (unsigned i = 2; i <= 7; i++)
        if (i < 4 || i > 5)
            suite_outbox_settle(s, a, i, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW);
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW);
    COMMIT_ONE(s, a, outbox_settle, .id = suite_outbox_row(s, a, 4).id, .state = PAWL_OUTBOX_DEAD,
               .attempts = 1, .outcome = PAWL_ATTEMPT_REJECTED,
               .at = SUITE_NOW); /* no next attempt */
    suite_outbox_settle(s, a, 5, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    suite_outbox_settle(s, a, 6, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    EXPECT_OK(s, pawl_store_outbox_retry(a, suite_outbox_row(s, a, 6).id, TEXT(""), SUITE_NOW,
                                         &s->error));
    int64_t second = suite_outbox_row(s, a, 2).id;
    expect_found(s, b, (pawl_outbox_query){.states = waits}, "1 2 3 6 7");
    expect_found(s, b, (pawl_outbox_query){.states = waits, .attempts_min = 1}, "2 3 6 7");
    expect_found(s, b, (pawl_outbox_query){.states = waits, .attempts_min = 2}, "3 6");
    expect_found(s, b, (pawl_outbox_query){.states = waits, .attempts_min = 4}, "");
    expect_found(s, b, (pawl_outbox_query){.attempts_min = 1}, "2 3 4 5 6 7");
    expect_found(s, b, (pawl_outbox_query){.attempts_min = 2}, "3 6");
    expect_found(s, b,
                 (pawl_outbox_query){.states = waits | 1u << PAWL_OUTBOX_DEAD, .attempts_min = 1},
                 "2 3 4 6 7");
    pawl_outbox_query page = {
        .states = waits, .endpoint = TEXT("orders"), .count_max = 2, .attempts_min = 1};
    expect_found(s, b, page, "2 3");
    page.after = second;
    expect_found(s, b, page, "3 6");
    /* attempts_min no longer finds a settled row. */
    suite_outbox_settle(s, a, 2, PAWL_ATTEMPT_SUCCESS, SUITE_NOW);
    suite_outbox_settle(s, a, 3, PAWL_ATTEMPT_REJECTED, SUITE_NOW);
    expect_found(s, b, (pawl_outbox_query){.states = waits, .attempts_min = 1}, "6 7");
    expect_found(s, b, (pawl_outbox_query){.id = second, .states = waits, .attempts_min = 1}, "");
}

static const suite_case cases[] = {
    {"O19 O15 a retried outbox row is pending and due again",
     a_retried_outbox_row_is_pending_and_due_again},
    {"O19 O12 a retried outbox row has all its attempts again",
     a_retried_outbox_row_has_all_its_attempts_again},
    {"O19 O14 a retried outbox row blocks no other row", a_retried_outbox_row_blocks_no_other_row},
    {"O19 a discarded outbox row is swept like a delivered one",
     a_discarded_outbox_row_is_swept_like_a_delivered_one},
    {"O19 an outbox row can be retried or discarded only while it is dead",
     an_outbox_row_can_be_retried_or_discarded_only_while_it_is_dead},
    {"O14 an outbox row that was attempted is not blocked",
     an_outbox_row_that_was_attempted_is_not_blocked},
    {"O8 O14 a claim returns one endpoint's outbox rows of a shared ordering key",
     a_claim_returns_one_endpoints_outbox_rows_of_a_shared_ordering_key},
    {"O8 O19 outbox rows are found by endpoint, ordering key, destination and type",
     outbox_rows_are_found_by_endpoint_ordering_key_destination_and_type},
    {"O14 outbox rows are found by the number of their attempts",
     outbox_rows_are_found_by_the_number_of_their_attempts},
};

const suite_cases cases_op_enable = SUITE_CASES("operation outbox retry", cases);
