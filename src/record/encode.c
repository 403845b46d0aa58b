/* encode.c - encodes a struct into a JSON object.
 *
 * A document is built in the arena and written once: the fields in their order, then unknown members that another
 * version of the record had added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

static pawl_code no_memory(pawl__encoder *encoder, const pawl__path *path)
{
    return pawl__path_error(path, encoder->error, PAWL_ENOMEM, "no memory to encode it");
}

static pawl_code encode_object(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                               const pawl_record *record, const void *in, yyjson_mut_val **object);

static pawl_code encode_item(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                             const void *from, yyjson_mut_val **value)
{
    const pawl_field *field = path->field;
    if (field->kind == PAWL_KIND_RECORD)
        return encode_object(encoder, path, depth + 1, field->record(), from, value);
    return pawl__encode_scalar(encoder, path, from, value);
}

static pawl_code encode_list(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                             const void *from, yyjson_mut_val **value)
{
    pawl__list list = pawl__list_get(from);
    if (list.count > PAWL_LIST_COUNT_MAX)
        return pawl__path_error(path, encoder->error, PAWL_ELIMIT,
                                "list of %zu items, the limit is %d", list.count,
                                PAWL_LIST_COUNT_MAX);
    if (list.items == NULL && list.count != 0)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "list of %zu items without data",
                                list.count);
    *value = yyjson_mut_arr(encoder->doc);
    if (*value == NULL)
        return no_memory(encoder, path);
    pawl__path item_path = *path;
    for (size_t i = 0; i < list.count; i++) {
        yyjson_mut_val *item;
        item_path.index = i;
        pawl_code code =
            encode_item(encoder, &item_path, depth, list.items + i * path->field->item_size, &item);
        if (code != PAWL_OK)
            return code;
        yyjson_mut_arr_append(*value, item);
    }
    return PAWL_OK;
}

static bool is_absent(const pawl_field *field, const void *from)
{
    switch (field->shape) {
    case PAWL_LIST: return false;
    case PAWL_OPTIONAL:
        return field->kind == PAWL_KIND_RECORD ? pawl__pointer_get(from) == NULL
                                               : !*(const bool *)from;
    case PAWL_ONE: break;
    }
    return false;
}

/* May the member be left out? For a nested record this is known only after it is encoded. */
static bool is_default(const pawl_field *field, const void *from)
{
    if (field->shape == PAWL_LIST)
        return pawl__list_get(from).count == 0;
    if (field->shape == PAWL_OPTIONAL || field->kind == PAWL_KIND_RECORD)
        return false;
    return pawl__scalar_is_default(field, from);
}

static pawl_code encode_present(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                                const void *from, yyjson_mut_val **value)
{
    const pawl_field *field = path->field;
    if (field->shape == PAWL_LIST)
        return encode_list(encoder, path, depth, from, value);
    if (field->shape == PAWL_OPTIONAL)
        from = field->kind == PAWL_KIND_RECORD ? pawl__pointer_get(from)
                                               : (const char *)from + field->value_offset;
    return encode_item(encoder, path, depth, from, value);
}

static pawl_code unset(pawl__encoder *encoder, const pawl__path *path)
{
    return pawl__path_error(path, encoder->error, PAWL_EINVAL, "required, but it is not set");
}

/* `*value` is NULL when the member is left out. A required member is never written as null, not even by a field of
 * JSON text, since it could not be decoded. */
static pawl_code encode_field(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                              const void *in, yyjson_mut_val **value)
{
    const pawl_field *field    = path->field;
    const void       *from     = (const char *)in + field->offset;
    bool              is_whole = (encoder->flags & PAWL_ENCODE_DEFAULTS) != 0;
    *value                     = NULL;
    if (is_absent(field, from)) {
        if (field->required)
            return unset(encoder, path);
        if (!is_whole)
            return PAWL_OK;
        *value = yyjson_mut_null(encoder->doc);
        return *value != NULL ? PAWL_OK : no_memory(encoder, path);
    }
    bool may_go = !is_whole && !field->required;
    if (may_go && is_default(field, from))
        return PAWL_OK;
    pawl_code code = encode_present(encoder, path, depth, from, value);
    if (code == PAWL_OK && field->required && yyjson_mut_is_null(*value))
        return unset(encoder, path);
    if (code == PAWL_OK && may_go && field->shape == PAWL_ONE && field->kind == PAWL_KIND_RECORD &&
        yyjson_mut_obj_size(*value) == 0)
        *value = NULL;
    return code;
}

static bool is_known(const pawl_record *record, yyjson_val *key)
{
    pawl_text name = {.data = yyjson_get_str(key), .size = yyjson_get_len(key)};
    for (size_t i = 0; i < record->field_count; i++)
        if (pawl_text_equal(pawl_text_of(pawl_field_json(pawl__field_at(record, i))), name))
            return true;
    return false;
}

static pawl_code read_extra(pawl__encoder *encoder, const pawl__path *path, pawl_text extra,
                            yyjson_val **members)
{
    yyjson_doc *doc;
    if (extra.data == NULL)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL,
                                "pawl_extra of %zu bytes without data", extra.size);
    char *object = pawl_arena_take(encoder->arena, extra.size + 2);
    if (object == NULL)
        return no_memory(encoder, path);
    object[0] = '{';
    memcpy(object + 1, extra.data, extra.size);
    object[extra.size + 1] = '}';
    pawl_code code = pawl__json_read_exact((pawl_text){.data = object, .size = extra.size + 2},
                                           encoder->arena, &doc, encoder->error);
    if (code != PAWL_OK) {
        char where[PAWL__PATH_TEXT_SIZE];
        return pawl_error_wrap(encoder->error, code == PAWL_EDECODE ? PAWL_EINVAL : code,
                               "%s: pawl_extra", pawl__path_text(path, where));
    }
    *members = yyjson_doc_get_root(doc);
    if (pawl__json_has_nul(*members))
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "NUL in pawl_extra");
    return PAWL_OK;
}

/* Adds the unknown members, except those that have become fields since. */
static pawl_code encode_extra(pawl__encoder *encoder, const pawl__path *path,
                              const pawl_record *record, pawl_text extra, yyjson_mut_val *object)
{
    yyjson_val *members = NULL, *key, *value;
    size_t      index, count;
    pawl_code   code = read_extra(encoder, path, extra, &members);
    if (code != PAWL_OK)
        return code;
    yyjson_obj_foreach(members, index, count, key, value)
    {
        if (!is_known(record, key) &&
            !yyjson_mut_obj_add(object, yyjson_val_mut_copy(encoder->doc, key),
                                yyjson_val_mut_copy(encoder->doc, value)))
            return no_memory(encoder, path);
    }
    return PAWL_OK;
}

static pawl_code encode_object(pawl__encoder *encoder, const pawl__path *path, size_t depth,
                               const pawl_record *record, const void *in, yyjson_mut_val **object)
{
    if (depth > PAWL_RECORD_DEPTH_MAX)
        return pawl__path_error(path, encoder->error, PAWL_ELIMIT,
                                "records nested more than %d deep", PAWL_RECORD_DEPTH_MAX);
    *object = yyjson_mut_obj(encoder->doc);
    if (*object == NULL)
        return no_memory(encoder, path);
    pawl__path field_path = {path, NULL, NULL, PAWL__NO_INDEX};
    for (size_t i = 0; i < record->field_count; i++) {
        yyjson_mut_val *value;
        field_path.field = pawl__field_at(record, i);
        pawl_code code   = encode_field(encoder, &field_path, depth, in, &value);
        if (code != PAWL_OK)
            return code;
        if (value == NULL)
            continue;
        if (!yyjson_mut_obj_add(
                *object, yyjson_mut_str(encoder->doc, pawl_field_json(field_path.field)), value))
            return no_memory(encoder, &field_path);
    }
    pawl_text extra = *(const pawl_text *)in;
    return extra.size != 0 ? encode_extra(encoder, path, record, extra, *object) : PAWL_OK;
}

static pawl_code write(pawl__encoder *encoder, const pawl_record *record, yyjson_mut_val *root,
                       pawl_text *json)
{
    yyjson_alc       allocator = pawl__json_allocator(encoder->arena);
    yyjson_write_err wrong;
    size_t           size;
    yyjson_mut_doc_set_root(encoder->doc, root);
    char *text = yyjson_mut_write_opts(encoder->doc, 0, &allocator, &size, &wrong);
    if (text == NULL)
        return pawl_error_set(encoder->error,
                              wrong.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION ? PAWL_ENOMEM
                                                                                 : PAWL_EINVAL,
                              "%s: cannot be written: %s", record->name, wrong.msg);
    *json = (pawl_text){.data = text, .size = size};
    return PAWL_OK;
}

pawl_code pawl__value_check(const pawl_record *record, const void *value, pawl_error *error)
{
    if (record == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "the record is NULL");
    return value != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL, "%s: the struct is NULL", record->name);
}

pawl_code pawl_record_encode(const pawl_record *record, const void *in, unsigned flags,
                             pawl_arena *arena, pawl_text *json, pawl_error *error)
{
    pawl_code given = pawl__value_check(record, in, error);
    if (given != PAWL_OK)
        return given;
    yyjson_alc      allocator = pawl__json_allocator(arena);
    pawl__encoder   encoder   = {arena, error, yyjson_mut_doc_new(&allocator), flags};
    pawl__path      root      = {NULL, NULL, record, PAWL__NO_INDEX};
    yyjson_mut_val *object;
    if (encoder.doc == NULL)
        return no_memory(&encoder, &root);
    pawl_code code = encode_object(&encoder, &root, 1, record, in, &object);
    return code == PAWL_OK ? write(&encoder, record, object, json) : code;
}
