/* writer.h - a change set on its way to the server.
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

#include "store/core/kinds.h"
#include "store/core/refusal.h"
#include "store/postgres/postgres.h"

#include <stddef.h>

struct pawl__pg_write;

typedef struct pawl__pg_writer {
    pawl__pg_connection   *connection;
    pawl__pg              *store; /* NULL in an enlist, which has no claims and no fence */
    const pawl_changes    *changes;
    bool                  *is_dropped; /* by group: left out of this round */
    pawl_refusals         *refused;
    pawl_arena            *arena; /* of this round */
    pawl_error            *error;
    bool                   is_guarded;    /* see commit.c */
    bool                   has_unguarded; /* a write's answer has to be checked */
    struct pawl__pg_write *first;         /* the writes that were sent */
    struct pawl__pg_write *last;
} pawl__pg_writer;

/* Checks the answer and adds refusals; a code other than OK ends the commit. All answers are there,
 * so it may make requests of its own. */
typedef pawl_code pawl__pg_check_fn(pawl__pg_writer *writer, struct pawl__pg_write *write);

typedef struct pawl__pg_write {
    struct pawl__pg_write *next;
    pawl__pg_writer       *writer;
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
typedef pawl_code pawl__pg_send_fn(pawl__pg_writer *writer);

/* The changes of a kind whose groups are not dropped, in the order of the change set. NULL without
 * memory; *count may be 0. */
const void **pawl__pg_select(pawl__pg_writer *writer, pawl_change_kind kind, size_t *count);
/* A statement of the connection, or, PAWL__SQL_ON_SAGA and a pawl__pg_saga_statement, of the table of the items. */
void pawl__pg_write_begin(pawl__pg_write *write, const pawl__pg_writer *writer, int statement);
/* A write with this statement and these items, not sent yet: put its parameters, then
 * pawl__pg_write_send. NULL without memory, with the error set. */
pawl__pg_write *pawl__pg_write_add(pawl__pg_writer *writer, int statement, pawl_change_kind kind,
                                   const void **items, size_t count, pawl__pg_check_fn *check);
/* One array for each field, in order. */
void pawl__pg_write_fields(pawl__pg_write *write, const pawl__field *fields, size_t field_count);
/* Sends the write. In a guarded round one that has a check is sent in its guarded form, which fails
 * the transaction for an item that it does not apply. */
pawl_code pawl__pg_write_send(pawl__pg_write *write);

/* ---- Checking ----------------------------------------------------------- */

/* Of a statement that returns the numbers (from 1) of the items that were applied, is_applied[i], in the writer's
 * arena; NULL without memory. */
bool     *pawl__pg_applied(pawl__pg_writer *writer, pawl__pg_write *write);
pawl_code pawl__pg_refuse_for(pawl__pg_writer *writer, pawl_change_kind kind, const void *change,
                              pawl__why_fn *why);

/* queue.c: an array with the ctids of the claims that the items settle. */
void pawl__pg_put_claimed(pawl__pg_write *write);

/* ---- The kinds ---------------------------------------------------------- */

/* Of those that have a function of their own: see commit.c. */
pawl__pg_send_fn pawl__pg_send_queue_settle;
pawl__pg_send_fn pawl__pg_send_outbox_settle;
pawl__pg_send_fn pawl__pg_send_leased_batch_remove;
pawl__pg_send_fn pawl__pg_send_outbox_block;

#endif
