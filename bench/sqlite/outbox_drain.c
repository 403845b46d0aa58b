/* outbox_drain.c - the row changes of outbox-drain with no engine.
 *
 *     read a batch of pending rows -> insert each into the other file's queue,
 *     fence, commit there -> settle each, one attempt each, the leader's number,
 *     fence, commit here
 *
 * Two commits, each durable before the next begins: one commit over both files
 * would be faster, and would not survive that one of them is another machine's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "application.h"

#include "limit_sqlite.h"

enum { READ, SETTLE, ATTEMPT, RAISE, STATEMENT_COUNT };

static const char *const texts[STATEMENT_COUNT] = {
    [READ] =
        "select \"Id\", \"Due\", \"MessageId\", \"Type\", \"CorrelationId\", "
        "\"CausationId\", \"Headers\", \"Body\" from " TABLE("outbox") " indexed by " TABLE(
            "outbox_pending") " where \"State\" = 'pending' and \"NextAttempt\" <= ?1 order by \"Id\" limit ?2",
    [SETTLE] = "update " TABLE(
        "outbox") " set \"State\" = 'dispatched', \"Attempts\" = 1, "
                  "\"NextAttempt\" = ?1, \"DispatchedAt\" = ?1 where \"Id\" = ?2 and "
                  "\"State\" = 'pending'",
    [ATTEMPT] = "insert into " TABLE(
        "outbox_attempts") " (\"OutboxId\", \"Attempt\", "
                           "\"Outcome\", \"At\", \"Duration\", \"Error\") values (?1, 1, 'success', ?2, ?3, "
                           "'')",
    /* A runner that another one replaced would find the number raised. */
    [RAISE] = "insert into " TABLE(
        "checkpoints") " (\"Name\", \"Position\", \"At\") values ('outbox/" PAWL__BENCH_QUEUE
                       "', ?1 + 1, ?2) on conflict (\"Name\") do update set "
                       "\"Position\" = excluded.\"Position\", \"At\" = excluded.\"At\" "
                       "where \"Position\" = ?1",
};

static const char *const target_texts[] = {LOOP_SEND(PAWL__BENCH_OUTSIDE)};

/* A row goes straight from the one file's page to the other's: no copy. */
static void deliver(loop *to, sqlite3_stmt *from)
{
    sqlite3_stmt *insert = to->statements[0];
    loop_int(insert, 1, sqlite3_column_int64(from, 1));
    for (int i = 2; i < 8; i++)
        loop_text(insert, i, (const char *)sqlite3_column_text(from, i),
                  (size_t)sqlite3_column_bytes(from, i));
    loop_change(to, insert);
}

static size_t deliver_batch(loop *from, loop *to, const pawl__bench_job *job, pawl_time now,
                            int64_t *ids)
{
    sqlite3_stmt *read  = from->statements[READ];
    size_t        count = 0;
    loop_int(read, 1, now);
    loop_int(read, 2, job->batch);
    while (loop_next(from, read)) {
        if (count == 0)
            pawl__loop_begin(to);
        ids[count++] = sqlite3_column_int64(read, 0);
        deliver(to, read);
    }
    if (count > 0)
        pawl__loop_commit(to, now, 0);
    return count;
}

static void settle_batch(loop *l, const int64_t *ids, size_t count, pawl_time now, int64_t duration)
{
    sqlite3_stmt *settle  = l->statements[SETTLE];
    sqlite3_stmt *attempt = l->statements[ATTEMPT];
    sqlite3_stmt *raise   = l->statements[RAISE];
    pawl__loop_begin(l);
    for (size_t i = 0; i < count; i++) {
        loop_int(settle, 1, now);
        loop_int(settle, 2, ids[i]);
        loop_change(l, settle);
        loop_int(attempt, 1, ids[i]);
        loop_int(attempt, 2, now);
        loop_int(attempt, 3, duration);
        loop_change(l, attempt);
    }
    loop_int(raise, 1, (int64_t)l->commits);
    loop_int(raise, 2, now);
    loop_change(l, raise);
    pawl__loop_commit(l, now, 0);
}

static size_t run_batch(loop *from, loop *to, const pawl__bench_job *job, int64_t *ids)
{
    int64_t   begin = pawl__bench_clock();
    pawl_time now   = pawl_clock_now(NULL);
    size_t    count = deliver_batch(from, to, job, now, ids);
    if (from->code == PAWL_OK)
        from->code = to->code;
    if (from->code == PAWL_OK && count > 0)
        settle_batch(from, ids, count, now, pawl__bench_clock() - begin);
    return count;
}

static pawl_code drain(pawl_store *store, pawl_store *target, const pawl__bench_job *job,
                       int64_t *ids, int64_t *microseconds, pawl_error *error)
{
    loop from, to;
    pawl__loop_open(&from, store, texts, STATEMENT_COUNT, LOOP_FENCE(TABLE("workers")), error);
    pawl__loop_open(&to, target, target_texts, 1, LOOP_FENCE(TABLE("workers")), error);
    int64_t begin = pawl__bench_clock();
    while (run_batch(&from, &to, job, ids) > 0 && from.code == PAWL_OK)
        from.code = pawl__bench_go_on(error);
    *microseconds = pawl__bench_clock() - begin;
    pawl__loop_close(&from);
    pawl__loop_close(&to);
    return from.code;
}

pawl_code pawl__bench_sqlite_outbox_drain(const pawl__bench_job *job, int64_t *microseconds,
                                          pawl_error *error)
{
    pawl__bench_handle handle;
    pawl__bench_handle target;
    int64_t           *ids  = pawl_allocate((size_t)job->batch * sizeof *ids);
    pawl_code          code = pawl__bench_open(job->url, &handle, error);
    pawl_code other = pawl__bench_open(job->target, &target, code == PAWL_OK ? error : NULL);
    code            = code == PAWL_OK ? other : code;
    if (code == PAWL_OK && ids == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a batch");
    if (code == PAWL_OK)
        code = drain(handle.store, target.store, job, ids, microseconds, error);
    pawl__bench_close(&handle);
    pawl__bench_close(&target);
    pawl_free(ids);
    return code;
}
