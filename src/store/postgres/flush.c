/* flush.c - the flush row that each partition with deliveries has.
 *
 * The flush row is deleted with the last delivery, unless another delivery is being added at
 * that moment. The commit of that one is not visible yet, so row locks let one wait for the
 * other:
 *
 *     adds      insert the delivery; lock the row (key share), or insert it
 *     is done   lock the row (update); check for deliveries now
 *
 * The transaction that locks first is over, and its deliveries visible, when the other one goes
 * on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/operations.h"
#include "store/postgres/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Changes ------------------------------------------------------------ */

static const pawl__field set_fields[] = {
    PAWL__AS(flush_set, partition, TEXT), PAWL__AS(flush_set, due, TIME),
    PAWL__AS(flush_set, attempts, INT32), PAWL__AS(flush_set, is_dead, BOOL),
    PAWL__AS(flush_set, is_done, BOOL),   PAWL__AS(flush_set, error, ERROR_TEXT),
};

/* Orders by partition alone: the sets of one partition stay in their order. */
static int by_partition(const void *left, const void *right)
{
    const pawl_flush_set *l = left, *r = right;
    return pawl_text_compare(l->partition, r->partition);
}

/* The sum of the sets of each partition, in `sums`, of the sorted list: the last set has the values
 * to write; once the row is gone a set finds none. Returns how many partitions there are. */
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

/* Locks the rows that may be deleted. */
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
    pawl__sort_changes(items, count, by_partition);
    count = add_sets(items, count, sums);
    for (size_t i = 0; i < count; i++)
        items[i] = &sums[i];
    pawl_code       code  = send_locks(writer, sums, count);
    pawl__pg_write *write = NULL;
    if (code == PAWL_OK)
        write = pawl__pg_write_add(writer, PAWL__PG_FLUSH_SET, pawl_change_flush_set, items, count,
                                   NULL);
    if (write == NULL)
        return code != PAWL_OK ? code : PAWL_ENOMEM;
    pawl__pg_write_fields(write, set_fields, COUNT(set_fields));
    return pawl__pg_write_send(write);
}
