/* outlived_claims.c - see the header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/outlived_claims.h"

#include "runtime/runtime.h"

#include <stdio.h>

/* If calls were shorter, the session ended for another reason. */
#define CALL_MIN PAWL_SECONDS(1)
#define CALL_NOTED_MIN PAWL_MILLISECONDS(10) /* the watchdog's clock is coarse */
/* After that, a message with the same id may be another one. */
#define KNOWN_TIME PAWL_HOURS(1)
#define TENTH PAWL_MILLISECONDS(100)
#define LOST_SQL "the connection to the store ended while own SQL of a handler ran: "

/* The kind as in the texts of calls. 0: no calls; also for an event, whose retries never end anyway. */
static char kind_of(const pawl__unit *unit)
{
    switch (unit->kind) {
    case PAWL__UNIT_MESSAGE: return 'm';
    case PAWL__UNIT_TIMEOUT: return 't';
    case PAWL__UNIT_FLUSH: return 'p';
    case PAWL__UNIT_EVENT:
    case PAWL__UNIT_FORWARD:
    case PAWL__UNIT_SCHEDULE: break;
    }
    return '\0';
}

static uint64_t key_of(char kind, pawl_text id)
{
    return kind == '\0' || kind == 'e' ? 0 : (pawl__text_hash(id) ^ (uint64_t)kind) | 1;
}

static uint64_t key_of_unit(const pawl__unit *unit)
{
    return key_of(kind_of(unit),
                  unit->kind == PAWL__UNIT_FLUSH ? unit->flush.partition : unit->message.id);
}

/* ---- Calls of the batch -------------------------------------------------------------- */

void pawl__outlived_begin(pawl__worker *worker)
{
    worker->longest = (pawl__longest){.unit = 0};
}

/* Calls of one unit are added up, as a failed unit may run again at once, in memory. */
void pawl__outlived_call(pawl__worker *worker, const pawl__call *call, int64_t time)
{
    pawl__longest *longest = &worker->longest;
    if (call->what == NULL || time < CALL_NOTED_MIN)
        return;
    uint64_t key = key_of(call->what[0], call->id);
    if (key == longest->unit)
        time += longest->time;
    if (key == 0 || time <= longest->time)
        return;
    *longest = (pawl__longest){.unit = key, .time = time};
    (void)snprintf(longest->name, sizeof longest->name, "%s%s%s", call->kind,
                   call->name != NULL ? " " : "", call->name != NULL ? call->name : "");
}

/* ---- Units that are remembered ----------------------------------------------------------- */

static pawl__outlived_unit *row_of(pawl__outlived *outlived, uint64_t key)
{
    for (size_t i = 0; i < PAWL__OUTLIVED_MAX; i++)
        if (outlived->rows[i].unit == key)
            return &outlived->rows[i];
    return NULL;
}

/* The row of the unit, else a free one, else the oldest. */
static pawl__outlived_unit *row_for(pawl__outlived *outlived, uint64_t key)
{
    pawl__outlived_unit *row = row_of(outlived, key);
    if (row == NULL)
        row = row_of(outlived, 0);
    if (row != NULL)
        return row;
    row = &outlived->rows[0];
    for (size_t i = 1; i < PAWL__OUTLIVED_MAX; i++)
        row = outlived->rows[i].until < row->until ? &outlived->rows[i] : row;
    return row;
}

/* "handler on_task ran for 65.0 s, and its claim did not last so long: ..." */
static pawl_error describe(const pawl__worker *worker, pawl_text text)
{
    pawl_error           why      = PAWL_ERROR_INIT;
    const pawl__longest *longest  = &worker->longest;
    int64_t              limit    = worker->endpoint->settings.handler_time_max;
    bool                 is_over  = longest->time >= limit;
    char                 over[80] = "";
    if (is_over)
        (void)snprintf(over, sizeof over, " (handler-time-max is %lld.%lld s)",
                       (long long)(limit / PAWL_SECONDS(1)),
                       (long long)(limit % PAWL_SECONDS(1) / TENTH));
    (void)pawl_error_set(&why, is_over ? PAWL_ETIMEOUT : PAWL_ELOST,
                         "%s ran for %lld.%lld s%s, and its claim did not last so long: %.*s",
                         longest->name, (long long)(longest->time / PAWL_SECONDS(1)),
                         (long long)(longest->time % PAWL_SECONDS(1) / TENTH), over,
                         PAWL_TEXT_ARGS(text));
    return why;
}

/* A timeout that is set again has the same id, but another generation. */
static int64_t generation_of(const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_TIMEOUT ? unit->timeout.generation : 0;
}

static void remember(pawl__worker *worker, const pawl__unit *unit, const pawl_error *why)
{
    pawl_endpoint      *endpoint = worker->endpoint;
    pawl__outlived_unit made     = {.unit       = key_of_unit(unit),
                                    .generation = generation_of(unit),
                                    .attempts   = pawl__unit_attempts(unit),
                                    .until      = pawl_time_add(worker->engine.machine_now, KNOWN_TIME),
                                    .why        = *why};
    if (made.unit == 0)
        return;
    pthread_mutex_lock(&endpoint->mutex);
    *row_for(&endpoint->outlived, made.unit) = made;
    atomic_store(&endpoint->outlived.has_any, true);
    pthread_mutex_unlock(&endpoint->mutex);
    pawl_log(
        PAWL_LOG_WARNING,
        "endpoint %s: message %.*s of type %.*s: %s; if it comes again, this counts as a failed attempt",
        endpoint->model->endpoint.data, PAWL_TEXT_ARGS(unit->message.id),
        PAWL_TEXT_ARGS(unit->message.type), made.why.text);
}

static bool is_long(const pawl__worker *worker)
{
    int64_t time = worker->longest.time;
    return time >= CALL_MIN || (time > 0 && time >= worker->endpoint->settings.handler_time_max);
}

/* Did the lease of an ordered queue end before handler_time_max? Then no attempt counts: the lease is short until a
 * worker had a slow step, and the next run gets a longer one (ordered.c). */
static bool is_short_lease(const pawl__worker *worker, pawl_code code)
{
    return worker->ordered != NULL && code == PAWL_EFENCED &&
           worker->longest.time < worker->endpoint->settings.handler_time_max;
}

/* Did the unit's own SQL end the session, however quick it was (a statement that is too large, or crashes the server)?
 * Such a unit is the only one of its batch. */
static bool has_lost_sql(const pawl__worker *worker)
{
    const pawl__batch *batch = worker->batch;
    return batch->has_sql && batch->units[0].has_run_sql &&
           pawl_store_handler_transaction_lost(worker->store);
}

/* In the history the entry of the run is replaced by that of the loss, which contains its text. */
void pawl__outlived_fail_sql(pawl__worker *worker)
{
    pawl__unit *unit = &worker->batch->units[0];
    pawl_error  why  = PAWL_ERROR_INIT;
    if (unit->end == PAWL__END_RELEASED || !has_lost_sql(worker)) /* a stop counts no attempt */
        return;
    pawl__attempt ran = {.code = PAWL_DISCARD, .error = PAWL_TEXT("")};
    if (unit->attempt_count > 0)
        ran = unit->attempts[--unit->attempt_count];
    if (pawl_text_equal(ran.error, pawl_text_of(pawl_code_text(ran.code))))
        ran.error = PAWL_TEXT(""); /* the text of REJECT says that the message is a dead letter */
    (void)pawl_error_set(&why, PAWL_ELOST, LOST_SQL "it answered %s%s%.*s",
                         pawl_code_name(ran.code), ran.error.size > 0 ? ": " : "",
                         PAWL_TEXT_ARGS(ran.error));
    pawl__batch_fail(worker->batch, PAWL_ELOST, why.text);
    unit->is_sql_lost = true;
}

void pawl__outlived_lost(pawl__worker *worker, pawl_code code, const pawl_error *why)
{
    const pawl__batch *batch = worker->batch;
    if (!batch->is_given_up && has_lost_sql(worker)) {
        pawl_error lost = PAWL_ERROR_INIT;
        (void)pawl_error_set(&lost, PAWL_ELOST, LOST_SQL "%s",
                             why != NULL ? why->text : pawl_code_text(code));
        remember(worker, &batch->units[0], &lost);
        return;
    }
    /* PAWL_EUNREACHABLE is no loss: the server became read-only, say, and the worker's log has its answer. */
    bool is_loss = code == PAWL_ELOST || code == PAWL_EFENCED;
    if (!is_loss || batch->is_given_up || !is_long(worker) || is_short_lease(worker, code))
        return;
    for (size_t i = 0; i < batch->unit_count; i++)
        if (key_of_unit(&batch->units[i]) == worker->longest.unit) {
            const pawl_error made =
                describe(worker, pawl_text_of(why != NULL ? why->text : pawl_code_text(code)));
            remember(worker, &batch->units[i], &made);
            return;
        }
}

/* Were the calls long enough to outlive the claim? That of a timeout lasts for its lease. */
static bool may_outlive(const pawl__worker *worker, const pawl__unit *unit)
{
    return unit->kind != PAWL__UNIT_TIMEOUT ||
           worker->longest.time >= worker->endpoint->settings.timeout_lease / 2;
}

void pawl__outlived_gone(pawl__worker *worker, const pawl__unit *unit, pawl_text why)
{
    const pawl_error made = describe(worker, why);
    if (unit->is_sql_lost)
        pawl__outlived_failed(worker, unit, unit->code, unit->error);
    else if (is_long(worker) && key_of_unit(unit) == worker->longest.unit &&
             may_outlive(worker, unit))
        remember(worker, unit, &made);
}

void pawl__outlived_failed(pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                           pawl_text text)
{
    pawl_error made = PAWL_ERROR_INIT;
    (void)pawl_error_set(&made, why, "%.*s", PAWL_TEXT_ARGS(text));
    remember(worker, unit, &made);
}

bool pawl__outlived_find(void *runtime, const pawl__unit *unit, pawl_error *why)
{
    pawl__worker  *worker   = runtime;
    pawl_endpoint *endpoint = worker->endpoint;
    if (!atomic_load(&endpoint->outlived.has_any))
        return false;
    uint64_t key = key_of_unit(unit);
    pthread_mutex_lock(&endpoint->mutex);
    const pawl__outlived_unit *row = key != 0 ? row_of(&endpoint->outlived, key) : NULL;
    bool is_found                  = row != NULL && row->attempts == pawl__unit_attempts(unit) &&
                    row->generation == generation_of(unit) &&
                    worker->engine.machine_now < row->until;
    if (is_found)
        *why = row->why;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_found;
}

void pawl__outlived_settled(pawl__worker *worker, const pawl__unit *unit)
{
    pawl_endpoint  *endpoint = worker->endpoint;
    pawl__outlived *outlived = &endpoint->outlived;
    bool            has_any  = false;
    if (!atomic_load(&outlived->has_any))
        return;
    uint64_t key = key_of_unit(unit);
    pthread_mutex_lock(&endpoint->mutex);
    for (size_t i = 0; i < PAWL__OUTLIVED_MAX; i++) {
        if (outlived->rows[i].unit == key)
            outlived->rows[i].unit = 0;
        has_any |= outlived->rows[i].unit != 0;
    }
    atomic_store(&outlived->has_any, has_any);
    pthread_mutex_unlock(&endpoint->mutex);
}
