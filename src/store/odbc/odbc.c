/* odbc.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include "store/sql/operations.h"

static void *native(pawl_store *base)
{
    return pawl__odbc_of(base)->main.dbc;
}

static void undo(pawl_store *base)
{
    pawl__odbc_rollback(pawl__odbc_of(base)->sql.connection);
}

/* ODBC shows no socket. */
static int session_fd(pawl_store *base)
{
    (void)base;
    return -1;
}

const pawl__sql_ops pawl__odbc_ops = {
    .name         = "odbc",
    .send         = pawl__odbc_send,
    .next         = pawl__odbc_next,
    .get          = pawl__odbc_get,
    .changed      = pawl__odbc_changed,
    .end          = pawl__odbc_end,
    .who_lives    = pawl__odbc_who_lives,
    .own_lock     = pawl__odbc_own_lock,
    .own_unlock   = pawl__odbc_own_unlock,
    .claims_leave = pawl__sql_lock_leave,
    .rest         = pawl__sql_lock_rest,
    .session_fd   = session_fd,
    .lock_begin   = pawl__odbc_begin,
    .write        = pawl__odbc_write,
    .begin        = pawl__odbc_begin,
    .is_open      = pawl__odbc_is_open,
    .commit       = pawl__odbc_commit,
    .rollback     = undo,
    .claim_check  = pawl__sql_lock_check,
    .claims_end   = pawl__sql_lock_end,
    .hold_back    = pawl__odbc_hold_back,
};

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .scheme     = "odbc",
    .store_size = sizeof(pawl__odbc),
    .promises =
        PAWL_STORE_HAS_SQL | PAWL_STORE_HAS_WAKE | PAWL_STORE_ROW_LOCKS | PAWL_STORE_KNOWS_REFUSED,

    .open         = pawl__odbc_open,
    .close        = pawl__odbc_close,
    .schema       = pawl__odbc_schema,
    .commit       = pawl__sql_lock_commit,
    .queue_claim  = pawl__sql_lock_claim,
    .next_due     = pawl__sql_lock_next_due,
    .wait         = pawl__sql_wait,
    .interrupt    = pawl__odbc_interrupt,
    .native       = native,
    .native_type  = "SQLHDBC",
    .enlist       = pawl__odbc_enlist,
    .event_number = pawl__sql_event_number,
    .ready        = pawl__odbc_ready,
    .worker_died  = pawl__sql_worker_died,
    PAWL__SQL_OPERATIONS,
};
