/* otlp.h - writes spans and metrics as JSON of the OpenTelemetry protocol, and reads the answers of a collector.
 *
 * Tests: tests/unit/observe/test_otlp.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OTLP_H
#define PAWL_RUNTIME_OTLP_H

#include "pawl/observe.h"
#include "runtime/common/metrics.h"
#include "runtime/operate/observe/span.h"

/* The service that exports. */
typedef struct pawl__otlp_source {
    const char *service_name;
    const char *instance; /* unique per process */
    pawl_time   start;    /* begin of the counts */
} pawl__otlp_source;

/* The body of a POST to /v1/traces. PAWL_ENOMEM is the only failure. */
pawl_code pawl__otlp_traces(const pawl__otlp_source *source, const pawl__span *spans, size_t count,
                            pawl_arena *arena, pawl_text *json);
/* The body of a POST to /v1/metrics. Counters are cumulative. */
pawl_code pawl__otlp_metrics(const pawl__otlp_source *source, const pawl__metrics_view *views,
                             size_t count, pawl_time now, pawl_arena *arena, pawl_text *json);

#define PAWL__REJECTED_MAX (1 << 20) /* more than an export can have; larger numbers are invalid */

/* Rejected items of an accepted export. All zero: none. */
typedef struct pawl__otlp_partial {
    int64_t   rejected; /* spans or data points */
    pawl_text message;  /* for people, in the arena of the call */
} pawl__otlp_partial;

/* otlp_answer.c: reads an answer with a status of success. */
pawl__otlp_partial pawl__otlp_accepted(pawl_observe_signal signal, pawl_text answer,
                                       pawl_arena *arena);
/* The message of a failure answer, in the arena; the whole answer if it does not follow the protocol. */
pawl_text pawl__otlp_refused(pawl_text answer, pawl_arena *arena);

#endif
