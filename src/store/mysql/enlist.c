/* enlist.c - a change set inside a transaction of the application's own connection, within a savepoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"
#include "store/sql/commit.h"

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

static pawl_code check_database(pawl__mysql *store, pawl__mysql_connection *connection,
                                pawl_error *error)
{
    char      database_id[sizeof store->database_id];
    pawl_code code = pawl__mysql_database_id(connection, database_id, error);
    if (code == PAWL_OK && strcmp(database_id, store->database_id) != 0)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is on another server or database than the "
                              "store, %s: they must be the same",
                              store->url.parts.given);
    return code;
}

/* A savepoint that cannot be undone takes the caller's whole transaction with it: a commit of his
 * then makes nothing durable, where it would have made half of a change set. */
static pawl_code savepoint_end(pawl__mysql_connection *connection, pawl_code code,
                               pawl_error *error)
{
    pawl_code ended = PAWL_OK;
    if (code != PAWL_OK)
        ended = pawl__mysql_query(connection, "rollback to savepoint pawl_enlist", NULL);
    if (ended == PAWL_OK)
        ended = pawl__mysql_query(connection, "release savepoint pawl_enlist",
                                  code == PAWL_OK ? error : NULL);
    if (ended == PAWL_OK)
        return code;
    (void)mysql_query(connection->mysql, "rollback");
    return pawl_error_wrap(error, code != PAWL_OK ? code : ended,
                           "enlist: your transaction was rolled back");
}

pawl_code pawl__mysql_enlist(pawl_store *base, void *native, const pawl_changes *changes,
                             pawl_error *error)
{
    pawl__mysql           *store = pawl__mysql_of(base);
    pawl__mysql_connection own   = {
          .store = store, .mysql = native, .is_callers = true, .packet_max = store->main.packet_max};
    pawl_code code = check_session(native, error);
    if (code == PAWL_OK)
        code = check_database(store, &own, error);
    if (code == PAWL_OK)
        code = pawl__mysql_query(&own, "savepoint pawl_enlist", error);
    if (code == PAWL_OK) {
        own.in_transaction = true;
        code               = pawl__sql_apply_enlisted(base, &own, changes, error);
        code               = savepoint_end(&own, code, error);
    }
    pawl__mysql_disconnect(&own);
    return code;
}
