/* commit.c - one commit of a worker's batch: ends its units, commits their changes and handles refusals.
 *
 *     begin -> load -> run -> changes -> commit -> refusals: counts, partitions, again
 *     fail, set apart or release -^
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/commit.h"

#include "runtime/ordered/ordered.h"

/* The stage that a commit has reached, to judge its failure. */
typedef enum stage {
    STAGE_BEGIN,
    STAGE_LOAD,
    STAGE_RUN,
    STAGE_COMMIT,
    STAGE_AFTER, /* the commit succeeded */
} stage;

/* ---- Counts -------------------------------------------------------------------------- */

static bool is_counted(const pawl__unit *unit)
{
    return unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DISCARDED ||
           unit->end == PAWL__END_DEAD;
}

/* The fence counted every unit of the change set. The next commit subtracts the refused ones; they are counted when
 * they are handled. */
static void take_back(pawl__worker *worker, const pawl__unit *unit)
{
    worker->correction.conflicts++;
    if (!is_counted(unit) || (unit->kind == PAWL__UNIT_FLUSH && unit->end == PAWL__END_DEAD))
        return;
    worker->correction.messages--;
    worker->correction.timeouts -= unit->kind == PAWL__UNIT_TIMEOUT ||
                                   unit->kind == PAWL__UNIT_FORWARD ||
                                   unit->kind == PAWL__UNIT_SCHEDULE;
    worker->correction.flushes -= unit->kind == PAWL__UNIT_FLUSH;
    worker->correction.dead -= unit->end == PAWL__END_DEAD && unit->kind != PAWL__UNIT_SCHEDULE;
}

/* Writes one log line for the whole commit. */
static void say_expired(const pawl__worker *worker, const pawl__unit *last, int64_t count)
{
    pawl__metric_add(&worker->endpoint->metrics, PAWL__METRIC_EXPIRED, 0, count);
    if (count > 0)
        pawl_log(PAWL_LOG_WARNING,
                 "endpoint %s: %lld messages were dropped, as their time to be processed was over "
                 "(header " PAWL_HEADER_EXPIRES "): the last one was %.*s of type %.*s",
                 worker->endpoint->model->endpoint.data, (long long)count,
                 PAWL_TEXT_ARGS(last->message.id), PAWL_TEXT_ARGS(last->message.type));
}

static void count_units(pawl__worker *worker, const pawl__unit_result *results, pawl_step *step)
{
    pawl__batch      *batch   = worker->batch;
    const pawl__unit *last    = NULL;
    int64_t           expired = 0;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (unit->end == PAWL__END_RELEASED || unit->end == PAWL__END_RERUN ||
            unit->end == PAWL__END_SAGA_BUSY || unit->end == PAWL__END_HELD)
            continue;
        if (results[pawl__group_of(batch, unit->index)].is_refused) {
            step->refused++;
            take_back(worker, unit);
            continue;
        }
        pawl__outlived_settled(worker, unit);
        pawl__batch_say_failed(batch, unit);
        if (unit->now > worker->virtual_now)
            worker->virtual_now = unit->now;
        step->handled += is_counted(unit);
        if (unit->end == PAWL__END_UNREAD)
            pawl__metric_add(&worker->endpoint->metrics, PAWL__METRIC_UNREAD, 0, 1);
        step->dead += unit->end == PAWL__END_DEAD;
        expired += unit->is_expired;
        last = unit->is_expired ? unit : last;
        if (is_counted(unit))
            pawl__metric_add(&worker->endpoint->metrics, PAWL__METRIC_NOT_FOUND, 0,
                             unit->not_found);
    }
    say_expired(worker, last, expired);
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
    pawl_changes changes = {PAWL__ONE_UNIT(pawl__machine_now(worker->endpoint))};
    if (worker->correction.conflicts == 0)
        return PAWL_OK; /* each refused unit has added one */
    add_correction(worker, &changes.counters);
    pawl_code code = pawl_store_commit(worker->store, &changes, NULL, error);
    if (code == PAWL_OK)
        worker->correction = (pawl_counters){0};
    return code;
}

/* ---- Before the commit --------------------------------------------------------------- */

/* Rolls back the handler transaction of a failed unit before the failure is committed: its SQL must have no effect. */
static void drop_failed_sql(pawl__worker *worker)
{
    pawl__batch *batch = worker->batch;
    if (!batch->has_sql || batch->unit_count == 0 || batch->units[0].end == PAWL__END_HANDLED ||
        batch->units[0].end == PAWL__END_NEW)
        return;
    pawl_store_handler_transaction_end(worker->store);
    pawl__outlived_fail_sql(worker);
}

static pawl_code run_batch(pawl__worker *worker, stage *reached, pawl_error *error)
{
    pawl_store  *store = worker->store;
    pawl__batch *batch = worker->batch;
    pawl_code    code  = pawl__batch_begin(batch, error);
    for (size_t i = 0; i < batch->unit_count; i++)
        worker->was_alone |= batch->units[i].is_alone;
    if (code == PAWL_OK && batch->has_sql)
        code = pawl_store_handler_transaction_begin(store, error);
    if (code == PAWL_OK) {
        *reached = STAGE_LOAD;
        code     = pawl__batch_load(batch, error);
    }
    if (code == PAWL_OK) {
        *reached = STAGE_RUN;
        code     = pawl__batch_run(batch, error);
        pawl__claim_note_time(worker);
    }
    if (code == PAWL_OK) {
        drop_failed_sql(worker);
        code = pawl__batch_changes(batch, error);
    }
    pawl__hot_note_busy(worker);
    return code;
}

/* On an ordered endpoint, reads the ordering keys first: a message that is retried blocks later ones with its key. */
static pawl_code fail_batch(pawl__worker *worker, const pawl__commit_mode *mode, pawl_error *error)
{
    pawl_code code = worker->ordered != NULL ? pawl__order_find(worker->batch, error) : PAWL_OK;
    if (code == PAWL_OK)
        pawl__batch_fail(worker->batch, mode->why, mode->text);
    return code;
}

static pawl_code prepare(pawl__worker *worker, const pawl__commit_mode *mode, stage *reached,
                         pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *reached       = STAGE_BEGIN;
    pawl__breaker_begin(worker);
    switch (mode->kind) {
    case PAWL__COMMIT_RUN: return run_batch(worker, reached, error);
    case PAWL__COMMIT_FAIL: code = fail_batch(worker, mode, error); break;
    case PAWL__COMMIT_ONE_BY_ONE:
        pawl__batch_set_one_by_one(worker->batch, mode->why, mode->text);
        break;
    case PAWL__COMMIT_RELEASE: pawl__batch_release(worker->batch); break;
    }
    return code == PAWL_OK ? pawl__batch_changes(worker->batch, error) : code;
}

/* A batch whose sagas are all busy only releases its claims; the correction of counts waits for another commit. */
static pawl_code commit(pawl__worker *worker, const pawl__commit_mode *mode, pawl_refusals *refused,
                        pawl_error *error)
{
    pawl_changes *changes = &worker->batch->changes;
    if (worker->batch->is_all_busy)
        return pawl_store_commit(worker->store, changes, refused, error);
    if (mode->kind != PAWL__COMMIT_RELEASE && worker->batch->unit_count > 0 &&
        worker->batch->units[0].kind != PAWL__UNIT_FLUSH)
        pawl__ordered_fence(worker, changes);
    add_correction(worker, &changes->counters);
    pawl_code code = pawl__worker_commit(worker, changes, refused, error);
    if (code == PAWL_OK) {
        worker->correction = (pawl_counters){0};
        worker->dispatched += (int64_t)changes->outbox_add.count;
    }
    return code;
}

/* ---- After the commit ---------------------------------------------------------------- */

static bool is_lost(const pawl_refusal *refusal)
{
    return refusal->reason == PAWL_EGONE && (refusal->kind == pawl_change_queue_settle ||
                                             refusal->kind == pawl_change_timeout_settle);
}

static void take_refusal(pawl__worker *worker, const pawl_refusal *refusal,
                         pawl__unit_result *results)
{
    pawl__batch       *batch = worker->batch;
    pawl__unit_result *group = &results[refusal->group];
    /* Two workers that handle the same version of a saga compute the same dispatch ids. So different bodies only mean
     * that the other worker was first. */
    if (refusal->reason == PAWL_EMISMATCH && group->is_refused)
        return;
    group->is_refused = true;
    if (is_lost(refusal)) {
        /* The claims of the group's other units are probably lost, too; run one by one, they would be refused. */
        results[refusal->unit].is_lost = true;
        group->is_back |= refusal->kind == pawl_change_queue_settle;
    }
    if (refusal->reason == PAWL_EGONE)
        pawl__outlived_gone(worker, &batch->units[refusal->unit], refusal->text);
    batch->units[refusal->unit].code  = refusal->reason;
    batch->units[refusal->unit].error = refusal->text;
}

/* Is the loss of the claim worth a log line? Not for row locks: each rollback of a refused commit ends them, and other
 * workers may claim the messages then. */
static bool is_lease_lost(const pawl__worker *worker, const pawl_refusal *refusal)
{
    return is_lost(refusal) && (refusal->kind == pawl_change_timeout_settle ||
                                (pawl_store_promises(worker->store) & PAWL_STORE_ROW_LOCKS) == 0);
}

/* Writes one log line for the whole commit. */
static void say_lost(const pawl__worker *worker, const pawl_refusals *refused)
{
    const pawl_refusal *last  = NULL;
    size_t              count = 0;
    for (size_t i = 0; i < refused->count; i++)
        if (is_lease_lost(worker, &refused->items[i])) {
            last = &refused->items[i];
            count++;
        }
    if (count == 0)
        return;
    const pawl_message *message = &worker->batch->units[last->unit].message;
    pawl_log(
        PAWL_LOG_INFO,
        "endpoint %s: %zu claims were gone at their commit, which left their messages and timeouts out: another "
        "worker has them, or they were cancelled, moved or set anew: the last one was %.*s of type %.*s: %.*s",
        worker->endpoint->model->endpoint.data, count, PAWL_TEXT_ARGS(message->id),
        PAWL_TEXT_ARGS(message->type), PAWL_TEXT_ARGS(last->text));
}

/* Does the unit have to run again? Not if its claim was lost: another worker has the message. A refused flush waits for
 * the next check of the partitions. */
static bool is_again(pawl__batch *batch, const pawl__unit *unit, const pawl__unit_result *results)
{
    if (unit->end == PAWL__END_RERUN)
        return true;
    return results[pawl__group_of(batch, unit->index)].is_refused &&
           !results[unit->index].is_lost && unit->kind != PAWL__UNIT_FLUSH;
}

/* Also true for a released unit of a refused group: its claim is not released yet. */
static bool is_back(pawl__batch *batch, const pawl__unit *unit, const pawl__unit_result *results)
{
    return unit->end == PAWL__END_RELEASED || results[pawl__group_of(batch, unit->index)].is_back;
}

static pawl_code keep_again(pawl__worker *worker, const pawl__unit_result *results,
                            pawl__outcome *outcome)
{
    pawl__batch *batch = worker->batch;
    if (!pawl__retry_list_reserve(worker, outcome))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (is_again(batch, unit, results) &&
            !pawl__retry_list_add(worker, outcome, unit, is_back(batch, unit, results)))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

/* Remembers the partitions that the commit added to; the step flushes them by size at its end. */
static pawl_code note_grown_partitions(pawl__worker *worker, pawl_error *error)
{
    const pawl__effects *effects = &worker->batch->effects;
    for (size_t i = 0; i < effects->add_count; i++) {
        const pawl_aggregator_add *add = &effects->adds[i];
        if (add->due < worker->flush_due)
            worker->flush_due = add->due;
        if (PAWL__ROW_OF(pawl__grown_partition, partition, worker->grown, worker->grown_count,
                         add->partition) != NULL)
            continue;
        pawl__grown_partition *grown =
            pawl_arena_grow(worker->read, worker->grown, worker->grown_count,
                            &worker->grown_capacity, sizeof worker->grown[0]);
        pawl_text copy = pawl_arena_text(worker->read, add->partition);
        if (grown == NULL || copy.data == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory for a partition's name");
        worker->grown                        = grown;
        worker->grown[worker->grown_count++] = (pawl__grown_partition){
            pawl__model_aggregator(worker->endpoint->model, add->name), copy};
    }
    return PAWL_OK;
}

/* Releases the leased batches of refused flushes, each in its own group; the next flush takes their messages. */
static pawl_code release_refused(pawl__worker *worker, const pawl__unit_result *results,
                                 pawl_error *error)
{
    pawl__batch               *batch   = worker->batch;
    pawl_refusals              refused = {.arena = worker->kept};
    pawl_changes               changes = {PAWL__ONE_UNIT(worker->engine.machine_now)};
    pawl_leased_batch_release *items =
        pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof *items);
    if (items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to release a leased batch");
    for (size_t i = 0; i < batch->unit_count; i++)
        if (batch->units[i].kind == PAWL__UNIT_FLUSH && results[i].is_refused)
            items[changes.leased_batch_release.count++] = (pawl_leased_batch_release){
                .partition = batch->units[i].flush.partition, .session = batch->units[i].session};
    changes.leased_batch_release.items = items;
    if (changes.leased_batch_release.count == 0)
        return PAWL_OK;
    return pawl_store_commit(worker->store, &changes, &refused, error);
}

/* Handles refusals: counts, units to run again, and partitions that may be full now. */
static pawl_code after_commit(pawl__worker *worker, const pawl_refusals *refused,
                              pawl__outcome *outcome, pawl_step *step, pawl_error *error)
{
    /* Room for a group more than units: deferred sends are the last group. */
    size_t             count   = worker->batch->unit_count + 1;
    pawl__unit_result *results = pawl_arena_take(worker->kept, count * sizeof *results);
    pawl_code          code    = results != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (code == PAWL_OK)
        pawl__hot_note(worker, refused, results);
    for (size_t i = 0; i < refused->count && code == PAWL_OK; i++)
        take_refusal(worker, &refused->items[i], results);
    say_lost(worker, refused);
    if (code == PAWL_OK)
        code = keep_again(worker, results, outcome);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for the units of a refused group");
    count_units(worker, results, step);
    code = note_grown_partitions(worker, error);
    return code == PAWL_OK ? release_refused(worker, results, error) : code;
}

/* ---- One commit ---------------------------------------------------------------------- */

static pawl__commit_failure trouble_of(const pawl__worker *worker, pawl_code code, stage reached)
{
    if (reached == STAGE_AFTER)
        return PAWL__TROUBLE_WORKER;
    if (worker->batch->is_unwritable)
        return PAWL__TROUBLE_CONTENT;
    switch (code) {
    case PAWL_ENOMEM: return PAWL__TROUBLE_MEMORY;
    case PAWL_EINVAL:
    case PAWL_ELIMIT:
    case PAWL_EUNSUPPORTED:
    case PAWL_EDECODE:
    case PAWL_ECONFLICT: /* a constraint that is checked at commit */ return PAWL__TROUBLE_CONTENT;
    /* An error of the database that pawl does not know, such as that of a trigger. If the store refuses all writes, the
     * commit of the units' failure fails as well. */
    case PAWL_EPERSIST:
        return reached == STAGE_BEGIN ? PAWL__TROUBLE_WORKER : PAWL__TROUBLE_CONTENT;
    case PAWL_EBUSY:
    case PAWL_ETIMEOUT:
        if (worker->batch->has_sql && (reached == STAGE_LOAD || reached == STAGE_COMMIT))
            return PAWL__TROUBLE_LOCKED;
        return code == PAWL_ETIMEOUT && reached == STAGE_COMMIT ? PAWL__TROUBLE_WAITED
                                                                : PAWL__TROUBLE_WORKER;
    default: return PAWL__TROUBLE_WORKER;
    }
}

pawl_code pawl__commit_batch(pawl__worker *worker, const pawl__commit_mode *mode,
                             pawl__outcome *outcome, pawl_step *step, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl__batch  *batch   = worker->batch;
    stage         reached = STAGE_BEGIN;
    *outcome              = (pawl__outcome){.retries = NULL};
    pawl__outlived_begin(worker);
    pawl_code code = prepare(worker, mode, &reached, error);
    if (code == PAWL_OK)
        pawl__breaker_note(worker);
    if (code == PAWL_OK && batch->is_all_busy && mode->kind == PAWL__COMMIT_RUN)
        return PAWL_OK;
    if (code == PAWL_OK) {
        pawl__owners_hold(worker->endpoint->owners, &worker->owned,
                          pawl__machine_now(worker->endpoint));
        reached = STAGE_COMMIT;
        code    = commit(worker, mode, &refused, error);
    }
    if (batch->has_sql)
        pawl_store_handler_transaction_end(worker->store);
    if (code == PAWL_OK) {
        reached = STAGE_AFTER;
        code    = pawl__ordered_settled(worker, &refused, error);
        /* A refused release says that the claim is already gone. */
        if (code == PAWL_OK && mode->kind != PAWL__COMMIT_RELEASE)
            code = after_commit(worker, &refused, outcome, step, error);
    }
    if (code != PAWL_OK)
        pawl__outlived_lost(worker, code, error);
    outcome->trouble = trouble_of(worker, code, reached);
    pawl__owners_release(worker->endpoint->owners, &worker->owned,
                         pawl__machine_now(worker->endpoint));
    return code == PAWL_OK ? pawl__worker_send_deferred(worker, error) : code;
}

pawl_code pawl__commit_release(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    static const pawl__commit_mode back = {.kind = PAWL__COMMIT_RELEASE};
    pawl__outcome                  none;
    pawl_arena_reset(worker->kept);
    pawl_code code = pawl__commit_batch(worker, &back, &none, step, error);
    pawl__batch_reset(worker->batch);
    return code;
}
