/* saga_step.c - the row changes of saga-step with no engine.
 *
 *     claim -> look at the inbox, load the sagas -> fence, marks, sagas, outbox
 *     rows, deletions, commit, begin, claim -> ...
 *
 * Each kind of row is one statement for the whole batch, each line above but
 * the first one trip to the server: the next claim goes out behind the commit.
 * The server works on a statement while the next one is being built. Of a body
 * no JSON is parsed; what is needed stands behind a fixed text.
 *
 * latency: the same with one message, which the loop sends before on a connection of its own;
 * the claim goes out when that is done.
 * no-op: the same without sagas and outbox rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "latency.h"

#include "limit_postgres.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BEGIN,
    CLAIM,
    LOOK,
    LOAD,
    FENCE,
    MARK,
    INSERT,
    UPDATE,
    DISPATCH,
    DONE,
    COMMIT,
    STATEMENT_COUNT
};

/* clang-format off */
static const char *const texts[STATEMENT_COUNT] = {
    [BEGIN] = "begin",
    [CLAIM] =
        "select \"Seq\", \"MessageId\", \"CorrelationId\", \"Body\" from " TABLE("queue") " "
        "where \"Queue\" = '" PAWL__BENCH_QUEUE "' and \"Due\" <= $1 "
        "order by \"Due\", \"Seq\" limit $2::int8 for update skip locked",
    /* With `= any` the index would be read for its first column alone. */
    [LOOK] =
        "select id from unnest($1::text[]) as id cross join lateral (select from " TABLE("inbox") " "
        "where \"Endpoint\" = '" PAWL__BENCH_QUEUE "' and \"MessageId\" = id limit 1) as known",
    [LOAD] =
        "select \"Id\", \"Concurrency\", \"Correlation_order_id\", \"Data\" from " SAGA_TABLE " "
        "where \"Correlation_order_id\" = any ($1::text[])",
    [FENCE] = PG_FENCE,
    [MARK] =
        "insert into " TABLE("inbox") " (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
        "select '" PAWL__BENCH_QUEUE "', id, 'handled', $2::timestamptz "
        "from unnest($1::text[]) as id",
    [INSERT] =
        "insert into " SAGA_TABLE " (\"Id\", \"Metadata\", \"Data\", \"PersistenceVersion\", "
        "\"SagaTypeVersion\", \"Concurrency\", \"Correlation_order_id\") "
        "select id, metadata, data, '" PAWL_VERSION "', '1.0', 1, order_id "
        "from unnest($1::uuid[], $2::text[], $3::jsonb[], $4::text[]) "
        "as row(id, metadata, data, order_id)",
    [UPDATE] = PG_SAGA_UPDATE,
    [DISPATCH] =
        "insert into " TABLE("outbox") " (\"DispatchId\", \"State\", \"Attempts\", "
        "\"NextAttempt\", \"Due\", \"At\", \"Source\", \"Version\", \"Index\", \"Endpoint\", "
        "\"Destination\", \"AttemptsBefore\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\") "
        "select id, 'pending', 0, $1::timestamptz, $1::timestamptz, $1::timestamptz, "
        "'" PAWL__BENCH_SAGA "/' || saga::text, version, index, '" PAWL__BENCH_QUEUE "', "
        "'" PAWL__BENCH_OUTSIDE "', 0, id::text, 'bench_moved', correlation, causation, "
        "'" LOOP_HEADERS "', body "
        "from unnest($2::uuid[], $3::uuid[], $4::int8[], $5::int8[], $6::text[], $7::text[], "
        "$8::bytea[]) as row(id, saga, version, index, correlation, causation, body)",
    [DONE] = "delete from " TABLE("queue") " where \"Seq\" = any ($1::int8[])",
    [COMMIT] = "commit",
};
/* clang-format on */

/* The saga of one or more messages of the batch. */
typedef struct order {
    char     order_id[PAWL__BENCH_ORDER_ID_SIZE];
    uint64_t high, low; /* its id */
    int64_t  version;   /* as loaded; 0: it is new */
    int64_t  steps;
    int64_t  cents;
    int64_t  messages;
    size_t   first; /* its messages in the batch */
    size_t   last;
} order;

typedef struct step {
    char    id[PAWL_UUID_TEXT_SIZE];
    char    order_id[PAWL__BENCH_ORDER_ID_SIZE];
    char    at[PAWL_TIME_TEXT_SIZE];
    int64_t cents;
    size_t  order;
    int64_t index;                    /* among those of the same saga */
    char    body[LOOP_BODY_SIZE_MAX]; /* of the state, and of what is sent */
    size_t  body_size;
} step;

enum {
    SEQS,
    IDS,
    CORRELATIONS,
    ORDER_IDS,
    DISPATCH_IDS,
    SAGAS,
    VERSIONS,
    INDEXES,
    BODIES,
    SAGA_IDS,
    SAGA_METADATA,
    SAGA_DATA,
    SAGA_ORDER_IDS,
    SAGA_VERSIONS,
    ARRAY_COUNT
};

typedef struct session {
    pg_loop     l;
    pawl_random random;
    pawl_time   now;
    int64_t     batch;
    bool        has_saga;
    step       *steps;
    order      *orders;
    size_t      order_count;
    uint32_t   *slots; /* order ids by hash: the order's number + 1; 0 is free */
    size_t      slot_count;
    pg_array    arrays[ARRAY_COUNT];
} session;

/* ---- Orders ---------------------------------------------------------------- */

/* The slot of that id, or the free one where it belongs. */
static uint32_t *slot_of(session *s, const char *order_id)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < PAWL__BENCH_ORDER_ID_SIZE; i++)
        hash = (hash ^ (unsigned char)order_id[i]) * UINT64_C(1099511628211);
    size_t at = (size_t)(hash >> 32) & (s->slot_count - 1);
    while (s->slots[at] != 0 &&
           memcmp(s->orders[s->slots[at] - 1].order_id, order_id, PAWL__BENCH_ORDER_ID_SIZE) != 0)
        at = (at + 1) & (s->slot_count - 1);
    return &s->slots[at];
}

static size_t find_order(session *s, const char *order_id)
{
    uint32_t *slot = slot_of(s, order_id);
    if (*slot != 0)
        return *slot - 1;
    order *added = &s->orders[s->order_count++];
    *added       = (order){.version = 0};
    memcpy(added->order_id, order_id, sizeof added->order_id);
    *slot = (uint32_t)s->order_count;
    pawl__pg_array_add(&s->l, &s->arrays[ORDER_IDS], order_id, PAWL__BENCH_ORDER_ID_SIZE);
    return s->order_count - 1;
}

static bool make_session(session *s, const pawl__bench_job *job)
{
    s->batch      = job->batch;
    s->has_saga   = job->handler == PAWL__BENCH_SAGA_STEP;
    s->slot_count = 16;
    while (s->slot_count < (size_t)job->batch * 2)
        s->slot_count *= 2;
    s->steps  = pawl_allocate((size_t)job->batch * sizeof *s->steps);
    s->orders = pawl_allocate((size_t)job->batch * sizeof *s->orders);
    s->slots  = pawl_allocate(s->slot_count * sizeof *s->slots);
    pawl_random_seed(&s->random, job->seed);
    return s->steps != NULL && s->orders != NULL && s->slots != NULL;
}

static void free_session(session *s)
{
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        pawl__pg_array_free(&s->arrays[i]);
    pawl_free(s->steps);
    pawl_free(s->orders);
    pawl_free(s->slots);
}

static void begin_arrays(session *s)
{
    static const uint32_t types[ARRAY_COUNT] = {
        [SEQS] = PG_INT8,           [IDS] = PG_TEXT,           [CORRELATIONS] = PG_TEXT,
        [ORDER_IDS] = PG_TEXT,      [DISPATCH_IDS] = PG_UUID,  [SAGAS] = PG_UUID,
        [VERSIONS] = PG_INT8,       [INDEXES] = PG_INT8,       [BODIES] = PG_BYTEA,
        [SAGA_IDS] = PG_UUID,       [SAGA_METADATA] = PG_TEXT, [SAGA_DATA] = PG_JSONB,
        [SAGA_ORDER_IDS] = PG_TEXT, [SAGA_VERSIONS] = PG_INT8,
    };
    for (size_t i = 0; i < ARRAY_COUNT; i++)
        pawl__pg_array_begin(&s->l, &s->arrays[i], types[i]);
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    s->order_count = 0;
}

/* ---- Reading --------------------------------------------------------------- */

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

static size_t take_claim(session *s)
{
    pawl__pg_expect(&s->l, -1, "begin");
    PGresult *rows  = pawl__pg_take(&s->l);
    size_t    count = rows != NULL ? (size_t)PQntuples(rows) : 0;
    begin_arrays(s);
    for (size_t i = 0; i < count && s->l.code == PAWL_OK; i++) {
        step       *to   = &s->steps[i];
        int         row  = (int)i;
        const char *body = PQgetvalue(rows, row, 3);
        size_t      size = (size_t)PQgetlength(rows, row, 3);
        pawl__pg_array_add(&s->l, &s->arrays[SEQS], PQgetvalue(rows, row, 0), 8);
        memcpy(to->id, PQgetvalue(rows, row, 1), sizeof to->id);
        pawl__pg_array_add(&s->l, &s->arrays[IDS], to->id, sizeof to->id);
        pawl__pg_array_add(&s->l, &s->arrays[CORRELATIONS], PQgetvalue(rows, row, 2),
                           (size_t)PQgetlength(rows, row, 2));
        pawl__pg_text(&s->l, body, size, "\"order_id\":\"", to->order_id, sizeof to->order_id);
        pawl__pg_text(&s->l, body, size, "\"at\":\"", to->at, sizeof to->at);
        to->cents = pawl__pg_number(&s->l, body, size, "\"cents\":");
        to->order = find_order(s, to->order_id);
    }
    PQclear(rows);
    pawl__pg_synced(&s->l);
    return count;
}

static void look_and_load(session *s)
{
    pg_call look = pg_begin(LOOK);
    pg_call load = pg_begin(LOAD);
    pg_put_array(&look, &s->arrays[IDS]);
    pg_put_array(&load, &s->arrays[ORDER_IDS]);
    pawl__pg_send(&s->l, &look);
    if (s->has_saga)
        pawl__pg_send(&s->l, &load);
    pawl__pg_sync(&s->l);
    pawl__pg_expect(&s->l, 0, "messages in the inbox");
    PGresult *rows = s->has_saga ? pawl__pg_take(&s->l) : NULL;
    for (int row = 0; rows != NULL && row < PQntuples(rows); row++) {
        order      *to   = &s->orders[find_order(s, PQgetvalue(rows, row, 2))];
        const char *data = PQgetvalue(rows, row, 3) + 1; /* behind its version */
        size_t      size = (size_t)PQgetlength(rows, row, 3) - 1;
        to->high         = pg_read_int(PQgetvalue(rows, row, 0));
        to->low          = pg_read_int(PQgetvalue(rows, row, 0) + 8);
        to->version      = (int64_t)pg_read_int(PQgetvalue(rows, row, 1));
        to->steps        = pawl__pg_number(&s->l, data, size, "\"steps\":");
        to->cents        = pawl__pg_number(&s->l, data, size, "\"cents\":");
    }
    PQclear(rows);
    pawl__pg_synced(&s->l);
}

/* ---- Moving and writing ---------------------------------------------------- */

static void move(session *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        step  *message = &s->steps[i];
        order *moved   = &s->orders[message->order];
        moved->steps++;
        moved->cents += message->cents;
        moved->last    = i;
        message->index = moved->messages++;
        if (message->index == 0)
            moved->first = i;
        message->body_size = pawl__loop_body(message->body, message->order_id, moved->steps,
                                             moved->cents, message->at);
    }
}

static void add_metadata(session *s, const order *added)
{
    char metadata[200];
    int  size = snprintf(metadata, sizeof metadata,
                         "{\"SagaType\":\"" PAWL__BENCH_SAGA "\",\"OriginalMessageId\":\"%.*s\"}",
                         PAWL_UUID_TEXT_SIZE, s->steps[added->first].id);
    pawl__pg_array_add(&s->l, &s->arrays[SAGA_METADATA], metadata, (size_t)size);
}

/* The new ones, or those that were there; both lists use the same arrays. */
static size_t collect_sagas(session *s, bool is_new)
{
    pg_array *ids = &s->arrays[SAGA_IDS], *data = &s->arrays[SAGA_DATA];
    pawl__pg_array_begin(&s->l, ids, PG_UUID);
    pawl__pg_array_begin(&s->l, data, PG_JSONB);
    for (size_t i = 0; i < s->order_count; i++) {
        order      *saga = &s->orders[i];
        const step *last = &s->steps[saga->last];
        if ((saga->version == 0) != is_new)
            continue;
        if (is_new) {
            saga->high = (uint64_t)s->now;
            saga->low  = s->l.commits << 32 | i;
            add_metadata(s, saga);
            pawl__pg_array_add(&s->l, &s->arrays[SAGA_ORDER_IDS], saga->order_id,
                               sizeof saga->order_id);
        } else {
            pg_array_add_int(&s->l, &s->arrays[SAGA_VERSIONS], saga->version);
        }
        pg_array_add_uuid(&s->l, ids, saga->high, saga->low);
        pawl__pg_array_add_json(&s->l, data, last->body, last->body_size);
    }
    return ids->count;
}

static void send_inserts(session *s)
{
    pg_call insert = pg_begin(INSERT);
    pg_put_array(&insert, &s->arrays[SAGA_IDS]);
    pg_put_array(&insert, &s->arrays[SAGA_METADATA]);
    pg_put_array(&insert, &s->arrays[SAGA_DATA]);
    pg_put_array(&insert, &s->arrays[SAGA_ORDER_IDS]);
    pawl__pg_send(&s->l, &insert);
}

static void send_updates(session *s)
{
    pg_call update = pg_begin(UPDATE);
    pg_put_array(&update, &s->arrays[SAGA_IDS]);
    pg_put_array(&update, &s->arrays[SAGA_VERSIONS]);
    pg_put_array(&update, &s->arrays[SAGA_DATA]);
    pawl__pg_send(&s->l, &update);
}

static void send_marks(session *s)
{
    pg_call mark = pg_begin(MARK);
    pg_put_array(&mark, &s->arrays[IDS]);
    pg_put_time(&mark, s->now);
    pawl__pg_send(&s->l, &mark);
}

static void send_dispatches(session *s, size_t count)
{
    static const int arrays[] = {DISPATCH_IDS, SAGAS, VERSIONS, INDEXES, CORRELATIONS, IDS, BODIES};
    for (size_t i = 0; i < count; i++) {
        const step  *message = &s->steps[i];
        const order *saga    = &s->orders[message->order];
        /* As scattered as the ids that pawl derives from the source. */
        pg_array_add_uuid(&s->l, &s->arrays[DISPATCH_IDS], pawl_random_next(&s->random),
                          pawl_random_next(&s->random));
        pg_array_add_uuid(&s->l, &s->arrays[SAGAS], saga->high, saga->low);
        pg_array_add_int(&s->l, &s->arrays[VERSIONS], saga->version + 1);
        pg_array_add_int(&s->l, &s->arrays[INDEXES], message->index);
        pawl__pg_array_add(&s->l, &s->arrays[BODIES], message->body, message->body_size);
    }
    pg_call dispatch = pg_begin(DISPATCH);
    pg_put_time(&dispatch, s->now);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        pg_put_array(&dispatch, &s->arrays[arrays[i]]);
    pawl__pg_send(&s->l, &dispatch);
}

/* `behind` sends what goes out behind the commit. */
static void save(session *s, size_t count, void behind(session *s))
{
    pg_call done   = pg_begin(DONE);
    pg_call commit = pg_begin(COMMIT);
    pawl__pg_send_fence(&s->l, FENCE, s->now, (int64_t)count);
    send_marks(s);
    size_t inserts = s->has_saga ? collect_sagas(s, true) : 0;
    if (inserts > 0)
        send_inserts(s);
    size_t updates = s->has_saga ? collect_sagas(s, false) : 0;
    if (updates > 0)
        send_updates(s);
    if (s->has_saga)
        send_dispatches(s, count);
    pg_put_array(&done, &s->arrays[SEQS]);
    pawl__pg_send(&s->l, &done);
    pawl__pg_send(&s->l, &commit);
    behind(s);
    pawl__pg_expect(&s->l, 1, "fence");
    pawl__pg_expect(&s->l, (int64_t)count, "inbox marks");
    if (inserts > 0)
        pawl__pg_expect(&s->l, (int64_t)inserts, "sagas inserted");
    if (updates > 0)
        pawl__pg_expect(&s->l, (int64_t)updates, "sagas updated");
    if (s->has_saga)
        pawl__pg_expect(&s->l, (int64_t)count, "outbox rows");
    pawl__pg_expect(&s->l, (int64_t)count, "messages deleted");
    pawl__pg_expect(&s->l, -1, "commit");
}

static size_t run_batch(session *s)
{
    size_t count = take_claim(s);
    if (count == 0 || s->l.code != PAWL_OK)
        return 0;
    look_and_load(s);
    if (s->has_saga)
        move(s, count);
    save(s, count, send_claim);
    return count;
}

pawl_code pawl__bench_postgres_saga_step(const pawl__bench_job *job, int64_t *microseconds,
                                         pawl_error *error)
{
    pawl__bench_handle handle;
    session            s       = {.order_count = 0};
    bool               is_made = make_session(&s, job);
    pawl_code          code    = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK && !is_made)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
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
    free_session(&s);
    return code;
}

/* ---- One message at a time ------------------------------------------------ */

enum { TO_BEGIN, TO_FENCE, TO_SEND, TO_COMMIT, TO_STATEMENT_COUNT };

/* clang-format off */
static const char *const to_texts[TO_STATEMENT_COUNT] = {
    [TO_BEGIN] = "begin",
    [TO_FENCE] = PG_FENCE,
    [TO_SEND] =
        "insert into " TABLE("queue") " (\"Queue\", \"Due\", \"Placed\", \"Attempts\", "
        "\"Deaths\", \"WaitingSince\", \"Error\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\") values ('" PAWL__BENCH_QUEUE "', "
        "$1::timestamptz, $1::timestamptz, 0, 0, 'epoch', '', $2::uuid::text, 'bench_step', "
        "$2::uuid::text, '', '', $3::bytea) on conflict (\"Queue\", \"MessageId\") do nothing",
    [TO_COMMIT] = "commit",
};
/* clang-format on */

typedef struct letters {
    pg_loop to; /* where they are sent */
    session from;
} letters;

static void send_letter(pg_loop *l, const pawl__bench_letter *letter)
{
    pg_call   begin  = pg_begin(TO_BEGIN);
    pg_call   send   = pg_begin(TO_SEND);
    pg_call   commit = pg_begin(TO_COMMIT);
    pawl_time now    = pawl_clock_now(NULL);
    uint64_t  id[2]  = {htobe64((uint64_t)now), htobe64((uint64_t)letter->number)};
    char      body[LOOP_BODY_SIZE_MAX];
    size_t    size =
        pawl__loop_body(body, letter->order_id, letter->number, letter->cents, letter->at);
    pg_put_time(&send, now);
    pg_put_bytes(&send, id, sizeof id);
    pg_put_bytes(&send, body, size);
    pawl__pg_send(l, &begin);
    pawl__pg_send_fence(l, TO_FENCE, now, 0);
    pawl__pg_send(l, &send);
    pawl__pg_send(l, &commit);
    pawl__pg_sync(l);
    pawl__pg_expect(l, -1, "begin");
    pawl__pg_expect(l, 1, "fence");
    pawl__pg_expect(l, 1, "messages sent");
    pawl__pg_expect(l, -1, "commit");
    pawl__pg_synced(l);
}

static void sync_only(session *s)
{
    pawl__pg_sync(&s->l);
}

static pawl_code handle_letter(void *side, const pawl__bench_letter *letter, int64_t *handled,
                               pawl_error *error)
{
    letters *s = side;
    send_letter(&s->to, letter);
    send_claim(&s->from);
    size_t count = take_claim(&s->from);
    if (s->to.code != PAWL_OK || s->from.l.code != PAWL_OK)
        return s->to.code != PAWL_OK ? s->to.code : s->from.l.code;
    if (count != 1)
        return pawl__bench_expect("messages in the queue", (int64_t)count, 1, error);
    look_and_load(&s->from);
    *handled = pawl__bench_clock();
    move(&s->from, count);
    save(&s->from, count, sync_only);
    pawl__pg_synced(&s->from.l);
    return s->from.l.code;
}

static pawl_code handle_letters(letters *s, pawl_store *to, pawl_store *from,
                                const pawl__bench_job *job, int64_t *microseconds,
                                pawl_error *error)
{
    pawl__pg_open(&s->to, to, job->url, to_texts, TO_STATEMENT_COUNT, error);
    pawl__pg_open(&s->from.l, from, job->url, texts, STATEMENT_COUNT, error);
    pawl_code code = s->to.code == PAWL_OK ? s->from.l.code : s->to.code;
    if (code == PAWL_OK)
        code = pawl__bench_letters(job, handle_letter, s, microseconds, error);
    pawl__pg_close(&s->to);
    pawl__pg_close(&s->from.l);
    return code;
}

pawl_code pawl__bench_postgres_latency(const pawl__bench_job *job, int64_t *microseconds,
                                       pawl_error *error)
{
    pawl__bench_handle handle, sender = {.store = NULL};
    letters            s       = {.from = {.order_count = 0}};
    bool               is_made = make_session(&s.from, job);
    pawl_code          code    = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &sender, error);
    if (code == PAWL_OK && !is_made)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
    if (code == PAWL_OK)
        code = handle_letters(&s, sender.store, handle.store, job, microseconds, error);
    pawl__bench_close(&sender);
    pawl__bench_close(&handle);
    free_session(&s.from);
    return code;
}
