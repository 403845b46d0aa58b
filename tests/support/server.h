/* server.h - empty stores on the servers that the environment names.
 *
 *     server_url -> scenario -> server_forget
 *
 * Creating a store takes half a second (a schema of PostgreSQL), so a program creates as many as a scenario needs at
 * once, and empties and reuses released ones. A store is not reused if its shared tables have changed or its test
 * failed. At its end the program drops all.
 *
 * A failure fails the test. Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SERVER_H
#define PAWL_TESTS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Servers on which scenarios run: the scheme, which is also the driver's name, and the environment variable with the
 * server's URL. Differences are in server_ops: server_X_ops in server_X.c. */
#define SQL_SERVERS(X, argument)                \
    X(argument, postgres, "PAWL_TEST_POSTGRES") \
    X(argument, mariadb, "PAWL_TEST_MARIADB")   \
    X(argument, mysql, "PAWL_TEST_MYSQL")
#define SERVERS(X, argument) SQL_SERVERS(X, argument) X(argument, mongodb, "PAWL_TEST_MONGODB")

/* Operations on the store `name` of a server; it has pawl's tables. */
typedef struct server_ops {
    /* Returns the store's URL. */
    void (*url)(const char *server, const char *name, char *url, size_t size);
    /* Describes tables, columns and indexes whose names begin with "pawl_", for a comparison. */
    void (*describe)(const char *server, const char *name, char *text, size_t size);
    /* Removes all other tables, and all rows but those of the schema's version; numbers begin with 1 again. */
    void (*empty)(const char *server, const char *name);
    /* False: the reason is on standard error. Ends transactions that a failed test left open, if they block it. */
    bool (*drop)(const char *server, const char *name);
    /* For native.h: a connection to the store, and SQL on it or on a handler's. Names in SQL are quoted by "...". */
    void *(*connect)(const char *server, const char *name);
    void (*disconnect)(void *native);
    bool (*try)(void *native, const char *sql, char *text, size_t size);
    bool (*leave)(void *native, const char *sql); /* native_leave_in */
} server_ops;

/* Is the scheme, or a URL of it, that of a server? */
bool server_is(const char *url);
/* False: the environment names no server of the scheme. */
bool server_is_there(const char *scheme);
/* Returns the URL of a store with pawl's shared tables, all empty. */
void server_url(const char *scheme, char *url, size_t size);
void server_forget(const char *url);

/* The prefix of table names in SQL that selects the store: "fixture.". */
const char *server_fixture(const char *url);
/* As native_open, native_close and native_try. */
void *server_connect(const char *url);
void  server_disconnect(const char *url, void *native);
bool  server_try(const char *url, void *native, const char *sql, char *text, size_t size);
bool  server_leave(const char *url, void *native, const char *sql);

#endif
