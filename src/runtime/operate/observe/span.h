/* span.h - a ring buffer of spans that wait for the export to the collector.
 *
 *     put ... put                any thread; false: a span was lost, as the ring is full
 *     lend -> release or again    the one thread that exports
 *
 * A span that is lent stays in its slot until it is released, so that it is read without a copy. In a full ring the
 * oldest span gives way to a new one. While the oldest is lent, the new span is lost. Tries are counted for each span:
 * after an outage of the collector, however long, the spans of the last few exports are still there, if they fit into
 * the ring.
 *
 * Tests: tests/unit/observe/test_span.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_SPAN_H
#define PAWL_RUNTIME_SPAN_H

#include "engine/trace.h"
#include "pawl/limits.h"

#define PAWL__SPANS_COUNT_MAX (1 << 20) /* of one ring: a gigabyte */

/* One attempt to deliver an outbox row. */
typedef struct pawl__span {
    pawl__trace          trace;
    uint8_t              parent[8];
    bool                 has_parent;
    uint8_t              tries; /* failed exports */
    pawl_time            begin, end;
    pawl_dispatch_id     dispatch_id;
    pawl_attempt_outcome outcome;
    int32_t              attempt; /* from 1 */
    char                 endpoint[PAWL_NAME_SIZE_MAX + 1];
    char                 destination[PAWL_NAME_SIZE_MAX + 1];
    char                 message_id[PAWL_MESSAGE_ID_SIZE_MAX + 1];
    char                 message_type[PAWL_NAME_SIZE_MAX + 1];
} pawl__span;

typedef struct pawl__spans pawl__spans;

pawl__spans *pawl__spans_create(size_t capacity);     /* NULL: out of memory */
void         pawl__spans_destroy(pawl__spans *spans); /* accepts NULL */
/* Copies the span. `*waiting`: number of spans in the ring. False: the oldest or this span is lost. */
bool pawl__spans_put(pawl__spans *spans, const pawl__span *span, size_t *waiting);
/* Lends the oldest spans, at most count_max, and returns their number. They are contiguous. */
size_t pawl__spans_peek(pawl__spans *spans, size_t count_max, const pawl__span **items);
/* Frees the `count` oldest lent spans; the others stay in the ring. */
void pawl__spans_release(pawl__spans *spans, size_t count);
/* Counts a failed export of each lent span, frees those with `tries_max`, and returns their number. */
size_t pawl__spans_again(pawl__spans *spans, uint8_t tries_max);
size_t pawl__spans_waiting(pawl__spans *spans);

/* Copies a text into a field of a span, cut between characters. */
void pawl__span_name(char *to, size_t size, pawl_text from);

#endif
