/* action.h - events that the actions of operators leave in streams of pawl's own: who, when and why.
 *
 *     begin -> { what the action does, into its change set } -> commit -> pawl_arena_destroy
 *     check -> event (an append behind those of the stream) -> a commit of one's own
 *
 * The version of the event guards two who act on one thing at a time: one of them is refused.
 *
 * Small objects of texts, as the headers of such events are, and folds:
 *
 *     begin -> { put } -> write -> yyjson_mut_doc_free, or kept, or done
 *     read -> { text } -> yyjson_doc_free
 *
 * All memory of theirs is pawl's own, so that tests can fail it.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/partition.c, dead.c, projection.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_ACTION_H
#define PAWL_STORE_CORE_ACTION_H

#include "store/core/call.h"

#include <yyjson.h>

/* ---- Objects of texts ----------------------------------------------------- */

/* The root is an object. NULL: out of memory. */
yyjson_mut_doc *pawl__texts_begin(void);
/* Adds a member. False: out of memory. */
bool pawl__texts_put(yyjson_mut_doc *doc, const char *key, pawl_text text);
bool pawl__texts_put_number(yyjson_mut_doc *doc, const char *key, int64_t number);
/* The object as text. data NULL: out of memory. */
pawl_text pawl__texts_write(yyjson_mut_doc *doc, pawl_arena *arena);
/* The ends of an object whose members were put, `is_ok` says whether all of them; doc may be NULL where they were not.
 * kept answers the object, or frees it and answers NULL. done writes it where it is whole, and frees it. */
yyjson_mut_doc *pawl__texts_kept(yyjson_mut_doc *doc, bool is_ok);
pawl_text       pawl__texts_done(yyjson_mut_doc *doc, bool is_ok, pawl_arena *arena);

/* NULL: the text is no JSON, or out of memory. */
yyjson_doc *pawl__texts_read(pawl_text text);
/* Is it a JSON object without NUL, as every store's column for JSON takes it, or empty? Else PAWL_EINVAL, or
 * PAWL_ENOMEM; `field` names it. */
pawl_code pawl__texts_check(const char *field, pawl_text json, pawl_error *error);
/* A copy of the member; data NULL: there is none. */
pawl_text pawl__texts_text(yyjson_val *object, const char *key, pawl_arena *arena);
/* The object without the members of `keys`, which end with NULL; "" where none is left. data NULL: out of memory. */
pawl_text pawl__texts_without(yyjson_doc *doc, const char *const *keys, pawl_arena *arena);

/* ---- Events --------------------------------------------------------------- */

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
/* The events that the query, which names no stream, asks for. */
pawl_code pawl__action_query(pawl_store *store, const char *streams, pawl_text name,
                             pawl_event_query query, pawl_arena *arena, pawl_event_rows *rows,
                             pawl_error *error);

/* ---- Acting --------------------------------------------------------------- */

/* An action on its way: one unit, of its event and of `changes`. */
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

/* The endpoint that reads the queue: the one that said so by a subscription to "reader:NAME", else the one of its name. */
pawl_text pawl__queue_reader(const pawl_subscriptions *list, pawl_text queue);
/* The same, by the store's subscriptions (op_take.c). Its marks drop copies of the queue's messages. */
pawl_code pawl__queue_endpoint(pawl_store *store, pawl_text queue, pawl_arena *arena,
                               pawl_text *endpoint, pawl_error *error);

#endif
