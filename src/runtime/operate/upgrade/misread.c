/* misread.c - finds members that the new program decodes to another value than the old program.
 *
 * A member with its default value is left out of the JSON (record/encode.c). If the default differs in the new program,
 * rows without the member change their meaning without any failure:
 *
 *     old program   ENUM stage of new, paid    stage = new   is stored as   {}
 *     new program   ENUM stage of paid, new    {}            is read as     stage = paid
 *
 * The declarations of both programs show that, and with them each affected row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include <string.h>

/* ---- Fields -------------------------------------------------------------- */

const pawl_field *pawl__upgrade_field(const pawl_record *record, const char *name)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(pawl_field_json(pawl__field_at(record, i)), name) == 0)
            return pawl__field_at(record, i);
    return NULL;
}

const char *pawl__upgrade_default(const pawl_field *field)
{
    if (field->shape != PAWL_ONE)
        return field->shape == PAWL_OPTIONAL ? "unset" : "an empty list";
    switch (field->kind) {
    case PAWL_KIND_BOOL: return "false";
    case PAWL_KIND_TEXT:
    case PAWL_KIND_FIXED:
    case PAWL_KIND_BYTES: return "empty";
    case PAWL_KIND_UUID: return "the zero UUID";
    case PAWL_KIND_TIME: return "1970-01-01T00:00:00Z";
    case PAWL_KIND_ENUM: return field->enumeration()->names[0];
    case PAWL_KIND_JSON: return "null";
    case PAWL_KIND_RECORD: return "{}";
    default: return "0";
    }
}

bool pawl__upgrade_misreads(const pawl_field *was, const pawl_field *is)
{
    if (was->required || is->required) /* no row lacks it, or such a row cannot be decoded */
        return false;
    if (was->shape != PAWL_ONE || is->shape != PAWL_ONE)
        return was->shape != is->shape;
    /* the name of an enum value may equal another kind's default as text */
    return (was->kind == PAWL_KIND_ENUM) != (is->kind == PAWL_KIND_ENUM) ||
           strcmp(pawl__upgrade_default(was), pawl__upgrade_default(is)) != 0;
}

/* ---- Rows ---------------------------------------------------------------- */

static const pawl_record *event_before(const pawl__model *model, pawl_text type)
{
    for (size_t i = 0; i < model->saga_count; i++) {
        const pawl__stream_model *stream = model->sagas[i].stream;
        const pawl__apply_model  *apply  = stream != NULL ? pawl__model_apply(stream, type) : NULL;
        if (apply != NULL)
            return apply->event;
    }
    for (size_t i = 0; i < model->projection_count; i++) {
        const pawl__projection_on *on = pawl__model_projection_on(&model->projections[i], type);
        if (on != NULL)
            return on->event;
    }
    return NULL;
}

const pawl_record *pawl__upgrade_record_before(const pawl__upgrade_check *check,
                                               const pawl_record         *record)
{
    const pawl_upgrade *from  = check->upgrade->from;
    pawl_text           type  = pawl_text_of(pawl_record_type(record));
    const pawl_record  *found = NULL;
    bool is_state = strcmp(check->at.kind, "saga") == 0 || strcmp(check->at.kind, "snapshot") == 0;
    for (size_t i = 0; from != NULL && found == NULL && i < from->model_count; i++) {
        const pawl__saga_model *saga = pawl__model_saga(from->models[i], check->at.type);
        const pawl__type_model *own  = pawl__model_type(from->models[i], type);
        if (is_state)
            found = saga != NULL ? saga->state : NULL;
        else if (strcmp(check->at.kind, "event") == 0)
            found = event_before(from->models[i], type);
        else
            found = own != NULL ? own->record : NULL;
    }
    bool is_same = found != NULL && check->at.version == pawl_record_version(record) &&
                   check->at.version == pawl_record_version(found);
    return is_same ? found : NULL;
}
