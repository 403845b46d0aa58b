/* reach.h - says that a program would not find sagas which live: the same words on every store.
 *
 *     pawl__reach_name* -> pawl__reach_refuse
 *
 * Threads: plain data. Tests: tests/unit/engine/test_engine_rename.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_REACH_H
#define PAWL_STORE_CORE_REACH_H

#include "pawl/message.h"
#include "pawl/saga_rows.h"

#define PAWL__REACH_NAMES_SIZE 200    /* cut where it is longer: it is for people */
#define PAWL__REACH_COUNT_MAX 1000000 /* a larger number would say no more */

/* Adds a property that the saga has no more: "a", then "a or b". */
void pawl__reach_name(char names[PAWL__REACH_NAMES_SIZE], pawl_text property);
/* PAWL_ESCHEMA: `count` rows have values of these properties and none of the saga's. */
pawl_code pawl__reach_refuse(const pawl_saga_table *table, const char names[PAWL__REACH_NAMES_SIZE],
                             int64_t count, pawl_error *error);

#endif
