/* test_projection_memory.c - PAWL_ENOMEM where states are folds of events and where
 * events are projected, and in flushes: what .apply, an upcaster or a projection answers
 * of its own is one message's or one event's affair; a shortage makes batches smaller.
 * O29, E21.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/hook.h"
#include "support/shortage.h"

#include "pawl/process.h"

RECORD(tank, (TEXT, name), (INT32, litres));
RECORD(fill, (TEXT, name), (INT32, litres));
RECORD(filled, (INT32, litres));
RECORD(note, (TEXT, text));
PAWL_RECORD(part, A_NAME);

static world_log seen;
static int32_t   bad_litres;     /* .apply has no memory for so many */
static bool      is_view_answer; /* the projection says it has no memory */
static bool      is_view_large;  /* the view sends something large */
static bool      is_upcast_bad;

static pawl_code apply_filled(tank *state, const filled *event, pawl_arena *arena)
{
    if (event->litres == bad_litres)
        return PAWL_ENOMEM;
    state->litres += event->litres;
    return PAWL_OK;
}
PAWL_APPLY_WITH_ARENA(apply_filled, tank, filled);

static pawl_code on_fill(pawl_context *ctx, const tank *state, const fill *message)
{
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(message->name));
    return pawl_emit(ctx, PAWL_MESSAGE(filled, .litres = message->litres));
}
PAWL_ENTITY_HANDLER(on_fill, tank, fill);

static const pawl_entity tanks = {.name  = "Tank",
                                  .state = PAWL_RECORD_OF(tank),
                                  .apply = PAWL_APPLY_LIST(PAWL_APPLIES(apply_filled)),
                                  .on = PAWL_ON({.handle = PAWL_HANDLE(on_fill), .key = "name"})};

static pawl_code view_filled(pawl_context *ctx, const filled *event)
{
    shortage.burden++;
    if (is_view_answer)
        return PAWL_ENOMEM;
    if (is_view_large)
        return pawl_send(ctx, "out", PAWL_MESSAGE(note, .text = shortage_ballast(SHORTAGE_LARGE)));
    world_note(&seen, "view(%d)", (int)event->litres);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(view_filled, filled);

static const pawl_projection view = {
    .name = "view", .on = PAWL_ON({.handle = PAWL_HANDLE(view_filled)}), .batch = 8};

static pawl_code on_parts(pawl_context *ctx, const part *messages, size_t count)
{
    shortage.burden++;
    return pawl_send(ctx, "out", PAWL_MESSAGE(note, .text = shortage_ballast(SHORTAGE_LARGE)));
}
PAWL_BATCH_HANDLER(on_parts, part);

static const pawl_aggregator parts = {
    .name = "Parts", .handle = PAWL_HANDLE(on_parts), .key = "name", .period = PAWL_SECONDS(1)};

static const pawl_application application =
    ONE_ENDPOINT("memory", .name = "depot", .entities = PAWL_ENTITIES(&tanks),
                 .projections = PAWL_PROJECTIONS(&view));

static const pawl_endpoint_spec shelf = {.name = "shelf", .aggregators = PAWL_AGGREGATORS(&parts)};
static const pawl_application   shelves = APPLICATION("shelves", &shelf);

/* A saga whose state was called otherwise. */
PAWL_RECORD_WITH(old_job, A_NAME, .type = "job");
static pawl_code upcast_job(int version, pawl_text json, pawl_arena *arena, pawl_text *upcast,
                            pawl_error *error)
{
    *upcast = json;
    return is_upcast_bad ? PAWL_ENOMEM : PAWL_OK;
}
RECORD_WITH(job, ((TEXT, name), (INT32, count)), .type = "job", .version = 2, .upcast = upcast_job);

IDLE_HANDLER(on_fill_old, old_job, fill);

static pawl_code on_fill_job(pawl_context *ctx, job *state, const fill *message)
{
    state->count++;
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(state->name));
    return PAWL_OK;
}
PAWL_HANDLER(on_fill_job, job, fill);

static const pawl_saga old_jobs = SAGA_OF(
    "Job", old_job, "name", {.handle = PAWL_HANDLE(on_fill_old), .key = "name", .starts = true});
static const pawl_saga jobs = SAGA_OF(
    "Job", job, "name", {.handle = PAWL_HANDLE(on_fill_job), .key = "name", .starts = true});
static const pawl_endpoint_spec bench = {.name = "bench", .sagas = PAWL_SAGAS(&jobs)};
static const pawl_application   yesterday =
    ONE_ENDPOINT("jobs", .name = "bench", .sagas = PAWL_SAGAS(&old_jobs));
static const pawl_application today = APPLICATION("jobs", &bench);

static world *open_world(const char *url, const pawl_application *which,
                         pawl_endpoint_options options)
{
    world_forget(&seen);
    bad_litres     = -1;
    is_view_answer = is_view_large = is_upcast_bad = false;
    shortage                                       = (shortage_plan){0};
    return world_begin(url, which, NULL, &options);
}

static void post_fill(world *it, const char *name, int32_t litres)
{
    world_post(it, NULL, PAWL_MESSAGE(fill, .name = pawl_text_of(name), .litres = litres));
}

/* ---- The application says so ------------------------------------------------------ */

ON_ALL_STORES(apply_fails_its_message_alone, const char *url)
{
    world *it  = open_world(url, &application, (pawl_endpoint_options){.delayed_retries = 1});
    bad_litres = 2;
    post_fill(it, "a", 1);
    post_fill(it, "b", 2);
    post_fill(it, "c", 3);
    assert_int_equal(world_step(it).handled, 2);
    assert_int_equal(world_queue(it, "depot").count, 1);
    assert_int_equal(world_queue(it, "depot").items[0].attempts, 1);
    /* The memory was enough another time; when the stream is read it may be short again. */
    bad_litres = -1;
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_events(it, "Tank/b").count, 1);
    bad_litres = 2;
    post_fill(it, "a", 4);
    post_fill(it, "b", 5);
    assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(world_queue(it, "depot").items[0].attempts, 1);
    world_go(it, PAWL_HOURS(1));
    assert_int_equal(world_dead(it).count, 1);
    assert_true(world_says(world_dead(it).items[0].error, "event type filled: its function in "
                                                          ".apply says: out of memory"));
}

ON_ALL_STORES(an_upcaster_fails_its_message_alone, const char *url)
{
    world_hold(url);
    world *it = open_world(url, &yesterday, (pawl_endpoint_options){0});
    post_fill(it, "a", 1);
    world_drain(it);
    world_close(it);
    it            = open_world(url, &today, (pawl_endpoint_options){.delayed_retries = 1});
    is_upcast_bad = true;
    post_fill(it, "a", 1);
    post_fill(it, "b", 1);
    assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(world_queue(it, "bench").items[0].attempts, 1);
    is_upcast_bad = false;
    LOG_AFTER(world_go(it, PAWL_HOURS(1)), seen, "b a ");
}

ON_ALL_STORES(a_projection_waits_for_its_event, const char *url)
{
    world *it = open_world(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    is_view_answer = true;
    post_fill(it, "a", 1);
    post_fill(it, "b", 2);
    LOG_AFTER(world_drain(it), seen, "a b ");
    is_view_answer = false;
    LOG_AFTER(world_go_machine(it, PAWL_MINUTES(1)), seen, "a b view(1) view(2) ");
}

/* ---- The engine has none ------------------------------------------------------------ */

ON_ALL_STORES(a_shortage_makes_commits_of_projections_smaller, const char *url)
{
    world *it = open_world(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    is_view_answer = true;
    for (int i = 0; i < 8; i++)
        post_fill(it, "a", 1);
    world_drain(it);
    is_view_answer      = false;
    is_view_large       = true;
    shortage.burden_max = 3;
    pawl_clock_set(it->machine, WORLD_START + PAWL_MINUTES(1));
    int64_t projected = 0;
    for (int i = 0; i < 20; i++) {
        shortage.burden = 0;
        projected += world_step(it).projected;
    }
    assert_int_equal(projected, 8);
    assert_true(shortage.met > 0);
    assert_int_equal(world_queue(it, "out").count, 8);
}

/* Its event waits, and those who write on. */
ON_ALL_STORES(an_event_that_does_not_fit_alone_waits, const char *url)
{
    world *it     = open_world(url, &application, (pawl_endpoint_options){.immediate_retries = -1});
    is_view_large = true;
    shortage.burden_max = 1;
    shortage.burden     = 1;
    post_fill(it, "a", 1);
    world_drain(it);
    assert_true(shortage.met > 0);
    assert_int_equal(world_queue(it, "out").count, 0);
    is_view_large = false;
    LOG_AFTER(world_go_machine(it, PAWL_MINUTES(1)), seen, "a view(1) ");
}

static pawl_code begin_anew(hook_point point, void *context)
{
    if (point == HOOK_BEFORE_COMMIT)
        shortage.burden = 0;
    return PAWL_OK;
}

static hook_point fail_point;
static int        fail_left;

static pawl_code fail_call(hook_point point, void *context)
{
    return point == fail_point && fail_left-- > 0 ? PAWL_ENOMEM : PAWL_OK;
}

static void fail_next(hook_point point, int count)
{
    fail_point = point;
    fail_left  = count;
    hook_set(fail_call, NULL);
}

/* So many events that the projection has not seen yet. */
static world *open_behind(const char *url, int count)
{
    world *it =
        open_world(hook_url(url), &application, (pawl_endpoint_options){.immediate_retries = -1});
    is_view_answer = true;
    for (int i = 0; i < count; i++)
        post_fill(it, "a", 1);
    world_drain(it);
    is_view_answer = false;
    world_forget(&seen);
    pawl_clock_set(it->machine, WORLD_START + PAWL_MINUTES(1));
    return it;
}

ON_ALL_STORES(an_event_that_cannot_be_committed_alone_waits, const char *url)
{
    world *it = open_behind(url, 1);
    fail_next(HOOK_BEFORE_COMMIT, 1);
    LOG_AFTER(world_drain(it), seen, "view(1) ");
    hook_set(NULL, NULL);
    LOG_AFTER(world_go_machine(it, PAWL_MINUTES(1)), seen, "view(1) view(1) ");
}

ON_ALL_STORES(a_shortage_makes_reads_of_events_smaller, const char *url)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = PAWL_OK;
    world     *it    = open_behind(url, 8);
    /* The projection reads one event since it failed, and up to eight when that went well. */
    fail_next(HOOK_BEFORE_READ, 0);
    for (int64_t projected = 0; projected < 8;)
        projected += world_step(it).projected;
    for (int i = 0; i < 9; i++)
        post_fill(it, "b", 1);
    /* Of eight, four and two; then there is nothing smaller. */
    fail_next(HOOK_BEFORE_READ, 4);
    while (code == PAWL_OK && fail_left > 0)
        code = pawl_endpoint_step(it->endpoint, NULL, &error);
    assert_int_equal(code, PAWL_ENOMEM);
    assert_int_equal(fail_left, 0);
    hook_set(NULL, NULL);
    int64_t projected = 0;
    for (int i = 0; i < 20; i++)
        projected += world_step(it).projected;
    assert_int_equal(projected, 9);
}

ON_ALL_STORES(a_shortage_makes_fewer_partitions_a_commit, const char *url)
{
    world *it = open_world(hook_url(url), &shelves,
                           (pawl_endpoint_options){.no_service = true, .immediate_retries = -1});
    for (int i = 0; i < 8; i++)
        world_post(it, NULL, PAWL_MESSAGE(part, .name = pawl_text_of(test_text("p%d", i))));
    world_drain(it);
    shortage.burden_max = 3;
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(1));
    hook_set(begin_anew, NULL);
    for (int i = 0; i < 30; i++) {
        shortage.burden = 0;
        world_step(it);
    }
    hook_set(NULL, NULL);
    assert_true(shortage.met > 0);
    assert_int_equal(world_queue(it, "out").count, 8);
    assert_int_equal(world_stats(it).counters.flushes, 8);
    assert_int_equal(world_stats(it).counters.failures, 0);
}

int main(void)
{
    shortage_install();
    world_quiet();
    int result = tests_run(NULL, NULL);
    pawl_allocator_set(NULL);
    return result;
}
