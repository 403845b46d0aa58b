/* text.h - how a text begins, and how one for people ends that did not fit.
 *
 * Tests: tests/unit/base/test_base_text.c, tests/unit/observe/test_health.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_TEXT_H
#define PAWL_BASE_TEXT_H

#include "pawl/base.h"

bool pawl__text_begins(pawl_text text, const char *prefix);
/* The rest of the text, behind the prefix; empty when it has none, or the text does not begin so. */
pawl_text pawl__text_behind(pawl_text text, const char *prefix);

/* Whether JSON has a NUL that it spells \u0000, and where. A backslash takes the character behind it along: \\u0000 has
 * none. */
bool pawl__text_has_nul_escape(pawl_text json, size_t *at);

/* Ends the text in "...", never inside a UTF-8 character. It fills `size` bytes, its NUL
 * among them; there are more than 4. */
void pawl__text_end_cut(char *text, size_t size);

#endif
