/* headers.h - a message's headers, a JSON object of strings: read, built, changed.
 *
 * Threads: as the arena.
 * Tests: tests/unit/engine/test_engine_parts.c, test_engine_send.c, test_engine_message_version.c, test_trace.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_HEADERS_H
#define PAWL_ENGINE_HEADERS_H

#include "pawl/context.h"
#include "pawl/message.h"

#define PAWL__HEADER_REPLY_TO "pawl.reply_to"

/* Allocator of JSON documents that live only during one call. */
struct yyjson_alc;
extern const struct yyjson_alc pawl__json_memory;

/* Removes and returns the first item of a comma-separated list, which must not be empty. */
pawl_text pawl__list_next(pawl_text *list);
/* May the text stand between quotes in JSON as it is? */
bool pawl__is_plain(pawl_text text);
/* False: the header is missing. A fast text search without parsing, since most messages lack pawl's headers. */
bool pawl__headers_may_have(pawl_text headers, const char *name);
/* A header's value. data NULL when it is missing; PAWL_ENOMEM is the only failure. */
pawl_code pawl__headers_value(pawl_text headers, pawl_text name, pawl_arena *arena,
                              pawl_text *value);
/* The message in hand; messages that its handlers send belong to its trace. */
typedef struct pawl__cause {
    const pawl_message *message;
    pawl_text           queue; /* the queue of the endpoint that handles it */
} pawl__cause;

/* Of a sender and of a dead letter: an expiry that cannot be read. */
#define PAWL__EXPIRES_IS_NO_TIME \
    "header '" PAWL_HEADER_EXPIRES "' is not a time: expected 2026-01-31T23:59:59.123456Z"

/* The headers of a message; NULL cause: sent from outside. */
pawl_code pawl__headers_build(pawl_text reply_to, const pawl_record *record,
                              const pawl_header *extra, const pawl__cause *cause, pawl_arena *arena,
                              pawl_text *headers, pawl_error *error);
/* The headers; those of `over` replace them or are appended. PAWL_ENOMEM is the only
 * failure. */
pawl_code pawl__headers_merge(pawl_text headers, pawl_text over, pawl_arena *arena,
                              pawl_text *merged);
/* The headers with `name` set to `value`; unchanged if the value is empty. PAWL_ENOMEM is the only
 * failure. */
pawl_code pawl__headers_set(pawl_text headers, const char *name, pawl_text value, pawl_arena *arena,
                            pawl_text *made);
typedef struct pawl__header_value {
    const char *name; /* NULL ends a list */
    pawl_text   value;
} pawl__header_value;

/* Removes `names`, a list that ends with NULL, and then sets each of `values`. PAWL_ENOMEM is the
 * only failure. */
pawl_code pawl__headers_change(pawl_text headers, const char *const *names,
                               const pawl__header_value *values, pawl_arena *arena,
                               pawl_text *made);
/* The headers without `names`, which end with NULL. PAWL_ENOMEM is the only failure. */
pawl_code pawl__headers_without(pawl_text headers, const char *const *names, pawl_arena *arena,
                                pawl_text *made);

/* version.c: the record version of the message for `type`, its own or a base type: from the header pawl.version; 1
 * without the header. PAWL_EDECODE: the header cannot be parsed. */
pawl_code pawl__version_of(const pawl_message *message, pawl_text type, pawl_arena *arena,
                           int *version, pawl_error *error);
/* The body, brought up to the record's version, as its struct; `decoded` is as in
 * pawl_record_decode. PAWL_EVERSION: as in pawl_record_upcast. */
pawl_code pawl__version_decode(const pawl_message *message, const pawl_record *record,
                               pawl_arena *arena, void *decoded, pawl_error *error);

/* ---- The trace of a message: trace.c --------------------------------------- *
 *
 * The header `traceparent` of W3C Trace Context says where a message stands in a distributed trace:
 *
 *     message in hand:  00-TRACE-SPAN-01
 *     what it sends:    00-TRACE-span of its handling-01
 *
 * Span ids are computed, not random: a unit that runs again sends its messages with the same headers. */

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
