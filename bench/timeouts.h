/* timeouts.h - types and functions of both parts of timeouts.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_TIMEOUTS_H
#define PAWL_BENCH_TIMEOUTS_H

#include "application.h"

/* The timeout of a saga; the texts are borrowed. */
pawl_timeout_set pawl__bench_timeout_of(pawl_saga_id saga_id, pawl_text order_id,
                                        pawl_random *random, pawl_time due);

/* As many sagas as --grown says, without timeouts. */
pawl__bench_fn pawl__bench_sagas_grow;

/* On what a round left: sets the timeouts of `due` sagas again, spread over some
 * seconds, and notes how late they fire. Nothing when no number was asked for. */
pawl_code pawl__bench_lateness(const pawl__bench_job *job, double messages_per_s,
                               pawl_error *error);

#endif
