/* schedule.h - messages that come again: by an interval, or by a line of cron.
 *
 *     static const pawl_endpoint_spec reports = { ...
 *         .schedules = PAWL_SCHEDULES(
 *             {.name = "nightly", .cron = "0 3 * * *", .zone = "Europe/Berlin",
 *              .message = PAWL_RECORD_OF(make_report)}) };
 *
 * A schedule is a row of the store. However many processes run, it is there once; the worker that
 * finds it due sends the message to the endpoint's queue and sets its next time in the same commit. Times
 * are business time. docs/schedules.md is the page for users.
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

/* Headers of a message that a schedule sent: the schedule's name, and the time that it was planned for
 * (RFC 3339, UTC), which is earlier than the time it is handled. */
#define PAWL_HEADER_SCHEDULE "pawl.schedule"
#define PAWL_HEADER_PLANNED "pawl.planned"
/* The operator who requested the message, beside its time (store_schedule.h). */
#define PAWL_HEADER_SCHEDULE_RUN_BY "pawl.schedule.run_by"

/* Times that passed while no process could send: no process ran, or all were busy. */
typedef enum pawl_missed {
    PAWL_MISSED_ONCE, /* one message, for the last of them */
    PAWL_MISSED_ALL,  /* a message for each, but no more than the last `missed_max` */
    PAWL_MISSED_SKIP, /* none, unless the last is less than a minute ago */
} pawl_missed;

#define PAWL_SCHEDULE_EVERY_MIN PAWL_SECONDS(1)
#define PAWL_SCHEDULE_MISSED_MAX 1000 /* messages of one commit */

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
