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

#include <stddef.h>

struct pawl__postgres_step;

typedef struct pawl__postgres_writer {
    pawl__postgres_connection  *connection;
    pawl__postgres             *store; /* NULL in an enlist: no claims, no fence */
    const pawl_changes         *changes;
    bool                       *is_dropped; /* by group: left out of this round */
    pawl_refusals              *refused;
    pawl_arena                 *arena; /* of this round */
    pawl_error                 *error;
    bool                        is_guarded;    /* see commit.c */
    bool                        has_unguarded; /* a step's answer has to be looked at */
    struct pawl__postgres_step *first;         /* steps that were sent */
    struct pawl__postgres_step *last;
} pawl__postgres_writer;

/* What the answer says. Adds refusals; a code other than OK ends the commit. It
 * may make calls of its own: all answers are there. */
typedef pawl_code pawl__postgres_check_fn(pawl__postgres_writer      *writer,
                                          struct pawl__postgres_step *step);

typedef struct pawl__postgres_step {
    struct pawl__postgres_step *next;
    pawl__postgres_writer      *writer;
    pawl__postgres_call         call;
    pawl_change_kind            kind;
    const void                **items; /* the changes it carries, in its order */
    size_t                      count;
    pawl__postgres_check_fn    *check; /* NULL: nothing to look at */
} pawl__postgres_step;

/* What every change begins with. */
typedef struct pawl__postgres_change {
    PAWL__CHANGE_BASE
} pawl__postgres_change;

/* ---- Sending ------------------------------------------------------------ */

/* Sends the steps of one kind; the kind has items. */
typedef pawl_code pawl__postgres_send_fn(pawl__postgres_writer *writer);

/* A column's array: a field of the change, and its type on the wire. */
typedef struct pawl__postgres_field {
    size_t              offset;
    pawl__postgres_type type;
} pawl__postgres_field;

#define PAWL__POSTGRES_FIELD(kind, member, type)             \
    {                                                        \
        offsetof(pawl_##kind, member), PAWL__POSTGRES_##type \
    }
#define PAWL__POSTGRES_MESSAGE_FIELDS(kind)                                                       \
    PAWL__POSTGRES_FIELD(kind, message.id, TEXT), PAWL__POSTGRES_FIELD(kind, message.type, TEXT), \
        PAWL__POSTGRES_FIELD(kind, message.correlation_id, TEXT),                                 \
        PAWL__POSTGRES_FIELD(kind, message.causation_id, TEXT),                                   \
        PAWL__POSTGRES_FIELD(kind, message.headers, TEXT),                                        \
        PAWL__POSTGRES_FIELD(kind, message.body, BYTES)

/* True for the changes that a step wants; NULL wants all. */
typedef bool pawl__postgres_want_fn(const void *change, const void *context);

/* The wanted changes of a kind whose groups are not dropped. NULL without memory;
 * *count may be 0. Order: as in the change set. */
const void **pawl__postgres_select(pawl__postgres_writer *writer, pawl_change_kind kind,
                                   pawl__postgres_want_fn *want, const void *context,
                                   size_t *count);
/* A step of the statement with these items, not sent yet: put its parameters,
 * then pawl__postgres_step_send. NULL without memory, with the error set. */
pawl__postgres_step *pawl__postgres_step_add(pawl__postgres_writer *writer, int statement,
                                             pawl_change_kind kind, const void **items,
                                             size_t count, pawl__postgres_check_fn *check);
pawl__postgres_step *pawl__postgres_step_add_with(pawl__postgres_writer    *writer,
                                                  pawl__postgres_statement *statement,
                                                  pawl_change_kind kind, const void **items,
                                                  size_t count, pawl__postgres_check_fn *check);
/* One array for each field, in order. */
void pawl__postgres_step_fields(pawl__postgres_step *step, const pawl__postgres_field *fields,
                                size_t field_count);
/* In a guarded round a step that checks is sent so that an item that is not applied
 * fails the transaction. */
pawl_code pawl__postgres_step_send(pawl__postgres_step *step);
/* All of it: selects, and unless there is nothing adds the step, its arrays, and
 * sends it. */
pawl_code pawl__postgres_step_all(pawl__postgres_writer *writer, int statement,
                                  pawl_change_kind kind, pawl__postgres_want_fn *want,
                                  const void *context, const pawl__postgres_field *fields,
                                  size_t field_count, pawl__postgres_check_fn *check);

/* ---- Checking ----------------------------------------------------------- */

/* The code and the text of a refusal of the item, in `why`. */
typedef void pawl__postgres_why_fn(const void *change, pawl_error *why);

/* For statements that return the numbers (from 1) of the items that were
 * applied: refuses the others. */
pawl_code pawl__postgres_check_numbers(pawl__postgres_writer *writer, pawl__postgres_step *step,
                                       pawl__postgres_why_fn *why);
/* is_applied[i] of the same, in the writer's arena; NULL without memory. */
bool     *pawl__postgres_applied(pawl__postgres_writer *writer, pawl__postgres_step *step);
pawl_code pawl__postgres_refuse(pawl__postgres_writer *writer, pawl_change_kind kind,
                                const void *change, const pawl_error *why);
/* Sorts items by what a comparison of two changes says, against deadlocks. */
void pawl__postgres_sort(const void **items, size_t count,
                         int (*compare)(const void *left, const void *right));

/* ---- The kinds ---------------------------------------------------------- */

#define PAWL__POSTGRES_SENDER(name, is_refusable) pawl__postgres_send_fn pawl__postgres_send_##name;
PAWL_CHANGE_KINDS(PAWL__POSTGRES_SENDER)
#undef PAWL__POSTGRES_SENDER

#endif
