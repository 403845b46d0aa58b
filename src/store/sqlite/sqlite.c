/* sqlite.c - the SQLite driver's table of operations, the module's only
 * exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/operations.h"
#include "store/sqlite/operations.h"

static void *native(pawl_store *base)
{
    return pawl__sqlite_of(base)->connection.db;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "sqlite",
    .store_size = sizeof(pawl__sqlite),
    .promises   = PAWL_STORE_CREATES | PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE |
                PAWL_STORE_FREE_CLAIMS | PAWL_STORE_KNOWS_REFUSED,

    .open           = pawl__sqlite_open,
    .close          = pawl__sqlite_close,
    .schema         = pawl__sqlite_schema,
    .commit         = pawl__sql_commit,
    .queue_claim    = pawl__sqlite_queue_claim,
    .next_due       = pawl__sql_next_due,
    .wait           = pawl__sqlite_wait,
    .interrupt      = pawl__sqlite_interrupt,
    .native         = native,
    .native_type    = "sqlite3",
    .enlist         = pawl__sqlite_enlist,
    .event_number   = pawl__sql_event_number_none,
    .ready          = pawl__sqlite_ready,
    .diagnose       = pawl__sqlite_diagnose,
    .worker_crashed = pawl__sql_worker_crashed,
    PAWL__SQL_OPERATIONS,
};
