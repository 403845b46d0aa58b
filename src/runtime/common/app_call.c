/* app_call.c - the call that a thread has in hand, and the log lines about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/app_call.h"

#include "runtime/runtime.h"

#include <stdio.h>

#define LONG_CALL PAWL_SECONDS(10)

void pawl__hand_init(pawl__hand *hand)
{
    *hand = (pawl__hand){.is_busy = false};
    pthread_mutex_init(&hand->mutex, NULL);
}

void pawl__hand_destroy(pawl__hand *hand)
{
    pthread_mutex_destroy(&hand->mutex);
}

/* Describes the call, in the log and when stopping gives up: "message m-1 of type place_order is in
 * handler on_place_order for 12 s". */
static void describe(const pawl__hand *hand, const char *verb, int64_t time,
                     char text[PAWL__HAND_TEXT_SIZE])
{
    const pawl__call *call = &hand->call;
    int               size = 0;
    if (call->what != NULL)
        size = snprintf(text, PAWL__HAND_TEXT_SIZE, "%s %.*s of type %.*s", call->what,
                        PAWL_TEXT_ARGS(call->id), PAWL_TEXT_ARGS(call->type));
    else
        size = snprintf(text, PAWL__HAND_TEXT_SIZE, "a thread");
    if (size > 0 && size < PAWL__HAND_TEXT_SIZE)
        snprintf(text + size, PAWL__HAND_TEXT_SIZE - (size_t)size, " %s in %s%s%s for %lld s", verb,
                 call->kind, call->name != NULL ? " " : "", call->name != NULL ? call->name : "",
                 (long long)(time / PAWL_SECONDS(1)));
}

/* ---- The thread ---------------------------------------------------------------- */

bool pawl__hand_begin(pawl__hand *hand, const pawl_endpoint *endpoint, const pawl__call *call)
{
    pthread_mutex_lock(&hand->mutex);
    bool is_ours = !hand->is_given_up;
    if (is_ours) {
        hand->is_busy = true;
        hand->is_told = false;
        hand->call    = *call;
        hand->begin   = pawl__watch_now(endpoint);
    }
    pthread_mutex_unlock(&hand->mutex);
    return is_ours;
}

/* Reads the endpoint's clock only while the thread is not given up: after that it may be gone. */
bool pawl__hand_end(pawl__hand *hand, const pawl_endpoint *endpoint)
{
    char text[PAWL__HAND_TEXT_SIZE] = "";
    pthread_mutex_lock(&hand->mutex);
    bool is_ours = !hand->is_given_up;
    bool is_told = hand->is_told;
    if (is_ours) {
        int64_t time = hand->time = pawl__watch_now(endpoint) - hand->begin;
        if (time >= LONG_CALL)
            describe(hand, "was", time, text);
    }
    hand->is_busy = false;
    pthread_mutex_unlock(&hand->mutex);
    if (text[0] != '\0')
        pawl_log(is_told ? PAWL_LOG_INFO : PAWL_LOG_WARNING, "endpoint %s: %s",
                 endpoint->model->endpoint.data, text);
    return is_ours;
}

void pawl__hand_critical(pawl__hand *hand, const pawl_endpoint *endpoint, const char *what,
                         const pawl_error *error)
{
    const pawl_endpoint_options *settings = &endpoint->settings;
    const pawl__call             call     = {.kind = "the critical action for", .name = what};
    if (!pawl__hand_begin(hand, endpoint, &call))
        return;
    settings->critical(settings->critical_context, what, error);
    (void)pawl__hand_end(hand, endpoint);
}

bool pawl__hand_is_given_up(pawl__hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool is_given_up = hand->is_given_up;
    pthread_mutex_unlock(&hand->mutex);
    return is_given_up;
}

void pawl__hand_set_worker(pawl__hand *hand, const pawl_store *store)
{
    pthread_mutex_lock(&hand->mutex);
    hand->has_worker = store != NULL;
    hand->has_beats  = false;
    if (store != NULL)
        hand->worker = pawl_store_worker(store);
    pthread_mutex_unlock(&hand->mutex);
}

void pawl__hand_set_beats(pawl__hand *hand, bool has_beats)
{
    pthread_mutex_lock(&hand->mutex);
    hand->has_beats = has_beats;
    pthread_mutex_unlock(&hand->mutex);
}

bool pawl__hand_finish(pawl__hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool is_ours      = !hand->is_given_up;
    hand->is_finished = true;
    pthread_mutex_unlock(&hand->mutex);
    return is_ours;
}

/* ---- The watch ------------------------------------------------------------------- */

int64_t pawl__hand_watch(pawl__hand *hand, const pawl_endpoint *endpoint)
{
    char    text[PAWL__HAND_TEXT_SIZE] = "";
    int64_t next                       = LONG_CALL;
    int64_t now                        = pawl__watch_now(endpoint);
    pthread_mutex_lock(&hand->mutex);
    if (hand->is_busy && !hand->is_told) {
        next          = hand->begin + LONG_CALL - now;
        hand->is_told = next <= 0;
    }
    if (hand->is_busy && next <= 0) {
        describe(hand, "is", now - hand->begin, text);
        next = LONG_CALL;
    }
    pthread_mutex_unlock(&hand->mutex);
    /* Outside of the mutex: the application's log may take its time. */
    if (text[0] != '\0')
        pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s", endpoint->model->endpoint.data, text);
    return next;
}

bool pawl__hand_has_beats(pawl__hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool has_beats = hand->has_beats;
    pthread_mutex_unlock(&hand->mutex);
    return has_beats;
}

bool pawl__hand_needs_beat(pawl__hand *hand, const pawl_endpoint *endpoint, pawl_worker_id *worker)
{
    int64_t now = pawl__watch_now(endpoint);
    pthread_mutex_lock(&hand->mutex);
    bool needs = hand->has_beats && hand->is_busy && !hand->is_given_up &&
                 now - hand->begin < endpoint->settings.handler_time_max;
    *worker = hand->worker;
    pthread_mutex_unlock(&hand->mutex);
    return needs;
}

bool pawl__hand_is_finished(pawl__hand *hand)
{
    pthread_mutex_lock(&hand->mutex);
    bool is_finished = hand->is_finished;
    pthread_mutex_unlock(&hand->mutex);
    return is_finished;
}

bool pawl__hand_give_up(pawl__hand *hand, const pawl_endpoint *endpoint,
                        char text[PAWL__HAND_TEXT_SIZE], bool *has_worker, pawl_worker_id *worker)
{
    int64_t now = pawl__watch_now(endpoint);
    pthread_mutex_lock(&hand->mutex);
    bool is_given_up = hand->is_given_up = !hand->is_finished;
    *has_worker                          = hand->has_worker;
    *worker                              = hand->worker;
    if (is_given_up && hand->is_busy)
        describe(hand, "is", now - hand->begin, text);
    else if (is_given_up)
        snprintf(text, PAWL__HAND_TEXT_SIZE, "a thread waits for its store");
    pthread_mutex_unlock(&hand->mutex);
    return is_given_up;
}
