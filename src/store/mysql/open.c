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
