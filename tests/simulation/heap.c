/* heap.c - blocks with a head before them, in rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/heap.h"

#include "pawl/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static heap *(*current_heap)(void);
static int garbage;

void heap_init(heap *it)
{
    it->before = it->behind = it;
}

static void add(heap *it, heap *block)
{
    block->before      = it;
    block->behind      = it->behind;
    it->behind->before = block;
    it->behind         = block;
}

static void take_out(heap *block)
{
    block->before->behind = block->behind;
    block->behind->before = block->before;
}

void heap_free(heap *it)
{
    while (it->behind != it) {
        heap *gone = it->behind;
        take_out(gone);
        free(gone);
    }
}

static void *release(heap *block)
{
    if (block != NULL && block->before != NULL)
        take_out(block);
    free(block);
    return NULL;
}

static void *resize(void *memory, size_t size, void *context)
{
    heap *old = memory != NULL ? (heap *)memory - 1 : NULL;
    if (size == 0)
        return release(old);
    size_t known = old != NULL ? old->size : 0;
    heap  *made  = realloc(old, sizeof *made + size);
    if (made == NULL) {
        fprintf(stderr, "simulation: out of memory\n");
        abort();
    }
    if (size > known)
        memset((char *)(made + 1) + known, garbage, size - known);
    made->size = size;
    heap *into = old == NULL ? current_heap() : NULL;
    if (old == NULL)
        made->before = made->behind = NULL;
    if (into != NULL) {
        add(into, made);
    } else if (made->before != NULL) {
        made->before->behind = made;
        made->behind->before = made;
    }
    return made + 1;
}

void heap_install(heap *(*current)(void))
{
    static const pawl_allocator allocator = {resize, NULL};
    if (current_heap == NULL)
        pawl_allocator_set(&allocator);
    current_heap = current;
}

void heap_garbage(int byte)
{
    garbage = byte;
}
