/* worker.c - one worker: claims, runs, commits; again what was refused.
 *
 *     claim -> begin -> load -> run -> changes -> commit
 *                 ^                                  | refused
 *                 +------ one by one, in order <-----+
 *
 * Under a virtual business clock a batch holds messages and timeouts in the
 * order of their due times and ends where something that nobody claimed yet
 * could come in between.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include "store/core/wake.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

pawl_code pawl__worker_create(pawl_endpoint *endpoint, pawl__worker **worker, pawl_error *error)
{
    pawl__worker *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a worker");
    const pawl_endpoint_options *settings = &endpoint->settings;
    made->endpoint                        = endpoint;
    made->wake_fd                         = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    made->claim_count                     = (size_t)settings->batch_messages;
    made->flush_due                       = PAWL_TIME_MAX;
    made->virtual_now                     = PAWL_TIME_MIN;
    pawl_random_seed(&made->random, settings->seed != 0 ? settings->seed : pawl__system_seed());
    pawl__worker_lend(made);
    made->kept           = pawl_arena_create(0);
    made->read           = pawl_arena_create(0);
    made->engine.scratch = pawl_arena_create(0);
    made->batch          = pawl__batch_create(&made->engine);
    if (made->wake_fd < 0 || made->kept == NULL || made->read == NULL ||
        made->engine.scratch == NULL || made->batch == NULL) {
        pawl__worker_destroy(made);
        return pawl_error_set(error, PAWL_ENOMEM, "no memory or descriptor for a worker");
    }
    *worker = made;
    return PAWL_OK;
}

void pawl__worker_destroy(pawl__worker *worker)
{
    if (worker == NULL)
        return;
    if (worker->store != NULL && worker->deferred != NULL)
        pawl__worker_send_deferred(worker, NULL);
    pawl__endpoint_store_close(worker->endpoint, &worker->store);
    pawl__batch_destroy(worker->batch);
    pawl_arena_destroy(worker->kept);
    pawl_arena_destroy(worker->read);
    pawl_arena_destroy(worker->engine.scratch);
    if (worker->wake_fd >= 0) {
        pawl__wake_remove(worker->wake_fd);
        close(worker->wake_fd);
    }
    pawl_free(worker);
}

void pawl__worker_clocks(pawl__worker *worker, pawl_time business_now)
{
    worker->engine.store        = worker->store;
    worker->engine.machine_now  = pawl__machine_now(worker->endpoint);
    worker->engine.business_now = business_now;
    worker->batch_end           = pawl__monotonic_now() + worker->endpoint->settings.batch_time_max;
}

/* ---- Commit and what is refused ------------------------------------------------ */

/* A unit that has to run again, kept while the batch is reset. */
typedef struct again {
    pawl__unit *units;
    size_t      count;
} again;

static bool is_lost(const pawl_refusal *refusal)
{
    return refusal->reason == PAWL_EGONE && (refusal->kind == pawl_change_queue_settle ||
                                             refusal->kind == pawl_change_timeout_settle);
}

static bool copy_message(pawl_arena *arena, pawl_message *message)
{
    pawl_text *texts[] = {&message->id,      &message->type,           &message->body,
                          &message->headers, &message->correlation_id, &message->causation_id};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = pawl_arena_text(arena, *texts[i]);
        if (texts[i]->data == NULL)
            return false;
    }
    return true;
}

static bool copy_unit(pawl_arena *arena, pawl__unit *unit)
{
    if (unit->kind == PAWL__UNIT_MESSAGE)
        return copy_message(arena, &unit->row.message);
    unit->timeout.saga_type      = pawl_arena_text(arena, unit->timeout.saga_type);
    unit->timeout.name           = pawl_arena_text(arena, unit->timeout.name);
    unit->timeout.destination    = pawl_arena_text(arena, unit->timeout.destination);
    unit->timeout.headers        = pawl_arena_text(arena, unit->timeout.headers);
    unit->timeout.correlation_id = pawl_arena_text(arena, unit->timeout.correlation_id);
    return unit->timeout.correlation_id.data != NULL;
}

/* Units of refused groups run again, but for those whose claim was lost: they
 * are another worker's now. A refused flush is simply left to the next look. */
static pawl_code keep_refused(pawl__worker *worker, const pawl_refusals *refused, again *list,
                              bool **refused_groups)
{
    pawl__batch *batch      = worker->batch;
    bool        *is_refused = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    *refused_groups         = is_refused;
    bool *is_gone           = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof(bool));
    list->units = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof list->units[0]);
    if (is_refused == NULL || is_gone == NULL || list->units == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < refused->count; i++) {
        is_refused[refused->items[i].group] = true;
        if (is_lost(&refused->items[i]))
            is_gone[refused->items[i].unit] = true;
    }
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (!is_refused[pawl__group_of(batch, unit->index)] || is_gone[i] ||
            unit->kind == PAWL__UNIT_FLUSH || unit->end == PAWL__END_RELEASED)
            continue;
        pawl__unit *kept = &list->units[list->count++];
        *kept            = *unit;
        if (!copy_unit(worker->kept, kept))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
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
    worker->correction.timeouts -= unit->kind == PAWL__UNIT_TIMEOUT;
    worker->correction.flushes -= unit->kind == PAWL__UNIT_FLUSH;
    worker->correction.dead -= unit->end == PAWL__END_DEAD;
}

static void count_units(pawl__worker *worker, const bool *is_refused, pawl_step *step)
{
    pawl__batch *batch = worker->batch;
    for (size_t i = 0; i < batch->unit_count; i++) {
        const pawl__unit *unit = &batch->units[i];
        if (unit->end == PAWL__END_RELEASED)
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
    }
}

static pawl_code commit(pawl__worker *worker, pawl_refusals *refused, pawl_error *error)
{
    pawl_counters *counters = &worker->batch->changes.counters;
    counters->messages += worker->correction.messages;
    counters->timeouts += worker->correction.timeouts;
    counters->flushes += worker->correction.flushes;
    counters->conflicts += worker->correction.conflicts;
    counters->dead += worker->correction.dead;
    pawl_code code = pawl_store_commit(worker->store, &worker->batch->changes, refused, error);
    if (code == PAWL_OK)
        worker->correction = (pawl_counters){0};
    return code;
}

static pawl_code run_batch(pawl__worker *worker, pawl_error *error)
{
    pawl_store *store = worker->store;
    pawl_code   code  = pawl__batch_begin(worker->batch, error);
    if (code == PAWL_OK && worker->batch->has_sql) {
        if (store->ops->hold_begin == NULL)
            return pawl_error_set(
                error, PAWL_EUNSUPPORTED,
                "this store has no SQL connection for a handler's own statements");
        code = store->ops->hold_begin(store, error);
    }
    if (code == PAWL_OK)
        code = pawl__batch_load(worker->batch, error);
    if (code == PAWL_OK)
        code = pawl__batch_run(worker->batch, error);
    if (code == PAWL_OK)
        code = pawl__batch_changes(worker->batch, error);
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

/* Once: run and commit. PAWL_OK with the refused units kept in `list`. */
static pawl_code run_and_commit(pawl__worker *worker, again *list, pawl_step *step,
                                pawl_error *error)
{
    pawl_refusals refused        = {.arena = worker->kept};
    bool         *refused_groups = NULL;
    pawl_code     code           = run_batch(worker, error);
    if (code == PAWL_OK) {
        drop_failed_sql(worker);
        code = commit(worker, &refused, error);
    }
    if (worker->batch->has_sql)
        worker->store->ops->hold_end(worker->store);
    if (code == PAWL_OK)
        code = keep_refused(worker, &refused, list, &refused_groups);
    if (code == PAWL_OK)
        count_units(worker, refused_groups, step);
    if (code == PAWL_OK && worker->deferred != NULL)
        code = pawl__worker_send_deferred(worker, error);
    return code;
}

static pawl_code add_again(pawl__worker *worker, const pawl__unit *unit, int32_t conflicts)
{
    pawl__batch_reset(worker->batch);
    pawl_code code = unit->kind == PAWL__UNIT_MESSAGE
                         ? pawl__batch_add_message(worker->batch, &unit->row, conflicts)
                         : pawl__batch_add_timeout(worker->batch, &unit->timeout);
    if (code == PAWL_OK && worker->batch->unit_count > 0)
        worker->batch->units[0].now = unit->now;
    return code;
}

/* The change set of this one unit cannot be committed, whatever is tried. */
static pawl_code give_up(pawl__worker *worker, const pawl__unit *unit, pawl_code why,
                         const char *text, pawl_step *step, pawl_error *error)
{
    pawl_refusals refused = {.arena = worker->kept};
    pawl_code     code    = add_again(worker, unit, unit->conflicts);
    if (code == PAWL_OK)
        code = pawl__batch_begin(worker->batch, error);
    if (code == PAWL_OK) {
        pawl__batch_fail(worker->batch, why, text);
        code = pawl__batch_changes(worker->batch, error);
    }
    if (code == PAWL_OK)
        code = commit(worker, &refused, error);
    if (code == PAWL_OK)
        count_units(worker, NULL, step);
    return code;
}

static bool is_about_content(pawl_code code)
{
    return code == PAWL_EINVAL || code == PAWL_ELIMIT || code == PAWL_EUNSUPPORTED ||
           code == PAWL_EDECODE;
}

/* Alone until it reaches an end; a conflict loads again, within its budget. */
static pawl_code run_alone(pawl__worker *worker, pawl__unit *unit, pawl_step *step,
                           pawl_error *error)
{
    int32_t budget = worker->endpoint->settings.conflict_retries;
    for (unit->conflicts++;; unit->conflicts++) {
        again      list  = {NULL, 0};
        pawl_error inner = PAWL_ERROR_INIT;
        pawl_code  code  = add_again(worker, unit, unit->conflicts);
        if (code == PAWL_OK)
            code = run_and_commit(worker, &list, step, &inner);
        if (is_about_content(code))
            return give_up(worker, unit, code, inner.text, step, error);
        if (code != PAWL_OK) {
            if (error != NULL)
                *error = inner;
            return code;
        }
        if (list.count == 0)
            return PAWL_OK;
        if (unit->conflicts > budget)
            return give_up(worker, unit, PAWL_ECONFLICT,
                           "other workers changed its saga again and again", step, error);
    }
}

static pawl_code run_each_alone(pawl__worker *worker, again *list, pawl_step *step,
                                pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < list->count && code == PAWL_OK; i++)
        code = run_alone(worker, &list->units[i], step, error);
    return code;
}

/* The whole batch again, unit by unit: one of them spoils the change set. */
static pawl_code keep_all(pawl__worker *worker, again *list)
{
    pawl__batch *batch = worker->batch;
    list->count        = 0;
    list->units = pawl_arena_take(worker->kept, (batch->unit_count + 1) * sizeof list->units[0]);
    if (list->units == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < batch->unit_count; i++) {
        list->units[list->count] = batch->units[i];
        if (batch->units[i].kind == PAWL__UNIT_FLUSH)
            continue;
        if (!copy_unit(worker->kept, &list->units[list->count++]))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

pawl_code pawl__worker_process(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    again list = {NULL, 0};
    pawl_arena_reset(worker->kept);
    bool      is_alone = worker->batch->unit_count == 1;
    pawl_code code     = run_and_commit(worker, &list, step, error);
    if (is_about_content(code) && worker->batch->unit_count > 0) {
        pawl_error why = error != NULL ? *error : (pawl_error)PAWL_ERROR_INIT;
        code           = keep_all(worker, &list);
        if (code == PAWL_OK && is_alone && list.count == 1)
            return give_up(worker, &list.units[0], why.code, why.text, step, error);
    }
    return code == PAWL_OK ? run_each_alone(worker, &list, step, error) : code;
}

/* ---- Claiming ---------------------------------------------------------------------- */

static pawl_session_id new_session(pawl__worker *worker)
{
    return (pawl_session_id){pawl_uuid_v7(&worker->random, worker->engine.machine_now)};
}

static pawl_code claim_messages(pawl__worker *worker, pawl_time due_max, pawl_queue_rows *rows,
                                pawl_error *error)
{
    pawl_queue_claim claim = {.queue     = worker->endpoint->model->queue,
                              .due_max   = due_max,
                              .count_max = worker->claim_count,
                              .now       = worker->engine.machine_now};
    return worker->store->ops->queue_claim(worker->store, &claim, worker->batch->arena, rows,
                                           error);
}

static pawl_code claim_timeouts(pawl__worker *worker, pawl_time due_max, pawl_timeout_rows *rows,
                                pawl_error *error)
{
    if (worker->endpoint->model->timeout_count == 0)
        return PAWL_OK;
    pawl_timeout_claim claim = {.destination = worker->endpoint->model->queue,
                                .due_max     = due_max,
                                .count_max   = worker->claim_count,
                                .owner       = new_session(worker),
                                .now         = worker->engine.machine_now,
                                .lease       = worker->endpoint->settings.timeout_lease};
    return worker->store->ops->timeout_claim(worker->store, &claim, worker->batch->arena, rows,
                                             error);
}

/* How far a virtual batch may look: not past messages that it did not claim. */
static pawl_time horizon_of(const pawl__worker *worker, const pawl_queue_rows *rows,
                            pawl_time due_max)
{
    bool is_full = rows->count == worker->claim_count;
    return worker->engine.is_virtual && is_full ? rows->items[rows->count - 1].due : due_max;
}

static pawl_code fill_batch(pawl__worker *worker, pawl_time due_max, pawl_step *step,
                            pawl_error *error)
{
    pawl_queue_rows   messages = {.count = 0};
    pawl_timeout_rows timeouts = {.count = 0};
    pawl__batch_reset(worker->batch);
    pawl_code code = claim_messages(worker, due_max, &messages, error);
    if (code == PAWL_OK && messages.is_elsewhere) {
        step->is_elsewhere = true;
        return PAWL_OK;
    }
    if (code == PAWL_OK)
        code = claim_timeouts(worker, horizon_of(worker, &messages, due_max), &timeouts, error);
    for (size_t i = 0; i < timeouts.count && code == PAWL_OK; i++)
        code = pawl__batch_add_timeout(worker->batch, &timeouts.items[i]);
    for (size_t i = 0; i < messages.count && code == PAWL_OK; i++)
        code = pawl__batch_add_message(worker->batch, &messages.items[i], 0);
    /* More timeouts may be due right after the last one that was claimed. */
    if (timeouts.count > 0 && timeouts.count == worker->claim_count)
        worker->batch->cut_send = timeouts.items[timeouts.count - 1].due;
    return code;
}

/* After a message that had to run alone few are claimed, since the others of a
 * batch would only be given back; the number doubles while all goes well. */
static void adapt_claim(pawl__worker *worker)
{
    size_t limit  = (size_t)worker->endpoint->settings.batch_messages;
    bool   is_cut = false;
    for (size_t i = 0; i < worker->batch->unit_count && !is_cut; i++)
        is_cut = worker->batch->units[i].is_alone;
    worker->claim_count = is_cut ? 1 : worker->claim_count * 2;
    if (worker->claim_count > limit)
        worker->claim_count = limit;
}

/* ---- Steps --------------------------------------------------------------------------- */

/* Under a virtual clock what is due first goes first: an aggregator's period
 * that ends at or before the next message or timeout is flushed before it. */
static pawl_code find_limit(pawl__worker *worker, pawl_time now, pawl_time *due_max, bool *is_flush,
                            pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    *due_max                 = now;
    *is_flush                = pawl__flush_is_due(worker, now);
    if (!worker->engine.is_virtual || model->aggregator_count == 0)
        return PAWL_OK;
    pawl_next_due next = {PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX};
    pawl_code     code =
        worker->store->ops->next_due(worker->store, model->queue, model->aggregator_names,
                                     model->aggregator_count, &next, error);
    bool is_first = next.flush <= now && next.flush < PAWL_TIME_MAX && next.flush <= next.queue &&
                    next.flush <= next.timeout;
    *is_flush |= is_first;
    if (is_first)
        *due_max = next.flush;
    else if (next.flush <= now)
        *due_max = next.flush - 1;
    return code;
}

pawl_code pawl__worker_open(pawl__worker *worker, pawl_error *error)
{
    if (worker->store != NULL)
        return PAWL_OK;
    pawl_code code = pawl__endpoint_store_open(worker->endpoint, &worker->store, error);
    if (code == PAWL_OK)
        code = pawl__wake_add(worker->store->identity, worker->wake_fd, error);
    worker->flush_check = PAWL_TIME_MIN;
    return code;
}

static pawl_code step_work(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl_time now       = pawl__business_now(worker->endpoint);
    pawl_time due_max   = now;
    bool      is_flush  = false;
    bool      did_flush = false;
    pawl_arena_reset(worker->read);
    worker->has_subscriptions = false;
    pawl__worker_clocks(worker, now);
    pawl_code code = find_limit(worker, now, &due_max, &is_flush, error);
    if (code == PAWL_OK && is_flush)
        code = pawl__flush_due(worker, due_max, &did_flush, step, error);
    if (code != PAWL_OK || did_flush)
        return code;
    pawl__worker_clocks(worker, now);
    code = fill_batch(worker, due_max, step, error);
    if (code != PAWL_OK || worker->batch->unit_count == 0) {
        step->is_idle = code == PAWL_OK;
        return code;
    }
    adapt_claim(worker);
    code = pawl__worker_process(worker, step, error);
    return code == PAWL_OK ? pawl__flush_after_commit(worker, step, error) : code;
}

pawl_code pawl__worker_step(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    uint64_t count;
    while (read(worker->wake_fd, &count, sizeof count) == (ssize_t)sizeof count) {
    }
    pawl_code code = pawl__worker_open(worker, error);
    if (code == PAWL_OK)
        code = step_work(worker, step, error);
    if (code != PAWL_OK)
        pawl__endpoint_store_close(worker->endpoint, &worker->store);
    return code;
}
