/* schedules.c - reads and checks the schedules of an endpoint's table, and writes their messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workflow/model.h"

#include "base/cron.h"
#include "pawl/limits.h"
#include "pawl/store_schedule.h"
#include "workflow/names.h"

#include <string.h>

const pawl__schedule_model *pawl__model_schedule(const pawl__model *model, pawl_text name)
{
    return PAWL__ROW_OF(pawl__schedule_model, name, model->schedules, model->schedule_count, name);
}

bool pawl__model_has_timeouts(const pawl__model *model)
{
    return model->timeout_count + model->schedule_count > 0;
}

pawl_code pawl_schedule_next(const char *cron, const char *zone, pawl_time after, pawl_time *next,
                             pawl_error *error)
{
    pawl__cron  read = {0};
    pawl__zone *made = NULL;
    *next            = PAWL_TIME_MAX;
    pawl_code code   = pawl__cron_parse(pawl_text_of(cron), &read, error);
    if (code == PAWL_OK)
        code = pawl__zone_create(PAWL__ZONE_FOLDER, pawl_text_of(zone), &made, error);
    if (code == PAWL_OK)
        *next = pawl__cron_next(&read, made, after);
    pawl__zone_destroy(made);
    return code;
}

/* Size of a schedule's row, 0 without schedules. Older programs have no list, or no member that gives the size. */
static uint32_t stride_of(const pawl__model *model)
{
    size_t needed = offsetof(pawl_application, schedule_size) + sizeof(uint32_t);
    return model->spec->schedules != NULL && model->application->application_size >= needed
               ? model->application->schedule_size
               : 0;
}

static size_t count_rows(const pawl__model *model, uint32_t stride)
{
    pawl_schedule row;
    for (size_t count = 0; stride != 0; count++) {
        pawl__table_row(model->spec->schedules, count, stride, &row, sizeof row);
        if (row.name == NULL)
            return count;
    }
    return 0;
}

/* Does the endpoint have a handler for the message, or for one of its base types? */
static bool is_handled(const pawl__model *model, const pawl_record *record)
{
    for (; record != NULL; record = record->base != NULL ? record->base() : NULL)
        if (pawl__model_type(model, pawl_text_of(pawl_record_type(record))) != NULL)
            return true;
    return false;
}

static pawl_code check_message(const pawl__model *model, pawl__schedule_model *made,
                               pawl_error *error)
{
    const char *name = made->schedule.name;
    if (made->schedule.message == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "schedule %s has no .message", name);
    made->message  = made->schedule.message();
    pawl_code code = pawl_record_check(made->message, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, PAWL_ECONFIG, "schedule %s", name);
    if (!is_handled(model, made->message))
        return pawl_error_set(error, PAWL_ECONFIG, "schedule %s: endpoint %s handles no message %s",
                              name, model->endpoint.data, pawl_record_type(made->message));
    return PAWL_OK;
}

static pawl_code check_times(const pawl_schedule *schedule, pawl_error *error)
{
    pawl_time next;
    if ((schedule->cron != NULL) == (schedule->every != 0))
        return pawl_error_set(error, PAWL_ECONFIG, "schedule %s has %s of .cron and .every",
                              schedule->name, schedule->cron != NULL ? "both" : "neither");
    if (schedule->cron == NULL && schedule->zone != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s has a .zone, which is for .cron, and .every",
                              schedule->name);
    if (schedule->cron == NULL && schedule->every < PAWL_SCHEDULE_EVERY_MIN)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s: .every is %lld microseconds, at least %lld are taken",
                              schedule->name, (long long)schedule->every,
                              (long long)PAWL_SCHEDULE_EVERY_MIN);
    if (schedule->cron == NULL)
        return PAWL_OK;
    pawl_code code = pawl_schedule_next(schedule->cron, schedule->zone, 0, &next, error);
    if (code == PAWL_OK)
        return code;
    return pawl_error_wrap(error, code == PAWL_ENOMEM ? code : PAWL_ECONFIG, "schedule %s",
                           schedule->name);
}

static pawl_code check_missed(const pawl_schedule *schedule, pawl_error *error)
{
    if ((unsigned)schedule->missed > PAWL_MISSED_SKIP)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s: .missed is %d, which is not a policy", schedule->name,
                              (int)schedule->missed);
    if (schedule->missed != PAWL_MISSED_ALL && schedule->missed_max != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s has a .missed_max, which is for PAWL_MISSED_ALL alone",
                              schedule->name);
    if (schedule->missed_max < 0 || schedule->missed_max > PAWL_SCHEDULE_MISSED_MAX)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s: .missed_max is %d, 1 to %d are taken", schedule->name,
                              (int)schedule->missed_max, PAWL_SCHEDULE_MISSED_MAX);
    return PAWL_OK;
}

static pawl_code check_name(const pawl__model *model, const pawl__schedule_model *made,
                            pawl_error *error)
{
    pawl_code code = pawl__name_check("schedule", made->schedule.name, error);
    if (code != PAWL_OK)
        return code;
    if (strchr(made->schedule.name, '/') != NULL)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "schedule %s: the name may not hold '/', which stands between the "
                              "queue and the name in its row",
                              made->schedule.name);
    if (pawl__model_schedule(model, made->name) != NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "two schedules of endpoint %s are named %s",
                              model->endpoint.data, made->schedule.name);
    if (made->row.size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "schedule %s: its queue's name and its own have %zu bytes, at most %d "
            "are taken",
            made->schedule.name, made->row.size - 1, PAWL_NAME_SIZE_MAX - 1);
    return PAWL_OK;
}

static pawl_code write_body(const pawl__model *model, pawl__schedule_model *made, pawl_error *error)
{
    const void *value = made->schedule.value;
    if (value == NULL)
        value = pawl_arena_take(model->arena, made->message->size);
    if (value == NULL)
        return PAWL_ENOMEM;
    pawl_code code = pawl_record_encode(made->message, value, 0, model->arena, &made->body, error);
    if (code == PAWL_ENOMEM)
        return code;
    return code == PAWL_OK ? code
                           : pawl_error_wrap(error, PAWL_ECONFIG, "schedule %s: its message",
                                             made->schedule.name);
}

static pawl_code build(pawl__model *model, pawl__schedule_model *made, pawl_error *error)
{
    if (made->schedule.missed == PAWL_MISSED_ALL && made->schedule.missed_max == 0)
        made->schedule.missed_max = PAWL__MISSED_DEFAULT;
    made->name = pawl_text_of(made->schedule.name);
    made->row  = pawl_arena_printf(model->arena, "%.*s/%.*s", PAWL_TEXT_ARGS(model->queue),
                                   PAWL_TEXT_ARGS(made->name));
    if (made->row.data == NULL)
        return PAWL_ENOMEM;
    pawl_code code = check_name(model, made, error);
    if (code == PAWL_OK)
        code = check_times(&made->schedule, error);
    if (code == PAWL_OK)
        code = check_missed(&made->schedule, error);
    if (code == PAWL_OK)
        code = check_message(model, made, error);
    return code == PAWL_OK ? write_body(model, made, error) : code;
}

pawl_code pawl__model_schedules(pawl__model *model, pawl_error *error)
{
    uint32_t  stride = stride_of(model);
    size_t    count  = count_rows(model, stride);
    pawl_code code   = PAWL_OK;
    if (count == 0)
        return PAWL_OK;
    model->schedules = pawl_arena_take(model->arena, count * sizeof model->schedules[0]);
    if (model->schedules == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl__schedule_model *made = &model->schedules[i];
        pawl__table_row(model->spec->schedules, i, stride, &made->schedule, sizeof made->schedule);
        code = build(model, made, error);
        model->schedule_count++;
    }
    return code;
}
