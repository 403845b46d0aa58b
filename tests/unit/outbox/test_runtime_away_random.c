/* test_runtime_away_random.c - routes that come and go, two processes with one outbox, one that stands still past its lease
 * in the middle of a call, and a clock that is set back, at random: each source arrives in its order, and nothing is lost. O8,
 * O14, O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/outbox/dispatcher.h"
#include "unit/outbox/test_outbox_sample.h"

static const pawl_endpoint_spec source      = {.name     = "source",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};
static const pawl_application   application = APPLICATION("away", &source, &notes);

#define SOURCES 5
#define STEPS 150

/* Numbers of a source: s * 1000 + 0, 1, 2 ... */
static struct {
    world          it;
    pawl_endpoint *other; /* another process with the same outbox */
    pawl_random    random;
    int            made[SOURCES], arrived[SOURCES];
    bool           is_away[3];
    int            stops; /* of a leader in a call, or two that lead: a message may come twice */
    bool           is_stopped, is_other; /* the other one steps */
} r;

static unsigned draw(unsigned below)
{
    return (unsigned)pawl_random_below(&r.random, below);
}

static const char names[] = "012";

static void step_other(void)
{
    bool was   = r.is_other;
    r.is_other = true;
    must(pawl_endpoint_drain(r.other, NULL, world_error()));
    r.is_other = was;
}

/* The process that delivers stands still past its lease, and the other one delivers the same rows. */
static void stand_still(void)
{
    if (r.is_stopped)
        return;
    r.is_stopped = true;
    r.stops++;
    pawl_clock_set(r.it.machine, pawl_clock_now(r.it.machine) + PAWL_SECONDS(30));
    if (!r.is_other)
        step_other();
    else
        world_drain(&r.it);
    r.is_stopped = false;
}

/* Once and in order; behind a stop it may come again, as a message in doubt does, and overtakes none. */
static void take(int which, int number)
{
    if (r.stops == 0)
        assert_int_equal(number, r.arrived[which]);
    assert_true(number <= r.arrived[which]);
    r.arrived[which] += number == r.arrived[which];
}

static pawl_code hear_any(pawl_transport *transport, pawl_delivery *items, size_t count,
                          pawl_arena *arena, pawl_error *error)
{
    const size_t which        = (size_t)((const char *)transport->context - names);
    bool         is_ordered   = which == 2;
    bool         has[SOURCES] = {false};
    if (draw(30) == 0)
        stand_still();
    if (r.is_away[which] && draw(2) == 0)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "away");
    for (size_t i = 0; i < count; i++) {
        int number = 0;
        assert_int_equal(sscanf(items[i].message.body.data, "{\"number\":%d", &number), 1);
        int source_number = number / 1000;
        if (r.is_away[which])
            items[i].outcome = PAWL_ATTEMPT_UNREACHABLE;
        else if (draw(8) == 0 || (is_ordered && has[source_number]))
            items[i].outcome = PAWL_ATTEMPT_TRANSIENT;
        else
            take(source_number, number % 1000);
        has[source_number] |= items[i].outcome != PAWL_ATTEMPT_SUCCESS;
    }
    return PAWL_OK;
}

static const pawl_transport_ops any         = PAWL_OUTBOUND(hear_any);
static const pawl_transport_ops any_ordered = {
    .ops_size = sizeof(pawl_transport_ops), .deliver = hear_any, .promises = PAWL_TRANSPORT_PREFIX};
static const pawl_route any_routes[] = {
    {.name = "0", .outbound = &any, .context = (void *)(uintptr_t)&names[0]},
    {.name = "1", .outbound = &any, .context = (void *)(uintptr_t)&names[1]},
    {.name = "2", .outbound = &any_ordered, .context = (void *)(uintptr_t)&names[2]},
    {.name = NULL}};

static void add_some(void)
{
    pawl_outbox_add adds[12];
    pawl_changes    changes = {ONE_UNIT, .now = pawl_clock_now(r.it.machine),
                               .outbox_add = {.items = adds, .count = 1 + draw(12)}};
    for (size_t i = 0; i < changes.outbox_add.count; i++) {
        unsigned  which  = draw(SOURCES);
        int       number = r.made[which]++;
        pawl_text flow   = pawl_arena_printf(r.it.arena, "Flow/%u", which);
        adds[i]          = (pawl_outbox_add){
                     .dispatch_id = pawl_dispatch_id_make(PAWL_TEXT("source"), flow, number + 1, 0),
                     .source      = flow,
                     .version     = number + 1,
                     .endpoint    = PAWL_TEXT("source"),
                     .destination = pawl_arena_printf(r.it.arena, "%u", draw(3)),
                     .message     = {.id   = pawl_arena_printf(r.it.arena, "%u-%d", which, number),
                                     .type = PAWL_TEXT("note"),
                                     .body = pawl_arena_printf(r.it.arena, "{\"number\":%u}",
                                                               which * 1000 + (unsigned)number)},
                     .at          = changes.now};
    }
    must(pawl_store_commit(r.it.store, &changes, NULL, world_error()));
}

/* A lease that was over is one again by the clock that was set back; a real one counts by a clock that never is. */
static void set_back(int64_t duration)
{
    world_set_back(&r.it, duration);
    r.stops += pawl__leader_is(r.it.endpoint) && pawl__leader_is(r.other);
}

static void act(void)
{
    switch (draw(7)) {
    case 0: add_some(); break;
    case 1: r.is_away[draw(3)] ^= true; break;
    case 2: world_go_machine(&r.it, (int64_t)draw(PAWL_SECONDS(40))); break;
    case 3: step_other(); break;
    case 4: set_back(draw(6) == 0 ? PAWL_SECONDS(1 + draw(20)) : 0); break;
    default: world_step(&r.it);
    }
}

ON_ALL_STORES(o8_routes_and_leaders_come_and_go_at_random, const char *url)
{
    const char *given = getenv("PAWL_TEST_SEED");
    uint64_t    first = given != NULL ? strtoull(given, NULL, 10) : 1;
    uint64_t    last  = first + (strncmp(url, "memory:", 7) == 0 ? 299 : given == NULL);
    for (uint64_t seed = first; seed <= last; seed++) {
        char own[1000];
        memset(&r, 0, sizeof r);
        pawl_random_seed(&r.random, seed);
        assert_true(
            scenario_url(test_text("%.*s", (int)(strchr(url, ':') - url), url), own, sizeof own));
        print_message("%sPAWL_TEST_SEED=%llu build/tests/unit/test_runtime_away_random%s",
                      seed == first ? "" : "\r", (unsigned long long)seed,
                      seed == last ? "\n" : "");
        world_open(&r.it, own, &application, "source",
                   &(pawl_endpoint_options){.routes           = any_routes,
                                            .outbox_batch     = (int32_t)(1 + draw(9)),
                                            .outbox_attempts  = 1000,
                                            .outbox_delay_max = PAWL_SECONDS(10)});
        must(pawl_endpoint_create(&application, "source", &r.it.options, &r.other, world_error()));
        for (int i = 0; i < STEPS; i++)
            act();
        memset(r.is_away, 0, sizeof r.is_away);
        for (int i = 0; i < 100; i++) {
            world_go_machine(&r.it, PAWL_SECONDS(40));
            step_other();
        }
        for (int i = 0; i < SOURCES; i++)
            assert_int_equal(r.arrived[i], r.made[i]);
        assert_int_equal(world_outbox(&r.it, PAWL_OUTBOX_PENDING).count, 0);
        assert_int_equal(world_outbox(&r.it, PAWL_OUTBOX_BLOCKED).count, 0);
        assert_int_equal(world_outbox(&r.it, PAWL_OUTBOX_DEAD).count, 0);
        pawl_endpoint_destroy(r.other);
        world_close(&r.it);
        scenario_forget(own);
    }
}
