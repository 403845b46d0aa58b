/* verify.h - compares a catalog with the description of the tables, one line for
 * each difference. The driver reads the catalog, all tables together; the
 * description decides what is looked for in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_VERIFY_H
#define PAWL_STORE_SQL_VERIFY_H

#include "store/sql/field.h"
#include "store/sql/tables.h"

typedef struct pawl__sql_found_column {
    pawl_text table;
    pawl_text name;
    pawl_text type;
    pawl_text collation;
    bool      is_required;
    bool      has_default; /* or is given by the database */
    bool      is_known;    /* it was looked for; written by verify */
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

/* The columns of a row of either, in their order; is_known is none of them. */
extern const pawl__sql_fields pawl__sql_found_column_row;
extern const pawl__sql_fields pawl__sql_found_index_row;

#define PAWL__SQL_TYPE_NAME_SIZE 40

typedef struct pawl__sql_verifier {
    /* Set by the driver. */
    const pawl__sql_dialect *dialect;
    const char              *prefix;
    pawl_arena              *arena;
    pawl_line_fn            *line; /* or NULL */
    void                    *context;
    pawl_error              *error;
    /* The type as the catalog writes it; case does not matter. */
    void (*type_name)(pawl__sql_type type, char name[PAWL__SQL_TYPE_NAME_SIZE]);
    const char             *collation; /* of what is compared bytewise; NULL: not looked at */
    bool                    has_keys;  /* the catalog has an index for each primary key */
    pawl__sql_found_column *columns;
    size_t                  column_count;
    pawl__sql_found_index  *indexes;
    size_t                  index_count;
    /* The result. */
    size_t count;     /* of differences */
    bool   has_relic; /* an index that the dialect goes without is there */
    /* Written by verify. */
    pawl_text table; /* that is looked at */
} pawl__sql_verifier;

void pawl__sql_report(pawl__sql_verifier *verifier, const char *format, ...) PAWL_PRINTF(2, 3);
bool pawl__sql_table_is_there(const pawl__sql_verifier *verifier, pawl_text name);
/* The names of all tables that are looked at, in the arena; NULL without memory. */
pawl_text *pawl__sql_verified_tables(const pawl__sql_verifier *verifier,
                                     const pawl_schema_spec *spec, size_t *count);
/* PAWL_OK whatever was found; `version` is that of the schema, 0: none. */
pawl_code pawl__sql_verify(pawl__sql_verifier *verifier, const pawl_schema_spec *spec,
                           int64_t version);

#endif
