/* memory.h - the memory store: `memory:NAME`.
 *
 * All handles of one name in one process share a data set, which lives until the last of them is
 * closed. One mutex guards a data set; each operation runs whole under it, so that operations of
 * several threads are serial and no transaction is ever open between two calls.
 *
 * A commit writes its changes one after another, in the order a database would apply them, and
 * notes each in a journal. When a change is refused, or memory runs out, the journal takes all of
 * it back; groups that were refused are left out of the next round.
 *
 * The kinds of change call commit.c to refuse, and commit.c calls them by the table of
 * kinds; ending a worker frees what it has in every table, and each table's calls enter by
 * data.c, which ends the workers of a handle: so the files of the tables, commit.c and
 * data.c know one another.
 *
 * A handle that is closed without worker_close counts as a worker that died:
 * its claims and leases are free, and its row stays until it is ended or swept.
 *
 * Files: tree.c and table.c keep rows; one file for each noun has its rows, reads and changes.
 * Tests: tests/unit/store/test_store_memory.c, tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_H
#define PAWL_MEMORY_H

#include "pawl/store_driver.h"
#include "store/memory/table.h"

#include <pthread.h>
#include <sys/types.h>

/* ---- A data set --------------------------------------------------------- */

/* Correlation properties that rows of one saga table have values of: two of the program, and those
 * of programs before it. */
#define MEMORY_PROPERTIES_MAX 4

/* The sagas of one table. Made when first written to; empty when taken back. */
typedef struct memory_sagas {
    struct memory_sagas *next;
    memory_table         rows;
    pawl_text            properties[MEMORY_PROPERTIES_MAX]; /* by the column of their values */
    size_t               name_size;
    char                 name[];
} memory_sagas;

typedef struct memory_data {
    struct memory_data *next; /* in the list of all data sets */
    size_t              handle_count;
    pthread_mutex_t     mutex; /* guards all below */
    memory_journal      journal;
    memory_table        queue;
    memory_table        inbox;
    memory_sagas       *sagas;
    memory_table        timeouts;
    memory_table        aggregator;
    memory_table        flushes;
    memory_table        outbox;
    memory_table        attempts;
    memory_table        events;
    memory_table        folds;
    memory_table        checkpoints;
    memory_table        history;
    memory_table        dead;
    memory_table        subscriptions;
    memory_table        workers;
    memory_table        leads;
    pawl_counters       retained;    /* of workers that ended */
    int64_t             last_id;     /* of all rows with a number but events; never used again */
    uint64_t            last_holder; /* number of the handle opened last */
    uint64_t            last_stamp;  /* of outbox_claim */
    char                identity[sizeof((pawl_store *)NULL)->identity];
} memory_data;

typedef struct memory_store {
    pawl_store   base;
    memory_data *data;
    uint64_t     holder; /* this handle in claims and leases; 0 is nobody */
    pid_t        process;
    int          interrupt_fd; /* an eventfd; -1 before it is made */
} memory_store;

/* Locks the mutex of the data, as every operation does for its time. */
memory_data *pawl__memory_enter(pawl_store *store);
void         pawl__memory_leave(memory_data *data);
/* Every row goes; workers and their handles stay. */
void pawl__memory_empty(memory_data *data);

pawl_code pawl__memory_open(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error);
void      pawl__memory_close(pawl_store *store);

/* ---- Commit ------------------------------------------------------------- */

typedef struct memory_commit {
    memory_store       *store;
    memory_data        *data;
    const pawl_changes *changes;
    pawl_refusals      *refused;
    bool               *is_left_out;   /* by group: refused in an earlier round */
    size_t              refused_count; /* in this round */
    pawl_change_kind    kind;          /* of the change under way */
    uint32_t            unit;
    uint32_t            group;
} memory_commit;

pawl_code pawl__memory_commit(pawl_store *store, const pawl_changes *changes,
                              pawl_refusals *refused, pawl_error *error);
/* Refuses the change under way; PAWL_OK, or PAWL_ENOMEM. */
pawl_code pawl__memory_refuse(memory_commit *commit, pawl_code reason, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* One function for each kind of change, in the file of its noun: writes or refuses it. */
#define MEMORY_APPLY(name, is_refusable) \
    pawl_code pawl__memory_apply_##name(memory_commit *commit, const void *item);
PAWL_CHANGE_KINDS(MEMORY_APPLY)
#undef MEMORY_APPLY

/* ---- What a noun's file gives to the others ----------------------------- */

extern const memory_table_kind pawl__memory_queue_kind, pawl__memory_inbox_kind,
    pawl__memory_saga_kind, pawl__memory_timeout_kind, pawl__memory_aggregator_kind,
    pawl__memory_flush_kind, pawl__memory_outbox_kind, pawl__memory_attempt_kind,
    pawl__memory_event_kind, pawl__memory_fold_kind, pawl__memory_checkpoint_kind,
    pawl__memory_dead_kind, pawl__memory_subscription_kind, pawl__memory_worker_kind,
    pawl__memory_lead_kind, pawl__memory_history_kind;

/* Frees the claims and leases of a handle. */
void pawl__memory_queue_free(memory_data *data, uint64_t holder);
void pawl__memory_timeouts_free(memory_data *data, uint64_t holder);
void pawl__memory_aggregator_free(memory_data *data, uint64_t holder);
void pawl__memory_leads_free(memory_data *data, uint64_t holder);
/* All of these, as when the worker's process died: its row stays. */
void pawl__memory_worker_drop(memory_store *store);

/* PAWL_EFENCED unless the worker's row has the handle's epoch. */
pawl_code pawl__memory_fence_check(memory_store *store, pawl_error *error);
/* The fence's row, written when everything else is. */
void pawl__memory_fence_write(memory_store *store, const pawl_changes *changes);

/* The flush row of a partition, made when it is missing. */
pawl_code pawl__memory_flush_ensure(memory_commit *commit, pawl_text name, pawl_text partition,
                                    pawl_time due);
bool      pawl__memory_partition_is_empty(const memory_data *data, pawl_text partition);
void      pawl__memory_partition_count(const memory_data *data, pawl_scan_row *row);
pawl_code pawl__memory_inbox_remove(memory_commit *commit, pawl_text endpoint, pawl_text id);
/* Whether a query that wants the text, or any when it is empty, finds this one. */
static inline bool pawl__memory_is_like(pawl_text wanted, pawl_text text)
{
    return wanted.size == 0 || pawl_text_equal(wanted, text);
}
bool pawl__memory_type_is_known(pawl_text type, const pawl_text *types, size_t count);

/* Parts of next_due and stats. */
pawl_time pawl__memory_queue_next_due(const memory_data *data, pawl_text queue);
/* Does any subscription name the queue? */
bool      pawl__memory_is_subscriber(const memory_data *data, pawl_text queue);
pawl_time pawl__memory_timeout_next_due(const memory_data *data, pawl_text destination);
/* Fills in what is known about the partition's flushes. */
void      pawl__memory_flush_counts(const memory_data *data, pawl_text partition,
                                    pawl_aggregator_counts *counts);
pawl_time pawl__memory_flush_next_due(const memory_data *data, pawl_text name);
pawl_code pawl__memory_queue_stats(const memory_data *data, pawl_time now, pawl_arena *arena,
                                   pawl_stats *stats);
void      pawl__memory_timeout_stats(const memory_data *data, pawl_time now, pawl_stats *stats);
void      pawl__memory_outbox_stats(const memory_data *data, pawl_stats *stats);
void      pawl__memory_flush_stats(const memory_data *data, pawl_stats *stats);
void      pawl__memory_worker_stats(const memory_data *data, pawl_stats *stats);
/* Parts of sweep: at most count_max rows; how many went. */
size_t pawl__memory_inbox_sweep(memory_data *data, pawl_time before, size_t count_max);
size_t pawl__memory_outbox_sweep(memory_data *data, pawl_time before, size_t count_max);
size_t pawl__memory_history_sweep(memory_data *data, pawl_time before, size_t count_max);
/* The same, of events of dead letters: looks at that many, and says whether the sweep goes on at once. */
size_t pawl__memory_bodies_sweep(memory_data *data, const pawl_sweep *sweep, bool *more);
/* Ends dead workers that were not seen since `before`; how many. */
size_t pawl__memory_worker_sweep(memory_data *data, pawl_time before, size_t count_max);
/* The row behind that one in a walk, as it stands; false: there is none. Texts are the row's. */
typedef bool   memory_walk_fn(const memory_data *data, const pawl_scan *walk,
                              const pawl_scan_row *after, pawl_scan_row *row);
memory_walk_fn pawl__memory_saga_behind, pawl__memory_message_behind, pawl__memory_timeout_behind,
    pawl__memory_fold_behind, pawl__memory_aggregator_behind, pawl__memory_letter_behind,
    pawl__memory_checkpoint_behind, pawl__memory_partition_behind;
pawl_code pawl__memory_scan(pawl_store *store, const pawl_scan *walk, pawl_arena *arena,
                            pawl_scan_rows *rows, pawl_error *error);

/* A growing list of rows in an arena, for reads that copy out under the mutex. */
typedef struct memory_list {
    void      **rows;
    size_t      count;
    size_t      capacity;
    pawl_arena *arena; /* of a find, as what follows */
    int64_t     limit;
    bool        is_failed; /* out of memory */
} memory_list;

bool pawl__memory_list_add(memory_list *list, pawl_arena *arena, void *row);
/* The same of a find: whether there is room for more. */
bool pawl__memory_list_take(memory_list *list, void *row);
/* Copies the fields of all rows into one array, which is never NULL; false when out of memory. */
bool pawl__memory_list_show(const memory_list *list, const memory_table *table, pawl_arena *arena,
                            void **items);
/* Rows of a kind, in their order, until the list has no room. */
typedef void   memory_find_fn(const memory_data *data, const pawl_find *asked, memory_list *list);
memory_find_fn pawl__memory_find_messages, pawl__memory_find_retried, pawl__memory_find_timeouts,
    pawl__memory_find_foreign, pawl__memory_find_outbox, pawl__memory_find_attempts,
    pawl__memory_find_dead, pawl__memory_find_events, pawl__memory_find_history,
    pawl__memory_find_partition, pawl__memory_find_flushes, pawl__memory_find_subscriptions,
    pawl__memory_find_leads, pawl__memory_find_workers;
typedef bool   memory_show_fn(const memory_list *list, const memory_table *table, pawl_arena *arena,
                              void **items);
memory_show_fn pawl__memory_show_messages, pawl__memory_show_foreign;
pawl_find_rows_fn pawl__memory_find;
pawl_code         pawl__memory_out_of_memory(const char *what, pawl_error *error);

/* ---- Operations, as store.h says ----------------------------------------- */

pawl_code pawl__memory_schema(pawl_store *store, pawl_schema_verb verb,
                              const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                              pawl_error *error);
pawl_code pawl__memory_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                   pawl_time now, pawl_error *error);
pawl_code pawl__memory_worker_close(pawl_store *store, pawl_time now, pawl_error *error);
pawl_code pawl__memory_worker_crashed(pawl_store *store, pawl_arena *arena,
                                      pawl_worker_info **items, size_t *count, pawl_error *error);
pawl_code pawl__memory_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                               pawl_error *error);
pawl_code pawl__memory_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error);
pawl_code pawl__memory_queue_oldest(pawl_store *store, pawl_text queue, pawl_time due_max,
                                    const int64_t *except, size_t except_count, pawl_time *placed,
                                    int64_t *seq, pawl_error *error);
pawl_code pawl__memory_inbox_known(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                                   size_t count, bool *known, pawl_error *error);
pawl_code pawl__memory_saga_load(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                                 const pawl_value *values, size_t count, pawl_saga_lock lock,
                                 pawl_arena *arena, pawl_saga_row *rows, pawl_error *error);
/* Frees them with all rows. */
void pawl__memory_sagas_destroy(memory_sagas *sagas);
/* PAWL_ESCHEMA when rows of one of the tables have values of properties alone that the saga has no
 * more (D31). */
pawl_code pawl__memory_check_reach(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_error *error);
pawl_code pawl__memory_saga_count(pawl_store *store, const pawl_saga_table *table, int64_t *count,
                                  pawl_error *error);
pawl_code pawl__memory_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                     pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error);
pawl_code pawl__memory_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                    pawl_error *error);
pawl_code pawl__memory_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                          pawl_arena *arena, pawl_leased_batch *leased,
                                          pawl_error *error);
pawl_code pawl__memory_aggregator_count(pawl_store *store, pawl_text partition,
                                        const pawl_text *types, size_t type_count, pawl_time now,
                                        pawl_aggregator_counts *counts, pawl_error *error);
pawl_code pawl__memory_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                    size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                    pawl_error *error);
pawl_code pawl__memory_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                            bool *is_ours, pawl_error *error);
pawl_code pawl__memory_unlead(pawl_store *store, pawl_text name, pawl_error *error);
pawl_code pawl__memory_next_due(pawl_store *store, pawl_text queue, const pawl_text *aggregators,
                                size_t aggregator_count, pawl_next_due *next, pawl_error *error);
pawl_code pawl__memory_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                             pawl_error *error);
pawl_code pawl__memory_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                             pawl_error *error);
pawl_code pawl__memory_wait(pawl_store *store, int64_t microseconds, int wake_fd,
                            pawl_error *error);
void      pawl__memory_interrupt(pawl_store *store);
pawl_code pawl__memory_handler_transaction_begin(pawl_store *store, pawl_error *error);
void      pawl__memory_handler_transaction_end(pawl_store *store);
void     *pawl__memory_native(pawl_store *store);
pawl_code pawl__memory_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                              pawl_error *error);
pawl_code pawl__memory_dead_count(pawl_store *store, pawl_arena *arena, pawl_dead_counts *counts,
                                  pawl_error *error);
pawl_code pawl__memory_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                   pawl_arena *arena, pawl_stream *streams, pawl_error *error);
pawl_code pawl__memory_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                    pawl_error *error);
pawl_code pawl__memory_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                      pawl_error *error);

#endif
