/* keys.h - a Bloom filter of the keys of consecutive changes ("a run"), to end the run before a row is changed twice.
 *
 * If two different keys have the same bit, the run ends early; that costs one more statement or round trip.
 *
 * Threads: plain data. Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_KEYS_H
#define PAWL_STORE_CORE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAWL__KEY_BITS 65536

/* The keys of a run. Not initialized: the first change of a run clears it. */
typedef struct pawl__keys {
    uint64_t bits[PAWL__KEY_BITS / 64];
} pawl__keys;

/* Continues the hash `from` with these bytes. Never 0, which means no key. */
uint32_t pawl__key_hash(uint32_t from, const void *data, size_t size);
/* Adds the keys of a change; keys of 0 are skipped. True: an earlier change of the run may have the same row; the
 * filter then has only this change's keys, as the first of a new run. */
bool pawl__keys_add(pawl__keys *keys, const uint32_t *items, size_t count, bool is_first);

#endif
