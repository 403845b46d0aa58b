/* proxy_protocol.h - where requests and answers end, in the bytes of a database's protocol.
 *
 * Without TLS: the bytes are read as they pass.
 * Threads: plain data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_PROXY_PROTOCOL_H
#define PAWL_TESTS_CONTRACT_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

/* Where a stream of messages stands. */
typedef struct proxy_stream {
    unsigned char header[5];
    size_t        header_size;
    size_t        have; /* bytes of the header that were read */
    size_t        rest; /* bytes of the body that were not */
    int           kind; /* of the message, or of the command that it belongs to */
    bool          is_started;
} proxy_stream;

typedef struct proxy_protocol {
    void (*begin)(proxy_stream *from_client, proxy_stream *from_server);
    /* True with the last byte of a request that is answered. */
    bool (*request)(proxy_stream *from_client, unsigned char byte);
    /* True with the byte that tells of an answer. The first answer is to connecting. */
    bool (*answer)(proxy_stream *from_server, unsigned char *byte, bool fakes_pids);
    /* An answer is told of by one of its first bytes, behind all of those before it; else by its
     * last. */
    bool is_early;
} proxy_protocol;

/* A request ends with Sync or Query, its answer with ReadyForQuery. */
extern const proxy_protocol proxy_postgres;
/* A command is numbered 0, the first packet of its answer 1. */
extern const proxy_protocol proxy_mysql;

#endif
