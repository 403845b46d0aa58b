/* letter.h - converts an incoming AMQP message to a message of pawl: from its properties, then from headers of pawl,
 * NServiceBus and ServiceConnect. docs/INTEROP.md lists them.
 *
 * Threads: plain data. Tests: tests/unit/transport/test_rabbitmq_letter.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TRANSPORT_RABBITMQ_LETTER_H
#define PAWL_TRANSPORT_RABBITMQ_LETTER_H

#include "pawl/inbound.h"

#include <amqp.h>
#include <amqp_framing.h>

/* Fills message and refusal of `taken`, with texts in the arena. PAWL_ENOMEM. */
pawl_code pawl__letter_read(const amqp_message_t *message, pawl_arena *arena, pawl_taken *taken);

#endif
