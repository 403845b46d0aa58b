/* unread_destinations.c - warns of a destination without a route and without an endpoint: a mistyped name, as a
 * rule, or a forgotten route. Messages sent there wait for ever, and nothing fails.
 *
 * The subscriptions tell the endpoints, since each has one for every type that it handles. A name
 * is looked up once, by the first worker that sends there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/worker/unread_destinations.h"

/* FNV-1a; two names with one hash are taken for one. */
static uint64_t hash_of(pawl_text name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Is the name new? Without room for more names, none is: nothing is logged of them. */
static bool is_new(pawl_endpoint *endpoint, pawl_text name)
{
    uint64_t hash = hash_of(name);
    size_t   i    = 0;
    pthread_mutex_lock(&endpoint->mutex);
    while (i < endpoint->sent_to_count && endpoint->sent_to[i] != hash)
        i++;
    bool is_added = i == endpoint->sent_to_count && i < PAWL__SENT_TO_MAX;
    if (is_added)
        endpoint->sent_to[endpoint->sent_to_count++] = hash;
    pthread_mutex_unlock(&endpoint->mutex);
    return is_added;
}

/* Not under a virtual clock: a test reads such queues itself. */
void pawl__unread_destination_warn(pawl__worker *worker, pawl_text queue)
{
    const pawl_subscriptions *list = NULL;
    if (worker->engine.is_virtual || !is_new(worker->endpoint, queue) ||
        worker->engine.subscriptions(worker, &list, NULL) != PAWL_OK)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (pawl_text_equal(list->items[i].queue, queue))
            return;
    pawl_log(
        PAWL_LOG_WARNING,
        "endpoint %s sends to '%.*s', which no endpoint of this store reads and no route names: "
        "such messages wait until an endpoint reads them; if the name is right, say so by a "
        "route: --route %.*s=#%.*s",
        worker->endpoint->model->endpoint.data, PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(queue),
        PAWL_TEXT_ARGS(queue));
}
