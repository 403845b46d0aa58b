/* retention.c - deletes old rows, a bounded number at a time, and releases expired leases of timeouts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/retention/retention.h"
#include "runtime/schedule/schedule.h"

#include "base/text.h"
#include "store/core/core.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_PERIOD PAWL_MINUTES(1)
#define SWEEP_PERIOD_IDLE PAWL_MINUTES(5) /* on a server, if nothing is old */
#define SWEEP_COUNT_MAX 2000
#define SWEEP_FAILURES_MAX 10 /* in a row, before the critical action is called */
/* While many rows are old, a sweep may take this part of the time, less than a tenth. On an SQLite file of 560 MB, 750
 * rows of each kind per second were deleted then; with more new rows per second for days, the file grows. */
#define SWEEP_SHARE 12
#define WORKER_RETENTION PAWL_DAYS(1)

/* ---- Turns -------------------------------------------------------------- */

/* For services of one process on one store with PAWL_STORE_WAITS_LONG, whose idle sessions are lent: only one service
 * per set of settings sweeps, and one releases leases, so that many endpoints cost no more than one. If it has not done
 * so for two periods, another one takes over. */
#define SETTINGS 3
typedef struct turn {
    struct turn         *next;
    const pawl__service *owner;
    pawl_time            taken;
    int64_t              settings[SETTINGS]; /* of a sweep; zero for the release of leases */
    char                 identity[];
} turn;

static const int64_t leases[SETTINGS] = {-1, -1, -1};

static pthread_mutex_t turns_mutex = PTHREAD_MUTEX_INITIALIZER;
static turn           *turns; /* never freed */

static turn *find_turn(const char *identity, const int64_t settings[SETTINGS])
{
    turn *found = turns;
    while (found != NULL && (memcmp(found->settings, settings, sizeof found->settings) != 0 ||
                             strcmp(found->identity, identity) != 0))
        found = found->next;
    size_t size = strlen(identity) + 1;
    if (found != NULL || (found = pawl_allocate(sizeof *found + size)) == NULL)
        return found;
    memcpy(found->identity, identity, size);
    memcpy(found->settings, settings, sizeof found->settings);
    found->next = turns;
    turns       = found;
    return found;
}

/* Is it this service's turn? Also true if memory is short, or the clock was set back. */
static bool take_turn(const pawl__service *service, const int64_t settings[SETTINGS], pawl_time now,
                      int64_t period)
{
    if (!pawl__store_waits_long(service->store))
        return true;
    pthread_mutex_lock(&turns_mutex);
    turn *found   = find_turn(pawl_store_identity(service->store), settings);
    bool  is_ours = found == NULL || found->owner == NULL || found->owner == service ||
                   now < found->taken || now - found->taken >= 2 * period;
    if (is_ours && found != NULL) {
        found->owner = service;
        found->taken = now;
    }
    pthread_mutex_unlock(&turns_mutex);
    return is_ours;
}

/* ---- Deduplication records of all endpoints ------------------------------- */

/* How long records are kept by this subscription; 0: it is of another kind. */
static int64_t kept_by(pawl_text type)
{
    pawl_text number = pawl__text_behind(type, PAWL__RETENTION_TYPE);
    return number.size > 0 ? strtoll(number.data, NULL, 10) : 0;
}

/* The longest time for which an endpoint of the store keeps records. Endpoints of older programs have no such
 * subscription; for them this endpoint's option counts. */
static pawl_code find_longest(pawl__service *service, pawl_arena *arena, int64_t *longest,
                              pawl_error *error)
{
    pawl_subscriptions list = {.count = 0};
    pawl_code          code = pawl_store_subscriptions(service->store, arena, &list, error);
    *longest                = service->endpoint->settings.inbox_retention;
    for (size_t i = 0; i < list.count; i++)
        if (kept_by(list.items[i].type) > *longest)
            *longest = kept_by(list.items[i].type);
    return code;
}

/* ---- The time of a sweep ------------------------------------------------- */

#define AHEAD_MAX PAWL_MINUTES(1) /* allowed, as clocks are set and machines sleep */
#define AHEAD_BELIEVED PAWL_DAYS(1)

pawl_time pawl__retention_time(pawl__sweep_clock *believed, pawl_time server, pawl_time recorded,
                               pawl_time now, int64_t monotonic)
{
    if (server != 0)
        return pawl__sooner(now, server);
    if (believed->time == 0)
        *believed = (pawl__sweep_clock){recorded != 0 ? recorded : now, monotonic, 0};
    pawl_time expected = pawl_time_add(believed->time, monotonic - believed->monotonic);
    bool      is_ahead = now > pawl_time_add(expected, AHEAD_MAX);
    if (is_ahead && believed->ahead == 0)
        believed->ahead = monotonic;
    if (is_ahead && monotonic - believed->ahead < AHEAD_BELIEVED)
        return expected;
    *believed = (pawl__sweep_clock){now, monotonic, 0};
    return now;
}

/* Finds the time of the sweep; a virtual clock is always believed. */
static pawl_code find_time(pawl__service *service, pawl_arena *arena, pawl_time *now,
                           pawl_error *error)
{
    const pawl_diagnosis asked = {.is_brief = true, .is_time = true}; /* to get the server's time */
    pawl_finding_rows    rows  = {.count = 0};
    pawl_time            server = 0, recorded = 0;
    if (service->endpoint->settings.machine != NULL)
        return PAWL_OK;
    pawl_code code = pawl_store_diagnose(service->store, &asked, arena, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, PAWL_TEXT("clock")))
            server = rows.items[i].value;
        else if (pawl_text_equal(rows.items[i].name, PAWL_TEXT("recorded")))
            recorded = rows.items[i].value;
    if (code != PAWL_OK && code != PAWL_EUNSUPPORTED)
        return code;
    *now = pawl__retention_time(&service->believed, server, recorded, *now, pawl__monotonic_now());
    return PAWL_OK;
}

/* ---- Sweeping ----------------------------------------------------------- */

/* Is the store handle lost? Then the failure is returned, and the handle opened again. */
static bool is_handle_lost(pawl_code code)
{
    return code == PAWL_ELOST || code == PAWL_EUNKNOWN || code == PAWL_EFENCED ||
           code == PAWL_EUNREACHABLE;
}

/* A failed clean-up stops nothing, but is reported if it goes on, as the tables only grow then (O29). */
static pawl_code report_failed_sweep(pawl__service *service, pawl_code code,
                                     const pawl_error *error)
{
    const pawl_endpoint_options *settings = &service->endpoint->settings;
    pawl_log(PAWL_LOG_WARNING, "retention of %s: %s", service->endpoint->model->endpoint.data,
             error->text);
    if (++service->sweep_failures == SWEEP_FAILURES_MAX) {
        pawl__alarm_want(&service->sweep_alarm, 0, pawl_text_of(error->text));
        service->sweep_failures = 0;
        if (settings->critical != NULL)
            pawl__app_call_critical(&service->app_call, service->endpoint, "retention", error);
        else
            pawl_log(PAWL_LOG_ERROR, "retention of %s failed %d times in a row: %s",
                     service->endpoint->model->endpoint.data, SWEEP_FAILURES_MAX, error->text);
    }
    return is_handle_lost(code) ? code : PAWL_OK;
}

/* Sweeps by time `now`; deletes deduplication records only if no endpoint keeps them for so long. */
static pawl_code sweep_by(pawl__service *service, pawl_time now, int64_t longest, int64_t *outbox,
                          int64_t *count, bool *more, pawl_error *error)
{
    const pawl_endpoint_options *settings = &service->endpoint->settings;
    const pawl_sweep             request  = {
                     .inbox_before   = pawl_time_add(now, -longest),
                     .outbox_before  = pawl_time_add(now, -settings->outbox_retention),
                     .workers_before = pawl_time_add(now, -WORKER_RETENTION),
                     .count_max      = SWEEP_COUNT_MAX,
                     .outbox_count   = outbox,
                     .history_before = settings->history > 0 ? pawl_time_add(now, -settings->history) : 0,
                     .bodies_before =
            settings->body_retention > 0 ? pawl_time_add(now, -settings->body_retention) : 0,
                     .bodies_cursor = &service->bodies_cursor};
    return pawl_store_sweep(service->store, &request, count, more, error);
}

/* Sweeps a bounded number of rows; if more are left, the next sweep follows soon. */
static pawl_code sweep(pawl__service *service, pawl_time now, pawl_error *error)
{
    const pawl_endpoint_options *settings = &service->endpoint->settings;
    pawl_time                    by       = now;
    int64_t                      outbox   = 0;
    int64_t                      count    = 0;
    int64_t                      longest  = 0;
    bool                         more     = false;
    pawl_error                   failure  = PAWL_ERROR_INIT;
    if (now < service->sweep_due)
        return PAWL_OK;
    service->sweep_due = pawl_time_add(now, SWEEP_PERIOD_IDLE);
    pawl__endpoint_end_lost(service->endpoint);
    const int64_t kept[SETTINGS] = {settings->outbox_retention, settings->history,
                                    settings->body_retention};
    if (!take_turn(service, kept, now, SWEEP_PERIOD_IDLE))
        return PAWL_OK;
    int64_t     begin = pawl__monotonic_now();
    pawl_arena *arena = pawl_arena_create(0); /* not service->arena, which never shrinks */
    pawl_code   code  = arena != NULL ? find_longest(service, arena, &longest, &failure)
                                      : pawl_error_set(&failure, PAWL_ENOMEM, "no memory for a sweep");
    if (code == PAWL_OK)
        code = find_time(service, arena, &by, &failure);
    if (code == PAWL_OK)
        code = sweep_by(service, by, longest, &outbox, &count, &more, &failure);
    if (code == PAWL_OK)
        code = pawl__schedules_check(service->endpoint, service->store, arena, &failure);
    pawl_arena_destroy(arena);
    int64_t pause = (pawl__monotonic_now() - begin) * (SWEEP_SHARE - 1);
    if (settings->machine != NULL) /* a virtual clock does not advance by itself */
        pause = 0;
    bool    is_idle    = code == PAWL_OK && count == 0 && pawl__store_keeps_wake(service->store);
    int64_t period     = is_idle ? SWEEP_PERIOD_IDLE : SWEEP_PERIOD;
    service->sweep_due = pawl_time_add(now, more && code == PAWL_OK ? pause : period);
    if (count > 0)
        pawl_log(PAWL_LOG_DEBUG, "retention: %lld rows deleted", (long long)count);
    if (code == PAWL_OK) {
        pawl__metric_add(&service->endpoint->metrics, PAWL__METRIC_RETENTION_DELETED, 0, outbox);
        pawl__alarm_unwant(&service->sweep_alarm);
        service->sweep_failures = 0;
        return code;
    }
    code = report_failed_sweep(service, code, &failure);
    if (error != NULL)
        *error = failure;
    return code;
}

/* Releases expired leases, every quarter of the lease (T14). */
static pawl_code reap(pawl__service *service, pawl_time now, pawl_error *error)
{
    int64_t count = 0;
    if (now < service->reap_due)
        return PAWL_OK;
    int64_t period    = service->endpoint->settings.timeout_lease / 4;
    service->reap_due = pawl_time_add(now, period);
    if (!pawl__model_has_timeouts(service->endpoint->model) ||
        !take_turn(service, leases, now, period))
        return PAWL_OK;
    return pawl_store_timeout_reap(service->store, now, &count, error);
}

pawl_code pawl__retention_run(pawl__service *service, pawl_time now, pawl_error *error)
{
    pawl_code code = sweep(service, now, error);
    return code == PAWL_OK ? reap(service, now, error) : code;
}
