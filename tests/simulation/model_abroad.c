/* model_abroad.c - timeouts that a program outside sets for a destination that no endpoint handles: each becomes one
 * message, in the commit that removes it.
 *
 *     set --> due --> removed, and in the same group sent to the queue "abroad" or through the outbox to the carrier
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/model_state.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME "remind"
#define HEADERS "{\"origin\":\"abroad\"}"
#define MARK 0xAB /* first byte of their ids */

static const char *const destinations[] = {"abroad", "carrier"};

static pawl_text destination_of(int64_t number)
{
    return pawl_text_of(destinations[number % 2]);
}

/* The number in the id; 0: another timeout's. */
static int64_t number_of(pawl_uuid id)
{
    int64_t number = id.bytes[14] * 256 + id.bytes[15];
    return id.bytes[0] == MARK && id.bytes[1] == MARK && number < ABROAD_MAX ? number : 0;
}

static abroad_timeout *find(int64_t number)
{
    abroad_timeout *it = &model.abroad[number];
    (void)snprintf(it->correlation, sizeof it->correlation, "abroad-%" PRId64, number);
    return it;
}

void model_draw_abroad(int64_t number, pawl_timeout_row *made)
{
    *made = (pawl_timeout_row){
        .id             = {{{MARK, MARK, [14] = (uint8_t)(number / 256), [15] = (uint8_t)number}}},
        .name           = PAWL_TEXT(NAME),
        .destination    = destination_of(number),
        .due            = PAWL_SECONDS(number * 7919 % 120),
        .headers        = PAWL_TEXT(HEADERS),
        .correlation_id = pawl_text_of(find(number)->correlation)};
}

bool model_set_abroad(const pawl_timeout_set *it)
{
    int64_t number = number_of(it->id.uuid);
    if (number == 0)
        return false;
    model.abroad[number].is_set = true;
    model.abroad[number].due    = it->due;
    return true;
}

static void see_sent(const pawl_message *message, pawl_text destination, uint32_t group)
{
    pawl_uuid       cause;
    bool            is_uuid = pawl_uuid_parse(message->causation_id, &cause, NULL) == PAWL_OK;
    int64_t         number  = is_uuid ? number_of(cause) : 0;
    abroad_timeout *it      = find(number);
    if (number == 0 && !pawl_text_equal(destination, pawl_text_of(destinations[0])))
        return; /* a task's message to the carrier */
    if (!it->is_set || !pawl_text_equal(destination, destination_of(number)) ||
        it->sent == model.serial)
        simulation_fail("timeout %" PRId64 " for abroad was sent to %.*s, for which it is not set",
                        number, PAWL_TEXT_ARGS(destination));
    else if (!pawl_text_equal(message->type, PAWL_TEXT(NAME)) ||
             !pawl_text_equal(message->body, PAWL_TEXT("{}")) ||
             !pawl_text_equal(message->headers, PAWL_TEXT(HEADERS)) ||
             !pawl_text_equal(message->correlation_id, pawl_text_of(it->correlation)))
        simulation_fail("the message of timeout %" PRId64
                        " for abroad has another type, body, correlation id or headers: %.*s",
                        number, PAWL_TEXT_ARGS(message->headers));
    it->sent  = model.serial;
    it->group = group;
}

void model_see_abroad(const pawl_changes *changes)
{
    EACH(queue_send, it)
    {
        if (pawl_text_equal(it->queue, pawl_text_of(destinations[0])))
            see_sent(&it->message, it->queue, it->group);
    }
    EACH(outbox_add, it)
    {
        if (!model_is_copy(it))
            see_sent(&it->message, it->destination, it->group);
    }
}

bool model_settle_abroad(const pawl_timeout_settle *it)
{
    int64_t         number = number_of(it->id.uuid);
    abroad_timeout *found  = &model.abroad[number];
    if (number == 0 || it->action == PAWL_TIMEOUT_RELEASE)
        return number != 0;
    if (it->action == PAWL_TIMEOUT_RETRY) {
        found->due = it->due;
        return true;
    }
    if (!found->is_set || found->sent != model.serial || found->group != it->group)
        simulation_fail("timeout %" PRId64 " for abroad was removed, and not sent", number);
    if (found->due > simulation_now() + model.clock_slack)
        simulation_fail("timeout %" PRId64 " for abroad came %" PRId64 " us before it was due",
                        number, found->due - simulation_now());
    found->is_set = false;
    model.done++;
    return true;
}

int64_t model_waits_abroad(void)
{
    for (int64_t number = 1; number < ABROAD_MAX; number++)
        if (model.abroad[number].is_set)
            return number;
    return 0;
}
