/* data.c - the data sets of the process, and the handles on them.
 *
 * Two mutexes, taken in this order: that of the list, to open and close, and
 * that of a data set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include <stdio.h>
#include <string.h>

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static memory_data    *all_data;

/* ---- Tables ------------------------------------------------------------- */

typedef struct table_rule {
    size_t                   offset;
    const memory_table_kind *kind;
    bool                     is_of_workers; /* stays when the data is emptied */
} table_rule;

static const table_rule tables[] = {
#define TABLE_RULE(table, kind, is_of_workers) \
    {offsetof(memory_data, table), &pawl__memory_##kind##_kind, is_of_workers},
    MEMORY_TABLES(TABLE_RULE)
#undef TABLE_RULE
};
#define TABLE_COUNT (sizeof tables / sizeof tables[0])

static memory_table *table_at(memory_data *data, size_t index)
{
    return (memory_table *)(void *)((char *)data + tables[index].offset);
}

void pawl__memory_empty(memory_data *data)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (!tables[i].is_of_workers)
            pawl__table_clear(table_at(data, i));
    while (data->sagas != NULL) {
        memory_sagas *next = data->sagas->next;
        pawl__memory_sagas_destroy(data->sagas);
        data->sagas = next;
    }
}

static memory_data *data_create(const char *identity)
{
    memory_data *data = pawl_allocate(sizeof *data);
    if (data == NULL)
        return NULL;
    snprintf(data->identity, sizeof data->identity, "%s", identity);
    pthread_mutex_init(&data->mutex, NULL);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        pawl__table_init(table_at(data, i), tables[i].kind);
    return data;
}

static void data_destroy(memory_data *data)
{
    pawl__memory_empty(data);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        pawl__table_clear(table_at(data, i));
    pawl__undo_log_free(&data->undo_log);
    pthread_mutex_destroy(&data->mutex);
    pawl_free(data);
}

/* ---- Handles ------------------------------------------------------------ */

/* The data set of that identity, made when it is missing; with one handle more.
 * NULL when out of memory. The list's mutex is locked. */
static memory_data *join_data(const char *identity)
{
    memory_data *data = all_data;
    while (data != NULL && strcmp(data->identity, identity) != 0)
        data = data->next;
    if (data == NULL) {
        data = data_create(identity);
        if (data == NULL)
            return NULL;
        data->next = all_data;
        all_data   = data;
    }
    data->handle_count++;
    return data;
}

static void leave_data(memory_data *data)
{
    if (--data->handle_count != 0)
        return;
    memory_data **link = &all_data;
    while (*link != data)
        link = &(*link)->next;
    *link = data->next;
    data_destroy(data);
}

/* The memory store is always made when it is opened: `create=` is understood,
 * because every store understands it, and changes nothing. */
static pawl_code check_parameters(const char *parameters, pawl_error *error)
{
    if (*parameters == '\0' || strcmp(parameters, "?create=no") == 0 ||
        strcmp(parameters, "?create=yes") == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "memory store: '%.100s' is unknown; 'create' is the only parameter",
                          parameters);
}

/* The identity of a data set: the store's name and the system prefix. */
static pawl_code make_identity(pawl_store *store, const char *url, pawl_error *error)
{
    const char *name       = url + strlen("memory:");
    size_t      name_size  = strcspn(name, "?");
    size_t      prefix_max = PAWL_PREFIX_SIZE_MAX + sizeof "memory:#";
    size_t      size_max   = sizeof store->identity - prefix_max;
    if (name_size > size_max)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "name of a memory store: it has %zu bytes, limit %zu", name_size,
                              size_max);
    snprintf(store->identity, sizeof store->identity, "memory:%s#%.*s", store->system_prefix,
             (int)name_size, name);
    return check_parameters(name + name_size, error);
}

pawl_code pawl__memory_open(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    memory_store *self = (memory_store *)store;
    pawl_code     code = make_identity(store, url, error);
    if (code == PAWL_OK)
        code = pawl__wait_open(&self->wait, "memory", error);
    if (code != PAWL_OK)
        return code;
    pthread_mutex_lock(&list_mutex);
    self->data = join_data(store->identity);
    if (self->data != NULL)
        self->holder = ++self->data->last_holder;
    pthread_mutex_unlock(&list_mutex);
    if (self->data == NULL)
        return pawl__memory_out_of_memory("opening the store", error);
    if (store->mode == PAWL_OPEN_EXISTING || store->mode == PAWL_OPEN_SCHEMA)
        return PAWL_OK;
    return pawl__memory_check_reach(store, options->tables, options->table_count, error);
}

/* In a child process mutexes may be locked by threads of the parent, so the handle
 * is only dropped there. */
void pawl__memory_close(pawl_store *store)
{
    memory_store *self = (memory_store *)store;
    pawl__wait_close(&self->wait);
    if (self->data == NULL || !pawl__wait_is_ours(&self->wait))
        return;
    pthread_mutex_lock(&list_mutex);
    pthread_mutex_lock(&self->data->mutex);
    pawl__memory_worker_drop(self);
    pthread_mutex_unlock(&self->data->mutex);
    leave_data(self->data);
    pthread_mutex_unlock(&list_mutex);
}

memory_data *pawl__memory_enter(pawl_store *store)
{
    memory_data *data = ((memory_store *)store)->data;
    pthread_mutex_lock(&data->mutex);
    return data;
}

void pawl__memory_leave(memory_data *data)
{
    pthread_mutex_unlock(&data->mutex);
}

/* ---- Lists -------------------------------------------------------------- */

memory_list pawl__memory_list_begin(pawl_store *store, pawl_arena *arena, size_t limit)
{
    return (memory_list){
        .data = pawl__memory_enter(store), .arena = arena, .limit = limit != 0 ? limit : SIZE_MAX};
}

bool pawl__memory_list_take(memory_list *list, void *row)
{
    void **rows =
        pawl_arena_grow(list->arena, list->rows, list->count, &list->capacity, sizeof *rows);
    list->is_failed |= rows == NULL;
    if (rows == NULL)
        return false;
    list->rows          = rows;
    rows[list->count++] = row;
    return list->count < list->limit;
}

bool pawl__memory_list_show(const memory_list *list, const memory_table *table,
                            const memory_part *part, void **items)
{
    char *shown = list->is_failed ? NULL : pawl_arena_take(list->arena, list->count * part->size);
    for (size_t i = 0; shown != NULL && i < list->count; i++)
        if (!pawl__row_show(table, list->rows[i], part, list->arena, shown + i * part->size))
            return false;
    *items = shown;
    return shown != NULL;
}

pawl_code pawl__memory_list_end(const memory_list *list, memory_table *table,
                                const memory_claim *claim, const char *what, void *items,
                                size_t *count, pawl_error *error)
{
    void *shown = NULL;
    bool  is_ok = pawl__memory_list_show(list, table, &table->kind->shown, &shown);
    for (size_t i = 0; is_ok && claim != NULL && i < list->count; i++) {
        pawl__table_claim(table, list->rows[i], claim);
        pawl__row_show_lease(table, (char *)shown + i * table->kind->shown.size, claim);
    }
    pawl__memory_leave(list->data);
    if (!is_ok)
        return pawl__memory_out_of_memory(what, error);
    memcpy(items, &shown, sizeof shown);
    *count = list->count;
    return PAWL_OK;
}

pawl_code pawl__memory_out_of_memory(const char *what, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", what);
}
