/* create.c - the script that makes and removes the tables.
 *
 * The same description gives the same text, byte for byte, and each statement
 * is harmless when what it makes is there already (D26, D33).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/steps.h"

#include <string.h>

pawl__sql_type pawl__sql_correlation_type(pawl_value_type type)
{
    switch (type) {
    case PAWL_VALUE_INT: return PAWL__SQL_KEY_INT;
    case PAWL_VALUE_UUID: return PAWL__SQL_UUID;
    case PAWL_VALUE_TIME: return PAWL__SQL_KEY_TIME;
    case PAWL_VALUE_TEXT:
    case PAWL_VALUE_NONE: break;
    }
    return PAWL__SQL_KEY_TEXT;
}

void pawl__sql_correlation_column(pawl__sql_text *text, const pawl_correlation *correlation)
{
    pawl__sql_append(text, "Correlation_");
    pawl__sql_append_text(text, correlation->property);
}

/* Index names are of the whole database where they are not a table's own, hence the table in
 * the name (D11). */
void pawl__sql_correlation_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation)
{
    pawl__sql_text whole = {0};
    if (!dialect->indexes_inside) {
        pawl__sql_append_text(&whole, table->name);
        pawl__sql_append(&whole, "_");
    }
    pawl__sql_correlation_column(&whole, correlation);
    pawl__sql_append(text, "Index_");
    text->is_failed |= whole.is_failed;
    if (!dialect->has_short_names) {
        pawl__sql_append_text(text, (pawl_text){.data = whole.data, .size = whole.size});
    } else if (!whole.is_failed) {
        static const pawl_uuid names = {{0x70, 0x61, 0x77, 0x6c}};
        pawl_uuid              hash  = pawl_uuid_v5(names, whole.data, whole.size);
        for (size_t i = 0; i < sizeof hash.bytes; i++)
            pawl__sql_appendf(text, "%02x", hash.bytes[i]);
    }
    pawl__sql_text_free(&whole);
}

size_t pawl__sql_correlations(const pawl_saga_table *table, const pawl_correlation *list[2])
{
    size_t count = 0;
    if (table->main.type != PAWL_VALUE_NONE)
        list[count++] = &table->main;
    if (table->transitional.type != PAWL_VALUE_NONE)
        list[count++] = &table->transitional;
    return count;
}

/* A longer identifier is cut by some databases, and refused by others (D5). */
static pawl_code check_size(const pawl__sql_dialect *dialect, const char *what, pawl_text name,
                            size_t size, pawl_error *error)
{
    if (dialect->name_size_max == 0 || size <= dialect->name_size_max)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s%.*s: its name has %zu bytes, limit %zu of %s",
                          what, PAWL_TEXT_ARGS(name), size, dialect->name_size_max, dialect->name);
}

pawl_code pawl__sql_saga_check(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                               pawl_error *error)
{
    static const char       before[] = "Correlation_";
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl_code               code =
        pawl__sql_name_check(table->name, "saga table", PAWL__SQL_TABLE_NAME_SIZE_MAX, error);
    if (code == PAWL_OK)
        code = check_size(dialect, "table ", table->name, table->name.size, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl_text name = list[i]->property;
        code = pawl__sql_name_check(name, "correlation property", PAWL__SQL_TABLE_NAME_SIZE_MAX,
                                    error);
        if (code == PAWL_OK)
            code = check_size(dialect, "column Correlation_", name, sizeof before - 1 + name.size,
                              error);
    }
    if (code == PAWL_OK)
        code = pawl__sql_saga_fits(dialect, table, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(table->type));
    return PAWL_OK;
}

static void append_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                          const pawl__sql_column *column)
{
    pawl_text name = pawl_text_of(column->name);
    pawl__sql_append(text, "    ");
    pawl__sql_append_name(text, dialect, "", name);
    pawl__sql_appendf(text, " %s", dialect->types[column->type]);
    if (column->type == PAWL__SQL_SERIAL)
        return;
    pawl__sql_append(text, column->is_nullable ? " null" : " not null");
    if ((column->type != PAWL__SQL_JSON && column->type != PAWL__SQL_METADATA) ||
        dialect->json_check[0] == '\0')
        return;
    const char *place = strstr(dialect->json_check, "%s");
    pawl__sql_append_text(text, (pawl_text){.data = dialect->json_check,
                                            .size = (size_t)(place - dialect->json_check)});
    pawl__sql_append_name(text, dialect, "", name);
    pawl__sql_append(text, place + 2);
}

static void append_computed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const pawl__sql_table *table)
{
    for (size_t i = 0; i < pawl__sql_computed_count; i++) {
        const pawl__sql_computed *column = &pawl__sql_computed_columns[i];
        if (strcmp(column->table, table->name) != 0)
            continue;
        pawl__sql_append(text, ",\n    ");
        pawl__sql_append_name(text, dialect, "", pawl_text_of(column->name));
        pawl__sql_appendf(text, " %s generated always as (", dialect->types[column->type]);
        pawl__sql_expand(text, dialect, "", column->value);
        pawl__sql_append(text, ") virtual");
    }
}

const pawl__sql_index *pawl__sql_key_index(const pawl__sql_dialect *dialect,
                                           const pawl__sql_table   *table)
{
    bool has_key = table->constraints != NULL || table->columns[0].type == PAWL__SQL_SERIAL;
    return dialect->keys_every_table && !has_key ? &table->indexes[0] : NULL;
}

/* An index that the table has as its key is none beside it. */
static void append_indexes(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *prefix, const pawl__sql_table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const pawl__sql_index *index = &table->indexes[i];
        if (!pawl__sql_has_index(dialect, index))
            continue;
        pawl__sql_append(text, ",\n    ");
        if (index == pawl__sql_key_index(dialect, table)) {
            pawl__sql_append(text, "primary key (");
        } else {
            pawl__sql_append(text, index->is_unique ? "unique index " : "index ");
            pawl__sql_append_name(text, dialect, prefix, pawl_text_of(index->name));
            pawl__sql_append(text, " (");
        }
        pawl__sql_expand(text, dialect, prefix, pawl__sql_index_columns(dialect, index));
        pawl__sql_append(text, ")");
    }
}

void pawl__sql_create_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_table *table)
{
    pawl__sql_append(text, "create table if not exists ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(table->name));
    pawl__sql_append(text, " (\n");
    for (size_t i = 0; i < table->column_count; i++) {
        pawl__sql_append(text, i == 0 ? "" : ",\n");
        append_column(text, dialect, &table->columns[i]);
    }
    if (dialect->indexes_every_row)
        append_computed(text, dialect, table);
    if (table->constraints != NULL) {
        pawl__sql_append(text, ",\n    ");
        pawl__sql_expand(text, dialect, prefix, table->constraints);
    }
    if (dialect->indexes_inside)
        append_indexes(text, dialect, prefix, table);
    pawl__sql_append(text, "\n)");
    pawl__sql_append(text, table->is_keyed ? dialect->keyed_end : dialect->table_end);
}

const char *pawl__sql_index_columns(const pawl__sql_dialect *dialect, const pawl__sql_index *index)
{
    const char *columns =
        dialect->indexes_every_row && index->every_row != NULL ? index->every_row : index->columns;
    return columns != NULL && columns[0] != '\0' ? columns : NULL;
}

bool pawl__sql_has_index(const pawl__sql_dialect *dialect, const pawl__sql_index *index)
{
    if (pawl__sql_index_columns(dialect, index) == NULL)
        return false;
    const char *const *name = dialect->no_indexes;
    for (; name != NULL && *name != NULL; name++)
        if (strcmp(*name, index->name) == 0)
            return false;
    return true;
}

void pawl__sql_create_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_table *table,
                            const pawl__sql_index *index)
{
    pawl__sql_appendf(text, "create %sindex if not exists ", index->is_unique ? "unique " : "");
    pawl__sql_append_name(text, dialect, prefix, pawl_text_of(index->name));
    pawl__sql_append(text, "\n    on ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(table->name));
    pawl__sql_append(text, " (");
    pawl__sql_expand(text, dialect, prefix, index->columns);
    pawl__sql_append(text, ")");
    if (index->where == NULL)
        return;
    pawl__sql_append(text, " where ");
    pawl__sql_expand(text, dialect, prefix, index->where);
}

static void append_correlation(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                               const pawl_correlation *correlation)
{
    pawl__sql_append_name(text, dialect, "Correlation_", correlation->property);
    pawl__sql_appendf(text, " %s null",
                      dialect->types[pawl__sql_correlation_type(correlation->type)]);
}

void pawl__sql_create_saga_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl__sql_append(text, "create table if not exists ");
    pawl__sql_append_table(text, dialect, "", table->name);
    pawl__sql_append(text, " (\n");
    for (size_t i = 0; i < pawl__sql_saga_column_count; i++) {
        append_column(text, dialect, &pawl__sql_saga_columns[i]);
        pawl__sql_append(text, ",\n");
    }
    for (size_t i = 0; i < count; i++) {
        pawl__sql_append(text, "    ");
        append_correlation(text, dialect, list[i]);
        pawl__sql_append(text, ",\n");
    }
    pawl__sql_expand(text, dialect, "", "    primary key ([Id])\n)");
    pawl__sql_append(text, dialect->saga_end != NULL ? dialect->saga_end : dialect->table_end);
}

void pawl__sql_add_saga_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                               const pawl_saga_table *table, const pawl_correlation *correlation)
{
    pawl__sql_append(text, "alter table ");
    pawl__sql_append_table(text, dialect, "", table->name);
    pawl__sql_append(text, " add column ");
    pawl__sql_append(text, dialect->adds_columns && !dialect->looks_before ? "if not exists " : "");
    append_correlation(text, dialect, correlation);
}

void pawl__sql_create_saga_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation)
{
    pawl__sql_text name = {0};
    pawl__sql_correlation_index(&name, dialect, table, correlation);
    pawl__sql_append(text, "create unique index ");
    pawl__sql_append(text, dialect->looks_before ? "" : "if not exists ");
    pawl__sql_append_name(text, dialect, "", (pawl_text){.data = name.data, .size = name.size});
    pawl__sql_append(text, "\n    on ");
    pawl__sql_append_table(text, dialect, "", table->name);
    pawl__sql_append(text, " (");
    pawl__sql_append_name(text, dialect, "Correlation_", correlation->property);
    pawl__sql_append(text, ")");
    text->is_failed |= name.is_failed;
    pawl__sql_text_free(&name);
}

/* ---- Scripts ------------------------------------------------------------ */

typedef struct script {
    const pawl__sql_dialect *dialect;
    const char              *prefix;
    pawl__sql_emit_fn       *emit;
    void                    *context;
    pawl_error              *error;
    pawl__sql_text           text;
    pawl_code                code;
} script;

/* Hands the statement in script->text over and begins the next one. */
static void finish_statement(script *s)
{
    if (s->code == PAWL_OK && s->text.is_failed)
        s->code = pawl_error_set(s->error, PAWL_ENOMEM, "out of memory for the schema's script");
    if (s->code == PAWL_OK)
        s->code = s->emit(s->text.data, s->context, s->error);
    pawl__sql_text_clear(&s->text);
}

static void run_templates(script *s, const char *const *templates)
{
    for (; templates != NULL && *templates != NULL; templates++) {
        pawl__sql_expand(&s->text, s->dialect, s->prefix, *templates);
        finish_statement(s);
    }
}

/* The statement makes a column or an index that may be there. */
static void finish_guarded(script *s, pawl__sql_guarded kind, pawl_text table,
                           const pawl__sql_text *name)
{
    pawl_text made = {.data = name->data, .size = name->size};
    if (!s->dialect->looks_before || s->code != PAWL_OK || s->text.is_failed || name->is_failed) {
        s->text.is_failed |= name->is_failed;
        finish_statement(s);
        return;
    }
    s->code = pawl__sql_guard(kind, table, made, s->text.data, s->emit, s->context, s->error);
    pawl__sql_text_clear(&s->text);
}

/* A dialect whose tables have their indexes inside never had one that it goes without. */
static void create_index(script *s, const pawl__sql_table *table, const pawl__sql_index *index)
{
    if (s->dialect->indexes_inside || index->columns == NULL)
        return;
    if (pawl__sql_has_index(s->dialect, index)) {
        pawl__sql_create_index(&s->text, s->dialect, s->prefix, table, index);
    } else {
        pawl__sql_append(&s->text, "drop index if exists ");
        pawl__sql_append_table(&s->text, s->dialect, s->prefix, pawl_text_of(index->name));
    }
    finish_statement(s);
}

/* The steps of one table; NULL: indexes that went. A driver whose database cannot
 * say "if not exists" looks, and adds the columns before the script is run. */
static void run_steps(script *s, const pawl__sql_table *table)
{
    for (size_t i = 0; i < pawl__sql_step_count; i++) {
        const pawl__sql_step *step = &pawl__sql_steps[i];
        if (step->version <= s->dialect->first_version)
            continue;
        if (table == NULL ? step->table != NULL
                          : !s->dialect->adds_columns || step->table == NULL ||
                                strcmp(step->table, table->name) != 0)
            continue;
        pawl__sql_text whole = {0}, column = {0};
        pawl__sql_append(&whole, s->prefix);
        pawl__sql_append(&whole, step->table != NULL ? step->table : "");
        pawl__sql_append(&column, step->name);
        s->text.is_failed |= whole.is_failed;
        pawl__sql_run_step(&s->text, s->dialect, s->prefix, step);
        finish_guarded(s, PAWL__SQL_GUARD_COLUMN,
                       (pawl_text){.data = whole.data, .size = whole.size}, &column);
        pawl__sql_text_free(&whole);
        pawl__sql_text_free(&column);
    }
}

static void create_shared(script *s)
{
    for (size_t t = 0; t < pawl__sql_table_count; t++) {
        const pawl__sql_table *table = &pawl__sql_tables[t];
        pawl__sql_create_table(&s->text, s->dialect, s->prefix, table);
        finish_statement(s);
        run_steps(s, table);
        for (size_t i = 0; i < table->index_count; i++)
            create_index(s, table, &table->indexes[i]);
    }
    run_steps(s, NULL);
    run_templates(s, s->dialect->after_create);
    pawl__sql_expand(&s->text, s->dialect, s->prefix,
                     "insert into {schema} ([Part], [Version]) values ('pawl', ");
    pawl__sql_appendf(&s->text, "%d) ", PAWL__SQL_SCHEMA_VERSION);
    pawl__sql_expand(&s->text, s->dialect, s->prefix, "{keep:[Part]}");
    finish_statement(s);
    if (s->dialect->adds_columns) {
        pawl__sql_raise_version(&s->text, s->dialect, s->prefix);
        finish_statement(s);
    }
}

static void create_correlation(script *s, const pawl_saga_table *table,
                               const pawl_correlation *correlation)
{
    pawl__sql_text column = {0}, index = {0};
    pawl__sql_correlation_column(&column, correlation);
    pawl__sql_correlation_index(&index, s->dialect, table, correlation);
    if (s->dialect->adds_columns) {
        pawl__sql_add_saga_column(&s->text, s->dialect, table, correlation);
        finish_guarded(s, PAWL__SQL_GUARD_COLUMN, table->name, &column);
    }
    pawl__sql_create_saga_index(&s->text, s->dialect, table, correlation);
    finish_guarded(s, PAWL__SQL_GUARD_INDEX, table->name, &index);
    pawl__sql_text_free(&column);
    pawl__sql_text_free(&index);
}

static void create_saga(script *s, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    if (s->code == PAWL_OK)
        s->code = pawl__sql_saga_check(s->dialect, table, s->error);
    if (s->code != PAWL_OK)
        return;
    pawl__sql_create_saga_table(&s->text, s->dialect, table);
    finish_statement(s);
    for (size_t i = 0; i < count; i++)
        create_correlation(s, table, list[i]);
}

pawl_code pawl__sql_create(const pawl__sql_dialect *dialect, const char *prefix,
                           const pawl_saga_table *const *sagas, size_t saga_count,
                           pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    script s = {dialect, prefix, emit, context, error, {0}, PAWL_OK};
    create_shared(&s);
    for (size_t i = 0; i < saga_count; i++)
        create_saga(&s, sagas[i]);
    pawl__sql_text_free(&s.text);
    return s.code;
}

pawl_code pawl__sql_drop(const pawl__sql_dialect *dialect, const char *prefix,
                         const pawl_saga_table *const *sagas, size_t saga_count,
                         pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    script s = {dialect, prefix, emit, context, error, {0}, PAWL_OK};
    for (size_t i = 0; s.code == PAWL_OK && i < saga_count; i++) {
        s.code = pawl__sql_saga_check(dialect, sagas[i], error);
        pawl__sql_append(&s.text, "drop table if exists ");
        pawl__sql_append_table(&s.text, dialect, "", sagas[i]->name);
        finish_statement(&s);
    }
    run_templates(&s, dialect->before_drop);
    /* Backwards: attempts refer to the outbox. */
    for (size_t t = pawl__sql_table_count; t-- > 0;) {
        pawl__sql_append(&s.text, "drop table if exists ");
        pawl__sql_append_table(&s.text, dialect, prefix, pawl_text_of(pawl__sql_tables[t].name));
        finish_statement(&s);
    }
    pawl__sql_text_free(&s.text);
    return s.code;
}
