/* server.h - the needs of a driver whose database is a server that is polled: waiting (store/core/wait.h), heartbeats,
 * and calls that the server undid or did not answer.
 *
 * A driver with better means for all of it has none: a file that is watched, a server that notifies.
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
    PAWL__SQL_STATEMENT_UNDONE, /* the statement alone: those before it stand */
    /* All of it. Statements sent now are outside: with autocommit on they would be committed at
     * once, so nothing may follow but a rollback. */
    PAWL__SQL_TRANSACTION_UNDONE,
    PAWL__SQL_CONNECTION_LOST, /* and the transaction with it */
} pawl__sql_left;

/* In the driver's handle; pawl__sql_store.server points to it. */
typedef struct pawl__sql_server {
    pawl__wait wait;
    int64_t    until_ms; /* monotonic: the end of a call of several tries; 0: none */
    int64_t    news[PAWL__SQL_NEWS_COUNT]; /* the largest numbers that a wait has seen */
    bool       beats;                      /* no lock tells that the worker lives */
    bool       frees_dead;                 /* claims are rows, which nobody else would free */
    int64_t    beat_ms;                    /* monotonic: of the last heartbeat */
} pawl__sql_server;

pawl_code pawl__sql_server_open(pawl_store *store, pawl__sql_server *server, pawl_error *error);

/* ---- Again ---------------------------------------------------------------- */

/* A call that the server may undo. */
typedef struct pawl__sql_tries {
    pawl_store *store; /* NULL: it is tried once */
    int64_t     begun_ms;
    int         count;
} pawl__sql_tries;

pawl__sql_tries pawl__sql_tries_begin(pawl_store *store);
/* Whether a try that ended with `code` is to be followed by another one. */
bool pawl__sql_again(pawl__sql_tries *tries, pawl_code code);
/* Sets `code` by the call, which is made as often as it may be. */
#define PAWL__SQL_TRY(store, code, call)                         \
    do {                                                         \
        pawl__sql_tries tries_ = pawl__sql_tries_begin((store)); \
        do                                                       \
            (code) = (call);                                     \
        while (pawl__sql_again(&tries_, (code)));                \
    } while (0)

#endif
