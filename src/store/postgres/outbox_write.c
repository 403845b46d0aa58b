/* outbox_write.c - the changes to outbox rows.
 *
 * No index has the source of a pending row. Holding back the rows behind a failed one is
 * therefore a walk over the pending rows behind it, one walk for all holds of a change set:
 * when a destination is down there are as many holds as rows in a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/rows.h"
#include "store/postgres/set.h"

/* ---- Settling ----------------------------------------------------------- */

static const pawl__field id_field       = PAWL__AS(outbox_settle, id, INT);
static const pawl__field duration_field = PAWL__AS(outbox_settle, duration, INT);

/* Whether the settles are equal but for their ids, as those of rows that were delivered at the
 * first attempt are. */
static bool are_alike(const void **items, size_t count)
{
    const pawl_outbox_settle *first    = items[0];
    bool                      is_alike = true;
    for (size_t i = 0; i < count && is_alike; i++) {
        const pawl_outbox_settle *other = items[i];
        is_alike = other->state == first->state && other->outcome == first->outcome &&
                   other->attempts == first->attempts && other->at == first->at &&
                   other->next_attempt == first->next_attempt && other->error.size == 0;
    }
    return is_alike;
}

/* Equal values go over the wire once, not once for each row. The history is a statement of its own:
 * it need not wait for the rows that were settled, since all of them are or the commit fails. */
static pawl_code send_alike(pawl__pg_writer *writer, const void **items, size_t count)
{
    const pawl_outbox_settle *first = items[0];
    pawl__pg_write           *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_SETTLE_ALIKE,
                                                         pawl_change_outbox_settle, items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_put_text(&write->request, pawl__state_words[first->state]);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_time(&write->request, first->next_attempt);
    pawl__pg_put_time(&write->request, first->at);
    pawl__pg_put_int(&write->request, (int64_t)count);
    pawl_code code = pawl__pg_write_send(write);
    if (code != PAWL_OK)
        return code;
    write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_ATTEMPT_ALIKE, pawl_change_outbox_settle,
                               items, count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_write_fields(write, &id_field, 1);
    pawl__pg_write_fields(write, &duration_field, 1);
    pawl__pg_put_int(&write->request, first->attempts);
    pawl__pg_put_text(&write->request, pawl__outcome_words[first->outcome]);
    pawl__pg_put_time(&write->request, first->at);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_settle(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_outbox_settle, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    return writer->is_guarded && count != 0 && are_alike(items, count)
               ? send_alike(writer, items, count)
               : pawl__pg_send_items(writer, pawl_change_outbox_settle, items, count);
}

/* ---- Holding back ------------------------------------------------------- */

/* The sum of all holds of a change set on one source. */
typedef struct sum {
    pawl_text source;
    bool      is_released; /* at first: its held rows become pending */
    bool      is_held;     /* and then: its rows behind `after` are held */
    int64_t   after;
} sum;

static int by_source(const void *left, const void *right)
{
    const pawl_outbox_block *l = left, *r = right;
    return pawl_text_compare(l->source, r->source);
}

/* A release undoes the holds before it in the set, whatever they held. */
static void add_hold(sum *all, const pawl_outbox_block *hold)
{
    if (hold->is_unblock) {
        all->is_released = true;
        all->is_held     = false;
    } else if (!all->is_held || hold->after < all->after) {
        all->is_held = true;
        all->after   = hold->after;
    }
}

static size_t add_holds(const void **items, size_t count, sum *sums)
{
    size_t sum_count = 0;
    for (size_t i = 0; i < count; i++) {
        const pawl_outbox_block *hold = items[i];
        if (hold->source.size == 0) /* such rows have no order: nothing is held behind them */
            continue;
        if (sum_count == 0 || !pawl_text_equal(sums[sum_count - 1].source, hold->source))
            sums[sum_count++] = (sum){.source = hold->source};
        add_hold(&sums[sum_count - 1], hold);
    }
    return sum_count;
}

static pawl_code send_releases(pawl__pg_writer *writer, const sum *sums, size_t count)
{
    size_t     source_count = 0;
    pawl_text *sources      = pawl_arena_take(writer->arena, (count + 1) * sizeof *sources);
    if (sources == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++)
        if (sums[i].is_released)
            sources[source_count++] = sums[i].source;
    if (source_count == 0)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_RELEASE,
                                               pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_texts(&write->request, sources, source_count);
    if (writer->store != NULL)
        pawl__pg_outbox_front_restart(&writer->store->outbox);
    return pawl__pg_write_send(write);
}

static pawl_code send_holds(pawl__pg_writer *writer, const sum *sums, size_t count)
{
    size_t     source_count = 0;
    int64_t    after        = INT64_MAX;
    pawl_text *sources      = pawl_arena_take(writer->arena, (count + 1) * sizeof *sources);
    int64_t   *afters       = pawl_arena_take(writer->arena, (count + 1) * sizeof *afters);
    if (sources == NULL || afters == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < count; i++) {
        if (!sums[i].is_held)
            continue;
        after                  = sums[i].after < after ? sums[i].after : after;
        sources[source_count]  = sums[i].source;
        afters[source_count++] = sums[i].after;
    }
    if (source_count == 0)
        return PAWL_OK;
    pawl__pg_write *write =
        pawl__pg_write_add(writer, PAWL__PG_OUTBOX_HOLD, pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_int(&write->request, after);
    pawl__pg_put_texts(&write->request, sources, source_count);
    pawl__pg_put_ints(&write->request, afters, source_count);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_block(pawl__pg_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_outbox_block, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    sum *sums = pawl_arena_take(writer->arena, (count + 1) * sizeof *sums);
    if (sums == NULL)
        return pawl__pg_no_memory(writer->error);
    pawl__sort_changes(items, count, by_source);
    size_t    sum_count = add_holds(items, count, sums);
    pawl_code code      = send_releases(writer, sums, sum_count);
    return code == PAWL_OK ? send_holds(writer, sums, sum_count) : code;
}
