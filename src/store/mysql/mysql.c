/* mysql.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/operations.h"

static void *native(pawl_store *base)
{
    return pawl__mysql_of(base)->main.mysql;
}

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "mysql",
    .store_size = sizeof(pawl__mysql),
    .promises =
        PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | PAWL_STORE_KNOWS_REFUSED,

    .open         = pawl__mysql_open,
    .close        = pawl__mysql_close,
    .schema       = pawl__mysql_schema,
    .commit       = pawl__sql_lock_commit,
    .queue_claim  = pawl__sql_lock_claim,
    .next_due     = pawl__sql_lock_next_due,
    .wait         = pawl__sql_wait,
    .interrupt    = pawl__sql_interrupt,
    .native       = native,
    .native_type  = "MYSQL",
    .enlist       = pawl__mysql_enlist,
    .event_number = pawl__sql_event_number,
    .ready        = pawl__mysql_ready,
    .diagnose     = pawl__mysql_diagnose,
    .worker_died  = pawl__mysql_worker_died,
    PAWL__SQL_OPERATIONS,
};
