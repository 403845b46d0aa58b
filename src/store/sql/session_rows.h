/* session_rows.h - pawl__sql_request of drivers with sessions: a statement that has run, and its rows.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SESSION_ROWS_H
#define PAWL_STORE_SQL_SESSION_ROWS_H

#include "store/sql/session.h"

#define PAWL__SQL_PEEKED_MAX 512
#define PAWL__SQL_COLUMNS_MAX 40

struct pawl__sql_request {
    pawl__sql_session  *session;
    pawl__sql_prepared *statement;
    pawl_arena         *arena; /* of texts that are read */
    pawl_error         *error;
    pawl_code           code;
    size_t              peeked_size;
    char                peeked[PAWL__SQL_PEEKED_MAX]; /* texts valid until the next row */
    bool                is_read[PAWL__SQL_COLUMNS_MAX];
    pawl__sql_got       got[PAWL__SQL_COLUMNS_MAX];
};

/* Of pawl__sql_ops, in any driver of sessions. */
#define PAWL__SQL_SESSION_OPS                                       \
    .send = pawl__sql_request_send, .next = pawl__sql_request_next, \
    .changed = pawl__sql_request_changed, .end = pawl__sql_request_end
pawl_code pawl__sql_request_send(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                                 pawl__sql_request **request, pawl_error *error);
bool      pawl__sql_request_next(pawl__sql_request *request);
void pawl__sql_request_get(pawl__sql_request *request, const pawl__field_list *columns, void *row);
int64_t   pawl__sql_request_changed(pawl__sql_request *request);
pawl_code pawl__sql_request_end(pawl__sql_request *request);
/* For a driver's own send: a request without a statement. NULL: out of memory. */
pawl__sql_request *pawl__sql_request_make(pawl_store *store, pawl_arena *arena, pawl_error *error);
/* Memory for a column's text: in the request's arena, or valid until the next row. NULL: none left. */
char *pawl__sql_room_of(pawl__sql_request *request, size_t size);

#endif
