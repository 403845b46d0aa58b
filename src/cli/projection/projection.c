/* projection.c - `pawl projection list|rebuild|restart|show`: shows the positions of projections and what one waits
 * for, retries a failing one, and lets one read events again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

#define NAME_SIZE_SHOWN 200 /* of a projection, in a question */

/* ---- Words ----------------------------------------------------------------- */

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action;
    const char        *name, *from, *reason;
    bool               is_agreed, is_json, while_read;
} verb_fields;

#define ACTIONS(X)                                                                                 \
    X(LIST, "list", "", "how far each is, how much is behind it, and the error of one that fails", \
      list)                                                                                        \
    X(REBUILD, "rebuild", "NAME", "read all events again, or those from --from on", rebuild)       \
    X(RESTART, "restart", "NAME",                                                                  \
      "try the event that it fails at now, not at the end of its pause", restart)                  \
    X(SHOW, "show", "NAME", "one projection, what happens next, and what operators did with it",   \
      show)
PAWL__ACTIONS(ACTIONS)

#define FOR_REBUILD (1U << ACTION_REBUILD)
#define FOR_ACTIONS (1U << ACTION_REBUILD | 1U << ACTION_RESTART)

const pawl__argument pawl__projection_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(verb_fields, "NAME", name, "as list has it", .is_optional = true),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__projection_verb_options[] = {
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    OPTION("from", TEXT, from, "POSITION|TIME", FOR_REBUILD, "the first event to read again",
           .default_words = "the first of all"),
    PAWL__OPTION_REASON(verb_fields, reason, FOR_ACTIONS, "record"),
    OPTION("while-read", FLAG, while_read, NULL, FOR_REBUILD,
           "also while a worker reads: its handlers write the same rows again"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_REBUILD,
           "without asking: what the handlers wrote was cleared"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef enum state {
    STATE_FAILING, /* waits for an event that fails */
    STATE_READ,    /* a worker leads it */
    STATE_UNREAD,  /* nobody does, or the store cannot tell */
} state;
static const char *const state_names[] = {"failing", "read", "no consumer"};

typedef struct shown_projection {
    pawl_projection_row row;
    state               state;
    pawl_text           next;
} shown_projection;

#define SHOWN(key, kind, member, ...) PAWL__COLUMN(shown_projection, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    SHOWN("projection", TEXT, row.name, "projection"),
    SHOWN("state", NAME, state, "state", .names = state_names),
    SHOWN("position", COUNT, row.position, "global position"),
    SHOWN("lag", COUNT, row.lag, "lag"),
    SHOWN("last", COUNT, row.last, NULL),
    SHOWN("worker", ID, row.worker.uuid, NULL),
    SHOWN("failing_since", TIME, row.failure.since, "failing since"),
    SHOWN("failed_at", TIME, row.failure.at, NULL),
    SHOWN("attempts", NUMBER, row.failure.attempts, "attempts"),
    SHOWN("next_attempt", TIME, row.failure.next, NULL),
    SHOWN("event_position", NUMBER, row.failure.position, NULL),
    SHOWN("event_stream", TEXT, row.failure.stream, NULL),
    SHOWN("event_version", NUMBER, row.failure.version, NULL),
    SHOWN("event_type", TEXT, row.failure.type, NULL),
    SHOWN("endpoint", TEXT, row.failure.endpoint, NULL),
    SHOWN("code", TEXT, row.failure.code, "code"),
    SHOWN("error", TEXT, row.failure.error, "error"),
    SHOWN("next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};
static const pawl__noun projections = {"projection", columns, sizeof(shown_projection)};

const pawl__report pawl__projection_verb_reports[] = {
    {"list, show", columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"rebuild", NULL, "rebuilt from events"},
    {"restart", NULL, "restarted event_position"},
    {.what = NULL},
};

static shown_projection shown_of(const pawl_projection_row *row)
{
    bool is_read = !pawl_uuid_is_zero(row->worker.uuid);
    return (shown_projection){.row   = *row,
                              .state = row->failure.position != 0 ? STATE_FAILING
                                       : is_read                  ? STATE_READ
                                                                  : STATE_UNREAD};
}

/* ---- List and show --------------------------------------------------------- */

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields   *fields = context;
    pawl__view           view   = pawl__view_of(&projections, fields->is_json, arena);
    pawl_projection_rows rows   = {.count = 0};
    pawl_code            code   = pawl_store_projection_list(store, view.now, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    shown_projection *shown = pawl__must_take(arena, (rows.count + 1) * sizeof *shown);
    for (size_t i = 0; i < rows.count; i++)
        shown[i] = shown_of(&rows.items[i]);
    if (rows.count == 0 && !fields->is_json)
        fputs("no projection ran here\n", stderr);
    return pawl__rows_print(&view, shown, rows.count);
}

/* Says what happens next by itself, and what an operator can do. */
static pawl_text next_of(const shown_projection *shown, pawl_time now, pawl_arena *arena)
{
    const pawl_projection_row     *row     = &shown->row;
    const pawl_projection_failure *failure = &row->failure;
    bool                           is_read = !pawl_uuid_is_zero(row->worker.uuid);
    char                           age[PAWL__SPAN_SIZE];
    if (shown->state == STATE_FAILING)
        return pawl__must_printf(
            arena,
            "%s event %.*s, version %lld, and all behind it wait for it: `pawl events show %s "
            "%lld` shows it; its handler has to take it, or to pass it over by PAWL_DISCARD; now: "
            "`pawl projection restart %s`",
            !is_read              ? "nothing by itself, as no worker that runs the projection is "
                                    "alive;"
            : failure->next > now ? pawl__age_text(failure->next, now, age)
                                  : "about now it is tried again:",
            PAWL_TEXT_ARGS(failure->stream), (long long)failure->version,
            pawl__shell_argument(failure->stream, arena).data, (long long)failure->version,
            pawl__shell_argument(row->name, arena).data);
    if (!is_read)
        return pawl_text_of("nothing by itself: no worker that runs the projection is alive");
    return pawl_text_of(row->lag > 0 ? "its worker reads on" : "it waits for events");
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields  *fields = context;
    pawl_text           name   = pawl_text_of(fields->name);
    pawl__view          view   = pawl__view_of(&projections, fields->is_json, arena);
    pawl_event_rows     events = {.count = 0};
    pawl_projection_row row;
    pawl_code code = pawl_store_projection_find(store, name, view.now, arena, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_projection_actions(store, name, arena, &events, error);
    if (code != PAWL_OK)
        return code;
    shown_projection shown = shown_of(&row);
    shown.next             = next_of(&shown, view.now, arena);
    view.level             = PAWL__LEVEL_SHOW;
    return pawl__actions_show(&view, &shown, &events, "pawl.projection_");
}

/* ---- Restart and rebuild --------------------------------------------------- */

static pawl_code restart(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const verb_fields  *fields = context;
    pawl_text           name   = pawl_text_of(fields->name);
    pawl_time           now    = pawl_clock_now(NULL);
    pawl_projection_row row;
    pawl_code           code = pawl_store_projection_find(store, name, now, arena, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_projection_restart(store, name, pawl__user(),
                                             pawl_text_of(fields->reason), now, error);
    if (code != PAWL_OK)
        return code;
    return pawl__done_print(fields->is_json,
                            PAWL__FACTS({.key = "restarted", .text = fields->name},
                                        {.key = "event_position", .number = row.failure.position}),
                            "restarted projection %s at event %.*s, version %" PRId64 "%s",
                            fields->name, PAWL_TEXT_ARGS(row.failure.stream), row.failure.version,
                            pawl_uuid_is_zero(row.worker.uuid)
                                ? "; no worker that runs it is alive: the next one begins with it"
                                : "");
}

static pawl_code read_from(const char *text, pawl_store *store, int64_t *from, pawl_error *error)
{
    pawl_time time = 0;
    *from          = 1;
    if (text == NULL || pawl__number_parse(text, from))
        return PAWL_OK;
    pawl_code code = pawl_time_parse(pawl_text_of(text), &time, error);
    if (code == PAWL_OK)
        code = pawl_store_global_position_at(store, time, from, error);
    if (code == PAWL_OK && *from == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "--from: no event is of %s or later", text);
    return code;
}

static pawl_code ask(const verb_fields *fields, const pawl_projection_row *row, int64_t from,
                     pawl_error *error)
{
    char   url[PAWL_URL_SIZE_MAX + 1];
    size_t size = row->name.size < NAME_SIZE_SHOWN ? row->name.size : NAME_SIZE_SHOWN;
    if (fields->is_agreed)
        return PAWL_OK;
    return pawl__agree(
        "rebuild", "rebuilt", error,
        "read events %" PRId64 " to %" PRId64 " again for projection %.*s in %s? What its "
        "handlers wrote for them stays, unless you cleared it or the projection has a reset: it is "
        "not pawl's",
        from, row->position, (int)size, row->name.data,
        pawl__masked(fields->at.store, url, sizeof url));
}

static pawl_code rebuild(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const verb_fields  *fields = context;
    pawl_time           now    = pawl_clock_now(NULL);
    int64_t             from = 1, count = 0;
    pawl_projection_row row;
    pawl_code           code =
        pawl_store_projection_find(store, pawl_text_of(fields->name), now, arena, &row, error);
    if (code == PAWL_OK)
        code = read_from(fields->from, store, &from, error);
    if (code == PAWL_OK)
        code = ask(fields, &row, from, error);
    const pawl_projection_rebuild request = {.name       = row.name,
                                             .from       = from,
                                             .while_read = fields->while_read,
                                             .by         = pawl__user(),
                                             .reason     = pawl_text_of(fields->reason)};
    if (code == PAWL_OK)
        code = pawl_store_projection_rebuild(store, &request, pawl_clock_now(NULL), &count, error);
    if (code == PAWL_ECONFLICT && !fields->while_read)
        pawl__append(error->text, sizeof error->text,
                     "; with a .reset, or handlers that write the same rows again: --while-read");
    if (code != PAWL_OK)
        return code;
    return pawl__done_print(
        fields->is_json,
        PAWL__FACTS({.key = "rebuilt", .text = fields->name}, {.key = "from", .number = from},
                    {.key = "events", .number = count}),
        "projection %s reads %" PRId64 " event%s again, from global position %" PRId64 "%s",
        fields->name, count, PAWL__PLURAL(count), from,
        pawl_uuid_is_zero(row.worker.uuid) ? ", once a worker runs it" : "");
}

/* ---- The verb -------------------------------------------------------------- */

/* Refuses a --from that is neither a number nor a time, so that it does not silently mean all events. */
static pawl_code check_words(void *context, pawl_error *error)
{
    const char *from     = ((const verb_fields *)context)->from;
    int64_t     position = 0;
    pawl_time   time     = 0;
    if (from == NULL || pawl__number_parse(from, &position))
        return PAWL_OK;
    pawl_code code = pawl_time_parse(pawl_text_of(from), &time, error);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code, "--from: '%s' is not a global position", from);
}

PAWL__VERB_ON_STORE(projection, verb_fields, ACTIONS(PAWL__ACTION_FUNCTION))
