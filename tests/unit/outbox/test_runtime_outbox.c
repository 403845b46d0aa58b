/* test_runtime_outbox.c - messages that leave the store: delivered, delayed,
 * held in order, dead. O5 to O16, O19, O20.
 *
 * The target is a store of the same kind behind a hook, so that deliveries fail
 * when the test says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "base/dispatch.h"
#include "runtime/runtime.h"
#include "support/hook.h"

RECORD(advance, (TEXT, name), (INT32, number), (INT32, count), (TEXT, to));
PAWL_RECORD(call, A_NUMBER);

static pawl_saga_id flow_id;

static pawl_code on_advance(pawl_context *ctx, flow_state *flow, const advance *message)
{
    const char *to = test_text("%.*s", PAWL_TEXT_ARGS(message->to));
    flow_id        = pawl_saga_id_in_flight(ctx);
    flow->steps++;
    for (int32_t i = 0; i < message->count; i++)
        pawl_send(ctx, to, PAWL_MESSAGE(note, .number = message->number + i));
    return PAWL_OK;
}
PAWL_HANDLER(on_advance, flow_state, advance);

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_saga flow_saga = FLOW_SAGA(on_advance);

static const pawl_endpoint_spec source = {.name     = "source",
                                          .sagas    = PAWL_SAGAS(&flow_saga),
                                          .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)})};

static const pawl_application application = APPLICATION("outbox", &source, &notes);

/* ---- Two stores ------------------------------------------------------------------ */

typedef struct pair {
    world       it;
    char        target[1000];
    const char *hooked;
    pawl_route  routes[3];
    pawl_store *look; /* on the target */
} pair;

static int failing; /* how many deliveries fail from now on */

static pawl_code fail_delivery(hook_point point, void *context)
{
    return point == HOOK_BEFORE_COMMIT && failing-- > 0 ? PAWL_EBUSY : PAWL_OK;
}

static void open_source(pair *both, const char *url, pawl_endpoint_options options)
{
    options.routes = both->routes;
    world_open(&both->it, url, &application, "source", &options);
}

static void close_pair(void *context)
{
    pair *both = context;
    world_close(&both->it);
    pawl_store_close(both->look);
    hook_set(NULL, NULL);
    scenario_forget(both->target);
}

/* Until the test ends. */
static pair *open_pair(const char *url, pawl_endpoint_options options)
{
    static pair opened;
    pair       *both = &opened;
    scenario_url_like(url, both->target, sizeof both->target);
    must(pawl_store_open(both->target, NULL, &both->look, world_error()));
    both->hooked    = hook_url(both->target);
    both->routes[0] = (pawl_route){.name = "far", .url = both->hooked, .queue = "notes"};
    both->routes[1] = (pawl_route){.name = "near", .url = both->target, .queue = "others"};
    both->routes[2] = (pawl_route){.name = NULL};
    failing         = 0;
    world_forget(&seen);
    hook_set(fail_delivery, NULL);
    open_source(both, url, options);
    test_later(close_pair, both);
    return both;
}

static pawl_queue_rows arrived(pair *both, const char *queue)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(both->look, pawl_text_of(queue), 0, both->it.arena, &rows,
                               world_error()));
    return rows;
}

/* The numbers of the notes in a queue of the target, by place: "1 2 ". */
static void assert_arrived(pair *both, const char *queue, const char *expected)
{
    char            text[400] = "";
    pawl_queue_rows rows      = arrived(both, queue);
    for (size_t i = 0; i < rows.count; i++) {
        int number = 0;
        sscanf(rows.items[i].message.body.data, "{\"number\":%d", &number);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d ", number);
    }
    assert_string_equal(text, expected);
}

static void advance_flow(pair *both, const char *name, int32_t number, int32_t count,
                         const char *to)
{
    world_post(&both->it, NULL,
               PAWL_MESSAGE(advance, .name = pawl_text_of(name), .number = number, .count = count,
                            .to = pawl_text_of(to)));
}

/* ---- Delivered --------------------------------------------------------------------- */

ON_ALL_STORES(o9_delivered_once_and_recorded, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){0});
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    pawl_step step = world_drain(&both->it);
    assert_int_equal(step.sent, 1);
    assert_arrived(both, "notes", "5 ");
    world_go_both(&both->it, PAWL_HOURS(1));
    assert_arrived(both, "notes", "5 ");
    pawl_outbox_row rows = world_outbox_row(&both->it, PAWL_OUTBOX_DISPATCHED);
    assert_int_equal(rows.attempts, 1);
    assert_string_equal(rows.destination.data, "far");
    pawl_attempt_rows attempts = world_attempts(&both->it, rows.id);
    assert_int_equal(attempts.count, 1);
    assert_int_equal(attempts.items[0].outcome, PAWL_ATTEMPT_SUCCESS);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 0);
}

static void assert_id(pawl_dispatch_id expected, pawl_text id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(expected.uuid, text);
    assert_string_equal(id.data, text);
}

/* Three units of one new saga in a batch: the index runs through all. */
ON_ALL_STORES(o5_ids_come_from_source_version_and_index, const char *url)
{
    char  id[PAWL_UUID_TEXT_SIZE + 1];
    pair *both = open_pair(url, (pawl_endpoint_options){0});
    advance_flow(both, "f", 1, 2, "far");
    advance_flow(both, "f", 3, 1, "far");
    advance_flow(both, "f", 4, 1, "far");
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    world_drain(&both->it);
    advance_flow(both, "f", 6, 1, "far");
    world_drain(&both->it);
    assert_arrived(both, "notes", "1 2 3 4 5 6 ");
    pawl_queue_rows rows = arrived(both, "notes");
    pawl_text       none = {.data = "", .size = 0};
    pawl_uuid_format(flow_id.uuid, id);
    const char *flow = test_text("Flow/%s", id);
    for (int32_t i = 0; i < 4; i++)
        assert_id(pawl__dispatch_id(PAWL_TEXT("source"), pawl_text_of(flow), none, 1, i),
                  rows.items[i].message.id);
    assert_id(pawl__dispatch_id(PAWL_TEXT("source"), none, PAWL_TEXT("m1"), 0, 0),
              rows.items[4].message.id);
    assert_id(pawl__dispatch_id(PAWL_TEXT("source"), pawl_text_of(flow), none, 2, 0),
              rows.items[5].message.id);
    assert_int_equal(rows.items[5].message.id.data[14], '5');
}

static int commits_left;

static pawl_code fail_one_commit(hook_point point, void *context)
{
    return point == HOOK_BEFORE_COMMIT && commits_left-- == 0 ? PAWL_ELOST : PAWL_OK;
}

ON_ALL_STORES(o1_a_commit_that_fails_leaves_and_sends_nothing, const char *url)
{
    pawl_step step = PAWL_STEP_INIT;
    pair     *both = open_pair(url, (pawl_endpoint_options){0});
    world_close(&both->it);
    both->routes[0].url = both->target;
    hook_set(NULL, NULL);
    const char *hooked = hook_url(url);
    open_source(both, hooked, (pawl_endpoint_options){0});
    advance_flow(both, "f", 1, 1, "far");
    commits_left = 0;
    hook_set(fail_one_commit, NULL);
    assert_int_equal(pawl_endpoint_step(both->it.endpoint, &step, world_error()), PAWL_ELOST);
    assert_int_equal(world_saga_count(&both->it, "Flow"), 0);
    for (int state = PAWL_OUTBOX_PENDING; state <= PAWL_OUTBOX_DISCARDED; state++)
        assert_int_equal(world_outbox(&both->it, (pawl_outbox_state)state).count, 0);
    assert_arrived(both, "notes", "");
    world_drain(&both->it); /* the message is still there */
    assert_arrived(both, "notes", "1 ");
    assert_int_equal(world_saga_count(&both->it, "Flow"), 1);
}

/* The crash between delivery and mark: sent again, and the receiver, which has
 * handled it meanwhile, drops it. */
ON_ALL_STORES(o16_sent_again_and_dropped_by_the_receiver, const char *url)
{
    pawl_step  step  = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    pair      *both  = open_pair(url, (pawl_endpoint_options){0});
    world_close(&both->it);
    both->routes[0].url = both->target;
    hook_set(NULL, NULL);
    const char *hooked = hook_url(url);
    open_source(both, hooked, (pawl_endpoint_options){0});
    world *receiver = world_begin(both->target, &application, "notes", NULL);
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    commits_left = 2; /* the message's commit and the take-over's are good, the settling is not */
    hook_set(fail_one_commit, NULL);
    assert_int_equal(pawl_endpoint_step(both->it.endpoint, &step, &error), PAWL_ELOST);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 1);
    LOG_AFTER(world_drain(receiver), seen, "note5 ");
    world_drain(&both->it);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DISPATCHED).count, 1);
    assert_int_equal(world_queue(receiver, "notes").count, 1);
    LOG_AFTER(world_drain(receiver), seen, "note5 ");
    assert_int_equal(world_queue(receiver, "notes").count, 0);
}

/* ---- Failing --------------------------------------------------------------------------- */

ON_ALL_STORES(o10_a_transient_failure_is_tried_again_later, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){.outbox_delay = PAWL_SECONDS(1)});
    failing    = 3;
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    int64_t last = 0;
    world_drain(&both->it);
    for (int i = 1; i <= 3; i++) {
        pawl_outbox_rows rows = world_outbox(&both->it, PAWL_OUTBOX_PENDING);
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].attempts, i);
        int64_t delay = rows.items[0].next_attempt - pawl_clock_now(both->it.machine);
        assert_true(delay > last && delay >= PAWL_SECONDS(1) << (i - 1));
        last = delay;
        world_go_machine(&both->it, delay - 1);
        assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).items[0].attempts, i);
        world_go_machine(&both->it, 1);
    }
    assert_arrived(both, "notes", "5 ");
    pawl_outbox_rows  rows     = world_outbox(&both->it, PAWL_OUTBOX_DISPATCHED);
    pawl_attempt_rows attempts = world_attempts(&both->it, rows.items[0].id);
    assert_int_equal(attempts.count, 4);
    for (int32_t i = 0; i < 3; i++) {
        assert_int_equal(attempts.items[i].attempt, i + 1);
        assert_int_equal(attempts.items[i].outcome, PAWL_ATTEMPT_TRANSIENT);
        assert_true(world_says(attempts.items[i].error, "the test says EBUSY"));
    }
    assert_int_equal(attempts.items[3].outcome, PAWL_ATTEMPT_SUCCESS);
}

ON_ALL_STORES(a_target_that_cannot_be_opened_costs_no_attempt, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){0});
    /* Behind the check at the start. */
    both->it.endpoint->routes[0].system_prefix = "no prefix";
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    advance_flow(both, "g", 9, 1, "near");
    world_drain(&both->it);
    assert_int_equal(world_outbox_row(&both->it, PAWL_OUTBOX_PENDING).attempts, 0);
    /* Another route goes on. */
    assert_arrived(both, "others", "9 ");
}

ON_ALL_STORES(o14_later_rows_of_the_source_wait, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){.outbox_delay = PAWL_SECONDS(10)});
    failing    = 1;
    advance_flow(both, "f", 1, 3, "far");
    advance_flow(both, "g", 50, 1, "near");
    world_drain(&both->it);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 1);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 2);
    assert_arrived(both, "others", "50 ");
    /* A row that comes while its source waits is held when it is met. */
    advance_flow(both, "f", 4, 1, "far");
    world_drain(&both->it);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 1);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 3);
    assert_int_equal(world_stats(&both->it).outbox_blocked, 3);
    assert_arrived(both, "notes", "");
    /* Another source goes on by the same route. */
    advance_flow(both, "h", 60, 1, "far");
    world_drain(&both->it);
    assert_arrived(both, "notes", "60 ");
    world_go_machine(&both->it, PAWL_MINUTES(1));
    assert_arrived(both, "notes", "60 1 2 3 4 ");
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 0);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 0);
}

/* A commit holds rows of its own claim alone, whatever waits behind them; those are held as they are claimed. */
ON_ALL_STORES(o14_a_failed_row_touches_no_row_beyond_its_claim, const char *url)
{
    pair *both = open_pair(
        url, (pawl_endpoint_options){.outbox_delay = PAWL_SECONDS(10), .outbox_batch = 2});
    size_t tried = 0;
    failing      = 1;
    advance_flow(both, "f", 1, 5, "far");
    for (int i = 0; tried == 0; i++) {
        assert_in_range(i, 0, 20);
        world_step(&both->it);
        pawl_outbox_rows rows = world_outbox(&both->it, PAWL_OUTBOX_PENDING);
        for (size_t j = 0; j < rows.count; j++)
            tried += rows.items[j].attempts > 0;
    }
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 1);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_PENDING).count, 4);
    world_drain(&both->it);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 4);
    assert_arrived(both, "notes", "");
    world_go_machine(&both->it, PAWL_MINUTES(1));
    assert_arrived(both, "notes", "1 2 3 4 5 ");
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 0);
}

/* A row may be held with nothing before it: the leader looks once a minute. */
ON_ALL_STORES(o14_rows_held_for_nothing_are_let_go, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){0});
    world_drain(&both->it); /* the runner leads from now on */
    pawl_refusals     refused  = {.arena = both->it.arena};
    pawl_time         now      = pawl_clock_now(both->it.machine);
    pawl_outbox_block hold     = {.source = PAWL_TEXT("Flow/lost")};
    pawl_outbox_add   row      = {.dispatch_id = {{{7}}},
                                  .source      = hold.source,
                                  .version     = 1,
                                  .endpoint    = PAWL_TEXT("source"),
                                  .destination = PAWL_TEXT("far"),
                                  .message     = {.id   = PAWL_TEXT("lost"),
                                                  .type = PAWL_TEXT("note"),
                                                  .body = PAWL_TEXT("{\"number\":2}")},
                                  .due         = world_now(&both->it),
                                  .at          = now};
    pawl_changes      changes  = {ONE_UNIT, .now = now};
    changes.outbox_add.items   = &row;
    changes.outbox_block.items = &hold;
    changes.outbox_add.count = changes.outbox_block.count = 1;
    must(pawl_store_commit(both->it.store, &changes, &refused, world_error()));
    for (int i = 0; i < 14; i++) /* the runner leads all the while */
        world_go_machine(&both->it, PAWL_SECONDS(4));
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 1);
    for (int i = 0; i < 4; i++)
        world_go_machine(&both->it, PAWL_SECONDS(4));
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_BLOCKED).count, 0);
    assert_arrived(both, "notes", "2 ");
}

ON_ALL_STORES(o12_dead_after_its_attempts_and_holds_nothing_back, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){.outbox_attempts = 2});
    failing    = 2;
    advance_flow(both, "f", 1, 2, "far");
    world_drain(&both->it);
    world_go_machine(&both->it, PAWL_MINUTES(1));
    world_go_machine(&both->it, PAWL_MINUTES(1));
    pawl_outbox_row dead = world_outbox_row(&both->it, PAWL_OUTBOX_DEAD);
    assert_int_equal(dead.index, 0);
    pawl_attempt_rows attempts = world_attempts(&both->it, dead.id);
    assert_int_equal(attempts.count, 2);
    assert_int_equal(attempts.items[1].outcome, PAWL_ATTEMPT_POISON);
    assert_arrived(both, "notes", "2 ");
    assert_int_equal(world_stats(&both->it).outbox_dead, 1);
}

ON_ALL_STORES(a_single_attempt_is_dead_at_once, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){.outbox_attempts = 1});
    failing    = 1;
    advance_flow(both, "f", 1, 2, "far");
    world_drain(&both->it);
    world_go_machine(&both->it, PAWL_MINUTES(1));
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DEAD).count, 1);
    assert_arrived(both, "notes", "2 ");
}

ON_ALL_STORES(an_unknown_route_is_tried_then_dead, const char *url)
{
    pawl_store *keep = NULL; /* a memory store lives as long as a handle does */
    pair       *both = open_pair(url, (pawl_endpoint_options){0});
    failing          = 1;
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 5));
    world_drain(&both->it);
    must(pawl_store_open(url, NULL, &keep, world_error()));
    world_close(&both->it);
    both->routes[0].name = "renamed";
    open_source(both, url, (pawl_endpoint_options){.outbox_attempts = 3});
    for (int i = 0; i < 4; i++)
        world_go_machine(&both->it, PAWL_HOURS(1));
    pawl_attempt_rows attempts =
        world_attempts(&both->it, world_outbox_row(&both->it, PAWL_OUTBOX_DEAD).id);
    assert_int_equal(attempts.count, 3);
    assert_true(world_says(attempts.items[2].error, "no route to another store is named 'far'"));
    pawl_store_close(keep);
}

/* ---- Who drains, and for how long it is kept ------------------------------------------------ */

ON_ALL_STORES(o20_one_leads_and_the_next_takes_over, const char *url)
{
    pawl_endpoint_options options = {.outbox_delay = PAWL_SECONDS(60)};
    pair                 *both    = open_pair(url, options);
    world_drain(&both->it);
    options.routes = both->routes;
    world *second  = world_begin(url, &application, "source", &options);
    world_post(second, "m1", PAWL_MESSAGE(call, .number = 5));
    world_drain(second);
    assert_arrived(both, "notes", ""); /* handled by the second, which does not lead */
    failing = 1;
    advance_flow(both, "f", 1, 3, "far");
    world_drain(&both->it); /* one delivery fails: both sources wait, two rows are held */
    assert_int_equal(world_outbox(second, PAWL_OUTBOX_BLOCKED).count, 2);
    world_go_machine(second, PAWL_SECONDS(1));
    assert_arrived(both, "notes", "");
    pawl_endpoint_destroy(both->it.endpoint);
    both->it.endpoint = NULL;
    /* The new leader knows which source waits: it neither lets the held rows go
     * nor sends a new one before them. */
    advance_flow(both, "f", 4, 1, "far");
    world_go_machine(second, PAWL_SECONDS(1));
    assert_arrived(both, "notes", "");
    assert_int_equal(world_outbox(second, PAWL_OUTBOX_BLOCKED).count, 3);
    world_go_machine(second, PAWL_SECONDS(90));
    assert_arrived(both, "notes", "5 1 2 3 4 ");
}

ON_ALL_STORES(o19_retention, const char *url)
{
    pair *both = open_pair(url, (pawl_endpoint_options){.outbox_attempts = 1});
    world_post(&both->it, "m1", PAWL_MESSAGE(call, .number = 1));
    world_drain(&both->it);
    failing = 1;
    world_post(&both->it, "m2", PAWL_MESSAGE(call, .number = 2));
    world_drain(&both->it);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DEAD).count, 1);
    assert_true(world_is_marked(&both->it, "m1"));
    world_go_machine(&both->it, PAWL_DAYS(7) - PAWL_HOURS(1));
    assert_true(world_is_marked(&both->it, "m1"));
    world_go_machine(&both->it, PAWL_HOURS(2));
    assert_false(world_is_marked(&both->it, "m1"));
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DISPATCHED).count, 1);
    world_go_machine(&both->it, PAWL_DAYS(24));
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DISPATCHED).count, 0);
    assert_int_equal(world_outbox(&both->it, PAWL_OUTBOX_DEAD).count, 1);
}
