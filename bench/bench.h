/* bench.h - what `pawl bench` asks the benchmarks to do.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_H
#define PAWL_BENCH_H

#include "pawl/base.h"

#include <stdio.h>

/* Defaults of workloads, which the help of the command shows from here. */
#define PAWL__BENCH_BATCH 256
#define PAWL__BENCH_BATCH_BROKER 1024
#define PAWL__BENCH_ROUNDS 5
#define PAWL__BENCH_ROUNDS_LATENCY 3
#define PAWL__BENCH_ROUNDS_STEADY 1
#define PAWL__BENCH_WORKERS 1
#define PAWL__BENCH_WORKERS_HOT_SAGA 4
#define PAWL__BENCH_RATE_LATENCY 200 /* of broker and no-op, too */
#define PAWL__BENCH_RATE_STEADY 1000
#define PAWL__BENCH_SECONDS_BROKER 5
#define PAWL__BENCH_SECONDS_LATENCY 10
#define PAWL__BENCH_SECONDS_PEERS 5
#define PAWL__BENCH_SECONDS_STEADY 180

typedef struct pawl__bench_options {
    const char *workload; /* "saga-step", "outbox-drain" ... */
    const char *store;    /* URL */
    int64_t     messages; /* of one round */
    /* Messages of one commit. 0, here and below: the workload's default. */
    int64_t batch;
    /* Of pawl and of the limit each, in turn; the medians count. */
    int64_t     rounds;
    int64_t     workers;      /* threads of the endpoint, where it runs by itself */
    int64_t     senders;      /* hot-saga: threads that send ... */
    int64_t     sender_batch; /* ... so many messages in one commit */
    int64_t     processes;    /* processes: that many */
    int64_t     rate;         /* of messages or timeouts, a second */
    int64_t     seconds;      /* how long they come at that rate */
    int64_t     snapshot;     /* steady: seconds a snapshot is open; 0: throughout */
    int64_t     marks;        /* retention: old ones of the inbox; a tenth as many outbox rows */
    int64_t     pending;      /* timeouts: far in the future, beside those that are due */
    int64_t     due;       /* timeouts: so many come due one by one, for their lateness; 0: none */
    int64_t     grown;     /* rows of the tables before the rounds, beside an empty store; 0: no */
    bool        is_apart;  /* latency: the sender is a process of its own */
    const char *peer;      /* saga-step, no-op: measure this program, too; or NULL */
    bool        has_peers; /* no-op: all of them */
    const char *transport; /* broker: URL of one */
    bool        is_json;   /* one object with the keys messages_per_s, limit_per_s, ratio ... */
} pawl__bench_options;

/* The operations that the module libpawl-bench.so exports, for the command alone. */
typedef struct pawl__bench_ops {
    size_t ops_size;     /* sizeof(pawl__bench_ops) the module was built with ... */
    size_t options_size; /* ... and sizeof(pawl__bench_options); both are the command's */

    /* Makes its own tables, measures, writes the result to `out`, drops the tables.
     * The exit code of the command: 0; 1 when the result is not to be trusted (the
     * limit was slower than what it limits) or lacks the peer that failed; else
     * pawl_code_exit of what failed. On any but 0 `error` says why; it names the store
     * only where that matters. */
    int (*run)(const pawl__bench_options *options, FILE *out, pawl_error *error);
} pawl__bench_ops;

#define PAWL__BENCH_MODULE_SYMBOL "pawl_bench_module"
PAWL_API extern const pawl__bench_ops pawl_bench_module;

#endif
