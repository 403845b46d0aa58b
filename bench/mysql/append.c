/* append.c - the row changes of append with no change set.
 *
 *     fence, events, outbox rows, look for versions before -> commit -> ...
 *
 * Each kind of row is one set, each arrow one trip to the server. Of a stream's first event in the
 * batch the version before must be there, which one statement counts; that its own is free the
 * unique index says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "append.h"

#include "limit_mysql.h"

#include <stdio.h>

enum { BEFORE, EVENT, DISPATCH, STATEMENT_COUNT };

/* clang-format off */
static const my_texts texts[STATEMENT_COUNT] = {
    [BEFORE] = MY_SAME(
        "select count(*) from json_table(?, '$[*]' columns (stream varchar(200) path '$[0]', "
        "version bigint path '$[1]')) as j straight_join " TABLE("events") " as t "
        INDEX("events_stream") " on t.`Stream` = j.stream and t.`Version` = j.version"),
    [EVENT] = MY_INSERT(
        "insert into " TABLE("events") " (`Stream`, `Version`, `Type`, `TypeVersion`, "
        "`MessageId`, `CorrelationId`, `CausationId`, `At`, `Headers`, `Body`)",
        "(?, ?, 'bench_moved', 1, ?, ?, '', ?, '', ?)"),
    [DISPATCH] = MY_INSERT(
        "insert into " TABLE("outbox") " (`DispatchId`, `State`, `Attempts`, `NextAttempt`, `Due`, "
        "`At`, `Source`, `Version`, `Index`, `Endpoint`, `Destination`, `AttemptsBefore`, "
        "`MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body`)",
        "(?, 'pending', 0, ?, ?, ?, ?, ?, 0, '" PAWL__BENCH_QUEUE "', '" PAWL__BENCH_OUTSIDE "', "
        "0, ?, 'bench_moved', ?, ?, '" LOOP_HEADERS "', ?)"),
};
/* clang-format on */

/* The row of a unit. The dispatch tells what the last event does. */
typedef struct row {
    char   stream[PAWL__BENCH_STREAM_SIZE + 1];
    char   before[PAWL__BENCH_STREAM_SIZE + 40]; /* the stream and its version, as JSON */
    char   message_id[PAWL_UUID_TEXT_SIZE];
    char   dispatch_id[PAWL_UUID_TEXT_SIZE];
    char   bodies[PAWL__BENCH_EVENTS_OF_UNIT][LOOP_BODY_SIZE_MAX];
    size_t sizes[PAWL__BENCH_EVENTS_OF_UNIT];
} row;

enum {
    BEFORES,
    STREAMS,
    VERSIONS,
    MESSAGE_IDS,
    TIMES,
    BODIES,
    SOURCES,
    SOURCE_VERSIONS,
    DISPATCH_IDS,
    CAUSATIONS,
    SENT,
    COLUMN_COUNT
};

typedef struct session {
    my_loop                l;
    const pawl__bench_job *job;
    row                   *rows; /* of the batch */
    pawl_random            random;
    my_column              columns[COLUMN_COUNT];
    int64_t                found; /* by BEFORE */
} session;

static void add_event(session *s, row *to, const pawl__bench_unit *unit, int64_t number,
                      const char *at, const char *now)
{
    my_column *c       = s->columns;
    int64_t    version = unit->version + number + 1;
    to->sizes[number]  = pawl__loop_body(to->bodies[number], to->stream + PAWL__BENCH_ORDER_AT,
                                         version, pawl__bench_cents(unit->stream), at);
    my_add_text(&c[STREAMS], to->stream, PAWL__BENCH_STREAM_SIZE);
    my_add_int(&c[VERSIONS], version);
    my_add_text(&c[MESSAGE_IDS], to->message_id, sizeof to->message_id);
    my_add_text(&c[TIMES], now, MY_TIME_SIZE);
    my_add_text(&c[BODIES], to->bodies[number], to->sizes[number]);
}

static void add_dispatch(session *s, row *to, const pawl__bench_unit *unit)
{
    my_column *c    = s->columns;
    size_t     last = PAWL__BENCH_EVENTS_OF_UNIT - 1;
    /* As scattered as the ids that pawl derives from the source. */
    pawl__loop_uuid(to->dispatch_id, pawl_random_next(&s->random), pawl_random_next(&s->random));
    my_add_text(&c[SOURCES], to->stream, PAWL__BENCH_STREAM_SIZE);
    my_add_int(&c[SOURCE_VERSIONS], unit->version + PAWL__BENCH_EVENTS_OF_UNIT);
    my_add_text(&c[DISPATCH_IDS], to->dispatch_id, sizeof to->dispatch_id);
    my_add_text(&c[CAUSATIONS], to->message_id, sizeof to->message_id);
    my_add_text(&c[SENT], to->bodies[last], to->sizes[last]);
}

static void build(session *s, const pawl__bench_unit *units, int64_t count, pawl_time time,
                  const char *now)
{
    char at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(time, at);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        s->columns[i].count = 0;
    for (int64_t i = 0; i < count; i++) {
        const pawl__bench_unit *unit = &units[i];
        row                    *to   = &s->rows[i];
        pawl__bench_stream(s->job->seed, unit->stream, to->stream);
        pawl__loop_uuid(to->message_id, (uint64_t)time, s->l.commits << 32 | (uint64_t)i);
        if (unit->is_first && unit->version > 0) {
            int size = snprintf(to->before, sizeof to->before, "[\"%s\",%lld]", to->stream,
                                (long long)unit->version);
            my_add_text(&s->columns[BEFORES], to->before, (size_t)size);
        }
        for (int64_t j = 0; j < PAWL__BENCH_EVENTS_OF_UNIT; j++)
            add_event(s, to, unit, j, at, now);
        add_dispatch(s, to, unit);
    }
}

static void check_before(session *s)
{
    pawl__my_take(&s->l, BEFORE);
    while (pawl__my_fetch(&s->l, BEFORE))
        if (s->found != (int64_t)s->columns[BEFORES].count)
            s->l.code = pawl_error_set(s->l.error, PAWL_EBUG,
                                       "the loop: %lld versions before, should be %zu",
                                       (long long)s->found, s->columns[BEFORES].count);
}

static pawl_code append_batch(void *side, const pawl__bench_unit *units, int64_t count,
                              pawl_error *error)
{
    (void)error; /* the loop was opened with it */
    session         *s          = side;
    const my_column *c          = s->columns;
    const my_column *events[]   = {&c[STREAMS],     &c[VERSIONS], &c[MESSAGE_IDS],
                                   &c[MESSAGE_IDS], &c[TIMES],    &c[BODIES]};
    const my_column *dispatch[] = {
        &c[DISPATCH_IDS],    &c[TIMES],        &c[TIMES],      &c[TIMES],      &c[SOURCES],
        &c[SOURCE_VERSIONS], &c[DISPATCH_IDS], &c[CAUSATIONS], &c[CAUSATIONS], &c[SENT]};
    pawl_time time = pawl_clock_now(NULL);
    char      now[PAWL_TIME_TEXT_SIZE + 1];
    my_time(time, now);
    build(s, units, count, time, now);
    pawl__my_send_fence(&s->l, now, count);
    pawl__my_write(&s->l, EVENT, events, sizeof events / sizeof events[0], "events");
    pawl__my_write(&s->l, DISPATCH, dispatch, sizeof dispatch / sizeof dispatch[0], "outbox rows");
    pawl__my_ask(&s->l, BEFORE, &c[BEFORES], "versions before");
    check_before(s);
    pawl__my_read(&s->l);
    pawl__my_query(&s->l, "commit");
    pawl__my_read(&s->l);
    return s->l.code;
}

static pawl_code make_session(session *s, const pawl__bench_job *job, pawl_error *error)
{
    static const bool is_int[COLUMN_COUNT] = {[VERSIONS] = true, [SOURCE_VERSIONS] = true};
    s->job                                 = job;
    s->rows                                = pawl_allocate((size_t)job->batch * sizeof(row));
    pawl_random_seed(&s->random, job->seed);
    pawl_code code = pawl__my_columns_create(
        s->columns, is_int, COLUMN_COUNT, (size_t)job->batch * PAWL__BENCH_EVENTS_OF_UNIT, error);
    s->columns[BEFORES].is_json = true;
    return s->rows != NULL ? code : pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
}

pawl_code pawl__bench_mysql_append(const pawl__bench_job *job, int64_t *microseconds,
                                   pawl_error *error)
{
    pawl__bench_handle handle = {.store = NULL};
    session            s      = {.found = 0};
    pawl_code          code   = make_session(&s, job, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK) {
        MYSQL_BIND found = my_put_int(&s.found);
        pawl__my_open(&s.l, handle.store, texts, STATEMENT_COUNT, error);
        pawl__my_bind(&s.l, BEFORE, &found);
        code = s.l.code;
    }
    if (code == PAWL_OK)
        code = pawl__bench_append_all(job, append_batch, &s, microseconds, error);
    pawl__my_close(&s.l);
    pawl__bench_close(&handle);
    pawl__my_columns_destroy(s.columns, COLUMN_COUNT);
    pawl_free(s.rows);
    return code;
}
