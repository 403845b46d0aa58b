/* order.h - messages of an ordered endpoint: each waits until all earlier messages of its ordering key are done.
 *
 * Ordering keys are hashed to buckets (two keys of one bucket wait for each other, nothing worse). A bucket lists its
 * deferred messages with their queue order and due time. A message runs if the bucket has no deferred message of an
 * earlier queue order. Otherwise it is deferred behind the last of these: to the same due time if its row number is
 * higher, since rows are claimed by due time and then number, else a microsecond later. Due times need not follow the
 * queue order: a message may be retried after those that wait for it became due. These are then deferred again.
 *
 * The buckets are in the memory of the one worker that leads the queue (runtime/ordered/ordered.h):
 *
 *     begin -> (note)* -> { batch: find -> look -> hold -> (commit) -> take }*
 *
 * Threads: as the worker.
 * Tests: tests/unit/engine/test_engine_order.c, test_engine_order_left.c, test_engine_order_random.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_ORDER_H
#define PAWL_ENGINE_ORDER_H

#include "engine/batch.h"

#include <string.h>

#define PAWL__BUCKETS 16384
#define PAWL__BUCKET_ID_SIZE 48 /* bytes of a message id that a bucket keeps for error texts */

/* Prefix of the error text of a row that waits for an earlier message; an id may follow. */
#define PAWL_ORDER_WAITS "waits for message "

static inline bool pawl__order_is_held(pawl_text error)
{
    return error.size >= sizeof PAWL_ORDER_WAITS &&
           memcmp(error.data, PAWL_ORDER_WAITS, sizeof PAWL_ORDER_WAITS - 1) == 0;
}

/* Position in the queue order. */
typedef struct pawl__place {
    pawl_time placed;
    int64_t   seq;
} pawl__place;

static inline pawl__place pawl__place_of(const pawl_queue_row *row)
{
    return (pawl__place){row->placed, row->seq};
}

static inline bool pawl__place_is_older(pawl__place left, pawl__place right)
{
    return left.placed < right.placed || (left.placed == right.placed && left.seq < right.seq);
}

/* A deferred message. */
typedef struct pawl__waiting {
    pawl__place place;
    pawl_time   due;
    uint32_t    batch, unit; /* the last batch that had it, and its unit there */
} pawl__waiting;

/* All zero: the bucket has no deferred message. */
typedef struct pawl__bucket {
    pawl__waiting *room; /* sorted by place, from `first` on */
    size_t         first, count, capacity;
    pawl_time      latest_due; /* of the message that is claimed last: its due time */
    int64_t        latest_seq; /* and row number */
    uint64_t       batch;      /* number of the last batch with a unit of this bucket, */
    uint32_t       unit;       /* its last unit of the bucket, */
    uint32_t       unit_count; /* and the number of them */
    uint64_t       stuck;      /* number of the last batch in which another session had its head, */
    pawl__place    stuck_place; /* and the position of that head */
    pawl_time      next_look; /* machine time: next check whether the head is still in the queue */
    pawl__place    named;     /* the message that head_id belongs to */
    char           head_id[PAWL__BUCKET_ID_SIZE];
} pawl__bucket;

/* A message that is earlier than units of the batch, and claimed by another session. */
typedef struct pawl__absent {
    uint32_t    bucket;
    pawl__place place;
} pawl__absent;

/* The kind of ordering key. */
typedef enum pawl__order_kind {
    PAWL__ORDER_NONE,
    PAWL__ORDER_SAGA, /* correlation value of its saga, else the correlation id */
    PAWL__ORDER_HEADER,
    PAWL__ORDER_PROPERTY,
} pawl__order_kind;

typedef struct pawl__order_key {
    pawl__order_kind kind;
    const char      *name; /* of the header or the property */
} pawl__order_key;

typedef struct pawl__order {
    pawl__order_key key;
    pawl__bucket   *buckets;
    uint64_t        batch;  /* counts batches */
    pawl__absent   *absent; /* of the last claim */
    size_t          absent_count, absent_capacity;
    bool            is_stuck; /* another session had claimed the head of a bucket */
} pawl__order;

/* Parses "saga", "header:NAME" or "property:NAME"; NULL and "none": not ordered. False: invalid
 * text. */
bool pawl__order_read(const char *text, pawl__order_key *key);
/* Warns if no handled message has the property as a possible key: then nothing is ordered. No error, since the option
 * may be meant for other endpoints of the process. */
void pawl__order_warn(const char *text, const pawl__model *model);
/* Forgets all buckets. False: no memory for them. */
bool pawl__order_begin(pawl__order *order);
void pawl__order_end(pawl__order *order);
/* Adds a deferred row of the queue to its bucket, when the buckets are filled. PAWL_ENOMEM is the only failure. */
pawl_code pawl__order_note(pawl__batch *batch, const pawl_queue_row *row);
/* Notes, in the arena, a message that a claim did not return although it is earlier than some that it returned. */
pawl_code pawl__order_note_absent(pawl__batch *batch, const pawl_queue_row *row, pawl_arena *arena);

/* Finds the keys and buckets of all units. Released units are included, since later messages of their keys wait for
 * them. PAWL_ENOMEM is the only failure. */
pawl_code pawl__order_find(pawl__batch *batch, pawl_error *error);
/* Checks the queue for deferred messages that should have been claimed before units of the batch and were not: an
 * operator removed them, or another session has claimed them. */
pawl_code pawl__order_look(pawl__batch *batch, pawl_error *error);
/* Would the unit be deferred, as far as the buckets show before the batch runs? */
bool pawl__order_waits(const pawl__batch *batch, const pawl__unit *unit);
/* Defers the unit (END_HELD) if an earlier message of its bucket is not done. */
bool pawl__order_hold(pawl__batch *batch, pawl__unit *unit);
/* Releases the units from `first` on that were deferred before hold was called for them. */
void pawl__order_release(pawl__batch *batch, size_t first);
/* Updates the buckets with the outcome of the committed units. */
void pawl__order_take(pawl__batch *batch);

#endif
