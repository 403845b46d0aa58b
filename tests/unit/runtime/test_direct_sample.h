/* test_direct_sample.h - an endpoint whose handlers leave something that can be counted, for messages that workers handle
 * before they are rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_DIRECT_SAMPLE_H
#define PAWL_TESTS_UNIT_DIRECT_SAMPLE_H

#include "test_intake_sample.h"

RECORD(letter_state, (INT32, number), (INT32, count));
PAWL_RECORD(opening, A_NUMBER);
PAWL_RECORD(reply, A_NUMBER);

static atomic_int runs;
static world     *meddler; /* the mark of message 77 is written while its handler runs */

static inline void mark_77(void)
{
    MUST_COMMIT(meddler->store, inbox_entry, world_now(meddler), .endpoint = PAWL_TEXT("reader"),
                .message_id = PAWL_TEXT("m-77"), .outcome = PAWL_INBOX_HANDLED,
                .at = world_now(meddler));
}

/* Sends one message each, which the store has once for each message that was handled once. */
static inline pawl_code on_sent(pawl_context *ctx, const note *message)
{
    atomic_fetch_add(&runs, 1);
    if (failures_left > 0) {
        failures_left--;
        return pawl_fail(ctx, PAWL_RETRY, "not yet");
    }
    if (message->number == 77 && meddler != NULL)
        mark_77();
    return pawl_send(ctx, "out", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_sent, note);

static inline pawl_code on_opening(pawl_context *ctx, letter_state *state, const opening *message)
{
    if (failures_left > 0) {
        failures_left--;
        return pawl_fail(ctx, PAWL_RETRY, "not yet");
    }
    state->number = message->number;
    world_note(&happened, "opening(%d)", (int)message->number);
    return PAWL_OK;
}
PAWL_HANDLER(on_opening, letter_state, opening);

static inline pawl_code on_reply(pawl_context *ctx, letter_state *state, const reply *message)
{
    state->count++;
    world_note(&happened, "reply(%d)", (int)message->number);
    return PAWL_OK;
}
PAWL_HANDLER(on_reply, letter_state, reply);

static const pawl_saga talk =
    SAGA_OF("Talk", letter_state, "number",
            {.handle = PAWL_HANDLE(on_opening), .key = "number", .starts = true},
            {.handle = PAWL_HANDLE(on_reply), .key = "number"});
static const pawl_application direct_application =
    ONE_ENDPOINT("direct", .name = "reader", .sagas = PAWL_SAGAS(&talk),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_sent)}));

static inline void put_note(int number)
{
    static char texts[LETTERS_MAX][2][40];
    snprintf(texts[broker.count][0], sizeof texts[0][0], "m-%d", number);
    snprintf(texts[broker.count][1], sizeof texts[0][1], "{\"number\":%d}", number);
    put(texts[broker.count][0], "note", texts[broker.count][1]);
}

/* ---- An endpoint whose workers get the messages ------------------------------------------- */

static inline reading *open_direct(const char *url, const pawl_endpoint_options *options)
{
    reading *r = open_reading_of(&direct_application, url, options);
    atomic_store(&runs, 0);
    /* A virtual clock would leave the hand-over off: nothing here depends on its being one. */
    begin_direct(r);
    return r;
}

static inline size_t count_rows(reading *r, const char *queue)
{
    return world_queue(&r->it, queue).count;
}

#endif
