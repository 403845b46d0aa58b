/* lean.h - a minimal driver for tests that set its results: entries that store nothing and succeed, and a handle on
 * such a driver.
 *
 *     pawl_store_register({LEAN_STORE, ...}) -> { lean_open -> lean_close }*
 *
 * Threads: one, and one handle at a time.
 * Tests: tests/unit/store/test_store_operations.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_LEAN_H
#define PAWL_TESTS_LEAN_H

#include "pawl/store_driver.h"
#include "support/tests.h"

/* All required entries except scheme and commit. */
#define LEAN_STORE                                                                         \
    .ops_size = sizeof(pawl_store_ops), .abi = PAWL_ABI, .store_size = sizeof(pawl_store), \
    .open = lean_store_open, .close = lean_store_close, .schema = lean_schema,             \
    .worker_open = lean_worker_open, .worker_close = lean_worker_close, .resolve = lean_resolve

pawl_code lean_store_open(pawl_store *store, const char *url, const pawl_store_options *options,
                          pawl_error *error);
void      lean_store_close(pawl_store *store);
pawl_code lean_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                      pawl_line_fn *line, void *context, pawl_error *error);
pawl_code lean_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                           pawl_error *error);
pawl_code lean_worker_close(pawl_store *store, pawl_time now, pawl_error *error);
pawl_code lean_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied, pawl_error *error);

/* Both since the last lean_open. */
extern bool     lean_is_applied; /* result of resolve */
extern unsigned lean_worker_count;

/* Returns the code, with a text if it is an error. */
pawl_code lean_answer(pawl_code code, pawl_error *error);

typedef struct fixture {
    pawl_store *store;
    pawl_arena *arena;
    pawl_error  error;
} fixture;

/* The fixture is lent until the next one is opened. */
fixture *lean_open(const char *url);
void     lean_close(fixture *it);
/* The same, but closed when the test ends. */
fixture *lean_begin(const char *url);

#endif
