/* remote.c - the handle of a store on a server: open, lost sessions, the worker's lock, close.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/family.h"
#include "store/sql/operations.h"

#include <stdio.h>

#define CLOSE_MS 2000 /* a rollback that takes longer is left to the server */

/* ---- The state of a session ----------------------------------------------- */

pawl_code pawl__sql_session_check(const pawl__sql_session *session, pawl_error *error)
{
    const char *scheme = session->store->base.scheme;
    if (!session->is_made || session->is_lost)
        return pawl_error_set(error, PAWL_ELOST, "%s: the connection was lost earlier in this call",
                              scheme);
    if (session->is_undone)
        return pawl_error_set(error, PAWL_EBUSY,
                              "%s: the server rolled the transaction back before", scheme);
    return PAWL_OK;
}

pawl_code pawl__sql_session_failed(pawl__sql_session *session, pawl_code code, pawl__sql_left left,
                                   unsigned number, const char *text, pawl_error *error)
{
    const pawl__sql_failures *failures = session->store->family->failures;
    const char               *scheme   = session->store->base.scheme;
    session->is_lost |= left == PAWL__SQL_CONNECTION_LOST;
    session->is_undone |= session->in_transaction && left == PAWL__SQL_TRANSACTION_UNDONE;
    session->is_null = number != 0 && number == failures->null_number;
    if (session->why != PAWL_OK && (code == PAWL_ETIMEOUT || code == PAWL_ELOST))
        return pawl__sql_broken_off(session, error);
    if (number == 0)
        return pawl_error_set(error, code, "%s: %s", scheme, text);
    if (number == failures->large_number)
        return pawl_error_set(error, code, "%s: %s (max_allowed_packet of the server: %zu bytes)",
                              scheme, text, session->packet_max);
    return pawl_error_set(error, code, "%s: %s (error %u)", scheme, text, number);
}

pawl_code pawl__sql_session_read_only(pawl__sql_session *session, pawl_error *error)
{
    session->is_null = false;
    return pawl_error_set(error, PAWL_EINVAL, "%s: your transaction is read only",
                          session->store->base.scheme);
}

bool pawl__sql_may_go_on(const pawl__sql_session *session, pawl_code code)
{
    return code != PAWL_EBUSY && code != PAWL_ETIMEOUT && !session->is_lost &&
           !session->is_undone && session->why == PAWL_OK;
}

/* Handles on the same database have the same identity, whatever host name or library they use. */
static pawl_code identify(pawl__sql_remote *remote, pawl_error *error)
{
    pawl_store *base = &remote->sql.base;
    pawl_code   code = remote->sql.family->database_id(remote->main, remote->database_id, error);
    (void)snprintf(base->identity, sizeof base->identity, "%s:%s/%s", remote->sql.family->name,
                   remote->database_id, base->system_prefix);
    return code;
}

static pawl_code known(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_at(session);
    pawl_code         code   = session == remote->main ? identify(remote, error) : PAWL_OK;
    if (code == PAWL_OK && remote->lock_number != 0)
        code = remote->sql.family->worker_lock(session, error);
    return code;
}

pawl_code pawl__sql_session_connect(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_ops *ops = session->store->ops;
    ops->disconnect(session);
    pawl_code code = ops->connect(session, error);
    if (code == PAWL_OK)
        code = known(session, error);
    if (code != PAWL_OK)
        ops->disconnect(session);
    return code;
}

/* ---- The worker's lock ---------------------------------------------------- */

pawl_code pawl__sql_own_lock(pawl_store *store, int64_t *number, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    pawl_code         code   = PAWL_OK;
    if (remote->lock_number == 0 && !remote->server.beats) {
        remote->lock_number = pawl__sql_worker_number(store->worker.uuid);
        code                = remote->sql.family->worker_lock(remote->main, error);
        if (code != PAWL_OK)
            remote->lock_number = 0;
    }
    *number = remote->lock_number;
    return code;
}

void pawl__sql_own_unlock(pawl_store *store)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    if (remote->lock_number != 0)
        remote->sql.family->worker_unlock(remote->main);
    remote->lock_number = 0;
}

/* ---- The handle ---------------------------------------------------------- */

pawl_code pawl__sql_remote_open(pawl_store *store, const pawl__sql_ops *ops,
                                pawl__sql_session *main, pawl__sql_session *side, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    remote->sql.ops          = ops;
    remote->sql.connection   = (pawl__sql_connection *)(void *)main;
    remote->sql.claims       = &remote->claims;
    remote->main             = main;
    remote->side             = side;
    main->store              = &remote->sql;
    side->store              = &remote->sql;
    if (remote->sql.family != NULL)
        remote->claims.ops = &remote->sql.family->lock_ops;
    return pawl__sql_server_open(store, &remote->server, error);
}

void pawl__sql_remote_close(pawl_store *store)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    if (remote->main != NULL && pawl__wait_is_ours(&remote->server.wait)) {
        store->deadline_ms = store->deadline_ms < CLOSE_MS ? store->deadline_ms : CLOSE_MS;
        remote->sql.ops->disconnect(remote->side);
        remote->sql.ops->disconnect(remote->main);
    } /* else the socket is the parent's: a goodbye on it would end the parent's session */
    pawl__wait_close(&remote->server.wait);
    pawl__sql_claims_free(&remote->claims);
}

/* The server may not have noticed that the second session is lost, and its open transaction still locks the worker's
 * row. A new second session takes the same worker's lock, which ends the old one. */
static void end_lost_side(pawl__sql_session *side)
{
    if (side->is_made && side->is_lost && side->is_unsure)
        (void)pawl__sql_session_connect(side, NULL);
}

/* A lost connection has ended the row locks of the claims, the worker's lock, and the handler's writes. While a
 * handler transaction is open, there is no new session: it would commit only what the handler writes from now on. */
pawl_code pawl__sql_remote_ready(pawl_store *store, pawl_error *error)
{
    pawl__sql_remote *remote = pawl__sql_remote_of(store);
    if (remote->main->is_made && !remote->main->is_lost) {
        end_lost_side(remote->side);
        return PAWL_OK;
    }
    if (remote->sql.in_handler_transaction)
        return pawl_error_set(error, PAWL_ELOST,
                              "%s: the connection was lost, and the handler transaction with it",
                              store->scheme);
    pawl__sql_lock_lost(&remote->claims);
    pawl_code code        = pawl__sql_session_connect(remote->main, error);
    remote->main->is_lost = code != PAWL_OK; /* the next operation tries again */
    if (code == PAWL_OK)
        pawl_log(PAWL_LOG_INFO, "%s: %s: connected again", store->scheme, remote->given);
    return code;
}
