/* heap.h - memory of the library, in heaps that are freed at once.
 *
 *     heap_install -> { heap_init -> (the library allocates) -> heap_free }*
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_HEAP_H
#define PAWL_SIMULATION_HEAP_H

#include <stddef.h>

/* A ring of blocks. */
typedef struct heap {
    struct heap *before, *behind;
    size_t       size;
    size_t       unused; /* keeps what follows aligned as malloc does */
} heap;

void heap_init(heap *it);
void heap_free(heap *it);
/* The library allocates here from now on: in the heap that `current` names, or in none. A block that grows stays in
 * its heap. */
void heap_install(heap *(*current)(void));
/* The content of new memory. */
void heap_garbage(int byte);

#endif
