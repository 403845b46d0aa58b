/* engine_callbacks.c - functions of a worker that the engine calls: routes, subscriptions, clocks, and pawl_send_now,
 * which does not wait for the commit of its handler.
 *
 *     set -> { commit* -> send_deferred }* -> close_aside, drop_deferred
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/schedule/schedule.h"
#include "runtime/worker/commit.h"

#include <string.h>

/* ---- Destinations ----------------------------------------------------------------- */

/* Is the name new? Names with the same hash count as one. If the list is full, no name is new, and nothing more is
 * logged. */
static bool is_new(pawl_endpoint *endpoint, pawl_text name)
{
    uint64_t hash = pawl__text_hash(name);
    size_t   i    = 0;
    pthread_mutex_lock(&endpoint->mutex);
    while (i < endpoint->sent_to_count && endpoint->sent_to[i] != hash)
        i++;
    bool is_added = i == endpoint->sent_to_count && i < PAWL__SENT_TO_MAX;
    if (is_added)
        endpoint->sent_to[endpoint->sent_to_count++] = hash;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_added;
}

/* Warns once if messages are sent, without a route, to a queue of this store that has no endpoint: usually a mistyped
 * name or a forgotten route. They would wait there for ever. Every endpoint has a subscription for each type that it
 * handles, so the subscriptions tell which queues are read. If the store cannot be read now, there is no second try.
 * Not under a virtual clock, as tests read such queues themselves. */
static void warn_unread(pawl__worker *worker, pawl_text queue)
{
    const pawl_subscriptions *list = NULL;
    if (worker->engine.is_virtual || !is_new(worker->endpoint, queue) ||
        worker->engine.subscriptions(worker, &list, NULL) != PAWL_OK ||
        PAWL__ROW_OF(pawl_subscription, queue, list->items, list->count, queue) != NULL)
        return;
    pawl_log(
        PAWL_LOG_WARNING,
        "endpoint %s sends to '%.*s', which no endpoint of this store reads and no route names: "
        "such messages wait until an endpoint reads them; if the name is right, say so by a "
        "route: --route %.*s=#%.*s",
        worker->endpoint->model->endpoint.data, PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(queue),
        PAWL_TEXT_ARGS(queue));
}

static pawl__destination resolve(void *runtime, pawl_text destination)
{
    pawl__worker     *worker = runtime;
    const pawl_route *route  = pawl__route_find(worker->endpoint, destination);
    if (route == NULL) {
        warn_unread(worker, destination);
        return (pawl__destination){.queue = destination};
    }
    if (pawl__route_is_remote(route))
        return (pawl__destination){.is_remote = true};
    return (pawl__destination){.queue =
                                   route->queue != NULL ? pawl_text_of(route->queue) : destination};
}

static pawl_code subscriptions(void *runtime, const pawl_subscriptions **list, pawl_error *error)
{
    pawl__worker *worker = runtime;
    *list                = &worker->subscriptions;
    if (worker->has_subscriptions)
        return PAWL_OK;
    worker->subscriptions = (pawl_subscriptions){NULL, 0};
    pawl_code code =
        pawl_store_subscriptions(worker->store, worker->read, &worker->subscriptions, error);
    worker->has_subscriptions = code == PAWL_OK;
    return code;
}

/* ---- Sends that do not wait ----------------------------------------------------- */

/* A pawl_send_now during a handler transaction. A second commit on the same handle would end that transaction. On
 * stores that lock rows, a second handle commits the send at once. On SQLite, which locks the whole file, the send is
 * deferred to the next commit, which also ends the handler's message. If the process crashes before, the handler runs,
 * and sends, again: so no send is lost whose handler had an effect. */
struct pawl__deferred {
    struct pawl__deferred *next;
    pawl_queue_send        send;
    pawl_outbox_add        row;
    bool                   is_remote;
    char                   texts[];
};

static pawl_text put_text(char **at, pawl_text text)
{
    char *start = *at;
    if (text.size > 0)
        memcpy(start, text.data, text.size);
    start[text.size] = '\0';
    *at              = start + text.size + 1;
    return (pawl_text){.data = start, .size = text.size};
}

static pawl_code defer(pawl__worker *worker, const pawl_changes *changes, pawl_error *error)
{
    bool                is_remote = changes->outbox_add.count > 0;
    const pawl_message *message =
        is_remote ? &changes->outbox_add.items[0].message : &changes->queue_send.items[0].message;
    pawl_text where =
        is_remote ? changes->outbox_add.items[0].destination : changes->queue_send.items[0].queue;
    size_t size = message->id.size + message->type.size + message->body.size +
                  message->headers.size + message->correlation_id.size +
                  message->causation_id.size + where.size + 7;
    struct pawl__deferred *made = pawl_allocate(sizeof *made + size);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a send");
    made->is_remote = is_remote;
    if (is_remote)
        made->row = changes->outbox_add.items[0];
    else
        made->send = changes->queue_send.items[0];
    char         *at   = made->texts;
    pawl_message *copy = is_remote ? &made->row.message : &made->send.message;
    *copy              = (pawl_message){.id             = put_text(&at, message->id),
                                        .type           = put_text(&at, message->type),
                                        .body           = put_text(&at, message->body),
                                        .headers        = put_text(&at, message->headers),
                                        .correlation_id = put_text(&at, message->correlation_id),
                                        .causation_id   = put_text(&at, message->causation_id)};
    if (is_remote)
        made->row.destination = put_text(&at, where);
    else
        made->send.queue = put_text(&at, where);
    struct pawl__deferred **last = &worker->deferred;
    while (*last != NULL)
        last = &(*last)->next;
    *last = made;
    return PAWL_OK;
}

void pawl__worker_close_aside(pawl__worker *worker)
{
    pawl_store_close(worker->aside);
    worker->aside = NULL;
}

static pawl_code commit_aside(pawl__worker *worker, pawl_changes *changes, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (worker->aside == NULL)
        code = pawl__endpoint_store_open_aside(worker->endpoint, INT64_MAX, &worker->aside, error);
    if (code == PAWL_OK)
        code = pawl_store_commit(worker->aside, changes, NULL, error);
    if (code != PAWL_OK)
        pawl__worker_close_aside(worker);
    return code;
}

static pawl_code send_now(void *runtime, pawl_changes *changes, pawl_error *error)
{
    pawl__worker *worker = runtime;
    if (pawl__app_call_is_given_up(worker->app_call))
        return pawl_error_set(error, PAWL_EFENCED, "stopping abandoned the message in flight");
    if (!worker->batch->has_sql)
        return pawl_store_commit(worker->store, changes, NULL, error);
    return (pawl_store_promises(worker->store) & PAWL_STORE_ROW_LOCKS) != 0
               ? commit_aside(worker, changes, error)
               : defer(worker, changes, error);
}

/* Adds the deferred sends as the last group. */
static bool put_deferred(pawl__worker *worker, pawl_changes *changes)
{
    pawl_arena *arena = worker->batch->arena;
    size_t      sends = changes->queue_send.count, rows = changes->outbox_add.count, more = 0;
    for (const struct pawl__deferred *d = worker->deferred; d != NULL; d = d->next)
        more++;
    pawl_queue_send *queue_sends = pawl_arena_take(arena, (sends + more) * sizeof *queue_sends);
    pawl_outbox_add *outbox_adds = pawl_arena_take(arena, (rows + more) * sizeof *outbox_adds);
    if (queue_sends == NULL || outbox_adds == NULL)
        return false;
    for (size_t i = 0; i < sends; i++)
        queue_sends[i] = changes->queue_send.items[i];
    for (size_t i = 0; i < rows; i++)
        outbox_adds[i] = changes->outbox_add.items[i];
    for (const struct pawl__deferred *d = worker->deferred; d != NULL; d = d->next) {
        if (d->is_remote) {
            outbox_adds[rows]         = d->row;
            outbox_adds[rows++].group = changes->group_count;
        } else {
            queue_sends[sends]         = d->send;
            queue_sends[sends++].group = changes->group_count;
        }
    }
    changes->queue_send.items = queue_sends;
    changes->queue_send.count = sends;
    changes->outbox_add.items = outbox_adds;
    changes->outbox_add.count = rows;
    changes->group_count++;
    return true;
}

/* Removes refusals of the deferred sends from the list, as they belong to no unit. True: there were some, and the sends
 * have to be committed separately. */
static bool take_refusals(pawl_refusals *refused, uint32_t group)
{
    size_t kept = 0, count = refused->count;
    for (size_t i = 0; i < count; i++)
        if (refused->items[i].group != group)
            refused->items[kept++] = refused->items[i];
    refused->count = kept;
    return kept < count;
}

pawl_code pawl__worker_commit(pawl__worker *worker, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error)
{
    const uint32_t group = changes->group_count;
    bool           has   = worker->deferred != NULL;
    if (has && !put_deferred(worker, changes))
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the sends of a handler");
    pawl_code code = pawl_store_commit(worker->store, changes, refused, error);
    if (!take_refusals(refused, group) && has && code == PAWL_OK)
        pawl__worker_drop_deferred(worker);
    return code;
}

pawl_code pawl__worker_send_deferred(pawl__worker *worker, pawl_error *error)
{
    while (worker->deferred != NULL) {
        struct pawl__deferred *first   = worker->deferred;
        pawl_changes           changes = {PAWL__ONE_UNIT(worker->engine.machine_now),
                                          .queue_send = {&first->send, !first->is_remote},
                                          .outbox_add = {&first->row, first->is_remote}};
        pawl_code              code    = pawl_store_commit(worker->store, &changes, NULL, error);
        if (code != PAWL_OK)
            return code; /* the next step tries again */
        worker->deferred = first->next;
        pawl_free(first);
    }
    return PAWL_OK;
}

void pawl__worker_drop_deferred(pawl__worker *worker)
{
    while (worker->deferred != NULL) {
        struct pawl__deferred *first = worker->deferred;
        worker->deferred             = first->next;
        pawl_free(first);
    }
}

/* ---- The rest ---------------------------------------------------------------------- */

static pawl_code read_live(pawl__worker *worker, pawl_error *error)
{
    pawl__live_workers *live = &worker->live;
    if (live->is_read)
        return PAWL_OK;
    pawl_code code =
        pawl_store_worker_list(worker->store, live->arena, &live->items, &live->count, error);
    live->is_read = code == PAWL_OK;
    return code;
}

/* Does another live worker of the endpoint handle the type? A worker's row lists its types. */
static pawl_code find_handler(void *runtime, pawl_text type, bool *is_known, pawl_error *error)
{
    pawl__worker             *worker = runtime;
    const pawl__live_workers *live   = &worker->live;
    *is_known                        = false;
    if (type.size == 0)
        return PAWL_OK;
    pawl_code code = read_live(worker, error);
    if (code != PAWL_OK)
        return code;
    pawl_text quoted = pawl_arena_printf(worker->read, "\"%.*s\"", PAWL_TEXT_ARGS(type));
    if (quoted.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the name of a type");
    for (size_t i = 0; i < live->count && !*is_known; i++)
        *is_known = pawl_text_equal(live->items[i].endpoint, worker->endpoint->model->endpoint) &&
                    pawl__types_list(live->items[i].types, quoted);
    return PAWL_OK;
}

static bool call_begin(void *runtime, const pawl__call *call)
{
    pawl__worker *worker = runtime;
    return pawl__app_call_begin(worker->app_call, worker->endpoint, call);
}

static bool call_end(void *runtime)
{
    pawl__worker *worker  = runtime;
    bool          is_ours = pawl__app_call_end(worker->app_call, worker->endpoint);
    if (is_ours)
        pawl__outlived_call(worker, &worker->app_call->call, worker->app_call->time);
    return is_ours;
}

static bool is_stopping(void *runtime)
{
    const pawl__worker *worker = runtime;
    return atomic_load(&worker->endpoint->is_stopping);
}

static pawl_time oldest_without_row(void *runtime)
{
    pawl__worker *worker = runtime;
    /* The order matters: when the connection is lost, the loss is noted before its messages are removed from the
     * offers. */
    pawl_time oldest = pawl__offers_oldest(&worker->endpoint->offers, &worker->rowless.deliveries);
    return pawl__inbound_state_may_miss(worker) ? PAWL_TIME_MIN : oldest;
}

/* The time of handlers begins after the load: after a slow load, batches must not become smaller. */
static void begin_time(void *runtime)
{
    pawl__worker *worker = runtime;
    worker->batch_end    = pawl__monotonic_now() + worker->endpoint->settings.batch_time_max;
}

/* Has the batch to end early: its time is used up, the breaker opened, or the endpoint stops? A virtual clock ignores
 * time, so that runs are repeatable. */
static bool is_time_over(void *runtime)
{
    pawl__worker *worker = runtime;
    return pawl__breaker_is_over(worker) || is_stopping(worker) ||
           (!worker->engine.is_virtual && pawl__monotonic_now() > worker->batch_end);
}

static pawl_time machine_now(void *runtime)
{
    const pawl__worker *worker = runtime;
    return pawl__machine_now(worker->endpoint);
}

static pawl_time business_now(void *runtime)
{
    const pawl__worker *worker = runtime;
    return pawl__business_now(worker->endpoint);
}

/* Stands still under a virtual clock, so that runs are repeatable. */
static int64_t clock_now(void *runtime)
{
    const pawl__worker *worker = runtime;
    return worker->engine.is_virtual ? 0 : pawl__monotonic_now();
}

static int64_t watch_now(void *runtime)
{
    const pawl__worker *worker = runtime;
    return worker->engine.is_virtual ? 0 : pawl__watch_now(worker->endpoint);
}

/* On an ordered endpoint always true, as only one worker has its queue. */
static bool take(void *runtime, uint64_t hash)
{
    pawl__worker *worker = runtime;
    return worker->ordered != NULL || pawl__owners_take(worker->endpoint->owners, &worker->owned,
                                                        hash, worker->engine.machine_now);
}

void pawl__engine_callbacks_set(pawl__worker *worker)
{
    const pawl_endpoint_options *settings = &worker->endpoint->settings;
    pawl_arena                  *scratch  = worker->engine.scratch;

    worker->engine = (pawl__engine){
        .model              = worker->endpoint->model,
        .random             = &worker->random,
        .scratch            = scratch,
        .user               = settings->user,
        .runtime            = worker,
        .resolve            = resolve,
        .subscriptions      = subscriptions,
        .send_now           = send_now,
        .find_handler       = find_handler,
        .schedule           = pawl__worker_schedule,
        .call_begin         = call_begin,
        .call_end           = call_end,
        .has_outlived       = pawl__outlived_find,
        .is_stopping        = is_stopping,
        .oldest_without_row = oldest_without_row,
        .begin_time         = begin_time,
        .is_time_over       = is_time_over,
        .machine            = machine_now,
        .business           = business_now,
        .clock              = clock_now,
        .watch              = watch_now,
        .audit       = worker->endpoint->auditing.is_on ? &worker->endpoint->auditing.copies : NULL,
        .has_history = settings->history > 0,
        .is_timed    = settings->history > 0 || worker->endpoint->auditing.is_on,
        .is_hot      = pawl__hot_is,
        .take        = worker->endpoint->owners != NULL ? take : NULL,
        .is_virtual  = settings->business != NULL,
        .immediate_retries = settings->immediate_retries,
        .delayed_retries   = settings->delayed_retries,
        .retry_delay       = settings->retry_delay,
        .retry_delay_max   = settings->retry_delay_max,
        .not_found_wait    = settings->not_found_wait,
        .version_delay     = settings->version_delay,
        .handler_time_max  = settings->handler_time_max,
        .conflict_retries  = settings->conflict_retries,
        .recovery          = &worker->endpoint->recovery,
        .dispatch_retention =
            settings->inbox_retention < settings->outbox_retention ? settings->outbox_retention : 0,
    };
}
