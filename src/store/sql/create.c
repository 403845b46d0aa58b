/* create.c - writes the statements that create tables, columns and indexes.
 *
 * The same description gives the same text, byte for byte, and each statement may be repeated (D26, D33).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/refusal.h"
#include "store/sql/steps.h"

#include <stdio.h>
#include <string.h>

pawl__sql_type pawl__sql_correlation_type(const pawl_correlation *correlation)
{
    switch (correlation->type) {
    case PAWL_VALUE_INT: return PAWL__SQL_KEY_INT;
    case PAWL_VALUE_UUID: return PAWL__SQL_UUID;
    case PAWL_VALUE_TIME:
        return correlation->with_offset ? PAWL__SQL_KEY_OFFSET_TIME : PAWL__SQL_KEY_TIME;
    case PAWL_VALUE_TEXT:
    case PAWL_VALUE_NONE: break;
    }
    return PAWL__SQL_KEY_TEXT;
}

static const char *correlation_prefix(const pawl__sql_dialect *dialect)
{
    return dialect->correlation != NULL ? dialect->correlation : "Correlation_";
}

pawl_text pawl__sql_property_of(const pawl__sql_dialect *dialect,
                                const pawl_correlation  *correlation)
{
    pawl_text property = correlation->property;
    size_t    size_max = dialect->correlation_size_max;
    property.size      = size_max != 0 && property.size > size_max ? size_max : property.size;
    return property;
}

void pawl__sql_correlation_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                  const pawl_correlation *correlation)
{
    pawl__sql_append_bare(text, dialect, correlation_prefix(dialect),
                          pawl__sql_property_of(dialect, correlation));
}

static void append_hash(pawl__sql_text *text, const pawl__sql_dialect *dialect, pawl_text whole)
{
    static const pawl_uuid names = {{0x70, 0x61, 0x77, 0x6c}};
    pawl_uuid              hash  = pawl_uuid_v5(names, whole.data, whole.size);
    char                   digits[2 * sizeof hash.bytes + 1];
    for (size_t i = 0; i < sizeof hash.bytes; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", hash.bytes[i]);
    pawl__sql_append_bare(text, dialect, dialect->hashed_index,
                          (pawl_text){.data = digits, .size = dialect->hash_digits});
}

/* Contains the table's name, unless names of indexes need to be unique only within their table (D11). */
void pawl__sql_correlation_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation)
{
    pawl__sql_text whole = {0};
    if (!dialect->has_own_indexes) {
        pawl__sql_append_bare(&whole, dialect, "", table->name);
        pawl__sql_append(&whole, "_");
    }
    pawl__sql_correlation_column(&whole, dialect, correlation);
    text->is_failed |= whole.is_failed;
    if (dialect->hashed_index == NULL)
        pawl__sql_append_bare(text, dialect, "Index_", pawl__sql_text_of(&whole));
    else if (!whole.is_failed)
        append_hash(text, dialect, pawl__sql_text_of(&whole));
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
    const char             *before = correlation_prefix(dialect);
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
            code = check_size(dialect, "column of property ", name,
                              strlen(before) + pawl__sql_property_of(dialect, list[i]).size, error);
    }
    if (code == PAWL_OK && dialect->types[PAWL__SQL_KEY_OFFSET_TIME] == NULL)
        code = pawl__refuse_offset(table, dialect->name, error);
    if (code == PAWL_OK)
        code = pawl__sql_saga_fits(dialect, table, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(table->type));
    return PAWL_OK;
}

/* A column that a step adds has a default in new tables, too, since programs of the previous version insert rows
 * without it. A nullable column needs none. */
static void append_default(pawl__sql_text *text, const char *table, const pawl__sql_column *column)
{
    const pawl__sql_step *step = pawl__sql_step_of(table, column->name);
    if (step != NULL && !column->is_nullable)
        pawl__sql_appendf(text, " default %s", step->initial);
}

static void append_column(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *table,
                          const pawl__sql_column *column)
{
    pawl_text name = pawl_text_of(column->name);
    pawl__sql_append(text, "    ");
    pawl__sql_append_name(text, dialect, "", name);
    pawl__sql_appendf(text, " %s", dialect->types[column->type]);
    if (column->type == PAWL__SQL_SERIAL)
        return;
    append_default(text, table, column);
    pawl__sql_append(text, column->is_nullable ? " null" : " not null");
    if (column->type == PAWL__SQL_JSON || column->type == PAWL__SQL_METADATA)
        pawl__sql_append_pattern(text, dialect, dialect->json_check, name);
}

static void append_definition(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                              const pawl__sql_computed *column)
{
    pawl__sql_append_name(text, dialect, "", pawl_text_of(column->name));
    pawl__sql_appendf(text, " %s generated always as (", dialect->types[column->type]);
    pawl__sql_expand(text, dialect, "", column->value);
    pawl__sql_append(text, ") virtual");
}

static void append_computed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const pawl__sql_table *table)
{
    for (size_t i = 0; i < pawl__sql_computed_count; i++) {
        const pawl__sql_computed *column = &pawl__sql_computed_columns[i];
        if (strcmp(column->table, table->name) != 0 || !pawl__sql_is_for(dialect, column->only))
            continue;
        pawl__sql_append(text, ",\n    ");
        append_definition(text, dialect, column);
    }
}

void pawl__sql_add_computed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_computed *column)
{
    pawl__sql_append(text, "alter table ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(column->table));
    pawl__sql_append(text, dialect->add_column != NULL ? dialect->add_column : " add column ");
    append_definition(text, dialect, column);
}

const pawl__sql_index *pawl__sql_key_index(const pawl__sql_dialect *dialect,
                                           const pawl__sql_table   *table)
{
    bool has_key = table->constraints != NULL || table->columns[0].type == PAWL__SQL_SERIAL;
    return dialect->keys_every_table && !has_key ? &table->indexes[0] : NULL;
}

/* The index that serves as primary key (pawl__sql_key_index) is written as that. */
static void append_indexes(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const char *prefix, const pawl__sql_table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const pawl__sql_index *index = &table->indexes[i];
        if (!pawl__sql_has_index(dialect, index) || index->is_late)
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

/* The primary key, for dialects that do not write indexes inside "create table". */
static void append_key(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                       const pawl__sql_table *table)
{
    const pawl__sql_index *key = pawl__sql_key_index(dialect, table);
    if (key == NULL)
        return;
    pawl__sql_append(text, ",\n    primary key (");
    pawl__sql_expand(text, dialect, prefix, pawl__sql_index_columns(dialect, key));
    pawl__sql_append(text, ")");
}

/* "if not exists ", unless the dialect's guard makes the statement repeatable. */
static const char *if_missing(const pawl__sql_dialect *dialect, pawl__sql_act act)
{
    return pawl__sql_guards(dialect, act) ? "" : "if not exists ";
}

static void begin_table(pawl__sql_text *text, const pawl__sql_dialect *dialect, const char *prefix,
                        pawl_text name)
{
    pawl__sql_append(text, "create table ");
    pawl__sql_append(text, if_missing(dialect, PAWL__SQL_MAKE_TABLE));
    pawl__sql_append_table(text, dialect, prefix, name);
    pawl__sql_append(text, " (\n");
}

void pawl__sql_create_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_table *table)
{
    begin_table(text, dialect, prefix, pawl_text_of(table->name));
    for (size_t i = 0; i < table->column_count; i++) {
        pawl__sql_append(text, i == 0 ? "" : ",\n");
        append_column(text, dialect, table->name, &table->columns[i]);
    }
    if (dialect->indexes_every_row)
        append_computed(text, dialect, table);
    if (table->constraints != NULL) {
        pawl__sql_append(text, ",\n    ");
        pawl__sql_expand(text, dialect, prefix, table->constraints);
    }
    (dialect->indexes_inside ? append_indexes : append_key)(text, dialect, prefix, table);
    pawl__sql_append(text, "\n)");
    pawl__sql_append(text, table->is_keyed ? dialect->keyed_end : dialect->table_end);
}

const char *pawl__sql_index_columns(const pawl__sql_dialect *dialect, const pawl__sql_index *index)
{
    const char *columns =
        dialect->indexes_every_row && index->every_row != NULL ? index->every_row : index->columns;
    return columns != NULL && columns[0] != '\0' ? columns : NULL;
}

bool pawl__sql_is_for(const pawl__sql_dialect *dialect, const char *only)
{
    size_t      size = strlen(dialect->name);
    const char *at   = only;
    while (at != NULL && (at = strstr(at, dialect->name)) != NULL &&
           (at[-1] != ' ' || at[size] != ' '))
        at++;
    return only == NULL || at != NULL;
}

bool pawl__sql_has_index(const pawl__sql_dialect *dialect, const pawl__sql_index *index)
{
    if (pawl__sql_index_columns(dialect, index) == NULL || !pawl__sql_is_for(dialect, index->only))
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
    pawl__sql_appendf(text, "create %sindex %s", index->is_unique ? "unique " : "",
                      if_missing(dialect, PAWL__SQL_MAKE_INDEX));
    pawl__sql_append_name(text, dialect, prefix, pawl_text_of(index->name));
    pawl__sql_append(text, "\n    on ");
    pawl__sql_append_table(text, dialect, prefix, pawl_text_of(table->name));
    pawl__sql_append(text, " (");
    pawl__sql_expand(text, dialect, prefix, pawl__sql_index_columns(dialect, index));
    pawl__sql_append(text, ")");
    if (index->where == NULL || dialect->indexes_every_row)
        return;
    pawl__sql_append(text, " where ");
    pawl__sql_expand(text, dialect, prefix, index->where);
}

static bool has_exact_size(const pawl__sql_dialect *dialect, const pawl_correlation *correlation)
{
    return dialect->exact_size != NULL && correlation->type == PAWL_VALUE_TEXT;
}

/* `before` "Size_": the name of the extra column that distinguishes texts which '=' does not (exact_size). */
static void append_correlation_name(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                    const char *before, const pawl_correlation *correlation)
{
    pawl__sql_text column = {0};
    pawl__sql_append(&column, before);
    pawl__sql_correlation_column(&column, dialect, correlation);
    pawl__sql_append_name(text, dialect, "", pawl__sql_text_of(&column));
    text->is_failed |= column.is_failed;
    pawl__sql_text_free(&column);
}

static void append_correlation(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                               const pawl_correlation *correlation)
{
    append_correlation_name(text, dialect, "", correlation);
    pawl__sql_appendf(text, " %s null", dialect->types[pawl__sql_correlation_type(correlation)]);
    if (!has_exact_size(dialect, correlation))
        return;
    pawl__sql_text column = {0};
    pawl__sql_correlation_column(&column, dialect, correlation);
    pawl__sql_append(text, ",\n    ");
    append_correlation_name(text, dialect, "Size_", correlation);
    pawl__sql_append_pattern(text, dialect, dialect->exact_size, pawl__sql_text_of(&column));
    text->is_failed |= column.is_failed;
    pawl__sql_text_free(&column);
}

void pawl__sql_create_saga_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    begin_table(text, dialect, "", table->name);
    for (size_t i = 0; i < pawl__sql_saga_column_count; i++) {
        append_column(text, dialect, "", &pawl__sql_saga_columns[i]);
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
    pawl__sql_append(text, dialect->add_column != NULL ? dialect->add_column : " add column ");
    pawl__sql_append(text, dialect->adds_columns ? if_missing(dialect, PAWL__SQL_MAKE_COLUMN) : "");
    append_correlation(text, dialect, correlation);
}

void pawl__sql_create_saga_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation)
{
    pawl__sql_text name = {0}, column = {0};
    pawl__sql_correlation_index(&name, dialect, table, correlation);
    pawl__sql_correlation_column(&column, dialect, correlation);
    pawl__sql_appendf(text, "create unique index %s", if_missing(dialect, PAWL__SQL_MAKE_INDEX));
    pawl__sql_append_name(text, dialect, "", pawl__sql_text_of(&name));
    pawl__sql_append(text, "\n    on ");
    pawl__sql_append_table(text, dialect, "", table->name);
    pawl__sql_append(text, " (");
    append_correlation_name(text, dialect, "", correlation);
    if (has_exact_size(dialect, correlation)) {
        pawl__sql_append(text, ", ");
        append_correlation_name(text, dialect, "Size_", correlation);
    }
    pawl__sql_append(text, ")");
    if (dialect->unique_where != NULL)
        pawl__sql_append_pattern(text, dialect, dialect->unique_where, pawl__sql_text_of(&column));
    text->is_failed |= name.is_failed || column.is_failed;
    pawl__sql_text_free(&name);
    pawl__sql_text_free(&column);
}
