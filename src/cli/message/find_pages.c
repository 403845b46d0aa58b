/* find_pages.c - reads the places of `pawl find` page by page, by a cursor.
 *
 * Every page is a range of a key that has an index, so that a page costs the same at the end of a long table as at its
 * beginning:
 *
 *     dead         by endpoint and message id
 *     queue        by number, the order in which messages were sent; of one queue (--queue) by due time and number,
 *                  the order in which they are handled
 *     outbox       by number, in every state
 *     aggregator   by number
 *     history      what operators did with dead letters, the newest first
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/message/find.h"
#include "cli/outbox/outbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the first page. Later pages have about PAGE_SIZE bytes, estimated by the size of the page before. */
#define PAGE_ROWS_FIRST 16
#define PAGE_ROWS_MAX 2000
#define PAGE_SIZE (4 * 1024 * 1024)

const char *const pawl__find_place_names[] = {"dead",       "queue",   "outbox",
                                              "aggregator", "history", NULL};
const char *const pawl__find_place_nouns[] = {
    "dead letters", "messages in queues", "outbox rows", "messages in aggregators", "events", NULL};

/* ---- The cursor ---------------------------------------------------------- */

void pawl__find_enter(pawl__find_cursor *cursor, pawl__find_place place)
{
    cursor->place     = place;
    cursor->has_key   = false;
    cursor->number    = 0;
    cursor->due       = 0;
    cursor->page_rows = PAGE_ROWS_FIRST;
}

static void keep_letter(pawl__find_cursor *cursor, pawl_text endpoint, pawl_text id)
{
    cursor->endpoint_size = endpoint.size;
    cursor->id_size       = id.size;
    memcpy(cursor->endpoint, endpoint.data, endpoint.size);
    memcpy(cursor->id, id.data, id.size);
}

void pawl__find_pass(pawl__find_cursor *cursor, const pawl__found *row)
{
    cursor->has_key = true;
    cursor->number  = row->number;
    cursor->due     = row->due;
    if (cursor->place == PAWL__FIND_DEAD)
        keep_letter(cursor, row->endpoint, row->message.id);
}

static bool is_by_due(const pawl__find_cursor *cursor)
{
    return cursor->place == PAWL__FIND_QUEUE && cursor->queue.size != 0;
}

/* An endpoint's name may have a slash, so the cursor of a dead letter has its size: "dead:7:billing/m-1". */
pawl_text pawl__find_cursor_text(const pawl__find_cursor *cursor, pawl_arena *arena)
{
    const char *place = pawl__find_place_names[cursor->place];
    if (!cursor->has_key)
        return pawl__must_printf(arena, "%s", place);
    if (cursor->place == PAWL__FIND_DEAD)
        return pawl__must_printf(arena, "%s:%zu:%.*s/%.*s", place, cursor->endpoint_size,
                                 (int)cursor->endpoint_size, cursor->endpoint, (int)cursor->id_size,
                                 cursor->id);
    if (is_by_due(cursor))
        return pawl__must_printf(arena, "%s:%" PRId64 "/%" PRId64, place, cursor->due,
                                 cursor->number);
    return pawl__must_printf(arena, "%s:%" PRId64, place, cursor->number);
}

/* "7:billing/m-1" */
static bool read_letter(const char *text, pawl__find_cursor *cursor)
{
    int64_t   size  = 0;
    char     *colon = strchr(text, ':');
    pawl_text rest  = colon != NULL ? pawl_text_of(colon + 1) : (pawl_text){0};
    char      digits[8];
    if (colon == NULL || (size_t)(colon - text) >= sizeof digits)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)(colon - text), text);
    if (!pawl__number_parse(digits, &size) || size > PAWL_NAME_SIZE_MAX ||
        (size_t)size >= rest.size || rest.data[size] != '/' ||
        rest.size - (size_t)size - 1 > PAWL_MESSAGE_ID_SIZE_MAX)
        return false;
    keep_letter(cursor, (pawl_text){.data = rest.data, .size = (size_t)size},
                (pawl_text){.data = rest.data + size + 1, .size = rest.size - (size_t)size - 1});
    return true;
}

static bool read_number(const char *text, pawl__find_cursor *cursor)
{
    char  due[24];
    char *slash = strchr(text, '/');
    if ((slash != NULL) != is_by_due(cursor))
        return false;
    if (slash == NULL)
        return pawl__number_parse(text, &cursor->number);
    snprintf(due, sizeof due, "%.*s", (int)(slash - text), text);
    return pawl__number_parse(due, &cursor->due) && pawl__number_parse(slash + 1, &cursor->number);
}

pawl_code pawl__find_cursor_read(const char *text, pawl__find_cursor *cursor, pawl_error *error)
{
    size_t size  = strcspn(text, ":");
    size_t place = pawl__choice_of(pawl__find_place_names, (pawl_text){.data = text, .size = size});
    bool   is_ok = place < PAWL__FIND_PLACES;
    if (is_ok)
        pawl__find_enter(cursor, (pawl__find_place)place);
    cursor->has_key = is_ok && text[size] == ':';
    if (cursor->has_key)
        is_ok = place == PAWL__FIND_DEAD ? read_letter(text + size + 1, cursor)
                                         : read_number(text + size + 1, cursor);
    if (is_ok)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "--after: '%.100s' is not a cursor of this search: take the one that it "
                          "printed, with the same --queue",
                          text);
}

/* ---- Pages --------------------------------------------------------------- */

typedef struct page {
    pawl__found *items;
    size_t       count;
} page;

static void take(page *made, size_t count, pawl_arena *arena)
{
    made->items = pawl__must_take(arena, (count + 1) * sizeof *made->items);
    made->count = count;
}

static pawl_code scan(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                      pawl_error *error)
{
    static const pawl_scan_kind kinds[] = {[PAWL__FIND_DEAD]       = PAWL_SCAN_DEAD,
                                           [PAWL__FIND_QUEUE]      = PAWL_SCAN_QUEUE,
                                           [PAWL__FIND_AGGREGATOR] = PAWL_SCAN_AGGREGATORS};
    pawl_scan_row               after   = {.number = cursor->number};
    after.belongs_to        = (pawl_text){.data = cursor->endpoint, .size = cursor->endpoint_size};
    after.message.id        = (pawl_text){.data = cursor->id, .size = cursor->id_size};
    const pawl_scan asked   = {.kind      = kinds[cursor->place],
                               .after     = cursor->has_key ? &after : NULL,
                               .count_max = cursor->page_rows};
    bool            is_dead = cursor->place == PAWL__FIND_DEAD;
    pawl_scan_rows  rows    = {.count = 0};
    pawl_code       code    = pawl_store_scan(cursor->store, &asked, arena, &rows, error);
    take(made, code == PAWL_OK ? rows.count : 0, arena);
    for (size_t i = 0; i < made->count; i++) {
        const pawl_scan_row *row = &rows.items[i];
        pawl__found         *to  = &made->items[i];
        *to                      = (pawl__found){.message = row->message, .number = row->number};
        to->queue                = is_dead ? row->name : row->belongs_to;
        if (is_dead)
            to->endpoint = row->belongs_to;
    }
    return code;
}

/* Only the key and the message; pawl__find_detail adds the rest to messages that match. */
static pawl__found of_queue(const pawl_queue_message *found, pawl_text queue)
{
    return (pawl__found){.message  = found->row.message,
                         .number   = found->row.seq,
                         .due      = found->row.due,
                         .queue    = queue,
                         .at       = found->row.placed,
                         .attempts = found->row.attempts,
                         .error    = found->error};
}

static pawl_code list_queue(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                            pawl_error *error)
{
    const pawl_queue_row   after = {.due = cursor->due, .seq = cursor->number};
    const pawl_queue_query query = {.queue      = cursor->queue,
                                    .message_id = cursor->message_id,
                                    .due_min    = cursor->due,
                                    .after      = cursor->has_key ? &after : NULL,
                                    .count_max  = cursor->page_rows};
    pawl_queue_messages    rows  = {.count = 0};
    pawl_code              code = pawl_store_queue_find(cursor->store, &query, arena, &rows, error);
    take(made, code == PAWL_OK ? rows.count : 0, arena);
    for (size_t i = 0; i < made->count; i++)
        made->items[i] = of_queue(&rows.items[i], cursor->queue);
    return code;
}

static pawl_code list_outbox(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                             pawl_error *error)
{
    const pawl_outbox_query query = {.after = cursor->number, .count_max = cursor->page_rows};
    pawl_outbox_rows        rows  = {.count = 0};
    pawl_code code = pawl_store_outbox_find(cursor->store, &query, arena, &rows, error);
    take(made, code == PAWL_OK ? rows.count : 0, arena);
    for (size_t i = 0; i < made->count; i++) {
        const pawl_outbox_row *row = &rows.items[i];
        made->items[i]             = (pawl__found){.message  = row->message,
                                                   .number   = row->id,
                                                   .queue    = row->destination,
                                                   .endpoint = row->endpoint,
                                                   .at       = row->at,
                                                   .attempts = row->attempts,
                                                   .state = pawl_text_of(pawl__outbox_state_name(row->state))};
    }
    return code;
}

/* An operator's action on a dead letter keeps the message's body and ids. The event's headers are those of the action, and say
 * which type the message had. Any other event has no message here: it is empty, and no condition matches it. */
static pawl__found of_event(const pawl_event_row *row, pawl_arena *arena)
{
    static const char prefix[] = "pawl.dead_";
    const pawl_event *event    = &row->event;
    pawl__found       made     = {.number = row->seq};
    if (!pawl__text_begins(event->type, prefix) ||
        !pawl__text_begins(row->stream, PAWL_DEAD_STREAMS "/"))
        return made;
    yyjson_doc *doc = yyjson_read(event->headers.data, event->headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *was = yyjson_doc_get_root(doc);
    pawl_text   by  = pawl__json_text(was, "by", arena);
    made.at         = event->at;
    made.queue      = pawl__json_text(was, "queue", arena);
    made.endpoint   = pawl__json_text(was, "endpoint", arena);
    made.error      = pawl__json_text(was, "error", arena);
    made.message    = (pawl_message){.id             = event->message_id,
                                     .type           = pawl__json_text(was, "type", arena),
                                     .body           = event->body,
                                     .correlation_id = event->correlation_id,
                                     .causation_id   = event->causation_id};
    made.state =
        pawl__must_printf(arena, "%.*s by %.*s", (int)(event->type.size + 1 - sizeof prefix),
                          event->type.data + sizeof prefix - 1, PAWL_TEXT_ARGS(by));
    yyjson_doc_free(doc);
    return made;
}

static pawl_code list_history(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                              pawl_error *error)
{
    const pawl_event_query query = {
        .is_backward = true, .after = cursor->number, .count_max = cursor->page_rows};
    pawl_event_rows rows = {.count = 0};
    pawl_code       code = pawl_store_events(cursor->store, &query, arena, &rows, error);
    take(made, code == PAWL_OK ? rows.count : 0, arena);
    for (size_t i = 0; i < made->count; i++)
        made->items[i] = of_event(&rows.items[i], arena);
    return code;
}

static int by_key(const void *left, const void *right)
{
    const pawl__found *l = left, *r = right;
    int                order = pawl_text_compare(l->endpoint, r->endpoint);
    return order != 0 ? order : (l->number > r->number) - (l->number < r->number);
}

static pawl_code letters_of_id(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                               pawl_error *error)
{
    const pawl_dead_query query = {.message_id = cursor->message_id};
    pawl_dead_rows        rows  = {.count = 0};
    pawl_code             code  = pawl_store_dead_find(cursor->store, &query, arena, &rows, error);
    take(made, code == PAWL_OK ? rows.count : 0, arena);
    for (size_t i = 0; i < made->count; i++)
        made->items[i] = (pawl__found){.message  = rows.items[i].message,
                                       .queue    = rows.items[i].queue,
                                       .endpoint = rows.items[i].endpoint};
    return code;
}

/* Looks into each queue; their names come from statistics that count only to one. */
static pawl_code messages_of_id(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                                pawl_error *error)
{
    pawl_stats stats = {.stats_size = sizeof stats, .count_max = 1};
    pawl_code  code  = pawl_store_stats(cursor->store, cursor->now, arena, &stats, error);
    if (code == PAWL_OK)
        take(made, stats.queue_count, arena);
    made->count = 0;
    for (size_t i = 0; code == PAWL_OK && i < stats.queue_count; i++) {
        const pawl_queue_query query = {
            .queue = stats.queues[i].queue, .message_id = cursor->message_id, .count_max = 1};
        pawl_queue_messages found = {.count = 0};
        code = pawl_store_queue_find(cursor->store, &query, arena, &found, error);
        if (code == PAWL_OK && found.count > 0)
            made->items[made->count++] = of_queue(&found.items[0], query.queue);
    }
    return code;
}

/* With a condition id=, reads the messages by an index, in the order of the cursor. False: the place has
 * no such index, or the search is a continued one, which reads page by page. */
static bool find_id(const pawl__find_cursor *cursor, pawl_arena *arena, page *made, pawl_code *code,
                    pawl_error *error)
{
    bool is_dead = cursor->place == PAWL__FIND_DEAD;
    if (cursor->message_id.size == 0 || cursor->has_key || is_by_due(cursor) ||
        (!is_dead && cursor->place != PAWL__FIND_QUEUE))
        return false;
    *code = (is_dead ? letters_of_id : messages_of_id)(cursor, arena, made, error);
    if (*code == PAWL_OK && made->count > 1)
        qsort(made->items, made->count, sizeof *made->items, by_key);
    return true;
}

/* Bodies have up to 16 MB: a page of large ones has few rows. */
static size_t next_size(const page *made)
{
    size_t size = made->count, rows;
    for (size_t i = 0; i < made->count; i++)
        size += PAWL_MESSAGE_SIZE(&made->items[i].message);
    rows = made->count != 0 ? PAGE_SIZE / (size / made->count) : PAGE_ROWS_MAX;
    rows = rows < 2 * made->count ? rows : 2 * made->count;
    return rows == 0 ? 1 : rows < PAGE_ROWS_MAX ? rows : PAGE_ROWS_MAX;
}

static pawl_code list(const pawl__find_cursor *cursor, pawl_arena *arena, page *made,
                      pawl_error *error)
{
    if (cursor->place == PAWL__FIND_OUTBOX)
        return list_outbox(cursor, arena, made, error);
    if (cursor->place == PAWL__FIND_HISTORY)
        return list_history(cursor, arena, made, error);
    return is_by_due(cursor) ? list_queue(cursor, arena, made, error)
                             : scan(cursor, arena, made, error);
}

pawl_code pawl__find_page(pawl__find_cursor *cursor, pawl_arena *arena, pawl__found **rows,
                          size_t *count, bool *is_last, pawl_error *error)
{
    page      made     = {.count = 0};
    pawl_code code     = PAWL_OK;
    bool      is_of_id = find_id(cursor, arena, &made, &code, error);
    if (!is_of_id)
        code = list(cursor, arena, &made, error);
    *rows    = made.items;
    *count   = code == PAWL_OK ? made.count : 0;
    *is_last = is_of_id || *count < cursor->page_rows;
    if (*count > 0)
        cursor->page_rows = next_size(&made);
    return code;
}

/* ---- What is told of a message ------------------------------------------- */

static pawl_text waits(const pawl__found *row, pawl_time waiting_since, pawl_time now,
                       pawl_arena *arena)
{
    char due[PAWL__SPAN_SIZE];
    if (row->due <= now)
        return PAWL_TEXT("due");
    pawl__age_text(row->due, now, due);
    if (waiting_since != 0)
        return pawl__must_printf(arena, "waits for its saga, again %s", due);
    if (row->attempts > 0)
        return pawl__must_printf(arena, "retry %" PRId32 ", %s", row->attempts, due);
    return pawl__must_printf(arena, "scheduled %s", due);
}

static pawl_code detail_queue(const pawl__find_cursor *cursor, pawl__found *row, pawl_arena *arena,
                              bool *is_there, pawl_error *error)
{
    const pawl_queue_query query = {
        .queue = row->queue, .message_id = row->message.id, .count_max = 1};
    pawl_queue_messages found = {.count = 0};
    pawl_code           code  = pawl_store_queue_find(cursor->store, &query, arena, &found, error);
    *is_there                 = code == PAWL_OK && found.count == 1;
    if (!*is_there)
        return code;
    pawl_text id    = pawl__shell_word(row->message.id, arena);
    pawl_text queue = pawl__shell_word(row->queue, arena);
    *row            = of_queue(&found.items[0], row->queue);
    row->state      = waits(row, found.items[0].row.waiting_since, cursor->now, arena);
    row->run = pawl__must_printf(arena, "pawl queue peek %.*s --id %.*s", PAWL_TEXT_ARGS(queue),
                                 PAWL_TEXT_ARGS(id));
    return PAWL_OK;
}

/* Sets the command that shows the letter, also one that was settled. */
static void say_letter(pawl__found *row, pawl_arena *arena)
{
    pawl_text id       = pawl__shell_word(row->message.id, arena);
    pawl_text endpoint = pawl__shell_word(row->endpoint, arena);
    row->run = pawl__must_printf(arena, "pawl dead show %.*s --endpoint %.*s", PAWL_TEXT_ARGS(id),
                                 PAWL_TEXT_ARGS(endpoint));
}

static pawl_code detail_dead(const pawl__find_cursor *cursor, pawl__found *row, pawl_arena *arena,
                             bool *is_there, pawl_error *error)
{
    const pawl_dead_query query = {
        .endpoint = row->endpoint, .message_id = row->message.id, .count_max = 1};
    pawl_dead_rows found = {.count = 0};
    pawl_code      code  = pawl_store_dead_find(cursor->store, &query, arena, &found, error);
    *is_there            = code == PAWL_OK && found.count == 1;
    if (!*is_there)
        return code;
    row->at       = found.items[0].at;
    row->attempts = found.items[0].attempts;
    row->error    = found.items[0].error;
    row->state    = found.items[0].code;
    say_letter(row, arena);
    return PAWL_OK;
}

/* --queue names a queue, or the endpoint that reads it under another name. */
static bool is_of_queue(const pawl__find_cursor *cursor, const pawl__found *row)
{
    return cursor->queue.size == 0 || pawl_text_equal(cursor->queue, row->queue) ||
           pawl_text_equal(cursor->queue, row->endpoint);
}

pawl_code pawl__find_detail(const pawl__find_cursor *cursor, pawl__found *row, pawl_arena *arena,
                            bool *is_there, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    *is_there      = is_of_queue(cursor, row);
    if (!*is_there)
        return PAWL_OK;
    switch (cursor->place) {
    case PAWL__FIND_DEAD: code = detail_dead(cursor, row, arena, is_there, error); break;
    case PAWL__FIND_QUEUE: code = detail_queue(cursor, row, arena, is_there, error); break;
    case PAWL__FIND_OUTBOX:
        row->run = pawl__must_printf(arena, "pawl outbox show %" PRId64, row->number);
        break;
    case PAWL__FIND_AGGREGATOR:
        row->state = PAWL_TEXT("collected");
        row->run   = PAWL_TEXT("pawl aggregator list");
        break;
    default: say_letter(row, arena);
    }
    row->place = pawl_text_of(pawl__find_place_names[cursor->place]);
    return code;
}
