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
static pawl_code send_alike(pawl__sql_writer *writer, const void **items, size_t count)
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

pawl_code pawl__pg_send_outbox_settle(pawl__sql_writer *writer)
{
    size_t       count;
    const void **items = pawl__pg_select(writer, pawl_change_outbox_settle, &count);
    if (items == NULL)
        return PAWL_ENOMEM;
    return writer->is_ahead && count != 0 && are_alike(items, count)
               ? send_alike(writer, items, count)
               : pawl__pg_send_items(writer, pawl_change_outbox_settle, items, count);
}

/* ---- Holding back ------------------------------------------------------- */

static pawl_code send_releases(pawl__sql_writer *writer, const pawl__sql_blocks *all)
{
    if (all->release_count == 0)
        return PAWL_OK;
    pawl__pg_write *write = pawl__pg_write_add(writer, PAWL__PG_OUTBOX_RELEASE,
                                               pawl_change_outbox_block, NULL, 0, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    PAWL__PG_PUT_COLUMN(&write->request, PAWL__WIRE_TEXT, all->releases, source,
                        all->release_count);
    if (!writer->is_enlisted)
        pawl__pg_outbox_front_restart(&pawl__pg_of(writer->store)->outbox);
    return pawl__pg_write_send(write);
}

static pawl_code send_holds(pawl__sql_writer *writer, const pawl__sql_blocks *all)
{
    static const pawl__field fields[] = {PAWL__AS(outbox_block, source, TEXT),
                                         PAWL__AS(outbox_block, after, INT)};
    int64_t                  after    = INT64_MAX;
    const void             **items =
        pawl_arena_take(pawl__pg_scratch(writer), (all->hold_count + 1) * sizeof *items);
    if (all->hold_count == 0)
        return PAWL_OK;
    if (items == NULL)
        return pawl__pg_no_memory(writer->error);
    for (size_t i = 0; i < all->hold_count; i++) {
        items[i] = all->holds[i];
        after    = all->holds[i]->after < after ? all->holds[i]->after : after;
    }
    pawl__pg_write *write = pawl__pg_write_add(
        writer, PAWL__PG_OUTBOX_HOLD, pawl_change_outbox_block, items, all->hold_count, NULL);
    if (write == NULL)
        return PAWL_ENOMEM;
    pawl__pg_put_int(&write->request, after);
    pawl__pg_write_fields(write, fields, 2);
    return pawl__pg_write_send(write);
}

pawl_code pawl__pg_send_outbox_block(pawl__sql_writer *writer)
{
    pawl__sql_blocks all;
    pawl_code code = pawl__sql_sum_blocks(writer, pawl__pg_scratch(writer), &all, writer->error);
    if (code == PAWL_OK)
        code = send_releases(writer, &all);
    return code == PAWL_OK ? send_holds(writer, &all) : code;
}
