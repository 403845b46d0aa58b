/* page.c - the pages of page.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/page.h"

#include "pawl/message.h"

void pawl__pg_put_share(pawl__pg_request *request, size_t size_max, size_t count_max)
{
    uint64_t share = count_max != 0 ? size_max / count_max : 0;
    pawl__pg_put_int(request, size_max != 0 && share < INT64_MAX ? (int64_t)share : INT64_MAX);
}

void pawl__pg_get_size(pawl__pg_request *request, pawl_text *body)
{
    size_t size = (size_t)pawl__pg_get_int(request);
    if (size != body->size)
        *body = (pawl_text){.data = NULL, .size = size};
}

/* ---- The end of a page -------------------------------------------------- */

static size_t find_end(const pawl_queue_rows *rows, size_t size_max)
{
    size_t size  = 0;
    size_t count = 0;
    for (; count < rows->count && !PAWL_SIZE_IS_REACHED(size, size_max); count++) {
        const pawl_message *message = &rows->items[count].message;
        size += message->headers.size + message->body.size;
    }
    return count;
}

static size_t count_missing(const pawl_queue_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += rows->items[i].message.body.data == NULL;
    return count;
}

/* The bodies that did not come, and their rows' numbers. */
static void list_missing(const pawl_queue_rows *rows, pawl_text **bodies, int64_t *seqs)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].message.body.data != NULL)
            continue;
        bodies[count] = &rows->items[i].message.body;
        seqs[count++] = rows->items[i].seq;
    }
}

static pawl_code read_bodies(pawl__pg_request *request, pawl_text **bodies, size_t count)
{
    size_t left = count;
    while (pawl__pg_next(request)) {
        size_t number       = (size_t)pawl__pg_get_int(request);
        *bodies[number - 1] = pawl__pg_get_text(request);
        left--;
    }
    if (request->code == PAWL_OK && left > 0)
        request->code =
            pawl_error_set(request->error, PAWL_EBUSY,
                           "postgres: %zu of %zu rows went while they were read", left, count);
    return request->code;
}

pawl_code pawl__pg_page_end(pawl_queue_rows *rows, size_t size_max, pawl__pg_connection *connection,
                            pawl_arena *arena, pawl_error *error)
{
    pawl__pg_request request;
    rows->count  = find_end(rows, size_max);
    size_t count = count_missing(rows);
    if (count == 0)
        return PAWL_OK;
    pawl_text **bodies = pawl_arena_take(arena, count * sizeof *bodies);
    int64_t    *seqs   = pawl_arena_take(arena, count * sizeof *seqs);
    if (bodies == NULL || seqs == NULL)
        return pawl__pg_no_memory(error);
    list_missing(rows, bodies, seqs);
    pawl__pg_begin(&request, connection, PAWL__PG_QUEUE_BODIES, error);
    pawl__pg_put_ints(&request, seqs, count);
    pawl_code code = pawl__pg_run(&request);
    request.arena  = arena;
    return code == PAWL_OK ? read_bodies(&request, bodies, count) : code;
}
