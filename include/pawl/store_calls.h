/* store_calls.h - the calls of a store that the engine makes, and queries to an open handle. There is one function
 * for each entry of a driver's table (store_driver.h) and for each kind of rows that `find` reads (find_rows.h). For
 * engines, tools and tests; applications need none of them. Some are declared in the headers of operations.h:
 * aggregator_get, checkpoint_get, dead_count, dead_find, history_find, outbox_find, queue_find,
 * timeout_reap. The entry aggregator_count is pawl_store_aggregator_counts here.
 *
 *     pawl_store_open -> pawl_store_worker_open
 *                     -> { claim -> read -> pawl_store_commit }
 *                     -> pawl_store_worker_close -> pawl_store_close
 *
 * store_driver.h explains each entry and its answers, find_rows.h each kind of rows. Before it calls the driver, each
 * function here
 *
 *     clears its output parameters: count 0, false, a time at PAWL_TIME_MAX. After a
 *         failure they are still clear, whatever the driver had read;
 *     answers PAWL_EUNSUPPORTED, naming the call, if the driver lacks the entry or the kind of rows;
 *     answers PAWL_EINVAL in a process that did not open the handle (after fork), on a
 *         handle in mode PAWL_OPEN_SCHEMA, and for an invalid argument: a lease that is not positive, an owner
 *         or session that is zero, a lease's name that is empty or too long, a saga key that the saga's table
 *         has no column for, an unknown state;
 *     connects again if the connection was lost; if it cannot, the answer says why.
 *
 * Threads: a handle belongs to one thread at a time.
 * Memory: results live in the arena that is passed in. Arguments are borrowed.
 * Tests: tests/unit/store/test_store_calls.c; src/conformance makes every call on every store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CALLS_H
#define PAWL_STORE_CALLS_H

#include "pawl/finding_rows.h"
#include "pawl/operations.h"
#include "pawl/scan_rows.h"
#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The handle ---------------------------------------------------------- */

/* Promises of the driver, read once after open. */
#define PAWL_STORE_CREATES 1u        /* creates its tables at open */
#define PAWL_STORE_HAS_SQL 2u        /* handler_transaction_begin and native work */
#define PAWL_STORE_HAS_WAKE 4u       /* wait() notices other processes' commits */
#define PAWL_STORE_FREE_CLAIMS 8u    /* to release a queue claim costs no statement */
#define PAWL_STORE_ROW_LOCKS 16u     /* saga_load locks rows on request */
#define PAWL_STORE_KNOWS_REFUSED 32u /* commit names what is refused with PAWL_EUNKNOWN, too */
/* With HAS_WAKE: a wake-up is remembered until the handle claims again, so that a caller may wait twice without a
 * claim between. For servers, where each claim that is saved is one statement less. */
#define PAWL_STORE_KEEPS_WAKE 64u
/* The driver has columns of times with an offset, or refuses them itself. Without this promise the core refuses sagas
 * with such a column (pawl_correlation.with_offset). */
#define PAWL_STORE_HAS_OFFSETS 128u
/* A property of the handle, not of its driver: wait() itself looks for work from time to time, so its caller need not
 * wake up for that. */
#define PAWL_STORE_WAITS_LONG 256u
/* The store runs in the process, so a read costs microseconds. Idle workers query other stores less often. */
#define PAWL_STORE_IN_PROCESS 512u

/* The driver's promises: bits above. */
PAWL_API unsigned pawl_store_promises(const pawl_store *store);
/* The driver's scheme, "sqlite". This text and the next one live as long as the handle. */
PAWL_API const char *pawl_store_scheme(const pawl_store *store);
/* A text that is equal for handles on the same data in one process; undefined for a handle that is not connected. */
PAWL_API const char *pawl_store_identity(const pawl_store *store);
/* The handle's worker: made at open, in the store from worker_open on. */
PAWL_API pawl_worker_id pawl_store_worker(const pawl_store *store);
/* The worker's epoch: raised by each worker_open, and when the outcome of a commit was unknown. */
PAWL_API int64_t pawl_store_epoch(const pawl_store *store);
/* Sets the worker of the next worker_open or worker_close, to end a worker that crashed. Only on a handle that has no
 * worker in the store. */
PAWL_API void pawl_store_worker_set(pawl_store *store, pawl_worker_id worker);
/* Whether worker_open was done, and worker_close was not. */
PAWL_API bool pawl_store_is_attached(const pawl_store *store);
/* Sets name and version of the program; worker_open writes them to the worker's row. Both texts are
 * copied; '?' replaces control characters and bytes that are no UTF-8; a longer text is cut to
 * PAWL_NAME_SIZE_MAX bytes, "..." at the end included. Empty at the start. */
PAWL_API void pawl_store_program_set(pawl_store *store, pawl_text program, pawl_text version);
/* For drivers: `host`, `program`, `program_version` and `pawl_version` of the row that worker_open
 * writes. The other members are zero. Lives as long as the handle. */
PAWL_API const pawl_worker_info *pawl_store_program(const pawl_store *store);

/* ---- Workers ------------------------------------------------------------- */

/* Part of the text of PAWL_EBUSY from worker_open: the login may not end the worker's older session, which lasts
 * until the server ends it. Contract tests of a take-over skip such a login. */
#define PAWL_STORE_KEEPS_SESSION "the login may not end another session"

PAWL_API pawl_code pawl_store_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                          pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_worker_close(pawl_store *store, pawl_time now, pawl_error *error);
PAWL_API pawl_code pawl_store_worker_list(pawl_store *store, pawl_arena *arena,
                                          pawl_worker_info **items, size_t *count,
                                          pawl_error *error);
/* Workers that crashed and whose rows no worker has ended; see store_driver.h. */
PAWL_API pawl_code pawl_store_worker_crashed(pawl_store *store, pawl_arena *arena,
                                             pawl_worker_info **items, size_t *count,
                                             pawl_error *error);
/* Writes heartbeats for workers of other handles: a thread does so for workers whose handlers are running.
 * PAWL_EUNSUPPORTED: the store needs no heartbeats; see store_driver.h. */
PAWL_API pawl_code pawl_store_worker_heartbeat(pawl_store *store, const pawl_worker_id *workers,
                                               size_t count, pawl_time now, pawl_error *error);

/* Finds out whether a commit took effect; pawl_store_commit calls it after an unknown outcome.
 * Raises the worker's epoch, so that a commit that is still under way is refused. */
PAWL_API pawl_code pawl_store_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                                      pawl_error *error);

/* ---- Claims and leases --------------------------------------------------- */

PAWL_API pawl_code pawl_store_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                          pawl_arena *arena, pawl_queue_rows *rows,
                                          pawl_error *error);
PAWL_API pawl_code pawl_store_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                            pawl_arena *arena, pawl_timeout_rows *rows,
                                            pawl_error *error);
PAWL_API pawl_code pawl_store_leased_batch_claim(pawl_store                    *store,
                                                 const pawl_leased_batch_claim *claim,
                                                 pawl_arena *arena, pawl_leased_batch *leased,
                                                 pawl_error *error);
PAWL_API pawl_code pawl_store_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                           size_t count_max, pawl_arena *arena,
                                           pawl_outbox_rows *rows, pawl_error *error);
PAWL_API pawl_code pawl_store_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                                   bool *is_ours, pawl_error *error);
PAWL_API pawl_code pawl_store_unlead(pawl_store *store, pawl_text name, pawl_error *error);
PAWL_API pawl_code pawl_store_lead_list(pawl_store *store, pawl_time now, pawl_arena *arena,
                                        pawl_lead_row **items, size_t *count, pawl_error *error);

/* ---- What handlers run on ------------------------------------------------ */

PAWL_API pawl_code pawl_store_inbox_known(pawl_store *store, pawl_text endpoint,
                                          const pawl_text *ids, size_t count, bool *known,
                                          pawl_error *error);
PAWL_API pawl_code pawl_store_saga_load(pawl_store *store, const pawl_saga_table *table,
                                        pawl_saga_key key, const pawl_value *values, size_t count,
                                        pawl_saga_lock lock, pawl_arena *arena, pawl_saga_row *rows,
                                        pawl_error *error);
PAWL_API pawl_code pawl_store_saga_count(pawl_store *store, const pawl_saga_table *table,
                                         int64_t *count, pawl_error *error);
PAWL_API pawl_code pawl_store_aggregator_counts(pawl_store *store, pawl_text partition,
                                                const pawl_text *types, size_t type_count,
                                                pawl_time now, pawl_aggregator_counts *counts,
                                                pawl_error *error);
PAWL_API pawl_code pawl_store_flush_list(pawl_store *store, pawl_text name, pawl_time due_max,
                                         size_t count_max, pawl_arena *arena, pawl_flush_rows *rows,
                                         pawl_error *error);
PAWL_API pawl_code pawl_store_subscriptions(pawl_store *store, pawl_arena *arena,
                                            pawl_subscriptions *list, pawl_error *error);
PAWL_API pawl_code pawl_store_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                           const int64_t *except, size_t except_count,
                                           pawl_time *placed, int64_t *seq, pawl_error *error);
PAWL_API pawl_code pawl_store_queue_retried(pawl_store *store, const pawl_retried_query *query,
                                            pawl_arena *arena, pawl_queue_rows *rows,
                                            pawl_error *error);
PAWL_API pawl_code pawl_store_next_due(pawl_store *store, pawl_text queue,
                                       const pawl_text *aggregators, size_t aggregator_count,
                                       pawl_next_due *next, pawl_error *error);
PAWL_API pawl_code pawl_store_timeout_foreign(pawl_store *store, pawl_text own, pawl_time now,
                                              pawl_arena *arena, pawl_foreign_rows *rows,
                                              pawl_error *error);

/* ---- The event store ----------------------------------------------------- */

PAWL_API pawl_code pawl_store_stream_load(pawl_store *store, const pawl_stream_read *reads,
                                          size_t count, pawl_arena *arena, pawl_stream *streams,
                                          pawl_error *error);
PAWL_API pawl_code pawl_store_event_list(pawl_store *store, const pawl_event_query *query,
                                         pawl_arena *arena, pawl_event_rows *rows,
                                         pawl_error *error);
PAWL_API pawl_code pawl_store_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                           pawl_error *error);

/* ---- Lists and sweeping -------------------------------------------------- */

PAWL_API pawl_code pawl_store_queue_list(pawl_store *store, pawl_text queue, size_t count_max,
                                         pawl_arena *arena, pawl_queue_rows *rows,
                                         pawl_error *error);
PAWL_API pawl_code pawl_store_timeout_list(pawl_store *store, pawl_saga_id saga_id,
                                           size_t count_max, pawl_arena *arena,
                                           pawl_timeout_rows *rows, pawl_error *error);
/* A list of delivered or discarded rows, and one of dead letters, may read the whole table. */
PAWL_API pawl_code pawl_store_outbox_list(pawl_store *store, pawl_outbox_state state,
                                          size_t count_max, pawl_arena *arena,
                                          pawl_outbox_rows *rows, pawl_error *error);
PAWL_API pawl_code pawl_store_outbox_attempts(pawl_store *store, int64_t id, pawl_arena *arena,
                                              pawl_attempt_rows *rows, pawl_error *error);
PAWL_API pawl_code pawl_store_dead_list(pawl_store *store, pawl_text endpoint, size_t count_max,
                                        pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error);
PAWL_API pawl_code pawl_store_stats(pawl_store *store, pawl_time now, pawl_arena *arena,
                                    pawl_stats *stats, pawl_error *error);
PAWL_API pawl_code pawl_store_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                    bool *more, pawl_error *error);

/* A page of at most count_max live rows of one kind, after a given row, by key. Rows that are written
 * meanwhile may be seen or not. PAWL_EINVAL: the kind is unknown, or a scan of sagas has no table. */
PAWL_API pawl_code pawl_store_scan(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                                   pawl_scan_rows *rows, pawl_error *error);

/* Findings about the database, its server and its settings. */
PAWL_API pawl_code pawl_store_diagnose(pawl_store *store, const pawl_diagnosis *asked,
                                       pawl_arena *arena, pawl_finding_rows *rows,
                                       pawl_error *error);

/* ---- Watching ------------------------------------------------------------ */

/* A call of a store that ended. */
typedef struct pawl_store_call {
    const pawl_store *store;
    const char *name; /* "commit", "queue_claim", "queue_find": the call's, without pawl_store_ */
    pawl_code   code;
    const char *text;         /* of the failure; else empty */
    int64_t     microseconds; /* connecting again included */
} pawl_store_call;

/* Called on the thread of the store call, before that returns. May read the handle, but must not call a
 * store. */
typedef void pawl_store_trace_fn(const pawl_store_call *call, void *context);

/* From now on `trace` is called after each store call that returns a code, of any handle of the process: also
 * if the call is refused before the driver is called, and for worker_open and resolve inside of a
 * commit. NULL, the default, turns it off. Set it while no other thread makes calls. */
PAWL_API void pawl_store_trace_set(pawl_store_trace_fn *trace, void *context);
/* A trace function that logs at level debug: "sqlite: worker ID: commit: OK after 213 us". */
PAWL_API pawl_store_trace_fn pawl_store_trace_log;

/* ---- Waiting, and SQL of one's own --------------------------------------- */

PAWL_API pawl_code pawl_store_wait(pawl_store *store, int64_t microseconds, int wake_fd,
                                   pawl_error *error);
PAWL_API pawl_code pawl_store_handler_transaction_begin(pawl_store *store, pawl_error *error);
/* Harmless without a handler transaction, and in a process that did not open the handle. */
PAWL_API void pawl_store_handler_transaction_end(pawl_store *store);
/* False: SQL of a handler ended the transaction. True: it did not, or only the commit can tell. */
PAWL_API bool pawl_store_in_transaction(pawl_store *store);
/* True: the connection of the last handler transaction was lost while handlers ran, not afterwards. */
PAWL_API bool pawl_store_handler_transaction_lost(pawl_store *store);
/* The C type behind the driver's connection; NULL when it has none to give. */
PAWL_API const char *pawl_store_native_type(const pawl_store *store);
/* The driver's connection, when `type` is the name of its C type ("sqlite3", "PGconn"); else
 * NULL, and also where the driver has none, or the handle is of another process. */
PAWL_API void *pawl_store_native(pawl_store *store, const char *type);
/* Whether the driver has the entry `enlist`. */
PAWL_API bool pawl_store_can_enlist(const pawl_store *store);
/* Applies changes in the caller's transaction (store_driver.h). Checks the set as pawl_store_commit does; PAWL_EINVAL
 * also when `native` is NULL. */
PAWL_API pawl_code pawl_store_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                                     pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
