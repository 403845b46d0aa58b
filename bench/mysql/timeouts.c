/* timeouts.c - the row changes of timeouts with no engine.
 *
 *     claim with the sagas -> fence, sagas, deletions, messages -> commit, claim -> ...
 *
 * A row is claimed by its lock, held until the commit, and its saga comes with
 * it: two trips to the server for each batch. pawl stamps a lease in a commit of
 * its own instead, so that no transaction is open while handlers run; the ratio
 * shows what that costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_mysql.h"

#include <string.h>

enum { CLAIM, UPDATE, DONE, SEND, STATEMENT_COUNT };

/* clang-format off */
static const my_texts texts[] = {
    [CLAIM] = MY_SAME(
        "select t.`Id`, t.`SagaId`, t.`CorrelationId`, saga.`Concurrency`, saga.`Data` "
        "from " TABLE("timeouts") " as t " INDEX("timeouts_due") " straight_join " SAGA_TABLE
        " as saga force index (primary) on saga.`Id` = t.`SagaId` "
        "where t.`Destination` = '" PAWL__BENCH_QUEUE "' and t.`Due` <= ? "
        "and (t.`LeaseExpires` is null or t.`LeaseExpires` <= ?) "
        "order by t.`Due` limit ? for update skip locked"),
    [DONE] = MY_DELETE("timeouts", "Id", "varchar(38) character set ascii"),
    [SEND] = MY_INSERT(MY_SEND_HEAD, MY_SEND_ROW(PAWL__BENCH_INSIDE, "bench_moved", LOOP_HEADERS)),
};
/* clang-format on */

enum { IDS, SAGA_IDS, ORDER_IDS, VERSIONS, BODIES, MESSAGE_IDS, TIMES, COLUMN_COUNT };

typedef struct due {
    char    id[PAWL_UUID_TEXT_SIZE];
    char    saga_id[PAWL_UUID_TEXT_SIZE];
    char    order_id[PAWL__BENCH_ORDER_ID_SIZE]; /* also the correlation id */
    char    message_id[PAWL_UUID_TEXT_SIZE];
    int64_t version;
    char    body[LOOP_BODY_SIZE_MAX];
} due;

typedef struct session {
    my_loop       l;
    char          now[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time     time;
    int64_t       batch;
    uint64_t      batches;
    my_column     columns[COLUMN_COUNT];
    due          *rows;
    due           row; /* as it is fetched */
    char          data[2 * LOOP_BODY_SIZE_MAX];
    unsigned long size;
    unsigned long sizes[3]; /* of the texts of a row, which are always the same */
} session;

/* MySQL gives a space behind the colon, as PostgreSQL does; MariaDB gives what was stored. */
static void read_time(session *s, char at[PAWL_TIME_TEXT_SIZE])
{
    const char *key = s->l.is_mariadb ? "\"at\":\"" : "\"at\": \"";
    pawl__my_text_of(&s->l, s->data, s->size, key, at, PAWL_TIME_TEXT_SIZE);
}

static void add_row(session *s, due *to, uint64_t number)
{
    my_column *c     = s->columns;
    int64_t    steps = pawl__my_number(&s->l, s->data, s->size, "\"steps\":");
    int64_t    cents = pawl__my_number(&s->l, s->data, s->size, "\"cents\":");
    char       at[PAWL_TIME_TEXT_SIZE];
    read_time(s, at);
    *to         = s->row;
    size_t size = pawl__loop_body(to->body, to->order_id, steps + 1, cents, at);
    pawl__loop_uuid(to->message_id, (uint64_t)s->time, s->batches << 32 | number);
    my_add_text(&c[IDS], to->id, sizeof to->id);
    my_add_text(&c[SAGA_IDS], to->saga_id, sizeof to->saga_id);
    my_add_text(&c[ORDER_IDS], to->order_id, sizeof to->order_id);
    my_add_int(&c[VERSIONS], to->version);
    my_add_text(&c[BODIES], to->body, size);
    my_add_text(&c[MESSAGE_IDS], to->message_id, sizeof to->message_id);
    my_add_text(&c[TIMES], s->now, MY_TIME_SIZE);
}

static void send_claim(session *s)
{
    s->time = pawl_clock_now(NULL);
    my_time(s->time, s->now);
    MYSQL_BIND now      = my_put_text(s->now, MY_TIME_SIZE);
    MYSQL_BIND values[] = {now, now, my_put_int(&s->batch)};
    pawl__my_send(&s->l, CLAIM, values, -1, "claim");
}

static size_t take_claim(session *s)
{
    size_t count = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        s->columns[i].count = 0;
    s->batches++;
    pawl__my_take(&s->l, CLAIM);
    for (; pawl__my_fetch(&s->l, CLAIM) && s->l.code == PAWL_OK; count++)
        add_row(s, &s->rows[count], count);
    return count;
}

static size_t run_batch(session *s)
{
    const my_column *c        = s->columns;
    const my_column *update[] = {&c[BODIES], &c[SAGA_IDS], &c[VERSIONS]};
    const my_column *done[]   = {&c[IDS]};
    const my_column *send[]   = {&c[TIMES],     &c[TIMES], &c[MESSAGE_IDS],
                                 &c[ORDER_IDS], &c[IDS],   &c[BODIES]};
    size_t           count    = take_claim(s);
    if (count == 0 || s->l.code != PAWL_OK)
        return 0;
    pawl__my_send_fence(&s->l, s->now, (int64_t)count);
    pawl__my_write(&s->l, UPDATE, update, 3, "sagas updated");
    pawl__my_write(&s->l, DONE, done, 1, "timeouts deleted");
    pawl__my_write(&s->l, SEND, send, sizeof send / sizeof send[0], "messages sent");
    pawl__my_read(&s->l);
    pawl__my_query(&s->l, "commit");
    send_claim(s);
    return count;
}

static pawl_code open_session(session *s, pawl_store *store, pawl_error *error)
{
    my_texts   all[STATEMENT_COUNT];
    due       *row       = &s->row;
    MYSQL_BIND columns[] = {my_get_text(row->id, sizeof row->id, &s->sizes[0]),
                            my_get_text(row->saga_id, sizeof row->saga_id, &s->sizes[1]),
                            my_get_text(row->order_id, sizeof row->order_id, &s->sizes[2]),
                            my_put_int(&row->version),
                            my_get_text(s->data, sizeof s->data, &s->size)};
    memcpy(all, texts, sizeof texts);
    all[UPDATE] = pawl__my_saga_update;
    pawl__my_open(&s->l, store, all, STATEMENT_COUNT, error);
    pawl__my_bind(&s->l, CLAIM, columns);
    return s->l.code;
}

static pawl_code make_session(session *s, const pawl__bench_job *job, pawl_error *error)
{
    static const bool is_int[COLUMN_COUNT] = {[VERSIONS] = true};
    s->batch                               = job->batch;
    s->rows                                = pawl_allocate((size_t)job->batch * sizeof(due));
    pawl_code code =
        pawl__my_columns_create(s->columns, is_int, COLUMN_COUNT, (size_t)job->batch, error);
    return s->rows != NULL ? code : pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
}

pawl_code pawl__bench_mysql_timeouts(const pawl__bench_job *job, int64_t *microseconds,
                                     pawl_error *error)
{
    pawl__bench_handle handle = {.store = NULL};
    session            s      = {.batches = 0};
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
    pawl__my_columns_destroy(s.columns, COLUMN_COUNT);
    pawl_free(s.rows);
    return code;
}
