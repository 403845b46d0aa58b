/* post_office.h - messages of saga-step in the queues of a broker, through pawl's own drivers.
 *
 *     begin -> { declare | send* | count | remove }* -> end
 *
 * Threads: one.
 * Tests: tests/system/bench_broker.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_POST_OFFICE_H
#define PAWL_BENCH_POST_OFFICE_H

#include "pawl/transport.h"
#include "saga_step.h"

/* A sender of messages, on one connection. */
typedef struct pawl__bench_post_office {
    pawl_transport *outbound;
    pawl_arena     *arena; /* of one call */
    pawl_random     random;
    const char     *queue; /* borrowed until end */
} pawl__bench_post_office;

/* End follows every begin, failed or not. */
pawl_code pawl__bench_post_office_begin(pawl__bench_post_office *office, const char *url,
                                        const char *queue, pawl_error *error);
void      pawl__bench_post_office_end(pawl__bench_post_office *office);

/* Steps number `first` and on, of these orders; returns when all are confirmed. */
pawl_code pawl__bench_post_office_send(pawl__bench_post_office *office, const pawl__bench_job *job,
                                       const int64_t *orders, int64_t first, size_t count,
                                       pawl_error *error);

/* Makes the queue, as an endpoint that reads it does. */
pawl_code pawl__bench_queue_make(const char *url, const char *queue, pawl_error *error);
/* Takes all messages of the queue, until as many of different ids are there as `wanted` or none has come for a
 * while; `*found` counts the ids. */
pawl_code pawl__bench_queue_count(const char *url, const char *queue, int64_t wanted,
                                  int64_t *found, pawl_error *error);
pawl_code pawl__bench_queue_remove(const char *url, const char *queue, pawl_error *error);

#endif
