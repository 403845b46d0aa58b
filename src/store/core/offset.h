/* offset.h - refuses sagas that are found by a time with an offset, on what has no columns for it (D17): the same
 * words on every store.
 *
 * Threads: plain data. Tests: tests/contract/test_saga_offset.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_OFFSET_H
#define PAWL_STORE_CORE_OFFSET_H

#include "pawl/store_driver.h"

/* PAWL_ECONFIG where one of the saga's properties asks for it; `product` is what has none. */
pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error);
/* The same of each saga, on a driver without the promise. */
pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error);

#endif
