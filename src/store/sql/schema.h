/* schema.h - making, checking and removing the tables: one order and one set of
 * texts, over what a driver says of its catalog and of how a script is run there.
 *
 *     open     look, version; of the sagas' tables: types, whether all is there, and whether every
 *              row can be found
 *     apply    the comparison of verify; when something is missing: begin, look, version,
 *              prepare, columns that are missing, the script, indexes that are missing, when asked
 *              for the columns that are obsolete, the version, end
 *     plan     the comparison; then what apply does, each statement said in place of run
 *     verify   look, version, every difference
 *     drop     begin, version, the script backwards, end
 *
 * The description decides what is looked for, the driver only reads the catalog. A
 * failed apply leaves nothing where tables are made in a transaction. Where each
 * such statement commits by itself a part of the script stays: every statement is
 * harmless when what it makes is there, the version comes behind all shared tables,
 * and open refuses what is not whole, so that the next apply makes the rest.
 *
 * Threads: as connection.h.
 * Tests: tests/contract/test_sqlite_schema.c, test_postgres_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SCHEMA_H
#define PAWL_STORE_SQL_SCHEMA_H

#include "store/sql/connection.h"
#include "store/sql/tables.h"

/* ---- What a catalog says ------------------------------------------------ */

typedef struct pawl__sql_found_column {
    pawl_text table;
    pawl_text name;
    pawl_text type;
    pawl_text collation;
    bool      is_required;
    bool      has_default; /* or is given by the database */
    bool      is_known;    /* verify looked for it */
} pawl__sql_found_column;

typedef struct pawl__sql_found_index {
    pawl_text table;
    pawl_text name;
    pawl_text columns; /* as the dialect writes "[A], [B]" */
    bool      is_primary;
    bool      is_unique;
    bool      is_valid;
    bool      is_partial;
} pawl__sql_found_index;

typedef struct pawl__sql_catalog {
    pawl_found columns;  /* of pawl__sql_found_column */
    pawl_found indexes;  /* of pawl__sql_found_index */
    bool       is_upper; /* names are in capitals, however they are asked for */
} pawl__sql_catalog;

/* The columns of a row of either, in their order; is_known is none of them. */
extern const pawl__field_list pawl__sql_found_column_row;
extern const pawl__field_list pawl__sql_found_index_row;

bool                    pawl__sql_has_table(const pawl__sql_catalog *catalog, pawl_text table);
pawl__sql_found_column *pawl__sql_find_column(const pawl__sql_catalog *catalog, pawl_text table,
                                              pawl_text name);
/* An empty name: the primary key, whatever its name. */
const pawl__sql_found_index *pawl__sql_find_index(const pawl__sql_catalog *catalog, pawl_text table,
                                                  pawl_text name);

/* ---- What a driver says ------------------------------------------------- */

#define PAWL__SQL_TYPE_NAME_SIZE 40

struct pawl__sql_schema;
struct pawl__sql_verifier;

typedef struct pawl__sql_schema_ops {
    /* For the verb: a file that apply makes, a session. */
    pawl_code (*connect)(pawl_store *store, pawl_schema_verb verb, pawl_error *error);
    /* Alone: a second process that applies or drops waits. In a transaction, where tables can be
     * made in one; else behind a lock. */
    pawl_code (*begin)(pawl_store *store, pawl_error *error);
    /* Commits when `code` is OK, else undoes what can be undone. Returns `code`, or what the commit
     * said. */
    pawl_code (*end)(pawl_store *store, pawl_code code, pawl_error *error);
    /* Behind begin: from now on a table in other hands is waited for so long at most, since all who need
     * it wait behind: PAWL_EBUSY then. NULL: the wait ends with the call. */
    pawl_code (*limit_waits)(const struct pawl__sql_schema *schema, int64_t patience_ms,
                             pawl_error *error);
    /* Lets the others work. NULL: as limit_waits. */
    pawl_code (*rest)(const struct pawl__sql_schema *schema, int64_t ms, pawl_error *error);
    /* Hands over the statements that come before a script that makes, for where it makes it. NULL:
     * none. */
    pawl_code (*prepare)(pawl_store *store, pawl__sql_emit_fn *emit, void *context,
                         pawl_error *error);
    pawl_code (*execute)(pawl_store *store, const char *statement, pawl_error *error);
    /* The number that a select of one answers with. */
    pawl_code (*number)(pawl_store *store, const char *select, int64_t *number, pawl_error *error);
    /* The tables of the list that there are, with all their columns and indexes, in the arena. NULL: two
     * statements, of which each has the name of one table as its parameter, and the columns of
     * pawl__sql_found_column_row and pawl__sql_found_index_row. */
    pawl_code (*catalog)(pawl_store *store, const pawl_text *tables, size_t count,
                         pawl_arena *arena, pawl__sql_catalog *catalog, pawl_error *error);
    int columns;
    int indexes;
    /* Reports what is wrong with what only this database has. NULL: nothing. */
    pawl_code (*verify_own)(struct pawl__sql_verifier *verifier);
    bool has_keys; /* the catalog has an index for each primary key */
} pawl__sql_schema_ops;

/* The schema of one store. */
typedef struct pawl__sql_schema {
    pawl_store                 *store;
    const pawl__sql_schema_ops *ops;
    const pawl__sql_dialect    *dialect;
    const pawl__sql_dialect    *names; /* of tables outside of begin and end; NULL: as dialect */
    const char                 *prefix;
    const char                 *given;  /* the store, as error texts name it */
    const char                 *scheme; /* before it in a URL, or "": `given` is one */
    const char                 *within; /* the database's own schema, or NULL */
} pawl__sql_schema;

/* ---- Operations (schema.c) ---------------------------------------------- */

/* The short check at open: the version, and the tables of the sagas. */
pawl_code pawl__sql_schema_check(const pawl__sql_schema       *schema,
                                 const pawl_saga_table *const *sagas, size_t saga_count,
                                 pawl_error *error);
/* Makes what that check misses. Nothing, as a rule: then no lock is taken. */
pawl_code pawl__sql_schema_make(const pawl__sql_schema *schema, const pawl_saga_table *const *sagas,
                                size_t saga_count, pawl_error *error);
/* pawl_store_ops.schema. */
pawl_code pawl__sql_schema_run(const pawl__sql_schema *schema, pawl_schema_verb verb,
                               const pawl_schema_spec *spec, pawl_line_fn *line, void *context,
                               pawl_error *error);

/* ---- Obsolete columns (obsolete.c) -------------------------------------- */

/* The property of a correlation column that the saga's table has and the saga has no more (D30);
 * empty: the column is none, or of another table. */
pawl_text pawl__sql_obsolete(const pawl__sql_schema *schema, const pawl_saga_table *saga,
                             const pawl__sql_found_column *column);
/* Rows that have values of obsolete columns alone: no message would find these sagas (D31). Not
 * none: `why` says so, and the answer is PAWL_OK. */
pawl_code pawl__sql_unreached(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                              const pawl_saga_table *saga, pawl_error *why, int64_t *count);
/* PAWL_ESCHEMA when one of the sagas has such rows. Looking alone is not refused. */
pawl_code pawl__sql_check_reach(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                                const pawl_saga_table *const *sagas, size_t saga_count,
                                pawl_error *error);
/* Ends "select count(*) from (select 1 as found from ...": no more rows than PAWL__REACH_COUNT_MAX are counted. */
void pawl__sql_end_count(pawl__sql_text *text, const pawl__sql_dialect *dialect);
/* schema.c: hands a finished statement on `table` to `emit`, which runs or prints it, and frees its text. An error names
 * the table. */
pawl_code pawl__sql_emit_text(const pawl__sql_schema *schema, pawl_text table, pawl__sql_text *text,
                              pawl__sql_emit_fn *emit, void *context, pawl_error *error);
/* Drops the obsolete columns of the sagas' tables and their indexes (D30); a table of which rows
 * need them is refused. The catalog is that of before. */
pawl_code pawl__sql_purge(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                          const pawl_saga_table *const *sagas, size_t saga_count,
                          pawl__sql_emit_fn *emit, void *context, pawl_error *error);

/* ---- Indexes inside tables (mend_indexes.c) ------------------------------- */

/* Makes the indexes that tables of the catalog lack, where the script makes them with their table alone, and gives the
 * index of pending outbox rows its endpoint. Behind the script, which adds columns. */
pawl_code pawl__sql_mend_indexes(const pawl__sql_schema *schema, const pawl__sql_catalog *catalog,
                                 pawl__sql_emit_fn *emit, void *context, pawl_error *error);

/* Is it an outbox_pending without its endpoint? */
bool pawl__sql_is_narrow(const pawl__sql_schema *schema, const pawl__sql_found_index *found);

/* ---- The catalog (catalog.c) ---------------------------------------------- */

pawl_code pawl__sql_catalog_read(const pawl__sql_schema *schema, const pawl_text *tables,
                                 size_t count, pawl_arena *arena, pawl__sql_catalog *catalog,
                                 pawl_error *error);
void      pawl__sql_type_name(const pawl__sql_schema *schema, pawl__sql_type type,
                              char name[PAWL__SQL_TYPE_NAME_SIZE]);

/* ---- Verify (verify.c) -------------------------------------------------- */

typedef struct pawl__sql_verifier {
    const pawl__sql_schema *schema;
    pawl_arena             *arena;
    pawl_line_fn           *line; /* or NULL */
    void                   *context;
    pawl_error             *error;
    pawl__sql_catalog       catalog;
    bool                    says_obsolete; /* a line for each such column */
    /* The result. */
    size_t count;      /* of differences */
    size_t left;       /* differences among them that apply does not change */
    bool   has_relic;  /* an index that the dialect goes without is there: no difference, it does
                       * no harm but to the speed */
    bool has_obsolete; /* a column of a property that its saga has no more: no difference either */
    /* Written by verify. */
    pawl_text table; /* of the catalog */
} pawl__sql_verifier;

void pawl__sql_report(pawl__sql_verifier *verifier, const char *format, ...) PAWL_PRINTF(2, 3);
/* PAWL_OK whatever was found; `version` is that of the schema, 0: none. */
pawl_code pawl__sql_verify(pawl__sql_verifier *verifier, const pawl_schema_spec *spec,
                           int64_t version);
/* Whether a column has the type that the description gives it. */
bool pawl__sql_is_type(const pawl__sql_found_column *found, const char *expected);
/* Whether it is a time from before pawl, or a text of an earlier version, which is taken as it is (D13, D19). */
bool pawl__sql_is_old_type(const pawl__sql_dialect *dialect, pawl__sql_type type,
                           const pawl__sql_found_column *found);
/* MySQL compares by the column's collation, and only those that end in _bin tell 'A' from 'a' (D20): a saga would be
 * found by the value of another one. */
bool pawl__sql_is_caseless(const pawl__sql_dialect *dialect, pawl__sql_type type,
                           const pawl__sql_found_column *column);

#endif
