/* aggregator.c - rows of aggregators through the public operations:
 * insert, get, count, remove.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

#define BILLS TEXT("Bills")
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const pawl_text known[] = {PAWL_TEXT_INIT("PlaceOrder"), PAWL_TEXT_INIT("CancelOrder")};

/* Inserts a row into `partition`; its message has this correlation id. */
static void insert_of(suite *s, pawl_store *store, const char *partition, const char *key,
                      const char *type, const char *correlation)
{
    pawl_aggregator_row row    = {.name      = BILLS,
                                  .partition = pawl_text_of(partition),
                                  .key       = pawl_text_of(key),
                                  .message   = suite_message(s, pawl_text_of(key))};
    row.message.type           = pawl_text_of(type);
    row.message.correlation_id = pawl_text_of(correlation);
    EXPECT_OK(s, pawl_store_aggregator_insert(store, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error));
}

static void insert(suite *s, pawl_store *store, const char *partition, const char *key)
{
    insert_of(s, store, partition, key, "PlaceOrder", "conversation-1");
}

static pawl_leased_batch get(suite *s, pawl_store *store, const char *partition)
{
    pawl_leased_batch rows = {.count = 9};
    READ_ROWS(s,
              pawl_store_aggregator_get(store, pawl_text_of(partition), s->arena, &rows, &s->error),
              rows);
    return rows;
}

static void expect_keys(suite *s, pawl_store *store, const char *const *keys, size_t count)
{
    pawl_leased_batch rows = get(s, store, "Bills");
    EXPECT_EQ(s, rows.count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_TEXT(s, rows.items[i].key, pawl_text_of(keys[i]));
}

static int64_t count(suite *s, pawl_store *store, const char *partition)
{
    int64_t all = -1;
    EXPECT_OK(s, pawl_store_aggregator_count(store, pawl_text_of(partition), &all, &s->error));
    return all;
}

static int64_t count_resolved(suite *s, pawl_store *store, const char *partition)
{
    int64_t resolved = -1;
    EXPECT_OK(s, pawl_store_aggregator_count_resolved(store, pawl_text_of(partition), known,
                                                      COUNT_OF(known), &resolved, &s->error));
    return resolved;
}

/* Leases all free rows for the session, and returns their number. */
static size_t take(suite *s, pawl_store *store, unsigned number,
                   pawl_aggregator_leased_batch *leased)
{
    pawl_aggregator_leased_batch_options options = PAWL_AGGREGATOR_LEASED_BATCH_OPTIONS_INIT;
    options.partition                            = BILLS;
    options.session                              = suite_session_id(number);
    options.types                                = known;
    options.type_count                           = COUNT_OF(known);
    EXPECT_OK(s, pawl_store_aggregator_leased_batch(store, &options, SUITE_NOW, s->arena, leased,
                                                    &s->error));
    return leased->count;
}

static pawl_code try_remove(suite *s, pawl_store *store, const char *partition,
                            const char *correlation)
{
    return pawl_store_aggregator_remove(store, pawl_text_of(partition), pawl_text_of(correlation),
                                        SUITE_NOW, &s->error);
}

/* ---- Cases -------------------------------------------------------------- */

static void a_message_inserted_into_an_aggregator_keeps_its_body_byte_for_byte(suite *s)
{
    pawl_store         *a = suite_open(s), *b = suite_open(s);
    pawl_aggregator_row row = {.name      = BILLS,
                               .partition = TEXT("Bills/7"),
                               .key       = TEXT("key-1"),
                               .message   = suite_message(s, TEXT("m-1"))};
    row.message.body        = suite_bytes(s, 300);
    EXPECT_EQ(s, count(s, a, "Bills/7"), 0);
    EXPECT_OK(s, pawl_store_aggregator_insert(a, &row, SUITE_NOW + 50, SUITE_NOW - 3, &s->error));
    EXPECT_EQ(s, count(s, b, "Bills/7"), 1);
    pawl_leased_batch rows = get(s, b, "Bills/7");
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &row.message);
    EXPECT_TEXT(s, rows.items[0].name, BILLS);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("Bills/7"));
    EXPECT_TEXT(s, rows.items[0].key, TEXT("key-1"));
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW - 3);
    pawl_flush_rows flushes = {0};
    READ_ROWS(s, pawl_store_flush_list(b, BILLS, SUITE_NOW + 50, 10, s->arena, &flushes, &s->error),
              flushes);
    EXPECT_EQ(s, flushes.count, 1);
    EXPECT_EQ(s, flushes.items[0].due, SUITE_NOW + 50);
}

static void an_aggregators_partition_and_key_have_defaults_long_names_are_refused(suite *s)
{
    pawl_store         *a   = suite_open(s);
    pawl_aggregator_row row = {.name = BILLS, .message = suite_message(s, TEXT("m-1"))};
    EXPECT_OK(s, pawl_store_aggregator_insert(a, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error));
    EXPECT_OK(s, pawl_store_aggregator_insert(a, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error));
    expect_keys(s, a, (const char *const[]){"m-1"}, 1);
    row.name = (pawl_text){0};
    EXPECT_CODE(s, pawl_store_aggregator_insert(a, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error),
                PAWL_EINVAL);
    row.name = suite_repeat(s, TEXT("x"), 201);
    EXPECT_CODE(s, pawl_store_aggregator_insert(a, &row, PAWL_TIME_MAX, SUITE_NOW, &s->error),
                PAWL_ELIMIT);
}

static void a_key_is_collected_once_in_each_partition_and_the_first_message_stays(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert_of(s, a, "Bills", "key-1", "PlaceOrder", "first");
    insert_of(s, b, "Bills", "key-1", "CancelOrder", "second");
    pawl_leased_batch rows = get(s, a, "Bills");
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].message.correlation_id, TEXT("first"));
    EXPECT_EQ(s, count(s, a, "Bills"), 1);
    insert(s, b, "Bills/1", "key-1");
    insert(s, b, "bills", "key-1");
    EXPECT_EQ(s, count(s, a, "Bills"), 1);
    EXPECT_EQ(s, count(s, a, "Bills/1"), 1);
    EXPECT_EQ(s, count(s, a, "bills"), 1);
    EXPECT_EQ(s, count(s, a, "Bill"), 0);
}

static void a_key_can_be_inserted_again_after_its_message_was_removed(suite *s)
{
    pawl_store                  *a = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert(s, a, "Bills", "key-1");
    EXPECT_EQ(s, take(s, a, 70, &leased), 1);
    int64_t first = leased.ids[0];
    EXPECT_OK(s, pawl_store_aggregator_remove_leased_batch(a, &leased, SUITE_NOW, &s->error));
    insert(s, a, "Bills", "key-1");
    EXPECT(s, get(s, a, "Bills").items[0].id != first);
    EXPECT_OK(s, try_remove(s, a, "Bills", "conversation-1"));
    insert(s, a, "Bills", "key-1");
    EXPECT_OK(s, pawl_store_aggregator_remove_all(a, BILLS, SUITE_NOW, &s->error));
    insert(s, a, "Bills", "key-1");
    EXPECT_EQ(s, count(s, a, "Bills"), 1);
}

static void reading_or_clearing_an_unknown_partition_finds_nothing_and_is_no_error(suite *s)
{
    pawl_store                  *a = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert(s, a, "Other", "key-1");
    EXPECT_EQ(s, get(s, a, "Bills").count, 0);
    EXPECT_EQ(s, count(s, a, "Bills"), 0);
    EXPECT_EQ(s, count_resolved(s, a, "Bills"), 0);
    EXPECT_EQ(s, take(s, a, 70, &leased), 0);
    EXPECT_EQ(s, leased.unresolved, 0);
    EXPECT_OK(s, pawl_store_aggregator_remove_all(a, BILLS, SUITE_NOW, &s->error));
    EXPECT_EQ(s, count(s, a, "Other"), 1);
}

static void messages_of_a_partition_are_read_in_the_order_of_insertion(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (unsigned i = 0; i < 12; i++) /* all at the same time */
        insert(s, a, "Bills", suite_printf(s, "key-%u", 50 - i).data);
    pawl_leased_batch            first = get(s, a, "Bills"), second = get(s, b, "Bills");
    pawl_aggregator_leased_batch leased;
    EXPECT_EQ(s, take(s, b, 70, &leased), 12);
    EXPECT_EQ(s, first.count, 12);
    EXPECT_EQ(s, second.count, 12);
    for (unsigned i = 0; i < 12; i++) {
        EXPECT_TEXT(s, first.items[i].key, suite_printf(s, "key-%u", 50 - i));
        EXPECT_TEXT(s, second.items[i].key, first.items[i].key);
        EXPECT_TEXT(s, leased.rows[i].key, first.items[i].key);
        EXPECT_EQ(s, leased.ids[i], first.items[i].id);
    }
}

static void counts_tell_all_messages_and_those_of_known_types_and_change_nothing(suite *s)
{
    pawl_store                  *a = suite_open(s), *b = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert(s, a, "Bills", "key-1");
    insert_of(s, a, "Bills", "key-2", "Unheard", "c");
    insert_of(s, a, "Bills", "key-3", "placeorder", "c");
    EXPECT_EQ(s, take(s, a, 70, &leased), 1);
    insert_of(s, a, "Bills", "key-4", "CancelOrder", "c");
    pawl_leased_batch before = get(s, a, "Bills");
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(s, count(s, b, "Bills"), 4);
        EXPECT_EQ(s, count_resolved(s, b, "Bills"), 2);
    }
    pawl_leased_batch after = get(s, a, "Bills");
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EQ(s, after.items[i].id, before.items[i].id);
        EXPECT_EQ(s, after.items[i].lease_expires, before.items[i].lease_expires);
        EXPECT_EQ(s, pawl_uuid_compare(after.items[i].session.uuid, before.items[i].session.uuid),
                  0);
    }
    EXPECT_EQ(s, pawl_uuid_compare(after.items[0].session.uuid, suite_uuid(70)), 0);
    EXPECT(s, pawl_uuid_is_zero(after.items[3].session.uuid));
    EXPECT_EQ(s, take(s, b, 71, &leased), 1);
}

static void a_removal_by_correlation_id_deletes_one_message(suite *s)
{
    pawl_store                  *a = suite_open(s), *b = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert_of(s, a, "Bills", "key-1", "PlaceOrder", "c-1");
    insert_of(s, a, "Bills", "key-2", "PlaceOrder", "c-2");
    insert_of(s, a, "Bills", "key-3", "Unheard", "c-2");
    insert_of(s, a, "Other", "key-4", "PlaceOrder", "c-2");
    EXPECT_EQ(s, take(s, a, 70, &leased), 2); /* a lease does not matter */
    EXPECT_OK(s, try_remove(s, b, "Bills", "c-2"));
    expect_keys(s, a, (const char *const[]){"key-1", "key-3"}, 2);
    EXPECT_OK(s, try_remove(s, b, "Bills", "c-2"));
    expect_keys(s, a, (const char *const[]){"key-1"}, 1);
    EXPECT_EQ(s, count(s, a, "Other"), 1);
}

static void a_removal_that_finds_nothing_tells_whether_the_partition_is_empty(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    insert(s, a, "Other", "key-0");
    EXPECT_CODE(s, try_remove(s, a, "Bills", "conversation-1"), PAWL_ENOTFOUND);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), BILLS));
    for (int i = 1; i <= 17; i++)
        insert(s, a, "Bills", suite_printf(s, "key-%d", i).data);
    EXPECT_CODE(s, try_remove(s, b, "Bills", "CONVERSATION-1"), PAWL_ECONFLICT);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text), TEXT("17 rows")));
    EXPECT_CODE(s, try_remove(s, b, "Bills", "conversation"), PAWL_ECONFLICT);
    EXPECT_CODE(s, try_remove(s, b, "Bills", ""), PAWL_EINVAL);
    EXPECT_EQ(s, count(s, a, "Bills"), 17);
    EXPECT_OK(s, pawl_store_aggregator_remove_all(a, BILLS, SUITE_NOW, &s->error));
    EXPECT_CODE(s, try_remove(s, b, "Bills", "conversation-1"), PAWL_ENOTFOUND);
    EXPECT_EQ(s, count(s, a, "Other"), 1);
}

static void clearing_a_partition_deletes_all_of_its_messages(suite *s)
{
    pawl_store                  *a = suite_open(s), *b = suite_open(s);
    pawl_aggregator_leased_batch leased;
    insert(s, a, "Bills", "key-1");
    EXPECT_EQ(s, take(s, a, 70, &leased), 1);
    insert(s, a, "Bills", "key-2");
    insert_of(s, a, "Bills", "key-3", "Unheard", "c");
    insert(s, a, "Other", "key-1");
    EXPECT_OK(s, pawl_store_aggregator_remove_all(b, BILLS, SUITE_NOW, &s->error));
    EXPECT_EQ(s, count(s, a, "Bills"), 0);
    EXPECT_EQ(s, count(s, a, "Other"), 1);
    EXPECT_OK(s, pawl_store_aggregator_remove_all(b, BILLS, SUITE_NOW, &s->error));
}

enum { WRITERS = 4, KEYS = 25, MATCHES = 6, TRIES_MAX = 20000 };

static void insert_and_count(suite_thread *thread)
{
    suite      *s     = thread->s;
    pawl_store *store = suite_open(s);
    int64_t     last  = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        insert(s, store, "Bills", suite_printf(s, "key-%u-%u", thread->index, i).data);
        insert(s, store, "Bills", "shared");
        int64_t now = count(s, store, "Bills");
        EXPECT(s, now > last);
        last = now;
    }
}

static void concurrent_inserts_into_a_partition_are_all_counted(suite *s)
{
    pawl_store *a = suite_open(s);
    suite_threads(s, WRITERS, insert_and_count, NULL);
    EXPECT_EQ(s, count(s, a, "Bills"), WRITERS * KEYS + 1);
}

/* Removes matching rows until none is left, and counts them. */
static void remove_matches(suite_thread *thread)
{
    suite      *s       = thread->s;
    unsigned   *removed = thread->context;
    pawl_store *store   = suite_open(s);
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        pawl_code code = try_remove(s, store, "Bills", "c");
        if (code == PAWL_EBUSY)
            continue;
        if (code != PAWL_OK) {
            EXPECT_EQ(s, code, PAWL_ECONFLICT);
            return;
        }
        EXPECT(s, removed[thread->index]++ < MATCHES);
    }
    suite_fail(s, __FILE__, __LINE__, "each of %d removals returned PAWL_EBUSY", TRIES_MAX);
}

static void each_message_is_deleted_by_one_of_several_concurrent_removals(suite *s)
{
    pawl_store *a                = suite_open(s);
    unsigned    removed[WRITERS] = {0}, total = 0;
    insert(s, a, "Bills", "stays");
    for (unsigned i = 0; i < MATCHES; i++)
        insert_of(s, a, "Bills", suite_printf(s, "key-%u", i).data, "PlaceOrder", "c");
    suite_threads(s, WRITERS, remove_matches, removed);
    for (unsigned i = 0; i < WRITERS; i++)
        total += removed[i];
    EXPECT_EQ(s, total, MATCHES);
    expect_keys(s, a, (const char *const[]){"stays"}, 1);
}

static const suite_case cases[] = {
    {"A1 a message inserted into an aggregator keeps its body byte for byte",
     a_message_inserted_into_an_aggregator_keeps_its_body_byte_for_byte},
    {"A1 A7 an aggregator's partition and key have defaults, long names are refused",
     an_aggregators_partition_and_key_have_defaults_long_names_are_refused},
    {"A2 A3 A7 a key is collected once in each partition, and the first message stays",
     a_key_is_collected_once_in_each_partition_and_the_first_message_stays},
    {"A4 a key can be inserted again after its message was removed",
     a_key_can_be_inserted_again_after_its_message_was_removed},
    {"A6 A17 A24 reading or clearing an unknown partition finds nothing and is no error",
     reading_or_clearing_an_unknown_partition_finds_nothing_and_is_no_error},
    {"A6 A8 A9 messages of a partition are read in the order of insertion",
     messages_of_a_partition_are_read_in_the_order_of_insertion},
    {"A17 A18 A19 counts tell all messages and those of known types, and change nothing",
     counts_tell_all_messages_and_those_of_known_types_and_change_nothing},
    {"A5 A20 a removal by correlation id deletes one message",
     a_removal_by_correlation_id_deletes_one_message},
    {"A21 A22 a removal that finds nothing tells whether the partition is empty",
     a_removal_that_finds_nothing_tells_whether_the_partition_is_empty},
    {"A24 clearing a partition deletes all of its messages",
     clearing_a_partition_deletes_all_of_its_messages},
    {"A25 A2 concurrent inserts into a partition are all counted",
     concurrent_inserts_into_a_partition_are_all_counted},
    {"A20 A21 each message is deleted by one of several concurrent removals",
     each_message_is_deleted_by_one_of_several_concurrent_removals},
};

const suite_cases cases_op_aggregator = SUITE_CASES("operation aggregator", cases);
