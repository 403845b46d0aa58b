/* action.h - records each action of an operator as an event (who, when, why) in a stream of pawl's own.
 *
 *     begin -> { add the action's changes } -> commit -> pawl_arena_destroy
 *     check -> event -> the caller appends it with a commit of its own
 *
 * If two operators act on the same thing at the same time, both append the same version, and one is refused.
 *
 * Small JSON objects with text members, for the headers of such events and for snapshots of streams:
 *
 *     begin -> { put } -> write -> yyjson_mut_doc_free, or kept, or done
 *     read -> { text } -> yyjson_doc_free
 *
 * JSON documents use pawl's allocator, so that tests can make it fail.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/partition.c, dead.c, projection.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_ACTION_H
#define PAWL_STORE_CORE_ACTION_H

#include "base/storable.h"
#include "base/text.h"
#include "store/core/call.h"

#include <yyjson.h>

/* ---- JSON objects --------------------------------------------------------- */

/* The root is an object. NULL: out of memory. */
yyjson_mut_doc *pawl__texts_begin(void);
/* Adds a member. False: out of memory. */
bool pawl__texts_put(yyjson_mut_doc *doc, const char *key, pawl_text text);
bool pawl__texts_put_number(yyjson_mut_doc *doc, const char *key, int64_t number);
/* The object as text. data NULL: out of memory. */
pawl_text pawl__texts_write(yyjson_mut_doc *doc, pawl_arena *arena);
/* Finish an object; `is_ok`: all puts succeeded (if not, doc may be NULL). kept returns the object, or frees it and
 * returns NULL. done writes the object if it is complete, and frees it. */
yyjson_mut_doc *pawl__texts_kept(yyjson_mut_doc *doc, bool is_ok);
pawl_text       pawl__texts_done(yyjson_mut_doc *doc, bool is_ok, pawl_arena *arena);

/* NULL: the text is no JSON, or out of memory. */
yyjson_doc *pawl__texts_read(pawl_text text);
/* PAWL_EINVAL unless the text is empty, or a JSON object without NUL, which every store's JSON column accepts. Also
 * PAWL_ENOMEM. `field` is its name in the error. */
pawl_code pawl__texts_check(const char *field, pawl_text json, pawl_error *error);
/* A copy of the member's text; data NULL: no such member, or out of memory. */
pawl_text pawl__texts_text(yyjson_val *object, const char *key, pawl_arena *arena);
/* The object without the members of `keys`, which end with NULL; "" where none is left. data NULL: out of memory. */
pawl_text pawl__texts_without(yyjson_doc *doc, const char *const *keys, pawl_arena *arena);

/* ---- Dead letters ---------------------------------------------------------- */

/* False: the letter is a message's. */
static inline bool pawl__dead_may_be_timeout(const pawl_message *message)
{
    return message->causation_id.size == 0 && pawl__dead_has_saga(message->headers) &&
           pawl_text_equal(message->body, PAWL_TEXT("{}"));
}

/* ---- Events --------------------------------------------------------------- */

typedef struct pawl__action {
    const char *streams; /* prefix of the stream's name, before a slash */
    const char *noun;    /* "aggregator partition" */
    pawl_text   name;    /* of the thing that is acted on */
    const char *type;    /* of the event */
    pawl_text   by, reason;
} pawl__action;

/* "STREAMS/NAME"; if that is too long, "STREAMS/" and a UUID computed from the name. data NULL: out of
 * memory. */
pawl_text pawl__action_stream(const char *streams, pawl_text name, pawl_arena *arena);
/* PAWL_EINVAL: name or `by` is empty. PAWL_ELIMIT: `by` or reason is too long. */
pawl_code pawl__action_check(const pawl__action *action, pawl_error *error);
/* Makes the event. "by" and "reason" are added to `headers`, which is freed; NULL means out of
 * memory. */
pawl_code pawl__action_event(pawl_store *store, const pawl__action *action, yyjson_mut_doc *headers,
                             pawl_time now, pawl_arena *arena, pawl_event_append *event,
                             pawl_error *error);
/* The events of the thing's stream, oldest first. */
pawl_code pawl__action_list(pawl_store *store, const char *streams, pawl_text name,
                            pawl_arena *arena, pawl_event_rows *rows, pawl_error *error);
/* The events that the query, which names no stream, asks for. */
pawl_code pawl__action_query(pawl_store *store, const char *streams, pawl_text name,
                             pawl_event_query query, pawl_arena *arena, pawl_event_rows *rows,
                             pawl_error *error);

/* ---- Acting --------------------------------------------------------------- */

/* An action under way: its event and `changes` are committed as one unit. */
typedef struct pawl__act {
    pawl_store       *store;
    pawl__action      action;
    pawl_time         now;
    pawl_arena       *arena; /* to be destroyed in any case */
    pawl_text         body;  /* of the event; it may be empty */
    pawl_event_append event;
    pawl_changes      changes;
} pawl__act;

/* Checks the action. */
pawl_code pawl__act_begin(pawl__act *act, pawl_store *store, const pawl__action *action,
                          pawl_time now, pawl_error *error);
/* `headers` as those of pawl__action_event. */
pawl_code pawl__act_commit(pawl__act *act, yyjson_mut_doc *headers, pawl_error *error);

/* The endpoint that reads the queue: named by the queue's subscription to "reader:NAME", else the queue's own name. */
pawl_text pawl__queue_reader(const pawl_subscriptions *list, pawl_text queue);
/* The same, from the store's subscriptions (op_take.c). The queue's deduplication records are under this endpoint. */
pawl_code pawl__queue_endpoint(pawl_store *store, pawl_text queue, pawl_arena *arena,
                               pawl_text *endpoint, pawl_error *error);

#endif
