/* journal.c - events by stream, stored folds, checkpoints.
 *
 *     events       {_id: number, stream, version, type, ..., at, position, unnumbered}
 *     folds        {_id: stream, version, type_version, state, dispatches, at}
 *     checkpoints  {_id: name, position, at}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"
#include "store/mongo/operations.h"

#include <stdio.h>

#define ROW(member, key, type) PAWL__MONGO_FIELD(pawl_event_row, member, key, type)
static const pawl__mongo_field event_fields[] = {
    ROW(position, "position", INT), /* no member before it is given */
    ROW(seq, "_id", INT),
    ROW(stream, "stream", TEXT),
    ROW(version, "version", INT),
    ROW(event.type, "type", TEXT),
    ROW(event.type_version, "type_version", INT32),
    ROW(event.message_id, "message_id", TEXT),
    ROW(event.correlation_id, "correlation_id", TEXT),
    ROW(event.causation_id, "causation_id", TEXT),
    ROW(event.dispatch_id, "dispatch_id", UUID),
    ROW(event.at, "at", INT),
    ROW(event.headers, "headers", TEXT),
    ROW(event.body, "body", BODY),
    PAWL__MONGO_END,
};
#define INSERTED (event_fields + 1)

typedef struct fold_row {
    pawl_text     stream;
    pawl_fold_row fold;
} fold_row;

#define FOLD(member, key, type) PAWL__MONGO_FIELD(fold_row, member, key, type)
static const pawl__mongo_field fold_fields[] = {
    FOLD(stream, "_id", TEXT),
    FOLD(fold.version, "version", INT),
    FOLD(fold.type_version, "type_version", INT32),
    FOLD(fold.state, "state", TEXT),
    FOLD(fold.dispatches, "dispatches", TEXT),
    FOLD(fold.at, "at", INT),
    PAWL__MONGO_END,
};

typedef struct checkpoint_row {
    pawl_text name;
    int64_t   position;
    pawl_time at;
} checkpoint_row;

static const pawl__mongo_field checkpoint_fields[] = {
    PAWL__MONGO_FIELD(checkpoint_row, name, "_id", TEXT),
    PAWL__MONGO_FIELD(checkpoint_row, position, "position", INT),
    PAWL__MONGO_FIELD(checkpoint_row, at, "at", INT),
    PAWL__MONGO_END,
};

/* ---- Lists --------------------------------------------------------------- */

static pawl_code read_events(pawl_store *store, const pawl__mongo_find *find, pawl_arena *arena,
                             pawl__mongo_rows *rows, pawl_error *error)
{
    return pawl__mongo_read(store, find, event_fields, sizeof(pawl_event_row), arena, rows, error);
}

static void put_like(bson_t *filter, const char *key, pawl_text text)
{
    if (text.size != 0)
        pawl__mongo_put_text(filter, key, text);
}

pawl_code pawl__mongo_event_list(pawl_store *store, const pawl_event_query *query,
                                 pawl_arena *arena, pawl_event_rows *rows, pawl_error *error)
{
    const char            *order = query->stream.size != 0 ? "version"
                                   : query->is_by_position ? "position"
                                                           : "_id";
    char                   sort[16];
    bson_t                 filter = BSON_INITIALIZER;
    pawl__mongo_rows       found  = {.count = 0};
    const pawl__mongo_find find   = {.collection = "events",
                                     .filter     = &filter,
                                     .sort       = sort,
                                     .limit      = (int64_t)query->count_max};
    (void)snprintf(sort, sizeof sort, "%s%s", query->is_backward ? "-" : "", order);
    put_like(&filter, "stream", query->stream);
    if (!query->is_backward)
        pawl__mongo_put_op(&filter, order, "$gt", query->after);
    else
        pawl__mongo_put_op(&filter, order, "$lt", query->after != 0 ? query->after : INT64_MAX);
    put_like(&filter, "type", query->type);
    put_like(&filter, "message_id", query->message_id);
    put_like(&filter, "correlation_id", query->correlation_id);
    pawl_code code = read_events(store, &find, arena, &found, error);
    *rows          = (pawl_event_rows){.items = found.items, .count = found.count};
    bson_destroy(&filter);
    return code;
}

/* ---- Streams ------------------------------------------------------------- */

/* Folds that are of use to the reads, each in the stream that asked. */
static pawl_code load_folds(pawl_store *store, const pawl_stream_read *reads, size_t count,
                            pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = "folds", .filter = &filter};
    pawl__mongo_rows       found  = {.count = 0};
    pawl__mongo_list       list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < count; i++)
        if (reads[i].fold_version_max != 0)
            pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), reads[i].stream);
    pawl__mongo_list_end(&filter, &list);
    pawl_code code = PAWL_OK;
    if (list.count != 0)
        code = pawl__mongo_read(store, &find, fold_fields, sizeof(fold_row), arena, &found, error);
    bson_destroy(&filter);
    const fold_row *folds = found.items;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        for (size_t at = 0; at < found.count; at++)
            if (pawl_text_equal(folds[at].stream, reads[i].stream) &&
                folds[at].fold.type_version <= reads[i].fold_version_max &&
                folds[at].fold.version > reads[i].after)
                streams[i].fold = folds[at].fold;
    return code;
}

static int64_t begin_of(const pawl_stream_read *read, const pawl_stream *stream)
{
    return stream->fold.version > read->after ? stream->fold.version : read->after;
}

static pawl_code load_events(pawl_store *store, const pawl_stream_read *reads, size_t count,
                             pawl_arena *arena, const pawl_stream *streams, pawl__mongo_rows *found,
                             pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER, either, one;
    const pawl__mongo_find find   = {
          .collection = "events", .filter = &filter, .sort = "stream,version"};
    char key[24];
    (void)bson_append_array_begin(&filter, "$or", -1, &either);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(key, sizeof key, "%zu", i);
        (void)bson_append_document_begin(&either, key, -1, &one);
        pawl__mongo_put_text(&one, "stream", reads[i].stream);
        pawl__mongo_put_op(&one, "version", "$gt", begin_of(&reads[i], &streams[i]));
        (void)bson_append_document_end(&either, &one);
    }
    (void)bson_append_array_end(&filter, &either);
    pawl_code code = read_events(store, &find, arena, found, error);
    bson_destroy(&filter);
    return code;
}

static pawl_code last_version(pawl_store *store, pawl_text stream, int64_t *version,
                              pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "events", .filter = &filter, .sort = "-version", .only = "version"};
    pawl_event_row row      = {.version = 0};
    bool           is_there = false;
    pawl__mongo_put_text(&filter, "stream", stream);
    pawl_code code = pawl__mongo_read_one(store, find, event_fields, NULL, &row, &is_there, error);
    *version       = row.version;
    bson_destroy(&filter);
    return code;
}

/* The events stand together by stream, in the order of versions. Two reads of one stream may begin at
 * different versions. */
static void show_events(const pawl__mongo_rows *found, const pawl_stream_read *read,
                        pawl_stream *stream)
{
    pawl_event_row *events = found->items;
    stream->events         = events;
    for (size_t i = 0; i < found->count; i++) {
        if (!pawl_text_equal(events[i].stream, read->stream) ||
            events[i].version <= begin_of(read, stream))
            continue;
        if (stream->count++ == 0)
            stream->events = &events[i];
    }
    if (stream->count != 0)
        stream->version = stream->events[stream->count - 1].version;
    else
        stream->version = stream->fold.version;
}

pawl_code pawl__mongo_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                  pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    pawl__mongo_rows found = {.count = 0};
    for (size_t i = 0; i < count; i++)
        streams[i] = (pawl_stream){.version = 0};
    if (count == 0)
        return PAWL_OK;
    pawl_code code = load_folds(store, reads, count, arena, streams, error);
    if (code == PAWL_OK)
        code = load_events(store, reads, count, arena, streams, &found, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        show_events(&found, &reads[i], &streams[i]);
        if (streams[i].version == 0 && reads[i].after > 0)
            code = last_version(store, reads[i].stream, &streams[i].version, error);
    }
    return code;
}

/* ---- Positions ----------------------------------------------------------- */

typedef struct numbering {
    size_t  count_max;
    int64_t count;
} numbering;

static pawl_code read_last_position(pawl_store *store, int64_t *last, pawl_error *error)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "events", .filter = &filter, .sort = "-position", .only = "position"};
    pawl_event_row row      = {.position = 0};
    bool           is_there = false;
    pawl__mongo_put_op(&filter, "position", "$gt", 0);
    pawl_code code = pawl__mongo_read_one(store, find, event_fields, NULL, &row, &is_there, error);
    *last          = row.position;
    bson_destroy(&filter);
    return code;
}

/* Two that number at once: positions are unique, so that one of them begins again. */
static pawl_code number_events(pawl_store *store, void *context, pawl_error *error)
{
    numbering             *numbers = context;
    bson_t                 filter  = BSON_INITIALIZER;
    const pawl__mongo_find find    = {.collection = "events",
                                      .filter     = &filter,
                                      .sort       = "unnumbered",
                                      .only       = "_id",
                                      .limit      = (int64_t)numbers->count_max};
    pawl__mongo_rows       found   = {.count = 0};
    int64_t                last    = 0;
    pawl_arena            *arena   = pawl_arena_create(0);
    pawl_code              code    = arena != NULL ? PAWL_OK : pawl__mongo_no_memory(error);
    pawl__mongo_put_op(&filter, "unnumbered", "$gt", 0);
    if (code == PAWL_OK)
        code = read_events(store, &find, arena, &found, error);
    if (code == PAWL_OK && found.count != 0)
        code = read_last_position(store, &last, error);
    pawl__mongo_bulk      bulk = pawl__mongo_bulk_begin(store, "events");
    const pawl_event_row *rows = found.items;
    for (size_t i = 0; code == PAWL_OK && i < found.count; i++) {
        bson_t one = BSON_INITIALIZER, update = BSON_INITIALIZER, inner;
        pawl__mongo_put_int(&one, "_id", rows[i].seq);
        (void)bson_append_document_begin(&update, "$set", -1, &inner);
        pawl__mongo_put_int(&inner, "position", ++last);
        (void)bson_append_document_end(&update, &inner);
        (void)bson_append_document_begin(&update, "$unset", -1, &inner);
        (void)bson_append_bool(&inner, "unnumbered", -1, true);
        (void)bson_append_document_end(&update, &inner);
        pawl__mongo_update(&bulk, &one, &update, false);
        bson_destroy(&one);
        bson_destroy(&update);
    }
    pawl_code wrote = pawl__mongo_bulk_run(&bulk, error);
    numbers->count  = (int64_t)found.count;
    pawl_arena_destroy(arena);
    bson_destroy(&filter);
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
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {
          .collection = "checkpoints", .filter = &filter, .only = "position"};
    checkpoint_row row      = {.position = 0};
    bool           is_there = false;
    pawl__mongo_put_text(&filter, "_id", name);
    pawl_code code =
        pawl__mongo_read_one(store, find, checkpoint_fields + 1, NULL, &row, &is_there, error);
    *position = row.position;
    bson_destroy(&filter);
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

/* Of the versions that the run needs or writes those that are there. */
static pawl_code look_at_versions(const pawl__mongo_run *run, pawl__mongo_rows *found)
{
    const pawl_event_append *const *items  = (const pawl_event_append *const *)run->items;
    bson_t                          filter = BSON_INITIALIZER, either, one;
    const pawl__mongo_find          find   = {
                   .collection = "events", .filter = &filter, .only = "stream,version"};
    char key[24];
    (void)bson_append_array_begin(&filter, "$or", -1, &either);
    for (size_t i = 0; i < run->count; i++) {
        bson_t inner;
        (void)snprintf(key, sizeof key, "%zu", i);
        (void)bson_append_document_begin(&either, key, -1, &one);
        pawl__mongo_put_text(&one, "stream", items[i]->stream);
        (void)bson_append_document_begin(&one, "version", -1, &inner);
        pawl__mongo_put_int(&inner, "$gte", items[i]->version - items[i]->is_first);
        pawl__mongo_put_int(&inner, "$lte", items[i]->version);
        (void)bson_append_document_end(&one, &inner);
        (void)bson_append_document_end(&either, &one);
    }
    (void)bson_append_array_end(&filter, &either);
    pawl_code code =
        read_events(run->writer->store, &find, run->writer->arena, found, run->writer->error);
    bson_destroy(&filter);
    return code;
}

static bool has_version(const pawl__mongo_rows *found, pawl_text stream, int64_t version)
{
    const pawl_event_row *rows = found->items;
    for (size_t i = 0; i < found->count; i++)
        if (rows[i].version == version && pawl_text_equal(rows[i].stream, stream))
            return true;
    return false;
}

static void add_event(pawl__mongo_bulk *bulk, const pawl_event_append *append, int64_t seq)
{
    bson_t               document = BSON_INITIALIZER;
    const pawl_event_row row      = {
             .stream = append->stream, .version = append->version, .seq = seq, .event = append->event};
    (void)pawl__mongo_encode(&document, INSERTED, &row);
    pawl__mongo_put_int(&document, "unnumbered", seq);
    pawl__mongo_insert(bulk, &document);
    bson_destroy(&document);
}

/* The first event of a stream tells for all of them, which stand behind it. */
pawl_code pawl__mongo_apply_event_append(const pawl__mongo_run *run)
{
    const pawl_event_append *const *items    = (const pawl_event_append *const *)run->items;
    pawl__mongo_rows                found    = {.count = 0};
    size_t                          expected = 0;
    pawl_code                       code     = look_at_versions(run, &found);
    pawl__mongo_bulk                bulk     = pawl__mongo_bulk_begin(run->writer->store, "events");
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const pawl_event_append *append = items[i];
        if (!append->is_first && i > 0 && run->is_out[i - 1]) {
            run->is_out[i] = true;
        } else if (has_version(&found, append->stream, append->version)) {
            code = pawl__mongo_refuse(run, i, pawl__why_version_taken);
        } else if (append->is_first && append->version > 1 &&
                   !has_version(&found, append->stream, append->version - 1)) {
            code = pawl__mongo_refuse(run, i, pawl__why_version_missing);
        } else {
            add_event(&bulk, append, run->writer->number++);
            expected++;
        }
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

/* The documents whose ids are the run's names; `names` finds the text in a change. */
static pawl_code look_at_names(const pawl__mongo_run *run, const char *collection,
                               size_t name_offset, const char *only,
                               const pawl__mongo_field *fields, size_t row_size,
                               pawl__mongo_rows *found)
{
    bson_t                 filter = BSON_INITIALIZER;
    const pawl__mongo_find find   = {.collection = collection, .filter = &filter, .only = only};
    pawl__mongo_list       list;
    pawl__mongo_list_begin(&filter, "_id", "$in", &list);
    for (size_t i = 0; i < run->count; i++) {
        const void *name = (const char *)run->items[i] + name_offset;
        pawl__mongo_put_text(&list.items, pawl__mongo_list_key(&list), *(const pawl_text *)name);
    }
    pawl__mongo_list_end(&filter, &list);
    pawl_code code = pawl__mongo_read(run->writer->store, &find, fields, row_size,
                                      run->writer->arena, found, run->writer->error);
    bson_destroy(&filter);
    return code;
}

static void put_document(pawl__mongo_bulk *bulk, const pawl__mongo_field *fields, const void *row,
                         pawl_text id, bool is_there)
{
    bson_t filter = BSON_INITIALIZER, document = BSON_INITIALIZER;
    pawl__mongo_put_text(&filter, "_id", id);
    (void)pawl__mongo_encode(&document, fields, row);
    if (is_there)
        pawl__mongo_replace(bulk, &filter, &document);
    else
        pawl__mongo_insert(bulk, &document);
    bson_destroy(&filter);
    bson_destroy(&document);
}

void pawl__mongo_keys_fold_set(const void *change, uint32_t keys[3])
{
    const pawl_fold_set *set = change;
    keys[0]                  = pawl__mongo_hash(1, set->stream.data, set->stream.size);
}

/* A stored fold of the same or a later version stays. */
pawl_code pawl__mongo_apply_fold_set(const pawl__mongo_run *run)
{
    const pawl_fold_set *const *items    = (const pawl_fold_set *const *)run->items;
    pawl__mongo_rows            found    = {.count = 0};
    size_t                      expected = 0;
    pawl_code code = look_at_names(run, "folds", offsetof(pawl_fold_set, stream), "_id,version",
                                   fold_fields, sizeof(fold_row), &found);
    pawl__mongo_bulk bulk = pawl__mongo_bulk_begin(run->writer->store, "folds");
    const fold_row  *rows = found.items;
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const fold_row *known = NULL;
        const fold_row  row   = {.stream = items[i]->stream,
                                 .fold   = {.version      = items[i]->version,
                                            .type_version = items[i]->type_version,
                                            .state        = items[i]->state,
                                            .dispatches   = items[i]->dispatches,
                                            .at           = items[i]->at}};
        for (size_t at = 0; at < found.count; at++)
            if (pawl_text_equal(rows[at].stream, items[i]->stream))
                known = &rows[at];
        if (known != NULL && known->fold.version >= items[i]->version)
            continue;
        put_document(&bulk, fold_fields, &row, row.stream, known != NULL);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}

void pawl__mongo_keys_checkpoint_set(const void *change, uint32_t keys[3])
{
    const pawl_checkpoint_set *set = change;
    keys[0]                        = pawl__mongo_hash(1, set->name.data, set->name.size);
}

pawl_code pawl__mongo_apply_checkpoint_set(const pawl__mongo_run *run)
{
    const pawl_checkpoint_set *const *items    = (const pawl_checkpoint_set *const *)run->items;
    pawl__mongo_rows                  found    = {.count = 0};
    size_t                            expected = 0;
    pawl_code code = look_at_names(run, "checkpoints", offsetof(pawl_checkpoint_set, name), NULL,
                                   checkpoint_fields, sizeof(checkpoint_row), &found);
    pawl__mongo_bulk      bulk = pawl__mongo_bulk_begin(run->writer->store, "checkpoints");
    const checkpoint_row *rows = found.items;
    for (size_t i = 0; code == PAWL_OK && i < run->count; i++) {
        const checkpoint_row  row   = {items[i]->name, items[i]->to, items[i]->at};
        const checkpoint_row *known = NULL;
        for (size_t at = 0; at < found.count; at++)
            if (pawl_text_equal(rows[at].name, items[i]->name))
                known = &rows[at];
        if ((known != NULL ? known->position : 0) != items[i]->from) {
            code = pawl__mongo_refuse(run, i, pawl__why_not_moved);
            continue;
        }
        put_document(&bulk, checkpoint_fields, &row, row.name, known != NULL);
        expected++;
    }
    pawl_code wrote = pawl__mongo_write(run, &bulk, expected);
    return code != PAWL_OK ? code : wrote;
}
