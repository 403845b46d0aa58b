/* append.c - the row changes of append with no change set.
 *
 *     build the texts of a batch -> both events of each unit -> one outbox row
 *           each -> fence -> commit
 *
 * Of a stream's first event in the batch the version before must be there; that its
 * own is free the unique index says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "append.h"

#include "limit_sqlite.h"

enum { BEFORE, EVENT, DISPATCH, STATEMENT_COUNT };

static const char *const texts[STATEMENT_COUNT] = {
    /* An insert that selects from its own table would copy each row first. */
    [BEFORE] = "select 1 from " TABLE("events") " where \"Stream\" = ?1 and \"Version\" = ?2",
    [EVENT]  = "insert into " TABLE(
         "events") " (\"Stream\", \"Version\", \"Type\", \"TypeVersion\", \"MessageId\", "
                  "\"CorrelationId\", \"CausationId\", \"At\", \"Headers\", \"Body\") "
                  "values (?1, ?2, 'bench_moved', 1, ?3, ?3, '', ?4, '', ?5)",
    [DISPATCH] = "insert into " TABLE(
        "outbox") " (\"DispatchId\", \"State\", \"Attempts\", \"NextAttempt\", \"Due\", \"At\", "
                  "\"Source\", \"Version\", \"Index\", \"Endpoint\", \"Destination\", "
                  "\"AttemptsBefore\", \"MessageId\", \"Type\", \"CorrelationId\", "
                  "\"CausationId\", \"Headers\", \"Body\") values (?1, 'pending', 0, ?2, ?2, ?2, "
                  "?3, ?4, 0, '" PAWL__BENCH_QUEUE "', '" PAWL__BENCH_OUTSIDE "', 0, ?1, "
                  "'bench_moved', ?5, ?5, ?6, ?7)",
};

/* The row of a unit. The dispatch tells what the last event does. */
typedef struct row {
    char   stream[PAWL__BENCH_STREAM_SIZE + 1];
    char   message_id[PAWL_UUID_TEXT_SIZE];
    char   dispatch_id[PAWL_UUID_TEXT_SIZE];
    char   bodies[PAWL__BENCH_EVENTS_OF_UNIT][LOOP_BODY_SIZE_MAX];
    size_t sizes[PAWL__BENCH_EVENTS_OF_UNIT];
} row;

typedef struct session {
    loop                   l;
    const pawl__bench_job *job;
    row                   *rows;
    pawl_random            random;
} session;

static void build(session *s, const pawl__bench_unit *units, int64_t count, pawl_time now)
{
    char at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(now, at);
    for (int64_t i = 0; i < count; i++) {
        row                    *to   = &s->rows[i];
        const pawl__bench_unit *unit = &units[i];
        pawl__bench_stream(s->job->seed, unit->stream, to->stream);
        pawl__loop_uuid(to->message_id, (uint64_t)now, s->l.commits << 32 | (uint64_t)i);
        /* As scattered as the ids that pawl derives from the source. */
        pawl__loop_uuid(to->dispatch_id, pawl_random_next(&s->random),
                        pawl_random_next(&s->random));
        for (int64_t j = 0; j < PAWL__BENCH_EVENTS_OF_UNIT; j++)
            to->sizes[j] =
                pawl__loop_body(to->bodies[j], to->stream + PAWL__BENCH_ORDER_AT,
                                unit->version + j + 1, pawl__bench_cents(unit->stream), at);
    }
}

/* The stream must have come to the version that the unit goes on from. */
static void expect_version(session *s, const row *from, int64_t version)
{
    sqlite3_stmt *statement = s->l.statements[BEFORE];
    loop_text(statement, 1, from->stream, PAWL__BENCH_STREAM_SIZE);
    loop_int(statement, 2, version);
    if (loop_next(&s->l, statement))
        (void)sqlite3_reset(statement);
    else if (s->l.code == PAWL_OK)
        s->l.code = pawl_error_set(s->l.error, PAWL_EBUG, "the loop found no version %lld of %s",
                                   (long long)version, from->stream);
}

static void append(session *s, const row *from, const pawl__bench_unit *unit, pawl_time now)
{
    sqlite3_stmt *statement = s->l.statements[EVENT];
    loop_text(statement, 1, from->stream, PAWL__BENCH_STREAM_SIZE);
    loop_text(statement, 3, from->message_id, sizeof from->message_id);
    loop_int(statement, 4, now);
    if (unit->is_first && unit->version != 0)
        expect_version(s, from, unit->version);
    for (int64_t j = 0; j < PAWL__BENCH_EVENTS_OF_UNIT; j++) {
        loop_int(statement, 2, unit->version + j + 1);
        loop_text(statement, 5, from->bodies[j], from->sizes[j]);
        loop_change(&s->l, statement);
    }
}

static void dispatch(session *s, const row *from, const pawl__bench_unit *unit, pawl_time now)
{
    sqlite3_stmt *statement = s->l.statements[DISPATCH];
    size_t        last      = PAWL__BENCH_EVENTS_OF_UNIT - 1;
    loop_text(statement, 1, from->dispatch_id, sizeof from->dispatch_id);
    loop_int(statement, 2, now);
    loop_text(statement, 3, from->stream, PAWL__BENCH_STREAM_SIZE);
    loop_int(statement, 4, unit->version + PAWL__BENCH_EVENTS_OF_UNIT);
    loop_text(statement, 5, from->message_id, sizeof from->message_id);
    loop_text(statement, 6, LOOP_HEADERS, sizeof LOOP_HEADERS - 1);
    loop_text(statement, 7, from->bodies[last], from->sizes[last]);
    loop_change(&s->l, statement);
}

static pawl_code append_batch(void *side, const pawl__bench_unit *units, int64_t count,
                              pawl_error *error)
{
    (void)error; /* the loop was opened with it */
    session  *s   = side;
    pawl_time now = pawl_clock_now(NULL);
    build(s, units, count, now);
    pawl__loop_begin(&s->l);
    for (int64_t i = 0; i < count; i++)
        append(s, &s->rows[i], &units[i], now);
    for (int64_t i = 0; i < count; i++)
        dispatch(s, &s->rows[i], &units[i], now);
    pawl__loop_commit(&s->l, now, count);
    return s->l.code;
}

static pawl_code append_all(session *s, pawl_store *store, int64_t *microseconds, pawl_error *error)
{
    pawl__loop_open(&s->l, store, texts, STATEMENT_COUNT, LOOP_FENCE(TABLE("workers")), error);
    pawl_code code = s->l.code;
    if (code == PAWL_OK)
        code = pawl__bench_append_all(s->job, append_batch, s, microseconds, error);
    pawl__loop_close(&s->l);
    return code;
}

pawl_code pawl__bench_sqlite_append(const pawl__bench_job *job, int64_t *microseconds,
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
    pawl_free(s.rows);
    return code;
}
