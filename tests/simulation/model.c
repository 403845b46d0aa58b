/* model.c - rows that the store must have, what is delivered, and whether all is at rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/model_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct model_state model;

static void end(void)
{
    map_clear(&model.messages);
    map_clear(&model.rows);
    map_clear(&model.seqs);
    map_clear(&model.sagas);
    map_clear(&model.dispatches);
    map_clear(&model.sources);
    map_clear(&model.timeouts);
    map_clear(&model.stream_names);
}

static void begin(uint64_t seed)
{
    end();
    memset(&model, 0, sizeof model);
    traffic_begin(seed);
}

static void allow_faults(void)
{
    model.has_faults = true;
}

static void allow_clock(int64_t microseconds)
{
    model.clock_slack += microseconds;
}

/* ---- Names ---------------------------------------------------------------------- */

int64_t model_number_of(pawl_text id)
{
    return map_find(&model.messages, id);
}

pawl_text model_uuid_text(pawl_uuid uuid, char text[PAWL_UUID_TEXT_SIZE + 1])
{
    pawl_uuid_format(uuid, text);
    return pawl_text_of(text);
}

/* ---- Messages ------------------------------------------------------------------------ */

/* An entity answers a command once, in the commit of its event. */
static void see_answer(const pawl_message *message)
{
    int64_t         number = model_number_of(message->causation_id);
    const sim_task *it     = traffic_task(number);
    if (model_number_of(message->id) >= 0) /* delivered by the outbox */
        return;
    if (it == NULL || it->kind != TASK_FACT || !model.results[number].is_applied[it->endpoint] ||
        model.results[number].answers++ != 0)
        simulation_fail("fact %" PRId64 " was answered twice, or without its event", number);
}

/* A message enters the store: from outside, or in the commit of the task that sends it or behind that. */
static int64_t see_message(const pawl_message *message, int endpoint, pawl_time due)
{
    if (pawl_text_equal(message->type, PAWL_TEXT("pawl.accepted")))
        see_answer(message);
    int64_t         number = traffic_number(message->body);
    const sim_task *it     = traffic_task(number);
    map_put(&model.messages, message->id, it != NULL ? (int)number : 0);
    if (it == NULL)
        return 0;
    map_put(&model.messages, message->id, (int)number);
    task_fate *result = &model.results[number];
    if (!result->is_in_store && (endpoint >= 0 || due != 0 || it->delay == 0))
        model_check_due(number, due != 0 ? due : simulation_now());
    model_note_message(number, endpoint, message);
    result->is_in_store = true;
    if (it->parent == 0)
        model_expect(number);
    const task_fate *parent = &model.results[it->parent];
    if (it->parent != 0 && !parent->is_applied[0] && !parent->is_applied[1])
        simulation_fail("task %" PRId64 " was sent, its sender %" PRId64 " has had no effect",
                        number, it->parent);
    return number;
}

int model_row_of(pawl_text queue, pawl_text id)
{
    char key[400];
    int  size = snprintf(key, sizeof key, "%.*s/%.*s", PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(id));
    pawl_text name = {.data = key, .size = (size_t)size};
    int       row  = map_find(&model.rows, name);
    if (row >= 0 || model.queue_count == ROWS_MAX)
        return row;
    map_put(&model.rows, name, model.queue_count);
    return model.queue_count++;
}

static void see_sends(const pawl_changes *changes)
{
    EACH(queue_send, it)
    {
        int        endpoint = traffic_endpoint(it->queue);
        int64_t    number   = endpoint >= 0 ? see_message(&it->message, endpoint, it->due) : -1;
        queue_row *row      = &model.queue[model_row_of(it->queue, it->message.id)];
        if (!row->is_live)
            *row = (queue_row){.endpoint = endpoint,
                               .since    = simulation_now(),
                               .placed   = it->due,
                               .seq      = ++model.sent,
                               .attempts = it->attempts,
                               .content  = model_content(&it->message)};
        row->is_live = true;
        row->number  = number;
    }
    EACH(outbox_add, it)
    {
        bool      is_copy = model_is_copy(it);
        int64_t   number  = is_copy ? 0 : see_message(&it->message, -1, it->due);
        char      text[PAWL_UUID_TEXT_SIZE + 1];
        pawl_text id = model_uuid_text(it->dispatch_id.uuid, text);
        if (map_find(&model.dispatches, id) >= 0 || model.outbox_count == ROWS_MAX)
            continue;
        int source = map_find(&model.sources, it->source);
        if (source < 0)
            map_put(&model.sources, it->source, source = model.source_count++);
        map_put(&model.dispatches, id, model.outbox_count);
        model.outbox[model.outbox_count++] =
            (outbox_row){.number       = number,
                         .version      = it->version,
                         .index        = it->index,
                         .source       = source,
                         .is_delivered = number == 0 || traffic_task(number)->kind != TASK_CARGO};
    }
}

static pawl_text seq_text(int64_t seq, char text[24])
{
    return (pawl_text){.data = text, .size = (size_t)snprintf(text, 24, "%" PRId64, seq)};
}

static void see_attempt(const pawl_queue_settle *it, queue_row *row)
{
    if (it->attempts > row->attempts && row->number > 0 &&
        !model_may_die(traffic_task(row->number), it->error))
        simulation_fail("task %" PRId64 " failed without a reason (attempt %d behind %d): %.*s",
                        row->number, (int)it->attempts, (int)row->attempts,
                        PAWL_TEXT_ARGS(it->error));
    if (it->attempts > row->attempts && row->number > 0)
        model_check_retry(traffic_task(row->number), it, row);
    row->attempts = it->attempts;
}

static void see_settled(const pawl_changes *changes)
{
    char text[24];
    EACH(queue_settle, it)
    {
        int row = map_find(&model.seqs, seq_text(it->seq, text));
        if (row < 0 || !model.queue[row].is_live)
            simulation_fail("a message was settled that is not in the queue");
        else if (it->action == PAWL_QUEUE_DONE)
            model.queue[row].is_live = false;
        else if (it->action == PAWL_QUEUE_RETRY)
            see_attempt(it, &model.queue[row]);
    }
}

/* A timeout's dead letter has the timeout's id. Its row goes; the saga's state still has it, as its handler never ran
 * to the end. */
static bool see_dead_timeout(const pawl_dead_set *it)
{
    int64_t number = map_find(&model.timeouts, it->message.id);
    if (number <= 0)
        return false;
    const sim_task *task = traffic_task(number);
    int             e    = traffic_endpoint(it->endpoint);
    if (!model_may_die(task, it->error))
        simulation_fail("the timeout of task %" PRId64
                        " is a dead letter without a reason: %.*s: %.*s",
                        number, PAWL_TEXT_ARGS(it->code), PAWL_TEXT_ARGS(it->error));
    for (int i = 0; i < model.instance_count; i++)
        if (model.instances[i].armed[task->timer] == number)
            model.instances[i].is_stuck[task->timer] = true;
    model_check_dead(number, e, it);
    model_take_mark(&model.results[number], e);
    model.results[number].is_dead[e] = true;
    return true;
}

/* An operator sends it again: a timeout is set anew, if its saga did not do so meanwhile. */
static void see_retry(const pawl_dead_set *it, int64_t number, int endpoint)
{
    if (number <= 0)
        number = map_find(&model.timeouts, it->message.id);
    if (number <= 0 || !model.results[number].is_dead[endpoint])
        simulation_fail("dead letter %.*s was sent again, which there is not",
                        PAWL_TEXT_ARGS(it->message.id));
    else
        model.results[number].is_dead[endpoint] = false;
}

static void see_dead(const pawl_changes *changes)
{
    EACH(dead_set, it)
    {
        int64_t number = model_number_of(it->message.id);
        int     e      = traffic_endpoint(it->endpoint);
        if (it->is_remove) {
            see_retry(it, number, e);
            continue;
        }
        if (e < 0 || see_dead_timeout(it) || number <= 0)
            continue;
        if (!model_may_die(traffic_task(number), it->error))
            simulation_fail("task %" PRId64 " is a dead letter without a reason: %.*s: %.*s",
                            number, PAWL_TEXT_ARGS(it->code), PAWL_TEXT_ARGS(it->error));
        if (model.results[number].is_applied[e])
            simulation_fail("task %" PRId64 " is a dead letter, and has had an effect", number);
        model_check_dead(number, e, it);
        model.results[number].is_dead[e] = true;
    }
}

static void see_refused(const pawl_refusals *refused)
{
    memset(model.is_refused, 0, sizeof model.is_refused);
    for (size_t i = 0; refused != NULL && i < refused->count; i++) {
        if (refused->items[i].group < GROUPS_MAX)
            model.is_refused[refused->items[i].group] = true;
    }
}

/* The commit, for the trace. */
static void tell(const pawl_changes *changes, const pawl_refusals *refused)
{
    char   text[800];
    size_t size = 0;
#define KIND(name, is_refusable)                             \
    if (changes->name.count != 0 && size < sizeof text - 60) \
        size +=                                              \
            (size_t)snprintf(text + size, sizeof text - size, " %zu " #name, changes->name.count);
    PAWL_CHANGE_KINDS(KIND)
#undef KIND
    pawl_log(PAWL_LOG_DEBUG, "commit of%.*s", (int)size, text);
    for (size_t i = 0; refused != NULL && i < refused->count; i++)
        pawl_log(PAWL_LOG_DEBUG, "    group %u refused: %.*s", refused->items[i].group,
                 PAWL_TEXT_ARGS(refused->items[i].text));
    for (size_t i = 0; i < changes->timeout_set.count; i++)
        pawl_log(PAWL_LOG_DEBUG, "    timeout %.*s set",
                 PAWL_TEXT_ARGS(changes->timeout_set.items[i].name));
    for (size_t i = 0; i < changes->queue_settle.count; i++) {
        const pawl_queue_settle *it = &changes->queue_settle.items[i];
        pawl_log(PAWL_LOG_DEBUG,
                 "    message %" PRId64 " settled %d, due %" PRId64
                 ", attempts %d, crashes %d: %.*s",
                 it->seq, (int)it->action, it->due, (int)it->attempts, (int)it->crashes,
                 PAWL_TEXT_ARGS(it->error));
    }
    for (size_t i = 0; i < changes->aggregator_add.count; i++)
        pawl_log(PAWL_LOG_DEBUG, "    parcel to %.*s, due %" PRId64,
                 PAWL_TEXT_ARGS(changes->aggregator_add.items[i].partition),
                 changes->aggregator_add.items[i].due);
    for (size_t i = 0; i < changes->flush_set.count; i++) {
        const pawl_flush_set *it = &changes->flush_set.items[i];
        pawl_log(PAWL_LOG_DEBUG, "    flush of %.*s due %" PRId64 ", attempts %d, done %d: %.*s",
                 PAWL_TEXT_ARGS(it->partition), it->due, (int)it->attempts, (int)it->is_done,
                 PAWL_TEXT_ARGS(it->error));
    }
    for (size_t i = 0; i < changes->saga_update.count; i++)
        pawl_log(PAWL_LOG_DEBUG, "    update to %.*s",
                 PAWL_TEXT_ARGS(changes->saga_update.items[i].data));
    for (size_t i = 0; i < changes->timeout_settle.count; i++)
        pawl_log(PAWL_LOG_DEBUG, "    timeout settled %d",
                 (int)changes->timeout_settle.items[i].action);
}

static void see_commit(const pawl_changes *changes, const pawl_refusals *refused)
{
    tell(changes, refused);
    model.serial++;
    model.unmatched = 0;
    see_refused(refused);
    see_settled(changes);
    model_see_order(changes);
    model_see_copies(changes);
    model_see_handled(changes);
    model_see_abroad(changes);
    model_see_timeouts(changes);
    model_see_sagas(changes);
    model_see_pokes(changes);
    model_see_boxes(changes);
    model_see_flushes(changes);
    model_see_events(changes);
    see_dead(changes);
    if (model.unmatched != 0)
        simulation_fail("%" PRIu32 " messages or timeouts were ended without an effect",
                        model.unmatched);
    model_see_timers(changes);
    see_sends(changes);
}

static void see_claim(const pawl_queue_claim *claim, const pawl_queue_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        char text[24];
        int  row = model_row_of(claim->queue, rows->items[i].message.id);
        if (row < 0 || !model.queue[row].is_live)
            simulation_fail("message %.*s was claimed, which is not in the queue",
                            PAWL_TEXT_ARGS(rows->items[i].message.id));
        queue_row *it = &model.queue[row < 0 ? 0 : row];
        it->claimed   = simulation_now();
        if (it->first == 0)
            it->first = it->claimed;
        it->claim_time = claim->due_max;
        if (it->number > 0 && it->endpoint >= 0)
            model.results[it->number].claimed[it->endpoint] = claim->due_max;
        map_put(&model.seqs, seq_text(rows->items[i].seq, text), row);
    }
}

/* ---- Outside -------------------------------------------------------------------------- */

static void see_sent(int64_t number)
{
    if (!model.results[number].is_in_store)
        simulation_fail("task %" PRId64 " was sent, and is not in the store", number);
}

/* The first delivery of each row comes in the order of its key; a row may be delivered again. */
static void see_delivery(pawl_text id, pawl_text body)
{
    int64_t number = traffic_number(body);
    int     at     = map_find(&model.dispatches, id);
    if (at < 0) {
        simulation_fail("the carrier has task %" PRId64 ", which no commit sent", number);
        return;
    }
    outbox_row *row = &model.outbox[at];
    if (row->number != number)
        simulation_fail("the carrier has task %" PRId64 " under the id of %" PRId64, number,
                        row->number);
    for (int i = 0; i < model.outbox_count && !row->is_delivered; i++) {
        const outbox_row *other = &model.outbox[i];
        if (other->source == row->source && !other->is_delivered &&
            (other->version < row->version ||
             (other->version == row->version && other->index < row->index)))
            simulation_fail("the carrier has task %" PRId64 " before %" PRId64
                            ", which was sent earlier",
                            number, other->number);
    }
    row->is_delivered                  = true;
    model.results[number].is_delivered = true;
}

/* ---- At rest --------------------------------------------------------------------------- */

static bool is_at_rest(char *what, size_t size)
{
    for (int64_t n = 1; n <= traffic_count(); n++)
        for (int e = 0; e < ENDPOINTS; e++)
            if (model.results[n].is_expected[e] && !model.results[n].is_applied[e] &&
                !model.results[n].is_dead[e] && !model.results[n].is_dropped) {
                snprintf(what, size, "task %" PRId64 " of %s was not handled", n,
                         traffic_endpoints[e]);
                return false;
            }
    for (int64_t n = 1; n <= traffic_count(); n++) {
        const task_fate *result     = &model.results[n];
        const sim_task  *it         = traffic_task(n);
        bool             is_applied = it->kind == TASK_FACT && result->is_applied[it->endpoint];
        if (is_applied && (!result->is_seen || (it->parent != 0 && result->answers == 0))) {
            snprintf(what, size, "fact %" PRId64 " was not %s", n,
                     result->is_seen ? "answered" : "seen by the projection");
            return false;
        }
    }
    for (int64_t n = 1; n <= traffic_count(); n++)
        if (model_job_lacks(n) != NULL) {
            snprintf(what, size, "job %" PRId64 " %s", n, model_job_lacks(n));
            return false;
        }
    if (model_waits_abroad() != 0) {
        snprintf(what, size, "timeout %" PRId64 " for abroad was not sent", model_waits_abroad());
        return false;
    }
    for (int i = 0; i < model.outbox_count; i++)
        if (!model.outbox[i].is_delivered) {
            snprintf(what, size, "the carrier does not have task %" PRId64, model.outbox[i].number);
            return false;
        }
    for (int i = 0; i < model.instance_count; i++)
        for (int k = 0; k < TIMERS; k++)
            if (model.instances[i].is_alive && model.instances[i].armed[k] != 0 &&
                !model.instances[i].is_stuck[k]) {
                snprintf(what, size, "the timeout of task %" PRId64 " did not come",
                         model.instances[i].armed[k]);
                return false;
            }
    for (int i = 0; i < model.queue_count; i++)
        if (model.queue[i].is_live && model.queue[i].number >= 0) {
            snprintf(what, size, "the message of task %" PRId64 " is still in its queue",
                     model.queue[i].number);
            return false;
        }
    return true;
}

static void compare(pawl_store *store, pawl_arena *arena)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_stats stats = PAWL_STATS_INIT;
    if (pawl_store_stats(store, simulation_now(), arena, &stats, &error) != PAWL_OK) {
        simulation_fail("no statistics: %s", error.text);
        return;
    }
    int64_t dead = 0;
    for (int64_t n = 1; n <= traffic_count(); n++)
        dead += model.results[n].is_dead[0] + model.results[n].is_dead[1];
    if (stats.dead != dead)
        simulation_fail("the store has %" PRId64 " dead letters, %" PRId64 " became one",
                        stats.dead, dead);
    for (int e = 0; e < ENDPOINTS; e++) {
        pawl_queue_rows rows = {.count = 0};
        if (pawl_store_queue_list(store, pawl_text_of(traffic_endpoints[e]), 0, arena, &rows,
                                  &error) != PAWL_OK)
            simulation_fail("no list of a queue: %s", error.text);
        if (rows.count != 0)
            simulation_fail("the queue of %s has %zu messages at rest", traffic_endpoints[e],
                            rows.count);
    }
    pawl_timeout_rows timeouts = {.count = 0};
    if (pawl_store_timeout_list(store, (pawl_saga_id){0}, 0, arena, &timeouts, &error) != PAWL_OK)
        simulation_fail("no list of timeouts: %s", error.text);
    if (timeouts.count != 0)
        simulation_fail("the store has %zu timeouts at rest", timeouts.count);
    if (stats.outbox_pending + stats.outbox_blocked + stats.outbox_dead != 0)
        simulation_fail("the outbox has %" PRId64 " rows at rest",
                        stats.outbox_pending + stats.outbox_blocked + stats.outbox_dead);
}

/* ---- The application --------------------------------------------------------------------- */

static int64_t count_done(void)
{
    return model.done;
}

#define TO(queue_name, type_name)                                                \
    {                                                                            \
        .type = {.data = (type_name), .size = sizeof(type_name) - 1}, .queue = { \
            .data = (queue_name),                                                \
            .size = sizeof(queue_name) - 1                                       \
        }                                                                        \
    }

static const pawl_subscription subscriptions[] = {TO("alpha", "act"), TO("beta", "act"),
                                                  TO("alpha", "news"), TO("beta", "news")};

const simulation_application traffic_simulation = {
    .application_size   = sizeof(simulation_application),
    .application        = &traffic,
    .subscriptions      = subscriptions,
    .subscription_count = sizeof subscriptions / sizeof subscriptions[0],
    .begin              = begin,
    .end                = end,
    .draw               = traffic_draw,
    .message            = traffic_message,
    .timeout            = model_draw_abroad,
    .sent               = see_sent,
    .committed          = see_commit,
    .claimed            = see_claim,
    .delivered          = see_delivery,
    .clock              = allow_clock,
    .faults             = allow_faults,
    .is_at_rest         = is_at_rest,
    .compare            = compare,
    .done               = count_done,
    .configure          = traffic_configure};
