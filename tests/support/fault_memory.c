/* fault_memory.c - an allocator whose n-th allocation fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include <stdlib.h>

static long live, left;
static bool is_counting, was_reached;

static void *resize(void *memory, size_t size, void *context)
{
    if (size == 0) {
        live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (is_counting && left > 0 && --left == 0) {
        was_reached = true;
        return NULL;
    }
    void *made = realloc(memory, size);
    live += made != NULL && memory == NULL;
    return made;
}

void fault_memory_install(void)
{
    static const pawl_allocator allocator = {resize, NULL};
    pawl_allocator_set(&allocator);
}

void fault_memory_set(long n)
{
    left        = n;
    is_counting = false;
    was_reached = false;
}

void fault_memory_go_on(void)
{
    is_counting = true;
}

void fault_memory_pause(void)
{
    is_counting = false;
}

void fault_memory_begin(long n)
{
    fault_memory_set(n);
    fault_memory_go_on();
}

bool fault_memory_was_reached(void)
{
    return was_reached;
}

bool fault_memory_end(void)
{
    fault_memory_pause();
    return was_reached;
}

long fault_memory_live(void)
{
    return live;
}
