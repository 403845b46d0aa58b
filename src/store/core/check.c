/* check.c - checks of every change set before a driver sees it.
 *
 * Two tables have the rules: the form of each field (change_fields.c), and the rules of each
 * form. Rules about several fields have functions of their own below
 * the table. Errors name the kind, the number of the change and the field:
 * "queue_send 3: message.type: it has 240 bytes, limit 200".
 *
 * Texts for people (errors, histories) are checked for their size only: it must
 * be possible to record a failure with any text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"
#include "pawl/change.h"
#include "pawl/limits.h"
#include "pawl/store_driver.h"
#include "store/core/field.h"
#include "store/core/kinds.h"

#include <stdio.h>
#include <string.h>

/* ---- Forms -------------------------------------------------------------- */

typedef struct form_rule {
    size_t size_max;
    bool   is_required;
    bool   is_text; /* well-formed UTF-8 without NUL */
} form_rule;

/* Forms without a row here are not texts. */
static const form_rule forms[pawl__form_count] = {
    [PAWL__FORM_NAME]          = {PAWL_NAME_SIZE_MAX, true, true},
    [PAWL__FORM_NAME_OPTIONAL] = {PAWL_NAME_SIZE_MAX, false, true},
    [PAWL__FORM_ID]            = {PAWL_MESSAGE_ID_SIZE_MAX, true, true},
    [PAWL__FORM_ID_OPTIONAL]   = {PAWL_MESSAGE_ID_SIZE_MAX, false, true},
    [PAWL__FORM_PARTITION]     = {PAWL_PARTITION_SIZE_MAX, true, true},
    [PAWL__FORM_SOURCE]        = {PAWL_SOURCE_SIZE_MAX, false, true},
    [PAWL__FORM_STREAM]        = {PAWL_STREAM_SIZE_MAX, true, true},
    [PAWL__FORM_HEADERS]       = {PAWL_HEADERS_SIZE_MAX, false, true},
    [PAWL__FORM_BODY]          = {PAWL_BODY_SIZE_MAX, false, false},
    [PAWL__FORM_STATE]         = {PAWL_STATE_SIZE_MAX, false, true},
    [PAWL__FORM_ERROR]         = {PAWL_ERROR_TEXT_SIZE_MAX, false, false},
};

/* ---- One field ---------------------------------------------------------- */

/* The change that is checked, for error texts. */
typedef struct which {
    pawl_change_kind kind;
    size_t           index;
} which;

static pawl_code refuse(which at, const char *field, pawl_code code, pawl_error *error,
                        const char *format, ...) PAWL_PRINTF(5, 6);

static pawl_code refuse(which at, const char *field, pawl_code code, pawl_error *error,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(error, code, format, arguments);
    va_end(arguments);
    return pawl_error_wrap(error, code, "%s %zu: %s", pawl_change_kind_name(at.kind), at.index,
                           field);
}

static pawl_code check_text(which at, const char *field, pawl_text text, int required,
                            pawl_error *error)
{
    const form_rule *rule = &forms[required];
    if (text.size > rule->size_max)
        return refuse(at, field, PAWL_ELIMIT, error, "it has %zu bytes, limit %zu", text.size,
                      rule->size_max);
    if (text.size == 0 && rule->is_required)
        return refuse(at, field, PAWL_EINVAL, error, "it is empty");
    if (text.size != 0 && text.data == NULL)
        return refuse(at, field, PAWL_EINVAL, error, "it has %zu bytes at NULL", text.size);
    size_t offset = 0;
    if (rule->is_text && !pawl_text_is_valid(text, &offset))
        return refuse(at, field, PAWL_EINVAL, error, "byte %zu is %s", offset,
                      text.data[offset] == '\0' ? "NUL" : "not UTF-8");
    return PAWL_OK;
}

static pawl_code check_time(which at, const char *field, pawl_time time, pawl_error *error)
{
    if (time >= PAWL_TIME_MIN && time <= PAWL_TIME_MAX)
        return PAWL_OK;
    return refuse(at, field, PAWL_EINVAL, error, "time %lld is outside the years 1 to 9999",
                  (long long)time);
}

/* Number of values of each wire's enum. */
static const int choices[PAWL__WIRE_COUNT] = {
    [PAWL__WIRE_STATE]   = PAWL_OUTBOX_DEAD + 1, /* states that an attempt leaves */
    [PAWL__WIRE_OUTCOME] = PAWL_ATTEMPT_POISON + 1, [PAWL__WIRE_INBOX] = PAWL_INBOX_DEAD + 1,
    [PAWL__WIRE_RESET] = PAWL_OUTBOX_DISCARD + 1,   [PAWL__WIRE_CHOICE] = PAWL_QUEUE_RETRY + 1,
};
_Static_assert((int)PAWL_TIMEOUT_RETRY == (int)PAWL_QUEUE_RETRY, "one number for both actions");

static pawl_code check_choice(which at, const char *field, int choice, int count, pawl_error *error)
{
    if (choice >= 0 && choice < count)
        return PAWL_OK;
    return refuse(at, field, PAWL_EINVAL, error, "%d is unknown", choice);
}

/* Adds to `*size` the bytes of the field. */
static pawl_code check_field(which at, const pawl__field *field, const char *item, size_t *size,
                             pawl_error *error)
{
    const void *value = item + field->offset;
    if (field->form > PAWL__FORM_SET) {
        const pawl_text *text = value;
        size_t           offset;
        *size += text->size;
        pawl_code code = check_text(at, field->name, *text, field->form, error);
        if (code != PAWL_OK || field->wire != PAWL__WIRE_JSON ||
            !pawl__text_has_nul_escape(*text, &offset))
            return code;
        return refuse(at, field->name, PAWL_EINVAL, error, "byte %zu is NUL, as \\u0000", offset);
    }
    if (field->wire == PAWL__WIRE_TIME)
        return check_time(at, field->name, *(const pawl_time *)value, error);
    if (choices[field->wire] != 0)
        return check_choice(at, field->name, *(const int *)value, choices[field->wire], error);
    if (field->form == PAWL__FORM_SET && pawl_uuid_is_zero(*(const pawl_uuid *)value))
        return refuse(at, field->name, PAWL_EINVAL, error, "it is zero");
    return PAWL_OK;
}

/* ---- What the table cannot say ------------------------------------------ */

static pawl_code check_table(which at, const pawl_saga_table *table, pawl_error *error)
{
    if (table == NULL)
        return refuse(at, "table", PAWL_EINVAL, error, "it is NULL");
    pawl_code code = check_text(at, "table.type", table->type, PAWL__FORM_NAME, error);
    if (code == PAWL_OK)
        code = check_text(at, "table.name", table->name, PAWL__FORM_NAME, error);
    return code;
}

/* A value is of its column's type, or none. */
static pawl_code check_value(which at, const char *field, const pawl_correlation *column,
                             const pawl_value *value, pawl_error *error)
{
    if (value->type == PAWL_VALUE_NONE)
        return PAWL_OK;
    if (value->type != column->type)
        return refuse(at, field, PAWL_EINVAL, error, "it is of type %s, the column's is %s",
                      pawl_value_type_name(value->type), pawl_value_type_name(column->type));
    char path[64];
    snprintf(path, sizeof path, "%s %zu: %s", pawl_change_kind_name(at.kind), at.index, field);
    return pawl_value_check(value, path, error);
}

static pawl_code check_saga_delete(which at, const void *item, pawl_error *error)
{
    const pawl_saga_delete *change = item;
    return check_table(at, change->table, error);
}

static pawl_code check_saga_insert(which at, const void *item, pawl_error *error)
{
    const pawl_saga_insert *change = item;
    pawl_code               code   = check_table(at, change->table, error);
    if (code == PAWL_OK)
        code = check_value(at, "main", &change->table->main, &change->main, error);
    if (code == PAWL_OK)
        code = check_value(at, "transitional", &change->table->transitional, &change->transitional,
                           error);
    return code;
}

static pawl_code check_saga_update(which at, const void *item, pawl_error *error)
{
    const pawl_saga_update *change = item;
    pawl_code               code   = check_table(at, change->table, error);
    if (code == PAWL_OK)
        code = check_value(at, "transitional", &change->table->transitional, &change->transitional,
                           error);
    return code;
}

/* Checks a single event. That the versions of a stream follow one another is checked
 * afterwards, for all events of the set. */
static pawl_code check_event_append(which at, const void *item, pawl_error *error)
{
    const pawl_event_append *change = item;
    if (change->version < 1)
        return refuse(at, "version", PAWL_EINVAL, error, "it is %lld, the first is 1",
                      (long long)change->version);
    if (change->event.type_version < 1)
        return refuse(at, "event.type_version", PAWL_EINVAL, error, "it is %d, the first is 1",
                      (int)change->event.type_version);
    return PAWL_OK;
}

static pawl_code check_checkpoint_set(which at, const void *item, pawl_error *error)
{
    const pawl_checkpoint_set *change = item;
    if (change->from < PAWL_CHECKPOINT_START)
        return refuse(at, "from", PAWL_EINVAL, error, "it is %lld, which is not a global position",
                      (long long)change->from);
    if (change->is_back &&
        (change->to >= change->from || change->to < PAWL_CHECKPOINT_START || change->to == 0))
        return refuse(at, "to", PAWL_EINVAL, error, "it is %lld, which does not go back from %lld",
                      (long long)change->to, (long long)change->from);
    if (!change->is_back && (change->to <= change->from || change->to == 0))
        return refuse(at, "to", PAWL_EINVAL, error, "it is %lld, which is not behind %lld",
                      (long long)change->to, (long long)change->from);
    return PAWL_OK;
}

static pawl_code check_stream_snapshot_set(which at, const void *item, pawl_error *error)
{
    const pawl_stream_snapshot_set *change = item;
    if (change->version >= 1 && change->type_version >= 1)
        return PAWL_OK;
    return refuse(at, "version", PAWL_EINVAL, error,
                  "it is %lld of a state of version %d, both "
                  "begin at 1",
                  (long long)change->version, (int)change->type_version);
}

static pawl_code check_outbox_settle(which at, const void *item, pawl_error *error)
{
    const pawl_outbox_settle *change = item;
    return change->state != PAWL_OUTBOX_BLOCKED
               ? PAWL_OK
               : refuse(at, "state", PAWL_EINVAL, error,
                        "an attempt ends pending, dispatched or dead");
}

static pawl_code check_leased_batch_remove(which at, const void *item, pawl_error *error)
{
    const pawl_leased_batch_remove *change = item;
    if (change->id_count != 0 && change->ids == NULL)
        return refuse(at, "ids", PAWL_EINVAL, error, "%zu ids at NULL", change->id_count);
    return PAWL_OK;
}

typedef pawl_code check_fn(which at, const void *item, pawl_error *error);

static check_fn *const extra_checks[pawl_change_kind_count] = {
    [pawl_change_saga_delete]         = check_saga_delete,
    [pawl_change_saga_insert]         = check_saga_insert,
    [pawl_change_saga_update]         = check_saga_update,
    [pawl_change_event_append]        = check_event_append,
    [pawl_change_checkpoint_set]      = check_checkpoint_set,
    [pawl_change_stream_snapshot_set] = check_stream_snapshot_set,
    [pawl_change_outbox_settle]       = check_outbox_settle,
    [pawl_change_leased_batch_remove] = check_leased_batch_remove,
};

/* ---- The whole set ------------------------------------------------------ */

/* Every change begins with its unit and its group (PAWL__CHANGE_BASE). */
static pawl_code check_base(which at, const pawl_changes *changes, const char *item,
                            pawl_error *error)
{
    uint32_t unit, group;
    memcpy(&unit, item, sizeof unit);
    memcpy(&group, item + sizeof unit, sizeof group);
    if (unit >= changes->unit_count)
        return refuse(at, "unit", PAWL_EINVAL, error, "it is %u, the set has %u units", unit,
                      changes->unit_count);
    if (group >= changes->group_count)
        return refuse(at, "group", PAWL_EINVAL, error, "it is %u, the set has %u groups", group,
                      changes->group_count);
    return PAWL_OK;
}

static pawl_code check_item(which at, const pawl_changes *changes, const char *item, size_t *size,
                            pawl_error *error)
{
    const pawl__field_list *fields = &pawl__change_fields[at.kind];
    pawl_code               code   = check_base(at, changes, item, error);
    for (size_t i = 0; code == PAWL_OK && i < fields->count; i++)
        code = check_field(at, &fields->items[i], item, size, error);
    if (code == PAWL_OK && extra_checks[at.kind] != NULL)
        code = extra_checks[at.kind](at, item, error);
    return code;
}

static pawl_code check_kind(pawl_change_kind kind, const pawl_changes *changes, size_t *size,
                            pawl_error *error)
{
    const char *items = pawl__change_items(changes, kind);
    size_t      count = pawl__change_count(changes, kind);
    pawl_code   code  = PAWL_OK;
    if (count != 0 && items == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s: %zu changes at NULL",
                              pawl_change_kind_name(kind), count);
    for (size_t i = 0; code == PAWL_OK && i < count; i++, items += pawl__kinds[kind].size)
        code = check_item((which){kind, i}, changes, items, size, error);
    return code;
}

/* Versions of a stream that follow one another, and only the first one marked. */
static pawl_code check_streams(const pawl_changes *changes, pawl_error *error)
{
    const pawl_event_append *items = changes->event_append.items;
    for (size_t i = 0; i < changes->event_append.count; i++) {
        which                    at     = {pawl_change_event_append, i};
        const pawl_event_append *before = i > 0 ? &items[i - 1] : NULL;
        if (before != NULL && !pawl_text_equal(before->stream, items[i].stream))
            before = NULL;
        if ((before == NULL) != items[i].is_first)
            return refuse(at, "is_first", PAWL_EINVAL, error,
                          "events of one stream stand together, the first one marked");
        if (before == NULL)
            continue;
        if (items[i].version != before->version + 1 || items[i].group != before->group)
            return refuse(at, "version", PAWL_EINVAL, error,
                          "it is %lld of group %u behind %lld of group %u",
                          (long long)items[i].version, items[i].group, (long long)before->version,
                          before->group);
    }
    return PAWL_OK;
}

pawl_code pawl_changes_check(const pawl_changes *changes, pawl_error *error)
{
    if (changes->unit_count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "change set: it has %u units, limit %d",
                              changes->unit_count, PAWL_BATCH_MESSAGES_MAX);
    if (changes->group_count > PAWL_BATCH_MESSAGES_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "change set: it has %u groups, limit %d",
                              changes->group_count, PAWL_BATCH_MESSAGES_MAX);
    pawl_code code = PAWL_OK;
    size_t    size = 0;
    for (int kind = 0; code == PAWL_OK && kind < (int)pawl_change_kind_count; kind++)
        code = check_kind((pawl_change_kind)kind, changes, &size, error);
    if (code == PAWL_OK && size > PAWL_CHANGES_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "change set: its texts have %zu bytes, limit %d",
                              size, PAWL_CHANGES_SIZE_MAX);
    return code == PAWL_OK ? check_streams(changes, error) : code;
}
