/* outbox.c - holding back the rows of a source.
 *
 * Pending rows are found by their id; there is no index on their source. A hold of a source's later rows is therefore a walk over the pending rows
 * behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/sqlite.h"

#include <stdlib.h>

static int find_source(const void *source, const void *hold)
{
    return pawl_text_compare(*(const pawl_text *)source,
                             (*(const pawl_outbox_hold *const *)hold)->source);
}

static pawl_code hold_row(pawl__sqlite_connection *connection, int64_t id, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, connection, PAWL__SQL_OUTBOX_HOLD, error);
    pawl__sqlite_put_int(&request, id);
    return pawl__sqlite_run(&request);
}

/* One walk for all holds. Rows leave the index while it goes on over it, which SQLite
 * allows: one that left was passed. */
pawl_code pawl__sqlite_hold_back(pawl__sqlite_connection       *connection,
                                 const pawl_outbox_hold *const *holds, size_t count,
                                 pawl_error *error)
{
    int64_t   after = INT64_MAX;
    pawl_code code  = PAWL_OK;
    for (size_t i = 0; i < count; i++)
        if (holds[i]->after < after)
            after = holds[i]->after;
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, connection, PAWL__SQLITE_OUTBOX_SOURCES, error);
    pawl__sqlite_put_int(&request, after);
    while (code == PAWL_OK && pawl__sqlite_next(&request)) {
        int64_t                        id     = pawl__sqlite_get_int(&request);
        pawl_text                      source = pawl__sqlite_peek_text(&request);
        const pawl_outbox_hold *const *found =
            bsearch(&source, holds, count, sizeof *holds, find_source);
        if (found != NULL && id > (*found)->after)
            code = hold_row(connection, id, error);
    }
    pawl__sqlite_stop(&request);
    return code != PAWL_OK ? code : request.code;
}
