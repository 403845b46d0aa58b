/* source_table.c - a hash table from sources to numbers, with open addressing, in an arena. Entries are never removed:
 * 0 counts as absent, and such entries are dropped when the table grows. A table with its own arena then also frees
 * their memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

#define CAPACITY_FIRST 64
#define BLOCK_SIZE 4096

/* The slot of the source: its item, or the free one where it belongs. */
static pawl__source_item *slot_of(const pawl__source_table *sources, pawl_text source)
{
    size_t i = (size_t)pawl__text_hash(source) & (sources->capacity - 1);
    while (sources->items[i].source.data != NULL &&
           !pawl_text_equal(sources->items[i].source, source))
        i = (i + 1) & (sources->capacity - 1);
    return &sources->items[i];
}

static pawl_code copy_live(const pawl__source_table *from, pawl__source_table *to)
{
    to->items = pawl_arena_take(to->arena, to->capacity * sizeof to->items[0]);
    if (to->items == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < from->capacity; i++) {
        pawl__source_item item = from->items[i];
        if (item.value == 0)
            continue;
        if (to->is_own)
            item.source = pawl_arena_text(to->arena, item.source);
        if (item.source.data == NULL)
            return PAWL_ENOMEM;
        *slot_of(to, item.source) = item;
        to->count++;
    }
    return PAWL_OK;
}

static pawl_code grow(pawl__source_table *sources)
{
    pawl__source_table grown = *sources;
    if (sources->is_own)
        grown.arena = pawl_arena_create(BLOCK_SIZE);
    grown.capacity = CAPACITY_FIRST;
    grown.count    = 0;
    while (grown.capacity < 4 * sources->live)
        grown.capacity *= 2;
    pawl_code code = grown.arena != NULL ? copy_live(sources, &grown) : PAWL_ENOMEM;
    if (sources->is_own)
        pawl_arena_destroy(code == PAWL_OK ? sources->arena : grown.arena);
    if (code == PAWL_OK)
        *sources = grown;
    return code;
}

pawl__source_table pawl__source_table_create(void)
{
    return (pawl__source_table){.arena = pawl_arena_create(BLOCK_SIZE), .is_own = true};
}

void pawl__source_table_clear(pawl__source_table *sources)
{
    if (sources->arena != NULL)
        pawl_arena_reset(sources->arena);
    *sources = (pawl__source_table){.arena = sources->arena, .is_own = sources->is_own};
}

size_t pawl__source_table_get(const pawl__source_table *sources, pawl_text source)
{
    return sources->capacity > 0 && source.size > 0 ? slot_of(sources, source)->value : 0;
}

pawl_code pawl__source_table_put(pawl__source_table *sources, pawl_text source, size_t value)
{
    bool has = pawl__source_table_get(sources, source) != 0;
    if (source.size == 0 || (value == 0 && !has))
        return PAWL_OK;
    if (!has && 2 * (sources->count + 1) > sources->capacity && grow(sources) != PAWL_OK)
        return PAWL_ENOMEM;
    pawl__source_item *item = slot_of(sources, source);
    if (item->source.data == NULL) {
        item->source = pawl_arena_text(sources->arena, source);
        if (item->source.data == NULL)
            return PAWL_ENOMEM;
        sources->count++;
    }
    item->value = value;
    sources->live += !has;
    sources->live -= value == 0;
    return PAWL_OK;
}
