/* suite.h - the contract suite: the required behaviour of every store, as cases that run on any driver through the
 * public calls (pawl/store_calls.h) and operations. Cases include this header; run.h runs them.
 *
 * A case is a function that returns if everything is as expected. A failing EXPECT leaves the case at once (longjmp).
 * The runner frees handles and memory of the case, which belong to its suite struct.
 *
 * Threads: each thread of a case has a suite struct of its own (suite_threads). Needs no test library, since it is part
 * of the command (`pawl conformance`).
 * Tests: tests/contract runs it on every store, and on stores with a defect
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_SUITE_H
#define PAWL_CONFORMANCE_SUITE_H

#include "pawl/base.h"
#include "pawl/change.h"
#include "pawl/store_calls.h"
#include "pawl/value.h"

#include <setjmp.h>
#include <stdio.h>

/* ---- Where cases run ---------------------------------------------------- */

typedef struct suite_address {
    char url[1000];
    char prefix[32]; /* of all tables; empty: the driver's default */
} suite_address;

typedef enum suite_table {
    SUITE_ORDER,  /* main text */
    SUITE_TWIN,   /* main text, of another type */
    SUITE_TICKET, /* main integer */
    SUITE_PARCEL, /* main uuid */
    SUITE_ALARM,  /* main time, transitional time */
    SUITE_MOVE,   /* main text, transitional integer */
    SUITE_SHIFT,  /* main integer, transitional text; its names have spaces */
    SUITE_PLAIN,  /* no correlation */
    SUITE_TABLE_COUNT
} suite_table;

#define SUITE_STORES_MAX 16

#define SUITE_ROUNDS 40 /* rounds of a race between threads */

typedef struct suite {
    const suite_address   *address;
    unsigned               rounds; /* SUITE_ROUNDS, or fewer on slow stores */
    suite_address          other;  /* of suite_open_other, after its first call */
    const pawl_saga_table *tables[SUITE_TABLE_COUNT];
    pawl_arena            *arena;
    pawl_random            random;
    pawl_store            *stores[SUITE_STORES_MAX];
    size_t                 store_count;
    pawl_error             error;
    jmp_buf                failed;
    char                   failure[1200];  /* place and reason; empty: none */
    const char            *not_applicable; /* why the case was skipped; NULL: it was not */
    bool (*is_over)(
        void *context); /* true: the case ends at its next expectation of a call; or NULL */
    void *context;
} suite;

typedef void suite_function(suite *s);

typedef struct suite_case {
    const char     *name; /* begins with the contract items it proves */
    suite_function *run;
} suite_case;

typedef struct suite_cases {
    const char       *noun;
    const suite_case *items;
    size_t            count;
} suite_cases;

#define SUITE_CASES(noun_, array)                                                      \
    {                                                                                  \
        .noun = (noun_), .items = (array), .count = sizeof(array) / sizeof((array)[0]) \
    }

extern const suite_cases cases_alarm, cases_aggregator, cases_concurrent, cases_dead,
    cases_diagnose, cases_died, cases_events, cases_flush, cases_group, cases_history, cases_inbox,
    cases_event_store, cases_event_store_race, cases_event_store_random, cases_lead, cases_number,
    cases_op_aggregator, cases_op_dead, cases_op_enable, cases_op_event_store, cases_op_message,
    cases_op_outbox, cases_op_saga, cases_op_snapshot, cases_op_timeout, cases_outbox, cases_prefix,
    cases_program, cases_queue, cases_queue_find, cases_random, cases_saga, cases_saga_lock,
    cases_saga_value, cases_set, cases_size, cases_snapshot, cases_stats, cases_subscription,
    cases_sweep, cases_text, cases_timeout, cases_timeout_set, cases_scan, cases_worker;
extern const suite_cases cases_op_partition, cases_op_pause, cases_op_projection,
    cases_op_saga_remove, cases_op_take, cases_op_amend, cases_op_dead_changed;

/* ---- Expectations ------------------------------------------------------- */

_Noreturn void suite_fail(suite *s, const char *file, int line, const char *format, ...)
    PAWL_PRINTF(4, 5);
/* Leaves the case, as this store does not promise what it needs. */
_Noreturn void suite_not_applicable(suite *s, const char *reason);
/* Skips the case unless the store promises that transactions can overlap, and end in another order than they began. Fails
 * within seconds if that is not so. Before anything is written. */
void suite_need_overlap(suite *s, const pawl_store *store);
void suite_expect_integer(suite *s, int64_t actual, int64_t expected, const char *what,
                          const char *file, int line);
void suite_expect_text(suite *s, pawl_text actual, pawl_text expected, const char *what,
                       const char *file, int line);
void suite_expect_code(suite *s, pawl_code actual, pawl_code expected, const char *what,
                       const char *file, int line);
/* Name of the code; of an unknown one its number. */
const char *suite_code_name(suite *s, pawl_code code);

#define EXPECT(s, condition) \
    ((condition) ? (void)0 : suite_fail((s), __FILE__, __LINE__, "expected: %s", #condition))
#define EXPECT_EQ(s, actual, expected) \
    suite_expect_integer((s), (int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define EXPECT_TEXT(s, actual, expected) \
    suite_expect_text((s), (actual), (expected), #actual, __FILE__, __LINE__)
/* `call` must pass &s->error, whose text is shown if the code differs. */
#define EXPECT_CODE(s, call, expected) \
    suite_expect_code((s), (call), (expected), #call, __FILE__, __LINE__)
/* Not by EXPECT_CODE: the failure shows the call as the case writes it, without its macros expanded. */
#define EXPECT_OK(s, call) suite_expect_code((s), (call), PAWL_OK, #call, __FILE__, __LINE__)
/* A call that reads rows into `rows` and must succeed. The rows may then be read without a look at their count: after
 * the last one are zeroed rows, so that the case of a driver that returns too few fails, and does not crash. */
#define READ_ROWS(s, call, rows) SUITE__ARRAY(s, call, #call, (rows).items, (rows).count)
#define READ_STREAM(s, call, stream) SUITE__ARRAY(s, call, #call, (stream).events, (stream).count)
#define SUITE__ARRAY(s, call, text, items, count)                       \
    (suite_expect_code((s), (call), PAWL_OK, text, __FILE__, __LINE__), \
     (items) =                                                          \
         suite_rows_padded((s), (items), (count), sizeof *(items), text, __FILE__, __LINE__))
void *suite_rows_padded(suite *s, const void *items, size_t count, size_t size, const char *what,
                        const char *file, int line);

/* ---- Handles ------------------------------------------------------------ */

/* Start time of cases; drivers read no clock. */
#define SUITE_NOW INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define SUITE_LEASE PAWL_MINUTES(5)

/* Opens a handle with a worker of endpoint "suite". Closed at the end of the case. */
pawl_store *suite_open(suite *s);
/* A handle without a worker. */
pawl_store *suite_open_bare(suite *s);
/* Opens a handle with a deadline of half a second. */
pawl_store *suite_open_brief(suite *s);
/* Opens a handle under another prefix in the same database, without saga tables; creates the tables. */
pawl_store *suite_open_other(suite *s);
void        suite_close(suite *s, pawl_store *store);
/* Ends the worker, but leaves the handle open. */
void suite_end_worker(suite *s, pawl_store *store);

/* ---- Threads ------------------------------------------------------------ */

typedef struct suite_thread {
    suite   *s; /* of this thread only */
    unsigned index;
    void    *context; /* shared by all threads */
} suite_thread;
typedef void suite_thread_function(suite_thread *thread);

#define SUITE_THREADS_MAX 16

/* Runs the function in `count` threads and waits for them. A failure in a thread fails the case. */
void suite_threads(suite *s, unsigned count, suite_thread_function *function, void *context);

/* ---- Making rows -------------------------------------------------------- */

#define TEXT(literal) PAWL_TEXT(literal)

pawl_text suite_printf(suite *s, const char *format, ...) PAWL_PRINTF(2, 3);
/* `size` bytes of all values, zero included, in an order that no driver can guess. */
pawl_text suite_bytes(suite *s, size_t size);
/* The text, repeated `count` times. */
pawl_text suite_repeat(suite *s, pawl_text text, size_t count);
/* The JSON without blanks outside of strings: stores keep the values of a saga's state, not their spelling. */
pawl_text suite_compact(suite *s, pawl_text json);

/* Ids computed from a number. */
pawl_uuid        suite_uuid(unsigned number);
pawl_saga_id     suite_saga_id(unsigned number);
pawl_timeout_id  suite_timeout_id(unsigned number);
pawl_session_id  suite_session_id(unsigned number);
pawl_dispatch_id suite_dispatch_id(unsigned number);

/* A message of type "PlaceOrder"; body and headers contain the id. */
pawl_message suite_message(suite *s, pawl_text id);
/* An event of type "Deposited", caused by the message; its body contains the id. */
pawl_event suite_event(suite *s, pawl_text message_id);
void       suite_expect_message(suite *s, const pawl_message *actual, const pawl_message *expected,
                                const char *file, int line);
#define EXPECT_MESSAGE(s, actual, expected) \
    suite_expect_message((s), (actual), (expected), __FILE__, __LINE__)

/* ---- Change sets -------------------------------------------------------- */

/* A change set to which changes are added, for the current unit and group. */
typedef struct suite_set {
    suite       *s;
    uint32_t     unit;
    uint32_t     group;
    pawl_changes changes;
    size_t       capacities[pawl_change_kind_count];
} suite_set;

suite_set suite_changes(suite *s);
void      suite_unit(suite_set *set, uint32_t unit, uint32_t group);

#define SUITE__KIND(name, is_refusable) void suite_add_##name(suite_set *set, pawl_##name change);
PAWL_CHANGE_KINDS(SUITE__KIND)
#undef SUITE__KIND

/* Adds a change: ADD(&set, queue_send, .queue = TEXT("orders"), ...). */
#define ADD(set, kind, ...) suite_add_##kind((set), (pawl_##kind){__VA_ARGS__})

/* Applies the changes in the handler transaction that is open on the handle. */
void suite_enlist(suite_set *set, pawl_store *store);
/* Commits, and returns the code. The refusals are in the suite's arena. */
pawl_code suite_try(suite_set *set, pawl_store *store, pawl_refusals *refused);
/* Commits; all groups must be applied. */
void suite_commit_at(suite_set *set, pawl_store *store, const char *file, int line);
/* Commits; at least one group must be refused. */
pawl_refusals suite_refused_at(suite_set *set, pawl_store *store, const char *file, int line);
/* Commits a set of one change, which must be refused for this reason. */
void suite_refuse_at(suite_set *set, pawl_store *store, pawl_code reason, const char *file,
                     int line);

#define COMMIT(set, store) suite_commit_at((set), (store), __FILE__, __LINE__)
#define REFUSED(set, store) suite_refused_at((set), (store), __FILE__, __LINE__)

/* Commits one change, which must be applied. */
#define COMMIT_ONE(s, store, kind, ...)                     \
    do {                                                    \
        suite_set one = suite_changes(s);                   \
        suite_add_##kind(&one, (pawl_##kind){__VA_ARGS__}); \
        suite_commit_at(&one, (store), __FILE__, __LINE__); \
    } while (0)
/* Commits one change, which must be refused for this reason. */
#define REFUSE_ONE(s, store, reason, kind, ...)                       \
    do {                                                              \
        suite_set one = suite_changes(s);                             \
        suite_add_##kind(&one, (pawl_##kind){__VA_ARGS__});           \
        suite_refuse_at(&one, (store), (reason), __FILE__, __LINE__); \
    } while (0)

/* The refusal of the unit, or NULL. */
const pawl_refusal *suite_refusal(const pawl_refusals *refused, uint32_t unit);
bool                suite_text_has(pawl_text text, pawl_text part);

/* ---- Reads and claims that must succeed --------------------------------- */

void suite_send(suite *s, pawl_store *store, pawl_text queue, const char *id, pawl_time due);
pawl_queue_rows suite_claim(suite *s, pawl_store *store, pawl_text queue, pawl_time due_max,
                            size_t count_max);
pawl_queue_rows suite_queue(suite *s, pawl_store *store, pawl_text queue);
bool            suite_knows(suite *s, pawl_store *store, pawl_text endpoint, pawl_text id);

pawl_saga_row suite_load(suite *s, pawl_store *store, suite_table table, pawl_saga_key key,
                         pawl_value value);
pawl_saga_row suite_load_id(suite *s, pawl_store *store, suite_table table, unsigned number);
int64_t       suite_saga_count(suite *s, pawl_store *store, suite_table table);
/* Inserts an order of that number, with `ref` as correlation value. */
void suite_insert_order(suite *s, pawl_store *store, unsigned number, const char *ref);

pawl_timeout_rows suite_timeouts(suite *s, pawl_store *store);
/* Claims timeouts for destination "orders" and the session of that number. */
pawl_timeout_rows suite_claim_timeouts(suite *s, pawl_store *store, unsigned session, pawl_time now,
                                       size_t count_max);

pawl_leased_batch suite_rows(suite *s, pawl_store *store, pawl_text partition);
/* Leases rows of types "PlaceOrder" and "CancelOrder". */
pawl_leased_batch      suite_snapshot_of(suite *s, pawl_store *store, pawl_text partition,
                                         unsigned session, pawl_time now);
pawl_aggregator_counts suite_counts(suite *s, pawl_store *store, pawl_text partition,
                                    pawl_time now);

pawl_outbox_rows suite_outbox_rows(suite *s, pawl_store *store, pawl_outbox_state state);
/* Finds the row with suite_dispatch_id(number), which must exist. */
pawl_outbox_row suite_outbox_row(suite *s, pawl_store *store, unsigned number);
/* Settles an attempt; after a transient failure the row is due again a microsecond later. */
void suite_outbox_settle(suite *s, pawl_store *store, unsigned number, pawl_attempt_outcome outcome,
                         pawl_time now);
pawl_attempt_rows suite_attempts(suite *s, pawl_store *store, int64_t id);
pawl_dead_rows    suite_dead_rows(suite *s, pawl_store *store, pawl_text endpoint);
/* Reads the whole stream, with its snapshot if the version of its state is at most the given one. */
pawl_stream suite_stream(suite *s, pawl_store *store, pawl_text stream,
                         int32_t snapshot_version_max);
int64_t     suite_checkpoint(suite *s, pawl_store *store, pawl_text name);
pawl_stats  suite_stats_of(suite *s, pawl_store *store, pawl_time now);

#endif
