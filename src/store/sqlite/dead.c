/* dead.c - dead letters, and subscriptions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/operations.h"

static void read_row(pawl__sqlite_call *call, pawl_dead_row *row)
{
    *row          = (pawl_dead_row){0};
    row->endpoint = pawl__sqlite_get_text(call);
    row->queue    = pawl__sqlite_get_text(call);
    row->code     = pawl__sqlite_get_text(call);
    row->error    = pawl__sqlite_get_text(call);
    row->attempts = (int32_t)pawl__sqlite_get_int(call);
    row->deaths   = (int32_t)pawl__sqlite_get_int(call);
    row->history  = pawl__sqlite_get_text(call);
    row->at       = pawl__sqlite_get_int(call);
    pawl__sqlite_get_message(call, &row->message);
}

pawl_code pawl__sqlite_dead_list(pawl_store *base, pawl_text endpoint, size_t count_max,
                                 pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    pawl__sqlite *store    = pawl__sqlite_of(base);
    size_t        capacity = 0;
    *rows                  = (pawl_dead_rows){0};
    pawl_code code         = pawl__sqlite_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, &store->connection,
                            endpoint.size != 0 ? PAWL__SQL_DEAD_LIST_ENDPOINT : PAWL__SQL_DEAD_LIST,
                            error);
    call.arena = arena;
    if (endpoint.size != 0)
        pawl__sqlite_put_text(&call, endpoint);
    pawl__sqlite_put_int(&call, count_max != 0 ? (int64_t)count_max : -1);
    while (pawl__sqlite_next(&call)) {
        pawl_dead_row *grown =
            pawl__sqlite_grow(&call, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        rows->items = grown;
        read_row(&call, &grown[rows->count++]);
    }
    return call.code;
}

/* Two texts that name a row. */
static pawl_code run_with_key(pawl__sqlite_writer *writer, int statement, pawl_text first,
                              pawl_text second, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection, statement, error);
    pawl__sqlite_put_text(&call, first);
    pawl__sqlite_put_text(&call, second);
    return pawl__sqlite_run(&call);
}

static pawl_code insert(pawl__sqlite_writer *writer, const pawl_dead_set *dead, pawl_error *error)
{
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, writer->connection, PAWL__SQL_DEAD_INSERT, error);
    pawl__sqlite_put_text(&call, dead->endpoint);
    pawl__sqlite_put_text(&call, dead->queue);
    pawl__sqlite_put_text(&call, dead->code);
    pawl__sqlite_put_text(&call, dead->error);
    pawl__sqlite_put_int(&call, dead->attempts);
    pawl__sqlite_put_int(&call, dead->deaths);
    pawl__sqlite_put_text(&call, dead->history);
    pawl__sqlite_put_int(&call, dead->at);
    pawl__sqlite_put_message(&call, &dead->message);
    return pawl__sqlite_run(&call);
}

pawl_code pawl__sqlite_apply_dead_set(pawl__sqlite_writer *writer, const void *change,
                                      pawl_error *error)
{
    const pawl_dead_set *dead = change;
    if (!dead->is_remove)
        return insert(writer, dead, error);
    pawl_code code =
        run_with_key(writer, PAWL__SQL_DEAD_DELETE, dead->endpoint, dead->message.id, error);
    if (code == PAWL_OK)
        code =
            run_with_key(writer, PAWL__SQL_INBOX_DELETE, dead->endpoint, dead->message.id, error);
    return code;
}

/* ---- Subscriptions ------------------------------------------------------ */

pawl_code pawl__sqlite_subscriptions(pawl_store *base, pawl_arena *arena, pawl_subscriptions *list,
                                     pawl_error *error)
{
    pawl__sqlite *store    = pawl__sqlite_of(base);
    size_t        capacity = 0;
    *list                  = (pawl_subscriptions){0};
    pawl_code code         = pawl__sqlite_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__sqlite_call call;
    pawl__sqlite_call_begin(&call, &store->connection, PAWL__SQL_SUBSCRIPTION_LIST, error);
    call.arena = arena;
    while (pawl__sqlite_next(&call)) {
        pawl_subscription *grown =
            pawl__sqlite_grow(&call, list->items, list->count, &capacity, sizeof *grown);
        if (grown == NULL)
            break;
        list->items            = grown;
        pawl_subscription *row = &grown[list->count++];
        row->type              = pawl__sqlite_get_text(&call);
        row->queue             = pawl__sqlite_get_text(&call);
    }
    return call.code;
}

pawl_code pawl__sqlite_apply_subscription_set(pawl__sqlite_writer *writer, const void *change,
                                              pawl_error *error)
{
    const pawl_subscription_set *set = change;
    return run_with_key(writer,
                        set->is_remove ? PAWL__SQL_SUBSCRIPTION_DELETE : PAWL__SQL_SUBSCRIPTION_ADD,
                        set->type, set->queue, error);
}
