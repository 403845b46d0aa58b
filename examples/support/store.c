/* store.c - error texts, schema verbs, and rows left at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/store.h"

#include <string.h>

/* The part of a URL that an error text may contain: without scheme, parameters and passwords. */
static pawl_text path_of(const char *url)
{
    const char *path = strchr(url, ':');
    path             = path != NULL ? path + 1 : url;
    return (pawl_text){.data = path, .size = strcspn(path, "?")};
}

pawl_code example_store_wrap(const char *url, pawl_code code, pawl_error *error)
{
    pawl_text path = path_of(url);
    if (path.size != 0 && memmem(error->text, strlen(error->text), path.data, path.size) != NULL)
        return code;
    pawl_arena *arena  = pawl_arena_create(0);
    pawl_text   masked = arena != NULL ? pawl_url_masked(url, arena) : (pawl_text){0};
    pawl_error_wrap(error, code, "%.*s", PAWL_TEXT_ARGS(masked));
    pawl_arena_destroy(arena);
    return code;
}

static void ignore_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

pawl_code example_store_schema(const char *url, pawl_schema_verb verb, const pawl_schema_spec *spec,
                               pawl_error *error)
{
    pawl_code code = pawl_store_schema(url, verb, spec, ignore_line, NULL, error);
    return code == PAWL_OK ? code : example_store_wrap(url, code, error);
}

size_t example_store_left(const pawl_stats *stats, example_left left[EXAMPLE_LEFT_MAX])
{
    size_t  count  = 0;
    int64_t queued = 0;
    for (size_t i = 0; i < stats->queue_count; i++)
        queued += stats->queues[i].ready + stats->queues[i].scheduled;
    const example_left all[EXAMPLE_LEFT_MAX] = {
        {"messages in a queue", queued},
        {"timeouts", stats->timeouts_due + stats->timeouts_pending},
        {"outbox rows", stats->outbox_pending + stats->outbox_blocked},
        {"dead outbox rows", stats->outbox_dead},
        {"messages in the aggregator", stats->aggregator_rows},
        {"dead flushes", stats->flushes_dead},
        {"dead letters", stats->dead},
    };
    for (size_t i = 0; i < EXAMPLE_LEFT_MAX; i++)
        if (all[i].count != 0)
            left[count++] = all[i];
    return count;
}

pawl_code example_store_stays(const char *url, pawl_error *error)
{
    if (strncmp(url, "memory:", strlen("memory:")) != 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EINVAL,
                          "'%s' is gone with the process that is killed; it needs a store that "
                          "stays",
                          url);
}
