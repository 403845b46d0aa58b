/* outbox.c - finding rows, and holding back those of a source.
 *
 * Rows are found by their id among the pending ones; there is no index on their
 * source. A hold of a source's later rows is therefore a walk over the pending rows
 * behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/outbox.h"
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

#include <stdlib.h>
#include <string.h>

static pawl_code read_rows(pawl__sqlite_request *request, pawl_outbox_rows *rows)
{
    size_t capacity = 0;
    while (pawl__sqlite_next(request)) {
        pawl_outbox_row *grown =
            pawl__sqlite_grow(request, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items          = grown;
        pawl_outbox_row *row = &grown[rows->count++];
        *row                 = (pawl_outbox_row){0};
        pawl__sqlite_get_fields(request, &pawl__sql_outbox_row, row);
    }
    return request->code;
}

/* ---- Reading ------------------------------------------------------------ */

/* The statement whose index leads to the rows of the query, if one does. */
static int find_statement(const pawl_outbox_query *query)
{
    if (query->id != 0)
        return PAWL__SQLITE_OUTBOX_FIND_ID;
    if (!pawl_uuid_is_zero(query->dispatch_id.uuid))
        return PAWL__SQLITE_OUTBOX_FIND_DISPATCH;
    switch (query->states) {
    case 1u << PAWL_OUTBOX_PENDING:
        return query->attempts_min > 0 ? PAWL__SQLITE_OUTBOX_FIND_TRIED
                                       : PAWL__SQLITE_OUTBOX_FIND_PENDING;
    case 1u << PAWL_OUTBOX_HELD: return PAWL__SQLITE_OUTBOX_FIND_HELD;
    case 1u << PAWL_OUTBOX_DEAD: return PAWL__SQLITE_OUTBOX_FIND_DEAD;
    default: return PAWL__SQLITE_OUTBOX_FIND_ANY;
    }
}

pawl_code pawl__sqlite_outbox_find(pawl_store *base, const pawl_outbox_query *query,
                                   pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    pawl__sqlite        *store = pawl__sqlite_of(base);
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, find_statement(query), error);
    request.arena = arena;
    pawl__sqlite_put_int(&request, query->id);
    pawl__sqlite_put_uuid_or_null(&request, query->dispatch_id.uuid);
    pawl__sqlite_put_int(&request, query->after);
    pawl__sqlite_put_int(&request, query->states);
    pawl__sqlite_put_text(&request, query->endpoint);
    pawl__sqlite_put_text(&request, query->source);
    pawl__sqlite_put_text(&request, query->destination);
    pawl__sqlite_put_text(&request, query->message_type);
    pawl__sqlite_put_text(&request, query->causation_id);
    pawl__sqlite_put_int(&request, query->count_max != 0 ? (int64_t)query->count_max : -1);
    pawl__sqlite_put_int(&request, query->attempts_min);
    return read_rows(&request, rows);
}

/* ---- Holding back ------------------------------------------------------- */

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
