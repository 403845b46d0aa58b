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
    pawl__pg_check_fn     *check;        /* NULL: the answer needs no check */
    pawl__why_fn          *why;          /* of a set: the refusal of an item that was not applied */
    bool                   is_unguarded; /* one item may be many rows */
} pawl__pg_write;

/* ---- Sending ------------------------------------------------------------ */

/* Sends the writes of one kind, of which there are items. */
typedef pawl_code pawl__pg_send_fn(pawl__pg_writer *writer);

/* Whether a write carries the change; NULL: it carries all. */
typedef bool pawl__pg_want_fn(const void *change, const void *context);

/* The wanted changes of a kind whose groups are not dropped, in the order of the change set. NULL
 * without memory; *count may be 0. */
const void **pawl__pg_select(pawl__pg_writer *writer, pawl_change_kind kind, pawl__pg_want_fn *want,
                             const void *context, size_t *count);
/* A write with this statement and these items, not sent yet: put its parameters, then
 * pawl__pg_write_send. NULL without memory, with the error set. */
pawl__pg_write *pawl__pg_write_add(pawl__pg_writer *writer, int statement, pawl_change_kind kind,
                                   const void **items, size_t count, pawl__pg_check_fn *check);
pawl__pg_write *pawl__pg_write_add_with(pawl__pg_writer *writer, pawl__pg_statement *statement,
                                        pawl_change_kind kind, const void **items, size_t count,
                                        pawl__pg_check_fn *check);
/* One array for each field, in order. */
void pawl__pg_write_fields(pawl__pg_write *write, const pawl__field *fields, size_t field_count);
/* Sends the write. In a guarded round one that has a check is sent in its guarded form, which fails
 * the transaction for an item that it does not apply. */
pawl_code pawl__pg_write_send(pawl__pg_write *write);
/* Select, add, fields and send in one; without items nothing. */
pawl_code pawl__pg_write_all(pawl__pg_writer *writer, int statement, pawl_change_kind kind,
                             pawl__pg_want_fn *want, const void *context, const pawl__field *fields,
                             size_t field_count, pawl__pg_check_fn *check);

/* Sends some items of a kind, at least one; they stay in memory until the round is over. */
typedef pawl_code pawl__pg_send_items_fn(pawl__pg_writer *writer, pawl_change_kind kind,
                                         const void **items, size_t count);
/* Sends all items of a kind, in waves that have a key once (kinds.h). */
pawl_code pawl__pg_send_waves(pawl__pg_writer *writer, pawl_change_kind kind,
                              pawl__compare_fn *by_key, pawl__pg_send_items_fn *send);

/* ---- Checking ----------------------------------------------------------- */

/* Refuses the items that were not applied, of a statement that returns the numbers (from 1) of
 * those that were. */
pawl_code pawl__pg_check_numbers(pawl__pg_writer *writer, pawl__pg_write *write, pawl__why_fn *why);
/* The same for an insert that returns its key of two texts, in the order of the items; they stand in
 * an item at these offsets. Of equal keys the later item is refused. */
pawl_code pawl__pg_check_keys(pawl__pg_writer *writer, pawl__pg_write *write, size_t first,
                              size_t second, pawl__why_fn *why);
/* The same as is_applied[i], in the writer's arena; NULL without memory. */
bool     *pawl__pg_applied(pawl__pg_writer *writer, pawl__pg_write *write);
pawl_code pawl__pg_refuse(pawl__pg_writer *writer, pawl_change_kind kind, const void *change,
                          const pawl_error *why);
pawl_code pawl__pg_refuse_for(pawl__pg_writer *writer, pawl_change_kind kind, const void *change,
                              pawl__why_fn *why);

/* ---- The kinds ---------------------------------------------------------- */

/* Of those that have a function of their own: see commit.c. */
#define PAWL__PG_SENDER(name, is_refusable) pawl__pg_send_fn pawl__pg_send_##name;
PAWL_CHANGE_KINDS(PAWL__PG_SENDER)
#undef PAWL__PG_SENDER

#endif
