/* front.c - the fronts of front.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/front.h"

#include "store/postgres/wire.h"

#include <string.h>

#define MARGIN PAWL_SECONDS(1) /* clocks differ, and commits take their time */
#define WHOLE_MS_MAX 3         /* a claim from the first row that takes less needs no front */
#define PAUSE_FACTOR 100
#define PAUSE_MS_MAX 60000

pawl__pg_front *pawl__pg_front_of(pawl__pg *store, pawl_text queue)
{
    for (size_t i = 0; i < store->front_count && i < PAWL__PG_QUEUES_MAX; i++)
        if (pawl_text_equal(
                (pawl_text){.data = store->fronts[i].queue, .size = store->fronts[i].queue_size},
                queue))
            return &store->fronts[i];
    pawl__pg_front *front = &store->fronts[store->front_count++ % PAWL__PG_QUEUES_MAX];
    *front                = (pawl__pg_front){.from        = PAWL_TIME_MIN,
                                             .due_max     = PAWL_TIME_MIN,
                                             .queue_due   = PAWL_TIME_MIN,
                                             .timeout_due = PAWL_TIME_MIN};
    if (queue.size < sizeof front->queue) {
        memcpy(front->queue, queue.data, queue.size);
        front->queue_size = queue.size;
    }
    return front;
}

pawl_time pawl__pg_front_begin(pawl__pg_front *front)
{
    int64_t now     = pawl__pg_clock_ms();
    front->begun_ms = now;
    return now >= front->whole_ms + front->pause_ms ? PAWL_TIME_MIN : front->from;
}

void pawl__pg_front_end(pawl__pg_front *front, pawl_time from, const pawl_queue_rows *rows)
{
    int64_t now = pawl__pg_clock_ms();
    if (from == PAWL_TIME_MIN) {
        int64_t took    = now - front->begun_ms;
        int64_t pause   = took < WHOLE_MS_MAX ? 0 : took * PAUSE_FACTOR;
        front->whole_ms = now;
        front->pause_ms = pause > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause;
    }
    if (rows->count > 0)
        front->from = pawl_time_add(rows->items[0].due, -MARGIN);
}
