/* op_queue.c - lists the queues of a store, from queue rows, subscriptions, workers and dead
 * letters; an operator pauses and resumes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_calls.h"
#include "store/core/core.h"

#include <stdlib.h>
#include <string.h>

typedef struct gathering {
    pawl_store        *store;
    pawl_arena        *arena;
    pawl_subscriptions list;
    pawl_queue_info   *items;
    size_t             count, capacity;
    pawl_error        *error;
} gathering;

/* The queue's entry; NULL when out of memory. */
static pawl_queue_info *info_of(gathering *g, pawl_text queue)
{
    pawl_queue_info *found = PAWL__ROW_OF(pawl_queue_info, queue, g->items, g->count, queue);
    if (found != NULL)
        return found;
    pawl_queue_info *grown =
        pawl_arena_grow(g->arena, g->items, g->count, &g->capacity, sizeof *grown);
    if (grown == NULL) {
        (void)pawl_error_set(g->error, PAWL_ENOMEM, "out of memory for %zu queues", g->count + 1);
        return NULL;
    }
    g->items        = grown;
    grown[g->count] = (pawl_queue_info){.queue = queue};
    return &grown[g->count++];
}

static pawl_code add_messages(gathering *g, pawl_time now)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_code  code  = pawl_store_stats(g->store, now, g->arena, &stats, g->error);
    for (size_t i = 0; code == PAWL_OK && i < stats.queue_count; i++) {
        const pawl_queue_stats *of   = &stats.queues[i];
        pawl_queue_info        *info = info_of(g, of->queue);
        if (info == NULL)
            return PAWL_ENOMEM;
        info->ready     = of->ready;
        info->scheduled = of->scheduled;
        info->oldest    = of->oldest;
    }
    return code;
}

static bool is_type(pawl_text type)
{
    return !pawl__text_begins(type, PAWL__ROUTE_TYPE) &&
           !pawl__text_begins(type, PAWL_QUEUE_READER) &&
           !pawl__text_begins(type, PAWL__RETENTION_TYPE);
}

static pawl_code add_types(gathering *g)
{
    pawl_code code = pawl_store_subscriptions(g->store, g->arena, &g->list, g->error);
    for (size_t i = 0; code == PAWL_OK && i < g->list.count; i++) {
        pawl_queue_info *info = info_of(g, g->list.items[i].queue);
        if (info == NULL)
            return PAWL_ENOMEM;
        info->types += is_type(g->list.items[i].type);
    }
    return code;
}

/* The queue that the worker reads: that of its endpoint's name or, if there is none, a queue with a subscription
 * to one of the worker's types. */
static pawl_text queue_of(const gathering *g, const pawl_worker_info *worker)
{
    if (PAWL__ROW_OF(pawl_subscription, queue, g->list.items, g->list.count, worker->endpoint) !=
        NULL)
        return worker->endpoint;
    for (size_t i = 0; i < g->list.count; i++) {
        pawl_text word =
            pawl_arena_printf(g->arena, "\"%.*s\"", PAWL_TEXT_ARGS(g->list.items[i].type));
        if (word.data != NULL && worker->types.size > 0 &&
            memmem(worker->types.data, worker->types.size, word.data, word.size) != NULL)
            return g->list.items[i].queue;
    }
    return worker->endpoint;
}

/* Skips workers without an endpoint: handles of senders and operators. */
static pawl_code add_workers(gathering *g)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    pawl_code         code  = pawl_store_worker_list(g->store, g->arena, &items, &count, g->error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (items[i].endpoint.size == 0)
            continue;
        pawl_queue_info *info = info_of(g, queue_of(g, &items[i]));
        if (info == NULL)
            return PAWL_ENOMEM;
        info->workers++;
    }
    return code;
}

static pawl_code add_letters(gathering *g)
{
    pawl_dead_counts counts = {.count = 0};
    pawl_code        code   = pawl_store_dead_count(g->store, g->arena, &counts, g->error);
    for (size_t i = 0; code == PAWL_OK && i < counts.count; i++) {
        if (counts.items[i].queue.size == 0)
            continue;
        pawl_queue_info *info = info_of(g, counts.items[i].queue);
        if (info == NULL)
            return PAWL_ENOMEM;
        info->dead = counts.items[i].count;
    }
    return code;
}

static pawl_code add_pauses(gathering *g)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < g->count; i++)
        code = pawl_store_queue_pause_find(g->store, g->items[i].queue, g->arena,
                                           &g->items[i].pause, g->error);
    return code;
}

static int by_name(const void *left, const void *right)
{
    const pawl_queue_info *a = left, *b = right;
    return pawl_text_compare(a->queue, b->queue);
}

pawl_code pawl_store_queue_infos(pawl_store *store, pawl_time now, pawl_arena *arena,
                                 pawl_queue_infos *infos, pawl_error *error)
{
    gathering g    = {.store = store, .arena = arena, .error = error};
    *infos         = (pawl_queue_infos){.count = 0};
    pawl_code code = add_messages(&g, now);
    if (code == PAWL_OK)
        code = add_types(&g);
    if (code == PAWL_OK)
        code = add_workers(&g);
    if (code == PAWL_OK)
        code = add_letters(&g);
    if (code == PAWL_OK)
        code = add_pauses(&g);
    if (code != PAWL_OK)
        return code;
    if (g.count > 1)
        qsort(g.items, g.count, sizeof *g.items, by_name);
    *infos = (pawl_queue_infos){.items = g.items, .count = g.count};
    return PAWL_OK;
}

#define NOUN "queue"

/* ---- The pause of a queue -------------------------------------------------- *
 *
 * The last event of the queue's stream says whether it is paused, and who did it, when and why; there is no
 * other row.
 *
 *     pawl.queue/billing   1 pawl.queue_paused   2 pawl.queue_resumed   3 pawl.queue_paused <- paused */

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
