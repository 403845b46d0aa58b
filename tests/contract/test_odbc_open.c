/* test_odbc_open.c - a server behind an ODBC driver: what is refused at open and in which words, sessions that
 * are lost, calls that are broken off at their deadline or by an interrupt, values that are long, and a
 * transaction of the application's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#if !defined(PAWL_HAVE_MYSQL) || !defined(PAWL_HAVE_ODBC)

int main(void)
{
    puts("skipped: built without libmariadb, or without unixODBC");
    return 77;
}
#else

#include "contract/mysql_proxy.h"

#include "contract/odbc_fixture.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define ON_MARIADB(function) TESTS(function, fixture *p, ON_SERVER_OF(function, "mariadb"))

#define TRIES 400
#define FRESH_MS 150 /* the server shows the same again to a reader that comes sooner */

static void url_with(const fixture *p, const char *more, char url[ODBC_URL_SIZE])
{
    if (!odbc_url(test_text(";Database=%s%s", p->database, more), url))
        skip();
}

/* ---- Opening ------------------------------------------------------------- */

static void refused_with(fixture *p, const char *url, pawl_code code, const char *words)
{
    pawl_store *store;
    refuses(p, open_at(p, url, 5000, &store), code, words);
    if (strstr(p->error.text, "secret") != NULL)
        fail_msg("%s", p->error.text);
}

ON_MARIADB(a_refusal_says_why)
{
    char url[ODBC_URL_SIZE];
    url_with(p, ";Port=1;PWD=secret", url);
    refused_with(p, url, PAWL_EUNREACHABLE, "error 2002");
    url_with(p, ";UID=nobody;PWD=secret", url);
    refused_with(p, url, PAWL_EDENIED, "error 1045");
    url_with(p, ";Database=pawl_none", url);
    refused_with(p, url, PAWL_ENOTSTORE, "error 1049");
    url_with(p, "", url);
    refused_with(p, url, PAWL_ESCHEMA, "pawl schema apply");
    refused_with(p, "odbc:Driver=/nowhere.so;PWD=secret?dialect=mysql", PAWL_EUNREACHABLE,
                 "Can't open lib '/nowhere.so'");
    refused_with(p, "odbc:pawl none?dialect=mysql", PAWL_EUNREACHABLE, "IM002");
    refused_with(p, "odbc:DSN=pawl none;PWD=secret?dialect=mysql", PAWL_EUNREACHABLE, "PWD=***");
}

#define PATIENCE_S 30

/* The kernel accepts for it: a driver that waits without end is ended by the alarm. */
ON_MARIADB(connecting_to_a_silent_server_ends_at_the_deadline)
{
    char               url[ODBC_URL_SIZE];
    struct sockaddr_in at     = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          size   = sizeof at;
    pawl_store        *store  = NULL;
    int                silent = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(silent, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(silent, 8), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &size), 0);
    url_with(p, test_text(";Server=127.0.0.1;Port=%u", ntohs(at.sin_port)), url);
    (void)alarm(PATIENCE_S);
    expect_code(p, open_at(p, url, 1000, &store), PAWL_EUNREACHABLE);
    (void)alarm(0);
    close(silent);
}

/* ---- Sessions -------------------------------------------------------------- */

static pawl_store *open_applied(fixture *p, const char *url, int64_t deadline_ms)
{
    pawl_store *store;
    apply(p);
    ok(p, open_at(p, url, deadline_ms, &store));
    return store;
}

static pawl_code send_body(fixture *p, pawl_store *store, const char *id, pawl_text body)
{
    return pawl_store_commit(
        store,
        ONE_CHANGE(queue_send, NOW, .queue = TEXT("orders"), .due = NOW,
                   .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = body}),
        NULL, &p->error);
}

/* A session that was ended is made anew by the operation after the one that noticed. */
ON_MARIADB(a_lost_session_is_made_anew)
{
    char url[ODBC_URL_SIZE];
    url_with(p, "", url);
    pawl_store *store = open_applied(p, url, 5000);
    ok(p, send_body(p, store, "m-1", TEXT("{}")));
    long long session = raw_number(p->raw, "select max(id) from information_schema.processlist "
                                           "where db = database() and id <> connection_id()");
    raw_run(p->raw, test_text("kill %lld", session));
    pawl_code code = send_body(p, store, "m-2", TEXT("{}"));
    if (code != PAWL_OK)
        expect_code(p, code, PAWL_ELOST);
    if (code != PAWL_OK)
        ok(p, send_body(p, store, "m-2", TEXT("{}")));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 2);
}

/* MariaDB's driver crashes where it reads the answer to a text that is not prepared. */
ON_MARIADB(a_link_may_be_lost_within_an_answer)
{
    char        url[ODBC_URL_SIZE];
    proxy      *between = open_proxy(p);
    pawl_store *store;
    int         number = 0;
    apply(p);
    url_with(p, test_text(";Server=127.0.0.1;Port=%d;SSLMODE=DISABLED", proxy_port(between)), url);
    do {
        proxy_cut(between, PROXY_LOSES_REST, ++number, false);
        if (open_at(p, url, 5000, &store) == PAWL_OK)
            test_now(store);
    } while (proxy_was_cut(between));
    assert_true(number > 5);
    ok(p, open_at(p, url, 5000, &store));
    test_now(store);
    proxy_close(between);
}

/* ---- Calls that wait --------------------------------------------------------- */

typedef struct job {
    pthread_t   thread;
    fixture    *p;
    pawl_store *store;
    pawl_code   code;
} job;

static void *run_job(void *context)
{
    job *j  = context;
    j->code = send_body(j->p, j->store, "m-1", TEXT("{}"));
    return NULL;
}

/* Somebody else has the lock of the whole table. */
static void start_job(fixture *p, job *j, pawl_store *store)
{
    *j = (job){.p = p, .store = store};
    raw_run(p->raw, "lock tables pawl_queue write");
    assert_int_equal(pthread_create(&j->thread, NULL, run_job, j), 0);
}

static void end_job(fixture *p, job *j, pawl_code code)
{
    assert_int_equal(pthread_join(j->thread, NULL), 0);
    raw_run(p->raw, "unlock tables");
    expect_code(p, j->code, code);
    /* The session is as good as before. */
    ok(p, send_body(p, j->store, "m-2", TEXT("{}")));
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    test_now(j->store);
}

ON_MARIADB(a_call_ends_at_its_deadline)
{
    char url[ODBC_URL_SIZE];
    url_with(p, "", url);
    pawl_store *store = open_applied(p, url, 700);
    job         j;
    start_job(p, &j, store);
    end_job(p, &j, PAWL_ETIMEOUT);
}

ON_MARIADB(an_interrupt_ends_a_call)
{
    char url[ODBC_URL_SIZE];
    url_with(p, "", url);
    pawl_store *store = open_applied(p, url, 60000);
    job         j;
    start_job(p, &j, store);
    MYSQL *watcher = raw_connect(p, NULL);
    for (int i = 0; raw_number(watcher, "select count(*) from information_schema.processlist "
                                        "where state like 'Waiting for table metadata lock'") < 1;
         i++) {
        assert_true(i < TRIES);
        (void)poll(NULL, 0, FRESH_MS);
    }
    mysql_close(watcher);
    pawl_store_interrupt(store);
    end_job(p, &j, PAWL_EINTERRUPTED);
}

/* ---- Values ------------------------------------------------------------------- */

/* Longer than a piece that is read at once, with bytes that are no text. */
ON_MARIADB(long_values_come_back)
{
    char url[ODBC_URL_SIZE];
    url_with(p, "", url);
    pawl_store *store = open_applied(p, url, 20000);
    size_t      size  = 3000000;
    char       *body  = malloc(size);
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 7 % 256);
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    ok(p, send_body(p, store, "m-1", (pawl_text){.data = body, .size = size}));
    pawl_queue_claim how  = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 3, .now = NOW};
    pawl_queue_rows  rows = {0};
    ok(p, pawl_store_queue_claim(store, &how, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].message.body.size, size);
    assert_memory_equal(rows.items[0].message.body.data, body, size);
    free(body);
}

/* ---- A transaction of the application's own ------------------------------------- */

static void enlist_one(fixture *p, pawl_store *store, SQLHDBC dbc, pawl_code code)
{
    expect_code(
        p,
        pawl_store_enlist(
            store, dbc,
            ONE_CHANGE(queue_send, NOW, .queue = TEXT("orders"), .due = NOW,
                       .message = {.id = TEXT("m-1"), .type = TEXT("t"), .body = TEXT("{}")}),
            &p->error),
        code);
}

ON_MARIADB(messages_are_sent_with_ones_own_transaction)
{
    char url[ODBC_URL_SIZE];
    url_with(p, "", url);
    pawl_store *store = open_applied(p, url, 5000);
    SQLHENV     env   = NULL;
    SQLHDBC     dbc   = odbc_dial(&env, url);
    assert_non_null(dbc);
    enlist_one(p, store, dbc, PAWL_EINVAL);
    expect_text(p, "no open transaction");
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, 0);
    enlist_one(p, store, dbc, PAWL_OK);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 0);
    enlist_one(p, store, dbc, PAWL_OK);
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_queue"), 1);
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

/* Texts would be stored as other ones. */
ON_MARIADB(a_connection_of_another_character_set_is_refused)
{
    char url[ODBC_URL_SIZE], other[ODBC_URL_SIZE];
    url_with(p, "", url);
    url_with(p, ";CHARSET=latin1", other);
    pawl_store *store = open_applied(p, url, 5000);
    SQLHENV     env   = NULL;
    SQLHDBC     dbc   = odbc_dial(&env, other);
    assert_non_null(dbc);
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)(uintptr_t)SQL_AUTOCOMMIT_OFF, 0);
    enlist_one(p, store, dbc, PAWL_EINVAL);
    expect_text(p, "the connection's character set is latin1, utf8mb4 is needed");
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

int main(void)
{
    char path[200];
    if (fixture_server("mariadb") == NULL || !odbc_driver(path, sizeof path)) {
        puts("skipped: PAWL_TEST_MARIADB names no server, or odbc-mariadb is not installed");
        return server_may_be_missing("mariadb") ? SKIPPED : 1;
    }
    return tests_run(NULL, NULL);
}

#endif
