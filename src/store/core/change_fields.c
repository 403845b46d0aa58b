/* change_fields.c - the members of each kind of change: how check.c checks them, and how stores that write members by
 * name convert them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/field.h"
#include "store/core/queue_fields.h"

/* A member with an older name in documents. */
#define NAMED(of, member, stored, wire, form)                                     \
    {                                                                             \
        offsetof(pawl_##of, member), stored, PAWL__WIRE_##wire, PAWL__FORM_##form \
    }
#define AS(of, member, wire, form)                                                 \
    {                                                                              \
        offsetof(pawl_##of, member), #member, PAWL__WIRE_##wire, PAWL__FORM_##form \
    }
#define ANY(of, member, wire) AS(of, member, wire, ANY)
#define TEXT(of, member, form) AS(of, member, TEXT, form)
#define MESSAGE(of, type_form)                                                           \
    TEXT(of, message.id, ID), TEXT(of, message.type, type_form),                         \
        TEXT(of, message.correlation_id, ID_OPTIONAL),                                   \
        TEXT(of, message.causation_id, ID_OPTIONAL), TEXT(of, message.headers, HEADERS), \
        AS(of, message.body, BYTES, BODY)
#define SETTLED(number, member, column, stored, wire, checked, form) \
    NAMED(queue_settle, member, #stored, checked, form)
#define STATE(of) \
    AS(of, metadata, JSON, STATE), AS(of, data, JSON, STATE), TEXT(of, type_version, NAME_OPTIONAL)

const pawl__field_list pawl__change_fields[pawl_change_kind_count] = {
    [pawl_change_queue_settle] = PAWL__FIELDS(
        ANY(queue_settle, seq, INT), ANY(queue_settle, action, CHOICE),
        TEXT(queue_settle, queue, NAME), PAWL__QUEUE_SETTLED(SETTLED, SETTLED, PAWL__COMMA)),
    [pawl_change_inbox_entry] =
        PAWL__FIELDS(TEXT(inbox_entry, endpoint, NAME), TEXT(inbox_entry, message_id, ID),
                     ANY(inbox_entry, outcome, INBOX), ANY(inbox_entry, at, TIME)),
    [pawl_change_saga_delete] =
        PAWL__FIELDS(ANY(saga_delete, id, UUID), ANY(saga_delete, version, INT)),
    [pawl_change_saga_insert] =
        PAWL__FIELDS(AS(saga_insert, id, UUID, SET), ANY(saga_insert, main, VALUE),
                     ANY(saga_insert, transitional, VALUE), STATE(saga_insert)),
    [pawl_change_saga_update] =
        PAWL__FIELDS(ANY(saga_update, id, UUID), ANY(saga_update, version, INT),
                     ANY(saga_update, transitional, VALUE), STATE(saga_update)),
    [pawl_change_event_append] = PAWL__FIELDS(
        TEXT(event_append, stream, STREAM), ANY(event_append, version, INT),
        TEXT(event_append, event.type, NAME), ANY(event_append, event.type_version, INT32),
        TEXT(event_append, event.message_id, ID_OPTIONAL),
        TEXT(event_append, event.correlation_id, ID_OPTIONAL),
        TEXT(event_append, event.causation_id, ID_OPTIONAL),
        ANY(event_append, event.dispatch_id, UUID), ANY(event_append, event.at, TIME),
        TEXT(event_append, event.headers, HEADERS), AS(event_append, event.body, BYTES, BODY)),
    [pawl_change_checkpoint_set] =
        PAWL__FIELDS(TEXT(checkpoint_set, name, NAME), ANY(checkpoint_set, from, INT),
                     ANY(checkpoint_set, to, INT), ANY(checkpoint_set, at, TIME)),
    [pawl_change_timeout_settle] =
        PAWL__FIELDS(ANY(timeout_settle, id, UUID), ANY(timeout_settle, action, CHOICE),
                     ANY(timeout_settle, owner, UUID), ANY(timeout_settle, generation, INT),
                     ANY(timeout_settle, due, TIME), ANY(timeout_settle, attempts, INT32)),
    [pawl_change_outbox_settle] =
        PAWL__FIELDS(ANY(outbox_settle, id, INT), TEXT(outbox_settle, source, SOURCE),
                     ANY(outbox_settle, state, STATE), ANY(outbox_settle, attempts, INT32),
                     ANY(outbox_settle, next_attempt, TIME), ANY(outbox_settle, outcome, OUTCOME),
                     AS(outbox_settle, error, ERROR_TEXT, ERROR), ANY(outbox_settle, at, TIME),
                     ANY(outbox_settle, duration, INT)),
    [pawl_change_outbox_reset] =
        PAWL__FIELDS(ANY(outbox_reset, id, INT), ANY(outbox_reset, action, RESET),
                     AS(outbox_reset, note, ERROR_TEXT, ERROR), ANY(outbox_reset, at, TIME)),
    [pawl_change_leased_batch_remove] =
        PAWL__FIELDS(TEXT(leased_batch_remove, partition, PARTITION)),
    [pawl_change_timeout_cancel] = PAWL__FIELDS(AS(timeout_cancel, saga_id, UUID, SET),
                                                TEXT(timeout_cancel, name, NAME_OPTIONAL)),
    [pawl_change_timeout_set]    = PAWL__FIELDS(
           AS(timeout_set, id, UUID, SET), ANY(timeout_set, saga_id, UUID),
           TEXT(timeout_set, saga_type, NAME_OPTIONAL), TEXT(timeout_set, name, NAME_OPTIONAL),
           TEXT(timeout_set, destination, NAME), ANY(timeout_set, due, TIME),
           TEXT(timeout_set, headers, HEADERS), TEXT(timeout_set, correlation_id, ID_OPTIONAL),
           AS(timeout_set, is_new, BOOL, ASIDE)),
    /* The id is checked last: with an endpoint name that is too long no id was computed. */
    [pawl_change_outbox_add] =
        PAWL__FIELDS(TEXT(outbox_add, source, SOURCE), ANY(outbox_add, version, INT),
                     ANY(outbox_add, index, INT32), TEXT(outbox_add, endpoint, NAME_OPTIONAL),
                     TEXT(outbox_add, destination, NAME), ANY(outbox_add, due, TIME),
                     ANY(outbox_add, at, TIME), AS(outbox_add, may_differ, BOOL, ASIDE),
                     MESSAGE(outbox_add, NAME), AS(outbox_add, dispatch_id, UUID, SET)),
    [pawl_change_outbox_block] =
        PAWL__FIELDS(TEXT(outbox_block, source, SOURCE), ANY(outbox_block, after, INT),
                     ANY(outbox_block, id, INT), AS(outbox_block, is_unblock, BOOL, ASIDE)),
    [pawl_change_stream_snapshot_set] = PAWL__FIELDS(
        TEXT(stream_snapshot_set, stream, STREAM), ANY(stream_snapshot_set, version, INT),
        ANY(stream_snapshot_set, type_version, INT32), TEXT(stream_snapshot_set, state, STATE),
        TEXT(stream_snapshot_set, dispatches, STATE), ANY(stream_snapshot_set, at, TIME)),
    [pawl_change_queue_send] = PAWL__FIELDS(
        TEXT(queue_send, queue, NAME), ANY(queue_send, due, TIME), ANY(queue_send, attempts, INT32),
        AS(queue_send, is_new, BOOL, ASIDE), MESSAGE(queue_send, NAME)),
    [pawl_change_aggregator_add] =
        PAWL__FIELDS(TEXT(aggregator_add, name, NAME), TEXT(aggregator_add, partition, PARTITION),
                     TEXT(aggregator_add, key, ID), ANY(aggregator_add, at, TIME),
                     AS(aggregator_add, due, TIME, ASIDE), MESSAGE(aggregator_add, NAME)),
    [pawl_change_aggregator_remove] =
        PAWL__FIELDS(TEXT(aggregator_remove, partition, PARTITION),
                     TEXT(aggregator_remove, correlation_id, ID_OPTIONAL)),
    [pawl_change_leased_batch_release] = PAWL__FIELDS(
        TEXT(leased_batch_release, partition, PARTITION), ANY(leased_batch_release, session, UUID)),
    [pawl_change_flush_set] =
        PAWL__FIELDS(TEXT(flush_set, partition, PARTITION), ANY(flush_set, due, TIME),
                     ANY(flush_set, attempts, INT32), ANY(flush_set, is_dead, BOOL),
                     AS(flush_set, error, ERROR_TEXT, ERROR)),
    /* The type may be empty: such a message is dead-lettered for that reason. */
    [pawl_change_dead_set] = PAWL__FIELDS(
        AS(dead_set, is_remove, BOOL, ASIDE), AS(dead_set, is_checked, BOOL, ASIDE),
        AS(dead_set, keeps_record, BOOL, ASIDE), TEXT(dead_set, endpoint, NAME),
        TEXT(dead_set, queue, NAME_OPTIONAL), TEXT(dead_set, code, NAME_OPTIONAL),
        AS(dead_set, error, ERROR_TEXT, ERROR), ANY(dead_set, attempts, INT32),
        NAMED(dead_set, crashes, "deaths", INT32, ANY), AS(dead_set, history, BYTES, BODY),
        ANY(dead_set, at, TIME), MESSAGE(dead_set, NAME_OPTIONAL)),
    [pawl_change_subscription_set] =
        PAWL__FIELDS(AS(subscription_set, is_remove, BOOL, ASIDE),
                     TEXT(subscription_set, type, NAME), TEXT(subscription_set, queue, NAME)),
    [pawl_change_history_add] = PAWL__FIELDS(
        TEXT(history_add, entry.endpoint, NAME), TEXT(history_add, entry.source, SOURCE),
        TEXT(history_add, entry.message_id, ID_OPTIONAL),
        TEXT(history_add, entry.type, NAME_OPTIONAL), TEXT(history_add, entry.kind, NAME),
        TEXT(history_add, entry.outcome, NAME), ANY(history_add, entry.version, INT),
        ANY(history_add, entry.attempts, INT32), ANY(history_add, entry.duration, INT),
        ANY(history_add, entry.at, TIME), AS(history_add, entry.error, ERROR_TEXT, ERROR),
        TEXT(history_add, entry.out, STATE)),
};
