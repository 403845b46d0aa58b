/* schema.c - the short check of the tables at open; print, apply, verify, drop.
 *
 * What is made is made in one transaction that a lock keeps alone: a second
 * process waits for it and then finds it done, and a half-made schema is never
 * seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/schema.h"

#include <stdio.h>
#include <string.h>

/* ---- Names -------------------------------------------------------------- */

pawl_code pawl__pg_prefix_check(const char *prefix, pawl_error *error)
{
    if (prefix[0] == '\0')
        return PAWL_OK;
    return pawl__sql_name_check(pawl_text_of(prefix), "postgres: the system prefix",
                                PAWL__PG_PREFIX_SIZE_MAX, error);
}

static pawl_code check_size(const char *what, size_t size, pawl_error *error)
{
    if (size <= PAWL__PG_NAME_SIZE_MAX)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL, "%s has %zu bytes, limit %d: PostgreSQL would cut it",
                          what, size, PAWL__PG_NAME_SIZE_MAX);
}

pawl_code pawl__pg_saga_check(const pawl_saga_table *table, pawl_error *error)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(table, list);
    char                    what[PAWL__SQL_TABLE_NAME_SIZE_MAX + 80];
    pawl_code               code = pawl__sql_saga_check(table, error);
    if (code != PAWL_OK)
        return code;
    (void)snprintf(what, sizeof what, "table %.*s: its name", PAWL_TEXT_ARGS(table->name));
    code = check_size(what, table->name.size, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        (void)snprintf(what, sizeof what, "column Correlation_%.*s: its name",
                       PAWL_TEXT_ARGS(list[i]->property));
        code = check_size(what, strlen("Correlation_") + list[i]->property.size, error);
    }
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "saga %.*s", PAWL_TEXT_ARGS(table->type));
    return PAWL_OK;
}

/* ---- Saga tables -------------------------------------------------------- */

/* What is there of a correlation column; of the table alone when it has none. */
typedef struct saga_state {
    const pawl_saga_table  *table;
    const pawl_correlation *correlation; /* NULL: the table has none */
    bool                    is_there;    /* the table */
    char                    type[48];    /* of the column, empty: missing */
    bool                    has_index;
} saga_state;

typedef struct saga_look {
    pawl_arena      *arena;
    saga_state      *states;
    size_t           count;
    pawl__pg_request request;
} saga_look;

static bool list_states(saga_look *look, const pawl_saga_table *const *tables, size_t table_count)
{
    const pawl_correlation *list[2];
    look->count  = 0;
    look->states = pawl_arena_take(look->arena, (2 * table_count + 1) * sizeof *look->states);
    for (size_t i = 0; look->states != NULL && i < table_count; i++) {
        size_t count = pawl__sql_correlations(tables[i], list);
        for (size_t c = 0; c < count || c == 0; c++)
            look->states[look->count++] =
                (saga_state){.table = tables[i], .correlation = count != 0 ? list[c] : NULL};
    }
    return look->states != NULL;
}

/* The arrays of the statement: tables, columns, indexes. */
static pawl_code put_states(saga_look *look, pawl_error *error)
{
    size_t         count = look->count;
    pawl_text     *names = pawl_arena_take(look->arena, (3 * count + 1) * sizeof *names);
    pawl__sql_text text  = {0};
    bool           is_ok = names != NULL;
    for (size_t i = 0; is_ok && i < count; i++) {
        const saga_state *state = &look->states[i];
        names[i]                = state->table->name;
        if (state->correlation == NULL)
            continue;
        pawl__sql_text_clear(&text);
        pawl__sql_correlation_column(&text, state->correlation);
        names[count + i] =
            pawl_arena_text(look->arena, (pawl_text){.data = text.data, .size = text.size});
        pawl__sql_text_clear(&text);
        pawl__sql_correlation_index(&text, &pawl__pg_dialect, state->table, state->correlation);
        names[2 * count + i] =
            pawl_arena_text(look->arena, (pawl_text){.data = text.data, .size = text.size});
        is_ok =
            !text.is_failed && names[count + i].data != NULL && names[2 * count + i].data != NULL;
    }
    pawl__sql_text_free(&text);
    for (size_t i = 0; is_ok && i < 3; i++)
        pawl__pg_put_texts(&look->request, names + i * count, count);
    return is_ok ? PAWL_OK : pawl__pg_no_memory(error);
}

/* Sends the question; the answer comes with a flush. */
static pawl_code ask_sagas(pawl__pg *store, const pawl_saga_table *const *tables,
                           size_t table_count, saga_look *look, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *look          = (saga_look){.arena = pawl_arena_create(0)};
    for (size_t i = 0; code == PAWL_OK && i < table_count; i++)
        code = pawl__pg_saga_check(tables[i], error);
    if (code == PAWL_OK && (look->arena == NULL || !list_states(look, tables, table_count)))
        code = pawl__pg_no_memory(error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_begin(&look->request, &store->main, PAWL__PG_SCHEMA_SAGAS, error);
    pawl__pg_put_text(&look->request, pawl_text_of(store->schema));
    code = put_states(look, error);
    if (code == PAWL_OK)
        pawl__pg_send(&look->request);
    return code;
}

static pawl_code check_type(const saga_state *state, pawl_error *error)
{
    const char *expected =
        state->correlation == NULL
            ? ""
            : pawl__pg_type_name(pawl__sql_correlation_type(state->correlation->type));
    if (state->correlation == NULL || state->type[0] == '\0' || strcmp(state->type, expected) == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "table %.*s: column Correlation_%.*s: incorrect data type: expected %s, "
                          "found %s; nothing is converted",
                          PAWL_TEXT_ARGS(state->table->name),
                          PAWL_TEXT_ARGS(state->correlation->property), expected, state->type);
}

/* A column of another type is an error (D28). */
static pawl_code take_sagas(saga_look *look, pawl_error *error)
{
    while (pawl__pg_next(&look->request)) {
        int64_t number = pawl__pg_get_int(&look->request);
        if (number < 1 || (uint64_t)number > look->count)
            continue;
        saga_state *state = &look->states[number - 1];
        state->is_there   = pawl__pg_get_bool(&look->request);
        pawl_text type    = pawl__pg_peek_text(&look->request);
        (void)snprintf(state->type, sizeof state->type, "%.*s", PAWL_TEXT_ARGS(type));
        state->has_index = pawl__pg_get_bool(&look->request);
    }
    pawl_code code = look->request.code;
    for (size_t i = 0; code == PAWL_OK && i < look->count; i++)
        code = check_type(&look->states[i], error);
    return code;
}

static void end_look(saga_look *look)
{
    pawl__pg_end(&look->request);
    pawl_arena_destroy(look->arena);
}

/* ---- The version -------------------------------------------------------- */

static pawl_code check_version(const pawl__pg *store, int64_t version, pawl_error *error)
{
    if (version <= PAWL__SQL_SCHEMA_VERSION)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ESCHEMA,
                          "postgres: %s: its schema has version %lld, this program knows version "
                          "%d: a newer pawl made it",
                          store->given, (long long)version, PAWL__SQL_SCHEMA_VERSION);
}

/* Asked in two steps: a statement that fails would end the transaction. */
pawl_code pawl__pg_version(pawl__pg *store, int64_t *version, pawl_error *error)
{
    pawl__pg_request request;
    char             name[PAWL_PREFIX_SIZE_MAX + sizeof "schema"];
    int64_t          count = 0;
    *version               = 0;
    int size               = snprintf(name, sizeof name, "%sschema", store->sql.base.system_prefix);
    pawl__pg_begin(&request, &store->main, PAWL__PG_SCHEMA_TABLE_KNOWN, error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl__pg_put_text(&request, (pawl_text){.data = name, .size = (size_t)size});
    pawl_code code = pawl__pg_one_int(&request, &count);
    if (code != PAWL_OK || count == 0)
        return code;
    pawl__pg_begin(&request, &store->main, PAWL__SQL_VERSION_GET, error);
    code = pawl__pg_one_int(&request, version);
    return code == PAWL_OK ? check_version(store, *version, error) : code;
}

/* ---- The check at open -------------------------------------------------- */

static pawl__sql_advice advice_of(const pawl__pg *store)
{
    return pawl__sql_advise("", store->given, store->sql.base.system_prefix);
}

static pawl_code check_sagas(const pawl__pg *store, saga_look *look, pawl_error *error)
{
    pawl_code code = take_sagas(look, error);
    for (size_t i = 0; code == PAWL_OK && i < look->count; i++) {
        const saga_state *state = &look->states[i];
        if (state->is_there &&
            (state->correlation == NULL || (state->type[0] != '\0' && state->has_index)))
            continue;
        code =
            pawl_error_set(error, PAWL_ESCHEMA,
                           "postgres: %s: saga table %.*s is missing or incomplete; %s --app "
                           "APP",
                           store->given, PAWL_TEXT_ARGS(state->table->name), advice_of(store).text);
    }
    return code;
}

/* Version 0: there are no tables, or half of them. */
static pawl_code too_old(const pawl__pg *store, int64_t version, pawl_error *error)
{
    if (version > 0)
        return pawl_error_set(error, PAWL_ESCHEMA,
                              "postgres: %s: its schema has version %lld, this program needs "
                              "version %d; %s",
                              store->given, (long long)version, PAWL__SQL_SCHEMA_VERSION,
                              advice_of(store).text);
    return pawl_error_set(
        error, PAWL_ESCHEMA, "postgres: %s: table %s.%sschema is missing or incomplete; %s",
        store->given, store->schema, store->sql.base.system_prefix, advice_of(store).text);
}

/* One round trip: the version last, since without the tables it fails. */
static pawl_code check_all(pawl__pg *store, saga_look *look, pawl_error *error)
{
    pawl__pg_request request;
    int64_t          version = 0;
    pawl__pg_begin(&request, &store->main, PAWL__SQL_VERSION_GET, error);
    pawl__pg_send(&request);
    pawl_code code       = pawl__pg_await(&store->main, error);
    bool      is_missing = code == PAWL_ESCHEMA && look->request.code == PAWL_OK;
    if (code == PAWL_OK && pawl__pg_next(&request))
        version = pawl__pg_get_int(&request);
    pawl__pg_end(&request);
    if (code != PAWL_OK && !is_missing)
        return code;
    code = check_version(store, version, error);
    if (code == PAWL_OK && version < PAWL__SQL_SCHEMA_VERSION)
        code = too_old(store, version, error);
    return code == PAWL_OK ? check_sagas(store, look, error) : code;
}

pawl_code pawl__pg_schema_check(pawl__pg *store, const pawl_saga_table *const *tables,
                                size_t table_count, pawl_error *error)
{
    saga_look look = {0};
    pawl_code code = pawl__pg_prefix_check(store->sql.base.system_prefix, error);
    if (code == PAWL_OK)
        code = ask_sagas(store, tables, table_count, &look, error);
    if (code == PAWL_OK)
        code = check_all(store, &look, error);
    end_look(&look);
    return code;
}

/* ---- Making ------------------------------------------------------------- */

static pawl_code run_statement(const char *statement, void *context, pawl_error *error)
{
    return pawl__pg_execute(context, statement, error);
}

static pawl_code begin_alone(pawl__pg *store, pawl_error *error)
{
    pawl__pg_begin_on(&store->main, error);
    return run_statement("select pg_advisory_xact_lock(1885435756)", &store->main, error);
}

static pawl_code end_alone(pawl__pg *store, pawl_code code, pawl_error *error)
{
    if (code == PAWL_OK) {
        code = run_statement("commit", &store->main, error);
        if (code == PAWL_OK)
            store->main.in_transaction = false;
    }
    pawl__pg_rollback_transaction(&store->main);
    return code;
}

/* Makes the database's schema when there is none of the name, and looks for
 * names there alone: the script has none in its names, printed or run. */
static pawl_code enter_schema(pawl__pg *store, pawl_error *error)
{
    pawl__pg_request request;
    pawl__sql_text   text  = {0};
    int64_t          count = 0;
    pawl__pg_begin(&request, &store->main, PAWL__PG_SCHEMA_KNOWN, error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    pawl_code code = pawl__pg_one_int(&request, &count);
    pawl__sql_append(&text, "create schema ");
    pawl__sql_append_name(&text, &store->main.dialect, "", pawl_text_of(store->schema));
    if (code == PAWL_OK && text.is_failed)
        code = pawl__pg_no_memory(error);
    if (code == PAWL_OK && count == 0)
        code = run_statement(text.data, &store->main, error);
    pawl__sql_text_free(&text);
    if (code != PAWL_OK)
        return code;
    pawl__pg_begin(&request, &store->main, PAWL__PG_SCHEMA_PATH, error);
    pawl__pg_put_text(&request, pawl_text_of(store->schema));
    code = pawl__pg_run(&request);
    pawl__pg_end(&request);
    return code;
}

/* A worker claims before it writes, and making an index locks table by table: the
 * two would end in a deadlock. So claims wait first. */
static pawl_code keep_workers_out(pawl__pg *store, pawl_error *error)
{
    static const char lock[] = "do $pawl$ begin lock table {queue} in exclusive mode; "
                               "exception when undefined_table then null; end $pawl$";
    pawl__sql_text    text   = {0};
    pawl__sql_expand(&text, &store->main.dialect, store->sql.base.system_prefix, lock);
    pawl_code code =
        text.is_failed ? pawl__pg_no_memory(error) : run_statement(text.data, &store->main, error);
    pawl__sql_text_free(&text);
    return code;
}

static pawl_code make_all(pawl__pg *store, const pawl_schema_spec *spec, pawl_error *error)
{
    saga_look look = {0};
    int64_t   version;
    pawl_code code = pawl__pg_version(store, &version, error);
    if (code == PAWL_OK)
        code = enter_schema(store, error);
    if (code == PAWL_OK)
        code = keep_workers_out(store, error);
    if (code == PAWL_OK)
        code = ask_sagas(store, spec->tables, spec->table_count, &look, error);
    if (code == PAWL_OK)
        code = pawl__pg_await(&store->main, error);
    if (code == PAWL_OK)
        code = take_sagas(&look, error);
    end_look(&look);
    if (code == PAWL_OK)
        code = pawl__sql_create(&pawl__pg_dialect, store->sql.base.system_prefix, spec->tables,
                                spec->table_count, run_statement, &store->main, error);
    return code;
}

/* Nothing to make, as a rule: then no table is locked. */
static pawl_code apply(pawl__pg *store, const pawl_schema_spec *spec, pawl_error *error)
{
    size_t    count     = 0;
    bool      has_relic = false;
    pawl_code code      = pawl__pg_verify(store, spec, NULL, NULL, &count, &has_relic, error);
    if (code != PAWL_OK || (count == 0 && !has_relic))
        return code;
    code = begin_alone(store, error);
    if (code == PAWL_OK)
        code = make_all(store, spec, error);
    return end_alone(store, code, error);
}

/* What a newer program made, this one would drop in part only. */
static pawl_code drop(pawl__pg *store, const pawl_schema_spec *spec, pawl_error *error)
{
    int64_t   version;
    pawl_code code = begin_alone(store, error);
    if (code == PAWL_OK)
        code = pawl__pg_version(store, &version, error);
    if (code == PAWL_OK)
        code = pawl__sql_drop(&store->main.dialect, store->sql.base.system_prefix, spec->tables,
                              spec->table_count, run_statement, &store->main, error);
    return end_alone(store, code, error);
}

static pawl_code verify(pawl__pg *store, const pawl_schema_spec *spec, pawl_line_fn *line,
                        void *context, pawl_error *error)
{
    size_t    count     = 0;
    bool      has_relic = false;
    pawl_code code      = pawl__pg_verify(store, spec, line, context, &count, &has_relic, error);
    if (code == PAWL_OK && count != 0)
        code = pawl_error_set(error, PAWL_ESCHEMA,
                              "postgres: %s: the schema has %zu difference%s; %s%s", store->given,
                              count, count == 1 ? "" : "s", advice_of(store).text,
                              spec->table_count != 0 ? " --app APP" : "");
    return code;
}

/* ---- The verbs ---------------------------------------------------------- */

static pawl_code check_sagas_of(const pawl_schema_spec *spec, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < spec->table_count; i++)
        code = pawl__pg_saga_check(spec->tables[i], error);
    return code;
}

pawl_code pawl__pg_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                          pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__pg   *store  = pawl__pg_of(base);
    const char *prefix = spec->system_prefix != NULL ? spec->system_prefix : "pawl_";
    pawl_code   code   = pawl__pg_prefix_check(prefix, error);
    if (code == PAWL_OK)
        code = check_sagas_of(spec, error);
    if (code == PAWL_OK && verb == PAWL_SCHEMA_PRINT)
        return pawl__sql_print(&pawl__pg_dialect, prefix, spec, line, context, error);
    if (code == PAWL_OK && store->main.pg == NULL)
        code = pawl__pg_connect(store, &store->main, error);
    if (code != PAWL_OK)
        return code;
    switch (verb) {
    case PAWL_SCHEMA_APPLY: return apply(store, spec, error);
    case PAWL_SCHEMA_VERIFY: return verify(store, spec, line, context, error);
    case PAWL_SCHEMA_DROP: return drop(store, spec, error);
    case PAWL_SCHEMA_PRINT: break;
    }
    return pawl_error_set(error, PAWL_EINVAL, "schema verb %d is unknown", (int)verb);
}
