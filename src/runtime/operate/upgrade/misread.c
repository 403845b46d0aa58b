/* misread.c - members that the new program decodes, but to another value than the old program.
 *
 * A member that has its default value is left out of the JSON (record/encode.c). When the default is
 * another one in the new program, rows without the member change their meaning, and nothing fails:
 *
 *     old program   ENUM stage of new, paid    stage = new   is stored as   {}
 *     new program   ENUM stage of paid, new    {}            is read as     stage = paid
 *
 * The declarations of both programs show it; with both, so does each row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>
#include <yyjson.h>

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
    /* The name of an enum may be the word for another kind's default. */
    return (was->kind == PAWL_KIND_ENUM) != (is->kind == PAWL_KIND_ENUM) ||
           strcmp(pawl__upgrade_default(was), pawl__upgrade_default(is)) != 0;
}

/* ---- Rows ---------------------------------------------------------------- */

typedef struct object_look {
    const pawl__upgrade_check *check;
    const pawl_record         *was, *is;
    yyjson_val *object; /* NULL: it is left out, as each of its members is the default */
    char        path[PAWL__UPGRADE_PATH_SIZE]; /* "lines[]." before the names of the members */
} object_look;

/* The text has no default of a secret member: such a row has just that value. */
static void report(const object_look *at, const pawl_field *was, const pawl_field *is)
{
    char member[PAWL__UPGRADE_PATH_SIZE];
    snprintf(member, sizeof member, "%s%s", at->path, pawl_field_json(is));
    if (was->secret || is->secret)
        pawl__upgrade_report(at->check, PAWL_UPGRADE_MISREAD, pawl_text_of(member),
                             "%s: it is left out", member);
    else
        pawl__upgrade_report(at->check, PAWL_UPGRADE_MISREAD, pawl_text_of(member),
                             "%s: it is left out, which meant %s and means %s", member,
                             pawl__upgrade_default(was), pawl__upgrade_default(is));
}

static void look_at_object(const object_look *at);

static void look_into(const object_look *at, const pawl_field *was, const pawl_field *is,
                      yyjson_val *value)
{
    object_look inner = {
        .check = at->check, .was = was->record(), .is = is->record(), .object = value};
    size_t      index, count;
    yyjson_val *item;
    int size = snprintf(inner.path, sizeof inner.path, "%s%s%s.", at->path, pawl_field_json(is),
                        is->shape == PAWL_LIST ? "[]" : "");
    if (size < 0 || (size_t)size >= sizeof inner.path)
        return;
    if (is->shape != PAWL_LIST)
        look_at_object(&inner);
    else
        yyjson_arr_foreach(value, index, count, item)
        {
            inner.object = item;
            look_at_object(&inner);
        }
}

static void look_at_object(const object_look *at)
{
    for (size_t i = 0; i < at->is->field_count; i++) {
        const pawl_field *is         = pawl__field_at(at->is, i);
        const pawl_field *was        = pawl__upgrade_field(at->was, pawl_field_json(is));
        yyjson_val       *value      = yyjson_obj_get(at->object, pawl_field_json(is));
        bool              is_missing = value == NULL || yyjson_is_null(value);
        if (was == NULL)
            continue;
        if (is_missing && pawl__upgrade_misreads(was, is))
            report(at, was, is);
        else if (was->kind == PAWL_KIND_RECORD && is->kind == PAWL_KIND_RECORD &&
                 (!is_missing || is->shape == PAWL_ONE))
            look_into(at, was, is, is_missing ? NULL : value);
    }
}

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

/* The record that the old program has for the row under way, which the new one reads as `record`. */
static const pawl_record *record_before(const pawl__upgrade_check *check, const pawl_record *record)
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
    return found;
}

void pawl__upgrade_misread(const pawl__upgrade_check *check, const pawl_record *record,
                           yyjson_val *root)
{
    const object_look at = {
        .check = check, .was = record_before(check, record), .is = record, .object = root};
    if (at.was != NULL && check->at.version == pawl_record_version(record) &&
        check->at.version == pawl_record_version(at.was))
        look_at_object(&at);
}
