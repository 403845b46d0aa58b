/* cut.h - how a text for people ends that did not fit.
 *
 * Tests: tests/unit/base/test_base_text.c, tests/unit/observe/test_health.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_CUT_H
#define PAWL_BASE_CUT_H

#include <stddef.h>

/* Ends the text in "...", never inside a UTF-8 character. It fills `size` bytes, its NUL
 * among them; there are more than 4. */
void pawl__text_end_cut(char *text, size_t size);

#endif
