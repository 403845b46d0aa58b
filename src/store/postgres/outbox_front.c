/* outbox_front.c - chooses the id at which a claim begins: see outbox_front.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/outbox_front.h"
#include "store/core/wait.h"

#include "store/postgres/wire.h"

#include <string.h>

/* The horizon moves after this many rows, since each move draws a transaction id. */
#define STEP PAWL_BATCH_MESSAGES_MAX
#define WHOLE_MS_MAX 3 /* a claim from the first row that takes less needs no front */
#define PAUSE_FACTOR 100
#define PAUSE_MS_MAX 60000

static bool is_of(const pawl__pg_outbox_front *front, pawl_text endpoint)
{
    return front->is_claimed &&
           pawl_text_equal((pawl_text){.data = front->endpoint, .size = front->endpoint_size},
                           endpoint);
}

/* A handle claims for one endpoint as a rule, so it keeps one front. */
static void reset(pawl__pg_outbox_front *front, pawl_text endpoint)
{
    *front =
        (pawl__pg_outbox_front){.is_claimed = true, .waiting = INT64_MAX, .later = PAWL_TIME_MAX};
    if (endpoint.size < sizeof front->endpoint) {
        if (endpoint.size != 0)
            memcpy(front->endpoint, endpoint.data, endpoint.size);
        front->endpoint_size = endpoint.size;
    }
}

/* A transaction id is asked for only once claims from the first row take long. */
void pawl__pg_outbox_front_begin(pawl__pg_outbox_front *front, pawl_text endpoint, pawl_time now,
                                 pawl__pg_outbox_scan *scan)
{
    if (!is_of(front, endpoint))
        reset(front, endpoint);
    int64_t from    = pawl__pg_horizon_begin(&front->horizon);
    front->begun_ms = pawl__clock_ms();
    scan->far =
        front->pause_ms != 0 && front->horizon.seen == 0 ? front->horizon.from + STEP : INT64_MAX;
    scan->start = now >= front->later && front->waiting < from ? front->waiting : from;
    if (front->begun_ms >= front->whole_ms + front->pause_ms)
        scan->start = 0;
}

void pawl__pg_outbox_front_end(pawl__pg_outbox_front *front, const pawl__pg_outbox_scan *scan)
{
    int64_t now  = pawl__clock_ms();
    int64_t took = now - front->begun_ms;
    if (scan->start == 0) {
        int64_t pause   = took < WHOLE_MS_MAX ? 0 : took * PAUSE_FACTOR;
        front->whole_ms = now;
        front->pause_ms = pause > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause;
    }
    /* Waiting rows before the start were not scanned: what is known of them stays valid. */
    bool is_all = scan->start <= front->waiting;
    if (is_all || scan->waiting < front->waiting)
        front->waiting = scan->waiting;
    if (is_all || scan->later < front->later)
        front->later = scan->later;
    pawl__pg_horizon_move(&front->horizon, &scan->sight);
}

void pawl__pg_outbox_front_restart(pawl__pg_outbox_front *front)
{
    front->pause_ms = 0;
}

void pawl__pg_outbox_front_forget(pawl__pg_outbox_front *front)
{
    front->horizon  = (pawl__pg_horizon){0};
    front->pause_ms = 0;
}
