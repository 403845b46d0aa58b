/* decode.c - decodes a JSON object into a struct.
 *
 * The object is read once. pawl writes members in the order of the fields, so each member is compared with the next
 * expected field first, and only on a mismatch with the others, starting from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#define SEEN_WORDS (PAWL_RECORD_FIELDS_MAX / 64)

typedef struct seen_fields {
    uint64_t words[SEEN_WORDS];
} seen_fields;

static bool is_seen(const seen_fields *seen, size_t index)
{
    return (seen->words[index / 64] >> (index % 64) & 1) != 0;
}

static void mark_seen(seen_fields *seen, size_t index)
{
    seen->words[index / 64] |= UINT64_C(1) << (index % 64);
}

static bool has_name(const pawl_field *field, yyjson_val *key)
{
    const char *name = pawl_field_json(field);
    size_t      size = yyjson_get_len(key);
    return strlen(name) == size && memcmp(name, yyjson_get_str(key), size) == 0;
}

/* The index of the field with this name, `field_count` when there is none. */
static size_t find_field(const pawl_record *record, yyjson_val *key, size_t expected)
{
    for (size_t i = expected; i < record->field_count; i++)
        if (has_name(pawl__field_at(record, i), key))
            return i;
    for (size_t i = 0; i < expected; i++)
        if (has_name(pawl__field_at(record, i), key))
            return i;
    return record->field_count;
}

static pawl_code decode_object(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                               const pawl_record *record, yyjson_val *object, void *out);

static pawl_code decode_item(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                             yyjson_val *value, void *to)
{
    const pawl_field *field = path->field;
    if (field->kind == PAWL_KIND_RECORD)
        return decode_object(decoder, path, depth + 1, field->record(), value, to);
    if (yyjson_is_null(value))
        return PAWL_OK; /* `to` is zeroed, which is the default of every kind */
    return pawl__decode_scalar(decoder, path, value, to);
}

static pawl_code decode_list(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                             yyjson_val *array, void *to)
{
    if (!yyjson_is_arr(array))
        return pawl__decode_mismatch(decoder, path, "list", array);
    size_t count = yyjson_arr_size(array);
    if (count > PAWL_LIST_COUNT_MAX)
        return pawl__path_error(path, decoder->error, PAWL_ELIMIT,
                                "list of %zu items, the limit is %d", count, PAWL_LIST_COUNT_MAX);
    if (count == 0)
        return PAWL_OK;
    pawl__list list = {pawl_arena_take(decoder->arena, count * path->field->item_size), count};
    if (list.items == NULL)
        return pawl__path_error(path, decoder->error, PAWL_ENOMEM, "no memory for %zu items",
                                count);
    pawl__list_set(to, list);
    pawl__path  item_path = *path;
    size_t      index, items;
    yyjson_val *value;
    yyjson_arr_foreach(array, index, items, value)
    {
        item_path.index = index;
        pawl_code code  = decode_item(decoder, &item_path, depth, value,
                                      list.items + index * path->field->item_size);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

static pawl_code decode_optional(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                                 yyjson_val *value, void *to)
{
    const pawl_field *field = path->field;
    if (field->kind != PAWL_KIND_RECORD) {
        *(bool *)to = true;
        return pawl__decode_scalar(decoder, path, value, (char *)to + field->value_offset);
    }
    void *nested = pawl_arena_take(decoder->arena, field->item_size);
    if (nested == NULL)
        return pawl__path_error(path, decoder->error, PAWL_ENOMEM, "no memory for %zu bytes",
                                field->item_size);
    pawl__pointer_set(to, nested);
    return decode_item(decoder, path, depth, value, nested);
}

static pawl_code decode_field(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                              yyjson_val *value, void *out)
{
    void *to = (char *)out + path->field->offset;
    if (yyjson_is_null(value)) {
        if (path->field->required)
            return pawl__path_error(path, decoder->error, PAWL_EDECODE, "required, but it is null");
        return PAWL_OK;
    }
    switch (path->field->shape) {
    case PAWL_LIST: return decode_list(decoder, path, depth, value, to);
    case PAWL_OPTIONAL: return decode_optional(decoder, path, depth, value, to);
    case PAWL_ONE: break;
    }
    return decode_item(decoder, path, depth, value, to);
}

static pawl_code check_required(pawl__decoder *decoder, const pawl__path *path,
                                const pawl_record *record, const seen_fields *seen)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        if (field->required && !is_seen(seen, i)) {
            pawl__path missing = {path, field, NULL, PAWL__NO_INDEX};
            return pawl__path_error(&missing, decoder->error, PAWL_EDECODE,
                                    "required, but it is missing");
        }
    }
    return PAWL_OK;
}

static pawl_code extra_failed(pawl__decoder *decoder, const pawl__path *path)
{
    return pawl__path_error(path, decoder->error, PAWL_ENOMEM, "no memory for unknown members");
}

/* Writes the unknown members as a JSON object, and removes its braces. */
static pawl_code write_extra(pawl__decoder *decoder, const pawl__path *path, yyjson_mut_doc *doc,
                             pawl_text *extra)
{
    yyjson_alc allocator = pawl__json_allocator(decoder->arena);
    size_t     size;
    char      *text = yyjson_mut_write_opts(doc, 0, &allocator, &size, NULL);
    if (text == NULL)
        return extra_failed(decoder, path);
    text[size - 1] = '\0';
    *extra         = (pawl_text){.data = text + 1, .size = size - 2};
    return PAWL_OK;
}

static pawl_code keep_extra(pawl__decoder *decoder, const pawl__path *path,
                            const pawl_record *record, yyjson_val *object, pawl_text *extra)
{
    yyjson_alc      allocator = pawl__json_allocator(decoder->arena);
    yyjson_mut_doc *doc       = yyjson_mut_doc_new(&allocator);
    yyjson_mut_val *kept      = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, kept);
    size_t      index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, count, key, value)
    {
        if (find_field(record, key, 0) < record->field_count)
            continue;
        if (pawl__json_has_nul(key) || pawl__json_has_nul(value))
            return pawl__path_error(path, decoder->error, PAWL_EDECODE,
                                    "NUL in the unknown member \"%.60s\"", yyjson_get_str(key));
        if (!yyjson_mut_obj_add(kept, yyjson_val_mut_copy(doc, key),
                                yyjson_val_mut_copy(doc, value)))
            return extra_failed(decoder, path);
    }
    return kept != NULL ? write_extra(decoder, path, doc, extra) : extra_failed(decoder, path);
}

static pawl_code decode_members(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                                const pawl_record *record, yyjson_val *object, void *out)
{
    seen_fields seen       = {{0}};
    size_t      expected   = 0;
    bool        has_extra  = false;
    pawl__path  field_path = {path, NULL, NULL, PAWL__NO_INDEX};
    size_t      index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, count, key, value)
    {
        size_t found = find_field(record, key, expected);
        if (found == record->field_count) {
            has_extra = true;
            continue;
        }
        field_path.field = pawl__field_at(record, found);
        expected         = found + 1;
        if (is_seen(&seen, found))
            return pawl__path_error(&field_path, decoder->error, PAWL_EDECODE,
                                    "the member is there twice");
        mark_seen(&seen, found);
        pawl_code code = decode_field(decoder, &field_path, depth, value, out);
        if (code != PAWL_OK)
            return code;
    }
    pawl_code code = check_required(decoder, path, record, &seen);
    if (code == PAWL_OK && has_extra && (decoder->flags & PAWL_DECODE_KEEP_EXTRA) != 0)
        code = keep_extra(decoder, path, record, object, out);
    return code;
}

static pawl_code decode_object(pawl__decoder *decoder, const pawl__path *path, size_t depth,
                               const pawl_record *record, yyjson_val *object, void *out)
{
    if (depth > PAWL_RECORD_DEPTH_MAX)
        return pawl__path_error(path, decoder->error, PAWL_ELIMIT,
                                "records nested more than %d deep", PAWL_RECORD_DEPTH_MAX);
    if (!yyjson_is_obj(object))
        return pawl__decode_mismatch(decoder, path, "object", object);
    return decode_members(decoder, path, depth, record, object, out);
}

pawl_code pawl_record_decode(const pawl_record *record, pawl_text json, unsigned flags,
                             pawl_arena *arena, void *out, pawl_error *error)
{
    yyjson_doc *doc;
    pawl_code   code = pawl__json_read_exact(json, arena, &doc, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s", record->name);
    memset(out, 0, record->size);
    pawl__decoder decoder = {arena, error, flags};
    pawl__path    root    = {NULL, NULL, record, PAWL__NO_INDEX};
    return decode_object(&decoder, &root, 1, record, yyjson_doc_get_root(doc), out);
}
