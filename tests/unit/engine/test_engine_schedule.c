/* test_engine_schedule.c - schedules of an application's table: their times, what was missed, other
 * tables, several processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "engine/engine.h"
#include "pawl/store_schedule.h"
#include "pawl/upgrade.h"

#define DAY PAWL_DAYS(1)

PAWL_RECORD(task, A_NUMBER);
RECORD_WITH(report, ((INT32, number), (TEXT, kind)), .base = PAWL_RECORD_OF(task));

static world_log seen;

/* "3 nightly 2026-01-02T02:00:00Z" without the zeros at the end of the time. */
static pawl_code on_task(pawl_context *ctx, const task *message)
{
    pawl_text schedule = pawl_header_value(ctx, PAWL_HEADER_SCHEDULE);
    pawl_text planned  = pawl_header_value(ctx, PAWL_HEADER_PLANNED);
    assert_int_equal(planned.size, PAWL_TIME_TEXT_SIZE);
    world_note(&seen, "%d %.*s %.14s", message->number, PAWL_TEXT_ARGS(schedule), planned.data + 5);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_task, task);

static const task   third  = {.number = 3};
static const report fourth = {.number = 4, .kind = PAWL_TEXT_INIT("r")};

#define TASKS .message = PAWL_RECORD_OF(task)
#define PROGRAM(variable, ...)                                                        \
    static const pawl_endpoint_spec variable##_office = {                             \
        .name      = "office",                                                        \
        .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_task)}),                       \
        .schedules = __VA_ARGS__};                                                    \
    static const pawl_application variable = {PAWL_APPLICATION_HEAD, .name = "diary", \
                                              .endpoints = PAWL_ENDPOINTS(&variable##_office)}

PROGRAM(nightly,
        PAWL_SCHEDULES(
            {.name = "n", .cron = "0 3 * * *", .zone = "Europe/Berlin", TASKS, .value = &third}));
PROGRAM(often, PAWL_SCHEDULES({.name = "e", .every = PAWL_MINUTES(10), TASKS}));
PROGRAM(both,
        PAWL_SCHEDULES(
            {.name = "e", .every = PAWL_MINUTES(10), TASKS},
            {.name = "d", .cron = "@daily", .message = PAWL_RECORD_OF(report), .value = &fourth}));
PROGRAM(later,
        PAWL_SCHEDULES(
            {.name = "n", .cron = "0 5 * * *", .zone = "Europe/Berlin", TASKS, .value = &third}));
PROGRAM(none, NULL);
PROGRAM(all_missed,
        PAWL_SCHEDULES(
            {.name = "n", .cron = "0 3 * * *", .missed = PAWL_MISSED_ALL, .missed_max = 3, TASKS}));
PROGRAM(all_intervals, PAWL_SCHEDULES({.name       = "e",
                                       .every      = PAWL_HOURS(6),
                                       .missed     = PAWL_MISSED_ALL,
                                       .missed_max = 3,
                                       TASKS}));
PROGRAM(other_message, /* of `nightly`, and of `often` */
        PAWL_SCHEDULES({.name    = "n",
                        .cron    = "0 3 * * *",
                        .zone    = "Europe/Berlin",
                        .missed  = PAWL_MISSED_ALL,
                        .message = PAWL_RECORD_OF(report),
                        .value   = &fourth},
                       {.name = "e", .every = PAWL_MINUTES(10), TASKS, .value = &third}));
PROGRAM(other_zone, PAWL_SCHEDULES({.name = "n", .cron = "0 3 * * *", TASKS, .value = &third}));
PROGRAM(slower, PAWL_SCHEDULES({.name = "e", .every = PAWL_MINUTES(20), TASKS}));
PROGRAM(skip_missed,
        PAWL_SCHEDULES({.name = "n", .cron = "0 3 * * *", .missed = PAWL_MISSED_SKIP, TASKS}));

/* The endpoint ends, and begins again when `duration` has passed. */
static void be_away(world *it, const pawl_application *application, int64_t duration)
{
    pawl_endpoint_destroy(it->endpoint);
    it->endpoint = NULL;
    pawl_clock_set(it->business, world_now(it) + duration);
    must(pawl_endpoint_create(application, NULL, &it->options, &it->endpoint, world_error()));
}

/* ---- Times ----------------------------------------------------------------- */

ON_ALL_STORES(a_line_of_cron_by_its_zone, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    LOG_AFTER(world_go(it, PAWL_HOURS(17) - 1), seen, "");
    LOG_AFTER(world_go(it, 1), seen, "3 n 01-02T02:00:00 ");
    LOG_AFTER(world_go(it, 2 * DAY), seen,
              "3 n 01-02T02:00:00 3 n 01-03T02:00:00 3 n 01-04T02:00:00 ");
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_HOURS(17) + 3 * DAY);
    assert_int_equal(world_timeouts(it).items[0].attempts, 0);
}

ON_ALL_STORES(an_interval_from_the_first_start_on, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &often, NULL, NULL);
    LOG_AFTER(world_go(it, PAWL_MINUTES(25)), seen, "0 e 01-01T09:10:00 0 e 01-01T09:20:00 ");
    be_away(it, &often, PAWL_MINUTES(1));
    LOG_AFTER(world_go(it, PAWL_MINUTES(4)), seen,
              "0 e 01-01T09:10:00 0 e 01-01T09:20:00 0 e 01-01T09:30:00 ");
}

ON_ALL_STORES(two_schedules_and_a_derived_message, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &both, NULL, NULL);
    LOG_AFTER(world_go(it, PAWL_MINUTES(10)), seen, "0 e 01-01T09:10:00 ");
    world_forget(&seen);
    world_go(it, PAWL_HOURS(14) + PAWL_MINUTES(50));
    assert_true(world_says(pawl_text_of(seen.text), "4 d 01-02T00:00:00"));
    assert_int_equal(world_dead(it).count, 0);
}

/* ---- Several processes -------------------------------------------------------- */

ON_ALL_STORES(of_two_processes_one_sends, const char *url)
{
    world_forget(&seen);
    world *one = world_begin(url, &nightly, NULL, NULL);
    world *two = world_begin(url, &nightly, NULL, NULL);
    assert_int_equal(world_timeouts(one).count, 1);
    pawl_clock_set(two->business, WORLD_START + DAY);
    world_go(one, DAY);
    world_drain(two);
    LOG_AFTER(world_drain(one), seen, "3 n 01-02T02:00:00 ");
    world_go(two, DAY);
    LOG_AFTER(world_go(one, DAY), seen, "3 n 01-02T02:00:00 3 n 01-03T02:00:00 ");
}

/* A row that comes back from a backup sends the same message, which is known. */
ON_ALL_STORES(a_time_is_handled_once, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    world_go(it, DAY);
    pawl_timeout_row row     = world_timeouts(it).items[0];
    pawl_refusals    refused = {.arena = it->arena};
    must(pawl_store_commit(it->store,
                           ONE_CHANGE(timeout_set, WORLD_START, .id = row.id,
                                      .saga_id = row.saga_id, .saga_type = row.saga_type,
                                      .name = row.name, .destination = row.destination,
                                      .due = row.due - DAY, .headers = row.headers),
                           &refused, world_error()));
    LOG_AFTER(world_drain(it), seen, "3 n 01-02T02:00:00 ");
    assert_int_equal(world_timeouts(it).items[0].due, row.due);
}

/* ---- Missed -------------------------------------------------------------------- */

ON_ALL_STORES(of_missed_times_the_last_one, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    be_away(it, &nightly, 40 * DAY);
    LOG_AFTER(world_drain(it), seen, "3 n 02-10T02:00:00 ");
    LOG_AFTER(world_go(it, DAY), seen, "3 n 02-10T02:00:00 3 n 02-11T02:00:00 ");
}

ON_ALL_STORES(of_missed_times_all_up_to_a_limit, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &all_missed, NULL, NULL);
    be_away(it, &all_missed, 2 * DAY);
    LOG_AFTER(world_drain(it), seen, "0 n 01-02T03:00:00 0 n 01-03T03:00:00 ");
    world_forget(&seen);
    be_away(it, &all_missed, 5 * DAY + PAWL_HOURS(17));
    LOG_AFTER(world_drain(it), seen, "0 n 01-06T03:00:00 0 n 01-07T03:00:00 0 n 01-08T03:00:00 ");
}

ON_ALL_STORES(of_missed_intervals_all_up_to_a_limit, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &all_intervals, NULL, NULL);
    be_away(it, &all_intervals, PAWL_HOURS(13));
    LOG_AFTER(world_drain(it), seen, "0 e 01-01T15:00:00 0 e 01-01T21:00:00 ");
    world_forget(&seen);
    be_away(it, &all_intervals, DAY);
    LOG_AFTER(world_drain(it), seen, "0 e 01-02T09:00:00 0 e 01-02T15:00:00 0 e 01-02T21:00:00 ");
}

/* Late by a minute is not missed. */
ON_ALL_STORES(missed_times_are_skipped, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &skip_missed, NULL, NULL);
    be_away(it, &skip_missed, PAWL_HOURS(18) + DAY + PAWL_MINUTES(1) + 1);
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_HOURS(18) + 2 * DAY);
    be_away(it, &skip_missed, DAY - 1);
    LOG_AFTER(world_drain(it), seen, "0 n 01-04T03:00:00 ");
}

/* ---- Other tables ---------------------------------------------------------------- */

ON_ALL_STORES(another_line_is_planned_anew, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_HOURS(17));
    int64_t generation = world_timeouts(it).items[0].generation;
    be_away(it, &nightly, 1);
    assert_int_equal(world_timeouts(it).items[0].generation, generation);
    be_away(it, &later, 1);
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_HOURS(19));
    LOG_AFTER(world_go(it, DAY), seen, "3 n 01-02T04:00:00 ");
}

ON_ALL_STORES(another_zone_or_interval_is_planned_anew, const char *url)
{
    world *it = world_begin(url, &nightly, NULL, NULL);
    be_away(it, &other_zone, PAWL_HOURS(18) - 1);
    world_drain(it);
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_HOURS(18));
    be_away(it, &often, 0);
    be_away(it, &slower, PAWL_MINUTES(9));
    assert_int_equal(world_timeouts(it).items[1].due, world_now(it) + PAWL_MINUTES(20));
}

/* A deploy changes the message and its policy, but not the times: none is lost, and no interval begins anew. */
ON_ALL_STORES(another_message_keeps_the_planned_times, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    be_away(it, &often, 0);
    be_away(it, &other_message, PAWL_MINUTES(9));
    LOG_AFTER(world_go(it, PAWL_MINUTES(1)), seen, "3 e 01-01T09:10:00 ");
    world_forget(&seen);
    be_away(it, &nightly, PAWL_HOURS(16));
    be_away(it, &other_message, DAY);
    world_drain(it);
    assert_true(world_says(pawl_text_of(seen.text), "4 n 01-02T02:00:00"));
}

/* Pauses, or resumes, the only schedule before the n-th commit. */
static struct pauser {
    world *it;
    int    left;
    bool   is_pause;
} ruth;

static pawl_code pause_or_resume(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT || ruth.left-- != 1)
        return PAWL_OK;
    hook_set(NULL, NULL);
    must(pawl_store_schedule_settle(ruth.it->store, PAWL_TEXT("office/n"),
                                    ruth.is_pause ? PAWL_SCHEDULE_PAUSE : PAWL_SCHEDULE_RESUME,
                                    PAWL_TEXT("ruth"), PAWL_TEXT(""), world_now(ruth.it),
                                    world_error()));
    return PAWL_OK;
}

/* An operator pauses a schedule while a program with another declaration begins, at each commit of its start. */
ON_ALL_STORES(a_start_leaves_a_pause_of_the_moment, const char *url)
{
    pawl_schedule_rows rows = {.count = 0};
    world             *it   = world_begin(hook_url(url), &nightly, NULL, NULL);
    for (int i = 1;; i++) {
        ruth = (struct pauser){it, i, i % 2 == 1};
        hook_set(pause_or_resume, NULL);
        be_away(it, ruth.is_pause ? &later : &nightly, 1);
        hook_set(NULL, NULL);
        if (ruth.left > 0)
            break;
        must(pawl_store_schedule_list(it->store, it->arena, &rows, world_error()));
        assert_true(rows.items[0].is_paused == ruth.is_pause);
        assert_true(pawl_text_equal(rows.items[0].changed_by, PAWL_TEXT("ruth")));
        assert_true(world_says(rows.items[0].cron, ruth.is_pause ? "5" : "3"));
    }
}

static pawl_code begin_later(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT)
        return PAWL_OK;
    hook_set(NULL, NULL);
    be_away(context, &later, 1);
    return PAWL_OK;
}

/* A pause does not write the old declaration back where a program with another one begins at the moment. */
ON_ALL_STORES(a_pause_leaves_a_start_of_the_moment, const char *url)
{
    pawl_schedule_rows rows = {.count = 0};
    world             *it   = world_begin(hook_url(url), &nightly, NULL, NULL);
    hook_set(begin_later, it);
    must(pawl_store_schedule_settle(it->store, PAWL_TEXT("office/n"), PAWL_SCHEDULE_PAUSE,
                                    PAWL_TEXT("ruth"), PAWL_TEXT(""), world_now(it),
                                    world_error()));
    must(pawl_store_schedule_list(it->store, it->arena, &rows, world_error()));
    assert_true(rows.items[0].is_paused && world_says(rows.items[0].cron, "5"));
}

/* An operator adds a schedule of the same name at the moment of the first start. */
static pawl_code add_another(hook_point point, void *context)
{
    world            *it  = context;
    pawl_schedule_row row = {.queue = PAWL_TEXT("office"),
                             .name  = PAWL_TEXT("n"),
                             .type  = PAWL_TEXT("task"),
                             .body  = PAWL_TEXT("{}"),
                             .every = PAWL_HOURS(1)};
    if (point == HOOK_BEFORE_COMMIT)
        (void)pawl_store_schedule_add(it->store, &row, PAWL_TEXT("ruth"), PAWL_TEXT(""),
                                      world_now(it), NULL);
    return PAWL_OK;
}

ON_ALL_STORES(a_first_start_is_not_lost_to_another_row, const char *url)
{
    pawl_schedule_rows rows = {.count = 0};
    world             *it   = world_begin(url, &none, NULL, NULL);
    it->options.store       = hook_url(url);
    hook_set(add_another, it);
    be_away(it, &nightly, 1);
    hook_set(NULL, NULL);
    must(pawl_store_schedule_list(it->store, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    assert_true(rows.items[0].is_declared && rows.items[0].next == WORLD_START + PAWL_HOURS(17));
    assert_true(pawl_text_equal(rows.items[0].changed_by, PAWL_TEXT("ruth")));
}

/* In a rolling deploy the old program, which has no such schedule, may find it due. */
ON_ALL_STORES(an_old_program_sends_for_a_new_one, const char *url)
{
    world_forget(&seen);
    world *old = world_begin(url, &none, NULL, NULL);
    world_begin(url, &nightly, NULL, NULL);
    LOG_AFTER(world_go(old, DAY), seen, "3 n 01-02T02:00:00 ");
    assert_int_equal(world_timeouts(old).count, 1);
}

ON_ALL_STORES(a_schedule_that_no_program_has_goes, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &nightly, NULL, NULL);
    be_away(it, &none, PAWL_HOURS(1));
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 1);
    LOG_AFTER(world_go(it, DAY), seen, "");
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

static void count_found(const pawl_upgrade_found *found, void *context)
{
    ++*(int *)context;
}

ON_ALL_STORES(its_row_is_nothing_that_an_upgrade_loses, const char *url)
{
    pawl_upgrade  *upgrade = NULL;
    pawl_scan      scan    = {.kind = PAWL_SCAN_TIMEOUTS};
    pawl_scan_rows rows    = {.count = 0};
    int            found   = 0;
    world         *it      = world_begin(url, &nightly, NULL, NULL);
    must(pawl_upgrade_create(&none, NULL, &upgrade, world_error()));
    must(pawl_store_scan(it->store, &scan, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    must(pawl_upgrade_rows(upgrade, it->store, &scan, &rows, it->arena, count_found, &found,
                           world_error()));
    assert_int_equal(found, 0);
    pawl_upgrade_destroy(upgrade);
}

/* ---- Trouble ---------------------------------------------------------------------- */

static test_lines lines;

static void put_row(world *it, pawl_text headers)
{
    pawl_timeout_row row     = world_timeouts(it).items[0];
    pawl_refusals    refused = {.arena = it->arena};
    must(pawl_store_commit(it->store,
                           ONE_CHANGE(timeout_set, WORLD_START, .id = row.id,
                                      .saga_id = row.saga_id, .saga_type = row.saga_type,
                                      .name = row.name, .destination = row.destination,
                                      .due = row.due, .headers = headers),
                           &refused, world_error()));
}

/* Writes other headers into the only row, and drains when it is due. */
static void spoil_row(world *it, const char *headers)
{
    const pawl_time due = world_timeouts(it).items[0].due;
    put_row(it, pawl_text_of(headers));
    test_listen(&lines, PAWL_LOG_WARNING, NULL);
    world_go(it, PAWL_MINUTES(10) + PAWL_SECONDS(30));
    world_quiet();
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_timeouts(it).items[0].due, due + PAWL_MINUTES(1));
    assert_int_equal(world_timeouts(it).items[0].attempts, 0);
}

/* The program that wrote the row ran where the zone is known. */
ON_ALL_STORES(a_row_that_cannot_be_planned_is_tried_again, const char *url)
{
    world *it = world_begin(url, &often, NULL, NULL);
    spoil_row(it, "{\"pawl.schedule.type\":\"task\",\"pawl.schedule.body\":\"{}\","
                  "\"pawl.schedule.cron\":\"* * * * *\","
                  "\"pawl.schedule.zone\":\"Europe/Atlantis\"}");
    assert_string_equal(lines.last,
                        "schedule office/e: time zone 'Europe/Atlantis': there is no file "
                        "of it in /usr/share/zoneinfo; tried again in a minute");
}

/* No pawl writes both; an interval below zero would plan times without an end. */
ON_ALL_STORES(a_row_with_two_plans_is_tried_again, const char *url)
{
    world *it = world_begin(url, &often, NULL, NULL);
    spoil_row(it, "{\"pawl.schedule.type\":\"task\",\"pawl.schedule.body\":\"{}\","
                  "\"pawl.schedule.cron\":\"* * * * *\",\"pawl.schedule.every\":\"-5\"}");
    assert_string_equal(lines.last, "schedule office/e: its row has both pawl.schedule.cron and "
                                    "pawl.schedule.every; tried again in a minute");
}

/* A message that no store takes, since its type has a byte too many. */
static void spoil_type(world *it)
{
    char type[PAWL_NAME_SIZE_MAX + 2];
    memset(type, 't', sizeof type);
    type[sizeof type - 1] = '\0';
    spoil_row(it, test_text("{\"pawl.schedule.type\":\"%s\",\"pawl.schedule.body\":\"{}\","
                            "\"pawl.schedule.every\":\"60000000\"}",
                            type));
    assert_non_null(strstr(lines.last, "schedule office/e: "));
    assert_non_null(strstr(lines.last, "; tried again in a minute"));
}

ON_ALL_STORES(a_row_that_cannot_be_sent_is_tried_again, const char *url)
{
    spoil_type(world_begin(url, &often, NULL, NULL));
}

/* The rows of recovery are for messages and timeouts: a schedule that is discarded is deleted. */
ON_ALL_STORES(e37_a_row_that_discards_is_not_for_schedules, const char *url)
{
    const pawl_recovery *rows = PAWL_RECOVERY({.delayed = -1, .then = PAWL_THEN_DISCARD});
    spoil_type(world_begin(url, &often, NULL, &(pawl_endpoint_options){.recovery = rows}));
}

/* Writes the row with `right` for `wrong` in its headers, due when it is. */
static void mend_row(world *it, const char *wrong, const char *right)
{
    pawl_text   headers = world_timeouts(it).items[0].headers;
    const char *at      = strstr(headers.data, wrong);
    assert_non_null(at);
    put_row(it, pawl_arena_printf(it->arena, "%.*s%s%s", (int)(at - headers.data), headers.data,
                                  right, at + strlen(wrong)));
}

/* The connection is lost before each commit that is tried, and again behind it, when it landed. */
static pawl_code lose_each(hook_point point, void *context)
{
    int *lost = context;
    return (point == HOOK_BEFORE_COMMIT || point == HOOK_AFTER_COMMIT) && ++*lost % 3 != 0
               ? PAWL_ELOST
               : PAWL_OK;
}

static void go_and_lose(world *it, int64_t duration)
{
    int       lost = 0;
    pawl_code code;
    hook_set(lose_each, &lost);
    pawl_clock_set(it->business, world_now(it) + duration);
    do {
        pawl_step step = PAWL_STEP_INIT;
        code           = pawl_endpoint_drain(it->endpoint, &step, NULL);
    } while (code == PAWL_ELOST && lost < 50);
    hook_set(NULL, NULL);
    assert_int_equal(code, PAWL_OK);
    assert_true(lost > 6);
}

/* The zone's file comes back after two tries in vain: the time that was planned is sent, not that of the third try. */
ON_ALL_STORES(a_time_that_waited_is_still_the_planned_one, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(hook_url(url), &often, NULL, NULL);
    put_row(it, PAWL_TEXT("{\"pawl.schedule\":\"e\",\"pawl.schedule.type\":\"task\","
                          "\"pawl.schedule.body\":\"{}\",\"pawl.schedule.cron\":\"*/5 * * * *\","
                          "\"pawl.schedule.zone\":\"Europe/Atlantis\"}"));
    test_listen(&lines, PAWL_LOG_ERROR, NULL);
    go_and_lose(it, PAWL_MINUTES(11) + PAWL_SECONDS(30));
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_MINUTES(12));
    world_quiet();
    mend_row(it, "Europe/Atlantis", "Europe/Berlin");
    LOG_AFTER(world_go(it, PAWL_MINUTES(4)), seen, "0 e 01-01T09:10:00 0 e 01-01T09:15:00 ");
    pawl_time        planned;
    pawl_timeout_row row = world_timeouts(it).items[0];
    assert_int_equal(row.due, WORLD_START + PAWL_MINUTES(20));
    must(pawl__schedule_planned(&row, it->arena, &planned));
    assert_int_equal(planned, row.due);
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen,
              "0 e 01-01T09:10:00 0 e 01-01T09:15:00 0 e 01-01T09:20:00 ");
}

/* A message that cannot be sent, in a program that is replaced by one whose message can. */
ON_ALL_STORES(a_time_that_waited_is_kept_by_another_program, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &often, NULL, NULL);
    spoil_type(it);
    assert_int_equal(world_timeouts(it).items[0].due, WORLD_START + PAWL_MINUTES(11));
    mend_row(it, "\"pawl.schedule.every\":\"60000000\"", "\"pawl.schedule.every\":\"600000000\"");
    be_away(it, &often, 0);
    LOG_AFTER(world_drain(it), seen, "0 e 01-01T09:10:00 ");
}

/* An interval goes on from the time that waited, whose message had a type that no store takes. */
ON_ALL_STORES(an_interval_that_waited_keeps_its_times, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &often, NULL, NULL);
    spoil_type(it);
    char type[PAWL_NAME_SIZE_MAX + 2];
    memset(type, 't', sizeof type);
    type[sizeof type - 1] = '\0';
    mend_row(it, type, "task");
    LOG_AFTER(world_go(it, PAWL_MINUTES(2)), seen, "0  01-01T09:11:00 0  01-01T09:12:00 ");
}

/* Another worker writes the row while this one has it in hand. */
static pawl_code write_again(hook_point point, void *context)
{
    world           *it  = context;
    pawl_timeout_row row = world_timeouts(it).items[0];
    if (point != HOOK_BEFORE_COMMIT || row.due > world_now(it))
        return PAWL_OK;
    hook_set(NULL, NULL);
    put_row(it, row.headers);
    return PAWL_OK;
}

/* The row is tried again in a minute: there was no dead letter that could be taken back. */
ON_ALL_STORES(a_refused_row_that_cannot_be_sent_counts_for_none, const char *url)
{
    world *it = world_begin(hook_url(url), &often, NULL, NULL);
    hook_set(write_again, it);
    spoil_type(it);
    assert_int_equal(world_stats(it).counters.conflicts, 1);
    assert_int_equal(world_stats(it).counters.dead, 0);
}
