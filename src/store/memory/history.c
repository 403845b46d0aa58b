/* history.c - lines of history.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"
#include "store/memory/memory.h"

typedef struct history_row {
    MEMORY_ROW(3)
    pawl_history_row fields;
} history_row;

enum { BY_ID, BY_SOURCE, BY_MESSAGE };

MEMORY_ORDER(history_by_id, history_row, MEMORY_NUMBER(fields.id), MEMORY_NOTHING)
MEMORY_ORDER(history_by_source, history_row, MEMORY_TEXT(fields.entry.source),
             MEMORY_NUMBER(fields.id))
MEMORY_ORDER(history_by_message, history_row, MEMORY_TEXT(fields.entry.message_id),
             MEMORY_NUMBER(fields.id))

const memory_table_kind pawl__memory_history_kind = {
    MEMORY_SIZES(history_row, fields),
    .fields  = &pawl__history_row_fields,
    .indexes = {[BY_ID]      = MEMORY_INDEX(history_by_id, NULL),
                [BY_SOURCE]  = MEMORY_INDEX(history_by_source, NULL),
                [BY_MESSAGE] = MEMORY_INDEX(history_by_message, NULL)},
};

/* Is the row after the query's part of the index (rows of a message, or else of a source)? */
static bool is_past(const pawl_history_query *query, const pawl_history_row *row)
{
    return query->message_id.size != 0
               ? !pawl__memory_is_like(query->message_id, row->entry.message_id)
               : !pawl__memory_is_like(query->source, row->entry.source);
}

void pawl__memory_find_history(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const pawl_history_query *query = &asked->history;
    const history_row         probe = {
                .fields = {.id    = asked->after.number,
                           .entry = {.source = query->source, .message_id = query->message_id}}};
    int                index = query->message_id.size != 0 ? BY_MESSAGE
                               : query->source.size != 0   ? BY_SOURCE
                                                           : BY_ID;
    const memory_tree *tree  = &data->history.trees[index];
    history_row       *row   = pawl__tree_above(tree, &probe);
    for (; row != NULL && !is_past(query, &row->fields); row = pawl__tree_next(tree, row))
        if (pawl__memory_is_like(query->source, row->fields.entry.source) &&
            !pawl__memory_list_take(list, row))
            return;
}

pawl_code pawl__memory_apply_history_add(memory_commit *commit, const void *item)
{
    const pawl_history_add *change = item;
    memory_data            *data   = commit->data;
    const history_row       model  = {.fields = {.id = ++data->last_id, .entry = change->entry}};
    return pawl__memory_write(commit, &data->history, NULL, &model);
}

static pawl_code sweep_page(void *context, pawl__old_page *page, pawl_error *error)
{
    memory_data       *data  = context;
    const memory_tree *tree  = &data->history.trees[BY_ID];
    const history_row  probe = {.fields = {.id = page->after}};
    (void)error;
    page->count = page->deleted = 0;
    for (history_row *row                              = pawl__tree_above(tree, &probe), *next;
         row != NULL && page->count < page->looks; row = next) {
        next       = pawl__tree_next(tree, row);
        page->last = row->fields.id;
        page->count++;
        if (row->fields.entry.at >= page->before)
            continue;
        pawl__table_drop(&data->history, row);
        page->deleted++;
    }
    return PAWL_OK;
}

int64_t pawl__memory_history_sweep(memory_data *data, pawl_time before, size_t count_max,
                                   bool *more)
{
    pawl__old_page page = {
        .before = before, .limit = (int64_t)count_max, .looks = (int64_t)count_max};
    int64_t deleted = 0;
    if (before != 0)
        (void)pawl__old_sweep(&data->history_place, &page, sweep_page, data, &deleted, more, NULL);
    return deleted;
}
