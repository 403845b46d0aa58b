/* app_call.h - a thread while it runs code of the application: a handler, a filter, a transport. The watching thread
 * can name the call, and give the thread up.
 *
 *     init -> { begin -> end }* -> finish -> destroy       the thread
 *            watch*, give_up                               the thread that watches it
 *
 * A thread that is given up finds out when the application's code returns, or when it
 * wants to call it again; it writes nothing any more, and cleans up after itself.
 *
 * Threads: safe from any thread; each call has a mutex, locked for moments.
 * Tests: tests/unit/runtime/test_runtime_stop.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_APP_CALL_H
#define PAWL_RUNTIME_APP_CALL_H

#include "engine/batch.h"
#include "pawl/endpoint.h"

#include <pthread.h>

#define PAWL__APP_CALL_TEXT_SIZE 400

typedef struct pawl__app_call {
    pthread_mutex_t mutex;
    pawl__call      call; /* while is_busy; `what` NULL: about no message */
    int64_t         begin;
    int64_t         time; /* of the last call that ended; for the thread itself */
    bool            is_busy;
    bool            is_told; /* the log has a line about this call */
    bool            is_given_up;
    bool            is_finished;
    bool            has_beats; /* the worker lives by heartbeats */
    const char *waits; /* a sentence: for whom the thread waits outside of calls; NULL: its store */
    pawl_worker_id worker;
    pawl_store    *store; /* open, and used by the thread; NULL: none */
} pawl__app_call;

void pawl__app_call_init(pawl__app_call *app_call);
void pawl__app_call_destroy(pawl__app_call *app_call);

/* Around each call of the application's code. The texts of `call` must live until its end. False:
 * the thread was given up, and must not call. */
bool pawl__app_call_begin(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                          const pawl__call *call);
/* False: the thread was given up meanwhile. */
bool pawl__app_call_end(pawl__app_call *app_call, const pawl_endpoint *endpoint);
bool pawl__app_call_is_given_up(pawl__app_call *app_call);
/* Calls the endpoint's critical action. */
void pawl__app_call_critical(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                             const char *what, const pawl_error *error);
/* The store that the thread has open, and by it the worker in whose name it claims and commits; NULL: none. */
void pawl__app_call_set_worker(pawl__app_call *app_call, pawl_store *store);
/* Whether heartbeats alone tell that the worker lives. */
void pawl__app_call_set_beats(pawl__app_call *app_call, bool has_beats);
#define PAWL__WAITS_FOR_BROKER "the thread that reads the broker waits for it"
#define PAWL__WAITS_FOR_READER "a worker waits for the thread that reads the broker"
/* A static text says for whom the thread waits outside of calls. NULL: its store. */
void pawl__app_call_set_waits(pawl__app_call *app_call, const char *waits);
/* `code`, as a transport answered it: an error without a text says of whom. */
pawl_code pawl__app_call_answer(pawl_code code, const char *whose, pawl_error *error);
/* Says that the thread touches nothing shared any more. False: it was given up before. */
bool pawl__app_call_finish(pawl__app_call *app_call);

/* Logs a call that takes long, once for each; returns the microseconds until the next check is
 * due. */
int64_t pawl__app_call_watch(pawl__app_call *app_call, const pawl_endpoint *endpoint);
/* Has the thread a worker that lives by heartbeats? */
bool pawl__app_call_has_beats(pawl__app_call *app_call);
/* Such a worker is in the application's code, and no longer than it may be: somebody has to beat for it. */
bool pawl__app_call_needs_beat(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                               pawl_worker_id *worker);
/* Has the thread finished? */
bool pawl__app_call_is_finished(pawl__app_call *app_call);
/* Ends what the thread asks its store, unless it is in the application's code or has finished. */
void pawl__app_call_interrupt(pawl__app_call *app_call);
/* Gives the thread up, unless it has finished: then false. `text` describes its call, `worker` is
 * the worker to end when it has one. */
bool pawl__app_call_give_up(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                            char text[PAWL__APP_CALL_TEXT_SIZE], bool *has_worker,
                            pawl_worker_id *worker);

#endif
