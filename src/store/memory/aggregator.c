/* aggregator.c - messages that are collected, partition by partition, and the
 * leases of snapshots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct aggregator_row {
    MEMORY_ROW(5)
    pawl_aggregator_row fields;
    uint64_t            holder; /* the handle that leased it; 0: none */
} aggregator_row;

enum { BY_ID, BY_KEY, BY_AGE, BY_SESSION, BY_HOLDER };

/* ---- Order -------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const aggregator_row *a = left, *b = right;
    return pawl__order_integers(a->fields.id, b->fields.id);
}

static int by_key(const void *left, const void *right)
{
    const aggregator_row *a = left, *b = right;
    int                   order = pawl__order_hashes(a->row.hash, b->row.hash);
    if (order == 0)
        order = pawl_text_compare(a->fields.key, b->fields.key);
    return order != 0 ? order : pawl_text_compare(a->fields.partition, b->fields.partition);
}

static int by_age(const void *left, const void *right)
{
    const aggregator_row *a = left, *b = right;
    int                   order = pawl_text_compare(a->fields.partition, b->fields.partition);
    if (order == 0)
        order = pawl__order_integers(a->fields.at, b->fields.at);
    return order != 0 ? order : by_id(left, right);
}

static int by_session(const void *left, const void *right)
{
    const aggregator_row *a = left, *b = right;
    int                   order = pawl_uuid_compare(a->fields.session.uuid, b->fields.session.uuid);
    return order != 0 ? order : by_id(left, right);
}

static int by_holder(const void *left, const void *right)
{
    const aggregator_row *a = left, *b = right;
    int                   order = pawl__order_hashes(a->holder, b->holder);
    return order != 0 ? order : by_id(left, right);
}

static bool is_leased(const void *row)
{
    const aggregator_row *it = row;
    return !pawl_uuid_is_zero(it->fields.session.uuid);
}

const memory_table_kind pawl__memory_aggregator_kind = {
    .row_size      = sizeof(aggregator_row),
    .fields_offset = offsetof(aggregator_row, fields),
    .fields_size   = sizeof(pawl_aggregator_row),
    .fixed = {offsetof(aggregator_row, fields.name), offsetof(aggregator_row, fields.partition),
              offsetof(aggregator_row, fields.key), offsetof(aggregator_row, fields.message.id),
              offsetof(aggregator_row, fields.message.type),
              offsetof(aggregator_row, fields.message.body),
              offsetof(aggregator_row, fields.message.headers),
              offsetof(aggregator_row, fields.message.correlation_id),
              offsetof(aggregator_row, fields.message.causation_id)},
    .index_count = MEMORY_INDEX_COUNT(aggregator_row),
    .indexes     = {[BY_ID]      = {by_id, NULL},
                    [BY_KEY]     = {by_key, NULL},
                    [BY_AGE]     = {by_age, NULL},
                    [BY_SESSION] = {by_session, is_leased},
                    [BY_HOLDER]  = {by_holder, is_leased}},
};

static const memory_tree *ages(const memory_data *data)
{
    return &data->aggregator.trees[BY_AGE];
}

static aggregator_row *find_id(const memory_data *data, int64_t id)
{
    const aggregator_row probe = {.fields.id = id};
    return pawl__tree_find(&data->aggregator.trees[BY_ID], &probe);
}

/* The oldest row of the partition, and from there the next; NULL at its end. */
static aggregator_row *in_partition(aggregator_row *row, pawl_text partition)
{
    return row != NULL && pawl_text_equal(row->fields.partition, partition) ? row : NULL;
}

static aggregator_row *oldest(const memory_data *data, pawl_text partition)
{
    const aggregator_row probe = {
        .fields = {.partition = partition, .at = INT64_MIN, .id = INT64_MIN}};
    return in_partition(pawl__tree_at_least(ages(data), &probe), partition);
}

static aggregator_row *next_oldest(const memory_data *data, const aggregator_row *row,
                                   pawl_text partition)
{
    return in_partition(pawl__tree_next(ages(data), row), partition);
}

bool pawl__memory_partition_is_empty(const memory_data *data, pawl_text partition)
{
    return oldest(data, partition) == NULL;
}

void pawl__memory_partition_count(const memory_data *data, pawl_scan_row *partition)
{
    const aggregator_row *row = oldest(data, partition->belongs_to);
    partition->oldest         = row != NULL ? row->fields.at : 0;
    for (; row != NULL; row = next_oldest(data, row, partition->belongs_to))
        partition->count++;
}

bool pawl__memory_type_is_known(pawl_text type, const pawl_text *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(type, types[i]))
            return true;
    return false;
}

/* ---- Leases ------------------------------------------------------------- */

static bool is_free(const aggregator_row *row, pawl_time now)
{
    return !is_leased(row) || row->fields.lease_expires <= now;
}

static void set_lease(memory_table *table, aggregator_row *row, pawl_session_id session,
                      pawl_time expires, uint64_t holder)
{
    if (is_leased(row)) {
        pawl__tree_remove(&table->trees[BY_SESSION], row);
        pawl__tree_remove(&table->trees[BY_HOLDER], row);
    }
    row->fields.session       = session;
    row->fields.lease_expires = expires;
    row->holder               = holder;
    if (is_leased(row)) {
        pawl__tree_insert(&table->trees[BY_SESSION], row);
        pawl__tree_insert(&table->trees[BY_HOLDER], row);
    }
}

void pawl__memory_aggregator_free(memory_data *data, uint64_t holder)
{
    const aggregator_row probe = {.holder = holder, .fields.id = INT64_MIN};
    aggregator_row      *row;
    while ((row = pawl__tree_at_least(&data->aggregator.trees[BY_HOLDER], &probe)) != NULL &&
           row->holder == holder)
        set_lease(&data->aggregator, row, (pawl_session_id){{{0}}}, 0, 0);
}

/* Lists the rows of a snapshot and counts those that nobody here can read. */
static bool list_free(const memory_data *data, const pawl_leased_batch_claim *claim,
                      memory_list *list, pawl_arena *arena, int64_t *unresolved)
{
    aggregator_row *row = oldest(data, claim->partition);
    for (; row != NULL; row = next_oldest(data, row, claim->partition)) {
        if (!is_free(row, claim->now) || (claim->id_max != 0 && row->fields.id > claim->id_max))
            continue;
        if (!pawl__memory_type_is_known(row->fields.message.type, claim->types, claim->type_count))
            ++*unresolved;
        else if ((claim->count_max == 0 || list->count < claim->count_max) &&
                 !pawl__memory_list_add(list, arena, row))
            return false;
    }
    return true;
}

static void lease_all(memory_store *self, const memory_list *list,
                      const pawl_leased_batch_claim *claim, pawl_aggregator_row *items)
{
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    for (size_t i = 0; i < list->count; i++) {
        set_lease(&self->data->aggregator, list->rows[i], claim->session, expires, self->holder);
        items[i].session       = claim->session;
        items[i].lease_expires = expires;
    }
}

pawl_code pawl__memory_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                          pawl_arena *arena, pawl_leased_batch *leased,
                                          pawl_error *error)
{
    *leased            = (pawl_leased_batch){0};
    memory_data *data  = pawl__memory_enter(store);
    memory_list  list  = {0};
    void        *items = NULL;
    bool         is_ok = list_free(data, claim, &list, arena, &leased->unresolved) &&
                 pawl__memory_list_show(&list, &data->aggregator, arena, &items);
    if (is_ok)
        lease_all((memory_store *)store, &list, claim, items);
    pawl__memory_leave(data);
    if (!is_ok)
        return pawl__memory_out_of_memory("leased batch of an aggregator", error);
    leased->items = items;
    leased->count = list.count;
    return PAWL_OK;
}

/* ---- Reads -------------------------------------------------------------- */

bool pawl__memory_aggregator_behind(const memory_data *data, const pawl_scan *walk,
                                    const pawl_scan_row *after, pawl_scan_row *row)
{
    (void)walk;
    const aggregator_row  probe = {.fields.id = after->number};
    const aggregator_row *found = pawl__tree_above(&data->aggregator.trees[BY_ID], &probe);
    if (found != NULL)
        *row = (pawl_scan_row){.number     = found->fields.id,
                               .belongs_to = found->fields.name,
                               .message    = found->fields.message};
    return found != NULL;
}

void pawl__memory_find_partition(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    aggregator_row *row = oldest(data, asked->name);
    while (row != NULL && pawl__memory_list_take(list, row))
        row = next_oldest(data, row, asked->name);
}

pawl_code pawl__memory_aggregator_count(pawl_store *store, pawl_text partition,
                                        const pawl_text *types, size_t type_count, pawl_time now,
                                        pawl_aggregator_counts *counts, pawl_error *error)
{
    (void)error;
    memory_data          *data = pawl__memory_enter(store);
    const aggregator_row *row  = oldest(data, partition);
    for (; row != NULL; row = next_oldest(data, row, partition)) {
        counts->all++;
        if (row->fields.id > counts->id_last)
            counts->id_last = row->fields.id;
        if (!pawl__memory_type_is_known(row->fields.message.type, types, type_count))
            continue;
        counts->resolved++;
        counts->ready += is_free(row, now);
    }
    pawl__memory_flush_counts(data, partition, counts);
    pawl__memory_leave(data);
    return PAWL_OK;
}

/* ---- Changes ------------------------------------------------------------ */

static pawl_code refuse_removal(memory_commit *commit, const pawl_leased_batch_remove *change,
                                int64_t id)
{
    return pawl__memory_refuse(commit, PAWL_ECONFLICT,
                               "aggregator '%.*s': row %lld is no longer leased by this session",
                               PAWL_TEXT_ARGS(change->partition), (long long)id);
}

pawl_code pawl__memory_apply_leased_batch_remove(memory_commit *commit, const void *item)
{
    const pawl_leased_batch_remove *change   = item;
    memory_data                    *data     = commit->data;
    bool                            is_owned = !pawl_uuid_is_zero(change->session.uuid);
    for (size_t i = 0; i < change->id_count; i++) {
        aggregator_row *row = in_partition(find_id(data, change->ids[i]), change->partition);
        if (is_owned &&
            (row == NULL || pawl_uuid_compare(row->fields.session.uuid, change->session.uuid) != 0))
            return refuse_removal(commit, change, change->ids[i]);
        if (row == NULL)
            continue;
        pawl_code code = pawl__journal_remove(&data->journal, &data->aggregator, row);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

pawl_code pawl__memory_apply_aggregator_add(memory_commit *commit, const void *item)
{
    const pawl_aggregator_add *change = item;
    memory_data               *data   = commit->data;
    aggregator_row             model  = {
                     .row.hash = pawl__hash_texts(change->partition, change->key),
                     .fields   = {.name      = change->name,
                                  .partition = change->partition,
                                  .key       = change->key,
                                  .message   = change->message,
                                  .at        = change->at},
    };
    if (pawl__tree_find(&data->aggregator.trees[BY_KEY], &model) != NULL)
        return PAWL_OK;
    model.fields.id = ++data->last_id;
    pawl_code code  = pawl__journal_insert(&data->journal, &data->aggregator,
                                           pawl__row_create(&data->aggregator, &model));
    return code != PAWL_OK
               ? code
               : pawl__memory_flush_ensure(commit, change->name, change->partition, change->due);
}

pawl_code pawl__memory_apply_aggregator_remove(memory_commit *commit, const void *item)
{
    const pawl_aggregator_remove *change     = item;
    memory_data                  *data       = commit->data;
    bool                          is_one     = !change->is_all && change->correlation_id.size != 0;
    bool                          is_removed = false;
    aggregator_row               *next       = NULL;
    aggregator_row               *row        = oldest(data, change->partition);
    for (; row != NULL; row = next) {
        next = next_oldest(data, row, change->partition);
        if (is_one && !pawl_text_equal(row->fields.message.correlation_id, change->correlation_id))
            continue;
        pawl_code code = pawl__journal_remove(&data->journal, &data->aggregator, row);
        if (code != PAWL_OK || is_one)
            return code;
        is_removed = true;
    }
    if (!change->is_checked || is_removed)
        return PAWL_OK;
    return pawl__memory_refuse(commit, PAWL_ECONFLICT,
                               "aggregator '%.*s': there is no row to remove",
                               PAWL_TEXT_ARGS(change->partition));
}

pawl_code pawl__memory_apply_leased_batch_release(memory_commit *commit, const void *item)
{
    const pawl_leased_batch_release *change = item;
    memory_data                     *data   = commit->data;
    const memory_tree               *tree   = &data->aggregator.trees[BY_SESSION];
    const aggregator_row probe = {.fields = {.session = change->session, .id = INT64_MIN}};
    aggregator_row      *next  = NULL;
    aggregator_row      *row   = pawl__tree_at_least(tree, &probe);
    for (; row != NULL; row = next) {
        if (pawl_uuid_compare(row->fields.session.uuid, change->session.uuid) != 0)
            break;
        next = pawl__tree_next(tree, row);
        if (in_partition(row, change->partition) == NULL)
            continue;
        aggregator_row *copy = pawl__row_clone(&data->aggregator, row);
        if (copy == NULL)
            return PAWL_ENOMEM;
        copy->fields.session       = (pawl_session_id){{{0}}};
        copy->fields.lease_expires = 0;
        copy->holder               = 0;
        pawl_code code = pawl__journal_replace(&data->journal, &data->aggregator, row, copy);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}
