/* timed.h - a driver that is another driver and notes, on a tape, how long each
 * queue_claim took, how many rows it found, how late each timeout was when
 * the commit that ends it was done, and when each message that its handler told
 * of was handled and committed. So claims are measured where an endpoint
 * makes them, on each of its threads.
 *
 * Threads: the tape is written by those of the endpoint, read when it stopped;
 *     claimed() and fired() at any time.
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_TIMED_H
#define PAWL_BENCH_TIMED_H

#include "job.h"

typedef struct pawl__bench_claim {
    int64_t at; /* of pawl__bench_clock, when it began */
    int64_t duration;
    int64_t rows;
} pawl__bench_claim;

/* A message that a handler told of. */
typedef struct pawl__bench_moment {
    int64_t number;
    int64_t handled; /* of pawl__bench_clock */
    int64_t committed;
} pawl__bench_moment;

typedef struct pawl__bench_tape {
    const pawl__bench_claim  *claims; /* in the order they ended */
    size_t                    claim_count;
    double                   *lateness; /* microseconds, negative never */
    size_t                    lateness_count;
    const pawl__bench_moment *moments;
    size_t                    moment_count;
} pawl__bench_tape;

/* A new tape; `*timed` is the URL that writes on it, and lives as long as the
 * program. `url` must outlive its handles. One at a time. */
pawl_code pawl__bench_tape_begin(const char *url, const char **timed, pawl_error *error);
int64_t   pawl__bench_tape_claimed(void); /* messages, so far */
int64_t   pawl__bench_tape_fired(void);   /* timeouts, so far */
int64_t   pawl__bench_tape_sent(void);    /* outbox rows that were dispatched, so far */
/* A job's on_step: the moment is on the tape when the commit that has the step is done. */
void    pawl__bench_tape_handled(int64_t number);
int64_t pawl__bench_tape_committed(void); /* of these, so far */
/* Lives until the next begin, or end. */
pawl__bench_tape pawl__bench_tape_read(void);
void             pawl__bench_tape_end(void);

#endif
