/* why_saga.c - `pawl why` of a saga: what wakes it, or why nothing does.
 *
 * A message or a timeout wakes a saga. If it has no timeout, the event store shows which operator
 * cancelled one, and the history (if the endpoint keeps one) which message did. A message that failed for good
 * is a dead letter; saga_letters.c decides which letters belong to the saga.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/dead/dead.h"
#include "cli/saga/saga_find.h"
#include "engine/batch.h"
#include "workflow/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS_MAX 10000 /* looked at, the oldest */
#define LETTERS_SHOWN 5   /* the newest of the saga's */
#define PAGE 500
#define EVENTS_MAX 100000 /* of the event store, the newest */
#define LINES_MAX 10000   /* of the saga's history, the oldest */

typedef struct own_letter {
    pawl_dead_row row;   /* without its body and headers */
    pawl_text     place; /* "dead letter of the saga, by its key order_id" */
} own_letter;

/* All that was found about a saga, or about a correlation value that no saga has. */
typedef struct seen {
    pawl__saga_letters of;
    pawl_timeout_rows  timeouts;
    pawl_outbox_rows   sent;
    own_letter        *letters; /* the oldest first */
    size_t             letter_count, letter_capacity;
    size_t             unreadable;
    bool               is_cut;    /* there are more letters than were looked at */
    pawl_text          cancelled; /* by whom, when and why */
    pawl_time          cancelled_at;
} seen;

/* ---- Letters ---------------------------------------------------------------- */

/* Adds copies of those letters that are the saga's; `page` is the arena of all letters that were read. */
static void look_at_page(pawl__why *why, const pawl_dead_rows *rows, pawl_arena *page, seen *all)
{
    pawl_arena *arena = why->arena;
    for (size_t i = 0; i < rows->count; i++) {
        const pawl_dead_row  *row = &rows->items[i];
        pawl_text             by;
        pawl__letter_relation relation = pawl__saga_letter_is(&all->of, row, page, &by);
        all->unreadable += relation == PAWL__LETTER_UNREADABLE;
        if (relation != PAWL__LETTER_OWN)
            continue;
        all->letters = pawl__must_grow(arena, all->letters, all->letter_count,
                                       &all->letter_capacity, sizeof *all->letters);
        all->letters[all->letter_count++] =
            (own_letter){.row   = {.endpoint     = pawl__must_text(arena, row->endpoint),
                                   .message.id   = pawl__must_text(arena, row->message.id),
                                   .message.type = pawl__must_text(arena, row->message.type),
                                   .code         = pawl__must_text(arena, row->code),
                                   .error        = pawl__must_text(arena, row->error),
                                   .at           = row->at},
                         .place = pawl__must_printf(arena, "dead letter of the saga, by %.*s",
                                                    PAWL_TEXT_ARGS(by))};
    }
}

static pawl_code read_letters(pawl__why *why, seen *all)
{
    pawl__dead_cursor cursor = {.store = why->store, .query.size_max = PAWL_CLAIM_SIZE_MAX};
    pawl_dead_rows    rows   = {.count = PAGE};
    pawl_code         code   = PAWL_OK;
    pawl_arena       *page   = pawl__must_create();
    size_t            looked = 0;
    while (code == PAWL_OK && (rows.count == PAGE || rows.is_cut) && looked < LETTERS_MAX) {
        pawl_arena_reset(page);
        code = pawl__dead_page(&cursor, PAGE, page, &rows, why->error);
        if (code == PAWL_OK)
            look_at_page(why, &rows, page, all);
        looked += rows.count;
    }
    all->is_cut = rows.count == PAGE || rows.is_cut;
    pawl_arena_destroy(page);
    return code;
}

/* Adds answers for the newest letters, each with the key by which it is the saga's. */
static pawl_code add_letters(pawl__why *why, const seen *all)
{
    pawl_code code  = PAWL_OK;
    size_t    first = all->letter_count > LETTERS_SHOWN ? all->letter_count - LETTERS_SHOWN : 0;
    for (size_t i = all->letter_count; code == PAWL_OK && i > first; i--)
        code = pawl__why_add_letter(why, &all->letters[i - 1].row, all->letters[i - 1].place.data);
    return code;
}

/* ---- Who cancelled its timeout ------------------------------------------------- */

/* The timeout of the saga that the event's body names; NULL: none of it is. */
static yyjson_val *find_cancelled(yyjson_val *body, pawl_text saga_id)
{
    yyjson_val *item;
    size_t      index, count;
    yyjson_arr_foreach(body, index, count, item)
    {
        if (yyjson_equals_strn(yyjson_obj_get(item, "saga_id"), saga_id.data, saga_id.size))
            return item;
    }
    return NULL;
}

static void say_cancelled(const pawl__why *why, const pawl_event *event, seen *all)
{
    yyjson_doc *body   = yyjson_read(event->body.data, event->body.size, YYJSON_READ_NOFLAG);
    yyjson_doc *head   = yyjson_read(event->headers.data, event->headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *item   = find_cancelled(yyjson_doc_get_root(body), all->of.id);
    const char *name   = yyjson_get_str(yyjson_obj_get(item, "name"));
    const char *by     = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(head), "by"));
    const char *reason = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(head), "reason"));
    if (name != NULL && by != NULL && event->at >= all->cancelled_at) {
        all->cancelled_at = event->at;
        all->cancelled    = pawl__must_printf(
               why->arena, "its timeout %s was cancelled by %s at %s%s%s", name, by,
               pawl__time_text(event->at, why->arena).data,
            reason != NULL && reason[0] != '\0' ? ": " : "", reason != NULL ? reason : "");
    }
    yyjson_doc_free(body);
    yyjson_doc_free(head);
}

/* Looks for the last cancellation by an operator among the newest events. */
static pawl_code read_events(pawl__why *why, seen *all)
{
    pawl_event_query query = {.is_backward = true, .count_max = 1};
    pawl_event_rows  rows  = {.count = 0};
    pawl_code code = pawl_store_event_list(why->store, &query, why->arena, &rows, why->error);
    if (code != PAWL_OK || rows.count == 0)
        return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
    int64_t last = rows.items[0].seq;
    query        = (pawl_event_query){.type      = PAWL_TEXT(PAWL_TIMEOUTS_CANCELLED),
                                      .after     = last > EVENTS_MAX ? last - EVENTS_MAX : 0,
                                      .count_max = PAGE};
    do {
        code = pawl_store_event_list(why->store, &query, why->arena, &rows, why->error);
        for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
            say_cancelled(why, &rows.items[i].event, all);
        if (rows.count > 0)
            query.after = rows.items[rows.count - 1].seq;
    } while (code == PAWL_OK && rows.count == PAGE);
    return code;
}

/* Notes the message of a history line that cancelled a timeout of the saga. */
static void say_line(const pawl__why *why, const pawl_history_entry *line, seen *all)
{
    yyjson_doc *doc  = yyjson_read(line->out.data, line->out.size, YYJSON_READ_NOFLAG);
    yyjson_val *list = yyjson_obj_get(yyjson_doc_get_root(doc), "cancelled");
    const char *name = yyjson_get_str(yyjson_arr_get_last(list));
    if (name != NULL && line->at >= all->cancelled_at) {
        all->cancelled_at = line->at;
        all->cancelled    = pawl__must_printf(
               why->arena, "its timeout %s was cancelled by its message %.*s (%.*s) at %s", name,
               PAWL_TEXT_ARGS(line->message_id), PAWL_TEXT_ARGS(line->type),
               pawl__time_text(line->at, why->arena).data);
    }
    yyjson_doc_free(doc);
}

/* `*last`: when its last message was handled, or 0. */
static pawl_code read_history(pawl__why *why, pawl_text source, seen *all, pawl_time *last)
{
    pawl_history_query query = {.source = source, .count_max = PAGE};
    pawl_history_rows  rows  = {.count = 0};
    pawl_code          code  = PAWL_OK;
    size_t             lines = 0;
    *last                    = 0;
    do {
        code = pawl_store_history_find(why->store, &query, why->arena, &rows, why->error);
        for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
            *last = rows.items[i].entry.at;
            say_line(why, &rows.items[i].entry, all);
        }
        if (rows.count > 0)
            query.after = rows.items[rows.count - 1].id;
        lines += rows.count;
    } while (code == PAWL_OK && rows.count == PAGE && lines < LINES_MAX);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* ---- The answer ------------------------------------------------------------------ */

/* The types of messages that the saga handles, "a, b"; `*timeout`: a timeout that it handles, or NULL. */
static pawl_text handled(const pawl__why *why, const seen *all, const char **timeout)
{
    const pawl__model *model = all->of.model;
    pawl_text          list  = PAWL_TEXT("");
    *timeout                 = NULL;
    for (size_t i = 0; model != NULL && i < model->type_count; i++)
        for (size_t j = 0; j < model->types[i]->count; j++)
            if (model->types[i]->bindings[j]->saga != NULL &&
                pawl_text_equal(model->types[i]->bindings[j]->saga->table.type, all->of.type))
                list = pawl__must_join(why->arena, list, ", ", model->types[i]->type);
    for (size_t i = 0; model != NULL && i < model->timeout_count; i++)
        if (pawl_text_equal(model->timeouts[i].saga->table.type, all->of.type))
            *timeout = model->timeouts[i].name.data;
    return list;
}

/* Adds the count of letters, and the last one, to the text. */
static pawl_text append_letter_count(const pawl__why *why, const seen *all, pawl_text said)
{
    if (all->letter_count > 0) {
        const pawl_dead_row *last = &all->letters[all->letter_count - 1].row;
        said                      = pawl__must_printf(
                                 why->arena, "%.*s; %zu dead letter%s of it, the last %.*s (%.*s), dead-lettered at %s",
                                 PAWL_TEXT_ARGS(said), all->letter_count, all->letter_count == 1 ? " is" : "s are",
                                 PAWL_TEXT_ARGS(last->message.id), PAWL_TEXT_ARGS(last->message.type),
                                 pawl__time_text(last->at, why->arena).data);
    }
    if (all->unreadable > 0)
        said = pawl__must_printf(
            why->arena,
            "%.*s; %zu dead letter%s of types that it handles may be its own: their bodies have no "
            "value to tell by",
            PAWL_TEXT_ARGS(said), all->unreadable, PAWL__PLURAL(all->unreadable));
    return all->is_cut ? pawl__must_printf(why->arena, "%.*s (of the %d oldest dead letters)",
                                           PAWL_TEXT_ARGS(said), LETTERS_MAX)
                       : said;
}

static void say_waits(const pawl__why *why, const seen *all, pawl__answer *answer,
                      const char **timeout)
{
    bool      wakes = all->timeouts.count > 0;
    pawl_text types = handled(why, all, timeout);
    answer->waits_for =
        pawl__must_printf(why->arena, "a message that it handles (%.*s)%s", PAWL_TEXT_ARGS(types),
                          wakes ? ", or one of its timeouts" : "; it has no timeout");
    answer->next =
        wakes ? PAWL_TEXT("see its timeouts and its rows of the outbox, below")
        : all->sent.count > 0
            ? PAWL_TEXT("nothing but an answer wakes it: see its rows of the outbox, below")
            : pawl__must_printf(why->arena, "nothing wakes it by itself, only a message%s%.*s",
                                all->cancelled.size != 0 ? ": " : "",
                                PAWL_TEXT_ARGS(all->cancelled));
    answer->next = append_letter_count(why, all, answer->next);
    if (all->letter_count > 0) {
        const pawl_dead_row *last = &all->letters[all->letter_count - 1].row;
        answer->error = pawl__must_printf(why->arena, "%.*s: %.*s", PAWL_TEXT_ARGS(last->code),
                                          PAWL_TEXT_ARGS(last->error));
    }
}

/* This program cannot read a state that a newer one wrote, so the saga's messages wait for the newer program. */
static void say_newer(const pawl__why *why, const seen *all, const pawl_saga_row *row,
                      pawl__answer *answer)
{
    char                    stored[20];
    const pawl__saga_model *saga =
        all->of.model != NULL ? pawl__model_saga(all->of.model, all->of.type) : NULL;
    snprintf(stored, sizeof stored, "%.*s", PAWL_TEXT_ARGS(row->type_version));
    if (saga == NULL || strtol(stored, NULL, 10) <= pawl_record_version(saga->state))
        return;
    answer->waits_for = pawl__must_printf(
        why->arena, "%.*s; a newer program wrote its state, of version %s, and %s reads version %d",
        PAWL_TEXT_ARGS(answer->waits_for), stored, why->book->app,
        pawl_record_version(saga->state));
}

static void offer(const pawl__why *why, const seen *all, pawl_text name, const char *timeout,
                  pawl__answer *answer)
{
    pawl_arena *arena   = why->arena;
    pawl_text   word    = pawl__shell_word(name, arena),
              options   = pawl__why_book_options(why->book, arena);
    answer->commands[0] = pawl__must_printf(arena, "pawl saga show %.*s%.*s", PAWL_TEXT_ARGS(word),
                                            PAWL_TEXT_ARGS(options));
    answer->commands[1] = pawl__must_printf(arena, "pawl saga history %.*s%.*s",
                                            PAWL_TEXT_ARGS(word), PAWL_TEXT_ARGS(options));
    if (all->letter_count > 0)
        answer->commands[2] = pawl__must_printf(arena, "pawl dead list --saga %.*s%.*s",
                                                PAWL_TEXT_ARGS(word), PAWL_TEXT_ARGS(options));
    if (all->of.began.size != 0) /* a command of it may be tried again by a queue of this store */
        answer->commands[4] = pawl__why_command(
            "pawl find --in queue",
            pawl__must_printf(arena, "correlation=%.*s", PAWL_TEXT_ARGS(all->of.began)), arena);
    if (all->timeouts.count == 0 && timeout != NULL)
        answer->commands[3] =
            pawl__must_printf(arena, "pawl timeout set --saga %.*s --name %s --by 1m%.*s",
                              PAWL_TEXT_ARGS(word), timeout, PAWL_TEXT_ARGS(options));
}

static pawl_code read_all(pawl__why *why, const pawl_saga_row *row, pawl_text source, seen *all,
                          pawl_time *since)
{
    const pawl_outbox_query sent = {
        .states = PAWL__WHY_LIVE_STATES, .source = source, .count_max = PAWL__WHY_ROWS_MAX};
    pawl_code code = pawl_store_timeout_list(why->store, row->id, PAWL__WHY_ROWS_MAX, why->arena,
                                             &all->timeouts, why->error);
    if (code == PAWL_OK)
        code = pawl_store_outbox_find(why->store, &sent, why->arena, &all->sent, why->error);
    if (code == PAWL_OK)
        code = read_letters(why, all);
    if (code == PAWL_OK)
        code = read_history(why, source, all, since);
    if (code == PAWL_OK && all->timeouts.count == 0)
        code = read_events(why, all);
    pawl_text changed = pawl__must_header(row->metadata, PAWL__SAGA_CHANGED, why->arena);
    if (changed.size != 0) /* only sagas with .idle_after have this time of their last save */
        (void)pawl_time_parse(changed, since, NULL);
    return code;
}

static pawl_code add_parts(pawl__why *why, const seen *all, pawl_text source)
{
    const pawl_outbox_query sent = {
        .states = PAWL__WHY_LIVE_STATES, .source = source, .count_max = PAWL__WHY_ROWS_MAX};
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < all->timeouts.count; i++)
        code = pawl__why_add_timeout(why, &all->timeouts.items[i]);
    if (code == PAWL_OK)
        code = add_letters(why, all);
    /* If the word is the ordering key itself, pawl__why_stream adds these rows. */
    return code == PAWL_OK && !pawl_text_equal(source, why->word)
               ? pawl__why_add_rows(why, &sent, "outbox, of this ordering key")
               : code;
}

static pawl_code add_saga(pawl__why *why, const pawl_saga_table *table, const pawl_saga_row *row)
{
    seen             all     = {.letter_count = 0};
    const char      *timeout = NULL;
    pawl_text        source  = pawl__saga_source_of(table->type, row->id, why->arena);
    pawl__saga_named saga    = {.type = table->type, .id = row->id, .name = source};
    pawl__answer     answer  = {.place = "saga"};
    pawl_code code = pawl__saga_names(why->book, why->store, &saga, 1, why->arena, why->error);
    all.of         = pawl__saga_letters_of(why->book, table, row, why->arena);
    if (code == PAWL_OK)
        code = read_all(why, row, source, &all, &answer.since);
    if (code != PAWL_OK)
        return code;
    answer.name =
        pawl__must_printf(why->arena, "%.*s, version %" PRId64 ", id %s", PAWL_TEXT_ARGS(saga.name),
                          row->version, pawl__uuid_text(row->id.uuid, why->arena).data);
    answer.claimed_by = PAWL_TEXT("nobody, or the worker that handles a message of it just now");
    say_waits(why, &all, &answer, &timeout);
    say_newer(why, &all, row, &answer);
    offer(why, &all, saga.name, timeout, &answer);
    code = pawl__why_add(why, &answer);
    return code == PAWL_OK ? add_parts(why, &all, source) : code;
}

/* ---- Looking ----------------------------------------------------------------------- */

static pawl_code add_saga_timeouts(pawl__why *why, pawl_saga_id id)
{
    pawl_timeout_rows rows = {.count = 0};
    pawl_code         code =
        pawl_store_timeout_list(why->store, id, PAWL__WHY_ROWS_MAX, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = pawl__why_add_timeout(why, &rows.items[i]);
    return code;
}

/* If the saga does not exist, its first message may be a dead letter. */
static pawl_code add_letters_of_missing(pawl__why *why, pawl_text type, pawl_text value)
{
    seen all = {.of = {.model = pawl__saga_model_of(why->book, type),
                       .type  = type,
                       .id    = value,
                       .value = value}};
    if (all.of.model == NULL)
        return PAWL_OK;
    pawl_code code = read_letters(why, &all);
    return code == PAWL_OK ? add_letters(why, &all) : code;
}

/* Without --app the saga's table is not known, and only timeouts of an id are found. */
pawl_code pawl__why_saga(pawl__why *why)
{
    pawl_text type = {.size = 0}, name;
    pawl_code code = PAWL_OK;
    bool is_seen = false, is_typed = pawl__saga_split(&why->book->tables, why->word, &type, &name);
    pawl_uuid id;
    if (!is_typed)
        name = why->word;
    for (size_t i = 0; code == PAWL_OK && name.size != 0 && i < why->book->tables.count; i++) {
        const pawl_saga_table *table = why->book->tables.items[i];
        pawl_saga_row          row   = {.version = 0};
        if (is_typed && !pawl_text_equal(table->type, type))
            continue;
        code = pawl__saga_find_in(why->store, table, name, why->arena, &row, why->error);
        if (code == PAWL_OK && row.presence == PAWL_SAGA_THERE) {
            is_seen = true;
            code    = add_saga(why, table, &row);
        }
    }
    if (code == PAWL_OK && !is_seen && is_typed)
        code = add_letters_of_missing(why, type, name);
    if (code == PAWL_OK && !is_seen && pawl_uuid_parse(name, &id, NULL) == PAWL_OK &&
        !pawl_uuid_is_zero(id))
        code = add_saga_timeouts(why, (pawl_saga_id){id});
    return code;
}
