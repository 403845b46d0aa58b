/* test_runtime_settled.c - outbox rows that somebody else settles while the runner sends them: the
 * runner leaves them, and rows behind them go on at once and in order; and rows of no source, which wait
 * for none. O8, O14, O16. And how often a delivery is counted. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"
#include "support/fault_store.h"
#include "unit/outbox/test_outbox_sample.h"

RECORD(advance, (TEXT, name), (INT32, number));

static pawl_code on_advance(pawl_context *ctx, flow_state *flow, const advance *message)
{
    flow->steps++;
    return pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_HANDLER(on_advance, flow_state, advance);

PAWL_RECORD(tell, A_NUMBER);

#define HERE 100 /* tells of such numbers go to a queue of this store */

static pawl_code on_tell(pawl_context *ctx, const tell *message)
{
    return pawl_send(ctx, message->number >= HERE ? "here" : "far",
                     PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_tell, tell);

static const pawl_saga          flow_saga   = FLOW_SAGA(on_advance);
static const pawl_endpoint_spec source      = {.name     = "source",
                                               .sagas    = PAWL_SAGAS(&flow_saga),
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_tell)})};
static const pawl_application   application = APPLICATION("settling", &source, &notes);

/* ---- An outbound transport, and somebody who settles rows meanwhile -------------------------- */

static struct {
    world it;
    int   busy;      /* calls that fail from now on */
    bool  settles;   /* the next call that is heard: all pending rows are dead behind it */
    bool  is_old;    /* as by a program that read them before their first attempt */
    bool  is_answer; /* the same call fails, too */
    int   next;      /* and a message of this number comes for the first flow; 0: none */
    char  heard[200];
} t;

static void advance_flow(const char *name, int32_t number)
{
    world_post(&t.it, NULL, PAWL_MESSAGE(advance, .name = pawl_text_of(name), .number = number));
}

static void settle_all(void)
{
    pawl_outbox_rows   rows = world_outbox(&t.it, PAWL_OUTBOX_PENDING);
    pawl_outbox_result gone = {.outcome = PAWL_ATTEMPT_REJECTED, .error = PAWL_TEXT("ada")};
    for (size_t i = 0; i < rows.count; i++) {
        pawl_outbox_row row = rows.items[i];
        row.attempts        = t.is_old ? 0 : row.attempts;
        must(pawl_store_outbox_settle(t.it.store, &row, &gone, pawl_clock_now(t.it.machine),
                                      world_error()));
    }
    if (t.next != 0)
        advance_flow("f0", t.next);
}

static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    if (t.busy > 0) {
        t.busy--;
        return pawl_error_set(error, PAWL_EBUSY, "busy");
    }
    for (size_t i = 0; i < count; i++) {
        int    number = 0;
        size_t used   = strlen(t.heard);
        sscanf(items[i].message.body.data, "{\"number\":%d", &number);
        snprintf(t.heard + used, sizeof t.heard - used, "%d ", number);
    }
    if (!t.settles)
        return PAWL_OK;
    t.settles = false;
    settle_all();
    return t.is_answer ? pawl_error_set(error, PAWL_EBUSY, "busy") : PAWL_OK;
}
static const pawl_transport_ops outbound = PAWL_OUTBOUND(receive);
static const pawl_route         routes[] = {{.name = "far", .outbound = &outbound},
                                            {.name = "here", .queue = "notes", .is_outbox = true},
                                            {.name = NULL}};

static void open_source(const char *url, int32_t batch)
{
    memset(&t, 0, sizeof t);
    world_open(&t.it, url, &application, "source",
               &(pawl_endpoint_options){.routes = routes, .outbox_batch = batch});
}

static int64_t counted(pawl_attempt_outcome outcome)
{
    return atomic_load(&t.it.endpoint->metrics.slots[PAWL__SLOT_ATTEMPTS + (size_t)outcome]);
}

/* Rows 2 and 3 are held behind the first one, which failed. */
static void hold_two(const char *url)
{
    open_source(url, 0);
    t.busy = 1;
    for (int number = 1; number <= 3; number++)
        advance_flow("f0", number);
    world_drain(&t.it);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_BLOCKED).count, 2);
    assert_int_equal(counted(PAWL_ATTEMPT_TRANSIENT), 1);
    assert_int_equal(counted(PAWL_ATTEMPT_SUCCESS), 0);
}

/* Rows 2 and 3 are held behind the first one, which is dead when its second attempt is told of; the
 * fourth comes meanwhile. Nobody waits for a time. */
static void rows_behind_one_that_is_gone(const char *url, bool is_old, bool is_answer)
{
    hold_two(url);
    t.settles   = true;
    t.is_old    = is_old;
    t.is_answer = is_answer;
    t.next      = 4;
    world_go_machine(&t.it, PAWL_MINUTES(1));
    world_drain(&t.it);
    assert_string_equal(t.heard, "1 2 3 4 ");
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DEAD).count, 1);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 3);
    world_close(&t.it);
}

ON_ALL_STORES(o14_rows_behind_one_that_another_settled_go_on, const char *url)
{
    for (int i = 0; i < 4; i++) {
        char other[1000];
        scenario_url_like(url, other, sizeof other);
        rows_behind_one_that_is_gone(other, i % 2 == 0, i / 2 == 0);
        scenario_forget(other);
    }
}

/* Nothing is in flight while the row before them is settled. */
ON_ALL_STORES(o14_rows_behind_one_that_was_settled_between_two_tries_go_on, const char *url)
{
    hold_two(url);
    settle_all();
    for (int i = 0; i < 60; i++) /* within the lease, whose next leader would read all anew */
        world_go_machine(&t.it, PAWL_SECONDS(2));
    assert_string_equal(t.heard, "2 3 ");
    world_close(&t.it);
}

/* Each of them is refused in the commit of all. */
ON_ALL_STORES(o16_many_rows_that_another_settled_are_left, const char *url)
{
    open_source(url, 0);
    for (int i = 0; i < 6; i++)
        advance_flow((const char *const[]){"f0", "f1", "f2", "f3", "f4", "f5"}[i], 10 + i);
    t.settles = true;
    t.next    = 20;
    world_drain(&t.it);
    world_drain(&t.it);
    assert_string_equal(t.heard, "10 11 12 13 14 15 20 ");
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DEAD).count, 6);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 1);
    assert_int_equal(counted(PAWL_ATTEMPT_SUCCESS), 7);
    world_close(&t.it);
}

/* A saga's sends keep their order. Those of a plain handler have none, whatever is claimed with them. */
ON_ALL_STORES(o14_rows_of_no_source_wait_for_none, const char *url)
{
    for (int32_t batch = 1; batch <= 3; batch++) {
        char fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        open_source(fixture, batch);
        for (int number = 1; number <= 4; number++)
            world_post(&t.it, NULL, PAWL_MESSAGE(tell, .number = number));
        t.busy = 1;
        world_drain(&t.it);
        assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_BLOCKED).count, 0);
        assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 4 - batch);
        world_go_machine(&t.it, PAWL_MINUTES(1));
        assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 4);
        world_close(&t.it);
        scenario_forget(fixture);
    }
}

/* ---- Counting ----------------------------------------------------------------------- */

/* A delivery to another store or a broker is one, whatever becomes of the commit; into a queue of this store the
 * commit is the delivery. */
static void count_deliveries(const char *url, fault_kind kind, bool is_here)
{
    bool was_reached = true;
    world_quiet();
    for (long n = 1; was_reached; n++) {
        fault_plan plan = {.kind = kind, .op = fault_op_commit, .n = n, .code = PAWL_EBUSY};
        pawl_step  step = PAWL_STEP_INIT;
        char       inner[300];
        scenario_url_like(url, inner, sizeof inner);
        world_hold(inner);
        fault_bind("counting", inner);
        open_source("fault:counting", 0);
        world_post(&t.it, NULL, PAWL_MESSAGE(tell, .number = is_here ? HERE : 1));
        fault_plan_set(&plan);
        for (int i = 0; i < 8; i++)
            (void)pawl_endpoint_step(t.it.endpoint, &step, world_error());
        was_reached = fault_was_reached();
        fault_plan_set(NULL);
        for (int i = 0; i < 3; i++) /* a retry, and the lease of a leader that was lost */
            world_go_both(&t.it, PAWL_MINUTES(1));
        assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DISPATCHED).count, 1);
        assert_int_equal(counted(PAWL_ATTEMPT_SUCCESS), is_here ? 1 : strlen(t.heard) / 2);
        if (is_here) /* as long as the commit took */
            assert_true(
                atomic_load(&t.it.endpoint->metrics.slots[PAWL__SLOT_DISPATCH_DURATION_LAST]) > 0);
        world_close(&t.it);
        scenario_forget(inner);
    }
}

ON_STORES(o23_a_delivery_is_counted_when_it_happens, const char *url)
{
    count_deliveries(url, FAULT_BEFORE, false);
    count_deliveries(url, FAULT_BEFORE, true);
    count_deliveries(url, FAULT_AFTER, true);
    count_deliveries(url, FAULT_UNKNOWN, true);
}

/* A row that another settled before the commit was not delivered by it. */
ON_ALL_STORES(o23_a_delivery_that_the_commit_refused_is_none, const char *url)
{
    open_source(url, 0);
    world_post(&t.it, NULL, PAWL_MESSAGE(tell, .number = 1));
    world_post(&t.it, NULL, PAWL_MESSAGE(tell, .number = HERE));
    t.settles = true;
    world_drain(&t.it);
    assert_int_equal(world_outbox(&t.it, PAWL_OUTBOX_DEAD).count, 2);
    assert_int_equal(counted(PAWL_ATTEMPT_SUCCESS), 1);
    world_close(&t.it);
}
