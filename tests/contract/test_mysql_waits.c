/* test_mysql_waits.c - a statement waits, and other sessions go on meanwhile: rows that get
 * their stamps in the middle of a claim (E8), an event that comes behind the numbers of a set (O4).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "store/mysql/mysql.h"
#include "support/tests.h"

#include <poll.h>
#include <pthread.h>

#define ROWS 12
#define FRESH_MS 150 /* the server shows the same again to a reader that comes sooner */
#define TRIES 400    /* looks at the server, until a session waits there */

/* A call on a thread of its own: a commit, or a claim of three rows. */
typedef struct job {
    pthread_t       thread;
    pawl_store     *store;
    pawl_changes   *changes; /* NULL: a claim */
    pawl_arena     *arena;
    pawl_queue_rows rows;
    pawl_code       code;
    pawl_error      error;
} job;

static void *run_job(void *context)
{
    job             *j   = context;
    pawl_queue_claim how = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 3, .now = NOW};
    if (j->changes != NULL)
        j->code = pawl_store_commit(j->store, j->changes, NULL, &j->error);
    else
        j->code = pawl_store_queue_claim(j->store, &how, j->arena, &j->rows, &j->error);
    return NULL;
}

/* Until it waits for a lock of another session. */
static void start_job(fixture *p, job *j, pawl_store *store, pawl_changes *changes)
{
    *j = (job){.store = store, .changes = changes, .arena = p->arena};
    assert_int_equal(pthread_create(&j->thread, NULL, run_job, j), 0);
    for (int i = 0; raw_number(p->raw, "select count(*) from information_schema.innodb_trx join "
                                       "information_schema.processlist on id = trx_mysql_thread_id "
                                       "where trx_state = 'LOCK WAIT' and db = database()") < 1;
         i++) {
        assert_true(i < TRIES);
        (void)poll(NULL, 0, FRESH_MS);
    }
}

static void expect_job(fixture *p, job *j)
{
    assert_int_equal(pthread_join(j->thread, NULL), 0);
    p->error = j->error;
    ok(p, j->code);
}

static pawl_store *open_worker(fixture *p, bool has_stamps)
{
    pawl_store *store;
    ok(p, open_at(p, p->url, 60000, &store));
    pawl__mysql_of(store)->remote.claims.are_stamps = has_stamps;
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

/* Another node's stamps arrive between this one's look at the queue and its own stamps. */
ON_BOTH(e8_rows_that_others_stamp_meanwhile_are_passed_over, fixture *p)
{
    job j;
    apply(p);
    pawl_store *store = open_worker(p, true);
    MYSQL      *other = raw_connect(p, p->database);
    send_rows(p, store, ROWS);
    raw_run(other, "set transaction isolation level read committed"); /* reads without locks */
    raw_run(other, "begin");
    raw_run(other, "insert into pawl_leases (Name, Worker, Process, Pid, Epoch, Expires) "
                   "select concat('claim:', Seq), '00000000-0000-0000-0000-000000000001', 0, 0, 1, "
                   "'9999-01-01' from pawl_queue order by Seq limit 3");
    start_job(p, &j, store, NULL);
    raw_run(other, "commit");
    expect_job(p, &j);
    assert_int_equal(j.rows.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(
            pawl_text_equal(j.rows.items[i].message.id, pawl_text_of(test_text("m-%zu", i + 3))));
    mysql_close(other);
}

/* Numbers that no parameter takes would be claimed once more: there is no more until those of before are settled. */
ON_BOTH(e8_a_claim_ends_at_the_largest_list_of_claimed_rows, fixture *p)
{
    pawl_queue_claim  how = {.queue = TEXT("orders"), .due_max = NOW, .count_max = 3, .now = NOW};
    pawl_queue_rows   rows;
    pawl_queue_settle settles[6];
    size_t            count = 0;
    apply(p);
    pawl_store        *store  = open_worker(p, false);
    pawl__sql_claims  *claims = &pawl__mysql_of(store)->remote.claims;
    pawl__sql_lock_ops small  = *claims->ops;
    small.numbers_max         = strlen("1,2,3"); /* of an earlier piece */
    claims->ops               = &small;
    send_rows(p, store, ROWS);
    for (size_t piece = 0; piece < 3; piece++) {
        ok(p, pawl_store_queue_claim(store, &how, p->arena, &rows, &p->error));
        assert_int_equal(rows.count, piece < 2 ? 3 : 0);
        for (size_t i = 0; i < rows.count; i++)
            settles[count++] =
                (pawl_queue_settle){.queue = TEXT("orders"), .seq = rows.items[i].seq};
    }
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {settles, count}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    ok(p, pawl_store_queue_claim(store, &how, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 3);
    test_now(store);
}

static pawl_event_append event_of(const char *stream, int64_t version, bool is_first)
{
    return (pawl_event_append){
        .stream   = pawl_text_of(stream),
        .version  = version,
        .is_first = is_first,
        .event    = {.type = TEXT("t"), .type_version = 1, .body = TEXT("{}"), .at = NOW}};
}

static pawl_changes append_of(pawl_event_append *events, size_t count)
{
    pawl_changes changes = {
        .now = NOW, ONE_UNIT, .event_append = {.items = events, .count = count}};
    return changes;
}

static void append_one(fixture *p, pawl_store *store, const char *stream, int64_t version)
{
    pawl_event_append event   = event_of(stream, version, true);
    pawl_changes      changes = append_of(&event, 1);
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
}

static void expect_order(fixture *p, pawl_store *store, const char *stream, size_t count)
{
    pawl_event_query query = {.is_by_position = true, .stream = pawl_text_of(stream)};
    pawl_event_rows  rows;
    int64_t          numbered;
    ok(p, pawl_store_event_number(store, 0, &numbered, &p->error));
    ok(p, pawl_store_events(store, &query, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows.items[i].version, i + 1);
}

/* A set waits for its first row. Meanwhile the event before its last one is committed, with a number behind
 * those that the set may have for all its rows. */
ON_BOTH(o4_an_event_that_a_waiting_set_builds_on_has_its_position_before_it, fixture *p)
{
    enum { STREAMS = 8 }; /* one statement, where it is a set */
    job               j;
    pawl_event_append events[STREAMS];
    char              names[STREAMS][20];
    apply(p);
    pawl_store  *store = open_worker(p, false), *second = open_worker(p, false);
    MYSQL       *other = raw_connect(p, p->database);
    pawl_changes set   = append_of(events, STREAMS);
    for (unsigned i = 0; i < STREAMS; i++) {
        snprintf(names[i], sizeof names[i], "Account/%u", i);
        events[i] = event_of(names[i], i + 1 < STREAMS ? 1 : 2, true);
    }
    append_one(p, second, "Account/first", 1);
    raw_run(other, "set transaction isolation level read committed"); /* reads without locks */
    raw_run(other, "begin");
    raw_run(other, "insert into pawl_events (Stream, Version, Type, TypeVersion, MessageId, "
                   "CorrelationId, CausationId, DispatchId, At, Headers, Body) "
                   "select 'Account/0', 1, Type, TypeVersion, MessageId, CorrelationId, "
                   "CausationId, DispatchId, At, Headers, Body from pawl_events");
    start_job(p, &j, store, &set);
    append_one(p, second, names[STREAMS - 1], 1);
    raw_run(other, "rollback");
    expect_job(p, &j);
    expect_order(p, store, names[STREAMS - 1], 2);
    mysql_close(other);
}

/* A source is held while another program's row of another source is on its way. */
ON_BOTH(a_source_is_held_beside_an_open_insert_of_another, fixture *p)
{
    static const char row[] =
        "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, Source, "
        "Version, `Index`, Endpoint, Destination, MessageId, Type, CorrelationId, "
        "CausationId, Headers, Body) select uuid(), 'pending', 0, '1970-01-01', "
        "'1970-01-01', now(), '%s', 0, 0, 'orders', 'q', 'm', 't', '', '', '', ''";
    pawl_outbox_block  hold      = {.source = TEXT("order-1")};
    pawl_changes       changes   = {.now = NOW, ONE_UNIT, .outbox_block = {&hold, 1}};
    static const char *sources[] = {"order-1", "order-2", "order-1"};
    pawl_store        *store;
    apply(p);
    ok(p, open_at(p, p->url, 4000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    for (size_t i = 0; i < COUNT(sources); i++)
        raw_run(p->raw, test_text(row, sources[i]));
    MYSQL *other = raw_connect(p, p->database);
    raw_run(other, "begin");
    raw_run(other, test_text(row, "order-3"));
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    raw_run(other, "commit");
    mysql_close(other);
    assert_int_equal(
        raw_number(p->raw,
                   "select count(*) from pawl_outbox where State = 'held' and Source = 'order-1'"),
        2);
    assert_int_equal(raw_number(p->raw, "select count(*) from pawl_outbox where State = 'held'"),
                     2);
}

/* Another server behind the same name: nothing ends there, and the call has its end all the same. */
ON_BOTH(o21_a_statement_is_not_ended_on_another_server, fixture *p)
{
    pawl_queue_send send    = {.queue   = TEXT("orders"),
                               .due     = NOW,
                               .message = {.id = TEXT("m"), .type = TEXT("t"), .body = TEXT("{}")}};
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {&send, 1}};
    pawl_store     *store;
    char            sql[200];
    apply(p);
    ok(p, open_at(p, p->url, 1000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    unsigned long session = mysql_thread_id(pawl_store_native(store, "MYSQL"));
    raw_run(pawl_store_native(store, "MYSQL"), "set innodb_lock_wait_timeout = 60");
    pawl__mysql_of(store)->main.session.server++;
    raw_run(p->raw, "begin");
    raw_run(p->raw, "select * from pawl_workers for update");
    pawl_code code = pawl_store_commit(store, &changes, NULL, &p->error);
    snprintf(
        sql, sizeof sql,
        "select count(*) from information_schema.processlist where id = %lu and info like 'update%%'",
        session);
    assert_int_equal(raw_number(p->raw, sql), 1); /* the statement waits still */
    raw_run(p->raw, "rollback");
    expect_code(p, code, PAWL_ETIMEOUT);
}
