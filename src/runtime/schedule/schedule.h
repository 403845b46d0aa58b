/* schedule.h - schedules as rows of the store: a timeout of no saga, whose headers hold all that is
 * needed to send and to plan, so that any worker can, whatever its program's table says.
 *
 *     saga id     of all schedules the same, so that one read lists them
 *     saga type   "pawl/schedule"
 *     name        "QUEUE/NAME", once in the store
 *     destination the queue
 *     headers     of the message, and pawl.schedule.cron, .zone, .every ... for the plan
 *
 * Threads: pure, but for announce, which is the endpoint's.
 * Tests: tests/unit/engine/test_engine_schedule.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_SCHEDULE_H
#define PAWL_RUNTIME_SCHEDULE_H

#include "runtime/runtime.h"

#include "base/cron.h"

typedef struct pawl__schedule {
    pawl_text   name, queue;
    pawl_text   type, body, headers; /* of the message */
    pawl_text   cron, zone;          /* or */
    int64_t     every;
    pawl_missed missed;
    int32_t     missed_max;  /* of PAWL_MISSED_ALL */
    bool        is_declared; /* in an application's table; else by an operator */
    bool        is_paused;
    pawl_text   changed_by, changed_at, reason; /* by an operator, or empty */
} pawl__schedule;

/* PAWL_EDECODE names what the row lacks; PAWL_ENOMEM. */
pawl_code pawl__schedule_read(const pawl_timeout_row *row, pawl_arena *arena,
                              pawl__schedule *schedule, pawl_error *error);
/* The change that writes the schedule's row, due at `due`. PAWL_ENOMEM. */
pawl_code pawl__schedule_write(const pawl__schedule *schedule, pawl_time due, pawl_arena *arena,
                               pawl_timeout_set *set);
bool      pawl__schedule_is_same(const pawl__schedule *left, const pawl__schedule *right);
/* Have both the same times? */
bool pawl__schedule_has_times_of(const pawl__schedule *left, const pawl__schedule *right);

/* Its first time after `now`; PAWL_TIME_MAX while it is paused. */
pawl_code pawl__schedule_first(const pawl__schedule *schedule, pawl_time now, pawl_time *first,
                               pawl_error *error);
/* The messages that are sent at `now` for the times from `due` on, and the next time. */
pawl_code pawl__schedule_due(const pawl__schedule *schedule, pawl_time due, pawl_time now,
                             pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error);

/* Writes the rows of the schedules in the endpoint's table that are not there, or otherwise. */
pawl_code pawl__schedules_announce(pawl_endpoint *endpoint, pawl_error *error);
/* Of all rows of the store those that are due later than they can be, as a clock was ahead when they were planned, get
 * their next times by this machine's clock. */
pawl_code pawl__schedules_check(const pawl_endpoint *endpoint, pawl_store *store,
                                pawl_error *error);
/* pawl__engine.schedule. */
pawl_code pawl__worker_schedule(void *runtime, const pawl_timeout_row *row, pawl_time now,
                                pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error);

#endif
