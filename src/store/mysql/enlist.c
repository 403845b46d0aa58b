/* enlist.c - a change set inside a transaction of the application's own connection.
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
    if ((mysql->server_status & (SERVER_STATUS_IN_TRANS | SERVER_STATUS_AUTOCOMMIT)) ==
        SERVER_STATUS_AUTOCOMMIT)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction: BEGIN first");
    if (strcmp(charset, "utf8mb4") != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection's character set is %s, utf8mb4 is needed: "
                              "mysql_set_character_set",
                              charset);
    return PAWL_OK;
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
    if (code == PAWL_OK)
        code = pawl__sql_session_enlist(&own.session, changes, error);
    pawl__mysql_disconnect(&own.session);
    return code;
}
