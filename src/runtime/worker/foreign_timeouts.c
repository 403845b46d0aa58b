/* foreign_timeouts.c - due timeouts for a destination that no endpoint of this store handles.
 *
 * Whose a destination is, is told by the store's subscriptions, which outlive the
 * processes that made them (E13):
 *
 *     a queue that a subscription names   its endpoint's, whether it runs or not: it
 *                                         claims its timeouts and handles them
 *     the name of a route                 that of the endpoints that have the route: each
 *                                         says so by a subscription to "route:NAME"
 *     any other name                      anybody's: a queue of this store
 *
 * Every worker checks now and then and sends the timeouts that are its endpoint's or anybody's; the
 * lease that a claim takes keeps two workers apart. The sending is in forward.c of the engine, in a
 * batch with everything else.
 *
 * An endpoint without handlers of timeouts does not claim those of its own queue with its messages.
 * They are looked for here, too, and logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include "base/text.h"

#include <string.h>

#define ROUTE_TYPE "route:"
#define CHECK_PERIOD PAWL_SECONDS(30) /* while the worker is busy, and of a server */
#define STUCK_AFTER PAWL_MINUTES(10)
#define STUCK_PERIOD PAWL_HOURS(1) /* between two lines of the log */

/* ---- Whose route it is ------------------------------------------------------------ */

static bool is_route_type(pawl_text type, pawl_text name)
{
    return name.size > 0 && pawl_text_equal(pawl__text_behind(type, ROUTE_TYPE), name);
}

static bool is_announced(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                         pawl_text name)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_route_type(list->items[i].type, name) &&
            pawl_text_equal(list->items[i].queue, endpoint->model->queue))
            return true;
    return false;
}

/* Is it the subscription of a route that the endpoint had and has no more? */
static bool is_withdrawn(const pawl_endpoint *endpoint, const pawl_subscription *item)
{
    pawl_text name = pawl__text_behind(item->type, ROUTE_TYPE);
    return name.size > 0 && pawl_text_equal(item->queue, endpoint->model->queue) &&
           pawl__route_find(endpoint, name) == NULL;
}

pawl_code pawl__foreign_announce(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                                 pawl_arena *arena, pawl_subscription_set *sets, size_t *count)
{
    pawl_text queue = endpoint->model->queue;
    for (size_t i = 0; i < endpoint->route_count; i++) {
        pawl_text name = pawl_text_of(endpoint->routes[i].name);
        pawl_text type = pawl_arena_printf(arena, ROUTE_TYPE "%.*s", PAWL_TEXT_ARGS(name));
        if (type.data == NULL)
            return PAWL_ENOMEM;
        if (!is_announced(endpoint, list, name) && type.size <= PAWL_NAME_SIZE_MAX)
            sets[(*count)++] = (pawl_subscription_set){.type = type, .queue = queue};
    }
    for (size_t i = 0; i < list->count; i++)
        if (is_withdrawn(endpoint, &list->items[i]))
            sets[(*count)++] = (pawl_subscription_set){
                .is_remove = true, .type = list->items[i].type, .queue = queue};
    return PAWL_OK;
}

/* The queue of another endpoint that has a route of the name, if this one has none. */
static pawl_text find_other(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                            pawl_text name)
{
    pawl_text none = {.data = NULL};
    if (pawl__route_find(endpoint, name) != NULL)
        return none;
    for (size_t i = 0; i < list->count; i++)
        if (is_route_type(list->items[i].type, name))
            return list->items[i].queue;
    return none;
}

/* ---- Looking ---------------------------------------------------------------------- */

/* Is a check due? An idle worker checks at each step where that costs no more than a few
 * microseconds, and under a virtual clock, whose moves nothing announces. */
static bool is_check_due(const pawl__worker *worker, bool is_idle)
{
    pawl_time now  = worker->engine.machine_now;
    pawl_time due  = atomic_load(&worker->endpoint->foreign_check);
    bool      easy = worker->engine.is_virtual || pawl__store_is_in_process(worker->store);
    /* The clock may have been set back, too. */
    return (is_idle && easy) || now >= due || due > pawl_time_add(now, CHECK_PERIOD);
}

void pawl__foreign_note(pawl__worker *worker, pawl_time next_timeout)
{
    if (!pawl__model_has_timeouts(worker->endpoint->model) && next_timeout < worker->foreign_due)
        worker->foreign_due = next_timeout;
}

bool pawl__foreign_is_due(pawl__worker *worker, pawl_time business_now, bool is_idle)
{
    return business_now >= worker->foreign_due || is_check_due(worker, is_idle);
}

/* Logs, now and then, timeouts that are long due and another endpoint's to send. */
static void say_stuck(pawl__worker *worker, const pawl_foreign_row *row, pawl_text queue)
{
    pawl_endpoint *endpoint = worker->endpoint;
    pawl_time      now      = worker->engine.machine_now;
    pawl_time      due      = atomic_load(&endpoint->stuck_due);
    char           since[PAWL_TIME_TEXT_SIZE + 1];
    if (pawl_time_add(row->due, STUCK_AFTER) > worker->engine.business_now || now < due ||
        !atomic_compare_exchange_strong(&endpoint->stuck_due, &due,
                                        pawl_time_add(now, STUCK_PERIOD)))
        return;
    pawl_time_format(row->due, since);
    pawl_log(PAWL_LOG_WARNING,
             "timeouts for '%.*s' are due since %s; the endpoint of queue '%.*s', which has the "
             "route of that name, does not send them",
             PAWL_TEXT_ARGS(row->destination), since, PAWL_TEXT_ARGS(queue));
}

/* Keeps the rows that are this endpoint's to send. */
static pawl_code keep_ours(pawl__worker *worker, pawl_foreign_rows *rows, pawl_error *error)
{
    const pawl_subscriptions *list  = NULL;
    size_t                    count = 0;
    if (rows->count == 0)
        return PAWL_OK;
    pawl_code code = worker->engine.subscriptions(worker, &list, error);
    for (size_t i = 0; i < rows->count && code == PAWL_OK; i++) {
        pawl_text other = find_other(worker->endpoint, list, rows->items[i].destination);
        if (other.data == NULL)
            rows->items[count++] = rows->items[i];
        else
            say_stuck(worker, &rows->items[i], other);
    }
    rows->count = count;
    return code;
}

static pawl_code claim(pawl__worker *worker, const pawl_foreign_row *row, pawl_time due_max,
                       size_t *left, pawl_error *error)
{
    pawl_timeout_rows rows = {.next_due = row->due};
    pawl_code         code = PAWL_OK;
    if (row->due <= due_max && *left > 0)
        code = pawl__claim_timeouts(worker, row->destination, due_max, *left, &rows, error);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = pawl__batch_add_timeout(worker->batch, &rows.items[i]);
    *left -= rows.count;
    if (rows.next_due < worker->foreign_due)
        worker->foreign_due = rows.next_due;
    return code;
}

pawl_code pawl__foreign_claim(pawl__worker *worker, pawl_time due_max, size_t count_max,
                              pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl_text          none  = PAWL_TEXT("");
    pawl_foreign_rows  rows  = {.count = 0};
    atomic_store(&worker->endpoint->foreign_check,
                 pawl_time_add(worker->engine.machine_now, CHECK_PERIOD));
    pawl_code code = pawl_store_timeout_foreign(
        worker->store, pawl__model_has_timeouts(model) ? none : model->queue,
        worker->engine.machine_now, worker->read, &rows, error);
    if (code == PAWL_EUNSUPPORTED) /* the driver cannot say: none are sent */
        code = PAWL_OK;
    if (code == PAWL_OK)
        code = keep_ours(worker, &rows, error);
    worker->foreign_due = PAWL_TIME_MAX; /* after a failure a new handle looks at once */
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = claim(worker, &rows.items[i], due_max, &count_max, error);
    return code;
}
