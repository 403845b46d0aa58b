/* horizon.c - the horizon of horizon.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/horizon.h"

int64_t pawl__pg_horizon_begin(const pawl__pg_horizon *horizon)
{
    return horizon->from < horizon->limit ? horizon->from : horizon->limit;
}

void pawl__pg_horizon_move(pawl__pg_horizon *horizon, const pawl__pg_sight *sight)
{
    if (horizon->seen != 0 && sight->oldest >= horizon->next) {
        if (horizon->from < horizon->seen)
            horizon->from = horizon->seen;
        horizon->seen = 0;
    }
    horizon->limit = sight->limit;
    if (horizon->seen == 0 && sight->last != 0 && sight->next != 0) {
        horizon->seen = sight->last;
        horizon->next = sight->next;
    }
}
