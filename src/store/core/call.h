/* call.h - how a call of a store begins, whatever it is about, and what the operations made of such calls share.
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
pawl_code pawl__store_call_may(pawl_store *store, const char *name, pawl_error *error);
/* The same; then asks the driver for its connection. */
pawl_code pawl__store_call_ready(pawl_store *store, const char *name, pawl_error *error);
/* Whether this process opened the handle: a child after fork() did not. */
bool pawl__store_call_is_ours(const pawl_store *store);

/* A call of which the trace hook is told when it ends; without a name when there was no hook. */
typedef struct pawl__timing {
    const char *name;
    int64_t     begin_us;
    pawl_code   refusal; /* of the handle, before the driver is asked */
} pawl__timing;

pawl__timing pawl__timing_begin(const char *name);
/* Answers `code`. */
pawl_code pawl__timing_end(pawl__timing call, const pawl_store *store, pawl_code code,
                           const pawl_error *error);

/* Both checks for the entry of that name. Needs `store` and `error` in scope, as the end does. */
#define PAWL__CALL_BEGIN(entry) \
    pawl__store_call_begin(store, store->ops->entry != NULL, #entry, error)
pawl_code pawl__store_call_begin(pawl_store *store, bool is_there, const char *name,
                                 pawl_error *error);

/* Both checks, and then the entry with these arguments between the store and the error. */
#define PAWL__CALL(entry, ...)                                                         \
    (PAWL__CALL_BEGIN(entry) == PAWL_OK ? store->ops->entry(store, __VA_ARGS__, error) \
                                        : pawl__store_timing_of(store)->refusal)

/* The end of each call that begins so. Answers `code`. */
#define PAWL__CALL_DONE(code) pawl__store_call_done(store, code, error)
pawl_code pawl__store_call_done(pawl_store *store, pawl_code code, const pawl_error *error);
/* The handle's call that is under way: only commit makes another one inside of its own. */
pawl__timing *pawl__store_timing_of(pawl_store *store);

/* Of a handle; its driver does not see it. */
typedef struct pawl__handle_state {
    bool is_implied;  /* the core opened the worker, as the caller opened none */
    bool has_own_sql; /* a handler transaction was begun, and has not ended */
} pawl__handle_state;
pawl__handle_state *pawl__store_state_of(pawl_store *store);

/* The same; after a failure `*out` shows nothing of what the driver read. */
#define PAWL__CALL_END(code, out, none) \
    (PAWL__CALL_DONE(code) == PAWL_OK ? PAWL_OK : (*(out) = (none), (code)))

/* The same for an array of answers. */
#define PAWL__CALL_EMPTY(items, count, none)    \
    do {                                        \
        for (size_t at = 0; at < (count); at++) \
            (items)[at] = (none);               \
    } while (false)

/* `code`, or PAWL_EPERSIST when the driver answered more rows than it was asked for: callers have room for no more.
 * A limit of 0 is none. */
pawl_code pawl__store_call_fits(const pawl_store *store, pawl_code code, const char *name,
                                size_t count, size_t count_max, pawl_error *error);

/* ---- Operations ---------------------------------------------------------- */

/* A change set of one unit, which is a group: { PAWL__ONE_UNIT(now), ... }. */
#define PAWL__ONE_UNIT(now_) .now = (now_), .group_count = 1, .unit_count = 1
/* Commits one change. Needs `store`, `now` and `error` in scope. */
#define PAWL__COMMIT_ONE(kind, change)                                                          \
    pawl_store_commit(store, &(pawl_changes){PAWL__ONE_UNIT(now), .kind = {(change), 1}}, NULL, \
                      error)

/* Gives the handle a worker when it has none: before its first claim. */
pawl_code pawl__store_attach(pawl_store *store, pawl_time now, pawl_error *error);
/* Opens that worker anew where `code` is PAWL_EFENCED: its row was swept while the handle was idle. True: the call, which
 * did nothing, may be made again; `*code` is PAWL_OK then, and else what is to be answered. */
bool pawl__store_attach_again(pawl_store *store, pawl_time now, pawl_code *code, pawl_error *error);
/* An id that no other handle makes. */
pawl_uuid pawl__store_new_id(pawl_store *store, pawl_time now);

/* PAWL_EINVAL unless positive; `what` names the operation. */
pawl_code pawl__operation_lease(const char *what, int64_t lease, pawl_error *error);
pawl_code pawl__operation_size(const char *what, int64_t size, pawl_error *error);

#endif
