/* parts.c - a change set as parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/parts.h"

#include "store/core/field.h"

/* Bytes of the texts of a change. */
static size_t size_of(pawl_change_kind kind, const char *change)
{
    const pawl__field_list *fields = &pawl__change_fields[kind];
    size_t                  size   = 0;
    for (size_t i = 0; i < fields->count; i++)
        switch (fields->items[i].wire) {
        case PAWL__WIRE_TEXT:
        case PAWL__WIRE_ERROR_TEXT:
        case PAWL__WIRE_BYTES:
        case PAWL__WIRE_JSON:
            size += ((const pawl_text *)(const void *)(change + fields->items[i].offset))->size;
            break;
        default: break;
        }
    return size;
}

pawl_code pawl__parts_open(pawl__parts *parts, pawl_arena *arena)
{
    const pawl_changes *changes = parts->changes;
    size_t              groups  = changes->group_count + 1;
    parts->is_dropped           = pawl_arena_take(arena, groups);
    parts->is_over              = pawl_arena_take(arena, groups);
    parts->counts               = pawl_arena_take(arena, groups * sizeof *parts->counts);
    parts->sizes                = pawl_arena_take(arena, groups * sizeof *parts->sizes);
    if (parts->is_dropped == NULL || parts->is_over == NULL || parts->counts == NULL ||
        parts->sizes == NULL)
        return PAWL_ENOMEM;
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        size_t      count = pawl__change_count(changes, (pawl_change_kind)kind);
        const char *item  = pawl__change_items(changes, (pawl_change_kind)kind);
        for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
            uint32_t group = pawl__change_group(item);
            parts->counts[group]++;
            parts->sizes[group] += size_of((pawl_change_kind)kind, item);
        }
    }
    return PAWL_OK;
}

void pawl__parts_choose(pawl__parts *parts)
{
    size_t   count = 0, size = 0;
    uint32_t group = parts->first, all = parts->changes->group_count;
    pawl__drop_refused(parts->refused, 0, parts->is_over);
    for (; group < all; group++) {
        if (parts->is_over[group])
            continue;
        count += parts->counts[group];
        size += parts->sizes[group];
        if (group != parts->first && (count > parts->count_max || size > parts->size_max))
            break;
    }
    parts->end = group;
    for (group = 0; group < all; group++)
        parts->is_dropped[group] =
            parts->is_over[group] || group < parts->first || group >= parts->end;
}

void pawl__parts_close(pawl__parts *parts)
{
    pawl__drop_refused(parts->refused, 0, parts->is_over);
    for (uint32_t group = parts->first; group < parts->end; group++)
        parts->is_over[group] = true;
    parts->first = parts->end;
}

bool pawl__parts_are_left(const pawl__parts *parts)
{
    return parts->end < parts->changes->group_count;
}

pawl_code pawl__parts_refuse_rest(pawl__parts *parts, const pawl_error *failure)
{
    pawl_error why = PAWL_ERROR_INIT;
    (void)pawl_error_set(&why, PAWL_ECONFLICT, "deferred: the commit before it is in, this one: %s",
                         failure != NULL ? failure->text : "failed");
    pawl__drop_refused(parts->refused, 0, parts->is_over);
    return pawl__refuse_others(parts->refused, parts->changes, parts->is_over, &why);
}
