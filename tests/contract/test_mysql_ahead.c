/* test_mysql_ahead.c - statements of a commit that are sent before the answers to those before them are
 * read: what a failure among them leaves, and says, on MySQL and MariaDB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "store/mysql/mysql.h"
#include "support/tests.h"

#include <pthread.h>

#define LONG_MS 20000
#define SHORT_MS 400

/* ---- A commit ------------------------------------------------------------ */

static pawl_store *open_worker(fixture *p, int64_t deadline_ms)
{
    pawl_store *store;
    apply(p);
    ok(p, open_at(p, p->url, deadline_ms, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

static MYSQL *session_of(pawl_store *store)
{
    return pawl_store_native(store, "MYSQL");
}

static pawl_saga_id id_of(size_t number)
{
    return (pawl_saga_id){.uuid = pawl_uuid_v5((pawl_uuid){{0}}, &number, sizeof number)};
}

/* Two checkpoints are moved on from `from`, and a message is sent. */
typedef struct set {
    pawl_checkpoint_set moves[2];
    pawl_queue_send     send;
    pawl_changes        changes;
} set;

static void make_set(set *s, int64_t from, const char *message)
{
    *s = (set){
        .moves = {{.name = TEXT("first"), .from = from, .to = from + 1, .at = NOW},
                  {.name = TEXT("second"), .from = from, .to = from + 1, .at = NOW}},
        .send  = {.queue   = TEXT("orders"),
                  .due     = NOW,
                  .message = {.id = pawl_text_of(message), .type = TEXT("t")}},
    };
    s->changes = (pawl_changes){.now = NOW,
                                ONE_UNIT,
                                .checkpoint_set = {.items = s->moves, .count = 2},
                                .queue_send     = {.items = &s->send, .count = 1}};
}

static pawl_code commit_set(fixture *p, pawl_store *store, set *s, size_t *refused_count)
{
    pawl_refusals refused = {.arena = p->arena};
    pawl_code     code    = pawl_store_commit(store, &s->changes, &refused, &p->error);
    *refused_count        = refused.count;
    return code;
}

/* Also prepares all statements. */
static void commit_first(fixture *p, pawl_store *store)
{
    set    s;
    size_t refused;
    make_set(&s, 0, "m");
    ok(p, commit_set(p, store, &s, &refused));
    assert_int_equal(refused, 0);
}

/* Nothing of a set that failed is there, each of the session's statements commits itself again, and the
 * next answers are those of the next statements. */
static void nothing_is_there(fixture *p, pawl_store *store)
{
    set    s;
    size_t refused;
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    assert_int_equal(raw_number(p->raw, "select sum(Position) from pawl_checkpoints"), 2);
    make_set(&s, 1, "next");
    ok(p, commit_set(p, store, &s, &refused));
    assert_int_equal(refused, 0);
    assert_int_equal(raw_number(session_of(store), "select @@autocommit"), 1);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 2);
    assert_int_equal(raw_number(p->raw, "select sum(Position) from pawl_checkpoints"), 4);
}

static MYSQL *lock(fixture *p, const char *names)
{
    MYSQL      *rival = raw_connect(p, p->database);
    const char *sql =
        test_text("select * from pawl_checkpoints where Name in (%s) for update", names);
    raw_run(rival, "begin");
    raw_run(rival, sql);
    return rival;
}

/* ---- Failures that are read late ----------------------------------------- */

/* The message's insert was sent, and run, behind the statement that could not have its row. */
ON_BOTH(a_failure_read_late_names_its_change, fixture *p)
{
    pawl_store *store = open_worker(p, SHORT_MS);
    set         s;
    size_t      refused;
    commit_first(p, store);
    unsigned long id    = mysql_thread_id(session_of(store));
    MYSQL        *rival = lock(p, "'second'");
    make_set(&s, 1, "late");
    expect_code(p, commit_set(p, store, &s, &refused), PAWL_ETIMEOUT);
    assert_int_equal(strncmp(p->error.text, "checkpoint_set 1: ", 18), 0);
    expect_text(p, "longer than 400 ms");
    mysql_close(rival);
    nothing_is_there(p, store);
    assert_int_equal(mysql_thread_id(session_of(store)), id);
}

/* A failure of another kind behind it names its own change again. */
ON_BOTH(a_failure_behind_a_late_one_names_its_own, fixture *p)
{
    pawl_store *store = open_worker(p, SHORT_MS);
    set         s;
    size_t      refused;
    commit_first(p, store);
    MYSQL *rival = lock(p, "'first'");
    make_set(&s, 1, "late");
    expect_code(p, commit_set(p, store, &s, &refused), PAWL_ETIMEOUT);
    assert_int_equal(strncmp(p->error.text, "checkpoint_set 0: ", 18), 0);
    mysql_close(rival);
    s.send.message.type = TEXT("\xff"); /* no text: found when the round is done again */
    pawl_code code      = commit_set(p, store, &s, &refused);
    refuses(p, code, PAWL_EINVAL, "queue_send 0: ");
    nothing_is_there(p, store);
}

/* ---- Behind the end of a transaction -------------------------------------- */

/* Waits until the store's session waits for a row. */
typedef struct watch {
    fixture      *p;
    MYSQL        *session;
    unsigned long store_id;
    const char   *then; /* run by `rival` then; NULL: `store` is interrupted */
    MYSQL        *rival;
    pawl_store   *store;
    pthread_t     thread;
} watch;

static void *act(void *context)
{
    watch      *w     = context;
    long long   waits = 0;
    const char *sql   = test_text(
          "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT' "
            "and trx_mysql_thread_id = %lu",
          w->store_id);
    for (int i = 0; waits == 0 && i < 60; i++) {
        waits = raw_number(w->session, sql);
        if (waits == 0)
            usleep(150000); /* MariaDB looks no sooner again */
    }
    if (w->then == NULL)
        pawl_store_interrupt(w->store);
    else if (mysql_query(w->rival, w->then) == 0)
        (void)mysql_query(w->rival, "commit");
    return NULL;
}

static void watch_begin(watch *w, fixture *p, pawl_store *store, MYSQL *rival, const char *then)
{
    *w          = (watch){.p = p, .rival = rival, .store = store, .then = then};
    w->session  = raw_connect(p, NULL);
    w->store_id = mysql_thread_id(session_of(store));
    assert_int_equal(pthread_create(&w->thread, NULL, act, w), 0);
}

static void watch_end(watch *w)
{
    pthread_join(w->thread, NULL);
    mysql_close(w->session);
}

/* Behind a deadlock the server has no transaction: the message that was sent behind it is not there all the
 * same. Done again, the commit finds what the rival wrote. */
ON_BOTH(what_stands_behind_a_deadlock_is_not_written, fixture *p)
{
    pawl_store *store = open_worker(p, LONG_MS);
    watch       w;
    set         s;
    size_t      refused = 0;
    commit_first(p, store);
    raw_run(p->raw, "create table heavy (id int primary key)");
    MYSQL *rival = lock(p, "'second'");
    /* The transaction that has changed less is the one to be undone. */
    raw_run(rival, "insert into heavy values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)");
    raw_run(rival, "update pawl_checkpoints set Position = 7 where Name = 'second'");
    watch_begin(&w, p, store, rival,
                "update pawl_checkpoints set Position = 7 where Name = 'first'");
    make_set(&s, 1, "behind");
    pawl_code code = commit_set(p, store, &s, &refused);
    watch_end(&w);
    ok(p, code);
    assert_int_equal(refused, 2);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    assert_int_equal(raw_number(p->raw, "select sum(Position) from pawl_checkpoints"), 14);
    assert_int_equal(raw_number(session_of(store), "select @@autocommit"), 1);
    mysql_close(rival);
}

/* ---- Interrupts and deadlines --------------------------------------------- */

ON_BOTH(an_interrupt_leaves_no_answer_unread, fixture *p)
{
    pawl_store *store = open_worker(p, LONG_MS);
    watch       w;
    set         s;
    size_t      refused;
    commit_first(p, store);
    unsigned long id    = mysql_thread_id(session_of(store));
    MYSQL        *rival = lock(p, "'first'");
    watch_begin(&w, p, store, NULL, NULL);
    make_set(&s, 1, "interrupted");
    expect_code(p, commit_set(p, store, &s, &refused), PAWL_EINTERRUPTED);
    watch_end(&w);
    expect_text(p, "checkpoint_set 0: ");
    mysql_close(rival);
    nothing_is_there(p, store);
    assert_int_equal(mysql_thread_id(session_of(store)), id);
}

/* The statement that waits is ended; the next one, which is at the server already, waits as well. The session
 * is ended then, with the locks that it has. */
ON_BOTH(a_flight_that_waits_twice_is_given_up, fixture *p)
{
    pawl_store *store = open_worker(p, SHORT_MS);
    set         s;
    size_t      refused;
    commit_first(p, store);
    const char *sql =
        test_text("select count(*) from information_schema.processlist where id = %lu",
                  mysql_thread_id(session_of(store)));
    MYSQL *rival = lock(p, "'first', 'second'");
    make_set(&s, 1, "twice");
    refuses(p, commit_set(p, store, &s, &refused), PAWL_ETIMEOUT, "checkpoint_set 0: ");
    long long left = 1;
    for (int i = 0; left != 0 && i < 100; i++) {
        left = raw_number(p->raw, sql);
        if (left != 0)
            usleep(50000);
    }
    assert_int_equal(left, 0); /* although the rows are locked still */
    mysql_close(rival);
    nothing_is_there(p, store);
}

/* ---- Answers that are as good, or not -------------------------------------- */

static long long status_of(pawl_store *store, const char *name)
{
    assert_int_equal(
        mysql_query(session_of(store), test_text("show session status like '%s'", name)), 0);
    MYSQL_RES *rows  = mysql_store_result(session_of(store));
    long long  found = atoll(mysql_fetch_row(rows)[1]);
    mysql_free_result(rows);
    return found;
}

#define MANY 150 /* more than twice the answers that may be unread */

/* Timeouts are cancelled by statements of one each; none has its row. */
ON_BOTH(more_statements_than_answers_may_be_unread, fixture *p)
{
    pawl_store         *store = open_worker(p, LONG_MS);
    pawl_timeout_cancel cancels[MANY];
    set                 s;
    size_t              refused;
    make_set(&s, 0, "many");
    for (size_t i = 0; i < MANY; i++)
        cancels[i] = (pawl_timeout_cancel){.saga_id = id_of(i), .name = TEXT("t")};
    s.changes.timeout_cancel.items = cancels;
    s.changes.timeout_cancel.count = MANY;
    ok(p, commit_set(p, store, &s, &refused));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    assert_int_equal(raw_number(p->raw, "select sum(Position) from pawl_checkpoints"), 2);
    assert_int_equal(status_of(store, "Com_rollback"), 0);
}

#define ADDED 10

/* The row of a partition is there from its second message on. */
ON_BOTH(a_row_that_is_there_as_a_rule_costs_no_round, fixture *p)
{
    pawl_store         *store = open_worker(p, LONG_MS);
    pawl_aggregator_add adds[2 * ADDED];
    pawl_refusals       refused = {.arena = p->arena};
    for (size_t i = 0; i < 2 * ADDED; i++)
        adds[i] = (pawl_aggregator_add){.name      = TEXT("daily"),
                                        .partition = TEXT("eu"),
                                        .key     = {.data = &"abcdefghijklmnopqrst"[i], .size = 1},
                                        .at      = NOW,
                                        .due     = NOW,
                                        .message = {.id = TEXT("m"), .type = TEXT("t")}};
    for (size_t round = 0; round < 2; round++) {
        pawl_changes changes = {.now = NOW,
                                ONE_UNIT,
                                .aggregator_add = {.items = adds + round * ADDED, .count = ADDED}};
        ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    }
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_aggregator"), 2 * ADDED);
    assert_int_equal(status_of(store, "Com_rollback"), 0);
}

/* The update of a saga is looked at in a round whose insert has failed already: what is told is the
 * insert's refusal, as if one had followed the other. */
ON_BOTH(a_round_that_was_not_right_refuses_nothing, fixture *p)
{
    pawl_store      *store   = open_worker(p, LONG_MS);
    pawl_saga_id     id      = id_of(1);
    pawl_refusals    refused = {.arena = p->arena};
    pawl_saga_insert insert  = {.table        = &order_table,
                                .id           = id,
                                .metadata     = TEXT("{}"),
                                .data         = TEXT("{}"),
                                .type_version = TEXT("1"),
                                .main         = {.type = PAWL_VALUE_TEXT, .as.text = TEXT("o1")}};
    pawl_saga_update update  = {.table        = &order_table,
                                .id           = id,
                                .version      = 1,
                                .metadata     = TEXT("{}"),
                                .data         = TEXT("{}"),
                                .type_version = TEXT("1")};
    pawl_changes changes = {.now = NOW, ONE_UNIT, .saga_insert = {.items = &insert, .count = 1}};
    set          s;
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    raw_run(p->raw, "update shop_Order set Concurrency = 9");
    make_set(&s, 0, "m");
    s.changes.saga_insert       = changes.saga_insert;
    s.changes.saga_update.items = &update;
    s.changes.saga_update.count = 1;
    ok(p, pawl_store_commit(store, &s.changes, &refused, &p->error));
    assert_int_equal(refused.count, 2);
    assert_int_equal(refused.items[0].kind, pawl_change_saga_insert);
}

/* The worker's row is another handle's now. */
ON_BOTH(o32_a_fence_is_read_late, fixture *p)
{
    pawl_store *store = open_worker(p, LONG_MS);
    set         s;
    size_t      refused;
    commit_first(p, store);
    raw_run(p->raw, "update pawl_workers set Epoch = Epoch + 1");
    make_set(&s, 1, "fenced");
    expect_code(p, commit_set(p, store, &s, &refused), PAWL_EFENCED);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    assert_int_equal(raw_number(p->raw, "select sum(Position) from pawl_checkpoints"), 2);
}

#define SETTLED 8 /* on both servers a set */

ON_BOTH(a_set_that_finds_fewer_rows_is_noticed, fixture *p)
{
    pawl_store         *store = open_worker(p, LONG_MS);
    pawl_timeout_settle settles[SETTLED];
    pawl_refusals       refused = {.arena = p->arena};
    pawl_changes        changes = {.now            = NOW,
                                   .unit_count     = 1,
                                   .group_count    = SETTLED,
                                   .timeout_settle = {.items = settles, .count = SETTLED}};
    for (uint32_t i = 0; i < SETTLED; i++)
        settles[i] = (pawl_timeout_settle){.group     = i,
                                           .id        = {.uuid = id_of(i).uuid},
                                           .action    = PAWL_TIMEOUT_REMOVE,
                                           .has_owner = true,
                                           .owner     = {.uuid = id_of(99).uuid}};
    ok(p, pawl_store_commit(store, &changes, &refused, &p->error));
    assert_int_equal(refused.count, SETTLED);
}

/* ---- Autocommit ----------------------------------------------------------- */

static unsigned transaction_flags(pawl_store *store)
{
    return pawl__mysql_of(store)->main.mysql->server_status &
           (SERVER_STATUS_IN_TRANS | SERVER_STATUS_AUTOCOMMIT);
}

/* Autocommit stays off behind a commit, for the next begin. A read that comes first would open a transaction: it switches
 * autocommit on. */
ON_BOTH(a_read_behind_a_commit_opens_no_transaction, fixture *p)
{
    pawl_store *store = open_worker(p, LONG_MS);
    pawl_text   id    = TEXT("m");
    bool        known = true;
    set         s;
    size_t      refused;
    commit_first(p, store);
    make_set(&s, 1, "next");
    ok(p, commit_set(p, store, &s, &refused));
    assert_int_equal(transaction_flags(store), 0);
    ok(p, pawl_store_inbox_known(store, TEXT("orders"), &id, 1, &known, &p->error));
    assert_int_equal(transaction_flags(store), SERVER_STATUS_AUTOCOMMIT);
}

/* A pooler keeps the connection of a session without autocommit for it alone. */
ON_BOTH(a_session_behind_a_pooler_keeps_autocommit, fixture *p)
{
    pawl_store *store = open_worker(p, LONG_MS);
    set         s;
    size_t      refused;
    pawl__mysql_of(store)->remote.server.beats = true;
    commit_first(p, store);
    make_set(&s, 1, "next");
    ok(p, commit_set(p, store, &s, &refused));
    assert_int_equal(transaction_flags(store), SERVER_STATUS_AUTOCOMMIT);
}
