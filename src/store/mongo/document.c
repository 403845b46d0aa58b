/* document.c - fields of rows as members of documents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/document.h"

#include <assert.h>
#include <string.h>

/* ---- Writing ------------------------------------------------------------- */

bool pawl__mongo_is_empty(pawl__mongo_type type, const void *at)
{
    switch (type) {
    case PAWL__MONGO_INT: return *(const int64_t *)at == 0;
    case PAWL__MONGO_INT32: return *(const int32_t *)at == 0;
    case PAWL__MONGO_BOOL:
    case PAWL__MONGO_FLAG: return !*(const bool *)at;
    case PAWL__MONGO_UUID: return pawl_uuid_is_zero(*(const pawl_uuid *)at);
    case PAWL__MONGO_VALUE: return ((const pawl_value *)at)->type == PAWL_VALUE_NONE;
    case PAWL__MONGO_TEXT:
    case PAWL__MONGO_BODY: return ((const pawl_text *)at)->size == 0;
    default: return false;
    }
}

static bool put_text(bson_t *document, const char *key, int key_size, pawl_text text)
{
    return bson_append_utf8(document, key, key_size, text.data != NULL ? text.data : "",
                            (int)text.size);
}

static bool put_correlation(bson_t *document, const char *key, int key_size,
                            const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_TEXT: return put_text(document, key, key_size, value->as.text);
    case PAWL_VALUE_UUID:
        return pawl__mongo_put_value(document, key, key_size, PAWL__MONGO_UUID, NULL,
                                     &value->as.uuid);
    case PAWL_VALUE_TIME: return bson_append_int64(document, key, key_size, value->as.time);
    case PAWL_VALUE_INT: return bson_append_int64(document, key, key_size, value->as.integer);
    default: return true;
    }
}

bool pawl__mongo_put_value(bson_t *document, const char *key, int key_size, pawl__mongo_type type,
                           const char *const *words, const void *at)
{
    const pawl_text *text = at;
    switch (type) {
    case PAWL__MONGO_INT: return bson_append_int64(document, key, key_size, *(const int64_t *)at);
    case PAWL__MONGO_INT32: return bson_append_int64(document, key, key_size, *(const int32_t *)at);
    case PAWL__MONGO_BOOL: return bson_append_bool(document, key, key_size, *(const bool *)at);
    case PAWL__MONGO_UUID:
        return bson_append_binary(document, key, key_size, BSON_SUBTYPE_UUID, at,
                                  sizeof(pawl_uuid));
    case PAWL__MONGO_WORD:
        return put_text(document, key, key_size, pawl_text_of(words[*(const int *)at]));
    case PAWL__MONGO_BODY:
        if (!pawl_text_is_valid(*text, NULL))
            return bson_append_binary(document, key, key_size, BSON_SUBTYPE_BINARY,
                                      (const uint8_t *)text->data, (uint32_t)text->size);
        return put_text(document, key, key_size, *text);
    case PAWL__MONGO_TEXT: return put_text(document, key, key_size, *text);
    case PAWL__MONGO_JSON: return pawl__mongo_put_json(document, key, key_size, *text);
    case PAWL__MONGO_VALUE: return put_correlation(document, key, key_size, at);
    case PAWL__MONGO_FLAG: break;
    }
    return false;
}

/* Numbers and truths are written whatever they are. */
bool pawl__mongo_encode(bson_t *document, const pawl__mongo_field *fields, const void *row)
{
    bool is_ok = true;
    for (; fields->key != NULL; fields++) {
        const void *at = (const char *)row + fields->offset;
        bool is_number = fields->type == PAWL__MONGO_INT || fields->type == PAWL__MONGO_INT32 ||
                         fields->type == PAWL__MONGO_BOOL;
        if (is_number || !pawl__mongo_is_empty(fields->type, at))
            is_ok &=
                pawl__mongo_put_value(document, fields->key, -1, fields->type, fields->words, at);
    }
    return is_ok && document->len < BSON_MAX_SIZE;
}

const pawl__mongo_field *pawl__mongo_field_of(const pawl__mongo_field *fields, pawl_text name)
{
    while (fields->key != NULL && !pawl_text_equal(pawl_text_of(fields->key), name))
        fields++;
    assert(fields->key != NULL);
    return fields;
}

/* ---- Reading ------------------------------------------------------------- */

static bool get_int(const bson_iter_t *at, int64_t *integer)
{
    if (!BSON_ITER_HOLDS_NUMBER(at))
        return false;
    *integer = bson_iter_as_int64(at);
    return true;
}

static bool get_uuid(const bson_iter_t *at, pawl_uuid *uuid)
{
    const uint8_t *data = NULL;
    uint32_t       size = 0;
    bson_subtype_t subtype;
    if (!BSON_ITER_HOLDS_BINARY(at))
        return false;
    bson_iter_binary(at, &subtype, &size, &data);
    if (size != sizeof uuid->bytes)
        return false;
    memcpy(uuid->bytes, data, sizeof uuid->bytes);
    return true;
}

/* A string, or the bytes of a body that is none. */
static pawl_text get_text(const bson_iter_t *at)
{
    const uint8_t *data = NULL;
    uint32_t       size = 0;
    bson_subtype_t subtype;
    if (BSON_ITER_HOLDS_UTF8(at)) {
        const char *text = bson_iter_utf8(at, &size);
        return (pawl_text){.data = text, .size = size};
    }
    if (BSON_ITER_HOLDS_BINARY(at))
        bson_iter_binary(at, &subtype, &size, &data);
    return (pawl_text){.data = (const char *)data, .size = size};
}

bool pawl__mongo_get_int(const bson_t *document, const char *key, int64_t *integer)
{
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && get_int(&at, integer);
}

pawl_text pawl__mongo_get_text(const bson_t *document, const char *key)
{
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) ? get_text(&at) : (pawl_text){.size = 0};
}

static void decode_word(const bson_iter_t *at, const char *const *words, int *out)
{
    pawl_text word = get_text(at);
    for (int i = 0; words[i] != NULL; i++)
        if (pawl_text_equal(word, pawl_text_of(words[i])))
            *out = i;
}

static bool decode_field(const bson_iter_t *at, const pawl__mongo_field *field, pawl_arena *arena,
                         void *out)
{
    int64_t integer = 0;
    switch (field->type) {
    case PAWL__MONGO_INT: (void)get_int(at, out); return true;
    case PAWL__MONGO_INT32:
        if (get_int(at, &integer))
            *(int32_t *)out = (int32_t)integer;
        return true;
    case PAWL__MONGO_BOOL: *(bool *)out = bson_iter_as_bool(at); return true;
    case PAWL__MONGO_UUID: (void)get_uuid(at, out); return true;
    case PAWL__MONGO_WORD: decode_word(at, field->words, out); return true;
    case PAWL__MONGO_TEXT:
    case PAWL__MONGO_BODY:
        *(pawl_text *)out = pawl_arena_text(arena, get_text(at));
        return ((const pawl_text *)out)->data != NULL;
    case PAWL__MONGO_JSON:
        *(pawl_text *)out = pawl__mongo_get_json(at, arena);
        return ((const pawl_text *)out)->data != NULL;
    case PAWL__MONGO_VALUE:
    case PAWL__MONGO_FLAG: break;
    }
    return true;
}

/* "_id.endpoint" is a member of a member. */
static bool find(const bson_t *document, const char *key, bson_iter_t *at)
{
    bson_iter_t outer;
    return strchr(key, '.') == NULL
               ? bson_iter_init_find(at, document, key)
               : bson_iter_init(&outer, document) && bson_iter_find_descendant(&outer, key, at);
}

bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_field *fields, pawl_arena *arena,
                        void *row)
{
    bson_iter_t at;
    for (; fields->key != NULL; fields++)
        if (find(document, fields->key, &at) &&
            !decode_field(&at, fields, arena, (char *)row + fields->offset))
            return false;
    return true;
}
