/* timeouts.c - the row changes of timeouts with no engine.
 *
 *     claim with the sagas -> fence, sagas, deletions, messages, commit, begin,
 *     claim -> ...
 *
 * A row is claimed by its lock, held until the commit, and its saga comes with
 * it: one trip to the server for each batch. pawl stamps a lease in a commit of
 * its own instead, so that no transaction is open while handlers run; the ratio
 * shows what that costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_postgres.h"

enum { BEGIN, CLAIM, FENCE, UPDATE, DONE, SEND, COMMIT, STATEMENT_COUNT };

/* clang-format off */
static const char *const texts[STATEMENT_COUNT] = {
    [BEGIN] = "begin",
    [CLAIM] =
        "select due.\"Id\", due.\"SagaId\", due.\"CorrelationId\", saga.\"Concurrency\", "
        "saga.\"Data\" from (select \"Id\", \"SagaId\", \"CorrelationId\" from " TABLE("timeouts") " "
        "where \"Destination\" = '" PAWL__BENCH_QUEUE "' and \"Due\" <= $1 and "
        "(\"LeaseExpires\" is null or \"LeaseExpires\" <= $1) "
        "order by \"Due\" limit $2::int8 for update skip locked) as due "
        "join " SAGA_TABLE " as saga on saga.\"Id\" = due.\"SagaId\"",
    [FENCE] = PG_FENCE,
    [UPDATE] = PG_SAGA_UPDATE,
    [DONE] = "delete from " TABLE("timeouts") " where \"Id\" = any ($1::uuid[])",
    [SEND] =
        "insert into " TABLE("queue") " (\"Queue\", \"Due\", \"Placed\", \"Attempts\", "
        "\"Deaths\", \"WaitingSince\", \"Error\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\") "
        "select '" PAWL__BENCH_INSIDE "', $1::timestamptz, $1::timestamptz, 0, 0, 'epoch', '', "
        "message::text, 'bench_moved', correlation, causation::text, '" LOOP_HEADERS "', body "
        "from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bytea[]) "
        "as row(message, correlation, causation, body) "
        "on conflict (\"Queue\", \"MessageId\") do nothing",
    [COMMIT] = "commit",
};
/* clang-format on */

enum { IDS, SAGAS, CORRELATIONS, VERSIONS, DATA, MESSAGES, BODIES, ARRAY_COUNT };

typedef struct session {
    pg_loop   l;
    pawl_time now;
    int64_t   batch;
    uint64_t  batches;
    pg_array  arrays[ARRAY_COUNT];
} session;

static void begin_arrays(session *s)
{
    static const uint32_t types[ARRAY_COUNT] = {
        [IDS] = PG_UUID,   [SAGAS] = PG_UUID,    [CORRELATIONS] = PG_TEXT, [VERSIONS] = PG_INT8,
        [DATA] = PG_JSONB, [MESSAGES] = PG_UUID, [BODIES] = PG_BYTEA,
    };
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        pawl__pg_array_begin(&s->l, &s->arrays[i], types[i]);
    s->batches++;
}

static void add_row(session *s, const PGresult *rows, int row)
{
    const char *order_id = PQgetvalue(rows, row, 2);     /* its correlation id, too */
    const char *data     = PQgetvalue(rows, row, 4) + 1; /* behind its version */
    size_t      size     = (size_t)PQgetlength(rows, row, 4) - 1;
    int64_t     steps    = pawl__pg_number(&s->l, data, size, "\"steps\":");
    int64_t     cents    = pawl__pg_number(&s->l, data, size, "\"cents\":");
    char        at[PAWL_TIME_TEXT_SIZE];
    char        body[LOOP_BODY_SIZE_MAX];
    pawl__pg_text(&s->l, data, size, "\"at\": \"", at, sizeof at);
    if (s->l.code != PAWL_OK)
        return;
    size = pawl__loop_body(body, order_id, steps + 1, cents, at);
    pawl__pg_array_add(&s->l, &s->arrays[IDS], PQgetvalue(rows, row, 0), 16);
    pawl__pg_array_add(&s->l, &s->arrays[SAGAS], PQgetvalue(rows, row, 1), 16);
    pawl__pg_array_add(&s->l, &s->arrays[CORRELATIONS], order_id, PAWL__BENCH_ORDER_ID_SIZE);
    pawl__pg_array_add(&s->l, &s->arrays[VERSIONS], PQgetvalue(rows, row, 3), 8);
    pawl__pg_array_add_json(&s->l, &s->arrays[DATA], body, size);
    pawl__pg_array_add(&s->l, &s->arrays[BODIES], body, size);
    pg_array_add_uuid(&s->l, &s->arrays[MESSAGES], (uint64_t)s->now,
                      s->batches << 32 | (uint64_t)row);
}

static void send_claim(session *s)
{
    s->now        = pawl_clock_now(NULL);
    pg_call begin = pg_begin(BEGIN);
    pg_call claim = pg_begin(CLAIM);
    pg_put_time(&claim, s->now);
    pg_put_int(&claim, s->batch);
    pawl__pg_send(&s->l, &begin);
    pawl__pg_send(&s->l, &claim);
    pawl__pg_sync(&s->l);
}

static int64_t take_claim(session *s)
{
    pawl__pg_expect(&s->l, -1, "begin");
    PGresult *rows  = pawl__pg_take(&s->l);
    int       count = rows != NULL ? PQntuples(rows) : 0;
    begin_arrays(s);
    for (int i = 0; i < count && s->l.code == PAWL_OK; i++)
        add_row(s, rows, i);
    PQclear(rows);
    pawl__pg_synced(&s->l);
    return count;
}

static void send_messages(session *s)
{
    pg_call send = pg_begin(SEND);
    pg_put_time(&send, s->now);
    pg_put_array(&send, &s->arrays[MESSAGES]);
    pg_put_array(&send, &s->arrays[CORRELATIONS]);
    pg_put_array(&send, &s->arrays[IDS]);
    pg_put_array(&send, &s->arrays[BODIES]);
    pawl__pg_send(&s->l, &send);
}

static int64_t run_batch(session *s)
{
    int64_t count = take_claim(s);
    if (count == 0 || s->l.code != PAWL_OK)
        return 0;
    pg_call update = pg_begin(UPDATE);
    pg_call done   = pg_begin(DONE);
    pg_call commit = pg_begin(COMMIT);
    pg_put_array(&update, &s->arrays[SAGAS]);
    pg_put_array(&update, &s->arrays[VERSIONS]);
    pg_put_array(&update, &s->arrays[DATA]);
    pg_put_array(&done, &s->arrays[IDS]);
    pawl__pg_send_fence(&s->l, FENCE, s->now, count);
    pawl__pg_send(&s->l, &update);
    pawl__pg_send(&s->l, &done);
    send_messages(s);
    pawl__pg_send(&s->l, &commit);
    send_claim(s);
    pawl__pg_expect(&s->l, 1, "fence");
    pawl__pg_expect(&s->l, count, "sagas updated");
    pawl__pg_expect(&s->l, count, "timeouts deleted");
    pawl__pg_expect(&s->l, count, "messages sent");
    pawl__pg_expect(&s->l, -1, "commit");
    return count;
}

pawl_code pawl__bench_postgres_timeouts(const pawl__bench_job *job, int64_t *microseconds,
                                        pawl_error *error)
{
    pawl__bench_handle handle;
    session            s    = {.batch = job->batch};
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK) {
        pawl__pg_open(&s.l, handle.store, job->url, texts, STATEMENT_COUNT, error);
        int64_t begin = pawl__bench_clock();
        send_claim(&s);
        while (run_batch(&s) > 0 && s.l.code == PAWL_OK)
            s.l.code = pawl__bench_go_on(error);
        *microseconds = pawl__bench_clock() - begin;
        code          = s.l.code;
        pawl__pg_close(&s.l);
    }
    pawl__bench_close(&handle);
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        pawl__pg_array_free(&s.arrays[i]);
    return code;
}
