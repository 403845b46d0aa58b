/* envelope.h - converts an outgoing message to AMQP: its exchange and routing key, properties and headers; and an
 * incoming one from AMQP, from its properties, then from headers of pawl, NServiceBus and ServiceConnect.
 * docs/INTEROP.md lists them.
 *
 * Threads: plain data. Tests: tests/unit/transport/test_rabbitmq_envelope.c, test_rabbitmq_letter.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_ENVELOPE_H
#define PAWL_TRANSPORT_RABBITMQ_ENVELOPE_H

#include "pawl/inbound.h"
#include "pawl/transport.h"
#include "transport/rabbitmq/url.h"

#include <amqp.h>
#include <amqp_framing.h>
#include <yyjson.h>

#define PAWL__RABBITMQ_FRAME_SIZE_MAX 131072 /* requested; the server may lower it */
/* Bytes that the properties of a message may have: AMQP sends them in one frame. */
#define PAWL__RABBITMQ_PROPERTIES_SIZE_MAX 120000

typedef struct pawl__envelope {
    amqp_bytes_t            exchange;
    amqp_bytes_t            routing_key;
    amqp_basic_properties_t properties;
    amqp_bytes_t            body;
} pawl__envelope;

/* Makes the envelope in the arena; it points to texts of `url` and `item`. `now` is machine time. If AMQP cannot carry
 * the message, `*why` says the reason, and the message is rejected; else it is empty. PAWL_ENOMEM. */
pawl_code pawl__envelope_make(const pawl__rabbitmq_url *url, const pawl_delivery *item,
                              pawl_time now, pawl_arena *arena, pawl__envelope *envelope,
                              pawl_text *why);

/* An allocator for yyjson that allocates from the arena, and whose free does nothing. */
yyjson_alc pawl__rabbitmq_json_memory(pawl_arena *arena);

static inline amqp_bytes_t pawl__amqp_bytes(pawl_text text)
{
    return (amqp_bytes_t){.len = text.size, .bytes = (void *)(uintptr_t)text.data};
}

/* letter.c: fills message and refusal of `taken`, with texts in the arena. PAWL_ENOMEM. */
pawl_code pawl__letter_read(const amqp_message_t *message, pawl_arena *arena, pawl_taken *taken);

#endif
