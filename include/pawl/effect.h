/* effect.h - declares in a handler's row (.does) which effects the handler may have.
 *
 *     {.handle = PAWL_HANDLE(on_place_order), .key = "order_id", .starts = true,
 *      .does   = PAWL_DOES(PAWL_SENDS(charge_card, "billing"), PAWL_SETS("payment"))}
 *
 * `pawl topology print` draws the declared effects. If the row has .does, any effect of its handler that is not
 * in the list is refused and fails the message (E26), so that the drawing is complete. A row without .does
 * declares nothing, and its handler is not checked. Filters and functions of pawl_before_commit have no
 * rows and are not checked.
 *
 * Tests: tests/unit/engine/test_engine_declared.c, tests/system/command_topology.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_EFFECT_H
#define PAWL_EFFECT_H

#include "pawl/record_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_effect_kind {
    PAWL_EFFECT_END,     /* of the list */
    PAWL_EFFECT_SEND,    /* pawl_send, pawl_send_with, pawl_send_json, pawl_send_now */
    PAWL_EFFECT_PUBLISH, /* pawl_publish, pawl_publish_with */
    PAWL_EFFECT_REPLY,   /* pawl_reply, pawl_reply_with, pawl_reply_to_originator */
    PAWL_EFFECT_TIMEOUT, /* pawl_timeout, pawl_timeout_at */
} pawl_effect_kind;

/* An effect that a handler may have. Events of processes and entities are not listed: .apply has them. */
typedef struct pawl_effect {
    pawl_effect_kind kind;
    pawl_record_fn  *message; /* of exactly this type; NULL: a timeout */
    const char      *name;    /* the destination, NULL: any; or the timeout's */
} pawl_effect;

/* For a row's .does: any of the four below, or PAWL_DOES_NOTHING. */
#define PAWL_DOES(...) ((const pawl_effect[]){__VA_ARGS__, {.kind = PAWL_EFFECT_END}})
#define PAWL_DOES_NOTHING ((const pawl_effect[]){{.kind = PAWL_EFFECT_END}})
#define PAWL_SENDS(record, destination)                         \
    {                                                           \
        PAWL_EFFECT_SEND, PAWL_RECORD_OF(record), (destination) \
    }
#define PAWL_PUBLISHES(record)                            \
    {                                                     \
        PAWL_EFFECT_PUBLISH, PAWL_RECORD_OF(record), NULL \
    }
#define PAWL_REPLIES(record)                            \
    {                                                   \
        PAWL_EFFECT_REPLY, PAWL_RECORD_OF(record), NULL \
    }
#define PAWL_SETS(timeout)                   \
    {                                        \
        PAWL_EFFECT_TIMEOUT, NULL, (timeout) \
    }

#ifdef __cplusplus
}
#endif
#endif
