/* map.c - a hash table with open addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/map.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(pawl_text text)
{
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < text.size; i++)
        sum = (sum ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
    return (size_t)(sum ^ sum >> 32);
}

/* The place of the text, or the free one that it would have. */
static struct map_entry *place_of(const map *it, pawl_text text)
{
    size_t at = hash(text) & (it->capacity - 1);
    while (it->entries[at].text != NULL &&
           (it->entries[at].size != text.size ||
            (text.size > 0 && memcmp(it->entries[at].text, text.data, text.size) != 0)))
        at = (at + 1) & (it->capacity - 1);
    return &it->entries[at];
}

static void grow(map *it)
{
    map larger     = {.capacity = it->capacity != 0 ? it->capacity * 2 : 64, .count = it->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        abort();
    for (size_t i = 0; i < it->capacity; i++)
        if (it->entries[i].text != NULL)
            *place_of(&larger, (pawl_text){.data = it->entries[i].text,
                                           .size = it->entries[i].size}) = it->entries[i];
    free(it->entries);
    *it = larger;
}

int map_find(const map *it, pawl_text text)
{
    const struct map_entry *found = it->count != 0 ? place_of(it, text) : NULL;
    return found != NULL && found->text != NULL ? found->number : -1;
}

void map_put(map *it, pawl_text text, int number)
{
    if (it->count * 2 >= it->capacity)
        grow(it);
    struct map_entry *place = place_of(it, text);
    if (place->text == NULL) {
        place->text = malloc(text.size + 1);
        if (place->text == NULL)
            abort();
        if (text.size > 0)
            memcpy(place->text, text.data, text.size);
        place->size = text.size;
        it->count++;
    }
    place->number = number;
}

void map_clear(map *it)
{
    for (size_t i = 0; i < it->capacity; i++)
        free(it->entries[i].text);
    free(it->entries);
    *it = (map){.count = 0};
}
