/* inbox.c - which message ids an endpoint handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sqlite/operations.h"

#define RANGE_IDS_MIN 8   /* fewer are as fast one by one */
#define RANGE_ROWS_MAX 32 /* more marks than that in the range: one by one after all */

static void find_range(const pawl_text *ids, size_t count, pawl_text *first, pawl_text *last)
{
    *first = *last = ids[0];
    for (size_t i = 1; i < count; i++) {
        if (pawl_text_compare(ids[i], *first) < 0)
            *first = ids[i];
        if (pawl_text_compare(ids[i], *last) > 0)
            *last = ids[i];
    }
}

static void note_known(pawl_text id, const pawl_text *ids, size_t count, bool *known)
{
    for (size_t i = 0; i < count; i++)
        known[i] |= pawl_text_equal(ids[i], id);
}

/* The ids that pawl makes ascend, so between the first and the last of a new
 * batch there are no marks as a rule, and one look finds that out. With other
 * ids there may be any number: `*is_whole` says whether all were seen. */
static pawl_code look_at_range(pawl__sqlite *store, pawl_text endpoint, const pawl_text *ids,
                               size_t count, bool *known, bool *is_whole, pawl_error *error)
{
    pawl_text            first, last;
    size_t               found = 0;
    pawl__sqlite_request request;
    find_range(ids, count, &first, &last);
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQLITE_INBOX_RANGE, error);
    pawl__sqlite_put_text(&request, endpoint);
    pawl__sqlite_put_text(&request, first);
    pawl__sqlite_put_text(&request, last);
    pawl__sqlite_put_int(&request, RANGE_ROWS_MAX);
    for (; pawl__sqlite_next(&request); found++)
        note_known(pawl__sqlite_peek_text(&request), ids, count, known);
    *is_whole = found < RANGE_ROWS_MAX;
    return request.code;
}

static pawl_code look_at_each(pawl__sqlite *store, pawl_text endpoint, const pawl_text *ids,
                              size_t count, bool *known, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__sqlite_request request;
        pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_INBOX_KNOWN, error);
        pawl__sqlite_put_text(&request, endpoint);
        pawl__sqlite_put_text(&request, ids[i]);
        known[i] = pawl__sqlite_next(&request);
        pawl__sqlite_stop(&request);
        code = request.code;
    }
    return code;
}

pawl_code pawl__sqlite_inbox_known(pawl_store *base, pawl_text endpoint, const pawl_text *ids,
                                   size_t count, bool *known, pawl_error *error)
{
    pawl__sqlite *store    = pawl__sqlite_of(base);
    bool          is_whole = false;
    pawl_code     code     = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; i < count; i++)
        known[i] = false;
    if (count >= RANGE_IDS_MIN)
        code = look_at_range(store, endpoint, ids, count, known, &is_whole, error);
    if (code == PAWL_OK && !is_whole)
        code = look_at_each(store, endpoint, ids, count, known, error);
    return pawl__sqlite_read_end(store, code, error);
}
