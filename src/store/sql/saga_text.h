/* saga_text.h - makes the statements on a saga table from templates. The shared templates work on one row
 * each.
 *
 * Besides the tokens of dialect.h a template may have these:
 *
 *     {saga}           the table, quoted
 *     {row}            the dialect's pseudo-column with a row's address, or 0
 *     {key}            the column by which the statement finds rows
 *     {columns:s.}     ", s." and the quoted column, for each correlation column of the table
 *                      (the text after the colon is the prefix)
 *     {reads}          the same for a select: a time with an offset is read in UTC
 *     {1:text} {2:text}    the text, if the table has a first (a second) correlation
 *     {b:text} {-b:text}   the text, if it has (has not) a transitional correlation;
 *     {b}              its column
 *     {?}              the next parameter; {?1}, {?2}, {?b}: for the column of such a correlation
 *     {value}, {is}    before and after the table: finds rows whose {key} equals the next
 *                      parameter, by the comparison that the dialect needs
 *     {hint}           after the table: the words that lock the rows, or nothing
 *     {lock}           the words that lock the rows, or nothing
 *     {limit:{?}}      no more rows than that
 *
 * Texts may contain tokens, too. A database with better statements for sets of rows
 * has its own templates.
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
    PAWL__SQL_SAGA_UPDATE_ROW, /* finds the row by its address (dialect->row) from the load */
    PAWL__SQL_SAGA_UPDATE,
    PAWL__SQL_SAGA_DELETE,
    PAWL__SQL_SAGA_COUNT,
    PAWL__SQL_SAGA_SCAN,
    PAWL__SQL_SAGA_BY_OTHER, /* has another saga the transitional value? Only for tables with that correlation */
    PAWL__SQL_SAGA_LOCKED, /* the three loads for each pawl_saga_lock; only for */
    PAWL__SQL_SAGA_SKIP_LOCKED     = PAWL__SQL_SAGA_LOCKED + 3, /* databases with row locks */
    pawl__sql_saga_statement_count = PAWL__SQL_SAGA_SKIP_LOCKED + 3
} pawl__sql_saga_statement;

/* Sagas after an id. `id` and `limit`: parameters in the form of the database's saga templates. */
#define PAWL__SQL_SAGA_SCAN_TEXT(id, limit)                                                     \
    "select [Id], [PersistenceVersion], [SagaTypeVersion], [Data] from {saga} where [Id] > " id \
    " "                                                                                         \
    "order by [Id] {limit:" limit "}"

/* Parameters are in the order of the fields in changes.c. A load has one parameter, the value; its
 * columns are dialect->row, id, version, metadata, data, the version of the state's
 * record, and the table's correlations. */
void pawl__sql_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                         const pawl_saga_table *table, pawl__sql_saga_statement which);

/* A template, the key for {key}, and the lock for {lock}. */
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

/* Are both the same table, with the same correlations? Inline, since every load and every
 * change of a saga calls it. */
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
