/* ask.c - answers queries of the program about an endpoint (states, counts), whether it runs or not.
 *
 * Queries use a separate store handle, as that of a worker belongs to its thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "engine/entry.h"
#include "engine/stream.h"
#include "runtime/endpoint/endpoint.h"

/* Locks and opens the handle, which is kept for the next query. end() must follow, also after a failure. */
static pawl_code begin(pawl_endpoint *endpoint, pawl_error *error)
{
    pthread_mutex_lock(&endpoint->asking);
    return endpoint->asked != NULL
               ? PAWL_OK
               : pawl__endpoint_store_open_aside(endpoint, INT64_MAX, &endpoint->asked, error);
}

/* Unlocks. After a failure closes the handle, as the connection may be lost. */
static pawl_code end(pawl_endpoint *endpoint, pawl_code code)
{
    if (code != PAWL_OK) {
        pawl_store_close(endpoint->asked);
        endpoint->asked = NULL;
    }
    pthread_mutex_unlock(&endpoint->asking);
    return code;
}

static pawl_code find_saga(const pawl_endpoint *endpoint, const char *saga,
                           const pawl__saga_model **found, pawl_error *error)
{
    if (endpoint == NULL)
        return pawl__no_endpoint(error);
    *found = pawl__model_saga(endpoint->model, pawl_text_of(saga));
    return *found != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOTFOUND, "endpoint %s has no saga '%s'",
                                endpoint->model->endpoint.data, saga != NULL ? saga : "");
}

static pawl_code look_at_stream(pawl_store *store, const pawl__saga_model *model, pawl_text key,
                                pawl_arena *arena, pawl_text *data, int64_t *version,
                                pawl_error *error)
{
    pawl__stream_seen seen;
    pawl_code         code = pawl__stream_look(store, model, key, arena, &seen, error);
    if (code == PAWL_OK && seen.version > 0)
        code = pawl_record_encode(model->state, seen.state, 0, arena, data, error);
    if (code == PAWL_OK)
        *version = seen.version;
    return code;
}

static pawl_code look_at_saga(pawl_store *store, const pawl__saga_model *model, pawl_value by,
                              pawl_arena *arena, pawl_text *data, int64_t *version,
                              pawl_error *error)
{
    pawl_saga_row row  = {.presence = PAWL_SAGA_MISSING};
    pawl_code     code = pawl_store_saga_load(store, &model->table, PAWL_SAGA_BY_MAIN, &by, 1,
                                              PAWL_SAGA_UNLOCKED, arena, &row, error);
    if (code == PAWL_OK && row.presence == PAWL_SAGA_THERE)
        code = pawl__state_json(model, &row, arena, data, error);
    if (code == PAWL_OK)
        *version = row.version;
    return code;
}

pawl_code pawl_endpoint_saga(pawl_endpoint *endpoint, const char *saga, const pawl_value *value,
                             pawl_arena *arena, pawl_text *data, int64_t *version,
                             pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    pawl_value              by    = value != NULL ? *value : (pawl_value){0};
    pawl_code               code  = find_saga(endpoint, saga, &model, error);
    *version                      = 0;
    *data                         = (pawl_text){0};
    if (code == PAWL_OK && model->table.main.type == PAWL_VALUE_NONE)
        code = pawl_error_set(error, PAWL_EINVAL, "saga %s has no correlation property", saga);
    if (code == PAWL_OK)
        code = pawl_value_coerce(model->table.main.type, &by, arena, error);
    if (code != PAWL_OK)
        return code;
    code = begin(endpoint, error);
    if (code == PAWL_OK)
        code = model->stream != NULL
                   ? look_at_stream(endpoint->asked, model, by.as.text, arena, data, version, error)
                   : look_at_saga(endpoint->asked, model, by, arena, data, version, error);
    return end(endpoint, code);
}

pawl_code pawl_endpoint_saga_count(pawl_endpoint *endpoint, const char *saga, int64_t *count,
                                   pawl_error *error)
{
    const pawl__saga_model *model = NULL;
    pawl_code               code  = find_saga(endpoint, saga, &model, error);
    *count                        = 0;
    if (code == PAWL_OK && model->stream != NULL)
        code = pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "%s is not a saga: processes and entities are not counted", saga);
    if (code != PAWL_OK)
        return code;
    code = begin(endpoint, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_count(endpoint->asked, &model->table, count, error);
    return end(endpoint, code);
}

pawl_code pawl_endpoint_stats(pawl_endpoint *endpoint, pawl_arena *arena, pawl_stats *stats,
                              pawl_error *error)
{
    if (endpoint == NULL)
        return pawl__no_endpoint(error);
    pawl_code code = begin(endpoint, error);
    if (code == PAWL_OK)
        code = pawl_store_stats(endpoint->asked, pawl__business_now(endpoint), arena, stats, error);
    return end(endpoint, code);
}

/* Copies the table with its names, which live in the endpoint's model. */
static pawl_code copy_table(const pawl_saga_table *from, pawl_arena *arena,
                            const pawl_saga_table **table)
{
    pawl_saga_table *made = pawl_arena_copy(arena, from, sizeof *from);
    if (made == NULL)
        return PAWL_ENOMEM;
    made->name                  = pawl_arena_text(arena, from->name);
    made->type                  = pawl_arena_text(arena, from->type);
    made->main.property         = pawl_arena_text(arena, from->main.property);
    made->transitional.property = pawl_arena_text(arena, from->transitional.property);
    *table                      = made;
    return made->transitional.property.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl_endpoint_tables(const pawl_application *application, const char *name,
                               const char *saga_prefix, pawl_arena *arena,
                               const pawl_saga_table *const **tables, size_t *count,
                               pawl_error *error)
{
    pawl__model *model = NULL;
    pawl_code    code  = pawl__model_create(application, name, saga_prefix, &model, error);
    if (code != PAWL_OK)
        return code;
    const pawl_saga_table **made =
        pawl_arena_take(arena, (model->table_count + 1) * sizeof(pawl_saga_table *));
    *count = model->table_count;
    code   = made != NULL ? PAWL_OK : PAWL_ENOMEM;
    for (size_t i = 0; i < model->table_count && code == PAWL_OK; i++)
        code = copy_table(model->tables[i], arena, &made[i]);
    *tables = made;
    pawl__model_destroy(model);
    return code == PAWL_ENOMEM ? pawl_error_set(error, code, "no memory for saga tables") : code;
}
