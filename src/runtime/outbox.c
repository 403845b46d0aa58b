/* outbox.c - the runner: delivers outbox rows to where their routes lead.
 *
 *     claim pending rows -> deliver, route by route -> settle in one commit
 *
 *     pending -> dispatched            delivered
 *     pending -> pending, later        transient failure; later rows of the
 *                                      same source are held
 *     pending -> dead                  rejected, or attempts used up
 *     held    -> pending               in the commit that settles the row before
 *
 * One runner at a time drains what an endpoint produced: the leader. Order holds inside a source;
 * a dead row holds nothing back (contracts O14).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <string.h>

#define LEASE PAWL_SECONDS(15)
#define LEASE_RENEWAL (LEASE / 2)
#define IDLE_MAX PAWL_SECONDS(30)     /* a notification may be missed (contracts O21) */
#define ORPHAN_PERIOD PAWL_MINUTES(1) /* between looks for rows that are held for nothing */

/* ---- Sources that wait ----------------------------------------------------------- */

static size_t waiting_place(const pawl__service *service, pawl_text source)
{
    size_t i = 0;
    while (i < service->waiting_count && !pawl_text_equal(service->waiting[i], source))
        i++;
    return i;
}

static bool is_waiting(const pawl__service *service, pawl_text source)
{
    return source.size > 0 && waiting_place(service, source) < service->waiting_count;
}

static pawl_code set_waiting(pawl__service *service, pawl_text source)
{
    if (source.size == 0 || is_waiting(service, source))
        return PAWL_OK;
    pawl_text *grown =
        pawl_arena_grow(service->waiting_arena, service->waiting, service->waiting_count,
                        &service->waiting_capacity, sizeof service->waiting[0]);
    pawl_text copy = pawl_arena_text(service->waiting_arena, source);
    if (grown == NULL || copy.data == NULL)
        return PAWL_ENOMEM;
    service->waiting                           = grown;
    service->waiting[service->waiting_count++] = copy;
    return PAWL_OK;
}

static void clear_waiting(pawl__service *service, pawl_text source)
{
    size_t place = waiting_place(service, source);
    if (place < service->waiting_count)
        service->waiting[place] = service->waiting[--service->waiting_count];
}

void pawl__outbox_forget(pawl__service *service)
{
    service->is_leader        = false;
    service->lease_renewal    = PAWL_TIME_MIN;
    service->outbox_due       = PAWL_TIME_MIN;
    service->waiting          = NULL;
    service->waiting_count    = 0;
    service->waiting_capacity = 0;
    if (service->waiting_arena != NULL)
        pawl_arena_reset(service->waiting_arena);
}

/* ---- Leadership -------------------------------------------------------------------- */

/* Routes are each endpoint's own, so each endpoint delivers what it produced. */
static bool is_ours(const pawl__service *service, const pawl_outbox_row *row)
{
    return pawl_text_equal(row->endpoint, service->endpoint->model->endpoint);
}

/* Releases held rows whose source waits for nothing: the runner before this one
 * may have died between two commits. */
static pawl_code release_orphans(pawl__service *service, pawl_error *error)
{
    pawl_outbox_rows held    = {.count = 0};
    pawl_refusals    refused = {.arena = service->arena};
    pawl_store      *store   = service->store;
    pawl_code        code =
        store->ops->outbox_list(store, PAWL_OUTBOX_HELD, 0, service->arena, &held, error);
    if (code != PAWL_OK || held.count == 0)
        return code;
    pawl_changes changes = {
        .group_count = 1, .unit_count = 1, .now = pawl__machine_now(service->endpoint)};
    pawl_outbox_hold *releases = pawl_arena_take(service->arena, held.count * sizeof *releases);
    if (releases == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < held.count; i++) {
        bool is_known =
            !is_ours(service, &held.items[i]) || is_waiting(service, held.items[i].source);
        for (size_t j = 0; j < changes.outbox_hold.count && !is_known; j++)
            is_known = pawl_text_equal(releases[j].source, held.items[i].source);
        if (!is_known)
            releases[changes.outbox_hold.count++] =
                (pawl_outbox_hold){.source = held.items[i].source, .after = 0, .is_release = true};
    }
    changes.outbox_hold.items = releases;
    return pawl_store_commit(store, &changes, &refused, error);
}

/* Take-over: which sources wait behind a row that was tried before? */
static pawl_code take_over(pawl__service *service, pawl_error *error)
{
    pawl_outbox_rows pending = {.count = 0};
    pawl_store      *store   = service->store;
    pawl_code        code =
        store->ops->outbox_list(store, PAWL_OUTBOX_PENDING, 0, service->arena, &pending, error);
    for (size_t i = 0; i < pending.count && code == PAWL_OK; i++)
        if (pending.items[i].attempts > 0 && is_ours(service, &pending.items[i]))
            code = set_waiting(service, pending.items[i].source);
    return code == PAWL_OK ? release_orphans(service, error) : code;
}

static pawl_code lead(pawl__service *service, pawl_time now, pawl_error *error)
{
    if (service->is_leader && now < service->lease_renewal)
        return PAWL_OK;
    bool      was_leader = service->is_leader;
    pawl_text name =
        pawl_arena_printf(service->arena, "outbox/%s", service->endpoint->model->endpoint.data);
    if (name.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a lease");
    pawl_code code =
        service->store->ops->lead(service->store, name, now, LEASE, &service->is_leader, error);
    service->lease_renewal = pawl_time_add(now, LEASE_RENEWAL);
    if (code != PAWL_OK || !service->is_leader) {
        service->is_leader = false;
        return code;
    }
    if (was_leader && now < service->orphans_due)
        return PAWL_OK;
    service->orphans_due = pawl_time_add(now, ORPHAN_PERIOD);
    return was_leader ? release_orphans(service, error) : take_over(service, error);
}

/* ---- Delivering ---------------------------------------------------------------------- */

static pawl__sink *sink_of(pawl__service *service, pawl_text destination)
{
    const pawl_route *route = pawl__route_find(service->endpoint, destination);
    if (route == NULL)
        return NULL;
    pawl__sink *sink = &service->sinks[route - service->endpoint->routes];
    sink->route      = route;
    return sink;
}

static pawl_code open_sink(pawl__sink *sink, pawl_error *error)
{
    if (sink->transport != NULL)
        return PAWL_OK;
    const pawl_transport_ops *ops  = pawl_transport_find(sink->route->url);
    pawl_transport           *made = pawl_allocate(ops->transport_size);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for route '%s'", sink->route->name);
    made->ops      = ops;
    pawl_code code = ops->open(made, sink->route->url, sink->route->system_prefix, error);
    if (code != PAWL_OK) {
        ops->close(made);
        pawl_free(made);
        return pawl_error_wrap(error, code, "route '%s'", sink->route->name);
    }
    sink->transport = made;
    return PAWL_OK;
}

static void close_sink(pawl__sink *sink)
{
    if (sink->transport == NULL)
        return;
    sink->transport->ops->close(sink->transport);
    pawl_free(sink->transport);
    sink->transport = NULL;
}

void pawl__outbox_close(pawl__service *service)
{
    for (size_t i = 0; i < service->endpoint->route_count; i++)
        close_sink(&service->sinks[i]);
}

/* The rows of one claim, with what was tried and what came of it. */
typedef struct round {
    pawl_outbox_row *rows;
    pawl_delivery   *deliveries;
    bool            *is_tried;
    bool            *is_held; /* met behind a row that waits */
    size_t           count;
    int64_t          duration;
} round;

static bool is_behind_failed(const round *all, size_t index)
{
    const pawl_outbox_row *row = &all->rows[index];
    for (size_t i = 0; i < index && row->source.size > 0; i++)
        if (all->is_tried[i] && all->deliveries[i].outcome == PAWL_ATTEMPT_TRANSIENT &&
            pawl_text_equal(all->rows[i].source, row->source))
            return true;
    return false;
}

/* What stood behind a row of its source that failed was not tried for its own
 * sake: it is held, and its attempts do not count. */
static void fail_row(round *all, size_t index, pawl_text error)
{
    if (is_behind_failed(all, index)) {
        all->is_tried[index] = false;
        all->is_held[index]  = true;
        return;
    }
    all->is_tried[index]           = true;
    all->deliveries[index].outcome = PAWL_ATTEMPT_TRANSIENT;
    all->deliveries[index].error   = error;
}

/* All rows of the round for one sink, in order. */
static void deliver_to(pawl__service *service, round *all, pawl__sink *sink, pawl_text destination)
{
    pawl_error     error = PAWL_ERROR_INIT;
    size_t         count = 0;
    pawl_delivery *items = pawl_arena_take(service->arena, all->count * sizeof *items);
    size_t        *rows  = pawl_arena_take(service->arena, all->count * sizeof *rows);
    if (items == NULL || rows == NULL)
        return; /* untried rows stay pending */
    for (size_t i = 0; i < all->count; i++)
        if (!all->is_tried[i] && !all->is_held[i] &&
            pawl_text_equal(all->rows[i].destination, destination)) {
            all->is_tried[i] = true;
            rows[count]      = i;
            items[count++]   = all->deliveries[i];
        }
    int64_t   begin = pawl__monotonic_now();
    pawl_code code  = open_sink(sink, &error);
    if (code == PAWL_OK)
        code = sink->transport->ops->deliver(sink->transport, items, count, service->arena, &error);
    all->duration  = pawl__monotonic_now() - begin;
    pawl_text text = pawl_arena_text(service->arena, pawl_text_of(error.text));
    if (code != PAWL_OK)
        close_sink(sink);
    for (size_t i = 0; i < count; i++) {
        all->deliveries[rows[i]] = items[i];
        if (code != PAWL_OK)
            fail_row(all, rows[i], text);
    }
    if (code != PAWL_OK)
        pawl_log(PAWL_LOG_WARNING, "outbox: %zu messages for '%.*s' not delivered: %s", count,
                 PAWL_TEXT_ARGS(destination), error.text);
}

static void deliver_all(pawl__service *service, round *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->is_tried[i] || all->is_held[i])
            continue;
        pawl__sink *sink = sink_of(service, all->rows[i].destination);
        if (sink != NULL && sink->route->url != NULL)
            deliver_to(service, all, sink, all->rows[i].destination);
        else
            fail_row(all, i,
                     pawl_arena_printf(service->arena, "no route to another store is named '%.*s'",
                                       PAWL_TEXT_ARGS(all->rows[i].destination)));
    }
}

/* ---- Settling --------------------------------------------------------------------------- */

static int64_t back_off(pawl__service *service, int32_t attempts)
{
    const pawl_endpoint_options *settings = &service->endpoint->settings;
    int64_t delay = pawl__doubled(settings->outbox_delay, attempts - 1, settings->outbox_delay_max);
    return delay + (int64_t)pawl_random_below(&service->random, (uint64_t)delay / 5 + 1);
}

static void put_hold(pawl_changes *changes, const pawl_outbox_row *row, uint32_t index,
                     bool is_release)
{
    if (row->source.size == 0)
        return;
    /* A row met behind a waiting one is held itself; a release starts from the
     * row that was settled. */
    changes->outbox_hold.items[changes->outbox_hold.count++] =
        (pawl_outbox_hold){.unit       = index,
                           .group      = index,
                           .source     = row->source,
                           .after      = row->id,
                           .is_release = is_release};
}

static void put_settle(pawl__service *service, pawl_changes *changes, const round *all,
                       uint32_t index)
{
    const pawl_outbox_row *row      = &all->rows[index];
    const pawl_delivery   *delivery = &all->deliveries[index];
    pawl_outbox_settle    *settle   = &changes->outbox_settle.items[changes->outbox_settle.count++];
    *settle                         = (pawl_outbox_settle){.unit         = index,
                                                           .group        = index,
                                                           .id           = row->id,
                                                           .source       = row->source,
                                                           .state        = PAWL_OUTBOX_DISPATCHED,
                                                           .attempts     = row->attempts + 1,
                                                           .next_attempt = changes->now,
                                                           .outcome      = delivery->outcome,
                                                           .error        = delivery->error,
                                                           .at           = changes->now,
                                                           .duration     = all->duration};
    if (settle->outcome == PAWL_ATTEMPT_TRANSIENT &&
        settle->attempts >= service->endpoint->settings.outbox_attempts)
        settle->outcome = PAWL_ATTEMPT_POISON;
    if (settle->outcome == PAWL_ATTEMPT_REJECTED || settle->outcome == PAWL_ATTEMPT_POISON)
        settle->state = PAWL_OUTBOX_DEAD;
    if (settle->outcome == PAWL_ATTEMPT_TRANSIENT) {
        settle->state        = PAWL_OUTBOX_PENDING;
        settle->next_attempt = pawl_time_add(changes->now, back_off(service, settle->attempts));
        put_hold(changes, row, index, false);
    } else if (row->attempts > 0) {
        put_hold(changes, row, index, true);
    }
    if (settle->state == PAWL_OUTBOX_DEAD)
        pawl_log(PAWL_LOG_ERROR, "outbox: message %.*s for '%.*s' is dead after %d attempts: %.*s",
                 PAWL_TEXT_ARGS(row->message.id), PAWL_TEXT_ARGS(row->destination),
                 settle->attempts, PAWL_TEXT_ARGS(settle->error));
}

static pawl_code settle_all(pawl__service *service, const round *all, pawl_step *step,
                            pawl_error *error)
{
    pawl_refusals refused = {.arena = service->arena};
    pawl_changes  changes = {.group_count = (uint32_t)all->count,
                             .unit_count  = (uint32_t)all->count,
                             .now         = pawl__machine_now(service->endpoint)};
    changes.outbox_settle.items =
        pawl_arena_take(service->arena, all->count * sizeof changes.outbox_settle.items[0]);
    changes.outbox_hold.items =
        pawl_arena_take(service->arena, all->count * sizeof changes.outbox_hold.items[0]);
    if (changes.outbox_settle.items == NULL || changes.outbox_hold.items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to settle outbox rows");
    for (uint32_t i = 0; i < all->count; i++)
        if (all->is_tried[i])
            put_settle(service, &changes, all, i);
    if (changes.outbox_settle.count == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_commit(service->store, &changes, &refused, error);
    for (size_t i = 0; i < all->count && code == PAWL_OK; i++) {
        if (!all->is_tried[i])
            continue;
        bool is_again = all->deliveries[i].outcome == PAWL_ATTEMPT_TRANSIENT &&
                        all->rows[i].attempts + 1 < service->endpoint->settings.outbox_attempts;
        step->sent += all->deliveries[i].outcome == PAWL_ATTEMPT_SUCCESS;
        if (is_again)
            code = set_waiting(service, all->rows[i].source);
        else
            clear_waiting(service, all->rows[i].source);
    }
    return code;
}

/* Of a source at most one row is tried unless its sink promises that nothing
 * takes effect after a failure; what follows a waiting row is held. */
static pawl_code prepare(pawl__service *service, const pawl_outbox_rows *rows, round *all)
{
    *all            = (round){.rows = rows->items, .count = rows->count};
    all->deliveries = pawl_arena_take(service->arena, rows->count * sizeof all->deliveries[0]);
    all->is_tried   = pawl_arena_take(service->arena, rows->count);
    all->is_held    = pawl_arena_take(service->arena, rows->count);
    if (all->deliveries == NULL || all->is_tried == NULL || all->is_held == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_outbox_row *row  = &rows->items[i];
        pawl__sink            *sink = sink_of(service, row->destination);
        const char *queue = sink != NULL && sink->route->queue != NULL ? sink->route->queue : NULL;
        all->deliveries[i] =
            (pawl_delivery){.queue   = queue != NULL ? pawl_text_of(queue) : row->destination,
                            .message = row->message,
                            .due     = row->due};
        all->is_held[i] = row->attempts == 0 && is_waiting(service, row->source);
    }
    return PAWL_OK;
}

/* Rows of a source that waits were met as pending: they came after the hold. */
static pawl_code hold_met(pawl__service *service, const round *all, pawl_error *error)
{
    pawl_refusals refused = {.arena = service->arena};
    pawl_changes  changes = {.group_count = (uint32_t)all->count,
                             .unit_count  = (uint32_t)all->count,
                             .now         = pawl__machine_now(service->endpoint)};
    changes.outbox_hold.items =
        pawl_arena_take(service->arena, all->count * sizeof changes.outbox_hold.items[0]);
    if (changes.outbox_hold.items == NULL)
        return PAWL_ENOMEM;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->is_held[i])
            changes.outbox_hold.items[changes.outbox_hold.count++] = (pawl_outbox_hold){
                .unit = i, .group = i, .source = all->rows[i].source, .after = all->rows[i].id - 1};
    if (changes.outbox_hold.count == 0)
        return PAWL_OK;
    return pawl_store_commit(service->store, &changes, &refused, error);
}

pawl_code pawl__outbox_run(pawl__service *service, pawl_step *step, pawl_error *error)
{
    pawl_time        now  = pawl__machine_now(service->endpoint);
    pawl_outbox_rows rows = {.count = 0, .next_attempt = PAWL_TIME_MAX};
    round            all;
    bool             is_renewal_due = service->is_leader && now >= service->lease_renewal;
    if (service->endpoint->route_count == 0 || (now < service->outbox_due && !is_renewal_due))
        return PAWL_OK;
    pawl_arena_reset(service->arena);
    pawl_code code = lead(service, now, error);
    if (code != PAWL_OK || !service->is_leader) {
        service->outbox_due = service->lease_renewal;
        return code;
    }
    if (now < service->outbox_due)
        return PAWL_OK;
    code = service->store->ops->outbox_claim(service->store, service->endpoint->model->endpoint,
                                             now, (size_t)service->endpoint->settings.outbox_batch,
                                             service->arena, &rows, error);
    if (code != PAWL_OK || rows.count == 0) {
        pawl_time idle_end  = pawl_time_add(now, IDLE_MAX);
        service->outbox_due = rows.next_attempt < idle_end ? rows.next_attempt : idle_end;
        return code;
    }
    code = prepare(service, &rows, &all);
    if (code == PAWL_OK)
        code = hold_met(service, &all, error);
    if (code == PAWL_OK)
        deliver_all(service, &all);
    return code == PAWL_OK ? settle_all(service, &all, step, error) : code;
}
