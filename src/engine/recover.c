/* recover.c - decides how a unit ends that failed or has to wait.
 *
 *     immediate retries   in memory, in unit.c
 *                         while the endpoint is being stopped: the claim is freed instead
 *     delayed retries     the row gets a later due time, doubling, with jitter
 *     dead letter         after these; at once for a failure that every run would meet. A row of
 *                         pawl/recovery.h may have it discarded instead. Never for an event of a
 *                         projection. A stream that cannot be read fails with
 *                         PAWL_ECONFIG, which has retries (stream.c)
 *     wait                "no saga yet": 50 ms doubling to 1 s; no attempt is counted
 *     unread              another version of a record: every version_delay, no attempt, for ever
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#define WAIT_FIRST PAWL_MILLISECONDS(50)
#define WAIT_LAST PAWL_SECONDS(1)
/* All events behind one that failed wait for it. */
#define EVENT_DELAY PAWL_SECONDS(1)
#define EVENT_DELAY_MAX PAWL_MINUTES(1)
/* After an unreadable message "no saga" is not final for this time: it may begin the saga. */
#define UNREAD_KNOWN PAWL_MINUTES(5)
#define UNREAD_LOG_PERIOD PAWL_MINUTES(1)

bool pawl__code_is_hopeless(pawl_code code)
{
    switch (code) {
    case PAWL_REJECT:
    case PAWL_EINVAL:
    case PAWL_EDECODE:
    case PAWL_ELIMIT:
    case PAWL_EMISMATCH:
    case PAWL_EUNSUPPORTED: return true;
    default: return false;
    }
}

/* May the unit succeed when it runs again at once, in memory? */
static bool is_worth_again(pawl_code code)
{
    return code == PAWL_RETRY || (code != PAWL_REJECT && code != PAWL_RETRY_AFTER &&
                                  pawl_code_retry(code) != PAWL_RETRY_NEVER);
}

/* ---- Rows of pawl/recovery.h --------------------------------------------------- */

/* An empty row: the endpoint's options and the code decide. */
static const pawl_recovery nothing_declared;

/* The first row that matches the failure. Rows apply to messages and timeouts only: a discarding row would delete a
 * schedule, which is retried for ever. */
static const pawl_recovery *row_of(const pawl__engine *engine, const pawl__unit *unit,
                                   pawl_code code)
{
    const pawl__recovery *recovery = engine->recovery;
    if (recovery == NULL || unit->kind == PAWL__UNIT_FLUSH || unit->kind == PAWL__UNIT_EVENT ||
        unit->kind == PAWL__UNIT_SCHEDULE)
        return &nothing_declared;
    for (size_t i = 0; i < recovery->count; i++) {
        const pawl_recovery *row = &recovery->rows[i];
        if ((row->code == PAWL_OK || row->code == code) &&
            (row->type == NULL || pawl_text_equal(pawl_text_of(row->type), unit->message.type)))
            return row;
    }
    return &nothing_declared;
}

/* The row's number of retries, or `without` if the row declares none. */
static int32_t retries_of(int32_t declared, int32_t without)
{
    if (declared == 0)
        return without;
    return declared > 0 ? declared : 0;
}

int32_t pawl__unit_runs_again(const pawl__engine *engine, const pawl__unit *unit, pawl_code code)
{
    /* A version that is not read yet is not a failure. */
    if (code == PAWL_EVERSION || code == PAWL_RETRY_AFTER || unit->is_rowless)
        return 0;
    return retries_of(row_of(engine, unit, code)->immediate,
                      is_worth_again(code) ? engine->immediate_retries : 0);
}

bool pawl__unit_release(pawl__unit *unit)
{
    if (unit->kind == PAWL__UNIT_EVENT)
        return false;
    unit->end = PAWL__END_RELEASED;
    return true;
}

/* ---- Later --------------------------------------------------------------------- */

/* The delay doubles with each attempt, with jitter. */
static int64_t back_off(pawl__engine *engine, const pawl_recovery *row, int32_t attempts)
{
    int64_t first = row->delay != 0 ? row->delay : engine->retry_delay;
    int64_t last  = pawl__recovery_delay_max(row, engine->retry_delay_max);
    return pawl__jittered(pawl__doubled(first, attempts, last), engine->random);
}

bool pawl__unit_is_done(const pawl__unit *unit)
{
    return unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DUPLICATE ||
           unit->end == PAWL__END_DISCARDED || unit->end == PAWL__END_DEAD;
}

bool pawl__unit_is_deferred(const pawl__unit *unit)
{
    return unit->end == PAWL__END_RETRY || unit->end == PAWL__END_WAIT ||
           unit->end == PAWL__END_UNREAD || unit->end == PAWL__END_SAGA_BUSY ||
           unit->end == PAWL__END_HELD;
}

/* A message without a row becomes a row before it runs again. It ends RELEASED and counts as unhandled until then. */
static bool is_left_to_row(const pawl__batch *batch, pawl__unit *unit, pawl_code code,
                           pawl_text error)
{
    if (!unit->is_rowless)
        return false;
    unit->end   = PAWL__END_RELEASED;
    unit->code  = code;
    unit->error = error;
    if (code != PAWL_OK)
        pawl_log(
            PAWL_LOG_INFO,
            "message %.*s of type %.*s failed before it was in queue %.*s, and runs again from "
            "there: %s: %.*s",
            PAWL_TEXT_ARGS(unit->message.id), PAWL_TEXT_ARGS(unit->message.type),
            PAWL_TEXT_ARGS(batch->engine->model->queue), pawl_code_name(code),
            PAWL_TEXT_ARGS(error));
    return true;
}

void pawl__unit_dead(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error)
{
    if (is_left_to_row(batch, unit, code, error))
        return;
    pawl__unit_note(batch, unit, code, error);
    unit->end   = PAWL__END_DEAD;
    unit->code  = code;
    unit->error = error;
}

int32_t pawl__unit_attempts(const pawl__unit *unit)
{
    switch (unit->kind) {
    case PAWL__UNIT_MESSAGE:
    case PAWL__UNIT_EVENT: return unit->row.attempts;
    case PAWL__UNIT_TIMEOUT:
    case PAWL__UNIT_SCHEDULE:
    case PAWL__UNIT_FORWARD: return unit->timeout.attempts;
    case PAWL__UNIT_FLUSH: return unit->flush.attempts;
    }
    return 0;
}

/* Sets the next run of a failed event, for every code and number of attempts, since an event is never
 * dead-lettered. There is always a pause. The due time is machine time. */
static void fail_event(const pawl__engine *engine, pawl__unit *unit, pawl_code code,
                       pawl_text error, int64_t asked_delay)
{
    int64_t delay = pawl__doubled(EVENT_DELAY, unit->row.attempts, EVENT_DELAY_MAX);
    if (asked_delay >= 0)
        delay = asked_delay > 0 ? asked_delay : EVENT_DELAY;
    unit->end   = PAWL__END_RETRY;
    unit->code  = code;
    unit->error = error;
    unit->due   = pawl_time_add(engine->machine(engine->runtime), delay);
}

bool pawl__may_log_type(pawl__engine *engine, pawl_text type)
{
    uint64_t      name = pawl__text_hash(type);
    pawl__unread *seen = &engine->unread[name % PAWL__UNREAD_COUNT];
    if (seen->name == name && engine->machine_now < seen->due)
        return false;
    *seen = (pawl__unread){name, pawl_time_add(engine->machine_now, UNREAD_LOG_PERIOD)};
    return true;
}

/* A version that this program does not read is not a failure of the message: it waits for a program
 * that reads it, for as long as it takes. */
static void wait_for_version(pawl__batch *batch, pawl__unit *unit, pawl_text error)
{
    pawl__engine *engine = batch->engine;
    pawl_text type = unit->kind == PAWL__UNIT_FLUSH ? unit->flush.partition : unit->message.type;
    unit->end      = PAWL__END_UNREAD;
    unit->code     = PAWL_EVERSION;
    unit->error    = error;
    /* From the business clock, not the unit's time: a test may set the clock far ahead, and the unit would then be due
     * again at once, many times. */
    unit->due            = pawl_time_add(engine->business(engine->runtime),
                                         pawl__jittered(engine->version_delay, engine->random));
    engine->unread_until = pawl_time_add(engine->machine_now, UNREAD_KNOWN);
    if (pawl__may_log_type(engine, type))
        pawl_log(PAWL_LOG_WARNING,
                 "queue %.*s: %.*s waits, and others like it may: %.*s; it is handled as soon as a "
                 "program that reads this version runs",
                 PAWL_TEXT_ARGS(engine->model->queue), PAWL_TEXT_ARGS(type), PAWL_TEXT_ARGS(error));
}

/* How often a unit that failed with `code` runs again later. */
static int32_t delayed_limit(const pawl__engine *engine, const pawl__unit *unit, pawl_code code,
                             const pawl_recovery *row)
{
    if (unit->kind == PAWL__UNIT_FLUSH)
        return unit->aggregator->attempts_max - 1;
    return retries_of(row->delayed, pawl__code_is_hopeless(code) ? 0 : engine->delayed_retries);
}

void pawl__unit_fail(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error,
                     int64_t asked_delay)
{
    pawl__engine        *engine   = batch->engine;
    const pawl_recovery *row      = row_of(engine, unit, code);
    int32_t              attempts = pawl__unit_attempts(unit);
    if (is_left_to_row(batch, unit, code, error))
        return;
    if (unit->kind == PAWL__UNIT_EVENT) {
        fail_event(engine, unit, code, error, asked_delay);
        return;
    }
    if (code == PAWL_EVERSION) {
        wait_for_version(batch, unit, error);
        return;
    }
    /* crashes_max is a limit of its own: no declared retry overrides it. */
    if (code == PAWL_ECRASHED) {
        pawl__unit_dead(batch, unit, code, error);
        return;
    }
    if (attempts >= delayed_limit(engine, unit, code, row)) {
        pawl__unit_dead(batch, unit, code, error);
        if (row->then == PAWL_THEN_DISCARD)
            unit->end = PAWL__END_DISCARDED;
        return;
    }
    pawl__unit_note(batch, unit, code, error);
    unit->end   = PAWL__END_RETRY;
    unit->code  = code;
    unit->error = error;
    /* The delay begins at the failure, which may be long after the unit's time: other units of the batch were slow. */
    unit->due = pawl_time_add(engine->is_virtual ? unit->now : engine->business(engine->runtime),
                              asked_delay >= 0 ? asked_delay : back_off(engine, row, attempts));
}

bool pawl__unit_wait(pawl__batch *batch, pawl__unit *unit)
{
    pawl__engine *engine = batch->engine;
    if (unit->kind != PAWL__UNIT_MESSAGE)
        return true;
    if (is_left_to_row(batch, unit, PAWL_OK, unit->error))
        return false;
    pawl_time since     = unit->row.waiting_since;
    int64_t   waited    = since != 0 ? engine->machine_now - since : 0;
    bool      is_unread = since != 0 && engine->machine_now < engine->unread_until;
    if (is_unread && waited >= engine->not_found_wait / 2) {
        /* The unread message may begin the saga. The wait begins anew, so that enough of it is left
         * when a program comes that reads it. */
        unit->row.waiting_since = engine->machine_now;
        waited                  = WAIT_LAST;
    }
    if (since != 0 && waited >= engine->not_found_wait)
        return true;
    int64_t delay = WAIT_FIRST;
    while (delay < waited && delay < WAIT_LAST)
        delay *= 2;
    unit->end = PAWL__END_WAIT;
    unit->due = pawl_time_add(is_unread ? engine->business(engine->runtime) : unit->now,
                              delay < WAIT_LAST ? delay : WAIT_LAST);
    return false;
}
