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

static void *field_of(const pawl__pg_page *page, size_t index, size_t offset)
{
    return (char *)page->items + index * page->item_size + offset;
}

static pawl_text *body_of(const pawl__pg_page *page, size_t index)
{
    return field_of(page, index, page->body);
}

static size_t find_end(const pawl__pg_page *page, size_t size_max)
{
    size_t size  = 0;
    size_t count = 0;
    for (; count < page->count && !PAWL_SIZE_IS_REACHED(size, size_max); count++) {
        const pawl_text *headers = field_of(page, count, page->headers);
        size += headers->size + body_of(page, count)->size;
    }
    return count;
}

static size_t count_missing(const pawl__pg_page *page)
{
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++)
        count += body_of(page, i)->data == NULL;
    return count;
}

static void put_missing(pawl__pg_request *request, const pawl__pg_page *page, size_t count,
                        pawl_text **bodies)
{
    size_t next = 0;
    pawl__pg_array_begin(request, PAWL__WIRE_INT, PAWL_VALUE_NONE, count);
    for (size_t i = 0; i < page->count; i++) {
        if (body_of(page, i)->data != NULL)
            continue;
        bodies[next++] = body_of(page, i);
        pawl__pg_array_put(request, PAWL__WIRE_INT, field_of(page, i, page->number));
    }
    pawl__pg_array_end(request);
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

pawl_code pawl__pg_page_end(pawl__pg_page *page, size_t size_max, pawl__pg_connection *connection,
                            int statement, pawl_arena *arena, pawl_error *error)
{
    pawl__pg_request request;
    page->count  = find_end(page, size_max);
    size_t count = count_missing(page);
    if (count == 0)
        return PAWL_OK;
    pawl_text **bodies = pawl_arena_take(arena, count * sizeof *bodies);
    if (bodies == NULL)
        return pawl__pg_no_memory(error);
    pawl__pg_begin(&request, connection, statement, error);
    put_missing(&request, page, count, bodies);
    pawl_code code = pawl__pg_run(&request);
    request.arena  = arena;
    return code == PAWL_OK ? read_bodies(&request, bodies, count) : code;
}
