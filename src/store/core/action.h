/* action.h - events that the actions of operators leave in streams of pawl's own: who, when and why.
 *
 *     check -> event (an append behind those of the stream) -> commit with what the action does
 *
 * The version of the event guards two who act on one thing at a time: one of them is refused.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/partition.c, dead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_ACTION_H
#define PAWL_STORE_CORE_ACTION_H

#include "store/core/object.h"
#include "store/core/operation.h"

typedef struct pawl__action {
    const char *streams; /* the names of its streams begin so, then a slash */
    const char *noun;    /* "aggregator partition" */
    pawl_text   name;    /* of the thing */
    const char *type;    /* of the event */
    pawl_text   by, reason;
} pawl__action;

/* "STREAMS/NAME", or where that is too long "STREAMS/" and a uuid made of it. data NULL: out of
 * memory. */
pawl_text pawl__action_stream(const char *streams, pawl_text name, pawl_arena *arena);
/* PAWL_EINVAL: no name, or nobody who does it. PAWL_ELIMIT: `by` and the reason are too long. */
pawl_code pawl__action_check(const pawl__action *action, pawl_error *error);
/* Makes the event. `headers` has members beside "by" and "reason", which are added; it may be NULL for
 * out of memory, and is freed. */
pawl_code pawl__action_event(pawl_store *store, const pawl__action *action, yyjson_mut_doc *headers,
                             pawl_time now, pawl_arena *arena, pawl_event_append *event,
                             pawl_error *error);
/* The events of the thing's stream, oldest first. */
pawl_code pawl__action_list(pawl_store *store, const char *streams, pawl_text name,
                            pawl_arena *arena, pawl_event_rows *rows, pawl_error *error);

#endif
