/* steps.c - the upgrade steps between versions of the tables, and their statements. See steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/steps.h"

#include <assert.h>
#include <string.h>

const pawl__sql_step pawl__sql_steps[] = {
    /* Replaced by outbox_ended, which also contains rows that were given up. */
    {2, NULL, "outbox_dispatched", NULL, NULL},
    {2, "outbox", "AttemptsBefore", "0", NULL},
    {3, "queue", "History", NULL, NULL},
    /* Replaced by timeouts_named. */
    {4, NULL, "timeouts_saga", NULL, " oracle "},
    /* Null in rows of programs of an earlier version. */
    {5, "workers", "Host", NULL, NULL},
    {5, "workers", "Program", NULL, NULL},
    {5, "workers", "ProgramVersion", NULL, NULL},
    {5, "workers", "PawlVersion", NULL, NULL},
    {5, "workers", "Started", NULL, NULL},
};
const size_t pawl__sql_step_count = sizeof pawl__sql_steps / sizeof pawl__sql_steps[0];

const pawl__sql_step *pawl__sql_step_of(const char *table, const char *column)
{
    for (size_t i = 0; i < pawl__sql_step_count; i++) {
        const pawl__sql_step *step = &pawl__sql_steps[i];
        if (step->table != NULL && strcmp(step->table, table) == 0 &&
            strcmp(step->name, column) == 0)
            return step;
    }
    return NULL;
}

static const pawl__sql_column *find_column(const pawl__sql_step *step)
{
    for (size_t t = 0; t < pawl__sql_table_count; t++) {
        const pawl__sql_table *table = &pawl__sql_tables[t];
        for (size_t c = 0; strcmp(table->name, step->table) == 0 && c < table->column_count; c++)
            if (strcmp(table->columns[c].name, step->name) == 0)
                return &table->columns[c];
    }
    return NULL;
}

static void add_column(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                       const pawl__sql_step *step)
{
    const pawl__sql_column *column = find_column(step);
    assert(column != NULL && "a step whose column is in no table");
    pawl__sql_append(text, "alter table ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(step->table));
    pawl__sql_append(text, dialect->add_column != NULL ? dialect->add_column : " add column ");
    pawl__sql_append(text,
                     dialect->adds_columns && !pawl__sql_guards(dialect, PAWL__SQL_MAKE_COLUMN)
                         ? "if not exists "
                         : "");
    pawl__sql_append_name(text, dialect, "", pawl_text_of(step->name));
    pawl__sql_appendf(text, " %s ", dialect->types[column->type]);
    if (column->is_nullable)
        pawl__sql_append(text, "null");
    else
        pawl__sql_appendf(text, "not null default %s", step->initial);
}

void pawl__sql_run_step(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                        const pawl__sql_step *step)
{
    if (step->table != NULL) {
        add_column(text, dialect, prefix, step);
        return;
    }
    pawl__sql_append(text, pawl__sql_guards(dialect, PAWL__SQL_DROP_INDEX)
                               ? "drop index "
                               : "drop index if exists ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(step->name));
}

void pawl__sql_raise_version(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                             const char *prefix)
{
    pawl__sql_expand(text, dialect, prefix, "update {schema} set [Version] = ");
    pawl__sql_appendf(text, "%d ", PAWL__SQL_SCHEMA_VERSION);
    pawl__sql_expand(text, dialect, prefix, "where [Part] = 'pawl' and [Version] < ");
    pawl__sql_appendf(text, "%d", PAWL__SQL_SCHEMA_VERSION);
}
