/* health.h - checks of a store's health.
 *
 * Tests: tests/unit/observe/test_health.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_HEALTH_H
#define PAWL_RUNTIME_HEALTH_H

#include "pawl/observe.h"
#include "pawl/store_calls.h"
#include "record/record_internal.h"

/* The store could not be asked: unhealthy for this reason alone. */
void pawl__health_of_failure(const char *reason, pawl_health *health);
/* Adds a result; its reason is the caller's to write. There must be room. */
pawl_health_result *pawl__health_add(pawl_health *health, const char *name,
                                     pawl_health_state state);
/* {"status":"degraded","checks":[{"name":..,"status":..,"reason":..}]} */
pawl_code pawl__health_json(const pawl_health *health, pawl_arena *arena, pawl_text *json);

#endif
