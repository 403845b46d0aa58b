/* stream.c - the event store: events by stream, snapshots, checkpoints.
 *
 * Commits are serial, so an event's number is also its global position;
 * event_number has nothing to do. Events are never deleted: numbers have no gaps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"
#include "store/memory/memory.h"

#include "pawl/store_dead.h"

typedef struct event_row {
    MEMORY_ROW(2)
    pawl_event_row fields;
} event_row;

enum { BY_STREAM, BY_SEQ };

MEMORY_ORDER(event_by_stream, event_row, MEMORY_TEXT(fields.stream), MEMORY_NUMBER(fields.version))
MEMORY_ORDER(event_by_seq, event_row, MEMORY_NUMBER(fields.seq), MEMORY_NOTHING)

const memory_table_kind pawl__memory_event_kind = {
    MEMORY_SIZES(event_row, fields),
    .fields  = &pawl__event_row_fields,
    .indexes = {[BY_STREAM] = MEMORY_INDEX(event_by_stream, NULL),
                [BY_SEQ]    = MEMORY_INDEX(event_by_seq, NULL)},
};

typedef struct stream_snapshot_row {
    MEMORY_ROW(1)
    pawl_stream_snapshot_row fields;
    pawl_text                stream;
} stream_snapshot_row;

MEMORY_ORDER(stream_snapshot_by_name_of_stream, stream_snapshot_row, MEMORY_TEXT(stream),
             MEMORY_NOTHING)

const memory_table_kind pawl__memory_fold_kind = {
    MEMORY_SIZES(stream_snapshot_row, fields),
    .texts   = {offsetof(stream_snapshot_row, stream), offsetof(stream_snapshot_row, fields.state),
                offsetof(stream_snapshot_row, fields.dispatches)},
    .indexes = {MEMORY_INDEX(stream_snapshot_by_name_of_stream, NULL)},
};

typedef struct checkpoint_row {
    MEMORY_ROW(1)
    pawl_text name;
    int64_t   position;
} checkpoint_row;

MEMORY_ORDER(checkpoint_by_name, checkpoint_row, MEMORY_TEXT(name), MEMORY_NOTHING)

const memory_table_kind pawl__memory_checkpoint_kind = {
    MEMORY_SIZES(checkpoint_row, position),
    .texts   = {offsetof(checkpoint_row, name)},
    .indexes = {MEMORY_INDEX(checkpoint_by_name, NULL)},
};

static const event_row *find_event(const memory_data *data, pawl_text stream, int64_t version)
{
    const event_row probe = {.fields = {.stream = stream, .version = version}};
    return pawl__tree_find(&data->events.trees[BY_STREAM], &probe);
}

static stream_snapshot_row *find_fold(const memory_data *data, pawl_text stream)
{
    const stream_snapshot_row probe = {.stream = stream};
    return pawl__tree_find(&data->folds.trees[0], &probe);
}

static checkpoint_row *find_checkpoint(const memory_data *data, pawl_text name)
{
    const checkpoint_row probe = {.name = name};
    return pawl__tree_find(&data->checkpoints.trees[0], &probe);
}

MEMORY_BEHIND(pawl__memory_fold_behind, stream_snapshot_row, folds.trees[0],
              .stream = after->belongs_to, .belongs_to = it->stream,
              .version = it->fields.type_version, .message.body = it->fields.state)

MEMORY_BEHIND(pawl__memory_checkpoint_behind, checkpoint_row, checkpoints.trees[0],
              .name = after->belongs_to, .belongs_to = it->name, .number = it->position)

/* ---- Reads -------------------------------------------------------------- */

static bool is_wanted(const pawl_event_query *query, const pawl_event *event)
{
    return pawl__memory_is_like(query->type, event->type) &&
           pawl__memory_is_like(query->message_id, event->message_id) &&
           pawl__memory_is_like(query->correlation_id, event->correlation_id);
}

/* The event next to `position`: a version if the query names a stream, else a
 * number. */
static event_row *step(const memory_data *data, const pawl_event_query *query, int64_t position)
{
    bool               is_of_stream = query->stream.size != 0;
    const memory_tree *tree         = &data->events.trees[is_of_stream ? BY_STREAM : BY_SEQ];
    event_row  probe = {.fields = {.stream = query->stream, .version = position, .seq = position}};
    event_row *row =
        query->is_backward ? pawl__tree_below(tree, &probe) : pawl__tree_above(tree, &probe);
    return row != NULL && pawl__memory_is_like(query->stream, row->fields.stream) ? row : NULL;
}

void pawl__memory_find_events(const memory_data *data, const pawl_find *asked, memory_list *list)
{
    const pawl_event_query *query    = &asked->events;
    int64_t                 position = asked->after.number;
    event_row              *row;
    while ((row = step(data, query, position)) != NULL) {
        position = query->stream.size != 0 ? row->fields.version : row->fields.seq;
        if (is_wanted(query, &row->fields.event) && !pawl__memory_list_take(list, row))
            return;
    }
}

static int64_t last_version(const memory_data *data, pawl_text stream)
{
    const pawl_event_query query = {.stream = stream, .is_backward = true};
    const event_row       *row   = step(data, &query, INT64_MAX);
    return row != NULL ? row->fields.version : 0;
}

static bool is_of_use(const stream_snapshot_row *snapshot, const pawl_stream_read *read)
{
    return snapshot != NULL && snapshot->fields.type_version <= read->snapshot_version_max &&
           snapshot->fields.version > read->after;
}

static bool load(const memory_data *data, const pawl_stream_read *read, pawl_arena *arena,
                 pawl_stream *stream)
{
    *stream = (pawl_stream){.version = last_version(data, read->stream)};
    const stream_snapshot_row *snapshot = find_fold(data, read->stream);
    if (is_of_use(snapshot, read) &&
        !pawl__row_show(&data->folds, snapshot, &data->folds.kind->shown, arena, &stream->snapshot))
        return false;
    bool            is_behind = stream->snapshot.version > read->after;
    const pawl_find asked     = {.events.stream = read->stream,
                                 .after.number  = is_behind ? stream->snapshot.version : read->after};
    memory_list     list      = {.arena = arena, .limit = SIZE_MAX};
    void           *events    = NULL;
    pawl__memory_find_events(data, &asked, &list);
    if (!pawl__memory_list_show(&list, &data->events, &data->events.kind->shown, &events))
        return false;
    stream->events = events;
    stream->count  = list.count;
    return true;
}

pawl_code pawl__memory_stream_load(pawl_store *store, const pawl_stream_read *reads, size_t count,
                                   pawl_arena *arena, pawl_stream *streams, pawl_error *error)
{
    memory_data *data  = pawl__memory_enter(store);
    bool         is_ok = true;
    for (size_t i = 0; is_ok && i < count; i++)
        is_ok = load(data, &reads[i], arena, &streams[i]);
    pawl__memory_leave(data);
    return is_ok ? PAWL_OK : pawl__memory_out_of_memory("load of streams", error);
}

pawl_code pawl__memory_event_number(pawl_store *store, size_t count_max, int64_t *count,
                                    pawl_error *error)
{
    (void)count_max; /* every event was given its position when it was inserted */
    (void)store;
    (void)count;
    (void)error;
    return PAWL_OK;
}

pawl_code pawl__memory_checkpoint_get(pawl_store *store, pawl_text name, int64_t *position,
                                      pawl_error *error)
{
    (void)error;
    memory_data          *data = pawl__memory_enter(store);
    const checkpoint_row *row  = find_checkpoint(data, name);
    if (row != NULL)
        *position = row->position;
    pawl__memory_leave(data);
    return PAWL_OK;
}

/* ---- Old bodies of dead letters ------------------------------------------ */

static bool has_old_body(const pawl_event *event, pawl_time before)
{
    return event->at < before && event->type_version == PAWL_DEAD_WITH_BODY &&
           (pawl_text_equal(event->type, PAWL_TEXT(PAWL_DEAD_EDITED)) ||
            pawl_text_equal(event->type, PAWL_TEXT(PAWL_DEAD_DISCARDED)));
}

/* Replaces the row by one without body, since all its texts are in one piece of memory. Out of memory: the
 * body stays until the next sweep. */
static event_row *clear_body(memory_data *data, event_row *row, size_t *cleared)
{
    event_row model                 = *row;
    model.fields.event.body         = PAWL_TEXT("");
    model.fields.event.type_version = PAWL_DEAD_WITHOUT_BODY;
    event_row *bare                 = pawl__table_add(&data->events, &model);
    if (bare == NULL)
        return row;
    pawl__table_drop(&data->events, row);
    *cleared += 1;
    return bare;
}

size_t pawl__memory_bodies_sweep(memory_data *data, const pawl_sweep *sweep, bool *more)
{
    const memory_tree *tree    = &data->events.trees[BY_STREAM];
    size_t             cleared = 0;
    pawl__bodies       page;
    if (!pawl__bodies_begin(sweep, &page))
        return 0;
    const event_row probe = {.fields = {.stream = page.after, .version = INT64_MAX}};
    for (event_row *row = pawl__tree_above(tree, &probe);
         row != NULL && pawl_text_compare(row->fields.stream, PAWL_TEXT(PAWL__BODIES_END)) < 0 &&
         (page.count < page.count_max || pawl_text_equal(row->fields.stream, page.last));
         row = pawl__tree_next(tree, row)) {
        page.count += page.count < page.count_max;
        if (has_old_body(&row->fields.event, page.before))
            row = clear_body(data, row, &cleared);
        page.last = row->fields.stream;
    }
    *more |= pawl__bodies_is_full(&page) && cleared > 0;
    pawl__bodies_end(sweep, &page);
    return cleared;
}

/* ---- Changes ------------------------------------------------------------ */

/* Only the first of the set's events for a stream is refused; the others follow it
 * directly, and get no refusal of their own. */
static bool was_refused_just_now(const memory_commit *commit)
{
    const pawl_refusals *refused = commit->refused;
    if (commit->refused_count == 0)
        return false;
    const pawl_refusal *last = &refused->items[refused->count - 1];
    return last->kind == pawl_change_event_append && last->group == commit->change.group;
}

static int64_t next_seq(const memory_data *data)
{
    const pawl_event_query all  = {.is_backward = true};
    const event_row       *last = step(data, &all, INT64_MAX);
    return last != NULL ? last->fields.seq + 1 : 1;
}

pawl_code pawl__memory_apply_event_append(memory_commit *commit, const void *item)
{
    const pawl_event_append *change = item;
    memory_data             *data   = commit->data;
    if (!change->is_first && was_refused_just_now(commit))
        return PAWL_OK;
    if (find_event(data, change->stream, change->version) != NULL)
        return pawl__memory_refuse_by(commit, pawl__why_version_taken, item);
    if (change->version > 1 && find_event(data, change->stream, change->version - 1) == NULL)
        return pawl__memory_refuse_by(commit, pawl__why_version_missing, item);
    int64_t         seq   = next_seq(data);
    const event_row model = {.fields = {.stream   = change->stream,
                                        .version  = change->version,
                                        .seq      = seq,
                                        .position = seq,
                                        .event    = change->event}};
    return pawl__memory_write(commit, &data->events, NULL, &model);
}

pawl_code pawl__memory_apply_stream_snapshot_set(memory_commit *commit, const void *item)
{
    const pawl_stream_snapshot_set *change = item;
    memory_data                    *data   = commit->data;
    stream_snapshot_row            *row    = find_fold(data, change->stream);
    if (row != NULL && row->fields.version >= change->version)
        return PAWL_OK;
    const stream_snapshot_row model = {.stream = change->stream,
                                       .fields = {.version      = change->version,
                                                  .type_version = change->type_version,
                                                  .state        = change->state,
                                                  .dispatches   = change->dispatches,
                                                  .at           = change->at}};
    return pawl__memory_write(commit, &data->folds, row, &model);
}

pawl_code pawl__memory_apply_checkpoint_set(memory_commit *commit, const void *item)
{
    const pawl_checkpoint_set *change = item;
    memory_data               *data   = commit->data;
    checkpoint_row            *row    = find_checkpoint(data, change->name);
    int64_t                    stored = row != NULL ? row->position : 0;
    if (stored != change->from)
        return pawl__memory_refuse(
            commit, PAWL_ECONFLICT, "checkpoint %.*s: expected global position %lld, it is %lld",
            PAWL_TEXT_ARGS(change->name), (long long)change->from, (long long)stored);
    const checkpoint_row model = {.name = change->name, .position = change->to};
    return pawl__memory_write(commit, &data->checkpoints, row, &model);
}
