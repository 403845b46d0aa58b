/* aggregator.c - rows of aggregators: adding, keys, counting, removing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define BILLS TEXT("Bills")

static void add(suite *s, pawl_store *store, const char *partition, const char *key, pawl_time at)
{
    COMMIT_ONE(s, store, aggregator_add, .name = BILLS, .partition = pawl_text_of(partition),
               .key = pawl_text_of(key), .message = suite_message(s, pawl_text_of(key)), .at = at,
               .due = PAWL_TIME_MAX);
}

static void add_of_type(suite *s, pawl_store *store, const char *key, const char *type)
{
    pawl_message message = suite_message(s, pawl_text_of(key));
    message.type         = pawl_text_of(type);
    COMMIT_ONE(s, store, aggregator_add, .name = BILLS, .partition = BILLS,
               .key = pawl_text_of(key), .message = message, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
}

static void expect_keys(suite *s, const pawl_leased_batch *rows, const char *const *keys,
                        size_t count)
{
    EXPECT_EQ(s, rows->count, count);
    for (size_t i = 0; i < count; i++)
        EXPECT_TEXT(s, rows->items[i].key, pawl_text_of(keys[i]));
}

static void a_message_added_to_an_aggregator_keeps_its_body_byte_for_byte(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message message = suite_message(s, TEXT("m-1"));
    message.body         = TEXT("not json, \x01\xff\x00 bytes");
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
    COMMIT_ONE(s, a, aggregator_add, .name = BILLS, .partition = TEXT("Bills/7"),
               .key = TEXT("key-1"), .message = message, .at = SUITE_NOW - 3, .due = SUITE_NOW);
    EXPECT_EQ(s, suite_counts(s, b, TEXT("Bills/7"), SUITE_NOW).all, 1);
    pawl_leased_batch rows = suite_rows(s, b, TEXT("Bills/7"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &message);
    EXPECT_TEXT(s, rows.items[0].name, BILLS);
    EXPECT_TEXT(s, rows.items[0].partition, TEXT("Bills/7"));
    EXPECT_TEXT(s, rows.items[0].key, TEXT("key-1"));
    EXPECT_EQ(s, rows.items[0].at, SUITE_NOW - 3);
    EXPECT(s, rows.items[0].id > 0);
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].session.uuid));
}

static void a_key_that_is_collected_already_is_not_added_again_the_first_stays(suite *s)
{
    pawl_store  *a = suite_open(s), *b = suite_open(s);
    pawl_message other = suite_message(s, TEXT("other"));
    add(s, a, "Bills", "key-1", SUITE_NOW);
    COMMIT_ONE(s, b, aggregator_add, .name = BILLS, .partition = BILLS, .key = TEXT("key-1"),
               .message = other, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    suite_set set = suite_changes(s);
    for (int i = 0; i < 2; i++)
        ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = TEXT("key-2"),
            .message = i == 0 ? suite_message(s, TEXT("key-2")) : other, .at = SUITE_NOW,
            .due = PAWL_TIME_MAX);
    COMMIT(&set, b);
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    expect_keys(s, &rows, (const char *const[]){"key-1", "key-2"}, 2);
    EXPECT_TEXT(s, rows.items[0].message.id, TEXT("key-1"));
    EXPECT_TEXT(s, rows.items[1].message.id, TEXT("key-2"));
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 2);
}

static void the_same_key_can_be_collected_in_each_partition(suite *s)
{
    static const char *const partitions[] = {"Bills", "Bills/1", "Bills/2", "bills", "Bills "};
    pawl_store              *a            = suite_open(s);
    for (size_t i = 0; i < 5; i++)
        add(s, a, partitions[i], "key-1", SUITE_NOW);
    for (size_t i = 0; i < 5; i++) {
        pawl_leased_batch rows = suite_rows(s, a, pawl_text_of(partitions[i]));
        EXPECT_EQ(s, rows.count, 1);
        EXPECT_TEXT(s, rows.items[0].partition, pawl_text_of(partitions[i]));
    }
    EXPECT_EQ(s, suite_counts(s, a, TEXT("Bill"), SUITE_NOW).all, 0);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS, .is_all = true);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
    for (size_t i = 1; i < 5; i++)
        EXPECT_EQ(s, suite_counts(s, a, pawl_text_of(partitions[i]), SUITE_NOW).all, 1);
}

static void a_key_can_be_added_again_after_its_message_was_removed(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 1);
    int64_t first = taken.items[0].id;
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = &first, .id_count = 1);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    int64_t second = suite_rows(s, a, BILLS).items[0].id;
    EXPECT(s, second != first);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS,
               .correlation_id = TEXT("conversation-1"));
    add(s, a, "Bills", "key-1", SUITE_NOW);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 1);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS, .is_all = true);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 1);
}

static void reading_or_clearing_an_unknown_partition_finds_nothing_and_is_no_error(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_EQ(s, suite_rows(s, a, BILLS).count, 0);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 0);
    EXPECT_EQ(s, taken.unresolved, 0);
    pawl_aggregator_counts counts = suite_counts(s, a, BILLS, SUITE_NOW);
    EXPECT_EQ(s, counts.all, 0);
    EXPECT_EQ(s, counts.resolved, 0);
    EXPECT_EQ(s, counts.ready, 0);
    EXPECT_EQ(s, counts.id_last, 0);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS, .is_all = true);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS, .correlation_id = TEXT("none"));
    COMMIT_ONE(s, a, leased_batch_release, .partition = BILLS, .session = suite_session_id(70));
}

static void messages_of_a_partition_are_read_in_the_order_of_insertion(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    suite_set   set = suite_changes(s);
    for (unsigned i = 0; i < 20; i++) {
        pawl_text key = suite_printf(s, "key-%u", 100 - i);
        ADD(&set, aggregator_add, .name = BILLS, .partition = BILLS, .key = key,
            .message = suite_message(s, key), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    }
    COMMIT(&set, a);
    for (unsigned i = 20; i < 40; i++)
        add(s, a, "Bills", suite_printf(s, "key-%u", 100 - i).data, SUITE_NOW + (i >= 30 ? 1 : 0));
    pawl_leased_batch first = suite_rows(s, a, BILLS), second = suite_rows(s, b, BILLS);
    pawl_leased_batch taken = suite_snapshot_of(s, b, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, first.count, 40);
    EXPECT_EQ(s, second.count, 40);
    EXPECT_EQ(s, taken.count, 40);
    for (unsigned i = 0; i < 40; i++) {
        EXPECT_TEXT(s, first.items[i].key, suite_printf(s, "key-%u", 100 - i));
        EXPECT_TEXT(s, second.items[i].key, first.items[i].key);
        EXPECT_TEXT(s, taken.items[i].key, first.items[i].key);
    }
}

/* Two handles insert alternately and at the same time, with keys in random order. Every reader must find the same
 * order, in which each handle's rows are in the order of insertion. */
static void messages_added_at_the_same_time_have_one_order_for_all_readers(suite *s)
{
    pawl_store *handles[2] = {suite_open(s), suite_open(s)};
    for (unsigned i = 0; i < 30; i++)
        add(s, handles[(i / 3) % 2], "Bills",
            suite_printf(s, "key-%u-%u", (i * 7) % 30, (i / 3) % 2).data, SUITE_NOW);
    pawl_leased_batch first    = suite_rows(s, handles[0], BILLS);
    unsigned          found[2] = {0};
    EXPECT_EQ(s, first.count, 30);
    for (unsigned i = 0; i < first.count; i++) {
        pawl_text key    = first.items[i].key;
        unsigned  handle = key.data[key.size - 1] == '1', number = found[handle]++;
        unsigned  sent = number / 3 * 6 + handle * 3 + number % 3;
        EXPECT_TEXT(s, key, suite_printf(s, "key-%u-%u", (sent * 7) % 30, handle));
    }
    for (unsigned i = 0; i < 5; i++) {
        pawl_leased_batch again = i < 4 ? suite_rows(s, handles[i % 2], BILLS)
                                        : suite_snapshot_of(s, handles[1], BILLS, 70, SUITE_NOW);
        EXPECT_EQ(s, again.count, 30);
        for (size_t j = 0; j < again.count; j++)
            EXPECT_TEXT(s, again.items[j].key, first.items[j].key);
    }
}

static void messages_of_a_partition_are_read_by_time_of_insertion_first(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "third", SUITE_NOW + 2);
    add(s, a, "Bills", "first", SUITE_NOW);
    add(s, a, "Bills", "second", SUITE_NOW + 1);
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    expect_keys(s, &rows, (const char *const[]){"first", "second", "third"}, 3);
    rows = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW + 2);
    expect_keys(s, &rows, (const char *const[]){"first", "second", "third"}, 3);
}

static void a_removal_by_correlation_id_deletes_the_oldest_of_several_messages(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    add(s, a, "Bills", "key-2", SUITE_NOW);
    add(s, a, "Bills", "key-3", SUITE_NOW);
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    expect_keys(s, &rows, (const char *const[]){"key-1", "key-2", "key-3"}, 3);
    EXPECT(s, rows.items[0].id != rows.items[1].id);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS,
               .correlation_id = TEXT("conversation-1"));
    rows = suite_rows(s, a, BILLS);
    expect_keys(s, &rows, (const char *const[]){"key-2", "key-3"}, 2);
    add(s, a, "Bills", "key-0", SUITE_NOW - 1); /* the oldest, though added last */
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS,
               .correlation_id = TEXT("conversation-1"));
    rows = suite_rows(s, a, BILLS);
    expect_keys(s, &rows, (const char *const[]){"key-2", "key-3"}, 2);
    COMMIT_ONE(s, a, aggregator_remove, .partition = BILLS,
               .correlation_id = TEXT("CONVERSATION-1"));
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 2);
}

static void clearing_a_partition_deletes_leased_messages_and_unknown_types_too(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 1);
    add(s, a, "Bills", "key-2", SUITE_NOW);
    add_of_type(s, a, "key-3", "Unheard");
    add(s, a, "Other", "key-1", SUITE_NOW);
    COMMIT_ONE(s, b, aggregator_remove, .partition = BILLS, .is_all = true);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
    EXPECT_EQ(s, suite_counts(s, a, TEXT("Other"), SUITE_NOW).all, 1);
}

static void counts_tell_all_messages_those_of_known_types_and_the_unleased_ones(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "Bills", "key-1", SUITE_NOW);
    add_of_type(s, a, "key-2", "Unheard");
    add_of_type(s, a, "key-3", "placeorder");
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 1);
    add_of_type(s, a, "key-4", "CancelOrder");
    add(s, a, "Bills", "key-5", SUITE_NOW);
    pawl_aggregator_counts counts = suite_counts(s, a, BILLS, SUITE_NOW);
    EXPECT_EQ(s, counts.all, 5);
    EXPECT_EQ(s, counts.resolved, 3);
    EXPECT_EQ(s, counts.ready, 2);
    EXPECT_EQ(s, counts.id_last, suite_rows(s, a, BILLS).items[4].id);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW + SUITE_LEASE - 1).ready, 2);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW + SUITE_LEASE).ready, 3);
}

static void counting_messages_changes_neither_rows_nor_leases(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    for (int i = 0; i < 4; i++)
        add(s, a, "Bills", suite_printf(s, "key-%d", i).data, SUITE_NOW);
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 4);
    add(s, a, "Bills", "key-9", SUITE_NOW);
    pawl_leased_batch before = suite_rows(s, a, BILLS);
    for (int i = 0; i < 5; i++)
        suite_counts(s, b, BILLS, SUITE_NOW + 2 * SUITE_LEASE);
    pawl_leased_batch after = suite_rows(s, a, BILLS);
    EXPECT_EQ(s, after.count, before.count);
    for (size_t i = 0; i < after.count; i++) {
        EXPECT_EQ(s, after.items[i].id, before.items[i].id);
        EXPECT_EQ(s, pawl_uuid_compare(after.items[i].session.uuid, before.items[i].session.uuid),
                  0);
        EXPECT_EQ(s, after.items[i].lease_expires, before.items[i].lease_expires);
    }
    EXPECT(s, pawl_uuid_is_zero(after.items[4].session.uuid));
}

static const suite_case cases[] = {
    {"A1 a message added to an aggregator keeps its body byte for byte",
     a_message_added_to_an_aggregator_keeps_its_body_byte_for_byte},
    {"A2 a key that is collected already is not added again, the first stays",
     a_key_that_is_collected_already_is_not_added_again_the_first_stays},
    {"A3 A7 the same key can be collected in each partition",
     the_same_key_can_be_collected_in_each_partition},
    {"A4 a key can be added again after its message was removed",
     a_key_can_be_added_again_after_its_message_was_removed},
    {"A6 A24 reading or clearing an unknown partition finds nothing and is no error",
     reading_or_clearing_an_unknown_partition_finds_nothing_and_is_no_error},
    {"A8 messages of a partition are read in the order of insertion",
     messages_of_a_partition_are_read_in_the_order_of_insertion},
    {"A8 messages added at the same time have one order for all readers",
     messages_added_at_the_same_time_have_one_order_for_all_readers},
    {"A8 messages of a partition are read by time of insertion first",
     messages_of_a_partition_are_read_by_time_of_insertion_first},
    {"A5 A20 a removal by correlation id deletes the oldest of several messages",
     a_removal_by_correlation_id_deletes_the_oldest_of_several_messages},
    {"A24 clearing a partition deletes leased messages and unknown types, too",
     clearing_a_partition_deletes_leased_messages_and_unknown_types_too},
    {"A17 A18 counts tell all messages, those of known types, and the unleased ones",
     counts_tell_all_messages_those_of_known_types_and_the_unleased_ones},
    {"A19 counting messages changes neither rows nor leases",
     counting_messages_changes_neither_rows_nor_leases},
};

const suite_cases cases_aggregator = SUITE_CASES("aggregator", cases);
