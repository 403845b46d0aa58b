/* record.c - look-ups in record descriptors, upcasts, and the checks of a descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "record_internal.h"

#include "base/arena.h"

const char *pawl_record_type(const pawl_record *record)
{
    if (record == NULL)
        return "";
    return record->type != NULL ? record->type : record->name;
}

int pawl_record_version(const pawl_record *record)
{
    return record->version != 0 ? record->version : 1;
}

const char *pawl_field_json(const pawl_field *field)
{
    return field->json != NULL ? field->json : field->name;
}

bool pawl__record_reads(const pawl_record *record, int version)
{
    int current = pawl_record_version(record);
    return version == current || (version < current && record->upcast != NULL);
}

pawl_code pawl_record_upcast(const pawl_record *record, int version, pawl_text json,
                             pawl_arena *arena, pawl_text *upcast, pawl_error *error)
{
    int current = pawl_record_version(record);
    *upcast     = json;
    if (version == current)
        return PAWL_OK;
    if (!pawl__record_reads(record, version))
        return pawl_error_set(error, PAWL_EVERSION,
                              "%s of version %d: this program has version %d and %s",
                              pawl_record_type(record), version, current,
                              version > current ? "no way back" : "no upcast from older ones");
    pawl_code code = record->upcast(version, json, arena, upcast, error);
    /* PAWL_ENOMEM of the function itself, without a shortage in the arena, and codes meant for handlers become
     * PAWL_ECONFIG: PAWL_DISCARD, for example, would lose the message. */
    if ((code == PAWL_ENOMEM && !pawl__arena_is_short(arena)) ||
        (code >= PAWL_RETRY && code <= PAWL_DISCARD))
        code = PAWL_ECONFIG;
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s: upcast from version %d to %d",
                               pawl_record_type(record), version, current);
    return PAWL_OK;
}

/* Records on the path from the root. A record that contains itself by pointer is checked once. */
typedef struct check_step {
    const struct check_step *parent;
    const pawl_record       *record;
    size_t                   depth;
} check_step;

static pawl_code refuse(const pawl_record *record, pawl_error *error, const char *format, ...)
    PAWL_PRINTF(3, 4);

static pawl_code refuse(const pawl_record *record, pawl_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(error, PAWL_ECONFIG, format, arguments);
    va_end(arguments);
    return pawl_error_wrap(error, PAWL_ECONFIG, "record %s", record->name);
}

/* Printable: UTF-8 without control characters. */
static bool is_good_name(const char *name)
{
    pawl_text text = pawl_text_of(name);
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return false;
    return text.size != 0 && text.size <= PAWL_NAME_SIZE_MAX && pawl_text_is_valid(text, NULL);
}

static size_t size_of_kind(const pawl_field *field)
{
    static const size_t sizes[PAWL_KIND_RECORD] = {
        [PAWL_KIND_BOOL] = sizeof(bool),       [PAWL_KIND_INT16] = sizeof(int16_t),
        [PAWL_KIND_INT32] = sizeof(int32_t),   [PAWL_KIND_INT64] = sizeof(int64_t),
        [PAWL_KIND_UINT16] = sizeof(uint16_t), [PAWL_KIND_UINT32] = sizeof(uint32_t),
        [PAWL_KIND_UINT64] = sizeof(uint64_t), [PAWL_KIND_DOUBLE] = sizeof(double),
        [PAWL_KIND_TEXT] = sizeof(pawl_text),  [PAWL_KIND_BYTES] = sizeof(pawl_bytes),
        [PAWL_KIND_UUID] = sizeof(pawl_uuid),  [PAWL_KIND_TIME] = sizeof(pawl_time),
        [PAWL_KIND_ENUM] = sizeof(int),        [PAWL_KIND_JSON] = sizeof(pawl_text),
    };
    if (field->kind == PAWL_KIND_FIXED)
        return field->fixed_size + 1;
    return field->kind == PAWL_KIND_RECORD ? field->record()->size : sizes[field->kind];
}

/* Bytes that the field takes in the struct. */
static size_t extent_of(const pawl_field *field)
{
    if (field->shape == PAWL_LIST)
        return sizeof(char *) + sizeof(size_t);
    if (field->shape == PAWL_OPTIONAL && field->kind == PAWL_KIND_RECORD)
        return sizeof(void *);
    return field->value_offset + field->item_size;
}

static pawl_code check_enum(const pawl_record *record, const pawl_field *field, pawl_error *error)
{
    const pawl_enum *enumeration = field->enumeration();
    if (enumeration->count == 0)
        return refuse(record, error, "field %s: enum %s has no values", field->name,
                      enumeration->name);
    for (size_t i = 0; i < enumeration->count; i++) {
        const char *name = enumeration->names[i];
        if (!is_good_name(name))
            return refuse(record, error, "enum %s: value %zu has no name of 1 to %d bytes",
                          enumeration->name, i, PAWL_NAME_SIZE_MAX);
        if (pawl__enum_find(enumeration, pawl_text_of(name)) != (int)i)
            return refuse(record, error, "enum %s: two values are named '%s'", enumeration->name,
                          name);
    }
    return PAWL_OK;
}

static pawl_code check_field(const pawl_record *record, const pawl_field *field, pawl_error *error)
{
    if (field->name == NULL || !is_good_name(pawl_field_json(field)))
        return refuse(record, error, "field %s: the name in JSON has not 1 to %d printable bytes",
                      field->name != NULL ? field->name : "?", PAWL_NAME_SIZE_MAX);
    if (field->kind <= PAWL_KIND_NONE || field->kind > PAWL_KIND_RECORD ||
        (unsigned)field->shape > PAWL_LIST)
        return refuse(record, error, "field %s: kind %d in shape %d is unknown", field->name,
                      (int)field->kind, (int)field->shape);
    if ((field->kind == PAWL_KIND_RECORD && field->record == NULL) ||
        (field->kind == PAWL_KIND_ENUM && field->enumeration == NULL))
        return refuse(record, error, "field %s: has no descriptor of its type", field->name);
    if (field->item_size != size_of_kind(field))
        return refuse(record, error,
                      "field %s: item_size is %zu, a value of its kind has %zu bytes", field->name,
                      field->item_size, size_of_kind(field));
    if (field->offset < sizeof(pawl_text) || field->offset + extent_of(field) > record->size)
        return refuse(record, error, "field %s: does not lie in the struct of %zu bytes",
                      field->name, record->size);
    if (field->with_offset && (field->kind != PAWL_KIND_TIME || field->shape == PAWL_LIST))
        return refuse(record, error, "field %s: with_offset is for a TIME or an OPT_TIME",
                      field->name);
    return field->kind == PAWL_KIND_ENUM ? check_enum(record, field, error) : PAWL_OK;
}

static pawl_code check_distinct(const pawl_record *record, size_t index, pawl_error *error)
{
    const pawl_field *field = pawl__field_at(record, index);
    for (size_t i = 0; i < index; i++) {
        const pawl_field *other = pawl__field_at(record, i);
        if (strcmp(pawl_field_json(other), pawl_field_json(field)) == 0)
            return refuse(record, error, "fields %s and %s are both '%s' in JSON", other->name,
                          field->name, pawl_field_json(field));
    }
    return PAWL_OK;
}

/* Checks type and version of the record or of one of its bases. A comma would end the type's name in a list; quotes
 * and backslashes would need escapes in JSON, where types are written as they are. */
static pawl_code check_type(const pawl_record *record, const pawl_record *owner, pawl_error *error)
{
    const char *type = pawl_record_type(owner);
    if (!is_good_name(owner->name) || !is_good_name(type))
        return refuse(record, error, "the type name has not 1 to %d printable bytes",
                      PAWL_NAME_SIZE_MAX);
    const char *found = strpbrk(type, ",\"\\");
    if (found != NULL)
        return refuse(record, error, "the type name '%s' has a '%c', which types may not have",
                      type, *found);
    if (owner->version < 0 || owner->version > PAWL_RECORD_VERSION_MAX)
        return refuse(record, error, "type '%s' has version %d, valid are 1 to %d", type,
                      owner->version, PAWL_RECORD_VERSION_MAX);
    return PAWL_OK;
}

static pawl_code check_head(const pawl_record *record, pawl_error *error)
{
    if (record->table_size < sizeof(pawl_record) || record->field_size < sizeof(pawl_field))
        return refuse(record, error,
                      "built for another pawl: tables of %zu and %zu bytes, this one needs %zu "
                      "and %zu",
                      record->table_size, record->field_size, sizeof(pawl_record),
                      sizeof(pawl_field));
    if (record->field_count > PAWL_RECORD_FIELDS_MAX)
        return refuse(record, error, "%zu fields, the limit is %d", record->field_count,
                      PAWL_RECORD_FIELDS_MAX);
    return check_type(record, record, error);
}

/* Checks that the chain of base types ends: a cycle would never end the search for handlers. */
static pawl_code check_bases(const pawl_record *record, pawl_error *error)
{
    size_t    count = 0;
    pawl_code code  = PAWL_OK;
    for (const pawl_record *base = record; code == PAWL_OK && base->base != NULL;) {
        base = base->base();
        if (++count > PAWL_RECORD_DEPTH_MAX)
            return refuse(record, error, "more than %d base types, or one that leads back",
                          PAWL_RECORD_DEPTH_MAX);
        code = check_type(record, base, error);
    }
    return code;
}

static pawl_code check_record(const check_step *step, pawl_error *error)
{
    const pawl_record *record = step->record;
    for (const check_step *above = step->parent; above != NULL; above = above->parent)
        if (above->record == record)
            return PAWL_OK;
    if (step->depth > PAWL_RECORD_DEPTH_MAX)
        return refuse(record, error, "nested %zu deep, the limit is %d", step->depth,
                      PAWL_RECORD_DEPTH_MAX);
    pawl_code code = check_head(record, error);
    if (code == PAWL_OK)
        code = check_bases(record, error);
    for (size_t i = 0; code == PAWL_OK && i < record->field_count; i++) {
        const pawl_field *field = pawl__field_at(record, i);
        code                    = check_field(record, field, error);
        if (code == PAWL_OK)
            code = check_distinct(record, i, error);
        if (code == PAWL_OK && field->kind == PAWL_KIND_RECORD) {
            check_step nested = {step, field->record(), step->depth + 1};
            code              = check_record(&nested, error);
        }
    }
    return code;
}

pawl_code pawl_record_check(const pawl_record *record, pawl_error *error)
{
    check_step root = {NULL, record, 1};
    if (record == NULL || record->name == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "record without a name");
    return check_record(&root, error);
}

/* ---- Two descriptors ------------------------------------------------------ */

/* Pairs on the path from the roots. Records that contain themselves are compared once. */
typedef struct same_step {
    const struct same_step *parent;
    const pawl_record      *left, *right;
} same_step;

static bool is_same_text(const char *left, const char *right)
{
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static bool is_same_enum(const pawl_enum *left, const pawl_enum *right)
{
    bool is_same = left->count == right->count;
    for (size_t i = 0; is_same && i < left->count; i++)
        is_same = is_same_text(left->names[i], right->names[i]);
    return is_same;
}

static bool is_same_record(const same_step *step);

static bool is_same_field(const same_step *step, const pawl_field *left, const pawl_field *right)
{
    if (!is_same_text(pawl_field_json(left), pawl_field_json(right)) || left->kind != right->kind ||
        left->shape != right->shape || left->offset != right->offset ||
        left->value_offset != right->value_offset || left->item_size != right->item_size ||
        left->fixed_size != right->fixed_size)
        return false;
    if (left->kind == PAWL_KIND_ENUM)
        return is_same_enum(left->enumeration(), right->enumeration());
    return left->kind != PAWL_KIND_RECORD ||
           is_same_record(&(same_step){step, left->record(), right->record()});
}

static bool is_same_record(const same_step *step)
{
    const pawl_record *left = step->left, *right = step->right;
    bool               is_same = left == right;
    for (const same_step *above = step->parent; above != NULL && !is_same; above = above->parent)
        is_same = above->left == left && above->right == right;
    if (is_same)
        return true;
    is_same = left->size == right->size && left->field_count == right->field_count &&
              pawl_record_version(left) == pawl_record_version(right);
    for (size_t i = 0; is_same && i < left->field_count; i++)
        is_same = is_same_field(step, pawl__field_at(left, i), pawl__field_at(right, i));
    return is_same;
}

pawl_code pawl__record_check_twin(const pawl_record *known, const pawl_record *record,
                                  pawl_error *error)
{
    pawl_code code = known == record ? PAWL_OK : pawl_record_check(record, error);
    if (code != PAWL_OK || is_same_record(&(same_step){NULL, known, record}))
        return code;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "record %s is declared twice, and not alike: a handler of one would read "
                          "the other's struct; declare it in one header",
                          pawl_record_type(record));
}
