/* postgres.c - the PostgreSQL driver's table of operations, the only name that the module
 * exports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/sql/operations.h"

static bool in_transaction(pawl_store *base)
{
    return PQtransactionStatus(pawl__pg_of(base)->main.pg) != PQTRANS_IDLE;
}

static void *native(pawl_store *base)
{
    pawl__pg *store = pawl__pg_of(base);
    if (store->main.pg == NULL) /* its session is in the share: takes one */
        (void)pawl__pg_ready(base, NULL);
    store->main.is_handlers = true;
    return store->main.pg;
}

/* Operations that the generic store implements. */
#define pawl__pg_saga_count pawl__sql_saga_count
#define pawl__pg_dead_count pawl__sql_dead_count
#define pawl__pg_checkpoint_get pawl__sql_checkpoint_get
#define pawl__pg_scan pawl__sql_scan

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "postgres",
    .store_size = sizeof(pawl__pg),
    .promises   = PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS |
                PAWL_STORE_KNOWS_REFUSED | PAWL_STORE_KEEPS_WAKE,

    .open                      = pawl__pg_open,
    .close                     = pawl__pg_close,
    .ready                     = pawl__pg_ready,
    .schema                    = pawl__pg_schema,
    .commit                    = pawl__pg_commit,
    .enlist                    = pawl__pg_enlist,
    .interrupt                 = pawl__pg_interrupt,
    .worker_crashed            = pawl__pg_worker_crashed,
    .handler_transaction_begin = pawl__pg_handler_transaction_begin,
    .handler_transaction_end   = pawl__sql_handler_transaction_end,
    .handler_transaction_lost  = pawl__sql_handler_transaction_lost,
    .native                    = native,
    .in_transaction            = in_transaction,
    .native_type               = "PGconn",
#define ENTRY(name, ...) .name = pawl__pg_##name,
#include "store/core/entries.h"
#undef ENTRY
};
