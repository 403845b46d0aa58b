/* set.h - the writes of a round (store/sql/commit.h), most of which are statements over sets of items.
 *
 * A kind of change becomes writes: each a statement, the items that it carries, and the check
 * of its answer. All writes of a round are sent before the first answer is checked.
 *
 *     send function of the kind    select items -> add a write -> arrays -> send
 *     check function of the write  items that were not applied -> refusals
 *
 * For most kinds the arrays are made from a list of fields, without code of their own.
 *
 * A set is a shared statement on one row (store/sql/changes.c), rewritten for arrays with an element
 * per item:
 *
 *     insert into T ([A]) values (?1)             insert into T ([A]) select k.p1
 *                                                 from (select unnest(?1) as p1) as k
 *     update T set [A] = ?1 where [B] = ?2        update T set [A] = k.p1 from unnest(?1, ?2)
 *                                                 with ordinality as k (p1, p2, n)
 *                                                 where [B] = any (array_append(null, k.p2)) returning k.n
 *     delete from T where [B] = ?1                the same with "using"
 *     delete from T where [A] = ?1 and [B] = ?2   delete from T as t using unnest(?1, ?2) ... cross join lateral
 *                                                 (select o.ctid as tid from T as o where [A] = k.p1
 *                                                 and [B] = k.p2 offset 0) as f where t.ctid = f.tid
 *     select 1 from T where [B] = ?1              select k.n from unnest(?1) ... cross join lateral
 *                                                 (select 1 from T where [B] = k.p1 limit 1) as f
 *
 * "= any (array_append(null, key))" is equality, but the planner can only look the key up for each item. With a plain
 * "=" it may join the other way round: if it plans while the table is empty, the statement reads the whole
 * table for each item, and the plan is kept when the table has rows. With two such conditions it may use the index
 * for the first one only, so a key of two columns is looked up in a subquery per item.
 *
 * Threads: as the handle.
 * Tests: tests/contract/test_sql_golden.c, tests/system/test_postgres_plans_slow.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SET_H
#define PAWL_STORE_POSTGRES_SET_H

#include "store/postgres/postgres.h"
#include "store/sql/commit.h"

/* ---- Writes (writer.c) --------------------------------------------------- */

static inline pawl__pg_connection *pawl__pg_connection_of(const pawl__sql_writer *writer)
{
    return (pawl__pg_connection *)(void *)writer->connection;
}
/* Memory of this round. */
static inline pawl_arena *pawl__pg_scratch(const pawl__sql_writer *writer)
{
    return pawl__pg_of(writer->store)->round.arena;
}

/* Checks the answer and adds refusals; a code other than OK ends the commit. All answers are there,
 * so it may make requests of its own. */
typedef pawl_code pawl__pg_check_fn(pawl__sql_writer *writer, struct pawl__pg_write *write);

typedef struct pawl__pg_write {
    struct pawl__pg_write *next;
    pawl__sql_writer      *writer;
    pawl__pg_request       request;
    pawl_change_kind       kind;
    const void           **items; /* the changes that it carries, in the order of its arrays */
    size_t                 count;
    pawl__pg_check_fn     *check;               /* NULL: the answer needs no check */
    const struct pawl__sql_write *of;           /* of a set */
    bool                          is_unguarded; /* an item may change several rows */
} pawl__pg_write;

/* ---- Sending ------------------------------------------------------------ */

/* Sends the writes of one kind, of which there are items. */
typedef pawl_code pawl__pg_send_fn(pawl__sql_writer *writer);

/* The changes of a kind whose groups are not dropped, in the order of the change set. NULL without
 * memory; *count may be 0. */
const void **pawl__pg_select(pawl__sql_writer *writer, pawl_change_kind kind, size_t *count);
/* A statement of the connection, or, PAWL__SQL_ON_SAGA and a pawl__pg_saga_statement, of the table of the items. */
void pawl__pg_write_begin(pawl__pg_write *write, const pawl__sql_writer *writer, int statement);
/* A write with this statement and these items, not sent yet: put its parameters, then
 * pawl__pg_write_send. NULL without memory, with the error set. */
pawl__pg_write *pawl__pg_write_add(pawl__sql_writer *writer, int statement, pawl_change_kind kind,
                                   const void **items, size_t count, pawl__pg_check_fn *check);
/* Puts an array of the items' values for each field, in the order of the fields: the statement's parameters. */
void pawl__pg_write_fields(pawl__pg_write *write, const pawl__field *fields, size_t field_count);
/* Sends the write. In a round that is sent ahead a write with a check is sent in its guarded form, which fails
 * the transaction if an item is not applied. */
pawl_code pawl__pg_write_send(pawl__pg_write *write);

/* ---- Checking ----------------------------------------------------------- */

/* Of a statement that returns the numbers (from 1) of the items that were applied, is_applied[i], in the writer's
 * arena; NULL without memory. */
bool *pawl__pg_applied(pawl__sql_writer *writer, pawl__pg_write *write);

/* queue.c: an array with the ctids of the claims that the items settle. */
void pawl__pg_put_claimed(pawl__pg_write *write);

/* ---- The kinds ---------------------------------------------------------- */

/* Of those that have a function of their own: see commit.c. */
pawl__pg_send_fn pawl__pg_send_queue_settle;
pawl__pg_send_fn pawl__pg_send_outbox_settle;
pawl__pg_send_fn pawl__pg_send_leased_batch_remove;
pawl__pg_send_fn pawl__pg_send_outbox_block;

/* ---- Of pawl__sql_ops (commit.c) ---------------------------------------- */

pawl_code pawl__pg_begin_round(pawl_store *base, pawl_error *error);
pawl_code pawl__pg_fence(pawl__sql_writer *writer);
pawl_code pawl__pg_write_kind(pawl__sql_writer *writer, pawl_change_kind kind);
pawl_code pawl__pg_finish(pawl__sql_writer *writer, pawl_code code, bool *is_done);
void      pawl__pg_settled(pawl_store *base, const pawl_changes *changes, const bool *is_dropped,
                           pawl_code code);

/* ---- Sets (set_text.c) ---------------------------------------------------- */

/* The template of a statement of PAWL__PG_SETS. */
void pawl__pg_set_template(pawl__sql_text *text, int statement);
bool pawl__pg_set_inserts(int statement);

/* ---- Overrides (override.c) ---------------------------------------------- */

#define PAWL__PG_BEFORE_MAX 3
#define PAWL__PG_KEY_MAX 2

/* How PostgreSQL sends a write in another way. */
typedef struct pawl__pg_override {
    int statement; /* instead of the set; 0: the set */
    int sure;      /* statement for a guarded round: fails unless all items are applied; 0: none */
    struct {
        int    statement; /* 0: none */
        size_t fields;    /* its parameters, the first ones */
    } before[PAWL__PG_BEFORE_MAX];
    pawl__compare_fn *order; /* of the items of a run; NULL: of the change set */
    /* An insert that returns the keys of its rows: parameters, from 1. */
    unsigned key[PAWL__PG_KEY_MAX];
    struct {
        int statement; /* finds existing rows with the keys of items that were not applied */
        const pawl__field_list *fields;
    } taken;
    unsigned owner;      /* a parameter, from 1: nothing is before it where it has a value */
    bool     is_claimed; /* the ctids of the claims are its first parameter */
    bool     is_single;  /* one item at a time */
    bool is_always; /* the write behind a miss is sent for all, and finds no row that was applied */
    bool is_upsert; /* does what the write behind a miss does, with its parameters */
} pawl__pg_override;

const pawl__pg_override *pawl__pg_override_of(const pawl__sql_write *write);
/* The keys in whose order the changes of a kind are written, a key once in a statement; NULL: as the change set has
 * them. */
extern pawl__compare_fn *const pawl__pg_keys[pawl_change_kind_count];
/* Have two of the timeouts the same id, or the same saga and name? `room`: scratch space for `count` items. */
bool pawl__pg_has_twins(const void **timeouts, size_t count, const void **room);

/* ---- Sending sets (set.c) ------------------------------------------------- */

/* Sends the changes of a kind. */
pawl_code pawl__pg_send_sets(pawl__sql_writer *writer, pawl_change_kind kind);
/* The same for some of the changes, or for items that they consist of. */
pawl_code pawl__pg_send_items(pawl__sql_writer *writer, pawl_change_kind kind, const void **items,
                              size_t count);

#endif
