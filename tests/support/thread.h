/* thread.h - runs an endpoint in its own thread, and waits for its effects.
 *
 *     runner_create -> runner_start -> runner_stop | runner_join -> runner_destroy
 *     runner_open -> runner_close       the same, shorter
 *
 * A test waits for a state, with a generous limit, and fails if the state is not reached:
 *
 *     patience left = patience_of(THREAD_SECONDS);
 *     while (!is_reached())
 *         patience_wait(&left, "%d is not reached", wanted);
 *
 * Threads: a runner belongs to the thread that made it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_THREAD_H
#define PAWL_TESTS_THREAD_H

#include "support/world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Less than the 30 s after which a worker polls: so a missing wake-up fails the test. */
#define THREAD_SECONDS 25

typedef struct runner {
    pawl_endpoint *endpoint;
    pthread_t      thread;
    pawl_code      code; /* result of pawl_endpoint_run, after its end */
    pawl_error     error;
} runner;

/* Name NULL: the application's only endpoint. Zero options mean the library's defaults; size and store are set here. */
void runner_create(runner *it, const pawl_application *application, const char *name,
                   const char *url, pawl_endpoint_options options);
void runner_start(runner *it);
/* Waits until the run ends by itself; `code` and `error` have its result. */
void runner_join(runner *it);
/* Stops the run, which must succeed. */
void runner_stop(runner *it);
void runner_destroy(runner *it);

void runner_open(runner *it, const pawl_application *application, const char *name, const char *url,
                 pawl_endpoint_options options);
void runner_close(runner *it);
/* Opens a runner that is closed when the test ends. */
runner *runner_begin(const pawl_application *application, const char *name, const char *url,
                     pawl_endpoint_options options);

/* Between two checks at most a quarter of a second counts, so that a machine that stalls does not fail a test. */
typedef struct patience {
    int64_t left_ms;
    int64_t looked_ms; /* monotonic: the last check */
} patience;

patience patience_of(int seconds);
/* Waits a moment; fails with the text when the limit is reached. */
void patience_wait(patience *left, const char *format, ...) PAWL_PRINTF(2, 3);

/* Waits until the number is at least `wanted`. */
void wait_for_count(atomic_int *count, int wanted);

#endif
