/* publish.c - messages go out one behind the other, and the server's answers settle them:
 *
 *     OPEN --published--> SENT --ack--------------------> DONE, delivered
 *                              --returned, then ack------> DONE, a transient failure
 *                              --nack--------------------> DONE, a transient failure
 *                              --connection or channel closed, or the end of time: nobody knows
 *                              --channel closed, as the route's exchange is missing or refused: no failure of the message
 *                              --the server is blocked, and stays so: the same, and no failure of the message
 *
 * The server counts the messages of a channel from 1, and an answer names a number, or all up to it. A
 * returned message comes back whole before its ack and is known by its id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define BLOCKED_WAIT PAWL_SECONDS(1)
#define LOOK_COUNT 64 /* messages that go out between two looks at what came in */

void pawl__piece_fail(pawl__piece *piece, pawl_attempt_outcome outcome, pawl_text why)
{
    piece->state         = PAWL__PIECE_DONE;
    piece->item->outcome = outcome;
    piece->item->error   = why;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void settle_one(pawl__posting *posting, pawl__piece *piece, bool is_ack)
{
    if (piece->state != PAWL__PIECE_SENT)
        return;
    posting->sent_count--;
    piece->state = PAWL__PIECE_DONE;
    if (piece->item->outcome != PAWL_ATTEMPT_SUCCESS)
        return; /* returned before */
    if (!is_ack)
        pawl__piece_fail(piece, PAWL_ATTEMPT_TRANSIENT,
                         PAWL_TEXT("RabbitMQ did not take it (basic.nack): the queue is full, or "
                                   "most of its nodes are unavailable"));
}

static void settle(pawl__posting *posting, uint64_t tag, bool is_multiple, bool is_ack)
{
    for (size_t i = 0; i < posting->count; i++) {
        pawl__piece *piece = &posting->pieces[i];
        if (piece->tag == tag || (is_multiple && (tag == 0 || piece->tag < tag)))
            settle_one(posting, piece, is_ack);
    }
}

static pawl_text returned_text(const pawl__piece *piece, pawl_arena *arena)
{
    const pawl__envelope *envelope = &piece->envelope;
    if (envelope->exchange.len == 0)
        return pawl_arena_printf(arena, "RabbitMQ has no queue '%.*s' (returned: NO_ROUTE)",
                                 (int)envelope->routing_key.len,
                                 (const char *)envelope->routing_key.bytes);
    return pawl_arena_printf(
        arena,
        "no queue is bound to exchange '%.*s' for the key '%.*s' (returned: NO_ROUTE); "
        "mandatory=no takes that for delivered",
        (int)envelope->exchange.len, (const char *)envelope->exchange.bytes,
        (int)envelope->routing_key.len, (const char *)envelope->routing_key.bytes);
}

/* The header of a returned message: whose it is. Its queue may have been deleted since it was declared: the next try
 * declares all anew. */
static void take_returned(pawl__rabbitmq *self, pawl__posting *posting, const amqp_frame_t *frame)
{
    const amqp_basic_properties_t *properties = frame->payload.properties.decoded;
    for (size_t i = 0; i < posting->count; i++) {
        pawl__piece *piece = &posting->pieces[i];
        pawl_text    id    = piece->item->message.id;
        if (piece->state != PAWL__PIECE_SENT || piece->item->outcome != PAWL_ATTEMPT_SUCCESS ||
            properties->message_id.len != id.size ||
            memcmp(properties->message_id.bytes, id.data, id.size) != 0)
            continue;
        piece->item->outcome = PAWL_ATTEMPT_TRANSIENT;
        piece->item->error   = returned_text(piece, posting->arena);
        pawl__rabbitmq_names_forget(&self->declared);
        return;
    }
}

/* A server that is short of memory or disk may stay so for long: the rest of the call is cut short, so that other routes
 * go on. */
static void set_blocked(pawl__rabbitmq *self, pawl__posting *posting,
                        const amqp_connection_blocked_t *blocked)
{
    int64_t end      = pawl__rabbitmq_now() + BLOCKED_WAIT;
    self->is_blocked = blocked != NULL;
    if (blocked == NULL) {
        posting->end = posting->end_whole;
        return;
    }
    posting->end = end < posting->end ? end : posting->end;
    (void)snprintf(self->reason, sizeof self->reason, "%.*s", (int)blocked->reason.len,
                   (const char *)blocked->reason.bytes);
}

/* Is the exchange missing, or closed to the user, to which all messages of the route go? Of an exchange of each type another
 * may be well. */
static bool is_of_route(const pawl__rabbitmq *self, const amqp_channel_close_t *closed)
{
    return !self->url.is_per_type &&
           (closed->reply_code == AMQP_NOT_FOUND || closed->reply_code == AMQP_ACCESS_REFUSED);
}

static pawl_code take_close(const pawl__rabbitmq *self, const pawl__posting *posting,
                            const amqp_method_t *method, pawl_error *error)
{
    pawl_text address = pawl__rabbitmq_address(self, posting->arena);
    pawl_text says    = pawl__rabbitmq_close_text(method);
    bool      is_all  = method->id == AMQP_CONNECTION_CLOSE_METHOD;
    pawl_code code    = is_all                               ? PAWL_ELOST
                        : is_of_route(self, method->decoded) ? PAWL_EDENIED
                                                             : PAWL_EPERSIST;
    return pawl_error_set(error, code, "rabbitmq: %.*s closed the %s: %.*s",
                          PAWL_TEXT_ARGS(address), is_all ? "connection" : "channel",
                          PAWL_TEXT_ARGS(says));
}

static pawl_code take_method(pawl__rabbitmq *self, pawl__posting *posting,
                             const amqp_method_t *method, pawl_error *error)
{
    const amqp_basic_ack_t  *ack  = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;
    switch (method->id) {
    case AMQP_BASIC_ACK_METHOD: settle(posting, ack->delivery_tag, ack->multiple, true); break;
    case AMQP_BASIC_NACK_METHOD: settle(posting, nack->delivery_tag, nack->multiple, false); break;
    case AMQP_CONNECTION_BLOCKED_METHOD: set_blocked(self, posting, method->decoded); break;
    case AMQP_CONNECTION_UNBLOCKED_METHOD: set_blocked(self, posting, NULL); break;
    case AMQP_CHANNEL_CLOSE_METHOD:
    case AMQP_CONNECTION_CLOSE_METHOD: return take_close(self, posting, method, error);
    default: break; /* basic.return: its header follows */
    }
    return PAWL_OK;
}

static pawl_code take_frame(pawl__rabbitmq *self, pawl__posting *posting, const amqp_frame_t *frame,
                            pawl_error *error)
{
    if (frame->frame_type == AMQP_FRAME_METHOD)
        return take_method(self, posting, &frame->payload.method, error);
    if (frame->frame_type == AMQP_FRAME_HEADER)
        take_returned(self, posting, frame); /* its body follows, and tells nothing */
    return PAWL_OK;
}

static pawl_code lost(const pawl__rabbitmq *self, const pawl__posting *posting, int status,
                      pawl_error *error)
{
    pawl_text address = pawl__rabbitmq_address(self, posting->arena);
    return pawl_error_set(
        error, PAWL_ELOST,
        "rabbitmq: the connection to %.*s is lost: %s; what was not confirmed goes "
        "out again under its id",
        PAWL_TEXT_ARGS(address), amqp_error_string2(status));
}

/* Reads one frame; waits for it until `end`. `*is_there` is false when none came. */
static pawl_code read_frame(pawl__rabbitmq *self, pawl__posting *posting, int64_t end,
                            bool *is_there, pawl_error *error)
{
    amqp_frame_t   frame;
    int64_t        left   = end - pawl__rabbitmq_now();
    struct timeval limit  = {.tv_sec  = left > 0 ? (time_t)(left / 1000000) : 0,
                             .tv_usec = left > 0 ? (suseconds_t)(left % 1000000) : 0};
    int            status = amqp_simple_wait_frame_noblock(self->connection, &frame, &limit);
    *is_there             = status == AMQP_STATUS_OK;
    if (status == AMQP_STATUS_TIMEOUT)
        return PAWL_OK;
    if (status != AMQP_STATUS_OK)
        return lost(self, posting, status, error);
    pawl_code code = take_frame(self, posting, &frame, error);
    amqp_maybe_release_buffers(self->connection);
    return code;
}

/* Reads what is there. */
static pawl_code read_frames(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code     = PAWL_OK;
    bool      is_there = true;
    while (code == PAWL_OK && is_there)
        code = read_frame(self, posting, 0, &is_there, error);
    return code;
}

static pawl_code end_of_time(const pawl__rabbitmq *self, const pawl__posting *posting,
                             pawl_error *error)
{
    pawl_text address = pawl__rabbitmq_address(self, posting->arena);
    if (self->is_blocked)
        return pawl_error_set(
            error, PAWL_EUNREACHABLE,
            "rabbitmq: %.*s takes no messages for now (connection.blocked), it is "
            "%s: give it memory or disk",
            PAWL_TEXT_ARGS(address), self->reason);
    return pawl_error_set(
        error, PAWL_ETIMEOUT,
        "rabbitmq: %.*s did not confirm %zu of %zu messages within %d s; they go out "
        "again under their ids",
        PAWL_TEXT_ARGS(address), posting->sent_count, posting->count, self->url.timeout_s);
}

/* ---- Publishing ------------------------------------------------------------------------------ */

static pawl_code send_one(pawl__rabbitmq *self, pawl__posting *posting, pawl__piece *piece,
                          pawl_error *error)
{
    pawl__envelope *envelope = &piece->envelope;
    piece->tag               = ++self->tag; /* a message that fails on its way counts as sent */
    int status = amqp_basic_publish(self->connection, PAWL__RABBITMQ_PUBLISHING, envelope->exchange,
                                    envelope->routing_key, self->url.is_mandatory, false,
                                    &envelope->properties, envelope->body);
    if (status != AMQP_STATUS_OK)
        return lost(self, posting, status, error);
    piece->state         = PAWL__PIECE_SENT;
    piece->item->outcome = PAWL_ATTEMPT_SUCCESS; /* unless it comes back */
    posting->sent_count++;
    return PAWL_OK;
}

/* A blocked server reads no more, so that nothing is sent until it does. */
static pawl_code wait_while_blocked(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code     = PAWL_OK;
    bool      is_there = true;
    while (code == PAWL_OK && self->is_blocked && is_there)
        code = read_frame(self, posting, posting->end, &is_there, error);
    return code == PAWL_OK && self->is_blocked ? end_of_time(self, posting, error) : code;
}

/* TCP_CORK: the library writes three pieces for each message, and without it each message is a packet, which costs
 * both sides more than all else of it. The system sends full packets meanwhile, and the rest when it ends. */
static void cork(const pawl__rabbitmq *self, int is_corked)
{
    (void)setsockopt(amqp_get_sockfd(self->connection), IPPROTO_TCP, TCP_CORK, &is_corked,
                     sizeof is_corked);
}

static pawl_code send_some(pawl__rabbitmq *self, pawl__posting *posting, size_t first,
                           pawl_error *error)
{
    pawl_code code = PAWL_OK;
    cork(self, 1);
    for (size_t i = first; i < posting->count && i < first + LOOK_COUNT && code == PAWL_OK; i++)
        if (posting->pieces[i].state == PAWL__PIECE_OPEN)
            code = send_one(self, posting, &posting->pieces[i], error);
    cork(self, 0);
    return code;
}

static pawl_code send_all(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < posting->count && code == PAWL_OK; i += LOOK_COUNT) {
        code = read_frames(self, posting, error);
        if (code == PAWL_OK)
            code = wait_while_blocked(self, posting, error);
        if (code == PAWL_OK)
            code = send_some(self, posting, i, error);
    }
    return code;
}

pawl_code pawl__rabbitmq_publish(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code     = send_all(self, posting, error);
    bool      is_there = true;
    while (code == PAWL_OK && posting->sent_count > 0 && is_there)
        code = read_frame(self, posting, posting->end, &is_there, error);
    return code == PAWL_OK && posting->sent_count > 0 ? end_of_time(self, posting, error) : code;
}
