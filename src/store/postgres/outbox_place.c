/* outbox_place.c - the place of outbox_place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/outbox_place.h"

#include "store/postgres/wire.h"

#include <string.h>

/* The horizon follows in steps: a number of a transaction is drawn for each. */
#define STEP PAWL_BATCH_MESSAGES_MAX
#define WHOLE_MS_MAX 3 /* a look at the whole that takes less costs nothing */
#define PAUSE_FACTOR 100
#define PAUSE_MS_MAX 60000

static bool is_of(const pawl__pg_outbox_place *place, pawl_text endpoint)
{
    return place->is_claimed &&
           pawl_text_equal((pawl_text){.data = place->endpoint, .size = place->endpoint_size},
                           endpoint);
}

/* A handle claims for one endpoint as a rule: one place will do. */
static void reset(pawl__pg_outbox_place *place, pawl_text endpoint)
{
    *place =
        (pawl__pg_outbox_place){.is_claimed = true, .waiting = INT64_MAX, .later = PAWL_TIME_MAX};
    if (endpoint.size < sizeof place->endpoint) {
        if (endpoint.size != 0)
            memcpy(place->endpoint, endpoint.data, endpoint.size);
        place->endpoint_size = endpoint.size;
    }
}

/* While a look at the whole costs nothing, nothing is asked. */
void pawl__pg_outbox_place_begin(pawl__pg_outbox_place *place, pawl_text endpoint, pawl_time now,
                                 pawl__pg_outbox_look *look)
{
    if (!is_of(place, endpoint))
        reset(place, endpoint);
    int64_t from    = pawl__pg_horizon_begin(&place->horizon);
    place->begun_ms = pawl__pg_clock_ms();
    look->far =
        place->pause_ms != 0 && place->horizon.seen == 0 ? place->horizon.from + STEP : INT64_MAX;
    look->start = now >= place->later && place->waiting < from ? place->waiting : from;
    if (place->begun_ms >= place->whole_ms + place->pause_ms)
        look->start = 0;
}

void pawl__pg_outbox_place_end(pawl__pg_outbox_place *place, const pawl__pg_outbox_look *look)
{
    int64_t now  = pawl__pg_clock_ms();
    int64_t took = now - place->begun_ms;
    if (look->start == 0) {
        int64_t pause   = took < WHOLE_MS_MAX ? 0 : took * PAUSE_FACTOR;
        place->whole_ms = now;
        place->pause_ms = pause > PAUSE_MS_MAX ? PAUSE_MS_MAX : pause;
    }
    /* What waits before the start is not known anew. */
    bool is_all = look->start <= place->waiting;
    if (is_all || look->waiting < place->waiting)
        place->waiting = look->waiting;
    if (is_all || look->later < place->later)
        place->later = look->later;
    pawl__pg_horizon_move(&place->horizon, &look->sight);
}

void pawl__pg_outbox_place_restart(pawl__pg_outbox_place *place)
{
    place->pause_ms = 0;
}

void pawl__pg_outbox_place_forget(pawl__pg_outbox_place *place)
{
    place->horizon  = (pawl__pg_horizon){0};
    place->pause_ms = 0;
}
