/* outbox_drain.c - the row changes of outbox-drain with no engine.
 *
 *     read a batch of pending rows -> insert them into the other schema's queue,
 *     fence, commit there -> fence, settle them, one attempt each, the leader's number,
 *     commit here, read the next -> ...
 *
 * Two connections and two commits, each durable before the next begins: one
 * commit over both schemas would be faster, and would not survive that one of
 * them is another machine's. Values go from the one connection to the other as
 * they came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_postgres.h"

enum { READ, BEGIN, FENCE, SETTLE, ATTEMPT, RAISE, COMMIT, STATEMENT_COUNT };
enum { TO_BEGIN, TO_FENCE, DELIVER, TO_COMMIT, TO_STATEMENT_COUNT };

/* clang-format off */
static const char *const texts[STATEMENT_COUNT] = {
    /* In the order of the index of pending rows: the key's own index leads past
     * every row that was settled. */
    [READ] =
        "select \"Id\", \"Due\", \"MessageId\", \"Type\", \"CorrelationId\", \"CausationId\", "
        "\"Headers\", \"Body\" from " TABLE("outbox") " "
        "where \"State\" = 'pending' and \"NextAttempt\" <= $1 "
        "order by \"Id\", \"NextAttempt\" limit $2::int8",
    [BEGIN] = "begin",
    [FENCE] = PG_FENCE,
    [SETTLE] =
        "update " TABLE("outbox") " set \"State\" = 'dispatched', \"Attempts\" = 1, "
        "\"NextAttempt\" = $2, \"DispatchedAt\" = $2 "
        "where \"Id\" = any ($1::int8[]) and \"State\" = 'pending'",
    [ATTEMPT] =
        "insert into " TABLE("outbox_attempts") " (\"OutboxId\", \"Attempt\", \"Outcome\", "
        "\"At\", \"Duration\", \"Error\") "
        "select id, 1, 'success', $2::timestamptz, $3::int8, '' from unnest($1::int8[]) as id",
    /* A runner that another one replaced would find the number raised. */
    [RAISE] =
        "insert into " TABLE("checkpoints") " as old (\"Name\", \"Position\", \"At\") "
        "values ('outbox/" PAWL__BENCH_QUEUE "', $1::int8, $2::timestamptz) "
        "on conflict (\"Name\") do update set \"Position\" = excluded.\"Position\", "
        "\"At\" = excluded.\"At\" where old.\"Position\" = $1::int8 - 1",
    [COMMIT] = "commit",
};

static const char *const to_texts[TO_STATEMENT_COUNT] = {
    [TO_BEGIN] = "begin",
    [TO_FENCE] = PG_FENCE,
    [DELIVER] =
        "insert into " TABLE("queue") " (\"Queue\", \"Due\", \"Placed\", \"Attempts\", "
        "\"Deaths\", \"WaitingSince\", \"Error\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\") "
        "select '" PAWL__BENCH_OUTSIDE "', due, due, 0, 0, 'epoch', '', id, type, correlation, "
        "causation, headers, body "
        "from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], "
        "$6::text[], $7::bytea[]) as row(due, id, type, correlation, causation, headers, body) "
        "on conflict (\"Queue\", \"MessageId\") do nothing",
    [TO_COMMIT] = "commit",
};
/* clang-format on */

#define COLUMN_COUNT 8 /* of READ; the first is the row's own id */

typedef struct session {
    pg_loop   from;
    pg_loop   to;
    pawl_time now;
    int64_t   began; /* with the batch */
    int64_t   batch;
    pg_array  columns[COLUMN_COUNT];
} session;

static void send_read(session *s)
{
    s->began     = pawl__bench_clock();
    s->now       = pawl_clock_now(NULL);
    pg_call read = pg_begin(READ);
    pg_put_time(&read, s->now);
    pg_put_int(&read, s->batch);
    pawl__pg_send(&s->from, &read);
    pawl__pg_sync(&s->from);
}

static int64_t take_read(session *s)
{
    static const uint32_t types[COLUMN_COUNT] = {PG_INT8, PG_TIME, PG_TEXT, PG_TEXT,
                                                 PG_TEXT, PG_TEXT, PG_TEXT, PG_BYTEA};
    PGresult             *rows                = pawl__pg_take(&s->from);
    int                   count               = rows != NULL ? PQntuples(rows) : 0;
    for (int column = 0; column < COLUMN_COUNT; column++) {
        pg_array *array = &s->columns[column];
        pawl__pg_array_begin(&s->from, array, types[column]);
        for (int row = 0; row < count; row++)
            pawl__pg_array_add(&s->from, array, PQgetvalue(rows, row, column),
                               (size_t)PQgetlength(rows, row, column));
    }
    PQclear(rows);
    pawl__pg_synced(&s->from);
    return count;
}

static void deliver(session *s, int64_t count)
{
    pg_call begin  = pg_begin(TO_BEGIN);
    pg_call insert = pg_begin(DELIVER);
    pg_call commit = pg_begin(TO_COMMIT);
    for (int column = 1; column < COLUMN_COUNT; column++)
        pg_put_array(&insert, &s->columns[column]);
    pawl__pg_send(&s->to, &begin);
    pawl__pg_send_fence(&s->to, TO_FENCE, s->now, 0);
    pawl__pg_send(&s->to, &insert);
    pawl__pg_send(&s->to, &commit);
    pawl__pg_sync(&s->to);
    pawl__pg_expect(&s->to, -1, "begin");
    pawl__pg_expect(&s->to, 1, "fence");
    pawl__pg_expect(&s->to, count, "messages sent");
    pawl__pg_expect(&s->to, -1, "commit");
    pawl__pg_synced(&s->to);
}

static void settle(session *s, int64_t count)
{
    pg_call begin   = pg_begin(BEGIN);
    pg_call update  = pg_begin(SETTLE);
    pg_call attempt = pg_begin(ATTEMPT);
    pg_call raise   = pg_begin(RAISE);
    pg_call commit  = pg_begin(COMMIT);
    pg_put_array(&update, &s->columns[0]);
    pg_put_time(&update, s->now);
    pg_put_array(&attempt, &s->columns[0]);
    pg_put_time(&attempt, s->now);
    pg_put_int(&attempt, pawl__bench_clock() - s->began);
    pawl__pg_send(&s->from, &begin);
    pawl__pg_send_fence(&s->from, FENCE, s->now, 0);
    pawl__pg_send(&s->from, &update);
    pawl__pg_send(&s->from, &attempt);
    pg_put_int(&raise, (int64_t)s->from.commits);
    pg_put_time(&raise, s->now);
    pawl__pg_send(&s->from, &raise);
    pawl__pg_send(&s->from, &commit);
    send_read(s);
    pawl__pg_expect(&s->from, -1, "begin");
    pawl__pg_expect(&s->from, 1, "fence");
    pawl__pg_expect(&s->from, count, "rows settled");
    pawl__pg_expect(&s->from, count, "attempts");
    pawl__pg_expect(&s->from, 1, "the leader's number");
    pawl__pg_expect(&s->from, -1, "commit");
}

static int64_t run_batch(session *s)
{
    int64_t count = take_read(s);
    if (count == 0 || s->from.code != PAWL_OK)
        return 0;
    deliver(s, count);
    s->from.code = s->to.code;
    if (s->from.code == PAWL_OK)
        settle(s, count);
    return count;
}

static pawl_code drain(session *s, const pawl__bench_job *job, pawl_store *store,
                       pawl_store *target, int64_t *microseconds, pawl_error *error)
{
    pawl__pg_open(&s->from, store, job->url, texts, STATEMENT_COUNT, error);
    pawl__pg_open(&s->to, target, job->target, to_texts, TO_STATEMENT_COUNT,
                  s->from.code == PAWL_OK ? error : NULL);
    if (s->from.code == PAWL_OK)
        s->from.code = s->to.code;
    int64_t begin = pawl__bench_clock();
    send_read(s);
    while (run_batch(s) > 0 && s->from.code == PAWL_OK)
        s->from.code = pawl__bench_go_on(error);
    *microseconds = pawl__bench_clock() - begin;
    pawl__pg_close(&s->from);
    pawl__pg_close(&s->to);
    return s->from.code;
}

pawl_code pawl__bench_postgres_outbox_drain(const pawl__bench_job *job, int64_t *microseconds,
                                            pawl_error *error)
{
    pawl__bench_handle handle;
    pawl__bench_handle target;
    session            s    = {.batch = job->batch};
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    pawl_code other = pawl__bench_open(job->target, &target, code == PAWL_OK ? error : NULL);
    code            = code == PAWL_OK ? other : code;
    if (code == PAWL_OK)
        code = drain(&s, job, handle.store, target.store, microseconds, error);
    pawl__bench_close(&handle);
    pawl__bench_close(&target);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        pawl__pg_array_free(&s.columns[i]);
    return code;
}
