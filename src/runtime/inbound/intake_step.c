/* intake_step.c - one step of an intake: take, commit, settle; or take, offer to workers, settle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/wake_fd.h"
#include "runtime/inbound/intake.h"

/* After this time a message that no worker has taken becomes a row, which other processes can claim. */
#define OFFER_TIME PAWL_MILLISECONDS(250)
#define END_TIME PAWL_SECONDS(2) /* stopping waits so long for messages in flight */
#define AHEAD_MAX PAWL_MILLISECONDS(1)

/* ---- Messages returned by workers ------------------------------------------------------------ */

static pawl_code settle_given(pawl__intake *it, pawl_error *error)
{
    pawl__offers *offers = &it->endpoint->offers;
    size_t        room   = pawl__offers_count(offers);
    pawl_takings  back   = {.count = 0};
    if (room == 0)
        return PAWL_OK;
    pawl_taken *done = pawl_arena_take(it->arena, room * sizeof *done);
    back.items       = pawl_arena_take(it->arena, room * sizeof *back.items);
    if (done == NULL || back.items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu messages of a broker", room);
    size_t done_count = pawl__offers_collect(offers, PAWL__DELIVERY_DONE, done);
    back.count        = pawl__offers_collect(offers, PAWL__DELIVERY_BACK, back.items);
    pawl_code code    = pawl__intake_settle(it, done, done_count, error);
    if (code == PAWL_OK)
        code = pawl__intake_store(it, &back, error);
    if (code == PAWL_OK && done_count + back.count > 0)
        pawl__offers_settled(offers);
    return code;
}

/* ---- Messages taken from the broker ----------------------------------------------------------- */

/* Due time of the first of `count` messages. Each gets a later one than its predecessor, so that their places in the
 * queue keep their order, whichever becomes a row first. Starts again if the clock was set back. */
static pawl_time first_due(pawl__intake *it, size_t count)
{
    pawl_time now   = pawl__business_now(it->endpoint);
    pawl_time first = now - (pawl_time)count;
    if (it->due_last >= first && it->due_last - first <= AHEAD_MAX)
        first = it->due_last + 1;
    it->due_last = first + (pawl_time)count - 1;
    return first;
}

/* Must all messages become rows at once? Yes while no worker claims, or messages run isolated. */
static bool is_standing(const pawl__intake *it)
{
    return atomic_load(&it->endpoint->pause.is_paused) ||
           pawl__isolation_is_pending(it->endpoint) ||
           atomic_load(&it->endpoint->breaker.state) != PAWL__BREAKER_CLOSED;
}

/* May a worker handle the message without a row? Not if it is redelivered: it may have crashed a process, and crashes
 * are counted in a row. */
static bool may_be_offered(const pawl__intake *it, const pawl_taken *taken, bool is_timed)
{
    return taken->refusal.size == 0 && taken->message.id.size > 0 && !taken->is_redelivered &&
           !is_timed && pawl__intake_is_fit(it, taken);
}

static void choose(pawl__intake *it, pawl__inbound_batch *batch)
{
    size_t    count    = batch->takings.count;
    bool      all_rows = is_standing(it);
    pawl_time due      = first_due(it, count);
    for (size_t i = 0; i < count; i++) {
        pawl_taken *taken    = &batch->takings.items[i];
        bool        is_timed = taken->due != 0;
        if (!is_timed)
            taken->due = due + (pawl_time)i;
        if (taken->message.correlation_id.size == 0)
            taken->message.correlation_id = taken->message.id;
        if (all_rows || !may_be_offered(it, taken, is_timed))
            batch->states[i] = PAWL__DELIVERY_BACK;
    }
}

static pawl_code offer(pawl__intake *it, pawl__inbound_batch *batch, pawl_error *error)
{
    pawl__offers *offers = &it->endpoint->offers;
    size_t        count  = batch->takings.count;
    pawl__intake_count(it, count);
    if (pawl__inbound_batch_ready(batch) != PAWL_OK) {
        pawl__offers_drop(offers, batch);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu messages of a broker", count);
    }
    choose(it, batch);
    pawl__offers_offer(offers, batch, pawl__monotonic_now());
    return settle_given(it, error); /* the others become rows at once */
}

static pawl_code take(pawl__intake *it, const pawl_take *by, pawl_arena *arena,
                      pawl_takings *takings, pawl_error *error)
{
    pawl__app_call_set_waits(&it->app_call, PAWL__WAITS_FOR_BROKER);
    pawl_code code = it->driver->ops->take(it->driver, by, arena, takings, error);
    pawl__app_call_set_waits(&it->app_call, NULL);
    if (code == PAWL_OK && takings->count > 0 && takings->items == NULL) {
        code           = pawl_error_set(error, PAWL_EPERSIST,
                                        "inbound transport '%s': take answered %zu messages, but no items",
                                        it->driver->ops->scheme, takings->count);
        takings->count = 0;
    }
    return pawl__app_call_answer(code, "inbound", error);
}

static pawl_code take_and_offer(pawl__intake *it, const pawl_take *by, size_t *count,
                                pawl_error *error)
{
    pawl__offers        *offers = &it->endpoint->offers;
    pawl__inbound_batch *batch  = pawl__offers_new_batch(offers);
    if (batch == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for messages of a broker");
    pawl_code code = take(it, by, batch->arena, &batch->takings, error);
    *count         = code == PAWL_OK ? batch->takings.count : 0;
    if (*count > 0)
        return offer(it, batch, error);
    pawl__offers_drop(offers, batch);
    return code;
}

static pawl_code settle_and_offer(pawl__intake *it, const pawl_take *by, size_t *count,
                                  pawl_error *error)
{
    pawl__offers *offers = &it->endpoint->offers;
    pawl_take     within = *by;
    /* Cleared first: messages returned from now on, and a stop, end the wait below. */
    (void)pawl__fd_clear(it->wake_fd);
    int64_t now = pawl__monotonic_now();
    pawl__offers_withdraw(offers, is_standing(it) ? INT64_MAX : now - OFFER_TIME);
    pawl_code code = settle_given(it, error);
    if (code != PAWL_OK || atomic_load(&it->endpoint->is_stopping))
        return code;
    int64_t since = pawl__offers_since(offers);
    if (since != INT64_MAX && within.wait > since + OFFER_TIME - now)
        within.wait = since + OFFER_TIME - now;
    if (!pawl__offers_is_full(offers, by->count_max))
        return take_and_offer(it, &within, count, error);
    pawl__fd_wait(it->wake_fd, within.wait);
    return PAWL_OK;
}

/* ---- One step ------------------------------------------------------------------------------------ */

static pawl_code take_and_store(pawl__intake *it, const pawl_take *by, size_t *count,
                                pawl_error *error)
{
    pawl_takings takings = {NULL, 0};
    pawl_code    code    = take(it, by, it->arena, &takings, error);
    if (code == PAWL_OK && takings.count > 0) {
        pawl__intake_count(it, takings.count);
        code = pawl__intake_store(it, &takings, error);
    }
    *count = takings.count;
    return code;
}

pawl_code pawl__intake_step(pawl__intake *it, int64_t wait, int wake_fd, size_t *count,
                            pawl_error *error)
{
    bool      is_offering = pawl__offers_is_on(&it->endpoint->offers);
    pawl_take by          = {.count_max = pawl__claim_limit(it->endpoint),
                             .size_max  = PAWL_CLAIM_SIZE_MAX,
                             .wait      = wait,
                             .wake_fd   = wake_fd,
                             .stop_fd   = it->endpoint->stop_fd};
    pawl_code code        = PAWL_OK;
    size_t    taken       = 0;
    *count                = 0;
    pawl_arena_reset(it->arena);
    /* The store is opened first: while it is unavailable, messages would be taken only to be returned. */
    if (it->store == NULL)
        code = pawl__endpoint_store_open_aside(it->endpoint, INT64_MAX, &it->store, error);
    if (code == PAWL_OK)
        code = pawl__intake_store_kept(it, error);
    if (code == PAWL_OK)
        code = is_offering ? settle_and_offer(it, &by, &taken, error)
                           : take_and_store(it, &by, &taken, error);
    pawl__inbound_state_note(it->endpoint, code, error);
    if (code != PAWL_OK) {
        pawl__intake_disconnect(it);
        return code;
    }
    *count = taken;
    pawl__metric_add(&it->endpoint->metrics, PAWL__METRIC_INTAKE_RECEIVED, 0, (int64_t)taken);
    return code;
}

/* ---- Beginning and ending ---------------------------------------------------------------------- */

void pawl__intake_begin_offers(pawl__intake *it, int wake_fd)
{
    it->wake_fd = wake_fd;
    if (!it->is_ordered && it->endpoint->settings.business == NULL)
        pawl__offers_begin(&it->endpoint->offers, wake_fd);
}

/* Takes what the broker has delivered already, but does not wait. */
static pawl_code take_last(pawl__intake *it, pawl_error *error)
{
    const pawl_inbound_ops *ops   = it->driver->ops;
    pawl_take               by    = {.count_max = pawl__claim_limit(it->endpoint),
                                     .size_max  = PAWL_CLAIM_SIZE_MAX,
                                     .wake_fd   = -1,
                                     .stop_fd   = it->endpoint->stop_fd};
    size_t                  count = 0;
    if (it->store == NULL || ops->finish == NULL)
        return PAWL_OK;
    pawl__app_call_set_waits(&it->app_call, PAWL__WAITS_FOR_BROKER);
    pawl_code code = ops->finish(it->driver, error);
    pawl__app_call_set_waits(&it->app_call, NULL);
    do {
        count = 0;
        if (code == PAWL_OK)
            code = take_and_offer(it, &by, &count, error);
    } while (code == PAWL_OK && count > 0);
    return code;
}

static void wait_for_workers(pawl__intake *it)
{
    int64_t end = pawl__monotonic_now() + END_TIME;
    for (;;) {
        int64_t rest = end - pawl__monotonic_now();
        (void)pawl__fd_clear(it->wake_fd);
        if (pawl__offers_in_flight(&it->endpoint->offers) == 0 || rest <= 0)
            break;
        pawl__fd_wait(it->wake_fd, rest);
    }
}

/* Writes rows for messages still in flight. If they are handled after all, deduplication records drop the rows. */
static pawl_code store_in_flight(pawl__intake *it, pawl_error *error)
{
    pawl__offers *offers = &it->endpoint->offers;
    size_t        room   = pawl__offers_count(offers);
    pawl_takings  left   = {.items = pawl_arena_take(it->arena, (room + 1) * sizeof *left.items)};
    if (left.items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu messages of a broker", room);
    left.count = pawl__offers_collect(offers, PAWL__DELIVERY_IN_FLIGHT, left.items);
    return pawl__intake_store(it, &left, error);
}

/* Turns all delivered messages into rows, or acknowledges them, while the rows of this process's workers still exist:
 * for a while nobody would see messages that return to the broker (connection_state.c). */
void pawl__intake_end_offers(pawl__intake *it)
{
    pawl__offers *offers = &it->endpoint->offers;
    pawl_error    error  = PAWL_ERROR_INIT;
    if (!pawl__offers_is_on(offers))
        return;
    pawl_arena_reset(it->arena);
    pawl_code code = take_last(it, &error);
    pawl__offers_withdraw(offers, INT64_MAX);
    wait_for_workers(it);
    if (code == PAWL_OK && it->store != NULL)
        code = settle_given(it, &error);
    if (code == PAWL_OK && it->store != NULL)
        code = store_in_flight(it, &error);
    if (code != PAWL_OK) {
        pawl__inbound_state_note(it->endpoint, code, &error);
        pawl_log(PAWL_LOG_DEBUG, "endpoint %s: last messages of a broker: %s",
                 it->endpoint->model->endpoint.data, error.text);
    }
    pawl__offers_end(offers);
}
