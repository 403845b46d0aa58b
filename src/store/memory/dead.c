/* dead.c - dead letters and subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include <string.h>

/* ---- Dead letters -------------------------------------------------------- */

typedef struct dead_row {
    MEMORY_ROW(2)
    pawl_dead_row fields;
} dead_row;

enum { BY_KEY, BY_TIME };

MEMORY_ORDER(dead_by_key, dead_row, MEMORY_TEXT(fields.endpoint), MEMORY_TEXT(fields.message.id))
MEMORY_ORDER(dead_by_time, dead_row, MEMORY_NUMBER(fields.at),
             MEMORY_TEXT(fields.endpoint) || MEMORY_TEXT(fields.message.id))

const memory_table_kind pawl__memory_dead_kind = {
    MEMORY_SIZES(dead_row, fields),
    .fields = &pawl__dead_row_fields,
    .loose  = {offsetof(dead_row, fields.code), offsetof(dead_row, fields.error),
               offsetof(dead_row, fields.history)},
    .indexes =
        {[BY_KEY] = MEMORY_INDEX(dead_by_key, NULL), [BY_TIME] = MEMORY_INDEX(dead_by_time, NULL)},
};

static bool is_wanted(const pawl_dead_query *query, const pawl_dead_row *letter)
{
    pawl_text error = letter->error, part = query->error_part;
    bool has_part = part.size == 0 || (error.size > 0 && memmem(error.data, error.size, part.data,
                                                                part.size) != NULL);
    return pawl__memory_is_like(query->endpoint, letter->endpoint) &&
           pawl__memory_is_like(query->message_id, letter->message.id) &&
           pawl__memory_is_like(query->type, letter->message.type) &&
           pawl__memory_is_like(query->code, letter->code) && has_part &&
           letter->at >= query->at_min && letter->at <= query->at_max;
}

void pawl__memory_find_dead(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree  = &data->dead.trees[BY_TIME];
    const dead_row     probe = {.fields = {.at         = asked->after.time,
                                           .endpoint   = asked->after.endpoint,
                                           .message.id = asked->after.message_id}};
    for (dead_row *row = pawl__tree_above(tree, &probe); row != NULL;
         row           = pawl__tree_next(tree, row))
        if (is_wanted(&asked->dead, &row->fields) && !pawl__memory_list_take(list, row))
            return;
}

/* The entry of the queue, in the order of names; NULL when out of memory. */
static pawl_dead_count *count_of(pawl_dead_counts *counts, size_t *capacity, pawl_text queue,
                                 pawl_arena *arena)
{
    size_t at = 0;
    while (at < counts->count && pawl_text_compare(counts->items[at].queue, queue) < 0)
        at++;
    if (at < counts->count && pawl_text_equal(counts->items[at].queue, queue))
        return &counts->items[at];
    pawl_text        name = pawl_arena_text(arena, queue);
    pawl_dead_count *grown =
        pawl_arena_grow(arena, counts->items, counts->count, capacity, sizeof *grown);
    if (name.data == NULL || grown == NULL)
        return NULL;
    memmove(&grown[at + 1], &grown[at], (counts->count - at) * sizeof *grown);
    grown[at]     = (pawl_dead_count){.queue = name, .oldest = PAWL_TIME_MAX};
    counts->items = grown;
    counts->count++;
    return &grown[at];
}

pawl_code pawl__memory_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                  pawl_error *error)
{
    memory_data       *data     = pawl__memory_enter(store);
    const memory_tree *tree     = &data->dead.trees[BY_TIME];
    size_t             capacity = 0;
    bool               is_ok    = true;
    for (const dead_row *row = pawl__tree_first(tree); is_ok && row != NULL;
         row                 = pawl__tree_next(tree, row)) {
        pawl_dead_count *count = count_of(counts, &capacity, row->fields.queue, arena);
        is_ok                  = count != NULL;
        if (is_ok && count->count++ == 0)
            count->oldest = row->fields.at;
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("count of dead letters", error);
}

bool pawl__memory_letter_behind(const memory_data *data, const pawl_scan *scan,
                                const pawl_scan_row *after, pawl_scan_row *row)
{
    (void)scan;
    const dead_row probe = {
        .fields = {.endpoint = after->belongs_to, .message.id = after->message.id}};
    const dead_row *found = pawl__tree_above(&data->dead.trees[BY_KEY], &probe);
    if (found != NULL)
        *row = (pawl_scan_row){.belongs_to = found->fields.endpoint,
                               .name       = found->fields.queue,
                               .code       = found->fields.code,
                               .message    = found->fields.message};
    return found != NULL;
}

static pawl_code remove_letter(memory_commit *commit, const pawl_dead_set *change, dead_row *row)
{
    memory_data *data = commit->data;
    pawl_code    code = PAWL_OK;
    if (change->is_checked && (row == NULL || row->fields.at != change->at))
        return pawl__memory_refuse_by(commit, pawl__why_no_letter, change);
    if (row != NULL)
        code = pawl__memory_write(commit, &data->dead, row, NULL);
    return code != PAWL_OK || change->keeps_record
               ? code
               : pawl__memory_inbox_remove(commit, change->endpoint, change->message.id);
}

pawl_code pawl__memory_apply_dead_set(memory_commit *commit, const void *item)
{
    const pawl_dead_set *change = item;
    memory_data         *data   = commit->data;
    dead_row             model  = {
                     .fields = {.endpoint = change->endpoint,
                                .queue    = change->queue,
                                .message  = change->message,
                                .code     = change->code,
                                .error    = change->error,
                                .attempts = change->attempts,
                                .crashes  = change->crashes,
                                .history  = change->history,
                                .at       = change->at},
    };
    dead_row *known = pawl__tree_find(&data->dead.trees[BY_KEY], &model);
    if (change->is_remove)
        return remove_letter(commit, change, known);
    return known != NULL ? PAWL_OK : pawl__memory_write(commit, &data->dead, NULL, &model);
}

/* ---- Subscriptions ------------------------------------------------------- */

typedef struct subscription_row {
    MEMORY_ROW(1)
    pawl_subscription fields;
} subscription_row;

MEMORY_ORDER(subscription_by_type, subscription_row, MEMORY_TEXT(fields.type),
             MEMORY_TEXT(fields.queue))

const memory_table_kind pawl__memory_subscription_kind = {
    MEMORY_SIZES(subscription_row, fields),
    .fields  = &pawl__subscription_fields,
    .indexes = {MEMORY_INDEX(subscription_by_type, NULL)},
};

void pawl__memory_find_subscriptions(const memory_data *data, const pawl_find *asked,
                                     memory_list *list)
{
    const memory_tree *tree = &data->subscriptions.trees[0];
    (void)asked;
    for (void *row = pawl__tree_first(tree); row != NULL; row = pawl__tree_next(tree, row))
        if (!pawl__memory_list_take(list, row))
            return;
}

bool pawl__memory_is_subscriber(const memory_data *data, pawl_text queue)
{
    const memory_tree *tree = &data->subscriptions.trees[0];
    for (const subscription_row *row = pawl__tree_first(tree); row != NULL;
         row                         = pawl__tree_next(tree, row))
        if (pawl_text_equal(row->fields.queue, queue))
            return true;
    return false;
}

pawl_code pawl__memory_apply_subscription_set(memory_commit *commit, const void *item)
{
    const pawl_subscription_set *change = item;
    memory_data                 *data   = commit->data;
    const subscription_row       model = {.fields = {.type = change->type, .queue = change->queue}};
    subscription_row            *known = pawl__tree_find(&data->subscriptions.trees[0], &model);
    if (change->is_remove != (known != NULL))
        return PAWL_OK;
    return pawl__memory_write(commit, &data->subscriptions, known, known != NULL ? NULL : &model);
}
