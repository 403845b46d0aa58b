/* model_jobs.c - processes: each has one job, whose message begins it, asks an entity, and sets a timeout.
 *
 *     job --> begun --+--> note (a fact) --> accepted or rejected --> heard
 *                     +--> timeout ----+---> over
 *                                      +---> dead letter --> retry --> over
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/model_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_job(int64_t number)
{
    return traffic_task(number) != NULL && traffic_task(number)->kind == TASK_JOB;
}

static int64_t number_of_timeout(pawl_timeout_id id)
{
    char    text[PAWL_UUID_TEXT_SIZE + 1];
    int64_t number = map_find(&model.timeouts, model_uuid_text(id.uuid, text));
    return is_job(number) ? number : 0;
}

/* The end of a message or a timeout that the event is the effect of. */
static void take_end(int64_t number, const pawl_event_append *it)
{
    task_fate *result = &model.results[number];
    int        e      = traffic_task(number)->endpoint;
    if (result->marked[e] != model.serial || result->group[e] != it->group)
        simulation_fail("job %" PRId64 " has the event %.*s without an end of what made it", number,
                        PAWL_TEXT_ARGS(it->event.type));
    model_take_mark(result, e);
    model.done++;
}

void model_see_job(const pawl_event_append *it)
{
    int64_t    number = traffic_number(it->event.body);
    task_fate *result = &model.results[is_job(number) ? number : 0];
    if (!is_job(number))
        return;
    const sim_task *task = traffic_task(number);
    if (pawl_text_equal(it->event.type, PAWL_TEXT("begun"))) {
        if (result->is_applied[task->endpoint])
            simulation_fail("job %" PRId64 " was begun twice", number);
        take_end(number, it);
        result->is_applied[task->endpoint] = true;
        for (size_t i = 0; i < task->child_count; i++)
            model_expect(task->children[i]);
    } else if (pawl_text_equal(it->event.type, PAWL_TEXT("over"))) {
        if (result->is_over)
            simulation_fail("job %" PRId64 " is over twice", number);
        take_end(number, it);
        result->is_over = true;
    } else if (pawl_text_equal(it->event.type, PAWL_TEXT("heard")) && result->heard++ > 0) {
        simulation_fail("job %" PRId64 " heard two answers", number);
    }
}

bool model_settle_job(const pawl_timeout_settle *it)
{
    int64_t    number = number_of_timeout(it->id);
    task_fate *result = &model.results[number];
    if (number == 0 || it->action == PAWL_TIMEOUT_RELEASE)
        return number != 0;
    if (!result->timeout.is_set && (it->has_owner || it->generation != 0))
        simulation_fail("the timeout of job %" PRId64 " was settled, and is not there", number);
    if (it->action == PAWL_TIMEOUT_RETRY) {
        result->timeout.due = it->due;
        return true;
    }
    if (result->timeout.due > simulation_now() + model.clock_slack)
        simulation_fail("the timeout of job %" PRId64 " came %" PRId64 " us before it was due",
                        number, result->timeout.due - simulation_now());
    result->timeout.is_set = false;
    model_mark(number, traffic_task(number)->endpoint, it->group);
    return true;
}

/* An operator who sends a dead letter again sets it anew, under its id. */
bool model_set_job(const pawl_timeout_set *it)
{
    char        text[PAWL_UUID_TEXT_SIZE + 1];
    const char *named  = memmem(it->headers.data, it->headers.size, "_job/", 5);
    int64_t     number = number_of_timeout(it->id);
    bool        is_new = number == 0;
    if (it->saga_type.size == 0 ||
        memmem(it->saga_type.data, it->saga_type.size, "_job", 4) == NULL)
        return false;
    if (is_new && named != NULL)
        number = strtoll(named + 5, NULL, 10);
    if (!is_job(number)) {
        simulation_fail("a timeout of a process does not name it: %.*s",
                        PAWL_TEXT_ARGS(it->headers));
        return true;
    }
    task_fate *result = &model.results[number];
    if (is_new)
        model_check_timeout_due(number, result->claimed[traffic_task(number)->endpoint], it->due);
    model_check_correlation(number, it->correlation_id);
    result->timeout.is_set = true;
    result->timeout.due    = it->due;
    map_put(&model.timeouts, model_uuid_text(it->id.uuid, text), (int)number);
    return true;
}

const char *model_job_lacks(int64_t number)
{
    const sim_task  *it     = traffic_task(number);
    const task_fate *result = &model.results[number];
    const task_fate *asked  = &model.results[it->child_count > 0 ? it->children[0] : 0];
    if (!is_job(number) || !result->is_applied[it->endpoint])
        return NULL;
    if (!result->is_over && !result->is_dead[it->endpoint])
        return "did not have its timeout";
    return asked->answers > 0 && result->heard == 0 ? "did not hear of its command" : NULL;
}
