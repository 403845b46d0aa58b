/* compare.c - compares the tables of two programs: finds what the older one writes and the newer one would not read or
 * handle.
 *
 * A record of another version with an upcaster is skipped: only rows show what the upcaster does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include <stdio.h>
#include <string.h>

/* A double represents all integers of this many bits. */
#define DOUBLE_BITS 53

/* ---- Fields ---------------------------------------------------------------- */

/* The range of a kind of number; bits 0: not a number. */
typedef struct number_range {
    int  bits;
    bool is_signed;
} number_range;

static number_range range_of(pawl_kind kind)
{
    switch (kind) {
    case PAWL_KIND_INT16: return (number_range){15, true};
    case PAWL_KIND_INT32: return (number_range){31, true};
    case PAWL_KIND_INT64: return (number_range){63, true};
    case PAWL_KIND_UINT16: return (number_range){16, false};
    case PAWL_KIND_UINT32: return (number_range){32, false};
    case PAWL_KIND_UINT64:
        return (number_range){63, false}; /* larger values are neither written nor read */
    case PAWL_KIND_DOUBLE: return (number_range){1024, true};
    default: return (number_range){0, false};
    }
}

/* Is its JSON a text that other such kinds can read? Not bytes: others would read their base64 as the text. */
static bool is_text(pawl_kind kind)
{
    return kind == PAWL_KIND_TEXT || kind == PAWL_KIND_FIXED || kind == PAWL_KIND_UUID ||
           kind == PAWL_KIND_TIME || kind == PAWL_KIND_ENUM;
}

/* The first name of an enum that the other does not have; NULL: it has all. */
static const char *lost_name(const pawl_enum *from, const pawl_enum *to)
{
    for (size_t i = 0; i < from->count; i++) {
        size_t j = 0;
        while (j < to->count && strcmp(from->names[i], to->names[j]) != 0)
            j++;
        if (j == to->count)
            return from->names[i];
    }
    return NULL;
}

static bool takes_kind(const pawl_field *from, const pawl_field *to)
{
    number_range was = range_of(from->kind), is = range_of(to->kind);
    if (to->kind == PAWL_KIND_JSON || (to->kind == PAWL_KIND_TEXT && is_text(from->kind)))
        return true;
    if (to->kind == PAWL_KIND_DOUBLE && from->kind != PAWL_KIND_DOUBLE)
        return was.bits != 0 && was.bits <= DOUBLE_BITS;
    if (was.bits != 0)
        return is.bits >= was.bits && (is.is_signed || !was.is_signed);
    if (to->kind == PAWL_KIND_FIXED)
        return from->kind == PAWL_KIND_FIXED && from->fixed_size <= to->fixed_size;
    return from->kind == to->kind;
}

static void compare_enum(const pawl__upgrade_check *check, const pawl_enum *from,
                         const pawl_enum *to, const char *path)
{
    const char *lost = lost_name(from, to);
    if (lost != NULL)
        pawl__upgrade_report(check, PAWL_UPGRADE_NARROWED, pawl_text_of(path),
                             "enum %s has no '%s' any more", to->name, lost);
}

/* A saga with `stores_defaults` writes all members, an unset one as null. Rows written before it had that option are
 * found by the check of rows. */
static void compare_default(const pawl__upgrade_check *check, const pawl_field *from,
                            const pawl_field *to, const char *path)
{
    bool is_stored =
        from->shape == PAWL_ONE && check->was_format != NULL && check->was_format->stores_defaults;
    if (!is_stored && pawl__upgrade_misreads(from, to))
        pawl__upgrade_report(
            check, PAWL_UPGRADE_MISREAD, pawl_text_of(path),
            "it is left out of rows where it was %s, and they read as %s: keep the default, or "
            "raise .version and add an upcaster that writes it",
            pawl__upgrade_default(from), pawl__upgrade_default(to));
}

static bool is_number(pawl_times times)
{
    return times == PAWL_TIMES_UNIX_US || times == PAWL_TIMES_UNIX_MS;
}

/* Reports a change of the time format that would silently read other times. All other changes are refused by the
 * reader. */
static void compare_times(const pawl__upgrade_check *check, const pawl_field *from,
                          const char *path)
{
    if (from->kind == PAWL_KIND_TIME && check->was_format != NULL &&
        check->was_format->times != check->is_format->times &&
        is_number(check->was_format->times) && is_number(check->is_format->times))
        pawl__upgrade_report(
            check, PAWL_UPGRADE_MISREAD, pawl_text_of(path),
            "the unit of .times is another one: raise .version, and put the old format into "
            ".older_formats");
}

static void compare_field(const pawl__upgrade_check *check, const pawl_field *from,
                          const pawl_field *to, const char *path)
{
    if (to->required && !from->required)
        pawl__upgrade_report(check, PAWL_UPGRADE_NARROWED, pawl_text_of(path),
                             "it is required, and was not");
    if ((from->shape == PAWL_LIST) != (to->shape == PAWL_LIST))
        pawl__upgrade_report(check, PAWL_UPGRADE_NARROWED, pawl_text_of(path),
                             "it is %s list, and was %s", to->shape == PAWL_LIST ? "a" : "no",
                             to->shape == PAWL_LIST ? "none" : "one");
    else if (!takes_kind(from, to))
        pawl__upgrade_report(
            check, PAWL_UPGRADE_NARROWED, pawl_text_of(path),
            "the type that it has does not take all values of the one that it had");
    else {
        if (from->kind == PAWL_KIND_ENUM && to->kind == PAWL_KIND_ENUM)
            compare_enum(check, from->enumeration(), to->enumeration(), path);
        compare_default(check, from, to, path);
        if (to->kind == PAWL_KIND_TIME)
            compare_times(check, from, path);
    }
}

/* Finds members that exchanged their JSON names: {a .json = "a", b .json = "b"} became {a .json = "b", b .json = "a"},
 * so each reads what the other wrote. */
static void compare_name(const pawl__upgrade_check *check, const pawl_record *from,
                         const pawl_record *to, const pawl_field *was, const pawl_field *is,
                         const char *path)
{
    for (size_t i = 0; i < to->field_count && strcmp(was->name, is->name) != 0; i++) {
        const pawl_field *other = pawl__field_at(to, i);
        if (strcmp(other->name, was->name) == 0 &&
            pawl__upgrade_field(from, pawl_field_json(other)) != NULL)
            pawl__upgrade_report(
                check, PAWL_UPGRADE_MISREAD, pawl_text_of(path),
                "%s wrote it, and %s reads it, while %s reads %s: were two .json names exchanged?",
                was->name, is->name, other->name, pawl_field_json(other));
    }
}

/* ---- Records --------------------------------------------------------------- */

static const pawl_field *find_new(const pawl_record *from, const pawl_record *to,
                                  const pawl_field *lost)
{
    for (size_t i = 0; i < to->field_count; i++) {
        const pawl_field *field = pawl__field_at(to, i);
        if (pawl__upgrade_field(from, pawl_field_json(field)) == NULL &&
            (field->shape == PAWL_LIST) == (lost->shape == PAWL_LIST) && takes_kind(lost, field))
            return field;
    }
    return NULL;
}

static void report_lost(const pawl__upgrade_check *check, const pawl_record *from,
                        const pawl_record *to, const pawl_field *lost, const char *path)
{
    const pawl_field *renamed = find_new(from, to, lost);
    if (renamed != NULL)
        pawl__upgrade_report(check, PAWL_UPGRADE_UNREAD_MEMBER, pawl_text_of(path),
                             "record %s does not have it, and has a new %s: was it renamed?",
                             to->name, pawl_field_json(renamed));
    else
        pawl__upgrade_report(check, PAWL_UPGRADE_UNKNOWN_MEMBER, pawl_text_of(path),
                             "record %s does not have it", to->name);
}

static void compare_fields(const pawl__upgrade_check *check, const pawl_record *from,
                           const pawl_record *to, const char *before, int depth)
{
    char path[PAWL__UPGRADE_PATH_SIZE];
    for (size_t i = 0; i < from->field_count; i++) {
        const pawl_field *was = pawl__field_at(from, i);
        const pawl_field *is  = pawl__upgrade_field(to, pawl_field_json(was));
        snprintf(path, sizeof path, "%s%s", before, pawl_field_json(was));
        if (is == NULL) {
            report_lost(check, from, to, was, path);
            continue;
        }
        compare_field(check, was, is, path);
        compare_name(check, from, to, was, is, path);
        /* a record that contains itself is compared only once */
        if (was->kind != PAWL_KIND_RECORD || is->kind != PAWL_KIND_RECORD ||
            was->record() == from || depth == PAWL_RECORD_DEPTH_MAX)
            continue;
        snprintf(path, sizeof path, "%s%s%s.", before, pawl_field_json(was),
                 was->shape == PAWL_LIST ? "[]" : "");
        compare_fields(check, was->record(), is->record(), path, depth + 1);
    }
    for (size_t i = 0; i < to->field_count; i++) {
        const pawl_field *is = pawl__field_at(to, i);
        snprintf(path, sizeof path, "%s%s", before, pawl_field_json(is));
        if (is->required && pawl__upgrade_field(from, pawl_field_json(is)) == NULL)
            pawl__upgrade_report(check, PAWL_UPGRADE_NARROWED, pawl_text_of(path),
                                 "it is required, and is not written yet");
    }
}

static void compare_records(pawl__upgrade_check *check, const char *kind, pawl_text type,
                            const pawl_record *from, const pawl_record *to)
{
    int was = pawl_record_version(from), is = pawl_record_version(to);
    check->at = (pawl_upgrade_found){.kind = kind, .type = type, .version = was};
    if (is < was || (is > was && to->upcast == NULL))
        pawl__upgrade_report(check, PAWL_UPGRADE_NO_UPCAST, PAWL_TEXT(""),
                             "version %d becomes %d, %s", was, is,
                             is < was ? "and there is no way back" : "without an upcaster");
    else if (is == was)
        compare_fields(check, from, to, "", 0);
}

/* ---- Sagas and streams ----------------------------------------------------- */

static bool is_same(const pawl_correlation *left, const pawl_correlation *right)
{
    return left->type == right->type && pawl_text_equal(left->property, right->property);
}

/* A saga remains findable if the new program looks it up by a column that the old one fills. */
static void compare_correlation(const pawl__upgrade_check *check, const pawl_saga_table *from,
                                const pawl_saga_table *to)
{
    if (from->main.type == PAWL_VALUE_NONE || to->main.type == PAWL_VALUE_NONE ||
        is_same(&from->main, &to->main) || is_same(&from->main, &to->transitional) ||
        (from->transitional.type != PAWL_VALUE_NONE && is_same(&from->transitional, &to->main)))
        return;
    if (pawl_text_equal(from->main.property, to->main.property) ||
        pawl_text_equal(from->main.property, to->transitional.property)) {
        pawl__upgrade_report(check, PAWL_UPGRADE_CORRELATION, from->main.property,
                             "its type is another one, and pawl does not convert the column: "
                             "replace it by a new property");
        return;
    }
    pawl__upgrade_report(
        check, PAWL_UPGRADE_CORRELATION, to->main.property,
        "it was %.*s, which is neither the correlation nor the transitional property any more",
        PAWL_TEXT_ARGS(from->main.property));
}

static void report_removed(pawl__upgrade_check *check, const char *kind, pawl_text type,
                           const char *member, const char *text)
{
    check->at = (pawl_upgrade_found){.kind = kind, .type = type};
    pawl__upgrade_report(check, PAWL_UPGRADE_REMOVED, pawl_text_of(member), "%s", text);
}

static void compare_events(pawl__upgrade_check *check, const pawl__stream_model *from,
                           const pawl__stream_model *to)
{
    for (size_t i = 0; i < from->apply_count; i++) {
        const pawl__apply_model *was = &from->applies[i];
        const pawl__apply_model *is  = pawl__model_apply(to, was->type);
        if (is == NULL)
            report_removed(check, "event", was->type, "", "it has no function in .apply");
        else
            compare_records(check, "event", was->type, was->event, is->event);
    }
}

static void compare_saga(pawl__upgrade_check *check, const pawl__saga_model *from,
                         const pawl__saga_model *to)
{
    const char *kind = pawl__model_kind(from);
    pawl_text   type = from->table.type;
    if (to == NULL || (from->stream == NULL) != (to->stream == NULL)) {
        report_removed(check, kind, type, "", "no table registers it");
        return;
    }
    check->was_format = &from->format;
    check->is_format  = &to->format;
    compare_records(check, from->stream == NULL ? kind : "snapshot", type, from->state, to->state);
    check->was_format = check->is_format = NULL;
    check->at                            = (pawl_upgrade_found){.kind = kind, .type = type};
    if (from->stream != NULL)
        compare_events(check, from->stream, to->stream);
    else if (!pawl_text_equal(from->table.name, to->table.name))
        pawl__upgrade_report(check, PAWL_UPGRADE_REMOVED, PAWL_TEXT(""),
                             "its table is %.*s, and was %.*s", PAWL_TEXT_ARGS(to->table.name),
                             PAWL_TEXT_ARGS(from->table.name));
    else
        compare_correlation(check, &from->table, &to->table);
}

/* ---- Endpoints ------------------------------------------------------------- */

static void compare_types(pawl__upgrade_check *check, const pawl__model *from,
                          const pawl__model *to)
{
    for (size_t i = 0; i < from->type_count; i++) {
        const pawl__type_model *was = from->types[i];
        const pawl__type_model *is  = pawl__model_type(to, was->type);
        if (was->count == 0)
            continue;
        if (is == NULL || is->count == 0)
            report_removed(check, "message", was->type, "", "no handler takes it");
        else
            compare_records(check, "message", was->type, was->record, is->record);
    }
}

static void compare_names(pawl__upgrade_check *check, const pawl__model *from,
                          const pawl__model *to)
{
    for (size_t i = 0; i < from->timeout_count; i++) {
        const pawl__timeout_model *was  = &from->timeouts[i];
        pawl_text                  saga = was->saga->table.type;
        if (pawl__model_saga(to, saga) != NULL && pawl__model_timeout(to, saga, was->name) == NULL)
            report_removed(check, "timeout", saga, was->name.data, "the saga knows it no more");
    }
    for (size_t i = 0; i < from->aggregator_count; i++)
        if (pawl__model_aggregator(to, from->aggregators[i].name) == NULL)
            report_removed(check, "aggregator", from->aggregators[i].name, "",
                           "no table registers it");
}

/* Finds a projection in any endpoint, as its checkpoint depends only on its name. */
static const pawl__projection_model *find_projection(const pawl_upgrade *upgrade, pawl_text name)
{
    for (size_t i = 0; i < upgrade->model_count; i++)
        for (size_t j = 0; j < upgrade->models[i]->projection_count; j++)
            if (pawl_text_equal(upgrade->models[i]->projections[j].name, name))
                return &upgrade->models[i]->projections[j];
    return NULL;
}

/* Reports event types that the old projection handled and the new one would skip. */
static void compare_projections(pawl__upgrade_check *check, const pawl__model *from)
{
    for (size_t i = 0; i < from->projection_count; i++) {
        const pawl__projection_model *was = &from->projections[i];
        const pawl__projection_model *is  = find_projection(check->upgrade, was->name);
        if (is == NULL)
            report_removed(check, "projection", was->name, "", "no table registers it");
        for (size_t j = 0; is != NULL && j < was->on_count; j++) {
            const pawl__projection_on *on = pawl__model_projection_on(is, was->on[j].type);
            if (on != NULL)
                compare_records(check, "event", on->type, was->on[j].event, on->event);
        }
    }
}

pawl_code pawl_upgrade_compare(const pawl_upgrade *from, const pawl_upgrade *to, pawl_arena *arena,
                               pawl_upgrade_fn *found, void *context, pawl_error *error)
{
    pawl__upgrade_check check = {
        .upgrade = to, .arena = arena, .found = found, .context = context, .error = error};
    for (size_t i = 0; i < from->model_count; i++) {
        const pawl__model *was = from->models[i];
        const pawl__model *is  = pawl__upgrade_model(to, was->endpoint);
        compare_projections(&check, was);
        if (is == NULL || !pawl_text_equal(was->queue, is->queue)) {
            report_removed(&check, "endpoint", was->endpoint, was->queue.data,
                           "no endpoint of that name reads its queue");
            continue;
        }
        for (size_t j = 0; j < was->saga_count; j++)
            compare_saga(&check, &was->sagas[j], pawl__model_saga(is, was->sagas[j].table.type));
        compare_types(&check, was, is);
        compare_names(&check, was, is);
    }
    return PAWL_OK;
}
