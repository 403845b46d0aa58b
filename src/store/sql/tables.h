/* tables.h - the shared tables and the saga tables, described once.
 *
 * The description makes the script (pawl__sql_create) and is what verify
 * compares a database with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_TABLES_H
#define PAWL_STORE_SQL_TABLES_H

#include "pawl/store_driver.h"
#include "store/sql/dialect.h"
#include "store/sql/script.h"

/* Raised with every change to the tables below that this program cannot do
 * without; steps.c then has the step for a database of the version before. */
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
    /* Template: its columns where an index cannot leave rows out; NULL: as `columns`; empty: no
     * index there. Without `columns` the index is only there. */
    const char *every_row;
    const char *only; /* the dialects that have it, each between blanks: " oracle "; NULL: all */
    bool is_late;     /* came behind the first tables: made by itself in every dialect, as a table
                            that is there may lack it */
} pawl__sql_index;

/* A column whose value is null in the rows that an index is not about, for databases whose
 * indexes cannot leave rows out. Nothing writes it. */
typedef struct pawl__sql_computed {
    const char    *table;
    const char    *name;
    pawl__sql_type type;
    const char    *value;   /* template */
    const char    *only;    /* as of pawl__sql_index */
    bool           is_late; /* the dialect's first tables lack it: the script adds it to those */
} pawl__sql_computed;

typedef struct pawl__sql_table {
    const char             *name; /* the prefix is put before it */
    pawl__sql_table_kind    kind;
    const char             *about; /* its rows, for the reader of a script */
    const pawl__sql_column *columns;
    size_t                  column_count;
    const char             *constraints; /* template: keys; NULL when a SERIAL column is the key */
    bool                    is_keyed;    /* small rows, found by their key alone */
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
/* As much of the property as stands in the name of its column. */
pawl_text pawl__sql_property_of(const pawl__sql_dialect *dialect,
                                const pawl_correlation  *correlation);
/* "Correlation_X", unquoted (D8, D9). */
void pawl__sql_correlation_column(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                  const pawl_correlation *correlation);
/* "Index_{table}_Correlation_X", unquoted; where a hash names it, the same everywhere, that of this
 * text (D10, D11); where indexes are a table's own "Index_Correlation_X" (D9). */
void pawl__sql_correlation_index(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                                 const pawl_saga_table *table, const pawl_correlation *correlation);
/* Both correlations of a table, those that it has. */
size_t pawl__sql_correlations(const pawl_saga_table *table, const pawl_correlation *list[2]);
/* The prefix of the shared tables (D3). */
pawl_code pawl__sql_prefix_check(const pawl__sql_dialect *dialect, const char *prefix,
                                 pawl_error *error);
/* The names of table and columns (D3, D5). */
pawl_code pawl__sql_saga_check(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                               pawl_error *error);
/* Whether they are identifiers of the dialect, and two; part of the check. */
pawl_code pawl__sql_saga_fits(const pawl__sql_dialect *dialect, const pawl_saga_table *table,
                              pawl_error *error);
/* Whether the two are one name there: of tables, of columns. */
bool pawl__sql_are_alike(const pawl__sql_dialect *dialect, pawl_text one, pawl_text other);
/* pawl__sql_saga_check of each, and that no two of them have a table or an index of one name. */
pawl_code pawl__sql_sagas_check(const pawl__sql_dialect      *dialect,
                                const pawl_saga_table *const *sagas, size_t count,
                                pawl_error *error);

void pawl__sql_create_table(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_table *table);
/* Adds the column to a table that is there. */
void pawl__sql_add_computed(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                            const char *prefix, const pawl__sql_computed *column);
/* Whether the dialect is one of these; NULL: all are. */
bool pawl__sql_is_for(const pawl__sql_dialect *dialect, const char *only);
/* Whether the dialect has it. The script drops one that an earlier version made. */
bool pawl__sql_has_index(const pawl__sql_dialect *dialect, const pawl__sql_index *index);
/* The index that is the primary key where every table has one, or NULL: it has a key of its own. */
const pawl__sql_index *pawl__sql_key_index(const pawl__sql_dialect *dialect,
                                           const pawl__sql_table   *table);
/* Its columns there, as a template; NULL: it has none. */
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

/* Whether the table, shared or of a saga, is one of the script. */
bool pawl__sql_script_has(const pawl__sql_script *what, pawl__sql_table_kind kind,
                          const void *table);
/* Every statement of the script to `emit`, in an order that can be run; remarks on them to
 * `note`, which may be NULL. Stops at the first failure. */
pawl_code pawl__sql_run_script(const pawl__sql_script *what, pawl__sql_emit_fn *emit,
                               pawl__sql_emit_fn *note, void *context, pawl_error *error);
/* Every statement of the script that makes the shared tables and the saga
 * tables, in an order that can be run; stops at the first failure. */
pawl_code pawl__sql_create(const pawl__sql_dialect *dialect, const char *prefix,
                           const pawl_saga_table *const *sagas, size_t saga_count,
                           pawl__sql_emit_fn *emit, void *context, pawl_error *error);
/* The same for removing them. */
pawl_code pawl__sql_drop(const pawl__sql_dialect *dialect, const char *prefix,
                         const pawl_saga_table *const *sagas, size_t saga_count,
                         pawl__sql_emit_fn *emit, void *context, pawl_error *error);

/* pawl__sql_script_print of all tables. */
pawl_code pawl__sql_print(const pawl__sql_dialect *dialect, const char *prefix,
                          const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                          pawl_error *error);

/* Statements as a script that can be run, with the differences before it as comments. */
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
