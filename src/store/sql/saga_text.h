/* saga_text.h - the statements on a saga's own table: templates that are written out for
 * each table. The shared ones have one row each.
 *
 * A template is one of dialect.h, and has beside that what a saga table has its own of:
 *
 *     {saga}           the table, quoted
 *     {row}            the dialect's column that says where a row stands, or 0
 *     {key}            the column that the statement finds rows by
 *     {columns:s.}     ", " and a correlation column, quoted, for each that the table has, with
 *                      what stands behind the colon before it
 *     {reads}          the same as they are read: a time with an offset in UTC
 *     {1:text} {2:text}    the text, when the table has a first (a second) correlation
 *     {b:text} {-b:text}   the text, when it has a transitional correlation, or has none;
 *     {b}              its column
 *     {?}              the next parameter; {?1}, {?2}, {?b}: for the column of such a correlation
 *     {value}          in front of the table, and behind it {is}: the rows whose {key} is the next
 *                      parameter, compared as the dialect has to
 *     {hint}           behind the table: the words that lock the rows, or nothing
 *     {lock}           the words that lock the rows, or nothing
 *     {limit:{?}}      no more rows than that
 *
 * Texts may have tokens of their own. A database that has a better way for a set of rows
 * writes its own templates.
 *
 * Threads: plain data.
 * Tests: tests/contract/test_sql_golden.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SAGA_TEXT_H
#define PAWL_STORE_SQL_SAGA_TEXT_H

#include "pawl/store_driver.h"
#include "store/sql/tables.h"

typedef enum pawl__sql_saga_statement {
    PAWL__SQL_SAGA_BY_ID, /* the three loads, as pawl_saga_key counts them */
    PAWL__SQL_SAGA_BY_MAIN,
    PAWL__SQL_SAGA_BY_TRANSITIONAL,
    PAWL__SQL_SAGA_INSERT,
    PAWL__SQL_SAGA_UPDATE_ROW, /* by dialect->row as it was loaded */
    PAWL__SQL_SAGA_UPDATE,
    PAWL__SQL_SAGA_DELETE,
    PAWL__SQL_SAGA_COUNT,
    PAWL__SQL_SAGA_WALK,
    PAWL__SQL_SAGA_BY_OTHER, /* whether another saga has the transitional value; none without that correlation */
    PAWL__SQL_SAGA_LOCKED, /* the three loads once more, for pawl_saga_lock; databases without */
    PAWL__SQL_SAGA_SKIP_LOCKED     = PAWL__SQL_SAGA_LOCKED + 3, /* row locks never ask for them */
    pawl__sql_saga_statement_count = PAWL__SQL_SAGA_SKIP_LOCKED + 3
} pawl__sql_saga_statement;

/* Sagas behind an id. Parameters are written as the database's other saga templates have them. */
#define PAWL__SQL_SAGA_WALK_TEXT(id, limit)                                                     \
    "select [Id], [PersistenceVersion], [SagaTypeVersion], [Data] from {saga} where [Id] > " id \
    " "                                                                                         \
    "order by [Id] {limit:" limit "}"

/* The parameters stand in the order of the fields in changes.c; those of a load are its one
 * value, its columns dialect->row, id, version, metadata, data, the version of the state's
 * record, and the correlations that the table has. */
void pawl__sql_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                         const pawl_saga_table *table, pawl__sql_saga_statement which);

/* A template, the key that {key} stands for, and the lock of {lock}. */
typedef struct pawl__sql_saga_template {
    const char    *text;
    pawl_saga_key  key;
    pawl_saga_lock lock;
} pawl__sql_saga_template;

/* The template of a shared statement. */
const pawl__sql_saga_template *pawl__sql_saga_template_of(pawl__sql_saga_statement which);
void pawl__sql_saga_expand(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                           const pawl_saga_table *table, const pawl__sql_saga_template *statement);

/* ---- Tables ------------------------------------------------------------- */

static inline bool pawl__sql_same_correlation(const pawl_correlation *left,
                                              const pawl_correlation *right)
{
    return left->type == right->type && pawl_text_equal(left->property, right->property);
}

/* Whether both are one table: the same name and the same correlations. Here, since every load and
 * every change of a saga asks for it. */
static inline bool pawl__sql_saga_same(const pawl_saga_table *left, const pawl_saga_table *right)
{
    return pawl_text_equal(left->name, right->name) &&
           pawl__sql_same_correlation(&left->main, &right->main) &&
           pawl__sql_same_correlation(&left->transitional, &right->transitional);
}

/* A copy whose texts stand in `*texts`, which is allocated. */
pawl_code pawl__sql_saga_copy(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_saga_table *copy, char **texts, pawl_error *error);

#endif
