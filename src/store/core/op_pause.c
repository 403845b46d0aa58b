/* op_pause.c - an operator pauses and resumes queues.
 *
 * The last event of the queue's stream says whether it is paused, and who did it, when and why; there is no
 * other row.
 *
 *     pawl.queue/billing   1 pawl.queue_paused   2 pawl.queue_resumed   3 pawl.queue_paused <- paused
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"

#define NOUN "queue"

/* ---- Looking ------------------------------------------------------------ */

/* Texts stay empty if the headers lack them, or have another format. */
static void read_event(const pawl_event *event, pawl_arena *arena, pawl_queue_pause *pause)
{
    yyjson_doc *doc  = pawl__texts_read(event->headers);
    yyjson_val *root = yyjson_doc_get_root(doc);
    *pause =
        (pawl_queue_pause){.is_paused = pawl_text_equal(event->type, PAWL_TEXT(PAWL_QUEUE_PAUSED)),
                           .since     = event->at,
                           .by        = pawl__texts_text(root, "by", arena),
                           .reason    = pawl__texts_text(root, "reason", arena)};
    yyjson_doc_free(doc);
}

pawl_code pawl_store_queue_pause_find(pawl_store *store, pawl_text queue, pawl_arena *arena,
                                      pawl_queue_pause *pause, pawl_error *error)
{
    const pawl_event_query last = {.is_backward = true, .count_max = 1};
    pawl_event_rows        rows = {.count = 0};
    *pause                      = (pawl_queue_pause){.is_paused = false};
    if (queue.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, NOUN ": the name is empty");
    pawl_code code =
        pawl__action_query(store, PAWL_QUEUE_STREAMS, queue, last, arena, &rows, error);
    if (code == PAWL_OK && rows.count > 0)
        read_event(&rows.items[0].event, arena, pause);
    return code;
}

/* ---- Pausing and resuming ------------------------------------------------ */

/* Writes nothing if the queue is paused (or running) already: the event keeps the name of the first operator. */
static pawl_code settle(pawl_store *store, const pawl__action *action, bool is_pause, pawl_time now,
                        pawl_error *error)
{
    pawl__act        act;
    pawl_queue_pause pause;
    pawl_code        code = pawl__act_begin(&act, store, action, now, error);
    if (code == PAWL_OK)
        code = pawl_store_queue_pause_find(store, action->name, act.arena, &pause, error);
    if (code == PAWL_OK && pause.is_paused != is_pause)
        code = pawl__act_commit(&act, pawl__texts_begin(), error);
    pawl_arena_destroy(act.arena);
    return code;
}

pawl_code pawl_store_queue_pause(pawl_store *store, pawl_text queue, pawl_text by, pawl_text reason,
                                 pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_QUEUE_STREAMS, NOUN, queue, PAWL_QUEUE_PAUSED, by, reason};
    return settle(store, &action, true, now, error);
}

pawl_code pawl_store_queue_resume(pawl_store *store, pawl_text queue, pawl_text by,
                                  pawl_text reason, pawl_time now, pawl_error *error)
{
    const pawl__action action = {PAWL_QUEUE_STREAMS, NOUN, queue, PAWL_QUEUE_RESUMED, by, reason};
    return settle(store, &action, false, now, error);
}
