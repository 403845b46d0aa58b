/* timeout_settle.c - `pawl timeout cancel|move|release`.
 *
 * The selection is taken first and asked about, then worked off in commits of COMMIT_ROWS; what is set
 * meanwhile is not of it. Each commit leaves an event that says who, why and which: a stream of its
 * own, so that nobody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COMMIT_ROWS 256

typedef enum settle_way { CANCEL, MOVE, RELEASE } settle_way;

typedef struct settle_kind {
    const char *name;
    const char *done;
    const char *question; /* "%s 12 timeouts of URL%s?" */
    const char *ending;
    const char *event;
} settle_kind;

static const settle_kind kinds[] = {
    [CANCEL]  = {"cancel", "cancelled", "cancel", ", for good", "pawl.timeouts_cancelled"},
    [MOVE]    = {"move", "moved", "move", "", "pawl.timeouts_moved"},
    [RELEASE] = {"release", "released", "let", " fire now", "pawl.timeouts_released"},
};

static settle_way way_of(const pawl__timeout_fields *fields)
{
    settle_way way = CANCEL;
    while (strcmp(kinds[way].name, fields->action) != 0)
        way++;
    return way;
}

/* ---- Words ------------------------------------------------------------------- */

pawl_code pawl__timeout_settle_check(const pawl__timeout_fields *fields, pawl_error *error)
{
    bool has_filter = fields->destination != NULL || fields->name != NULL || fields->saga != NULL ||
                      fields->saga_type != NULL || fields->since != NULL || fields->until != NULL;
    if (fields->is_all && fields->ids.count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "give --all or IDs, not both");
    if (!fields->is_all && fields->ids.count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout %s needs IDs, or --all and what they have in common",
                              fields->action);
    if (!fields->is_all && (has_filter || fields->is_agreed || fields->is_dry))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "pawl timeout %s: %s goes with --all, not with timeouts that are named", fields->action,
            has_filter          ? "a filter"
            : fields->is_agreed ? "--yes"
                                : "--dry-run");
    if (way_of(fields) == MOVE && (fields->by == 0) == (fields->to == NULL))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout move needs --by DURATION or --to TIME, one of them");
    pawl_code code = pawl__text_check("--reason", fields->reason, error);
    size_t    size = fields->reason != NULL ? strlen(fields->reason) : 0;
    if (code == PAWL_OK && size + PAWL__USER_SIZE > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "--reason: it has %zu bytes, limit %d", size,
                              PAWL_ERROR_TEXT_SIZE_MAX - PAWL__USER_SIZE);
    return code;
}

/* ---- The event ----------------------------------------------------------------- */

static pawl_code make_stream(pawl_arena *arena, pawl_text *stream, pawl_error *error)
{
    uint8_t bytes[16];
    char    id[PAWL_UUID_TEXT_SIZE + 1];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return pawl_error_set(error, PAWL_EPERSIST, "the system gives no random bytes");
    pawl_uuid_format(pawl_uuid_v4(bytes), id);
    *stream = pawl_arena_printf(arena, "pawl.timeouts/%s", id);
    return stream->data != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
}

/* {"by":"ann","reason":"..."}; data NULL: out of memory. */
static pawl_text make_headers(const pawl__timeout_fields *fields, pawl_arena *arena)
{
    char            user[PAWL__USER_SIZE];
    size_t          size    = 0;
    pawl_text       headers = {0};
    yyjson_mut_doc *doc     = pawl__json_create();
    if (doc == NULL)
        return headers;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_strcpy(doc, root, "by", pawl__user(user));
    yyjson_mut_obj_add_strcpy(doc, root, "reason", fields->reason != NULL ? fields->reason : "");
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, &size);
    if (text != NULL)
        headers = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    free(text);
    yyjson_mut_doc_free(doc);
    return headers;
}

/* [{"id":"...","name":"...","due":"..."}, ...]: as they were; data NULL: out of memory. */
static pawl_text make_body(const pawl_timeout_row *rows, size_t count, pawl_arena *arena)
{
    size_t          size  = 0;
    pawl_text       body  = {0};
    yyjson_mut_doc *doc   = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list  = doc != NULL ? yyjson_mut_arr(doc) : NULL;
    bool            is_ok = list != NULL;
    yyjson_mut_doc_set_root(doc, list);
    for (size_t i = 0; is_ok && i < count; i++) {
        char            id[PAWL_UUID_TEXT_SIZE + 1];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        pawl_uuid_format(rows[i].id.uuid, id);
        is_ok = item != NULL && yyjson_mut_obj_add_strcpy(doc, item, "id", id) &&
                yyjson_mut_obj_add_strncpy(doc, item, "name",
                                           rows[i].name.size != 0 ? rows[i].name.data : "",
                                           rows[i].name.size) &&
                pawl__json_add_time(doc, item, "due", rows[i].due);
    }
    char *text = is_ok ? yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, &size) : NULL;
    if (text != NULL)
        body = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    free(text);
    yyjson_mut_doc_free(doc);
    return body;
}

static pawl_code make_event(const pawl__timeout_fields *fields, const pawl_timeout_row *rows,
                            size_t count, pawl_time now, pawl_arena *arena,
                            pawl_event_append *append, pawl_error *error)
{
    char      id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_code code = make_stream(arena, &append->stream, error);
    if (code != PAWL_OK)
        return code;
    pawl_uuid_format(rows[0].id.uuid, id);
    append->version  = 1;
    append->is_first = true;
    append->event    = (pawl_event){.type         = pawl_text_of(kinds[way_of(fields)].event),
                                    .type_version = 1,
                                    .message_id   = pawl_arena_text(arena, pawl_text_of(id)),
                                    .headers      = make_headers(fields, arena),
                                    .body         = make_body(rows, count, arena),
                                    .at           = now};
    return append->event.headers.data != NULL && append->event.body.data != NULL &&
                   append->event.message_id.data != NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "out of memory for an event");
}

/* ---- Settling ------------------------------------------------------------------ */

/* Without an owner: also what a worker has in hand, whose commit is refused then. */
static pawl_timeout_settle settle_of(const pawl__timeout_fields *fields, pawl_time to,
                                     const pawl_timeout_row *row, pawl_time now)
{
    pawl_timeout_settle settle = {
        .action = PAWL_TIMEOUT_RETRY, .id = row->id, .attempts = row->attempts};
    switch (way_of(fields)) {
    case CANCEL: settle.action = PAWL_TIMEOUT_REMOVE; break;
    case MOVE: settle.due = fields->by != 0 ? pawl_time_add(row->due, fields->by) : to; break;
    case RELEASE:
        settle.due      = row->due < now ? row->due : now;
        settle.attempts = 0;
        break;
    }
    return settle;
}

static pawl_code commit_rows(const pawl__timeout_fields *fields, pawl_time to, pawl_store *store,
                             const pawl_timeout_row *rows, size_t count, pawl_arena *arena,
                             pawl_error *error)
{
    pawl_event_append    append = {.unit = 0};
    pawl_time            now    = pawl_clock_now(NULL);
    pawl_timeout_settle *items  = pawl_arena_take(arena, count * sizeof *items);
    if (items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu timeouts", count);
    for (size_t i = 0; i < count; i++)
        items[i] = settle_of(fields, to, &rows[i], now);
    pawl_code code = make_event(fields, rows, count, now, arena, &append, error);
    if (code != PAWL_OK)
        return code;
    pawl_changes changes = {.now            = now,
                            .unit_count     = 1,
                            .group_count    = 1,
                            .event_append   = {&append, 1},
                            .timeout_settle = {items, count}};
    return pawl_store_commit(store, &changes, NULL, error);
}

static pawl_code settle_rows(const pawl__timeout_fields *fields, pawl_time to, pawl_store *store,
                             const pawl_timeout_rows *rows, pawl_error *error)
{
    const settle_kind *kind  = &kinds[way_of(fields)];
    size_t             done  = 0;
    pawl_code          code  = PAWL_OK;
    pawl_arena        *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    while (code == PAWL_OK && done < rows->count) {
        size_t left  = rows->count - done;
        size_t count = left < COMMIT_ROWS ? left : COMMIT_ROWS;
        pawl_arena_reset(arena);
        code = commit_rows(fields, to, store, rows->items + done, count, arena, error);
        if (code == PAWL_OK)
            done += count;
        if (code == PAWL_OK && fields->is_all)
            pawl__progress(kind->done, (int64_t)done, (int64_t)rows->count);
    }
    if (fields->is_all)
        pawl__progress_end((int64_t)done);
    pawl_arena_destroy(arena);
    if (code == PAWL_OK || done == 0)
        return code;
    return pawl_error_wrap(error, code, "after %zu of %zu timeouts were %s", done, rows->count,
                           kind->done);
}

/* ---- What is asked and said ------------------------------------------------------ */

static pawl_code ask(const pawl__timeout_fields *fields, size_t count, pawl_error *error)
{
    const settle_kind *kind = &kinds[way_of(fields)];
    char               url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 100], action[40];
    if (!fields->is_all || fields->is_agreed || count == 0)
        return PAWL_OK;
    snprintf(question, sizeof question, "%s %zu timeout%s of %s%s?", kind->question, count,
             count == 1 ? "" : "s", pawl__masked(fields->at.store, url, sizeof url), kind->ending);
    snprintf(action, sizeof action, "%s --all", kind->name);
    return pawl__agree(action, kind->done, question, error);
}

static pawl_code print_count(const pawl__timeout_fields *fields, const char *key, const char *text,
                             size_t count, pawl_error *error)
{
    if (!fields->is_json) {
        printf("%s %zu timeout%s\n", text, count, count == 1 ? "" : "s");
        return PAWL_OK;
    }
    yyjson_mut_doc *doc = pawl__json_create();
    if (doc != NULL)
        yyjson_mut_obj_add_uint(doc, yyjson_mut_doc_get_root(doc), key, count);
    return pawl__json_print(doc, stdout, error);
}

pawl_code pawl__timeout_settle(const void *context, pawl_store *store, pawl_arena *arena,
                               pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    const settle_kind          *kind   = &kinds[way_of(fields)];
    pawl__timeout_query         query;
    pawl_timeout_rows           rows = {.count = 0};
    char                        would[40];
    pawl_code                   code = pawl__timeout_query_read(fields, &query, error);
    if (code == PAWL_OK)
        code = pawl__timeout_select(fields, &query, store, arena, &rows, error);
    if (code == PAWL_OK && fields->is_dry) {
        snprintf(would, sizeof would, "would be %s:", kind->done);
        return print_count(fields, "matching", would, rows.count, error);
    }
    if (code == PAWL_OK)
        code = ask(fields, rows.count, error);
    if (code == PAWL_OK)
        code = settle_rows(fields, query.to, store, &rows, error);
    return code == PAWL_OK ? print_count(fields, kind->done, kind->done, rows.count, error) : code;
}
