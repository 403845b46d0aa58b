/* timeout.c - timeouts and their leases.
 *
 *     {_id: UUID, generation, saga_id: UUID, saga_type, name, armed: {saga_id, name}, destination, due,
 *      headers, correlation_id, attempts, owner: UUID of a session, lease_expires, worker: UUID}
 *
 * A free timeout has no owner and `lease_expires` 0, so free and expired ones form one index range.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#define CLAIM_TRIES_MAX 10

static const pawl__mongo_table timeouts =
    PAWL__MONGO_TABLE("timeouts", "id", pawl__timeout_row_fields, pawl_timeout_row);

#define BY_DUE "sort: {due: 1, _id: 1}"

/* ---- Claims -------------------------------------------------------------- */

/* Reads one timeout more than the claim takes, whose time tells when to claim next. */
static pawl_code find_free(pawl_store *store, const pawl_timeout_claim *claim, size_t count_max,
                           pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    size_t    count = 0;
    pawl_code code  = pawl__mongo_read(
         store, &timeouts, arena, &rows->items, &rows->count, error,
         "filter: {destination?: %t, lease_expires: {$lte: %i}}, " BY_DUE ", limit: %i",
         claim->destination, claim->now, (int64_t)count_max + 1);
    while (count < rows->count && count < count_max && rows->items[count].due <= claim->due_max)
        count++;
    rows->next_due = count < rows->count ? rows->items[count].due : PAWL_TIME_MAX;
    rows->count    = code == PAWL_OK ? count : 0;
    return code;
}

#define IDS(rows) PAWL__MONGO_LIST((rows)->items, (rows)->count, pawl_timeout_row, id, UUID)

/* Timeouts are read again after they were leased, since one may have been re-armed in between. */
pawl_code pawl__mongo_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    size_t    count_max = claim->count_max != 0 ? claim->count_max : PAWL_TIMEOUTS_DEFAULT;
    pawl_time expires   = pawl_time_add(claim->now, claim->lease);
    int64_t   leased    = 0;
    pawl_code code      = PAWL_OK;
    for (unsigned tries = 0; code == PAWL_OK && leased == 0 && tries < CLAIM_TRIES_MAX; tries++) {
        code = find_free(store, claim, count_max, arena, rows, error);
        if (code != PAWL_OK || rows->count == 0)
            return code;
        code = pawl__mongo_write(store, "timeouts", PAWL__MONGO_UPDATE_MANY, &leased, error,
                                 "q: {_id: {$in: %l}, lease_expires: {$lte: %i}, due: {$lte: %i}}, "
                                 "u: {$set: {owner: %u, worker: %u, lease_expires: %i}}",
                                 IDS(rows), claim->now, claim->due_max, claim->owner.uuid,
                                 store->worker.uuid, expires);
    }
    if (code == PAWL_OK)
        code = pawl__mongo_read(store, &timeouts, arena, &rows->items, &rows->count, error,
                                "filter: {_id: {$in: %l}, owner: %u, lease_expires: %i}, " BY_DUE,
                                IDS(rows), claim->owner.uuid, expires);
    if (code != PAWL_OK)
        rows->count = 0;
    return code;
}

/* Uses an index on the lease's worker, which does not contain free timeouts. */
pawl_code pawl__mongo_timeout_reap(pawl_store *store, pawl_time now, int64_t *count,
                                   pawl_error *error)
{
    return pawl__mongo_write(store, "timeouts", PAWL__MONGO_UPDATE_MANY, count, error,
                             "q: {worker: {$exists: true}, lease_expires: {$lte: %i}}, "
                             "u: {$set: {lease_expires: 0}, $unset: {owner: 1, worker: 1}}",
                             now);
}

/* ---- Reads --------------------------------------------------------------- */

pawl_code pawl__mongo_find_timeouts(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                    pawl_found *found, pawl_error *error)
{
    const pawl_find_after *after = &asked->after;
    bson_t                 more  = BSON_INITIALIZER;
    if (after->time != PAWL_TIME_MIN)
        (void)pawl__mongo_put(&more,
                              "due: {$gte: %i}, $or: [{due: {$gt: %i}}, {due: %i, _id: {$gt: %u}}]",
                              after->time, after->time, after->time, after->id);
    pawl_code code = pawl__mongo_read(store, &timeouts, arena, &found->items, &found->count, error,
                                      "filter: {saga_id?: %u, %m}, " BY_DUE ", limit: %i",
                                      asked->saga_id.uuid, &more, asked->limit);
    bson_destroy(&more);
    return code;
}

/* Reads the next destination after `after` that has a free timeout, and the earliest due time there: two index look-ups
 * for each destination. */
static pawl_code next_destination(pawl_store *store, pawl_text after, pawl_time now,
                                  pawl_arena *arena, pawl_timeout_row *row, bool *is_there,
                                  pawl_error *error)
{
    return pawl__mongo_read_one(
        store, &timeouts, arena, row, is_there, error,
        "filter: {destination?: {$gt?: %t}, lease_expires: {$lte: %i}}, "
        "sort: {destination: 1, due: 1, _id: 1}, projection: {destination: 1, due: 1}",
        after, now);
}

static bool is_subscribed(const pawl_found *list, pawl_text queue)
{
    const pawl_subscription *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (pawl_text_equal(items[i].queue, queue))
            return true;
    return false;
}

pawl_code pawl__mongo_find_foreign(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                   pawl_found *found, pawl_error *error)
{
    pawl_found       list     = {.count = 0};
    pawl_timeout_row row      = {.generation = 0};
    size_t           capacity = 0;
    bool             is_there = false;
    pawl_code        code     = pawl__mongo_find_subscriptions(store, asked, arena, &list, error);
    found->items              = pawl_arena_take(arena, 1);
    if (code == PAWL_OK)
        code = next_destination(store, PAWL_TEXT(""), asked->time, arena, &row, &is_there, error);
    while (code == PAWL_OK && is_there) {
        pawl_text destination = row.destination;
        bool      is_own      = asked->name.size != 0 && pawl_text_equal(destination, asked->name);
        if (is_own || !is_subscribed(&list, destination)) {
            pawl_foreign_row *grown =
                pawl_arena_grow(arena, found->items, found->count, &capacity, sizeof *grown);
            if (grown == NULL)
                return pawl__mongo_no_memory(error);
            found->items          = grown;
            grown[found->count++] = (pawl_foreign_row){.destination = destination, .due = row.due};
        }
        code = next_destination(store, destination, asked->time, arena, &row, &is_there, error);
    }
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

static const char *const actions[] = {"remove", "release", "retry"};

/* A settle without owner and generation also succeeds if the row is gone. */
static bool is_any(const pawl_timeout_settle *settle)
{
    return !settle->has_owner && settle->generation == 0;
}

static pawl__why_fn *judge_settle(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_timeout_settle *settle = change;
    const pawl_timeout_row    *found  = row;
    (void)run;
    if (found == NULL)
        return is_any(settle) ? pawl__mongo_known : pawl__why_not_leased;
    return (!settle->has_owner || pawl_uuid_compare(found->owner.uuid, settle->owner.uuid) == 0) &&
                   (settle->generation == 0 || settle->generation == found->generation)
               ? NULL
               : pawl__why_not_leased;
}

/* Such a settle reads first. */
static bool is_settle_looked_at(const void *change)
{
    return is_any(change);
}

#define LEASED "q: {_id: @id, owner?: @owner, generation?: @generation}"
#define FREE "$unset: {owner: 1, worker: 1}"
const pawl__mongo_rule pawl__mongo_timeout_settle_rule = {
    .collection    = "timeouts",
    .choices       = actions,
    .keys          = "id",
    .table         = &timeouts,
    .reads         = "filter: {_id: {$in: @@id}}, projection: {generation: 1, owner: 1}",
    .match         = "id=_id",
    .judge         = judge_settle,
    .is_read_first = is_settle_looked_at,
    .writes        = {"when action=remove: remove " LEASED,
                      "when action=release: update " LEASED ", u: {$set: {lease_expires: 0}, " FREE "}",
                      "update " LEASED ", u: {$set: {lease_expires: 0, due: @due, "
                             "attempts: @attempts}, " FREE "}"}};

const pawl__mongo_rule pawl__mongo_timeout_cancel_rule = {
    .collection = "timeouts", .writes = {"maybe removes q: {saga_id: @saga_id, name?: @name}"}};

static bool is_named(const pawl_timeout_set *set)
{
    return !pawl_uuid_is_zero(set->saga_id.uuid) && set->name.size != 0;
}

/* `row` has the id of the change. A named timeout that is armed already keeps its own id. */
static pawl__why_fn *judge_set(const pawl__mongo_run *run, const void *change, const void *row)
{
    const pawl_timeout_set *set   = change;
    const void             *at    = run->rows;
    const pawl_timeout_row *rows  = at;
    bool                    armed = !is_named(set) && row != NULL;
    for (size_t i = 0; is_named(set) && i < run->row_count; i++)
        armed |= pawl_uuid_compare(rows[i].saga_id.uuid, set->saga_id.uuid) == 0 &&
                 pawl_text_equal(rows[i].name, set->name);
    bool is_refused = (set->is_new && (row != NULL || armed)) || (row != NULL && !armed);
    return is_refused ? pawl__why_timeout_exists : NULL;
}

/* Setting a timeout raises the generation, and resets owner and attempts. No document has generation 0, so with is_new
 * the filter never matches an existing one, and the upsert inserts. */
#define ARMED "armed: {saga_id: @saga_id, name: @name}"
#define VALUES                                                                         \
    "u: {$set: {saga_id?: @saga_id, saga_type: @saga_type, name: @name, destination: " \
    "@destination, due: @due, headers: @headers, correlation_id: @correlation_id, "    \
    "attempts: 0, lease_expires: 0}, $inc: {generation: 1}, " FREE
const pawl__mongo_rule pawl__mongo_timeout_set_rule = {
    .collection = "timeouts",
    .keys       = "id;saga_id,name",
    .table      = &timeouts,
    .reads      = "filter: {$or: [{_id: {$in: @@id}}, {armed: {$in: @@{saga_id: @saga_id, name: "
                  "@name}}}]}, projection: {saga_id: 1, name: 1}",
    .match      = "id=_id",
    .judge      = judge_set,
    .writes     = {"when is_new saga_id name: upsert q: {" ARMED ", generation: 0}, " VALUES
                   ", $setOnInsert: {_id: @id}}",
                   "when is_new: upsert q: {_id: @id, generation: 0}, " VALUES "}",
                   "when saga_id name: upsert q: {" ARMED "}, " VALUES ", $setOnInsert: {_id: @id}}",
                   "upsert q: {_id: @id}, " VALUES "}"}};
