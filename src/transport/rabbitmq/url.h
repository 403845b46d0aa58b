/* url.h - parses the URLs of routes to RabbitMQ, and of RabbitMQ queues that endpoints read.
 *
 *     amqp[s]://[user[:password]@]host[:port],.../[virtual host][?option=value&...]
 *
 * docs/INTEROP.md explains the options.
 *
 * Threads: plain data. Tests: tests/unit/transport/test_rabbitmq_url.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_URL_H
#define PAWL_TRANSPORT_RABBITMQ_URL_H

#include "store/core/url_read.h"

#define PAWL__RABBITMQ_NAME_SIZE_MAX 255 /* of a queue, an exchange, a key: AMQP's short text */

typedef enum pawl__rabbitmq_headers {
    PAWL__RABBITMQ_HEADERS_NONE,
    PAWL__RABBITMQ_HEADERS_NSERVICEBUS,
    PAWL__RABBITMQ_HEADERS_SERVICECONNECT,
} pawl__rabbitmq_headers;

typedef enum pawl__rabbitmq_tls {
    PAWL__RABBITMQ_TLS_VERIFY_IDENTITY, /* checks the certificate's authority and the host's name */
    PAWL__RABBITMQ_TLS_VERIFY_CA,       /* checks the certificate's authority */
    PAWL__RABBITMQ_TLS_REQUIRED,        /* encrypts without checking the server */
} pawl__rabbitmq_tls;

/* Treatment of an incoming message without an id. */
typedef enum pawl__rabbitmq_without_id {
    PAWL__RABBITMQ_WITHOUT_ID_HANDLE, /* handled, with an id made for it */
    PAWL__RABBITMQ_WITHOUT_ID_DEAD,
} pawl__rabbitmq_without_id;

/* Treatment of a delayed message on a route. */
typedef enum pawl__rabbitmq_delay {
    PAWL__RABBITMQ_DELAY_REFUSE,
    PAWL__RABBITMQ_DELAY_HEADER, /* sent at once, with its due time in a header */
} pawl__rabbitmq_delay;

/* Purpose of a URL. */
typedef enum pawl__rabbitmq_use {
    PAWL__RABBITMQ_ROUTE,
    PAWL__RABBITMQ_INTAKE,
} pawl__rabbitmq_use;

typedef struct pawl__rabbitmq_url {
    pawl__url   parts; /* the database is the virtual host */
    bool        is_tls;
    const char *exchange;      /* "": the default exchange, which routes to queues by name */
    const char *exchange_type; /* of an exchange that pawl declares */
    const char *routing_key;   /* NULL: the route's queue */
    const char *queue_type;    /* of a queue that pawl declares */
    const char *authority, *certificate, *key;
    int         exchange_kind, queue_kind; /* indexes of the types above */
    int         is_per_type;               /* each message type has an exchange */
    int         is_single; /* single active consumer, for declared queues; -1: not given */
    int         declares;
    int         is_mandatory;
    int         headers; /* pawl__rabbitmq_headers */
    int         delay;   /* pawl__rabbitmq_delay; of a route */
    int         tls;     /* pawl__rabbitmq_tls */
    int         connect_timeout_s, timeout_s, heartbeat_s;
    int         without_id; /* pawl__rabbitmq_without_id; for inbound URLs */
    int         prefetch;   /* 0: from the batch size; for inbound URLs */
} pawl__rabbitmq_url;

/* PAWL_ECONFIG, PAWL_EINVAL. The URL must be freed in any case. */
pawl_code pawl__rabbitmq_url_read(pawl__rabbitmq_url *url, pawl__rabbitmq_use use, const char *text,
                                  pawl_error *error);
void      pawl__rabbitmq_url_free(pawl__rabbitmq_url *url);

#endif
