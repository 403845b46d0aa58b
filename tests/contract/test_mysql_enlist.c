/* test_mysql_enlist.c - a change set in a transaction of the application's, which a failed statement of its own has ended:
 * the message would be committed by itself, or without the application's rows (S33).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "support/tests.h"

#include <pthread.h>

static void *update_first(void *context)
{
    raw_run(context, "update t set v = 2 where id = 1");
    return NULL;
}

static pawl_store *open_plain(fixture *p)
{
    pawl_store *store;
    apply(p);
    raw_run(p->raw, "create table t (id int primary key, v int)");
    raw_run(p->raw, "insert into t values (1, 0), (2, 0), (3, 0), (4, 0)");
    ok(p, open_at(p, p->url, 60000, &store));
    return store;
}

static pawl_code enlist(fixture *p, pawl_store *store, MYSQL *own)
{
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    return pawl_store_enlist(store, own, &changes, &p->error);
}

/* The server undoes the transaction of `own`: the other one has more to undo. */
static void meet_deadlock(fixture *p, MYSQL *own, const char *begin)
{
    pthread_t thread;
    raw_run(own, begin);
    raw_run(own, "update t set v = 1 where id = 1");
    raw_run(p->raw, "start transaction");
    raw_run(p->raw, "update t set v = 2 where id > 1");
    assert_int_equal(pthread_create(&thread, NULL, update_first, p->raw), 0);
    assert_int_not_equal(mysql_query(own, "update t set v = 1 where id = 2"), 0);
    assert_int_equal(mysql_errno(own), 1213);
    assert_int_equal(pthread_join(thread, NULL), 0);
    raw_run(p->raw, "rollback");
}

static void expect_none(fixture *p)
{
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
}

static const char *const begins[] = {"begin", "set autocommit = 0"};

ON_BOTH(s33_nothing_is_written_behind_a_deadlock_of_the_applications, fixture *p)
{
    pawl_store *store = open_plain(p);
    for (size_t i = 0; i < COUNT(begins); i++) {
        MYSQL *own = raw_connect(p, p->database);
        meet_deadlock(p, own, begins[i]);
        refuses(p, enlist(p, store, own), PAWL_EINVAL, "its last statement failed, which ended it");
        expect_none(p);
        raw_run(own, "commit");
        expect_none(p);
        raw_run(own, "begin");
        ok(p, enlist(p, store, own));
        raw_run(own, "rollback");
        mysql_close(own);
    }
    MYSQL *own = raw_connect(p, p->database);
    meet_deadlock(p, own, "begin");
    raw_run(own, "select 1");
    refuses(p, enlist(p, store, own), PAWL_EINVAL, "has no open transaction: BEGIN first");
    expect_none(p);
    mysql_close(own);
}

/* A statement that is undone by itself leaves its transaction, and without autocommit a transaction need not be open yet. */
ON_BOTH(s33_a_failed_statement_leaves_a_transaction_to_write_in, fixture *p)
{
    pawl_store *store = open_plain(p);
    MYSQL      *own   = raw_connect(p, p->database);
    for (size_t i = 0; i < COUNT(begins); i++) {
        raw_run(own, begins[i]);
        raw_run(own, "update t set v = 1 where id = 1");
        assert_int_not_equal(mysql_query(own, "insert into t values (1, 1)"), 0);
        ok(p, enlist(p, store, own));
        raw_run(own, "rollback");
        expect_none(p);
    }
    ok(p, enlist(p, store, own));
    raw_run(own, "commit");
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    mysql_close(own);
}
