/* rowless_batch.c - runs messages that the inbound reader offers, and reports which of them are done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/worker.h"

#include "runtime/worker/commit.h"

/* Longest time that the queue, with its timeouts and retries, waits for messages of the broker. */
#define QUEUE_PERIOD PAWL_MILLISECONDS(5)

bool pawl__rowless_is_first(const pawl__worker *worker)
{
    return !worker->rowless.was_last || pawl__monotonic_now() < worker->rowless.queue_due;
}

void pawl__rowless_note_queue(pawl__worker *worker)
{
    worker->rowless.was_last  = false;
    worker->rowless.queue_due = pawl__monotonic_now() + QUEUE_PERIOD;
}

/* False while the queue is paused, after a crash, and during a probe of the breaker: then all messages become rows. */
static bool may_run(const pawl__worker *worker)
{
    pawl__permit permit = worker->breaker.permit;
    return (permit == PAWL__PERMIT_NONE || permit == PAWL__PERMIT_ALL) &&
           !atomic_load(&worker->endpoint->pause.is_paused) && !worker->is_marked;
}

/* ---- Filling the batch ---------------------------------------------------------------------- */

/* Hash table of the batch's message ids. A slot has the index of a unit + 1, or 0. */
typedef struct ids {
    uint32_t *slots;
    size_t    mask;
} ids;

static pawl_code make_ids(pawl__worker *worker, ids *made)
{
    size_t size = 2;
    while (size < worker->rowless.deliveries.count * 2)
        size *= 2;
    *made = (ids){pawl_arena_take(worker->batch->arena, size * sizeof made->slots[0]), size - 1};
    return made->slots != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* False: the batch has a message of this id already. There may be only one, as in a queue. */
static bool add_id(const pawl__batch *batch, const ids *known, pawl_text id)
{
    size_t at = pawl__text_hash(id);
    for (at &= known->mask; known->slots[at] != 0; at = (at + 1) & known->mask)
        if (pawl_text_equal(batch->units[known->slots[at] - 1].message.id, id))
            return false;
    known->slots[at] = (uint32_t)batch->unit_count + 1;
    return true;
}

/* The message has the place in the queue order that its row would have. Its number is negative, unlike that of any
 * row. */
static pawl_code add(pawl__worker *worker, const pawl_taken *taken, size_t index)
{
    pawl_queue_row row  = {.seq     = (int64_t)index - (int64_t)worker->rowless.deliveries.count,
                           .message = taken->message,
                           .due     = taken->due,
                           .placed  = taken->due};
    pawl_code      code = pawl__batch_add_message(worker->batch, &row, 0);
    if (code == PAWL_OK)
        worker->batch->units[worker->batch->unit_count - 1].is_rowless = true;
    return code;
}

static pawl_code fill(pawl__worker *worker)
{
    const pawl__deliveries *deliveries = &worker->rowless.deliveries;
    pawl__batch            *batch      = worker->batch;
    size_t                  index      = 0;
    ids                     known;
    pawl__batch_reset(batch);
    worker->rowless.done_flags =
        pawl_arena_take(batch->arena, deliveries->count * sizeof worker->rowless.done_flags[0]);
    pawl_code code = worker->rowless.done_flags != NULL ? make_ids(worker, &known) : PAWL_ENOMEM;
    for (size_t i = 0; i < deliveries->part_count && code == PAWL_OK; i++) {
        const pawl__inbound_part *part = &deliveries->parts[i];
        for (size_t j = part->first; j < part->first + part->count && code == PAWL_OK; j++) {
            const pawl_taken *taken           = &part->batch->takings.items[j];
            worker->rowless.done_flags[index] = &part->batch->is_done[j];
            if (add_id(batch, &known, taken->message.id))
                code = add(worker, taken, index);
            index++;
        }
    }
    return code;
}

/* ---- Running it ----------------------------------------------------------------------------- */

static bool *mark_of(const pawl__worker *worker, const pawl__unit *unit)
{
    return worker->rowless.done_flags[unit->row.seq + (int64_t)worker->rowless.deliveries.count];
}

/* Reports the messages whose ends are committed. Refused ones become rows, and run again from there. */
static void note_done(pawl__worker *worker, const pawl__outcome *outcome)
{
    const pawl__batch *batch = worker->batch;
    for (size_t i = 0; i < batch->unit_count; i++)
        *mark_of(worker, &batch->units[i]) = pawl__unit_is_done(&batch->units[i]);
    for (size_t i = 0; i < outcome->retry_count; i++)
        *mark_of(worker, &outcome->retries[i].unit) = false;
}

/* A failure that messages of the batch have caused is ignored here: they become rows, and the failure is handled when
 * these run. */
static pawl_code run(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    static const pawl__commit_mode mode = {.kind = PAWL__COMMIT_RUN};
    pawl__outcome                  outcome;
    pawl_error                     inner = PAWL_ERROR_INIT;
    pawl_arena_reset(worker->kept);
    pawl_code code = pawl__commit_batch(worker, &mode, &outcome, step, &inner);
    if (code == PAWL_OK && !worker->batch->is_all_busy)
        note_done(worker, &outcome);
    if (code == PAWL_OK ||
        (outcome.trouble != PAWL__TROUBLE_WORKER && outcome.trouble != PAWL__TROUBLE_MEMORY))
        return PAWL_OK;
    *error = inner;
    return code;
}

pawl_code pawl__rowless_run(pawl__worker *worker, bool *did, pawl_step *step, pawl_error *error)
{
    pawl__offers *offers = &worker->endpoint->offers;
    *did                 = may_run(worker) &&
           pawl__offers_take(offers, worker->claim_count, &worker->rowless.deliveries);
    if (!*did)
        return PAWL_OK;
    worker->rowless.was_last = true;
    worker->was_alone        = false;
    worker->cut_count        = 0;
    pawl_code code           = pawl__queue_pause_check(worker, error);
    if (code == PAWL_OK && may_run(worker)) {
        code = fill(worker);
        code = code == PAWL_OK
                   ? run(worker, step, error)
                   : pawl_error_set(error, code, "no memory for %zu messages of a broker",
                                    worker->rowless.deliveries.count);
    }
    pawl__offers_give(offers, &worker->rowless.deliveries);
    if (code == PAWL_OK)
        pawl__claim_adapt(worker);
    return code;
}
