/* apply.c - functions of kind rules that run before the write of a change: check a claim, remove the rows of a leased
 * batch, lock a flush row, hold outbox rows back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"

#include "store/sql/family.h"

#include <stdlib.h>

#define REMOVED_MAX 128 /* rows that go to the driver at once */

/* ---- Queue rows --------------------------------------------------------- */

pawl_code pawl__sql_check_settle(pawl__sql_writer *writer, const void *change, pawl_error *why)
{
    if (writer->is_enlisted)
        return pawl__why_not_enlisted(change, why);
    return pawl__sql_ops_of(writer->store)->claim_check(writer->store, change, why);
}

/* ---- Leased batches ------------------------------------------------------- */

/* The first row that cannot be removed refuses the whole change. */
static pawl_code remove_some(const pawl__sql_writer *writer, const pawl__sql_removed_row *rows,
                             size_t count, pawl_error *why)
{
    pawl__sql_result       results[REMOVED_MAX];
    const pawl__sql_write *write = pawl__sql_remove_row(rows);
    pawl_code              code =
        pawl__sql_write_rows(writer->store, write, rows, sizeof *rows, count, results, why);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (write->then[results[i]].why != NULL)
            code = write->then[results[i]].why(&rows[i], why);
    return code;
}

pawl_code pawl__sql_apply_leased_batch_remove(pawl__sql_writer *writer, const void *change,
                                              pawl_error *why)
{
    const pawl_leased_batch_remove *leased = change;
    pawl__sql_removed_row           rows[REMOVED_MAX];
    pawl_code                       code  = PAWL_OK;
    size_t                          count = 0;
    for (size_t i = 0; code == PAWL_OK && i < leased->id_count; i++) {
        rows[count++] = pawl__sql_row_of(leased, i);
        if (count < REMOVED_MAX && i + 1 < leased->id_count)
            continue;
        code  = remove_some(writer, rows, count, why);
        count = 0;
    }
    return code;
}

/* ---- Flushes -------------------------------------------------------------- */

static const pawl__sql_write flush_touch = {
    .statement  = PAWL__SQL_FLUSH_TOUCH,
    .parameters = PAWL__FIELDS(PAWL__AS(flush_set, partition, TEXT)),
};

/* Locks the flush row before FLUSH_DONE, which deletes it if its partition has no messages. An aggregator add locks
 * the row, too: if FLUSH_DONE itself waited for that lock, it would go on with its older snapshot, and not see the
 * added message. Not needed on SQLite, which has one writer. */
pawl_code pawl__sql_apply_flush_set(pawl__sql_writer *writer, const void *change, pawl_error *why)
{
    const pawl_flush_set *flush = change;
    pawl__sql_result      result;
    return flush->is_done && pawl__sql_ops_of(writer->store)->lock_begin != NULL
               ? pawl__sql_write_rows(writer->store, &flush_touch, flush, sizeof *flush, 1, &result,
                                      why)
               : PAWL_OK;
}

/* ---- Holding back ------------------------------------------------------- */

/* Compares by source (ordering key); changes of one source stay in the order of the set. */
static int by_source(const void *left, const void *right)
{
    const pawl_outbox_block *l     = *(const pawl_outbox_block *const *)left;
    const pawl_outbox_block *r     = *(const pawl_outbox_block *const *)right;
    int                      order = pawl_text_compare(l->source, r->source);
    return order != 0 ? order : (l > r) - (l < r);
}

/* Rows without a source have no order, so nothing is held behind them. */
static size_t sort_blocks(const pawl__sql_writer *writer, const pawl_outbox_block **sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < writer->changes->outbox_block.count; i++) {
        const pawl_outbox_block *item = &writer->changes->outbox_block.items[i];
        if (item->source.size != 0 && !writer->is_dropped[item->group])
            sorted[count++] = item;
    }
    qsort(sorted, count, sizeof(pawl_outbox_block *), by_source);
    return count;
}

/* Combines the changes of a source: the earliest row that blocks counts. An unblock cancels the blocks before it. */
static void add_up(const pawl_outbox_block *item, pawl__sql_blocks *all)
{
    const pawl_outbox_block *last =
        all->block_count == 0 ? NULL : all->blocks[all->block_count - 1];
    bool is_held = last != NULL && pawl_text_equal(last->source, item->source);
    if (item->is_unblock) {
        all->block_count -= is_held;
        while (all->row_count > 0 &&
               pawl_text_equal(all->rows[all->row_count - 1].source, item->source))
            all->row_count--;
        all->releases[all->release_count++] = *item;
    } else if (item->id != 0) {
        all->rows[all->row_count++] = *item;
    } else if (!is_held) {
        all->blocks[all->block_count++] = item;
    } else if (item->after < last->after) {
        all->blocks[all->block_count - 1] = item;
    }
}

pawl_code pawl__sql_sum_blocks(const pawl__sql_writer *writer, pawl_arena *arena,
                               pawl__sql_blocks *all, pawl_error *error)
{
    size_t                    count  = writer->changes->outbox_block.count;
    const pawl_outbox_block **sorted = pawl_arena_take(arena, count * sizeof *sorted);
    *all = (pawl__sql_blocks){.blocks   = pawl_arena_take(arena, count * sizeof *all->blocks),
                              .rows     = pawl_arena_take(arena, count * sizeof *all->rows),
                              .releases = pawl_arena_take(arena, count * sizeof *all->releases)};
    if (sorted == NULL || all->blocks == NULL || all->rows == NULL || all->releases == NULL)
        return pawl__sql_no_memory(writer->store, "rows", error);
    count = sort_blocks(writer, sorted);
    for (size_t i = 0; i < count; i++)
        add_up(sorted[i], all);
    return PAWL_OK;
}

static int find_source(const void *source, const void *hold)
{
    return pawl_text_compare(*(const pawl_text *)source,
                             (*(const pawl_outbox_block *const *)hold)->source);
}

typedef struct pending {
    int64_t   id;
    pawl_text source;
} pending;

static const pawl__field      pending_columns[] = {PAWL__AS_OF(pending, id, INT),
                                                   PAWL__AS_OF(pending, source, PEEK)};
static const pawl__field_list pending_row       = PAWL__FIELD_ARRAY(pending_columns);
static const pawl__field_list by_id             = {pending_columns, 1};
static const pawl__sql_write  release           = {.statement = PAWL__SQL_OUTBOX_UNBLOCK,
                                                   .parameters =
                                                       PAWL__FIELDS(PAWL__AS(outbox_block, source, TEXT))};
static const pawl__sql_write  block_row         = {
             .statement  = PAWL__SQL_OUTBOX_BLOCK,
             .parameters = {pending_columns, 1},
};
static const pawl__sql_write block_known = {
    .statement = PAWL__SQL_OUTBOX_BLOCK_KNOWN,
    .parameters =
        PAWL__FIELDS(PAWL__AS(outbox_block, id, INT), PAWL__AS(outbox_block, source, TEXT)),
};

/* Reads the pending rows once for all blocks, by id, since no index has their source. */
static pawl_code find_held(pawl_store *store, const pawl_outbox_block *const *blocks, size_t count,
                           pawl_arena *arena, pawl_found *held, pawl_error *error)
{
    const pawl__sql_ops *ops      = pawl__sql_ops_of(store);
    pending              row      = {.id = INT64_MAX};
    size_t               capacity = 0;
    pawl__sql_request   *request  = NULL;
    for (size_t i = 0; i < count; i++)
        if (blocks[i]->after < row.id)
            row.id = blocks[i]->after;
    const pending         from  = row;
    const pawl__sql_asked asked = {PAWL__SQL_OUTBOX_SOURCES, &by_id, &from, &pending_row, 0};
    pawl_code             code  = pawl__sql_run(store, &asked, arena, &request, error);
    while (code == PAWL_OK && ops->next(request)) {
        ops->get(request, &pending_row, &row);
        const pawl_outbox_block *const *found =
            bsearch(&row.source, blocks, count, sizeof *blocks, find_source);
        if (found == NULL || row.id <= (*found)->after)
            continue;
        int64_t *ids = pawl_arena_grow(arena, held->items, held->count, &capacity, sizeof *ids);
        if (ids == NULL) {
            code = pawl__sql_no_memory(store, "rows", error);
            break;
        }
        held->items        = ids;
        ids[held->count++] = row.id;
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

static pawl_code block_rows(pawl__sql_writer *writer, const pawl__sql_blocks *all,
                            pawl_arena *arena, pawl_error *error)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(writer->store);
    pawl_found           held = {0};
    if (ops->block_behind != NULL &&
        ((const pawl__sql_store *)writer->store)->family->block_behind != 0)
        return ops->block_behind(writer->connection, all->blocks, all->block_count, error);
    pawl_code code = find_held(writer->store, all->blocks, all->block_count, arena, &held, error);
    return code != PAWL_OK ? code
                           : pawl__sql_write_rows(writer->store, &block_row, held.items,
                                                  sizeof(int64_t), held.count, NULL, error);
}

static pawl_code apply_blocks(pawl__sql_writer *writer, pawl_arena *arena, pawl_error *error)
{
    pawl__sql_blocks all;
    pawl_code        code = pawl__sql_sum_blocks(writer, arena, &all, error);
    if (code == PAWL_OK)
        code = pawl__sql_write_rows(writer->store, &release, all.releases, sizeof *all.releases,
                                    all.release_count, NULL, error);
    if (code == PAWL_OK)
        code = pawl__sql_write_rows(writer->store, &block_known, all.rows, sizeof *all.rows,
                                    all.row_count, NULL, error);
    return code == PAWL_OK && all.block_count != 0 ? block_rows(writer, &all, arena, error) : code;
}

/* Writes all blocks and unblocks of the set at once: if a destination is unavailable, each row of a batch has one. */
pawl_code pawl__sql_apply_outbox_block(pawl__sql_writer *writer, const void *change,
                                       pawl_error *why)
{
    (void)change;
    if (writer->has_held)
        return PAWL_OK;
    writer->has_held  = true;
    pawl_arena *arena = pawl_arena_create(0);
    pawl_code   code  = arena != NULL ? apply_blocks(writer, arena, why)
                                      : pawl__sql_no_memory(writer->store, "rows", why);
    pawl_arena_destroy(arena);
    return code;
}
