/* wide.c - see wide.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/wide.h"

#include "base/calm.h"

#include <string.h>

#define NO_CHARACTER 0xFFFD
#define BEYOND 0x10000
#define HIGH 0xD800 /* first half of a surrogate pair */
#define LOW 0xDC00
#define HALVES_END 0xE000

/* Where the mark is or would be. */
static size_t place_of(pawl__odbc_mark mark, pawl_text text)
{
    return mark == PAWL__ODBC_MARK_BEFORE ? 0 : text.size - 1;
}

static bool needs(pawl__odbc_mark mark, pawl_text text)
{
    if (mark == PAWL__ODBC_NO_MARK || text.size == 0)
        return mark == PAWL__ODBC_MARK_BEFORE;
    char there = text.data[place_of(mark, text)];
    return there == PAWL__ODBC_MARK || (there == ' ' && mark == PAWL__ODBC_MARK_BEHIND);
}

pawl_text pawl__odbc_with_mark(pawl__odbc_mark mark, pawl_text text, void **copy)
{
    char *made      = needs(mark, text) ? pawl_allocate(text.size + 1) : NULL;
    bool  is_before = mark == PAWL__ODBC_MARK_BEFORE;
    *copy           = made;
    if (made == NULL)
        return text;
    if (text.size != 0)
        memcpy(made + is_before, text.data, text.size);
    made[is_before ? 0 : text.size] = PAWL__ODBC_MARK;
    return (pawl_text){.data = made, .size = text.size + 1};
}

pawl_text pawl__odbc_without_mark(pawl__odbc_mark mark, pawl_text text)
{
    bool has_it = mark != PAWL__ODBC_NO_MARK && text.size != 0 &&
                  text.data[place_of(mark, text)] == PAWL__ODBC_MARK;
    size_t before = has_it && mark == PAWL__ODBC_MARK_BEFORE;
    return (pawl_text){.data = text.data + before, .size = text.size - has_it};
}

/* ---- UTF-16 ---------------------------------------------------------------- */

static size_t append(uint16_t *wide, size_t units, uint32_t character)
{
    if (character >= BEYOND) {
        wide[units++] = (uint16_t)(HIGH + ((character - BEYOND) >> 10));
        character     = LOW + ((character - BEYOND) & 0x3FF);
    }
    wide[units] = (uint16_t)character;
    return units + 1;
}

uint16_t *pawl__odbc_to_wide(pawl_text text, size_t *size)
{
    uint16_t            *wide  = pawl_allocate((text.size + 1) * sizeof *wide);
    const unsigned char *data  = (const unsigned char *)text.data;
    size_t               units = 0;
    for (size_t at = 0; wide != NULL && at < text.size;) {
        uint32_t character = NO_CHARACTER;
        size_t   bad       = text.size - at; /* from here */
        (void)pawl_text_is_valid((pawl_text){.data = text.data + at, .size = bad}, &bad);
        for (size_t end = at + bad; at < end; units = append(wide, units, character))
            at += pawl__character(data + at, end - at, &character);
        if (at++ < text.size)
            units = append(wide, units, NO_CHARACTER);
    }
    *size = units * sizeof *wide;
    if (wide != NULL)
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

size_t pawl__odbc_to_narrow(const uint16_t *wide, size_t units, char *to)
{
    size_t size = 0;
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
