/* process.c - runs what a worker claimed, commits, and runs again what was
 * refused.
 *
 *     begin -> load -> run -> changes -> commit
 *       ^                                  | refused
 *       +------ one by one, in order <-----+--> given back: its saga became hot
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/lend.h"

/* How far a batch came: what failed was under way. */
typedef enum stage {
    STAGE_BEGIN,
    STAGE_LOAD,
    STAGE_RUN,
    STAGE_COMMIT,
    STAGE_AFTER, /* the commit stands */
} stage;

/* The units that have to run again, kept while the batch is reset. */
typedef struct again {
    stage       stage;
    pawl__unit *units;
    size_t      count;
    const bool *is_refused; /* by group of the batch just committed */
    bool       *is_back;    /* by unit: not to run here, but to be claimed again */
} again;

static bool is_lost(const pawl_refusal *refusal)
{
    return refusal->reason == PAWL_EGONE && (refusal->kind == pawl_change_queue_settle ||
                                             refusal->kind == pawl_change_timeout_settle);
}

static bool copy_texts(pawl_arena *arena, pawl_text **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *texts[i] = pawl_arena_text(arena, *texts[i]);
        if (texts[i]->data == NULL)
            return false;
    }
    return true;
}

static bool copy_message(pawl_arena *arena, pawl_message *message)
{
    pawl_text *texts[] = {&message->id,      &message->type,           &message->body,
                          &message->headers, &message->correlation_id, &message->causation_id};
    return copy_texts(arena, texts, sizeof texts / sizeof texts[0]);
}

/* Its attempts go where those of earlier deliveries are. */
static bool copy_unit(pawl_arena *arena, pawl__batch *batch, pawl__unit *unit)
{
    unit->row.history   = pawl_arena_text(arena, pawl__unit_history(batch, unit));
    unit->attempts      = NULL;
    unit->attempt_count = unit->attempt_capacity = 0;
    if (unit->kind == PAWL__UNIT_MESSAGE)
        return unit->row.history.data != NULL && copy_message(arena, &unit->row.message);
    pawl_timeout_row *row     = &unit->timeout;
    pawl_text        *texts[] = {&row->saga_type, &row->name, &row->destination, &row->headers,
                                 &row->correlation_id};
    return copy_texts(arena, texts, sizeof texts / sizeof texts[0]);
}

/* Does the unit have to run again? Not when its claim was lost: it is another
 * worker's now. A refused flush is left to the next look. */
static bool is_again(pawl__batch *batch, const pawl__unit *unit, const bool *is_refused,
                     const bool *is_gone)
{
    if (unit->end == PAWL__END_AGAIN)
        return true;
    return is_refused[pawl__group_of(batch, unit->index)] && !is_gone[unit->index] &&
           unit->kind != PAWL__UNIT_FLUSH && unit->end != PAWL__END_RELEASED;
}

static pawl_code keep_again(pawl__worker *worker, const pawl_refusals *refused, again *list)
{
    pawl__batch *batch      = worker->batch;
    bool        *is_refused = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    bool        *is_gone    = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    list->count             = 0;
    list->is_refused        = is_refused;
    bool *is_back           = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    list->is_back           = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    list->units = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof list->units[0]);
    if (is_refused == NULL || is_gone == NULL || is_back == NULL || list->is_back == NULL ||
        list->units == NULL)
        return PAWL_ENOMEM;
    pawl__hot_note(worker, refused, is_back);
    for (size_t i = 0; i < refused->count; i++) {
        const pawl_refusal *refusal = &refused->items[i];
        /* Two workers that handled one version of a saga make the same dispatch ids:
         * that the bodies differ says no more than that the other was first. */
        if (refusal->reason == PAWL_EMISMATCH && is_refused[refusal->group])
            continue;
        is_refused[refusal->group] = true;
        if (is_lost(refusal)) {
            /* The others of its group were as free as this message was, and would be
             * asked for in vain one by one. */
            is_gone[refusal->unit] = true;
            is_back[refusal->group] |= refusal->kind == pawl_change_queue_settle;
        }
        batch->units[refusal->unit].code  = refusal->reason;
        batch->units[refusal->unit].error = refusal->text;
    }
    for (size_t i = 0; i < batch->unit_count; i++) {
        if (!is_again(batch, &batch->units[i], is_refused, is_gone))
            continue;
        list->is_back[list->count] = is_back[pawl__group_of(batch, (uint32_t)i)];
        pawl__unit *kept           = &list->units[list->count++];
        *kept                      = batch->units[i];
        if (!copy_unit(worker->kept, worker->batch, kept))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

/* A flush that was refused leaves its messages to the next one. */
static pawl_code release_refused(pawl__worker *worker, const bool *is_refused, pawl_error *error)
{
    pawl__batch  *batch   = worker->batch;
    pawl_refusals refused = {.arena = worker->kept};
    pawl_changes  changes = {.group_count = 1, .unit_count = 1, .now = worker->engine.machine_now};
    pawl_snapshot_release *items =
        pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof *items);
    if (items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to release a snapshot");
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].kind == PAWL__UNIT_FLUSH &&
            is_refused[pawl__group_of(batch, (uint32_t)i)])
            items[changes.snapshot_release.count++] = (pawl_snapshot_release){
                .partition = batch->units[i].flush.partition, .session = batch->units[i].session};
    changes.snapshot_release.items = items;
    if (changes.snapshot_release.count == 0)
        return PAWL_OK;
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

static bool is_counted(const pawl__unit *unit)
{
    return unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DISCARDED ||
           unit->end == PAWL__END_DEAD;
}

/* The fence counted every unit of the change set; what was refused is taken
 * back by the next commit, which counts it again when it is handled. */
static void take_back(pawl__worker *worker, const pawl__unit *unit)
{
    worker->correction.conflicts++;
    if (!is_counted(unit) || (unit->kind == PAWL__UNIT_FLUSH && unit->end == PAWL__END_DEAD))
        return;
    worker->correction.messages--;
    worker->correction.timeouts -=
        unit->kind == PAWL__UNIT_TIMEOUT || unit->kind == PAWL__UNIT_FORWARD;
    worker->correction.flushes -= unit->kind == PAWL__UNIT_FLUSH;
    worker->correction.dead -= unit->end == PAWL__END_DEAD;
}

static void count_units(pawl__worker *worker, const bool *is_refused, pawl_step *step)
{
    pawl__batch *batch = worker->batch;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (unit->end == PAWL__END_RELEASED || unit->end == PAWL__END_AGAIN ||
            unit->end == PAWL__END_ELSEWHERE)
            continue;
        if (is_refused != NULL && is_refused[pawl__group_of(batch, unit->index)]) {
            step->refused++;
            take_back(worker, unit);
            continue;
        }
        if (unit->now > worker->virtual_now)
            worker->virtual_now = unit->now;
        step->handled += is_counted(unit);
        step->dead += unit->end == PAWL__END_DEAD;
        if (is_counted(unit))
            pawl__metric_add(&worker->endpoint->metrics, PAWL__METRIC_NOT_FOUND, 0,
                             unit->not_found);
    }
}

static void add_correction(const pawl__worker *worker, pawl_counters *counters)
{
    counters->messages += worker->correction.messages;
    counters->timeouts += worker->correction.timeouts;
    counters->flushes += worker->correction.flushes;
    counters->conflicts += worker->correction.conflicts;
    counters->dead += worker->correction.dead;
}

pawl_code pawl__worker_correct(pawl__worker *worker, pawl_error *error)
{
    pawl_changes changes = {
        .group_count = 1, .unit_count = 1, .now = pawl__machine_now(worker->endpoint)};
    if (worker->correction.conflicts == 0)
        return PAWL_OK; /* each unit that was refused counts one */
    add_correction(worker, &changes.counters);
    pawl_code code = pawl_store_commit(worker->store, &changes, NULL, error);
    if (code == PAWL_OK)
        worker->correction = (pawl_counters){0};
    return code;
}

static pawl_code commit(pawl__worker *worker, pawl_refusals *refused, pawl_error *error)
{
    add_correction(worker, &worker->batch->changes.counters);
    pawl_code code = pawl__worker_commit(worker, &worker->batch->changes, refused, error);
    if (code == PAWL_OK) {
        worker->correction = (pawl_counters){0};
        worker->dispatched += (int64_t)worker->batch->changes.outbox_add.count;
    }
    return code;
}

static pawl_code run_batch(pawl__worker *worker, stage *reached, pawl_error *error)
{
    pawl_store  *store = worker->store;
    pawl__batch *batch = worker->batch;
    *reached           = STAGE_BEGIN;
    pawl_code code     = pawl__batch_begin(batch, error);
    for (size_t i = 0; i < batch->unit_count; i++)
        worker->was_alone |= batch->units[i].is_alone;
    if (code == PAWL_OK && batch->has_sql)
        code = store->ops->hold_begin(store, error);
    if (code == PAWL_OK) {
        *reached = STAGE_LOAD;
        code     = pawl__batch_load(batch, error);
    }
    if (code == PAWL_OK) {
        *reached = STAGE_RUN;
        code     = pawl__batch_run(batch, error);
    }
    if (code == PAWL_OK)
        code = pawl__batch_changes(batch, error);
    pawl__hot_meet(worker);
    return code;
}

/* A handler with its own SQL that failed must leave none of it behind: its
 * transaction is rolled back before the failure itself is written down. */
static void drop_failed_sql(pawl__worker *worker)
{
    pawl__batch *batch = worker->batch;
    if (batch->has_sql && batch->unit_count > 0 && batch->units[0].end != PAWL__END_HANDLED &&
        batch->units[0].end != PAWL__END_NEW)
        worker->store->ops->hold_end(worker->store);
}

/* What follows a commit: the units that run again, the counts, the partitions
 * that may be full now. */
static pawl_code after_commit(pawl__worker *worker, const pawl_refusals *refused, again *list,
                              pawl_step *step, pawl_error *error)
{
    pawl_code code = keep_again(worker, refused, list);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for the units of a refused group");
    count_units(worker, list->is_refused, step);
    code = pawl__flush_note(worker, error);
    return code == PAWL_OK ? release_refused(worker, list->is_refused, error) : code;
}

/* Frees what was claimed and will not run, and writes nothing else. A refusal
 * says that the claim is gone already. */
static pawl_code release(pawl__worker *worker, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    return pawl_store_commit(worker->store, &worker->batch->changes, &refused, error);
}

/* Once: run and commit. PAWL_OK with the units that run again in `list`. What
 * others have in hand as a whole (batch->is_elsewhere) is the caller's to free. */
static pawl_code run_and_commit(pawl__worker *worker, again *list, pawl_step *step,
                                pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl_code     code    = run_batch(worker, &list->stage, error);
    if (code == PAWL_OK && worker->batch->is_elsewhere)
        return PAWL_OK;
    if (code == PAWL_OK) {
        drop_failed_sql(worker);
        list->stage = STAGE_COMMIT;
        code        = commit(worker, &refused, error);
    }
    if (worker->batch->has_sql)
        worker->store->ops->hold_end(worker->store);
    if (code != PAWL_OK)
        return code;
    list->stage = STAGE_AFTER;
    code        = after_commit(worker, &refused, list, step, error);
    return code == PAWL_OK ? pawl__worker_send_deferred(worker, error) : code;
}

static pawl_code add_unit(pawl__worker *worker, const pawl__unit *unit)
{
    return unit->kind == PAWL__UNIT_MESSAGE
               ? pawl__batch_add_message(worker->batch, &unit->row, unit->conflicts)
               : pawl__batch_add_timeout(worker->batch, &unit->timeout);
}

static pawl_code add_again(pawl__worker *worker, const pawl__unit *unit)
{
    pawl__batch_reset(worker->batch);
    pawl_code code = add_unit(worker, unit);
    if (code == PAWL_OK) {
        worker->batch->units[0].now  = unit->now;
        worker->batch->units[0].runs = unit->runs;
        /* A timeout's lies nowhere else. */
        worker->batch->units[0].row.history = unit->row.history;
    }
    return code;
}

/* This one unit cannot be loaded, run or committed, whatever is tried. */
static pawl_code give_up(pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                         const char *text, pawl_step *step, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    again         list    = {.count = 0};
    pawl_code     code    = add_again(worker, unit);
    if (text[0] == '\0')
        text = pawl_code_text(why);
    if (code == PAWL_OK) {
        pawl__batch_fail(worker->batch, why, text);
        code = pawl__batch_changes(worker->batch, error);
    }
    if (code == PAWL_OK)
        code = commit(worker, &refused, error);
    /* Refused: someone else ended the message; its claim goes with the handle. */
    return code == PAWL_OK ? after_commit(worker, &refused, &list, step, error) : code;
}

/* Is it about what the units want written? */
static bool is_about_content(pawl_code code, const again *list)
{
    return list->stage != STAGE_AFTER && (code == PAWL_EINVAL || code == PAWL_ELIMIT ||
                                          code == PAWL_EUNSUPPORTED || code == PAWL_EDECODE);
}

static bool is_short(pawl_code code, const again *list)
{
    return code == PAWL_ENOMEM && list->stage != STAGE_AFTER;
}

/* Row locks of others kept the one unit, which has its transaction open, from being
 * loaded or committed: its own failure, not the store's. */
static bool is_locked(const pawl__worker *worker, pawl_code code, const again *list)
{
    return worker->batch->has_sql && (code == PAWL_ETIMEOUT || code == PAWL_EBUSY) &&
           (list->stage == STAGE_LOAD || list->stage == STAGE_COMMIT);
}

/* The same for a commit of any batch, of which nobody says which row it waited for. */
static bool is_waited_for(pawl_code code, const again *list)
{
    return code == PAWL_ETIMEOUT && list->stage == STAGE_COMMIT;
}

/* A deadlock ends for the one that is told of it, and memory may be short for a moment:
 * it may run again at once. */
static bool is_worth_again(const pawl__worker *worker, const pawl__unit *unit, pawl_code code)
{
    return (code == PAWL_EBUSY || code == PAWL_ENOMEM) &&
           unit->runs < worker->endpoint->settings.immediate_retries;
}

/* Alone until it reaches an end; a conflict loads again, within its budget.
 * `*is_back`: another worker has its saga. */
static pawl_code run_alone(pawl__worker *worker, pawl__unit *unit, bool *is_back, pawl_step *step,
                           pawl_error *error)
{
    int32_t budget = worker->endpoint->settings.conflict_retries;
    for (;;) {
        again      list  = {.count = 0};
        pawl_error inner = PAWL_ERROR_INIT;
        if (unit->end != PAWL__END_AGAIN)
            unit->conflicts++;
        pawl_code code = add_again(worker, unit);
        if (code == PAWL_OK)
            code = run_and_commit(worker, &list, step, &inner);
        bool is_its_own =
            is_short(code, &list) || is_locked(worker, code, &list) || is_waited_for(code, &list);
        if (is_its_own && is_worth_again(worker, unit, code)) {
            unit->end = PAWL__END_AGAIN;
            unit->runs++;
            continue;
        }
        if (is_its_own || is_about_content(code, &list))
            return give_up(worker, unit, code, inner.text, step, error);
        if (code != PAWL_OK) {
            if (error != NULL)
                *error = inner;
            return code;
        }
        *is_back = worker->batch->is_elsewhere;
        if (list.count == 0)
            return PAWL_OK;
        *unit = list.units[0];
        if (unit->end == PAWL__END_AGAIN)
            continue;
        if (unit->code == PAWL_EMISMATCH || unit->conflicts > budget)
            return give_up(worker, unit, unit->code, unit->error.data, step, error);
    }
}

/* One unit spoils the change set of all: each runs again alone, what was not
 * run is given back, and a flush just fails. */
static pawl_code set_apart(pawl__worker *worker, pawl_code why, const char *text, again *list,
                           pawl_step *step, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl__batch_set_apart(worker->batch, why, text);
    pawl_code code = pawl__batch_changes(worker->batch, error);
    if (code == PAWL_OK)
        code = commit(worker, &refused, error);
    return code == PAWL_OK ? after_commit(worker, &refused, list, step, error) : code;
}

/* The unit that has its transaction open waited for others in vain: it fails, or runs
 * again, and what was claimed behind it is given back. */
static pawl_code fail_locked(pawl__worker *worker, pawl_code why, const char *text, again *list,
                             pawl_step *step, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl__batch  *batch   = worker->batch;
    if (is_worth_again(worker, &batch->units[0], why)) {
        pawl__batch_set_apart(batch, why, text);
        batch->units[0].runs++;
    } else {
        pawl__batch_fail(batch, why, text);
    }
    pawl_code code = pawl__batch_changes(batch, error);
    if (code == PAWL_OK)
        code = commit(worker, &refused, error);
    return code == PAWL_OK ? after_commit(worker, &refused, list, step, error) : code;
}

/* Each unit runs alone, until it fails alone: there is no memory for the batch, and there
 * are no smaller ones, or one of them waits for a row. `is_back`: they are claimed again,
 * instead, and loaded without waiting. */
static pawl_code take_apart(pawl__worker *worker, bool is_back, again *list)
{
    pawl__batch *batch = worker->batch;
    list->count        = 0;
    list->units        = pawl_arena_take(worker->kept, batch->unit_count * sizeof list->units[0]);
    list->is_back      = pawl_arena_take(worker->kept, batch->unit_count * sizeof(bool));
    if (list->units == NULL || list->is_back == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *kept = &list->units[list->count++];
        *kept            = batch->units[i];
        kept->end        = PAWL__END_AGAIN;
        list->is_back[i] = is_back;
        if (!copy_unit(worker->kept, worker->batch, kept))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

/* All of them at once, and last: on some stores this ends all claims. The counts
 * are corrected with it, since no other commit may follow. */
static pawl_code give_back(pawl__worker *worker, const again *list, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl_code     code    = PAWL_OK;
    pawl__batch_reset(worker->batch);
    for (size_t i = 0; i < list->count && code == PAWL_OK; i++)
        if (list->is_back[i])
            code = add_unit(worker, &list->units[i]);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for messages to give back");
    if (worker->batch->unit_count == 0)
        return PAWL_OK;
    pawl__batch_release(worker->batch);
    code = pawl__batch_changes(worker->batch, error);
    return code == PAWL_OK ? commit(worker, &refused, error) : code;
}

static pawl_code give_up_only(pawl__worker *worker, pawl_code why, const char *text,
                              pawl_step *step, pawl_error *error)
{
    pawl__unit only = worker->batch->units[0];
    return copy_unit(worker->kept, worker->batch, &only)
               ? give_up(worker, &only, why, text, step, error)
               : pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
}

/* What the batch could not do: PAWL_OK when that was about its units, which have come to
 * their ends or run again; they are in `list` then. */
static pawl_code settle_failed(pawl__worker *worker, pawl_code why, const char *text, again *list,
                               pawl_step *step, pawl_error *error)
{
    size_t count    = worker->batch->unit_count;
    bool   is_flush = worker->batch->units[0].kind == PAWL__UNIT_FLUSH;
    if (is_locked(worker, why, list))
        return fail_locked(worker, why, text, list, step, error);
    if (is_short(why, list) && (count > 1 || !is_flush))
        return count > 1 && worker->batch_max > 1 ? why : take_apart(worker, false, list);
    if (is_waited_for(why, list) && !is_flush)
        return take_apart(worker, pawl__hot_all(worker), list);
    if (!is_about_content(why, list) && !is_short(why, list))
        return why;
    return count == 1 && !is_flush ? give_up_only(worker, why, text, step, error)
                                   : set_apart(worker, why, text, list, step, error);
}

pawl_code pawl__worker_process(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    again      list  = {.count = 0};
    pawl_error inner = PAWL_ERROR_INIT;
    pawl_arena_reset(worker->kept);
    pawl_code code = run_and_commit(worker, &list, step, &inner);
    if (code != PAWL_OK) {
        const pawl_error why = inner;
        code                 = settle_failed(worker, code, why.text, &list, step, &inner);
    } else if (worker->batch->is_elsewhere) {
        code = release(worker, &inner);
    }
    for (size_t i = 0; i < list.count && code == PAWL_OK; i++)
        if (!list.is_back[i])
            code = run_alone(worker, &list.units[i], &list.is_back[i], step, &inner);
    if (code == PAWL_OK && list.count > 0)
        code = give_back(worker, &list, &inner);
    if (code != PAWL_OK && error != NULL)
        *error = inner;
    return code;
}
