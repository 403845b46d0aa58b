/* starter.h - finds failed messages in delayed retry that would begin the saga which another message misses.
 *
 *     pawl__starters_read, before the saga is read for the last time -> pawl__starter_wait
 *
 * A message that begins no saga and finds none is dropped. The exception: an older message in the queue
 * would begin this saga (right type, same value), but failed and will run again. The message then becomes due
 * right after that starter, as long as the starter is retried.
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

/* The starters that were read for a batch, in its arena. */
typedef struct pawl__starters {
    pawl__starter *items;
    size_t         count, capacity;
    bool *cut;     /* by saga of the model: it has more starters than were read; NULL: none has */
    bool  is_full; /* the last read ended at its limit */
} pawl__starters;

/* lookup.c: reads the correlation values from the decoded message; does not look for the saga. */
pawl_code pawl__lookup_values(struct pawl__batch *batch, struct pawl__lookup *lookup);
/* Reads the starters of the saga from the queue. */
pawl_code pawl__starters_read(struct pawl__batch *batch, const pawl__saga_model *saga,
                              pawl_error *error);
/* Defers the unit until its starter has run again. False: the unit has no starter. */
bool pawl__starter_wait(struct pawl__batch *batch, struct pawl__unit *unit,
                        const struct pawl__lookup *lookup);

#endif
