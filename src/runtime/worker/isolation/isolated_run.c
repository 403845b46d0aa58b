/* isolated_run.c - runs one message isolated, with a marker in its row, and one timeout.
 *
 *     claim one -> no marker -----------------> marker, claim it again -> run -> remove_marker if the row stays
 *               -> of a worker that died -----> crashes + 1 -^     -> dead letter after crashes_max
 *               -> of one that lives ---------> not counted -^
 *               -> of one that has it in flight -> released
 *
 * A step runs one message and one timeout: a dead process may have had the head of either queue in flight, and neither
 * has to wait for the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/history_marker.h"
#include "runtime/ordered/ordered.h"
#include "runtime/worker/isolation/marker.h"

/* ---- Writing one ---------------------------------------------------------------------- */

static pawl_code write_row(pawl__worker *worker, const pawl_queue_row *row,
                           pawl_queue_action action, int32_t crashes, pawl_text history,
                           pawl_error *error)
{
    pawl_refusals     refused = {.arena = worker->read};
    pawl_queue_settle settle  = pawl__marker_settle(worker, row, action, crashes, history);
    pawl_changes      changes = {PAWL__ONE_UNIT(worker->engine.machine_now),
                                 .queue_settle = {&settle, 1}};
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

static pawl_code give_back(pawl__worker *worker, const pawl_queue_row *row, pawl_error *error)
{
    return write_row(worker, row, PAWL_QUEUE_RELEASE, 0, (pawl_text){.data = "", .size = 0}, error);
}

/* Writes the marker, which ends the claim, and claims the row again; count 0: another worker was faster. */
static pawl_code stamp_row(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                           pawl_queue_rows *rows, pawl_error *error)
{
    pawl_text history = pawl__marker_add(worker, row->history, 0);
    if (history.data == NULL)
        return pawl__marker_no_memory(error);
    pawl_code code = write_row(worker, row, PAWL_QUEUE_RETRY, row->crashes + 1, history, error);
    return code == PAWL_OK ? pawl__claim_seqs(worker, &row->seq, 1, due_max, rows, error) : code;
}

/* Removes the marker of a message that was neither handled nor given up, unless its failure has overwritten it. */
static pawl_code remove_marker(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                               pawl_error *error)
{
    pawl_queue_rows      rows = {.count = 0};
    pawl__history_marker marker;
    pawl_code            code = pawl__claim_seqs(worker, &row->seq, 1, due_max, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    bool is_ours = pawl__history_marker_read(worker->read, rows.items[0].history, &marker) &&
                   pawl_uuid_compare(marker.worker, pawl_store_worker(worker->store).uuid) == 0;
    if (!is_ours)
        return give_back(worker, row, error);
    return write_row(worker, row, PAWL_QUEUE_RETRY, row->crashes, row->history, error);
}

/* ---- Running -------------------------------------------------------------------------- */

static pawl_code give_up(pawl__worker *worker, const pawl_queue_row *row, pawl_step *step,
                         pawl_error *error)
{
    pawl__batch_reset(worker->batch);
    pawl_code code = pawl__batch_add_message(worker->batch, row, 0);
    return code == PAWL_OK ? pawl__isolated_give_up(worker, row, step, error) : code;
}

/* The batch gets the row without the marker, so that a retry does not write the marker back. */
static pawl_code run_marked(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                            pawl_step *step, pawl_error *error)
{
    pawl_queue_rows rows = {.count = 0};
    pawl_code       code = stamp_row(worker, row, due_max, &rows, error);
    if (code == PAWL_OK && rows.count == 0)
        pawl__isolation_rest(worker);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    int64_t before        = step->handled + step->dead;
    rows.items[0].crashes = row->crashes;
    rows.items[0].history = row->history;
    pawl__batch_reset(worker->batch);
    code = pawl__batch_add_message(worker->batch, &rows.items[0], 0);
    if (code == PAWL_OK)
        code = pawl__worker_run(worker, step, error);
    if (code == PAWL_OK && step->handled + step->dead == before)
        code = remove_marker(worker, row, due_max, error);
    return code;
}

static pawl_code run_message(pawl__worker *worker, pawl_queue_row *row, pawl_time due_max,
                             pawl__isolated_end *end, pawl_step *step, pawl_error *error)
{
    pawl__marker_owner found;
    pawl_code          code = pawl__marker_take(worker, "message", row, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found == PAWL__MARKER_IN_FLIGHT || found == PAWL__MARKER_UNSURE) {
        *end = PAWL__ISOLATED_IN_FLIGHT;
        return give_back(worker, row, error);
    }
    *end = PAWL__ISOLATED_RAN;
    return pawl__isolated_is_spent(worker, row) ? give_up(worker, row, step, error)
                                                : run_marked(worker, row, due_max, step, error);
}

/* Under a virtual clock, a timeout that is not due later than the next message runs first, as in a batch. */
static pawl_code run_earlier_timeout(pawl__worker *worker, pawl_time due_max,
                                     pawl__isolated_end *end, pawl_step *step, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_next_due      next  = {PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
    if (!worker->engine.is_virtual || model->timeout_count == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_next_due(worker->store, model->queue, NULL, 0, &next, error);
    if (code != PAWL_OK || next.queue > due_max)
        return code;
    return pawl__isolated_run_timeout(worker, next.queue, end, step, error);
}

static pawl_code claim_and_run(pawl__worker *worker, pawl_time due_max, pawl__isolated_end *end,
                               pawl_step *step, pawl_error *error)
{
    pawl_queue_rows rows = {.count = 0};
    pawl_code       code = pawl__claim_seqs(worker, NULL, 1, due_max, &rows, error);
    if (code != PAWL_OK)
        return code;
    step->is_taken |= rows.is_taken;
    if (rows.is_taken)
        return PAWL_OK;
    code = pawl__ordered_check(worker, &rows, error);
    return code == PAWL_OK && rows.count > 0
               ? run_message(worker, &rows.items[0], due_max, end, step, error)
               : code;
}

/* Notes that one has passed, unless a process may have crashed in the timeout: the isolation phase lasts until that is
 * known. If another worker has both in flight, pauses. */
static void end_step(pawl__worker *worker, pawl__isolated_end message, pawl__isolated_end timeout,
                     pawl_step *step)
{
    bool is_empty = message == PAWL__ISOLATED_NONE && timeout == PAWL__ISOLATED_NONE;
    bool has_run  = message == PAWL__ISOLATED_RAN || timeout == PAWL__ISOLATED_RAN;
    if ((has_run && timeout != PAWL__ISOLATED_UNSURE) || is_empty)
        pawl__isolation_one_passed(worker, is_empty);
    if (has_run || is_empty)
        return;
    pawl__worker_pause(worker, PAWL__MARKER_PAUSE);
    step->is_idle = true;
}

pawl_code pawl__isolation_run_one(pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                  pawl_error *error)
{
    pawl__isolated_end message = PAWL__ISOLATED_NONE, timeout = PAWL__ISOLATED_NONE;
    worker->was_alone = false;
    worker->cut_count = 0;
    pawl__batch_reset(worker->batch);
    worker->claim_count = 1; /* the next batches start with one, and double */
    pawl_code code      = run_earlier_timeout(worker, due_max, &timeout, step, error);
    if (code == PAWL_OK && timeout == PAWL__ISOLATED_NONE)
        code = claim_and_run(worker, due_max, &message, step, error);
    if (code != PAWL_OK || step->is_taken)
        return code;
    bool is_both = !worker->engine.is_virtual || message == PAWL__ISOLATED_NONE;
    if (timeout == PAWL__ISOLATED_NONE && is_both) {
        /* The message may have run for long: a lease computed from the start of the step might be over. */
        pawl__worker_clocks(worker, worker->engine.business_now);
        code = pawl__isolated_run_timeout(worker, due_max, &timeout, step, error);
    }
    if (code == PAWL_OK)
        end_step(worker, message, timeout, step);
    return code;
}
