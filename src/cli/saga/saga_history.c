/* saga_history.c - `pawl saga history`: what became of each message of a saga, from the lines that
 * its endpoint left (`--history`).
 *
 * Lines of the saga come first. A message may have lines of no saga beside them: of runs that failed before
 * the saga began, or while it was waited for. These are looked for by its id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include "pawl/upgrade.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 500

/* ---- Columns --------------------------------------------------------------- */

#define LINE(key, kind, member) PAWL__COLUMN(pawl_history_row, key, kind, member, key)
const pawl__column pawl__history_columns[] = {
    LINE("line", COUNT, id),
    LINE("at", TIME, entry.at),
    LINE("source", TEXT, entry.source),
    LINE("endpoint", TEXT, entry.endpoint),
    LINE("kind", TEXT, entry.kind),
    LINE("type", TEXT, entry.type),
    LINE("message_id", TEXT, entry.message_id),
    LINE("outcome", TEXT, entry.outcome),
    LINE("version", NUMBER, entry.version),
    LINE("attempts", COUNT_32, entry.attempts),
    LINE("duration", DURATION, entry.duration),
    LINE("error", TEXT, entry.error),
    LINE("out", JSON, entry.out),
    {.key = NULL},
};

/* ---- Lines ------------------------------------------------------------------ */

typedef struct found_lines {
    pawl_history_row *items;
    size_t            count, capacity;
} found_lines;

static pawl_code add_lines(found_lines *list, const pawl_history_rows *rows, bool is_sourceless,
                           pawl_arena *arena, pawl_error *error)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_sourceless && rows->items[i].entry.source.size != 0)
            continue;
        pawl_history_row *grown = pawl_arena_grow(arena, list->items, list->count, &list->capacity,
                                                  sizeof list->items[0]);
        if (grown == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory for lines of history");
        list->items                = grown;
        list->items[list->count++] = rows->items[i];
    }
    return PAWL_OK;
}

static pawl_code read_lines(pawl_store *store, pawl_history_query query, bool is_sourceless,
                            found_lines *list, pawl_arena *arena, pawl_error *error)
{
    pawl_history_rows rows = {.count = 0};
    pawl_code         code = PAWL_OK;
    query.count_max        = PAGE;
    do {
        code = pawl_store_history_find(store, &query, arena, &rows, error);
        if (code == PAWL_OK)
            code = add_lines(list, &rows, is_sourceless, arena, error);
        if (rows.count > 0)
            query.after = rows.items[rows.count - 1].id;
    } while (code == PAWL_OK && rows.count == PAGE);
    return code;
}

static int by_id(const void *left, const void *right)
{
    const pawl_history_row *l = left, *r = right;
    return (l->id > r->id) - (l->id < r->id);
}

static int by_message(const void *left, const void *right)
{
    const pawl_history_row *l = left, *r = right;
    int                     order = pawl_text_compare(l->entry.message_id, r->entry.message_id);
    return order != 0 ? order : by_id(left, right);
}

static void sort_lines(found_lines *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof list->items[0], compare);
}

/* Adds the lines of no saga that its messages have, once for each message. */
static pawl_code add_sourceless(pawl_store *store, found_lines *list, pawl_arena *arena,
                                pawl_error *error)
{
    size_t    count = list->count;
    pawl_code code  = PAWL_OK;
    sort_lines(list, by_message);
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl_text id = list->items[i].entry.message_id;
        if (id.size != 0 && (i == 0 || !pawl_text_equal(id, list->items[i - 1].entry.message_id)))
            code =
                read_lines(store, (pawl_history_query){.message_id = id}, true, list, arena, error);
    }
    sort_lines(list, by_id);
    return code;
}

/* ---- The saga ----------------------------------------------------------------- */

typedef struct look_context {
    const pawl__saga_fields *fields;
    const pawl_upgrade      *upgrade; /* NULL: without an application */
} look_context;

/* The id of the saga that has the value; zero: none, or the word is no value of its property. */
static pawl_code find_id(pawl_store *store, const pawl_saga_table *table, pawl_text value,
                         pawl_arena *arena, pawl_uuid *id, pawl_error *error)
{
    const pawl_correlation *const own[] = {
        [PAWL_SAGA_BY_MAIN] = &table->main, [PAWL_SAGA_BY_TRANSITIONAL] = &table->transitional};
    for (int key = PAWL_SAGA_BY_MAIN; key <= PAWL_SAGA_BY_TRANSITIONAL; key++) {
        pawl_saga_row row = {.version = 0};
        if (own[key]->type == PAWL_VALUE_NONE)
            continue;
        pawl_code code = pawl_store_saga_find(store, table, (pawl_saga_key)key,
                                              pawl_value_text(value), arena, &row, error);
        if (code != PAWL_OK && code != PAWL_EINVAL && code != PAWL_ELIMIT)
            return code;
        if (code == PAWL_OK && row.presence == PAWL_SAGA_THERE) {
            *id = row.id.uuid;
            return PAWL_OK;
        }
    }
    return PAWL_OK;
}

/* The source of the lines: TYPE/ID of the saga with that value, or of that id, or else the words as
 * they stand, which is the stream of a process or an entity. */
static pawl_code find_source(const look_context *it, pawl_store *store, pawl_arena *arena,
                             pawl_text *source, pawl_error *error)
{
    const char                   *word  = it->fields->shown;
    const char                   *slash = strchr(word, '/');
    pawl_text                     type  = {.data = word, .size = (size_t)(slash - word)};
    pawl_text                     value = pawl_text_of(slash + 1);
    pawl_uuid                     id    = {{0}};
    char                          text[PAWL_UUID_TEXT_SIZE + 1];
    size_t                        count = 0;
    pawl_code                     code  = PAWL_OK;
    const pawl_saga_table *const *tables =
        it->upgrade != NULL ? pawl_upgrade_tables(it->upgrade, &count) : NULL;
    for (size_t i = 0; i < count && code == PAWL_OK && pawl_uuid_is_zero(id); i++)
        if (pawl_text_equal(tables[i]->type, type))
            code = find_id(store, tables[i], value, arena, &id, error);
    if (code != PAWL_OK)
        return code;
    *source = pawl_text_of(word);
    if (pawl_uuid_is_zero(id) && pawl_uuid_parse(value, &id, NULL) != PAWL_OK)
        return PAWL_OK;
    pawl_uuid_format(id, text);
    *source = pawl_arena_printf(arena, "%.*s/%s", PAWL_TEXT_ARGS(type), text);
    return source->data != NULL ? PAWL_OK
                                : pawl_error_set(error, PAWL_ENOMEM, "out of memory for a name");
}

static pawl_code collect(const look_context *it, pawl_store *store, pawl_arena *arena,
                         found_lines *list, pawl_error *error)
{
    const char *word   = it->fields->shown;
    pawl_text   source = {.data = "", .size = 0};
    if (strchr(word, '/') == NULL)
        return read_lines(store, (pawl_history_query){.message_id = pawl_text_of(word)}, false,
                          list, arena, error);
    pawl_code code = find_source(it, store, arena, &source, error);
    if (code == PAWL_OK)
        code = read_lines(store, (pawl_history_query){.source = source}, false, list, arena, error);
    return code == PAWL_OK ? add_sourceless(store, list, arena, error) : code;
}

/* ---- The verb ------------------------------------------------------------------- */

static pawl_code print(const pawl__saga_fields *fields, const found_lines *list, pawl_arena *arena,
                       pawl_error *error)
{
    const char *format  = fields->format != NULL ? fields->format : "text";
    bool        is_json = fields->is_json || strcmp(format, "json") == 0;
    if (is_json) {
        pawl__view view = pawl__view_of(pawl__history_columns, "line of history",
                                        sizeof(pawl_history_row), true, arena);
        return pawl__rows_print(&view, list->items, list->count, error);
    }
    return pawl__history_print(format, pawl_text_of(fields->shown), list->items, list->count,
                               stdout, error);
}

/* Says how else a saga is named that was not found by its value. */
static const char *other_word(const look_context *it)
{
    const char *slash = strchr(it->fields->shown, '/');
    pawl_uuid   id;
    if (slash == NULL || pawl_uuid_parse(pawl_text_of(slash + 1), &id, NULL) == PAWL_OK)
        return "";
    return it->upgrade == NULL ? "; a saga is found by its value with --app APP.so"
                               : "; of a saga that ended give TYPE/ID, or the id of a message";
}

static pawl_code look_at(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const look_context *it   = context;
    found_lines         list = {.count = 0};
    pawl_code           code = collect(it, store, arena, &list, error);
    if (code == PAWL_OK && list.count == 0)
        return pawl_error_set(
            error, PAWL_ENOTFOUND,
            "there is no history of %s: an endpoint keeps one with pawl run --history TIME%s",
            it->fields->shown, other_word(it));
    return code == PAWL_OK ? print(it->fields, &list, arena, error) : code;
}

pawl_code pawl__saga_history_check(const pawl__saga_fields *fields, pawl_error *error)
{
    if (fields->is_json && fields->format != NULL && strcmp(fields->format, "json") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "--json and --format %s: give one of them",
                              fields->format);
    return PAWL_OK;
}

int pawl__saga_history(pawl__saga_fields *fields)
{
    pawl_error    error   = PAWL_ERROR_INIT;
    pawl__loaded  loaded  = {.application = NULL};
    pawl_upgrade *upgrade = NULL;
    pawl_code     code    = PAWL_OK;
    if (fields->application != NULL)
        code = pawl__application_load(fields->application, &loaded, &error);
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK && fields->application != NULL)
        code = pawl_upgrade_create(loaded.application, fields->saga_prefix, &upgrade, &error);
    const look_context at = {fields, upgrade};
    int                exit_code =
        code == PAWL_OK ? pawl__store_look(&fields->at, look_at, &at) : pawl__fail(code, &error);
    pawl_upgrade_destroy(upgrade);
    if (fields->application != NULL)
        pawl__application_unload(&loaded);
    return exit_code;
}
