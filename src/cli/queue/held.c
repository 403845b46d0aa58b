/* held.c - calls a function for each message of a query; finds the keys of an ordered queue that are held back. See
 * queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include "engine/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <yyjson.h>

#define PAGE_ROWS 500
#define ROWS_MAX 5000 /* looked at; their bodies are read with them */

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

/* ---- Held keys ------------------------------------------------------------------- */

/* "waits for message ID of its key 'K'", or "... message before it, of its key 'K'". */
bool pawl__held_split(pawl_text error, pawl_text *holder, pawl_text *key)
{
    static const char of_key[] = " of its key '";
    size_t            start    = sizeof PAWL_ORDER_WAITS - 1;
    if (!pawl__order_is_held(error))
        return false;
    const char *rest  = error.data + start;
    size_t      size  = error.size - start;
    const char *found = memmem(rest, size, of_key, sizeof of_key - 1);
    *holder = (pawl_text){.data = rest, .size = found != NULL ? (size_t)(found - rest) : size};
    *key    = (pawl_text){.data = "", .size = 0};
    if (found != NULL) {
        key->data = found + sizeof of_key - 1;
        key->size = (size_t)(rest + size - key->data);
        key->size -= key->size > 0 && key->data[key->size - 1] == '\'';
    }
    if (found == NULL || pawl_text_equal(*holder, PAWL_TEXT("before it,")))
        *holder = (pawl_text){.data = "", .size = 0};
    return true;
}

const pawl__held_key *pawl__held_of_key(const pawl__held *held, pawl_text key)
{
    return PAWL__ROW_OF(pawl__held_key, key, held->items, held->count, key);
}

const pawl__held_key *pawl__held_of_holder(const pawl__held *held, pawl_text id)
{
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].is_there && pawl_text_equal(held->items[i].holder, id))
            return &held->items[i];
    return NULL;
}

/* ---- Reading -------------------------------------------------------------------- */

/* Adds a message that is held back to its key. Rows come by due time: the last row of a key has the newest holder. */
static void add(pawl__held *held, pawl_text error, pawl_arena *arena)
{
    pawl_text holder, key;
    if (!pawl__held_split(error, &holder, &key))
        return;
    pawl__held_key *found = (pawl__held_key *)(uintptr_t)pawl__held_of_key(held, key);
    if (found == NULL) {
        held->items =
            pawl__must_grow(arena, held->items, held->count, &held->capacity, sizeof *found);
        found  = &held->items[held->count++];
        *found = (pawl__held_key){.key = pawl__must_text(arena, key)};
    }
    found->behind++;
    if (holder.size > 0 || found->holder.data == NULL)
        found->holder = pawl__must_text(arena, holder);
}

typedef struct adding {
    pawl__held *held;
    pawl_arena *arena;
} adding;

static void add_held(void *context, const pawl_queue_message *message)
{
    const adding *to = context;
    add(to->held, message->error, to->arena);
}

/* When the first of the runs in the history failed; else 0. */
static pawl_time first_failure(pawl_text history)
{
    pawl_time   at  = 0;
    yyjson_doc *doc = yyjson_read(history.data, history.size, YYJSON_READ_NOFLAG);
    const char *text =
        yyjson_get_str(yyjson_obj_get(yyjson_arr_get_first(yyjson_doc_get_root(doc)), "at"));
    if (text != NULL)
        (void)pawl_time_parse(pawl_text_of(text), &at, NULL);
    yyjson_doc_free(doc);
    return at;
}

static pawl_code find_holder(pawl_store *store, pawl_text queue, pawl__held_key *key,
                             pawl_arena *arena, pawl_error *error)
{
    const pawl_queue_query query = {.queue = queue, .message_id = key->holder, .count_max = 1};
    pawl_queue_messages    found = {.count = 0};
    if (key->holder.size == 0)
        return PAWL_OK;
    pawl_code code = pawl_store_queue_find(store, &query, arena, &found, error);
    if (code != PAWL_OK || found.count == 0)
        return code;
    const pawl_queue_row *row = &found.items[0].row;
    key->is_there             = true;
    key->since    = row->waiting_since != 0 ? row->waiting_since : first_failure(row->history);
    key->attempts = row->attempts;
    key->due      = row->due;
    key->error    = found.items[0].error;
    return PAWL_OK;
}

/* The key for which most messages wait comes first. */
static int compare_keys(const void *left, const void *right)
{
    const pawl__held_key *a = left;
    const pawl__held_key *b = right;
    if (a->behind != b->behind)
        return a->behind < b->behind ? 1 : -1;
    return pawl_text_compare(a->key, b->key);
}

pawl_code pawl__held_read(pawl_store *store, pawl_text queue, pawl_time now, pawl_arena *arena,
                          pawl__held *held, pawl_error *error)
{
    const pawl_queue_query query = {.queue = queue, .due_min = now + 1, .count_max = ROWS_MAX};
    adding                 to    = {held, arena};
    size_t                 count = 0;
    *held                        = (pawl__held){.items = NULL};
    pawl_code code               = pawl__queue_each(store, &query, add_held, &to, &count, error);
    held->is_cut                 = count == ROWS_MAX;
    if (held->count > 1)
        qsort(held->items, held->count, sizeof held->items[0], compare_keys);
    for (size_t i = 0; code == PAWL_OK && i < held->count; i++)
        code = find_holder(store, queue, &held->items[i], arena, error);
    return code;
}

pawl_text pawl__held_words(const pawl__held *held, const pawl__held_key *key, pawl_arena *arena)
{
    return pawl__must_printf(arena, "%s%" PRId64 " message%s of its key '%.*s' wait%s behind it",
                             held->is_cut ? "at least " : "", key->behind,
                             PAWL__PLURAL(key->behind), PAWL_TEXT_ARGS(key->key),
                             key->behind == 1 ? "s" : "");
}
