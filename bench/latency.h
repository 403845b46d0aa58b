/* latency.h - ways of a message whose length is measured, and a hand-written loop that is given one message
 * after the other.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LATENCY_H
#define PAWL_BENCH_LATENCY_H

#include "application.h"

/* A way for messages to the endpoint, with the figures that note how long it is. */
typedef struct pawl__bench_way {
    pawl_code (*open)(const pawl__bench_job *job, void **side, pawl_error *error);
    /* Returns when the message is kept. */
    pawl_code (*send)(void *side, const pawl__bench_job *job, int64_t number, pawl_error *error);
    void (*close)(void *side); /* follows every open; of one that failed `side` may be NULL */
    pawl__bench_figure handler_p50, commit_p50;
} pawl__bench_way;

extern const pawl__bench_way pawl__bench_store_way; /* a commit into the endpoint's own queue */
/* All messages at the rate of the job, one by one, to an endpoint that runs meanwhile. */
pawl_code pawl__bench_latency_by(const pawl__bench_way *way, const pawl__bench_job *job,
                                 int64_t *microseconds, pawl_error *error);

/* The same on what the rounds of another workload left, at the rate of the options, else
 * PAWL__BENCH_RATE_LATENCY, for their seconds, else for so many. */
pawl_code pawl__bench_latency_after(const pawl__bench_way *way, const pawl__bench_job *job,
                                    int64_t seconds, pawl_error *error);

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
