/* writer.h - the writes of a round (store/sql/commit.h).
 *
 * A kind of change becomes writes: each a statement, the items that it carries, and the check
 * of its answer. All writes of a round are sent before the first answer is checked.
 *
 *     send function of the kind    select items -> add a write -> arrays -> send
 *     check function of the write  items that were not applied -> refusals
 *
 * A table of fields makes the arrays of most kinds: they need no code for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_WRITER_H
#define PAWL_STORE_POSTGRES_WRITER_H

#include "store/postgres/postgres.h"
#include "store/sql/commit.h"

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
    bool                          is_unguarded; /* one item may be many rows */
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
/* One array for each field, in order. */
void pawl__pg_write_fields(pawl__pg_write *write, const pawl__field *fields, size_t field_count);
/* Sends the write. In a round that goes ahead one that has a check is sent in its guarded form, which fails
 * the transaction for an item that it does not apply. */
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

#endif
