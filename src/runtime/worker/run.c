/* run.c - brings every claimed unit to an end: runs and commits the batch, then runs refused units again one by one.
 *
 *     the batch --ok----> refused units: one by one, in order, or released
 *        |                    ^     | after a conflict: again, up to conflict_retries
 *        +--trouble--> units fail, or run one by one; or the worker fails
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/commit.h"

static const pawl__commit_mode run  = {.kind = PAWL__COMMIT_RUN};
static const pawl__commit_mode back = {.kind = PAWL__COMMIT_RELEASE};

/* Commits the failure of a unit that cannot be loaded, run or committed. */
static pawl_code give_up(pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                         const char *text, pawl_step *step, pawl_error *error)
{
    pawl__commit_mode fail = {PAWL__COMMIT_FAIL, why, text[0] != '\0' ? text : pawl_code_text(why)};
    /* Refusals are ignored: they say that another worker has the message now. But if others took this worker for dead
     * while it waited for the store, the message may come back with the same attempts. */
    pawl__outcome ignored;
    pawl_code     code = pawl__retry_list_fill_one(worker, unit);
    if (code == PAWL_OK)
        code = pawl__commit_batch(worker, &fail, &ignored, step, error);
    if (code == PAWL_OK && worker->batch->units[0].code == PAWL_EGONE)
        pawl__outlived_failed(worker, &worker->batch->units[0], why, pawl_text_of(fail.text));
    return code;
}

static pawl_code give_up_only(pawl__worker *worker, pawl_code why, const char *text,
                              pawl_step *step, pawl_error *error)
{
    pawl__unit only = worker->batch->units[0];
    return pawl__retry_list_copy(worker, &only)
               ? give_up(worker, &only, why, text, step, error)
               : pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
}

/* May the unit run again at once? Yes after a deadlock, which the rollback has resolved, and after a shortage of
 * memory, which may be over soon. */
static bool is_worth_again(const pawl__worker *worker, const pawl__unit *unit, pawl_code code)
{
    return (code == PAWL_EBUSY || code == PAWL_ENOMEM) &&
           unit->runs < worker->endpoint->settings.immediate_retries;
}

/* ---- One unit ------------------------------------------------------------------------ */

/* Runs the unit alone until it ends; after a conflict it is loaded again, up to conflict_retries. Sets is_back if
 * another worker has its saga. */
static pawl_code run_alone(pawl__worker *worker, pawl__retry *retry, pawl_step *step,
                           pawl_error *error)
{
    pawl__unit *unit   = &retry->unit;
    int32_t     budget = worker->endpoint->settings.conflict_retries;
    for (;;) {
        pawl__outcome outcome = {.trouble =
                                     PAWL__TROUBLE_MEMORY}; /* if the batch cannot be filled */
        pawl_error    inner   = PAWL_ERROR_INIT;
        if (unit->end != PAWL__END_RERUN)
            unit->conflicts++;
        pawl_code code = pawl__retry_list_fill_one(worker, unit);
        if (code == PAWL_OK)
            code = pawl__commit_batch(worker, &run, &outcome, step, &inner);
        if (code == PAWL_OK) {
            retry->is_back = worker->batch->is_all_busy;
            if (outcome.retry_count == 0)
                return PAWL_OK;
            *unit         = outcome.retries[0].unit;
            bool is_spent = unit->code == PAWL_EMISMATCH || unit->conflicts > budget;
            if (unit->end != PAWL__END_RERUN && is_spent)
                return give_up(worker, unit, unit->code, unit->error.data, step, error);
        } else if (outcome.trouble == PAWL__TROUBLE_WORKER) {
            *error = inner;
            return code;
        } else if (outcome.trouble != PAWL__TROUBLE_CONTENT && is_worth_again(worker, unit, code)) {
            unit->end = PAWL__END_RERUN;
            unit->runs++;
        } else {
            return give_up(worker, unit, code, inner.text, step, error);
        }
    }
}

/* ---- The batch ----------------------------------------------------------------------- */

/* Moves all units to the retry list, to run one by one: memory is too short for the batch, or one of them waited for a
 * locked row. `is_back`: their claims are released instead; the next claim loads their sagas without waiting. */
static pawl_code run_one_by_one(pawl__worker *worker, bool is_back, pawl__outcome *outcome)
{
    pawl__batch *batch = worker->batch;
    if (!pawl__retry_list_reserve(worker, outcome))
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit unit = batch->units[i];
        unit.end        = PAWL__END_RERUN;
        if (!pawl__retry_list_add(worker, outcome, &unit, is_back))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

/* The end of a unit whose handler transaction hit a lock timeout: it fails, or runs again. Units after it are
 * released. */
static pawl__commit_kind how_of_locked(pawl__worker *worker, pawl_code why)
{
    pawl__unit *unit = &worker->batch->units[0];
    if (!is_worth_again(worker, unit, why))
        return PAWL__COMMIT_FAIL;
    unit->runs++;
    return PAWL__COMMIT_ONE_BY_ONE;
}

/* Handles a failed commit. PAWL_OK: units of the batch were the cause; they have ended, or are in `outcome` to run
 * again. */
static pawl_code settle_failed(pawl__worker *worker, pawl_code why, const char *text,
                               pawl__outcome *outcome, pawl_step *step, pawl_error *error)
{
    size_t            count = worker->batch->unit_count;
    const pawl__unit *first = &worker->batch->units[0];
    /* A flush with its own SQL runs again as a message does. */
    bool              is_flush = first->kind == PAWL__UNIT_FLUSH && !first->is_alone;
    bool              is_only  = count == 1 && !is_flush;
    pawl__commit_mode mode     = {PAWL__COMMIT_ONE_BY_ONE, why, text};
    switch (outcome->trouble) {
    case PAWL__TROUBLE_WORKER: return why;
    case PAWL__TROUBLE_WAITED:
        return is_flush ? why : run_one_by_one(worker, pawl__hot_all(worker), outcome);
    case PAWL__TROUBLE_MEMORY:
        if (count > 1 && worker->batch_max > 1)
            return why; /* smaller batches first */
        if (count > 1 || is_only)
            return run_one_by_one(worker, false, outcome);
        break;
    case PAWL__TROUBLE_CONTENT:
        if (is_only)
            return give_up_only(worker, why, text, step, error);
        if (is_flush && count > 1) /* one by one, as only one partition is to blame */
            return run_one_by_one(worker, false, outcome);
        if (worker->batch->has_sql) /* no second run, which might commit its rows */
            mode.kind = PAWL__COMMIT_FAIL;
        break;
    case PAWL__TROUBLE_LOCKED: mode.kind = how_of_locked(worker, why); break;
    }
    return pawl__commit_batch(worker, &mode, outcome, step, error);
}

/* Releases the claims of units in one commit. It must be the last: on some stores it ends all claims. It also corrects
 * the counts, since no other commit may follow. */
static pawl_code give_back(pawl__worker *worker, const pawl__outcome *outcome, pawl_step *step,
                           pawl_error *error)
{
    pawl__outcome none;
    pawl_code     code = pawl__retry_list_fill_back(worker, outcome);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for messages to give back");
    if (worker->batch->unit_count == 0)
        return PAWL_OK;
    return pawl__commit_batch(worker, &back, &none, step, error);
}

/* On an ordered endpoint: the last earlier unit of the same bucket that stays in the queue. */
static const pawl__unit *left_before(const pawl__outcome *outcome, size_t index)
{
    const pawl__unit *unit = &outcome->retries[index].unit;
    while (unit->key.size > 0 && index-- > 0) {
        const pawl__unit *other = &outcome->retries[index].unit;
        if (other->key.size > 0 && other->bucket == unit->bucket && !pawl__unit_is_done(other))
            return other;
    }
    return NULL;
}

/* Keeps the end of the unit for later units of its bucket (see left_before). */
static void keep_end(const pawl__worker *worker, pawl__retry *retry)
{
    const pawl__unit *ran = worker->batch->unit_count > 0 ? &worker->batch->units[0] : NULL;
    retry->unit.end       = retry->is_back || ran == NULL ? PAWL__END_RELEASED : ran->end;
    retry->unit.due       = ran != NULL ? ran->due : 0;
    retry->unit.message   = retry->unit.row.message; /* its texts outlive the batch */
}

/* Runs the units one by one, in order, except those to be released. */
static pawl_code run_each(pawl__worker *worker, pawl__outcome *outcome, pawl_step *step,
                          pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < outcome->retry_count && code == PAWL_OK; i++) {
        pawl__retry *retry = &outcome->retries[i];
        retry->unit.before = left_before(outcome, i);
        if (!retry->is_back)
            code = run_alone(worker, retry, step, error);
        if (code == PAWL_OK && worker->ordered != NULL && retry->unit.kind == PAWL__UNIT_MESSAGE)
            keep_end(worker, retry);
    }
    return code;
}

static pawl_code finish(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl__outcome outcome, none;
    pawl_code     code = pawl__commit_batch(worker, &run, &outcome, step, error);
    if (code != PAWL_OK) {
        const pawl_error why = *error;
        code                 = settle_failed(worker, code, why.text, &outcome, step, error);
    } else if (worker->batch->is_all_busy) {
        code = pawl__commit_batch(worker, &back, &none, step, error);
    }
    if (code == PAWL_OK)
        code = run_each(worker, &outcome, step, error);
    return code == PAWL_OK && outcome.retry_count > 0 ? give_back(worker, &outcome, step, error)
                                                      : code;
}

pawl_code pawl__worker_run(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl_error inner = PAWL_ERROR_INIT;
    pawl_arena_reset(worker->kept);
    pawl_code code = finish(worker, step, &inner);
    if (code != PAWL_OK && error != NULL)
        *error = inner;
    return code;
}
