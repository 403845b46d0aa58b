/* test_postgres_commit.c - on which connection a set is committed, and a flush row that an add of another transaction needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAVE_POSTGRES
#include <stdio.h>

int main(void)
{
    puts("skipped: built without libpq");
    return 77;
}
#else

#include "contract/postgres_trouble.h"

/* The row was locked when it was loaded, by the transaction that holds the claims. Another
 * connection would wait for it until the deadline. */
static void a_saga_is_saved_where_it_was_locked(void **state)
{
    place           *p      = *state;
    pawl_store      *store  = open_store(p, p->url);
    pawl_saga_update update = begin_order(p, store, 1);
    pawl_value       id     = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_saga_row    row;
    expect_code(p, send_one(p, store, "orders", "m-1"), PAWL_OK);
    pawl_queue_rows rows    = claim_some(p, store, "orders", NOW, 1);
    pawl_changes    changes = one_update(&update);
    assert_int_equal(rows.count, 1);
    expect_code(p,
                pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1, PAWL_SAGA_LOCKED,
                                     p->arena, &row, &p->error),
                PAWL_OK);
    set_deadline(store, SHORT_MS);
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(order_version(p, 1), 2);
    set_deadline(store, ENOUGH_MS);
    pawl_store_close(store);
}

/* Another transaction has added a message, and is not committed: the flush waits for it,
 * sees the message, and the row stays, else nobody would hand the message over. */
static void a_flush_row_waits_for_an_add(void **state)
{
    place              *p       = *state;
    pawl_store         *store   = open_store(p, p->url);
    PGconn             *other   = raw_open(p->schema);
    pawl_flush_set      sets[]  = {{.partition = TEXT("car"), .due = NOW, .is_done = true},
                                   {.partition = TEXT("van"), .due = NOW, .is_done = true}};
    pawl_changes        changes = {.group_count = 1, .unit_count = 1, .now = NOW};
    pawl_aggregator_add add     = {.name      = TEXT("van"),
                                   .partition = TEXT("van"),
                                   .key       = TEXT("m-1"),
                                   .message   = message_of("m-1"),
                                   .at        = NOW,
                                   .due       = NOW};
    job                 j;
    changes.aggregator_add.items = &add;
    changes.aggregator_add.count = 1;
    expect_code(p, pawl_store_commit(store, &changes, NULL, &p->error), PAWL_OK);
    raw_run(other, "create temp table kept as select * from pawl_aggregator");
    raw_run(other, "delete from pawl_aggregator");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator_flush"), 1);
    raw_run(other, "begin; insert into pawl_aggregator overriding system value "
                   "select * from kept; select 1 from pawl_aggregator_flush for key share");
    changes                 = (pawl_changes){.group_count = 1, .unit_count = 1, .now = NOW};
    changes.flush_set.items = sets;
    changes.flush_set.count = 2;
    start_job(p, &j, store, &changes);
    wait_for_waiting(p, 1);
    raw_run(other, "commit");
    expect_job(p, &j, PAWL_OK);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator"), 1);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_aggregator_flush"), 1);
    PQfinish(other);
    pawl_store_close(store);
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, trouble_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_saga_is_saved_where_it_was_locked),
        CASE(a_flush_row_waits_for_an_add),
    };
    if (place_server() == NULL)
        return place_skip();
    return cmocka_run_group_tests_name("postgres_commit", tests, NULL, NULL);
}

#endif
