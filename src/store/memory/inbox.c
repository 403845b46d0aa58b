/* inbox.c - which message ids an endpoint has handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct inbox_row {
    MEMORY_ROW(2)
    pawl_text          endpoint;
    pawl_text          id;
    pawl_inbox_outcome outcome;
    pawl_time          at;
    int64_t            number; /* tells rows of one moment apart */
} inbox_row;

enum { BY_KEY, BY_AGE };

static int by_key(const void *left, const void *right)
{
    const inbox_row *a = left, *b = right;
    int              order = pawl__order_hashes(a->row.hash, b->row.hash);
    if (order == 0)
        order = pawl_text_compare(a->id, b->id);
    return order != 0 ? order : pawl_text_compare(a->endpoint, b->endpoint);
}

static int by_age(const void *left, const void *right)
{
    const inbox_row *a = left, *b = right;
    int              order = pawl__order_integers(a->at, b->at);
    return order != 0 ? order : pawl__order_integers(a->number, b->number);
}

const memory_table_kind pawl__memory_inbox_kind = {
    .row_size    = sizeof(inbox_row),
    .fixed       = {offsetof(inbox_row, endpoint), offsetof(inbox_row, id)},
    .index_count = MEMORY_INDEX_COUNT(inbox_row),
    .indexes     = {[BY_KEY] = {by_key, NULL}, [BY_AGE] = {by_age, NULL}},
};

static inbox_row *find(const memory_data *data, pawl_text endpoint, pawl_text id)
{
    const inbox_row probe = {
        .row.hash = pawl__hash_texts(endpoint, id), .endpoint = endpoint, .id = id};
    return pawl__tree_find(&data->inbox.trees[BY_KEY], &probe);
}

pawl_code pawl__memory_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                   size_t count, bool *known, pawl_error *error)
{
    (void)error;
    memory_data *data = pawl__memory_enter(store);
    for (size_t i = 0; i < count; i++)
        known[i] = find(data, endpoint, ids[i]) != NULL;
    pawl__memory_leave(data);
    return PAWL_OK;
}

pawl_code pawl__memory_apply_inbox_entry(memory_commit *commit, const void *item)
{
    const pawl_inbox_entry *change = item;
    memory_data            *data   = commit->data;
    if (find(data, change->endpoint, change->message_id) != NULL)
        return pawl__memory_refuse(
            commit, PAWL_EDUPLICATE, "endpoint '%.*s': message '%.*s' was handled already",
            PAWL_TEXT_ARGS(change->endpoint), PAWL_TEXT_ARGS(change->message_id));
    const inbox_row model = {
        .row.hash = pawl__hash_texts(change->endpoint, change->message_id),
        .endpoint = change->endpoint,
        .id       = change->message_id,
        .outcome  = change->outcome,
        .at       = change->at,
        .number   = ++data->last_id,
    };
    return pawl__journal_insert(&data->journal, &data->inbox,
                                pawl__row_create(&data->inbox, &model));
}

pawl_code pawl__memory_inbox_remove(memory_commit *commit, pawl_text endpoint, pawl_text id)
{
    memory_data *data = commit->data;
    inbox_row   *row  = find(data, endpoint, id);
    return row != NULL ? pawl__journal_remove(&data->journal, &data->inbox, row) : PAWL_OK;
}

size_t pawl__memory_inbox_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t     count = 0;
    inbox_row *row;
    while (count < count_max && (row = pawl__tree_first(&data->inbox.trees[BY_AGE])) != NULL &&
           row->at < before) {
        pawl__table_unlink(&data->inbox, row);
        pawl__row_free(row);
        count++;
    }
    return count;
}
