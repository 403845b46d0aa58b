/* rabbitmq.h - types and functions that the files of the module for RabbitMQ share.
 *
 *     rabbitmq.c    the outbound transport; a call: connect -> declare -> publish, repeated after an idle
 *                   connection was lost, and message by message after a closed channel
 *     connection.c  hosts, TLS, login, and what went wrong there
 *     topology.c    queues and exchanges, declared at their first use
 *     publish.c     messages, and the server's confirms
 *     envelope.c    a message as AMQP has it
 *     consume.c     the inbound transport: connect -> declare -> consume, deliveries, acknowledgements
 *     acks.c        which deliveries are to be acknowledged
 *     letter.c      a message of AMQP as pawl has it
 *     url.c         the URL
 *
 * A connection has two channels, one to publish or consume and one to declare, since a refused declaration closes its
 * channel.
 *
 * Threads: one for each outbound or inbound transport. Tests: tests/unit/transport/test_rabbitmq_*.c,
 * tests/contract/test_rabbitmq_*.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_H
#define PAWL_TRANSPORT_RABBITMQ_H

#include "pawl/inbound.h"
#include "transport/rabbitmq/envelope.h"

#define PAWL__RABBITMQ_PUBLISHING 1 /* the channels */
#define PAWL__RABBITMQ_CONSUMING 1
#define PAWL__RABBITMQ_DECLARING 2
#define PAWL__RABBITMQ_REASON_SIZE 200

/* Names of queues and exchanges that this connection has declared. */
typedef struct pawl__rabbitmq_names {
    char **items;
    size_t count, capacity;
} pawl__rabbitmq_names;

typedef struct pawl__rabbitmq {
    pawl_transport          base;
    pawl__rabbitmq_url      url;
    const char             *name;        /* of the connection, for operators */
    amqp_connection_state_t connection;  /* NULL: there is none */
    size_t                  host;        /* index of the last one that answered */
    bool                    was_idle;    /* the connection was made by an earlier call */
    bool                    can_declare; /* the declaring channel is open */
    uint64_t                tag;         /* number of the last message published on the channel */
    bool    is_blocked; /* the server has announced that it takes no messages for now ... */
    char    reason[PAWL__RABBITMQ_REASON_SIZE]; /* ... for this reason */
    int     silences; /* consecutive calls without any confirm in time; below 0: some were confirmed before ... */
    int64_t some_at; /* ... at this monotonic time */
    pawl__rabbitmq_names declared;
    int                  stop_fd; /* readable when a take must end; 0: none */
} pawl__rabbitmq;

typedef enum pawl__piece_state {
    PAWL__PIECE_OPEN, /* to be published */
    PAWL__PIECE_SENT, /* unconfirmed */
    PAWL__PIECE_DONE, /* the outcome of its delivery is known */
} pawl__piece_state;

/* A message of the call under way. */
typedef struct pawl__piece {
    pawl_delivery    *item;
    pawl__envelope    envelope;
    pawl__piece_state state;
    uint64_t          tag; /* number under which it was last published; 0: never */
} pawl__piece;

/* A call of the outbound transport. */
typedef struct pawl__posting {
    pawl__piece *pieces;
    size_t       count;
    size_t       sent_count; /* number of pieces in state SENT */
    pawl_arena  *arena;
    int64_t      end;       /* end of the call's time, monotonic */
    int64_t      end_whole; /* the same, not shortened when the server blocks */
} pawl__posting;

/* ---- connection.c ----------------------------------------------------------------------- */

/* Tries the hosts one after another, at least one. When the time for connecting is over, or the endpoint stops, the
 * next call continues with the remaining hosts. PAWL_EUNREACHABLE; PAWL_EDENIED: a server answered and refused. */
pawl_code pawl__rabbitmq_connect(pawl__rabbitmq *self, pawl_error *error);
bool      pawl__rabbitmq_is_stopping(const pawl__rabbitmq *self);
/* Drops the connection; `is_whole`: closes it properly first. */
void pawl__rabbitmq_disconnect(pawl__rabbitmq *self, bool is_whole);
/* The error text of the server or of the library for a failed call. It lies in static memory of the library, or in the
 * connection's memory. */
pawl_text pawl__rabbitmq_says(const amqp_rpc_reply_t *reply);
pawl_text pawl__rabbitmq_close_text(const amqp_method_t *method);
/* The AMQP reply code, or 0. */
int pawl__rabbitmq_reply_code(const amqp_rpc_reply_t *reply);
/* "host:5672" of the connected host. */
pawl_text pawl__rabbitmq_address(const pawl__rabbitmq *self, pawl_arena *arena);
int64_t   pawl__rabbitmq_now(void); /* monotonic, in microseconds */

/* ---- topology.c ------------------------------------------------------------------------- */

/* Declares the queues and exchanges of all open pieces. If one is refused, its pieces become DONE: unreachable, or a
 * transient failure if each type has its own exchange. Any code but PAWL_OK: the connection is lost. */
pawl_code pawl__rabbitmq_declare(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error);
void      pawl__rabbitmq_names_forget(pawl__rabbitmq_names *names);
/* Declares the queue that an endpoint reads, the exchange of its URL or those of its types, and the bindings.
 * PAWL_ECONFIG: refused, and the connection still works; any other code but PAWL_OK: the connection is lost. */
pawl_code pawl__rabbitmq_declare_intake(pawl__rabbitmq *self, const pawl_inbound_options *options,
                                        pawl_error *error);

/* PAWL_OK also if the queue does not exist. */
pawl_code pawl__rabbitmq_remove_queue(pawl__rabbitmq *self, const char *queue, pawl_error *error);

/* ---- publish.c -------------------------------------------------------------------------- */

/* Publishes the open pieces and waits for their confirms. PAWL_OK: all are DONE. After any other code the connection
 * must not be used. PAWL_EPERSIST: a message closed the channel; PAWL_EDENIED: every message would. */
pawl_code pawl__rabbitmq_publish(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error);
void      pawl__piece_fail(pawl__piece *piece, pawl_attempt_outcome outcome, pawl_text why);

#endif
