/* bulk.c - `pawl bulk list|show|start|stop`, and how a selection is frozen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk/bulk.h"

#include "cli/cli.h"
#include "store/core/action.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Words --------------------------------------------------------------------- */

#define ACTIONS(X)                                                                             \
    X(LIST, "list", "", "the actions, the newest first, and how far each is", list)            \
    X(RUN, "run", "ID", "work it off, from where it stands, until it is finished or stopped",  \
      pawl__bulk_run)                                                                          \
    X(SHOW, "show", "ID", "one of them, and its course", show)                                 \
    X(START, "start", "-- VERB ACTION ...",                                                    \
      "freeze a selection: dead retry|discard or queue purge|move, with their options", start) \
    X(STOP, "stop", "ID", "do no more of it; what was done stays", stop)
PAWL__ACTIONS(ACTIONS)

const pawl__argument pawl__bulk_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(pawl__bulk_fields, action),
    PAWL__ARGUMENT(
        pawl__bulk_fields, "WORD", words,
        "the ID, as list has it; start: the words of the command whose selection is frozen",
        .is_optional = true, .is_list = true, .is_open = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) \
    PAWL__OPTION(pawl__bulk_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__bulk_verb_options[] = {
    OPTION("app", TEXT, app, "APP.so", 1U << ACTION_RUN | 1U << ACTION_START,
           "the program whose tables say which dead letters are those of --saga"),
    PAWL__OPTIONS_ROWS(pawl__bulk_fields, at, is_json),
    PAWL__OPTION_LIMIT(pawl__bulk_fields, limit, 1U << ACTION_LIST, "actions"),
    OPTION("open", FLAG, is_open, NULL, 1U << ACTION_LIST,
           "those that are neither finished nor stopped"),
    PAWL__OPTION_REASON(pawl__bulk_fields, reason, 1U << ACTION_START | 1U << ACTION_STOP,
                        "record"),
    {.name = NULL},
};

/* ---- Rows ------------------------------------------------------------------------ */

#define BULK(key, kind, member, ...) PAWL__COLUMN(pawl__bulk_row, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    BULK("id", TEXT, id, "id"),
    BULK("state", NAME, state, "state", .names = pawl__bulk_state_names),
    BULK("done", COUNT, done, "done"),
    BULK("total", COUNT, total, "of"),
    BULK("left", JSON, left, "left"),
    BULK("command", TEXT, command, "command"),
    BULK("started", TIME, started, "started"),
    BULK("ended", TIME, ended, NULL),
    BULK("by", TEXT, by, "by"),
    BULK("reason", TEXT, reason, NULL),
    BULK("result", JSON, result, NULL),
    {.key = NULL},
};

static const pawl__noun bulk_actions = {"bulk action", columns, sizeof(pawl__bulk_row)};

const pawl__report pawl__bulk_verb_reports[] = {
    {"list, show", columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"start", NULL, "id total"},
    {"run", NULL, "id result"},
    {"result", NULL,
     "retried discarded no_longer_dead already_queued unsendable queue moved dead_lettered left copies due_at last"},
    {"stop", NULL, "stopped"},
    {.what = NULL},
};

/* ---- list, show ------------------------------------------------------------------------ */

typedef struct listing {
    pawl_store      *store;
    pawl_event_query query;
    bool             is_open;
} listing;

/* Fills the page from several reads if necessary: a page with fewer rows than asked for means the end. */
static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    listing        *it   = context;
    pawl__bulk_row *made = pawl__must_take(arena, (count_max + 1) * sizeof *made);
    pawl_code       code = PAWL_OK;
    *count               = 0;
    it->query.count_max  = count_max;
    for (bool is_last = false; code == PAWL_OK && !is_last && *count < count_max;) {
        pawl_event_rows found = {.count = 0}, events;
        code                  = pawl_store_events(it->store, &it->query, arena, &found, error);
        is_last               = found.count < count_max;
        for (size_t i = 0; code == PAWL_OK && i < found.count && *count < count_max; i++) {
            it->query.after = found.items[i].version;
            code = pawl__bulk_load(it->store, pawl__bulk_listed(&found.items[i], arena), arena,
                                   &made[*count], &events, error);
            if (code == PAWL_ENOTFOUND) { /* its stream was removed by hand */
                code = PAWL_OK;
                continue;
            }
            *count += !it->is_open || made[*count].state == PAWL__BULK_OPEN;
        }
    }
    *rows = made;
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__bulk_fields *fields = context;
    pawl__view               view   = pawl__view_of(&bulk_actions, fields->is_json, arena);
    listing                  it     = {.store = store,
                                       .query = {.stream = PAWL_TEXT(PAWL__BULK_LIST), .is_backward = true},
                                       .is_open = fields->is_open};
    return pawl__rows_list(&view, fields->limit, next_page, &it, error);
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__bulk_fields *fields = context;
    pawl__view               view   = pawl__view_of(&bulk_actions, fields->is_json, arena);
    pawl_event_rows          events;
    pawl__bulk_row           row;
    pawl_code                code =
        pawl__bulk_load(store, pawl_text_of(fields->words.items[0]), arena, &row, &events, error);
    return code == PAWL_OK ? pawl__actions_show(&view, &row, &events, "pawl.bulk_") : code;
}

/* ---- start ------------------------------------------------------------------------------- */

static pawl_text words_text(const char *const *words, size_t count, pawl_arena *arena)
{
    yyjson_mut_doc *doc  = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, root);
    for (size_t i = 0; i < count; i++)
        yyjson_mut_arr_add_str(doc, root, words[i]);
    pawl_text made = pawl__texts_write(doc, arena);
    yyjson_mut_doc_free(doc);
    return made;
}

static pawl_text new_id(pawl_arena *arena)
{
    uint8_t random[16] = {0};
    char    text[PAWL_UUID_TEXT_SIZE + 1];
    (void)!getrandom(random, sizeof random, 0);
    pawl_uuid_format(pawl_uuid_v4(random), text);
    return pawl__must_printf(arena, "%.8s", text);
}

/* Does an option restrict the rows? Only for `pawl dead`: actions on queues need no --all. */
static bool has_filter(const char *const *words, size_t count)
{
    static const char *const filters[] = {"--code", "--endpoint", "--error", "--newer", "--older",
                                          "--saga", "--since",    "--type",  "--until"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (pawl__bulk_find(words, count, filters[i]) < count)
            return true;
    return false;
}

/* Removes the option and its value from the words. False: not found. */
static bool drop(const char **words, size_t *count, const char *option)
{
    size_t at   = pawl__bulk_find(words, *count, option);
    size_t gone = at + 1 >= *count || strchr(words[at], '=') != NULL ? 1 : 2;
    if (at == *count)
        return false;
    memmove(words + at, words + at + gone, (*count - at - gone) * sizeof *words);
    *count -= gone;
    return true;
}

/* Counts the matching rows by a dry run, and replaces relative limits of the selection by the times that it printed. */
static pawl_code freeze(const pawl__bulk_fields *fields, const pawl__bulk_kind *kind,
                        const char **words, size_t *count, int64_t *total, pawl_arena *arena,
                        pawl_error *error)
{
    const char        *asked[PAWL__BULK_WORDS_MAX + 8];
    const pawl__child  how         = {.time_max = 0};
    pawl__child_result result      = {.exit_code = -1};
    size_t             asked_count = *count;
    memcpy(asked, words, *count * sizeof *asked);
    pawl__bulk_word(asked, &asked_count, "--dry-run");
    pawl_code code = pawl__bulk_run_words(fields, asked, asked_count, &how, PAWL_TEXT(""), arena,
                                          &result, error);
    if (code != PAWL_OK)
        return code;
    if (result.exit_code != 0)
        return pawl__bulk_pass_on(&result, error);
    yyjson_doc *doc  = yyjson_read(result.out.data, result.out.size, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc), *end = yyjson_obj_get(root, kind->option + 2);
    pawl_text   word =
        yyjson_is_str(end)
              ? pawl__must_printf(arena, "%s=%s", kind->option, yyjson_get_str(end))
              : pawl__must_printf(arena, "%s=%lld", kind->option,
                                yyjson_get_sint(end) > 0 ? (long long)yyjson_get_sint(end) : 1);
    const char *from    = yyjson_get_str(yyjson_obj_get(root, "since"));
    pawl_text   since   = pawl__must_printf(arena, "--since=%s", from != NULL ? from : "");
    const char *due_at  = yyjson_get_str(yyjson_obj_get(root, "due_at"));
    pawl_text   due     = pawl__must_printf(arena, "--due-at=%s", due_at != NULL ? due_at : "");
    bool        has_due = due_at != NULL;
    *total              = yyjson_get_sint(yyjson_obj_get(root, "matching"));
    yyjson_doc_free(doc);
    if (has_due) { /* a relative --due-at means another time at each run */
        (void)drop(words, count, "--due-at");
        pawl__bulk_word(words, count, due.data);
    }
    if (drop(words, count, "--newer")) { /* an age means another time at each run */
        (void)drop(words, count, "--since");
        pawl__bulk_word(words, count, since.data);
    }
    (void)drop(words, count, kind->option);
    pawl__bulk_word(words, count, word.data);
    return PAWL_OK;
}

static pawl_code start(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__bulk_fields *fields = context;
    const char              *words[PAWL__BULK_WORDS_MAX];
    size_t                   count = fields->words.count;
    int64_t                  total = 0;
    const char              *asker = getenv(PAWL__CONSOLE_USER);
    const pawl__bulk_kind   *kind =
        pawl__bulk_kind_find(fields->words.items, fields->words.count, error);
    if (kind == NULL)
        return error->code;
    memcpy(words, fields->words.items, count * sizeof *words);
    bool has_all = kind->all == NULL || pawl__bulk_find(words, count, kind->all) < count;
    if (!has_all && !has_filter(words, count))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "pawl bulk start -- %s %s: say which, by --all or what they have in common", words[0],
            words[1]);
    if (!has_all)
        pawl__bulk_word(words, &count, kind->all);
    pawl_code code = freeze(fields, kind, words, &count, &total, arena, error);
    if (code != PAWL_OK)
        return code;
    if (total == 0) /* frozen: an action of nothing would only stay open until somebody runs it */
        return pawl__done_print(
            fields->is_json,
            PAWL__FACTS({.key = "id", .is_null = true}, {.key = "total", .number = 0}),
            "nothing matches: no bulk action was begun");
    pawl_text             id   = new_id(arena);
    pawl_text             many = pawl__must_printf(arena, "%lld", (long long)total);
    pawl_text             text = words_text(words, count, arena);
    const pawl__bulk_note what = {.type   = PAWL__BULK_STARTED_EVENT,
                                  .by     = pawl__user(),
                                  .reason = pawl_text_of(fields->reason),
                                  .keys   = {"words", "total", "asker"},
                                  .values = {text, many, pawl_text_of(asker)}};
    code                       = pawl__bulk_append(store, id, &what, error);
    if (code != PAWL_OK)
        return code;
    return pawl__done_print(
        fields->is_json,
        PAWL__FACTS({.key = "id", .text = id.data}, {.key = "total", .number = total}),
        "bulk action %s: %lld match; pawl bulk run %s, or a console, works it off", id.data,
        (long long)total, id.data);
}

/* ---- stop ---------------------------------------------------------------------------------- */

static pawl_code stop(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__bulk_fields *fields = context;
    pawl_text                id     = pawl_text_of(fields->words.items[0]);
    const pawl__bulk_note    what   = {.type   = PAWL__BULK_STOPPED_EVENT,
                                       .by     = pawl__user(),
                                       .reason = pawl_text_of(fields->reason)};
    pawl_code                code   = pawl__bulk_append(store, id, &what, error);
    (void)arena;
    if (code != PAWL_OK)
        return code;
    return pawl__done_print(fields->is_json,
                            PAWL__FACTS({.key = "stopped", .text = fields->words.items[0]}),
                            "stopped; what was done stays");
}

/* ---- The verb -------------------------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    pawl__bulk_fields *fields = context;
    return strcmp(fields->action, "start") != 0 ||
                   pawl__bulk_kind_find(fields->words.items, fields->words.count, error) != NULL
               ? PAWL_OK
               : error->code;
}

PAWL__VERB_ON_STORE(bulk, pawl__bulk_fields, ACTIONS(PAWL__ACTION_FUNCTION))
