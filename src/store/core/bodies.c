/* bodies.c - pages of retention sweeps without an index; see bodies.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"

#include "pawl/store_dead.h"

#include <string.h>

#define FIELD(member, as) PAWL__AS_OF(pawl__bodies, member, as)
const pawl__field_list pawl__bodies_range =
    PAWL__FIELDS(FIELD(after, TEXT), FIELD(last, TEXT), FIELD(count_max, INT));
const pawl__field_list pawl__bodies_found = PAWL__FIELDS(FIELD(last, TEXT), FIELD(count, INT));
const pawl__field_list pawl__bodies_clear =
    PAWL__FIELDS(FIELD(none, BYTES), FIELD(after, TEXT), FIELD(last, TEXT), FIELD(before, TIME));

bool pawl__bodies_begin(const pawl_sweep *sweep, pawl__bodies *page)
{
    const pawl_sweep_cursor *place = sweep->bodies_cursor;
    *page                          = (pawl__bodies){.after     = PAWL_TEXT(PAWL_DEAD_STREAMS "/"),
                                                    .last      = PAWL_TEXT(PAWL__BODIES_END),
                                                    .before    = sweep->bodies_before,
                                                    .none      = PAWL_TEXT(""),
                                                    .count_max = (int64_t)sweep->count_max};
    if (place != NULL && place->size != 0)
        page->after = (pawl_text){.data = place->stream, .size = place->size};
    return sweep->bodies_before != 0;
}

bool pawl__bodies_is_full(pawl__bodies *page)
{
    if (page->count == page->count_max)
        return true;
    page->last = PAWL_TEXT(PAWL__BODIES_END);
    return false;
}

void pawl__bodies_end(const pawl_sweep *sweep, const pawl__bodies *page)
{
    pawl_sweep_cursor *place = sweep->bodies_cursor;
    if (place == NULL)
        return;
    place->size = 0;
    if (page->count != page->count_max || page->last.size > sizeof place->stream)
        return;
    memcpy(place->stream, page->last.data, page->last.size);
    place->size = page->last.size;
}

/* ---- Rows in the order of their numbers ---------------------------------- */

/* Another sweep at once is worthwhile if this one deleted a quarter of its limit. A table that is swept regularly
 * always has a few more old rows. */
#define WORTH 4

pawl_code pawl__old_sweep(int64_t *place, pawl__old_page *page, pawl__old_page_fn *sweep,
                          void *context, int64_t *deleted, bool *more, pawl_error *error)
{
    int64_t limit     = page->limit;
    page->after       = 0;
    pawl_code code    = sweep(context, page, error);
    int64_t   gone    = page->deleted;
    bool      is_part = page->count == page->looks || gone == page->limit;
    if (code == PAWL_OK && is_part && gone < page->limit) {
        page->limit -= gone;
        page->looks -= gone;
        page->after = *place != 0 ? *place : page->last;
        code        = sweep(context, page, error);
        *place      = page->deleted == page->limit ? page->after
                      : page->count == page->looks ? page->last
                                                   : 0;
        gone += page->deleted;
    }
    *deleted += gone;
    *more |= is_part && gone > 0 && gone * WORTH >= limit;
    return code;
}
