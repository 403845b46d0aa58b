/* doctor.h - findings about a store, for the parts of `pawl doctor`: doctor.c opens the store, has the table of situations,
 * looks at what any store has and prints, doctor_find.c keeps the list, doctor_stuck.c looks at what waits for something that fails, and at sagas.
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
    const char               *check; /* name of the one under way */
    pawl_store               *store;
    pawl_arena               *arena;
    pawl_time                 now;
    pawl_finding_rows         found;
    size_t                    capacity;
    pawl_error               *error;
    pawl__saga_book           book; /* of --app; without it it has no tables */
    /* Reads that several checks need. */
    pawl_stats         stats;
    pawl_worker_info  *workers;
    size_t             worker_count;
    pawl_subscriptions subscriptions;
} pawl__doctor;

/* Does a worker of the endpoint live? */
bool pawl__doctor_has_worker(const pawl__doctor *doctor, pawl_text endpoint);
/* Adds a finding that is made. */
pawl_code pawl__doctor_add(pawl__doctor *doctor, const pawl_finding *finding);
/* Makes one of the check that is under way. `remedy`, a command of pawl without its store, gets the store's options; other
 * remedies, and an empty one, stay as they are. */
pawl_code pawl__doctor_find(pawl__doctor *doctor, pawl_finding_level level, const char *remedy,
                            const char *format, ...) PAWL_PRINTF(4, 5);

/* doctor_stuck.c: findings alone; the table of doctor.c says what holds where there are none. */
typedef pawl_code  pawl__doctor_check(pawl__doctor *doctor);
pawl__doctor_check pawl__doctor_alarms, pawl__doctor_sources, pawl__doctor_routes,
    pawl__doctor_projections, pawl__doctor_partitions, pawl__doctor_retention, pawl__doctor_sagas,
    pawl__doctor_timeout_retries;
/* The same of one queue. */
typedef pawl_code pawl__doctor_queue_check(pawl__doctor *doctor, const pawl_queue_stats *queue);
pawl__doctor_queue_check pawl__doctor_retries, pawl__doctor_versions, pawl__doctor_paused;

#endif
