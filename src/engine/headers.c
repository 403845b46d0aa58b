/* headers.c - message headers: a JSON object of strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/headers.h"

#include "pawl/record.h"

#include <string.h>
#include <yyjson.h>

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

const yyjson_alc pawl__json_memory = {json_take, json_resize, json_free, NULL};

pawl_text pawl__list_next(pawl_text *list)
{
    const char *comma = memchr(list->data, ',', list->size);
    size_t      size  = comma != NULL ? (size_t)(comma - list->data) : list->size;
    pawl_text   item  = {.data = list->data, .size = size};
    list->data += comma != NULL ? size + 1 : size;
    list->size -= comma != NULL ? size + 1 : size;
    return item;
}

bool pawl__headers_may_have(pawl_text headers, const char *name)
{
    return headers.size > 0 && memmem(headers.data, headers.size, name, strlen(name)) != NULL;
}

pawl_code pawl__headers_value(pawl_text headers, pawl_text name, pawl_arena *arena,
                              pawl_text *value)
{
    *value = (pawl_text){.data = NULL, .size = 0};
    if (headers.size == 0)
        return PAWL_OK;
    yyjson_read_err failure = {0};
    yyjson_doc     *doc =
        yyjson_read_opts((char *)headers.data, headers.size, 0, &pawl__json_memory, &failure);
    if (doc == NULL) /* headers that are no JSON count as none */
        return failure.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? PAWL_ENOMEM : PAWL_OK;
    yyjson_val *found = yyjson_obj_getn(yyjson_doc_get_root(doc), name.data, name.size);
    bool        is_ok = true;
    if (yyjson_is_str(found)) {
        *value = pawl_arena_text(
            arena, (pawl_text){.data = yyjson_get_str(found), .size = yyjson_get_len(found)});
        is_ok = value->data != NULL;
    }
    yyjson_doc_free(doc);
    return is_ok ? PAWL_OK : PAWL_ENOMEM;
}

bool pawl__is_plain(pawl_text text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == '"' || text.data[i] == '\\')
            return false;
    return true;
}

/* "Base,BaseOfBase": lets a receiver that does not know the type run the
 * handlers of its base types (E9). */
static pawl_text base_names(const pawl_record *record, pawl_arena *arena)
{
    pawl_text names = {.data = "", .size = 0};
    for (; record != NULL && record->base != NULL && names.data != NULL;) {
        record = record->base();
        names  = pawl_arena_printf(arena, "%s%s%s", names.data, names.size > 0 ? "," : "",
                                   pawl_record_type(record));
    }
    return names;
}

static const pawl_record *base_of(const pawl_record *record)
{
    return record->base != NULL ? record->base() : NULL;
}

/* The number of records, from the message's own to the last that is not of version 1. */
static size_t count_written(const pawl_record *record)
{
    size_t count = 0, depth = 0;
    for (; record != NULL; record = base_of(record)) {
        depth++;
        if (pawl_record_version(record) != 1)
            count = depth;
    }
    return count;
}

/* Value of the header pawl.version, which version.c reads; empty where the record and its base types
 * are all of version 1, or the record is NULL. data NULL: out of memory. */
static pawl_text versions_of(const pawl_record *record, pawl_arena *arena)
{
    pawl_text made  = {.data = "", .size = 0};
    size_t    count = count_written(record);
    for (size_t i = 0; i < count && made.data != NULL; i++) {
        made   = pawl_arena_printf(arena, "%s%s%d", made.data, i > 0 ? "," : "",
                                   pawl_record_version(record));
        record = base_of(record);
    }
    return made;
}

static bool put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, pawl_text value)
{
    if (value.size == 0)
        return true;
    yyjson_mut_obj_remove_key(object, name);
    return yyjson_mut_obj_add_strncpy(doc, object, name, value.data, value.size);
}

static bool has_header(const pawl_header *headers, const char *name)
{
    while (headers != NULL && headers->name != NULL && strcmp(headers->name, name) != 0)
        headers++;
    return headers != NULL && headers->name != NULL;
}

static pawl_code put_extra(yyjson_mut_doc *doc, yyjson_mut_val *object, const pawl_header *extra,
                           pawl_error *error)
{
    for (; extra != NULL && extra->name != NULL; extra++) {
        pawl_text value = pawl_text_of(extra->value);
        if (!pawl_text_is_valid(value, NULL) ||
            !pawl_text_is_valid(pawl_text_of(extra->name), NULL))
            return pawl_error_set(error, PAWL_EINVAL, "header '%s' is not UTF-8", extra->name);
        if (strcmp(extra->name, PAWL_HEADER_EXPIRES) == 0 && value.size > 0 &&
            pawl_time_parse(value, &(pawl_time){0}, NULL) != PAWL_OK)
            return pawl_error_set(error, PAWL_EINVAL, "%s", PAWL__EXPIRES_IS_NO_TIME);
        yyjson_mut_obj_remove_key(object, extra->name);
        if (!yyjson_mut_obj_add_strncpy(doc, object, extra->name,
                                        value.data != NULL ? value.data : "", value.size))
            return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

/* Reads the trace of the message in hand and makes its child. A header that cannot be read ends the
 * trace, and the trace state with it. */
static pawl_code inherit(const pawl__cause *cause, pawl_arena *arena, pawl_text *trace,
                         pawl_text *state)
{
    char        text[PAWL__TRACE_TEXT_SIZE + 1];
    pawl__trace parent;
    pawl_text   found;
    *trace = *state = (pawl_text){.data = NULL, .size = 0};
    if (cause == NULL)
        return PAWL_OK;
    pawl_code code =
        pawl__headers_value(cause->message->headers, PAWL_TEXT(PAWL__HEADER_TRACE), arena, &found);
    if (code != PAWL_OK || !pawl__trace_parse(found, &parent))
        return code;
    pawl__trace child = pawl__trace_child(&parent, cause->queue, cause->message->id);
    pawl__trace_format(&child, text);
    *trace = pawl_arena_text(arena, (pawl_text){.data = text, .size = PAWL__TRACE_TEXT_SIZE});
    if (trace->data == NULL)
        return PAWL_ENOMEM;
    code = pawl__headers_value(cause->message->headers, PAWL_TEXT(PAWL__HEADER_TRACE_STATE), arena,
                               state);
    if (state->size > PAWL__TRACE_STATE_SIZE_MAX)
        *state = (pawl_text){.data = NULL, .size = 0};
    return code;
}

static bool put_all(yyjson_mut_doc *doc, yyjson_mut_val *object, yyjson_val *members)
{
    yyjson_obj_iter iter  = yyjson_obj_iter_with(members);
    bool            is_ok = true;
    for (yyjson_val *name = yyjson_obj_iter_next(&iter); name != NULL && is_ok;
         name             = yyjson_obj_iter_next(&iter)) {
        yyjson_mut_val *own   = yyjson_val_mut_copy(doc, name);
        yyjson_mut_val *value = yyjson_val_mut_copy(doc, yyjson_obj_iter_get_val(name));
        yyjson_mut_obj_remove(object, own);
        is_ok = yyjson_mut_obj_add(object, own, value); /* false for a NULL */
    }
    return is_ok;
}

/* Copies the members of a JSON object; a text that is no JSON has none. False without memory. */
static bool put_headers(yyjson_mut_doc *doc, yyjson_mut_val *object, pawl_text headers)
{
    yyjson_read_err failure = {0};
    yyjson_doc     *read =
        yyjson_read_opts((char *)headers.data, headers.size, 0, &pawl__json_memory, &failure);
    bool is_ok = read != NULL ? put_all(doc, object, yyjson_doc_get_root(read))
                              : failure.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION;
    yyjson_doc_free(read);
    return is_ok;
}

/* Writes the object as text and frees the document. */
static pawl_code write_headers(yyjson_mut_doc *doc, bool is_ok, pawl_arena *arena, pawl_text *made)
{
    size_t size = 0;
    char  *json = is_ok ? yyjson_mut_write_opts(doc, 0, &pawl__json_memory, &size, NULL) : NULL;
    *made       = json != NULL ? pawl_arena_text(arena, (pawl_text){.data = json, .size = size})
                               : (pawl_text){.data = NULL, .size = 0};
    pawl_free(json);
    yyjson_mut_doc_free(doc);
    return made->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

pawl_code pawl__headers_merge(pawl_text headers, pawl_text over, pawl_arena *arena,
                              pawl_text *merged)
{
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&pawl__json_memory);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    bool is_ok =
        object != NULL && put_headers(doc, object, headers) && put_headers(doc, object, over);
    return write_headers(doc, is_ok, arena, merged);
}

pawl_code pawl__headers_change(pawl_text headers, const char *const *names,
                               const pawl__header_value *values, pawl_arena *arena, pawl_text *made)
{
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&pawl__json_memory);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    bool is_ok = object != NULL && put_headers(doc, object, headers);
    for (; is_ok && *names != NULL; names++)
        yyjson_mut_obj_remove_key(object, *names);
    for (; is_ok && values->name != NULL; values++)
        is_ok = put(doc, object, values->name, values->value);
    return write_headers(doc, is_ok, arena, made);
}

static const char *const        no_names[]  = {NULL};
static const pawl__header_value no_values[] = {{NULL, {.data = NULL}}};

pawl_code pawl__headers_set(pawl_text headers, const char *name, pawl_text value, pawl_arena *arena,
                            pawl_text *made)
{
    const pawl__header_value values[] = {{name, value}, {NULL, {.data = NULL}}};
    return pawl__headers_change(headers, no_names, values, arena, made);
}

pawl_code pawl__headers_without(pawl_text headers, const char *const *names, pawl_arena *arena,
                                pawl_text *made)
{
    return pawl__headers_change(headers, names, no_values, arena, made);
}

pawl_code pawl__headers_build(pawl_text reply_to, const pawl_record *record,
                              const pawl_header *extra, const pawl__cause *cause, pawl_arena *arena,
                              pawl_text *headers, pawl_error *error)
{
    *headers           = (pawl_text){.data = "", .size = 0};
    pawl_text bases    = base_names(record, arena);
    pawl_text versions = versions_of(record, arena);
    pawl_text trace, state;
    pawl_code code = inherit(cause, arena, &trace, &state);
    if (bases.data == NULL || versions.data == NULL || code != PAWL_OK)
        return PAWL_ENOMEM;
    if (has_header(extra, PAWL__HEADER_TRACE)) /* the state belongs to the inherited one */
        state.size = 0;
    if (reply_to.size + bases.size + versions.size + trace.size == 0 && extra == NULL)
        return PAWL_OK;
    yyjson_mut_doc *doc    = yyjson_mut_doc_new(&pawl__json_memory);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, object);
    code              = object != NULL && put(doc, object, PAWL__HEADER_REPLY_TO, reply_to) &&
                   put(doc, object, PAWL_HEADER_BASE, bases) &&
                   put(doc, object, PAWL_HEADER_VERSION, versions) &&
                   put(doc, object, PAWL__HEADER_TRACE, trace) &&
                   put(doc, object, PAWL__HEADER_TRACE_STATE, state)
                            ? put_extra(doc, object, extra, error)
                            : PAWL_ENOMEM;
    pawl_code written = write_headers(doc, code == PAWL_OK, arena, headers);
    if (code == PAWL_OK)
        code = written;
    if (code == PAWL_OK && headers->size > PAWL_HEADERS_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "headers have %zu bytes, the limit is %d",
                              headers->size, PAWL_HEADERS_SIZE_MAX);
    return code;
}
