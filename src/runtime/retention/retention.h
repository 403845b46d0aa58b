/* retention.h - rows that are kept no longer are deleted: deduplication records, delivered outbox rows, rows of ended
 * workers, history, bodies of dead letters.
 *
 *     { run: sweep, when it is due -> free leases whose time is over }*        each step of the service
 *
 * A sweep that finds many old rows takes a twelfth of the time, and the next one follows soon. One that fails stops
 * nothing; after ten failures in a row the critical action is called and an alarm is raised.
 *
 * Threads: the service's. Tests: tests/unit/runtime/test_runtime_retention.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_RETENTION_H
#define PAWL_RUNTIME_RETENTION_H

#include "runtime/runtime.h"

/* Announces how long the endpoint keeps records, and withdraws what it announced before: adds at most one set, and one
 * for each item of the list. */
pawl_code pawl__retention_announce(const pawl_endpoint *endpoint, const pawl_subscriptions *list,
                                   pawl_arena *arena, pawl_subscription_set *sets, size_t *count);

pawl_code pawl__retention_run(pawl__service *service, pawl_time now, pawl_error *error);

#endif
