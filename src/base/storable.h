/* storable.h - checks the texts of a message that pawl did not write itself, and makes a dead letter of it possible; tells
 * dead letters of timeouts from those of messages with the same headers.
 *
 * A message of a broker, or a queue row that another program inserted with SQL, may have an id or a type that no dead
 * letter and no deduplication record can have.
 *
 * Threads: any. Tests: tests/unit/runtime/test_runtime_unfit.c, tests/unit/runtime/test_runtime_intake.c,
 * tests/system/command_queue_unfit.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_STORABLE_H
#define PAWL_BASE_STORABLE_H

#include "pawl/base.h"

#include <string.h>

/* The texts of a pawl_message. */
#define PAWL__STORABLE_COUNT 5
#define PAWL__STORABLE_TEXTS(message_)                                                \
    ((pawl_text *[]){&(message_)->id, &(message_)->type, &(message_)->correlation_id, \
                     &(message_)->causation_id, &(message_)->headers})

/* Empties all texts of the message, except its body, that are too long or not valid UTF-8. `*why` names the first of
 * them with its limit, or an id that is empty, and is empty for a message that can be stored as it is. The caller gives
 * a message without an id a new one. PAWL_ENOMEM is the only failure. */
pawl_code pawl__make_storable(pawl_text *const texts[PAWL__STORABLE_COUNT], pawl_arena *arena,
                              pawl_text *why);
/* Empties a body that is too long; `*why` tells it, and is left alone otherwise. PAWL_ENOMEM is the only failure. */
pawl_code pawl__fit_body(pawl_text *body, pawl_arena *arena, pawl_text *why);

/* ---- Dead letters of timeouts ---------------------------------------------------- *
 *
 * They have the body {}, the saga's id in a header, and no causation id. Any sender may send such a message; its dead
 * letter then gets the message's own id as causation id, which a timeout's never has. */

/* Do the headers contain the text of PAWL_HEADER_SAGA_ID, as a name or in a value? */
static inline bool pawl__dead_has_saga(pawl_text headers)
{
    static const char name[] = "pawl.saga_id";
    return headers.size > 0 && memmem(headers.data, headers.size, name, sizeof name - 1) != NULL;
}

/* The causation id to store in the dead letter of a message. */
static inline pawl_text pawl__dead_cause(pawl_text id, pawl_text cause, pawl_text headers)
{
    return cause.size == 0 && pawl__dead_has_saga(headers) ? id : cause;
}

#endif
