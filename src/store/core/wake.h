/* wake.h - wakes threads of this process that wait for commits on a store.
 *
 * A thread that sleeps in a store's wait() hands in an eventfd and the identity
 * of its store (pawl_store.identity); a commit on the same data in the same
 * process makes the descriptor readable. Wake-ups between processes are up to the
 * drivers.
 *
 * Threads: safe from any thread; one process-wide mutex, locked for moments.
 * Tests: tests/unit/store/test_store_core.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_WAKE_H
#define PAWL_STORE_CORE_WAKE_H

#include "pawl/base.h"

/* Borrows the descriptor until it is removed. A descriptor may wait for
 * several stores; adding the same pair twice is harmless. */
pawl_code pawl__wake_add(const char *identity, int eventfd, pawl_error *error);
/* The same for a reader of the event store: woken only for events. */
pawl_code pawl__wake_add_reader(const char *identity, int eventfd, pawl_error *error);
/* From all stores. Afterwards nothing writes to the descriptor any more. */
void pawl__wake_remove(int eventfd);
/* Wakes all that wait for the store, except readers of events. */
void pawl__wake_all(const char *identity);
/* Wakes the readers of events. */
void pawl__wake_readers(const char *identity);

#endif
