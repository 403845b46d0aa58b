/* schedule.h - keeps schedules as rows of the store: timeouts without a saga. Their headers contain all that is needed
 * to send and to plan, so any worker can run a schedule, whatever its program's table contains.
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

#include "pawl/store_schedule.h"
#include "runtime/runtime.h"

#include "base/cron.h"

/* Reads a row. PAWL_EDECODE: the text names the missing member. PAWL_ENOMEM. */
pawl_code pawl__schedule_read(const pawl_timeout_row *row, pawl_arena *arena,
                              pawl_schedule_row *schedule, pawl_error *error);
/* The change that writes the schedule's row, due at `due`. PAWL_ENOMEM. */
pawl_code pawl__schedule_write(const pawl_schedule_row *schedule, pawl_time due, pawl_arena *arena,
                               pawl_timeout_set *set);
bool      pawl__schedule_is_same(const pawl_schedule_row *left, const pawl_schedule_row *right);
/* Have both the same times? */
bool pawl__schedule_has_times_of(const pawl_schedule_row *left, const pawl_schedule_row *right);

/* The schedule's first time after `now`; PAWL_TIME_MAX while it is paused. */
pawl_code pawl__schedule_first(const pawl_schedule_row *schedule, pawl_time now, pawl_time *first,
                               pawl_error *error);
/* Plans the messages to send at `now`, for the times since `due`, and the next time. */
pawl_code pawl__schedule_due(const pawl_schedule_row *schedule, pawl_time due, pawl_time now,
                             pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error);

/* Writes the rows of schedules in the endpoint's table that are missing or differ. */
pawl_code pawl__schedules_announce(pawl_endpoint *endpoint, pawl_error *error);
/* Finds rows of the store that are due later than possible, as they were planned by a clock that was ahead, and plans
 * them again by this machine's clock. */
pawl_code pawl__schedules_check(const pawl_endpoint *endpoint, pawl_store *store, pawl_arena *arena,
                                pawl_error *error);
/* pawl__engine.schedule. */
pawl_code pawl__worker_schedule(void *runtime, const pawl_timeout_row *row, pawl_time now,
                                pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error);

#endif
