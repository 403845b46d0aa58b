/* open.c - connecting: refused, until URLs are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

bool pawl__mysql_kill(pawl__mysql_connection *connection)
{
    (void)connection;
    return false;
}

pawl_code pawl__mysql_connect(pawl__mysql *store, pawl__mysql_connection *connection,
                              pawl_error *error)
{
    (void)connection;
    return pawl_error_set(error, PAWL_EUNSUPPORTED, "%s: this driver opens no store yet",
                          store->sql.base.scheme);
}

pawl_code pawl__mysql_ready(pawl_store *base, pawl_error *error)
{
    pawl__mysql *store = pawl__mysql_of(base);
    return pawl__mysql_connect(store, &store->main, error);
}
