/* test_mysql_open.c - URLs that lead nowhere, several hosts, the settings of a session, sessions that
 * are ended, waits, and connections of callers, on MySQL and MariaDB (D37, O20, O21).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "contract/mysql_silent.h"
#include "support/tests.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/un.h>

#define SECRET "Se-kret" /* in every URL that is refused; in no text */

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* `format` has the place of "host:port", and of the database behind it. */
static void leads_nowhere(fixture *p, const char *format, pawl_code code, const char *part)
{
    pawl_store *store;
    expect_code(
        p,
        open_at(p, test_text(format, p->scheme, test_text("%s:%u", p->host, p->port), p->database),
                5000, &store),
        code);
    assert_null(store);
    expect_text(p, part);
    if (strstr(p->error.text, "kret") != NULL)
        fail_msg("'%s' shows a password", p->error.text);
}

ON_BOTH(d37_urls_that_lead_nowhere, fixture *p)
{
    leads_nowhere(p, "%s://pawl_nobody:" SECRET "@%s/%s", PAWL_EDENIED, "Access denied for user");
    leads_nowhere(p, "%s://root@%s/x%s", PAWL_ENOTSTORE, "Unknown database");
    leads_nowhere(p, "%s://root:" SECRET "@127.0.0.1:1/x?application_name=%s%s", PAWL_EUNREACHABLE,
                  "no connection to 127.0.0.1:1: ");
    leads_nowhere(p, "%s://root@127.0.0.1:1,127.0.0.1:2/x?application_name=%s%s", PAWL_EUNREACHABLE,
                  "no connection to 127.0.0.1:2: ");
    bool is_lenient = mysql_get_client_version() >= 30400; /* the library */
    leads_nowhere(p, "%s://root@%s/%s?ssl-mode=verify-identity",
                  is_lenient ? PAWL_ECONFIG : PAWL_EUNREACHABLE,
                  is_lenient ? "does not verify" : "error 2026");
    leads_nowhere(p, "%s://root@%s/%s", PAWL_ESCHEMA, "schema is missing or incomplete; run: pawl");
    leads_nowhere(p, "%s://root@%s/%s?nonsense=1", PAWL_ECONFIG, "unknown option 'nonsense'");
}

/* A server without TLS is refused where it is required: the library would go on in plain text. */
ON_BOTH(d37_required_tls_is_there_or_the_server_is_refused, fixture *p)
{
    pawl_store *store = NULL;
    apply(p);
    ok(p, open_at(p, p->url, 5000, &store));
    bool has_tls = mysql_get_ssl_cipher(pawl_store_native(store, "MYSQL")) != NULL;
    test_now(store);
    expect_code(p,
                open_at(p,
                        test_text("%s://root@%s:%u/%s?ssl-mode=required", p->scheme, p->host,
                                  p->port, p->database),
                        5000, &store),
                has_tls ? PAWL_OK : PAWL_EUNREACHABLE);
    if (has_tls)
        assert_non_null(mysql_get_ssl_cipher(pawl_store_native(store, "MYSQL")));
    else
        expect_text(p, "has no TLS, and ssl-mode=required");
}

/* ---- Several hosts ---------------------------------------------------------- */

ON_BOTH(d37_the_first_host_that_answers_is_taken, fixture *p)
{
    unsigned    silent;
    pawl_store *store;
    int         fd = listen_silently(&silent);
    apply(p);
    const char *url   = test_text("%s://root@127.0.0.1:1,127.0.0.1:%u,%s:%u/%s?connect_timeout=1",
                                  p->scheme, silent, p->host, p->port, p->database);
    int64_t     begun = clock_ms();
    ok(p, open_at(p, url, 30000, &store));
    assert_in_range(clock_ms() - begun, 900, 20000); /* the silent one had its second, no more */
    test_now(store);
    close(fd);
}

/* Without a limit of its own a host has the call's deadline. */
ON_BOTH(d37_a_host_that_is_silent_is_given_up_at_the_deadline, fixture *p)
{
    unsigned    silent;
    pawl_store *store;
    int         fd    = listen_silently(&silent);
    const char *url   = test_text("%s://root@127.0.0.1:%u/x", p->scheme, silent);
    int64_t     begun = clock_ms();
    refuses(p, open_at(p, url, 300, &store), PAWL_EUNREACHABLE, "no answer in time");
    assert_in_range(clock_ms() - begun, 250, 20000);
    close(fd);
}

ON_BOTH(d37_a_tls_handshake_without_an_answer_ends_at_the_deadline, fixture *p)
{
    unsigned    port;
    pthread_t   server;
    pawl_store *store;
    int         fd    = listen_silently(&port);
    const char *url   = test_text("%s://root@127.0.0.1:%u/x?ssl-mode=required", p->scheme, port);
    int64_t     begun = clock_ms();
    assert_int_equal(pthread_create(&server, NULL, greet, &fd), 0);
    expect_code(p, open_at(p, url, 300, &store), PAWL_EUNREACHABLE);
    expect_text(p, "no answer in time");
    assert_in_range(clock_ms() - begun, 250, 1150); /* a whole second after the greeting is more */
    pthread_join(server, NULL);
    close(fd);
}

/* ---- Sessions ------------------------------------------------------------------ */

static pawl_store *open_worker(fixture *p, const char *url)
{
    pawl_store *store;
    ok(p, open_at(p, url, 5000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

ON_BOTH(d20_a_session_has_pawls_settings, fixture *p)
{
    apply(p);
    pawl_store *store = open_worker(p, p->url);
    MYSQL      *own   = pawl_store_native(store, "MYSQL");
    assert_non_null(own);
    assert_string_equal(mysql_character_set_name(own), "utf8mb4");
    assert_int_equal(raw_number(own, "select 'a' = 'a ' or 'a' = 'A'"), 0);
    assert_int_equal(raw_number(own, "select @@sql_mode like '%STRICT_ALL_TABLES%'"), 1);
    assert_int_equal(raw_number(own, "select @@autocommit"), 1);
    assert_int_equal(raw_number(own, strcmp(p->scheme, "mysql") == 0
                                         ? "select @@transaction_isolation = 'READ-COMMITTED'"
                                         : "select @@tx_isolation = 'READ-COMMITTED'"),
                     1);
    assert_int_equal(raw_number(own, "select @@innodb_lock_wait_timeout"), 6);
    raw_run(p->raw, "create table t (id int)");
    raw_run(p->raw, "insert into t values (1)");
    raw_run(own, "update t set id = 1");
    assert_int_equal(mysql_affected_rows(own), 1); /* found, not changed */
}

/* ---- Ending a statement ---------------------------------------------------------- */

/* The socket of this machine, as the library finds it: another server's, which the test is here. */
static int listen_at_the_socket(char *path, size_t size)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(path, size, "/tmp/pawl_mysql_%ld.sock", (long)getpid());
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)unlink(path);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 20), 0);
    return fd;
}

static pawl_code wait_for_a_lock(fixture *p, pawl_store *store)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT};
    raw_run(p->raw, "begin");
    raw_run(p->raw, "select * from pawl_workers for update");
    const char     *id   = test_text("m-%lld", (long long)clock_ms());
    pawl_queue_send send = {
        .queue   = TEXT("orders"),
        .due     = NOW,
        .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = TEXT("{}")}};
    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    pawl_code code           = pawl_store_commit(store, &changes, NULL, &p->error);
    raw_run(p->raw, "rollback");
    return code;
}

/* "localhost" has a port in the URL, and other hosts stand before it: a statement is ended where it runs, and its
 * session lives on. */
ON_BOTH(d37_a_statement_is_ended_where_it_runs, fixture *p)
{
    static const char *const formats[] = {"%s://root@localhost:%u/%s",
                                          "%s://root@localhost:1,localhost:%u/%s",
                                          "%s://root@localhost:%u/%s?ssl-mode=disabled"};
    char                     path[100];
    pawl_store              *store;
    int                      fd = listen_at_the_socket(path, sizeof path);
    apply(p);
    for (size_t i = 0; i < COUNT(formats); i++) {
        ok(p, open_at(p, test_text(formats[i], p->scheme, p->port, p->database), 1000, &store));
        ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
        unsigned long session = mysql_thread_id(pawl_store_native(store, "MYSQL"));
        /* The server's own end of the wait, a second behind the deadline, comes first on a busy machine. */
        raw_run(pawl_store_native(store, "MYSQL"), "set innodb_lock_wait_timeout = 60");
        expect_code(p, wait_for_a_lock(p, store), PAWL_ETIMEOUT);
        assert_int_equal(mysql_thread_id(pawl_store_native(store, "MYSQL")), session);
        expect_code(p, wait_for_a_lock(p, store), PAWL_ETIMEOUT); /* and once more */
        pawl_changes none = {.now = NOW};
        ok(p, pawl_store_commit(store, &none, NULL, &p->error));
        assert_int_equal(mysql_thread_id(pawl_store_native(store, "MYSQL")), session);
        test_now(store);
    }
    assert_int_equal(accept(fd, NULL, NULL), -1); /* nobody came to the socket */
    close(fd);
    unlink(path);
}

/* A session with packets of the smallest size that pawl asks for; others have it meanwhile, too, and it does for
 * them. */
static pawl_store *open_with_packets_of(fixture *p, size_t size)
{
    const char *before = "select @@global.max_allowed_packet";
    const char *back =
        test_text("set global max_allowed_packet = %lld", raw_number(p->raw, before));
    raw_run(p->raw, test_text("set global max_allowed_packet = %zu", size));
    pawl_store *store = open_worker(p, p->url);
    raw_run(p->raw, back);
    return store;
}

/* A value as large as a packet of the server goes in parts, and each of them has a packet's own bytes beside it. */
ON_BOTH(a_body_as_large_as_a_packet_is_sent, fixture *p)
{
    size_t max = PAWL_BODY_SIZE_MAX;
    char  *all = calloc(1, max);
    assert_non_null(all);
    apply(p);
    pawl_store *store = open_with_packets_of(p, max);
    for (size_t less = 0; less < 40; less += 13) {
        const char     *id       = test_text("m-%zu", less);
        pawl_changes    changes  = {.now = NOW, ONE_UNIT};
        pawl_queue_send send     = {.queue   = TEXT("orders"),
                                    .due     = NOW,
                                    .message = {.id   = pawl_text_of(id),
                                                .type = TEXT("t"),
                                                .body = {.data = all, .size = max - less}}};
        changes.queue_send.items = &send;
        changes.queue_send.count = 1;
        ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    }
    assert_int_equal(
        raw_number(p->raw, "select count(*) from pawl_queue where length(Body) > 16777000"), 4);
    free(all);
}

static size_t living(fixture *p, pawl_store *store)
{
    pawl_worker_info *items;
    size_t            count = 0;
    ok(p, pawl_store_worker_list(store, p->arena, &items, &count, &p->error));
    return count;
}

static void kill_session(fixture *p, pawl_store *of)
{
    raw_run(p->raw, test_text("kill %lu", mysql_thread_id(pawl_store_native(of, "MYSQL"))));
    const char *sql =
        test_text("select count(*) from information_schema.processlist where id = %lu",
                  mysql_thread_id(pawl_store_native(of, "MYSQL")));
    while (raw_number(p->raw, sql) != 0) {
    }
}

/* Its worker is dead at once for the others; at its next call it connects again and lives. */
ON_BOTH(o20_a_session_that_is_ended_takes_the_workers_life_with_it, fixture *p)
{
    apply(p);
    pawl_store *a = open_worker(p, p->url), *b = open_worker(p, p->url);
    assert_int_equal(living(p, b), 2);
    kill_session(p, a);
    assert_int_equal(living(p, b), 1);
    assert_int_equal(living(p, a), 2); /* the loss is noticed before it asks */
    assert_int_equal(living(p, b), 2);
    ok(p, pawl_store_worker_close(a, NOW, &p->error));
    assert_int_equal(living(p, b), 1);
}

/* OpenSSL's list of errors is the thread's: what the end of a session leaves there is no failure of
 * another session's calls. MySQL speaks TLS unless it is told not to. */
ON_BOTH(o20_a_session_that_is_ended_ends_no_other_over_tls, fixture *p)
{
    apply(p);
    pawl_store *a = open_worker(p, p->url), *b = open_worker(p, p->url);
    for (int i = 0; i < 5; i++) {
        pawl_queue_rows rows = {0};
        ok(p, pawl_store_handler_transaction_begin(a, &p->error));
        kill_session(p, a);
        pawl_store_handler_transaction_end(a); /* the rollback fails, and nothing connects again */
        for (int call = 0; call < 20; call++)
            ok(p, pawl_store_queue_list(b, TEXT("orders"), 0, p->arena, &rows, &p->error));
        assert_int_equal(living(p, a), 2);
    }
}

static void own_sql(pawl_store *store, const char *sql)
{
    raw_run(pawl_store_native(store, "MYSQL"), sql);
}

/* The handler's writes went with its session: the commit must not go through without it, whoever notices first. */
ON_BOTH(e24_a_handler_transaction_whose_session_ended_is_not_committed, fixture *p)
{
    pawl_queue_rows rows = {0};
    apply(p);
    raw_run(p->raw, "create table t (id int primary key)");
    pawl_store *store = open_worker(p, p->url);
    for (int reads = 0; reads < 2; reads++) {
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        own_sql(store, "insert into t values (1)");
        kill_session(p, store);
        if (reads != 0) /* a call of the handler's */
            expect_code(p,
                        pawl_store_queue_list(store, TEXT("orders"), 0, p->arena, &rows, &p->error),
                        PAWL_ELOST);
        refuses(p, send_three(p, store, "abc"), PAWL_ELOST, "the handler transaction with it");
        assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    }
    ok(p, send_three(p, store, "abc"));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 3);
}

/* Also where the next statement has begun another transaction: by itself, as autocommit is off behind a commit that was
 * sent ahead, or by a word of the handler's. */
ON_BOTH(e24_a_handler_transaction_that_was_ended_is_not_committed, fixture *p)
{
    static const char *const ends[] = {"commit", "rollback", "rollback and chain",
                                       "commit and chain", "create table if not exists u (id int)"};
    apply(p);
    raw_run(p->raw, "create table t (id int primary key)");
    pawl_store *store = open_worker(p, p->url);
    for (size_t i = 0; i < COUNT(ends); i++) {
        char ids[] = {(char)('a' + 3 * i), (char)('b' + 3 * i), (char)('c' + 3 * i), '\0'};
        ok(p, send_three(p, store, ids));
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        assert_int_equal(raw_number(pawl_store_native(store, "MYSQL"), "select @@autocommit"), 0);
        own_sql(store, ends[i]);
        own_sql(store, "insert into t values (1)");
        refuses(p, send_three(p, store, "xyz"), PAWL_EINVAL,
                "only pawl may commit it or roll it back");
        assert_int_equal(raw_number(p->raw, "select count(*) from t"), 0);
    }
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    own_sql(store, "insert into t values (1)");
    ok(p, send_three(p, store, "xyz"));
    assert_int_equal(raw_number(p->raw, "select count(*) from t"), 1);
}

#define ROWS                                                                                     \
    "with recursive n as (select 1 as i union all select i + 1 from n where i < 900) select i, " \
    "repeat('x', 100000) from n"

static void leave_query(MYSQL *mysql, const char *sql)
{
    assert_int_equal(mysql_query(mysql, sql), 0);
}

static void  *left[20]; /* never freed, and found by who looks for leaks */
static size_t left_count;

static void *keep_left(void *item)
{
    assert_true(item != NULL && left_count < COUNT(left));
    return left[left_count++] = item;
}

static void leave_first(MYSQL *mysql, const char *sql)
{
    leave_query(mysql, sql);
    assert_non_null(mysql_fetch_row(keep_left(mysql_use_result(mysql))));
}

static void leave_prepared(MYSQL *mysql, const char *sql)
{
    MYSQL_STMT *stmt = keep_left(mysql_stmt_init(mysql));
    assert_int_equal(mysql_stmt_prepare(stmt, sql, strlen(sql)), 0);
    assert_int_equal(mysql_stmt_execute(stmt), 0);
}

/* The answer to a procedure has a second part. */
static void leave_second(MYSQL *mysql, const char *sql)
{
    leave_query(mysql, sql);
    mysql_free_result(mysql_store_result(mysql));
}

/* The session goes on: another one would not have the locks of the claims. */
ON_BOTH(e24_rows_that_a_handler_did_not_read_are_passed_over, fixture *p)
{
    static const struct {
        void (*leave)(MYSQL *mysql, const char *sql);
        const char *sql;
    } ways[] = {{leave_query, "select 1"},
                {leave_query, ROWS},
                {leave_first, "select 1 union select 2"},
                {leave_first, ROWS},
                {leave_prepared, "select 1"},
                {leave_prepared, ROWS},
                {leave_second, "call two()"},
                {leave_query, "call two()"}};
    apply(p);
    raw_run(p->raw, "create table t (id int primary key)");
    raw_run(p->raw, "create procedure two() begin select 1; select 2; end");
    pawl_store *store = open_worker(p, p->url);
    long long   id    = raw_number(pawl_store_native(store, "MYSQL"), "select connection_id()");
    for (size_t i = 0; i < 2 * COUNT(ways); i++) {
        char ids[] = {(char)('A' + 3 * i), (char)('B' + 3 * i), (char)('C' + 3 * i), '\0'};
        ok(p, pawl_store_handler_transaction_begin(store, &p->error));
        own_sql(store, "insert into t values (1)");
        ways[i / 2].leave(pawl_store_native(store, "MYSQL"), ways[i / 2].sql);
        if (i % 2 == 0) {
            refuses(p, send_three(p, store, "xyz"), PAWL_EINVAL, "left a statement unfinished");
        } else {
            pawl_store_handler_transaction_end(store);
        }
        assert_int_equal(raw_number(p->raw, "select count(*) from t"), 0);
        ok(p, send_three(p, store, ids));
        assert_int_equal(raw_number(pawl_store_native(store, "MYSQL"), "select connection_id()"),
                         id);
    }
}

static void *update_first(void *context)
{
    raw_run(context, "update t set v = 2 where id = 1");
    return NULL;
}

/* The handler did not say that it failed, and nothing is wrong with its message: it is tried again. */
ON_BOTH(e24_a_handler_transaction_that_a_deadlock_ended_is_no_mistake, fixture *p)
{
    pthread_t thread;
    apply(p);
    raw_run(p->raw, "create table t (id int primary key, v int)");
    raw_run(p->raw, "insert into t values (1, 0), (2, 0), (3, 0), (4, 0)");
    pawl_store *store = open_worker(p, p->url);
    ok(p, pawl_store_handler_transaction_begin(store, &p->error));
    own_sql(store, "update t set v = 1 where id = 1");
    assert_true(pawl_store_in_transaction(store));
    raw_run(p->raw, "start transaction");
    raw_run(p->raw, "update t set v = 2 where id > 1"); /* more to undo: not the victim */
    assert_int_equal(pthread_create(&thread, NULL, update_first, p->raw), 0);
    MYSQL *own = pawl_store_native(store, "MYSQL");
    assert_int_not_equal(mysql_query(own, "update t set v = 1 where id = 2"), 0);
    assert_int_equal(mysql_errno(own), 1213);
    assert_false(pawl_store_in_transaction(store));
    assert_int_equal(pthread_join(thread, NULL), 0);
    raw_run(p->raw, "commit");
    expect_code(p, send_three(p, store, "abc"), PAWL_ELOST);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    ok(p, send_three(p, store, "abc"));
}

/* A second handle of the worker ends the session of the first, and the lock's name is free of case and of
 * other databases. */
ON_BOTH(o20_a_worker_has_one_session, fixture *p)
{
    pawl_store *second;
    apply(p);
    pawl_store *first = open_worker(p, p->url);
    ok(p, open_at(p, p->url, 5000, &second));
    second->worker        = first->worker;
    unsigned long session = mysql_thread_id(pawl_store_native(first, "MYSQL"));
    ok(p, pawl_store_worker_open(second, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    assert_true(second->epoch > first->epoch);
    assert_int_equal(
        raw_number(p->raw,
                   test_text("select count(*) from information_schema.processlist where id = %lu",
                             session)),
        0);
    assert_int_equal(living(p, second), 1);
}

/* ---- Waiting --------------------------------------------------------------------- */

static int64_t waited(fixture *p, pawl_store *store, int64_t milliseconds, pawl_code expected)
{
    int64_t begun = clock_ms();
    expect_code(p, pawl_store_wait(store, milliseconds * 1000, -1, &p->error), expected);
    return clock_ms() - begun;
}

ON_BOTH(o21_a_wait_ends_with_a_row_that_another_commits, fixture *p)
{
    apply(p);
    pawl_store *store = open_worker(p, p->url);
    assert_true(waited(p, store, 60, PAWL_OK) >= 59);
    assert_true(waited(p, store, 0, PAWL_OK) < 5000);
    for (int64_t paused = 0; paused < 990;) /* the pauses have grown to a second */
        paused = waited(p, store, 60000, PAWL_OK);
    assert_true(waited(p, store, 60000, PAWL_OK) < 20000); /* nothing that shows in a number */
    raw_run(p->raw, "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, "
                    "Source, Version, `Index`, Endpoint, Destination, AttemptsBefore, MessageId, "
                    "Type, CorrelationId, CausationId, Headers, Body) values ('x', 'pending', 0, "
                    "now(), now(), now(), '', 1, 1, '', '', 0, 'm', 't', '', '', '', '')");
    assert_true(waited(p, store, 60000, PAWL_OK) < 900);
}

typedef struct interrupter {
    pawl_store *store;
    atomic_bool is_enough;
} interrupter;

/* An interrupt ends the wait under way, and is forgotten by the next call. */
static void *interrupt_until_enough(void *context)
{
    interrupter *self = context;
    while (!atomic_load(&self->is_enough)) {
        (void)poll(NULL, 0, 5);
        pawl_store_interrupt(self->store);
    }
    return NULL;
}

ON_BOTH(o21_a_wait_is_interrupted_from_another_thread, fixture *p)
{
    pthread_t thread;
    pawl_code code = PAWL_OK;
    apply(p);
    interrupter self  = {.store = open_worker(p, p->url)};
    pawl_store *store = self.store;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_enough, &self), 0);
    for (int i = 0; code == PAWL_OK && i < 30; i++)
        code = pawl_store_wait(store, 60000000, -1, &p->error);
    atomic_store(&self.is_enough, true);
    pthread_join(thread, NULL);
    expect_code(p, code, PAWL_EINTERRUPTED);
    ok(p, pawl_store_wait(store, 1000, -1, &p->error)); /* the interrupt is forgotten */
}

/* ---- Connections of callers --------------------------------------------------------- */

static void enlist_is_refused(fixture *p, pawl_store *store, MYSQL *native, const char *words)
{
    pawl_changes changes = {0};
    refuses(p, pawl_store_enlist(store, native, &changes, &p->error), PAWL_EINVAL, words);
}

ON_BOTH(a_connection_that_is_not_fit_is_refused, fixture *p)
{
    apply(p);
    pawl_store *store = open_worker(p, p->url);
    MYSQL      *own   = raw_connect(p, p->database);
    enlist_is_refused(p, store, own, "has no open transaction");
    raw_run(own, "begin");
    assert_int_equal(mysql_set_character_set(own, "latin1"), 0);
    enlist_is_refused(p, store, own, "character set is latin1, utf8mb4 is needed");
    assert_int_equal(mysql_set_character_set(own, "utf8mb4"), 0);
    raw_run(own, "use information_schema");
    enlist_is_refused(p, store, own, "is on another server or database than the store");
    mysql_close(own);
}

/* A mistake that no later try mends; the caller's own reads go on. */
ON_BOTH(a_transaction_that_is_read_only_is_refused, fixture *p)
{
    apply(p);
    pawl_store     *store   = open_worker(p, p->url);
    MYSQL          *own     = raw_connect(p, p->database);
    pawl_queue_send send    = send_of("orders", "m-1");
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    raw_run(own, "start transaction read only");
    for (int tries = 0; tries < 2; tries++) {
        refuses(p, pawl_store_enlist(store, own, &changes, &p->error), PAWL_EINVAL,
                "your transaction is read only");
        assert_null(strstr(p->error.text, "rolled back"));
    }
    raw_run(own, "commit");
    raw_run(own, "begin");
    ok(p, pawl_store_enlist(store, own, &changes, &p->error));
    raw_run(own, "commit");
    mysql_close(own);
}

int main(void)
{
    /* Where the library looks for a socket, read when it begins. */
    setenv("MYSQL_UNIX_PORT", test_text("/tmp/pawl_mysql_%ld.sock", (long)getpid()), 1);
    int missing = fixtures_are_missing();
    return missing != 0 ? missing : tests_run(NULL, NULL);
}
