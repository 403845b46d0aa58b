/* alarm.h - an alarm of an endpoint: what holds, and what the store says of it.
 *
 *     want, unwant       what holds now
 *     next -> (the store is told) -> note         each step, whether or not anything changed
 *
 * The store's word is bound to the row of the worker that wrote it: an alarm whose handle was closed is told once more
 * through the next one. An alarm that comes and goes is raised again after a pause, which grows, since each raise and
 * each end is an event that stays; an end is never put off.
 *
 * Threads: as the alarm's owner's: the service, or for the breaker any worker, under the endpoint's mutex.
 * Tests: tests/unit/outbox/test_runtime_away.c, tests/unit/runtime/test_runtime_breaker.c, test_runtime_retention.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_ALARM_H
#define PAWL_RUNTIME_ALARM_H

#include "pawl/endpoint.h"
#include "pawl/limits.h"
#include "pawl/store_alarm.h"

/* With the worker's id it is as long as the reason of an event may be. */
#define PAWL__ALARM_WHY_SIZE (PAWL_ERROR_TEXT_SIZE_MAX - PAWL_UUID_TEXT_SIZE)

/* All zero at first. */
typedef struct pawl__alarm {
    bool           is_wanted, is_told;
    bool           is_longer;             /* than the text that was told, or with another count */
    size_t         subject, told_subject; /* which of several the text is about */
    pawl_worker_id by;                    /* whose row the store's word is bound to */
    int64_t        epoch;
    int64_t        raised, pause, try_due; /* by pawl__watch_now */
    size_t         reasons_size;           /* of `why`; behind them is how many more there are */
    char           why[PAWL__ALARM_WHY_SIZE];
} pawl__alarm;

typedef enum pawl__alarm_act {
    PAWL__ALARM_NOTHING,
    PAWL__ALARM_RAISE,
    PAWL__ALARM_END,
} pawl__alarm_act;

/* The alarm holds, for this subject and reason, until unwant. The first subject and reason stay; a long one is cut. */
void pawl__alarm_want(pawl__alarm *alarm, size_t subject, pawl_text why);
/* The alarm holds for another reason as well, which is not in the text: that is told again when an alarm may be raised, and
 * until then the shorter one stands. A reason for which there is no room is left out; `more` is to be called then. */
void pawl__alarm_add(pawl__alarm *alarm, pawl_text why);
/* The alarm holds for so many reasons that are not in the text. */
void pawl__alarm_more(pawl__alarm *alarm, size_t count);
void pawl__alarm_unwant(pawl__alarm *alarm);
/* The worker has gone, and the alarm with it. */
void pawl__alarm_forget(pawl__alarm *alarm, pawl_worker_id worker);
/* The handle's worker has another epoch than when it raised the alarm, which went with that one. */
void pawl__alarm_check_epoch(pawl__alarm *alarm, const pawl_store *store);
/* The act that is due. */
pawl__alarm_act pawl__alarm_next(const pawl__alarm *alarm, int64_t now);
/* The alarm as the store is told it: one that was raised is ended in the name of the worker that raised it. */
pawl_alarm pawl__alarm_of(const pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                          const pawl_endpoint *endpoint, pawl_text what);
/* Does the act in the store. */
pawl_code pawl__alarm_tell(pawl_store *store, const pawl_alarm *told, pawl__alarm_act act,
                           pawl_error *error);
/* Enters what the act came to. */
void pawl__alarm_note(pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                      pawl_code code, int64_t now);

#endif
