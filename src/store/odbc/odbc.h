/* odbc.h - the handle of the driver for servers behind an ODBC driver, and the functions that its
 * files share. It speaks MySQL's and MariaDB's dialects, whose statements and numbers it has in common with
 * store/mysql (store/sql/dialects/mysql_statements.h, mysql_error.h).
 *
 *     odbc.c         the table of operations
 *     url.c          connection strings
 *     driver.c       drivers by name
 *     watch.c        deadlines and interrupts of calls that block
 *     call.c         calls, failures, texts
 *     request.c      prepared statements and their parameters
 *     row.c          requests of the generic store, and their rows
 *     transaction.c  begin, commit, the second connection; writes
 *     open.c         connecting, settings
 *
 * Claims are row locks, as in store/mysql.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ODBC_ODBC_H
#define PAWL_STORE_ODBC_ODBC_H

#include "store/odbc/request.h"
#include "store/odbc/url.h"
#include "store/sql/dialects.h"
#include "store/sql/queue_lock.h"
#include "store/sql/schema.h"

#include <pthread.h>

#define PAWL__ODBC_DATABASE_ID_SIZE 33
#define PAWL__ODBC_DATABASE_SIZE 260 /* of a database's name: 64 characters */

/* The call that is under way, and the thread that watches it. */
typedef struct pawl__odbc_watch {
    pthread_mutex_t        mutex;
    pthread_t              thread;
    bool                   is_started;
    bool                   is_ending;
    int                    wake_fd;    /* an eventfd; -1: none */
    int64_t                wakes_ms;   /* monotonic: the thread looks then by itself */
    pawl__odbc_connection *connection; /* whose call it is; NULL: none is under way */
    int64_t                until_ms;   /* monotonic: its deadline */
    int64_t                ended_ms;   /* monotonic: of the last call */
    bool                   is_broken;  /* the server was asked to end it */
} pawl__odbc_watch;

typedef struct pawl__odbc {
    pawl__sql_store          sql; /* first; its connection is the one in use: main, or side */
    pawl__odbc_connection    main;
    pawl__odbc_connection    side; /* made when it is needed first */
    const pawl__sql_dialect *dialect;
    pawl__odbc_url           url;
    pawl__odbc_watch         watch;
    pawl__sql_server         server;
    pawl__sql_claims         claims;
    int64_t                  lock_number; /* of the worker's session lock; 0: it has none */
    char                     database[PAWL__ODBC_DATABASE_SIZE];
    char                     database_id[PAWL__ODBC_DATABASE_ID_SIZE];
} pawl__odbc;

static inline pawl__odbc *pawl__odbc_of(pawl_store *store)
{
    return (pawl__odbc *)store;
}

/* watch.c */
pawl_code pawl__odbc_watch_start(pawl__odbc *store, pawl_error *error);
void      pawl__odbc_watch_stop(pawl__odbc *store);
void      pawl__odbc_interrupt(pawl_store *base);

/* open.c */
extern const pawl__sql_ops pawl__odbc_ops;
pawl_code pawl__odbc_open(pawl_store *base, const char *url, const pawl_store_options *options,
                          pawl_error *error);
void      pawl__odbc_close(pawl_store *base);
/* Makes connection->dbc, with the settings of the session that pawl needs. */
pawl_code pawl__odbc_connect(pawl__odbc *store, pawl__odbc_connection *connection,
                             pawl_error *error);
/* Closes it, with its statements; harmless on one that is closed. */
void pawl__odbc_disconnect(pawl__odbc_connection *connection);
/* Begins every operation: makes a lost connection anew, forgets interrupts that came before. */
pawl_code pawl__odbc_ready(pawl_store *base, pawl_error *error);
/* Over a connection of its own. Any thread. False: the server could not be asked. */
bool      pawl__odbc_kill_query(const pawl__odbc *store, int64_t session);
pawl_code pawl__odbc_database_id(pawl__odbc_connection *connection,
                                 char database_id[PAWL__ODBC_DATABASE_ID_SIZE], pawl_error *error);

/* schema.c */
pawl_code pawl__odbc_schema_check(pawl__odbc *store, const pawl_store_options *options,
                                  pawl_error *error);
pawl_code pawl__odbc_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                            pawl_line_fn *line, void *context, pawl_error *error);

/* worker.c */
pawl_code pawl__odbc_worker_lock(pawl__odbc_connection *connection, pawl_error *error);
pawl_code pawl__odbc_own_lock(pawl_store *base, int64_t *number, pawl_error *error);
void      pawl__odbc_own_unlock(pawl_store *base);
pawl_code pawl__odbc_who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                               pawl_error *error);

/* enlist.c */
pawl_code pawl__odbc_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                            pawl_error *error);

/* transaction.c */
pawl_code pawl__odbc_begin(pawl_store *base, pawl_error *error);
pawl_code pawl__odbc_commit(pawl_store *base, bool *is_unknown, pawl_error *error);
/* Afterwards no transaction is open, whatever happened. */
void      pawl__odbc_rollback(pawl__odbc_connection *connection);
pawl_code pawl__odbc_is_open(pawl_store *base, bool *is_open, pawl_error *error);
extern const pawl__sql_lock_ops pawl__odbc_lock_ops;
pawl_code pawl__odbc_write(pawl__odbc_connection *connection, const pawl__sql_write *write,
                           const void *const *items, size_t count, pawl__sql_fate *fates,
                           size_t *failed, pawl_error *error);
pawl_code pawl__odbc_hold_back(pawl__odbc_connection         *connection,
                               const pawl_outbox_hold *const *holds, size_t count,
                               pawl_error *error);

#endif
