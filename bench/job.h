/* job.h - types and functions that the files of the benchmarks share.
 *
 *     bench_run.c      rounds and medians
 *     result.c         output
 *     figures.c        figures measured beside a rate
 *     verdict.c        conclusions from the figures
 *     watch.c          clock, signals, progress
 *     fixture.c          which kind of store a URL names
 *     peer.c peers.c   the same work done by another program, beside pawl
 *     application.c    the records and handlers that pawl runs
 *     handle.c         a store handle with what belongs to it, and filling through it
 *     background.c     an endpoint that runs while the benchmark watches
 *     timed.c          a driver that notes what passes through another one
 *     saga_step.c outbox_drain.c timeouts.c append.c hot_saga.c steady.c retention.c
 *     latency.c broker.c no_op.c
 *                      fill, run, check: one workload each, on any store
 *     lateness.c       the second part of timeouts
 *     post_office.c    messages in the queues of a broker
 *     limit.c          functions of the hand-written loops
 *     KIND/fixture.c     where a round's tables are
 *     KIND/ others     the loops on that kind of store
 *     rabbitmq/        the bare loop of that kind of broker
 *
 * A workload knows no store and a kind of store no workload, except for its
 * loops: another store is one more folder, which becomes the module
 * libpawl-bench-KIND.so, with the database's library. The rest is
 * libpawl-bench.so, which `pawl bench` loads and which needs no database.
 *
 * Tests: tests/system/bench.sh bench_postgres.sh bench_mysql.sh bench_mongodb.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_JOB_H
#define PAWL_BENCH_JOB_H

#include "bench.h"
#include "figures.h"
#include "pawl/operate.h"

/* Of the shared tables and of the saga table. */
#define PAWL__BENCH_PREFIX "pawl_bench_"
#define PAWL__BENCH_SAGA_PREFIX "pawl_bench_saga_"
#define PAWL__BENCH_QUEUE "bench"

/* The handler of a message: the saga's, one that only sends it on, or one that does nothing. */
typedef enum pawl__bench_handler {
    PAWL__BENCH_SAGA_STEP,
    PAWL__BENCH_RELAY,
    PAWL__BENCH_NO_OP,
} pawl__bench_handler;

/* One round on one store. */
typedef struct pawl__bench_job {
    int64_t     messages;
    int64_t     batch;
    uint64_t    seed;
    const char *url;    /* the store, filled */
    const char *target; /* a second one of its kind, for what leaves the first; empty */
    const struct pawl__bench_kind *kind;
    const pawl__bench_options     *options; /* options of some workloads, defaults filled in */
    pawl__bench_figures           *figures; /* notes of a run beside its time */
    struct pawl__bench_peers      *peers;
    bool                           has_history; /* the endpoint keeps one */
    const char                    *transport;   /* URL#QUEUE that the endpoint reads, or NULL */
    pawl__bench_handler            handler;
    /* Told of each step as its handler begins, on the endpoint's thread; or NULL. */
    void (*on_step)(int64_t number);
} pawl__bench_job;

typedef pawl_code pawl__bench_fn(const pawl__bench_job *job, pawl_error *error);
/* Opens, prepares, works, closes; only the work is in `*microseconds`. */
typedef pawl_code pawl__bench_timed_fn(const pawl__bench_job *job, int64_t *microseconds,
                                       pawl_error *error);

/* A second measurement of pawl, in turn with the first, that the first is
 * compared with. */
typedef struct pawl__bench_beside {
    const char           *who;
    pawl__bench_fn       *prepare; /* changes what fill made; or NULL */
    pawl__bench_timed_fn *run;
    pawl__bench_fn       *check;
    pawl__bench_figure    rate;  /* of this one */
    pawl__bench_figure    ratio; /* the first one's rate by this one's */
    /* This one's rate by the loop's, of a workload with a loop. */
    pawl__bench_figure limit_ratio;
} pawl__bench_beside;

typedef struct pawl__bench_workload {
    const char           *name;
    pawl__bench_handler   handler;
    pawl__bench_fn       *fill; /* makes the tables and what is to be worked off */
    pawl__bench_timed_fn *run;  /* pawl */
    /* After pawl and after the loop alike: did it do all of the work? */
    pawl__bench_fn           *check;
    const pawl__bench_beside *beside; /* or NULL */
    /* For --grown: fills the tables with as many rows as the option says. NULL: no such option. */
    pawl__bench_fn *grow;
    /* Once, on what the last round left; or NULL. After PAWL_REJECT the rounds count, and
     * the result is printed before the error. */
    pawl_code (*after)(const pawl__bench_job *job, double messages_per_s, pawl_error *error);
    const char *no_limit;        /* why it has no loop on any store; NULL: a store may have one */
    pawl__bench_timed_fn *limit; /* the loop of any store; NULL: each kind has its own */
    /* Once, before all else, and in the end, also after a failure of the former; or NULL. */
    pawl__bench_fn *begin;
    pawl__bench_fn *end;
    int64_t         batch; /* defaults of the options; 0: PAWL__BENCH_BATCH */
    int64_t         rounds;
    int64_t         workers;
    int64_t         rate;
    int64_t         seconds; /* not 0: messages are what the rate makes in this time */
} pawl__bench_workload;

extern const pawl__bench_workload pawl__bench_append;
extern const pawl__bench_workload pawl__bench_broker;
extern const pawl__bench_workload pawl__bench_history;
extern const pawl__bench_workload pawl__bench_hot_saga;
extern const pawl__bench_workload pawl__bench_latency;
extern const pawl__bench_workload pawl__bench_no_op;
extern const pawl__bench_workload pawl__bench_outbox_drain;
extern const pawl__bench_workload pawl__bench_processes;
extern const pawl__bench_workload pawl__bench_retention;
extern const pawl__bench_workload pawl__bench_saga_step;
extern const pawl__bench_workload pawl__bench_steady;
extern const pawl__bench_workload pawl__bench_timeouts;

/* peer.c. When the options name a peer of saga-step: that it is there and can be run here, with the
 * packages it needs, before anything is measured. Else PAWL_EINVAL. */
pawl_code pawl__bench_peer_find(const pawl__bench_options *options, pawl_error *error);
/* For saga-step's `after`: notes peer_per_second and peer_ratio when the options name a
 * peer; PAWL_REJECT, with what it said, when that failed. */
pawl_code pawl__bench_peer_saga_step(const pawl__bench_job *job, double messages_per_s,
                                     pawl_error *error);

/* The row of a peer of no-op. */
typedef struct pawl__bench_peer_result {
    char   name[100]; /* with its version */
    char   configuration[200];
    char   promises[200];
    char   why[300]; /* the reason why it is left out or failed; else empty */
    bool   has_failed;
    double per_second;
    double ratio;          /* pawl's rate by its own */
    double p50_ms, p99_ms; /* from a send to the handler */
} pawl__bench_peer_result;

#define PAWL__BENCH_PEERS_MAX 32

typedef struct pawl__bench_peers {
    size_t                  count;
    pawl__bench_peer_result results[PAWL__BENCH_PEERS_MAX];
} pawl__bench_peers;

/* peers.c, for no-op. The peer that the options name, or all: installed, each that cannot be is left
 * out; then, after pawl's rounds, measured with pawl's latency. PAWL_REJECT when one failed. */
pawl__bench_fn pawl__bench_peers_begin;
pawl_code      pawl__bench_peers_measure(const pawl__bench_job *job, double messages_per_s,
                                         pawl_error *error);

/* ---- Fixtures --------------------------------------------------------------- */

/* The URLs that belong to one run. */
typedef struct pawl__bench_fixture {
    const struct pawl__bench_kind *kind;
    char                           filled[PAWL_URL_SIZE_MAX + 1]; /* as fill left it */
    char                           round[PAWL_URL_SIZE_MAX + 1];  /* its copy, worked off */
    char                           target[PAWL_URL_SIZE_MAX + 1];
} pawl__bench_fixture;

typedef struct pawl__bench_limit {
    const char           *workload; /* NULL ends the list */
    pawl__bench_timed_fn *run;
} pawl__bench_limit;

/* A snapshot of the database, left open: what is deleted meanwhile cannot be cleared away. */
typedef struct pawl__bench_snapshot pawl__bench_snapshot;

/* A kind of store. */
typedef struct pawl__bench_kind {
    size_t kind_size; /* sizeof(pawl__bench_kind) the module was built with */
    /* Names the URLs; PAWL_ECONFIG when something stands there already. */
    pawl_code (*take)(const char *url, pawl__bench_fixture *fixture, pawl_error *error);
    /* Makes fixture->round equal to fixture->filled and fixture->target empty; NULL:
     * `round` has to be filled anew for each round. */
    pawl_code (*copy)(const pawl__bench_fixture *fixture, pawl_error *error);
    /* Removes the tables of one URL; harmless when there are none. NULL: they
     * are gone with their last handle, and one is kept open. */
    pawl_code (*drop)(const char *url, pawl_error *error);
    /* After many rows were put into fixture->filled: what the server would do by itself within
     * minutes. NULL: nothing. */
    pawl_code (*settle)(const pawl__bench_fixture *fixture, pawl_error *error);
    const pawl__bench_limit *limits;   /* or NULL */
    const char              *no_limit; /* why there are none */
    /* For steady. Both NULL: old snapshots are in nobody's way on that kind of store. */
    pawl_code (*hold)(const char *url, pawl__bench_snapshot **leased, pawl_error *error);
    /* PAWL_ELOST when the database ended it early. */
    pawl_code (*release)(pawl__bench_snapshot *leased, pawl_error *error);
} pawl__bench_kind;

/* The symbol that the module libpawl-bench-KIND.so exports, KIND being the scheme of its URLs. */
#define PAWL__BENCH_KIND_SYMBOL "pawl_bench_kind"
PAWL_API extern const pawl__bench_kind pawl_bench_kind;

/* Loads the module of its kind. PAWL_EUNSUPPORTED: there is none on this machine. */
pawl_code pawl__bench_fixture_take(const char *url, pawl__bench_fixture *fixture,
                                   pawl_error *error);
/* "SCHEME:PATH?OPTIONS" becomes "SCHEME:PATH-bench-2?OPTIONS", for each of the three. */
pawl_code pawl__bench_name_urls(const char *url, pawl__bench_fixture *fixture, pawl_error *error);

/* ---- What the workloads share --------------------------------------------- */

int64_t pawl__bench_clock(void); /* microseconds, monotonic */
void    pawl__bench_nap(int64_t microseconds);
/* Until they are given back, SIGINT and SIGTERM are only noted. */
void pawl__bench_signals_take(void);
void pawl__bench_signals_give_back(void);
/* PAWL_EINTERRUPTED after SIGINT or SIGTERM; asked between batches. */
pawl_code pawl__bench_go_on(pawl_error *error);
/* On a terminal only, and not too often: "filling 4000/1000000"; without a
 * total just the words, which are a literal. */
void pawl__bench_progress(const char *what, int64_t done, int64_t total);
void pawl__bench_progress_end(void);

typedef struct pawl__bench_handle {
    pawl_store            *store;
    const pawl_saga_table *table; /* of the order saga; made at open when it is missing */
    pawl_arena            *arena; /* for what is read and written */
    pawl_arena            *kept;  /* holds the table */
} pawl__bench_handle;

/* For schemas whose script nobody reads. */
pawl_line_fn pawl__bench_no_line;
/* For a store whose open makes no tables: the shared ones and the saga's. */
pawl_code pawl__bench_make_tables(const char *url, pawl_error *error);
/* Close follows every open, failed or not. */
pawl_code pawl__bench_open(const char *url, pawl__bench_handle *handle, pawl_error *error);
void      pawl__bench_close(pawl__bench_handle *handle);
/* One commit of one group. */
pawl_code pawl__bench_commit(pawl__bench_handle *handle, pawl_changes *changes, pawl_error *error);
/* As of now, in the handle's arena. */
pawl_code pawl__bench_stats(const pawl__bench_handle *handle, pawl_stats *stats, pawl_error *error);
/* The messages of one queue that are due. */
int64_t pawl__bench_ready(const pawl_stats *stats, const char *queue);

/* How many of `total` there are from `first` on, `most` at the most. */
static inline int64_t pawl__bench_piece(int64_t total, int64_t first, int64_t most)
{
    return total - first < most ? total - first : most;
}

/* The filler of a store: rows of one kind after another, some of them a commit. */
typedef struct pawl__bench_filler {
    const pawl__bench_job *job;
    pawl__bench_handle     handle; /* its arena is empty before each commit */
    pawl_random            random; /* begins with the job's seed */
} pawl__bench_filler;

typedef struct pawl__bench_filling {
    const char *what;      /* a literal, for the progress; NULL ends the list */
    int64_t     total;     /* rows */
    int64_t     of_commit; /* at the most */
    /* Puts the rows from number `first` on into the changes of a commit. */
    pawl_code (*make)(pawl__bench_filler *filler, int64_t first, size_t count,
                      pawl_changes *changes, pawl_error *error);
} pawl__bench_filling;

pawl_code pawl__bench_fill(const pawl__bench_job *job, const pawl__bench_filling *fillings,
                           pawl_error *error);
/* Delivers the first rows of the outbox; of retention.c. */
pawl_code pawl__bench_make_settles(pawl__bench_filler *filler, int64_t first, size_t count,
                                   pawl_changes *changes, pawl_error *error);
/* PAWL_EBUG: "saga-step: 99 inbox marks, should be 100". */
pawl_code pawl__bench_expect(const char *what, int64_t found, int64_t wanted, pawl_error *error);

#endif
