/* peer.h - another program that does the work of a workload, for comparison.
 *
 *     pawl__bench_peer_locate -> pawl__bench_peer_install -> pawl__bench_peer_run
 *
 * Tests: tests/system/bench_peer.sh bench_no_op.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_PEER_H
#define PAWL_BENCH_PEER_H

#include "job.h"

#define PAWL__BENCH_PEER_PATH_SIZE 1000
#define PAWL__BENCH_PEER_NUMBERS_MAX 4

typedef struct pawl__bench_peer {
    const char *name;
    const char *file; /* of its program: "no_op.mjs" */
    char        folder[PAWL__BENCH_PEER_PATH_SIZE];
    char        program[PAWL__BENCH_PEER_PATH_SIZE];
    char        output[8000]; /* all lines that were printed */
} pawl__bench_peer;

/* The folder that has a folder for each peer. */
const char *pawl__bench_peers_folder(void);
/* PAWL_EINVAL: it has no such program. */
pawl_code pawl__bench_peer_locate(pawl__bench_peer *peer, pawl_error *error);
/* Its packages, unless they are there. PAWL_EINVAL: npm is missing or failed. */
pawl_code pawl__bench_peer_install(const pawl__bench_peer *peer, pawl_error *error);
/* Runs it to its end, with the URL of a database in its environment, or NULL, and the numbers as its
 * arguments. PAWL_REJECT: node is missing. */
pawl_code pawl__bench_peer_run(pawl__bench_peer *peer, const char *url, const int64_t *numbers,
                               size_t count, int *exit_code, pawl_error *error);

#endif
