/* schedule_operations.c - operations of operators on schedules: list, add, pause, resume, run, remove.
 *
 * A change is committed in one unit with the event that records who made it, when and why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/schedule/schedule.h"

#include "base/dispatch.h"
#include "pawl/limits.h"
#include "record/record_internal.h"
#include "store/core/action.h"
#include "workflow/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY(error) pawl_error_set(error, PAWL_ENOMEM, "no memory for a schedule")
#define NOUN "schedule"
#define WRITE_TRIES 10
#define OWN_HEADERS PAWL_HEADER_SCHEDULE "."

/* ---- List ------------------------------------------------------------------ */

static int compare_ids(const void *left, const void *right)
{
    const pawl_schedule_row *a = left, *b = right;
    return pawl_text_compare(a->id, b->id);
}

/* Lists all schedules; an incomplete row with the members that it has. */
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
    for (size_t i = 0; i < found.count; i++)
        if (pawl__schedule_read(&found.items[i], arena, &items[i], NULL) == PAWL_ENOMEM)
            return NO_MEMORY(error);
    qsort(items, found.count, sizeof *items, compare_ids);
    *rows = (pawl_schedule_rows){items, found.count};
    return PAWL_OK;
}

/* ---- The message ------------------------------------------------------------- */

/* Makes a message to send now; `by` is who requested it, or empty. Index 1 makes its id differ from that of a planned
 * time. */
static pawl_code make_send(const pawl__act *act, const pawl_schedule_row *schedule, pawl_text by,
                           pawl_queue_send *send, pawl_error *error)
{
    char             at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_text        headers;
    pawl_dispatch_id made =
        pawl__dispatch_id_of(schedule->queue, PAWL__SUBJECT_MESSAGE, act->action.name, act->now, 1);
    pawl_text id = pawl__arena_uuid(act->arena, made.uuid);
    pawl_time_format(act->now, at);
    if (id.data == NULL ||
        pawl__headers_set(schedule->headers, PAWL_HEADER_PLANNED, pawl_text_of(at), act->arena,
                          &headers) != PAWL_OK ||
        pawl__headers_set(headers, PAWL_HEADER_SCHEDULE_RUN_BY, by, act->arena, &headers) !=
            PAWL_OK)
        return NO_MEMORY(error);
    *send = (pawl_queue_send){.queue   = schedule->queue,
                              .due     = act->now,
                              .message = {.id             = id,
                                          .type           = schedule->type,
                                          .body           = schedule->body,
                                          .headers        = headers,
                                          .correlation_id = id}};
    return PAWL_OK;
}

/* ---- Writing ----------------------------------------------------------------- */

/* Commits the schedule's row, due at its first time after now, with who changed it and why. `was` is the row that it
 * replaces, or NULL; if a program has written that row since it was read, the commit is refused. */
static pawl_code write_row(pawl__act *act, pawl_schedule_row *schedule, const pawl_timeout_row *was,
                           pawl_error *error)
{
    pawl_timeout_set    set;
    pawl_timeout_settle read = {.action = PAWL_TIMEOUT_RELEASE};
    char                at[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time           first = PAWL_TIME_MAX;
    pawl_code           code  = pawl__schedule_first(schedule, act->now, &first, error);
    pawl_time_format(act->now, at);
    schedule->changed_by = act->action.by;
    schedule->reason     = act->action.reason;
    schedule->changed_at = pawl_text_of(at);
    if (code == PAWL_OK && pawl__schedule_write(schedule, first, act->arena, &set) != PAWL_OK)
        code = NO_MEMORY(error);
    if (code != PAWL_OK)
        return code;
    set.is_new                     = was == NULL;
    act->changes.timeout_set.items = &set;
    act->changes.timeout_set.count = 1;
    if (was != NULL) {
        read.id                           = was->id;
        read.generation                   = was->generation;
        act->changes.timeout_settle.items = &read;
        act->changes.timeout_settle.count = 1;
    }
    return pawl__act_commit(act, pawl__texts_begin(), error);
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
        return pawl_error_set(error, PAWL_EINVAL, "%d is not a policy for missed times",
                              (int)row->missed);
    if (row->missed_max != 0 && row->missed != PAWL_MISSED_ALL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "a limit of missed times is for PAWL_MISSED_ALL alone");
    if (row->missed_max < 0 || row->missed_max > PAWL_SCHEDULE_MISSED_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%d missed times; 1 to %d are taken",
                              (int)row->missed_max, PAWL_SCHEDULE_MISSED_MAX);
    return PAWL_OK;
}

/* Checks the headers of the message, which the row keeps beside those of the plan. */
static pawl_code check_headers(pawl_text headers, pawl_arena *arena, pawl_error *error)
{
    yyjson_doc *doc = NULL;
    yyjson_val *name, *value;
    size_t      index, count;
    if (headers.size == 0)
        return PAWL_OK;
    pawl_code code = pawl__json_read(headers, arena, &doc, error);
    if (code != PAWL_OK)
        return code == PAWL_ENOMEM ? code : pawl_error_wrap(error, PAWL_EINVAL, "its headers");
    bool is_ok = yyjson_is_obj(yyjson_doc_get_root(doc));
    yyjson_obj_foreach(yyjson_doc_get_root(doc), index, count, name, value)
    {
        is_ok &= yyjson_is_str(value);
        if (strncmp(yyjson_get_str(name), OWN_HEADERS, strlen(OWN_HEADERS)) == 0)
            return pawl_error_set(error, PAWL_EINVAL, "its header %s is one of pawl's own",
                                  yyjson_get_str(name));
    }
    return is_ok
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL, "its headers are not a JSON object of strings");
}

/* Checks that a store accepts the message; otherwise it would fail each time. */
static pawl_code check_message(const pawl__act *act, const pawl_schedule_row *schedule,
                               pawl_error *error)
{
    pawl_queue_send send;
    size_t          offset = 0;
    if (!pawl_text_is_valid(schedule->body, &offset))
        return pawl_error_set(error, PAWL_EINVAL, "byte %zu of its body is NUL or not UTF-8",
                              offset);
    pawl_code code = check_headers(schedule->headers, act->arena, error);
    if (code == PAWL_OK)
        code = make_send(act, schedule, PAWL_TEXT(""), &send, error);
    if (code != PAWL_OK)
        return code;
    return pawl_changes_check(&(pawl_changes){PAWL__ONE_UNIT(act->now), .queue_send = {&send, 1}},
                              error);
}

static pawl_code add(pawl__act *act, const pawl_schedule_row *row, pawl_error *error)
{
    pawl_schedule_row schedule = *row;
    schedule.is_paused         = false;
    schedule.is_declared       = false;
    if (row->missed_max == 0)
        schedule.missed_max = row->missed == PAWL_MISSED_ALL ? PAWL__MISSED_DEFAULT : 1;
    pawl_code code = check_message(act, &schedule, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, NOUN " %.*s", PAWL_TEXT_ARGS(act->action.name));
    code = write_row(act, &schedule, NULL, error);
    return code != PAWL_EDUPLICATE ? code
                                   : pawl_error_set(error, code, "there is a schedule %.*s already",
                                                    PAWL_TEXT_ARGS(act->action.name));
}

pawl_code pawl_store_schedule_add(pawl_store *store, const pawl_schedule_row *row, pawl_text by,
                                  pawl_text reason, pawl_time now, pawl_error *error)
{
    char      id[PAWL_NAME_SIZE_MAX + 1];
    pawl__act act;
    pawl_code code = check_names(row, error);
    if (code == PAWL_OK)
        code = check_plan(row, error);
    if (code != PAWL_OK)
        return code;
    snprintf(id, sizeof id, "%.*s/%.*s", PAWL_TEXT_ARGS(row->queue), PAWL_TEXT_ARGS(row->name));
    if (pawl__name_check(NOUN, id, error) != PAWL_OK)
        return pawl_error_wrap(error, PAWL_EINVAL, "it cannot be added");
    code = pawl__act_begin(&act, store,
                           &(pawl__action){PAWL_SCHEDULE_STREAMS, NOUN, pawl_text_of(id),
                                           PAWL_SCHEDULE_ADDED, by, reason},
                           now, error);
    if (code == PAWL_OK)
        code = add(&act, row, error);
    pawl_arena_destroy(act.arena);
    return code;
}

/* ---- Settle ------------------------------------------------------------------- */

/* Finds the schedule of the operation, and its row. */
static pawl_code find(pawl__act *act, pawl_timeout_row *row, pawl_schedule_row *schedule,
                      pawl_error *error)
{
    pawl_timeout_rows rows = {.count = 0};
    pawl_code         code =
        pawl_store_timeout_list(act->store, pawl__schedules_saga, 0, act->arena, &rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
        *row = rows.items[i];
        if (pawl_text_equal(row->name, act->action.name))
            return pawl__schedule_read(row, act->arena, schedule, error);
    }
    return code != PAWL_OK ? code
                           : pawl_error_set(error, PAWL_ENOTFOUND, "there is no schedule %.*s",
                                            PAWL_TEXT_ARGS(act->action.name));
}

/* Refuses to remove a schedule that is in the table of a running program of this endpoint. (Other endpoints may have
 * one with the same name.) */
static pawl_code check_removal(const pawl__act *act, const pawl_schedule_row *schedule,
                               pawl_error *error)
{
    pawl_worker_info *items    = NULL;
    pawl_text         endpoint = schedule->queue;
    size_t            count    = 0;
    if (!schedule->is_declared)
        return PAWL_OK;
    pawl_text type = pawl_arena_printf(act->arena, "\"" PAWL__SCHEDULE_TYPE "\"",
                                       PAWL_TEXT_ARGS(schedule->name));
    pawl_code code = type.data != NULL ? pawl__queue_endpoint(act->store, schedule->queue,
                                                              act->arena, &endpoint, error)
                                       : NO_MEMORY(error);
    if (code == PAWL_OK)
        code = pawl_store_worker_list(act->store, act->arena, &items, &count, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (pawl_text_equal(items[i].endpoint, endpoint) && pawl__types_list(items[i].types, type))
            code = pawl_error_set(error, PAWL_EINVAL,
                                  "schedule %.*s stands in the table of a program that runs, which "
                                  "would write it again: pause it, or take it out of the table",
                                  PAWL_TEXT_ARGS(act->action.name));
    return code;
}

/* Deletes the row; the event keeps its headers. */
static pawl_code cancel(pawl__act *act, const pawl_timeout_row *row, pawl_error *error)
{
    pawl_timeout_cancel gone          = {.saga_id = pawl__schedules_saga, .name = row->name};
    act->changes.timeout_cancel.items = &gone;
    act->changes.timeout_cancel.count = 1;
    act->body                         = row->headers;
    return pawl__act_commit(act, pawl__texts_begin(), error);
}

static pawl_code run(pawl__act *act, const pawl_schedule_row *schedule, pawl_error *error)
{
    pawl_queue_send send;
    pawl_code       code = make_send(act, schedule, act->action.by, &send, error);
    if (code != PAWL_OK)
        return code;
    act->changes.queue_send.items = &send;
    act->changes.queue_send.count = 1;
    return pawl__act_commit(act, pawl__texts_begin(), error);
}

static pawl_code settle(pawl__act *act, pawl_schedule_action action, pawl_error *error)
{
    pawl_schedule_row schedule;
    pawl_timeout_row  row;
    bool              is_pause = action == PAWL_SCHEDULE_PAUSE;
    pawl_code         code     = find(act, &row, &schedule, error);
    if (code == PAWL_EDECODE &&
        action == PAWL_SCHEDULE_REMOVE) /* an incomplete row can be removed */
        code = PAWL_OK;
    if (code != PAWL_OK)
        return code;
    switch (action) {
    case PAWL_SCHEDULE_RUN: return run(act, &schedule, error);
    case PAWL_SCHEDULE_REMOVE:
        code = check_removal(act, &schedule, error);
        return code == PAWL_OK ? cancel(act, &row, error) : code;
    case PAWL_SCHEDULE_PAUSE:
    case PAWL_SCHEDULE_RESUME: break;
    }
    if (schedule.is_paused == is_pause)
        return PAWL_OK;
    schedule.is_paused = is_pause;
    return write_row(act, &schedule, &row, error);
}

pawl_code pawl_store_schedule_settle(pawl_store *store, pawl_text id, pawl_schedule_action action,
                                     pawl_text by, pawl_text reason, pawl_time now,
                                     pawl_error *error)
{
    static const char *const types[] = {[PAWL_SCHEDULE_REMOVE] = PAWL_SCHEDULE_REMOVED,
                                        [PAWL_SCHEDULE_PAUSE]  = PAWL_SCHEDULE_PAUSED,
                                        [PAWL_SCHEDULE_RESUME] = PAWL_SCHEDULE_RESUMED,
                                        [PAWL_SCHEDULE_RUN]    = PAWL_SCHEDULE_WAS_RUN};
    if ((unsigned)action > PAWL_SCHEDULE_RUN)
        return pawl_error_set(error, PAWL_EINVAL, "%d is not an action on a schedule", (int)action);
    const pawl__action what = {PAWL_SCHEDULE_STREAMS, NOUN, id, types[action], by, reason};
    pawl__act          act;
    pawl_code          code = pawl__act_begin(&act, store, &what, now, error);
    if (code == PAWL_OK)
        code = settle(&act, action, error);
    for (int i = 1; i < WRITE_TRIES && code == PAWL_EGONE;
         i++) /* being sent, or written by a program, just now */
        code = settle(&act, action, error);
    pawl_arena_destroy(act.arena);
    return code;
}

pawl_code pawl_store_schedule_actions(pawl_store *store, pawl_text id, pawl_arena *arena,
                                      pawl_event_rows *rows, pawl_error *error)
{
    return pawl__action_list(store, PAWL_SCHEDULE_STREAMS, id, arena, rows, error);
}
