/* inbox.c - inbox marks: the message ids that an endpoint handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"

#include <string.h>

/* ---- Marks that came with a claim ---------------------------------------- */

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

/* Ids are asked for nearly in the order of their claim, so the search goes on where it ended. */
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
        int64_t number = pawl__pg_get_int(&request);
        if (number >= 1 && (uint64_t)number <= count)
            known[number - 1] = true;
    }
    return request.code;
}

/* ---- Marking ------------------------------------------------------------ */

static int by_key(const void *left, const void *right)
{
    const pawl_inbox_entry *l = left, *r = right;
    int                     order = pawl_text_compare(l->message_id, r->message_id);
    return order != 0 ? order : pawl_text_compare(l->endpoint, r->endpoint);
}

static pawl_code check_marks(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_keys(writer, write, offsetof(pawl_inbox_entry, endpoint),
                               offsetof(pawl_inbox_entry, message_id), pawl__why_handled);
}

static void put_outcomes(pawl__pg_write *write)
{
    static const pawl_text outcomes[] = {
        [PAWL_INBOX_HANDLED]   = PAWL_TEXT_INIT("handled"),
        [PAWL_INBOX_DISCARDED] = PAWL_TEXT_INIT("discarded"),
        [PAWL_INBOX_DEAD]      = PAWL_TEXT_INIT("dead"),
    };
    pawl__pg_array_begin(&write->request, PAWL__WIRE_TEXT, PAWL_VALUE_NONE, write->count);
    for (size_t i = 0; i < write->count; i++)
        pawl__pg_array_put(&write->request, PAWL__WIRE_TEXT,
                           &outcomes[((const pawl_inbox_entry *)write->items[i])->outcome]);
    pawl__pg_array_end(&write->request);
}

pawl_code pawl__pg_send_inbox_entry(pawl__pg_writer *writer)
{
    static const pawl__field keys[]  = {PAWL__AS(inbox_entry, endpoint, TEXT),
                                        PAWL__AS(inbox_entry, message_id, TEXT)};
    static const pawl__field times[] = {PAWL__AS(inbox_entry, at, TIME)};
    size_t                   count;
    const void **items = pawl__pg_select(writer, pawl_change_inbox_entry, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (count == 0)
        return PAWL_OK;
    /* No two commits wait in a circle; of equal keys the later item is refused. */
    pawl__sort_changes(items, count, by_key);
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_INBOX_MARK, pawl_change_inbox_entry,
                                               items, count, check_marks);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, keys, 2);
    put_outcomes(write);
    pawl__pg_write_fields(write, times, 1);
    return pawl__pg_write_send(write);
}
