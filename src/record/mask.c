/* mask.c - masks secret values in the JSON of a record, before people see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

typedef struct masker {
    yyjson_mut_doc *doc;
    size_t          depth;
} masker;

static yyjson_mut_val *mask_object(masker *m, const pawl_record *record, yyjson_val *object);

static const pawl_field *find_field(const pawl_record *record, yyjson_val *name)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        if (yyjson_equals_str(name, pawl_field_json(field)))
            return field;
    }
    return NULL;
}

static yyjson_mut_val *mask_list(masker *m, const pawl_record *record, yyjson_val *list)
{
    yyjson_mut_val *made = yyjson_mut_arr(m->doc);
    size_t          index, count;
    yyjson_val     *item;
    yyjson_arr_foreach(list, index, count, item)
    {
        if (!yyjson_mut_arr_append(made, mask_object(m, record, item)))
            return NULL;
    }
    return made;
}

/* A member that the record does not know is masked: it may be secret in another version. */
static yyjson_mut_val *mask_member(masker *m, const pawl_field *field, yyjson_val *value)
{
    if (yyjson_is_null(value))
        return yyjson_mut_null(m->doc);
    if (field == NULL || field->secret)
        return yyjson_mut_str(m->doc, PAWL_MASKED);
    if (field->kind != PAWL_KIND_RECORD)
        return yyjson_val_mut_copy(m->doc, value);
    return yyjson_is_arr(value) && field->shape == PAWL_LIST
               ? mask_list(m, field->record(), value)
               : mask_object(m, field->record(), value);
}

static yyjson_mut_val *mask_object(masker *m, const pawl_record *record, yyjson_val *object)
{
    size_t          index, count;
    yyjson_val     *name, *value;
    yyjson_mut_val *made = yyjson_mut_obj(m->doc);
    if (!yyjson_is_obj(object) || m->depth > PAWL_RECORD_DEPTH_MAX)
        return yyjson_is_null(object) ? yyjson_mut_null(m->doc)
                                      : yyjson_mut_str(m->doc, PAWL_MASKED);
    m->depth++;
    yyjson_obj_foreach(object, index, count, name, value)
    {
        if (!yyjson_mut_obj_add(made, yyjson_val_mut_copy(m->doc, name),
                                mask_member(m, find_field(record, name), value)))
            return NULL;
    }
    m->depth--;
    return made;
}

pawl_code pawl_record_mask(const pawl_record *record, pawl_text json, pawl_arena *arena,
                           pawl_text *masked, pawl_error *error)
{
    yyjson_alc  allocator = pawl__json_allocator(arena);
    yyjson_doc *doc;
    masker      m    = {.depth = 0};
    pawl_code   code = pawl__json_read_exact(json, arena, &doc, error);
    if (code != PAWL_OK)
        return code;
    m.doc                = yyjson_mut_doc_new(&allocator);
    yyjson_mut_val *root = mask_object(&m, record, yyjson_doc_get_root(doc));
    masked->data = root != NULL ? yyjson_mut_val_write_opts(root, YYJSON_WRITE_NOFLAG, &allocator,
                                                            &masked->size, NULL)
                                : NULL;
    return masked->data != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "out of memory for a %s", record->name);
}
