/* write.c - the writes of a commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/mysql.h"

#include <string.h>

/* ---- Items -------------------------------------------------------------- */

#define NUMBER_NULL 1048

bool pawl__mysql_is_refusal(const pawl__mysql_statement *statement, const pawl__sql_write *write,
                            pawl__sql_fate *fate)
{
    unsigned number       = mysql_stmt_errno(statement->stmt);
    bool     is_duplicate = pawl__mysql_code_of(number, NULL) == PAWL_EDUPLICATE;
    if (is_duplicate && statement->ignores) {
        *fate = PAWL__SQL_MISSED;
        return true;
    }
    *fate = is_duplicate ? PAWL__SQL_DUPLICATE : PAWL__SQL_NULL;
    return (is_duplicate || number == NUMBER_NULL) && pawl__sql_expects(write, *fate);
}

static pawl_code write_item(pawl__mysql_connection *connection, const pawl__sql_write *write,
                            const void *item, pawl__sql_fate *fate, pawl_error *error)
{
    pawl_code              code;
    pawl__mysql_statement *statement =
        pawl__mysql_prepared(connection, write->statement,
                             write->is_saga ? pawl__sql_saga_of(item) : NULL, &code, error);
    if (statement == NULL)
        return code;
    MYSQL_STMT *stmt = statement->stmt;
    code             = pawl__mysql_execute(connection, statement, &write->parameters, item, error);
    if (code != PAWL_OK)
        return pawl__mysql_is_refusal(statement, write, fate) ? PAWL_OK : code;
    bool has_rows = statement->column_count != 0;
    *fate         = PAWL__SQL_APPLIED;
    if (connection->is_ahead && !has_rows) {
        bool is_wanted = pawl__sql_expects(write, PAWL__SQL_MISSED);
        pawl__mysql_expect(connection,
                           (pawl__mysql_unread){.item   = item,
                                                .wanted = is_wanted,
                                                .leaves = statement->ignores && !is_wanted});
        return PAWL_OK;
    }
    bool is_found = (has_rows ? mysql_stmt_num_rows(stmt) : mysql_stmt_affected_rows(stmt)) != 0;
    *fate         = is_found ? PAWL__SQL_APPLIED : PAWL__SQL_MISSED;
    if (has_rows)
        (void)mysql_stmt_free_result(stmt);
    return PAWL_OK;
}

pawl_code pawl__mysql_write(pawl__mysql_connection *connection, const pawl__sql_write *write,
                            const void *const *items, size_t count, pawl__sql_fate *fates,
                            size_t *failed, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *failed        = 0;
    for (size_t at = 0, end; code == PAWL_OK && at < count; at = end) {
        size_t taken   = 1;
        bool   is_done = false;
        *failed        = at;
        code = pawl__mysql_write_set(connection, write, items + at, count - at, &taken, &is_done,
                                     error);
        end  = at + taken;
        for (size_t i = at; is_done && i < end; i++)
            fates[i] = PAWL__SQL_APPLIED;
        for (size_t i = at; !is_done && code == PAWL_OK && i < end; i++) {
            *failed = i;
            code    = write_item(connection, write, items[i], &fates[i], error);
        }
    }
    return code;
}

/* ---- Ahead -------------------------------------------------------------- */

/* A change that may well miss its row, and is written otherwise then, waits for its answer. An insert
 * misses where its row is there, which is rare. */
static bool goes_ahead(const pawl__sql_write *write)
{
    const char *text = pawl__mysql_template(write->statement, write->is_saga);
    return write->then[PAWL__SQL_MISSED].next == NULL || strncmp(text, "insert ", 7) == 0;
}

pawl_code pawl__mysql_write_ahead(pawl__mysql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_fate *fates,
                                  size_t *failed, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    bool      goes = goes_ahead(write);
    *failed        = 0;
    if (goes)
        code = pawl__mysql_go_ahead(connection, error);
    if (code != PAWL_OK)
        return code;
    connection->is_ahead = goes;
    code = pawl__mysql_write_looking(connection, write, items, count, fates, failed, error);
    connection->is_ahead = false;
    return code;
}

pawl_code pawl__mysql_settle(pawl_store *base, bool *is_right, pawl_error *error)
{
    pawl__mysql_connection *connection = pawl__mysql_of(base)->sql.connection;
    pawl_code               code       = pawl__mysql_read_answers(connection, error);
    *is_right                          = !connection->was_unlike;
    connection->was_unlike             = false;
    return code;
}

/* ---- Holding back ------------------------------------------------------- */

static const pawl__sql_field hold_fields[] = {PAWL__SQL_FIELD(outbox_hold, source, TEXT),
                                              PAWL__SQL_FIELD(outbox_hold, after, INT)};
static const pawl__sql_write hold_source   = {
      .statement  = PAWL__MYSQL_OUTBOX_HOLD_BACK,
      .parameters = PAWL__SQL_LIST(hold_fields),
};

pawl_code pawl__mysql_hold_back(pawl__mysql_connection        *connection,
                                const pawl_outbox_hold *const *holds, size_t count,
                                pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sql_fate fate;
        code = write_item(connection, &hold_source, holds[i], &fate, error);
    }
    return code;
}
