/* base64.c - bytes in JSON (RFC 4648 section 4, padded, canonical).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

/* Decodes four characters of which the last `padding` are '='. False for other characters, and for set bits that
 * belong to no byte. */
static bool decode_four(const char *text, size_t padding, uint8_t *out)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - padding ? digit_value(text[i]) : 0;
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i < 3 - padding; i++)
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    return (bits & ((UINT32_C(1) << (8 * padding)) - 1)) == 0;
}

static size_t padding_of(pawl_text text)
{
    if (text.data[text.size - 1] != '=')
        return 0;
    return text.data[text.size - 2] == '=' ? 2 : 1;
}

pawl_code pawl__base64_decode(pawl_text text, pawl_arena *arena, pawl_bytes *bytes)
{
    *bytes = (pawl_bytes){0};
    if (text.size == 0)
        return PAWL_OK;
    if (text.size % 4 != 0)
        return PAWL_EDECODE;
    size_t   padding = padding_of(text);
    uint8_t *data    = pawl_arena_take(arena, text.size / 4 * 3);
    if (data == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < text.size / 4; i++) {
        bool is_last = i + 1 == text.size / 4;
        if (!decode_four(text.data + 4 * i, is_last ? padding : 0, data + 3 * i))
            return PAWL_EDECODE;
    }
    *bytes = (pawl_bytes){.data = data, .size = text.size / 4 * 3 - padding};
    return PAWL_OK;
}

pawl_text pawl__base64_encode(pawl_bytes bytes, pawl_arena *arena)
{
    const uint8_t *data = bytes.data;
    size_t         size = (bytes.size + 2) / 3 * 4;
    char          *text = pawl_arena_take(arena, size + 1);
    if (text == NULL)
        return (pawl_text){0};
    for (size_t i = 0, out = 0; i < bytes.size; i += 3, out += 4) {
        size_t   count = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t bits  = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? data[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            text[out + k] = k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return (pawl_text){.data = text, .size = size};
}
