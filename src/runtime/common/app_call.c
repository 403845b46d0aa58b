/* app_call.c - notes calls of the application's code, and logs those that take long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/app_call.h"

#include "runtime/runtime.h"

#include <stdio.h>

#define LONG_CALL PAWL_SECONDS(10)

void pawl__app_call_init(pawl__app_call *app_call)
{
    *app_call = (pawl__app_call){.is_busy = false};
    pthread_mutex_init(&app_call->mutex, NULL);
}

void pawl__app_call_destroy(pawl__app_call *app_call)
{
    pthread_mutex_destroy(&app_call->mutex);
}

/* Describes the call, in the log and when stopping gives up: "message m-1 of type place_order is in
 * handler on_place_order for 12 s". */
static void describe(const pawl__app_call *app_call, const char *verb, int64_t time,
                     char text[PAWL__APP_CALL_TEXT_SIZE])
{
    const pawl__call *call = &app_call->call;
    int               size = 0;
    if (call->what != NULL)
        size = snprintf(text, PAWL__APP_CALL_TEXT_SIZE, "%s %.*s of type %.*s", call->what,
                        PAWL_TEXT_ARGS(call->id), PAWL_TEXT_ARGS(call->type));
    else
        size = snprintf(text, PAWL__APP_CALL_TEXT_SIZE, "a thread");
    if (size > 0 && size < PAWL__APP_CALL_TEXT_SIZE)
        snprintf(text + size, PAWL__APP_CALL_TEXT_SIZE - (size_t)size, " %s in %s%s%s for %lld s",
                 verb, call->kind, call->name != NULL ? " " : "",
                 call->name != NULL ? call->name : "", (long long)(time / PAWL_SECONDS(1)));
}

/* ---- The thread ---------------------------------------------------------------- */

bool pawl__app_call_begin(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                          const pawl__call *call)
{
    pthread_mutex_lock(&app_call->mutex);
    bool is_ours = !app_call->is_given_up;
    if (is_ours) {
        app_call->is_busy   = true;
        app_call->is_logged = false;
        app_call->call      = *call;
        app_call->begin     = pawl__watch_now(endpoint);
    }
    pthread_mutex_unlock(&app_call->mutex);
    return is_ours;
}

/* Reads the endpoint's clock only if the thread is not given up: after that the endpoint may be gone. */
bool pawl__app_call_end(pawl__app_call *app_call, const pawl_endpoint *endpoint)
{
    char text[PAWL__APP_CALL_TEXT_SIZE] = "";
    pthread_mutex_lock(&app_call->mutex);
    bool is_ours   = !app_call->is_given_up;
    bool is_logged = app_call->is_logged;
    if (is_ours) {
        int64_t time = app_call->time = pawl__watch_now(endpoint) - app_call->begin;
        if (time >= LONG_CALL)
            describe(app_call, "was", time, text);
    }
    app_call->is_busy = false;
    pthread_mutex_unlock(&app_call->mutex);
    if (text[0] != '\0')
        pawl_log(is_logged ? PAWL_LOG_INFO : PAWL_LOG_WARNING, "endpoint %s: %s",
                 endpoint->model->endpoint.data, text);
    return is_ours;
}

void pawl__app_call_critical(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                             const char *what, const pawl_error *error)
{
    const pawl_endpoint_options *settings = &endpoint->settings;
    const pawl__call             call     = {.kind = "the critical action for", .name = what};
    if (!pawl__app_call_begin(app_call, endpoint, &call))
        return;
    settings->critical(settings->critical_context, what, error);
    (void)pawl__app_call_end(app_call, endpoint);
}

/* Reads a member of the call. */
static bool is_set(pawl__app_call *app_call, const bool *member)
{
    pthread_mutex_lock(&app_call->mutex);
    bool value = *member;
    pthread_mutex_unlock(&app_call->mutex);
    return value;
}

bool pawl__app_call_is_given_up(pawl__app_call *app_call)
{
    return is_set(app_call, &app_call->is_given_up);
}

void pawl__app_call_set_worker(pawl__app_call *app_call, pawl_store *store)
{
    pthread_mutex_lock(&app_call->mutex);
    app_call->store          = store;
    app_call->has_heartbeats = false;
    if (store != NULL)
        app_call->worker = pawl_store_worker(store);
    pthread_mutex_unlock(&app_call->mutex);
}

void pawl__app_call_set_heartbeats(pawl__app_call *app_call, bool has_heartbeats)
{
    pthread_mutex_lock(&app_call->mutex);
    app_call->has_heartbeats = has_heartbeats;
    pthread_mutex_unlock(&app_call->mutex);
}

void pawl__app_call_set_waits(pawl__app_call *app_call, const char *waits)
{
    pthread_mutex_lock(&app_call->mutex);
    app_call->waits = waits;
    pthread_mutex_unlock(&app_call->mutex);
}

pawl_code pawl__app_call_answer(pawl_code code, const char *whose, pawl_error *error)
{
    if (code != PAWL_OK && error->text[0] == '\0')
        (void)pawl_error_set(error, code, "the %s transport does not say why (%s)", whose,
                             pawl_code_name(code));
    return code;
}

bool pawl__app_call_finish(pawl__app_call *app_call)
{
    pthread_mutex_lock(&app_call->mutex);
    bool is_ours          = !app_call->is_given_up;
    app_call->is_finished = true;
    pthread_mutex_unlock(&app_call->mutex);
    return is_ours;
}

/* ---- The watch ------------------------------------------------------------------- */

int64_t pawl__app_call_watch(pawl__app_call *app_call, const pawl_endpoint *endpoint)
{
    char    text[PAWL__APP_CALL_TEXT_SIZE] = "";
    int64_t next                           = LONG_CALL;
    int64_t now                            = pawl__watch_now(endpoint);
    pthread_mutex_lock(&app_call->mutex);
    if (app_call->is_busy && !app_call->is_logged) {
        next                = app_call->begin + LONG_CALL - now;
        app_call->is_logged = next <= 0;
    }
    if (app_call->is_busy && next <= 0) {
        describe(app_call, "is", now - app_call->begin, text);
        next = LONG_CALL;
    }
    pthread_mutex_unlock(&app_call->mutex);
    /* Outside of the mutex, as the application's log may be slow. */
    if (text[0] != '\0')
        pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s", endpoint->model->endpoint.data, text);
    return next;
}

bool pawl__app_call_has_heartbeats(pawl__app_call *app_call)
{
    return is_set(app_call, &app_call->has_heartbeats);
}

bool pawl__app_call_needs_heartbeat(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                                    pawl_worker_id *worker)
{
    int64_t now = pawl__watch_now(endpoint);
    pthread_mutex_lock(&app_call->mutex);
    bool needs = app_call->has_heartbeats && app_call->is_busy && !app_call->is_given_up &&
                 now - app_call->begin < endpoint->settings.handler_time_max;
    *worker = app_call->worker;
    pthread_mutex_unlock(&app_call->mutex);
    return needs;
}

bool pawl__app_call_is_finished(pawl__app_call *app_call)
{
    return is_set(app_call, &app_call->is_finished);
}

/* Under the mutex, so that the thread does not close the store meanwhile. */
void pawl__app_call_interrupt(pawl__app_call *app_call)
{
    pthread_mutex_lock(&app_call->mutex);
    if (app_call->store != NULL && !app_call->is_busy && !app_call->is_finished)
        pawl_store_interrupt(app_call->store);
    pthread_mutex_unlock(&app_call->mutex);
}

bool pawl__app_call_give_up(pawl__app_call *app_call, const pawl_endpoint *endpoint,
                            char text[PAWL__APP_CALL_TEXT_SIZE], bool *has_worker,
                            pawl_worker_id *worker)
{
    int64_t now = pawl__watch_now(endpoint);
    pthread_mutex_lock(&app_call->mutex);
    bool is_given_up = app_call->is_given_up = !app_call->is_finished;
    *has_worker                              = app_call->store != NULL;
    *worker                                  = app_call->worker;
    if (is_given_up && app_call->is_busy)
        describe(app_call, "is", now - app_call->begin, text);
    else if (is_given_up)
        snprintf(text, PAWL__APP_CALL_TEXT_SIZE, "%s",
                 app_call->waits != NULL ? app_call->waits
                                         : "a thread waits for its store, which does not answer");
    pthread_mutex_unlock(&app_call->mutex);
    return is_given_up;
}
