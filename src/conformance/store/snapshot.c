/* snapshot.c - leased batches of aggregators: leases, exact removal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define BILLS TEXT("Bills")

static void add(suite *s, pawl_store *store, const char *key, const char *type)
{
    pawl_message message = suite_message(s, pawl_text_of(key));
    message.type         = pawl_text_of(type);
    COMMIT_ONE(s, store, aggregator_add, .name = BILLS, .partition = BILLS,
               .key = pawl_text_of(key), .message = message, .at = SUITE_NOW, .due = PAWL_TIME_MAX);
}

/* Adds key-0 to key-(count - 1). */
static void fill(suite *s, pawl_store *store, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        add(s, store, suite_printf(s, "key-%u", i).data, "PlaceOrder");
}

static int64_t *ids_of(suite *s, const pawl_leased_batch *taken)
{
    int64_t *ids = pawl_arena_take(s->arena, (taken->count + 1) * sizeof *ids);
    EXPECT(s, ids != NULL);
    for (size_t i = 0; i < taken->count; i++)
        ids[i] = taken->items[i].id;
    return ids;
}

static void a_leased_batch_leases_the_messages_that_it_returns(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 3);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 3);
    EXPECT_EQ(s, taken.unresolved, 0);
    pawl_leased_batch rows = suite_rows(s, b, BILLS);
    for (size_t i = 0; i < 3; i++) {
        pawl_message sent = suite_message(s, suite_printf(s, "key-%u", (unsigned)i));
        EXPECT_MESSAGE(s, &taken.items[i].message, &sent);
        EXPECT_EQ(s, taken.items[i].id, rows.items[i].id);
        EXPECT_EQ(s, pawl_uuid_compare(rows.items[i].session.uuid, suite_uuid(70)), 0);
        EXPECT_EQ(s, rows.items[i].lease_expires, SUITE_NOW + SUITE_LEASE);
    }
}

static void messages_of_a_leased_batch_are_in_no_other_until_the_lease_ends(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 2);
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 2);
    EXPECT_EQ(s, suite_snapshot_of(s, b, BILLS, 71, SUITE_NOW).count, 0);
    EXPECT_EQ(s, suite_snapshot_of(s, b, BILLS, 71, SUITE_NOW + SUITE_LEASE - 1).count, 0);
    EXPECT_EQ(s, suite_snapshot_of(s, b, BILLS, 71, SUITE_NOW + SUITE_LEASE).count, 2);
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[1].session.uuid, suite_uuid(71)), 0);
    EXPECT_EQ(s, rows.items[1].lease_expires, SUITE_NOW + 2 * SUITE_LEASE);
}

static void messages_of_unknown_types_are_counted_and_stay_when_a_batch_is_removed(suite *s)
{
    pawl_store *a = suite_open(s);
    add(s, a, "key-0", "PlaceOrder");
    add(s, a, "key-1", "Unheard");
    add(s, a, "key-2", "CancelOrder");
    add(s, a, "key-3", "placeorder");
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 2);
    EXPECT_EQ(s, taken.unresolved, 2);
    EXPECT_TEXT(s, taken.items[0].key, TEXT("key-0"));
    EXPECT_TEXT(s, taken.items[1].key, TEXT("key-2"));
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids_of(s, &taken), .id_count = 2);
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].key, TEXT("key-1"));
    EXPECT_TEXT(s, rows.items[1].key, TEXT("key-3"));
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].session.uuid));
    taken = suite_snapshot_of(s, a, BILLS, 71, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 0);
    EXPECT_EQ(s, taken.unresolved, 2);
}

static void removing_a_leased_batch_deletes_its_messages_and_no_others(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 3);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    add(s, b, "later", "PlaceOrder");
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids_of(s, &taken), .id_count = 3);
    taken = suite_snapshot_of(s, a, BILLS, 71, SUITE_NOW);
    EXPECT_EQ(s, taken.count, 1);
    EXPECT_TEXT(s, taken.items[0].key, TEXT("later"));
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(71));
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 1);
}

static void a_leased_batch_is_removed_completely_or_not_at_all(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 3);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    add(s, b, "later", "PlaceOrder");
    int64_t *ids      = ids_of(s, &taken);
    int64_t  free_row = suite_rows(s, a, BILLS).items[3].id;
    int64_t  bad[]    = {ids[0], ids[1], free_row};
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = BILLS,
               .session = suite_session_id(70), .ids = bad, .id_count = 3);
    bad[2] = free_row + 1000;
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = BILLS,
               .session = suite_session_id(70), .ids = bad, .id_count = 3);
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = BILLS,
               .session = suite_session_id(71), .ids = ids, .id_count = 3);
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = TEXT("Other"),
               .session = suite_session_id(70), .ids = ids, .id_count = 3);
    EXPECT_EQ(s, suite_counts(s, b, BILLS, SUITE_NOW).all, 4);
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids, .id_count = 3);
    EXPECT_EQ(s, suite_counts(s, b, BILLS, SUITE_NOW).all, 1);
}

static void a_leased_batch_cannot_be_removed_after_another_session_leased_it(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 2);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    EXPECT_EQ(s, suite_snapshot_of(s, b, BILLS, 71, SUITE_NOW + SUITE_LEASE).count, 2);
    REFUSE_ONE(s, a, PAWL_ECONFLICT, leased_batch_remove, .partition = BILLS,
               .session = suite_session_id(70), .ids = ids_of(s, &taken), .id_count = 2);
    EXPECT_EQ(s, suite_counts(s, b, BILLS, SUITE_NOW).all, 2);
    COMMIT_ONE(s, b, leased_batch_remove, .partition = BILLS, .session = suite_session_id(71),
               .ids = ids_of(s, &taken), .id_count = 2);
    EXPECT_EQ(s, suite_counts(s, b, BILLS, SUITE_NOW).all, 0);
}

static void an_expired_leased_batch_can_be_removed_if_nobody_leased_it_since(suite *s)
{
    pawl_store *a = suite_open(s);
    fill(s, a, 2);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    suite_set         late  = suite_changes(s);
    late.changes.now        = SUITE_NOW + 3 * SUITE_LEASE;
    ADD(&late, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
        .ids = ids_of(s, &taken), .id_count = 2);
    COMMIT(&late, a);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
}

static void a_removal_without_a_session_ignores_ids_that_do_not_exist(suite *s)
{
    pawl_store *a = suite_open(s);
    fill(s, a, 3);
    pawl_leased_batch rows  = suite_rows(s, a, BILLS);
    pawl_session_id   none  = {{{0}}};
    int64_t           ids[] = {rows.items[0].id, rows.items[2].id, rows.items[2].id + 1000};
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 3);
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = none, .ids = ids,
               .id_count = 3);
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = none, .ids = ids,
               .id_count = 3);
    rows = suite_rows(s, a, BILLS);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].key, TEXT("key-1"));
}

static void a_release_frees_the_messages_of_its_session_and_no_others(suite *s)
{
    pawl_store *a = suite_open(s), *b = suite_open(s);
    fill(s, a, 2);
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 2);
    add(s, a, "later", "PlaceOrder");
    EXPECT_EQ(s, suite_snapshot_of(s, b, BILLS, 71, SUITE_NOW).count, 1);
    COMMIT_ONE(s, a, leased_batch_release, .partition = BILLS, .session = suite_session_id(70));
    pawl_leased_batch rows = suite_rows(s, a, BILLS);
    EXPECT(s, pawl_uuid_is_zero(rows.items[0].session.uuid));
    EXPECT(s, pawl_uuid_is_zero(rows.items[1].session.uuid));
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[2].session.uuid, suite_uuid(71)), 0);
    pawl_leased_batch again = suite_snapshot_of(s, b, BILLS, 72, SUITE_NOW);
    EXPECT_EQ(s, again.count, 2);
    EXPECT_TEXT(s, again.items[0].key, TEXT("key-0"));
    EXPECT_TEXT(s, again.items[1].key, TEXT("key-1"));
}

/* A session may lease rows of several partitions; each is released on its own. */
static void a_release_leaves_the_sessions_messages_of_other_partitions_leased(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_text   other = TEXT("Other");
    fill(s, a, 1);
    COMMIT_ONE(s, a, aggregator_add, .name = other, .partition = other, .key = TEXT("key-0"),
               .message = suite_message(s, TEXT("m-0")), .at = SUITE_NOW, .due = PAWL_TIME_MAX);
    EXPECT_EQ(s, suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW).count, 1);
    EXPECT_EQ(s, suite_snapshot_of(s, a, other, 70, SUITE_NOW).count, 1);
    COMMIT_ONE(s, a, leased_batch_release, .partition = BILLS, .session = suite_session_id(70));
    EXPECT(s, pawl_uuid_is_zero(suite_rows(s, a, BILLS).items[0].session.uuid));
    pawl_leased_batch rows = suite_rows(s, a, other);
    EXPECT_EQ(s, pawl_uuid_compare(rows.items[0].session.uuid, suite_uuid(70)), 0);
}

static void a_leased_batch_can_be_limited_by_number_and_by_highest_id(suite *s)
{
    pawl_store *a = suite_open(s);
    fill(s, a, 6);
    int64_t                 last    = suite_rows(s, a, BILLS).items[3].id;
    pawl_text               types[] = {TEXT("PlaceOrder")};
    pawl_leased_batch       taken   = {0};
    pawl_leased_batch_claim claim   = {.partition  = BILLS,
                                       .session    = suite_session_id(70),
                                       .types      = types,
                                       .type_count = 1,
                                       .count_max  = 2,
                                       .now        = SUITE_NOW,
                                       .lease      = SUITE_LEASE};
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 2);
    EXPECT_TEXT(s, taken.items[1].key, TEXT("key-1"));
    claim.id_max    = last;
    claim.count_max = 0;
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 2);
    EXPECT_TEXT(s, taken.items[0].key, TEXT("key-2"));
    EXPECT_TEXT(s, taken.items[1].key, TEXT("key-3"));
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).ready, 2);
}

static void a_refused_removal_of_a_leased_batch_keeps_its_lease(suite *s)
{
    pawl_store *a = suite_open(s);
    fill(s, a, 2);
    pawl_leased_batch taken = suite_snapshot_of(s, a, BILLS, 70, SUITE_NOW);
    suite_set         set   = suite_changes(s);
    ADD(&set, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
        .ids = ids_of(s, &taken), .id_count = 2);
    ADD(&set, saga_update, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(1), .version = 1,
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    REFUSED(&set, a);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).ready, 0);
    COMMIT_ONE(s, a, leased_batch_remove, .partition = BILLS, .session = suite_session_id(70),
               .ids = ids_of(s, &taken), .id_count = 2);
    EXPECT_EQ(s, suite_counts(s, a, BILLS, SUITE_NOW).all, 0);
}

/* Counts rows of other types, also after the claim's limit; with id_max only rows up to that id. */
static void a_limited_leased_batch_counts_all_messages_of_unknown_types(suite *s)
{
    static const char *const sent[] = {"Unheard",     "PlaceOrder",  "placeorder", "Place,Order",
                                       "CancelOrder", "CancelOrder", "Order"};
    pawl_store              *a      = suite_open(s);
    pawl_text types[] = {TEXT("PlaceOrder"), TEXT("CancelOrder"), TEXT("PlaceOrder,CancelOrder")};
    pawl_leased_batch       taken = {0};
    pawl_leased_batch_claim claim = {.partition  = BILLS,
                                     .session    = suite_session_id(70),
                                     .types      = types,
                                     .type_count = 3,
                                     .count_max  = 2,
                                     .now        = SUITE_NOW,
                                     .lease      = SUITE_LEASE};
    for (unsigned i = 0; i < sizeof sent / sizeof sent[0]; i++)
        add(s, a, suite_printf(s, "key-%u", i).data, sent[i]);
    int64_t fourth = suite_rows(s, a, BILLS).items[3].id;
    for (int turn = 0; turn < 2; turn++, claim.now += SUITE_LEASE) {
        READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
        EXPECT_EQ(s, taken.count, 2);
        EXPECT(s, taken.unresolved <= 4); /* rows after the last claimed one need not be read */
        EXPECT_TEXT(s, taken.items[0].key, TEXT("key-1"));
        EXPECT_TEXT(s, taken.items[1].key, TEXT("key-4"));
    }
    claim.id_max = fourth;
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 1); /* the first leases have expired */
    EXPECT_EQ(s, taken.unresolved, 3);
    claim.id_max = 0;
    claim.types += 2;
    claim.type_count = 1;
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 0);
    EXPECT_EQ(s, taken.unresolved, 6); /* all but the leased row */
    claim.type_count = 0;
    claim.now -= 1;
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &taken, &s->error), taken);
    EXPECT_EQ(s, taken.count, 0);
    EXPECT_EQ(s, taken.unresolved, 5); /* the other lease has not expired */
}

static const suite_case cases[] = {
    {"A9 A14 a leased batch leases the messages that it returns",
     a_leased_batch_leases_the_messages_that_it_returns},
    {"A14 A16 messages of a leased batch are in no other until the lease ends",
     messages_of_a_leased_batch_are_in_no_other_until_the_lease_ends},
    {"A9 A10 messages of unknown types are counted, and stay when a batch is removed",
     messages_of_unknown_types_are_counted_and_stay_when_a_batch_is_removed},
    {"A11 removing a leased batch deletes its messages and no others",
     removing_a_leased_batch_deletes_its_messages_and_no_others},
    {"A12 a leased batch is removed completely or not at all",
     a_leased_batch_is_removed_completely_or_not_at_all},
    {"A27 a leased batch cannot be removed after another session leased it",
     a_leased_batch_cannot_be_removed_after_another_session_leased_it},
    {"A27 T10 an expired leased batch can be removed if nobody leased it since",
     an_expired_leased_batch_can_be_removed_if_nobody_leased_it_since},
    {"A27 a removal without a session ignores ids that do not exist",
     a_removal_without_a_session_ignores_ids_that_do_not_exist},
    {"A15 a release frees the messages of its session and no others",
     a_release_frees_the_messages_of_its_session_and_no_others},
    {"A15 a release leaves the session's messages of other partitions leased",
     a_release_leaves_the_sessions_messages_of_other_partitions_leased},
    {"E20 a leased batch can be limited by number and by highest id",
     a_leased_batch_can_be_limited_by_number_and_by_highest_id},
    {"A10 a limited leased batch counts all messages of unknown types",
     a_limited_leased_batch_counts_all_messages_of_unknown_types},
    {"A12 E35 a refused removal of a leased batch keeps its lease",
     a_refused_removal_of_a_leased_batch_keeps_its_lease},
};

const suite_cases cases_snapshot = SUITE_CASES("snapshot", cases);
