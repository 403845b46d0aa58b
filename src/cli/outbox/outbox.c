/* outbox.c - `pawl outbox list|show`: shows outbox rows, their states and delivery attempts, and
 * what happens next. outbox_reset.c has retry and discard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/outbox/outbox.h"

#include <inttypes.h>
#include <string.h>

#define BLOCKERS_MAX 100 /* pending rows of an ordering key that are read to find the first */

/* ---- Words ----------------------------------------------------------------- */

#define ACTIONS(X)                                                                               \
    X(DISCARD, "discard", "ID ...",                                                              \
      "give dead rows up; --all and the options of list: those that match", pawl__outbox_reset)  \
    X(LIST, "list", "",                                                                          \
      "the rows by number: where each goes, in which state it is, how often it was tried", list) \
    X(RETRY, "retry", "ID ...",                                                                  \
      "deliver dead rows again; --all and the options of list: those that match",                \
      pawl__outbox_reset)                                                                        \
    X(SHOW, "show", "ID", "one row, what happens next, and what each attempt came to", show)
PAWL__ACTIONS(ACTIONS)

#define FOR_LIST (1U << ACTION_LIST)
#define FOR_SHOW (1U << ACTION_SHOW)
#define FOR_RESET (1U << ACTION_DISCARD | 1U << ACTION_RETRY)
#define FOR_MANY (FOR_LIST | FOR_RESET)

const pawl__argument pawl__outbox_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(pawl__outbox_fields, words.action),
    PAWL__ARGUMENT(pawl__outbox_fields, "ID|DISPATCH-ID", words.ids,
                   "number of the row, as list has it, or its dispatch id", .is_optional = true,
                   .is_list = true),
    {.name = NULL},
};

static const char *const state_names[] = {
    [PAWL_OUTBOX_PENDING] = "pending",       [PAWL_OUTBOX_BLOCKED] = "blocked",
    [PAWL_OUTBOX_DISPATCHED] = "dispatched", [PAWL_OUTBOX_DEAD] = "dead",
    [PAWL_OUTBOX_DISCARDED] = "discarded",   NULL,
};

#define OPTION(name, kind, member, ...) \
    PAWL__OPTION(pawl__outbox_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__outbox_verb_options[] = {
    OPTION("after", COUNT, after, "ID", FOR_LIST,
           "rows with a larger number; 0: from the first one", .max = INT64_MAX),
    OPTION("all", FLAG, words.is_all, NULL, FOR_RESET, "every dead row that the options match"),
    OPTION("app", TEXT, book.app, "APP.so", 0,
           "the program that has the sagas: they are named by their values"),
    OPTION("attempts", COUNT, attempts, "N", FOR_MANY, "tried N times or more", 1, INT32_MAX),
    OPTION("causation-id", FILTER, causation_id, "ID", FOR_MANY,
           "what was sent while this message was handled"),
    PAWL__OPTIONS_ROWS(pawl__outbox_fields, at, words.is_json),
    OPTION("destination", FILTER, destination, "NAME", FOR_MANY, "for this destination"),
    OPTION("dispatch-id", TEXT, dispatch_id, "UUID", FOR_MANY, "the row of this dispatch"),
    OPTION("endpoint", FILTER, endpoint, "NAME", FOR_MANY, "from this endpoint"),
    OPTION("id", COUNT, id, "ID", FOR_MANY, "the row of this number", 1, INT64_MAX),
    PAWL__OPTION_LIMIT(pawl__outbox_fields, limit, FOR_LIST, "rows"),
    PAWL__OPTION_REASON(pawl__outbox_fields, words.reason, FOR_RESET, "row's history"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "the body as well"),
    OPTION("saga", FILTER, saga, "TYPE/VALUE|TYPE/ID", FOR_MANY,
           "from this saga; by its value with --app"),
    PAWL__OPTION_SAGA_PREFIX(pawl__outbox_fields, book.prefix, 0),
    OPTION("source", FILTER, source, "TYPE/ID", FOR_MANY, "from this saga, process or entity"),
    OPTION("state", TEXT, states, "STATE,...", FOR_MANY,
           "pending, blocked, dispatched, dead, discarded", .choices = state_names, .is_set = true),
    OPTION("type", FILTER, type, "TYPE", FOR_MANY, "messages of this type"),
    OPTION("yes", FLAG, words.is_agreed, NULL, FOR_RESET, "with --all: without asking"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

static const char *const outcome_names[] = {
    [PAWL_ATTEMPT_SUCCESS]   = "success",
    [PAWL_ATTEMPT_REJECTED]  = "rejected",
    [PAWL_ATTEMPT_TRANSIENT] = "transient",
    [PAWL_ATTEMPT_POISON]    = "poison",
    [PAWL_ATTEMPT_RETRIED]   = "retried",
    [PAWL_ATTEMPT_DISCARDED] = "discarded",
    NULL,
};

typedef struct shown_row {
    pawl_outbox_row row; /* first: list and show have columns of it in common */
    pawl_text       next;
    pawl_text       saga; /* TYPE/VALUE of the source */
} shown_row;

#define ROW(key, kind, member, ...) PAWL__COLUMN(pawl_outbox_row, key, kind, member, __VA_ARGS__)
static const pawl__column row_columns[] = {
    ROW("id", COUNT, id, "id"),
    ROW("state", NAME, state, "state", .names = state_names),
    ROW("attempts", COUNT_32, attempts, "attempts"),
    ROW("attempts_before", COUNT_32, attempts_before, NULL),
    ROW("dispatch_id", ID, dispatch_id, NULL),
    ROW("endpoint", TEXT, endpoint, "endpoint"),
    ROW("source", TEXT, source, "ordering key"),
    PAWL__COLUMN(shown_row, "saga", TEXT, saga, NULL),
    ROW("version", COUNT, version, NULL),
    ROW("index", COUNT_32, index, NULL),
    ROW("destination", TEXT, destination, "destination"),
    ROW("type", TEXT, message.type, "type"),
    ROW("message_id", TEXT, message.id, "message id"),
    ROW("correlation_id", TEXT, message.correlation_id, NULL),
    ROW("causation_id", TEXT, message.causation_id, NULL),
    ROW("at", TIME, at, "at"),
    ROW("due", TIME, due, NULL),
    ROW("next_attempt", TIME, next_attempt, NULL),
    ROW("dispatched", TIME, dispatched, NULL),
    ROW("body_size", SIZE, message.body, NULL),
    ROW("headers", JSON, message.headers, NULL, PAWL__LEVEL_SHOW),
    PAWL__COLUMN(shown_row, "next", TEXT, next, NULL, PAWL__LEVEL_SHOW),
    ROW("body", TEXT, message.body, NULL, PAWL__LEVEL_REVEAL),
    {.key = NULL},
};

#define ATTEMPT(key, kind, member, ...) \
    PAWL__COLUMN(pawl_attempt_row, key, kind, member, __VA_ARGS__)
static const pawl__column attempt_columns[] = {
    ATTEMPT("attempt", COUNT_32, attempt, "attempt"),
    ATTEMPT("outcome", NAME, outcome, "outcome", .names = outcome_names),
    ATTEMPT("at", TIME, at, "at"),
    ATTEMPT("duration_us", DURATION, duration, "duration"),
    ATTEMPT("error", TEXT, error, "error"),
    {.key = NULL},
};

static const pawl__noun outbox_rows = {"outbox row", row_columns, sizeof(shown_row)};

const pawl__report pawl__outbox_verb_reports[] = {
    {"list, show", row_columns, NULL},
    {"history, of show", attempt_columns, NULL},
    {"retry, discard", NULL, "retried discarded no_longer_dead"},
    {.what = NULL},
};

const char *pawl__outbox_state_name(pawl_outbox_state state)
{
    return state_names[state];
}

/* ---- Finding --------------------------------------------------------------- */

static pawl_code read_dispatch_id(const char *text, pawl_dispatch_id *id, pawl_error *error)
{
    pawl_code code = pawl_uuid_parse(pawl_text_of(text), &id->uuid, error);
    if (code == PAWL_OK && pawl_uuid_is_zero(id->uuid))
        code = pawl_error_set(error, PAWL_EINVAL, "%s is not the id of an outbox row", text);
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "--dispatch-id");
}

/* Refuses --saga ID without the type: the source of a row is TYPE/ID. */
static pawl_code check_saga(const pawl__outbox_fields *fields, pawl_error *error)
{
    if (fields->saga != NULL && fields->source != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--saga and --source both say whose rows: give "
                              "one of them");
    if (fields->saga != NULL && strchr(fields->saga, '/') == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--saga: '%.200s' is not TYPE/VALUE or TYPE/ID",
                              fields->saga);
    return pawl__saga_word_check(fields->saga, fields->book.app != NULL, error);
}

pawl_code pawl__outbox_query(const pawl__outbox_fields *fields, pawl_outbox_query *query,
                             pawl_error *error)
{
    *query         = (pawl_outbox_query){.id           = fields->id,
                                         .endpoint     = pawl_text_of(fields->endpoint),
                                         .source       = pawl_text_of(fields->source),
                                         .destination  = pawl_text_of(fields->destination),
                                         .message_type = pawl_text_of(fields->type),
                                         .causation_id = pawl_text_of(fields->causation_id),
                                         .after        = fields->after,
                                         .attempts_min = (int32_t)fields->attempts};
    query->states  = pawl__choices_of(state_names, fields->states);
    pawl_code code = check_saga(fields, error);
    if (code == PAWL_OK && fields->dispatch_id != NULL)
        code = read_dispatch_id(fields->dispatch_id, &query->dispatch_id, error);
    return code;
}

pawl_code pawl__outbox_query_saga(const pawl__outbox_fields *fields, pawl_store *store,
                                  pawl_arena *arena, pawl_outbox_query *query, pawl_error *error)
{
    pawl_text    type;
    pawl_saga_id id;
    if (fields->saga == NULL)
        return PAWL_OK;
    pawl_code code =
        pawl__saga_word_find(&fields->book, store, fields->saga, arena, &type, &id, error);
    if (code == PAWL_OK)
        query->source = pawl__saga_source_of(type, id, arena);
    return code;
}

/* Makes the rows to print, with the names of sagas that exist: people see the name instead of the source. */
static pawl_code show_rows(const pawl__outbox_fields *fields, pawl_store *store,
                           const pawl_outbox_row *rows, size_t count, pawl_arena *arena,
                           shown_row **shown, pawl_error *error)
{
    pawl__saga_named *sagas = pawl__must_take(arena, (count + 1) * sizeof *sagas);
    *shown                  = pawl__must_take(arena, (count + 1) * sizeof **shown);
    for (size_t i = 0; i < count; i++) {
        pawl_text id;
        sagas[i] = (pawl__saga_named){.type = {.data = NULL}};
        if (!pawl__saga_split(&fields->book.tables, rows[i].source, &sagas[i].type, &id) ||
            pawl_uuid_parse(id, &sagas[i].id.uuid, NULL) != PAWL_OK)
            sagas[i].type = (pawl_text){0};
    }
    pawl_code code = pawl__saga_names(&fields->book, store, sagas, count, arena, error);
    for (size_t i = 0; i < count; i++) {
        (*shown)[i] = (shown_row){.row = rows[i], .saga = sagas[i].name};
        if (sagas[i].name.size > 0 && !fields->words.is_json)
            (*shown)[i].row.source = sagas[i].name;
    }
    return code;
}

/* Clears the time of the next attempt of rows that are not pending. */
static void forget_past(pawl_outbox_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].state != PAWL_OUTBOX_PENDING)
            rows->items[i].next_attempt = 0;
}

pawl_code pawl__outbox_row_find(pawl_store *store, const char *word, pawl_arena *arena,
                                pawl_outbox_row *row, pawl_error *error)
{
    pawl_outbox_query query = {.count_max = 1};
    pawl_outbox_rows  rows  = {.count = 0};
    if (!pawl__number_parse(word, &query.id)) {
        query.id = 0;
        if (pawl_uuid_parse(pawl_text_of(word), &query.dispatch_id.uuid, NULL) != PAWL_OK ||
            pawl_uuid_is_zero(query.dispatch_id.uuid))
            return pawl_error_set(error, PAWL_EINVAL,
                                  "'%s' is neither the number of an outbox row nor a dispatch id",
                                  word);
    }
    pawl_code code = pawl_store_outbox_find(store, &query, arena, &rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no outbox row %s", word);
    forget_past(&rows);
    *row = rows.items[0];
    return PAWL_OK;
}

/* ---- List ------------------------------------------------------------------ */

typedef struct list_cursor {
    const pawl__outbox_fields *fields;
    pawl_store                *store;
    pawl_outbox_query          query;
} list_cursor;

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    list_cursor     *cursor = context;
    pawl_outbox_rows found  = {.count = 0};
    cursor->query.count_max = count_max;
    pawl_code code = pawl_store_outbox_find(cursor->store, &cursor->query, arena, &found, error);
    if (code != PAWL_OK)
        return code;
    forget_past(&found);
    if (found.count > 0)
        cursor->query.after = found.items[found.count - 1].id;
    shown_row *shown = NULL;
    code = show_rows(cursor->fields, cursor->store, found.items, found.count, arena, &shown, error);
    *rows  = shown;
    *count = found.count;
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__outbox_fields *fields = context;
    pawl__view                 view   = pawl__view_of(&outbox_rows, fields->words.is_json, arena);
    list_cursor                cursor = {.fields = fields, .store = store};
    pawl_arena                *kept   = pawl__must_create(); /* for the query: outlives a page */
    pawl_code                  code   = pawl__outbox_query(fields, &cursor.query, error);
    if (code == PAWL_OK)
        code = pawl__outbox_query_saga(fields, store, kept, &cursor.query, error);
    if (code == PAWL_OK)
        code = pawl__rows_list(&view, fields->limit, next_page, &cursor, error);
    pawl_arena_destroy(kept);
    return code;
}

/* ---- What happens next ----------------------------------------------------- */

static bool is_before(const pawl_outbox_row *left, const pawl_outbox_row *right)
{
    return left->version != right->version ? left->version < right->version
                                           : left->index < right->index;
}

/* Finds the first pending row of the same source before this row; 0: none. A row that an operator retried is delivered
 * out of order: it waits for no row, and no row waits for it. */
static pawl_code find_blocker(pawl_store *store, const pawl_outbox_row *row, pawl_arena *arena,
                              int64_t *id, pawl_error *error)
{
    /* Another endpoint may have a source of the same name. A blocked row waits for one with attempts, which an
     * index finds without reading all pending rows. */
    pawl_outbox_query query = {.states       = 1U << PAWL_OUTBOX_PENDING,
                               .endpoint     = row->endpoint,
                               .source       = row->source,
                               .attempts_min = row->state == PAWL_OUTBOX_BLOCKED ? 1 : 0,
                               .count_max    = BLOCKERS_MAX};
    pawl_outbox_rows  rows  = {.count = 0};
    *id                     = 0;
    if (row->source.size == 0 || row->attempts_before > 0)
        return PAWL_OK;
    pawl_code              code  = pawl_store_outbox_find(store, &query, arena, &rows, error);
    const pawl_outbox_row *first = NULL;
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (rows.items[i].attempts_before == 0 && is_before(&rows.items[i], row) &&
            (first == NULL || is_before(&rows.items[i], first)))
            first = &rows.items[i];
    if (first != NULL)
        *id = first->id;
    return code;
}

/* The outbox dispatcher writes the names of all unavailable routes into the text of the alarm. */
pawl_code pawl__outbox_alarm(pawl_store *store, const pawl_outbox_row *row, pawl_arena *arena,
                             const pawl_alarm **found, pawl_error *error)
{
    pawl_code code  = pawl__alarm_find(store, row->endpoint, "route", arena, found, error);
    pawl_text route = pawl__must_printf(arena, "route '%.*s':", PAWL_TEXT_ARGS(row->destination));
    if (*found != NULL &&
        memmem((*found)->text.data, (*found)->text.size, route.data, route.size) == NULL)
        *found = NULL;
    return code;
}

static pawl_text next_of_pending(const pawl_outbox_row *row, int64_t blocker,
                                 const pawl_alarm *alarm, pawl_time now, pawl_arena *arena)
{
    char age[PAWL__SPAN_SIZE];
    if (blocker != 0)
        return pawl__must_printf(arena, "goes behind row %" PRId64 " of the same ordering key",
                                 blocker);
    if (row->next_attempt > now)
        return pawl__must_printf(arena, "next attempt %s",
                                 pawl__age_text(row->next_attempt, now, age));
    if (alarm != NULL)
        return pawl__must_printf(arena,
                                 "its receiver is unavailable since %s: the outbox tries it by "
                                 "itself, and again within half a minute (%.*s)",
                                 pawl__time_text(alarm->since, arena).data,
                                 PAWL_TEXT_ARGS(alarm->text));
    return PAWL_TEXT("due: goes with the next scan of the outbox");
}

static pawl_text next_text(const pawl_outbox_row *row, int64_t blocker, const pawl_alarm *alarm,
                           pawl_time now, pawl_arena *arena)
{
    switch (row->state) {
    case PAWL_OUTBOX_PENDING: return next_of_pending(row, blocker, alarm, now, arena);
    case PAWL_OUTBOX_BLOCKED:
        if (blocker != 0)
            return pawl__must_printf(
                arena, "blocked behind row %" PRId64 " of the same ordering key", blocker);
        return PAWL_TEXT("blocked, but no row waits before it: freed within a minute");
    case PAWL_OUTBOX_DEAD:
        return pawl__must_printf(arena, "dead: `pawl outbox retry %" PRId64 "` sends it again%s",
                                 row->id, row->source.size > 0 ? ", out of order" : "");
    case PAWL_OUTBOX_DISPATCHED: return PAWL_TEXT("nothing: it was delivered");
    case PAWL_OUTBOX_DISCARDED: break;
    }
    return PAWL_TEXT("nothing: it was discarded");
}

pawl_code pawl__outbox_next(pawl_store *store, const pawl_outbox_row *row, pawl_time now,
                            pawl_arena *arena, pawl_text *next, int64_t *blocker, pawl_error *error)
{
    bool      is_waiting = row->state == PAWL_OUTBOX_PENDING || row->state == PAWL_OUTBOX_BLOCKED;
    bool      is_there   = true;
    pawl_code code       = PAWL_OK;
    /* Without a worker the alarm may be out of date, as nobody tries the receiver. */
    const pawl_alarm *alarm = NULL;
    *blocker                = 0;
    if (is_waiting)
        code = find_blocker(store, row, arena, blocker, error);
    if (code == PAWL_OK && is_waiting)
        code = pawl__has_worker(store, row->endpoint, arena, &is_there, error);
    if (code == PAWL_OK && row->state == PAWL_OUTBOX_PENDING && is_there)
        code = pawl__outbox_alarm(store, row, arena, &alarm, error);
    if (code != PAWL_OK)
        return code;
    *next = next_text(row, *blocker, alarm, now, arena);
    if (!is_there)
        *next =
            pawl__must_printf(arena, "%.*s, once endpoint '%.*s' runs: no worker of it is alive",
                              PAWL_TEXT_ARGS(*next), PAWL_TEXT_ARGS(row->endpoint));
    return PAWL_OK;
}

/* ---- Show ------------------------------------------------------------------ */

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    const pawl__outbox_fields *fields   = context;
    pawl__view                 view     = pawl__view_of(&outbox_rows, fields->words.is_json, arena);
    shown_row                 *shown    = NULL;
    pawl_outbox_row            row      = {.id = 0};
    pawl_attempt_rows          attempts = {.count = 0};
    int64_t                    blocker  = 0;
    view.level     = fields->is_revealed ? PAWL__LEVEL_REVEAL : PAWL__LEVEL_SHOW;
    pawl_code code = pawl__outbox_row_find(store, fields->words.ids.items[0], arena, &row, error);
    if (code == PAWL_OK)
        code = pawl_store_outbox_attempts(store, row.id, arena, &attempts, error);
    if (code == PAWL_OK)
        code = show_rows(fields, store, &row, 1, arena, &shown, error);
    if (code == PAWL_OK)
        code = pawl__outbox_next(store, &row, view.now, arena, &shown->next, &blocker, error);
    const pawl__inner_rows history = {"history", attempt_columns, sizeof(pawl_attempt_row),
                                      attempts.items, attempts.count};
    return code == PAWL_OK ? pawl__row_show(&view, shown, &history, 1) : code;
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_words(void *context, pawl_error *error)
{
    pawl__outbox_fields *fields = context;
    pawl_outbox_query    query;
    bool                 is_look =
        strcmp(fields->words.action, "list") == 0 || strcmp(fields->words.action, "show") == 0;
    pawl_code code = is_look ? PAWL_OK : pawl__outbox_reset_check(fields, error);
    if (code == PAWL_OK)
        code = pawl__outbox_query(fields, &query, error);
    return code != PAWL_OK ? code : pawl__saga_book_open(&fields->book, error);
}

PAWL__VERB_CLOSED(outbox, pawl__outbox_fields, pawl__saga_book_close, &fields.book,
                  ACTIONS(PAWL__ACTION_FUNCTION))
