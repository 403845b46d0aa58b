/* store_alarm.h - alarms: what an endpoint's process says of itself in the store, so that others can see it.
 *
 *     raise -> (others list it) -> end
 *           -> (its worker ends, crashes or is replaced, or another one leads: it stands no more)
 *
 * The library raises four: "breaker" while an endpoint's breaker is not closed, "retention" while its clean-up
 * fails again and again, "route" while a receiver of its outbox is unavailable, and "inbound" while a process of it takes
 * nothing from its broker. Each is an event in the stream "pawl.alarm/ENDPOINT", and its end is another.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/alarm.c, tests/unit/runtime/test_runtime_breaker.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ALARM_H
#define PAWL_STORE_ALARM_H

#include "pawl/store.h"
#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_alarm {
    pawl_worker_id worker; /* of the process that raised it */
    pawl_text      endpoint;
    pawl_text      what; /* "breaker" */
    pawl_text
        text; /* the last failure; PAWL_ERROR_TEXT_SIZE_MAX bytes with the worker's id at most */
    pawl_time since;
    int64_t   epoch; /* of that worker; 0: any. An alarm of an earlier epoch stands no more */
    pawl_text
        lease; /* stands until another worker has the lease of that name; empty: whoever leads */
} pawl_alarm;

typedef struct pawl_alarm_rows {
    pawl_alarm *items;
    size_t      count;
} pawl_alarm_rows;

/* Types of the events. Headers: "by" (the worker), "reason" (the text), "what", and unless they are 0 and empty "epoch"
 * and "lease". */
#define PAWL_ALARM_STREAMS "pawl.alarm"
#define PAWL_ALARM_RAISED "pawl.alarm_raised"
#define PAWL_ALARM_ENDED "pawl.alarm_ended"

/* Of each endpoint's stream so many of the last events are read for alarms that stand, at most: back to the time at which
 * the first of its workers was started. */
#define PAWL_ALARM_EVENTS_MAX 4096

/* `since` is the time at which it is written. An alarm of the same worker, endpoint and kind that stands
 * already is raised anew.
 * PAWL_ECONFLICT     others write alarms of the endpoint at this moment, again and again
 * PAWL_EINVAL, PAWL_ELIMIT  no endpoint; the text is too long
 * PAWL_EUNSUPPORTED  the store has no events */
PAWL_API pawl_code pawl_store_alarm_raise(pawl_store *store, const pawl_alarm *alarm,
                                          pawl_error *error);
/* The errors of raise. */
PAWL_API pawl_code pawl_store_alarm_end(pawl_store *store, const pawl_alarm *alarm,
                                        pawl_error *error);

/* Alarms that stand, of workers that live, latest first of each endpoint; in the arena. One read for each
 * endpoint that has workers, and one of the leases where an alarm names one. */
PAWL_API pawl_code pawl_store_alarms(pawl_store *store, pawl_arena *arena, pawl_alarm_rows *rows,
                                     pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
