/* local.c - delivers messages into queues of another store: all messages of a call in one commit. A message that is
 * already there is not stored again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store.h"
#include "pawl/transport.h"

typedef struct store_transport {
    pawl_transport base;
    pawl_store    *store;
} store_transport;

static pawl_code open_store(pawl_transport *transport, const char *url, const char *system_prefix,
                            pawl_error *error)
{
    store_transport   *self    = (store_transport *)transport;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CREATE;
    options.system_prefix      = system_prefix;
    return pawl_store_open(url, &options, &self->store, error);
}

static void close_store(pawl_transport *transport)
{
    pawl_store_close(((store_transport *)transport)->store);
}

/* A connection that broke while idle is noticed only at this commit, and the store reconnects. One more try at once
 * saves all messages a failed attempt; none is stored twice. */
static pawl_code commit(pawl_store *store, pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error)
{
    pawl_code code = pawl_store_commit(store, changes, refused, error);
    if (code == PAWL_ELOST || code == PAWL_EUNKNOWN)
        code = pawl_store_commit(store, changes, refused, error);
    return code;
}

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    store_transport *self    = (store_transport *)transport;
    pawl_changes     changes = {.group_count = 1, .unit_count = 1};
    pawl_refusals    refused = {.arena = arena};
    pawl_queue_send *sends   = pawl_arena_take(arena, (count + 1) * sizeof *sends);
    if (sends == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for %zu deliveries", count);
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){
            .queue = items[i].queue, .message = items[i].message, .due = items[i].due};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    pawl_code code           = commit(self->store, &changes, &refused, error);
    for (size_t i = 0; i < count && code == PAWL_OK; i++)
        items[i].outcome = PAWL_ATTEMPT_SUCCESS;
    return code;
}

const pawl_transport_ops pawl_transport_store = {
    .ops_size       = sizeof(pawl_transport_ops),
    .transport_size = sizeof(store_transport),
    .promises       = PAWL_TRANSPORT_PREFIX,
    .open           = open_store,
    .close          = close_store,
    .deliver        = deliver,
};
