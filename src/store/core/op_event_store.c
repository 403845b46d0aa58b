/* op_event_store.c - single calls on the event store: append and read events, snapshots, checkpoints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/call.h"

/* ---- Append ------------------------------------------------------------- */

static pawl_code check_outbox(const pawl_store *store, const pawl_append *append, pawl_error *error)
{
    if (append->dispatch_count == 0)
        return PAWL_OK;
    if (append->outbox.size == 0)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "append to stream '%.*s': %zu dispatches and no outbox to put them in",
            PAWL_TEXT_ARGS(append->stream), append->dispatch_count);
    if (store->ops->outbox_claim == NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "append to stream '%.*s': %zu dispatches, but driver '%s' has no "
                              "outbox",
                              PAWL_TEXT_ARGS(append->stream), append->dispatch_count,
                              store->ops->scheme);
    return PAWL_OK;
}

static pawl_code check_append(const pawl_store *store, const pawl_append *append, pawl_error *error)
{
    size_t count =
        append->event_count > append->dispatch_count ? append->event_count : append->dispatch_count;
    if (count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "append to stream '%.*s': %zu events and %zu dispatches, limit %d "
                              "of each",
                              PAWL_TEXT_ARGS(append->stream), append->event_count,
                              append->dispatch_count, PAWL_BATCH_MESSAGES_MAX);
    if (append->event_count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "append to stream '%.*s': no event and %zu dispatches",
                              PAWL_TEXT_ARGS(append->stream), append->dispatch_count);
    if (append->version < 0 || append->version > INT64_MAX - PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "append to stream '%.*s': version %lld, the first append has 0",
                              PAWL_TEXT_ARGS(append->stream), (long long)append->version);
    return check_outbox(store, append, error);
}

static bool add_events(const pawl_append *append, pawl_arena *arena, pawl_changes *changes)
{
    size_t             count = append->event_count;
    pawl_event_append *items = pawl_arena_take(arena, count * sizeof *items);
    if (items == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (pawl_event_append){.stream   = append->stream,
                                       .version  = append->version + 1 + (int64_t)i,
                                       .is_first = i == 0,
                                       .event    = append->events[i]};
    changes->event_append.items = items;
    changes->event_append.count = count;
    return true;
}

/* Uses the dispatch id as message id, by which the receiver drops duplicates. */
static bool name_message(pawl_outbox_add *add, pawl_arena *arena)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    if (add->message.id.size != 0)
        return true;
    pawl_uuid_format(add->dispatch_id.uuid, text);
    add->message.id =
        pawl_arena_text(arena, (pawl_text){.data = text, .size = PAWL_UUID_TEXT_SIZE});
    return add->message.id.data != NULL;
}

static bool add_dispatches(const pawl_append *append, pawl_time now, pawl_arena *arena,
                           pawl_changes *changes)
{
    int64_t          last  = append->version + (int64_t)append->event_count;
    size_t           count = append->dispatch_count;
    pawl_outbox_add *items = pawl_arena_take(arena, count * sizeof *items);
    for (size_t i = 0; items != NULL && i < count; i++) {
        const pawl_outbox_row *row = &append->dispatches[i];
        items[i]                   = (pawl_outbox_add){.dispatch_id = row->dispatch_id,
                                                       .source      = append->stream,
                                                       .version     = last,
                                                       .index       = (int32_t)i,
                                                       .endpoint    = append->outbox,
                                                       .destination = row->destination,
                                                       .message     = row->message,
                                                       .due         = row->due,
                                                       .at          = now};
        if (pawl_uuid_is_zero(items[i].dispatch_id.uuid))
            items[i].dispatch_id =
                pawl_dispatch_id_make(append->outbox, append->stream, last, (int32_t)i);
        if (!name_message(&items[i], arena))
            return false;
    }
    changes->outbox_add.items = items;
    changes->outbox_add.count = count;
    return items != NULL;
}

pawl_code pawl_store_append(pawl_store *store, const pawl_append *append, pawl_time now,
                            pawl_error *error)
{
    pawl_changes changes = {PAWL__ONE_UNIT(now)};
    pawl_code    code    = check_append(store, append, error);
    if (code != PAWL_OK)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL || !add_events(append, arena, &changes) ||
        (append->dispatch_count != 0 && !add_dispatches(append, now, arena, &changes)))
        code = pawl_error_set(error, PAWL_ENOMEM, "append to stream '%.*s': out of memory",
                              PAWL_TEXT_ARGS(append->stream));
    else
        code = pawl_store_commit(store, &changes, NULL, error);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- Reads -------------------------------------------------------------- */

pawl_code pawl_store_stream_read(pawl_store *store, const pawl_stream_read *read, pawl_arena *arena,
                                 pawl_stream *stream, pawl_error *error)
{
    return pawl_store_stream_load(store, read, 1, arena, stream, error);
}

pawl_code pawl_store_events(pawl_store *store, const pawl_event_query *query, pawl_arena *arena,
                            pawl_event_rows *rows, pawl_error *error)
{
    return pawl_store_event_list(store, query, arena, rows, error);
}

/* ---- Folds and checkpoints ---------------------------------------------- */

pawl_code pawl_store_stream_snapshot_save(pawl_store *store, pawl_text stream,
                                          const pawl_stream_snapshot_row *snapshot, pawl_time now,
                                          pawl_error *error)
{
    pawl_stream_snapshot_set change = {
        .stream       = stream,
        .version      = snapshot->version,
        .type_version = snapshot->type_version,
        .state        = snapshot->state,
        .dispatches   = snapshot->dispatches,
        .at           = now,
    };
    return PAWL__COMMIT_ONE(stream_snapshot_set, &change);
}

pawl_code pawl_store_checkpoint_set(pawl_store *store, pawl_text name, int64_t from, int64_t to,
                                    pawl_time now, pawl_error *error)
{
    pawl_checkpoint_set change = {.name = name, .from = from, .to = to, .at = now};
    return PAWL__COMMIT_ONE(checkpoint_set, &change);
}
