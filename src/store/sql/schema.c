/* schema.c - the commands on a schema (apply, verify, plan, drop, print), and the check when a store is opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "store/core/core.h"
#include "store/core/refusal.h"
#include "store/sql/saga_text.h"
#include "store/sql/steps.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_MS 500 /* lock timeout of the first try */

static pawl_code no_memory(const pawl__sql_schema *schema, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory", schema->dialect->name);
}

static pawl__sql_advice advice_of(const pawl__sql_schema *schema)
{
    return pawl__sql_advise(schema->scheme, schema->given, schema->prefix);
}

/* ---- Names -------------------------------------------------------------- */

static pawl_code check_names(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                             pawl_error *error)
{
    pawl_code code = pawl__sql_prefix_check(schema->dialect, schema->prefix, error);
    if (code == PAWL_OK)
        code = pawl__sql_sagas_check(schema->dialect, schema->prefix, spec->tables,
                                     spec->table_count, error);
    return code;
}

/* ---- Reading ------------------------------------------------------------ */

/* The schema as one operation found it. */
typedef struct schema_state {
    const pawl__sql_schema       *schema;
    const pawl_saga_table *const *sagas;
    size_t                        saga_count;
    pawl_arena                   *arena;
    pawl_error                   *error;
    pawl__sql_catalog             catalog;
    bool                          is_purge;
    int                           ahead;   /* the schema may be newer by so many versions */
    int64_t                       version; /* 0 when there is no such table or row */
    pawl__sql_emit_fn            *emit;    /* runs or prints a statement; NULL: only reads */
    void                         *context;
} schema_state;

static schema_state state_of(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                             pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    return (schema_state){.schema     = schema,
                          .sagas      = spec->tables,
                          .saga_count = spec->table_count,
                          .is_purge   = spec->is_purge,
                          .error      = error,
                          .emit       = emit,
                          .context    = context};
}

static pawl_text shared_name(const schema_state *l, const char *table)
{
    return pawl_arena_printf(l->arena, "%s%s", l->schema->prefix, table);
}

/* Reads the catalog: the saga tables, and all shared tables; without `has_shared` only the table of the version. */
static pawl_code read_catalog(schema_state *l, bool has_shared)
{
    size_t     count = 0;
    pawl_text *names =
        pawl_arena_take(l->arena, (pawl__sql_table_count + l->saga_count) * sizeof *names);
    if (names == NULL)
        return no_memory(l->schema, l->error);
    for (size_t i = 0; i < pawl__sql_table_count; i++) {
        if (!has_shared && strcmp(pawl__sql_tables[i].name, "schema") != 0)
            continue;
        if ((names[count] = shared_name(l, pawl__sql_tables[i].name)).data == NULL)
            return no_memory(l->schema, l->error);
        count++;
    }
    for (size_t i = 0; i < l->saga_count; i++)
        names[count++] = l->sagas[i]->name;
    return pawl__sql_catalog_read(l->schema, names, count, l->arena, &l->catalog, l->error);
}

/* Reads the table only if the catalog has it, since a failed statement may end the transaction. */
static pawl_code read_version(schema_state *l)
{
    const pawl__sql_asked asked = {PAWL__SQL_VERSION_GET, NULL, NULL, &pawl__one_int,
                                   sizeof l->version};
    pawl_found            rows;
    pawl_text             table = shared_name(l, "schema");
    if (table.data == NULL)
        return no_memory(l->schema, l->error);
    if (!pawl__sql_has_table(&l->catalog, table))
        return PAWL_OK;
    pawl_code code = pawl__sql_read(l->schema->store, &asked, l->arena, &rows, l->error);
    if (code == PAWL_OK && rows.count != 0)
        l->version = *(const int64_t *)rows.items;
    return code;
}

static pawl_code check_version(const schema_state *l)
{
    if (l->version <= PAWL__SQL_SCHEMA_VERSION + l->ahead)
        return PAWL_OK;
    return pawl_error_set(l->error, PAWL_ESCHEMA,
                          "%s: %s: " PAWL__SCHEMA_HAS_VERSION
                          "%lld, this program knows version %d: a "
                          "newer pawl made it; programs of version %lld and newer work on it, and "
                          "its own command makes, verifies and drops its tables",
                          l->schema->dialect->name, l->schema->given, (long long)l->version,
                          PAWL__SQL_SCHEMA_VERSION, (long long)l->version - PAWL__SQL_AHEAD);
}

static pawl_code read_state(schema_state *l, bool has_shared)
{
    l->arena       = pawl_arena_create(0);
    pawl_code code = l->arena != NULL ? PAWL_OK : no_memory(l->schema, l->error);
    if (code == PAWL_OK)
        code = read_catalog(l, has_shared);
    if (code == PAWL_OK)
        code = read_version(l);
    return code == PAWL_OK ? check_version(l) : code;
}

/* ---- Saga tables -------------------------------------------------------- */

typedef struct found_correlation {
    const pawl__sql_found_column *column; /* NULL: missing */
    bool                          has_index;
} found_correlation;

static pawl_code find_correlation(const schema_state *l, const pawl_saga_table *saga,
                                  const pawl_correlation *correlation, found_correlation *found)
{
    pawl__sql_text column = {0}, index = {0};
    pawl__sql_correlation_column(&column, l->schema->dialect, correlation);
    pawl__sql_correlation_index(&index, l->schema->dialect, saga, correlation);
    pawl_code code = column.is_failed || index.is_failed ? no_memory(l->schema, l->error) : PAWL_OK;
    *found         = (found_correlation){0};
    if (code == PAWL_OK) {
        const pawl__sql_found_index *there =
            pawl__sql_find_index(&l->catalog, saga->name, pawl__sql_text_of(&index));
        found->column = pawl__sql_find_column(&l->catalog, saga->name, pawl__sql_text_of(&column));
        found->has_index = there != NULL && there->is_unique && there->is_valid;
    }
    pawl__sql_text_free(&column);
    pawl__sql_text_free(&index);
    return code;
}

/* Refuses a column of another type; the error says how many sagas the table has. */
static pawl_code refuse_type(const schema_state *l, const pawl_saga_table *saga,
                             const pawl_correlation *correlation, const char *expected,
                             pawl_text found)
{
    int64_t                  count = 0;
    pawl__sql_text           text  = {0};
    const pawl__sql_dialect *names =
        l->schema->names != NULL ? l->schema->names : l->schema->dialect;
    pawl__sql_append(&text, "select count(*) from (select 1 as found from ");
    pawl__sql_append_table(&text, names, "", saga->name);
    pawl__sql_end_count(&text, l->schema->dialect);
    pawl_code code = text.is_failed
                         ? no_memory(l->schema, l->error)
                         : l->schema->ops->number(l->schema->store, text.data, &count, l->error);
    pawl__sql_text_free(&text);
    if (code != PAWL_OK)
        return code;
    return pawl_error_set(l->error, PAWL_ESCHEMA,
                          "table %.*s: column Correlation_%.*s: incorrect data type: expected %s, "
                          "found %.*s; nothing is converted; the table has %lld%s row%s",
                          PAWL_TEXT_ARGS(saga->name), PAWL_TEXT_ARGS(correlation->property),
                          expected, PAWL_TEXT_ARGS(found), (long long)count,
                          count >= PAWL__REACH_COUNT_MAX ? " or more" : "", count == 1 ? "" : "s");
}

/* A column of another type is an error (D28). */
static pawl_code check_type(const schema_state *l, const pawl_saga_table *saga,
                            const pawl_correlation *correlation)
{
    char              expected[PAWL__SQL_TYPE_NAME_SIZE];
    found_correlation found;
    pawl_code         code = find_correlation(l, saga, correlation, &found);
    pawl__sql_type    type = pawl__sql_correlation_type(correlation);
    pawl__sql_type_name(l->schema, type, expected);
    if (code == PAWL_OK && found.column != NULL &&
        pawl__sql_is_caseless(l->schema->dialect, type, found.column))
        return pawl_error_set(
            l->error, PAWL_ESCHEMA,
            "table %.*s: column Correlation_%.*s: its collation %.*s takes 'A' and "
            "'a' for equal, and sagas would be mixed; %s is needed",
            PAWL_TEXT_ARGS(saga->name), PAWL_TEXT_ARGS(correlation->property),
            PAWL_TEXT_ARGS(found.column->collation), l->schema->dialect->collation);
    if (code != PAWL_OK || found.column == NULL || pawl__sql_is_type(found.column, expected) ||
        pawl__sql_is_old_type(l->schema->dialect, type, found.column))
        return code;
    return refuse_type(l, saga, correlation, expected, found.column->type);
}

/* Refuses a table that has the saga's name but was not made by pawl, before sagas fail in it. */
static pawl_code check_columns(const schema_state *l, const pawl_saga_table *saga)
{
    if (!pawl__sql_has_table(&l->catalog, saga->name))
        return PAWL_OK;
    for (size_t i = 0; i < pawl__sql_saga_column_count; i++) {
        const char *name = pawl__sql_saga_columns[i].name;
        if (pawl__sql_find_column(&l->catalog, saga->name, pawl_text_of(name)) == NULL)
            return pawl_error_set(l->error, PAWL_ESCHEMA,
                                  "table %.*s: it is there without the column %s, which every saga "
                                  "table has: name the saga's table otherwise, or move that one",
                                  PAWL_TEXT_ARGS(saga->name), name);
    }
    return PAWL_OK;
}

static pawl_code check_types(const schema_state *l)
{
    const pawl_correlation *list[2];
    pawl_code               code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < l->saga_count; i++) {
        size_t count = pawl__sql_correlations(l->sagas[i], list);
        code         = check_columns(l, l->sagas[i]);
        for (size_t c = 0; code == PAWL_OK && c < count; c++)
            code = check_type(l, l->sagas[i], list[c]);
    }
    return code;
}

/* The catalog of MySQL and others lists no table on which the user has no right. A statement on the table tells a
 * denied one from a missing one. */
static bool is_denied(const schema_state *l, int statement, const pawl_saga_table *saga)
{
    const pawl__saga_change item  = {.table = saga};
    const pawl__sql_asked   asked = {statement, NULL, &item, &pawl__one_int, sizeof(int64_t)};
    pawl_found              rows;
    return pawl__sql_read(l->schema->store, &asked, l->arena, &rows, l->error) == PAWL_EDENIED;
}

static pawl_code check_saga(const schema_state *l, const pawl_saga_table *saga)
{
    const pawl_correlation *list[2];
    size_t                  count    = pawl__sql_correlations(saga, list);
    bool                    is_there = pawl__sql_has_table(&l->catalog, saga->name);
    bool                    is_whole = is_there;
    for (size_t i = 0; i < count; i++) {
        found_correlation found;
        pawl_code         code = find_correlation(l, saga, list[i], &found);
        if (code != PAWL_OK)
            return code;
        is_whole = is_whole && found.column != NULL && found.has_index;
    }
    if (is_whole)
        return PAWL_OK;
    if (!is_there && is_denied(l, PAWL__SQL_ON_SAGA + PAWL__SQL_SAGA_COUNT, saga))
        return PAWL_EDENIED;
    return pawl_error_set(l->error, PAWL_ESCHEMA,
                          "%s: %s: saga table %.*s is missing or incomplete; %s --app APP",
                          l->schema->dialect->name, l->schema->given, PAWL_TEXT_ARGS(saga->name),
                          advice_of(l->schema).text);
}

/* ---- The check at open -------------------------------------------------- */

/* Version 0: there are no tables, or half of them. */
static pawl_code too_old(const schema_state *l)
{
    const pawl__sql_schema *schema = l->schema;
    if (l->version > 0)
        return pawl_error_set(l->error, PAWL_ESCHEMA,
                              "%s: %s: " PAWL__SCHEMA_HAS_VERSION
                              "%lld, this program needs version %d; "
                              "%s",
                              schema->dialect->name, schema->given, (long long)l->version,
                              PAWL__SQL_SCHEMA_VERSION, advice_of(schema).text);
    if (is_denied(l, PAWL__SQL_VERSION_GET, NULL))
        return PAWL_EDENIED;
    return pawl_error_set(
        l->error, PAWL_ESCHEMA, "%s: %s: table %s%s%sschema is missing or incomplete; %s",
        schema->dialect->name, schema->given, schema->within != NULL ? schema->within : "",
        schema->within != NULL ? "." : "", schema->prefix, advice_of(schema).text);
}

pawl_code pawl__sql_schema_check(const pawl__sql_schema       *schema,
                                 const pawl_saga_table *const *sagas, size_t saga_count,
                                 pawl_error *error)
{
    const pawl_schema_spec spec = {.tables = sagas, .table_count = saga_count};
    schema_state           l    = state_of(schema, &spec, NULL, NULL, error);
    l.ahead                     = PAWL__SQL_AHEAD;
    pawl_code code              = check_names(schema, &spec, error);
    if (code == PAWL_OK)
        code = read_state(&l, false);
    if (code == PAWL_OK && l.version < PAWL__SQL_SCHEMA_VERSION)
        code = too_old(&l);
    if (code == PAWL_OK)
        code = check_types(&l);
    for (size_t i = 0; code == PAWL_OK && i < saga_count; i++)
        code = check_saga(&l, sagas[i]);
    if (code == PAWL_OK)
        code = pawl__sql_check_reach(schema, &l.catalog, sagas, saga_count, error);
    pawl_arena_destroy(l.arena);
    return code;
}

/* ---- Making ------------------------------------------------------------- */

static pawl_code run_statement(const char *statement, void *context, pawl_error *error)
{
    const pawl__sql_schema *schema = context;
    return schema->ops->execute(schema->store, statement, error);
}

pawl_code pawl__sql_emit_text(const pawl__sql_schema *schema, pawl_text table, pawl__sql_text *text,
                              pawl__sql_emit_fn *emit, void *context, pawl_error *error)
{
    pawl_code code = text->is_failed ? no_memory(schema, error) : emit(text->data, context, error);
    pawl__sql_text_free(text);
    return code == PAWL_OK ? code
                           : pawl_error_wrap(error, code, "table %.*s", PAWL_TEXT_ARGS(table));
}

static pawl_code add_saga_columns(const schema_state *l, const pawl_saga_table *saga)
{
    const pawl_correlation *list[2];
    size_t                  count = pawl__sql_correlations(saga, list);
    pawl_code               code  = PAWL_OK;
    if (!pawl__sql_has_table(&l->catalog, saga->name))
        return PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        found_correlation found;
        pawl__sql_text    text = {0};
        code                   = find_correlation(l, saga, list[i], &found);
        if (code != PAWL_OK || found.column != NULL)
            continue;
        pawl__sql_add_saga_column(&text, l->schema->dialect, saga, list[i]);
        code = pawl__sql_emit_text(l->schema, saga->name, &text, l->emit, l->context, l->error);
    }
    return code;
}

/* Adds a column that a table of an earlier version lacks; the script makes missing tables with all columns. */
static pawl_code run_step(const schema_state *l, const pawl__sql_step *step)
{
    pawl__sql_text text  = {0};
    pawl_text      table = shared_name(l, step->table);
    if (table.data == NULL)
        return no_memory(l->schema, l->error);
    if (!pawl__sql_has_table(&l->catalog, table) ||
        pawl__sql_find_column(&l->catalog, table, pawl_text_of(step->name)) != NULL)
        return PAWL_OK;
    pawl__sql_run_step(&text, l->schema->dialect, l->schema->prefix, step);
    return pawl__sql_emit_text(l->schema, table, &text, l->emit, l->context, l->error);
}

/* For databases without "add column if not exists": adds missing columns to existing tables, which the script leaves
 * as they are. */
static pawl_code add_columns(const schema_state *l)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < l->saga_count; i++)
        code = add_saga_columns(l, l->sagas[i]);
    for (size_t i = 0; code == PAWL_OK && i < pawl__sql_step_count; i++)
        if (pawl__sql_steps[i].table != NULL) /* the script does the others */
            code = run_step(l, &pawl__sql_steps[i]);
    return code;
}

static pawl_code make_all(schema_state *l)
{
    const pawl__sql_schema *schema = l->schema;
    const pawl__sql_script  script = {.dialect        = schema->dialect,
                                      .prefix         = schema->prefix,
                                      .sagas          = l->sagas,
                                      .saga_count     = l->saga_count,
                                      .leaves_version = true};
    pawl_code               code   = read_state(l, true);
    if (code == PAWL_OK)
        code = check_types(l);
    if (code == PAWL_OK)
        code = pawl__sql_check_reach(schema, &l->catalog, l->sagas, l->saga_count, l->error);
    if (code == PAWL_OK && schema->ops->prepare != NULL)
        code = schema->ops->prepare(schema->store, l->emit, l->context, l->error);
    if (code == PAWL_OK && !schema->dialect->adds_columns)
        code = add_columns(l);
    if (code == PAWL_OK)
        code = pawl__sql_run_script(&script, l->emit, NULL, l->context, l->error);
    if (code == PAWL_OK && schema->dialect->indexes_inside)
        code = pawl__sql_mend_indexes(schema, &l->catalog, l->emit, l->context, l->error);
    if (code == PAWL_OK && l->is_purge)
        code = pawl__sql_purge(schema, &l->catalog, l->sagas, l->saga_count, l->emit, l->context,
                               l->error);
    /* Last, so that no program opens unfinished tables where each statement commits by itself. */
    if (code == PAWL_OK)
        code = pawl__sql_run_version(&script, l->emit, l->context, l->error);
    return code;
}

/* `*has_begun`: the lock against other schema changes was taken; if not, waiting for it took the whole deadline. */
static pawl_code make_once(const schema_state *asked, int64_t patience_ms, bool *has_begun)
{
    schema_state l    = *asked;
    pawl_code    code = l.schema->ops->begin(l.schema->store, l.error);
    *has_begun        = code == PAWL_OK;
    if (code != PAWL_OK)
        return code;
    if (l.schema->ops->limit_waits != NULL)
        code = l.schema->ops->limit_waits(l.schema, patience_ms, l.error);
    if (code == PAWL_OK)
        code = make_all(&l);
    code = l.schema->ops->end(l.schema->store, code, l.error);
    pawl_arena_destroy(l.arena);
    return code;
}

static pawl_code make_alone(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                            pawl_error *error)
{
    const schema_state asked     = state_of(schema, spec, run_statement, (void *)schema, error);
    bool               has_begun = false;
    int64_t            ms        = PATIENCE_MS / 2;
    pawl_code          code;
    do { /* 3 * ms have passed at most; the pause and the next try take as long again */
        ms *= 2;
        code = make_once(&asked, ms, &has_begun);
    } while (code == PAWL_EBUSY && has_begun && schema->ops->rest != NULL &&
             ms < schema->store->deadline_ms / 6 &&
             schema->ops->rest(schema, ms, error) == PAWL_OK);
    if (code != PAWL_EBUSY || !has_begun || schema->ops->rest == NULL)
        return code;
    return pawl_error_wrap(
        error, code,
        "%s: %s: programs at work, or another session (a dump, an open transaction: `pawl "
        "doctor` names it), keep tables in use, %s; try again when no handler takes long, or with a "
        "longer deadline",
        schema->dialect->name, schema->given,
        schema->dialect->indexes_inside ? "what was made stays" : "nothing was changed");
}

pawl_code pawl__sql_schema_make(const pawl__sql_schema *schema, const pawl_saga_table *const *sagas,
                                size_t saga_count, pawl_error *error)
{
    if (pawl__sql_schema_check(schema, sagas, saga_count, NULL) == PAWL_OK)
        return PAWL_OK;
    pawl_schema_spec spec = {.tables = sagas, .table_count = saga_count};
    pawl_code        code = check_names(schema, &spec, error);
    return code == PAWL_OK ? make_alone(schema, &spec, error) : code;
}

/* ---- The verbs ---------------------------------------------------------- */

typedef struct differences {
    size_t count, left;
    bool   has_relic;
    bool   has_obsolete;
} differences;

static pawl_code compare(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                         pawl_line_fn *line, void *context, differences *found, pawl_error *error)
{
    schema_state       l    = state_of(schema, spec, NULL, NULL, error);
    pawl__sql_verifier v    = {.schema = schema, .line = line, .context = context, .error = error};
    pawl_code          code = read_state(&l, true);
    /* A plan without purge does not mention obsolete columns. */
    v.says_obsolete = spec->is_purge || line != pawl__sql_plan_note;
    v.arena         = l.arena;
    v.catalog       = l.catalog;
    if (code == PAWL_OK)
        code = pawl__sql_verify(&v, spec, l.version);
    if (code == PAWL_OK && schema->ops->verify_own != NULL)
        code = schema->ops->verify_own(&v);
    *found = (differences){v.count, v.left, v.has_relic, v.has_obsolete};
    pawl_arena_destroy(l.arena);
    return code;
}

static pawl_code verify(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error)
{
    differences found;
    pawl_code   code = compare(schema, spec, line, context, &found, error);
    if (code != PAWL_OK || found.count == 0)
        return code;
    const char *application = spec->application != NULL ? spec->application : "APP";
    bool        is_named    = spec->table_count != 0;
    const char *these       = found.count == 1 ? "" : "s";
    char        left[80]    = "";
    if (found.left == found.count)
        return pawl_error_set(error, PAWL_ESCHEMA,
                              "%s: %s: the schema has %zu difference%s " PAWL__SCHEMA_LEFT,
                              schema->dialect->name, schema->given, found.count, these);
    if (found.left != 0)
        (void)snprintf(left, sizeof left, " (%zu of them %s to be changed by SQL)", found.left,
                       found.left == 1 ? "has" : "have");
    return pawl_error_set(error, PAWL_ESCHEMA, "%s: %s: the schema has %zu difference%s; %s%s%s%s",
                          schema->dialect->name, schema->given, found.count, these,
                          advice_of(schema).text, is_named ? " --app " : "",
                          is_named ? application : "", left);
}

static bool has_work(const pawl_schema_spec *spec, const differences *found)
{
    return found->count != 0 || found->has_relic || (spec->is_purge && found->has_obsolete);
}

static void keep_first(pawl_text line, void *context)
{
    pawl_error *first = context;
    if (first->text[0] == '\0')
        pawl_error_set(first, PAWL_ESCHEMA, "%.*s", PAWL_TEXT_ARGS(line));
}

/* Makes everything that verify misses; the version alone does not show all of it. Usually nothing is missing, and no
 * table is locked. Existing columns, keys and indexes are not changed: if they differ, the error says so. */
static pawl_code apply(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                       pawl_error *error)
{
    differences found;
    pawl_error  first = PAWL_ERROR_INIT;
    pawl_code   code  = compare(schema, spec, NULL, NULL, &found, error);
    if (code != PAWL_OK || !has_work(spec, &found))
        return code;
    code = make_alone(schema, spec, error);
    if (code == PAWL_OK)
        code = compare(schema, spec, keep_first, &first, &found, error);
    if (code != PAWL_OK || found.count == 0)
        return code;
    return pawl_error_set(
        error, PAWL_ESCHEMA,
        "%s: %s: what was missing is made; %zu difference%s left that `pawl schema "
        "apply` does not change, and `pawl schema verify` lists: %s",
        schema->dialect->name, schema->given, found.count, found.count == 1 ? " is" : "s are",
        first.text);
}

/* Takes no lock, and waits for none. */
static pawl_code plan(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                      pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_plan said = {schema->dialect, line, context, false};
    differences    found;
    schema_state   l    = state_of(schema, spec, pawl__sql_plan_statement, &said, error);
    pawl_code      code = compare(schema, spec, pawl__sql_plan_note, &said, &found, error);
    if (code == PAWL_OK && has_work(spec, &found))
        code = make_all(&l);
    if (code == PAWL_OK)
        pawl__sql_plan_end(&said);
    pawl_arena_destroy(l.arena);
    return code;
}

/* Refuses the schema of a newer program (read_state), of which it would drop only a part. */
static pawl_code drop(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                      pawl_error *error)
{
    const pawl__sql_script script = {.dialect    = schema->dialect,
                                     .prefix     = schema->prefix,
                                     .sagas      = spec->tables,
                                     .saga_count = spec->table_count,
                                     .is_drop    = true};
    schema_state           l      = {.schema = schema, .error = error};
    pawl_code              code   = schema->ops->begin(schema->store, error);
    if (code != PAWL_OK)
        return code;
    code = read_state(&l, false);
    if (code == PAWL_OK)
        code = pawl__sql_run_script(&script, run_statement, NULL, (void *)schema, error);
    pawl_arena_destroy(l.arena);
    return schema->ops->end(schema->store, code, error);
}

pawl_code pawl__sql_schema_run(const pawl__sql_schema *schema, pawl_schema_verb verb,
                               const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                               pawl_error *error)
{
    pawl_code code = check_names(schema, spec, error);
    if (code == PAWL_OK && verb == PAWL_SCHEMA_PRINT)
        return pawl__sql_print(schema->dialect, schema->prefix, spec, line, context, error);
    if (code == PAWL_OK)
        code = schema->ops->connect(schema->store, verb, error);
    if (code != PAWL_OK)
        return code;
    switch (verb) {
    case PAWL_SCHEMA_APPLY: return apply(schema, spec, error);
    case PAWL_SCHEMA_VERIFY: return verify(schema, spec, line, context, error);
    case PAWL_SCHEMA_DROP: return drop(schema, spec, error);
    case PAWL_SCHEMA_PLAN: return plan(schema, spec, line, context, error);
    case PAWL_SCHEMA_PRINT: break;
    }
    return pawl_error_set(error, PAWL_EINVAL, "schema verb %d is unknown", (int)verb);
}
