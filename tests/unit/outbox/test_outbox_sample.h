/* test_outbox_sample.h - for the applications of the outbox tests: the state of a saga that sends
 * notes, and the endpoint that receives them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_OUTBOX_SAMPLE_H
#define PAWL_TESTS_UNIT_OUTBOX_SAMPLE_H

#include "support/world.h"

RECORD(flow_state, (TEXT, name), (INT32, steps));
PAWL_RECORD(note, A_NUMBER);

/* "note7 note8 ": the notes that arrived. */
static world_log seen;

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    world_note(&seen, "note%d", message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_endpoint_spec notes = {.name     = "notes",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};

/* A saga that `handler` starts. */
#define FLOW_SAGA(handler)                                                          \
    {                                                                               \
        .name = "Flow", .state = PAWL_RECORD_OF(flow_state), .correlation = "name", \
        .on = (const pawl_on[])                                                     \
        {                                                                           \
            {.handle = PAWL_HANDLE(handler), .key = "name", .starts = true},        \
            {                                                                       \
                .handle = NULL                                                      \
            }                                                                       \
        }                                                                           \
    }

#endif
