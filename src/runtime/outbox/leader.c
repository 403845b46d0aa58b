/* leader.c - elects, by a lease, the one dispatcher that delivers the outbox rows of an endpoint.
 *
 * The lease is a row of the store. If the database's locks show that the holder's connection or process is gone, it is
 * free at once, otherwise when its time is over. Three guards keep a dispatcher that was stopped or cut off for a while
 * from interfering with the new leader:
 *
 *     before it sends    checks the lease by a clock that also runs while the process
 *                        is stopped, and asks the store if its last answer is not
 *                        recent
 *     before it settles  the same
 *     in its commits     a fencing number: a checkpoint that every commit of the leader
 *                        and every take-over raises. A commit with an old number is
 *                        refused
 *
 *     dispatcher A    claim  send ......... stopped ......... settle: refused
 *     dispatcher B                    take over (7 -> 8)   send  settle (8 -> 9)
 *
 * The number is also the time of the last delivery in microseconds: see pawl__leader_arrival.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"

/* A stopped dispatcher is replaced after at most LEASE + TRIAL (14 seconds) plus twice the time of its slowest recent
 * outbound transport. */
#define LEASE PAWL_SECONDS(11)
#define RENEWAL PAWL_SECONDS(7)
#define TRIAL PAWL_SECONDS(3)    /* between tries of a dispatcher that does not lead */
#define LEFT_MIN PAWL_SECONDS(5) /* the lease is renewed when less is left */
#define MARGIN PAWL_SECONDS(1)   /* the last part of the lease, in which nothing is sent */
#define DELIVERY_MAX \
    PAWL_MINUTES(10) /* the lease is not made longer for a slower outbound transport */
#define ANSWER_AGE_MAX PAWL_SECONDS(1)
#define ORPHAN_PERIOD PAWL_MINUTES(1) /* between searches for rows held without a row before them */
#define ORPHAN_PAUSE 20               /* or so many times as long as a search took */
#define TAKE_OVERS_MAX 5
#define PAGE_COUNT 500

/* ---- Clocks ----------------------------------------------------------------------- */

bool pawl__leader_is(const pawl_endpoint *endpoint)
{
    return pawl__lease_clock(endpoint) < atomic_load(&endpoint->lead_end);
}

/* ---- Sources with a row that waits ----------------------------------------------- */

bool pawl__leader_is_waiting(const pawl__service *service, pawl_text source)
{
    return pawl__source_table_get(&service->waiting, source) != 0;
}

pawl_code pawl__leader_set_waiting(pawl__service *service, pawl_text source, bool is_waiting)
{
    return pawl__source_table_put(&service->waiting, source, is_waiting);
}

/* Publishes the end of the lease, by which other threads judge: if it is not renewed, it ends by itself. */
static void set_leader(pawl__service *service, bool is_leader)
{
    service->is_leader = is_leader;
    if (!is_leader) { /* another dispatcher tries the rows, and raises its own alarm */
        service->outbox_retry = PAWL_TIME_MAX;
        pawl__alarm_unwant(&service->route_alarm);
    }
    atomic_store(&service->endpoint->lead_end, is_leader ? service->lease_end : 0);
}

void pawl__outbox_forget(pawl__service *service)
{
    set_leader(service, false);
    service->lease_renewal = PAWL_TIME_MIN;
    service->outbox_due    = PAWL_TIME_MIN;
    pawl__source_table_clear(&service->waiting);
    pawl__unavailable_forget(service);
}

/* ---- Order at the receiver ------------------------------------------------------------ */

/* The due time that a delivery gives its message. Queues are read by due time. The number in the store is never less
 * than a time given before, so a leader whose clock is a little behind continues from there. Under a virtual clock 0:
 * each row has the time of its unit. */
pawl_time pawl__leader_arrival(pawl__service *service)
{
    if (service->endpoint->settings.business != NULL)
        return 0;
    service->arrival = pawl__due_after(service->number, pawl__business_now(service->endpoint));
    return service->arrival;
}

static int64_t next_number(const pawl__service *service)
{
    return service->arrival > service->number ? service->arrival : service->number + 1;
}

/* ---- Commits of the leader --------------------------------------------------------- */

static int64_t lease_now(const pawl__service *service)
{
    return pawl__lease_clock(service->endpoint);
}

pawl_code pawl__leader_commit(pawl__service *service, pawl_changes *changes, pawl_refusals *refused,
                              pawl_error *error)
{
    pawl_checkpoint_set raise     = {.name = service->lease_name,
                                     .from = service->number,
                                     .to   = next_number(service),
                                     .at   = changes->now};
    changes->checkpoint_set.items = &raise;
    changes->checkpoint_set.count = 1;
    pawl_time begin               = lease_now(service);
    pawl_code code                = pawl_store_commit(service->store, changes, refused, error);
    if (code == PAWL_OK && refused->count == 0) {
        service->number   = raise.to;
        service->answered = begin;
    }
    if (code == PAWL_OK && pawl__refused_checkpoint(refused)) {
        pawl_log(PAWL_LOG_WARNING, "outbox of %s: another dispatcher leads",
                 service->endpoint->model->endpoint.data);
        set_leader(service, false);
    }
    return code;
}

/* Raises the fencing number: from then on, commits of earlier leaders are refused. */
static pawl_code raise_number(pawl__service *service, pawl_error *error)
{
    for (int i = 0; i < TAKE_OVERS_MAX; i++) {
        pawl_refusals refused = {.arena = service->arena};
        pawl_changes  changes = {PAWL__ONE_UNIT(pawl__machine_now(service->endpoint))};
        pawl_store   *store   = service->store;
        pawl_code     code =
            pawl_store_checkpoint_get(store, service->lease_name, &service->number, error);
        set_leader(service, true);
        if (code == PAWL_OK)
            code = pawl__leader_commit(service, &changes, &refused, error);
        if (code != PAWL_OK || service->is_leader)
            return code;
    }
    return PAWL_OK;
}

/* ---- The lease ------------------------------------------------------------------------ */

/* Time added to the lease for calls of outbound transports, during which it is not renewed. Otherwise a dispatcher
 * whose receiver answers more slowly than the lease lasts would never settle a row. */
static int64_t time_of_delivery(const pawl__service *service)
{
    if (service->delivery_time <= MARGIN)
        return 0;
    return 2 * service->delivery_time < DELIVERY_MAX ? 2 * service->delivery_time : DELIVERY_MAX;
}

/* Time without that in which the process was stopped. A stop during a call must not count as time of the outbound
 * transport: it would make the lease longer by twice the stop, for which the next stop would keep other dispatchers
 * waiting. */
static pawl_time time_awake(const pawl__service *service)
{
    pawl_time now = lease_now(service);
    return now - pawl__stopped_time_read(&service->endpoint->stopped_time, now);
}

pawl_time pawl__leader_delivery_begin(const pawl__service *service)
{
    return time_awake(service);
}

void pawl__leader_delivery_end(pawl__service *service, pawl_time begin)
{
    int64_t more = time_awake(service) - begin - service->delivery_time;
    service->delivery_time += more > 0 ? more : more / 8;
}

/* Takes or renews the lease; the result is is_leader. */
static pawl_code ask_lease(pawl__service *service, pawl_error *error)
{
    bool      is_ours = false;
    int64_t   lease   = LEASE + time_of_delivery(service);
    pawl_time now     = pawl__machine_now(service->endpoint);
    pawl_time begin   = lease_now(service);
    pawl_code code =
        pawl_store_lead(service->store, service->lease_name, now, lease, &is_ours, error);
    service->answered      = begin;
    service->lease_end     = pawl_time_add(begin, lease - MARGIN);
    service->lease_renewal = pawl_time_add(now, is_ours ? RENEWAL : TRIAL);
    set_leader(service, code == PAWL_OK && is_ours);
    return code;
}

/* Renews the lease between the parts of long work. If it has ended, another dispatcher may have led meanwhile: the rows
 * read under it are ignored, and the next run asks for the lease. */
static pawl_code keep_lease(pawl__service *service, pawl_error *error)
{
    pawl_time left = service->lease_end - lease_now(service);
    if (left > LEFT_MIN)
        return PAWL_OK;
    if (left > 0)
        return ask_lease(service, error);
    set_leader(service, false);
    service->lease_renewal = PAWL_TIME_MIN;
    return PAWL_OK;
}

/* ---- Rows that wait, and held rows without a row that blocks them ------------------------ */

typedef pawl_code page_fn(pawl__service *service, const pawl_outbox_rows *rows, pawl_error *error);

/* Calls `each` for all rows of this endpoint in a state, page by page, and renews the lease meanwhile, as there may be
 * many. is_leader false: another dispatcher leads, and the rest is not read. */
static pawl_code for_rows(pawl__service *service, pawl_outbox_state state, int32_t attempts_min,
                          page_fn *each, pawl_error *error)
{
    pawl_store       *store = service->store;
    pawl_outbox_query query = {.states       = 1u << state,
                               .endpoint     = service->endpoint->model->endpoint,
                               .count_max    = PAGE_COUNT,
                               .attempts_min = attempts_min};
    pawl_outbox_rows  rows  = {.count = PAGE_COUNT};
    pawl_code         code  = PAWL_OK;
    while (code == PAWL_OK && service->is_leader && rows.count == PAGE_COUNT) {
        pawl_arena_point point = pawl_arena_position(service->arena);
        code = pawl_store_outbox_find(store, &query, service->arena, &rows, error);
        if (code == PAWL_OK && rows.count > 0) {
            query.after = rows.items[rows.count - 1].id;
            code        = each(service, &rows, error);
        }
        pawl_arena_rewind(service->arena, point);
        if (code == PAWL_OK && service->is_leader)
            code = keep_lease(service, error);
    }
    return code;
}

/* Notes the sources with a row that failed before. */
static pawl_code note_waiting(pawl__service *service, const pawl_outbox_rows *rows,
                              pawl_error *error)
{
    for (size_t i = 0; i < rows->count; i++)
        if (pawl__leader_set_waiting(service, pawl__round_source(&rows->items[i]), true) != PAWL_OK)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory for ordering keys that wait");
    return PAWL_OK;
}

static pawl_code release_orphans(pawl__service *service, const pawl_outbox_rows *rows,
                                 pawl_error *error)
{
    pawl_refusals      refused  = {.arena = service->arena};
    pawl_changes       changes  = {PAWL__ONE_UNIT(pawl__machine_now(service->endpoint))};
    pawl__source_table known    = {.arena = service->arena};
    pawl_outbox_block *releases = pawl_arena_take(service->arena, rows->count * sizeof *releases);
    if (releases == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to free blocked rows");
    for (size_t i = 0; i < rows->count; i++) {
        pawl_text source = rows->items[i].source;
        if (pawl__leader_is_waiting(service, source) || pawl__source_table_get(&known, source) != 0)
            continue;
        if (pawl__source_table_put(&known, source, 1) != PAWL_OK)
            return pawl_error_set(error, PAWL_ENOMEM, "no memory to free blocked rows");
        releases[changes.outbox_block.count++] =
            (pawl_outbox_block){.source = source, .after = 0, .is_unblock = true};
    }
    changes.outbox_block.items = releases;
    if (changes.outbox_block.count == 0 || !service->is_leader)
        return PAWL_OK;
    pawl__unavailable_go_back(service, 0);
    return pawl__leader_commit(service, &changes, &refused, error);
}

static pawl_code read_waiting(pawl__service *service, pawl_error *error)
{
    pawl__source_table_clear(&service->waiting);
    return for_rows(service, PAWL_OUTBOX_PENDING, 1, note_waiting, error);
}

static pawl_code has_blocked(pawl__service *service, bool *has, pawl_error *error)
{
    const pawl_outbox_query query = {.states    = 1u << PAWL_OUTBOX_BLOCKED,
                                     .endpoint  = service->endpoint->model->endpoint,
                                     .count_max = 1};
    pawl_outbox_rows        rows  = {.count = 0};
    pawl_arena_point        point = pawl_arena_position(service->arena);
    pawl_code code = pawl_store_outbox_find(service->store, &query, service->arena, &rows, error);
    pawl_arena_rewind(service->arena, point);
    *has = code == PAWL_OK && rows.count > 0;
    return code;
}

/* Releases held rows that no earlier row blocks any more. First reads again which sources wait, as an operator or
 * another program may have settled rows. No row is delivered meanwhile. */
static pawl_code check_orphans(pawl__service *service, pawl_error *error)
{
    pawl_time begin = lease_now(service);
    bool      has   = false;
    pawl_code code  = has_blocked(service, &has, error);
    if (code == PAWL_OK && has)
        code = read_waiting(service, error);
    if (code == PAWL_OK && has)
        code = for_rows(service, PAWL_OUTBOX_BLOCKED, 0, release_orphans, error);
    int64_t pause        = (lease_now(service) - begin) * ORPHAN_PAUSE;
    service->orphans_due = pawl_time_add(pawl__machine_now(service->endpoint),
                                         pause > ORPHAN_PERIOD ? pause : ORPHAN_PERIOD);
    return code;
}

static pawl_code take_over(pawl__service *service, pawl_error *error)
{
    pawl__source_table_clear(&service->waiting);
    pawl__unavailable_forget(service);
    service->term++;
    pawl_code code = raise_number(service, error);
    return code == PAWL_OK && service->is_leader ? read_waiting(service, error) : code;
}

/* ---- Leading -------------------------------------------------------------------------- */

/* Asks for the lease. A dispatcher that did not have it takes over, and releases held rows that nothing blocks. */
static pawl_code ask(pawl__service *service, pawl_error *error)
{
    pawl_time now  = pawl__machine_now(service->endpoint);
    bool      was  = service->is_leader && lease_now(service) < service->lease_end;
    pawl_code code = ask_lease(service, error);
    if (!service->is_leader)
        return code;
    if (!was)
        code = take_over(service, error);
    if (code != PAWL_OK || !service->is_leader || (was && now < service->orphans_due))
        return code;
    return check_orphans(service, error);
}

pawl_code pawl__leader_keep(pawl__service *service, pawl_error *error)
{
    if (service->is_leader && pawl__machine_now(service->endpoint) < service->lease_renewal &&
        lease_now(service) < service->lease_end)
        return PAWL_OK;
    return ask(service, error);
}

pawl_code pawl__leader_check(pawl__service *service, pawl_error *error)
{
    pawl_time now  = lease_now(service);
    int64_t   left = service->lease_end - now;
    if (service->is_leader && left > time_of_delivery(service) &&
        now - service->answered <= ANSWER_AGE_MAX)
        return PAWL_OK;
    return ask(service, error);
}
