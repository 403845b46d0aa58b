/* queue.c - queue rows and their claims.
 *
 * A row is in `ready` or in `claimed`, never in both; `fresh` has what counts
 * as an older message for queue_oldest: rows that neither wait nor were retried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/queue_fields.h"
#include "store/memory/memory.h"

#include <stdlib.h>

typedef struct queue_row {
    MEMORY_ROW(6)
    pawl_queue_row fields;
    pawl_text      error;
    pawl_text      queue;
} queue_row;
/* A pawl_queue_message is a part of the row. */
_Static_assert(offsetof(queue_row, error) - offsetof(queue_row, fields) ==
                   offsetof(pawl_queue_message, error),
               "see above");

enum { BY_PLACE, BY_ID, BY_SEQ, FRESH, READY, CLAIMED };

/* ---- Order -------------------------------------------------------------- */

MEMORY_ORDER(queue_by_id, queue_row, MEMORY_NUMBER(row.hash),
             MEMORY_TEXT(queue) || MEMORY_TEXT(fields.message.id))
MEMORY_ORDER(queue_by_seq, queue_row, MEMORY_NUMBER(fields.seq), MEMORY_NOTHING)
MEMORY_ORDER(queue_by_place, queue_row, MEMORY_TEXT(queue),
             MEMORY_NUMBER(fields.placed) || MEMORY_NUMBER(fields.seq))
MEMORY_ORDER(queue_by_due, queue_row, MEMORY_TEXT(queue),
             MEMORY_NUMBER(fields.due) || MEMORY_NUMBER(fields.seq))
MEMORY_HAS(queue_is_fresh, queue_row, it->fields.attempts == 0 && it->fields.waiting_since == 0)
MEMORY_HAS(queue_is_ready, queue_row, it->row.holder == 0)

const memory_table_kind pawl__memory_queue_kind = {
    MEMORY_SIZES(queue_row, fields),
    .fields  = &pawl__queue_row_fields,
    .texts   = {offsetof(queue_row, queue), offsetof(queue_row, error)},
    .loose   = {offsetof(queue_row, error), offsetof(queue_row, fields.history)},
    .indexes = {[BY_PLACE] = MEMORY_INDEX(queue_by_place, NULL),
                [BY_ID]    = MEMORY_INDEX(queue_by_id, NULL),
                [BY_SEQ]   = MEMORY_INDEX(queue_by_seq, NULL),
                [FRESH]    = MEMORY_INDEX(queue_by_place, queue_is_fresh),
                [READY]    = MEMORY_INDEX_OF_CLAIMS(queue_by_due, queue_is_ready),
                [CLAIMED]  = MEMORY_HOLDERS},
};

/* ---- Claims ------------------------------------------------------------- */

static queue_row *find_seq(const memory_table *table, int64_t seq)
{
    const queue_row probe = {.fields.seq = seq};
    return pawl__tree_find(&table->trees[BY_SEQ], &probe);
}

static int by_due_of_pointers(const void *left, const void *right)
{
    return queue_by_due(*(void *const *)left, *(void *const *)right);
}

/* Lists the rows of a claim by numbers: free ones, and those of this handle. */
static void list_named(const memory_store *store, const pawl_queue_claim *claim, memory_list *list)
{
    for (size_t i = 0; !list->is_failed && i < claim->seq_count; i++) {
        queue_row *row = find_seq(&store->data->queue, claim->seqs[i]);
        if (row != NULL && pawl_text_equal(row->queue, claim->queue) &&
            row->fields.due <= claim->due_max &&
            (row->row.holder == 0 || row->row.holder == store->holder))
            pawl__memory_list_take(list, row);
    }
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, by_due_of_pointers);
}

static void list_due(const memory_table *table, const pawl_queue_claim *claim, memory_list *list)
{
    const memory_tree *ready = &table->trees[READY];
    const queue_row    probe = {.queue = claim->queue};
    queue_row         *row   = pawl__tree_first_of(ready, &probe);
    size_t             size  = 0;
    while (row != NULL && row->fields.due <= claim->due_max &&
           !PAWL_SIZE_IS_REACHED(size, claim->size_max) && pawl__memory_list_take(list, row)) {
        size += PAWL_MESSAGE_SIZE(&row->fields.message);
        row = pawl__tree_next_of(ready, row);
    }
}

pawl_code pawl__memory_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    memory_store      *self = (memory_store *)store;
    const memory_claim ours = {.holder = self->holder};
    memory_list        list = pawl__memory_list_begin(store, arena, claim->count_max);
    if (claim->seq_count != 0)
        list_named(self, claim, &list);
    else if (claim->count_max != 0)
        list_due(&self->data->queue, claim, &list);
    return pawl__memory_list_end(&list, &self->data->queue, &ours, "claim of a queue", &rows->items,
                                 &rows->count, error);
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
    const queue_row    probe = {.queue = queue};
    const queue_row   *row   = pawl__tree_first_of(fresh, &probe);
    for (; row != NULL; row = pawl__tree_next_of(fresh, row)) {
        if (row->fields.due > due_max || is_excepted(row->fields.seq, except, except_count))
            continue;
        *placed = row->fields.placed;
        *seq    = row->fields.seq;
        break;
    }
    pawl__memory_leave(data);
    return PAWL_OK;
}

MEMORY_BEHIND(pawl__memory_message_behind, queue_row, queue.trees[BY_SEQ],
              .fields.seq = after->number, .number = it->fields.seq, .belongs_to = it->queue,
              .message = it->fields.message)

static bool is_wanted(const pawl_queue_query *query, const pawl_queue_row *row)
{
    return pawl__memory_is_like(query->message_id, row->message.id) &&
           pawl__memory_is_like(query->type, row->message.type) && row->due >= query->due_min &&
           row->due <= query->due_max && row->seq <= query->seq_max;
}

/* There is no order of due times that has claimed rows in it. */
void pawl__memory_find_messages(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const queue_row    after  = {.queue  = asked->messages.queue,
                                 .fields = {.due = asked->after.time, .seq = asked->after.number}};
    const memory_tree *places = &data->queue.trees[BY_PLACE];
    size_t             limit  = list->limit;
    if (!asked->is_by_place)
        list->limit = SIZE_MAX;
    for (queue_row *row = pawl__tree_first_of(places, &after); row != NULL;
         row            = pawl__tree_next_of(places, row))
        if ((asked->is_by_place ||
             (is_wanted(&asked->messages, &row->fields) && queue_by_due(row, &after) > 0)) &&
            !pawl__memory_list_take(list, row))
            return;
    if (asked->is_by_place || list->count == 0)
        return;
    qsort(list->rows, list->count, sizeof *list->rows, by_due_of_pointers);
    if (list->count > limit)
        list->count = limit;
}

static bool is_retried(const queue_row *row, const pawl_retried_query *query)
{
    return row->fields.attempts > 0 && row->fields.due > query->due_after &&
           pawl_text_equal(row->fields.message.type, query->type);
}

/* Looks at all rows: there is no order of due times that has claimed rows in it. */
void pawl__memory_find_retried(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *places = &data->queue.trees[BY_PLACE];
    const queue_row    probe  = {.queue = asked->retried.queue};
    for (queue_row *row = pawl__tree_first_of(places, &probe); row != NULL;
         row            = pawl__tree_next_of(places, row))
        if (is_retried(row, &asked->retried) && !pawl__memory_list_take(list, row))
            return;
}

pawl_time pawl__memory_queue_next_due(const memory_data *data, pawl_text queue)
{
    const queue_row  probe = {.queue = queue};
    const queue_row *row   = pawl__tree_first_of(&data->queue.trees[READY], &probe);
    return row != NULL ? row->fields.due : PAWL_TIME_MAX;
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

#define WRITE(number, member, ...) model.fields.member = change->member
#define WRITE_ERROR(number, member, ...) model.member = change->member

pawl_code pawl__memory_apply_queue_settle(memory_commit *commit, const void *item)
{
    const pawl_queue_settle *change = item;
    memory_table            *table  = &commit->data->queue;
    queue_row               *row    = find_seq(table, change->seq);
    if (row == NULL || row->row.holder != commit->store->holder ||
        !pawl_text_equal(row->queue, change->queue))
        return pawl__memory_refuse_by(commit, pawl__why_not_claimed, item);
    if (change->action == PAWL_QUEUE_DONE)
        return pawl__memory_write(commit, table, row, NULL);
    queue_row model = *row;
    pawl__row_release(table, &model);
    if (change->action == PAWL_QUEUE_RETRY) {
        PAWL__QUEUE_SETTLED(WRITE, WRITE_ERROR, ;);
    }
    return pawl__memory_write(commit, table, row, &model);
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
        return !change->is_new ? PAWL_OK : pawl__memory_refuse_by(commit, pawl__why_queued, item);
    model.fields.seq = ++commit->data->last_id;
    return pawl__memory_write(commit, table, NULL, &model);
}
