/* snapshot.h - a transaction that looks at the database as it is now, and is
 * left open: what is deleted meanwhile cannot be cleared away.
 *
 * Tests: tests/system/bench.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_SNAPSHOT_H
#define PAWL_BENCH_SNAPSHOT_H

#include "pawl/base.h"

typedef struct pawl__bench_snapshot pawl__bench_snapshot;

/* NULL on a store of a kind that has none. */
pawl_code pawl__bench_snapshot_open(const char *url, pawl__bench_snapshot **snapshot,
                                    pawl_error *error);
/* PAWL_ELOST when the database ended it early. Accepts NULL. */
pawl_code pawl__bench_snapshot_close(pawl__bench_snapshot *snapshot, pawl_error *error);

#endif
