/* plan.h - a due schedule as the runtime reads it for the engine.
 *
 * Threads: as the batch.
 * Tests: tests/unit/engine/test_engine_schedule.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_PLAN_H
#define PAWL_ENGINE_PLAN_H

#include "pawl/message.h"

/* The saga of a timeout that is a schedule's row (runtime/schedule/schedule.h); schedule.c. */
#define PAWL__SCHEDULE_SAGA "pawl/schedule"
extern const pawl_saga_id pawl__schedules_saga;

/* The messages that a due schedule sends, and its next time. */
typedef struct pawl__schedule_plan {
    pawl_message message; /* of each: type, body and headers */
    pawl_time   *times;   /* planned; one message each */
    size_t       count;
    pawl_time    next;
    bool         is_gone; /* no program has it in its table any more: the row is to be removed */
} pawl__schedule_plan;

#endif
