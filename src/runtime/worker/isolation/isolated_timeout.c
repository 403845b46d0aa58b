/* isolated_timeout.c - timeouts and flushes that run alone after a death, and their stamps.
 *
 *     claim -> read -> no stamp ----------------> write the stamp -> run -> write "[]", or what was there
 *                   -> of a worker that died ------^           -> dead letter, or dead partition
 *                   -> of another worker that has it in flight, or may have died: let go
 *
 * Their rows have no room for a stamp: it is the body of the last event of a stream of its own, in
 * the form of a message's history. Deaths are as many as the list has entries, a stamp included: the
 * death of its worker is counted ahead. A timeout is leased by its claim, so nobody else writes its
 * stream; of a partition two workers may have pieces, and the version of the stream tells them apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stamp.h"
#include "pawl/store_calls.h"
#include "pawl/store_worker.h"
#include "record/record_internal.h"
#include "runtime/worker/isolation/marker.h"
#include "store/core/action.h"

typedef pawl__isolated alone;

/* ---- The stream --------------------------------------------------------------------------- */

static pawl_code read_last(pawl__worker *worker, alone *it, pawl_error *error)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {.stream = it->stream, .is_backward = true, .count_max = 1};
    if (it->stream.data == NULL || it->row.message.id.data == NULL)
        return pawl__marker_no_memory(error);
    pawl_code code = pawl_store_event_list(worker->store, &query, worker->read, &rows, error);
    if (code == PAWL_EUNSUPPORTED) {
        it->stream.size = 0;
        return PAWL_OK;
    }
    if (code != PAWL_OK || rows.count == 0)
        return code;
    it->version     = rows.items[0].version;
    it->row.history = rows.items[0].event.body;
    it->row.crashes = pawl__stamp_deaths(worker->read, it->row.history);
    return PAWL_OK;
}

pawl_event_append pawl__isolated_next_event(const pawl__worker *worker, const alone *it,
                                            pawl_text history)
{
    return (pawl_event_append){.stream   = it->stream,
                               .version  = it->version + 1,
                               .is_first = true,
                               .event    = {.type         = pawl_text_of(it->type),
                                            .type_version = 1,
                                            .message_id   = it->row.message.id,
                                            .headers      = PAWL_TEXT("{}"),
                                            .body = history.size > 0 ? history : PAWL_TEXT("[]"),
                                            .at   = worker->engine.machine_now}};
}

/* PAWL_ECONFLICT: another worker wrote since. */
static pawl_code write_next(pawl__worker *worker, alone *it, pawl_text history, pawl_error *error)
{
    pawl_event_append append  = pawl__isolated_next_event(worker, it, history);
    pawl_changes      changes = {PAWL__ONE_UNIT(worker->engine.machine_now),
                                 .event_append = {&append, 1}};
    if (it->stream.size == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_commit(worker->store, &changes, NULL, error);
    it->version += code == PAWL_OK;
    return code;
}

/* Once it was handled or given up, nothing counts of it any more: a letter may be retried under its id, a
 * partition released. The last event may be another worker's by then, which gave the same partition up or found this
 * worker dead: it stands. */
static pawl_code write_end(pawl__worker *worker, alone *it, bool is_over, pawl_error *error)
{
    pawl_code code = write_next(worker, it, is_over ? PAWL_TEXT("[]") : it->row.history, error);
    return code == PAWL_ECONFLICT ? PAWL_OK : code;
}

static pawl_code write_stamp(pawl__worker *worker, alone *it, pawl_error *error)
{
    pawl_text history = pawl__marker_add(worker, it->row.history, 0);
    return history.data != NULL ? write_next(worker, it, history, error)
                                : pawl__marker_no_memory(error);
}

/* ---- Timeouts ----------------------------------------------------------------------------- */

/* Set anew it is another timeout. */
pawl_code pawl__isolated_read_timeout(pawl__worker *worker, const pawl_timeout_row *timeout,
                                      alone *it, pawl_error *error)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(timeout->id.uuid, id);
    *it = (alone){.type   = PAWL_ISOLATED_IN_FLIGHT,
                  .row    = {.message = {.id   = pawl_arena_text(worker->read, pawl_text_of(id)),
                                         .type = timeout->name},
                             .history = PAWL_TEXT("")},
                  .stream = pawl_arena_printf(worker->read, PAWL_ISOLATED_STREAMS "/%s/%lld", id,
                                              (long long)timeout->generation)};
    return read_last(worker, it, error);
}

/* A process that dies now leaves the name of the timeout as its last line. */
static void say_in_flight(const pawl__worker *worker, const pawl_timeout_row *row)
{
    char id[PAWL_UUID_TEXT_SIZE + 1], saga[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(row->id.uuid, id);
    pawl_uuid_format(row->saga_id.uuid, saga);
    pawl_log(PAWL_LOG_INFO,
             "endpoint %s: after a crash timeout %s, '%.*s' of %.*s %s, is in flight, isolated",
             worker->endpoint->model->endpoint.data, id, PAWL_TEXT_ARGS(row->name),
             PAWL_TEXT_ARGS(row->saga_type), saga);
}

/* The unit has the deaths and their history, as that of a message has: a letter takes them along. The
 * claim has put the timeout into the batch's arena. */
static pawl_code add_timeout(pawl__worker *worker, const pawl_timeout_row *timeout, const alone *it)
{
    pawl_code code = pawl__batch_add_timeout(worker->batch, timeout);
    if (code != PAWL_OK)
        return code;
    worker->batch->units[0].row.crashes = it->row.crashes;
    worker->batch->units[0].row.history = it->row.history;
    return PAWL_OK;
}

/* A conflict of the stamp: this worker stood still until the lease of its claim was over, and another one has the
 * timeout. */
static pawl_code run_stamped_timeout(pawl__worker *worker, const pawl_timeout_row *timeout,
                                     alone *it, pawl__isolated_end *end, pawl_step *step,
                                     pawl_error *error)
{
    int64_t   before = step->handled + step->dead;
    pawl_code code   = write_stamp(worker, it, error);
    if (code == PAWL_ECONFLICT)
        return pawl__isolated_free_timeout(worker, timeout, error);
    *end = PAWL__ISOLATED_RAN;
    say_in_flight(worker, timeout);
    if (code == PAWL_OK)
        code = add_timeout(worker, timeout, it);
    if (code == PAWL_OK)
        code = pawl__worker_run(worker, step, error);
    return code == PAWL_OK ? write_end(worker, it, step->handled + step->dead > before, error)
                           : code;
}

static pawl_code give_up_timeout(pawl__worker *worker, const pawl_timeout_row *timeout, alone *it,
                                 pawl_step *step, pawl_error *error)
{
    pawl_code code = add_timeout(worker, timeout, it);
    if (code == PAWL_OK)
        code = pawl__isolated_give_up(worker, &it->row, step, error);
    return code == PAWL_OK ? write_end(worker, it, true, error) : code;
}

/* Nobody knows yet whether the worker of the stamp died: until then the lease is free. */
pawl_code pawl__isolated_free_timeout(pawl__worker *worker, const pawl_timeout_row *row,
                                      pawl_error *error)
{
    pawl_code code = pawl_store_timeout_release(worker->store, row->id, &row->owner,
                                                worker->engine.machine_now, error);
    return code == PAWL_EGONE ? PAWL_OK : code;
}

pawl_code pawl__isolated_run_timeout(pawl__worker *worker, pawl_time due_max,
                                     pawl__isolated_end *end, pawl_step *step, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_timeout_rows  rows  = {.count = 0};
    pawl__marker_owner found;
    alone              it;
    pawl_code          code = PAWL_OK;
    *end                    = PAWL__ISOLATED_NONE;
    pawl__batch_reset(worker->batch);
    if (model->timeout_count > 0)
        code = pawl__claim_timeouts(worker, model->queue, due_max, 1, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    *end = PAWL__ISOLATED_UNSURE;
    code = pawl__isolated_read_timeout(worker, &rows.items[0], &it, error);
    if (code == PAWL_OK)
        code = pawl__marker_take(worker, "timeout", &it.row, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found == PAWL__MARKER_IN_FLIGHT || found == PAWL__MARKER_UNSURE)
        return pawl__isolated_free_timeout(worker, &rows.items[0], error);
    if (!pawl__isolated_is_spent(worker, &it.row))
        return run_stamped_timeout(worker, &rows.items[0], &it, end, step, error);
    *end = PAWL__ISOLATED_RAN;
    return give_up_timeout(worker, &rows.items[0], &it, step, error);
}

/* ---- Flushes ------------------------------------------------------------------------------ */

static pawl_code read_flush(pawl__worker *worker, pawl_text partition, alone *it, pawl_error *error)
{
    *it = (alone){
        .type   = PAWL_ISOLATED_FLUSH,
        .row    = {.message = {.id = partition, .type = PAWL_TEXT("")}, .history = PAWL_TEXT("")},
        .stream = pawl__action_stream(PAWL_ISOLATED_STREAMS, partition, worker->read)};
    return read_last(worker, it, error);
}

static pawl_code run_stamped_flush(pawl__worker *worker, alone *it, pawl__isolated_end *end,
                                   pawl_step *step, pawl_error *error)
{
    int64_t   before = step->handled + step->dead;
    pawl_code code   = write_stamp(worker, it, error);
    if (code == PAWL_ECONFLICT) { /* another worker runs a piece of the partition */
        *end = PAWL__ISOLATED_IN_FLIGHT;
        return PAWL_OK;
    }
    if (code == PAWL_OK)
        code = pawl__worker_run(worker, step, error);
    return code == PAWL_OK ? write_end(worker, it, step->handled + step->dead > before, error)
                           : code;
}

pawl_code pawl__isolated_run_flush(pawl__worker *worker, pawl__isolated_end *end, pawl_step *step,
                                   pawl_error *error)
{
    pawl__marker_owner found;
    alone              it;
    pawl_text          partition = worker->batch->units[0].flush.partition;
    *end                         = PAWL__ISOLATED_RAN;
    pawl_code code               = read_flush(worker, partition, &it, error);
    if (code == PAWL_OK)
        code = pawl__marker_take(worker, "flush", &it.row, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found == PAWL__MARKER_IN_FLIGHT || found == PAWL__MARKER_UNSURE) {
        *end = found == PAWL__MARKER_UNSURE ? PAWL__ISOLATED_UNSURE : PAWL__ISOLATED_IN_FLIGHT;
        return PAWL_OK;
    }
    if (!pawl__isolated_is_spent(worker, &it.row)) {
        pawl_log(PAWL_LOG_INFO,
                 "endpoint %s: after a crash the flush of %.*s is in flight, isolated",
                 worker->endpoint->model->endpoint.data, PAWL_TEXT_ARGS(partition));
        return run_stamped_flush(worker, &it, end, step, error);
    }
    code = pawl__isolated_give_up(worker, &it.row, step, error);
    return code == PAWL_OK ? write_end(worker, &it, true, error) : code;
}
