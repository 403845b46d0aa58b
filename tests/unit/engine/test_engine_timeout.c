/* test_engine_timeout.c - timeouts: set, re-armed, cancelled, due in order.
 *
 * E12 to E14, T14 and the second half of E35. A message's script says what
 * the handler does: "+name:seconds" sets, "-name" cancels, "!" completes, "?"
 * fails; "~" completes in the first run only, and lets another worker write the
 * saga before the commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_store.h"
#include "support/world.h"

RECORD(lamp_state, (TEXT, lamp), (INT32, rings), (TEXT, script));

RECORD(touch, (TEXT, lamp), (TEXT, script));
RECORD(switch_on, (TEXT, lamp), (TEXT, script), (TEXT, later));

static world_log seen;
static int       failures; /* how often the next timeouts fail */
static world    *around;   /* what "~" meddles with; NULL: nothing any more */

static const pawl_application application;

static int64_t seconds_now(const pawl_context *ctx)
{
    return (pawl_now(ctx) - WORLD_START) / 1000000;
}

static pawl_code play(pawl_context *ctx, pawl_text script)
{
    for (size_t i = 0; i < script.size; i++) {
        char name[2] = {i + 1 < script.size ? script.data[i + 1] : '\0', '\0'};
        if (script.data[i] == '+')
            pawl_timeout(ctx, name, PAWL_SECONDS(strtol(script.data + i + 3, NULL, 10)));
        if (script.data[i] == '-')
            pawl_cancel_timeout(ctx, name);
        if (script.data[i] == '@')
            pawl_timeout_at(ctx, "a", strtol(script.data + i + 1, NULL, 10));
        if (script.data[i] == '>')
            pawl_send_with(ctx, "far",
                           &(pawl_send_options){PAWL_SEND_OPTIONS_HEAD, .due = 1700000900},
                           PAWL_MESSAGE(touch, .lamp = PAWL_TEXT("l")));
        if (script.data[i] == '<')
            pawl_send_with(ctx, "far",
                           &(pawl_send_options){PAWL_SEND_OPTIONS_HEAD, .delay = -PAWL_SECONDS(5)},
                           PAWL_MESSAGE(touch, .lamp = PAWL_TEXT("l")));
        if (script.data[i] == '!')
            pawl_complete(ctx);
        if (script.data[i] == '~' && around != NULL) {
            world_overwrite(around->store, around->arena, &application, "l", NULL);
            around = NULL;
            pawl_complete(ctx);
        }
        if (script.data[i] == '?')
            return pawl_fail(ctx, PAWL_REJECT, "told to fail");
    }
    return PAWL_OK;
}

static pawl_code on_switch_on(pawl_context *ctx, lamp_state *lamp, const switch_on *message)
{
    world_note(&seen, "on%d", (int)seconds_now(ctx));
    lamp->script = message->later;
    return play(ctx, message->script);
}
PAWL_HANDLER(on_switch_on, lamp_state, switch_on);

static pawl_code on_touch(pawl_context *ctx, lamp_state *lamp, const touch *message)
{
    world_note(&seen, "touch%d", (int)seconds_now(ctx));
    return play(ctx, message->script);
}
PAWL_HANDLER(on_touch, lamp_state, touch);

static pawl_code ring(pawl_context *ctx, lamp_state *lamp, char which)
{
    world_note(&seen, "%c%d", which, (int)seconds_now(ctx));
    if (failures > 0) {
        failures--;
        return pawl_fail(ctx, PAWL_RETRY, "ring %c fails", which);
    }
    lamp->rings++;
    pawl_text script = lamp->script;
    lamp->script     = PAWL_TEXT("");
    return play(ctx, script);
}

static pawl_code on_a(pawl_context *ctx, lamp_state *lamp)
{
    return ring(ctx, lamp, 'a');
}
PAWL_TIMEOUT_HANDLER(on_a, lamp_state);

static pawl_code on_b(pawl_context *ctx, lamp_state *lamp)
{
    return ring(ctx, lamp, 'b');
}
PAWL_TIMEOUT_HANDLER(on_b, lamp_state);

static const pawl_saga lamp_saga = SAGA_OF(
    "Lamp", lamp_state, "lamp",
    {.handle = PAWL_HANDLE(on_switch_on), .key = "lamp", .starts = true},
    {.handle = PAWL_HANDLE(on_touch), .key = "lamp"}, {.handle = PAWL_HANDLE(on_a), .timeout = "a"},
    {.handle = PAWL_HANDLE(on_b), .timeout = "b"});

static const pawl_application application =
    ONE_ENDPOINT("timeouts", .name = "house", .sagas = PAWL_SAGAS(&lamp_saga));

static world *open_world_with(const char *url, pawl_endpoint_options options)
{
    failures = 0;
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static world *open_world(const char *url)
{
    return open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1});
}

static void on_at(world *it, int seconds, const char *lamp, const char *script, const char *later)
{
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(switch_on, .lamp = pawl_text_of(lamp),
                               .script = pawl_text_of(script), .later = pawl_text_of(later)));
}

static void touch_at(world *it, int seconds, const char *lamp, const char *script)
{
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(seconds),
                  PAWL_MESSAGE(touch, .lamp = pawl_text_of(lamp), .script = pawl_text_of(script)));
}

/* ---- Set, re-armed, cancelled ---------------------------------------------------- */

/* Two messages of one batch: each timeout has the headers of its own. */
ON_ALL_STORES(e12_a_timeout_carries_what_set_it, const char *url)
{
    static const char *const tenants[] = {"north", "south"};
    static const char *const scripts[] = {"+a:60", "+a:70"};
    world                   *it        = open_world(url);
    for (size_t i = 0; i < 2; i++) {
        const pawl_header headers[] = {{"tenant", tenants[i]}, {NULL, NULL}};
        pawl_send_options options   = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START,
                                       .correlation_id = "talk", .headers = headers};
        must(pawl_sender_send(it->sender, "house", &options,
                              PAWL_MESSAGE(switch_on, .lamp = pawl_text_of(tenants[i]),
                                           .script = pawl_text_of(scripts[i])),
                              world_error()));
    }
    must(pawl_sender_commit(it->sender, world_error()));
    pawl_step         step = world_drain(it);
    pawl_timeout_rows rows = world_timeouts(it);
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rows.items[i].due, WORLD_START + PAWL_SECONDS(i == 0 ? 60 : 70));
        assert_true(world_says(rows.items[i].headers, tenants[i]));
        assert_false(world_says(rows.items[i].headers, tenants[1 - i]));
    }
    assert_true(pawl_text_equal(rows.items[0].correlation_id, PAWL_TEXT("talk")));
    assert_true(pawl_text_equal(rows.items[0].destination, PAWL_TEXT("house")));
    assert_true(pawl_text_equal(rows.items[0].name, PAWL_TEXT("a")));
    assert_true(pawl_text_equal(rows.items[0].saga_type, PAWL_TEXT("Lamp")));
    assert_false(pawl_uuid_is_zero(rows.items[0].saga_id.uuid));
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(60));
}

ON_ALL_STORES(a_timeout_fires_once_at_its_time, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    LOG_AFTER(world_go(it, PAWL_SECONDS(60) - 1), seen, "on0 ");
    pawl_step step = world_go(it, 1);
    assert_int_equal(step.handled, 1);
    assert_string_equal(seen.text, "on0 a60 ");
    LOG_AFTER(world_go(it, PAWL_DAYS(1)), seen, "on0 a60 ");
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(e12_a_failed_handler_leaves_no_timeout, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60?", "");
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(set_again_by_name_is_re_armed, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    pawl_timeout_id id         = world_timeouts(it).items[0].id;
    int64_t         generation = world_timeouts(it).items[0].generation;
    touch_at(it, 30, "l", "+a:60+b:10");
    LOG_AFTER(world_go(it, PAWL_SECONDS(89)), seen, "on0 touch30 b40 ");
    pawl_timeout_row rows = world_timeout(it);
    assert_int_equal(pawl_uuid_compare(rows.id.uuid, id.uuid), 0);
    assert_true(rows.generation > generation);
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "on0 touch30 b40 a90 ");
}

ON_ALL_STORES(cancelled_and_several_names, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60+b:50", "");
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 2);
    touch_at(it, 10, "l", "-a");
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "on0 touch10 b50 ");
    touch_at(it, 310, "l", "-a");
    world_go(it, PAWL_MINUTES(5));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_timeouts(it).count, 0);
}

/* To a store, no name is every timeout of the saga. */
ON_ALL_STORES(a_cancel_without_a_name_is_refused, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60+b:70", "");
    touch_at(it, 10, "l", "-");
    world_go(it, PAWL_SECONDS(20));
    assert_int_equal(world_dead(it).count, 1);
    assert_non_null(strstr(world_dead(it).items[0].error.data, "name of a timeout has 0 bytes"));
    assert_int_equal(world_timeouts(it).count, 2);
}

/* The message's own failure, not one of the commit, which would run all of the batch again. */
ON_ALL_STORES(a_time_outside_of_the_calendar_is_refused, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "@9223372036854775807", "");
    on_at(it, 1, "m", "@5", "");
    world_go(it, PAWL_SECONDS(20));
    assert_int_equal(world_dead(it).count, 1);
    assert_string_equal(world_dead(it).items[0].error.data,
                        "timeout a is at 9223372036854775807, outside the years 1 to 9999");
}

/* As time() tells it: it would have fired at once. */
ON_ALL_STORES(a_time_in_seconds_is_refused, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "@1700000900", "");
    on_at(it, 1, "m", ">", "");
    world_go(it, PAWL_SECONDS(20));
    assert_int_equal(world_dead(it).count, 2);
    assert_non_null(
        strstr(world_dead(it).items[0].error.data, "timeout a is at 1970-01-01T00:28:20"));
    assert_non_null(
        strstr(world_dead(it).items[1].error.data, "the due time of a send is at 1970-01-01"));
    assert_string_equal(seen.text, "on0 on1 ");
}

/* Else they would be due before what was sent earlier. */
ON_ALL_STORES(a_delay_below_zero_is_none, const char *url)
{
    world *it = open_world(url);
    on_at(it, 10, "l", "+a:-5 <", "");
    LOG_AFTER(world_go(it, PAWL_SECONDS(20)), seen, "on10 a10 ");
    assert_int_equal(world_queue_row(it, "far").due, WORLD_START + PAWL_SECONDS(10));
}

ON_ALL_STORES(timeouts_die_with_their_saga, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60+b:50", "");
    on_at(it, 0, "m", "+a:60", "");
    world_drain(it);
    touch_at(it, 10, "l", "!");
    world_go(it, PAWL_SECONDS(20));
    assert_int_equal(world_timeouts(it).count, 1);
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "on0 on0 touch10 a60 ");
}

ON_ALL_STORES(set_and_cancelled_in_one_batch, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    touch_at(it, 0, "l", "-a");
    on_at(it, 0, "m", "+a:60-a", "");
    on_at(it, 0, "n", "-a+a:70", "");
    world_drain(it);
    assert_int_equal(world_timeouts(it).count, 1);
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "on0 touch0 on0 on0 a70 ");
}

/* ---- Order ------------------------------------------------------------------------- */

ON_ALL_STORES(due_at_or_before_a_message_comes_first, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    touch_at(it, 59, "l", "");
    touch_at(it, 60, "l", "");
    touch_at(it, 61, "l", "");
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "on0 touch59 a60 touch60 touch61 ");
}

/* One drain: the timeout that the first message sets cuts the batch. */
ON_ALL_STORES(a_timeout_set_in_the_batch_cuts_it, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    touch_at(it, 30, "l", "+b:10");
    touch_at(it, 50, "l", "+a:20");
    touch_at(it, 65, "l", "");
    touch_at(it, 80, "l", "+b:10");
    touch_at(it, 90, "l", "");
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen,
              "on0 touch30 b40 touch50 touch65 a70 touch80 b90 touch90 ");
}

ON_ALL_STORES(many_timeouts_in_order_of_their_due_times, const char *url)
{
    char   lamp[16], script[16], expected[1200] = "";
    world *it =
        open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1, .batch_messages = 4});
    for (int i = 0; i < 20; i++) {
        snprintf(lamp, sizeof lamp, "l%d", i);
        snprintf(script, sizeof script, "+a:%d", 100 + i * 37 % 20);
        on_at(it, 0, lamp, script, "");
    }
    world_drain(it);
    world_forget(&seen);
    touch_at(it, 110, "l0", "");
    for (int i = 0; i < 20; i++)
        strcat(expected, test_text(i == 10 ? "a%d touch110 " : "a%d ", 100 + i));
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, expected);
}

/* As many timeouts of one time as a batch can claim, and one more: a message of
 * that time waits for all. */
ON_ALL_STORES(a_message_waits_for_all_timeouts_of_its_time, const char *url)
{
    world *it =
        open_world_with(url, (pawl_endpoint_options){.immediate_retries = -1, .batch_messages = 4});
    for (int i = 0; i < 5; i++)
        on_at(it, 0, test_text("l%d", i), "+a:60", "");
    world_drain(it);
    world_forget(&seen);
    touch_at(it, 60, "l0", "");
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "a60 a60 a60 a60 a60 touch60 ");
}

/* ---- Failing, superseded, gone -------------------------------------------------------- */

ON_ALL_STORES(a_failing_timeout_is_retried, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    failures = 2;
    world_go(it, PAWL_SECONDS(60));
    pawl_timeout_row rows = world_timeout(it);
    assert_int_equal(rows.attempts, 1);
    assert_true(rows.due > WORLD_START + PAWL_SECONDS(60));
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(failures, 0);
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
    world_json_equal(it, world_saga_text(it, "Lamp", "l", NULL), "{\"lamp\":\"l\",\"rings\":1}");
}

ON_ALL_STORES(a_timeout_that_keeps_failing_is_dead, const char *url)
{
    world *it = open_world_with(
        url, (pawl_endpoint_options){.immediate_retries = -1, .delayed_retries = 2});
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    failures = 100;
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(failures, 97);
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(world_says(dead.error, "ring a fails"));
    /* The letter says whose timeout it was. */
    assert_true(world_says(dead.message.headers, "\"pawl.saga_id\":\""));
    assert_true(world_says(dead.message.headers, "\"pawl.saga\":\""));
    assert_int_equal(world_timeouts(it).count, 0);
}

/* A leased timeout of a saga that another worker ended meanwhile. */
ON_ALL_STORES(e14_a_timeout_without_its_saga_is_dropped, const char *url)
{
    world *it = open_world(url);
    MUST_COMMIT(it->store, timeout_set, WORLD_START, .id = {{{9}}}, .saga_id = {{{8}}},
                .saga_type = PAWL_TEXT("Lamp"), .name = PAWL_TEXT("a"),
                .destination = PAWL_TEXT("house"), .due = WORLD_START);
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(a_timeout_of_no_handler_is_dead, const char *url)
{
    world *it = open_world(url);
    MUST_COMMIT(it->store, timeout_set, WORLD_START, .id = {{{9}}}, .saga_id = {{{8}}},
                .saga_type = PAWL_TEXT("Lamp"), .name = PAWL_TEXT("forgotten"),
                .destination = PAWL_TEXT("house"), .due = WORLD_START);
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "no handler for timeout 'forgotten'"));
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(re_armed_by_its_own_handler, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "+a:30");
    world_drain(it);
    world_go(it, PAWL_SECONDS(60));
    assert_int_equal(world_timeout(it).due, WORLD_START + PAWL_SECONDS(90));
    LOG_AFTER(world_go(it, PAWL_MINUTES(5)), seen, "on0 a60 a90 ");
}

/* Message and timeout in one batch, the message first: what it says holds. */
ON_ALL_STORES(superseded_earlier_in_the_batch, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "re-armed", "+a:60", "");
    on_at(it, 0, "cancelled", "+a:60", "");
    on_at(it, 0, "ended", "+a:60", "");
    on_at(it, 0, "begun again", "+a:60", "");
    world_drain(it);
    touch_at(it, 50, "re-armed", "+a:100");
    touch_at(it, 50, "cancelled", "-a");
    touch_at(it, 50, "ended", "!");
    touch_at(it, 50, "begun again", "!");
    on_at(it, 50, "begun again", "+b:60", "");
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(70));
    pawl_step step = world_step(it);
    /* Five messages, and the timeouts of what was ended: dropped. The re-armed
     * and the cancelled one are neither. */
    assert_int_equal(step.handled, 7);
    assert_int_equal(world_stats(it).counters.timeouts, 2);
    assert_string_equal(seen.text, "on0 on0 on0 on0 touch50 touch50 touch50 touch50 on50 ");
    world_go(it, PAWL_MINUTES(10));
    assert_string_equal(seen.text,
                        "on0 on0 on0 on0 touch50 touch50 touch50 touch50 on50 b110 a150 ");
    assert_int_equal(world_timeouts(it).count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(e35_timeouts_of_an_ended_saga_never_fire, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60+b:70", "");
    world_drain(it);
    pawl_saga_id old = world_timeouts(it).items[0].saga_id;
    touch_at(it, 10, "l", "+a:20");
    touch_at(it, 10, "l", "+a:30!");
    on_at(it, 10, "l", "+b:100", "");
    world_go(it, PAWL_SECONDS(20));
    assert_int_not_equal(pawl_uuid_compare(world_timeout(it).saga_id.uuid, old.uuid), 0);
    LOG_AFTER(world_go(it, PAWL_MINUTES(10)), seen, "on0 touch10 touch10 on10 b110 ");
}

/* The lamp is ended and begun again, and its old timeout is due, all in one
 * batch. The batch is refused and its units run again; now the lamp is not
 * ended, so the timeout must still be there. */
ON_ALL_STORES(e35_a_refused_end_keeps_the_timeout, const char *url)
{
    world *it = open_world(url);
    on_at(it, 0, "l", "+a:60", "");
    world_drain(it);
    touch_at(it, 50, "l", "~");
    on_at(it, 50, "l", "", "");
    around         = it;
    pawl_step step = world_go(it, PAWL_SECONDS(70));
    assert_int_equal(step.refused, 3);
    assert_string_equal(seen.text, "on0 touch50 on50 touch50 on50 a60 ");
    world_json_equal(it, world_saga_text(it, "Lamp", "l", NULL), "{\"lamp\":\"l\",\"rings\":1}");
    assert_int_equal(world_timeouts(it).count, 0);
}

/* ---- Leases that are over ----------------------------------------------------------- */

ON_ALL_STORES(t14_leases_are_reaped_at_each_quarter_of_one, const char *url)
{
    fault_bind("reaped", url);
    world *it =
        open_world_with("fault:reaped", (pawl_endpoint_options){.timeout_lease = PAWL_MINUTES(4)});
    world_drain(it);
    fault_plan_set(NULL);
    for (int i = 0; i < 24; i++)
        world_go_machine(it, PAWL_SECONDS(10));
    assert_int_equal(fault_counts_now().by_op[fault_op_timeout_reap], 4);
}
