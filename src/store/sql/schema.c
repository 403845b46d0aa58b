/* schema.c - the verbs of a schema, and the check at open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "store/core/core.h"
#include "store/core/reach.h"
#include "store/sql/saga_text.h"
#include "store/sql/steps.h"

#include <string.h>

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
        code = pawl__sql_sagas_check(schema->dialect, spec->tables, spec->table_count, error);
    return code;
}

/* ---- Reading ------------------------------------------------------------ */

/* The schema as one operation has found it. */
typedef struct schema_state {
    const pawl__sql_schema       *schema;
    const pawl_saga_table *const *sagas;
    size_t                        saga_count;
    pawl_arena                   *arena;
    pawl_error                   *error;
    pawl__sql_catalog             catalog;
    bool                          is_purge;
    int                           ahead;   /* versions by which the schema may be newer */
    int64_t                       version; /* 0 when there is no such table or row */
    pawl__sql_emit_fn            *emit;    /* runs a statement, or says it; NULL: none is written */
    void                         *context;
} schema_state;

static pawl_text shared_name(const schema_state *l, const char *table)
{
    return pawl_arena_printf(l->arena, "%s%s", l->schema->prefix, table);
}

/* The catalog of all tables; without the shared ones but that of the version. */
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

/* In two steps, the catalog first: a statement that fails may end a transaction. */
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

/* The refusal of a column of another type says how many sagas it would be about. */
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

static bool ends_in_bin(pawl_text collation)
{
    return collation.size > 4 && memcmp(collation.data + collation.size - 4, "_bin", 4) == 0;
}

/* MySQL compares by the column's collation, and only those that end so tell 'A' from 'a' (D20): a saga would be found
 * by the value of another one. */
static bool is_caseless(const pawl__sql_dialect *dialect, pawl__sql_type type,
                        const pawl__sql_found_column *column)
{
    return pawl__sql_is_bytewise(type) && dialect->collation != NULL &&
           ends_in_bin(pawl_text_of(dialect->collation)) && column->collation.size > 0 &&
           !ends_in_bin(column->collation);
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
        is_caseless(l->schema->dialect, type, found.column))
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

/* A table of the saga's name that something else made: sagas would fail in it later. */
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

/* A table without any right for the user stands in no catalog of MySQL and others: a statement on it tells that from one
 * that is missing. */
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
    schema_state     l    = {.schema     = schema,
                             .sagas      = sagas,
                             .saga_count = saga_count,
                             .error      = error,
                             .ahead      = PAWL__SQL_AHEAD};
    pawl_schema_spec spec = {.tables = sagas, .table_count = saga_count};
    pawl_code        code = check_names(schema, &spec, error);
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

/* Runs what was written, or says it, and frees it. */
static pawl_code run_text(const schema_state *l, pawl__sql_text *text)
{
    pawl_code code = text->is_failed ? no_memory(l->schema, l->error)
                                     : l->emit(text->data, l->context, l->error);
    pawl__sql_text_free(text);
    return code;
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
        code = run_text(l, &text);
    }
    return code;
}

/* Adds the columns that an earlier version's table lacks; a table that is not there has them from the script. */
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
    return run_text(l, &text);
}

/* The script makes tables, but adds nothing to one that is there where the database
 * cannot say "add column if not exists". */
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

/* Gives the index of pending outbox rows its endpoint. The script makes a table with its indexes, and changes none that
 * is there. */
static pawl_code widen_outbox_index(const schema_state *l)
{
    pawl__sql_text text  = {0};
    pawl_text      table = shared_name(l, "outbox"), index = shared_name(l, "outbox_pending");
    if (table.data == NULL || index.data == NULL)
        return no_memory(l->schema, l->error);
    const pawl__sql_found_index *found = pawl__sql_find_index(&l->catalog, table, index);
    if (found == NULL || strstr(found->columns.data, "Endpoint") != NULL)
        return PAWL_OK;
    pawl__sql_expand(&text, l->schema->dialect, l->schema->prefix,
                     l->schema->dialect->widen_outbox_index);
    return run_text(l, &text);
}

static pawl_code raise_version(const schema_state *l)
{
    pawl__sql_text text = {0};
    pawl__sql_raise_version(&text, l->schema->dialect, l->schema->prefix);
    return run_text(l, &text);
}

static pawl_code make_all(schema_state *l)
{
    const pawl__sql_schema *schema  = l->schema;
    bool                    is_left = !schema->dialect->adds_columns;
    pawl_code               code    = read_state(l, true);
    if (code == PAWL_OK)
        code = check_types(l);
    if (code == PAWL_OK)
        code = pawl__sql_check_reach(schema, &l->catalog, l->sagas, l->saga_count, l->error);
    if (code == PAWL_OK && schema->ops->prepare != NULL)
        code = schema->ops->prepare(schema->store, l->emit, l->context, l->error);
    if (code == PAWL_OK && is_left)
        code = add_columns(l);
    if (code == PAWL_OK)
        code = pawl__sql_create(schema->dialect, schema->prefix, l->sagas, l->saga_count, l->emit,
                                l->context, l->error);
    if (code == PAWL_OK && schema->dialect->widen_outbox_index != NULL)
        code = widen_outbox_index(l);
    if (code == PAWL_OK && l->is_purge)
        code = pawl__sql_purge(schema, &l->catalog, l->sagas, l->saga_count, l->emit, l->context,
                               l->error);
    return code == PAWL_OK && is_left ? raise_version(l) : code;
}

#define PATIENCE_MS 500

static pawl_code make_once(const pawl__sql_schema *schema, const pawl_saga_table *const *sagas,
                           size_t saga_count, bool is_purge, int64_t patience_ms, pawl_error *error)
{
    schema_state l    = {.schema     = schema,
                         .sagas      = sagas,
                         .saga_count = saga_count,
                         .is_purge   = is_purge,
                         .error      = error,
                         .emit       = run_statement,
                         .context    = (void *)schema};
    pawl_code    code = schema->ops->begin(schema->store, error);
    if (code != PAWL_OK)
        return code;
    if (schema->ops->limit_waits != NULL)
        code = schema->ops->limit_waits(schema->store, schema->prefix, patience_ms, error);
    if (code == PAWL_OK)
        code = make_all(&l);
    code = schema->ops->end(schema->store, code, error);
    pawl_arena_destroy(l.arena);
    return code;
}

static pawl_code make_alone(const pawl__sql_schema *schema, const pawl_saga_table *const *sagas,
                            size_t saga_count, bool is_purge, pawl_error *error)
{
    int64_t   ms   = PATIENCE_MS;
    pawl_code code = make_once(schema, sagas, saga_count, is_purge, ms, error);
    while (code == PAWL_EBUSY && schema->ops->rest != NULL && ms < schema->store->deadline_ms / 4 &&
           schema->ops->rest(schema->store, ms, error) == PAWL_OK) {
        ms *= 2;
        code = make_once(schema, sagas, saga_count, is_purge, ms, error);
    }
    if (code != PAWL_EBUSY || schema->ops->rest == NULL)
        return code;
    return pawl_error_wrap(
        error, code,
        "%s: %s: programs at work, or another session (a dump, an open transaction: `pawl "
        "doctor` names it), keep tables in use, nothing was changed; try again when no "
        "handler takes long, or with a longer deadline",
        schema->dialect->name, schema->given);
}

pawl_code pawl__sql_schema_make(const pawl__sql_schema *schema, const pawl_saga_table *const *sagas,
                                size_t saga_count, pawl_error *error)
{
    if (pawl__sql_schema_check(schema, sagas, saga_count, NULL) == PAWL_OK)
        return PAWL_OK;
    pawl_schema_spec spec = {.tables = sagas, .table_count = saga_count};
    pawl_code        code = check_names(schema, &spec, error);
    return code == PAWL_OK ? make_alone(schema, sagas, saga_count, false, error) : code;
}

/* ---- The verbs ---------------------------------------------------------- */

typedef struct differences {
    size_t count;
    bool   has_relic;
    bool   has_obsolete;
} differences;

static pawl_code compare(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                         pawl_line_fn *line, void *context, differences *found, pawl_error *error)
{
    schema_state l = {
        .schema = schema, .sagas = spec->tables, .saga_count = spec->table_count, .error = error};
    pawl__sql_verifier v    = {.schema = schema, .line = line, .context = context, .error = error};
    pawl_code          code = read_state(&l, true);
    /* A plan that leaves such columns has nothing to say of them. */
    v.says_obsolete = spec->is_purge || line != pawl__sql_plan_note;
    v.arena         = l.arena;
    v.catalog       = l.catalog;
    if (code == PAWL_OK)
        code = pawl__sql_verify(&v, spec, l.version);
    if (code == PAWL_OK && schema->ops->verify_own != NULL)
        code = schema->ops->verify_own(&v);
    *found = (differences){v.count, v.has_relic, v.has_obsolete};
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
    return pawl_error_set(error, PAWL_ESCHEMA, "%s: %s: the schema has %zu difference%s; %s%s%s",
                          schema->dialect->name, schema->given, found.count,
                          found.count == 1 ? "" : "s", advice_of(schema).text,
                          is_named ? " --app " : "", is_named ? application : "");
}

static bool has_work(const pawl_schema_spec *spec, const differences *found)
{
    return found->count != 0 || found->has_relic || (spec->is_purge && found->has_obsolete);
}

/* Makes whatever verify misses, which is more than the version tells. Nothing to make, as
 * a rule: then no table is locked. */
static pawl_code apply(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                       pawl_error *error)
{
    differences found;
    pawl_code   code = compare(schema, spec, NULL, NULL, &found, error);
    if (code != PAWL_OK || !has_work(spec, &found))
        return code;
    return make_alone(schema, spec->tables, spec->table_count, spec->is_purge, error);
}

/* Waits for no lock and takes none. */
static pawl_code plan(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                      pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_plan said = {schema->dialect, line, context, false};
    differences    found;
    schema_state   l    = {.schema     = schema,
                           .sagas      = spec->tables,
                           .saga_count = spec->table_count,
                           .is_purge   = spec->is_purge,
                           .error      = error,
                           .emit       = pawl__sql_plan_statement,
                           .context    = &said};
    pawl_code      code = compare(schema, spec, pawl__sql_plan_note, &said, &found, error);
    if (code == PAWL_OK && has_work(spec, &found))
        code = make_all(&l);
    if (code == PAWL_OK)
        pawl__sql_plan_end(&said);
    pawl_arena_destroy(l.arena);
    return code;
}

/* A schema that a newer program made would be dropped in part only. */
static pawl_code drop(const pawl__sql_schema *schema, const pawl_schema_spec *spec,
                      pawl_error *error)
{
    schema_state l    = {.schema = schema, .error = error};
    pawl_code    code = schema->ops->begin(schema->store, error);
    if (code != PAWL_OK)
        return code;
    code = read_state(&l, false);
    if (code == PAWL_OK)
        code = pawl__sql_drop(schema->dialect, schema->prefix, spec->tables, spec->table_count,
                              run_statement, (void *)schema, error);
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
