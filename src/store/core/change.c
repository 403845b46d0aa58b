/* change.c - names of the kinds of change, and the list of refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/change.h"

const char *pawl_change_kind_name(pawl_change_kind kind)
{
    static const char *const names[] = {
#define KIND_NAME(name, is_refusable) #name,
        PAWL_CHANGE_KINDS(KIND_NAME)
#undef KIND_NAME
    };
    _Static_assert(sizeof names / sizeof names[0] == pawl_change_kind_count, "one name for each");
    return (unsigned)kind < pawl_change_kind_count ? names[kind] : "?";
}

pawl_code pawl_refusals_add(pawl_refusals *refusals, pawl_change_kind kind, uint32_t unit,
                            uint32_t group, pawl_code reason, pawl_text text)
{
    /* A refusal always says something, so a text without data is one that the
     * caller could not allocate. */
    if (text.data == NULL)
        return PAWL_ENOMEM;
    pawl_text copy = pawl_arena_text(refusals->arena, text);
    if (copy.data == NULL)
        return PAWL_ENOMEM;
    pawl_refusal *items = pawl_arena_grow(refusals->arena, refusals->items, refusals->count,
                                          &refusals->capacity, sizeof *items);
    if (items == NULL)
        return PAWL_ENOMEM;
    refusals->items          = items;
    items[refusals->count++] = (pawl_refusal){kind, unit, group, reason, copy};
    return PAWL_OK;
}
