/* memory.h - the memory store: `memory:NAME`.
 *
 * All handles of one name in one process share a data set, which lives until the last of them is
 * closed. One mutex guards a data set; each operation runs whole under it, so that operations of
 * several threads are serial and no transaction is ever open between two calls.
 *
 * A commit writes its changes one after another, in the order in which a database would apply them, and
 * adds each to an undo log (memory_undo_log). If a change is refused, or memory runs out, the undo log is
 * applied; the next round leaves out the refused groups.
 *
 * The files depend on each other: functions for the kinds of change call commit.c to refuse, and
 * commit.c calls them through the table of kinds. The end of a worker frees its claims in every
 * table, and every call enters through data.c, which ends the workers of a handle.
 *
 * A handle that is closed without worker_close counts as a crashed worker:
 * its claims and leases are released, and its row stays until it is ended or swept.
 *
 * Files: tree.c and table.c store rows; the other files have the rows, reads and changes of one noun each.
 * Tests: tests/unit/store/test_store_memory.c, tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MEMORY_H
#define PAWL_MEMORY_H

#include "pawl/store_driver.h"
#include "store/core/kinds.h"
#include "store/core/refusal.h"
#include "store/core/rows.h"
#include "store/core/wait.h"
#include "store/memory/table.h"

#include <pthread.h>

/* ---- A data set --------------------------------------------------------- */

/* Correlation properties with values in one saga table: two of the current program, and those of older
 * programs. */
#define MEMORY_PROPERTIES_MAX 4

/* The sagas of one table. Created by the first write; stays, empty, if that write is undone. */
typedef struct memory_sagas {
    struct memory_sagas *next;
    memory_table         rows;
    pawl_text            properties[MEMORY_PROPERTIES_MAX]; /* by the column of their values */
    size_t               name_size;
    char                 name[];
} memory_sagas;

/* Table, kind of its rows, is_of_workers: such tables stay when the data set is emptied. */
#define MEMORY_TABLES(X)                  \
    X(queue, queue, false)                \
    X(inbox, inbox, false)                \
    X(timeouts, timeout, false)           \
    X(aggregator, aggregator, false)      \
    X(flushes, flush, false)              \
    X(outbox, outbox, false)              \
    X(attempts, attempt, false)           \
    X(events, event, false)               \
    X(folds, fold, false)                 \
    X(checkpoints, checkpoint, false)     \
    X(dead, dead, false)                  \
    X(history, history, false)            \
    X(subscriptions, subscription, false) \
    X(workers, worker, true)              \
    X(leads, lead, true)

typedef struct memory_data {
    struct memory_data *next; /* in the list of all data sets */
    size_t              handle_count;
    pthread_mutex_t     mutex; /* guards all below */
    memory_undo_log     undo_log;
    memory_sagas       *sagas;
#define MEMORY_TABLE(table, kind, is_of_workers) memory_table table;
    MEMORY_TABLES(MEMORY_TABLE)
#undef MEMORY_TABLE
    int64_t       history_place; /* of the next sweep */
    pawl_counters retained;      /* of workers that ended */
    int64_t       last_id;       /* of all numbered rows except events; ids are never reused */
    uint64_t      last_holder;   /* number of the handle opened last */
    uint64_t      last_stamp;    /* of outbox_claim */
    char          identity[sizeof((pawl_store *)NULL)->identity];
} memory_data;

typedef struct memory_store {
    pawl_store   base;
    memory_data *data;
    uint64_t     holder; /* number of this handle in claims and leases; 0: none */
    pawl__wait   wait;   /* its interrupts */
} memory_store;

/* Locks the mutex of the data, as every operation does for its time. */
memory_data *pawl__memory_enter(pawl_store *store);
void         pawl__memory_leave(memory_data *data);
/* Deletes all rows except those of workers and their leases. */
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
    pawl__change        change;
} memory_commit;

pawl_code pawl__memory_commit(pawl_store *store, const pawl_changes *changes,
                              pawl_refusals *refused, pawl_error *error);
/* Refuses the change under way; PAWL_OK, or PAWL_ENOMEM. */
pawl_code pawl__memory_refuse(memory_commit *commit, pawl_code reason, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* The same with the code and text of `why`; does nothing if `why` returns PAWL_OK. */
pawl_code pawl__memory_refuse_by(memory_commit *commit, pawl__why_fn *why, const void *item);

/* Replaces `row` by a copy of the model: pawl__undo_log_write with the commit's undo log. */
pawl_code pawl__memory_write(memory_commit *commit, memory_table *table, void *row,
                             const void *model);

/* One function for each kind of change, in the file of its noun: writes or refuses it. */
#define MEMORY_APPLY(name, is_refusable) \
    pawl_code pawl__memory_apply_##name(memory_commit *commit, const void *item);
PAWL_CHANGE_KINDS(MEMORY_APPLY)
#undef MEMORY_APPLY

/* ---- Functions of the files of nouns, for the others -------------------- */

#define MEMORY_KIND(table, kind, is_of_workers) \
    extern const memory_table_kind pawl__memory_##kind##_kind;
MEMORY_TABLES(MEMORY_KIND)
#undef MEMORY_KIND

/* Frees the claims and leases of the handle, as when the worker's process died: its row stays. */
void pawl__memory_worker_drop(memory_store *store);

/* PAWL_EFENCED unless the worker's row has the handle's epoch. */
pawl_code pawl__memory_fence_check(memory_store *store, pawl_error *error);
/* Writes the worker's row of the fence, after all other changes. */
void pawl__memory_fence_write(memory_store *store, const pawl_changes *changes);

/* The flush row of a partition, made when it is missing. */
pawl_code pawl__memory_flush_ensure(memory_commit *commit, pawl_text name, pawl_text partition,
                                    pawl_time due);
bool      pawl__memory_partition_is_empty(const memory_data *data, pawl_text partition);
void      pawl__memory_partition_count(const memory_data *data, pawl_scan_row *row);
pawl_code pawl__memory_inbox_remove(memory_commit *commit, pawl_text endpoint, pawl_text id);
/* Does `text` match the query? An empty `wanted` matches all. */
static inline bool pawl__memory_is_like(pawl_text wanted, pawl_text text)
{
    return wanted.size == 0 || pawl_text_equal(wanted, text);
}

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
void      pawl__memory_flush_stats(const memory_data *data, pawl_time now, pawl_stats *stats);
void      pawl__memory_worker_stats(const memory_data *data, pawl_stats *stats);
/* Parts of sweep: delete at most count_max rows; return their number. */
size_t pawl__memory_inbox_sweep(memory_data *data, pawl_time before, size_t count_max);
size_t pawl__memory_outbox_sweep(memory_data *data, pawl_time before, size_t count_max);
/* For history, and bodies of dead letters: read count_max rows; `*more`: another sweep at once is worthwhile. */
int64_t pawl__memory_history_sweep(memory_data *data, pawl_time before, size_t count_max,
                                   bool *more);
size_t  pawl__memory_bodies_sweep(memory_data *data, const pawl_sweep *sweep, bool *more);
/* Ends dead workers not seen since `before`; returns their number. */
size_t pawl__memory_worker_sweep(memory_data *data, pawl_time before, size_t count_max);
/* The next row of a scan after the given one; false: no more rows. Texts are borrowed from the row. */
typedef bool   memory_scan_fn(const memory_data *data, const pawl_scan *scan,
                              const pawl_scan_row *after, pawl_scan_row *row);
memory_scan_fn pawl__memory_saga_behind, pawl__memory_message_behind, pawl__memory_timeout_behind,
    pawl__memory_fold_behind, pawl__memory_aggregator_behind, pawl__memory_letter_behind,
    pawl__memory_checkpoint_behind, pawl__memory_partition_behind;

/* Defines one for a tree whose key has one part: `key` sets the probe from `after`, the rest reads row `it`. */
#define MEMORY_BEHIND(name, row_type, tree, key, ...)                                     \
    bool name(const memory_data *data, const pawl_scan *scan, const pawl_scan_row *after, \
              pawl_scan_row *row)                                                         \
    {                                                                                     \
        const row_type  probe = {key};                                                    \
        const row_type *it    = pawl__tree_above(&data->tree, &probe);                    \
        (void)scan;                                                                       \
        if (it != NULL)                                                                   \
            *row = (pawl_scan_row){__VA_ARGS__};                                          \
        return it != NULL;                                                                \
    }

/* A growing list of rows in an arena, for calls that copy them out under the mutex:
 * list_begin -> list_take ... -> list_end. */
typedef struct memory_list {
    memory_data *data;
    void       **rows;
    size_t       count;
    size_t       capacity;
    pawl_arena  *arena;
    size_t       limit;
    bool         is_failed; /* out of memory */
} memory_list;

/* Enters the data. A limit of 0 is none. */
memory_list pawl__memory_list_begin(pawl_store *store, pawl_arena *arena, size_t limit);
/* Whether there is room for more. */
bool pawl__memory_list_take(memory_list *list, void *row);
/* Copies the part of all rows into one array, which is never NULL; false when out of memory. */
bool pawl__memory_list_show(const memory_list *list, const memory_table *table,
                            const memory_part *part, void **items);
/* The same of what is shown; then claims the rows, unless `claim` is NULL, and leaves the data. `items` is
 * the address of the pointer to them; `what` is for the error. */
pawl_code pawl__memory_list_end(const memory_list *list, memory_table *table,
                                const memory_claim *claim, const char *what, void *items,
                                size_t *count, pawl_error *error);
/* Rows of a kind, in their order, until the list has no room. */
typedef void   memory_find_fn(const memory_data *data, const pawl_find *asked, memory_list *list);
memory_find_fn pawl__memory_find_messages, pawl__memory_find_retried, pawl__memory_find_timeouts,
    pawl__memory_find_foreign, pawl__memory_find_outbox, pawl__memory_find_attempts,
    pawl__memory_find_dead, pawl__memory_find_events, pawl__memory_find_history,
    pawl__memory_find_partition, pawl__memory_find_flushes, pawl__memory_find_subscriptions,
    pawl__memory_find_leads, pawl__memory_find_workers;
pawl_code pawl__memory_out_of_memory(const char *what, pawl_error *error);

/* ---- Operations, as store_driver.h says ---------------------------------- */

#define ENTRY(name, ...) \
    pawl_code pawl__memory_##name(pawl_store *store, __VA_ARGS__, pawl_error *error);
#include "store/core/entries.h"
#undef ENTRY
pawl_code pawl__memory_worker_crashed(pawl_store *store, pawl_arena *arena,
                                      pawl_worker_info **items, size_t *count, pawl_error *error);

/* Frees the sagas of a table with all rows. */
void pawl__memory_sagas_destroy(memory_sagas *sagas);
/* PAWL_ESCHEMA when rows of one of the tables have values of properties alone that the saga has no
 * more (D31). */
pawl_code pawl__memory_check_reach(pawl_store *store, const pawl_saga_table *const *tables,
                                   size_t count, pawl_error *error);

#endif
