/* json.c - converts the state of sagas between JSON and a sub-document that people can read and query.
 *
 * A value that the other format lacks has a special form there:
 *
 *     a date, an object id ... of the document,  {"$bson": "..."}, the bytes of {"v": value} as hex
 *     or a string of it that is not UTF-8
 *     a number of the JSON beyond 64 bits, or    code, Code("18446744073709551616"); an older pawl wrote
 *     of more digits than a double keeps         {"$number": "18446744073709551616"}, which MongoDB 4.4 refuses
 *
 * So members that this program does not know survive load and save, whatever their type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/document.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#define FOREIGN "$bson"
#define NUMBER "$number"
#define DEPTH_MAX PAWL__MONGO_DEPTH_MAX

/* ---- From JSON ----------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool append_members(bson_t *document, yyjson_val *object, int depth);

/* Appends the value of {"v": ...}, which the text has as hex digits. */
static bool append_foreign(bson_t *document, const char *key, int key_size, const char *hex,
                           size_t size)
{
    uint8_t    *bytes = bson_malloc(size / 2 + 1);
    bson_t      inner;
    bson_iter_t at;
    bool        is_ok = size % 2 == 0;
    for (size_t i = 0; is_ok && i < size / 2; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        is_ok    = high >= 0 && low >= 0;
        bytes[i] = (uint8_t)((high * 16 + low) & 0xFF);
    }
    /* bson_validate refuses strings that are not UTF-8; the iterator has checked the bounds. */
    is_ok = is_ok && bson_init_static(&inner, bytes, size / 2) &&
            bson_iter_init_find(&at, &inner, "v") &&
            (BSON_ITER_HOLDS_UTF8(&at) || bson_validate(&inner, BSON_VALIDATE_NONE, NULL)) &&
            bson_append_iter(document, key, key_size, &at);
    bson_free(bytes);
    return is_ok;
}

static bool append_array(bson_t *document, const char *key, int key_size, yyjson_val *array,
                         int depth);

static bool append_object(bson_t *document, const char *key, int key_size, yyjson_val *object,
                          int depth)
{
    bson_t      inner;
    yyjson_val *foreign = yyjson_obj_size(object) == 1 ? yyjson_obj_get(object, FOREIGN) : NULL;
    if (yyjson_is_str(foreign) &&
        append_foreign(document, key, key_size, yyjson_get_str(foreign), yyjson_get_len(foreign)))
        return true;
    bool is_ok = bson_append_document_begin(document, key, key_size, &inner) &&
                 append_members(&inner, object, depth);
    return bson_append_document_end(document, &inner) && is_ok;
}

/* Can a BSON integer or double hold the number? A double keeps any DBL_DIG digits, and more if they are its own
 * shortest text. */
static bool is_held(const char *text, size_t size, yyjson_val *number)
{
    size_t digits = 0, written_size = 0;
    if (yyjson_read_number(text, number, YYJSON_READ_BIGNUM_AS_RAW, NULL, NULL) != text + size ||
        yyjson_is_raw(number))
        return false;
    if (!yyjson_is_real(number))
        return yyjson_is_sint(number) || yyjson_get_uint(number) <= INT64_MAX;
    for (const char *c = text; *c != '\0' && *c != 'e' && *c != 'E'; c++)
        digits += *c >= '0' && *c <= '9';
    if (digits <= DBL_DIG && isnormal(yyjson_get_real(number)))
        return true;
    char *written = yyjson_val_write(number, YYJSON_WRITE_NOFLAG, &written_size);
    bool  is_same = written_size == size && memcmp(written, text, size) == 0;
    bson_free(written);
    return is_same;
}

static bool append_number(bson_t *document, const char *key, int key_size, const char *text,
                          size_t size)
{
    yyjson_val number;
    if (!is_held(text, size, &number))
        return bson_append_code(document, key, key_size, text);
    return yyjson_is_real(&number)
               ? bson_append_double(document, key, key_size, yyjson_get_real(&number))
               : bson_append_int64(document, key, key_size, yyjson_get_sint(&number));
}

static bool append_value(bson_t *document, const char *key, int key_size, yyjson_val *value,
                         int depth)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL: return bson_append_null(document, key, key_size);
    case YYJSON_TYPE_BOOL: return bson_append_bool(document, key, key_size, yyjson_get_bool(value));
    case YYJSON_TYPE_STR:
        return bson_append_utf8(document, key, key_size, yyjson_get_str(value),
                                (int)yyjson_get_len(value));
    case YYJSON_TYPE_RAW:
        return append_number(document, key, key_size, yyjson_get_raw(value), yyjson_get_len(value));
    case YYJSON_TYPE_ARR: return append_array(document, key, key_size, value, depth + 1);
    case YYJSON_TYPE_OBJ: return append_object(document, key, key_size, value, depth + 1);
    default: return false;
    }
}

static bool append_array(bson_t *document, const char *key, int key_size, yyjson_val *array,
                         int depth)
{
    bson_t      inner;
    char        text[16];
    const char *name  = NULL;
    bool        is_ok = depth < DEPTH_MAX;
    size_t      i, count;
    yyjson_val *item;
    if (!is_ok || !bson_append_array_begin(document, key, key_size, &inner))
        return false;
    yyjson_arr_foreach(array, i, count, item)
    {
        size_t size = bson_uint32_to_string((uint32_t)i, &name, text, sizeof text);
        is_ok       = is_ok && append_value(&inner, name, (int)size, item, depth);
    }
    return bson_append_array_end(document, &inner) && is_ok;
}

static bool append_members(bson_t *document, yyjson_val *object, int depth)
{
    bool        is_ok = depth < DEPTH_MAX;
    size_t      i, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, count, key, value)
    {
        size_t size = yyjson_get_len(key);
        is_ok       = is_ok && memchr(yyjson_get_str(key), '\0', size) == NULL &&
                append_value(document, yyjson_get_str(key), (int)size, value, depth);
    }
    return is_ok;
}

/* libbson ends the process when memory runs out, so false always means that the text cannot be stored. */
bool pawl__mongo_put_json(bson_t *document, const char *key, int key_size, pawl_text json)
{
    bson_t          inner;
    yyjson_read_err why;
    pawl_text       text = json.size != 0 ? json : PAWL_TEXT("{}");
    yyjson_doc     *doc  = yyjson_read_opts((char *)(uintptr_t)text.data, text.size,
                                            YYJSON_READ_NUMBER_AS_RAW, NULL, &why);
    if (doc == NULL && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        abort();
    yyjson_val *root = yyjson_doc_get_root(doc);
    bool is_ok = yyjson_is_obj(root) && bson_append_document_begin(document, key, key_size, &inner);
    if (is_ok) {
        is_ok = append_members(&inner, root, 1);
        is_ok = bson_append_document_end(document, &inner) && is_ok;
    }
    yyjson_doc_free(doc);
    return is_ok;
}

/* ---- To JSON ------------------------------------------------------------- */

static yyjson_mut_val *value_of(yyjson_mut_doc *doc, const bson_iter_t *at, int depth);

static yyjson_mut_val *foreign_of(yyjson_mut_doc *doc, const bson_iter_t *at)
{
    static const char digits[] = "0123456789abcdef";
    bson_t            inner    = BSON_INITIALIZER;
    yyjson_mut_val   *object   = yyjson_mut_obj(doc);
    bool              is_ok    = bson_append_iter(&inner, "v", 1, at);
    const uint8_t    *bytes    = bson_get_data(&inner);
    char             *hex      = bson_malloc((size_t)inner.len * 2 + 1);
    for (size_t i = 0; i < inner.len; i++) {
        hex[2 * i]     = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    yyjson_mut_val *text = yyjson_mut_strncpy(doc, hex, (size_t)inner.len * 2);
    is_ok                = is_ok && yyjson_mut_obj_add(object, yyjson_mut_str(doc, FOREIGN), text);
    bson_free(hex);
    bson_destroy(&inner);
    return is_ok ? object : NULL;
}

static yyjson_mut_val *object_of(yyjson_mut_doc *doc, const bson_iter_t *at, int depth)
{
    bson_iter_t     inner;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    bool            is_ok  = object != NULL && bson_iter_recurse(at, &inner);
    while (is_ok && bson_iter_next(&inner)) {
        yyjson_mut_val *key =
            yyjson_mut_strncpy(doc, bson_iter_key(&inner), bson_iter_key_len(&inner));
        is_ok = yyjson_mut_obj_add(object, key, value_of(doc, &inner, depth));
    }
    return is_ok ? object : NULL;
}

static yyjson_mut_val *array_of(yyjson_mut_doc *doc, const bson_iter_t *at, int depth)
{
    bson_iter_t     inner;
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    bool            is_ok = array != NULL && bson_iter_recurse(at, &inner);
    while (is_ok && bson_iter_next(&inner))
        is_ok = yyjson_mut_arr_append(array, value_of(doc, &inner, depth));
    return is_ok ? array : NULL;
}

/* A number that BSON cannot store otherwise, as its text; NULL: another value. */
static yyjson_mut_val *number_of(yyjson_mut_doc *doc, const char *text, uint32_t size)
{
    yyjson_val probe;
    bool       is_number =
        yyjson_read_number(text, &probe, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL) == text + size;
    return is_number && !is_held(text, size, &probe) ? yyjson_mut_rawncpy(doc, text, size) : NULL;
}

/* {"$number": "..."} */
static yyjson_mut_val *old_number_of(yyjson_mut_doc *doc, const bson_iter_t *at)
{
    bson_iter_t inner;
    uint32_t    size = 0;
    if (!bson_iter_recurse(at, &inner) || !bson_iter_next(&inner) ||
        strcmp(bson_iter_key(&inner), NUMBER) != 0 || !BSON_ITER_HOLDS_UTF8(&inner))
        return NULL;
    const char *text = bson_iter_utf8(&inner, &size);
    return bson_iter_next(&inner) ? NULL : number_of(doc, text, size);
}

static yyjson_mut_val *value_of(yyjson_mut_doc *doc, const bson_iter_t *at, int depth)
{
    uint32_t        size   = 0;
    const char     *text   = NULL;
    yyjson_mut_val *number = NULL;
    if (depth > DEPTH_MAX)
        return NULL;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_NULL: return yyjson_mut_null(doc);
    case BSON_TYPE_BOOL: return yyjson_mut_bool(doc, bson_iter_bool(at));
    case BSON_TYPE_INT32: return yyjson_mut_sint(doc, bson_iter_int32(at));
    case BSON_TYPE_INT64: return yyjson_mut_sint(doc, bson_iter_int64(at));
    case BSON_TYPE_DOUBLE:
        return isfinite(bson_iter_double(at)) ? yyjson_mut_real(doc, bson_iter_double(at))
                                              : foreign_of(doc, at);
    case BSON_TYPE_UTF8:
        text = bson_iter_utf8(at, &size);
        return pawl_text_is_valid((pawl_text){.data = text, .size = size}, NULL)
                   ? yyjson_mut_strncpy(doc, text, size)
                   : foreign_of(doc, at);
    case BSON_TYPE_CODE:
        text   = bson_iter_code(at, &size);
        number = number_of(doc, text, size);
        return number != NULL ? number : foreign_of(doc, at);
    case BSON_TYPE_DOCUMENT:
        number = old_number_of(doc, at);
        return number != NULL ? number : object_of(doc, at, depth + 1);
    case BSON_TYPE_ARRAY: return array_of(doc, at, depth + 1);
    default: return foreign_of(doc, at);
    }
}

/* A member name that is not UTF-8 is copied unchanged: the result is not JSON, and only this saga fails. */
pawl_text pawl__mongo_get_json(const bson_iter_t *at, pawl_arena *arena)
{
    yyjson_mut_doc *doc  = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc != NULL ? object_of(doc, at, 1) : NULL;
    size_t          size = 0;
    char           *text =
        root != NULL ? yyjson_mut_val_write(root, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &size) : NULL;
    pawl_text out = {.size = 0};
    if (text != NULL)
        out = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    bson_free(text);
    yyjson_mut_doc_free(doc);
    return out;
}
