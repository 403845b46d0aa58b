/* mysql_schema.c - the catalogs of MySQL and MariaDB, and how a script is run (store/sql/schema.h).
 *
 * Every statement that makes a table commits by itself: a lock by GET_LOCK, the printed script's,
 * keeps each run alone, and the next apply makes the rest after one that failed. The tables are looked
 * for one by one: MariaDB opens every table of the database for a list of names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/mysql_family.h"
#include "store/sql/script.h"

#include <stdio.h>
#include <string.h>

/* ---- The catalog -------------------------------------------------------- */

/* Rows of an engine without transactions would stay where a commit is refused. */
static pawl_code check_engine(pawl__sql_verifier *v, const pawl_text *table)
{
    const pawl__sql_asked asked = {PAWL__MYSQL_SCHEMA_ENGINE, &pawl__sql_one_text, table,
                                   &pawl__sql_one_text, sizeof(pawl_text)};
    pawl__sql_rows        found = {0};
    pawl_code code = pawl__sql_read(v->schema->store, &asked, v->arena, &found, v->error);
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        pawl__sql_report(v, "table %.*s: its engine is %.*s, InnoDB is needed",
                         PAWL_TEXT_ARGS(*table),
                         PAWL_TEXT_ARGS(((const pawl_text *)found.items)[i]));
    return code;
}

static pawl_code verify_own(pawl__sql_verifier *v)
{
    const pawl__sql_found_column *columns = v->catalog.columns.items;
    pawl_code                     code    = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < v->catalog.columns.count; i++)
        if (i == 0 || !pawl_text_equal(columns[i].table, columns[i - 1].table))
            code = check_engine(v, &columns[i].table);
    return code;
}

/* MySQL says no width of a whole number (D38); MariaDB says it of each, and json is its word for a
 * longtext with a check. */
static const char *const mysql_types[pawl__sql_type_count]   = {[PAWL__SQL_KEY_INT] = "bigint"};
static const char *const mariadb_types[pawl__sql_type_count] = {
    [PAWL__SQL_SERIAL]   = "bigint(20)",
    [PAWL__SQL_INTEGER]  = "bigint(20)",
    [PAWL__SQL_JSON]     = "longtext",
    [PAWL__SQL_METADATA] = "longtext",
};

/* ---- Running a script --------------------------------------------------- */

#define CAUSAL "set session wsrep_sync_wait = 1"
#define NOT_CAUSAL "set session wsrep_sync_wait = default"
#define LOCK_NAME "concat('pawl_', left(sha2(database(), 256), 40))"

/* On a cluster the tables may have been made on another node just now: reads wait until this one has
 * applied what was committed before them. */
static pawl_code set_causal(pawl__sql_remote *remote, const char *text, pawl_error *error)
{
    return remote->is_cluster ? remote->ops->query(remote->main, text, error) : PAWL_OK;
}

static pawl_code connect(pawl_store *base, pawl_schema_verb verb, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    pawl_code         code   = PAWL_OK;
    (void)verb;
    if (!remote->main->is_made)
        code = remote->ops->connect(remote->main, error);
    return code == PAWL_OK ? set_causal(remote, CAUSAL, error) : code;
}

/* The lock is waited for to just before the call's deadline, so that the server says how it went. */
static pawl_code begin(pawl_store *base, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    int64_t           is_had = 0;
    char              text[120];
    (void)snprintf(text, sizeof text, "select get_lock(" LOCK_NAME ", %.1f)",
                   (double)base->deadline_ms / 1000.0 * 0.9);
    pawl_code code = pawl__sql_ask_number(remote->main, text, &is_had, error);
    if (code == PAWL_OK && is_had != 1)
        code = pawl_error_set(error, PAWL_EBUSY,
                              "%s: %s: another process makes or drops tables in this database, and "
                              "did not end within the deadline",
                              base->scheme, remote->given);
    return code;
}

static pawl_code execute(pawl_store *base, const char *statement, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(base);
    return remote->ops->query(remote->main, statement, error);
}

/* A lost session has given its lock back. */
static pawl_code end(pawl_store *base, pawl_code code, pawl_error *error)
{
    (void)error;
    (void)execute(base, "do release_lock(" LOCK_NAME ")", NULL);
    return code;
}

static pawl_code number(pawl_store *base, const char *select, int64_t *number, pawl_error *error)
{
    return pawl__sql_ask_number(pawl__sql_remote_of(base)->main, select, number, error);
}

#define SCHEMA_OPS                                                                        \
    .connect = connect, .begin = begin, .end = end, .execute = execute, .number = number, \
    .columns = PAWL__MYSQL_SCHEMA_COLUMNS, .indexes = PAWL__MYSQL_SCHEMA_INDEXES,         \
    .verify_own = verify_own, .has_keys = true

static const pawl__sql_schema_ops mysql_ops   = {SCHEMA_OPS, .types = mysql_types,
                                                 .collation = "utf8mb4_0900_bin"};
static const pawl__sql_schema_ops mariadb_ops = {SCHEMA_OPS, .types = mariadb_types,
                                                 .collation = "utf8mb4_nopad_bin"};

static pawl__sql_schema schema_of(pawl__sql_remote *remote, const char *prefix)
{
    return (pawl__sql_schema){.store   = &remote->sql.base,
                              .ops     = pawl__mysql_is_mariadb(remote) ? &mariadb_ops : &mysql_ops,
                              .dialect = remote->dialect,
                              .prefix  = prefix,
                              .given   = remote->given,
                              .scheme  = "",
                              .within  = remote->database};
}

pawl_code pawl__mysql_schema_check(pawl__sql_remote *remote, const pawl_store_options *options,
                                   pawl_error *error)
{
    pawl__sql_schema schema = schema_of(remote, remote->sql.base.system_prefix);
    pawl_code        code   = set_causal(remote, CAUSAL, error);
    if (code == PAWL_OK)
        code = pawl__sql_schema_check(&schema, options->tables, options->table_count, error);
    return code == PAWL_OK ? set_causal(remote, NOT_CAUSAL, error) : code;
}

/* Which dialect, the scheme says, or the server does. */
static pawl_code print(pawl_store *base, const pawl_schema_spec *spec, pawl_line_fn *line,
                       void *context, pawl_error *error)
{
    const pawl__sql_dialect *dialect = pawl__sql_dialect_find(pawl_text_of(base->scheme));
    pawl_code                code    = PAWL_OK;
    if (dialect == NULL) {
        code    = connect(base, PAWL_SCHEMA_PRINT, error);
        dialect = pawl__sql_remote_of(base)->dialect;
    }
    if (code == PAWL_OK)
        code = pawl__sql_prefix_check(dialect, spec->system_prefix, error);
    if (code == PAWL_OK)
        code = pawl__sql_print(dialect, spec->system_prefix, spec, line, context, error);
    return code;
}

pawl_code pawl__mysql_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    if (verb == PAWL_SCHEMA_PRINT)
        return print(store, spec, line, context, error);
    pawl_code code = connect(store, verb, error);
    if (code != PAWL_OK)
        return code;
    pawl__sql_schema schema = schema_of(pawl__sql_remote_of(store), spec->system_prefix);
    return pawl__sql_schema_run(&schema, verb, spec, line, context, error);
}
