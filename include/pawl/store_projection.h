/* store_projection.h - how far the projections of a store are, and what blocks one.
 * operations.h says what is the same for all of these calls.
 *
 *     { projection_fail }* -> projection_list or projection_find      a reader writes, others read
 *     projection_find -> restart or rebuild -> projection_actions     an operator acts
 *
 * A projection is listed when its checkpoint was set once, when a worker leads it, or when its
 * first event failed. The failure is kept as a snapshot of "pawl.projection/NAME", a stream without
 * events: written at each try, and out of date by itself once the checkpoint is past the event.
 * Actions are events of "pawl.projection_action/NAME". The worker that reads counts them, and reads
 * its checkpoint anew when there is one more.
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

/* The names of their leases, and of their checkpoints, begin so. */
#define PAWL_PROJECTION_SOURCES "projection/"
/* The name of a stream begins so, then a slash. */
#define PAWL_PROJECTION_STREAMS "pawl.projection"
/* The name of the stream of actions begins so, then a slash. */
#define PAWL_PROJECTION_ACTIONS "pawl.projection_action"
/* Types of its events: JSON in headers, with `by` and `reason`. */
#define PAWL_PROJECTION_RESTARTED "pawl.projection_restarted"
#define PAWL_PROJECTION_REBUILT "pawl.projection_rebuilt"

/* The event that a projection waits for. */
typedef struct pawl_projection_failure {
    int64_t   position; /* of the event; 0: nothing blocks the projection */
    pawl_text stream;
    int64_t   version;
    pawl_text type;
    pawl_time since;    /* the first of the tries at this event, whoever made it */
    pawl_time at;       /* the last one */
    pawl_time next;     /* not tried before */
    int64_t   attempts; /* of the worker that reads now */
    pawl_text code;     /* "EPERSIST" */
    pawl_text error;
    pawl_text endpoint; /* whose worker tried */
} pawl_projection_failure;

typedef struct pawl_projection_row {
    pawl_text      name;     /* without "projection/" */
    int64_t        position; /* events up to it took effect; 0: none did */
    int64_t        last;     /* global position of the newest event of the store */
    int64_t        lag;      /* events behind `position`; those without one are not counted */
    pawl_worker_id worker;   /* the one that reads; zero: none does, or the store cannot tell */
    pawl_projection_failure failure;
} pawl_projection_row;

typedef struct pawl_projection_rows {
    pawl_projection_row *items;
    size_t               count;
} pawl_projection_rows;

/* All projections of the store, by name. Not a snapshot: commits meanwhile may show in some fields and not in others.
 * The lag is never less than 0. */
PAWL_API pawl_code pawl_store_projection_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                              pawl_projection_rows *rows, pawl_error *error);
/* The one of that name. PAWL_ENOTFOUND: there is none; the text names those that are. */
PAWL_API pawl_code pawl_store_projection_find(pawl_store *store, pawl_text name, pawl_time now,
                                              pawl_arena *arena, pawl_projection_row *row,
                                              pawl_error *error);

/* Writes for others which event failed, over the entry before: for readers. `at` is `now`;
 * `since` is not read: it stays while the event is the same. Bytes of the error that are no UTF-8
 * become question marks.
 *
 * PAWL_EINVAL  the name is empty, or the global position is not positive */
PAWL_API pawl_code pawl_store_projection_fail(pawl_store *store, pawl_text name,
                                              const pawl_projection_failure *failure, pawl_time now,
                                              pawl_error *error);

/* ---- Actions ------------------------------------------------------------------ */

/* Has the event that blocks the projection tried now, its tries counted anew. A worker that reads
 * does so within a second or two; where none does, the next one begins with it anyway.
 *
 * PAWL_ENOTFOUND  there is no such projection, or nothing blocks it
 * PAWL_ECONFLICT  another one acts on it at this moment
 * PAWL_EINVAL     `by` is empty
 * PAWL_ELIMIT     `by` and the reason are too long together */
PAWL_API pawl_code pawl_store_projection_restart(pawl_store *store, pawl_text name, pawl_text by,
                                                 pawl_text reason, pawl_time now,
                                                 pawl_error *error);

typedef struct pawl_projection_rebuild {
    pawl_text name;
    int64_t   from;       /* global position of the first event to be read again; 0: all are */
    bool      while_read; /* also while a worker reads for it */
    pawl_text by, reason;
} pawl_projection_rebuild;

/* Sets the checkpoint back: the handlers run again for all events from `from` on. The rows that they
 * wrote before are the application's: from the first event on the projection's `reset` empties them.
 * Without one, or from a later event on, they stay: whoever calls this clears them first, while no worker
 * reads, or has handlers that write the same again. Messages that they send again have the ids that
 * they had. `*count`, unless NULL: events that it went back.
 *
 * PAWL_ENOTFOUND  there is no such projection
 * PAWL_EINVAL     `from` is not before what it has read, or `by` is empty
 * PAWL_ECONFLICT  a worker reads for it, and `while_read` is false; or it moved meanwhile
 * PAWL_ELIMIT     as above */
PAWL_API pawl_code pawl_store_projection_rebuild(pawl_store                    *store,
                                                 const pawl_projection_rebuild *rebuild,
                                                 pawl_time now, int64_t *count, pawl_error *error);

/* Global position of the first event that is of that time or later, found by halving; 0: there is none. Where
 * the clocks of those who appended differ, events may stand before it that are later, or 0 is said though some
 * are. */
PAWL_API pawl_code pawl_store_global_position_at(pawl_store *store, pawl_time time,
                                                 int64_t *position, pawl_error *error);

/* Events of what operators did with the projection, oldest first. */
PAWL_API pawl_code pawl_store_projection_actions(pawl_store *store, pawl_text name,
                                                 pawl_arena *arena, pawl_event_rows *rows,
                                                 pawl_error *error);
/* Number of the actions: for the worker that reads. */
PAWL_API pawl_code pawl_store_projection_action_count(pawl_store *store, pawl_text name,
                                                      int64_t *count, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
