/* verify.c - compares the catalog of a database with the description of the tables, and reports each difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"
#include "store/sql/schema.h"
#include "store/sql/steps.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FOUND_COLUMN(member, as) PAWL__AS_OF(pawl__sql_found_column, member, as)
#define FOUND_INDEX(member, as) PAWL__AS_OF(pawl__sql_found_index, member, as)

const pawl__field_list pawl__sql_found_column_row =
    PAWL__FIELDS(FOUND_COLUMN(table, TEXT), FOUND_COLUMN(name, TEXT), FOUND_COLUMN(type, TEXT),
                 FOUND_COLUMN(collation, TEXT), FOUND_COLUMN(is_required, BOOL),
                 FOUND_COLUMN(has_default, BOOL));

const pawl__field_list pawl__sql_found_index_row =
    PAWL__FIELDS(FOUND_INDEX(table, TEXT), FOUND_INDEX(name, TEXT), FOUND_INDEX(columns, TEXT),
                 FOUND_INDEX(is_primary, BOOL), FOUND_INDEX(is_unique, BOOL),
                 FOUND_INDEX(is_valid, BOOL), FOUND_INDEX(is_partial, BOOL));

static pawl_code no_memory(const pawl__sql_verifier *v)
{
    return pawl_error_set(v->error, PAWL_ENOMEM, "%s: out of memory", v->schema->dialect->name);
}

void pawl__sql_report(pawl__sql_verifier *v, const char *format, ...)
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

/* ---- Finding ------------------------------------------------------------ */

bool pawl__sql_has_table(const pawl__sql_catalog *catalog, pawl_text table)
{
    return PAWL__ROW_OF(pawl__sql_found_column, table, catalog->columns.items,
                        catalog->columns.count, table) != NULL;
}

/* Are the names, or lists of names, equal? Case does not matter if the catalog has capitals. */
static bool is_name(const pawl__sql_catalog *catalog, pawl_text found, pawl_text name)
{
    return catalog->is_upper
               ? found.size == name.size && strncasecmp(found.data, name.data, name.size) == 0
               : pawl_text_equal(found, name);
}

pawl__sql_found_column *pawl__sql_find_column(const pawl__sql_catalog *catalog, pawl_text table,
                                              pawl_text name)
{
    pawl__sql_found_column *columns = catalog->columns.items;
    for (size_t i = 0; i < catalog->columns.count; i++)
        if (pawl_text_equal(columns[i].table, table) && is_name(catalog, columns[i].name, name))
            return &columns[i];
    return NULL;
}

const pawl__sql_found_index *pawl__sql_find_index(const pawl__sql_catalog *catalog, pawl_text table,
                                                  pawl_text name)
{
    const pawl__sql_found_index *indexes = catalog->indexes.items;
    for (size_t i = 0; i < catalog->indexes.count; i++)
        if (pawl_text_equal(indexes[i].table, table) &&
            (name.size == 0 ? indexes[i].is_primary : is_name(catalog, indexes[i].name, name)))
            return &indexes[i];
    return NULL;
}

/* ---- Columns ------------------------------------------------------------ */

static bool is_bytewise(pawl__sql_type type)
{
    return type == PAWL__SQL_NAME || type == PAWL__SQL_KEY_TEXT;
}

bool pawl__sql_is_type(const pawl__sql_found_column *found, const char *expected)
{
    return found->type.size == strlen(expected) &&
           strncasecmp(found->type.data, expected, found->type.size) == 0;
}

bool pawl__sql_is_old_type(const pawl__sql_dialect *dialect, pawl__sql_type type,
                           const pawl__sql_found_column *found)
{
    const char *old = type == PAWL__SQL_KEY_TIME   ? dialect->old_time
                      : type == PAWL__SQL_KEY_TEXT ? dialect->old_key_text
                                                   : NULL;
    return old != NULL && pawl__sql_is_type(found, old);
}

static bool ends_in_bin(pawl_text collation)
{
    return collation.size > 4 && memcmp(collation.data + collation.size - 4, "_bin", 4) == 0;
}

bool pawl__sql_is_caseless(const pawl__sql_dialect *dialect, pawl__sql_type type,
                           const pawl__sql_found_column *column)
{
    return is_bytewise(type) && dialect->collation != NULL &&
           ends_in_bin(pawl_text_of(dialect->collation)) && column->collation.size > 0 &&
           !ends_in_bin(column->collation);
}

/* A warning, not counted as a difference: sagas are found all the same. */
static void note_old_type(pawl__sql_verifier *v, const pawl__sql_found_column *found,
                          pawl__sql_type type, const char *expected)
{
    char text[600];
    (void)snprintf(
        text, sizeof text, "warning: table %.*s: column %.*s is a %.*s, not %s: %s",
        PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(found->name), PAWL_TEXT_ARGS(found->type),
        expected,
        type == PAWL__SQL_KEY_TIME
            ? "values are rounded to its precision before they are written and searched, "
              "and two that become equal are one"
            : "a text of more than 100 characters beyond U+FFFF may be refused");
    if (v->line != NULL && v->says_obsolete)
        v->line(pawl_text_of(text), v->context);
}

static void report_missing(pawl__sql_verifier *v, pawl_text name, bool is_added)
{
    v->left += !is_added;
    pawl__sql_report(v, "table %.*s: column %.*s is missing%s", PAWL_TEXT_ARGS(v->table),
                     PAWL_TEXT_ARGS(name),
                     is_added ? "" : ": add it by SQL, as `pawl schema print` has it");
}

/* `is_added`: apply adds the column to a table that lacks it. */
static void check_column(pawl__sql_verifier *v, pawl_text name, pawl__sql_type type,
                         bool is_nullable, bool is_added)
{
    char                    expected[PAWL__SQL_TYPE_NAME_SIZE];
    pawl__sql_found_column *found = pawl__sql_find_column(&v->catalog, v->table, name);
    pawl__sql_type_name(v->schema, type, expected);
    if (found == NULL) {
        report_missing(v, name, is_added);
        return;
    }
    size_t before   = v->count;
    found->is_known = true;
    bool is_old     = pawl__sql_is_old_type(v->schema->dialect, type, found);
    if (is_old)
        note_old_type(v, found, type, expected);
    if (!is_old && !pawl__sql_is_type(found, expected))
        pawl__sql_report(v, "table %.*s: column %.*s: incorrect data type: expected %s, found %.*s",
                         PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name), expected,
                         PAWL_TEXT_ARGS(found->type));
    else if (v->schema->dialect->collation != NULL && is_bytewise(type) &&
             !pawl_text_equal(found->collation, pawl_text_of(v->schema->dialect->collation)))
        pawl__sql_report(v, "table %.*s: column %.*s: expected collation %s, found %.*s",
                         PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name),
                         v->schema->dialect->collation, PAWL_TEXT_ARGS(found->collation));
    else if (type == PAWL__SQL_SERIAL && !found->has_default)
        pawl__sql_report(v,
                         "table %.*s: column %.*s: expected numbers given by the database, found "
                         "none",
                         PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name));
    if (found->is_required == is_nullable)
        pawl__sql_report(v, "table %.*s: column %.*s: expected %s, found %s",
                         PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name),
                         is_nullable ? "null allowed" : "not null",
                         is_nullable ? "not null" : "null allowed");
    v->left += v->count - before;
}

/* Does apply add the column, or does every table have it that pawl made on this database? */
static bool is_added(const pawl__sql_dialect *dialect, const char *table, const char *column)
{
    const pawl__sql_step *step = pawl__sql_step_of(table, column);
    return step != NULL && (!dialect->adds_columns || (step->version > dialect->first_version &&
                                                       pawl__sql_is_for(dialect, step->only)));
}

/* `table`: its name without the prefix; "": that of a saga. */
static void check_columns(pawl__sql_verifier *v, const char *table, const pawl__sql_column *columns,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_column(v, pawl_text_of(columns[i].name), columns[i].type, columns[i].is_nullable,
                     is_added(v->schema->dialect, table, columns[i].name));
}

/* Unknown columns are accepted, unless every insert would have to fill them. */
static void check_unknown_columns(pawl__sql_verifier *v)
{
    size_t before = v->count;
    for (size_t i = 0; i < v->catalog.columns.count; i++) {
        const pawl__sql_found_column *column =
            (const pawl__sql_found_column *)v->catalog.columns.items + i;
        if (pawl_text_equal(column->table, v->table) && !column->is_known && column->is_required &&
            !column->has_default)
            pawl__sql_report(v,
                             "table %.*s: column %.*s is not known, not null and has no default: "
                             "no row can be inserted",
                             PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(column->name));
    }
    v->left += v->count - before;
}

/* ---- Indexes ------------------------------------------------------------ */

typedef struct expected_index {
    pawl_text name; /* empty: the primary key, whatever its name */
    pawl_text columns;
    bool      is_unique;
    bool      is_partial;
} expected_index;

static void report_index(pawl__sql_verifier *v, const expected_index *expected, const char *wanted,
                         const char *found)
{
    bool is_key = expected->name.size == 0;
    pawl__sql_report(v, "table %.*s: %s%.*s: expected %s, found %s", PAWL_TEXT_ARGS(v->table),
                     is_key ? "primary key" : "index ", PAWL_TEXT_ARGS(expected->name), wanted,
                     found);
}

static void check_index(pawl__sql_verifier *v, const expected_index *expected)
{
    const pawl__sql_found_index *found =
        pawl__sql_find_index(&v->catalog, v->table, expected->name);
    bool   is_key = expected->name.size == 0;
    size_t before = v->count;
    if (found == NULL) {
        v->left += is_key;
        pawl__sql_report(v, "table %.*s: %s%.*s is missing", PAWL_TEXT_ARGS(v->table),
                         is_key ? "primary key" : "index ", PAWL_TEXT_ARGS(expected->name));
        return;
    }
    if (found->is_unique != expected->is_unique)
        report_index(v, expected, expected->is_unique ? "unique" : "not unique",
                     found->is_unique ? "unique" : "not unique");
    if (!found->is_valid)
        report_index(v, expected, "valid", "not valid: its making was broken off; drop it");
    bool is_narrow = pawl__sql_is_narrow(v->schema, found);
    if (!is_name(&v->catalog, found->columns, expected->columns))
        report_index(v, expected, expected->columns.data, found->columns.data);
    if (found->is_partial != expected->is_partial)
        report_index(v, expected, expected->is_partial ? "a condition" : "all rows",
                     found->is_partial ? "a condition" : "all rows");
    v->left += is_narrow ? 0 : v->count - before;
}

/* The template as a catalog would have it, in the arena. */
static pawl_text expand(pawl__sql_verifier *v, const char *template_text)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, v->schema->dialect, v->schema->prefix, template_text);
    pawl_text copy = pawl_arena_text(v->arena, (pawl_text){.data = text.data, .size = text.size});
    bool      is_whole = !text.is_failed;
    pawl__sql_text_free(&text);
    return is_whole ? copy : (pawl_text){0};
}

/* The columns of the primary key, which is the first of the constraints. */
static pawl_text key_of(pawl__sql_verifier *v, const pawl__sql_table *table)
{
    if (table->constraints == NULL && table->columns[0].type == PAWL__SQL_SERIAL)
        return pawl_arena_printf(v->arena, "%c%s%c", v->schema->dialect->quote_open,
                                 table->columns[0].name, v->schema->dialect->quote_close);
    pawl_text   whole = table->constraints != NULL ? expand(v, table->constraints) : (pawl_text){0};
    const char *open  = whole.data != NULL ? strchr(whole.data, '(') : NULL;
    const char *close = open != NULL ? strchr(open, ')') : NULL;
    if (close == NULL)
        return (pawl_text){0};
    return pawl_arena_text(v->arena,
                           (pawl_text){.data = open + 1, .size = (size_t)(close - open - 1)});
}

static pawl_code check_indexes(pawl__sql_verifier *v, const pawl__sql_table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const pawl__sql_index *index    = &table->indexes[i];
        const char            *columns  = pawl__sql_index_columns(v->schema->dialect, index);
        expected_index         expected = {
                    .name    = pawl_arena_printf(v->arena, "%s%s", v->schema->prefix, index->name),
                    .columns = expand(v, columns != NULL ? columns : ""),
                    .is_unique  = index->is_unique,
                    .is_partial = index->where != NULL && !v->schema->dialect->indexes_every_row};
        if (expected.name.data == NULL || expected.columns.data == NULL)
            return no_memory(v);
        if (index == pawl__sql_key_index(v->schema->dialect, table))
            expected.name.size = 0;
        if (pawl__sql_has_index(v->schema->dialect, index))
            check_index(v, &expected);
        else if (index->only == NULL)
            v->has_relic |= pawl__sql_find_index(&v->catalog, v->table, expected.name) != NULL;
    }
    return PAWL_OK;
}

/* ---- Tables ------------------------------------------------------------- */

static bool begin_table(pawl__sql_verifier *v, pawl_text name)
{
    v->table = name;
    if (pawl__sql_has_table(&v->catalog, name))
        return true;
    pawl__sql_report(v, "table %.*s is missing", PAWL_TEXT_ARGS(name));
    return false;
}

static pawl_code check_shared(pawl__sql_verifier *v, const pawl__sql_table *table)
{
    pawl_text name = pawl_arena_printf(v->arena, "%s%s", v->schema->prefix, table->name);
    if (name.data == NULL)
        return no_memory(v);
    if (!begin_table(v, name))
        return PAWL_OK;
    check_columns(v, table->name, table->columns, table->column_count);
    check_unknown_columns(v);
    expected_index key = {.is_unique = true};
    if (v->schema->ops->has_keys)
        key.columns = key_of(v, table);
    if (key.columns.data != NULL)
        check_index(v, &key);
    return check_indexes(v, table);
}

static pawl_code check_correlation(pawl__sql_verifier *v, const pawl_saga_table *table,
                                   const pawl_correlation *correlation)
{
    pawl__sql_text text = {0}, name = {0};
    pawl__sql_correlation_index(&text, v->schema->dialect, table, correlation);
    pawl__sql_correlation_column(&name, v->schema->dialect, correlation);
    pawl_text index  = pawl_arena_text(v->arena, (pawl_text){.data = text.data, .size = text.size});
    pawl_text column = pawl_arena_text(v->arena, pawl__sql_text_of(&name));
    pawl_text quoted = pawl_arena_printf(v->arena, "%c%.*s%c", v->schema->dialect->quote_open,
                                         PAWL_TEXT_ARGS(column), v->schema->dialect->quote_close);
    bool is_ok = !text.is_failed && !name.is_failed && index.data != NULL && column.data != NULL &&
                 quoted.data != NULL;
    pawl__sql_text_free(&text);
    pawl__sql_text_free(&name);
    if (!is_ok)
        return no_memory(v);
    check_column(v, column, pawl__sql_correlation_type(correlation), true, true);
    check_index(v,
                &(expected_index){index, quoted, true, v->schema->dialect->unique_where != NULL});
    return PAWL_OK;
}

static pawl_code check_reach(pawl__sql_verifier *v, const pawl_saga_table *table)
{
    pawl_error why   = PAWL_ERROR_INIT;
    int64_t    count = 0;
    pawl_code  code  = pawl__sql_unreached(v->schema, &v->catalog, table, &why, &count);
    if (code != PAWL_OK)
        return pawl_error_set(v->error, code, "%s", why.text);
    if (count != 0)
        pawl__sql_report(v, "%s", why.text);
    return PAWL_OK;
}

/* Not counted as a difference: an obsolete column does no harm, and programs of the phase before may need it. */
static void note_obsolete(pawl__sql_verifier *v, const pawl_saga_table *table)
{
    const pawl__sql_found_column *columns = v->catalog.columns.items;
    for (size_t i = 0; i < v->catalog.columns.count; i++) {
        char text[600];
        if (pawl__sql_obsolete(v->schema, table, &columns[i]).size == 0)
            continue;
        v->has_obsolete = true;
        (void)snprintf(text, sizeof text,
                       "table %.*s: column %.*s is of no correlation property of saga %.*s any "
                       "more: pawl schema apply --purge drops it",
                       PAWL_TEXT_ARGS(table->name), PAWL_TEXT_ARGS(columns[i].name),
                       PAWL_TEXT_ARGS(table->type));
        if (v->line != NULL && v->says_obsolete)
            v->line(pawl_text_of(text), v->context);
    }
}

static pawl_code check_saga(pawl__sql_verifier *v, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl_code               code  = pawl__sql_saga_check(v->schema->dialect, table, v->error);
    if (code != PAWL_OK || !begin_table(v, table->name))
        return code;
    check_columns(v, "", pawl__sql_saga_columns, pawl__sql_saga_column_count);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_correlation(v, table, list[i]);
    if (code == PAWL_OK)
        code = check_reach(v, table);
    note_obsolete(v, table);
    check_unknown_columns(v);
    if (v->schema->ops->has_keys)
        check_index(v, &(expected_index){.columns = expand(v, "[Id]"), .is_unique = true});
    return code;
}

/* ---- All of it ---------------------------------------------------------- */

/* A missing table was reported already. */
static pawl_code check_version(pawl__sql_verifier *v, int64_t version)
{
    pawl_text name = pawl_arena_printf(v->arena, "%sschema", v->schema->prefix);
    if (name.data == NULL)
        return no_memory(v);
    if (version < PAWL__SQL_SCHEMA_VERSION && pawl__sql_has_table(&v->catalog, name))
        pawl__sql_report(v, "table %.*s: expected version %d, found %lld", PAWL_TEXT_ARGS(name),
                         PAWL__SQL_SCHEMA_VERSION, (long long)version);
    return PAWL_OK;
}

pawl_code pawl__sql_verify(pawl__sql_verifier *v, const pawl_schema_spec *spec, int64_t version)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++)
        code = check_shared(v, &pawl__sql_tables[i]);
    if (code == PAWL_OK)
        code = check_version(v, version);
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++)
        code = check_saga(v, spec->tables[i]);
    return code;
}
