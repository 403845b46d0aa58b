/* shortage.c - an allocator that refuses large blocks when a test wants it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/shortage.h"

#include <stdlib.h>
#include <string.h>

shortage_plan shortage;

static bool fails(size_t size)
{
    if (size >= SHORTAGE_HUGE && shortage.huge_left > 0 && shortage.huge_left-- > 0)
        return true;
    if (size < SHORTAGE_LARGE)
        return false;
    return (shortage.burden_max > 0 && shortage.burden > shortage.burden_max) ||
           (shortage.countdown > 0 && --shortage.countdown == 0);
}

static void *resize(void *memory, size_t size, void *context)
{
    if (size == 0) {
        free(memory);
        return NULL;
    }
    if (!fails(size))
        return realloc(memory, size);
    shortage.met++;
    return NULL;
}

void shortage_install(void)
{
    static const pawl_allocator allocator = {resize, NULL};
    pawl_allocator_set(&allocator);
}

pawl_text shortage_ballast(size_t size)
{
    static char ballast[SHORTAGE_HUGE];
    memset(ballast, 'x', sizeof ballast);
    return (pawl_text){.data = ballast, .size = size};
}
