/* aggregator.c - messages collected by aggregators, by partition, and the leases of
 * leased batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct aggregator_row {
    MEMORY_ROW(5)
    pawl_aggregator_row fields;
} aggregator_row;

enum { BY_ID, BY_KEY, BY_AGE, BY_SESSION, BY_HOLDER };

/* ---- Order -------------------------------------------------------------- */

MEMORY_ORDER(aggregator_by_id, aggregator_row, MEMORY_NUMBER(fields.id), MEMORY_NOTHING)
MEMORY_ORDER(aggregator_by_key, aggregator_row, MEMORY_NUMBER(row.hash),
             MEMORY_TEXT(fields.key) || MEMORY_TEXT(fields.partition))
MEMORY_ORDER(aggregator_by_age, aggregator_row, MEMORY_TEXT(fields.partition),
             MEMORY_NUMBER(fields.at) || MEMORY_NUMBER(fields.id))
MEMORY_ORDER(aggregator_by_session, aggregator_row, MEMORY_UUID(fields.session.uuid),
             MEMORY_NUMBER(fields.id))

const memory_table_kind pawl__memory_aggregator_kind = {
    MEMORY_SIZES(aggregator_row, fields),
    .fields         = &pawl__aggregator_row_fields,
    .session_offset = offsetof(pawl_aggregator_row, session),
    .expires_offset = offsetof(pawl_aggregator_row, lease_expires),
    .indexes        = {[BY_ID]      = MEMORY_INDEX(aggregator_by_id, NULL),
                       [BY_KEY]     = MEMORY_INDEX(aggregator_by_key, NULL),
                       [BY_AGE]     = MEMORY_INDEX(aggregator_by_age, NULL),
                       [BY_SESSION] = MEMORY_INDEX_OF_CLAIMS(aggregator_by_session, pawl__row_is_held),
                       [BY_HOLDER]  = MEMORY_HOLDERS},
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

/* The oldest row of the partition. */
static aggregator_row *oldest(const memory_data *data, pawl_text partition)
{
    const aggregator_row probe = {.fields.partition = partition};
    return pawl__tree_first_of(ages(data), &probe);
}

bool pawl__memory_partition_is_empty(const memory_data *data, pawl_text partition)
{
    return oldest(data, partition) == NULL;
}

void pawl__memory_partition_count(const memory_data *data, pawl_scan_row *partition)
{
    const aggregator_row *row = oldest(data, partition->belongs_to);
    partition->oldest         = row != NULL ? row->fields.at : 0;
    for (; row != NULL; row = pawl__tree_next_of(ages(data), row))
        partition->count++;
}

/* ---- Leases ------------------------------------------------------------- */

static bool is_free(const aggregator_row *row, pawl_time now)
{
    return row->row.holder == 0 || row->fields.lease_expires <= now;
}

/* Lists the rows of a leased batch, and counts those that this program cannot read. */
static void list_free(const memory_data *data, const pawl_leased_batch_claim *claim,
                      memory_list *list, int64_t *unresolved)
{
    aggregator_row *row = oldest(data, claim->partition);
    for (; row != NULL; row = pawl__tree_next_of(ages(data), row)) {
        if (!is_free(row, claim->now) || (claim->id_max != 0 && row->fields.id > claim->id_max))
            continue;
        if (pawl__find_word(row->fields.message.type, claim->types, (int)claim->type_count) < 0)
            ++*unresolved;
        else if (list->count < list->limit)
            pawl__memory_list_take(list, row);
    }
}

pawl_code pawl__memory_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                          pawl_arena *arena, pawl_leased_batch *leased,
                                          pawl_error *error)
{
    memory_store      *self = (memory_store *)store;
    const memory_claim ours = {.holder  = self->holder,
                               .session = claim->session,
                               .expires = pawl_time_add(claim->now, claim->lease)};
    memory_list        list = pawl__memory_list_begin(store, arena, claim->count_max);
    *leased                 = (pawl_leased_batch){0};
    list_free(self->data, claim, &list, &leased->unresolved);
    return pawl__memory_list_end(&list, &self->data->aggregator, &ours,
                                 "leased batch of an aggregator", &leased->items, &leased->count,
                                 error);
}

/* ---- Reads -------------------------------------------------------------- */

MEMORY_BEHIND(pawl__memory_aggregator_behind, aggregator_row, aggregator.trees[BY_ID],
              .fields.id = after->number, .number = it->fields.id, .belongs_to = it->fields.name,
              .message = it->fields.message)

void pawl__memory_find_partition(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    aggregator_row *row = oldest(data, asked->name);
    while (row != NULL && pawl__memory_list_take(list, row))
        row = pawl__tree_next_of(ages(data), row);
}

pawl_code pawl__memory_aggregator_count(pawl_store *store, pawl_text partition,
                                        const pawl_text *types, size_t type_count, pawl_time now,
                                        pawl_aggregator_counts *counts, pawl_error *error)
{
    (void)error;
    memory_data          *data = pawl__memory_enter(store);
    const aggregator_row *row  = oldest(data, partition);
    for (; row != NULL; row = pawl__tree_next_of(ages(data), row)) {
        counts->all++;
        if (row->fields.id > counts->id_last)
            counts->id_last = row->fields.id;
        if (pawl__find_word(row->fields.message.type, types, (int)type_count) < 0)
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
                                size_t index)
{
    pawl_error why    = PAWL_ERROR_INIT;
    pawl_code  reason = pawl__why_not_removed(change, index, &why);
    return pawl__memory_refuse(commit, reason, "%s", why.text);
}

pawl_code pawl__memory_apply_leased_batch_remove(memory_commit *commit, const void *item)
{
    const pawl_leased_batch_remove *change   = item;
    memory_data                    *data     = commit->data;
    bool                            is_owned = !pawl_uuid_is_zero(change->session.uuid);
    for (size_t i = 0; i < change->id_count; i++) {
        aggregator_row *row = find_id(data, change->ids[i]);
        if (row != NULL && !pawl_text_equal(row->fields.partition, change->partition))
            row = NULL;
        if (is_owned &&
            (row == NULL || pawl_uuid_compare(row->fields.session.uuid, change->session.uuid) != 0))
            return refuse_removal(commit, change, i);
        pawl_code code =
            row != NULL ? pawl__memory_write(commit, &data->aggregator, row, NULL) : PAWL_OK;
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
    pawl_code code  = pawl__memory_write(commit, &data->aggregator, NULL, &model);
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
        next = pawl__tree_next_of(ages(data), row);
        if (is_one && !pawl_text_equal(row->fields.message.correlation_id, change->correlation_id))
            continue;
        pawl_code code = pawl__memory_write(commit, &data->aggregator, row, NULL);
        if (code != PAWL_OK || is_one)
            return code;
        is_removed = true;
    }
    if (!change->is_checked || is_removed)
        return PAWL_OK;
    return pawl__memory_refuse_by(commit, pawl__why_no_row, item);
}

pawl_code pawl__memory_apply_leased_batch_release(memory_commit *commit, const void *item)
{
    const pawl_leased_batch_release *change = item;
    memory_data                     *data   = commit->data;
    const memory_tree               *tree   = &data->aggregator.trees[BY_SESSION];
    const aggregator_row             probe  = {.fields.session = change->session};
    pawl_code                        code   = PAWL_OK;
    aggregator_row                  *next   = NULL;
    for (aggregator_row *row = pawl__tree_first_of(tree, &probe); code == PAWL_OK && row != NULL;
         row                 = next) {
        next = pawl__tree_next_of(tree, row);
        if (!pawl_text_equal(row->fields.partition, change->partition))
            continue;
        aggregator_row model = *row;
        pawl__row_release(&data->aggregator, &model);
        code = pawl__memory_write(commit, &data->aggregator, row, &model);
    }
    return code;
}
