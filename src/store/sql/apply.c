/* apply.c - runs before the write of a change: a claim is checked, rows of a snapshot are removed,
 * sources are held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"

#include <stdlib.h>

#define REMOVED_MAX 128 /* go to the driver at once */

/* ---- Queue rows --------------------------------------------------------- */

pawl_code pawl__sql_check_settle(pawl__sql_writer *writer, const void *change, pawl_error *why)
{
    if (writer->is_enlisted)
        return pawl__why_not_enlisted(change, why);
    return pawl__sql_ops_of(writer->store)->claim_check(writer->store, change, why);
}

/* ---- Snapshots ---------------------------------------------------------- */

/* The first of these rows that is not as it must be refuses all. */
static pawl_code remove_some(const pawl__sql_writer *writer, const pawl__sql_removed_row *rows,
                             size_t count, pawl_error *why)
{
    pawl__sql_fate         fates[REMOVED_MAX];
    const pawl__sql_write *write = pawl__sql_remove_row(rows);
    pawl_code              code =
        pawl__sql_write_rows(writer->store, write, rows, sizeof *rows, count, fates, why);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (write->then[fates[i]].why != NULL)
            code = write->then[fates[i]].why(&rows[i], why);
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

/* ---- Holding back ------------------------------------------------------- */

/* Of one source the one that holds the most comes first. */
static int by_hold_source(const void *left, const void *right)
{
    const pawl_outbox_block *l     = *(const pawl_outbox_block *const *)left;
    const pawl_outbox_block *r     = *(const pawl_outbox_block *const *)right;
    int                      order = pawl_text_compare(l->source, r->source);
    return order != 0 ? order : (l->after > r->after) - (l->after < r->after);
}

static bool is_wanted(const pawl__sql_writer *writer, const pawl_outbox_block *hold)
{
    return !hold->is_unblock && hold->source.size != 0 && !writer->is_dropped[hold->group];
}

/* The holds of the set, one for each source, sorted by it; their number. */
static size_t sort_holds(const pawl__sql_writer *writer, const pawl_outbox_block **sorted)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < writer->changes->outbox_block.count; i++)
        if (is_wanted(writer, &writer->changes->outbox_block.items[i]))
            sorted[count++] = &writer->changes->outbox_block.items[i];
    qsort(sorted, count, sizeof(pawl_outbox_block *), by_hold_source);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !pawl_text_equal(sorted[kept - 1]->source, sorted[i]->source))
            sorted[kept++] = sorted[i];
    return kept;
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
static const pawl__sql_write  hold_row          = {
              .statement  = PAWL__SQL_OUTBOX_HOLD,
              .parameters = {pending_columns, 1},
};

/* Pending rows are walked by their id once for all holds: there is no index on their source. */
static pawl_code find_held(pawl_store *store, const pawl_outbox_block *const *holds, size_t count,
                           pawl_arena *arena, pawl__sql_rows *held, pawl_error *error)
{
    const pawl__sql_ops *ops      = pawl__sql_ops_of(store);
    pending              row      = {.id = INT64_MAX};
    size_t               capacity = 0;
    pawl__sql_request   *request  = NULL;
    for (size_t i = 0; i < count; i++)
        if (holds[i]->after < row.id)
            row.id = holds[i]->after;
    const pending         from  = row;
    const pawl__sql_asked asked = {PAWL__SQL_OUTBOX_SOURCES, &by_id, &from, &pending_row, 0};
    pawl_code             code  = pawl__sql_run(store, &asked, arena, &request, error);
    while (code == PAWL_OK && ops->next(request)) {
        ops->get(request, &pending_row, &row);
        const pawl_outbox_block *const *found =
            bsearch(&row.source, holds, count, sizeof *holds, find_source);
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

static pawl_code hold_rows(pawl_store *store, const pawl_outbox_block *const *holds, size_t count,
                           pawl_error *error)
{
    pawl__sql_rows held  = {0};
    pawl_arena    *arena = pawl_arena_create(0);
    pawl_code      code  = arena != NULL ? PAWL_OK : pawl__sql_no_memory(store, "rows", error);
    if (code == PAWL_OK)
        code = find_held(store, holds, count, arena, &held, error);
    if (code == PAWL_OK)
        code = pawl__sql_write_rows(store, &hold_row, held.items, sizeof(int64_t), held.count, NULL,
                                    error);
    pawl_arena_destroy(arena);
    return code;
}

/* All holds of the set at once: when a destination is down there are as many as rows in a
 * batch. */
static pawl_code hold_back(pawl__sql_writer *writer, pawl_error *error)
{
    const pawl__sql_ops      *ops = pawl__sql_ops_of(writer->store);
    const pawl_outbox_block **sorted =
        pawl_allocate(writer->changes->outbox_block.count * sizeof *sorted);
    if (sorted == NULL)
        return pawl__sql_no_memory(writer->store, "rows", error);
    size_t    count = sort_holds(writer, sorted);
    pawl_code code  = ops->hold_back != NULL
                          ? ops->hold_back(writer->connection, sorted, count, error)
                          : hold_rows(writer->store, sorted, count, error);
    pawl_free(sorted);
    return code;
}

pawl_code pawl__sql_apply_outbox_block(pawl__sql_writer *writer, const void *change,
                                       pawl_error *why)
{
    const pawl_outbox_block *hold = change;
    if (writer->has_held || hold->is_unblock || hold->source.size == 0)
        return PAWL_OK;
    writer->has_held = true;
    return hold_back(writer, why);
}
