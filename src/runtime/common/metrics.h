/* metrics.h - the table of metrics, and counters for them.
 *
 * A row of the table is a metric: its names, type, unit, label and help. A metric
 * has a slot for each value of its label; a histogram one for each bucket and one
 * for the sum. Everything that shows metrics goes through the table, so a new metric is a
 * new row and the line of code that counts.
 *
 * A count belongs to an endpoint, to the dispatcher that delivers for one, to a queue or to the store
 * (they come from pawl_health_figures), or to the observer that shows them.
 *
 * Threads: any; a count is an atomic, readers take what they find.
 * Tests: tests/unit/observe/test_runtime_metrics.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_METRICS_H
#define PAWL_RUNTIME_METRICS_H

#include "runtime/common/health_rows.h"

#include <stdatomic.h>

typedef enum pawl__metric_type {
    PAWL__COUNTER,   /* only grows */
    PAWL__GAUGE,     /* set to the last value */
    PAWL__HISTOGRAM, /* of durations */
} pawl__metric_type;

typedef enum pawl__metric_scope {
    PAWL__OF_ENDPOINT,   /* shown with the label "endpoint" */
    PAWL__OF_RUNNER,     /* of an endpoint with routes; label "endpoint", too */
    PAWL__OF_QUEUE,      /* label "queue" */
    PAWL__OF_PROJECTION, /* label "projection" */
    PAWL__OF_STORE,
    PAWL__OF_OBSERVER,
} pawl__metric_scope;

#define PAWL__SCOPE(name) (1u << PAWL__OF_##name)

#define PAWL__BUCKET_COUNT 15 /* the last bucket has no bound */
/* Inclusive upper bounds in microseconds: a local store takes about a millisecond,
 * a call may take its deadline of 30 seconds. */
extern const int64_t pawl__bucket_bounds[PAWL__BUCKET_COUNT - 1];

/* id, scope, type, slots, Prometheus's name, OpenTelemetry's name and unit, label, help.
 * The two names are one: dots become underscores, a unit of seconds and the total
 * of a counter are spelt out. A unit of "s" is kept in microseconds. */
#define PAWL__METRICS(X)                                                                           \
    X(ATTEMPTS, ENDPOINT, COUNTER, 4, "pawl_outbox_attempts_total", "pawl.outbox.attempts",        \
      "{attempt}", pawl__outcome_names, "Attempts to deliver an outbox row, by outcome.")          \
    X(DISPATCH_DURATION, ENDPOINT, HISTOGRAM, PAWL__BUCKET_COUNT + 1,                              \
      "pawl_outbox_dispatch_duration_seconds", "pawl.outbox.dispatch.duration", "s", NULL,         \
      "How long an attempt to deliver an outbox row took.")                                        \
    X(RETENTION_DELETED, ENDPOINT, COUNTER, 1, "pawl_outbox_retention_deleted_total",              \
      "pawl.outbox.retention.deleted", "{row}", NULL,                                              \
      "Dispatched outbox rows deleted because they were old.")                                     \
    X(NOT_FOUND, ENDPOINT, COUNTER, 1, "pawl_sagas_not_found_total", "pawl.sagas.not_found",       \
      "{saga}", NULL, "Sagas missed for good by a message that begins none.")                      \
    X(EXPIRED, ENDPOINT, COUNTER, 1, "pawl_messages_expired_total", "pawl.messages.expired",       \
      "{message}", NULL, "Messages that were dropped: their time to be processed was over.")       \
    X(UNREAD, ENDPOINT, COUNTER, 1, "pawl_version_deferred_total", "pawl.version.deferred",        \
      "{unit}", NULL,                                                                              \
      "Messages, timeouts and flushes deferred: of a version that this program does not read.")    \
    X(BREAKER_STATE, ENDPOINT, GAUGE, 1, "pawl_breaker_state", "pawl.breaker.state", "{state}",    \
      NULL, "0 while the endpoint's breaker is closed or there is none, 1 half open, 2 open.")     \
    X(BREAKER_OPENED, ENDPOINT, COUNTER, 1, "pawl_breaker_opened_total", "pawl.breaker.opened",    \
      "{opening}", NULL, "How often the endpoint's breaker opened; each failed probe is one.")     \
    X(INTAKE_CONNECTED, ENDPOINT, GAUGE, 1, "pawl_inbound_connected", "pawl.inbound.connected",    \
      "{state}", NULL,                                                                             \
      "1 while the endpoint reads from its broker; 0 when it is unavailable, or there is none.")   \
    X(INTAKE_RECEIVED, ENDPOINT, COUNTER, 1, "pawl_inbound_received_total",                        \
      "pawl.inbound.received", "{message}", NULL,                                                  \
      "Messages that were taken from a broker, copies included.")                                  \
    X(INTAKE_UNSETTLED, ENDPOINT, GAUGE, 1, "pawl_inbound_unacknowledged",                         \
      "pawl.inbound.unacknowledged", "{message}", NULL,                                            \
      "Messages that were taken from a broker on this connection and not acknowledged.")           \
    X(INTAKE_WITHOUT_ID, ENDPOINT, COUNTER, 1, "pawl_inbound_without_id_total",                    \
      "pawl.inbound.without_id", "{message}", NULL,                                                \
      "Messages of a broker that were handled under an id made for them.")                         \
    X(STEP_DURATION, ENDPOINT, HISTOGRAM, PAWL__BUCKET_COUNT + 1, "pawl_step_duration_seconds",    \
      "pawl.step.duration", "s", NULL,                                                             \
      "How long a step of a worker took that had work: claim, handlers, commit.")                  \
    X(LEADER, RUNNER, GAUGE, 1, "pawl_leader", "pawl.leader", "{state}", NULL,                     \
      "1 when this process delivers the outbox rows of the endpoint, else 0.")                     \
    X(OUTBOX_PENDING, STORE, GAUGE, 1, "pawl_outbox_pending", "pawl.outbox.pending", "{row}",      \
      NULL, "Outbox rows that wait to be delivered.")                                              \
    X(OUTBOX_HELD, STORE, GAUGE, 1, "pawl_outbox_blocked", "pawl.outbox.blocked", "{row}", NULL,   \
      "Outbox rows blocked behind an earlier row of their ordering key.")                          \
    X(OUTBOX_DEAD, STORE, GAUGE, 1, "pawl_outbox_dead", "pawl.outbox.dead", "{row}", NULL,         \
      "Outbox rows that will not be tried again.")                                                 \
    X(OUTBOX_AGE, STORE, GAUGE, 1, "pawl_outbox_oldest_age_seconds", "pawl.outbox.oldest_age",     \
      "s", NULL, "Age of the oldest pending outbox row; 0 without one.")                           \
    X(QUEUE_MESSAGES, QUEUE, GAUGE, 2, "pawl_queue_messages", "pawl.queue.messages", "{message}",  \
      pawl__queue_state_names, "Messages of a queue, by state.")                                   \
    X(QUEUE_AGE, QUEUE, GAUGE, 1, "pawl_queue_oldest_age_seconds", "pawl.queue.oldest_age", "s",   \
      NULL, "How long the oldest message of a queue has been ready; 0 without one.")               \
    X(QUEUE_RETRIED, QUEUE, GAUGE, 1, "pawl_queue_retried", "pawl.queue.retried", "{message}",     \
      NULL, "Messages of a queue that wait for a delayed retry.")                                  \
    X(QUEUE_RETRIED_AGE, QUEUE, GAUGE, 1, "pawl_queue_retried_age_seconds",                        \
      "pawl.queue.retried_age", "s", NULL,                                                         \
      "How long ago the oldest message in delayed retry was first due; 0 without one.")            \
    X(QUEUE_WORKERS, QUEUE, GAUGE, 1, "pawl_queue_workers", "pawl.queue.workers", "{worker}",      \
      NULL, "Workers alive of the endpoint that reads the queue.")                                 \
    X(PROJECTION_LAG, PROJECTION, GAUGE, 1, "pawl_projection_lag_events",                          \
      "pawl.projection.lag_events", "{event}", NULL, "Events that a projection has not read yet.") \
    X(PROJECTION_FAILING, PROJECTION, GAUGE, 1, "pawl_projection_failing_seconds",                 \
      "pawl.projection.failing", "s", NULL,                                                        \
      "How long a projection has failed at one event; 0 when it does not fail.")                   \
    X(HEALTH, STORE, GAUGE, PAWL__HEALTH_CHECK_COUNT, "pawl_health", "pawl.health", "{state}",     \
      pawl__health_check_names, "0 healthy, 1 degraded, 2 unhealthy, by check.")                   \
    X(TIMEOUT_LATENESS, STORE, GAUGE, 1, "pawl_timeout_lateness_seconds", "pawl.timeout.lateness", \
      "s", NULL, "How late the earliest timeout is; 0 when none is due.")                          \
    X(TIMEOUTS_DUE, STORE, GAUGE, 1, "pawl_timeouts_due", "pawl.timeouts.due", "{timeout}", NULL,  \
      "Timeouts that are due.")                                                                    \
    X(TIMEOUTS_PENDING, STORE, GAUGE, 1, "pawl_timeouts_pending", "pawl.timeouts.pending",         \
      "{timeout}", NULL, "Timeouts that are not due yet.")                                         \
    X(DEAD_LETTERS, STORE, GAUGE, 1, "pawl_dead_letters", "pawl.dead_letters", "{message}", NULL,  \
      "Dead letters that lie in the store.")                                                       \
    X(INBOX_MARKS, STORE, GAUGE, 1, "pawl_deduplication_records", "pawl.deduplication_records",    \
      "{record}", NULL, "Deduplication records of messages that were handled.")                    \
    X(AGGREGATOR_ROWS, STORE, GAUGE, 1, "pawl_aggregator_rows", "pawl.aggregator.rows",            \
      "{message}", NULL, "Messages that aggregators hold.")                                        \
    X(FLUSHES_DEAD, STORE, GAUGE, 1, "pawl_aggregator_partitions_dead",                            \
      "pawl.aggregator.partitions_dead", "{partition}", NULL,                                      \
      "Aggregator partitions whose flush failed too often.")                                       \
    X(WORKERS, STORE, GAUGE, 1, "pawl_workers", "pawl.workers", "{worker}", NULL,                  \
      "Workers alive on the store.")                                                               \
    X(HANDLED, STORE, COUNTER, 1, "pawl_messages_handled_total", "pawl.messages.handled",          \
      "{message}", NULL, "Messages, timeouts and flushes handled to an end, by all workers ever.") \
    X(HANDLED_TIMEOUTS, STORE, COUNTER, 1, "pawl_timeouts_handled_total", "pawl.timeouts.handled", \
      "{timeout}", NULL, "Of these, timeouts.")                                                    \
    X(HANDLED_FLUSHES, STORE, COUNTER, 1, "pawl_flushes_handled_total", "pawl.flushes.handled",    \
      "{flush}", NULL, "Of these, aggregator flushes.")                                            \
    X(FAILURES, STORE, COUNTER, 1, "pawl_handler_failures_total", "pawl.handler.failures",         \
      "{run}", NULL, "Runs of a handler that failed.")                                             \
    X(CONFLICTS, STORE, COUNTER, 1, "pawl_conflicts_total", "pawl.conflicts", "{unit}", NULL,      \
      "Units that another worker was faster than, and that ran again.")                            \
    X(DEAD, STORE, COUNTER, 1, "pawl_messages_dead_total", "pawl.messages.dead", "{message}",      \
      NULL, "Messages that became dead letters.")                                                  \
    X(STORE_UP, OBSERVER, GAUGE, 1, "pawl_store_up", "pawl.store.up", "{state}", NULL,             \
      "1 when the store answered the last query, else 0.")                                         \
    X(SPANS_EXPORTED, OBSERVER, COUNTER, 1, "pawl_spans_exported_total", "pawl.spans.exported",    \
      "{span}", NULL, "Spans that the collector took.")                                            \
    X(SPANS_DROPPED, OBSERVER, COUNTER, 1, "pawl_spans_dropped_total", "pawl.spans.dropped",       \
      "{span}", NULL, "Spans lost because too many waited or the collector did not take them.")    \
    X(EXPORT_FAILURES, OBSERVER, COUNTER, 2, "pawl_export_failures_total", "pawl.export.failures", \
      "{export}", pawl__signal_names, "Exports that the collector did not take, by signal.")       \
    X(EXPORT_REJECTED, OBSERVER, COUNTER, 2, "pawl_export_rejected_total", "pawl.export.rejected", \
      "{item}", pawl__signal_names,                                                                \
      "Spans and data points that the collector rejected out of an export it took, by signal.")

typedef enum pawl__metric {
#define PAWL__METRIC_ID(id, scope, type, slots, name, otlp_name, unit, label, help) \
    PAWL__METRIC_##id,
    PAWL__METRICS(PAWL__METRIC_ID)
#undef PAWL__METRIC_ID
        PAWL__METRIC_COUNT
} pawl__metric;

enum {
#define PAWL__METRIC_SLOT(id, scope, type, slots, name, otlp_name, unit, label, help) \
    PAWL__SLOT_##id, PAWL__SLOT_##id##_LAST = PAWL__SLOT_##id + (slots)-1,
    PAWL__METRICS(PAWL__METRIC_SLOT)
#undef PAWL__METRIC_SLOT
        PAWL__SLOT_COUNT
};

typedef struct pawl__metric_row {
    const char        *name;
    const char        *otlp_name;
    const char        *otlp_unit;
    const char *const *label; /* its name, then its values; NULL: no label */
    const char        *help;
    pawl__metric_scope scope;
    pawl__metric_type  type;
    size_t             slot;
    size_t             slot_count;
} pawl__metric_row;

extern const pawl__metric_row pawl__metric_rows[PAWL__METRIC_COUNT];
extern const char *const      pawl__outcome_names[]; /* "outcome", then by pawl_attempt_outcome */
extern const char *const      pawl__queue_state_names[];  /* "state", "ready", "scheduled" */
extern const char *const      pawl__health_check_names[]; /* "check", then by check */
extern const char *const      pawl__signal_names[]; /* "signal", then by pawl_observe_signal */

/* Is the metric kept in microseconds and shown in seconds? */
bool pawl__metric_is_seconds(const pawl__metric_row *row);

/* The counts of one owner; all zero at first. */
typedef struct pawl__metrics {
    _Atomic int64_t slots[PAWL__SLOT_COUNT];
} pawl__metrics;

/* `label` is the index of the label's value, 0 without one. */
void pawl__metric_add(pawl__metrics *metrics, pawl__metric id, size_t label, int64_t count);
void pawl__metric_set(pawl__metrics *metrics, pawl__metric id, int64_t value);
void pawl__metric_set_at(pawl__metrics *metrics, pawl__metric id, size_t label, int64_t value);
/* Raises a counter that is read in the store and may be taken back a little there: it stands still
 * until it is passed, as a counter that falls is taken for a restart. */
void pawl__metric_raise(pawl__metrics *metrics, pawl__metric id, int64_t value);
void pawl__metric_observe(pawl__metrics *metrics, pawl__metric id, int64_t microseconds);

/* The counts of one owner, as they were read. */
typedef struct pawl__metrics_view {
    const char
        *owner;     /* the label of whose they are: "endpoint", "queue", "projection"; NULL: none */
    pawl_text name; /* its value */
    unsigned  scopes;   /* PAWL__SCOPE of its metrics */
    bool      has_left; /* the owner is no longer there: it has no gauges */
    int64_t   values[PAWL__SLOT_COUNT];
} pawl__metrics_view;

void pawl__metrics_read(const pawl__metrics *metrics, pawl__metrics_view *view);
/* Of two owners of one name: counts are summed, of gauges the largest is taken. */
void pawl__metrics_merge(pawl__metrics_view *view, const pawl__metrics_view *other);
/* Is the metric in the view? */
bool pawl__metrics_has(const pawl__metrics_view *view, const pawl__metric_row *row);

#endif
