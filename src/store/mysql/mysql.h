/* mysql.h - the handle of the driver for MySQL and MariaDB, and the functions that its files
 * share. The scheme of the URL says which of the two dialects it speaks.
 *
 *     mysql.c        the table of operations
 *     wire.c         calls with deadlines and interrupts, texts
 *     request.c      prepared statements and their parameters
 *     row.c          requests of the generic store, and their rows
 *     connection.c   the generic store's connection (store/sql/connection.h)
 *     transaction.c  begin, commit, the second connection
 *     write.c        the writes of a commit
 *     look.c         versions of sagas, looked at before they are written
 *     set.c          a set of them in one statement
 *     open.c         URL, hosts, connecting, settings
 *
 * A claim is a row lock that a transaction of `main` has from queue_claim to the commit that
 * settles it. While that transaction is open, stamps, and commits that settle no claim, go over `side`.
 *
 * Decisions: docs/decisions/mysql.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_MYSQL_MYSQL_H
#define PAWL_STORE_MYSQL_MYSQL_H

#include "store/mysql/request.h"
#include "store/mysql/url.h"
#include "store/sql/dialects.h"
#include "store/sql/queue_lock.h"
#include "store/sql/schema.h"

#define PAWL__MYSQL_DATABASE_ID_SIZE 33

typedef struct pawl__mysql {
    pawl__sql_store          sql; /* first; its connection is the one in use: main, or side */
    pawl__mysql_connection   main;
    pawl__mysql_connection   side; /* made when it is needed first */
    const pawl__sql_dialect *dialect;
    pawl__mysql_url          url;
    bool             is_cluster; /* Galera: a row lock is one node's, so claims are stamps */
    pawl__sql_server server;
    pawl__sql_claims claims;
    int64_t          lock_number; /* of the worker's session lock; 0: it has none */
    char             database_id[PAWL__MYSQL_DATABASE_ID_SIZE];
} pawl__mysql;

static inline pawl__mysql *pawl__mysql_of(pawl_store *store)
{
    return (pawl__mysql *)store;
}
static inline bool pawl__mysql_is_mariadb(const pawl__mysql *store)
{
    return store->dialect == &pawl__mariadb_dialect;
}

/* connection.c */
extern const pawl__sql_ops pawl__mysql_ops;

/* open.c */
pawl_code pawl__mysql_open(pawl_store *base, const char *url, const pawl_store_options *options,
                           pawl_error *error);
void      pawl__mysql_close(pawl_store *base);
/* Makes connection->mysql, with the settings of the session that pawl needs: found rows, utf8mb4,
 * a strict mode, UTC, read committed, autocommit on; packet_max and id are set. */
pawl_code pawl__mysql_connect(pawl__mysql *store, pawl__mysql_connection *connection,
                              pawl_error *error);
/* Begins every operation: refuses a handle of a parent process, makes a lost connection anew, and
 * forgets interrupts that came before. */
pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error);
/* Asks the server, over a connection of its own, to end the statement that runs on this one ("query"), or
 * the session with all that it was sent ("connection"). False: it could not be asked. */
bool pawl__mysql_kill(pawl__mysql_connection *connection, const char *what);
/* The server and its database as a text that is the same by whatever way they were reached. */
pawl_code pawl__mysql_database_id(pawl__mysql_connection *connection,
                                  char                    database_id[PAWL__MYSQL_DATABASE_ID_SIZE],
                                  pawl_error             *error);

/* schema.c */
pawl_code pawl__mysql_schema_check(pawl__mysql *store, const pawl_store_options *options,
                                   pawl_error *error);
pawl_code pawl__mysql_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error);

/* worker.c */
/* The one number that a text asks for; 0: null. */
pawl_code pawl__mysql_ask_number(pawl__mysql_connection *connection, const char *text,
                                 int64_t *number, pawl_error *error);
/* Takes the worker's lock for the session of `main`, one beside it for that of `side`. An older session
 * that has it, perhaps inside a commit, is ended. */
pawl_code pawl__mysql_worker_lock(pawl__mysql_connection *connection, pawl_error *error);
pawl_code pawl__mysql_worker_died(pawl_store *base, pawl_arena *arena, pawl_worker_info **items,
                                  size_t *count, pawl_error *error);
void      pawl__mysql_own_unlock(pawl_store *base);
pawl_code pawl__mysql_own_lock(pawl_store *base, int64_t *number, pawl_error *error);
pawl_code pawl__mysql_who_lives(pawl_store *base, pawl__sql_life *const *lives, size_t count,
                                pawl_error *error);

/* diagnose.c */
pawl_code pawl__mysql_diagnose(pawl_store *base, const pawl_diagnosis *asked, pawl_arena *arena,
                               pawl_finding_rows *rows, pawl_error *error);

/* enlist.c */
pawl_code pawl__mysql_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                             pawl_error *error);

/* transaction.c */
/* Begins a transaction where none is open. Row locks of claims that a rollback lost are taken again;
 * a row that another worker took meanwhile is no longer claimed. */
pawl_code pawl__mysql_begin(pawl_store *base, pawl_error *error);
pawl_code pawl__mysql_commit(pawl_store *base, bool *is_unknown, pawl_error *error);
/* Afterwards no transaction is open, whatever happened. */
void      pawl__mysql_rollback(pawl__mysql_connection *connection);
pawl_code pawl__mysql_is_open(pawl_store *base, bool *is_open_still, pawl_error *error);
extern const pawl__sql_lock_ops pawl__mysql_lock_ops;

/* write.c */
pawl_code pawl__mysql_write(pawl__mysql_connection *connection, const pawl__sql_write *write,
                            const void *const *items, size_t count, pawl__sql_fate *fates,
                            size_t *failed, pawl_error *error);
/* Of a commit's first try (sql/connection.h). */
pawl_code pawl__mysql_write_ahead(pawl__mysql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_fate *fates,
                                  size_t *failed, pawl_error *error);
pawl_code pawl__mysql_settle(pawl_store *base, bool *is_right, pawl_error *error);
pawl_code pawl__mysql_hold_back(pawl__mysql_connection        *connection,
                                const pawl_outbox_hold *const *holds, size_t count,
                                pawl_error *error);

/* look.c */
/* The same, and sagas whose versions are past wait for no lock. */
pawl_code pawl__mysql_write_looking(pawl__mysql_connection *connection,
                                    const pawl__sql_write *write, const void *const *items,
                                    size_t count, pawl__sql_fate *fates, size_t *failed,
                                    pawl_error *error);

#endif
