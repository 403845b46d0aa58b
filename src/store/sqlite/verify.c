/* verify.c - reads the catalog for verify (store/sql/verify.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/verify.h"

#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <string.h>

/* A primary key is given by the database, or its column is not null in any case. */
static const char columns_text[] =
    "select m.name, c.name, c.type, '', c.\"notnull\" <> 0 or c.pk <> 0, "
    "c.dflt_value is not null or c.pk <> 0 "
    "from sqlite_schema as m join pragma_table_info(m.name) as c where m.type = 'table'";

static const char indexes_text[] =
    "select m.name, i.name, (select coalesce(group_concat('\"' || x.name || '\"', ', '), '') "
    "from (select name from pragma_index_info(i.name) order by seqno) as x), "
    "i.origin = 'pk', i.\"unique\", 1, i.partial "
    "from sqlite_schema as m join pragma_index_list(m.name) as i where m.type = 'table'";

static pawl_code read_rows(pawl__sqlite *store, const char *text, const pawl__sql_fields *columns,
                           size_t row_size, pawl_arena *arena, char **items, size_t *count,
                           pawl_error *error)
{
    sqlite3_stmt        *statement = NULL;
    size_t               capacity  = 0;
    pawl__sqlite_request request;
    pawl_code            code = pawl__sqlite_prepare(store->connection.db, text, &statement, error);
    pawl__sqlite_request_statement(&request, &store->connection, statement, error);
    request.code  = code;
    request.arena = arena;
    while (pawl__sqlite_next(&request)) {
        char *grown = pawl__sqlite_grow(&request, *items, *count, &capacity, row_size);
        if (grown == NULL)
            break;
        *items    = grown;
        char *row = grown + row_size * (*count)++;
        memset(row, 0, row_size);
        pawl__sqlite_get_fields(&request, columns, row);
    }
    (void)sqlite3_finalize(statement);
    return request.code;
}

/* "text collate binary" is the column's definition; its type is the first word. */
static void type_name(pawl__sql_type type, char name[PAWL__SQL_TYPE_NAME_SIZE])
{
    const char *definition = pawl__sqlite_dialect.types[type];
    (void)snprintf(name, PAWL__SQL_TYPE_NAME_SIZE, "%.*s", (int)strcspn(definition, " "),
                   definition);
}

pawl_code pawl__sqlite_verify(pawl__sqlite *store, const pawl_schema_spec *spec, int64_t version,
                              pawl_line_fn *line, void *context, size_t *count, pawl_error *error)
{
    char              *columns = NULL, *indexes = NULL;
    pawl__sql_verifier v = {.dialect   = &pawl__sqlite_dialect,
                            .prefix    = store->connection.prefix,
                            .arena     = pawl_arena_create(0),
                            .line      = line,
                            .context   = context,
                            .error     = error,
                            .type_name = type_name};
    if (v.arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    pawl_code code = read_rows(store, columns_text, &pawl__sql_found_column_row, sizeof *v.columns,
                               v.arena, &columns, &v.column_count, error);
    if (code == PAWL_OK)
        code = read_rows(store, indexes_text, &pawl__sql_found_index_row, sizeof *v.indexes,
                         v.arena, &indexes, &v.index_count, error);
    v.columns = (void *)columns;
    v.indexes = (void *)indexes;
    if (code == PAWL_OK)
        code = pawl__sql_verify(&v, spec, version);
    pawl_arena_destroy(v.arena);
    *count = v.count;
    return code;
}
