/* run.c - emits the statements of a schema script, one after another.
 *
 * Each statement may be repeated (D26). A table is followed by the columns that an earlier version lacks, by its
 * indexes, and by extras of the database. The version is written after all shared tables; with `leaves_version`
 * pawl__sql_run_version writes it later, since apply has more to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/steps.h"

#include <stdio.h>
#include <string.h>

typedef struct script {
    const pawl__sql_script  *what;
    const pawl__sql_dialect *dialect;
    pawl__sql_emit_fn       *emit;
    pawl__sql_emit_fn       *note;
    void                    *context;
    pawl_error              *error;
    pawl__sql_text           text;
    pawl_code                code;
} script;

static pawl_code no_memory(const script *s)
{
    return pawl_error_set(s->error, PAWL_ENOMEM, "out of memory for the schema's script");
}

/* Emits the statement in s->text, and clears the text. `table` and `name` are spelled as in a catalog. An error names
 * the table, as that of the database may name only an index, or nothing at all. */
static void finish(script *s, pawl__sql_act act, const pawl__sql_text *table,
                   const pawl__sql_text *name)
{
    pawl__sql_action action   = {.dialect = s->dialect, .act = act, .statement = s->text.data};
    bool             is_short = s->text.is_failed;
    if (table != NULL)
        action.table = pawl__sql_text_of(table), is_short |= table->is_failed;
    if (name != NULL)
        action.name = pawl__sql_text_of(name), is_short |= name->is_failed;
    if (s->code == PAWL_OK) {
        if (is_short)
            s->code = no_memory(s);
        else if (pawl__sql_guards(s->dialect, act))
            s->code = s->dialect->guard(&action, s->emit, s->context, s->error);
        else
            s->code = s->emit(s->text.data, s->context, s->error);
        if (s->code != PAWL_OK && action.table.size > 0)
            (void)pawl_error_wrap(s->error, s->code, "table %.*s", PAWL_TEXT_ARGS(action.table));
    }
    pawl__sql_text_clear(&s->text);
}

static void say(script *s, const char *format, ...) PAWL_PRINTF(2, 3);
static void say(script *s, const char *format, ...)
{
    char    text[500];
    va_list arguments;
    if (s->note == NULL || s->code != PAWL_OK)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    s->code = s->note(text, s->context, s->error);
}

static pawl__sql_text name_of(const script *s, const char *before, const char *name)
{
    pawl__sql_text text = {0};
    pawl__sql_append_bare(&text, s->dialect, before, pawl_text_of(name));
    return text;
}

/* ---- Shared tables ------------------------------------------------------- */

static void run_extras(script *s, const pawl__sql_extra *extra, const char *table)
{
    pawl__sql_text whole = name_of(s, s->what->prefix, table);
    for (; extra != NULL && extra->table != NULL; extra++) {
        if (strcmp(extra->table, table) != 0)
            continue;
        pawl__sql_expand(&s->text, s->dialect, s->what->prefix, extra->text);
        finish(s, PAWL__SQL_CHANGE, &whole, NULL);
    }
    pawl__sql_text_free(&whole);
}

/* Creates the index; drops one that the dialect does without. (With indexes_inside no version created such an
 * index.) */
static void create_index(script *s, const pawl__sql_table *table, const pawl__sql_index *index)
{
    bool           is_left = !pawl__sql_has_index(s->dialect, index);
    pawl__sql_text whole   = name_of(s, s->what->prefix, table->name);
    pawl__sql_text name    = name_of(s, s->what->prefix, index->name);
    if (!is_left) {
        pawl__sql_create_index(&s->text, s->dialect, s->what->prefix, table, index);
    } else {
        pawl__sql_append(&s->text, "drop index if exists ");
        pawl__sql_append_table(&s->text, s->dialect, s->what->prefix, pawl_text_of(index->name));
    }
    finish(s, is_left ? PAWL__SQL_DROP_INDEX : PAWL__SQL_MAKE_INDEX, &whole, &name);
    pawl__sql_text_free(&whole);
    pawl__sql_text_free(&name);
}

static void create_indexes(script *s, const pawl__sql_table *table)
{
    bool is_old = s->dialect->first_version == 0;
    for (size_t i = 0; i < table->index_count; i++) {
        const pawl__sql_index *index    = &table->indexes[i];
        bool                   is_there = index != pawl__sql_key_index(s->dialect, table) &&
                        pawl__sql_has_index(s->dialect, index);
        if (s->dialect->indexes_inside && !index->is_late)
            continue;
        if (is_there || (is_old && index->columns != NULL && index->only == NULL))
            create_index(s, table, index);
    }
}

/* Emits the steps of one table; NULL: those that drop indexes. Without "add column if not exists" in the dialect,
 * schema.c reads the catalog and adds the columns before the script. */
static void run_steps(script *s, const pawl__sql_table *table)
{
    for (size_t i = 0; i < pawl__sql_step_count; i++) {
        const pawl__sql_step *step = &pawl__sql_steps[i];
        if (step->version <= s->dialect->first_version || !pawl__sql_is_for(s->dialect, step->only))
            continue;
        if (table == NULL ? step->table != NULL
                          : !s->dialect->adds_columns || step->table == NULL ||
                                strcmp(step->table, table->name) != 0)
            continue;
        bool           is_of  = step->table != NULL;
        pawl__sql_text whole  = name_of(s, is_of ? s->what->prefix : "", is_of ? step->table : "");
        pawl__sql_text column = name_of(s, "", step->name);
        pawl__sql_run_step(&s->text, s->dialect, s->what->prefix, step);
        finish(s, is_of ? PAWL__SQL_MAKE_COLUMN : PAWL__SQL_DROP_INDEX, &whole, &column);
        pawl__sql_text_free(&whole);
        pawl__sql_text_free(&column);
    }
}

/* Adds the computed columns of later versions (is_late), which existing tables lack. */
static void add_computed(script *s, const pawl__sql_table *table)
{
    for (size_t i = 0; s->dialect->adds_columns && i < pawl__sql_computed_count; i++) {
        const pawl__sql_computed *column = &pawl__sql_computed_columns[i];
        if (strcmp(column->table, table->name) != 0 || !column->is_late ||
            !pawl__sql_is_for(s->dialect, column->only))
            continue;
        pawl__sql_text whole = name_of(s, s->what->prefix, table->name);
        pawl__sql_text name  = name_of(s, "", column->name);
        pawl__sql_add_computed(&s->text, s->dialect, s->what->prefix, column);
        finish(s, PAWL__SQL_MAKE_COLUMN, &whole, &name);
        pawl__sql_text_free(&whole);
        pawl__sql_text_free(&name);
    }
}

static void write_version(script *s, const pawl__sql_table *table)
{
    const char    *prefix = s->what->prefix;
    pawl__sql_text whole  = name_of(s, prefix, table->name);
    run_steps(s, NULL);
    pawl__sql_expand(&s->text, s->dialect, prefix,
                     "insert into {schema} ([Part], [Version]) values ('pawl', ");
    pawl__sql_appendf(&s->text, "%d)", PAWL__SQL_SCHEMA_VERSION);
    if (!pawl__sql_guards(s->dialect, PAWL__SQL_MAKE_ROW))
        pawl__sql_expand(&s->text, s->dialect, prefix, " {keep:[Part]}");
    finish(s, PAWL__SQL_MAKE_ROW, &whole, NULL);
    if (s->dialect->adds_columns || s->what->leaves_version) {
        pawl__sql_raise_version(&s->text, s->dialect, prefix);
        finish(s, PAWL__SQL_CHANGE, &whole, NULL);
    }
    pawl__sql_text_free(&whole);
}

static void create_shared(script *s, const pawl__sql_table *table)
{
    pawl__sql_text whole = name_of(s, s->what->prefix, table->name);
    say(s, "%s", table->about);
    pawl__sql_create_table(&s->text, s->dialect, s->what->prefix, table);
    finish(s, PAWL__SQL_MAKE_TABLE, &whole, NULL);
    run_steps(s, table);
    add_computed(s, table);
    create_indexes(s, table);
    run_extras(s, s->dialect->after_create, table->name);
    if (s->note != NULL)
        run_extras(s, s->dialect->in_scripts, table->name);
    if (strcmp(table->name, "schema") == 0 && !s->what->leaves_version)
        write_version(s, table);
    pawl__sql_text_free(&whole);
}

static void drop_table(script *s, const char *prefix, pawl_text table)
{
    pawl__sql_text whole = {0};
    pawl__sql_append_bare(&whole, s->dialect, prefix, table);
    pawl__sql_append(&s->text, "drop table ");
    pawl__sql_append(&s->text,
                     pawl__sql_guards(s->dialect, PAWL__SQL_DROP_TABLE) ? "" : "if exists ");
    pawl__sql_append_table(&s->text, s->dialect, prefix, table);
    finish(s, PAWL__SQL_DROP_TABLE, &whole, NULL);
    pawl__sql_text_free(&whole);
}

/* ---- Saga tables --------------------------------------------------------- */

static void create_correlation(script *s, const pawl_saga_table *saga, const pawl__sql_text *table,
                               const pawl_correlation *correlation)
{
    pawl__sql_text column = {0}, index = {0};
    pawl__sql_correlation_column(&column, s->dialect, correlation);
    pawl__sql_correlation_index(&index, s->dialect, saga, correlation);
    if (s->dialect->adds_columns) {
        pawl__sql_add_saga_column(&s->text, s->dialect, saga, correlation);
        finish(s, PAWL__SQL_MAKE_COLUMN, table, &column);
    }
    pawl__sql_create_saga_index(&s->text, s->dialect, saga, correlation);
    finish(s, PAWL__SQL_MAKE_INDEX, table, &index);
    pawl__sql_text_free(&column);
    pawl__sql_text_free(&index);
}

static void say_saga(script *s, const pawl_saga_table *saga)
{
    if (saga->main.type == PAWL_VALUE_NONE)
        say(s, "Saga %.*s: no correlation property", PAWL_TEXT_ARGS(saga->type));
    else if (saga->transitional.type == PAWL_VALUE_NONE)
        say(s, "Saga %.*s: found by %.*s", PAWL_TEXT_ARGS(saga->type),
            PAWL_TEXT_ARGS(saga->main.property));
    else
        say(s, "Saga %.*s: found by %.*s, which %.*s is to replace", PAWL_TEXT_ARGS(saga->type),
            PAWL_TEXT_ARGS(saga->main.property), PAWL_TEXT_ARGS(saga->transitional.property));
}

static void create_saga(script *s, const pawl_saga_table *saga)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(saga, list);
    pawl__sql_text          whole = {0};
    pawl__sql_append_bare(&whole, s->dialect, "", saga->name);
    say_saga(s, saga);
    pawl__sql_create_saga_table(&s->text, s->dialect, saga);
    finish(s, PAWL__SQL_MAKE_TABLE, &whole, NULL);
    for (size_t i = 0; i < count; i++)
        create_correlation(s, saga, &whole, list[i]);
    pawl__sql_text_free(&whole);
}

/* ---- The script ---------------------------------------------------------- */

bool pawl__sql_script_has(const pawl__sql_script *what, pawl__sql_table_kind kind,
                          const void *table)
{
    return (what->kinds == 0 || (what->kinds & 1U << kind) != 0) &&
           (what->only == NULL || what->only == table);
}

static void create_all(script *s)
{
    for (size_t t = 0; s->code == PAWL_OK && t < pawl__sql_table_count; t++)
        if (pawl__sql_script_has(s->what, pawl__sql_tables[t].kind, &pawl__sql_tables[t]))
            create_shared(s, &pawl__sql_tables[t]);
    for (size_t i = 0; s->code == PAWL_OK && i < s->what->saga_count; i++)
        if (pawl__sql_script_has(s->what, PAWL__SQL_TABLES_OF_SAGAS, s->what->sagas[i]))
            create_saga(s, s->what->sagas[i]);
}

/* In reverse order: outbox_attempts references the outbox, and without the version, which goes first, the tables
 * cannot be opened. */
static void drop_all(script *s)
{
    for (size_t i = 0; i < s->what->saga_count; i++)
        if (pawl__sql_script_has(s->what, PAWL__SQL_TABLES_OF_SAGAS, s->what->sagas[i]))
            drop_table(s, "", s->what->sagas[i]->name);
    for (size_t t = pawl__sql_table_count; t-- > 0;) {
        const pawl__sql_table *table = &pawl__sql_tables[t];
        if (!pawl__sql_script_has(s->what, table->kind, table))
            continue;
        run_extras(s, s->dialect->before_drop, table->name);
        drop_table(s, s->what->prefix, pawl_text_of(table->name));
    }
}

pawl_code pawl__sql_run_script(const pawl__sql_script *what, pawl__sql_emit_fn *emit,
                               pawl__sql_emit_fn *note, void *context, pawl_error *error)
{
    script s = {what, what->dialect, emit, note, context, error, {0}, PAWL_OK};
    s.code =
        pawl__sql_sagas_check(what->dialect, what->prefix, what->sagas, what->saga_count, error);
    if (s.code == PAWL_OK)
        (what->is_drop ? drop_all : create_all)(&s);
    pawl__sql_text_free(&s.text);
    return s.code;
}

pawl_code pawl__sql_run_version(const pawl__sql_script *what, pawl__sql_emit_fn *emit,
                                void *context, pawl_error *error)
{
    script s = {what, what->dialect, emit, NULL, context, error, {0}, PAWL_OK};
    for (size_t t = 0; t < pawl__sql_table_count; t++)
        if (strcmp(pawl__sql_tables[t].name, "schema") == 0)
            write_version(&s, &pawl__sql_tables[t]);
    pawl__sql_text_free(&s.text);
    return s.code;
}
