/* outbox.c - outbox rows: adding, order, settling, history, blocking.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define SOURCE TEXT("Order/1")

static void put(suite_set *set, unsigned number, pawl_text source, int64_t version, int32_t index)
{
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(number), .source = source,
        .version = version, .index = index, .endpoint = TEXT("suite"),
        .destination = TEXT("billing"), .at = SUITE_NOW,
        .message = suite_message(set->s, suite_printf(set->s, "m-%u", number)));
}

static void add(suite *s, pawl_store *store, unsigned number, const char *source, int64_t version,
                int32_t index)
{
    suite_set set = suite_changes(s);
    put(&set, number, pawl_text_of(source), version, index);
    COMMIT(&set, store);
}

static pawl_outbox_rows claim_of(suite *s, pawl_store *a, pawl_text of, pawl_time now, size_t max)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_claim(a, of, now, max, s->arena, &rows, &s->error), rows);
    return rows;
}

static pawl_outbox_rows claim(suite *s, pawl_store *store, pawl_time now, size_t count_max)
{
    return claim_of(s, store, TEXT(""), now, count_max);
}

static bool is_number(const pawl_outbox_row *row, unsigned number)
{
    return pawl_uuid_compare(row->dispatch_id.uuid, suite_uuid(number)) == 0;
}

static void expect_numbers(suite *s, const pawl_outbox_rows *rows, const unsigned *numbers,
                           size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT(s, is_number(&rows->items[i], numbers[i]));
}

static void expect_state(suite *s, pawl_store *store, pawl_outbox_state state,
                         const unsigned *numbers, size_t count)
{
    pawl_outbox_rows rows = suite_outbox_rows(s, store, state);
    expect_numbers(s, &rows, numbers, count);
}

static void expect_claim(suite *s, pawl_store *store, pawl_time now, const unsigned *numbers,
                         size_t count)
{
    pawl_outbox_rows rows = claim(s, store, now, 32);
    expect_numbers(s, &rows, numbers, count);
}

static int64_t id_of(suite *s, pawl_store *store, unsigned number)
{
    for (int state = PAWL_OUTBOX_PENDING; state <= PAWL_OUTBOX_DEAD; state++) {
        pawl_outbox_rows rows = suite_outbox_rows(s, store, (pawl_outbox_state)state);
        for (size_t i = 0; i < rows.count; i++)
            if (is_number(&rows.items[i], number))
                return rows.items[i].id;
    }
    suite_fail(s, __FILE__, __LINE__, "outbox row number %u of the case was not found", number);
}

static void dispatched(suite *s, pawl_store *store, unsigned number)
{
    COMMIT_ONE(s, store, outbox_settle, .id = id_of(s, store, number),
               .state = PAWL_OUTBOX_DISPATCHED, .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS,
               .at = SUITE_NOW, .duration = 5);
}

static void tried(suite *s, pawl_store *store, unsigned number, int32_t attempts, pawl_time next)
{
    COMMIT_ONE(s, store, outbox_settle, .id = id_of(s, store, number), .source = SOURCE,
               .state = PAWL_OUTBOX_PENDING, .attempts = attempts, .next_attempt = next,
               .outcome = PAWL_ATTEMPT_TRANSIENT, .error = suite_printf(s, "try %d", attempts),
               .at = SUITE_NOW + attempts, .duration = 100 + attempts);
}

static void dead(suite *s, pawl_store *store, unsigned number, pawl_attempt_outcome outcome)
{
    COMMIT_ONE(s, store, outbox_settle, .id = id_of(s, store, number), .state = PAWL_OUTBOX_DEAD,
               .attempts = 1, .outcome = outcome, .error = TEXT("no"), .at = SUITE_NOW);
}

static void a_row_is_claimed_as_it_was_added(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message sent = suite_message(s, TEXT("m-1"));
    COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = SOURCE,
               .version = INT64_C(5000000000), .index = 3, .endpoint = TEXT("suite"),
               .destination = TEXT("billing"), .message = sent, .due = SUITE_NOW + 99,
               .at = SUITE_NOW);
    pawl_outbox_rows rows = claim(s, b, SUITE_NOW, 32);
    pawl_outbox_row *row  = rows.items;
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT(s, row->id > 0);
    EXPECT_TEXT(s, row->source, SOURCE);
    EXPECT_EQ(s, row->version, INT64_C(5000000000));
    EXPECT_EQ(s, row->index, 3);
    EXPECT_TEXT(s, row->endpoint, TEXT("suite"));
    EXPECT_TEXT(s, row->destination, TEXT("billing"));
    EXPECT_MESSAGE(s, &row->message, &sent);
    EXPECT_EQ(s, row->due, SUITE_NOW + 99);
    EXPECT_EQ(s, row->state, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, row->attempts, 0);
    EXPECT_EQ(s, row->at, SUITE_NOW);
    EXPECT_EQ(s, suite_attempts(s, b, row->id).count, 0);
}

static void a_known_dispatch_id_added_again(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 4; i++)
        add(s, a, i, suite_printf(s, "Order/%u", i).data, 1, 0);
    tried(s, a, 2, 2, SUITE_NOW + 60);
    dispatched(s, a, 3);
    dead(s, a, 4, PAWL_ATTEMPT_REJECTED);
    for (unsigned i = 1; i <= 4; i++)
        add(s, a, i, suite_printf(s, "Order/%u", i).data, 1, 0);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    expect_numbers(s, &rows, (const unsigned[]){1, 2}, 2);
    EXPECT_EQ(s, rows.items[1].attempts, 2);
    EXPECT_EQ(s, rows.items[1].next_attempt, SUITE_NOW + 60);
    expect_state(s, a, PAWL_OUTBOX_DISPATCHED, (const unsigned[]){3}, 1);
    expect_state(s, a, PAWL_OUTBOX_DEAD, (const unsigned[]){4}, 1);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){1}, 1);
}

static void a_known_id_must_be_alike(suite *s)
{
    pawl_store  *a          = suite_open(s);
    pawl_message other_type = suite_message(s, TEXT("m-1")), other_body = other_type;
    add(s, a, 1, "Order/1", 1, 0);
    other_type.type = TEXT("CancelOrder");
    other_body.body = TEXT("{\"id\":\"m-2\"}");
    REFUSE_ONE(s, a, PAWL_EMISMATCH, outbox_add, .dispatch_id = suite_dispatch_id(1),
               .source = SOURCE, .version = 1, .endpoint = TEXT("suite"),
               .destination = TEXT("billing"), .message = other_type, .at = SUITE_NOW);
    REFUSE_ONE(s, a, PAWL_EMISMATCH, outbox_add, .dispatch_id = suite_dispatch_id(1),
               .source = SOURCE, .version = 1, .endpoint = TEXT("suite"),
               .destination = TEXT("billing"), .message = other_body, .at = SUITE_NOW);
    pawl_message     first = suite_message(s, TEXT("m-1"));
    pawl_outbox_rows rows  = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &first);
}

static void twice_in_commit(suite *s)
{
    pawl_store  *a     = suite_open(s);
    pawl_message other = suite_message(s, TEXT("m-1"));
    other.body         = TEXT("{}");
    suite_set set      = suite_changes(s);
    for (unsigned i = 0; i < 4; i++) {
        suite_unit(&set, i, i);
        ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = SOURCE, .version = 1,
            .endpoint = TEXT("suite"), .destination = TEXT("billing"), .may_differ = i == 3,
            .message = i >= 2 ? other : suite_message(s, TEXT("m-1")), .at = SUITE_NOW);
    }
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 2);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EMISMATCH);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).count, 1);
}

static void order_of_different_keys(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 5; i++)
        add(s, a, i, suite_printf(s, "Order/%u", 9 - i).data, 10 - (int64_t)i, 0);
    pawl_outbox_rows rows = claim(s, a, SUITE_NOW, 3);
    expect_numbers(s, &rows, (const unsigned[]){1, 2, 3}, 3);
    EXPECT(s, rows.items[0].id < rows.items[1].id);
    EXPECT(s, rows.items[1].id < rows.items[2].id);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){1, 2, 3, 4, 5}, 5);
}

static void order_of_one_key(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, 5, "Order/1", 2, 1);
    add(s, a, 4, "Order/1", 2, 0);
    add(s, a, 2, "Order/1", 1, 2);
    add(s, a, 3, "Order/1", 1, 10);
    add(s, a, 1, "Order/1", 1, 0);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){1, 2, 3, 4, 5}, 5);
}

static void delivery_is_final(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, 1, "Order/1", 1, 0);
    COMMIT_ONE(s, a, outbox_settle, .id = id_of(s, a, 1), .state = PAWL_OUTBOX_DISPATCHED,
               .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW + 7, .duration = 5);
    EXPECT_EQ(s, claim(s, a, PAWL_TIME_MAX, 10).count, 0);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW);
    EXPECT_EQ(s, rows.items[0].dispatched, SUITE_NOW + 7);
    EXPECT_EQ(s, rows.items[0].attempts, 1);
    pawl_attempt_rows attempts = suite_attempts(s, a, rows.items[0].id);
    EXPECT_EQ(s, attempts.count, 1);
    EXPECT_EQ(s, attempts.items[0].attempt, 1);
    EXPECT_EQ(s, attempts.items[0].outcome, PAWL_ATTEMPT_SUCCESS);
    EXPECT_EQ(s, attempts.items[0].at, SUITE_NOW + 7);
    EXPECT_EQ(s, attempts.items[0].duration, 5);
    EXPECT_EQ(s, attempts.items[0].error.size, 0);
}

static void is_delayed(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, 1, "Order/1", 1, 0);
    tried(s, a, 1, 1, SUITE_NOW + 10);
    EXPECT_EQ(s, claim(s, a, SUITE_NOW + 9, 10).count, 0);
    EXPECT_EQ(s, claim(s, a, SUITE_NOW + 9, 10).next_attempt, SUITE_NOW + 10);
    pawl_outbox_rows rows = claim(s, a, SUITE_NOW + 10, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 1);
    EXPECT_EQ(s, rows.items[0].next_attempt, SUITE_NOW + 10);
    EXPECT_EQ(s, rows.next_attempt, PAWL_TIME_MAX);
    tried(s, a, 1, 2, SUITE_NOW + 30);
    COMMIT_ONE(s, a, outbox_settle, .id = rows.items[0].id, .state = PAWL_OUTBOX_DEAD,
               .attempts = 3, .outcome = PAWL_ATTEMPT_POISON, .error = TEXT("enough"),
               .at = SUITE_NOW + 3, .duration = 103);
    pawl_attempt_rows attempts = suite_attempts(s, a, rows.items[0].id);
    EXPECT_EQ(s, attempts.count, 3);
    for (int32_t i = 1; i <= 3; i++) {
        EXPECT_EQ(s, attempts.items[i - 1].attempt, i);
        EXPECT_EQ(s, attempts.items[i - 1].at, SUITE_NOW + i);
        EXPECT_EQ(s, attempts.items[i - 1].duration, 100 + i);
    }
    EXPECT_EQ(s, attempts.items[1].outcome, PAWL_ATTEMPT_TRANSIENT);
    EXPECT_TEXT(s, attempts.items[1].error, TEXT("try 2"));
    EXPECT_EQ(s, attempts.items[2].outcome, PAWL_ATTEMPT_POISON);
    EXPECT_EQ(s, claim(s, a, PAWL_TIME_MAX, 10).count, 0);
}

static void a_rejected_row_is_dead(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, 1, "Order/1", 1, 0);
    add(s, a, 2, "Order/1", 2, 0);
    dead(s, a, 1, PAWL_ATTEMPT_REJECTED);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_DEAD);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT_EQ(s, suite_attempts(s, a, rows.items[0].id).items[0].outcome, PAWL_ATTEMPT_REJECTED);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){2}, 1);
}

static void hold(suite *s, pawl_store *store, int64_t after, bool is_unblock)
{
    COMMIT_ONE(s, store, outbox_block, .source = SOURCE, .after = after, .is_unblock = is_unblock);
}

static void only_pending_is_settled(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 4; i++)
        add(s, a, i, i == 4 ? "Order/1" : "Order/9", i, 0);
    dispatched(s, a, 1);
    dead(s, a, 2, PAWL_ATTEMPT_REJECTED);
    hold(s, a, 0, false);
    int64_t ids[] = {id_of(s, a, 1), id_of(s, a, 2), id_of(s, a, 4), id_of(s, a, 4) + 1000};
    for (size_t i = 0; i < 4; i++)
        REFUSE_ONE(s, a, PAWL_EGONE, outbox_settle, .id = ids[i], .state = PAWL_OUTBOX_DISPATCHED,
                   .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS, .at = SUITE_NOW);
    EXPECT_EQ(s, suite_attempts(s, a, ids[0]).count, 1);
    EXPECT_EQ(s, suite_attempts(s, a, ids[1]).count, 1);
    EXPECT_EQ(s, suite_attempts(s, a, ids[2]).count, 0);
    EXPECT_EQ(s, suite_attempts(s, a, ids[3]).count, 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 1);
}

static void add_success(suite_set *set, int64_t id, uint32_t unit, pawl_time at)
{
    suite_unit(set, unit, unit);
    ADD(set, outbox_settle, .id = id, .source = SOURCE, .state = PAWL_OUTBOX_DISPATCHED,
        .attempts = 1, .next_attempt = at, .outcome = PAWL_ATTEMPT_SUCCESS, .at = at,
        .duration = 100 + unit);
}

static void expect_success(suite *s, pawl_store *store, int64_t id, pawl_time at, int64_t duration)
{
    pawl_attempt_rows rows = suite_attempts(s, store, id);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempt, 1);
    EXPECT_EQ(s, rows.items[0].outcome, PAWL_ATTEMPT_SUCCESS);
    EXPECT_TEXT(s, rows.items[0].error, TEXT(""));
    EXPECT_EQ(s, rows.items[0].at, at);
    EXPECT_EQ(s, rows.items[0].duration, duration);
}

/* A driver may settle rows with the same result together. */
static void alike_rows_settle(suite *s)
{
    pawl_store *a = suite_open(s);
    int64_t     ids[7];
    for (unsigned i = 0; i < 7; i++) {
        add(s, a, i + 1, "Order/1", i + 1, 0);
        ids[i] = id_of(s, a, i + 1);
    }
    suite_set alike = suite_changes(s);
    for (unsigned i = 0; i < 3; i++)
        add_success(&alike, ids[i], i, SUITE_NOW + 7);
    COMMIT(&alike, a);
    suite_set again = suite_changes(s);
    for (unsigned i = 2; i < 5; i++)
        add_success(&again, ids[i], i - 2, SUITE_NOW + 7);
    pawl_refusals refused = REFUSED(&again, a);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 0);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EGONE);
    suite_set mixed = suite_changes(s);
    for (unsigned i = 5; i < 7; i++)
        add_success(&mixed, ids[i], i - 5, SUITE_NOW + 2 + i);
    COMMIT(&mixed, a);
    for (unsigned i = 0; i < 7; i++)
        expect_success(s, a, ids[i], SUITE_NOW + (i < 6 ? 7 : 8),
                       100 + (i < 3   ? i
                              : i < 5 ? i - 2
                                      : i - 5));
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED);
    EXPECT_EQ(s, rows.count, 7);
    EXPECT_EQ(s, rows.items[4].attempts, 1);
    EXPECT_EQ(s, rows.items[4].next_attempt, SUITE_NOW + 7);
    EXPECT_EQ(s, rows.items[4].dispatched, SUITE_NOW + 7);
}

/* The refused row is blocked or gone. It must get no history line, also on a handle without earlier refusals. */
static void refuse_among_alike(suite *s, pawl_store *store, const int64_t ids[3])
{
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < 3; i++)
        add_success(&set, ids[i], i, SUITE_NOW + 7);
    pawl_refusals refused = REFUSED(&set, store);
    EXPECT_EQ(s, refused.count, 1);
    EXPECT_EQ(s, refused.items[0].unit, 1);
    EXPECT_EQ(s, refused.items[0].reason, PAWL_EGONE);
    EXPECT_EQ(s, suite_attempts(s, store, ids[0]).count, 1);
    EXPECT_EQ(s, suite_attempts(s, store, ids[1]).count, 0);
    EXPECT_EQ(s, suite_attempts(s, store, ids[2]).count, 1);
}

static void not_settled(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 1; i <= 5; i++)
        add(s, a, i, i == 2 ? "Order/1" : "Order/9", i, 0);
    hold(s, a, 0, false);
    const int64_t held[] = {id_of(s, a, 1), id_of(s, a, 2), id_of(s, a, 3)};
    const int64_t gone[] = {id_of(s, a, 4), held[0] + 1000, id_of(s, a, 5)};
    refuse_among_alike(s, a, held);
    refuse_among_alike(s, b, gone);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 1);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_DISPATCHED).count, 4);
}

static void blocked_until_unblock(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 4; i++)
        add(s, a, i, "Order/1", i, 0);
    add(s, a, 5, "Order/2", 1, 0);
    add(s, a, 6, "order/1", 1, 0);
    dispatched(s, a, 4);
    int64_t   first = id_of(s, a, 1);
    suite_set set   = suite_changes(s);
    ADD(&set, outbox_settle, .id = first, .source = SOURCE, .state = PAWL_OUTBOX_PENDING,
        .attempts = 1, .next_attempt = SUITE_NOW + 10, .outcome = PAWL_ATTEMPT_TRANSIENT,
        .at = SUITE_NOW);
    ADD(&set, outbox_block, .source = SOURCE, .after = first);
    COMMIT(&set, a);
    expect_state(s, a, PAWL_OUTBOX_BLOCKED, (const unsigned[]){2, 3}, 2);
    expect_claim(s, a, SUITE_NOW + 100, (const unsigned[]){1, 5, 6}, 3);
    add(s, a, 7, "Order/1", 7, 0);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 2);
    suite_set last = suite_changes(s);
    ADD(&last, outbox_settle, .id = first, .source = SOURCE, .state = PAWL_OUTBOX_DEAD,
        .attempts = 2, .outcome = PAWL_ATTEMPT_POISON, .at = SUITE_NOW);
    ADD(&last, outbox_block, .source = SOURCE, .after = first, .is_unblock = true);
    COMMIT(&last, a);
    EXPECT_EQ(s, suite_outbox_rows(s, a, PAWL_OUTBOX_BLOCKED).count, 0);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){2, 3, 5, 6, 7}, 5);
    expect_state(s, a, PAWL_OUTBOX_DISPATCHED, (const unsigned[]){4}, 1);
}

static void hold_two(suite *s, pawl_store *store, unsigned after_one, unsigned after_two)
{
    suite_set set = suite_changes(s);
    ADD(&set, outbox_block, .source = SOURCE, .after = id_of(s, store, after_one));
    ADD(&set, outbox_block, .source = TEXT("Order/2"), .after = id_of(s, store, after_two));
    ADD(&set, outbox_block, .source = SOURCE,
        .after = id_of(s, store, 5)); /* blocks no more rows */
    COMMIT(&set, store);
}

/* Each source is blocked after its own row, in whatever order the rows come. */
static void blocks_of_two(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 6; i++)
        add(s, a, i, i % 2 == 1 ? "Order/1" : "Order/2", i, 0);
    hold_two(s, a, 1, 4);
    expect_state(s, a, PAWL_OUTBOX_BLOCKED, (const unsigned[]){3, 5, 6}, 3);
    hold(s, a, 0, true);
    COMMIT_ONE(s, a, outbox_block, .source = TEXT("Order/2"), .is_unblock = true);
    hold_two(s, a, 3, 2);
    expect_state(s, a, PAWL_OUTBOX_BLOCKED, (const unsigned[]){4, 5, 6}, 3);
}

/* A commit of the dispatcher may settle a row of a source, which unblocks the source, and postpone a later row. */
static void unblock_after_blocks(suite *s)
{
    pawl_store *a   = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 1; i <= 6; i++)
        add(s, a, i, i % 2 == 1 ? "Order/1" : "Order/2", i, 0);
    ADD(&set, outbox_block, .source = SOURCE, .after = id_of(s, a, 1));
    ADD(&set, outbox_block, .source = TEXT("Order/2"), .after = id_of(s, a, 2));
    ADD(&set, outbox_block, .source = SOURCE, .is_unblock = true);
    ADD(&set, outbox_block, .source = SOURCE, .after = id_of(s, a, 3));
    ADD(&set, outbox_block, .source = TEXT("Order/2"), .is_unblock = true);
    COMMIT(&set, a);
    expect_state(s, a, PAWL_OUTBOX_BLOCKED, (const unsigned[]){5}, 1);
}

/* Ids need not follow versions. Blocked rows do not count towards a claim's limit. */
static void blocked_rows_and_the_limit(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, 1, "Order/1", 8, 0);
    add(s, a, 2, "Order/1", 7, 0);
    add(s, a, 3, "Order/1", 6, 0);
    hold(s, a, id_of(s, a, 1), false);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){1}, 1);
}

/* An unblock frees all rows of its source, also those before `after`, and no others. */
static void an_unblock_frees_its_key(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 5; i++)
        add(s, a, i, i <= 3 ? "Order/1" : "Order/2", i, 0);
    hold(s, a, id_of(s, a, 1), false);
    COMMIT_ONE(s, a, outbox_block, .source = TEXT("Order/2"), .after = id_of(s, a, 4));
    hold(s, a, id_of(s, a, 3), true);
    expect_state(s, a, PAWL_OUTBOX_BLOCKED, (const unsigned[]){5}, 1);
    expect_claim(s, a, SUITE_NOW, (const unsigned[]){1, 2, 3, 4}, 4);
}

static void a_claim_returns_next_time(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, claim(s, a, SUITE_NOW, 10).next_attempt, PAWL_TIME_MAX);
    for (unsigned i = 1; i <= 3; i++)
        add(s, a, i, suite_printf(s, "Order/%u", i).data, 1, 0);
    tried(s, a, 1, 1, SUITE_NOW + 20);
    tried(s, a, 2, 1, SUITE_NOW + 10);
    pawl_outbox_rows rows = claim(s, a, SUITE_NOW, 10);
    expect_numbers(s, &rows, (const unsigned[]){3}, 1);
    EXPECT_EQ(s, rows.next_attempt, SUITE_NOW + 10);
    EXPECT_EQ(s, claim(s, a, SUITE_NOW + 10, 10).next_attempt, SUITE_NOW + 20);
}

/* Producers' clocks differ: ordered by creation time, a row could overtake its predecessor. */
static void new_row_is_due(suite *s)
{
    pawl_store *a = suite_open(s);
    COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = SOURCE,
               .version = 1, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
               .message = suite_message(s, TEXT("m-1")), .at = SUITE_NOW + PAWL_MINUTES(1));
    add(s, a, 2, "Order/1", 2, 0);
    pawl_outbox_rows rows = claim(s, a, SUITE_NOW, 1);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT(s, rows.next_attempt <= SUITE_NOW);
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW + PAWL_MINUTES(1));
    EXPECT_EQ(s, rows.items[0].due, 0); /* so the receiver gets the message at once, too */
    rows = claim(s, a, SUITE_NOW, 10);
    expect_numbers(s, &rows, (const unsigned[]){1, 2}, 2);
    EXPECT_EQ(s, rows.next_attempt, PAWL_TIME_MAX);
}

static void outbox_rows_are_listed_by_state_and_id(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 5; i++)
        add(s, a, i, "Order/1", 9 - (int64_t)i, 0);
    dispatched(s, a, 2);
    dispatched(s, a, 4);
    expect_state(s, a, PAWL_OUTBOX_PENDING, (const unsigned[]){1, 3, 5}, 3);
    pawl_outbox_rows rows = {0};
    expect_state(s, a, PAWL_OUTBOX_DISPATCHED, (const unsigned[]){2, 4}, 2);
    READ_ROWS(s, pawl_store_outbox_list(a, PAWL_OUTBOX_PENDING, 2, s->arena, &rows, &s->error),
              rows);
    expect_numbers(s, &rows, (const unsigned[]){1, 3}, 2);
}

/* Rows of other endpoints are not claimed, and do not affect the next time to claim. */
static void claims_are_of_one_endpoint(suite *s)
{
    pawl_store *store = suite_open(s);
    add(s, store, 1, "Order/1", 1, 0);
    COMMIT_ONE(s, store, outbox_add, .dispatch_id = suite_dispatch_id(2), .source = TEXT("Stay/1"),
               .version = 1, .endpoint = TEXT("other"), .destination = TEXT("billing"),
               .message = suite_message(s, TEXT("m-2")), .at = SUITE_NOW);
    pawl_outbox_rows rows = claim_of(s, store, TEXT("other"), SUITE_NOW, 9);
    expect_numbers(s, &rows, (const unsigned[]){2}, 1);
    rows = claim_of(s, store, TEXT("Other"), SUITE_NOW, 9);
    EXPECT(s, rows.count == 0 && rows.next_attempt == PAWL_TIME_MAX);
}

/* ---- Late commits ------------------------------------------------------- */

#define OTHERS 9000
#define SETTLED 500

static void commit_others(suite *s, pawl_store *store, unsigned round)
{
    suite_set set = suite_changes(s);
    for (unsigned i = 0; i < OTHERS; i++)
        put(&set, 10 + round * OTHERS + i, suite_printf(s, "Other/%u", i), round, 0);
    COMMIT(&set, store);
}

static void deliver_others(suite *s, pawl_store *store)
{
    pawl_outbox_rows rows = claim(s, store, SUITE_NOW, OTHERS);
    EXPECT_EQ(s, rows.count, OTHERS);
    for (size_t begin = 0; begin < rows.count; begin += SETTLED) {
        suite_set set = suite_changes(s);
        for (size_t i = begin; i < begin + SETTLED && i < rows.count; i++)
            ADD(&set, outbox_settle, .id = rows.items[i].id, .source = rows.items[i].source,
                .state = PAWL_OUTBOX_DISPATCHED, .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS,
                .at = SUITE_NOW);
        COMMIT(&set, store);
    }
}

/* A row is committed only after more rows with later ids were delivered than a driver can look back on. The next row of
 * its source must not be claimed before it. */
static void late_commit(suite *s)
{
    pawl_store *a = suite_open(s), *slow = suite_open(s);
    suite_set   late = suite_changes(s), next = suite_changes(s);
    suite_need_overlap(s, a);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(slow, &s->error));
    put(&late, 1, SOURCE, 1, 0);
    suite_enlist(&late, slow);
    for (unsigned round = 0; round < 4; round++) {
        commit_others(s, a, round);
        deliver_others(s, a);
    }
    COMMIT_ONE(s, slow, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("m-1"),
               .at = SUITE_NOW);
    put(&next, 2, SOURCE, 2, 0);
    COMMIT(&next, a);
    pawl_outbox_rows rows = claim(s, a, SUITE_NOW, OTHERS);
    expect_numbers(s, &rows, (const unsigned[]){1, 2}, 2);
}

static const suite_case cases[] = {
    {"O8 a claim returns outbox rows of one endpoint only", claims_are_of_one_endpoint},
    {"O1 an outbox row is claimed as it was added", a_row_is_claimed_as_it_was_added},
    {"O6 O7 adding a known dispatch id again changes nothing", a_known_dispatch_id_added_again},
    {"O5 a known dispatch id with another type or body is refused", a_known_id_must_be_alike},
    {"O5 O6 a dispatch id twice in a commit is one row, or refused if it differs", twice_in_commit},
    {"O8 outbox rows of different ordering keys are claimed by id", order_of_different_keys},
    {"O8 outbox rows of one ordering key are claimed by version and index", order_of_one_key},
    {"O9 a delivered outbox row is not claimed again, its attempt is recorded", delivery_is_final},
    {"O10 O12 O15 a transient failure delays an outbox row, each attempt is recorded", is_delayed},
    {"O11 O13 a rejected outbox row is dead at once and blocks no other row",
     a_rejected_row_is_dead},
    {"O16 an outbox row can be settled only while it is pending", only_pending_is_settled},
    {"O15 O16 outbox rows with the same result can be settled in one commit", alike_rows_settle},
    {"O15 O16 of rows settled in one commit only blocked or missing ones are refused", not_settled},
    {"O14 a blocked outbox row is not claimed until its key is unblocked", blocked_until_unblock},
    {"O14 blocking two ordering keys in one commit blocks each after its own row", blocks_of_two},
    {"O14 an unblock undoes the earlier blocks of its key in the commit", unblock_after_blocks},
    {"O14 blocked outbox rows do not count towards a claim's limit", blocked_rows_and_the_limit},
    {"O14 an unblock frees all rows of its ordering key, and no others", an_unblock_frees_its_key},
    {"O8 a claim of outbox rows returns the time of the next attempt", a_claim_returns_next_time},
    {"O8 O14 a new outbox row is due at once, whatever its creator's clock says", new_row_is_due},
    {"O8 outbox rows are listed by state and id", outbox_rows_are_listed_by_state_and_id},
    {"O8 O14 an outbox row committed late is claimed before later rows of its key", late_commit},
};

const suite_cases cases_outbox = SUITE_CASES("outbox", cases);
