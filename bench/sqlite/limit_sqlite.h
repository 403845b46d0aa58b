/* limit_sqlite.h - the hand-written loops on SQLite: the connection, prepared statements, the
 * worker's fence.
 *
 * A loop runs on the connection that the driver opened, so that no setting of
 * the two sides can differ. The first failure is kept in `code`, and nothing is
 * done after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LIMIT_SQLITE_H
#define PAWL_BENCH_LIMIT_SQLITE_H

#include "limit.h"

#include <sqlite3.h>
#include <string.h>

#define LOOP_STATEMENTS_MAX 12

/* The shared tables, and the saga's. */
#define TABLE(name) "\"" PAWL__BENCH_PREFIX name "\""
#define SAGA_TABLE "\"" PAWL__BENCH_SAGA_PREFIX PAWL__BENCH_SAGA "\""

typedef struct loop {
    pawl_store   *store;
    sqlite3      *db; /* borrowed from the store */
    sqlite3_stmt *statements[LOOP_STATEMENTS_MAX];
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *fence;
    char          worker[PAWL_UUID_TEXT_SIZE + 1];
    uint64_t      commits;
    pawl_code     code;
    pawl_error   *error;
} loop;

/* Takes the store over. `prefix` is that of the fence's table. */
void pawl__loop_open(loop *l, pawl_store *store, const char *const *texts, size_t count,
                     const char *fence, pawl_error *error);
void pawl__loop_close(loop *l);
void pawl__loop_failed(loop *l);

/* A commit, the fence included, as each commit of pawl has one. */
void pawl__loop_begin(loop *l);
void pawl__loop_commit(loop *l, pawl_time now, int64_t messages);

#define LOOP_FENCE(table)                                       \
    "update " table " set \"LastCommit\" = ?1, \"Seen\" = ?2, " \
    "\"Messages\" = \"Messages\" + ?3 where \"Id\" = ?4 and \"Epoch\" = ?5"

/* Parameters: due, message id, type, correlation id, causation id, headers, body. */
#define LOOP_SEND(queue)                                                                                      \
    "insert into " TABLE(                                                                                     \
        "queue") " (\"Queue\", \"Due\", \"Placed\", \"Attempts\", \"Deaths\", "                               \
                 "\"WaitingSince\", \"Error\", \"MessageId\", \"Type\", \"CorrelationId\", \"CausationId\", " \
                 "\"Headers\", \"Body\") values ('" queue                                                     \
                 "', ?1, ?1, 0, 0, 0, '', ?2, ?3, ?4, ?5, ?6, ?7) "                                           \
                 "on conflict (\"Queue\", \"MessageId\") do nothing"

/* No JSON is parsed: a value stands right behind the text `key`. */
int64_t pawl__loop_number(loop *l, const char *json, size_t size, const char *key);
/* Copies `copy_size` bytes, without a NUL. */
void pawl__loop_take(loop *l, const char *json, size_t size, const char *key, char *copy,
                     size_t copy_size);

static inline void loop_text(sqlite3_stmt *statement, int column, const char *text, size_t size)
{
    (void)sqlite3_bind_text(statement, column, text, (int)size, SQLITE_STATIC);
}

static inline void loop_int(sqlite3_stmt *statement, int column, int64_t value)
{
    (void)sqlite3_bind_int64(statement, column, value);
}

/* True when there is a row. */
static inline bool loop_next(loop *l, sqlite3_stmt *statement)
{
    int result = l->code == PAWL_OK ? sqlite3_step(statement) : SQLITE_DONE;
    if (result == SQLITE_ROW)
        return true;
    (void)sqlite3_reset(statement);
    if (result != SQLITE_DONE)
        pawl__loop_failed(l);
    return false;
}

/* A statement that changes one row, and has to. */
static inline void loop_change(loop *l, sqlite3_stmt *statement)
{
    (void)loop_next(l, statement);
    if (l->code == PAWL_OK && sqlite3_changes64(l->db) != 1)
        l->code = pawl_error_set(l->error, PAWL_EBUG, "the loop changed %lld rows, should be 1: %s",
                                 (long long)sqlite3_changes64(l->db), sqlite3_sql(statement));
}

/* The loops: one file each. */
pawl__bench_timed_fn pawl__bench_sqlite_append;
pawl__bench_timed_fn pawl__bench_sqlite_latency;
pawl__bench_timed_fn pawl__bench_sqlite_saga_step;
pawl__bench_timed_fn pawl__bench_sqlite_outbox_drain;
pawl__bench_timed_fn pawl__bench_sqlite_timeouts;

#endif
