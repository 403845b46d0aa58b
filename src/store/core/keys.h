/* keys.h - which changes of a run may be about one row: hashes of their keys, as bits.
 *
 * Two keys with one bit end a run early, which costs a statement or a round trip and nothing else.
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

/* The hash of the bytes behind what `from` is the hash of; never 0, which is no key. */
uint32_t pawl__key_hash(uint32_t from, const void *data, size_t size);
/* Adds the keys of a change, of which 0 is none. True: it may be about a row of those before it, and
 * the keys are those of a run that it begins. */
bool pawl__keys_add(pawl__keys *keys, const uint32_t *items, size_t count, bool is_first);

#endif
