/* session_rows.h - requests of the generic store on a session: a statement that has run, and its rows.
 *
 * Threads: as the store: one thread at a time.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_SESSION_ROWS_H
#define PAWL_STORE_SQL_SESSION_ROWS_H

#include "store/sql/session.h"

/* Of pawl__sql_ops. */
pawl_code pawl__sql_request_send(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                                 pawl__sql_request **request, pawl_error *error);
pawl_code pawl__sql_request_send_set(pawl_store *store, const pawl__sql_asked *asked,
                                     const void *const *items, size_t count, pawl_arena *arena,
                                     pawl__sql_request **request, pawl_error *error);
bool      pawl__sql_request_next(pawl__sql_request *request);
void pawl__sql_request_get(pawl__sql_request *request, const pawl__field_list *columns, void *row);
int64_t   pawl__sql_request_changed(pawl__sql_request *request);
pawl_code pawl__sql_request_end(pawl__sql_request *request);
/* Room for a column's text: of the request's arena, or until the next row. NULL: there is none. */
char *pawl__sql_room_of(pawl__sql_request *request, size_t size);

#endif
