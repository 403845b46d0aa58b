/* write.h - changes as data: which statement writes an item, from which of its members the
 * parameters are taken, and what follows from each answer.
 *
 *     kind of change -> way -> write -> fate of the item -> the next write, or a refusal
 *
 * A write is one statement with the fields of one item; a driver gets it together with
 * its items and runs a loop, or a statement over the set.
 *
 * Each kind of change has a way: its write, or a function that chooses one. Changes that
 * follow one another with the same write go to the driver together; the writes that their
 * fates lead to come behind them, in runs again.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_WRITE_H
#define PAWL_STORE_SQL_WRITE_H

#include "pawl/store_driver.h"
#include "store/core/field.h"
#include "store/core/kinds.h"
#include "store/core/refusal.h"
#include "store/sql/row_statements.h"

/* ---- A write ------------------------------------------------------------ */

/* An item's end. */
typedef enum pawl__sql_fate {
    PAWL__SQL_APPLIED,   /* rows were changed; by a statement that reads: found */
    PAWL__SQL_MISSED,    /* none */
    PAWL__SQL_DUPLICATE, /* a unique key refused the row; nothing was written for the item */
    PAWL__SQL_NULL,      /* the same of a column that takes no null */
    pawl__sql_fate_count
} pawl__sql_fate;

typedef struct pawl__sql_write pawl__sql_write;

/* At most one of them; neither: the item is done. */
typedef struct pawl__sql_then {
    const pawl__sql_write *next; /* of the same item */
    pawl__why_fn          *why;  /* its group is refused */
} pawl__sql_then;

struct pawl__sql_write {
    int              statement; /* of a saga's table: a pawl__sql_saga_statement */
    bool             is_saga;   /* the item has its table behind what every change begins with */
    bool             is_alone;  /* an insert of what a select finds: in no set with others */
    bool             is_there;  /* an insert whose row is there as a rule, which is as good */
    pawl__field_list parameters;
    /* Finds the row of the item by its key, where a unique key refused it; by another one in then[PAWL__SQL_MISSED].
     * A key that nothing of that finds is the one of another row, such as an owner's trigger inserts: the commit
     * fails then. NULL: that is not looked for. */
    const pawl__sql_write *taken;
    /* PAWL__SQL_DUPLICATE and PAWL__SQL_NULL without an entry are failures of the commit. */
    pawl__sql_then then[pawl__sql_fate_count];
};

/* Whether the write says what follows from an answer other than the first two. */
static inline bool pawl__sql_expects(const pawl__sql_write *write, pawl__sql_fate fate)
{
    return write->then[fate].next != NULL || write->then[fate].why != NULL;
}

/* ---- The kinds ---------------------------------------------------------- */

struct pawl__sql_writer;

/* Runs before the write of a change. ECONFLICT, EDUPLICATE, EGONE and EMISMATCH, set in
 * `why`, refuse its group where the kind can be refused, and it is not written; anything else ends
 * the commit. */
typedef pawl_code pawl__sql_apply_fn(struct pawl__sql_writer *writer, const void *change,
                                     pawl_error *why);

/* The keys, as numbers, by which the writes of a change find its rows; 0 is none. A change waits for
 * the next writes of one with the same key. Keys that are not the same may have one number. */
typedef void pawl__sql_keys_fn(const void *change, uint32_t keys[2]);

/* How the changes of a kind are written. */
typedef struct pawl__sql_kind_rule {
    /* The write of a change; NULL: there is nothing to write. */
    const pawl__sql_write *(*choose)(const void *change);
    const pawl__sql_write *write; /* instead, where all have one */
    pawl__sql_apply_fn    *apply; /* before it; NULL: nothing */
    pawl__sql_keys_fn     *keys;  /* NULL: the next writes touch no row of another change */
} pawl__sql_kind_rule;

/* By kind. */
extern const pawl__sql_kind_rule pawl__sql_kind_rules[pawl_change_kind_count];

/* ---- A row of a snapshot that is removed ---------------------------------- */

/* Begins as its change does. */
typedef struct pawl__sql_removed_row {
    PAWL__CHANGE_BASE
    int64_t                         id;
    pawl_text                       partition;
    pawl_session_id                 session;
    const pawl_leased_batch_remove *removal;
    size_t                          index; /* there */
} pawl__sql_removed_row;

static inline pawl__sql_removed_row pawl__sql_row_of(const pawl_leased_batch_remove *removal,
                                                     size_t                          index)
{
    return (pawl__sql_removed_row){
        removal->unit, removal->group, removal->ids[index], removal->partition, removal->session,
        removal,       index};
}
/* The write of such a row. */
const pawl__sql_write *pawl__sql_remove_row(const void *item);

/* ---- Without a change --------------------------------------------------- */

/* The worker's row, where id and epoch match; PAWL__SQL_MISSED: it was replaced. */
typedef struct pawl__sql_fence {
    pawl_uuid         commit_id;
    pawl_time         now;
    pawl_counters     counters;
    pawl_uuid         worker;
    int64_t           epoch;
    const char       *driver; /* of pawl__sql_ops; not a parameter, as all behind it */
    const pawl_store *store;
} pawl__sql_fence;

extern const pawl__sql_write pawl__sql_write_fence;

#endif
