/* test_rabbitmq_sample.h - a server of the test's own, which speaks as much of AMQP as answers to an outbound
 * transport need, and calls of an outbound transport that publishes there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_RABBITMQ_SAMPLE_H
#define PAWL_TESTS_UNIT_RABBITMQ_SAMPLE_H

#include "test_rabbitmq_frames.h"

static inline bool is_at(const char *place, const char *here)
{
    return place != NULL && strcmp(place, here) == 0;
}

/* Until the test is over. */
static inline void be_deaf(const server *s)
{
    (void)poll(&(struct pollfd){.fd = s->connection}, 1, 60000);
}

/* A part of a body: is it the last one? */
static inline bool take_body(server *s, uint8_t *payload, uint32_t size)
{
    s->left -= size;
    if (s->left > 0)
        return false;
    s->published++;
    s->tag++;
    payload[size] = '\0'; /* at the frame's end */
    if (s->body_size == 0)
        strcat(s->bodies, (const char *)payload);
    return true;
}

static inline void serve_connection(server *s)
{
    uint8_t head[8];
    bool    goes_on = receive(s, head, 8);
    s->tag          = 0;
    if (goes_on)
        start_connection(s);
    while (goes_on && receive(s, head, 7)) {
        uint32_t size =
            (uint32_t)head[3] << 24 | (uint32_t)head[4] << 16 | (uint32_t)head[5] << 8 | head[6];
        uint8_t *payload = malloc(size + 1); /* and its end */
        goes_on          = payload != NULL && receive(s, payload, size + 1);
        if (goes_on && head[0] == 1)
            answer(s, (uint16_t)(head[1] << 8 | head[2]),
                   (uint32_t)payload[0] << 24 | (uint32_t)payload[1] << 16 |
                       (uint32_t)payload[2] << 8 | payload[3]);
        bool is_publish = goes_on && head[0] == 1 && payload[1] == 60 && payload[3] == 40;
        if (is_publish) /* to exchange "" */
            s->queue = (char)payload[8];
        if (is_publish && is_at(s->blocked_at, "method"))
            block(s);
        for (int i = 4; goes_on && head[0] == 2 && i < 12; i++)
            s->left = s->left << 8 | payload[i];
        bool is_whole = goes_on && head[0] == 3 && take_body(s, payload, size);
        if ((is_publish && is_at(s->deaf_at, "method")) || (is_whole && is_at(s->deaf_at, "body")))
            be_deaf(s);
        if (is_whole && s->queues != NULL)
            answer_one(s);
        else if (is_whole && (s->acks_each || s->published == ITEMS)) {
            bool is_blocked = is_at(s->blocked_at, "publish");
            if (!s->acks_none && (!is_blocked || s->acked != 0))
                answer_all(s);
            if (is_blocked)
                block(s);
            goes_on = is_blocked || s->stays || (s->acked == 0 && !s->breaks);
        }
        free(payload);
    }
    close(s->connection);
}

static inline void *serve(void *argument)
{
    server *s = argument;
    while ((s->connection = accept(s->listener, NULL, NULL)) >= 0)
        serve_connection(s);
    return NULL;
}

static inline void listen_for(server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t          size    = sizeof address;
    int                small   = 65536;
    address.sin_addr.s_addr    = htonl(INADDR_LOOPBACK);
    s->listener                = socket(AF_INET, SOCK_STREAM, 0);
    if (s->deaf_at != NULL)
        (void)setsockopt(s->listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(s->listener, 1), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &size), 0);
    s->port = ntohs(address.sin_port);
}

static inline void begin(server *s)
{
    listen_for(s);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static inline void end(server *s)
{
    (void)shutdown(s->listener, SHUT_RDWR); /* ends its accept() */
    if (s->deaf_at != NULL)
        (void)shutdown(s->connection, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listener);
}

/* ---- The outbound transport --------------------------------------------------------------------------------- */

static inline pawl_text queue_of(const server *s, int item)
{
    return s->queues != NULL ? (pawl_text){.data = &s->queues[item], .size = 1} : PAWL_TEXT("q");
}

static inline void note_outcomes(server *s, const pawl_delivery *items)
{
    char *end = s->outcomes + strlen(s->outcomes);
    for (int i = 0; i < ITEMS; i++)
        *end++ = items[i].outcome == PAWL_ATTEMPT_SUCCESS     ? 'S'
                 : items[i].outcome == PAWL_ATTEMPT_TRANSIENT ? 'T'
                 : items[i].outcome == PAWL_ATTEMPT_REJECTED  ? 'R'
                                                              : 'U';
    *end++ = ' ';
    *end   = '\0';
}

static inline pawl_transport *open_outbound(const char *url)
{
    const pawl_transport_ops *ops = pawl_transport_find(url);
    assert_non_null(ops);
    pawl_transport *transport = pawl_allocate(ops->transport_size);
    assert_non_null(transport);
    transport->ops = ops;
    must(ops->open(transport, url, "pawl_", world_error()));
    return transport;
}

static inline void close_outbound(pawl_transport *transport)
{
    transport->ops->close(transport);
    pawl_free(transport);
}

/* Each message of the call has the same id, as copies have, and its number as body. Milliseconds that the calls
 * took. */
static inline int64_t deliver(server *s, pawl_delivery *items, pawl_arena *arena, pawl_code *code)
{
    static const pawl_text numbers[ITEMS] = {PAWL_TEXT_INIT("0"), PAWL_TEXT_INIT("1"),
                                             PAWL_TEXT_INIT("2")};
    pawl_error             error          = PAWL_ERROR_INIT;
    char                  *headers = calloc(1, 20100), *body = calloc(1, s->body_size + 1);
    assert_true(headers != NULL && body != NULL);
    snprintf(headers, 20100, "{\"long\":\"%020000d\"}", 0);
    memset(body, '1', s->body_size);
    begin(s);
    const char *url = test_text("amqp://guest:guest@127.0.0.1:%d/?declare=no&timeout=%d", s->port,
                                s->timeout_s != 0 ? s->timeout_s : 20);
    pawl_transport *transport = open_outbound(url);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int turn = 0; turn < (s->calls != 0 ? s->calls : 1); turn++) {
        for (int i = 0; i < ITEMS; i++)
            items[i] = (pawl_delivery){
                .queue   = queue_of(s, turn * ITEMS + i),
                .message = {.id   = PAWL_TEXT("m-1"),
                            .type = PAWL_TEXT("note"),
                            .body = s->body_size > 0 ? pawl_text_of(body) : numbers[i],
                            .headers =
                                s->has_headers && i == 1 ? pawl_text_of(headers) : PAWL_TEXT(""),
                            .correlation_id = PAWL_TEXT(""),
                            .causation_id   = PAWL_TEXT("")}};
        if (s->later != 0 && turn == s->later)
            ((pawl__rabbitmq *)transport)->some_at -= PAWL_MINUTES(11);
        *code = transport->ops->deliver(transport, items, ITEMS, arena, &error);
        note_outcomes(s, items);
        snprintf(s->error, sizeof s->error, "%.*s", PAWL_TEXT_ARGS(items[ITEMS - 1].error));
    }
    free(headers);
    free(body);
    clock_gettime(CLOCK_MONOTONIC, &to);
    close_outbound(transport);
    end(s);
    return (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
}

#endif
