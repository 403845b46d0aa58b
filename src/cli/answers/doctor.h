/* doctor.h - the parts of `pawl doctor`, which looks for problems of a store. doctor.c opens the store, runs the table
 * of checks and prints; doctor_find.c keeps the list of findings; doctor_stuck.c checks what waits for something that
 * fails, and sagas.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_doctor.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_DOCTOR_H
#define PAWL_CLI_DOCTOR_H

#include "cli/saga/saga_find.h"

#define PAWL__DOCTOR_NAMED_MAX \
    10 /* findings of one kind; a last one says how many more there are */

typedef struct pawl__doctor {
    const pawl__store_fields *at;
    const char               *check; /* name of the check that runs */
    pawl_store               *store;
    pawl_arena               *arena;
    pawl_time                 now;
    pawl_finding_rows         found;
    size_t                    capacity;
    pawl_error               *error;
    pawl__saga_book           book; /* of --app; empty without it */
    /* Reads that several checks need. */
    pawl_stats         stats;
    pawl_worker_info  *workers;
    size_t             worker_count;
    pawl_subscriptions subscriptions;
} pawl__doctor;

/* Does a worker of the endpoint live? */
bool pawl__doctor_has_worker(const pawl__doctor *doctor, pawl_text endpoint);
void pawl__doctor_add(pawl__doctor *doctor, const pawl_finding *finding);
/* Adds a finding of the check that runs. Always PAWL_OK, so that a check can return it. A `remedy` that is a command of
 * pawl gets the options of the store; other texts stay as they are. */
pawl_code pawl__doctor_find(pawl__doctor *doctor, pawl_finding_level level, const char *remedy,
                            const char *format, ...) PAWL_PRINTF(4, 5);

/* Checks in doctor_stuck.c. They add problems only; the table in doctor.c has the text for "no problem". */
typedef pawl_code  pawl__doctor_check(pawl__doctor *doctor);
pawl__doctor_check pawl__doctor_alarms, pawl__doctor_sources, pawl__doctor_routes,
    pawl__doctor_projections, pawl__doctor_partitions, pawl__doctor_retention, pawl__doctor_sagas,
    pawl__doctor_timeout_retries;
/* Checks that are called for each queue. */
typedef pawl_code pawl__doctor_queue_check(pawl__doctor *doctor, const pawl_queue_stats *queue);
pawl__doctor_queue_check pawl__doctor_retries, pawl__doctor_versions, pawl__doctor_paused;

#endif
