/* subscribe.c - writes the rows of an endpoint in the table of subscriptions, when the endpoint is created.
 *
 *     TYPE                   for each message type that it handles, so that published messages reach its queue
 *     route:NAME             for each route, so that other endpoints leave timeouts for it to this one
 *     reader:NAME            the endpoint's name, if it differs from that of the queue
 *     inbox_retention:TIME   how long it keeps deduplication records; only if it handles messages
 *
 * Outdated rows of its queue with one of these prefixes are removed, also those of an endpoint that read the queue
 * earlier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/endpoint.h"

#include "base/text.h"
#include "pawl/store_queue.h"
#include "store/core/core.h"

typedef struct announcement {
    pawl_text              queue;
    pawl_subscriptions     list; /* as read from the store */
    pawl_arena            *arena;
    pawl_subscription_set *sets;
    size_t                 count;
} announcement;

static bool has(const pawl_text *names, size_t count, pawl_text name)
{
    size_t i = 0;
    while (i < count && !pawl_text_equal(names[i], name))
        i++;
    return i < count;
}

static void add(announcement *it, pawl_text type)
{
    for (size_t i = 0; i < it->list.count; i++)
        if (pawl_text_equal(it->list.items[i].type, type) &&
            pawl_text_equal(it->list.items[i].queue, it->queue))
            return;
    if (type.size <= PAWL_NAME_SIZE_MAX)
        it->sets[it->count++] = (pawl_subscription_set){.type = type, .queue = it->queue};
}

/* Makes the queue's subscriptions with the prefix equal to `names`. */
static pawl_code announce_kind(announcement *it, const char *prefix, const pawl_text *names,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_text type = pawl_arena_printf(it->arena, "%s%.*s", prefix, PAWL_TEXT_ARGS(names[i]));
        if (type.data == NULL)
            return PAWL_ENOMEM;
        add(it, type);
    }
    for (size_t i = 0; i < it->list.count; i++) {
        const pawl_subscription *item = &it->list.items[i];
        pawl_text                name = pawl__text_behind(item->type, prefix);
        if (name.size > 0 && pawl_text_equal(item->queue, it->queue) && !has(names, count, name))
            it->sets[it->count++] =
                (pawl_subscription_set){.is_remove = true, .type = item->type, .queue = it->queue};
    }
    return PAWL_OK;
}

static pawl_code announce_all(const pawl_endpoint *endpoint, announcement *it)
{
    const pawl__model *model  = endpoint->model;
    size_t             room   = model->type_count + endpoint->route_count + it->list.count + 2;
    bool               is_own = pawl_text_equal(model->endpoint, model->queue);
    pawl_text          routes[PAWL__ROUTES_MAX];
    pawl_text          kept =
        pawl_arena_printf(it->arena, "%lld", (long long)endpoint->settings.inbox_retention);
    it->sets = pawl_arena_take(it->arena, room * sizeof *it->sets);
    if (it->sets == NULL || kept.data == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < endpoint->route_count; i++)
        routes[i] = pawl_text_of(endpoint->routes[i].name);
    for (size_t i = 0; i < model->type_count; i++)
        add(it, model->types[i]->type);
    pawl_code code = announce_kind(it, PAWL__ROUTE_TYPE, routes, endpoint->route_count);
    if (code == PAWL_OK)
        code = announce_kind(it, PAWL_QUEUE_READER, &model->endpoint, !is_own);
    return code == PAWL_OK ? announce_kind(it, PAWL__RETENTION_TYPE, &kept, model->type_count > 0)
                           : code;
}

/* Uses a separate arena: the worker's would keep the memory for the subscriptions of all endpoints. */
pawl_code pawl__endpoint_subscribe(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl_store   *store   = endpoint->worker->store;
    announcement  it      = {.queue = endpoint->model->queue, .arena = pawl_arena_create(0)};
    pawl_refusals refused = {.arena = it.arena};
    pawl_changes  changes = {PAWL__ONE_UNIT(pawl__machine_now(endpoint))};
    pawl_code     code    = PAWL_ENOMEM;
    if (it.arena != NULL)
        code = pawl_store_subscriptions(store, it.arena, &it.list, error);
    if (code == PAWL_OK && announce_all(endpoint, &it) != PAWL_OK)
        code = PAWL_ENOMEM;
    if (code == PAWL_ENOMEM)
        pawl_error_set(error, code, "no memory for subscriptions");
    changes.subscription_set.items = it.sets;
    changes.subscription_set.count = it.count;
    if (code == PAWL_OK && it.count > 0)
        code = pawl_store_commit(store, &changes, &refused, error);
    pawl_arena_destroy(it.arena);
    return code;
}
