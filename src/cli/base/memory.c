/* memory.c - allocations that end the process when memory is short: pawl__must and the like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

void pawl__must_have(pawl_code code)
{
    (void)pawl__must(code != PAWL_ENOMEM ? &code : NULL);
}

pawl_arena *pawl__must_create(void)
{
    return pawl__must(pawl_arena_create(0));
}

void *pawl__must_take(pawl_arena *arena, size_t size)
{
    return pawl__must(pawl_arena_take(arena, size));
}

void *pawl__must_grow(pawl_arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    return pawl__must(pawl_arena_grow(arena, items, count, capacity, size));
}

pawl_text pawl__must_text(pawl_arena *arena, pawl_text text)
{
    pawl_text made = pawl_arena_text(arena, text);
    (void)pawl__must((void *)(uintptr_t)made.data);
    return made;
}

pawl_text pawl__must_printf(pawl_arena *arena, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = pawl__must(size >= 0 ? pawl_arena_take(arena, (size_t)size + 1) : NULL);
    va_start(list, format);
    (void)vsnprintf(text, (size_t)size + 1, format, list);
    va_end(list);
    return (pawl_text){.data = text, .size = (size_t)size};
}

pawl_text pawl__must_join(pawl_arena *arena, pawl_text list, const char *between, pawl_text text)
{
    return pawl__must_printf(arena, "%.*s%s%.*s", PAWL_TEXT_ARGS(list),
                             list.size > 0 ? between : "", PAWL_TEXT_ARGS(text));
}

bool pawl__text_set_add(pawl__text_set *set, pawl_text text)
{
    if (pawl__row_of(set->items, set->count, sizeof *set->items, 0, text) != NULL)
        return false;
    set->items =
        pawl__must_grow(set->arena, set->items, set->count, &set->capacity, sizeof *set->items);
    set->items[set->count++] = pawl__must_text(set->arena, text);
    return true;
}
