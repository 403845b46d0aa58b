/* place.c - the places of place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/place.h"

#include "store/postgres/wire.h"

#include <string.h>

#define MARGIN PAWL_SECONDS(1) /* clocks differ, and commits take their time */
#define WHOLE_MS_MAX 3         /* a look at the whole queue that takes less costs nothing */
#define PAUSE_FACTOR 100
#define PAUSE_MS_MAX 60000

pawl__pg_place *pawl__pg_place_of(pawl__pg *store, pawl_text queue)
{
    for (size_t i = 0; i < store->place_count && i < PAWL__PG_QUEUES_MAX; i++)
        if (pawl_text_equal(
                (pawl_text){.data = store->places[i].queue, .size = store->places[i].queue_size},
                queue))
            return &store->places[i];
    pawl__pg_place *place = &store->places[store->place_count++ % PAWL__PG_QUEUES_MAX];
    *place                = (pawl__pg_place){.from        = PAWL_TIME_MIN,
                                             .due_max     = PAWL_TIME_MIN,
                                             .queue_due   = PAWL_TIME_MIN,
                                             .timeout_due = PAWL_TIME_MIN};
    if (queue.size < sizeof place->queue) {
        memcpy(place->queue, queue.data, queue.size);
        place->queue_size = queue.size;
    }
    return place;
}

pawl_time pawl__pg_place_begin(pawl__pg_place *place)
{
    int64_t now     = pawl__pg_clock_ms();
    place->begun_ms = now;
    return now >= place->whole_ms + place->pause_ms ? PAWL_TIME_MIN : place->from;
}

void pawl__pg_place_end(pawl__pg_place *place, pawl_time from, const pawl_queue_rows *rows)
{
    int64_t now = pawl__pg_clock_ms();
    if (from == PAWL_TIME_MIN) {
        int64_t took    = now - place->begun_ms;
        int64_t pause   = took < WHOLE_MS_MAX ? 0 : took * PAUSE_FACTOR;
        place->whole_ms = now;
        place->pause_ms = pause > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause;
    }
    if (rows->count > 0)
        place->from = pawl_time_add(rows->items[0].due, -MARGIN);
}
