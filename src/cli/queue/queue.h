/* queue.h - fields and functions that the parts of `pawl queue` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_QUEUE_H
#define PAWL_CLI_QUEUE_H

#include "cli/bulk/bulk_loop.h"
#include "cli/cli.h"

typedef struct pawl__queue_fields {
    pawl__store_fields at;
    pawl__bulk_words   words;
    const char        *queue;
    const char        *due, *id, *type, *to; /* as they were given, or NULL */
    pawl__texts        where;                /* conditions as those of `pawl find` */
    int64_t            limit, last;
    pawl_time          due_at; /* 0: --due is meant as of now */
    bool               is_revealed, is_discarding;
} pawl__queue_fields;

/* PAWL_ENOTFOUND: nothing in the store names the queue. */
pawl_code pawl__queue_info_find(pawl_store *store, const char *queue, pawl_time now,
                                pawl_arena *arena, pawl_queue_info *info, pawl_error *error);

/* A sentence that says what happens next with the queue. */
pawl_text pawl__queue_next(const pawl_queue_info *info, pawl_arena *arena);

/* Called with a message whose texts are valid until the function returns. */
typedef void pawl__queue_each_fn(void *context, const pawl_queue_message *message);
/* Calls the function for the query's messages, at most count_max of them, with one page of at most PAWL_CLAIM_SIZE_MAX in
 * memory. `*count`: how many there were. */
pawl_code pawl__queue_each(pawl_store *store, const pawl_queue_query *query,
                           pawl__queue_each_fn *each, void *context, size_t *count,
                           pawl_error *error);

/* purge and move; their words are checked before the store is opened. */
pawl_code       pawl__queue_take_check(const pawl__queue_fields *fields, pawl_error *error);
pawl__action_fn pawl__queue_take;

/* A key of an ordered queue: a deferred message, the holder, holds back the later messages with this key. */
typedef struct pawl__held_key {
    pawl_text key;
    pawl_text holder;   /* id of that message; empty: not known */
    int64_t   behind;   /* messages that wait for it */
    bool      is_there; /* is the holder in the queue still? */
    pawl_time since;    /* its first failure, or since when it waits for its saga; 0: not known */
    int32_t   attempts;
    pawl_time due;
    pawl_text error; /* of the holder */
} pawl__held_key;

typedef struct pawl__held {
    pawl__held_key *items; /* the one for which most messages wait first */
    size_t          count, capacity;
    bool            is_cut; /* not all deferred messages were read: the counts are minimums */
} pawl__held;

/* Is `error` that of a message that is held back? Then the key, and the holder's id, which may be empty, are set. */
bool pawl__held_split(pawl_text error, pawl_text *holder, pawl_text *key);
/* Reads the held keys from the first messages with a later due time. A queue that is not ordered has none. */
pawl_code pawl__held_read(pawl_store *store, pawl_text queue, pawl_time now, pawl_arena *arena,
                          pawl__held *held, pawl_error *error);
/* NULL: none. */
const pawl__held_key *pawl__held_of_key(const pawl__held *held, pawl_text key);
const pawl__held_key *pawl__held_of_holder(const pawl__held *held, pawl_text id);
/* "3 messages of its key 'K' wait behind it". */
pawl_text pawl__held_words(const pawl__held *held, const pawl__held_key *key, pawl_arena *arena);

#endif
