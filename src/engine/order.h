/* order.h - messages of an ordered endpoint: each waits until the earlier ones of its key have come to
 * their ends.
 *
 * A key is hashed to a lane; a lane knows the messages of its keys that were put off, by three of them:
 *
 *     place       1      2        3      4
 *              +------+--------+------+------+
 *              | head | latest |      | last |  new     head: the oldest that is put off, due again at its time
 *              +------+--------+------+------+          latest: has the largest due time; last: the youngest
 *
 * Messages become due in the order of their places, though each is claimed alone, when the head was put off anew and
 * only some of those behind it: those behind the latest wait for its time, others behind the head for that one's. A new
 * one waits for the time of the last where that is not put off anew yet. Due at one time, the one with the lower number
 * is claimed first, so one of a lower number is due a microsecond later. A lane without a message that was put off holds
 * nobody back, and two keys that share a lane only wait for each other.
 *
 * One worker knows the lanes, the one that leads the queue (runtime/ordered/ordered.h):
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

#define PAWL__LANES 16384
#define PAWL__LANE_ID_SIZE 48 /* bytes of an id that a lane keeps for people */

/* The text of a row that is held begins so; an id may follow. */
#define PAWL_ORDER_WAITS "waits for message "

/* Is it the text of such a row? */
static inline bool pawl__order_is_held(pawl_text error)
{
    return error.size >= sizeof PAWL_ORDER_WAITS &&
           memcmp(error.data, PAWL_ORDER_WAITS, sizeof PAWL_ORDER_WAITS - 1) == 0;
}

/* A place in the queue: messages are earlier or later by it. */
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

/* Zero: nothing of it was put off. */
typedef struct pawl__lane {
    bool        has_head, has_last; /* has_last: a latest, too */
    pawl__place head, last, latest;
    pawl_time   head_due, last_due, latest_due;
    int64_t     latest_seq; /* the largest number that is put off to the time of the latest */
    uint64_t    batch;      /* number of the last batch with a unit of it, */
    uint32_t    unit;       /* and that unit */
    uint64_t    stuck;      /* number of the last batch whose head was in other hands */
    char        head_id[PAWL__LANE_ID_SIZE];
} pawl__lane;

/* A message that is before units of the batch, and in somebody else's hand. */
typedef struct pawl__absent {
    uint32_t    lane;
    pawl__place place;
} pawl__absent;

/* How an endpoint's messages are told apart. */
typedef enum pawl__order_kind {
    PAWL__ORDER_NONE,
    PAWL__ORDER_SAGA, /* the value that leads to its saga, else its conversation */
    PAWL__ORDER_HEADER,
    PAWL__ORDER_PROPERTY,
} pawl__order_kind;

typedef struct pawl__order_key {
    pawl__order_kind kind;
    const char      *name; /* of the header or the property */
} pawl__order_key;

typedef struct pawl__order {
    pawl__order_key key;
    pawl__lane     *lanes;
    uint64_t        batch;  /* counts batches */
    pawl__absent   *absent; /* of the last claim */
    size_t          absent_count, absent_capacity;
    bool            is_stuck; /* the head of a lane was in other hands */
} pawl__order;

/* Reads "saga", "header:NAME" or "property:NAME"; NULL and "none" say that nothing is ordered. False:
 * it is none of them. */
bool pawl__order_read(const char *text, pawl__order_key *key);
/* Warns of a property that no message handled here has as a key: nothing is in order then. The option may be meant for other
 * endpoints of the process. */
void pawl__order_warn(const char *text, const pawl__model *model);
/* Forgets all lanes. False: no memory for them. */
bool pawl__order_begin(pawl__order *order);
/* Notes a message that was put off, as it stands in the queue. PAWL_ENOMEM is the only failure. */
pawl_code pawl__order_note(pawl__batch *batch, const pawl_queue_message *message);
/* Notes a message that a claim did not get, though it is before some of it; in the arena. */
pawl_code pawl__order_note_absent(pawl__batch *batch, const pawl_queue_row *row, pawl_arena *arena);

/* Finds the keys and lanes of all units, those that are given back included: they hold others
 * back. PAWL_ENOMEM is the only failure. */
pawl_code pawl__order_find(pawl__batch *batch, pawl_error *error);
/* Looks for heads that should have come before units of the batch and did not: an operator took
 * them away, or somebody has them in hand. */
pawl_code pawl__order_look(pawl__batch *batch, pawl_error *error);
/* Will the unit be put off, as far as the lanes know before the batch runs? */
bool pawl__order_waits(const pawl__batch *batch, const pawl__unit *unit);
/* Puts the unit off if an earlier message of its lane has not come to its end. */
bool pawl__order_hold(pawl__batch *batch, pawl__unit *unit);
/* Gives back the units from `first` on that were put off before anybody asked whether they are held. */
void pawl__order_release(pawl__batch *batch, size_t first);
/* Notes what became of the units, which are committed. */
void pawl__order_take(pawl__batch *batch);

#endif
