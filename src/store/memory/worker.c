/* worker.c - workers with their epochs and counters, and the leases of leaders.
 *
 * A worker's row is written in place: a commit writes it last (the fence), when
 * nothing can fail any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

/* row.holder is the handle that opened the worker; 0: the worker is dead. */
typedef struct worker_row {
    MEMORY_ROW(1)
    pawl_worker_info fields;
    pawl_uuid        last_commit;
} worker_row;

MEMORY_ORDER(worker_by_id, worker_row, MEMORY_UUID(fields.id.uuid), MEMORY_NOTHING)

const memory_table_kind pawl__memory_worker_kind = {
    MEMORY_SIZES(worker_row, fields),
    .texts   = {offsetof(worker_row, fields.endpoint), offsetof(worker_row, fields.types),
                offsetof(worker_row, fields.host), offsetof(worker_row, fields.program),
                offsetof(worker_row, fields.program_version),
                offsetof(worker_row, fields.pawl_version)},
    .indexes = {MEMORY_INDEX(worker_by_id, NULL)},
};

static worker_row *find(const memory_data *data, pawl_worker_id id)
{
    const worker_row probe = {.fields.id = id};
    return pawl__tree_find(&data->workers.trees[0], &probe);
}

/* The handle's worker; NULL if another handle has raised the epoch. */
static worker_row *find_own(const memory_store *self)
{
    worker_row *row = find(self->data, self->base.worker);
    return row != NULL && row->fields.epoch == self->base.epoch ? row : NULL;
}

static void add_counters(pawl_counters *sum, const pawl_counters *counters)
{
    sum->messages += counters->messages;
    sum->timeouts += counters->timeouts;
    sum->flushes += counters->flushes;
    sum->failures += counters->failures;
    sum->conflicts += counters->conflicts;
    sum->dead += counters->dead;
}

static void remove_worker(memory_data *data, worker_row *row)
{
    add_counters(&data->retained, &row->fields.counters);
    pawl__table_drop(&data->workers, row);
}

/* ---- Named leases -------------------------------------------------------- */

typedef struct lead_row {
    MEMORY_ROW(1)
    pawl_lead_row fields;
} lead_row;

MEMORY_ORDER(lead_by_name, lead_row, MEMORY_TEXT(fields.name), MEMORY_NOTHING)

const memory_table_kind pawl__memory_lead_kind = {
    MEMORY_SIZES(lead_row, fields),
    .texts   = {offsetof(lead_row, fields.name)},
    .indexes = {MEMORY_INDEX(lead_by_name, NULL)},
};

static lead_row *find_lead(const memory_data *data, pawl_text name)
{
    const lead_row probe = {.fields.name = name};
    return pawl__tree_find(&data->leads.trees[0], &probe);
}

/* Makes the lease ours. False when out of memory. */
static bool take_lead(memory_store *self, lead_row *row, pawl_text name, pawl_time expires)
{
    memory_table *leads = &self->data->leads;
    if (row == NULL) {
        const lead_row model = {.fields.name = name};
        row                  = pawl__table_add(leads, &model);
    }
    if (row == NULL)
        return false;
    row->row.holder     = self->holder;
    row->fields.worker  = self->base.worker;
    row->fields.expires = expires;
    return true;
}

/* A closed handle has no leases, so no holder can be dead. */
pawl_code pawl__memory_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                            bool *is_ours, pawl_error *error)
{
    memory_data  *data  = pawl__memory_enter(store);
    memory_store *self  = (memory_store *)store;
    lead_row     *row   = find_lead(data, name);
    bool          is_ok = true;
    if (row == NULL || row->row.holder == self->holder || row->fields.expires <= now) {
        is_ok    = take_lead(self, row, name, pawl_time_add(now, lease));
        *is_ours = is_ok;
    }
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("named lease", error);
}

pawl_code pawl__memory_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    (void)error;
    memory_data *data = pawl__memory_enter(store);
    lead_row    *row  = find_lead(data, name);
    if (row != NULL && row->row.holder == ((memory_store *)store)->holder)
        pawl__table_drop(&data->leads, row);
    pawl__memory_leave(data);
    return PAWL_OK;
}

static void free_leads(memory_data *data, uint64_t holder)
{
    lead_row *next = NULL;
    for (lead_row *row = pawl__tree_first(&data->leads.trees[0]); row != NULL; row = next) {
        next = pawl__tree_next(&data->leads.trees[0], row);
        if (row->row.holder == holder)
            pawl__table_drop(&data->leads, row);
    }
}

void pawl__memory_find_leads(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const memory_tree *tree = &data->leads.trees[0];
    for (lead_row *row = pawl__tree_first(tree); row != NULL; row = pawl__tree_next(tree, row))
        if (row->fields.expires > asked->time && !pawl__memory_list_take(list, row))
            return;
}

/* ---- Opening and closing ------------------------------------------------- */

static void free_all(memory_data *data, uint64_t holder)
{
    pawl__table_release(&data->queue, holder);
    pawl__table_release(&data->timeouts, holder);
    pawl__table_release(&data->aggregator, holder);
    free_leads(data, holder);
}

/* Another handle takes the worker over: releases the claims of the earlier epoch. */
static void replace_worker(memory_data *data, worker_row *old, uint64_t holder)
{
    if (old->row.holder != holder && old->row.holder != 0)
        free_all(data, old->row.holder);
    remove_worker(data, old);
}

pawl_code pawl__memory_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                   pawl_time now, pawl_error *error)
{
    memory_data  *data    = pawl__memory_enter(store);
    memory_store *self    = (memory_store *)store;
    worker_row   *old     = find(data, store->worker);
    worker_row    model   = {.fields = *pawl_store_program(store), .row.holder = self->holder};
    model.fields.id       = store->worker;
    model.fields.endpoint = endpoint;
    model.fields.types    = types;
    model.fields.epoch    = old != NULL ? old->fields.epoch + 1 : 1;
    model.fields.pid      = (int64_t)self->wait.pid;
    model.fields.seen     = now;
    model.fields.started  = now;
    worker_row *row       = pawl__table_add(&data->workers, &model);
    if (row != NULL) {
        if (old != NULL)
            replace_worker(data, old, self->holder);
        store->epoch       = row->fields.epoch;
        store->is_attached = true;
    }
    pawl__memory_leave(data);
    return row != NULL ? PAWL_OK : pawl__memory_out_of_memory("opening a worker", error);
}

static void let_go(memory_store *self)
{
    free_all(self->data, self->holder);
    self->base.is_attached = false;
}

/* The handle keeps its epoch number, so its later commits are fenced off. A handle that did not open the worker can end
 * it only if it is dead. */
static void end_worker(memory_store *self)
{
    memory_data *data = self->data;
    worker_row  *row  = find_own(self);
    if (row == NULL && !self->base.is_attached) {
        row = find(data, self->base.worker);
        if (row != NULL && row->row.holder != 0)
            row = NULL;
    }
    if (row != NULL)
        remove_worker(data, row);
    let_go(self);
}

/* The row stays, like that of a crashed process. */
void pawl__memory_worker_drop(memory_store *self)
{
    worker_row *row = find_own(self);
    if (row != NULL)
        row->row.holder = 0;
    let_go(self);
}

pawl_code pawl__memory_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    (void)error;
    (void)now;
    memory_data *data = pawl__memory_enter(store);
    end_worker((memory_store *)store);
    pawl__memory_leave(data);
    return PAWL_OK;
}

static void list_workers(const memory_data *data, bool is_alive, memory_list *list)
{
    const memory_tree *tree = &data->workers.trees[0];
    for (worker_row *row = pawl__tree_first(tree); row != NULL; row = pawl__tree_next(tree, row))
        if ((row->row.holder != 0) == is_alive && !pawl__memory_list_take(list, row))
            return;
}

void pawl__memory_find_workers(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    (void)asked;
    list_workers(data, true, list);
}

pawl_code pawl__memory_worker_crashed(pawl_store *store, pawl_arena *arena,
                                      pawl_worker_info **items, size_t *count, pawl_error *error)
{
    memory_list  list = pawl__memory_list_begin(store, arena, 0);
    memory_data *data = list.data;
    list_workers(data, false, &list);
    return pawl__memory_list_end(&list, &data->workers, NULL, "list of workers", items, count,
                                 error);
}

size_t pawl__memory_worker_sweep(memory_data *data, pawl_time before, size_t count_max)
{
    size_t      count = 0;
    worker_row *next  = NULL;
    for (worker_row *row                       = pawl__tree_first(&data->workers.trees[0]);
         row != NULL && count < count_max; row = next) {
        next = pawl__tree_next(&data->workers.trees[0], row);
        if (row->row.holder != 0 || row->fields.seen >= before)
            continue;
        remove_worker(data, row);
        count++;
    }
    return count;
}

/* ---- The fence ----------------------------------------------------------- */

pawl_code pawl__memory_fence_check(memory_store *store, pawl_error *error)
{
    return find_own(store) != NULL ? PAWL_OK : pawl__why_fenced(&store->base, "memory", error);
}

void pawl__memory_fence_write(memory_store *store, const pawl_changes *changes)
{
    worker_row *row  = find_own(store);
    row->last_commit = changes->commit_id;
    row->fields.seen = changes->now;
    add_counters(&row->fields.counters, &changes->counters);
}

pawl_code pawl__memory_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                               pawl_error *error)
{
    memory_data *data = pawl__memory_enter(store);
    worker_row  *row  = find(data, store->worker);
    pawl_code    code = PAWL_OK;
    if (row != NULL) {
        store->epoch = ++row->fields.epoch;
        *is_applied  = pawl_uuid_compare(row->last_commit, commit_id) == 0;
    } else {
        code = pawl__why_fenced(store, "memory", error);
    }
    pawl__memory_leave(data);
    return code;
}

void pawl__memory_worker_stats(const memory_data *data, pawl_stats *stats)
{
    const memory_tree *tree = &data->workers.trees[0];
    stats->workers          = 0;
    stats->counters         = data->retained;
    for (const worker_row *row = pawl__tree_first(tree); row != NULL;
         row                   = pawl__tree_next(tree, row)) {
        stats->workers += row->row.holder != 0;
        add_counters(&stats->counters, &row->fields.counters);
    }
}
