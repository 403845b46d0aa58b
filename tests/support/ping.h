/* ping.h - a minimal application: an endpoint "plain" that counts its messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_PING_H
#define PAWL_TESTS_PING_H

#include "pawl/pawl.h"
#include "support/tests.h"

#include <stdatomic.h>

PAWL_RECORD(ping, A_NUMBER);

static atomic_int ping_count; /* messages handled so far */

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    atomic_fetch_add(&ping_count, 1);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static const pawl_endpoint_spec plain = {.name     = "plain",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)})};

#endif
