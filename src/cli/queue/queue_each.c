/* queue_each.c - calls a function for each message of a query. See queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#define PAGE_ROWS 500

pawl_code pawl__queue_each(pawl_store *store, const pawl_queue_query *query,
                           pawl__queue_each_fn *each, void *context, size_t *count,
                           pawl_error *error)
{
    pawl_queue_query    by   = *query;
    pawl_queue_messages page = {.is_cut = true};
    pawl_arena         *read = pawl__must_create(); /* of one page */
    pawl_code           code = PAWL_OK;
    pawl_queue_row      last;
    by.size_max = PAWL_CLAIM_SIZE_MAX;
    *count      = 0;
    while (code == PAWL_OK && (page.is_cut || page.count == by.count_max) &&
           *count < query->count_max) {
        size_t left  = query->count_max - *count;
        by.count_max = left < PAGE_ROWS ? left : PAGE_ROWS;
        pawl_arena_reset(read);
        code = pawl_store_queue_find(store, &by, read, &page, error);
        for (size_t i = 0; code == PAWL_OK && i < page.count; i++)
            each(context, &page.items[i]);
        if (code == PAWL_OK && page.count > 0)
            last = page.items[page.count - 1].row;
        by.after = &last;
        *count += page.count;
    }
    pawl_arena_destroy(read);
    return code;
}
