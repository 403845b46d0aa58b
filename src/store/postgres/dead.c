/* dead.c - dead letters, and subscriptions.
 *
 * Both are sets of keys that a change puts in or takes out. Where a set holds a
 * key more than once, the changes are applied in waves: puts, takes, and then
 * what was put in again.
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

/* What differs between the kinds. */
typedef struct set_kind {
    pawl_change_kind kind;
    int (*compare)(const void *left, const void *right);       /* two changes, by key */
    int (*compare_items)(const void *left, const void *right); /* the same for sorting */
    bool (*is_remove)(const void *change);
    set_step put;
    set_step takes[2];
    size_t   take_count;
} set_kind;

typedef struct wave {
    size_t number;
    bool   is_remove;
} wave;

static pawl_code send_items(pawl__pg_writer *writer, const set_kind *kind, const set_step *with,
                            const void **items, size_t count)
{
    pawl__pg_step *step =
        pawl__pg_step_add(writer, with->statement, kind->kind, items, count, NULL);
    if (step == NULL)
        return PAWL_ENOMEM;
    pawl__pg_step_fields(step, with->fields, with->field_count);
    return pawl__pg_step_send(step);
}

/* Of the sorted items, those of the wave. A key that is put in after it was
 * taken out begins the next. */
static const void **pick(pawl__pg_writer *writer, const set_kind *kind, const void **items,
                         size_t count, wave of, size_t *picked_count, size_t *left_count)
{
    const void **picked = pawl_arena_take(writer->arena, (count + 1) * sizeof *picked);
    size_t       number = 0;
    if (picked == NULL) {
        (void)pawl__pg_no_memory(writer->error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_remove = kind->is_remove(items[i]);
        if (i == 0 || kind->compare(items[i - 1], items[i]) != 0)
            number = 0;
        else if (kind->is_remove(items[i - 1]) && !is_remove)
            number++;
        if (number == of.number && is_remove == of.is_remove)
            picked[(*picked_count)++] = items[i];
        *left_count += number > of.number;
    }
    return picked;
}

static pawl_code send_wave(pawl__pg_writer *writer, const set_kind *kind, const void **items,
                           size_t count, size_t number, bool *is_last)
{
    size_t       put_count = 0, take_count = 0, left = 0;
    pawl_code    code  = PAWL_OK;
    const void **puts  = pick(writer, kind, items, count, (wave){number, false}, &put_count, &left);
    const void **takes = pick(writer, kind, items, count, (wave){number, true}, &take_count, &left);
    if (puts == NULL || takes == NULL)
        return PAWL_ENOMEM;
    if (put_count != 0)
        code = send_items(writer, kind, &kind->put, puts, put_count);
    for (size_t i = 0; code == PAWL_OK && take_count != 0 && i < kind->take_count; i++)
        code = send_items(writer, kind, &kind->takes[i], takes, take_count);
    *is_last = left == 0;
    return code;
}

static pawl_code send_set(pawl__pg_writer *writer, const set_kind *kind)
{
    size_t       count;
    bool         is_last = false;
    pawl_code    code    = PAWL_OK;
    const void **items   = pawl__pg_select(writer, kind->kind, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    pawl__pg_sort(items, count, kind->compare_items);
    for (size_t number = 0; code == PAWL_OK && !is_last; number++)
        code = send_wave(writer, kind, items, count, number, &is_last);
    return code;
}

/* Changes with the same key stay as they stand in the change set. */
static int compare_places(const void *left, const void *right)
{
    const char *a = left, *b = right;
    return (a > b) - (a < b);
}

/* ---- Dead letters ------------------------------------------------------- */

static int compare_letters(const void *left, const void *right)
{
    const pawl_dead_set *a = left, *b = right;
    int                  order = pawl_text_compare(a->endpoint, b->endpoint);
    return order != 0 ? order : pawl_text_compare(a->message.id, b->message.id);
}

static int compare_letter_items(const void *left, const void *right)
{
    const void *a = *(const void *const *)left, *b = *(const void *const *)right;
    int         order = compare_letters(a, b);
    return order != 0 ? order : compare_places(a, b);
}

static bool removes_letter(const void *change)
{
    const pawl_dead_set *dead = change;
    return dead->is_remove;
}

/* With a letter goes its inbox mark. */
pawl_code pawl__pg_send_dead_set(pawl__pg_writer *writer)
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
    static const set_kind kind = {
        .kind          = pawl_change_dead_set,
        .compare       = compare_letters,
        .compare_items = compare_letter_items,
        .is_remove     = removes_letter,
        .put           = {PAWL__PG_DEAD_ADD, all, COUNT(all)},
        .takes = {{PAWL__PG_DEAD_DROP, key, COUNT(key)}, {PAWL__PG_INBOX_DROP, key, COUNT(key)}},
        .take_count = 2,
    };
    return send_set(writer, &kind);
}

/* ---- Subscriptions ------------------------------------------------------ */

static int compare_pairs(const void *left, const void *right)
{
    const pawl_subscription_set *a = left, *b = right;
    int                          order = pawl_text_compare(a->type, b->type);
    return order != 0 ? order : pawl_text_compare(a->queue, b->queue);
}

static int compare_pair_items(const void *left, const void *right)
{
    const void *a = *(const void *const *)left, *b = *(const void *const *)right;
    int         order = compare_pairs(a, b);
    return order != 0 ? order : compare_places(a, b);
}

static bool removes_pair(const void *change)
{
    const pawl_subscription_set *set = change;
    return set->is_remove;
}

pawl_code pawl__pg_send_subscription_set(pawl__pg_writer *writer)
{
    static const pawl__pg_field pair[] = {
        PAWL__PG_FIELD(subscription_set, type, TEXT),
        PAWL__PG_FIELD(subscription_set, queue, TEXT),
    };
    static const set_kind kind = {
        .kind          = pawl_change_subscription_set,
        .compare       = compare_pairs,
        .compare_items = compare_pair_items,
        .is_remove     = removes_pair,
        .put           = {PAWL__PG_SUBSCRIPTION_PUT, pair, COUNT(pair)},
        .takes         = {{PAWL__PG_SUBSCRIPTION_DROP, pair, COUNT(pair)}},
        .take_count    = 1,
    };
    return send_set(writer, &kind);
}
