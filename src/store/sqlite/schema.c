/* schema.c - reads SQLite's catalog, and runs schema scripts (store/sql/schema.h).
 *
 * Everything is created in one transaction: a second process waits for it and then finds a complete schema, never half
 * of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/schema.h"

#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Running a script --------------------------------------------------- */

/* Apply would create a missing file, so its folder must exist and be writable. */
static pawl_code check_missing(const char *path, bool *is_missing, pawl_error *error)
{
    char        folder[PAWL_URL_SIZE_MAX + 1] = ".";
    const char *end                           = strrchr(path, '/');
    *is_missing                               = access(path, F_OK) != 0 && errno == ENOENT;
    if (end != NULL)
        (void)snprintf(folder, sizeof folder, "%.*s", end > path ? (int)(end - path) : 1, path);
    if (!*is_missing || access(folder, W_OK | X_OK) == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNREACHABLE, "sqlite: %s cannot be made in folder %s: %s",
                          path, folder, strerror(errno));
}

/* A plan for a missing file uses an empty database in memory. */
static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sqlite *store      = pawl__sqlite_of(base);
    bool          is_made    = verb == PAWL_SCHEMA_APPLY;
    bool          is_missing = false;
    pawl_code     code       = PAWL_OK;
    if (verb == PAWL_SCHEMA_PLAN)
        code = check_missing(store->given_path, &is_missing, error);
    if (code != PAWL_OK)
        return code;
    if (is_missing) {
        int result = sqlite3_open(":memory:", &store->connection.db);
        return result == SQLITE_OK ? PAWL_OK
                                   : pawl__sqlite_failed(store->connection.db, result, "", error);
    }
    code = pawl__sqlite_connect(store, is_made, error);
    return code == PAWL_OK && is_made ? pawl__sqlite_use_wal(store, error) : code;
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    return pawl__sql_query(&pawl__sqlite_of(base)->connection.session, statement, error);
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    return pawl__sql_ask_number(&pawl__sqlite_of(base)->connection.session, select, number, error);
}

static const pawl__sql_schema_ops schema_ops = {
    .connect = connect,
    .begin   = pawl__sqlite_begin,
    .end     = pawl__sql_end,
    .execute = execute,
    .number  = number,
    .columns = PAWL__SQLITE_SCHEMA_COLUMNS,
    .indexes = PAWL__SQLITE_SCHEMA_INDEXES,
};

pawl__sql_schema pawl__sqlite_schema_of(pawl__sqlite *store)
{
    return (pawl__sql_schema){.store   = &store->sql.base,
                              .ops     = &schema_ops,
                              .dialect = &pawl__sqlite_dialect,
                              .prefix  = store->sql.base.system_prefix,
                              .given   = store->given_path,
                              .scheme  = "sqlite:"};
}

pawl_code pawl__sqlite_schema(pawl_store *base, pawl_schema_verb verb, const pawl_schema_spec *spec,
                              pawl_line_fn *line, void *context, pawl_error *error)
{
    pawl__sql_schema schema = pawl__sqlite_schema_of(pawl__sqlite_of(base));
    schema.prefix           = spec->system_prefix;
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}
