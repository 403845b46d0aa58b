/* amend.c - timeouts that an operator sets, cancels, moves and releases, and leases that are reaped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#define MINUTE PAWL_MINUTES(1)
#define ANN TEXT("ann")

/* Sets timeouts 1 and 2 of a saga, and 3 without one; the numbers are their names. */
static void set_three(suite *s, pawl_store *store)
{
    for (unsigned i = 1; i <= 3; i++)
        COMMIT_ONE(s, store, timeout_set, .id = suite_timeout_id(i),
                   .saga_id   = i < 3 ? suite_saga_id(9) : (pawl_saga_id){{{0}}},
                   .saga_type = TEXT("Order"), .name = suite_printf(s, "%u", i),
                   .destination = TEXT("orders"), .due = SUITE_NOW + i);
}

static void rearm(suite *s, pawl_store *store, unsigned number, pawl_time due)
{
    COMMIT_ONE(s, store, timeout_set, .id = suite_timeout_id(number),
               .saga_id   = number < 3 ? suite_saga_id(9) : (pawl_saga_id){{{0}}},
               .saga_type = TEXT("Order"), .name = suite_printf(s, "%u", number),
               .destination = TEXT("orders"), .due = due);
}

/* Finds the row by name, as rows are listed by due time. */
static pawl_timeout_row *row_of(suite *s, pawl_timeout_rows *rows, unsigned number)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl_uuid_compare(rows->items[i].id.uuid, suite_uuid(number)) == 0)
            return &rows->items[i];
    EXPECT(s, !"a timeout is missing");
    return rows->items;
}

static pawl_time due_of(suite *s, pawl_store *store, unsigned number)
{
    pawl_timeout_rows rows = suite_timeouts(s, store);
    return row_of(s, &rows, number)->due;
}

static size_t amend(suite *s, pawl_store *store, const pawl_timeout_rows *rows,
                    pawl_timeout_amend how, pawl_time now)
{
    size_t done = 99;
    how.by      = ANN;
    EXPECT_OK(
        s, pawl_store_timeout_amend(store, rows->items, rows->count, &how, now, &done, &s->error));
    return done;
}

static pawl_timeout_rows lease(suite *s, pawl_store *store, unsigned owner, pawl_time now,
                               int64_t size)
{
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_timeout_rows          rows    = {.count = 0};
    options.owner                      = suite_session_id(owner);
    options.size                       = size;
    READ_ROWS(s, pawl_store_timeout_batch(store, &options, now, s->arena, &rows, &s->error), rows);
    return rows;
}

/* Events of all timeout streams. */
static pawl_event_rows events_of(suite *s, pawl_store *store, const char *type)
{
    const pawl_event_query query = {.type = pawl_text_of(type)};
    pawl_event_rows        rows;
    READ_ROWS(s, pawl_store_event_list(store, &query, s->arena, &rows, &s->error), rows);
    return rows;
}

/* ---- Cases -------------------------------------------------------------- */

static void an_operator_can_cancel_move_and_release_timeouts(suite *s)
{
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    const pawl_time   now = SUITE_NOW + 2;
    pawl_timeout_rows rows;
    set_three(s, a);
    rows = suite_timeouts(s, b);
    EXPECT_EQ(
        s, amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_SHIFT, .shift = 100}, now),
        3);
    EXPECT_EQ(s, due_of(s, a, 1), SUITE_NOW + 101);
    EXPECT_EQ(s, due_of(s, a, 3), SUITE_NOW + 103);
    rows = suite_timeouts(s, b);
    EXPECT_EQ(
        s, amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_SHIFT, .shift = -101}, now),
        3);
    EXPECT_EQ(s, due_of(s, a, 1), SUITE_NOW);
    rows = suite_timeouts(s, b);
    EXPECT_EQ(
        s, amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_MOVE, .due = now + 7}, now),
        3);
    EXPECT_EQ(s, due_of(s, a, 2), now + 7);
    rows       = suite_timeouts(s, b);
    rows.count = 1;
    EXPECT_EQ(s, amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_RUN_NOW}, now), 1);
    EXPECT_EQ(s, suite_timeouts(s, a).items[0].due, now);
    EXPECT_EQ(s, lease(s, a, 70, now, 9).count, 1);
    rows = suite_timeouts(s, b);
    EXPECT_EQ(s, amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_CANCEL}, now), 3);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

/* A release does not delay an overdue timeout, and resets the attempts of a retried one. */
static void an_operators_release_of_a_timeout_never_delays_it_and_resets_attempts(suite *s)
{
    pawl_store       *a = suite_open(s);
    pawl_timeout_rows rows;
    set_three(s, a);
    rows = lease(s, a, 70, SUITE_NOW + 1, 1);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RETRY, .id = rows.items[0].id,
               .has_owner = true, .owner = suite_session_id(70), .due = SUITE_NOW + MINUTE,
               .attempts = 4);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, row_of(s, &rows, 1)->attempts, 4);
    EXPECT_EQ(
        s,
        amend(s, a, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_SHIFT, .shift = 1}, SUITE_NOW),
        3);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, row_of(s, &rows, 1)->attempts, 4);
    EXPECT_EQ(s,
              amend(s, a, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_RUN_NOW}, SUITE_NOW + 4),
              3);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, row_of(s, &rows, 1)->attempts, 0);
    EXPECT_EQ(s, row_of(s, &rows, 1)->due, SUITE_NOW + 4);
    EXPECT_EQ(s, row_of(s, &rows, 2)->due, SUITE_NOW + 3);
}

static void an_operators_change_leaves_out_timeouts_that_were_set_again_since(suite *s)
{
    static const pawl_amend_action actions[] = {PAWL_AMEND_CANCEL, PAWL_AMEND_MOVE,
                                                PAWL_AMEND_SHIFT, PAWL_AMEND_RUN_NOW};
    pawl_store                    *a = suite_open(s), *b = suite_open(s);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        const pawl_timeout_amend how  = {.action = actions[i], .due = 5, .shift = 5};
        pawl_timeout_rows        rows = suite_timeouts(s, a);
        if (rows.count > 0)
            amend(s, a, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_CANCEL}, SUITE_NOW);
        set_three(s, a);
        rows = suite_timeouts(s, b);
        rearm(s, a, 1, SUITE_NOW + 50);
        rearm(s, a, 3, SUITE_NOW + 60);
        EXPECT_EQ(s, amend(s, b, &rows, how, SUITE_NOW), 1);
        EXPECT_EQ(s, due_of(s, a, 1), SUITE_NOW + 50);
        EXPECT_EQ(s, due_of(s, a, 3), SUITE_NOW + 60);
        EXPECT_EQ(s, amend(s, b, &rows, how, SUITE_NOW), actions[i] == PAWL_AMEND_CANCEL ? 0 : 1);
    }
}

static void an_operators_change_leaves_an_event_that_names_the_changed_timeouts(suite *s)
{
    pawl_store              *a   = suite_open(s);
    const pawl_timeout_amend how = {
        .action = PAWL_AMEND_CANCEL, .by = ANN, .reason = TEXT("the \"bank\" is closed")};
    size_t            done = 99;
    pawl_timeout_rows rows;
    set_three(s, a);
    rows = suite_timeouts(s, a);
    rearm(s, a, 2, SUITE_NOW + 50);
    EXPECT_OK(s, pawl_store_timeout_amend(a, rows.items, rows.count, &how, SUITE_NOW + 8, &done,
                                          &s->error));
    EXPECT_EQ(s, done, 2);
    pawl_event_rows events = events_of(s, a, PAWL_TIMEOUTS_CANCELLED);
    EXPECT_EQ(s, events.count, 1);
    EXPECT_EQ(s, events.items[0].event.at, SUITE_NOW + 8);
    EXPECT(s, suite_text_has(events.items[0].event.headers, TEXT("\"by\":\"ann\"")));
    EXPECT(s, suite_text_has(events.items[0].event.headers, TEXT("the \\\"bank\\\" is closed")));
    EXPECT(s, suite_text_has(events.items[0].event.body, TEXT("\"name\":\"1\"")));
    EXPECT(s, !suite_text_has(events.items[0].event.body, TEXT("\"name\":\"2\"")));
    EXPECT(s, suite_text_has(events.items[0].event.body, TEXT("\"name\":\"3\"")));
    EXPECT_OK(s, pawl_store_timeout_amend(a, rows.items, rows.count, &how, SUITE_NOW + 9, &done,
                                          &s->error)); /* nothing was changed, so no event */
    EXPECT_EQ(s, done, 0);
    EXPECT_EQ(s, events_of(s, a, PAWL_TIMEOUTS_CANCELLED).count, 1);
}

/* The worker that has leased it loses the lease: its commit is refused. */
static void an_operators_change_of_a_leased_timeout_ends_its_lease(suite *s)
{
    pawl_store       *a = suite_open(s), *b = suite_open(s);
    pawl_timeout_rows rows, mine;
    set_three(s, a);
    rows = suite_timeouts(s, b);
    mine = lease(s, a, 70, SUITE_NOW + 3, 9);
    EXPECT_EQ(s, mine.count, 3);
    EXPECT_EQ(s,
              amend(s, b, &rows, (pawl_timeout_amend){.action = PAWL_AMEND_SHIFT, .shift = MINUTE},
                    SUITE_NOW),
              3);
    const pawl_session_id owner = suite_session_id(70);
    EXPECT_CODE(s, pawl_store_timeout_remove(a, mine.items[0].id, &owner, SUITE_NOW, &s->error),
                PAWL_EGONE);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 3);
    EXPECT(s, pawl_uuid_is_zero(suite_timeouts(s, a).items[0].owner.uuid));
}

static void an_operators_reap_frees_only_timeouts_whose_lease_has_expired(suite *s)
{
    pawl_store              *a = suite_open(s), *b = suite_open(s);
    const pawl_timeout_amend how  = {.action = PAWL_AMEND_REAP};
    const pawl_time          late = SUITE_NOW + 2 + 5 * MINUTE;
    pawl_timeout_rows        rows;
    set_three(s, a);
    EXPECT_EQ(s, lease(s, a, 70, SUITE_NOW + 1, 1).count, 1);
    EXPECT_EQ(s, lease(s, a, 71, SUITE_NOW + 2, 1).count, 1);
    EXPECT_EQ(s, lease(s, a, 72, SUITE_NOW + 3, 1).count, 1);
    rows = suite_timeouts(s, b);
    EXPECT_EQ(s, amend(s, b, &rows, how, SUITE_NOW + 5 * MINUTE), 0);
    EXPECT_EQ(s, lease(s, b, 73, late, 1).count,
              1); /* another session has leased the first since it was listed */
    EXPECT_EQ(s, amend(s, b, &rows, how, late), 1);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, pawl_uuid_compare(row_of(s, &rows, 1)->owner.uuid, suite_uuid(73)), 0);
    EXPECT(s, pawl_uuid_is_zero(row_of(s, &rows, 2)->owner.uuid));
    EXPECT_EQ(s, row_of(s, &rows, 2)->due, SUITE_NOW + 2);
    EXPECT_EQ(s, pawl_uuid_compare(row_of(s, &rows, 3)->owner.uuid, suite_uuid(72)), 0);
    EXPECT_EQ(s, events_of(s, a, PAWL_TIMEOUTS_REAPED).count, 1);
    EXPECT_EQ(s, amend(s, b, &rows, how, late), 0);
}

static void an_invalid_change_of_timeouts_is_refused(suite *s)
{
    pawl_store        *a    = suite_open(s);
    pawl_timeout_amend how  = {.action = PAWL_AMEND_CANCEL};
    size_t             done = 99;
    pawl_timeout_rows  rows;
    set_three(s, a);
    rows = suite_timeouts(s, a);
#define AMEND(count_) \
    pawl_store_timeout_amend(a, rows.items, count_, &how, SUITE_NOW, &done, &s->error)
    EXPECT_CODE(s, AMEND(3), PAWL_EINVAL);
    how.by = ANN;
    EXPECT_CODE(s, AMEND(PAWL_BATCH_MESSAGES_MAX + 1), PAWL_EINVAL);
    how.action = (pawl_amend_action)9;
    EXPECT_CODE(s, AMEND(3), PAWL_EINVAL);
    how.action                               = PAWL_AMEND_CANCEL;
    char long_text[PAWL_ERROR_TEXT_SIZE_MAX] = {'x'};
    how.reason = (pawl_text){.data = long_text, .size = sizeof long_text};
    EXPECT_CODE(s, AMEND(3), PAWL_ELIMIT);
    how.reason = TEXT("");
    EXPECT_EQ(s, done, 0);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 3);
    EXPECT_OK(s, AMEND(0));
    EXPECT_EQ(s, done, 0);
#undef AMEND
}

/* Setting a leased timeout again: the new due time counts, and the worker's commit is refused. */
static void a_timeout_set_by_an_operator_leaves_an_event_with_author_and_reason(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open(s);
    pawl_timeout_row row = {.saga_id     = suite_saga_id(9),
                            .saga_type   = TEXT("Order"),
                            .name        = TEXT("2"),
                            .destination = TEXT("orders"),
                            .due         = SUITE_NOW + MINUTE};
    pawl_timeout_id  id  = {{{0}}};
    set_three(s, a);
    EXPECT_OK(s, pawl_store_timeout_set(b, &row, ANN, TEXT("late"), SUITE_NOW, &id, &s->error));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 3);
    EXPECT_EQ(s, due_of(s, a, 2),
              SUITE_NOW +
                  MINUTE); /* the saga has a timeout of this name already, so it is re-armed */
    row.name = TEXT("4");
    EXPECT_OK(s, pawl_store_timeout_set(b, &row, ANN, TEXT(""), SUITE_NOW, &id, &s->error));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 4);
    row.due = SUITE_NOW;
    EXPECT_OK(s, pawl_store_timeout_set(b, &row, ANN, TEXT(""), SUITE_NOW, NULL, &s->error));
    pawl_timeout_rows mine = lease(s, a, 70, SUITE_NOW, 1);
    EXPECT_EQ(s, mine.count, 1);
    EXPECT_EQ(s, pawl_uuid_compare(mine.items[0].id.uuid, id.uuid), 0);
    EXPECT_TEXT(s, mine.items[0].saga_type, TEXT("Order"));
    EXPECT_EQ(s, pawl_uuid_compare(mine.items[0].saga_id.uuid, suite_saga_id(9).uuid), 0);
    row.due = SUITE_NOW + 9;
    EXPECT_OK(s, pawl_store_timeout_set(b, &row, ANN, TEXT(""), SUITE_NOW, NULL, &s->error));
    const pawl_session_id owner = suite_session_id(70);
    EXPECT_CODE(s, pawl_store_timeout_remove(a, id, &owner, SUITE_NOW, &s->error), PAWL_EGONE);
    pawl_event_rows events = events_of(s, a, PAWL_TIMEOUTS_SET);
    EXPECT_EQ(s, events.count, 4);
    EXPECT(s, suite_text_has(events.items[0].event.headers, TEXT("\"by\":\"ann\"")));
    EXPECT(s, suite_text_has(events.items[0].event.headers, TEXT("\"reason\":\"late\"")));
    EXPECT(s, suite_text_has(events.items[0].event.body, TEXT("\"saga_type\":\"Order\"")));
    EXPECT_CODE(s, pawl_store_timeout_set(b, &row, TEXT(""), TEXT(""), SUITE_NOW, NULL, &s->error),
                PAWL_EINVAL);
    row.destination = TEXT("");
    EXPECT_CODE(s, pawl_store_timeout_set(b, &row, ANN, TEXT(""), SUITE_NOW, NULL, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, events_of(s, a, PAWL_TIMEOUTS_SET).count, 4);
}

static const suite_case cases[] = {
    {"E13 an operator can cancel, move and release timeouts",
     an_operator_can_cancel_move_and_release_timeouts},
    {"E13 an operator's release of a timeout never delays it and resets attempts",
     an_operators_release_of_a_timeout_never_delays_it_and_resets_attempts},
    {"E13 an operator's change leaves out timeouts that were set again since",
     an_operators_change_leaves_out_timeouts_that_were_set_again_since},
    {"E13 an operator's change leaves an event that names the changed timeouts",
     an_operators_change_leaves_an_event_that_names_the_changed_timeouts},
    {"E13 an operator's change of a leased timeout ends its lease",
     an_operators_change_of_a_leased_timeout_ends_its_lease},
    {"T14 an operator's reap frees only timeouts whose lease has expired",
     an_operators_reap_frees_only_timeouts_whose_lease_has_expired},
    {"E13 an invalid change of timeouts is refused", an_invalid_change_of_timeouts_is_refused},
    {"E13 a timeout set by an operator leaves an event with author and reason",
     a_timeout_set_by_an_operator_leaves_an_event_with_author_and_reason},
};

const suite_cases cases_op_amend = SUITE_CASES("operation timeout change", cases);
