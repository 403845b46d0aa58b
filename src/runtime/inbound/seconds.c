/* seconds.c - drops an unreadable message if an earlier message with its id is not handled yet. Otherwise its dead
 * letter would come with a deduplication record, which drops the earlier message. A message in flight whose row is
 * refused does not count as its own predecessor: without its dead letter it would be lost if its handler fails.
 *
 * Limit: does not see messages that another process of the endpoint has in flight without a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/inbound/intake.h"

#include "pawl/store_queue.h"

/* Is a row of this id in the endpoint's queue? */
static pawl_code has_row(pawl__intake *it, pawl_text id, pawl_arena *arena, bool *is_there,
                         pawl_error *error)
{
    pawl_queue_messages rows  = {.count = 0};
    pawl_queue_query    query = {
           .queue = it->endpoint->model->queue, .message_id = id, .count_max = 1};
    pawl_code code = pawl_store_queue_find(it->store, &query, arena, &rows, error);
    /* A connection that broke while idle is noticed only now: try once more. */
    if (code == PAWL_ELOST)
        code = pawl_store_queue_find(it->store, &query, arena, &rows, error);
    *is_there = rows.count > 0;
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code; /* the driver has no find */
}

/* Is there an earlier message with the dead letter's id that is not handled yet: in this commit, at a worker, or a
 * row? */
static pawl_code is_second(pawl__intake *it, const pawl_changes *changes, const pawl_taken *taken,
                           const pawl_dead_set *dead, pawl_arena *arena, bool *is,
                           pawl_error *error)
{
    *is = pawl__offers_has_other(&it->endpoint->offers, taken);
    for (size_t i = 0; i < changes->queue_send.count && !*is; i++)
        *is = changes->queue_send.items[i].unit < dead->unit &&
              pawl_text_equal(changes->queue_send.items[i].message.id, dead->message.id);
    return *is ? PAWL_OK : has_row(it, dead->message.id, arena, is, error);
}

pawl_code pawl__intake_drop_seconds(pawl__intake *it, pawl_changes *changes,
                                    const pawl_taken *taken, pawl_error *error)
{
    size_t      count = changes->dead_set.count, kept = 0;
    pawl_arena *arena = count > 0 ? pawl_arena_create(0) : NULL; /* holds a row at a time */
    pawl_code   code  = PAWL_OK;
    if (count > 0 && arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a query of a queue");
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl_dead_set dead    = changes->dead_set.items[i];
        bool          is_gone = false;
        pawl_arena_reset(arena);
        code = is_second(it, changes, &taken[dead.unit], &dead, arena, &is_gone, error);
        if (code == PAWL_OK)
            pawl_log(PAWL_LOG_WARNING,
                     "endpoint %s: message %.*s from queue %s of the broker is %s: %.*s",
                     dead.endpoint.data, PAWL_TEXT_ARGS(dead.message.id), it->queue,
                     is_gone ? "dropped, as another one of its id is not handled yet"
                             : "a dead letter",
                     PAWL_TEXT_ARGS(dead.error));
        changes->dead_set.items[kept]    = dead;
        changes->inbox_entry.items[kept] = changes->inbox_entry.items[i];
        kept += !is_gone;
    }
    changes->dead_set.count = changes->inbox_entry.count = kept;
    pawl_arena_destroy(arena);
    return code;
}
