/* timeout.c - timeouts through the public operations: insert, batch,
 * remove, release, reap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <stdlib.h>
#include <time.h>

#define MINUTE PAWL_MINUTES(1)

static pawl_timeout_row timeout_of(unsigned number, pawl_time due)
{
    return (pawl_timeout_row){
        .id = suite_timeout_id(number), .destination = PAWL_TEXT("orders"), .due = due};
}

static void insert(suite *s, pawl_store *store, unsigned number, pawl_time due)
{
    pawl_timeout_row timeout = timeout_of(number, due);
    EXPECT_OK(s, pawl_store_timeout_insert(store, &timeout, SUITE_NOW, &s->error));
}

static pawl_timeout_rows batch(suite *s, pawl_store *store, unsigned owner, pawl_time now,
                               int64_t size)
{
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    pawl_timeout_rows          rows    = {0};
    options.destination                = TEXT("orders");
    options.owner                      = suite_session_id(owner);
    options.size                       = size;
    READ_ROWS(s, pawl_store_timeout_batch(store, &options, now, s->arena, &rows, &s->error), rows);
    return rows;
}

static void expect_numbers(suite *s, const pawl_timeout_rows *rows, const unsigned *numbers,
                           size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_EQ(s, pawl_uuid_compare(rows->items[i].id.uuid, suite_uuid(numbers[i])), 0);
}

/* NULL: no owner. */
static pawl_code try_remove(suite *s, pawl_store *store, unsigned number,
                            const pawl_session_id *owner)
{
    return pawl_store_timeout_remove(store, suite_timeout_id(number), owner, SUITE_NOW, &s->error);
}

static pawl_code try_release(suite *s, pawl_store *store, unsigned number,
                             const pawl_session_id *owner)
{
    return pawl_store_timeout_release(store, suite_timeout_id(number), owner, SUITE_NOW, &s->error);
}

#define OWNER(number) (&(const pawl_session_id){suite_uuid(number)})

static int64_t reap(suite *s, pawl_store *store, pawl_time now)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_timeout_reap(store, now, &count, &s->error));
    return count;
}

/* ---- Cases -------------------------------------------------------------- */

static void a_timeout_is_claimed_as_it_was_inserted(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open(s);
    pawl_timeout_row given = timeout_of(1, SUITE_NOW - 3);
    given.saga_id          = suite_saga_id(9);
    given.saga_type        = TEXT("Order");
    given.name             = TEXT("payment");
    given.headers          = TEXT("{\"k\":\"v\",\"quote\":\"\\\"\"}");
    given.correlation_id   = TEXT("conversation-1");
    EXPECT_OK(s, pawl_store_timeout_insert(a, &given, SUITE_NOW, &s->error));
    pawl_timeout_rows rows = batch(s, b, 70, SUITE_NOW, PAWL_SIZE_DEFAULT);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    pawl_timeout_row *row = &rows.items[0];
    EXPECT_EQ(s, pawl_uuid_compare(row->saga_id.uuid, suite_uuid(9)), 0);
    EXPECT_EQ(s, row->due, SUITE_NOW - 3);
    EXPECT_TEXT(s, row->saga_type, given.saga_type);
    EXPECT_TEXT(s, row->name, given.name);
    EXPECT_TEXT(s, row->destination, given.destination);
    EXPECT_TEXT(s, row->headers, given.headers);
    EXPECT_TEXT(s, row->correlation_id, given.correlation_id);
}

static void a_timeout_with_a_known_id_is_refused_and_the_first_stays(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, 1, SUITE_NOW);
    pawl_timeout_row second = timeout_of(1, SUITE_NOW - 9);
    second.destination      = TEXT("elsewhere");
    EXPECT_CODE(s, pawl_store_timeout_insert(b, &second, SUITE_NOW, &s->error), PAWL_EDUPLICATE);
    pawl_timeout_rows rows = suite_timeouts(s, b);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW);
    EXPECT_TEXT(s, rows.items[0].destination, TEXT("orders"));
    second.id = (pawl_timeout_id){{{0}}};
    EXPECT_CODE(s, pawl_store_timeout_insert(b, &second, SUITE_NOW, &s->error), PAWL_EINVAL);
}

static void only_due_timeouts_are_claimed_the_earliest_first(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, 1, SUITE_NOW + 1);
    insert(s, a, 2, SUITE_NOW);
    insert(s, a, 4, SUITE_NOW - 20);
    insert(s, a, 3, SUITE_NOW - 20);
    insert(s, a, 5, SUITE_NOW - 30);
    pawl_timeout_rows rows = batch(s, a, 70, SUITE_NOW, 2);
    expect_numbers(s, &rows, (const unsigned[]){5, 3}, 2);
    rows = batch(s, a, 70, SUITE_NOW, PAWL_SIZE_DEFAULT);
    expect_numbers(s, &rows, (const unsigned[]){4, 2}, 2);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, PAWL_SIZE_DEFAULT).count, 0);
    rows = batch(s, a, 70, SUITE_NOW + 1, 1);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
}

static void expect_batch_refused(suite *s, pawl_store *store,
                                 const pawl_timeout_batch_options *options)
{
    pawl_timeout_rows rows = {.count = 9};
    EXPECT_CODE(s, pawl_store_timeout_batch(store, options, SUITE_NOW, s->arena, &rows, &s->error),
                PAWL_EINVAL);
    EXPECT_EQ(s, rows.count, 0);
}

static void a_batch_of_timeouts_needs_a_positive_size_and_lease_time(suite *s)
{
    static const int64_t       bad[]   = {0, -1, INT64_MIN};
    pawl_store                *a       = suite_open(s);
    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    insert(s, a, 1, SUITE_NOW);
    expect_batch_refused(s, a, &options); /* no owner */
    options.owner = suite_session_id(70);
    for (size_t i = 0; i < 3; i++) {
        options.size = bad[i];
        expect_batch_refused(s, a, &options);
    }
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("size")));
    options.size = 1;
    for (size_t i = 0; i < 3; i++) {
        options.lease = bad[i];
        expect_batch_refused(s, a, &options);
    }
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("lease")));
    EXPECT(s, pawl_uuid_is_zero(suite_timeouts(s, a).items[0].owner.uuid));
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 1).count, 1);
}

static void a_batch_of_timeouts_leases_them_for_the_lease_time(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, 1, SUITE_NOW);
    pawl_timeout_row row = batch(s, a, 70, SUITE_NOW, 10).items[0];
    EXPECT_EQ(s, pawl_uuid_compare(row.owner.uuid, suite_uuid(70)), 0);
    EXPECT_EQ(s, row.lease_expires, SUITE_NOW + 5 * MINUTE);
    EXPECT_EQ(s, suite_timeouts(s, b).items[0].lease_expires, SUITE_NOW + 5 * MINUTE);
    EXPECT_EQ(s, batch(s, b, 71, SUITE_NOW + 5 * MINUTE - 1, 10).count, 0);
    pawl_timeout_rows again = batch(s, b, 71, SUITE_NOW + 5 * MINUTE, 10);
    expect_numbers(s, &again, (const unsigned[]){1}, 1);
    EXPECT_EQ(s, pawl_uuid_compare(again.items[0].owner.uuid, suite_uuid(71)), 0);
    EXPECT_EQ(s, again.items[0].lease_expires, SUITE_NOW + 10 * MINUTE);

    pawl_timeout_batch_options options = PAWL_TIMEOUT_BATCH_OPTIONS_INIT;
    options.owner                      = suite_session_id(72);
    options.lease                      = 7;
    insert(s, a, 2, SUITE_NOW);
    READ_ROWS(s, pawl_store_timeout_batch(a, &options, SUITE_NOW, s->arena, &again, &s->error),
              again);
    EXPECT_EQ(s, again.items[0].lease_expires, SUITE_NOW + 7);
}

static void two_batches_never_contain_the_same_timeout(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    bool        seen[21] = {false};
    unsigned    total    = 0;
    for (unsigned i = 1; i <= 20; i++)
        insert(s, a, i, SUITE_NOW - i);
    for (int round = 0; round < 4; round++) {
        pawl_timeout_rows rows = batch(s, round % 2 == 0 ? a : b, 70 + round % 2, SUITE_NOW, 6);
        for (size_t i = 0; i < rows.count; i++, total++) {
            unsigned number = rows.items[i].id.uuid.bytes[15];
            EXPECT(s, number <= 20 && !seen[number]);
            seen[number] = true;
        }
    }
    EXPECT_EQ(s, total, 20);
}

static void a_timeout_is_removed_only_by_the_owner_of_its_lease(suite *s)
{
    pawl_store           *a = suite_open(s), *b = suite_open(s);
    const pawl_session_id zero = {{{0}}};
    insert(s, a, 1, SUITE_NOW);
    EXPECT_CODE(s, try_remove(s, a, 1, &zero), PAWL_EINVAL);
    EXPECT_CODE(s, try_remove(s, a, 1, OWNER(70)), PAWL_EGONE);
    batch(s, a, 70, SUITE_NOW, 1);
    EXPECT_CODE(s, try_remove(s, b, 1, OWNER(71)), PAWL_EGONE);
    EXPECT_EQ(s, pawl_code_retry(s->error.code), PAWL_RETRY_RELOAD);
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[0].owner.uuid, suite_uuid(70)), 0);
    EXPECT_OK(s, try_remove(s, b, 1, OWNER(70))); /* the owner decides, not the handle */
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
    EXPECT_CODE(s, try_remove(s, a, 1, OWNER(70)), PAWL_EGONE);
}

static void an_expired_lease_of_a_timeout_is_valid_until_it_is_claimed_or_reaped(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 1; i <= 3; i++)
        insert(s, a, i, SUITE_NOW - 10 + i);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 10).count, 3);
    pawl_time late = SUITE_NOW + 7 * MINUTE;
    EXPECT_OK(s, pawl_store_timeout_remove(a, suite_timeout_id(1), OWNER(70), late, &s->error));
    EXPECT_EQ(s, batch(s, b, 71, late, 1).count, 1);
    EXPECT_CODE(s, try_remove(s, a, 2, OWNER(70)), PAWL_EGONE);
    EXPECT_EQ(s, reap(s, b, late), 1);
    EXPECT_CODE(s, try_remove(s, a, 3, OWNER(70)), PAWL_EGONE);
    EXPECT_EQ(s, suite_timeouts(s, a).count, 2);
}

static void a_timeout_is_removed_unconditionally_if_no_owner_is_given(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, 1, SUITE_NOW);
    insert(s, a, 2, SUITE_NOW + 5);
    batch(s, a, 70, SUITE_NOW, 1);
    EXPECT_OK(s, try_remove(s, b, 1, NULL));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 1);
    EXPECT_OK(s, try_remove(s, b, 1, NULL));
    EXPECT_OK(s, try_remove(s, b, 2, NULL));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

static void a_released_timeout_is_in_the_next_batch(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, 1, SUITE_NOW);
    batch(s, a, 70, SUITE_NOW, 1);
    EXPECT_CODE(s, try_release(s, b, 1, OWNER(71)), PAWL_EGONE);
    EXPECT_EQ(s, batch(s, b, 71, SUITE_NOW, 1).count, 0);
    EXPECT_OK(s, try_release(s, a, 1, OWNER(70)));
    pawl_timeout_row row = suite_timeouts(s, a).items[0];
    EXPECT(s, pawl_uuid_is_zero(row.owner.uuid));
    EXPECT_EQ(s, row.lease_expires, 0);
    EXPECT_EQ(s, row.due, SUITE_NOW);
    EXPECT_EQ(s, batch(s, b, 71, SUITE_NOW, 1).count, 1);
    EXPECT_OK(s, try_release(s, a, 1, NULL)); /* leased by any worker */
    EXPECT_EQ(s, batch(s, a, 72, SUITE_NOW, 1).count, 1);
    EXPECT_OK(s, try_release(s, a, 99, NULL));
    EXPECT_CODE(s, try_release(s, a, 99, OWNER(72)), PAWL_EGONE);
}

static void reap_frees_timeouts_whose_lease_has_expired_and_returns_their_number(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 1; i <= 3; i++)
        insert(s, a, i, SUITE_NOW - 10 + i);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 2).count, 2);
    EXPECT_EQ(s, batch(s, a, 71, SUITE_NOW + 1, 2).count, 1);
    EXPECT_EQ(s, reap(s, b, SUITE_NOW + 5 * MINUTE - 1), 0);
    EXPECT_EQ(s, reap(s, b, SUITE_NOW + 5 * MINUTE), 2);
    EXPECT_EQ(s, reap(s, b, SUITE_NOW + 5 * MINUTE), 0);
    pawl_timeout_rows rows = suite_timeouts(s, b);
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].owner.uuid));
    EXPECT(s, pawl_uuid_is_zero(rows.items[1].owner.uuid));
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[2].owner.uuid, suite_uuid(71)), 0);
    EXPECT_EQ(s, rows.items[2].lease_expires, SUITE_NOW + 1 + 5 * MINUTE);
}

static void a_batch_of_timeouts_returns_the_next_due_time(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 10).next_due, SUITE_NOW + MINUTE);
    insert(s, a, 1, SUITE_NOW + 30);
    insert(s, a, 2, SUITE_NOW + 20);
    insert(s, a, 3, SUITE_NOW - 1);
    insert(s, a, 4, SUITE_NOW - 2);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 1).next_due, SUITE_NOW - 1);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 1).next_due, SUITE_NOW + 20);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW + 20, 10).next_due, SUITE_NOW + 30);
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW + 30, 10).next_due, SUITE_NOW + 30 + MINUTE);
}

static void removing_a_timeout_leaves_its_saga_unchanged(suite *s)
{
    pawl_store      *a     = suite_open(s);
    pawl_timeout_row given = timeout_of(1, SUITE_NOW);
    given.saga_id          = suite_saga_id(1);
    given.saga_type        = TEXT("Order");
    suite_insert_order(s, a, 1, "order-1");
    EXPECT_OK(s, pawl_store_timeout_insert(a, &given, SUITE_NOW, &s->error));
    EXPECT_EQ(s, batch(s, a, 70, SUITE_NOW, 10).count, 1);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
    EXPECT_EQ(s, suite_saga_count(s, a, SUITE_ORDER), 1);
    EXPECT_OK(s, try_remove(s, a, 1, OWNER(70)));
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 1);
}

static void set_zone(const char *zone)
{
    if (zone != NULL)
        setenv("TZ", zone, 1);
    else
        unsetenv("TZ");
    tzset();
}

static void due_times_do_not_depend_on_the_local_time_zone(suite *s)
{
    const char *before = getenv("TZ");
    const char *kept   = before != NULL ? suite_printf(s, "%s", before).data : NULL;
    set_zone("UTC-14");
    pawl_store *a = suite_open(s);
    insert(s, a, 1, SUITE_NOW);
    insert(s, a, 2, SUITE_NOW + 1);
    set_zone("UTC+12");
    pawl_store       *b    = suite_open(s);
    pawl_timeout_rows rows = batch(s, b, 70, SUITE_NOW, 10);
    set_zone(kept);
    expect_numbers(s, &rows, (const unsigned[]){1}, 1);
    EXPECT_EQ(s, rows.items[0].due, SUITE_NOW);
    EXPECT_EQ(s, rows.next_due, SUITE_NOW + 1);
}

static void a_timeouts_headers_must_be_a_json_object_without_nul(suite *s)
{
    static const char *const wrong[] = {"no json", "[]", "{\"h\":\"a\\u0000b\"}"};
    pawl_store              *a       = suite_open(s);
    pawl_timeout_row         timeout = timeout_of(1, SUITE_NOW);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        timeout.headers = pawl_text_of(wrong[i]);
        EXPECT_CODE(s, pawl_store_timeout_insert(a, &timeout, SUITE_NOW, &s->error), PAWL_EINVAL);
        EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("timeout: headers: ")));
    }
    timeout.headers = TEXT("{\"h\":\"a\\\\u0000\"}"); /* a backslash */
    EXPECT_OK(s, pawl_store_timeout_insert(a, &timeout, SUITE_NOW, &s->error));
    pawl_timeout_rows rows = batch(s, a, 70, SUITE_NOW, 10);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].headers, timeout.headers);
}

static void a_handle_without_a_worker_gets_one_by_its_first_call(suite *s)
{
    pawl_store *a = suite_open_bare(s), *b = suite_open_bare(s);
    insert(s, a, 1, SUITE_NOW);
    EXPECT_EQ(s, batch(s, b, 70, SUITE_NOW, 10).count, 1); /* the first call is a batch */
    EXPECT_EQ(s, suite_stats_of(s, a, SUITE_NOW).workers, 2);
}

static const suite_case cases[] = {
    {"T1 a timeout is claimed as it was inserted", a_timeout_is_claimed_as_it_was_inserted},
    {"T1 a timeout's headers must be a JSON object without NUL",
     a_timeouts_headers_must_be_a_json_object_without_nul},
    {"T2 a timeout with a known id is refused, and the first stays",
     a_timeout_with_a_known_id_is_refused_and_the_first_stays},
    {"T3 T4 T5 only due timeouts are claimed, the earliest first",
     only_due_timeouts_are_claimed_the_earliest_first},
    {"T3 T15 a batch of timeouts needs a positive size and lease time",
     a_batch_of_timeouts_needs_a_positive_size_and_lease_time},
    {"T6 T8 a batch of timeouts leases them for the lease time",
     a_batch_of_timeouts_leases_them_for_the_lease_time},
    {"T7 two batches never contain the same timeout", two_batches_never_contain_the_same_timeout},
    {"T9 T11 T16 a timeout is removed only by the owner of its lease",
     a_timeout_is_removed_only_by_the_owner_of_its_lease},
    {"T10 an expired lease of a timeout is valid until it is claimed or reaped",
     an_expired_lease_of_a_timeout_is_valid_until_it_is_claimed_or_reaped},
    {"T12 a timeout is removed unconditionally if no owner is given",
     a_timeout_is_removed_unconditionally_if_no_owner_is_given},
    {"T13 T16 a released timeout is in the next batch", a_released_timeout_is_in_the_next_batch},
    {"T14 reap frees timeouts whose lease has expired and returns their number",
     reap_frees_timeouts_whose_lease_has_expired_and_returns_their_number},
    {"T17 a batch of timeouts returns the next due time",
     a_batch_of_timeouts_returns_the_next_due_time},
    {"T18 removing a timeout leaves its saga unchanged",
     removing_a_timeout_leaves_its_saga_unchanged},
    {"T19 due times do not depend on the local time zone",
     due_times_do_not_depend_on_the_local_time_zone},
    {"O32 a handle without a worker gets one by its first call",
     a_handle_without_a_worker_gets_one_by_its_first_call},
};

const suite_cases cases_op_timeout = SUITE_CASES("operation timeout", cases);
