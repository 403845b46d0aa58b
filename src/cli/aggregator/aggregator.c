/* aggregator.c - `pawl aggregator list|show|remove|run-now`: shows the partitions of aggregators, and
 * flushes or removes one, for instance a dead one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "workflow/model.h"

#include <inttypes.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *action;
    const char        *partition;
    const char        *aggregator, *application, *reason;
    int64_t            limit;
    bool               is_dead, is_agreed, is_json;
    pawl__loaded       loaded; /* of --app */
} verb_fields;

#define ACTIONS(X)                                                                                 \
    X(LIST, "list", "", "what is collected, since when; with --dead: what is dead, and why", list) \
    X(REMOVE, "remove", "PARTITION", "delete its messages, for good", remove_rows)                 \
    X(RUN_NOW, "run-now", "PARTITION", "hand it over now; one that is dead starts again", run_now) \
    X(SHOW, "show", "PARTITION", "one of them, what happens next, and what operators did with it", \
      show)
PAWL__ACTIONS(ACTIONS)

#define FOR_LIST (1U << ACTION_LIST)
#define FOR_LOOKS (1U << ACTION_LIST | 1U << ACTION_SHOW)
#define FOR_REMOVE (1U << ACTION_REMOVE)
#define FOR_ACTIONS (1U << ACTION_RUN_NOW | 1U << ACTION_REMOVE)

const pawl__argument pawl__aggregator_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(verb_fields, "PARTITION", partition,
                   "NAME of the aggregator; with a key NAME/KEY, as list has it",
                   .is_optional = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__aggregator_verb_options[] = {
    OPTION("aggregator", FILTER, aggregator, "NAME", FOR_LIST, "of this aggregator"),
    OPTION("app", TEXT, application, "APP.so", FOR_LOOKS,
           "the program that has the aggregators: their sizes and periods as well"),
    OPTION("dead", FLAG, is_dead, NULL, FOR_LIST, "dead ones alone"),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    PAWL__OPTION_LIMIT(verb_fields, limit, FOR_LIST, "partitions"),
    PAWL__OPTION_REASON(verb_fields, reason, FOR_ACTIONS, "record"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_REMOVE, "without asking"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef enum state { STATE_COLLECTING, STATE_FAILING, STATE_DEAD } state;
static const char *const state_names[] = {"collecting", "failing", "dead"};

typedef struct shown_partition {
    pawl_partition_row row;
    state              state;
    int64_t            attempts;
    pawl_time          due;               /* 0: none */
    int64_t            size, max, period; /* of the application's table; 0: none, or not known */
    pawl_text          next;
} shown_partition;

#define PARTITION(key, kind, member, ...) \
    PAWL__COLUMN(shown_partition, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    PARTITION("partition", TEXT, row.partition, "partition"),
    PARTITION("aggregator", TEXT, row.aggregator, NULL),
    PARTITION("state", NAME, state, "state", .names = state_names),
    PARTITION("rows", COUNT, row.count, "rows"),
    PARTITION("size", NUMBER, size, NULL),
    PARTITION("max", NUMBER, max, NULL),
    PARTITION("period", NUMBER, period, NULL),
    PARTITION("oldest", TIME, row.oldest, "oldest"),
    PARTITION("due", TIME, due, "due"),
    PARTITION("attempts", COUNT, attempts, "failures"),
    PARTITION("error", TEXT, row.error, "error"),
    PARTITION("next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};
static const pawl__noun partitions = {"partition", columns, sizeof(shown_partition)};

const pawl__report pawl__aggregator_verb_reports[] = {
    {"list, show", columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"remove, run-now", NULL, "removed run_now rows"},
    {.what = NULL},
};

static bool find_aggregator(const pawl_application *application, pawl_text name,
                            pawl_aggregator *found)
{
    for (size_t i = 0; application != NULL && application->endpoints[i] != NULL; i++) {
        const pawl_aggregator *const *all = application->endpoints[i]->aggregators;
        for (size_t j = 0; all != NULL && all[j] != NULL; j++)
            if (pawl_text_equal(pawl_text_of(all[j]->name), name)) {
                pawl__table_row(all[j], 0, application->aggregator_size, found, sizeof *found);
                return true;
            }
    }
    return false;
}

static shown_partition shown_of(const pawl_partition_row *row, const pawl_application *application)
{
    pawl_aggregator aggregator;
    shown_partition shown = {.row      = *row,
                             .state    = row->is_dead        ? STATE_DEAD
                                         : row->attempts > 0 ? STATE_FAILING
                                                             : STATE_COLLECTING,
                             .attempts = row->attempts,
                             .due      = row->due == PAWL_TIME_MAX || row->is_dead ? 0 : row->due};
    if (find_aggregator(application, row->aggregator, &aggregator)) {
        shown.size = aggregator.size == 0 && aggregator.period == 0 ? PAWL__AGGREGATOR_SIZE_DEFAULT
                                                                    : aggregator.size;
        shown.max  = aggregator.max;
        shown.period = aggregator.period;
    }
    return shown;
}

/* ---- List and show --------------------------------------------------------- */

typedef struct list_cursor {
    const verb_fields   *fields;
    pawl_store          *store;
    pawl_partition_query query;
    char                 after[PAWL_PARTITION_SIZE_MAX]; /* copy that outlives the page */
} list_cursor;

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    list_cursor        *it    = context;
    pawl_partition_rows found = {.count = 0};
    it->query.count_max       = count_max;
    pawl_code code = pawl_store_partition_list(it->store, &it->query, arena, &found, error);
    if (code != PAWL_OK || found.count == 0)
        return code;
    shown_partition *shown = pawl__must_take(arena, found.count * sizeof *shown);
    for (size_t i = 0; i < found.count; i++)
        shown[i] = shown_of(&found.items[i], it->fields->loaded.application);
    pawl_text last = found.items[found.count - 1].partition;
    memcpy(it->after, last.data, last.size);
    it->query.after = (pawl_text){.data = it->after, .size = last.size};
    *rows           = shown;
    *count          = found.count;
    return PAWL_OK;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl__view         view   = pawl__view_of(&partitions, fields->is_json, arena);
    list_cursor        cursor = {
               .fields = fields,
               .store  = store,
               .query = {.aggregator = pawl_text_of(fields->aggregator), .is_dead = fields->is_dead}};
    return pawl__rows_list(&view, fields->limit, next_page, &cursor, error);
}

/* Says what happens next by itself, and what an operator can do. */
static pawl_text next_of(const shown_partition *shown, pawl_time now, pawl_arena *arena)
{
    const char *name = pawl__shell_argument(shown->row.partition, arena).data;
    char        age[PAWL__SPAN_SIZE];
    if (shown->state == STATE_DEAD)
        return pawl__must_printf(arena,
                                 "nothing is handed over by itself: `pawl aggregator run-now "
                                 "%s` starts it again, remove deletes its rows",
                                 name);
    if (shown->due == 0)
        return pawl__must_printf(arena,
                                 "handed over when it has enough rows; now, however few: `pawl "
                                 "aggregator run-now %s`",
                                 name);
    return pawl__must_printf(arena, "%s %s; now: `pawl aggregator run-now %s`",
                             shown->state == STATE_FAILING ? "tried again" : "handed over",
                             pawl__age_text(shown->due, now, age), name);
}

/* Shows a partition; of one that is gone, the actions of operators. */
static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_text          name   = pawl_text_of(fields->partition);
    pawl__view         view   = pawl__view_of(&partitions, fields->is_json, arena);
    pawl_event_rows    events = {.count = 0};
    pawl_partition_row row;
    pawl_code          found = pawl_store_partition_find(store, name, arena, &row, error);
    if (found != PAWL_OK && found != PAWL_ENOTFOUND)
        return found;
    pawl_error none = *error;
    pawl_code  code = pawl_store_partition_actions(store, name, arena, &events, error);
    if (code != PAWL_OK)
        return code;
    if (found == PAWL_ENOTFOUND && events.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "%s", none.text);
    shown_partition shown = shown_of(&row, fields->loaded.application);
    shown.next            = next_of(&shown, view.now, arena);
    view.level            = PAWL__LEVEL_SHOW;
    if (found != PAWL_OK && !view.is_json)
        pawl__say(stdout, "partition %s has no rows now", fields->partition);
    return pawl__actions_show(&view, found == PAWL_OK ? &shown : NULL, &events, "pawl.partition_");
}

/* ---- Run now and remove ---------------------------------------------------- */

static pawl_code print_done(const verb_fields *fields, const char *key, const char *done,
                            int64_t count)
{
    return pawl__done_print(
        fields->is_json,
        PAWL__FACTS({.key = key, .text = fields->partition}, {.key = "rows", .number = count}),
        "%s partition %s with %" PRId64 " row%s", done, fields->partition, count,
        PAWL__PLURAL(count));
}

static pawl_code run_now(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_text          name   = pawl_text_of(fields->partition);
    pawl_partition_row row;
    pawl_code          code = pawl_store_partition_find(store, name, arena, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_partition_run_now(store, name, pawl__user(), pawl_text_of(fields->reason),
                                            pawl_clock_now(NULL), error);
    return code == PAWL_OK ? print_done(fields, "run_now", "run now", row.count) : code;
}

static pawl_code ask(const verb_fields *fields, const pawl_partition_row *row, pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    return fields->is_agreed
               ? PAWL_OK
               : pawl__agree("remove", "removed", error,
                             "remove %" PRId64 " row%s of partition %.*s in %s, for good?",
                             row->count, PAWL__PLURAL(row->count), PAWL_TEXT_ARGS(row->partition),
                             pawl__masked(fields->at.store, url, sizeof url));
}

static pawl_code remove_rows(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const verb_fields *fields = context;
    pawl_text          name   = pawl_text_of(fields->partition);
    int64_t            count  = 0;
    pawl_partition_row row;
    pawl_code          code = pawl_store_partition_find(store, name, arena, &row, error);
    if (code == PAWL_OK)
        code = ask(fields, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_partition_remove(store, name, pawl__user(), pawl_text_of(fields->reason),
                                           pawl_clock_now(NULL), &count, error);
    return code == PAWL_OK ? print_done(fields, "removed", "removed", count) : code;
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    verb_fields *fields = context;
    return fields->application != NULL
               ? pawl__application_load(fields->application, &fields->loaded, error)
               : PAWL_OK;
}

PAWL__VERB_CLOSED(aggregator, verb_fields, pawl__application_unload, &fields.loaded,
                  ACTIONS(PAWL__ACTION_FUNCTION))
