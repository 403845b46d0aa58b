/* projection.c - reads events for projections and runs their handlers.
 *
 *     check: leases -> positions -> { read -> handlers -> commit } for each projection
 *
 * A commit contains the effects of the handlers and the checkpoint after their events, so an event takes effect once.
 * Own SQL of a handler is in the same transaction. If an event fails, the events before it are committed; then it is
 * the first, and all others wait for it. If a commit fails because of its content or size, it is tried with fewer
 * events, until the one to blame is found.
 *
 *     e1 e2 e3! e4       commit e1 e2 | e3! e4       wait | e3! e4       commit e3 e4
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/projection/projection.h"

#include "pawl/store_projection.h"

#define FIRST_LIMIT 16 /* events of the first read, whose size is unknown; doubles */
#define READ_SIZE_MAX ((size_t)16 << 20) /* of a read, estimated from the last one */
#define PAUSE_MIN PAWL_SECONDS(1)        /* after a check without events; doubles */
#define PAUSE_MAX PAWL_SECONDS(30)
#define LOOK_PAUSE PAWL_SECONDS(1) /* between checks for actions of operators */
#define STUCK_ATTEMPTS 10          /* attempts after which the critical action is called */
#define GIVE_WAY PAWL_SECONDS(15)  /* to another program, which asks for the lease every 14 s */

/* ---- Life ---------------------------------------------------------------------- */

/* Creates the worker whose engine runs the handlers, with its own seed for ids. */
static pawl_code create_worker(pawl__projections *made, pawl__app_call *app_call, pawl_error *error)
{
    uint64_t  seed = made->endpoint->settings.seed;
    pawl_code code = pawl__worker_create(made->endpoint, &made->worker, error);
    if (code == PAWL_OK)
        made->worker->app_call = app_call;
    if (code == PAWL_OK && seed != 0)
        pawl_random_seed(&made->worker->random, seed + 2);
    return code;
}

pawl_code pawl__projections_create(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                   pawl__projections **projections, pawl_error *error)
{
    const pawl__model *model = endpoint->model;
    *projections             = NULL;
    if (model->projection_count == 0)
        return PAWL_OK;
    pawl__projections *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for projections");
    made->endpoint       = endpoint;
    made->sequencer.name = PAWL_TEXT("sequencer");
    made->readers        = pawl_allocate(model->projection_count * sizeof made->readers[0]);
    pawl_code code       = made->readers != NULL
                               ? create_worker(made, app_call, error)
                               : pawl_error_set(error, PAWL_ENOMEM, "no memory for projections");
    if (code != PAWL_OK) {
        pawl__projections_destroy(made);
        return code;
    }
    made->count = model->projection_count;
    for (size_t i = 0; i < made->count; i++) {
        made->readers[i].model      = &model->projections[i];
        made->readers[i].lease.name = model->projections[i].source;
    }
    pawl__projections_forget(made);
    *projections = made;
    return PAWL_OK;
}

void pawl__projections_destroy(pawl__projections *projections)
{
    if (projections == NULL)
        return;
    if (projections->worker != NULL)
        projections->worker->store = NULL; /* borrowed from the service */
    pawl__worker_destroy(projections->worker);
    pawl_free(projections->readers);
    pawl_free(projections);
}

static size_t least(size_t left, size_t right)
{
    return left < right ? left : right;
}

/* Resets what is known about the next event. */
static void begin_anew(pawl__reader *reader)
{
    reader->attempts    = 0;
    reader->retry_due   = PAWL_TIME_MIN;
    reader->only_resets = false;
    reader->limit       = least(FIRST_LIMIT, reader->model->batch);
}

static void leave(pawl__reader *reader)
{
    pawl__lease_forget(&reader->lease);
    reader->is_known = false;
    begin_anew(reader);
}

void pawl__projections_forget(pawl__projections *projections)
{
    if (projections == NULL)
        return;
    pawl__lease_forget(&projections->sequencer);
    for (size_t i = 0; i < projections->count; i++)
        leave(&projections->readers[i]);
    pawl__projections_wake(projections);
}

void pawl__projections_wake(pawl__projections *projections)
{
    if (projections == NULL)
        return;
    projections->read_due = PAWL_TIME_MIN;
    projections->pause    = PAUSE_MIN;
}

/* ---- Failures -------------------------------------------------------------------- */

/* Writes the failure into the store, for `pawl projection` and the health of other programs. If that fails, the next
 * try writes it again. */
static void tell_others(const pawl__projections *projections, const pawl__reader *reader,
                        const pawl__unit *unit)
{
    pawl__worker                 *worker  = projections->worker;
    const pawl_projection_failure failure = {.position = unit->event->position,
                                             .stream   = unit->event->stream,
                                             .version  = unit->event->version,
                                             .type     = unit->event->event.type,
                                             .next     = reader->retry_due,
                                             .attempts = reader->attempts,
                                             .code     = pawl_text_of(pawl_code_name(unit->code)),
                                             .error    = unit->error,
                                             .endpoint = projections->endpoint->model->endpoint};
    pawl_error                    error   = PAWL_ERROR_INIT;
    if (pawl_store_projection_fail(worker->store, reader->model->name, &failure,
                                   worker->engine.machine_now, &error) != PAWL_OK)
        pawl_log(PAWL_LOG_DEBUG, "projection %s: its failure is not in the store: %s",
                 reader->model->name.data, error.text);
}

static void wait_for_event(pawl__projections *projections, pawl__reader *reader,
                           const pawl__unit *unit)
{
    const pawl_endpoint_options *settings = &projections->endpoint->settings;
    pawl_error                   why      = PAWL_ERROR_INIT;
    reader->attempts++;
    reader->retry_due = unit->due;
    reader->limit     = 1;
    pawl_error_set(
        &why, unit->code,
        "projection %s waits for the event at global position %lld, version %lld of stream "
        "%.*s, which failed %d time%s: %.*s",
        reader->model->name.data, (long long)unit->event->position, (long long)unit->event->version,
        PAWL_TEXT_ARGS(unit->event->stream), (int)reader->attempts,
        reader->attempts == 1 ? "" : "s", PAWL_TEXT_ARGS(unit->error));
    pawl_log(reader->attempts == STUCK_ATTEMPTS ? PAWL_LOG_ERROR : PAWL_LOG_WARNING, "%s",
             why.text);
    if (reader->attempts == STUCK_ATTEMPTS && settings->critical != NULL)
        pawl__app_call_critical(projections->worker->app_call, projections->endpoint, "projection",
                                &why);
    tell_others(projections, reader, unit);
}

static size_t row_of(const pawl_event_rows *rows, const pawl__unit *unit)
{
    return (size_t)(unit->event - rows->items);
}

static bool is_about_content(pawl_code code)
{
    return code == PAWL_EINVAL || code == PAWL_ELIMIT || code == PAWL_EUNSUPPORTED ||
           code == PAWL_EDECODE || code == PAWL_ECONFLICT;
}

/* ---- A commit ---------------------------------------------------------------------- */

static pawl_code run_events(pawl__worker *worker, pawl_error *error)
{
    pawl_store  *store = worker->store;
    pawl__batch *batch = worker->batch;
    pawl_code    code  = pawl__batch_begin(batch, error);
    if (code == PAWL_OK && batch->has_sql)
        code = pawl_store_handler_transaction_begin(store, error);
    if (code == PAWL_OK)
        code = pawl__batch_run(batch, error);
    return code == PAWL_OK ? pawl__batch_changes(batch, error) : code;
}

/* Number of leading events that are done. `*failed`: the event after them, if it failed, else NULL. */
static size_t count_done(pawl__batch *batch, const pawl_event_rows *rows, pawl__unit **failed)
{
    *failed = NULL;
    for (size_t i = 0; i < batch->unit_count; i++) {
        pawl__unit *unit = &batch->units[i];
        if (unit->end == PAWL__END_HANDLED || unit->end == PAWL__END_DISCARDED)
            continue;
        *failed = unit->end == PAWL__END_RETRY ? unit : NULL;
        return row_of(rows, unit);
    }
    return rows->count;
}

static pawl_code commit(pawl__worker *worker, const pawl__reader *reader, int64_t to,
                        pawl_refusals *refused, pawl_error *error)
{
    pawl_changes       *changes   = &worker->batch->changes;
    pawl_checkpoint_set set       = {.name = reader->model->source,
                                     .from = reader->position,
                                     .to   = to,
                                     .at   = worker->engine.machine_now};
    changes->checkpoint_set.items = &set;
    changes->checkpoint_set.count = 1;
    if (changes->group_count == 0) /* all events are skipped */
        changes->group_count = changes->unit_count = 1;
    pawl_code code                = pawl__worker_commit(worker, changes, refused, error);
    changes->checkpoint_set.items = NULL;
    changes->checkpoint_set.count = 0;
    return code;
}

/* Number of events, judged by these, that fit into READ_SIZE_MAX; at least one. */
static size_t count_that_fits(const pawl_event_rows *rows)
{
    size_t size = 0;
    for (size_t i = 0; i < rows->count; i++)
        size += PAWL_MESSAGE_SIZE(&rows->items[i].event);
    size_t count = READ_SIZE_MAX / (size / rows->count + 1);
    return count > 0 ? count : 1;
}

static void go_on(pawl__reader *reader, const pawl_event_rows *rows, size_t done, pawl_step *step)
{
    reader->position    = rows->items[done - 1].position;
    reader->attempts    = 0;
    reader->retry_due   = PAWL_TIME_MIN;
    reader->only_resets = false;
    reader->limit = least(least(reader->limit * 2, reader->model->batch), count_that_fits(rows));
    step->projected += (int64_t)done;
}

/* The outcome of the events that were read. */
typedef enum outcome {
    OUTCOME_DONE,    /* committed: all, or those before a failed one */
    OUTCOME_CUT,     /* an event with own SQL failed: earlier ones run again without it */
    OUTCOME_WAITING, /* the first event failed: all wait for it */
    OUTCOME_HALVED,  /* the commit fails: try half as many events */
    OUTCOME_SPOILT,  /* the commit of a single event fails */
    OUTCOME_MOVED,   /* another worker or an operator moved the checkpoint */
    OUTCOME_FAILED,  /* the store failed, or something else that is no event's fault */
} outcome;

static outcome outcome_of(pawl_code code, bool is_of_event, size_t row_count, size_t unit_count)
{
    if (code == PAWL_OK)
        return OUTCOME_DONE;
    if (!is_of_event && !is_about_content(code) && code != PAWL_ENOMEM)
        return OUTCOME_FAILED;
    if (row_count > 1)
        return OUTCOME_HALVED;
    return unit_count == 1 ? OUTCOME_SPOILT : OUTCOME_FAILED;
}

typedef struct projected {
    outcome     came_to;
    size_t      done;   /* leading events that are done */
    pawl__unit *failed; /* the event after them, if it failed */
    bool        only_resets;
} projected;

/* Own SQL of a handler that discards its event must have no effect. So the events before it run again, in a commit of
 * their own (true), and it has a commit of its own, outside the handler transaction. If a reset ran with it, whose SQL
 * must stay, the event runs again alone and without its handler. */
static bool is_cut_by_discarded(pawl__worker *worker, const pawl_event_rows *rows,
                                projected *result)
{
    const pawl__batch *batch = worker->batch;
    size_t             i     = 0;
    while (i < batch->unit_count &&
           (batch->units[i].end == PAWL__END_HANDLED || batch->units[i].only_resets))
        i++;
    const pawl__unit *unit = &batch->units[i];
    if (i == batch->unit_count || unit->end != PAWL__END_DISCARDED)
        return false;
    result->failed      = NULL;
    result->done        = row_of(rows, unit) + (i == 0);
    result->came_to     = OUTCOME_CUT;
    result->only_resets = unit->resets;
    if (result->done == rows->count && !unit->resets)
        pawl_store_handler_transaction_end(worker->store);
    return result->done < rows->count || unit->resets;
}

/* Handles a refusal like a failed commit. Sends of an event are refused only by a driver that does not know
 * `may_differ`. */
static pawl_code take_refusal(const pawl_event_rows *rows, const pawl_refusals *refused,
                              projected *result, pawl_error *error)
{
    const pawl_refusal *first = &refused->items[0];
    result->came_to           = pawl__refused_checkpoint(refused) ? OUTCOME_MOVED
                                : rows->count > 1                 ? OUTCOME_HALVED
                                                                  : OUTCOME_SPOILT;
    return pawl_error_set(error, first->reason, "%.*s", PAWL_TEXT_ARGS(first->text));
}

/* May the event's own SQL be the cause? It may run into the same deadlock or deferred trigger each time. If the store
 * itself is busy instead, only the delay of the next try differs. */
static bool may_be_of_own_sql(const pawl__batch *batch, pawl_code code)
{
    return batch->has_sql && (code == PAWL_EBUSY || code == PAWL_ETIMEOUT);
}

/* With own SQL all events share one handler transaction, so if one fails, nothing is committed. */
static pawl_code run_and_commit(pawl__worker *worker, const pawl__reader *reader,
                                const pawl_event_rows *rows, projected *result, pawl_error *error)
{
    pawl__batch  *batch   = worker->batch;
    pawl_refusals refused = {.arena = worker->kept};
    bool          is_own  = false;
    pawl_code     code    = run_events(worker, error);
    if (code == PAWL_OK) {
        result->done    = count_done(batch, rows, &result->failed);
        result->came_to = result->done == 0 ? OUTCOME_WAITING : OUTCOME_CUT;
        if (batch->has_sql && is_cut_by_discarded(worker, rows, result))
            return PAWL_OK;
        if (result->failed != NULL && (result->done == 0 || batch->has_sql))
            return PAWL_OK;
        code   = commit(worker, reader, rows->items[result->done - 1].position, &refused, error);
        is_own = may_be_of_own_sql(batch, code);
    }
    result->came_to = outcome_of(code, is_own, rows->count, batch->unit_count);
    return code == PAWL_OK && refused.count > 0 ? take_refusal(rows, &refused, result, error)
                                                : code;
}

static pawl_code project(pawl__projections *projections, pawl__reader *reader,
                         const pawl_event_rows *rows, pawl_step *step, pawl_error *error)
{
    pawl__worker *worker = projections->worker;
    pawl__batch  *batch  = worker->batch;
    projected     result = {.done = 0};
    pawl_error    inner  = PAWL_ERROR_INIT;
    pawl_code     code   = run_and_commit(worker, reader, rows, &result, &inner);
    if (batch->has_sql)
        pawl_store_handler_transaction_end(worker->store);
    switch (result.came_to) {
    case OUTCOME_DONE: go_on(reader, rows, result.done, step); break;
    case OUTCOME_CUT:
        reader->limit       = result.done;
        reader->only_resets = result.only_resets;
        break;
    case OUTCOME_WAITING: wait_for_event(projections, reader, result.failed); break;
    case OUTCOME_HALVED: reader->limit = rows->count / 2; break;
    case OUTCOME_SPOILT:
        pawl__unit_fail(batch, &batch->units[0], code, pawl_text_of(inner.text), -1);
        wait_for_event(projections, reader, &batch->units[0]);
        break;
    case OUTCOME_MOVED:
        pawl_log(PAWL_LOG_INFO, "projection %s: another worker or an operator moved its checkpoint",
                 reader->model->name.data);
        leave(reader);
        break;
    case OUTCOME_FAILED:
        if (error != NULL)
            *error = inner;
        return code;
    }
    return pawl__worker_send_deferred(worker, error);
}

/* ---- Actions of operators --------------------------------------------------------------------- */

/* Reads the checkpoint again before each new try of a failed event: a worker that lost the lease may have committed the
 * event meanwhile, and its rows may make the handler fail. */
static pawl_code look_at_checkpoint(pawl__reader *reader, pawl_store *store, pawl_error *error)
{
    int64_t   position = 0;
    pawl_code code     = pawl_store_checkpoint_get(store, reader->model->source, &position, error);
    if (code != PAWL_OK || position == reader->position)
        return code;
    pawl_log(PAWL_LOG_INFO, "projection %s: another worker or an operator moved its checkpoint",
             reader->model->name.data);
    begin_anew(reader);
    reader->position = position;
    return PAWL_OK;
}

/* Counts the actions before it reads the position, so that an action between the two is not missed. */
static pawl_code find_position(pawl__reader *reader, pawl_store *store, pawl_error *error)
{
    if (reader->is_known)
        return reader->attempts > 0 ? look_at_checkpoint(reader, store, error) : PAWL_OK;
    pawl_code code = pawl_store_projection_action_count(store, reader->model->name,
                                                        &reader->action_count, error);
    if (code == PAWL_OK)
        code = pawl_store_checkpoint_get(store, reader->model->source, &reader->position, error);
    reader->is_known = code == PAWL_OK;
    return code;
}

/* Restarts at the checkpoint if an operator restarted or rebuilt the projection. Only a reader that waits for its next
 * attempt has to check: an action is an event, so a reader at the end reads it, and a reader with events has its commit
 * refused. */
static pawl_code look_for_actions(pawl__projections *projections, pawl__reader *reader,
                                  pawl_time now, pawl_error *error)
{
    int64_t count = 0;
    if (!reader->is_known || now < reader->look_due)
        return PAWL_OK;
    reader->look_due = pawl_time_add(now, LOOK_PAUSE);
    pawl_code code   = pawl_store_projection_action_count(projections->worker->store,
                                                          reader->model->name, &count, error);
    if (code != PAWL_OK || count == reader->action_count)
        return code;
    pawl_log(PAWL_LOG_INFO, "projection %s: an operator has it begin anew at its checkpoint",
             reader->model->name.data);
    projections->read_due = PAWL_TIME_MIN;
    reader->retry_due     = PAWL_TIME_MIN;
    reader->attempts      = 0;
    reader->is_known      = false;
    return PAWL_OK;
}

/* ---- A check ----------------------------------------------------------------------- */

static pawl_code list_events(pawl__worker *worker, const pawl__reader *reader,
                             pawl_event_rows *rows, pawl_error *error)
{
    pawl_event_query query = {.is_by_position = true,
                              .after          = reader->position > 0 ? reader->position
                                                                     : 0, /* below 0: before the first */
                              .count_max      = reader->limit};
    pawl__batch_reset(worker->batch);
    pawl_arena_reset(worker->read);
    pawl_arena_reset(worker->kept);
    worker->has_subscriptions = false;
    pawl__worker_clocks(worker, pawl__business_now(worker->endpoint));
    return pawl_store_event_list(worker->store, &query, worker->batch->arena, rows, error);
}

/* Gives up the lease, so that another program takes it and the next event. */
static pawl_code give_up_lease(pawl__projections *projections, pawl__reader *reader,
                               const pawl_event_row *next, pawl_error *error)
{
    pawl_log(PAWL_LOG_INFO,
             "projection %s: another program projects events of the type %.*s and version %d, and "
             "is to go on at global position %lld",
             reader->model->name.data, PAWL_TEXT_ARGS(next->event.type),
             (int)next->event.type_version, (long long)next->position);
    leave(reader);
    reader->lease.renewal = pawl_time_add(pawl__machine_now(projections->endpoint), GIVE_WAY);
    return pawl_store_unlead(projections->worker->store, reader->lease.name, error);
}

/* Adds the events that a handler takes, and the first of all, with which a reset runs. */
static pawl_code add_events(pawl__worker *worker, const pawl__reader *reader,
                            const pawl_event_rows *rows)
{
    bool      resets = reader->model->reset != NULL && reader->position <= 0;
    pawl_code code   = PAWL_OK;
    for (size_t i = 0; i < rows->count && code == PAWL_OK; i++)
        if ((i == 0 && resets) ||
            pawl__model_projection_on(reader->model, rows->items[i].event.type) != NULL)
            code = pawl__batch_add_event(worker->batch, reader->model, &rows->items[i],
                                         i == 0 ? reader->attempts : 0);
    if (code == PAWL_OK && resets) {
        worker->batch->units[0].resets      = true;
        worker->batch->units[0].only_resets = reader->only_resets;
    }
    return code;
}

/* Reads and runs the events of one commit. `*end`: position up to which events are known. */
static pawl_code read_some(pawl__projections *projections, pawl__reader *reader, int64_t *end,
                           pawl_step *step, pawl_error *error)
{
    pawl__worker   *worker = projections->worker;
    pawl_event_rows rows   = {.count = 0};
    pawl_code       code   = find_position(reader, worker->store, error);
    if (code != PAWL_OK)
        return code;
    if (reader->position >= *end)
        return PAWL_OK;
    code = list_events(worker, reader, &rows, error);
    if (code == PAWL_ENOMEM && reader->limit > 1) {
        reader->limit /= 2;
        projections->read_due = PAWL_TIME_MIN;
        return PAWL_OK;
    }
    if (code != PAWL_OK)
        return code;
    if (rows.count == 0) {
        *end = reader->position;
        return PAWL_OK;
    }
    code = pawl__events_of_others(worker, reader, &rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows.count == 0)
        return give_up_lease(projections, reader, &rows.items[0], error);
    code = add_events(worker, reader, &rows);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for %zu events", rows.count);
    projections->read_due = PAWL_TIME_MIN;
    return project(projections, reader, &rows, step, error);
}

static pawl_code keep_leases(pawl__projections *projections, pawl_store *store, pawl_time now,
                             bool *any, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < projections->count && code == PAWL_OK; i++) {
        pawl__reader *reader = &projections->readers[i];
        bool          was    = reader->lease.is_ours;
        code                 = pawl__lease_keep(&reader->lease, store, now, error);
        if (was && !reader->lease.is_ours)
            leave(reader);
        *any |= reader->lease.is_ours;
    }
    return code;
}

static pawl_code read_all(pawl__projections *projections, pawl_time now, pawl_step *step,
                          pawl_error *error)
{
    pawl_code code = PAWL_OK;
    int64_t   end  = INT64_MAX;
    for (size_t i = 0; i < projections->count && code == PAWL_OK; i++) {
        pawl__reader *reader = &projections->readers[i];
        if (!reader->lease.is_ours)
            continue;
        code = now < reader->retry_due ? look_for_actions(projections, reader, now, error)
                                       : read_some(projections, reader, &end, step, error);
        if (code != PAWL_OK && code != PAWL_EINTERRUPTED)
            pawl_error_wrap(error, code, "projection %s", reader->model->name.data);
    }
    return code;
}

pawl_time pawl__projections_retry(const pawl__projections *projections)
{
    pawl_time due = PAWL_TIME_MAX;
    for (size_t i = 0; projections != NULL && i < projections->count; i++)
        if (projections->readers[i].attempts > 0)
            due = pawl__sooner(due, projections->readers[i].retry_due);
    return due;
}

/* Sets the time of the next check after no event was found: after a pause, at the next try of a failed event, or at the
 * end of another worker's lease. */
static void rest(pawl__projections *projections, pawl_time now)
{
    projections->read_due =
        pawl__sooner(pawl_time_add(now, projections->pause), pawl__projections_retry(projections));
    projections->pause = projections->pause * 2 < PAUSE_MAX ? projections->pause * 2 : PAUSE_MAX;
    for (size_t i = 0; i < projections->count; i++)
        if (!projections->readers[i].lease.is_ours)
            projections->read_due =
                pawl__sooner(projections->read_due, projections->readers[i].lease.renewal);
}

pawl_code pawl__projections_run(pawl__projections *projections, pawl_store *store, pawl_step *step,
                                pawl_error *error)
{
    if (projections == NULL)
        return PAWL_OK;
    pawl_time now   = pawl__machine_now(projections->endpoint);
    int64_t   count = 0;
    bool      any = false, more = false;
    if (now < projections->read_due)
        return PAWL_OK;
    projections->worker->store = store;
    projections->read_due      = PAWL_TIME_MAX; /* becomes earlier if events are found */
    pawl_code code             = keep_leases(projections, store, now, &any, error);
    if (code == PAWL_OK)
        code = pawl__sequencer_run(&projections->sequencer, store, any, now, &count, &more, error);
    if (code == PAWL_OK)
        code = read_all(projections, now, step, error);
    if (code != PAWL_OK || more || projections->read_due != PAWL_TIME_MAX)
        pawl__projections_wake(projections);
    else
        rest(projections, now);
    return code;
}

pawl_time pawl__projections_due(const pawl__projections *projections)
{
    return projections != NULL ? projections->read_due : PAWL_TIME_MAX;
}
