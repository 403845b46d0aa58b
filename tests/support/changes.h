/* changes.h - a change set with two valid changes of every kind, for tests that make one invalid or need all kinds.
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

/* Two changes, as a check must not stop after the first. */
typedef struct good_set {
    pawl_changes changes; /* with 3 units and 2 groups */
#define TWO(name, is_refusable) pawl_##name name[2];
    PAWL_CHANGE_KINDS(TWO)
#undef TWO
    pawl_saga_table table; /* a table for changes that need one */
} good_set;

void good_make(good_set *set);
/* The writable number of changes of a kind. */
size_t *good_count(good_set *set, pawl_change_kind kind);
/* Address of the pointer to the changes of a kind. */
void *good_items(good_set *set, pawl_change_kind kind);
/* Address of the member at `offset` in the second change. */
void *good_second(good_set *set, pawl_change_kind kind, size_t offset);
/* Total size of the text at `offset` in all changes of the kind. */
size_t good_size(const good_set *set, pawl_change_kind kind, size_t offset);

#endif
