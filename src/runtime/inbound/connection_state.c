/* connection_state.c - notes and describes how the reading from a broker stands, and what this process may not see of its queue.
 *
 * A message in flight without a row is seen by its own process alone. So where several processes read one queue, a message may be
 * here, and the older one that begins its saga there. The older one is also out of sight for a while when its process died or
 * lost a connection: the broker hands it out again, behind messages that were handed out before. A process that stops in order makes
 * rows of all that it has (intake_step.c) while its workers still have their rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/connection_state.h"

#include "base/text.h"
#include "runtime/runtime.h"

#include <stdio.h>

#define HOLD_MAX PAWL_SECONDS(30) /* in which the broker hands out again what went back to it */
#define ASK_PERIOD PAWL_SECONDS(1)
#define AWAY_TIME \
    PAWL_SECONDS(10) /* behind it others are told; a broker that is restarted is back before */

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

/* Did this process find workers dead of late? Their rows may be ended already. */
static bool has_recent_death(pawl_endpoint *endpoint, pawl_time now, int64_t hold)
{
    bool has = false;
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < endpoint->isolation.count && !has; i++)
        has = now - endpoint->isolation.known[i].seen < hold;
    pthread_mutex_unlock(&endpoint->mutex);
    return has;
}

/* Has the endpoint workers of other processes, living or dead? Ids are compared and not process ids, which are alike in
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

/* Asked while others are seen once in a while. "There are none" is asked for each time, since another process may have begun
 * just now. A store that does not answer fails the batch with its next call. */
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

/* An ordered endpoint has the messages of a key in order, whatever process takes them in. */
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
    /* The broker hands out again what went back to it once it is there: no wait ends before. */
    if (is_away && engine->unread_until <= engine->machine_now)
        engine->unread_until = engine->machine_now + 1;
    return is_away || is_back || has_others(worker, now, hold);
}
