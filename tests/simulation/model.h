/* model.h - the guarantees, checked at each commit and at the end.
 *
 *     model_begin -> { model_committed | model_claimed | model_delivered }* -> model_is_at_rest -> model_end
 *
 * The model is told of each commit that the store applied. It knows from the tasks (traffic.h) what each may
 * contain, keeps rows of its own, and says the first thing that is wrong.
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_MODEL_H
#define PAWL_SIMULATION_MODEL_H

#include "simulation/sim_store.h"
#include "simulation/traffic.h"

void model_begin(void);
void model_end(void);
void model_committed(void *context, const pawl_changes *changes, const pawl_refusals *refused);
void model_claimed(void *context, const pawl_queue_claim *claim, const pawl_queue_rows *rows);
/* The clock of a process was set forward. */
void model_allow_clock(int64_t microseconds);
/* Calls of the store fail. */
void model_allow_faults(void);
/* The carrier has a message. */
void model_delivered(pawl_text id, pawl_text body);
/* The sender was told that the task's message is in the queue. */
void model_sent(int64_t number);
/* Whether nothing is left to be done, as far as the model knows. Else `what` says what is. */
bool model_is_at_rest(char *what, size_t size);
/* The store has what the model has. */
void model_compare(pawl_store *store, pawl_arena *arena);

/* The first thing that was wrong; NULL: nothing is. */
const char *model_failure(void);
void        model_fail(const char *format, ...) PAWL_PRINTF(1, 2);

typedef struct model_counts {
    int64_t commits, refused, tasks, cargoes, dead;
    /* A commit had such a change, or refused one. */
    bool kinds[pawl_change_kind_count], refused_kinds[pawl_change_kind_count];
} model_counts;

model_counts model_counted(void);
int64_t      model_commits(void); /* its commits alone */

#endif
