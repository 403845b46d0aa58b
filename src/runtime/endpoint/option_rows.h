/* option_rows.h - the list of an endpoint's numeric options: field of pawl_endpoint_options, default, limits, name and
 * help text. The library checks by it; the options of `pawl run`, its file, its help and --show-options are made from
 * it, and a test compares docs/options.md with them.
 *
 *     X(field, kind, value_default, low, high, name, help)
 *
 * A low of -1 allows "none": PAWL_NONE in C, where 0 means the default, and the word none on the command line and in
 * files. There 0 means none, too, except for a LIMIT. A duration below a millisecond is refused unless its low is 1: in
 * C it is probably a number of seconds without PAWL_SECONDS.
 *
 * Tests: tests/unit/runtime/test_runtime_options.c, tests/system/command_options.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_OPTION_ROWS_H
#define PAWL_RUNTIME_OPTION_ROWS_H

#include "base/delay.h"
#include "pawl/endpoint.h"
#include "runtime/worker/breaker.h"

#include <string.h>

typedef enum pawl__number_kind {
    PAWL__NUMBER_COUNT,
    PAWL__NUMBER_DURATION, /* microseconds */
    PAWL__NUMBER_LIMIT,    /* a count; none is "no limit". 0 is refused, as ambiguous */
} pawl__number_kind;

typedef struct pawl__number_row {
    const char       *field;
    size_t            offset, size; /* an int32_t or an int64_t */
    pawl__number_kind kind;
    int64_t           value_default, low, high; /* in the units of the field */
    const char       *name, *help;
} pawl__number_row;

#define PAWL__NUMBER_ROWS(X)                                                                    \
    X(workers, COUNT, 1, 1, PAWL_WORKERS_MAX, "workers", "threads of each endpoint")            \
    X(batch_messages, COUNT, 256, 1, PAWL_BATCH_MESSAGES_MAX, "batch",                          \
      "most messages in one commit; more than 1365 count as 1365")                              \
    X(batch_time_max, DURATION, PAWL_MILLISECONDS(50), 1, PAWL_MINUTES(10), "batch-time-max",   \
      "run time of handlers after which a batch is committed; the rest waits")                  \
    X(deadline, DURATION, PAWL_SECONDS(30), PAWL_MILLISECONDS(1), PAWL_DAYS(1), "deadline",     \
      "longest wait for one call of the store")                                                 \
    X(timeout_lease, DURATION, PAWL_MINUTES(5), PAWL_MILLISECONDS(1), PAWL_DAYS(365),           \
      "timeout-lease", "how long a worker's claim of a timeout lasts")                          \
    X(handler_time_max, DURATION, PAWL_MINUTES(5), PAWL_MILLISECONDS(1), PAWL_DAYS(1),          \
      "handler-time-max", "how long a handler may run; until then its message stays claimed")   \
    X(immediate_retries, COUNT, 3, -1, 100, "immediate-retries",                                \
      "immediate retries of a failed handler, in memory")                                       \
    X(delayed_retries, COUNT, 5, -1, 1000, "delayed-retries",                                   \
      "delayed retries after the immediate ones; then a dead letter")                           \
    X(retry_delay, DURATION, PAWL_SECONDS(10), PAWL_MILLISECONDS(1), PAWL_DAYS(365),            \
      "retry-delay", "delay before the first delayed retry; doubles, each " PAWL__JITTER_TEXT)  \
    X(retry_delay_max, DURATION, PAWL_HOURS(1), PAWL_MILLISECONDS(1), PAWL_DAYS(365),           \
      "retry-delay-max", "longest delay before a delayed retry")                                \
    X(crashes_max, LIMIT, 3, -1, 1000, "crashes-max",                                           \
      "crashes while a message runs alone, after which it is dead-lettered")                    \
    X(breaker_rate, LIMIT, -1, -1, 100, "breaker-rate",                                         \
      "failures per 100 messages at which the endpoint's circuit breaker opens")                \
    X(breaker_window, COUNT, 100, 1, PAWL__BREAKER_WINDOW_MAX, "breaker-window",                \
      "number of recent messages the failure rate is computed over")                            \
    X(breaker_pause, DURATION, PAWL_SECONDS(10), PAWL_MILLISECONDS(1), PAWL_DAYS(365),          \
      "breaker-pause",                                                                          \
      "wait before the first probe (one message); doubles with each failed probe")              \
    X(breaker_pause_max, DURATION, PAWL_MINUTES(5), PAWL_MILLISECONDS(1), PAWL_DAYS(365),       \
      "breaker-pause-max", "longest wait before a probe")                                       \
    X(breaker_probes, COUNT, 3, 1, 1000, "breaker-probes",                                      \
      "successful probes in a row that close the breaker")                                      \
    X(conflict_retries, COUNT, 20, -1, 10000, "conflict-retries",                               \
      "reloads of a saga after conflicts before its message fails")                             \
    X(not_found_wait, DURATION, PAWL_SECONDS(30), PAWL_MILLISECONDS(1), PAWL_DAYS(365),         \
      "not-found-wait", "how long a message waits for a saga that does not exist yet")          \
    X(version_delay, DURATION, PAWL_SECONDS(10), PAWL_MILLISECONDS(1), PAWL_DAYS(365),          \
      "version-delay",                                                                          \
      "delay of messages whose record version this program does not read, " PAWL__JITTER_TEXT)  \
    X(inbox_retention, DURATION, PAWL_DAYS(7), PAWL_MILLISECONDS(1), PAWL_DAYS(3650),           \
      "inbox-retention", "how long the id of a handled message is remembered")                  \
    X(outbox_retention, DURATION, PAWL_DAYS(30), PAWL_MILLISECONDS(1), PAWL_DAYS(3650),         \
      "outbox-retention", "how long a delivered outbox row is kept")                            \
    X(body_retention, DURATION, PAWL_DAYS(30), -1, PAWL_DAYS(3650), "body-retention",           \
      "how long bodies of dead letters are kept that were edited or discarded")                 \
    X(history, DURATION, 0, -1, PAWL_DAYS(3650), "history",                                     \
      "how long lines of history are kept, one per message")                                    \
    X(outbox_batch, COUNT, 32, 1, PAWL_BATCH_MESSAGES_MAX, "outbox-batch",                      \
      "most outbox rows in one commit")                                                         \
    X(outbox_attempts, COUNT, 10, 1, 1000, "outbox-attempts",                                   \
      "attempts to deliver an outbox row before it is dead")                                    \
    X(outbox_delay, DURATION, PAWL_SECONDS(1), PAWL_MILLISECONDS(1), PAWL_DAYS(365),            \
      "outbox-delay", "delay before the second attempt; doubles, each " PAWL__JITTER_TEXT)      \
    X(outbox_delay_max, DURATION, PAWL_MINUTES(5), PAWL_MILLISECONDS(1), PAWL_DAYS(365),        \
      "outbox-delay-max", "longest delay before an attempt")                                    \
    X(outbox_idle, DURATION, PAWL_SECONDS(30), PAWL_MILLISECONDS(1), PAWL_DAYS(365),            \
      "outbox-idle", "longest time between two checks of an empty outbox")                      \
    X(stop_wait, DURATION, PAWL_SECONDS(30), PAWL_MILLISECONDS(1), PAWL_DAYS(365), "stop-wait", \
      "when stopped, how long to wait for running handlers")

/* The index of each option in the table. */
#define PAWL__NUMBER_INDEX(field, kind, value_default, low, high, name, help) pawl__number_##field,
enum { PAWL__NUMBER_ROWS(PAWL__NUMBER_INDEX) pawl__number_count };

/* Delays that double, each with its longest, FIELD_max. If only one of the two is given, the other's default gives way
 * to it; if both are, the delay may not be the longer one. */
#define PAWL__DOUBLED_DELAYS(X) X(retry_delay) X(outbox_delay) X(breaker_pause)

/* The index of the option that forms such a pair with this one; pawl__number_count if none does. */
static inline size_t pawl__number_partner(size_t index)
{
#define PAWL__PARTNERS(field)                                     \
    case pawl__number_##field: return pawl__number_##field##_max; \
    case pawl__number_##field##_max: return pawl__number_##field;
    switch (index) {
        PAWL__DOUBLED_DELAYS(PAWL__PARTNERS)
    default: return pawl__number_count;
    }
#undef PAWL__PARTNERS
}

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

/* The number's field of the options. */
static inline int64_t pawl__number_get(const pawl_endpoint_options *options,
                                       const pawl__number_row      *row)
{
    const char *field = (const char *)options + row->offset;
    int32_t     narrow;
    int64_t     value;
    memcpy(row->size == sizeof value ? (void *)&value : &narrow, field, row->size);
    return row->size == sizeof value ? value : narrow;
}

static inline void pawl__number_put(pawl_endpoint_options *options, const pawl__number_row *row,
                                    int64_t value)
{
    const int32_t narrow = (int32_t)value;
    memcpy((char *)options + row->offset,
           row->size == sizeof value ? (const void *)&value : &narrow, row->size);
}

/* The default of an option whose partner is given with this value, 0 if it is not. A value outside of the limits is
 * left to the check of the partner. */
static inline int64_t pawl__number_default(const pawl__number_row *row, bool is_max,
                                           int64_t partner)
{
    if (partner == 0 || partner < row->low || partner > row->high)
        return row->value_default;
    return is_max == (partner > row->value_default) ? partner : row->value_default;
}

#endif
