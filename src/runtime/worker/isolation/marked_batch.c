/* marked_batch.c - writes in-flight markers into the rows of a batch before it runs, for a time after a crash.
 *
 *     claim -> judge -> a suspect, or crashes ---> all are released; the head runs isolated (isolated_run.c)
 *                    -> in flight, or unsure ----> it leaves the batch
 *                    -> marker in one commit -----> claim again by number -> run as a batch
 *
 * The commit of the markers ends claims that are row locks. Another worker may claim a message before this one does so
 * again; it finds the marker of a live worker, and ignores it. In memory the row has no marker, so a retry overwrites
 * the one in the store; otherwise that goes with the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/ordered/ordered.h"
#include "runtime/worker/commit.h"
#include "runtime/worker/isolation/marker.h"

/* ---- Looking ---------------------------------------------------------------------------- */

/* The row with crash count and history of a unit: its own, or that of a timeout's stream. NULL: the unit cannot have
 * caused a crash. */
static pawl_code row_of(pawl__worker *worker, size_t index, pawl_queue_row **row, pawl_error *error)
{
    pawl__unit *unit = &worker->batch->units[index];
    *row             = NULL;
    if (unit->kind == PAWL__UNIT_MESSAGE)
        *row = &unit->row;
    if (unit->kind != PAWL__UNIT_TIMEOUT || worker->isolated == NULL)
        return PAWL_OK;
    pawl__isolated *it = &worker->isolated[index];
    *row               = &it->row;
    return pawl__isolated_read_timeout(worker, &unit->timeout, it, error);
}

/* May units leave the batch? Not on an ordered endpoint or under a virtual clock, where later ones would have to wait
 * for them. */
static bool may_leave(const pawl__worker *worker)
{
    return worker->isolated != NULL && worker->ordered == NULL && !worker->engine.is_virtual;
}

static pawl_code judge_all(pawl__worker *worker, pawl__marker_verdict *verdicts, size_t *alone,
                           size_t *later, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *alone = *later = 0;
    for (size_t i = 0; i < worker->batch->unit_count && code == PAWL_OK; i++) {
        pawl_queue_row *row;
        verdicts[i] = PAWL__MARKER_AMONG;
        code        = row_of(worker, i, &row, error);
        if (code == PAWL_OK && row != NULL)
            code = pawl__marker_judge(worker, row, &verdicts[i], error);
        if (verdicts[i] == PAWL__MARKER_LATER && !may_leave(worker))
            verdicts[i] = PAWL__MARKER_ISOLATED;
        if (verdicts[i] == PAWL__MARKER_ISOLATED)
            *alone = i + 1;
        *later += verdicts[i] == PAWL__MARKER_LATER;
    }
    return code;
}

/* Removes units that must not run now. Claims of messages end with the commit of the markers. */
static pawl_code leave_out(pawl__worker *worker, const pawl__marker_verdict *verdicts,
                           pawl_error *error)
{
    pawl__batch *batch = worker->batch;
    size_t       kept  = 0;
    pawl_code    code  = PAWL_OK;
    worker->left_out   = pawl_arena_take(worker->read, batch->unit_count * sizeof(int64_t));
    if (worker->left_out == NULL)
        return pawl__marker_no_memory(error);
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (verdicts[i] != PAWL__MARKER_LATER) {
            worker->isolated[kept] = worker->isolated[i];
            batch->units[kept++]   = *unit;
        } else if (unit->kind == PAWL__UNIT_MESSAGE) {
            worker->left_out[worker->left_out_count++] = unit->row.seq;
        } else {
            code = pawl__isolated_free_timeout(worker, &unit->timeout, error);
        }
    }
    batch->unit_count = kept;
    return code;
}

static pawl_code judge_batch(pawl__worker *worker, size_t *alone, size_t *later,
                             pawl__marker_verdict **verdicts, pawl_error *error)
{
    size_t count           = worker->batch->unit_count;
    *verdicts              = pawl_arena_take(worker->read, count * sizeof **verdicts);
    worker->isolated       = NULL;
    worker->left_out_count = 0;
    if (worker->is_marked)
        worker->isolated = pawl_arena_take(worker->read, count * sizeof *worker->isolated);
    if (*verdicts == NULL || (worker->is_marked && worker->isolated == NULL))
        return pawl__marker_no_memory(error);
    return judge_all(worker, *verdicts, alone, later, error);
}

pawl_code pawl__marked_batch_judge(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl__marker_verdict *verdicts;
    size_t                count = worker->batch->unit_count, alone = 0, later = 0;
    pawl_code             code = judge_batch(worker, &alone, &later, &verdicts, error);
    worker->has_left_out       = code == PAWL_OK && alone + later > 0;
    if (code != PAWL_OK || !worker->has_left_out)
        return code;
    if (worker->isolated == NULL)
        pawl__isolation_mark_next(worker->endpoint, count);
    else if (alone > 0)
        pawl__isolation_isolate_next(worker->endpoint, alone);
    else if (later < count)
        return leave_out(worker, verdicts, error);
    else
        pawl__worker_pause(worker, PAWL__MARKER_PAUSE);
    return pawl__commit_release(worker, step, error);
}

/* ---- Stamping --------------------------------------------------------------------------- */

/* The changes that write markers, each in its own group, and after them those that release claims. */
typedef struct markers {
    pawl_queue_settle *settles;
    pawl_event_append *appends;
    int64_t           *seqs; /* of the marked messages */
    size_t             settle_count, append_count, seq_count;
    uint32_t           groups;
} markers;

static void put_settle(markers *made, pawl_queue_settle settle)
{
    settle.unit = settle.group          = made->groups++;
    made->settles[made->settle_count++] = settle;
}

static pawl_code put_stamp(pawl__worker *worker, size_t index, markers *made, pawl_error *error)
{
    const pawl__batch    *batch   = worker->batch;
    const pawl__unit     *unit    = &batch->units[index];
    const pawl_queue_row *row     = &unit->row;
    bool                  is_late = unit->kind == PAWL__UNIT_TIMEOUT;
    if (unit->kind != PAWL__UNIT_MESSAGE && !is_late)
        return PAWL_OK;
    if (is_late && worker->isolated[index].stream.size == 0) /* the store has no events */
        return PAWL_OK;
    pawl_text history = pawl__marker_add(
        worker, is_late ? worker->isolated[index].row.history : row->history, batch->unit_count);
    if (history.data == NULL)
        return pawl__marker_no_memory(error);
    if (is_late) {
        pawl_event_append *append = &made->appends[made->append_count++];
        *append      = pawl__isolated_next_event(worker, &worker->isolated[index], history);
        append->unit = append->group = made->groups++;
        return PAWL_OK;
    }
    made->seqs[made->seq_count++] = row->seq;
    put_settle(made, pawl__marker_settle(worker, row, PAWL_QUEUE_RETRY, row->crashes, history));
    return PAWL_OK;
}

static pawl_code make_stamps(pawl__worker *worker, markers *made, pawl_error *error)
{
    size_t    count = worker->batch->unit_count, all = count + worker->left_out_count;
    pawl_code code = PAWL_OK;
    *made = (markers){.settles = pawl_arena_take(worker->read, all * sizeof *made->settles),
                      .appends = pawl_arena_take(worker->read, count * sizeof *made->appends),
                      .seqs    = pawl_arena_take(worker->read, count * sizeof *made->seqs)};
    if (made->settles == NULL || made->appends == NULL || made->seqs == NULL)
        return pawl__marker_no_memory(error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        code = put_stamp(worker, i, made, error);
    for (size_t i = 0; i < worker->left_out_count && code == PAWL_OK; i++)
        put_settle(made, pawl__marker_settle(worker, &(pawl_queue_row){.seq = worker->left_out[i]},
                                             PAWL_QUEUE_RELEASE, 0, PAWL_TEXT("")));
    return code;
}

/* The batch keeps its rows without markers, so that a retry overwrites the marker. */
static pawl_code claim_again(pawl__worker *worker, const markers *made, pawl_time due_max,
                             pawl_error *error)
{
    pawl__batch    *batch = worker->batch;
    pawl_queue_rows rows  = {.count = 0};
    size_t          kept  = 0;
    pawl_code code = pawl__claim_seqs(worker, made->seqs, made->seq_count, due_max, &rows, error);
    if (code == PAWL_OK)
        code = pawl__ordered_check(worker, &rows, error);
    for (size_t i = 0; i < batch->unit_count && code == PAWL_OK; i++)
        if (batch->units[i].kind != PAWL__UNIT_MESSAGE ||
            pawl__ordered_has(&rows, batch->units[i].row.seq))
            batch->units[kept++] = batch->units[i];
    batch->unit_count = code == PAWL_OK ? kept : 0;
    worker->has_left_out |= kept == 0; /* others have them, so the queue may not be empty */
    return code;
}

pawl_code pawl__marked_batch_write(pawl__worker *worker, pawl_time due_max, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->read};
    markers       made;
    pawl_code     code = make_stamps(worker, &made, error);
    if (code != PAWL_OK || made.groups == 0)
        return code;
    pawl_changes changes = {.group_count  = made.groups,
                            .unit_count   = made.groups,
                            .now          = worker->engine.machine_now,
                            .queue_settle = {made.settles, made.settle_count},
                            .event_append = {made.appends, made.append_count}};
    code                 = pawl_store_commit(worker->store, &changes, &refused, error);
    return code == PAWL_OK && made.seq_count > 0 ? claim_again(worker, &made, due_max, error)
                                                 : code;
}
