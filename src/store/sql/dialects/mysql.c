/* mysql.c - the dialects of MySQL and MariaDB: column types, words of statements, and the schema's script.
 *
 * Saga tables have the types and the character set of seed 004 (D14); every text that is compared
 * is compared byte for byte, trailing spaces included (D20), by a collation that each of
 * the two has under a name of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects.h"

/* An exact collation; the same for ASCII. */
#define MYSQL_EXACT "utf8mb4_0900_bin"
#define MYSQL_ASCII "ascii_bin"
#define MARIADB_EXACT "utf8mb4_nopad_bin"
#define MARIADB_ASCII "ascii_nopad_bin"

#define UTF8(exact) " character set utf8mb4 collate " exact
#define ASCII(exact) " character set ascii collate " exact
#define END(exact) \
    " engine = InnoDB row_format = dynamic default character set utf8mb4 collate " exact
#define SAGA_END(ascii) \
    " engine = InnoDB row_format = dynamic default character set ascii collate " ascii

/* The width in bigint(20) is seed 004's word for a correlation column. It is no part of the type:
 * MySQL 8 and later accept it with a warning and say bigint of the column. */
#define TYPES(exact, ascii)                                                                      \
    {                                                                                            \
        [PAWL__SQL_SERIAL]  = "bigint not null auto_increment primary key",                      \
        [PAWL__SQL_INTEGER] = "bigint", [PAWL__SQL_TIME] = "datetime(6)",                        \
        [PAWL__SQL_NAME] = "varchar(200)", [PAWL__SQL_LONG_NAME] = "varchar(401)",               \
        [PAWL__SQL_UUID] = "varchar(38)" ASCII(ascii), [PAWL__SQL_TEXT] = "longtext",            \
        [PAWL__SQL_BODY] = "longblob", [PAWL__SQL_JSON] = "json", [PAWL__SQL_METADATA] = "json", \
        [PAWL__SQL_VERSION] = "varchar(23)", [PAWL__SQL_KEY_TEXT] = "varchar(200)" UTF8(exact),  \
        [PAWL__SQL_KEY_INT] = "bigint(20)", [PAWL__SQL_KEY_TIME] = "datetime(6)",                \
    }

/* ---- Scripts ------------------------------------------------------------ */

/* "add column if not exists" and "create index if not exists", which MySQL does not have: the script reads the
 * catalog, and prepares either the statement or one that does nothing. The session variable @pawl and the prepared
 * statement `pawl` are the script's own. */
typedef struct guarded_row {
    const char *view;
    const char *column;
} guarded_row;

static const guarded_row rows[] = {
    [PAWL__SQL_MAKE_COLUMN] = {"columns", "column_name"},
    [PAWL__SQL_MAKE_INDEX]  = {"statistics", "index_name"},
};

/* Escapes for a session with backslash escapes: the beginning of the script turns them on. */
static void append_escaped(pawl__sql_text *text, pawl_text value)
{
    pawl__sql_append(text, "'");
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == '\'' || c == '\\')
            pawl__sql_append(text, c == '\'' ? "'" : "\\");
        pawl__sql_append_text(text, (pawl_text){.data = &c, .size = 1});
    }
    pawl__sql_append(text, "'");
}

static void append_look(pawl__sql_text *text, const pawl__sql_action *action)
{
    const guarded_row *row = &rows[action->act];
    pawl__sql_append(text, "set @pawl = (select if(count(*) = 0,\n    ");
    append_escaped(text, pawl_text_of(action->statement));
    pawl__sql_appendf(text,
                      ",\n    'do 0') from information_schema.%s\n"
                      "    where table_schema = database() and table_name = ",
                      row->view);
    append_escaped(text, action->table);
    pawl__sql_appendf(text, " and %s = ", row->column);
    append_escaped(text, action->name);
    pawl__sql_append(text, ")");
}

static pawl_code guard(const pawl__sql_action *action, pawl__sql_emit_fn *each, void *context,
                       pawl_error *error)
{
    static const char *const doing[] = {"prepare pawl from @pawl", "execute pawl",
                                        "deallocate prepare pawl"};
    pawl__sql_text           look    = {0};
    append_look(&look, action);
    pawl_code code =
        look.is_failed ? pawl_error_set(error, PAWL_ENOMEM, "out of memory for the schema's script")
                       : each(look.data, context, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof doing / sizeof doing[0]; i++)
        code = each(doing[i], context, error);
    pawl__sql_text_free(&look);
    return code;
}

/* The index of pending outbox rows had three columns at first. One statement replaces it, since statements of
 * running programs name it. */
#define WIDEN_OUTBOX_INDEX                                                                    \
    "alter table {outbox} drop index {outbox_pending}, add index {outbox_pending} ([State], " \
    "[Id], [NextAttempt], [Endpoint])"
#define OF_OUTBOX_PENDING                                                          \
    "table_schema = database() and concat('`', table_name, '`') = '{outbox}' and " \
    "concat('`', index_name, '`') = '{outbox_pending}'"
static const pawl__sql_extra in_scripts[] = {
    {"outbox", "set @pawl = (select if(count(*) = 3,\n"
               "    '" WIDEN_OUTBOX_INDEX "',\n"
               "    'do 0') from information_schema.statistics\n"
               "    where " OF_OUTBOX_PENDING ")"},
    {"outbox", "prepare pawl from @pawl"},
    {"outbox", "execute pawl"},
    {"outbox", "deallocate prepare pawl"},
    {0},
};

/* The client that runs the script may have another character set, by which names and literals differ; or another
 * mode, in which an index is cut to a shorter one silently; or no autocommit, so that the version is rolled back at
 * the end. Every statement on tables commits by itself, so a lock of the session keeps two scripts apart. If the
 * lock is not free, a subquery with two rows ends the script: a plain statement can raise no other error. */
#define BEGIN                                                                                 \
    "set names utf8mb4;\n"                                                                    \
    "set session sql_mode = 'TRADITIONAL', autocommit = 1;\n"                                 \
    "set session transaction read write;\n"                                                   \
    "-- The second of two waits for the first. After a minute it ends with error 1242\n"      \
    "set @pawl = if(get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 60) = 1, 0,\n" \
    "    (select 1 union all select 2));"
#define END_OF_SCRIPT "do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));"

#define SAFETY                                                                           \
    "Each statement commits by itself. The next run makes what is missing. Two at once " \
    "take turns"

#define COMMON                                                                                   \
    .safety = SAFETY, .quote_open = '`', .quote_close = '`', .json_check = "", .parameter = "?", \
    .integer = "cast(%s as signed)", .epoch = "'1970-01-01 00:00:00'",                           \
    .clock = "utc_timestamp(6)", .index = "force index (%s) ",                                   \
    .locks = {"", " for update", " for update skip locked"}, .share = " lock in share mode",     \
    .ignore = "on duplicate key update %c = %c", .ignores_failures = true, .adds_columns = true, \
    .keeps_ties = true, .keys_every_table = true, .indexes_every_row = true,                     \
    .indexes_inside = true, .has_own_indexes = true, .name_chars_max = 64, .first_version = 3,   \
    .script_begin = BEGIN, .script_end = END_OF_SCRIPT, .in_scripts = in_scripts,                \
    .widen_outbox_index = WIDEN_OUTBOX_INDEX

const pawl__sql_dialect pawl__mysql_dialect = {
    .name    = "mysql",
    .product = "MySQL 8.0.1 or later",
    .client  = "mysql DATABASE <FILE",
    .types   = TYPES(MYSQL_EXACT, MYSQL_ASCII),
    /* The catalog reports no width of whole numbers (D38). */
    .catalog_types = {[PAWL__SQL_KEY_INT] = "bigint"},
    .collation     = "utf8mb4_0900_bin",
    .table_end     = END(MYSQL_EXACT),
    .keyed_end     = END(MYSQL_EXACT),
    .saga_end      = SAGA_END(MYSQL_ASCII),
    .guards        = PAWL__SQL_ACT(MAKE_COLUMN) | PAWL__SQL_ACT(MAKE_INDEX),
    .guard         = guard,
    COMMON,
};

const pawl__sql_dialect pawl__mariadb_dialect = {
    .name    = "mariadb",
    .product = "MariaDB 10.6 or later",
    .client  = "mariadb DATABASE <FILE",
    .types   = TYPES(MARIADB_EXACT, MARIADB_ASCII),
    /* The catalog reports widths; json is its word for a longtext with a check. */
    .catalog_types = {[PAWL__SQL_SERIAL]   = "bigint(20)",
                      [PAWL__SQL_INTEGER]  = "bigint(20)",
                      [PAWL__SQL_JSON]     = "longtext",
                      [PAWL__SQL_METADATA] = "longtext"},
    .collation     = "utf8mb4_nopad_bin",
    .table_end     = END(MARIADB_EXACT),
    .keyed_end     = END(MARIADB_EXACT),
    .saga_end      = SAGA_END(MARIADB_ASCII),
    COMMON,
};
