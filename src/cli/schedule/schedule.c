/* schedule.c - `pawl schedule`: shows and changes schedules; shows who changed them, when and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "workflow/model.h"

#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

#define ACTIONS(X)                                                                           \
    X(ADD, "add", "NAME",                                                                    \
      "a schedule that no program defines: --to, --type, --body, --cron or --every", add)    \
    X(LIST, "list", "", "what comes again, when it comes next, what is paused", list)        \
    X(PAUSE, "pause", "NAME", "no time comes until it is resumed", settle)                   \
    X(REMOVE, "remove", "NAME", "take away one that add made", settle)                       \
    X(RESUME, "resume", "NAME", "go on; times that passed in the pause are not made up for", \
      settle)                                                                                \
    X(RUN, "run", "NAME", "send it once more, now", settle)                                  \
    X(SHOW, "show", "NAME", "one of them, its next times, and who changed it, when and why", show)
PAWL__ACTIONS(ACTIONS)
static const char *const missed_names[] = {
    [PAWL_MISSED_ONCE] = "once", [PAWL_MISSED_ALL] = "all", [PAWL_MISSED_SKIP] = "skip", NULL};

#define FOR_ADD (1U << ACTION_ADD)
#define FOR_SHOW (1U << ACTION_SHOW)
#define FOR_LIST (1U << ACTION_LIST)
#define FOR_CHANGE                                                                       \
    (1U << ACTION_ADD | 1U << ACTION_PAUSE | 1U << ACTION_REMOVE | 1U << ACTION_RESUME | \
     1U << ACTION_RUN)

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action, *name;
    const char        *queue, *type, *body, *body_file, *cron, *zone, *missed, *reason;
    int64_t            every, missed_max;
    bool               is_json, is_revealed;
    pawl_arena        *arena; /* of the body */
} verb_fields;

const pawl__argument pawl__schedule_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(verb_fields, "NAME", name,
                   "QUEUE/NAME, as list has it, or NAME alone where one queue has it",
                   .is_optional = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__schedule_verb_options[] = {
    OPTION("body", TEXT, body, "JSON", FOR_ADD, "the message"),
    OPTION("body-file", TEXT, body_file, "FILE", FOR_ADD,
           "the file that holds the message; - is standard input"),
    OPTION("cron", TEXT, cron, "LINE", FOR_ADD,
           "minute hour day month weekday: '0 3 * * mon-fri'; @daily ..."),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    OPTION("every", DURATION, every, "DURATION", FOR_ADD, "the interval: 5s 15m 2h 30d",
           PAWL_SCHEDULE_EVERY_MIN, PAWL_DAYS(36500)),
    OPTION("missed", TEXT, missed, "POLICY", FOR_ADD,
           "what is sent for times that passed while nobody could send", .text_default = "once",
           .choices = missed_names),
    OPTION("missed-max", COUNT, missed_max, "N", FOR_ADD,
           "with --missed all: of so many times at most", 1, PAWL_SCHEDULE_MISSED_MAX,
           .is_layered = true, .has_default = true, .value_default = PAWL__MISSED_DEFAULT),
    PAWL__OPTION_REASON(verb_fields, reason, FOR_CHANGE, "record"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "the body as well"),
    OPTION("to", FILTER, queue, "QUEUE", FOR_ADD | FOR_LIST,
           "where the messages go; of list: that queue's schedules"),
    OPTION("type", TEXT, type, "TYPE", FOR_ADD, "type of the message: the name of its record"),
    OPTION("zone", TEXT, zone, "ZONE", FOR_ADD,
           "whose clocks --cron goes by: Europe/Berlin; UTC unless it is given"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

#define UPCOMING_COUNT 5

typedef struct shown_row {
    pawl_schedule_row row;
    pawl_text         plan;  /* "0 3 * * * Europe/Berlin", "every 10 m" */
    pawl_text         state; /* "active", "paused" */
    pawl_text         by;    /* "table", "operator" */
    pawl__text_list   upcoming;
} shown_row;

#define ROW(key, kind, member, ...) PAWL__COLUMN(shown_row, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    ROW("id", TEXT, row.id, "id"),
    ROW("queue", TEXT, row.queue, NULL),
    ROW("name", TEXT, row.name, NULL),
    ROW("plan", TEXT, plan, "plan"),
    ROW("cron", TEXT, row.cron, NULL),
    ROW("zone", TEXT, row.zone, NULL),
    ROW("every", NUMBER, row.every, NULL),
    ROW("missed", NAME, row.missed, "missed", .names = missed_names),
    ROW("missed_max", COUNT_32, row.missed_max, NULL),
    ROW("type", TEXT, row.type, "type"),
    ROW("state", TEXT, state, "state"),
    ROW("next", TIME, row.next, "next"),
    ROW("by", TEXT, by, "by"),
    ROW("changed_by", TEXT, row.changed_by, NULL),
    ROW("changed_at", TEXT, row.changed_at, NULL),
    ROW("reason", TEXT, row.reason, NULL),
    ROW("body_size", SIZE, row.body, NULL),
    ROW("headers", JSON, row.headers, NULL, PAWL__LEVEL_SHOW),
    ROW("upcoming", LIST, upcoming, NULL, PAWL__LEVEL_SHOW),
    ROW("body", TEXT, row.body, NULL, PAWL__LEVEL_REVEAL),
    {.key = NULL},
};
static const pawl__noun schedules = {"schedule", columns, sizeof(shown_row)};

const pawl__report pawl__schedule_verb_reports[] = {
    {"list, show", columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"add, pause, remove, resume, run", NULL, "done id"},
    {.what = NULL},
};

static pawl_text plan_of(const pawl_schedule_row *row, pawl_arena *arena)
{
    char span[PAWL__SPAN_SIZE];
    if (row->cron.size == 0)
        return pawl__must_printf(arena, "every %s", pawl__span_text(row->every, span));
    return pawl__must_printf(arena, "%.*s%s%.*s", PAWL_TEXT_ARGS(row->cron),
                             row->zone.size > 0 ? " " : "", PAWL_TEXT_ARGS(row->zone));
}

/* ---- Finding --------------------------------------------------------------- */

/* Finds "office/nightly", or "nightly" if only one queue has a schedule of that name. */
static pawl_code find(pawl_store *store, const char *name, pawl_arena *arena,
                      pawl_schedule_row *found, pawl_error *error)
{
    pawl_schedule_rows rows  = {.count = 0};
    size_t             count = 0;
    pawl_code          code  = pawl_store_schedule_list(store, arena, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        if (pawl_text_equal(rows.items[i].id, pawl_text_of(name))) {
            *found = rows.items[i];
            return PAWL_OK;
        }
        if (!pawl_text_equal(rows.items[i].name, pawl_text_of(name)))
            continue;
        if (count++ > 0)
            return pawl_error_set(
                error, PAWL_EINVAL, "schedules %.*s and %.*s are named %s: say QUEUE/NAME",
                PAWL_TEXT_ARGS(found->id), PAWL_TEXT_ARGS(rows.items[i].id), name);
        *found = rows.items[i];
    }
    if (code == PAWL_OK && count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no schedule %s", name);
    return code;
}

/* ---- List and show --------------------------------------------------------- */

static shown_row shown_of(const pawl_schedule_row *row, pawl_arena *arena)
{
    return (shown_row){.row   = *row,
                       .plan  = plan_of(row, arena),
                       .state = row->is_paused ? PAWL_TEXT("paused") : PAWL_TEXT("active"),
                       .by    = row->is_declared ? PAWL_TEXT("table") : PAWL_TEXT("operator")};
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_schedule_rows rows   = {.count = 0};
    pawl__view         view   = pawl__view_of(&schedules, fields->is_json, arena);
    size_t             count  = 0;
    pawl_code          code   = pawl_store_schedule_list(store, arena, &rows, error);
    shown_row         *shown  = pawl__must_take(arena, (rows.count + 1) * sizeof *shown);
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        if (fields->queue == NULL ||
            pawl_text_equal(rows.items[i].queue, pawl_text_of(fields->queue)))
            shown[count++] = shown_of(&rows.items[i], arena);
    if (code == PAWL_OK && count == 0 && !fields->is_json)
        fputs("there is no schedule\n", stderr);
    return code == PAWL_OK ? pawl__rows_print(&view, shown, count) : code;
}

/* Computes the next times, as text. There are none if this machine does not know the time zone. */
static void find_upcoming(shown_row *shown, pawl_arena *arena)
{
    pawl_text *items = pawl__must_take(arena, UPCOMING_COUNT * sizeof *items);
    pawl_time  at    = shown->row.next;
    shown->upcoming  = (pawl__text_list){.items = items};
    while (at != 0 && at < PAWL_TIME_MAX && shown->upcoming.count < UPCOMING_COUNT) {
        items[shown->upcoming.count++] = pawl__time_text(at, arena);
        if (shown->row.cron.size == 0)
            at = pawl_time_add(at, shown->row.every);
        else if (pawl_schedule_next(shown->row.cron.data, shown->row.zone.data, at, &at, NULL) !=
                 PAWL_OK)
            break;
    }
}

/* Shows a schedule; of a removed one, by its whole name, the actions of operators. */
static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_text          id     = pawl_text_of(fields->name);
    pawl__view         view   = pawl__view_of(&schedules, fields->is_json, arena);
    pawl_event_rows    events = {.count = 0};
    pawl_schedule_row  row    = {.next = 0};
    pawl_code          found  = find(store, fields->name, arena, &row, error);
    if (found != PAWL_OK && found != PAWL_ENOTFOUND)
        return found;
    pawl_error none = *error;
    pawl_code  code =
        pawl_store_schedule_actions(store, found == PAWL_OK ? row.id : id, arena, &events, error);
    if (code != PAWL_OK)
        return code;
    if (found == PAWL_ENOTFOUND && events.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "%s", none.text);
    shown_row shown = shown_of(&row, arena);
    find_upcoming(&shown, arena);
    view.level = fields->is_revealed ? PAWL__LEVEL_REVEAL : PAWL__LEVEL_SHOW;
    if (found != PAWL_OK && !view.is_json)
        pawl__say(stdout, "schedule %s is gone", fields->name);
    return pawl__actions_show(&view, found == PAWL_OK ? &shown : NULL, &events, "pawl.schedule_");
}

/* ---- Changes --------------------------------------------------------------- */

static pawl_code print_done(const verb_fields *fields, const char *done, pawl_text id,
                            pawl_arena *arena)
{
    const char *text = pawl__must_text(arena, id).data;
    return pawl__done_print(fields->is_json,
                            PAWL__FACTS({.key = "done", .text = done}, {.key = "id", .text = text}),
                            "%s %s", done, text);
}

static pawl_code settle(const void *context, pawl_store *store, pawl_arena *arena,
                        pawl_error *error)
{
    static const struct {
        const char          *done;
        pawl_schedule_action action;
    } kinds[]                 = {[ACTION_PAUSE]  = {"paused", PAWL_SCHEDULE_PAUSE},
                                 [ACTION_REMOVE] = {"removed", PAWL_SCHEDULE_REMOVE},
                                 [ACTION_RESUME] = {"resumed", PAWL_SCHEDULE_RESUME},
                                 [ACTION_RUN]    = {"sent one message of", PAWL_SCHEDULE_RUN}};
    const verb_fields *fields = context;
    size_t             i      = pawl__choice_of(action_names, pawl_text_of(fields->action));
    pawl_schedule_row  row;
    pawl_code          code = find(store, fields->name, arena, &row, error);
    if (code == PAWL_OK)
        code =
            pawl_store_schedule_settle(store, row.id, kinds[i].action, pawl__user(),
                                       pawl_text_of(fields->reason), pawl_clock_now(NULL), error);
    if (code == PAWL_OK && i == ACTION_RUN)
        pawl__reader_warn(store, row.queue, arena);
    return code == PAWL_OK ? print_done(fields, kinds[i].done, row.id, arena) : code;
}

static pawl_code add(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    size_t             missed = pawl__choice_of(missed_names, pawl_text_of(fields->missed));
    pawl_schedule_row  row    = {.queue      = pawl_text_of(fields->queue),
                                 .name       = pawl_text_of(fields->name),
                                 .cron       = pawl_text_of(fields->cron),
                                 .zone       = pawl_text_of(fields->zone),
                                 .every      = fields->every,
                                 .missed     = (pawl_missed)missed,
                                 .missed_max = fields->missed_max < 0 ? 0 : (int32_t)fields->missed_max,
                                 .type       = pawl_text_of(fields->type),
                                 .body       = pawl_text_of(fields->body)};
    pawl_code          code   = pawl_store_schedule_add(
                   store, &row, pawl__user(), pawl_text_of(fields->reason), pawl_clock_now(NULL), error);
    if (code != PAWL_OK)
        return code;
    row.id = pawl__must_printf(arena, "%s/%s", fields->queue, fields->name);
    pawl__reader_warn(store, row.queue, arena);
    return print_done(fields, "added", row.id, arena);
}

/* ---- The verb -------------------------------------------------------------- */

/* Reads the body of `add`, too, so that a bad one is refused before the store is opened. */
static pawl_code check_words(void *context, pawl_error *error)
{
    verb_fields *fields = context;
    if (strcmp(fields->action, "add") != 0)
        return PAWL_OK;
    if (fields->queue == NULL || fields->type == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl schedule add needs --to QUEUE and --type TYPE");
    if ((fields->cron == NULL) == (fields->every == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl schedule add needs --cron LINE or --every "
                              "DURATION, one of them");
    if ((fields->body == NULL) == (fields->body_file == NULL))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl schedule add needs --body JSON or "
                              "--body-file FILE, one of them");
    pawl_text body;
    fields->arena  = pawl__must_create();
    pawl_code code = pawl__body_read(fields->body, fields->body_file, fields->arena, &body, error);
    fields->body   = code == PAWL_OK ? body.data : NULL;
    return code;
}

PAWL__VERB_CLOSED(schedule, verb_fields, pawl_arena_destroy, fields.arena,
                  ACTIONS(PAWL__ACTION_FUNCTION))
