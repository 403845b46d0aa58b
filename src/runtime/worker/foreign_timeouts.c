/* foreign_timeouts.c - claims due timeouts for destinations that no endpoint of this store handles, to send them.
 *
 * The subscriptions in the store, which outlive the processes that wrote them, tell who sends a timeout (E13):
 *
 *     a queue that a subscription names   nobody: its endpoint, running or not, claims
 *                                         the timeout and handles it
 *     the name of a route                 an endpoint that has the route; each of them
 *                                         has a subscription to "route:NAME"
 *     any other name                      any endpoint, to a queue of this store
 *
 * Every worker checks from time to time and sends what its endpoint may send; a claim is a lease, so no two workers
 * send one timeout. forward.c of the engine sends it, in a batch with other units.
 *
 * An endpoint without timeout handlers does not claim timeouts of its own queue. They are found here, and logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include "base/text.h"
#include "store/core/core.h"

#include <string.h>

#define CHECK_PERIOD PAWL_SECONDS(30) /* if busy, or the store is on a server */
#define STUCK_AFTER PAWL_MINUTES(10)
#define STUCK_PERIOD PAWL_HOURS(1) /* between two log lines */

/* ---- Whose route it is ------------------------------------------------------------ */

/* If this endpoint has no route of that name: the queue of another one that has it. */
static pawl_text find_other(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                            pawl_text name)
{
    pawl_text none = {.data = NULL};
    if (pawl__route_find(endpoint, name) != NULL)
        return none;
    for (size_t i = 0; i < list->count; i++)
        if (pawl_text_equal(pawl__text_behind(list->items[i].type, PAWL__ROUTE_TYPE), name))
            return list->items[i].queue;
    return none;
}

/* ---- Looking ---------------------------------------------------------------------- */

/* Is a check due? An idle worker checks at each step if the store is in the process, which costs a few microseconds, or
 * under a virtual clock, as nothing announces its moves. */
static bool is_check_due(const pawl__worker *worker, bool is_idle)
{
    bool easy = worker->engine.is_virtual || pawl__store_is_in_process(worker->store);
    return (is_idle && easy) || pawl__is_due(atomic_load(&worker->endpoint->foreign_check),
                                             worker->engine.machine_now, CHECK_PERIOD);
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

/* Logs, from time to time, timeouts that are long overdue and that another endpoint has to send. */
static void say_stuck(pawl__worker *worker, const pawl_foreign_row *row, pawl_text queue)
{
    char since[PAWL_TIME_TEXT_SIZE + 1];
    if (pawl_time_add(row->due, STUCK_AFTER) > worker->engine.business_now ||
        !pawl__take_due(&worker->endpoint->stuck_due, worker->engine.machine_now, STUCK_PERIOD))
        return;
    pawl_time_format(row->due, since);
    pawl_log(PAWL_LOG_WARNING,
             "timeouts for '%.*s' are due since %s; the endpoint of queue '%.*s', which has the "
             "route of that name, does not send them",
             PAWL_TEXT_ARGS(row->destination), since, PAWL_TEXT_ARGS(queue));
}

/* Keeps the rows that this endpoint may send. */
static pawl_code keep_sendable(pawl__worker *worker, pawl_foreign_rows *rows, pawl_error *error)
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
    if (code == PAWL_EUNSUPPORTED) /* the driver cannot list them: none are sent */
        code = PAWL_OK;
    if (code == PAWL_OK)
        code = keep_sendable(worker, &rows, error);
    worker->foreign_due = PAWL_TIME_MAX; /* a new handle, opened after a failure, checks at once */
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = claim(worker, &rows.items[i], due_max, &count_max, error);
    return code;
}
