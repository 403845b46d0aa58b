/* trace.h - where a message stands in a distributed trace: the header `traceparent` of W3C Trace
 * Context.
 *
 *     message in hand:  00-TRACE-SPAN-01
 *     what it sends:    00-TRACE-span of its handling-01
 *
 * Span ids are computed, not random: a unit that runs again sends its messages
 * with the same headers.
 *
 * Tests: tests/unit/engine/test_trace.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_TRACE_H
#define PAWL_ENGINE_TRACE_H

#include "pawl/message.h"

#define PAWL__HEADER_TRACE "traceparent"
#define PAWL__HEADER_TRACE_STATE "tracestate"
#define PAWL__TRACE_TEXT_SIZE 55       /* without NUL */
#define PAWL__TRACE_STATE_SIZE_MAX 512 /* the least that the standard asks for */
#define PAWL__TRACE_SAMPLED 1u

typedef struct pawl__trace {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t flags; /* SAMPLED, and 2: the trace id is random */
} pawl__trace;

/* False for a text that the standard calls invalid: such a header is ignored. */
bool pawl__trace_parse(pawl_text text, pawl__trace *trace);
/* Writes 55 characters and a NUL. */
void pawl__trace_format(const pawl__trace *trace, char text[PAWL__TRACE_TEXT_SIZE + 1]);
/* The span in which the endpoint of `queue` handles the message: the same trace, a
 * span id of its own. */
pawl__trace pawl__trace_child(const pawl__trace *parent, pawl_text queue, pawl_text message_id);
/* Writes 2 * size hex digits and a NUL. */
void pawl__trace_hex(const uint8_t *bytes, size_t size, char *text);

#endif
