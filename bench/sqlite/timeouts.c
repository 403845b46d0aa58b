/* timeouts.c - the row changes of timeouts with no engine.
 *
 *     stamp a batch of due rows, commit without a sync -> load and update each
 *     saga, insert one message each, delete each timeout, fence, commit
 *
 * The stamp is what lets other workers pass by while handlers run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_sqlite.h"

enum { CLAIM, STAMP, LOAD, UPDATE, SEND, DONE, STATEMENT_COUNT };

static const char *const texts[STATEMENT_COUNT] = {
    [CLAIM] = "select \"Id\", \"SagaId\", \"CorrelationId\" from " TABLE(
        "timeouts") " where \"Destination\" = '" PAWL__BENCH_QUEUE "' and \"Due\" <= ?1 and "
                    "(\"LeaseExpires\" is null or \"LeaseExpires\" <= ?2) "
                    "order by \"Due\", \"Id\" limit ?3",
    [STAMP]  = "update " TABLE("timeouts") " set \"Owner\" = ?1, \"LeaseExpires\" = ?2, "
                                           "\"LeaseWorker\" = ?3 where \"Id\" = ?4",
    [LOAD]   = "select rowid, \"Concurrency\", \"Data\" from " SAGA_TABLE " where \"Id\" = ?1",
    [UPDATE] = "update " SAGA_TABLE " set \"Concurrency\" = \"Concurrency\" + 1, \"Data\" = ?1 "
               "where rowid = ?2 and \"Concurrency\" = ?3",
    [SEND]   = "insert into " TABLE(
          "queue") " (\"Queue\", \"Due\", \"Placed\", \"Attempts\", "
                 "\"Deaths\", \"WaitingSince\", \"Error\", \"MessageId\", \"Type\", "
                 "\"CorrelationId\", \"CausationId\", \"Headers\", \"Body\") values "
                 "('" PAWL__BENCH_INSIDE
                 "', ?1, ?1, 0, 0, 0, '', ?2, 'bench_moved', ?3, ?4, ?5, ?6) "
                 "on conflict (\"Queue\", \"MessageId\") do nothing",
    [DONE] = "delete from " TABLE("timeouts") " where \"Id\" = ?1 and \"Owner\" = ?2",
};

#define LEASE PAWL_MINUTES(5)

typedef struct due {
    char   id[PAWL_UUID_TEXT_SIZE];
    char   saga_id[PAWL_UUID_TEXT_SIZE];
    char   order_id[PAWL__BENCH_ORDER_ID_SIZE]; /* also the correlation id */
    char   body[LOOP_BODY_SIZE_MAX];
    size_t body_size;
} due;

/* The stamp of a session's rows. */
typedef struct session {
    loop      l;
    pawl_time now;
    uint64_t  batches;
    char      owner[PAWL_UUID_TEXT_SIZE];
} session;

/* Runs the pragma at once: it takes effect as the statement is prepared, so it cannot be kept. */
static void set_synchronous(session *s, const char *pragma)
{
    if (s->l.code == PAWL_OK && sqlite3_exec(s->l.db, pragma, NULL, NULL, NULL) != SQLITE_OK)
        pawl__loop_failed(&s->l);
}

static size_t read_due(session *s, const pawl__bench_job *job, due *rows)
{
    sqlite3_stmt *claim = s->l.statements[CLAIM];
    size_t        count = 0;
    loop_int(claim, 1, s->now);
    loop_int(claim, 2, s->now);
    loop_int(claim, 3, job->batch);
    while (loop_next(&s->l, claim)) {
        due *row = &rows[count++];
        memcpy(row->id, sqlite3_column_text(claim, 0), sizeof row->id);
        memcpy(row->saga_id, sqlite3_column_text(claim, 1), sizeof row->saga_id);
        memcpy(row->order_id, sqlite3_column_text(claim, 2), sizeof row->order_id);
    }
    return count;
}

static size_t stamp_batch(session *s, const pawl__bench_job *job, due *rows)
{
    sqlite3_stmt *stamp = s->l.statements[STAMP];
    pawl__loop_uuid(s->owner, (uint64_t)s->now, ++s->batches);
    set_synchronous(s, "pragma synchronous = normal");
    pawl__loop_begin(&s->l);
    size_t count = read_due(s, job, rows);
    for (size_t i = 0; i < count; i++) {
        loop_text(stamp, 1, s->owner, sizeof s->owner);
        loop_int(stamp, 2, s->now + LEASE);
        loop_text(stamp, 3, s->l.worker, PAWL_UUID_TEXT_SIZE);
        loop_text(stamp, 4, rows[i].id, sizeof rows[i].id);
        loop_change(&s->l, stamp);
    }
    (void)loop_next(&s->l, s->l.commit);
    set_synchronous(s, "pragma synchronous = full");
    return count;
}

static void save(session *s, due *row)
{
    sqlite3_stmt *load   = s->l.statements[LOAD];
    sqlite3_stmt *update = s->l.statements[UPDATE];
    loop_text(load, 1, row->saga_id, sizeof row->saga_id);
    if (!loop_next(&s->l, load))
        return; /* the check finds what is missing */
    int64_t     id      = sqlite3_column_int64(load, 0);
    int64_t     version = sqlite3_column_int64(load, 1);
    const char *data    = (const char *)sqlite3_column_text(load, 2);
    size_t      size    = (size_t)sqlite3_column_bytes(load, 2);
    int64_t     steps   = pawl__loop_number(&s->l, data, size, "\"steps\":");
    int64_t     cents   = pawl__loop_number(&s->l, data, size, "\"cents\":");
    char        at[PAWL_TIME_TEXT_SIZE];
    pawl__loop_take(&s->l, data, size, "\"at\":\"", at, sizeof at);
    (void)sqlite3_reset(load);
    row->body_size = pawl__loop_body(row->body, row->order_id, steps + 1, cents, at);
    loop_text(update, 1, row->body, row->body_size);
    loop_int(update, 2, id);
    loop_int(update, 3, version);
    loop_change(&s->l, update);
}

static void send(session *s, const due *row, size_t index)
{
    sqlite3_stmt *insert = s->l.statements[SEND];
    char          id[PAWL_UUID_TEXT_SIZE];
    pawl__loop_uuid(id, (uint64_t)s->now, s->batches << 32 | index);
    loop_int(insert, 1, s->now);
    loop_text(insert, 2, id, sizeof id);
    loop_text(insert, 3, row->order_id, sizeof row->order_id);
    loop_text(insert, 4, row->id, sizeof row->id);
    loop_text(insert, 5, LOOP_HEADERS, sizeof LOOP_HEADERS - 1);
    loop_text(insert, 6, row->body, row->body_size);
    loop_change(&s->l, insert);
}

static void finish(session *s, const due *row)
{
    sqlite3_stmt *done = s->l.statements[DONE];
    loop_text(done, 1, row->id, sizeof row->id);
    loop_text(done, 2, s->owner, sizeof s->owner);
    loop_change(&s->l, done);
}

static size_t run_batch(session *s, const pawl__bench_job *job, due *rows)
{
    s->now       = pawl_clock_now(NULL);
    size_t count = stamp_batch(s, job, rows);
    if (count == 0)
        return 0;
    pawl__loop_begin(&s->l);
    for (size_t i = 0; i < count; i++)
        save(s, &rows[i]);
    for (size_t i = 0; i < count; i++)
        finish(s, &rows[i]);
    for (size_t i = 0; i < count; i++)
        send(s, &rows[i], i);
    pawl__loop_commit(&s->l, s->now, (int64_t)count);
    return count;
}

pawl_code pawl__bench_sqlite_timeouts(const pawl__bench_job *job, int64_t *microseconds,
                                      pawl_error *error)
{
    pawl__bench_handle handle;
    session            s    = {.batches = 0};
    due               *rows = pawl_allocate((size_t)job->batch * sizeof *rows);
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK && rows == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    if (code == PAWL_OK) {
        pawl__loop_open(&s.l, handle.store, texts, STATEMENT_COUNT, LOOP_FENCE(TABLE("workers")),
                        error);
        int64_t begin = pawl__bench_clock();
        while (run_batch(&s, job, rows) > 0 && s.l.code == PAWL_OK)
            s.l.code = pawl__bench_go_on(error);
        *microseconds = pawl__bench_clock() - begin;
        code          = s.l.code;
    }
    pawl__loop_close(&s.l);
    pawl__bench_close(&handle);
    pawl_free(rows);
    return code;
}
