/* heartbeat.h - the thread that says that workers live while they are in the application's code, on a store
 * where heartbeats alone tell it (MongoDB, Galera, Oracle, behind a pooler).
 *
 * A worker beats by itself when it commits or waits. While its handler runs it can do neither,
 * and after 15 s others would take it for dead, and its messages. So another thread beats for
 * it, on a store handle of its own; no longer than handler_time_max for one call, so that a
 * handler that hangs does not keep its message for ever.
 *
 *     start (the first one begins the thread) -> stop
 *
 * Threads: start and stop belong to the thread that watches run().
 * Tests: tests/unit/runtime/test_runtime_beater.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_HEARTBEAT_H
#define PAWL_RUNTIME_HEARTBEAT_H

#include "runtime/endpoint/threads.h"

#define PAWL__HEARTBEAT_PERIOD PAWL_SECONDS(5)
#define PAWL__HEARTBEAT_MAX (PAWL_WORKERS_MAX + 2) /* workers, service, intake */

typedef struct pawl__heartbeat {
    pawl_endpoint  *endpoint;
    pawl__app_call *app_calls[PAWL__HEARTBEAT_MAX];
    size_t          count;
    pthread_t       thread;
    pthread_mutex_t mutex;
    pawl_store     *store; /* under the mutex; opened when the first worker needs it */
    int             stop_fd;
    bool            is_started, has_failed;
} pawl__heartbeat;

/* Begins the thread for these, unless it runs, when one of them has a worker that lives by heartbeats. */
void pawl__heartbeat_start(pawl__heartbeat *heartbeat, pawl_endpoint *endpoint,
                           pawl__thread *const *threads, size_t count);
void pawl__heartbeat_stop(pawl__heartbeat *heartbeat);

#endif
