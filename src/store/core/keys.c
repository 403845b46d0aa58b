/* keys.c - a Bloom filter of keys of changes; see keys.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/keys.h"

#include <string.h>

/* FNV-1a, with a bit that is always set. */
uint32_t pawl__key_hash(uint32_t from, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        from = (from ^ bytes[i]) * UINT32_C(16777619);
    return from | UINT32_C(0x80000000);
}

bool pawl__keys_add(pawl__keys *keys, const uint32_t *items, size_t count, bool is_first)
{
    bool is_met = false;
    for (size_t i = 0; !is_first && i < count; i++) {
        uint32_t bit = items[i] % PAWL__KEY_BITS;
        is_met |= items[i] != 0 && (keys->bits[bit / 64] & UINT64_C(1) << bit % 64) != 0;
    }
    if (is_first || is_met)
        memset(keys, 0, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        if (items[i] != 0)
            keys->bits[items[i] % PAWL__KEY_BITS / 64] |= UINT64_C(1) << items[i] % 64;
    return is_met;
}
