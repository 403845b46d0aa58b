/* document.c - fields of rows as members of documents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/template.h"

#include "base/calm.h"

#include <assert.h>
#include <string.h>

/* ---- Writing ------------------------------------------------------------- */

bool pawl__mongo_is_empty(int wire, const void *at)
{
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: return *(const int64_t *)at == 0;
    case PAWL__WIRE_INT32: return *(const int32_t *)at == 0;
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: return !*(const bool *)at;
    case PAWL__WIRE_UUID: return pawl_uuid_is_zero(*(const pawl_uuid *)at);
    case PAWL__WIRE_VALUE: return ((const pawl_value *)at)->type == PAWL_VALUE_NONE;
    case PAWL__WIRE_TEXT:
    case PAWL__WIRE_ERROR_TEXT:
    case PAWL__WIRE_BYTES: return ((const pawl_text *)at)->size == 0;
    default: return false;
    }
}

pawl_text pawl__mongo_word(int wire, const void *at)
{
    switch (wire) {
    case PAWL__WIRE_STATE: return pawl__state_words[*(const pawl_outbox_state *)at];
    case PAWL__WIRE_OUTCOME: return pawl__outcome_words[*(const pawl_attempt_outcome *)at];
    case PAWL__WIRE_RESET: return pawl__reset_word(*(const pawl_outbox_action *)at);
    default: return pawl__inbox_words[*(const pawl_inbox_outcome *)at];
    }
}

static bool put_text(bson_t *document, const char *key, int key_size, pawl_text text)
{
    return bson_append_utf8(document, key, key_size, text.data != NULL ? text.data : "",
                            (int)text.size);
}

/* Replaces invalid UTF-8, which the server would refuse, by '?', in the document itself: the text lies before two zero
 * bytes, its own end and that of the document. */
static bool put_error_text(bson_t *document, const char *key, int key_size, pawl_text text)
{
    bool is_put = put_text(document, key, key_size, text);
    if (is_put && !pawl_text_is_valid(text, NULL))
        pawl__make_utf8((char *)(uintptr_t)bson_get_data(document) + document->len - 2 - text.size,
                        text.size);
    return is_put;
}

static bool put_correlation(bson_t *document, const char *key, int key_size,
                            const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_TEXT: return put_text(document, key, key_size, value->as.text);
    case PAWL_VALUE_UUID:
        return pawl__mongo_put_value(document, key, key_size, PAWL__WIRE_UUID, &value->as.uuid);
    case PAWL_VALUE_TIME: return bson_append_int64(document, key, key_size, value->as.time);
    case PAWL_VALUE_INT: return bson_append_int64(document, key, key_size, value->as.integer);
    default: return true;
    }
}

bool pawl__mongo_put_value(bson_t *document, const char *key, int key_size, int wire,
                           const void *at)
{
    const pawl_text *text = at;
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: return bson_append_int64(document, key, key_size, *(const int64_t *)at);
    case PAWL__WIRE_INT32: return bson_append_int64(document, key, key_size, *(const int32_t *)at);
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: return bson_append_bool(document, key, key_size, *(const bool *)at);
    case PAWL__WIRE_UUID:
        return bson_append_binary(document, key, key_size, BSON_SUBTYPE_UUID, at,
                                  sizeof(pawl_uuid));
    case PAWL__WIRE_BYTES:
        if (!pawl_text_is_valid(*text, NULL))
            return bson_append_binary(document, key, key_size, BSON_SUBTYPE_BINARY,
                                      (const uint8_t *)text->data, (uint32_t)text->size);
        return put_text(document, key, key_size, *text);
    case PAWL__WIRE_TEXT: return put_text(document, key, key_size, *text);
    case PAWL__WIRE_ERROR_TEXT: return put_error_text(document, key, key_size, *text);
    case PAWL__WIRE_JSON: return pawl__mongo_put_json(document, key, key_size, *text);
    case PAWL__WIRE_VALUE: return put_correlation(document, key, key_size, at);
    default: return put_text(document, key, key_size, pawl__mongo_word(wire, at));
    }
}

/* ---- Names --------------------------------------------------------------- */

static const char *key_of(const char *name)
{
    static const char *const before[] = {"message.", "event.", "entry.", "counters."};
    if (strcmp(name, "message.id") == 0)
        return "message_id";
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        if (strncmp(name, before[i], strlen(before[i])) == 0)
            return name + strlen(before[i]);
    return name;
}

static const char *key_in(const pawl__mongo_table *table, const char *name)
{
    return table->id != NULL && strcmp(name, table->id) == 0 ? "_id" : key_of(name);
}

/* Numbers and booleans are written even if they are 0 or false. */
bool pawl__mongo_encode(bson_t *document, const pawl__field_list *fields, const void *row)
{
    bool is_ok = true;
    for (size_t i = 0; i < fields->count; i++) {
        const pawl__field *field     = &fields->items[i];
        const void        *at        = (const char *)row + field->offset;
        bool               is_number = field->wire <= PAWL__WIRE_TIME;
        if (field->form != PAWL__FORM_ASIDE &&
            (is_number || !pawl__mongo_is_empty(field->wire, at)))
            is_ok &= pawl__mongo_put_value(document, key_of(field->name), -1, field->wire, at);
    }
    return is_ok && document->len < BSON_MAX_SIZE;
}

/* The type of a member that every document has; NULL: the member is optional. */
static const char *type_of(const pawl__field *field, bool is_keyed)
{
    switch (field->form) {
    case PAWL__FORM_ANY:
        if (field->wire == PAWL__WIRE_BOOL || field->wire == PAWL__WIRE_FLAG)
            return "boolean";
        return field->wire <= PAWL__WIRE_TIME ? "number" : NULL;
    case PAWL__FORM_NAME:
    case PAWL__FORM_ID:
    case PAWL__FORM_PARTITION:
    case PAWL__FORM_STREAM: return is_keyed ? NULL : "string";
    default: return NULL;
    }
}

bool pawl__mongo_put_rule(bson_t *command, const pawl__field_list *fields, bool is_keyed)
{
    bson_t   names = BSON_INITIALIZER, types = BSON_INITIALIZER;
    uint32_t count = 0;
    bool     is_ok = true;
    for (size_t i = 0; i < fields->count; i++) {
        const char *type = type_of(&fields->items[i], is_keyed);
        if (type != NULL)
            is_ok &= pawl__mongo_push(&names, &count, "%c", key_of(fields->items[i].name)) &&
                     pawl__mongo_put(&types, "%k: {type: %c}", key_of(fields->items[i].name), type);
    }
    is_ok &= pawl__mongo_put(command,
                             "validator: {$jsonSchema: {required: %a, properties: %d}}, "
                             "validationLevel: 'moderate', validationAction: 'error'",
                             &names, &types);
    bson_destroy(&types);
    bson_destroy(&names);
    return is_ok;
}

bool pawl__mongo_find_by_name(const bson_t *listed, const char *name, bson_t *found)
{
    bson_iter_t at;
    for (bson_iter_init(&at, listed); bson_iter_next(&at);) {
        pawl__mongo_part(listed, bson_iter_key(&at), found);
        if (pawl_text_equal(pawl__mongo_get_text(found, "name"), pawl_text_of(name)))
            return true;
    }
    bson_init(found);
    return false;
}

const pawl__field *pawl__mongo_field_in(const pawl__mongo_table *table, pawl_text key)
{
    const pawl__field_list *const lists[] = {table->fields, table->more};
    for (size_t at = 0; at < 2 && lists[at] != NULL; at++)
        for (size_t i = 0; i < lists[at]->count; i++)
            if (lists[at]->items[i].name != NULL &&
                pawl_text_equal(pawl_text_of(key_in(table, lists[at]->items[i].name)), key))
                return &lists[at]->items[i];
    assert(false);
    return NULL;
}

const pawl__field *pawl__mongo_field_of(const pawl__field_list *fields, pawl_text key)
{
    return pawl__mongo_field_in(&(pawl__mongo_table){.fields = fields}, key);
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

/* Reads a string, or a body that is stored as bytes. */
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

static void get_word(const bson_iter_t *at, const pawl_text *words, int count, int *out)
{
    int found = pawl__find_word(get_text(at), words, count);
    *out      = found < 0 ? *out : found;
}

bool pawl__mongo_get_value(const bson_iter_t *at, int wire, pawl_arena *arena, void *out)
{
    int64_t integer = 0;
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: (void)get_int(at, out); return true;
    case PAWL__WIRE_INT32:
        if (get_int(at, &integer))
            *(int32_t *)out = (int32_t)integer;
        return true;
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: *(bool *)out = bson_iter_as_bool(at); return true;
    case PAWL__WIRE_UUID: (void)get_uuid(at, out); return true;
    case PAWL__WIRE_STATE: get_word(at, pawl__state_words, PAWL__STATE_COUNT, out); return true;
    case PAWL__WIRE_OUTCOME:
        get_word(at, pawl__outcome_words, PAWL__OUTCOME_COUNT, out);
        return true;
    default: break;
    }
    *(pawl_text *)out = wire == PAWL__WIRE_JSON ? pawl__mongo_get_json(at, arena)
                                                : pawl_arena_text(arena, get_text(at));
    return ((const pawl_text *)out)->data != NULL;
}

/* "_id.endpoint" is a member of a sub-document. */
static bool find(const bson_t *document, const char *key, bson_iter_t *at)
{
    bson_iter_t outer;
    return strchr(key, '.') == NULL
               ? bson_iter_init_find(at, document, key)
               : bson_iter_init(&outer, document) && bson_iter_find_descendant(&outer, key, at);
}

bool pawl__mongo_decode(const bson_t *document, const pawl__mongo_table *table, pawl_arena *arena,
                        void *row)
{
    const pawl__field_list *const lists[] = {table->fields, table->more};
    bson_iter_t                   at;
    for (size_t i = 0; i < 2 && lists[i] != NULL; i++)
        for (const pawl__field *field = lists[i]->items; field < lists[i]->items + lists[i]->count;
             field++)
            if (field->name != NULL && find(document, key_in(table, field->name), &at) &&
                !pawl__mongo_get_value(&at, field->wire, arena, (char *)row + field->offset))
                return false;
    return true;
}
