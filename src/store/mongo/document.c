/* document.c - fields of rows as members of documents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/document.h"

#include <string.h>

/* ---- Members ------------------------------------------------------------- */

void pawl__mongo_put_text(bson_t *document, const char *key, pawl_text text)
{
    (void)bson_append_utf8(document, key, -1, text.data != NULL ? text.data : "", (int)text.size);
}

void pawl__mongo_put_body(bson_t *document, const char *key, pawl_text body)
{
    if (pawl_text_is_valid(body, NULL))
        pawl__mongo_put_text(document, key, body);
    else
        (void)bson_append_binary(document, key, -1, BSON_SUBTYPE_BINARY, (const uint8_t *)body.data,
                                 (uint32_t)body.size);
}

void pawl__mongo_put_uuid(bson_t *document, const char *key, pawl_uuid uuid)
{
    (void)bson_append_binary(document, key, -1, BSON_SUBTYPE_UUID, uuid.bytes, sizeof uuid.bytes);
}

void pawl__mongo_put_int(bson_t *document, const char *key, int64_t integer)
{
    (void)bson_append_int64(document, key, -1, integer);
}

void pawl__mongo_put_op(bson_t *document, const char *key, const char *op, int64_t integer)
{
    bson_t inner;
    (void)bson_append_document_begin(document, key, -1, &inner);
    pawl__mongo_put_int(&inner, op, integer);
    (void)bson_append_document_end(document, &inner);
}

void pawl__mongo_put_exists(bson_t *document, const char *key, bool is_there)
{
    bson_t inner;
    (void)bson_append_document_begin(document, key, -1, &inner);
    (void)bson_append_bool(&inner, "$exists", -1, is_there);
    (void)bson_append_document_end(document, &inner);
}

void pawl__mongo_put_value(bson_t *document, const char *key, const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_NONE: return;
    case PAWL_VALUE_INT: pawl__mongo_put_int(document, key, value->as.integer); return;
    case PAWL_VALUE_TEXT: pawl__mongo_put_text(document, key, value->as.text); return;
    case PAWL_VALUE_UUID: pawl__mongo_put_uuid(document, key, value->as.uuid); return;
    case PAWL_VALUE_TIME: pawl__mongo_put_int(document, key, value->as.time); return;
    }
}

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

bool pawl__mongo_get_uuid(const bson_t *document, const char *key, pawl_uuid *uuid)
{
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && get_uuid(&at, uuid);
}

pawl_text pawl__mongo_get_text(const bson_t *document, const char *key)
{
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) ? get_text(&at) : (pawl_text){.size = 0};
}

/* ---- Lists --------------------------------------------------------------- */

void pawl__mongo_list_begin(bson_t *document, const char *key, const char *op,
                            pawl__mongo_list *list)
{
    list->count = 0;
    list->key   = op;
    (void)bson_append_document_begin(document, key, -1, &list->outer);
    (void)bson_append_array_begin(&list->outer, op, -1, &list->items);
}

const char *pawl__mongo_list_key(pawl__mongo_list *list)
{
    const char *key = NULL;
    (void)bson_uint32_to_string(list->count++, &key, list->text, sizeof list->text);
    return key;
}

void pawl__mongo_list_end(bson_t *document, pawl__mongo_list *list)
{
    (void)bson_append_array_end(&list->outer, &list->items);
    (void)bson_append_document_end(document, &list->outer);
}

/* ---- Rows ---------------------------------------------------------------- */

static void encode_text(bson_t *document, const pawl__mongo_field *field, const void *at)
{
    const pawl_text *text = at;
    if (text->size == 0)
        return;
    if (field->type == PAWL__MONGO_BODY)
        pawl__mongo_put_body(document, field->key, *text);
    else
        pawl__mongo_put_text(document, field->key, *text);
}

static void encode_field(bson_t *document, const pawl__mongo_field *field, const void *at)
{
    switch (field->type) {
    case PAWL__MONGO_INT: pawl__mongo_put_int(document, field->key, *(const int64_t *)at); return;
    case PAWL__MONGO_INT32: pawl__mongo_put_int(document, field->key, *(const int32_t *)at); return;
    case PAWL__MONGO_BOOL:
        (void)bson_append_bool(document, field->key, -1, *(const bool *)at);
        return;
    case PAWL__MONGO_UUID:
        if (!pawl_uuid_is_zero(*(const pawl_uuid *)at))
            pawl__mongo_put_uuid(document, field->key, *(const pawl_uuid *)at);
        return;
    case PAWL__MONGO_WORD:
        pawl__mongo_put_text(document, field->key, pawl_text_of(field->words[*(const int *)at]));
        return;
    case PAWL__MONGO_TEXT:
    case PAWL__MONGO_BODY: encode_text(document, field, at); return;
    }
}

bool pawl__mongo_encode(bson_t *document, const pawl__mongo_field *fields, const void *row)
{
    for (; fields->key != NULL; fields++)
        encode_field(document, fields, (const char *)row + fields->offset);
    return document->len < BSON_MAX_SIZE;
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
    }
    return true;
}

/* Members come in the order of the fields, as a rule: each look goes on behind the last. */
bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_field *fields, pawl_arena *arena,
                        void *row)
{
    bson_iter_t at;
    for (; fields->key != NULL; fields++)
        if (bson_iter_init_find(&at, document, fields->key) &&
            !decode_field(&at, fields, arena, (char *)row + fields->offset))
            return false;
    return true;
}
