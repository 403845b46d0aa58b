/* loop.c - consumes and publishes with confirms, on librabbitmq alone.
 *
 *     deliver n -> publish the follow-up, whose confirm is number n too -> confirmed up to n -> ack up to n
 *
 * One connection with a channel for each direction, since the server has a process for each channel. As many
 * messages are on the way as may be unacknowledged; nothing is waited for but the next frame. Deliveries come in
 * the order of their tags, and follow-ups go out in it, so that both are counted from 1 alike. Confirms may come in any
 * order; a delivery is acknowledged when all follow-ups up to its own are confirmed, many at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "broker.h"
#include "limit.h"
#include "transport/rabbitmq/rabbitmq.h"

#include <string.h>

#define CONSUMING 3   /* a channel beside those of the module */
#define PREFETCH 2000 /* more was measured to be no faster */
#define ACK_COUNT 200 /* deliveries that are acknowledged at once, while more are on the way */
#define WAIT_S 10     /* for a frame */
#define GO_ON_COUNT 256

typedef struct loop {
    pawl__rabbitmq            link;
    const pawl__bench_queues *queues;
    int64_t                   messages;
    uint64_t                  published;
    uint64_t                  confirmed; /* all up to this one */
    uint64_t                  acknowledged;
    bool                      is_confirmed[PREFETCH]; /* of numbers above, by remainder */
    pawl_random               random;
    pawl_error               *error;
} loop;

static pawl_code fail(loop *l, const char *what, pawl_text why)
{
    return pawl_error_set(l->error, PAWL_ELOST, "the loop: %s: %.*s", what, PAWL_TEXT_ARGS(why));
}

static pawl_code check_status(loop *l, const char *what, int status)
{
    return status == AMQP_STATUS_OK ? PAWL_OK
                                    : fail(l, what, pawl_text_of(amqp_error_string2(status)));
}

static pawl_code check_reply(loop *l, const char *what, amqp_rpc_reply_t reply)
{
    return reply.reply_type == AMQP_RESPONSE_NORMAL ? PAWL_OK
                                                    : fail(l, what, pawl__rabbitmq_says(&reply));
}

static pawl_code start(loop *l)
{
    amqp_connection_state_t connection = NULL;
    pawl_code               code       = pawl__rabbitmq_connect(&l->link, l->error);
    if (code != PAWL_OK)
        return code;
    connection = l->link.connection;
    (void)amqp_channel_open(connection, CONSUMING);
    code = check_reply(l, "channel", amqp_get_rpc_reply(connection));
    if (code == PAWL_OK) {
        (void)amqp_basic_qos(connection, CONSUMING, 0, PREFETCH, false);
        code = check_reply(l, "qos", amqp_get_rpc_reply(connection));
    }
    if (code == PAWL_OK) {
        (void)amqp_basic_consume(connection, CONSUMING, amqp_cstring_bytes(l->queues->from),
                                 amqp_empty_bytes, false, false, false, amqp_empty_table);
        code = check_reply(l, "consume", amqp_get_rpc_reply(connection));
    }
    return code;
}

/* ---- Follow-ups ----------------------------------------------------------- */

/* The same properties and headers as pawl's, a body of the same size. */
static pawl_code publish(loop *l, const amqp_message_t *from)
{
    char               id[PAWL_UUID_TEXT_SIZE];
    amqp_table_entry_t headers[] = {
        {.key   = amqp_cstring_bytes("pawl.causation_id"),
         .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = from->properties.message_id}},
        {.key   = amqp_cstring_bytes("pawl.reply_to"),
         .value = {.kind        = AMQP_FIELD_KIND_UTF8,
                   .value.bytes = amqp_cstring_bytes(PAWL__BENCH_QUEUE)}}};
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                  AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG |
                  AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_HEADERS_FLAG |
                  AMQP_BASIC_REPLY_TO_FLAG,
        .content_type   = amqp_cstring_bytes("application/json"),
        .delivery_mode  = 2,
        .message_id     = {.len = sizeof id, .bytes = id},
        .correlation_id = from->properties.correlation_id,
        .reply_to       = amqp_cstring_bytes(PAWL__BENCH_QUEUE),
        .type           = amqp_cstring_bytes("bench_moved"),
        .timestamp      = from->properties.timestamp,
        .headers        = {.num_entries = 2, .entries = headers}};
    pawl__loop_uuid(id, pawl_random_next(&l->random), pawl_random_next(&l->random));
    l->published++;
    return check_status(l, "publish",
                        amqp_basic_publish(l->link.connection, PAWL__RABBITMQ_PUBLISHING,
                                           amqp_empty_bytes, amqp_cstring_bytes(l->queues->to),
                                           true, false, &properties, from->body));
}

static pawl_code take_delivery(loop *l)
{
    amqp_message_t message = {0};
    pawl_code      code =
        check_reply(l, "message", amqp_read_message(l->link.connection, CONSUMING, &message, 0));
    if (code != PAWL_OK)
        return code;
    code = publish(l, &message);
    amqp_destroy_message(&message);
    return code;
}

/* ---- Confirms ------------------------------------------------------------- */

static void note_confirm(loop *l, uint64_t tag, bool is_multiple)
{
    if (is_multiple)
        for (uint64_t i = l->confirmed + 1; i < tag; i++)
            l->is_confirmed[i % PREFETCH] = true;
    if (tag > l->confirmed)
        l->is_confirmed[tag % PREFETCH] = true;
    while (l->is_confirmed[(l->confirmed + 1) % PREFETCH]) {
        l->confirmed++;
        l->is_confirmed[l->confirmed % PREFETCH] = false;
    }
}

static pawl_code acknowledge(loop *l)
{
    bool is_last = l->confirmed == l->published;
    if (l->confirmed - l->acknowledged < (is_last ? 1 : ACK_COUNT))
        return PAWL_OK;
    l->acknowledged = l->confirmed;
    return check_status(l, "ack",
                        amqp_basic_ack(l->link.connection, CONSUMING, l->confirmed, true));
}

static pawl_code take_frame(loop *l, const amqp_frame_t *frame)
{
    const amqp_method_t    *method = &frame->payload.method;
    const amqp_basic_ack_t *ack    = method->decoded;
    if (frame->frame_type != AMQP_FRAME_METHOD)
        return PAWL_OK;
    switch (method->id) {
    case AMQP_BASIC_DELIVER_METHOD: return take_delivery(l);
    case AMQP_BASIC_ACK_METHOD: note_confirm(l, ack->delivery_tag, ack->multiple); return PAWL_OK;
    default: return fail(l, "ended", pawl__rabbitmq_close_text(method));
    }
}

static pawl_code run_loop(loop *l)
{
    const struct timeval limit = {.tv_sec = WAIT_S};
    pawl_code            code  = start(l);
    for (uint64_t i = 0; code == PAWL_OK && l->acknowledged < (uint64_t)l->messages; i++) {
        amqp_frame_t   frame;
        struct timeval wait = limit;
        code                = check_status(l, "frame",
                                           amqp_simple_wait_frame_noblock(l->link.connection, &frame, &wait));
        if (code == PAWL_OK)
            code = take_frame(l, &frame);
        if (code == PAWL_OK)
            code = acknowledge(l);
        amqp_maybe_release_buffers(l->link.connection);
        if (code == PAWL_OK && i % GO_ON_COUNT == 0)
            code = pawl__bench_go_on(l->error);
    }
    /* The answer to it comes behind the last acknowledgement. */
    if (code == PAWL_OK)
        code = check_reply(l, "close",
                           amqp_channel_close(l->link.connection, CONSUMING, AMQP_REPLY_SUCCESS));
    return code;
}

static pawl_code consume_and_publish(const pawl__bench_queues *queues, const pawl__bench_job *job,
                                     int64_t *microseconds, pawl_error *error)
{
    loop *l = pawl_allocate(sizeof *l);
    if (l == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the loop");
    *l = (loop){.queues = queues, .messages = job->messages, .error = error};
    pawl_random_seed(&l->random, job->seed);
    l->link.name = "pawl bench";
    pawl_code code =
        pawl__rabbitmq_url_read(&l->link.url, PAWL__RABBITMQ_ROUTE, queues->url, error);
    int64_t start_time = pawl__bench_clock();
    if (code == PAWL_OK)
        code = run_loop(l);
    *microseconds = pawl__bench_clock() - start_time;
    pawl__rabbitmq_disconnect(&l->link, code == PAWL_OK);
    pawl__rabbitmq_url_free(&l->link.url);
    pawl_free(l);
    return code;
}

const pawl__bench_bare pawl_bench_bare = {.bare_size = sizeof(pawl__bench_bare),
                                          .loop      = consume_and_publish};
