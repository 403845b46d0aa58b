/* store_projection.h - lists projections with their positions and failures, and restarts or rebuilds one.
 * operations.h has the rules of all calls.
 *
 *     { projection_fail }* -> projection_list or projection_find      a reader writes, others read
 *     projection_find -> restart or rebuild -> projection_actions     an operator acts
 *
 * A projection is listed once its checkpoint was set, a worker leads it, or its first event
 * failed. The failure is stored as a snapshot of the stream "pawl.projection/NAME", which has no
 * events. Each try writes it; it is no longer valid once the checkpoint is past the event.
 * Actions are events of the stream "pawl.projection_action/NAME". The projection's worker counts them, and reads
 * its checkpoint again when there is a new one.
 *
 * Threads: as the handle's.
 * Tests: src/conformance/operation/projection.c, tests/unit/runtime/test_projection_failure.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_PROJECTION_H
#define PAWL_STORE_PROJECTION_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prefix of the names of projections' leases and checkpoints. */
#define PAWL_PROJECTION_SOURCES "projection/"
/* The stream of failures is this, a slash, then the projection's name. */
#define PAWL_PROJECTION_STREAMS "pawl.projection"
/* The stream of actions is this, a slash, then the projection's name. */
#define PAWL_PROJECTION_ACTIONS "pawl.projection_action"
/* Types of the actions' events. Headers: "by" and "reason". */
#define PAWL_PROJECTION_RESTARTED "pawl.projection_restarted"
#define PAWL_PROJECTION_REBUILT "pawl.projection_rebuilt"

/* The event at which a projection fails. */
typedef struct pawl_projection_failure {
    int64_t   position; /* of the event; 0: nothing blocks the projection */
    pawl_text stream;
    int64_t   version;
    pawl_text type;
    pawl_time since;    /* first try at this event, by any worker */
    pawl_time at;       /* last try */
    pawl_time next;     /* not tried before this time */
    int64_t   attempts; /* of the current worker */
    pawl_text code;     /* "EPERSIST" */
    pawl_text error;
    pawl_text endpoint; /* whose worker tried */
} pawl_projection_failure;

typedef struct pawl_projection_row {
    pawl_text               name;     /* without "projection/" */
    int64_t                 position; /* events up to it are handled; 0: none */
    int64_t                 last;     /* global position of the newest event of the store */
    int64_t                 lag;      /* events after `position` that have a global position */
    pawl_worker_id          worker;   /* its worker; zero: none, or the store cannot tell */
    pawl_projection_failure failure;
} pawl_projection_row;

typedef struct pawl_projection_rows {
    pawl_projection_row *items;
    size_t               count;
} pawl_projection_rows;

/* All projections of the store, by name. Fields are read one after the other, so commits meanwhile may show in some of
 * them only. The lag is never less than 0. */
PAWL_API pawl_code pawl_store_projection_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                              pawl_projection_rows *rows, pawl_error *error);
/* The projection of that name. PAWL_ENOTFOUND: there is none; the text names the existing ones. */
PAWL_API pawl_code pawl_store_projection_find(pawl_store *store, pawl_text name, pawl_time now,
                                              pawl_arena *arena, pawl_projection_row *row,
                                              pawl_error *error);

/* Stores which event failed, in place of the last failure; called by the worker that runs the projection. `at` is
 * `now`; `since` is not read, and stays while the event is the same. '?' replaces bytes of the error
 * that are no UTF-8.
 *
 * PAWL_EINVAL  the name is empty, or the global position is not positive */
PAWL_API pawl_code pawl_store_projection_fail(pawl_store *store, pawl_text name,
                                              const pawl_projection_failure *failure, pawl_time now,
                                              pawl_error *error);

/* ---- Actions ------------------------------------------------------------------ */

/* Has the failing event tried now, and its tries counted anew. The projection's worker does so within one or two
 * seconds; without a worker, the next one starts with this event anyway.
 *
 * PAWL_ENOTFOUND  there is no such projection, or no event of it fails
 * PAWL_ECONFLICT  another operator acts on it at this moment
 * PAWL_EINVAL     `by` is empty
 * PAWL_ELIMIT     `by` and the reason are too long together */
PAWL_API pawl_code pawl_store_projection_restart(pawl_store *store, pawl_text name, pawl_text by,
                                                 pawl_text reason, pawl_time now,
                                                 pawl_error *error);

typedef struct pawl_projection_rebuild {
    pawl_text name;
    int64_t   from;       /* global position of the first event to be read again; 0: all */
    bool      while_read; /* also while a worker runs the projection */
    pawl_text by, reason;
} pawl_projection_rebuild;

/* Sets the checkpoint back, so that the handlers run again for all events from `from` on. If these are all events, the
 * projection's `reset` deletes the rows that its handlers wrote. Without `reset`, or from a later event on, the caller
 * must delete them first, while no worker runs the projection, or the handlers must write the same rows
 * again. Messages that are sent again have the same ids. `*count`, unless NULL: number of events to be read again.
 *
 * PAWL_ENOTFOUND  there is no such projection
 * PAWL_EINVAL     `from` is not before the checkpoint, or `by` is empty
 * PAWL_ECONFLICT  a worker runs it, and `while_read` is false; or the checkpoint moved at each of fifty tries; or
 *                 another operator acts on it at this moment
 * PAWL_ELIMIT     as above */
PAWL_API pawl_code pawl_store_projection_rebuild(pawl_store                    *store,
                                                 const pawl_projection_rebuild *rebuild,
                                                 pawl_time now, int64_t *count, pawl_error *error);

/* Global position of the first event of that time or later, found by binary search; 0: there is none. If clocks
 * of processes that appended differ, events before it may be later, or the answer may be 0 though
 * there are such events. */
PAWL_API pawl_code pawl_store_global_position_at(pawl_store *store, pawl_time time,
                                                 int64_t *position, pawl_error *error);

/* Events of what operators did with the projection, oldest first. */
PAWL_API pawl_code pawl_store_projection_actions(pawl_store *store, pawl_text name,
                                                 pawl_arena *arena, pawl_event_rows *rows,
                                                 pawl_error *error);
/* Number of these events: for the worker that runs the projection. */
PAWL_API pawl_code pawl_store_projection_action_count(pawl_store *store, pawl_text name,
                                                      int64_t *count, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
