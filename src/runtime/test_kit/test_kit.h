/* test_kit.h - types and functions that the files of the test kit share (pawl/test.h).
 *
 *     test_store.c   creates the test's own store, checks that it is empty, drops it in the end
 *     test_kit.c     setting up, sending, moving the clocks
 *     inspect.c      sagas, streams, messages and counts, as assertions read them
 *
 *     store_open -> (endpoints in steps, on virtual clocks) -> store_close
 *
 * Threads: the test's.
 * Tests: tests/unit/runtime/test_test_kit.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_TEST_KIT_H
#define PAWL_RUNTIME_TEST_KIT_H

#include "pawl/test.h"
#include "pawl/upgrade.h"
#include "runtime/runtime.h"

struct pawl_test {
    const char                   *url;
    const char                   *folder; /* folder of a file of its own; NULL: none */
    const char                   *file;   /* file of any SQLite store; NULL: another store */
    bool                          is_kept, is_opened;
    pawl_clock                   *business, *machine;
    pawl_endpoint_options         settings;
    pawl_endpoint                *endpoints[PAWL_TEST_ENDPOINTS_MAX];
    size_t                        endpoint_count;
    pawl_sender                  *sender;
    char                          id[24]; /* of the message delivered last */
    unsigned                      message_count;
    pawl_store                   *store;  /* for reads and subscriptions */
    pawl_arena                   *arena;  /* results of reads */
    pawl_upgrade                 *models; /* of all endpoints, for their tables */
    const pawl_saga_table *const *tables;
    size_t                        table_count;
};

/* Makes the store that the options name, and opens the handles that the test looks and sends with.
 * PAWL_ECONFIG when the store has rows. */
pawl_code pawl__test_store_open(pawl_test *test, const pawl_application *application,
                                const pawl_test_options *options, pawl_error *error);
/* After the endpoints. Drops the store that was made, also when opening failed half-way. */
void pawl__test_store_close(pawl_test *test);

#endif
