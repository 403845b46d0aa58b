/* rows.c - the columns of each row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/rows.h"

#include <stdlib.h>

const pawl__sql_fields pawl__sql_one_int  = PAWL__SQL_FIELDS({0, PAWL__WIRE_INT});
const pawl__sql_fields pawl__sql_one_time = PAWL__SQL_FIELDS({0, PAWL__WIRE_TIME});
const pawl__sql_fields pawl__sql_one_text = PAWL__SQL_FIELDS({0, PAWL__WIRE_TEXT});
const pawl__sql_fields pawl__sql_one_uuid = PAWL__SQL_FIELDS({0, PAWL__WIRE_UUID});

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define LIFE(of, member, as)                              \
    {                                                     \
        offsetof(pawl__sql_##of, member), PAWL__WIRE_##as \
    }

const pawl__sql_fields pawl__sql_worker_row = PAWL__SQL_FIELDS(
    LIFE(worker, info.id, UUID), LIFE(worker, info.endpoint, TEXT), LIFE(worker, info.types, TEXT),
    LIFE(worker, info.epoch, INT), LIFE(worker, info.pid, INT), LIFE(worker, info.seen, TIME),
    LIFE(worker, life.process, INT), LIFE(worker, life.seen, TIME),
    LIFE(worker, info.counters.messages, INT), LIFE(worker, info.counters.timeouts, INT),
    LIFE(worker, info.counters.flushes, INT), LIFE(worker, info.counters.failures, INT),
    LIFE(worker, info.counters.conflicts, INT), LIFE(worker, info.counters.dead, INT));

const pawl__sql_fields pawl__sql_lead_row =
    PAWL__SQL_FIELDS(LIFE(found_lead, row.name, TEXT), LIFE(found_lead, row.worker, UUID),
                     LIFE(found_lead, row.expires, TIME), LIFE(found_lead, life.process, INT),
                     LIFE(found_lead, life.seen, TIME));

const pawl__sql_fields pawl__sql_life_row =
    PAWL__SQL_FIELDS(LIFE(life, process, INT), LIFE(life, seen, TIME));

const pawl__sql_fields pawl__sql_queue_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(queue_row, seq, INT), PAWL__SQL_FIELD(queue_row, due, TIME),
    PAWL__SQL_FIELD(queue_row, placed, TIME), PAWL__SQL_FIELD(queue_row, attempts, INT32),
    PAWL__SQL_FIELD(queue_row, deaths, INT32), PAWL__SQL_FIELD(queue_row, waiting_since, TIME),
    PAWL__SQL_FIELD(queue_row, history, TEXT), PAWL__SQL_MESSAGE_FIELDS(queue_row));

/* The row stands first in a message. */
const pawl__sql_fields pawl__sql_queue_message = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(queue_row, seq, INT), PAWL__SQL_FIELD(queue_row, due, TIME),
    PAWL__SQL_FIELD(queue_row, placed, TIME), PAWL__SQL_FIELD(queue_row, attempts, INT32),
    PAWL__SQL_FIELD(queue_row, deaths, INT32), PAWL__SQL_FIELD(queue_row, waiting_since, TIME),
    PAWL__SQL_FIELD(queue_row, history, TEXT), PAWL__SQL_MESSAGE_FIELDS(queue_row),
    PAWL__SQL_FIELD(queue_message, error, TEXT));
_Static_assert(offsetof(pawl_queue_message, row) == 0, "see above");

const pawl__sql_fields pawl__sql_dead_count_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(dead_count, queue, TEXT), PAWL__SQL_FIELD(dead_count, count, INT),
    PAWL__SQL_FIELD(dead_count, oldest, TIME));

const pawl__sql_fields pawl__sql_timeout_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(timeout_row, id, UUID), PAWL__SQL_FIELD(timeout_row, generation, INT),
    PAWL__SQL_FIELD(timeout_row, saga_id, UUID), PAWL__SQL_FIELD(timeout_row, saga_type, TEXT),
    PAWL__SQL_FIELD(timeout_row, name, TEXT), PAWL__SQL_FIELD(timeout_row, destination, TEXT),
    PAWL__SQL_FIELD(timeout_row, due, TIME), PAWL__SQL_FIELD(timeout_row, headers, TEXT),
    PAWL__SQL_FIELD(timeout_row, correlation_id, TEXT),
    PAWL__SQL_FIELD(timeout_row, attempts, INT32), PAWL__SQL_FIELD(timeout_row, owner, UUID),
    PAWL__SQL_FIELD(timeout_row, lease_expires, TIME));

const pawl__sql_fields pawl__sql_foreign_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(foreign_row, destination, TEXT), PAWL__SQL_FIELD(foreign_row, due, TIME));

const pawl__sql_fields pawl__sql_aggregator_row = PAWL__SQL_FIELDS(
    {0, PAWL__WIRE_SKIP}, /* the type comes with the message */
    PAWL__SQL_FIELD(aggregator_row, lease_expires, TIME), PAWL__SQL_FIELD(aggregator_row, id, INT),
    PAWL__SQL_FIELD(aggregator_row, name, TEXT), PAWL__SQL_FIELD(aggregator_row, partition, TEXT),
    PAWL__SQL_FIELD(aggregator_row, key, TEXT), PAWL__SQL_FIELD(aggregator_row, at, TIME),
    PAWL__SQL_FIELD(aggregator_row, session, UUID), PAWL__SQL_MESSAGE_FIELDS(aggregator_row));

const pawl__sql_fields pawl__sql_flush_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(flush_row, name, TEXT), PAWL__SQL_FIELD(flush_row, partition, TEXT),
    PAWL__SQL_FIELD(flush_row, due, TIME), PAWL__SQL_FIELD(flush_row, attempts, INT32),
    PAWL__SQL_FIELD(flush_row, is_dead, FLAG), PAWL__SQL_FIELD(flush_row, error, TEXT));

static const pawl__sql_field outbox_row[] = {
    PAWL__SQL_FIELD(outbox_row, id, INT),
    PAWL__SQL_FIELD(outbox_row, next_attempt, TIME),
    PAWL__SQL_FIELD(outbox_row, version, INT),
    PAWL__SQL_FIELD(outbox_row, index, INT32),
    PAWL__SQL_FIELD(outbox_row, attempts, INT32),
    PAWL__SQL_FIELD(outbox_row, dispatch_id, UUID),
    PAWL__SQL_FIELD(outbox_row, source, TEXT),
    PAWL__SQL_FIELD(outbox_row, endpoint, TEXT),
    PAWL__SQL_FIELD(outbox_row, destination, TEXT),
    PAWL__SQL_FIELD(outbox_row, due, TIME),
    PAWL__SQL_FIELD(outbox_row, at, TIME),
    PAWL__SQL_FIELD(outbox_row, attempts_before, INT32),
    PAWL__SQL_MESSAGE_FIELDS(outbox_row),
    PAWL__SQL_FIELD(outbox_row, state, STATE),
    PAWL__SQL_FIELD(outbox_row, dispatched, TIME),
};
const pawl__sql_fields pawl__sql_outbox_row     = PAWL__SQL_LIST(outbox_row);
const pawl__sql_fields pawl__sql_outbox_claimed = {outbox_row, COUNT(outbox_row) - 2};

const pawl__sql_fields pawl__sql_attempt_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(attempt_row, attempt, INT32), PAWL__SQL_FIELD(attempt_row, outcome, OUTCOME),
    PAWL__SQL_FIELD(attempt_row, error, TEXT), PAWL__SQL_FIELD(attempt_row, at, TIME),
    PAWL__SQL_FIELD(attempt_row, duration, INT));

const pawl__sql_fields pawl__sql_dead_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(dead_row, endpoint, TEXT), PAWL__SQL_FIELD(dead_row, queue, TEXT),
    PAWL__SQL_FIELD(dead_row, code, TEXT), PAWL__SQL_FIELD(dead_row, error, TEXT),
    PAWL__SQL_FIELD(dead_row, attempts, INT32), PAWL__SQL_FIELD(dead_row, deaths, INT32),
    PAWL__SQL_FIELD(dead_row, history, TEXT), PAWL__SQL_FIELD(dead_row, at, TIME),
    PAWL__SQL_MESSAGE_FIELDS(dead_row));

#define HISTORY_FIELD(member, as) PAWL__SQL_FIELD(history_row, entry.member, as)
const pawl__sql_fields pawl__sql_history_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(history_row, id, INT), HISTORY_FIELD(endpoint, TEXT),
    HISTORY_FIELD(source, TEXT), HISTORY_FIELD(message_id, TEXT), HISTORY_FIELD(type, TEXT),
    HISTORY_FIELD(kind, TEXT), HISTORY_FIELD(outcome, TEXT), HISTORY_FIELD(version, INT),
    HISTORY_FIELD(attempts, INT32), HISTORY_FIELD(duration, INT), HISTORY_FIELD(at, TIME),
    HISTORY_FIELD(error, TEXT), HISTORY_FIELD(out, TEXT));

const pawl__sql_fields pawl__sql_subscription = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(subscription, type, TEXT), PAWL__SQL_FIELD(subscription, queue, TEXT));

const pawl__sql_fields pawl__sql_event = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(event, type, TEXT), PAWL__SQL_FIELD(event, type_version, INT32),
    PAWL__SQL_FIELD(event, message_id, TEXT), PAWL__SQL_FIELD(event, correlation_id, TEXT),
    PAWL__SQL_FIELD(event, causation_id, TEXT), PAWL__SQL_FIELD(event, dispatch_id, UUID),
    PAWL__SQL_FIELD(event, at, TIME), PAWL__SQL_FIELD(event, headers, TEXT),
    PAWL__SQL_FIELD(event, body, BYTES));

const pawl__sql_fields pawl__sql_event_row = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(event_row, seq, INT), PAWL__SQL_FIELD(event_row, position, INT),
    PAWL__SQL_FIELD(event_row, stream, TEXT), PAWL__SQL_FIELD(event_row, version, INT),
    PAWL__SQL_FIELD(event_row, event.type, TEXT),
    PAWL__SQL_FIELD(event_row, event.type_version, INT32),
    PAWL__SQL_FIELD(event_row, event.message_id, TEXT),
    PAWL__SQL_FIELD(event_row, event.correlation_id, TEXT),
    PAWL__SQL_FIELD(event_row, event.causation_id, TEXT),
    PAWL__SQL_FIELD(event_row, event.dispatch_id, UUID), PAWL__SQL_FIELD(event_row, event.at, TIME),
    PAWL__SQL_FIELD(event_row, event.headers, TEXT), PAWL__SQL_FIELD(event_row, event.body, BYTES));

const pawl__sql_fields pawl__sql_queue_stats = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(queue_stats, queue, TEXT), PAWL__SQL_FIELD(queue_stats, ready, INT),
    PAWL__SQL_FIELD(queue_stats, future, INT), PAWL__SQL_FIELD(queue_stats, oldest, TIME));

const pawl__sql_fields pawl__sql_counters = PAWL__SQL_FIELDS(
    PAWL__SQL_FIELD(counters, messages, INT), PAWL__SQL_FIELD(counters, timeouts, INT),
    PAWL__SQL_FIELD(counters, flushes, INT), PAWL__SQL_FIELD(counters, failures, INT),
    PAWL__SQL_FIELD(counters, conflicts, INT), PAWL__SQL_FIELD(counters, dead, INT));

static int by_place(const void *left, const void *right)
{
    const pawl_queue_row *l     = left;
    const pawl_queue_row *r     = right;
    int                   order = (l->due > r->due) - (l->due < r->due);
    return order != 0 ? order : (l->seq > r->seq) - (l->seq < r->seq);
}

void pawl__sql_sort_rows(pawl_queue_rows *rows)
{
    if (rows->count > 1)
        qsort(rows->items, rows->count, sizeof *rows->items, by_place);
}
