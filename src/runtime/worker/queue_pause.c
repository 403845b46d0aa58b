/* queue_pause.c - whether the endpoint's queue is paused.
 *
 * Workers look now and then: when they have claimed something, which goes back if the queue is paused;
 * while it is paused, before they would claim. So an idle endpoint makes no look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_queue.h"
#include "runtime/runtime.h"

/* The clock may have been set back, too. Under a virtual clock nothing announces that the queue was
 * resumed. */
static bool is_due(const pawl__worker *worker, const pawl__queue_pause *pause)
{
    pawl_time now = worker->engine.machine_now;
    pawl_time due = atomic_load(&pause->due);
    return now >= due || due > pawl_time_add(now, PAWL__QUEUE_PAUSE_PERIOD) ||
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

/* A store without events has no queue that is paused. */
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
