/* deaf.c - a module with transports only; its inbound transport has no entry to receive, so it is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/driver.h"

static pawl_code open_nothing(pawl_transport *transport, const char *url, const char *system_prefix,
                              pawl_error *error)
{
    (void)transport, (void)url, (void)system_prefix, (void)error;
    return PAWL_OK;
}

static void close_nothing(pawl_transport *transport)
{
    (void)transport;
}

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    (void)transport, (void)items, (void)count, (void)arena, (void)error;
    return PAWL_OK;
}

PAWL_API extern const pawl_transport_ops pawl_transport_driver;

const pawl_transport_ops pawl_transport_driver = {
    .ops_size       = sizeof(pawl_transport_ops),
    .transport_size = sizeof(pawl_transport),
    .scheme         = "deaf",
    .open           = open_nothing,
    .close          = close_nothing,
    .deliver        = deliver,
};

PAWL_API extern const pawl_inbound_ops pawl_inbound_driver;

const pawl_inbound_ops pawl_inbound_driver = {
    .ops_size     = sizeof(pawl_inbound_ops),
    .inbound_size = sizeof(pawl_inbound),
    .scheme       = "deaf",
};
