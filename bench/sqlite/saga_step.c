/* saga_step.c - the row changes of saga-step with no engine.
 *
 *     claim a batch -> delete each -> mark each -> load, then insert or update
 *           each -> one outbox row each -> fence -> commit
 *
 * No JSON is parsed: what is needed of a body stands behind a fixed text. One
 * kind of row after the other was measured to be no slower than one message
 * after the other; deletions come first, so that what is inserted fills the
 * pages they free, which are in the log anyway (5 % fewer pages are written).
 *
 * latency: the same with one message, which the loop sends before on a connection of its own.
 * no-op: the same without sagas and outbox rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "latency.h"

#include "limit_sqlite.h"

#include <stdio.h>

enum { CLAIM, MARK, LOAD, INSERT, UPDATE, DISPATCH, DONE, STATEMENT_COUNT };

static const char *const texts[STATEMENT_COUNT] = {
    [CLAIM] = "select \"Seq\", \"MessageId\", \"CorrelationId\", \"Body\" from " TABLE(
        "queue") " where \"Queue\" = '" PAWL__BENCH_QUEUE "' and \"Due\" <= ?1 "
                 "order by \"Due\", \"Seq\" limit ?2",
    [MARK] = "insert into " TABLE("inbox") " (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
                                           "values ('" PAWL__BENCH_QUEUE "', ?1, 'handled', ?2)",
    [LOAD] = "select rowid, \"Id\", \"Concurrency\", \"Data\" from " SAGA_TABLE
             " where \"Correlation_order_id\" = ?1",
    [INSERT]   = "insert into " SAGA_TABLE " (\"Id\", \"Metadata\", \"Data\", "
                 "\"PersistenceVersion\", \"SagaTypeVersion\", \"Concurrency\", "
                 "\"Correlation_order_id\") values (?1, ?2, ?3, '" PAWL_VERSION "', '1.0', 1, ?4)",
    [UPDATE]   = "update " SAGA_TABLE " set \"Concurrency\" = \"Concurrency\" + 1, \"Data\" = ?1 "
                 "where rowid = ?2 and \"Concurrency\" = ?3",
    [DISPATCH] = "insert into " TABLE(
        "outbox") " (\"DispatchId\", \"State\", \"Attempts\", "
                  "\"NextAttempt\", \"Due\", \"At\", \"Source\", \"Version\", \"Index\", "
                  "\"Endpoint\", \"Destination\", \"AttemptsBefore\", \"MessageId\", \"Type\", "
                  "\"CorrelationId\", \"CausationId\", \"Headers\", \"Body\") "
                  "values (?1, 'pending', 0, ?2, ?2, ?2, "
                  "?3, ?4, 0, '" PAWL__BENCH_QUEUE "', '" PAWL__BENCH_OUTSIDE "', 0, ?1, "
                  "'bench_moved', ?5, ?6, ?7, ?8)",
    [DONE] = "delete from " TABLE("queue") " where \"Seq\" = ?1",
};

/* One message of the batch, and what became of it. */
typedef struct step {
    int64_t seq;
    int64_t cents;
    char    id[PAWL_UUID_TEXT_SIZE];
    char    correlation_id[PAWL_UUID_TEXT_SIZE];
    char    order_id[PAWL__BENCH_ORDER_ID_SIZE];
    char    at[PAWL_TIME_TEXT_SIZE];
    char    dispatch_id[PAWL_UUID_TEXT_SIZE];
    /* Its saga. */
    char    saga_id[PAWL_UUID_TEXT_SIZE];
    int64_t row;
    int64_t version; /* 0: it is new */
    int64_t steps;
    int64_t saga_cents;
    char    body[LOOP_BODY_SIZE_MAX]; /* of the state, and of what is sent */
    size_t  body_size;
} step;

static void read_message(loop *l, sqlite3_stmt *claim, step *s)
{
    const char *body = (const char *)sqlite3_column_text(claim, 3);
    size_t      size = (size_t)sqlite3_column_bytes(claim, 3);
    s->seq           = sqlite3_column_int64(claim, 0);
    memcpy(s->id, sqlite3_column_text(claim, 1), sizeof s->id);
    memcpy(s->correlation_id, sqlite3_column_text(claim, 2), sizeof s->correlation_id);
    pawl__loop_take(l, body, size, "\"order_id\":\"", s->order_id, sizeof s->order_id);
    pawl__loop_take(l, body, size, "\"at\":\"", s->at, sizeof s->at);
    s->cents = pawl__loop_number(l, body, size, "\"cents\":");
}

static size_t claim(loop *l, int64_t most, pawl_time now, step *steps)
{
    sqlite3_stmt *statement = l->statements[CLAIM];
    size_t        count     = 0;
    loop_int(statement, 1, now);
    loop_int(statement, 2, most);
    while (loop_next(l, statement))
        read_message(l, statement, &steps[count++]);
    return count;
}

static void mark(loop *l, const step *s, pawl_time now)
{
    sqlite3_stmt *statement = l->statements[MARK];
    loop_text(statement, 1, s->id, sizeof s->id);
    loop_int(statement, 2, now);
    loop_change(l, statement);
}

/* ---- The saga ------------------------------------------------------------- */

static void load(loop *l, step *s)
{
    sqlite3_stmt *statement = l->statements[LOAD];
    s->version = s->steps = s->saga_cents = 0;
    loop_text(statement, 1, s->order_id, sizeof s->order_id);
    if (!loop_next(l, statement))
        return;
    const char *data = (const char *)sqlite3_column_text(statement, 3);
    size_t      size = (size_t)sqlite3_column_bytes(statement, 3);
    s->row           = sqlite3_column_int64(statement, 0);
    s->version       = sqlite3_column_int64(statement, 2);
    s->steps         = pawl__loop_number(l, data, size, "\"steps\":");
    s->saga_cents    = pawl__loop_number(l, data, size, "\"cents\":");
    memcpy(s->saga_id, sqlite3_column_text(statement, 1), sizeof s->saga_id);
    (void)sqlite3_reset(statement);
}

static void insert_saga(loop *l, step *s, uint64_t high, uint64_t low)
{
    sqlite3_stmt *statement = l->statements[INSERT];
    char          metadata[200];
    int           size = snprintf(metadata, sizeof metadata,
                                  "{\"SagaType\":\"" PAWL__BENCH_SAGA "\",\"OriginalMessageId\":\"%.*s\"}",
                                  (int)sizeof s->id, s->id);
    pawl__loop_uuid(s->saga_id, high, low);
    loop_text(statement, 1, s->saga_id, sizeof s->saga_id);
    loop_text(statement, 2, metadata, (size_t)size);
    loop_text(statement, 3, s->body, s->body_size);
    loop_text(statement, 4, s->order_id, sizeof s->order_id);
    loop_change(l, statement);
}

static void save(loop *l, step *s, uint64_t high, uint64_t low)
{
    sqlite3_stmt *update = l->statements[UPDATE];
    s->body_size =
        pawl__loop_body(s->body, s->order_id, s->steps + 1, s->saga_cents + s->cents, s->at);
    if (s->version == 0) {
        insert_saga(l, s, high, low);
        return;
    }
    loop_text(update, 1, s->body, s->body_size);
    loop_int(update, 2, s->row);
    loop_int(update, 3, s->version);
    loop_change(l, update);
}

/* ---- The rest ------------------------------------------------------------- */

static void dispatch(loop *l, step *s, pawl_time now, pawl_random *random)
{
    sqlite3_stmt *statement = l->statements[DISPATCH];
    char          source[sizeof PAWL__BENCH_SAGA + PAWL_UUID_TEXT_SIZE];
    /* As scattered as the ids that pawl derives from the source. */
    pawl__loop_uuid(s->dispatch_id, pawl_random_next(random), pawl_random_next(random));
    memcpy(source, PAWL__BENCH_SAGA "/", sizeof PAWL__BENCH_SAGA);
    memcpy(source + sizeof PAWL__BENCH_SAGA, s->saga_id, sizeof s->saga_id);
    loop_text(statement, 1, s->dispatch_id, sizeof s->dispatch_id);
    loop_int(statement, 2, now);
    loop_text(statement, 3, source, sizeof source);
    loop_int(statement, 4, s->version + 1);
    loop_text(statement, 5, s->correlation_id, sizeof s->correlation_id);
    loop_text(statement, 6, s->id, sizeof s->id);
    loop_text(statement, 7, LOOP_HEADERS, sizeof LOOP_HEADERS - 1);
    loop_text(statement, 8, s->body, s->body_size);
    loop_change(l, statement);
}

static void acknowledge(loop *l, const step *s)
{
    sqlite3_stmt *statement = l->statements[DONE];
    loop_int(statement, 1, s->seq);
    loop_change(l, statement);
}

static size_t run_batch(loop *l, const pawl__bench_job *job, step *steps, pawl_random *random)
{
    pawl_time now = pawl_clock_now(NULL);
    pawl__loop_begin(l);
    size_t count = claim(l, job->batch, now, steps);
    for (size_t i = 0; i < count; i++)
        acknowledge(l, &steps[i]);
    for (size_t i = 0; i < count; i++)
        mark(l, &steps[i], now);
    bool has_saga = job->handler == PAWL__BENCH_SAGA_STEP;
    for (size_t i = 0; has_saga && i < count; i++) {
        load(l, &steps[i]);
        save(l, &steps[i], (uint64_t)now, l->commits << 32 | i);
    }
    for (size_t i = 0; has_saga && i < count; i++)
        dispatch(l, &steps[i], now, random);
    pawl__loop_commit(l, now, (int64_t)count);
    return count;
}

pawl_code pawl__bench_sqlite_saga_step(const pawl__bench_job *job, int64_t *microseconds,
                                       pawl_error *error)
{
    pawl__bench_handle handle;
    pawl_random        random;
    loop               l     = {.code = PAWL_OK};
    step              *steps = pawl_allocate((size_t)job->batch * sizeof *steps);
    pawl_random_seed(&random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK && steps == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    if (code == PAWL_OK) {
        pawl__loop_open(&l, handle.store, texts, STATEMENT_COUNT, LOOP_FENCE(TABLE("workers")),
                        error);
        int64_t begin = pawl__bench_clock();
        while (run_batch(&l, job, steps, &random) > 0 && l.code == PAWL_OK)
            l.code = pawl__bench_go_on(error);
        *microseconds = pawl__bench_clock() - begin;
        code          = l.code;
    }
    pawl__loop_close(&l);
    pawl__bench_close(&handle);
    pawl_free(steps);
    return code;
}

/* ---- One message at a time ------------------------------------------------ */

typedef struct letters {
    loop        to; /* where they are sent */
    loop        from;
    pawl_random random;
} letters;

static void send_letter(loop *l, const pawl__bench_letter *letter, pawl_time now)
{
    sqlite3_stmt *insert = l->statements[0];
    char          id[PAWL_UUID_TEXT_SIZE];
    char          body[LOOP_BODY_SIZE_MAX];
    size_t        size =
        pawl__loop_body(body, letter->order_id, letter->number, letter->cents, letter->at);
    pawl__loop_uuid(id, (uint64_t)now, (uint64_t)letter->number);
    pawl__loop_begin(l);
    loop_int(insert, 1, now);
    loop_text(insert, 2, id, sizeof id);
    loop_text(insert, 3, "bench_step", sizeof "bench_step" - 1);
    loop_text(insert, 4, id, sizeof id);
    loop_text(insert, 5, "", 0);
    loop_text(insert, 6, "", 0);
    loop_text(insert, 7, body, size);
    loop_change(l, insert);
    pawl__loop_commit(l, now, 0);
}

static pawl_code handle_letter(void *side, const pawl__bench_letter *letter, int64_t *handled,
                               pawl_error *error)
{
    letters  *s   = side;
    loop     *l   = &s->from;
    pawl_time now = pawl_clock_now(NULL);
    step      it;
    send_letter(&s->to, letter, now);
    pawl__loop_begin(l);
    size_t count = claim(l, 1, now, &it);
    if (s->to.code != PAWL_OK || l->code != PAWL_OK)
        return s->to.code != PAWL_OK ? s->to.code : l->code;
    if (count != 1)
        return pawl__bench_expect("messages in the queue", (int64_t)count, 1, error);
    load(l, &it);
    *handled = pawl__bench_clock();
    acknowledge(l, &it);
    mark(l, &it, now);
    save(l, &it, (uint64_t)now, l->commits << 32);
    dispatch(l, &it, now, &s->random);
    pawl__loop_commit(l, now, 1);
    return l->code;
}

pawl_code pawl__bench_sqlite_latency(const pawl__bench_job *job, int64_t *microseconds,
                                     pawl_error *error)
{
    static const char *const send[] = {LOOP_SEND(PAWL__BENCH_QUEUE)};
    pawl__bench_handle       handle, sender = {.store = NULL};
    letters                  s = {.to = {.code = PAWL_OK}};
    pawl_random_seed(&s.random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &sender, error);
    if (code == PAWL_OK) {
        const char *fence = LOOP_FENCE(TABLE("workers"));
        pawl__loop_open(&s.to, sender.store, send, 1, fence, error);
        pawl__loop_open(&s.from, handle.store, texts, STATEMENT_COUNT, fence, error);
        code = s.to.code == PAWL_OK ? s.from.code : s.to.code;
    }
    if (code == PAWL_OK)
        code = pawl__bench_letters(job, handle_letter, &s, microseconds, error);
    pawl__loop_close(&s.to);
    pawl__loop_close(&s.from);
    pawl__bench_close(&sender);
    pawl__bench_close(&handle);
    return code;
}
