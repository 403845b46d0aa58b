/* settle.c - writes the results of a pass in one commit.
 *
 *     pending -> dispatched      delivered; into a queue of this store by the
 *                                same commit
 *     pending -> pending, later  transient failure; later rows of the same
 *                                source are held
 *     pending -> dead            rejected, poison, or attempts used up
 *     held    -> pending         when the row before is settled
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"
#include "runtime/outbox/dispatcher.h"

/* Tries of a commit. Rows that an operator settled meanwhile are refused, and the next try leaves them out. */
#define TRIES_MAX 4

/* Attempts since the row was written, or enabled again by an operator. */
static int32_t attempts_of(const pawl_outbox_row *row)
{
    return row->attempts + 1 - row->attempts_before;
}

/* Did an earlier row of its source fail, too? Then the row is held, and its attempt does not count. */
static bool is_behind_failed(const pawl__round *round, const pawl__round_row *row)
{
    const pawl__round_row *previous = pawl__round_previous(round, row);
    if (previous == NULL || row->delivery.outcome != PAWL_ATTEMPT_TRANSIENT)
        return false;
    return previous->state == PAWL__ROW_LEFT || previous->state == PAWL__ROW_AWAY ||
           (previous->state == PAWL__ROW_CHOSEN &&
            previous->delivery.outcome == PAWL_ATTEMPT_TRANSIENT);
}

/* Decides about the chosen rows before anything is written. */
static void judge(const pawl__service *service, pawl__round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        pawl__round_row *row = &round->rows[i];
        if (row->state == PAWL__ROW_CHOSEN && is_behind_failed(round, row))
            row->state = PAWL__ROW_LEFT;
    }
    for (size_t i = 0; i < round->count; i++) {
        pawl__round_row *row = &round->rows[i];
        if (row->state == PAWL__ROW_CHOSEN && row->delivery.outcome == PAWL_ATTEMPT_TRANSIENT &&
            attempts_of(row->row) >= service->endpoint->settings.outbox_attempts)
            row->delivery.outcome = PAWL_ATTEMPT_POISON;
    }
}

/* Does the commit itself deliver the row? */
static bool is_delivered_here(const pawl__round_row *row)
{
    return row->delivery.outcome == PAWL_ATTEMPT_SUCCESS && pawl__outbound_is_here(row->outbound);
}

static void count_attempt(const pawl__service *service, const pawl__round_row *row,
                          int64_t duration, pawl_time now)
{
    pawl__observe_attempt(service->endpoint, row->row, row->delivery.outcome, duration, now);
}

/* Counts the attempts once, even if the commit fails. */
static void count_attempts(const pawl__service *service, const pawl__round *round)
{
    pawl_time now = pawl__machine_now(service->endpoint);
    for (size_t i = 0; i < round->count; i++) {
        const pawl__round_row *row = &round->rows[i];
        if (row->state == PAWL__ROW_CHOSEN && !is_delivered_here(row))
            count_attempt(service, row, row->duration, now);
    }
}

static pawl_outbox_state state_of(const pawl__round_row *row)
{
    switch (row->delivery.outcome) {
    case PAWL_ATTEMPT_SUCCESS: return PAWL_OUTBOX_DISPATCHED;
    case PAWL_ATTEMPT_TRANSIENT: return PAWL_OUTBOX_PENDING;
    default: return PAWL_OUTBOX_DEAD;
    }
}

/* Does an earlier row of the source wait for its next attempt? */
static bool is_behind_waiting(const pawl__round *round, const pawl__round_row *row)
{
    const pawl__round_row *previous = pawl__round_previous(round, row);
    if (row->state == PAWL__ROW_MET || previous == NULL)
        return row->state == PAWL__ROW_MET;
    return previous->state == PAWL__ROW_CHOSEN
               ? previous->delivery.outcome == PAWL_ATTEMPT_TRANSIENT
               : previous->is_behind;
}

/* Holds a row after one that waits, or releases the source of a settled one. Later rows of the source outside the round
 * are held when a claim finds them: to search for them now would read all pending rows. */
static void put_block(const pawl__service *service, pawl_changes *changes,
                      const pawl__round_row *row, uint32_t index)
{
    pawl_text source     = pawl__round_source(row->row);
    bool      is_settled = row->state == PAWL__ROW_CHOSEN;
    bool      waits      = row->delivery.outcome == PAWL_ATTEMPT_TRANSIENT;
    if (source.size == 0 ||
        (is_settled ? waits || !pawl__leader_is_waiting(service, source) : !row->is_behind))
        return;
    changes->outbox_block.items[changes->outbox_block.count++] =
        (pawl_outbox_block){.unit       = index,
                            .source     = source,
                            .id         = is_settled ? 0 : row->row->id,
                            .is_unblock = is_settled};
}

/* Sets the next attempt. While a route is unavailable, rows that were tried before are read separately. */
static void put_off(pawl__service *service, const pawl__round_row *row, pawl_outbox_settle *settle)
{
    int64_t pause         = pawl__outbox_pause(service, attempts_of(row->row) - 1,
                                               service->endpoint->settings.outbox_delay_max);
    settle->next_attempt  = pawl_time_add(settle->at, pause);
    service->outbox_retry = pawl__sooner(service->outbox_retry, settle->next_attempt);
    service->unavailable.tried_due =
        pawl__sooner(service->unavailable.tried_due, settle->next_attempt);
}

static void put_settle(pawl__service *service, pawl_changes *changes, const pawl__round_row *row,
                       uint32_t index)
{
    const pawl_delivery *delivery = &row->delivery;
    pawl_outbox_settle  *settle   = &changes->outbox_settle.items[changes->outbox_settle.count++];
    *settle                       = (pawl_outbox_settle){.unit         = index,
                                                         .id           = row->row->id,
                                                         .source       = row->row->source,
                                                         .state        = state_of(row),
                                                         .attempts     = row->row->attempts + 1,
                                                         .next_attempt = changes->now,
                                                         .outcome      = delivery->outcome,
                                                         .error        = delivery->error,
                                                         .at           = changes->now,
                                                         .duration     = row->duration};
    if (delivery->outcome == PAWL_ATTEMPT_TRANSIENT)
        put_off(service, row, settle);
    if (is_delivered_here(row))
        changes->queue_send.items[changes->queue_send.count++] =
            (pawl_queue_send){.unit    = index,
                              .queue   = delivery->queue,
                              .message = delivery->message,
                              .due     = delivery->due};
}

static pawl_code make_changes(pawl__service *service, pawl__round *round, pawl_changes *changes,
                              pawl_error *error)
{
    pawl_arena *arena = service->arena;
    size_t      count = round->count;
    *changes          = (pawl_changes){.group_count = 1,
                                       .unit_count  = (uint32_t)count,
                                       .now         = pawl__machine_now(service->endpoint)};
    changes->outbox_settle.items =
        pawl_arena_take(arena, count * sizeof changes->outbox_settle.items[0]);
    changes->outbox_block.items =
        pawl_arena_take(arena, count * sizeof changes->outbox_block.items[0]);
    changes->queue_send.items = pawl_arena_take(arena, count * sizeof changes->queue_send.items[0]);
    if (changes->outbox_settle.items == NULL || changes->outbox_block.items == NULL ||
        changes->queue_send.items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to settle outbox rows");
    for (uint32_t i = 0; i < count; i++) {
        pawl__round_row *row = &round->rows[i];
        row->is_behind       = is_behind_waiting(round, row);
        if (row->state == PAWL__ROW_CHOSEN)
            put_settle(service, changes, row, i);
        put_block(service, changes, row, i);
    }
    return PAWL_OK;
}

/* Leaves out rows that an operator settled meanwhile, and reads again whether their sources wait. */
static pawl_code leave_refused(pawl__service *service, pawl__round *round,
                               const pawl_refusals *refused)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < refused->count && code == PAWL_OK; i++) {
        pawl__round_row *row = &round->rows[refused->items[i].unit];
        row->state           = PAWL__ROW_LEFT;
        code = pawl__leader_set_waiting(service, pawl__round_source(row->row), false);
    }
    service->orphans_due   = PAWL_TIME_MIN;
    service->lease_renewal = PAWL_TIME_MIN; /* asked before the next claim */
    return code;
}

/* Commits. After PAWL_OK with is_leader, the rows still chosen are settled in the store. */
static pawl_code commit(pawl__service *service, pawl__round *round, pawl_error *error)
{
    pawl_changes changes;
    for (int i = 0; i < TRIES_MAX; i++) {
        pawl_refusals refused = {.arena = service->arena};
        pawl_code     code    = make_changes(service, round, &changes, error);
        if (code != PAWL_OK || changes.outbox_settle.count + changes.outbox_block.count == 0)
            return code;
        code = pawl__leader_commit(service, &changes, &refused, error);
        if (code != PAWL_OK || !service->is_leader || refused.count == 0)
            return code;
        code = leave_refused(service, round, &refused);
        if (code != PAWL_OK)
            return code;
    }
    return pawl_error_set(error, PAWL_ECONFLICT, "rows are settled by others again and again");
}

static void say_dead(const pawl__round_row *row)
{
    int32_t attempts = attempts_of(row->row);
    pawl_log(PAWL_LOG_ERROR, "outbox: message %.*s for '%.*s' is dead after %d attempt%s: %.*s",
             PAWL_TEXT_ARGS(row->row->message.id), PAWL_TEXT_ARGS(row->row->destination), attempts,
             attempts == 1 ? "" : "s", PAWL_TEXT_ARGS(row->delivery.error));
}

/* Updates the dispatcher's state after a row was committed. */
static pawl_code note(pawl__service *service, pawl__round_row *row, int64_t duration, pawl_time now,
                      pawl_step *step)
{
    bool waits = row->delivery.outcome == PAWL_ATTEMPT_TRANSIENT;
    if (row->state != PAWL__ROW_CHOSEN)
        return PAWL_OK;
    if (is_delivered_here(row))
        count_attempt(service, row, duration, now);
    row->state = waits ? PAWL__ROW_LEFT : PAWL__ROW_SETTLED;
    step->sent += row->delivery.outcome == PAWL_ATTEMPT_SUCCESS;
    step->is_idle = step->is_idle && waits;
    if (state_of(row) == PAWL_OUTBOX_DEAD)
        say_dead(row);
    if (!waits && pawl__leader_is_waiting(service, pawl__round_source(row->row)))
        pawl__unavailable_go_back(service, row->row->id); /* later rows are released */
    return pawl__leader_set_waiting(service, pawl__round_source(row->row), waits);
}

pawl_code pawl__round_settle(pawl__service *service, pawl__round *round, pawl_step *step,
                             pawl_error *error)
{
    judge(service, round);
    count_attempts(service, round);
    pawl_code code  = pawl__leader_check(service, error);
    int64_t   begin = pawl__monotonic_now();
    if (code == PAWL_OK && service->is_leader)
        code = commit(service, round, error);
    int64_t   duration = pawl__monotonic_now() - begin;
    pawl_time now      = pawl__machine_now(service->endpoint);
    if (code != PAWL_OK)
        return code;
    if (!service->is_leader) {
        pawl_log(PAWL_LOG_WARNING,
                 "outbox of %s: another dispatcher leads; it delivers again what "
                 "was delivered and not settled",
                 service->endpoint->model->endpoint.data);
        return PAWL_OK;
    }
    for (size_t i = 0; i < round->count && code == PAWL_OK; i++) {
        pawl__round_row *row = &round->rows[i];
        step->is_idle        = step->is_idle && !row->is_behind; /* held now: more may follow */
        if (row->state == PAWL__ROW_MET)
            row->state = PAWL__ROW_LEFT;
        code = note(service, row, duration, now, step);
    }
    return code == PAWL_ENOMEM
               ? pawl_error_set(error, code, "no memory for ordering keys that wait")
               : code;
}
