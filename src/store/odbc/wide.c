/* wide.c - UTF-8 to UTF-16 and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/wide.h"

#define NO_CHARACTER 0xFFFD
#define BEYOND 0x10000
#define HIGH 0xD800 /* the first half of a pair, and the second */
#define LOW 0xDC00
#define HALVES_END 0xE000

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The character at `*at`, which is moved behind it. */
static uint32_t read_character(pawl_text text, size_t *at)
{
    unsigned char first = (unsigned char)text.data[(*at)++];
    unsigned tails = first < 0xC2 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF5 ? 3 : 0;
    uint32_t found = tails == 0 ? first : first & (0x3FU >> tails);
    if (first >= 0x80 && tails == 0)
        return NO_CHARACTER;
    for (unsigned i = 0; i < tails; i++) {
        if (*at + i >= text.size || !is_tail((unsigned char)text.data[*at + i]))
            return NO_CHARACTER;
        found = found << 6 | ((unsigned char)text.data[*at + i] & 0x3FU);
    }
    if ((tails == 2 && found < 0x800) || (tails == 3 && (found < BEYOND || found > 0x10FFFF)) ||
        (found >= HIGH && found < HALVES_END))
        return NO_CHARACTER;
    *at += tails;
    return found;
}

uint16_t *pawl__odbc_to_wide(pawl_text text, bool is_marked, size_t *size)
{
    uint16_t *wide  = pawl_allocate((text.size + 2) * sizeof *wide);
    size_t    units = 0;
    for (size_t at = 0; wide != NULL && at < text.size;) {
        uint32_t character = read_character(text, &at);
        if (character >= BEYOND) {
            wide[units++] = (uint16_t)(HIGH + ((character - BEYOND) >> 10));
            character     = LOW + ((character - BEYOND) & 0x3FF);
        }
        wide[units++] = (uint16_t)character;
    }
    *size = units * sizeof *wide;
    if (wide == NULL)
        return NULL;
    if (is_marked && units != 0 && (wide[units - 1] == ' ' || wide[units - 1] == PAWL__ODBC_MARK)) {
        wide[units++] = PAWL__ODBC_MARK;
        *size += sizeof *wide;
    }
    wide[units] = 0;
    return wide;
}

static size_t write_character(uint32_t character, char *to)
{
    unsigned tails = character < 0x80 ? 0 : character < 0x800 ? 1 : character < BEYOND ? 2 : 3;
    static const unsigned char firsts[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(firsts[tails] | (unsigned char)(character >> (6 * tails)));
    for (unsigned i = 1; i <= tails; i++)
        to[i] = (char)(0x80 | (character >> (6 * (tails - i)) & 0x3F));
    return tails + 1;
}

size_t pawl__odbc_to_narrow(const uint16_t *wide, size_t units, bool is_marked, char *to)
{
    size_t size = 0;
    units -= is_marked && units != 0 && wide[units - 1] == PAWL__ODBC_MARK;
    for (size_t i = 0; i < units; i++) {
        uint32_t character = wide[i];
        bool     is_half   = character >= HIGH && character < HALVES_END;
        if (is_half && character < LOW && i + 1 < units && wide[i + 1] >= LOW &&
            wide[i + 1] < HALVES_END)
            character = BEYOND + ((character - HIGH) << 10) + (wide[++i] - (uint32_t)LOW);
        else if (is_half)
            character = NO_CHARACTER;
        size += write_character(character, to + size);
    }
    return size;
}
