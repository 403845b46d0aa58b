/* test_rabbitmq_frames.h - frames of AMQP that a server of the test's own sends and receives, and the messages of its
 * answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_RABBITMQ_FRAMES_H
#define PAWL_TESTS_UNIT_RABBITMQ_FRAMES_H

#include "contract/rabbitmq_fixture.h"

#include "pawl/transport.h"
#include "transport/rabbitmq/rabbitmq.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 3

/* ---- The server ------------------------------------------------------------------------------ */

typedef struct server {
    int         listener, port, connection;
    const char *blocked_at; /* "begin", "publish"; or NULL */
    bool        is_freed;   /* messages are taken again after a while */
    bool        returns;    /* all messages come back, and then one ack is for all of them */
    int  acked; /* this many alone get their ack, and then the connection breaks, or is blocked */
    bool acks_each, acks_none; /* each message alone; nothing */
    bool breaks;               /* the connection, behind all messages */
    bool stays;                /* the connection, whatever was acked */
    const char *queues;    /* a letter for each item of each call: "m" gets no ack; NULL: all "q" */
    char     outcomes[50]; /* of the calls: "SUTR " for success, unreachable, transient, rejected */
    int      published, tag;   /* in all; of this connection */
    char     queue;            /* of the last message */
    char     bodies[100];      /* of what was published */
    int      timeout_s, calls; /* of the outbound transport; 20 and 1 */
    int      later;            /* the call before which 11 minutes go by; 0: they do not */
    uint32_t frame_max;        /* 0: 131072 */
    bool     has_headers;      /* the second message of a call: 20,000 bytes */
    size_t   body_size;        /* of each message; 0: its number alone */
    const char *
        deaf_at; /* "method", "body" of the first message: nothing is read from there on; or NULL */
    uint64_t  left;       /* bytes of the body that comes */
    char      error[300]; /* of the last item of the last call */
    pthread_t thread;
} server;

typedef struct frame {
    uint8_t  bytes[300];
    size_t   size;
    uint8_t  type;
    uint16_t channel;
} frame;

static inline void put(frame *f, uint64_t number, int size)
{
    for (int i = size - 1; i >= 0; i--)
        f->bytes[f->size++] = (uint8_t)(number >> (8 * i));
}

static inline void put_short(frame *f, const char *text)
{
    put(f, strlen(text), 1);
    memcpy(f->bytes + f->size, text, strlen(text));
    f->size += strlen(text);
}

static inline void put_long(frame *f, const char *text)
{
    put(f, strlen(text), 4);
    memcpy(f->bytes + f->size, text, strlen(text));
    f->size += strlen(text);
}

static inline frame method(uint16_t channel, uint16_t class_id, uint16_t method_id)
{
    frame f = {.type = 1, .channel = channel};
    put(&f, class_id, 2);
    put(&f, method_id, 2);
    return f;
}

static inline void send_frame(const server *s, const frame *f)
{
    frame whole = {.size = 0};
    put(&whole, f->type, 1);
    put(&whole, f->channel, 2);
    put(&whole, f->size, 4);
    memcpy(whole.bytes + whole.size, f->bytes, f->size);
    whole.size += f->size;
    put(&whole, 0xCE, 1);
    (void)send(s->connection, whole.bytes, whole.size, MSG_NOSIGNAL);
}

static inline bool receive(const server *s, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = recv(s->connection, bytes, size, 0);
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

static inline void send_empty(const server *s, uint16_t channel, uint16_t class_id,
                              uint16_t method_id)
{
    frame f = method(channel, class_id, method_id);
    send_frame(s, &f);
}

static inline void start_connection(const server *s)
{
    frame f = method(0, 10, 10);
    put(&f, 9, 2); /* version 0-9 */
    put(&f, 0, 4); /* no properties */
    put_long(&f, "PLAIN");
    put_long(&f, "en_US");
    send_frame(s, &f);
}

static inline void block(const server *s)
{
    frame f = method(0, 10, 60);
    put_short(&f, "low on memory");
    send_frame(s, &f);
}

static inline void unblock(const server *s)
{
    usleep(200000);
    send_empty(s, 0, 10, 61);
}

static inline void answer_all(const server *s)
{
    for (int i = 0; i < ITEMS && s->returns; i++) {
        frame f = method(1, 60, 50);
        put(&f, 312, 2);
        put_short(&f, "NO_ROUTE");
        put_short(&f, "");
        put_short(&f, "q");
        send_frame(s, &f);
        frame header = {.type = 2, .channel = 1};
        put(&header, 60, 2);
        put(&header, 0, 2);
        put(&header, 0, 8);      /* no body */
        put(&header, 1 << 7, 2); /* with an id */
        put_short(&header, "m-1");
        send_frame(s, &header);
    }
    frame ack = method(1, 60, 80);
    put(&ack, s->acked != 0 ? (uint64_t)s->acked : (uint64_t)s->published, 8);
    put(&ack, 1, 1);
    send_frame(s, &ack);
}

static inline void answer_one(const server *s)
{
    frame ack = method(1, 60, 80);
    put(&ack, (uint64_t)s->tag, 8);
    put(&ack, 0, 1);
    if (s->queue != 'm')
        send_frame(s, &ack);
}

/* The beginning of a message, whose body does not come. */
static inline void deliver_half(const server *s)
{
    frame deliver = method(1, 60, 60), header = {.type = 2, .channel = 1};
    put_short(&deliver, "pawl");
    put(&deliver, 1, 8);
    put(&deliver, 0, 1);
    put_short(&deliver, "");
    put_short(&deliver, "q");
    send_frame(s, &deliver);
    put(&header, 60, 2);
    put(&header, 0, 2);
    put(&header, 9, 8); /* bytes */
    put(&header, 0, 2);
    send_frame(s, &header);
}

static inline void answer(server *s, uint16_t channel, uint32_t what)
{
    bool  is_begin = s->blocked_at != NULL && strcmp(s->blocked_at, "begin") == 0;
    frame f        = method(channel, (uint16_t)(what >> 16), (uint16_t)((what & 0xFFFF) + 1));
    switch (what) {
    case 10 << 16 | 11: /* start-ok: tune */
        f = method(0, 10, 30);
        put(&f, 8, 2);
        put(&f, s->frame_max != 0 ? s->frame_max : 131072, 4);
        put(&f, 0, 2);
        break;
    case 10 << 16 | 40: put_short(&f, ""); break; /* open */
    case 20 << 16 | 10: put(&f, 0, 4); break;
    case 60 << 16 | 20: put_short(&f, "pawl"); break; /* consume */
    case 60 << 16 | 10:                               /* qos */
    case 85 << 16 | 10:                               /* confirm.select */
    case 10 << 16 | 50:
    case 20 << 16 | 40: break;
    default: return;
    }
    is_begin = is_begin && what == (85 << 16 | 10);
    if (is_begin) /* before the answer, so that nothing is sent before it is read */
        block(s);
    send_frame(s, &f);
    if (is_begin && s->is_freed)
        unblock(s);
    if (what == (60 << 16 | 20))
        deliver_half(s);
}

#endif
