/* latency.h - a hand-written loop beside latency: how it is given one message after the other.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LATENCY_H
#define PAWL_BENCH_LATENCY_H

#include "application.h"

/* The message as the loop puts it into the queue. */
typedef struct pawl__bench_letter {
    int64_t number;
    int64_t cents;
    char    order_id[PAWL__BENCH_ORDER_ID_SIZE + 1];
    char    at[PAWL_TIME_TEXT_SIZE + 1];
} pawl__bench_letter;

/* Sends the message, handles it and returns when that is committed. `*handled`, of
 * pawl__bench_clock: a handler would begin, the message and its saga are there. */
typedef pawl_code pawl__bench_letter_fn(void *side, const pawl__bench_letter *letter,
                                        int64_t *handled, pawl_error *error);
/* All messages at the rate of the job, and notes how long they took. */
pawl_code pawl__bench_letters(const pawl__bench_job *job, pawl__bench_letter_fn *handle, void *side,
                              int64_t *microseconds, pawl_error *error);

#endif
