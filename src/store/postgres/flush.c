/* flush.c - the flush row that each partition with deliveries has.
 *
 * The row goes with the last delivery, unless another one is being added at that
 * moment. Its commit is not visible yet, so it is waited for:
 *
 *     adds      insert the delivery; lock the row (key share), or make it
 *     is done   lock the row (update); look whether there are deliveries now
 *
 * Whoever locks first is seen by the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Changes ------------------------------------------------------------ */

static const pawl__sql_field set_fields[] = {
    PAWL__SQL_FIELD(flush_set, partition, TEXT), PAWL__SQL_FIELD(flush_set, due, TIME),
    PAWL__SQL_FIELD(flush_set, attempts, INT32), PAWL__SQL_FIELD(flush_set, is_dead, BOOL),
    PAWL__SQL_FIELD(flush_set, is_done, BOOL),   PAWL__SQL_FIELD(flush_set, error, ERROR_TEXT),
};

/* Sets of one partition stay in their order. */
static int by_partition(const void *left, const void *right)
{
    const pawl_flush_set *l = left, *r = right;
    return pawl_text_compare(l->partition, r->partition);
}

/* One set for each partition, in `sums`, of the sorted list: the last says what
 * is written; once the row is gone a set finds none. Returns how many. */
static size_t add_sets(const void **items, size_t count, pawl_flush_set *sums)
{
    size_t sum_count = 0;
    for (size_t i = 0; i < count; i++) {
        pawl_flush_set  set  = *(const pawl_flush_set *)items[i];
        pawl_flush_set *last = sum_count != 0 ? &sums[sum_count - 1] : NULL;
        if (last == NULL || !pawl_text_equal(last->partition, set.partition)) {
            last = &sums[sum_count++];
        } else {
            set.is_done |= last->is_done;
        }
        *last = set;
    }
    return sum_count;
}

/* The rows that may go. */
static pawl_code send_locks(pawl__pg_writer *writer, const pawl_flush_set *sums, size_t count)
{
    size_t     done_count = 0;
    pawl_text *done       = pawl_arena_take(writer->arena, (count + 1) * sizeof *done);
    if (done == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++)
        if (sums[i].is_done)
            done[done_count++] = sums[i].partition;
    if (done_count == 0)
        return PAWL_OK;
    pawl__pg_write *write =
        pawl__pg_write_add(writer, PAWL__PG_FLUSH_LOCK, pawl_change_flush_set, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_texts(&write->request, done, done_count);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_flush_set(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_flush_set, NULL, NULL, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    pawl_flush_set *sums = pawl_arena_take(writer->arena, (count + 1) * sizeof *sums);
    if (sums == NULL)
        return pawl__pg_no_memory(writer->error);
    if (count == 0)
        return PAWL_OK;
    pawl__sql_sort(items, count, by_partition);
    count = add_sets(items, count, sums);
    for (size_t i = 0; i < count; i++)
        items[i] = &sums[i];
    pawl_code       code  = send_locks(writer, sums, count);
    pawl__pg_write *write = NULL;
    if (code == PAWL_OK)
        write = pawl__pg_write_add(writer, PAWL__PG_FLUSH_WRITE, pawl_change_flush_set, items,
                                   count, NULL);
    if (write == NULL)
        return code != PAWL_OK ? code : PAWL_ENOMEM;
    pawl__pg_write_fields(write, set_fields, COUNT(set_fields));
    return pawl__pg_write_send(write);
}
