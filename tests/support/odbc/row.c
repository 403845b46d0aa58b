/* row.c - rows and their columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/odbc/handle.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SQLRETURN stall(scripted_statement *statement)
{
    const script_answer stalls = {.blocks = true};
    (void)pthread_mutex_lock(&scripted_lock);
    SQLRETURN result =
        scripted_answer(statement->connection, &statement->handle, statement, &stalls);
    (void)pthread_mutex_unlock(&scripted_lock);
    return result;
}

SQLRETURN SQLFetch(SQLHSTMT stmt)
{
    scripted_statement *statement = stmt;
    statement->handle.records     = NULL;
    statement->column             = 0;
    statement->row                = statement->next_row;
    if (statement->connection->is_gone)
        return SQL_ERROR;
    if (statement->row != NULL) {
        statement->next_row = statement->row->next;
        return SQL_SUCCESS;
    }
    if (statement->answer != NULL && statement->answer->stalls && stall(statement) != SQL_SUCCESS)
        return SQL_ERROR;
    if (statement->answer == NULL || statement->answer->fetch == NULL)
        return SQL_NO_DATA;
    statement->handle.records = statement->answer->fetch;
    return SQL_ERROR;
}

/* Returns a piece of a long value. The reported length is that of the rest, or SQL_NO_TOTAL. */
static SQLRETURN put_piece(scripted_statement *statement, const script_value *value, bool is_text,
                           char *to, size_t room, SQLLEN *indicator)
{
    size_t said = statement->offset == 0 ? value->said : value->size - statement->offset;
    size_t left = value->size - statement->offset;
    room -= is_text && room > 0;
    size_t piece   = left < room ? left : room;
    bool   is_more = said > room;
    if (statement->offset != 0 && left == 0)
        return SQL_NO_DATA;
    piece -= value->is_whole && piece < left && (piece & 1) != 0;
    memcpy(to, value->text + statement->offset, piece);
    if (is_text)
        to[piece] = '\0';
    statement->offset += piece;
    *indicator = is_more && value->is_open ? SQL_NO_TOTAL : (SQLLEN)said;
    if (!is_more)
        return SQL_SUCCESS;
    (void)scripted_fail(&statement->handle, "01004", "there is more of it", "");
    return SQL_SUCCESS_WITH_INFO;
}

static void put_time(const char *text, SQL_TIMESTAMP_STRUCT *to)
{
    unsigned of[7] = {0};
    (void)sscanf(text, "%u-%u-%u %u:%u:%u.%u", &of[0], &of[1], &of[2], &of[3], &of[4], &of[5],
                 &of[6]);
    *to = (SQL_TIMESTAMP_STRUCT){.year     = (SQLSMALLINT)of[0],
                                 .month    = (SQLUSMALLINT)of[1],
                                 .day      = (SQLUSMALLINT)of[2],
                                 .hour     = (SQLUSMALLINT)of[3],
                                 .minute   = (SQLUSMALLINT)of[4],
                                 .second   = (SQLUSMALLINT)of[5],
                                 .fraction = of[6] * 1000};
}

#define WIDE_MAX 200000 /* of a piece */

/* Script texts are ASCII: each character becomes two bytes. */
static SQLRETURN put_wide(scripted_statement *statement, const script_value *value, uint16_t *to,
                          size_t room, SQLLEN *indicator)
{
    static char piece[WIDE_MAX]; /* only one thread of a test reads */
    size_t      units = room / 2 < sizeof piece ? room / 2 : sizeof piece;
    SQLRETURN   put   = put_piece(statement, value, true, piece, units, indicator);
    for (size_t i = 0; SQL_SUCCEEDED(put) && i < units; i++) {
        to[i] = (unsigned char)piece[i];
        if (piece[i] == '\0')
            break;
    }
    *indicator *= *indicator > 0 ? 2 : 1;
    return put;
}

static SQLRETURN get(scripted_statement *statement, const script_value *value, SQLSMALLINT c_type,
                     SQLPOINTER to, size_t room, SQLLEN *indicator)
{
    script_value number = *value;
    char         digits[20];
    if (value->is_session) {
        (void)snprintf(digits, sizeof digits, "%d", statement->connection->number);
        number.text = digits;
        number.size = number.said = strlen(digits);
    }
    if (number.text == NULL) {
        *indicator = SQL_NULL_DATA;
        return SQL_SUCCESS;
    }
    if (c_type == SQL_C_CHAR || c_type == SQL_C_BINARY)
        return put_piece(statement, &number, c_type == SQL_C_CHAR, to, room, indicator);
    if (c_type == SQL_C_WCHAR)
        return put_wide(statement, &number, to, room, indicator);
    *indicator = (SQLLEN)room;
    if (c_type == SQL_C_SBIGINT)
        *(int64_t *)to = strtoll(number.text, NULL, 10);
    else if (c_type == SQL_C_TYPE_TIMESTAMP)
        put_time(number.text, to);
    else
        return scripted_fail(&statement->handle, "HY003", "no type of this driver", "");
    return SQL_SUCCESS;
}

SQLRETURN SQLGetData(SQLHSTMT stmt, SQLUSMALLINT column, SQLSMALLINT c_type, SQLPOINTER to,
                     SQLLEN room, SQLLEN *indicator)
{
    scripted_statement *statement = stmt;
    statement->handle.records     = NULL;
    if (statement->connection->is_gone)
        return SQL_ERROR;
    if (statement->row == NULL || column == 0 || column > statement->row->count)
        return scripted_fail(&statement->handle, "07009", "no such column", statement->text);
    if (statement->row->values[column - 1].is_failed) {
        statement->handle.records = statement->answer->fetch;
        return SQL_ERROR;
    }
    if (column != statement->column)
        statement->offset = 0;
    statement->column = column;
    if (statement->offset != 0)
        scripted_record(statement->connection, "piece", "");
    return get(statement, &statement->row->values[column - 1], c_type, to, (size_t)room, indicator);
}
