/* test_engine_schedule_clock.c - schedules that a process planned whose clock was ahead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/store_schedule.h"

PAWL_RECORD(task, A_NUMBER);

static world_log seen;

/* "nightly 01-02T02:00" */
static pawl_code on_task(pawl_context *ctx, const task *message)
{
    pawl_text schedule = pawl_header_value(ctx, PAWL_HEADER_SCHEDULE);
    pawl_text planned  = pawl_header_value(ctx, PAWL_HEADER_PLANNED);
    world_note(&seen, "%.*s %.11s", PAWL_TEXT_ARGS(schedule), planned.data + 5);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_task, task);

#define PROGRAM(variable, ...)                                                        \
    static const pawl_endpoint_spec variable##_office = {                             \
        .name      = "office",                                                        \
        .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_task)}),                       \
        .schedules = PAWL_SCHEDULES({.message = PAWL_RECORD_OF(task), __VA_ARGS__})}; \
    static const pawl_application variable = {PAWL_APPLICATION_HEAD, .name = "diary", \
                                              .endpoints = PAWL_ENDPOINTS(&variable##_office)}

PROGRAM(nightly, .name = "n", .cron = "0 2 * * *");
static const pawl_endpoint_spec none_office = {
    .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)})};
static const pawl_application none = {PAWL_APPLICATION_HEAD, .name = "diary",
                                      .endpoints = PAWL_ENDPOINTS(&none_office)};
PROGRAM(often, .name = "e", .every = PAWL_MINUTES(10));

static char last_line[500];

static void keep_warning(pawl_log_level level, const char *text, void *context)
{
    if (level == PAWL_LOG_WARNING)
        snprintf(last_line, sizeof last_line, "%s", text);
}

/* A process whose clock is ahead runs what is due by it, and ends. */
static void run_ahead(const char *url, const pawl_application *application, int64_t ahead)
{
    world_forget(&seen);
    last_line[0] = '\0';
    world_hold(url);
    world *it = world_begin(url, application, NULL, NULL);
    world_go(it, ahead);
    world_close(it);
}

static void expect_seen(const char *text)
{
    assert_string_equal(seen.text, text);
    world_forget(&seen);
}

static pawl_time due(world *it)
{
    assert_int_equal(world_timeouts(it).count, 1);
    return world_timeouts(it).items[0].due;
}

/* ---- At a start ---------------------------------------------------------------- */

/* The times that are sent by then are not handled again. */
ON_ALL_STORES(a_line_of_cron_goes_by_the_clock_of_a_start, const char *url)
{
    run_ahead(url, &nightly, PAWL_DAYS(2));
    expect_seen("n 01-02T02:00 n 01-03T02:00 ");
    pawl_log_set(keep_warning, PAWL_LOG_INFO, NULL);
    world *it = world_begin(url, &nightly, NULL, NULL);
    world_quiet();
    assert_non_null(strstr(last_line, "schedule office/n was planned by a clock that is ahead"));
    assert_int_equal(due(it), WORLD_START + PAWL_HOURS(17));
    world_go(it, PAWL_DAYS(3));
    expect_seen("n 01-04T02:00 ");
    assert_int_equal(due(it), WORLD_START + PAWL_HOURS(17) + PAWL_DAYS(3));
}

/* An interval keeps its times, for the same reason. */
ON_ALL_STORES(an_interval_goes_by_the_clock_of_a_start, const char *url)
{
    run_ahead(url, &often, PAWL_MINUTES(33));
    expect_seen("e 01-01T09:10 e 01-01T09:20 e 01-01T09:30 ");
    world *it = world_begin(url, &often, NULL, NULL);
    assert_int_equal(due(it), WORLD_START + PAWL_MINUTES(10));
    world_go(it, PAWL_MINUTES(45));
    expect_seen("e 01-01T09:40 ");
}

/* A time that could not be sent, and was put back by the clock that is ahead, is not lost. */
ON_ALL_STORES(a_time_that_was_put_back_by_a_clock_ahead_is_sent, const char *url)
{
    world_forget(&seen);
    world           *it    = world_begin(url, &nightly, NULL, NULL);
    pawl_timeout_row row   = world_timeouts(it).items[0];
    pawl_time        ahead = WORLD_START + PAWL_DAYS(40);
    pawl_text        headers =
        pawl_arena_printf(it->arena, "{\"pawl.schedule.late\":\"%lld %lld\",%s", (long long)ahead,
                          (long long)row.due, row.headers.data + 1);
    MUST_COMMIT(it->store, timeout_set, WORLD_START, .id = row.id, .saga_id = row.saga_id,
                .saga_type = row.saga_type, .name = row.name, .destination = row.destination,
                .due = ahead, .headers = headers);
    pawl_clock_set(it->business, WORLD_START + PAWL_HOURS(20));
    pawl_endpoint_destroy(it->endpoint);
    must(pawl_endpoint_create(&nightly, NULL, &it->options, &it->endpoint, world_error()));
    assert_int_equal(due(it), row.due);
    world_drain(it);
    expect_seen("n 01-02T02:00 ");
    assert_int_equal(due(it), row.due + PAWL_DAYS(1));
}

/* Clocks of two machines are never the same. */
ON_ALL_STORES(a_clock_that_is_a_little_ahead_changes_no_plan, const char *url)
{
    run_ahead(url, &often, PAWL_MINUTES(10));
    for (int seconds = 481; seconds > 478; seconds -= 2) {
        world *it = world_begin(url, &none, NULL, NULL);
        pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(seconds));
        pawl_endpoint_destroy(it->endpoint);
        must(pawl_endpoint_create(&often, NULL, &it->options, &it->endpoint, world_error()));
        assert_int_equal(due(it), WORLD_START + PAWL_MINUTES(seconds > 480 ? 20 : 10));
        world_close(it);
    }
}

/* ---- While it runs ------------------------------------------------------------------ */

/* The other one is a schedule of an operator's. */
ON_ALL_STORES(a_running_process_looks_for_plans_of_a_clock_ahead, const char *url)
{
    pawl_schedule_row row = {.queue = PAWL_TEXT("office"),
                             .name  = PAWL_TEXT("h"),
                             .type  = PAWL_TEXT("task"),
                             .body  = PAWL_TEXT("{}"),
                             .cron  = PAWL_TEXT("@hourly")};
    world            *it  = world_begin(url, &nightly, NULL, NULL);
    world_drain(it);
    must(pawl_store_schedule_add(it->store, &row, PAWL_TEXT("ruth"), PAWL_TEXT(""),
                                 WORLD_START + PAWL_DAYS(40), world_error()));
    run_ahead(url, &nightly, PAWL_DAYS(1));
    expect_seen("n 01-02T02:00 ");
    world_go_machine(it, PAWL_MINUTES(5));
    world_go(it, PAWL_HOURS(2));
    expect_seen("h 01-01T10:00 h 01-01T11:00 ");
    world_go(it, PAWL_DAYS(2) - PAWL_HOURS(3));
    assert_null(strstr(seen.text, "n 01-02T02:00"));
    assert_non_null(strstr(seen.text, "n 01-03T02:00"));
}

ON_ALL_STORES(a_paused_schedule_stays_paused_by_any_clock, const char *url)
{
    world *it = world_begin(url, &nightly, NULL, NULL);
    must(pawl_store_schedule_settle(it->store, PAWL_TEXT("office/n"), PAWL_SCHEDULE_PAUSE,
                                    PAWL_TEXT("ruth"), PAWL_TEXT(""), WORLD_START, world_error()));
    int64_t generation = world_timeouts(it).items[0].generation;
    world_go_machine(it, PAWL_MINUTES(5));
    world_begin(url, &nightly, NULL, NULL);
    assert_int_equal(world_timeouts(it).items[0].generation, generation);
    assert_int_equal(due(it), PAWL_TIME_MAX);
}
