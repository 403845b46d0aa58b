/* mssql_schema.c - scripts on SQL Server: one transaction, behind the application lock of the printed script.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/mssql_family.h"

#include "store/sql/dialects/mssql_statements.h"

#include <stdio.h>

#define COLLATION "Latin1_General_100_BIN2"

static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    (void)verb;
    return remote->main->is_made ? PAWL_OK : remote->ops->connect(remote->main, error);
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    return remote->ops->query(remote->main, statement, error);
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    return pawl__sql_ask_number(pawl__sql_remote_of(base)->main, select, number, error);
}

/* The lock is the transaction's, and is waited for to just before the call's deadline. */
static pawl_code begin(pawl_store *base, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    int64_t           got    = 0;
    char              text[250];
    (void)snprintf(text, sizeof text,
                   "declare @pawl int; exec @pawl = sp_getapplock @Resource = N'pawl', "
                   "@LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = %lld; "
                   "select @pawl",
                   (long long)base->deadline_ms * 9 / 10);
    pawl_code code = pawl__sql_session_begin(base, error);
    if (code == PAWL_OK)
        code = pawl__sql_ask_number(remote->main, text, &got, error);
    if (code == PAWL_OK && got < 0)
        code = pawl_error_set(error, PAWL_EBUSY,
                              "%s: %s: another process makes or drops tables in this database, and "
                              "did not end within the deadline",
                              base->scheme, remote->given);
    if (code != PAWL_OK)
        pawl__sql_session_undo(remote->main);
    return code;
}

static pawl_code end(pawl_store *base, pawl_code code, pawl_error *error)
{
    bool is_unknown = false;
    if (code == PAWL_OK)
        code = pawl__sql_session_commit(base, &is_unknown, error);
    pawl__sql_session_undo(pawl__sql_remote_of(base)->main);
    return code;
}

/* A column of another collation takes 'a' and 'A' for equal; types as the statement of the catalog
 * writes them. */
static const char *const catalog_types[pawl__sql_type_count] = {
    [PAWL__SQL_SERIAL] = "bigint",
};

static const pawl__sql_schema_ops schema_ops = {
    .connect   = connect,
    .begin     = begin,
    .end       = end,
    .execute   = execute,
    .number    = number,
    .columns   = PAWL__MSSQL_SCHEMA_COLUMNS,
    .indexes   = PAWL__MSSQL_SCHEMA_INDEXES,
    .types     = catalog_types,
    .collation = COLLATION,
    .has_keys  = true,
};

static pawl__sql_schema schema_of(pawl__sql_remote *remote, const char *prefix)
{
    return (pawl__sql_schema){.store   = &remote->sql.base,
                              .ops     = &schema_ops,
                              .dialect = &pawl__mssql_dialect,
                              .prefix  = prefix,
                              .given   = remote->given,
                              .scheme  = "",
                              .within  = remote->database};
}

pawl_code pawl__mssql_check(pawl__sql_remote *remote, const pawl_store_options *options,
                            pawl_error *error)
{
    pawl__sql_schema schema = schema_of(remote, remote->sql.base.system_prefix);
    return pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
}

pawl_code pawl__mssql_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_schema schema = schema_of(pawl__sql_remote_of(store), spec->system_prefix);
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}
