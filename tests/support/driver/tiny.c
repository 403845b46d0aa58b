/* tiny.c - the smallest valid driver module, with transports of the same scheme, for tests of pawl_store_load. It
 * stores and delivers nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/driver.h"

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

/* ---- Transports ---------------------------------------------------------- */

static pawl_code tiny_route_open(pawl_transport *transport, const char *url,
                                 const char *system_prefix, pawl_error *error)
{
    (void)transport, (void)url, (void)system_prefix, (void)error;
    return PAWL_OK;
}

static void tiny_route_close(pawl_transport *transport)
{
    (void)transport;
}

static pawl_code tiny_deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                              pawl_arena *arena, pawl_error *error)
{
    (void)transport, (void)items, (void)count, (void)arena, (void)error;
    return PAWL_OK;
}

PAWL_API extern const pawl_transport_ops pawl_transport_driver;

const pawl_transport_ops pawl_transport_driver = {
    .ops_size       = sizeof(pawl_transport_ops),
    .transport_size = sizeof(pawl_transport),
    .scheme         = "tiny",
    .open           = tiny_route_open,
    .close          = tiny_route_close,
    .deliver        = tiny_deliver,
};

static pawl_code tiny_inbound_open(pawl_inbound *inbound, const char *url,
                                   const pawl_inbound_options *options, pawl_error *error)
{
    (void)inbound, (void)url, (void)options, (void)error;
    return PAWL_OK;
}

static void tiny_inbound_close(pawl_inbound *inbound)
{
    (void)inbound;
}

static pawl_code tiny_take(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                           pawl_takings *takings, pawl_error *error)
{
    (void)inbound, (void)by, (void)arena, (void)takings, (void)error;
    return PAWL_OK;
}

static pawl_code tiny_settle(pawl_inbound *inbound, const pawl_taken *items, size_t count,
                             pawl_error *error)
{
    (void)inbound, (void)items, (void)count, (void)error;
    return PAWL_OK;
}

PAWL_API extern const pawl_inbound_ops pawl_inbound_driver;

const pawl_inbound_ops pawl_inbound_driver = {
    .ops_size     = sizeof(pawl_inbound_ops),
    .inbound_size = sizeof(pawl_inbound),
    .scheme       = "tiny",
    .open         = tiny_inbound_open,
    .close        = tiny_inbound_close,
    .take         = tiny_take,
    .settle       = tiny_settle,
    .leave        = tiny_inbound_close,
};
