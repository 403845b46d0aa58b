/* schedule_operations.c - operators list schedules, add, pause, resume, run and remove them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/schedule/schedule.h"

#include "base/dispatch.h"
#include "pawl/limits.h"
#include "pawl/store_schedule.h"

#include <stdlib.h>
#include <string.h>

#define NO_MEMORY(error) pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule")

/* ---- List ------------------------------------------------------------------ */

static int compare_ids(const void *left, const void *right)
{
    const pawl_schedule_row *a = left, *b = right;
    return pawl_text_compare(a->id, b->id);
}

static pawl_schedule_row shown(const pawl_timeout_row *row, const pawl__schedule *schedule)
{
    return (pawl_schedule_row){.id          = row->name,
                               .queue       = schedule->queue,
                               .name        = schedule->name,
                               .cron        = schedule->cron,
                               .zone        = schedule->zone,
                               .every       = schedule->every,
                               .missed      = schedule->missed,
                               .missed_max  = schedule->missed_max,
                               .type        = schedule->type,
                               .body        = schedule->body,
                               .headers     = schedule->headers,
                               .next        = schedule->is_paused ? 0 : row->due,
                               .is_paused   = schedule->is_paused,
                               .is_declared = schedule->is_declared,
                               .changed_by  = schedule->changed_by,
                               .changed_at  = schedule->changed_at,
                               .reason      = schedule->reason};
}

/* A row that lacks something is listed with what it has. */
pawl_code pawl_store_schedule_list(pawl_store *store, pawl_arena *arena, pawl_schedule_rows *rows,
                                   pawl_error *error)
{
    pawl_timeout_rows found = {.count = 0};
    *rows                   = (pawl_schedule_rows){.count = 0};
    pawl_code code = pawl_store_timeout_list(store, pawl__schedules_saga, 0, arena, &found, error);
    if (code != PAWL_OK || found.count == 0)
        return code;
    pawl_schedule_row *items = pawl_arena_take(arena, found.count * sizeof *items);
    if (items == NULL)
        return NO_MEMORY(error);
    for (size_t i = 0; i < found.count; i++) {
        pawl__schedule schedule;
        if (pawl__schedule_read(&found.items[i], arena, &schedule, NULL) == PAWL_ENOMEM)
            return NO_MEMORY(error);
        items[i] = shown(&found.items[i], &schedule);
    }
    qsort(items, found.count, sizeof *items, compare_ids);
    *rows = (pawl_schedule_rows){items, found.count};
    return PAWL_OK;
}

/* ---- Writing ----------------------------------------------------------------- */

static pawl_code check_by(pawl_text by, pawl_text reason, pawl_error *error)
{
    if (by.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "schedules: say by whom they are changed");
    if (by.size + reason.size > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT,
                              "schedules: the reason and by whom have %zu bytes together, limit %d",
                              by.size + reason.size, PAWL_ERROR_TEXT_SIZE_MAX);
    return PAWL_OK;
}

static pawl_code sign(pawl__schedule *schedule, pawl_text by, pawl_text reason, pawl_time now,
                      pawl_arena *arena)
{
    char at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(now, at);
    schedule->changed_by = by;
    schedule->reason     = reason;
    schedule->changed_at = pawl_arena_text(arena, pawl_text_of(at));
    return schedule->changed_at.data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

/* Commits the schedule's row, due for the first time after `now`. */
static pawl_code write_row(pawl_store *store, const pawl__schedule *schedule, bool is_new,
                           pawl_time now, pawl_arena *arena, pawl_error *error)
{
    pawl_timeout_set set;
    pawl_refusals    refused = {.arena = arena};
    pawl_changes     changes = {
            .group_count = 1, .unit_count = 1, .now = now, .timeout_set = {&set, 1}};
    pawl_time first = PAWL_TIME_MAX;
    pawl_code code  = pawl__schedule_first(schedule, now, &first, error);
    if (code == PAWL_OK && pawl__schedule_write(schedule, first, arena, &set) != PAWL_OK)
        code = NO_MEMORY(error);
    if (code != PAWL_OK)
        return code;
    set.is_new = is_new;
    code       = pawl_store_commit(store, &changes, &refused, error);
    if (code == PAWL_OK && refused.count > 0)
        return pawl_error_set(error, PAWL_EDUPLICATE, "there is a schedule %.*s already",
                              PAWL_TEXT_ARGS(set.name));
    return code;
}

/* ---- Add --------------------------------------------------------------------- */

static pawl_code check_names(const pawl_schedule_row *row, pawl_error *error)
{
    size_t size = row->queue.size + row->name.size + 1;
    if (row->queue.size == 0 || row->name.size == 0 || row->type.size == 0 || row->body.size == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "a schedule needs a name, a queue, a type and a body");
    if (memchr(row->name.data, '/', row->name.size) != NULL ||
        !pawl_text_is_valid(row->name, NULL) || !pawl_text_is_valid(row->queue, NULL))
        return pawl_error_set(error, PAWL_EINVAL, "schedule '%.*s': a name is UTF-8 and has no '/'",
                              PAWL_TEXT_ARGS(row->name));
    if (size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "schedule '%.*s': its queue's name and its own have %zu bytes, at "
                              "most %d are taken",
                              PAWL_TEXT_ARGS(row->name), size - 1, PAWL_NAME_SIZE_MAX - 1);
    return PAWL_OK;
}

static pawl_code check_plan(const pawl_schedule_row *row, pawl_error *error)
{
    if ((row->cron.size == 0) == (row->every == 0))
        return pawl_error_set(error, PAWL_EINVAL,
                              "a schedule needs a line of cron or an interval%s",
                              row->every != 0 ? ", not both" : "");
    if (row->cron.size == 0 && row->zone.size != 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "a time zone is for a line of cron, not for an interval");
    if (row->cron.size == 0 && row->every < PAWL_SCHEDULE_EVERY_MIN)
        return pawl_error_set(error, PAWL_EINVAL,
                              "an interval of %lld microseconds; at least %lld are taken",
                              (long long)row->every, (long long)PAWL_SCHEDULE_EVERY_MIN);
    if ((unsigned)row->missed > PAWL_MISSED_SKIP)
        return pawl_error_set(error, PAWL_EINVAL, "%d is no policy for missed times",
                              (int)row->missed);
    if (row->missed_max != 0 && row->missed != PAWL_MISSED_ALL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "a limit of missed times is for PAWL_MISSED_ALL alone");
    if (row->missed_max < 0 || row->missed_max > PAWL_SCHEDULE_MISSED_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%d missed times; 1 to %d are taken",
                              (int)row->missed_max, PAWL_SCHEDULE_MISSED_MAX);
    return PAWL_OK;
}

static pawl_code add(pawl_store *store, const pawl_schedule_row *row, pawl_text by,
                     pawl_text reason, pawl_time now, pawl_arena *arena, pawl_error *error)
{
    bool           is_all   = row->missed == PAWL_MISSED_ALL;
    pawl__schedule schedule = {.name       = row->name,
                               .queue      = row->queue,
                               .type       = row->type,
                               .body       = row->body,
                               .headers    = row->headers,
                               .cron       = row->cron,
                               .zone       = row->zone,
                               .every      = row->every,
                               .missed     = row->missed,
                               .missed_max = row->missed_max != 0 ? row->missed_max
                                             : is_all             ? PAWL__MISSED_DEFAULT
                                                                  : 1};
    if (sign(&schedule, by, reason, now, arena) != PAWL_OK)
        return NO_MEMORY(error);
    return write_row(store, &schedule, true, now, arena, error);
}

pawl_code pawl_store_schedule_add(pawl_store *store, const pawl_schedule_row *row, pawl_text by,
                                  pawl_text reason, pawl_time now, pawl_error *error)
{
    pawl_code code = check_by(by, reason, error);
    if (code == PAWL_OK)
        code = check_names(row, error);
    if (code == PAWL_OK)
        code = check_plan(row, error);
    if (code != PAWL_OK)
        return code;
    pawl_arena *arena = pawl_arena_create(4096);
    code = arena != NULL ? add(store, row, by, reason, now, arena, error) : NO_MEMORY(error);
    pawl_arena_destroy(arena);
    return code;
}

/* ---- Settle ------------------------------------------------------------------- */

static pawl_code find(pawl_store *store, pawl_text id, pawl_arena *arena, pawl__schedule *schedule,
                      pawl_error *error)
{
    pawl_timeout_rows rows = {.count = 0};
    pawl_code code = pawl_store_timeout_list(store, pawl__schedules_saga, 0, arena, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, id))
            return pawl__schedule_read(&rows.items[i], arena, schedule, error);
    return code != PAWL_OK ? code
                           : pawl_error_set(error, PAWL_ENOTFOUND, "there is no schedule %.*s",
                                            PAWL_TEXT_ARGS(id));
}

/* Has a program that runs the schedule in its table? */
static pawl_code check_removal(pawl_store *store, pawl_text id, const pawl__schedule *schedule,
                               pawl_arena *arena, pawl_error *error)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    if (!schedule->is_declared)
        return PAWL_OK;
    pawl_text type =
        pawl_arena_printf(arena, "\"" PAWL__SCHEDULE_TYPE "\"", PAWL_TEXT_ARGS(schedule->name));
    pawl_code code = type.data != NULL ? pawl_store_worker_list(store, arena, &items, &count, error)
                                       : NO_MEMORY(error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (items[i].types.data != NULL && strstr(items[i].types.data, type.data) != NULL)
            code = pawl_error_set(error, PAWL_EINVAL,
                                  "schedule %.*s stands in the table of a program that runs, which "
                                  "would write it again: pause it, or take it out of the table",
                                  PAWL_TEXT_ARGS(id));
    return code;
}

static pawl_code cancel(pawl_store *store, pawl_text id, pawl_time now, pawl_arena *arena,
                        pawl_error *error)
{
    pawl_timeout_cancel gone    = {.saga_id = pawl__schedules_saga, .name = id};
    pawl_refusals       refused = {.arena = arena};
    pawl_changes        changes = {
               .group_count = 1, .unit_count = 1, .now = now, .timeout_cancel = {&gone, 1}};
    return pawl_store_commit(store, &changes, &refused, error);
}

/* A run asked for sends a message now. Index 1 keeps its id apart from that of a time that comes by itself. */
static pawl_code run(pawl_store *store, pawl_text row, const pawl__schedule *schedule, pawl_text by,
                     pawl_time now, pawl_arena *arena, pawl_error *error)
{
    pawl_queue_send send    = {.queue = schedule->queue, .due = now};
    pawl_refusals   refused = {.arena = arena};
    pawl_changes    changes = {
           .group_count = 1, .unit_count = 1, .now = now, .queue_send = {&send, 1}};
    char             id[PAWL_UUID_TEXT_SIZE + 1], at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_text        headers;
    pawl_dispatch_id made =
        pawl__dispatch_id_of(schedule->queue, PAWL__SUBJECT_MESSAGE, row, now, 1);
    pawl_uuid_format(made.uuid, id);
    pawl_time_format(now, at);
    if (pawl__headers_set(schedule->headers, PAWL_HEADER_PLANNED, pawl_text_of(at), arena,
                          &headers) != PAWL_OK ||
        pawl__headers_set(headers, PAWL_HEADER_SCHEDULE_RUN_BY, by, arena, &headers) != PAWL_OK)
        return NO_MEMORY(error);
    send.message = (pawl_message){.id             = pawl_text_of(id),
                                  .type           = schedule->type,
                                  .body           = schedule->body,
                                  .headers        = headers,
                                  .correlation_id = pawl_text_of(id)};
    return pawl_store_commit(store, &changes, &refused, error);
}

static pawl_code settle(pawl_store *store, pawl_text id, pawl_schedule_action action, pawl_text by,
                        pawl_text reason, pawl_time now, pawl_arena *arena, pawl_error *error)
{
    pawl__schedule schedule;
    bool           is_pause = action == PAWL_SCHEDULE_PAUSE;
    pawl_code      code     = find(store, id, arena, &schedule, error);
    if (code == PAWL_EDECODE &&
        action == PAWL_SCHEDULE_REMOVE) /* a member that it lacks is not needed */
        code = PAWL_OK;
    if (code != PAWL_OK)
        return code;
    switch (action) {
    case PAWL_SCHEDULE_RUN: return run(store, id, &schedule, by, now, arena, error);
    case PAWL_SCHEDULE_REMOVE:
        code = check_removal(store, id, &schedule, arena, error);
        return code == PAWL_OK ? cancel(store, id, now, arena, error) : code;
    case PAWL_SCHEDULE_PAUSE:
    case PAWL_SCHEDULE_RESUME: break;
    }
    if (schedule.is_paused == is_pause)
        return PAWL_OK;
    schedule.is_paused = is_pause;
    if (sign(&schedule, by, reason, now, arena) != PAWL_OK)
        return NO_MEMORY(error);
    return write_row(store, &schedule, false, now, arena, error);
}

pawl_code pawl_store_schedule_settle(pawl_store *store, pawl_text id, pawl_schedule_action action,
                                     pawl_text by, pawl_text reason, pawl_time now,
                                     pawl_error *error)
{
    pawl_code code = check_by(by, reason, error);
    if (code == PAWL_OK && (unsigned)action > PAWL_SCHEDULE_RUN)
        code = pawl_error_set(error, PAWL_EINVAL, "%d is no action on a schedule", (int)action);
    if (code != PAWL_OK)
        return code;
    pawl_arena *arena = pawl_arena_create(4096);
    code =
        arena != NULL ? settle(store, id, action, by, reason, now, arena, error) : NO_MEMORY(error);
    pawl_arena_destroy(arena);
    return code;
}
