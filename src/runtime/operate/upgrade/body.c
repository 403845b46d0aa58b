/* body.c - a stored body as the program's record reads it, and the members that it would not read.
 *
 * A reader keeps members that it does not know, so a member that was renamed is no failure: the
 * old name is not read, and what has the new one is empty. It is noticed by both: a member that
 * the record does not have, and a member of the record that the body lacks and that could hold
 * the other one's value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>
#include <yyjson.h>

/* ---- Decoding ------------------------------------------------------------ */

/* "lines[3].qty: expected ..." as "lines[].qty": rows that fail alike are counted together. Empty
 * for a text that begins with the record's name, or with a sentence. */
static pawl_text place_of(const char *text, const pawl_record *record, pawl_arena *arena)
{
    const char *end      = strstr(text, ": ");
    char       *made     = end != NULL ? pawl_arena_take(arena, (size_t)(end - text) + 1) : NULL;
    size_t      size     = 0;
    bool        is_index = false;
    if (made == NULL || memchr(text, ' ', (size_t)(end - text)) != NULL)
        return PAWL_TEXT("");
    for (const char *at = text; at < end; at++) {
        is_index = is_index && *at != ']';
        if (!is_index)
            made[size++] = *at;
        is_index = is_index || *at == '[';
    }
    made[size] = '\0';
    return strcmp(made, record->name) == 0 || strcmp(made, pawl_record_type(record)) == 0
               ? PAWL_TEXT("")
               : (pawl_text){.data = made, .size = size};
}

void pawl__upgrade_refused(const pawl__upgrade_check *check, const pawl_record *record,
                           pawl_code code, const char *text)
{
    bool is_version = code == PAWL_EVERSION;
    pawl__upgrade_report(check, is_version ? PAWL_UPGRADE_UNREAD_VERSION : PAWL_UPGRADE_UNDECODABLE,
                         is_version ? PAWL_TEXT("") : place_of(text, record, check->arena), "%s",
                         text);
}

pawl_code pawl__upgrade_body(pawl__upgrade_check *check, const pawl_record *record, int version,
                             pawl_text body, bool has_members, void **state)
{
    pawl_error why   = PAWL_ERROR_INIT;
    unsigned   flags = state != NULL ? PAWL_DECODE_KEEP_EXTRA : 0;
    void      *made  = pawl_arena_take(check->arena, record->size);
    if (state != NULL)
        *state = NULL;
    if (made == NULL)
        return pawl_error_set(check->error, PAWL_ENOMEM, "out of memory for a %s", record->name);
    check->at.version = version;
    pawl_code code    = pawl_record_upcast(record, version, body, check->arena, &body, &why);
    if (code == PAWL_OK)
        code = pawl_record_decode(record, body, flags, check->arena, made, &why);
    if (code == PAWL_ENOMEM)
        return pawl_error_set(check->error, code, "%s", why.text);
    if (code != PAWL_OK) {
        pawl__upgrade_refused(check, record, code, why.text);
        return PAWL_OK;
    }
    if (state != NULL)
        *state = made;
    return has_members ? pawl__upgrade_members(check, record, body) : PAWL_OK;
}

/* ---- Members ------------------------------------------------------------- */

typedef struct body_look {
    pawl__upgrade_check *check;
    char path[PAWL__UPGRADE_PATH_SIZE]; /* "lines[]." before the names of this record's members */
} body_look;

/* Whether a member of that value could have become this field by another name alone. */
static bool could_hold(const pawl_field *field, yyjson_val *value)
{
    if (field->shape == PAWL_LIST)
        return yyjson_is_arr(value);
    switch (field->kind) {
    case PAWL_KIND_BOOL: return yyjson_is_bool(value);
    case PAWL_KIND_INT16:
    case PAWL_KIND_INT32:
    case PAWL_KIND_INT64:
    case PAWL_KIND_UINT16:
    case PAWL_KIND_UINT32:
    case PAWL_KIND_UINT64:
    case PAWL_KIND_DOUBLE: return yyjson_is_num(value);
    case PAWL_KIND_RECORD: return yyjson_is_obj(value);
    case PAWL_KIND_JSON: return true;
    default: return yyjson_is_str(value);
    }
}

#define NAMED_MAX 3

/* Writes the members that the body lacks and that could hold the value, "remark" or "remark, memo": which of several
 * it is nobody can tell. The number of them. */
static size_t find_renamed(const body_look *at, const pawl_record *record, yyjson_val *object,
                           yyjson_val *value, char *names, size_t size)
{
    size_t count = 0, used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        if (yyjson_obj_get(object, pawl_field_json(field)) != NULL || !could_hold(field, value))
            continue;
        if (count++ < NAMED_MAX && used < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s%s", count > 1 ? ", " : "",
                                     at->path, pawl_field_json(field));
    }
    return count;
}

static void report_unknown(const body_look *at, const pawl_record *record, yyjson_val *object,
                           const char *name, yyjson_val *value)
{
    char   member[PAWL__UPGRADE_PATH_SIZE], names[NAMED_MAX * PAWL__UPGRADE_PATH_SIZE];
    size_t renamed = find_renamed(at, record, object, value, names, sizeof names);
    snprintf(member, sizeof member, "%s%s", at->path, name);
    if (renamed == 0)
        pawl__upgrade_report(at->check, PAWL_UPGRADE_UNKNOWN_MEMBER, pawl_text_of(member),
                             "%s: record %s does not know it", member, record->name);
    else
        pawl__upgrade_report(
            at->check, PAWL_UPGRADE_UNREAD_MEMBER, pawl_text_of(member),
            renamed == 1
                ? "%s: record %s does not know it, and %s, which could hold its value, is missing: was it "
                  "renamed?"
                : "%s: record %s does not know it, and several that could hold its value are missing, %s: "
                  "was it renamed to one of them?",
            member, record->name, names);
}

static void look_at_object(const body_look *at, const pawl_record *record, yyjson_val *object);

static void look_into(const body_look *at, const pawl_field *field, yyjson_val *value)
{
    body_look   inner = {.check = at->check};
    size_t      index, count;
    yyjson_val *item;
    int size = snprintf(inner.path, sizeof inner.path, "%s%s%s.", at->path, pawl_field_json(field),
                        field->shape == PAWL_LIST ? "[]" : "");
    if (size < 0 || (size_t)size >= sizeof inner.path)
        return;
    if (field->shape != PAWL_LIST)
        look_at_object(&inner, field->record(), value);
    else
        yyjson_arr_foreach(value, index, count, item)
        {
            look_at_object(&inner, field->record(), item);
        }
}

static void look_at_object(const body_look *at, const pawl_record *record, yyjson_val *object)
{
    size_t      index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, count, key, value)
    {
        const pawl_field *field = pawl__upgrade_field(record, yyjson_get_str(key));
        if (field == NULL && !yyjson_is_null(value))
            report_unknown(at, record, object, yyjson_get_str(key), value);
        else if (field != NULL && field->kind == PAWL_KIND_RECORD && !yyjson_is_null(value))
            look_into(at, field, value);
    }
}

pawl_code pawl__upgrade_members(pawl__upgrade_check *check, const pawl_record *record,
                                pawl_text body)
{
    yyjson_doc     *doc;
    const body_look at   = {.check = check};
    pawl_code       code = pawl__json_read(body, check->arena, &doc, check->error);
    if (code != PAWL_OK)
        return code;
    look_at_object(&at, record, yyjson_doc_get_root(doc));
    pawl__upgrade_misread(check, record, yyjson_doc_get_root(doc));
    return PAWL_OK;
}
