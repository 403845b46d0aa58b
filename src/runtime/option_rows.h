/* option_rows.h - the numbers among an endpoint's options, each once: the field of
 * pawl_endpoint_options, its default and its limits, and its name and its words for operators.
 * The library checks by this table; the options of `pawl run`, its file, its help and what
 * --show-options prints are made from it, and docs/options.md is compared with that.
 *
 *     X(field, kind, value_default, low, high, name, help)
 *
 * A low of -1: "none" can be said, by -1 in C, where 0 means the default, and by 0 elsewhere.
 *
 * Tests: tests/unit/test_runtime_options.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OPTION_ROWS_H
#define PAWL_RUNTIME_OPTION_ROWS_H

#include "pawl/endpoint.h"

typedef enum pawl__number_kind {
    PAWL__NUMBER_COUNT,
    PAWL__NUMBER_DURATION,     /* microseconds */
    PAWL__NUMBER_MILLISECONDS, /* a duration that the field holds in milliseconds */
} pawl__number_kind;

typedef struct pawl__number_row {
    const char       *field;
    size_t            offset, size; /* an int32_t or an int64_t */
    pawl__number_kind kind;
    int64_t           value_default, low, high; /* as the field holds them */
    const char       *name, *help;
} pawl__number_row;

#define PAWL__NUMBER_ROWS(X)                                                                  \
    X(workers, COUNT, 1, 1, PAWL_WORKERS_MAX, "workers", "threads of each endpoint")          \
    X(batch_messages, COUNT, 256, 1, PAWL_BATCH_MESSAGES_MAX, "batch",                        \
      "most messages in one commit")                                                          \
    X(batch_time_max, DURATION, PAWL_MILLISECONDS(50), 1, PAWL_MINUTES(10), "batch-time-max", \
      "of handlers in one commit; what is left is for the next one")                          \
    X(deadline_ms, MILLISECONDS, 30000, 1, 86400000, "deadline",                              \
      "longest wait for one call of the store")                                               \
    X(timeout_lease, DURATION, PAWL_MINUTES(5), 1, PAWL_DAYS(365), "timeout-lease",           \
      "for how long a worker keeps a timeout that it claimed")                                \
    X(immediate_retries, COUNT, 3, -1, 100, "immediate-retries",                              \
      "of a handler that fails, in memory, at once")                                          \
    X(delayed_retries, COUNT, 5, -1, 1000, "delayed-retries",                                 \
      "after those, before the message is a dead letter")                                     \
    X(retry_delay, DURATION, PAWL_SECONDS(10), 1, PAWL_DAYS(365), "retry-delay",              \
      "before the first delayed retry; doubles with each, give or take a fifth")              \
    X(retry_delay_max, DURATION, PAWL_HOURS(1), 1, PAWL_DAYS(365), "retry-delay-max",         \
      "where it stops to double")                                                             \
    X(conflict_retries, COUNT, 20, -1, 10000, "conflict-retries",                             \
      "of a message whose saga another worker changed, before that is a failure")             \
    X(not_found_wait, DURATION, PAWL_SECONDS(30), 1, PAWL_DAYS(365), "not-found-wait",        \
      "for a message whose saga is not there yet")                                            \
    X(inbox_retention, DURATION, PAWL_DAYS(7), 1, PAWL_DAYS(3650), "inbox-retention",         \
      "for how long a message id is known")                                                   \
    X(outbox_retention, DURATION, PAWL_DAYS(30), 1, PAWL_DAYS(3650), "outbox-retention",      \
      "for how long a delivered outbox row is kept")                                          \
    X(outbox_batch, COUNT, 32, 1, PAWL_BATCH_MESSAGES_MAX, "outbox-batch",                    \
      "most outbox rows in one commit")                                                       \
    X(outbox_attempts, COUNT, 10, 1, 1000, "outbox-attempts",                                 \
      "to deliver an outbox row, before it is dead")                                          \
    X(outbox_delay, DURATION, PAWL_SECONDS(1), 1, PAWL_DAYS(365), "outbox-delay",             \
      "before the second attempt; doubles with each, give or take a fifth")                   \
    X(outbox_delay_max, DURATION, PAWL_MINUTES(5), 1, PAWL_DAYS(365), "outbox-delay-max",     \
      "where it stops to double")                                                             \
    X(outbox_idle, DURATION, PAWL_SECONDS(30), 1, PAWL_DAYS(365), "outbox-idle",              \
      "most between two looks at an empty outbox")                                            \
    X(stop_wait, DURATION, PAWL_SECONDS(30), 1, PAWL_DAYS(365), "stop-wait",                  \
      "when stopped, for handlers that run")

#define PAWL__NUMBER_ROW(field, kind, value_default, low, high, name, help) \
    {#field,                                                                \
     offsetof(pawl_endpoint_options, field),                                \
     sizeof(((pawl_endpoint_options *)0)->field),                           \
     PAWL__NUMBER_##kind,                                                   \
     value_default,                                                         \
     low,                                                                   \
     high,                                                                  \
     name,                                                                  \
     help},

#endif
