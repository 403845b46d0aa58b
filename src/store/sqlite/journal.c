/* journal.c - events, stored folds, checkpoints.
 *
 * One connection writes at a time, so numbers of events are given in the order
 * of the commits: an event's number is its position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/refusal.h"
#include "store/sql/rows.h"
#include "store/sqlite/operations.h"

/* ---- Reading ------------------------------------------------------------ */

/* All rows of a call that begin with number, stream and version. */
static pawl_code read_events(pawl__sqlite_request *request, pawl_event_row **items, size_t *count)
{
    size_t capacity = 0;
    while (pawl__sqlite_next(request)) {
        pawl_event_row *grown =
            pawl__sqlite_grow(request, *items, *count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        *items              = grown;
        pawl_event_row *row = &grown[(*count)++];
        *row                = (pawl_event_row){0};
        row->seq            = pawl__sqlite_get_int(request);
        row->position       = row->seq;
        row->stream         = pawl__sqlite_get_text(request);
        row->version        = pawl__sqlite_get_int(request);
        pawl__sqlite_get_fields(request, &pawl__sql_event, &row->event);
    }
    return request->code;
}

static pawl_code read_last(pawl__sqlite *store, pawl_text stream, int64_t *version,
                           pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_EVENT_LAST, error);
    pawl__sqlite_put_text(&request, stream);
    return pawl__sqlite_one_int(&request, version);
}

static pawl_code read_fold(pawl__sqlite *store, const pawl_stream_read *read, pawl_arena *arena,
                           pawl_fold_row *fold, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_FOLD_READ, error);
    request.arena = arena;
    pawl__sqlite_put_text(&request, read->stream);
    pawl__sqlite_put_int(&request, read->fold_version_max);
    pawl__sqlite_put_int(&request, read->after);
    if (pawl__sqlite_next(&request)) {
        fold->version      = pawl__sqlite_get_int(&request);
        fold->type_version = (int32_t)pawl__sqlite_get_int(&request);
        fold->state        = pawl__sqlite_get_text(&request);
        fold->dispatches   = pawl__sqlite_get_text(&request);
        fold->at           = pawl__sqlite_get_int(&request);
        pawl__sqlite_stop(&request);
    }
    return request.code;
}

static pawl_code read_behind(pawl__sqlite *store, pawl_text stream, int64_t after,
                             pawl_arena *arena, pawl_stream *loaded, pawl_error *error)
{
    pawl__sqlite_request request;
    pawl__sqlite_request_begin(&request, &store->connection, PAWL__SQL_EVENT_BEHIND, error);
    request.arena = arena;
    pawl__sqlite_put_text(&request, stream);
    pawl__sqlite_put_int(&request, after);
    pawl_code code = read_events(&request, &loaded->events, &loaded->count);
    if (code == PAWL_OK && loaded->count != 0)
        loaded->version = loaded->events[loaded->count - 1].version;
    return code;
}

/* Who knows the stream already asks as a rule whether it went on, and it did not:
 * that is one look into an index. */
static pawl_code load_stream(pawl__sqlite *store, const pawl_stream_read *read, pawl_arena *arena,
                             pawl_stream *loaded, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *loaded        = (pawl_stream){0};
    if (read->after > 0) {
        code = read_last(store, read->stream, &loaded->version, error);
        if (code != PAWL_OK || loaded->version <= read->after)
            return code;
    }
    if (read->fold_version_max > 0)
        code = read_fold(store, read, arena, &loaded->fold, error);
    int64_t after = loaded->fold.version != 0 ? loaded->fold.version : read->after;
    if (code == PAWL_OK)
        code = read_behind(store, read->stream, after, arena, loaded, error);
    if (code == PAWL_OK && loaded->count == 0 && loaded->fold.version != 0)
        code = read_last(store, read->stream, &loaded->version, error);
    return code;
}

pawl_code pawl__sqlite_stream_load(pawl_store *base, const pawl_stream_read *reads, size_t count,
                                   pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    pawl__sqlite *store = pawl__sqlite_of(base);
    pawl_code     code  = pawl__sqlite_ready(store, error);
    if (code == PAWL_OK)
        code = pawl__sqlite_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = load_stream(store, &reads[i], arena, &streams[i], error);
    return pawl__sqlite_read_end(store, code, error);
}

pawl_code pawl__sqlite_event_number(pawl_store *base, size_t count_max, int64_t *count,
                                    pawl_error *error)
{
    (void)count_max;
    *count = 0;
    return pawl__sqlite_ready(pawl__sqlite_of(base), error);
}
