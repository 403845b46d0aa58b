/* fuzz.h - the fuzz targets: fuzz_NAME.c has the one function that libFuzzer calls with each input.
 *
 * A target reads its input by the calls below, and fails by FUZZ_CHECK, or by what a sanitizer reports. An input that
 * ends too early gives zeros and empty texts, so that every input is a valid one.
 *
 *     scripts/fuzz.sh runs targets; docs/TESTING.md explains it. corpus/NAME has the inputs that a run begins with,
 *     and one for each defect that was found. replay.c runs them where libFuzzer is missing.
 *
 * Threads: one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FUZZ_H
#define PAWL_TESTS_FUZZ_H

#include "pawl/base.h"

/* Returns 0. The memory at `data` ends behind `size` bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process with the place and the condition. */
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

typedef struct fuzz_input {
    const uint8_t *at;
    size_t         left;
} fuzz_input;

unsigned fuzz_byte(fuzz_input *in);
/* 0 to `limit` - 1, from one byte. */
unsigned fuzz_below(fuzz_input *in, unsigned limit);
/* From eight bytes, little-endian. */
int64_t fuzz_integer(fuzz_input *in);
/* Up to the next newline, which is skipped, or the end. */
pawl_text fuzz_line(fuzz_input *in);
/* A byte says how many bytes it has. */
pawl_text fuzz_text(fuzz_input *in);
pawl_text fuzz_rest(fuzz_input *in);
/* The text with a NUL behind it, in the arena; cut at its first NUL. */
char *fuzz_string(pawl_text text, pawl_arena *arena);

/* An arena in which each piece is a heap block of its own, so that the address sanitizer sees its end. */
pawl_arena *fuzz_arena(void);
/* The path of a file in memory with this content, which the next call replaces. */
const char *fuzz_file(pawl_text content);
/* JSON without a NUL in its texts, which every store takes. */
bool fuzz_is_json(pawl_text text);

#endif
