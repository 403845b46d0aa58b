/* projection.c - `pawl projection list|show`: how far projections are, and what one waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action;
    const char        *name;
    bool               is_json;
} verb_fields;

enum { ACTION_LIST, ACTION_SHOW };
static const char *const action_names[] = {"list", "show", NULL};

const pawl__argument pawl__projection_verb_arguments[] = {
    {.name = "ACTION", .offset = offsetof(verb_fields, action), .choices = action_names},
    {.name = "NAME", .offset = offsetof(verb_fields, name), .is_optional = true},
    {.name = NULL},
};
const pawl__option pawl__projection_verb_options[] = {
    PAWL__OPTION_DEADLINE(verb_fields, at),
    {.name   = "json",
     .kind   = PAWL__OPTION_FLAG,
     .offset = offsetof(verb_fields, is_json),
     .help   = "one JSON object on a line each"},
    PAWL__OPTION_PREFIX(verb_fields, at),
    PAWL__OPTION_STORE(verb_fields, at),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef enum state {
    STATE_FAILING, /* waits for an event that fails */
    STATE_READ,    /* a worker leads it */
    STATE_UNREAD,  /* nobody does, or the store cannot tell */
} state;
static const char *const state_names[] = {"failing", "read", "unread"};

typedef struct shown_projection {
    pawl_projection_row row;
    state               state;
    pawl_text           next;
} shown_projection;

#define SHOWN(key, kind, member, heading, level)                               \
    {                                                                          \
        key, PAWL__COLUMN_##kind, offsetof(shown_projection, member), heading, \
            PAWL__LEVEL_##level, NULL                                          \
    }
static const pawl__column columns[] = {
    SHOWN("projection", TEXT, row.name, "projection", LIST),
    {"state", PAWL__COLUMN_NAME, offsetof(shown_projection, state), "state", PAWL__LEVEL_LIST,
     state_names},
    SHOWN("position", COUNT, row.position, "position", LIST),
    SHOWN("lag", COUNT, row.lag, "lag", LIST),
    SHOWN("last", COUNT, row.last, NULL, LIST),
    SHOWN("worker", ID, row.worker.uuid, NULL, LIST),
    SHOWN("failing_since", TIME, row.failure.since, "failing since", LIST),
    SHOWN("failed_at", TIME, row.failure.at, NULL, LIST),
    SHOWN("attempts", NUMBER, row.failure.attempts, "attempts", LIST),
    SHOWN("next_attempt", TIME, row.failure.next, NULL, LIST),
    SHOWN("event_position", NUMBER, row.failure.position, NULL, LIST),
    SHOWN("event_stream", TEXT, row.failure.stream, NULL, LIST),
    SHOWN("event_version", NUMBER, row.failure.version, NULL, LIST),
    SHOWN("event_type", TEXT, row.failure.type, NULL, LIST),
    SHOWN("endpoint", TEXT, row.failure.endpoint, NULL, LIST),
    SHOWN("code", TEXT, row.failure.code, "code", LIST),
    SHOWN("error", TEXT, row.failure.error, "error", LIST),
    SHOWN("next", TEXT, next, NULL, SHOW),
    {.key = NULL},
};
const pawl__report pawl__projection_verb_reports[] = {{"list, show", columns, NULL},
                                                      {.what = NULL}};

static shown_projection shown_of(const pawl_projection_row *row)
{
    bool is_read = !pawl_uuid_is_zero(row->worker.uuid);
    return (shown_projection){.row   = *row,
                              .state = row->failure.position != 0 ? STATE_FAILING
                                       : is_read                  ? STATE_READ
                                                                  : STATE_UNREAD};
}

static pawl__view view_of(const verb_fields *fields, pawl_arena *arena)
{
    return pawl__view_of(columns, "projection", sizeof(shown_projection), fields->is_json, arena);
}

/* ---- List and show --------------------------------------------------------- */

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields   *fields = context;
    pawl__view           view   = view_of(fields, arena);
    pawl_projection_rows rows   = {.count = 0};
    pawl_code            code   = pawl_store_projection_list(store, view.now, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    shown_projection *shown = pawl_arena_take(arena, (rows.count + 1) * sizeof *shown);
    if (shown == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu projections", rows.count);
    for (size_t i = 0; i < rows.count; i++)
        shown[i] = shown_of(&rows.items[i]);
    if (rows.count == 0 && !fields->is_json)
        fputs("no projection ran here\n", stderr);
    return pawl__rows_print(&view, shown, rows.count, error);
}

/* Says what happens next by itself, and what an operator can do. */
static pawl_text next_of(const shown_projection *shown, pawl_time now, pawl_arena *arena)
{
    const pawl_projection_row     *row     = &shown->row;
    const pawl_projection_failure *failure = &row->failure;
    bool                           is_read = !pawl_uuid_is_zero(row->worker.uuid);
    char                           age[PAWL__SPAN_SIZE];
    if (shown->state == STATE_FAILING)
        return pawl_arena_printf(
            arena,
            "%s event %.*s, version %lld, and all behind it wait for it: `pawl events show '%.*s' "
            "%lld` shows it; its handler has to take it, or to pass it over by PAWL_DISCARD",
            !is_read              ? "nothing by itself, as no worker that runs the projection is "
                                    "alive;"
            : failure->next > now ? pawl__age_text(failure->next, now, age)
                                  : "about now it is tried again:",
            PAWL_TEXT_ARGS(failure->stream), (long long)failure->version,
            PAWL_TEXT_ARGS(failure->stream), (long long)failure->version);
    if (!is_read)
        return pawl_text_of("nothing by itself: no worker that runs the projection is alive");
    return pawl_text_of(row->lag > 0 ? "its worker reads on" : "it waits for events");
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields  *fields = context;
    pawl__view          view   = view_of(fields, arena);
    pawl_projection_row row;
    pawl_code           code =
        pawl_store_projection_find(store, pawl_text_of(fields->name), view.now, arena, &row, error);
    if (code != PAWL_OK)
        return code;
    shown_projection shown = shown_of(&row);
    shown.next             = next_of(&shown, view.now, arena);
    view.level             = PAWL__LEVEL_SHOW;
    if (shown.next.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    return view.is_json ? pawl__rows_print(&view, &shown, 1, error)
                        : pawl__row_page(&view, &shown, error);
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_name(const verb_fields *fields, bool is_list, pawl_error *error)
{
    if (is_list && fields->name != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl projection list takes options, not '%s'; did you mean show %s?",
                              fields->name, fields->name);
    if (!is_list && fields->name == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "pawl projection %s needs the projection's NAME",
                              fields->action);
    if (fields->name != NULL && fields->name[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "NAME is empty: it is that of a projection");
    return pawl__text_check("NAME", fields->name, error);
}

int pawl__projection_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields  = {.action = NULL};
    pawl_error  error   = PAWL_ERROR_INIT;
    bool        is_list = false;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK) {
        is_list = strcmp(fields.action, action_names[ACTION_LIST]) == 0;
        code    = check_name(&fields, is_list, &error);
    }
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    return pawl__store_look(&fields.at, is_list ? list : show, &fields);
}
