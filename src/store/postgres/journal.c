/* journal.c - events and streams.
 *
 * A unique index decides the versions of a stream: of two appenders the second waits there for
 * the first. position.c gives the positions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Reading ------------------------------------------------------------ */

static void read_event(pawl__pg_request *request, pawl_event_row *row)
{
    row->version  = pawl__pg_get_int(request);
    row->seq      = pawl__pg_get_int(request);
    row->position = pawl__pg_get_int(request);
    pawl__pg_get_fields(request, &pawl__event_fields, &row->event);
}

/* NOTIFY for events is asked for by a handle that reads the journal. Its sleepers' locks are taken
 * when it goes to sleep: a handle that sleeps already goes to sleep anew. */
static pawl_code note_reader(pawl__pg *store, pawl_error *error)
{
    if (store->reads_events)
        return PAWL_OK;
    pawl_code code      = pawl__pg_stop_sleeping(store, error);
    store->reads_events = code == PAWL_OK;
    return code;
}

/* Whether the query reads on by position, through all events. */
static bool is_reading_on(const pawl_event_query *query)
{
    return query->is_by_position && !query->is_backward && query->stream.size == 0;
}

pawl_code pawl__pg_event_list(pawl_store *base, const pawl_event_query *query, pawl_arena *arena,
                              pawl_event_rows *rows, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_code code  = PAWL_OK;
    if (is_reading_on(query))
        code = note_reader(store, error);
    if (code == PAWL_OK)
        code = pawl__sql_event_list(base, query, arena, rows, error);
    if (code == PAWL_OK && is_reading_on(query)) {
        store->events_read = rows->count > 0 ? rows->items[rows->count - 1].position : query->after;
        pawl__pg_note_claim(store, rows->count == 0);
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

/* The stream to which the row belongs; NULL for none. */
static pawl_stream *stream_of(loading *l)
{
    int64_t number = pawl__pg_get_int(&l->request);
    return number >= 1 && (uint64_t)number <= l->count ? &l->streams[number - 1] : NULL;
}

/* The first row of each stream has its last version, and its fold if there is one. It has no
 * event. */
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

/* Rows of a stream follow one another: the statement goes from stream to stream. */
static void read_rows(loading *l)
{
    pawl_event_row *next = pawl__pg_take_rows(&l->request, sizeof *next);
    while (pawl__pg_next(&l->request)) {
        pawl_stream *stream = stream_of(l);
        if (stream == NULL)
            continue;
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

static void put_reads(loading *l)
{
    pawl__pg_request *request = &l->request;
    pawl__pg_array_begin(request, PAWL__WIRE_TEXT, PAWL_VALUE_NONE, l->count);
    for (size_t i = 0; i < l->count; i++)
        pawl__pg_array_put(request, PAWL__WIRE_TEXT, &l->reads[i].stream);
    pawl__pg_array_end(request);
    pawl__pg_array_begin(request, PAWL__WIRE_INT, PAWL_VALUE_NONE, l->count);
    for (size_t i = 0; i < l->count; i++)
        pawl__pg_array_put(request, PAWL__WIRE_INT, &l->reads[i].after);
    pawl__pg_array_end(request);
    pawl__pg_array_begin(request, PAWL__WIRE_INT32, PAWL_VALUE_NONE, l->count);
    for (size_t i = 0; i < l->count; i++)
        pawl__pg_array_put(request, PAWL__WIRE_INT32, &l->reads[i].snapshot_version_max);
    pawl__pg_array_end(request);
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
    put_reads(&l);
    pawl_code code = pawl__pg_run(&l.request);
    if (code != PAWL_OK)
        return code;
    read_rows(&l);
    pawl__pg_end(&l.request);
    return l.request.code;
}

/* ---- Appending ---------------------------------------------------------- */

static const pawl__field event_fields[] = {
    PAWL__AS(event_append, stream, TEXT),
    PAWL__AS(event_append, version, INT),
    PAWL__AS(event_append, is_first, BOOL),
    PAWL__AS(event_append, event.type, TEXT),
    PAWL__AS(event_append, event.type_version, INT32),
    PAWL__AS(event_append, event.message_id, TEXT),
    PAWL__AS(event_append, event.correlation_id, TEXT),
    PAWL__AS(event_append, event.causation_id, TEXT),
    PAWL__AS(event_append, event.dispatch_id.uuid, UUID_OR_NULL),
    PAWL__AS(event_append, event.at, TIME),
    PAWL__AS(event_append, event.headers, TEXT),
    PAWL__AS(event_append, event.body, BYTES),
};

/* One order of the keys: two workers that append to the same streams wait for one another, and do
 * not deadlock. */
static int by_stream(const void *left, const void *right)
{
    const pawl_event_append *l = left, *r = right;
    int                      order = pawl_text_compare(l->stream, r->stream);
    return order != 0 ? order : (l->version > r->version) - (l->version < r->version);
}

/* Events that ON CONFLICT left out are refused: their version is taken, or the one before is
 * missing. */
static pawl_code check_left_out(pawl__pg_writer *writer, const void **items, size_t count)
{
    pawl__pg_write there = {.kind = pawl_change_event_append, .items = items, .count = count};
    pawl__pg_begin(&there.request, writer->connection, PAWL__PG_EVENT_TAKEN, writer->error);
    pawl__pg_write_fields(&there, event_fields, 2);
    pawl_code code = pawl__pg_run(&there.request);
    if (code != PAWL_OK)
        return code;
    bool *is_taken = pawl__pg_applied(writer, &there);
    pawl__pg_end(&there.request);
    if (is_taken == NULL || there.request.code != PAWL_OK)
        return is_taken == NULL ? PAWL_ENOMEM : there.request.code;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code =
            pawl__pg_refuse_for(writer, there.kind, items[i],
                                is_taken[i] ? pawl__why_version_taken : pawl__why_version_missing);
    return code;
}

/* Whether the row has this event's key. */
static bool is_inserted(pawl__pg_request *request, const pawl_event_append *append)
{
    request->column   = 0;
    pawl_text stream  = pawl__pg_peek_text(request);
    int64_t   version = pawl__pg_get_int(request);
    return version == append->version && pawl_text_equal(stream, append->stream);
}

/* INSERT returns the keys in the order of the items. A stream is refused once, for the first of its
 * events that was left out. */
static pawl_code check_appended(pawl__pg_writer *writer, pawl__pg_write *write)
{
    pawl__pg_request *request = &write->request;
    size_t            left    = 0;
    if (pawl__pg_rows(request) == (int64_t)write->count)
        return PAWL_OK;
    const void **out = pawl_arena_take(writer->arena, (write->count + 1) * sizeof *out);
    if (out == NULL)
        return pawl__pg_no_memory(writer->error);
    bool                     has_row = pawl__pg_next(request);
    const pawl_event_append *last    = NULL;
    for (size_t i = 0; i < write->count; i++) {
        const pawl_event_append *append = write->items[i];
        if (has_row && is_inserted(request, append))
            has_row = pawl__pg_next(request);
        else if (last == NULL || !pawl_text_equal(last->stream, append->stream))
            out[left++] = last = append;
    }
    pawl__pg_end(request);
    return request->code == PAWL_OK ? check_left_out(writer, out, left) : request->code;
}

/* The guarded statement fails by itself, and needs no check. */
pawl_code pawl__pg_send_event_append(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_event_append, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    if (count == 0)
        return PAWL_OK;
    pawl__sort_changes(items, count, by_stream);
    int             which = writer->is_guarded ? PAWL__PG_EVENT_INSERT_SURE : PAWL__PG_EVENT_INSERT;
    pawl__pg_write *write = pawl__pg_write_add(writer, which, pawl_change_event_append, items,
                                               count, writer->is_guarded ? NULL : check_appended);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, event_fields, COUNT(event_fields));
    return pawl__pg_write_send(write);
}
