/* session_write.c - writes items on a session, with savepoints where a refusal may abort the transaction; sends reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/ahead.h"
#include "store/sql/family.h"

/* ---- Words --------------------------------------------------------------- */

static const pawl__sql_words standard = {
    .begin    = "start transaction",
    .commit   = "commit",
    .rollback = "rollback",
    .save     = "savepoint %s",
    .release  = "release savepoint %s",
    .undo     = "rollback to savepoint %s",
};

pawl_code pawl__sql_say(pawl__sql_session *session, size_t which, const char *name,
                        pawl_error *error)
{
    const pawl__sql_words *words = session->store->family->words;
    const char            *pattern =
        *(const char *const *)(const void *)((const char *)(words != NULL ? words : &standard) +
                                             which);
    pawl__sql_text text = {0};
    if (pattern == NULL)
        return PAWL_OK;
    const char *rest = pawl__sql_append_before(&text, pattern);
    if (rest != NULL) {
        pawl__sql_append(&text, name);
        pawl__sql_append(&text, rest);
    }
    pawl_code code = text.is_failed ? pawl__sql_no_memory(&session->store->base, "a text", error)
                                    : pawl__sql_query(session, text.data, error);
    pawl__sql_text_free(&text);
    return code;
}

/* ---- Items -------------------------------------------------------------- */

pawl_code pawl__sql_broken_off(const pawl__sql_session *session, pawl_error *error)
{
    const pawl_store *store = &session->store->base;
    if (session->why == PAWL_EINTERRUPTED)
        return pawl_error_set(error, session->why, "%s: the call was interrupted", store->scheme);
    return pawl_error_set(error, session->why,
                          "%s: the call took longer than %lld ms, its deadline", store->scheme,
                          (long long)store->deadline_ms);
}

pawl_code pawl__sql_not_counted(const pawl__sql_session *session, pawl_error *error)
{
    if (session->why != PAWL_OK)
        return pawl__sql_broken_off(session, error);
    return pawl_error_set(error, PAWL_EPERSIST,
                          "%s: the driver does not say how many rows a statement changed",
                          session->store->base.scheme);
}

bool pawl__sql_is_refusal(const pawl__sql_session *session, const pawl__sql_prepared *statement,
                          const pawl__sql_write *write, pawl_code code, pawl__sql_result *result)
{
    bool is_duplicate = code == PAWL_EDUPLICATE;
    if (is_duplicate && statement->ignores) {
        *result = PAWL__SQL_MISSED;
        return true;
    }
    *result = is_duplicate ? PAWL__SQL_DUPLICATE : PAWL__SQL_NULL;
    return (is_duplicate || session->is_null) && pawl__sql_expects(write, *result);
}

/* The duplicate is a row that pawl did not insert: for example one that an application's trigger inserts. */
static pawl_code not_ours(pawl_error *error)
{
    return pawl_error_wrap(error, PAWL_EPERSIST, "a key is taken, but not by this row");
}

pawl_code pawl__sql_check_taken(pawl__sql_session *session, const pawl__sql_write *write,
                                const void *item, pawl_error *error)
{
    pawl_store            *store    = &session->store->base;
    const pawl__sql_ops   *ops      = session->store->ops;
    const pawl__sql_write *key      = write->taken;
    bool                   is_there = key == NULL;
    while (!is_there && key != NULL) {
        const pawl__sql_asked asked   = {key->statement + (key->is_saga ? PAWL__SQL_ON_SAGA : 0),
                                         &key->parameters, item, NULL, 0};
        pawl_error            why     = PAWL_ERROR_INIT;
        pawl__sql_request    *request = NULL;
        pawl_code             code    = pawl__sql_run(store, &asked, NULL, &request, &why);
        is_there                      = code == PAWL_OK && ops->next(request);
        pawl_code ended               = ops->end(request);
        code                          = code != PAWL_OK ? code : ended;
        if (code != PAWL_OK)
            return pawl_error_set(error, code, "%s", why.text);
        key = key->then[PAWL__SQL_MISSED].next;
    }
    return is_there ? PAWL_OK : not_ours(error);
}

/* Is a savepoint needed, since a refusal would abort the transaction? */
static bool needs_savepoint(const pawl__sql_session *session, const pawl__sql_write *write)
{
    return session->store->family->undoes_all && session->in_transaction &&
           (pawl__sql_expects(write, PAWL__SQL_DUPLICATE) ||
            pawl__sql_expects(write, PAWL__SQL_NULL));
}

pawl_code pawl__sql_savepoint_begin(pawl__sql_session *session, pawl_error *error)
{
    return PAWL__SQL_SAY(session, save, "pawl_set", error);
}

pawl_code pawl__sql_savepoint_end(pawl__sql_session *session, bool is_done, pawl_error *error)
{
    if (is_done)
        return PAWL__SQL_SAY(session, release, "pawl_set", error);
    session->is_undone = false;
    return PAWL__SQL_SAY(session, undo, "pawl_set", error);
}

/* Is the answer read later (pipelining)? Then notes how many rows are expected. */
static bool is_later(pawl__sql_session *session, const pawl__sql_prepared *statement,
                     const pawl__sql_write *write, const void *item)
{
    bool is_wanted = pawl__sql_expects(write, PAWL__SQL_MISSED);
    if (!pawl__sql_is_ahead(session) || statement->column_count != 0)
        return false;
    pawl__sql_expect(session, (pawl__sql_unread){.item = item, .wanted = is_wanted});
    return true;
}

static pawl_code execute(pawl__sql_session *session, pawl__sql_prepared *statement,
                         const pawl__sql_write *write, const void *item, pawl__sql_result *result,
                         bool *is_taken, pawl_error *error)
{
    const pawl__sql_ops *ops = session->store->ops;
    session->is_null         = false;
    pawl_code code           = ops->execute(session, statement, &write->parameters, item, error);
    /* Oracle's MERGE looks for the row before it waits for a transaction that inserts it. The second run finds it. */
    if (code == PAWL_EDUPLICATE && statement->merges)
        code = ops->execute(session, statement, &write->parameters, item, error);
    *is_taken = code == PAWL_EDUPLICATE;
    if (code != PAWL_OK && pawl__sql_is_refusal(session, statement, write, code, result))
        return PAWL_OK;
    if (code != PAWL_OK)
        return *is_taken ? not_ours(error) : code;
    *result = PAWL__SQL_APPLIED;
    if (is_later(session, statement, write, item))
        return PAWL_OK;
    int64_t found = ops->found(statement);
    if (found == 0)
        *result = PAWL__SQL_MISSED;
    return found >= 0 ? PAWL_OK : pawl__sql_not_counted(session, error);
}

static pawl_code write_item(pawl__sql_session *session, const pawl__sql_write *write,
                            const void *item, pawl__sql_result *result, pawl_error *error)
{
    pawl_code           code;
    bool                is_taken, is_saved = needs_savepoint(session, write);
    pawl__sql_prepared *statement = pawl__sql_prepared_of(
        session, write->statement, write->is_saga ? pawl__saga_table_of(item) : NULL,
        &write->parameters, &code, error);
    if (statement != NULL && is_saved)
        code = pawl__sql_savepoint_begin(session, error);
    if (code != PAWL_OK)
        return code;
    code = execute(session, statement, write, item, result, &is_taken, error);
    if (code == PAWL_OK && is_saved)
        code = pawl__sql_savepoint_end(
            session, *result == PAWL__SQL_APPLIED || *result == PAWL__SQL_MISSED, error);
    /* Not checked in a caller's transaction whose snapshot may be too old to show the existing row. */
    if (code != PAWL_OK || !is_taken || (session->is_callers && *result == PAWL__SQL_DUPLICATE))
        return code;
    return pawl__sql_check_taken(session, write, item, error);
}

pawl_code pawl__sql_session_write(pawl__sql_connection *connection, const pawl__sql_write *write,
                                  const void *const *items, size_t count, pawl__sql_result *results,
                                  size_t *failed, pawl_error *error)
{
    pawl__sql_session *session = pawl__sql_session_of(connection);
    pawl_code          code    = PAWL_OK;
    *failed                    = 0;
    for (size_t i = 0; i < count; i++)
        results[i] = PAWL__SQL_APPLIED;
    for (size_t at = 0, end; code == PAWL_OK && at < count; at = end) {
        size_t taken   = 1;
        bool   is_done = false;
        *failed        = at;
        if (session->store->ops->write_set != NULL)
            code = session->store->ops->write_set(session, write, items + at, count - at,
                                                  results + at, &taken, &is_done, error);
        end = at + taken;
        for (size_t i = at; !is_done && code == PAWL_OK && i < end; i++) {
            *failed = i;
            code    = write_item(session, write, items[i], &results[i], error);
        }
    }
    return code;
}

/* ---- Holding back ------------------------------------------------------- */

pawl_code pawl__sql_session_block_behind(pawl__sql_connection           *connection,
                                         const pawl_outbox_block *const *blocks, size_t count,
                                         pawl_error *error)
{
    static const pawl__field fields[] = {PAWL__AS(outbox_block, source, TEXT),
                                         PAWL__AS(outbox_block, after, INT)};
    pawl__sql_session       *session  = pawl__sql_session_of(connection);
    const pawl__sql_write    hold     = {.statement  = session->store->family->block_behind,
                                         .parameters = PAWL__FIELD_ARRAY(fields)};
    pawl_code                code     = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sql_result result;
        code = write_item(session, &hold, blocks[i], &result, error);
    }
    return code;
}

/* ---- Asking -------------------------------------------------------------- */

pawl__sql_prepared *pawl__sql_session_send(pawl__sql_session *session, const pawl__sql_asked *asked,
                                           pawl_code *code, pawl_error *error)
{
    bool                is_saga = asked->statement >= PAWL__SQL_ON_SAGA;
    pawl__sql_prepared *found   = pawl__sql_prepared_of(
          session, asked->statement - (is_saga ? PAWL__SQL_ON_SAGA : 0),
        is_saga ? pawl__saga_table_of(asked->item) : NULL, asked->parameters, code, error);
    if (found != NULL)
        *code = session->store->ops->execute(session, found, asked->parameters, asked->item, error);
    return found;
}
