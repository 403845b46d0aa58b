/* schema.c - runs the schema's scripts of the generic store (store/sql/schema.h) on PostgreSQL.
 *
 * Each run has an advisory lock and one transaction: a second process waits for the lock and then
 * finds nothing left to do, and a half-made schema is never visible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"

#include "store/sql/dialects/families.h"

static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    (void)verb;
    return store->main.pg == NULL ? pawl__pg_connect(store, &store->main, error) : PAWL_OK;
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    return pawl__pg_execute(&pawl__pg_of(base)->main, statement, error);
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    pawl__pg_request request;
    if (pawl__pg_run_once(&request, &pawl__pg_of(base)->main, select, error) == PAWL_OK)
        *number = pawl__pg_next(&request) ? pawl__pg_get_int(&request) : 0;
    pawl__pg_end(&request);
    return request.code;
}

/* Sets search_path to the schema alone, because the script names no schema, printed or run. */
static pawl_code begin(pawl_store *base, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_text name  = pawl_text_of(store->schema);
    pawl__pg_begin_on(&store->main, error);
    pawl_code code = execute(base, "select pg_advisory_xact_lock(1885435756)", error);
    if (code == PAWL_OK)
        code = pawl__pg_ask(&store->main, PAWL__PG_SCHEMA_PATH, &pawl__one_text, &name, NULL, NULL,
                            error);
    if (code != PAWL_OK)
        pawl__pg_rollback_transaction(&store->main);
    return code;
}

static pawl_code end(pawl_store *base, pawl_code code, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    if (code == PAWL_OK) {
        code = execute(base, "commit", error);
        if (code == PAWL_OK)
            store->main.in_transaction = false;
    }
    pawl__pg_rollback_transaction(&store->main);
    return code;
}

/* CREATE SCHEMA if the database has no schema of that name. */
static pawl_code make_schema(pawl__pg *store, pawl__sql_emit_fn *emit, void *context,
                             pawl_error *error)
{
    pawl_text      name  = pawl_text_of(store->schema);
    pawl__sql_text text  = {0};
    int64_t        count = 0;
    pawl_code      code  = pawl__pg_ask(&store->main, PAWL__PG_SCHEMA_KNOWN, &pawl__one_text, &name,
                                        &pawl__one_int, &count, error);
    if (code != PAWL_OK || count != 0)
        return code;
    pawl__sql_append(&text, "create schema ");
    pawl__sql_append_name(&text, &store->main.dialect, "", name);
    code = text.is_failed ? pawl__pg_no_memory(error) : emit(text.data, context, error);
    pawl__sql_text_free(&text);
    return code;
}

/* Part of a printed script, too, which is run in a session with another search_path. */
static pawl_code name_schema(pawl__pg *store, pawl__sql_emit_fn *emit, void *context,
                             pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__sql_append_pattern(&text, &store->main.dialect,
                             "select set_config('search_path', quote_ident(%s), true)",
                             pawl_text_of(store->schema));
    pawl_code code = text.is_failed ? pawl__pg_no_memory(error) : emit(text.data, context, error);
    pawl__sql_text_free(&text);
    return code;
}

/* The first action of a script alters the queue. It waits for workers that have claimed rows, before the script
 * locks any other table: workers lock claimed rows of the queue before rows of other tables, so the two cannot
 * deadlock. */
static pawl_code prepare(pawl_store *base, pawl__sql_emit_fn *emit, void *context,
                         pawl_error *error)
{
    pawl_code code = make_schema(pawl__pg_of(base), emit, context, error);
    return code == PAWL_OK ? name_schema(pawl__pg_of(base), emit, context, error) : code;
}

static const pawl__sql_schema_ops schema_ops = {
    .connect     = connect,
    .begin       = begin,
    .end         = end,
    .limit_waits = pawl__pg_limit_waits,
    .rest        = pawl__pg_rest,
    .prepare     = prepare,
    .execute     = execute,
    .number      = number,
    .catalog     = pawl__pg_catalog_read,
    .verify_own  = pawl__pg_verify_own,
    .has_keys    = true,
};

pawl__sql_schema pawl__pg_schema_of(pawl__pg *store)
{
    return (pawl__sql_schema){.store   = &store->sql.base,
                              .ops     = &schema_ops,
                              .dialect = &pawl__pg_dialect,
                              .names   = &store->main.dialect,
                              .prefix  = store->sql.base.system_prefix,
                              .given   = store->given,
                              .scheme  = "",
                              .within  = store->schema};
}

pawl_code pawl__pg_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                          pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_schema schema = pawl__pg_schema_of(pawl__pg_of(base));
    schema.prefix           = spec->system_prefix;
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}
