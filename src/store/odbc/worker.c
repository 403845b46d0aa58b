/* worker.c - a living worker has a lock by GET_LOCK, which its session alone keeps.
 *
 * The names of the locks are those of store/mysql, so that workers of both drivers on one database know of
 * one another. A lock is gone with its session; a worker that connects again takes it again, and ends an
 * older session of its own that the server still takes for alive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"
#include "store/sql/operations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVES_AT_ONCE 100 /* in one statement */
#define DEAD_SECONDS "15"

/* ---- Names --------------------------------------------------------------- */

typedef struct lock_name {
    char text[64];
} lock_name;

static lock_name name_of(const pawl__odbc *store, int64_t number)
{
    const char *const parts[] = {store->database, "/", store->sql.base.system_prefix};
    uint64_t          hash    = UINT64_C(14695981039346656037); /* FNV-1a */
    lock_name         name;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *at = parts[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    (void)snprintf(name.text, sizeof name.text, "pawl_%016" PRIx64 "_%016" PRIx64, hash,
                   (uint64_t)number);
    return name;
}

/* Made from the worker's id, so that no other worker has it; odd: the second connection's lock is
 * the one below. */
static int64_t number_of(pawl_uuid worker)
{
    uint64_t parts[2];
    memcpy(parts, worker.bytes, sizeof parts);
    return (int64_t)((parts[0] * UINT64_C(0x9E3779B97F4A7C15) ^ parts[1]) >> 1 | 1);
}

/* ---- The lock ------------------------------------------------------------ */

/* The lock is had by a session of this worker, whose answer nobody needs any longer. */
static pawl_code end_holder(pawl__odbc_connection *connection, const lock_name *name,
                            pawl_error *error)
{
    char    text[100];
    int64_t session = 0;
    (void)snprintf(text, sizeof text, "select is_used_lock('%s')", name->text);
    pawl_code code = pawl__odbc_ask_number(connection, text, &session, error);
    if (code != PAWL_OK || session == 0)
        return code;
    (void)snprintf(text, sizeof text, "kill %" PRId64, session);
    code = pawl__odbc_query(connection, text, error);
    return code == PAWL_EPERSIST ? PAWL_OK : code; /* 1094: gone meanwhile */
}

pawl_code pawl__odbc_worker_lock(pawl__odbc_connection *connection, pawl_error *error)
{
    pawl__odbc *store  = connection->store;
    bool        is_own = connection == &store->main;
    lock_name   name   = name_of(store, is_own ? store->lock_number : store->lock_number - 1);
    int64_t     is_had = 0;
    char        text[100];
    (void)snprintf(text, sizeof text, "select get_lock('%s', 0)", name.text);
    pawl_code code = pawl__odbc_ask_number(connection, text, &is_had, error);
    if (code != PAWL_OK || is_had == 1)
        return code;
    code = end_holder(connection, &name, error);
    (void)snprintf(text, sizeof text, "select get_lock('%s', %.1f)", name.text,
                   (double)store->sql.base.deadline_ms / 1000.0 * 0.9);
    if (code == PAWL_OK)
        code = pawl__odbc_ask_number(connection, text, &is_had, error);
    if (code == PAWL_OK && is_had != 1)
        code = pawl_error_set(error, PAWL_EBUSY,
                              "%s: another session of this worker keeps its lock %s: it is in a "
                              "statement that does not end",
                              store->sql.base.scheme, name.text);
    return code;
}

pawl_code pawl__odbc_own_lock(pawl_store *base, int64_t *number, pawl_error *error)
{
    pawl__odbc *store = pawl__odbc_of(base);
    pawl_code   code  = PAWL_OK;
    if (store->lock_number == 0 && !store->server.beats) {
        store->lock_number = number_of(base->worker.uuid);
        code               = pawl__odbc_worker_lock(&store->main, error);
        if (code != PAWL_OK)
            store->lock_number = 0;
    }
    *number = store->lock_number;
    return code;
}

void pawl__odbc_own_unlock(pawl_store *base)
{
    pawl__odbc *store = pawl__odbc_of(base);
    char        text[100];
    if (store->lock_number == 0)
        return;
    (void)snprintf(text, sizeof text, "do release_lock('%s')",
                   name_of(store, store->lock_number).text);
    (void)pawl__odbc_query(&store->main, text, NULL);
    store->lock_number = 0;
}

/* ---- Who lives ----------------------------------------------------------- */

/* GET_LOCK of a worker, or its heartbeat: the lock is used, the heartbeat young. */
static void append_life(const pawl__odbc *store, pawl__sql_text *text, const pawl__sql_life *life)
{
    if (life->process != 0)
        pawl__sql_appendf(text, "is_used_lock('%s') is not null",
                          name_of(store, life->process).text);
    else
        pawl__sql_appendf(text,
                          "utc_timestamp(6) < timestampadd(microsecond, %" PRId64
                          ", '1970-01-01 00:00:" DEAD_SECONDS "')",
                          life->seen);
}

/* The answers are the digits of one text. */
static pawl_code ask_lives(pawl__odbc *store, pawl__sql_life *const *lives, size_t count,
                           pawl_error *error)
{
    char           digits[LIVES_AT_ONCE + 1] = "";
    SQLHSTMT       rows                      = NULL;
    pawl__sql_text text                      = {0};
    pawl__sql_append(&text, "select concat(");
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(&text, i > 0 ? ", " : "");
        append_life(store, &text, lives[i]);
    }
    pawl__sql_append(&text, ")");
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory")
                                    : pawl__odbc_ask(&store->main, text.data, &rows, error);
    if (pawl__odbc_row(rows))
        (void)pawl__odbc_column(rows, 1, digits, sizeof digits);
    for (size_t i = 0; i < count; i++)
        lives[i]->is_alive = digits[0] != '\0' && digits[i] == '1';
    pawl__odbc_free(rows);
    pawl__sql_text_free(&text);
    return code;
}

pawl_code pawl__odbc_who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                               pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t at = 0; code == PAWL_OK && at < count; at += LIVES_AT_ONCE)
        code = ask_lives(pawl__odbc_of(base), lives + at,
                         count - at < LIVES_AT_ONCE ? count - at : LIVES_AT_ONCE, error);
    return code;
}
