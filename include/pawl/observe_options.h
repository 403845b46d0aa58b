/* observe_options.h - the ports and exports of an endpoint, and the limits of its health.
 *
 *     pawl_observe_options in pawl_endpoint_options -> /livez /readyz /metrics on a
 *                                                      port, OTLP/HTTP to a collector
 *
 * Ports and collectors need the module libpawl-observe.so, which is loaded when the options name
 * one. observe.h has the same health for your own code.
 *
 * Threads: plain data.
 * Tests: tests/unit/observe
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_OBSERVE_OPTIONS_H
#define PAWL_OBSERVE_OPTIONS_H

#include "pawl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At or above a limit a check is no longer healthy. Zero means the default in
 * brackets, PAWL_NONE that the limit is never reached. Durations are microseconds. */
typedef struct pawl_health_options {
    int64_t lag_degraded;      /* age of the oldest pending outbox row [1 min] */
    int64_t lag_unhealthy;     /* [5 min] */
    int64_t dead_degraded;     /* dead outbox rows [1] */
    int64_t dead_unhealthy;    /* [100] */
    int64_t blocked_degraded;  /* outbox rows blocked behind another of their ordering key [1000] */
    int64_t blocked_unhealthy; /* [PAWL_NONE] */
    int64_t queue_age_degraded;     /* how long a message of a queue has been ready [1 min] */
    int64_t queue_age_unhealthy;    /* [PAWL_NONE] */
    int64_t no_consumer_degraded;   /* the same of a queue without a consumer [1 min] */
    int64_t no_consumer_unhealthy;  /* [PAWL_NONE] */
    int64_t retried_degraded;       /* since a message in delayed retry was first due [5 min] */
    int64_t retried_unhealthy;      /* [PAWL_NONE] */
    int64_t late_degraded;          /* how late the earliest timeout is [1 min] */
    int64_t late_unhealthy;         /* [PAWL_NONE] */
    int64_t partitions_degraded;    /* dead aggregator partitions [1] */
    int64_t partitions_unhealthy;   /* [PAWL_NONE] */
    int64_t dead_letters_degraded;  /* dead letters [1] */
    int64_t dead_letters_unhealthy; /* [PAWL_NONE] */
    int64_t behind_degraded;        /* events that a projection has not read yet [10,000] */
    int64_t behind_unhealthy;       /* [PAWL_NONE] */
    int64_t failing_degraded;       /* how long a projection has failed at one event [10 s] */
    int64_t failing_unhealthy;      /* [PAWL_NONE] */
    int64_t clock_degraded;         /* difference of the server's clock and this machine's [1 s] */
    int64_t clock_unhealthy;        /* [PAWL_NONE] */
    int64_t open_degraded;          /* how long a transaction of the database is open [10 min] */
    int64_t open_unhealthy;         /* [PAWL_NONE] */
    int64_t paused_degraded;        /* how long a queue with messages is paused [10 min] */
    int64_t paused_unhealthy;       /* [PAWL_NONE] */
    int64_t breaker_degraded;       /* how long an endpoint's breaker has been open [1 s] */
    int64_t breaker_unhealthy;      /* [PAWL_NONE] */
    int64_t cleaning_degraded;      /* how long an endpoint's retention sweep has failed [1 s] */
    int64_t cleaning_unhealthy;     /* [PAWL_NONE] */
    int64_t route_degraded;    /* how long a receiver of the outbox has been unavailable [10 s] */
    int64_t route_unhealthy;   /* [PAWL_NONE] */
    int64_t idle_degraded;     /* how long something is due while no worker is alive [1 s] */
    int64_t idle_unhealthy;    /* [PAWL_NONE] */
    int64_t version_degraded;  /* how long a message waits for a program that reads it [10 s] */
    int64_t version_unhealthy; /* [PAWL_NONE] */
} pawl_health_options;

#define PAWL_OBSERVE_PORT_ANY (-1) /* a free port; pawl_endpoint_observe_port says which */

/* Zero means the default in brackets. Durations are microseconds. Endpoints of a process
 * with equal options and the same store share one server and one exporter; with different options or stores
 * each needs a port of its own (O23).
 *
 * Errors of pawl_endpoint_create from these options:
 *
 * PAWL_ECONFIG       a value over its limit, an address that is not numeric, a port that
 *                    is taken, a URL of a collector with a query or without a host.
 * PAWL_EUNREACHABLE  the module libpawl-observe.so is not there.
 * PAWL_ELIMIT        more endpoints than can share a port. */
typedef struct pawl_observe_options {
    size_t              options_size; /* sizeof(pawl_observe_options) */
    int                 port;         /* 0: nothing listens [0] */
    const char         *address;      /* numeric; only hosts that reach it can connect
                                         ["127.0.0.1"] */
    const char         *otlp;         /* "http://HOST:4318" of a collector; NULL: nothing is sent */
    int64_t             otlp_period;  /* between two exports [10 s] */
    int32_t             span_count;   /* most waiting spans; the oldest are dropped [2048] */
    const char         *service_name; /* in OTLP ["pawl"] */
    pawl_health_options health;
} pawl_observe_options;

#define PAWL_OBSERVE_OPTIONS_INIT \
    PAWL__BRACES(PAWL__SET(options_size, sizeof(pawl_observe_options)))

#ifdef __cplusplus
}
#endif
#endif
