/* sqlite.c - the dialect of SQLite: column types and words of statements (D39).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"

/* Not made: the number of an event is its position here. */
static const char *const no_indexes[] = {"events_position", "events_unnumbered", NULL};

/* Waits a minute for another script or a program that writes. */
static const char script_begin[] = "pragma busy_timeout = 60000;\n"
                                   "pragma journal_mode = wal;\n"
                                   "begin immediate;";

const pawl__sql_dialect pawl__sqlite_dialect = {
    .name        = "sqlite",
    .product     = "SQLite 3.37 or later",
    .client      = "sqlite3 -bail DATABASE <FILE",
    .safety      = "One transaction: all of it is done, or nothing. Two at once take turns",
    .quote_open  = '"',
    .quote_close = '"',
    .types =
        {
            [PAWL__SQL_SERIAL]    = "integer primary key autoincrement",
            [PAWL__SQL_INTEGER]   = "integer",
            [PAWL__SQL_TIME]      = "integer",
            [PAWL__SQL_NAME]      = "text collate binary",
            [PAWL__SQL_LONG_NAME] = "text",
            [PAWL__SQL_UUID]      = "text",
            [PAWL__SQL_TEXT]      = "text",
            [PAWL__SQL_BODY]      = "text",
            [PAWL__SQL_JSON]      = "text",
            [PAWL__SQL_METADATA]  = "text",
            [PAWL__SQL_VERSION]   = "text",
            [PAWL__SQL_KEY_TEXT]  = "text collate binary",
            [PAWL__SQL_KEY_INT]   = "integer",
            [PAWL__SQL_KEY_TIME]  = "integer",
        },
    .json_check   = " check (json_valid(%n))",
    .parameter    = "?%u",
    .integer      = "cast(%s as bigint)",
    .epoch        = "0",
    .locks        = {"", "", ""},
    .ignore       = "on conflict (%s) do nothing",
    .row          = "rowid",
    .index        = "indexed by %s ",
    .free_row     = "and pawl_is_free([Seq]) ",
    .table_end    = " strict",
    .keyed_end    = " strict, without rowid",
    .keeps_ties   = true,
    .no_indexes   = no_indexes,
    .script_begin = script_begin,
    .script_end   = "commit;",
};
