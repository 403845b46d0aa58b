/* why.c - `pawl why ID`: says what a row waits for, since when, its last error, which worker has it, what
 * happens next, and which commands an operator can give.
 *
 * An id may be in several places, which are all printed: a dead-lettered message also has a
 * deduplication record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"

#include <string.h>

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *word;
    pawl__saga_book    book;
    bool               is_json;
} verb_fields;

const pawl__argument pawl__why_verb_arguments[] = {
    PAWL__ARGUMENT(
        verb_fields, "ID", word,
        "id of a message, dead letter or timeout; number or dispatch id of an outbox row; TYPE/VALUE "
        "of a saga (with --app) or its id; TYPE/KEY of a process or an entity; name of a schedule, of a "
        "projection or of a partition"),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__why_verb_options[] = {
    OPTION("app", TEXT, book.app, "APP.so", 0,
           "the program that has the sagas: they are found, too, also by their values"),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, book.prefix, 0),
    {.name = NULL},
};

#define ANSWER(key, kind, member, ...) PAWL__COLUMN(pawl__answer, key, kind, member, __VA_ARGS__)
#define ANSWER_COLUMNS                                                                    \
    ANSWER("place", TEXT, place_text, NULL), ANSWER("name", TEXT, name, NULL),            \
        ANSWER("waits_for", TEXT, waits_for, NULL), ANSWER("since", TIME, since, NULL),   \
        ANSWER("error", TEXT, error, NULL), ANSWER("claimed_by", TEXT, claimed_by, NULL), \
        ANSWER("next", TEXT, next, NULL)
static const pawl__column columns[]      = {ANSWER_COLUMNS, ANSWER("run", LIST, run, NULL), {0}};
static const pawl__column page_columns[] = {ANSWER_COLUMNS, {0}};
static const pawl__noun   answers        = {"place", columns, sizeof(pawl__answer)};
static const pawl__noun   answer_pages   = {"place", page_columns, sizeof(pawl__answer)};

const pawl__report pawl__why_verb_reports[] = {{"a place", columns, NULL}, {.what = NULL}};

/* ---- Looking and printing ----------------------------------------------- */

static pawl__why_fn *const places[] = {
    pawl__why_letters,   pawl__why_queues,    pawl__why_outbox,      pawl__why_timeout,
    pawl__why_saga,      pawl__why_stream,    pawl__why_schedule,    pawl__why_projection,
    pawl__why_partition, pawl__why_collected, pawl__why_whole_queue, pawl__why_inbox,
};

static pawl_code print(const pawl__why *why, bool is_json)
{
    pawl__view view = pawl__view_of(is_json ? &answers : &answer_pages, is_json, why->arena);
    if (is_json)
        return pawl__rows_print(&view, why->answers, why->count);
    for (size_t i = 0; i < why->count; i++) {
        const pawl__answer *answer = &why->answers[i];
        if (i > 0)
            putchar('\n');
        pawl__row_page(&view, answer);
        for (size_t r = 0; r < answer->run.count; r++)
            pawl__say(stdout, "run: %.*s", PAWL_TEXT_ARGS(answer->run.items[r]));
    }
    return PAWL_OK;
}

/* The error if nothing was found. Messages may still have the value of a saga that ended: it suggests `pawl find`. */
static pawl_code say_nothing(const pawl__why *why)
{
    pawl_text          type = {.size = 0}, value = {.size = 0}, command;
    bool               is_typed = pawl__saga_split(&why->book->tables, why->word, &type, &value);
    pawl__saga_letters of       = {.type = type, .value = value};
    if (is_typed)
        of.model = pawl__saga_model_of(why->book, type);
    command = pawl__saga_letters_command(&of, why->at, why->arena);
    return pawl_error_set(why->error, PAWL_ENOTFOUND,
                          "'%.*s' is not a dead letter, message in a queue, outbox row, timeout, "
                          "stream, schedule, projection, partition, queue or message that was "
                          "collected or handled%s%s%s%.*s",
                          PAWL_TEXT_ARGS(why->word),
                          why->may_be_collected ? " (aggregators have more than were read)" : "",
                          why->book->app != NULL ? ", and no saga of this program"
                                                 : "; sagas are found with --app APP.so",
                          command.size != 0 ? "; messages with its value: " : "",
                          PAWL_TEXT_ARGS(command));
}

static pawl_code explain(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const verb_fields *fields = context;
    pawl__why          why    = {.at    = &fields->at,
                                 .word  = pawl_text_of(fields->word),
                                 .book  = &fields->book,
                                 .store = store,
                                 .arena = arena,
                                 .now   = pawl_clock_now(NULL),
                                 .error = error};
    pawl_code code = pawl_store_worker_list(store, arena, &why.workers, &why.worker_count, error);
    if (code == PAWL_OK)
        code = pawl_store_subscriptions(store, arena, &why.subscriptions, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof places / sizeof places[0]; i++)
        code = places[i](&why);
    if (code != PAWL_OK)
        return code;
    if (why.count == 0)
        return say_nothing(&why);
    return print(&why, fields->is_json);
}

static pawl_code check_words(void *context, pawl_error *error)
{
    verb_fields *fields = context;
    pawl__interrupt_says(NULL);
    if (fields->book.app == NULL && fields->book.prefix != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--saga-prefix goes with --app APP.so");
    return pawl__saga_book_open(&fields->book, error);
}

PAWL__VERB_CLOSED(why, verb_fields, pawl__saga_book_close, &fields.book, explain)
