/* test_runtime_owners.c - two workers of one endpoint that need one saga: the second leaves it to the
 * first. S9, S32, E29.
 *
 * The second worker's step is made by the first one's handler, so that nothing is left to chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "runtime/runtime.h"

#define WAIT PAWL_MILLISECONDS(20)

RECORD(counter_state, (TEXT, name), (INT32, count));
RECORD(other_state, (TEXT, name), (INT32, count));
PAWL_RECORD(bump, A_NAME);
PAWL_RECORD(found, A_NAME);
PAWL_RECORD(own, A_NAME);
PAWL_RECORD(both, A_NAME);
PAWL_RECORD(piece, A_NAME);

static world_log     seen;
static world         it;
static pawl__worker *second;
static pawl_saga_id  counter_id; /* of the last one that was in hand */
static void (*meanwhile)(void);  /* called by the next handler, once */
static void (*at_flush)(void);
static pawl_step second_step;

static pawl_code count_up(pawl_context *ctx, counter_state *counter, const char *what)
{
    void (*call)(void) = meanwhile;
    meanwhile          = NULL;
    world_note(&seen, "%s(%.*s)", what, PAWL_TEXT_ARGS(counter->name));
    counter_id = pawl_saga_id_in_flight(ctx);
    counter->count++;
    if (call != NULL) {
        call();
        world_note(&seen, "back");
    }
    return PAWL_OK;
}

static pawl_code on_bump(pawl_context *ctx, counter_state *counter, const bump *message)
{
    return count_up(ctx, counter, "bump");
}
PAWL_HANDLER(on_bump, counter_state, bump);

static pawl_code on_found(pawl_context *ctx, counter_state *counter, const found *message)
{
    return count_up(ctx, counter, "found");
}
PAWL_HANDLER(on_found, counter_state, found);

static pawl_code find_counter(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = counter_id;
    return PAWL_OK;
}

static pawl_code on_own(pawl_context *ctx, counter_state *counter, const own *message)
{
    return count_up(ctx, counter, "own");
}
PAWL_HANDLER(on_own, counter_state, own);

static pawl_code on_both(pawl_context *ctx, counter_state *counter, const both *message)
{
    return count_up(ctx, counter, "both");
}
PAWL_HANDLER(on_both, counter_state, both);

static pawl_code on_both_too(pawl_context *ctx, other_state *other, const both *message)
{
    other->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_both_too, other_state, both);

static pawl_code on_pieces(pawl_context *ctx, const piece *messages, size_t count)
{
    world_note(&seen, "pieces(%zu)", count);
    at_flush();
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_pieces, piece);

static pawl_code on_ring(pawl_context *ctx, counter_state *counter)
{
    return count_up(ctx, counter, "ring");
}
PAWL_TIMEOUT_HANDLER(on_ring, counter_state);

static const pawl_saga counter_saga =
    SAGA_OF("Counter", counter_state, "name",
            {.handle = PAWL_HANDLE(on_bump), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_found), .key = "name", .find = find_counter, .starts = true},
            {.handle = PAWL_HANDLE(on_both), .key = "name"},
            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});
static const pawl_saga other_saga =
    SAGA_OF("Other", other_state, "name",
            {.handle = PAWL_HANDLE(on_both_too), .key = "name", .starts = true});
static const pawl_aggregator pieces = {
    .name = "Pieces", .handle = PAWL_HANDLE(on_pieces), .size = 1};
static const pawl_application application =
    ONE_ENDPOINT("owners", .name = "desk", .sagas = PAWL_SAGAS(&counter_saga, &other_saga),
                 .aggregators = PAWL_AGGREGATORS(&pieces));

static const pawl_saga counter_saga_of_sql =
    SAGA_OF("Counter", counter_state, "name",
            {.handle = PAWL_HANDLE(on_bump), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_own), .key = "name", .starts = true, .own_sql = true});
static const pawl_endpoint_spec desk_of_sql        = {.name  = "desk",
                                                      .sagas = PAWL_SAGAS(&counter_saga_of_sql)};
static const pawl_application   application_of_sql = APPLICATION("owners", &desk_of_sql);

static void bump_it(const char *name)
{
    world_post(&it, NULL, PAWL_MESSAGE(bump, .name = pawl_text_of(name)));
}

static void step_second(void)
{
    second_step = (pawl_step){.next_due = PAWL_TIME_MAX};
    must(pawl__worker_step(second, &second_step, world_error()));
}

static void close_two(void *context)
{
    pawl__worker_destroy(second);
    world_close(&it);
}

/* Under a virtual clock an endpoint has one worker, and no table. */
static void open_two(const char *url, const pawl_application *of)
{
    world_open(&it, url, of, NULL,
               &(pawl_endpoint_options){.immediate_retries = -1, .no_service = true});
    it.endpoint->owners = pawl__owners_create();
    pawl__engine_callbacks_set(it.endpoint->worker);
    must(pawl__worker_create(it.endpoint, &second, world_error()));
    meanwhile = NULL;
    bump_it("a");
    world_drain(&it);
    world_forget(&seen);
    test_later(close_two, &it);
}

static int count_of(const char *name)
{
    return (int)world_json_number(world_saga_text(&it, "Counter", name, NULL), "count");
}

static void set_timeout(pawl_saga_id id)
{
    MUST_COMMIT(it.store, timeout_set, WORLD_START, .id = {{{5}}}, .saga_id = id,
                .saga_type = PAWL_TEXT("Counter"), .name = PAWL_TEXT("ring"),
                .destination = PAWL_TEXT("desk"), .due = world_now(&it));
}

static void post_a_and_b(void)
{
    bump_it("a");
    bump_it("b");
    step_second();
}

ON_ALL_STORES(s9_another_worker_leaves_it_and_does_the_rest, const char *url)
{
    open_two(url, &application);
    meanwhile = post_a_and_b;
    bump_it("a");
    pawl_step step = world_step(&it);
    assert_string_equal(seen.text, "bump(a) bump(b) back ");
    assert_int_equal(step.refused + second_step.refused, 0);
    assert_int_equal(second_step.handled, 1);
    pawl_queue_row rows = world_queue_row(&it, "desk");
    assert_int_equal(rows.due, WORLD_START + WAIT);
    assert_int_equal(rows.attempts, 0);
    assert_int_equal(rows.waiting_since, 0);
    assert_int_equal(world_stats(&it).counters.conflicts, 0);
    assert_int_equal(world_go(&it, WAIT).handled, 1);
    assert_int_equal(count_of("a"), 3);
    assert_int_equal(count_of("b"), 1);
}

static void post_a(void)
{
    bump_it("a");
    step_second();
}

/* Nothing else is there to do: its claim is free, nothing was written, and the next one is small. */
ON_ALL_STORES(s9_without_other_work_the_claims_are_freed, const char *url)
{
    open_two(url, &application);
    meanwhile           = post_a;
    second->claim_count = 200;
    bump_it("a");
    LOG_AFTER(world_step(&it), seen, "bump(a) back ");
    assert_true(second->found_all_busy);
    assert_true(second_step.is_idle);
    assert_int_equal(second->claim_count, 8);
    assert_int_equal(second->busy_pauses, 1);
    step_second(); /* the owner was asked, and keeps it a little longer */
    assert_true(second->found_all_busy);
    assert_int_equal(second->claim_count, 16);
    assert_int_equal(second->busy_pauses, 2);
    assert_int_equal(world_queue_row(&it, "desk").due, WORLD_START);
    assert_int_equal(world_step(&it).handled, 1); /* by the worker that has it */
    assert_int_equal(count_of("a"), 3);
    bump_it("b");
    step_second();
    assert_int_equal(second->busy_pauses, 0);
    assert_int_equal(second->claim_count, second->batch_max);
}

static void post_c(void)
{
    bump_it("c");
    step_second();
}

ON_ALL_STORES(s9_a_saga_that_begins_has_one_worker_too, const char *url)
{
    open_two(url, &application);
    meanwhile = post_c;
    bump_it("c");
    assert_int_equal(world_step(&it).refused, 0);
    assert_string_equal(seen.text, "bump(c) back ");
    assert_int_equal(world_drain(&it).handled, 1);
    assert_int_equal(count_of("c"), 2);
}

static void post_timeout(void)
{
    set_timeout(counter_id);
    step_second();
}

/* Its id is all that a timeout knows, and the worker of the message knows it since the load. */
ON_ALL_STORES(s9_a_timeout_is_left_to_the_worker_of_its_saga, const char *url)
{
    open_two(url, &application);
    meanwhile = post_timeout;
    bump_it("a");
    assert_int_equal(world_step(&it).refused, 0);
    assert_string_equal(seen.text, "bump(a) back ");
    assert_int_equal(second_step.handled, 0);
    assert_int_equal(world_stats(&it).counters.conflicts, 0);
    assert_int_equal(world_drain(&it).handled, 1); /* its lease was released */
    assert_string_equal(seen.text, "bump(a) back ring(a) ");
    assert_int_equal(count_of("a"), 3);
}

static void post_found(void)
{
    world_post(&it, NULL, PAWL_MESSAGE(found, .name = PAWL_TEXT("a")));
    step_second();
}

/* `names`: the finder still names the saga when it is asked again. */
static void expect_found_is_left(const char *url, void (*post)(void), bool names)
{
    open_two(url, &application);
    meanwhile = post;
    bump_it("a");
    assert_int_equal(world_step(&it).refused, 0);
    assert_string_equal(seen.text, "bump(a) back ");
    assert_int_equal(second_step.handled, 0);
    if (!names)
        counter_id = (pawl_saga_id){{{0}}};
    world_drain(&it);
    LOG_AFTER(world_go(&it, WAIT), seen, "bump(a) back found(a) ");
    assert_int_equal(count_of("a"), 3);
}

ON_ALL_STORES(s9_what_a_finder_finds_is_left_too, const char *url)
{
    expect_found_is_left(url, post_found, true);
}

static void post_unfound(void)
{
    counter_id = (pawl_saga_id){{{0}}};
    post_found();
}

ON_ALL_STORES(s9_what_a_finder_leaves_to_the_value_is_left_too, const char *url)
{
    expect_found_is_left(url, post_unfound, false);
}

static void pass_a_second(void)
{
    bump_it("a");
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + PAWL__OWNER_TIME - 1);
    step_second();
    assert_int_equal(second_step.handled, 0);
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + 1);
    second->pause_end = 0;
    step_second();
    assert_int_equal(second_step.handled, 1);
}

/* A handler that takes long keeps others waiting for a second. Then the versions decide. */
ON_ALL_STORES(e29_a_slow_handler_has_it_for_a_second, const char *url)
{
    open_two(url, &application);
    meanwhile = pass_a_second;
    bump_it("a");
    pawl_step step = world_step(&it);
    assert_string_equal(seen.text, "bump(a) bump(a) back bump(a) ");
    assert_int_equal(step.refused, 1);
    assert_int_equal(count_of("a"), 3);
}

static void pass_most_of_a_second(void)
{
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + PAWL__OWNER_TIME - 1);
}

static pawl_code wait_for_the_disk(hook_point point, void *context)
{
    if (point != HOOK_BEFORE_COMMIT)
        return PAWL_OK;
    hook_set(NULL, NULL);
    bump_it("a");
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + PAWL__OWNER_COMMIT - 1);
    step_second();
    assert_int_equal(second_step.handled, 0);
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + 1);
    second->pause_end = 0;
    step_second();
    assert_int_equal(second_step.handled, 1);
    return PAWL_OK;
}

/* The handlers have run: only a conflict would come of a second run. A commit that hangs frees it in the end. */
ON_ALL_STORES(s9_a_commit_that_waits_keeps_the_saga, const char *url)
{
    open_two(hook_url(url), &application);
    meanwhile = pass_most_of_a_second;
    bump_it("a");
    hook_set(wait_for_the_disk, NULL);
    assert_int_equal(world_step(&it).refused, 1);
    assert_string_equal(seen.text, "bump(a) back bump(a) bump(a) ");
    assert_int_equal(count_of("a"), 3);
}

/* The next step of the other worker has it, unless it was asked for. */
ON_ALL_STORES(s9_a_saga_that_nobody_asked_for_is_free_behind_the_step, const char *url)
{
    open_two(url, &application);
    bump_it("a");
    assert_int_equal(world_step(&it).handled, 1);
    bump_it("a");
    step_second();
    assert_int_equal(second_step.handled, 1);
}

ON_ALL_STORES(s9_one_that_was_asked_for_stays_with_its_worker, const char *url)
{
    open_two(url, &application);
    meanwhile = post_a;
    bump_it("a");
    assert_int_equal(world_step(&it).handled, 1);
    step_second();
    assert_int_equal(second_step.handled, 0);
    pawl_clock_set(it.machine, pawl_clock_now(it.machine) + PAWL__OWNER_KEEP);
    step_second();
    assert_int_equal(second_step.handled, 1);
    assert_int_equal(count_of("a"), 3);
}

static void post_both(void)
{
    world_post(&it, NULL, PAWL_MESSAGE(both, .name = PAWL_TEXT("a")));
    step_second();
}

/* Both of its sagas may never be free at once. */
ON_ALL_STORES(s9_a_message_for_two_sagas_asks_nobody, const char *url)
{
    open_two(url, &application);
    meanwhile = post_both;
    bump_it("a");
    assert_int_equal(world_step(&it).refused, 1);
    assert_string_equal(seen.text, "bump(a) both(a) back bump(a) ");
    assert_int_equal(second_step.handled, 1);
    assert_int_equal(count_of("a"), 3);
}

/* A flush that follows the commit in the same step may take long. */
ON_ALL_STORES(s9_a_saga_is_free_when_its_commit_is_done, const char *url)
{
    open_two(url, &application);
    it.endpoint->worker->claim_count = 8;
    at_flush                         = post_a;
    bump_it("a");
    world_post(&it, NULL, PAWL_MESSAGE(piece, .name = PAWL_TEXT("a")));
    LOG_AFTER(world_step(&it), seen, "bump(a) pieces(1) bump(a) ");
    assert_int_equal(second_step.handled, 1);
}

static void post_own(void)
{
    world_post(&it, NULL, PAWL_MESSAGE(own, .name = PAWL_TEXT("a")));
    step_second();
}

/* A handler with its own SQL waits for its row in the database, and asks no table. */
TESTS(s9_own_sql_asks_the_database, const char *url,
      STORE_ROW(s9_own_sql_asks_the_database, "sqlite")
          SQL_SERVERS(SERVER_ROW, s9_own_sql_asks_the_database))
{
    open_two(url, &application_of_sql);
    meanwhile = post_own;
    bump_it("a");
    assert_int_equal(world_step(&it).refused, 1);
    assert_string_equal(seen.text, "bump(a) own(a) back bump(a) ");
    assert_int_equal(second_step.handled, 1);
    assert_int_equal(count_of("a"), 3);
}

/* ---- The table --------------------------------------------------------------- */

static pawl__owned left, right;

static bool take_left(pawl__owners *owners, uint64_t hash, pawl_time now)
{
    return pawl__owners_take(owners, &left, hash, now);
}

static bool take_right(pawl__owners *owners, uint64_t hash, pawl_time now)
{
    return pawl__owners_take(owners, &right, hash, now);
}

static void begin_table(pawl__owners **owners)
{
    *owners    = pawl__owners_create();
    left.count = right.count = 0;
}

TEST(hashes_of_one_place_are_kept_apart)
{
    pawl__owners *owners;
    begin_table(&owners);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(take_left(owners, 1 + i * PAWL__OWNERS_MAX, 0));
    for (uint64_t i = 0; i < 8; i++)
        assert_false(take_right(owners, 1 + i * PAWL__OWNERS_MAX, 0));
    /* There is no room for it, so it is everybody's. */
    assert_true(take_left(owners, 1 + 8 * PAWL__OWNERS_MAX, 0));
    assert_true(take_right(owners, 1 + 8 * PAWL__OWNERS_MAX, 0));
    assert_int_equal(left.count, 8);
    /* A place that a worker has had too long goes to the next one. */
    assert_true(take_right(owners, 1 + 9 * PAWL__OWNERS_MAX, PAWL__OWNER_TIME));
    assert_false(take_left(owners, 1 + 9 * PAWL__OWNERS_MAX, PAWL__OWNER_TIME));
    pawl__owners_release(owners, &left, PAWL__OWNER_TIME);
    assert_false(take_left(owners, 1 + 9 * PAWL__OWNERS_MAX, PAWL__OWNER_TIME));
    pawl__owners_destroy(owners);
}

TEST(a_clock_that_is_set_back_keeps_nothing)
{
    pawl__owners *owners;
    begin_table(&owners);
    assert_true(take_left(owners, 7, PAWL_HOURS(1)));
    assert_false(take_right(owners, 7, PAWL_HOURS(1)));
    assert_true(take_right(owners, 7, 0));
    pawl__owners_destroy(owners);
}

/* The owner's batch began a moment behind that of the worker that asks. */
TEST(a_worker_whose_batch_began_before_finds_the_owner)
{
    pawl__owners *owners;
    begin_table(&owners);
    assert_true(take_left(owners, 7, PAWL__OWNER_TIME));
    assert_false(take_right(owners, 7, PAWL__OWNER_TIME - 1));
    pawl__owners_hold(owners, &left, PAWL__OWNER_COMMIT);
    assert_false(take_right(owners, 7, 0));
    assert_true(take_right(owners, 7, -1));
    pawl__owners_destroy(owners);
}

/* A worker whose time is over holds nothing of others either. */
TEST(a_commit_has_its_own_time)
{
    pawl__owners *owners;
    begin_table(&owners);
    assert_true(take_left(owners, 7, 0));
    assert_true(take_left(owners, 8, 0));
    assert_true(take_right(owners, 8, PAWL__OWNER_TIME));
    pawl__owners_hold(owners, &left, PAWL__OWNER_TIME);
    assert_false(take_right(owners, 7, PAWL__OWNER_TIME + PAWL__OWNER_COMMIT - 1));
    assert_true(take_left(owners, 8, 2 * PAWL__OWNER_TIME));
    assert_true(take_right(owners, 7, PAWL__OWNER_TIME + PAWL__OWNER_COMMIT));
    pawl__owners_destroy(owners);
}

/* A worker whose time is over does not free what is another's meanwhile. */
TEST(a_late_release_frees_nothing_of_others)
{
    pawl__owners *owners;
    begin_table(&owners);
    assert_true(take_left(owners, 7, 0));
    assert_true(take_right(owners, 7, PAWL__OWNER_TIME));
    pawl__owners_release(owners, &left, PAWL__OWNER_TIME);
    assert_int_equal(left.count, 0);
    assert_false(take_left(owners, 7, PAWL__OWNER_TIME));
    pawl__owners_destroy(owners);
}

TEST(a_table_that_is_full_holds_no_more)
{
    pawl__owners *owners;
    begin_table(&owners);
    for (uint64_t i = 0; i < 2 * PAWL__OWNERS_MAX; i++)
        assert_true(take_left(owners, i, 0));
    assert_int_equal(left.count, PAWL__OWNERS_MAX);
    assert_false(take_right(owners, 0, 0));
    assert_true(take_right(owners, PAWL__OWNERS_MAX, 0));
    assert_int_equal(right.count, 0);
    /* Taken again while it is had: its time begins anew, and the list does not grow over its end. */
    for (uint64_t i = 0; i < PAWL__OWNERS_MAX; i++)
        assert_true(take_left(owners, i, PAWL__OWNER_TIME));
    assert_int_equal(left.count, PAWL__OWNERS_MAX);
    pawl__owners_release(owners, &left, 0);
    pawl__owners_destroy(owners);
}
