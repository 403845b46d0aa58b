/* store_projection.h - how far the projections of a store are, and what holds one up.
 * operations.h says what is the same for all of these calls.
 *
 *     { projection_fail }* -> projection_list or projection_find      a reader leaves, others look
 *
 * A projection is listed when its checkpoint was set once, when a worker leads it, or when its
 * first event failed. The failure is kept as a fold of "pawl.projection/NAME", a stream without
 * events: written at each try, and out of date by itself once the checkpoint is past the event.
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

/* The event that a projection waits for. */
typedef struct pawl_projection_failure {
    int64_t   position; /* of the event; 0: nothing holds the projection up */
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
    int64_t        last;     /* position of the newest event of the store */
    int64_t        lag;    /* events behind `position`; those without a position are not counted */
    pawl_worker_id worker; /* the one that reads; zero: nobody does, or the store cannot tell */
    pawl_projection_failure failure;
} pawl_projection_row;

typedef struct pawl_projection_rows {
    pawl_projection_row *items;
    size_t               count;
} pawl_projection_rows;

/* All projections of the store, by name. Of what commits meanwhile each field sees what it sees:
 * the lag is never less than 0. */
PAWL_API pawl_code pawl_store_projection_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                              pawl_projection_rows *rows, pawl_error *error);
/* The one of that name. PAWL_ENOTFOUND: there is none; the text names those that are. */
PAWL_API pawl_code pawl_store_projection_find(pawl_store *store, pawl_text name, pawl_time now,
                                              pawl_arena *arena, pawl_projection_row *row,
                                              pawl_error *error);

/* Leaves for others what failed, in the place of what was left before: for readers. `at` is `now`;
 * `since` is not read: it stays while the event is the same. Bytes of the error that are no UTF-8
 * become question marks.
 *
 * PAWL_EINVAL  the name is empty, or the position is not positive */
PAWL_API pawl_code pawl_store_projection_fail(pawl_store *store, pawl_text name,
                                              const pawl_projection_failure *failure, pawl_time now,
                                              pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
