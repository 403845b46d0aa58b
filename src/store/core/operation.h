/* operation.h - checks that every public operation makes before it asks the store.
 *
 * Threads: as the handle's.
 * Tests: tests/unit/store/test_store_operations.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_OPERATION_H
#define PAWL_STORE_CORE_OPERATION_H

#include "pawl/operations.h"
#include "pawl/store_driver.h"

/* A change set of one unit, which is a group: { PAWL__ONE_UNIT(now), ... }. */
#define PAWL__ONE_UNIT(now_) .now = (now_), .group_count = 1, .unit_count = 1
/* Commits one change. Needs `store`, `now` and `error` in scope. */
#define PAWL__COMMIT_ONE(kind, change)                                                          \
    pawl_store_commit(store, &(pawl_changes){PAWL__ONE_UNIT(now), .kind = {(change), 1}}, NULL, \
                      error)

/* Gives the handle a worker when it has none: before its first claim. */
pawl_code pawl__store_attach(pawl_store *store, pawl_time now, pawl_error *error);
/* An id that no other handle makes. */
pawl_uuid pawl__store_new_id(pawl_store *store, pawl_time now);

/* PAWL_EINVAL unless positive; `what` names the operation. */
pawl_code pawl__operation_lease(const char *what, int64_t lease, pawl_error *error);
pawl_code pawl__operation_size(const char *what, int64_t size, pawl_error *error);

#endif
