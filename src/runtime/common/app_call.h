/* app_call.h - tells the watchdog which code of the application a thread runs: a handler, a filter, a transport. The
 * watchdog can log the call, and give the thread up.
 *
 *     init -> { begin -> end }* -> finish -> destroy       the thread
 *            watch*, give_up                               the thread that watches it
 *
 * A given up thread learns of it when the application's code returns, or before the next call. Then it writes nothing
 * any more, and cleans up after itself.
 *
 * Threads: safe from any thread; each call has a mutex, locked briefly.
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
    pawl__call      call; /* valid while is_busy; `what` NULL: not about a message */
    int64_t         begin;
    int64_t         time; /* length of the last call; for the thread itself */
    bool            is_busy;
    bool            is_logged; /* the call has been logged */
    bool            is_given_up;
    bool            is_finished;
    bool            has_heartbeats; /* only heartbeats show that the worker lives */
    const char *waits; /* sentence: what the thread waits for outside of calls; NULL: its store */
    pawl_worker_id worker;
    pawl_store    *store; /* open store of the thread, or NULL */
} pawl__app_call;

void pawl__app_call_init(pawl__app_call *app_call);
void pawl__app_call_destroy(pawl__app_call *app_call);

/* Called before and after each call of the application's code. The texts of `call` must live until its end. False: the
 * thread was given up, and must not make the call. */
bool pawl__app_call_begin(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                          const pawl__call *call);
/* False: the thread was given up meanwhile. */
bool pawl__app_call_end(pawl__app_call *app_call, const pawl_endpoint *endpoint);
bool pawl__app_call_is_given_up(pawl__app_call *app_call);
/* Calls the endpoint's critical action. */
void pawl__app_call_critical(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                             const char *what, const pawl_error *error);
/* Sets the thread's open store, and with it its worker; NULL: none. */
void pawl__app_call_set_worker(pawl__app_call *app_call, pawl_store *store);
/* Sets whether only heartbeats show that the worker lives. */
void pawl__app_call_set_heartbeats(pawl__app_call *app_call, bool has_heartbeats);
#define PAWL__WAITS_FOR_BROKER "the thread that reads the broker waits for it"
#define PAWL__WAITS_FOR_READER "a worker waits for the thread that reads the broker"
/* Sets, as a static text, what the thread waits for outside of calls. NULL: its store. */
void pawl__app_call_set_waits(pawl__app_call *app_call, const char *waits);
/* Returns `code` of a transport; gives an error without text a text that names the transport. */
pawl_code pawl__app_call_answer(pawl_code code, const char *whose, pawl_error *error);
/* Called when the thread will not touch shared data any more. False: it was given up before. */
bool pawl__app_call_finish(pawl__app_call *app_call);

/* Logs a call that takes long, once for each; returns the microseconds until the next check is
 * due. */
int64_t pawl__app_call_watch(pawl__app_call *app_call, const pawl_endpoint *endpoint);
/* Has the thread a worker that needs heartbeats? */
bool pawl__app_call_has_heartbeats(pawl__app_call *app_call);
/* Is such a worker in the application's code, for no longer than allowed? Then the caller writes a heartbeat for it. */
bool pawl__app_call_needs_heartbeat(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                                    pawl_worker_id *worker);
/* Has the thread finished? */
bool pawl__app_call_is_finished(pawl__app_call *app_call);
/* Interrupts the thread's store call, unless it is in the application's code or has finished. */
void pawl__app_call_interrupt(pawl__app_call *app_call);
/* Gives the thread up. False: it has finished. `text` describes its call; `worker` is the worker to end, if it has
 * one. */
bool pawl__app_call_give_up(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                            char text[PAWL__APP_CALL_TEXT_SIZE], bool *has_worker,
                            pawl_worker_id *worker);

#endif
