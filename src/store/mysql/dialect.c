/* dialect.c - types, keys and words of the tables of MySQL and MariaDB.
 *
 * Saga tables have the types and the character set of seed 004 (D14); every text that is compared
 * is compared byte for byte, trailing spaces included (D20), by a collation that each of
 * the two has under a name of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

/* An exact collation; the same for ASCII. */
#define MYSQL_EXACT "utf8mb4_0900_bin"
#define MYSQL_ASCII "ascii_bin"
#define MARIADB_EXACT "utf8mb4_nopad_bin"
#define MARIADB_ASCII "ascii_nopad_bin"

#define UTF8(exact) " character set utf8mb4 collate " exact
#define ASCII(exact) " character set ascii collate " exact
#define END(exact) " engine = InnoDB default character set utf8mb4 collate " exact
#define SAGA_END(ascii) " engine = InnoDB default character set ascii collate " ascii

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

/* The script may be run by a client whose session has another character set, in which names and
 * literals would be others; or another mode, in which an index is made too short without a
 * word. Every statement on tables commits by itself, so what two scripts at once would do to
 * each other is kept apart by a lock of the session. Where it cannot be had a subquery with
 * two rows ends the script: there is no other error that a plain statement can raise. */
#define BEGIN                                                                                    \
    "set names utf8mb4;\n"                                                                       \
    "set session sql_mode = 'TRADITIONAL';\n"                                                    \
    "-- Two scripts at once: the second waits for the first. After a minute it ends with error " \
    "1242.\n"                                                                                    \
    "set @pawl = if(get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 60) = 1, 0,\n"    \
    "    (select 1 union all select 2));"
#define END_OF_SCRIPT "do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));"

#define COMMON                                                                                   \
    .quote_open = '`', .quote_close = '`', .json_check = "", .parameter = "?",                   \
    .integer = "cast(%s as signed)", .epoch = "'1970-01-01 00:00:00'",                           \
    .index = "force index (%s) ", .locks = {"", " for update", " for update skip locked"},       \
    .ignore = "on duplicate key update %c = %c", .ignores_failures = true, .adds_columns = true, \
    .keeps_ties = true, .keys_every_table = true, .indexes_every_row = true,                     \
    .indexes_inside = true, .name_chars_max = 64, .first_version = 3, .script_begin = BEGIN,     \
    .script_end = END_OF_SCRIPT

const pawl__sql_dialect pawl__mysql_dialect = {
    .name         = "mysql",
    .types        = TYPES(MYSQL_EXACT, MYSQL_ASCII),
    .table_end    = END(MYSQL_EXACT),
    .keyed_end    = END(MYSQL_EXACT),
    .saga_end     = SAGA_END(MYSQL_ASCII),
    .looks_before = true,
    COMMON,
};

const pawl__sql_dialect pawl__mariadb_dialect = {
    .name      = "mariadb",
    .types     = TYPES(MARIADB_EXACT, MARIADB_ASCII),
    .table_end = END(MARIADB_EXACT),
    .keyed_end = END(MARIADB_EXACT),
    .saga_end  = SAGA_END(MARIADB_ASCII),
    COMMON,
};

const int pawl__mysql_overrides[PAWL__SQL_ROW_STATEMENT_END] = {
    [PAWL__SQL_WORKER_INSERT]            = PAWL__MYSQL_WORKER_INSERT,
    [PAWL__SQL_WORKER_FENCE]             = PAWL__MYSQL_WORKER_FENCE,
    [PAWL__SQL_WORKER_REPLACE]           = PAWL__MYSQL_WORKER_REPLACE,
    [PAWL__SQL_WORKER_FOLD]              = PAWL__MYSQL_WORKER_FOLD,
    [PAWL__SQL_QUEUE_FIRST]              = PAWL__MYSQL_QUEUE_FIRST,
    [PAWL__SQL_OUTBOX_SWEEP]             = PAWL__MYSQL_OUTBOX_SWEEP,
    [PAWL__SQL_EVENT_INSERT_FIRST]       = PAWL__MYSQL_EVENT_INSERT_FIRST,
    [PAWL__SQL_FOLD_SET]                 = PAWL__MYSQL_FOLD_SET,
    [PAWL__SQL_AGGREGATOR_DELETE_OLDEST] = PAWL__MYSQL_AGGREGATOR_DELETE_OLDEST,
};
