/* audit.h - where copies of handled messages go: the endpoint's option audit, read and checked, is a route of the
 * outbox.
 *
 * Threads: constant once the endpoint is made.
 * Tests: tests/unit/engine/test_engine_audit.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_AUDIT_H
#define PAWL_RUNTIME_AUDIT_H

#include "engine/audit.h"
#include "pawl/endpoint.h"

#include <limits.h>

typedef struct pawl__auditing {
    bool        is_on;
    pawl__audit copies;
    char        machine[HOST_NAME_MAX + 1];
    char       *address; /* owned: URL and queue, the '#' between them is a NUL */
} pawl__auditing;

/* Reads the option and adds the route, behind all others. PAWL_ECONFIG names the option, what it is, and what
 * is wrong with it. */
pawl_code pawl__audit_take(pawl_endpoint *endpoint, pawl_error *error);

#endif
