/* saga.c - `pawl saga list|show|delete`: reads the saga tables of an application, and deletes a saga with its timeouts.
 * Has the options of all actions; saga_history.c has history, verify_upgrade.c verify-upgrade.
 *
 * A page is read twice: a scan of the table gives the versions, a load of the same sagas the rest. A saga that ended in
 * between is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/saga/saga.h"

#include <inttypes.h>
#include <string.h>

#define RATE_DEFAULT 10000
#define RATE_MAX 10000000
#define TIMEOUTS_MAX 100 /* printed by show */
#define SHOWN_MAX 200    /* bytes of the saga's name in a question */
#define OUTBOX_MAX 10000 /* rows that are counted */
#define LIVE_STATES (1U << PAWL_OUTBOX_PENDING | 1U << PAWL_OUTBOX_BLOCKED | 1U << PAWL_OUTBOX_DEAD)

typedef pawl__saga_fields verb_fields;

#define ACTIONS(X)                                                                                 \
    X(DELETE, "delete", "TYPE/VALUE", "end a saga that nothing ends: its row and its timeouts go", \
      delete)                                                                                      \
    X(HISTORY, "history", "TYPE/VALUE|MESSAGE-ID",                                                 \
      "what each of its messages did, of an endpoint that runs with --history",                    \
      pawl__saga_history)                                                                          \
    X(LIST, "list", "", "the sagas that are there", list)                                          \
    X(SHOW, "show", "TYPE/VALUE", "the state of one, and its timeouts", show)                      \
    X(VERIFY, "verify-upgrade", "", "can a new program go on with all that is stored?", NULL)
PAWL__ACTIONS(ACTIONS)
static const char *const format_names[] = {"dot", "json", "mermaid", "text", "xes", NULL};

#define FOR_DELETE (1U << ACTION_DELETE)
#define FOR_HISTORY (1U << ACTION_HISTORY)
#define FOR_LIST (1U << ACTION_LIST)
#define FOR_SHOW (1U << ACTION_SHOW)
#define FOR_VERIFY (1U << ACTION_VERIFY)

const pawl__argument pawl__saga_verb_arguments[] = {
    PAWL__ARGUMENT_ACTION(verb_fields, action),
    PAWL__ARGUMENT(
        verb_fields, "TYPE/VALUE", shown,
        "the saga by its correlation value, with --app; TYPE/ID, as list has it; of history also a message's id",
        .is_optional = true),
    {.name = NULL},
};

#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__saga_verb_options[] = {
    OPTION("after", TEXT, after, "TABLE/ID", FOR_LIST,
           "those behind this saga, by its table and id; or an ID, with --type"),
    OPTION(
        "app", TEXT, book.app, "APP.so", 0,
        "the program that has the sagas, all but history need it; verify-upgrade: the one that is to "
        "go on"),
    PAWL__OPTIONS_ROWS(verb_fields, at, is_json),
    OPTION("format", TEXT, format, "FORMAT", FOR_HISTORY,
           "text, json (an object on a line each), mermaid or dot (drawings), xes (a log to mine "
           "processes)",
           .choices = format_names, .default_words = "text, with --json json"),
    OPTION("from", TEXT, from, "OLD.so", FOR_VERIFY,
           "the program that runs: what both tables tell; needs no store"),
    OPTION(
        "intended", LIST, intended, "TYPE.MEMBER", FOR_VERIFY,
        "a member whose first value or OPT_ is another one, which stored rows without it are to have"),
    OPTION("limit", COUNT, limit, "N", FOR_LIST | FOR_HISTORY,
           "at most N sagas; of history the newest N lines", 1, INT64_MAX,
           .default_words =
               PAWL__QUOTED(PAWL__LINES_DEFAULT) ", with --json all; of history 10000"),
    OPTION("rate", COUNT, rate, "ROWS", FOR_VERIFY, "rows in a second, at most", 1, RATE_MAX,
           .has_default = true, .value_default = RATE_DEFAULT),
    PAWL__OPTION_REASON(verb_fields, reason, FOR_DELETE, "record"),
    OPTION("removed", LIST, removed, "TYPE.MEMBER", FOR_VERIFY,
           "a member that is stored, and is not to be read any more"),
    OPTION("resume", TEXT, resume, "FILE", FOR_VERIFY,
           "progress file, removed at the end; if it exists, resume from it"),
    OPTION("reveal", FLAG, is_revealed, NULL, FOR_SHOW, "secret members as well"),
    PAWL__OPTION_SAGA_PREFIX(verb_fields, book.prefix, 0),
    OPTION("type", FILTER, type, "TYPE", FOR_LIST, "sagas of this type"),
    OPTION("yes", FLAG, is_agreed, NULL, FOR_DELETE, "without asking"),
    {.name = NULL},
};

/* ---- Columns --------------------------------------------------------------- */

typedef struct shown_saga {
    pawl_text name; /* TYPE/VALUE, or TYPE/ID */
    pawl_text type, table, value, transitional;
    pawl_uuid id;
    int64_t   version;
    pawl_text type_version, persistence_version;
    pawl_time begun;
    int64_t   state_size;
    pawl_text state, metadata, originator, original_message_id;
} shown_saga;

#define SAGA(key, kind, member, ...) PAWL__COLUMN(shown_saga, key, kind, member, __VA_ARGS__)
static const pawl__column columns[] = {
    SAGA("saga", TEXT, name, "saga"),
    SAGA("type", TEXT, type, NULL),
    SAGA("table", TEXT, table, NULL),
    SAGA("value", TEXT, value, NULL),
    SAGA("transitional", TEXT, transitional, NULL),
    SAGA("id", ID, id, "id"),
    SAGA("version", COUNT, version, "version"),
    SAGA("type_version", TEXT, type_version, "state of"),
    SAGA("persistence_version", TEXT, persistence_version, "written by"),
    SAGA("begun", TIME, begun, "begun"),
    SAGA("state_size", COUNT, state_size, NULL),
    SAGA("originator", TEXT, originator, NULL, PAWL__LEVEL_SHOW),
    SAGA("original_message_id", TEXT, original_message_id, NULL, PAWL__LEVEL_SHOW),
    SAGA("metadata", JSON, metadata, NULL, PAWL__LEVEL_SHOW),
    SAGA("state", JSON, state, NULL, PAWL__LEVEL_SHOW),
    {.key = NULL},
};

#define TIMEOUT(key, kind, member, ...) \
    PAWL__COLUMN(pawl_timeout_row, key, kind, member, __VA_ARGS__)
static const pawl__column timeout_columns[] = {
    TIMEOUT("timeout", TEXT, name, "timeout"),
    TIMEOUT("due", TIME, due, "due"),
    TIMEOUT("attempts", COUNT_32, attempts, "attempts"),
    TIMEOUT("id", ID, id.uuid, "id"),
    {.key = NULL},
};

static const pawl__noun saga_noun = {"saga", columns, sizeof(shown_saga)};

const pawl__report pawl__saga_verb_reports[] = {
    {"list, show", columns, NULL},
    {"timeouts, of show", timeout_columns, NULL},
    {"actions, of show", pawl__action_columns, NULL},
    {"delete", NULL, "deleted id version timeouts outbox"},
    {"history", pawl__history_columns, NULL},
    {"out, of history", NULL, "sends events timeouts cancelled completed"},
    {"one of sends", NULL, "id type to"},
    {"one of timeouts", NULL, "name due"},
    {"verify-upgrade", NULL, "rows findings warnings more"},
    {"one of findings", NULL, "reason kind type version member count examples"},
    {"one of examples", NULL, "id text"},
    {.what = NULL},
};

/* ---- Tables ---------------------------------------------------------------- */

typedef struct table_scan {
    const pawl__saga_fields *fields;
    pawl_store              *store;
    size_t                   at;    /* index of the current table */
    pawl_scan_row            after; /* last row that was read from it */
    bool                     is_behind;
} table_scan;

static const pawl_saga_table *table_of(const table_scan *it)
{
    return it->fields->book.tables.items[it->at];
}

/* PAWL_EINVAL: the application has no sagas of the type; it names those that it has. */
static pawl_code check_type(const pawl__saga_fields *fields, pawl_text type, pawl_error *error)
{
    char        hint[300], shown[PAWL__WORD_SIZE];
    const char *names[PAWL__TEXTS_MAX + 1] = {NULL};
    for (size_t i = 0, count = 0; i < fields->book.tables.count && count < PAWL__TEXTS_MAX; i++) {
        const pawl_saga_table *table = fields->book.tables.items[i];
        const pawl_saga       *saga  = pawl__saga_of(fields->book.loaded.application, table->type);
        if (pawl_text_equal(table->type, type))
            return PAWL_OK;
        if (saga != NULL)
            names[count++] = saga->name;
    }
    snprintf(shown, sizeof shown, "%.*s", PAWL_TEXT_ARGS(type));
    pawl__suggest(shown, "", names, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "%s has no saga '%s'%s", fields->book.app, shown,
                          hint);
}

/* ---- Rows ------------------------------------------------------------------ */

/* Masks secret members of the state; a state that is not JSON is masked as a whole. */
static pawl_text state_text(const table_scan *it, const pawl_saga *saga, pawl_text data,
                            pawl_arena *arena)
{
    pawl_text masked = PAWL_TEXT("\"" PAWL_MASKED "\"");
    if (it->fields->is_revealed)
        return data;
    pawl_code code =
        saga != NULL ? pawl_record_mask(saga->state(), data, arena, &masked, NULL) : PAWL_EDECODE;
    pawl__must_have(code);
    return masked;
}

static void fill(const table_scan *it, const pawl_scan_row *scanned, const pawl_saga_row *row,
                 pawl_arena *arena, shown_saga *saga)
{
    const pawl_saga_table *table = table_of(it);
    const pawl_saga       *spec  = pawl__saga_of(it->fields->book.loaded.application, table->type);
    *saga                        = (shown_saga){.type                = table->type,
                                                .table               = table->name,
                                                .value               = pawl__saga_value(&row->main, arena),
                                                .transitional        = pawl__saga_value(&row->transitional, arena),
                                                .id                  = scanned->id,
                                                .version             = row->version,
                                                .type_version        = scanned->type_version,
                                                .persistence_version = scanned->persistence_version,
                                                .begun               = pawl__saga_begun(scanned->id),
                                                .state_size          = (int64_t)row->data.size,
                                                .metadata            = row->metadata};
    if (pawl__saga_is_secret(spec) && !it->fields->is_revealed)
        saga->value = PAWL_TEXT(PAWL_MASKED);
    if (pawl__saga_hides_transitional(spec) && !it->fields->is_revealed)
        saga->transitional = PAWL_TEXT(PAWL_MASKED);
    saga->state               = state_text(it, spec, row->data, arena);
    saga->originator          = pawl__must_header(row->metadata, "Originator", arena);
    saga->original_message_id = pawl__must_header(row->metadata, "OriginalMessageId", arena);
    saga->name =
        pawl__must_printf(arena, "%.*s/%.*s", PAWL_TEXT_ARGS(table->type),
                          PAWL_TEXT_ARGS(saga->value.size == 0 || pawl__saga_is_secret(spec)
                                             ? pawl__uuid_text(scanned->id, arena)
                                             : saga->value));
}

/* Adds a page of the current table. `*scanned_count` is below `count_max` at the table's end. */
static pawl_code add_page(table_scan *it, size_t count_max, pawl_arena *arena, shown_saga *sagas,
                          size_t *count, size_t *scanned_count, pawl_error *error)
{
    pawl_scan_rows scanned;
    pawl_saga_row *rows;
    pawl_code code = pawl__saga_page(it->store, table_of(it), it->is_behind ? &it->after : NULL,
                                     count_max, arena, &scanned, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < scanned.count; i++)
        if (rows[i].presence == PAWL_SAGA_THERE)
            fill(it, &scanned.items[i], &rows[i], arena, &sagas[(*count)++]);
    if (scanned.count > 0)
        it->after = (pawl_scan_row){.id = scanned.items[scanned.count - 1].id};
    it->is_behind  = it->is_behind || scanned.count > 0;
    *scanned_count = scanned.count;
    return code;
}

/* ---- List ------------------------------------------------------------------ */

/* Begins to read a table; --after ID applies to each table of the type. */
static void enter_table(table_scan *it)
{
    const char *after = it->fields->after;
    it->is_behind     = after != NULL && strchr(after, '/') == NULL;
    it->after         = (pawl_scan_row){.number = 0};
    if (it->is_behind)
        (void)pawl_uuid_parse(pawl_text_of(after), &it->after.id, NULL);
}

/* --after TABLE/ID begins in that table, behind the id. */
static pawl_code enter_first(table_scan *it, pawl_error *error)
{
    const char *after = it->fields->after, *slash = after != NULL ? strrchr(after, '/') : NULL;
    enter_table(it);
    if (slash == NULL)
        return PAWL_OK;
    pawl_text table = {.data = after, .size = (size_t)(slash - after)};
    for (; it->at < it->fields->book.tables.count; it->at++)
        if (pawl_text_equal(table_of(it)->name, table)) {
            it->is_behind = true;
            return pawl_uuid_parse(pawl_text_of(slash + 1), &it->after.id, error);
        }
    return pawl_error_set(error, PAWL_EINVAL, "--after: %s has no table '%.*s' of sagas",
                          it->fields->book.app, PAWL_TEXT_ARGS(table));
}

static pawl_code next_page(void *context, size_t count_max, pawl_arena *arena, const void **rows,
                           size_t *count, pawl_error *error)
{
    table_scan *it    = context;
    pawl_text   type  = pawl_text_of(it->fields->type);
    shown_saga *sagas = pawl__must_take(arena, (count_max + 1) * sizeof *sagas);
    pawl_code   code  = PAWL_OK;
    while (code == PAWL_OK && *count < count_max && it->at < it->fields->book.tables.count) {
        size_t left = count_max - *count, scanned = 0;
        if (type.size == 0 || pawl_text_equal(type, table_of(it)->type))
            code = add_page(it, left, arena, sagas, count, &scanned, error);
        if (code == PAWL_OK && scanned < left) {
            it->at++;
            enter_table(it);
        }
    }
    *rows = sagas;
    return code;
}

static pawl_code list(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    table_scan it   = {.fields = context, .store = store};
    pawl__view view = pawl__view_of(&saga_noun, it.fields->is_json, arena);
    pawl_code  code = PAWL_OK;
    if (it.fields->type != NULL)
        code = check_type(it.fields, pawl_text_of(it.fields->type), error);
    if (code == PAWL_OK)
        code = enter_first(&it, error);
    return code == PAWL_OK ? pawl__rows_list(&view, it.fields->limit, next_page, &it, error) : code;
}

/* ---- Show ------------------------------------------------------------------ */

static pawl_code show_row(table_scan *it, const pawl_saga_row *row, pawl_arena *arena,
                          bool *is_there, pawl_error *error)
{
    pawl_timeout_rows timeouts = {.count = 0};
    shown_saga        saga     = {.version = 0};
    size_t            count = 0, scanned = 0;
    it->is_behind  = true;
    it->after      = (pawl_scan_row){.id = pawl__id_before(row->id.uuid)};
    pawl_code code = add_page(it, 1, arena, &saga, &count, &scanned, error);
    *is_there      = count > 0 && pawl_uuid_compare(saga.id, row->id.uuid) == 0;
    if (code == PAWL_OK && *is_there)
        code = pawl_store_timeout_list(it->store, row->id, TIMEOUTS_MAX, arena, &timeouts, error);
    const pawl__inner_rows inner = {"timeouts", timeout_columns, sizeof(pawl_timeout_row),
                                    timeouts.items, timeouts.count};
    pawl__view             view  = pawl__view_of(&saga_noun, it->fields->is_json, arena);
    view.level                   = PAWL__LEVEL_SHOW;
    return code == PAWL_OK && *is_there ? pawl__row_show(&view, &saga, &inner, 1) : code;
}

/* Shows the operators' actions on a saga that was deleted, if the word has its id. */
static pawl_code show_gone(const table_scan *it, pawl_text type, pawl_text value, pawl_arena *arena,
                           pawl_error *error)
{
    pawl__view      view = pawl__view_of(&saga_noun, it->fields->is_json, arena);
    pawl_saga_id    id;
    pawl_event_rows events = {.count = 0};
    pawl_code       code   = PAWL_OK;
    if (pawl_uuid_parse(value, &id.uuid, NULL) == PAWL_OK)
        code = pawl_store_saga_actions(it->store, type, id, arena, &events, error);
    if (code == PAWL_OK && events.count == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no saga %s", it->fields->shown);
    if (code != PAWL_OK)
        return code;
    if (!view.is_json)
        pawl__say(stdout, "saga %s is not there any more", it->fields->shown);
    return pawl__actions_show(&view, NULL, &events, "pawl.saga_");
}

static pawl_code show(const void *context, pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    table_scan    it       = {.fields = context, .store = store};
    bool          is_there = false;
    pawl_text     type, value;
    pawl_saga_row row;
    (void)pawl__saga_split(&it.fields->book.tables, pawl_text_of(it.fields->shown), &type, &value);
    pawl_code code = check_type(it.fields, type, error);
    for (; code == PAWL_OK && !is_there && it.at < it.fields->book.tables.count; it.at++) {
        if (!pawl_text_equal(table_of(&it)->type, type))
            continue;
        code = pawl__saga_find_in(store, table_of(&it), value, arena, &row, error);
        if (code == PAWL_OK && row.presence == PAWL_SAGA_THERE)
            code = show_row(&it, &row, arena, &is_there, error);
    }
    return code == PAWL_OK && !is_there ? show_gone(&it, type, value, arena, error) : code;
}

/* ---- Delete ---------------------------------------------------------------- */

typedef struct doomed {
    const pawl_saga_table *table;
    pawl_saga_row          row;
    const char            *id;
    pawl_text              source; /* of its outbox rows */
    size_t                 outbox; /* rows that are not delivered yet */
    int64_t                timeouts;
} doomed;

/* Counts the outbox rows of the saga, which are delivered even though it is deleted. */
static pawl_code count_outbox(pawl_store *store, doomed *it, pawl_arena *arena, pawl_error *error)
{
    pawl_outbox_rows rows         = {.count = 0};
    it->id                        = pawl__uuid_text(it->row.id.uuid, arena).data;
    it->source                    = pawl__saga_source_of(it->table->type, it->row.id, arena);
    const pawl_outbox_query query = {
        .states = LIVE_STATES, .source = it->source, .count_max = OUTBOX_MAX};
    pawl_code code = pawl_store_outbox_find(store, &query, arena, &rows, error);
    it->outbox     = rows.count;
    return code;
}

static pawl_code ask(const pawl__saga_fields *fields, const doomed *it, pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    return fields->is_agreed ? PAWL_OK
                             : pawl__agree("delete", "deleted", error,
                                           "delete saga %.*s, version %" PRId64
                                           ", with its timeouts in %s, for good?",
                                           SHOWN_MAX, fields->shown, it->row.version,
                                           pawl__masked(fields->at.store, url, sizeof url));
}

static void print_text(const pawl__saga_fields *fields, const doomed *it)
{
    pawl__say(stdout, "deleted saga %s, id %s, version %" PRId64 ", with %" PRId64 " timeout%s",
              fields->shown, it->id, it->row.version, it->timeouts, PAWL__PLURAL(it->timeouts));
    if (it->outbox > 0)
        pawl__say(stdout,
                  "%zu message%s that it sent %s still in the outbox, and delivered as ever: `pawl "
                  "outbox list --source '%.*s'`",
                  it->outbox, PAWL__PLURAL(it->outbox), it->outbox == 1 ? "is" : "are",
                  PAWL_TEXT_ARGS(it->source));
    printf(
        "queued messages for it no longer find a saga: those that start one start a new one, the "
        "others are handled as .not_found says\n");
}

static pawl_code delete (const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const pawl__saga_fields *fields = context;
    doomed                   it     = {.table = NULL};
    pawl_text                type, value;
    (void)pawl__saga_split(&fields->book.tables, pawl_text_of(fields->shown), &type, &value);
    pawl_code code = check_type(fields, type, error);
    if (code == PAWL_OK)
        code = pawl__saga_find(store, &fields->book.tables, type, value, arena, &it.table, &it.row,
                               error);
    if (code == PAWL_OK && it.table == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no saga %s", fields->shown);
    if (code == PAWL_OK)
        code = count_outbox(store, &it, arena, error);
    if (code == PAWL_OK)
        code = ask(fields, &it, error);
    if (code == PAWL_OK)
        code = pawl_store_saga_remove(store, it.table, &it.row, pawl__user(),
                                      pawl_text_of(fields->reason), pawl_clock_now(NULL),
                                      &it.timeouts, error);
    if (code != PAWL_OK)
        return code;
    if (fields->is_json)
        return pawl__facts_print(PAWL__FACTS({.key = "deleted", .text = fields->shown},
                                             {.key = "id", .text = it.id},
                                             {.key = "version", .number = it.row.version},
                                             {.key = "timeouts", .number = it.timeouts},
                                             {.key = "outbox", .number = (int64_t)it.outbox}));
    print_text(fields, &it);
    return PAWL_OK;
}

/* ---- The verb -------------------------------------------------------------- */

static pawl_code check_filters(const pawl__saga_fields *fields, pawl_error *error)
{
    const char *after = fields->after, *slash = after != NULL ? strrchr(after, '/') : NULL;
    pawl_uuid   id;
    if (after == NULL)
        return PAWL_OK;
    if (slash == NULL && fields->type == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--after: sagas are listed by table and id: give TABLE/ID, or --type "
                              "TYPE");
    return pawl_uuid_parse(pawl_text_of(slash != NULL ? slash + 1 : after), &id, NULL) == PAWL_OK
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL, "--after: '%.60s' is not the id of a saga",
                                slash != NULL ? slash + 1 : after);
}

/* Checks list, show and delete, which need an application, since it defines the saga tables. */
static pawl_code check_look(const pawl__saga_fields *fields, pawl_error *error)
{
    bool is_list = strcmp(fields->action, "list") == 0;
    if (fields->book.app == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl saga %s needs --app APP.so, which has the tables of its sagas",
                              fields->action);
    if (is_list)
        return check_filters(fields, error);
    pawl_text type, value;
    if (!pawl__saga_split(NULL, pawl_text_of(fields->shown), &type, &value))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "'%.200s' is not TYPE/VALUE: a saga's type and its correlation value, "
            "or its id",
            fields->shown);
    return PAWL_OK;
}

static pawl__action_fn *const actions[] = {ACTIONS(PAWL__ACTION_FUNCTION)};

static pawl_code check_fields(verb_fields *fields, size_t action, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (action == ACTION_VERIFY)
        return pawl__verify_check(fields, error);
    if (action != ACTION_HISTORY)
        code = check_look(fields, error);
    else if (fields->is_json && fields->format != NULL && strcmp(fields->format, "json") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "--json and --format %s: give one of them",
                              fields->format);
    if (code == PAWL_OK && fields->book.app != NULL)
        code = pawl__saga_book_open(&fields->book, error);
    return code;
}

int pawl__saga_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.action = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    size_t action = code == PAWL_OK ? pawl__choice_of(action_names, pawl_text_of(fields.action))
                                    : ACTION_VERIFY;
    if (code == PAWL_OK)
        code = check_fields(&fields, action, &error);
    if (action != ACTION_DELETE)
        pawl__interrupt_says(NULL);
    int exit_code = code != PAWL_OK ? pawl__fail(code, &error)
                    : actions[action] == NULL
                        ? pawl__verify(&fields)
                        : pawl__on_store(&fields.at, actions[action], &fields);
    pawl__saga_book_close(&fields.book);
    return exit_code;
}
