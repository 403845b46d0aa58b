/* write.h - how changes are written, as data: the statement for an item, the members that are its
 * parameters, and what follows from each result.
 *
 *     kind of change -> kind rule -> write -> result of the item -> the next write, or a refusal
 *
 * A write is one statement with the fields of one item. A driver gets a write with several
 * items, and runs it in a loop, or as one statement over the set.
 *
 * The rule of each kind has its write, or a function that chooses one. Consecutive changes
 * with the same write go to the driver together ("a run"). The next writes, chosen by
 * the results, follow, also in runs.
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

/* The result of a write for one item. */
typedef enum pawl__sql_result {
    PAWL__SQL_APPLIED,   /* rows were changed or, by a select, found */
    PAWL__SQL_MISSED,    /* no row was changed or found */
    PAWL__SQL_DUPLICATE, /* a unique key refused the row; nothing was written for the item */
    PAWL__SQL_NULL,      /* the same by a NOT NULL column */
    pawl__sql_result_count
} pawl__sql_result;

typedef struct pawl__sql_write pawl__sql_write;

/* At most one is set; none: the item is done. */
typedef struct pawl__sql_then {
    const pawl__sql_write *next; /* of the same item */
    pawl__why_fn          *why;  /* its group is refused */
} pawl__sql_then;

struct pawl__sql_write {
    int              statement; /* of a saga's table: a pawl__sql_saga_statement */
    bool             is_saga;   /* the item begins as a pawl__saga_change */
    bool             is_alone;  /* `insert ... select`: never combined to a set */
    bool             is_there;  /* an insert whose row usually exists already, which is fine */
    pawl__field_list parameters;
    /* After a duplicate: finds the existing row by the item's key; then[PAWL__SQL_MISSED] may have another key. If no
     * row is found, another insert was the duplicate, such as one by an application's trigger: the commit fails. NULL:
     * not checked. */
    const pawl__sql_write *taken;
    /* Without an entry PAWL__SQL_DUPLICATE and PAWL__SQL_NULL fail the commit. */
    pawl__sql_then then[pawl__sql_result_count];
};

/* Has the write an entry for this result? */
static inline bool pawl__sql_expects(const pawl__sql_write *write, pawl__sql_result result)
{
    return write->then[result].next != NULL || write->then[result].why != NULL;
}

/* ---- The kinds ---------------------------------------------------------- */

struct pawl__sql_writer;

/* Runs before the write of a change. ECONFLICT, EDUPLICATE, EGONE and EMISMATCH, set in
 * `why`, refuse its group where the kind can be refused, and it is not written; anything else ends
 * the commit. */
typedef pawl_code pawl__sql_apply_fn(struct pawl__sql_writer *writer, const void *change,
                                     pawl_error *why);

/* Hashes of the keys by which a change's writes find its rows; 0: none. A change is written only after the
 * next writes of an earlier change with the same key. Different keys may have the same hash. */
typedef void pawl__sql_keys_fn(const void *change, uint32_t keys[2]);

/* How the changes of a kind are written. */
typedef struct pawl__sql_kind_rule {
    /* The write of a change; NULL: there is nothing to write. */
    const pawl__sql_write *(*choose)(const void *change);
    const pawl__sql_write *write; /* used if `choose` is NULL */
    pawl__sql_apply_fn    *apply; /* called before the write; or NULL */
    pawl__sql_keys_fn     *keys;  /* NULL: next writes never touch rows of other changes */
} pawl__sql_kind_rule;

/* By kind. */
extern const pawl__sql_kind_rule pawl__sql_kind_rules[pawl_change_kind_count];

/* ---- A row of a leased batch that is removed ------------------------------ */

/* Begins as its change does. */
typedef struct pawl__sql_removed_row {
    PAWL__CHANGE_BASE
    int64_t                         id;
    pawl_text                       partition;
    pawl_session_id                 session;
    const pawl_leased_batch_remove *removal;
    size_t                          index; /* of the id in `removal` */
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

/* The fence: updates the worker's row if id and epoch match; PAWL__SQL_MISSED: the worker was taken over. */
typedef struct pawl__sql_fence {
    pawl_uuid         commit_id;
    pawl_time         now;
    pawl_counters     counters;
    pawl_uuid         worker;
    int64_t           epoch;
    const char       *driver; /* name in pawl__sql_ops; from here on no parameters */
    const pawl_store *store;
} pawl__sql_fence;

extern const pawl__sql_write pawl__sql_write_fence;

#endif
