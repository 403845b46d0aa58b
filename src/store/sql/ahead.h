/* ahead.h - statements of a commit that are sent before the answers to those before them are read.
 *
 *     write_ahead    pawl__sql_sent_ahead, pawl__sql_expect for each statement
 *     settle         pawl__sql_read_answers: whether each answer was as expected
 *
 * A driver whose library can do it has a pawl__sql_ahead in each session. A failure of a statement alone
 * shows in `was_unlike`: the round is undone then, and done again with each answer awaited.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_mysql_ahead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_AHEAD_H
#define PAWL_STORE_SQL_AHEAD_H

#include "store/sql/session.h"

/* At most 600 bytes of each answer: together they fit into the buffers of the socket, so a server that
 * answers never waits for a client that still writes. */
#define PAWL__SQL_UNREAD_MAX 64

/* A statement sent ahead, whose answer is unread. */
typedef struct pawl__sql_unread {
    const void *item;   /* the first that it writes */
    unsigned    wanted; /* rows that it is to find */
} pawl__sql_unread;

struct pawl__sql_ahead {
    /* Behind it no statement but a commit makes anything stay, until the transaction ends. Its answer is
     * awaited. */
    pawl_code (*go)(pawl__sql_session *session, pawl_error *error);
    /* The deadline of a call begins. PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
    pawl_code (*begin_call)(pawl__sql_session *session, pawl_error *error);
    /* Reads the answer to the statement that was sent first of those that are unread. */
    pawl_code (*read)(pawl__sql_session *session, uint64_t *found, pawl_error *error);
    pawl__sql_unread unread[PAWL__SQL_UNREAD_MAX];
    unsigned         from; /* answers before this one are read */
    unsigned         count;
    bool             is_on;      /* writes are sent ahead */
    bool             was_unlike; /* one of them failed alone, or found fewer rows */
};

static inline bool pawl__sql_is_ahead(const pawl__sql_session *session)
{
    return session->ahead != NULL && session->ahead->is_on;
}
/* Before a statement is sent ahead: where there is no room for its answer, those before it are read. */
pawl_code pawl__sql_may_send_ahead(pawl__sql_session *session, pawl_error *error);
void      pawl__sql_sent_ahead(pawl__sql_session *session);
/* About the last one that was sent. */
static inline void pawl__sql_expect(pawl__sql_session *session, pawl__sql_unread unread)
{
    session->ahead->unread[session->ahead->count - 1] = unread;
}
/* Reads what is unread, before anything else is sent. Another code than PAWL_OK: the transaction cannot go
 * on, and the store's `late` says which item's statement that was. */
pawl_code pawl__sql_read_answers(pawl__sql_session *session, pawl_error *error);

/* Of pawl__sql_ops. */
pawl_code pawl__sql_write_ahead(pawl__sql_connection *connection, const pawl__sql_write *write,
                                const void *const *items, size_t count, pawl__sql_fate *fates,
                                size_t *failed, pawl_error *error);
pawl_code pawl__sql_settle(pawl_store *store, bool *is_right, pawl_error *error);

#endif
