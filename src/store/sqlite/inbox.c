/* inbox.c - which message ids an endpoint handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

pawl_code pawl__sqlite_inbox_known(pawl_store *base, pawl_text endpoint, const pawl_text *ids,
                                   size_t count, bool *known, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sqlite_call call;
        pawl__sqlite_call_begin(&call, &store->connection, pawl__sql_inbox_known, error);
        pawl__sqlite_put_text(&call, endpoint);
        pawl__sqlite_put_text(&call, ids[i]);
        known[i] = pawl__sqlite_next(&call);
        pawl__sqlite_stop(&call);
        code = call.code;
    }
    return pawl__sqlite_read_end(store, code, error);
}

pawl_code pawl__sqlite_apply_inbox_mark(pawl__sqlite_writer *writer, const void *change,
                                        pawl_error *error)
{
    static const pawl_text outcomes[] = {
        [PAWL_INBOX_HANDLED]   = {"handled", 7},
        [PAWL_INBOX_DISCARDED] = {"discarded", 9},
        [PAWL_INBOX_DEAD]      = {"dead", 4},
    };
    const pawl_inbox_mark *mark = change;
    pawl__sqlite_call      call;
    pawl__sqlite_call_begin(&call, writer->connection, pawl__sql_inbox_mark, error);
    pawl__sqlite_put_text(&call, mark->endpoint);
    pawl__sqlite_put_text(&call, mark->message_id);
    pawl__sqlite_put_text(&call, outcomes[mark->outcome]);
    pawl__sqlite_put_int(&call, mark->at);
    pawl_code code = pawl__sqlite_run(&call);
    if (code == PAWL_EDUPLICATE)
        return pawl_error_set(error, code, "endpoint %.*s: message %.*s was handled already",
                              PAWL_TEXT_ARGS(mark->endpoint), PAWL_TEXT_ARGS(mark->message_id));
    return code;
}
