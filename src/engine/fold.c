/* fold.c - one stream, without a batch: its name, its id, the state made from its events, and reading
 * that state for operators and tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/stream.h"

#include "base/arena.h"
#include "pawl/process.h"

/* The name space of the ids by which timeouts belong to a stream; itself a UUIDv5
 * of "pawl.stream" in the RFC's name space for URLs. Never changes. */
static const pawl_uuid name_space = {{0x97, 0x78, 0x3c, 0xe8, 0x75, 0xf3, 0x53, 0x0c, 0x9a, 0x96,
                                      0xeb, 0xc2, 0x7e, 0x98, 0x21, 0x0e}};

/* The endpoint is part of the id: two endpoints with a process of one name must not set each
 * other's timeouts. */
pawl_saga_id pawl__stream_id(pawl_text endpoint, pawl_text stream)
{
    pawl_uuid own = pawl_uuid_v5(name_space, endpoint.data, endpoint.size);
    return (pawl_saga_id){pawl_uuid_v5(own, stream.data, stream.size)};
}

pawl_code pawl__stream_check(const pawl__saga_model *model, pawl_text key, pawl_error *error)
{
    size_t size = model->table.type.size + 1 + key.size;
    if (key.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s: the key is empty", model->saga->name);
    if (size > PAWL_STREAM_SIZE_MAX)
        return pawl_error_set(
            error, PAWL_ELIMIT,
            "%s: the key '%.40s...' makes a stream's name of %zu bytes, the limit "
            "is %d",
            model->saga->name, key.data, size, PAWL_STREAM_SIZE_MAX);
    return PAWL_OK;
}

/* Puts the event's type before a failure. */
static pawl_code name_type(const pawl_event *event, pawl_code code, pawl_error *error)
{
    return code == PAWL_OK || code == PAWL_ENOMEM
               ? code
               : pawl_error_wrap(error, code, "event type %.*s", PAWL_TEXT_ARGS(event->type));
}

pawl_code pawl__event_decode(const pawl_record *record, const pawl_event *event, pawl_arena *arena,
                             void **decoded, pawl_error *error)
{
    pawl_text body = event->body;
    *decoded       = pawl_arena_take(arena, record->size);
    pawl_code code = *decoded != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (code == PAWL_OK && event->type_version != pawl_record_version(record))
        code = pawl_record_upcast(record, event->type_version, body, arena, &body, error);
    if (code == PAWL_OK)
        code = pawl_record_decode(record, body, 0, arena, *decoded, error);
    return name_type(event, code, error);
}

static pawl_code call_apply(const pawl__apply_model *apply, void *state, const void *event,
                            pawl_arena *arena, pawl_error *error)
{
    pawl_code code = apply->call(state, event, arena);
    if (code == PAWL_OK || (code == PAWL_ENOMEM && pawl__arena_is_short(arena)))
        return code;
    /* The function returned PAWL_ENOMEM, but the arena was not out of memory: a failure with retries,
     * not a shortage of the engine. */
    return pawl_error_set(error, code == PAWL_ENOMEM ? PAWL_ECONFIG : PAWL_EDECODE,
                          "its function in .apply says: %s", pawl_code_text(code));
}

pawl_code pawl__stream_apply(const pawl__stream_model *stream, const pawl_event *event, void *state,
                             pawl_arena *arena, pawl_error *error)
{
    const pawl__apply_model *found = pawl__model_apply(stream, event->type);
    if (found == NULL && (pawl_text_equal(event->type, PAWL_TEXT(PAWL__EVENT_HANDLED)) ||
                          pawl_text_equal(event->type, PAWL_TEXT(PAWL__EVENT_COMPLETED))))
        return PAWL_OK;
    if (found == NULL)
        return pawl_error_set(error, PAWL_EDECODE, "event type '%.*s' has no function in .apply",
                              PAWL_TEXT_ARGS(event->type));
    void     *decoded;
    pawl_code code = pawl__event_decode(found->event, event, arena, &decoded, error);
    return code == PAWL_OK
               ? name_type(event, call_apply(found, state, decoded, arena, error), error)
               : code;
}

static pawl_code fold_all(const pawl__saga_model *model, const pawl_stream *loaded, pawl_text name,
                          pawl_arena *arena, void *state, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < loaded->count && code == PAWL_OK; i++) {
        code = pawl__stream_apply(model->stream, &loaded->events[i].event, state, arena, error);
        if (code != PAWL_OK && code != PAWL_ENOMEM)
            pawl_error_wrap(error, code, "%s: version %lld", name.data,
                            (long long)loaded->events[i].version);
    }
    return code == PAWL_ENOMEM
               ? pawl_error_set(error, code, "no memory for the state of %s", name.data)
               : code;
}

/* Reads events only, no stored fold: the state shown is the one that the events make. */
pawl_code pawl__stream_look(pawl_store *store, const pawl__saga_model *model, pawl_text key,
                            pawl_arena *arena, pawl__stream_seen *seen, pawl_error *error)
{
    *seen          = (pawl__stream_seen){.version = 0};
    pawl_code code = pawl__stream_check(model, key, error);
    if (code != PAWL_OK)
        return code;
    pawl_stream loaded;
    seen->name  = pawl_arena_printf(arena, "%s/%.*s", model->saga->name, PAWL_TEXT_ARGS(key));
    seen->state = pawl_arena_take(arena, model->state->size);
    if (seen->name.data == NULL || seen->state == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a state of %s", model->saga->name);
    const pawl_stream_read read = {.stream = seen->name};
    code                        = pawl_store_stream_load(store, &read, 1, arena, &loaded, error);
    if (code == PAWL_OK)
        code = fold_all(model, &loaded, seen->name, arena, seen->state, error);
    if (code == PAWL_OK)
        seen->version = loaded.version;
    return code;
}
