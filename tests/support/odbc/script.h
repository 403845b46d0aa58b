/* script.h - the script of an ODBC driver without a server: statements and their answers.
 *
 *     name libmaodbc.so              as the driver calls itself (SQL_DRIVER_NAME)
 *     types                          parameters of a long type are recorded behind the word "long"
 *     on select version()*           texts that fit, '*' for any characters; the first rule that fits answers
 *       times 1                      ... so often, and is passed over then
 *       row '10.11.6' session null   a row: texts, the connection's number, null, and
 *                                    fill:N       N bytes 'a'
 *                                    open:N       the same, of a length that is told at the last piece
 *                                    pairs:N      N bytes of characters of two, which no piece splits
 *                                    open-pairs:N the same, of a length that is told at the last piece
 *                                    nul:N        N bytes NUL, of a length that is told at the last piece
 *                                    lie:N:M      said to be N bytes, of which there are M
 *                                    failed       SQLGetData fails as `fetch` says
 *       columns 4                    of an answer without rows
 *       count 1                      SQLRowCount; 0 without it
 *       error HY000 1213 Deadlock    SQL_ERROR with a record; another line, another record
 *       error                        SQL_ERROR without any record
 *       info 01000 0 Changed         SQL_SUCCESS_WITH_INFO, with a record
 *       nodata                       SQL_NO_DATA
 *       fetch HY000 2013 Lost        SQLFetch fails so behind the rows
 *       stalls                       ... until SQLCancel; without `fetch` that is the end of the rows
 *       blocks                       until SQLCancel, or a statement whose answer wakes
 *       deaf 1                       so many SQLCancel come too early, and end nothing
 *       wakes
 *       gone                         the connection is dead from then on: each call fails without a record
 *       then                         begins the next result (SQLMoreResults)
 *
 * Rules of other calls begin with the call: "on connect *" (the connection string), "on prepare *", without which both
 * succeed, and "on end commit", "on end rollback" (SQLEndTran). A line that begins with '#' is passed over.
 *
 * Threads: a rule's uses are counted under the driver's lock. Tests: tests/contract/test_odbc_scripted.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SUPPORT_ODBC_SCRIPT_H
#define PAWL_TESTS_SUPPORT_ODBC_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_COLUMNS_MAX 40

typedef struct script_value {
    char  *text; /* NULL: SQL null */
    size_t size; /* of the text */
    size_t said; /* the reported length */
    bool   is_open;
    bool   is_whole; /* pieces end between characters */
    bool   is_session;
    bool   is_failed;
} script_value;

typedef struct script_row {
    struct script_row *next;
    unsigned           count;
    script_value       values[SCRIPT_COLUMNS_MAX];
} script_row;

typedef struct script_record {
    struct script_record *next;
    char                  state[6];
    long                  native;
    char                  text[200];
} script_record;

typedef enum script_result { SCRIPT_DONE, SCRIPT_INFO, SCRIPT_NO_DATA, SCRIPT_ERROR } script_result;

typedef struct script_answer {
    struct script_answer *next; /* next result */
    script_result         result;
    unsigned              column_count;
    long                  count;
    script_row           *rows;
    script_record        *records; /* of the result */
    script_record        *fetch;   /* of SQLFetch after the rows; NULL: the normal end */
    bool                  blocks;
    bool                  stalls;
    bool                  wakes;
    long                  deaf;
    bool                  is_gone;
} script_answer;

typedef struct script_rule {
    struct script_rule *next;
    char               *pattern;
    long                times; /* remaining uses; -1: any number */
    script_answer      *answers;
} script_rule;

typedef struct script {
    struct script *next;
    char          *path;
    char           name[100];
    char           failure[300]; /* why the file is invalid; "": it is valid */
    bool           has_types;
    script_rule   *rules;
    int            connections; /* number of the last connection */
} script;

/* Reads the file once per process. NULL: no memory. */
script *script_of(const char *path);
/* Finds the answers to a text, and counts the use; NULL: no rule matches. With a `kind` ("prepare ") only rules whose
 * pattern begins with it; the kind is not part of the text. */
const script_answer *script_find(script *of, const char *kind, const char *text);
/* Number of columns of the text's first result, from any matching rule that has columns. False: no rule matches. */
bool script_columns(const script *of, const char *text, unsigned *count);
bool script_fits(const char *pattern, const char *text);

#endif
