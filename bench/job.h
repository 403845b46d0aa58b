/* job.h - what the files of the benchmarks share.
 *
 *     bench_run.c      rounds, medians, output
 *     verdict.c        what the figures say
 *     place.c          where a round's tables are, for each kind of store
 *     application.c    the records and handlers that pawl runs
 *     handle.c         a store handle with what belongs to it
 *     saga_step.c outbox_drain.c timeouts.c
 *                      fill, run, check: one workload each, on any store
 *     limit_sqlite*.c  the hand-written loops on SQLite
 *
 * A workload knows no store and a kind of store no workload, except for its
 * loops: another store is one row in the table of place.c and a file of loops.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_JOB_H
#define PAWL_BENCH_JOB_H

#include "pawl/pawl.h"

/* Of the shared tables and of the saga table. */
#define PAWL__BENCH_PREFIX "pawl_bench_"
#define PAWL__BENCH_SAGA_PREFIX "pawl_bench_saga_"
#define PAWL__BENCH_QUEUE "bench"

/* One round on one store. */
typedef struct pawl__bench_job {
    int64_t     messages;
    int64_t     batch;
    uint64_t    seed;
    const char *url;    /* the store, filled */
    const char *target; /* a second one of its kind, for what leaves the first; empty */
} pawl__bench_job;

typedef pawl_code pawl__bench_fn(const pawl__bench_job *job, pawl_error *error);
/* Opens, prepares, works, closes; only the work is in `*microseconds`. */
typedef pawl_code pawl__bench_timed_fn(const pawl__bench_job *job, int64_t *microseconds,
                                       pawl_error *error);

typedef struct pawl__bench_workload {
    const char           *name;
    pawl__bench_fn       *fill; /* makes the tables and what is to be worked off */
    pawl__bench_timed_fn *run;  /* pawl */
    /* After pawl and after the loop alike: did it do all of the work? */
    pawl__bench_fn *check;
} pawl__bench_workload;

extern const pawl__bench_workload pawl__bench_saga_step;
extern const pawl__bench_workload pawl__bench_outbox_drain;
extern const pawl__bench_workload pawl__bench_timeouts;

/* ---- Places --------------------------------------------------------------- */

/* The URLs that belong to one run. */
typedef struct pawl__bench_place {
    const struct pawl__bench_kind *kind;
    char                           filled[PAWL_URL_SIZE_MAX + 1]; /* as fill left it */
    char                           round[PAWL_URL_SIZE_MAX + 1];  /* its copy, worked off */
    char                           target[PAWL_URL_SIZE_MAX + 1];
} pawl__bench_place;

typedef struct pawl__bench_limit {
    const char           *workload; /* NULL ends the list */
    pawl__bench_timed_fn *run;
} pawl__bench_limit;

/* A kind of store. */
typedef struct pawl__bench_kind {
    const char *scheme;
    /* Names the URLs; PAWL_ECONFIG when something stands there already. */
    pawl_code (*take)(const char *url, pawl__bench_place *place, pawl_error *error);
    /* Makes place->round equal to place->filled and place->target empty; NULL:
     * `round` has to be filled anew for each round. */
    pawl_code (*copy)(const pawl__bench_place *place, pawl_error *error);
    /* Removes the tables of one URL; harmless when there are none. NULL: they
     * are gone with their last handle, and one is kept open. */
    pawl_code (*drop)(const char *url, pawl_error *error);
    const pawl__bench_limit *limits;   /* or NULL */
    const char              *no_limit; /* why there are none */
} pawl__bench_kind;

/* PAWL_EUNSUPPORTED: there are no benchmarks on that kind of store. */
pawl_code pawl__bench_place_take(const char *url, pawl__bench_place *place, pawl_error *error);

#ifdef PAWL_HAVE_SQLITE
/* limit_sqlite_*.c */
pawl__bench_timed_fn pawl__bench_sqlite_saga_step;
pawl__bench_timed_fn pawl__bench_sqlite_outbox_drain;
pawl__bench_timed_fn pawl__bench_sqlite_timeouts;
#endif

/* ---- What the workloads share --------------------------------------------- */

int64_t pawl__bench_clock(void); /* microseconds, monotonic */
/* PAWL_EINTERRUPTED after SIGINT or SIGTERM; asked between batches. */
pawl_code pawl__bench_go_on(pawl_error *error);

typedef struct pawl__bench_handle {
    pawl_store            *store;
    const pawl_saga_table *table; /* of the order saga; made at open when it is missing */
    pawl_arena            *arena; /* for what is read and written */
    pawl_arena            *kept;  /* holds the table */
} pawl__bench_handle;

/* Close follows every open, failed or not. */
pawl_code pawl__bench_open(const char *url, pawl__bench_handle *handle, pawl_error *error);
void      pawl__bench_close(pawl__bench_handle *handle);
/* One commit of one group. */
pawl_code pawl__bench_commit(pawl__bench_handle *handle, pawl_changes *changes, pawl_error *error);
/* PAWL_EBUG: "saga-step: 99 inbox marks, should be 100". */
pawl_code pawl__bench_expect(const char *what, int64_t found, int64_t wanted, pawl_error *error);

#endif
