/* mysql.h - the handle of the driver for MySQL and MariaDB, and the functions that its files share. The server decides
 * which of the two dialects is used.
 *
 *     mysql.c        the tables of operations
 *     wire.c         calls with deadlines and interrupts, texts
 *     request.c      prepared statements and their parameters
 *     row.c          rows of requests
 *     set.c          several items in one statement
 *     open.c         URL, hosts, connecting
 *     enlist.c       the application's own connection
 *
 * The rest is generic (store/sql/session.h); the SQL texts, which the ODBC driver also uses, are in
 * store/sql/dialects/families.h.
 *
 * Decisions: docs/decisions/mysql.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_MYSQL_H
#define PAWL_STORE_MYSQL_MYSQL_H

#include "store/mysql/request.h"
#include "store/mysql/url.h"

typedef struct pawl__mysql {
    pawl__sql_remote       remote; /* first */
    pawl__mysql_connection main;
    pawl__mysql_connection side;
    pawl__mysql_url        url;
} pawl__mysql;

static inline pawl__mysql *pawl__mysql_of(pawl_store *store)
{
    return (pawl__mysql *)store;
}
static inline pawl__mysql *pawl__mysql_store_of(const pawl__mysql_connection *connection)
{
    return (pawl__mysql *)connection->session.store;
}

#define PAWL__MYSQL_CHARSET "utf8mb4" /* of pawl's sessions */

/* mysql.c */
extern const pawl__sql_ops pawl__mysql_ops;

/* open.c */
pawl_code pawl__mysql_open(pawl_store *base, const char *url, const pawl_store_options *options,
                           pawl_error *error);
void      pawl__mysql_close(pawl_store *base);
/* pawl__sql_ops.connect: counts the rows that a statement finds, not those that it changes; character set utf8mb4. */
pawl_code pawl__mysql_connect(pawl__sql_session *session, pawl_error *error);
/* Called before each operation: reconnects a lost session, and drops earlier interrupts. */
pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error);
/* Also PAWL_ELOST, if the server has become read-only and the URL has other hosts. */
pawl_code pawl__mysql_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
/* Asks the server, over a new connection, to end the statement that runs on this one ("query"), or the session with
 * all statements sent to it ("connection"). False: that failed. */
bool pawl__mysql_kill(pawl__mysql_connection *connection, const char *what);

/* enlist.c */
pawl_code pawl__mysql_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                             pawl_error *error);

#endif
