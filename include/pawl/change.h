/* change.h - the change set: all writes of one or more handled messages. A commit applies it; there
 * is no other way to write to a store.
 *
 *     unit    the changes that belong to one handled message
 *     group   units that depend on one another; applied whole or refused whole
 *
 * Every change has the numbers of its unit and its group (from 0 within the
 * set). Each kind of change has one array; kinds are applied in the order
 * of PAWL_CHANGE_KINDS. Callers need not sort: a
 * driver sorts changes if its database needs that against deadlocks.
 *
 * Memory: everything a change set points to is borrowed for the call.
 * Times: `due` is business time; everything else is machine time.
 * Tests: tests/contract. Reasons and rules: docs/ARCHITECTURE.md, "Commit".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CHANGE_H
#define PAWL_CHANGE_H

#include "pawl/base.h"
#include "pawl/change_event_store.h"
#include "pawl/change_history.h"
#include "pawl/change_rows.h"
#include "pawl/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* kind, whether it may be refused. Applied in this order. */
#define PAWL_CHANGE_KINDS(X)       \
    X(queue_settle, true)          \
    X(inbox_entry, true)           \
    X(saga_delete, true)           \
    X(saga_insert, true)           \
    X(saga_update, true)           \
    X(event_append, true)          \
    X(checkpoint_set, true)        \
    X(timeout_settle, true)        \
    X(outbox_settle, true)         \
    X(outbox_reset, true)          \
    X(leased_batch_remove, true)   \
    X(timeout_cancel, false)       \
    X(timeout_set, true)           \
    X(outbox_add, true)            \
    X(outbox_block, false)         \
    X(stream_snapshot_set, false)  \
    X(queue_send, true)            \
    X(aggregator_add, false)       \
    X(aggregator_remove, true)     \
    X(leased_batch_release, false) \
    X(flush_set, false)            \
    X(dead_set, true)              \
    X(subscription_set, false)     \
    X(history_add, false)

typedef enum pawl_change_kind {
#define PAWL__KIND(name, is_refusable) pawl_change_##name,
    PAWL_CHANGE_KINDS(PAWL__KIND)
#undef PAWL__KIND
        pawl_change_kind_count
} pawl_change_kind;

/* Counts of a worker since its last commit; added to its row by the fence. */
typedef struct pawl_counters {
    int64_t messages;  /* units that were settled, timeouts and flushes included */
    int64_t timeouts;  /* of these, timeouts */
    int64_t flushes;   /* of these, aggregator flushes */
    int64_t failures;  /* handler runs that failed */
    int64_t conflicts; /* units refused and run again */
    int64_t dead;      /* dead letters */
} pawl_counters;

typedef struct pawl_changes {
    pawl_uuid     commit_id; /* new for each call of commit */
    pawl_time     now;       /* machine time */
    uint32_t      group_count;
    uint32_t      unit_count;
    pawl_counters counters;
#define PAWL__KIND(name, is_refusable) \
    struct {                           \
        pawl_##name *items;            \
        size_t       count;            \
    } name;
    PAWL_CHANGE_KINDS(PAWL__KIND)
#undef PAWL__KIND
} pawl_changes;

/* A refused change and the reason. The commit left out its whole group. */
typedef struct pawl_refusal {
    pawl_change_kind kind;
    uint32_t         unit;
    uint32_t         group;
    pawl_code        reason; /* ECONFLICT, EDUPLICATE, EGONE or EMISMATCH */
    pawl_text        text;   /* names the thing; in the arena of the call */
} pawl_refusal;

typedef struct pawl_refusals {
    pawl_arena   *arena; /* given by the caller: texts and items live there */
    pawl_refusal *items;
    size_t        count;
    size_t        capacity;
} pawl_refusals;

/* Name of a kind of change: "saga_update". */
PAWL_API const char *pawl_change_kind_name(pawl_change_kind kind);
/* For drivers: adds a refusal. PAWL_ENOMEM when the arena is exhausted. */
PAWL_API pawl_code pawl_refusals_add(pawl_refusals *refusals, pawl_change_kind kind, uint32_t unit,
                                     uint32_t group, pawl_code reason, pawl_text text);

#ifdef __cplusplus
}
#endif
#endif
