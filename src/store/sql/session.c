/* session.c - begin and end of a session's transaction, switching to the second session, and a change set in the
 * application's own transaction (enlist).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/family.h"

#include "store/sql/commit.h"

#include <string.h>

static pawl__sql_session *current(pawl_store *store)
{
    return pawl__sql_session_of(((pawl__sql_store *)store)->connection);
}

/* ---- Begin and end ------------------------------------------------------- */

static void note_end(pawl__sql_session *session)
{
    if (session->store->ops->ended != NULL)
        session->store->ops->ended(session);
}

/* If the rollback fails, the session counts as lost: `ready` closes it, which releases its locks. */
void pawl__sql_session_undo(pawl__sql_session *session)
{
    if (!session->in_transaction)
        return;
    session->is_undone = false; /* a second rollback is harmless */
    /* On Galera a rollback, too, may report that the node undid the transaction before: that is not a failure. */
    if (!session->is_lost && PAWL__SQL_SAY(session, rollback, "", NULL) != PAWL_OK)
        session->is_lost |= !session->is_undone;
    session->is_undone      = false;
    session->in_transaction = false;
    session->is_marked      = false;
    note_end(session);
}

/* Rolls back to the savepoint at the begin of the handler transaction, if claims exist: their row locks are older and
 * stay, so no other worker gets the messages before the handler's failure is committed. If the handler's own SQL ended
 * the transaction, there is no savepoint. */
static bool goes_to_mark(pawl__sql_session *session)
{
    const pawl__sql_remote *remote    = pawl__sql_remote_at(session);
    bool                    is_marked = session->is_marked;
    session->is_marked                = false;
    if (!is_marked || remote->claims.count == 0 || remote->claims.are_stamps)
        return false;
    if (remote->sql.family->undoes_all)
        session->is_undone = false;
    return !session->is_lost && !session->is_undone &&
           PAWL__SQL_SAY(session, undo, PAWL__SQL_MARK, NULL) == PAWL_OK &&
           PAWL__SQL_SAY(session, release, PAWL__SQL_MARK, NULL) == PAWL_OK;
}

void pawl__sql_session_rollback(pawl_store *store)
{
    pawl__sql_session *session = current(store);
    if (!goes_to_mark(session))
        pawl__sql_session_undo(session);
}

/* Sends a SQL text, also if the library has calls for transactions: these would make it begin the next one by itself.
 * On `main` also locks the claimed rows again. */
pawl_code pawl__sql_session_begin(pawl_store *store, pawl_error *error)
{
    pawl__sql_session *session = current(store);
    if (session->in_transaction && !session->is_undone)
        return PAWL_OK;
    pawl__sql_session_undo(session);
    session->in_transaction = true; /* already while it is begun */
    pawl_code code          = PAWL__SQL_SAY(session, begin, "", error);
    if (code != PAWL_OK) {
        session->in_transaction = session->is_undone = false;
        return code;
    }
    if (session == pawl__sql_remote_at(session)->main)
        code = pawl__sql_lock_keep(store, error);
    if (code != PAWL_OK)
        pawl__sql_session_undo(session);
    return code;
}

pawl_code pawl__sql_mark_open(pawl_store *store, pawl_error *error)
{
    pawl__sql_session *session = current(store);
    pawl_code          code    = PAWL__SQL_SAY(session, save, PAWL__SQL_MARK, error);
    session->is_marked         = code == PAWL_OK;
    return code;
}

pawl_code pawl__sql_is_open(pawl_store *store, bool *is_open, pawl_error *error)
{
    pawl__sql_session *session = current(store);
    pawl_code          code    = session->store->family->is_open(session, is_open, error);
    session->is_marked &= code != PAWL_OK || !*is_open;
    return code;
}

/* Without an answer the outcome is unknown. A commit that no synchronous standby confirmed counts as unknown, too: it
 * is lost if the server fails. The commit of `resolve` then waits for that standby. */
pawl_code pawl__sql_session_commit(pawl_store *store, bool *is_unknown, pawl_error *error)
{
    pawl__sql_session   *session = current(store);
    const pawl__sql_ops *ops     = session->store->ops;
    pawl_code            code    = ops->may_send != NULL ? ops->may_send(session, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    session->is_marked      = false;
    session->is_unsure      = false;
    session->is_deferred    = false;
    session->is_unconfirmed = false;
    code                    = PAWL__SQL_SAY(session, commit, "", error);
    session->in_transaction = code != PAWL_OK;
    *is_unknown             = code != PAWL_OK && session->is_unsure;
    if (code == PAWL_OK)
        note_end(session);
    else if (session->is_deferred)
        code = pawl_error_wrap(error, PAWL_ECONFLICT, "refused");
    if (code != PAWL_OK || !session->is_unconfirmed)
        return code;
    *is_unknown = true;
    return pawl_error_set(error, PAWL_ELOST,
                          "%s: the synchronous standby did not confirm the commit in time",
                          store->scheme);
}

/* ---- The second session --------------------------------------------------- */

bool pawl__sql_main_is_open(const pawl_store *store)
{
    return ((const pawl__sql_remote *)store)->main->in_transaction;
}

bool pawl__sql_main_is_lost(const pawl_store *store)
{
    return ((const pawl__sql_remote *)store)->main->is_lost;
}

void pawl__sql_main_rollback(pawl_store *store)
{
    pawl__sql_session_undo(pawl__sql_remote_of(store)->main);
}

pawl_code pawl__sql_aside(pawl_store *store, pawl_error *error)
{
    pawl__sql_remote  *remote = pawl__sql_remote_of(store);
    pawl__sql_session *side   = remote->side;
    pawl_code          code   = PAWL_OK;
    if (!side->is_made || side->is_lost)
        code = pawl__sql_session_connect(side, error);
    if (code == PAWL_OK)
        remote->sql.connection = (pawl__sql_connection *)(void *)side;
    return code;
}

void pawl__sql_back(pawl_store *store)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    remote->sql.connection   = (pawl__sql_connection *)(void *)remote->main;
}

/* ---- A transaction of the application's own -------------------------------- */

pawl_code pawl__sql_check_database(pawl__sql_session *own, pawl_error *error)
{
    const pawl__sql_remote *remote = pawl__sql_remote_at(own);
    char                    database_id[PAWL__SQL_DATABASE_ID_SIZE];
    pawl_code               code = remote->sql.family->database_id(own, database_id, error);
    if (code == PAWL_OK && strcmp(database_id, remote->database_id) != 0)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the connection is on another server or database than the "
                              "store, %s: they must be the same",
                              remote->given);
    return code;
}

/* If rolling back to the savepoint fails, the caller's whole transaction is rolled back: otherwise the caller could
 * commit half a change set. */
static pawl_code savepoint_end(pawl__sql_session *own, pawl_code code, pawl_error *error)
{
    pawl_code ended = PAWL_OK;
    if (own->store->family->undoes_all)
        own->is_undone = false; /* rolling back to the savepoint is possible */
    if (code != PAWL_OK)
        ended = PAWL__SQL_SAY(own, undo, "pawl_enlist", NULL);
    if (ended == PAWL_OK)
        ended = PAWL__SQL_SAY(own, release, "pawl_enlist", code == PAWL_OK ? error : NULL);
    if (ended == PAWL_OK)
        return code;
    own->is_undone = false;
    (void)PAWL__SQL_SAY(own, rollback, "", NULL);
    return pawl_error_wrap(error, code != PAWL_OK ? code : ended,
                           "enlist: your transaction was rolled back");
}

pawl_code pawl__sql_session_enlist(pawl__sql_session *own, const pawl_changes *changes,
                                   pawl_error *error)
{
    pawl_code code = PAWL__SQL_SAY(own, save, "pawl_enlist", error);
    if (code != PAWL_OK)
        return code;
    own->in_transaction = true;
    code = pawl__sql_apply_enlisted(&own->store->base, (pawl__sql_connection *)(void *)own, changes,
                                    error);
    return savepoint_end(own, code, error);
}
