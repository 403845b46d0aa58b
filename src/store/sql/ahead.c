/* ahead.c - pipelining: sends the writes of a commit before the answers to earlier ones are read. See ahead.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/ahead.h"

#include <string.h>

/* ---- Sending -------------------------------------------------------------- */

pawl_code pawl__sql_may_send_ahead(pawl__sql_session *session, pawl_error *error)
{
    const pawl__sql_ahead *ahead    = session->ahead;
    bool                   is_full  = ahead->count == PAWL__SQL_UNREAD_MAX;
    bool                   is_ended = ahead->count != 0 && session->why != PAWL_OK;
    pawl_code code = is_full || is_ended ? pawl__sql_read_answers(session, error) : PAWL_OK;
    return code == PAWL_OK ? ahead->begin_call(session, error) : code;
}

void pawl__sql_sent_ahead(pawl__sql_session *session)
{
    session->ahead->unread[session->ahead->count++] = (pawl__sql_unread){.item = NULL};
}

/* ---- Reading -------------------------------------------------------------- */

static pawl_code read_answer(pawl__sql_session *session, const pawl__sql_unread *unread,
                             pawl_error *error)
{
    pawl__sql_ahead *ahead = session->ahead;
    uint64_t         found = 0;
    pawl_code        code  = ahead->read(session, &found, error);
    ahead->had_unexpected |= code != PAWL_OK || found < unread->wanted;
    if (code == PAWL_OK || pawl__sql_may_go_on(session, code))
        return PAWL_OK;
    return session->why != PAWL_OK ? pawl__sql_broken_off(session, error) : code;
}

/* Reads all answers, also after a failure, so that the next answer belongs to the next statement that is sent. The
 * deadline starts anew for each answer, until the call is aborted (session->why). */
pawl_code pawl__sql_read_answers(pawl__sql_session *session, pawl_error *error)
{
    pawl__sql_store *store = session->store;
    pawl__sql_ahead *ahead = session->ahead;
    pawl_code        code  = PAWL_OK;
    if (ahead == NULL)
        return PAWL_OK;
    for (; ahead->from < ahead->count && !session->is_lost; ahead->from++) {
        const pawl__sql_unread *unread = &ahead->unread[ahead->from];
        if (session->why == PAWL_OK)
            (void)ahead->begin_call(session, NULL);
        pawl_code one = read_answer(session, unread, code == PAWL_OK ? error : NULL);
        store->late   = code == PAWL_OK && one != PAWL_OK ? unread->item : store->late;
        code          = code == PAWL_OK ? one : code;
    }
    ahead->from = ahead->count = 0;
    return code;
}

/* ---- Writes --------------------------------------------------------------- */

/* A write that is followed by another one if it finds no row awaits its answer, since that often happens. Inserts are
 * the exception: their row rarely exists already. */
static bool can_pipeline(const pawl__sql_session *session, const pawl__sql_write *write)
{
    const char *text = pawl__sql_template_of(session, write->statement, write->is_saga);
    return write->then[PAWL__SQL_MISSED].next == NULL || strncmp(text, "insert ", 7) == 0;
}

pawl_code pawl__sql_write_ahead(pawl__sql_connection *connection, const pawl__sql_write *write,
                                const void *const *items, size_t count, pawl__sql_result *results,
                                size_t *failed, pawl_error *error)
{
    pawl__sql_session *session = pawl__sql_session_of(connection);
    pawl_code          code    = PAWL_OK;
    bool               goes    = can_pipeline(session, write);
    *failed                    = 0;
    if (goes)
        code = session->ahead->go(session, error);
    if (code != PAWL_OK)
        return code;
    session->ahead->is_on = goes;
    code = pawl__sql_write_checked(connection, write, items, count, results, failed, error);
    session->ahead->is_on = false;
    return code;
}

pawl_code pawl__sql_settle(pawl_store *store, bool *is_right, pawl_error *error)
{
    pawl__sql_session *session = pawl__sql_session_of(pawl__sql_remote_of(store)->sql.connection);
    pawl_code          code    = pawl__sql_read_answers(session, error);
    *is_right                  = !session->ahead->had_unexpected;
    session->ahead->had_unexpected = false;
    return code;
}
