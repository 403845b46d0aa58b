/* override.c - tables: in which order changes are sent, and which sets have statements of their own (set.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/set.h"
#include "store/sql/connection.h"
#include "store/sql/saga_text.h"

#include <string.h>

/* ---- Orders --------------------------------------------------------------- */

/* Keys of a set are sorted: of two commits with the same keys one waits for the other, and there is no deadlock. */

#define COMPARE_NUMBERS(a, b) (((a) > (b)) - ((a) < (b)))
#define COMPARE_IDS(a, b) pawl_uuid_compare((a).uuid, (b).uuid)
#define BY(name, type, compare, member)                       \
    static int by_##name(const void *left, const void *right) \
    {                                                         \
        const type *a = left, *b = right;                     \
        return compare(a->member, b->member);                 \
    }
#define BY_TWO(name, type, compare, member, compare_next, next)     \
    static int by_##name(const void *left, const void *right)       \
    {                                                               \
        const type *a = left, *b = right;                           \
        int         order = compare(a->member, b->member);          \
        return order != 0 ? order : compare_next(a->next, b->next); \
    }

BY_TWO(letter, pawl_dead_set, pawl_text_compare, endpoint, pawl_text_compare, message.id)
BY_TWO(subscription, pawl_subscription_set, pawl_text_compare, type, pawl_text_compare, queue)
BY(checkpoint, pawl_checkpoint_set, pawl_text_compare, name)
BY(stream, pawl_stream_snapshot_set, pawl_text_compare, stream)
BY_TWO(event, pawl_event_append, pawl_text_compare, stream, COMPARE_NUMBERS, version)
BY(settle, pawl_timeout_settle, COMPARE_IDS, id)
BY_TWO(cancel, pawl_timeout_cancel, COMPARE_IDS, saga_id, pawl_text_compare, name)
BY(id, pawl_timeout_set, COMPARE_IDS, id)
BY(flush, pawl_flush_set, pawl_text_compare, partition)
BY_TWO(mark, pawl_inbox_entry, pawl_text_compare, message_id, pawl_text_compare, endpoint)
BY(claim, pawl_queue_settle, COMPARE_NUMBERS, seq)
BY(row, pawl_outbox_settle, COMPARE_NUMBERS, id)
BY(dead_row, pawl_outbox_reset, COMPARE_NUMBERS, id)
BY(removed_row, pawl__sql_removed_row, COMPARE_NUMBERS, id)

/* By saga and name; those without a name by id. */
static int by_name(const void *left, const void *right)
{
    const pawl_timeout_set *a = left, *b = right;
    int                     order = COMPARE_IDS(a->saga_id, b->saga_id);
    if (order == 0)
        order = pawl_text_compare(a->name, b->name);
    return order != 0 || a->name.size != 0 ? order : by_id(left, right);
}

/* The first members of all changes of a saga. */
typedef struct saga_change {
    PAWL__CHANGE_BASE
    const pawl_saga_table *table;
    pawl_saga_id           id;
} saga_change;
_Static_assert(offsetof(saga_change, id) == offsetof(pawl_saga_insert, id) &&
                   offsetof(saga_change, id) == offsetof(pawl_saga_update, id) &&
                   offsetof(saga_change, id) == offsetof(pawl_saga_delete, id),
               "saga changes begin alike");

static int by_saga(const void *left, const void *right)
{
    saga_change a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    int order = a.table == b.table ? 0 : pawl_text_compare(a.table->name, b.table->name);
    return order != 0 ? order : COMPARE_IDS(a.id, b.id);
}

/* Sorts by values: another commit that inserts the same saga has another id, and waits in their unique indexes. */
static int by_new_saga(const void *left, const void *right)
{
    const pawl_saga_insert *a = left, *b = right;
    int                     order = pawl__compare_by_table(left, right);
    if (order == 0)
        order = pawl_value_compare(&a->main, &b->main);
    if (order == 0)
        order = pawl_value_compare(&a->transitional, &b->transitional);
    return order != 0 ? order : COMPARE_IDS(a->id, b->id);
}

pawl__compare_fn *const pawl__pg_keys[pawl_change_kind_count] = {
    [pawl_change_queue_settle]        = by_claim,
    [pawl_change_saga_delete]         = by_saga,
    [pawl_change_saga_insert]         = by_new_saga,
    [pawl_change_saga_update]         = by_saga,
    [pawl_change_checkpoint_set]      = by_checkpoint,
    [pawl_change_timeout_settle]      = by_settle,
    [pawl_change_outbox_settle]       = by_row,
    [pawl_change_outbox_reset]        = by_dead_row,
    [pawl_change_leased_batch_remove] = by_removed_row,
    [pawl_change_timeout_cancel]      = by_cancel,
    [pawl_change_stream_snapshot_set] = by_stream,
    [pawl_change_flush_set]           = by_flush,
    [pawl_change_dead_set]            = by_letter,
    [pawl_change_subscription_set]    = by_subscription,
};

bool pawl__pg_has_twins(const void **timeouts, size_t count, const void **room)
{
    static pawl__compare_fn *const orders[]  = {by_id, by_name};
    bool                           has_twins = false;
    for (size_t o = 0; o < 2; o++) {
        memcpy(room, timeouts, count * sizeof *room);
        pawl__sort_changes(room, count, orders[o]);
        for (size_t i = 1; !has_twins && i < count; i++)
            has_twins = orders[o](room[i - 1], room[i]) == 0;
    }
    return has_twins;
}

/* ---- Statements ------------------------------------------------------------ */

static const pawl__field_list event_key =
    PAWL__FIELDS(PAWL__AS(event_append, stream, TEXT), PAWL__AS(event_append, version, INT));
static const pawl__field_list saga_version =
    PAWL__FIELDS(PAWL__AS(saga_update, id.uuid, UUID), PAWL__AS(saga_update, version, INT));

#define OWN(name, ...) [PAWL__SQL_##name] = {.statement = PAWL__PG_##name, __VA_ARGS__}

static const pawl__pg_override overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    /* Rows that the handle has claimed are found by their ctids. */
    OWN(QUEUE_DELETE, .is_claimed = true),
    OWN(QUEUE_RETRY, .is_claimed = true),
    [PAWL__SQL_INBOX_MARK] = {.order = by_mark, .key = {1, 2}},
    /* In the guarded round it fails by itself for a version that is missing, or taken. */
    OWN(EVENT_INSERT, .order = by_event, .key = {1, 2}, .sure = PAWL__PG_EVENT_INSERT_SURE,
        .taken = {PAWL__PG_EVENT_TAKEN, &event_key}),
    /* Timeouts are found in a subquery per item, and deleted or changed by ctid: with statistics of an empty table
     * the planner would take another index for as good, or a scan of a partial one. Where another transaction may
     * be changing a row, it is locked first. */
    OWN(TIMEOUT_DELETE, .before = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}}, .owner = 2),
    OWN(TIMEOUT_RELEASE, .before = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}}, .owner = 2),
    OWN(TIMEOUT_RETRY, .before = {{PAWL__PG_TIMEOUT_LOCK_ID, 1}}, .owner = 2),
    OWN(TIMEOUT_CANCEL, .before = {{PAWL__PG_TIMEOUT_LOCK, 2}}),
    /* A saga's timeouts are in two partial indexes: one of those with a name, one of those without. */
    [PAWL__SQL_TIMEOUT_CANCEL_ALL] = {.statement = PAWL__PG_TIMEOUT_CANCEL_OWN,
                                      .before    = {{PAWL__PG_TIMEOUT_LOCK_NAMED, 1},
                                                    {PAWL__PG_TIMEOUT_CANCEL_NAMED, 1},
                                                    {PAWL__PG_TIMEOUT_LOCK_OWN, 1}}},
    /* Upserts that return their keys. The guarded form only inserts: if timeouts exist, the next round is not
     * guarded. */
    OWN(TIMEOUT_REARM_SAGA, .order = by_name, .key = {2, 4}, .is_upsert = true,
        .sure = PAWL__PG_TIMEOUT_REARM_SURE),
    OWN(TIMEOUT_REARM, .order = by_id, .is_upsert = true),
    [PAWL__SQL_TIMEOUT_INSERT] = {.order = by_id, .key = {1}},
    /* Not sorted: the ids follow the order of the change set. */
    [PAWL__SQL_OUTBOX_ADD] = {.key = {1}},
    /* Changed by ctid: the partial index of a state still has entries of rows that have left the state. */
    OWN(OUTBOX_SETTLE, ),
    OWN(OUTBOX_ENABLE, ),
    OWN(OUTBOX_DISCARD, ),
    /* History is added to rows that exist; in the guarded round all do. */
    [PAWL__SQL_OUTBOX_ATTEMPT_PUT] = {.statement = PAWL__PG_OUTBOX_ATTEMPT_NEXT,
                                      .sure      = PAWL__PG_OUTBOX_ATTEMPT_PUT},
    OWN(OUTBOX_ATTEMPT, ),
    /* Found by id, and locked first if the change names no session: a claim may be leasing the row. */
    OWN(AGGREGATOR_DELETE, .before = {{PAWL__PG_AGGREGATOR_LOCK_ID, 1}}, .owner = 3),
    /* FLUSH_ADD locks an existing flush row; FLUSH_DONE locks it before it looks for messages of the partition. So
     * one waits for the other, and a flush cannot delete the row of a partition that has just got a message. */
    OWN(FLUSH_ADD, ),
    [PAWL__SQL_FLUSH_DONE] = {.before = {{PAWL__PG_FLUSH_LOCK, 1}}, .is_always = true},
    /* Sent item by item: an item deletes the oldest row that earlier items left, or any number of rows. */
    OWN(AGGREGATOR_DELETE_OLDEST, .before = {{PAWL__PG_AGGREGATOR_LOCK_OLDEST, 2}},
        .is_single = true),
    [PAWL__SQL_AGGREGATOR_DELETE_ALL] = {.is_single = true},
    OWN(DEAD_DELETE_OF, ),
};

#define OF_TABLE(name, own, ...) \
    [PAWL__SQL_SAGA_##name] = {.statement = PAWL__SQL_ON_SAGA + PAWL__PG_SAGA_##own, __VA_ARGS__}

/* Statements on a saga's own table find rows by the ctid that the load has read, or look it up by id. An update to
 * a value that another saga has is left out. */
static const pawl__pg_override saga_overrides[pawl__sql_saga_statement_count] = {
    OF_TABLE(INSERT, INSERT, .key = {1}),
    OF_TABLE(UPDATE_ROW, UPDATE, ),
    OF_TABLE(UPDATE, UPDATE_ID, .taken = {PAWL__SQL_ON_SAGA + PAWL__PG_SAGA_TAKEN, &saga_version}),
    OF_TABLE(DELETE, DELETE, ),
};

const pawl__pg_override *pawl__pg_override_of(const pawl__sql_write *write)
{
    return write->is_saga ? &saga_overrides[write->statement] : &overrides[write->statement];
}
