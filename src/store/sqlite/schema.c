/* schema.c - what SQLite says of its catalog, and how a script is run (store/sql/schema.h).
 *
 * Everything that is made is made in one transaction: a second process waits
 * for it and then finds it done, and a half-made schema is never seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- The catalog -------------------------------------------------------- */

/* Of the table ?1. A primary key is given by the database, or its column is not null in any case. */
static const char columns_text[] =
    "select ?1, c.name, c.type, '', c.\"notnull\" <> 0 or c.pk <> 0, "
    "c.dflt_value is not null or c.pk <> 0 from pragma_table_info(?1) as c "
    "where exists (select 1 from sqlite_schema where type = 'table' and name = ?1)";

static const char indexes_text[] =
    "select ?1, i.name, (select coalesce(group_concat('\"' || x.name || '\"', ', '), '') "
    "from (select name from pragma_index_info(i.name) order by seqno) as x), "
    "i.origin = 'pk', i.\"unique\", 1, i.partial from pragma_index_list(?1) as i";

/* All rows of one statement over the tables, one table after another. */
static pawl_code read_rows(pawl__sqlite *store, const char *text, const pawl_text *tables,
                           size_t table_count, const pawl__sql_fields *columns, size_t row_size,
                           pawl_arena *arena, pawl__sql_rows *rows, pawl_error *error)
{
    sqlite3_stmt *statement = NULL;
    size_t        capacity  = 0;
    pawl_code     code      = pawl__sqlite_prepare(store->connection.db, text, &statement, error);
    for (size_t i = 0; code == PAWL_OK && i < table_count; i++) {
        pawl__sqlite_request request;
        pawl__sqlite_request_statement(&request, &store->connection, statement, error);
        request.arena = arena;
        pawl__sqlite_put_text(&request, tables[i]);
        while (pawl__sqlite_next(&request)) {
            char *grown =
                pawl__sqlite_grow(&request, rows->items, rows->count, &capacity, row_size);
            if (grown == NULL)
                break;
            rows->items = grown;
            char *row   = grown + row_size * rows->count++;
            memset(row, 0, row_size);
            pawl__sqlite_get_fields(&request, columns, row);
        }
        code = request.code;
        pawl__sqlite_stop(&request);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static pawl_code look(pawl_store *base, const pawl_text *tables, size_t count, pawl_arena *arena,
                      pawl__sql_catalog *catalog, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = read_rows(store, columns_text, tables, count, &pawl__sql_found_column_row,
                                    sizeof(pawl__sql_found_column), arena, &catalog->columns, error);
    if (code == PAWL_OK)
        code = read_rows(store, indexes_text, tables, count, &pawl__sql_found_index_row,
                         sizeof(pawl__sql_found_index), arena, &catalog->indexes, error);
    return code;
}

/* "text collate binary" is the column's definition; its type is the first word. */
static void type_name(pawl__sql_type type, char name[PAWL__SQL_TYPE_NAME_SIZE])
{
    const char *definition = pawl__sqlite_dialect.types[type];
    (void)snprintf(name, PAWL__SQL_TYPE_NAME_SIZE, "%.*s", (int)strcspn(definition, " "),
                   definition);
}

/* ---- Running a script --------------------------------------------------- */

/* Whether apply would make the file: the folder is there and may be written. */
static bool is_to_be_made(const char *path)
{
    char        folder[PAWL_URL_SIZE_MAX + 1];
    const char *end = strrchr(path, '/');
    (void)snprintf(folder, sizeof folder, "%.*s.", end != NULL ? (int)(end - path) + 1 : 0, path);
    return access(path, F_OK) != 0 && errno == ENOENT && access(folder, W_OK | X_OK) == 0;
}

/* For a plan an empty database in memory stands for a file that is to be made. */
static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sqlite *store   = pawl__sqlite_of(base);
    bool          is_made = verb == PAWL_SCHEMA_APPLY;
    if (verb == PAWL_SCHEMA_PLAN && is_to_be_made(store->given_path)) {
        int result = sqlite3_open(":memory:", &store->connection.db);
        return result == SQLITE_OK ? PAWL_OK
                                   : pawl__sqlite_failed(store->connection.db, result, "", error);
    }
    pawl_code code = pawl__sqlite_connect(store, is_made, error);
    return code == PAWL_OK && is_made ? pawl__sqlite_use_wal(store, error) : code;
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    return pawl__sqlite_execute(pawl__sqlite_of(base)->connection.db, statement, error);
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    pawl__sqlite_connection *connection = &pawl__sqlite_of(base)->connection;
    pawl__sqlite_request     request;
    sqlite3_stmt            *statement = NULL;
    pawl_code                code = pawl__sqlite_prepare(connection->db, select, &statement, error);
    if (code == PAWL_OK) {
        pawl__sqlite_request_statement(&request, connection, statement, error);
        code = pawl__sqlite_one_int(&request, number);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

static const pawl__sql_schema_ops schema_ops = {
    .connect   = connect,
    .begin     = pawl__sqlite_write_begin,
    .end       = pawl__sqlite_write_end,
    .execute   = execute,
    .number    = number,
    .look      = look,
    .type_name = type_name,
};

pawl__sql_schema pawl__sqlite_schema_of(pawl__sqlite *store)
{
    return (pawl__sql_schema){.store   = &store->sql.base,
                              .ops     = &schema_ops,
                              .dialect = &pawl__sqlite_dialect,
                              .prefix  = store->connection.prefix,
                              .given   = store->given_path,
                              .scheme  = "sqlite:"};
}

pawl_code pawl__sqlite_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                              pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_schema schema = pawl__sqlite_schema_of(pawl__sqlite_of(base));
    schema.prefix           = spec->system_prefix;
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}
