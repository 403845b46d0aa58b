/* share.h - a connection pool for the handles of a process (sessions=N in the URL).
 *
 *     join                        as a handle is opened
 *     take -> use -> give back    a handle has a session from an operation until it waits
 *     wait                        without a session
 *     leave
 *
 * All handles of a process with the same URL use one share. Its keeper is one more session, with a thread. The keeper
 * holds the advisory locks by which other processes see that the workers of these handles live, and the locks of
 * handles that sleep (wait.c). It listens, wakes the handles that a NOTIFY is for, and checks once a minute for due
 * rows without a NOTIFY. If its connection is lost, it reconnects, takes the locks again and wakes all handles.
 *
 * If no session is free, a handle opens a new one, so it never waits for another handle. Of returned sessions N stay
 * open.
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
    int                    kick_fd; /* makes the thread check again */
    int64_t                checked_ms;
    atomic_bool            is_away; /* the keeper has no session */
    atomic_bool            is_ended;

    pthread_mutex_t      mutex;   /* of all below, and of members of pawl__pg_member */
    pawl__pg            *members; /* removed only under both mutexes */
    pawl__pg_connection *idle;    /* returned sessions */
    int                  idle_count;
    int64_t              sessions;    /* number of sessions opened so far */
    char                 channel[48]; /* of NOTIFY, from the last opened session */
};

/* Joins the share of the handle's URL, or makes it; opens no session yet. */
pawl_code pawl__pg_share_join(pawl__pg *store, pawl_error *error);
/* Gives both sessions back, and ends the share with its last handle. Accepts a handle that has not joined. */
void pawl__pg_share_leave(pawl__pg *store);

/* Gives `connection` a session, an idle or a new one, if its last one was lost or given back. */
pawl_code pawl__pg_share_take(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* The keeper takes the advisory lock of the handle's worker, which store->lock_number then has. */
pawl_code pawl__pg_share_lock(pawl__pg *store, int64_t number, pawl_error *error);
void      pawl__pg_share_unlock(pawl__pg *store);
/* Has the keeper lost its session? Then the living workers of this process seem dead to others. */
bool pawl__pg_share_is_away(pawl__pg *store);
/* pawl__pg_wait of a handle with a share and without claims. */
pawl_code pawl__pg_share_wait(pawl__pg *store, int64_t microseconds, int wake_fd,
                              pawl_error *error);
/* The handle does not sleep any more: commits send no NOTIFY for it. */
void pawl__pg_share_stop_sleeping(pawl__pg *store);

/* ---- The keeper (keeper.c) ---------------------------------------------- */

/* Locks keeper_mutex, and makes sure that the keeper is connected and has its thread. Call keeper_leave even after a
 * failure. */
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
/* Takes an advisory lock for the session's life; ends another session that holds it. */
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
/* Check for due rows that the handle does not know of: send the queries, and read their answers. */
#define PAWL__PG_CHECKS 3 /* its queues, the outbox, the events */
void pawl__pg_check_send(const pawl__pg *store, pawl__pg_connection *connection,
                         pawl__pg_request requests[PAWL__PG_CHECKS], pawl_error *error);
bool pawl__pg_check_read(pawl__pg_request *request); /* one answer; ends it */
/* Sends, reads, and sets is_woken and has_events. */
pawl_code pawl__pg_check(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error);
/* The advisory lock of the handles that wait for a NOTIFY with this payload. */
int64_t pawl__pg_payload_lock(const pawl__pg *store, const char *payload);

#endif
