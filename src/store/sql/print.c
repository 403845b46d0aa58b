/* print.c - prints schema scripts line by line, for people and for clients of databases.
 *
 * Comment lines end without a full stop and have no semicolon, since sqlplus looks for the end of a statement in
 * comments, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_NAME_SIZE_MAX 128

const char *const pawl__sql_table_kind_names[] = {"messages",    "outbox",  "events", "timeouts",
                                                  "aggregators", "workers", "sagas",  NULL};
_Static_assert(sizeof pawl__sql_table_kind_names / sizeof pawl__sql_table_kind_names[0] ==
                   pawl__sql_table_kind_count + 1,
               "a name for each kind");

/* ---- Checks -------------------------------------------------------------- */

static pawl_code check_schema(const pawl__sql_script *script, pawl_error *error)
{
    const pawl__sql_dialect *dialect = script->dialect;
    size_t max = dialect->name_size_max != 0 ? dialect->name_size_max : SCHEMA_NAME_SIZE_MAX;
    if (script->schema == NULL)
        return PAWL_OK;
    if (dialect->in_schema == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s has no schemas within a database: '%s' is none", dialect->product,
                              script->schema);
    return pawl__sql_name_check(pawl_text_of(script->schema), "schema", max, error);
}

pawl_code pawl__sql_script_check(const pawl__sql_script *script, pawl_error *error)
{
    pawl_code code = pawl__sql_prefix_check(script->dialect, script->prefix, error);
    if (code == PAWL_OK)
        code = check_schema(script, error);
    if (code == PAWL_OK)
        code = pawl__sql_sagas_check(script->dialect, script->prefix, script->sagas,
                                     script->saga_count, error);
    return code;
}

/* ---- Lines --------------------------------------------------------------- */

typedef struct printer {
    pawl_line_fn *line;
    void         *context;
    const char   *end; /* of a statement */
} printer;

static void print_lines(const printer *p, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        if (p->line != NULL)
            p->line((pawl_text){.data = text, .size = size}, p->context);
        text += size + (text[size] != '\0');
    }
}

/* Prints the text, and frees it. */
static pawl_code print_text(const printer *p, pawl__sql_text *text, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (text->is_failed)
        code = pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script");
    else if (text->data != NULL)
        print_lines(p, text->data);
    pawl__sql_text_free(text);
    return code;
}

static pawl_code print_statement(const char *statement, void *context, pawl_error *error)
{
    const printer *p    = context;
    pawl__sql_text text = {0};
    pawl__sql_append(&text, statement);
    pawl__sql_append(&text, p->end);
    return print_text(p, &text, error);
}

/* Prints a comment line. Characters in names (of sagas, or from a catalog) that would end the line, or that a client
 * would interpret, become '?'. */
static pawl_code print_comment(const printer *p, const char *begin, pawl_text note,
                               pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_append(&text, begin);
    for (size_t i = 0; i < note.size; i++) {
        char c = note.data[i];
        c      = (unsigned char)c < ' ' || strchr(";&$\x7F", c) != NULL ? '?' : c;
        pawl__sql_append_text(&text, (pawl_text){.data = &c, .size = 1});
    }
    return print_text(p, &text, error);
}

static pawl_code print_note(const char *note, void *context, pawl_error *error)
{
    return print_comment(context, "\n-- ", pawl_text_of(note), error);
}

/* ---- The script ---------------------------------------------------------- */

static const char whole_note[] = "-- Makes what is missing, and leaves rows as they are: it may be "
                                 "run again";
static const char part_note[] =
    "-- Makes the tables and indexes that are missing, and leaves rows as they are: it may be run\n"
    "-- again. Tables of an earlier version lack columns, too: \"pawl schema apply\" adds them";
static const char drop_note[] =
    "-- Drops the tables with all that they hold: harmless when they are "
    "gone";

static pawl_code print_head(const printer *p, const pawl__sql_script *script, pawl_error *error)
{
    const pawl__sql_dialect *dialect = script->dialect;
    pawl__sql_text           text    = {0};
    pawl__sql_appendf(&text,
                      "-- Tables of pawl, version %d, for %s. To run it:\n--     %s\n%s\n-- %s\n",
                      PAWL__SQL_SCHEMA_VERSION, dialect->product, dialect->client,
                      script->is_drop         ? drop_note
                      : dialect->adds_columns ? whole_note
                                              : part_note,
                      dialect->safety);
    pawl__sql_append(&text, dialect->script_begin);
    if (script->schema != NULL) {
        pawl__sql_append(&text, "\n");
        pawl__sql_append_pattern(&text, dialect, dialect->in_schema, pawl_text_of(script->schema));
    }
    return print_text(p, &text, error);
}

static printer printer_of(const pawl__sql_dialect *dialect, pawl_line_fn *line, void *context)
{
    return (printer){line, context, dialect->statement_end != NULL ? dialect->statement_end : ";"};
}

pawl_code pawl__sql_script_print(const pawl__sql_script *script, pawl_line_fn *line, void *context,
                                 pawl_error *error)
{
    pawl__sql_dialect dialect = *script->dialect;
    pawl__sql_script  what    = *script;
    printer           p       = printer_of(&dialect, line, context);
    what.dialect              = &dialect;
    if (dialect.schema != NULL && script->schema != NULL)
        dialect.schema = script->schema;
    pawl_code code = pawl__sql_script_check(script, error);
    if (code == PAWL_OK)
        code = print_head(&p, script, error);
    if (code == PAWL_OK)
        code = pawl__sql_run_script(&what, print_statement, print_note, &p, error);
    if (code == PAWL_OK) /* after a failure nothing commits the half script */
        print_lines(&p, dialect.script_end);
    return code;
}

pawl_code pawl__sql_print(const pawl__sql_dialect *dialect, const char *prefix,
                          const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                          pawl_error *error)
{
    pawl__sql_script script = {.dialect    = dialect,
                               .prefix     = prefix,
                               .sagas      = spec->tables,
                               .saga_count = spec->table_count,
                               .is_drop    = spec->is_drop};
    return pawl__sql_script_print(&script, line, context, error);
}

/* ---- The plan of an apply ------------------------------------------------- */

/* If memory is short, the comment is left out; the statements are complete. */
void pawl__sql_plan_note(pawl_text line, void *context)
{
    const pawl__sql_plan *plan = context;
    printer               p    = printer_of(plan->dialect, plan->line, plan->context);
    (void)print_comment(&p, "-- ", line, NULL);
}

pawl_code pawl__sql_plan_statement(const char *statement, void *context, pawl_error *error)
{
    pawl__sql_plan *plan = context;
    printer         p    = printer_of(plan->dialect, plan->line, plan->context);
    if (!plan->is_begun)
        print_lines(&p, plan->dialect->script_begin);
    plan->is_begun = true;
    return print_statement(statement, &p, error);
}

void pawl__sql_plan_end(const pawl__sql_plan *plan)
{
    printer p = printer_of(plan->dialect, plan->line, plan->context);
    if (plan->is_begun)
        print_lines(&p, plan->dialect->script_end);
}

/* ---- One file for each table --------------------------------------------- */

#define FILE_SAGA 50 /* sagas come between the shared tables and the version */
#define FILE_LAST 99

/* May file names have the byte on every system? */
static bool is_plain(unsigned char c)
{
    return isalnum(c) || c >= 0x80 || c == '_' || c == '-';
}

static void write_name(char *name, unsigned order, const char *before, pawl_text table,
                       bool is_drop)
{
    size_t size = (size_t)snprintf(name, PAWL__SQL_PIECE_NAME_SIZE, "%02u_",
                                   is_drop ? FILE_LAST - order : order);
    for (size_t i = 0; i < strlen(before) + table.size; i++) {
        char c = i < strlen(before) ? before[i] : table.data[i - strlen(before)];
        if (size + 8 >= PAWL__SQL_PIECE_NAME_SIZE)
            break;
        size += (size_t)snprintf(name + size, 4, is_plain((unsigned char)c) ? "%c" : "%%%02X",
                                 (unsigned char)c);
    }
    memcpy(name + size, ".sql", 5);
}

bool pawl__sql_script_piece(const pawl__sql_script *script, size_t number, pawl__sql_script *piece,
                            char name[PAWL__SQL_PIECE_NAME_SIZE])
{
    *piece = *script;
    for (size_t t = 0; t < pawl__sql_table_count; t++) {
        const pawl__sql_table *table = &pawl__sql_tables[t];
        unsigned               order = t + 1 == pawl__sql_table_count ? FILE_LAST : (unsigned)t + 1;
        if (!pawl__sql_script_has(script, table->kind, table) || number-- != 0)
            continue;
        piece->only = table;
        write_name(name, order, script->prefix, pawl_text_of(table->name), script->is_drop);
        return true;
    }
    if (!pawl__sql_script_has(script, PAWL__SQL_TABLES_OF_SAGAS, NULL) ||
        number >= script->saga_count)
        return false;
    piece->only = script->sagas[number];
    write_name(name, FILE_SAGA, "", script->sagas[number]->name, script->is_drop);
    return true;
}
