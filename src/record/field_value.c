/* field_value.c - reads single fields as values, by which messages find their saga, and writes them into a new saga.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <inttypes.h>

static pawl_value_type type_of_kind(pawl_kind kind)
{
    if (pawl__kind_is_integer(kind))
        return PAWL_VALUE_INT;
    switch (kind) {
    case PAWL_KIND_TEXT:
    case PAWL_KIND_FIXED:
    case PAWL_KIND_ENUM: return PAWL_VALUE_TEXT;
    case PAWL_KIND_UUID: return PAWL_VALUE_UUID;
    case PAWL_KIND_TIME: return PAWL_VALUE_TIME;
    default: return PAWL_VALUE_NONE;
    }
}

static pawl_code value_type(const pawl_field *field, const char *path, pawl_value_type *type,
                            pawl_error *error)
{
    *type = field->shape != PAWL_LIST ? type_of_kind(field->kind) : PAWL_VALUE_NONE;
    if (*type != PAWL_VALUE_NONE)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "%s: only an integer, text, uuid, time or enum can correlate, "
                          "and no list",
                          path);
}

static pawl_code read_integer(const pawl_field *field, const char *path, const void *from,
                              pawl_value *value, pawl_error *error)
{
    int64_t integer;
    if (!pawl__integer_get(field->kind, from, &integer))
        return pawl_error_set(error, PAWL_EINVAL, "%s: value above the limit %" PRId64, path,
                              INT64_MAX);
    *value = pawl_value_integer(integer);
    return PAWL_OK;
}

static pawl_code read_enum(const pawl_field *field, const char *path, const void *from,
                           pawl_value *value, pawl_error *error)
{
    const pawl_enum *enumeration = field->enumeration();
    int              constant    = *(const int *)from;
    if (constant < 0 || (size_t)constant >= enumeration->count)
        return pawl_error_set(error, PAWL_EINVAL, "%s: %d is not a %s, which counts from 0 to %zu",
                              path, constant, enumeration->name, enumeration->count - 1);
    *value = pawl_value_text(pawl_text_of(enumeration->names[constant]));
    return PAWL_OK;
}

static pawl_code read_text(const char *path, pawl_text text, pawl_value *value, pawl_error *error)
{
    pawl_value read = pawl_value_text(text);
    pawl_code  code = pawl_value_check(&read, path, error);
    if (code == PAWL_OK)
        *value = read;
    return code;
}

static pawl_code read_scalar(const pawl_field *field, const char *path, const void *from,
                             pawl_value *value, pawl_error *error)
{
    switch (field->kind) {
    case PAWL_KIND_TEXT: return read_text(path, *(const pawl_text *)from, value, error);
    case PAWL_KIND_FIXED: return read_text(path, pawl__fixed_text(field, from), value, error);
    case PAWL_KIND_UUID: *value = pawl_value_uuid(*(const pawl_uuid *)from); return PAWL_OK;
    case PAWL_KIND_TIME: *value = pawl_value_time(*(const pawl_time *)from); return PAWL_OK;
    case PAWL_KIND_ENUM: return read_enum(field, path, from, value, error);
    default: return read_integer(field, path, from, value, error);
    }
}

/* `structure` is NULL if an optional record on the path is absent. */
static pawl_code read_field(const pawl_field *field, const char *path, const void *structure,
                            pawl_value *value, pawl_error *error)
{
    pawl_value_type type;
    pawl_code       code = value_type(field, path, &type, error);
    *value               = (pawl_value){.type = PAWL_VALUE_NONE};
    if (code != PAWL_OK || structure == NULL)
        return code;
    const void *from = (const char *)structure + field->offset;
    if (field->shape == PAWL_OPTIONAL && !*(const bool *)from)
        return PAWL_OK;
    return read_scalar(field, path, (const char *)from + field->value_offset, value, error);
}

static pawl_code write_integer(const pawl_field *field, const char *path, void *to, int64_t integer,
                               pawl_error *error)
{
    pawl__range range = pawl__integer_range(field->kind);
    if (integer < range.low || integer > range.high)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s: %" PRId64 " is outside %" PRId64 " to %" PRId64, path, integer,
                              range.low, range.high);
    pawl__integer_set(field->kind, to, integer);
    return PAWL_OK;
}

static pawl_code write_enum(const pawl_field *field, const char *path, void *to,
                            const pawl_value *name, pawl_error *error)
{
    const pawl_enum *enumeration = field->enumeration();
    char             names[PAWL__ENUM_NAMES_SIZE];
    int              found = pawl__enum_find(enumeration, name->as.text);
    if (found < 0)
        return pawl_error_set(error, PAWL_EINVAL, "%s: text of %zu byte%s is none of %s", path,
                              name->as.text.size, name->as.text.size == 1 ? "" : "s",
                              pawl__enum_names(enumeration, names));
    *(int *)to = found;
    return PAWL_OK;
}

static pawl_code write_fixed(const pawl_field *field, const char *path, void *to, pawl_text text,
                             pawl_error *error)
{
    if (text.size > field->fixed_size)
        return pawl_error_set(error, PAWL_EINVAL, "%s: text of %zu bytes, the limit is %zu", path,
                              text.size, field->fixed_size);
    memset(to, 0, field->item_size);
    if (text.size != 0)
        memcpy(to, text.data, text.size);
    return PAWL_OK;
}

static pawl_code write_text(const char *path, pawl_text *to, pawl_text text, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_text copy = pawl_arena_text(arena, text);
    if (copy.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: no memory for %zu bytes", path, text.size);
    *to = copy;
    return PAWL_OK;
}

/* `value` has the type of the field, and was checked. */
static pawl_code write_scalar(const pawl_field *field, const char *path, void *to,
                              const pawl_value *value, pawl_arena *arena, pawl_error *error)
{
    switch (field->kind) {
    case PAWL_KIND_TEXT: return write_text(path, to, value->as.text, arena, error);
    case PAWL_KIND_FIXED: return write_fixed(field, path, to, value->as.text, error);
    case PAWL_KIND_ENUM: return write_enum(field, path, to, value, error);
    case PAWL_KIND_UUID: *(pawl_uuid *)to = value->as.uuid; return PAWL_OK;
    case PAWL_KIND_TIME: *(pawl_time *)to = value->as.time; return PAWL_OK;
    default: return write_integer(field, path, to, value->as.integer, error);
    }
}

static pawl_code write_value(const pawl_field *field, const char *path, char *to,
                             const pawl_value *value, pawl_arena *arena, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (value->type == PAWL_VALUE_NONE)
        memset(to + field->value_offset, 0, field->item_size);
    else
        code = write_scalar(field, path, to + field->value_offset, value, arena, error);
    if (code == PAWL_OK && field->shape == PAWL_OPTIONAL)
        *(bool *)(void *)to = value->type != PAWL_VALUE_NONE;
    return code;
}

static pawl_code write_field(const pawl_field *field, bool is_secret, const char *path,
                             void *structure, const pawl_value *value, pawl_arena *arena,
                             pawl_error *error)
{
    pawl_value      coerced = *value;
    pawl_value_type type;
    pawl_code       code = value_type(field, path, &type, error);
    if (code != PAWL_OK)
        return code;
    code = pawl_value_coerce(type, &coerced, arena, error);
    if (code != PAWL_OK)
        code = pawl_error_wrap(error, code, "%s", path);
    if (code == PAWL_OK)
        code = pawl_value_check(&coerced, path, error);
    if (code == PAWL_OK)
        code = write_value(field, path, (char *)structure + field->offset, &coerced, arena, error);
    if (code == PAWL_EINVAL && is_secret) /* the error text may contain a number */
        return pawl_error_set(error, code, "%s: a secret value that the field cannot hold", path);
    return code;
}

static const pawl_field *find_name(const pawl_record *record, const char *name, size_t size)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        if (strlen(field->name) == size && memcmp(field->name, name, size) == 0)
            return field;
    }
    return NULL;
}

/* Follows the path from `*structure` to the struct that contains the field. `*structure` becomes NULL if an optional
 * record is absent. `*is_secret`: some step of the path is secret. */
static const pawl_field *follow(const pawl_record *record, const char *path, char **structure,
                                bool *is_secret)
{
    *is_secret = false;
    for (;;) {
        size_t            size  = strcspn(path, ".");
        const pawl_field *field = find_name(record, path, size);
        *is_secret |= field != NULL && field->secret;
        if (field == NULL || path[size] == '\0')
            return field;
        if (field->kind != PAWL_KIND_RECORD || field->shape == PAWL_LIST)
            return NULL;
        if (*structure != NULL)
            *structure += field->offset;
        if (*structure != NULL && field->shape == PAWL_OPTIONAL)
            *structure = pawl__pointer_get(*structure);
        record = field->record();
        path += size + 1;
    }
}

const pawl_field *pawl_record_field(const pawl_record *record, const char *path)
{
    char *nowhere = NULL;
    bool  is_secret;
    return follow(record, path, &nowhere, &is_secret);
}

static pawl_code no_field(const pawl_record *record, const char *path, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EINVAL, "record %s has no field %s", record->name, path);
}

pawl_code pawl_field_value_type(const pawl_field *field, pawl_value_type *type, pawl_error *error)
{
    return value_type(field, field->name, type, error);
}

pawl_code pawl_field_value(const pawl_field *field, const void *structure, pawl_value *value,
                           pawl_error *error)
{
    return read_field(field, field->name, structure, value, error);
}

pawl_code pawl_value_set(const pawl_field *field, void *structure, const pawl_value *value,
                         pawl_arena *arena, pawl_error *error)
{
    return write_field(field, field->secret, field->name, structure, value, arena, error);
}

pawl_code pawl_record_value(const pawl_record *record, const char *path, const void *structure,
                            pawl_value *value, pawl_error *error)
{
    char             *inner = (char *)(uintptr_t)structure; /* only read below */
    bool              is_secret;
    const pawl_field *field = follow(record, path, &inner, &is_secret);
    *value                  = (pawl_value){.type = PAWL_VALUE_NONE};
    if (field == NULL)
        return no_field(record, path, error);
    return read_field(field, path, inner, value, error);
}

pawl_code pawl_record_value_set(const pawl_record *record, const char *path, void *structure,
                                const pawl_value *value, pawl_arena *arena, pawl_error *error)
{
    char             *holder = structure;
    bool              is_secret;
    const pawl_field *field = follow(record, path, &holder, &is_secret);
    if (field == NULL)
        return no_field(record, path, error);
    if (holder == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s: a record on the way is absent", path);
    return write_field(field, is_secret, path, holder, value, arena, error);
}

/* ---- A field read from JSON --------------------------------------------------- */

/* A member that is missing stands for the default value. */
static pawl_code read_member(const pawl_record *root, const pawl_field *field, yyjson_val *member,
                             pawl_arena *arena, pawl_value *value)
{
    pawl_value_type type;
    pawl__decoder   decoder = {arena, NULL, 0};
    pawl__path      above   = {NULL, NULL, root, PAWL__NO_INDEX};
    pawl__path      at      = {&above, field, NULL, PAWL__NO_INDEX};
    void           *item    = pawl_arena_take(arena, field->item_size);
    pawl_code       code    = item != NULL ? PAWL_OK : PAWL_ENOMEM;
    if (code != PAWL_OK || value_type(field, field->name, &type, NULL) != PAWL_OK)
        return code;
    if (member != NULL)
        code = pawl__decode_scalar(&decoder, &at, member, item);
    if (code == PAWL_OK)
        code = read_scalar(field, field->name, item, value, NULL);
    return code == PAWL_ENOMEM ? code : PAWL_OK;
}

pawl_code pawl__json_field_value(const pawl_record *record, const char *path, pawl_text json,
                                 pawl_arena *arena, pawl_value *value)
{
    const pawl_record *root      = record;
    const pawl_field  *field     = NULL;
    bool               is_absent = false;
    yyjson_doc        *doc       = NULL;
    pawl_code          code      = pawl__json_read(json, arena, &doc, NULL);
    *value                       = (pawl_value){.type = PAWL_VALUE_NONE};
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? code : PAWL_OK;
    yyjson_val *member = yyjson_doc_get_root(doc);
    while (path[0] != '\0') {
        size_t size    = strcspn(path, ".");
        field          = record != NULL ? find_name(record, path, size) : NULL;
        record         = field != NULL && field->kind == PAWL_KIND_RECORD ? field->record() : NULL;
        pawl_text name = field != NULL ? pawl_text_of(pawl_field_json(field))
                                       : (pawl_text){.data = path, .size = size};
        member         = yyjson_obj_getn(member, name.data, name.size);
        if (yyjson_is_null(member))
            member = NULL;
        is_absent |= member == NULL && (field == NULL || field->shape != PAWL_ONE);
        path += size + (path[size] == '.');
    }
    if (field != NULL && !is_absent)
        code = read_member(root, field, member, arena, value);
    if (code != PAWL_OK || value->type != PAWL_VALUE_NONE)
        return code;
    if (yyjson_is_str(member))
        *value = pawl_value_text(
            (pawl_text){.data = yyjson_get_str(member), .size = yyjson_get_len(member)});
    else if (yyjson_is_sint(member) ||
             (yyjson_is_uint(member) && yyjson_get_uint(member) <= INT64_MAX))
        *value = pawl_value_integer(yyjson_get_sint(member));
    return PAWL_OK;
}
