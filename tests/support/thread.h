/* thread.h - an endpoint in a thread of its own, and waiting for what it does.
 *
 *     runner_create -> runner_start -> runner_stop | runner_join -> runner_destroy
 *     runner_open -> runner_close       the same with fewer words
 *
 * A test waits for a state, with a bound far beyond what it takes, and fails when
 * the state does not come:
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

/* A worker without wake-ups would sleep for 30 s: who waits for one fails before. */
#define THREAD_SECONDS 25

typedef struct runner {
    pawl_endpoint *endpoint;
    pthread_t      thread;
    pawl_code      code; /* of pawl_endpoint_run, once it has ended */
    pawl_error     error;
} runner;

/* Name NULL: the application's only endpoint. Of the options, what zero means is the
 * library's; size and store are set here. */
void runner_create(runner *it, const pawl_application *application, const char *name,
                   const char *url, pawl_endpoint_options options);
void runner_start(runner *it);
/* Waits until the run ends by itself; `code` and `error` say how. */
void runner_join(runner *it);
/* Stops the run, which ends well. */
void runner_stop(runner *it);
void runner_destroy(runner *it);

void runner_open(runner *it, const pawl_application *application, const char *name, const char *url,
                 pawl_endpoint_options options);
void runner_close(runner *it);
/* A runner that is open until its test ends. */
runner *runner_begin(const pawl_application *application, const char *name, const char *url,
                     pawl_endpoint_options options);

/* Of the time between two checks a quarter of a second counts at most: on a machine that
 * stands still nothing can be expected to come. */
typedef struct patience {
    int64_t left_ms;
    int64_t looked_ms; /* monotonic: the last time */
} patience;

patience patience_of(int seconds);
/* Waits a moment; fails with the text when the time is over. */
void patience_wait(patience *left, const char *format, ...) PAWL_PRINTF(2, 3);

/* Until the number is the wanted one, or more. */
void wait_for_count(atomic_int *count, int wanted);

#endif
