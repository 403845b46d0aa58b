/* isolated_timeout.c - runs timeouts and flushes isolated after a crash, with markers in streams of events.
 *
 *     claim -> read -> no marker ---------------> write the marker -> run -> write "[]", or the old history
 *                   -> of a worker that died ------^           -> dead letter, or dead partition
 *                   -> of another worker that has it in flight, or may have died: release
 *
 * Their rows have no column for a marker. So each has a stream, whose last event has as its body a list in the form of
 * a message's history. The crash count is the number of its entries, including the marker: the crash of its worker is
 * counted in advance. The claim of a timeout is a lease, so no other worker writes its stream. Two workers may have
 * leased batches of one partition; the version of the stream detects that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/history_marker.h"
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
    it->row.crashes = pawl__history_crashes(worker->read, it->row.history);
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

/* PAWL_ECONFLICT: another worker has written meanwhile. */
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

/* After it was handled or given up, the count restarts at 0: a dead letter may be retried under its id, a partition
 * released. On a conflict the other worker's event stays: it gave up the same partition, or found this worker dead. */
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

/* Runs the batch's only unit, or gives it up for its crashes. */
static pawl_code run_to_end(pawl__worker *worker, alone *it, bool is_spent, pawl_step *step,
                            pawl_error *error)
{
    int64_t   before  = step->handled + step->dead;
    pawl_code code    = is_spent ? pawl__isolated_give_up(worker, &it->row, step, error)
                                 : pawl__worker_run(worker, step, error);
    bool      is_over = is_spent || step->handled + step->dead > before;
    return code == PAWL_OK ? write_end(worker, it, is_over, error) : code;
}

/* ---- Timeouts ----------------------------------------------------------------------------- */

/* A timeout that was set again is another one, without crashes. */
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

/* Logged before the run: if the process crashes, its last log line names the timeout. */
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

/* The unit has crash count and history like a message, for a dead letter. The timeout is in the batch's arena
 * already. */
static pawl_code add_timeout(pawl__worker *worker, const pawl_timeout_row *timeout, const alone *it)
{
    pawl_code code = pawl__batch_add_timeout(worker->batch, timeout);
    if (code != PAWL_OK)
        return code;
    worker->batch->units[0].row.crashes = it->row.crashes;
    worker->batch->units[0].row.history = it->row.history;
    return PAWL_OK;
}

/* Used while it is not known whether the worker of the marker died. */
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
    bool is_spent = pawl__isolated_is_spent(worker, &it.row);
    if (!is_spent)
        code = write_stamp(worker, &it, error);
    /* A conflict: the lease was over, and another worker has the timeout. */
    if (code == PAWL_ECONFLICT)
        return pawl__isolated_free_timeout(worker, &rows.items[0], error);
    *end = PAWL__ISOLATED_RAN;
    if (!is_spent)
        say_in_flight(worker, &rows.items[0]);
    if (code == PAWL_OK)
        code = add_timeout(worker, &rows.items[0], &it);
    return code == PAWL_OK ? run_to_end(worker, &it, is_spent, step, error) : code;
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
    bool is_spent = pawl__isolated_is_spent(worker, &it.row);
    if (!is_spent) {
        pawl_log(PAWL_LOG_INFO,
                 "endpoint %s: after a crash the flush of %.*s is in flight, isolated",
                 worker->endpoint->model->endpoint.data, PAWL_TEXT_ARGS(partition));
        code = write_stamp(worker, &it, error);
    }
    if (code == PAWL_ECONFLICT) { /* another worker runs a leased batch of the partition */
        *end = PAWL__ISOLATED_IN_FLIGHT;
        return PAWL_OK;
    }
    return code == PAWL_OK ? run_to_end(worker, &it, is_spent, step, error) : code;
}
