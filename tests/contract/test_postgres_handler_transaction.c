/* test_postgres_handler_transaction.c - the handler's own SQL between pawl's, and what stays
 * claimed when (S33).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

/* ---- The handler's own SQL ---------------------------------------------- */

/* A handle with a claimed message in a hold; a table for the handler. */
typedef struct held {
    pawl_store       *store;
    PGconn           *pg;
    pawl_queue_settle settle;
    pawl_changes      changes; /* settles it */
} held;

static void set_path(fixture *p, const held *h)
{
    raw_run(h->pg, test_text("set local search_path = %s", p->schema));
}

static void begin_hold(fixture *p, held *h)
{
    h->store = open_store(p, p->url);
    raw_run(p->pg, "create table mine (id integer)");
    ok(p, send_one(p, h->store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, h->store, "orders", NOW, 1);
    h->settle            = (pawl_queue_settle){.queue = TEXT("orders"), .seq = rows.items[0].seq};
    h->changes           = (pawl_changes){.now = NOW, ONE_UNIT};
    h->changes.queue_settle.items = &h->settle;
    h->changes.queue_settle.count = 1;
    ok(p, pawl_store_handler_transaction_begin(h->store, &p->error));
    h->pg = h->store->ops->native(h->store);
    set_path(p, h);
}

static int64_t mine_count(fixture *p)
{
    return raw_number(p->pg, "select count(*) from mine");
}

/* Rows of the handler are undone; nobody got the message meanwhile. */
static void expect_undone(fixture *p, held *h)
{
    pawl_store *other = open_more(p, p->url);
    assert_int_equal(claim_some(p, other, "orders", NOW, 9).count, 0);
    assert_int_equal(mine_count(p), 0);
    assert_int_equal(queue_count(p), 1);
    test_now(other);
    ok(p, pawl_store_handler_transaction_begin(h->store, &p->error));
    set_path(p, h);
}

/* The claim is this handle's still, and its commit works. */
static void end_hold(fixture *p, held *h)
{
    pawl_store *other = open_more(p, p->url);
    assert_int_equal(queue_count(p), 1);
    ok(p, send_one(p, h->store, "elsewhere", "m-2"));
    assert_int_equal(claim_some(p, h->store, "orders", NOW, 9).count, 0);
    assert_int_equal(claim_some(p, other, "orders", NOW, 9).count, 0);
    ok(p, pawl_store_commit(h->store, &h->changes, NULL, &p->error));
    assert_int_equal(queue_count(p), 1);
    test_now(other);
    test_now(h->store);
}

ON_TROUBLE(own_sql_commits_with_the_changes, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "insert into mine values (1)");
    assert_int_equal(mine_count(p), 0);
    expect_code(p, pawl_store_handler_transaction_begin(h.store, &p->error), PAWL_EINVAL);
    expect_code(p, pawl_store_wait(h.store, 1, -1, &p->error), PAWL_EINVAL);
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
    assert_int_equal(mine_count(p), 1);
    assert_int_equal(queue_count(p), 0);
}

/* Not of a subtransaction's: a claimed row would be locked by one and deleted by the other, which leaves index
 * entries that every claim reads. */
ON_TROUBLE(a_commit_in_a_hold_has_one_transaction_id, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "insert into mine values (1)");
    int64_t id = raw_number(h.pg, "select pg_current_xact_id()::text::bigint");
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
    assert_int_equal(raw_number(p->pg, "select xmin::text::bigint from pawl_workers"), id);
}

/* Its statements are planned for their parameters, and not kept. */
ON_TROUBLE(no_statement_of_a_commit_in_a_hold_is_prepared, fixture *p)
{
    static const char prepared[] = "select count(*) from pg_prepared_statements";
    pawl_queue_rows   rows       = {0};
    held              h;
    begin_hold(p, &h);
    int64_t count = raw_number(h.pg, prepared);
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
    ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
    assert_int_equal(raw_number(h.pg, prepared), count);
    pawl_store_handler_transaction_end(h.store);
    ok(p, pawl_store_queue_list(h.store, TEXT("orders"), 0, p->arena, &rows, &p->error));
    ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
    assert_true(raw_number(h.pg, prepared) > count);
    pawl_store_handler_transaction_end(h.store);
}

/* Other calls of the handle run in the hold's transaction, and change no setting of it. */
ON_TROUBLE(a_lease_in_a_hold_is_part_of_it, fixture *p)
{
    bool is_held = false;
    held h;
    begin_hold(p, &h);
    ok(p, pawl_store_lead(h.store, TEXT("outbox"), NOW, PAWL_SECONDS(10), &is_held, &p->error));
    assert_true(is_held);
    expect_raw_text(h.pg, "show lock_timeout", "0");
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_leases"), 0);
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_leases"), 1);
}

/* pawl's session is set to plan for pawl's statements alone. */
ON_TROUBLE(own_sql_is_planned_as_the_server_would, fixture *p)
{
    static const char *const names[] = {
        "enable_seqscan", "enable_bitmapscan",       "enable_hashjoin", "enable_mergejoin",
        "enable_sort",    "enable_incremental_sort", "plan_cache_mode", "jit",
    };
    held h;
    begin_hold(p, &h);
    for (size_t i = 0; i < COUNT(names); i++) {
        char        expected[100];
        const char *sql = test_text("show %s", names[i]);
        raw_text(p->pg, sql, expected, sizeof expected);
        expect_raw_text(h.pg, sql, expected);
    }
    /* A handler may take longer than what forgot its transaction. */
    expect_raw_text(h.pg, "show idle_in_transaction_session_timeout", "2min");
    pawl_store_handler_transaction_end(h.store);
    end_hold(p, &h);
}

/* pawl's texts would be garbled, here and in the session's later transactions. */
ON_TROUBLE(another_encoding_fails_the_commit, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "set client_encoding = latin1");
    refuses(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL,
            "the handler's own SQL changed the client_encoding");
    assert_string_equal(PQparameterStatus(h.pg, "client_encoding"), "UTF8");
    end_hold(p, &h);
}

ON_TROUBLE(another_encoding_behind_its_transaction_ends_the_session, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "set client_encoding = latin1");
    raw_run(h.pg, "commit");
    pawl_store_handler_transaction_end(h.store);
    assert_true(pawl__pg_of(h.store)->main.is_lost);
}

ON_TROUBLE(a_failed_statement_fails_the_commit, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "insert into mine values (1)");
    expect_refused(h.pg, "insert into mine values ('x')", "22P02", "invalid input syntax");
    refuses(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL,
            "a statement of the handler's own SQL failed");
    expect_undone(p, &h);
    raw_run(h.pg, "insert into mine values (1)");
    expect_refused(h.pg, "insert into mine values ('x')", "22P02", "invalid input syntax");
    pawl_store_handler_transaction_end(h.store);
    expect_undone(p, &h);
    pawl_store_handler_transaction_end(h.store);
    end_hold(p, &h);
}

/* A trigger whose check comes with the COMMIT fails it with the code. */
static void insert_failing(held *h, const char *how)
{
    raw_run(
        h->pg,
        test_text(
            "create function fail() returns trigger language plpgsql as $$ begin %s; "
            "return null; end $$; create constraint trigger fail after insert on mine deferrable "
            "initially deferred for each row execute function fail(); insert into mine values (1)",
            how));
}

/* Also by what is a guard of pawl's in a statement of its own, and a duplicate key to be looked for. */
ON_TROUBLE(a_deferred_constraint_fails_the_commit, fixture *p)
{
    static const char *const ways[] = {"raise 'no'", "perform 1 / (new.id - 1)",
                                       "raise 'no' using errcode = '23505'"};
    held                     h;
    begin_hold(p, &h);
    for (size_t i = 0; i < COUNT(ways); i++) {
        insert_failing(&h, ways[i]);
        expect_code(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_ECONFLICT);
        assert_int_equal(mine_count(p), 0);
        ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
        set_path(p, &h);
    }
    pawl_store_handler_transaction_end(h.store);
    end_hold(p, &h);
}

ON_TROUBLE(only_pawl_ends_the_transaction, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "insert into mine values (1); commit");
    refuses(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL,
            "only pawl may commit it or roll it back");
    assert_int_equal(mine_count(p), 1);

    ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
    raw_run(h.pg, "rollback; begin");
    refuses(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL,
            "savepoint \"pawl_handler\" does not exist");
    ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
    raw_run(h.pg, "rollback");
    expect_code(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL);
    ok(p, pawl_store_handler_transaction_begin(h.store, &p->error));
    pawl_store_handler_transaction_end(h.store);
    end_hold(p, &h);
}

static void leave_open(const held *h, size_t how)
{
    switch (how) {
    case 0: assert_int_equal(PQsendQuery(h->pg, "select 1"), 1); break;
    case 1: assert_int_equal(PQsendQuery(h->pg, "select pg_sleep(600)"), 1); break;
    case 2: PQclear(PQexec(h->pg, "copy mine from stdin")); break;
    case 3: PQclear(PQexec(h->pg, "copy (select generate_series(1, 100000)) to stdout")); break;
    default: fail();
    }
}

/* The fault is the handler's: the claim stays, so that its failure can be committed. */
ON_TROUBLE(an_unfinished_statement_fails_the_commit, fixture *p)
{
    held h;
    begin_hold(p, &h);
    int pid = pid_of(h.store);
    for (size_t how = 0; how < 4; how++) {
        leave_open(&h, how);
        refuses(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EINVAL,
                "left a statement or a COPY unfinished");
        expect_undone(p, &h);
        leave_open(&h, how); /* and the handler answers that it failed */
        pawl_store_handler_transaction_end(h.store);
        expect_undone(p, &h);
    }
    pawl_store_handler_transaction_end(h.store);
    assert_int_equal(pid_of(h.store), pid);
    assert_int_equal(mine_count(p), 0);
    end_hold(p, &h);
}

/* A session that cannot be brought back from what the handler left is given up. */
ON_TROUBLE(a_lost_session_loses_the_hold, fixture *p)
{
    held h;
    begin_hold(p, &h);
    PQclear(PQexec(h.pg, "select pg_terminate_backend(pg_backend_pid())"));
    expect_code(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_ELOST);
    expect_code(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error), PAWL_EGONE);
    assert_int_equal(claim_some(p, h.store, "orders", NOW, 9).count, 1);
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
}

/* Group 1 is fine, but what the handler wrote cannot be done again here. */
ON_TROUBLE(a_refusal_in_a_hold_refuses_everything, fixture *p)
{
    pawl_inbox_entry marks[] = {
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
        {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW},
    };
    pawl_refusals refused = {.arena = p->arena};
    held          h;
    begin_hold(p, &h);
    raw_run(h.pg, "insert into mine values (1)");
    h.changes.group_count       = 2;
    h.changes.unit_count        = 2;
    h.settle.unit               = 1;
    h.settle.group              = 1;
    h.changes.inbox_entry.items = marks;
    h.changes.inbox_entry.count = 2;
    ok(p, pawl_store_commit(h.store, &h.changes, &refused, &p->error));
    assert_int_equal(refused.count, 2);
    assert_int_equal(refused.items[0].reason, PAWL_EDUPLICATE);
    assert_int_equal(refused.items[1].group, 1);
    assert_int_equal(refused.items[1].reason, PAWL_ECONFLICT);
    expect_undone(p, &h);
    pawl_store_handler_transaction_end(h.store);
    h.changes.inbox_entry.count = 0;
    end_hold(p, &h);
}

/* ---- Waking ------------------------------------------------------------- */

static void *sleep_long(void *context)
{
    job *j  = context;
    j->code = pawl_store_wait(j->store, PAWL_MINUTES(60), -1, &j->error);
    return NULL;
}

/* A session that sleeps for its queue holds a lock that many can share. */
static void expect_waking(fixture *p, pawl_store *sleeper, pawl_store *sender, const char *id)
{
    struct timespec end;
    job             j = {.store = sleeper};
    assert_int_equal(pthread_create(&j.thread, NULL, sleep_long, &j), 0);
    raw_wait(p->pg,
             test_text("select (count(*) > 0)::integer from pg_locks where locktype = 'advisory' "
                       "and mode = 'ShareLock' and pid = %d",
                       pid_of(sleeper)),
             1);
    ok(p, send_one(p, sender, "orders", id));
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_MS / 1000;
    assert_int_equal(pthread_timedjoin_np(j.thread, NULL, &end), 0);
    p->error = j.error;
    ok(p, j.code);
    /* A claim answers the wake-up: else the next wait would end at once. */
    pawl_queue_rows rows = claim_some(p, sleeper, "orders", NOW, 9);
    assert_int_equal(rows.count, 1);
    ok(p, settle_one(p, sleeper, "orders", rows.items[0].seq));
}

ON_TROUBLE(a_handle_is_woken_after_a_hold_too, fixture *p)
{
    pawl_store *store = open_store(p, p->url), *sender = open_store(p, p->url);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    expect_waking(p, store, sender, "m-1");
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    pawl_store_handler_transaction_end(store);
    expect_waking(p, store, sender, "m-2");
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    ok(p, send_one(p, store, "elsewhere", "m-3"));
    expect_waking(p, store, sender, "m-4");
    kill_pid(p, pid_of(store));
    expect_code(p, pawl_store_wait(store, PAWL_SECONDS(30), -1, &p->error), PAWL_ELOST);
    assert_int_equal(claim_some(p, store, "orders", NOW, 1).count, 0);
    expect_waking(p, store, sender, "m-5");
}

/* ---- Claims ------------------------------------------------------------- */

/* The second connection carries a change set that settles no claim: its rows are there at once. */
ON_TROUBLE(a_send_that_does_not_wait_keeps_the_claims, fixture *p)
{
    pawl_store *store = open_store(p, p->url), *other = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    wait_for_sessions(p, 2);
    ok(p, send_one(p, store, "bills", "m-2"));
    assert_int_equal(session_count(p), 3);
    assert_int_equal(queue_count(p), 2);
    assert_int_equal(claim_some(p, other, "orders", NOW, 9).count, 0);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    ok(p, send_one(p, store, "bills", "m-3"));
    assert_int_equal(claim_some(p, other, "bills", NOW, 9).count, 2);
}

ON_TROUBLE(refused_groups_stay_claimed, fixture *p)
{
    pawl_store       *store = open_store(p, p->url), *other = open_store(p, p->url);
    pawl_inbox_entry  marks[2]  = {{.endpoint = TEXT("orders"), .message_id = TEXT("m-1")},
                                   {.endpoint = TEXT("orders"), .message_id = TEXT("m-1")}};
    pawl_queue_settle settles[] = {{.queue = TEXT("orders"), .unit = 0, .group = 0},
                                   {.queue = TEXT("orders"), .unit = 1, .group = 1}};
    pawl_refusals     refused   = {.arena = p->arena};
    pawl_changes      changes   = {.now          = NOW,
                                   .group_count  = 2,
                                   .unit_count   = 2,
                                   .queue_settle = {.items = settles, .count = 2}};
    for (int i = 1; i <= 3; i++)
        ok(p, send_one(p, store, "orders", test_text("m-%d", i)));
    pawl_queue_rows rows      = claim_some(p, store, "orders", NOW, 3);
    settles[0].seq            = rows.items[0].seq;
    settles[1].seq            = rows.items[1].seq;
    changes.inbox_entry.items = marks;
    changes.inbox_entry.count = 2; /* both of group 0: the second is refused */
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(refused.count, 1);
    assert_int_equal(refused.items[0].group, 0);
    /* The second message is settled; the refused one and the one that the set did
     * not name are this handle's. */
    assert_int_equal(queue_count(p), 2);
    assert_int_equal(claim_some(p, other, "orders", NOW, 9).count, 0);
    assert_int_equal(claim_some(p, store, "orders", NOW, 9).count, 0);
    expect_code(p, settle_one(p, store, "orders", rows.items[1].seq), PAWL_EGONE);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    ok(p, settle_one(p, store, "orders", rows.items[2].seq));
}

/* ---- Prepared statements ------------------------------------------------ */

ON_TROUBLE(forgotten_statements_are_prepared_anew, fixture *p)
{
    held h;
    begin_hold(p, &h);
    raw_run(h.pg, "deallocate all");
    pawl_store_handler_transaction_end(h.store);
    ok(p, pawl_store_commit(h.store, &h.changes, NULL, &p->error));
    assert_int_equal(queue_count(p), 0);
    test_now(h.store);
}

ON_TROUBLE(an_altered_table_is_planned_anew, fixture *p)
{
    pawl_value  id    = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_store *store = open_store(p, p->url);
    begin_order(p, store, 1);
    pawl_saga_row row = load_saga(p, store, &order_table, PAWL_SAGA_BY_ID, id);
    assert_int_equal(row.version, 1);
    raw_run(p->pg, "alter table \"shop_Order\" alter column \"Metadata\" type varchar(4000)");
    expect_code(p,
                pawl_store_saga_load(store, &order_table, PAWL_SAGA_BY_ID, &id, 1,
                                     PAWL_SAGA_UNLOCKED, p->arena, &row, &p->error),
                PAWL_EBUSY);
    row = load_saga(p, store, &order_table, PAWL_SAGA_BY_ID, id);
    assert_int_equal(row.version, 1);
}
