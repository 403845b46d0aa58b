/* set.c - rows of one insert that go together: its text with 32 groups of values. A set that fails has written
 * none of its rows; they are written one by one then, so that each has its fate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <stdlib.h>
#include <string.h>

#define VALUES " values ("

/* The group of values that an insert ends with; NULL: it has another form. */
static const char *find_values(const char *text)
{
    const char *found = strstr(text, VALUES);
    int         depth = 0;
    if (strncmp(text, "insert ", 7) != 0 || found == NULL)
        return NULL;
    found += sizeof VALUES - 2;
    for (const char *at = found; *at != '\0'; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0)
            return at[1 + strspn(at + 1, " ")] == '\0' ? found : NULL;
    }
    return NULL;
}

static pawl_code prepare_set(pawl__odbc_connection *connection, pawl__odbc_statement *statement,
                             int which, pawl_error *error)
{
    const pawl__sql_remote *remote = connection->session.remote;
    pawl__sql_text          text   = {0};
    pawl_code               code   = PAWL_OK;
    pawl__sql_expand(&text, remote->dialect, remote->sql.base.system_prefix,
                     pawl__sql_template_of(&connection->session, which, false));
    const char *values = text.is_failed ? NULL : find_values(text.data);
    statement->has_set = values != NULL;
    if (values != NULL) {
        char *group = pawl_allocate(strlen(values) + 1);
        if (group != NULL)
            strcpy(group, values);
        for (int i = 1; group != NULL && i < PAWL__ODBC_SET_ROWS; i++)
            pawl__sql_appendf(&text, ", %s", group);
        pawl_free(group);
        code = pawl__odbc_prepare_text(connection, &statement->set, NULL, &text, error);
    }
    statement->is_looked_at = code == PAWL_OK;
    pawl__sql_text_free(&text);
    return code;
}

/* Whether the failure is that of a row, which the server undid with the others of the set. */
static bool is_of_row(const pawl__odbc_connection *connection, pawl_code code)
{
    return !connection->session.is_lost && !connection->session.is_undone &&
           (code == PAWL_EDUPLICATE || code == PAWL_ELIMIT || connection->session.is_null);
}

pawl_code pawl__odbc_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                               const void *const *items, size_t count, size_t *taken, bool *is_done,
                               pawl_error *error)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    pawl_code              code;
    *taken   = 1;
    *is_done = false;
    if (count < PAWL__ODBC_SET_ROWS || write->is_saga || write->is_alone || write->is_there)
        return PAWL_OK;
    pawl__odbc_statement *statement = (pawl__odbc_statement *)pawl__sql_prepared_of(
        session, write->statement, NULL, &code, error);
    if (statement != NULL && !statement->is_looked_at)
        code = prepare_set(connection, statement, write->statement, error);
    if (code != PAWL_OK || !statement->has_set)
        return code;
    *taken           = PAWL__ODBC_SET_ROWS;
    session->is_null = false;
    code     = pawl__odbc_execute_set(connection, statement, &write->parameters, items, error);
    *is_done = code == PAWL_OK;
    return code == PAWL_OK || is_of_row(connection, code) ? PAWL_OK : code;
}
