/* write.c - writes of a commit that are sent before the answers to those before them are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <string.h>

bool pawl__mysql_is_later(pawl__sql_session *session, const pawl__sql_prepared *statement,
                          const pawl__sql_write *write, const void *item)
{
    pawl__mysql_connection *connection = pawl__mysql_connection_of(session);
    bool                    is_wanted  = pawl__sql_expects(write, PAWL__SQL_MISSED);
    if (!connection->is_ahead || statement->column_count != 0)
        return false;
    pawl__mysql_expect(connection,
                       (pawl__mysql_unread){.item   = item,
                                            .wanted = is_wanted,
                                            .leaves = statement->ignores && !is_wanted});
    return true;
}

/* A change that may well miss its row, and is written otherwise then, waits for its answer. An insert
 * misses where its row is there, which is rare. */
static bool goes_ahead(const pawl__mysql_connection *connection, const pawl__sql_write *write)
{
    const char *text =
        pawl__sql_template_of(&connection->session, write->statement, write->is_saga);
    return write->then[PAWL__SQL_MISSED].next == NULL || strncmp(text, "insert ", 7) == 0;
}

pawl_code pawl__mysql_write_ahead(pawl__mysql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_fate *fates,
                                  size_t *failed, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    bool      goes = goes_ahead(connection, write);
    *failed        = 0;
    if (goes)
        code = pawl__mysql_go_ahead(connection, error);
    if (code != PAWL_OK)
        return code;
    connection->is_ahead = goes;
    code = pawl__sql_write_looking(connection, write, items, count, fates, failed, error);
    connection->is_ahead = false;
    return code;
}

pawl_code pawl__mysql_settle(pawl_store *base, bool *is_right, pawl_error *error)
{
    pawl__mysql_connection *connection = ((pawl__sql_store *)base)->connection;
    pawl_code               code       = pawl__mysql_read_answers(connection, error);
    *is_right                          = !connection->was_unlike;
    connection->was_unlike             = false;
    return code;
}
