/* actions.c - the stream of what operators did with a thing, read and printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/base/actions.h"

#include <string.h>

#define ACTION(key, kind, member, ...) \
    PAWL__COLUMN(pawl__action_row, key, kind, member, __VA_ARGS__)
const pawl__column pawl__action_columns[] = {
    ACTION("action", TEXT, action, "action"),
    ACTION("at", TIME, at, "at"),
    ACTION("by", TEXT, by, "by"),
    ACTION("reason", TEXT, reason, "reason"),
    {.key = NULL},
};

/* Types of events that are stored with other words than those that are said. */
static const struct {
    const char *stored, *said;
} standard_words[] = {{"pawl.partition_released", "run_now"},
                      {"pawl.queue_buried", "dead_lettered"}};

/* "pawl.dead_retried" is "retried" here. */
static pawl__action_row action_of(const pawl_event *event, const char *prefix, pawl_arena *arena)
{
    size_t           size = strlen(prefix);
    pawl__action_row row  = {.action = event->type, .at = event->at};
    yyjson_doc *doc  = yyjson_read(event->headers.data, event->headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    row.by           = pawl__json_text(root, "by", arena);
    row.reason       = pawl__json_text(root, "reason", arena);
    yyjson_doc_free(doc);
    for (size_t i = 0; i < sizeof standard_words / sizeof standard_words[0]; i++)
        if (pawl_text_equal(event->type, pawl_text_of(standard_words[i].stored)))
            row.action = pawl_text_of(standard_words[i].said);
    if (row.action.size > size && memcmp(row.action.data, prefix, size) == 0) {
        row.action.data += size;
        row.action.size -= size;
    }
    return row;
}

pawl_code pawl__actions_read(const pawl_event_rows *events, const char *prefix, pawl_arena *arena,
                             pawl__action_rows *actions, pawl_error *error)
{
    actions->count = 0;
    actions->items = pawl_arena_take(arena, (events->count + 1) * sizeof *actions->items);
    if (actions->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu actions", events->count);
    for (size_t i = 0; i < events->count; i++)
        actions->items[actions->count++] = action_of(&events->items[i].event, prefix, arena);
    return PAWL_OK;
}

static pawl__view view_on(const pawl__view *view)
{
    pawl__view on = *view;
    on.columns    = pawl__action_columns;
    on.row_size   = sizeof(pawl__action_row);
    return on;
}

pawl_code pawl__actions_print(const pawl__view *view, const pawl__action_rows *actions,
                              pawl_error *error)
{
    pawl__view on = view_on(view);
    if (actions->count == 0)
        return PAWL_OK;
    fputc('\n', view->out);
    return pawl__rows_print(&on, actions->items, actions->count, error);
}

pawl_code pawl__actions_json(const pawl__view *view, yyjson_mut_doc *doc,
                             const pawl__action_rows *actions, pawl_error *error)
{
    pawl__view on = view_on(view);
    return pawl__rows_json(&on, doc, "actions", actions->items, actions->count, error);
}

static pawl_code show_json(const pawl__view *view, const void *row,
                           const pawl__action_rows *actions, pawl_error *error)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    pawl_code       code = PAWL_OK;
    if (doc != NULL && row != NULL)
        code = pawl__row_json(view, doc, yyjson_mut_doc_get_root(doc), row, error);
    if (doc != NULL && code == PAWL_OK)
        code = pawl__actions_json(view, doc, actions, error);
    if (code == PAWL_OK)
        return pawl__json_print(doc, view->out, error);
    yyjson_mut_doc_free(doc);
    return code;
}

pawl_code pawl__actions_show(const pawl__view *view, const void *row,
                             const pawl__action_rows *actions, pawl_error *error)
{
    if (view->is_json)
        return show_json(view, row, actions, error);
    pawl_code code = row != NULL ? pawl__row_page(view, row, error) : PAWL_OK;
    return code == PAWL_OK ? pawl__actions_print(view, actions, error) : code;
}

pawl_code pawl__reason_check(const char *reason, pawl_error *error)
{
    char      user[PAWL__USER_SIZE];
    pawl_code code = pawl__text_check("--reason", reason, error);
    size_t    size = strlen(pawl__user(user)) + (reason != NULL ? strlen(reason) : 0);
    if (code == PAWL_OK && size > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "--reason: with the user's name it has %zu bytes, limit %d", size,
                              PAWL_ERROR_TEXT_SIZE_MAX);
    return code;
}
