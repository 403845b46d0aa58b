/* consume.c - the inbound transport: receives deliveries of a queue, and sends acknowledgements.
 *
 * It has a connection of its own: when RabbitMQ is low on memory, it stops reading from connections that publish, and
 * acknowledgements on them would be delayed. The reading thread waits in take(), where it also sends heartbeats and
 * notices missing ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/acks.h"
#include "transport/rabbitmq/envelope.h"
#include "transport/rabbitmq/rabbitmq.h"

#include <poll.h>
#include <stdint.h>
#include <string.h>

#define CONSUMER_TAG "pawl"       /* one for each channel */
#define FINISH_S 5                /* as long as workers wait for a reader that ends */
#define LOOK_TIME PAWL_SECONDS(1) /* between checks of heartbeats while idle */

typedef struct consumer {
    pawl_inbound         base;
    pawl__rabbitmq       link; /* the connection, as an outbound transport has it */
    pawl_inbound_options options;
    pawl__acks           acks;
    size_t               size; /* bytes that the take has */
    bool                 is_finished;
} consumer;

/* ---- The connection ---------------------------------------------------------------------------- */

static void give_up(consumer *self, bool is_whole)
{
    pawl__rabbitmq_disconnect(&self->link, is_whole);
    self->acks.count = 0;
}

static pawl_code lost(const consumer *self, const char *what, pawl_text says, pawl_error *error)
{
    const pawl__url_host *host = &self->link.url.parts.hosts[self->link.host];
    return pawl_error_set(error, PAWL_ELOST, "rabbitmq: %s:%u %s: %.*s", host->name, host->port,
                          what, PAWL_TEXT_ARGS(says));
}

static size_t prefetch_of(const consumer *self)
{
    size_t count =
        self->link.url.prefetch != 0 ? (size_t)self->link.url.prefetch : self->options.prefetch;
    return count < 1 ? 1 : count > 65535 ? 65535 : count;
}

static pawl_code start_consumer(consumer *self, pawl_error *error)
{
    amqp_connection_state_t connection = self->link.connection;
    (void)amqp_basic_qos(connection, PAWL__RABBITMQ_CONSUMING, 0, (uint16_t)prefetch_of(self),
                         false);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        (void)amqp_basic_consume(
            connection, PAWL__RABBITMQ_CONSUMING, amqp_cstring_bytes(self->options.queue),
            amqp_cstring_bytes(CONSUMER_TAG), false, false, false, amqp_empty_table);
        reply = amqp_get_rpc_reply(connection);
    }
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return PAWL_OK;
    pawl_text says = pawl__rabbitmq_says(&reply);
    return pawl_error_set(error, PAWL_EUNREACHABLE,
                          "rabbitmq: queue '%s' cannot be read from: %.*s", self->options.queue,
                          PAWL_TEXT_ARGS(says));
}

static pawl_code connect(consumer *self, pawl_error *error)
{
    if (self->link.connection != NULL)
        return PAWL_OK;
    pawl_code code = pawl__rabbitmq_connect(&self->link, error);
    if (code == PAWL_OK && pawl__acks_begin(&self->acks, prefetch_of(self)) != PAWL_OK)
        code = pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for %zu deliveries",
                              prefetch_of(self));
    if (code == PAWL_OK)
        code = pawl__rabbitmq_declare_intake(&self->link, &self->options, error);
    return code == PAWL_OK ? start_consumer(self, error) : code;
}

/* ---- Frames ------------------------------------------------------------------------------------- */

/* Is the frame a notice of low memory? It concerns only publishers. */
static bool is_for_others(const amqp_frame_t *frame)
{
    return frame->frame_type == AMQP_FRAME_METHOD &&
           (frame->payload.method.id == AMQP_CONNECTION_BLOCKED_METHOD ||
            frame->payload.method.id == AMQP_CONNECTION_UNBLOCKED_METHOD);
}

/* Reads the next frame of a message. Waits for a slow server, unless the endpoint stops. */
static pawl_code read_part(const consumer *self, uint8_t type, amqp_frame_t *frame,
                           pawl_error *error)
{
    int  status  = AMQP_STATUS_OK;
    bool goes_on = true;
    while (goes_on) {
        struct timeval limit = {.tv_sec = LOOK_TIME / PAWL_SECONDS(1)};
        status               = amqp_simple_wait_frame_noblock(self->link.connection, frame, &limit);
        goes_on = status == AMQP_STATUS_TIMEOUT ? !pawl__rabbitmq_is_stopping(&self->link)
                                                : status == AMQP_STATUS_OK && is_for_others(frame);
    }
    if (status == AMQP_STATUS_OK && frame->frame_type == type)
        return PAWL_OK;
    pawl_text says = status != AMQP_STATUS_OK ? pawl_text_of(amqp_error_string2(status))
                     : frame->frame_type == AMQP_FRAME_METHOD
                         ? pawl__rabbitmq_close_text(&frame->payload.method)
                         : PAWL_TEXT("a frame of another kind");
    return lost(self, "broke off in a message", says, error);
}

static pawl_code read_body(consumer *self, char *body, size_t size, pawl_error *error)
{
    for (size_t end = 0; end < size;) {
        amqp_frame_t frame;
        pawl_code    code = read_part(self, AMQP_FRAME_BODY, &frame, error);
        if (code != PAWL_OK)
            return code;
        amqp_bytes_t bytes = frame.payload.body_fragment;
        if (bytes.len > size - end)
            return lost(self, "sent more than the message has", PAWL_TEXT("a body"), error);
        memcpy(body + end, bytes.bytes, bytes.len);
        end += bytes.len;
        amqp_maybe_release_buffers_on_channel(self->link.connection, PAWL__RABBITMQ_CONSUMING);
    }
    return PAWL_OK;
}

/* Reads a message frame by frame. amqp_read_message copies all headers and fails if one has no name, also a nested
 * one; the message would then be redelivered and fail again, and its neighbours with it. */
static pawl_code read_message(consumer *self, pawl_arena *arena, pawl_taken *taken,
                              pawl_error *error)
{
    amqp_frame_t frame;
    pawl_code    code = read_part(self, AMQP_FRAME_HEADER, &frame, error);
    if (code != PAWL_OK)
        return code;
    const amqp_basic_properties_t *properties = frame.payload.properties.decoded;
    const amqp_message_t           message    = {.properties = *properties};
    size_t                         size       = (size_t)frame.payload.properties.body_size;
    char                          *body = size < SIZE_MAX ? pawl_arena_take(arena, size + 1) : NULL;
    if (body == NULL || pawl__letter_read(&message, arena, taken) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for a message");
    /* The properties must not be used from here on: reading the body has freed their memory. */
    body[size]          = '\0';
    taken->message.body = (pawl_text){.data = body, .size = size};
    return read_body(self, body, size, error);
}

static pawl_code take_message(consumer *self, const amqp_basic_deliver_t *deliver,
                              pawl_arena *arena, pawl_taken *taken, pawl_error *error)
{
    uint64_t  tag            = deliver->delivery_tag;
    bool      is_redelivered = deliver->redelivered; /* reading the message frees the frame */
    pawl_code code           = read_message(self, arena, taken, error);
    if (code != PAWL_OK)
        return code;
    taken->channel        = self->acks.channel;
    taken->tag            = tag;
    taken->is_redelivered = is_redelivered;
    if (taken->message.id.size == 0 && taken->refusal.size == 0 &&
        self->link.url.without_id == PAWL__RABBITMQ_WITHOUT_ID_DEAD)
        taken->refusal = PAWL_TEXT("it has no id, so that a copy of it would be handled again");
    self->size += PAWL_MESSAGE_SIZE(&taken->message);
    if (!pawl__acks_take(&self->acks, tag))
        return lost(self, "sent more than was asked for", PAWL_TEXT("basic.deliver"), error);
    return PAWL_OK;
}

static pawl_code take_frame(consumer *self, const amqp_frame_t *frame, pawl_arena *arena,
                            pawl_takings *takings, pawl_error *error)
{
    const amqp_method_t *method = &frame->payload.method;
    if (frame->frame_type != AMQP_FRAME_METHOD || is_for_others(frame))
        return PAWL_OK;
    switch (method->id) {
    case AMQP_BASIC_DELIVER_METHOD:
        return take_message(self, method->decoded, arena, &takings->items[takings->count++], error);
    case AMQP_BASIC_CANCEL_METHOD:
        return lost(self, "ended the consumer", PAWL_TEXT("the queue was deleted, or has moved"),
                    error);
    case AMQP_CHANNEL_CLOSE_METHOD:
        return lost(self, "closed the channel", pawl__rabbitmq_close_text(method), error);
    case AMQP_CONNECTION_CLOSE_METHOD:
        return lost(self, "closed the connection", pawl__rabbitmq_close_text(method), error);
    default: return PAWL_OK;
    }
}

static bool has_frame(const consumer *self)
{
    amqp_connection_state_t connection = self->link.connection;
    return amqp_frames_enqueued(connection) || amqp_data_in_buffer(connection);
}

/* Waits until there is something to read. False: `wake_fd` is readable, which ends the waiting. */
static bool wait_to_read(const consumer *self, int64_t microseconds, int wake_fd)
{
    struct pollfd ready[] = {{.fd = amqp_get_sockfd(self->link.connection), .events = POLLIN},
                             {.fd = wake_fd, .events = POLLIN}};
    if (has_frame(self))
        return true;
    (void)poll(ready, 2, (int)((microseconds + 999) / 1000));
    return ready[1].revents == 0;
}

/* Reads one frame if a complete one has arrived. */
static pawl_code read_frame(consumer *self, pawl_arena *arena, pawl_takings *takings,
                            bool *is_there, pawl_error *error)
{
    amqp_frame_t   frame;
    struct timeval none   = {0};
    int            status = amqp_simple_wait_frame_noblock(self->link.connection, &frame, &none);
    *is_there             = status == AMQP_STATUS_OK;
    if (status == AMQP_STATUS_TIMEOUT)
        return PAWL_OK;
    if (status != AMQP_STATUS_OK)
        return lost(self, "is lost", pawl_text_of(amqp_error_string2(status)), error);
    pawl_code code = take_frame(self, &frame, arena, takings, error);
    amqp_maybe_release_buffers_on_channel(self->link.connection, PAWL__RABBITMQ_CONSUMING);
    return code;
}

/* ---- Taking -------------------------------------------------------------------------------------- */

static pawl_code take_first(consumer *self, const pawl_take *by, pawl_arena *arena,
                            pawl_takings *takings, pawl_error *error)
{
    int64_t   end      = pawl__rabbitmq_now() + by->wait;
    int64_t   left     = by->wait;
    bool      is_there = true;
    bool      goes_on  = true;
    pawl_code code     = PAWL_OK;
    while (code == PAWL_OK && takings->count == 0 && goes_on) {
        bool is_awake = wait_to_read(self, left < LOOK_TIME ? left : LOOK_TIME, by->wake_fd);
        code          = read_frame(self, arena, takings, &is_there, error);
        left          = end - pawl__rabbitmq_now();
        left          = left > 0 ? left : 0;
        goes_on       = is_there || (is_awake && left > 0);
    }
    return code;
}

/* Takes the others that are there. */
static pawl_code take_rest(consumer *self, const pawl_take *by, pawl_arena *arena,
                           pawl_takings *takings, pawl_error *error)
{
    pawl_code code     = PAWL_OK;
    bool      is_there = takings->count > 0;
    while (code == PAWL_OK && is_there && takings->count < by->count_max &&
           !PAWL_SIZE_IS_REACHED(self->size, by->size_max))
        code = read_frame(self, arena, takings, &is_there, error);
    return code;
}

static pawl_code take(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                      pawl_takings *takings, pawl_error *error)
{
    consumer *self = (consumer *)inbound;
    *takings =
        (pawl_takings){.items = pawl_arena_take(arena, (by->count_max + 1) * sizeof(pawl_taken))};
    self->size         = 0;
    self->link.stop_fd = by->stop_fd;
    if (takings->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for %zu messages",
                              by->count_max);
    if (self->is_finished && self->link.connection == NULL)
        return PAWL_OK;
    pawl_code code = connect(self, error);
    if (code == PAWL_OK)
        code = take_first(self, by, arena, takings, error);
    if (code == PAWL_OK)
        code = take_rest(self, by, arena, takings, error);
    if (code == PAWL_OK)
        return code;
    takings->count = 0;
    give_up(self, false);
    return code;
}

static pawl_code settle(pawl_inbound *inbound, const pawl_taken *items, size_t count,
                        pawl_error *error)
{
    consumer *self        = (consumer *)inbound;
    int       status      = AMQP_STATUS_OK;
    uint64_t  tag         = 0;
    bool      is_multiple = false;
    for (size_t i = 0; i < count; i++)
        pawl__acks_settle(&self->acks, items[i].channel, items[i].tag);
    while (self->link.connection != NULL && status == AMQP_STATUS_OK &&
           pawl__acks_next(&self->acks, &tag, &is_multiple))
        status = amqp_basic_ack(self->link.connection, PAWL__RABBITMQ_CONSUMING, tag, is_multiple);
    if (status == AMQP_STATUS_OK)
        return PAWL_OK;
    pawl_code code = lost(self, "is lost", pawl_text_of(amqp_error_string2(status)), error);
    give_up(self, false);
    return code;
}

/* The server answers the cancel only behind all messages that it has sent. */
static pawl_code finish(pawl_inbound *inbound, pawl_error *error)
{
    consumer      *self = (consumer *)inbound;
    struct timeval wait = {.tv_sec = FINISH_S};
    self->is_finished   = true;
    if (self->link.connection == NULL)
        return PAWL_OK;
    (void)amqp_set_rpc_timeout(self->link.connection, &wait);
    (void)amqp_basic_cancel(self->link.connection, PAWL__RABBITMQ_CONSUMING,
                            amqp_cstring_bytes(CONSUMER_TAG));
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(self->link.connection);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return PAWL_OK;
    pawl_code code = lost(self, "does not end the consumer", pawl__rabbitmq_says(&reply), error);
    give_up(self, false);
    return code;
}

static void leave(pawl_inbound *inbound)
{
    consumer *self = (consumer *)inbound;
    give_up(self, true);
    self->is_finished = false;
}

/* Uses a temporary connection. */
static pawl_code remove_queue(pawl_inbound *inbound, pawl_error *error)
{
    consumer *self = (consumer *)inbound;
    give_up(self, true);
    self->link.stop_fd = 0;
    pawl_code code     = pawl__rabbitmq_connect(&self->link, error);
    if (code == PAWL_OK)
        code = pawl__rabbitmq_remove_queue(&self->link, self->options.queue, error);
    give_up(self, code == PAWL_OK);
    return code;
}

static pawl_code open_intake(pawl_inbound *inbound, const char *url,
                             const pawl_inbound_options *options, pawl_error *error)
{
    consumer *self = (consumer *)inbound;
    size_t    size = strlen(options->queue);
    memcpy(&self->options, options,
           options->options_size < sizeof self->options ? options->options_size
                                                        : sizeof self->options);
    self->link.name = "pawl inbound";
    pawl_code code  = pawl__rabbitmq_url_read(&self->link.url, PAWL__RABBITMQ_INTAKE, url, error);
    if (code == PAWL_OK && (size == 0 || size > PAWL__RABBITMQ_NAME_SIZE_MAX))
        code = pawl_error_set(error, PAWL_ECONFIG,
                              "rabbitmq: the queue's name has %zu bytes, the limits are 1 to %d",
                              size, PAWL__RABBITMQ_NAME_SIZE_MAX);
    return code;
}

static void close_intake(pawl_inbound *inbound)
{
    consumer *self = (consumer *)inbound;
    give_up(self, true);
    pawl__acks_free(&self->acks);
    pawl__rabbitmq_url_free(&self->link.url);
}

PAWL_API extern const pawl_inbound_ops pawl_inbound_driver;
const pawl_inbound_ops                 pawl_inbound_driver = {
                    .ops_size     = sizeof(pawl_inbound_ops),
                    .inbound_size = sizeof(consumer),
                    .scheme       = "amqp",
                    .open         = open_intake,
                    .close        = close_intake,
                    .take         = take,
                    .settle       = settle,
                    .leave        = leave,
                    .remove       = remove_queue,
                    .finish       = finish,
};
