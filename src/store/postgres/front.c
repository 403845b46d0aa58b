/* front.c - chooses the due time at which a claim begins: see front.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/front.h"
#include "store/core/wait.h"

#include "store/postgres/wire.h"

#include <string.h>

#define MARGIN PAWL_SECONDS(1) /* clocks differ, and commits take their time */
#define WHOLE_MS_MAX 3         /* a claim from the first row that takes less needs no front */
#define PAUSE_FACTOR 100
#define PAUSE_MS_MAX 60000
#define EMPTY_PARTS 10  /* after an empty claim the pause is a tenth */
#define REST_MS_MIN 100 /* shortest wait: an idle handle must not spin */

pawl__pg_front *pawl__pg_front_find(pawl__pg *store, pawl_text queue)
{
    for (size_t i = 0; i < store->front_count && i < PAWL__PG_QUEUES_MAX; i++)
        if (pawl_text_equal(
                (pawl_text){.data = store->fronts[i].queue, .size = store->fronts[i].queue_size},
                queue))
            return &store->fronts[i];
    return NULL;
}

pawl__pg_front *pawl__pg_front_of(pawl__pg *store, pawl_text queue)
{
    pawl__pg_front *front = pawl__pg_front_find(store, queue);
    if (front != NULL)
        return front;
    front = &store->fronts[store->front_count++ % PAWL__PG_QUEUES_MAX];
    if (store->peek.front == front)
        store->peek.front = NULL;
    if (store->ahead.front == front)
        store->ahead.front = NULL;
    *front = (pawl__pg_front){.from        = PAWL_TIME_MIN,
                              .start       = PAWL_TIME_MIN,
                              .due_max     = PAWL_TIME_MIN,
                              .queue_due   = PAWL_TIME_MIN,
                              .timeout_due = PAWL_TIME_MIN};
    if (queue.size < sizeof front->queue) {
        memcpy(front->queue, queue.data, queue.size);
        front->queue_size = queue.size;
    }
    return front;
}

/* Did `due_max` advance like the monotonic clock since the last claim from the first row? Not so under a virtual
 * clock, or after the clock was set; then the front does not count. */
static bool moves_with_time(const pawl__pg_front *front, pawl_time due_max)
{
    int64_t passed = (front->begun_ms - front->whole_ms) * 1000;
    int64_t ahead  = due_max - front->whole_due_max - passed;
    return ahead >= -MARGIN && ahead <= MARGIN;
}

static int64_t pause_of(const pawl__pg_front *front)
{
    return front->owes_whole ? front->pause_ms / EMPTY_PARTS : front->pause_ms;
}

pawl_time pawl__pg_front_begin(pawl__pg_front *front, pawl_time due_max)
{
    front->begun_ms = pawl__clock_ms();
    bool is_whole =
        front->begun_ms >= front->whole_ms + pause_of(front) || !moves_with_time(front, due_max);
    return is_whole ? PAWL_TIME_MIN : front->from;
}

bool pawl__pg_front_is_too_far(pawl__pg_front *front, pawl_time from, const pawl_queue_rows *rows)
{
    if (rows->count != 0 || from == PAWL_TIME_MIN)
        return false;
    front->owes_whole = true;
    front->begun_ms   = pawl__clock_ms();
    return front->begun_ms >= front->whole_ms + pause_of(front);
}

void pawl__pg_front_end(pawl__pg_front *front, pawl_time from, pawl_time due_max,
                        const pawl_queue_rows *rows)
{
    front->start = from;
    if (from == PAWL_TIME_MIN) {
        int64_t took         = pawl__clock_ms() - front->begun_ms;
        int64_t pause        = took * PAUSE_FACTOR;
        front->whole_ms      = front->begun_ms;
        front->whole_due_max = due_max;
        front->pause_ms =
            took < WHOLE_MS_MAX ? 0 : took + (pause > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause);
        front->owes_whole = false;
    }
    if (rows->count > 0)
        front->from = pawl_time_add(rows->items[0].due, -MARGIN);
}

int64_t pawl__pg_front_rest_ms(const pawl__pg_front *front)
{
    if (front->start == PAWL_TIME_MIN)
        return INT64_MAX;
    int64_t rest = front->whole_ms + pause_of(front) - pawl__clock_ms();
    return rest > REST_MS_MIN ? rest : REST_MS_MIN;
}
