/* marker.c - writes and judges in-flight markers. The marker of an isolated run raises the row's crash count in
 * advance, so that a process that crashes has to write nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/isolation/marker.h"

#include "engine/history_marker.h"
#include "pawl/store_worker.h"
#include "runtime/worker/commit.h"

#include <unistd.h>

/* Time in which a worker that only lost its connection has reconnected, and ended its old row. */
#define GRACE PAWL_SECONDS(1)
/* Time in which a supervisor has noted the crash, if it does at all. */
#define GRACE_SUPERVISED PAWL_SECONDS(10)
/* Time in which a crash is noticed, and a live worker has claimed the row that it marked. */
#define LEFT_AFTER PAWL_SECONDS(60)

pawl_code pawl__marker_no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "no memory for an in-flight marker");
}

/* ---- Judging --------------------------------------------------------------------------- */

/* Is the worker of a marker among the live ones? */
typedef struct living {
    bool is_there; /* with the marker's epoch */
    bool is_back;  /* with another epoch: it has reconnected */
} living;

static pawl_code find_living(pawl__worker *worker, const pawl__history_marker *marker,
                             living *found, pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    *found                  = (living){false, false};
    pawl_code code = pawl_store_worker_list(worker->store, worker->read, &items, &count, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        if (pawl_uuid_compare(items[i].id.uuid, marker->worker) != 0)
            continue;
        found->is_there |= items[i].epoch == marker->epoch;
        found->is_back |= items[i].epoch != marker->epoch;
    }
    return code;
}

/* Has the marker been there for LEFT_AFTER, though its worker lives? A worker that lost an ordered queue while it ran a
 * message leaves its marker: its commit is refused, and it claims no more from that queue. */
static bool is_left(pawl__worker *worker, const pawl__history_marker *marker)
{
    int64_t    now = pawl__watch_now(worker->endpoint);
    pawl__met *met = &worker->met;
    for (size_t i = 0; i < PAWL__MET_MAX; i++) {
        const pawl__met_marker *it = &met->items[i];
        if (it->at == marker->at && pawl_uuid_compare(it->worker, marker->worker) == 0)
            return now - it->since >= LEFT_AFTER;
    }
    met->items[met->next++ % PAWL__MET_MAX] = (pawl__met_marker){marker->worker, marker->at, now};
    return false;
}

/* Reads the note about a crash of the worker or of its process; empty if there is none. */
static pawl_code read_note(pawl__worker *worker, const pawl__history_marker *marker, pawl_text *how,
                           pawl_error *error)
{
    pawl_worker_id id   = {marker->worker};
    pawl_code      code = pawl_store_worker_crash(worker->store, id, worker->read, how, error);
    if (code == PAWL_OK && how->size == 0 && pawl__history_marker_is_supervised(marker))
        code = pawl_store_process_crash(worker->store, marker->process, worker->read, how, error);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* Judges a worker that was found dead at `since`. It counts as crashed after GRACE; if supervised, after the
 * supervisor's note or GRACE_SUPERVISED. */
static pawl_code judge_death(pawl__worker *worker, const pawl__history_marker *marker,
                             pawl_time since, pawl_text *how, pawl__marker_owner *found,
                             pawl_error *error)
{
    pawl_time now = pawl__watch_now(worker->endpoint);
    *found        = PAWL__MARKER_UNSURE;
    if (now < pawl_time_add(since, GRACE))
        return PAWL_OK;
    pawl_code code = read_note(worker, marker, how, error);
    if (how->size > 0 || !pawl__history_marker_is_supervised(marker) ||
        now >= pawl_time_add(since, GRACE_SUPERVISED))
        *found = PAWL__MARKER_DIED;
    return code;
}

/* Judges a worker whose row was ended. It crashed if this process had found it dead, or if its supervisor noted a
 * crash. */
static pawl_code judge_ended(pawl__worker *worker, const pawl__history_marker *marker,
                             pawl_text *how, pawl__marker_owner *found, pawl_error *error)
{
    pawl_time since = pawl__crashes_remembered(worker->endpoint, (pawl_worker_id){marker->worker});
    if (since != PAWL_TIME_MAX)
        return judge_death(worker, marker, since, how, found, error);
    pawl_code code = read_note(worker, marker, how, error);
    if (how->size > 0)
        *found = PAWL__MARKER_DIED;
    return code;
}

/* `how`: the note about the crash, or empty. Markers of flushes and timeouts, in streams, are also read while these
 * run; a live worker always removes its own. */
static pawl_code judge(pawl__worker *worker, const pawl_queue_row *row,
                       const pawl__history_marker *marker, pawl_text *how,
                       pawl__marker_owner *found, pawl_error *error)
{
    pawl_worker_id id         = {marker->worker};
    pawl_time      since      = PAWL_TIME_MAX;
    living         alive      = {false, false};
    bool           is_message = row->seq != 0;
    *how                      = PAWL_TEXT("");
    *found                    = PAWL__MARKER_LIVES;
    if (pawl_uuid_compare(marker->worker, pawl_store_worker(worker->store).uuid) == 0)
        return PAWL_OK;
    pawl_code code = pawl__crashes_since(worker, id, &since, error);
    if (code != PAWL_OK)
        return code;
    if (since != PAWL_TIME_MAX)
        return judge_death(worker, marker, since, how, found, error);
    code = find_living(worker, marker, &alive, error);
    if (alive.is_there && !(is_message && is_left(worker, marker)))
        *found = PAWL__MARKER_IN_FLIGHT;
    if (code != PAWL_OK || alive.is_there || alive.is_back)
        return code;
    return judge_ended(worker, marker, how, found, error);
}

/* ---- Markers of batches ----------------------------------------------------------------- */

static pawl_code take_off(pawl__worker *worker, pawl_queue_row *row, pawl_error *error)
{
    row->history = pawl__history_marker_remove(worker->read, row->history);
    return row->history.data != NULL ? PAWL_OK : pawl__marker_no_memory(error);
}

/* For a marker of a batch: does its worker live? It need not be certain: a message that runs isolated without need
 * costs two commits, and no crash is counted. */
static pawl_code does_live(pawl__worker *worker, const pawl__history_marker *marker,
                           bool *is_living, pawl_error *error)
{
    pawl_time since = PAWL_TIME_MAX;
    living    alive = {false, false};
    *is_living      = pawl_uuid_compare(marker->worker, pawl_store_worker(worker->store).uuid) == 0;
    if (*is_living)
        return PAWL_OK;
    pawl_code code = pawl__crashes_since(worker, (pawl_worker_id){marker->worker}, &since, error);
    if (code != PAWL_OK || since != PAWL_TIME_MAX)
        return code;
    code       = find_living(worker, marker, &alive, error);
    *is_living = alive.is_there || alive.is_back;
    return code;
}

pawl_code pawl__marker_judge(pawl__worker *worker, pawl_queue_row *row,
                             pawl__marker_verdict *verdict, pawl_error *error)
{
    pawl__history_marker marker;
    pawl__marker_owner   found     = PAWL__MARKER_NONE;
    pawl_text            how       = PAWL_TEXT("");
    bool                 is_living = false;
    pawl_code            code      = PAWL_OK;
    *verdict                       = row->crashes > 0 ? PAWL__MARKER_ISOLATED : PAWL__MARKER_AMONG;
    if (row->history.size == 0 || !pawl__history_marker_read(worker->read, row->history, &marker))
        return PAWL_OK;
    if (marker.among == 0) {
        if (row->crashes > 0)
            code = judge(worker, row, &marker, &how, &found, error);
        if (found == PAWL__MARKER_IN_FLIGHT || found == PAWL__MARKER_UNSURE)
            *verdict = PAWL__MARKER_LATER;
        return code;
    }
    code = does_live(worker, &marker, &is_living, error);
    if (code != PAWL_OK || is_living)
        return code == PAWL_OK ? take_off(worker, row, error) : code;
    *verdict = PAWL__MARKER_ISOLATED;
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

static pawl_text describe(pawl_arena *arena, const char *noun, const pawl__history_marker *marker,
                          pawl_text how)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    bool is_noted = how.size > 0;
    pawl_uuid_format(marker->worker, id);
    return pawl_arena_printf(
        arena, "process %lld %.*s while it ran this %s in isolation (worker %s)%s",
        (long long)marker->pid, PAWL_TEXT_ARGS(is_noted ? how : PAWL_TEXT("crashed")), noun, id,
        is_noted ? "" : ", without saying why");
}

pawl_code pawl__marker_take(pawl__worker *worker, const char *noun, pawl_queue_row *row,
                            pawl__marker_owner *found, pawl_error *error)
{
    pawl__history_marker marker;
    pawl_text            text, how;
    *found = PAWL__MARKER_NONE;
    if (!pawl__history_marker_read(worker->read, row->history, &marker))
        return PAWL_OK;
    if (marker.among > 0)
        return take_off(worker, row, error);
    if (row->crashes == 0)
        return PAWL_OK;
    pawl_code code = judge(worker, row, &marker, &how, found, error);
    if (code != PAWL_OK || *found == PAWL__MARKER_IN_FLIGHT || *found == PAWL__MARKER_UNSURE)
        return code;
    if (*found == PAWL__MARKER_LIVES) {
        row->crashes--;
        return take_off(worker, row, error);
    }
    text = describe(worker->read, noun, &marker, how);
    if (text.data != NULL)
        row->history = pawl__history_marker_to_crash(worker->read, row->history, text);
    if (text.data == NULL || row->history.data == NULL)
        return pawl__marker_no_memory(error);
    say_death(worker, noun, row, text);
    return PAWL_OK;
}

/* ---- Stamping and giving up -------------------------------------------------------------- */

pawl_text pawl__marker_add(pawl__worker *worker, pawl_text history, size_t among)
{
    const pawl__history_marker marker = {.worker  = pawl_store_worker(worker->store).uuid,
                                         .epoch   = pawl_store_epoch(worker->store),
                                         .pid     = getpid(),
                                         .at      = worker->engine.machine_now,
                                         .process = pawl_worker_process(),
                                         .among   = (int64_t)among};
    return pawl__history_marker_add(worker->read, history, &marker);
}

pawl_queue_settle pawl__marker_settle(const pawl__worker *worker, const pawl_queue_row *row,
                                      pawl_queue_action action, int32_t crashes, pawl_text history)
{
    return (pawl_queue_settle){.action        = action,
                               .queue         = worker->endpoint->model->queue,
                               .seq           = row->seq,
                               .due           = row->due,
                               .attempts      = row->attempts,
                               .crashes       = crashes,
                               .waiting_since = row->waiting_since,
                               .history       = history};
}

bool pawl__isolated_is_spent(const pawl__worker *worker, const pawl_queue_row *row)
{
    int32_t limit = worker->endpoint->settings.crashes_max;
    return limit > 0 && row->crashes >= limit;
}

/* A dead letter contains the history. A partition does not, so its error describes the last crash. */
static pawl_text text_of_end(pawl__worker *worker, const pawl_queue_row *row)
{
    bool      is_flush = worker->batch->units[0].kind == PAWL__UNIT_FLUSH;
    pawl_text last     = is_flush ? pawl__history_last_error(worker->read, row->history)
                                  : PAWL_TEXT("see its history");
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
