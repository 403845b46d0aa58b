/* test_engine_random_sample.h - the application of the random test: a saga with a transitional
 * property, a timeout and a sender of its own; a second saga that hears the same messages; a message
 * with a base, so that two handlers of it meet one saga; an aggregator whose flush fails now and then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TEST_ENGINE_RANDOM_SAMPLE_H
#define PAWL_TEST_ENGINE_RANDOM_SAMPLE_H

#include "support/world.h"

#define MODULUS 1000003
#define NAMES 3
#define SENDERS 2

#define POST(F)       \
    F(TEXT, name)     \
    F(TEXT, badge)    \
    F(TEXT, box_name) \
    F(INT64, number)  \
    F(INT64, ring_in) \
    F(BOOL, cancels)  \
    F(BOOL, ends)     \
    F(BOOL, fails)    \
    F(BOOL, sends)
PAWL_RECORD(begin, POST);
PAWL_RECORD(go_on, POST);
PAWL_RECORD(both, POST);
PAWL_RECORD(collect, POST);
PAWL_RECORD_WITH(last, POST, .base = PAWL_RECORD_OF(go_on));
RECORD(seek, (OPT_TEXT, name), (TEXT, badge), (TEXT, next_badge), (INT64, number));
#define COUNTER(F)   \
    F(TEXT, name)    \
    F(TEXT, badge)   \
    F(INT64, digest) \
    F(INT64, rings)
PAWL_RECORD(counter, COUNTER);
PAWL_RECORD(box, COUNTER);
RECORD(note, (INT64, number));

/* Notes are sent to the first; senders of messages read the others. */
static const char *const queues[1 + SENDERS] = {"out", "north", "south"};

static int flush_failures; /* of the next flushes */

static pawl_code send_note(pawl_context *ctx, int64_t number)
{
    return pawl_send(ctx, "out", PAWL_MESSAGE(note, .number = number));
}

static pawl_code answer_note(pawl_context *ctx, int64_t number)
{
    return pawl_reply_to_originator(ctx, PAWL_MESSAGE(note, .number = number));
}

static int64_t mix(int64_t digest, int64_t number)
{
    return (digest * 31 + number + 1) % MODULUS;
}

/* The badge is in memory that is over when the message is done. */
static pawl_code set_badge(pawl_context *ctx, counter *state, pawl_text badge)
{
    state->badge = pawl_arena_text(pawl_scratch(ctx), badge);
    return state->badge.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code count(pawl_context *ctx, counter *state, const begin *message)
{
    state->digest = mix(state->digest, message->number);
    if (message->ring_in > 0)
        pawl_timeout(ctx, "ring", message->ring_in);
    if (message->cancels)
        pawl_cancel_timeout(ctx, "ring");
    if (message->sends)
        send_note(ctx, message->number);
    if (message->fails)
        return message->number % 2 == 0 ? PAWL_REJECT : PAWL_ELIMIT;
    if (!message->ends)
        return set_badge(ctx, state, message->badge);
    answer_note(ctx, message->number);
    return pawl_complete(ctx);
}

static pawl_code on_begin(pawl_context *ctx, counter *state, const begin *message)
{
    return count(ctx, state, message);
}
PAWL_HANDLER(on_begin, counter, begin);

static pawl_code on_go_on(pawl_context *ctx, counter *state, const go_on *message)
{
    begin same;
    memcpy(&same, message, sizeof same);
    return count(ctx, state, &same);
}
PAWL_HANDLER(on_go_on, counter, go_on);

static pawl_code on_both(pawl_context *ctx, counter *state, const both *message)
{
    begin same;
    memcpy(&same, message, sizeof same);
    return count(ctx, state, &same);
}
PAWL_HANDLER(on_both, counter, both);

/* Runs before on_go_on, for the same message and saga, and may begin it. */
static pawl_code on_last(pawl_context *ctx, counter *state, const last *message)
{
    state->digest = mix(state->digest, message->number + 7);
    return message->ends ? pawl_complete(ctx) : set_badge(ctx, state, message->badge);
}
PAWL_HANDLER(on_last, counter, last);

static pawl_code on_seek(pawl_context *ctx, counter *state, const seek *message)
{
    state->digest = mix(state->digest, message->number);
    send_note(ctx, message->number);
    return set_badge(ctx, state, message->next_badge);
}
PAWL_HANDLER(on_seek, counter, seek);

static pawl_code on_both_box(pawl_context *ctx, box *state, const both *message)
{
    state->digest = mix(state->digest, message->number);
    return PAWL_OK;
}
PAWL_HANDLER(on_both_box, box, both);

static pawl_code on_ring(pawl_context *ctx, counter *state)
{
    state->rings++;
    return answer_note(ctx, -((pawl_now(ctx) - WORLD_START) / 1000));
}
PAWL_TIMEOUT_HANDLER(on_ring, counter);

/* PAWL_ELIMIT has messages discarded; a partition keeps its own. */
static pawl_code on_collected(pawl_context *ctx, const collect *messages, size_t number)
{
    pawl_code code = number >= 3 ? PAWL_OK : PAWL_REJECT;
    if (flush_failures > 0) {
        flush_failures--;
        code = PAWL_ELIMIT;
    }
    for (size_t i = 0; i < number && code == PAWL_OK; i++)
        code = send_note(ctx, messages[i].number);
    return code;
}
PAWL_BATCH_HANDLER(on_collected, collect);

static const pawl_saga counter_saga = {
    .name         = "Counter",
    .state        = PAWL_RECORD_OF(counter),
    .correlation  = "name",
    .transitional = "badge",
    .on           = PAWL_ON({.handle = PAWL_HANDLE(on_begin), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_last), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_go_on), .key = "name"},
                            {.handle = PAWL_HANDLE(on_both), .key = "name", .starts = true},
                            {.handle = PAWL_HANDLE(on_seek), .key = "name", .transitional_key = "badge"},
                            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"})};
static const pawl_saga box_saga = SAGA_OF(
    "Box", box, "name", {.handle = PAWL_HANDLE(on_both_box), .key = "box_name", .starts = true});
static const pawl_aggregator collected = {
    .name = "Collected", .handle = PAWL_HANDLE(on_collected), .size = 3, .attempts_max = 2};
static const pawl_application application = ONE_ENDPOINT(
    "random", .name = "desk", .sagas = PAWL_SAGAS(&counter_saga, &box_saga),
    .aggregators = PAWL_AGGREGATORS(&collected),
    .options =
        PAWL_OPTIONS(.recovery = PAWL_RECOVERY({.code = PAWL_ELIMIT, .then = PAWL_THEN_DISCARD})));

static const char *const names[NAMES] = {"a", "b", "c"};

#endif
