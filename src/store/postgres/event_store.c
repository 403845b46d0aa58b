/* event_store.c - reads events, and loads streams.
 *
 * A version of a stream exists once, by a unique index: of two appenders the second waits there
 * for the first. position.c gives events their positions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

/* ---- Reading ------------------------------------------------------------ */

static void read_event(pawl__pg_request *request, pawl_event_row *row)
{
    row->version  = pawl__pg_get_int(request);
    row->seq      = pawl__pg_get_int(request);
    row->position = pawl__pg_get_int(request);
    pawl__pg_get_fields(request, &pawl__event_fields, &row->event);
}

/* Notes that this handle reads events, so that it listens for NOTIFY of events. A handle takes its advisory locks
 * when it goes to sleep, so one that sleeps already is made to do that again. */
static pawl_code note_reader(pawl__pg *store, pawl_error *error)
{
    if (store->reads_events)
        return PAWL_OK;
    pawl_code code      = pawl__pg_stop_sleeping(store, error);
    store->reads_events = code == PAWL_OK;
    return code;
}

/* Does the query read all events by position, as projections do? */
static bool reads_on(const pawl_find *asked)
{
    const pawl_event_query *query = &asked->events;
    return asked->kind == PAWL_FIND_EVENTS && query->is_by_position && !query->is_backward &&
           query->stream.size == 0;
}

pawl_code pawl__pg_find(pawl_store *base, const pawl_find *asked, pawl_arena *arena,
                        pawl_found *found, pawl_error *error)
{
    pawl__pg *store         = pawl__pg_of(base);
    bool      is_reading_on = reads_on(asked);
    pawl_code code          = PAWL_OK;
    if (is_reading_on)
        code = note_reader(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_find(base, asked, arena, found, error);
    const pawl_event_row *rows = found->items;
    if (code == PAWL_OK && is_reading_on) {
        store->events_read =
            found->count > 0 ? rows[found->count - 1].position : asked->after.number;
        pawl__pg_note_claim(store, found->count == 0);
    }
    return code;
}

/* ---- Loading streams ---------------------------------------------------- */

typedef struct loading {
    pawl__pg_request        request;
    const pawl_stream_read *reads;
    size_t                  count;
    pawl_arena             *arena;
    pawl_stream            *streams;
} loading;

/* The first row of each stream has its last version, its snapshot (fold) if there is one, and no event. */
static void read_fold(loading *l, pawl_stream *stream)
{
    pawl_event_row row = {0};
    read_event(&l->request, &row);
    stream->version = row.position;
    if (row.version == 0)
        return;
    stream->snapshot.version      = row.version;
    stream->snapshot.type_version = row.event.type_version;
    stream->snapshot.at           = row.event.at;
    stream->snapshot.state        = pawl__pg_get_text(&l->request);
    stream->snapshot.dispatches   = pawl__pg_get_text(&l->request);
}

static bool copy_stream(loading *l, pawl_stream *stream, pawl_text *name)
{
    *name = stream->count != 0 ? stream->events[0].stream
                               : pawl_arena_text(l->arena, l->reads[stream - l->streams].stream);
    if (name->data == NULL)
        l->request.code = pawl__pg_no_memory(l->request.error);
    return name->data != NULL;
}

/* The rows of a stream follow one another in the answer. */
static void read_rows(loading *l)
{
    pawl_event_row *next = pawl__pg_take_rows(&l->request, sizeof *next);
    while (pawl__pg_next(&l->request)) {
        size_t at = pawl__pg_get_index(&l->request, l->count);
        if (at == SIZE_MAX)
            continue;
        pawl_stream *stream = &l->streams[at];
        if (PQgetisnull(l->request.result, l->request.row, l->request.column + 1)) {
            read_fold(l, stream);
            continue;
        }
        if (stream->count == 0)
            stream->events = next;
        if (!copy_stream(l, stream, &next->stream))
            return;
        read_event(&l->request, next++);
        stream->count++;
    }
}

pawl_code pawl__pg_stream_load(pawl_store *base, const pawl_stream_read *reads, size_t count,
                               pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    loading   l     = {.reads = reads, .count = count, .arena = arena, .streams = streams};
    if (count == 0)
        return PAWL_OK;
    pawl__pg_begin(&l.request, &store->main, PAWL__PG_STREAM_LOAD_ALL, error);
    l.request.arena = arena;
    PAWL__PG_PUT_COLUMN(&l.request, PAWL__WIRE_TEXT, reads, stream, count);
    PAWL__PG_PUT_COLUMN(&l.request, PAWL__WIRE_INT, reads, after, count);
    PAWL__PG_PUT_COLUMN(&l.request, PAWL__WIRE_INT32, reads, snapshot_version_max, count);
    pawl_code code = pawl__pg_run(&l.request);
    if (code != PAWL_OK)
        return code;
    read_rows(&l);
    pawl__pg_end(&l.request);
    return l.request.code;
}
