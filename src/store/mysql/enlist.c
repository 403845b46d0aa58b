/* enlist.c - writes a change set in a transaction of the application's own connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <string.h>

static pawl_code check_session(MYSQL *mysql, pawl_error *error)
{
    const char *charset = mysql != NULL ? mysql_character_set_name(mysql) : NULL;
    if (mysql == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    if (strcmp(charset, "utf8mb4") != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection's character set is %s, utf8mb4 is needed: "
                              "mysql_set_character_set",
                              charset);
    return PAWL_OK;
}

/* The answer to a successful statement says whether a transaction is open, that to a failed one does not: after a
 * deadlock the library still has the old state. So a statement that reads no table has run before
 * (pawl__sql_check_database). Without autocommit the first statement begins a transaction, so none has to be open.
 * After a failure one has to be, since the failure may have ended the caller's. */
static pawl_code check_transaction(const MYSQL *mysql, bool has_failed, pawl_error *error)
{
    unsigned status = mysql->server_status;
    if ((status & SERVER_STATUS_IN_TRANS) != 0)
        return PAWL_OK;
    if (has_failed)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "enlist: the connection has no open transaction any more: its last statement "
            "failed, which ended it, as a deadlock does. Roll back, and begin again");
    if ((status & SERVER_STATUS_AUTOCOMMIT) == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "enlist: the connection has no open transaction: BEGIN first");
}

pawl_code pawl__mysql_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                             pawl_error *error)
{
    pawl__sql_remote      *remote = pawl__sql_remote_of(base);
    pawl__mysql_connection own    = {.mysql = native};
    own.session                   = (pawl__sql_session){.store      = &remote->sql,
                                                        .is_made    = true,
                                                        .is_callers = true,
                                                        .packet_max = remote->main->packet_max};
    pawl_code code                = check_session(native, error);
    bool      has_failed          = code == PAWL_OK && mysql_errno(native) != 0;
    if (code == PAWL_OK)
        code = pawl__sql_check_database(&own.session, error);
    if (code == PAWL_OK)
        code = check_transaction(native, has_failed, error);
    if (code == PAWL_OK)
        code = pawl__sql_session_enlist(&own.session, changes, error);
    pawl__mysql_disconnect(&own.session);
    return code;
}
