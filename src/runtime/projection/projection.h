/* projection.h - runs projections, which read the event store, and the sequencer, which gives events their global
 * positions.
 *
 *     create -> { run }* -> destroy
 *
 * Each projection is run by one service of all processes, under the lease "projection/NAME"; one gives positions in the
 * whole store, under the lease "sequencer". Leases only avoid double work. Correctness comes from the store: a commit
 * is refused unless the checkpoint is where it was read, and positions are given by one statement.
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
    pawl_time renewal; /* machine time of the next request to the store */
} pawl__lease;

void pawl__lease_forget(pawl__lease *lease);
/* Takes or renews the lease if it is time; the result is lease->is_ours. */
pawl_code pawl__lease_keep(pawl__lease *lease, pawl_store *store, pawl_time now, pawl_error *error);
/* Gives positions to events without one. `*count`: how many; `*more`: some are left. Keeps the lease only while
 * `is_needed`. */
pawl_code pawl__sequencer_run(pawl__lease *lease, pawl_store *store, bool is_needed, pawl_time now,
                              int64_t *count, bool *more, pawl_error *error);

/* ---- Readers: projection.c ---------------------------------------------------- */

typedef struct pawl__reader {
    const pawl__projection_model *model;
    pawl__lease                   lease;
    bool                          is_known; /* `position` has been read */
    bool      only_resets; /* the handler discarded its first event: only reset runs */
    int64_t   position;
    int64_t   action_count; /* operators' actions when the position was read */
    pawl_time look_due;     /* machine time of their next count */
    size_t    limit;        /* events of the next read */
    int32_t   attempts;     /* of the next event */
    pawl_time retry_due;    /* machine time of the next attempt; PAWL_TIME_MIN: at once */
} pawl__reader;

typedef struct pawl__projections {
    pawl_endpoint *endpoint;
    pawl__worker  *worker; /* its engine runs the handlers; its store is the service's */
    pawl__lease    sequencer;
    pawl__reader  *readers;
    size_t         count;
    pawl_time      read_due; /* machine time of the next check for events */
    int64_t        pause;    /* pause after a check without events */
} pawl__projections;

/* others.c: cuts the rows before the first event that no handler here takes or that has a version unknown here, but that
 * the projection of the same name of another live program takes. */
pawl_code pawl__events_of_others(pawl__worker *worker, const pawl__reader *reader,
                                 pawl_event_rows *rows, pawl_error *error);

/* *projections is NULL when the endpoint has none. */
pawl_code pawl__projections_create(pawl_endpoint *endpoint, pawl__app_call *app_call,
                                   pawl__projections **projections, pawl_error *error);
/* The following accept NULL, for an endpoint without projections. */
void      pawl__projections_destroy(pawl__projections *projections);
pawl_code pawl__projections_run(pawl__projections *projections, pawl_store *store, pawl_step *step,
                                pawl_error *error);
/* Called after the store handle was lost: forgets leases and positions. */
void pawl__projections_forget(pawl__projections *projections);
/* Makes the next run read, as there may be new events. */
void pawl__projections_wake(pawl__projections *projections);
/* Machine time of the next read; PAWL_TIME_MIN if the last one left events. */
pawl_time pawl__projections_due(const pawl__projections *projections);
/* Machine time at which a failed event is tried again, or PAWL_TIME_MAX. */
pawl_time pawl__projections_retry(const pawl__projections *projections);

#endif
