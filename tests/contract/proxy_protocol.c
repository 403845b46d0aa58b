/* proxy_protocol.c - headers of messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/proxy_protocol.h"

/* ---- PostgreSQL --------------------------------------------------------- */

/* A client's first message has no type. */
static void postgres_begin(proxy_stream *from_client, proxy_stream *from_server)
{
    *from_client = (proxy_stream){.header_size = 4};
    *from_server = (proxy_stream){.header_size = 5};
}

/* Feeds one byte; the type of the message that ended with it, 0 for none, '-' for
 * the first one of a client. */
static int postgres_feed(proxy_stream *s, unsigned char byte)
{
    if (s->rest == 0) {
        s->header[s->have++] = byte;
        if (s->have < s->header_size)
            return 0;
        const unsigned char *size = s->header + s->header_size - 4;
        s->rest =
            ((size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3]) - 4;
    } else {
        s->rest--;
    }
    if (s->rest != 0)
        return 0;
    int type       = s->header_size == 4 ? '-' : s->header[0];
    s->have        = 0;
    s->header_size = 5;
    return type;
}

static bool postgres_request(proxy_stream *s, unsigned char byte)
{
    int type = postgres_feed(s, byte);
    return type == 'S' || type == 'Q';
}

static bool postgres_answer(proxy_stream *s, unsigned char *byte, bool fakes_pids)
{
    bool is_key = s->have == 5 && s->header[0] == 'K';
    if (is_key && s->rest == 6 && fakes_pids)
        *byte ^= 1; /* the third byte of the process number */
    return postgres_feed(s, *byte) == 'Z';
}

const proxy_protocol proxy_postgres = {
    .begin = postgres_begin, .request = postgres_request, .answer = postgres_answer};

/* ---- MySQL and MariaDB -------------------------------------------------- */

#define PACKET_SIZE_MAX 0xffffff /* one of this size is gone on with in the next */
#define STMT_SEND_LONG_DATA 0x18
#define STMT_CLOSE 0x19

typedef enum packet_part { IN_HEADER, HEADER_ENDS, BODY_BEGINS, IN_BODY } packet_part;

static void mysql_begin(proxy_stream *from_client, proxy_stream *from_server)
{
    *from_client = *from_server = (proxy_stream){.header_size = 4};
}

static size_t packet_size(const proxy_stream *s)
{
    return (size_t)s->header[2] << 16 | (size_t)s->header[1] << 8 | s->header[0];
}

static packet_part mysql_feed(proxy_stream *s, unsigned char byte)
{
    if (s->rest == 0) {
        s->have              = s->have == s->header_size ? 0 : s->have;
        s->header[s->have++] = byte;
        if (s->have < s->header_size)
            return IN_HEADER;
        s->rest = packet_size(s);
        return HEADER_ENDS;
    }
    return s->rest-- == packet_size(s) ? BODY_BEGINS : IN_BODY;
}

/* A client's first packets, of the log-in, have other numbers than 0, as the further packets of a
 * long command do. Two commands get no answer. */
static bool mysql_request(proxy_stream *s, unsigned char byte)
{
    packet_part part = mysql_feed(s, byte);
    if (part == BODY_BEGINS && s->header[3] == 0) {
        s->is_started = true;
        s->kind       = byte;
    }
    return part != IN_HEADER && s->is_started && s->rest == 0 &&
           packet_size(s) != PACKET_SIZE_MAX && s->kind != STMT_SEND_LONG_DATA &&
           s->kind != STMT_CLOSE;
}

/* The log-in ends with a packet of OK, which is not the first. Numbers of a long answer come
 * again, 1 behind 0. */
static bool mysql_answer(proxy_stream *s, unsigned char *byte, bool fakes_pids)
{
    packet_part part = mysql_feed(s, *byte);
    if (!s->is_started) {
        s->is_started = part == BODY_BEGINS && s->header[3] >= 2 && *byte == 0;
        return s->is_started;
    }
    if (part != HEADER_ENDS)
        return false;
    int before = s->kind;
    s->kind    = s->header[3];
    return s->kind == 1 && before != 0;
}

const proxy_protocol proxy_mysql = {
    .begin = mysql_begin, .request = mysql_request, .answer = mysql_answer, .is_early = true};
