/* ahead.h - pipelining: sends statements of a commit before the answers to earlier ones are read.
 *
 *     write_ahead    pawl__sql_sent_ahead, pawl__sql_expect for each statement
 *     settle         pawl__sql_read_answers: whether each answer was as expected
 *
 * A driver whose library allows it has a pawl__sql_ahead in each session. If a statement fails by itself, or finds
 * fewer rows than expected, `had_unexpected` is set: the round is undone, and repeated with each answer awaited.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract/test_mysql_ahead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_AHEAD_H
#define PAWL_STORE_SQL_AHEAD_H

#include "store/sql/session.h"

/* An answer has 600 bytes at most, so all unread answers fit into the socket's buffers: the server never blocks while
 * the client still writes. */
#define PAWL__SQL_UNREAD_MAX 64

/* A statement sent ahead, whose answer is unread. */
typedef struct pawl__sql_unread {
    const void *item;   /* the first item that it writes */
    unsigned    wanted; /* number of rows that it has to find */
} pawl__sql_unread;

struct pawl__sql_ahead {
    /* Behind it no statement but a commit makes anything stay, until the transaction ends. Its answer is
     * awaited. */
    pawl_code (*go)(pawl__sql_session *session, pawl_error *error);
    /* Starts the deadline of a call. PAWL_ELOST, PAWL_EBUSY: nothing may be sent. */
    pawl_code (*begin_call)(pawl__sql_session *session, pawl_error *error);
    /* Reads the oldest unread answer. */
    pawl_code (*read)(pawl__sql_session *session, uint64_t *found, pawl_error *error);
    pawl__sql_unread unread[PAWL__SQL_UNREAD_MAX];
    unsigned         from; /* index of the oldest unread answer */
    unsigned         count;
    bool             is_on;          /* writes are sent ahead */
    bool             had_unexpected; /* a statement failed by itself, or found fewer rows */
};

static inline bool pawl__sql_is_ahead(const pawl__sql_session *session)
{
    return session->ahead != NULL && session->ahead->is_on;
}
/* Called before a statement is sent ahead: if the list is full, reads the answers first. */
pawl_code pawl__sql_may_send_ahead(pawl__sql_session *session, pawl_error *error);
void      pawl__sql_sent_ahead(pawl__sql_session *session);
/* Sets the expected answer of the statement that was sent last. */
static inline void pawl__sql_expect(pawl__sql_session *session, pawl__sql_unread unread)
{
    session->ahead->unread[session->ahead->count - 1] = unread;
}
/* Reads all unread answers, before anything else is sent. Any failure: the transaction cannot go on; the store's
 * `late` is the item whose statement failed. */
pawl_code pawl__sql_read_answers(pawl__sql_session *session, pawl_error *error);

/* Of pawl__sql_ops. */
pawl_code pawl__sql_write_ahead(pawl__sql_connection *connection, const pawl__sql_write *write,
                                const void *const *items, size_t count, pawl__sql_result *results,
                                size_t *failed, pawl_error *error);
pawl_code pawl__sql_settle(pawl_store *store, bool *is_right, pawl_error *error);

#endif
