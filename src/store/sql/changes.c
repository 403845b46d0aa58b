/* changes.c - the SQL writes of each kind of change, as data (write.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/kinds.h"
#include "store/core/queue_fields.h"
#include "store/sql/commit.h"
#include "store/sql/saga_text.h"

/* The fields of a change, in the order of the statement's parameters. */
#define FIELDS PAWL__FIELDS
#define ZERO PAWL__AS_ONE(ZERO)
#define NONE(as) PAWL__AS_NULL(as)

/* Entries of `then`, by result: refuse the group (..._WHY), or go on with another write of the item (..._NEXT). */
#define MISSED_WHY(refusal) [PAWL__SQL_MISSED] = {.why = pawl__why_##refusal}
#define TAKEN_WHY(refusal) [PAWL__SQL_DUPLICATE] = {.why = pawl__why_##refusal}
#define NULL_WHY(refusal) [PAWL__SQL_NULL] = {.why = pawl__why_##refusal}
#define APPLIED_NEXT(write) [PAWL__SQL_APPLIED] = {.next = &(write)}
#define MISSED_NEXT(write) [PAWL__SQL_MISSED] = {.next = &(write)}
#define TAKEN_NEXT(write) [PAWL__SQL_DUPLICATE] = {.next = &(write)}

/* Entries of `taken`: find an existing row by a key. SAGA_TAKEN: in the saga's table, with more keys in its `then`. */
#define TAKEN(name, ...) \
    (&(const pawl__sql_write){.statement = PAWL__SQL_##name, .parameters = FIELDS(__VA_ARGS__)})
#define SAGA_TAKEN(by, fields, ...)                                 \
    (&(const pawl__sql_write){.is_saga    = true,                   \
                              .statement  = PAWL__SQL_SAGA_BY_##by, \
                              .parameters = fields,                 \
                              .then       = {__VA_ARGS__}})

/* ---- The fence ---------------------------------------------------------- */

#define FENCE(member, as) PAWL__AS_OF(struct pawl__sql_fence, member, as)

static pawl_code why_fenced(const void *item, pawl_error *why)
{
    const pawl__sql_fence *fence = item;
    return pawl__why_fenced(fence->store, fence->driver, why);
}

const pawl__sql_write pawl__sql_write_fence = {
    .statement  = PAWL__SQL_WORKER_FENCE,
    .parameters = FIELDS(FENCE(commit_id, UUID), FENCE(now, TIME), FENCE(counters.messages, INT),
                         FENCE(counters.timeouts, INT), FENCE(counters.flushes, INT),
                         FENCE(counters.failures, INT), FENCE(counters.conflicts, INT),
                         FENCE(counters.dead, INT), FENCE(worker, UUID), FENCE(epoch, INT)),
    .then       = {[PAWL__SQL_MISSED] = {.why = why_fenced}},
};

/* ---- Queue and inbox ---------------------------------------------------- */

#define OF(member, as) PAWL__AS(queue_settle, member, as)
#define SETTLED(number, member, column, stored, wire, checked, form) OF(member, wire)

/* By action. PAWL_QUEUE_RELEASE has no write, since the row stays as it is. */
static const pawl__sql_write queue_settles[] = {
    [PAWL_QUEUE_DONE]  = {.statement  = PAWL__SQL_QUEUE_DELETE,
                          .parameters = FIELDS(OF(seq, INT), OF(queue, TEXT)),
                          .then       = {MISSED_WHY(gone)}},
    [PAWL_QUEUE_RETRY] = {.statement  = PAWL__SQL_QUEUE_RETRY,
                          .parameters = FIELDS(PAWL__QUEUE_SETTLED(SETTLED, SETTLED, PAWL__COMMA),
                                               OF(seq, INT), OF(queue, TEXT)),
                          .then       = {MISSED_WHY(gone)}},
};

static const pawl__sql_write *choose_queue_settle(const void *change)
{
    const pawl_queue_settle *settle = change;
    return settle->action == PAWL_QUEUE_RELEASE ? NULL : &queue_settles[settle->action];
}

#undef OF
#define OF(member, as) PAWL__AS(queue_send, member, as)

#define QUEUE_SEND(...)                                                                            \
    {                                                                                              \
        .statement  = PAWL__SQL_QUEUE_SEND,                                                        \
        .parameters = FIELDS(OF(queue, TEXT), OF(due, TIME), OF(attempts, INT32),                  \
                             PAWL__AS_MESSAGE(queue_send)),                                        \
        .taken = TAKEN(QUEUE_TAKEN, OF(queue, TEXT), OF(message.id, TEXT)), .then = {__VA_ARGS__}, \
    }
/* By is_new. */
static const pawl__sql_write queue_sends[] = {QUEUE_SEND({0}), QUEUE_SEND(MISSED_WHY(queued))};

static const pawl__sql_write *choose_queue_send(const void *change)
{
    const pawl_queue_send *send = change;
    return &queue_sends[send->is_new];
}

#undef OF
#define OF(member, as) PAWL__AS(inbox_entry, member, as)

static const pawl__sql_write inbox_entry = {
    .statement = PAWL__SQL_INBOX_MARK,
    .parameters =
        FIELDS(OF(endpoint, TEXT), OF(message_id, TEXT), OF(outcome, INBOX), OF(at, TIME)),
    .taken = TAKEN(INBOX_KNOWN, OF(endpoint, TEXT), OF(message_id, TEXT)),
    .then  = {TAKEN_WHY(handled)},
};

/* ---- Sagas -------------------------------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(saga_delete, member, as)

static const pawl__sql_write saga_delete = {
    .is_saga    = true,
    .statement  = PAWL__SQL_SAGA_DELETE,
    .parameters = FIELDS(OF(id, UUID), OF(version, INT)),
    .then       = {MISSED_WHY(not_deleted)},
};

#undef OF
#define OF(member, as) PAWL__AS(saga_insert, member, as)
#define SAGA_INSERT(taken_, ...)                                                                  \
    {                                                                                             \
        .is_saga = true, .statement = PAWL__SQL_SAGA_INSERT,                                      \
        .parameters = FIELDS(OF(id, UUID), OF(metadata, JSON_TEXT), OF(data, JSON), __VA_ARGS__), \
        .taken = taken_, .then = {TAKEN_WHY(not_inserted)},                                       \
    }
#define BY_ID(...) SAGA_TAKEN(ID, FIELDS(OF(id, UUID)), __VA_ARGS__)
#define BY_MAIN(...) SAGA_TAKEN(MAIN, FIELDS(OF(main, VALUE)), __VA_ARGS__)
#define BY_TRANSITIONAL SAGA_TAKEN(TRANSITIONAL, FIELDS(OF(transitional, VALUE)), {0})
#define OR(taken_) [PAWL__SQL_MISSED] = {.next = taken_}

/* Index: 1 for a main correlation plus 2 for a transitional one. */
static const pawl__sql_write saga_inserts[] = {
    SAGA_INSERT(BY_ID({0}), OF(type_version, TEXT)),
    SAGA_INSERT(BY_ID(OR(BY_MAIN({0}))), OF(type_version, TEXT), OF(main, VALUE)),
    SAGA_INSERT(BY_ID(OR(BY_TRANSITIONAL)), OF(type_version, TEXT), OF(transitional, VALUE)),
    SAGA_INSERT(BY_ID(OR(BY_MAIN(OR(BY_TRANSITIONAL)))), OF(type_version, TEXT), OF(main, VALUE),
                OF(transitional, VALUE)),
};

static const pawl__sql_write *choose_saga_insert(const void *change)
{
    const pawl_saga_insert *row = change;
    return &saga_inserts[(row->table->main.type != PAWL_VALUE_NONE) +
                         2 * (row->table->transitional.type != PAWL_VALUE_NONE)];
}

#undef OF
#define OF(member, as) PAWL__AS(saga_update, member, as)
#define SAGA_STATE OF(metadata, JSON_TEXT), OF(data, JSON), OF(type_version, TEXT)
#define SAGA_AT_VERSION OF(id, UUID), OF(version, INT)
#define SAGA_UPDATE(taken_, ...)                                             \
    {                                                                        \
        .is_saga = true, .statement = PAWL__SQL_SAGA_UPDATE,                 \
        .parameters = FIELDS(__VA_ARGS__, SAGA_AT_VERSION), .taken = taken_, \
        .then = {MISSED_WHY(not_updated), TAKEN_WHY(value_taken)},           \
    }
/* Finds the row by the address that the load returned; by id if another row has that address now. */
#define SAGA_UPDATE_ROW(by_id, taken_, ...)                                                \
    {                                                                                      \
        .is_saga = true, .statement = PAWL__SQL_SAGA_UPDATE_ROW,                           \
        .parameters = FIELDS(__VA_ARGS__, OF(row, INT), SAGA_AT_VERSION), .taken = taken_, \
        .then = {MISSED_NEXT(by_id), TAKEN_WHY(value_taken)},                              \
    }

#define BY_NONE SAGA_TAKEN(OTHER, FIELDS(OF(id, UUID)), {0})
#define BY_OTHER SAGA_TAKEN(OTHER, FIELDS(OF(id, UUID), OF(transitional, VALUE)), {0})

/* Index 1: the table has a transitional correlation. */
static const pawl__sql_write saga_updates[] = {
    SAGA_UPDATE(BY_NONE, SAGA_STATE),
    SAGA_UPDATE(BY_OTHER, OF(transitional, VALUE), SAGA_STATE),
};
static const pawl__sql_write saga_row_updates[] = {
    SAGA_UPDATE_ROW(saga_updates[0], BY_NONE, SAGA_STATE),
    SAGA_UPDATE_ROW(saga_updates[1], BY_OTHER, OF(transitional, VALUE), SAGA_STATE),
};

static const pawl__sql_write *choose_saga_update(const void *change)
{
    const pawl_saga_update *row   = change;
    int                     which = row->table->transitional.type != PAWL_VALUE_NONE;
    return row->row != 0 ? &saga_row_updates[which] : &saga_updates[which];
}

/* ---- Events and projections ----------------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(event_append, member, as)

/* If the first event that a set appends to a stream has no predecessor, the statement inserts null as the stream's
 * name, which the column refuses. First and later events alternate in a set, so both use this write. */
static const pawl__sql_write event_append = {
    .statement  = PAWL__SQL_EVENT_INSERT,
    .parameters = FIELDS(OF(stream, TEXT), OF(version, INT), OF(event.type, TEXT),
                         OF(event.type_version, INT32), OF(event.message_id, TEXT),
                         OF(event.correlation_id, TEXT), OF(event.causation_id, TEXT),
                         OF(event.dispatch_id, UUID_OR_NULL), OF(event.at, TIME),
                         OF(event.headers, TEXT), OF(event.body, BYTES), OF(is_first, BOOL)),
    .taken      = TAKEN(EVENT_TAKEN, OF(stream, TEXT), OF(version, INT)),
    .then       = {TAKEN_WHY(version_taken), NULL_WHY(version_missing)},
};

#undef OF
#define OF(member, as) PAWL__AS(stream_snapshot_set, member, as)

#define FOLD                                                                             \
    FIELDS(OF(stream, TEXT), OF(version, INT), OF(type_version, INT32), OF(state, TEXT), \
           OF(dispatches, TEXT), OF(at, TIME))

/* Used if FOLD_SET updated no row: inserts the snapshot, unless there is a newer one, which stays. */
static const pawl__sql_write fold_add = {.statement  = PAWL__SQL_FOLD_ADD,
                                         .parameters = FOLD,
                                         .taken      = TAKEN(FOLD_TAKEN, OF(stream, TEXT))};

static const pawl__sql_write stream_snapshot_set = {
    .statement  = PAWL__SQL_FOLD_SET,
    .parameters = FOLD,
    .then       = {[PAWL__SQL_MISSED] = {.next = &fold_add}},
};

#undef OF
#define OF(member, as) PAWL__AS(checkpoint_set, member, as)

static const pawl__sql_write checkpoint_add = {
    .statement  = PAWL__SQL_CHECKPOINT_ADD,
    .parameters = FIELDS(OF(name, TEXT), OF(to, INT), OF(at, TIME)),
    .taken      = TAKEN(CHECKPOINT_TAKEN, OF(name, TEXT)),
    .then       = {MISSED_WHY(not_moved)},
};
static const pawl__sql_write checkpoint_move = {
    .statement  = PAWL__SQL_CHECKPOINT_MOVE,
    .parameters = FIELDS(OF(name, TEXT), OF(to, INT), OF(at, TIME), OF(from, INT)),
    .then       = {MISSED_WHY(not_moved)},
};

static const pawl__sql_write *choose_checkpoint(const void *change)
{
    const pawl_checkpoint_set *set = change;
    return set->from == 0 ? &checkpoint_add : &checkpoint_move;
}

/* ---- Timeouts ----------------------------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(timeout_settle, member, as)
#define RETRY_FIELDS OF(generation, INT), OF(due, TIME), OF(attempts, INT32)
#define SETTLE(name, ...)                                                      \
    {                                                                          \
        {.statement  = PAWL__SQL_TIMEOUT_##name,                               \
         .parameters = FIELDS(OF(id, UUID), NONE(UUID), __VA_ARGS__)},         \
            {.statement  = PAWL__SQL_TIMEOUT_##name,                           \
             .parameters = FIELDS(OF(id, UUID), NONE(UUID), __VA_ARGS__),      \
             .then       = {MISSED_WHY(not_leased)}},                                \
            {.statement  = PAWL__SQL_TIMEOUT_##name,                           \
             .parameters = FIELDS(OF(id, UUID), OF(owner, UUID), __VA_ARGS__), \
             .then       = {MISSED_WHY(not_leased)}},                                \
    }

/* By action, then by what must match, or the change is refused: nothing; the generation; owner and generation. */
static const pawl__sql_write timeout_settles[][3] = {
    [PAWL_TIMEOUT_REMOVE]  = SETTLE(DELETE, OF(generation, INT)),
    [PAWL_TIMEOUT_RELEASE] = SETTLE(RELEASE, OF(generation, INT)),
    [PAWL_TIMEOUT_RETRY]   = SETTLE(RETRY, RETRY_FIELDS),
};

static const pawl__sql_write *choose_timeout_settle(const void *change)
{
    const pawl_timeout_settle *settle = change;
    int                        must   = settle->has_owner ? 2 : settle->generation != 0;
    return &timeout_settles[settle->action][must];
}

#undef OF
#define OF(member, as) PAWL__AS(timeout_cancel, member, as)

static const pawl__sql_write timeout_cancel = {
    .statement  = PAWL__SQL_TIMEOUT_CANCEL,
    .parameters = FIELDS(OF(saga_id, UUID), OF(name, TEXT)),
};
static const pawl__sql_write timeout_cancel_all = {
    .statement  = PAWL__SQL_TIMEOUT_CANCEL_ALL,
    .parameters = FIELDS(OF(saga_id, UUID)),
};

static const pawl__sql_write *choose_timeout_cancel(const void *change)
{
    const pawl_timeout_cancel *cancel = change;
    return cancel->name.size != 0 ? &timeout_cancel : &timeout_cancel_all;
}

#undef OF
#define OF(member, as) PAWL__AS(timeout_set, member, as)
#define REARM_FIELDS                                                                     \
    OF(saga_type, TEXT), OF(destination, TEXT), OF(due, TIME), OF(correlation_id, TEXT), \
        OF(headers, TEXT), OF(saga_id, UUID_OR_NULL), OF(name, TEXT)

static const pawl__sql_write timeout_insert = {
    .statement = PAWL__SQL_TIMEOUT_INSERT,
    .parameters =
        FIELDS(OF(id, UUID), OF(saga_id, UUID_OR_NULL), OF(saga_type, TEXT), OF(name, TEXT),
               OF(destination, TEXT), OF(due, TIME), OF(correlation_id, TEXT), OF(headers, TEXT)),
    .then = {TAKEN_WHY(timeout_exists)},
};
static const pawl__sql_write timeout_rearm_name = {
    .statement  = PAWL__SQL_TIMEOUT_REARM_SAGA,
    .parameters = FIELDS(REARM_FIELDS),
    .then       = {MISSED_NEXT(timeout_insert), TAKEN_WHY(timeout_exists)},
};
static const pawl__sql_write timeout_rearm_id = {
    .statement  = PAWL__SQL_TIMEOUT_REARM,
    .parameters = FIELDS(REARM_FIELDS, OF(id, UUID)),
    .then       = {MISSED_NEXT(timeout_insert), TAKEN_WHY(timeout_exists)},
};

/* With is_new an existing timeout with the same id, or the same name in its saga, refuses the change. */
static const pawl__sql_write *choose_timeout_set(const void *change)
{
    const pawl_timeout_set *set = change;
    if (set->is_new)
        return &timeout_insert;
    return !pawl_uuid_is_zero(set->saga_id.uuid) && set->name.size != 0 ? &timeout_rearm_name
                                                                        : &timeout_rearm_id;
}

/* Setting a timeout again must find the row that an earlier change of the set inserts. The keys are its id, and its
 * name in its saga. */
static void keys_of_timeout(const void *change, uint32_t keys[2])
{
    const pawl_timeout_set *set = change;
    keys[0]                     = pawl__key_hash(1, &set->id, sizeof set->id);
    if (set->name.size != 0)
        keys[1] = pawl__key_hash(pawl__key_hash(2, &set->saga_id, sizeof set->saga_id),
                                 set->name.data, set->name.size);
}

/* ---- The outbox --------------------------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(outbox_add, member, as)

/* Used if the dispatch id exists: finds the row if its message is the same; otherwise the change is refused. */
static const pawl__sql_write outbox_same = {
    .statement  = PAWL__SQL_OUTBOX_SAME,
    .parameters = FIELDS(OF(dispatch_id, UUID), OF(message.type, TEXT), OF(message.body, BYTES)),
    .then       = {MISSED_WHY(differs)},
};
static const pawl__sql_write outbox_add = {
    .statement  = PAWL__SQL_OUTBOX_ADD,
    .parameters = FIELDS(OF(dispatch_id, UUID), OF(at, TIME), OF(due, TIME), OF(source, TEXT),
                         OF(version, INT), OF(index, INT32), OF(endpoint, TEXT),
                         OF(destination, TEXT), PAWL__AS_MESSAGE(outbox_add)),
    .taken      = TAKEN(OUTBOX_TAKEN, OF(dispatch_id, UUID)),
    .then       = {MISSED_NEXT(outbox_same)},
};

#undef OF
#define OF(member, as) PAWL__AS(outbox_settle, member, as)
#define ATTEMPT_FIELDS OF(outcome, OUTCOME), OF(at, TIME), OF(duration, INT), OF(error, ERROR_TEXT)

/* `attempt` numbers the new line by the attempts of the outbox row. If that number is taken, `attempt_behind` uses the
 * next free one; its select copies the insert through a temporary table, so it is not used first. */
static const pawl__sql_write attempt_behind = {
    .is_alone   = true,
    .statement  = PAWL__SQL_OUTBOX_ATTEMPT,
    .parameters = FIELDS(OF(id, INT), ATTEMPT_FIELDS),
};
static const pawl__sql_write attempt = {
    .statement  = PAWL__SQL_OUTBOX_ATTEMPT_PUT,
    .parameters = FIELDS(OF(id, INT), OF(attempts, INT32), ATTEMPT_FIELDS),
    .then       = {TAKEN_NEXT(attempt_behind)},
};
#define OUTBOX_SETTLE(...)                                                                  \
    {                                                                                       \
        .statement  = PAWL__SQL_OUTBOX_SETTLE,                                              \
        .parameters = FIELDS(OF(state, STATE), OF(attempts, INT32), OF(next_attempt, TIME), \
                             __VA_ARGS__, OF(id, INT)),                                     \
        .then       = {APPLIED_NEXT(attempt), MISSED_WHY(not_pending)},                     \
    }
static const pawl__sql_write outbox_waits      = OUTBOX_SETTLE(NONE(TIME));
static const pawl__sql_write outbox_dispatched = OUTBOX_SETTLE(OF(at, TIME));

static const pawl__sql_write *choose_outbox_settle(const void *change)
{
    const pawl_outbox_settle *settle = change;
    return settle->state == PAWL_OUTBOX_DISPATCHED ? &outbox_dispatched : &outbox_waits;
}

#undef OF
#define OF(member, as) PAWL__AS(outbox_reset, member, as)

static const pawl__sql_write reset_attempt = {
    .is_alone   = true,
    .statement  = PAWL__SQL_OUTBOX_ATTEMPT,
    .parameters = FIELDS(OF(id, INT), OF(action, RESET), OF(at, TIME), ZERO, OF(note, ERROR_TEXT)),
};
static const pawl__sql_write outbox_resets[] = {
    [PAWL_OUTBOX_RETRY]   = {.statement  = PAWL__SQL_OUTBOX_ENABLE,
                             .parameters = FIELDS(OF(at, TIME), OF(id, INT)),
                             .then       = {APPLIED_NEXT(reset_attempt), MISSED_WHY(not_dead)}},
    [PAWL_OUTBOX_DISCARD] = {.statement  = PAWL__SQL_OUTBOX_DISCARD,
                             .parameters = FIELDS(OF(at, TIME), OF(id, INT)),
                             .then       = {APPLIED_NEXT(reset_attempt), MISSED_WHY(not_dead)}},
};

static const pawl__sql_write *choose_outbox_reset(const void *change)
{
    const pawl_outbox_reset *reset = change;
    return &outbox_resets[reset->action];
}

/* ---- Aggregators -------------------------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(aggregator_add, member, as)

/* Also locks an existing flush row, so that no flush deletes it before this add is committed: by the failed insert
 * (MySQL, MariaDB) or by the statement (PostgreSQL, Oracle, SQL Server). */
static const pawl__sql_write flush_add = {
    .is_there   = true,
    .statement  = PAWL__SQL_FLUSH_ADD,
    .parameters = FIELDS(OF(partition, TEXT), OF(name, TEXT), OF(due, TIME)),
    .taken      = TAKEN(FLUSH_TAKEN, OF(partition, TEXT)),
};
static const pawl__sql_write aggregator_add = {
    .statement  = PAWL__SQL_AGGREGATOR_ADD,
    .parameters = FIELDS(OF(name, TEXT), OF(partition, TEXT), OF(key, TEXT), OF(at, TIME),
                         PAWL__AS_MESSAGE(aggregator_add)),
    .taken      = TAKEN(AGGREGATOR_TAKEN, OF(partition, TEXT), OF(key, TEXT)),
    .then       = {APPLIED_NEXT(flush_add), MISSED_NEXT(flush_add)},
};

#undef OF
#define OF(member, as) PAWL__AS(aggregator_remove, member, as)
#define REMOVE(name, ...)                                                                     \
    {                                                                                         \
        {.statement = PAWL__SQL_AGGREGATOR_DELETE_##name, .parameters = FIELDS(__VA_ARGS__)}, \
            {.statement  = PAWL__SQL_AGGREGATOR_DELETE_##name,                                \
             .parameters = FIELDS(__VA_ARGS__),                                               \
             .then       = {MISSED_WHY(no_row)}},                                                   \
    }

/* Indexes: oldest row or all rows; is_checked (a row must exist). */
static const pawl__sql_write aggregator_removes[][2] = {
    REMOVE(OLDEST, OF(partition, TEXT), OF(correlation_id, TEXT)),
    REMOVE(ALL, OF(partition, TEXT)),
};

static const pawl__sql_write *choose_aggregator_remove(const void *change)
{
    const pawl_aggregator_remove *gone = change;
    return &aggregator_removes[gone->is_all || gone->correlation_id.size == 0][gone->is_checked];
}

#undef OF
#define OF(member, as) PAWL__AS_OF(pawl__sql_removed_row, member, as)

static pawl_code why_not_removed(const void *item, pawl_error *why)
{
    const pawl__sql_removed_row *row = item;
    return pawl__why_not_removed(row->removal, row->index, why);
}

#define REMOVED FIELDS(OF(id, INT), OF(partition, TEXT), OF(session, UUID_OR_NULL))

/* Index 1: the removal names the session of the lease, and each row must still have it. */
static const pawl__sql_write removed_rows[] = {
    {.statement = PAWL__SQL_AGGREGATOR_DELETE, .parameters = REMOVED},
    {.statement  = PAWL__SQL_AGGREGATOR_DELETE,
     .parameters = REMOVED,
     .then       = {[PAWL__SQL_MISSED] = {.why = why_not_removed}}},
};

const pawl__sql_write *pawl__sql_remove_row(const void *item)
{
    const pawl__sql_removed_row *row = item;
    return &removed_rows[!pawl_uuid_is_zero(row->session.uuid)];
}

#undef OF
#define OF(member, as) PAWL__AS(leased_batch_release, member, as)

static const pawl__sql_write leased_batch_release = {
    .statement  = PAWL__SQL_AGGREGATOR_RELEASE,
    .parameters = FIELDS(OF(partition, TEXT), OF(session, UUID)),
};

#undef OF
#define OF(member, as) PAWL__AS(flush_set, member, as)

static const pawl__sql_write flush_set = {
    .statement  = PAWL__SQL_FLUSH_SET,
    .parameters = FIELDS(OF(due, TIME), OF(attempts, INT32), OF(is_dead, FLAG),
                         OF(error, ERROR_TEXT), OF(partition, TEXT)),
};
/* Deletes the flush row if its partition has no messages; otherwise flush_set updates it. */
static const pawl__sql_write flush_done = {
    .statement  = PAWL__SQL_FLUSH_DONE,
    .parameters = FIELDS(OF(partition, TEXT)),
    .then       = {MISSED_NEXT(flush_set)},
};

static const pawl__sql_write *choose_flush_set(const void *change)
{
    const pawl_flush_set *flush = change;
    return flush->is_done ? &flush_done : &flush_set;
}

/* ---- Dead letters and subscriptions ------------------------------------- */

#undef OF
#define OF(member, as) PAWL__AS(dead_set, member, as)

static const pawl__sql_write dead_insert = {
    .statement  = PAWL__SQL_DEAD_ADD,
    .parameters = FIELDS(OF(endpoint, TEXT), OF(queue, TEXT), OF(code, TEXT), OF(error, ERROR_TEXT),
                         OF(attempts, INT32), OF(crashes, INT32), OF(history, ERROR_TEXT),
                         OF(at, TIME), PAWL__AS_MESSAGE(dead_set)),
    .taken      = TAKEN(DEAD_TAKEN, OF(endpoint, TEXT), OF(message.id, TEXT)),
};
static const pawl__sql_write mark_delete = {
    .statement  = PAWL__SQL_INBOX_DELETE,
    .parameters = FIELDS(OF(endpoint, TEXT), OF(message.id, TEXT)),
};
#define KEY OF(endpoint, TEXT), OF(message.id, TEXT)
#define GONE(name, key, ...)                                                      \
    {                                                                             \
        .statement = PAWL__SQL_##name, .parameters = key, .then = { __VA_ARGS__ } \
    }
#define ANY(...) GONE(DEAD_DELETE, FIELDS(KEY), __VA_ARGS__)
#define READ(...) GONE(DEAD_DELETE_OF, FIELDS(KEY, OF(at, TIME)), __VA_ARGS__)
/* Indexes: is_checked (the dead letter of that time must exist); keeps_record (its deduplication record stays). */
static const pawl__sql_write dead_deletes[][2] = {
    {ANY(APPLIED_NEXT(mark_delete), MISSED_NEXT(mark_delete)), ANY({0})},
    {READ(APPLIED_NEXT(mark_delete), MISSED_WHY(no_letter)), READ(MISSED_WHY(no_letter))},
};

static const pawl__sql_write *choose_dead_set(const void *change)
{
    const pawl_dead_set *dead = change;
    return dead->is_remove ? &dead_deletes[dead->is_checked][dead->keeps_record] : &dead_insert;
}

#undef OF
#define OF(member, as) PAWL__AS(subscription_set, member, as)

static const pawl__sql_write subscription_sets[] = {
    {.is_there   = true,
     .statement  = PAWL__SQL_SUBSCRIPTION_ADD,
     .parameters = FIELDS(OF(type, TEXT), OF(queue, TEXT)),
     .taken      = TAKEN(SUBSCRIPTION_TAKEN, OF(type, TEXT), OF(queue, TEXT))},
    {.statement  = PAWL__SQL_SUBSCRIPTION_DELETE,
     .parameters = FIELDS(OF(type, TEXT), OF(queue, TEXT))},
};

static const pawl__sql_write *choose_subscription_set(const void *change)
{
    const pawl_subscription_set *set = change;
    return &subscription_sets[set->is_remove];
}

/* ---- History ------------------------------------------------------------ */

#undef OF
#define OF(member, as) PAWL__AS(history_add, entry.member, as)

static const pawl__sql_write history_add = {
    .statement  = PAWL__SQL_HISTORY_ADD,
    .parameters = FIELDS(OF(endpoint, TEXT), OF(source, TEXT), OF(message_id, TEXT), OF(type, TEXT),
                         OF(kind, TEXT), OF(outcome, TEXT), OF(version, INT), OF(attempts, INT32),
                         OF(duration, INT), OF(at, TIME), OF(error, ERROR_TEXT), OF(out, TEXT)),
};

/* ---- The table ---------------------------------------------------------- */

const pawl__sql_kind_rule pawl__sql_kind_rules[pawl_change_kind_count] = {
    [pawl_change_queue_settle]   = {.choose = choose_queue_settle, .apply = pawl__sql_check_settle},
    [pawl_change_inbox_entry]    = {.write = &inbox_entry},
    [pawl_change_saga_delete]    = {.write = &saga_delete},
    [pawl_change_saga_insert]    = {.choose = choose_saga_insert},
    [pawl_change_saga_update]    = {.choose = choose_saga_update},
    [pawl_change_event_append]   = {.write = &event_append},
    [pawl_change_checkpoint_set] = {.choose = choose_checkpoint},
    [pawl_change_timeout_settle] = {.choose = choose_timeout_settle},
    [pawl_change_outbox_settle]  = {.choose = choose_outbox_settle},
    [pawl_change_outbox_reset]   = {.choose = choose_outbox_reset},
    [pawl_change_leased_batch_remove]  = {.apply = pawl__sql_apply_leased_batch_remove},
    [pawl_change_timeout_cancel]       = {.choose = choose_timeout_cancel},
    [pawl_change_timeout_set]          = {.choose = choose_timeout_set, .keys = keys_of_timeout},
    [pawl_change_outbox_add]           = {.write = &outbox_add},
    [pawl_change_outbox_block]         = {.apply = pawl__sql_apply_outbox_block},
    [pawl_change_stream_snapshot_set]  = {.write = &stream_snapshot_set},
    [pawl_change_queue_send]           = {.choose = choose_queue_send},
    [pawl_change_aggregator_add]       = {.write = &aggregator_add},
    [pawl_change_aggregator_remove]    = {.choose = choose_aggregator_remove},
    [pawl_change_leased_batch_release] = {.write = &leased_batch_release},
    [pawl_change_flush_set] = {.choose = choose_flush_set, .apply = pawl__sql_apply_flush_set},
    [pawl_change_dead_set]  = {.choose = choose_dead_set},
    [pawl_change_subscription_set] = {.choose = choose_subscription_set},
    [pawl_change_history_add]      = {.write = &history_add},
};
