/* server.h - empty stores on the servers that the environment names.
 *
 *     server_url -> scenario -> server_forget
 *
 * To make a store there costs half a second (a schema of PostgreSQL), so a program makes one, or as
 * many as a scenario holds at once, and a forgotten store is emptied and handed out again. A store
 * is not handed out again when its shared tables are not what they were, or when the test failed
 * that had it. At its end the program drops them all.
 *
 * A failure fails the test. Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SERVER_H
#define PAWL_TESTS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* The servers whose stores the scenarios run on. A row: the scheme, which is also the driver's
 * name; the variable of the environment that holds the server's URL. A server's own ways are in its
 * server_ops, server_X_ops, in server_X.c. */
#define SQL_SERVERS(X, argument)                \
    X(argument, postgres, "PAWL_TEST_POSTGRES") \
    X(argument, mariadb, "PAWL_TEST_MARIADB")   \
    X(argument, mysql, "PAWL_TEST_MYSQL")
#define SERVERS(X, argument) SQL_SERVERS(X, argument) X(argument, mongodb, "PAWL_TEST_MONGODB")

/* Of the store `name` on the server behind a URL; it has pawl's tables. */
typedef struct server_ops {
    /* The store's URL. */
    void (*url)(const char *server, const char *name, char *url, size_t size);
    /* Tables, columns and indexes whose names begin with "pawl_", in a form to compare. */
    void (*describe)(const char *server, const char *name, char *text, size_t size);
    /* Removes all other tables and every row but those that say the schema's version, and
     * numbers begin with 1 again. */
    void (*empty)(const char *server, const char *name);
    /* False after a reason on standard error. Transactions that a failed test left open are
     * ended when they are in the way. */
    bool (*drop)(const char *server, const char *name);
    /* native.h: a connection to the store, and SQL on one, also on a handler's. Names are quoted by
     * "..." in SQL. */
    void *(*connect)(const char *server, const char *name);
    void (*disconnect)(void *native);
    bool (*try)(void *native, const char *sql, char *text, size_t size);
    bool (*leave)(void *native, const char *sql); /* native_leave_in */
} server_ops;

/* The scheme, or a URL of it, is of a server. */
bool server_is(const char *url);
/* False when the environment names no server of the scheme. */
bool server_is_there(const char *scheme);
/* The URL of a store that has pawl's shared tables, and nothing in them. */
void server_url(const char *scheme, char *url, size_t size);
void server_forget(const char *url);

/* Before the name of a table in SQL, to say that it is in the store: "ground.". */
const char *server_ground(const char *url);
/* As native_open, native_close and native_try. */
void *server_connect(const char *url);
void  server_disconnect(const char *url, void *native);
bool  server_try(const char *url, void *native, const char *sql, char *text, size_t size);
bool  server_leave(const char *url, void *native, const char *sql);

#endif
