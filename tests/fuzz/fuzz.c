/* fuzz.c - see fuzz.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <yyjson.h>

void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
    abort();
}

static pawl_text take(fuzz_input *in, size_t size)
{
    pawl_text text = {.data = (const char *)in->at, .size = size < in->left ? size : in->left};
    in->at += text.size;
    in->left -= text.size;
    return text;
}

unsigned fuzz_byte(fuzz_input *in)
{
    pawl_text byte = take(in, 1);
    return byte.size == 1 ? (unsigned char)byte.data[0] : 0;
}

unsigned fuzz_below(fuzz_input *in, unsigned limit)
{
    return fuzz_byte(in) % limit;
}

int64_t fuzz_integer(fuzz_input *in)
{
    int64_t   value = 0;
    pawl_text bytes = take(in, sizeof value);
    memcpy(&value, bytes.data, bytes.size);
    return value;
}

pawl_text fuzz_line(fuzz_input *in)
{
    const uint8_t *end  = in->left > 0 ? memchr(in->at, '\n', in->left) : NULL;
    pawl_text      line = take(in, end != NULL ? (size_t)(end - in->at) : in->left);
    (void)take(in, 1);
    return line;
}

pawl_text fuzz_text(fuzz_input *in)
{
    return take(in, fuzz_byte(in));
}

pawl_text fuzz_rest(fuzz_input *in)
{
    return take(in, in->left);
}

char *fuzz_string(pawl_text text, pawl_arena *arena)
{
    char *made = pawl_arena_take(arena, text.size + 1);
    FUZZ_CHECK(made != NULL);
    if (text.size > 0)
        memcpy(made, text.data, text.size);
    return made;
}

pawl_arena *fuzz_arena(void)
{
    pawl_arena *arena = pawl_arena_create(1);
    FUZZ_CHECK(arena != NULL);
    return arena;
}

const char *fuzz_file(pawl_text content)
{
    static int  file = -1;
    static char path[40];
    if (file < 0)
        file = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && ftruncate(file, 0) == 0);
    FUZZ_CHECK(content.size == 0 ||
               pwrite(file, content.data, content.size, 0) == (ssize_t)content.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

bool fuzz_is_json(pawl_text text)
{
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.data, text.size,
                                       YYJSON_READ_BIGNUM_AS_RAW, NULL, NULL);
    yyjson_doc_free(doc);
    return doc != NULL;
}
