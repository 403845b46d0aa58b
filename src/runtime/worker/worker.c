/* worker.c - runs a worker's step: decides what to claim, run and flush, and cleans up after a failure.
 *
 * Under a virtual business clock, units run in the order of their due times. A batch ends before any unit that a row
 * not claimed yet could precede.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "runtime/aggregator/flush.h"
#include "runtime/common/wake_fd.h"
#include "runtime/ordered/ordered.h"
#include "runtime/worker/commit.h"

#include "store/core/wait.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Pause while another thread of the process runs a message isolated. */
#define CARE_PAUSE PAWL_MILLISECONDS(5)

pawl_code pawl__worker_create(pawl_endpoint *endpoint, pawl__worker **worker, pawl_error *error)
{
    pawl__worker *made = pawl__allocate_zeroed(sizeof *made, offsetof(pawl__worker, hot));
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a worker");
    const pawl_endpoint_options *settings = &endpoint->settings;
    made->endpoint                        = endpoint;
    made->app_call                        = &made->own_app_call;
    made->wake_fd                         = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    made->batch_max                       = pawl__claim_limit(endpoint);
    bool is_few       = settings->business == NULL && made->batch_max > PAWL__CLAIM_FEW;
    made->claim_count = is_few ? PAWL__CLAIM_FEW : made->batch_max;
    made->short_until = PAWL_TIME_MIN;
    made->flush_due   = PAWL_TIME_MAX;
    made->virtual_now = PAWL_TIME_MIN;
    made->hot_until   = PAWL_TIME_MIN;
    /* Distinct seeds, so that no two workers draw the same ids. Small seeds are left to the service and others. */
    uint64_t number = atomic_fetch_add(&endpoint->workers_made, 1);
    pawl_random_seed(&made->random,
                     settings->seed != 0 ? settings->seed + (number << 32) : pawl__system_seed());
    pawl__app_call_init(&made->own_app_call);
    pawl__engine_callbacks_set(made);
    made->kept           = pawl_arena_create(0);
    made->read           = pawl_arena_create(0);
    made->live.arena     = pawl_arena_create(0);
    made->flush_arena    = pawl_arena_create(0);
    made->engine.scratch = pawl_arena_create(0);
    made->batch          = pawl__batch_create(&made->engine);
    pawl_code code       = PAWL_OK;
    if (made->wake_fd < 0 || made->kept == NULL || made->read == NULL || made->live.arena == NULL ||
        made->flush_arena == NULL || made->engine.scratch == NULL || made->batch == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory or descriptor for a worker");
    if (code == PAWL_OK)
        code = pawl__ordered_create(made, error);
    if (code == PAWL_OK)
        *worker = made;
    else
        pawl__worker_destroy(made);
    return code;
}

/* The worker's row is deleted, and its alarm with it: so the breaker forgets the alarm. */
void pawl__worker_close_store(pawl__worker *worker)
{
    pawl_worker_id id =
        worker->store != NULL ? pawl_store_worker(worker->store) : (pawl_worker_id){0};
    pawl__endpoint_store_close(worker->endpoint, worker->app_call, &worker->store);
    pawl__breaker_forget(worker->endpoint, id);
    pawl__ordered_forget(worker);
}

void pawl__worker_leave(pawl__worker *worker)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl__worker_close_aside(worker);
    if (worker->store == NULL)
        return;
    pawl_code code = pawl__worker_send_deferred(worker, &error);
    if (code == PAWL_OK)
        code = pawl__worker_correct(worker, &error);
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "last words of a worker: %s", error.text);
    pawl__worker_close_store(worker);
}

void pawl__worker_destroy(pawl__worker *worker)
{
    if (worker == NULL)
        return;
    pawl__worker_leave(worker);
    pawl__worker_drop_deferred(worker);
    pawl__ordered_destroy(worker);
    pawl__batch_destroy(worker->batch);
    pawl_arena_destroy(worker->kept);
    pawl_arena_destroy(worker->read);
    pawl_arena_destroy(worker->live.arena);
    pawl_arena_destroy(worker->flush_arena);
    pawl_arena_destroy(worker->engine.scratch);
    if (worker->wake_fd >= 0) {
        pawl__wake_remove(worker->wake_fd);
        pawl__offers_remove_worker(&worker->endpoint->offers, worker->wake_fd);
        close(worker->wake_fd);
    }
    pawl__app_call_destroy(&worker->own_app_call);
    pawl_free(worker);
}

/* ---- Filling the batch ---------------------------------------------------------------------- */

/* Due time up to which the batch may take timeouts. Under a virtual clock they must not overtake messages that were not
 * claimed. */
static pawl_time horizon_of(const pawl__worker *worker, const pawl_queue_rows *rows,
                            pawl_time due_max)
{
    bool is_full = rows->count == worker->claim_count || worker->cut_count > 0;
    return worker->engine.is_virtual && is_full ? rows->items[rows->count - 1].due : due_max;
}

/* Logs when another process takes over the queue, and when this one does; once for all workers. */
static void say_where(pawl__worker *worker, const pawl_queue_rows *messages)
{
    pawl_endpoint *endpoint = worker->endpoint;
    if (messages->is_taken == atomic_exchange(&endpoint->is_taken, messages->is_taken))
        return;
    pawl_text name = endpoint->model->queue;
    if (messages->is_taken)
        pawl_log(PAWL_LOG_INFO,
                 "endpoint '%.*s': %.*s works its queue; this one waits to take over",
                 PAWL_TEXT_ARGS(name), PAWL_TEXT_ARGS(messages->taken_by));
    else
        pawl_log(PAWL_LOG_INFO, "endpoint '%.*s': this process works its queue now",
                 PAWL_TEXT_ARGS(name));
}

static bool is_paused(const pawl__worker *worker)
{
    return atomic_load(&worker->endpoint->pause.is_paused);
}

static pawl_code fill_batch(pawl__worker *worker, pawl_time due_max, pawl_step *step,
                            pawl_error *error)
{
    const pawl__model *model      = worker->endpoint->model;
    pawl_queue_rows    messages   = {.count = 0};
    pawl_timeout_rows  timeouts   = {.count = 0};
    bool               is_claimed = !is_paused(worker);
    pawl_code          code       = PAWL_OK;
    pawl__batch_reset(worker->batch);
    worker->cut_count    = 0;
    worker->has_left_out = false;
    if (worker->is_marked && worker->claim_count > PAWL__MARKED_BATCH_MAX)
        worker->claim_count = PAWL__MARKED_BATCH_MAX;
    if (is_claimed)
        code = pawl__claim_messages(worker, due_max, &messages, error);
    if (code == PAWL_OK && is_claimed)
        say_where(worker, &messages);
    if (code == PAWL_OK && messages.is_taken) {
        step->is_taken = true;
        pawl__crashes_check_soon(worker->endpoint); /* the process that works the queue may die */
        return PAWL_OK;
    }
    if (code == PAWL_OK)
        code = pawl__ordered_check(worker, &messages, error);
    pawl_time horizon = horizon_of(worker, &messages, due_max);
    if (code == PAWL_OK && is_claimed && pawl__model_has_timeouts(model))
        code = pawl__claim_timeouts(worker, model->queue, horizon, worker->claim_count, &timeouts,
                                    error);
    for (size_t i = 0; i < timeouts.count && code == PAWL_OK; i++)
        code = pawl__batch_add_timeout(worker->batch, &timeouts.items[i]);
    for (size_t i = 0; i < messages.count && code == PAWL_OK; i++)
        code = pawl__batch_add_message(worker->batch, &messages.items[i], 0);
    /* Checked after the claim, so that an idle endpoint does not read it. */
    bool is_found = worker->batch->unit_count > 0;
    if (code == PAWL_OK && is_found)
        code = pawl__queue_pause_check(worker, error);
    if (code == PAWL_OK && is_found && is_paused(worker))
        return pawl__commit_release(worker, step, error);
    if (is_found && code == PAWL_OK)
        code = pawl__marked_batch_judge(worker, step, error);
    if (code == PAWL_OK && worker->is_marked && worker->batch->unit_count > 0)
        code = pawl__marked_batch_write(worker, due_max, error);
    if (is_found && worker->batch->unit_count == 0)
        return code;
    /* The claim was full: more timeouts may be due at the time of the last one, or later. */
    if (timeouts.count > 0 && timeouts.count == worker->claim_count)
        worker->batch->cut_message = timeouts.items[timeouts.count - 1].due;
    if (code == PAWL_OK && pawl__foreign_is_due(worker, due_max, !is_found))
        code = pawl__foreign_claim(worker, horizon, worker->claim_count, error);
    return code;
}

/* ---- Steps --------------------------------------------------------------------------- */

/* Under a virtual clock, a period that ends at or before the next message or timeout is flushed first. */
static pawl_code find_limit(pawl__worker *worker, pawl_time now, pawl_time *due_max, bool *is_flush,
                            pawl_error *error)
{
    *due_max  = now;
    *is_flush = pawl__flush_is_due(worker, now);
    if (!worker->engine.is_virtual || worker->endpoint->model->aggregator_count == 0)
        return PAWL_OK;
    pawl_next_due next;
    pawl_code     code = pawl__worker_next_due(worker, &next, error);
    if (is_paused(worker)) /* nothing of the queue runs */
        next.queue = next.timeout = PAWL_TIME_MAX;
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
    pawl_code code =
        pawl__endpoint_store_open(worker->endpoint, worker->app_call, &worker->store, error);
    if (code == PAWL_OK)
        code = pawl__wake_add(pawl_store_identity(worker->store), worker->wake_fd, error);
    worker->flush_check = PAWL_TIME_MIN;
    worker->flush_rest  = PAWL_TIME_MIN;
    worker->foreign_due = PAWL_TIME_MIN;
    return code;
}

/* Ends a step with an empty batch: nothing was due, or all claims were released. */
static pawl_code end_empty(pawl__worker *worker, bool was_paused, pawl_step *step,
                           pawl_error *error)
{
    bool is_over = worker->is_marked && !is_paused(worker) && !worker->has_left_out;
    if (is_over && !step->is_taken)
        pawl__isolation_one_passed(worker, true);
    if (worker->has_left_out)
        step->is_idle = pawl__worker_is_pausing(worker);
    else /* after the step that found the pause, one more step does the work that a pause does not stop */
        step->is_idle =
            is_paused(worker) ? was_paused : !pawl__isolation_is_pending(worker->endpoint);
    return pawl__worker_correct(worker, error);
}

/* The larger of both counts, as messages and timeouts are two queues, either of which may be empty. */
static int64_t count_passing(const pawl__worker *worker)
{
    const pawl__batch *batch    = worker->batch;
    int64_t            messages = 0;
    for (size_t i = 0; i < batch->unit_count; i++)
        messages += batch->units[i].kind == PAWL__UNIT_MESSAGE;
    int64_t others = (int64_t)batch->unit_count - messages;
    if (!worker->is_marked || worker->has_left_out)
        return 0;
    return messages > others ? messages : others;
}

static pawl_code run_batch(pawl__worker *worker, pawl_time due_max, pawl_step *step,
                           pawl_error *error)
{
    bool      was_paused  = is_paused(worker);
    bool      did_rowless = false;
    pawl_code code        = PAWL_OK;
    if (pawl__rowless_is_first(worker))
        code = pawl__rowless_run(worker, &did_rowless, step, error);
    if (code != PAWL_OK || did_rowless)
        return code;
    code = fill_batch(worker, due_max, step, error);
    pawl__rowless_note_queue(worker);
    if (code == PAWL_OK && worker->batch->unit_count == 0)
        code = pawl__rowless_run(worker, &did_rowless, step, error);
    if (code != PAWL_OK || did_rowless)
        return code;
    if (worker->batch->unit_count == 0)
        return end_empty(worker, was_paused, step, error);
    int64_t passing   = count_passing(worker);
    worker->was_alone = false;
    code              = pawl__worker_run(worker, step, error);
    if (code == PAWL_OK && !worker->found_all_busy)
        pawl__isolation_marked_passed(worker, passing);
    bool is_stuck = pawl__ordered_is_stuck(worker);
    step->is_idle =
        (worker->found_all_busy || is_stuck) && step->handled == 0 && step->refused == 0;
    if (is_stuck && step->is_idle)
        pawl__worker_pause(worker, PAWL__SAGA_BUSY_WAIT);
    pawl__claim_adapt(worker);
    return code == PAWL_OK ? pawl__ordered_give_way(worker, error) : code;
}

static pawl_code claim_and_run(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl_time now       = pawl__business_now(worker->endpoint);
    pawl_time due_max   = now;
    bool      is_flush  = false;
    bool      did_flush = false;
    bool      is_alone  = worker->is_isolated_step;
    pawl_code code      = PAWL_OK;
    worker->is_marked   = !is_alone && pawl__isolation_marks_batches(worker->endpoint);
    if (is_alone || is_paused(worker))
        code = pawl__queue_pause_check(worker, error);
    if (code == PAWL_OK)
        code = find_limit(worker, now, &due_max, &is_flush, error);
    if (code == PAWL_OK && is_flush && worker->is_marked) {
        pawl__isolation_isolate_partitions(worker->endpoint);
        return PAWL_OK;
    }
    if (code == PAWL_OK && is_flush)
        code = pawl__flush_due(worker, due_max, &did_flush, step, error);
    worker->was_flush = did_flush;
    if (code != PAWL_OK || did_flush)
        return code;
    bool leads = false;
    code       = pawl__ordered_lead(worker, &leads, error);
    if (code != PAWL_OK)
        return code;
    worker->found_all_busy = pawl__worker_is_pausing(worker);
    if (!leads || worker->found_all_busy || worker->is_checking ||
        (is_alone && is_paused(worker))) {
        step->is_idle = true;
        return PAWL_OK;
    }
    pawl__worker_clocks(worker, now);
    code = is_alone ? pawl__isolation_run_one(worker, due_max, step, error)
                    : run_batch(worker, due_max, step, error);
    /* After a crash, which a flush may have caused, flushes run isolated. */
    if (code == PAWL_OK && worker->is_marked && worker->grown_count > 0) {
        pawl__isolation_isolate_partitions(worker->endpoint);
        return PAWL_OK;
    }
    return code == PAWL_OK ? pawl__flush_after_commit(worker, step, error) : code;
}

/* Alternates flushes and claims: however many partitions are due, a message waits for one step of flushes at most.
 * Under a virtual clock the due times decide. */
static pawl_code take_turns(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    bool      was_flush = worker->was_flush && !worker->engine.is_virtual;
    pawl_code code      = claim_and_run(worker, step, error);
    if (code == PAWL_OK && (was_flush || pawl__flush_is_left(worker)))
        step->is_idle = false; /* the next step flushes */
    return code;
}

/* Releases rows that the store claimed ahead, with the last commit, as this worker does not run them now. A wait of
 * zero length does that. */
static void give_back_ahead(pawl__worker *worker)
{
    (void)pawl_store_wait(worker->store, 0, -1, NULL);
}

static pawl_code step_claims(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    if (!pawl__breaker_enter(worker)) {
        give_back_ahead(worker);
        pawl__breaker_report(worker);
        step->is_idle = true;
        return PAWL_OK;
    }
    pawl_code code = take_turns(worker, step, error);
    pawl__breaker_leave(worker);
    return code;
}

static pawl_code step_work(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl_arena_reset(worker->read);
    pawl_arena_reset(worker->live.arena);
    worker->live.is_read      = false;
    worker->found_all_busy    = false;
    worker->is_isolated_step  = false;
    worker->breaker.permit    = PAWL__PERMIT_NONE;
    worker->has_subscriptions = false;
    worker->grown             = NULL;
    worker->grown_count = worker->grown_capacity = 0;
    int64_t rest                                 = pawl__isolation_rest_left(endpoint);
    if (rest > 0) {
        give_back_ahead(worker);
        pawl__worker_pause(worker, rest);
        worker->found_all_busy = true; /* makes a program that calls steps come back soon */
        step->is_idle          = true;
        return PAWL_OK;
    }
    pawl__worker_clocks(worker, pawl__business_now(endpoint));
    pawl_code code = worker->is_checking ? PAWL_OK : pawl__crashes_check(worker, error);
    if (code != PAWL_OK)
        return code;
    if (pawl__isolation_batch_begin(endpoint)) {
        code = step_claims(worker, step, error);
        if (code == PAWL_OK && pawl__isolation_is_pending(endpoint))
            give_back_ahead(
                worker); /* the next step may be an isolated one, with claims of its own */
        pawl__isolation_batch_end(endpoint);
    } else if (pawl__isolation_begin(endpoint)) {
        worker->is_isolated_step = true;
        code                     = step_claims(worker, step, error);
        if (code == PAWL_OK)
            give_back_ahead(worker);
        pawl__isolation_end(endpoint);
    } else {
        give_back_ahead(worker);
        pawl__worker_pause(worker, CARE_PAUSE);
        step->is_idle = true;
    }
    return code;
}

/* Measures the duration of a step that had work. */
static pawl_code step_timed(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    int64_t   begin = pawl__monotonic_now();
    pawl_code code  = step_work(worker, step, error);
    if (code == PAWL_OK && !step->is_idle && !step->is_taken)
        pawl__metric_observe(&worker->endpoint->metrics, PAWL__METRIC_STEP_DURATION,
                             pawl__monotonic_now() - begin);
    return code;
}

pawl_code pawl__worker_step(pawl__worker *worker, pawl_step *step, pawl_error *error)
{
    if (pawl__fd_clear(worker->wake_fd))
        worker->is_checking = false;
    pawl_error inner    = PAWL_ERROR_INIT;
    bool       is_short = false;
    pawl_code  code     = pawl__worker_open(worker, &inner);
    if (code == PAWL_OK)
        code = pawl__worker_send_deferred(worker, &inner);
    if (code == PAWL_OK) {
        code     = step_timed(worker, step, &inner);
        is_short = code == PAWL_ENOMEM;
        pawl__owners_release(worker->endpoint->owners, &worker->owned,
                             pawl__machine_now(worker->endpoint));
    }
    if (code == PAWL_OK)
        return code;
    pawl__worker_close_aside(worker);
    pawl__worker_close_store(worker);
    pawl__flush_check_soon(
        worker->endpoint); /* its last commit may have filled a partition that is not flushed */
    if (inner.code != code)
        pawl_error_set(&inner, code, "endpoint %s: %s", worker->endpoint->model->endpoint.data,
                       pawl_code_text(code));
    if (is_short && pawl__claim_less(worker, &inner)) {
        step->is_idle = false; /* not idle: without a handle nothing tells when something is due */
        return PAWL_OK;
    }
    if (error != NULL)
        *error = inner;
    return code;
}
