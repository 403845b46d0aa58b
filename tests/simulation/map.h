/* map.h - texts to numbers.
 *
 * Threads: plain data. Memory of libc, outside of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_MAP_H
#define PAWL_SIMULATION_MAP_H

#include "pawl/base.h"

typedef struct map {
    struct map_entry {
        char  *text; /* NULL: free */
        size_t size;
        int    number;
    } * entries;
    size_t count, capacity; /* a power of two */
} map;

int  map_find(const map *it, pawl_text text); /* -1: none */
void map_put(map *it, pawl_text text, int number);
void map_clear(map *it);

#endif
