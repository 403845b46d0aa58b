/* rows.c - checks a page of rows of any kind: finds the record that reads each row, and its handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/upgrade/upgrade.h"

#include "base/arena.h"
#include "engine/engine.h"
#include "engine/headers.h"
#include "engine/stream.h"
#include "pawl/store_dead.h"

#include <string.h>

#define NOTHING PAWL_TEXT("")

/* ---- Messages ------------------------------------------------------------ */

/* Reads the body as one of the message's types. The record of a base does not know all members of a derived type. */
static pawl_code look_as(pawl__upgrade_check *check, const pawl_message *message,
                         const pawl_record *record, bool has_members)
{
    int        version = 1;
    pawl_error why     = PAWL_ERROR_INIT;
    pawl_code code = pawl__version_of(message, pawl_text_of(pawl_record_type(record)), check->arena,
                                      &version, &why);
    if (code == PAWL_ENOMEM)
        return pawl_error_set(check->error, code, "%s", why.text);
    if (code == PAWL_OK)
        return pawl__upgrade_body(check, record, version, message->body, has_members, NULL);
    pawl__upgrade_report(check, PAWL_UPGRADE_UNDECODABLE, NOTHING, "%s", why.text);
    return PAWL_OK;
}

/* Reads it as the types that the header names, if the message's own type has no handler. */
static pawl_code look_as_bases(pawl__upgrade_check *check, const pawl__model *model,
                               const pawl_message *message, size_t *count)
{
    pawl_text names;
    pawl_code code =
        pawl__headers_value(message->headers, PAWL_TEXT(PAWL_HEADER_BASE), check->arena, &names);
    while (code == PAWL_OK && names.size > 0) {
        const pawl__type_model *type = pawl__model_type(model, pawl__list_next(&names));
        if (type != NULL && type->count > 0) {
            code = look_as(check, message, type->record, false);
            ++*count;
        }
    }
    return code;
}

/* Finds handlers as the engine does: those of the type and of its bases. */
static pawl_code look_at_types(pawl__upgrade_check *check, const pawl__model *model,
                               const pawl_message *message, size_t *count)
{
    const pawl__type_model *own = pawl__model_type(model, message->type);
    if (own == NULL)
        return look_as_bases(check, model, message, count);
    pawl_code code = PAWL_OK;
    if (own->count > 0) {
        code = look_as(check, message, own->record, true);
        ++*count;
    }
    const pawl_record *record = own->record;
    for (size_t depth = 0; code == PAWL_OK && record->base != NULL && depth < PAWL__BASES_MAX;
         depth++) {
        record = record->base();
        const pawl__type_model *base =
            pawl__model_type(model, pawl_text_of(pawl_record_type(record)));
        if (base == NULL || base->count == 0)
            continue;
        code = look_as(check, message, base->record, false);
        ++*count;
    }
    return code;
}

static pawl_code look_at_message(pawl__upgrade_check *check, const pawl__model *model,
                                 const pawl_message *message)
{
    size_t    count = 0;
    pawl_code code  = look_at_types(check, model, message, &count);
    if (code == PAWL_OK && count == 0)
        pawl__upgrade_report(check, PAWL_UPGRADE_UNHANDLED, NOTHING,
                             "endpoint %s handles no message of this type", model->endpoint.data);
    return code;
}

static void report_foreign(pawl__upgrade_check *check, const char *what, pawl_text name)
{
    pawl__upgrade_report(check, PAWL_UPGRADE_FOREIGN, name, "the program has no %s %.*s", what,
                         PAWL_TEXT_ARGS(name));
}

static pawl_code look_at_queued(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    bool      is_read = false;
    pawl_code code    = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < check->upgrade->model_count; i++) {
        const pawl__model *model = check->upgrade->models[i];
        if (!pawl_text_equal(model->queue, row->belongs_to))
            continue;
        is_read = true;
        code    = look_at_message(check, model, &row->message);
    }
    if (!is_read)
        report_foreign(check, "endpoint that reads queue", row->belongs_to);
    return code;
}

/* Checks the row only if an endpoint of this program receives it. */
static pawl_code look_at_outbox(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    pawl_text queue = pawl__upgrade_queue(check->upgrade, row->name, row->belongs_to);
    for (size_t i = 0; i < check->upgrade->model_count; i++)
        if (pawl_text_equal(check->upgrade->models[i]->queue, queue))
            return look_at_message(check, check->upgrade->models[i], &row->message);
    return PAWL_OK;
}

/* ---- Timeouts ------------------------------------------------------------ */

static void look_at_name(pawl__upgrade_check *check, const pawl__model *model, pawl_text name)
{
    if (pawl__model_timeout(model, check->at.type, name) != NULL)
        return;
    if (pawl__model_saga(model, check->at.type) == NULL)
        pawl__upgrade_report(check, PAWL_UPGRADE_UNHANDLED, name, "endpoint %s has no saga %.*s",
                             model->endpoint.data, PAWL_TEXT_ARGS(check->at.type));
    else
        pawl__upgrade_report(check, PAWL_UPGRADE_UNHANDLED, name,
                             "saga %.*s knows no timeout '%.*s'", PAWL_TEXT_ARGS(check->at.type),
                             PAWL_TEXT_ARGS(name));
}

/* Skips schedules: their rows have all that is needed to send, and their messages are checked in their queue. */
static pawl_code look_at_timeout(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    if (pawl_text_equal(check->at.type, PAWL_TEXT(PAWL__SCHEDULE_SAGA)))
        return PAWL_OK;
    for (size_t i = 0; i < check->upgrade->model_count; i++)
        if (pawl_text_equal(check->upgrade->models[i]->queue, row->belongs_to)) {
            look_at_name(check, check->upgrade->models[i], row->name);
            return PAWL_OK;
        }
    report_foreign(check, "endpoint that reads queue", row->belongs_to);
    return PAWL_OK;
}

/* ---- Dead letters -------------------------------------------------------- */

/* Checks a dead letter, but not one that is dead because it could not be decoded or had no handler. */
static pawl_code look_at_letter(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    const pawl__model *model = pawl__upgrade_model(check->upgrade, row->belongs_to);
    pawl_text          saga;
    check->is_lenient = pawl_text_equal(row->code, PAWL_TEXT("EDECODE"));
    if (model == NULL) {
        report_foreign(check, "endpoint", row->belongs_to);
        return PAWL_OK;
    }
    pawl_code code =
        pawl__headers_value(row->message.headers, PAWL_TEXT(PAWL_HEADER_SAGA), check->arena, &saga);
    if (code != PAWL_OK || saga.data == NULL)
        return code != PAWL_OK ? code : look_at_message(check, model, &row->message);
    check->at.type = saga; /* a timeout's dead letter has the timeout's name as type */
    look_at_name(check, model, row->message.type);
    return PAWL_OK;
}

/* ---- Streams ------------------------------------------------------------- */

/* The name before "/key". */
static pawl_text name_of_stream(pawl_text stream)
{
    const char *slash = stream.size != 0 ? memchr(stream.data, '/', stream.size) : NULL;
    return (pawl_text){.data = stream.data,
                       .size = slash != NULL ? (size_t)(slash - stream.data) : stream.size};
}

static const pawl__saga_model *stream_of(const pawl__model *model, pawl_text name)
{
    const pawl__saga_model *found = pawl__model_saga(model, name);
    return found != NULL && found->stream != NULL ? found : NULL;
}

static bool is_of_library(pawl_text type)
{
    return pawl_text_equal(type, PAWL_TEXT(PAWL__EVENT_HANDLED)) ||
           pawl_text_equal(type, PAWL_TEXT(PAWL__EVENT_COMPLETED));
}

/* The current event. An entity and projections may read it with the same record. */
typedef struct event_look {
    pawl__upgrade_check *check;
    const pawl_scan_row *row;
    const pawl_record  **tried;
    size_t               count;
    bool                 is_known;
} event_look;

static pawl_code look_at_event_as(event_look *it, const pawl_record *record)
{
    for (size_t i = 0; i < it->count; i++)
        if (it->tried[i] == record)
            return PAWL_OK;
    it->tried[it->count++] = record;
    return pawl__upgrade_body(it->check, record, it->row->version, it->row->message.body, true,
                              NULL);
}

static pawl_code look_at_applied(event_look *it, const pawl__saga_model *stream)
{
    pawl_text                type  = it->row->message.type;
    const pawl__apply_model *apply = pawl__model_apply(stream->stream, type);
    it->is_known                   = true;
    if (apply != NULL)
        return look_at_event_as(it, apply->event);
    if (!is_of_library(type))
        pawl__upgrade_report(it->check, PAWL_UPGRADE_UNHANDLED, NOTHING,
                             "%s %s has no function in .apply", pawl__model_kind(stream),
                             stream->saga->name);
    return PAWL_OK;
}

static pawl_code look_at_projected(event_look *it, const pawl__model *model)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < model->projection_count; i++) {
        const pawl__projection_on *on =
            pawl__model_projection_on(&model->projections[i], it->row->message.type);
        if (on == NULL)
            continue;
        it->is_known = true;
        code         = look_at_event_as(it, on->event);
    }
    return code;
}

/* Streams of pawl itself, such as "pawl.queue". */
static bool is_own(pawl_text name)
{
    static const char prefix[] = "pawl.";
    return name.size >= sizeof prefix - 1 && memcmp(name.data, prefix, sizeof prefix - 1) == 0;
}

static pawl_code look_at_event(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    const pawl_upgrade *upgrade = check->upgrade;
    event_look          it      = {.check = check, .row = row};
    pawl_text           name    = name_of_stream(row->belongs_to);
    pawl_code           code    = PAWL_OK;
    size_t              most    = upgrade->model_count;
    for (size_t i = 0; i < upgrade->model_count; i++)
        most += upgrade->models[i]->projection_count;
    it.tried = pawl_arena_take(check->arena, most * sizeof(pawl_record *));
    if (it.tried == NULL)
        return pawl_error_set(check->error, PAWL_ENOMEM, "out of memory for an event");
    for (size_t i = 0; code == PAWL_OK && i < upgrade->model_count; i++) {
        const pawl__saga_model *stream = stream_of(upgrade->models[i], name);
        if (stream != NULL)
            code = look_at_applied(&it, stream);
        if (code == PAWL_OK)
            code = look_at_projected(&it, upgrade->models[i]);
    }
    if (!it.is_known && !is_own(name))
        report_foreign(check, "process, entity or projection for streams of", name);
    return code;
}

/* Skips a snapshot that cannot be read: it is computed again from the events. */
static pawl_code look_at_fold(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    void *state;
    check->at.type = name_of_stream(row->belongs_to);
    for (size_t i = 0; i < check->upgrade->model_count; i++) {
        const pawl__saga_model *stream = stream_of(check->upgrade->models[i], check->at.type);
        if (stream == NULL)
            continue;
        check->is_lenient = true;
        pawl_code code = pawl__upgrade_body(check, stream->state, row->version, row->message.body,
                                            false, &state);
        check->is_lenient = false;
        return code == PAWL_OK && state != NULL &&
                       row->version == pawl_record_version(stream->state)
                   ? pawl__upgrade_members(check, stream->state, row->message.body)
                   : code;
    }
    if (!is_own(check->at.type))
        report_foreign(check, "process or entity", check->at.type);
    return PAWL_OK;
}

/* ---- Aggregators --------------------------------------------------------- */

static pawl_code look_at_collected(pawl__upgrade_check *check, const pawl_scan_row *row)
{
    for (size_t i = 0; i < check->upgrade->model_count; i++) {
        const pawl__aggregator_model *aggregator =
            pawl__model_aggregator(check->upgrade->models[i], row->belongs_to);
        for (size_t j = 0; aggregator != NULL && j < aggregator->type_count; j++)
            if (pawl_text_equal(aggregator->types[j], row->message.type))
                return look_as(check, &row->message, aggregator->message, j == 0);
        if (aggregator == NULL)
            continue;
        pawl__upgrade_report(check, PAWL_UPGRADE_UNHANDLED, NOTHING,
                             "aggregator %.*s takes no message of this type",
                             PAWL_TEXT_ARGS(row->belongs_to));
        return PAWL_OK;
    }
    report_foreign(check, "aggregator", row->belongs_to);
    return PAWL_OK;
}

/* ---- Pages --------------------------------------------------------------- */

typedef pawl_code row_fn(pawl__upgrade_check *check, const pawl_scan_row *row);

static const struct {
    const char *kind;
    row_fn     *check;
} kinds[PAWL_SCAN_KINDS] = {
    [PAWL_SCAN_QUEUE]            = {"message", look_at_queued},
    [PAWL_SCAN_TIMEOUTS]         = {"timeout", look_at_timeout},
    [PAWL_SCAN_OUTBOX]           = {"outbox", look_at_outbox},
    [PAWL_SCAN_EVENTS]           = {"event", look_at_event},
    [PAWL_SCAN_STREAM_SNAPSHOTS] = {"snapshot", look_at_fold},
    [PAWL_SCAN_AGGREGATORS]      = {"aggregator", look_at_collected},
    [PAWL_SCAN_DEAD]             = {"dead", look_at_letter},
};

/* The id by which operators find the row: of the message, or the stream of an event or snapshot. */
static pawl_text id_of(const pawl_scan *scan, const pawl_scan_row *row, pawl_arena *arena)
{
    switch (scan->kind) {
    case PAWL_SCAN_TIMEOUTS: return pawl__arena_uuid(arena, row->id);
    case PAWL_SCAN_OUTBOX: return pawl_arena_printf(arena, "%lld", (long long)row->number);
    case PAWL_SCAN_EVENTS:
        return pawl_arena_printf(arena, "%.*s, number %lld", PAWL_TEXT_ARGS(row->belongs_to),
                                 (long long)row->number);
    case PAWL_SCAN_STREAM_SNAPSHOTS: return row->belongs_to;
    default: return row->message.id;
    }
}

pawl_code pawl_upgrade_rows(pawl_upgrade *upgrade, pawl_store *store, const pawl_scan *scan,
                            const pawl_scan_rows *rows, pawl_arena *arena, pawl_upgrade_fn *found,
                            void *context, pawl_error *error)
{
    pawl__upgrade_check check = {
        .upgrade = upgrade, .arena = arena, .found = found, .context = context, .error = error};
    pawl_code code = PAWL_OK;
    if ((unsigned)scan->kind > PAWL_SCAN_DEAD)
        return pawl_error_set(error, PAWL_EINVAL, "scan: kind %d is unknown, or has no messages",
                              (int)scan->kind);
    if (scan->kind == PAWL_SCAN_SAGAS)
        return pawl__upgrade_sagas(&check, store, scan->table, rows);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++) {
        check.is_lenient = false;
        check.at         = (pawl_upgrade_found){.kind = kinds[scan->kind].kind,
                                                .type = rows->items[i].message.type,
                                                .row  = (uint32_t)i + 1,
                                                .id   = id_of(scan, &rows->items[i], arena)};
        code             = kinds[scan->kind].check(&check, &rows->items[i]);
    }
    return code;
}
