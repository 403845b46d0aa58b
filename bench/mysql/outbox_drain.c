/* outbox_drain.c - the row changes of outbox-drain with no engine.
 *
 *     read a batch of pending rows -> insert them into the other database's queue, fence -> commit
 *     there -> fence, settle them, one attempt each, the leader's number -> commit here, read the
 *     next -> ...
 *
 * Two connections and two commits, each durable before the next begins: one
 * commit over both databases would be faster, and would not survive that one of
 * them is another machine's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_mysql.h"

#include <string.h>

enum { READ, SETTLE, ATTEMPT, RAISE, STATEMENT_COUNT };

/* clang-format off */
static const my_texts texts[STATEMENT_COUNT] = {
    [READ] = MY_SAME(
        "select `Id`, `Due`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` "
        "from " TABLE("outbox") " " INDEX("outbox_pending") " "
        "where `State` = 'pending' and `NextAttempt` <= ? order by `Id` limit ?"),
    [SETTLE] = {
        .mariadb = {.head =
            "update " TABLE("outbox") " set `State` = 'dispatched', `Attempts` = 1, "
            "`NextAttempt` = ?, `DispatchedAt` = ? where `Id` = ? and `State` = 'pending'"},
        .mysql = {
            .head = "update (values ",
            .row  = "row(?, ?, ?)",
            .tail = ") as j (next, ended, id) straight_join " TABLE("outbox") " as t "
                    "force index (primary) on t.`Id` = j.id set t.`State` = 'dispatched', "
                    "t.`Attempts` = 1, t.`NextAttempt` = j.next, t.`DispatchedAt` = j.ended "
                    "where t.`State` = 'pending'"}},
    [ATTEMPT] = MY_INSERT(
        "insert into " TABLE("outbox_attempts") " (`OutboxId`, `Attempt`, `Outcome`, `At`, "
        "`Duration`, `Error`)", "(?, 1, 'success', ?, ?, '')"),
    /* A runner that another one replaced would find the number raised. */
    [RAISE] = MY_SAME(
        "insert into " TABLE("checkpoints") " (`Name`, `Position`, `At`) "
        "values ('outbox/" PAWL__BENCH_QUEUE "', ?, ?) on duplicate key update "
        "`At` = if(`Position` = values(`Position`) - 1, values(`At`), `At`), "
        "`Position` = if(`Position` = values(`Position`) - 1, values(`Position`), `Position`)"),
};

static const my_texts deliver_text = MY_INSERT(
    "insert into " TABLE("queue") " (`Queue`, `Due`, `Placed`, `Attempts`, `Deaths`, "
    "`WaitingSince`, `Error`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, "
    "`Body`)", "('" PAWL__BENCH_OUTSIDE "', ?, ?, 0, 0, '1970-01-01', '', ?, ?, ?, ?, ?, ?)");
/* clang-format on */

enum { DUE, MESSAGE_ID, TYPE, CORRELATION, CAUSATION, HEADERS, BODY, TEXT_COUNT };
/* The texts of a row have the first columns. */
enum { IDS = TEXT_COUNT, TIMES, DURATIONS, COLUMN_COUNT };

typedef struct row {
    int64_t       id;
    unsigned long sizes[TEXT_COUNT];
    char          texts[TEXT_COUNT][LOOP_BODY_SIZE_MAX];
} row;

typedef struct session {
    my_loop   from;
    my_loop   to;
    char      now[PAWL_TIME_TEXT_SIZE + 1];
    int64_t   began; /* with the batch */
    int64_t   batch;
    my_column columns[COLUMN_COUNT];
    row      *rows;
    row       row; /* as it is fetched */
} session;

static void send_read(session *s)
{
    s->began = pawl__bench_clock();
    my_time(pawl_clock_now(NULL), s->now);
    MYSQL_BIND values[] = {my_put_text(s->now, MY_TIME_SIZE), my_put_int(&s->batch)};
    pawl__my_send(&s->from, READ, values, -1, "read");
}

static void add_row(session *s, row *to)
{
    my_add_int(&s->columns[IDS], s->row.id);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        memcpy(to->texts[i], s->row.texts[i], s->row.sizes[i]);
        my_add_text(&s->columns[i], to->texts[i], s->row.sizes[i]);
    }
    my_add_text(&s->columns[TIMES], s->now, MY_TIME_SIZE);
}

static size_t take_read(session *s)
{
    size_t count = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        s->columns[i].count = 0;
    pawl__my_take(&s->from, READ);
    while (pawl__my_fetch(&s->from, READ))
        add_row(s, &s->rows[count++]);
    return count;
}

static void deliver(session *s)
{
    const my_column *c    = s->columns;
    const my_column *of[] = {&c[DUE],         &c[DUE],       &c[MESSAGE_ID], &c[TYPE],
                             &c[CORRELATION], &c[CAUSATION], &c[HEADERS],    &c[BODY]};
    pawl__my_send_fence(&s->to, s->now, 0);
    pawl__my_write(&s->to, 0, of, sizeof of / sizeof of[0], "messages sent");
    pawl__my_read(&s->to);
    pawl__my_query(&s->to, "commit");
    pawl__my_read(&s->to);
}

static void settle(session *s, size_t count)
{
    const my_column *c        = s->columns;
    const my_column *rows[]   = {&c[TIMES], &c[TIMES], &c[IDS]};
    const my_column *lines[]  = {&c[IDS], &c[TIMES], &c[DURATIONS]};
    int64_t          duration = pawl__bench_clock() - s->began;
    for (size_t i = 0; i < count; i++)
        my_add_int(&s->columns[DURATIONS], duration);
    pawl__my_send_fence(&s->from, s->now, 0);
    pawl__my_write(&s->from, SETTLE, rows, 3, "rows settled");
    pawl__my_write(&s->from, ATTEMPT, lines, 3, "attempts");
    int64_t    number   = (int64_t)s->from.commits;
    MYSQL_BIND values[] = {my_put_int(&number), my_put_text(s->now, MY_TIME_SIZE)};
    /* A row that was there and is changed counts twice. */
    pawl__my_send(&s->from, RAISE, values, number == 1 ? 1 : 2, "the leader's number");
    pawl__my_read(&s->from);
    pawl__my_query(&s->from, "commit");
    send_read(s);
}

static size_t run_batch(session *s)
{
    size_t count = take_read(s);
    if (count == 0 || s->from.code != PAWL_OK)
        return 0;
    deliver(s);
    s->from.code = s->to.code;
    if (s->from.code == PAWL_OK)
        settle(s, count);
    return count;
}

static pawl_code drain(session *s, pawl_store *store, pawl_store *target, int64_t *microseconds,
                       pawl_error *error)
{
    MYSQL_BIND columns[TEXT_COUNT + 1] = {my_put_int(&s->row.id)};
    for (size_t i = 0; i < TEXT_COUNT; i++)
        columns[i + 1] = my_get_text(s->row.texts[i], LOOP_BODY_SIZE_MAX, &s->row.sizes[i]);
    pawl__my_open(&s->from, store, texts, STATEMENT_COUNT, error);
    pawl__my_open(&s->to, target, &deliver_text, 1, s->from.code == PAWL_OK ? error : NULL);
    pawl__my_bind(&s->from, READ, columns);
    if (s->from.code == PAWL_OK)
        s->from.code = s->to.code;
    int64_t begin = pawl__bench_clock();
    send_read(s);
    while (run_batch(s) > 0 && s->from.code == PAWL_OK)
        s->from.code = pawl__bench_go_on(error);
    *microseconds  = pawl__bench_clock() - begin;
    pawl_code code = s->from.code;
    pawl__my_close(&s->from);
    pawl__my_close(&s->to);
    return code;
}

pawl_code pawl__bench_mysql_outbox_drain(const pawl__bench_job *job, int64_t *microseconds,
                                         pawl_error *error)
{
    static const bool  is_int[COLUMN_COUNT] = {[IDS] = true, [DURATIONS] = true};
    pawl__bench_handle handle = {.store = NULL}, target = {.store = NULL};
    session   s = {.batch = job->batch, .rows = pawl_allocate((size_t)job->batch * sizeof(row))};
    pawl_code code =
        pawl__my_columns_create(s.columns, is_int, COLUMN_COUNT, (size_t)job->batch, error);
    if (code == PAWL_OK && s.rows == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    if (code == PAWL_OK)
        code = pawl__bench_open(job->url, &handle, error);
    if (code == PAWL_OK)
        code = pawl__bench_open(job->target, &target, error);
    if (code == PAWL_OK)
        code = drain(&s, handle.store, target.store, microseconds, error);
    pawl__bench_close(&target);
    pawl__bench_close(&handle);
    pawl__my_columns_destroy(s.columns, COLUMN_COUNT);
    pawl_free(s.rows);
    return code;
}
