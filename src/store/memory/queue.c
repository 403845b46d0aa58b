/* queue.c - messages that are ready or delayed, and whose claims they are.
 *
 * A row is in `ready` or in `claimed`, never in both; `fresh` has what counts
 * as an older message for queue_oldest: rows that neither wait nor were retried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include <stdlib.h>

typedef struct queue_row {
    MEMORY_ROW(6)
    pawl_queue_row fields;
    pawl_text      queue;
    pawl_text      error;
    uint64_t       holder; /* of the claim; 0: free */
} queue_row;

enum { BY_PLACE, BY_ID, BY_SEQ, FRESH, READY, CLAIMED };

/* ---- Order -------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    int              order = pawl__order_hashes(a->row.hash, b->row.hash);
    if (order == 0)
        order = pawl_text_compare(a->queue, b->queue);
    return order != 0 ? order : pawl_text_compare(a->fields.message.id, b->fields.message.id);
}

static int by_seq(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    return pawl__order_integers(a->fields.seq, b->fields.seq);
}

static int by_place(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    int              order = pawl_text_compare(a->queue, b->queue);
    if (order == 0)
        order = pawl__order_integers(a->fields.placed, b->fields.placed);
    return order != 0 ? order : by_seq(left, right);
}

static int by_due(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    int              order = pawl_text_compare(a->queue, b->queue);
    if (order == 0)
        order = pawl__order_integers(a->fields.due, b->fields.due);
    return order != 0 ? order : by_seq(left, right);
}

static int by_holder(const void *left, const void *right)
{
    const queue_row *a = left, *b = right;
    int              order = pawl__order_hashes(a->holder, b->holder);
    return order != 0 ? order : by_seq(left, right);
}

static bool is_fresh(const void *row)
{
    const queue_row *it = row;
    return it->fields.attempts == 0 && it->fields.waiting_since == 0;
}

static bool is_ready(const void *row)
{
    const queue_row *it = row;
    return it->holder == 0;
}

static bool is_claimed(const void *row)
{
    return !is_ready(row);
}

const memory_table_kind pawl__memory_queue_kind = {
    .row_size      = sizeof(queue_row),
    .fields_offset = offsetof(queue_row, fields),
    .fields_size   = sizeof(pawl_queue_row),
    .fixed         = {offsetof(queue_row, queue), offsetof(queue_row, fields.message.id),
                      offsetof(queue_row, fields.message.type), offsetof(queue_row, fields.message.body),
                      offsetof(queue_row, fields.message.headers),
                      offsetof(queue_row, fields.message.correlation_id),
                      offsetof(queue_row, fields.message.causation_id)},
    .loose         = {offsetof(queue_row, error), offsetof(queue_row, fields.history)},
    .index_count   = MEMORY_INDEX_COUNT(queue_row),
    .indexes       = {[BY_PLACE] = {by_place, NULL},
                      [BY_ID]    = {by_id, NULL},
                      [BY_SEQ]   = {by_seq, NULL},
                      [FRESH]    = {by_place, is_fresh},
                      [READY]    = {by_due, is_ready},
                      [CLAIMED]  = {by_holder, is_claimed}},
};

/* ---- Claims ------------------------------------------------------------- */

static void set_holder(memory_table *table, queue_row *row, uint64_t holder)
{
    if (row->holder == holder)
        return;
    pawl__tree_remove(&table->trees[row->holder == 0 ? READY : CLAIMED], row);
    row->holder = holder;
    pawl__tree_insert(&table->trees[holder == 0 ? READY : CLAIMED], row);
}

void pawl__memory_queue_free(memory_data *data, uint64_t holder)
{
    const queue_row probe = {.holder = holder, .fields.seq = INT64_MIN};
    queue_row      *row;
    while ((row = pawl__tree_at_least(&data->queue.trees[CLAIMED], &probe)) != NULL &&
           row->holder == holder)
        set_holder(&data->queue, row, 0);
}

static queue_row *find_seq(const memory_table *table, int64_t seq)
{
    const queue_row probe = {.fields.seq = seq};
    return pawl__tree_find(&table->trees[BY_SEQ], &probe);
}

static int by_due_of_pointers(const void *left, const void *right)
{
    return by_due(*(void *const *)left, *(void *const *)right);
}

/* The rows of a claim that names their numbers: free ones, and ours. */
static bool list_named(const memory_store *store, const pawl_queue_claim *claim, memory_list *list,
                       pawl_arena *arena)
{
    for (size_t i = 0; i < claim->seq_count; i++) {
        queue_row *row = find_seq(&store->data->queue, claim->seqs[i]);
        if (row != NULL && pawl_text_equal(row->queue, claim->queue) &&
            row->fields.due <= claim->due_max &&
            (row->holder == 0 || row->holder == store->holder) &&
            !pawl__memory_list_add(list, arena, row))
            return false;
    }
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, by_due_of_pointers);
    return true;
}

static bool list_due(const memory_table *table, const pawl_queue_claim *claim, memory_list *list,
                     pawl_arena *arena)
{
    const memory_tree *ready = &table->trees[READY];
    const queue_row    probe = {
           .queue = claim->queue, .fields.due = INT64_MIN, .fields.seq = INT64_MIN};
    queue_row *row  = pawl__tree_at_least(ready, &probe);
    size_t     size = 0;
    for (; row != NULL && list->count < claim->count_max; row = pawl__tree_next(ready, row)) {
        if (row->fields.due > claim->due_max || !pawl_text_equal(row->queue, claim->queue) ||
            PAWL_SIZE_IS_REACHED(size, claim->size_max))
            break;
        if (!pawl__memory_list_add(list, arena, row))
            return false;
        size += PAWL_MESSAGE_SIZE(&row->fields.message);
    }
    return true;
}

pawl_code pawl__memory_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    memory_data  *data  = pawl__memory_enter(store);
    memory_store *self  = (memory_store *)store;
    memory_list   list  = {0};
    void         *items = NULL;
    bool          is_ok = claim->seq_count != 0 ? list_named(self, claim, &list, arena)
                                                : list_due(&data->queue, claim, &list, arena);
    is_ok               = is_ok && pawl__memory_list_show(&list, &data->queue, arena, &items);
    for (size_t i = 0; is_ok && i < list.count; i++)
        set_holder(&data->queue, list.rows[i], self->holder);
    pawl__memory_leave(data);
    if (!is_ok)
        return pawl__memory_out_of_memory("claim of a queue", error);
    rows->items = items;
    rows->count = list.count;
    return PAWL_OK;
}

/* ---- Reads -------------------------------------------------------------- */

static bool is_excepted(int64_t seq, const int64_t *except, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (except[i] == seq)
            return true;
    return false;
}

pawl_code pawl__memory_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                    const int64_t *except, size_t except_count, pawl_time *placed,
                                    int64_t *seq, pawl_error *error)
{
    (void)error;
    memory_data       *data  = pawl__memory_enter(store);
    const memory_tree *fresh = &data->queue.trees[FRESH];
    const queue_row  probe = {.queue = queue, .fields.placed = INT64_MIN, .fields.seq = INT64_MIN};
    const queue_row *row   = pawl__tree_at_least(fresh, &probe);
    for (; row != NULL && pawl_text_equal(row->queue, queue); row = pawl__tree_next(fresh, row)) {
        if (row->fields.due > due_max || is_excepted(row->fields.seq, except, except_count))
            continue;
        *placed = row->fields.placed;
        *seq    = row->fields.seq;
        break;
    }
    pawl__memory_leave(data);
    return PAWL_OK;
}

bool pawl__memory_message_behind(const memory_data *data, const pawl_scan *walk,
                                 const pawl_scan_row *after, pawl_scan_row *row)
{
    (void)walk;
    const queue_row  probe = {.fields.seq = after->number};
    const queue_row *found = pawl__tree_above(&data->queue.trees[BY_SEQ], &probe);
    if (found != NULL)
        *row = (pawl_scan_row){.number     = found->fields.seq,
                               .belongs_to = found->queue,
                               .message    = found->fields.message};
    return found != NULL;
}

static bool is_wanted(const pawl_queue_query *query, const pawl_queue_row *row)
{
    return pawl__memory_is_like(query->message_id, row->message.id) &&
           pawl__memory_is_like(query->type, row->message.type) && row->due >= query->due_min &&
           row->due <= query->due_max && row->seq <= query->seq_max;
}

static queue_row *first_of(const memory_data *data, pawl_text queue)
{
    const queue_row probe = {.queue = queue, .fields.placed = INT64_MIN, .fields.seq = INT64_MIN};
    queue_row      *row   = pawl__tree_at_least(&data->queue.trees[BY_PLACE], &probe);
    return row != NULL && pawl_text_equal(row->queue, queue) ? row : NULL;
}

static queue_row *next_of(const memory_data *data, queue_row *row)
{
    queue_row *next = pawl__tree_next(&data->queue.trees[BY_PLACE], row);
    return next != NULL && pawl_text_equal(row->queue, next->queue) ? next : NULL;
}

/* There is no order of due times that has claimed rows in it. */
void pawl__memory_find_messages(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const queue_row after = {.queue  = asked->messages.queue,
                             .fields = {.due = asked->after.time, .seq = asked->after.number}};
    int64_t         limit = list->limit;
    if (!asked->is_by_place)
        list->limit = INT64_MAX;
    for (queue_row *row = first_of(data, asked->messages.queue); row != NULL;
         row            = next_of(data, row))
        if ((asked->is_by_place ||
             (is_wanted(&asked->messages, &row->fields) && by_due(row, &after) > 0)) &&
            !pawl__memory_list_take(list, row))
            return;
    if (asked->is_by_place || list->count == 0)
        return;
    qsort(list->rows, list->count, sizeof *list->rows, by_due_of_pointers);
    if ((int64_t)list->count > limit)
        list->count = (size_t)limit;
}

bool pawl__memory_show_messages(const memory_list *list, const memory_table *table,
                                pawl_arena *arena, void **items)
{
    pawl_queue_message *messages = *items =
        pawl_arena_take(arena, (list->count + 1) * sizeof *messages);
    bool is_ok = messages != NULL;
    for (size_t i = 0; is_ok && i < list->count; i++) {
        const queue_row *row = list->rows[i];
        messages[i].error    = pawl_arena_text(arena, row->error);
        is_ok =
            messages[i].error.data != NULL && pawl__row_show(table, row, arena, &messages[i].row);
    }
    return is_ok;
}

static bool is_retried(const queue_row *row, const pawl_retried_query *query)
{
    return row->fields.attempts > 0 && row->fields.due > query->due_after &&
           pawl_text_equal(row->fields.message.type, query->type);
}

/* Looks at all rows: there is no order of due times that has claimed rows in it. */
void pawl__memory_find_retried(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    for (queue_row *row = first_of(data, asked->retried.queue); row != NULL;
         row            = next_of(data, row))
        if (is_retried(row, &asked->retried) && !pawl__memory_list_take(list, row))
            return;
}

pawl_time pawl__memory_queue_next_due(const memory_data *data, pawl_text queue)
{
    const queue_row  probe = {.queue = queue, .fields.due = INT64_MIN, .fields.seq = INT64_MIN};
    const queue_row *row   = pawl__tree_at_least(&data->queue.trees[READY], &probe);
    return row != NULL && pawl_text_equal(row->queue, queue) ? row->fields.due : PAWL_TIME_MAX;
}

/* The line of the row's queue; rows come by queue. NULL when out of memory. */
static pawl_queue_stats *line_of(pawl_stats *stats, size_t *capacity, pawl_text queue,
                                 pawl_arena *arena)
{
    if (stats->queue_count != 0 &&
        pawl_text_equal(stats->queues[stats->queue_count - 1].queue, queue))
        return &stats->queues[stats->queue_count - 1];
    pawl_text         name = pawl_arena_text(arena, queue);
    pawl_queue_stats *lines =
        pawl_arena_grow(arena, stats->queues, stats->queue_count, capacity, sizeof *lines);
    if (name.data == NULL || lines == NULL)
        return NULL;
    stats->queues             = lines;
    lines[stats->queue_count] = (pawl_queue_stats){.queue = name};
    return &lines[stats->queue_count++];
}

static void count_retried(pawl_queue_stats *line, const pawl_queue_row *row)
{
    if (row->attempts == 0)
        return;
    line->retried++;
    if (line->retried == 1 || row->placed < line->retried_since)
        line->retried_since = row->placed;
}

pawl_code pawl__memory_queue_stats(const memory_data *data, pawl_time now, pawl_arena *arena,
                                   pawl_stats *stats)
{
    const memory_tree *places   = &data->queue.trees[BY_PLACE];
    size_t             capacity = 0;
    const queue_row   *row      = pawl__tree_first(places);
    for (; row != NULL; row = pawl__tree_next(places, row)) {
        pawl_queue_stats *line = line_of(stats, &capacity, row->queue, arena);
        if (line == NULL)
            return PAWL_ENOMEM;
        if (row->fields.due > now) {
            line->scheduled++;
            count_retried(line, &row->fields);
            continue;
        }
        line->ready++;
        if (line->ready == 1 || row->fields.due < line->oldest)
            line->oldest = row->fields.due;
    }
    return PAWL_OK;
}

/* ---- Changes ------------------------------------------------------------ */

static pawl_code retry(memory_commit *commit, queue_row *row, const pawl_queue_settle *change)
{
    memory_table *table = &commit->data->queue;
    queue_row    *copy  = pawl__row_clone(table, row);
    if (copy == NULL)
        return PAWL_ENOMEM;
    copy->holder               = 0;
    copy->fields.due           = change->due;
    copy->fields.attempts      = change->attempts;
    copy->fields.crashes       = change->crashes;
    copy->fields.waiting_since = change->waiting_since;
    copy->error                = change->error;
    copy->fields.history       = change->history;
    if (!pawl__row_repack(table, copy))
        return PAWL_ENOMEM;
    return pawl__journal_replace(&commit->data->journal, table, row, copy);
}

static pawl_code release(memory_commit *commit, queue_row *row)
{
    queue_row *copy = pawl__row_clone(&commit->data->queue, row);
    if (copy != NULL)
        copy->holder = 0;
    return pawl__journal_replace(&commit->data->journal, &commit->data->queue, row, copy);
}

pawl_code pawl__memory_apply_queue_settle(memory_commit *commit, const void *item)
{
    const pawl_queue_settle *change = item;
    queue_row               *row    = find_seq(&commit->data->queue, change->seq);
    if (row == NULL || row->holder != commit->store->holder ||
        !pawl_text_equal(row->queue, change->queue))
        return pawl__memory_refuse(commit, PAWL_EGONE,
                                   "queue '%.*s': message %lld is not claimed by this worker",
                                   PAWL_TEXT_ARGS(change->queue), (long long)change->seq);
    switch (change->action) {
    case PAWL_QUEUE_RETRY: return retry(commit, row, change);
    case PAWL_QUEUE_RELEASE: return release(commit, row);
    case PAWL_QUEUE_DONE: break;
    }
    return pawl__journal_remove(&commit->data->journal, &commit->data->queue, row);
}

pawl_code pawl__memory_apply_queue_send(memory_commit *commit, const void *item)
{
    const pawl_queue_send *change = item;
    memory_table          *table  = &commit->data->queue;
    queue_row              model  = {
                      .row.hash = pawl__hash_texts(change->queue, change->message.id),
                      .queue    = change->queue,
                      .fields   = {.message  = change->message,
                                   .due      = change->due,
                                   .placed   = change->due,
                                   .attempts = change->attempts},
    };
    if (pawl__tree_find(&table->trees[BY_ID], &model) != NULL)
        return !change->is_new ? PAWL_OK
                               : pawl__memory_refuse(commit, PAWL_EDUPLICATE,
                                                     "queue %.*s: message %.*s is in it already",
                                                     PAWL_TEXT_ARGS(change->queue),
                                                     PAWL_TEXT_ARGS(change->message.id));
    model.fields.seq = ++commit->data->last_id;
    return pawl__journal_insert(&commit->data->journal, table, pawl__row_create(table, &model));
}
