/* verify.c - compares the catalog with the description of the tables, one line
 * for each difference.
 *
 * The catalog is read once, all tables together; the description decides what
 * is looked for in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/schema.h"

#include <stdio.h>
#include <string.h>

/* ---- What the catalog says ---------------------------------------------- */

typedef struct found_column {
    pawl_text table;
    pawl_text name;
    pawl_text type;
    pawl_text collation;
    bool      is_required;
    bool      has_default;
    bool      is_known; /* it was looked for */
} found_column;

typedef struct found_index {
    pawl_text table;
    pawl_text name;
    pawl_text columns; /* "A", "B" */
    bool      is_primary;
    bool      is_unique;
    bool      is_valid;
    bool      is_partial;
} found_index;

typedef struct verifier {
    pawl__pg     *store;
    pawl_arena   *arena;
    pawl_line_fn *line;
    void         *context;
    size_t        count;
    pawl_error   *error;
    found_column *columns;
    size_t        column_count;
    found_index  *indexes;
    size_t        index_count;
    pawl_text     table;     /* that is looked at */
    bool          has_relic; /* an index that this version goes without */
} verifier;

static pawl_code read_columns(verifier *v, const pawl_text *tables, size_t table_count)
{
    pawl__pg_call call;
    pawl__pg_begin(&call, &v->store->main, PAWL__PG_SCHEMA_COLUMNS, v->error);
    pawl__pg_put_text(&call, pawl_text_of(v->store->schema));
    pawl__pg_put_texts(&call, tables, table_count);
    pawl_code code = pawl__pg_run(&call);
    call.arena     = v->arena;
    if (code != PAWL_OK)
        return code;
    v->columns = pawl__pg_take_rows(&call, sizeof *v->columns);
    while (v->columns != NULL && pawl__pg_next(&call)) {
        found_column *column = &v->columns[v->column_count++];
        column->table        = pawl__pg_get_text(&call);
        column->name         = pawl__pg_get_text(&call);
        column->type         = pawl__pg_get_text(&call);
        column->collation    = pawl__pg_get_text(&call);
        column->is_required  = pawl__pg_get_bool(&call);
        column->has_default  = pawl__pg_get_bool(&call);
    }
    pawl__pg_end(&call);
    return call.code;
}

static pawl_code read_indexes(verifier *v, const pawl_text *tables, size_t table_count)
{
    pawl__pg_call call;
    pawl__pg_begin(&call, &v->store->main, PAWL__PG_SCHEMA_INDEXES, v->error);
    pawl__pg_put_text(&call, pawl_text_of(v->store->schema));
    pawl__pg_put_texts(&call, tables, table_count);
    pawl_code code = pawl__pg_run(&call);
    call.arena     = v->arena;
    if (code != PAWL_OK)
        return code;
    v->indexes = pawl__pg_take_rows(&call, sizeof *v->indexes);
    while (v->indexes != NULL && pawl__pg_next(&call)) {
        found_index *index = &v->indexes[v->index_count++];
        index->table       = pawl__pg_get_text(&call);
        index->name        = pawl__pg_get_text(&call);
        index->columns     = pawl__pg_get_text(&call);
        index->is_primary  = pawl__pg_get_bool(&call);
        index->is_unique   = pawl__pg_get_bool(&call);
        index->is_valid    = pawl__pg_get_bool(&call);
        index->is_partial  = pawl__pg_get_bool(&call);
    }
    pawl__pg_end(&call);
    return call.code;
}

/* All tables of the spec; a text without memory is empty and not found. */
static pawl_code read_catalog(verifier *v, const pawl_schema_spec *spec)
{
    size_t     count = pawl__sql_table_count + spec->table_count;
    pawl_text *names = pawl_arena_take(v->arena, count * sizeof *names);
    if (names == NULL)
        return pawl__pg_no_memory(v->error);
    for (size_t i = 0; i < pawl__sql_table_count; i++) {
        names[i] = pawl_arena_printf(v->arena, "%s%s", v->store->sql.base.system_prefix,
                                     pawl__sql_tables[i].name);
        if (names[i].data == NULL)
            return pawl__pg_no_memory(v->error);
    }
    for (size_t i = 0; i < spec->table_count; i++)
        names[pawl__sql_table_count + i] = spec->tables[i]->name;
    pawl_code code = read_columns(v, names, count);
    return code == PAWL_OK ? read_indexes(v, names, count) : code;
}

/* ---- Reporting ---------------------------------------------------------- */

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

/* ---- Columns ------------------------------------------------------------ */

static found_column *find_column(const verifier *v, pawl_text name)
{
    for (size_t i = 0; i < v->column_count; i++)
        if (pawl_text_equal(v->columns[i].table, v->table) &&
            pawl_text_equal(v->columns[i].name, name))
            return &v->columns[i];
    return NULL;
}

static void check_column(verifier *v, pawl_text name, pawl__sql_type type, bool is_nullable)
{
    const char   *expected = pawl__pg_type_name(type);
    found_column *found    = find_column(v, name);
    if (found == NULL) {
        report(v, "table %.*s: column %.*s is missing", PAWL_TEXT_ARGS(v->table),
               PAWL_TEXT_ARGS(name));
        return;
    }
    found->is_known = true;
    if (!pawl_text_equal(found->type, pawl_text_of(expected)))
        report(v, "table %.*s: column %.*s: incorrect data type: expected %s, found %.*s",
               PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name), expected,
               PAWL_TEXT_ARGS(found->type));
    else if (pawl__pg_type_is_bytewise(type) && !pawl_text_equal(found->collation, PAWL_TEXT("C")))
        report(v, "table %.*s: column %.*s: expected collation C, found %.*s",
               PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name), PAWL_TEXT_ARGS(found->collation));
    else if (type == PAWL__SQL_SERIAL && !found->has_default)
        report(v, "table %.*s: column %.*s: expected numbers given by the database, found none",
               PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(name));
    if (found->is_required == is_nullable)
        report(v, "table %.*s: column %.*s: expected %s, found %s", PAWL_TEXT_ARGS(v->table),
               PAWL_TEXT_ARGS(name), is_nullable ? "null allowed" : "not null",
               is_nullable ? "not null" : "null allowed");
}

static void check_columns(verifier *v, const pawl__sql_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_column(v, pawl_text_of(columns[i].name), columns[i].type, columns[i].is_nullable);
}

/* Columns of others do no harm, unless every insert has to fill them. */
static void check_strange_columns(verifier *v)
{
    for (size_t i = 0; i < v->column_count; i++) {
        const found_column *column = &v->columns[i];
        if (pawl_text_equal(column->table, v->table) && !column->is_known && column->is_required &&
            !column->has_default)
            report(v,
                   "table %.*s: column %.*s is not known, not null and has no default: no row "
                   "can be inserted",
                   PAWL_TEXT_ARGS(v->table), PAWL_TEXT_ARGS(column->name));
    }
}

/* ---- Indexes ------------------------------------------------------------ */

typedef struct expected_index {
    pawl_text name; /* empty: the primary key, whatever its name */
    pawl_text columns;
    bool      is_unique;
    bool      is_partial;
} expected_index;

static const found_index *find_index(const verifier *v, const expected_index *expected)
{
    for (size_t i = 0; i < v->index_count; i++) {
        const found_index *index = &v->indexes[i];
        if (pawl_text_equal(index->table, v->table) &&
            (expected->name.size == 0 ? index->is_primary
                                      : pawl_text_equal(index->name, expected->name)))
            return index;
    }
    return NULL;
}

static void report_index(verifier *v, const expected_index *expected, const char *wanted,
                         const char *found)
{
    bool is_key = expected->name.size == 0;
    report(v, "table %.*s: %s%.*s: expected %s, found %s", PAWL_TEXT_ARGS(v->table),
           is_key ? "primary key" : "index ", PAWL_TEXT_ARGS(expected->name), wanted, found);
}

static void check_index(verifier *v, const expected_index *expected)
{
    const found_index *found  = find_index(v, expected);
    bool               is_key = expected->name.size == 0;
    if (found == NULL) {
        report(v, "table %.*s: %s%.*s is missing", PAWL_TEXT_ARGS(v->table),
               is_key ? "primary key" : "index ", PAWL_TEXT_ARGS(expected->name));
        return;
    }
    if (found->is_unique != expected->is_unique)
        report_index(v, expected, expected->is_unique ? "unique" : "not unique",
                     found->is_unique ? "unique" : "not unique");
    if (!found->is_valid)
        report_index(v, expected, "valid", "not valid: its making was broken off; drop it");
    if (!pawl_text_equal(found->columns, expected->columns))
        report_index(v, expected, expected->columns.data, found->columns.data);
    if (found->is_partial != expected->is_partial)
        report_index(v, expected, expected->is_partial ? "a condition" : "all rows",
                     found->is_partial ? "a condition" : "all rows");
}

/* A template as it stands in the catalog. */
static pawl_text expand(verifier *v, const char *template_text)
{
    pawl__sql_text text = {0};
    pawl__sql_expand(&text, &pawl__pg_dialect, v->store->sql.base.system_prefix, template_text);
    pawl_text copy = pawl_arena_text(v->arena, (pawl_text){.data = text.data, .size = text.size});
    bool      is_whole = !text.is_failed;
    pawl__sql_text_free(&text);
    return is_whole ? copy : (pawl_text){0};
}

/* The columns of "primary key (...)", which stands first. */
static pawl_text key_of(verifier *v, const pawl__sql_table *table)
{
    if (table->constraints == NULL && table->columns[0].type == PAWL__SQL_SERIAL)
        return pawl_arena_printf(v->arena, "\"%s\"", table->columns[0].name);
    pawl_text   whole = table->constraints != NULL ? expand(v, table->constraints) : (pawl_text){0};
    const char *open  = whole.data != NULL ? strchr(whole.data, '(') : NULL;
    const char *close = open != NULL ? strchr(open, ')') : NULL;
    if (close == NULL)
        return (pawl_text){0};
    return pawl_arena_text(v->arena,
                           (pawl_text){.data = open + 1, .size = (size_t)(close - open - 1)});
}

/* ---- Tables ------------------------------------------------------------- */

static bool is_there(const verifier *v, pawl_text name)
{
    for (size_t i = 0; i < v->column_count; i++)
        if (pawl_text_equal(v->columns[i].table, name))
            return true;
    return false;
}

static bool begin_table(verifier *v, pawl_text name)
{
    v->table = name;
    if (is_there(v, name))
        return true;
    report(v, "table %.*s is missing", PAWL_TEXT_ARGS(name));
    return false;
}

static pawl_code check_cascade(verifier *v)
{
    pawl__pg_call call;
    int64_t       count = 0;
    pawl__pg_begin(&call, &v->store->main, PAWL__PG_SCHEMA_CASCADES, v->error);
    pawl__pg_put_text(&call, pawl_text_of(v->store->schema));
    pawl__pg_put_text(&call, v->table);
    pawl_code code = pawl__pg_one_int(&call, &count);
    if (code == PAWL_OK && count == 0)
        report(v, "table %.*s: foreign key with delete cascade is missing",
               PAWL_TEXT_ARGS(v->table));
    return code;
}

static pawl_code check_shared(verifier *v, const pawl__sql_table *table)
{
    const char *prefix = v->store->sql.base.system_prefix;
    pawl_text   name   = pawl_arena_printf(v->arena, "%s%s", prefix, table->name);
    if (name.data == NULL)
        return pawl__pg_no_memory(v->error);
    if (!begin_table(v, name))
        return PAWL_OK;
    check_columns(v, table->columns, table->column_count);
    check_strange_columns(v);
    expected_index key = {{{0}, 0}, key_of(v, table), true, false};
    if (key.columns.data != NULL)
        check_index(v, &key);
    for (size_t i = 0; i < table->index_count; i++) {
        const pawl__sql_index *index    = &table->indexes[i];
        expected_index         expected = {pawl_arena_printf(v->arena, "%s%s", prefix, index->name),
                                           expand(v, index->columns), index->is_unique,
                                           index->where != NULL};
        if (expected.name.data == NULL || expected.columns.data == NULL)
            return pawl__pg_no_memory(v->error);
        if (pawl__sql_has_index(&pawl__pg_dialect, index))
            check_index(v, &expected);
        else
            v->has_relic |= find_index(v, &expected) != NULL;
    }
    if (table->constraints != NULL && strstr(table->constraints, "cascade") != NULL)
        return check_cascade(v);
    return PAWL_OK;
}

static pawl_code check_correlation(verifier *v, const pawl_saga_table *table,
                                   const pawl_correlation *correlation)
{
    pawl__sql_text text = {0};
    pawl__sql_correlation_index(&text, &v->store->main.dialect, table, correlation);
    pawl_text index = pawl_arena_text(v->arena, (pawl_text){.data = text.data, .size = text.size});
    pawl_text column =
        pawl_arena_printf(v->arena, "Correlation_%.*s", PAWL_TEXT_ARGS(correlation->property));
    pawl_text quoted = pawl_arena_printf(v->arena, "\"%.*s\"", PAWL_TEXT_ARGS(column));
    bool      is_ok  = !text.is_failed && index.data != NULL && quoted.data != NULL;
    pawl__sql_text_free(&text);
    if (!is_ok)
        return pawl__pg_no_memory(v->error);
    check_column(v, column, pawl__sql_correlation_type(correlation->type), true);
    check_index(v, &(expected_index){index, quoted, true, false});
    return PAWL_OK;
}

static pawl_code check_saga(verifier *v, const pawl_saga_table *table)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl_code               code  = PAWL_OK;
    if (!begin_table(v, table->name))
        return PAWL_OK;
    check_columns(v, pawl__sql_saga_columns, pawl__sql_saga_column_count);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = check_correlation(v, table, list[i]);
    check_strange_columns(v);
    check_index(v, &(expected_index){{0}, PAWL_TEXT("\"Id\""), true, false});
    return code;
}

/* ---- The function ------------------------------------------------------- */

/* What stands between the quotes of its template. */
static pawl_text body_of(verifier *v)
{
    pawl_text   whole = expand(v, pawl__pg_send_function);
    size_t      size  = strlen(PAWL__PG_BODY_QUOTE);
    const char *begin = whole.data != NULL ? strstr(whole.data, PAWL__PG_BODY_QUOTE) : NULL;
    const char *end   = begin != NULL ? strstr(begin + size, PAWL__PG_BODY_QUOTE) : NULL;
    if (end == NULL)
        return (pawl_text){0};
    return (pawl_text){.data = begin + size, .size = (size_t)(end - begin) - size};
}

static pawl_code check_function(verifier *v)
{
    pawl__pg_call call;
    pawl_text     body = body_of(v);
    pawl_text     name =
        pawl_arena_printf(v->arena, "%s%s", v->store->sql.base.system_prefix, pawl__pg_send_name);
    if (body.data == NULL || name.data == NULL)
        return pawl__pg_no_memory(v->error);
    pawl__pg_begin(&call, &v->store->main, PAWL__PG_SCHEMA_FUNCTION, v->error);
    pawl__pg_put_text(&call, pawl_text_of(v->store->schema));
    pawl__pg_put_text(&call, name);
    pawl_code code = pawl__pg_run(&call);
    if (code == PAWL_OK && !pawl__pg_next(&call))
        report(v, "function %.*s is missing", PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl_text_equal(pawl__pg_peek_text(&call), body))
        report(v, "function %.*s is not that of this version of pawl", PAWL_TEXT_ARGS(name));
    else if (code == PAWL_OK && !pawl__pg_get_bool(&call))
        report(v, "function %.*s: its search_path is not the schema %s", PAWL_TEXT_ARGS(name),
               v->store->schema);
    pawl__pg_end(&call);
    return code;
}

/* ---- All of it ---------------------------------------------------------- */

/* A missing table was said already. */
static pawl_code check_version(verifier *v, int64_t version)
{
    pawl_text name = pawl_arena_printf(v->arena, "%sschema", v->store->sql.base.system_prefix);
    if (name.data == NULL)
        return pawl__pg_no_memory(v->error);
    if (version < PAWL__SQL_SCHEMA_VERSION && is_there(v, name))
        report(v, "table %.*s: expected version %d, found %lld", PAWL_TEXT_ARGS(name),
               PAWL__SQL_SCHEMA_VERSION, (long long)version);
    return PAWL_OK;
}

static pawl_code check_all(verifier *v, const pawl_schema_spec *spec)
{
    int64_t   version = 0;
    pawl_code code    = pawl__pg_version(v->store, &version, v->error);
    if (code == PAWL_OK)
        code = read_catalog(v, spec);
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_table_count; i++)
        code = check_shared(v, &pawl__sql_tables[i]);
    if (code == PAWL_OK)
        code = check_version(v, version);
    if (code == PAWL_OK)
        code = check_function(v);
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++)
        code = check_saga(v, spec->tables[i]);
    return code;
}

pawl_code pawl__pg_verify(pawl__pg *store, const pawl_schema_spec *spec, pawl_line_fn *line,
                          void *context, size_t *count, bool *has_relic, pawl_error *error)
{
    verifier v = {.store = store, .line = line, .context = context, .error = error};
    *count     = 0;
    *has_relic = false;
    v.arena    = pawl_arena_create(0);
    if (v.arena == NULL)
        return pawl__pg_no_memory(error);
    pawl_code code = check_all(&v, spec);
    pawl_arena_destroy(v.arena);
    *count     = v.count;
    *has_relic = v.has_relic;
    return code;
}
