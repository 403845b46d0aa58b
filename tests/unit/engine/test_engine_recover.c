/* test_engine_recover.c - retries, dead letters, and messages that wait for
 * their saga. E3, E26, E28, E34.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/fault_store.h"
#include "support/hook.h"

#include <unistd.h>

RECORD(case_state, (TEXT, name), (INT32, count));
PAWL_RECORD(open_case, A_NAME);
PAWL_RECORD(add_to_case, A_NAME);
PAWL_RECORD(seek_case, A_NAME);
RECORD(attempt, (TEXT, how));
RECORD(other, (TEXT, how));

static world_log    seen;
static pawl_saga_id the_id;       /* the finder's answer */
static int          nones;        /* but first this often: none */
static pawl_code    answers[100]; /* of the next runs of attempt's handler */
static size_t       runs;
static useconds_t   naps;  /* of attempt's handler */
static pawl_time    awoke; /* behind its last nap */

static pawl_code on_open_case(pawl_context *ctx, case_state *the_case, const open_case *message)
{
    the_id = pawl_saga_id_in_flight(ctx);
    world_note(&seen, "open");
    the_case->count = 0;
    return PAWL_OK;
}
PAWL_HANDLER(on_open_case, case_state, open_case);

static pawl_code on_add_to_case(pawl_context *ctx, case_state *the_case, const add_to_case *message)
{
    world_note(&seen, "add");
    the_case->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_add_to_case, case_state, add_to_case);

static pawl_code find_case(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    world_note(&seen, "find");
    *id = nones-- > 0 ? (pawl_saga_id){{{0}}} : the_id;
    return PAWL_OK;
}

static pawl_code on_seek_case(pawl_context *ctx, case_state *the_case, const seek_case *message)
{
    world_note(&seen, "seek");
    the_case->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_seek_case, case_state, seek_case);

static const pawl_saga case_saga = SAGA_OF(
    "Case", case_state, "name",
    {.handle = PAWL_HANDLE(on_open_case), .key = "name", .starts = true},
    {.handle = PAWL_HANDLE(on_add_to_case), .key = "name", .not_found = PAWL_NOT_FOUND_DEAD},
    {.handle    = PAWL_HANDLE(on_seek_case),
     .key       = "name",
     .find      = find_case,
     .not_found = PAWL_NOT_FOUND_DEAD});

static pawl_code on_attempt(pawl_context *ctx, const attempt *message)
{
    pawl_code code = answers[runs++];
    world_note(&seen, "%d", pawl_attempts(ctx));
    if (naps > 0)
        (void)usleep(naps);
    awoke = pawl_clock_now(NULL);
    if (code == PAWL_RETRY_AFTER)
        return pawl_retry_after(ctx, PAWL_SECONDS(3));
    return code;
}
PAWL_MESSAGE_HANDLER(on_attempt, attempt);

static pawl_code on_other(pawl_context *ctx, const other *message)
{
    world_note(&seen, "other");
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_other, other);

static const pawl_application application =
    ONE_ENDPOINT("recoverability", .name = "office", .sagas = PAWL_SAGAS(&case_saga),
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_attempt)}));

/* The endpoint as a newer program has it. */
static const pawl_endpoint_spec office_of_tomorrow = {
    .name = "office", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_other)})};

static const pawl_application tomorrow = APPLICATION("recoverability", &office_of_tomorrow);

static world *open_world(const char *url, pawl_endpoint_options options)
{
    world_forget(&seen);
    runs   = 0;
    nones  = 0;
    naps   = 0;
    the_id = (pawl_saga_id){{{0}}};
    memset(answers, 0, sizeof answers);
    return world_begin(url, &application, NULL, &options);
}

static void always(pawl_code code)
{
    for (size_t i = 0; i < COUNT(answers); i++)
        answers[i] = code;
}

static void post_attempt(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(attempt, .how = PAWL_TEXT("")));
}

/* ---- Retries ------------------------------------------------------------------- */

ON_ALL_STORES(immediate_retries_are_counted, const char *url)
{
    world *it  = open_world(url, (pawl_endpoint_options){.immediate_retries = 2});
    answers[0] = PAWL_RETRY;
    answers[1] = PAWL_ENOMEM;
    post_attempt(it, "m");
    pawl_step step = world_drain(it);
    assert_int_equal(runs, 3);
    assert_int_equal(step.handled, 1);
    assert_int_equal(world_queue(it, "office").count, 0);
}

ON_ALL_STORES(e26_delayed_retries_grow_then_a_dead_letter, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.immediate_retries = 1,
                                                        .delayed_retries   = 3,
                                                        .retry_delay       = PAWL_SECONDS(10)});
    always(PAWL_RETRY);
    post_attempt(it, "m");
    world_drain(it);
    int64_t last = 0;
    for (int32_t i = 1; i <= 3; i++) {
        assert_int_equal(runs, 2 * (size_t)i);
        pawl_queue_rows rows = world_queue(it, "office");
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].attempts, i);
        int64_t delay = rows.items[0].due - world_now(it);
        assert_true(delay > last && delay >= PAWL_SECONDS(9) << (i - 1));
        assert_true(delay <= PAWL_SECONDS(11) << (i - 1));
        last = delay;
        /* Its place stays. */
        assert_int_equal(rows.items[0].placed, WORLD_START);
        world_go(it, delay - 1);
        assert_int_equal(runs, 2 * (size_t)i);
        world_go(it, 1);
    }
    assert_int_equal(runs, 8);
    assert_int_equal(world_queue(it, "office").count, 0);
    assert_int_equal(world_dead_letter(it).attempts, 4);
    assert_string_equal(seen.text, "0 0 1 1 2 2 3 3 ");
}

/* The second delay would be twice the first, were there no limit. */
ON_ALL_STORES(e26_delays_stay_below_their_limit, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){.immediate_retries = -1,
                                                        .delayed_retries   = 3,
                                                        .retry_delay       = PAWL_SECONDS(10),
                                                        .retry_delay_max   = PAWL_SECONDS(12)});
    always(PAWL_RETRY);
    post_attempt(it, "m");
    world_drain(it);
    for (int i = 0; i < 3; i++) {
        pawl_queue_rows rows = world_queue(it, "office");
        assert_int_equal(rows.count, 1);
        int64_t delay = rows.items[0].due - world_now(it);
        assert_in_range(delay, PAWL_SECONDS(9), PAWL_SECONDS(12) / 10 * 11);
        world_go(it, delay);
    }
}

ON_ALL_STORES(e34_a_dead_letter_keeps_all_and_marks_its_id, const char *url)
{
    const pawl_header headers[] = {{"colour", "red"}, {NULL, NULL}};
    world            *it        = open_world(url, (pawl_endpoint_options){.immediate_retries = -1});
    always(PAWL_REJECT);
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .id = "m",
                                 .headers = headers, .correlation_id = "talk"};
    test_send(it->sender, "office", &options, PAWL_MESSAGE(attempt, .how = PAWL_TEXT("x")));
    pawl_step step = world_drain(it);
    assert_int_equal(step.dead, 1);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].endpoint.data, "office");
    assert_string_equal(dead.items[0].queue.data, "office");
    assert_string_equal(dead.items[0].message.id.data, "m");
    assert_string_equal(dead.items[0].message.type.data, "attempt");
    assert_string_equal(dead.items[0].message.body.data, "{\"how\":\"x\"}");
    assert_string_equal(dead.items[0].message.headers.data, "{\"colour\":\"red\"}");
    assert_string_equal(dead.items[0].message.correlation_id.data, "talk");
    assert_string_equal(dead.items[0].code.data, "REJECT");
    assert_true(world_is_marked(it, "m"));
    /* A copy that arrives later is dropped. */
    post_attempt(it, "m");
    world_drain(it);
    assert_int_equal(runs, 1);
    assert_int_equal(world_dead(it).count, 1);
    assert_int_equal(world_queue(it, "office").count, 0);
}

ON_ALL_STORES(retry_after_discard_and_errors, const char *url)
{
    world *it  = open_world(url, (pawl_endpoint_options){.immediate_retries = 3});
    answers[0] = PAWL_RETRY_AFTER; /* not at once */
    answers[1] = PAWL_DISCARD;
    post_attempt(it, "m");
    world_drain(it);
    assert_int_equal(runs, 1);
    assert_int_equal(world_queue(it, "office").items[0].due, WORLD_START + PAWL_SECONDS(3));
    world_go(it, PAWL_SECONDS(3));
    assert_int_equal(runs, 2);
    assert_true(world_is_marked(it, "m"));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "office").count, 0);
}

/* By the clock of the system a delay begins with the failure, not with the batch: of several slow handlers each message
 * has its pause. */
ON_STORES(e26_a_delay_begins_when_the_handler_has_failed, const char *url)
{
    world                      *it       = open_world(url, (pawl_endpoint_options){0});
    pawl_endpoint              *endpoint = NULL;
    const pawl_endpoint_options timely   = {
          .options_size = sizeof timely, .store = url, .batch_messages = 1, .no_service = true};
    naps       = 50000;
    answers[0] = PAWL_RETRY_AFTER;
    post_attempt(it, "m");
    must(pawl_endpoint_create(&application, NULL, &timely, &endpoint, world_error()));
    must(pawl_endpoint_step(endpoint, NULL, world_error()));
    assert_int_equal(runs, 1);
    assert_true(world_queue(it, "office").items[0].due >= awoke + PAWL_SECONDS(3));
    pawl_endpoint_destroy(endpoint);
}

/* Runs at once are those of one claim, which lasts for handler_time_max: a second slow one could outlive it. */
ON_STORES(e26_no_run_at_once_follows_half_of_the_time, const char *url)
{
    world                      *it       = open_world(url, (pawl_endpoint_options){0});
    pawl_endpoint              *endpoint = NULL;
    const pawl_endpoint_options slow     = {.options_size     = sizeof slow,
                                            .store            = url,
                                            .handler_time_max = PAWL_MILLISECONDS(80),
                                            .no_service       = true};
    naps                                 = 50000;
    always(PAWL_RETRY);
    post_attempt(it, "m");
    must(pawl_endpoint_create(&application, NULL, &slow, &endpoint, world_error()));
    must(pawl_endpoint_step(endpoint, NULL, world_error()));
    assert_int_equal(runs, 1);
    assert_int_equal(world_queue(it, "office").items[0].attempts, 1);
    pawl_endpoint_destroy(endpoint);
}

/* PAWL_EPERSIST has immediate and delayed retries, and an end. */
ON_ALL_STORES(a_failed_store_is_tried_again_for_a_while, const char *url)
{
    world *it =
        open_world(url, (pawl_endpoint_options){.immediate_retries = 2, .delayed_retries = 1});
    always(PAWL_EPERSIST);
    post_attempt(it, "m");
    world_drain(it);
    assert_int_equal(runs, 3);
    world_go(it, PAWL_SECONDS(11));
    assert_int_equal(runs, 6);
    assert_int_equal(world_dead(it).count, 1);
}

ON_ALL_STORES(a_failing_handler_loses_only_its_own_unit, const char *url)
{
    world *it  = open_world(url, (pawl_endpoint_options){.immediate_retries = -1});
    answers[1] = PAWL_RETRY;
    post_attempt(it, "1");
    post_attempt(it, "2");
    post_attempt(it, "3");
    pawl_step step = world_step(it);
    assert_int_equal(step.handled, 2);
    assert_true(world_is_marked(it, "1"));
    assert_false(world_is_marked(it, "2"));
    assert_true(world_is_marked(it, "3"));
}

ON_ALL_STORES(a_known_id_is_not_handled_again, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_attempt(it, "m");
    world_drain(it);
    post_attempt(it, "m");
    pawl_step step = world_drain(it);
    assert_int_equal(runs, 1);
    assert_int_equal(step.handled, 0);
    assert_int_equal(world_queue(it, "office").count, 0);
}

/* ---- What cannot be read ------------------------------------------------------------ */

ON_ALL_STORES(an_undecodable_body_is_dead, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post_text(it, "a", "attempt", "{\"how\":");
    world_post_json(it, "b", "attempt", "{\"how\":7}");
    world_post_text(it, "c", "attempt", "");
    world_drain(it);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(runs, 0);
    assert_int_equal(dead.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(dead.items[i].code.data, "EDECODE");
        assert_true(world_says(dead.items[i].error, "message attempt"));
    }
}

ON_ALL_STORES(e28_an_unknown_type_is_dead, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post_json(it, "a", "other", "{}");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "'other' is handled by no worker"));
}

/* A step with messages of a type that no handler here is for; returns how often it read the live workers. */
static long lists_of_step(world *it, const char *ids)
{
    for (size_t i = 0; i < 20; i++) {
        char id[] = {ids[0], (char)('a' + i), '\0'};
        world_post_json(it, id, "other", "{}");
    }
    fault_plan_set(NULL);
    (void)world_step(it);
    return fault_counts_now().by_op[fault_op_worker_list];
}

/* The same list for all messages of a step, whether they are dead or wait for a newer program. */
ON_ALL_STORES(e28_a_step_reads_the_live_workers_once, const char *url)
{
    fault_bind("counted", url);
    world *it = open_world("fault:counted", (pawl_endpoint_options){0});
    assert_int_equal(lists_of_step(it, "a"), 1);
    assert_int_equal(world_dead(it).count, 20);
    world *newer = world_begin("fault:counted", &tomorrow, NULL, NULL);
    assert_int_equal(lists_of_step(it, "b"), 1);
    assert_int_equal(world_dead(it).count, 20);
    assert_int_equal(world_queue(it, "office").count, 20);
    world_close(newer);
}

ON_ALL_STORES(e28_a_type_that_another_worker_knows_is_put_back, const char *url)
{
    world *it    = open_world(url, (pawl_endpoint_options){0});
    world *newer = world_begin(url, &tomorrow, NULL, NULL);
    world_post_json(it, "a", "other", "{}");
    world_drain(it);
    pawl_queue_row rows = world_queue_row(it, "office");
    assert_int_equal(rows.attempts, 0);
    assert_true(rows.due > WORLD_START);
    assert_int_equal(world_dead(it).count, 0);
    LOG_AFTER(world_go(newer, PAWL_SECONDS(5)), seen, "other ");
    assert_int_equal(world_queue(it, "office").count, 0);
    world_close(newer);
    /* Now nobody knows it-> */
    world_post_json(it, "b", "other", "{}");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
}

/* ---- Waiting for a saga ----------------------------------------------------------------- */

static void post_add(world *it, const char *id, const char *name)
{
    world_post(it, id, PAWL_MESSAGE(add_to_case, .name = pawl_text_of(name)));
}

ON_ALL_STORES(e3_waits_behind_an_older_message, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post(it, "open", PAWL_MESSAGE(open_case, .name = PAWL_TEXT("c")));
    pawl_queue_row row = world_claim_oldest(it, "office");
    post_add(it, "add", "c");
    pawl_step step = world_drain(it);
    assert_int_equal(step.handled, 0);
    pawl_queue_rows rows = world_queue(it, "office");
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.items[1].message.id.data, "add");
    assert_int_equal(rows.items[1].attempts, 0);
    assert_int_equal(rows.items[1].waiting_since, WORLD_START);
    assert_int_equal(rows.items[1].due, WORLD_START + PAWL_MILLISECONDS(50));
    assert_int_equal(rows.items[1].placed, WORLD_START);
    world_give_back(it, "office", &row, PAWL_QUEUE_RELEASE);
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "open add ");
    assert_int_equal(world_queue(it, "office").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(e3_is_final_without_an_older_message, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_add(it, "add", "c");
    world_post(it, "open", PAWL_MESSAGE(open_case, .name = PAWL_TEXT("c")));
    world_step(it);
    assert_int_equal(world_dead(it).count, 1);
    assert_string_equal(seen.text, "open ");
}

static int loads_left;

/* The starter is handled elsewhere between the two reads. */
static pawl_code begin_before_load(hook_point point, void *context)
{
    world *it = context;
    if (point != HOOK_BEFORE_LOAD || loads_left-- != 0)
        return PAWL_OK;
    world_insert(it, &application, "c", "{\"name\":\"c\",\"count\":6}");
    return PAWL_OK;
}

ON_ALL_STORES(e3_the_saga_is_read_again_after_the_look_at_the_queue, const char *url)
{
    world *it = open_world(hook_url(url), (pawl_endpoint_options){0});
    post_add(it, "add", "c");
    loads_left = 1;
    hook_set(begin_before_load, it);
    world_step(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "add ");
    world_json_equal(it, world_saga_text(it, "Case", "c", NULL), "{\"name\":\"c\",\"count\":7}");
    assert_int_equal(world_dead(it).count, 0);
}

/* A message that itself waits, or is retried, makes nobody wait. */
ON_ALL_STORES(e3_delayed_retries_are_no_older_messages, const char *url)
{
    world *it = open_world(
        url, (pawl_endpoint_options){.immediate_retries = -1, .retry_delay = PAWL_SECONDS(10)});
    answers[0] = PAWL_RETRY;
    post_attempt(it, "retried");
    world_drain(it);
    assert_int_equal(world_queue(it, "office").count, 1);
    post_add(it, "add", "c");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 1);
}

ON_ALL_STORES(e3_thirty_seconds_of_machine_time_end_the_wait, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_attempt(it, "stuck");
    pawl_queue_row row = world_claim_oldest(it, "office");
    post_add(it, "add", "c");
    world_drain(it);
    for (int i = 0; i < 29; i++)
        world_go_both(it, PAWL_SECONDS(1));
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(world_queue(it, "office").count, 2);
    world_go_both(it, PAWL_SECONDS(2));
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "no saga Case for 'c'"));
    assert_int_equal(world_dead(it).items[0].attempts, 1);
    world_give_back(it, "office", &row, PAWL_QUEUE_DONE);
}

/* ---- The same with a finder ------------------------------------------------------------ */

static void post_seek(world *it, const char *id)
{
    world_post(it, id, PAWL_MESSAGE(seek_case, .name = PAWL_TEXT("c")));
}

ON_ALL_STORES(e3_a_finder_waits_behind_an_older_message, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post(it, "open", PAWL_MESSAGE(open_case, .name = PAWL_TEXT("c")));
    pawl_queue_row row = world_claim_oldest(it, "office");
    post_seek(it, "seek");
    assert_int_equal(world_drain(it).handled, 0);
    assert_string_equal(seen.text, "find "); /* the finder is not asked again while one is left */
    pawl_queue_rows rows = world_queue(it, "office");
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[1].attempts, 0);
    assert_int_equal(rows.items[1].waiting_since, WORLD_START);
    assert_int_equal(rows.items[1].due, WORLD_START + PAWL_MILLISECONDS(50));
    world_give_back(it, "office", &row, PAWL_QUEUE_RELEASE);
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "find open find seek ");
    assert_int_equal(world_queue(it, "office").count, 0);
}

ON_ALL_STORES(e3_a_finder_is_asked_again_after_the_look, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post(it, "open", PAWL_MESSAGE(open_case, .name = PAWL_TEXT("c")));
    world_drain(it);
    nones = 1;
    post_seek(it, "seek");
    assert_int_equal(world_drain(it).handled, 1);
    assert_string_equal(seen.text, "open find find seek ");
    /* Twice none, and nobody is left who could begin it-> */
    nones = 2;
    post_seek(it, "lost");
    assert_int_equal(world_drain(it).dead, 1);
    assert_string_equal(seen.text, "open find find seek find find ");
    assert_string_equal(world_dead(it).items[0].message.id.data, "lost");
}

ON_ALL_STORES(e3_a_finder_waits_no_longer_than_others, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    post_attempt(it, "stuck");
    pawl_queue_row row = world_claim_oldest(it, "office");
    post_seek(it, "seek");
    world_drain(it);
    world_go_both(it, PAWL_SECONDS(29));
    assert_int_equal(world_dead(it).count, 0);
    world_go_both(it, PAWL_SECONDS(2));
    assert_int_equal(world_dead(it).count, 1);
    world_give_back(it, "office", &row, PAWL_QUEUE_DONE);
}

/* The starter was put back for a moment and comes later in the same batch, though its
 * place is before. */
ON_ALL_STORES(e3_waits_for_an_older_message_of_its_batch, const char *url)
{
    world *it = open_world(url, (pawl_endpoint_options){0});
    world_post(it, "open", PAWL_MESSAGE(open_case, .name = PAWL_TEXT("c")));
    pawl_queue_row row = world_claim_oldest(it, "office");
    post_add(it, "add", "c");
    row.due += PAWL_MILLISECONDS(20);
    world_give_back(it, "office", &row, PAWL_QUEUE_RETRY);
    LOG_AFTER(world_go(it, PAWL_MILLISECONDS(20)), seen, "open ");
    assert_int_equal(world_dead(it).count, 0);
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "open add ");
}
