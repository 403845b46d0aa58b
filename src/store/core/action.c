/* action.c - events that the actions of operators leave.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

static pawl_code no_memory(const pawl__action *action, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s %.*s: out of memory", action->noun,
                          PAWL_TEXT_ARGS(action->name));
}

pawl_text pawl__action_stream(const char *streams, pawl_text name, pawl_arena *arena)
{
    static const pawl_uuid none;
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_text stream = pawl_arena_printf(arena, "%s/%.*s", streams, PAWL_TEXT_ARGS(name));
    if (stream.data == NULL || stream.size <= PAWL_STREAM_SIZE_MAX)
        return stream;
    pawl_uuid_format(pawl_uuid_v5(none, stream.data, stream.size), id);
    return pawl_arena_printf(arena, "%s/%s", streams, id);
}

pawl_code pawl__action_check(const pawl__action *action, pawl_error *error)
{
    size_t size = action->by.size + action->reason.size;
    if (action->name.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s: the name is empty", action->noun);
    if (action->by.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s %.*s: say who does it", action->noun,
                              PAWL_TEXT_ARGS(action->name));
    if (size > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(
            error, PAWL_ELIMIT, "%s %.*s: the reason and by whom have %zu bytes together, limit %d",
            action->noun, PAWL_TEXT_ARGS(action->name), size, PAWL_ERROR_TEXT_SIZE_MAX);
    return PAWL_OK;
}

pawl_code pawl__action_event(pawl_store *store, const pawl__action *action, yyjson_mut_doc *headers,
                             pawl_time now, pawl_arena *arena, pawl_event_append *event,
                             pawl_error *error)
{
    pawl_stream_read read   = {.stream = pawl__action_stream(action->streams, action->name, arena),
                               .after  = INT64_MAX};
    pawl_stream      stream = {.version = 0};
    pawl_text        text   = {0};
    if (headers != NULL && pawl__object_put(headers, "by", action->by) &&
        pawl__object_put(headers, "reason", action->reason))
        text = pawl__object_write(headers, arena);
    yyjson_mut_doc_free(headers);
    if (text.data == NULL || read.stream.data == NULL)
        return no_memory(action, error);
    pawl_code code = pawl_store_stream_load(store, &read, 1, arena, &stream, error);
    *event         = (pawl_event_append){
                .stream   = read.stream,
                .version  = stream.version + 1,
                .is_first = true,
                .event    = {
                       .type = pawl_text_of(action->type), .type_version = 1, .headers = text, .at = now}};
    return code;
}

pawl_code pawl__action_list(pawl_store *store, const char *streams, pawl_text name,
                            pawl_arena *arena, pawl_event_rows *rows, pawl_error *error)
{
    const pawl_event_query query = {.stream = pawl__action_stream(streams, name, arena)};
    *rows                        = (pawl_event_rows){.count = 0};
    if (query.stream.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the name of a stream");
    return pawl_store_event_list(store, &query, arena, rows, error);
}
