/* action.c - records the actions of operators as events; see action.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

/* ---- Objects of texts ----------------------------------------------------- */

static void *json_take(void *context, size_t size)
{
    (void)context;
    return pawl_resize(NULL, size);
}

static void *json_resize(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return pawl_resize(memory, size);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    pawl_free(memory);
}

static const yyjson_alc json_memory = {json_take, json_resize, json_free, NULL};

yyjson_mut_doc *pawl__texts_begin(void)
{
    yyjson_mut_doc *doc  = yyjson_mut_doc_new(&json_memory);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    if (root != NULL)
        yyjson_mut_doc_set_root(doc, root);
    else
        yyjson_mut_doc_free(doc);
    return root != NULL ? doc : NULL;
}

bool pawl__texts_put(yyjson_mut_doc *doc, const char *key, pawl_text text)
{
    return yyjson_mut_obj_add_strncpy(doc, yyjson_mut_doc_get_root(doc), key,
                                      text.data != NULL ? text.data : "", text.size);
}

bool pawl__texts_put_number(yyjson_mut_doc *doc, const char *key, int64_t number)
{
    return yyjson_mut_obj_add_sint(doc, yyjson_mut_doc_get_root(doc), key, number);
}

pawl_text pawl__texts_write(yyjson_mut_doc *doc, pawl_arena *arena)
{
    pawl_text written = {0};
    size_t    size    = 0;
    char     *text =
        yyjson_mut_write_opts(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &json_memory, &size, NULL);
    if (text != NULL)
        written = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    pawl_free(text);
    return written;
}

yyjson_mut_doc *pawl__texts_kept(yyjson_mut_doc *doc, bool is_ok)
{
    if (is_ok)
        return doc;
    yyjson_mut_doc_free(doc);
    return NULL;
}

pawl_text pawl__texts_done(yyjson_mut_doc *doc, bool is_ok, pawl_arena *arena)
{
    pawl_text written = is_ok ? pawl__texts_write(doc, arena) : (pawl_text){0};
    yyjson_mut_doc_free(doc);
    return written;
}

yyjson_doc *pawl__texts_read(pawl_text text)
{
    return yyjson_read_opts((char *)(uintptr_t)text.data, text.size, YYJSON_READ_NOFLAG,
                            &json_memory, NULL);
}

pawl_code pawl__texts_check(const char *field, pawl_text json, pawl_error *error)
{
    yyjson_read_err wrong;
    size_t          at = 0;
    if (json.size == 0)
        return PAWL_OK;
    yyjson_doc *doc       = yyjson_read_opts((char *)(uintptr_t)json.data, json.size,
                                             YYJSON_READ_BIGNUM_AS_RAW, &json_memory, &wrong);
    bool        is_object = yyjson_is_obj(yyjson_doc_get_root(doc));
    bool        is_json   = doc != NULL;
    yyjson_doc_free(doc);
    if (!is_json && wrong.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to check %s", field);
    if (!is_json)
        return pawl_error_set(error, PAWL_EINVAL, "%s: invalid JSON at byte %zu of %zu: %s", field,
                              wrong.pos, json.size, wrong.msg);
    if (!is_object)
        return pawl_error_set(error, PAWL_EINVAL, "%s: it is not a JSON object", field);
    if (pawl__text_has_nul_escape(json, &at))
        return pawl_error_set(error, PAWL_EINVAL, "%s: byte %zu is NUL, as \\u0000", field, at);
    return PAWL_OK;
}

pawl_text pawl__texts_text(yyjson_val *object, const char *key, pawl_arena *arena)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    const char *text  = yyjson_get_str(value);
    return text == NULL
               ? (pawl_text){0}
               : pawl_arena_text(arena, (pawl_text){.data = text, .size = yyjson_get_len(value)});
}

pawl_text pawl__texts_without(yyjson_doc *doc, const char *const *keys, pawl_arena *arena)
{
    yyjson_mut_doc *made = yyjson_doc_mut_copy(doc, &json_memory);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(made);
    for (; root != NULL && *keys != NULL; keys++)
        yyjson_mut_obj_remove_key(root, *keys);
    if (root == NULL || yyjson_mut_obj_size(root) > 0)
        return pawl__texts_done(made, root != NULL, arena);
    yyjson_mut_doc_free(made);
    return PAWL_TEXT("");
}

/* ---- Events --------------------------------------------------------------- */

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
        return pawl_error_set(error, PAWL_EINVAL, "%s %.*s: the name of the operator is empty",
                              action->noun, PAWL_TEXT_ARGS(action->name));
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
    bool             is_ok  = headers != NULL && pawl__texts_put(headers, "by", action->by) &&
                 pawl__texts_put(headers, "reason", action->reason);
    pawl_text text = pawl__texts_done(headers, is_ok, arena);
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
    const pawl_event_query all = {.count_max = 0};
    return pawl__action_query(store, streams, name, all, arena, rows, error);
}

pawl_code pawl__action_query(pawl_store *store, const char *streams, pawl_text name,
                             pawl_event_query query, pawl_arena *arena, pawl_event_rows *rows,
                             pawl_error *error)
{
    query.stream = pawl__action_stream(streams, name, arena);
    *rows        = (pawl_event_rows){.count = 0};
    if (query.stream.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the name of a stream");
    return pawl_store_event_list(store, &query, arena, rows, error);
}

/* ---- Acting --------------------------------------------------------------- */

pawl_code pawl__act_begin(pawl__act *act, pawl_store *store, const pawl__action *action,
                          pawl_time now, pawl_error *error)
{
    *act = (pawl__act){
        .store = store, .action = *action, .now = now, .changes = {PAWL__ONE_UNIT(now)}};
    pawl_code code = pawl__action_check(action, error);
    if (code != PAWL_OK)
        return code;
    act->arena = pawl_arena_create(0);
    return act->arena != NULL ? PAWL_OK : no_memory(action, error);
}

pawl_code pawl__act_commit(pawl__act *act, yyjson_mut_doc *headers, pawl_error *error)
{
    const pawl__action *action = &act->action;
    pawl_code           code =
        pawl__action_event(act->store, action, headers, act->now, act->arena, &act->event, error);
    if (code != PAWL_OK)
        return code;
    act->event.event.body           = act->body;
    act->changes.event_append.items = &act->event;
    act->changes.event_append.count = 1;
    code                            = pawl_store_commit(act->store, &act->changes, NULL, error);
    return code == PAWL_OK ? code
                           : pawl_error_wrap(error, code, "%s %.*s", action->noun,
                                             PAWL_TEXT_ARGS(action->name));
}

pawl_text pawl__queue_reader(const pawl_subscriptions *list, pawl_text queue)
{
    for (size_t i = 0; i < list->count; i++) {
        pawl_text reader = pawl__text_behind(list->items[i].type, PAWL_QUEUE_READER);
        if (reader.size > 0 && pawl_text_equal(list->items[i].queue, queue))
            return reader;
    }
    return queue;
}
