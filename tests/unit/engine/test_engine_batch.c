/* test_engine_batch.c - the units of a batch whose time is over, and those of one whose
 * change set no store can take. E7, E26, E35.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "runtime/runtime.h"

PAWL_RECORD(work, A_NAME);

static world_log seen;
static bool      has_bad;  /* of the units that ran since the last commit, one is */
static int64_t   slowness; /* microseconds of a handler */

static pawl_code on_work(pawl_context *ctx, const work *message)
{
    int64_t begin = pawl__monotonic_now();
    world_note(&seen, "%.*s", PAWL_TEXT_ARGS(message->name));
    while (pawl__monotonic_now() < begin + slowness)
        continue;
    has_bad |= pawl_text_equal(message->name, PAWL_TEXT("bad"));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_work, work);

static const pawl_application application =
    ONE_ENDPOINT("batches", .name = "mill", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_work)}));

static world *open_world(const char *url, pawl_endpoint_options options)
{
    world_forget(&seen);
    has_bad  = false;
    slowness = 0;
    return world_begin(url, &application, NULL, &options);
}

static void post_work(world *it, const char *id, const char *name)
{
    world_post(it, id, PAWL_MESSAGE(work, .name = pawl_text_of(name)));
}

/* ---- Time ----------------------------------------------------------------------- */

/* An endpoint that goes by the clocks of the machine. */
static pawl_endpoint *create_with_time(const char *url, int64_t batch_time_max)
{
    pawl_endpoint              *endpoint = NULL;
    const pawl_endpoint_options options  = {.options_size   = sizeof options,
                                            .store          = url,
                                            .batch_time_max = batch_time_max,
                                            .no_service     = true};
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    return endpoint;
}

static pawl_endpoint *open_with_time(world **it, const char *url, int64_t batch_time_max)
{
    *it = open_world(url, (pawl_endpoint_options){0});
    return create_with_time(url, batch_time_max);
}

/* The endpoint has a microsecond for a batch, of which each handler takes longer. */
static pawl_endpoint *open_hasty(world **it, const char *url)
{
    pawl_endpoint *endpoint = open_with_time(it, url, 1);
    slowness                = 3;
    return endpoint;
}

static void step_hasty(pawl_endpoint *endpoint, int64_t handled)
{
    pawl_step step = PAWL_STEP_INIT;
    must(pawl_endpoint_step(endpoint, &step, world_error()));
    assert_int_equal(step.handled, handled);
}

/* The rest is given back, to be claimed with what came before it; one is handled however
 * little time there is. */
ON_ALL_STORES(e7_a_batch_whose_time_is_over_ends, const char *url)
{
    world         *it;
    pawl_endpoint *endpoint = open_hasty(&it, url);
    post_work(it, "1", "a");
    post_work(it, "2", "b");
    post_work(it, "3", "c");
    LOG_AFTER(step_hasty(endpoint, 1), seen, "a ");
    assert_int_equal(world_queue(it, "mill").count, 2);
    assert_int_equal(world_queue(it, "mill").items[0].attempts, 0);
    step_hasty(endpoint, 1);
    LOG_AFTER(step_hasty(endpoint, 1), seen, "a b c ");
    assert_int_equal(world_queue(it, "mill").count, 0);
    pawl_endpoint_destroy(endpoint);
    /* Messages that need no time are over all the same. */
    endpoint = create_with_time(url, 1);
    post_work(it, "4", "d");
    post_work(it, "5", "e");
    post_work(it, "1", "a");
    step_hasty(endpoint, 1);
    assert_string_equal(world_queue_row(it, "mill").message.id.data, "5");
    pawl_endpoint_destroy(endpoint);
}

/* Another worker's step before the commit of one. */
static pawl_code step_beside(hook_point point, void *context)
{
    pawl_endpoint **other = context, *beside = *other;
    if (point != HOOK_BEFORE_COMMIT || beside == NULL)
        return PAWL_OK;
    *other = NULL;
    step_hasty(beside, 1);
    return PAWL_OK;
}

/* A worker begins with a claim of eight, and after a slow batch takes as many as were handled: what is behind them is not
 * hidden from others. */
ON_ALL_STORES(e7_slow_handlers_leave_messages_to_other_workers, const char *url)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    world                   *it;
    pawl_endpoint           *endpoint = open_hasty(&it, hook_url(url));
    pawl_endpoint           *beside   = create_with_time(hook_url(url), 1);
    for (size_t i = 0; i < COUNT(names); i++)
        post_work(it, names[i], names[i]);
    for (int i = 0; i < 2; i++) {
        pawl_endpoint *other = beside;
        hook_set(step_beside, &other);
        step_hasty(endpoint, 1);
        hook_set(NULL, NULL);
        assert_null(other);
    }
    assert_string_equal(seen.text, "a i b c ");
    pawl_endpoint_destroy(endpoint);
    pawl_endpoint_destroy(beside);
}

static pawl_endpoint *open_with_many(world **it, const char *url)
{
    pawl_endpoint *endpoint = open_with_time(it, url, PAWL_SECONDS(4));
    for (int i = 0; i < 100; i++)
        post_work(*it, test_text("%d", i), "a");
    return endpoint;
}

static int64_t two_steps(pawl_endpoint *endpoint)
{
    int64_t handled = 0;
    for (int i = 0; i < 2; i++) {
        pawl_step step = PAWL_STEP_INIT;
        must(pawl_endpoint_step(endpoint, &step, world_error()));
        handled += step.handled;
    }
    return handled;
}

/* A claim that was made ahead may be as small as the first. */
ON_ALL_STORES(e7_after_a_first_batch_of_fast_handlers_claims_are_as_large_as_can_be,
              const char *url)
{
    world         *it;
    pawl_endpoint *endpoint = open_with_many(&it, url);
    step_hasty(endpoint, 8);
    assert_int_equal(two_steps(endpoint), 92);
    pawl_endpoint_destroy(endpoint);
}

/* A batch of 256 of them would take more than half of its time; those that come later are fast. */
ON_ALL_STORES(e7_after_a_first_batch_of_handlers_that_take_time_claims_double, const char *url)
{
    world         *it;
    pawl_endpoint *endpoint = open_with_many(&it, url);
    slowness                = PAWL_MILLISECONDS(10);
    step_hasty(endpoint, 8);
    slowness = 0;
    assert_in_range(two_steps(endpoint), 16, 48);
    pawl_endpoint_destroy(endpoint);
}

#define HANDLER_TIME PAWL_MILLISECONDS(500)

/* As a store that is far away. */
static pawl_code claim_slowly(hook_point point, void *context)
{
    int64_t begin = pawl__monotonic_now();
    while (point == HOOK_BEFORE_CLAIM && pawl__monotonic_now() < begin + HANDLER_TIME + 1)
        continue;
    return PAWL_OK;
}

/* Else each batch of a slow store would handle one message, and load all others once more. */
ON_ALL_STORES(e7_a_slow_store_takes_no_time_of_the_handlers, const char *url)
{
    world         *it;
    pawl_endpoint *endpoint = open_with_time(&it, hook_url(url), HANDLER_TIME);
    post_work(it, "1", "a");
    post_work(it, "2", "b");
    post_work(it, "3", "c");
    hook_set(claim_slowly, NULL);
    step_hasty(endpoint, 3);
    post_work(it, "4", "d");
    post_work(it, "5", "e");
    step_hasty(endpoint, 2);
    hook_set(NULL, NULL);
    pawl_endpoint_destroy(endpoint);
}

/* ---- Content ----------------------------------------------------------------------- */

static pawl_code bad_code;

/* As a store that cannot take what one of the units wrote. */
static pawl_code refuse_bad(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT || !has_bad)
        return PAWL_OK;
    has_bad = false;
    return bad_code;
}

/* The others are handled, and it is a dead letter, in this step. */
ON_ALL_STORES(e26_what_a_store_cannot_take_is_one_messages_failure, const char *url)
{
    static const pawl_code codes[] = {PAWL_EINVAL, PAWL_ELIMIT, PAWL_EUNSUPPORTED, PAWL_EDECODE};
    world_hold(url);
    for (size_t i = 0; i < COUNT(codes); i++) {
        char   id[20] = "m-0";
        world *it     = open_world(hook_url(url), (pawl_endpoint_options){0});
        hook_set(refuse_bad, NULL);
        bad_code = codes[i];
        post_work(it, NULL, "a");
        id[2] = (char)('0' + i);
        post_work(it, id, "bad");
        post_work(it, NULL, "c");
        pawl_step step = world_step(it);
        assert_string_equal(seen.text, "a bad c a bad c ");
        assert_int_equal(step.handled, 3);
        assert_int_equal(step.dead, 1);
        assert_int_equal(world_queue(it, "mill").count, 0);
        pawl_dead_rows dead = world_dead(it);
        assert_int_equal(dead.count, i + 1);
        assert_string_equal(dead.items[i].message.id.data, id);
        assert_string_equal(dead.items[i].code.data, pawl_code_name(codes[i]));
        hook_set(NULL, NULL);
        world_close(it);
    }
}
