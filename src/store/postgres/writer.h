/* writer.h - a change set on its way to the server.
 *
 * A kind of change becomes steps: a statement, the items it carries, and what
 * its answer says of each. All steps of a round are sent before the first answer
 * is looked at.
 *
 *     send function of the kind    select items -> add a step -> arrays -> send
 *     check function of the step   which items were not applied -> refusals
 *
 * Most kinds need no code for their arrays: a table of fields does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_WRITER_H
#define PAWL_STORE_POSTGRES_WRITER_H

#include "store/postgres/postgres.h"
#include "store/sql/kinds.h"
#include "store/sql/refusal.h"

#include <stddef.h>

struct pawl__pg_write;

typedef struct pawl__pg_writer {
    pawl__pg_connection   *connection;
    pawl__pg              *store; /* NULL in an enlist: no claims, no fence */
    const pawl_changes    *changes;
    bool                  *is_dropped; /* by group: left out of this round */
    pawl_refusals         *refused;
    pawl_arena            *arena; /* of this round */
    pawl_error            *error;
    bool                   is_guarded;    /* see commit.c */
    bool                   has_unguarded; /* a step's answer has to be looked at */
    struct pawl__pg_write *first;         /* steps that were sent */
    struct pawl__pg_write *last;
} pawl__pg_writer;

/* What the answer says. Adds refusals; a code other than OK ends the commit. It
 * may make calls of its own: all answers are there. */
typedef pawl_code pawl__pg_check_fn(pawl__pg_writer *writer, struct pawl__pg_write *write);

typedef struct pawl__pg_write {
    struct pawl__pg_write *next;
    pawl__pg_writer       *writer;
    pawl__pg_request       request;
    pawl_change_kind       kind;
    const void           **items; /* the changes it carries, in its order */
    size_t                 count;
    pawl__pg_check_fn     *check; /* NULL: nothing to look at */
} pawl__pg_write;

/* ---- Sending ------------------------------------------------------------ */

/* Sends the steps of one kind; the kind has items. */
typedef pawl_code pawl__pg_send_fn(pawl__pg_writer *writer);

/* True for the changes that a step wants; NULL wants all. */
typedef bool pawl__pg_want_fn(const void *change, const void *context);

/* The wanted changes of a kind whose groups are not dropped. NULL without memory;
 * *count may be 0. Order: as in the change set. */
const void **pawl__pg_select(pawl__pg_writer *writer, pawl_change_kind kind, pawl__pg_want_fn *want,
                             const void *context, size_t *count);
/* A step of the statement with these items, not sent yet: put its parameters,
 * then pawl__pg_write_send. NULL without memory, with the error set. */
pawl__pg_write *pawl__pg_write_add(pawl__pg_writer *writer, int statement, pawl_change_kind kind,
                                   const void **items, size_t count, pawl__pg_check_fn *check);
pawl__pg_write *pawl__pg_write_add_with(pawl__pg_writer *writer, pawl__pg_statement *statement,
                                        pawl_change_kind kind, const void **items, size_t count,
                                        pawl__pg_check_fn *check);
/* One array for each field, in order. */
void pawl__pg_write_fields(pawl__pg_write *write, const pawl__sql_field *fields,
                           size_t field_count);
/* In a guarded round a step that checks is sent so that an item that is not applied
 * fails the transaction. */
pawl_code pawl__pg_write_send(pawl__pg_write *write);
/* All of it: selects, and unless there is nothing adds the step, its arrays, and
 * sends it. */
pawl_code pawl__pg_write_all(pawl__pg_writer *writer, int statement, pawl_change_kind kind,
                             pawl__pg_want_fn *want, const void *context,
                             const pawl__sql_field *fields, size_t field_count,
                             pawl__pg_check_fn *check);

/* Sends some items of a kind, never none. They stay where they are. */
typedef pawl_code pawl__pg_send_items_fn(pawl__pg_writer *writer, const void **items, size_t count);
/* All of a kind, in waves that hold a key once (kinds.h), each of them by the ways of
 * writing that `by_way` tells apart; NULL: there is one. */
pawl_code pawl__pg_send_waves(pawl__pg_writer *writer, pawl_change_kind kind,
                              pawl__sql_compare_fn *by_key, pawl__sql_compare_fn *by_way,
                              pawl__pg_send_items_fn *send);

/* ---- Checking ----------------------------------------------------------- */

/* For statements that return the numbers (from 1) of the items that were
 * applied: refuses the others. */
pawl_code pawl__pg_check_numbers(pawl__pg_writer *writer, pawl__pg_write *write,
                                 pawl__sql_why_fn *why);
/* is_applied[i] of the same, in the writer's arena; NULL without memory. */
bool     *pawl__pg_applied(pawl__pg_writer *writer, pawl__pg_write *write);
pawl_code pawl__pg_refuse(pawl__pg_writer *writer, pawl_change_kind kind, const void *change,
                          const pawl_error *why);
pawl_code pawl__pg_refuse_for(pawl__pg_writer *writer, pawl_change_kind kind, const void *change,
                              pawl__sql_why_fn *why);

/* ---- The kinds ---------------------------------------------------------- */

#define PAWL__PG_SENDER(name, is_refusable) pawl__pg_send_fn pawl__pg_send_##name;
PAWL_CHANGE_KINDS(PAWL__PG_SENDER)
#undef PAWL__PG_SENDER

#endif
