/* timeout.c - rows of timeouts, and their leases.
 *
 * A saga's timeout with a name is found by (saga id, name); all other timeouts by
 * their ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct timeout_row {
    MEMORY_ROW(6)
    pawl_timeout_row fields;
} timeout_row;

enum { BY_ID, BY_SAGA, BY_DUE, BY_DESTINATION, BY_LEASE, BY_HOLDER };

/* ---- Order -------------------------------------------------------------- */

MEMORY_ORDER(timeout_by_id, timeout_row, MEMORY_UUID(fields.id.uuid), MEMORY_NOTHING)
MEMORY_ORDER(timeout_by_saga, timeout_row, MEMORY_UUID(fields.saga_id.uuid),
             MEMORY_TEXT(fields.name) || MEMORY_UUID(fields.id.uuid))
MEMORY_ORDER(timeout_by_due, timeout_row, MEMORY_NUMBER(fields.due), MEMORY_UUID(fields.id.uuid))
MEMORY_ORDER(timeout_by_destination, timeout_row, MEMORY_TEXT(fields.destination),
             MEMORY_NUMBER(fields.due) || MEMORY_UUID(fields.id.uuid))
MEMORY_ORDER(timeout_by_lease, timeout_row, MEMORY_NUMBER(fields.lease_expires),
             MEMORY_UUID(fields.id.uuid))
MEMORY_HAS(timeout_has_saga, timeout_row, !pawl_uuid_is_zero(it->fields.saga_id.uuid))

const memory_table_kind pawl__memory_timeout_kind = {
    MEMORY_SIZES(timeout_row, fields),
    .fields         = &pawl__timeout_row_fields,
    .session_offset = offsetof(pawl_timeout_row, owner),
    .expires_offset = offsetof(pawl_timeout_row, lease_expires),
    .indexes        = {[BY_ID]          = MEMORY_INDEX(timeout_by_id, NULL),
                       [BY_SAGA]        = MEMORY_INDEX(timeout_by_saga, timeout_has_saga),
                       [BY_DUE]         = MEMORY_INDEX(timeout_by_due, NULL),
                       [BY_DESTINATION] = MEMORY_INDEX(timeout_by_destination, NULL),
                       [BY_LEASE]       = MEMORY_INDEX_OF_CLAIMS(timeout_by_lease, pawl__row_is_held),
                       [BY_HOLDER]      = MEMORY_HOLDERS},
};

static timeout_row *find_id(const memory_data *data, pawl_timeout_id id)
{
    const timeout_row probe = {.fields.id = id};
    return pawl__tree_find(&data->timeouts.trees[BY_ID], &probe);
}

/* ---- Leases ------------------------------------------------------------- */

pawl_code pawl__memory_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                    pawl_error *error)
{
    (void)error;
    memory_data *data = pawl__memory_enter(store);
    timeout_row *row;
    *count = 0;
    while ((row = pawl__tree_first(&data->timeouts.trees[BY_LEASE])) != NULL &&
           row->fields.lease_expires <= now) {
        pawl__table_claim(&data->timeouts, row, &(const memory_claim){.holder = 0});
        ++*count;
    }
    pawl__memory_leave(data);
    return PAWL_OK;
}

static bool is_free(const timeout_row *row, pawl_time now)
{
    return row->row.holder == 0 || row->fields.lease_expires <= now;
}

/* Lists the rows of the claim; returns when the next one is due. */
static pawl_time list_due(const memory_table *table, const pawl_timeout_claim *claim,
                          memory_list *list)
{
    bool               is_any = claim->destination.size == 0;
    const memory_tree *tree   = &table->trees[is_any ? BY_DUE : BY_DESTINATION];
    const timeout_row  probe  = {.fields.destination = claim->destination};
    timeout_row       *row    = is_any ? pawl__tree_first(tree) : pawl__tree_first_of(tree, &probe);
    bool               is_full = false;
    for (; row != NULL; row = is_any ? pawl__tree_next(tree, row) : pawl__tree_next_of(tree, row)) {
        if (!is_free(row, claim->now))
            continue;
        if (row->fields.due > claim->due_max || is_full)
            return row->fields.due;
        is_full = !pawl__memory_list_take(list, row);
    }
    return PAWL_TIME_MAX;
}

pawl_code pawl__memory_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                     pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    memory_store      *self = (memory_store *)store;
    const memory_claim ours = {.holder  = self->holder,
                               .session = claim->owner,
                               .expires = pawl_time_add(claim->now, claim->lease)};
    memory_list        list = pawl__memory_list_begin(store, arena, claim->count_max);
    rows->next_due          = list_due(&self->data->timeouts, claim, &list);
    return pawl__memory_list_end(&list, &self->data->timeouts, &ours, "claim of timeouts",
                                 &rows->items, &rows->count, error);
}

/* ---- Reads -------------------------------------------------------------- */

MEMORY_BEHIND(pawl__memory_timeout_behind, timeout_row, timeouts.trees[BY_ID],
              .fields.id.uuid = after->id, .id = it->fields.id.uuid,
              .belongs_to = it->fields.destination, .name = it->fields.name,
              .message.type = it->fields.saga_type, .saga_id = it->fields.saga_id.uuid)

/* By due time, so that the rows of one saga are picked out of all. */
void pawl__memory_find_timeouts(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree  = &data->timeouts.trees[BY_DUE];
    bool               is_of = !pawl_uuid_is_zero(asked->saga_id.uuid);
    const timeout_row  after = {.fields.due = asked->after.time, .fields.id.uuid = asked->after.id};
    for (timeout_row *row = pawl__tree_above(tree, &after); row != NULL;
         row              = pawl__tree_next(tree, row))
        if ((!is_of || pawl_uuid_compare(row->fields.saga_id.uuid, asked->saga_id.uuid) == 0) &&
            !pawl__memory_list_take(list, row))
            return;
}

pawl_time pawl__memory_timeout_next_due(const memory_data *data, pawl_text destination)
{
    const memory_tree *tree  = &data->timeouts.trees[BY_DESTINATION];
    const timeout_row  probe = {.fields.destination = destination};
    const timeout_row *row   = pawl__tree_first_of(tree, &probe);
    while (row != NULL && row->row.holder != 0)
        row = pawl__tree_next_of(tree, row);
    return row != NULL ? row->fields.due : PAWL_TIME_MAX;
}

/* The first free row with the destination of this one, from this one on. */
static timeout_row *first_free(const memory_tree *tree, timeout_row *row, pawl_time now)
{
    while (row != NULL && !is_free(row, now))
        row = pawl__tree_next_of(tree, row);
    return row;
}

static bool is_handled(const memory_data *data, pawl_text destination, pawl_text own)
{
    return !pawl_text_equal(destination, own) && pawl__memory_is_subscriber(data, destination);
}

/* Lists the first free row of each destination. */
void pawl__memory_find_foreign(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree    = &data->timeouts.trees[BY_DESTINATION];
    timeout_row       *row     = pawl__tree_first(tree);
    bool               is_more = true;
    while (row != NULL && is_more) {
        timeout_row *free = is_handled(data, row->fields.destination, asked->name)
                                ? NULL
                                : first_free(tree, row, asked->time);
        if (free != NULL)
            is_more = pawl__memory_list_take(list, free);
        row = pawl__tree_behind_group(tree, row);
    }
}

void pawl__memory_timeout_stats(const memory_data *data, pawl_time now, pawl_stats *stats)
{
    const memory_tree *tree = &data->timeouts.trees[BY_DUE];
    const timeout_row *row  = pawl__tree_first(tree);
    for (; row != NULL && row->fields.due <= now; row = pawl__tree_next(tree, row))
        stats->timeouts_due++;
    stats->timeouts_pending = (int64_t)tree->count - stats->timeouts_due;
}

/* ---- Changes ------------------------------------------------------------ */

/* Has the row the owner and the generation that the change asks for? */
static bool is_meant(const timeout_row *row, const pawl_timeout_settle *change)
{
    if (!change->has_owner && change->generation == 0)
        return true;
    return row != NULL &&
           (!change->has_owner ||
            pawl_uuid_compare(row->fields.owner.uuid, change->owner.uuid) == 0) &&
           (change->generation == 0 || change->generation == row->fields.generation);
}

pawl_code pawl__memory_apply_timeout_settle(memory_commit *commit, const void *item)
{
    const pawl_timeout_settle *change = item;
    memory_table              *table  = &commit->data->timeouts;
    timeout_row               *row    = find_id(commit->data, change->id);
    if (!is_meant(row, change))
        return pawl__memory_refuse_by(commit, pawl__why_not_leased, item);
    if (row == NULL)
        return PAWL_OK;
    if (change->action == PAWL_TIMEOUT_REMOVE)
        return pawl__memory_write(commit, table, row, NULL);
    timeout_row model = *row;
    pawl__row_release(table, &model);
    if (change->action == PAWL_TIMEOUT_RETRY) {
        model.fields.due      = change->due;
        model.fields.attempts = change->attempts;
    }
    return pawl__memory_write(commit, table, row, &model);
}

/* The saga's timeout of that name, or its first one when the name is empty. No id is zero. */
static timeout_row *find_saga(const memory_data *data, pawl_saga_id saga_id, pawl_text name)
{
    const timeout_row probe = {.fields = {.saga_id = saga_id, .name = name}};
    timeout_row      *row   = pawl__tree_above(&data->timeouts.trees[BY_SAGA], &probe);
    bool is_found = row != NULL && pawl_uuid_compare(row->fields.saga_id.uuid, saga_id.uuid) == 0 &&
                    pawl__memory_is_like(name, row->fields.name);
    return is_found ? row : NULL;
}

pawl_code pawl__memory_apply_timeout_cancel(memory_commit *commit, const void *item)
{
    const pawl_timeout_cancel *change = item;
    pawl_code                  code   = PAWL_OK;
    timeout_row               *row;
    while (code == PAWL_OK &&
           (row = find_saga(commit->data, change->saga_id, change->name)) != NULL)
        code = pawl__memory_write(commit, &commit->data->timeouts, row, NULL);
    return code;
}

/* Arms it again, with another generation that is free and was never tried, or sets a new one. A
 * timeout of its own id may change its name and saga with it. */
pawl_code pawl__memory_apply_timeout_set(memory_commit *commit, const void *item)
{
    const pawl_timeout_set *change = item;
    bool         is_named = !pawl_uuid_is_zero(change->saga_id.uuid) && change->name.size != 0;
    timeout_row *same     = find_id(commit->data, change->id);
    timeout_row *armed = is_named ? find_saga(commit->data, change->saga_id, change->name) : same;
    bool         is_known = change->is_new && (same != NULL || armed != NULL);
    if (is_known || (same != NULL && armed == NULL))
        return pawl__memory_refuse_by(commit, pawl__why_timeout_exists, item);
    const timeout_row model = {
        .fields = {.id             = armed != NULL ? armed->fields.id : change->id,
                   .generation     = armed != NULL ? armed->fields.generation + 1 : 1,
                   .saga_id        = change->saga_id,
                   .saga_type      = change->saga_type,
                   .name           = change->name,
                   .destination    = change->destination,
                   .due            = change->due,
                   .headers        = change->headers,
                   .correlation_id = change->correlation_id},
    };
    return pawl__memory_write(commit, &commit->data->timeouts, armed, &model);
}
