/* rows.c - the fields of each row, and the words of enums; see rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/rows.h"

#include "store/core/queue_fields.h"

const pawl__field_list pawl__one_int  = PAWL__FIELDS(PAWL__AS_ONE(INT));
const pawl__field_list pawl__one_time = PAWL__FIELDS(PAWL__AS_ONE(TIME));
const pawl__field_list pawl__one_text = PAWL__FIELDS(PAWL__AS_ONE(TEXT));
const pawl__field_list pawl__one_uuid = PAWL__FIELDS(PAWL__AS_ONE(UUID));

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The row stands first in a message. */
#define STATE(of, member, column, stored, wire) PAWL__AS_NAMED(of, member, #stored, wire)
static const pawl__field queue_message[] = {PAWL__QUEUE_STATE(STATE, queue_row, PAWL__COMMA),
                                            PAWL__AS_MESSAGE(queue_row),
                                            PAWL__AS(queue_message, error, TEXT)};
const pawl__field_list   pawl__queue_message_fields = PAWL__FIELD_ARRAY(queue_message);
const pawl__field_list   pawl__queue_row_fields     = {queue_message, COUNT(queue_message) - 1};
_Static_assert(offsetof(pawl_queue_message, row) == 0, "see above");

const pawl__field_list pawl__timeout_row_fields = PAWL__FIELDS(
    PAWL__AS(timeout_row, id, UUID), PAWL__AS(timeout_row, generation, INT),
    PAWL__AS(timeout_row, saga_id, UUID), PAWL__AS(timeout_row, saga_type, TEXT),
    PAWL__AS(timeout_row, name, TEXT), PAWL__AS(timeout_row, destination, TEXT),
    PAWL__AS(timeout_row, due, TIME), PAWL__AS(timeout_row, headers, TEXT),
    PAWL__AS(timeout_row, correlation_id, TEXT), PAWL__AS(timeout_row, attempts, INT32),
    PAWL__AS(timeout_row, owner, UUID), PAWL__AS(timeout_row, lease_expires, TIME));

const pawl__field_list pawl__foreign_row_fields =
    PAWL__FIELDS(PAWL__AS(foreign_row, destination, TEXT), PAWL__AS(foreign_row, due, TIME));

const pawl__field_list pawl__aggregator_row_fields =
    PAWL__FIELDS(PAWL__AS_ONE(SKIP), /* the type comes with the message */
                 PAWL__AS(aggregator_row, lease_expires, TIME), PAWL__AS(aggregator_row, id, INT),
                 PAWL__AS(aggregator_row, name, TEXT), PAWL__AS(aggregator_row, partition, TEXT),
                 PAWL__AS(aggregator_row, key, TEXT), PAWL__AS(aggregator_row, at, TIME),
                 PAWL__AS(aggregator_row, session, UUID), PAWL__AS_MESSAGE(aggregator_row));

const pawl__field_list pawl__flush_row_fields =
    PAWL__FIELDS(PAWL__AS(flush_row, name, TEXT), PAWL__AS(flush_row, partition, TEXT),
                 PAWL__AS(flush_row, due, TIME), PAWL__AS(flush_row, attempts, INT32),
                 PAWL__AS(flush_row, is_dead, FLAG), PAWL__AS(flush_row, error, TEXT));

static const pawl__field outbox_row[] = {
    PAWL__AS(outbox_row, id, INT),
    PAWL__AS(outbox_row, next_attempt, TIME),
    PAWL__AS(outbox_row, version, INT),
    PAWL__AS(outbox_row, index, INT32),
    PAWL__AS(outbox_row, attempts, INT32),
    PAWL__AS(outbox_row, dispatch_id, UUID),
    PAWL__AS(outbox_row, source, TEXT),
    PAWL__AS(outbox_row, endpoint, TEXT),
    PAWL__AS(outbox_row, destination, TEXT),
    PAWL__AS(outbox_row, due, TIME),
    PAWL__AS(outbox_row, at, TIME),
    PAWL__AS(outbox_row, attempts_before, INT32),
    PAWL__AS_MESSAGE(outbox_row),
    PAWL__AS(outbox_row, state, STATE),
    PAWL__AS(outbox_row, dispatched, TIME),
};
const pawl__field_list pawl__outbox_row_fields     = PAWL__FIELD_ARRAY(outbox_row);
const pawl__field_list pawl__outbox_claimed_fields = {outbox_row, COUNT(outbox_row) - 2};

const pawl__field_list pawl__attempt_row_fields =
    PAWL__FIELDS(PAWL__AS(attempt_row, attempt, INT32), PAWL__AS(attempt_row, outcome, OUTCOME),
                 PAWL__AS(attempt_row, error, TEXT), PAWL__AS(attempt_row, at, TIME),
                 PAWL__AS(attempt_row, duration, INT));

const pawl__field_list pawl__dead_row_fields = PAWL__FIELDS(
    PAWL__AS(dead_row, endpoint, TEXT), PAWL__AS(dead_row, queue, TEXT),
    PAWL__AS(dead_row, code, TEXT), PAWL__AS(dead_row, error, TEXT),
    PAWL__AS(dead_row, attempts, INT32), PAWL__AS_NAMED(dead_row, crashes, "deaths", INT32),
    PAWL__AS(dead_row, history, TEXT), PAWL__AS(dead_row, at, TIME), PAWL__AS_MESSAGE(dead_row));

#define HISTORY_FIELD(member, as) PAWL__AS(history_row, entry.member, as)
const pawl__field_list pawl__history_row_fields = PAWL__FIELDS(
    PAWL__AS(history_row, id, INT), HISTORY_FIELD(endpoint, TEXT), HISTORY_FIELD(source, TEXT),
    HISTORY_FIELD(message_id, TEXT), HISTORY_FIELD(type, TEXT), HISTORY_FIELD(kind, TEXT),
    HISTORY_FIELD(outcome, TEXT), HISTORY_FIELD(version, INT), HISTORY_FIELD(attempts, INT32),
    HISTORY_FIELD(duration, INT), HISTORY_FIELD(at, TIME), HISTORY_FIELD(error, TEXT),
    HISTORY_FIELD(out, TEXT));

const pawl__field_list pawl__subscription_fields =
    PAWL__FIELDS(PAWL__AS(subscription, type, TEXT), PAWL__AS(subscription, queue, TEXT));

const pawl__field_list pawl__event_fields = PAWL__FIELDS(
    PAWL__AS(event, type, TEXT), PAWL__AS(event, type_version, INT32),
    PAWL__AS(event, message_id, TEXT), PAWL__AS(event, correlation_id, TEXT),
    PAWL__AS(event, causation_id, TEXT), PAWL__AS(event, dispatch_id, UUID),
    PAWL__AS(event, at, TIME), PAWL__AS(event, headers, TEXT), PAWL__AS(event, body, BYTES));

const pawl__field_list pawl__event_row_fields = PAWL__FIELDS(
    PAWL__AS(event_row, seq, INT), PAWL__AS(event_row, position, INT),
    PAWL__AS(event_row, stream, TEXT), PAWL__AS(event_row, version, INT),
    PAWL__AS(event_row, event.type, TEXT), PAWL__AS(event_row, event.type_version, INT32),
    PAWL__AS(event_row, event.message_id, TEXT), PAWL__AS(event_row, event.correlation_id, TEXT),
    PAWL__AS(event_row, event.causation_id, TEXT), PAWL__AS(event_row, event.dispatch_id, UUID),
    PAWL__AS(event_row, event.at, TIME), PAWL__AS(event_row, event.headers, TEXT),
    PAWL__AS(event_row, event.body, BYTES));

const pawl__field_list pawl__counters_fields =
    PAWL__FIELDS(PAWL__AS(counters, messages, INT), PAWL__AS(counters, timeouts, INT),
                 PAWL__AS(counters, flushes, INT), PAWL__AS(counters, failures, INT),
                 PAWL__AS(counters, conflicts, INT), PAWL__AS(counters, dead, INT));

/* ---- Words -------------------------------------------------------------- */

const pawl_text pawl__state_words[] = {
    [PAWL_OUTBOX_PENDING]    = PAWL_TEXT_INIT("pending"),
    [PAWL_OUTBOX_BLOCKED]    = PAWL_TEXT_INIT("held"),
    [PAWL_OUTBOX_DISPATCHED] = PAWL_TEXT_INIT("dispatched"),
    [PAWL_OUTBOX_DEAD]       = PAWL_TEXT_INIT("dead"),
    [PAWL_OUTBOX_DISCARDED]  = PAWL_TEXT_INIT("discarded"),
};

const pawl_text pawl__outcome_words[] = {
    [PAWL_ATTEMPT_SUCCESS]   = PAWL_TEXT_INIT("success"),
    [PAWL_ATTEMPT_REJECTED]  = PAWL_TEXT_INIT("rejected"),
    [PAWL_ATTEMPT_TRANSIENT] = PAWL_TEXT_INIT("transient"),
    [PAWL_ATTEMPT_POISON]    = PAWL_TEXT_INIT("poison"),
    [PAWL_ATTEMPT_RETRIED]   = PAWL_TEXT_INIT("enabled"),
    [PAWL_ATTEMPT_DISCARDED] = PAWL_TEXT_INIT("discarded"),
};

const pawl_text pawl__inbox_words[] = {
    [PAWL_INBOX_HANDLED]   = PAWL_TEXT_INIT("handled"),
    [PAWL_INBOX_DISCARDED] = PAWL_TEXT_INIT("discarded"),
    [PAWL_INBOX_DEAD]      = PAWL_TEXT_INIT("dead"),
};

pawl_text pawl__reset_word(pawl_outbox_action action)
{
    return pawl__outcome_words[action == PAWL_OUTBOX_RETRY ? PAWL_ATTEMPT_RETRIED
                                                           : PAWL_ATTEMPT_DISCARDED];
}

int pawl__find_word(pawl_text word, const pawl_text *words, int count)
{
    for (int i = 0; i < count; i++)
        if (pawl_text_equal(word, words[i]))
            return i;
    return -1;
}
