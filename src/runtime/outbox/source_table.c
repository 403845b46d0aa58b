/* source_table.c - a number for each of many sources: a hash table with open addressing
 * in an arena. Nothing is removed: 0 is as good as absent, and goes when it grows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

#define CAPACITY_FIRST 64

/* The slot of the source: its item, or the free one where it belongs. */
static pawl__source_item *slot_of(const pawl__source_table *sources, pawl_text source)
{
    size_t i = (size_t)pawl__text_hash(source) & (sources->capacity - 1);
    while (sources->items[i].source.data != NULL &&
           !pawl_text_equal(sources->items[i].source, source))
        i = (i + 1) & (sources->capacity - 1);
    return &sources->items[i];
}

static pawl_code grow(pawl__source_table *sources)
{
    size_t live = 0;
    for (size_t i = 0; i < sources->capacity; i++)
        live += sources->items[i].value != 0;
    pawl__source_table grown = {.arena = sources->arena, .capacity = CAPACITY_FIRST};
    while (grown.capacity < 4 * live)
        grown.capacity *= 2;
    grown.items = pawl_arena_take(sources->arena, grown.capacity * sizeof grown.items[0]);
    if (grown.items == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < sources->capacity; i++)
        if (sources->items[i].value != 0) {
            *slot_of(&grown, sources->items[i].source) = sources->items[i];
            grown.count++;
        }
    *sources = grown;
    return PAWL_OK;
}

size_t pawl__source_table_get(const pawl__source_table *sources, pawl_text source)
{
    return sources->capacity > 0 && source.size > 0 ? slot_of(sources, source)->value : 0;
}

pawl_code pawl__source_table_put(pawl__source_table *sources, pawl_text source, size_t value)
{
    if (source.size == 0 || (value == 0 && pawl__source_table_get(sources, source) == 0))
        return PAWL_OK;
    if (2 * (sources->count + 1) > sources->capacity && grow(sources) != PAWL_OK)
        return PAWL_ENOMEM;
    pawl__source_item *item = slot_of(sources, source);
    if (item->source.data == NULL) {
        item->source = pawl_arena_text(sources->arena, source);
        if (item->source.data == NULL)
            return PAWL_ENOMEM;
        sources->count++;
    }
    item->value = value;
    return PAWL_OK;
}
