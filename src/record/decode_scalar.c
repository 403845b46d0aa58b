/* decode_scalar.c - decodes one JSON value into one C value, with a function for each kind.
 *
 * Texts are not copied: they point into the parser's copy of the JSON, which lies in the arena and has a NUL behind
 * each text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOWN_SIZE 64

/* Doubles below this are exact as integers. This one is not accepted: the next integer is rounded to it, too. */
#define EXACT_END 9007199254740992.0

/* Describes a value without showing it: errors go to logs, histories and events, which must not contain values. */
static void show_kind(yyjson_val *value, char shown[SHOWN_SIZE])
{
    if (yyjson_is_str(value))
        snprintf(shown, SHOWN_SIZE, "text of %zu byte%s", yyjson_get_len(value),
                 yyjson_get_len(value) == 1 ? "" : "s");
    else
        snprintf(shown, SHOWN_SIZE, "%s",
                 yyjson_is_null(value)   ? "null"
                 : yyjson_is_bool(value) ? "a boolean"
                 : yyjson_is_arr(value)  ? "a list"
                 : yyjson_is_obj(value)  ? "an object"
                                         : "a number");
}

/* Shows a number as JSON; printf would use the decimal separator of the program's locale. */
static void show_number(const pawl__decoder *decoder, yyjson_val *value, char shown[SHOWN_SIZE])
{
    yyjson_alc  allocator = pawl__json_allocator(decoder->arena);
    size_t      size      = 0;
    const char *text      = yyjson_val_write_opts(value, 0, &allocator, &size, NULL);
    snprintf(shown, SHOWN_SIZE, "%.40s%s", text != NULL ? text : "a number",
             size > 40 ? "..." : "");
}

static pawl_code mismatch(pawl__decoder *decoder, const pawl__path *path, const char *what,
                          const char *shown)
{
    return pawl__path_error(path, decoder->error, PAWL_EDECODE, "expected %s, got %s", what,
                            pawl__path_is_secret(path) ? "a secret value" : shown);
}

pawl_code pawl__decode_mismatch(pawl__decoder *decoder, const pawl__path *path, const char *what,
                                yyjson_val *value)
{
    char shown[SHOWN_SIZE];
    show_kind(value, shown);
    return mismatch(decoder, path, what, shown);
}

/* Refuses a value for a field that is a number or a time. Numbers are shown in the error. */
static pawl_code refuse_number(pawl__decoder *decoder, const pawl__path *path, const char *what,
                               yyjson_val *value)
{
    char shown[SHOWN_SIZE];
    if (!yyjson_is_num(value) && !yyjson_is_raw(value))
        return pawl__decode_mismatch(decoder, path, what, value);
    show_number(decoder, value, shown);
    return mismatch(decoder, path, what, shown);
}

static pawl_code no_memory(pawl__decoder *decoder, const pawl__path *path)
{
    return pawl__path_error(path, decoder->error, PAWL_ENOMEM, "no memory to decode it");
}

static pawl_code decode_bool(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    if (!yyjson_is_bool(value))
        return pawl__decode_mismatch(decoder, path, "true or false", value);
    *(bool *)to = yyjson_get_bool(value);
    return PAWL_OK;
}

static bool is_exact(double number)
{
    return number > -EXACT_END && number < EXACT_END && (double)(int64_t)number == number;
}

/* Converts the JSON forms of an integer: 5, -5, 5.0, 5e3. */
static bool integer_of(yyjson_val *value, int64_t *integer)
{
    if (yyjson_is_sint(value))
        *integer = yyjson_get_sint(value);
    else if (yyjson_is_uint(value) && yyjson_get_uint(value) <= INT64_MAX)
        *integer = (int64_t)yyjson_get_uint(value);
    else if (yyjson_is_real(value) && is_exact(yyjson_get_real(value)))
        *integer = (int64_t)yyjson_get_real(value);
    else
        return false;
    return true;
}

/* Is the value an integer, but too large for 64 bits? */
static bool is_large_integer(yyjson_val *value)
{
    if (yyjson_is_raw(value))
        return strpbrk(yyjson_get_raw(value), ".eE") == NULL;
    return yyjson_is_uint(value);
}

static pawl_code decode_integer(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                                void *to)
{
    pawl__range range = pawl__integer_range(path->field->kind);
    int64_t     integer;
    bool        is_known = integer_of(value, &integer);
    if (is_known && integer >= range.low && integer <= range.high) {
        pawl__integer_set(path->field->kind, to, integer);
        return PAWL_OK;
    }
    if (!is_known && !is_large_integer(value))
        return refuse_number(decoder, path, "integer", value);
    char what[80];
    snprintf(what, sizeof what, "integer from %" PRId64 " to %" PRId64, range.low, range.high);
    return refuse_number(decoder, path, what, value);
}

static pawl_code decode_double(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                               void *to)
{
    if (yyjson_is_num(value)) {
        *(double *)to = yyjson_get_num(value);
        return PAWL_OK;
    }
    /* An integer of more than 64 bits is kept as text by the parser, and so is 1e999, which exceeds every double. */
    yyjson_val number;
    if (yyjson_is_raw(value) &&
        yyjson_read_number(yyjson_get_raw(value), &number, 0, NULL, NULL) != NULL) {
        *(double *)to = yyjson_get_num(&number);
        return PAWL_OK;
    }
    return refuse_number(decoder, path,
                         yyjson_is_raw(value) ? "number that a double can hold" : "number", value);
}

static pawl_code text_of(pawl__decoder *decoder, const pawl__path *path, const char *what,
                         yyjson_val *value, pawl_text *text)
{
    if (!yyjson_is_str(value))
        return pawl__decode_mismatch(decoder, path, what, value);
    *text           = (pawl_text){.data = yyjson_get_str(value), .size = yyjson_get_len(value)};
    const char *nul = memchr(text->data, '\0', text->size);
    if (nul != NULL)
        return pawl__path_error(path, decoder->error, PAWL_EDECODE, "NUL at byte %zu of the text",
                                (size_t)(nul - text->data));
    return PAWL_OK;
}

static pawl_code decode_text(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    return text_of(decoder, path, "text", value, to);
}

static pawl_code decode_fixed(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                              void *to)
{
    pawl_text text = {0};
    pawl_code code = text_of(decoder, path, "text", value, &text);
    if (code != PAWL_OK)
        return code;
    if (text.size > path->field->fixed_size)
        return pawl__path_error(path, decoder->error, PAWL_EDECODE,
                                "text of %zu bytes, the limit is %zu", text.size,
                                path->field->fixed_size);
    memcpy(to, text.data, text.size); /* `to` is zeroed, so a NUL follows */
    return PAWL_OK;
}

static pawl_code decode_bytes(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                              void *to)
{
    pawl_text text = {0};
    pawl_code code = text_of(decoder, path, "base64", value, &text);
    if (code != PAWL_OK)
        return code;
    code = pawl__base64_decode(text, decoder->arena, to);
    if (code == PAWL_ENOMEM)
        return no_memory(decoder, path);
    return code == PAWL_OK ? code : pawl__decode_mismatch(decoder, path, "base64", value);
}

static pawl_code decode_uuid(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    pawl_text text = {0};
    pawl_code code = text_of(decoder, path, "uuid", value, &text);
    if (code != PAWL_OK)
        return code;
    if (pawl_uuid_parse(text, to, NULL) != PAWL_OK)
        return pawl__decode_mismatch(decoder, path, "uuid of 36 characters", value);
    return PAWL_OK;
}

static pawl_code decode_time(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    pawl_text text = {0};
    int64_t   number;
    if (integer_of(value, &number) && pawl__times_from_number(decoder->flags, number, to))
        return PAWL_OK;
    if (!yyjson_is_str(value))
        return refuse_number(decoder, path, pawl__times_expected(decoder->flags), value);
    pawl_code code = text_of(decoder, path, pawl__times_expected(decoder->flags), value, &text);
    if (code == PAWL_OK && !pawl__times_from_text(decoder->flags, text, to))
        return pawl__decode_mismatch(decoder, path, pawl__times_expected(decoder->flags), value);
    return code;
}

static pawl_code decode_enum(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    const pawl_enum *enumeration = path->field->enumeration();
    char             names[PAWL__ENUM_NAMES_SIZE];
    char             what[PAWL__ENUM_NAMES_SIZE + 20];
    int              found = -1;
    if (yyjson_is_str(value))
        found = pawl__enum_find(
            enumeration, (pawl_text){.data = yyjson_get_str(value), .size = yyjson_get_len(value)});
    if (found >= 0) {
        *(int *)to = found;
        return PAWL_OK;
    }
    snprintf(what, sizeof what, "one of %s", pawl__enum_names(enumeration, names));
    return pawl__decode_mismatch(decoder, path, what, value);
}

static pawl_code decode_json(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                             void *to)
{
    if (pawl__json_has_nul(value))
        return pawl__path_error(path, decoder->error, PAWL_EDECODE, "NUL in a text of the JSON");
    yyjson_alc allocator = pawl__json_allocator(decoder->arena);
    size_t     size;
    char      *text = yyjson_val_write_opts(value, 0, &allocator, &size, NULL);
    if (text == NULL) /* the value was parsed, so only memory can be missing */
        return no_memory(decoder, path);
    *(pawl_text *)to = (pawl_text){.data = text, .size = size};
    return PAWL_OK;
}

typedef pawl_code decode_fn(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                            void *to);

pawl_code pawl__decode_scalar(pawl__decoder *decoder, const pawl__path *path, yyjson_val *value,
                              void *to)
{
    static decode_fn *const functions[PAWL_KIND_RECORD] = {
        [PAWL_KIND_BOOL] = decode_bool,      [PAWL_KIND_INT16] = decode_integer,
        [PAWL_KIND_INT32] = decode_integer,  [PAWL_KIND_INT64] = decode_integer,
        [PAWL_KIND_UINT16] = decode_integer, [PAWL_KIND_UINT32] = decode_integer,
        [PAWL_KIND_UINT64] = decode_integer, [PAWL_KIND_DOUBLE] = decode_double,
        [PAWL_KIND_TEXT] = decode_text,      [PAWL_KIND_FIXED] = decode_fixed,
        [PAWL_KIND_BYTES] = decode_bytes,    [PAWL_KIND_UUID] = decode_uuid,
        [PAWL_KIND_TIME] = decode_time,      [PAWL_KIND_ENUM] = decode_enum,
        [PAWL_KIND_JSON] = decode_json,
    };
    yyjson_val number;
    if (yyjson_is_raw(value) && path->field->kind != PAWL_KIND_JSON &&
        yyjson_read_number(yyjson_get_raw(value), &number, YYJSON_READ_BIGNUM_AS_RAW, NULL, NULL) !=
            NULL)
        value = &number;
    return functions[path->field->kind](decoder, path, value, to);
}
