/* tiny.c - a driver module with as little in it as a driver may have: what
 * pawl_store_load is tried on. Nothing is stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"

#include <string.h>

static pawl_code tiny_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    (void)options;
    if (strcmp(url, "tiny:closed") == 0)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "tiny: it is closed");
    strcpy(store->identity, "tiny");
    return PAWL_OK;
}

static void tiny_close(pawl_store *store)
{
    (void)store;
}

static pawl_code tiny_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    (void)store, (void)verb, (void)spec, (void)error;
    line(PAWL_TEXT("tiny has no tables"), context);
    return PAWL_OK;
}

static pawl_code tiny_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                  pawl_time now, pawl_error *error)
{
    (void)endpoint, (void)types, (void)now, (void)error;
    store->epoch = 1;
    return PAWL_OK;
}

static pawl_code tiny_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    (void)store, (void)now, (void)error;
    return PAWL_OK;
}

static pawl_code tiny_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    (void)store, (void)changes, (void)refused, (void)error;
    return PAWL_OK;
}

static pawl_code tiny_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    (void)store, (void)commit_id, (void)error;
    *is_applied = true;
    return PAWL_OK;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size     = sizeof(pawl_store_ops),
    .abi          = PAWL_ABI,
    .scheme       = "tiny",
    .store_size   = sizeof(pawl_store),
    .open         = tiny_open,
    .close        = tiny_close,
    .schema       = tiny_schema,
    .worker_open  = tiny_worker_open,
    .worker_close = tiny_worker_close,
    .commit       = tiny_commit,
    .resolve      = tiny_resolve,
};
