/* print.c - the script for people, line by line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

#include <string.h>

static const char whole_note[] = "-- Makes what is missing: in an empty database, and in one of an "
                                 "earlier version.";
static const char part_note[] =
    "-- Makes the tables and indexes that are missing. A database of an "
    "earlier version\n-- lacks columns too: run \"pawl schema apply\" on "
    "it, which adds them.";

static const char drop_note[] = "-- Drops the tables with all they hold; harmless when they are "
                                "gone.";

typedef struct printer {
    pawl_line_fn *line;
    void         *context;
} printer;

static void print_lines(const printer *p, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        p->line((pawl_text){.data = text, .size = size}, p->context);
        text += size + (text[size] != '\0');
    }
}

static pawl_code print_statement(const char *statement, void *context, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl_code      code = PAWL_OK;
    pawl__sql_append(&text, statement);
    pawl__sql_append(&text, ";");
    if (text.is_failed)
        code = pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script");
    else
        print_lines(context, text.data);
    pawl__sql_text_free(&text);
    return code;
}

pawl_code pawl__sql_print(const pawl__sql_dialect *dialect, const char *prefix,
                          const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                          pawl_error *error)
{
    printer     p    = {line, context};
    const char *note = dialect->adds_columns ? whole_note : part_note;
    print_lines(&p, spec->is_drop ? drop_note : note);
    print_lines(&p, dialect->script_begin);
    pawl_code code = (spec->is_drop ? pawl__sql_drop : pawl__sql_create)(
        dialect, prefix, spec->tables, spec->table_count, print_statement, &p, error);
    if (code == PAWL_OK) /* half a script is not to be committed */
        print_lines(&p, dialect->script_end);
    return code;
}
