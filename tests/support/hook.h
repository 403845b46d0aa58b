/* hook.h - a store driver that stands before another one and calls the test at
 * chosen moments: to let another worker in between two calls, or to fail one.
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

/* Another code than PAWL_OK makes the call fail with it: nothing was applied
 * before a commit, and after one it is PAWL_ELOST, say, though it landed. */
typedef pawl_code hook_fn(hook_point point, void *context);

/* Handles that were opened to claim ahead (pawl_store_options). */
extern atomic_int hook_opened_ahead;
/* Waits of no time, which give back what was claimed ahead. */
extern atomic_int hook_given_back;

/* The hooked form of an existing store's URL; static text. NULL `call`: none. */
const char *hook_url(const char *url);
void        hook_set(hook_fn *call, void *context);

#endif
