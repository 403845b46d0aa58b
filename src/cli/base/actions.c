/* actions.c - reads and prints the events that record operators' actions on a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

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

/* Event types whose name differs from the action that is printed. */
static const struct {
    const char *stored, *said;
} standard_words[] = {{"pawl.partition_released", "run_now"},
                      {"pawl.queue_buried", "dead_lettered"}};

/* "pawl.dead_retried" is "retried" here. */
static pawl__action_row action_of(const pawl_event *event, const char *prefix, pawl_arena *arena)
{
    pawl__action_row row = {.action = event->type, .at = event->at};
    yyjson_doc *doc  = yyjson_read(event->headers.data, event->headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    row.by           = pawl__json_text(root, "by", arena);
    row.reason       = pawl__json_text(root, "reason", arena);
    yyjson_doc_free(doc);
    for (size_t i = 0; i < sizeof standard_words / sizeof standard_words[0]; i++)
        if (pawl_text_equal(event->type, pawl_text_of(standard_words[i].stored)))
            row.action = pawl_text_of(standard_words[i].said);
    pawl_text behind = pawl__text_behind(row.action, prefix);
    if (behind.size > 0)
        row.action = behind;
    return row;
}

pawl__action_rows pawl__actions_read(const pawl_event_rows *events, const char *prefix,
                                     pawl_arena *arena)
{
    pawl__action_rows rows = {pawl__must_take(arena, (events->count + 1) * sizeof *rows.items), 0};
    while (rows.count < events->count) {
        rows.items[rows.count] = action_of(&events->items[rows.count].event, prefix, arena);
        rows.count++;
    }
    return rows;
}

pawl__inner_rows pawl__actions_inner(const pawl__action_rows *actions)
{
    return (pawl__inner_rows){"actions", pawl__action_columns, sizeof *actions->items,
                              actions->items, actions->count};
}

pawl_code pawl__actions_show(const pawl__view *view, const void *row, const pawl_event_rows *events,
                             const char *prefix)
{
    const pawl__action_rows actions = pawl__actions_read(events, prefix, view->arena);
    const pawl__inner_rows  inner   = pawl__actions_inner(&actions);
    return pawl__row_show(view, row, &inner, 1);
}
