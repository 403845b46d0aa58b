/* connection_state.c - notes whether the broker is read, and whether older messages may exist that this process does
 * not see.
 *
 * Only its own process sees a message in flight without a row. So if several processes read one queue, an older
 * message, which begins the saga of one here, may be in another process. If that process crashes or loses its
 * connection, nobody sees the older one for a while: the broker delivers it again, after messages that it delivered
 * before. A process that stops normally turns all its messages into rows (intake_step.c) before its workers' rows are
 * deleted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/connection_state.h"

#include "base/text.h"
#include "runtime/runtime.h"

#include <stdio.h>

#define HOLD_MAX PAWL_SECONDS(30) /* time in which the broker redelivers returned messages */
#define ASK_PERIOD PAWL_SECONDS(1)
#define AWAY_TIME \
    PAWL_SECONDS(10) /* time after which the alarm is raised; a restarted broker is back earlier */

static void set_state(pawl_endpoint *endpoint, bool is_connected)
{
    endpoint->inbound_state.is_connected = is_connected;
    endpoint->inbound_state.since        = pawl__watch_now(endpoint);
    pawl__metric_set(&endpoint->metrics, PAWL__METRIC_INTAKE_CONNECTED, is_connected);
}

void pawl__inbound_state_begin(pawl_endpoint *endpoint)
{
    pthread_mutex_lock(&endpoint->mutex);
    set_state(endpoint, false);
    (void)snprintf(endpoint->inbound_state.why, sizeof endpoint->inbound_state.why,
                   "not connected yet");
    pthread_mutex_unlock(&endpoint->mutex);
}

void pawl__inbound_state_note(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error)
{
    pawl__inbound_state *state = &endpoint->inbound_state;
    const char          *why   = error != NULL ? error->text : pawl_code_name(code);
    pthread_mutex_lock(&endpoint->mutex);
    state->was_away |= code != PAWL_OK;
    if (state->is_connected != (code == PAWL_OK))
        set_state(endpoint, code == PAWL_OK);
    if (code != PAWL_OK &&
        (size_t)snprintf(state->why, sizeof state->why, "%s", why) >= sizeof state->why)
        pawl__text_end_cut(state->why, sizeof state->why);
    pthread_mutex_unlock(&endpoint->mutex);
}

void pawl__inbound_state_describe(pawl_endpoint *endpoint, char *text, size_t size)
{
    const pawl__inbound_state *state  = &endpoint->inbound_state;
    int                        length = 0;
    text[0]                           = '\0';
    pthread_mutex_lock(&endpoint->mutex);
    int64_t lasted = pawl__watch_now(endpoint) - state->since;
    if (endpoint->settings.transport != NULL && !state->is_connected)
        length = snprintf(text, size,
                          "endpoint %.*s: nothing has been taken from its broker for %lld s: %s",
                          PAWL_TEXT_ARGS(endpoint->model->endpoint),
                          (long long)(lasted / PAWL_SECONDS(1)), state->why);
    pthread_mutex_unlock(&endpoint->mutex);
    if ((size_t)length >= size)
        pawl__text_end_cut(text, size);
}

void pawl__inbound_state_judge(pawl_endpoint *endpoint, pawl__alarm *alarm)
{
    const pawl__inbound_state *state = &endpoint->inbound_state;
    pthread_mutex_lock(&endpoint->mutex);
    if (!state->is_connected && pawl__watch_now(endpoint) - state->since >= AWAY_TIME)
        pawl__alarm_want(alarm, 0, pawl_text_of(state->why));
    else
        pawl__alarm_unwant(alarm);
    pthread_mutex_unlock(&endpoint->mutex);
}

/* ---- What this process may not see ------------------------------------------------------------ */

/* Under the endpoint's mutex. */
static bool is_own(const pawl_endpoint *endpoint, pawl_worker_id id)
{
    for (size_t i = 0; i < endpoint->own_count; i++)
        if (pawl_uuid_compare(endpoint->own[i].uuid, id.uuid) == 0)
            return true;
    return false;
}

static bool has_other(pawl_endpoint *endpoint, const pawl_worker_info *items, size_t count)
{
    bool has = false;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < count && !has; i++)
        has = pawl_text_equal(items[i].endpoint, endpoint->model->endpoint) &&
              !is_own(endpoint, items[i].id);
    pthread_mutex_unlock(&endpoint->mutex);
    return has;
}

/* Did this process find dead workers recently? Their rows may be ended already. */
static bool has_recent_death(pawl_endpoint *endpoint, pawl_time now, int64_t hold)
{
    bool has = false;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < endpoint->isolation.count && !has; i++)
        has = now - endpoint->isolation.known[i].seen < hold;
    pthread_mutex_unlock(&endpoint->mutex);
    return has;
}

/* Has the endpoint workers of other processes, live or dead? Compares worker ids, as process ids may be equal in
 * containers. */
static pawl_code find_others(pawl__worker *worker, int64_t hold, bool *found, pawl_error *error)
{
    pawl_endpoint    *endpoint = worker->endpoint;
    pawl_worker_info *items    = NULL;
    size_t            count    = 0;
    *found                     = has_recent_death(endpoint, pawl__watch_now(endpoint), hold);
    if (*found)
        return PAWL_OK;
    pawl_code code = pawl_store_worker_list(worker->store, worker->read, &items, &count, error);
    *found         = code == PAWL_OK && has_other(endpoint, items, count);
    if (code != PAWL_OK || *found)
        return code;
    code   = pawl_store_worker_crashed(worker->store, worker->read, &items, &count, error);
    *found = code == PAWL_OK && has_other(endpoint, items, count);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Has the endpoint other processes? Yes is remembered for a while; no is asked each time, as another process may have
 * just started. If the store does not answer, the batch fails with its next call. */
static bool has_others(pawl__worker *worker, int64_t now, int64_t hold)
{
    pawl_endpoint       *endpoint = worker->endpoint;
    pawl__inbound_state *state    = &endpoint->inbound_state;
    pawl_error           error    = PAWL_ERROR_INIT;
    bool                 found    = false;
    pthread_mutex_lock(&endpoint->mutex);
    bool is_known = state->has_others && now - state->others_at < ASK_PERIOD;
    pthread_mutex_unlock(&endpoint->mutex);
    if (is_known)
        return true;
    if (find_others(worker, hold, &found, &error) != PAWL_OK)
        return true;
    pthread_mutex_lock(&endpoint->mutex);
    if (found) {
        state->has_others = true;
        state->others_at  = now;
    }
    bool has = state->has_others && now - state->others_at < hold;
    pthread_mutex_unlock(&endpoint->mutex);
    return has;
}

/* Never on an ordered endpoint: it handles the messages of a key in order, whichever process takes them. */
bool pawl__inbound_state_may_miss(pawl__worker *worker)
{
    pawl_endpoint             *endpoint = worker->endpoint;
    const pawl__inbound_state *state    = &endpoint->inbound_state;
    int64_t                    wait     = endpoint->settings.not_found_wait;
    int64_t                    hold     = wait < HOLD_MAX ? wait : HOLD_MAX;
    int64_t                    now      = pawl__watch_now(endpoint);
    pawl__engine              *engine   = &worker->engine;
    if (endpoint->settings.transport == NULL || worker->ordered != NULL)
        return false;
    pthread_mutex_lock(&endpoint->mutex);
    bool is_away = !state->is_connected;
    bool is_back = !is_away && state->was_away && now - state->since < hold;
    pthread_mutex_unlock(&endpoint->mutex);
    /* The broker redelivers returned messages only after it is available again: no wait for a saga may end before. */
    if (is_away && engine->unread_until <= engine->machine_now)
        engine->unread_until = engine->machine_now + 1;
    return is_away || is_back || has_others(worker, now, hold);
}
