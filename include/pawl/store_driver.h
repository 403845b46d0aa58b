/* store_driver.h - the interface of a store's driver. Only authors of drivers need it; applications include
 * pawl.h.
 *
 * A driver has exactly one write path, commit(); every guarantee pawl makes
 * rests on that call applying each group of changes whole or not at all.
 *
 *     open -> worker_open -> { queue_claim, timeout_claim -> loads ->
 *             handlers run -> commit }                one batch, one commit
 *             { outbox_claim -> transport -> commit } at-least-once send
 *     -> worker_close -> close
 *
 * Threads: a handle belongs to one thread at a time; open one for each thread.
 *     Only interrupt() may be called from another one.
 * Time: drivers never read a clock; every "now" is an argument. `due_max` is
 *     business time, `now` is machine time.
 * Memory: results live in the arena that is passed in. Arguments are borrowed.
 * Calls: the engine, tools and tests call the functions of store_calls.h, never an entry.
 *     Those check arguments and clear output parameters, so a driver need not. No
 *     entry is called in a child process (except close, which must not touch the parent's
 *     connection there), nor on a handle in mode PAWL_OPEN_SCHEMA (except schema and close).
 * Absent entries: NULL, or past ops_size. open, close, schema, worker_open, worker_close, commit
 *     and resolve are required. Without wait() a wait ends by time or wake_fd alone, which no finished driver
 *     does (E29). The call of any other absent entry answers PAWL_EUNSUPPORTED, as operations that need it do.
 * Contract tests: tests/contract. A driver is finished when they pass against
 *     it, faults included.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_DRIVER_H
#define PAWL_STORE_DRIVER_H

#include "pawl/find_rows.h"
#include "pawl/store_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The core allocates `store_size` zeroed bytes; the driver's struct begins with this one. */
struct pawl_store {
    const pawl_store_ops *ops;
    const char           *system_prefix;
    pawl_open_mode        mode;
    int64_t               deadline_ms;  /* limit of every call; from the options, rounded up */
    pawl_worker_id        worker;       /* set by the core before open */
    bool                  is_attached;  /* worker_open was done */
    uint64_t              commit_count; /* makes commit ids unique within the worker */
    int64_t               epoch;        /* written by worker_open and resolve */
    char        identity[200]; /* set in open: equal for handles on the same data in one process */
    const char *scheme;        /* as the URL has it: a driver may serve two schemes */
    bool
        waits_long; /* set in open: wait() itself looks for work from time to time, so it may last an
                                  hour; it is called without ready() */
};

struct pawl_store_ops {
    size_t      ops_size;   /* sizeof(pawl_store_ops) the driver was built with */
    const char *scheme;     /* "sqlite" */
    size_t      store_size; /* of the driver's struct */
    unsigned    promises;
    unsigned    abi; /* PAWL_ABI that the driver was built with */

    /* Connects; with CREATE makes missing tables, else checks the tables. With SCHEMA it only reads the URL, and schema()
     * connects, so that the start of a program does not wait for the servers of its routes. After a
     * failed open the core still calls close(). PAWL_EUNREACHABLE, EDENIED, ENOTSTORE, ESCHEMA, ECONFIG. */
    pawl_code (*open)(pawl_store *store, const char *url, const pawl_store_options *options,
                      pawl_error *error);
    void (*close)(pawl_store *store);
    /* Runs a schema verb. For PRINT `store` is not open, for other verbs it is open with PAWL_OPEN_SCHEMA. */
    pawl_code (*schema)(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error);

    /* Inserts the worker's row (store->worker, and what pawl_store_program tells) and writes
     * store->epoch. Called before a handle's first claim or commit, and again if its row was deleted. PAWL_EBUSY: an older
     * session of the worker still exists; the text has PAWL_STORE_KEEPS_SESSION if the login may not end it. */
    pawl_code (*worker_open)(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                             pawl_error *error);
    /* Frees all claims and leases of the handle and deletes its worker's row; the counters are kept. */
    pawl_code (*worker_close)(pawl_store *store, pawl_time now, pawl_error *error);

    /* Applies every group that can be applied; names the others.
     *
     * PAWL_OK        the groups not in `refused` are durable; the refused ones
     *                left no trace.
     * PAWL_EFENCED   nothing was applied: this worker was replaced.
     * PAWL_ECONFLICT  nothing was applied: a constraint that the database checks
     *                at the commit was violated by the changes.
     * PAWL_EUNKNOWN  the driver cannot tell whether the commit took effect; the core
     *                then calls resolve(). A driver that promises
     *                KNOWS_REFUSED must have listed all groups that the transaction
     *                left out. The list of any other driver is ignored,
     *                and if the set has changes that can be refused, the caller
     *                gets PAWL_EUNKNOWN.
     * any other      nothing was applied; the retry class says what to do.
     *
     * Ends the queue claims that it settles; claims of refused
     * groups stay with the handle. Ends an open handler transaction. A set of only queue
     * releases needs no fence and writes nothing: its messages are free at once. */
    pawl_code (*commit)(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error);
    /* Raises the worker's epoch, so that a commit still under way is refused,
     * and tells whether `commit_id` took effect. May be called again. */
    pawl_code (*resolve)(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error);

    /* Claims up to count_max due rows that are free, by (due, seq), until they have size_max. The claims
     * last until the rows are settled or released, or the worker is closed or dead. Rows
     * that size_max left out may stay locked until the handle's next commit. If a driver returns more rows
     * than the limit, here and in every call with a limit, the core fails the call with PAWL_EPERSIST. */
    pawl_code (*queue_claim)(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error);
    /* Reads rows of a kind by conditions (find_rows.h). All calls that list rows use it. */
    pawl_find_rows_fn *find;
    /* The queue order (placed, seq) of the oldest due row, claimed or not, that is
     * neither waiting (waiting_since) nor retried (attempts), and not
     * one of `except`. PAWL_TIME_MAX and INT64_MAX when there is none. */
    pawl_code (*queue_oldest)(pawl_store *store, pawl_text queue, pawl_time due_max,
                              const int64_t *except, size_t except_count, pawl_time *placed,
                              int64_t *seq, pawl_error *error);
    /* known[i]: the endpoint has a deduplication record of ids[i]. */
    pawl_code (*inbox_known)(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                             size_t count, bool *known, pawl_error *error);
    /* Sets rows[i] to the row of values[i]; its `presence` tells whether it exists. Each call makes a new
     * copy. */
    pawl_code (*saga_load)(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                           const pawl_value *values, size_t count, pawl_saga_lock lock,
                           pawl_arena *arena, pawl_saga_row *rows, pawl_error *error);
    pawl_code (*saga_count)(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                            pawl_error *error);

    /* Leases due rows that are free or whose lease expired, earliest first;
     * the lease is durable, though it need not survive a power cut. */
    pawl_code (*timeout_claim)(pawl_store *store, const pawl_timeout_claim *claim,
                               pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
    /* Clears leases with expires <= now; `*count` is how many. */
    pawl_code (*timeout_reap)(pawl_store *store, pawl_time now, int64_t *count, pawl_error *error);

    pawl_code (*leased_batch_claim)(pawl_store *store, const pawl_leased_batch_claim *claim,
                                    pawl_arena *arena, pawl_leased_batch *leased,
                                    pawl_error *error);
    pawl_code (*aggregator_count)(pawl_store *store, pawl_text partition, const pawl_text *types,
                                  size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                                  pawl_error *error);

    /* Pending rows of the endpoint (empty: of any) whose time has come, in the
     * order of their ids, rows of one ordering key in the order (version, index).
     * Only the leader calls it. */
    pawl_code (*outbox_claim)(pawl_store *store, pawl_text endpoint, pawl_time now,
                              size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                              pawl_error *error);
    /* Takes or renews the named lease for this handle's worker; `*is_ours`: the worker
     * has it. A lease is free when its worker ended or crashed, or after `lease`. */
    pawl_code (*lead)(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                      bool *is_ours, pawl_error *error);
    pawl_code (*unlead)(pawl_store *store, pawl_text name, pawl_error *error);

    pawl_code (*next_due)(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                          size_t aggregator_count, pawl_next_due *next, pawl_error *error);
    pawl_code (*stats)(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                       pawl_error *error);
    /* Deletes a bounded number of old rows; `*more`: some may be left. */
    pawl_code (*sweep)(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                       pawl_error *error);

    /* Blocks up to `microseconds` until `wake_fd` can be read or another
     * process committed; reads nothing from wake_fd. */
    pawl_code (*wait)(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error);
    /* Makes the call under way end soon with PAWL_EINTERRUPTED. From any thread. */
    void (*interrupt)(pawl_store *store);

    /* Begins a handler transaction, for handlers with their own SQL and for pessimistic sagas, before the saga is
     * loaded (and locked). commit or handler_transaction_end ends it. native() is the connection inside it. */
    pawl_code (*handler_transaction_begin)(pawl_store *store, pawl_error *error);
    /* Rolls the handler transaction back; the handle's claims stay, unless the handler ended it. Harmless without
     * one. */
    void (*handler_transaction_end)(pawl_store *store);
    void *(*native)(pawl_store *store);
    /* Applies changes without a fence, on the caller's connection `native` inside the caller's
     * transaction. `store` is any open handle on the same data; it supplies the names of the tables. */
    pawl_code (*enlist)(pawl_store *store, void *native, const pawl_changes *changes,
                        pawl_error *error);

    /* Sets streams[i] to the answer to reads[i]: a consistent read of each stream, without
     * commits that are under way. */
    pawl_code (*stream_load)(pawl_store *store, const pawl_stream_read *reads, size_t count,
                             pawl_arena *arena, pawl_stream *streams, pawl_error *error);
    /* Assigns global positions to at most count_max committed events that have none, in the
     * order of their seqs; `*count` is how many. Durable when it returns. Only the leader calls
     * it. A store with serial commits assigns them at insertion, and answers 0. */
    pawl_code (*event_number)(pawl_store *store, size_t count_max, int64_t *count,
                              pawl_error *error);
    /* The global position that the checkpoint of that name is at; 0: it was never set. */
    pawl_code (*checkpoint_get)(pawl_store *store, pawl_text name, int64_t *position,
                                pawl_error *error);

    /* Name of the C type of native() ("sqlite3", "PGconn"), by which handlers request the connection
     * (pawl_native). NULL: no handler gets the connection. */
    const char *native_type;

    /* Called before every entry of this table but open, close, schema, resolve, interrupt,
     * handler_transaction_end and native: reconnects if the connection was lost; a failure is the call's
     * answer. NULL: the store has no connection. */
    pawl_code (*ready)(pawl_store *store, pawl_error *error);

    /* For tools: live rows of one kind after a row, by key, claimed or not. The core reads outbox rows
     * and events with find, and never requests them here. */
    pawl_code (*scan)(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                      pawl_scan_rows *rows, pawl_error *error);

    /* Crashed workers of any endpoint whose rows still exist. A worker that only missed heartbeats is not listed, nor one
     * of whose process another worker lives. worker_close for such a worker, on a handle
     * without a worker of its own, deletes its row. NULL, or PAWL_EUNSUPPORTED from a store that knows workers
     * only by heartbeats: crashes are not noticed. */
    pawl_code (*worker_crashed)(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                size_t *count, pawl_error *error);

    /* For operators: checks the database, its server and its settings for what would
     * block work or lose it. Changes nothing. A check that the database refuses is a finding;
     * only a lost connection fails the call. */
    pawl_code (*diagnose)(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                          pawl_finding_rows *rows, pawl_error *error);

    /* For people: counts of dead letters by the queue to which a retry would send them, by name. */
    pawl_code (*dead_count)(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                            pawl_error *error);

    /* Writes the heartbeats of these workers, whose handlers are running, from a handle without a worker of its own. A
     * worker without a row is skipped. With count 0 nothing is sent. NULL, or PAWL_EUNSUPPORTED from a
     * store that needs no heartbeats. */
    pawl_code (*worker_heartbeat)(pawl_store *store, const pawl_worker_id *workers, size_t count,
                                  pawl_time now, pawl_error *error);

    /* Whether the handler transaction is still open after the handlers' own SQL, as far as the client knows without a
     * round trip. NULL: only the commit can tell. */
    bool (*in_transaction)(pawl_store *store);

    /* Whether the last handler transaction was lost with its connection, as noticed by the first use of the connection
     * after the handlers (handler_transaction_end or commit). NULL: never. */
    bool (*handler_transaction_lost)(pawl_store *store);

    /* Append below. */
};

/* Registers a driver of your own; call it before any open. PAWL_EDUPLICATE: another driver has the scheme. */
PAWL_API pawl_code pawl_store_register(const pawl_store_ops *ops, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
