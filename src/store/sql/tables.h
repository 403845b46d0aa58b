/* tables.h - the shared tables and the saga tables, described once.
 *
 * The description makes the script (pawl__sql_run_script) and is what verify
 * compares a database with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_TABLES_H
#define PAWL_STORE_SQL_TABLES_H

#include "pawl/store_driver.h"
#include "store/sql/dialect.h"
#include "store/sql/script.h"

/* Raised with every change to the tables below that this program
 * needs; steps.c then has the step for databases of the previous version. */
#define PAWL__SQL_SCHEMA_VERSION 5

/* Names of saga tables and their columns. */
#define PAWL__SQL_TABLE_NAME_SIZE_MAX 128

typedef struct pawl__sql_column {
    const char    *name;
    pawl__sql_type type;
    bool           is_nullable;
} pawl__sql_column;

typedef struct pawl__sql_index {
    const char *name;    /* the prefix is put before it */
    const char *columns; /* template */
    bool        is_unique;
    const char *where; /* template; NULL: every row */
    /* Template: its columns on databases without partial indexes; NULL: as `columns`; empty: no index on
     * these. If `columns` is NULL, the index is only on these. */
    const char *every_row;
    const char *only; /* dialects that have it, each between blanks: " oracle "; NULL: all */
    bool is_late;     /* added in a later version: made by a statement of its own in every dialect,
                            since existing tables may lack it */
} pawl__sql_index;

/* A computed column for databases without partial indexes: it is null in the rows that the index should leave
 * out. */
typedef struct pawl__sql_computed {
    const char    *table;
    const char    *name;
    pawl__sql_type type;
    const char    *value;   /* template */
    const char    *only;    /* as of pawl__sql_index */
    bool           is_late; /* added in a later version: the script adds it to existing tables */
} pawl__sql_computed;

typedef struct pawl__sql_table {
    const char             *name; /* the prefix is put before it */
    pawl__sql_table_kind    kind;
    const char             *about; /* describes its rows, for readers of a script */
    const pawl__sql_column *columns;
    size_t                  column_count;
    const char             *constraints; /* template: keys; NULL when a SERIAL column is the key */
    bool                    is_keyed;    /* small rows, only found by their key */
    const pawl__sql_index  *indexes;
    size_t                  index_count;
} pawl__sql_table;

extern const pawl__sql_table pawl__sql_tables[];
extern const size_t          pawl__sql_table_count;

extern const pawl__sql_computed pawl__sql_computed_columns[];
extern const size_t             pawl__sql_computed_count;

/* The columns of every saga table; correlation columns come behind. */
extern const pawl__sql_column pawl__sql_saga_columns[];
extern const size_t           pawl__sql_saga_column_count;

/* The column type of a correlation value. */
pawl__sql_type pawl__sql_correlation_type(const pawl_correlation *correlation);
/* The part of the property's name that is in the name of its column. */
pawl_text pawl__sql_property_of(const pawl__sql_dialect *dialect,
                                const pawl_correlation  *correlation);
/* "Correlation_X", unquoted (D8, D9). */
void pawl__sql_correlation_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                  const pawl_correlation *correlation);
/* "Index_{table}_Correlation_X", unquoted; on databases with hashed names a hash of this text (D10, D11); where each
 * table has its own index names "Index_Correlation_X" (D9). */
void pawl__sql_correlation_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation);
/* Lists the correlations that the table has; returns their number. */
size_t pawl__sql_correlations(const pawl_saga_table *table, const pawl_correlation *list[2]);
/* The prefix of the shared tables (D3). */
pawl_code pawl__sql_prefix_check(const pawl__sql_dialect *dialect, const char *prefix,
                                 pawl_error *error);
/* The names of table and columns (D3, D5). */
pawl_code pawl__sql_saga_check(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                               pawl_error *error);
/* Part of that check: are the names identifiers of the dialect, and different? */
pawl_code pawl__sql_saga_fits(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_error *error);
/* Are the two names equal on this database? */
bool pawl__sql_are_alike(const pawl__sql_dialect *dialect, pawl_text one, pawl_text other);
/* pawl__sql_saga_check of each, and that no two of them have a table or an index of one name, and none that of a shared
 * table, which begins with `prefix`. */
pawl_code pawl__sql_sagas_check(const pawl__sql_dialect *dialect, const char *prefix,
                                const pawl_saga_table *const *sagas, size_t count,
                                pawl_error *error);

void pawl__sql_create_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_table *table);
/* Adds the column to a table that is there. */
void pawl__sql_add_computed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_computed *column);
/* Whether the dialect is one of these; NULL: all are. */
bool pawl__sql_is_for(const pawl__sql_dialect *dialect, const char *only);
/* Has the dialect this index? If not, the script drops one that an earlier version made. */
bool pawl__sql_has_index(const pawl__sql_dialect *dialect, const pawl__sql_index *index);
/* The index used as primary key, on databases where every table needs one; NULL: the table has a key. */
const pawl__sql_index *pawl__sql_key_index(const pawl__sql_dialect *dialect,
                                           const pawl__sql_table   *table);
/* The index's columns on this database, as a template; NULL: no such index. */
const char *pawl__sql_index_columns(const pawl__sql_dialect *dialect, const pawl__sql_index *index);
void        pawl__sql_create_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                   const char *prefix, const pawl__sql_table *table,
                                   const pawl__sql_index *index);
void        pawl__sql_create_saga_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                        const pawl_saga_table *table);
void        pawl__sql_add_saga_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                      const pawl_saga_table *table, const pawl_correlation *correlation);
void        pawl__sql_create_saga_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                        const pawl_saga_table *table, const pawl_correlation *correlation);

/* Is the table, shared or of a saga, part of the script? */
bool pawl__sql_script_has(const pawl__sql_script *what, pawl__sql_table_kind kind,
                          const void *table);
/* Calls `emit` for every statement of the script, in the order of execution, and `note` (may be NULL) for
 * remarks on them. Stops at the first failure. */
pawl_code pawl__sql_run_script(const pawl__sql_script *what, pawl__sql_emit_fn *emit,
                               pawl__sql_emit_fn *note, void *context, pawl_error *error);
/* Emits the statement that writes or raises the version; for scripts with `leaves_version`. */
pawl_code pawl__sql_run_version(const pawl__sql_script *what, pawl__sql_emit_fn *emit,
                                void *context, pawl_error *error);
/* pawl__sql_script_print of all tables. */
pawl_code pawl__sql_print(const pawl__sql_dialect *dialect, const char *prefix,
                          const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                          pawl_error *error);

/* Prints statements as an executable script, after the differences as comments. */
typedef struct pawl__sql_plan {
    const pawl__sql_dialect *dialect;
    pawl_line_fn            *line; /* or NULL */
    void                    *context;
    bool                     is_begun;
} pawl__sql_plan;

/* pawl_line_fn: a difference to the pawl__sql_plan *`context`. */
void pawl__sql_plan_note(pawl_text line, void *context);
/* pawl__sql_emit_fn: a statement to the pawl__sql_plan *`context`. */
pawl_code pawl__sql_plan_statement(const char *statement, void *context, pawl_error *error);
/* Behind the last statement. */
void pawl__sql_plan_end(const pawl__sql_plan *plan);

#endif
