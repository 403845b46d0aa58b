/* outbox.c - sorts claimed outbox rows by version within each ordering key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/operations.h"

#include <stdlib.h>

static int by_version(const void *left, const void *right)
{
    const pawl_outbox_row *l     = *(const pawl_outbox_row *const *)left;
    const pawl_outbox_row *r     = *(const pawl_outbox_row *const *)right;
    int                    order = pawl_text_compare(l->source, r->source);
    if (order == 0)
        order = (l->version > r->version) - (l->version < r->version);
    if (order == 0)
        order = (l->index > r->index) - (l->index < r->index);
    return order != 0 ? order : (l->id > r->id) - (l->id < r->id);
}

static int by_id(const void *left, const void *right)
{
    const pawl_outbox_row *l     = *(const pawl_outbox_row *const *)left;
    const pawl_outbox_row *r     = *(const pawl_outbox_row *const *)right;
    int                    order = pawl_text_compare(l->source, r->source);
    return order != 0 ? order : (l->id > r->id) - (l->id < r->id);
}

pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error)
{
    size_t                  count    = rows->count;
    const pawl_outbox_row **ids      = pawl_arena_take(arena, (count + 1) * sizeof *ids);
    const pawl_outbox_row **versions = pawl_arena_take(arena, (count + 1) * sizeof *versions);
    pawl_outbox_row        *result   = pawl_arena_take(arena, (count + 1) * sizeof *result);
    if (ids == NULL || versions == NULL || result == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for outbox rows");
    for (size_t i = 0; i < count; i++) {
        ids[i] = versions[i] = &rows->items[i];
        result[i]            = rows->items[i];
    }
    if (count > 1) {
        qsort(ids, count, sizeof(pawl_outbox_row *), by_id);
        qsort(versions, count, sizeof(pawl_outbox_row *), by_version);
    }
    for (size_t i = 0; i < count; i++)
        if (versions[i]->source.size != 0)
            result[ids[i] - rows->items] = *versions[i];
    rows->items = result;
    return PAWL_OK;
}
