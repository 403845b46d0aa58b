/* set.c - rows of one insert that go together: its text with 32 groups of values. A set that fails has written
 * none of its rows; they are written one by one then, so that each has its fate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <string.h>

#define VALUES " values ("

#define KEEPS "do nothing"

/* The group of values of an insert, and what stands behind it: nothing, or that rows whose key exists are
 * left, where a savepoint undoes a set with such a row. False: it has another form. */
static bool find_values(const pawl__sql_session *session, pawl_text text, pawl_text *group,
                        const char **tail)
{
    const char *found = strstr(text.data, VALUES);
    int         depth = 0;
    if (strncmp(text.data, "insert ", 7) != 0 || found == NULL)
        return false;
    found += sizeof VALUES - 2;
    for (const char *at = found; *at != '\0'; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth != 0)
            continue;
        *group = (pawl_text){.data = found, .size = (size_t)(at + 1 - found)};
        *tail  = at + 1;
        return at[1 + strspn(at + 1, " ")] == '\0' ||
               (session->remote->family->undoes_all && strstr(at, KEEPS) != NULL);
    }
    return false;
}

static void append_rows(pawl__sql_text *to, const pawl__sql_text *one, pawl_text group,
                        const char *tail)
{
    pawl__sql_append_text(to,
                          (pawl_text){.data = one->data, .size = (size_t)(group.data - one->data)});
    for (int i = 0; i < PAWL__ODBC_SET_ROWS; i++) {
        pawl__sql_append(to, i != 0 ? ", " : "");
        pawl__sql_append_text(to, group);
    }
    pawl__sql_append(to, tail);
}

static pawl_code prepare_set(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                             const pawl__sql_write *write, pawl_error *error)
{
    const pawl__sql_remote *remote = connection->session.remote;
    pawl__sql_text          one = {0}, plain = {0}, typed = {0};
    pawl_code               code = PAWL_OK;
    pawl_text               group;
    const char             *tail;
    pawl__sql_expand(&one, remote->dialect, remote->sql.base.system_prefix,
                     pawl__sql_template_of(&connection->session, write->statement, false));
    statement->has_set =
        !one.is_failed && find_values(&connection->session, pawl__sql_text_of(&one), &group, &tail);
    if (statement->has_set) {
        append_rows(&plain, &one, group, tail);
        if (!plain.is_failed)
            pawl__odbc_append_casts(
                &typed, &statement->base, plain.data,
                pawl__odbc_store_of(connection)->kind->has_casts ? &write->parameters : NULL);
        typed.is_failed |= plain.is_failed;
        code = pawl__odbc_prepare_text(connection, &statement->set, &typed, error);
    }
    statement->is_looked_at = code == PAWL_OK;
    pawl__sql_text_free(&one);
    pawl__sql_text_free(&plain);
    pawl__sql_text_free(&typed);
    return code;
}

/* Whether the failure is that of a row, which the server undid with the others of the set. */
static bool is_of_row(const pawl__sql_session *session, bool is_saved, pawl_code code)
{
    return !session->is_lost && (is_saved || !session->is_undone) &&
           (code == PAWL_EDUPLICATE || code == PAWL_ELIMIT || session->is_null);
}

/* Rows that were left show in the count. */
static bool has_all(const pawl__odbc_statement *statement)
{
    SQLLEN count = 0;
    return SQL_SUCCEEDED(SQLRowCount(statement->set, &count)) && count == PAWL__ODBC_SET_ROWS;
}

static pawl_code run_set(pawl__sql_session *session, pawl__odbc_statement *statement,
                         const pawl__sql_write *write, const void *const *items, bool *is_done,
                         pawl_error *error)
{
    bool      is_saved = session->remote->family->undoes_all && session->in_transaction;
    pawl_code code     = is_saved ? pawl__sql_savepoint_begin(session, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    session->is_null = false;
    code = pawl__odbc_execute_set(pawl__odbc_connection_of(session), statement, &write->parameters,
                                  items, error);
    *is_done = code == PAWL_OK && (!is_saved || has_all(statement));
    if (code != PAWL_OK && !is_of_row(session, is_saved, code))
        return code;
    return is_saved ? pawl__sql_savepoint_end(session, *is_done, error) : PAWL_OK;
}

pawl_code pawl__odbc_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                               const void *const *items, size_t count, pawl__sql_fate *fates,
                               size_t *taken, bool *is_done, pawl_error *error)
{
    pawl_code code;
    *taken   = 1;
    *is_done = false;
    if (pawl__odbc_kind_of(session)->append_set != NULL)
        return pawl__odbc_write_fates(session, write, items, count, fates, taken, is_done, error);
    if (pawl__odbc_store_of(pawl__odbc_connection_of(session))->kind->by_words ||
        count < PAWL__ODBC_SET_ROWS || write->is_saga || write->is_alone || write->is_there)
        return PAWL_OK;
    pawl__odbc_statement *statement = (pawl__odbc_statement *)pawl__sql_prepared_of(
        session, write->statement, NULL, &code, error);
    if (statement != NULL && !statement->is_looked_at)
        code = prepare_set(pawl__odbc_connection_of(session), statement, write, error);
    if (code != PAWL_OK || !statement->has_set)
        return code;
    *taken = PAWL__ODBC_SET_ROWS;
    return run_set(session, statement, write, items, is_done, error);
}
