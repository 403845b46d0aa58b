/* oracle.c - the dialect of Oracle: column types, words of statements, and the schema's script (D6, D8, D15).
 *
 * Names are in capitals, so that a statement may have them without quotes. The table of a saga has
 * the prefix of its endpoint as everywhere, so that two endpoints do not share one (D7).
 *
 * Every statement that makes something commits by itself, and "if not exists" came with version 23:
 * each step is a block that counts the error "exists already" as success. If it read the catalog
 * first instead, one of two scripts at once would fail. The script has no command of sqlplus, so
 * that other clients and checkers of SQL take it, too; and chr(38) in place of an ampersand, with
 * which sqlplus begins a variable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"

/* The error that says that the step was done before; 0: there is none. */
static const int codes[] = {
    [PAWL__SQL_MAKE_TABLE] = -955,  [PAWL__SQL_MAKE_COLUMN] = -1430, [PAWL__SQL_MAKE_INDEX] = -955,
    [PAWL__SQL_MAKE_ROW] = -1,      [PAWL__SQL_CHANGE] = 0,          [PAWL__SQL_DROP_TABLE] = -942,
    [PAWL__SQL_DROP_INDEX] = -1418,
};

static const char *const no_indexes[] = {"timeouts_saga", NULL};

static void append_statement(pawl__sql_text *text, const pawl__sql_action *action)
{
    pawl__sql_append(text, "'");
    for (const char *at = action->statement; *at != '\0'; at++) {
        if (*at == '&')
            pawl__sql_append(text, "' || chr(38) || '");
        else
            pawl__sql_append_text(text, (pawl_text){.data = at, .size = 1});
        if (*at == '\'')
            pawl__sql_append(text, "'");
    }
    if (action->act == PAWL__SQL_DROP_TABLE)
        pawl__sql_append(text, " cascade constraints purge");
    pawl__sql_append(text, "'");
}

static pawl_code guard(const pawl__sql_action *action, pawl__sql_emit_fn *each, void *context,
                       pawl_error *error)
{
    pawl__sql_text text = {0};
    int            done = codes[action->act];
    pawl__sql_append(&text, "begin\n    execute immediate ");
    append_statement(&text, action);
    pawl__sql_append(&text, ";\n");
    if (action->act == PAWL__SQL_MAKE_ROW || action->act == PAWL__SQL_CHANGE)
        pawl__sql_append(&text, "    commit;\n");
    if (done != 0)
        pawl__sql_appendf(&text,
                          "exception when others then\n"
                          "    if sqlcode <> %d then\n"
                          "        raise;\n"
                          "    end if;\n",
                          done);
    pawl__sql_append(&text, "end;");
    pawl_code code =
        text.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script")
                       : each(text.data, context, error);
    pawl__sql_text_free(&text);
    return code;
}

/* '' is null in Oracle: a character stands for it. Sequences are ordered, since outbox rows leave and events get
 * positions in the order of their numbers: else each instance of a cluster (RAC) takes numbers from a cache of its
 * own. */
#define WORDS                                                                                      \
    .name = "oracle", .product = "Oracle 12.2 or later", .client = "sqlplus USER@SERVICE @FILE",   \
    .safety =                                                                                      \
        "Each step commits by itself, and sqlplus goes on behind an error: look for ORA- in "      \
        "what it says.\n-- The next run makes what is missing",                                    \
    .in_schema = "alter session set current_schema = %n;", .quote_open = '"', .quote_close = '"',  \
    .types =                                                                                       \
        {                                                                                          \
            [PAWL__SQL_SERIAL]    = "number(19) generated always as identity (order) primary key", \
            [PAWL__SQL_INTEGER]   = "number(19)",                                                  \
            [PAWL__SQL_TIME]      = "timestamp(6)",                                                \
            [PAWL__SQL_NAME]      = "varchar2(201 byte)",                                          \
            [PAWL__SQL_LONG_NAME] = "varchar2(402 byte)",                                          \
            [PAWL__SQL_UUID]      = "varchar2(38)",                                                \
            [PAWL__SQL_TEXT]      = "clob",                                                        \
            [PAWL__SQL_BODY]      = "blob default on null empty_blob()",                           \
            [PAWL__SQL_JSON]      = "clob",                                                        \
            [PAWL__SQL_METADATA]  = "clob",                                                        \
            [PAWL__SQL_VERSION]   = "varchar2(23)",                                                \
            [PAWL__SQL_KEY_TEXT]  = "nvarchar2(400)",                                              \
            [PAWL__SQL_KEY_INT]   = "number(19)",                                                  \
            [PAWL__SQL_KEY_TIME]  = "timestamp(6)",                                                \
    },                                                                                             \
    .catalog_types =                                                                               \
        {[PAWL__SQL_NAME] = "varchar2(201)", [PAWL__SQL_LONG_NAME] = "varchar2(402)"},             \
    .old_key_text = "nvarchar2(200)", .json_check = "", .parameter = "?", .integer = "%s",         \
    .epoch = "timestamp '1970-01-01 00:00:00'", .empty = "chr(1)",                                 \
    .limit = "fetch first %s rows only", .clock = "sys_extract_utc(systimestamp)",                 \
    .bits = "bitand(%a, %b)", .has = "instr(%a, %b) > 0",                                          \
    .locks = {"", " for update", " for update skip locked"}, .ignore = "",                         \
    .ignores_failures = true, .table_end = "", .keyed_end = "", .first_version = 3,                \
    .adds_columns = true, .keys_every_table = true, .indexes_every_row = true, .is_upper = true,   \
    .add_column = " add ", .correlation = "CORR_", .hashed_index = "SAGAIDX_", .hash_digits = 22,  \
    .guards = PAWL__SQL_ACT(MAKE_TABLE) | PAWL__SQL_ACT(MAKE_COLUMN) | PAWL__SQL_ACT(MAKE_INDEX) | \
              PAWL__SQL_ACT(MAKE_ROW) | PAWL__SQL_ACT(CHANGE) | PAWL__SQL_ACT(DROP_TABLE) |        \
              PAWL__SQL_ACT(DROP_INDEX),                                                           \
    .no_indexes = no_indexes, .guard = guard, .script_begin = "", .script_end = "",                \
    .statement_end = "\n/"

const pawl__sql_dialect pawl__oracle_dialect = {WORDS, .name_size_max = 128};

/* D6, D8. AGGREGATOR_FLUSH_DUE has 20 bytes, "CORR_" 5. */
const pawl__sql_dialect pawl__oracle_short_dialect = {
    WORDS, .name_size_max = 30, .prefix_size_max = 10, .correlation_size_max = 25};
