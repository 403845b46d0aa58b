/* dead.c - dead letters, and subscriptions.
 *
 * Both are sets of keys that a change puts in or takes out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void read_row(pawl__pg_call *call, pawl_dead_row *row)
{
    row->endpoint = pawl__pg_get_text(call);
    row->queue    = pawl__pg_get_text(call);
    row->code     = pawl__pg_get_text(call);
    row->error    = pawl__pg_get_text(call);
    row->attempts = (int32_t)pawl__pg_get_int(call);
    row->deaths   = (int32_t)pawl__pg_get_int(call);
    row->history  = pawl__pg_get_text(call);
    row->at       = pawl__pg_get_time(call);
    pawl__pg_get_message(call, &row->message);
}

pawl_code pawl__pg_dead_list(pawl_store *base, pawl_text endpoint, size_t count_max,
                             pawl_arena *arena, pawl_dead_rows *rows, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    *rows           = (pawl_dead_rows){0};
    pawl_code code  = pawl__pg_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_call call;
    pawl__pg_begin(&call, &store->main,
                   endpoint.size != 0 ? PAWL__SQL_DEAD_LIST_ENDPOINT : PAWL__SQL_DEAD_LIST, error);
    call.arena = arena;
    if (endpoint.size != 0)
        pawl__pg_put_text(&call, endpoint);
    pawl__pg_put_int(&call, count_max != 0 ? (int64_t)count_max : INT64_MAX);
    code = pawl__pg_run(&call);
    if (code == PAWL_OK)
        rows->items = pawl__pg_take_rows(&call, sizeof *rows->items);
    while (rows->items != NULL && pawl__pg_next(&call))
        read_row(&call, &rows->items[rows->count++]);
    pawl__pg_end(&call);
    return call.code;
}

pawl_code pawl__pg_subscriptions(pawl_store *base, pawl_arena *arena, pawl_subscriptions *list,
                                 pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    *list           = (pawl_subscriptions){0};
    pawl_code code  = pawl__pg_ready(store, error);
    if (code != PAWL_OK)
        return code;
    pawl__pg_call call;
    pawl__pg_begin(&call, &store->main, PAWL__SQL_SUBSCRIPTION_LIST, error);
    call.arena = arena;
    code       = pawl__pg_run(&call);
    if (code == PAWL_OK)
        list->items = pawl__pg_take_rows(&call, sizeof *list->items);
    while (list->items != NULL && pawl__pg_next(&call)) {
        pawl_subscription *row = &list->items[list->count++];
        row->type              = pawl__pg_get_text(&call);
        row->queue             = pawl__pg_get_text(&call);
    }
    pawl__pg_end(&call);
    return call.code;
}

/* ---- Putting in and taking out ------------------------------------------ */

typedef struct set_step {
    int                   statement;
    const pawl__pg_field *fields;
    size_t                field_count;
} set_step;

static pawl_code send_items(pawl__pg_writer *writer, const set_step *with, pawl_change_kind kind,
                            const void **items, size_t count)
{
    pawl__pg_step *step = pawl__pg_step_add(writer, with->statement, kind, items, count, NULL);
    if (step == NULL)
        return PAWL_ENOMEM;
    pawl__pg_step_fields(step, with->fields, with->field_count);
    return pawl__pg_step_send(step);
}

/* ---- Dead letters ------------------------------------------------------- */

static int compare_letters(const void *left, const void *right)
{
    const pawl_dead_set *a = left, *b = right;
    int                  order = pawl_text_compare(a->endpoint, b->endpoint);
    return order != 0 ? order : pawl_text_compare(a->message.id, b->message.id);
}

static int by_letter_way(const void *left, const void *right)
{
    const pawl_dead_set *a = left, *b = right;
    return a->is_remove - b->is_remove;
}

/* With a letter goes its inbox mark. */
static pawl_code send_letters(pawl__pg_writer *writer, const void **items, size_t count)
{
    static const pawl__pg_field all[] = {
        PAWL__PG_FIELD(dead_set, endpoint, TEXT),
        PAWL__PG_FIELD(dead_set, queue, TEXT),
        PAWL__PG_FIELD(dead_set, code, TEXT),
        PAWL__PG_FIELD(dead_set, error, ERROR_TEXT),
        PAWL__PG_FIELD(dead_set, attempts, INT32),
        PAWL__PG_FIELD(dead_set, deaths, INT32),
        PAWL__PG_FIELD(dead_set, history, ERROR_TEXT),
        PAWL__PG_FIELD(dead_set, at, TIME),
        PAWL__PG_MESSAGE_FIELDS(dead_set),
    };
    static const pawl__pg_field key[] = {
        PAWL__PG_FIELD(dead_set, endpoint, TEXT),
        PAWL__PG_FIELD(dead_set, message.id, TEXT),
    };
    static const set_step put     = {PAWL__PG_DEAD_ADD, all, COUNT(all)};
    static const set_step takes[] = {{PAWL__PG_DEAD_DROP, key, COUNT(key)},
                                     {PAWL__PG_INBOX_DROP, key, COUNT(key)}};
    const pawl_dead_set  *first   = items[0];
    if (!first->is_remove)
        return send_items(writer, &put, pawl_change_dead_set, items, count);
    pawl_code code = send_items(writer, &takes[0], pawl_change_dead_set, items, count);
    return code == PAWL_OK ? send_items(writer, &takes[1], pawl_change_dead_set, items, count)
                           : code;
}

pawl_code pawl__pg_send_dead_set(pawl__pg_writer *writer)
{
    return pawl__pg_send_waves(writer, pawl_change_dead_set, compare_letters, by_letter_way,
                               send_letters);
}

/* ---- Subscriptions ------------------------------------------------------ */

static int compare_pairs(const void *left, const void *right)
{
    const pawl_subscription_set *a = left, *b = right;
    int                          order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order : pawl_text_compare(a->queue, b->queue);
}

static int by_pair_way(const void *left, const void *right)
{
    const pawl_subscription_set *a = left, *b = right;
    return a->is_remove - b->is_remove;
}

static pawl_code send_pairs(pawl__pg_writer *writer, const void **items, size_t count)
{
    static const pawl__pg_field pair[] = {
        PAWL__PG_FIELD(subscription_set, type, TEXT),
        PAWL__PG_FIELD(subscription_set, queue, TEXT),
    };
    static const set_step        ways[] = {{PAWL__PG_SUBSCRIPTION_PUT, pair, COUNT(pair)},
                                           {PAWL__PG_SUBSCRIPTION_DROP, pair, COUNT(pair)}};
    const pawl_subscription_set *first  = items[0];
    return send_items(writer, &ways[first->is_remove], pawl_change_subscription_set, items, count);
}

pawl_code pawl__pg_send_subscription_set(pawl__pg_writer *writer)
{
    return pawl__pg_send_waves(writer, pawl_change_subscription_set, compare_pairs, by_pair_way,
                               send_pairs);
}
