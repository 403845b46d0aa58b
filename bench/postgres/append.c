/* append.c - the row changes of append with no change set.
 *
 *     begin, fence, events, outbox rows, commit -> ...
 *
 * Each batch is one trip to the server and each kind of row one statement. The server
 * works on the events while the outbox rows are being built. The first event of a
 * unit is inserted only if the version before it is there; that its own is free the
 * unique index says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "append.h"

#include "limit_postgres.h"

enum { BEGIN, FENCE, EVENT, DISPATCH, COMMIT, STATEMENT_COUNT };

/* clang-format off */
static const char *const texts[STATEMENT_COUNT] = {
    [BEGIN] = "begin",
    [FENCE] = PG_FENCE,
    [EVENT] =
        "insert into " TABLE("events") " (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
        "\"MessageId\", \"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
        "select stream, version, 'bench_moved', 1, message, message, '', $1::timestamptz, '', body "
        "from unnest($2::text[], $3::int8[], $4::int8[], $5::text[], $6::bytea[]) "
        "as row(stream, version, before, message, body) "
        "where before = 0 or (select true from " TABLE("events") " as old "
        "where old.\"Stream\" = stream and old.\"Version\" = before limit 1) is true",
    [DISPATCH] =
        "insert into " TABLE("outbox") " (\"DispatchId\", \"State\", \"Attempts\", "
        "\"NextAttempt\", \"Due\", \"At\", \"Source\", \"Version\", \"Index\", \"Endpoint\", "
        "\"Destination\", \"AttemptsBefore\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\") "
        "select id, 'pending', 0, $1::timestamptz, $1::timestamptz, $1::timestamptz, "
        "stream, version, 0, '" PAWL__BENCH_QUEUE "', '" PAWL__BENCH_OUTSIDE "', 0, "
        "id::text, 'bench_moved', message, message, '" LOOP_HEADERS "', body "
        "from unnest($2::uuid[], $3::text[], $4::int8[], $5::text[], $6::bytea[]) "
        "as row(id, stream, version, message, body)",
    [COMMIT] = "commit",
};
/* clang-format on */

/* The parameters behind the time, in their order. */
enum { STREAMS, VERSIONS, BEFORES, MESSAGE_IDS, BODIES, EVENT_ARRAY_COUNT };
enum { IDS, SOURCES, SOURCE_VERSIONS, CAUSATIONS, SENT, DISPATCH_ARRAY_COUNT };

/* The dispatch tells what the last event does. */
typedef struct row {
    char   stream[PAWL__BENCH_STREAM_SIZE + 1];
    char   message_id[PAWL_UUID_TEXT_SIZE];
    char   body[LOOP_BODY_SIZE_MAX];
    size_t body_size;
} row;

typedef struct session {
    pg_loop                l;
    const pawl__bench_job *job;
    row                   *rows; /* of the batch */
    pawl_random            random;
    pg_array               events[EVENT_ARRAY_COUNT];
    pg_array               dispatches[DISPATCH_ARRAY_COUNT];
} session;

static void add_event(session *s, row *to, const pawl__bench_unit *unit, int64_t version,
                      const char *at)
{
    pg_array *arrays = s->events;
    bool      checks = unit->is_first && version == unit->version + 1;
    to->body_size    = pawl__loop_body(to->body, to->stream + PAWL__BENCH_ORDER_AT, version,
                                       pawl__bench_cents(unit->stream), at);
    pawl__pg_array_add(&s->l, &arrays[STREAMS], to->stream, PAWL__BENCH_STREAM_SIZE);
    pg_array_add_int(&s->l, &arrays[VERSIONS], version);
    pg_array_add_int(&s->l, &arrays[BEFORES], checks ? unit->version : 0);
    pawl__pg_array_add(&s->l, &arrays[MESSAGE_IDS], to->message_id, sizeof to->message_id);
    pawl__pg_array_add(&s->l, &arrays[BODIES], to->body, to->body_size);
}

static void send_arrays(session *s, size_t statement, pawl_time now, const pg_array *arrays,
                        size_t count)
{
    pg_call call = pg_begin(statement);
    pg_put_time(&call, now);
    for (size_t i = 0; i < count; i++)
        pg_put_array(&call, &arrays[i]);
    pawl__pg_send(&s->l, &call);
}

static void send_events(session *s, const pawl__bench_unit *units, int64_t count, pawl_time now)
{
    static const uint32_t types[EVENT_ARRAY_COUNT] = {PG_TEXT, PG_INT8, PG_INT8, PG_TEXT, PG_BYTEA};
    char                  at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(now, at);
    for (size_t i = 0; i < EVENT_ARRAY_COUNT; i++)
        pawl__pg_array_begin(&s->l, &s->events[i], types[i]);
    for (int64_t i = 0; i < count; i++) {
        row *to = &s->rows[i];
        pawl__bench_stream(s->job->seed, units[i].stream, to->stream);
        pawl__loop_uuid(to->message_id, (uint64_t)now, s->l.commits << 32 | (uint64_t)i);
        for (int64_t j = 1; j <= PAWL__BENCH_EVENTS_OF_UNIT; j++)
            add_event(s, to, &units[i], units[i].version + j, at);
    }
    send_arrays(s, EVENT, now, s->events, EVENT_ARRAY_COUNT);
}

static void send_dispatches(session *s, const pawl__bench_unit *units, int64_t count, pawl_time now)
{
    static const uint32_t types[DISPATCH_ARRAY_COUNT] = {PG_UUID, PG_TEXT, PG_INT8, PG_TEXT,
                                                         PG_BYTEA};
    pg_array             *arrays                      = s->dispatches;
    for (size_t i = 0; i < DISPATCH_ARRAY_COUNT; i++)
        pawl__pg_array_begin(&s->l, &arrays[i], types[i]);
    for (int64_t i = 0; i < count; i++) {
        const row *from = &s->rows[i];
        /* As scattered as the ids that pawl derives from the source. */
        pg_array_add_uuid(&s->l, &arrays[IDS], pawl_random_next(&s->random),
                          pawl_random_next(&s->random));
        pawl__pg_array_add(&s->l, &arrays[SOURCES], from->stream, PAWL__BENCH_STREAM_SIZE);
        pg_array_add_int(&s->l, &arrays[SOURCE_VERSIONS],
                         units[i].version + PAWL__BENCH_EVENTS_OF_UNIT);
        pawl__pg_array_add(&s->l, &arrays[CAUSATIONS], from->message_id, sizeof from->message_id);
        pawl__pg_array_add(&s->l, &arrays[SENT], from->body, from->body_size);
    }
    send_arrays(s, DISPATCH, now, arrays, DISPATCH_ARRAY_COUNT);
}

static pawl_code append_batch(void *side, const pawl__bench_unit *units, int64_t count,
                              pawl_error *error)
{
    (void)error; /* the loop was opened with it */
    session  *s      = side;
    pg_call   begin  = pg_begin(BEGIN);
    pg_call   commit = pg_begin(COMMIT);
    pawl_time now    = pawl_clock_now(NULL);
    pawl__pg_send(&s->l, &begin);
    pawl__pg_send_fence(&s->l, FENCE, now, count);
    send_events(s, units, count, now);
    send_dispatches(s, units, count, now);
    pawl__pg_send(&s->l, &commit);
    pawl__pg_sync(&s->l);
    pawl__pg_expect(&s->l, -1, "begin");
    pawl__pg_expect(&s->l, 1, "fence");
    pawl__pg_expect(&s->l, count * PAWL__BENCH_EVENTS_OF_UNIT, "events");
    pawl__pg_expect(&s->l, count, "outbox rows");
    pawl__pg_expect(&s->l, -1, "commit");
    pawl__pg_synced(&s->l);
    return s->l.code;
}

static pawl_code append_all(session *s, pawl_store *store, int64_t *microseconds, pawl_error *error)
{
    pawl__pg_open(&s->l, store, s->job->url, texts, STATEMENT_COUNT, error);
    pawl_code code = s->l.code;
    if (code == PAWL_OK)
        code = pawl__bench_append_all(s->job, append_batch, s, microseconds, error);
    pawl__pg_close(&s->l);
    return code;
}

static void free_session(session *s)
{
    for (size_t i = 0; i < EVENT_ARRAY_COUNT; i++)
        pawl__pg_array_free(&s->events[i]);
    for (size_t i = 0; i < DISPATCH_ARRAY_COUNT; i++)
        pawl__pg_array_free(&s->dispatches[i]);
    pawl_free(s->rows);
}

pawl_code pawl__bench_postgres_append(const pawl__bench_job *job, int64_t *microseconds,
                                      pawl_error *error)
{
    pawl__bench_handle handle;
    session            s = {.job = job, .rows = pawl_allocate((size_t)job->batch * sizeof(row))};
    pawl_random_seed(&s.random, job->seed);
    pawl_code code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK && s.rows == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    if (code == PAWL_OK)
        code = append_all(&s, handle.store, microseconds, error);
    pawl__bench_close(&handle);
    free_session(&s);
    return code;
}
