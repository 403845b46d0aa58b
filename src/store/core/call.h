/* call.h - the checks and the trace around each call of a driver's entry, and helpers of the operations in op_*.c.
 *
 * Threads: as the handle's.
 * Tests: tests/unit/store/test_store_calls.c, test_store_operations.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_CALL_H
#define PAWL_STORE_CORE_CALL_H

#include "pawl/operations.h"
#include "pawl/store_driver.h"

/* PAWL_EUNSUPPORTED unless `is_there`: whether the driver's table has the entry `name`. */
pawl_code pawl__store_call_needs(const pawl_store *store, bool is_there, const char *name,
                                 pawl_error *error);
/* PAWL_EINVAL in a process that did not open the handle, and on one that was opened for
 * its schema alone. */
pawl_code pawl__store_call_check(pawl_store *store, const char *name, pawl_error *error);
/* The same; then calls the driver's `ready`, which reconnects if necessary. */
pawl_code pawl__store_call_ready(pawl_store *store, const char *name, pawl_error *error);
/* Whether this process opened the handle: a child after fork() did not. */
bool pawl__store_call_is_ours(const pawl_store *store);

/* A call under way, reported to the trace hook when it ends. Without a hook the name is NULL. */
typedef struct pawl__timing {
    const char *name;
    int64_t     begin_us;
    pawl_code   refusal; /* code of the checks before the driver is called */
} pawl__timing;

pawl__timing pawl__timing_begin(const char *name);
/* Returns `code`. */
pawl_code pawl__timing_end(pawl__timing call, const pawl_store *store, pawl_code code,
                           const pawl_error *error);

/* Checks that the driver has the entry and that it is ready. Needs `store` and `error` in scope, as CALL_DONE does. */
#define PAWL__CALL_BEGIN(entry) \
    pawl__store_call_begin(store, store->ops->entry != NULL, #entry, error)
pawl_code pawl__store_call_begin(pawl_store *store, bool is_there, const char *name,
                                 pawl_error *error);

/* The same checks, then calls the entry with these arguments between store and error. */
#define PAWL__CALL(entry, ...)                                                         \
    (PAWL__CALL_BEGIN(entry) == PAWL_OK ? store->ops->entry(store, __VA_ARGS__, error) \
                                        : pawl__store_timing_of(store)->refusal)

/* Ends a call begun with CALL_BEGIN or CALL. Returns `code`. */
#define PAWL__CALL_DONE(code) pawl__store_call_done(store, code, error)
pawl_code pawl__store_call_done(pawl_store *store, pawl_code code, const pawl_error *error);
/* The handle's call under way. Only commit calls another entry inside its own call. */
pawl__timing *pawl__store_timing_of(pawl_store *store);

/* State of a handle that only the core sees, not the driver. */
typedef struct pawl__handle_state {
    bool is_implied;  /* the core opened the worker, as the caller opened none */
    bool has_own_sql; /* a handler transaction was begun, and has not ended */
} pawl__handle_state;
pawl__handle_state *pawl__store_state_of(pawl_store *store);

/* Like CALL_DONE; after a failure also resets `*out`, which the driver may have filled in part. */
#define PAWL__CALL_END(code, out, none) \
    (PAWL__CALL_DONE(code) == PAWL_OK ? PAWL_OK : (*(out) = (none), (code)))

/* Sets all results of an array to `none`. */
#define PAWL__CALL_EMPTY(items, count, none)    \
    do {                                        \
        for (size_t at = 0; at < (count); at++) \
            (items)[at] = (none);               \
    } while (false)

/* Returns `code`, or PAWL_EPERSIST if the driver returned more rows than asked for, since callers have no room for
 * them, or a count without an array. count_max 0: no limit. */
pawl_code pawl__store_call_fits(const pawl_store *store, pawl_code code, const char *name,
                                const void *items, size_t count, size_t count_max,
                                pawl_error *error);

/* ---- Operations ---------------------------------------------------------- */

/* Members of a change set with one unit and one group: { PAWL__ONE_UNIT(now), ... }. */
#define PAWL__ONE_UNIT(now_) .now = (now_), .group_count = 1, .unit_count = 1
/* Commits one change. Needs `store`, `now` and `error` in scope. */
#define PAWL__COMMIT_ONE(kind, change)                                                          \
    pawl_store_commit(store, &(pawl_changes){PAWL__ONE_UNIT(now), .kind = {(change), 1}}, NULL, \
                      error)

/* Opens a worker for the handle if it has none; called before claims and commits. */
pawl_code pawl__store_attach(pawl_store *store, pawl_time now, pawl_error *error);
/* If `*code` is PAWL_EFENCED, since the worker's row was swept while the handle was idle, opens the worker again. True:
 * the call had no effect and may be repeated, `*code` is PAWL_OK. False: the caller returns `*code`. */
bool pawl__store_attach_again(pawl_store *store, pawl_time now, pawl_code *code, pawl_error *error);
/* An id that no other handle makes. */
pawl_uuid pawl__store_new_id(pawl_store *store, pawl_time now);

/* PAWL_EINVAL unless positive; `what` names the operation. */
pawl_code pawl__operation_lease(const char *what, int64_t lease, pawl_error *error);
pawl_code pawl__operation_size(const char *what, int64_t size, pawl_error *error);

#endif
