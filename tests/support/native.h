/* native.h - a store's own database, without pawl: where there is SQL, tests put tables
 * of their own beside pawl's and write to them in handlers (.own_sql).
 *
 * A URL is that of a store made by scenario_url. In SQL the name of a table stands in braces,
 * "select number from {own_rows}": servers want to know where it is. A failure fails the test, but
 * for native_try and native_in.
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

/* A connection of the test's own: sqlite3 *, PGconn * ... */
void *native_open(const char *url);
void  native_close(const char *url, void *native);
/* The first values of all rows, with a blank between, in `text`; false: the reason is. */
bool native_try(const char *url, void *native, const char *sql, char *text, size_t size);
void native_run(const char *url, void *native, const char *sql);

/* The connection that a handler is given, of whatever kind; NULL when it is given none. */
void *native_of(pawl_context *ctx);
/* In a handler, within the transaction of its commit: PAWL_OK, or PAWL_REJECT with the reason. */
pawl_code native_in(pawl_context *ctx, const char *url, const char *sql);
/* In a handler: begins a statement with rows, and leaves them unread. */
void native_leave_in(pawl_context *ctx, const char *url, const char *sql);

/* On a connection that is opened for it. */
void    native_exec(const char *url, const char *sql);
int64_t native_number(const char *url, const char *sql);
void    native_expect(const char *url, const char *sql, const char *values);

#endif
