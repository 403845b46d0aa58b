/* mysql.h - the handle of the driver for MySQL and MariaDB, and the functions that its files
 * share. The scheme of the URL says which of the two dialects it speaks.
 *
 *     mysql.c        the tables of operations
 *     wire.c         calls with deadlines and interrupts, texts
 *     request.c      prepared statements and their parameters
 *     row.c          requests of the generic store, and their rows
 *     set.c          a set of them in one statement
 *     open.c         URL, hosts, connecting
 *
 * The rest is the generic store's (store/sql/session.h), and what both libraries say to such a server
 * (store/sql/dialects/families.h).
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

#define PAWL__MYSQL_CHARSET "utf8mb4" /* of each session of pawl's */

/* mysql.c */
extern const pawl__sql_ops pawl__mysql_ops;

/* open.c */
pawl_code pawl__mysql_open(pawl_store *base, const char *url, const pawl_store_options *options,
                           pawl_error *error);
void      pawl__mysql_close(pawl_store *base);
/* Of pawl__sql_ops: with found rows and utf8mb4. */
pawl_code pawl__mysql_connect(pawl__sql_session *session, pawl_error *error);
/* Begins every operation: makes a lost connection anew, and forgets interrupts that came before. */
pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error);
/* PAWL_ELOST, too, where the URL has other hosts and this one can only be read by now. */
pawl_code pawl__mysql_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error);
/* Asks the server, over a connection of its own, to end the statement that runs on this one ("query"), or
 * the session with all that it was sent ("connection"). False: it could not be asked. */
bool pawl__mysql_kill(pawl__mysql_connection *connection, const char *what);

/* enlist.c */
pawl_code pawl__mysql_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                             pawl_error *error);

#endif
