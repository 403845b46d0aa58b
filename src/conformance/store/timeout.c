/* timeout.c - claiming timeouts and ending their leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

static void set_timeout(suite *s, pawl_store *store, unsigned number, pawl_time due)
{
    COMMIT_ONE(s, store, timeout_set, .id = suite_timeout_id(number), .saga_type = TEXT("Order"),
               .destination = TEXT("orders"), .due = due, .is_new = true);
}

static void add_timeout(suite_set *set, unsigned number, pawl_time due)
{
    ADD(set, timeout_set, .id = suite_timeout_id(number), .saga_type = TEXT("Order"),
        .destination = TEXT("orders"), .due = due, .is_new = true);
}

static bool is_number(pawl_timeout_id id, unsigned number)
{
    return pawl_uuid_compare(id.uuid, suite_uuid(number)) == 0;
}

static void expect_numbers(suite *s, const pawl_timeout_rows *rows, const unsigned *numbers,
                           size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT(s, is_number(rows->items[i].id, numbers[i]));
}

static void a_timeout_is_claimed_as_it_was_set(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .saga_id = suite_saga_id(9),
               .saga_type = TEXT("Order"), .name = TEXT("payment"), .destination = TEXT("orders"),
               .due = SUITE_NOW, .headers = TEXT("{\"k\":\"v\"}"),
               .correlation_id = TEXT("conversation-1"));
    pawl_timeout_rows rows = suite_claim_timeouts(s, b, 70, SUITE_NOW, 10);
    EXPECT_EQ(s, rows.count, 1);
    pawl_timeout_row *row = &rows.items[0];
    EXPECT(s, is_number(row->id, 1));
    EXPECT_EQ(s, pawl_uuid_compare(row->saga_id.uuid, suite_uuid(9)), 0);
    EXPECT_EQ(s, row->generation, 1);
    EXPECT_EQ(s, row->attempts, 0);
    EXPECT_EQ(s, row->due, SUITE_NOW);
    EXPECT_TEXT(s, row->saga_type, TEXT("Order"));
    EXPECT_TEXT(s, row->name, TEXT("payment"));
    EXPECT_TEXT(s, row->destination, TEXT("orders"));
    EXPECT_TEXT(s, row->headers, TEXT("{\"k\":\"v\"}"));
    EXPECT_TEXT(s, row->correlation_id, TEXT("conversation-1"));
}

static void only_due_timeouts_are_claimed_the_earliest_first(suite *s)
{
    pawl_store *a = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW + 1);
    set_timeout(s, a, 2, SUITE_NOW);
    set_timeout(s, a, 4, SUITE_NOW - 20);
    set_timeout(s, a, 3, SUITE_NOW - 20);
    set_timeout(s, a, 5, SUITE_NOW - 30);
    pawl_timeout_rows rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 2);
    expect_numbers(s, &rows, (const unsigned[]){5, 3}, 2);
    rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 10);
    expect_numbers(s, &rows, (const unsigned[]){4, 2}, 2);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 10).count, 0);
}

/* Timeouts are set in another order than they are due, and claimed a few at a time. */
static void timeouts_of_the_same_due_time_are_claimed_by_id(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 7; i >= 1; i--)
        set_timeout(s, a, i, SUITE_NOW);
    pawl_timeout_rows rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT_EQ(s, rows.next_due, SUITE_NOW);
    rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 4);
    expect_numbers(s, &rows, (const unsigned[]){2, 3, 4, 5}, 4);
    EXPECT_EQ(s, rows.next_due, SUITE_NOW);
    rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 2);
    expect_numbers(s, &rows, (const unsigned[]){6, 7}, 2);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).count, 0);
}

/* Leased timeouts in between are skipped, and an expired lease is taken over. */
static void a_claim_skips_leased_timeouts_and_takes_those_whose_lease_has_expired(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 2; i <= 6; i += 2)
        set_timeout(s, a, i, SUITE_NOW - 20 + i);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).count, 1);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 71, SUITE_NOW + 1, 9).count, 2);
    for (unsigned i = 1; i <= 5; i += 2)
        set_timeout(s, b, i, SUITE_NOW - 20 + i);
    pawl_timeout_rows rows = suite_claim_timeouts(s, b, 73, SUITE_NOW + SUITE_LEASE, 9);
    expect_numbers(s, &rows, (const unsigned[]){1, 2, 3, 5}, 4);
    rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 6);
    for (size_t i = 0; i < rows.count; i++) {
        unsigned owner = is_number(rows.items[i].id, 4) || is_number(rows.items[i].id, 6) ? 71 : 73;
        EXPECT_EQ(s, pawl_uuid_compare(rows.items[i].owner.uuid, suite_uuid(owner)), 0);
    }
}

/* Programs built with an older header rely on this number, so limits.h must not change it. */
#define DEFAULT_MIN 1000

/* Without a count a claim returns at least this many timeouts; a store may return more. One reap frees all expired
 * leases (T14). */
static void a_claim_without_a_count_uses_the_default_and_one_reap_frees_all_leases(suite *s)
{
    pawl_store *a    = suite_open(s);
    suite_set   many = suite_changes(s);
    EXPECT_EQ(s, PAWL_TIMEOUTS_DEFAULT, DEFAULT_MIN);
    for (unsigned i = 1; i <= DEFAULT_MIN + 1; i++)
        add_timeout(&many, i, SUITE_NOW);
    COMMIT(&many, a);
    size_t first = suite_claim_timeouts(s, a, 70, SUITE_NOW, 0).count;
    EXPECT(s, first >= DEFAULT_MIN);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 71, SUITE_NOW, 0).count, DEFAULT_MIN + 1 - first);
    int64_t count = 0;
    EXPECT_OK(s, pawl_store_timeout_reap(a, SUITE_NOW + SUITE_LEASE, &count, &s->error));
    EXPECT_EQ(s, count, DEFAULT_MIN + 1);
}

static void claiming_a_timeout_leases_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    EXPECT(s, pawl_uuid_is_zero(suite_timeouts(s, b).items[0].owner.uuid));
    pawl_timeout_row claimed = suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).items[0];
    EXPECT_EQ(s, pawl_uuid_compare(claimed.owner.uuid, suite_uuid(70)), 0);
    EXPECT_EQ(s, claimed.lease_expires, SUITE_NOW + SUITE_LEASE);
    pawl_timeout_row listed = suite_timeouts(s, b).items[0];
    EXPECT_EQ(s, pawl_uuid_compare(listed.owner.uuid, suite_uuid(70)), 0);
    EXPECT_EQ(s, listed.lease_expires, SUITE_NOW + SUITE_LEASE);
}

static void two_claims_never_return_the_same_timeout(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    bool        seen[21] = {false};
    for (unsigned i = 1; i <= 20; i++)
        set_timeout(s, a, i, SUITE_NOW - i);
    for (int round = 0; round < 4; round++) {
        pawl_timeout_rows rows =
            suite_claim_timeouts(s, round % 2 == 0 ? a : b, 70 + round % 2, SUITE_NOW, 6);
        EXPECT_EQ(s, rows.count, round < 3 ? 6 : 2);
        for (size_t i = 0; i < rows.count; i++) {
            unsigned number = rows.items[i].id.uuid.bytes[15];
            EXPECT(s, number <= 20 && !seen[number]);
            seen[number] = true;
        }
    }
}

static void a_timeouts_lease_ends_at_its_expiry_time(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).count, 1);
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 71, SUITE_NOW + SUITE_LEASE - 1, 1).count, 0);
    pawl_timeout_rows rows = suite_claim_timeouts(s, b, 71, SUITE_NOW + SUITE_LEASE, 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[0].owner.uuid, suite_uuid(71)), 0);
    EXPECT_EQ(s, rows.items[0].lease_expires, SUITE_NOW + 2 * SUITE_LEASE);
    EXPECT_EQ(s, rows.items[0].generation, 1);
}

static void a_timeout_is_removed_only_by_the_owner_of_its_lease(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70));
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    REFUSE_ONE(s, b, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(71));
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[0].owner.uuid, suite_uuid(70)), 0);
    COMMIT_ONE(s, a, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
               .owner = suite_session_id(70));
}

static void an_expired_lease_of_a_timeout_is_valid_until_it_is_claimed_or_reaped(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 1; i <= 3; i++)
        set_timeout(s, a, i, SUITE_NOW - 10 + i);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 10).count, 3);
    suite_set late   = suite_changes(s);
    late.changes.now = SUITE_NOW + 10 * SUITE_LEASE;
    ADD(&late, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
        .owner = suite_session_id(70));
    COMMIT(&late, a);
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 71, SUITE_NOW + SUITE_LEASE, 1).count, 1);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(2), .has_owner = true,
               .owner = suite_session_id(70));
    int64_t reaped = -1;
    EXPECT_OK(s, pawl_store_timeout_reap(b, SUITE_NOW + SUITE_LEASE, &reaped, &s->error));
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .id = suite_timeout_id(3), .has_owner = true,
               .owner = suite_session_id(70));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 2);
}

static void a_timeout_is_removed_unconditionally_if_no_owner_is_given(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    set_timeout(s, a, 2, SUITE_NOW + 5);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    COMMIT_ONE(s, b, timeout_settle, .id = suite_timeout_id(1));
    COMMIT_ONE(s, b, timeout_settle, .id = suite_timeout_id(1));
    COMMIT_ONE(s, b, timeout_settle, .id = suite_timeout_id(2));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

static void a_released_timeout_can_be_claimed_at_once(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    REFUSE_ONE(s, b, PAWL_EGONE, timeout_settle, .action = PAWL_TIMEOUT_RELEASE,
               .id = suite_timeout_id(1), .has_owner = true, .owner = suite_session_id(71));
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 71, SUITE_NOW, 1).count, 0);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(1),
               .has_owner = true, .owner = suite_session_id(70), .due = 1, .attempts = 9);
    pawl_timeout_row row = suite_timeouts(s, a).items[0];
    EXPECT(s, pawl_uuid_is_zero(row.owner.uuid));
    EXPECT_EQ(s, row.due, SUITE_NOW);
    EXPECT_EQ(s, row.attempts, 0);
    EXPECT_EQ(s, suite_claim_timeouts(s, b, 71, SUITE_NOW, 1).count, 1);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(1));
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 72, SUITE_NOW, 1).count, 1);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(99));
    REFUSE_ONE(s, b, PAWL_EGONE, timeout_settle, .action = PAWL_TIMEOUT_RELEASE,
               .id = suite_timeout_id(1), .has_owner = true, .owner = suite_session_id(71));
}

static void a_retried_timeout_waits_for_its_new_due_time_and_keeps_its_generation(suite *s)
{
    pawl_store *a = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    REFUSE_ONE(s, a, PAWL_EGONE, timeout_settle, .action = PAWL_TIMEOUT_RETRY,
               .id = suite_timeout_id(1), .has_owner = true, .owner = suite_session_id(71),
               .due = SUITE_NOW + 50, .attempts = 2);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RETRY, .id = suite_timeout_id(1),
               .has_owner = true, .owner = suite_session_id(70), .generation = 1,
               .due = SUITE_NOW + 50, .attempts = 2);
    EXPECT(s, pawl_uuid_is_zero(suite_timeouts(s, a).items[0].owner.uuid));
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW + 49, 1).count, 0);
    pawl_timeout_rows rows = suite_claim_timeouts(s, a, 71, SUITE_NOW + 50, 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].attempts, 2);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW + 50);
    EXPECT_EQ(s, rows.items[0].generation, 1);
}

static void reap_frees_only_timeouts_whose_lease_has_expired(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    int64_t     count = -1;
    for (unsigned i = 1; i <= 3; i++)
        set_timeout(s, a, i, SUITE_NOW - 10 + i);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 2).count, 2);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 71, SUITE_NOW + 1, 2).count, 1);
    EXPECT_OK(s, pawl_store_timeout_reap(b, SUITE_NOW + SUITE_LEASE - 1, &count, &s->error));
    EXPECT_EQ(s, count, 0);
    EXPECT_OK(s, pawl_store_timeout_reap(b, SUITE_NOW + SUITE_LEASE, &count, &s->error));
    EXPECT_EQ(s, count, 2);
    EXPECT_OK(s, pawl_store_timeout_reap(b, SUITE_NOW + SUITE_LEASE, &count, &s->error));
    EXPECT_EQ(s, count, 0);
    pawl_timeout_rows rows = suite_timeouts(s, b);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].owner.uuid));
    EXPECT(s, pawl_uuid_is_zero(rows.items[1].owner.uuid));
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[2].owner.uuid, suite_uuid(71)), 0);
    EXPECT_EQ(s, rows.items[2].lease_expires, SUITE_NOW + 1 + SUITE_LEASE);
}

static void a_claim_of_timeouts_returns_the_next_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 10).next_due, PAWL_TIME_MAX);
    set_timeout(s, a, 1, SUITE_NOW + 30);
    set_timeout(s, a, 2, SUITE_NOW + 20);
    set_timeout(s, a, 3, SUITE_NOW - 1);
    set_timeout(s, a, 4, SUITE_NOW - 2);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(5), .destination = TEXT("elsewhere"),
               .due = SUITE_NOW + 1);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(6), .destination = TEXT("orders2"),
               .due = SUITE_NOW + 2);
    /* The time of the due timeout that remains is next_due. */
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 1).next_due, SUITE_NOW - 1);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW, 10).next_due, SUITE_NOW + 20);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW + 20, 10).next_due, SUITE_NOW + 30);
    EXPECT_EQ(s, suite_claim_timeouts(s, a, 70, SUITE_NOW + 30, 10).next_due, PAWL_TIME_MAX);
}

static pawl_time next_timeout(suite *s, pawl_store *store)
{
    pawl_next_due next = {0};
    EXPECT_OK(s, pawl_store_next_due(store, TEXT("orders"), NULL, 0, &next, &s->error));
    return next.timeout;
}

static void the_next_due_time_leaves_out_leased_timeouts(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    EXPECT_EQ(s, next_timeout(s, a), PAWL_TIME_MAX);
    set_timeout(s, a, 1, SUITE_NOW);
    set_timeout(s, a, 2, SUITE_NOW + 40);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(3), .destination = TEXT("elsewhere"),
               .due = SUITE_NOW - 50);
    EXPECT_EQ(s, next_timeout(s, b), SUITE_NOW);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    EXPECT_EQ(s, next_timeout(s, b), SUITE_NOW + 40);
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(1),
               .has_owner = true, .owner = suite_session_id(70));
    EXPECT_EQ(s, next_timeout(s, b), SUITE_NOW);
}

static void a_claim_returns_timeouts_of_its_destination_or_of_all_if_none_is_named(suite *s)
{
    pawl_store *a = suite_open(s);
    set_timeout(s, a, 1, SUITE_NOW);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(2), .destination = TEXT("Orders"),
               .due = SUITE_NOW - 1);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(3), .destination = TEXT("elsewhere"),
               .due = SUITE_NOW - 2);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(4), .destination = TEXT("orders "),
               .due = SUITE_NOW - 3);
    pawl_timeout_rows rows = suite_claim_timeouts(s, a, 70, SUITE_NOW, 10);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    pawl_timeout_claim any = {.due_max   = SUITE_NOW,
                              .count_max = 10,
                              .owner     = suite_session_id(71),
                              .now       = SUITE_NOW,
                              .lease     = SUITE_LEASE};
    READ_ROWS(s, pawl_store_timeout_claim(a, &any, s->arena, &rows, &s->error), rows);
    expect_numbers(s, &rows, (const unsigned[]){4, 3, 2}, 3);
}

/* Timeouts with the same time are listed by id, whatever their destinations. */
static void a_list_of_timeouts_covers_all_destinations(suite *s)
{
    static const char *const to[]    = {"parcel", "orders", "mail", "orders", "mail"};
    static const int         due[]   = {5, 5, 1, 2, 5};
    static const unsigned    order[] = {3, 4, 1, 2, 5};
    pawl_store              *a       = suite_open(s);
    pawl_timeout_rows        rows;
    for (unsigned i = 0; i < 5; i++)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(i + 1),
                   .destination = pawl_text_of(to[i]), .due = SUITE_NOW + due[i], .is_new = true);
    for (size_t max = 0; max <= 6; max++) {
        READ_ROWS(
            s, pawl_store_timeout_list(a, (pawl_saga_id){{{0}}}, max, s->arena, &rows, &s->error),
            rows);
        expect_numbers(s, &rows, order, max == 0 || max > 5 ? 5 : max);
    }
}

static void timeouts_are_listed_by_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 1; i <= 4; i++)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(i),
                   .saga_id = suite_saga_id(i % 2 + 1), .saga_type = TEXT("Order"),
                   .name = suite_printf(s, "t-%u", i), .destination = TEXT("orders"),
                   .due = SUITE_NOW - i);
    suite_claim_timeouts(s, a, 70, SUITE_NOW, 1);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    expect_numbers(s, &rows, (const unsigned[]){4, 3, 2, 1}, 4);
    READ_ROWS(s, pawl_store_timeout_list(a, suite_saga_id(2), 0, s->arena, &rows, &s->error), rows);
    expect_numbers(s, &rows, (const unsigned[]){3, 1}, 2);
    READ_ROWS(s, pawl_store_timeout_list(a, suite_saga_id(2), 1, s->arena, &rows, &s->error), rows);
    expect_numbers(s, &rows, (const unsigned[]){3}, 1);
}

/* Pages of every size, for all timeouts and for one saga; ids are in the opposite order of setting. */
static void a_page_of_timeouts_begins_after_the_given_timeout(suite *s)
{
    static const int      due[]       = {2, 1, 1, 2, 1, 3, 1};
    static const unsigned order[2][7] = {{2, 3, 5, 7, 1, 4, 6}, {3, 5, 7, 1}};
    pawl_store           *a           = suite_open(s);
    for (unsigned i = 7; i >= 1; i--)
        COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(i),
                   .saga_id = suite_saga_id(i % 2 == 1 ? 1 : 2), .saga_type = TEXT("Order"),
                   .name        = i < 5 ? suite_printf(s, "t-%u", i) : TEXT(""),
                   .destination = i % 3 == 0 ? TEXT("parcel") : TEXT("orders"),
                   .due = SUITE_NOW + due[i - 1], .is_new = true);
    for (size_t max = 1; max <= 14; max++) {
        pawl_timeout_query query = {.count_max = max % 7 + 1};
        size_t             count = max <= 7 ? 7 : 4, at = 0;
        pawl_timeout_rows  rows;
        if (max > 7)
            query.saga_id = suite_saga_id(1);
        do {
            READ_ROWS(s, pawl_store_timeout_find(a, &query, s->arena, &rows, &s->error), rows);
            size_t left = count - at;
            expect_numbers(s, &rows, order[max > 7] + at,
                           left < query.count_max ? left : query.count_max);
            at += rows.count;
            query.after = rows.count > 0 ? &rows.items[rows.count - 1] : NULL;
        } while (query.after != NULL);
        EXPECT_EQ(s, at, count);
    }
}

/* ---- For elsewhere ------------------------------------------------------ */

static void set_for(suite *s, pawl_store *store, unsigned number, const char *destination,
                    pawl_time due)
{
    COMMIT_ONE(s, store, timeout_set, .id = suite_timeout_id(number), .saga_type = TEXT("Order"),
               .destination = pawl_text_of(destination), .due = due, .is_new = true);
}

static void subscribe(suite *s, pawl_store *store, const char *queue, bool is_remove)
{
    COMMIT_ONE(s, store, subscription_set, .is_remove = is_remove, .type = TEXT("Placed"),
               .queue = pawl_text_of(queue));
}

/* Destinations, and how long after SUITE_NOW the first timeout of each is due: "a:0 b:-5". */
static void expect_foreign(suite *s, pawl_store *store, const char *own, pawl_time now,
                           const char *expected)
{
    pawl_foreign_rows rows = {.count = 0};
    pawl_text         seen = TEXT("");
    READ_ROWS(s,
              pawl_store_timeout_foreign(store, pawl_text_of(own), now, s->arena, &rows, &s->error),
              rows);
    for (size_t i = 0; i < rows.count; i++)
        seen = suite_printf(s, "%s%s%s:%lld", seen.data, i > 0 ? " " : "",
                            rows.items[i].destination.data,
                            (long long)(rows.items[i].due - SUITE_NOW));
    EXPECT_TEXT(s, seen, pawl_text_of(expected));
}

static void timeout_destinations_that_no_endpoint_handles_are_listed(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    expect_foreign(s, a, "", SUITE_NOW, "");
    subscribe(s, a, "orders", false);
    set_for(s, a, 1, "orders", SUITE_NOW - 9);
    set_for(s, a, 2, "zoo", SUITE_NOW + 7);
    set_for(s, a, 3, "zoo", SUITE_NOW + 5);
    set_for(s, a, 4, "Zoo", SUITE_NOW - 5);
    set_for(s, a, 5, "zoological", SUITE_NOW);
    expect_foreign(s, b, "", SUITE_NOW, "Zoo:-5 zoo:5 zoological:0");
    expect_foreign(s, b, "orders", SUITE_NOW, "Zoo:-5 orders:-9 zoo:5 zoological:0");
    expect_foreign(s, b, "nowhere", SUITE_NOW, "Zoo:-5 zoo:5 zoological:0");
    subscribe(s, b, "zoo", false);
    expect_foreign(s, a, "", SUITE_NOW, "Zoo:-5 zoological:0");
    subscribe(s, b, "orders", true);
    expect_foreign(s, a, "", SUITE_NOW, "Zoo:-5 orders:-9 zoological:0");
}

static void a_timeout_destination_is_listed_with_its_earliest_unleased_timeout(suite *s)
{
    pawl_store              *a = suite_open(s), *b = suite_open(s);
    pawl_timeout_rows        rows;
    const pawl_timeout_claim any = {.due_max = SUITE_NOW,
                                    .owner   = suite_session_id(70),
                                    .now     = SUITE_NOW,
                                    .lease   = SUITE_LEASE};
    set_for(s, a, 1, "zoo", SUITE_NOW - 5);
    set_for(s, a, 2, "zoo", SUITE_NOW + 5);
    set_for(s, a, 3, "abroad", SUITE_NOW - 1);
    READ_ROWS(s, pawl_store_timeout_claim(a, &any, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 2);
    expect_foreign(s, b, "", SUITE_NOW + SUITE_LEASE - 1, "zoo:5");
    expect_foreign(s, b, "", SUITE_NOW + SUITE_LEASE, "abroad:-1 zoo:-5");
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_RELEASE, .id = suite_timeout_id(3));
    expect_foreign(s, b, "", SUITE_NOW, "abroad:-1 zoo:5");
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_REMOVE, .id = suite_timeout_id(3));
    COMMIT_ONE(s, a, timeout_settle, .action = PAWL_TIMEOUT_REMOVE, .id = suite_timeout_id(2));
    expect_foreign(s, b, "", SUITE_NOW, "");
}

static const suite_case cases[] = {
    {"T1 a timeout is claimed as it was set", a_timeout_is_claimed_as_it_was_set},
    {"T4 T5 only due timeouts are claimed, the earliest first",
     only_due_timeouts_are_claimed_the_earliest_first},
    {"T3 T14 a claim without a count uses the default, and one reap frees all leases",
     a_claim_without_a_count_uses_the_default_and_one_reap_frees_all_leases},
    {"T6 claiming a timeout leases it", claiming_a_timeout_leases_it},
    {"T7 two claims never return the same timeout", two_claims_never_return_the_same_timeout},
    {"T5 timeouts of the same due time are claimed by id",
     timeouts_of_the_same_due_time_are_claimed_by_id},
    {"T7 T8 a claim skips leased timeouts and takes those whose lease has expired",
     a_claim_skips_leased_timeouts_and_takes_those_whose_lease_has_expired},
    {"T8 a timeout's lease ends at its expiry time", a_timeouts_lease_ends_at_its_expiry_time},
    {"T9 T11 a timeout is removed only by the owner of its lease",
     a_timeout_is_removed_only_by_the_owner_of_its_lease},
    {"T10 an expired lease of a timeout is valid until it is claimed or reaped",
     an_expired_lease_of_a_timeout_is_valid_until_it_is_claimed_or_reaped},
    {"T12 a timeout is removed unconditionally if no owner is given",
     a_timeout_is_removed_unconditionally_if_no_owner_is_given},
    {"T13 a released timeout can be claimed at once", a_released_timeout_can_be_claimed_at_once},
    {"E13 a retried timeout waits for its new due time and keeps its generation",
     a_retried_timeout_waits_for_its_new_due_time_and_keeps_its_generation},
    {"T14 reap frees only timeouts whose lease has expired",
     reap_frees_only_timeouts_whose_lease_has_expired},
    {"T17 a claim of timeouts returns the next due time",
     a_claim_of_timeouts_returns_the_next_due_time},
    {"E15 the next due time leaves out leased timeouts",
     the_next_due_time_leaves_out_leased_timeouts},
    {"T1 a claim returns timeouts of its destination, or of all if none is named",
     a_claim_returns_timeouts_of_its_destination_or_of_all_if_none_is_named},
    {"timeouts are listed by due time", timeouts_are_listed_by_due_time},
    {"a page of timeouts begins after the given timeout",
     a_page_of_timeouts_begins_after_the_given_timeout},
    {"a list of timeouts covers all destinations", a_list_of_timeouts_covers_all_destinations},
    {"E13 timeout destinations that no endpoint handles are listed",
     timeout_destinations_that_no_endpoint_handles_are_listed},
    {"E13 a timeout destination is listed with its earliest unleased timeout",
     a_timeout_destination_is_listed_with_its_earliest_unleased_timeout},
};

const suite_cases cases_timeout = SUITE_CASES("timeout", cases);
