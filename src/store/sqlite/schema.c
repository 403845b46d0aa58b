/* schema.c - making and checking tables at open; print, apply, verify, drop.
 *
 * Everything that is made is made in one transaction: a second process waits
 * for it and then finds it done, and a half-made schema is never seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include "store/sql/steps.h"

#include <stdio.h>
#include <string.h>

/* ---- Looking ------------------------------------------------------------ */

pawl_code pawl__sqlite_exists(sqlite3 *db, const char *kind, pawl_text name, bool *exists,
                              pawl_error *error)
{
    sqlite3_stmt           *statement  = NULL;
    pawl__sqlite_connection connection = {.db = db};
    pawl__sqlite_request    request;
    *exists        = false;
    pawl_code code = pawl__sqlite_prepare(
        db, "select 1 from sqlite_schema where type = ?1 and name = ?2", &statement, error);
    pawl__sqlite_request_statement(&request, &connection, statement, error);
    request.code = code;
    pawl__sqlite_put_text(&request, pawl_text_of(kind));
    pawl__sqlite_put_text(&request, name);
    *exists = pawl__sqlite_next(&request);
    (void)sqlite3_finalize(statement);
    return request.code;
}

pawl_code pawl__sqlite_column_type(sqlite3 *db, pawl_text table, const char *column, char type[32],
                                   pawl_error *error)
{
    sqlite3_stmt           *statement  = NULL;
    pawl__sqlite_connection connection = {.db = db};
    pawl__sqlite_request    request;
    type[0]        = '\0';
    pawl_code code = pawl__sqlite_prepare(
        db, "select type from pragma_table_info(?1) where name = ?2", &statement, error);
    pawl__sqlite_request_statement(&request, &connection, statement, error);
    request.code = code;
    pawl__sqlite_put_text(&request, table);
    pawl__sqlite_put_text(&request, pawl_text_of(column));
    if (pawl__sqlite_next(&request)) {
        pawl_text found = pawl__sqlite_peek_text(&request);
        (void)snprintf(type, 32, "%.*s", PAWL_TEXT_ARGS(found));
    }
    (void)sqlite3_finalize(statement);
    return request.code;
}

/* 0 when there is no such table or row. */
static pawl_code read_version(pawl__sqlite *store, int64_t *version, pawl_error *error)
{
    *version              = 0;
    pawl__sql_text name   = {0};
    bool           exists = false;
    pawl__sql_append(&name, store->connection.prefix);
    pawl__sql_append(&name, "schema");
    pawl_code code = name.is_failed
                         ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                         : pawl__sqlite_exists(store->connection.db, "table",
                                               (pawl_text){.data = name.data, .size = name.size},
                                               &exists, error);
    pawl__sql_text_free(&name);
    if (code != PAWL_OK || !exists)
        return code;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_VERSION_GET, error);
    return pawl__sqlite_one_int(&request, version);
}

static pawl_code check_version(const pawl__sqlite *store, int64_t version, pawl_error *error)
{
    if (version <= PAWL__SQL_SCHEMA_VERSION)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "sqlite: %s: its schema has version %lld, this program knows version %d: "
                          "a newer pawl made it",
                          store->given_path, (long long)version, PAWL__SQL_SCHEMA_VERSION);
}

/* ---- Saga tables -------------------------------------------------------- */

/* What a saga table lacks: `*is_there` false for the table itself; a column of
 * another type is an error (D28). */
typedef struct saga_state {
    bool is_there;
    bool has_column[2];
    bool has_index[2];
} saga_state;

static pawl_code look_at_correlation(sqlite3 *db, const pawl_saga_table *table,
                                     const pawl_correlation *correlation, bool *has_column,
                                     bool *has_index, pawl_error *error)
{
    pawl__sql_text column = {0};
    pawl__sql_text index  = {0};
    char           type[32];
    pawl_code      code = PAWL_OK;
    const char    *expected =
        correlation->type == PAWL_VALUE_INT || correlation->type == PAWL_VALUE_TIME ? "INTEGER"
                                                                                       : "TEXT";
    pawl__sql_correlation_column(&column, correlation);
    pawl__sql_correlation_index(&index, &pawl__sqlite_dialect, table, correlation);
    if (column.is_failed || index.is_failed)
        code = pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    if (code == PAWL_OK)
        code = pawl__sqlite_column_type(db, table->name, column.data, type, error);
    if (code == PAWL_OK && (*has_column = type[0] != '\0') && sqlite3_stricmp(type, expected) != 0)
        code = pawl_error_set(error, PAWL_ESCHEMA,
                              "table %.*s: column %s: incorrect data type: expected %s, found %s; "
                              "nothing is converted",
                              PAWL_TEXT_ARGS(table->name), column.data, expected, type);
    if (code == PAWL_OK)
        code = pawl__sqlite_exists(db, "index", (pawl_text){.data = index.data, .size = index.size},
                                   has_index, error);
    pawl__sql_text_free(&column);
    pawl__sql_text_free(&index);
    return code;
}

static pawl_code look_at_saga(sqlite3 *db, const pawl_saga_table *table, saga_state *state,
                              pawl_error *error)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    *state                        = (saga_state){0};
    pawl_code code                = pawl__sql_saga_check(table, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_exists(db, "table", table->name, &state->is_there, error);
    for (size_t i = 0; code == PAWL_OK && state->is_there && i < count; i++)
        code = look_at_correlation(db, table, list[i], &state->has_column[i], &state->has_index[i],
                                   error);
    return code;
}

static bool is_complete(const pawl_saga_table *table, const saga_state *state)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    bool                    whole = state->is_there;
    for (size_t i = 0; i < count; i++)
        whole = whole && state->has_column[i] && state->has_index[i];
    return whole;
}

static pawl__sql_advice advice_of(const pawl__sqlite *store)
{
    return pawl__sql_advise("sqlite:", store->given_path, store->connection.prefix);
}

/* Version 0: there are no tables, or half of them. */
static pawl_code too_old(const pawl__sqlite *store, int64_t version, pawl_error *error)
{
    if (version > 0)
        return pawl_error_set(error, PAWL_ESCHEMA,
                              "sqlite: %s: its schema has version %lld, this program needs version "
                              "%d; %s",
                              store->given_path, (long long)version, PAWL__SQL_SCHEMA_VERSION,
                              advice_of(store).text);
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "sqlite: %s: table %sschema is missing or incomplete; %s",
                          store->given_path, store->connection.prefix, advice_of(store).text);
}

pawl_code pawl__sqlite_schema_check(pawl__sqlite *store, const pawl_saga_table *const *tables,
                                    size_t table_count, pawl_error *error)
{
    int64_t   version;
    pawl_code code = read_version(store, &version, error);
    if (code == PAWL_OK)
        code = check_version(store, version, error);
    if (code == PAWL_OK && version < PAWL__SQL_SCHEMA_VERSION)
        code = too_old(store, version, error);
    for (size_t i = 0; code == PAWL_OK && i < table_count; i++) {
        saga_state state;
        code = look_at_saga(store->connection.db, tables[i], &state, error);
        if (code == PAWL_OK && !is_complete(tables[i], &state))
            code = pawl_error_set(error, PAWL_ESCHEMA,
                                  "sqlite: %s: saga table %.*s is missing or incomplete; %s "
                                  "--app APP",
                                  store->given_path, PAWL_TEXT_ARGS(tables[i]->name),
                                  advice_of(store).text);
    }
    return code;
}

/* ---- Making ------------------------------------------------------------- */

static pawl_code run_statement(const char *statement, void *context, pawl_error *error)
{
    return pawl__sqlite_execute(context, statement, error);
}

/* The script makes tables, but adds nothing to one that is there. */
static pawl_code add_columns(sqlite3 *db, const pawl_saga_table *table, const saga_state *state,
                             pawl_error *error)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    pawl_code               code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && state->is_there && i < count; i++) {
        if (state->has_column[i])
            continue;
        pawl__sql_text text = {0};
        pawl__sql_add_saga_column(&text, &pawl__sqlite_dialect, table, list[i]);
        code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                              : pawl__sqlite_execute(db, text.data, error);
        pawl__sql_text_free(&text);
    }
    return code;
}

/* What an earlier version's tables lack; those that are not there get it from
 * the script. SQLite has no "add column if not exists". */
static pawl_code run_step(pawl__sqlite *store, const pawl__sql_step *step, pawl_error *error)
{
    sqlite3       *db       = store->connection.db;
    pawl__sql_text name     = {0};
    pawl__sql_text text     = {0};
    bool           exists   = false;
    char           type[32] = "";
    pawl__sql_append(&name, store->connection.prefix);
    pawl__sql_append(&name, step->table);
    pawl__sql_run_step(&text, &pawl__sqlite_dialect, store->connection.prefix, step);
    pawl_text table = {.data = name.data, .size = name.size};
    pawl_code code  = PAWL_OK;
    if (name.is_failed || text.is_failed)
        code = pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory");
    if (code == PAWL_OK)
        code = pawl__sqlite_exists(db, "table", table, &exists, error);
    if (code == PAWL_OK && exists)
        code = pawl__sqlite_column_type(db, table, step->name, type, error);
    if (code == PAWL_OK && exists && type[0] == '\0')
        code = pawl__sqlite_execute(db, text.data, error);
    pawl__sql_text_free(&name);
    pawl__sql_text_free(&text);
    return code;
}

static pawl_code run_steps(pawl__sqlite *store, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_step_count; i++)
        if (pawl__sql_steps[i].table != NULL) /* the script does the others */
            code = run_step(store, &pawl__sql_steps[i], error);
    return code;
}

static pawl_code raise_version(pawl__sqlite *store, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_raise_version(&text, &pawl__sqlite_dialect, store->connection.prefix);
    pawl_code code = text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "sqlite: out of memory")
                                    : pawl__sqlite_execute(store->connection.db, text.data, error);
    pawl__sql_text_free(&text);
    return code;
}

static pawl_code make_all(pawl__sqlite *store, const pawl_saga_table *const *tables,
                          size_t table_count, pawl_error *error)
{
    sqlite3  *db = store->connection.db;
    int64_t   version;
    pawl_code code = read_version(store, &version, error);
    if (code == PAWL_OK)
        code = check_version(store, version, error);
    for (size_t i = 0; code == PAWL_OK && i < table_count; i++) {
        saga_state state;
        code = look_at_saga(db, tables[i], &state, error);
        if (code == PAWL_OK)
            code = add_columns(db, tables[i], &state, error);
    }
    if (code == PAWL_OK)
        code = run_steps(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_create(&pawl__sqlite_dialect, store->connection.prefix, tables,
                                table_count, run_statement, db, error);
    return code == PAWL_OK ? raise_version(store, error) : code;
}

static pawl_code make_at_once(pawl__sqlite *store, const pawl_saga_table *const *tables,
                              size_t table_count, pawl_error *error)
{
    pawl_code code = pawl__sqlite_write_begin(store, error);
    if (code == PAWL_OK) {
        code = make_all(store, tables, table_count, error);
        code = pawl__sqlite_write_end(store, code, error);
    }
    return code;
}

pawl_code pawl__sqlite_schema_make(pawl__sqlite *store, const pawl_saga_table *const *tables,
                                   size_t table_count, pawl_error *error)
{
    /* Nothing to make, as a rule: then no lock is taken. */
    if (pawl__sqlite_schema_check(store, tables, table_count, NULL) == PAWL_OK)
        return PAWL_OK;
    return make_at_once(store, tables, table_count, error);
}

/* What a newer program made, this one would drop in part only. */
static pawl_code drop_all(pawl__sqlite *store, const pawl_schema_spec *spec, pawl_error *error)
{
    int64_t   version;
    pawl_code code = pawl__sqlite_write_begin(store, error);
    if (code == PAWL_OK) {
        code = read_version(store, &version, error);
        if (code == PAWL_OK)
            code = check_version(store, version, error);
        if (code == PAWL_OK)
            code = pawl__sql_drop(&pawl__sqlite_dialect, store->connection.prefix, spec->tables,
                                  spec->table_count, run_statement, store->connection.db, error);
        code = pawl__sqlite_write_end(store, code, error);
    }
    return code;
}

/* Makes whatever verify misses, which is more than a look at the version tells. */
static pawl_code apply(pawl__sqlite *store, const pawl_schema_spec *spec, pawl_error *error)
{
    pawl_code code = pawl__sqlite_connect(store, true, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_use_wal(store, error);
    if (code == PAWL_OK)
        code = make_at_once(store, spec->tables, spec->table_count, error);
    return code;
}

static pawl_code verify(pawl__sqlite *store, const pawl_schema_spec *spec, pawl_line_fn *line,
                        void *context, pawl_error *error)
{
    size_t    count   = 0;
    int64_t   version = 0;
    pawl_code code    = pawl__sqlite_connect(store, false, error);
    if (code == PAWL_OK)
        code = read_version(store, &version, error);
    if (code == PAWL_OK)
        code = check_version(store, version, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_verify(store, spec, version, line, context, &count, error);
    if (code == PAWL_OK && count != 0)
        code =
            pawl_error_set(error, PAWL_ESCHEMA, "sqlite: %s: the schema has %zu difference%s; %s%s",
                           store->given_path, count, count == 1 ? "" : "s", advice_of(store).text,
                           spec->table_count != 0 ? " --app APP" : "");
    return code;
}

pawl_code pawl__sqlite_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                              pawl_line_fn *line, void *context, pawl_error *error)
{
    const char *prefix = spec->system_prefix != NULL ? spec->system_prefix : "pawl_";
    if (prefix[0] != '\0') {
        pawl_code code = pawl__sql_name_check(pawl_text_of(prefix), "the system prefix",
                                              PAWL_PREFIX_SIZE_MAX, error);
        if (code != PAWL_OK)
            return code;
    }
    if (verb == PAWL_SCHEMA_PRINT)
        return pawl__sql_print(&pawl__sqlite_dialect, prefix, spec, line, context, error);

    pawl__sqlite *store      = pawl__sqlite_of(base);
    store->connection.prefix = prefix;
    switch (verb) {
    case PAWL_SCHEMA_APPLY: return apply(store, spec, error);
    case PAWL_SCHEMA_VERIFY: return verify(store, spec, line, context, error);
    case PAWL_SCHEMA_DROP: {
        pawl_code code = pawl__sqlite_connect(store, false, error);
        return code == PAWL_OK ? drop_all(store, spec, error) : code;
    }
    case PAWL_SCHEMA_PRINT: break;
    }
    return pawl_error_set(error, PAWL_EINVAL, "schema verb %d is unknown", (int)verb);
}
