/* saga_list.c - `pawl saga list|show`: the sagas of an application, by their tables.
 *
 * A page is a walk over a table, which has both versions, and a load of the same sagas, which
 * has the rest. A saga that ended in between is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"
#include "cli/saga/saga.h"

#include <string.h>

#define TIMEOUTS_MAX 100 /* printed by show */

/* ---- Columns --------------------------------------------------------------- */

typedef struct shown_saga {
    pawl_text name; /* TYPE/VALUE, or TYPE/ID */
    pawl_text type, table, value, transitional;
    pawl_uuid id;
    int64_t   version;
    pawl_text type_version, persistence_version;
    pawl_time begun;
    int64_t   state_size;
    pawl_text state, metadata, originator, original_message_id;
} shown_saga;

#define SAGA(key, kind, member, ...) PAWL__COLUMN(shown_saga, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    SAGA("saga", TEXT, name, "saga"),
    SAGA("type", TEXT, type, NULL),
    SAGA("table", TEXT, table, NULL),
    SAGA("value", TEXT, value, NULL),
    SAGA("transitional", TEXT, transitional, NULL),
    SAGA("id", ID, id, "id"),
    SAGA("version", COUNT, version, "version"),
    SAGA("type_version", TEXT, type_version, "state of"),
    SAGA("persistence_version", TEXT, persistence_version, "written by"),
    SAGA("begun", TIME, begun, "begun"),
    SAGA("state_size", COUNT, state_size, NULL),
    SAGA("originator", TEXT, originator, NULL, PAWL__LEVEL_SHOW),
    SAGA("original_message_id", TEXT, original_message_id, NULL, PAWL__LEVEL_SHOW),
    SAGA("metadata", JSON, metadata, NULL, PAWL__LEVEL_SHOW),
    SAGA("state", JSON, state, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};

#define TIMEOUT(key, kind, member, ...) \
    PAWL__COLUMN(pawl_timeout_row, key, kind, member, __VA_ARGS__)
static const pawl__column timeout_columns[] = {
    TIMEOUT("timeout", TEXT, name, "timeout"),
    TIMEOUT("due", TIME, due, "due"),
    TIMEOUT("attempts", COUNT_32, attempts, "attempts"),
    TIMEOUT("id", ID, id.uuid, "id"),
    {.key = NULL},
};

const pawl__report pawl__saga_verb_reports[] = {
    {"list, show", columns, NULL},
    {"timeouts, of show", timeout_columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"delete", NULL, "deleted id version timeouts outbox"},
    {"history", pawl__history_columns, NULL},
    {"out, of history", NULL, "sends events timeouts cancelled completed"},
    {"one of sends", NULL, "id type to"},
    {"one of timeouts", NULL, "name due"},
    {"verify-upgrade", NULL, "rows findings warnings more"},
    {"one of findings", NULL, "reason kind type version member count examples"},
    {"one of examples", NULL, "id text"},
    {.what = NULL},
};

/* ---- Tables ---------------------------------------------------------------- */

typedef struct look {
    const pawl__saga_fields *fields;
    pawl_store              *store;
    size_t                   at;    /* table under way */
    pawl_scan_row            after; /* in it */
    bool                     is_behind;
} look;

static const pawl_saga_table *table_of(const look *it)
{
    return it->fields->book.tables.items[it->at];
}

pawl_code pawl__saga_type_check(const pawl__saga_fields *fields, pawl_text type, pawl_error *error)
{
    char        hint[300], shown[PAWL__WORD_SIZE];
    const char *names[PAWL__TEXTS_MAX + 1] = {NULL};
    for (size_t i = 0, count = 0; i < fields->book.tables.count && count < PAWL__TEXTS_MAX; i++) {
        const pawl_saga_table *table = fields->book.tables.items[i];
        const pawl_saga       *saga  = pawl__saga_of(fields->book.loaded.application, table->type);
        if (pawl_text_equal(table->type, type))
            return PAWL_OK;
        if (saga != NULL)
            names[count++] = saga->name;
    }
    snprintf(shown, sizeof shown, "%.*s", PAWL_TEXT_ARGS(type));
    pawl__suggest(shown, "", names, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "%s has no saga '%s'%s", fields->application, shown,
                          hint);
}

/* ---- Rows ------------------------------------------------------------------ */

static pawl_text metadata_member(pawl_text json, const char *name, pawl_arena *arena)
{
    yyjson_doc *doc   = yyjson_read(json.data, json.size, YYJSON_READ_NOFLAG);
    yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), name);
    pawl_text   text  = pawl__must_text(
           arena, (pawl_text){.data = yyjson_is_str(value) ? yyjson_get_str(value) : "",
                              .size = yyjson_is_str(value) ? yyjson_get_len(value) : 0});
    yyjson_doc_free(doc);
    return text;
}

/* A state that no reader knows as JSON is masked as a whole. */
static pawl_text state_text(const look *it, const pawl_saga *saga, pawl_text data,
                            pawl_arena *arena)
{
    pawl_text masked = PAWL_TEXT("\"" PAWL_MASKED "\"");
    if (it->fields->is_revealed)
        return data;
    pawl_code code =
        saga != NULL ? pawl_record_mask(saga->state(), data, arena, &masked, NULL) : PAWL_EDECODE;
    pawl__must_have(code);
    return masked;
}

static void fill(const look *it, const pawl_scan_row *walked, const pawl_saga_row *row,
                 pawl_arena *arena, shown_saga *saga)
{
    const pawl_saga_table *table = table_of(it);
    const pawl_saga       *spec  = pawl__saga_of(it->fields->book.loaded.application, table->type);
    char                   id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(walked->id, id);
    *saga = (shown_saga){.type                = table->type,
                         .table               = table->name,
                         .value               = pawl__saga_value(&row->main, arena),
                         .transitional        = pawl__saga_value(&row->transitional, arena),
                         .id                  = walked->id,
                         .version             = row->version,
                         .type_version        = walked->type_version,
                         .persistence_version = walked->persistence_version,
                         .begun               = pawl__saga_begun(walked->id),
                         .state_size          = (int64_t)row->data.size,
                         .metadata            = row->metadata};
    if (pawl__saga_is_secret(spec) && !it->fields->is_revealed)
        saga->value = PAWL_TEXT(PAWL_MASKED);
    saga->state               = state_text(it, spec, row->data, arena);
    saga->originator          = metadata_member(row->metadata, "Originator", arena);
    saga->original_message_id = metadata_member(row->metadata, "OriginalMessageId", arena);
    saga->name                = pawl__must_printf(
                       arena, "%.*s/%.*s", PAWL_TEXT_ARGS(table->type),
                       PAWL_TEXT_ARGS(saga->value.size == 0 || pawl__saga_is_secret(spec) ? pawl_text_of(id)
                                                                                          : saga->value));
}

/* Loads the sagas of a walk's page and adds those that are still there. */
static pawl_code add_page(const look *it, const pawl_scan_rows *walked, pawl_arena *arena,
                          shown_saga *sagas, size_t *count, pawl_error *error)
{
    pawl_value    *ids  = pawl__must_take(arena, (walked->count + 1) * sizeof *ids);
    pawl_saga_row *rows = pawl__must_take(arena, (walked->count + 1) * sizeof *rows);
    pawl_code      code = PAWL_OK;
    for (size_t i = 0; i < walked->count; i++)
        ids[i] = pawl_value_uuid(walked->items[i].id);
    if (walked->count > 0)
        code = pawl_store_saga_load(it->store, table_of(it), PAWL_SAGA_BY_ID, ids, walked->count,
                                    PAWL_SAGA_UNLOCKED, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < walked->count; i++)
        if (rows[i].presence == PAWL_SAGA_THERE)
            fill(it, &walked->items[i], &rows[i], arena, &sagas[(*count)++]);
    return code;
}

/* Reads a page of the table under way. A table that is not there has no sagas. */
static pawl_code walk_table(look *it, size_t count_max, pawl_arena *arena, pawl_scan_rows *rows,
                            pawl_error *error)
{
    const pawl_scan walk = {.kind      = PAWL_SCAN_SAGAS,
                            .table     = table_of(it),
                            .after     = it->is_behind ? &it->after : NULL,
                            .count_max = count_max};
    pawl_code       code = pawl_store_scan(it->store, &walk, arena, rows, error);
    if (code == PAWL_ESCHEMA) {
        rows->count = 0;
        code        = PAWL_OK;
    }
    if (rows->count > 0)
        it->after = (pawl_scan_row){.id = rows->items[rows->count - 1].id};
    it->is_behind = it->is_behind || rows->count > 0;
    return code;
}

/* ---- List ------------------------------------------------------------------ */

/* The walk of one table after another; --after counts in each table of the type. */
static void enter_table(look *it)
{
    it->is_behind = it->fields->after != NULL;
    it->after     = (pawl_scan_row){.number = 0};
    if (it->is_behind)
        (void)pawl_uuid_parse(pawl_text_of(it->fields->after), &it->after.id, NULL);
}

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    look       *it    = context;
    pawl_text   type  = pawl_text_of(it->fields->type);
    shown_saga *sagas = pawl__must_take(arena, (count_max + 1) * sizeof *sagas);
    pawl_code   code  = PAWL_OK;
    while (code == PAWL_OK && *count < count_max && it->at < it->fields->book.tables.count) {
        pawl_scan_rows walked = {.count = 0};
        size_t         left   = count_max - *count;
        bool           is_it  = type.size == 0 || pawl_text_equal(type, table_of(it)->type);
        if (is_it)
            code = walk_table(it, left, arena, &walked, error);
        if (code == PAWL_OK)
            code = add_page(it, &walked, arena, sagas, count, error);
        if (code == PAWL_OK && walked.count < left) {
            it->at++;
            enter_table(it);
        }
    }
    *rows = sagas;
    return code;
}

static pawl__view view_of(const pawl__saga_fields *fields, pawl_arena *arena)
{
    return pawl__view_of(columns, "saga", sizeof(shown_saga), fields->is_json, arena);
}

pawl_code pawl__saga_list(const void *context, pawl_store *store, pawl_arena *arena,
                          pawl_error *error)
{
    look       it   = {.fields = context, .store = store};
    pawl__view view = view_of(it.fields, arena);
    pawl_code  code = PAWL_OK;
    if (it.fields->type != NULL)
        code = pawl__saga_type_check(it.fields, pawl_text_of(it.fields->type), error);
    enter_table(&it);
    return code == PAWL_OK ? pawl__rows_list(&view, it.fields->limit, next_page, &it, error) : code;
}

/* ---- Show ------------------------------------------------------------------ */

static pawl_code show_row(look *it, const pawl_saga_row *row, pawl_arena *arena, bool *is_there,
                          pawl_error *error)
{
    pawl_scan_rows    walked   = {.count = 0};
    pawl_timeout_rows timeouts = {.count = 0};
    shown_saga        saga;
    size_t            count = 0;
    it->is_behind           = true;
    it->after               = (pawl_scan_row){.id = pawl__id_before(row->id.uuid)};
    pawl_code code          = walk_table(it, 1, arena, &walked, error);
    if (code == PAWL_OK && walked.count > 0 &&
        pawl_uuid_compare(walked.items[0].id, row->id.uuid) == 0)
        code = add_page(it, &walked, arena, &saga, &count, error);
    *is_there = count > 0;
    if (code == PAWL_OK && *is_there)
        code = pawl_store_timeout_list(it->store, row->id, TIMEOUTS_MAX, arena, &timeouts, error);
    const pawl__inner_rows inner = {"timeouts", timeout_columns, sizeof(pawl_timeout_row),
                                    timeouts.items, timeouts.count};
    pawl__view             view  = view_of(it->fields, arena);
    view.level                   = PAWL__LEVEL_SHOW;
    return code == PAWL_OK && *is_there ? pawl__row_show(&view, &saga, &inner, 1) : code;
}

/* A saga that was deleted is told of by its id. */
static pawl_code show_gone(const look *it, pawl_text type, pawl_text value, pawl_arena *arena,
                           pawl_error *error)
{
    pawl__view      view = view_of(it->fields, arena);
    pawl_saga_id    id;
    pawl_event_rows events = {.count = 0};
    pawl_code       code   = PAWL_OK;
    if (pawl_uuid_parse(value, &id.uuid, NULL) == PAWL_OK)
        code = pawl_store_saga_actions(it->store, type, id, arena, &events, error);
    if (code == PAWL_OK && events.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no saga %s", it->fields->shown);
    if (code != PAWL_OK)
        return code;
    const pawl__action_rows actions = pawl__actions_read(&events, "pawl.saga_", arena);
    if (!view.is_json)
        printf("saga %s is not there any more\n", it->fields->shown);
    return pawl__actions_show(&view, NULL, &actions);
}

pawl_code pawl__saga_show(const void *context, pawl_store *store, pawl_arena *arena,
                          pawl_error *error)
{
    look          it       = {.fields = context, .store = store};
    bool          is_there = false;
    pawl_text     type, value;
    pawl_saga_row row;
    (void)pawl__saga_split(pawl_text_of(it.fields->shown), &type, &value);
    pawl_code code = pawl__saga_type_check(it.fields, type, error);
    for (; code == PAWL_OK && !is_there && it.at < it.fields->book.tables.count; it.at++) {
        if (!pawl_text_equal(table_of(&it)->type, type))
            continue;
        code = pawl__saga_find_in(store, table_of(&it), value, arena, &row, error);
        if (code == PAWL_OK && row.presence == PAWL_SAGA_THERE)
            code = show_row(&it, &row, arena, &is_there, error);
    }
    return code == PAWL_OK && !is_there ? show_gone(&it, type, value, arena, error) : code;
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_filters(const pawl__saga_fields *fields, pawl_error *error)
{
    pawl_uuid id;
    if (fields->after == NULL)
        return PAWL_OK;
    if (fields->type == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--after: sagas are listed by type and id: give --type TYPE");
    return pawl_uuid_parse(pawl_text_of(fields->after), &id, NULL) == PAWL_OK
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL, "--after: '%.60s' is no id of a saga",
                                fields->after);
}

pawl_code pawl__saga_look_check(const pawl__saga_fields *fields, pawl_error *error)
{
    bool is_list = strcmp(fields->action, "list") == 0;
    if (fields->application == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl saga %s needs --app APP.so, which has the tables of its sagas",
                              fields->action);
    if (is_list)
        return check_filters(fields, error);
    pawl_text type, value;
    if (!pawl__saga_split(pawl_text_of(fields->shown), &type, &value))
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%.200s' is no TYPE/VALUE: a saga's type and its correlation value, "
                              "or its id",
                              fields->shown);
    return PAWL_OK;
}
