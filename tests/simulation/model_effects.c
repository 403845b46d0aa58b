/* model_effects.c - effects that each commit may have.
 *
 * The log in a saga's state names the tasks that had an effect on it. A group that was applied is right when the
 * tasks that its logs gained are those whose deduplication records, or timeouts, it wrote or removed:
 *
 *     inbox entries of 7, 9     timeout of 5 removed     log "2,3," -> "2,3,7,5,9,"        right
 *     inbox entries of 7, 9                              log "2,3," -> "2,3,7,"            9 had no effect
 *     inbox entry of 7                                   log "2,3," -> "2,3,7,9,"          9 will be handled again
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/model_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static instance *find_instance(pawl_text id)
{
    int found = map_find(&model.sagas, id);
    return found < 0 ? NULL : &model.instances[found];
}

static instance *instance_of(pawl_saga_id id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    return find_instance(model_uuid_text(id.uuid, text));
}

static instance *make_instance(pawl_text id, int endpoint)
{
    if (model.instance_count == INSTANCES_MAX)
        simulation_fail("more sagas than the model has room for");
    if (model.instance_count == INSTANCES_MAX)
        return &model.instances[0];
    int at = model.instance_count++;
    map_put(&model.sagas, id, at);
    model.instances[at] = (instance){.is_alive = true, .endpoint = endpoint, .is_touched = true};
    return &model.instances[at];
}

/* ---- Effects ---------------------------------------------------------------------- */

void model_mark(int64_t number, int endpoint, uint32_t group)
{
    task_fate *it        = &model.results[number];
    it->marked[endpoint] = model.serial;
    it->group[endpoint]  = group;
    model.unmatched++;
}

void model_expect(int64_t number)
{
    const sim_task *it = traffic_task(number);
    for (int e = 0; e < ENDPOINTS; e++)
        if (it->kind == TASK_NEWS ||
            (it->kind != TASK_CARGO && it->kind != TASK_TIMER && it->endpoint == e))
            model.results[number].is_expected[e] = true;
}

void model_take_mark(task_fate *it, int endpoint)
{
    model.unmatched -= it->marked[endpoint] == model.serial;
    it->marked[endpoint] = 0;
}

/* A task of the saga sets the timeout anew, cancels it or ends the saga: when it was due it may have been claimed
 * together with the task's message, and is removed without a call of its handler. */
static void arm(instance *saga, int timer, int64_t number)
{
    if (saga->armed[timer] != 0)
        model_take_mark(&model.results[saga->armed[timer]], saga->endpoint);
    saga->armed[timer]    = number;
    saga->is_stuck[timer] = false;
}

/* The task's handler has had its effect on the saga, in this group. */
static void apply_task(int64_t number, uint32_t group, instance *saga)
{
    const sim_task *it = traffic_task(number);
    int             e  = saga->endpoint;
    if (it == NULL) {
        simulation_fail("the log of a saga names task %" PRId64 ", which there is not", number);
        return;
    }
    task_fate *result = &model.results[number];
    if (result->is_applied[e])
        simulation_fail("task %" PRId64 " has had its effect on %s twice", number,
                        traffic_endpoints[e]);
    if (result->is_dead[e])
        simulation_fail("task %" PRId64 " has an effect, and is a dead letter", number);
    if (result->marked[e] != model.serial || result->group[e] != group)
        simulation_fail("task %" PRId64 " has had its effect without the end of its message",
                        number);
    if (it->kind == TASK_TIMER && saga->armed[it->timer] != number)
        simulation_fail("the timeout of task %" PRId64 " came, the saga waits for that of %" PRId64,
                        number, saga->armed[it->timer]);
    if (it->kind == TASK_TIMER)
        saga->armed[it->timer] = 0;
    result->is_applied[e] = true;
    model_take_mark(result, e);
    model.done++;
    if (it->kind == TASK_NEWS && e != 0) /* its other effects are alpha's */
        return;
    if (it->cancels >= 0)
        arm(saga, it->cancels, 0);
    for (size_t i = 0; i < it->child_count; i++) {
        const sim_task *child = traffic_task(it->children[i]);
        if (child->kind == TASK_TIMER)
            arm(saga, child->timer, it->children[i]);
        model_expect(it->children[i]);
    }
    if (it->end == TASK_COMPLETES) {
        saga->is_alive = false;
        for (int i = 0; i < TIMERS; i++)
            arm(saga, i, 0);
    }
}

/* Does all tasks that the log has more. */
static void apply_log(pawl_text log, uint32_t group, instance *saga)
{
    char        copy[8000];
    size_t      size = log.size < sizeof copy ? log.size : sizeof copy - 1;
    const char *at   = copy + saga->log_size;
    memcpy(copy, log.data, size);
    copy[size]       = '\0';
    saga->is_touched = true;
    if (size < saga->log_size) {
        simulation_fail("the log of a saga lost tasks: %.200s", copy);
        return;
    }
    while (*at != '\0' && simulation_failure() == NULL) {
        if (!saga->is_alive && *at != '\0')
            simulation_fail("a saga has effects behind its end: %.200s", copy);
        char   *end;
        int64_t number = strtoll(at, &end, 10);
        if (end == at || *end != ',')
            simulation_fail("the log of a saga is broken: %.200s", copy);
        else
            apply_task(number, group, saga);
        at = end + (*end == ',');
    }
    saga->log_size = size;
}

pawl_text model_member(pawl_text json, const char *name)
{
    char        quoted[40];
    int         size = snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
    const char *at   = json.size > 0 ? strstr(json.data, quoted) : NULL;
    const char *end  = at != NULL ? strchr(at + size, '"') : NULL;
    return end != NULL ? (pawl_text){.data = at + size, .size = (size_t)(end - at - size)}
                       : PAWL_TEXT("");
}

static int64_t member_number(pawl_text data, const char *name)
{
    char        quoted[40];
    int         size = snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at   = data.size > 0 ? strstr(data.data, quoted) : NULL;
    return at != NULL ? strtoll(at + size, NULL, 10) : 0;
}

static void check_state(pawl_text data, const instance *saga)
{
    static const char *const names[TIMERS] = {"armed_a", "armed_b"};
    for (int i = 0; i < TIMERS; i++)
        if (member_number(data, names[i]) != saga->armed[i])
            simulation_fail("the state says that %s is %" PRId64 ", its tasks say %" PRId64,
                            names[i], member_number(data, names[i]), saga->armed[i]);
}

/* ---- Changes ------------------------------------------------------------------------ */

/* A parcel's message has ended: from now on its row in the aggregator has it. */
static void box(int64_t number, int endpoint)
{
    task_fate *it = &model.results[number];
    if (it->is_boxed || it->is_applied[endpoint])
        simulation_fail("parcel %" PRId64 " was put into its aggregator twice", number);
    it->is_boxed = true;
}

void model_see_handled(const pawl_changes *changes)
{
    EACH(inbox_entry, it)
    {
        int64_t number = model_number_of(it->message_id);
        int     e      = traffic_endpoint(it->endpoint);
        if (number < 0 || e < 0)
            simulation_fail("message %.*s was handled, which nobody sent",
                            PAWL_TEXT_ARGS(it->message_id));
        else if (number == 0)
            continue;
        else if (it->outcome == PAWL_INBOX_HANDLED && traffic_task(number)->kind == TASK_PARCEL)
            box(number, e);
        else if (it->outcome == PAWL_INBOX_HANDLED)
            model_mark(number, e, it->group);
        else if (it->outcome == PAWL_INBOX_DISCARDED &&
                 (traffic_task(number)->kind == TASK_POKE ||
                  (traffic_task(number)->kind == TASK_FACT &&
                   traffic_task(number)->end == TASK_REJECTS)))
            model_mark(number, e, it->group);
        else if (it->outcome == PAWL_INBOX_DISCARDED)
            simulation_fail("task %" PRId64 " was discarded", number);
    }
}

/* A handler that meets a failure of the store has failed. */
bool model_may_die(const sim_task *it, pawl_text error)
{
    char text[200] = "";
    (void)snprintf(text, sizeof text, "%.*s", PAWL_TEXT_ARGS(error));
    return it->end == TASK_REJECTS || it->end == TASK_FAILS || it->is_failing ||
           strstr(text, "the simulation says") != NULL;
}

static instance *find_timer(pawl_timeout_id id, int *timer)
{
    for (int i = 0; i < model.instance_count; i++)
        for (*timer = 0; *timer < TIMERS; ++*timer)
            if (model.instances[i].timers[*timer].is_set &&
                pawl_uuid_compare(model.instances[i].timers[*timer].id.uuid, id.uuid) == 0)
                return &model.instances[i];
    return NULL;
}

void model_see_timeouts(const pawl_changes *changes)
{
    EACH(timeout_settle, it)
    {
        int timer;
        if (model_settle_job(it) || model_settle_abroad(it))
            continue;
        instance *saga = find_timer(it->id, &timer);
        if (saga == NULL && (it->has_owner || it->generation != 0))
            simulation_fail("a timeout was settled that is not there");
        if (saga == NULL)
            continue;
        saga->is_touched = true;
        if (it->action == PAWL_TIMEOUT_RETRY) {
            int64_t number          = saga->armed[timer];
            saga->timers[timer].due = it->due;
            if (it->attempts > saga->timers[timer].attempts && number != 0 && !model.has_faults &&
                !model_may_die(traffic_task(number), PAWL_TEXT("")))
                simulation_fail("the timeout of task %" PRId64 " failed without a reason", number);
            saga->timers[timer].attempts = it->attempts;
        }
        if (it->action != PAWL_TIMEOUT_REMOVE)
            continue;
        if (saga->timers[timer].due > simulation_now() + model.clock_slack)
            simulation_fail("a timeout came %" PRId64 " us before it was due",
                            saga->timers[timer].due - simulation_now());
        saga->timers[timer].is_set = false;
        if (saga->armed[timer] != 0)
            model_mark(saga->armed[timer], saga->endpoint, it->group);
    }
}

void model_see_sagas(const pawl_changes *changes)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    EACH(queue_send, it)
    { /* sagas that end say their whole log */
        if (!pawl_text_equal(it->queue, PAWL_TEXT("closed")))
            continue;
        pawl_text id   = model_member(it->message.body, "instance");
        instance *saga = find_instance(id);
        if (saga == NULL)
            saga = make_instance(
                id, traffic_endpoint(model_member(it->message.headers, "pawl.reply_to")));
        if (saga->endpoint < 0)
            simulation_fail("a saga ended of which nobody knows the endpoint: %.*s",
                            PAWL_TEXT_ARGS(it->message.headers));
        else
            apply_log(model_member(it->message.body, "log"), it->group, saga);
        if (saga->is_alive)
            simulation_fail("a saga ended without a task that ends it");
    }
    EACH(saga_delete, it)
    {
        const instance *saga = instance_of(it->id);
        if (saga == NULL || saga->is_alive || saga->version != it->version)
            simulation_fail("a saga was deleted that has not ended, or of another version");
    }
    EACH(saga_insert, it)
    {
        if (instance_of(it->id) != NULL)
            simulation_fail("a saga was inserted twice");
        instance *saga =
            make_instance(model_uuid_text(it->id.uuid, text), traffic_endpoint(it->table->name));
        saga->version = 1;
        saga->since   = simulation_now();
        saga->key     = (int)strtol(it->main.as.text.data + 1, NULL, 10);
        apply_log(model_member(it->data, "log"), it->group, saga);
        check_state(it->data, saga);
    }
    EACH(saga_update, it)
    {
        instance *saga = instance_of(it->id);
        if (saga == NULL || !saga->is_alive || saga->version != it->version)
            simulation_fail("a saga was updated that is not there, or of another version");
        if (saga == NULL)
            continue;
        saga->version++;
        apply_log(model_member(it->data, "log"), it->group, saga);
        check_state(it->data, saga);
    }
}

/* A poke without an effect found no saga. None that was there when the message was claimed may be missed. */
void model_see_pokes(const pawl_changes *changes)
{
    EACH(inbox_entry, it)
    {
        int64_t         number = model_number_of(it->message_id);
        const sim_task *task   = traffic_task(number);
        if (task == NULL || task->kind != TASK_POKE ||
            model.results[number].marked[task->endpoint] != model.serial)
            continue;
        const queue_row *row = &model.queue[model_row_of(it->endpoint, it->message_id)];
        for (int i = 0; i < model.instance_count; i++) {
            const instance *saga = &model.instances[i];
            if (saga->is_alive && saga->endpoint == task->endpoint && saga->key == task->key &&
                saga->since <= row->claimed)
                simulation_fail("task %" PRId64 " found no saga, which was there for %" PRId64
                                " us",
                                number, simulation_now() - saga->since);
        }
        model.results[number].is_dropped = true;
        model_take_mark(&model.results[number], task->endpoint);
    }
}

/* The parcels of a flush leave the aggregator in the commit that has the flush's effect. */
void model_see_flushes(const pawl_changes *changes)
{
    EACH(queue_send, it)
    {
        if (!pawl_text_equal(it->queue, PAWL_TEXT("packed")))
            continue;
        char      text[8000];
        size_t    removed = 0, packed = 0;
        pawl_text log = model_member(it->message.body, "log");
        (void)snprintf(text, sizeof text, "%.*s", PAWL_TEXT_ARGS(log));
        EACH(leased_batch_remove, remove)
        removed += remove->group == it->group ? remove->id_count : 0;
        for (char *at = text; *at != '\0'; packed++) {
            int64_t    number = strtoll(at, &at, 10);
            task_fate *result = &model.results[number];
            int        e      = traffic_task(number)->endpoint;
            at += *at == ',';
            if (!result->is_boxed || result->is_applied[e])
                simulation_fail(
                    "parcel %" PRId64 " was flushed twice, or was not in its aggregator", number);
            result->is_boxed      = false;
            result->is_applied[e] = true;
            model.done++;
        }
        if (packed != removed)
            simulation_fail("a flush of %zu parcels removed %zu", packed, removed);
    }
}

static fact_stream *stream_of(pawl_text name)
{
    int at = map_find(&model.stream_names, name);
    if (at < 0 && model.stream_count < STREAMS_MAX)
        map_put(&model.stream_names, name, at = model.stream_count++);
    return &model.streams[at < 0 ? 0 : at];
}

/* A command that an entity rejects ends in the commit that tells its sender so. */
static void see_rejected(const pawl_message *message)
{
    int64_t number = model_number_of(message->causation_id);
    if (!pawl_text_equal(message->type, PAWL_TEXT("pawl.rejected")) ||
        model_number_of(message->id) >= 0) /* delivered by the outbox */
        return;
    const sim_task *it = traffic_task(number);
    if (it == NULL || it->kind != TASK_FACT || it->end != TASK_REJECTS ||
        model.results[number].marked[it->endpoint] != model.serial ||
        model.results[number].answers++ != 0) {
        simulation_fail("fact %" PRId64 " was rejected twice, or without its end", number);
        return;
    }
    model.results[number].is_dropped = true;
    model_take_mark(&model.results[number], it->endpoint);
}

void model_see_events(const pawl_changes *changes)
{
    EACH(queue_send, it)
    {
        if (traffic_endpoint(it->queue) >= 0)
            see_rejected(&it->message);
    }
    EACH(outbox_add, it)
    {
        if (!model_is_copy(it))
            see_rejected(&it->message);
    }
    EACH(event_append, it)
    {
        fact_stream *stream = stream_of(it->stream);
        if (it->version != ++stream->version)
            simulation_fail("stream %.*s goes on with version %" PRId64 " behind %" PRId64,
                            PAWL_TEXT_ARGS(it->stream), it->version, stream->version - 1);
        model_see_job(it);
        if (!pawl_text_equal(it->event.type, PAWL_TEXT("noted")))
            continue;
        int64_t         number = traffic_number(it->event.body);
        const sim_task *task   = traffic_task(number);
        if (task == NULL || task->kind != TASK_FACT) {
            simulation_fail("an event of no fact: %.*s", PAWL_TEXT_ARGS(it->event.body));
            continue;
        }
        task_fate *result = &model.results[number];
        int        e      = task->endpoint;
        if (result->is_applied[e] || result->is_dead[e])
            simulation_fail("fact %" PRId64 " is an event twice, or a dead letter", number);
        if (result->marked[e] != model.serial || result->group[e] != it->group)
            simulation_fail("fact %" PRId64 " is an event without the end of its message", number);
        if (member_number(it->event.body, "count") != ++stream->facts)
            simulation_fail("the state of %.*s had %" PRId64 " facts, its events are %" PRId64,
                            PAWL_TEXT_ARGS(it->stream), member_number(it->event.body, "count") - 1,
                            stream->facts - 1);
        model_take_mark(result, e);
        result->is_applied[e] = true;
        model.done++;
    }
    EACH(queue_send, it)
    { /* the projection's */
        if (!pawl_text_equal(it->queue, PAWL_TEXT("seen")))
            continue;
        int64_t      number  = traffic_number(it->message.body);
        fact_stream *stream  = stream_of(model_member(it->message.body, "stream"));
        int64_t      version = member_number(it->message.body, "version");
        if (model.results[number].is_seen || version <= stream->seen)
            simulation_fail("the projection saw event %" PRId64 " twice, or behind a later one",
                            number);
        model.results[number].is_seen = true;
        stream->seen                  = version;
    }
}

void model_see_timers(const pawl_changes *changes)
{
    EACH(timeout_cancel, it)
    {
        instance *saga = instance_of(it->saga_id);
        for (int i = 0; saga != NULL && i < TIMERS; i++)
            if (it->name.size == 0 || it->name.data[0] - 'a' == i)
                saga->timers[i].is_set = false;
        if (saga != NULL)
            saga->is_touched = true;
    }
    EACH(timeout_set, it)
    {
        if (model_set_job(it) || model_set_abroad(it))
            continue;
        instance *saga  = instance_of(it->saga_id);
        int       timer = it->name.size == 1 ? it->name.data[0] - 'a' : -1;
        if (saga == NULL || timer < 0 || timer >= TIMERS) {
            simulation_fail("a timeout was set of no saga, or of another name");
            continue;
        }
        if (!saga->timers[timer].is_set)
            saga->timers[timer].id = it->id;
        if (saga->armed[timer] != 0)
            model_note_timeout(saga->armed[timer], saga->endpoint, it);
        saga->timers[timer].is_set   = true;
        saga->is_stuck[timer]        = false;
        saga->timers[timer].due      = it->due;
        saga->timers[timer].attempts = 0;
        saga->is_touched             = true;
        char text[PAWL_UUID_TEXT_SIZE + 1];
        map_put(&model.timeouts, model_uuid_text(saga->timers[timer].id.uuid, text),
                (int)saga->armed[timer]);
    }
    for (int i = 0; i < model.instance_count; i++) {
        instance *saga = &model.instances[i];
        for (int k = 0; saga->is_touched && k < TIMERS; k++)
            if (saga->timers[k].is_set != (saga->armed[k] != 0 && !saga->is_stuck[k]))
                simulation_fail("a saga of %s has %s timeout %c, its tasks say %" PRId64,
                                traffic_endpoints[saga->endpoint],
                                saga->timers[k].is_set ? "a" : "no", 'a' + k, saga->armed[k]);
        saga->is_touched = false;
    }
}
