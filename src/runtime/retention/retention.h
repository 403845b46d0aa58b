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

/* The time that a sweep goes by, lest a machine whose clock is ahead deletes what others still need: the machine's, but
 * none ahead of the server's clock. Where there is no server (0), the clock goes on from what is believed, at first the
 * time of records; one that is ahead is believed after a day of this process, so that a store that stood still for
 * weeks is swept in the end. */
pawl_time pawl__retention_time(pawl__believed *believed, pawl_time server, pawl_time recorded,
                               pawl_time now, int64_t monotonic);

pawl_code pawl__retention_run(pawl__service *service, pawl_time now, pawl_error *error);

#endif
