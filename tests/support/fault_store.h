/* fault_store.h - a store driver that stands before any other one and makes the
 * n-th call go wrong.
 *
 *     fault_bind("main", "sqlite:/...") -> open "fault:main" as any store
 *     fault_plan_set(&plan) -> run the scenario -> fault_is_met, fault_counts
 *     fault_plan_set(NULL)
 *
 * The calls of all handles on all bound names are counted together, so a run
 * that repeats meets the same calls in the same order. A test raises n until the
 * plan is no longer met: then the scenario ran untouched.
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
    X(worker_beat)

/* Kinds of rows that find has: an operation each. */
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
    fault_op_any, /* in a plan: every call that its kind is about */
#define FAULT_OP(name) fault_op_##name,
#define FAULT_FIND(name, kind) fault_op_##name,
    FAULT_OPS(FAULT_OP) FAULT_FINDS(FAULT_FIND)
#undef FAULT_OP
#undef FAULT_FIND
        fault_op_count
} fault_op;

typedef enum fault_kind {
    FAULT_NONE,      /* only counts */
    FAULT_BEFORE,    /* fails with `code` before it does anything */
    FAULT_AFTER,     /* does everything, then the answer is lost: PAWL_ELOST, and of a commit
                        PAWL_EUNKNOWN */
    FAULT_UNKNOWN,   /* a commit that does nothing and says PAWL_EUNKNOWN */
    FAULT_LATE,      /* the same, but it reaches the store right after the resolve */
    FAULT_JUST_LATE, /* the same, but it reaches the store right before the resolve */
    FAULT_DEAF_DONE, /* a commit that is applied, says PAWL_EUNKNOWN, and the next resolve fails */
    FAULT_DEAF_LOST, /* the same, and nothing is applied */
    FAULT_DELAY,     /* `clock` moves by `delay` while the call is under way */
    FAULT_AGAIN,     /* rows of a claim are handed out once more by the next claim of the kind */
    FAULT_STEAL,     /* right after a claim its lease ends; another worker takes the rows and gives
                        them back */
    FAULT_REORDER,   /* rows of a claim that are due at one time and independent change places */
} fault_kind;

/* The list of refusals after a commit in doubt. A driver that does not know promises nothing of it
 * (PAWL_STORE_KNOWS_REFUSED), and may leave anything there. */
typedef enum fault_list {
    FAULT_LIST_WHOLE,   /* the groups left out, as a driver that promises it */
    FAULT_LIST_EMPTY,   /* nothing */
    FAULT_LIST_PART,    /* the first half of it */
    FAULT_LIST_EARLIER, /* other groups: those of a round before */
    FAULT_LIST_COUNT
} fault_list;

/* Whether the messages may be handled in either order. */
typedef bool fault_independent_fn(const pawl_message *left, const pawl_message *right);

typedef struct fault_plan {
    fault_kind            kind;
    fault_op              op;
    long                  n;      /* the n-th of them, from 1; 0: each of them, or by chance */
    int                   chance; /* n is 0: of a thousand calls so many, at random */
    pawl_code             code;   /* BEFORE */
    fault_list            list;   /* after a commit in doubt */
    pawl_clock           *clock;  /* DELAY */
    int64_t               delay;  /* DELAY */
    uint64_t              seed;   /* of chance and of REORDER */
    fault_independent_fn *is_independent; /* REORDER; NULL: none are */
} fault_plan;

typedef struct fault_counts {
    long total;
    long by_op[fault_op_count];
    long eligible; /* calls that the plan's kind and op are about */
} fault_counts;

/* Called after every commit that reached the store and was applied, with what
 * was refused of it. */
typedef void fault_observe_fn(const pawl_changes *changes, const pawl_refusals *refused,
                              void *context);

/* Registers the driver when it is not yet, and makes "fault:NAME" lead to a
 * store. `name` and `url` are copied. */
void fault_bind(const char *name, const char *url);
/* The table of a store before another one: `own`, with the promises of the one behind. An entry that its driver leaves out
 * is none of the store's before it either. */
void fault_take_promises(pawl_store_ops *ops, const pawl_store_ops *own,
                         const pawl_store_ops *behind);
/* native_type of handles that are opened from now on; "": nothing; NULL: that of the store behind.
 * Borrowed. */
extern const char *fault_native_type;
/* As with a driver that does not know `may_differ` of an outbox_add. */
extern bool fault_is_strict;
/* Begins to count anew. The plan is copied; NULL: only counts. */
void fault_plan_set(const fault_plan *plan);
void fault_observe(fault_observe_fn *observe, void *context);

/* The plan's call was reached. */
bool         fault_is_met(void);
fault_op     fault_op_met(void); /* which it was; fault_op_any before */
fault_counts fault_counts_now(void);
const char  *fault_op_name(fault_op op);
fault_op     fault_op_of(pawl_find_kind kind);
/* How the commit ended that LATE or JUST_LATE held back: PAWL_EFENCED is the right
 * answer to a late one. PAWL_EUNKNOWN while it is held back. */
pawl_code fault_late_code(void);
/* Rows that AGAIN handed out once more, or that changed places by REORDER. */
long fault_row_count(void);

#endif
