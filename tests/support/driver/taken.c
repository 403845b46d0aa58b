/* taken.c - a driver module whose scheme is taken by a driver of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"

static pawl_code refuse_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    (void)store, (void)url, (void)options;
    return pawl_error_set(error, PAWL_EBUG, "this driver is never asked");
}

static void close_nothing(pawl_store *store)
{
    (void)store;
}

static pawl_code refuse_schema(pawl_store *store, pawl_schema_verb verb,
                               const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                               pawl_error *error)
{
    (void)verb, (void)spec, (void)line, (void)context;
    return refuse_open(store, NULL, NULL, error);
}

static pawl_code refuse_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                    pawl_time now, pawl_error *error)
{
    (void)endpoint, (void)types, (void)now;
    return refuse_open(store, NULL, NULL, error);
}

static pawl_code refuse_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    (void)now;
    return refuse_open(store, NULL, NULL, error);
}

static pawl_code refuse_commit(pawl_store *store, const pawl_changes *changes,
                               pawl_refusals *refused, pawl_error *error)
{
    (void)changes, (void)refused;
    return refuse_open(store, NULL, NULL, error);
}

static pawl_code refuse_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                                pawl_error *error)
{
    (void)commit_id, (void)is_applied;
    return refuse_open(store, NULL, NULL, error);
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size     = sizeof(pawl_store_ops),
    .abi          = PAWL_ABI,
    .scheme       = "memory",
    .store_size   = sizeof(pawl_store),
    .open         = refuse_open,
    .close        = close_nothing,
    .schema       = refuse_schema,
    .worker_open  = refuse_worker_open,
    .worker_close = refuse_worker_close,
    .commit       = refuse_commit,
    .resolve      = refuse_resolve,
};
