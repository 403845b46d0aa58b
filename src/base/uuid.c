/* uuid.c - UUIDs of versions 5 and 7, SHA-1 for the former, and repeatable random numbers for the latter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

#include <string.h>

bool pawl_uuid_is_zero(pawl_uuid uuid)
{
    static const pawl_uuid zero;
    return memcmp(&uuid, &zero, sizeof zero) == 0;
}

int pawl_uuid_compare(pawl_uuid left, pawl_uuid right)
{
    return memcmp(left.bytes, right.bytes, sizeof left.bytes);
}

void pawl_uuid_format(pawl_uuid uuid, char text[PAWL_UUID_TEXT_SIZE + 1])
{
    static const char digits[] = "0123456789abcdef";
    char             *out      = text;
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[uuid.bytes[i] >> 4];
        *out++ = digits[uuid.bytes[i] & 15];
    }
    *out = '\0';
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

pawl_code pawl_uuid_parse(pawl_text text, pawl_uuid *uuid, pawl_error *error)
{
    pawl_uuid result;
    bool      is_good = text.size == PAWL_UUID_TEXT_SIZE;
    size_t    count   = 0;
    for (size_t i = 0; is_good && i < text.size; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            is_good = text.data[i] == '-';
            continue;
        }
        int high                   = digit_value(text.data[i]);
        int low                    = digit_value(text.data[++i]);
        is_good                    = high >= 0 && low >= 0;
        result.bytes[count++ & 15] = (uint8_t)(((unsigned)high << 4) | (unsigned)(low & 15));
    }
    if (!is_good)
        return pawl_error_set(error, PAWL_EINVAL, "'%.*s' is not a UUID of 36 characters",
                              text.size > 60 ? 60 : (int)text.size,
                              text.data != NULL ? text.data : "");
    *uuid = result;
    return PAWL_OK;
}

static pawl_uuid with_version(pawl_uuid uuid, unsigned version)
{
    uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0F) | (version << 4));
    uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3F) | 0x80);
    return uuid;
}

pawl_uuid pawl_uuid_v4(const uint8_t random[16])
{
    pawl_uuid uuid;
    memcpy(uuid.bytes, random, sizeof uuid.bytes);
    return with_version(uuid, 4);
}

/* ---- SHA-1 (FIPS 180-4) ------------------------------------------------------ */

typedef struct sha1 {
    uint32_t state[5];
    uint64_t size; /* bytes added so far */
    uint8_t  block[64];
} sha1;

static uint32_t turn(uint32_t word, unsigned bits)
{
    return (word << bits) | (word >> (32 - bits));
}

/* The function and the constant of each 20 steps. */
static uint32_t mix(size_t step, uint32_t b, uint32_t c, uint32_t d)
{
    if (step < 20)
        return ((b & c) | (~b & d)) + UINT32_C(0x5A827999);
    if (step < 40)
        return (b ^ c ^ d) + UINT32_C(0x6ED9EBA1);
    if (step < 60)
        return ((b & c) | (b & d) | (c & d)) + UINT32_C(0x8F1BBCDC);
    return (b ^ c ^ d) + UINT32_C(0xCA62C1D6);
}

static void sha1_block(sha1 *hash)
{
    uint32_t word[80], v[5];
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *at = hash->block + 4 * i;
        word[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (size_t i = 16; i < 80; i++)
        word[i] = turn(word[i - 3] ^ word[i - 8] ^ word[i - 14] ^ word[i - 16], 1);
    memcpy(v, hash->state, sizeof v);
    for (size_t i = 0; i < 80; i++) {
        uint32_t next = turn(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + word[i];
        v[4]          = v[3];
        v[3]          = v[2];
        v[2]          = turn(v[1], 30);
        v[1]          = v[0];
        v[0]          = next;
    }
    for (size_t i = 0; i < 5; i++)
        hash->state[i] += v[i];
}

static void sha1_add(sha1 *hash, const void *data, size_t size)
{
    for (const uint8_t *at = data; size > 0;) {
        size_t used = hash->size % sizeof hash->block;
        size_t part = sizeof hash->block - used < size ? sizeof hash->block - used : size;
        memcpy(hash->block + used, at, part);
        hash->size += part;
        at += part;
        size -= part;
        if (used + part == sizeof hash->block)
            sha1_block(hash);
    }
}

/* The padding: a bit 1, zeros up to the last 8 bytes of a block, and the count of bits. */
static void sha1_end(sha1 *hash)
{
    uint8_t  padding[64 + 8] = {0x80};
    uint64_t bits            = hash->size * 8;
    size_t   size            = 64 - (hash->size + 8) % 64;
    for (size_t i = 0; i < 8; i++)
        padding[size + i] = (uint8_t)(bits >> (56 - 8 * i));
    sha1_add(hash, padding, size + 8);
}

pawl_uuid pawl_uuid_v5(pawl_uuid name_space, const void *name, size_t size)
{
    sha1      hash = {.state = {UINT32_C(0x67452301), UINT32_C(0xEFCDAB89), UINT32_C(0x98BADCFE),
                                UINT32_C(0x10325476), UINT32_C(0xC3D2E1F0)}};
    pawl_uuid uuid;
    sha1_add(&hash, name_space.bytes, sizeof name_space.bytes);
    sha1_add(&hash, name, size);
    sha1_end(&hash);
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        uuid.bytes[i] = (uint8_t)(hash.state[i / 4] >> (24 - 8 * (i % 4)));
    return with_version(uuid, 5);
}

/* ---- Random numbers ------------------------------------------------------------ */

/* splitmix64 spreads a seed over the state; xoshiro256** draws from it. Both
 * are published with their constants by Blackman and Vigna. */
void pawl_random_seed(pawl_random *random, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++) {
        seed += UINT64_C(0x9E3779B97F4A7C15);
        uint64_t mixed   = seed;
        mixed            = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        mixed            = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
        random->state[i] = mixed ^ (mixed >> 31);
    }
    random->last_v7 = 0;
}

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

uint64_t pawl_random_next(pawl_random *random)
{
    uint64_t *state  = random->state;
    uint64_t  result = rotate(state[1] * 5, 7) * 9;
    uint64_t  shift  = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shift;
    state[3] = rotate(state[3], 45);
    return result;
}

uint64_t pawl_random_below(pawl_random *random, uint64_t limit)
{
    if (limit == 0)
        return 0;
    uint64_t skip = (UINT64_MAX - limit + 1) % limit; /* these would bias the result */
    uint64_t value;
    do
        value = pawl_random_next(random);
    while (value < skip);
    return value % limit;
}

/* 48 bits of milliseconds and 12 bits that count within one. Both together are one number that never decreases, so ids
 * sort in the order of their creation even if the clock goes back. */
pawl_uuid pawl_uuid_v7(pawl_random *random, pawl_time now)
{
    uint64_t milliseconds = now > 0 ? (uint64_t)now / 1000 : 0;
    uint64_t stamp        = (milliseconds & UINT64_C(0xFFFFFFFFFFFF)) << 12;
    if (stamp <= random->last_v7)
        stamp = random->last_v7 + 1;
    random->last_v7 = stamp;

    uint64_t  high = (stamp >> 12 << 16) | (stamp & 0xFFF);
    uint64_t  low  = pawl_random_next(random);
    pawl_uuid uuid;
    for (size_t i = 0; i < 8; i++) {
        uuid.bytes[i]     = (uint8_t)(high >> (56 - 8 * i));
        uuid.bytes[8 + i] = (uint8_t)(low >> (56 - 8 * i));
    }
    return with_version(uuid, 7);
}
