/* server.h - helpers of drivers for servers that have to be polled: waiting (store/core/wait.h), heartbeats, and
 * repeating calls that the server rolled back or did not answer.
 *
 * Not used by SQLite, which watches a file, and by PostgreSQL, which notifies.
 *
 * Threads: as the store; pawl__sql_interrupt may be called from any thread.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SERVER_H
#define PAWL_STORE_SQL_SERVER_H

#include "store/core/wait.h"

#define PAWL__SQL_NEWS_COUNT 4

/* The state in which a failed statement leaves its transaction. */
typedef enum pawl__sql_left {
    PAWL__SQL_STATEMENT_UNDONE, /* only the statement was undone */
    /* The server rolled all of it back. With autocommit on, further statements would be committed at
     * once, so only a rollback may follow. */
    PAWL__SQL_TRANSACTION_UNDONE,
    PAWL__SQL_CONNECTION_LOST, /* and the transaction with it */
} pawl__sql_left;

/* In the driver's handle; pawl__sql_store.server points to it. */
typedef struct pawl__sql_server {
    pawl__wait wait;
    int64_t    until_ms; /* monotonic: deadline of a call with several tries; 0: none */
    int64_t    news[PAWL__SQL_NEWS_COUNT]; /* the largest row numbers that a wait has seen */
    bool       beats;                      /* workers have no lock, so they need heartbeats */
    bool       frees_dead;                 /* claims are rows: workers release those of dead ones */
    int64_t    beat_ms;                    /* monotonic: of the last heartbeat */
} pawl__sql_server;

pawl_code pawl__sql_server_open(pawl_store *store, pawl__sql_server *server, pawl_error *error);

/* ---- Repeating calls ------------------------------------------------------ */

/* The tries of a call that the server may roll back. */
typedef struct pawl__sql_tries {
    pawl_store *store; /* NULL: it is tried once */
    int64_t     begun_ms;
    int         count;
} pawl__sql_tries;

pawl__sql_tries pawl__sql_tries_begin(pawl_store *store);
/* Is another try due after one that ended with `code`? */
bool pawl__sql_again(pawl__sql_tries *tries, pawl_code code);
/* Sets `code` to the result of the call, repeated as long as pawl__sql_again says so. */
#define PAWL__SQL_TRY(store, code, call)                         \
    do {                                                         \
        pawl__sql_tries tries_ = pawl__sql_tries_begin((store)); \
        do                                                       \
            (code) = (call);                                     \
        while (pawl__sql_again(&tries_, (code)));                \
    } while (0)

#endif
