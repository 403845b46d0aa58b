/* verify.c - reads the catalog for verify (store/sql/verify.h), and looks at what
 * only PostgreSQL has: the cascade, and the function that sends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/verify.h"

#include "store/postgres/schema.h"

#include <stdio.h>
#include <string.h>

typedef struct checking {
    pawl__sql_verifier base;
    pawl__pg          *store;
} checking;

/* ---- What the catalog says ---------------------------------------------- */

/* All rows of one statement over the tables; `items` is NULL without memory. */
static pawl_code read_rows(checking *c, int statement, const pawl_text *tables, size_t table_count,
                           const pawl__sql_fields *columns, size_t row_size, char **items,
                           size_t *count)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, &c->store->main, statement, c->base.error);
    pawl__pg_put_text(&request, pawl_text_of(c->store->schema));
    pawl__pg_put_texts(&request, tables, table_count);
    pawl_code code = pawl__pg_run(&request);
    request.arena  = c->base.arena;
    if (code != PAWL_OK)
        return code;
    *items = pawl__pg_take_rows(&request, row_size);
    while (*items != NULL && pawl__pg_next(&request))
        pawl__pg_get_fields(&request, columns, *items + row_size * (*count)++);
    pawl__pg_end(&request);
    return request.code;
}

static pawl_code read_catalog(checking *c, const pawl_schema_spec *spec)
{
    pawl__sql_verifier *v = &c->base;
    size_t              count;
    char               *columns = NULL, *indexes = NULL;
    pawl_text          *names = pawl__sql_verified_tables(v, spec, &count);
    if (names == NULL)
        return pawl__pg_no_memory(v->error);
    pawl_code code =
        read_rows(c, PAWL__PG_SCHEMA_COLUMNS, names, count, &pawl__sql_found_column_row,
                  sizeof *v->columns, &columns, &v->column_count);
    if (code == PAWL_OK)
        code = read_rows(c, PAWL__PG_SCHEMA_INDEXES, names, count, &pawl__sql_found_index_row,
                         sizeof *v->indexes, &indexes, &v->index_count);
    v->columns = (void *)columns;
    v->indexes = (void *)indexes;
    return code;
}

static void type_name(pawl__sql_type type, char name[PAWL__SQL_TYPE_NAME_SIZE])
{
    (void)snprintf(name, PAWL__SQL_TYPE_NAME_SIZE, "%s", pawl__pg_type_name(type));
}

/* ---- Cascades ----------------------------------------------------------- */

static pawl_code check_cascade(checking *c, const pawl__sql_table *table)
{
    pawl__pg_request request;
    int64_t          count = 0;
    pawl_text        name  = pawl_arena_printf(c->base.arena, "%s%s", c->base.prefix, table->name);
    if (name.data == NULL)
        return pawl__pg_no_memory(c->base.error);
    if (!pawl__sql_table_is_there(&c->base, name))
        return PAWL_OK;
    pawl__pg_begin(&request, &c->store->main, PAWL__PG_SCHEMA_CASCADES, c->base.error);
    pawl__pg_put_text(&request, pawl_text_of(c->store->schema));
    pawl__pg_put_text(&request, name);
    pawl_code code = pawl__pg_one_int(&request, &count);
    if (code == PAWL_OK && count == 0)
        pawl__sql_report(&c->base, "table %.*s: foreign key with delete cascade is missing",
                         PAWL_TEXT_ARGS(name));
    return code;
}

static pawl_code check_cascades(checking *c)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++) {
        const pawl__sql_table *table = &pawl__sql_tables[i];
        if (table->constraints != NULL && strstr(table->constraints, "cascade") != NULL)
            code = check_cascade(c, table);
    }
    return code;
}

/* ---- The function ------------------------------------------------------- */

/* What stands between the quotes of its template. */
static pawl_text body_of(checking *c)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, &pawl__pg_dialect, c->base.prefix, pawl__pg_send_function);
    pawl_text whole = {0};
    if (!text.is_failed)
        whole = pawl_arena_text(c->base.arena, (pawl_text){.data = text.data, .size = text.size});
    pawl__sql_text_free(&text);
    size_t      size  = strlen(PAWL__PG_BODY_QUOTE);
    const char *begin = whole.data != NULL ? strstr(whole.data, PAWL__PG_BODY_QUOTE) : NULL;
    const char *end   = begin != NULL ? strstr(begin + size, PAWL__PG_BODY_QUOTE) : NULL;
    if (end == NULL)
        return (pawl_text){0};
    return (pawl_text){.data = begin + size, .size = (size_t)(end - begin) - size};
}

static pawl_code check_function(checking *c)
{
    pawl__pg_request request;
    pawl_text        body = body_of(c);
    pawl_text name = pawl_arena_printf(c->base.arena, "%s%s", c->store->sql.base.system_prefix,
                                       pawl__pg_send_name);
    if (body.data == NULL || name.data == NULL)
        return pawl__pg_no_memory(c->base.error);
    pawl__pg_begin(&request, &c->store->main, PAWL__PG_SCHEMA_FUNCTION, c->base.error);
    pawl__pg_put_text(&request, pawl_text_of(c->store->schema));
    pawl__pg_put_text(&request, name);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && !pawl__pg_next(&request))
        pawl__sql_report(&c->base, "function %.*s is missing", PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl_text_equal(pawl__pg_peek_text(&request), body))
        pawl__sql_report(&c->base, "function %.*s is not that of this version of pawl",
                         PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl__pg_get_bool(&request))
        pawl__sql_report(&c->base, "function %.*s: its search_path is not the schema %s",
                         PAWL_TEXT_ARGS(name), c->store->schema);
    pawl__pg_end(&request);
    return code;
}

/* ---- All of it ---------------------------------------------------------- */

static pawl_code check_all(checking *c, const pawl_schema_spec *spec)
{
    int64_t   version = 0;
    pawl_code code    = pawl__pg_version(c->store, &version, c->base.error);
    if (code == PAWL_OK)
        code = read_catalog(c, spec);
    if (code == PAWL_OK)
        code = pawl__sql_verify(&c->base, spec, version);
    if (code == PAWL_OK)
        code = check_cascades(c);
    return code == PAWL_OK ? check_function(c) : code;
}

pawl_code pawl__pg_verify(pawl__pg *store, const pawl_schema_spec *spec, pawl_line_fn *line,
                          void *context, size_t *count, bool *has_relic, pawl_error *error)
{
    checking c = {.base  = {.dialect   = &pawl__pg_dialect,
                            .prefix    = store->sql.base.system_prefix,
                            .arena     = pawl_arena_create(0),
                            .line      = line,
                            .context   = context,
                            .error     = error,
                            .type_name = type_name,
                            .collation = "C",
                            .has_keys  = true},
                  .store = store};
    *count     = 0;
    *has_relic = false;
    if (c.base.arena == NULL)
        return pawl__pg_no_memory(error);
    pawl_code code = check_all(&c, spec);
    pawl_arena_destroy(c.base.arena);
    *count     = c.base.count;
    *has_relic = c.base.has_relic;
    return code;
}
