/* names.c - forms of names, and the names of saga tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/names.h"

#include "pawl/limits.h"
#include "record/record_internal.h"
#include "workflow/model.h"

#include <string.h>

#define TABLE_NAME_SIZE_MAX 63 /* PostgreSQL's identifiers, in bytes (D5) */

static bool has_any(pawl_text text, const char *characters)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' || strchr(characters, text.data[i]) != NULL)
            return true;
    return false;
}

pawl_code pawl__name_check(const char *what, const char *name, pawl_error *error)
{
    pawl_text text = pawl_text_of(name);
    if (text.size == 0)
        return pawl_error_set(error, PAWL_ECONFIG, "%s has no name", what);
    if (text.size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s name '%.40s...' has %zu bytes, the limit is %d", what, name,
                              text.size, PAWL_NAME_SIZE_MAX);
    if (!pawl_text_is_valid(text, NULL) || has_any(text, "\"\\"))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s name '%s' has a quote, a backslash, a control character or bytes "
                              "that are not UTF-8",
                              what, name);
    return PAWL_OK;
}

pawl_code pawl__table_name_check(const char *saga, pawl_text name, pawl_error *error)
{
    if (!pawl_text_is_valid(name, NULL))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: the name of its table has bytes that are not UTF-8", saga);
    if (has_any(name, "[]`\"\\"))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: table name '%s' may not contain [ ] ` \" or \\; names are "
                              "quoted for you",
                              saga, name.data);
    if (name.size > TABLE_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "saga %s: table name '%s' has %zu bytes, the limit is %d", saga,
                              name.data, name.size, TABLE_NAME_SIZE_MAX);
    return PAWL_OK;
}

pawl_code pawl__column_check(pawl_text property, pawl_error *error)
{
    size_t limit = TABLE_NAME_SIZE_MAX - strlen("Correlation_");
    if (has_any(property, "[]`\"\\") || property.size > limit ||
        !pawl_text_is_valid(property, NULL))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "correlation property '%.80s' has a character that cannot be quoted, "
                              "or %zu bytes where the limit is %zu",
                              property.data, property.size, limit);
    return PAWL_OK;
}

pawl_text pawl__saga_prefix(const char *endpoint, const char *explicit_prefix, pawl_arena *arena)
{
    if (explicit_prefix != NULL)
        return pawl_arena_text(arena, pawl_text_of(explicit_prefix));
    pawl_text prefix = pawl_arena_printf(arena, "%s_", endpoint);
    for (char *c = (char *)prefix.data; c != NULL && *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return prefix;
}

/* ---- Tables of sagas --------------------------------------------------------- */

typedef struct named_table {
    const char *endpoint, *saga;
    pawl_text   name;
} named_table;

/* A list of named_table in the arena. */
typedef struct named_tables {
    pawl_arena  *arena;
    named_table *items;
    size_t       count, capacity;
} named_tables;

static pawl_code add_table(named_tables *all, const named_table *made, pawl_error *error)
{
    for (size_t i = 0; i < all->count; i++) {
        const named_table *other = &all->items[i];
        if (strcmp(other->endpoint, made->endpoint) != 0 &&
            pawl_text_equal(other->name, made->name))
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "saga %s of endpoint %s and saga %s of endpoint %s share the "
                                  "table '%s'; give one of them another .table",
                                  other->saga, other->endpoint, made->saga, made->endpoint,
                                  made->name.data);
    }
    named_table *grown =
        pawl_arena_grow(all->arena, all->items, all->count, &all->capacity, sizeof *grown);
    if (grown == NULL)
        return PAWL_ENOMEM;
    all->items          = grown;
    grown[all->count++] = *made;
    return PAWL_OK;
}

static pawl_code add_tables(const pawl_application *application, const pawl_endpoint_spec *given,
                            const char *saga_prefix, named_tables *all, pawl_error *error)
{
    pawl_endpoint_spec spec;
    pawl_saga          saga;
    pawl_code          code = PAWL_OK;
    pawl__table_row(given, 0, application->endpoint_size, &spec, sizeof spec);
    pawl_text prefix = pawl__saga_prefix(spec.name, saga_prefix, all->arena);
    for (size_t i = 0; i < pawl__list_count(spec.sagas) && code == PAWL_OK; i++) {
        pawl__table_row(spec.sagas[i], 0, application->saga_size, &saga, sizeof saga);
        if (saga.name == NULL)
            continue; /* building its endpoint refuses it */
        named_table made = {spec.name, saga.name,
                            pawl_arena_printf(all->arena, "%.*s%s", PAWL_TEXT_ARGS(prefix),
                                              saga.table != NULL ? saga.table : saga.name)};
        code = prefix.data != NULL && made.name.data != NULL ? add_table(all, &made, error)
                                                             : PAWL_ENOMEM;
    }
    return code;
}

pawl_code pawl__application_tables_check(const pawl_application *application,
                                         const char *saga_prefix, pawl_arena *arena,
                                         pawl_error *error)
{
    named_tables all   = {.arena = arena};
    size_t       count = pawl__list_count(application->endpoints);
    pawl_code    code  = PAWL_OK;
    for (size_t i = 0; count > 1 && i < count && code == PAWL_OK; i++)
        code = add_tables(application, application->endpoints[i], saga_prefix, &all, error);
    return code == PAWL_ENOMEM ? pawl_error_set(error, code, "no memory for saga tables") : code;
}

/* Versions that a program reads are listed for records of another version than 1. */
static pawl_text add_projection(pawl_arena *arena, pawl_text json,
                                const pawl__projection_model *projection)
{
    for (size_t i = 0; i < projection->on_count && json.data != NULL; i++) {
        const pawl__projection_on *on   = &projection->on[i];
        int                        last = pawl_record_version(on->event);
        json = pawl_arena_printf(arena, "%s%s\"" PAWL__PROJECTION_TYPE "\"", json.data,
                                 json.size > 1 ? "," : "", PAWL_TEXT_ARGS(projection->name),
                                 PAWL_TEXT_ARGS(on->type));
        if (last != 1 && json.data != NULL)
            json = pawl_arena_printf(arena, "%s,\"" PAWL__PROJECTION_TYPE " " PAWL__VERSIONS "\"",
                                     json.data, PAWL_TEXT_ARGS(projection->name),
                                     PAWL_TEXT_ARGS(on->type),
                                     pawl__record_reads(on->event, 1) ? 1 : last, last);
    }
    return json;
}

pawl_code pawl__model_types_json(pawl__model *model)
{
    pawl_text json = pawl_arena_printf(model->arena, "[");
    for (size_t i = 0; i < model->type_count && json.data != NULL; i++)
        json = pawl_arena_printf(model->arena, "%s%s\"%s\"", json.data, json.size > 1 ? "," : "",
                                 model->types[i]->type.data);
    for (size_t i = 0; i < model->timeout_count && json.data != NULL; i++)
        json = pawl_arena_printf(model->arena, "%s%s\"" PAWL__TIMEOUT_TYPE "\"", json.data,
                                 json.size > 1 ? "," : "",
                                 PAWL_TEXT_ARGS(model->timeouts[i].saga->table.type),
                                 PAWL_TEXT_ARGS(model->timeouts[i].name));
    for (size_t i = 0; i < model->schedule_count && json.data != NULL; i++)
        json =
            pawl_arena_printf(model->arena, "%s%s\"" PAWL__SCHEDULE_TYPE "\"", json.data,
                              json.size > 1 ? "," : "", PAWL_TEXT_ARGS(model->schedules[i].name));
    for (size_t i = 0; i < model->projection_count && json.data != NULL; i++)
        json = add_projection(model->arena, json, &model->projections[i]);
    if (json.data == NULL)
        return PAWL_ENOMEM;
    model->types_json = pawl_arena_printf(model->arena, "%s]", json.data);
    return model->types_json.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}
