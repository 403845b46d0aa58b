/* encode_scalar.c - encodes one C value into one JSON value, with a function for each kind.
 *
 * The document points to the texts and does not copy them; they must live until it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <inttypes.h>
#include <math.h>

static pawl_code finish(pawl__encoder *encoder, const pawl__path *path, yyjson_mut_val *made,
                        yyjson_mut_val **value)
{
    *value = made;
    if (made == NULL)
        return pawl__path_error(path, encoder->error, PAWL_ENOMEM, "no memory to encode it");
    return PAWL_OK;
}

static pawl_code encode_bool(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    return finish(encoder, path, yyjson_mut_bool(encoder->doc, *(const bool *)from), value);
}

static pawl_code encode_integer(pawl__encoder *encoder, const pawl__path *path, const void *from,
                                yyjson_mut_val **value)
{
    int64_t integer;
    if (!pawl__integer_get(path->field->kind, from, &integer))
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "value above the limit %" PRId64,
                                INT64_MAX);
    return finish(encoder, path, yyjson_mut_sint(encoder->doc, integer), value);
}

static pawl_code encode_double(pawl__encoder *encoder, const pawl__path *path, const void *from,
                               yyjson_mut_val **value)
{
    double number = *(const double *)from;
    if (!isfinite(number))
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "%s has no JSON form",
                                isnan(number) ? "NaN" : "infinity");
    return finish(encoder, path, yyjson_mut_real(encoder->doc, number), value);
}

/* Detects a number given for a text, as in .id = 42: the compiler converts it to double, the type of pawl_text's first
 * member. The bits of such a double are no address that a program can have, so an empty text with a pointer is not
 * mistaken for it. */
static bool is_number(const void *data, size_t size)
{
#if UINTPTR_MAX > UINT32_MAX
    uint64_t exponent = ((uint64_t)(uintptr_t)data >> 52) & 0x7FF;
    return size == 0 && exponent >= 1023 && exponent <= 1023 + 63;
#else
    (void)data;
    (void)size;
    return false;
#endif
}

static pawl_code refuse_number(pawl__encoder *encoder, const pawl__path *path)
{
    return pawl__path_error(path, encoder->error, PAWL_EINVAL,
                            "a number where a text is due; PAWL_TEXT(\"42\") makes one");
}

static pawl_code put_text(pawl__encoder *encoder, const pawl__path *path, pawl_text text,
                          yyjson_mut_val **value)
{
    size_t at;
    if (is_number(text.data, text.size))
        return refuse_number(encoder, path);
    if (text.data == NULL && text.size != 0)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "text of %zu bytes without data",
                                text.size);
    if (!pawl_text_is_valid(text, &at))
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "%s at byte %zu of the text",
                                text.data[at] == '\0' ? "NUL" : "not UTF-8", at);
    const char *data = text.data != NULL ? text.data : "";
    return finish(encoder, path, yyjson_mut_strn(encoder->doc, data, text.size), value);
}

static pawl_code encode_text(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    return put_text(encoder, path, *(const pawl_text *)from, value);
}

static pawl_code encode_fixed(pawl__encoder *encoder, const pawl__path *path, const void *from,
                              yyjson_mut_val **value)
{
    pawl_text text = pawl__fixed_text(path->field, from);
    if (text.size > path->field->fixed_size)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL,
                                "no NUL after %zu bytes, the limit of the text",
                                path->field->fixed_size);
    return put_text(encoder, path, text, value);
}

static pawl_code encode_bytes(pawl__encoder *encoder, const pawl__path *path, const void *from,
                              yyjson_mut_val **value)
{
    pawl_bytes bytes = *(const pawl_bytes *)from;
    if (is_number(bytes.data, bytes.size))
        return refuse_number(encoder, path);
    if (bytes.data == NULL && bytes.size != 0)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "%zu bytes without data",
                                bytes.size);
    pawl_text text = pawl__base64_encode(bytes, encoder->arena);
    return finish(encoder, path,
                  text.data != NULL ? yyjson_mut_strn(encoder->doc, text.data, text.size) : NULL,
                  value);
}

static pawl_code encode_uuid(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(*(const pawl_uuid *)from, text);
    return finish(encoder, path, yyjson_mut_strncpy(encoder->doc, text, PAWL_UUID_TEXT_SIZE),
                  value);
}

static pawl_code encode_time(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    pawl_time time = *(const pawl_time *)from;
    if (time < PAWL_TIME_MIN || time > PAWL_TIME_MAX)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL,
                                "time %" PRId64 " is outside the years 0001 to 9999", time);
    return finish(encoder, path, pawl__times_value(encoder->flags, encoder->doc, time), value);
}

static pawl_code encode_enum(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    const pawl_enum *enumeration = path->field->enumeration();
    int              constant    = *(const int *)from;
    if (constant < 0 || (size_t)constant >= enumeration->count)
        return pawl__path_error(path, encoder->error, PAWL_EINVAL,
                                "%d is not a %s, which counts from 0 to %zu", constant,
                                enumeration->name, enumeration->count - 1);
    return finish(encoder, path, yyjson_mut_str(encoder->doc, enumeration->names[constant]), value);
}

static pawl_code encode_json(pawl__encoder *encoder, const pawl__path *path, const void *from,
                             yyjson_mut_val **value)
{
    pawl_text   text = *(const pawl_text *)from;
    yyjson_doc *doc;
    if (is_number(text.data, text.size))
        return refuse_number(encoder, path);
    if (text.size == 0)
        return finish(encoder, path, yyjson_mut_null(encoder->doc), value);
    pawl_code code = pawl__json_read_exact(text, encoder->arena, &doc, encoder->error);
    if (code != PAWL_OK) {
        char where[PAWL__PATH_TEXT_SIZE];
        return pawl_error_wrap(encoder->error, code == PAWL_EDECODE ? PAWL_EINVAL : code, "%s",
                               pawl__path_text(path, where));
    }
    if (pawl__json_has_nul(yyjson_doc_get_root(doc)))
        return pawl__path_error(path, encoder->error, PAWL_EINVAL, "NUL in a text of the JSON");
    return finish(encoder, path, yyjson_val_mut_copy(encoder->doc, yyjson_doc_get_root(doc)),
                  value);
}

typedef pawl_code encode_fn(pawl__encoder *encoder, const pawl__path *path, const void *from,
                            yyjson_mut_val **value);

pawl_code pawl__encode_scalar(pawl__encoder *encoder, const pawl__path *path, const void *from,
                              yyjson_mut_val **value)
{
    static encode_fn *const functions[PAWL_KIND_RECORD] = {
        [PAWL_KIND_BOOL] = encode_bool,      [PAWL_KIND_INT16] = encode_integer,
        [PAWL_KIND_INT32] = encode_integer,  [PAWL_KIND_INT64] = encode_integer,
        [PAWL_KIND_UINT16] = encode_integer, [PAWL_KIND_UINT32] = encode_integer,
        [PAWL_KIND_UINT64] = encode_integer, [PAWL_KIND_DOUBLE] = encode_double,
        [PAWL_KIND_TEXT] = encode_text,      [PAWL_KIND_FIXED] = encode_fixed,
        [PAWL_KIND_BYTES] = encode_bytes,    [PAWL_KIND_UUID] = encode_uuid,
        [PAWL_KIND_TIME] = encode_time,      [PAWL_KIND_ENUM] = encode_enum,
        [PAWL_KIND_JSON] = encode_json,
    };
    return functions[path->field->kind](encoder, path, from, value);
}

static bool all_zero(const void *from, size_t size)
{
    const unsigned char *bytes = from;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static bool is_empty(const void *data, size_t size)
{
    return size == 0 && !is_number(data, size);
}

bool pawl__scalar_is_default(const pawl_field *field, const void *from)
{
    switch (field->kind) {
    case PAWL_KIND_TEXT:
    case PAWL_KIND_JSON: {
        const pawl_text *text = from;
        return is_empty(text->data, text->size);
    }
    case PAWL_KIND_BYTES: {
        const pawl_bytes *bytes = from;
        return is_empty(bytes->data, bytes->size);
    }
    case PAWL_KIND_FIXED: return *(const char *)from == '\0';
    default: /* numbers, uuid, time, enum; by bits, so that -0.0 is kept */
        return all_zero(from, field->item_size);
    }
}
