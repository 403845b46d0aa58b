/* calm.h - texts of others on their way to a terminal: an error that a sink gave, an
 * id that came with a message, a line of log. Some characters are obeyed there and not
 * shown, or they end a line where the text does not.
 *
 * In the header, as the library and the command both need it.
 *
 * Tests: tests/unit/cli/test_command_table.c, tests/unit/base/test_base_text.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_CALM_H
#define PAWL_BASE_CALM_H

#include "pawl/base.h"

/* The character that `at` begins with, of a text that is UTF-8, and how many bytes it has;
 * of one that is cut off what is left of it. */
static inline size_t pawl__character(const unsigned char *at, size_t left, uint32_t *point)
{
    size_t size = 1;
    *point      = at[0] < 0x80   ? at[0]
                  : at[0] < 0xE0 ? at[0] & 0x1FU
                  : at[0] < 0xF0 ? at[0] & 0x0FU
                                 : at[0] & 0x07U;
    for (; size < left && (at[size] & 0xC0) == 0x80; size++)
        *point = *point << 6 | (at[size] & 0x3FU);
    return size;
}

/* Bytes of the character that `at` begins with when it is such a one, else 0: control
 * characters, U+2028 and U+2029 (ends of lines), and those that turn the direction of
 * what follows. `*point` is the character. */
static inline size_t pawl__unruly_size(const unsigned char *at, size_t left, uint32_t *point)
{
    size_t size = pawl__character(at, left, point);
    if (size == 1)
        return at[0] < 0x20 || at[0] == 0x7F ? 1 : 0;
    if (size == 2)
        return *point >= 0x80 && *point < 0xA0 ? 2 : 0;
    bool turns = (*point >= 0x2028 && *point <= 0x202E) || (*point >= 0x2066 && *point <= 0x2069);
    return size == 3 && turns ? 3 : 0;
}

/* Writes '?' over each byte of them, and `line` over line feeds, carriage returns and
 * tabs; 0 keeps these but for carriage returns. */
static inline void pawl__calm(char *text, size_t size, char line)
{
    uint32_t point;
    for (size_t i = 0, next; i < size; i = next) {
        size_t unruly = pawl__unruly_size((const unsigned char *)text + i, size - i, &point);
        bool   is_end = unruly == 1 && (point == '\n' || point == '\t');
        next          = i + pawl__character((const unsigned char *)text + i, size - i, &point);
        if (is_end && line == 0)
            continue;
        for (size_t j = i; unruly > 0 && j < next; j++)
            text[j] = (is_end || point == '\r') && line != 0 ? line : '?';
    }
}

/* Writes '?' over each byte that is no UTF-8: of such a text the rest is what is read, and
 * a store takes no other. */
static inline void pawl__make_utf8(char *text, size_t size)
{
    pawl_text rest = {.data = text, .size = size};
    size_t    bad;
    while (!pawl_text_is_valid(rest, &bad)) {
        size_t at  = (size_t)(rest.data - text) + bad;
        text[at++] = '?';
        rest       = (pawl_text){.data = text + at, .size = size - at};
    }
}

/* The same for one line of which nothing is known, not even that it is UTF-8. */
static inline void pawl__calm_line(char *text, size_t size)
{
    pawl__make_utf8(text, size);
    pawl__calm(text, size, ' ');
}

#endif
