/* claim.c - claims rows for a worker's batch, and decides the size and time of the next claim; reads
 * whether the queue is paused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_queue.h"
#include "runtime/runtime.h"

#define SHORT_TIME PAWL_MINUTES(1)

/* Of a row's history, in bytes. The lists that pawl writes end far below it, so it is a row that another program wrote:
 * with the attempts that are added, or in another form of the same JSON, no store might take it again. */
#define HISTORY_SIZE_MAX (1024 * 1024)

/* An overlong history is dropped, and the attempts from now on begin a new one. */
static pawl_code claim_rows(pawl__worker *worker, const pawl_queue_claim *claim, pawl_arena *arena,
                            pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = pawl_store_queue_claim(worker->store, claim, arena, rows, error);
    for (size_t i = 0; i < rows->count; i++) {
        pawl_queue_row *row = &rows->items[i];
        if (row->history.size <= HISTORY_SIZE_MAX)
            continue;
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: message %.*s: its history is dropped: it has %zu bytes, limit %d",
                 worker->endpoint->model->endpoint.data, PAWL_TEXT_ARGS(row->message.id),
                 row->history.size, HISTORY_SIZE_MAX);
        row->history = PAWL_TEXT("");
    }
    return code;
}

pawl_code pawl__claim_messages(pawl__worker *worker, pawl_time due_max, pawl_queue_rows *rows,
                               pawl_error *error)
{
    pawl_queue_claim claim = {.queue     = worker->endpoint->model->queue,
                              .due_max   = due_max,
                              .count_max = worker->claim_count,
                              .now       = worker->engine.machine_now,
                              .size_max  = PAWL_CLAIM_SIZE_MAX};
    size_t           size  = 0;
    pawl_code        code  = claim_rows(worker, &claim, worker->batch->arena, rows, error);
    for (size_t i = 0; i < rows->count; i++)
        size += PAWL_MESSAGE_SIZE(&rows->items[i].message);
    worker->cut_count = PAWL_SIZE_IS_REACHED(size, claim.size_max) ? rows->count : 0;
    return code;
}

pawl_code pawl__claim_seqs(pawl__worker *worker, const int64_t *seqs, size_t count,
                           pawl_time due_max, pawl_queue_rows *rows, pawl_error *error)
{
    const pawl_queue_claim claim = {.queue     = worker->endpoint->model->queue,
                                    .due_max   = due_max,
                                    .count_max = count,
                                    .seqs      = seqs,
                                    .seq_count = seqs != NULL ? count : 0,
                                    .now       = worker->engine.machine_now,
                                    .size_max  = PAWL_CLAIM_SIZE_MAX};
    return claim_rows(worker, &claim, worker->read, rows, error);
}

pawl_code pawl__claim_timeouts(pawl__worker *worker, pawl_text destination, pawl_time due_max,
                               size_t count_max, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_uuid          session = pawl_uuid_v7(&worker->random, worker->engine.machine_now);
    pawl_timeout_claim claim   = {.destination = destination,
                                  .due_max     = due_max,
                                  .count_max   = count_max,
                                  .owner       = {session},
                                  .now         = worker->engine.machine_now,
                                  .lease       = worker->endpoint->settings.timeout_lease};
    return pawl_store_timeout_claim(worker->store, &claim, worker->batch->arena, rows, error);
}

/* ---- How many ------------------------------------------------------------------------ */

size_t pawl__claim_limit(const pawl_endpoint *endpoint)
{
    const size_t limit = (PAWL_BATCH_MESSAGES_MAX - 1) / 3;
    size_t       given = (size_t)endpoint->settings.batch_messages;
    return given < limit ? given : limit;
}

/* If the handlers used more than half of their time, the next claim takes no more than ran: the rest would only be kept
 * from other workers, and released. If the first batch shows that handlers are fast, the next one has the full size. */
void pawl__claim_note_time(pawl__worker *worker)
{
    const pawl__batch *batch = worker->batch;
    int64_t            max   = worker->endpoint->settings.batch_time_max;
    int64_t            spent = max - (worker->batch_end - pawl__monotonic_now());
    int64_t            ran   = 0;
    if (worker->engine.is_virtual)
        return;
    for (size_t i = 0; i < batch->unit_count; i++)
        ran += batch->units[i].end != PAWL__END_RELEASED;
    if (spent >= max / 2)
        worker->cut_count = (size_t)ran;
    else if (!worker->has_run && spent * (int64_t)worker->batch_max <= ran * (max / 2))
        worker->cut_count = worker->batch_max;
    worker->has_run |= ran > 0;
}

/* Sets the size of the next claim. It starts small, as the time of handlers is unknown, and doubles while all goes
 * well. Exceptions: 1 after a unit that ran alone, as the rest of a batch would be released; a few once other
 * workers had all sagas, then growing again, since other work may be behind these messages, and the full size as
 * soon as sagas are free; cut_count after large messages or slow handlers, since some stores keep the claimed rest
 * from all workers. */
void pawl__claim_adapt(pawl__worker *worker)
{
    size_t limit = pawl__claim_limit(worker->endpoint);
    if (worker->engine.machine_now >= worker->short_until && worker->batch_max < limit)
        worker->batch_max = worker->batch_max * 2 < limit ? worker->batch_max * 2 : limit;
    if (worker->was_alone)
        worker->claim_count = 1;
    else if (worker->found_all_busy && !worker->found_all_busy_before)
        worker->claim_count = PAWL__CLAIM_FEW;
    else if (worker->cut_count > 0)
        worker->claim_count = worker->cut_count;
    else
        worker->claim_count *= worker->found_all_busy_before && !worker->found_all_busy ? limit : 2;
    worker->found_all_busy_before = worker->found_all_busy;
    if (worker->claim_count > worker->batch_max)
        worker->claim_count = worker->batch_max;
}

bool pawl__claim_less(pawl__worker *worker, const pawl_error *error)
{
    size_t count = worker->batch->unit_count;
    if (worker->batch_max == 1)
        return false;
    if (count < 2) /* out of memory in the claim itself */
        count = worker->claim_count;
    if (count > worker->batch_max)
        count = worker->batch_max;
    worker->batch_max = count > 1 ? count / 2 : 1;
    if (worker->claim_count > worker->batch_max)
        worker->claim_count = worker->batch_max;
    worker->short_until = pawl_time_add(worker->engine.machine_now, SHORT_TIME);
    pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s; batches of %zu for a while",
             worker->endpoint->model->endpoint.data, error->text, worker->batch_max);
    return true;
}

/* ---- When ---------------------------------------------------------------------------- */

pawl_code pawl__worker_next_due(pawl__worker *worker, pawl_next_due *next, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    *next                    = (pawl_next_due){PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
    return pawl_store_next_due(worker->store, model->queue, model->aggregator_names,
                               model->aggregator_count, next, error);
}

void pawl__worker_pause(pawl__worker *worker, int64_t time)
{
    if (!worker->engine.is_virtual)
        worker->pause_end = pawl__monotonic_now() + time;
}

bool pawl__worker_is_pausing(pawl__worker *worker)
{
    if (worker->pause_end != 0 && pawl__monotonic_now() >= worker->pause_end)
        worker->pause_end = 0;
    return worker->pause_end != 0;
}

/* ---- The pause of the queue ------------------------------------------------- *
 *
 * A worker reads whether an operator has paused the endpoint's queue, once a period, after a claim, which it releases
 * if the queue is paused; while paused, before it would claim. So an idle endpoint does not read it. */

/* Always due under a virtual clock, under which nothing wakes a worker when the queue is resumed. */
static bool is_due(const pawl__worker *worker, const pawl__queue_pause *pause)
{
    return pawl__is_due(atomic_load(&pause->due), worker->engine.machine_now,
                        PAWL__QUEUE_PAUSE_PERIOD) ||
           (worker->engine.is_virtual && atomic_load(&pause->is_paused));
}

static void say(const pawl__worker *worker, const pawl_queue_pause *found)
{
    const pawl__model *model = worker->endpoint->model;
    const char        *what =
        found->is_paused ? "is paused: nothing more of it is claimed" : "goes on: it was resumed";
    pawl_log(PAWL_LOG_INFO, "endpoint %s: queue %.*s %s (by %.*s%s%.*s)", model->endpoint.data,
             PAWL_TEXT_ARGS(model->queue), what, PAWL_TEXT_ARGS(found->by),
             found->reason.size > 0 ? ": " : "", PAWL_TEXT_ARGS(found->reason));
}

/* On a store without events, queues cannot be paused. */
pawl_code pawl__queue_pause_check(pawl__worker *worker, pawl_error *error)
{
    pawl__queue_pause *pause = &worker->endpoint->pause;
    pawl_queue_pause   found = {.is_paused = false};
    if (!is_due(worker, pause))
        return PAWL_OK;
    pawl_code code = pawl_store_queue_pause_find(worker->store, worker->endpoint->model->queue,
                                                 worker->read, &found, error);
    if (code != PAWL_OK && code != PAWL_EUNSUPPORTED)
        return code;
    atomic_store(&pause->due, pawl_time_add(worker->engine.machine_now, PAWL__QUEUE_PAUSE_PERIOD));
    if (atomic_exchange(&pause->is_paused, found.is_paused) != found.is_paused)
        say(worker, &found);
    return PAWL_OK;
}
