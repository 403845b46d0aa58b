/* audit.h - copies of messages that were handled, of an endpoint with the option audit: an outbox row for each, in
 * the commit that writes its inbox mark. So there is a copy exactly when there is a mark "handled".
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_audit.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_AUDIT_H
#define PAWL_ENGINE_AUDIT_H

#include "engine/batch.h"

#define PAWL__AUDIT_ROUTE "pawl.audit"

typedef struct pawl__audit {
    pawl_text machine;
    /* A copy has the id of its message. In the queue of a store it has an id of its own: there the same
     * event, handled by two endpoints, would be one message. */
    bool keeps_id;
    pawl_time (*now)(void *runtime); /* machine time, asked for each message */
} pawl__audit;

/* Adds the rows to the change set, behind all other outbox rows. PAWL_ENOMEM. */
pawl_code pawl__audit_put(pawl__batch *batch);

#endif
