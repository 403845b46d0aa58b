/* transport.h - the interface of an outbound transport, through which the outbox dispatcher delivers
 * rows.
 *
 *     open -> deliver* -> close
 *
 * An outbound transport carries messages out of this store: into a queue of another store, to
 * a broker, to an application's own code. Delivery is at least once; the
 * receiver drops what it knows by the message's id.
 *
 * An application's own transport is a table with one function, named in a route:
 *
 *     static pawl_code mail(pawl_transport *transport, pawl_delivery *items, size_t count,
 *                           pawl_arena *arena, pawl_error *error)
 *     {
 *         smtp *server = transport->context;
 *         for (size_t i = 0; i < count; i++)
 *             if (!smtp_send(server, items[i].message.body)) {
 *                 items[i].outcome = PAWL_ATTEMPT_TRANSIENT;
 *                 items[i].error   = PAWL_TEXT("the mail server is busy");
 *             }
 *         return PAWL_OK;
 *     }
 *     static const pawl_transport_ops mail_outbound = PAWL_OUTBOUND(mail);
 *     ... .routes = (const pawl_route[]){
 *             {.name = "mail", .outbound = &mail_outbound, .context = &server}, {0}}
 *
 * A transport that is registered by a scheme serves every route whose URL begins with it.
 *
 * Threads: a transport belongs to the dispatcher's thread.
 * Tests: tests/unit/outbox/test_runtime_outbox.c, tests/unit/transport
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_H
#define PAWL_TRANSPORT_H

#include "pawl/base.h"
#include "pawl/change.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_transport     pawl_transport;
typedef struct pawl_transport_ops pawl_transport_ops;

/* A message to deliver. `outcome` is SUCCESS at first. After a failure the transport sets it, and `error` to the
 * reason, which operators read (static, or in `arena` of the call):
 *
 *     SUCCESS      the receiver has the message
 *     REJECTED     the receiver will never accept it: the row is dead at once
 *     TRANSIENT    to be tried again, until the attempts are used up
 *     POISON       the receiver cannot read it, or does not know its type: the row is dead at once
 *     UNREACHABLE  the receiver is unavailable, for all messages: no attempt is counted, and the row is
 *                  unchanged. The route pauses, 1 s at first, 30 s at most, and is tried again */
typedef struct pawl_delivery {
    pawl_text            queue;
    pawl_message         message;
    pawl_time            due; /* business time before which the receiver must not handle it.
                               * Without a delay: the time of the call, and never before that
                               * of an earlier call, to keep the order */
    pawl_attempt_outcome outcome;
    pawl_text            error;
} pawl_delivery;

/* Promise: the deliveries of one call take effect in order, and none after a failed one. A call may
 * then have several rows of one ordering key; without the promise it has at most one. */
#define PAWL_TRANSPORT_PREFIX 1u

struct pawl_transport {
    const pawl_transport_ops *ops;
    void                     *context; /* of the route */
};

struct pawl_transport_ops {
    size_t   ops_size;       /* sizeof(pawl_transport_ops) */
    size_t   transport_size; /* the core allocates this much, zeroed; begins with pawl_transport */
    unsigned promises;
    const char *scheme; /* of the URLs it takes, "amqp"; NULL: for routes that name the table */

    /* `url` is the route's, NULL when the route names the table. `system_prefix` is that of a store's
     * tables, or NULL for the default. After a failed open the core still calls close(), and every item counts as
     * UNREACHABLE, except after PAWL_ENOMEM. open and close may be NULL in a table that a route names. Creating or
     * checking an endpoint opens and closes the transport of each URL once, on the caller's thread: PAWL_ECONFIG and
     * PAWL_EINVAL (the URL is wrong) refuse the endpoint, other failures do not. */
    pawl_code (*open)(pawl_transport *transport, const char *url, const char *system_prefix,
                      pawl_error *error);
    void (*close)(pawl_transport *transport);
    /* Delivers the items. PAWL_OK: every item has its outcome. PAWL_EUNREACHABLE, PAWL_EDENIED: every item counts as
     * UNREACHABLE. Any other code: every item counts as TRANSIENT, delivered or not. May
     * block up to the store's deadline; if it takes longer than some seconds,
     * another dispatcher may take over and deliver the same rows. */
    pawl_code (*deliver)(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error);
};

/* The table of a transport that has only the function deliver. */
#define PAWL_OUTBOUND(function)                                       \
    {                                                                 \
        .ops_size = sizeof(pawl_transport_ops), .deliver = (function) \
    }

/* Delivers into the queue of another store: any URL that pawl_store_open takes. */
PAWL_API extern const pawl_transport_ops pawl_transport_store;

/* Registers a transport of your own for the URLs of its scheme; call it before any endpoint is
 * created. A second call with the same table changes nothing. PAWL_EDUPLICATE: another
 * transport has the scheme. The table is borrowed for the life of the program. */
PAWL_API pawl_code pawl_transport_register(const pawl_transport_ops *ops, pawl_error *error);
/* The same from a module that exports a `const pawl_transport_ops` named
 * PAWL_TRANSPORT_DRIVER_SYMBOL. PAWL_EUNREACHABLE: the module cannot be loaded;
 * PAWL_ECONFIG: the module has no such table. */
PAWL_API pawl_code pawl_transport_load(const char *path, pawl_error *error);
#define PAWL_TRANSPORT_DRIVER_SYMBOL "pawl_transport_driver"
/* The transport for the URL's scheme; pawl_transport_store when none is registered. */
PAWL_API const pawl_transport_ops *pawl_transport_find(const char *url);

#ifdef __cplusplus
}
#endif
#endif
