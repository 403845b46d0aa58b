/* verify.c - reads the catalog for the check of the schema (store/sql/schema.h), and checks what only
 * PostgreSQL has: cascades, replica identities, and the SQL function that sends messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"

#include <string.h>

/* ---- The catalog -------------------------------------------------------- */

/* Sets quote_all_identifiers to off, since the server quotes names in its answers by it; behind a pooler it is that
 * of the role or database. It stays off until the end of the transaction (or of the round trip, if none is open),
 * so also for a script that follows the catalog. */
static void begin_unquoted(pawl__pg *store, pawl__pg_request *request, int statement,
                           pawl_error *error)
{
    pawl__pg_send_plain(&store->main, PAWL__PG_SCHEMA_UNQUOTED, error);
    pawl__pg_begin(request, &store->main, statement, error);
}

/* All rows of one statement over the tables. */
static pawl_code read_rows(pawl__pg *store, int statement, const pawl_text *tables,
                           size_t table_count, const pawl__field_list *columns, size_t row_size,
                           pawl_arena *arena, pawl_found *rows, pawl_error *error)
{
    pawl__pg_request request;
    begin_unquoted(store, &request, statement, error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl__pg_put_texts(&request, tables, table_count);
    pawl_code code = pawl__pg_run(&request);
    request.arena  = arena;
    return code == PAWL_OK ? pawl__pg_take_all(&request, columns, row_size, rows) : code;
}

pawl_code pawl__pg_catalog_read(pawl_store *base, const pawl_text *tables, size_t count,
                                pawl_arena *arena, pawl__sql_catalog *catalog, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_code code =
        read_rows(store, PAWL__PG_SCHEMA_COLUMNS, tables, count, &pawl__sql_found_column_row,
                  sizeof(pawl__sql_found_column), arena, &catalog->columns, error);
    if (code == PAWL_OK)
        code = read_rows(store, PAWL__PG_SCHEMA_INDEXES, tables, count, &pawl__sql_found_index_row,
                         sizeof(pawl__sql_found_index), arena, &catalog->indexes, error);
    return code;
}

/* ---- Cascades ----------------------------------------------------------- */

static pawl_code check_cascade(pawl__pg *store, pawl__sql_verifier *v, const pawl__sql_table *table)
{
    pawl__pg_request request;
    int64_t          count = 0;
    pawl_text        name  = pawl_arena_printf(v->arena, "%s%s", v->schema->prefix, table->name);
    if (name.data == NULL)
        return pawl__pg_no_memory(v->error);
    if (!pawl__sql_has_table(&v->catalog, name))
        return PAWL_OK;
    pawl__pg_begin(&request, &store->main, PAWL__PG_SCHEMA_CASCADES, v->error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl__pg_put_text(&request, name);
    pawl_code code = pawl__pg_one_int(&request, &count);
    if (code == PAWL_OK && count == 0)
        pawl__sql_report(v, "table %.*s: foreign key with delete cascade is missing",
                         PAWL_TEXT_ARGS(name));
    return code;
}

static pawl_code check_cascades(pawl__pg *store, pawl__sql_verifier *v)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++) {
        const pawl__sql_table *table = &pawl__sql_tables[i];
        if (table->constraints != NULL && strstr(table->constraints, "cascade") != NULL)
            code = check_cascade(store, v, table);
    }
    return code;
}

/* ---- Replica identity --------------------------------------------------- */

/* Checks the tables without a primary key. */
static pawl_code check_identities(pawl__pg *store, pawl__sql_verifier *v)
{
    const pawl_text names[] = {pawl_arena_printf(v->arena, "%sdead", v->schema->prefix),
                               pawl_arena_printf(v->arena, "%sinbox", v->schema->prefix)};
    pawl_found      rows;
    if (names[0].data == NULL || names[1].data == NULL)
        return pawl__pg_no_memory(v->error);
    pawl_code code = read_rows(store, PAWL__PG_SCHEMA_UNNAMED, names, 2, &pawl__one_text,
                               sizeof(pawl_text), v->arena, &rows, v->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        pawl__sql_report(v, "table %.*s: a replica identity is missing",
                         PAWL_TEXT_ARGS(((const pawl_text *)rows.items)[i]));
    return code;
}

/* ---- The function ------------------------------------------------------- */

/* The quotes around the function's body in its template. */
#define BODY_QUOTE "$pawl$"

static pawl_text body_of(pawl__sql_verifier *v)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, &pawl__pg_dialect, v->schema->prefix, pawl__pg_send_function);
    pawl_text whole = {0};
    if (!text.is_failed)
        whole = pawl_arena_text(v->arena, (pawl_text){.data = text.data, .size = text.size});
    pawl__sql_text_free(&text);
    size_t      size  = strlen(BODY_QUOTE);
    const char *begin = whole.data != NULL ? strstr(whole.data, BODY_QUOTE) : NULL;
    const char *end   = begin != NULL ? strstr(begin + size, BODY_QUOTE) : NULL;
    if (end == NULL)
        return (pawl_text){0};
    return (pawl_text){.data = begin + size, .size = (size_t)(end - begin) - size};
}

static pawl_code check_function(pawl__pg *store, pawl__sql_verifier *v)
{
    pawl__pg_request request;
    pawl_text        body = body_of(v);
    pawl_text        name =
        pawl_arena_printf(v->arena, "%s%s", store->sql.base.system_prefix, pawl__pg_send_name);
    if (body.data == NULL || name.data == NULL)
        return pawl__pg_no_memory(v->error);
    begin_unquoted(store, &request, PAWL__PG_SCHEMA_FUNCTION, v->error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl__pg_put_text(&request, name);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && !pawl__pg_next(&request))
        pawl__sql_report(v, "function %.*s is missing", PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl_text_equal(pawl__pg_peek_text(&request), body))
        pawl__sql_report(v, "function %.*s is not that of this version of pawl",
                         PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl__pg_get_bool(&request))
        pawl__sql_report(v, "function %.*s: its search_path is not the schema %s",
                         PAWL_TEXT_ARGS(name), store->schema);
    pawl__pg_end(&request);
    return code;
}

/* ---- Verifying ---------------------------------------------------------- */

pawl_code pawl__pg_verify_own(pawl__sql_verifier *v)
{
    pawl__pg *store = pawl__pg_of(v->schema->store);
    pawl_code code  = check_cascades(store, v);
    if (code == PAWL_OK)
        code = check_identities(store, v);
    return code == PAWL_OK ? check_function(store, v) : code;
}
