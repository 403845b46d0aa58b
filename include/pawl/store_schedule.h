/* store_schedule.h - an operator's calls on schedules: list, add, remove, pause, resume, run now. operations.h
 * has the rules of all calls; schedule.h explains schedules.
 *
 *     schedule_list -> schedule_add | schedule_settle -> schedule_actions: who, when and why
 *
 * Threads: as the handle's.
 * Tests: tests/unit/runtime/test_schedule_operations.c, tests/system/command_schedule.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SCHEDULE_H
#define PAWL_STORE_SCHEDULE_H

#include "pawl/event_store_rows.h"
#include "pawl/schedule.h"
#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_schedule_row {
    pawl_text   id; /* "QUEUE/NAME"; add does not need it */
    pawl_text   queue, name;
    pawl_text   cron, zone; /* or `every` */
    int64_t     every;
    pawl_missed missed;
    int32_t     missed_max; /* of PAWL_MISSED_ALL; for add 0: 100 */
    pawl_text   type, body;
    pawl_text   headers; /* of each message: JSON object of strings, or empty */
    /* The members below are not read by add. */
    pawl_time next; /* next planned time; 0: it is paused */
    bool      is_paused;
    bool      is_declared; /* in an application's table */
    /* The last operator who added, paused or resumed it. */
    pawl_text changed_by, changed_at, reason; /* empty: none; the time as RFC 3339 */
} pawl_schedule_row;

typedef struct pawl_schedule_rows {
    pawl_schedule_row *items;
    size_t             count;
} pawl_schedule_rows;

/* All schedules of the store, by id in the order of its bytes. */
PAWL_API pawl_code pawl_store_schedule_list(pawl_store *store, pawl_arena *arena,
                                            pawl_schedule_rows *rows, pawl_error *error);

/* Adds a schedule that is in no application's table, planned from `now` on. Its messages go to `queue`.
 *
 * PAWL_EDUPLICATE  a schedule of that queue and name exists; it stays.
 * PAWL_EINVAL      a name, the cron line, the zone, the interval, the policy or the message is invalid, or
 *                  `by` is empty. PAWL_ELIMIT: a text is too long, as the message's type.
 *                  PAWL_ENOTFOUND: the system has no such zone. */
PAWL_API pawl_code pawl_store_schedule_add(pawl_store *store, const pawl_schedule_row *row,
                                           pawl_text by, pawl_text reason, pawl_time now,
                                           pawl_error *error);

typedef enum pawl_schedule_action {
    PAWL_SCHEDULE_REMOVE,
    PAWL_SCHEDULE_PAUSE,  /* sends nothing until resumed */
    PAWL_SCHEDULE_RESUME, /* planned from `now` on: times during the pause do not count as missed */
    PAWL_SCHEDULE_RUN,    /* sends one message now, planned for `now`; the next time stays */
} pawl_schedule_action;

/* Applies the action to the schedule "QUEUE/NAME".
 *
 * PAWL_ENOTFOUND  there is no such schedule.
 * PAWL_EINVAL     REMOVE of a schedule in the table of a running program, which would add it
 *                 again; `by` is empty. */
PAWL_API pawl_code pawl_store_schedule_settle(pawl_store *store, pawl_text id,
                                              pawl_schedule_action action, pawl_text by,
                                              pawl_text reason, pawl_time now, pawl_error *error);

/* Types of the events that these calls append, one stream for each schedule. Headers: "by" and "reason".
 * The body of PAWL_SCHEDULE_REMOVED is the schedule's row as a JSON object. These events are
 * never deleted. */
#define PAWL_SCHEDULE_STREAMS "pawl.schedule" /* the name of a stream begins so, then a slash */
#define PAWL_SCHEDULE_ADDED "pawl.schedule_added"
#define PAWL_SCHEDULE_PAUSED "pawl.schedule_paused"
#define PAWL_SCHEDULE_RESUMED "pawl.schedule_resumed"
#define PAWL_SCHEDULE_REMOVED "pawl.schedule_removed"
#define PAWL_SCHEDULE_WAS_RUN "pawl.schedule_run"

/* Events of actions on the schedule "QUEUE/NAME", oldest first, also after its removal. */
PAWL_API pawl_code pawl_store_schedule_actions(pawl_store *store, pawl_text id, pawl_arena *arena,
                                               pawl_event_rows *rows, pawl_error *error);

/* The first time after `after` that a cron line names, in local time of `zone` (NULL: UTC);
 * PAWL_TIME_MAX when there is none. PAWL_EINVAL names the field, its value and what it may be, or the
 * zone; PAWL_ENOTFOUND: the system has no such zone. From any thread. */
PAWL_API pawl_code pawl_schedule_next(const char *cron, const char *zone, pawl_time after,
                                      pawl_time *next, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
