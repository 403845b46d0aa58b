/* health_rows.h - the list of health checks of a store: name, the fields of pawl_health_options with its limits, their
 * kind and defaults, and texts for operators.
 *
 *     X(check, field, kind, degraded_default, unhealthy_default, reason, help)
 *
 * A default of -1: the limit is never reached. The reason is printed with the place (such as a queue; may be empty),
 * the value and the limit, in seconds or as a count.
 *
 * By default only problems of the process itself make it unhealthy: a load balancer removes an unhealthy process, which
 * would not mend a dead letter.
 *
 * Tests: tests/unit/observe/test_health.c, tests/system/command_health.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_HEALTH_ROWS_H
#define PAWL_RUNTIME_HEALTH_ROWS_H

#include "pawl/observe.h"

typedef enum pawl__health_kind {
    PAWL__HEALTH_COUNT,
    PAWL__HEALTH_ROWS, /* a count that ends at PAWL_STATS_COUNT_MAX */
    PAWL__HEALTH_DURATION,
} pawl__health_kind;

#define PAWL__HEALTH_OFF (-1)

#define PAWL__HEALTH_ROWS(X)                                                                    \
    X(outbox_lag, lag, DURATION, PAWL_MINUTES(1), PAWL_MINUTES(5),                              \
      "%.*sthe oldest pending outbox row is %lld s old, the limit is %lld s",                   \
      "age of the oldest pending outbox row")                                                   \
    X(outbox_dead, dead, ROWS, 1, 100, "%.*sdead outbox rows: %lld, the limit is %lld",         \
      "dead outbox rows")                                                                       \
    X(outbox_blocked, blocked, ROWS, 1000, PAWL__HEALTH_OFF,                                    \
      "%.*soutbox rows blocked behind another of their ordering key: %lld, the limit is %lld",  \
      "outbox rows blocked behind another of their ordering key")                               \
    X(queue_age, queue_age, DURATION, PAWL_MINUTES(1), PAWL__HEALTH_OFF,                        \
      "queue %.*s: the oldest is ready for %lld s, the limit is %lld s",                        \
      "how long the oldest message of a queue has been ready")                                  \
    X(queue_no_consumer, no_consumer, DURATION, PAWL_MINUTES(1), PAWL__HEALTH_OFF,              \
      "queue %.*s: ready for %lld s without a consumer, the limit is %lld s",                   \
      "the same of a queue that has no consumer")                                               \
    X(retry_age, retried, DURATION, PAWL_MINUTES(5), PAWL__HEALTH_OFF,                          \
      "queue %.*s: a message in delayed retry was first due %lld s ago, the limit is %lld s",   \
      "how long ago a message that waits for a delayed retry was first due")                    \
    X(timeouts_late, late, DURATION, PAWL_MINUTES(1), PAWL__HEALTH_OFF,                         \
      "%.*sthe earliest timeout is %lld s late, the limit is %lld s",                           \
      "how late the earliest timeout is")                                                       \
    X(partitions_dead, partitions, ROWS, 1, PAWL__HEALTH_OFF,                                   \
      "%.*sdead aggregator partitions: %lld, the limit is %lld", "dead aggregator partitions")  \
    X(dead_letters, dead_letters, ROWS, 1, PAWL__HEALTH_OFF,                                    \
      "%.*sdead letters: %lld, the limit is %lld", "dead letters")                              \
    X(projection_lag, behind, COUNT, 10000, PAWL__HEALTH_OFF,                                   \
      "projection %.*s: %lld events behind, the limit is %lld",                                 \
      "events that a projection has not read yet")                                              \
    X(projection_failing, failing, DURATION, PAWL_SECONDS(10), PAWL__HEALTH_OFF,                \
      "projection %.*s: fails at an event for %lld s, the limit is %lld s",                     \
      "how long a projection has failed at one event")                                          \
    X(clock_offset, clock, DURATION, PAWL_SECONDS(1), PAWL__HEALTH_OFF,                         \
      "%.*sthe server's clock and this machine's differ by %lld s, the limit is %lld s",        \
      "difference of the server's clock and this machine's")                                    \
    X(transaction_age, open, DURATION, PAWL_MINUTES(10), PAWL__HEALTH_OFF,                      \
      "%.*sa transaction of the database is open for %lld s, the limit is %lld s",              \
      "how long a transaction of the database has been open")                                   \
    X(queue_paused, paused, DURATION, PAWL_MINUTES(10), PAWL__HEALTH_OFF,                       \
      "queue %.*s: has messages and is paused for %lld s, the limit is %lld s",                 \
      "how long a queue that has messages has been paused")                                     \
    X(breaker_open, breaker, DURATION, PAWL_SECONDS(1), PAWL__HEALTH_OFF,                       \
      "endpoint %.*s: its breaker has been open for %lld s, the limit is %lld s",               \
      "how long an endpoint's breaker has been open")                                           \
    X(retention_failing, cleaning, DURATION, PAWL_SECONDS(1), PAWL__HEALTH_OFF,                 \
      "endpoint %.*s: its retention sweep has failed for %lld s, the limit is %lld s",          \
      "how long an endpoint's retention sweep has failed")                                      \
    X(route_away, route, DURATION, PAWL_SECONDS(10), PAWL__HEALTH_OFF,                          \
      "endpoint %.*s: a receiver of its outbox is unavailable for %lld s, the limit is %lld s", \
      "how long a receiver of the outbox has been unavailable")                                 \
    X(no_worker, idle, DURATION, PAWL_SECONDS(1), PAWL__HEALTH_OFF,                             \
      "%.*smessages, timeouts or partitions have been due for %lld s and no worker is "         \
      "alive, the limit is %lld s",                                                             \
      "how long something is due while no worker is alive")                                     \
    X(version_wait, version, DURATION, PAWL_SECONDS(10), PAWL__HEALTH_OFF,                      \
      "queue %.*s: a message waits %lld s for a program that reads it, the limit is %lld s",    \
      "how long a message has waited for a program that reads its version")

#define PAWL__HEALTH_ONE(check, field, kind, degraded_default, unhealthy_default, reason, help) +1
enum { PAWL__HEALTH_CHECK_COUNT = 0 PAWL__HEALTH_ROWS(PAWL__HEALTH_ONE) };

typedef struct pawl__health_row {
    const char       *check;
    size_t            degraded, unhealthy; /* offsets in pawl_health_options */
    pawl__health_kind kind;
    int64_t           degraded_default, unhealthy_default;
    const char       *reason;
} pawl__health_row;

#define PAWL__HEALTH_ROW(check, field, kind, degraded_default, unhealthy_default, reason, help) \
    {#check,                                                                                    \
     offsetof(pawl_health_options, field##_degraded),                                           \
     offsetof(pawl_health_options, field##_unhealthy),                                          \
     PAWL__HEALTH_##kind,                                                                       \
     degraded_default,                                                                          \
     unhealthy_default,                                                                         \
     reason},

#endif
