/* test_schedule_operations.c - operators list schedules, add, pause, resume, run and remove them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/store_schedule.h"

#define DAY PAWL_DAYS(1)
#define BY PAWL_TEXT("ruth")
#define WHY PAWL_TEXT("ticket 7")
#define NONE PAWL_TEXT("")

PAWL_RECORD(task, A_NUMBER);

static world_log seen;

static pawl_code on_task(pawl_context *ctx, const task *message)
{
    pawl_text schedule = pawl_header_value(ctx, PAWL_HEADER_SCHEDULE);
    pawl_text planned  = pawl_header_value(ctx, PAWL_HEADER_PLANNED);
    pawl_text by       = pawl_header_value(ctx, PAWL_HEADER_SCHEDULE_RUN_BY);
    world_note(&seen, "%d %.*s %.14s%.*s", message->number, PAWL_TEXT_ARGS(schedule),
               planned.data + 5, PAWL_TEXT_ARGS(by));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_task, task);

static const pawl_application plain =
    ONE_ENDPOINT("plain", .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)}));

static const pawl_endpoint_spec office_with = {
    .name      = "office",
    .handlers  = PAWL_ON({.handle = PAWL_HANDLE(on_task)}),
    .schedules = PAWL_SCHEDULES({.name    = "own",
                                 .cron    = "0 3 * * *",
                                 .zone    = "Europe/Berlin",
                                 .message = PAWL_RECORD_OF(task)})};
static const pawl_application with_own = APPLICATION("plain", &office_with);

/* A schedule of the same name, and a queue that has not the endpoint's. */
static const pawl_endpoint_spec branch_with = {
    .name     = "branch",
    .queue    = "desk",
    .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)}),
    .schedules =
        PAWL_SCHEDULES({.name = "own", .cron = "0 4 * * *", .message = PAWL_RECORD_OF(task)})};
static const pawl_application with_branch = APPLICATION("branch", &branch_with);

#define MESSAGE                                                        \
    .queue = PAWL_TEXT_INIT("office"), .type = PAWL_TEXT_INIT("task"), \
    .body = PAWL_TEXT_INIT("{\"number\":5}")
static const pawl_schedule_row hourly = {
    .name = PAWL_TEXT_INIT("h"), .every = PAWL_HOURS(1), MESSAGE};
static const pawl_schedule_row nightly = {.name       = PAWL_TEXT_INIT("n"),
                                          .cron       = PAWL_TEXT_INIT("0 3 * * *"),
                                          .zone       = PAWL_TEXT_INIT("Europe/Berlin"),
                                          .missed     = PAWL_MISSED_ALL,
                                          .missed_max = 7,
                                          .headers    = PAWL_TEXT_INIT("{\"tenant\":\"blue\"}"),
                                          MESSAGE};

static void add(world *it, const pawl_schedule_row *row)
{
    must(pawl_store_schedule_add(it->store, row, BY, WHY, world_now(it), world_error()));
}

static pawl_code settle(world *it, const char *id, pawl_schedule_action action)
{
    return pawl_store_schedule_settle(it->store, pawl_text_of(id), action, BY, WHY, world_now(it),
                                      NULL);
}

static pawl_schedule_rows all(world *it)
{
    pawl_schedule_rows rows = {.count = 0};
    must(pawl_store_schedule_list(it->store, it->arena, &rows, world_error()));
    return rows;
}

/* ---- Adding ----------------------------------------------------------------- */

ON_ALL_STORES(what_is_added_is_listed, const char *url)
{
    world *it = world_begin(url, &plain, NULL, NULL);
    assert_int_equal(all(it).count, 0);
    add(it, &nightly);
    add(it, &hourly);
    pawl_schedule_rows rows = all(it);
    assert_int_equal(rows.count, 2);
    const pawl_schedule_row *h = &rows.items[0], *n = &rows.items[1];
    assert_true(text_is(h->id, "office/h") && text_is(h->queue, "office") && text_is(h->name, "h"));
    assert_true(text_is(h->cron, "") && text_is(h->zone, "") && h->every == PAWL_HOURS(1));
    assert_true(h->missed == PAWL_MISSED_ONCE && h->next == WORLD_START + PAWL_HOURS(1));
    assert_true(text_is(n->id, "office/n") && text_is(n->cron, "0 3 * * *") &&
                text_is(n->zone, "Europe/Berlin"));
    assert_true(n->every == 0 && n->missed == PAWL_MISSED_ALL && n->missed_max == 7);
    assert_true(text_is(n->type, "task") && text_is(n->body, "{\"number\":5}"));
    assert_true(world_says(n->headers, "\"tenant\":\"blue\""));
    assert_false(world_says(n->headers, "pawl.schedule.cron"));
    assert_int_equal(n->next, WORLD_START + PAWL_HOURS(17));
    assert_false(n->is_paused || n->is_declared);
    assert_true(text_is(n->changed_by, "ruth") && text_is(n->reason, "ticket 7"));
    assert_true(text_is(n->changed_at, "2026-01-01T09:00:00.000000Z"));
}

/* Its headers have the name of the schedule that was listed. */
ON_ALL_STORES(what_is_listed_can_be_added, const char *url)
{
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &nightly);
    pawl_schedule_row row = all(it).items[0];
    row.name              = PAWL_TEXT("m");
    add(it, &row);
    assert_true(world_says(all(it).items[0].headers, "\"pawl.schedule\":\"m\""));
}

/* The endpoint has no timeout of its own. */
ON_ALL_STORES(what_is_added_is_sent, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &nightly);
    LOG_AFTER(world_go(it, 2 * DAY), seen, "5 n 01-02T02:00:00 5 n 01-03T02:00:00 ");
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(a_second_of_the_name_is_refused, const char *url)
{
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &hourly);
    pawl_schedule_row other = hourly;
    other.every             = PAWL_HOURS(2);
    must_fail(pawl_store_schedule_add(it->store, &other, BY, NONE, WORLD_START, world_error()),
              PAWL_EDUPLICATE, "there is a schedule office/h already");
    assert_int_equal(all(it).items[0].every, PAWL_HOURS(1));
}

#define HOURLY .name = PAWL_TEXT_INIT("h"), .every = PAWL_HOURS(1)
static const char long_name[] =
    "nnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
static const struct {
    pawl_schedule_row row;
    pawl_code         code;
    const char       *says;
} mistakes[] = {
    {{.every = PAWL_HOURS(1), MESSAGE}, PAWL_EINVAL, "needs a name, a queue, a type and a body"},
    {{HOURLY, .queue = PAWL_TEXT_INIT("q"), .type = PAWL_TEXT_INIT("t")},
     PAWL_EINVAL,
     "needs a name, a queue, a type and a body"},
    {{.name = PAWL_TEXT_INIT("a/b"), .every = PAWL_HOURS(1), MESSAGE},
     PAWL_EINVAL,
     "schedule 'a/b': a name is UTF-8 and has no '/'"},
    {{.name = PAWL_TEXT_INIT("a\xff"), .every = PAWL_HOURS(1), MESSAGE},
     PAWL_EINVAL,
     "a name is UTF-8"},
    {{.name = {.data = long_name, .size = 194}, .every = PAWL_HOURS(1), MESSAGE},
     PAWL_EINVAL,
     "have 200 bytes, at most 199 are taken"},
    {{.name = PAWL_TEXT_INIT("a\nb"), .every = PAWL_HOURS(1), MESSAGE},
     PAWL_EINVAL,
     "has a quote, a backslash, a control character"},
    {{.name  = PAWL_TEXT_INIT("h"),
      .every = PAWL_HOURS(1),
      .queue = PAWL_TEXT_INIT("a\"b"),
      .type  = PAWL_TEXT_INIT("t"),
      .body  = PAWL_TEXT_INIT("{}")},
     PAWL_EINVAL,
     "schedule name 'a\"b/h' has a quote"},
    {{HOURLY, .queue = PAWL_TEXT_INIT("office"), .type = {.data = long_name, .size = 201},
      .body = PAWL_TEXT_INIT("{}")},
     PAWL_ELIMIT,
     "schedule office/h: queue_send 0: message.type: it has 201 bytes, limit 200"},
    {{HOURLY, .queue = PAWL_TEXT_INIT("office"), .type = PAWL_TEXT_INIT("t\xff"),
      .body = PAWL_TEXT_INIT("{}")},
     PAWL_EINVAL,
     "message.type: byte 1 is not UTF-8"},
    {{HOURLY, .queue = PAWL_TEXT_INIT("office"), .type = PAWL_TEXT_INIT("t"),
      .body = PAWL_TEXT_INIT("{\xff}")},
     PAWL_EINVAL,
     "schedule office/h: byte 1 of its body is NUL or not UTF-8"},
    {{HOURLY, .headers = PAWL_TEXT_INIT("none"), MESSAGE},
     PAWL_EINVAL,
     "schedule office/h: its headers: invalid JSON at byte"},
    {{HOURLY, .headers = PAWL_TEXT_INIT("[]"), MESSAGE},
     PAWL_EINVAL,
     "its headers are not a JSON object of strings"},
    {{HOURLY, .headers = PAWL_TEXT_INIT("{\"a\":7,\"b\":\"c\"}"), MESSAGE},
     PAWL_EINVAL,
     "its headers are not a JSON object of strings"},
    {{HOURLY, .headers = PAWL_TEXT_INIT("{\"pawl.schedule.cron\":\"@daily\"}"), MESSAGE},
     PAWL_EINVAL,
     "its header pawl.schedule.cron is one of pawl's own"},
    {{.name = PAWL_TEXT_INIT("h"), MESSAGE},
     PAWL_EINVAL,
     "a schedule needs a line of cron or an interval"},
    {{HOURLY, .cron = PAWL_TEXT_INIT("@daily"), MESSAGE}, PAWL_EINVAL, "an interval, not both"},
    {{HOURLY, .zone = PAWL_TEXT_INIT("UTC"), MESSAGE},
     PAWL_EINVAL,
     "a time zone is for a line of cron, not for an interval"},
    {{.name = PAWL_TEXT_INIT("h"), .every = 999999, MESSAGE},
     PAWL_EINVAL,
     "an interval of 999999 microseconds; at least 1000000 are taken"},
    {{HOURLY, .missed = (pawl_missed)3, MESSAGE}, PAWL_EINVAL, "3 is not a policy"},
    {{HOURLY, .missed_max = 3, MESSAGE}, PAWL_EINVAL, "is for PAWL_MISSED_ALL alone"},
    {{HOURLY, .missed = PAWL_MISSED_ALL, .missed_max = 1001, MESSAGE},
     PAWL_EINVAL,
     "1001 missed times; 1 to 1000 are taken"},
    {{.name = PAWL_TEXT_INIT("h"), .cron = PAWL_TEXT_INIT("0 25 * * *"), MESSAGE},
     PAWL_EINVAL,
     "hour '25' is none of 0 to 23"},
    {{.name = PAWL_TEXT_INIT("h"),
      .cron = PAWL_TEXT_INIT("@daily"),
      .zone = PAWL_TEXT_INIT("Europe/Atlantis"),
      MESSAGE},
     PAWL_ENOTFOUND,
     "time zone 'Europe/Atlantis'"},
};

ON_ALL_STORES(each_mistake_is_named, const char *url)
{
    world *it = world_begin(url, &plain, NULL, NULL);
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_code  code =
            pawl_store_schedule_add(it->store, &mistakes[i].row, BY, NONE, WORLD_START, &error);
        if (code != mistakes[i].code || strstr(error.text, mistakes[i].says) == NULL)
            fail_msg("mistake %zu: %s '%s' does not say '%s'", i, pawl_code_name(code), error.text,
                     mistakes[i].says);
    }
    pawl_error error = PAWL_ERROR_INIT;
    must_fail(pawl_store_schedule_add(it->store, &hourly, NONE, NONE, 0, world_error()),
              PAWL_EINVAL, "schedule office/h: the name of the operator is empty");
    char      reason[PAWL_ERROR_TEXT_SIZE_MAX];
    pawl_text longest = {.data = memset(reason, 'r', sizeof reason), .size = sizeof reason - 3};
    assert_int_equal(pawl_store_schedule_add(it->store, &hourly, BY, longest, 0, &error),
                     PAWL_ELIMIT);
    assert_int_equal(all(it).count, 0);
}

/* ---- Settling ----------------------------------------------------------------- */

ON_ALL_STORES(while_it_is_paused_nothing_is_sent_or_missed, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &with_own, NULL, NULL);
    assert_int_equal(settle(it, "office/own", PAWL_SCHEDULE_PAUSE), PAWL_OK);
    pawl_schedule_row row = all(it).items[0];
    assert_true(row.is_paused && row.is_declared && row.next == 0);
    assert_true(text_is(row.changed_by, "ruth") && text_is(row.reason, "ticket 7"));
    LOG_AFTER(world_go(it, 3 * DAY), seen, "");
    pawl_endpoint_destroy(it->endpoint); /* another start leaves it paused */
    must(pawl_endpoint_create(&with_own, NULL, &it->options, &it->endpoint, world_error()));
    assert_true(all(it).items[0].is_paused);
    assert_int_equal(settle(it, "office/own", PAWL_SCHEDULE_RESUME), PAWL_OK);
    assert_int_equal(all(it).items[0].next, WORLD_START + 3 * DAY + PAWL_HOURS(17));
    assert_int_equal(settle(it, "office/own", PAWL_SCHEDULE_RESUME), PAWL_OK);
    LOG_AFTER(world_go(it, DAY), seen, "0 own 01-05T02:00:00 ");
}

ON_ALL_STORES(run_sends_one_and_leaves_the_plan, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &nightly);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_PAUSE), PAWL_OK);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_RUN), PAWL_OK);
    LOG_AFTER(world_drain(it), seen, "5 n 01-01T09:00:00ruth ");
    assert_true(all(it).items[0].is_paused);
}

ON_ALL_STORES(what_is_removed_is_gone, const char *url)
{
    world_forget(&seen);
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &nightly);
    add(it, &hourly);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_REMOVE), PAWL_OK);
    assert_int_equal(all(it).count, 1);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_REMOVE), PAWL_ENOTFOUND);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_RUN), PAWL_ENOTFOUND);
    world_go(it, DAY - 1);
    assert_null(strstr(seen.text, " n "));
}

/* A schedule of a table comes back with the next start, and so goes only when no program has it. */
ON_ALL_STORES(one_of_a_table_is_not_removed, const char *url)
{
    world *it    = world_begin(url, &with_own, NULL, NULL);
    world *other = world_begin(url, &plain, NULL, NULL);
    must_fail(pawl_store_schedule_settle(it->store, PAWL_TEXT("office/own"), PAWL_SCHEDULE_REMOVE,
                                         BY, NONE, WORLD_START, world_error()),
              PAWL_EINVAL,
              "schedule office/own stands in the table of a program that runs, which "
              "would write it again: pause it, or take it out of the table");
    world_close(it);
    assert_int_equal(all(other).count, 1);
    assert_int_equal(settle(other, "office/own", PAWL_SCHEDULE_REMOVE), PAWL_OK);
    assert_int_equal(all(other).count, 0);
}

ON_ALL_STORES(one_of_another_table_is_removed, const char *url)
{
    world *it    = world_begin(url, &with_own, NULL, NULL);
    world *other = world_begin(url, &with_branch, NULL, NULL);
    assert_int_equal(settle(other, "office/own", PAWL_SCHEDULE_REMOVE), PAWL_EINVAL);
    assert_int_equal(settle(other, "desk/own", PAWL_SCHEDULE_REMOVE), PAWL_EINVAL);
    world_close(it);
    assert_int_equal(settle(other, "office/own", PAWL_SCHEDULE_REMOVE), PAWL_OK);
    assert_int_equal(settle(other, "desk/own", PAWL_SCHEDULE_REMOVE), PAWL_EINVAL);
    assert_int_equal(all(other).count, 1);
}

/* "added by ruth: ticket 7" and so on, and the last body. */
static pawl_text actions_of(world *it, const char *id, pawl_text *body)
{
    pawl_event_rows rows = {.count = 0};
    pawl_text       text = NONE;
    must(pawl_store_schedule_actions(it->store, pawl_text_of(id), it->arena, &rows, world_error()));
    *body = NONE;
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_event *event = &rows.items[i].event;
        assert_true(world_says(event->headers, "\"by\":\"ruth\"") &&
                    world_says(event->headers, "\"reason\":\"ticket 7\""));
        assert_int_equal(event->at, WORLD_START);
        text  = pawl_arena_printf(it->arena, "%.*s%.*s ", PAWL_TEXT_ARGS(text),
                                  PAWL_TEXT_ARGS(event->type));
        *body = event->body;
    }
    return text;
}

/* An action that changes nothing leaves no event. */
ON_ALL_STORES(each_change_leaves_who_and_why, const char *url)
{
    pawl_text body;
    world    *it = world_begin(url, &plain, NULL, NULL);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_PAUSE), PAWL_ENOTFOUND);
    add(it, &nightly);
    assert_int_equal(pawl_store_schedule_add(it->store, &nightly, BY, WHY, WORLD_START, NULL),
                     PAWL_EDUPLICATE);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_PAUSE), PAWL_OK);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_PAUSE), PAWL_OK);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_RUN), PAWL_OK);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_RESUME), PAWL_OK);
    assert_true(text_is(actions_of(it, "office/n", &body),
                        "pawl.schedule_added pawl.schedule_paused pawl.schedule_run "
                        "pawl.schedule_resumed "));
    assert_int_equal(body.size, 0);
    add(it, &hourly);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_REMOVE), PAWL_OK);
    assert_int_equal(settle(it, "office/n", PAWL_SCHEDULE_REMOVE), PAWL_ENOTFOUND);
    assert_true(world_says(actions_of(it, "office/n", &body), "resumed pawl.schedule_removed "));
    assert_true(world_says(body, "\"pawl.schedule.cron\":\"0 3 * * *\""));
    assert_true(text_is(actions_of(it, "office/h", &body), "pawl.schedule_added "));
}

ON_ALL_STORES(wrong_words_change_nothing, const char *url)
{
    world *it = world_begin(url, &plain, NULL, NULL);
    add(it, &hourly);
    assert_int_equal(pawl_store_schedule_settle(it->store, PAWL_TEXT("office/h"),
                                                PAWL_SCHEDULE_REMOVE, NONE, NONE, 0, NULL),
                     PAWL_EINVAL);
    assert_int_equal(settle(it, "office/h", (pawl_schedule_action)4), PAWL_EINVAL);
    assert_int_equal(all(it).count, 1);
}
