/* mysql.c - the driver's table: the scripts of the tables, and no more yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include "pawl/store_driver.h"
#include "store/sql/schema.h"

#include <string.h>

static pawl_code refuse(const pawl_store *store, const char *attempt, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EUNSUPPORTED,
                          "%s: %s: this driver prints the scripts of the tables (pawl schema "
                          "print) and opens no store yet",
                          store->scheme, attempt);
}

static pawl_code open_store(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    (void)url;
    (void)options;
    return refuse(store, "open", error);
}

static void close_store(pawl_store *store)
{
    (void)store;
}

/* Verbs other than PRINT need a store that was opened. */
static pawl_code schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error)
{
    (void)verb;
    bool                     is_mariadb = strcmp(store->scheme, pawl__mariadb_dialect.name) == 0;
    const pawl__sql_dialect *dialect = is_mariadb ? &pawl__mariadb_dialect : &pawl__mysql_dialect;
    pawl_code                code    = pawl__sql_prefix_check(dialect, spec->system_prefix, error);
    if (code == PAWL_OK)
        code = pawl__sql_print(dialect, spec->system_prefix, spec, line, context, error);
    return code;
}

/* Nothing of these is called on a store that was not opened. */
static pawl_code worker_open(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                             pawl_error *error)
{
    (void)endpoint;
    (void)types;
    (void)now;
    return refuse(store, "worker_open", error);
}

static pawl_code worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    (void)now;
    return refuse(store, "worker_close", error);
}

static pawl_code commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    (void)changes;
    (void)refused;
    return refuse(store, "commit", error);
}

static pawl_code resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error)
{
    (void)commit_id;
    (void)is_applied;
    return refuse(store, "resolve", error);
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size     = sizeof(pawl_store_ops),
    .scheme       = "mysql",
    .store_size   = sizeof(pawl_store),
    .open         = open_store,
    .close        = close_store,
    .schema       = schema,
    .worker_open  = worker_open,
    .worker_close = worker_close,
    .commit       = commit,
    .resolve      = resolve,
    .ready        = pawl__mysql_ready,
};
