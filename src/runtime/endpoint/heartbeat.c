/* heartbeat.c - see heartbeat.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/heartbeat.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEADLINE PAWL_SECONDS(5) /* of one call: three beats may fail before a worker is dead */

/* Says once that it fails, and again after it went well. */
static void say_failed(pawl__beater *beater, const pawl_error *error)
{
    if (!beater->has_failed)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: the store is not told that workers whose handlers run live: %s",
                 beater->endpoint->model->endpoint.data, error->text);
    beater->has_failed = true;
}

static void set_store(pawl__beater *beater, pawl_store *store)
{
    pthread_mutex_lock(&beater->mutex);
    pawl_store *before = beater->store;
    beater->store      = store;
    pthread_mutex_unlock(&beater->mutex);
    pawl_store_close(before);
}

static void beat(pawl__beater *beater)
{
    pawl_endpoint *endpoint = beater->endpoint;
    pawl_worker_id workers[PAWL__BEATER_MAX];
    size_t         count = 0;
    pawl_store    *made  = NULL;
    pawl_error     error = PAWL_ERROR_INIT;
    pawl_code      code  = PAWL_OK;
    for (size_t i = 0; i < beater->count; i++)
        count += pawl__hand_needs_beat(beater->hands[i], endpoint, &workers[count]);
    if (count == 0)
        return;
    if (beater->store == NULL) {
        code = pawl__endpoint_store_open_aside(endpoint, DEADLINE, &made, &error);
        if (code == PAWL_OK)
            set_store(beater, made);
    }
    if (code == PAWL_OK)
        code = pawl_store_worker_beat(beater->store, workers, count, pawl__machine_now(endpoint),
                                      &error);
    if (code == PAWL_OK) {
        beater->has_failed = false;
        return;
    }
    set_store(beater, NULL);
    say_failed(beater, &error);
}

static void *run(void *argument)
{
    pawl__beater *beater = argument;
    struct pollfd stop   = {.fd = beater->stop_fd, .events = POLLIN};
    do
        beat(beater);
    while (poll(&stop, 1, (int)(PAWL__BEATER_PERIOD / 1000)) <= 0);
    set_store(beater, NULL);
    return NULL;
}

static bool is_needed(pawl__thread *const *threads, size_t count)
{
    bool is_needed = false;
    for (size_t i = 0; i < count; i++)
        is_needed |= threads[i]->is_started && pawl__hand_has_beats(threads[i]->hand);
    return is_needed;
}

void pawl__beater_start(pawl__beater *beater, pawl_endpoint *endpoint, pawl__thread *const *threads,
                        size_t count)
{
    if (beater->is_started || count > PAWL__BEATER_MAX || !is_needed(threads, count))
        return;
    *beater =
        (pawl__beater){.endpoint = endpoint, .stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    for (size_t i = 0; i < count; i++)
        beater->hands[beater->count++] = threads[i]->hand;
    pthread_mutex_init(&beater->mutex, NULL);
    int failure        = pthread_create(&beater->thread, NULL, run, beater);
    beater->is_started = failure == 0;
    if (beater->is_started)
        return;
    pthread_mutex_destroy(&beater->mutex);
    close(beater->stop_fd);
    pawl_log(PAWL_LOG_WARNING, "endpoint %s: no thread for heartbeats: %s",
             endpoint->model->endpoint.data, strerror(failure));
}

void pawl__beater_stop(pawl__beater *beater)
{
    static const uint64_t one = 1;
    if (!beater->is_started)
        return;
    ssize_t ignored = write(beater->stop_fd, &one, sizeof one);
    (void)ignored;
    pthread_mutex_lock(&beater->mutex);
    if (beater->store != NULL)
        pawl_store_interrupt(beater->store);
    pthread_mutex_unlock(&beater->mutex);
    pthread_join(beater->thread, NULL);
    pthread_mutex_destroy(&beater->mutex);
    close(beater->stop_fd);
    beater->is_started = false;
}
