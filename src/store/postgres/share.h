/* share.h - sessions that the idle handles of a process lend one another (sessions=N in the URL).
 *
 *     join                        as a handle is opened
 *     take -> use -> give back    a handle has a session for an operation, and until it waits
 *     wait                        without a session
 *     leave
 *
 * A share is of the handles of one process with the same URL. Its keeper is one more session, with a thread: it has
 * the advisory locks by which other processes see that the workers of these handles live, and those of the handles
 * that sleep (wait.c). It listens, wakes the handles that a NOTIFY is for, and once a minute reads whether something
 * is due that no NOTIFY told of. When it is lost, it connects again, takes the locks again and wakes all of them.
 *
 * A handle that finds no session free opens one, so nobody waits for another handle. Of those that are given back N
 * stay open.
 *
 * Threads: a handle belongs to one thread; two mutexes guard what they have together. keeper_mutex is held while the keeper
 * is called, up to some seconds when its server hangs: a handle takes it only to change what the keeper does for it. mutex,
 * which is taken after it, is never held during a call.
 * Tests: tests/contract/test_postgres_share_threads.c, test_postgres_keeper_threads.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SHARE_H
#define PAWL_STORE_POSTGRES_SHARE_H

#include "store/postgres/postgres.h"

#include <pthread.h>

#define PAWL__PG_SESSIONS_MAX 1000
#define PAWL__PG_AWAY_MS_MAX 5000 /* of a keeper: between two tries to connect */
#define PAWL__PG_CHECK_MS 60000   /* between two checks for what no NOTIFY told of */

struct pawl__pg_share {
    struct pawl__pg_share *next;
    unsigned               handles; /* under shares_mutex */
    pthread_mutex_t        keeper_mutex;
    pawl__pg               keeper; /* a handle without a caller */
    char                   prefix[PAWL_PREFIX_SIZE_MAX + 1];
    pthread_t              thread;
    bool                   has_thread;
    int                    kick_fd; /* readable: the thread looks again */
    int64_t                checked_ms;
    atomic_bool            is_away; /* the keeper has lost its session */
    atomic_bool            is_ended;

    pthread_mutex_t      mutex;   /* of all below, and of members of pawl__pg_member */
    pawl__pg            *members; /* one leaves under both mutexes */
    pawl__pg_connection *idle;    /* given back */
    int                  idle_count;
    int64_t              sessions;    /* opened so far, for their numbers */
    char                 channel[48]; /* of NOTIFY, as the last session that was opened has it */
};

/* Joins the share of the handle's URL, or makes it; opens no session yet. */
pawl_code pawl__pg_share_join(pawl__pg *store, pawl_error *error);
/* Gives both sessions back, and ends the share with its last handle. Accepts a handle that has not joined. */
void pawl__pg_share_leave(pawl__pg *store);

/* A session for `connection`, in place of one that was lost or given back: one that is idle, or a new one. */
pawl_code pawl__pg_share_take(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* The keeper takes the advisory lock of the handle's worker, which store->lock_number then has. */
pawl_code pawl__pg_share_lock(pawl__pg *store, int64_t number, pawl_error *error);
void      pawl__pg_share_unlock(pawl__pg *store);
/* Whether the keeper has no session: the workers of this process seem dead then, which they are not. */
bool pawl__pg_share_is_away(pawl__pg *store);
/* pawl__pg_wait of a handle with a share and without claims. */
pawl_code pawl__pg_share_wait(pawl__pg *store, int64_t microseconds, int wake_fd,
                              pawl_error *error);
/* The handle does not sleep any more: commits send no NOTIFY for it. */
void pawl__pg_share_stop_sleeping(pawl__pg *store);

/* ---- The keeper (keeper.c) ---------------------------------------------- */

/* keeper_mutex, and a keeper that is connected and has its thread. keeper_leave follows, also after a failure. */
pawl_code pawl__pg_keeper_enter(struct pawl__pg_share *share, pawl_error *error);
void      pawl__pg_keeper_leave(struct pawl__pg_share *share);
void      pawl__pg_close_idle(struct pawl__pg_share *share);
/* Connects; refuses a server behind a pooler. */
pawl_code pawl__pg_connect_directly(pawl__pg *store, pawl__pg_connection *connection,
                                    pawl_error *error);

/* ---- Of other files ----------------------------------------------------- */

/* cancel.c: pthread_create with all signals blocked. */
int pawl__pg_thread_start(pthread_t *thread, void *(*body)(void *), void *context);
/* url.c */
pawl_code pawl__pg_refuse_sessions(const pawl__pg *store, pawl_error *error);
/* open.c: a connection becomes the handle's. */
void pawl__pg_adopt(pawl__pg *store, pawl__pg_connection *connection);
/* worker.c */
/* Takes an advisory lock that the session has until it ends; another session that has it is ended first. */
pawl_code pawl__pg_session_lock(pawl__pg_connection *connection, int64_t number, pawl_error *error);
void      pawl__pg_session_unlock(pawl__pg_connection *connection, int64_t number);
/* Ends the other session that has this advisory lock. */
void pawl__pg_end_session(pawl__pg_connection *connection, int64_t number);
/* wait.c */
bool pawl__pg_has_topics(const pawl__pg *store);
/* The longest that a wait may take. */
int64_t   pawl__pg_slice_of(pawl__pg *store, int64_t milliseconds);
pawl_code pawl__pg_listen(pawl__pg *store, pawl_error *error);
void      pawl__pg_list_sleep_locks(pawl__pg *store);
/* LISTEN_LOCKS or UNLISTEN_LOCKS of those that are listed. */
pawl_code pawl__pg_sleep_locks(const pawl__pg *store, pawl__pg_connection *connection,
                               int statement, pawl_error *error);
/* Whether something became due that the handle does not know of: sends the questions, and reads the answers. */
#define PAWL__PG_CHECKS 3 /* its queues, the outbox, the events */
void pawl__pg_check_send(const pawl__pg *store, pawl__pg_connection *connection,
                         pawl__pg_request requests[PAWL__PG_CHECKS], pawl_error *error);
bool pawl__pg_check_read(pawl__pg_request *request); /* of one; ends it */
/* Both: sets is_woken, has_events. */
pawl_code pawl__pg_check(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* The sleepers' lock of those that a NOTIFY with this payload is for. */
int64_t pawl__pg_payload_lock(const pawl__pg *store, const char *payload);

#endif
