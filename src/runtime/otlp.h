/* otlp.h - spans and metrics as the OpenTelemetry protocol writes them in JSON.
 *
 * Tests: tests/unit/test_otlp.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OTLP_H
#define PAWL_RUNTIME_OTLP_H

#include "runtime/metrics.h"
#include "runtime/span.h"

/* Who speaks. */
typedef struct pawl__otlp_source {
    const char *service_name;
    const char *instance; /* another one for each process */
    pawl_time   start;    /* since when counters count */
} pawl__otlp_source;

/* The body of a POST to /v1/traces. PAWL_ENOMEM is the only failure. */
pawl_code pawl__otlp_traces(const pawl__otlp_source *source, const pawl__span *spans, size_t count,
                            pawl_arena *arena, pawl_text *json);
/* The same to /v1/metrics. Counters are cumulative. */
pawl_code pawl__otlp_metrics(const pawl__otlp_source *source, const pawl__metrics_view *views,
                             size_t count, pawl_time now, pawl_arena *arena, pawl_text *json);

#endif
