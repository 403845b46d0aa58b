/* op_pause.c - queues that an operator paused.
 *
 * The last event of the queue's stream says whether it is paused: no row of its own, and who did it,
 * when and why stand there already.
 *
 *     pawl.queue/billing   1 pawl.queue_paused   2 pawl.queue_resumed   3 pawl.queue_paused <- paused
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

#define NOUN "queue"

/* ---- Looking ------------------------------------------------------------ */

/* Headers without a reason, or that another program wrote, leave the texts empty. */
static void read_event(const pawl_event *event, pawl_arena *arena, pawl_queue_pause *pause)
{
    yyjson_doc *doc  = pawl__object_read(event->headers);
    yyjson_val *root = yyjson_doc_get_root(doc);
    *pause =
        (pawl_queue_pause){.is_paused = pawl_text_equal(event->type, PAWL_TEXT(PAWL_QUEUE_PAUSED)),
                           .since     = event->at,
                           .by        = pawl__object_text(root, "by", arena),
                           .reason    = pawl__object_text(root, "reason", arena)};
    yyjson_doc_free(doc);
}

pawl_code pawl_store_queue_pause_find(pawl_store *store, pawl_text queue, pawl_arena *arena,
                                      pawl_queue_pause *pause, pawl_error *error)
{
    const pawl_event_query query = {.stream = pawl__action_stream(PAWL_QUEUE_STREAMS, queue, arena),
                                    .is_backward = true,
                                    .count_max   = 1};
    pawl_event_rows        rows  = {.count = 0};
    *pause                       = (pawl_queue_pause){.is_paused = false};
    if (queue.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, NOUN ": the name is empty");
    if (query.stream.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the name of a stream");
    pawl_code code = pawl_store_event_list(store, &query, arena, &rows, error);
    if (code == PAWL_OK && rows.count > 0)
        read_event(&rows.items[0].event, arena, pause);
    return code;
}

/* ---- Pausing and resuming ------------------------------------------------ */

/* Nothing is written where the queue is so already: whoever paused it first stays known. */
static pawl_code settle(pawl_store *store, const pawl__action *action, bool is_pause, pawl_time now,
                        pawl_arena *arena, pawl_error *error)
{
    pawl_event_append event;
    pawl_queue_pause  pause;
    pawl_changes      changes = {PAWL__ONE_UNIT(now), .event_append = {&event, 1}};
    pawl_code         code = pawl_store_queue_pause_find(store, action->name, arena, &pause, error);
    if (code != PAWL_OK || pause.is_paused == is_pause)
        return code;
    code = pawl__action_event(store, action, pawl__object_begin(), now, arena, &event, error);
    if (code == PAWL_OK)
        code = pawl_store_commit(store, &changes, NULL, error);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code, NOUN " %.*s", PAWL_TEXT_ARGS(action->name));
}

static pawl_code settle_alone(pawl_store *store, const pawl__action *action, bool is_pause,
                              pawl_time now, pawl_error *error)
{
    pawl_code code = pawl__action_check(action, error);
    if (code != PAWL_OK)
        return code;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    code = settle(store, action, is_pause, now, arena, error);
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl_store_queue_pause(pawl_store *store, pawl_text queue, pawl_text by, pawl_text reason,
                                 pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_QUEUE_STREAMS, NOUN, queue, PAWL_QUEUE_PAUSED, by, reason};
    return settle_alone(store, &action, true, now, error);
}

pawl_code pawl_store_queue_resume(pawl_store *store, pawl_text queue, pawl_text by,
                                  pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_QUEUE_STREAMS, NOUN, queue, PAWL_QUEUE_RESUMED, by, reason};
    return settle_alone(store, &action, false, now, error);
}
