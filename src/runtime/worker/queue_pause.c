/* queue_pause.c - reads whether an operator has paused the endpoint's queue.
 *
 * A worker reads it, once a period, after a claim, which it releases if the queue is paused; while paused, before it
 * would claim. So an idle endpoint does not read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_queue.h"
#include "runtime/runtime.h"

/* Always due under a virtual clock, under which nothing wakes a worker when the queue is resumed. */
static bool is_due(const pawl__worker *worker, const pawl__queue_pause *pause)
{
    return pawl__is_due(atomic_load(&pause->due), worker->engine.machine_now,
                        PAWL__QUEUE_PAUSE_PERIOD) ||
           (worker->engine.is_virtual && atomic_load(&pause->is_paused));
}

static void say(const pawl__worker *worker, const pawl_queue_pause *found)
{
    const pawl__model *model = worker->endpoint->model;
    const char        *what =
        found->is_paused ? "is paused: nothing more of it is claimed" : "goes on: it was resumed";
    pawl_log(PAWL_LOG_INFO, "endpoint %s: queue %.*s %s (by %.*s%s%.*s)", model->endpoint.data,
             PAWL_TEXT_ARGS(model->queue), what, PAWL_TEXT_ARGS(found->by),
             found->reason.size > 0 ? ": " : "", PAWL_TEXT_ARGS(found->reason));
}

/* On a store without events, queues cannot be paused. */
pawl_code pawl__queue_pause_check(pawl__worker *worker, pawl_error *error)
{
    pawl__queue_pause *pause = &worker->endpoint->pause;
    pawl_queue_pause   found = {.is_paused = false};
    if (!is_due(worker, pause))
        return PAWL_OK;
    pawl_code code = pawl_store_queue_pause_find(worker->store, worker->endpoint->model->queue,
                                                 worker->read, &found, error);
    if (code != PAWL_OK && code != PAWL_EUNSUPPORTED)
        return code;
    atomic_store(&pause->due, pawl_time_add(worker->engine.machine_now, PAWL__QUEUE_PAUSE_PERIOD));
    if (atomic_exchange(&pause->is_paused, found.is_paused) != found.is_paused)
        say(worker, &found);
    return PAWL_OK;
}
