/* reach.h - refuses a program that could not find existing sagas, since a correlation property is gone, or that needs
 * offset columns which the store lacks (D17). Every store uses these texts.
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

#define PAWL__REACH_NAMES_SIZE 200    /* longer texts are cut */
#define PAWL__REACH_COUNT_MAX 1000000 /* counting ends here */

/* Adds the name of a removed property to the text, unless it is there: "a", then "a or b". */
void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property);
/* PAWL_ESCHEMA: `count` rows have values only of these removed properties. */
pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error);

/* PAWL_ECONFIG if a correlation property of the saga is a time with an offset, for which `product` has no
 * columns. */
pawl_code pawl__refuse_offset(const pawl_saga_table *table, const char *product, pawl_error *error);
/* The same for each saga, if the driver lacks the promise PAWL_STORE_HAS_OFFSETS. */
pawl_code pawl__refuse_offsets(const pawl_store *store, const pawl_saga_table *const *tables,
                               size_t count, pawl_error *error);

#endif
