/* walk.c - pages of a walk: the row behind a key, again and again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

static memory_walk_fn *const kinds[PAWL_SCAN_KINDS] = {
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
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = pawl_arena_text(arena, *texts[i]);
        if (texts[i]->data == NULL)
            return false;
    }
    return true;
}

pawl_code pawl__memory_scan(pawl_store *store, const pawl_scan *walk, pawl_arena *arena,
                            pawl_scan_rows *rows, pawl_error *error)
{
    memory_data  *data     = pawl__memory_enter(store);
    size_t        capacity = 0;
    bool          is_ok    = true;
    pawl_scan_row row      = walk->after != NULL ? *walk->after : (pawl_scan_row){.number = 0};
    while (is_ok && (walk->count_max == 0 || rows->count < walk->count_max) &&
           kinds[walk->kind](data, walk, &row, &row)) {
        pawl_scan_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        is_ok = grown != NULL && keep_texts(&row, arena);
        if (is_ok) {
            rows->items          = grown;
            grown[rows->count++] = row;
        }
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("walk", error);
}
