/* app_call.h - the call that a thread has in hand while code of the application runs: a handler, a
 * filter, a sink. The watching thread can name it, and give the thread up.
 *
 *     init -> { begin -> end }* -> finish -> destroy       the thread
 *            watch*, give_up                               who watches it
 *
 * A thread that is given up finds out when the application's code returns, or when it
 * wants to call it again; it writes nothing any more, and cleans up after itself.
 *
 * Threads: safe from any thread; each hand has a mutex, locked for moments.
 * Tests: tests/unit/runtime/test_runtime_stop.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_HAND_H
#define PAWL_HAND_H

#include "engine/batch.h"
#include "pawl/endpoint.h"

#include <pthread.h>

#define PAWL__HAND_TEXT_SIZE 400

typedef struct pawl__hand {
    pthread_mutex_t mutex;
    pawl__call      call; /* while is_busy; `what` NULL: about no message */
    int64_t         begin;
    int64_t         time; /* of the last call that ended; for the thread itself */
    bool            is_busy;
    bool            is_told; /* the log has a line about this call */
    bool            is_given_up;
    bool            is_finished;
    bool            has_worker; /* the thread has an open store */
    bool            has_beats;  /* the worker lives by heartbeats */
    pawl_worker_id  worker;
} pawl__hand;

void pawl__hand_init(pawl__hand *hand);
void pawl__hand_destroy(pawl__hand *hand);

/* Around each call of the application's code. The texts of `call` must live until its end. False:
 * the thread was given up, and must not call. */
bool pawl__hand_begin(pawl__hand *hand, const pawl_endpoint *endpoint, const pawl__call *call);
/* False: the thread was given up meanwhile. */
bool pawl__hand_end(pawl__hand *hand, const pawl_endpoint *endpoint);
bool pawl__hand_is_given_up(pawl__hand *hand);
/* Calls the endpoint's critical action. */
void pawl__hand_critical(pawl__hand *hand, const pawl_endpoint *endpoint, const char *what,
                         const pawl_error *error);
/* The worker in whose name the thread claims and commits; NULL: none. */
void pawl__hand_set_worker(pawl__hand *hand, const pawl_store *store);
/* Whether heartbeats alone tell that the worker lives. */
void pawl__hand_set_beats(pawl__hand *hand, bool has_beats);
/* Says that the thread touches nothing shared any more. False: it was given up before. */
bool pawl__hand_finish(pawl__hand *hand);

/* Logs a call that takes long, once for each; returns the microseconds until the next check is
 * due. */
int64_t pawl__hand_watch(pawl__hand *hand, const pawl_endpoint *endpoint);
/* Has the thread a worker that lives by heartbeats? */
bool pawl__hand_has_beats(pawl__hand *hand);
/* Such a worker is in the application's code, and no longer than it may be: somebody has to beat for it. */
bool pawl__hand_needs_beat(pawl__hand *hand, const pawl_endpoint *endpoint, pawl_worker_id *worker);
/* Has the thread finished? */
bool pawl__hand_is_finished(pawl__hand *hand);
/* Gives the thread up, unless it has finished: then false. `text` describes its call, `worker` is
 * the worker to end when it has one. */
bool pawl__hand_give_up(pawl__hand *hand, const pawl_endpoint *endpoint,
                        char text[PAWL__HAND_TEXT_SIZE], bool *has_worker, pawl_worker_id *worker);

#endif
