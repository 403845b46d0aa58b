/* call.c - the calls that claim, lease and write, and those on the handle itself. Reads
 * are in call_read.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* ---- The trace hook: without one a call only checks whether there is one -- */

static pawl_store_trace_fn *trace_function;
static void                *trace_context;

void pawl_store_trace_set(pawl_store_trace_fn *trace, void *context)
{
    trace_function = trace;
    trace_context  = context;
}

void pawl_store_trace_log(const pawl_store_call *call, void *context)
{
    char worker[PAWL_UUID_TEXT_SIZE + 1];
    (void)context;
    pawl_uuid_format(pawl_store_worker(call->store).uuid, worker);
    pawl_log(PAWL_LOG_DEBUG, "%s: worker %s: %s: %s after %lld us%s%s",
             pawl_store_scheme(call->store), worker, call->name, pawl_code_name(call->code),
             (long long)call->microseconds, call->text[0] != '\0' ? ": " : "", call->text);
}

static int64_t clock_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pawl__timing pawl__timing_begin(const char *name)
{
    return trace_function != NULL ? (pawl__timing){.name = name, .begin_us = clock_us()}
                                  : (pawl__timing){.name = NULL};
}

pawl_code pawl__timing_end(pawl__timing call, const pawl_store *store, pawl_code code,
                           const pawl_error *error)
{
    if (call.name == NULL)
        return code;
    const pawl_store_call told = {.store = store,
                                  .name  = call.name,
                                  .code  = code,
                                  .text  = code != PAWL_OK && error != NULL ? error->text : "",
                                  .microseconds = clock_us() - call.begin_us};
    trace_function(&told, trace_context);
    return code;
}

/* ---- Checks of a call ----------------------------------------------------- */

static const pawl_queue_rows   no_messages = {.count = 0};
static const pawl_timeout_rows no_timeouts = {.next_due = PAWL_TIME_MAX};
static const pawl_leased_batch no_snapshot = {.count = 0};
static const pawl_outbox_rows  no_outbox   = {.next_attempt = PAWL_TIME_MAX};

pawl_code pawl__store_call_needs(const pawl_store *store, bool is_there, const char *name,
                                 pawl_error *error)
{
    if (is_there)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNSUPPORTED, "driver '%s' has no %s", store->ops->scheme,
                          name);
}

pawl_code pawl__store_call_begin(pawl_store *store, bool is_there, const char *name,
                                 pawl_error *error)
{
    pawl__timing *call = pawl__store_timing_of(store);
    *call              = pawl__timing_begin(name);
    call->refusal      = pawl__store_call_needs(store, is_there, name, error);
    if (call->refusal == PAWL_OK)
        call->refusal = pawl__store_call_ready(store, name, error);
    return call->refusal;
}

pawl_code pawl__store_call_done(pawl_store *store, pawl_code code, const pawl_error *error)
{
    return pawl__timing_end(*pawl__store_timing_of(store), store, code, error);
}

pawl_code pawl__store_call_fits(const pawl_store *store, pawl_code code, const char *name,
                                const void *items, size_t count, size_t count_max,
                                pawl_error *error)
{
    if (code == PAWL_OK && count > 0 && items == NULL)
        return pawl_error_set(error, PAWL_EPERSIST,
                              "driver '%s': %s answered %zu rows, and their array is NULL",
                              store->ops->scheme, name, count);
    if (code != PAWL_OK || count_max == 0 || count <= count_max)
        return code;
    return pawl_error_set(error, PAWL_EPERSIST, "driver '%s': %s answered %zu rows, limit %zu",
                          store->ops->scheme, name, count, count_max);
}

/* ---- Checks of operations ------------------------------------------------ */

pawl_code pawl__operation_lease(const char *what, int64_t lease, pawl_error *error)
{
    if (lease > 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s: the lease is %lld microseconds, at least 1 is needed", what,
                          (long long)lease);
}

pawl_code pawl__operation_size(const char *what, int64_t size, pawl_error *error)
{
    if (size > 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s: the size is %lld, at least 1 is needed", what,
                          (long long)size);
}

/* ---- The handle ---------------------------------------------------------- */

unsigned pawl_store_promises(const pawl_store *store)
{
    return store->ops->promises | (store->waits_long ? PAWL_STORE_WAITS_LONG : 0);
}

const char *pawl_store_scheme(const pawl_store *store)
{
    return store->ops->scheme;
}

const char *pawl_store_identity(const pawl_store *store)
{
    return store->identity;
}

pawl_worker_id pawl_store_worker(const pawl_store *store)
{
    return store->worker;
}

int64_t pawl_store_epoch(const pawl_store *store)
{
    return store->epoch;
}

void pawl_store_worker_set(pawl_store *store, pawl_worker_id worker)
{
    store->worker = worker;
}

bool pawl_store_is_attached(const pawl_store *store)
{
    return store->is_attached;
}

/* ---- Workers ------------------------------------------------------------- */

pawl_code pawl_store_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                 pawl_time now, pawl_error *error)
{
    pawl_code code = PAWL__CALL(worker_open, endpoint, types, now);
    if (code == PAWL_OK) {
        store->is_attached                      = true;
        pawl__store_state_of(store)->is_implied = false;
    }
    return PAWL__CALL_DONE(code);
}

pawl_code pawl_store_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    pawl_code code = PAWL__CALL(worker_close, now);
    if (code == PAWL_OK)
        store->is_attached = pawl__store_state_of(store)->is_implied = false;
    return PAWL__CALL_DONE(code);
}

pawl_code pawl_store_worker_heartbeat(pawl_store *store, const pawl_worker_id *workers,
                                      size_t count, pawl_time now, pawl_error *error)
{
    pawl_code code = PAWL__CALL(worker_heartbeat, workers, count, now);
    return PAWL__CALL_DONE(code);
}

/* No `ready` here: the driver's resolve reconnects by itself, as often as necessary. */
pawl_code pawl_store_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                             pawl_error *error)
{
    *is_applied                   = false;
    *pawl__store_timing_of(store) = pawl__timing_begin("resolve");
    pawl_code code                = pawl__store_call_check(store, "resolve", error);
    if (code == PAWL_OK)
        code = store->ops->resolve(store, commit_id, is_applied, error);
    return PAWL__CALL_END(code, is_applied, false);
}

/* ---- Claims -------------------------------------------------------------- */

pawl_code pawl_store_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                 pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    *rows          = no_messages;
    pawl_code code = PAWL__CALL(queue_claim, claim, arena, rows);
    code           = pawl__store_call_fits(store, code, "queue_claim", rows->items, rows->count,
                                           claim->count_max, error);
    return PAWL__CALL_END(code, rows, no_messages);
}

pawl_code pawl_store_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                   pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    *rows          = no_timeouts;
    pawl_code code = PAWL__CALL_BEGIN(timeout_claim);
    if (code == PAWL_OK)
        code = pawl__operation_lease("claim of timeouts", claim->lease, error);
    if (code == PAWL_OK && pawl_uuid_is_zero(claim->owner.uuid))
        code = pawl_error_set(error, PAWL_EINVAL, "claim of timeouts: the owner is zero");
    if (code == PAWL_OK)
        code = store->ops->timeout_claim(store, claim, arena, rows, error);
    code = pawl__store_call_fits(store, code, "timeout_claim", rows->items, rows->count,
                                 claim->count_max, error);
    return PAWL__CALL_END(code, rows, no_timeouts);
}

pawl_code pawl_store_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                  pawl_error *error)
{
    *count         = 0;
    pawl_code code = PAWL__CALL(timeout_reap, now, count);
    return PAWL__CALL_END(code, count, 0);
}

static pawl_code check_snapshot(const pawl_leased_batch_claim *claim, pawl_error *error)
{
    if (claim->lease <= 0)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "leased batch of '%.*s': the lease is %lld microseconds, at least 1 is "
            "needed",
            PAWL_TEXT_ARGS(claim->partition), (long long)claim->lease);
    if (pawl_uuid_is_zero(claim->session.uuid))
        return pawl_error_set(error, PAWL_EINVAL, "leased batch of '%.*s': the session is zero",
                              PAWL_TEXT_ARGS(claim->partition));
    return PAWL_OK;
}

pawl_code pawl_store_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                        pawl_arena *arena, pawl_leased_batch *leased,
                                        pawl_error *error)
{
    *leased        = no_snapshot;
    pawl_code code = PAWL__CALL_BEGIN(leased_batch_claim);
    if (code == PAWL_OK)
        code = check_snapshot(claim, error);
    if (code == PAWL_OK)
        code = store->ops->leased_batch_claim(store, claim, arena, leased, error);
    code = pawl__store_call_fits(store, code, "leased_batch_claim", leased->items, leased->count,
                                 claim->count_max, error);
    return PAWL__CALL_END(code, leased, no_snapshot);
}

pawl_code pawl_store_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                  size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                  pawl_error *error)
{
    *rows          = no_outbox;
    pawl_code code = PAWL__CALL(outbox_claim, endpoint, now, count_max, arena, rows);
    code = pawl__store_call_fits(store, code, "outbox_claim", rows->items, rows->count, count_max,
                                 error);
    return PAWL__CALL_END(code, rows, no_outbox);
}

/* ---- Leads --------------------------------------------------------------- */

static pawl_code check_lead(pawl_text name, pawl_error *error)
{
    if (name.size != 0 && name.size <= PAWL_NAME_SIZE_MAX)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "lead: its name has %zu bytes, limit 1 to %d",
                          name.size, PAWL_NAME_SIZE_MAX);
}

pawl_code pawl_store_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                          bool *is_ours, pawl_error *error)
{
    *is_ours       = false;
    pawl_code code = PAWL__CALL_BEGIN(lead);
    if (code == PAWL_OK)
        code = check_lead(name, error);
    if (code == PAWL_OK)
        code = pawl__operation_lease("lead", lease, error);
    if (code == PAWL_OK)
        code = store->ops->lead(store, name, now, lease, is_ours, error);
    return PAWL__CALL_END(code, is_ours, false);
}

pawl_code pawl_store_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    pawl_code code = PAWL__CALL_BEGIN(unlead);
    if (code == PAWL_OK)
        code = check_lead(name, error);
    if (code == PAWL_OK)
        code = store->ops->unlead(store, name, error);
    return PAWL__CALL_DONE(code);
}

/* ---- Numbering and sweeping ---------------------------------------------- */

pawl_code pawl_store_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                  pawl_error *error)
{
    *count         = 0;
    pawl_code code = PAWL__CALL(event_number, count_max, count);
    return PAWL__CALL_END(code, count, 0);
}

pawl_code pawl_store_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                           pawl_error *error)
{
    *count         = 0;
    *more          = false;
    pawl_code code = PAWL__CALL(sweep, sweep, count, more);
    if (code != PAWL_OK)
        *more = false;
    if (code != PAWL_OK &&
        sweep->bodies_cursor != NULL) /* the transaction that swept this page was rolled back */
        sweep->bodies_cursor->size = 0;
    return PAWL__CALL_END(code, count, 0);
}

/* ---- Waiting ------------------------------------------------------------- */

/* For drivers without `wait`: ends when the time is over, or after a commit of this process. */
static pawl_code wait_without_driver(int64_t microseconds, int wake_fd, pawl_error *error)
{
    struct pollfd wake         = {.fd = wake_fd, .events = POLLIN};
    int64_t       milliseconds = microseconds > 0 ? (microseconds + 999) / 1000 : 0;
    if (poll(&wake, 1, milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX) < 0 &&
        errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "wait: %s", strerror(errno));
    return PAWL_OK;
}

pawl_code pawl_store_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    *pawl__store_timing_of(store) = pawl__timing_begin("wait");
    pawl_code code                = store->waits_long ? pawl__store_call_check(store, "wait", error)
                                                      : pawl__store_call_ready(store, "wait", error);
    if (code == PAWL_OK)
        code = store->ops->wait != NULL ? store->ops->wait(store, microseconds, wake_fd, error)
                                        : wait_without_driver(microseconds, wake_fd, error);
    return PAWL__CALL_DONE(code);
}

/* Not in a child process: its descriptors are the parent's, which would be woken. */
void pawl_store_interrupt(pawl_store *store)
{
    if (store->ops->interrupt != NULL && pawl__store_call_is_ours(store))
        store->ops->interrupt(store);
}

/* ---- SQL of one's own ---------------------------------------------------- */

pawl_code pawl_store_handler_transaction_begin(pawl_store *store, pawl_error *error)
{
    pawl_code code = PAWL__CALL_BEGIN(handler_transaction_begin);
    if (code == PAWL_OK)
        code = store->ops->handler_transaction_begin(store, error);
    pawl__store_state_of(store)->has_own_sql |= code == PAWL_OK;
    return PAWL__CALL_DONE(code);
}

void pawl_store_handler_transaction_end(pawl_store *store)
{
    pawl__store_state_of(store)->has_own_sql = false;
    if (store->ops->handler_transaction_end != NULL && pawl__store_call_is_ours(store))
        store->ops->handler_transaction_end(store);
}

bool pawl_store_in_transaction(pawl_store *store)
{
    return store->ops->in_transaction == NULL || !pawl__store_call_is_ours(store) ||
           store->ops->in_transaction(store);
}

bool pawl_store_handler_transaction_lost(pawl_store *store)
{
    return store->ops->handler_transaction_lost != NULL && pawl__store_call_is_ours(store) &&
           store->ops->handler_transaction_lost(store);
}

const char *pawl_store_native_type(const pawl_store *store)
{
    return store->ops->native != NULL ? store->ops->native_type : NULL;
}

void *pawl_store_native(pawl_store *store, const char *type)
{
    const char *own = pawl_store_native_type(store);
    if (own == NULL || type == NULL || !pawl__store_call_is_ours(store))
        return NULL;
    return strcmp(own, type) == 0 ? store->ops->native(store) : NULL;
}

bool pawl_store_can_enlist(const pawl_store *store)
{
    return store->ops->enlist != NULL;
}

pawl_code pawl_store_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                            pawl_error *error)
{
    pawl_code code = PAWL__CALL_BEGIN(enlist);
    if (code == PAWL_OK && native == NULL)
        code = pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    if (code == PAWL_OK)
        code = pawl_changes_check(changes, error);
    if (code == PAWL_OK)
        code = store->ops->enlist(store, native, changes, error);
    return PAWL__CALL_DONE(code);
}
