/* read.c - reading the rows of a statement through a connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/connection.h"

#include <string.h>

int64_t pawl__sql_limit(size_t count_max)
{
    return count_max != 0 && count_max < INT64_MAX ? (int64_t)count_max : INT64_MAX;
}

/* What could not be sent whole is flushed all the same: a part of it may be on its way. */
static pawl_code run(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                     pawl__sql_call **call, pawl_error *error)
{
    const pawl__sql_ops *ops     = pawl__sql_ops_of(store);
    pawl_code            code    = ops->send(store, asked, arena, call, error);
    pawl_code            flushed = ops->flush(store, code == PAWL_OK ? error : NULL);
    return code != PAWL_OK ? code : flushed;
}

pawl_code pawl__sql_read_call(pawl_store *store, pawl__sql_call *call, const pawl__sql_asked *asked,
                              pawl_arena *arena, pawl__sql_rows *rows, pawl_error *error)
{
    const pawl__sql_ops *ops      = pawl__sql_ops_of(store);
    size_t               capacity = 0;
    while (ops->next(call)) {
        char *grown = pawl_arena_grow(arena, rows->items, rows->count, &capacity, asked->row_size);
        if (grown == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for rows", ops->name);
        rows->items = grown;
        void *row   = grown + rows->count++ * asked->row_size;
        memset(row, 0, asked->row_size);
        ops->get(call, asked->columns, row);
    }
    return PAWL_OK;
}

pawl_code pawl__sql_read(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                         pawl__sql_rows *rows, pawl_error *error)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(store);
    pawl__sql_call      *call = NULL;
    *rows                     = (pawl__sql_rows){0};
    pawl_code code            = ops->ready(store, error);
    if (code == PAWL_OK)
        code = run(store, asked, arena, &call, error);
    if (code == PAWL_OK)
        code = pawl__sql_read_call(store, call, asked, arena, rows, error);
    pawl_code ended = ops->end(call);
    code            = code != PAWL_OK ? code : ended;
    if (code != PAWL_OK)
        *rows = (pawl__sql_rows){0};
    return code;
}

pawl_code pawl__sql_read_one(pawl_store *store, const pawl__sql_asked *asked, void *row,
                             pawl_error *error)
{
    const pawl__sql_ops *ops  = pawl__sql_ops_of(store);
    pawl__sql_call      *call = NULL;
    pawl_code            code = ops->ready(store, error);
    if (code == PAWL_OK)
        code = run(store, asked, NULL, &call, error);
    if (code == PAWL_OK && ops->next(call))
        ops->get(call, asked->columns, row);
    pawl_code ended = ops->end(call);
    return code != PAWL_OK ? code : ended;
}
