/* enlist.c - a change set inside a transaction of the application's own connection (an SQLHDBC). Its
 * calls have the application's deadlines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

static pawl_code check_session(pawl__sql_session *own, pawl_error *error)
{
    bool      is_open = false;
    pawl_code code =
        pawl__odbc_store_of(pawl__odbc_connection_of(own))->kind->is_open(own, &is_open, error);
    if (code == PAWL_OK && !is_open)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection has no open transaction: start one first");
    return code;
}

pawl_code pawl__odbc_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                            pawl_error *error)
{
    pawl__odbc           *store = pawl__odbc_of(base);
    pawl__odbc_connection own   = {.dbc = native, .driver = store->main.driver};
    own.session                 = (pawl__sql_session){.remote     = &store->remote,
                                                      .is_made    = native != NULL,
                                                      .is_callers = true,
                                                      .packet_max = store->main.session.packet_max};
    if (native == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "enlist: the connection is NULL");
    pawl_code code = check_session(&own.session, error);
    if (code == PAWL_OK)
        code = pawl__sql_session_enlist(&own.session, changes, error);
    pawl__odbc_disconnect(&own.session);
    return code;
}
