/* history.c - lines of history.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/history.h"

typedef struct history_row {
    MEMORY_ROW(3)
    pawl_history_row fields;
} history_row;

enum { BY_ID, BY_SOURCE, BY_MESSAGE };

static int by_id(const void *left, const void *right)
{
    const history_row *a = left, *b = right;
    return pawl__order_integers(a->fields.id, b->fields.id);
}

static int by_source(const void *left, const void *right)
{
    const history_row *a = left, *b = right;
    int                order = pawl_text_compare(a->fields.entry.source, b->fields.entry.source);
    return order != 0 ? order : by_id(a, b);
}

static int by_message(const void *left, const void *right)
{
    const history_row *a = left, *b = right;
    int order = pawl_text_compare(a->fields.entry.message_id, b->fields.entry.message_id);
    return order != 0 ? order : by_id(a, b);
}

const memory_table_kind pawl__memory_history_kind = {
    .row_size      = sizeof(history_row),
    .fields_offset = offsetof(history_row, fields),
    .fields_size   = sizeof(pawl_history_row),
    .fixed         = {offsetof(history_row, fields.entry.endpoint),
                      offsetof(history_row, fields.entry.source),
                      offsetof(history_row, fields.entry.message_id),
                      offsetof(history_row, fields.entry.type), offsetof(history_row, fields.entry.kind),
                      offsetof(history_row, fields.entry.outcome),
                      offsetof(history_row, fields.entry.error), offsetof(history_row, fields.entry.out)},
    .index_count   = MEMORY_INDEX_COUNT(history_row),
    .indexes       = {[BY_ID]      = {by_id, NULL},
                      [BY_SOURCE]  = {by_source, NULL},
                      [BY_MESSAGE] = {by_message, NULL}},
};

static bool is_same(pawl_text wanted, pawl_text text)
{
    return wanted.size == 0 || pawl_text_equal(wanted, text);
}

/* Behind the part of its index that the query is about: of a message, or else of a source. */
static bool is_past(const pawl_history_query *query, const pawl_history_row *row)
{
    return query->message_id.size != 0 ? !is_same(query->message_id, row->entry.message_id)
                                       : !is_same(query->source, row->entry.source);
}

pawl_code pawl__memory_history_find(pawl_store *store, const pawl_history_query *query,
                                    pawl_arena *arena, pawl_history_rows *rows, pawl_error *error)
{
    memory_data      *data  = pawl__memory_enter(store);
    const history_row probe = {
        .fields = {.id    = query->after,
                   .entry = {.source = query->source, .message_id = query->message_id}}};
    int                index = query->message_id.size != 0 ? BY_MESSAGE
                               : query->source.size != 0   ? BY_SOURCE
                                                           : BY_ID;
    const memory_tree *tree  = &data->history.trees[index];
    memory_list        list  = {0};
    void              *items = NULL;
    bool               is_ok = true;
    for (history_row *row = pawl__tree_above(tree, &probe);
         is_ok && row != NULL && (query->count_max == 0 || list.count < query->count_max);
         row = pawl__tree_next(tree, row)) {
        if (is_past(query, &row->fields))
            break;
        if (is_same(query->source, row->fields.entry.source))
            is_ok = pawl__memory_list_add(&list, arena, row);
    }
    is_ok = is_ok && pawl__memory_list_show(&list, &data->history, arena, &items);
    pawl__memory_leave(data);
    if (!is_ok)
        return pawl__memory_out_of_memory("lines of history", error);
    rows->items = items;
    rows->count = list.count;
    return PAWL_OK;
}

pawl_code pawl__memory_apply_history_add(memory_commit *commit, const void *item)
{
    const pawl_history_add *change = item;
    memory_data            *data   = commit->data;
    const history_row       model  = {.fields = {.id = ++data->last_id, .entry = change->entry}};
    return pawl__journal_insert(&data->journal, &data->history,
                                pawl__row_create(&data->history, &model));
}

size_t pawl__memory_history_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t       count = 0;
    history_row *row;
    while (before != 0 && count < count_max &&
           (row = pawl__tree_first(&data->history.trees[BY_ID])) != NULL &&
           row->fields.entry.at < before) {
        pawl__table_unlink(&data->history, row);
        pawl__row_free(row);
        count++;
    }
    return count;
}
