/* saga.h - the statements of a saga table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SAGA_H
#define PAWL_STORE_POSTGRES_SAGA_H

#include "store/postgres/connection.h"

/* The same name and the same correlations. */
bool pawl__postgres_saga_same(const pawl_saga_table *left, const pawl_saga_table *right);
/* `which` is a pawl__postgres_saga_statement; its text is made at first use. */
pawl_code pawl__postgres_saga_statement_of(pawl__postgres_connection *connection,
                                           const pawl_saga_table *table, int which,
                                           pawl__postgres_statement **statement, pawl_error *error);
void pawl__postgres_saga_begin(pawl__postgres_call *call, pawl__postgres_connection *connection,
                               const pawl_saga_table *table, int which, pawl_error *error);

#endif
