/* retention.h - deletes old rows: deduplication records, delivered outbox rows, rows of ended workers, history, bodies
 * of dead letters.
 *
 *     { run: sweep, if it is due -> release expired leases }* in each step of the service
 *
 * While many rows are old, sweeps follow one another and take a twelfth of the time. A failed sweep stops nothing;
 * after ten failures in a row the critical action is called and an alarm raised.
 *
 * Threads: the service's. Tests: tests/unit/runtime/test_runtime_retention.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_RETENTION_H
#define PAWL_RUNTIME_RETENTION_H

#include "runtime/runtime.h"

/* The time by which a sweep judges, so that a machine whose clock is ahead does not delete rows that others need: the
 * machine's time, but not later than the server's. Without a server (0) the time continues from `believed`, at first
 * the time of records. A clock that is ahead of that is believed after a day of this process, so that a store that was
 * not used for weeks is swept in the end. */
pawl_time pawl__retention_time(pawl__sweep_clock *believed, pawl_time server, pawl_time recorded,
                               pawl_time now, int64_t monotonic);

pawl_code pawl__retention_run(pawl__service *service, pawl_time now, pawl_error *error);

#endif
