/* saga_lock.c - loads that lock rows without waiting, for stores that promise row locks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#define ORDER(s) ((s)->tables[SUITE_ORDER])
#define MOVE(s) ((s)->tables[SUITE_MOVE])
#define QUEUE TEXT("orders")

/* Opens two handles, and queues four messages. */
static void begin(suite *s, pawl_store **a, pawl_store **b)
{
    *a = suite_open(s);
    *b = suite_open(s);
    if ((pawl_store_promises(*a) & PAWL_STORE_ROW_LOCKS) == 0)
        suite_not_applicable(s, "the store does not promise PAWL_STORE_ROW_LOCKS");
    for (unsigned i = 1; i <= 4; i++)
        suite_send(s, *a, QUEUE, suite_printf(s, "m-%u", i).data, SUITE_NOW);
    suite_insert_order(s, *a, 1, "order-1");
    suite_insert_order(s, *a, 2, "order-2");
}

/* Claims a message: the lock belongs to the transaction that the claim began. */
static int64_t claim(suite *s, pawl_store *store)
{
    pawl_queue_rows rows = suite_claim(s, store, QUEUE, SUITE_NOW, 1);
    EXPECT_EQ(s, rows.count, 1);
    return rows.items[0].seq;
}

static pawl_saga_row lock_one(suite *s, pawl_store *store, const pawl_saga_table *table,
                              pawl_saga_key key, pawl_value value)
{
    pawl_saga_row row = {.presence = PAWL_SAGA_MISSING, .version = -7};
    EXPECT_OK(s, pawl_store_saga_load(store, table, key, &value, 1, PAWL_SAGA_SKIP_LOCKED, s->arena,
                                      &row, &s->error));
    return row;
}

static pawl_saga_row lock_order(suite *s, pawl_store *store, const char *ref)
{
    return lock_one(s, store, ORDER(s), PAWL_SAGA_BY_MAIN, pawl_value_text(pawl_text_of(ref)));
}

static void release(suite *s, pawl_store *store, int64_t seq)
{
    COMMIT_ONE(s, store, queue_settle, .action = PAWL_QUEUE_RELEASE, .queue = QUEUE, .seq = seq);
}

/* Settles the message, and updates the order. */
static void finish(suite *s, pawl_store *store, int64_t seq, const pawl_saga_row *row)
{
    suite_set set = suite_changes(s);
    ADD(&set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = QUEUE, .seq = seq);
    ADD(&set, saga_update, .table = ORDER(s), .id = row->id, .version = row->version,
        .row = row->row, .metadata = TEXT("{}"),
        .data = suite_printf(s, "{\"after\":%d}", (int)row->version), .type_version = TEXT("1.0"));
    COMMIT(&set, store);
}

static void a_locked_saga_is_reported_as_locked_to_other_workers_until_the_commit(suite *s)
{
    pawl_store *a, *b;
    begin(s, &a, &b);
    int64_t       of_a = claim(s, a), of_b = claim(s, b);
    pawl_saga_row row = lock_order(s, a, "order-1");
    EXPECT_EQ(s, row.version, 1);
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"ref\":\"order-1\"}"));
    /* A handle's own lock does not block it. */
    EXPECT_EQ(s, lock_order(s, a, "order-1").version, 1);
    EXPECT_EQ(s, lock_order(s, b, "order-1").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    /* A read without a lock is not affected. */
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 1);
    finish(s, a, of_a, &row);
    row = lock_order(s, b, "order-1");
    EXPECT_EQ(s, row.version, 2);
    EXPECT_TEXT(s, suite_compact(s, row.data), TEXT("{\"after\":1}"));
    of_a = claim(s, a);
    EXPECT_EQ(s, lock_order(s, a, "order-1").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    finish(s, b, of_b, &row);
    EXPECT_EQ(s, lock_order(s, a, "order-1").version, 3);
    release(s, a, of_a);
    EXPECT_EQ(s, suite_queue(s, a, QUEUE).count, 2);
}

/* A load has free, locked, missing and duplicate rows. */
static void a_load_reports_for_each_saga_whether_it_is_free_locked_or_missing(suite *s)
{
    enum { COUNT = 6 };
    static const char *const        refs[COUNT]      = {"order-2", "order-9", "order-1",
                                                        "order-3", "order-1", "order-2"};
    static const pawl_saga_presence presences[COUNT] = {
        PAWL_SAGA_THERE, PAWL_SAGA_MISSING,           PAWL_SAGA_LOCKED_BY_ANOTHER,
        PAWL_SAGA_THERE, PAWL_SAGA_LOCKED_BY_ANOTHER, PAWL_SAGA_THERE};
    pawl_store   *a, *b;
    pawl_value    values[COUNT];
    pawl_saga_row rows[COUNT];
    begin(s, &a, &b);
    suite_insert_order(s, a, 3, "order-3");
    int64_t of_a = claim(s, a), of_b = claim(s, b);
    EXPECT_EQ(s, lock_order(s, a, "order-1").version, 1);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = pawl_value_text(pawl_text_of(refs[i]));
    EXPECT_OK(s, pawl_store_saga_load(b, ORDER(s), PAWL_SAGA_BY_MAIN, values, COUNT,
                                      PAWL_SAGA_SKIP_LOCKED, s->arena, rows, &s->error));
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT_EQ(s, rows[i].presence, presences[i]);
        EXPECT_EQ(s, rows[i].version, presences[i] == PAWL_SAGA_THERE);
    }
    EXPECT_TEXT(s, rows[0].main.as.text, TEXT("order-2"));
    EXPECT_EQ(s, pawl_uuid_compare(rows[3].id.uuid, suite_uuid(3)), 0);
    /* b has locked the free ones. */
    EXPECT_EQ(s, lock_order(s, a, "order-2").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    EXPECT_EQ(s, lock_order(s, a, "order-3").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    release(s, b, of_b);
    EXPECT_EQ(s, lock_order(s, a, "order-2").version, 1);
    release(s, a, of_a);
}

static void a_locked_saga_is_locked_by_whichever_property_it_is_loaded(suite *s)
{
    pawl_store *a, *b;
    pawl_value  id = pawl_value_uuid(suite_uuid(5)), number = pawl_value_integer(55);
    begin(s, &a, &b);
    COMMIT_ONE(s, a, saga_insert, .table = MOVE(s), .id = suite_saga_id(5),
               .main = pawl_value_text(TEXT("move-5")), .transitional = number,
               .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    int64_t of_a = claim(s, a), of_b = claim(s, b);
    EXPECT_EQ(s, lock_one(s, a, MOVE(s), PAWL_SAGA_BY_TRANSITIONAL, number).version, 1);
    EXPECT_EQ(s, lock_one(s, b, MOVE(s), PAWL_SAGA_BY_TRANSITIONAL, number).presence,
              PAWL_SAGA_LOCKED_BY_ANOTHER);
    EXPECT_EQ(s, lock_one(s, b, MOVE(s), PAWL_SAGA_BY_ID, id).presence,
              PAWL_SAGA_LOCKED_BY_ANOTHER);
    EXPECT_EQ(s,
              lock_one(s, b, MOVE(s), PAWL_SAGA_BY_MAIN, pawl_value_text(TEXT("move-5"))).presence,
              PAWL_SAGA_LOCKED_BY_ANOTHER);
    release(s, a, of_a);
    EXPECT_EQ(s, lock_one(s, b, MOVE(s), PAWL_SAGA_BY_ID, id).version, 1);
    release(s, b, of_b);
}

static void a_sagas_lock_ends_when_its_message_is_released_or_its_worker_closed(suite *s)
{
    pawl_store *a, *b;
    begin(s, &a, &b);
    int64_t of_a = claim(s, a), of_b = claim(s, b);
    EXPECT_EQ(s, lock_order(s, a, "order-1").version, 1);
    release(s, a, of_a);
    EXPECT_EQ(s, lock_order(s, b, "order-1").version, 1);
    release(s, b, of_b);
    claim(s, a);
    claim(s, b);
    EXPECT_EQ(s, lock_order(s, a, "order-1").version, 1);
    EXPECT_EQ(s, lock_order(s, b, "order-1").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    suite_end_worker(s, a);
    EXPECT_EQ(s, lock_order(s, b, "order-1").version, 1);
}

/* Commits an update without settling a message. */
static void save(suite *s, pawl_store *store, const pawl_saga_row *row)
{
    COMMIT_ONE(s, store, saga_update, .table = ORDER(s), .id = row->id, .version = row->version,
               .row = row->row, .metadata = TEXT("{}"), .data = TEXT("{}"),
               .type_version = TEXT("1.0"));
}

/* A batch of timeouts has no claims in the queue. */
static void a_sagas_lock_ends_with_a_commit_that_settles_no_message_too(suite *s)
{
    pawl_store *a, *b;
    begin(s, &a, &b);
    pawl_saga_row row = lock_order(s, a, "order-1");
    EXPECT_EQ(s, lock_order(s, b, "order-1").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    save(s, a, &row);
    EXPECT_EQ(s, lock_order(s, b, "order-1").version, 2);
    row = lock_order(s, b, "order-1");
    finish(s, b, claim(s, b), &row);
    /* A claim that is not settled remains. */
    int64_t of_a = claim(s, a);
    row          = lock_order(s, a, "order-1");
    save(s, a, &row);
    EXPECT_EQ(s, suite_claim(s, b, QUEUE, SUITE_NOW, 4).count, 2);
    row.version++;
    finish(s, a, of_a, &row);
    EXPECT_EQ(s, suite_load_id(s, a, SUITE_ORDER, 1).version, 5);
}

/* An outdated version is found without a lock, so the refusal does not wait. */
static void a_version_conflict_is_reported_without_waiting_for_a_sagas_lock(suite *s)
{
    pawl_store *a, *b;
    begin(s, &a, &b);
    pawl_saga_row row  = suite_load_id(s, a, SUITE_ORDER, 1);
    pawl_saga_row next = suite_load_id(s, a, SUITE_ORDER, 2);
    int64_t       of_b = claim(s, b);
    save(s, b, &row);
    EXPECT_EQ(s, lock_order(s, b, "order-1").version, 2);
    EXPECT_EQ(s, lock_order(s, a, "order-1").presence, PAWL_SAGA_LOCKED_BY_ANOTHER);
    suite_set set = suite_changes(s);
    ADD(&set, saga_update, .table = ORDER(s), .id = next.id, .version = next.version,
        .row = next.row, .metadata = TEXT("{}"), .data = TEXT("{\"after\":2}"),
        .type_version = TEXT("1.0"));
    ADD(&set, saga_update, .table = ORDER(s), .id = next.id, .version = next.version + 1,
        .row = next.row, .metadata = TEXT("{}"), .data = TEXT("{\"after\":3}"),
        .type_version = TEXT("1.0"));
    suite_unit(&set, 1, 1);
    ADD(&set, saga_update, .table = ORDER(s), .id = row.id, .version = row.version, .row = row.row,
        .metadata = TEXT("{}"), .data = TEXT("{}"), .type_version = TEXT("1.0"));
    suite_unit(&set, 2, 2);
    ADD(&set, saga_delete, .table = ORDER(s), .id = row.id, .version = row.version);
    pawl_refusals refused = REFUSED(&set, a);
    EXPECT_EQ(s, refused.count, 2);
    EXPECT_EQ(s, suite_refusal(&refused, 1)->reason, PAWL_ECONFLICT);
    EXPECT_EQ(s, suite_refusal(&refused, 2)->reason, PAWL_ECONFLICT);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 2).version, 3);
    release(s, b, of_b);
    EXPECT_EQ(s, suite_load_id(s, b, SUITE_ORDER, 1).version, 2);
}

static const suite_case cases[] = {
    {"S32 S9 a locked saga is reported as locked to other workers until the commit",
     a_locked_saga_is_reported_as_locked_to_other_workers_until_the_commit},
    {"S32 S16 a load reports for each saga whether it is free, locked or missing",
     a_load_reports_for_each_saga_whether_it_is_free_locked_or_missing},
    {"S32 S22 a locked saga is locked by whichever property it is loaded",
     a_locked_saga_is_locked_by_whichever_property_it_is_loaded},
    {"S32 E16 a saga's lock ends when its message is released or its worker closed",
     a_sagas_lock_ends_when_its_message_is_released_or_its_worker_closed},
    {"S32 a saga's lock ends with a commit that settles no message, too",
     a_sagas_lock_ends_with_a_commit_that_settles_no_message_too},
    {"S32 S9 a version conflict is reported without waiting for a saga's lock",
     a_version_conflict_is_reported_without_waiting_for_a_sagas_lock},
};

const suite_cases cases_saga_lock = SUITE_CASES("saga lock", cases);
