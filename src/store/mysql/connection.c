/* connection.c - MySQL and MariaDB as the generic store's connection. A request has run when it was
 * sent, and its rows are here. Each statement sees what was committed when it began: the generic reads
 * look again where that is not enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

static void undo(pawl_store *base)
{
    pawl__mysql_rollback(pawl__mysql_of(base)->sql.connection);
}

static int session_fd(pawl_store *base)
{
    return (int)mysql_get_socket(pawl__mysql_of(base)->main.mysql);
}

const pawl__sql_ops pawl__mysql_ops = {
    .name         = "mysql",
    .send         = pawl__mysql_send,
    .send_set     = pawl__mysql_send_set,
    .next         = pawl__mysql_next,
    .get          = pawl__mysql_get,
    .changed      = pawl__mysql_changed,
    .end          = pawl__mysql_end,
    .who_lives    = pawl__mysql_who_lives,
    .own_lock     = pawl__mysql_own_lock,
    .own_unlock   = pawl__mysql_own_unlock,
    .claims_leave = pawl__sql_lock_leave,
    .rest         = pawl__sql_lock_rest,
    .session_fd   = session_fd,
    .lock_begin   = pawl__mysql_begin,
    .write        = pawl__mysql_write_looking,
    .write_ahead  = pawl__mysql_write_ahead,
    .settle       = pawl__mysql_settle,
    .begin        = pawl__mysql_begin,
    .is_open      = pawl__mysql_is_open,
    .commit       = pawl__mysql_commit,
    .rollback     = undo,
    .claim_check  = pawl__sql_lock_check,
    .claims_end   = pawl__sql_lock_end,
    .hold_back    = pawl__mysql_hold_back,
};
