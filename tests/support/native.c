/* native.c - access to a store's database without pawl.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/native.h"

#ifdef PAWL_HAVE_SQLITE
#include <sqlite3.h>
#endif

/* ---- SQLite ----------------------------------------------------------------- */

#ifdef PAWL_HAVE_SQLITE

static void *open_file(const char *url)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(strchr(url, ':') + 1, &db) != SQLITE_OK)
        fail_msg("%s: %s", url, sqlite3_errmsg(db));
    return db;
}

static void close_file(void *native)
{
    sqlite3_close(native);
}

static bool try_file(void *native, const char *sql, char *text, size_t size)
{
    sqlite3_stmt *statement = NULL;
    size_t        used      = 0;
    int           result    = sqlite3_prepare_v2(native, sql, -1, &statement, NULL);
    text[0]                 = '\0';
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        result = sqlite3_step(statement);
        if (result == SQLITE_ROW && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "",
                                     (const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    if (result != SQLITE_DONE)
        snprintf(text, size, "%s", sqlite3_errmsg(native));
    return result == SQLITE_DONE;
}

/* Also keeps the connection, until the next one is left. */
static bool leave_file(void *native, const char *sql)
{
    static sqlite3_stmt *statement;
    (void)sqlite3_finalize(statement);
    return sqlite3_prepare_v2(native, sql, -1, &statement, NULL) == SQLITE_OK &&
           sqlite3_step(statement) == SQLITE_ROW;
}

#else

static void *open_file(const char *url)
{
    fail_msg("%s: built without SQLite", url);
    return NULL;
}

static void close_file(void *native)
{
}

static bool try_file(void *native, const char *sql, char *text, size_t size)
{
    snprintf(text, size, "%s: built without SQLite", sql);
    return false;
}

static bool leave_file(void *native, const char *sql)
{
    return false;
}

#endif

/* ---- Any -------------------------------------------------------------------- */

void *native_open(const char *url)
{
    return server_is(url) ? server_connect(url) : open_file(url);
}

void native_close(const char *url, void *native)
{
    if (server_is(url))
        server_disconnect(url, native);
    else
        close_file(native);
}

/* "{rows}" becomes "fixture.rows" on a server, and "rows" in a file. */
static void expand(const char *url, const char *sql, char *text, size_t size)
{
    const char *fixture = server_is(url) ? server_fixture(url) : "";
    size_t      used    = 0;
    for (; *sql != '\0'; sql++) {
        if (*sql == '{')
            used += (size_t)snprintf(text + used, size - used, "%s", fixture);
        else if (*sql != '}')
            text[used++] = *sql;
        assert_true(used < size);
    }
    text[used] = '\0';
}

bool native_try(const char *url, void *native, const char *sql, char *text, size_t size)
{
    char whole[1000];
    expand(url, sql, whole, sizeof whole);
    return server_is(url) ? server_try(url, native, whole, text, size)
                          : try_file(native, whole, text, size);
}

void native_run(const char *url, void *native, const char *sql)
{
    char text[1000];
    if (!native_try(url, native, sql, text, sizeof text))
        fail_msg("%s: %s", sql, text);
}

void *native_of(pawl_context *ctx)
{
    void *file = pawl_sqlite(ctx);
    void *pg   = pawl_postgres(ctx);
    return file != NULL ? file : pg != NULL ? pg : (void *)pawl_mysql(ctx);
}

pawl_code native_in(pawl_context *ctx, const char *url, const char *sql)
{
    char  text[1000];
    void *native = native_of(ctx);
    assert_non_null(native);
    if (native_try(url, native, sql, text, sizeof text))
        return PAWL_OK;
    return pawl_fail(ctx, PAWL_REJECT, "%s", text);
}

void native_leave_in(pawl_context *ctx, const char *url, const char *sql)
{
    char whole[1000];
    expand(url, sql, whole, sizeof whole);
    assert_true(server_is(url) ? server_leave(url, native_of(ctx), whole)
                               : leave_file(native_of(ctx), whole));
}

static void ask(const char *url, const char *sql, char *text, size_t size)
{
    void *native = native_open(url);
    bool  is_ok  = native_try(url, native, sql, text, size);
    native_close(url, native);
    if (!is_ok)
        fail_msg("%s: %s", sql, text);
}

void native_exec(const char *url, const char *sql)
{
    char text[1000];
    ask(url, sql, text, sizeof text);
}

int64_t native_number(const char *url, const char *sql)
{
    char  text[1000];
    char *end;
    ask(url, sql, text, sizeof text);
    int64_t number = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        fail_msg("%s: '%s' is no number", sql, text);
    return number;
}

void native_expect(const char *url, const char *sql, const char *values)
{
    char text[4000];
    ask(url, sql, text, sizeof text);
    assert_string_equal(text, values);
}
