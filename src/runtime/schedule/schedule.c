/* schedule.c - computes when schedules are due and which messages they send, and writes the rows of those in the
 * endpoint's table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/schedule/schedule.h"

#define LATE_MAX PAWL_MINUTES(1) /* PAWL_MISSED_SKIP: a time counts as missed after this */
#define SHIFT_MAX PAWL_DAYS(1)   /* of a zone, by an update of its data */
#define WINDOW_FIRST PAWL_HOURS(1)
#define WINDOW_GROWTH 8
/* A row may be due somewhat later than by this clock: clocks of machines differ, and a row that is deferred waits a
 * minute. */
#define AHEAD_MAX PAWL_MINUTES(2)
#define ANNOUNCE_TRIES 10 /* each fails only if another process wrote a row meanwhile */

/* ---- Times ---------------------------------------------------------------- */

/* A schedule's times, ready to be computed. */
typedef struct pattern {
    int64_t     every; /* or */
    pawl__cron  cron;
    pawl__zone *zone;
} pattern;

static pawl_code pattern_open(const pawl_schedule_row *schedule, pattern *it, pawl_error *error)
{
    *it = (pattern){.every = schedule->every};
    if (schedule->cron.size == 0)
        return PAWL_OK;
    pawl_code code = pawl__cron_parse(schedule->cron, &it->cron, error);
    return code == PAWL_OK ? pawl__zone_create(PAWL__ZONE_FOLDER, schedule->zone, &it->zone, error)
                           : code;
}

/* The next time after `after`. An interval counts from `due`, which is not later than `after`. */
static pawl_time next_after(const pattern *it, pawl_time due, pawl_time after)
{
    if (it->every == 0)
        return pawl__cron_next(&it->cron, it->zone, after);
    return pawl_time_add(due, ((after - due) / it->every + 1) * it->every);
}

/* The time that was planned as `due`; after an update of the zone's data the nearest one. */
static pawl_time time_of(const pattern *it, pawl_time due)
{
    if (it->every != 0)
        return due;
    pawl_time near  = pawl__cron_next(&it->cron, it->zone, due - 1);
    int64_t   shift = near - due < SHIFT_MAX ? near - due : SHIFT_MAX;
    pawl_time at    = pawl__cron_next(&it->cron, it->zone, due - shift - 1);
    for (; at < due; at = pawl__cron_next(&it->cron, it->zone, at))
        near = at;
    return near;
}

/* The last `wanted` times of an interval from `due` to `now`. */
static size_t last_of_interval(const pattern *it, pawl_time due, pawl_time now, size_t wanted,
                               pawl_time *times)
{
    int64_t passed = (now - due) / it->every;
    size_t  count  = passed < (int64_t)wanted ? (size_t)passed + 1 : wanted;
    for (size_t i = 0; i < count; i++)
        times[i] = due + (passed - (int64_t)(count - 1 - i)) * it->every;
    return count;
}

/* The times of a cron line from `first` to `now`; if more than `wanted`, the last ones. `ring` has each at its number
 * modulo `wanted`. */
static size_t fill_ring(const pattern *it, pawl_time first, pawl_time now, size_t wanted,
                        pawl_time *ring)
{
    size_t count = 0;
    for (pawl_time at = first; at <= now; at = pawl__cron_next(&it->cron, it->zone, at))
        ring[count++ % wanted] = at;
    return count;
}

/* The last `wanted` times of a cron line. Cron times are only computed forwards, so the search begins farther and
 * farther before `now`, until it finds enough of them or reaches `due`, which is one of them. */
static size_t last_of_cron(const pattern *it, pawl_time due, pawl_time now, size_t wanted,
                           pawl_time *ring, pawl_time *times)
{
    size_t count = 0;
    for (int64_t window = WINDOW_FIRST;; window *= WINDOW_GROWTH) {
        bool      is_all = now - due <= window;
        pawl_time first  = is_all ? due : pawl__cron_next(&it->cron, it->zone, now - window - 1);
        count            = fill_ring(it, first, now, wanted, ring);
        if (is_all || count >= wanted)
            break;
    }
    size_t kept = count < wanted ? count : wanted;
    for (size_t i = 0; i < kept; i++)
        times[i] = ring[(count - kept + i) % wanted];
    return kept;
}

pawl_code pawl__schedule_first(const pawl_schedule_row *schedule, pawl_time now, pawl_time *first,
                               pawl_error *error)
{
    pattern   it;
    pawl_code code = pattern_open(schedule, &it, error);
    *first         = PAWL_TIME_MAX;
    if (code == PAWL_OK && !schedule->is_paused)
        *first = next_after(&it, now, now);
    pawl__zone_destroy(it.zone);
    return code;
}

/* The planned time of a row. If it is later than possible, a clock was ahead when it was planned, or this one was set
 * back: the schedule would not run until then, so it gets its next time by this clock. An interval keeps its times, so
 * that no time is sent twice. */
static pawl_code planned_by_clock(const pawl_schedule_row *schedule, const pawl_timeout_row *row,
                                  pawl_time now, pawl_arena *arena, pawl_time *next, bool *is_ahead,
                                  pawl_error *error)
{
    pattern   it;
    pawl_time latest = pawl_time_add(now, AHEAD_MAX);
    *is_ahead        = false;
    if (pawl__schedule_planned(row, arena, next) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule");
    pawl_code code = schedule->is_paused ? PAWL_OK : pattern_open(schedule, &it, error);
    if (code != PAWL_OK || schedule->is_paused)
        return code;
    *is_ahead       = row->due > next_after(&it, latest, latest);
    pawl_time first = next_after(&it, now, now);
    if (*is_ahead && *next > first)
        *next = it.every != 0 ? *next - ((*next - first - 1) / it.every + 1) * it.every : first;
    if (*is_ahead)
        pawl_log(PAWL_LOG_WARNING,
                 "schedule %.*s was planned by a clock that is ahead of this machine's by more "
                 "than %d minutes, and gets its next time by this one",
                 PAWL_TEXT_ARGS(row->name), (int)(AHEAD_MAX / PAWL_MINUTES(1)));
    pawl__zone_destroy(it.zone);
    return PAWL_OK;
}

pawl_code pawl__schedule_due(const pawl_schedule_row *schedule, pawl_time due, pawl_time now,
                             pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error)
{
    pattern    it;
    size_t     wanted = schedule->missed == PAWL_MISSED_ALL ? (size_t)schedule->missed_max : 1;
    pawl_time *ring   = pawl_arena_take(arena, wanted * sizeof *ring);
    plan->times       = pawl_arena_take(arena, wanted * sizeof *plan->times);
    if (ring == NULL || plan->times == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule");
    pawl_time planned = due;
    pawl_code code    = pattern_open(schedule, &it, error);
    if (code == PAWL_OK) {
        due         = time_of(&it, due);
        plan->next  = next_after(&it, due, now);
        plan->count = it.every != 0 ? last_of_interval(&it, due, now, wanted, plan->times)
                                    : last_of_cron(&it, due, now, wanted, ring, plan->times);
    }
    /* Nothing was missed if only new data of the zone made the time earlier. */
    if (schedule->missed == PAWL_MISSED_SKIP && plan->count > 0 &&
        now - plan->times[0] > LATE_MAX && now - planned > LATE_MAX)
        plan->count = 0;
    plan->message = (pawl_message){
        .type = schedule->type, .body = schedule->body, .headers = schedule->headers};
    pawl__zone_destroy(it.zone);
    return code;
}

/* ---- Due ------------------------------------------------------------------- */

/* Was a schedule that came from a table removed from it? Yes if no live program's table has it; in a rolling deployment
 * a newer or older program may. */
static pawl_code look_for(pawl__worker *worker, const pawl_schedule_row *schedule, bool *is_gone,
                          pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    bool               is_known;
    *is_gone = false;
    if (!schedule->is_declared || !pawl_text_equal(schedule->queue, model->queue) ||
        pawl__model_schedule(model, schedule->name) != NULL)
        return PAWL_OK;
    pawl_text type =
        pawl_arena_printf(worker->read, PAWL__SCHEDULE_TYPE, PAWL_TEXT_ARGS(schedule->name));
    if (type.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule");
    pawl_code code = worker->engine.find_handler(worker, type, &is_known, error);
    *is_gone       = code == PAWL_OK && !is_known;
    return code;
}

/* Under a virtual clock each time is run at its moment, so only times before the endpoint began count as missed. */
pawl_code pawl__worker_schedule(void *runtime, const pawl_timeout_row *row, pawl_time now,
                                pawl_arena *arena, pawl__schedule_plan *plan, pawl_error *error)
{
    pawl__worker     *worker = runtime;
    pawl_time         begin  = worker->endpoint->begin;
    pawl_schedule_row schedule;
    pawl_time         planned;
    pawl_code         code = pawl__schedule_read(row, arena, &schedule, error);
    if (code == PAWL_OK)
        code = pawl__schedule_planned(row, arena, &planned);
    if (code == PAWL_OK)
        code = look_for(worker, &schedule, &plan->is_gone, error);
    if (code != PAWL_OK || plan->is_gone)
        return code;
    if (worker->engine.is_virtual && now < begin)
        now = begin;
    return pawl__schedule_due(&schedule, planned, now, arena, plan, error);
}

/* ---- The endpoint's table --------------------------------------------------- */

static pawl_code declared(const pawl_endpoint *endpoint, const pawl__schedule_model *model,
                          pawl_arena *arena, pawl_schedule_row *schedule, pawl_error *error)
{
    const pawl_schedule *given = &model->schedule;
    pawl_text            none  = PAWL_TEXT("");
    *schedule =
        (pawl_schedule_row){.name        = model->name,
                            .queue       = endpoint->model->queue,
                            .type        = pawl_text_of(pawl_record_type(model->message)),
                            .body        = model->body,
                            .cron        = pawl_text_of(given->cron),
                            .zone        = pawl_text_of(given->zone),
                            .every       = given->every,
                            .missed      = given->missed,
                            .missed_max  = given->missed == PAWL_MISSED_ALL ? given->missed_max : 1,
                            .is_declared = true};
    pawl_code code =
        pawl__headers_build(none, model->message, NULL, NULL, arena, &schedule->headers, error);
    /* In the form in which it is read from its row. */
    return code == PAWL_OK ? pawl__headers_set(schedule->headers, PAWL_HEADER_SCHEDULE, model->name,
                                               arena, &schedule->headers)
                           : code;
}

/* Room for a change of each row. */
static bool take_changes(pawl_changes *changes, size_t count, pawl_arena *arena)
{
    changes->timeout_set.items = pawl_arena_take(arena, count * sizeof *changes->timeout_set.items);
    changes->timeout_settle.items =
        pawl_arena_take(arena, count * sizeof *changes->timeout_settle.items);
    return changes->timeout_set.items != NULL && changes->timeout_settle.items != NULL;
}

/* Adds the changes that write a new row, or replace `row`. They are refused if the row was written since it was read,
 * as an operator may have paused it. */
static pawl_code put_row(const pawl_schedule_row *schedule, pawl_time next,
                         const pawl_timeout_row *row, pawl_arena *arena, pawl_changes *changes,
                         pawl_error *error)
{
    pawl_timeout_set *set = &changes->timeout_set.items[changes->timeout_set.count];
    if (pawl__schedule_write(schedule, next, arena, set) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule");
    set->is_new = row == NULL;
    set->unit = set->group = (uint32_t)changes->timeout_set.count++;
    changes->group_count = changes->unit_count = (uint32_t)changes->timeout_set.count;
    if (row != NULL)
        changes->timeout_settle.items[changes->timeout_settle.count++] =
            (pawl_timeout_settle){.unit       = set->unit,
                                  .group      = set->group,
                                  .action     = PAWL_TIMEOUT_RELEASE,
                                  .id         = row->id,
                                  .generation = row->generation};
    return PAWL_OK;
}

/* Adds the changes that a schedule needs. If its times have not changed, the planned time stays, even if it passed
 * while no process ran. */
static pawl_code plan_row(pawl_endpoint *endpoint, const pawl__schedule_model *model,
                          const pawl_timeout_rows *rows, pawl_changes *changes, pawl_error *error)
{
    pawl_arena             *arena = endpoint->worker->read;
    const pawl_timeout_row *row =
        PAWL__ROW_OF(pawl_timeout_row, name, rows->items, rows->count, model->row);
    pawl_schedule_row schedule, stored = {.is_paused = false};
    pawl_time         next     = PAWL_TIME_MAX;
    bool              is_ahead = false;
    pawl_code         code     = declared(endpoint, model, arena, &schedule, error);
    if (code != PAWL_OK)
        return code;
    pawl_code read = row != NULL ? pawl__schedule_read(row, arena, &stored, error) : PAWL_ENOTFOUND;
    if (read == PAWL_ENOMEM)
        return read;
    schedule.is_paused  = stored.is_paused;
    schedule.changed_by = stored.changed_by;
    schedule.changed_at = stored.changed_at;
    schedule.reason     = stored.reason;
    code                = row != NULL && pawl__schedule_has_times_of(&stored, &schedule)
                              ? planned_by_clock(&schedule, row, endpoint->begin, arena, &next, &is_ahead, error)
                              : pawl__schedule_first(&schedule, endpoint->begin, &next, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "schedule %s", model->name.data);
    bool is_same = read == PAWL_OK && pawl__schedule_is_same(&stored, &schedule);
    if (is_same && !is_ahead)
        return PAWL_OK;
    if (row != NULL && !is_same)
        pawl_log(PAWL_LOG_INFO, "schedule %.*s is another than in the store, and written anew",
                 PAWL_TEXT_ARGS(model->row));
    return put_row(&schedule, next, row, arena, changes, error);
}

static pawl_code announce(pawl_endpoint *endpoint, pawl_refusals *refused, pawl_error *error)
{
    const pawl__model *model   = endpoint->model;
    pawl__worker      *worker  = endpoint->worker;
    pawl_timeout_rows  rows    = {.count = 0};
    pawl_changes       changes = {.now = pawl__machine_now(endpoint)};
    *refused                   = (pawl_refusals){.arena = worker->read};
    if (!take_changes(&changes, model->schedule_count, worker->read))
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for schedules");
    pawl_code code =
        pawl_store_timeout_list(worker->store, pawl__schedules_saga, 0, worker->read, &rows, error);
    for (size_t i = 0; i < model->schedule_count && code == PAWL_OK; i++)
        code = plan_row(endpoint, &model->schedules[i], &rows, &changes, error);
    if (code != PAWL_OK || changes.timeout_set.count == 0)
        return code;
    return pawl_store_commit(worker->store, &changes, refused, error);
}

pawl_code pawl__schedules_announce(pawl_endpoint *endpoint, pawl_error *error)
{
    pawl_code     code    = PAWL_OK;
    pawl_refusals refused = {.count = 0};
    endpoint->begin       = pawl__business_now(endpoint);
    if (endpoint->model->schedule_count == 0)
        return PAWL_OK;
    for (int i = 0; i < ANNOUNCE_TRIES; i++) {
        code = announce(endpoint, &refused, error);
        if (code != PAWL_OK || refused.count == 0)
            return code;
    }
    return pawl_error_set(error, refused.items[0].reason, "schedules: %.*s",
                          PAWL_TEXT_ARGS(refused.items[0].text));
}

/* ---- While the endpoint runs ---------------------------------------------------- */

/* Ignores a row that cannot be read or planned: that is logged when it is due. */
static pawl_code check_row(const pawl_endpoint *endpoint, const pawl_timeout_row *row,
                           pawl_arena *arena, pawl_changes *changes, pawl_error *error)
{
    pawl_schedule_row schedule;
    pawl_time         next;
    bool              is_ahead = false;
    pawl_code         code     = pawl__schedule_read(row, arena, &schedule, error);
    if (code == PAWL_OK)
        code = planned_by_clock(&schedule, row, pawl__business_now(endpoint), arena, &next,
                                &is_ahead, error);
    if (code == PAWL_OK && is_ahead)
        code = put_row(&schedule, next, row, arena, changes, error);
    return code == PAWL_ENOMEM ? code : PAWL_OK;
}

/* Ignores refusals: another process wrote the row meanwhile. */
pawl_code pawl__schedules_check(const pawl_endpoint *endpoint, pawl_store *store, pawl_arena *arena,
                                pawl_error *error)
{
    pawl_timeout_rows rows    = {.count = 0};
    pawl_changes      changes = {.now = pawl__machine_now(endpoint)};
    pawl_refusals     refused = {.arena = arena};
    pawl_code code = pawl_store_timeout_list(store, pawl__schedules_saga, 0, arena, &rows, error);
    if (code == PAWL_OK && rows.count > 0 && !take_changes(&changes, rows.count, arena))
        code = pawl_error_set(error, PAWL_ENOMEM, "no memory for schedules");
    for (size_t i = 0; i < rows.count && code == PAWL_OK; i++)
        code = check_row(endpoint, &rows.items[i], arena, &changes, error);
    if (code == PAWL_OK && changes.timeout_set.count > 0)
        code = pawl_store_commit(store, &changes, &refused, error);
    return code;
}
