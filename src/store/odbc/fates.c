/* fates.c - one text of several runs of a write's statement, in one trip, for servers whose text can say what
 * became of each run (append_set of the kind): refusals come with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <string.h>

/* A statement that reads answers with rows of its own. */
static bool can_repeat(const pawl__sql_text *one)
{
    return !one->is_failed && one->data != NULL && strncmp(one->data, "select ", 7) != 0;
}

static void write_one(pawl__sql_text *one, const pawl__sql_remote *remote,
                      const pawl__sql_session *session, const pawl__sql_write *write,
                      const pawl_saga_table *table)
{
    if (table != NULL)
        pawl__sql_saga_text(one, remote->dialect, table,
                            (pawl__sql_saga_statement)write->statement);
    else
        pawl__sql_expand(one, remote->dialect, remote->sql.base.system_prefix,
                         pawl__sql_template_of(session, write->statement, false));
    if (!one->is_failed && one->size != 0 && one->data[one->size - 1] == ';')
        one->data[--one->size] = '\0'; /* the text has its own */
}

static pawl_code prepare_round(pawl__sql_session *session, pawl__odbc_statement *statement,
                               const pawl__sql_write *write, const pawl_saga_table *table,
                               pawl_error *error)
{
    pawl__sql_text one = {0}, text = {0};
    pawl_code      code = PAWL_OK;
    write_one(&one, session->remote, session, write, table);
    statement->has_set = can_repeat(&one);
    if (statement->has_set) {
        pawl__odbc_kind_of(session)->append_set(&text, one.data, PAWL__ODBC_SET_ROWS);
        code = pawl__odbc_prepare_text(pawl__odbc_connection_of(session), &statement->set, &text,
                                       error);
    }
    statement->is_looked_at = code == PAWL_OK;
    pawl__sql_text_free(&one);
    pawl__sql_text_free(&text);
    return code;
}

/* ---- The answer ------------------------------------------------------------ */

/* A refusal that the write does not expect is the failure of the round. */
static pawl_code take_fate(pawl__sql_session *session, const pawl__odbc_statement *statement,
                           const pawl__sql_write *write, char letter, pawl__sql_fate *fate,
                           pawl_error *error)
{
    const char *found = strchr(PAWL__ODBC_FATES, letter);
    if (found == NULL || letter == '\0')
        return pawl__sql_not_counted("odbc", error);
    *fate = (pawl__sql_fate)(found - PAWL__ODBC_FATES);
    if (*fate == PAWL__SQL_APPLIED || *fate == PAWL__SQL_MISSED)
        return PAWL_OK;
    pawl_code code   = *fate == PAWL__SQL_DUPLICATE ? PAWL_EDUPLICATE : PAWL_EINVAL;
    session->is_null = *fate == PAWL__SQL_NULL;
    if (pawl__sql_is_refusal(session, &statement->base, write, code, fate))
        return PAWL_OK;
    return pawl_error_set(error, code, "odbc: a row %s",
                          code == PAWL_EINVAL ? "has null in a column that takes none"
                                              : "has a key that is there already");
}

static pawl_code run_round(pawl__sql_session *session, pawl__odbc_statement *statement,
                           const pawl__sql_write *write, const void *const *items,
                           pawl__sql_fate *fates, pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    session->is_null                  = false;
    pawl_code code =
        pawl__odbc_execute_set(connection, statement, &write->parameters, items, error);
    if (code != PAWL_OK)
        return code;
    const pawl__odbc_kept *kept = &statement->kept;
    if (kept->count == 0 || kept->rows[0][0].text.size != PAWL__ODBC_SET_ROWS)
        code = pawl__sql_not_counted("odbc", error);
    for (int i = 0; code == PAWL_OK && i < PAWL__ODBC_SET_ROWS; i++)
        code =
            take_fate(session, statement, write, kept->rows[0][0].text.data[i], &fates[i], error);
    pawl__odbc_unkeep(&statement->kept);
    return code;
}

/* ---- A round --------------------------------------------------------------- */

/* Whether the first items are of one saga's table. */
static bool is_one_table(const void *const *items)
{
    for (size_t i = 1; i < PAWL__ODBC_SET_ROWS; i++)
        if (!pawl__sql_saga_same(pawl__sql_saga_of(items[0]), pawl__sql_saga_of(items[i])))
            return false;
    return true;
}

pawl_code pawl__odbc_write_fates(pawl__sql_session *session, const pawl__sql_write *write,
                                 const void *const *items, size_t count, pawl__sql_fate *fates,
                                 size_t *taken, bool *is_done, pawl_error *error)
{
    pawl_code code;
    if (count < PAWL__ODBC_SET_ROWS || !session->in_transaction ||
        (write->is_saga && !is_one_table(items)))
        return PAWL_OK;
    const pawl_saga_table *table     = write->is_saga ? pawl__sql_saga_of(items[0]) : NULL;
    pawl__odbc_statement  *statement = (pawl__odbc_statement *)pawl__sql_prepared_of(
         session, write->statement, table, &code, error);
    if (statement != NULL && !statement->is_looked_at)
        code = prepare_round(session, statement, write, table, error);
    if (code != PAWL_OK || !statement->has_set)
        return code;
    *taken   = PAWL__ODBC_SET_ROWS;
    *is_done = true;
    return run_round(session, statement, write, items, fates, error);
}
