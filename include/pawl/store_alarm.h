/* store_alarm.h - alarms: events by which a process reports a lasting problem of an endpoint to other processes.
 *
 *     raise -> (others list the alarm) -> end
 *           -> (its worker ends, crashes or is replaced, or another one leads: the alarm is no longer valid)
 *
 * The library raises four: "breaker" while an endpoint's breaker is not closed, "retention" while its retention sweep
 * fails again and again, "route" while a receiver of its outbox is unavailable, and "inbound" while one of its processes
 * does not read its broker. Raising and ending an alarm each append an event to the stream "pawl.alarm/ENDPOINT".
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
    int64_t   epoch; /* of that worker; 0: any. An alarm of an earlier epoch is no longer valid */
    pawl_text
        lease; /* valid until another worker has the lease of that name; empty: no such condition */
} pawl_alarm;

typedef struct pawl_alarm_rows {
    pawl_alarm *items;
    size_t      count;
} pawl_alarm_rows;

/* Types of the events. Headers: "by" (the worker), "reason" (the text), "what", and "epoch" and "lease" unless 0 or
 * empty. */
#define PAWL_ALARM_STREAMS "pawl.alarm"
#define PAWL_ALARM_RAISED "pawl.alarm_raised"
#define PAWL_ALARM_ENDED "pawl.alarm_ended"

/* Most events that are read of an endpoint's stream for its valid alarms: from the last one back to the start of the
 * oldest of its workers. */
#define PAWL_ALARM_EVENTS_MAX 4096

/* Raises an alarm; `since` is the time of the event. It replaces a valid alarm of the same worker, endpoint and
 * `what`.
 * PAWL_ECONFLICT     other processes wrote alarms of the endpoint at each try
 * PAWL_EINVAL, PAWL_ELIMIT  the endpoint is empty; the text is too long
 * PAWL_EUNSUPPORTED  the store has no events */
PAWL_API pawl_code pawl_store_alarm_raise(pawl_store *store, const pawl_alarm *alarm,
                                          pawl_error *error);
/* Ends an alarm. Errors as of raise. */
PAWL_API pawl_code pawl_store_alarm_end(pawl_store *store, const pawl_alarm *alarm,
                                        pawl_error *error);

/* The valid alarms of live workers, in the arena, for each endpoint the latest first. Makes one read for each endpoint
 * that has workers, and one of the leases if an alarm names a lease. */
PAWL_API pawl_code pawl_store_alarms(pawl_store *store, pawl_arena *arena, pawl_alarm_rows *rows,
                                     pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
