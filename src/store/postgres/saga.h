/* saga.h - the statements of a saga table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SAGA_H
#define PAWL_STORE_POSTGRES_SAGA_H

#include "store/postgres/connection.h"

/* The text of a pawl__pg_saga_statement. */
void pawl__pg_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                        const pawl_saga_table *table, int which);
/* `which` is a pawl__pg_saga_statement; its text is made at first use. */
pawl_code pawl__pg_saga_statement_of(pawl__pg_connection *connection, const pawl_saga_table *table,
                                     int which, pawl__pg_statement **statement, pawl_error *error);
void      pawl__pg_saga_begin(pawl__pg_request *request, pawl__pg_connection *connection,
                              const pawl_saga_table *table, int which, pawl_error *error);

#endif
