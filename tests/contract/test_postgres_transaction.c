/* test_postgres_transaction.c - commits that must wait, that are told to stop,
 * that the server refuses: nothing is applied, and the handle works on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#define FIRST "01000000-0000-0000-0000-000000000001" /* uuid_of(1) */
#define SECOND "01000000-0000-0000-0000-000000000002"

/* ---- The fence ---------------------------------------------------------- */

ON_TROUBLE(a_replaced_worker_is_fenced, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    raw_run(p->pg, "update pawl_workers set \"Epoch\" = \"Epoch\" + 1");
    for (int i = 0; i < 3; i++) {
        refuses(p, send_one(p, store, "orders", "m-2"), PAWL_EFENCED,
                "this worker was replaced (its epoch 1 is over)");
    }
    assert_int_equal(queue_count(p), 1);
    raw_run(p->pg, "delete from pawl_workers");
    expect_code(p, send_one(p, store, "orders", "m-2"), PAWL_EFENCED);
    assert_int_equal(queue_count(p), 1);
}

/* The commit looks for its worker's row where it was last. */
ON_TROUBLE(a_worker_row_may_move, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    raw_run(p->pg, "update pawl_workers set \"Seen\" = now()");
    raw_run(p->pg, "vacuum full pawl_workers");
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    raw_run(p->pg, "update pawl_workers set \"Seen\" = now()");
    ok(p, send_one(p, store, "orders", "m-2"));
    raw_run(p->pg, "update pawl_workers set \"Seen\" = now()");
    raw_run(p->pg, "vacuum pawl_workers");
    ok(p, send_one(p, store, "orders", "m-3"));
    ok(p, send_one(p, store, "orders", "m-4"));
    assert_int_equal(queue_count(p), 3);
}

/* ---- Errors of the server ----------------------------------------------- */

typedef struct state_case {
    const char *state;
    pawl_code   code;
    pawl_code
        at_commit; /* of COMMIT: a deferred constraint, unless the server itself is in trouble */
} state_case;

/* As the type of a message, which a trigger makes an error. */
static const state_case state_cases[] = {
    {"40001", PAWL_EBUSY, PAWL_EBUSY},
    {"40P01", PAWL_EBUSY, PAWL_EBUSY},
    {"55P03", PAWL_EBUSY, PAWL_EBUSY},
    {"53100", PAWL_EFULL, PAWL_EFULL},
    {"53200", PAWL_ENOMEM, PAWL_ENOMEM},
    {"57014", PAWL_ETIMEOUT, PAWL_ETIMEOUT},
    {"25006", PAWL_EUNREACHABLE, PAWL_EUNREACHABLE},
    {"42501", PAWL_EDENIED, PAWL_ECONFLICT},
    {"08006", PAWL_ELOST, PAWL_ELOST},
    {"57P01", PAWL_ELOST, PAWL_ELOST},
    {"57P05", PAWL_ELOST, PAWL_ELOST},
    {"25P03", PAWL_ELOST, PAWL_ELOST},
    {"25P04", PAWL_ELOST, PAWL_ELOST},
    {"58030", PAWL_ENOTSTORE, PAWL_ENOTSTORE},
    {"XX001", PAWL_ENOTSTORE, PAWL_ENOTSTORE},
    {"P0001", PAWL_EPERSIST, PAWL_ECONFLICT},
    {"OWN01", PAWL_EPERSIST, PAWL_ECONFLICT},
    {"22003", PAWL_EINVAL, PAWL_ECONFLICT},
    {"23502", PAWL_EPERSIST, PAWL_ECONFLICT},
    {"23503", PAWL_EPERSIST, PAWL_ECONFLICT},
    {"23514", PAWL_EPERSIST, PAWL_ECONFLICT},
    {"25P02", PAWL_EPERSIST, PAWL_ECONFLICT},
};

static bool costs_the_connection(const state_case *c)
{
    return c->code == PAWL_ELOST || c->code == PAWL_EUNREACHABLE;
}

/* The detail of such an error may be a message's body, and is left out. */
static bool tells_a_value(const char *state)
{
    return strncmp(state, "22", 2) == 0 || strcmp(state, "23502") == 0 ||
           strcmp(state, "23514") == 0;
}

/* Every kind of the set, and the claim that it settles, is as it was before. */
static void try_state(fixture *p, pawl_store *store, const state_case *c, pawl_code code,
                      int64_t seq)
{
    pawl_queue_send   send     = send_of("orders", "m-2");
    pawl_inbox_entry  mark     = {.endpoint = TEXT("orders"), .message_id = TEXT("m-1"), .at = NOW};
    pawl_queue_settle settle   = {.queue = TEXT("orders"), .seq = seq};
    pawl_changes      changes  = one_send(&send);
    send.message.type          = pawl_text_of(c->state);
    changes.inbox_entry.items  = &mark;
    changes.inbox_entry.count  = 1;
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), code,
            test_text("[%s]", c->state));
    assert_int_equal(strstr(p->error.text, "(of m-2)") == NULL, tells_a_value(c->state));
    assert_int_equal(queue_count(p), 1);
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_inbox"), 0);
}

static void try_states(fixture *p, pawl_store *store, pawl_store *other, bool is_commit)
{
    for (size_t i = 0; i < COUNT(state_cases); i++) {
        const state_case *c    = &state_cases[i];
        pawl_queue_rows   rows = claim_some(p, store, "orders", NOW, 1);
        assert_int_equal(rows.count, 1);
        try_state(p, store, c, is_commit ? c->at_commit : c->code, rows.items[0].seq);
        /* After a loss the claim is gone, and to be had again. */
        pawl_queue_settle settle = {
            .queue = TEXT("orders"), .seq = rows.items[0].seq, .action = PAWL_QUEUE_RELEASE};
        pawl_changes release = {
            .now = NOW, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
        expect_code(p, pawl_store_commit(store, &release, NULL, &p->error),
                    costs_the_connection(c) ? PAWL_EGONE : PAWL_OK);
        assert_int_equal(claim_some(p, other, "orders", NOW, 1).count, 1);
        pawl_store_worker_close(other, NOW, &p->error);
    }
}

ON_TROUBLE(errors_leave_nothing_behind, fixture *p)
{
    pawl_store *store = open_store(p, p->url), *other = open_store(p, p->url);
    ok(p, send_one(p, store, "orders", "m-1"));
    raw_run(p->pg, "create function fail() returns trigger language plpgsql as "
                   "$$ begin raise exception 'made' using errcode = new.\"Type\", "
                   "detail = 'of ' || new.\"MessageId\"; end $$");
    raw_run(p->pg, "create trigger failing before insert on pawl_queue for each row "
                   "execute function fail()");
    try_states(p, store, other, false);
    /* The commit itself fails. */
    raw_run(p->pg, "drop trigger failing on pawl_queue");
    raw_run(p->pg, "create constraint trigger failing after insert on pawl_queue deferrable "
                   "initially deferred for each row execute function fail()");
    try_states(p, store, other, true);
    raw_run(p->pg, "drop trigger failing on pawl_queue");
    ok(p, send_one(p, store, "orders", "m-2"));
}

/* ---- Servers that can only be read -------------------------------------- */

/* While the message with that id is to be stored. */
static void refuse_writing(fixture *p, const char *id)
{
    raw_run(p->pg, "create function fail() returns trigger language plpgsql as "
                   "$$ begin raise exception 'made' using errcode = '25006'; end $$");
    raw_run(p->pg, test_text("create trigger failing before insert on pawl_queue for each row "
                             "when (new.\"MessageId\" = '%s') execute function fail()",
                             id));
}

/* As after a fail-over behind one name: another server has it now, and the connection is to
 * the old one. */
ON_TROUBLE(one_that_can_only_be_read_is_away, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    int         pid   = pid_of(store);
    refuse_writing(p, "m-1");
    refuses(p, send_one(p, store, "orders", "m-1"), PAWL_EUNREACHABLE,
            "the server can only be read now: made [25006]");
    ok(p, send_one(p, store, "orders", "m-2"));
    assert_int_not_equal(pid_of(store), pid);
    pid = pid_of(store);
    ok(p, send_one(p, store, "orders", "m-3"));
    assert_int_equal(pid_of(store), pid);
    assert_int_equal(queue_count(p), 2);
}

/* The second connection, while messages are claimed: they stay claimed. */
ON_TROUBLE(one_that_can_only_be_read_is_away_for_the_second_connection, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    refuse_writing(p, "m-3");
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, store, "orders", NOW, 1);
    ok(p, send_one(p, store, "other", "m-2"));
    int pid = PQbackendPID(pawl__pg_of(store)->side.pg);
    expect_code(p, send_one(p, store, "other", "m-3"), PAWL_EUNREACHABLE);
    ok(p, send_one(p, store, "other", "m-4"));
    assert_int_not_equal(PQbackendPID(pawl__pg_of(store)->side.pg), pid);
    ok(p, settle_one(p, store, "orders", rows.items[0].seq));
    assert_int_equal(queue_count(p), 2);
}

/* ---- The end of a worker ------------------------------------------------- */

/* While the condition holds. */
static void refuse_ends(fixture *p, const char *state, const char *condition)
{
    raw_run(p->pg,
            test_text(
                "create function refuse() returns trigger language plpgsql as $$ begin if %s then "
                "raise exception 'made' using errcode = '%s'; end if; return old; end $$",
                condition, state));
    raw_run(p->pg, "create trigger refusing before delete on pawl_workers for each row execute "
                   "function refuse()");
}

/* Of the sessions of the fixture's URL. */
static int64_t count_locks(fixture *p)
{
    return raw_number(
        p->pg,
        test_text("select count(*) from pg_locks as l join pg_stat_activity as a on a.pid = l.pid "
                  "where l.locktype = 'advisory' and a.application_name = '%s'",
                  p->schema));
}

/* The lock that it lives by stays, too: before the session ends, nobody takes it for crashed. */
ON_TROUBLE(the_row_of_a_worker_may_stay, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    refuse_ends(p, "57014", "true");
    expect_code(p, pawl_store_worker_close(store, NOW, &p->error), PAWL_ETIMEOUT);
    assert_int_equal(count_locks(p), 1);
    raw_run(p->pg, "drop trigger refusing on pawl_workers");
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    assert_int_equal(count_locks(p), 0);
}

/* As after a maintenance window, whose setting the session has kept. */
ON_TROUBLE(a_worker_that_met_no_refusal_ends_on_a_new_session, fixture *p)
{
    pawl_store *store = open_store(p, p->url);
    refuse_ends(p, "25006", test_text("pg_backend_pid() = %d", pid_of(store)));
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    assert_int_equal(raw_number(p->pg, "select count(*) from pawl_workers where \"Epoch\" > 0"), 0);
    assert_int_equal(count_locks(p), 0);
}

/* A standby can be opened, and looked at. */
ON_TROUBLE(a_standby_can_be_read, fixture *p)
{
    pawl_store     *store = NULL;
    pawl_queue_rows rows;
    apply_schema(p, p->url, order_tables, 1);
    const char *url = test_text("%s&options=-c%%20default_transaction_read_only%%3Don", p->url);
    ok(p, open_with(p, url, order_tables, 1, &store));
    ok(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error));
    refuses(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error),
            PAWL_EUNREACHABLE, "the server can only be read now");
    ok(p, pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error));
}

/* ---- Deadlocks and limits ----------------------------------------------- */

/* A commit that has the row of the first saga waits for the advisory lock 1 before it goes
 * on to the second one. */
static void stop_behind_the_first(fixture *p)
{
    raw_run(p->pg, "create function stop() returns trigger language plpgsql as $$ begin "
                   "perform pg_advisory_xact_lock(tg_relid::integer, 1); return new; end $$");
    raw_run(p->pg, "create trigger stopping before update on \"shop_Order\" for each row when "
                   "(old.\"Id\" = '" FIRST "') execute function stop()");
}

/* Has the row of the second saga, and waits for ever, whatever deadlock it is in. */
static PGconn *open_opponent(fixture *p)
{
    PGconn *pg = raw_open(p->schema);
    raw_run(pg, test_text("set deadlock_timeout = '1d'; set application_name = '%s'", p->schema));
    raw_run(pg, "begin; select 1 from \"shop_Order\" where \"Id\" = '" SECOND "' for update");
    return pg;
}

static void close_opponent(PGconn *pg)
{
    PGresult *result = PQgetResult(pg);
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    assert_null(PQgetResult(pg));
    raw_run(pg, "rollback");
    PQfinish(pg);
}

/* A session looks for a deadlock once, some time after it began to wait. The commit is the last to wait: it finds the
 * deadlock, however slow the others are, is undone and begins anew. It waits for the opponent then, and locks its claim
 * again, which nobody else got meanwhile. */
ON_TROUBLE(d37_a_deadlock_is_tried_again, fixture *p)
{
    pawl_store      *store     = open_store(p, p->url);
    pawl_saga_update updates[] = {begin_order(p, store, 1), begin_order(p, store, 2)};
    pawl_changes     changes   = one_update(updates);
    job              commit;
    ok(p, send_one(p, store, "orders", "m-1"));
    pawl_queue_rows   rows     = claim_some(p, store, "orders", NOW, 1);
    pawl_queue_settle settle   = {.queue = TEXT("orders"), .seq = rows.items[0].seq};
    changes.saga_update.count  = 2;
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    stop_behind_the_first(p);
    PGconn *opponent = open_opponent(p);
    raw_run(p->pg, "select pg_advisory_lock('\"shop_Order\"'::regclass::integer, 1)");
    start_job(p, &commit, store, &changes);
    wait_for_waiting(p, 1);
    assert_int_equal(PQsendQuery(opponent, "update \"shop_Order\" set \"Metadata\" = 'x' "
                                           "where \"Id\" = '" FIRST "'"),
                     1);
    wait_for_waiting(p, 2);
    raw_run(p->pg, "select pg_advisory_unlock('\"shop_Order\"'::regclass::integer, 1)");
    close_opponent(opponent);
    expect_job(p, &commit, PAWL_OK);
    assert_int_equal(order_version(p, 1), 2);
    assert_int_equal(order_version(p, 2), 2);
    assert_int_equal(queue_count(p), 0);
}

/* Else each of two commits that begin the same sagas would wait for the other at the index of their values. Rows lie in the
 * order in which they were inserted. */
ON_TROUBLE(new_sagas_are_inserted_in_the_order_of_their_values, fixture *p)
{
    static const char *const values[] = {"c", "a", "b"};
    pawl_store              *store    = open_store(p, p->url);
    pawl_saga_insert         sagas[3] = {{.unit = 0}};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .saga_insert = {.items = sagas, .count = 3}};
    char         order[40];
    for (size_t i = 0; i < 3; i++) {
        sagas[i].table        = &order_table;
        sagas[i].id           = (pawl_saga_id){{{(unsigned char)(i + 1)}}};
        sagas[i].main         = text_value(values[i]);
        sagas[i].type_version = TEXT("1.0");
    }
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    raw_text(p->pg,
             "select string_agg(left(\"Id\"::text, 2), ' ' order by ctid) from \"shop_Order\"",
             order, sizeof order);
    assert_string_equal(order, "02 03 01");
}

ON_TROUBLE(limits_of_the_session_end_a_commit, fixture *p)
{
    static const struct {
        const char *options;
        pawl_code   code;
        const char *text;
    } limits[] = {
        {"-c%20lock_timeout%3D2s", PAWL_EBUSY, "due to lock timeout [55P03]"},
        /* Statements without a limit wait for no disk. */
        {"-c%20statement_timeout%3D2s%20-c%20synchronous_commit%3Doff", PAWL_ETIMEOUT,
         "due to statement timeout [57014]"},
    };
    apply_schema(p, p->url, order_tables, 1);
    for (unsigned i = 0; i < COUNT(limits); i++) {
        const char      *url     = test_text("%s&options=%s", p->url, limits[i].options);
        pawl_store      *store   = open_more(p, url);
        pawl_saga_update update  = begin_order(p, store, i + 1);
        pawl_changes     changes = one_update(&update);
        lock_order(p, i + 1);
        refuses(p, pawl_store_commit(store, &changes, NULL, &p->error), limits[i].code,
                limits[i].text);
        raw_run(p->pg, "commit");
        assert_int_equal(order_version(p, i + 1), 1);
        ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
        assert_int_equal(order_version(p, i + 1), 2);
        test_now(store);
    }
}

/* ---- Deadlines and interrupts ------------------------------------------- */

/* A claimed message, and a saga whose row another connection holds. */
typedef struct waiting {
    pawl_store       *store;
    pawl_saga_update  update;
    pawl_queue_settle settle;
    pawl_changes      changes;
} waiting;

static void begin_waiting(fixture *p, waiting *w, int64_t deadline_ms)
{
    apply_schema(p, p->url, order_tables, 1);
    w->store  = open_more(p, p->url);
    w->update = begin_order(p, w->store, 1);
    ok(p, send_one(p, w->store, "orders", "m-1"));
    pawl_queue_rows rows = claim_some(p, w->store, "orders", NOW, 1);
    w->settle            = (pawl_queue_settle){.queue = TEXT("orders"), .seq = rows.items[0].seq};
    w->changes           = one_update(&w->update);
    w->changes.queue_settle.items = &w->settle;
    w->changes.queue_settle.count = 1;
    lock_order(p, 1);
    set_deadline(w->store, deadline_ms);
}

static void end_waiting(fixture *p, waiting *w)
{
    set_deadline(w->store, ENOUGH_MS);
    raw_run(p->pg, "rollback");
    assert_int_equal(order_version(p, 1), 1);
    assert_int_equal(queue_count(p), 1);
    ok(p, pawl_store_commit(w->store, &w->changes, NULL, &p->error));
    assert_int_equal(order_version(p, 1), 2);
    assert_int_equal(queue_count(p), 0);
    test_now(w->store);
}

ON_TROUBLE(a_commit_keeps_to_its_deadline, fixture *p)
{
    waiting w;
    begin_waiting(p, &w, SHORT_MS);
    int pid = pid_of(w.store);
    refuses(p, pawl_store_commit(w.store, &w.changes, NULL, &p->error), PAWL_ETIMEOUT,
            "took longer than 2000 ms, its deadline");
    assert_int_equal(pid_of(w.store), pid);
    end_waiting(p, &w);
}

ON_TROUBLE(o30_a_commit_is_interrupted, fixture *p)
{
    waiting w;
    job     commit;
    begin_waiting(p, &w, ENOUGH_MS);
    int pid = pid_of(w.store);
    start_job(p, &commit, w.store, &w.changes);
    wait_for_waiting(p, 1);
    pawl_store_interrupt(w.store);
    expect_job(p, &commit, PAWL_EINTERRUPTED);
    assert_int_equal(pid_of(w.store), pid);
    /* An interrupt that comes while no call is under way ends none. */
    pawl_store_interrupt(w.store);
    end_waiting(p, &w);
}

/* A read that failed has ended the transaction that holds the claims: the commit
 * that follows takes their locks again. */
ON_TROUBLE(a_read_that_fails_keeps_the_claims, fixture *p)
{
    pawl_subscriptions list = {0};
    waiting            w;
    begin_waiting(p, &w, SHORT_MS);
    raw_run(p->pg, "lock table pawl_subscriptions in access exclusive mode");
    expect_code(p, pawl_store_subscriptions(w.store, p->arena, &list, &p->error), PAWL_ETIMEOUT);
    set_deadline(w.store, ENOUGH_MS);
    raw_run(p->pg, "rollback; begin");
    ok(p, pawl_store_subscriptions(w.store, p->arena, &list, &p->error));
    end_waiting(p, &w);
}

ON_TROUBLE(a_hold_keeps_to_its_deadline, fixture *p)
{
    pawl_value    id  = {.type = PAWL_VALUE_UUID, .as.uuid = uuid_of(1)};
    pawl_saga_row row = {0};
    waiting       w;
    begin_waiting(p, &w, ENOUGH_MS);
    for (int i = 0; i < 2; i++) {
        ok(p, pawl_store_handler_transaction_begin(w.store, &p->error));
        set_deadline(w.store, SHORT_MS);
        if (i == 0)
            expect_code(p,
                        pawl_store_saga_load(w.store, &order_table, PAWL_SAGA_BY_ID, &id, 1,
                                             PAWL_SAGA_LOCKED, p->arena, &row, &p->error),
                        PAWL_ETIMEOUT);
        else
            expect_code(p, pawl_store_commit(w.store, &w.changes, NULL, &p->error), PAWL_ETIMEOUT);
        expect_text(p, "its deadline");
        set_deadline(w.store, ENOUGH_MS);
        pawl_store_handler_transaction_end(w.store);
    }
    end_waiting(p, &w);
}

/* The caller's transaction is as it was before. */
ON_TROUBLE(an_enlist_keeps_to_its_deadline, fixture *p)
{
    pawl_store      *store   = open_store(p, p->url);
    pawl_store      *hasty   = open_more(p, p->url);
    pawl_saga_update update  = begin_order(p, store, 1);
    pawl_changes     changes = one_update(&update);
    PGconn          *pg      = raw_open(p->schema);
    lock_order(p, 1);
    raw_run(pg, "begin; create table mine (id integer)");
    set_deadline(hasty, SHORT_MS);
    expect_code(p, pawl_store_enlist(hasty, pg, &changes, &p->error), PAWL_ETIMEOUT);
    set_deadline(hasty, ENOUGH_MS);
    raw_run(p->pg, "rollback");
    ok(p, pawl_store_enlist(hasty, pg, &changes, &p->error));
    raw_run(pg, "commit");
    assert_int_equal(order_version(p, 1), 2);
    assert_int_equal(raw_number(p->pg, "select count(*) from mine"), 0);
    PQfinish(pg);
}
