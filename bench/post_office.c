/* post_office.c - sends through the broker's outbound transport, and takes through its intake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "post_office.h"

#include "pawl/inbound.h"

#include <stdlib.h>
#include <string.h>

#define TAKE_COUNT 1000
#define QUIET_TIME PAWL_SECONDS(5) /* no message for so long: there are no more */

/* ---- Sending -------------------------------------------------------------- */

pawl_code pawl__bench_post_office_begin(pawl__bench_post_office *office, const char *url,
                                        const char *queue, pawl_error *error)
{
    const pawl_transport_ops *ops = pawl_transport_find(url);
    *office = (pawl__bench_post_office){.arena = pawl_arena_create(0), .queue = queue};
    pawl_random_seed(&office->random, (uint64_t)pawl__bench_clock());
    office->outbound = pawl_allocate(ops->transport_size);
    if (office->arena == NULL || office->outbound == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a sender");
    office->outbound->ops = ops;
    return ops->open(office->outbound, url, NULL, error);
}

void pawl__bench_post_office_end(pawl__bench_post_office *office)
{
    if (office->outbound != NULL && office->outbound->ops != NULL)
        office->outbound->ops->close(office->outbound);
    pawl_free(office->outbound);
    pawl_arena_destroy(office->arena);
    *office = (pawl__bench_post_office){.outbound = NULL};
}

static pawl_code make_item(pawl__bench_post_office *office, const pawl__bench_job *job,
                           int64_t order, int64_t step, pawl_delivery *item, pawl_error *error)
{
    char      id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_time now = pawl_clock_now(NULL);
    pawl_uuid_format(pawl_uuid_v7(&office->random, now), id);
    *item              = (pawl_delivery){.queue = pawl_text_of(office->queue), .due = now};
    item->message.id   = pawl_arena_text(office->arena, pawl_text_of(id));
    item->message.type = pawl_text_of(pawl_record_type(PAWL_RECORD_OF(bench_step)()));
    item->message.correlation_id = item->message.id;
    if (item->message.id.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a message");
    return pawl__bench_step_body(office->arena, job->seed, order, step, &item->message.body, error);
}

pawl_code pawl__bench_post_office_send(pawl__bench_post_office *office, const pawl__bench_job *job,
                                       const int64_t *orders, int64_t first, size_t count,
                                       pawl_error *error)
{
    pawl_arena_reset(office->arena);
    pawl_delivery *items = pawl_arena_take(office->arena, count * sizeof *items);
    pawl_code      code =
        items != NULL ? PAWL_OK : pawl_error_set(error, PAWL_ENOMEM, "no memory for messages");
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        code = make_item(office, job, orders[i], first + (int64_t)i, &items[i], error);
    if (code == PAWL_OK)
        code = office->outbound->ops->deliver(office->outbound, items, count, office->arena, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (items[i].outcome != PAWL_ATTEMPT_SUCCESS)
            code = pawl_error_set(error, PAWL_EPERSIST, "a message did not arrive: %.*s",
                                  PAWL_TEXT_ARGS(items[i].error));
    return code;
}

/* ---- Queues --------------------------------------------------------------- */

/* Close follows every open, failed or not. */
static pawl_code open_queue(const char *url, const char *queue, pawl_inbound **inbound,
                            pawl_error *error)
{
    const pawl_inbound_ops *ops     = NULL;
    pawl_inbound_options    options = {
           .options_size = sizeof options, .queue = queue, .prefetch = (size_t)2 * TAKE_COUNT};
    pawl_code code = pawl_inbound_find(url, &ops, error);
    *inbound       = code == PAWL_OK ? pawl_allocate(ops->inbound_size) : NULL;
    if (code == PAWL_OK && *inbound == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for a reader");
    if (code != PAWL_OK)
        return code;
    (*inbound)->ops = ops;
    return ops->open(*inbound, url, &options, error);
}

static void close_queue(pawl_inbound *inbound)
{
    if (inbound != NULL)
        inbound->ops->close(inbound);
    pawl_free(inbound);
}

pawl_code pawl__bench_queue_make(const char *url, const char *queue, pawl_error *error)
{
    pawl_take     by      = {.count_max = 1, .size_max = 1, .wake_fd = -1};
    pawl_takings  takings = {.count = 0};
    pawl_inbound *inbound = NULL;
    pawl_arena   *arena   = pawl_arena_create(0);
    pawl_code     code    = arena != NULL ? open_queue(url, queue, &inbound, error)
                                          : pawl_error_set(error, PAWL_ENOMEM, "no memory");
    if (code == PAWL_OK)
        code = inbound->ops->take(inbound, &by, arena, &takings, error);
    close_queue(inbound);
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl__bench_queue_remove(const char *url, const char *queue, pawl_error *error)
{
    pawl_inbound *inbound = NULL;
    pawl_code     code    = open_queue(url, queue, &inbound, error);
    if (code == PAWL_OK)
        code = inbound->ops->remove(inbound, error);
    close_queue(inbound);
    return code;
}

/* ---- Counting ------------------------------------------------------------- */

typedef struct id_text {
    char text[PAWL_UUID_TEXT_SIZE];
} id_text;

static int compare_ids(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(id_text));
}

static int64_t count_distinct(id_text *ids, size_t count)
{
    int64_t distinct = count > 0;
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        distinct += compare_ids(&ids[i - 1], &ids[i]) != 0;
    return distinct;
}

/* The count stops at one message more than wanted: that tells that there are too many. */
static pawl_code take_ids(pawl_inbound *inbound, id_text *ids, size_t room, size_t *count,
                          pawl_error *error)
{
    pawl_take   by      = {.count_max = TAKE_COUNT, .size_max = PAWL_CLAIM_SIZE_MAX, .wake_fd = -1};
    pawl_code   code    = PAWL_OK;
    bool        goes_on = true;
    pawl_arena *arena   = pawl_arena_create(0);
    if (arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for messages");
    while (code == PAWL_OK && goes_on) {
        pawl_takings takings = {.count = 0};
        pawl_arena_reset(arena);
        by.wait = *count + 1 < room ? QUIET_TIME : 0;
        code    = inbound->ops->take(inbound, &by, arena, &takings, error);
        if (code == PAWL_OK)
            code = inbound->ops->settle(inbound, takings.items, takings.count, error);
        for (size_t i = 0; code == PAWL_OK && i < takings.count && *count < room; i++)
            if (takings.items[i].message.id.size == sizeof(id_text))
                memcpy(ids[(*count)++].text, takings.items[i].message.id.data, sizeof(id_text));
        goes_on = takings.count > 0 && *count < room;
        if (code == PAWL_OK)
            code = pawl__bench_go_on(error);
    }
    pawl_arena_destroy(arena);
    return code;
}

pawl_code pawl__bench_queue_count(const char *url, const char *queue, int64_t wanted,
                                  int64_t *found, pawl_error *error)
{
    size_t        room    = (size_t)wanted + 1;
    size_t        count   = 0;
    pawl_inbound *inbound = NULL;
    id_text      *ids     = pawl_allocate(room * sizeof *ids);
    pawl_code     code    = ids != NULL ? open_queue(url, queue, &inbound, error)
                                        : pawl_error_set(error, PAWL_ENOMEM, "no memory for ids");
    if (code == PAWL_OK)
        code = take_ids(inbound, ids, room, &count, error);
    *found = code == PAWL_OK ? count_distinct(ids, count) : 0;
    close_queue(inbound);
    pawl_free(ids);
    return code;
}
