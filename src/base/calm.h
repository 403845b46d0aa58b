/* calm.h - makes text from outside safe to print on a terminal: errors of receivers, ids of messages, log lines.
 * Control characters in it could start a new line or drive the terminal; they are replaced.
 *
 * The functions are inline because the library and the command both need them.
 *
 * Tests: tests/unit/cli/test_command_table.c, tests/unit/base/test_base_text.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_CALM_H
#define PAWL_BASE_CALM_H

#include "pawl/base.h"

/* Decodes the UTF-8 character at `at` into `*point`, and returns its size in bytes; of a truncated character, the
 * bytes that are left. */
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

/* Size of the character at `at` if it must not reach a terminal, else 0. Such are control characters, the line ends
 * U+2028 and U+2029, and characters that change the direction of text. `*point` is the character. */
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

/* Writes '?' over each byte of these characters, but `line` over line feeds, carriage returns and tabs. With `line` 0,
 * line feeds and tabs stay. */
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

/* Writes '?' over each byte that is not UTF-8. The rest stays readable, and a store accepts the text. */
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

/* Makes one line safe that need not even be UTF-8. */
static inline void pawl__calm_line(char *text, size_t size)
{
    pawl__make_utf8(text, size);
    pawl__calm(text, size, ' ');
}

#endif
