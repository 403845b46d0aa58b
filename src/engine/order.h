/* order.h - messages of an ordered endpoint: each waits until the earlier ones of its key have come to
 * their ends.
 *
 * A key is hashed to a lane, which knows the messages of its keys that were put off: their places in the queue, the order
 * in which they were sent, and their due times. A message runs when none of an earlier place is put off, else it is put off
 * behind the last of them: rows are claimed by due time, and by number at one time, so one of a lower number is due a
 * microsecond later. Turns need not be in the order of the places: a message may come late, or be tried again after those
 * that wait for it became due. It is put off anew then, when its turn comes before that of an earlier one. Two keys that
 * share a lane only wait for each other.
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

/* A message that was put off. */
typedef struct pawl__waiting {
    pawl__place place;
    pawl_time   due;
    uint32_t    batch, unit; /* the last batch that had it, and its unit there */
} pawl__waiting;

/* Zero: nothing of it was put off. */
typedef struct pawl__lane {
    pawl__waiting *room; /* sorted by place, from `first` on */
    size_t         first, count, capacity;
    pawl_time      latest_due; /* the last turn of them: due time, */
    int64_t        latest_seq; /* and number */
    uint64_t       batch;      /* number of the last batch with a unit of it, */
    uint32_t       unit;       /* the unit, */
    uint32_t       unit_count; /* and how many there were */
    uint64_t       stuck;      /* number of the last batch with one in other hands, */
    pawl__place    stuck_place;
    pawl_time      next_look; /* machine time, for one that is due later */
    pawl__place    named;     /* the first, when it was put off, */
    char           head_id[PAWL__LANE_ID_SIZE];
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
void pawl__order_end(pawl__order *order);
/* Notes a message that was put off, as it stands in the queue. PAWL_ENOMEM is the only failure. */
pawl_code pawl__order_note(pawl__batch *batch, const pawl_queue_row *row);
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
