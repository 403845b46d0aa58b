/* store_driver.h - operations of a storage driver, for those who write a driver; an application
 * needs pawl.h alone.
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
 *     So a driver need not check what these check, nor empty what it answers into: no
 *     entry is called in a child process (but close, which leaves the parent's connection
 *     alone there), nor on a handle that was opened for its schema alone.
 * Absent: NULL, or past ops_size. open, close, schema, worker_open, worker_close, commit
 *     and resolve may not be absent. Without wait() time alone ends a wait. Any other one:
 *     its call answers PAWL_EUNSUPPORTED; operations that need it fail so, not the rest.
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
    int64_t               deadline_ms; /* every call keeps to it; made of the options, rounded up */
    pawl_worker_id        worker;      /* set by the core before open */
    bool                  is_attached; /* worker_open was done */
    uint64_t              commit_count; /* makes commit ids unique within the worker */
    int64_t               epoch;        /* written by worker_open and resolve */
    char        identity[200]; /* set in open: equal for handles on the same data in one process */
    const char *scheme;        /* as the URL has it: one driver may answer to two */
    bool
        waits_long; /* set in open: wait() itself looks for work that nobody told of, so it may last
                                  an hour; it is called without ready() */
};

struct pawl_store_ops {
    size_t      ops_size;   /* sizeof(pawl_store_ops) the driver was built with */
    const char *scheme;     /* "sqlite" */
    size_t      store_size; /* of the driver's struct */
    unsigned    promises;
    unsigned    abi; /* PAWL_ABI that the driver was built with */

    /* Connects; with CREATE makes what is missing, else checks it. With SCHEMA it reads the URL alone, so that a
     * program that starts does not wait for the servers of its routes, and schema() connects. After a
     * failed open the core still calls close(). PAWL_EUNREACHABLE, EDENIED, ENOTSTORE, ESCHEMA, ECONFIG. */
    pawl_code (*open)(pawl_store *store, const char *url, const pawl_store_options *options,
                      pawl_error *error);
    void (*close)(pawl_store *store);
    /* `store` is not opened for PRINT, opened with PAWL_OPEN_SCHEMA else. */
    pawl_code (*schema)(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                        pawl_line_fn *line, void *context, pawl_error *error);

    /* Inserts the worker's row (store->worker, and what pawl_store_program tells) and writes
     * store->epoch. Called before a handle's first claim or commit; again once its row is gone. PAWL_EBUSY: an older
     * session of the worker lasts; PAWL_STORE_KEEPS_SESSION in the text where the login may not end it. */
    pawl_code (*worker_open)(pawl_store *store, pawl_text endpoint, pawl_text types, pawl_time now,
                             pawl_error *error);
    /* Frees all claims and leases of the handle and ends its row; its counters are kept. */
    pawl_code (*worker_close)(pawl_store *store, pawl_time now, pawl_error *error);

    /* Applies every group that can be applied; names the others.
     *
     * PAWL_OK        the groups not in `refused` are durable; the refused ones
     *                left no trace.
     * PAWL_EFENCED   nothing was applied: this worker was replaced.
     * PAWL_ECONFLICT  nothing was applied: a constraint that the database checks
     *                at the commit refused it. The fault is with what was written.
     * PAWL_EUNKNOWN  the driver cannot tell. Only this code permits "maybe";
     *                the core answers it with resolve(). A driver that promises
     *                KNOWS_REFUSED has listed what the transaction in doubt left
     *                out, all of it; the list of any other driver is not believed,
     *                and a caller with changes that can be refused is told that
     *                the outcome is unknown.
     * any other      nothing was applied; the retry class says what to do.
     *
     * Ends all queue claims of this handle that it settles; claims of refused
     * groups stay with the handle. Ends an open handler transaction. A set of queue releases
     * alone needs no fence and nothing written: its messages are free at once. */
    pawl_code (*commit)(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                        pawl_error *error);
    /* Raises the worker's epoch, which shuts out whatever is still under way,
     * and says whether `commit_id` landed. May be called again. */
    pawl_code (*resolve)(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                         pawl_error *error);

    /* Up to count_max due rows nobody has claimed, by (due, seq), of size_max in all. They
     * are this handle's until settled, released or the worker is closed or dead. Rows
     * that size_max left out may be kept from others until the handle's next commit. More rows than
     * were asked for, here and in every answer with a limit, fail the call with PAWL_EPERSIST. */
    pawl_code (*queue_claim)(pawl_store *store, const pawl_queue_claim *claim, pawl_arena *arena,
                             pawl_queue_rows *rows, pawl_error *error);
    /* Rows for the engine, for people and for tests: find_rows.h says of each kind which ones, and
     * what they are. Every call that lists rows asks it. */
    pawl_find_rows_fn *find;
    /* The queue order (placed, seq) of the oldest due row, claimed ones counted,
     * that neither waits (waiting_since) nor was retried (attempts) and is not
     * one of `except`. PAWL_TIME_MAX and INT64_MAX when there is none. */
    pawl_code (*queue_oldest)(pawl_store *store, pawl_text queue, pawl_time due_max,
                              const int64_t *except, size_t except_count, pawl_time *placed,
                              int64_t *seq, pawl_error *error);
    /* known[i]: the endpoint has a deduplication record of ids[i]. */
    pawl_code (*inbox_known)(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                             size_t count, bool *known, pawl_error *error);
    /* rows[i] is the row of values[i]; its presence says whether there is one. A fresh
     * copy each time. */
    pawl_code (*saga_load)(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                           const pawl_value *values, size_t count, pawl_saga_lock lock,
                           pawl_arena *arena, pawl_saga_row *rows, pawl_error *error);
    pawl_code (*saga_count)(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                            pawl_error *error);

    /* Leases due rows that are free or whose lease expired, earliest first;
     * the lease is durable, though it need not survive a power cut. */
    pawl_code (*timeout_claim)(pawl_store *store, const pawl_timeout_claim *claim,
                               pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
    /* Clears leases with expires <= now; how many. */
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
    /* Takes or keeps the named lease for this handle's worker; `*is_ours` says
     * whether it is ours. Free when its worker ended, crashed, or after `lease`. */
    pawl_code (*lead)(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                      bool *is_ours, pawl_error *error);
    pawl_code (*unlead)(pawl_store *store, pawl_text name, pawl_error *error);

    pawl_code (*next_due)(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                          size_t aggregator_count, pawl_next_due *next, pawl_error *error);
    pawl_code (*stats)(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                       pawl_error *error);
    /* Deletes a bounded number of old rows; `*more` when some may be left. */
    pawl_code (*sweep)(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                       pawl_error *error);

    /* Blocks up to `microseconds` until `wake_fd` can be read or another
     * process committed; reads nothing from wake_fd. */
    pawl_code (*wait)(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error);
    /* From any thread: the call under way ends soon with PAWL_EINTERRUPTED. */
    void (*interrupt)(pawl_store *store);

    /* A handler transaction is kept open for handlers with their own SQL: begun before the saga is
     * loaded (locked), ended by commit or handler_transaction_end. native() is the connection inside it. */
    pawl_code (*handler_transaction_begin)(pawl_store *store, pawl_error *error);
    /* Rolls back what it did; the handle's claims stay, unless the handler ended the transaction. Harmless without
     * one. */
    void (*handler_transaction_end)(pawl_store *store);
    void *(*native)(pawl_store *store);
    /* Applies changes that no worker's fence guards on the caller's connection, inside the caller's
     * transaction. `store` is any open handle on the same data; it gives the names of the tables. */
    pawl_code (*enlist)(pawl_store *store, void *native, const pawl_changes *changes,
                        pawl_error *error);

    /* streams[i] is the answer to reads[i]: one consistent read of each stream, commits
     * that are under way not seen. */
    pawl_code (*stream_load)(pawl_store *store, const pawl_stream_read *reads, size_t count,
                             pawl_arena *arena, pawl_stream *streams, pawl_error *error);
    /* Assigns global positions to at most count_max committed events that have none, in the
     * order of their seqs; how many. Durable when it returns. One caller at a time,
     * who leads. A store whose commits are ordered assigns them at insertion: 0. */
    pawl_code (*event_number)(pawl_store *store, size_t count_max, int64_t *count,
                              pawl_error *error);
    /* The global position that the checkpoint of that name is at; 0: it was never set. */
    pawl_code (*checkpoint_get)(pawl_store *store, pawl_text name, int64_t *position,
                                pawl_error *error);

    /* The C type behind native(), which handlers request by it ("sqlite3", "PGconn", or one that
     * the driver's page names: pawl_native). NULL: no handler is given the connection. */
    const char *native_type;

    /* Called before every entry of this table but open, close, schema, resolve, interrupt,
     * handler_transaction_end and native: the connection is there, or is made again, or the answer says
     * why not. NULL: there is nothing that could be lost. */
    pawl_code (*ready)(pawl_store *store, pawl_error *error);

    /* For tools: live rows of one kind behind a row, in the order of their keys, whether claimed
     * or not. Outbox rows and events are never requested: find has them. */
    pawl_code (*scan)(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                      pawl_scan_rows *rows, pawl_error *error);

    /* Workers that crashed and whose rows are there still, of any endpoint: none that lives, none of whose process
     * another worker lives, and none of which only a missed heartbeat tells. worker_close in the name of one, on a handle
     * without a worker of its own, ends its row. NULL, or PAWL_EUNSUPPORTED from a store whose
     * workers live by heartbeats: crashes are not noticed. */
    pawl_code (*worker_crashed)(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                size_t *count, pawl_error *error);

    /* For operators: what the database, its server and its settings are like, and what in them would
     * block work or lose it. Changes nothing. A check that the database refuses is a finding, too;
     * the connection's failure alone is the call's. */
    pawl_code (*diagnose)(pawl_store *store, const pawl_diagnosis *asked, pawl_arena *arena,
                          pawl_finding_rows *rows, pawl_error *error);

    /* For people: dead letters by the queue that they would be sent to again, in the order of names. */
    pawl_code (*dead_count)(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                            pawl_error *error);

    /* Writes the heartbeats of these workers, whose handlers are running, from a handle without a worker of its own. A
     * worker that has no row is passed over. Without workers nothing is sent. NULL, or PAWL_EUNSUPPORTED from a
     * store that knows without heartbeats who lives. */
    pawl_code (*worker_beat)(pawl_store *store, const pawl_worker_id *workers, size_t count,
                             pawl_time now, pawl_error *error);

    /* Whether the handler transaction is still open behind the handlers' own SQL, as far as the client knows without a
     * round trip. NULL: the commit alone tells. */
    bool (*in_transaction)(pawl_store *store);

    /* Whether the last handler transaction ended with its connection: this was gone when handler_transaction_end, or the
     * commit, first used it behind the handlers. NULL: never. */
    bool (*handler_transaction_lost)(pawl_store *store);

    /* Append below. */
};

/* Adds a driver of your own; the scheme must be free. Before any open. */
PAWL_API pawl_code pawl_store_register(const pawl_store_ops *ops, pawl_error *error);

#ifdef __cplusplus
}
#endif
#endif
