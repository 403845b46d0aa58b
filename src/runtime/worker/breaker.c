/* breaker.c - counts failures of messages, opens the breaker, and closes it again after successful probes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/breaker.h"

#include "base/text.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <string.h>

/* Time between two checks of a worker while another one probes. */
#define PROBE_LOOK PAWL_MILLISECONDS(50)

bool pawl__breaker_is_on(const pawl_endpoint *endpoint)
{
    return endpoint->settings.breaker_rate != 0;
}

static pawl__breaker_state state_of(const pawl_endpoint *endpoint)
{
    return (pawl__breaker_state)atomic_load_explicit(&endpoint->breaker.state,
                                                     memory_order_relaxed);
}

static void set_state(pawl_endpoint *endpoint, pawl__breaker_state state)
{
    atomic_store_explicit(&endpoint->breaker.state, (int)state, memory_order_relaxed);
    pawl__metric_set(&endpoint->metrics, PAWL__METRIC_BREAKER_STATE, (int64_t)state);
}

/* ---- The window ---------------------------------------------------------------- */

static void forget(pawl__breaker *breaker)
{
    memset(breaker->window, 0, sizeof breaker->window);
    breaker->next = breaker->count = breaker->failures = 0;
}

static void keep(pawl__breaker *breaker, int32_t window, bool has_failed)
{
    uint64_t *word = &breaker->window[breaker->next / 64];
    uint64_t  bit  = UINT64_C(1) << (breaker->next % 64);
    breaker->failures += has_failed - ((*word & bit) != 0);
    *word         = has_failed ? *word | bit : *word & ~bit;
    breaker->next = (breaker->next + 1) % window;
    breaker->count += breaker->count < window;
}

static void keep_successes(pawl__breaker *breaker, int32_t window, int32_t successes)
{
    for (int32_t i = 0; i < successes && i < window; i++) {
        if (breaker->failures == 0 && breaker->count == window)
            return; /* the bits are as before, wherever `next` is */
        keep(breaker, window, false);
    }
}

/* Results that are missing in the window count as successes. */
static bool is_reached(const pawl_endpoint *endpoint)
{
    const pawl_endpoint_options *settings = &endpoint->settings;
    return (int64_t)endpoint->breaker.failures * 100 >=
           (int64_t)settings->breaker_rate * settings->breaker_window;
}

/* ---- Moves --------------------------------------------------------------------- */

/* A change of state, to be logged after the mutex is released, as the log function is the application's. */
typedef struct move {
    enum { MOVE_NONE, MOVE_OPENED, MOVE_REOPENED, MOVE_CLOSED } what;
    int32_t failures, count; /* in the window on opening */
    int64_t time;            /* for which it is, or was, open */
} move;

static void note_why(pawl__breaker *breaker, const pawl__unit *failed)
{
    int size = snprintf(breaker->why, sizeof breaker->why, "%.*s: %s: %.*s",
                        PAWL_TEXT_ARGS(failed->message.type), pawl_code_name(failed->code),
                        PAWL_TEXT_ARGS(failed->error));
    if ((size_t)size >= sizeof breaker->why)
        pawl__text_end_cut(breaker->why, sizeof breaker->why);
}

static void open_breaker(pawl_endpoint *endpoint, const pawl__unit *failed, move *made)
{
    pawl__breaker               *breaker  = &endpoint->breaker;
    const pawl_endpoint_options *settings = &endpoint->settings;
    int64_t                      now      = pawl__watch_now(endpoint);
    if (breaker->openings == 0)
        breaker->since = now;
    made->time =
        pawl__doubled(settings->breaker_pause, breaker->openings++, settings->breaker_pause_max);
    breaker->until = pawl_time_add(now, made->time);
    note_why(breaker, failed);
    forget(breaker);
    set_state(endpoint, PAWL__BREAKER_OPEN);
    pawl__metric_add(&endpoint->metrics, PAWL__METRIC_BREAKER_OPENED, 0, 1);
}

static void count_closed(pawl_endpoint *endpoint, const pawl__unit *failed, int32_t successes,
                         move *made)
{
    pawl__breaker *breaker = &endpoint->breaker;
    int32_t        window  = endpoint->settings.breaker_window;
    keep_successes(breaker, window, successes);
    if (failed == NULL)
        return;
    keep(breaker, window, true);
    if (!is_reached(endpoint))
        return;
    *made = (move){.what = MOVE_OPENED, .failures = breaker->failures, .count = breaker->count};
    open_breaker(endpoint, failed, made);
}

static void count_probe(pawl_endpoint *endpoint, const pawl__unit *failed, move *made)
{
    pawl__breaker *breaker = &endpoint->breaker;
    if (failed != NULL) {
        made->what = MOVE_REOPENED;
        open_breaker(endpoint, failed, made);
    } else if (++breaker->probes >= endpoint->settings.breaker_probes) {
        made->what        = MOVE_CLOSED;
        made->time        = pawl__watch_now(endpoint) - breaker->since;
        breaker->openings = 0;
        breaker->is_said  = false;
        set_state(endpoint, PAWL__BREAKER_CLOSED);
    }
}

/* Logs a warning when the breaker opens and a line when it closes; failed probes only at debug level. */
static void say(const pawl_endpoint *endpoint, const pawl__unit *failed, const move *made)
{
    const char *name     = endpoint->model->endpoint.data;
    long long   seconds  = (long long)(made->time / PAWL_SECONDS(1));
    bool        is_whole = made->time % PAWL_SECONDS(1) == 0;
    long long   pause    = is_whole ? seconds : (long long)(made->time / PAWL_MILLISECONDS(1));
    const char *unit     = is_whole ? "s" : "ms";
    switch (made->what) {
    case MOVE_NONE: break;
    case MOVE_OPENED:
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: %d of the last %d messages failed, the last of type %.*s with %s: "
                 "%.*s; its breaker is open: nothing is claimed for %lld %s, then a probe",
                 name, (int)made->failures, (int)made->count, PAWL_TEXT_ARGS(failed->message.type),
                 pawl_code_name(failed->code), PAWL_TEXT_ARGS(failed->error), pause, unit);
        break;
    case MOVE_REOPENED:
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: its breaker's probe failed; the next one in %lld %s",
                 name, pause, unit);
        break;
    case MOVE_CLOSED:
        pawl_log(PAWL_LOG_INFO, "endpoint %s: its breaker is closed again, after %lld s", name,
                 seconds);
        break;
    }
}

/* Adds the worker's successes to the window, then the failure `failed`, unless NULL. If another worker opened the
 * breaker during the batch, its results are dropped. */
static void record_results(pawl__worker *worker, const pawl__unit *failed)
{
    pawl_endpoint      *endpoint = worker->endpoint;
    pawl__breaker_part *part     = &worker->breaker;
    move                made     = {.what = MOVE_NONE};
    pthread_mutex_lock(&endpoint->mutex);
    if (part->permit == PAWL__PERMIT_ALL && state_of(endpoint) == PAWL__BREAKER_CLOSED)
        count_closed(endpoint, failed, part->successes, &made);
    else if (part->permit == PAWL__PERMIT_PROBE && !part->is_decided)
        count_probe(endpoint, failed, &made);
    pthread_mutex_unlock(&endpoint->mutex);
    part->is_decided = true;
    part->successes  = 0;
    say(endpoint, failed, &made);
}

/* ---- Units ------------------------------------------------------------- */

/* Failures that do not count, as they do not show that a dependency is down: the message is to blame, another worker
 * was first, or the handler named the delay itself. */
static bool is_other(pawl_code code)
{
    return pawl__code_is_hopeless(code) || code == PAWL_RETRY_AFTER || code == PAWL_ECONFLICT ||
           code == PAWL_ECRASHED;
}

static bool has_failed(const pawl__unit *unit)
{
    return (unit->end == PAWL__END_RETRY || unit->end == PAWL__END_DEAD) && !is_other(unit->code);
}

void pawl__breaker_note(pawl__worker *worker)
{
    pawl__breaker_part *part  = &worker->breaker;
    const pawl__batch  *batch = worker->batch;
    if (part->permit == PAWL__PERMIT_NONE)
        return;
    for (; part->seen < batch->unit_count && batch->units[part->seen].end != PAWL__END_NEW;
         part->seen++) {
        const pawl__unit *unit = &batch->units[part->seen];
        if (unit->kind != PAWL__UNIT_MESSAGE && unit->kind != PAWL__UNIT_TIMEOUT)
            continue;
        if (has_failed(unit))
            record_results(worker, unit);
        else
            part->successes += unit->end == PAWL__END_HANDLED;
    }
    bool is_last = part->seen == batch->unit_count || part->permit == PAWL__PERMIT_PROBE;
    if (part->successes > 0 && is_last)
        record_results(worker, NULL);
}

bool pawl__breaker_is_over(pawl__worker *worker)
{
    const pawl__breaker_part *part = &worker->breaker;
    if (part->permit == PAWL__PERMIT_NONE)
        return false;
    pawl__breaker_note(worker);
    if (part->permit == PAWL__PERMIT_PROBE)
        return part->is_decided;
    return state_of(worker->endpoint) != PAWL__BREAKER_CLOSED;
}

/* ---- Steps ------------------------------------------------------------------------ */

void pawl__breaker_begin(pawl__worker *worker)
{
    worker->breaker.seen = 0;
}

/* The permit of the next step. */
static pawl__permit choose(pawl_endpoint *endpoint)
{
    pawl__breaker *breaker = &endpoint->breaker;
    if (state_of(endpoint) == PAWL__BREAKER_CLOSED)
        return PAWL__PERMIT_ALL;
    if (breaker->is_probing)
        return PAWL__PERMIT_NOTHING;
    if (state_of(endpoint) == PAWL__BREAKER_OPEN) {
        if (pawl__watch_now(endpoint) < breaker->until)
            return PAWL__PERMIT_NOTHING;
        breaker->probes = 0;
        set_state(endpoint, PAWL__BREAKER_HALF_OPEN);
    }
    breaker->is_probing = true;
    return PAWL__PERMIT_PROBE;
}

bool pawl__breaker_enter(pawl__worker *worker)
{
    pawl_endpoint *endpoint = worker->endpoint;
    if (!pawl__breaker_is_on(endpoint))
        return true;
    worker->breaker = (pawl__breaker_part){.permit = PAWL__PERMIT_ALL};
    if (state_of(endpoint) == PAWL__BREAKER_CLOSED)
        return true;
    pthread_mutex_lock(&endpoint->mutex);
    worker->breaker.permit = choose(endpoint);
    pthread_mutex_unlock(&endpoint->mutex);
    if (worker->breaker.permit == PAWL__PERMIT_PROBE)
        worker->claim_count = 1;
    return worker->breaker.permit != PAWL__PERMIT_NOTHING;
}

/* A change of the breaker that a worker has to report. */
typedef struct word {
    pawl__alarm_act act;
    bool            is_critical; /* opened after the last critical action */
    pawl_alarm      alarm;
    char            why[PAWL__BREAKER_WHY_SIZE];
} word;

static void take_word(const pawl__worker *worker, word *it)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl__breaker *breaker  = &endpoint->breaker;
    pthread_mutex_lock(&endpoint->mutex);
    bool is_open = state_of(endpoint) != PAWL__BREAKER_CLOSED;
    memcpy(it->why, breaker->why, sizeof it->why);
    pawl__alarm_check_epoch(&breaker->alarm, worker->store);
    if (is_open)
        pawl__alarm_want(&breaker->alarm, 0, pawl_text_of(it->why));
    else
        pawl__alarm_unwant(&breaker->alarm);
    it->is_critical = is_open && !breaker->is_said;
    breaker->is_said |= is_open;
    it->act = breaker->is_telling ? PAWL__ALARM_NOTHING
                                  : pawl__alarm_next(&breaker->alarm, pawl__watch_now(endpoint));
    it->alarm =
        pawl__alarm_of(&breaker->alarm, it->act, worker->store, endpoint, PAWL_TEXT("breaker"));
    if (it->act == PAWL__ALARM_RAISE) /* with the newest failure, in the worker's own copy */
        it->alarm.text = pawl_text_of(it->why);
    breaker->is_telling |= it->act != PAWL__ALARM_NOTHING;
    pthread_mutex_unlock(&endpoint->mutex);
}

static void note_word(const pawl__worker *worker, const word *it, pawl_code code)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl__breaker *breaker  = &endpoint->breaker;
    pthread_mutex_lock(&endpoint->mutex);
    pawl__alarm_note(&breaker->alarm, it->act, worker->store, code, pawl__watch_now(endpoint));
    atomic_store(&breaker->is_alarmed, breaker->alarm.is_raised);
    breaker->is_telling = false;
    pthread_mutex_unlock(&endpoint->mutex);
}

void pawl__breaker_forget(pawl_endpoint *endpoint, pawl_worker_id worker)
{
    if (!pawl__breaker_is_on(endpoint))
        return;
    pthread_mutex_lock(&endpoint->mutex);
    pawl__alarm_forget(&endpoint->breaker.alarm, worker);
    atomic_store(&endpoint->breaker.is_alarmed, endpoint->breaker.alarm.is_raised);
    pthread_mutex_unlock(&endpoint->mutex);
}

/* Called when nothing is claimed. After a failure a later step tries again. */
void pawl__breaker_report(pawl__worker *worker)
{
    const pawl_endpoint *endpoint = worker->endpoint;
    pawl_error           error = PAWL_ERROR_INIT, cause = PAWL_ERROR_INIT;
    word                 it;
    if (worker->store == NULL ||
        (state_of(endpoint) == PAWL__BREAKER_CLOSED && !atomic_load(&endpoint->breaker.is_alarmed)))
        return;
    take_word(worker, &it);
    if (it.act != PAWL__ALARM_NOTHING) {
        pawl_code code = pawl__alarm_write(worker->store, &it.alarm, it.act, &error);
        note_word(worker, &it, code);
        if (code != PAWL_OK && code != PAWL_EUNSUPPORTED)
            pawl_log(PAWL_LOG_DEBUG, "endpoint %s: the store does not know of its breaker: %s",
                     endpoint->model->endpoint.data, error.text);
    }
    if (it.is_critical && endpoint->settings.critical != NULL) {
        pawl_error_set(&cause, PAWL_EUNREACHABLE, "the breaker of endpoint %s is open: %s",
                       endpoint->model->endpoint.data, it.why);
        pawl__app_call_critical(worker->app_call, endpoint, "breaker", &cause);
    }
}

void pawl__breaker_leave(pawl__worker *worker)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl__breaker_report(worker);
    if (worker->breaker.permit == PAWL__PERMIT_PROBE) {
        pthread_mutex_lock(&endpoint->mutex);
        endpoint->breaker.is_probing = false;
        pthread_mutex_unlock(&endpoint->mutex);
    }
    worker->breaker.permit = PAWL__PERMIT_NONE;
}

/* ---- Questions --------------------------------------------------------------- */

int64_t pawl__breaker_wait(pawl_endpoint *endpoint)
{
    pthread_mutex_lock(&endpoint->mutex);
    bool    is_open = state_of(endpoint) == PAWL__BREAKER_OPEN;
    int64_t rest    = endpoint->breaker.until - pawl__watch_now(endpoint);
    pthread_mutex_unlock(&endpoint->mutex);
    return is_open && rest > 0 ? rest : PROBE_LOOK;
}

void pawl__breaker_describe(pawl_endpoint *endpoint, char *text, size_t size)
{
    const pawl__breaker *breaker = &endpoint->breaker;
    text[0]                      = '\0';
    pthread_mutex_lock(&endpoint->mutex);
    int64_t lasted = pawl__watch_now(endpoint) - breaker->since;
    int     length = 0;
    if (state_of(endpoint) != PAWL__BREAKER_CLOSED)
        length = snprintf(text, size, "endpoint %.*s: its breaker has been open for %lld s: %s",
                          PAWL_TEXT_ARGS(endpoint->model->endpoint),
                          (long long)(lasted / PAWL_SECONDS(1)), breaker->why);
    pthread_mutex_unlock(&endpoint->mutex);
    if ((size_t)length >= size)
        pawl__text_end_cut(text, size);
}
