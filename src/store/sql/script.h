/* script.h - the scripts that make and drop the tables, for every dialect, without a driver.
 *
 *     pawl__sql_dialect_find -> a script -> pawl__sql_script_check -> pawl__sql_script_print
 *     one file per table:       pawl__sql_script_piece for 0, 1, ... until it says false
 *
 * Threads: any. Tests: tests/contract/test_schema_scripts.c, tests/system/command_schema.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SCRIPT_H
#define PAWL_STORE_SQL_SCRIPT_H

#include "pawl/base.h"
#include "pawl/saga_rows.h"
#include "pawl/store.h"

typedef struct pawl__sql_dialect pawl__sql_dialect;

/* The dialect of that name, or of the scheme of a URL; NULL: none. */
const pawl__sql_dialect *pawl__sql_dialect_find(pawl_text name);
/* Their names, ended by NULL, for hints. */
extern const char *const pawl__sql_dialect_names[];

/* Kinds of tables. Those of sagas are an application's, all others are shared. */
typedef enum pawl__sql_table_kind {
    PAWL__SQL_TABLES_OF_MESSAGES,
    PAWL__SQL_TABLES_OF_OUTBOX,
    PAWL__SQL_TABLES_OF_EVENTS,
    PAWL__SQL_TABLES_OF_TIMEOUTS,
    PAWL__SQL_TABLES_OF_AGGREGATORS,
    PAWL__SQL_TABLES_OF_WORKERS,
    PAWL__SQL_TABLES_OF_SAGAS,
    pawl__sql_table_kind_count
} pawl__sql_table_kind;

/* The name of each, ended by NULL. */
extern const char *const pawl__sql_table_kind_names[];

typedef struct pawl__sql_script {
    const pawl__sql_dialect      *dialect;
    const char                   *prefix; /* of the shared tables */
    const char                   *schema; /* NULL: the session's own */
    const pawl_saga_table *const *sagas;
    size_t                        saga_count;
    unsigned                      kinds; /* a bit for each; 0: all */
    bool                          is_drop;
    bool                          leaves_version; /* pawl__sql_run_version writes it */
    const void                   *only;           /* NULL, or written by pawl__sql_script_piece */
} pawl__sql_script;

/* The names: of prefix and schema, of each table with its columns and indexes, and that no two saga
 * tables have one name there, nor two indexes. PAWL_EINVAL names the first that is refused, and the
 * limit (D3, D5, D6, D8, D35). */
pawl_code pawl__sql_script_check(const pawl__sql_script *script, pawl_error *error);

/* The whole script, line by line, with what the dialect puts around it. */
pawl_code pawl__sql_script_print(const pawl__sql_script *script, pawl_line_fn *line, void *context,
                                 pawl_error *error);

/* Roles that rights are granted to, ended by NULL: observer, owner, producer, worker. */
extern const char *const pawl__sql_role_names[];
/* The script that grants the user what that role needs on the script's tables, and nothing else, line by
 * line. `to` is a name; NAME@HOST on MySQL and MariaDB. PAWL_EUNSUPPORTED: the database has no roles, or
 * they are not known here. */
pawl_code pawl__sql_rights_print(const pawl__sql_script *script, const char *role, const char *to,
                                 pawl_line_fn *line, void *context, pawl_error *error);

#define PAWL__SQL_PIECE_NAME_SIZE 420

/* Of the script that part which is about the table of that number among those that it has; false:
 * there are fewer. Files of the names, run in their order, do what the whole script does:
 * "01_pawl_queue.sql", of a table whose name no file may have with %XX in place of such bytes. */
bool pawl__sql_script_piece(const pawl__sql_script *script, size_t number, pawl__sql_script *piece,
                            char name[PAWL__SQL_PIECE_NAME_SIZE]);

#endif
