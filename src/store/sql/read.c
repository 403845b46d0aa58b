/* read.c - sends a statement and reads its rows: all of them, the first, or those of one name after another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/connection.h"

#include <stdlib.h>
#include <string.h>

int64_t pawl__sql_limit(size_t count_max)
{
    uint64_t count = count_max; /* a size_t of 32 bits is always below */
    return count != 0 && count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

pawl_code pawl__sql_no_memory(const pawl_store *store, const char *what, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for %s",
                          pawl__sql_ops_of(store)->name, what);
}

/* Awaits the answer even if the request could not be sent completely, since the server may have a part of it. */
pawl_code pawl__sql_run(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                        pawl__sql_request **request, pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl_code            code    = ops->send(store, asked, arena, request, error);
    pawl_code            awaited = pawl__sql_await(store, code == PAWL_OK ? error : NULL);
    return code != PAWL_OK ? code : awaited;
}

static pawl_code read_rows(pawl_store *store, pawl__sql_request *request,
                           const pawl__sql_asked *asked, pawl_arena *arena, pawl_found *rows,
                           pawl_error *error)
{
    const pawl__sql_ops *ops      = pawl__sql_ops_of(store);
    size_t               capacity = 0;
    while (ops->next(request)) {
        char *grown = pawl_arena_grow(arena, rows->items, rows->count, &capacity, asked->row_size);
        if (grown == NULL)
            return pawl__sql_no_memory(store, "rows", error);
        rows->items = grown;
        void *row   = grown + rows->count++ * asked->row_size;
        memset(row, 0, asked->row_size);
        ops->get(request, asked->columns, row);
    }
    return PAWL_OK;
}

pawl_code pawl__sql_read(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                         pawl_found *rows, pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl__sql_request   *request = NULL;
    *rows                        = (pawl_found){0};
    pawl_code code               = pawl__sql_run(store, asked, arena, &request, error);
    if (code == PAWL_OK)
        code = read_rows(store, request, asked, arena, rows, error);
    pawl_code ended = ops->end(request);
    code            = code != PAWL_OK ? code : ended;
    if (code != PAWL_OK)
        *rows = (pawl_found){0};
    return code;
}

pawl_code pawl__sql_read_first(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                               void *row, pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl__sql_request   *request = NULL;
    pawl_code            code    = pawl__sql_run(store, asked, arena, &request, error);
    if (code == PAWL_OK && ops->next(request))
        ops->get(request, asked->columns, row);
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

pawl_code pawl__sql_next_name(pawl_store *store, int statement, pawl_text *name, pawl_arena *arena,
                              pawl_error *error)
{
    const pawl__sql_asked asked = {statement, &pawl__one_text, name, &pawl__one_text, 0};
    pawl_text             next  = PAWL_TEXT("");
    pawl_code             code  = pawl__sql_read_first(store, &asked, arena, &next, error);
    *name                       = next;
    return code;
}

pawl_code pawl__sql_read_more(pawl_store *store, pawl__sql_each *each, pawl_arena *arena,
                              pawl_found *rows, pawl_error *error)
{
    size_t     row_size = each->asked.row_size;
    pawl_found more     = {0};
    pawl_code  code     = pawl__sql_read(store, &each->asked, arena, &more, error);
    for (size_t i = 0; code == PAWL_OK && i < more.count; i++) {
        char *grown = pawl_arena_grow(arena, rows->items, rows->count, &each->capacity, row_size);
        if (grown == NULL)
            return pawl__sql_no_memory(store, "rows", error);
        memcpy(grown + rows->count++ * row_size, (const char *)more.items + i * row_size, row_size);
        rows->items = grown;
    }
    return code;
}

void pawl__sql_merge(const pawl__sql_each *each, pawl_found *rows)
{
    if (rows->count > 1)
        qsort(rows->items, rows->count, each->asked.row_size, each->compare);
    if (rows->count > (uint64_t)each->limit)
        rows->count = (size_t)each->limit;
}

pawl_code pawl__sql_read_each(pawl_store *store, pawl__sql_each *each, pawl_arena *arena,
                              pawl_found *rows, pawl_error *error)
{
    *rows          = (pawl_found){0};
    *each->name    = PAWL_TEXT("");
    pawl_code code = pawl__sql_next_name(store, each->names, each->name, arena, error);
    while (code == PAWL_OK && each->name->size != 0) {
        code = pawl__sql_read_more(store, each, arena, rows, error);
        if (code == PAWL_OK)
            code = pawl__sql_next_name(store, each->names, each->name, arena, error);
    }
    pawl__sql_merge(each, rows);
    return code;
}

pawl_code pawl__sql_execute(pawl_store *store, const pawl__sql_asked *asked, int64_t *changed,
                            pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl__sql_request   *request = NULL;
    pawl_code            code    = pawl__sql_run(store, asked, NULL, &request, error);
    if (code == PAWL_OK)
        *changed = ops->changed(request);
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}
