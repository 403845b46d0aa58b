/* fault_store.h - a store driver that wraps any other one and makes the n-th call fail.
 *
 *     fault_bind("main", "sqlite:/...") -> open "fault:main" as any store
 *     fault_plan_set(&plan) -> run the scenario -> fault_was_reached, fault_counts
 *     fault_plan_set(NULL)
 *
 * Calls of all handles on all bound names are counted together, so a repeated run has the same calls in the same order.
 * A test increases n until the plan's call is not reached any more: then the scenario ran without a fault.
 *
 * Threads: one. A plan and its counts belong to the program.
 * Tests: tests/fault/test_fault_store_plans.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_FAULT_STORE_H
#define PAWL_TESTS_FAULT_STORE_H

#include "pawl/endpoint.h"
#include "pawl/store_driver.h"

/* Calls that can fail, counted by name. */
#define FAULT_OPS(X)             \
    X(open)                      \
    X(worker_open)               \
    X(worker_close)              \
    X(commit)                    \
    X(resolve)                   \
    X(queue_claim)               \
    X(queue_oldest)              \
    X(inbox_known)               \
    X(saga_load)                 \
    X(saga_count)                \
    X(timeout_claim)             \
    X(timeout_reap)              \
    X(leased_batch_claim)        \
    X(aggregator_count)          \
    X(outbox_claim)              \
    X(lead)                      \
    X(unlead)                    \
    X(next_due)                  \
    X(stats)                     \
    X(sweep)                     \
    X(handler_transaction_begin) \
    X(enlist)                    \
    X(stream_load)               \
    X(event_number)              \
    X(checkpoint_get)            \
    X(scan)                      \
    X(worker_crashed)            \
    X(diagnose)                  \
    X(dead_count)                \
    X(worker_heartbeat)

/* Kinds of rows that `find` reads: each is an operation. */
#define FAULT_FINDS(X)                        \
    X(queue_find, PAWL_FIND_MESSAGES)         \
    X(queue_retried, PAWL_FIND_RETRIED)       \
    X(timeout_list, PAWL_FIND_TIMEOUTS)       \
    X(timeout_foreign, PAWL_FIND_FOREIGN)     \
    X(outbox_find, PAWL_FIND_OUTBOX)          \
    X(outbox_attempts, PAWL_FIND_ATTEMPTS)    \
    X(dead_find, PAWL_FIND_DEAD)              \
    X(event_list, PAWL_FIND_EVENTS)           \
    X(history_find, PAWL_FIND_HISTORY)        \
    X(aggregator_get, PAWL_FIND_PARTITION)    \
    X(flush_list, PAWL_FIND_FLUSHES)          \
    X(subscriptions, PAWL_FIND_SUBSCRIPTIONS) \
    X(lead_list, PAWL_FIND_LEADS)             \
    X(worker_list, PAWL_FIND_WORKERS)

typedef enum fault_op {
    fault_op_any, /* in a plan: every call of the kinds that can fail that way */
#define FAULT_OP(name) fault_op_##name,
#define FAULT_FIND(name, kind) fault_op_##name,
    FAULT_OPS(FAULT_OP) FAULT_FINDS(FAULT_FIND)
#undef FAULT_OP
#undef FAULT_FIND
        fault_op_count
} fault_op;

typedef enum fault_kind {
    FAULT_NONE,    /* only counts */
    FAULT_BEFORE,  /* fails with `code` before it does anything */
    FAULT_AFTER,   /* succeeds, but the answer is lost: PAWL_ELOST, or PAWL_EUNKNOWN of a commit */
    FAULT_UNKNOWN, /* a commit that does nothing and returns PAWL_EUNKNOWN */
    FAULT_LATE,    /* as UNKNOWN, but applied right after the resolve */
    FAULT_JUST_LATE, /* as UNKNOWN, but applied right before the resolve */
    FAULT_DONE_RESOLVE_FAILS, /* a commit that is applied but returns PAWL_EUNKNOWN; the next resolve fails */
    FAULT_LOST_RESOLVE_FAILS, /* as DONE_RESOLVE_FAILS, but not applied */
    FAULT_DELAY,              /* `clock` advances by `delay` during the call */
    FAULT_AGAIN, /* rows of a claim are returned again by the next claim of that kind */
    FAULT_STEAL, /* right after a claim its lease expires; another worker claims and releases the rows */
    FAULT_REORDER, /* independent rows of a claim with equal due time are shuffled */
} fault_kind;

/* The list of refusals after a commit with unknown outcome. Without PAWL_STORE_KNOWS_REFUSED a driver may return
 * anything. */
typedef enum fault_list {
    FAULT_LIST_WHOLE,   /* the groups left out, as with the promise */
    FAULT_LIST_EMPTY,   /* nothing */
    FAULT_LIST_PART,    /* the first half */
    FAULT_LIST_EARLIER, /* groups of an earlier round */
    FAULT_LIST_COUNT
} fault_list;

/* May the messages be handled in either order? */
typedef bool fault_independent_fn(const pawl_message *left, const pawl_message *right);

typedef struct fault_plan {
    fault_kind            kind;
    fault_op              op;
    long                  n;      /* the n-th such call, from 1; 0: every call, or by `chance` */
    int                   chance; /* if n is 0: so many of a thousand calls, at random */
    pawl_code             code;   /* BEFORE */
    fault_list            list;   /* after a commit with unknown outcome */
    pawl_clock           *clock;  /* DELAY */
    int64_t               delay;  /* DELAY */
    uint64_t              seed;   /* of chance and of REORDER */
    fault_independent_fn *is_independent; /* REORDER; NULL: none are */
} fault_plan;

typedef struct fault_counts {
    long total;
    long by_op[fault_op_count];
    long eligible; /* calls that the plan's kind and op apply to */
} fault_counts;

/* Called after every commit that was applied, with its refusals. */
typedef void fault_observe_fn(const pawl_changes *changes, const pawl_refusals *refused,
                              void *context);

/* Registers the driver at first use, and maps "fault:NAME" to a store. `name` and `url` are copied. */
void fault_bind(const char *name, const char *url);
/* Fills the table of a wrapping store: the entries of `own` and the promises of the wrapped driver. Entries that the
 * wrapped driver lacks are left out. */
void fault_take_promises(pawl_store_ops *ops, const pawl_store_ops *own,
                         const pawl_store_ops *behind);
/* native_type of handles opened from now on; "": none; NULL: that of the wrapped store. Borrowed. */
extern const char *fault_native_type;
/* Acts as a driver that ignores `may_differ` of outbox_add. */
extern bool fault_is_strict;
/* Restarts the counts. The plan is copied; NULL: only counts. */
void fault_plan_set(const fault_plan *plan);
void fault_observe(fault_observe_fn *observe, void *context);

/* Was the plan's call reached? */
bool         fault_was_reached(void);
fault_op     fault_op_met(void); /* the operation of that call; fault_op_any before */
fault_counts fault_counts_now(void);
const char  *fault_op_name(fault_op op);
fault_op     fault_op_of(pawl_find_kind kind);
/* Result of the commit that LATE or JUST_LATE held back: PAWL_EFENCED is right for LATE. PAWL_EUNKNOWN while it is
 * held. */
pawl_code fault_late_code(void);
/* Number of rows that AGAIN returned twice, or that REORDER moved. */
long fault_row_count(void);

#endif
