/* test_mysql_lost_calls.c - requests and answers of a claim, a scan, an enlist, a worker's beginning and an
 * apply are lost in turn, on MySQL and MariaDB: what was told is what is there, and the next try works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_proxy.h"
#include "store/mysql/mysql.h"
#include "support/tests.h"

#include <ctype.h>

#define REQUESTS_MAX 1000 /* a call that needs more has no end */
#define APPLY_STRIDE 12   /* an apply has many requests that are alike, and takes its time */
#define APPLY_LAST 3
#define APPLY_JOINED 3 /* of its requests the proxy may see so many together with another */

/* ---- Losing ----------------------------------------------------------------- */

typedef struct trip {
    fixture   *p;
    proxy     *between;
    char       url[300]; /* through the proxy */
    proxy_loss loss;
    int        number; /* of the request, from 1 */
} trip;

static void lose(const trip *t)
{
    proxy_cut(t->between, t->loss, t->number, t->number % 2 == 0);
}

/* Nothing more is to be lost. True when it was. */
static bool was_lost(const trip *t)
{
    bool was = proxy_was_cut(t->between);
    proxy_cut(t->between, PROXY_LOSES_NOTHING, 1, false);
    return was;
}

static void expect_told(const trip *t, pawl_code code, bool is_failure)
{
    bool is_lost = code == PAWL_ELOST || code == PAWL_EUNREACHABLE;
    if (is_failure ? !is_lost : code != PAWL_OK)
        fail_msg("%s %d lost: is %s: %s", t->loss == PROXY_LOSES_REQUEST ? "request" : "answer",
                 t->number, pawl_code_name(code), t->p->error.text);
}

static trip begin_trip(fixture *p)
{
    trip t = {.p = p, .between = open_proxy(p)};
    through_proxy(p, t.between, t.url, sizeof t.url);
    return t;
}

/* The call answers whether what it was to lose was lost, and has so many requests at least. */
static void lose_each(fixture *p, bool (*call)(trip *t), int requests)
{
    trip t    = begin_trip(p);
    int  lost = 0;
    apply(p);
    for (t.loss = PROXY_LOSES_REQUEST; t.loss <= PROXY_LOSES_ANSWER; t.loss++) {
        for (t.number = 1; call(&t); t.number++, lost++) {
            assert_true(t.number < REQUESTS_MAX);
            proxy_end_kept(t.between);
        }
    }
    proxy_close(t.between);
    assert_true(lost >= 2 * requests);
}

static void lose_in_turn(fixture *p, bool (*call)(trip *t))
{
    lose_each(p, call, 4);
}

/* ---- Stores ----------------------------------------------------------------- */

static pawl_code begin_worker(fixture *p, pawl_store *store)
{
    return pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error);
}

static pawl_store *open_only(fixture *p, const char *url)
{
    pawl_store *store;
    ok(p, open_at(p, url, 20000, &store));
    return store;
}

static pawl_store *open_worker(fixture *p, const char *url)
{
    pawl_store *store = open_only(p, url);
    ok(p, begin_worker(p, store));
    return store;
}

static void end_worker(fixture *p, pawl_store *store)
{
    ok(p, pawl_store_worker_close(store, NOW, &p->error));
    test_now(store);
}

/* A message that is there already would be left out. */
static pawl_changes one_send(pawl_queue_send *send)
{
    static char     id[20];
    static unsigned count;
    snprintf(id, sizeof id, "m-%u", ++count);
    *send = (pawl_queue_send){
        .queue   = TEXT("orders"),
        .due     = NOW,
        .message = {.id = pawl_text_of(id), .type = TEXT("t"), .body = TEXT("{}")}};
    return (pawl_changes){.now = NOW, ONE_UNIT, .queue_send = {send, 1}};
}

static pawl_code send_next(fixture *p, pawl_store *store)
{
    pawl_queue_send send;
    pawl_changes    changes = one_send(&send);
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static long long queued(const fixture *p)
{
    return raw_number(p->raw, "select count(*) from pawl_queue");
}

/* ---- Claims ----------------------------------------------------------------- */

static pawl_code claim(fixture *p, pawl_store *store, size_t count, pawl_queue_rows *rows)
{
    pawl_queue_claim how = {
        .queue = TEXT("orders"), .due_max = NOW, .count_max = count, .now = NOW};
    return pawl_store_queue_claim(store, &how, p->arena, rows, &p->error);
}

static void settle(fixture *p, pawl_store *store, const pawl_queue_rows *rows)
{
    pawl_queue_settle settles[4];
    pawl_changes      changes = {.now = NOW, ONE_UNIT};
    assert_in_range(rows->count, 1, 4);
    for (size_t i = 0; i < rows->count; i++)
        settles[i] = (pawl_queue_settle){.queue = TEXT("orders"), .seq = rows->items[i].seq};
    changes.queue_settle.items = settles;
    changes.queue_settle.count = rows->count;
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

/* Row locks that a session took whose answer was lost are not in nobody's hand: the worker that
 * connects again ends it, though the server still takes it for alive. */
static bool claim_two(trip *t)
{
    fixture        *p     = t->p;
    pawl_store     *store = open_worker(p, t->url), *other = open_worker(p, p->url);
    pawl_queue_rows rows, rest;
    for (int i = 0; i < 3; i++)
        ok(p, send_next(p, other));
    lose(t);
    pawl_code code = claim(p, store, 2, &rows);
    bool      was  = was_lost(t);
    expect_told(t, code, was);
    assert_int_equal(rows.count, code == PAWL_OK ? 2 : 0);
    if (code != PAWL_OK)
        ok(p, claim(p, store, 2, &rows));
    assert_int_equal(rows.count, 2);
    ok(p, claim(p, other, 4, &rest));
    assert_int_equal(rest.count, 1);
    settle(p, store, &rows);
    settle(p, other, &rest);
    assert_int_equal(queued(p), 0);
    end_worker(p, store);
    end_worker(p, other);
    return was;
}

ON_BOTH(e8_a_claim_that_was_lost_is_nobodys, fixture *p)
{
    lose_in_turn(p, claim_two);
}

/* Its connection is another one, which has the worker's row locked; the server does not notice that it is gone. */
static bool send_beside_a_claim(trip *t)
{
    fixture        *p     = t->p;
    pawl_store     *store = open_worker(p, t->url);
    pawl_queue_rows rows;
    ok(p, send_next(p, store));
    ok(p, claim(p, store, 1, &rows));
    assert_int_equal(rows.count, 1);
    long long before = queued(p);
    proxy_cut(t->between, t->loss, t->number, true);
    pawl_code code = send_next(p, store);
    bool      was  = was_lost(t);
    if (code != PAWL_OK && code != PAWL_ELOST)
        fail_msg("request %d lost: is %s: %s", t->number, pawl_code_name(code), p->error.text);
    assert_int_equal(queued(p), before + (code == PAWL_OK));
    ok(p, send_next(p, store));
    settle(p, store, &rows);
    end_worker(p, store);
    return was;
}

ON_BOTH(o32_a_send_beside_a_claim_is_told_of, fixture *p)
{
    lose_in_turn(p, send_beside_a_claim);
}

/* More than the buffers of the sockets hold, so that the server has sent a part when it ends. */
#define LONG_ROWS 64
#define LONG_ROW "repeat('x', 500000)"

typedef struct claim_by {
    pawl_text queue;
    pawl_time due_max;
    int64_t   limit;
} claim_by;

/* Rows of a claim come as they are read. The session, or the claim's statement, ends behind the first row. */
static void end_amid_rows(fixture *p, const char *what, pawl_code expected, const char *text)
{
    static const pawl__field fields[] = {PAWL__AS_OF(claim_by, queue, TEXT),
                                         PAWL__AS_OF(claim_by, due_max, TIME),
                                         PAWL__AS_OF(claim_by, limit, INT)};
    const pawl__field_list   list     = PAWL__FIELD_ARRAY(fields);
    const claim_by           by       = {TEXT("orders"), NOW, LONG_ROWS};
    pawl__sql_asked          asked    = {PAWL__MYSQL_QUEUE_CLAIM, &list, &by, NULL, 0};
    pawl_store              *store    = open_worker(p, p->url);
    const pawl__sql_ops     *ops      = pawl__mysql_of(store)->remote.sql.ops;
    pawl__sql_request       *request  = NULL;
    pawl_queue_rows          rows;
    size_t                   count = 1;
    const char              *sql =
        test_text("kill %s %lld", what, (long long)pawl__mysql_of(store)->main.session.id);
    ok(p, ops->send(store, &asked, p->arena, &request, &p->error));
    assert_true(ops->next(request));
    raw_run(p->raw, sql);
    while (ops->next(request))
        count++;
    expect_code(p, ops->end(request), expected);
    assert_in_range(count, 1, LONG_ROWS - 1);
    expect_text(p, text);
    ok(p, claim(p, store, LONG_ROWS, &rows));
    assert_int_equal(rows.count, LONG_ROWS);
    end_worker(p, store);
}

ON_BOTH(d37_a_session_or_statement_that_ends_amid_rows_is_told_as_that, fixture *p)
{
    apply(p);
    pawl_store *store = open_worker(p, p->url);
    send_rows(p, store, LONG_ROWS);
    end_worker(p, store);
    raw_run(p->raw, "update pawl_queue set Body = " LONG_ROW);
    end_amid_rows(p, "connection", PAWL_ELOST, "error ");
    end_amid_rows(p, "query", PAWL_ETIMEOUT, "error 1317");
}

/* ---- Scans ------------------------------------------------------------------ */

/* The row that the page must have; a page that was lost is asked for again. */
static pawl_scan_row scan_on(trip *t, pawl_store *store, const pawl_scan_row *after, bool *was)
{
    const pawl_scan scan = {.kind = PAWL_SCAN_QUEUE, .after = after, .count_max = 1};
    pawl_scan_rows  rows;
    lose(t);
    pawl_code code = pawl_store_scan(store, &scan, t->p->arena, &rows, &t->p->error);
    *was           = was_lost(t);
    expect_told(t, code, *was);
    assert_int_equal(rows.count, code == PAWL_OK);
    if (code != PAWL_OK)
        ok(t->p, pawl_store_scan(store, &scan, t->p->arena, &rows, &t->p->error));
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

static bool scan_two(trip *t)
{
    fixture    *p     = t->p;
    pawl_store *store = open_only(p, t->url), *other = open_worker(p, p->url);
    bool        was_first, was_second;
    ok(p, send_next(p, other));
    ok(p, send_next(p, other));
    pawl_scan_row first  = scan_on(t, store, NULL, &was_first);
    pawl_scan_row second = scan_on(t, store, &first, &was_second);
    assert_true(second.number > first.number);
    assert_false(pawl_text_equal(second.message.id, first.message.id));
    raw_run(p->raw, "delete from pawl_queue");
    test_now(store);
    end_worker(p, other);
    return was_first || was_second;
}

ON_BOTH(a_walk_that_was_lost_goes_on, fixture *p)
{
    lose_each(p, scan_two, 1);
}

/* ---- Callers' transactions ---------------------------------------------------- */

/* Requests of an enlist that are lost are lost with the caller's session: his commit fails, and nothing
 * is half there. */
static bool enlist_one(trip *t)
{
    fixture        *p     = t->p;
    fixture         q     = {.port = (unsigned)proxy_port(t->between), .host = "127.0.0.1"};
    pawl_store     *store = open_worker(p, p->url);
    MYSQL          *own   = raw_connect(&q, p->database);
    pawl_queue_send send;
    pawl_changes    changes = one_send(&send);
    raw_run(own, "create table if not exists mine (id int)");
    raw_run(own, "begin");
    raw_run(own, "insert into mine values (1)");
    lose(t);
    pawl_code code = pawl_store_enlist(store, own, &changes, &p->error);
    bool      was  = was_lost(t);
    expect_told(t, code, was);
    assert_int_equal(mysql_query(own, "commit") == 0, !was);
    assert_int_equal(queued(p), !was);
    assert_int_equal(raw_number(p->raw, "select count(*) from mine"), !was);
    mysql_close(own);
    proxy_end_kept(t->between); /* with its row locks */
    raw_run(p->raw, "delete from mine");
    raw_run(p->raw, "delete from pawl_queue");
    end_worker(p, store);
    return was;
}

ON_BOTH(o32_an_enlist_that_was_lost_is_told, fixture *p)
{
    lose_in_turn(p, enlist_one);
}

/* ---- Workers ------------------------------------------------------------------ */

/* A worker that was told so has the row, its epoch and the lock. */
static bool begin_one(trip *t)
{
    fixture          *p     = t->p;
    pawl_store       *store = open_only(p, t->url);
    pawl_worker_info *living;
    size_t            count = 0;
    lose(t);
    pawl_code code = begin_worker(p, store);
    bool      was  = was_lost(t);
    expect_told(t, code, was);
    if (code != PAWL_OK)
        ok(p, begin_worker(p, store));
    assert_int_equal(raw_number(p->raw, "select sum(Epoch) from pawl_workers where Epoch > 0"),
                     store->epoch);
    ok(p, send_next(p, store));
    pawl_store *other = open_worker(p, p->url);
    ok(p, pawl_store_worker_list(other, p->arena, &living, &count, &p->error));
    assert_int_equal(count, 2);
    end_worker(p, other);
    end_worker(p, store);
    return was;
}

ON_BOTH(o20_a_worker_that_was_lost_while_it_began_begins_again, fixture *p)
{
    lose_in_turn(p, begin_one);
}

/* A server whose names have no case (lower_case_table_names) uses the database's own: so do the locks that workers
 * live by. */
ON_BOTH(o20_a_database_by_another_spelling_has_the_same_workers, fixture *p)
{
    char        url[300], name[sizeof p->database] = "";
    proxy      *between = open_proxy(p);
    pawl_store *stores[2];
    apply(p);
    for (size_t i = 0; p->database[i] != '\0'; i++)
        name[i] = (char)toupper((unsigned char)p->database[i]);
    snprintf(url, sizeof url, "%s://root@127.0.0.1:%d/%s?ssl-mode=disabled", p->scheme,
             proxy_port(between), name);
    proxy_rename(between, name, p->database);
    for (size_t i = 0; i < COUNT(stores); i++) {
        ok(p, open_at(p, i == 0 ? url : p->url, 5000, &stores[i]));
        ok(p, begin_worker(p, stores[i]));
    }
    for (size_t i = 0; i < COUNT(stores); i++) {
        pawl_worker_info *items;
        size_t            count = 0;
        ok(p, pawl_store_worker_list(stores[i], p->arena, &items, &count, &p->error));
        assert_int_equal(count, COUNT(stores));
    }
    test_now(stores[0]);
    proxy_close(between);
}

/* ---- Tables -------------------------------------------------------------------- */

static void empty_database(fixture *p)
{
    raw_run(p->raw, test_text("drop database %s", p->database));
    raw_run(p->raw, test_text("create database %s", p->database));
    assert_int_equal(mysql_select_db(p->raw, p->database), 0);
}

static pawl_code apply_through(const trip *t)
{
    pawl_schema_spec spec = {.tables = order_tables, .table_count = 1};
    empty_database(t->p);
    lose(t);
    return pawl_store_schema(t->url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &t->p->error);
}

/* An answer lost behind the last table, that of the lock's end, is not a failure. */
static bool try_apply(const trip *t)
{
    fixture  *p        = t->p;
    pawl_code code     = apply_through(t);
    bool      was      = was_lost(t);
    pawl_code verified = schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL);
    expect_told(t, code, verified != PAWL_OK || code != PAWL_OK);
    proxy_end_kept(t->between); /* the lost session has the lock, as long as the server knows it */
    apply(p);
    ok(p, schema_at(p, PAWL_SCHEMA_VERIFY, no_line, NULL));
    return was;
}

ON_BOTH(d34_an_apply_that_was_lost_is_told_and_finished_by_the_next, fixture *p)
{
    trip t    = begin_trip(p);
    t.loss    = PROXY_LOSES_ANSWER;
    t.number  = REQUESTS_MAX;
    int count = 0;
    expect_told(&t, apply_through(&t), false);
    assert_false(was_lost(&t));
    count = proxy_requests(t.between);
    assert_in_range(count, 20, REQUESTS_MAX);
    t.loss = PROXY_LOSES_REQUEST;
    for (t.number = 1; try_apply(&t);
         t.number += t.number + APPLY_STRIDE <= count - APPLY_LAST ? APPLY_STRIDE : 1)
        t.loss = t.loss == PROXY_LOSES_ANSWER ? PROXY_LOSES_REQUEST : PROXY_LOSES_ANSWER;
    assert_true(t.number > count - APPLY_JOINED);
    proxy_close(t.between);
}
