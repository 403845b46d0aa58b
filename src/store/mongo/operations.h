/* operations.h - the entries of the driver's table, as store_driver.h says.
 *
 * Threads: as the store: one thread at a time; interrupt() alone from another one.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MONGO_OPERATIONS_H
#define PAWL_MONGO_OPERATIONS_H

#include "pawl/store_history.h"
#include "store/mongo/mongo.h"

#define ENTRY(name, ...) \
    pawl_code pawl__mongo_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY

void pawl__mongo_interrupt(pawl_store *store);

#endif
