/* minimal.h - a minimal driver for tests that set its results: entries that store nothing and succeed, and a handle on
 * such a driver.
 *
 *     pawl_store_register({MINIMAL_STORE, ...}) -> { minimal_open -> minimal_close }*
 *
 * Threads: one, and one handle at a time.
 * Tests: tests/unit/store/test_store_operations.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_MINIMAL_H
#define PAWL_TESTS_MINIMAL_H

#include "pawl/store_driver.h"
#include "support/tests.h"

/* All required entries except scheme and commit. */
#define MINIMAL_STORE                                                                      \
    .ops_size = sizeof(pawl_store_ops), .abi = PAWL_ABI, .store_size = sizeof(pawl_store), \
    .open = minimal_store_open, .close = minimal_store_close, .schema = minimal_schema,    \
    .worker_open = minimal_worker_open, .worker_close = minimal_worker_close,              \
    .resolve = minimal_resolve

pawl_code minimal_store_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error);
void      minimal_store_close(pawl_store *store);
pawl_code minimal_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                         pawl_line_fn *line, void *context, pawl_error *error);
pawl_code minimal_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                              pawl_error *error);
pawl_code minimal_worker_close(pawl_store *store, pawl_time now, pawl_error *error);
pawl_code minimal_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                          pawl_error *error);

/* Both since the last minimal_open. */
extern bool     minimal_is_applied; /* result of resolve */
extern unsigned minimal_worker_count;

/* Returns the code, with a text if it is an error. */
pawl_code minimal_answer(pawl_code code, pawl_error *error);

typedef struct fixture {
    pawl_store *store;
    pawl_arena *arena;
    pawl_error  error;
} fixture;

/* The fixture is lent until the next one is opened. */
fixture *minimal_open(const char *url);
void     minimal_close(fixture *it);
/* The same, but closed when the test ends. */
fixture *minimal_begin(const char *url);

#endif
