/* headers.c - message headers: a JSON object of strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include <string.h>
#include <yyjson.h>

#define HEADER_REPLY_TO "pawl.reply_to"
#define HEADER_BASE "pawl.base"
#define HEADER_TRACE "traceparent"

static void *json_resize(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return pawl_resize(memory, size);
}

static void *json_take(void *context, size_t size)
{
    (void)context;
    return pawl_resize(NULL, size);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    pawl_free(memory);
}

static const yyjson_alc json_memory = {json_take, json_resize, json_free, NULL};

pawl_code pawl__headers_value(pawl_text headers, pawl_text name, pawl_arena *arena,
                              pawl_text *value)
{
    *value = (pawl_text){NULL, 0};
    if (headers.size == 0)
        return PAWL_OK;
    yyjson_read_err failure = {0};
    yyjson_doc     *doc =
        yyjson_read_opts((char *)headers.data, headers.size, 0, &json_memory, &failure);
    if (doc == NULL) /* what is no JSON has no headers */
        return failure.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? PAWL_ENOMEM : PAWL_OK;
    yyjson_val *found = yyjson_obj_getn(yyjson_doc_get_root(doc), name.data, name.size);
    bool        is_ok = true;
    if (yyjson_is_str(found)) {
        *value = pawl_arena_text(arena, (pawl_text){yyjson_get_str(found), yyjson_get_len(found)});
        is_ok  = value->data != NULL;
    }
    yyjson_doc_free(doc);
    return is_ok ? PAWL_OK : PAWL_ENOMEM;
}

/* "Base,BaseOfBase": lets a receiver that does not know the type run the
 * handlers of its base types (contracts E9). */
static pawl_text base_names(const pawl_record *record, pawl_arena *arena)
{
    pawl_text names = {"", 0};
    for (; record != NULL && record->base != NULL && names.data != NULL;) {
        record = record->base();
        names  = pawl_arena_printf(arena, "%s%s%s", names.data, names.size > 0 ? "," : "",
                                   pawl_record_type(record));
    }
    return names;
}

static bool put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, pawl_text value)
{
    if (value.size == 0)
        return true;
    yyjson_mut_obj_remove_key(object, name);
    return yyjson_mut_obj_add_strncpy(doc, object, name, value.data, value.size);
}

static pawl_code put_extra(yyjson_mut_doc *doc, yyjson_mut_val *object, const pawl_header *extra,
                           pawl_error *error)
{
    for (; extra != NULL && extra->name != NULL; extra++) {
        pawl_text value = pawl_text_of(extra->value);
        if (!pawl_text_is_valid(value, NULL) ||
            !pawl_text_is_valid(pawl_text_of(extra->name), NULL))
            return pawl_error_set(error, PAWL_EINVAL, "header '%s' is not UTF-8", extra->name);
        yyjson_mut_obj_remove_key(object, extra->name);
        if (!yyjson_mut_obj_add_strncpy(doc, object, extra->name,
                                        value.data != NULL ? value.data : "", value.size))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

pawl_code pawl__headers_build(pawl_text reply_to, const pawl_record *record,
                              const pawl_header *extra, pawl_text inherited, pawl_arena *arena,
                              pawl_text *headers, pawl_error *error)
{
    *headers        = (pawl_text){"", 0};
    pawl_text bases = base_names(record, arena);
    pawl_text trace;
    pawl_code code = pawl__headers_value(inherited, PAWL_TEXT(HEADER_TRACE), arena, &trace);
    if (bases.data == NULL || code != PAWL_OK)
        return PAWL_ENOMEM;
    if (reply_to.size == 0 && bases.size == 0 && extra == NULL && trace.size == 0)
        return PAWL_OK;
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&json_memory);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    code        = object != NULL && put(doc, object, HEADER_REPLY_TO, reply_to) &&
                   put(doc, object, HEADER_BASE, bases) && put(doc, object, HEADER_TRACE, trace)
                      ? put_extra(doc, object, extra, error)
                      : PAWL_ENOMEM;
    size_t size = 0;
    char  *json = code == PAWL_OK ? yyjson_mut_write_opts(doc, 0, &json_memory, &size, NULL) : NULL;
    if (json != NULL)
        *headers = pawl_arena_text(arena, (pawl_text){json, size});
    if (code == PAWL_OK && (json == NULL || headers->data == NULL))
        code = PAWL_ENOMEM;
    pawl_free(json);
    yyjson_mut_doc_free(doc);
    if (code == PAWL_OK && headers->size > PAWL_HEADERS_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "headers have %zu bytes, the limit is %d",
                              headers->size, PAWL_HEADERS_SIZE_MAX);
    return code;
}
