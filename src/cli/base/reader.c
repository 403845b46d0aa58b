/* reader.c - a line when messages go where nobody handles them just now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "pawl/store_calls.h"
#include "pawl/store_queue.h"

/* Endpoints are found by the queue of their name, others by a subscription: of these a worker of any
 * endpoint may be the reader. */
static pawl_code find_reader(pawl_store *store, pawl_text queue, pawl_arena *arena, bool *is_read,
                             pawl_error *error)
{
    pawl_subscriptions list          = {.count = 0};
    pawl_worker_info  *workers       = NULL;
    size_t             count         = 0;
    bool               is_subscribed = false;
    pawl_code          code          = pawl_store_subscriptions(store, arena, &list, error);
    if (code == PAWL_OK)
        code = pawl_store_worker_list(store, arena, &workers, &count, error);
    for (size_t i = 0; code == PAWL_OK && i < list.count; i++)
        is_subscribed |= pawl_text_equal(list.items[i].queue, queue);
    *is_read = false;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        *is_read |= workers[i].endpoint.size > 0 &&
                    (is_subscribed || pawl_text_equal(workers[i].endpoint, queue));
    return code;
}

pawl_code pawl__reader_warn(pawl_store *store, pawl_text queue, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_queue_pause pause   = {.is_paused = false};
    bool             is_read = false;
    pawl_code        code    = pawl_store_queue_pause_find(store, queue, arena, &pause, error);
    if (code == PAWL_OK && pause.is_paused) {
        fprintf(stderr,
                "pawl: queue %.*s is paused, by %.*s: what is in it waits for `pawl queue resume "
                "'%.*s'`\n",
                PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(pause.by), PAWL_TEXT_ARGS(queue));
        return PAWL_OK;
    }
    if (code == PAWL_OK)
        code = find_reader(store, queue, arena, &is_read, error);
    if (code == PAWL_OK && !is_read)
        fprintf(stderr, "pawl: queue %.*s has no consumer just now: what is in it waits\n",
                PAWL_TEXT_ARGS(queue));
    return code;
}

void pawl__queue_names_add(pawl__queue_names *names, pawl_text queue)
{
    for (size_t i = 0; i < names->count; i++)
        if (pawl_text_equal(names->items[i], queue))
            return;
    if (queue.size > 0 && names->count < PAWL__QUEUES_MAX)
        names->items[names->count++] = pawl__must_text(names->arena, queue);
}

pawl_code pawl__queue_names_warn(pawl__queue_names *names, pawl_store *store, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < names->count; i++)
        code = pawl__reader_warn(store, names->items[i], names->arena, error);
    return code;
}
