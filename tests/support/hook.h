/* hook.h - a store driver that wraps another one and calls the test at certain points: to let another worker act
 * between two calls, or to make a call fail.
 *
 *     hook_url -> world_open and others on that URL
 *
 * One URL at a time is hooked; handles opened on the plain URL are not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_HOOK_H
#define PAWL_TESTS_HOOK_H

#include "pawl/store_driver.h"

#include <stdatomic.h>

typedef enum hook_point {
    HOOK_BEFORE_COMMIT,
    HOOK_AFTER_COMMIT,
    HOOK_BEFORE_COUNT, /* aggregator_count */
    HOOK_BEFORE_LOAD,  /* saga_load */
    HOOK_BEFORE_CLAIM, /* queue_claim */
    HOOK_BEFORE_READ,  /* event_list */
    HOOK_BEFORE_LEASE, /* leased_batch_claim */
    HOOK_BEFORE_END,   /* worker_close */
} hook_point;

/* A result other than PAWL_OK is returned by the call. Before a commit nothing is applied then; after a commit it was
 * applied, although the call returns PAWL_ELOST, for example. */
typedef pawl_code hook_fn(hook_point point, void *context);

/* Handles opened to claim ahead (pawl_store_options). */
extern atomic_int hook_opened_ahead;
/* Waits of zero time, which release messages claimed ahead. */
extern atomic_int hook_given_back;

/* Returns the hooked URL of an existing store; static text. NULL `call`: no hook. */
const char *hook_url(const char *url);
void        hook_set(hook_fn *call, void *context);

#endif
