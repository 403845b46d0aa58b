/* json.c - parses JSON with yyjson, in memory of an arena.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "record_internal.h"

/* The parser requests six times the size of its text, and with few values uses only a small part: it is not zeroed. */
static void *take(void *context, size_t size)
{
    return pawl__arena_take_unset(context, size);
}

static void *retake(void *context, void *memory, size_t old_size, size_t size)
{
    if (size <= old_size)
        return memory;
    void *larger = take(context, size);
    if (larger != NULL)
        memcpy(larger, memory, old_size);
    return larger;
}

static void leave(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

yyjson_alc pawl__json_allocator(pawl_arena *arena)
{
    return (yyjson_alc){take, retake, leave, arena};
}

static pawl_code read_with(yyjson_read_flag flags, pawl_text json, pawl_arena *arena,
                           yyjson_doc **doc, pawl_error *error)
{
    if (json.size == 0)
        return pawl_error_set(error, PAWL_EDECODE, "expected JSON, got no text");
    yyjson_alc      allocator = pawl__json_allocator(arena);
    yyjson_read_err wrong;
    /* Without YYJSON_READ_INSITU the parser copies the text, and does not write to `json`. */
    *doc = yyjson_read_opts((char *)(uintptr_t)json.data, json.size, flags, &allocator, &wrong);
    if (*doc != NULL)
        return PAWL_OK;
    if (wrong.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to read %zu bytes of JSON", json.size);
    return pawl_error_set(error, PAWL_EDECODE, "invalid JSON at byte %zu of %zu: %s", wrong.pos,
                          json.size, wrong.msg);
}

pawl_code pawl__json_read(pawl_text json, pawl_arena *arena, yyjson_doc **doc, pawl_error *error)
{
    return read_with(YYJSON_READ_BIGNUM_AS_RAW, json, arena, doc, error);
}

pawl_code pawl__json_read_exact(pawl_text json, pawl_arena *arena, yyjson_doc **doc,
                                pawl_error *error)
{
    return read_with(YYJSON_READ_NUMBER_AS_RAW, json, arena, doc, error);
}

pawl_code pawl__json_try(pawl_text json, pawl_arena *arena, pawl_error *error)
{
    yyjson_doc      *doc    = NULL;
    pawl_arena_point before = pawl_arena_position(arena);
    pawl_code        code   = pawl__json_read(json, arena, &doc, error);
    pawl_arena_rewind(arena, before);
    return code == PAWL_EDECODE ? PAWL_EINVAL : code;
}

bool pawl__json_has_nul(yyjson_val *value)
{
    /* All values inside `value` follow it in memory without gaps. */
    for (yyjson_val *end = unsafe_yyjson_get_next(value); value < end; value++)
        if (yyjson_is_str(value) &&
            memchr(yyjson_get_str(value), '\0', yyjson_get_len(value)) != NULL)
            return true;
    return false;
}
