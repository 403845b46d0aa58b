/* dispatch.c - the dispatcher: delivers outbox rows to the outbound transports of their routes.
 *
 *     a round:  claim pending rows -> { choose -> deliver, outbound transport by outbound transport -> settle }*
 *
 * A round has several passes, to keep the order of each source: only one unsettled row of a source is in flight at a
 * time, except for consecutive rows to one outbound transport that keeps their order. Examples of a source's rows, by
 * outbound transport, and their passes:
 *
 *     outbound transports, all keeping order   A A A B A        1 1 1 2 3
 *     one that does not                        C C C            1 2 3
 *
 * If the store has more rows, a few remaining ones wait for the next round: another pass for them alone would cost a
 * confirm and a commit.
 *
 * After a row that failed, later rows of its source are held until it is settled; a dead row blocks nothing (O14).
 * settle.c explains the states.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

#define FEW_PART 4 /* less than this part of a round is "a few" */

/* ---- A round ----------------------------------------------------------------------- */

static void prepare_row(pawl__service *service, pawl__round_row *row)
{
    row->outbound     = pawl__outbound_find(service, row->row->destination);
    const char *queue = row->outbound != NULL ? row->outbound->route->queue : NULL;
    row->delivery =
        (pawl_delivery){.queue   = queue != NULL ? pawl_text_of(queue) : row->row->destination,
                        .message = row->row->message};
}

/* State at the start of a round. A row after one that was tried before and waits has to be held.
 * If that one is in the round, too, the later row is left, as held rows, which are not in the
 * round, may belong between the two.
 *
 *     in the store   1 waits, due   2 held   3 held   4 pending
 *     claimed        1                                4
 *     this round     1 settled      2, 3 released     4 left
 *     the next one                  2        3        4
 */
static pawl__row_state first_state(pawl__service *service, const pawl__round *round,
                                   const pawl__round_row *row)
{
    const pawl__round_row *previous = pawl__round_previous(round, row);
    if (pawl__unavailable_waits(service, round, row))
        return PAWL__ROW_AWAY;
    if (row->row->attempts > 0 || !pawl__leader_is_waiting(service, row->row->source))
        return PAWL__ROW_OPEN;
    return previous == NULL || previous->state == PAWL__ROW_MET ? PAWL__ROW_MET : PAWL__ROW_LEFT;
}

static pawl_code prepare(pawl__service *service, const pawl_outbox_rows *rows, pawl__round *round,
                         pawl_error *error)
{
    pawl__source_table last = {.arena = service->arena};
    *round                  = (pawl__round){.count = rows->count, .term = service->term};
    round->is_full          = rows->count >= (size_t)service->endpoint->settings.outbox_batch;
    round->rows             = pawl_arena_take(service->arena, rows->count * sizeof round->rows[0]);
    pawl_code code          = round->rows != NULL ? PAWL_OK : PAWL_ENOMEM;
    for (size_t i = 0; i < rows->count && code == PAWL_OK; i++) {
        pawl__round_row *row = &round->rows[i];
        row->row             = &rows->items[i];
        pawl_text source     = pawl__round_source(row->row);
        row->previous        = pawl__source_table_get(&last, source);
        code                 = pawl__source_table_put(&last, source, i + 1);
        prepare_row(service, row);
        row->state = first_state(service, round, row);
    }
    return code == PAWL_OK ? code : pawl_error_set(error, code, "no memory for outbox rows");
}

static bool may_be_sent(const pawl__round *round, const pawl__round_row *row)
{
    const pawl__round_row *previous = pawl__round_previous(round, row);
    if (previous == NULL || previous->state == PAWL__ROW_SETTLED)
        return true;
    return previous->state == PAWL__ROW_CHOSEN && row->outbound != NULL &&
           previous->outbound == row->outbound && pawl__outbound_keeps_order(row->outbound);
}

/* Is another pass worth its confirm and its commit? */
static bool is_worth_a_pass(const pawl__round *round)
{
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++)
        count += round->rows[i].state == PAWL__ROW_OPEN && may_be_sent(round, &round->rows[i]);
    return count > 0 && (!round->is_full || count >= round->count / FEW_PART);
}

static void choose(pawl__service *service, pawl__round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        pawl__round_row *row = &round->rows[i];
        if (row->state == PAWL__ROW_OPEN && pawl__unavailable_waits(service, round, row))
            row->state = PAWL__ROW_AWAY;
        if (row->state == PAWL__ROW_OPEN && may_be_sent(round, row))
            row->state = PAWL__ROW_CHOSEN;
    }
}

/* May rows of the round be sent? Not if the lease was lost since they were claimed. */
static bool may_send(const pawl__service *service, const pawl__round *round)
{
    return service->is_leader && service->term == round->term;
}

static void give_up(pawl__round *round, size_t begin, const pawl__outbound *outbound)
{
    for (size_t i = begin; i < round->count; i++)
        if (round->rows[i].state == PAWL__ROW_CHOSEN && round->rows[i].outbound == outbound)
            round->rows[i].state = PAWL__ROW_LEFT;
}

static void note_answer(pawl__service *service, pawl__outbound *outbound, pawl_text why)
{
    if (why.size > 0)
        pawl__unavailable_begin(service, outbound, why);
    else if (outbound != NULL && outbound->away_tries > 0)
        pawl__unavailable_end(service, outbound);
}

/* Delivers outbound transport by outbound transport, in the order of their first rows. */
static pawl_code deliver(pawl__service *service, pawl__round *round, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < round->count && code == PAWL_OK; i++) {
        const pawl__round_row *row = &round->rows[i];
        if (row->state != PAWL__ROW_CHOSEN || row->is_handed)
            continue;
        code = pawl__leader_check(service, error);
        if (code != PAWL_OK || !may_send(service, round)) {
            give_up(round, i, row->outbound);
            continue;
        }
        pawl_time begin = pawl__leader_delivery_begin(service);
        pawl_text why   = pawl__outbound_deliver(service, round, row->outbound);
        if (pawl__app_call_is_given_up(&service->app_call))
            return pawl_error_set(error, PAWL_EFENCED, "stopping abandoned the rows in flight");
        note_answer(service, row->outbound, why);
        pawl__leader_delivery_end(service, begin);
    }
    return code;
}

static pawl_code run_round(pawl__service *service, pawl__round *round, pawl_step *step,
                           pawl_error *error)
{
    pawl_code code;
    do {
        pawl_arena_point point = pawl_arena_position(service->arena);
        choose(service, round);
        code = deliver(service, round, error);
        if (code == PAWL_OK)
            code = pawl__round_settle(service, round, step, error);
        pawl_arena_rewind(service->arena, point);
    } while (code == PAWL_OK && is_worth_a_pass(round) && may_send(service, round));
    return code;
}

/* ---- When -------------------------------------------------------------------------- */

static void rest(pawl__service *service, pawl_time now, pawl_time until)
{
    service->outbox_due =
        pawl__sooner(until, pawl_time_add(now, service->endpoint->settings.outbox_idle));
}

static pawl_code run_rows(pawl__service *service, const pawl_outbox_rows *rows, pawl__round *round,
                          pawl_step *step, pawl_error *error)
{
    pawl_code code = prepare(service, rows, round, error);
    return code == PAWL_OK ? run_round(service, round, step, error) : code;
}

/* Makes a claim to clear the wake-up of the handle. Plain reads do not clear it, so the next wait would end at once. */
static pawl_code take_wake_off(const pawl__service *service, pawl_time now, pawl_error *error)
{
    pawl_outbox_rows rows = {.count = 0};
    return pawl__store_keeps_wake(service->store)
               ? pawl_store_outbox_claim(service->store, service->endpoint->model->endpoint, now, 1,
                                         service->arena, &rows, error)
               : PAWL_OK;
}

/* Runs rounds while a route is unavailable: its rows are left, and later ones of other routes are delivered. */
static pawl_code drain_others(pawl__service *service, pawl_time now, pawl_step *step,
                              pawl_error *error)
{
    pawl_outbox_rows rows  = {.count = 0};
    pawl__round      round = {.count = 0};
    pawl_code        code  = take_wake_off(service, now, error);
    if (code == PAWL_OK)
        code = pawl__unavailable_read(service, now, &rows, error);
    if (code == PAWL_OK && rows.count > 0)
        code = run_rows(service, &rows, &round, step, error);
    if (code == PAWL_OK && service->is_leader)
        code = pawl__unavailable_pass(service, &round, error);
    if (code == PAWL_OK && service->unavailable.is_last)
        rest(service, now, pawl__sooner(service->unavailable.due, service->unavailable.tried_due));
    else
        step->is_idle = false;
    return code;
}

static pawl_code drain(pawl__service *service, pawl_time now, pawl_step *step, pawl_error *error)
{
    pawl_outbox_rows rows = {.count = 0, .next_attempt = PAWL_TIME_MAX};
    pawl__round      round;
    if (pawl__unavailable_is_any(service))
        return drain_others(service, now, step, error);
    pawl_code code = pawl_store_outbox_claim(service->store, service->endpoint->model->endpoint,
                                             now, (size_t)service->endpoint->settings.outbox_batch,
                                             service->arena, &rows, error);
    service->outbox_retry = rows.next_attempt;
    if (code == PAWL_OK && rows.count > 0) {
        code          = run_rows(service, &rows, &round, step, error);
        step->is_idle = step->is_idle && !pawl__unavailable_is_any(service);
        return code;
    }
    rest(service, now, rows.next_attempt);
    return code;
}

/* Adds the endpoint's name to a failure, but not to an interruption (O30). */
static pawl_code name_failure(const pawl__service *service, pawl_code code, pawl_error *error)
{
    if (code == PAWL_OK || code == PAWL_EINTERRUPTED)
        return code;
    return pawl_error_wrap(error, code, "outbox of %s", service->endpoint->model->endpoint.data);
}

pawl_code pawl__outbox_run(pawl__service *service, pawl_step *step, pawl_error *error)
{
    pawl_time now            = pawl__machine_now(service->endpoint);
    bool      is_renewal_due = service->is_leader && now >= service->lease_renewal;
    if (service->endpoint->route_count == 0 || (now < service->outbox_due && !is_renewal_due))
        return PAWL_OK;
    pawl_arena_reset(service->arena);
    pawl_code code = pawl__leader_keep(service, error);
    if (code != PAWL_OK || !service->is_leader) {
        service->outbox_due = service->lease_renewal;
        return name_failure(service, code, error);
    }
    if (now >= service->outbox_due)
        code = drain(service, now, step, error);
    return name_failure(service, code, error);
}
