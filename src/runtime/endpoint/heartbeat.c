/* heartbeat.c - a thread that writes heartbeats of workers that are in the application's code, on stores where only
 * heartbeats show that a worker lives (MongoDB, Galera, Oracle, behind a pooler).
 *
 * A worker writes a heartbeat when it commits or waits. While its handler runs it does neither, and after 15 s others
 * would take it for dead and claim its messages. So this thread writes heartbeats for it, on a separate store handle;
 * for one call no longer than handler_time_max, so that a hanging handler does not keep its message for ever.
 *
 *     start (the first one begins the thread) -> stop
 *
 * Start and stop belong to the thread that watches run(). Tests: tests/unit/runtime/test_runtime_beater.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/wake_fd.h"
#include "runtime/endpoint/endpoint.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEADLINE PAWL_SECONDS(5) /* of one call: three may fail before a worker counts as dead */

/* Logs the first failure, and again the first one after a success. */
static void say_failed(pawl__heartbeat *heartbeat, const pawl_error *error)
{
    if (!heartbeat->has_failed)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: the store is not told that workers whose handlers run live: %s",
                 heartbeat->endpoint->model->endpoint.data, error->text);
    heartbeat->has_failed = true;
}

static void set_store(pawl__heartbeat *heartbeat, pawl_store *store)
{
    pthread_mutex_lock(&heartbeat->mutex);
    pawl_store *before = heartbeat->store;
    heartbeat->store   = store;
    pthread_mutex_unlock(&heartbeat->mutex);
    pawl_store_close(before);
}

static void beat(pawl__heartbeat *heartbeat)
{
    pawl_endpoint *endpoint = heartbeat->endpoint;
    pawl_worker_id workers[PAWL__HEARTBEAT_MAX];
    size_t         count = 0;
    pawl_store    *made  = NULL;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_code      code  = PAWL_OK;
    for (size_t i = 0; i < heartbeat->count; i++)
        count += pawl__app_call_needs_heartbeat(heartbeat->app_calls[i], endpoint, &workers[count]);
    if (count == 0)
        return;
    if (heartbeat->store == NULL) {
        code = pawl__endpoint_store_open_aside(endpoint, DEADLINE, &made, &error);
        if (code == PAWL_OK)
            set_store(heartbeat, made);
    }
    if (code == PAWL_OK)
        code = pawl_store_worker_heartbeat(heartbeat->store, workers, count,
                                           pawl__machine_now(endpoint), &error);
    if (code == PAWL_OK) {
        heartbeat->has_failed = false;
        return;
    }
    set_store(heartbeat, NULL);
    say_failed(heartbeat, &error);
}

static void *run(void *argument)
{
    pawl__heartbeat *heartbeat = argument;
    struct pollfd    stop      = {.fd = heartbeat->stop_fd, .events = POLLIN};
    do
        beat(heartbeat);
    while (poll(&stop, 1, (int)(PAWL__HEARTBEAT_PERIOD / 1000)) <= 0);
    set_store(heartbeat, NULL);
    return NULL;
}

static bool is_needed(pawl__thread *const *threads, size_t count)
{
    bool is_needed = false;
    for (size_t i = 0; i < count; i++)
        is_needed |= threads[i]->is_started && pawl__app_call_has_heartbeats(threads[i]->app_call);
    return is_needed;
}

void pawl__heartbeat_start(pawl__heartbeat *heartbeat, pawl_endpoint *endpoint,
                           pawl__thread *const *threads, size_t count)
{
    if (heartbeat->is_started || count > PAWL__HEARTBEAT_MAX || !is_needed(threads, count))
        return;
    *heartbeat =
        (pawl__heartbeat){.endpoint = endpoint, .stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    for (size_t i = 0; i < count; i++)
        heartbeat->app_calls[heartbeat->count++] = threads[i]->app_call;
    pthread_mutex_init(&heartbeat->mutex, NULL);
    int failure = heartbeat->stop_fd >= 0 ? pthread_create(&heartbeat->thread, NULL, run, heartbeat)
                                          : errno; /* the thread could not be stopped without it */
    heartbeat->is_started = failure == 0;
    if (heartbeat->is_started)
        return;
    pthread_mutex_destroy(&heartbeat->mutex);
    if (heartbeat->stop_fd >= 0)
        close(heartbeat->stop_fd);
    pawl_log(PAWL_LOG_WARNING, "endpoint %s: no thread for heartbeats: %s",
             endpoint->model->endpoint.data, strerror(failure));
}

void pawl__heartbeat_stop(pawl__heartbeat *heartbeat)
{
    if (!heartbeat->is_started)
        return;
    pawl__fd_signal(heartbeat->stop_fd);
    pthread_mutex_lock(&heartbeat->mutex);
    if (heartbeat->store != NULL)
        pawl_store_interrupt(heartbeat->store);
    pthread_mutex_unlock(&heartbeat->mutex);
    pthread_join(heartbeat->thread, NULL);
    pthread_mutex_destroy(&heartbeat->mutex);
    close(heartbeat->stop_fd);
    heartbeat->is_started = false;
}
