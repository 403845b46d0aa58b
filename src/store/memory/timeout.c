/* timeout.c - messages that become due at a time.
 *
 * A timeout of a saga that has a name is found by (saga id, name); every other
 * one by its own id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

typedef struct timeout_row {
    MEMORY_ROW(6)
    pawl_timeout_row fields;
    uint64_t         holder; /* the handle that leased it; 0: none */
} timeout_row;

enum { BY_ID, BY_SAGA, BY_DUE, BY_DESTINATION, BY_LEASE, BY_HOLDER };

/* ---- Order -------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    return pawl_uuid_compare(a->fields.id.uuid, b->fields.id.uuid);
}

static int by_saga(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    int                order = pawl_uuid_compare(a->fields.saga_id.uuid, b->fields.saga_id.uuid);
    if (order == 0)
        order = pawl_text_compare(a->fields.name, b->fields.name);
    return order != 0 ? order : by_id(left, right);
}

static int by_due(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    int                order = pawl__order_integers(a->fields.due, b->fields.due);
    return order != 0 ? order : by_id(left, right);
}

static int by_destination(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    int                order = pawl_text_compare(a->fields.destination, b->fields.destination);
    return order != 0 ? order : by_due(left, right);
}

static int by_lease(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    int order = pawl__order_integers(a->fields.lease_expires, b->fields.lease_expires);
    return order != 0 ? order : by_id(left, right);
}

static bool has_saga(const void *row)
{
    const timeout_row *it = row;
    return !pawl_uuid_is_zero(it->fields.saga_id.uuid);
}

static int by_holder(const void *left, const void *right)
{
    const timeout_row *a = left, *b = right;
    int                order = pawl__order_hashes(a->holder, b->holder);
    return order != 0 ? order : by_id(left, right);
}

static bool is_leased(const void *row)
{
    const timeout_row *it = row;
    return !pawl_uuid_is_zero(it->fields.owner.uuid);
}

const memory_table_kind pawl__memory_timeout_kind = {
    .row_size      = sizeof(timeout_row),
    .fields_offset = offsetof(timeout_row, fields),
    .fields_size   = sizeof(pawl_timeout_row),
    .fixed         = {offsetof(timeout_row, fields.saga_type), offsetof(timeout_row, fields.name),
                      offsetof(timeout_row, fields.destination), offsetof(timeout_row, fields.headers),
                      offsetof(timeout_row, fields.correlation_id)},
    .index_count   = MEMORY_INDEX_COUNT(timeout_row),
    .indexes       = {[BY_ID]          = {by_id, NULL},
                      [BY_SAGA]        = {by_saga, has_saga},
                      [BY_DUE]         = {by_due, NULL},
                      [BY_DESTINATION] = {by_destination, NULL},
                      [BY_LEASE]       = {by_lease, is_leased},
                      [BY_HOLDER]      = {by_holder, is_leased}},
};

static timeout_row *find_id(const memory_data *data, pawl_timeout_id id)
{
    const timeout_row probe = {.fields.id = id};
    return pawl__tree_find(&data->timeouts.trees[BY_ID], &probe);
}

/* The first row of the saga whose name is not before `name`. */
static timeout_row *find_saga(const memory_data *data, pawl_saga_id saga_id, pawl_text name)
{
    const timeout_row probe = {.fields.saga_id = saga_id, .fields.name = name};
    timeout_row      *row   = pawl__tree_at_least(&data->timeouts.trees[BY_SAGA], &probe);
    return row != NULL && pawl_uuid_compare(row->fields.saga_id.uuid, saga_id.uuid) == 0 ? row
                                                                                         : NULL;
}

/* ---- Leases ------------------------------------------------------------- */

static void set_lease(memory_table *table, timeout_row *row, pawl_session_id owner,
                      pawl_time expires, uint64_t holder)
{
    if (is_leased(row)) {
        pawl__tree_remove(&table->trees[BY_LEASE], row);
        pawl__tree_remove(&table->trees[BY_HOLDER], row);
    }
    row->fields.owner         = owner;
    row->fields.lease_expires = expires;
    row->holder               = holder;
    if (is_leased(row)) {
        pawl__tree_insert(&table->trees[BY_LEASE], row);
        pawl__tree_insert(&table->trees[BY_HOLDER], row);
    }
}

static void clear_lease(memory_table *table, timeout_row *row)
{
    set_lease(table, row, (pawl_session_id){{{0}}}, 0, 0);
}

void pawl__memory_timeouts_free(memory_data *data, uint64_t holder)
{
    const timeout_row probe = {.holder = holder};
    timeout_row      *row;
    while ((row = pawl__tree_at_least(&data->timeouts.trees[BY_HOLDER], &probe)) != NULL &&
           row->holder == holder)
        clear_lease(&data->timeouts, row);
}

pawl_code pawl__memory_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                    pawl_error *error)
{
    (void)error;
    memory_data *data = pawl__memory_enter(store);
    timeout_row *row;
    *count = 0;
    while ((row = pawl__tree_first(&data->timeouts.trees[BY_LEASE])) != NULL &&
           row->fields.lease_expires <= now) {
        clear_lease(&data->timeouts, row);
        ++*count;
    }
    pawl__memory_leave(data);
    return PAWL_OK;
}

static bool is_free(const timeout_row *row, pawl_time now)
{
    return !is_leased(row) || row->fields.lease_expires <= now;
}

/* Lists what the claim takes, and finds when to look next. */
static bool list_due(const memory_table *table, const pawl_timeout_claim *claim, memory_list *list,
                     pawl_arena *arena, pawl_time *next_due)
{
    bool               is_any = claim->destination.size == 0;
    const memory_tree *tree   = &table->trees[is_any ? BY_DUE : BY_DESTINATION];
    const timeout_row  probe  = {.fields = {.destination = claim->destination, .due = INT64_MIN}};
    timeout_row       *row    = pawl__tree_at_least(tree, &probe);
    *next_due                 = PAWL_TIME_MAX;
    for (; row != NULL; row = pawl__tree_next(tree, row)) {
        if (!is_any && !pawl_text_equal(row->fields.destination, claim->destination))
            break;
        if (!is_free(row, claim->now))
            continue;
        if (row->fields.due > claim->due_max ||
            (claim->count_max != 0 && list->count == claim->count_max)) {
            *next_due = row->fields.due;
            break;
        }
        if (!pawl__memory_list_add(list, arena, row))
            return false;
    }
    return true;
}

static void lease_all(memory_store *self, const memory_list *list, const pawl_timeout_claim *claim,
                      pawl_timeout_row *items)
{
    pawl_time expires = pawl_time_add(claim->now, claim->lease);
    for (size_t i = 0; i < list->count; i++) {
        set_lease(&self->data->timeouts, list->rows[i], claim->owner, expires, self->holder);
        items[i].owner         = claim->owner;
        items[i].lease_expires = expires;
    }
}

pawl_code pawl__memory_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                     pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    memory_data *data  = pawl__memory_enter(store);
    memory_list  list  = {0};
    void        *items = NULL;
    bool         is_ok = list_due(&data->timeouts, claim, &list, arena, &rows->next_due) &&
                 pawl__memory_list_show(&list, &data->timeouts, arena, &items);
    if (is_ok)
        lease_all((memory_store *)store, &list, claim, items);
    pawl__memory_leave(data);
    if (!is_ok)
        return pawl__memory_out_of_memory("claim of timeouts", error);
    rows->items = items;
    rows->count = list.count;
    return PAWL_OK;
}

/* ---- Reads -------------------------------------------------------------- */

bool pawl__memory_timeout_behind(const memory_data *data, const pawl_scan *walk,
                                 const pawl_scan_row *after, pawl_scan_row *row)
{
    (void)walk;
    const timeout_row  probe = {.fields.id.uuid = after->id};
    const timeout_row *found = pawl__tree_above(&data->timeouts.trees[BY_ID], &probe);
    if (found != NULL)
        *row = (pawl_scan_row){.id           = found->fields.id.uuid,
                               .belongs_to   = found->fields.destination,
                               .name         = found->fields.name,
                               .message.type = found->fields.saga_type,
                               .saga_id      = found->fields.saga_id.uuid};
    return found != NULL;
}

/* By due time, so that the rows of one saga are picked out of all. */
void pawl__memory_find_timeouts(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree  = &data->timeouts.trees[BY_DUE];
    bool               is_of = !pawl_uuid_is_zero(asked->saga_id.uuid);
    for (timeout_row *row = pawl__tree_first(tree); row != NULL; row = pawl__tree_next(tree, row))
        if ((!is_of || pawl_uuid_compare(row->fields.saga_id.uuid, asked->saga_id.uuid) == 0) &&
            !pawl__memory_list_take(list, row))
            return;
}

pawl_time pawl__memory_timeout_next_due(const memory_data *data, pawl_text destination)
{
    const memory_tree *tree  = &data->timeouts.trees[BY_DESTINATION];
    const timeout_row  probe = {.fields = {.destination = destination, .due = INT64_MIN}};
    const timeout_row *row   = pawl__tree_at_least(tree, &probe);
    for (; row != NULL && pawl_text_equal(row->fields.destination, destination);
         row = pawl__tree_next(tree, row))
        if (!is_leased(row))
            return row->fields.due;
    return PAWL_TIME_MAX;
}

/* The first free one of the rows that lead where this one does, itself included. */
static timeout_row *first_free(const memory_tree *tree, timeout_row *row, pawl_time now)
{
    const pawl_text destination = row->fields.destination;
    while (row != NULL && pawl_text_equal(row->fields.destination, destination)) {
        if (is_free(row, now))
            return row;
        row = pawl__tree_next(tree, row);
    }
    return NULL;
}

static bool is_handled(const memory_data *data, pawl_text destination, pawl_text own)
{
    return !pawl_text_equal(destination, own) && pawl__memory_is_subscriber(data, destination);
}

/* The rows that stand for their destinations: of each the first free one. */
void pawl__memory_find_foreign(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree    = &data->timeouts.trees[BY_DESTINATION];
    timeout_row       *row     = pawl__tree_first(tree);
    bool               is_more = true;
    while (row != NULL && is_more) {
        const timeout_row next = {
            .fields = {.destination = row->fields.destination, .due = INT64_MAX}};
        timeout_row *free = is_handled(data, row->fields.destination, asked->name)
                                ? NULL
                                : first_free(tree, row, asked->time);
        if (free != NULL)
            is_more = pawl__memory_list_take(list, free);
        row = pawl__tree_at_least(tree, &next);
    }
}

bool pawl__memory_show_foreign(const memory_list *list, const memory_table *table,
                               pawl_arena *arena, void **items)
{
    pawl_foreign_row *rows = *items = pawl_arena_take(arena, (list->count + 1) * sizeof *rows);
    bool              is_ok         = rows != NULL;
    (void)table;
    for (size_t i = 0; i < list->count && is_ok; i++) {
        const timeout_row *row  = list->rows[i];
        pawl_text          name = pawl_arena_text(arena, row->fields.destination);
        rows[i]                 = (pawl_foreign_row){name, row->fields.due};
        is_ok                   = name.data != NULL;
    }
    return is_ok;
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

static pawl_code refuse_owner(memory_commit *commit, pawl_timeout_id id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    return pawl__memory_refuse(commit, PAWL_EGONE, "timeout %s is no longer leased by this owner",
                               text);
}

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
        return refuse_owner(commit, change->id);
    if (row == NULL)
        return PAWL_OK;
    if (change->action == PAWL_TIMEOUT_REMOVE)
        return pawl__journal_remove(&commit->data->journal, table, row);
    timeout_row *copy = pawl__row_clone(table, row);
    if (copy == NULL)
        return PAWL_ENOMEM;
    copy->fields.owner         = (pawl_session_id){{{0}}};
    copy->fields.lease_expires = 0;
    copy->holder               = 0;
    if (change->action == PAWL_TIMEOUT_RETRY) {
        copy->fields.due      = change->due;
        copy->fields.attempts = change->attempts;
    }
    return pawl__journal_replace(&commit->data->journal, table, row, copy);
}

pawl_code pawl__memory_apply_timeout_cancel(memory_commit *commit, const void *item)
{
    const pawl_timeout_cancel *change = item;
    timeout_row               *row;
    while ((row = find_saga(commit->data, change->saga_id, change->name)) != NULL) {
        if (change->name.size != 0 && !pawl_text_equal(row->fields.name, change->name))
            break;
        pawl_code code = pawl__journal_remove(&commit->data->journal, &commit->data->timeouts, row);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

static pawl_code refuse_id(memory_commit *commit, pawl_timeout_id id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id.uuid, text);
    return pawl__memory_refuse(commit, PAWL_EDUPLICATE, "timeout %s exists already", text);
}

/* The row that is armed again; NULL: a new one. */
static timeout_row *find_armed(const memory_data *data, const pawl_timeout_set *change)
{
    if (pawl_uuid_is_zero(change->saga_id.uuid) || change->name.size == 0)
        return find_id(data, change->id);
    timeout_row *row = find_saga(data, change->saga_id, change->name);
    return row != NULL && pawl_text_equal(row->fields.name, change->name) ? row : NULL;
}

/* Another generation of the row: free, never tried. A timeout of its own id may
 * change its name and saga with it, so all texts are written anew. */
static pawl_code arm(memory_commit *commit, timeout_row *row, const pawl_timeout_set *change)
{
    memory_table     *table = &commit->data->timeouts;
    const timeout_row model = {
        .fields = {.id             = row != NULL ? row->fields.id : change->id,
                   .generation     = row != NULL ? row->fields.generation + 1 : 1,
                   .saga_id        = change->saga_id,
                   .saga_type      = change->saga_type,
                   .name           = change->name,
                   .destination    = change->destination,
                   .due            = change->due,
                   .headers        = change->headers,
                   .correlation_id = change->correlation_id},
    };
    return pawl__journal_replace(&commit->data->journal, table, row,
                                 pawl__row_create(table, &model));
}

pawl_code pawl__memory_apply_timeout_set(memory_commit *commit, const void *item)
{
    const pawl_timeout_set *change   = item;
    const timeout_row      *same     = find_id(commit->data, change->id);
    timeout_row            *armed    = find_armed(commit->data, change);
    bool                    is_known = change->is_new && (same != NULL || armed != NULL);
    if (is_known || (same != NULL && armed == NULL))
        return refuse_id(commit, change->id);
    return arm(commit, armed, change);
}
