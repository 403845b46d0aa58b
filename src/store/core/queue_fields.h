/* queue_fields.h - the fields of the queue's row, for all stores: those read from a row, those that a settle writes,
 * and the initial values of a new row.
 *
 * A field that a settle writes is added here, to the two structs (pawl/store_rows.h, pawl/change_rows.h), to the
 * columns of store/sql/tables.c (with a step in steps.c, for tables of an older version), and where somebody shows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_QUEUE_FIELDS_H
#define PAWL_STORE_CORE_QUEUE_FIELDS_H

#define PAWL__COMMA ,

/* Each field of a row as X(of, member, column, name in a document, wire), with `between` between two of them; the
 * message and the error stand behind. */
#define PAWL__QUEUE_STATE(X, of, between)                           \
    X(of, seq, Seq, seq, INT)                                       \
    between X(of, due, Due, due, TIME)                              \
    between X(of, placed, Placed, placed, TIME)                     \
    between X(of, attempts, Attempts, attempts, INT32)              \
    between X(of, crashes, Deaths, deaths, INT32)                   \
    between X(of, waiting_since, WaitingSince, waiting_since, TIME) \
    between X(of, history, History, history, TEXT)

/* Each field that a settle writes as X(number of its parameter, member, column, name in a document, wire, wire and
 * form of the check of a change); the error, which is no member of pawl_queue_row, as E. */
#define PAWL__QUEUE_SETTLED(X, E, between)                                    \
    X(1, due, Due, due, TIME, TIME, ANY)                                      \
    between X(2, attempts, Attempts, attempts, INT32, INT32, ANY)             \
    between X(3, crashes, Deaths, deaths, INT32, INT32, ANY)                  \
    between X(4, waiting_since, WaitingSince, waiting_since, TIME, TIME, ANY) \
    between E(5, error, Error, error, ERROR_TEXT, ERROR_TEXT, ERROR)          \
    between X(6, history, History, history, ERROR_TEXT, BYTES, BODY)
#define PAWL__QUEUE_SETTLED_WHERE "[Seq] = ?7 and [Queue] = ?8" /* behind them */
/* The parameters of PostgreSQL: the ctid of the row stands before them. */
#define PAWL__QUEUE_SETTLED_ARRAYS "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"

/* Columns and values of a new row other than its message and times; the same for documents. */
#define PAWL__QUEUE_NEW_COLUMNS "[Deaths], [WaitingSince]"
#define PAWL__QUEUE_NEW_VALUES "0, {epoch}"
#define PAWL__QUEUE_NEW_DOCUMENT "deaths: 0, waiting_since: 0"

#endif
