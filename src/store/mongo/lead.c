/* lead.c - leases of leaders, by name: {_id: name, worker: UUID, expires}.
 *
 * A lease expires by the server's clock, since clocks of machines may differ: the offset between the two is added to
 * the caller's time. Offsets below half a second cannot be told from network delay; dispatchers keep a longer margin.
 *
 * A leader whose worker was replaced is stopped by the fence of its commits. One that only lost its lease is stopped
 * when it settles rows that are no longer pending.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include <time.h>

#define CLOCK_PERIOD_MS 60000
#define CLOCK_NOISE PAWL_MILLISECONDS(500)

static const pawl__field_list fields =
    PAWL__FIELDS(PAWL__AS(lead_row, name, TEXT), PAWL__AS(lead_row, worker, UUID),
                 PAWL__AS(lead_row, expires, TIME));

static pawl_time machine_time(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (pawl_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Measured again each minute, since a clock may be set, or drift. */
static pawl_code measure_clock(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self   = pawl__mongo_of(store);
    pawl_time    server = PAWL_TIME_MIN;
    int64_t      now_ms = pawl__clock_ms();
    if (self->clock_ms != 0 && now_ms - self->clock_ms < CLOCK_PERIOD_MS)
        return PAWL_OK;
    pawl_time begun = machine_time();
    pawl_code code  = pawl__mongo_server_time(store, &server, error);
    if (code != PAWL_OK)
        return code;
    int64_t offset = server != PAWL_TIME_MIN ? server - begun - (machine_time() - begun) / 2 : 0;
    bool    counts = offset >= CLOCK_NOISE || offset <= -CLOCK_NOISE;
    self->clock_ms = now_ms;
    self->clock_offset = counts ? offset : 0;
    return PAWL_OK;
}

/* If another worker has the lease, the filter finds nothing, and the upsert fails as a duplicate. */
pawl_code pawl__mongo_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                           bool *is_ours, pawl_error *error)
{
    pawl_code code = measure_clock(store, error);
    *is_ours       = false;
    if (code != PAWL_OK)
        return code;
    now  = pawl_time_add(now, pawl__mongo_of(store)->clock_offset);
    code = pawl__mongo_write(
        store, "leases", PAWL__MONGO_UPSERT, NULL, error,
        "q: {_id: %t, $or: [{worker: %u}, {expires: {$lte: %i}}]}, u: {$set: {worker: %u, expires: %i}}",
        name, store->worker.uuid, now, store->worker.uuid, pawl_time_add(now, lease));
    *is_ours = code == PAWL_OK;
    return code == PAWL_EDUPLICATE ? PAWL_OK : code;
}

pawl_code pawl__mongo_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    return pawl__mongo_write(store, "leases", PAWL__MONGO_REMOVE, NULL, error,
                             "q: {_id: %t, worker: %u}", name, store->worker.uuid);
}

pawl_code pawl__mongo_find_leads(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                 pawl_found *found, pawl_error *error)
{
    static const pawl__mongo_table table =
        PAWL__MONGO_TABLE("leases", "name", fields, pawl_lead_row);
    pawl_code code   = measure_clock(store, error);
    int64_t   offset = pawl__mongo_of(store)->clock_offset;
    if (code == PAWL_OK)
        code = pawl__mongo_read(store, &table, arena, &found->items, &found->count, error,
                                "filter: {expires: {$gt: %i}}, sort: {_id: 1}",
                                pawl_time_add(asked->time, offset));
    pawl_lead_row *rows = found->items;
    for (size_t i = 0; code == PAWL_OK && i < found->count; i++)
        rows[i].expires = pawl_time_add(rows[i].expires, -offset);
    return code;
}
