/* outbox.c - outbox rows through the public operations: insert and
 * settle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

#define SECOND PAWL_SECONDS(1)

static pawl_outbox_row row_of(suite *s, unsigned number, const char *source, int64_t version)
{
    return (pawl_outbox_row){.dispatch_id = suite_dispatch_id(number),
                             .source      = pawl_text_of(source),
                             .version     = version,
                             .endpoint    = PAWL_TEXT("suite"),
                             .destination = PAWL_TEXT("billing"),
                             .message     = suite_message(s, suite_printf(s, "m-%u", number))};
}

static pawl_code try_insert(suite *s, pawl_store *store, const pawl_outbox_row *row)
{
    return pawl_store_outbox_insert(store, row, SUITE_NOW, &s->error);
}

static void insert(suite *s, pawl_store *store, unsigned number, const char *source)
{
    pawl_outbox_row row = row_of(s, number, source, number);
    EXPECT_OK(s, try_insert(s, store, &row));
}

/* Claims the due rows, as a dispatcher would. */
static pawl_outbox_rows due(suite *s, pawl_store *store, pawl_time now)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s,
              pawl_store_outbox_claim(store, (pawl_text){.data = "", .size = 0}, now, 32, s->arena,
                                      &rows, &s->error),
              rows);
    return rows;
}

static pawl_outbox_row only_due(suite *s, pawl_store *store, pawl_time now)
{
    pawl_outbox_rows rows = due(s, store, now);
    EXPECT_EQ(s, rows.count, 1);
    return rows.items[0];
}

static pawl_code try_settle(suite *s, pawl_store *store, pawl_outbox_row *row,
                            pawl_attempt_outcome outcome, pawl_time next_attempt)
{
    pawl_outbox_result result = {.outcome      = outcome,
                                 .error        = PAWL_TEXT("why"),
                                 .duration     = 1500,
                                 .next_attempt = next_attempt};
    return pawl_store_outbox_settle(store, row, &result, SUITE_NOW, &s->error);
}

static void expect_attempts(suite *s, pawl_store *store, int64_t id,
                            const pawl_attempt_outcome *outcomes, size_t count)
{
    pawl_attempt_rows attempts = suite_attempts(s, store, id);
    EXPECT_EQ(s, attempts.count, count);
    for (size_t i = 0; i < count; i++) {
        EXPECT_EQ(s, attempts.items[i].attempt, i + 1);
        EXPECT_EQ(s, attempts.items[i].outcome, outcomes[i]);
        EXPECT_EQ(s, attempts.items[i].at, SUITE_NOW);
        EXPECT_EQ(s, attempts.items[i].duration, 1500);
        EXPECT_TEXT(s, attempts.items[i].error, TEXT("why"));
    }
}

/* ---- Cases -------------------------------------------------------------- */

static void an_outbox_row_is_claimed_as_it_was_inserted(suite *s)
{
    pawl_store     *a = suite_open(s), *b = suite_open(s);
    pawl_outbox_row given = row_of(s, 1, "Order/1", 7);
    given.index           = 3;
    given.due             = SUITE_NOW + 9;
    given.state           = PAWL_OUTBOX_DEAD; /* ignored: a new row is pending */
    given.attempts        = 4;
    EXPECT_OK(s, try_insert(s, a, &given));
    pawl_outbox_row row = only_due(s, b, SUITE_NOW);
    EXPECT_EQ(s, pawl_uuid_compare(row.dispatch_id.uuid, given.dispatch_id.uuid), 0);
    EXPECT_TEXT(s, row.source, given.source);
    EXPECT_TEXT(s, row.endpoint, given.endpoint);
    EXPECT_TEXT(s, row.destination, given.destination);
    EXPECT_MESSAGE(s, &row.message, &given.message);
    EXPECT_EQ(s, row.version, 7);
    EXPECT_EQ(s, row.index, 3);
    EXPECT_EQ(s, row.due, SUITE_NOW + 9);
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, row.attempts, 0);
    EXPECT_EQ(s, row.at, SUITE_NOW);
    given.dispatch_id = (pawl_dispatch_id){{{0}}};
    EXPECT_CODE(s, try_insert(s, a, &given), PAWL_EINVAL);
}

static void inserting_a_known_dispatch_id_changes_nothing_whatever_the_rows_state(suite *s)
{
    pawl_store     *a = suite_open(s), *b = suite_open(s);
    pawl_outbox_row given = row_of(s, 1, "Order/1", 1);
    EXPECT_OK(s, try_insert(s, a, &given));
    pawl_outbox_row row = only_due(s, a, SUITE_NOW);
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW + SECOND));
    EXPECT_OK(s, try_insert(s, b, &given)); /* waiting */
    EXPECT_EQ(s, due(s, b, SUITE_NOW).count, 0);
    row = only_due(s, b, SUITE_NOW + SECOND);
    EXPECT_EQ(s, row.attempts, 1);
    EXPECT_OK(s, try_settle(s, b, &row, PAWL_ATTEMPT_SUCCESS, 0));
    EXPECT_OK(s, try_insert(s, a, &given)); /* dispatched */
    EXPECT_EQ(s, due(s, a, SUITE_NOW + SECOND).count, 0);
    pawl_outbox_rows done = suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED);
    EXPECT_EQ(s, done.count, 1);
    EXPECT_EQ(s, done.items[0].attempts, 2);
    given = row_of(s, 2, "Order/1", 2);
    EXPECT_OK(s, try_insert(s, a, &given));
    row = only_due(s, a, SUITE_NOW);
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_REJECTED, 0));
    EXPECT_OK(s, try_insert(s, a, &given)); /* dead */
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DEAD).count, 1);
    EXPECT_EQ(s, due(s, a, SUITE_NOW + SECOND).count, 0);
}

static void a_known_dispatch_id_with_another_type_or_body_is_refused(suite *s)
{
    pawl_store     *a     = suite_open(s);
    pawl_outbox_row given = row_of(s, 1, "Order/1", 1), other = given;
    EXPECT_OK(s, try_insert(s, a, &given));
    other.message.body = TEXT("{\"other\":1}");
    EXPECT_CODE(s, try_insert(s, a, &other), PAWL_EMISMATCH);
    other              = given;
    other.message.type = TEXT("CancelOrder");
    EXPECT_CODE(s, try_insert(s, a, &other), PAWL_EMISMATCH);
    pawl_outbox_row row = only_due(s, a, SUITE_NOW);
    EXPECT_MESSAGE(s, &row.message, &given.message);
}

static void outbox_rows_of_one_ordering_key_are_claimed_by_version(suite *s)
{
    static const int64_t versions[] = {3, 1, 2};
    pawl_store          *a          = suite_open(s);
    for (unsigned i = 0; i < 3; i++) {
        pawl_outbox_row row = row_of(s, i, "Order/1", versions[i]);
        EXPECT_OK(s, try_insert(s, a, &row));
    }
    pawl_outbox_rows rows = due(s, a, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 3);
    for (unsigned i = 0; i < 3; i++)
        EXPECT_EQ(s, rows.items[i].version, i + 1);
}

static void a_delivered_outbox_row_is_settled_once(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, 1, "Order/1");
    pawl_outbox_row row = only_due(s, a, SUITE_NOW), copy = row;
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_SUCCESS, 0));
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_DISPATCHED);
    EXPECT_EQ(s, row.attempts, 1);
    EXPECT_EQ(s, due(s, b, SUITE_NOW + PAWL_DAYS(1)).count, 0);
    expect_attempts(s, b, row.id, (const pawl_attempt_outcome[]){PAWL_ATTEMPT_SUCCESS}, 1);
    /* A second result for the same attempt is refused. */
    EXPECT_CODE(s, try_settle(s, b, &copy, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW + 1), PAWL_EGONE);
    EXPECT_EQ(s, copy.state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, copy.attempts, 0);
    EXPECT_EQ(s, suite_attempts(s, b, row.id).count, 1);
    copy.id += 1000;
    EXPECT_CODE(s, try_settle(s, b, &copy, PAWL_ATTEMPT_SUCCESS, 0), PAWL_EGONE);
    EXPECT_EQ(s, suite_attempts(s, b, copy.id).count, 0);
}

static void an_outbox_row_waits_after_a_transient_failure_and_is_dead_after_the_last(suite *s)
{
    pawl_store          *a = suite_open(s);
    pawl_attempt_outcome outcomes[PAWL_OUTBOX_ATTEMPTS_MAX];
    pawl_time            now = SUITE_NOW;
    insert(s, a, 1, "Order/1");
    pawl_outbox_row row = only_due(s, a, now);
    EXPECT_CODE(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW), PAWL_EINVAL);
    EXPECT_CODE(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, 0), PAWL_EINVAL);
    EXPECT_EQ(s, suite_attempts(s, a, row.id).count, 0);
    for (int i = 1; i < PAWL_OUTBOX_ATTEMPTS_MAX; i++) {
        pawl_time next = now + i * SECOND;
        EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, next));
        EXPECT_EQ(s, row.state, PAWL_OUTBOX_PENDING);
        EXPECT_EQ(s, row.attempts, i);
        EXPECT_EQ(s, row.next_attempt, next);
        outcomes[i - 1] = PAWL_ATTEMPT_TRANSIENT;
        EXPECT_EQ(s, due(s, a, next - 1).count, 0);
        row = only_due(s, a, next);
        EXPECT_EQ(s, row.attempts, i);
        now = next;
    }
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, now + SECOND));
    outcomes[PAWL_OUTBOX_ATTEMPTS_MAX - 1] = PAWL_ATTEMPT_POISON;
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_DEAD);
    EXPECT_EQ(s, row.attempts, PAWL_OUTBOX_ATTEMPTS_MAX);
    EXPECT_EQ(s, due(s, a, now + PAWL_DAYS(1)).count, 0);
    expect_attempts(s, a, row.id, outcomes, PAWL_OUTBOX_ATTEMPTS_MAX);
}

static void an_outbox_rows_maximum_number_of_attempts_can_be_set(suite *s)
{
    pawl_store        *a      = suite_open(s);
    pawl_outbox_result result = {
        .outcome = PAWL_ATTEMPT_TRANSIENT, .attempts_max = 1, .next_attempt = SUITE_NOW + 1};
    insert(s, a, 1, "");
    pawl_outbox_row row = only_due(s, a, SUITE_NOW);
    result.attempts_max = -1;
    EXPECT_CODE(s, pawl_store_outbox_settle(a, &row, &result, SUITE_NOW, &s->error), PAWL_EINVAL);
    result.attempts_max = 1;
    result.outcome      = (pawl_attempt_outcome)99;
    EXPECT_CODE(s, pawl_store_outbox_settle(a, &row, &result, SUITE_NOW, &s->error), PAWL_EINVAL);
    result.outcome = PAWL_ATTEMPT_TRANSIENT;
    EXPECT_OK(s, pawl_store_outbox_settle(a, &row, &result, SUITE_NOW, &s->error));
    EXPECT_EQ(s, row.state, PAWL_OUTBOX_DEAD);
    EXPECT_EQ(s, suite_attempts(s, a, row.id).items[0].outcome, PAWL_ATTEMPT_POISON);
}

static void a_rejected_or_poison_outbox_row_is_dead_at_once_and_blocks_no_other_row(suite *s)
{
    static const pawl_attempt_outcome outcomes[] = {PAWL_ATTEMPT_REJECTED, PAWL_ATTEMPT_POISON};
    pawl_store                       *a          = suite_open(s);
    for (unsigned i = 0; i < 2; i++) {
        insert(s, a, i + 1, "Order/1");
        insert(s, a, i + 11, "Order/1"); /* a dead row holds no row back */
        pawl_outbox_row row = due(s, a, SUITE_NOW).items[0];
        EXPECT_OK(s, try_settle(s, a, &row, outcomes[i], 0));
        EXPECT_EQ(s, row.state, PAWL_OUTBOX_DEAD);
        expect_attempts(s, a, row.id, &outcomes[i], 1);
        pawl_outbox_row next = only_due(s, a, SUITE_NOW);
        EXPECT(s, next.id != row.id);
        EXPECT_OK(s, try_settle(s, a, &next, PAWL_ATTEMPT_SUCCESS, 0));
    }
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DEAD).count, 2);
}

static void a_waiting_outbox_row_blocks_rows_of_its_own_ordering_key_only(suite *s)
{
    pawl_store *a   = suite_open(s);
    pawl_time   now = SUITE_NOW;
    insert(s, a, 1, "Order/1");
    insert(s, a, 2, "Order/1");
    insert(s, a, 3, "Order/2");
    insert(s, a, 4, "");
    pawl_outbox_rows rows = due(s, a, now);
    for (int32_t attempts = 1; attempts <= 2; attempts++) {
        EXPECT_EQ(s, rows.items[0].version, 1);
        EXPECT_OK(s, try_settle(s, a, &rows.items[0], PAWL_ATTEMPT_TRANSIENT, now + SECOND));
        rows = due(s, a, now);
        EXPECT_EQ(s, rows.count, 2);
        EXPECT_EQ(s, rows.items[0].version, 3);
        EXPECT_EQ(s, rows.items[1].version, 4);
        now += SECOND;
        rows = due(s, a, now);
        EXPECT_EQ(s, rows.count, 3);
        EXPECT_EQ(s, rows.items[0].attempts, attempts);
    }
    EXPECT_OK(s, try_settle(s, a, &rows.items[0], PAWL_ATTEMPT_SUCCESS, 0));
    rows = due(s, a, now);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_EQ(s, rows.items[0].version, 2);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 0);
}

/* Ids need not follow versions: version 3 has the smallest id. */
static void a_waiting_outbox_row_blocks_all_later_rows_of_its_key_whatever_their_id(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, 3, "Order/1");
    insert(s, a, 1, "Order/1");
    insert(s, a, 2, "Order/1");
    pawl_outbox_row row = due(s, a, SUITE_NOW).items[0];
    EXPECT_EQ(s, row.version, 1);
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW + SECOND));
    EXPECT_EQ(s, due(s, a, SUITE_NOW).count, 0);
    row = only_due(s, a, SUITE_NOW + SECOND);
    EXPECT_EQ(s, row.version, 1);
    EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_SUCCESS, 0));
    pawl_outbox_rows rows = due(s, a, SUITE_NOW);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_EQ(s, rows.items[0].version, 2);
    EXPECT_EQ(s, rows.items[1].version, 3);
}

/* After an operator's retry attempts start at 0 again; history lines continue with the next number. */
static void an_attempt_whose_number_is_taken_gets_the_next_number(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, 1, "Order/1");
    for (unsigned i = 0; i < 3; i++) {
        pawl_outbox_row row = only_due(s, a, SUITE_NOW + 1);
        row.attempts        = 0;
        EXPECT_OK(s, try_settle(s, a, &row, PAWL_ATTEMPT_TRANSIENT, SUITE_NOW + 1));
    }
    static const pawl_attempt_outcome all[] = {PAWL_ATTEMPT_TRANSIENT, PAWL_ATTEMPT_TRANSIENT,
                                               PAWL_ATTEMPT_TRANSIENT};
    expect_attempts(s, a, only_due(s, a, SUITE_NOW + 1).id, all, 3);
}

static pawl_outbox_rows found(suite *s, pawl_store *store, const pawl_outbox_query *query)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_find(store, query, s->arena, &rows, &s->error), rows);
    return rows;
}

/* Rows 1 to 6 are alternately pending and dead. A query for both states returns the first ones by id, up to its
 * limit. */
static void a_query_for_several_states_returns_the_first_outbox_rows_by_id(suite *s)
{
    pawl_store       *a     = suite_open(s);
    pawl_outbox_query query = {.states = 1U << PAWL_OUTBOX_PENDING | 1U << PAWL_OUTBOX_DEAD};
    for (unsigned i = 1; i <= 6; i++) {
        insert(s, a, i, suite_printf(s, "Order/%u", i).data);
        if (i % 2 == 0)
            COMMIT_ONE(s, a, outbox_settle, .id = suite_outbox_row(s, a, i).id,
                       .state = PAWL_OUTBOX_DEAD, .attempts = 1, .outcome = PAWL_ATTEMPT_REJECTED,
                       .at = SUITE_NOW);
    }
    for (size_t count_max = 0; count_max <= 7; count_max++) {
        query.count_max       = count_max;
        pawl_outbox_rows rows = found(s, a, &query);
        EXPECT_EQ(s, rows.count, count_max == 0 || count_max > 6 ? 6 : count_max);
        for (size_t i = 0; i < rows.count; i++)
            EXPECT(s, pawl_uuid_compare(rows.items[i].dispatch_id.uuid,
                                        suite_uuid((unsigned)i + 1)) == 0);
    }
}

/* Rows without a source have no order, so none is held back. */
static void a_block_without_an_ordering_key_blocks_no_outbox_row(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 1; i <= 3; i++)
        insert(s, a, i, i < 3 ? "" : "Order/1");
    ADD(&set, outbox_block, .source = TEXT(""), .after = 0);
    COMMIT(&set, a);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, 3);
}

static const suite_case cases[] = {
    {"O1 O22 an outbox row is claimed as it was inserted",
     an_outbox_row_is_claimed_as_it_was_inserted},
    {"O6 O7 inserting a known dispatch id changes nothing, whatever the row's state",
     inserting_a_known_dispatch_id_changes_nothing_whatever_the_rows_state},
    {"O5 a known dispatch id with another type or body is refused",
     a_known_dispatch_id_with_another_type_or_body_is_refused},
    {"O8 outbox rows of one ordering key are claimed by version",
     outbox_rows_of_one_ordering_key_are_claimed_by_version},
    {"O9 O15 O16 a delivered outbox row is settled once", a_delivered_outbox_row_is_settled_once},
    {"O10 O12 O15 an outbox row waits after a transient failure and is dead after the last",
     an_outbox_row_waits_after_a_transient_failure_and_is_dead_after_the_last},
    {"O12 an outbox row's maximum number of attempts can be set",
     an_outbox_rows_maximum_number_of_attempts_can_be_set},
    {"O11 O13 O14 a rejected or poison outbox row is dead at once and blocks no other row",
     a_rejected_or_poison_outbox_row_is_dead_at_once_and_blocks_no_other_row},
    {"O22 an attempt whose number is taken gets the next number",
     an_attempt_whose_number_is_taken_gets_the_next_number},
    {"O8 a query for several states returns the first outbox rows by id",
     a_query_for_several_states_returns_the_first_outbox_rows_by_id},
    {"O14 a block without an ordering key blocks no outbox row",
     a_block_without_an_ordering_key_blocks_no_outbox_row},
    {"O14 a waiting outbox row blocks rows of its own ordering key only",
     a_waiting_outbox_row_blocks_rows_of_its_own_ordering_key_only},
    {"O8 O14 a waiting outbox row blocks all later rows of its key, whatever their id",
     a_waiting_outbox_row_blocks_all_later_rows_of_its_key_whatever_their_id},
};

const suite_cases cases_op_outbox = SUITE_CASES("operation outbox", cases);
