/* publish.c - publishes messages without waiting in between; the server's answers settle them:
 *
 *     OPEN --published--> SENT --ack--------------------> DONE, delivered
 *                              --returned, then ack------> DONE, a transient failure
 *                              --nack--------------------> DONE, a transient failure
 *                              --connection or channel closed, or time over: unknown
 *                              --channel closed, as the route's exchange is missing or refused: no failure of the message
 *                              --the server is blocked, and stays so: the same, and no failure of the message
 *
 * The server counts the messages of a channel from 1, and an answer names a number, or all up to it. A
 * returned message comes back whole before its ack and is known by its id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define BLOCKED_WAIT PAWL_SECONDS(1)
#define LOOK_COUNT 64     /* messages sent before incoming frames are read ... */
#define LOOK_SIZE 65536   /* ... and bytes of their bodies, the last one's not counted */
#define FRAME_OVERHEAD 20 /* bytes of a properties frame besides the properties */

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

/* Finds the piece of a returned message by its header. Its queue may have been deleted since it was declared, so the
 * next try declares everything again. */
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

/* A server short of memory or disk may stay blocked for long: the call's time is shortened, so that other routes are
 * not held up. */
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

/* Did the channel close because the exchange of the whole route is missing or forbidden? If each type has an exchange,
 * others may still work. */
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
        take_returned(self, posting, frame); /* the body that follows is ignored */
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

/* Reads one frame, waiting until `end`. `*is_there` is false when none came. */
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

/* Checks that the properties fit into a frame, if the server agreed to smaller frames than requested. The library
 * would notice that only after it has written part of the message, and the connection would be lost. */
static pawl_code check_frame(pawl__rabbitmq *self, pawl__posting *posting, pawl__piece *piece,
                             pawl_error *error)
{
    int frame_size = amqp_get_frame_max(self->connection);
    if (frame_size == 0 || frame_size >= PAWL__RABBITMQ_FRAME_SIZE_MAX)
        return PAWL_OK; /* the limit of the envelope is below it */
    amqp_bytes_t frame = {.len   = (size_t)frame_size - FRAME_OVERHEAD,
                          .bytes = pawl_allocate((size_t)frame_size)};
    if (frame.bytes == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for a frame");
    if (amqp_encode_properties(AMQP_BASIC_CLASS, &piece->envelope.properties, frame) < 0) {
        pawl_text address = pawl__rabbitmq_address(self, posting->arena);
        pawl__piece_fail(piece, PAWL_ATTEMPT_REJECTED,
                         pawl_arena_printf(posting->arena,
                                           "its headers do not fit a frame of %d bytes, the "
                                           "frame_max of RabbitMQ at %.*s",
                                           frame_size, PAWL_TEXT_ARGS(address)));
    }
    pawl_free(frame.bytes);
    return PAWL_OK;
}

/* When TCP_USER_TIMEOUT has ended a write, the server's connection.blocked and confirms may still be unread. */
static pawl_code fail_write(pawl__rabbitmq *self, pawl__posting *posting, const pawl__piece *piece,
                            int status, bool is_over, pawl_error *error)
{
    pawl_error ignored = PAWL_ERROR_INIT;
    pawl_text  address = pawl__rabbitmq_address(self, posting->arena);
    if (!is_over)
        return lost(self, posting, status, error);
    (void)read_frames(self, posting, &ignored);
    if (self->is_blocked)
        return end_of_time(self, posting, error);
    return pawl_error_set(error, PAWL_ETIMEOUT,
                          "rabbitmq: %.*s did not read a message with a body of %zu bytes within "
                          "%d s; what was not confirmed goes out again under its id",
                          PAWL_TEXT_ARGS(address), piece->envelope.body.len, self->url.timeout_s);
}

static pawl_code send_one(pawl__rabbitmq *self, pawl__posting *posting, pawl__piece *piece,
                          pawl_error *error)
{
    pawl__envelope *envelope = &piece->envelope;
    int64_t         end      = pawl__rabbitmq_now() + PAWL_SECONDS(self->url.timeout_s);
    pawl_code       code     = check_frame(self, posting, piece, error);
    if (code != PAWL_OK || piece->state == PAWL__PIECE_DONE)
        return code;
    piece->tag = ++self->tag; /* also counted if the write fails half-way */
    errno      = 0;
    int status = amqp_basic_publish(self->connection, PAWL__RABBITMQ_PUBLISHING, envelope->exchange,
                                    envelope->routing_key, self->url.is_mandatory, false,
                                    &envelope->properties, envelope->body);
    if (status != AMQP_STATUS_OK) {
        bool is_over = errno == ETIMEDOUT || pawl__rabbitmq_now() >= end;
        return fail_write(self, posting, piece, status, is_over, error);
    }
    piece->state         = PAWL__PIECE_SENT;
    piece->item->outcome = PAWL_ATTEMPT_SUCCESS; /* unless the server returns it */
    posting->sent_count++;
    return PAWL_OK;
}

/* A blocked server does not read, so nothing is sent until it is unblocked. */
static pawl_code wait_while_blocked(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code     = PAWL_OK;
    bool      is_there = true;
    while (code == PAWL_OK && self->is_blocked && is_there)
        code = read_frame(self, posting, posting->end, &is_there, error);
    return code == PAWL_OK && self->is_blocked ? end_of_time(self, posting, error) : code;
}

/* TCP_CORK: the library makes three writes per message, which would otherwise be a packet each, the largest part of
 * the cost. The system sends full packets meanwhile, and the rest when corking ends. */
static void cork(const pawl__rabbitmq *self, int is_corked)
{
    (void)setsockopt(amqp_get_sockfd(self->connection), IPPROTO_TCP, TCP_CORK, &is_corked,
                     sizeof is_corked);
}

/* Sends pieces from `*next` on, and sets `*next` behind the last one sent. */
static pawl_code send_some(pawl__rabbitmq *self, pawl__posting *posting, size_t *next,
                           pawl_error *error)
{
    pawl_code code = PAWL_OK;
    size_t    end = *next + LOOK_COUNT, size = 0;
    cork(self, 1);
    for (; *next < posting->count && *next < end && size < LOOK_SIZE && code == PAWL_OK; ++*next) {
        pawl__piece *piece = &posting->pieces[*next];
        if (piece->state != PAWL__PIECE_OPEN)
            continue;
        code = send_one(self, posting, piece, error);
        size += piece->envelope.body.len;
    }
    cork(self, 0);
    return code;
}

static pawl_code send_all(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    size_t    next = 0;
    while (next < posting->count && code == PAWL_OK) {
        code = read_frames(self, posting, error);
        if (code == PAWL_OK)
            code = wait_while_blocked(self, posting, error);
        if (code == PAWL_OK)
            code = send_some(self, posting, &next, error);
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
