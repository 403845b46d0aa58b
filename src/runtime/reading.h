/* reading.h - how an endpoint's reading from a broker stands, for health and metrics.
 *
 *     away --a step that took, or found nothing--> connected --a step that failed--> away
 *
 * Threads: noted by the thread that reads, described from any, under the endpoint's mutex.
 * Tests: tests/unit/runtime/test_runtime_intake_health.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_READING_H
#define PAWL_RUNTIME_READING_H

#include "pawl/endpoint.h"

#define PAWL__READING_WHY_SIZE 200

typedef struct pawl__reading {
    struct pawl__intake *stepped; /* of step mode; or NULL */
    bool                 is_connected;
    int64_t              since; /* watch time from which it has been, or has not */
    char                 why[PAWL__READING_WHY_SIZE]; /* of its being away */
} pawl__reading;

/* Away from now on, until a step succeeds. */
void pawl__reading_begin(pawl_endpoint *endpoint);
/* The end of a step of the intake. `error` may be NULL. */
void pawl__reading_note(pawl_endpoint *endpoint, pawl_code code, const pawl_error *error);
/* Writes since when and why nothing is read; nothing when it is, or when the endpoint has no transport. */
void pawl__reading_describe(pawl_endpoint *endpoint, char *text, size_t size);

#endif
