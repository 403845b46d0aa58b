/* guard.c - "add column if not exists" and "create index if not exists" where a database has
 * neither: the script looks into the catalog, and prepares either the statement or one that does
 * nothing. The session variable @pawl and the prepared statement `pawl` are the script's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

typedef struct guarded_row {
    const char *view;
    const char *column;
} guarded_row;

static const guarded_row rows[] = {
    [PAWL__SQL_GUARD_COLUMN] = {"columns", "column_name"},
    [PAWL__SQL_GUARD_INDEX]  = {"statistics", "index_name"},
};

/* In a session with backslash escapes: the script's beginning sees to that. */
static void append_literal(pawl__sql_text *text, pawl_text value)
{
    pawl__sql_append(text, "'");
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == '\'' || c == '\\')
            pawl__sql_append(text, c == '\'' ? "'" : "\\");
        pawl__sql_append_text(text, (pawl_text){.data = &c, .size = 1});
    }
    pawl__sql_append(text, "'");
}

static void append_look(pawl__sql_text *text, const guarded_row *row, pawl_text table,
                        pawl_text name, const char *statement)
{
    pawl__sql_append(text, "set @pawl = (select if(count(*) = 0,\n    ");
    append_literal(text, pawl_text_of(statement));
    pawl__sql_appendf(text,
                      ",\n    'do 0') from information_schema.%s\n"
                      "    where table_schema = database() and table_name = ",
                      row->view);
    append_literal(text, table);
    pawl__sql_appendf(text, " and %s = ", row->column);
    append_literal(text, name);
    pawl__sql_append(text, ")");
}

pawl_code pawl__sql_guard(pawl__sql_guarded kind, pawl_text table, pawl_text name,
                          const char *statement, pawl__sql_emit_fn *each, void *context,
                          pawl_error *error)
{
    static const char *const doing[] = {"prepare pawl from @pawl", "execute pawl",
                                        "deallocate prepare pawl"};
    pawl__sql_text           look    = {0};
    append_look(&look, &rows[kind], table, name, statement);
    pawl_code code =
        look.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script")
                       : each(look.data, context, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof doing / sizeof doing[0]; i++)
        code = each(doing[i], context, error);
    pawl__sql_text_free(&look);
    return code;
}
