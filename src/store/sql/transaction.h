/* transaction.h - transactions over the begin, commit and rollback of a driver: stamps, holds, and a
 * commit whose outcome may not be known.
 *
 *     stamp_begin, stamp_end         inside a hold they are part of its transaction
 *     handler_transaction_begin, hold_take or handler_transaction_end
 *     commit                         of what begin or hold_take opened
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_TRANSACTION_H
#define PAWL_STORE_SQL_TRANSACTION_H

#include "store/sql/connection.h"

/* Commits when `code` is OK, else rolls back. Returns `code`, or what the commit said. */
pawl_code pawl__sql_end(pawl_store *store, pawl_code code, pawl_error *error);
/* The only operation that answers PAWL_EUNKNOWN. On any failure no transaction is open. */
pawl_code pawl__sql_commit_round(pawl_store *store, pawl_error *error);

/* Reads between the two see one state of the data, where the driver has a need for it. */
pawl_code pawl__sql_read_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_read_end(pawl_store *store, pawl_code code, pawl_error *error);

/* A transaction for stamps, which need not survive a power cut; while the one of the claims is open it is
 * of the second connection. `code` decides the end. */
pawl_code pawl__sql_stamp_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_stamp_end(pawl_store *store, pawl_code code, pawl_error *error);

/* Operations of store_driver.h. */
pawl_code pawl__sql_handler_transaction_begin(pawl_store *store, pawl_error *error);
void      pawl__sql_handler_transaction_end(pawl_store *store);
bool      pawl__sql_handler_transaction_lost(pawl_store *store);
/* The open hold's transaction becomes the commit's, and the hold ends. PAWL_ELOST: it was ended before. */
pawl_code pawl__sql_hold_take(pawl_store *store, pawl_error *error);

#endif
