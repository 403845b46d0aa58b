/* dead.c - `pawl dead list|show`: dead letters, their errors, and the actions on them. dead_settle.c has retry, discard
 * and edit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/dead/dead.h"
#include "cli/cli.h"
#include "store/core/action.h"

#include <string.h>

#define SAGA_PAGE 256 /* letters read at once when a saga's letters are searched */

/* ---- Words ----------------------------------------------------------------- */

#define ACTIONS(X)                                                                            \
    X(DISCARD, "discard", "ID ...",                                                           \
      "discard dead letters for good; --all and the options of list: those that match",       \
      pawl__dead_settle)                                                                      \
    X(EDIT, "edit", "ID", "retry it with another body, that of --body-file", pawl__dead_edit) \
    X(LIST, "list", "", "the dead letters, the oldest first, and the error of each", list)    \
    X(RETRY, "retry", "ID ...",                                                               \
      "send them to their queues again; --all and the options of list: those that match",     \
      pawl__dead_settle)                                                                      \
    X(SHOW, "show", "ID",                                                                     \
      "one dead letter, each run of its handler, and what operators did with it", show)
PAWL__ACTIONS(ACTIONS)

#define FOR_LIST (1U << ACTION_LIST)
#define FOR_SHOW (1U << ACTION_SHOW)
#define FOR_EDIT (1U << ACTION_EDIT)
#define FOR_BULK (1U << ACTION_DISCARD | 1U << ACTION_RETRY)
#define FOR_MANY (FOR_LIST | FOR_BULK)

const pawl__argument pawl__dead_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(pawl__dead_fields, words.action),
    PAWL__ARGUMENT(pawl__dead_fields, "ID", words.ids, "the message's id, as list has it",
                   .is_optional = true, .is_list = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) \
    PAWL__OPTION(pawl__dead_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__dead_verb_options[] = {
    OPTION("all", FLAG, words.is_all, NULL, FOR_BULK, "every dead letter that the options match"),
    OPTION("app", TEXT, book.app, "APP.so", FOR_EDIT | FOR_MANY,
           "the program that is to handle it: the body is checked by its record; with --saga: "
           "whose tables say which dead letters are a saga's"),
    OPTION("body-file", TEXT, body_file, "FILE", FOR_EDIT,
           "the file that holds the new body; - is standard input"),
    OPTION("code", FILTER, code, "CODE", FOR_MANY, "that failed with this code: EDECODE"),
    PAWL__OPTIONS_ROWS(pawl__dead_fields, at, words.is_json),
    OPTION("dry-run", FLAG, words.is_dry, NULL, FOR_BULK, "with --all: only count them"),
    OPTION("endpoint", FILTER, endpoint, "NAME", 0,
           "of this endpoint; show: also one that was retried, edited or discarded"),
    OPTION("error", FILTER, error_part, "TEXT", FOR_MANY, "whose error has this text in it"),
    PAWL__OPTION_LIMIT(pawl__dead_fields, limit, FOR_LIST, "dead letters"),
    OPTION("newer", DURATION, newer, "DURATION", FOR_MANY, "dead-lettered since: 15m 2h 30d", 1,
           INT64_MAX),
    OPTION("older", DURATION, older, "DURATION", FOR_MANY, "dead-lettered before that", 1,
           INT64_MAX),
    OPTION("rate", COUNT, words.rate, "N", FOR_BULK,
           "with --all: dead letters in a second, at most", 1, 1000000),
    PAWL__OPTION_REASON(pawl__dead_fields, words.reason, FOR_BULK | FOR_EDIT, "record"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "the body as well"),
    OPTION("saga", FILTER, saga, "TYPE/VALUE|TYPE/ID", FOR_MANY,
           "of this saga, with --app: by the property that finds it, by its correlation id, or "
           "as one of its timeouts; each dead letter is read"),
    PAWL__OPTION_SAGA_PREFIX(pawl__dead_fields, book.prefix, FOR_MANY),
    OPTION("since", TIME, since, "TIME", FOR_MANY,
           "dead-lettered at this time or after: 2026-11-22T08:00:00Z"),
    OPTION("type", FILTER, type, "TYPE", FOR_MANY, "messages of this type"),
    OPTION("until", TIME, until, "TIME", FOR_MANY, "dead-lettered at this time or before"),
    OPTION("yes", FLAG, words.is_agreed, NULL, FOR_BULK, "with --all: without asking"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef struct shown_letter {
    pawl_dead_row row; /* first member, since list and show share columns */
    pawl_text     next;
} shown_letter;

#define LETTER(key, kind, member, ...) PAWL__COLUMN(pawl_dead_row, key, kind, member, __VA_ARGS__)
static const pawl__column letter_columns[] = {
    LETTER("message_id", TEXT, message.id, "message id"),
    LETTER("endpoint", TEXT, endpoint, "endpoint"),
    LETTER("queue", TEXT, queue, NULL),
    LETTER("type", TEXT, message.type, "type"),
    LETTER("at", TIME, at, "at"),
    LETTER("attempts", COUNT_32, attempts, "attempts"),
    LETTER("crashes", COUNT_32, crashes, NULL),
    LETTER("code", TEXT, code, "code"),
    LETTER("error", TEXT, error, "error"),
    LETTER("correlation_id", TEXT, message.correlation_id, NULL),
    LETTER("causation_id", TEXT, message.causation_id, NULL),
    LETTER("body_size", SIZE, message.body, NULL),
    LETTER("headers", JSON, message.headers, NULL, PAWL__LEVEL_SHOW),
    PAWL__COLUMN(shown_letter, "next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    LETTER("body", TEXT, message.body, NULL, PAWL__LEVEL_REVEAL),
    {.key = NULL},
};

/* A run of the handler, from the letter's history. */
typedef struct run_row {
    int64_t   attempt;
    pawl_text at; /* a time, as the history has it */
    pawl_text code, error;
} run_row;

#define RUN(key, kind, member, ...) PAWL__COLUMN(run_row, key, kind, member, __VA_ARGS__)
static const pawl__column run_columns[] = {
    RUN("attempt", COUNT, attempt, "attempt"),
    RUN("at", TEXT, at, "at"),
    RUN("code", TEXT, code, "code"),
    RUN("error", TEXT, error, "error"),
    {.key = NULL},
};

static const pawl__noun letters = {"dead letter", letter_columns, sizeof(pawl_dead_row)};

const pawl__report pawl__dead_verb_reports[] = {
    {"list, show", letter_columns, NULL},
    {"history, of show", run_columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"retry, edit, discard", NULL,
     "retried edited discarded no_longer_dead already_queued unsendable"},
    {"with --dry-run", NULL, "matching since until"},
    {.what = NULL},
};

/* ---- Finding --------------------------------------------------------------- */

/* Codes that a letter can have. The first, PAWL_OK, is skipped; "?" is a handler's own number. */
static const char *const code_names[] = {
#define CODE_NAME(symbol, number, retry, exit_code, text) #symbol,
    PAWL_CODES(CODE_NAME)
#undef CODE_NAME
        PAWL_TAKE_CODE,
    "?", NULL};

/* Only warns: another version of pawl may have written the code. */
static void warn_of_code(const char *code)
{
    const char *const *names = code_names + 1;
    char               suggestion[600], word[PAWL__WORD_SIZE];
    if (code == NULL || names[pawl__choice_of(names, pawl_text_of(code))] != NULL)
        return;
    pawl__suggest(code, "", names, suggestion, sizeof suggestion);
    pawl__say(stderr, "pawl: warning: --code: no code of this version is '%s'%s",
              pawl__shown(code, word), suggestion);
}

/* For list, retry and discard, --saga requires --app and the reverse. */
static pawl_code check_saga(const pawl__dead_fields *fields, pawl_error *error)
{
    bool      is_edit = strcmp(fields->words.action, "edit") == 0;
    pawl_text type, value;
    if (!is_edit && (fields->saga == NULL) != (fields->book.app == NULL))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "--saga TYPE/VALUE and --app APP.so go together: the program's tables "
            "say which dead letters are a saga's");
    if (fields->book.prefix != NULL && fields->saga == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--saga-prefix goes with --saga");
    if (fields->saga != NULL && !pawl__saga_split(NULL, pawl_text_of(fields->saga), &type, &value))
        return pawl_error_set(error, PAWL_EINVAL, "--saga %.200s: give TYPE/VALUE, or TYPE/ID",
                              fields->saga);
    return PAWL_OK;
}

/* A time and an age may both be given; then both apply. */
pawl_dead_query pawl__dead_query(const pawl__dead_fields *fields, pawl_time now)
{
    pawl_dead_query query = {.endpoint   = pawl_text_of(fields->endpoint),
                             .type       = pawl_text_of(fields->type),
                             .code       = pawl_text_of(fields->code),
                             .error_part = pawl_text_of(fields->error_part),
                             .at_min     = fields->newer != 0 ? now - fields->newer : 0,
                             .at_max     = fields->older != 0 ? now - fields->older : 0,
                             .size_max   = PAWL_CLAIM_SIZE_MAX};
    if (fields->since != 0 && (query.at_min == 0 || fields->since > query.at_min))
        query.at_min = fields->since;
    if (fields->until != 0 && (query.at_max == 0 || fields->until < query.at_max))
        query.at_max = fields->until;
    return query;
}

pawl_code pawl__dead_letter_find(const pawl__dead_fields *fields, pawl_store *store, const char *id,
                                 pawl_arena *arena, pawl_dead_row *letter, pawl_error *error)
{
    pawl_dead_query query = {
        .endpoint = pawl_text_of(fields->endpoint), .message_id = pawl_text_of(id), .count_max = 2};
    pawl_dead_rows rows = {.count = 0};
    pawl_code      code = pawl_store_dead_find(store, &query, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND,
                              "there is no dead letter %s%s%s: pawl why ID searches everything%s",
                              id, fields->endpoint != NULL ? " of endpoint " : "",
                              fields->endpoint != NULL ? fields->endpoint : "",
                              fields->endpoint != NULL ? ""
                                                       : ", pawl dead show ID --endpoint NAME has "
                                                         "what was done with a dead letter");
    if (rows.count > 1)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s is a dead letter of several endpoints, %.*s and %.*s among them: "
                              "say --endpoint",
                              id, PAWL_TEXT_ARGS(rows.items[0].endpoint),
                              PAWL_TEXT_ARGS(rows.items[1].endpoint));
    *letter = rows.items[0];
    return PAWL_OK;
}

/* ---- List ------------------------------------------------------------------ */

/* Copies the letter's key, which must outlive its page. */
static void keep_key(pawl__dead_cursor *cursor, const pawl_dead_row *letter)
{
    memcpy(cursor->endpoint, letter->endpoint.data, letter->endpoint.size);
    memcpy(cursor->id, letter->message.id.data, letter->message.id.size);
    cursor->last =
        (pawl_dead_row){.at         = letter->at,
                        .endpoint   = {.data = cursor->endpoint, .size = letter->endpoint.size},
                        .message.id = {.data = cursor->id, .size = letter->message.id.size}};
    cursor->query.after = &cursor->last;
}

pawl_code pawl__dead_cursor_begin(const pawl__dead_fields *fields, pawl_store *store,
                                  pawl_arena *arena, pawl__dead_cursor *cursor, pawl_error *error)
{
    *cursor = (pawl__dead_cursor){.store = store};
    return fields->saga == NULL ? PAWL_OK
                                : pawl__saga_letters_begin(&fields->book, store, fields->saga,
                                                           arena, &cursor->of, error);
}

static pawl_dead_row copy_of(const pawl_dead_row *letter, pawl_arena *arena)
{
    pawl_dead_row copy    = *letter;
    pawl_text    *texts[] = {&copy.endpoint,
                             &copy.queue,
                             &copy.code,
                             &copy.error,
                             &copy.history,
                             &copy.message.id,
                             &copy.message.type,
                             &copy.message.body,
                             &copy.message.headers,
                             &copy.message.correlation_id,
                             &copy.message.causation_id};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = pawl__must_text(arena, *texts[i]);
    return copy;
}

/* Reads pages of the store until `wanted` letters of the saga are found, or their size is reached. Found letters are
 * copied, so that only one page is in memory. The cursor is after the last letter that was checked. */
static pawl_code page_of_saga(pawl__dead_cursor *cursor, size_t wanted, pawl_arena *arena,
                              pawl_dead_rows *found, pawl_error *error)
{
    size_t         capacity = 0, size = 0;
    pawl_dead_rows page   = {.count = SAGA_PAGE};
    pawl_arena    *looked = pawl__must_create(); /* for one page */
    pawl_code      code   = PAWL_OK;
    pawl_text      by;
    *found                  = (pawl_dead_rows){.count = 0};
    cursor->query.count_max = SAGA_PAGE;
    while (code == PAWL_OK && (page.count == SAGA_PAGE || page.is_cut) && found->count < wanted &&
           !found->is_cut) {
        pawl_arena_reset(looked);
        code = pawl_store_dead_find(cursor->store, &cursor->query, looked, &page, error);
        for (size_t i = 0;
             code == PAWL_OK && i < page.count && found->count < wanted && !found->is_cut; i++) {
            const pawl_dead_row *letter = &page.items[i];
            keep_key(cursor, letter);
            if (pawl__saga_letter_is(&cursor->of, letter, looked, &by) != PAWL__LETTER_OWN)
                continue;
            found->items =
                pawl__must_grow(arena, found->items, found->count, &capacity, sizeof *found->items);
            found->items[found->count++] = copy_of(letter, arena);
            size += PAWL_MESSAGE_SIZE(&letter->message);
            found->is_cut = PAWL_SIZE_IS_REACHED(size, cursor->query.size_max);
        }
    }
    pawl_arena_destroy(looked);
    return code;
}

pawl_code pawl__dead_page(pawl__dead_cursor *cursor, size_t count_max, pawl_arena *arena,
                          pawl_dead_rows *found, pawl_error *error)
{
    cursor->query.count_max = count_max;
    if (cursor->of.model != NULL)
        return page_of_saga(cursor, count_max, arena, found, error);
    pawl_code code = pawl_store_dead_find(cursor->store, &cursor->query, arena, found, error);
    if (code == PAWL_OK && found->count > 0)
        keep_key(cursor, &found->items[found->count - 1]);
    return code;
}

typedef struct listing {
    pawl__view       *view;
    pawl__dead_cursor cursor;
} listing;

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    listing       *it    = context;
    pawl_dead_rows found = {.count = 0};
    pawl_code      code  = pawl__dead_page(&it->cursor, count_max, arena, &found, error);
    *rows                = found.items;
    *count               = found.count;
    it->view->is_cut     = found.is_cut;
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__dead_fields *fields = context;
    pawl__view               view   = pawl__view_of(&letters, fields->words.is_json, arena);
    listing                  it     = {.view = &view};
    pawl_arena *own  = pawl__must_create(); /* the view's arena is reset for each page */
    pawl_code   code = pawl__dead_cursor_begin(fields, store, own, &it.cursor, error);
    it.cursor.query  = pawl__dead_query(fields, view.now);
    if (code == PAWL_OK)
        code = pawl__rows_list(&view, fields->limit, next_page, &it, error);
    pawl_text command = {.size = 0};
    if (code == PAWL_OK && view.printed == 0 && !view.is_json)
        command = pawl__saga_letters_command(&it.cursor.of, &fields->at, own);
    if (command.size != 0)
        pawl__say(stderr, "messages with its value, of other types too: %.*s",
                  PAWL_TEXT_ARGS(command));
    pawl_arena_destroy(own);
    return code;
}

/* ---- Show ------------------------------------------------------------------ */

/* The runs of a letter's handler, and the actions on letters of its message. */
typedef struct past {
    run_row          *runs;
    size_t            run_count;
    pawl__action_rows actions;
} past;

/* Ignores a history in another format, written by another program. */
static void read_runs(pawl_text history, pawl_arena *arena, past *found)
{
    yyjson_doc *doc  = yyjson_read(history.data, history.size, YYJSON_READ_NOFLAG);
    yyjson_val *list = yyjson_doc_get_root(doc), *run;
    size_t      index, count;
    found->runs = pawl__must_take(arena, (yyjson_arr_size(list) + 1) * sizeof *found->runs);
    yyjson_arr_foreach(list, index, count, run)
    {
        found->runs[found->run_count++] =
            (run_row){.attempt = yyjson_get_sint(yyjson_obj_get(run, "attempt")),
                      .at      = pawl__json_text(run, "at", arena),
                      .code    = pawl__json_text(run, "code", arena),
                      .error   = pawl__json_text(run, "error", arena)};
    }
    yyjson_doc_free(doc);
}

static pawl_code read_actions(pawl_store *store, pawl_text endpoint, pawl_text id,
                              pawl_arena *arena, past *found, pawl_error *error)
{
    pawl_event_rows rows = {.count = 0};
    pawl_code       code = pawl_store_dead_actions(store, endpoint, id, arena, &rows, error);
    if (code == PAWL_OK)
        found->actions = pawl__actions_read(&rows, "pawl.dead_", arena);
    return code;
}

bool pawl__dead_is_sendable(const pawl_dead_row *letter)
{
    return letter->queue.size != 0 && letter->message.type.size != 0;
}

static pawl_code find_next(pawl_store *store, shown_letter *shown, pawl_arena *arena,
                           pawl_error *error)
{
    const pawl_dead_row *letter  = &shown->row;
    bool                 is_read = false;
    pawl_code            code = pawl__has_worker(store, letter->endpoint, arena, &is_read, error);
    if (code != PAWL_OK)
        return code;
    bool      is_sendable = pawl__dead_is_sendable(letter);
    bool      is_timeout  = pawl__dead_may_be_timeout(&letter->message);
    pawl_text command     = pawl__must_printf(
            arena, "pawl dead %s %s --endpoint %.*s", is_sendable ? "retry" : "discard",
            pawl__shell_quoted(letter->message.id, arena).data,
            PAWL_TEXT_ARGS(pawl__shell_word(letter->endpoint, arena)));
    command = pawl__shell_command(command, arena);
    if (!is_sendable) {
        shown->next = pawl__must_printf(
            arena, "nothing by itself: `%s` removes it: it has no type or queue", command.data);
        return PAWL_OK;
    }
    shown->next = pawl__must_printf(
        arena, "nothing by itself: `%s` %s%.*s%s%s", command.data,
        is_timeout ? "sets the timeout of its saga again, unless the saga has, due now, for queue "
                   : "sends it to queue ",
        PAWL_TEXT_ARGS(letter->queue),
        !pawl_text_equal(letter->code, PAWL_TEXT("EDECODE")) ? ""
        : is_timeout
            ? ", where it fails again unless another program handles it"
            : ", where it fails again unless `pawl dead edit` fixes its body first, or another program handles it",
        is_read ? "" : "; no worker of the endpoint is alive, which would handle it");
    return PAWL_OK;
}

/* `shown` NULL: the letter is gone. */
static pawl_code print_shown(const pawl__view *view, const shown_letter *shown, const past *of)
{
    const pawl__inner_rows inner[] = {
        {"history", run_columns, sizeof *of->runs, of->runs, of->run_count},
        pawl__actions_inner(&of->actions)};
    return pawl__row_show(view, shown, inner, 2);
}

/* If the endpoint is named, shows the actions on a letter that no longer exists. */
static pawl_code show_gone(const pawl__dead_fields *fields, const pawl__view *view,
                           pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    past       of   = {.run_count = 0};
    pawl_error none = *error;
    pawl_code  code = read_actions(store, pawl_text_of(fields->endpoint),
                                   pawl_text_of(fields->words.ids.items[0]), arena, &of, error);
    if (code == PAWL_OK && of.actions.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "%s", none.text);
    return code == PAWL_OK ? print_shown(view, NULL, &of) : code;
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__dead_fields *fields = context;
    pawl__view               view   = pawl__view_of(&letters, fields->words.is_json, arena);
    shown_letter             shown  = {.next.size = 0};
    past                     of     = {.run_count = 0};
    view.level                      = fields->is_revealed ? PAWL__LEVEL_REVEAL : PAWL__LEVEL_SHOW;
    pawl_code code =
        pawl__dead_letter_find(fields, store, fields->words.ids.items[0], arena, &shown.row, error);
    if (code == PAWL_ENOTFOUND && fields->endpoint != NULL)
        return show_gone(fields, &view, store, arena, error);
    if (code == PAWL_OK)
        read_runs(shown.row.history, arena, &of);
    if (code == PAWL_OK)
        code = read_actions(store, shown.row.endpoint, shown.row.message.id, arena, &of, error);
    if (code == PAWL_OK)
        code = find_next(store, &shown, arena, error);
    return code == PAWL_OK ? print_shown(&view, &shown, &of) : code;
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    pawl__dead_fields *fields = context;
    bool               is_look =
        strcmp(fields->words.action, "list") == 0 || strcmp(fields->words.action, "show") == 0;
    pawl_code code = is_look ? PAWL_OK : pawl__dead_settle_check(fields, error);
    if (code == PAWL_OK)
        code = check_saga(fields, error);
    if (code == PAWL_OK)
        warn_of_code(fields->code);
    return code != PAWL_OK || fields->saga == NULL ? code
                                                   : pawl__saga_book_open(&fields->book, error);
}

PAWL__VERB_CLOSED(dead, pawl__dead_fields, pawl__saga_book_close, &fields.book,
                  ACTIONS(PAWL__ACTION_FUNCTION))
