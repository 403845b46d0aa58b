/* uuid.c - ids, and the repeatable random numbers they are made of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

#include <string.h>
#include <uuid/uuid.h>

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
        return pawl_error_set(error, PAWL_EINVAL, "'%.*s' is no UUID of 36 characters",
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

pawl_uuid pawl_uuid_v5(pawl_uuid name_space, const void *name, size_t size)
{
    pawl_uuid uuid;
    uuid_generate_sha1(uuid.bytes, name_space.bytes, name, size);
    return uuid;
}

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
    uint64_t skip = (UINT64_MAX - limit + 1) % limit; /* the uneven start of the range */
    uint64_t value;
    do
        value = pawl_random_next(random);
    while (value < skip);
    return value % limit;
}

/* 48 bits of milliseconds and 12 bits that count within one: taken together as
 * one number that never goes back, so that ids sort in the order they were
 * made even when the clock does not. */
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
