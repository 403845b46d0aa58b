/* app_answers.c - an application whose saga begins slowly, and is answered at once, for tests of several processes that read
 * one queue.
 *
 *     begun {n}      begins the saga n of "asking", within 20 ms
 *     answered {n}   ends it, and sends finished {n} to "finished"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <unistd.h>

#define HANDLER_TIME 20000 /* microseconds */

#define NUMBER(F) F(INT64, n)
PAWL_RECORD(begun, NUMBER);
PAWL_RECORD(answered, NUMBER);
PAWL_RECORD(finished, NUMBER);
#define STATE(F) F(INT64, n)
PAWL_RECORD(asking_state, STATE);

static pawl_code on_begun(pawl_context *ctx, asking_state *state, const begun *message)
{
    (void)ctx;
    usleep(HANDLER_TIME);
    state->n = message->n;
    return PAWL_OK;
}
PAWL_HANDLER(on_begun, asking_state, begun);

static pawl_code on_answered(pawl_context *ctx, asking_state *state, const answered *message)
{
    (void)state;
    pawl_code code = pawl_send(ctx, "finished", PAWL_MESSAGE(finished, .n = message->n));
    if (code == PAWL_OK)
        pawl_complete(ctx);
    return code;
}
PAWL_HANDLER(on_answered, asking_state, answered);

static const pawl_saga asking = {
    .name        = "Asking",
    .state       = PAWL_RECORD_OF(asking_state),
    .correlation = "n",
    .on          = PAWL_ON({.handle = PAWL_HANDLE(on_begun), .key = "n", .starts = true},
                           {.handle = PAWL_HANDLE(on_answered), .key = "n"})};
static const pawl_endpoint_spec endpoint = {.name = "asking", .sagas = PAWL_SAGAS(&asking)};
static const pawl_application   answers  = {PAWL_APPLICATION_HEAD, .name = "answers",
                                            .endpoints = PAWL_ENDPOINTS(&endpoint)};
PAWL_EXPORT_APPLICATION(answers);
