/* inbox.c - finds deduplication records: message ids that an endpoint has handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"

#include <string.h>

/* ---- Records that came with a claim -------------------------------------- */

void pawl__pg_seen_clear(pawl__pg *store)
{
    store->seen_count = 0;
    store->seen_next  = 0;
}

void pawl__pg_seen_add(pawl__pg *store, pawl_text id, bool is_known)
{
    if (store->seen_count == store->seen_capacity) {
        size_t         capacity = store->seen_capacity * 2 + 64;
        pawl__pg_seen *grown    = pawl_resize(store->seen, capacity * sizeof *grown);
        if (grown == NULL)
            return;
        store->seen          = grown;
        store->seen_capacity = capacity;
    }
    pawl__pg_seen *seen = &store->seen[store->seen_count++];
    if (id.size > sizeof seen->id) /* over the limit: not written by pawl */
        id.size = 0;
    if (id.size != 0)
        memcpy(seen->id, id.data, id.size);
    seen->size     = (uint8_t)id.size;
    seen->is_known = is_known;
}

/* Ids are looked up nearly in the order of their claims, so each search begins where the last one ended. */
static const pawl__pg_seen *find_seen(pawl__pg *store, pawl_text id)
{
    for (size_t i = 0; i < store->seen_count; i++) {
        size_t               at   = (store->seen_next + i) % store->seen_count;
        const pawl__pg_seen *seen = &store->seen[at];
        if (seen->size != 0 &&
            pawl_text_equal((pawl_text){.data = seen->id, .size = seen->size}, id)) {
            store->seen_next = at + 1;
            return seen;
        }
    }
    return NULL;
}

static bool have_seen_all(pawl__pg *store, pawl_text endpoint, const pawl_text *ids, size_t count,
                          bool *known)
{
    if (store->seen_count < count ||
        !pawl_text_equal(endpoint,
                         (pawl_text){.data = store->endpoint, .size = store->endpoint_size}))
        return false;
    for (size_t i = 0; i < count; i++) {
        const pawl__pg_seen *seen = find_seen(store, ids[i]);
        if (seen == NULL)
            return false;
        known[i] = seen->is_known;
    }
    return true;
}

pawl_code pawl__pg_inbox_known(pawl_store *base, pawl_text endpoint, const pawl_text *ids,
                               size_t count, bool *known, pawl_error *error)
{
    pawl__pg        *store = pawl__pg_of(base);
    pawl__pg_request request;
    if (count == 0 || have_seen_all(store, endpoint, ids, count, known))
        return PAWL_OK;
    for (size_t i = 0; i < count; i++)
        known[i] = false;
    pawl__pg_begin(&request, &store->main, PAWL__PG_INBOX_KNOWN, error);
    pawl__pg_put_text(&request, endpoint);
    pawl__pg_put_texts(&request, ids, count);
    pawl_code code = pawl__pg_run(&request);
    while (code == PAWL_OK && pawl__pg_next(&request)) {
        size_t at = pawl__pg_get_index(&request, count);
        if (at != SIZE_MAX)
            known[at] = true;
    }
    return request.code;
}
