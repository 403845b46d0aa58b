/* background.h - an endpoint that runs on threads of its own while the benchmark
 * sends, watches and waits.
 *
 *     start -> { look | wait_empty }* -> stop       stop follows every start
 *
 * Threads: one watches.
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_BACKGROUND_H
#define PAWL_BENCH_BACKGROUND_H

#include "job.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct pawl__bench_background {
    pawl_endpoint *endpoint;
    pthread_t      thread;
    bool           is_started;
    atomic_bool    has_ended; /* before it was told to: `code` and `error` say why */
    pawl_code      code;
    pawl_error     error;
} pawl__bench_background;

/* Takes the endpoint, which stop destroys. */
pawl_code pawl__bench_background_start(pawl__bench_background *background, pawl_endpoint *endpoint,
                                       pawl_error *error);
/* The endpoint still runs and nobody wants to end the benchmark. */
pawl_code pawl__bench_background_look(pawl__bench_background *background, pawl_error *error);
/* Stops the endpoint, after messages in hand are finished. Returns the failure that made it end
 * early, else `code`. */
pawl_code pawl__bench_background_stop(pawl__bench_background *background, pawl_code code,
                                      pawl_error *error);

#define PAWL__BENCH_PATIENCE PAWL_SECONDS(30)
/* Waits until what `left` counts is none; PAWL_EBUG when it was the same number
 * for as long as the patience lasts. */
typedef pawl_code pawl__bench_left_fn(void *context, int64_t *left, pawl_error *error);
pawl_code         pawl__bench_wait(pawl__bench_background *background, const char *what,
                                   pawl__bench_left_fn *left, void *context, int64_t patience,
                                   pawl_error *error);

#endif
