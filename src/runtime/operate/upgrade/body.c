/* body.c - decodes a stored body with the program's record, and finds members that the program would not read.
 *
 * A reader keeps unknown members, so a renamed member does not fail: the old name is ignored, and the new one is empty.
 * A rename is suspected if the body has a member that the record lacks, and lacks a member of the record that could
 * hold its value. A missing member has its default, which may differ from that of the program that wrote the body
 * (misread.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>
#include <yyjson.h>

/* ---- Decoding ------------------------------------------------------------ */

/* "lines[3].qty: expected ..." as "lines[].qty", so that rows with the same failure are counted together. Empty for a
 * text that begins with the record's name, or is a sentence. */
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

typedef struct object_look {
    pawl__upgrade_check *check;
    const pawl_record   *is;
    const pawl_record   *was;           /* of the program that wrote the body; NULL: unknown */
    yyjson_val          *object;        /* NULL: left out, so each of its members has its default */
    char path[PAWL__UPGRADE_PATH_SIZE]; /* "lines[]." before the names of the members */
} object_look;

/* Could this field be a renamed member with that value? */
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

/* Writes the members that the body lacks and that could hold the value: "remark", or "remark, memo" if several are
 * possible. Returns their number. */
static size_t find_renamed(const object_look *at, yyjson_val *value, char *names, size_t size)
{
    size_t count = 0, used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < at->is->field_count; i++) {
        const pawl_field *field = pawl__field_at(at->is, i);
        if (yyjson_obj_get(at->object, pawl_field_json(field)) != NULL || !could_hold(field, value))
            continue;
        if (count++ < NAMED_MAX && used < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s%s", count > 1 ? ", " : "",
                                     at->path, pawl_field_json(field));
    }
    return count;
}

static void report_unknown(const object_look *at, const char *name, yyjson_val *value)
{
    char   member[PAWL__UPGRADE_PATH_SIZE], names[NAMED_MAX * PAWL__UPGRADE_PATH_SIZE];
    size_t renamed = find_renamed(at, value, names, sizeof names);
    snprintf(member, sizeof member, "%s%s", at->path, name);
    if (renamed == 0)
        pawl__upgrade_report(at->check, PAWL_UPGRADE_UNKNOWN_MEMBER, pawl_text_of(member),
                             "%s: record %s does not know it", member, at->is->name);
    else
        pawl__upgrade_report(
            at->check, PAWL_UPGRADE_UNREAD_MEMBER, pawl_text_of(member),
            renamed == 1
                ? "%s: record %s does not know it, and %s, which could hold its value, is missing: was it "
                  "renamed?"
                : "%s: record %s does not know it, and several that could hold its value are missing, %s: "
                  "was it renamed to one of them?",
            member, at->is->name, names);
}

/* For a secret member the text does not contain the default, which is the row's value. */
static void report_misread(const object_look *at, const pawl_field *was, const pawl_field *is)
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

static void look_into(const object_look *at, const pawl_record *was, const pawl_field *is,
                      yyjson_val *value)
{
    object_look inner = {.check = at->check, .is = is->record(), .was = was, .object = value};
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

static void look_at_field(const object_look *at, const pawl_field *is)
{
    const pawl_field *was =
        at->was != NULL ? pawl__upgrade_field(at->was, pawl_field_json(is)) : NULL;
    const pawl_record *record = was != NULL && was->kind == PAWL_KIND_RECORD ? was->record() : NULL;
    yyjson_val        *value  = yyjson_obj_get(at->object, pawl_field_json(is));
    bool               is_missing = value == NULL || yyjson_is_null(value);
    if (is_missing && was != NULL && pawl__upgrade_misreads(was, is))
        report_misread(at, was, is);
    else if (is->kind == PAWL_KIND_RECORD &&
             (!is_missing || (record != NULL && is->shape == PAWL_ONE)))
        look_into(at, record, is, is_missing ? NULL : value);
}

static void look_at_object(const object_look *at)
{
    yyjson_obj_iter members = yyjson_obj_iter_with(at->object);
    yyjson_val     *key     = NULL;
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (pawl__upgrade_field(at->is, yyjson_get_str(key)) == NULL && !yyjson_is_null(value))
            report_unknown(at, yyjson_get_str(key), value);
    }
    for (size_t i = 0; i < at->is->field_count; i++)
        look_at_field(at, pawl__field_at(at->is, i));
}

pawl_code pawl__upgrade_members(pawl__upgrade_check *check, const pawl_record *record,
                                pawl_text body)
{
    yyjson_doc *doc;
    pawl_code   code = pawl__json_read(body, check->arena, &doc, check->error);
    if (code != PAWL_OK)
        return code;
    const object_look at = {.check  = check,
                            .is     = record,
                            .was    = pawl__upgrade_record_before(check, record),
                            .object = yyjson_doc_get_root(doc)};
    look_at_object(&at);
    return PAWL_OK;
}
