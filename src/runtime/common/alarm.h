/* alarm.h - keeps an alarm of an endpoint in the store up to date: raises it, changes its text, ends it.
 *
 *     want, unwant             set whether there is a problem now
 *     next -> tell -> note     in each step: writes to the store what has changed
 *
 * An alarm in the store is valid as long as the row of the worker that wrote it. So after the handle was closed, it is
 * raised again with the next one. An alarm that comes and goes is raised again only after a growing pause, since each
 * raise and each end is a stored event; an end is written at once.
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

/* Together with the worker's id, the maximum length of an event's reason. */
#define PAWL__ALARM_WHY_SIZE (PAWL_ERROR_TEXT_SIZE_MAX - PAWL_UUID_TEXT_SIZE)

/* All zero at first. */
typedef struct pawl__alarm {
    bool   is_wanted, is_raised;
    bool   is_longer;               /* the text or the count has changed since it was raised */
    size_t subject, raised_subject; /* the subject of the text, and that of the text in the store */
    pawl_worker_id by;              /* the worker that raised it */
    int64_t        epoch;
    int64_t        raised, pause, try_due; /* by pawl__watch_now */
    size_t         reasons_size;           /* of `why`, without the "and 3 more" after them */
    char           why[PAWL__ALARM_WHY_SIZE];
} pawl__alarm;

typedef enum pawl__alarm_act {
    PAWL__ALARM_NOTHING,
    PAWL__ALARM_RAISE,
    PAWL__ALARM_END,
} pawl__alarm_act;

/* Sets the alarm, until unwant. Keeps the first subject and reason; cuts a long one. */
void pawl__alarm_want(pawl__alarm *alarm, size_t subject, pawl_text why);
/* Adds a reason. The store keeps the shorter text until an alarm may be raised again. If there is no room, the reason
 * is left out: call `more` then. */
void pawl__alarm_add(pawl__alarm *alarm, pawl_text why);
/* Sets the number of reasons that are not in the text. */
void pawl__alarm_more(pawl__alarm *alarm, size_t count);
void pawl__alarm_unwant(pawl__alarm *alarm);
/* Called when the worker's row is gone, and the alarm with it. */
void pawl__alarm_forget(pawl__alarm *alarm, pawl_worker_id worker);
/* Forgets the alarm in the store if the worker's epoch has changed since, as the alarm went with the old one. */
void pawl__alarm_check_epoch(pawl__alarm *alarm, const pawl_store *store);
/* The write that is due. */
pawl__alarm_act pawl__alarm_next(const pawl__alarm *alarm, int64_t now);
/* The alarm to write. It is ended in the name of the worker that raised it. */
pawl_alarm pawl__alarm_of(const pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                          const pawl_endpoint *endpoint, pawl_text what);
/* Writes the act to the store. */
pawl_code pawl__alarm_write(pawl_store *store, const pawl_alarm *alarm, pawl__alarm_act act,
                            pawl_error *error);
/* Notes the result of the write. */
void pawl__alarm_note(pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                      pawl_code code, int64_t now);

#endif
