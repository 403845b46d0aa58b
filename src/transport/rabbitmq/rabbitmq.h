/* rabbitmq.h - types and functions that the files of the module for RabbitMQ share.
 *
 *     rabbitmq.c    the sink's table; one call: connect -> declare -> publish, once more after a
 *                   connection that was lost while it was idle, one by one after a closed channel
 *     connection.c  hosts, TLS, login, and what went wrong there
 *     topology.c    queues and exchanges, declared at their first use
 *     publish.c     messages, and the server's confirms
 *     envelope.c    a message as AMQP has it
 *     consume.c     the intake's table: connect -> declare -> consume, deliveries, acknowledgements
 *     acks.c        which deliveries are to be acknowledged
 *     letter.c      a message of AMQP as pawl has it
 *     url.c         the URL
 *
 * A connection has two channels: one that publishes or consumes, and one that declares, since a refused
 * declaration closes its channel.
 *
 * Threads: one, as every sink and every intake. Tests: tests/unit/transport/test_rabbitmq_*.c,
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
    bool                    was_idle;    /* the connection was there before this call */
    bool                    can_declare; /* the declaring channel is open */
    uint64_t                tag;         /* of the last message published on it */
    bool                    is_blocked;  /* the server takes no messages for now ... */
    char                    reason[PAWL__RABBITMQ_REASON_SIZE]; /* ... as it says */
    int silences; /* calls in a row in which nothing was confirmed in time; below 0: some were before ... */
    int64_t              some_at; /* ... at this monotonic time */
    pawl__rabbitmq_names declared;
    int                  stop_fd; /* of the take; 0: there is none */
} pawl__rabbitmq;

typedef enum pawl__piece_state {
    PAWL__PIECE_OPEN, /* to be published */
    PAWL__PIECE_SENT, /* unconfirmed */
    PAWL__PIECE_DONE, /* its delivery has its outcome */
} pawl__piece_state;

/* A delivery of a call. */
typedef struct pawl__piece {
    pawl_delivery    *item;
    pawl__envelope    envelope;
    pawl__piece_state state;
    uint64_t          tag; /* of the last time it was published; 0: it was not */
} pawl__piece;

/* A call of the sink. */
typedef struct pawl__posting {
    pawl__piece *pieces;
    size_t       count;
    size_t       sent_count; /* of the state SENT */
    pawl_arena  *arena;
    int64_t      end;       /* monotonic time */
    int64_t      end_whole; /* the same, unless the server blocks */
} pawl__posting;

/* ---- connection.c ----------------------------------------------------------------------- */

/* Tries one host after the other, at least the first, and no other one once the endpoint stops. PAWL_EUNREACHABLE;
 * PAWL_EDENIED: the server answered, and refused. */
pawl_code pawl__rabbitmq_connect(pawl__rabbitmq *self, pawl_error *error);
bool      pawl__rabbitmq_is_stopping(const pawl__rabbitmq *self);
/* Forgets the connection; says goodbye when `is_whole`. */
void pawl__rabbitmq_disconnect(pawl__rabbitmq *self, bool is_whole);
/* The words of the server, or of the library, for a call that failed. In a static text of the library, or in the
 * connection's memory. */
pawl_text pawl__rabbitmq_says(const amqp_rpc_reply_t *reply);
pawl_text pawl__rabbitmq_close_text(const amqp_method_t *method);
/* The code of AMQP in it, or 0. */
int pawl__rabbitmq_reply_code(const amqp_rpc_reply_t *reply);
/* "host:5672", of the host that is connected. */
pawl_text pawl__rabbitmq_address(const pawl__rabbitmq *self, pawl_arena *arena);
int64_t   pawl__rabbitmq_now(void); /* monotonic, in microseconds */

/* ---- topology.c ------------------------------------------------------------------------- */

/* Declares what the open pieces need. A piece whose queue or exchange is refused is DONE, as unreachable, or as a
 * transient failure where each type has an exchange. Any other code but PAWL_OK: the connection is lost. */
pawl_code pawl__rabbitmq_declare(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error);
void      pawl__rabbitmq_names_forget(pawl__rabbitmq_names *names);
/* The queue that an endpoint reads, the exchange of its URL or those of the types, and their bindings. PAWL_ECONFIG:
 * refused, and the connection is whole; any other code but PAWL_OK: it is lost. */
pawl_code pawl__rabbitmq_declare_intake(pawl__rabbitmq *self, const pawl_inbound_options *options,
                                        pawl_error *error);

/* A queue that is not there is removed already. */
pawl_code pawl__rabbitmq_remove_queue(pawl__rabbitmq *self, const char *queue, pawl_error *error);

/* ---- publish.c -------------------------------------------------------------------------- */

/* Publishes the open pieces and waits for their confirms. PAWL_OK: all are DONE. Any other code: the
 * connection is of no more use. PAWL_EPERSIST: one of the messages closed the channel; PAWL_EDENIED: any would. */
pawl_code pawl__rabbitmq_publish(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error);
void      pawl__piece_fail(pawl__piece *piece, pawl_attempt_outcome outcome, pawl_text why);

#endif
