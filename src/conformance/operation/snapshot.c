/* snapshot.c - snapshots of aggregators through the public operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

#define BILLS TEXT("Bills")
#define LEASE PAWL_MINUTES(5)
#define LARGE 5000 /* more than any database can bind in one such statement */

static const pawl_text known[] = {PAWL_TEXT_INIT("PlaceOrder"), PAWL_TEXT_INIT("CancelOrder")};

static void insert_of(suite *s, pawl_store *store, const char *key, const char *type,
                      const char *body)
{
    pawl_aggregator_row row = {
        .name = BILLS, .key = pawl_text_of(key), .message = suite_message(s, pawl_text_of(key))};
    row.message.type = pawl_text_of(type);
    row.message.body = pawl_text_of(body);
    EXPECT_OK(s, pawl_store_aggregator_insert(store, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error));
}

static void insert(suite *s, pawl_store *store, const char *key)
{
    insert_of(s, store, key, "PlaceOrder", "{}");
}

static pawl_aggregator_leased_batch_options options_of(void)
{
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    options.partition                            = BILLS;
    options.types                                = known;
    options.type_count                           = 2;
    return options;
}

static pawl_aggregator_leased_batch take_with(suite *s, pawl_store *store,
                                              const pawl_aggregator_leased_batch_options *options,
                                              pawl_time                                   now)
{
    pawl_aggregator_leased_batch leased = {.count = 9, .unresolved = -1};
    EXPECT_OK(
        s, pawl_store_aggregator_leased_batch(store, options, now, s->arena, &leased, &s->error));
    return leased;
}

static pawl_aggregator_leased_batch take(suite *s, pawl_store *store, pawl_time now)
{
    pawl_aggregator_leased_batch_options options = options_of();
    return take_with(s, store, &options, now);
}

static pawl_code try_remove(suite *s, pawl_store *store, const pawl_aggregator_leased_batch *leased)
{
    return pawl_store_aggregator_remove_leased_batch(store, leased, SUITE_NOW, &s->error);
}

static int64_t count(suite *s, pawl_store *store)
{
    int64_t all = -1;
    EXPECT_OK(s, pawl_store_aggregator_count(store, BILLS, &all, &s->error));
    return all;
}

/* ---- Cases -------------------------------------------------------------- */

static void a_leased_batch_leases_the_messages_that_it_returns(suite *s)
{
    pawl_store                          *a = suite_open(s), *b = suite_open(s);
    pawl_aggregator_leased_batch_options options = options_of();
    char                                 name[]  = "Bills";
    options.partition                            = pawl_text_of(name);
    insert(s, a, "key-0");
    insert(s, a, "key-1");
    pawl_aggregator_leased_batch leased = take_with(s, a, &options, SUITE_NOW);
    memset(name, 'x', sizeof name - 1); /* the batch must outlive the caller's text */
    EXPECT_EQ(s, leased.count, 2);
    EXPECT_EQ(s, leased.unresolved, 0);
    EXPECT_TEXT(s, leased.partition, BILLS);
    EXPECT(s, !pawl_uuid_is_zero(leased.session.uuid));
    pawl_leased_batch rows = suite_rows(s, b, BILLS);
    for (size_t i = 0; i < 2; i++) {
        EXPECT_EQ(s, leased.ids[i], rows.items[i].id);
        EXPECT_EQ(s, leased.rows[i].id, rows.items[i].id);
        EXPECT_MESSAGE(s, &leased.rows[i].message, &rows.items[i].message);
        EXPECT_EQ(s, rows.items[i].lease_expires, SUITE_NOW + LEASE);
        EXPECT_EQ(s, pawl_uuid_compare(rows.items[i].session.uuid, leased.session.uuid), 0);
    }
}

static void messages_of_a_leased_batch_are_in_no_other_until_the_lease_ends(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "key-0");
    pawl_aggregator_leased_batch first = take(s, a, SUITE_NOW);
    EXPECT_EQ(s, take(s, a, SUITE_NOW).count, 0);
    EXPECT_EQ(s, take(s, b, SUITE_NOW + LEASE - 1).count, 0);
    pawl_aggregator_leased_batch second = take(s, b, SUITE_NOW + LEASE);
    EXPECT_EQ(s, second.count, 1);
    EXPECT(s, pawl_uuid_compare(first.session.uuid, second.session.uuid) != 0);
    pawl_aggregator_leased_batch_options short_lease = options_of();
    short_lease.lease                                = 7;
    insert(s, a, "key-1");
    EXPECT_EQ(s, take_with(s, a, &short_lease, SUITE_NOW).count, 1);
    EXPECT_EQ(s, take(s, b, SUITE_NOW + 6).count, 0);
    EXPECT_EQ(s, take(s, b, SUITE_NOW + 7).count, 1);
}

static void a_leased_batch_needs_a_positive_size_and_lease_time(suite *s)
{
    static const int64_t         bad[] = {0, -1, INT64_MIN};
    pawl_store                  *a     = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert(s, a, "key-0");
    for (size_t i = 0; i < 3; i++) {
        pawl_aggregator_leased_batch_options options = options_of();
        options.lease                                = bad[i];
        EXPECT_CODE(s,
                    pawl_store_aggregator_leased_batch(a, &options, SUITE_NOW, s->arena, &leased,
                                                       &s->error),
                    PAWL_EINVAL);
        options      = options_of();
        options.size = bad[i];
        EXPECT_CODE(s,
                    pawl_store_aggregator_leased_batch(a, &options, SUITE_NOW, s->arena, &leased,
                                                       &s->error),
                    PAWL_EINVAL);
        EXPECT_EQ(s, leased.count, 0);
    }
    EXPECT(s, pawl_uuid_is_zero(suite_rows(s, a, BILLS).items[0].session.uuid));
}

/* A decoder that accepts bodies beginning with "{". */
static bool is_object(const pawl_message *message, void *context)
{
    ++*(unsigned *)context;
    return message->body.size > 0 && message->body.data[0] == '{';
}

static void messages_that_cannot_be_decoded_are_counted_and_stay(suite *s)
{
    pawl_store                          *a = suite_open(s), *b = suite_open(s);
    unsigned                             calls   = 0;
    pawl_aggregator_leased_batch_options options = options_of();
    options.can_decode                           = is_object;
    options.context                              = &calls;
    insert_of(s, a, "key-0", "PlaceOrder", "not json");
    insert_of(s, a, "key-1", "Unheard", "{}");
    insert_of(s, a, "key-2", "PlaceOrder", "{}");
    insert_of(s, a, "key-3", "placeorder", "{}");
    insert_of(s, a, "key-4", "CancelOrder", "{}");
    pawl_aggregator_leased_batch leased = take_with(s, a, &options, SUITE_NOW);
    EXPECT_EQ(s, calls, 3);
    EXPECT_EQ(s, leased.count, 2);
    EXPECT_EQ(s, leased.unresolved, 3);
    EXPECT_TEXT(s, leased.rows[0].key, TEXT("key-2"));
    EXPECT_TEXT(s, leased.rows[1].key, TEXT("key-4"));
    EXPECT_OK(s, try_remove(s, a, &leased));
    pawl_leased_batch rows = suite_rows(s, b, BILLS);
    EXPECT_EQ(s, rows.count, 3);
    EXPECT_TEXT(s, rows.items[0].key, TEXT("key-0"));
    /* Rows that are left out stay free for a program that can decode them. */
    for (size_t i = 0; i < 3; i++)
        EXPECT(s, pawl_uuid_is_zero(rows.items[i].session.uuid));
    pawl_aggregator_leased_batch none = take_with(s, b, &options, SUITE_NOW);
    EXPECT_EQ(s, none.count, 0);
    EXPECT_EQ(s, none.unresolved, 3);
    leased = take(s, b, SUITE_NOW);
    EXPECT_EQ(s, leased.count, 1);
    EXPECT_EQ(s, leased.unresolved, 2);
}

static void messages_that_cannot_be_decoded_do_not_fill_a_leased_batch(suite *s)
{
    pawl_store                          *a       = suite_open(s);
    unsigned                             calls   = 0;
    pawl_aggregator_leased_batch_options options = options_of();
    options.can_decode                           = is_object;
    options.context                              = &calls;
    options.size                                 = 2;
    for (unsigned i = 0; i < 11; i++)
        insert_of(s, a, suite_printf(s, "key-%u", i).data, "PlaceOrder",
                  i < 5 || i == 6 ? "bad" : "{}");
    pawl_aggregator_leased_batch first = take_with(s, a, &options, SUITE_NOW);
    EXPECT_EQ(s, first.count, 2);
    EXPECT_EQ(s, first.unresolved, 6);
    EXPECT_TEXT(s, first.rows[0].key, TEXT("key-5"));
    EXPECT_TEXT(s, first.rows[1].key, TEXT("key-7"));
    EXPECT_EQ(s, first.ids[1], first.rows[1].id);
    pawl_aggregator_leased_batch second = take_with(s, a, &options, SUITE_NOW);
    EXPECT_EQ(s, second.count, 2);
    EXPECT_TEXT(s, second.rows[0].key, TEXT("key-8"));
    EXPECT_OK(s, try_remove(s, a, &second));
    EXPECT_OK(s, try_remove(s, a, &first));
    EXPECT_EQ(s, count(s, a), 7);
}

static void removing_a_leased_batch_deletes_its_messages_and_no_others(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "key-0");
    insert(s, a, "key-1");
    pawl_aggregator_leased_batch leased = take(s, a, SUITE_NOW);
    insert(s, b, "later");
    EXPECT_OK(s, try_remove(s, a, &leased));
    pawl_aggregator_leased_batch next = take(s, b, SUITE_NOW);
    EXPECT_EQ(s, next.count, 1);
    EXPECT_TEXT(s, next.rows[0].key, TEXT("later"));
    pawl_aggregator_leased_batch empty = take(s, a, SUITE_NOW);
    EXPECT_EQ(s, empty.count, 0);
    EXPECT_OK(s, try_remove(s, a, &empty));
    EXPECT_EQ(s, count(s, a), 1);
}

static void a_leased_batch_removes_nothing_after_another_session_leased_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "key-0");
    insert(s, a, "key-1");
    pawl_aggregator_leased_batch first  = take(s, a, SUITE_NOW);
    pawl_aggregator_leased_batch second = take(s, b, SUITE_NOW + LEASE);
    EXPECT_EQ(s, second.count, 2);
    EXPECT_CODE(s, try_remove(s, a, &first), PAWL_ECONFLICT);
    EXPECT_EQ(s, count(s, a), 2);
    /* After the first row is removed, a removal of both is refused, and the second row stays. */
    pawl_aggregator_leased_batch half = second;
    half.count                        = 1;
    EXPECT_OK(s, try_remove(s, b, &half));
    EXPECT_EQ(s, count(s, a), 1);
    EXPECT_CODE(s, try_remove(s, b, &second), PAWL_ECONFLICT);
    EXPECT_EQ(s, count(s, a), 1);
    pawl_aggregator_leased_batch nobody = second;
    nobody.session                      = (pawl_session_id){{{0}}};
    EXPECT_CODE(s, try_remove(s, b, &nobody), PAWL_EINVAL);
}

static void messages_can_be_leased_again_after_a_refused_removal(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, "key-0");
    insert(s, a, "key-1");
    pawl_aggregator_leased_batch leased = take(s, a, SUITE_NOW);
    leased.ids[1] += 1000; /* no such row */
    EXPECT_CODE(s, try_remove(s, a, &leased), PAWL_ECONFLICT);
    EXPECT_EQ(s, count(s, a), 2);
    EXPECT_EQ(s, take(s, a, SUITE_NOW + LEASE).count, 2);
}

static void an_expired_leased_batch_can_be_removed_if_nobody_leased_it_since(suite *s)
{
    pawl_store *a = suite_open(s);
    insert(s, a, "key-0");
    pawl_aggregator_leased_batch leased = take(s, a, SUITE_NOW);
    EXPECT_OK(
        s, pawl_store_aggregator_remove_leased_batch(a, &leased, SUITE_NOW + 3 * LEASE, &s->error));
    EXPECT_EQ(s, count(s, a), 0);
}

static void releasing_a_leased_batch_frees_its_messages(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "key-0");
    pawl_aggregator_leased_batch first = take(s, a, SUITE_NOW);
    insert(s, a, "key-1");
    pawl_aggregator_leased_batch second = take(s, b, SUITE_NOW);
    EXPECT_OK(s, pawl_store_aggregator_release_leased_batch(a, &first, SUITE_NOW, &s->error));
    pawl_aggregator_leased_batch third = take(s, b, SUITE_NOW);
    EXPECT_EQ(s, third.count, 1);
    EXPECT_TEXT(s, third.rows[0].key, TEXT("key-0"));
    EXPECT_OK(s, pawl_store_aggregator_release_leased_batch(a, &first, SUITE_NOW, &s->error));
    EXPECT_OK(s, try_remove(s, b, &second));
    EXPECT_OK(s, try_remove(s, b, &third));
    EXPECT_EQ(s, count(s, a), 0);
}

static void a_large_leased_batch_is_removed_completely_or_not_at_all(suite *s)
{
    pawl_store *a = suite_open(s);
    for (unsigned i = 0; i < LARGE; i += 1000) {
        suite_set set = suite_changes(s);
        for (unsigned j = i; j < i + 1000; j++) {
            pawl_text key = suite_printf(s, "key-%u", j);
            ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = key,
                .message = suite_message(s, key), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
        }
        COMMIT(&set, a);
    }
    pawl_aggregator_leased_batch leased = take(s, a, SUITE_NOW);
    EXPECT_EQ(s, leased.count, LARGE);
    int64_t last = leased.ids[LARGE - 1];
    leased.ids[LARGE - 1] += 1000;
    EXPECT_CODE(s, try_remove(s, a, &leased), PAWL_ECONFLICT);
    EXPECT_EQ(s, count(s, a), LARGE);
    leased.ids[LARGE - 1] = last;
    EXPECT_OK(s, try_remove(s, a, &leased));
    EXPECT_EQ(s, count(s, a), 0);
}

static const suite_case cases[] = {
    {"A9 A14 A15 a leased batch leases the messages that it returns",
     a_leased_batch_leases_the_messages_that_it_returns},
    {"A14 A15 A16 messages of a leased batch are in no other until the lease ends",
     messages_of_a_leased_batch_are_in_no_other_until_the_lease_ends},
    {"A14 a leased batch needs a positive size and lease time",
     a_leased_batch_needs_a_positive_size_and_lease_time},
    {"A9 A10 messages that cannot be decoded are counted and stay",
     messages_that_cannot_be_decoded_are_counted_and_stay},
    {"A10 messages that cannot be decoded do not fill a leased batch",
     messages_that_cannot_be_decoded_do_not_fill_a_leased_batch},
    {"A11 removing a leased batch deletes its messages and no others",
     removing_a_leased_batch_deletes_its_messages_and_no_others},
    {"A12 A27 a leased batch removes nothing after another session leased it",
     a_leased_batch_removes_nothing_after_another_session_leased_it},
    {"A12 messages can be leased again after a refused removal",
     messages_can_be_leased_again_after_a_refused_removal},
    {"A27 an expired leased batch can be removed if nobody leased it since",
     an_expired_leased_batch_can_be_removed_if_nobody_leased_it_since},
    {"A15 releasing a leased batch frees its messages",
     releasing_a_leased_batch_frees_its_messages},
    {"A12 A13 a large leased batch is removed completely or not at all",
     a_large_leased_batch_is_removed_completely_or_not_at_all},
};

const suite_cases cases_op_snapshot = SUITE_CASES("operation snapshot", cases);
