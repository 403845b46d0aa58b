/* copy.c - deep copies of records, and comparison of two.
 *
 * A copy takes two steps: the bytes are copied, then each pointer in them is replaced by a pointer to a copy of its
 * target, nested records included.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

static pawl_code deepen_record(const pawl_record *record, void *structure, size_t depth,
                               pawl_arena *arena);

static pawl_code deepen_text(pawl_text *text, pawl_arena *arena)
{
    if (text->size != 0 && text->data == NULL)
        return PAWL_EINVAL;
    *text = text->size != 0 ? pawl_arena_text(arena, *text) : (pawl_text){.data = "", .size = 0};
    return text->data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code deepen_bytes(pawl_bytes *bytes, pawl_arena *arena)
{
    if (bytes->size != 0 && bytes->data == NULL)
        return PAWL_EINVAL;
    bytes->data = bytes->size != 0 ? pawl_arena_copy(arena, bytes->data, bytes->size) : NULL;
    return bytes->data != NULL || bytes->size == 0 ? PAWL_OK : PAWL_ENOMEM;
}

static bool has_pointers(pawl_kind kind)
{
    return kind == PAWL_KIND_TEXT || kind == PAWL_KIND_JSON || kind == PAWL_KIND_BYTES ||
           kind == PAWL_KIND_RECORD;
}

static pawl_code deepen_item(const pawl_field *field, void *at, size_t depth, pawl_arena *arena)
{
    switch (field->kind) {
    case PAWL_KIND_TEXT:
    case PAWL_KIND_JSON: return deepen_text(at, arena);
    case PAWL_KIND_BYTES: return deepen_bytes(at, arena);
    case PAWL_KIND_RECORD: return deepen_record(field->record(), at, depth + 1, arena);
    default: return PAWL_OK;
    }
}

static pawl_code deepen_list(const pawl_field *field, void *at, size_t depth, pawl_arena *arena)
{
    pawl__list list = pawl__list_get(at);
    if (list.count > PAWL_LIST_COUNT_MAX)
        return PAWL_ELIMIT;
    if (list.count != 0 && list.items == NULL)
        return PAWL_EINVAL;
    if (list.count == 0)
        list.items = NULL;
    else if ((list.items = pawl_arena_copy(arena, list.items, list.count * field->item_size)) ==
             NULL)
        return PAWL_ENOMEM;
    pawl__list_set(at, list);
    for (size_t i = 0; has_pointers(field->kind) && i < list.count; i++) {
        pawl_code code = deepen_item(field, list.items + i * field->item_size, depth, arena);
        if (code != PAWL_OK)
            return code;
    }
    return PAWL_OK;
}

static pawl_code deepen_optional(const pawl_field *field, void *at, size_t depth, pawl_arena *arena)
{
    if (field->kind == PAWL_KIND_RECORD) {
        void *nested = pawl__pointer_get(at);
        if (nested == NULL)
            return PAWL_OK;
        nested = pawl_arena_copy(arena, nested, field->item_size);
        pawl__pointer_set(at, nested);
        return nested != NULL ? deepen_item(field, nested, depth, arena) : PAWL_ENOMEM;
    }
    void *value = (char *)at + field->value_offset;
    if (*(bool *)at)
        return deepen_item(field, value, depth, arena);
    memset(value, 0, field->item_size); /* an unset optional may hold any bytes: clear them */
    return PAWL_OK;
}

static pawl_code deepen_field(const pawl_field *field, void *at, size_t depth, pawl_arena *arena)
{
    switch (field->shape) {
    case PAWL_LIST: return deepen_list(field, at, depth, arena);
    case PAWL_OPTIONAL: return deepen_optional(field, at, depth, arena);
    case PAWL_ONE: break;
    }
    return deepen_item(field, at, depth, arena);
}

static pawl_code deepen_record(const pawl_record *record, void *structure, size_t depth,
                               pawl_arena *arena)
{
    if (depth > PAWL_RECORD_DEPTH_MAX)
        return PAWL_ELIMIT;
    pawl_code code = deepen_text(structure, arena); /* pawl_extra */
    for (size_t i = 0; code == PAWL_OK && i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        code = deepen_field(field, (char *)structure + field->offset, depth, arena);
    }
    return code;
}

pawl_code pawl_record_copy(const pawl_record *record, const void *from, void *to, pawl_arena *arena)
{
    if (to != from)
        memcpy(to, from, record->size);
    return deepen_record(record, to, 1, arena);
}

static bool equal_records(const pawl_record *record, const void *left, const void *right,
                          size_t depth);

static bool equal_bytes(const pawl_bytes *left, const pawl_bytes *right)
{
    return left->size == right->size &&
           (left->size == 0 || memcmp(left->data, right->data, left->size) == 0);
}

static bool equal_items(const pawl_field *field, const void *left, const void *right, size_t depth)
{
    switch (field->kind) {
    case PAWL_KIND_TEXT:
    case PAWL_KIND_JSON:
        return pawl_text_equal(*(const pawl_text *)left, *(const pawl_text *)right);
    case PAWL_KIND_BYTES: return equal_bytes(left, right);
    case PAWL_KIND_FIXED:
        return pawl_text_equal(pawl__fixed_text(field, left), pawl__fixed_text(field, right));
    case PAWL_KIND_RECORD: return equal_records(field->record(), left, right, depth + 1);
    default: return memcmp(left, right, field->item_size) == 0;
    }
}

static bool equal_lists(const pawl_field *field, const void *left, const void *right, size_t depth)
{
    pawl__list first  = pawl__list_get(left);
    pawl__list second = pawl__list_get(right);
    if (first.count != second.count)
        return false;
    for (size_t i = 0; i < first.count; i++)
        if (!equal_items(field, first.items + i * field->item_size,
                         second.items + i * field->item_size, depth))
            return false;
    return true;
}

static bool equal_optionals(const pawl_field *field, const void *left, const void *right,
                            size_t depth)
{
    if (field->kind == PAWL_KIND_RECORD) {
        const void *first  = pawl__pointer_get(left);
        const void *second = pawl__pointer_get(right);
        if (first == NULL || second == NULL)
            return first == second;
        return equal_items(field, first, second, depth);
    }
    if (!*(const bool *)left || !*(const bool *)right)
        return *(const bool *)left == *(const bool *)right;
    return equal_items(field, (const char *)left + field->value_offset,
                       (const char *)right + field->value_offset, depth);
}

static bool equal_fields(const pawl_field *field, const void *left, const void *right, size_t depth)
{
    switch (field->shape) {
    case PAWL_LIST: return equal_lists(field, left, right, depth);
    case PAWL_OPTIONAL: return equal_optionals(field, left, right, depth);
    case PAWL_ONE: break;
    }
    return equal_items(field, left, right, depth);
}

/* Structs nested deeper than anything that can be stored count as different. */
static bool equal_records(const pawl_record *record, const void *left, const void *right,
                          size_t depth)
{
    if (depth > PAWL_RECORD_DEPTH_MAX ||
        !pawl_text_equal(*(const pawl_text *)left, *(const pawl_text *)right))
        return false;
    for (size_t i = 0; i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        if (!equal_fields(field, (const char *)left + field->offset,
                          (const char *)right + field->offset, depth))
            return false;
    }
    return true;
}

bool pawl_record_equal(const pawl_record *record, const void *left, const void *right)
{
    return equal_records(record, left, right, 1);
}
