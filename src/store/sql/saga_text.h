/* saga_text.h - the statements on a saga's own table, one row each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SAGA_TEXT_H
#define PAWL_STORE_SQL_SAGA_TEXT_H

#include "pawl/store_driver.h"
#include "store/sql/dialect.h"

typedef enum pawl__sql_saga_statement {
    PAWL__SQL_SAGA_BY_ID, /* the three loads, as pawl_saga_key counts them */
    PAWL__SQL_SAGA_BY_MAIN,
    PAWL__SQL_SAGA_BY_TRANSITIONAL,
    PAWL__SQL_SAGA_INSERT,
    PAWL__SQL_SAGA_UPDATE_ROW, /* by dialect->row as it was loaded */
    PAWL__SQL_SAGA_UPDATE,
    PAWL__SQL_SAGA_DELETE,
    PAWL__SQL_SAGA_COUNT,
    pawl__sql_saga_statement_count
} pawl__sql_saga_statement;

/* The parameters stand in the order of the fields in changes.c; those of a load are its one
 * value, its columns dialect->row, id, version, metadata, data, the version of the state's
 * record, and the correlations that the table has. */
void pawl__sql_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                         const pawl_saga_table *table, pawl__sql_saga_statement which);

#endif
