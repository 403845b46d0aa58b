/* schedule_row.c - reads and writes the row of a schedule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/schedule/schedule.h"

#include "base/dispatch.h"

#include <stdlib.h>
#include <string.h>

#define CRON "pawl.schedule.cron"
#define ZONE "pawl.schedule.zone"
#define EVERY "pawl.schedule.every" /* microseconds */
#define TYPE "pawl.schedule.type"
#define BODY "pawl.schedule.body"
#define MISSED "pawl.schedule.missed"
#define MISSED_MAX "pawl.schedule.missed_max"
#define BY "pawl.schedule.by"
#define PAUSED "pawl.schedule.paused"
#define CHANGED_BY "pawl.schedule.changed_by"
#define CHANGED_AT "pawl.schedule.changed_at"
#define REASON "pawl.schedule.reason"
#define BY_TABLE "table"
#define BY_OPERATOR "operator"

static const char *const of_plan[] = {CRON,
                                      ZONE,
                                      EVERY,
                                      TYPE,
                                      BODY,
                                      MISSED,
                                      MISSED_MAX,
                                      BY,
                                      PAUSED,
                                      CHANGED_BY,
                                      CHANGED_AT,
                                      REASON,
                                      PAWL__SCHEDULE_LATE,
                                      NULL};

static const char *const policies[] = {
    [PAWL_MISSED_ONCE] = "once", [PAWL_MISSED_ALL] = "all", [PAWL_MISSED_SKIP] = "skip"};

/* ---- Reading ------------------------------------------------------------- */

/* 0 if the text is not a number. */
static int64_t number_of(pawl_text text)
{
    return text.size > 0 ? strtoll(text.data, NULL, 10) : 0;
}

static pawl_missed policy_of(pawl_text text)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (pawl_text_equal(text, pawl_text_of(policies[i])))
            return (pawl_missed)i;
    return PAWL_MISSED_ONCE;
}

static pawl_code check(const pawl_schedule_row *schedule, pawl_error *error)
{
    const char *lacks = NULL;
    if (schedule->type.size == 0)
        lacks = TYPE;
    else if (schedule->body.size == 0)
        lacks = BODY;
    else if (schedule->cron.size == 0 && schedule->every < PAWL_SCHEDULE_EVERY_MIN)
        lacks = CRON " and " EVERY;
    else if (schedule->cron.size > 0 && schedule->every != 0)
        return pawl_error_set(error, PAWL_EDECODE, "its row has both " CRON " and " EVERY);
    return lacks == NULL ? PAWL_OK
                         : pawl_error_set(error, PAWL_EDECODE, "its row has no %s", lacks);
}

pawl_code pawl__schedule_read(const pawl_timeout_row *row, pawl_arena *arena,
                              pawl_schedule_row *schedule, pawl_error *error)
{
    *schedule = (pawl_schedule_row){.id = row->name, .queue = row->destination, .next = row->due};
    pawl_text every, missed, most, by, paused;
    const struct {
        const char *name;
        pawl_text  *value;
    } members[]    = {{PAWL_HEADER_SCHEDULE, &schedule->name},
                      {CRON, &schedule->cron},
                      {ZONE, &schedule->zone},
                      {EVERY, &every},
                      {TYPE, &schedule->type},
                      {BODY, &schedule->body},
                      {MISSED, &missed},
                      {MISSED_MAX, &most},
                      {BY, &by},
                      {PAUSED, &paused},
                      {CHANGED_BY, &schedule->changed_by},
                      {CHANGED_AT, &schedule->changed_at},
                      {REASON, &schedule->reason}};
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && code == PAWL_OK; i++)
        code = pawl__headers_value(row->headers, pawl_text_of(members[i].name), arena,
                                   members[i].value);
    if (code == PAWL_OK)
        code = pawl__headers_without(row->headers, of_plan, arena, &schedule->headers);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "no memory for a schedule");
    schedule->every       = number_of(every);
    schedule->missed      = policy_of(missed);
    schedule->missed_max  = (int32_t)number_of(most);
    schedule->is_declared = pawl_text_equal(by, PAWL_TEXT(BY_TABLE));
    schedule->is_paused   = paused.size > 0;
    if (schedule->is_paused)
        schedule->next = 0;
    if (schedule->missed_max < 1 || schedule->missed_max > PAWL_SCHEDULE_MISSED_MAX)
        schedule->missed_max = 1;
    return check(schedule, error);
}

bool pawl__schedule_has_times_of(const pawl_schedule_row *left, const pawl_schedule_row *right)
{
    return left->every == right->every && pawl_text_equal(left->cron, right->cron) &&
           pawl_text_equal(left->zone, right->zone);
}

bool pawl__schedule_is_same(const pawl_schedule_row *left, const pawl_schedule_row *right)
{
    return pawl__schedule_has_times_of(left, right) && left->is_declared == right->is_declared &&
           left->missed == right->missed && left->missed_max == right->missed_max &&
           pawl_text_equal(left->type, right->type) && pawl_text_equal(left->body, right->body) &&
           pawl_text_equal(left->headers, right->headers);
}

/* ---- Writing ------------------------------------------------------------- */

static pawl_code put_headers(const pawl_schedule_row *schedule, pawl_arena *arena,
                             pawl_text *headers)
{
    pawl_text every = PAWL_TEXT(""), most = PAWL_TEXT("");
    if (schedule->every != 0)
        every = pawl_arena_printf(arena, "%lld", (long long)schedule->every);
    if (schedule->missed == PAWL_MISSED_ALL)
        most = pawl_arena_printf(arena, "%d", (int)schedule->missed_max);
    if (every.data == NULL || most.data == NULL)
        return PAWL_ENOMEM;
    const struct {
        const char *name;
        pawl_text   value;
    } members[] = {
        {PAWL_HEADER_SCHEDULE, schedule->name},
        {CRON, schedule->cron},
        {ZONE, schedule->zone},
        {EVERY, every},
        {TYPE, schedule->type},
        {BODY, schedule->body},
        {MISSED, pawl_text_of(policies[schedule->missed])},
        {MISSED_MAX, most},
        {BY, schedule->is_declared ? PAWL_TEXT(BY_TABLE) : PAWL_TEXT(BY_OPERATOR)},
        {PAUSED, schedule->is_paused ? PAWL_TEXT("yes") : PAWL_TEXT("")},
        {CHANGED_BY, schedule->changed_by},
        {CHANGED_AT, schedule->changed_at},
        {REASON, schedule->reason},
    };
    pawl_code code = PAWL_OK;
    *headers       = schedule->headers;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && code == PAWL_OK; i++)
        code = pawl__headers_set(*headers, members[i].name, members[i].value, arena, headers);
    return code;
}

pawl_code pawl__schedule_write(const pawl_schedule_row *schedule, pawl_time due, pawl_arena *arena,
                               pawl_timeout_set *set)
{
    pawl_text headers = {.data = NULL, .size = 0};
    pawl_text row     = pawl_arena_printf(arena, "%.*s/%.*s", PAWL_TEXT_ARGS(schedule->queue),
                                          PAWL_TEXT_ARGS(schedule->name));
    if (row.data == NULL || put_headers(schedule, arena, &headers) != PAWL_OK)
        return PAWL_ENOMEM;
    pawl_dispatch_id id =
        pawl__dispatch_id_of(PAWL_TEXT(PAWL__SCHEDULE_SAGA), PAWL__SUBJECT_SOURCE, row, 0, 0);
    *set = (pawl_timeout_set){.id          = {id.uuid},
                              .saga_id     = pawl__schedules_saga,
                              .saga_type   = PAWL_TEXT(PAWL__SCHEDULE_SAGA),
                              .name        = row,
                              .destination = schedule->queue,
                              .due         = due,
                              .headers     = headers};
    return PAWL_OK;
}
