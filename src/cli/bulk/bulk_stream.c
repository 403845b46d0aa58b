/* bulk_stream.c - the stream of a bulk action: reads its state, and appends events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk/bulk.h"

#include "pawl/store_calls.h"
#include "store/core/action.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 20 /* tries while another process writes to the stream */

const char *const pawl__bulk_state_names[] = {[PAWL__BULK_OPEN]     = "open",
                                              [PAWL__BULK_FINISHED] = "finished",
                                              [PAWL__BULK_STOPPED]  = "stopped",
                                              NULL};

static int64_t number_of(yyjson_val *headers, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(headers, key));
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* "dead retry --all '--type=charge'": the words, with quotes where a shell needs them. */
static pawl_text command_of(pawl_text words, pawl_arena *arena)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:./+,";
    pawl_text   made = PAWL_TEXT("");
    yyjson_doc *doc  = yyjson_read(words.data, words.size, YYJSON_READ_NOFLAG);
    yyjson_val *word;
    size_t      i, count;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, count, word)
    {
        const char *text     = yyjson_get_str(word) != NULL ? yyjson_get_str(word) : "";
        bool        is_plain = text[0] != '\0' && text[strspn(text, plain)] == '\0';
        pawl_text   shown    = pawl_text_of(text);
        if (!is_plain)
            shown = pawl__shell_quoted(shown, arena);
        made = pawl__must_join(arena, made, " ", shown);
    }
    yyjson_doc_free(doc);
    return made;
}

/* Rows of the selection that the verb did not settle: in flight, or not sendable. */
static int64_t count_left(pawl_text result)
{
    static const char *const keys[] = {"left", "already_queued", "unsendable"};
    yyjson_doc              *doc    = yyjson_read(result.data, result.size, YYJSON_READ_NOFLAG);
    int64_t                  left   = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        left += yyjson_get_sint(yyjson_obj_get(yyjson_doc_get_root(doc), keys[i]));
    yyjson_doc_free(doc);
    return left;
}

/* Computes the action's state from its events. The first event that ends the action counts. Progress is also read after
 * a stop, since the run that was stopped records how far it came. */
static void read_stream(const pawl_event_rows *events, pawl_arena *arena, pawl__bulk_row *row)
{
    for (size_t i = 0; i < events->count && row->state != PAWL__BULK_FINISHED; i++) {
        const pawl_event *event   = &events->items[i].event;
        yyjson_doc       *doc     = pawl__texts_read(event->headers);
        yyjson_val       *headers = yyjson_doc_get_root(doc);
        if (pawl_text_equal(event->type, PAWL_TEXT(PAWL__BULK_STARTED_EVENT))) {
            row->id      = pawl__texts_text(headers, "id", arena);
            row->by      = pawl__texts_text(headers, "by", arena);
            row->reason  = pawl__texts_text(headers, "reason", arena);
            row->asker   = pawl__texts_text(headers, "asker", arena);
            row->words   = pawl__texts_text(headers, "words", arena);
            row->command = command_of(row->words, arena);
            row->total   = number_of(headers, "total");
            row->started = event->at;
        } else if (pawl_text_equal(event->type, PAWL_TEXT(PAWL__BULK_PROGRESS_EVENT))) {
            row->done = number_of(headers, "done");
        } else if (row->state == PAWL__BULK_OPEN) {
            bool is_finished = pawl_text_equal(event->type, PAWL_TEXT(PAWL__BULK_FINISHED_EVENT));
            row->state       = is_finished ? PAWL__BULK_FINISHED : PAWL__BULK_STOPPED;
            row->ended       = event->at;
            row->result      = pawl__texts_text(headers, "result", arena);
            if (is_finished) {
                int64_t left = count_left(row->result);
                row->left    = pawl__must_printf(arena, "%" PRId64, left);
                row->done    = row->total - left;
            }
        }
        yyjson_doc_free(doc);
    }
}

pawl_code pawl__bulk_load(pawl_store *store, pawl_text id, pawl_arena *arena, pawl__bulk_row *row,
                          pawl_event_rows *events, pawl_error *error)
{
    pawl_code code = pawl__action_list(store, PAWL__BULK_STREAMS, id, arena, events, error);
    *row           = (pawl__bulk_row){.total = 0};
    if (code == PAWL_OK)
        read_stream(events, arena, row);
    if (code == PAWL_OK && row->words.size == 0)
        return pawl_error_set(error, PAWL_ENOTFOUND, "there is no bulk action %.*s: pawl bulk list",
                              PAWL_TEXT_ARGS(id));
    return code;
}

/* ---- Events ------------------------------------------------------------------------ */

/* PAWL_ECONFLICT: the action is over (after a stop, progress is still accepted), or another process has appended since
 * the event's version was read. */
static pawl_code check_open(pawl_store *store, pawl_text id, bool is_progress, int64_t version,
                            bool *is_over, pawl_arena *arena, pawl_error *error)
{
    pawl_event_rows events;
    pawl__bulk_row  row;
    pawl_code       code = pawl__bulk_load(store, id, arena, &row, &events, error);
    *is_over             = code == PAWL_OK && row.state != PAWL__BULK_OPEN &&
               !(is_progress && row.state == PAWL__BULK_STOPPED);
    if (*is_over)
        return pawl_error_set(error, PAWL_ECONFLICT, "bulk action %.*s is %s already",
                              PAWL_TEXT_ARGS(id), pawl__bulk_state_names[row.state]);
    if (code == PAWL_OK && (int64_t)events.count + 1 != version)
        return pawl_error_set(error, PAWL_ECONFLICT, "bulk action %.*s goes on elsewhere",
                              PAWL_TEXT_ARGS(id));
    return code;
}

/* The event of PAWL__BULK_LIST that names the action. It names no operator: the action's own first event does. */
static pawl_code list_event(pawl_store *store, pawl_text id, pawl_time now, pawl_arena *arena,
                            pawl_event_append *event, pawl_error *error)
{
    pawl_stream_read read   = {.stream = PAWL_TEXT(PAWL__BULK_LIST), .after = INT64_MAX};
    pawl_stream      stream = {.version = 0};
    pawl_code        code   = pawl_store_stream_load(store, &read, 1, arena, &stream, error);
    *event                  = (pawl_event_append){
                         .stream   = read.stream,
                         .version  = stream.version + 1,
                         .is_first = true,
                         .event    = {.type         = PAWL_TEXT(PAWL__BULK_LISTED_EVENT),
                                      .type_version = 1,
                                      .headers      = pawl__must_printf(arena, "{\"id\":\"%.*s\"}", PAWL_TEXT_ARGS(id)),
                                      .at           = now}};
    return code;
}

pawl_text pawl__bulk_listed(const pawl_event_row *event, pawl_arena *arena)
{
    yyjson_doc *doc = pawl__texts_read(event->event.headers);
    pawl_text   id  = pawl__texts_text(yyjson_doc_get_root(doc), "id", arena);
    yyjson_doc_free(doc);
    return id;
}

pawl_code pawl__bulk_append(pawl_store *store, pawl_text id, const pawl__bulk_note *what,
                            pawl_error *error)
{
    bool      is_start = strcmp(what->type, PAWL__BULK_STARTED_EVENT) == 0;
    bool      is_over  = false;
    pawl_code code     = PAWL_ECONFLICT;
    for (int i = 0; code == PAWL_ECONFLICT && !is_over && i < TRIES_MAX; i++) {
        pawl_arena        *arena  = pawl__must_create();
        pawl_time          now    = pawl_clock_now(NULL);
        const pawl__action action = {PAWL__BULK_STREAMS, "bulk action", id,
                                     what->type,         what->by,      what->reason};
        pawl_event_append  events[2];
        pawl_changes    changes = {PAWL__ONE_UNIT(now), .event_append = {events, is_start ? 2 : 1}};
        yyjson_mut_doc *doc     = pawl__texts_begin();
        for (size_t j = 0; doc != NULL && j < 3 && what->keys[j] != NULL; j++)
            (void)pawl__texts_put(doc, what->keys[j], what->values[j]);
        if (doc != NULL)
            (void)pawl__texts_put(doc, "id", id);
        code = pawl__action_event(store, &action, doc, now, arena, &events[0], error);
        if (code == PAWL_OK && is_start)
            code = list_event(store, id, now, arena, &events[1], error);
        else if (code == PAWL_OK)
            code = check_open(store, id, strcmp(what->type, PAWL__BULK_PROGRESS_EVENT) == 0,
                              events[0].version, &is_over, arena, error);
        if (code == PAWL_OK)
            code = pawl_store_commit(store, &changes, NULL, error);
        pawl_arena_destroy(arena);
    }
    return code;
}
