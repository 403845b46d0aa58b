/* saga_step.c - the row changes of saga-step with no engine.
 *
 *     claim -> look at the inbox, load the sagas -> fence, deletions, marks, sagas, outbox rows ->
 *     commit, claim -> ...
 *
 * Each kind of row is one set for the whole batch, each arrow one trip to the server: before the commit
 * goes out, the counts of all writes have come back. Of a body no JSON is parsed; what is needed stands
 * behind a fixed text.
 *
 * latency: the same with one message, which the loop sends before on a connection of its own;
 * the claim goes out when that is done.
 * no-op: the same without sagas and outbox rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "latency.h"

#include "limit_mysql.h"

#include <stdio.h>
#include <string.h>

enum { CLAIM, LOOK, LOAD, DONE, MARK, INSERT, UPDATE, DISPATCH, STATEMENT_COUNT };

/* clang-format off */
static const my_texts texts[] = {
    [CLAIM] = MY_SAME(
        "select `Seq`, `MessageId`, `CorrelationId`, `Body` from " TABLE("queue") " "
        INDEX("queue_due") " where `Queue` = '" PAWL__BENCH_QUEUE "' and `Due` <= ? "
        "order by `Due`, `Seq` limit ? for update skip locked"),
    [LOOK] = MY_SAME(
        "select j.k from " MY_KEYS("varchar(200)") TABLE("inbox") " as t force index (primary) "
        "on t.`Endpoint` = '" PAWL__BENCH_QUEUE "' and t.`MessageId` = j.k"),
    [LOAD] = MY_SAME(
        "select t.`Id`, t.`Concurrency`, t.`Correlation_order_id`, t.`Data` from "
        MY_KEYS("varchar(200)") SAGA_TABLE " as t force index (`Index_Correlation_order_id`) "
        "on t.`Correlation_order_id` = j.k"),
    [DONE] = MY_DELETE("queue", "Seq", "bigint"),
    [MARK] = MY_INSERT(
        "insert into " TABLE("inbox") " (`Endpoint`, `MessageId`, `Outcome`, `At`)",
        "('" PAWL__BENCH_QUEUE "', ?, 'handled', ?)"),
    [INSERT] = MY_INSERT(
        "insert into " SAGA_TABLE " (`Id`, `Metadata`, `Data`, `PersistenceVersion`, "
        "`SagaTypeVersion`, `Concurrency`, `Correlation_order_id`)",
        "(?, ?, ?, '" PAWL_VERSION "', '1.0', 1, ?)"),
    [DISPATCH] = MY_INSERT(
        "insert into " TABLE("outbox") " (`DispatchId`, `State`, `Attempts`, `NextAttempt`, `Due`, "
        "`At`, `Source`, `Version`, `Index`, `Endpoint`, `Destination`, `AttemptsBefore`, "
        "`MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body`)",
        "(?, 'pending', 0, ?, ?, ?, ?, ?, ?, '" PAWL__BENCH_QUEUE "', '" PAWL__BENCH_OUTSIDE "', "
        "0, ?, 'bench_moved', ?, ?, '" LOOP_HEADERS "', ?)"),
};
/* clang-format on */

#define SOURCE_SIZE (sizeof PAWL__BENCH_SAGA + PAWL_UUID_TEXT_SIZE) /* without NUL */

/* The saga of one or more messages of the batch. */
typedef struct order {
    char    order_id[PAWL__BENCH_ORDER_ID_SIZE];
    char    source[SOURCE_SIZE]; /* ends with its id */
    char    metadata[200];
    size_t  metadata_size;
    int64_t version; /* as loaded; 0: it is new */
    int64_t steps;
    int64_t cents;
    int64_t messages;
    size_t  first; /* its messages in the batch */
    size_t  last;
} order;

typedef struct step {
    char    id[PAWL_UUID_TEXT_SIZE];
    char    correlation_id[PAWL_UUID_TEXT_SIZE];
    char    dispatch_id[PAWL_UUID_TEXT_SIZE];
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
    TIMES,
    ORDER_IDS,
    DISPATCH_IDS,
    SOURCES,
    VERSIONS,
    INDEXES,
    CORRELATIONS,
    BODIES,
    SAGA_IDS,
    SAGA_METADATA,
    SAGA_DATA,
    SAGA_ORDER_IDS,
    SAGA_VERSIONS,
    COLUMN_COUNT
};

/* A row of CLAIM or of LOAD, as it is fetched. */
typedef struct fetched {
    int64_t       number; /* its sequence number, or its version */
    char          first[PAWL_NAME_SIZE_MAX];
    char          second[PAWL_NAME_SIZE_MAX];
    char          body[2 * LOOP_BODY_SIZE_MAX];
    unsigned long first_size, second_size, body_size;
} fetched;

typedef struct session {
    my_loop     l;
    pawl_random random;
    char        now[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time   time;
    int64_t     batch;
    bool        has_saga;
    step       *steps;
    order      *orders;
    size_t      order_count;
    uint32_t   *slots; /* order ids by hash: the order's number + 1; 0 is free */
    size_t      slot_count;
    my_column   columns[COLUMN_COUNT];
    fetched     row;
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
    order *added   = &s->orders[s->order_count++];
    added->version = added->steps = added->cents = added->messages = 0;
    memcpy(added->order_id, order_id, sizeof added->order_id);
    *slot = (uint32_t)s->order_count;
    my_add_text(&s->columns[ORDER_IDS], added->order_id, sizeof added->order_id);
    return s->order_count - 1;
}

static pawl_code make_session(session *s, const pawl__bench_job *job, pawl_error *error)
{
    static const bool is_int[COLUMN_COUNT] = {
        [SEQS] = true, [VERSIONS] = true, [INDEXES] = true, [SAGA_VERSIONS] = true};
    s->batch      = job->batch;
    s->has_saga   = job->handler == PAWL__BENCH_SAGA_STEP;
    s->slot_count = 16;
    while (s->slot_count < (size_t)job->batch * 2)
        s->slot_count *= 2;
    s->steps  = pawl_allocate((size_t)job->batch * sizeof *s->steps);
    s->orders = pawl_allocate((size_t)job->batch * sizeof *s->orders);
    s->slots  = pawl_allocate(s->slot_count * sizeof *s->slots);
    pawl_random_seed(&s->random, job->seed);
    pawl_code code =
        pawl__my_columns_create(s->columns, is_int, COLUMN_COUNT, (size_t)job->batch, error);
    bool has_all = s->steps != NULL && s->orders != NULL && s->slots != NULL;
    return has_all ? code : pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
}

static void free_session(session *s)
{
    pawl__my_columns_destroy(s->columns, COLUMN_COUNT);
    pawl_free(s->steps);
    pawl_free(s->orders);
    pawl_free(s->slots);
}

static void bind_rows(session *s)
{
    fetched   *row     = &s->row;
    MYSQL_BIND first   = my_get_text(row->first, sizeof row->first, &row->first_size);
    MYSQL_BIND second  = my_get_text(row->second, sizeof row->second, &row->second_size);
    MYSQL_BIND body    = my_get_text(row->body, sizeof row->body, &row->body_size);
    MYSQL_BIND number  = my_put_int(&row->number);
    MYSQL_BIND claim[] = {number, first, second, body};
    MYSQL_BIND look[]  = {first};
    MYSQL_BIND load[]  = {first, number, second, body};
    pawl__my_bind(&s->l, CLAIM, claim);
    pawl__my_bind(&s->l, LOOK, look);
    pawl__my_bind(&s->l, LOAD, load);
}

/* ---- Reading --------------------------------------------------------------- */

static void send_claim(session *s)
{
    s->time = pawl_clock_now(NULL);
    my_time(s->time, s->now);
    MYSQL_BIND values[] = {my_put_text(s->now, MY_TIME_SIZE), my_put_int(&s->batch)};
    pawl__my_send(&s->l, CLAIM, values, -1, "claim");
}

static void begin_batch(session *s)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        s->columns[i].count = 0;
    memset(s->slots, 0, s->slot_count * sizeof *s->slots);
    s->order_count = 0;
}

static void add_step(session *s, step *to)
{
    const fetched *row = &s->row;
    my_add_int(&s->columns[SEQS], row->number);
    memcpy(to->id, row->first, sizeof to->id);
    memcpy(to->correlation_id, row->second, sizeof to->correlation_id);
    my_add_text(&s->columns[IDS], to->id, sizeof to->id);
    my_add_text(&s->columns[TIMES], s->now, MY_TIME_SIZE);
    my_add_text(&s->columns[CORRELATIONS], to->correlation_id, sizeof to->correlation_id);
    pawl__my_text_of(&s->l, row->body, row->body_size, "\"order_id\":\"", to->order_id,
                     sizeof to->order_id);
    pawl__my_text_of(&s->l, row->body, row->body_size, "\"at\":\"", to->at, sizeof to->at);
    to->cents = pawl__my_number(&s->l, row->body, row->body_size, "\"cents\":");
    to->order = find_order(s, to->order_id);
}

static size_t take_claim(session *s)
{
    size_t count = 0;
    begin_batch(s);
    pawl__my_take(&s->l, CLAIM);
    while (pawl__my_fetch(&s->l, CLAIM))
        add_step(s, &s->steps[count++]);
    return count;
}

static void add_saga(session *s)
{
    const fetched *row = &s->row;
    order         *to  = &s->orders[find_order(s, row->second)];
    memcpy(to->source + sizeof PAWL__BENCH_SAGA, row->first, PAWL_UUID_TEXT_SIZE);
    to->version = row->number;
    to->steps   = pawl__my_number(&s->l, row->body, row->body_size, "\"steps\":");
    to->cents   = pawl__my_number(&s->l, row->body, row->body_size, "\"cents\":");
}

static void look_and_load(session *s)
{
    pawl__my_ask(&s->l, LOOK, &s->columns[IDS], "look at the inbox");
    if (s->has_saga)
        pawl__my_ask(&s->l, LOAD, &s->columns[ORDER_IDS], "load");
    pawl__my_take(&s->l, LOOK);
    while (pawl__my_fetch(&s->l, LOOK))
        s->l.code = pawl_error_set(s->l.error, PAWL_EBUG, "the loop: a message in the inbox");
    if (!s->has_saga)
        return;
    pawl__my_take(&s->l, LOAD);
    while (pawl__my_fetch(&s->l, LOAD))
        add_saga(s);
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

static void add_new(session *s, order *added, uint64_t number)
{
    int size = snprintf(added->metadata, sizeof added->metadata,
                        "{\"SagaType\":\"" PAWL__BENCH_SAGA "\",\"OriginalMessageId\":\"%.*s\"}",
                        PAWL_UUID_TEXT_SIZE, s->steps[added->first].id);
    pawl__loop_uuid(added->source + sizeof PAWL__BENCH_SAGA, (uint64_t)s->time,
                    s->l.commits << 32 | number);
    my_add_text(&s->columns[SAGA_METADATA], added->metadata, (size_t)size);
    my_add_text(&s->columns[SAGA_ORDER_IDS], added->order_id, sizeof added->order_id);
}

/* The new ones, or those that were there; both lists use the same columns. */
static void collect_sagas(session *s, bool is_new)
{
    my_column *ids = &s->columns[SAGA_IDS], *data = &s->columns[SAGA_DATA];
    ids->count = data->count = 0;
    for (size_t i = 0; i < s->order_count; i++) {
        order      *saga = &s->orders[i];
        const step *last = &s->steps[saga->last];
        if ((saga->version == 0) != is_new)
            continue;
        memcpy(saga->source, PAWL__BENCH_SAGA "/", sizeof PAWL__BENCH_SAGA);
        if (is_new)
            add_new(s, saga, i);
        else
            my_add_int(&s->columns[SAGA_VERSIONS], saga->version);
        my_add_text(ids, saga->source + sizeof PAWL__BENCH_SAGA, PAWL_UUID_TEXT_SIZE);
        my_add_text(data, last->body, last->body_size);
    }
}

static void send_sagas(session *s)
{
    const my_column *c         = s->columns;
    const my_column *inserts[] = {&c[SAGA_IDS], &c[SAGA_METADATA], &c[SAGA_DATA],
                                  &c[SAGA_ORDER_IDS]};
    const my_column *updates[] = {&c[SAGA_DATA], &c[SAGA_IDS], &c[SAGA_VERSIONS]};
    collect_sagas(s, true);
    pawl__my_write(&s->l, INSERT, inserts, 4, "sagas inserted");
    collect_sagas(s, false);
    pawl__my_write(&s->l, UPDATE, updates, 3, "sagas updated");
}

static void send_dispatches(session *s, size_t count)
{
    my_column       *c    = s->columns;
    const my_column *of[] = {&c[DISPATCH_IDS], &c[TIMES],    &c[TIMES],   &c[TIMES],
                             &c[SOURCES],      &c[VERSIONS], &c[INDEXES], &c[DISPATCH_IDS],
                             &c[CORRELATIONS], &c[IDS],      &c[BODIES]};
    for (size_t i = 0; i < count; i++) {
        step        *message = &s->steps[i];
        const order *saga    = &s->orders[message->order];
        /* As scattered as the ids that pawl derives from the source. */
        pawl__loop_uuid(message->dispatch_id, pawl_random_next(&s->random),
                        pawl_random_next(&s->random));
        my_add_text(&c[DISPATCH_IDS], message->dispatch_id, sizeof message->dispatch_id);
        my_add_text(&c[SOURCES], saga->source, sizeof saga->source);
        my_add_int(&c[VERSIONS], saga->version + 1);
        my_add_int(&c[INDEXES], message->index);
        my_add_text(&c[BODIES], message->body, message->body_size);
    }
    pawl__my_write(&s->l, DISPATCH, of, sizeof of / sizeof of[0], "outbox rows");
}

static void save(session *s, size_t count)
{
    const my_column *done[] = {&s->columns[SEQS]};
    const my_column *mark[] = {&s->columns[IDS], &s->columns[TIMES]};
    pawl__my_send_fence(&s->l, s->now, (int64_t)count);
    pawl__my_write(&s->l, DONE, done, 1, "messages deleted");
    pawl__my_write(&s->l, MARK, mark, 2, "inbox marks");
    if (s->has_saga) {
        send_sagas(s);
        send_dispatches(s, count);
    }
    pawl__my_read(&s->l);
    pawl__my_query(&s->l, "commit");
}

static size_t run_batch(session *s)
{
    size_t count = take_claim(s);
    if (count == 0 || s->l.code != PAWL_OK)
        return 0;
    look_and_load(s);
    if (s->has_saga)
        move(s, count);
    save(s, count);
    send_claim(s);
    return count;
}

static pawl_code open_session(session *s, pawl_store *store, pawl_error *error)
{
    my_texts all[STATEMENT_COUNT];
    memcpy(all, texts, sizeof all);
    all[UPDATE] = pawl__my_saga_update;
    pawl__my_open(&s->l, store, all, STATEMENT_COUNT, error);
    bind_rows(s);
    return s->l.code;
}

pawl_code pawl__bench_mysql_saga_step(const pawl__bench_job *job, int64_t *microseconds,
                                      pawl_error *error)
{
    pawl__bench_handle handle = {.store = NULL};
    session            s      = {.order_count = 0};
    pawl_code          code   = make_session(&s, job, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = open_session(&s, handle.store, error);
    if (code == PAWL_OK) {
        int64_t begin = pawl__bench_clock();
        send_claim(&s);
        while (run_batch(&s) > 0 && s.l.code == PAWL_OK)
            s.l.code = pawl__bench_go_on(error);
        *microseconds = pawl__bench_clock() - begin;
        code          = s.l.code;
    }
    pawl__my_close(&s.l);
    pawl__bench_close(&handle);
    free_session(&s);
    return code;
}

/* ---- One message at a time ------------------------------------------------ */

static const my_texts send_text =
    MY_INSERT(MY_SEND_HEAD, MY_SEND_ROW(PAWL__BENCH_QUEUE, "bench_step", ""));

typedef struct letters {
    my_loop to; /* where they are sent */
    session from;
} letters;

static void send_letter(my_loop *l, const pawl__bench_letter *letter)
{
    pawl_time now = pawl_clock_now(NULL);
    char      at[PAWL_TIME_TEXT_SIZE + 1], id[PAWL_UUID_TEXT_SIZE], body[LOOP_BODY_SIZE_MAX];
    size_t    size =
        pawl__loop_body(body, letter->order_id, letter->number, letter->cents, letter->at);
    my_time(now, at);
    pawl__loop_uuid(id, (uint64_t)now, (uint64_t)letter->number);
    MYSQL_BIND values[] = {my_put_text(at, MY_TIME_SIZE),
                           my_put_text(at, MY_TIME_SIZE),
                           my_put_text(id, sizeof id),
                           my_put_text(id, sizeof id),
                           my_put_text("", 0),
                           my_put_text(body, size)};
    pawl__my_send_fence(l, at, 0);
    pawl__my_send(l, 0, values, 1, "messages sent");
    pawl__my_query(l, "commit");
    pawl__my_read(l);
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
    save(&s->from, count);
    pawl__my_read(&s->from.l);
    return s->from.l.code;
}

pawl_code pawl__bench_mysql_latency(const pawl__bench_job *job, int64_t *microseconds,
                                    pawl_error *error)
{
    pawl__bench_handle handle = {.store = NULL}, sender = {.store = NULL};
    letters            s    = {.to = {.commits = 0}};
    pawl_code          code = make_session(&s.from, job, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &sender, error);
    if (code == PAWL_OK) {
        pawl__my_open(&s.to, sender.store, &send_text, 1, error);
        code = s.to.code == PAWL_OK ? open_session(&s.from, handle.store, error) : s.to.code;
    }
    if (code == PAWL_OK)
        code = pawl__bench_letters(job, handle_letter, &s, microseconds, error);
    pawl__my_close(&s.to);
    pawl__my_close(&s.from.l);
    pawl__bench_close(&sender);
    pawl__bench_close(&handle);
    free_session(&s.from);
    return code;
}
