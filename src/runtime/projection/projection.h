/* projection.h - the readers of the journal, and the sequencer, which gives events their positions.
 *
 *     create -> { run }* -> destroy
 *
 * One worker of all programs does each, under a lease: reading for one projection
 * ("projection/NAME"), and giving positions in the whole store ("sequencer"). A lease only saves
 * double work; correctness is in the store: a checkpoint moves from the position at which it was
 * read, or the commit is refused, and positions are given by one statement.
 *
 * Threads: as the service that they belong to.
 * Tests: tests/unit/runtime/test_projection.c, test_projection_postgres.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_PROJECTION_H
#define PAWL_RUNTIME_PROJECTION_H

#include "runtime/runtime.h"

/* ---- Leases: sequencer.c ------------------------------------------------------ */

typedef struct pawl__lease {
    pawl_text name;
    bool      is_ours;
    pawl_time renewal; /* machine time of the next question to the store */
} pawl__lease;

void pawl__lease_forget(pawl__lease *lease);
/* Takes or renews the lease when it is time; lease->is_ours is the answer. */
pawl_code pawl__lease_keep(pawl__lease *lease, pawl_store *store, pawl_time now, pawl_error *error);
/* Gives positions to events without one, `*count` of them; `*more` when some are left. Holds the
 * lease only while `is_needed`. */
pawl_code pawl__sequencer_run(pawl__lease *lease, pawl_store *store, bool is_needed, pawl_time now,
                              int64_t *count, bool *more, pawl_error *error);

/* ---- Readers: projection.c ---------------------------------------------------- */

typedef struct pawl__reader {
    const pawl__projection_model *model;
    pawl__lease                   lease;
    bool                          is_known;    /* `position` is the checkpoint's */
    bool                          only_resets; /* its first event is discarded by its handler */
    int64_t                       position;
    int64_t                       action_count; /* of operators, when the position was read */
    pawl_time                     look_due;     /* machine time of the next count of them */
    size_t                        limit;        /* events to read next */
    int32_t                       attempts;     /* of the next event */
    pawl_time                     retry_due;    /* machine time; PAWL_TIME_MIN: at once */
} pawl__reader;

typedef struct pawl__projections {
    pawl_endpoint *endpoint;
    pawl__worker  *worker; /* whose engine runs them; its store is the service's */
    pawl__lease    sequencer;
    pawl__reader  *readers;
    size_t         count;
    pawl_time      read_due; /* machine time of the next check for events */
    int64_t        pause;    /* after a check that finds none */
} pawl__projections;

/* others.c: cuts the rows before the first event that no handler here takes, and that a live
 * program's projection of this name does. */
pawl_code pawl__events_of_others(pawl__worker *worker, const pawl__reader *reader,
                                 pawl_event_rows *rows, pawl_error *error);

/* *projections is NULL when the endpoint has none. */
pawl_code pawl__projections_create(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                   pawl__projections **projections, pawl_error *error);
/* Each accepts NULL for an endpoint without projections. */
void      pawl__projections_destroy(pawl__projections *projections);
pawl_code pawl__projections_run(pawl__projections *projections, pawl_store *store, pawl_step *step,
                                pawl_error *error);
/* Forgets leases and positions: after the store handle was lost. */
void pawl__projections_forget(pawl__projections *projections);
/* New events may be there: the next run reads. */
void pawl__projections_wake(pawl__projections *projections);
/* Machine time of the next read; PAWL_TIME_MIN when the last one left events. */
pawl_time pawl__projections_due(const pawl__projections *projections);
/* Machine time at which a failed event is tried again, or PAWL_TIME_MAX. */
pawl_time pawl__projections_retry(const pawl__projections *projections);

#endif
