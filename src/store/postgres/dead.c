/* dead.c - dead letters, subscriptions and history.
 *
 * Letters and subscriptions are sets of keys: a change puts a key in or takes it out. Lines of
 * history are only added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Putting in and taking out ------------------------------------------ */

typedef struct set_write {
    int                statement;
    const pawl__field *fields;
    size_t             field_count;
    pawl__pg_check_fn *check;
} set_write;

static pawl_code send_items(pawl__pg_writer *writer, const set_write *with, pawl_change_kind kind,
                            const void **items, size_t count)
{
    pawl__pg_write *write =
        pawl__pg_write_add(writer, with->statement, kind, items, count, with->check);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, with->fields, with->field_count);
    return pawl__pg_write_send(write);
}

/* ---- Dead letters ------------------------------------------------------- */

static int compare_letters(const void *left, const void *right)
{
    const pawl_dead_set *a = left, *b = right;
    int                  order = pawl_text_compare(a->endpoint, b->endpoint);
    return order != 0 ? order : pawl_text_compare(a->message.id, b->message.id);
}

static int way_of(const pawl_dead_set *letter)
{
    return letter->is_remove ? 1 + letter->is_checked + 2 * letter->keeps_record : 0;
}

static int by_letter_way(const void *left, const void *right)
{
    return way_of(left) - way_of(right);
}

static pawl_code check_taken(pawl__pg_writer *writer, pawl__pg_write *write)
{
    return pawl__pg_check_numbers(writer, write, pawl__why_no_letter);
}

/* The inbox mark goes with the letter, so that the message can be handled again. */
static pawl_code send_letters(pawl__pg_writer *writer, const void **items, size_t count)
{
    static const pawl__field all[] = {
        PAWL__AS(dead_set, endpoint, TEXT),
        PAWL__AS(dead_set, queue, TEXT),
        PAWL__AS(dead_set, code, TEXT),
        PAWL__AS(dead_set, error, ERROR_TEXT),
        PAWL__AS(dead_set, attempts, INT32),
        PAWL__AS(dead_set, crashes, INT32),
        PAWL__AS(dead_set, history, ERROR_TEXT),
        PAWL__AS(dead_set, at, TIME),
        PAWL__AS_MESSAGE(dead_set),
    };
    static const pawl__field key[] = {
        PAWL__AS(dead_set, endpoint, TEXT),
        PAWL__AS(dead_set, message.id, TEXT),
    };
    static const set_write put     = {PAWL__PG_DEAD_ADD, all, COUNT(all), NULL};
    static const set_write takes[] = {{PAWL__PG_DEAD_DELETE, key, COUNT(key), NULL},
                                      {PAWL__PG_DEAD_DELETE, key, COUNT(key), check_taken}};
    static const set_write unmark  = {PAWL__PG_INBOX_DELETE, key, COUNT(key), NULL};
    const pawl_dead_set   *first   = items[0];
    if (!first->is_remove)
        return send_items(writer, &put, pawl_change_dead_set, items, count);
    pawl_code code =
        send_items(writer, &takes[first->is_checked], pawl_change_dead_set, items, count);
    return code == PAWL_OK && !first->keeps_record
               ? send_items(writer, &unmark, pawl_change_dead_set, items, count)
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
    static const pawl__field pair[] = {
        PAWL__AS(subscription_set, type, TEXT),
        PAWL__AS(subscription_set, queue, TEXT),
    };
    static const set_write       ways[] = {{PAWL__PG_SUBSCRIPTION_ADD, pair, COUNT(pair), NULL},
                                           {PAWL__PG_SUBSCRIPTION_DELETE, pair, COUNT(pair), NULL}};
    const pawl_subscription_set *first  = items[0];
    return send_items(writer, &ways[first->is_remove], pawl_change_subscription_set, items, count);
}

pawl_code pawl__pg_send_subscription_set(pawl__pg_writer *writer)
{
    return pawl__pg_send_waves(writer, pawl_change_subscription_set, compare_pairs, by_pair_way,
                               send_pairs);
}

/* ---- History ------------------------------------------------------------ */

#define HISTORY(member, as) PAWL__AS(history_add, entry.member, as)

pawl_code pawl__pg_send_history_add(pawl__pg_writer *writer)
{
    static const pawl__field fields[] = {
        HISTORY(endpoint, TEXT), HISTORY(source, TEXT),      HISTORY(message_id, TEXT),
        HISTORY(type, TEXT),     HISTORY(kind, TEXT),        HISTORY(outcome, TEXT),
        HISTORY(version, INT),   HISTORY(attempts, INT32),   HISTORY(duration, INT),
        HISTORY(at, TIME),       HISTORY(error, ERROR_TEXT), HISTORY(out, TEXT),
    };
    static const set_write add   = {PAWL__PG_HISTORY_ADD, fields, COUNT(fields), NULL};
    size_t                 count = 0;
    const void **items = pawl__pg_select(writer, pawl_change_history_add, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    return count != 0 ? send_items(writer, &add, pawl_change_history_add, items, count) : PAWL_OK;
}
