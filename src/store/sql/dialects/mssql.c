/* mssql.c - the dialect of SQL Server: column types, words of statements, and the schema's script (D13).
 *
 * A script is one batch without GO: if a batch fails, sqlcmd runs the next one, which would then
 * be outside of the transaction that the first had begun. Statements on what the batch itself has
 * made run inside exec, and so are compiled only then.
 *
 * Under every collation texts are compared without the spaces at their end: 'a' = 'a '. So in pawl's
 * own tables a text that ends with a space is stored with a character behind it. A correlation text
 * has a second column with its size, and the unique index has both columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"

/* A text that ends with a space is stored with a character behind it (odbc/wide.h). */
#define EXACT " collate Latin1_General_100_BIN2"

/* ---- Guards ------------------------------------------------------------- */

static void append_n(pawl__sql_text *text, pawl_text value)
{
    pawl__sql_append(text, "N");
    pawl__sql_append_literal(text, value);
}

/* object_id(N'[dbo].[t]', N'U'): of a table, not of a view. */
static void append_id(pawl__sql_text *text, pawl_text table)
{
    pawl__sql_append(text, "object_id(");
    append_n(text, table);
    pawl__sql_append(text, ", N'U')");
}

static void append_index_look(pawl__sql_text *text, const pawl__sql_action *action, pawl_text table)
{
    pawl__sql_append(text, "if not exists (select 1 from sys.indexes where object_id = ");
    append_id(text, table);
    pawl__sql_append(text, "\n    and name = ");
    append_n(text, action->name);
    pawl__sql_append(text, ")\n    exec (");
    append_n(text, pawl_text_of(action->statement));
    pawl__sql_append(text, ")");
}

static void append_guarded(pawl__sql_text *text, const pawl__sql_action *action, pawl_text table)
{
    switch (action->act) {
    case PAWL__SQL_MAKE_TABLE:
        pawl__sql_append(text, "if ");
        append_id(text, table);
        pawl__sql_append(text, " is null\n");
        break;
    case PAWL__SQL_MAKE_COLUMN:
        pawl__sql_append(text, "if col_length(");
        append_n(text, table);
        pawl__sql_append(text, ", ");
        append_n(text, action->name);
        pawl__sql_append(text, ") is null\n    ");
        break;
    case PAWL__SQL_MAKE_INDEX: append_index_look(text, action, table); return;
    case PAWL__SQL_MAKE_ROW:
        pawl__sql_append(text, "if not exists (select 1 from ");
        pawl__sql_append_text(text, table);
        pawl__sql_append(text, ")\n    ");
        break;
    case PAWL__SQL_CHANGE:
    case PAWL__SQL_DROP_TABLE:
    case PAWL__SQL_DROP_INDEX: break;
    }
    pawl__sql_append(text, action->statement);
}

static pawl_code guard(const pawl__sql_action *action, pawl__sql_emit_fn *each, void *context,
                       pawl_error *error)
{
    pawl__sql_text text = {0}, table = {0};
    pawl__sql_append_table(&table, action->dialect, "", action->table);
    append_guarded(&text, action, pawl__sql_text_of(&table));
    pawl_code code =
        text.is_failed || table.is_failed
            ? pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script")
            : each(text.data, context, error);
    pawl__sql_text_free(&text);
    pawl__sql_text_free(&table);
    return code;
}

/* ---- The table ---------------------------------------------------------- */

/* Filtered indexes need these settings, some of which sqlcmd does not make; xact_abort: an error undoes the whole
 * script. */
static const char script_begin[] =
    "set nocount on;\n"
    "set xact_abort on;\n"
    "set ansi_nulls on;\n"
    "set ansi_padding on;\n"
    "set ansi_warnings on;\n"
    "set arithabort on;\n"
    "set concat_null_yields_null on;\n"
    "set numeric_roundabort off;\n"
    "set quoted_identifier on;\n"
    "set lock_timeout 60000;\n"
    "begin transaction;\n"
    "declare @pawl int;\n"
    "exec @pawl = sp_getapplock @Resource = N'pawl', @LockMode = N'Exclusive',\n"
    "    @LockOwner = N'Transaction', @LockTimeout = 60000;\n"
    "if @pawl < 0\n"
    "    throw 50001, N'pawl: another script has not ended within a minute', 1;";

/* Sizes of correlation texts count units of UTF-16, of which a character has two at most. */
const pawl__sql_dialect pawl__mssql_dialect = {
    .name        = "mssql",
    .product     = "SQL Server 2016 or later",
    .client      = "sqlcmd -b -x -f 65001 -d DATABASE -i FILE",
    .safety      = "One transaction: all of it is done, or nothing. Two at once take turns",
    .schema      = "dbo",
    .in_schema   = "if schema_id(N%s) is null\n    exec (N'create schema ' + N%l);",
    .quote_open  = '[',
    .quote_close = ']',
    .types =
        {
            [PAWL__SQL_SERIAL]          = "bigint identity(1, 1) not null primary key",
            [PAWL__SQL_INTEGER]         = "bigint",
            [PAWL__SQL_TIME]            = "datetime2(6)",
            [PAWL__SQL_NAME]            = "nvarchar(201)" EXACT,
            [PAWL__SQL_LONG_NAME]       = "nvarchar(402)" EXACT,
            [PAWL__SQL_UUID]            = "uniqueidentifier",
            [PAWL__SQL_TEXT]            = "nvarchar(max)" EXACT,
            [PAWL__SQL_BODY]            = "varbinary(max)",
            [PAWL__SQL_JSON]            = "nvarchar(max)",
            [PAWL__SQL_METADATA]        = "nvarchar(max)",
            [PAWL__SQL_VERSION]         = "varchar(23)",
            [PAWL__SQL_KEY_TEXT]        = "nvarchar(400)" EXACT,
            [PAWL__SQL_KEY_INT]         = "bigint",
            [PAWL__SQL_KEY_TIME]        = "datetime2(6)",
            [PAWL__SQL_KEY_OFFSET_TIME] = "datetimeoffset",
        },
    .catalog_types =
        {[PAWL__SQL_SERIAL] = "bigint", [PAWL__SQL_KEY_OFFSET_TIME] = "datetimeoffset(7)"},
    .collation        = "Latin1_General_100_BIN2", /* another takes 'a' and 'A' for equal */
    .json_check       = "",
    .parameter        = "?",
    .integer          = "cast(%s as bigint)",
    .epoch            = "'1970-01-01'",
    .has              = "charindex(%b, %a) > 0",
    .clock            = "sysutcdatetime()",
    .any_order        = "order by (select null) ",
    .limit            = "offset 0 rows fetch next %s rows only",
    .locks            = {"", "", ""},
    .hints            = {"", " with (updlock, rowlock)",
                         " with (updlock, readpast, rowlock, readcommittedlock)"},
    .value            = "(select %s" EXACT " as [v]) as k, ",
    .same             = " = k.[v] and datalength(%s) = datalength(k.[v])",
    .utc              = "cast(switchoffset(%n, '+00:00') as datetime2(6))",
    .old_time         = "datetime",
    .old_key_text     = "nvarchar(200)",
    .old_value        = "cast(cast(%s as datetime2(6)) as datetime)",
    .old_read         = "coalesce(try_convert(datetime2(6), json_value([Data], %s), 127), ",
    .ignores_failures = true,
    .own_order      = true, /* of units of UTF-16, the shorter of two texts with spaces behind it */
    .ignore         = "",
    .table_end      = "",
    .keyed_end      = "",
    .name_chars_max = 128,
    .first_version  = 3,
    .adds_columns   = true,
    .keys_every_table = true,
    .has_own_indexes  = true,
    .add_column       = " add ",
    .unique_where     = "\n    where %n is not null",
    .exact_size       = " as datalength(%n) persisted",
    .guards = PAWL__SQL_ACT(MAKE_TABLE) | PAWL__SQL_ACT(MAKE_COLUMN) | PAWL__SQL_ACT(MAKE_INDEX) |
              PAWL__SQL_ACT(MAKE_ROW),
    .guard        = guard,
    .script_begin = script_begin,
    .script_end   = "commit transaction;",
};
