/* changes.h - a change set with two good changes of every kind, for tests that spoil one of
 * them or want one of each.
 *
 * Threads: one.
 * Tests: tests/unit/store/test_store_check_forms.c,
 *        tests/unit/store/test_store_core_commit.c, tests/unit/store/test_store_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CHANGES_H
#define PAWL_TESTS_CHANGES_H

#include "pawl/store_driver.h"

/* Two, so that the second one is looked at, too. */
typedef struct good_set {
    pawl_changes changes; /* of 3 units and 2 groups */
#define TWO(name, is_refusable) pawl_##name name[2];
    PAWL_CHANGE_KINDS(TWO)
#undef TWO
    pawl_saga_table table; /* of no change; for one to point to */
} good_set;

void good_make(good_set *set);
/* The number of changes of that kind, to be written. */
size_t *good_count(good_set *set, pawl_change_kind kind);
/* Where the pointer to them stands. */
void *good_items(good_set *set, pawl_change_kind kind);
/* The member at `offset` of the second one. */
void *good_second(good_set *set, pawl_change_kind kind, size_t offset);
/* The member at `offset` of each change of the kind, a text: their sizes together. */
size_t good_size(const good_set *set, pawl_change_kind kind, size_t offset);

#endif
