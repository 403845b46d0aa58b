/* text.h - prefixes of texts, rows by a text of theirs, NUL escapes in JSON, and the "..." of a text that was cut off.
 *
 * Tests: tests/unit/base/test_base_text.c, tests/unit/observe/test_health.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_TEXT_H
#define PAWL_BASE_TEXT_H

#include "pawl/base.h"

bool pawl__text_begins(pawl_text text, const char *prefix);
/* The text behind the prefix; empty when nothing follows it, or the text does not begin with it. */
pawl_text pawl__text_behind(pawl_text text, const char *prefix);

/* The first of `count` rows whose `member`, a pawl_text, equals the text; NULL: none. */
#define PAWL__ROW_OF(type, member, rows, count, text) \
    pawl__row_of(rows, count, sizeof(type), offsetof(type, member), text)
void *pawl__row_of(const void *rows, size_t count, size_t size, size_t offset, pawl_text text);

/* Does the JSON contain a NUL, written \u0000, and where? In \\u0000 the first backslash escapes the second, so that
 * is none. */
bool pawl__text_has_nul_escape(pawl_text json, size_t *at);

/* Writes "..." at the end of a text that was cut off, never splitting a UTF-8 character. The text fills `size` bytes
 * (more than 4) including its NUL. */
void pawl__text_end_cut(char *text, size_t size);

#endif
