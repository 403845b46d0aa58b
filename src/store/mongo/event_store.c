/* event_store.c - events by stream, stream snapshots ("folds"), checkpoints of projections.
 *
 *     events       {_id: number, stream, version, type, ..., at, position, unnumbered}
 *     folds        {_id: stream, version, type_version, state, dispatches, at}
 *     checkpoints  {_id: name, position, at}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include <stdio.h>

typedef struct stream_snapshot_row {
    pawl_text                stream;
    pawl_stream_snapshot_row snapshot;
} stream_snapshot_row;

typedef struct checkpoint_row {
    pawl_text name;
    int64_t   position;
} checkpoint_row;

static const pawl__mongo_table events =
    PAWL__MONGO_TABLE("events", "seq", pawl__event_row_fields, pawl_event_row);

#define FOLD(member, as) PAWL__MONGO_AS(stream_snapshot_row, snapshot.member, #member, as)
static const pawl__field_list fold_fields = PAWL__FIELDS(
    PAWL__AS_OF(stream_snapshot_row, stream, TEXT), FOLD(version, INT), FOLD(type_version, INT32),
    FOLD(state, TEXT), FOLD(dispatches, TEXT), FOLD(at, TIME));
static const pawl__mongo_table folds =
    PAWL__MONGO_TABLE("folds", "stream", fold_fields, stream_snapshot_row);

static const pawl__field_list checkpoint_fields = PAWL__FIELDS(
    PAWL__AS_OF(checkpoint_row, name, TEXT), PAWL__AS_OF(checkpoint_row, position, INT));
static const pawl__mongo_table checkpoints =
    PAWL__MONGO_TABLE("checkpoints", "name", checkpoint_fields, checkpoint_row);

/* ---- Lists --------------------------------------------------------------- */

pawl_code pawl__mongo_find_events(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                  pawl_found *found, pawl_error *error)
{
    const pawl_event_query *query   = &asked->events;
    bool                    is_back = query->is_backward;
    const char             *order   = query->stream.size != 0 ? "version"
                                      : query->is_by_position ? "position"
                                                              : "_id";
    return pawl__mongo_read(
        store, &events, arena, &found->items, &found->count, error,
        "filter: {stream?: %t, %k: {%k: %i}, type?: %t, message_id?: %t, correlation_id?: %t}, "
        "sort: {%k: %n}, limit: %i",
        query->stream, order, is_back ? "$lt" : "$gt", asked->after.number, query->type,
        query->message_id, query->correlation_id, order, is_back ? -1 : 1, asked->limit);
}

/* ---- Streams ------------------------------------------------------------- */

/* Loads the snapshots that the reads can use, each into the stream that it is for. */
static pawl_code load_folds(pawl_store *store, const pawl_stream_read *reads, size_t count,
                            pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    bson_t               names      = BSON_INITIALIZER;
    uint32_t             name_count = 0;
    stream_snapshot_row *found      = NULL;
    size_t               fold_count = 0;
    pawl_code            code       = PAWL_OK;
    for (size_t i = 0; i < count; i++)
        if (reads[i].snapshot_version_max != 0)
            (void)pawl__mongo_push(&names, &name_count, "%t", reads[i].stream);
    if (name_count != 0)
        code = pawl__mongo_read(store, &folds, arena, &found, &fold_count, error,
                                "filter: {_id: {$in: %a}}", &names);
    bson_destroy(&names);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        for (size_t at = 0; at < fold_count; at++)
            if (pawl_text_equal(found[at].stream, reads[i].stream) &&
                found[at].snapshot.type_version <= reads[i].snapshot_version_max &&
                found[at].snapshot.version > reads[i].after)
                streams[i].snapshot = found[at].snapshot;
    return code;
}

static int64_t begin_of(const pawl_stream_read *read, const pawl_stream *stream)
{
    return stream->snapshot.version > read->after ? stream->snapshot.version : read->after;
}

/* Events come sorted by stream and version. Two reads of one stream may begin at different versions. */
static void show_events(const pawl_event_rows *found, const pawl_stream_read *read,
                        pawl_stream *stream)
{
    stream->events = found->items;
    stream->count  = 0;
    for (size_t i = 0; i < found->count; i++) {
        pawl_event_row *event = &found->items[i];
        if (!pawl_text_equal(event->stream, read->stream) ||
            event->version <= begin_of(read, stream))
            continue;
        if (stream->count++ == 0)
            stream->events = event;
    }
    stream->version =
        stream->count != 0 ? stream->events[stream->count - 1].version : stream->snapshot.version;
}

static pawl_code load_events(pawl_store *store, const pawl_stream_read *reads, size_t count,
                             pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    bson_t          either = BSON_INITIALIZER;
    uint32_t        used   = 0;
    pawl_event_rows found  = {.count = 0};
    for (size_t i = 0; i < count; i++)
        (void)pawl__mongo_push(&either, &used, "{stream: %t, version: {$gt: %i}}", reads[i].stream,
                               begin_of(&reads[i], &streams[i]));
    pawl_code code = pawl__mongo_read(store, &events, arena, &found.items, &found.count, error,
                                      "filter: {$or: %a}, sort: {stream: 1, version: 1}", &either);
    bson_destroy(&either);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        show_events(&found, &reads[i], &streams[i]);
    return code;
}

static pawl_code last_version(pawl_store *store, pawl_text stream, int64_t *version,
                              pawl_error *error)
{
    pawl_event_row row  = {.version = 0};
    pawl_code      code = pawl__mongo_read_one(
             store, &events, NULL, &row, NULL, error,
             "filter: {stream: %t}, sort: {version: -1}, projection: {version: 1}", stream);
    *version = row.version;
    return code;
}

pawl_code pawl__mongo_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                  pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        streams[i] = (pawl_stream){.version = 0};
    if (count == 0)
        return PAWL_OK;
    pawl_code code = load_folds(store, reads, count, arena, streams, error);
    if (code == PAWL_OK)
        code = load_events(store, reads, count, arena, streams, error);
    /* If a stream ends before its snapshot, its version is that of its last event, so that the mismatch shows. Events
     * and versions newer than the reads above are ignored. */
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        int64_t begin = begin_of(&reads[i], &streams[i]);
        if (streams[i].count != 0 || begin == 0)
            continue;
        code = last_version(store, reads[i].stream, &streams[i].version, error);
        if (streams[i].version > begin)
            streams[i].version = begin;
    }
    return code;
}

/* ---- Positions ----------------------------------------------------------- */

typedef struct numbering {
    size_t  count_max;
    int64_t count;
} numbering;

/* Positions are unique: if two workers number events at once, one of the transactions is repeated. */
static pawl_code number_events(pawl_store *store, void *context, pawl_error *error)
{
    numbering      *numbers = context;
    pawl_event_row  last    = {.position = 0};
    pawl_event_rows found   = {.count = 0};
    pawl_arena     *arena   = pawl_arena_create(0);
    pawl_code code = pawl__mongo_read(store, &events, arena, &found.items, &found.count, error,
                                      "filter: {unnumbered: {$gt: 0}}, sort: {unnumbered: 1}, "
                                      "projection: {_id: 1}, limit?: %i",
                                      (int64_t)numbers->count_max);
    if (code == PAWL_OK && found.count != 0)
        code = pawl__mongo_read_one(store, &events, NULL, &last, NULL, error,
                                    "filter: {position: {$gt: 0}}, sort: {position: -1}, "
                                    "projection: {position: 1}");
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(store, "events", PAWL_TEXT(""));
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
        pawl__mongo_add(&bulk, PAWL__MONGO_UPDATE,
                        "q: {_id: %i}, u: {$set: {position: %i}, $unset: {unnumbered: 1}}",
                        found.items[i].seq, ++last.position);
    pawl_code wrote = pawl__mongo_bulk_run(&bulk, error);
    numbers->count  = (int64_t)found.count;
    pawl_arena_destroy(arena);
    return code != PAWL_OK ? code : wrote;
}

pawl_code pawl__mongo_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                   pawl_error *error)
{
    numbering numbers = {.count_max = count_max};
    pawl_code code    = pawl__mongo_transact(store, number_events, &numbers, error);
    *count            = code == PAWL_OK ? numbers.count : 0;
    return code;
}

pawl_code pawl__mongo_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                     pawl_error *error)
{
    checkpoint_row row = {.position = 0};
    pawl_code      code =
        pawl__mongo_read_one(store, &checkpoints, NULL, &row, NULL, error,
                             "filter: {_id: %t}, projection: {_id: 0, position: 1}", name);
    *position = row.position;
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

static bool has_version(const pawl__mongo_run *run, pawl_text stream, int64_t version)
{
    const void           *at   = run->rows;
    const pawl_event_row *rows = at;
    for (size_t i = 0; i < run->row_count; i++)
        if (rows[i].version == version && pawl_text_equal(rows[i].stream, stream))
            return true;
    return false;
}

/* Only the first event of a stream is checked; its later events follow in the same commit. */
static bool is_first(const void *change)
{
    return ((const pawl_event_append *)change)->is_first;
}

static bool is_behind_refused(const pawl__mongo_run *run, const pawl_event_append *append)
{
    size_t i = 0;
    while (run->items[i] != append)
        i++;
    return i > 0 && run->is_settled[i - 1];
}

static bool needs_one_before(const void *change)
{
    return is_first(change) && ((const pawl_event_append *)change)->version > 1;
}

static pawl__why_fn *judge_append(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_event_append *append = change;
    (void)row;
    if (!append->is_first)
        return is_behind_refused(run, append) ? pawl__mongo_known : NULL;
    if (has_version(run, append->stream, append->version))
        return pawl__why_version_taken;
    return needs_one_before(append) && !has_version(run, append->stream, append->version - 1)
               ? pawl__why_version_missing
               : NULL;
}

const pawl__mongo_rule pawl__mongo_event_append_rule = {
    .collection    = "events",
    .table         = &events,
    .reads         = "filter: {$or: @@{stream: @stream, version: {$in: [@version, @before]}}}, "
                     "projection: {stream: 1, version: 1}",
    .is_read       = is_first,
    .judge         = judge_append,
    .is_read_first = needs_one_before,
    .writes        = {"insert _id: @number, unnumbered: @same, @*"}};

/* Never replaces a snapshot by one of the same or an older version. */
const pawl__mongo_rule pawl__mongo_stream_snapshot_set_rule = {
    .collection = "folds",
    .keys       = "stream",
    .table      = &folds,
    .reads    = "filter: {$or: @@{_id: @stream, version: {$gte: @version}}}, projection: {_id: 1}",
    .match    = "stream=_id",
    .if_there = pawl__mongo_known,
    .writes = {"upsert q: {_id: @stream, version: {$lt: @version}}, u: {$set: {version: @version, "
               "type_version: @type_version, state: @state, dispatches: @dispatches, at: @at}}"}};

/* A missing checkpoint counts as position 0. */
static pawl__why_fn *judge_move(const pawl__mongo_run *run, const void *change, const void *row)
{
    (void)run;
    return row == NULL && ((const pawl_checkpoint_set *)change)->from != 0 ? pawl__why_not_moved
                                                                           : NULL;
}

#define MOVED "q: {_id: @name, position: @from}, u: {$set: {position: @to, at: @at}}"
const pawl__mongo_rule pawl__mongo_checkpoint_set_rule = {
    .collection = "checkpoints",
    .keys       = "name",
    .table      = &checkpoints,
    .reads      = "filter: {_id: {$in: @@name}}",
    .match      = "name=_id",
    .same       = "from=position",
    .if_other   = pawl__why_not_moved,
    .judge      = judge_move,
    .writes     = {"when from: update " MOVED, "upsert " MOVED}};
