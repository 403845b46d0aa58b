/* verify.c - compares the database with the description of the tables, one
 * line for each difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include "store/sql/tables.h"

#include <stdio.h>
#include <string.h>

typedef struct verifier {
    sqlite3       *db;
    pawl_line_fn  *line;
    void          *context;
    size_t         count;
    pawl_error    *error;
    pawl_code      code;
    pawl__sql_text table; /* name of the table that is looked at */
} verifier;

static void report(verifier *v, const char *format, ...) PAWL_PRINTF(2, 3);

static void report(verifier *v, const char *format, ...)
{
    char    text[600];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    v->count++;
    if (v->line != NULL)
        v->line(pawl_text_of(text), v->context);
}

static pawl_text table_name(const verifier *v)
{
    return (pawl_text){.data = v->table.data, .size = v->table.size};
}

/* "text collate binary" is the column's definition; its type is the first word. */
static void first_word(const char *definition, char word[32])
{
    (void)snprintf(word, 32, "%.*s", (int)strcspn(definition, " "), definition);
}

static void check_column(verifier *v, const char *name, pawl__sql_type type)
{
    char found[32];
    char expected[32];
    first_word(pawl__sqlite_dialect.types[type], expected);
    if (v->code != PAWL_OK)
        return;
    v->code = pawl__sqlite_column_type(v->db, table_name(v), name, found, v->error);
    if (v->code != PAWL_OK)
        return;
    if (found[0] == '\0')
        report(v, "table %s: column %s is missing", v->table.data, name);
    else if (sqlite3_stricmp(found, expected) != 0)
        report(v, "table %s: column %s: incorrect data type: expected %s, found %s", v->table.data,
               name, expected, found);
}

/* 0 or 1; -1 when there is no such index on the table. */
static int index_is_unique(verifier *v, const char *name)
{
    sqlite3_stmt           *statement  = NULL;
    pawl__sqlite_connection connection = {.db = v->db};
    pawl__sqlite_call       call;
    int                     unique = -1;
    const char             *text   = "select [unique] from pragma_index_list(?1) where name = ?2";
    v->code                        = pawl__sqlite_prepare(v->db, text, &statement, v->error);
    pawl__sqlite_call_statement(&call, &connection, statement, v->error);
    call.code = v->code;
    pawl__sqlite_put_text(&call, table_name(v));
    pawl__sqlite_put_text(&call, pawl_text_of(name));
    if (pawl__sqlite_next(&call))
        unique = (int)pawl__sqlite_get_int(&call);
    (void)sqlite3_finalize(statement);
    v->code = call.code;
    return unique;
}

static void check_index(verifier *v, const pawl__sql_text *name, bool is_unique)
{
    if (v->code == PAWL_OK && name->is_failed)
        v->code = pawl_error_set(v->error, PAWL_ENOMEM, "sqlite: out of memory");
    if (v->code != PAWL_OK)
        return;
    int unique = index_is_unique(v, name->data);
    if (v->code != PAWL_OK)
        return;
    if (unique < 0)
        report(v, "table %s: index %s is missing", v->table.data, name->data);
    else if ((unique != 0) != is_unique)
        report(v, "table %s: index %s: expected %s, found %s", v->table.data, name->data,
               is_unique ? "unique" : "not unique", unique ? "unique" : "not unique");
}

static bool begin_table(verifier *v, const char *prefix, pawl_text name)
{
    bool exists = false;
    pawl__sql_text_clear(&v->table);
    pawl__sql_append(&v->table, prefix);
    pawl__sql_append_text(&v->table, name);
    if (v->code == PAWL_OK && v->table.is_failed)
        v->code = pawl_error_set(v->error, PAWL_ENOMEM, "sqlite: out of memory");
    if (v->code == PAWL_OK)
        v->code = pawl__sqlite_exists(v->db, "table", table_name(v), &exists, v->error);
    if (v->code == PAWL_OK && !exists)
        report(v, "table %s is missing", v->table.data);
    return v->code == PAWL_OK && exists;
}

static void check_shared(verifier *v, const char *prefix, const pawl__sql_table *table)
{
    if (!begin_table(v, prefix, pawl_text_of(table->name)))
        return;
    for (size_t i = 0; i < table->column_count; i++)
        check_column(v, table->columns[i].name, table->columns[i].type);
    for (size_t i = 0; i < table->index_count; i++) {
        if (!pawl__sql_has_index(&pawl__sqlite_dialect, &table->indexes[i]))
            continue;
        pawl__sql_text name = {0};
        pawl__sql_append(&name, prefix);
        pawl__sql_append(&name, table->indexes[i].name);
        check_index(v, &name, table->indexes[i].is_unique);
        pawl__sql_text_free(&name);
    }
}

static void check_saga(verifier *v, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    if (v->code == PAWL_OK)
        v->code = pawl__sql_saga_check(table, v->error);
    if (v->code != PAWL_OK || !begin_table(v, "", table->name))
        return;
    for (size_t i = 0; i < pawl__sql_saga_column_count; i++)
        check_column(v, pawl__sql_saga_columns[i].name, pawl__sql_saga_columns[i].type);
    for (size_t i = 0; i < count; i++) {
        pawl__sql_text name = {0};
        pawl__sql_correlation_column(&name, list[i]);
        if (!name.is_failed)
            check_column(v, name.data, pawl__sql_correlation_type(list[i]->type));
        pawl__sql_text_clear(&name);
        pawl__sql_correlation_index(&name, &pawl__sqlite_dialect, table, list[i]);
        check_index(v, &name, true);
        pawl__sql_text_free(&name);
    }
}

/* A missing table was said already. */
static void check_version(verifier *v, const char *prefix, int64_t version)
{
    pawl__sql_text name   = {0};
    bool           exists = false;
    pawl__sql_append(&name, prefix);
    pawl__sql_append(&name, "schema");
    if (v->code == PAWL_OK && name.is_failed)
        v->code = pawl_error_set(v->error, PAWL_ENOMEM, "sqlite: out of memory");
    if (v->code == PAWL_OK && version < PAWL__SQL_SCHEMA_VERSION)
        v->code = pawl__sqlite_exists(
            v->db, "table", (pawl_text){.data = name.data, .size = name.size}, &exists, v->error);
    if (v->code == PAWL_OK && exists)
        report(v, "table %s: expected version %d, found %lld", name.data, PAWL__SQL_SCHEMA_VERSION,
               (long long)version);
    pawl__sql_text_free(&name);
}

pawl_code pawl__sqlite_verify(pawl__sqlite *store, const pawl_schema_spec *spec, int64_t version,
                              pawl_line_fn *line, void *context, size_t *count, pawl_error *error)
{
    verifier v = {.db = store->connection.db, .line = line, .context = context, .error = error};
    for (size_t i = 0; i < pawl__sql_table_count; i++)
        check_shared(&v, store->connection.prefix, &pawl__sql_tables[i]);
    check_version(&v, store->connection.prefix, version);
    for (size_t i = 0; i < spec->table_count; i++)
        check_saga(&v, spec->tables[i]);
    pawl__sql_text_free(&v.table);
    *count = v.count;
    return v.code;
}
