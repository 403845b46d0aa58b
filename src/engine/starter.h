/* starter.h - messages in delayed retry that could begin the saga which another message misses.
 *
 *     pawl__starters_read, before the saga is read for the last time -> pawl__starter_wait
 *
 * A message that begins no saga and finds none is dropped, unless its starter only has not succeeded
 * yet: an older message of the queue, of a type that begins this saga, with the same value, which failed and
 * will run again. The message then is due right behind it, for as long as it is retried.
 *
 * Tests: tests/unit/engine/test_engine_starter.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_ENGINE_STARTER_H
#define PAWL_ENGINE_STARTER_H

#include "pawl/store_calls.h"
#include "workflow/model.h"

struct pawl__batch;
struct pawl__unit;
struct pawl__lookup;

/* A message in retry, and a saga that it could begin. */
typedef struct pawl__starter {
    const pawl__saga_model *saga;
    pawl_value              main, transitional; /* or NONE */
    pawl_time               due, placed;
    int64_t                 seq;
} pawl__starter;

/* In the arena of the batch, emptied with it. */
typedef struct pawl__starters {
    pawl__starter *items;
    size_t         count, capacity;
    bool *cut;     /* by saga of the model: it has more of them than were read; NULL: none has */
    bool  is_full; /* the last read ended by its size */
} pawl__starters;

/* lookup.c: reads the values of the lookup's message, which is decoded, and finds no saga. */
pawl_code pawl__lookup_values(struct pawl__batch *batch, struct pawl__lookup *lookup);
/* Reads those of the saga from the queue. */
pawl_code pawl__starters_read(struct pawl__batch *batch, const pawl__saga_model *saga,
                              pawl_error *error);
/* Puts the unit back until its starter has run again. False: it has none. */
bool pawl__starter_wait(struct pawl__batch *batch, struct pawl__unit *unit,
                        const struct pawl__lookup *lookup);

#endif
