/* model_ends.c - when messages are due, the order in which they end, their attempts, and what goes with them.
 *
 *     due          of what a handler sends or sets: the time at which the handler ran, and the task's delay
 *     order        of an ordered endpoint: behind a message that was there when it was first claimed, none of its key ends
 *     attempts     each delayed retry waits for twice as long; a dead letter has had all of them, a rejected message none
 *     copies       one for each message that was handled, in the same group, with its type, body and correlation id
 *     flushes      by size have that many parcels, others come when the period is over, which begins with the first parcel
 *     headers      of a timeout those of the message that set it, of a dead letter those of its message
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/model_state.h"

#include "base/delay.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RETRY_DELAY PAWL_SECONDS(10) /* as the library takes it */

static bool has_part(pawl_text text, const char *part)
{
    return text.size > 0 && memmem(text.data, text.size, part, strlen(part)) != NULL;
}

/* Where the task's effects other than its line in a log are made. */
static int place_of(const sim_task *it)
{
    return it->kind == TASK_NEWS ? 0 : it->endpoint;
}

/* ---- Due times ------------------------------------------------------------------------- */

/* The clocks of two processes differ by the slack at most. A handler ran behind the claim of its message, or behind the
 * due time of its timeout, and before now. */
static void check_due(int64_t number, pawl_time begun, int64_t delay, pawl_time due)
{
    if (due > simulation_now() + delay + model.clock_slack)
        simulation_fail("task %" PRId64 " is due %" PRId64 " us after its delay", number,
                        due - simulation_now() - delay);
    if (begun != 0 && due < begun + delay - model.clock_slack)
        simulation_fail("task %" PRId64 " is due %" PRId64 " us before its delay is over", number,
                        begun + delay - due);
}

void model_check_due(int64_t number, pawl_time due)
{
    const sim_task *it     = traffic_task(number);
    const sim_task *parent = traffic_task(it->parent);
    check_due(number, parent != NULL ? model.results[it->parent].claimed[place_of(parent)] : 0,
              it->delay, due);
}

void model_check_timeout_due(int64_t number, pawl_time begun, pawl_time due)
{
    check_due(number, begun, traffic_task(number)->timeout, due);
}

/* ---- Order ----------------------------------------------------------------------------- */

/* The key of the task's message; -1: it has another one, or none. */
static int key_of(int64_t number)
{
    const sim_task *it      = traffic_task(number);
    bool            has_key = it != NULL && (it->kind == TASK_ACT || it->kind == TASK_NEWS ||
                                  it->kind == TASK_POKE || it->kind == TASK_FACT);
    return has_key ? it->key : -1;
}

static bool is_before(const queue_row *left, const queue_row *right)
{
    return left->placed < right->placed ||
           (left->placed == right->placed && left->seq < right->seq);
}

static void check_order(const queue_row *row)
{
    int key = key_of(row->number);
    for (int i = 0; i < model.queue_count && key >= 0; i++) {
        const queue_row *other = &model.queue[i];
        if (other->is_live && other->endpoint == row->endpoint && key_of(other->number) == key &&
            other->since < row->first && is_before(other, row))
            simulation_fail("task %" PRId64 " was handled before %" PRId64
                            ", which was sent earlier with its key",
                            row->number, other->number);
    }
}

/* Places are times of the senders' clocks, which must not be moved for that. */
void model_see_order(const pawl_changes *changes)
{
    EACH(inbox_entry, it)
    {
        int row =
            it->outcome == PAWL_INBOX_HANDLED ? model_row_of(it->endpoint, it->message_id) : -1;
        if (traffic_settings()->ordered != 0 && model.clock_slack == 0 && row >= 0)
            check_order(&model.queue[row]);
    }
}

/* ---- Attempts -------------------------------------------------------------------------- */

void model_check_retry(const sim_task *it, const pawl_queue_settle *settle, const queue_row *row)
{
    int64_t delay = pawl__doubled(RETRY_DELAY, row->attempts, PAWL_HOURS(1));
    if (settle->attempts > traffic_settings()->delayed_retries)
        simulation_fail("the message of a task has attempt %d, the limit is %" PRId64,
                        (int)settle->attempts + 1, traffic_settings()->delayed_retries + 1);
    if (it->end == TASK_REJECTS && has_part(settle->error, "never"))
        simulation_fail("a message that was rejected is tried again");
    if (settle->due <
        row->claim_time + delay - delay / 100 * PAWL__JITTER_PERCENT - model.clock_slack)
        simulation_fail("a retry is due %" PRId64 " us after the claim, its delay is %" PRId64,
                        settle->due - row->claim_time, delay);
}

/* `is_of`: its handler says so, and no failure of the store. */
void model_check_dead(int64_t number, int endpoint, const pawl_dead_set *it)
{
    const task_fate *result      = &model.results[number];
    bool             is_of       = has_part(it->error, "never") || has_part(it->error, "not yet");
    bool             is_rejected = pawl_text_equal(it->code, PAWL_TEXT("REJECT"));
    if (is_of && !is_rejected && it->attempts != traffic_settings()->delayed_retries + 1)
        simulation_fail("task %" PRId64
                        " is a dead letter after %d attempts, the limit is %" PRId64,
                        number, (int)it->attempts, traffic_settings()->delayed_retries + 1);
    if (is_rejected && traffic_task(number)->kind == TASK_FACT && traffic_task(number)->parent != 0)
        simulation_fail("fact %" PRId64 " was rejected, and its sender was not told", number);
    if (is_of && !has_part(it->history, "\"attempt\":"))
        simulation_fail("the dead letter of task %" PRId64 " has no history", number);
    if (pawl__text_hash(it->message.correlation_id) != result->correlation)
        simulation_fail("the dead letter of task %" PRId64 " has another correlation id", number);
    if (model_number_of(it->message.id) == number &&
        pawl__text_hash(it->message.headers) != result->headers[endpoint])
        simulation_fail("the dead letter of task %" PRId64 " has other headers: %.*s", number,
                        PAWL_TEXT_ARGS(it->message.headers));
}

/* ---- Copies ------------------------------------------------------------------------------ */

bool model_is_copy(const pawl_outbox_add *it)
{
    return has_part(it->message.headers, PAWL_HEADER_AUDIT_ID);
}

uint64_t model_content(const pawl_message *message)
{
    uint64_t body = pawl__text_hash(message->body), type = pawl__text_hash(message->type);
    return body + 3 * type + 7 * pawl__text_hash(message->correlation_id);
}

/* The copy names its message, whose end must be in the same group. */
static void check_copy(const pawl_changes *changes, const pawl_outbox_add *copy)
{
    pawl_text id       = model_member(copy->message.headers, PAWL_HEADER_AUDIT_ID);
    int       row      = model_row_of(copy->endpoint, id);
    int64_t   of_group = 0;
    EACH(inbox_entry, it)
    of_group += it->group == copy->group && it->outcome == PAWL_INBOX_HANDLED &&
                pawl_text_equal(it->message_id, id);
    if (of_group != 1)
        simulation_fail("the copy of message %.*s is not in the commit that handled it",
                        PAWL_TEXT_ARGS(id));
    else if (row >= 0 && model.queue[row].content != model_content(&copy->message))
        simulation_fail("the copy of message %.*s has another type, body or correlation id: %.*s",
                        PAWL_TEXT_ARGS(id), PAWL_TEXT_ARGS(copy->message.body));
}

void model_see_copies(const pawl_changes *changes)
{
    int64_t marks = 0, copies = 0;
    EACH(inbox_entry, it)
    marks += it->outcome == PAWL_INBOX_HANDLED;
    EACH(outbox_add, it)
    {
        if (!model_is_copy(it))
            continue;
        copies++;
        check_copy(changes, it);
    }
    if (copies != (traffic_settings()->audit != 0 ? marks : 0))
        simulation_fail("%" PRId64 " messages were handled, and %" PRId64 " copied", marks, copies);
}

/* ---- Flushes ----------------------------------------------------------------------------- */

/* Of a partition, as "alpha_box/k3". */
static box_state *box_of(pawl_text partition)
{
    const char *key = memmem(partition.data, partition.size, "/k", 2);
    int         e   = traffic_endpoint(partition);
    return e >= 0 && key != NULL ? &model.boxes[e][(key[2] - '0') % KEYS_MAX] : NULL;
}

/* Another worker may have found the same period over, and comes to the partition later. */
static void see_flush(box_state *box, const pawl_leased_batch_remove *it)
{
    bool is_period = box->due <= simulation_now() + model.clock_slack;
    if (is_period)
        box->free_until = simulation_now() + PAWL_MINUTES(4);
    else if ((int64_t)it->id_count < traffic_settings()->box_size &&
             simulation_now() > box->free_until)
        simulation_fail("a flush of %zu parcels came %" PRId64
                        " us before its period was over, its size is %" PRId64,
                        it->id_count, box->due - simulation_now(), traffic_settings()->box_size);
    box->count -= (int64_t)it->id_count;
}

void model_see_boxes(const pawl_changes *changes)
{
    EACH(leased_batch_remove, it)
    see_flush(box_of(it->partition), it);
    EACH(flush_set, it)
    { /* a period begins at a flush; its begin may be long ago */
        if (it->attempts == 0 && it->due > simulation_now() + traffic_period() + model.clock_slack)
            simulation_fail(
                "the flush of %.*s is due %" PRId64 " us from now, its period is %" PRId64,
                PAWL_TEXT_ARGS(it->partition), it->due - simulation_now(), traffic_period());
        /* a failure leaves what was due, for another worker may have begun its try before */
        box_state *box = box_of(it->partition);
        if (it->attempts == 0 || it->due < box->due)
            box->due = it->due;
    }
    EACH(aggregator_add, it)
    {
        box_state *box    = box_of(it->partition);
        int64_t    number = model_number_of(it->key);
        if (number > 0)
            check_due(number, model.results[number].claimed[traffic_endpoint(it->partition)],
                      traffic_period(), it->due);
        if (box->count++ == 0)
            box->due = it->due;
    }
}

/* ---- Headers --------------------------------------------------------------------------- */

void model_check_correlation(int64_t number, pawl_text correlation)
{
    const task_fate *it = &model.results[number];
    if (it->correlation != pawl__text_hash(correlation))
        simulation_fail("task %" PRId64 " has another correlation id than its sender %" PRId64,
                        number, traffic_task(number)->parent);
}

static void note_correlation(int64_t number, pawl_text correlation)
{
    const sim_task *it = traffic_task(number);
    model.results[number].correlation =
        it->parent != 0 ? model.results[it->parent].correlation : pawl__text_hash(correlation);
    model_check_correlation(number, correlation);
}

/* `endpoint` -1: the outbox has it still. */
void model_note_message(int64_t number, int endpoint, const pawl_message *message)
{
    note_correlation(number, message->correlation_id);
    if (endpoint >= 0)
        model.results[number].headers[endpoint] = pawl__text_hash(message->headers);
}

void model_note_timeout(int64_t number, int endpoint, const pawl_timeout_set *it)
{
    task_fate       *result = &model.results[number];
    const task_fate *parent = &model.results[traffic_task(number)->parent];
    note_correlation(number, it->correlation_id);
    model_check_due(number, it->due);
    result->headers[endpoint] = pawl__text_hash(it->headers);
    result->claimed[endpoint] = it->due;
    if (result->headers[endpoint] != parent->headers[endpoint])
        simulation_fail("the timeout of task %" PRId64
                        " has other headers than the message that set it: %.*s",
                        number, PAWL_TEXT_ARGS(it->headers));
}
