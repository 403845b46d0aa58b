/* marker.c - see marker.h. A row has the crash of its marker counted ahead: crashes is one more while it is
 * in flight, so that nothing has to be written by the process that crashes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/isolation/marker.h"

#include "engine/stamp.h"
#include "pawl/store_worker.h"
#include "runtime/worker/commit.h"

#include <unistd.h>

/* A worker that only lost its connection has come back by then, and ended its old row. */
#define GRACE PAWL_SECONDS(1)
/* A supervisor has noted the death by then, or will not. */
#define GRACE_SUPERVISED PAWL_SECONDS(10)
/* A death is known by then, and a worker that lives has claimed what it stamped. */
#define LEFT_AFTER PAWL_SECONDS(60)

pawl_code pawl__marker_no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "no memory for an in-flight marker");
}

/* ---- Judging --------------------------------------------------------------------------- */

/* The worker of a stamp among those that live. */
typedef struct living {
    bool is_there; /* with the stamp's epoch */
    bool is_back;  /* with another one: its connection was lost */
} living;

static pawl_code find_living(pawl__worker *worker, const pawl__stamp *stamp, living *found,
                             pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    *found                  = (living){false, false};
    pawl_code code = pawl_store_worker_list(worker->store, worker->read, &items, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        if (pawl_uuid_compare(items[i].id.uuid, stamp->worker) != 0)
            continue;
        found->is_there |= items[i].epoch == stamp->epoch;
        found->is_back |= items[i].epoch != stamp->epoch;
    }
    return code;
}

/* Has nobody claimed the message for long since this worker met its stamp first? A worker that lost an ordered queue
 * while it ran a message leaves its stamp there: its commit is refused, and it claims no more from that queue. */
static bool is_left(pawl__worker *worker, const pawl__stamp *stamp)
{
    int64_t    now = pawl__watch_now(worker->endpoint);
    pawl__met *met = &worker->met;
    for (size_t i = 0; i < PAWL__MET_MAX; i++) {
        const pawl__met_stamp *it = &met->items[i];
        if (it->at == stamp->at && pawl_uuid_compare(it->worker, stamp->worker) == 0)
            return now - it->since >= LEFT_AFTER;
    }
    met->items[met->next++ % PAWL__MET_MAX] = (pawl__met_stamp){stamp->worker, stamp->at, now};
    return false;
}

/* The text of a death that was noted, of the worker or of its process, or empty. */
static pawl_code read_note(pawl__worker *worker, const pawl__stamp *stamp, pawl_text *how,
                           pawl_error *error)
{
    pawl_worker_id id   = {stamp->worker};
    pawl_code      code = pawl_store_worker_crash(worker->store, id, worker->read, how, error);
    if (code == PAWL_OK && how->size == 0 && pawl__stamp_is_supervised(stamp))
        code = pawl_store_process_crash(worker->store, stamp->process, worker->read, how, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* A death that is known is sure after a while, which a note makes short. */
static pawl_code judge_death(pawl__worker *worker, const pawl__stamp *stamp, pawl_time since,
                             pawl_text *how, pawl__marker_owner *found, pawl_error *error)
{
    pawl_time now = pawl__watch_now(worker->endpoint);
    *found        = PAWL__MARKER_UNSURE;
    if (now < pawl_time_add(since, GRACE))
        return PAWL_OK;
    pawl_code code = read_note(worker, stamp, how, error);
    if (how->size > 0 || !pawl__stamp_is_supervised(stamp) ||
        now >= pawl_time_add(since, GRACE_SUPERVISED))
        *found = PAWL__MARKER_DIED;
    return code;
}

/* Of a worker that has no row any more: somebody ended it. It had died when this process knew it for
 * dead, or its supervisor noted it. */
static pawl_code judge_ended(pawl__worker *worker, const pawl__stamp *stamp, pawl_text *how,
                             pawl__marker_owner *found, pawl_error *error)
{
    pawl_time since = pawl__crashes_remembered(worker->endpoint, (pawl_worker_id){stamp->worker});
    if (since != PAWL_TIME_MAX)
        return judge_death(worker, stamp, since, how, found, error);
    pawl_code code = read_note(worker, stamp, how, error);
    if (how->size > 0)
        *found = PAWL__MARKER_DIED;
    return code;
}

/* `how`: the text of a death that was noted, or empty. The stamps of flushes and timeouts, which are in streams, are met
 * while they run, too: a worker that lives takes its own off, and leaves none. */
static pawl_code judge(pawl__worker *worker, const pawl_queue_row *row, const pawl__stamp *stamp,
                       pawl_text *how, pawl__marker_owner *found, pawl_error *error)
{
    pawl_worker_id id         = {stamp->worker};
    pawl_time      since      = PAWL_TIME_MAX;
    living         alive      = {false, false};
    bool           is_message = row->seq != 0;
    *how                      = PAWL_TEXT("");
    *found                    = PAWL__MARKER_LIVES;
    if (pawl_uuid_compare(stamp->worker, pawl_store_worker(worker->store).uuid) == 0)
        return PAWL_OK;
    pawl_code code = pawl__crashes_since(worker, id, &since, error);
    if (code != PAWL_OK)
        return code;
    if (since != PAWL_TIME_MAX)
        return judge_death(worker, stamp, since, how, found, error);
    code = find_living(worker, stamp, &alive, error);
    if (alive.is_there && !(is_message && is_left(worker, stamp)))
        *found = PAWL__MARKER_IN_FLIGHT;
    if (code != PAWL_OK || alive.is_there || alive.is_back)
        return code;
    return judge_ended(worker, stamp, how, found, error);
}

/* ---- Among others ----------------------------------------------------------------------- */

static pawl_code take_off(pawl__worker *worker, pawl_queue_row *row, pawl_error *error)
{
    row->history = pawl__stamp_remove(worker->read, row->history);
    return row->history.data != NULL ? PAWL_OK : pawl__marker_no_memory(error);
}

/* Of a stamp among others: does its worker live? Nothing waits to be sure, since a message that runs alone without need
 * costs two commits and counts nothing. */
static pawl_code does_live(pawl__worker *worker, const pawl__stamp *stamp, bool *is_living,
                           pawl_error *error)
{
    pawl_time since = PAWL_TIME_MAX;
    living    alive = {false, false};
    *is_living      = pawl_uuid_compare(stamp->worker, pawl_store_worker(worker->store).uuid) == 0;
    if (*is_living)
        return PAWL_OK;
    pawl_code code = pawl__crashes_since(worker, (pawl_worker_id){stamp->worker}, &since, error);
    if (code != PAWL_OK || since != PAWL_TIME_MAX)
        return code;
    code       = find_living(worker, stamp, &alive, error);
    *is_living = alive.is_there || alive.is_back;
    return code;
}

pawl_code pawl__marker_judge(pawl__worker *worker, pawl_queue_row *row,
                             pawl__marker_verdict *verdict, pawl_error *error)
{
    pawl__stamp        stamp;
    pawl__marker_owner found     = PAWL__MARKER_NONE;
    pawl_text          how       = PAWL_TEXT("");
    bool               is_living = false;
    pawl_code          code      = PAWL_OK;
    *verdict                     = row->crashes > 0 ? PAWL__MARKER_ALONE : PAWL__MARKER_AMONG;
    if (row->history.size == 0 || !pawl__stamp_read(worker->read, row->history, &stamp))
        return PAWL_OK;
    if (stamp.among == 0) {
        if (row->crashes > 0)
            code = judge(worker, row, &stamp, &how, &found, error);
        if (found == PAWL__MARKER_IN_FLIGHT || found == PAWL__MARKER_UNSURE)
            *verdict = PAWL__MARKER_LATER;
        return code;
    }
    code = does_live(worker, &stamp, &is_living, error);
    if (code != PAWL_OK || is_living)
        return code == PAWL_OK ? take_off(worker, row, error) : code;
    *verdict = PAWL__MARKER_ALONE;
    return PAWL_OK;
}

/* ---- Taking ---------------------------------------------------------------------------- */

static void say_death(const pawl__worker *worker, const char *noun, const pawl_queue_row *row,
                      pawl_text text)
{
    bool has_type = row->message.type.size > 0;
    pawl_log(PAWL_LOG_WARNING, "endpoint %s: %s %.*s%s%.*s: %.*s; crash %d of it",
             worker->endpoint->model->endpoint.data, noun, PAWL_TEXT_ARGS(row->message.id),
             has_type ? " of type " : "", PAWL_TEXT_ARGS(row->message.type), PAWL_TEXT_ARGS(text),
             row->crashes);
}

static pawl_text describe(pawl_arena *arena, const char *noun, const pawl__stamp *stamp,
                          pawl_text how)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    bool is_noted = how.size > 0;
    pawl_uuid_format(stamp->worker, id);
    return pawl_arena_printf(
        arena, "process %lld %.*s while it ran this %s in isolation (worker %s)%s",
        (long long)stamp->pid, PAWL_TEXT_ARGS(is_noted ? how : PAWL_TEXT("crashed")), noun, id,
        is_noted ? "" : ", without saying why");
}

pawl_code pawl__marker_take(pawl__worker *worker, const char *noun, pawl_queue_row *row,
                            pawl__marker_owner *found, pawl_error *error)
{
    pawl__stamp stamp;
    pawl_text   text, how;
    *found = PAWL__MARKER_NONE;
    if (!pawl__stamp_read(worker->read, row->history, &stamp))
        return PAWL_OK;
    if (stamp.among > 0)
        return take_off(worker, row, error);
    if (row->crashes == 0)
        return PAWL_OK;
    pawl_code code = judge(worker, row, &stamp, &how, found, error);
    if (code != PAWL_OK || *found == PAWL__MARKER_IN_FLIGHT || *found == PAWL__MARKER_UNSURE)
        return code;
    if (*found == PAWL__MARKER_LIVES) {
        row->crashes--;
        return take_off(worker, row, error);
    }
    text = describe(worker->read, noun, &stamp, how);
    if (text.data != NULL)
        row->history = pawl__stamp_died(worker->read, row->history, text);
    if (text.data == NULL || row->history.data == NULL)
        return pawl__marker_no_memory(error);
    say_death(worker, noun, row, text);
    return PAWL_OK;
}

/* ---- Stamping and giving up -------------------------------------------------------------- */

pawl_text pawl__marker_add(pawl__worker *worker, pawl_text history, size_t among)
{
    const pawl__stamp stamp = {.worker  = pawl_store_worker(worker->store).uuid,
                               .epoch   = pawl_store_epoch(worker->store),
                               .pid     = getpid(),
                               .at      = worker->engine.machine_now,
                               .process = pawl_worker_process(),
                               .among   = (int64_t)among};
    return pawl__stamp_add(worker->read, history, &stamp);
}

bool pawl__isolated_is_spent(const pawl__worker *worker, const pawl_queue_row *row)
{
    int32_t limit = worker->endpoint->settings.crashes_max;
    return limit > 0 && row->crashes >= limit;
}

/* A letter takes the history along. A partition does not: its error has the last death. */
static pawl_text text_of_end(pawl__worker *worker, const pawl_queue_row *row)
{
    bool      is_flush = worker->batch->units[0].kind == PAWL__UNIT_FLUSH;
    pawl_text last =
        is_flush ? pawl__stamp_told(worker->read, row->history) : PAWL_TEXT("see its history");
    return pawl_arena_printf(
        worker->read, "its process crashed %d time%s while it ran in isolation, limit %d; %.*s",
        row->crashes, row->crashes == 1 ? "" : "s", worker->endpoint->settings.crashes_max,
        PAWL_TEXT_ARGS(last));
}

pawl_code pawl__isolated_give_up(pawl__worker *worker, const pawl_queue_row *row, pawl_step *step,
                                 pawl_error *error)
{
    pawl__outcome     ignored;
    pawl__commit_mode fail = {PAWL__COMMIT_FAIL, PAWL_ECRASHED, NULL};
    pawl_text         text = text_of_end(worker, row);
    if (text.data == NULL)
        return pawl__marker_no_memory(error);
    fail.text = text.data;
    pawl_arena_reset(worker->kept);
    return pawl__commit_batch(worker, &fail, &ignored, step, error);
}
