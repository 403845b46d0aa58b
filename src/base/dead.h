/* dead.h - tells dead letters of timeouts from those of messages with the same headers.
 *
 * The dead letter of a timeout has the body {}, the saga's id in a header, and no causation id. Any sender may send
 * such a message; its dead letter then gets the message's own id as causation id, which a timeout's never has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_DEAD_H
#define PAWL_BASE_DEAD_H

#include "pawl/base.h"

#include <string.h>

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
