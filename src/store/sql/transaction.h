/* transaction.h - transactions of the generic store: for stamps, for handlers, and commits whose outcome may
 * not be known. Uses the driver's begin, commit and rollback.
 *
 *     stamp_begin, stamp_end         in a handler transaction: part of it
 *     handler_transaction_begin, handler_transaction_take or handler_transaction_end
 *     commit                         after begin or handler_transaction_take
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_TRANSACTION_H
#define PAWL_STORE_SQL_TRANSACTION_H

#include "store/sql/connection.h"

/* Commits if `code` is OK, else rolls back. Returns `code`, or the failure of the commit. */
pawl_code pawl__sql_end(pawl_store *store, pawl_code code, pawl_error *error);
/* The only function that returns PAWL_EUNKNOWN. After a failure no transaction is open. */
pawl_code pawl__sql_commit_round(pawl_store *store, pawl_error *error);

/* Reads between the two see one snapshot, if the driver needs a transaction for it. */
pawl_code pawl__sql_read_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_read_end(pawl_store *store, pawl_code code, pawl_error *error);

/* A transaction that writes claims into rows (stamps), which need not be durable. It uses the second connection while
 * the claims' transaction is open. `code` OK: commit, else rollback. */
pawl_code pawl__sql_stamp_begin(pawl_store *store, pawl_error *error);
pawl_code pawl__sql_stamp_end(pawl_store *store, pawl_code code, pawl_error *error);

/* Operations of store_driver.h. */
pawl_code pawl__sql_handler_transaction_begin(pawl_store *store, pawl_error *error);
void      pawl__sql_handler_transaction_end(pawl_store *store);
bool      pawl__sql_handler_transaction_lost(pawl_store *store);
/* Ends the handler transaction and uses its open transaction for the commit. PAWL_ELOST: it is not open any more. */
pawl_code pawl__sql_handler_transaction_take(pawl_store *store, pawl_error *error);

#endif
