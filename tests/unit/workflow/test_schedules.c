/* test_schedules.c - mistakes in the schedules of an endpoint's table, and the call that computes the
 * times of a line of cron.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/world.h"

#include "runtime/schedule/schedule.h"
#include "workflow/model.h"

#include <unistd.h>

PAWL_RECORD(task, A_NUMBER);
PAWL_RECORD(other, A_NAME);

IDLE_MESSAGE_HANDLER(on_task, task);

static pawl_code create_with(const pawl_schedule *schedules, uint32_t size, pawl__model **model,
                             pawl_error *error)
{
    const pawl_endpoint_spec spec = {.name      = "office",
                                     .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_task)}),
                                     .schedules = schedules};
    pawl_application application  = {PAWL_APPLICATION_HEAD, .endpoints = PAWL_ENDPOINTS(&spec)};
    application.schedule_size     = size;
    return pawl__model_create(&application, NULL, NULL, model, error);
}

#define TASKS .message = PAWL_RECORD_OF(task)
static const char long_name[] =
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";

static const struct {
    pawl_schedule rows[3];
    const char   *says;
} mistakes[] = {
    {{{.name = "", .cron = "@daily", TASKS}}, "schedule has no name"},
    {{{.name = "a\"b", .cron = "@daily", TASKS}}, "schedule name 'a\"b' has a quote"},
    {{{.name = "b/c", .cron = "@daily", TASKS}}, "schedule b/c: the name may not hold '/'"},
    {{{.name = "n", .cron = "@daily", TASKS}, {.name = "n", .cron = "@daily", TASKS}},
     "two schedules of endpoint office are named n"},
    {{{.name = long_name, .cron = "@daily", TASKS}},
     "its queue's name and its own have 204 bytes, at most 199 are taken"},
    {{{.name = "n", TASKS}}, "schedule n has neither of .cron and .every"},
    {{{.name = "n", .cron = "@daily", .every = PAWL_HOURS(1), TASKS}},
     "schedule n has both of .cron and .every"},
    {{{.name = "n", .zone = "UTC", .every = PAWL_HOURS(1), TASKS}},
     "schedule n has a .zone, which is for .cron, and .every"},
    {{{.name = "n", .every = 999999, TASKS}},
     "schedule n: .every is 999999 microseconds, at least 1000000 are taken"},
    {{{.name = "n", .every = -1, TASKS}},
     "schedule n: .every is -1 microseconds, at least 1000000 are taken"},
    {{{.name = "n", .cron = "0 25 * * *", TASKS}},
     "schedule n: cron line '0 25 * * *': hour '25' is none of 0 to 23"},
    {{{.name = "n", .cron = "@daily", .zone = "Europe/Atlantis", TASKS}},
     "schedule n: time zone 'Europe/Atlantis': there is no file of it in /usr/share/zoneinfo"},
    {{{.name = "n", .cron = "@daily", .missed = (pawl_missed)3, TASKS}},
     "schedule n: .missed is 3, which is not a policy"},
    {{{.name = "n", .cron = "@daily", .missed_max = 3, TASKS}},
     "schedule n has a .missed_max, which is for PAWL_MISSED_ALL alone"},
    {{{.name = "n", .cron = "@daily", .missed = PAWL_MISSED_ALL, .missed_max = 1001, TASKS}},
     "schedule n: .missed_max is 1001, 1 to 1000 are taken"},
    {{{.name = "n", .cron = "@daily", .missed = PAWL_MISSED_ALL, .missed_max = -1, TASKS}},
     "schedule n: .missed_max is -1, 1 to 1000 are taken"},
    {{{.name = "n", .cron = "@daily"}}, "schedule n has no .message"},
    {{{.name = "n", .cron = "@daily", .message = PAWL_RECORD_OF(other)}},
     "schedule n: endpoint office handles no message other"},
};

TEST(each_mistake_is_named)
{
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        pawl_error   error = PAWL_ERROR_INIT;
        pawl__model *model = NULL;
        pawl_code    code  = create_with(mistakes[i].rows, sizeof(pawl_schedule), &model, &error);
        if (code != PAWL_ECONFIG || strstr(error.text, mistakes[i].says) == NULL)
            fail_msg("mistake %zu: %s '%s' does not say '%s'", i, pawl_code_name(code), error.text,
                     mistakes[i].says);
    }
}

TEST(rows_that_are_too_short_are_refused)
{
    pawl__model        *model = NULL;
    const pawl_schedule bad[] = {{.name = "n", .cron = "@daily", TASKS}, {.name = NULL}};
    must_fail_with(create_with(bad, 4, &model, world_error()), PAWL_ECONFIG,
                   "its pawl_schedule has 4 bytes, at least");
}

TEST(the_rest_is_taken)
{
    static const task   seven  = {.number = 7};
    pawl_error          error  = PAWL_ERROR_INIT;
    pawl__model        *model  = NULL;
    const pawl_schedule rows[] = {
        {.name = long_name + 5, .cron = "@daily", TASKS},
        {.name = "a", .every = PAWL_SECONDS(1), .missed = PAWL_MISSED_ALL, TASKS, .value = &seven},
        {.name = NULL}};
    assert_int_equal(create_with(rows, sizeof(pawl_schedule), &model, &error), PAWL_OK);
    assert_int_equal(model->schedule_count, 2);
    assert_int_equal(model->schedules[0].row.size, 200);
    const pawl__schedule_model *a = pawl__model_schedule(model, PAWL_TEXT("a"));
    assert_ptr_equal(a, &model->schedules[1]);
    assert_null(pawl__model_schedule(model, PAWL_TEXT("b")));
    assert_int_equal(a->schedule.missed_max, 100);
    assert_string_equal(a->row.data, "office/a");
    assert_string_equal(a->body.data, "{\"number\":7}");
    assert_string_equal(model->schedules[0].body.data, "{}");
    assert_non_null(strstr(model->types_json.data, ",\"schedule:a\"]"));
    assert_true(pawl__model_has_timeouts(model));
    pawl__model_destroy(model);
    assert_int_equal(create_with(rows, 0, &model, &error), PAWL_OK); /* an older program */
    assert_int_equal(model->schedule_count, 0);
    assert_false(pawl__model_has_timeouts(model));
    pawl__model_destroy(model);
}

/* Also that which the time zone's file is read into. */
TEST(every_allocation_fails_in_turn)
{
    const pawl_schedule rows[] = {{.name = "n", .cron = "@daily", .zone = "Europe/Berlin", TASKS},
                                  {.name = NULL}};
    bool                was_reached = true;
    for (long n = 1; was_reached; n++) {
        pawl_error   error = PAWL_ERROR_INIT;
        pawl__model *model = NULL;
        fault_memory_begin(n);
        pawl_code code = create_with(rows, sizeof(pawl_schedule), &model, &error);
        was_reached    = fault_memory_end();
        assert_int_equal(code, was_reached ? PAWL_ENOMEM : PAWL_OK);
        pawl__model_destroy(model);
        assert_true(n < 1000);
    }
}

TEST(the_next_time_of_a_line)
{
    pawl_time next = 7;
    must(pawl_schedule_next("0 3 * * *", "Europe/Berlin", WORLD_START, &next, world_error()));
    assert_int_equal(next, WORLD_START + PAWL_HOURS(17));
    must(pawl_schedule_next("0 3 * * *", NULL, WORLD_START, &next, world_error()));
    assert_int_equal(next, WORLD_START + PAWL_HOURS(18));
    assert_int_equal(pawl_schedule_next("0 3 * *", NULL, WORLD_START, &next, world_error()),
                     PAWL_EINVAL);
    assert_int_equal(next, PAWL_TIME_MAX);
    assert_int_equal(pawl_schedule_next("0 3 * * *", "X/Y", WORLD_START, &next, world_error()),
                     PAWL_ENOTFOUND);
    assert_int_equal(pawl_schedule_next(NULL, NULL, WORLD_START, &next, world_error()),
                     PAWL_EINVAL);
}

int main(void)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
        fputs("skipped: needs tzdata\n", stderr);
        return 77;
    }
    fault_memory_install();
    return tests_run(NULL, NULL);
}

static pawl__schedule_plan missed_at(const char *cron, pawl_missed missed, pawl_arena *arena,
                                     pawl_time due, pawl_time now)
{
    pawl__schedule_plan     plan     = {.count = 9};
    const pawl_schedule_row schedule = {
        .cron = pawl_text_of(cron), .missed = missed, .missed_max = 9};
    must(pawl__schedule_due(&schedule, due, now, arena, &plan, world_error()));
    return plan;
}

static pawl__schedule_plan due_at(const char *cron, pawl_arena *arena, pawl_time due, pawl_time now)
{
    return missed_at(cron, PAWL_MISSED_ALL, arena, due, now);
}

/* New data of the zone has the planned time sooner or later: a day's one is handled once, at its hour. */
TEST(a_planned_time_moves_with_its_zone)
{
    static const pawl_time six   = PAWL_DAYS(20000) + PAWL_HOURS(6);
    pawl_arena            *arena = test_arena();
    for (int64_t shift = -PAWL_HOURS(3); shift <= PAWL_HOURS(3); shift += PAWL_MINUTES(30)) {
        pawl_time           due  = six + shift;
        pawl__schedule_plan plan = due_at("0 6 * * *", arena, due, due);
        assert_int_equal(plan.count, shift >= 0);
        if (plan.count > 0)
            assert_int_equal(plan.times[0], six);
        assert_int_equal(plan.next, shift >= 0 ? six + PAWL_DAYS(1) : six);
        /* which is not missed, where it was sooner than planned */
        plan = missed_at("0 6 * * *", PAWL_MISSED_SKIP, arena, due, due);
        assert_int_equal(plan.count, shift >= 0);
        plan = missed_at("0 6 * * *", PAWL_MISSED_SKIP, arena, due, due + PAWL_HOURS(4));
        assert_int_equal(plan.count, 0);
        /* and nothing was missed but the days behind it */
        plan = due_at("0 6 * * *", arena, due, six + PAWL_DAYS(2));
        assert_int_equal(plan.count, 3);
        assert_int_equal(plan.times[0], six);
    }
    /* of several before it the nearest one */
    pawl__schedule_plan plan =
        due_at("*/10 6 * * *", arena, six + PAWL_HOURS(1), six + PAWL_HOURS(1));
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.times[0], six + PAWL_MINUTES(50));
    /* none that no zone could have moved so far */
    plan = due_at("0 6 1 10 *", arena, six, six); /* the fourth */
    assert_int_equal(plan.count, 0);
}
