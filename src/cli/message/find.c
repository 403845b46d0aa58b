/* find.c - `pawl find NAME=VALUE`: finds messages by their content, for an operator who has no message id.
 *
 * No store has an index for that: messages are read page by page, until all are read, --limit are found or
 * --deadline passes. A search that ends before all are read prints how far it came, and the command that continues it.
 * Bodies are compared but not printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/message/find.h"
#include "cli/answers/why.h"
#include "cli/bulk/bulk_loop.h"

#include "base/calm.h"

#include <inttypes.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define DEADLINE_DEFAULT PAWL_SECONDS(10)
/* Least deadline of a call of the store, which otherwise has that of the search. */
#define CALL_MIN PAWL_SECONDS(2)

/* ---- Words --------------------------------------------------------------- */

typedef struct verb_fields {
    pawl__store_fields at;
    pawl__texts        words;
    const char        *after, *places, *queue, *since;
    int64_t            limit, deadline; /* of the whole search */
    bool               is_json;
} verb_fields;

const pawl__argument pawl__find_verb_arguments[] = {
    PAWL__ARGUMENT(
        verb_fields, "NAME=VALUE", words,
        "customer_id=4711: a member of the body; of.trip=3: a member of a member, or of an array's "
        "elements; 4711 finds the number and the text, '\"4711\"' the text alone. header:NAME=VALUE, "
        "correlation=ID, causation=ID, type=TYPE, id=ID; body:id=7 is the member of that name. Of several, "
        "all must hold",
        .is_optional = true, .is_list = true, .is_open = true),
    {.name = NULL},
};

static const char *const place_choices[] = {"aggregator", "dead",  "history",
                                            "outbox",     "queue", NULL};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__find_verb_options[] = {
    OPTION("after", FILTER, after, "CURSOR", 0, "go on behind it, as a search that stopped said"),
    OPTION("deadline", DURATION, deadline, "DURATION", 0,
           "stop after this time (at least one page is read) and print how to continue", 0,
           PAWL_DAYS(1), .has_default = true, .value_default = DEADLINE_DEFAULT),
    OPTION("in", TEXT, places, "PLACE,...", 0,
           "dead, queue, outbox, aggregator, history: they are read in this order",
           .choices = place_choices, .is_set = true, .default_words = "all"),
    OPTION("json", FLAG, is_json, NULL, 0,
           "one JSON object on a line each, the last about the search"),
    OPTION("limit", COUNT, limit, "N", 0, "stop after N messages", 1, INT64_MAX,
           .has_default = true, .value_default = LIMIT_DEFAULT),
    PAWL__OPTION_PREFIX(verb_fields, at),
    OPTION("queue", FILTER, queue, "NAME", 0,
           "of this queue, endpoint, destination or aggregator alone"),
    OPTION("since", FILTER, since, "TIME", 0,
           "placed, dead-lettered, sent or settled since: 2h, 2026-11-22T08:00:00Z"),
    PAWL__OPTION_STORE(verb_fields, at),
    {.name = NULL},
};

#define FOUND(key, kind, member, ...) PAWL__COLUMN(pawl__found, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    FOUND("place", TEXT, place, "in"),
    FOUND("message_id", TEXT, message.id, "message id"),
    FOUND("type", TEXT, message.type, "type"),
    FOUND("queue", TEXT, queue, "queue"),
    FOUND("endpoint", TEXT, endpoint, NULL),
    FOUND("at", TIME, at, "at"),
    FOUND("state", TEXT, state, "state"),
    FOUND("attempts", COUNT_32, attempts, NULL),
    FOUND("error", TEXT, error, "last error"),
    FOUND("correlation_id", TEXT, message.correlation_id, NULL),
    FOUND("causation_id", TEXT, message.causation_id, NULL),
    FOUND("number", NUMBER, number, NULL),
    FOUND("body_size", SIZE, message.body, NULL),
    FOUND("run", TEXT, run, NULL),
    {.key = NULL},
};

static const pawl__noun messages = {"message", columns, sizeof(pawl__found)};

const pawl__report pawl__find_verb_reports[] = {
    {"a message", columns, NULL},
    {"at the end", NULL, "found read unreadable is_complete after run"},
    {.what = NULL},
};

/* ---- The search ---------------------------------------------------------- */

typedef enum ending { END_COMPLETE, END_LIMIT, END_DEADLINE, END_FAILED } ending;

typedef struct search {
    const verb_fields    *fields;
    pawl__find_conditions conditions;
    pawl__find_cursor     cursor;
    pawl__find_place      begun; /* the place of --after, or the first */
    pawl__view            view;
    pawl_time             at_min;
    int64_t               stops; /* when the search ends, by pawl__steady_now */
    unsigned              places;
    int64_t               read[PAWL__FIND_PLACES];
    int64_t               read_all, unreadable, found;
    ending                end;
} search;

static bool has_place(const search *it, unsigned place)
{
    return (it->places & 1U << place) != 0;
}

/* Is the search to end? Checked after each message found, too, since its details cost a statement. */
static bool is_over(search *it)
{
    if (it->found >= it->fields->limit)
        it->end = END_LIMIT;
    else if (pawl__steady_now() >= it->stops)
        it->end = END_DEADLINE;
    return it->end != END_COMPLETE;
}

static pawl_code print_found(search *it, pawl__found *row, pawl_arena *arena, pawl_error *error)
{
    bool      is_there = false;
    pawl_code code     = pawl__find_detail(&it->cursor, row, arena, &is_there, error);
    if (code != PAWL_OK || !is_there || (row->at != 0 && row->at < it->at_min))
        return code;
    row->run = pawl__store_command(&it->fields->at, row->run, arena);
    pawl__progress_end(it->read_all);
    it->found++;
    return pawl__rows_print(&it->view, row, 1);
}

static pawl_code look_at(search *it, pawl__found *rows, size_t count, pawl_arena *arena,
                         pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count && it->end == END_COMPLETE; i++) {
        pawl__find_verdict verdict = pawl__find_match(&it->conditions, &rows[i].message);
        if (verdict == PAWL__FIND_YES)
            code = print_found(it, &rows[i], arena, error);
        if (code != PAWL_OK)
            return code;
        it->unreadable += verdict == PAWL__FIND_UNREADABLE;
        it->read[it->cursor.place]++;
        it->read_all++;
        pawl__find_pass(&it->cursor, &rows[i]);
        if (verdict == PAWL__FIND_YES)
            (void)is_over(it);
    }
    return code;
}

/* Reads a place. Its first page is read even after the deadline, so that each continued search makes progress. */
static pawl_code search_place(search *it, pawl_arena *arena, pawl_error *error)
{
    bool      is_last = false;
    pawl_code code    = PAWL_OK;
    while (code == PAWL_OK && !is_last && it->end == END_COMPLETE) {
        pawl__found *rows  = NULL;
        size_t       count = 0;
        pawl_arena_reset(arena);
        code = pawl__find_page(&it->cursor, arena, &rows, &count, &is_last, error);
        if (code == PAWL_OK)
            code = look_at(it, rows, count, arena, error);
        fflush(it->view.out);
        pawl__progress("messages read", it->read_all, 0);
        if (code == PAWL_OK && it->end == END_COMPLETE && !is_last)
            (void)is_over(it);
    }
    return code;
}

static pawl_code search_places(search *it, pawl_arena *arena, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (unsigned place = it->begun;
         code == PAWL_OK && it->end == END_COMPLETE && place < PAWL__FIND_PLACES; place++) {
        if (!has_place(it, place))
            continue;
        if (it->cursor.place != place || !it->cursor.has_key)
            pawl__find_enter(&it->cursor, (pawl__find_place)place);
        if (place != it->begun && is_over(it))
            break;
        code = search_place(it, arena, error);
    }
    pawl__progress_end(it->read_all);
    return code;
}

/* ---- What is said of it -------------------------------------------------- */

static pawl_text add_option(pawl_text command, const char *name, const char *value,
                            pawl_arena *arena)
{
    if (value == NULL)
        return command;
    pawl_text word = pawl__shell_word(pawl_text_of(value), arena);
    return pawl__must_printf(arena, "%.*s%s%.*s", PAWL_TEXT_ARGS(command), name,
                             PAWL_TEXT_ARGS(word));
}

/* The same search from the cursor on. */
static pawl_text command_on(const search *it, pawl_text cursor, pawl_arena *arena)
{
    const verb_fields *fields  = it->fields;
    pawl_text          command = PAWL_TEXT("pawl find");
    char               deadline[PAWL__WORD_SIZE];
    for (size_t i = 0; i < fields->words.count; i++)
        command = add_option(command, " ", fields->words.items[i], arena);
    command = add_option(command, " --in ", fields->places, arena);
    command = add_option(command, " --queue ", fields->queue, arena);
    command = add_option(command, " --since ", fields->since, arena);
    if (fields->limit != LIMIT_DEFAULT)
        command = pawl__must_printf(arena, "%.*s --limit %" PRId64, PAWL_TEXT_ARGS(command),
                                    fields->limit);
    if (fields->deadline != DEADLINE_DEFAULT) {
        const pawl__option option = {.kind = PAWL__OPTION_DURATION};
        (void)pawl__option_text(&option, fields->deadline, deadline, sizeof deadline);
        command = add_option(command, " --deadline ", deadline, arena);
    }
    pawl_text after = pawl__shell_word(cursor, arena);
    command         = pawl__must_printf(arena, "%.*s%s --after %.*s", PAWL_TEXT_ARGS(command),
                                fields->is_json ? " --json" : "", PAWL_TEXT_ARGS(after));
    return pawl__store_command(&fields->at, command, arena);
}

/* "1000000 dead letters, 430000 messages in queues; not yet outbox rows, events" */
static void say_read(const search *it)
{
    const char *gap = "";
    fputs("read: ", stderr);
    for (unsigned place = it->begun; place < PAWL__FIND_PLACES; place++)
        if (has_place(it, place) && (place <= it->cursor.place || it->end == END_COMPLETE)) {
            fprintf(stderr, "%s%" PRId64 " %s", gap, it->read[place],
                    pawl__find_place_nouns[place]);
            gap = ", ";
        }
    gap = "; not yet ";
    for (unsigned place = it->cursor.place + 1; place < PAWL__FIND_PLACES; place++)
        if (has_place(it, place) && it->end != END_COMPLETE) {
            fprintf(stderr, "%s%s", gap, pawl__find_place_nouns[place]);
            gap = ", ";
        }
    if (it->unreadable > 0)
        fprintf(stderr, "; %" PRId64 " bodies are not JSON", it->unreadable);
    fputc('\n', stderr);
}

static void say_json(const search *it, pawl_text cursor, pawl_text command)
{
    bool is_complete = it->end == END_COMPLETE;
    (void)pawl__facts_print(PAWL__FACTS(
        {.key = "found", .number = it->found}, {.key = "read", .number = it->read_all},
        {.key = "unreadable", .number = it->unreadable},
        {.key = "is_complete", .json = is_complete ? PAWL_TEXT("true") : PAWL_TEXT("false")},
        {.key = "after", .text = cursor.data, .is_null = is_complete},
        {.key = "run", .text = command.data, .is_null = is_complete}));
}

static void say_text(const search *it, pawl_text command)
{
    if (it->found == 0)
        fprintf(stderr, "no message matches%s\n", it->end == END_COMPLETE ? "" : " so far");
    say_read(it);
    if (it->end == END_LIMIT)
        fprintf(stderr, "these are %" PRId64 ", there may be more; ", it->found);
    if (it->end != END_COMPLETE) {
        fprintf(stderr, "to go on: %.*s\n", PAWL_TEXT_ARGS(command));
    } else if (it->found > 0)
        fputs("what one of them waits for: pawl why MESSAGE-ID\n", stderr);
}

static void say_end(search *it, pawl_arena *arena)
{
    pawl_text cursor = pawl__find_cursor_text(&it->cursor, arena);
    pawl_text plain  = command_on(it, cursor, arena);
    char     *line   = pawl__must_take(arena, plain.size + 1);
    memcpy(line, plain.data, plain.size);
    pawl__calm_line(line, plain.size);
    if (it->fields->is_json)
        say_json(it, cursor, plain);
    else
        say_text(it, (pawl_text){.data = line, .size = plain.size});
}

/* Prints how the search ended; also after a failure of the store the command that continues it. */
static pawl_code end(search *it, pawl_code code, pawl_arena *arena, pawl_error *error)
{
    char span[PAWL__SPAN_SIZE];
    if (code != PAWL_OK)
        it->end = END_FAILED;
    if (code == PAWL_OK || it->read_all > 0)
        say_end(it, arena);
    if (code != PAWL_OK || it->end != END_DEADLINE)
        return code;
    return pawl_error_set(error, PAWL_ETIMEOUT,
                          "stopped early, after %s: %" PRId64 " messages read, %" PRId64 " found",
                          pawl__span_text(it->fields->deadline, span), it->read_all, it->found);
}

/* ---- The verb ------------------------------------------------------------ */

/* Maps the choices of --in, which are sorted by name, to places, which are in the order of reading. */
static unsigned places_of(const char *words)
{
    unsigned places = 0, chosen = pawl__choices_of(place_choices, words);
    for (size_t i = 0; i < PAWL__FIND_PLACES; i++)
        if ((chosen & 1U << i) != 0)
            places |= 1U << pawl__choice_of(pawl__find_place_names, pawl_text_of(place_choices[i]));
    return places != 0 ? places : (1U << PAWL__FIND_PLACES) - 1;
}

/* Parses --since: a time, or a duration before now. */
static pawl_code read_since(const char *text, pawl_time now, pawl_time *since, pawl_error *error)
{
    int64_t span = 0;
    if (text == NULL)
        return PAWL_OK;
    if (pawl__duration_parse(text, &span, NULL) == PAWL_OK) {
        *since = now - span;
        return PAWL_OK;
    }
    pawl_code code = pawl_time_parse(pawl_text_of(text), since, error);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "--since");
}

static pawl_code check_words(search *it, pawl_error *error)
{
    const verb_fields *fields = it->fields;
    pawl_code          code   = pawl__find_read(&fields->words, &it->conditions, error);
    if (code == PAWL_OK)
        code = read_since(fields->since, it->cursor.now, &it->at_min, error);
    it->places       = places_of(fields->places);
    it->cursor.queue = pawl_text_of(fields->queue);
    for (size_t i = 0; i < it->conditions.count; i++)
        if (it->conditions.items[i].part == PAWL__FIND_ID)
            it->cursor.message_id = it->conditions.items[i].value;
    if (code == PAWL_OK && fields->after != NULL)
        code = pawl__find_cursor_read(fields->after, &it->cursor, error);
    it->begun = it->cursor.place;
    while (fields->after == NULL && !has_place(it, it->begun))
        it->begun++;
    if (code == PAWL_OK && fields->after != NULL && !has_place(it, it->begun))
        code = pawl_error_set(error, PAWL_EINVAL, "--after: --in leaves %s out",
                              pawl__find_place_names[it->begun]);
    return code;
}

static pawl_code run_search(const void *context, pawl_store *store, pawl_arena *arena,
                            pawl_error *error)
{
    search *it       = *(search *const *)context;
    it->cursor.store = store;
    it->view         = pawl__view_of(&messages, it->fields->is_json, arena);
    it->view.widths[0] =
        sizeof "aggregator" - 1; /* rows are printed one by one, as they are found */
    pawl_code code = search_places(it, arena, error);
    return end(it, code, arena, error);
}

int pawl__find_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.is_json = false};
    search      it     = {.fields = &fields, .cursor = {.now = pawl_clock_now(NULL)}};
    search     *found  = &it;
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    pawl__interrupt_says(NULL);
    if (code == PAWL_OK)
        code = check_words(&it, &error);
    it.stops           = pawl__steady_now() + fields.deadline;
    fields.at.deadline = fields.deadline > CALL_MIN ? fields.deadline : CALL_MIN;
    int exit_code =
        code == PAWL_OK ? pawl__on_store(&fields.at, run_search, &found) : pawl__fail(code, &error);
    pawl__find_free(&it.conditions);
    return exit_code;
}
