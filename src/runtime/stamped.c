/* stamped.c - runs one message or timeout alone, with a stamp in its row, or beside it.
 *
 *     claim one -> no stamp ------------------> stamp, claim it again -> run -> unstamp what stays
 *               -> of a worker that died -----> deaths + 1 -^      -> dead letter after deaths_max
 *               -> of one that lives ---------> not counted -^
 *               -> of one that has it in hand -> given back
 *
 * A row has the death of its stamp counted ahead: deaths is one more while it is in hand, so that
 * nothing has to be written by the process that dies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stamp.h"
#include "pawl/store_worker.h"
#include "runtime/claim.h"
#include "runtime/commit.h"
#include "runtime/ordered.h"

#include <unistd.h>

/* A worker that only lost its connection has come back by then, and ended its old row. */
#define GRACE PAWL_SECONDS(1)
/* A supervisor has noted the death by then, or will not. */
#define GRACE_SUPERVISED PAWL_SECONDS(10)
#define PAUSE PAWL_MILLISECONDS(20)

/* Whose a stamp is. */
typedef enum mark {
    MARK_NONE,
    MARK_DIED,    /* its worker died */
    MARK_LIVES,   /* its worker goes on, or ended in order */
    MARK_IN_HAND, /* its worker runs the message, or nobody knows yet */
} mark;

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "no memory for the stamp of a message");
}

/* ---- Reading a stamp ------------------------------------------------------------------ */

static pawl_code find_living(pawl__worker *worker, const pawl__stamp *stamp, bool *is_there,
                             pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    *is_there               = false;
    pawl_code code = pawl_store_worker_list(worker->store, worker->read, &items, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        *is_there |= items[i].epoch == stamp->epoch &&
                     pawl_uuid_compare(items[i].id.uuid, stamp->worker) == 0;
    return code;
}

/* A death that is known is sure after a while, which a note makes short. */
static pawl_code judge_death(pawl__worker *worker, const pawl__stamp *stamp, pawl_time since,
                             pawl_text *how, mark *found, pawl_error *error)
{
    pawl_worker_id id   = {stamp->worker};
    pawl_time      now  = worker->engine.machine_now;
    pawl_code      code = PAWL_OK;
    *found              = MARK_IN_HAND;
    if (now < pawl_time_add(since, GRACE))
        return PAWL_OK;
    code = pawl_store_worker_death(worker->store, id, worker->read, how, error);
    if (code == PAWL_EUNSUPPORTED)
        code = PAWL_OK;
    if (how->size > 0 || !stamp->is_supervised || now >= pawl_time_add(since, GRACE_SUPERVISED))
        *found = MARK_DIED;
    return code;
}

/* `how`: the text of a death that was noted, or empty. */
static pawl_code judge(pawl__worker *worker, const pawl__stamp *stamp, pawl_text *how, mark *found,
                       pawl_error *error)
{
    pawl_worker_id id        = {stamp->worker};
    pawl_time      since     = PAWL_TIME_MAX;
    bool           is_living = false;
    *how                     = PAWL_TEXT("");
    *found                   = MARK_LIVES;
    if (pawl_uuid_compare(stamp->worker, pawl_store_worker(worker->store).uuid) == 0)
        return PAWL_OK;
    pawl_code code = pawl__deaths_since(worker, id, &since, error);
    if (code != PAWL_OK)
        return code;
    if (since != PAWL_TIME_MAX)
        return judge_death(worker, stamp, since, how, found, error);
    code = find_living(worker, stamp, &is_living, error);
    if (is_living)
        *found = MARK_IN_HAND;
    return code;
}

static void say_death(const pawl__worker *worker, const char *noun, const pawl_queue_row *row,
                      pawl_text text)
{
    pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s %.*s of type %.*s: %.*s; death %d of it",
             worker->endpoint->model->endpoint.data, noun, PAWL_TEXT_ARGS(row->message.id),
             PAWL_TEXT_ARGS(row->message.type), PAWL_TEXT_ARGS(text), row->deaths);
}

static pawl_text describe(pawl_arena *arena, const char *noun, const pawl__stamp *stamp,
                          pawl_text how)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    bool is_noted = how.size > 0;
    pawl_uuid_format(stamp->worker, id);
    return pawl_arena_printf(arena, "process %lld %.*s while it ran this %s alone (worker %s)%s",
                             (long long)stamp->pid,
                             PAWL_TEXT_ARGS(is_noted ? how : PAWL_TEXT("died")), noun, id,
                             is_noted ? "" : ", without saying why");
}

/* Takes the stamp out of the row in memory: a death that was counted ahead stands, or does not. */
static pawl_code take_stamp(pawl__worker *worker, const char *noun, pawl_queue_row *row,
                            mark *found, pawl_error *error)
{
    pawl__stamp stamp;
    pawl_text   text, how;
    *found = MARK_NONE;
    if (row->deaths == 0 || !pawl__stamp_read(worker->read, row->history, &stamp))
        return PAWL_OK;
    pawl_code code = judge(worker, &stamp, &how, found, error);
    if (code != PAWL_OK || *found == MARK_IN_HAND)
        return code;
    if (*found == MARK_LIVES) {
        row->deaths--;
        row->history = pawl__stamp_remove(worker->read, row->history);
        return row->history.data != NULL ? PAWL_OK : no_memory(error);
    }
    text = describe(worker->read, noun, &stamp, how);
    if (text.data != NULL)
        row->history = pawl__stamp_died(worker->read, row->history, text);
    if (text.data == NULL || row->history.data == NULL)
        return no_memory(error);
    say_death(worker, noun, row, text);
    return PAWL_OK;
}

/* ---- Writing one ---------------------------------------------------------------------- */

/* Writes deaths and history into the row, whose claim ends with that; nothing else changes. */
static pawl_code write_row(pawl__worker *worker, const pawl_queue_row *row,
                           pawl_queue_action action, int32_t deaths, pawl_text history,
                           pawl_error *error)
{
    pawl_refusals     refused = {.arena = worker->read};
    pawl_queue_settle settle  = {.action        = action,
                                 .queue         = worker->endpoint->model->queue,
                                 .seq           = row->seq,
                                 .due           = row->due,
                                 .attempts      = row->attempts,
                                 .deaths        = deaths,
                                 .waiting_since = row->waiting_since,
                                 .history       = history};
    pawl_changes changes = {.group_count = 1, .unit_count = 1, .now = worker->engine.machine_now};
    changes.queue_settle.items = &settle;
    changes.queue_settle.count = 1;
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

static pawl_code give_back(pawl__worker *worker, const pawl_queue_row *row, pawl_error *error)
{
    return write_row(worker, row, PAWL_QUEUE_RELEASE, 0, (pawl_text){.data = "", .size = 0}, error);
}

/* Into worker->read, which outlives the batch. `seq` NULL: the oldest message. */
static pawl_code claim_one(pawl__worker *worker, const int64_t *seq, pawl_time due_max,
                           pawl_queue_rows *rows, pawl_error *error)
{
    const pawl_queue_claim claim = {.queue     = worker->endpoint->model->queue,
                                    .due_max   = due_max,
                                    .count_max = 1,
                                    .seqs      = seq,
                                    .seq_count = seq != NULL,
                                    .now       = worker->engine.machine_now,
                                    .size_max  = PAWL_CLAIM_SIZE_MAX};
    return pawl_store_queue_claim(worker->store, &claim, worker->read, rows, error);
}

/* The history with a stamp of this worker; data NULL: no memory. */
static pawl_text stamped(pawl__worker *worker, pawl_text history)
{
    const pawl__stamp stamp = {.worker        = pawl_store_worker(worker->store).uuid,
                               .epoch         = pawl_store_epoch(worker->store),
                               .pid           = getpid(),
                               .at            = worker->engine.machine_now,
                               .is_supervised = pawl_worker_is_supervised()};
    return pawl__stamp_add(worker->read, history, &stamp);
}

/* Stamps the row and claims it again; count 0: another worker was faster. */
static pawl_code stamp_row(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                           pawl_queue_rows *rows, pawl_error *error)
{
    pawl_text history = stamped(worker, row->history);
    if (history.data == NULL)
        return no_memory(error);
    pawl_code code = write_row(worker, row, PAWL_QUEUE_RETRY, row->deaths + 1, history, error);
    return code == PAWL_OK ? claim_one(worker, &row->seq, due_max, rows, error) : code;
}

/* A message that was neither handled nor given up has the stamp still, unless its failure was
 * written over it. */
static pawl_code unstamp(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                         pawl_error *error)
{
    pawl_queue_rows rows = {.count = 0};
    pawl__stamp     stamp;
    pawl_code       code = claim_one(worker, &row->seq, due_max, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    bool is_ours = pawl__stamp_read(worker->read, rows.items[0].history, &stamp) &&
                   pawl_uuid_compare(stamp.worker, pawl_store_worker(worker->store).uuid) == 0;
    if (!is_ours)
        return give_back(worker, row, error);
    return write_row(worker, row, PAWL_QUEUE_RETRY, row->deaths, row->history, error);
}

/* ---- Running -------------------------------------------------------------------------- */

/* The batch has what is given up, as its only unit. */
static pawl_code give_up_unit(pawl__worker *worker, int32_t deaths, int32_t limit, pawl_step *step,
                              pawl_error *error)
{
    pawl__outcome ignored;
    pawl__way     fail = {PAWL__COMMIT_FAIL, PAWL_EDIED, NULL};
    pawl_text     text = pawl_arena_printf(
            worker->read, "its process died %d time%s while it ran alone, limit %d; see its history",
            deaths, deaths == 1 ? "" : "s", limit);
    if (text.data == NULL)
        return no_memory(error);
    fail.text = text.data;
    return pawl__commit_batch(worker, &fail, &ignored, step, error);
}

static pawl_code give_up(pawl__worker *worker, const pawl_queue_row *row, int32_t limit,
                         pawl_step *step, pawl_error *error)
{
    pawl_arena_reset(worker->kept);
    pawl__batch_reset(worker->batch);
    pawl_code code = pawl__batch_add_message(worker->batch, row, 0);
    return code == PAWL_OK ? give_up_unit(worker, row->deaths, limit, step, error) : code;
}

/* The row as it was before the stamp is what a retry writes back. */
static pawl_code run_stamped(pawl__worker *worker, const pawl_queue_row *row, pawl_time due_max,
                             pawl_step *step, pawl_error *error)
{
    pawl_queue_rows rows = {.count = 0};
    pawl_code       code = stamp_row(worker, row, due_max, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    int64_t before        = step->handled + step->dead;
    rows.items[0].deaths  = row->deaths;
    rows.items[0].history = row->history;
    pawl__batch_reset(worker->batch);
    code = pawl__batch_add_message(worker->batch, &rows.items[0], 0);
    if (code == PAWL_OK)
        code = pawl__worker_finish(worker, step, error);
    if (code == PAWL_OK && step->handled + step->dead == before)
        code = unstamp(worker, row, due_max, error);
    return code;
}

static pawl_code run_message(pawl__worker *worker, pawl_queue_row *row, pawl_time due_max,
                             pawl_step *step, pawl_error *error)
{
    int32_t   limit = worker->endpoint->settings.deaths_max;
    mark      found;
    pawl_code code = take_stamp(worker, "message", row, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found == MARK_IN_HAND) {
        pawl__worker_pause(worker, PAUSE);
        step->is_idle = true;
        return give_back(worker, row, error);
    }
    if (limit > 0 && row->deaths >= limit)
        code = give_up(worker, row, limit, step, error);
    else
        code = run_stamped(worker, row, due_max, step, error);
    if (code == PAWL_OK)
        pawl__deaths_pass(worker, false);
    return code;
}

/* A process that dies now leaves the name of the timeout as its last line. */
static void say_in_hand(const pawl__worker *worker, const pawl_timeout_row *row)
{
    char id[PAWL_UUID_TEXT_SIZE + 1], saga[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(row->id.uuid, id);
    pawl_uuid_format(row->saga_id.uuid, saga);
    pawl_log(PAWL_LOG_INFO,
             "endpoint %s: after a death timeout %s, '%.*s' of %.*s %s, is in hand alone",
             worker->endpoint->model->endpoint.data, id, PAWL_TEXT_ARGS(row->name),
             PAWL_TEXT_ARGS(row->saga_type), saga);
}

/* The unit has the deaths and their history, as that of a message has: a letter takes them along. The
 * claim has put the timeout into the batch's arena. */
static pawl_code add_timeout(pawl__worker *worker, const pawl__alone *alone)
{
    pawl_code code = pawl__batch_add_timeout(worker->batch, alone->timeout);
    if (code != PAWL_OK)
        return code;
    worker->batch->units[0].row.deaths  = alone->row.deaths;
    worker->batch->units[0].row.history = alone->row.history;
    return PAWL_OK;
}

/* Once it was handled or given up, nothing counts of it any more: its letter may be retried under its
 * id. */
static pawl_code end_timeout(pawl__worker *worker, pawl__alone *alone, bool is_over,
                             pawl_error *error)
{
    const pawl_text none = PAWL_TEXT("[]");
    return pawl__alone_write(worker, alone, is_over ? none : alone->row.history, error);
}

static pawl_code run_stamped_timeout(pawl__worker *worker, pawl__alone *alone, pawl_step *step,
                                     pawl_error *error)
{
    int64_t   before  = step->handled + step->dead;
    pawl_text history = stamped(worker, alone->row.history);
    if (history.data == NULL)
        return no_memory(error);
    pawl_code code = pawl__alone_write(worker, alone, history, error);
    if (code == PAWL_OK)
        code = add_timeout(worker, alone);
    if (code == PAWL_OK)
        code = pawl__worker_finish(worker, step, error);
    return code == PAWL_OK ? end_timeout(worker, alone, step->handled + step->dead > before, error)
                           : code;
}

static pawl_code give_up_timeout(pawl__worker *worker, pawl__alone *alone, int32_t limit,
                                 pawl_step *step, pawl_error *error)
{
    pawl_arena_reset(worker->kept);
    pawl_code code = add_timeout(worker, alone);
    if (code == PAWL_OK)
        code = give_up_unit(worker, alone->row.deaths, limit, step, error);
    return code == PAWL_OK ? end_timeout(worker, alone, true, error) : code;
}

/* Nobody knows yet whether the worker of the stamp died: until then the lease is free. */
static pawl_code free_timeout(pawl__worker *worker, const pawl_timeout_row *row, pawl_step *step,
                              pawl_error *error)
{
    pawl__worker_pause(worker, PAUSE);
    step->is_idle  = true;
    pawl_code code = pawl_store_timeout_release(worker->store, row->id, &row->owner,
                                                worker->engine.machine_now, error);
    return code == PAWL_EGONE ? PAWL_OK : code;
}

/* A timeout is leased by a claim, so that no other worker reads its stamp meanwhile. */
static pawl_code run_timeout(pawl__worker *worker, pawl_time due_max, bool *did_run,
                             pawl_step *step, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    int32_t            limit = worker->endpoint->settings.deaths_max;
    pawl_timeout_rows  rows  = {.count = 0};
    mark               found;
    pawl_code          code = PAWL_OK;
    *did_run                = false;
    if (model->timeout_count > 0)
        code = pawl__claim_timeouts(worker, model->queue, due_max, 1, &rows, error);
    if (code != PAWL_OK || rows.count == 0)
        return code;
    pawl__alone alone = {.timeout = &rows.items[0]};
    *did_run          = true;
    code              = pawl__alone_read(worker, &alone, error);
    if (code == PAWL_OK)
        code = take_stamp(worker, "timeout", &alone.row, &found, error);
    if (code != PAWL_OK)
        return code;
    if (found == MARK_IN_HAND)
        return free_timeout(worker, alone.timeout, step, error);
    say_in_hand(worker, alone.timeout);
    code = limit > 0 && alone.row.deaths >= limit
               ? give_up_timeout(worker, &alone, limit, step, error)
               : run_stamped_timeout(worker, &alone, step, error);
    if (code == PAWL_OK)
        pawl__deaths_pass(worker, false);
    return code;
}

/* Under a virtual clock a timeout that is due before the next message, or with it, runs first, as
 * in a batch. */
static pawl_code run_earlier_timeout(pawl__worker *worker, pawl_time due_max, bool *did_run,
                                     pawl_step *step, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_next_due      next  = {PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
    *did_run                 = false;
    if (!worker->engine.is_virtual || model->timeout_count == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_next_due(worker->store, model->queue, NULL, 0, &next, error);
    if (code != PAWL_OK || next.queue > due_max)
        return code;
    return run_timeout(worker, next.queue, did_run, step, error);
}

pawl_code pawl__deaths_run_stamped(pawl__worker *worker, pawl_time due_max, pawl_step *step,
                                   pawl_error *error)
{
    pawl_queue_rows rows    = {.count = 0};
    bool            did_run = false;
    worker->was_alone       = false;
    worker->cut_count       = 0;
    pawl__batch_reset(worker->batch);
    worker->claim_count = 1; /* of batches again, and doubling */
    pawl_code code      = run_earlier_timeout(worker, due_max, &did_run, step, error);
    if (code != PAWL_OK || did_run)
        return code;
    code = claim_one(worker, NULL, due_max, &rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows.is_taken) {
        step->is_taken = true;
        return PAWL_OK;
    }
    code = pawl__ordered_check(worker, due_max, &rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows.count > 0)
        return run_message(worker, &rows.items[0], due_max, step, error);
    code = run_timeout(worker, due_max, &did_run, step, error);
    if (code == PAWL_OK && !did_run)
        pawl__deaths_pass(worker, true);
    return code;
}
