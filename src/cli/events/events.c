/* events.c - `pawl events list|show`: shows the event store, and the actions of operators in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action;
    const char        *shown_stream, *shown_version; /* arguments of show */
    const char        *stream, *type, *message_id, *correlation_id;
    int64_t            after, limit;
    bool               is_backward, is_by_position, is_json, is_revealed, is_operators;
} verb_fields;

#define ACTIONS(X)                                                                            \
    X(LIST, "list", "", "the events of all streams, or of one; --backward: the newest first", \
      list)                                                                                   \
    X(SHOW, "show", "STREAM [VERSION]", "all events of the stream, or one of them", show)
PAWL__ACTIONS(ACTIONS)

#define FOR_LIST (1U << ACTION_LIST)
#define FOR_SHOW (1U << ACTION_SHOW)

const pawl__argument pawl__events_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(verb_fields, "STREAM", shown_stream,
                   "TYPE/KEY of a process or an entity, as list has it", .is_optional = true),
    PAWL__ARGUMENT(verb_fields, "VERSION", shown_version,
                   "number of the event in it; all where none is given", .is_optional = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__events_verb_options[] = {
    OPTION("after", COUNT, after, "N", FOR_LIST,
           "behind this seq, version (--stream) or global position (--by-position)",
           .max = INT64_MAX),
    OPTION("backward", FLAG, is_backward, NULL, FOR_LIST,
           "newest first; --after N: those before N"),
    OPTION("by-position", FLAG, is_by_position, NULL, FOR_LIST,
           "in the order projections read; events without a global position yet are left out"),
    OPTION("correlation-id", FILTER, correlation_id, "ID", FOR_LIST, "of this conversation"),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    PAWL__OPTION_LIMIT(verb_fields, limit, FOR_LIST, "events"),
    OPTION("message-id", FILTER, message_id, "ID", FOR_LIST, "emitted while it was handled"),
    OPTION("operators", FLAG, is_operators, NULL, FOR_LIST,
           "what operators did, who and why, newest first; with --after and --limit only"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "the bodies as well"),
    OPTION("stream", FILTER, stream, "TYPE/ID", FOR_LIST, "of this stream, by version"),
    OPTION("type", FILTER, type, "TYPE", FOR_LIST, "of this type"),
    {.name = NULL},
};

#define EVENT(key, kind, member, ...) PAWL__COLUMN(pawl_event_row, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    EVENT("seq", COUNT, seq, "seq"),
    EVENT("position", NUMBER, position, "global position"),
    EVENT("stream", TEXT, stream, "stream"),
    EVENT("version", COUNT, version, "version"),
    EVENT("type", TEXT, event.type, "type"),
    EVENT("type_version", COUNT_32, event.type_version, NULL),
    EVENT("at", TIME, event.at, "at"),
    EVENT("message_id", TEXT, event.message_id, "message id"),
    EVENT("correlation_id", TEXT, event.correlation_id, NULL),
    EVENT("causation_id", TEXT, event.causation_id, NULL),
    EVENT("dispatch_id", ID, event.dispatch_id, NULL),
    EVENT("body_size", SIZE, event.body, NULL),
    EVENT("headers", JSON, event.headers, NULL, PAWL__LEVEL_SHOW),
    EVENT("body", TEXT, event.body, NULL, PAWL__LEVEL_REVEAL),
    {.key = NULL},
};

/* An action of an operator. */
typedef struct operator_row {
    int64_t          seq, version;
    pawl_text        stream;
    pawl__action_row done;
} operator_row;

#define OPERATOR(key, kind, member) PAWL__COLUMN(operator_row, key, kind, member, key)
static const pawl__column operator_columns[] = {
    OPERATOR("seq", COUNT, seq),           OPERATOR("at", TIME, done.at),
    OPERATOR("action", TEXT, done.action), OPERATOR("stream", TEXT, stream),
    OPERATOR("version", COUNT, version),   OPERATOR("by", TEXT, done.by),
    OPERATOR("reason", TEXT, done.reason), {.key = NULL},
};
static const pawl__noun events    = {"event", columns, sizeof(pawl_event_row)};
static const pawl__noun operators = {"action", operator_columns, sizeof(operator_row)};

const pawl__report pawl__events_verb_reports[] = {
    {"list, show", columns, NULL}, {"list --operators", operator_columns, NULL}, {.what = NULL}};

/* ---- Reading --------------------------------------------------------------- */

typedef struct list_cursor {
    pawl_store      *store;
    pawl_event_query query;
} list_cursor;

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    list_cursor    *cursor  = context;
    pawl_event_rows found   = {.count = 0};
    cursor->query.count_max = count_max;
    pawl_code code = pawl_store_events(cursor->store, &cursor->query, arena, &found, error);
    if (code != PAWL_OK)
        return code;
    *rows  = found.items;
    *count = found.count;
    if (found.count == 0)
        return PAWL_OK;
    const pawl_event_row *last = &found.items[found.count - 1];
    if (cursor->query.stream.size > 0)
        cursor->query.after = last->version;
    else
        cursor->query.after = cursor->query.is_by_position ? last->position : last->seq;
    return PAWL_OK;
}

/* ---- What operators did ------------------------------------------------------ */

#define OPERATORS_PAGE 200        /* events of one read: their bodies are in memory */
#define OPERATORS_READ_MAX 100000 /* the newest events, which are searched */
#define OPERATORS_PREFIX "pawl."
#define CRASHES_PREFIX "pawl.process/" /* streams of `pawl run --restart` */

typedef struct operators_cursor {
    list_cursor   events;
    pawl_arena   *page; /* for the events of one read */
    operator_row *rows;
    size_t        count, count_max;
    int64_t       read;
    bool          is_cut;
} operators_cursor;

/* Adds the event if it names an operator. */
static void add_operator(operators_cursor *cursor, pawl_event_row *event, pawl_arena *arena)
{
    if (!pawl__text_begins(event->stream, OPERATORS_PREFIX) ||
        pawl__text_begins(event->stream, CRASHES_PREFIX))
        return;
    event->event.type = pawl__must_text(arena, event->event.type);
    const pawl__action_rows done =
        pawl__actions_read(&(pawl_event_rows){.items = event, .count = 1}, OPERATORS_PREFIX, arena);
    if (done.items[0].by.size > 0)
        cursor->rows[cursor->count++] =
            (operator_row){.seq     = event->seq,
                           .version = event->version,
                           .stream  = pawl__must_text(arena, event->stream),
                           .done    = done.items[0]};
}

/* Reads a page of events, and adds its actions up to count_max. `*size`: events of the page. */
static pawl_code look_at_page(operators_cursor *cursor, size_t *size, pawl_arena *arena,
                              pawl_error *error)
{
    pawl_event_rows page           = {.count = 0};
    cursor->events.query.count_max = OPERATORS_PAGE;
    pawl_arena_reset(cursor->page);
    pawl_code code =
        pawl_store_events(cursor->events.store, &cursor->events.query, cursor->page, &page, error);
    for (size_t i = 0; code == PAWL_OK && i < page.count && cursor->count < cursor->count_max;
         i++) {
        cursor->events.query.after = page.items[i].seq;
        cursor->read++;
        add_operator(cursor, &page.items[i], arena);
    }
    *size          = page.count;
    cursor->is_cut = cursor->read >= OPERATORS_READ_MAX && page.count == OPERATORS_PAGE &&
                     cursor->events.query.after > 1;
    return code;
}

static pawl_code next_operators(void *context, size_t count_max, pawl_arena *arena,
                                const void **rows, size_t *count, pawl_error *error)
{
    operators_cursor *cursor = context;
    size_t            size   = OPERATORS_PAGE;
    pawl_code         code   = PAWL_OK;
    cursor->rows             = pawl__must_take(arena, count_max * sizeof *cursor->rows);
    cursor->count            = 0;
    cursor->count_max        = count_max;
    while (code == PAWL_OK && cursor->count < count_max && size == OPERATORS_PAGE &&
           !cursor->is_cut)
        code = look_at_page(cursor, &size, arena, error);
    *rows  = cursor->rows;
    *count = cursor->count;
    return code;
}

static pawl_code list_operators(const verb_fields *fields, pawl_store *store, pawl_arena *arena,
                                pawl_error *error)
{
    pawl__view       view   = pawl__view_of(&operators, fields->is_json, arena);
    operators_cursor cursor = {.events = {store, {.after = fields->after, .is_backward = true}},
                               .page   = pawl__must_create()};
    pawl_code        code   = pawl__rows_list(&view, fields->limit, next_operators, &cursor, error);
    if (code == PAWL_OK && cursor.is_cut)
        fprintf(stderr, "the newest %d events were read; older ones: --after %" PRId64 "\n",
                OPERATORS_READ_MAX, cursor.events.query.after);
    pawl_arena_destroy(cursor.page);
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    if (fields->is_operators)
        return list_operators(fields, store, arena, error);
    pawl__view  view   = pawl__view_of(&events, fields->is_json, arena);
    list_cursor cursor = {store,
                          {.stream         = pawl_text_of(fields->stream),
                           .is_by_position = fields->is_by_position,
                           .after          = fields->after,
                           .is_backward    = fields->is_backward,
                           .type           = pawl_text_of(fields->type),
                           .message_id     = pawl_text_of(fields->message_id),
                           .correlation_id = pawl_text_of(fields->correlation_id)}};
    return pawl__rows_list(&view, fields->limit, next_page, &cursor, error);
}

/* ---- Show ------------------------------------------------------------------ */

/* The whole stream, or the one event right behind the cursor. */
static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl__view         view   = pawl__view_of(&events, fields->is_json, arena);
    list_cursor        cursor = {store, {.stream = pawl_text_of(fields->shown_stream)}};
    bool               is_one = fields->shown_version != NULL;
    int64_t            version;
    view.level    = fields->is_revealed ? PAWL__LEVEL_REVEAL : PAWL__LEVEL_SHOW;
    view.is_pages = true;
    view.noun     = NULL; /* pawl__fail prints that there is none */
    if (is_one && pawl__number_parse(fields->shown_version, &version))
        cursor.query.after = version - 1;
    pawl_code code = pawl__rows_list(&view, is_one ? 1 : INT64_MAX, next_page, &cursor, error);
    if (code != PAWL_OK || view.printed > 0)
        return code;
    if (is_one)
        return pawl_error_set(error, PAWL_ENOTFOUND, "stream %s: there is no version %s",
                              fields->shown_stream, fields->shown_version);
    return pawl_error_set(error, PAWL_ENOTFOUND, "stream %s: there is no event",
                          fields->shown_stream);
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    const verb_fields *fields = context;
    int64_t            version;
    pawl__interrupt_says(NULL);
    if (fields->shown_version != NULL && !pawl__number_parse(fields->shown_version, &version))
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%s' is not a version of an event: they begin at 1",
                              fields->shown_version);
    if (fields->is_operators &&
        (fields->stream != NULL || fields->type != NULL || fields->message_id != NULL ||
         fields->correlation_id != NULL || fields->is_by_position))
        return pawl_error_set(error, PAWL_EINVAL,
                              "--operators goes with --after and --limit, not with other filters");
    if (fields->stream != NULL && fields->is_by_position)
        return pawl_error_set(error, PAWL_EINVAL,
                              "a stream is read by version: give --stream or --by-position");
    return PAWL_OK;
}

PAWL__VERB_ON_STORE(events, verb_fields, ACTIONS(PAWL__ACTION_FUNCTION))
