/* reach.h - says that a program would not find sagas which live, or asks for columns that there are none of (D17): the
 * same words on every store.
 *
 *     pawl__reach_name* -> pawl__reach_refuse
 *
 * Threads: plain data. Tests: tests/unit/engine/test_engine_rename.c,
 * tests/contract/test_saga_offset.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_REACH_H
#define PAWL_STORE_CORE_REACH_H

#include "pawl/store_driver.h"

#define PAWL__REACH_NAMES_SIZE 200    /* cut where it is longer: it is for people */
#define PAWL__REACH_COUNT_MAX 1000000 /* a larger number would say no more */

/* Adds a property that the saga has no more, once: "a", then "a or b". */
void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property);
/* PAWL_ESCHEMA: `count` rows have values of these properties and none of the saga's. */
pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error);

/* A saga that is found by a time with an offset, on what has no columns for it: PAWL_ECONFIG where one of its
 * properties asks for it; `product` is what has none. */
pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error);
/* The same of each saga, on a driver without the promise. */
pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error);

#endif
