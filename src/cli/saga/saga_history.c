/* saga_history.c - `pawl saga history`: what became of each message of a saga, from the lines that
 * its endpoint left (`--history`).
 *
 * Lines of the saga come first. A message may have lines of no saga beside them: of runs that failed before
 * the saga began, or while it was waited for. These are looked for by its id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

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

static void add_lines(found_lines *list, const pawl_history_rows *rows, bool is_sourceless,
                      pawl_arena *arena)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_sourceless && rows->items[i].entry.source.size != 0)
            continue;
        pawl_history_row *grown = pawl__must_grow(arena, list->items, list->count, &list->capacity,
                                                  sizeof list->items[0]);
        list->items             = grown;
        list->items[list->count++] = rows->items[i];
    }
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
            add_lines(list, &rows, is_sourceless, arena);
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

/* The source of the lines: TYPE/ID of the saga with that value, or of that id, or else the words as
 * they stand, which is the stream of a process or an entity. */
static pawl_code find_source(const pawl__saga_fields *fields, pawl_store *store, pawl_arena *arena,
                             pawl_text *source, pawl_error *error)
{
    const pawl_saga_table *table = NULL;
    pawl_saga_row          row;
    pawl_text              word = pawl_text_of(fields->shown), type, value;
    *source                     = word;
    if (!pawl__saga_split(word, &type, &value))
        return PAWL_OK;
    pawl_code code =
        pawl__saga_find(store, &fields->book.tables, type, value, arena, &table, &row, error);
    if (code == PAWL_OK && (table != NULL || pawl_uuid_parse(value, &row.id.uuid, NULL) == PAWL_OK))
        *source = pawl__saga_source(type, row.id, arena);
    return code;
}

static pawl_code collect(const pawl__saga_fields *fields, pawl_store *store, pawl_arena *arena,
                         found_lines *list, pawl_error *error)
{
    const char *word   = fields->shown;
    pawl_text   source = {.data = "", .size = 0};
    if (strchr(word, '/') == NULL)
        return read_lines(store, (pawl_history_query){.message_id = pawl_text_of(word)}, false,
                          list, arena, error);
    pawl_code code = find_source(fields, store, arena, &source, error);
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
        return pawl__rows_print(&view, list->items, list->count);
    }
    return pawl__history_print(format, pawl_text_of(fields->shown), list->items, list->count,
                               stdout, error);
}

/* Says how else a saga is named that was not found by its value. */
static const char *other_word(const pawl__saga_fields *fields)
{
    const char *slash = strchr(fields->shown, '/');
    pawl_uuid   id;
    if (slash == NULL || pawl_uuid_parse(pawl_text_of(slash + 1), &id, NULL) == PAWL_OK)
        return "";
    return fields->application == NULL
               ? "; a saga is found by its value with --app APP.so"
               : "; of a saga that ended give TYPE/ID, or the id of a message";
}

pawl_code pawl__saga_history(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl__saga_fields *fields = context;
    found_lines              list   = {.count = 0};
    pawl_code                code   = collect(fields, store, arena, &list, error);
    if (code == PAWL_OK && list.count == 0)
        return pawl_error_set(
            error, PAWL_ENOTFOUND,
            "there is no history of %s: an endpoint keeps one with pawl run --history TIME%s",
            fields->shown, other_word(fields));
    return code == PAWL_OK ? print(fields, &list, arena, error) : code;
}
