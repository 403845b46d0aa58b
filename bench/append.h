/* append.h - units and streams of append, alike on both sides.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_APPEND_H
#define PAWL_BENCH_APPEND_H

#include "application.h"

#define PAWL__BENCH_EVENTS_OF_UNIT 2
#define PAWL__BENCH_UNITS_OF_STREAM 4 /* the last stream may have fewer */

/* "Order/" and the id of an order, without NUL. */
#define PAWL__BENCH_STREAM_SIZE (sizeof PAWL__BENCH_SAGA + PAWL__BENCH_ORDER_ID_SIZE)
#define PAWL__BENCH_ORDER_AT (sizeof PAWL__BENCH_SAGA) /* the id in it */
void pawl__bench_stream(uint64_t seed, int64_t number, char text[PAWL__BENCH_STREAM_SIZE + 1]);

/* One unit: two events and a dispatch. */
typedef struct pawl__bench_unit {
    int64_t stream;   /* its number */
    int64_t version;  /* of the stream before the unit */
    bool    is_first; /* of its batch on that stream */
} pawl__bench_unit;

/* One side of the comparison: appends the units of a batch in one commit. */
typedef pawl_code pawl__bench_append_fn(void *side, const pawl__bench_unit *units, int64_t count,
                                        pawl_error *error);
/* All units, batch behind batch; only the batches are in `*microseconds`. Streams come in
 * random order; within a batch the units of a stream stand together. */
pawl_code pawl__bench_append_all(const pawl__bench_job *job, pawl__bench_append_fn *append,
                                 void *side, int64_t *microseconds, pawl_error *error);

#endif
