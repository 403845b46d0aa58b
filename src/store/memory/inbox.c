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
    int64_t            number; /* distinguishes rows of the same time */
} inbox_row;

enum { BY_KEY, BY_AGE };

MEMORY_ORDER(inbox_by_key, inbox_row, MEMORY_NUMBER(row.hash),
             MEMORY_TEXT(id) || MEMORY_TEXT(endpoint))
MEMORY_ORDER(inbox_by_age, inbox_row, MEMORY_NUMBER(at), MEMORY_NUMBER(number))

const memory_table_kind pawl__memory_inbox_kind = {
    MEMORY_SIZES(inbox_row, outcome),
    .texts = {offsetof(inbox_row, endpoint), offsetof(inbox_row, id)},
    .indexes =
        {[BY_KEY] = MEMORY_INDEX(inbox_by_key, NULL), [BY_AGE] = MEMORY_INDEX(inbox_by_age, NULL)},
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
        return pawl__memory_refuse_by(commit, pawl__why_handled, item);
    const inbox_row model = {
        .row.hash = pawl__hash_texts(change->endpoint, change->message_id),
        .endpoint = change->endpoint,
        .id       = change->message_id,
        .outcome  = change->outcome,
        .at       = change->at,
        .number   = ++data->last_id,
    };
    return pawl__memory_write(commit, &data->inbox, NULL, &model);
}

pawl_code pawl__memory_inbox_remove(memory_commit *commit, pawl_text endpoint, pawl_text id)
{
    memory_data *data = commit->data;
    inbox_row   *row  = find(data, endpoint, id);
    return row != NULL ? pawl__memory_write(commit, &data->inbox, row, NULL) : PAWL_OK;
}

size_t pawl__memory_inbox_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t     count = 0;
    inbox_row *row;
    while (count < count_max && (row = pawl__tree_first(&data->inbox.trees[BY_AGE])) != NULL &&
           row->at < before) {
        pawl__table_drop(&data->inbox, row);
        count++;
    }
    return count;
}
