/* test_postgres_horizon.c - where claims on the outbox and the numbering of events
 * begin, beside transactions that are still under way on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define MANY 5000

/* `count` rows of the sources or streams NAME/1, NAME/2 ... */
static void insert_rows(PGconn *pg, const char *name, int count)
{
    raw_run(
        pg,
        test_text(
            "insert into pawl_outbox (\"DispatchId\", \"State\", \"Attempts\", "
            "\"NextAttempt\", \"Due\", \"At\", \"Source\", \"Version\", \"Index\", "
            "\"Endpoint\", \"Destination\", \"AttemptsBefore\", \"MessageId\", \"Type\", "
            "\"CorrelationId\", \"CausationId\", \"Headers\", \"Body\") select "
            "gen_random_uuid(), 'pending', 0, t, t, t, '%s/' || n, 1, 0, 'orders', 'billing', 0, "
            "'', 'ping', '', '', '', '' from generate_series(1, %d) as n, "
            "(select timestamptz '2026-01-01 00:00:00Z' as t) as x",
            name, count));
}

static void insert_events(PGconn *pg, const char *name, int count)
{
    raw_run(pg,
            test_text(
                "insert into pawl_events (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
                "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
                "select '%s/' || n, 1, 'Deposited', 1, '', '', '', now(), '', '' "
                "from generate_series(1, %d) as n",
                name, count));
}

/* As after a look at the whole that took long. */
static void stay_away_from_the_whole(pawl_store *store)
{
    pawl__pg_outbox_front *outbox = &pawl__pg_of(store)->outbox;
    outbox->whole_ms              = INT64_MAX / 2;
    outbox->pause_ms              = 1;
}

static size_t claim(fixture *p, pawl_store *store)
{
    pawl_outbox_rows rows;
    stay_away_from_the_whole(store);
    ok(p,
       pawl_store_outbox_claim(store, TEXT("orders"), NOW, 2 * MANY, p->arena, &rows, &p->error));
    return rows.count;
}

static void deliver_all(const fixture *p)
{
    raw_run(p->pg, "update pawl_outbox set \"State\" = 'dispatched', \"DispatchedAt\" = \"At\" "
                   "where \"State\" = 'pending'");
}

static int64_t claims_from(pawl_store *store)
{
    return pawl__pg_of(store)->outbox.horizon.from;
}

static int64_t numbers_from(pawl_store *store)
{
    return pawl__pg_of(store)->numbering.horizon.from;
}

static int64_t number(fixture *p, pawl_store *store)
{
    int64_t count = -1;
    ok(p, pawl_store_event_number(store, 2 * MANY, &count, &p->error));
    return count;
}

typedef void insert_fn(PGconn *pg, const char *name, int count);

/* One row in a transaction that is still under way, and many of one that began before
 * it: that this one is over says nothing of the other. */
static PGconn *insert_beside_late(const fixture *p, insert_fn *insert)
{
    PGconn *early = raw_open(p->schema), *late = raw_open(p->schema);
    raw_run(early, "begin; select pg_current_xact_id()");
    raw_run(late, "begin");
    insert(late, "late", 1);
    insert(early, "early", MANY);
    raw_run(early, "commit");
    PQfinish(early);
    return late;
}

/* The late row comes, and one more behind it. */
static void commit_late(const fixture *p, PGconn *late, insert_fn *insert)
{
    raw_run(late, "commit");
    insert(p->pg, "after", 1);
    PQfinish(late);
}

ON_FIXTURE(a_claim_begins_before_what_is_committed_late, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(claim(p, store), 0);
    PGconn *late = insert_beside_late(p, insert_rows);
    assert_int_equal(claim(p, store), MANY);
    deliver_all(p);
    for (int i = 0; i < 3; i++)
        assert_int_equal(claim(p, store), 0);
    commit_late(p, late, insert_rows);
    assert_int_equal(claim(p, store), 2);
}

ON_FIXTURE(an_event_of_such_a_transaction_is_numbered, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(number(p, store), 0);
    PGconn *late = insert_beside_late(p, insert_events);
    assert_int_equal(number(p, store), MANY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(number(p, store), 0);
    assert_int_equal(numbers_from(store), 0);
    commit_late(p, late, insert_events);
    assert_int_equal(number(p, store), 2);
}

static int64_t number_some(fixture *p, pawl_store *store, size_t count_max)
{
    int64_t count = -1;
    ok(p, pawl_store_event_number(store, count_max, &count, &p->error));
    return count;
}

/* The horizon can move over events that the scan before it left for the next one. */
ON_FIXTURE(events_that_a_scan_left_are_numbered_by_the_next, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *late  = raw_open(p->schema);
    assert_int_equal(number(p, store), 0); /* a look at the whole, for a minute the last */
    raw_run(late, "begin");
    insert_events(late, "late", 10);
    insert_events(p->pg, "early", 1);
    assert_int_equal(number(p, store), 1);
    raw_run(late, "commit");
    PQfinish(late);
    assert_int_equal(number_some(p, store, 3), 3);
    assert_int_equal(number_some(p, store, 3), 3);
    assert_int_equal(number_some(p, store, 4), 4);
    assert_int_equal(number_some(p, store, 4), 0);
}

/* Were the horizon wrong, an event would wait for a minute and not for ever. */
ON_FIXTURE(the_whole_is_looked_at_from_time_to_time, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    assert_int_equal(number(p, store), 0);
    insert_events(p->pg, "one", 1);
    pawl__pg_of(store)->numbering.horizon.from  = 1000000;
    pawl__pg_of(store)->numbering.horizon.limit = INT64_MAX;
    assert_int_equal(number(p, store), 0);
    pawl__pg_of(store)->numbering.whole_ms -= 60000;
    assert_int_equal(number(p, store), 1);
    insert_events(p->pg, "two", 1);
    pawl__pg_of(store)->numbering.horizon.from = 1000000;
    assert_int_equal(number(p, store), 0);
}

/* The horizon does not move before transactions are over that were under way. */
static void wait_for_horizon(fixture *p, pawl_store *store, int64_t from)
{
    int64_t end = clock_ms() + OTHERS_MS;
    while (claims_from(store) < from && clock_ms() < end) {
        assert_int_equal(claim(p, store), 0);
        (void)poll(NULL, 0, 2);
    }
}

/* Rows that were delivered stay in the index while somebody's snapshot can see it pending;
 * that one writes nothing, and so nothing can come late. */
ON_FIXTURE(claims_begin_behind_what_was_delivered, fixture *p)
{
    pawl_store *store  = open_store(p, p->url);
    PGconn     *leased = raw_open(p->schema);
    raw_run(leased, "begin isolation level repeatable read; select 1 from pawl_outbox limit 1");
    assert_int_equal(claim(p, store), 0);
    for (int round = 1; round < 3; round++) {
        insert_rows(p->pg, "many", MANY);
        assert_int_equal(claim(p, store), MANY);
        /* Rows in sight stay in sight. */
        assert_int_equal(claim(p, store), MANY);
        deliver_all(p);
        wait_for_horizon(p, store, round * MANY);
        assert_int_equal(claims_from(store), round * MANY);
    }
    raw_run(leased, "rollback");
    PQfinish(leased);
}

/* Rows of other endpoints, which nobody delivers, are not scanned over by each claim. */
ON_FIXTURE(claims_begin_behind_the_rows_of_other_endpoints, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    PGconn     *late  = raw_open(p->schema);
    raw_run(late, "begin");
    insert_rows(late, "late", 1);
    insert_rows(p->pg, "many", MANY);
    raw_run(p->pg, "update pawl_outbox set \"Endpoint\" = 'billing'");
    for (int i = 0; i < 3; i++)
        assert_int_equal(claim(p, store), 0);
    assert_in_range(claims_from(store), 0, 1);
    raw_run(late, "commit");
    PQfinish(late);
    assert_int_equal(claim(p, store), 1);
    raw_run(p->pg, "delete from pawl_outbox where \"Endpoint\" = 'orders'");
    wait_for_horizon(p, store, MANY);
    insert_rows(p->pg, "after", 1);
    assert_int_equal(claim(p, store), 1);
}

/* The horizon is that of the endpoint whose rows were claimed last. */
ON_FIXTURE(each_endpoint_has_a_horizon_of_its_own, fixture *p)
{
    pawl_store      *store = open_store(p, p->url);
    pawl_outbox_rows rows;
    insert_rows(p->pg, "other", 1);
    raw_run(p->pg, "update pawl_outbox set \"Endpoint\" = 'billing'");
    assert_int_equal(claim(p, store), 0);
    insert_rows(p->pg, "many", MANY);
    assert_int_equal(claim(p, store), MANY);
    deliver_all(p);
    raw_run(p->pg, "update pawl_outbox set \"State\" = 'pending' where \"Endpoint\" = 'billing'");
    wait_for_horizon(p, store, MANY);
    stay_away_from_the_whole(store);
    ok(p, pawl_store_outbox_claim(store, TEXT("billing"), NOW, MANY, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
}

/* Fails for a row that has its number before its transaction has. */
static void check_rows_of(const fixture *p, const char *table)
{
    raw_run(p->pg,
            test_text("create trigger numbered before insert on %s for each row execute function "
                      "check_number()",
                      table));
}

/* A row can wait for the end of another transaction that has the same key, so that
 * any number of others are numbered, delivered and over before it is there. */
ON_FIXTURE(a_transaction_is_numbered_before_its_rows, fixture *p)
{
    pawl_store       *store  = open_store(p, p->url);
    pawl_outbox_add   add    = {.dispatch_id = {uuid_of(1)},
                                .source      = TEXT("Order/1"),
                                .version     = 1,
                                .endpoint    = TEXT("orders"),
                                .destination = TEXT("billing"),
                                .message     = message_of("m-1"),
                                .at          = NOW};
    pawl_event_append append = {
        .stream   = TEXT("Order/1"),
        .version  = 1,
        .is_first = true,
        .event    = {
               .type = TEXT("Deposited"), .type_version = 1, .message_id = TEXT("m-1"), .at = NOW}};
    pawl_changes changes[2]       = {{.now = NOW, ONE_UNIT}, {.now = NOW, ONE_UNIT}};
    changes[0].outbox_add.items   = &add;
    changes[0].outbox_add.count   = 1;
    changes[1].event_append.items = &append;
    changes[1].event_append.count = 1;
    raw_run(p->pg, "create function check_number() returns trigger language plpgsql as $$ begin "
                   "if pg_current_xact_id_if_assigned() is null then "
                   "raise exception 'no number'; end if; return new; end $$");
    /* The first value of a sequence numbers the transaction by the way. */
    insert_rows(p->pg, "first", 1);
    insert_events(p->pg, "first", 1);
    check_rows_of(p, "pawl_outbox");
    check_rows_of(p, "pawl_events");
    for (int i = 0; i < 2; i++) {
        PGconn *app = raw_open(p->schema);
        raw_run(app, "begin");
        ok(p, pawl_store_enlist(store, app, &changes[i], &p->error));
        raw_run(app, "commit");
        PQfinish(app);
    }
    assert_int_equal(claim(p, store), 2);
    assert_int_equal(number(p, store), 2);
    /* The check can fail. */
    raw_run(p->pg, "drop table if exists one; create table one (\"Id\" int)");
    check_rows_of(p, "one");
    expect_refused(p->pg, "insert into one values (1)", "P0001", "no number");
}
