/* native.h - access to a store's database without pawl. In SQL stores tests create their own tables beside pawl's, and
 * write to them in handlers (.own_sql).
 *
 * URLs are those of scenario_url. Table names in SQL are in braces, "select number from {own_rows}", since servers need
 * the schema. Failures fail the test, except in native_try and native_in.
 *
 * Threads: as the database's own library says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_NATIVE_H
#define PAWL_TESTS_NATIVE_H

#include "support/world.h"

#ifdef PAWL_HAVE_SQLITE
#define SQL_STORES_ROWS(function) STORE_ROW(function, "sqlite") SQL_SERVERS(SERVER_ROW, function)
#else
#define SQL_STORES_ROWS(function) STORE_ROW(function, "sqlite")
#endif
#define ON_SQL_STORES(function, parameter) TESTS(function, parameter, SQL_STORES_ROWS(function))

/* Opens a separate connection: sqlite3 *, PGconn * ... */
void *native_open(const char *url);
void  native_close(const char *url, void *native);
/* Returns the first value of each row in `text`, separated by blanks; false: `text` is the reason. */
bool native_try(const char *url, void *native, const char *sql, char *text, size_t size);
void native_run(const char *url, void *native, const char *sql);

/* The connection that the handler is given, of any kind; or NULL. */
void *native_of(pawl_context *ctx);
/* In a handler, in its transaction: PAWL_OK, or PAWL_REJECT with the reason. */
pawl_code native_in(pawl_context *ctx, const char *url, const char *sql);
/* In a handler: begins a statement with rows, but leaves them unread. */
void native_leave_in(pawl_context *ctx, const char *url, const char *sql);

/* Opens a connection for the statement. */
void    native_exec(const char *url, const char *sql);
int64_t native_number(const char *url, const char *sql);
void    native_expect(const char *url, const char *sql, const char *values);

#endif
