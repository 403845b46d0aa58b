/* keeper.h - a driver that stores nothing and keeps what it was asked to commit, for tests of
 * what an operation asks for.
 *
 *     ON_KEEPER(test): keeper_setup -> keeper_commit ... -> keeper_teardown
 *
 * Threads: one.
 * Tests: tests/unit/store/test_store_operations_changes.c, test_store_operations_rows.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_KEEPER_H
#define PAWL_TESTS_KEEPER_H

#include "support/lean.h"

#define KEEPER_NOW INT64_C(1767225600000000)

/* The last set. */
extern struct keeper_set {
    unsigned     commit_count; /* since keeper_commit looked */
    size_t       change_count; /* of all kinds together */
    pawl_changes changes;
#define FIRST(name, is_refusable) pawl_##name name; /* of its kind */
    PAWL_CHANGE_KINDS(FIRST)
#undef FIRST
    pawl_outbox_add second_add;
} kept;

/* A fixture for each test, which forgets what was kept. */
extern fixture *keeper;
int             keeper_setup(void **state);
int             keeper_teardown(void **state);
#define ON_KEEPER(function) TEST_BETWEEN(function, keeper_setup, keeper_teardown)

/* Fails the test unless one commit of one unit at KEEPER_NOW, with so many changes, was made
 * since the last look. */
void keeper_commit(size_t change_count);
/* Or unless none was made, and the answer and the error's text are these. */
void keeper_refused(pawl_code answer, pawl_code code, const char *text);

#define SAME_TEXT(a, b) assert_true(pawl_text_equal(a, PAWL_TEXT(b)))
#define SAME_ID(a, b) assert_int_equal(pawl_uuid_compare((a).uuid, (b).uuid), 0)

/* A message with something in each member, and the proof that it is this one. */
extern const pawl_message keeper_message;
void                      keeper_is_message(const pawl_message *is);

#endif
