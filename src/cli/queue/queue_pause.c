/* queue_pause.c - `pawl queue pause|resume`, who did it, and whether there is such a queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include <string.h>

pawl_code pawl__queue_info_find(pawl_store *store, const char *queue, pawl_time now,
                                pawl_arena *arena, pawl_queue_info *info, pawl_error *error)
{
    pawl_queue_infos infos = {.count = 0};
    pawl_code        code  = pawl_store_queue_infos(store, now, arena, &infos, error);
    for (size_t i = 0; code == PAWL_OK && i < infos.count; i++)
        if (pawl_text_equal(infos.items[i].queue, pawl_text_of(queue))) {
            *info = infos.items[i];
            return PAWL_OK;
        }
    return code != PAWL_OK ? code
                           : pawl_error_set(error, PAWL_ENOTFOUND,
                                            "there is no queue %s: it has no message, no dead "
                                            "letter and no consumer",
                                            queue);
}

/* ---- Who did what ---------------------------------------------------------- */

pawl_code pawl__queue_show(pawl_store *store, const pawl__view *view, const void *row,
                           pawl_text queue, pawl_error *error)
{
    pawl_event_rows events = {.count = 0};
    pawl_code       code   = pawl_store_queue_actions(store, queue, view->arena, &events, error);
    if (code != PAWL_OK)
        return code;
    const pawl__action_rows actions = pawl__actions_read(&events, "pawl.queue_", view->arena);
    return pawl__actions_show(view, row, &actions);
}

/* ---- Pause and resume ------------------------------------------------------ */

static pawl_code print_done(const pawl__queue_fields *fields, const char *done)
{
    if (fields->words.is_json)
        return pawl__facts_print(
            PAWL__FACTS({.key = "done", .text = done}, {.key = "queue", .text = fields->queue}));
    printf("%s queue %s\n", done, fields->queue);
    return PAWL_OK;
}

/* A queue that is so already keeps the name of the operator who did it. */
static void say_already(const pawl__queue_fields *fields, const pawl_queue_pause *pause)
{
    char at[PAWL_TIME_TEXT_SIZE + 1];
    if (!pause->is_paused) {
        fprintf(stderr, "queue %s is not paused\n", fields->queue);
        return;
    }
    pawl_time_format(pause->since, at);
    fprintf(stderr, "queue %s is paused since %s, by %.*s\n", fields->queue, at,
            PAWL_TEXT_ARGS(pause->by));
}

/* A paused queue that nothing names any more can be resumed; another is a slip of the pen. */
static pawl_code check_known(pawl_store *store, const pawl__queue_fields *fields,
                             pawl_queue_pause *pause, pawl_arena *arena, pawl_error *error)
{
    pawl_text       name = pawl_text_of(fields->queue);
    pawl_queue_info info;
    pawl_code       code = pawl_store_queue_pause_find(store, name, arena, pause, error);
    if (code != PAWL_OK || pause->is_paused)
        return code;
    return pawl__queue_info_find(store, fields->queue, pawl_clock_now(NULL), arena, &info, error);
}

pawl_code pawl__queue_settle(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl__queue_fields *fields   = context;
    bool                      is_pause = strcmp(fields->words.action, "pause") == 0;
    pawl_text                 name     = pawl_text_of(fields->queue);
    pawl_text                 reason =
        fields->words.reason != NULL ? pawl_text_of(fields->words.reason) : PAWL_TEXT("");
    pawl_time        now   = pawl_clock_now(NULL);
    pawl_queue_pause pause = {.is_paused = false};
    pawl_text        by    = pawl__user();
    pawl_code        code  = check_known(store, fields, &pause, arena, error);
    if (code != PAWL_OK)
        return code;
    if (pause.is_paused == is_pause)
        say_already(fields, &pause);
    else if (is_pause)
        code = pawl_store_queue_pause(store, name, by, reason, now, error);
    else
        code = pawl_store_queue_resume(store, name, by, reason, now, error);
    return code == PAWL_OK ? print_done(fields, is_pause ? "paused" : "resumed") : code;
}
