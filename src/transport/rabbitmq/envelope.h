/* envelope.h - a message as AMQP has it: where it goes, its properties and its headers.
 * docs/INTEROP.md lists them.
 *
 * Threads: plain data. Tests: tests/unit/transport/test_rabbitmq_envelope.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_ENVELOPE_H
#define PAWL_TRANSPORT_RABBITMQ_ENVELOPE_H

#include "pawl/transport.h"
#include "transport/rabbitmq/url.h"

#include <amqp.h>
#include <amqp_framing.h>
#include <yyjson.h>

/* Bytes that the properties of a message may have: AMQP sends them in one frame, of which 131072 are
 * agreed with the server. */
#define PAWL__RABBITMQ_PROPERTIES_SIZE_MAX 120000

typedef struct pawl__envelope {
    amqp_bytes_t            exchange;
    amqp_bytes_t            routing_key;
    amqp_basic_properties_t properties;
    amqp_bytes_t            body;
} pawl__envelope;

/* In the arena; texts of `url` and `item` are borrowed. `now` is the machine's time. Sets `*why`, else empty,
 * when AMQP cannot carry the message: it is rejected. PAWL_ENOMEM. */
pawl_code pawl__envelope_make(const pawl__rabbitmq_url *url, const pawl_delivery *item,
                              pawl_time now, pawl_arena *arena, pawl__envelope *envelope,
                              pawl_text *why);

/* An allocator for yyjson that takes from the arena and frees nothing. */
yyjson_alc pawl__rabbitmq_json_memory(pawl_arena *arena);

static inline amqp_bytes_t pawl__amqp_bytes(pawl_text text)
{
    return (amqp_bytes_t){.len = text.size, .bytes = (void *)(uintptr_t)text.data};
}

#endif
