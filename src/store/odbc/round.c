/* round.c - sends all writes of a round as one block, if the server accepts blocks (dialects/oracle_round.h).
 *
 * Until the block's answer arrives, each item is reported as applied. If an item was not applied or a statement
 * failed, the round is undone and repeated item by item. Statements that cannot join the block, or need an answer at
 * once, send the block first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/odbc.h"

/* Is the answer as expected? No if a required item was missed, or if the answer is too short. */
static bool is_as_expected(const pawl__oracle_round *round, const pawl__odbc_kept *kept)
{
    pawl_text answer   = kept->count != 0 ? kept->cells[0].text : PAWL_TEXT("");
    bool      is_right = answer.size == round->item_count;
    for (unsigned i = 0; is_right && i < round->item_count; i++)
        is_right = answer.data[i] != PAWL__ORACLE_MISSED || !round->is_wanted[i];
    return is_right;
}

static pawl_code run(pawl__odbc_connection *connection, SQLHSTMT stmt, pawl__odbc_kept *answer,
                     pawl_error *error)
{
    pawl__oracle_round *round = connection->round;
    SQLLEN              sizes[PAWL__ORACLE_SETS_MAX];
    pawl_code           code = PAWL_OK;
    for (unsigned i = 0; code == PAWL_OK && i < round->set_count; i++) {
        pawl__sql_text *set = &round->sets[i];
        sizes[i]            = (SQLLEN)set->size;
        if (!SQL_SUCCEEDED(SQLBindParameter(stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT,
                                            SQL_C_CHAR, SQL_LONGVARCHAR, set->size, 0, set->data,
                                            sizes[i], &sizes[i])))
            code = pawl__odbc_failed(connection, SQL_HANDLE_STMT, stmt, error);
    }
    if (code == PAWL_OK)
        code = pawl__odbc_run(connection, stmt, true, true, answer, error);
    return code;
}

/* Did only the statement fail? Then the round is repeated item by item, which shows the item that failed. */
static bool is_alone(const pawl__sql_session *session, pawl_code code)
{
    return !session->is_lost && !session->is_undone && code != PAWL_EBUSY && code != PAWL_ENOMEM &&
           code != PAWL_ETIMEOUT && code != PAWL_EINTERRUPTED;
}

pawl_code pawl__odbc_round_send(pawl__odbc_connection *connection, pawl_error *error)
{
    pawl__oracle_round *round  = connection->round;
    pawl__sql_text      text   = {0};
    SQLHSTMT            stmt   = NULL;
    pawl__odbc_kept     answer = {0};
    if (round == NULL || round->set_count == 0)
        return PAWL_OK;
    pawl__oracle_round_text(round, &text);
    pawl_code code = pawl__odbc_prepare_text(connection, &stmt, NULL, NULL, &text, error);
    if (code == PAWL_OK)
        code = run(connection, stmt, &answer, error);
    bool had_unexpected =
        round->had_unexpected ||
        (code == PAWL_OK ? !is_as_expected(round, &answer) : is_alone(&connection->session, code));
    if (had_unexpected && is_alone(&connection->session, code))
        code = PAWL_OK;
    pawl__odbc_free(stmt);
    pawl__odbc_unkeep(&answer);
    pawl__sql_text_free(&text);
    pawl__oracle_round_clear(round);
    round->had_unexpected = had_unexpected;
    return code;
}

pawl_code pawl__odbc_write_ahead(pawl__sql_connection *to, const pawl__sql_write *write,
                                 const void *const *items, size_t count, pawl__sql_result *results,
                                 size_t *failed, pawl_error *error)
{
    pawl__odbc_connection *connection = (pawl__odbc_connection *)to;
    bool                   is_added   = false;
    *failed                           = 0;
    if (connection->round == NULL)
        connection->round = pawl_allocate(sizeof *connection->round);
    if (connection->round == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "odbc: out of memory for a round");
    pawl_code code =
        pawl__oracle_round_add(connection->round, pawl__sql_remote_at(&connection->session), write,
                               items, count, &is_added, error);
    for (size_t i = 0; i < count; i++)
        results[i] = PAWL__SQL_APPLIED;
    if (code != PAWL_OK || is_added)
        return code;
    bool was_full = connection->round->set_count != 0;
    code          = pawl__odbc_round_send(connection, error);
    if (code == PAWL_OK && was_full)
        code = pawl__oracle_round_add(connection->round, pawl__sql_remote_at(&connection->session),
                                      write, items, count, &is_added, error);
    if (code != PAWL_OK || is_added)
        return code;
    return pawl__sql_write_checked(to, write, items, count, results, failed, error);
}

pawl_code pawl__odbc_settle(pawl_store *store, bool *is_right, pawl_error *error)
{
    pawl__odbc_connection *connection =
        pawl__odbc_connection_of(pawl__sql_session_of(((pawl__sql_store *)store)->connection));
    pawl_code code = pawl__odbc_round_send(connection, error);
    *is_right      = connection->round == NULL || !connection->round->had_unexpected;
    pawl__odbc_round_forget(&connection->session);
    return code;
}

void pawl__odbc_round_forget(pawl__sql_session *session)
{
    pawl__odbc_connection *connection = pawl__odbc_connection_of(session);
    if (connection->round != NULL)
        pawl__oracle_round_clear(connection->round);
}
