/* test_runtime_pause.c - two runners of one outbox, interleaved at every call: the first
 * one stands still before or after its k-th call of the store or its k-th delivery, or
 * dies there, while the second one takes over and delivers all, or one round. Then the
 * first one goes on. For every k, whatever the receiver answers: each source arrives in
 * its order, a row is settled once, its attempts are numbered and within their budget.
 * O8 to O16, O20.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/outbox/test_outbox_sample.h"

#include "store/core/core.h"

#include "runtime/runtime.h"

#define SOURCES 3
#define ROWS 7 /* of each source */
#define ATTEMPTS_MAX 3
#define LEASE_AND_MORE PAWL_SECONDS(12)

static const pawl_endpoint_spec source      = {.name     = "source",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};
static const pawl_application   application = APPLICATION("pause", &source, &notes);

/* ---- What the receiver answers -------------------------------------------------------- */

/* By source and number: how often it is away for that row, or NEVER is for rejected. */
#define REJECTS 1000
/* So often the receiver cannot be reached with it, beyond any number of attempts. */
#define UNREACHED (-5)
static const int answers[SOURCES][ROWS] = {
    {0, 1, 0, UNREACHED, 2, 0, 0},         /* two that fail at first */
    {REJECTS, 0, 0, 100, 0, UNREACHED, 1}, /* the first is rejected, the fourth fails for ever */
    {0, UNREACHED, REJECTS, 0, 0, REJECTS, 0}, /* two are rejected */
};

static bool is_dead_at_last(int which, int number)
{
    return answers[which][number] >= ATTEMPTS_MAX;
}

static int attempts_most(int which, int number)
{
    return answers[which][number] > 0 ? answers[which][number] + 1 : 1;
}

/* ---- The world ------------------------------------------------------------------------- */

typedef enum stop { STANDS_STILL, STANDS_STILL_FOR_A_ROUND, DIES } stop;

static struct {
    world          it;    /* its endpoint is the second runner */
    pawl_endpoint *first; /* its store counts the calls */
    bool           counts;
    bool           is_dead; /* the first one */
    stop           what;
    int            left; /* calls until it happens */
    int            tries[SOURCES][ROWS];
    bool           has_arrived[SOURCES][ROWS];
    int            arrived; /* with those that came again */
} t;

static pawl_dispatch_id id_of(int which, int number)
{
    return pawl_dispatch_id_make(PAWL_TEXT("source"), pawl_text_of(test_text("Flow/%d", which)),
                                 number + 1, 0);
}

static pawl_outbox_row row_of(int which, int number)
{
    pawl_outbox_rows  rows;
    pawl_outbox_query query = {.dispatch_id = id_of(which, number)};
    must(pawl_store_outbox_find(t.it.store, &query, t.it.arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

static void step(pawl_endpoint *endpoint)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_step  done  = PAWL_STEP_INIT;
    pawl_code  code  = pawl_endpoint_step(endpoint, &done, &error);
    if (code != PAWL_OK && !t.is_dead)
        world_ok(code, &error);
}

static void pass(int64_t duration)
{
    pawl_clock_set(t.it.business, pawl_clock_now(t.it.business) + duration);
    pawl_clock_set(t.it.machine, pawl_clock_now(t.it.machine) + duration);
}

static bool is_all_settled(void)
{
    return world_outbox(&t.it, PAWL_OUTBOX_PENDING).count == 0 &&
           world_outbox(&t.it, PAWL_OUTBOX_BLOCKED).count == 0;
}

/* Retries wait for some seconds each. */
static void finish(bool with_first)
{
    for (int i = 0; i < 300 && !is_all_settled(); i++) {
        if (with_first && !t.is_dead)
            step(t.first);
        step(t.it.endpoint);
        pass(PAWL_SECONDS(1));
    }
    assert_true(is_all_settled());
}

/* ---- The calls --------------------------------------------------------------------------- */

static void let_the_second_one_in(void)
{
    t.counts = false;
    pass(LEASE_AND_MORE);
    if (t.what == STANDS_STILL)
        finish(false);
    else if (t.what == STANDS_STILL_FOR_A_ROUND)
        step(t.it.endpoint);
    t.is_dead = t.what == DIES;
}

static void count(void)
{
    if (t.counts && --t.left == 0)
        let_the_second_one_in();
}

static const pawl_store_ops *inner;
static pawl_store_ops        outer;
static char                  inner_url[1100];

static pawl_code lost(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ELOST, "this runner is dead");
}

static pawl_code counted_open(pawl_store *store, const char *url, const pawl_store_options *options,
                              pawl_error *error)
{
    return inner->open(store, inner_url, options, error);
}

/* Each call can be stood still in twice, and lost before or behind it. */
#define COUNTED(call)       \
    pawl_code code;         \
    count();                \
    if (t.is_dead)          \
        return lost(error); \
    code = call;            \
    count();                \
    return t.is_dead ? lost(error) : code

static pawl_code counted_commit(pawl_store *store, const pawl_changes *changes,
                                pawl_refusals *refused, pawl_error *error)
{
    COUNTED(inner->commit(store, changes, refused, error));
}

static pawl_code counted_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                              bool *is_held, pawl_error *error)
{
    COUNTED(inner->lead(store, name, now, lease, is_held, error));
}

static pawl_code counted_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                               size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                               pawl_error *error)
{
    COUNTED(inner->outbox_claim(store, endpoint, now, count_max, arena, rows, error));
}

static pawl_code counted_find(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                              pawl_found *found, pawl_error *error)
{
    if (asked->kind != PAWL_FIND_OUTBOX)
        return inner->find(store, asked, arena, found, error);
    COUNTED(inner->find(store, asked, arena, found, error));
}

static pawl_code counted_get(pawl_store *store, pawl_text name, int64_t *position,
                             pawl_error *error)
{
    COUNTED(inner->checkpoint_get(store, name, position, error));
}

static const char *counted_url(const char *url)
{
    static bool is_registered;
    inner                = t.it.store->ops;
    outer                = *inner;
    outer.scheme         = "counted";
    outer.open           = counted_open;
    outer.commit         = counted_commit;
    outer.lead           = counted_lead;
    outer.outbox_claim   = counted_claim;
    outer.find           = counted_find;
    outer.checkpoint_get = counted_get;
    snprintf(inner_url, sizeof inner_url, "%s", url);
    if (!is_registered)
        must(pawl_store_register(&outer, world_error()));
    is_registered = true;
    return "counted:store";
}

/* ---- The receiver ------------------------------------------------------------------------ */

/* The messages before it have arrived, or are given up. */
static void check_order(int which, int number)
{
    for (int i = 0; i < number; i++)
        if (!t.has_arrived[which][i])
            assert_int_equal(row_of(which, i).state, PAWL_OUTBOX_DEAD);
}

static pawl_attempt_outcome answer(int which, int number)
{
    check_order(which, number);
    if (t.tries[which][number] < -answers[which][number]) {
        t.tries[which][number]++;
        return PAWL_ATTEMPT_UNREACHABLE;
    }
    t.arrived++;
    if (answers[which][number] == REJECTS) {
        t.has_arrived[which][number] = true;
        return PAWL_ATTEMPT_REJECTED;
    }
    if (t.tries[which][number]++ < answers[which][number])
        return PAWL_ATTEMPT_TRANSIENT;
    t.has_arrived[which][number] = true;
    return PAWL_ATTEMPT_SUCCESS;
}

/* Which runner's, and whether order is kept: then nothing of a source follows a failure. */
typedef struct outbound {
    bool is_first, keeps_order;
} outbound;

static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t size,
                         pawl_arena *arena, pawl_error *error)
{
    const outbound *to                  = transport->context;
    bool            has_failed[SOURCES] = {false};
    for (size_t i = 0; i < size; i++) {
        int which, number;
        if (to->is_first)
            count();
        if (to->is_first && t.is_dead)
            return lost(error);
        assert_int_equal(sscanf(items[i].message.body.data, "{\"number\":%d", &number), 1);
        which            = number / 100;
        items[i].outcome = has_failed[which] && to->keeps_order ? PAWL_ATTEMPT_TRANSIENT
                                                                : answer(which, number % 100);
        has_failed[which] |= items[i].outcome == PAWL_ATTEMPT_TRANSIENT ||
                             items[i].outcome == PAWL_ATTEMPT_UNREACHABLE;
    }
    return PAWL_OK;
}

static const pawl_transport_ops plain   = PAWL_OUTBOUND(receive);
static const pawl_transport_ops ordered = {
    .ops_size = sizeof(pawl_transport_ops), .deliver = receive, .promises = PAWL_TRANSPORT_PREFIX};
static outbound outbounds[] = {{true, false}, {true, true}, {false, false}, {false, true}};

static const pawl_route first_routes[] = {
    {.name = "plain", .outbound = &plain, .context = &outbounds[0]},
    {.name = "ordered", .outbound = &ordered, .context = &outbounds[1]},
    {.name = "here", .queue = "notes", .is_outbox = true},
    {.name = NULL}};
static const pawl_route second_routes[] = {
    {.name = "plain", .outbound = &plain, .context = &outbounds[2]},
    {.name = "ordered", .outbound = &ordered, .context = &outbounds[3]},
    {.name = "here", .queue = "notes", .is_outbox = true},
    {.name = NULL}};

/* ---- A run ------------------------------------------------------------------------------- */

/* The last source goes to a queue of this store, where nothing is rejected. */
static void add_rows(void)
{
    static const char *const to[] = {"plain", "ordered", "plain", "here"};
    pawl_outbox_add          adds[(SOURCES + 1) * ROWS];
    size_t                   added   = 0;
    pawl_changes             changes = {ONE_UNIT, .now = pawl_clock_now(t.it.machine)};
    for (int number = 0; number < ROWS; number++)
        for (int which = 0; which <= SOURCES; which++)
            adds[added++] = (pawl_outbox_add){
                .dispatch_id = id_of(which, number),
                .source      = pawl_arena_printf(t.it.arena, "Flow/%d", which),
                .version     = number + 1,
                .endpoint    = PAWL_TEXT("source"),
                .destination = pawl_text_of(which == 2 && number % 2 == 0 ? "ordered" : to[which]),
                .message     = {.id   = pawl_arena_printf(t.it.arena, "%d-%d", which, number),
                                .type = PAWL_TEXT("note"),
                                .body = pawl_arena_printf(t.it.arena, "{\"number\":%d}",
                                                          which * 100 + number)},
                .at          = changes.now};
    changes.outbox_add.items = adds;
    changes.outbox_add.count = added;
    must(pawl_store_commit(t.it.store, &changes, NULL, world_error()));
}

static void check_row(int which, int number)
{
    pawl_outbox_row   row      = row_of(which, number);
    pawl_attempt_rows history  = world_attempts(&t.it, row.id);
    bool              is_dead  = which < SOURCES && is_dead_at_last(which, number);
    bool              rejected = is_dead && answers[which][number] == REJECTS;
    assert_int_equal(row.state, is_dead ? PAWL_OUTBOX_DEAD : PAWL_OUTBOX_DISPATCHED);
    assert_int_equal(row.attempts, history.count);
    if (is_dead && !rejected)
        assert_int_equal(row.attempts, ATTEMPTS_MAX);
    else
        assert_true(row.attempts <=
                    (rejected || which == SOURCES ? 1 : attempts_most(which, number)));
    for (size_t i = 0; i < history.count; i++) {
        pawl_attempt_outcome last = rejected  ? PAWL_ATTEMPT_REJECTED
                                    : is_dead ? PAWL_ATTEMPT_POISON
                                              : PAWL_ATTEMPT_SUCCESS;
        assert_int_equal(history.items[i].attempt, i + 1);
        assert_int_equal(history.items[i].outcome,
                         i + 1 == history.count ? last : PAWL_ATTEMPT_TRANSIENT);
    }
}

static void check_all(void)
{
    pawl_queue_rows queued = world_queue(&t.it, "notes");
    for (int which = 0; which <= SOURCES; which++)
        for (int number = 0; number < ROWS; number++)
            check_row(which, number);
    assert_int_equal(queued.count, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_true(pawl_text_equal(queued.items[i].message.id,
                                    pawl_text_of(test_text("%d-%d", SOURCES, i))));
}

/* False when there is no k-th call any more. */
static bool run(const char *url, stop what, int k)
{
    pawl_endpoint_options options = {.routes           = second_routes,
                                     .outbox_batch     = 9,
                                     .outbox_attempts  = ATTEMPTS_MAX,
                                     .outbox_delay     = PAWL_SECONDS(2),
                                     .outbox_delay_max = PAWL_SECONDS(4)};
    memset(&t, 0, sizeof t);
    world_open(&t.it, url, &application, "source", &options);
    options        = t.it.options;
    options.store  = counted_url(url);
    options.routes = first_routes;
    must(pawl_endpoint_create(&application, "source", &options, &t.first, world_error()));
    add_rows();
    t.what   = what;
    t.left   = k;
    t.counts = true;
    for (int i = 0; i < 300 && t.counts && !is_all_settled(); i++) {
        step(t.first);
        pass(PAWL_SECONDS(1));
    }
    bool was_met = !t.counts;
    t.counts     = false;
    finish(true);
    check_all();
    pawl_endpoint_destroy(t.first);
    world_close(&t.it);
    return was_met;
}

/* Every place; on a server, whose calls take longer, one of seven. */
static void run_all(const char *url, stop what)
{
    char        own[1000];
    int         k = 0, step = server_is(url) ? 7 : 1, runs = 0;
    bool        was_reached;
    const char *scheme = test_text("%.*s", (int)(strchr(url, ':') - url), url);
    do {
        assert_true(scenario_url(scheme, own, sizeof own));
        was_reached = run(own, what, k += step);
        scenario_forget(own);
        runs += was_reached;
    } while (was_reached);
    print_message("%d places to stop at\n", runs);
    assert_true(runs > 60 / step);
}

TESTS(o20_one_that_stands_still_disturbs_nobody, const char *url,
      STORE_ROW(o20_one_that_stands_still_disturbs_nobody, "memory")
          SERVERS(SERVER_ROW, o20_one_that_stands_still_disturbs_nobody))
{
    run_all(url, STANDS_STILL);
}

ON_ALL_STORES(o20_one_that_comes_back_in_between_disturbs_nobody, const char *url)
{
    run_all(url, STANDS_STILL_FOR_A_ROUND);
}

TESTS(o16_another_one_goes_on_where_one_died, const char *url,
      STORE_ROW(o16_another_one_goes_on_where_one_died, "memory")
          SERVERS(SERVER_ROW, o16_another_one_goes_on_where_one_died))
{
    run_all(url, DIES);
}

/* ---- An outbound transport that is slow ---------------------------------------------------------------- */

static pawl_store *rival; /* takes the lease as soon as it is over */
static int         taken; /* how often */

static pawl_code receive_slowly(pawl_transport *transport, pawl_delivery *items, size_t size,
                                pawl_arena *arena, pawl_error *error)
{
    bool is_held = false;
    pass(PAWL_SECONDS(40));
    world_ok(pawl_store_lead(rival, PAWL_TEXT("outbox/source"), pawl_clock_now(t.it.machine),
                             PAWL_SECONDS(11), &is_held, NULL),
             error);
    taken += is_held;
    return PAWL_OK;
}

/* Each call takes longer than a lease lasts: it is found out once. */
ON_ALL_STORES(o20_a_slow_outbound_transport_does_not_cost_the_lead, const char *url)
{
    static const pawl_transport_ops slow     = PAWL_OUTBOUND(receive_slowly);
    static const pawl_route         routes[] = {{.name = "plain", .outbound = &slow},
                                                {.name = "ordered", .outbound = &slow},
                                                {.name = "here", .queue = "notes", .is_outbox = true},
                                                {.name = NULL}};
    pawl_endpoint_options           options  = {.routes = routes};
    memset(&t, 0, sizeof t);
    world_open(&t.it, url, &application, "source", &options);
    must(pawl_store_open(url, NULL, &rival, world_error()));
    must(pawl_store_worker_open(rival, PAWL_TEXT("source"), PAWL_TEXT("[]"), WORLD_START,
                                world_error()));
    rival->is_attached = true;
    taken              = 0;
    add_rows();
    for (int i = 0; i < 20 && !is_all_settled(); i++) {
        step(t.it.endpoint);
        pass(PAWL_SECONDS(12)); /* when the rival had the lease, it is over */
    }
    assert_int_equal(taken, 1);
    assert_true(is_all_settled());
    pawl_store_worker_close(rival, WORLD_START, NULL);
    rival->is_attached = false;
    pawl_store_close(rival);
    world_close(&t.it);
}

/* ---- A clock that is set back --------------------------------------------------------------- */

static void step_service(pawl__service *service)
{
    pawl_step done = PAWL_STEP_INIT;
    must(pawl__service_step(service, &done, world_error()));
}

/* A runner that waits for the lease asks again, though by its plan it is too early to. */
ON_ALL_STORES(o20_a_clock_set_back_keeps_nobody_from_taking_over, const char *url)
{
    pawl_endpoint_options options = {.routes = second_routes};
    pawl_clock           *earlier = pawl_clock_create(WORLD_START - PAWL_MINUTES(10));
    pawl_endpoint        *leader;
    pawl__service        *service;
    memset(&t, 0, sizeof t);
    world_open(&t.it, url, &application, "source", &options);
    must(pawl_endpoint_create(&application, "source", &t.it.options, &leader, world_error()));
    step(leader);
    must(pawl__service_create(t.it.endpoint, NULL, &service, world_error()));
    step_service(service);
    assert_false(service->is_leader);
    pawl_endpoint_destroy(leader);
    step_service(service);
    assert_false(service->is_leader); /* the runner does not ask at once */
    t.it.endpoint->settings.machine = earlier;
    step_service(service);
    assert_true(service->is_leader);
    pawl__service_destroy(service);
    world_close(&t.it);
    pawl_clock_destroy(earlier);
}
