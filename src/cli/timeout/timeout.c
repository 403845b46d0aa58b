/* timeout.c - `pawl timeout list|show`: shows timeouts and when they are due. timeout_find.c selects them and has their
 * columns, timeout_settle.c has cancel, move, reap, run-now and set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

#define ACTIONS(X)                                                                                 \
    X(CANCEL, "cancel", "ID ...", "remove them: they never happen", pawl__timeout_settle)          \
    X(LIST, "list", "", "what is to happen, by time", list)                                        \
    X(MOVE, "move", "ID ...", "later, with --by; at another time, with --to",                      \
      pawl__timeout_settle)                                                                        \
    X(REAP, "reap", "ID ...", "clear leases that ran out, of workers that crashed",                \
      pawl__timeout_settle)                                                                        \
    X(RUN_NOW, "run-now", "ID ...", "make them due now", pawl__timeout_settle)                     \
    X(SET, "set", "",                                                                              \
      "one for the saga of --saga, with --name and --by or --to: it wakes one that nothing wakes", \
      pawl__timeout_set)                                                                           \
    X(SHOW, "show", "ID", "one of them, whose it is, and what happens next", show)
PAWL__ACTIONS(ACTIONS)

#define FOR_LIST (1U << ACTION_LIST)
#define FOR_MOVE (1U << ACTION_MOVE)
#define FOR_SET (1U << ACTION_SET)
#define FOR_BULK (1U << ACTION_CANCEL | FOR_MOVE | 1U << ACTION_REAP | 1U << ACTION_RUN_NOW)
#define FOR_MANY (FOR_LIST | FOR_BULK)

const pawl__argument pawl__timeout_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(pawl__timeout_fields, words.action),
    PAWL__ARGUMENT(pawl__timeout_fields, "ID", words.ids, "as list has it", .is_optional = true,
                   .is_list = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) \
    PAWL__OPTION(pawl__timeout_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__timeout_verb_options[] = {
    OPTION("all", FLAG, words.is_all, NULL, FOR_BULK, "every timeout that the options match"),
    OPTION("app", TEXT, book.app, "APP.so", 0,
           "the program that has the sagas: they are named by their values"),
    OPTION("by", DURATION, by, "DURATION", FOR_MOVE | FOR_SET,
           "later by that: 15m 2h 2d; set: from now on", 1, INT64_MAX),
    PAWL__OPTIONS_ROWS(pawl__timeout_fields, at, words.is_json),
    OPTION("destination", FILTER, destination, "NAME", FOR_MANY | FOR_SET,
           "that are handled from this queue, or sent to this route; set needs it without --app"),
    OPTION("dry-run", FLAG, words.is_dry, NULL, FOR_BULK, "with --all: only count them"),
    PAWL__OPTION_LIMIT(pawl__timeout_fields, limit, FOR_LIST, "timeouts"),
    OPTION("name", FILTER, name, "NAME", FOR_MANY | FOR_SET, "of this name"),
    PAWL__OPTION_REASON(pawl__timeout_fields, words.reason, FOR_BULK | FOR_SET, "record"),
    OPTION("saga", FILTER, saga, "TYPE/VALUE|TYPE/ID", FOR_MANY | FOR_SET,
           "of this saga; by its value with --app"),
    PAWL__OPTION_SAGA_PREFIX(pawl__timeout_fields, book.prefix, 0),
    OPTION("saga-type", FILTER, saga_type, "TYPE", FOR_MANY, "of sagas of this type"),
    OPTION("since", TIME, since, "TIME", FOR_MANY,
           "due at this time or after: 2026-11-22T08:00:00Z"),
    OPTION("to", TIME, to, "TIME", FOR_MOVE | FOR_SET, "due at this time instead"),
    OPTION("until", TIME, until, "TIME", FOR_MANY, "due at this time or before"),
    OPTION("yes", FLAG, words.is_agreed, NULL, FOR_BULK, "with --all: without asking"),
    {.name = NULL},
};

const pawl__report pawl__timeout_verb_reports[] = {
    {"list, show", pawl__timeout_columns, NULL},    {"cancel, move", NULL, "cancelled moved left"},
    {"reap, run-now", NULL, "reaped run_now left"}, {"set", NULL, "set id due was_due"},
    {"with --dry-run", NULL, "matching"},           {.what = NULL},
};

/* ---- List ------------------------------------------------------------------ */

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    pawl__timeout_cursor *cursor = context;
    pawl__shown_timeout  *shown  = NULL;
    pawl_timeout_rows     found  = {.count = 0};
    pawl_code             code   = pawl__timeout_page(cursor, count_max, arena, &found, error);
    if (code == PAWL_OK)
        code = pawl__timeout_shown(cursor->fields, cursor->store, found.items, found.count, arena,
                                   &shown, error);
    *rows  = shown;
    *count = found.count;
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    pawl__view                  view = pawl__view_of(&pawl__timeouts, fields->words.is_json, arena);
    pawl__timeout_cursor        cursor;
    pawl_arena                 *own = pawl__must_create(); /* the view's is reset for each page */
    pawl_code code = pawl__timeout_cursor_begin(fields, store, own, &cursor, error);
    if (code == PAWL_OK)
        code = pawl__rows_list(&view, fields->limit, next_page, &cursor, error);
    pawl__timeout_cursor_end(&cursor);
    pawl_arena_destroy(own);
    return code;
}

/* ---- Show ------------------------------------------------------------------ */

static pawl_code find_next(pawl_store *store, pawl__shown_timeout *shown, pawl_time now,
                           pawl_arena *arena, pawl_error *error)
{
    const pawl_timeout_row *row   = &shown->row;
    pawl_queue_infos        infos = {.count = 0};
    char                    age[PAWL__SPAN_SIZE];
    pawl_code               code = pawl_store_queue_infos(store, now, arena, &infos, error);
    if (code != PAWL_OK)
        return code;
    const pawl_queue_info *queue =
        PAWL__ROW_OF(pawl_queue_info, queue, infos.items, infos.count, row->destination);
    if (!pawl_uuid_is_zero(row->owner.uuid) && row->lease_expires > now)
        shown->next = pawl__must_printf(arena, "it is in flight at a worker; its lease ends %s",
                                        pawl__age_text(row->lease_expires, now, age));
    else
        shown->next = pawl__must_printf(
            arena, "%s %s%s%.*s%s", row->due > now ? "fires" : "is due since",
            pawl__age_text(row->due, now, age), ": for ", PAWL_TEXT_ARGS(row->destination),
            queue != NULL && queue->workers > 0 ? "" : "; no worker that reads it is alive");
    if (row->attempts > 0)
        shown->next = pawl__must_printf(arena, "%.*s; %d failed: the log has the error",
                                        PAWL_TEXT_ARGS(shown->next), (int)row->attempts);
    return PAWL_OK;
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    pawl__view                  view = pawl__view_of(&pawl__timeouts, fields->words.is_json, arena);
    pawl__shown_timeout        *shown = NULL;
    pawl_timeout_rows           rows  = {.count = 0};
    pawl__timeout_cursor        cursor;
    pawl_code code = pawl__timeout_cursor_begin(fields, store, arena, &cursor, error);
    if (code == PAWL_OK)
        code = pawl__timeout_named(&cursor, arena, &rows, error);
    pawl__timeout_cursor_end(&cursor);
    if (code != PAWL_OK)
        return code;
    view.level = PAWL__LEVEL_SHOW;
    code       = pawl__timeout_shown(fields, store, rows.items, 1, arena, &shown, error);
    if (code == PAWL_OK)
        code = find_next(store, shown, view.now, arena, error);
    if (code != PAWL_OK)
        return code;
    return pawl__row_show(&view, shown, NULL, 0);
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    pawl__timeout_fields *fields = context;
    const char           *action = fields->words.action;
    pawl_code             code   = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < fields->words.ids.count; i++) {
        pawl_uuid id;
        code = pawl_uuid_parse(pawl_text_of(fields->words.ids.items[i]), &id, error);
        if (code != PAWL_OK)
            code = pawl_error_wrap(error, code, "ID");
    }
    if (code == PAWL_OK && strcmp(action, "set") == 0)
        code = pawl__timeout_set_check(fields, error);
    else if (code == PAWL_OK && strcmp(action, "list") != 0 && strcmp(action, "show") != 0)
        code = pawl__timeout_settle_check(fields, error);
    if (code == PAWL_OK)
        code = pawl__saga_word_check(fields->saga, fields->book.app != NULL, error);
    return code != PAWL_OK ? code : pawl__saga_book_open(&fields->book, error);
}

PAWL__VERB_CLOSED(timeout, pawl__timeout_fields, pawl__saga_book_close, &fields.book,
                  ACTIONS(PAWL__ACTION_FUNCTION))
