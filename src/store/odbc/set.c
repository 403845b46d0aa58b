/* set.c - writes several items in one trip: as rows of one insert, or, if the kind has append_set, as a text that
 * executes the write for each item and returns a result ("result") for each.
 *
 * If an insert of several rows fails, none of them is written; they are then written one by one, each with its own
 * result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

#include <string.h>

#define KEEPS "do nothing"

/* ---- The text ---------------------------------------------------------------- */

static void write_one(pawl__sql_text *one, pawl__sql_session *session, const pawl__sql_write *write,
                      const pawl_saga_table *table)
{
    const pawl__sql_remote *remote = pawl__sql_remote_at(session);
    if (table != NULL)
        pawl__sql_saga_text(one, remote->sql.dialect, pawl__sql_saga_known(session, table),
                            (pawl__sql_saga_statement)write->statement);
    else
        pawl__sql_expand(one, remote->sql.dialect, remote->sql.base.system_prefix,
                         pawl__sql_template_of(session, write->statement, false));
    if (!one->is_failed && one->size != 0 && one->data[one->size - 1] == ';')
        one->data[--one->size] = '\0'; /* append_set adds a semicolon */
}

/* False: the statement cannot be joined. An insert can if nothing follows its values. If a clause follows that skips
 * existing keys, a savepoint must be able to undo the set. */
static bool append_set(pawl__sql_text *to, const pawl__sql_session *session,
                       const pawl__sql_text *one)
{
    const pawl__odbc_kind *kind = pawl__odbc_kind_of(session);
    if (one->is_failed)
        return false;
    if (kind->append_set != NULL) { /* rows of a select would mix with the answer */
        bool reads = strncmp(one->data, "select ", 7) == 0;
        if (!reads)
            kind->append_set(to, one->data, PAWL__ODBC_SET_ROWS);
        return !reads;
    }
    const char *behind = pawl__sql_append_rows(to, one->data, PAWL__ODBC_SET_ROWS);
    return behind != NULL &&
           (behind[strspn(behind, " ")] == '\0' ||
            (session->store->family->undoes_all && strstr(behind, KEEPS) != NULL));
}

static pawl_code prepare_set(pawl__sql_session *session, pawl__odbc_statement *statement,
                             const pawl__sql_write *write, const pawl_saga_table *table,
                             pawl_error *error)
{
    pawl__sql_text one = {0}, set = {0};
    pawl_code      code = PAWL_OK;
    write_one(&one, session, write, table);
    if (append_set(&set, session, &one))
        code = pawl__odbc_prepare_text(pawl__odbc_connection_of(session), &statement->set.stmt,
                                       &statement->base, &write->parameters, &set, error);
    statement->was_prepared = code == PAWL_OK;
    pawl__sql_text_free(&one);
    pawl__sql_text_free(&set);
    return code;
}

/* ---- Rows -------------------------------------------------------------------- */

/* Did only a single row fail, with no effect left of the other rows? */
static bool is_of_row(const pawl__sql_session *session, bool is_saved, pawl_code code)
{
    return !session->is_lost && (is_saved || !session->is_undone) &&
           (code == PAWL_EDUPLICATE || code == PAWL_ELIMIT || session->is_null);
}

/* The count is smaller if rows were skipped. */
static bool has_all(const pawl__odbc_statement *statement)
{
    SQLLEN count = 0;
    return SQL_SUCCEEDED(SQLRowCount(statement->set.stmt, &count)) && count == PAWL__ODBC_SET_ROWS;
}

static pawl_code run_rows(pawl__sql_session *session, pawl__odbc_statement *statement,
                          const pawl__sql_write *write, const void *const *items, bool *is_done,
                          pawl_error *error)
{
    bool      is_saved = session->store->family->undoes_all && session->in_transaction;
    pawl_code code     = is_saved ? pawl__sql_savepoint_begin(session, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    session->is_null = false;
    code = pawl__odbc_execute_items(pawl__odbc_connection_of(session), statement, &statement->set,
                                    false, &write->parameters, items, PAWL__ODBC_SET_ROWS, error);
    *is_done = code == PAWL_OK && (!is_saved || has_all(statement));
    if (code != PAWL_OK && !is_of_row(session, is_saved, code))
        return code;
    return is_saved ? pawl__sql_savepoint_end(session, *is_done, error) : PAWL_OK;
}

/* ---- Results ------------------------------------------------------------------- */

/* Reads the result of an item. A refusal that the write does not expect fails the round. */
static pawl_code take_result(pawl__sql_session *session, const pawl__odbc_statement *statement,
                             const pawl__sql_write *write, const void *item, char letter,
                             pawl__sql_result *result, pawl_error *error)
{
    const char *found = strchr(PAWL__ODBC_RESULTS, letter);
    if (found == NULL || letter == '\0')
        return pawl__sql_not_counted(session, error);
    *result = (pawl__sql_result)(found - PAWL__ODBC_RESULTS);
    if (*result == PAWL__SQL_APPLIED || *result == PAWL__SQL_MISSED)
        return PAWL_OK;
    pawl_code code   = *result == PAWL__SQL_DUPLICATE ? PAWL_EDUPLICATE : PAWL_EINVAL;
    session->is_null = *result == PAWL__SQL_NULL;
    bool is_refusal  = pawl__sql_is_refusal(session, &statement->base, write, code, result);
    (void)pawl_error_set(error, code, "odbc: a row %s",
                         code == PAWL_EINVAL ? "has null in a column that takes none"
                                             : "has a key that is there already");
    if (is_refusal && code == PAWL_EDUPLICATE)
        return pawl__sql_check_taken(session, write, item, error);
    return is_refusal ? PAWL_OK : code;
}

static pawl_code run_results(pawl__sql_session *session, pawl__odbc_statement *statement,
                             const pawl__sql_write *write, const void *const *items,
                             pawl__sql_result *results, pawl_error *error)
{
    session->is_null = false;
    pawl_code code =
        pawl__odbc_execute_items(pawl__odbc_connection_of(session), statement, &statement->set,
                                 true, &write->parameters, items, PAWL__ODBC_SET_ROWS, error);
    if (code != PAWL_OK)
        return code;
    const pawl__odbc_kept *kept = &statement->kept;
    if (kept->count == 0 || kept->cells[0].text.size != PAWL__ODBC_SET_ROWS)
        code = pawl__sql_not_counted(session, error);
    for (int i = 0; code == PAWL_OK && i < PAWL__ODBC_SET_ROWS; i++)
        code = take_result(session, statement, write, items[i], kept->cells[0].text.data[i],
                           &results[i], error);
    pawl__odbc_unkeep(&statement->kept);
    return code;
}

/* ---- A set ------------------------------------------------------------------- */

/* Do all items belong to the table of the same saga? */
static bool is_one_table(const void *const *items)
{
    for (size_t i = 1; i < PAWL__ODBC_SET_ROWS; i++)
        if (!pawl__sql_saga_same(pawl__saga_table_of(items[0]), pawl__saga_table_of(items[i])))
            return false;
    return true;
}

static bool can_be_set(const pawl__sql_session *session, const pawl__sql_write *write,
                       const void *const *items, size_t count)
{
    const pawl__odbc_kind *kind = pawl__odbc_kind_of(session);
    if (count < PAWL__ODBC_SET_ROWS || kind->is_sent_as_block)
        return false;
    return kind->append_set != NULL
               ? session->in_transaction && (!write->is_saga || is_one_table(items))
               : !write->is_saga && !write->is_alone && !write->is_there;
}

pawl_code pawl__odbc_write_set(pawl__sql_session *session, const pawl__sql_write *write,
                               const void *const *items, size_t count, pawl__sql_result *results,
                               size_t *taken, bool *is_done, pawl_error *error)
{
    pawl_code code;
    *taken   = 1;
    *is_done = false;
    if (!can_be_set(session, write, items, count))
        return PAWL_OK;
    const pawl_saga_table *table     = write->is_saga ? pawl__saga_table_of(items[0]) : NULL;
    pawl__odbc_statement  *statement = (pawl__odbc_statement *)pawl__sql_prepared_of(
         session, write->statement, table, &write->parameters, &code, error);
    if (statement != NULL && !statement->was_prepared)
        code = prepare_set(session, statement, write, table, error);
    if (code != PAWL_OK || statement->set.stmt == NULL)
        return code;
    *taken   = PAWL__ODBC_SET_ROWS;
    *is_done = pawl__odbc_kind_of(session)->append_set != NULL;
    return *is_done ? run_results(session, statement, write, items, results, error)
                    : run_rows(session, statement, write, items, is_done, error);
}
