/* scan.c - the entries find and scan: lists the rows of a query, or a page of all rows in key order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/arena.h"

static memory_scan_fn *const kinds[PAWL_SCAN_KINDS] = {
    [PAWL_SCAN_SAGAS]            = pawl__memory_saga_behind,
    [PAWL_SCAN_QUEUE]            = pawl__memory_message_behind,
    [PAWL_SCAN_TIMEOUTS]         = pawl__memory_timeout_behind,
    [PAWL_SCAN_STREAM_SNAPSHOTS] = pawl__memory_fold_behind,
    [PAWL_SCAN_AGGREGATORS]      = pawl__memory_aggregator_behind,
    [PAWL_SCAN_DEAD]             = pawl__memory_letter_behind,
    [PAWL_SCAN_CHECKPOINTS]      = pawl__memory_checkpoint_behind,
    [PAWL_SCAN_PARTITIONS]       = pawl__memory_partition_behind,
};

/* Gives the row texts of its own. */
static bool keep_texts(pawl_scan_row *row, pawl_arena *arena)
{
    pawl_text *texts[] = {&row->belongs_to,
                          &row->name,
                          &row->code,
                          &row->error,
                          &row->type_version,
                          &row->persistence_version,
                          &row->message.id,
                          &row->message.type,
                          &row->message.body,
                          &row->message.headers,
                          &row->message.correlation_id,
                          &row->message.causation_id};
    return pawl__arena_texts(arena, texts, sizeof texts / sizeof texts[0]);
}

pawl_code pawl__memory_scan(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                            pawl_scan_rows *rows, pawl_error *error)
{
    memory_data  *data     = pawl__memory_enter(store);
    size_t        capacity = 0;
    bool          is_ok    = true;
    pawl_scan_row row      = scan->after != NULL ? *scan->after : (pawl_scan_row){.number = 0};
    while (is_ok && (scan->count_max == 0 || rows->count < scan->count_max) &&
           kinds[scan->kind](data, scan, &row, &row)) {
        pawl_scan_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        is_ok = grown != NULL && keep_texts(&row, arena);
        if (is_ok) {
            rows->items          = grown;
            grown[rows->count++] = row;
        }
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("scan", error);
}

/* ---- Rows of a kind ------------------------------------------------------ */

typedef struct find_row {
    memory_find_fn *find;
    size_t          table;
    memory_part     part; /* of what is shown of a row; nothing: all */
} find_row;

#define FIND(noun, table, ...)                                              \
    {                                                                       \
        pawl__memory_find_##noun, offsetof(memory_data, table), __VA_ARGS__ \
    }
#define ALL  \
    {        \
        0, 0 \
    }
#define FOREIGN                                                           \
    {                                                                     \
        offsetof(pawl_timeout_row, destination), sizeof(pawl_foreign_row) \
    }
_Static_assert(offsetof(pawl_timeout_row, due) - offsetof(pawl_timeout_row, destination) ==
                   offsetof(pawl_foreign_row, due),
               "a part of a timeout");
static const find_row finds[PAWL_FIND_KINDS] = {
    [PAWL_FIND_MESSAGES]      = FIND(messages, queue, {0, sizeof(pawl_queue_message)}),
    [PAWL_FIND_RETRIED]       = FIND(retried, queue, ALL),
    [PAWL_FIND_TIMEOUTS]      = FIND(timeouts, timeouts, ALL),
    [PAWL_FIND_FOREIGN]       = FIND(foreign, timeouts, FOREIGN),
    [PAWL_FIND_OUTBOX]        = FIND(outbox, outbox, ALL),
    [PAWL_FIND_ATTEMPTS]      = FIND(attempts, attempts, ALL),
    [PAWL_FIND_DEAD]          = FIND(dead, dead, ALL),
    [PAWL_FIND_EVENTS]        = FIND(events, events, ALL),
    [PAWL_FIND_HISTORY]       = FIND(history, history, ALL),
    [PAWL_FIND_PARTITION]     = FIND(partition, aggregator, ALL),
    [PAWL_FIND_FLUSHES]       = FIND(flushes, flushes, ALL),
    [PAWL_FIND_SUBSCRIPTIONS] = FIND(subscriptions, subscriptions, ALL),
    [PAWL_FIND_LEADS]         = FIND(leads, leads, ALL),
    [PAWL_FIND_WORKERS]       = FIND(workers, workers, ALL),
};

pawl_code pawl__memory_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                            pawl_found *found, pawl_error *error)
{
    if ((unsigned)asked->kind >= PAWL_FIND_KINDS)
        return PAWL_EUNSUPPORTED;
    const find_row     *kind  = &finds[asked->kind];
    memory_list         list  = pawl__memory_list_begin(store, arena, (size_t)asked->limit);
    const memory_table *table = (const void *)((const char *)list.data + kind->table);
    memory_part         part  = table->kind->shown;
    if (kind->part.size != 0)
        part = (memory_part){part.offset + kind->part.offset, kind->part.size};
    kind->find(list.data, asked, &list);
    bool is_ok = pawl__memory_list_show(&list, table, &part, &found->items);
    pawl__memory_leave(list.data);
    found->count = list.count;
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("rows that were found", error);
}
