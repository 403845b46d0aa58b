/* schedule.h - declares schedules, which send a message again and again: by an interval or a cron line.
 *
 *     static const pawl_endpoint_spec reports = { ...
 *         .schedules = PAWL_SCHEDULES(
 *             {.name = "nightly", .cron = "0 3 * * *", .zone = "Europe/Berlin",
 *              .message = PAWL_RECORD_OF(make_report)}) };
 *
 * A schedule is one row of the store, however many processes run. The worker that claims it when it is
 * due sends the message to the endpoint's queue and sets the next time, in one commit. Times
 * are business time. See docs/schedules.md.
 *
 * Tests: tests/unit/engine/test_engine_schedule.c, tests/unit/workflow/test_schedules.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SCHEDULE_H
#define PAWL_SCHEDULE_H

#include "pawl/record_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Headers of a message that a schedule sent: the schedule's name, and the planned time (RFC 3339, UTC),
 * which is before the time of handling. */
#define PAWL_HEADER_SCHEDULE "pawl.schedule"
#define PAWL_HEADER_PLANNED "pawl.planned"
/* Header of a message that an operator requested outside the plan (PAWL_SCHEDULE_RUN): the operator. */
#define PAWL_HEADER_SCHEDULE_RUN_BY "pawl.schedule.run_by"

/* Policy for planned times that passed while no process ran, or all were busy. */
typedef enum pawl_missed {
    PAWL_MISSED_ONCE, /* one message, for the last of them */
    PAWL_MISSED_ALL,  /* a message for each, but no more than the last `missed_max` */
    PAWL_MISSED_SKIP, /* none, unless the last is less than a minute ago */
} pawl_missed;

#define PAWL_SCHEDULE_EVERY_MIN PAWL_SECONDS(1)
#define PAWL_SCHEDULE_MISSED_MAX 1000 /* one commit sends them all */

typedef struct pawl_schedule {
    const char *name;  /* once in the endpoint, without '/'; NULL ends the list */
    const char *cron;  /* "minute hour day month weekday"; or `every` */
    const char *zone;  /* of `cron`, "Europe/Berlin"; NULL: UTC */
    int64_t     every; /* microseconds, from the first start on; or `cron` */
    /* Of a type that the endpoint handles. */
    pawl_record_fn *message;
    const void     *value; /* the message; NULL: all its members are zero */
    pawl_missed     missed;
    int32_t         missed_max; /* of PAWL_MISSED_ALL; 0: 100 */
} pawl_schedule;

#define PAWL_SCHEDULES(...) ((const pawl_schedule[]){__VA_ARGS__, {.name = NULL}})

#ifdef __cplusplus
}
#endif
#endif
