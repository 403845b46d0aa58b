/* test_runtime_retention.c - clean-up that fails again and again, and what an endpoint is told about its outbox that
 * it does not take; bodies of dead letters that are old; clocks that are wrong. E34, O28, O29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_calls.h"
#include "pawl/store_dead.h"
#include "pawl/store_driver.h"
#include "support/fault_store.h"
#include "support/world.h"

#include "runtime/retention/retention.h"

PAWL_RECORD(note, A_NUMBER);
PAWL_RECORD(call, A_NUMBER);

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_application application = ONE_ENDPOINT(
    "retention", .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)}));

static size_t heard;

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    heard += count;
    return PAWL_OK;
}
static const pawl_transport_ops ear      = PAWL_OUTBOUND(hear);
static const pawl_route         routes[] = {{.name = "far", .outbound = &ear}, {.name = NULL}};

/* ---- Clean-up that fails -------------------------------------------------------------------- */

static int criticals;
static int sweeps_failing;
static pawl_code (*inner_sweep)(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                bool *more, pawl_error *error);

static void note_critical(void *context, const char *what, const pawl_error *error)
{
    assert_ptr_equal(context, &criticals);
    assert_string_equal(what, "retention");
    assert_string_equal(error->text, "no sweeping today");
    criticals++;
}

static pawl_code fail_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    if (sweeps_failing-- > 0)
        return pawl_error_set(error, PAWL_EDENIED, "no sweeping today");
    return inner_sweep(store, sweep, count, more, error);
}

static const pawl_store_ops *swept;

static pawl_code open_memory(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    return swept->open(store, "memory:swept", options, error);
}

/* A store of that scheme like the one in memory, but for its sweep. */
static pawl_store_ops like_memory(const char *scheme,
                                  pawl_code (*sweep)(pawl_store *, const pawl_sweep *, int64_t *,
                                                     bool *, pawl_error *))
{
    pawl_store *store = NULL;
    must(pawl_store_open("memory:swept", NULL, &store, world_error()));
    pawl_store_ops ops = *(swept = store->ops);
    pawl_store_close(store);
    ops.scheme  = scheme;
    ops.open    = open_memory;
    inner_sweep = ops.sweep;
    ops.sweep   = sweep;
    return ops;
}

TEST(o29_ten_failures_in_a_row_are_critical)
{
    static pawl_store_ops unswept;
    unswept        = like_memory("unswept", fail_sweep);
    criticals      = 0;
    sweeps_failing = 9;
    must(pawl_store_register(&unswept, world_error()));
    heard     = 0;
    world *it = world_begin("unswept:x", &application, "source",
                            &(pawl_endpoint_options){.routes           = routes,
                                                     .critical         = note_critical,
                                                     .critical_context = &criticals});
    for (int i = 0; i < 10; i++)
        world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(criticals, 0); /* the tenth was good, and counts anew */
    sweeps_failing = 25;
    for (int i = 0; i < 9; i++)
        world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(criticals, 0);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(criticals, 1);
    for (int i = 0; i < 9; i++)
        world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(criticals, 1);
    world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(criticals, 2);
    /* All the while it delivered. */
    world_post(it, NULL, PAWL_MESSAGE(call, .number = 1));
    world_drain(it);
    assert_int_equal(heard, 1);
}

/* ---- Turns ---------------------------------------------------------------------------------- */

static int sweeps;

static pawl_code count_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                             pawl_error *error)
{
    sweeps++;
    return inner_sweep(store, sweep, count, more, error);
}

static pawl_code open_waiting_long(pawl_store *store, const char *url,
                                   const pawl_store_options *options, pawl_error *error)
{
    store->waits_long = true;
    return swept->open(store, "memory:turns", options, error);
}

static world *begin_turns(int64_t outbox_retention)
{
    return world_begin(
        "turns:x", &application, "source",
        &(pawl_endpoint_options){.routes = routes, .outbox_retention = outbox_retention});
}

static void go_an_hour(world *first, world *second)
{
    for (int i = 0; i < 60; i++) {
        world_go_machine(first, PAWL_MINUTES(1));
        if (second != NULL)
            world_go_machine(second, PAWL_MINUTES(1));
    }
}

/* O28: on a store whose handles lend their sessions, services with the same settings sweep as often as one. */
TEST(o28_services_of_a_process_take_turns)
{
    pawl_store *store = NULL;
    must(pawl_store_open("memory:turns", NULL, &store, world_error()));
    swept                     = store->ops;
    static pawl_store_ops own = {0};
    own                       = *swept;
    pawl_store_close(store);
    own.scheme  = "turns";
    own.open    = open_waiting_long;
    inner_sweep = own.sweep;
    own.sweep   = count_sweep;
    must(pawl_store_register(&own, world_error()));
    sweeps        = 0;
    world *first  = begin_turns(PAWL_DAYS(7));
    world *second = begin_turns(PAWL_DAYS(7));
    go_an_hour(first, second);
    assert_in_range(sweeps, 58, 62);
    world *other = begin_turns(PAWL_DAYS(1)); /* deletes earlier: no turn of these two does it */
    sweeps       = 0;
    go_an_hour(other, NULL);
    assert_in_range(sweeps, 58, 62);
    sweeps = 0;
    go_an_hour(second, NULL); /* the first one does nothing any more */
    assert_in_range(sweeps, 45, 55);
}

/* ---- Old bodies ------------------------------------------------------------------------------ */

static void discard_letter(world *it)
{
    pawl_time now = pawl_clock_now(it->machine);
    MUST_COMMIT(it->store, dead_set, now, .endpoint = PAWL_TEXT("source"),
                .queue   = PAWL_TEXT("source"),
                .message = {.id   = PAWL_TEXT("m-1"),
                            .type = PAWL_TEXT("note"),
                            .body = PAWL_TEXT("{\"number\":7}")},
                .code = PAWL_TEXT("EPERSIST"), .error = PAWL_TEXT("x"), .at = now);
    must(pawl_store_dead_discard(it->store, PAWL_TEXT("source"), PAWL_TEXT("m-1"), PAWL_TEXT("ann"),
                                 PAWL_TEXT("paid"), now, world_error()));
}

static size_t body_size(world *it, const char *stream)
{
    pawl_event_rows rows = world_events(it, stream);
    assert_int_equal(rows.count, 1);
    return rows.items[0].event.body.size;
}

static void check_bodies(int64_t retention, int64_t kept, bool is_kept_for_ever)
{
    static const char stream[] = PAWL_DEAD_STREAMS "/source/m-1";
    world            *it =
        world_begin("memory:bodies", &application, "source",
                    &(pawl_endpoint_options){.routes = routes, .body_retention = retention});
    discard_letter(it);
    world_go_machine(it, kept - PAWL_MINUTES(1));
    assert_int_equal(body_size(it, stream), 12);
    world_go_machine(it, PAWL_MINUTES(2));
    assert_int_equal(body_size(it, stream), is_kept_for_ever ? 12 : 0);
    world_close(it);
}

TEST(e34_bodies_of_dead_letters_go_after_their_retention)
{
    check_bodies(0, PAWL_DAYS(30), false);
    check_bodies(PAWL_HOURS(2), PAWL_HOURS(2), false);
    check_bodies(PAWL_NONE, PAWL_DAYS(9000), true);
}

/* More events than a sweep looks at, and the last one is old: the second sweep comes to it. */
TEST(e34_a_sweep_goes_on_where_the_last_one_ended)
{
    enum { COUNT = 2001 };
    static pawl_event_append events[COUNT];
    static char              names[COUNT][40];
    world                   *it  = world_begin("memory:pages", &application, "source",
                                               &(pawl_endpoint_options){.routes = routes});
    pawl_time                now = pawl_clock_now(it->machine);
    for (int i = 0; i < COUNT; i++) {
        int size  = snprintf(names[i], sizeof names[i], PAWL_DEAD_STREAMS "/source/%04d", i);
        events[i] = (pawl_event_append){.stream   = {.data = names[i], .size = (size_t)size},
                                        .version  = 1,
                                        .is_first = true,
                                        .event    = {.type         = PAWL_TEXT(PAWL_DEAD_EDITED),
                                                     .type_version = PAWL_DEAD_WITH_BODY,
                                                     .body         = PAWL_TEXT("{}"),
                                                     .at = i < COUNT - 1 ? now : now - PAWL_DAYS(31)}};
    }
    pawl_changes set = {.now = now, ONE_UNIT, .event_append = {events, COUNT}};
    must(pawl_store_commit(it->store, &set, NULL, world_error()));
    for (int i = 0; i < 3; i++)
        world_go_machine(it, PAWL_MINUTES(1));
    assert_int_equal(body_size(it, names[COUNT - 1]), 0);
    assert_int_equal(body_size(it, names[COUNT - 2]), 2);
}

/* ---- Deduplication records ------------------------------------------------------------------- */

static int charged;

static pawl_code on_charge(pawl_context *ctx, const call *message)
{
    charged++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_charge, call);

static const pawl_endpoint_spec billing = {.name     = "billing",
                                           .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_charge)})};
static const pawl_endpoint_spec metrics = {.name     = "metrics",
                                           .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_charge)})};
static const pawl_application   shared  = APPLICATION("shared", &billing, &metrics);
static const pawl_endpoint_spec without = {.name = "without"};
static const pawl_application   idle    = APPLICATION("idle", &without);

/* The endpoint billing gets the message `id`, and ends. How many of it were handled? */
static int charge_once(const char *url, const char *id, int64_t inbox_retention)
{
    world it;
    world_open(&it, url, &shared, "billing",
               &(pawl_endpoint_options){.inbox_retention = inbox_retention});
    charged = 0;
    world_post(&it, id, PAWL_MESSAGE(call, .number = 1));
    world_drain(&it);
    world_close(&it);
    return charged;
}

static void go_hours(world *it, int hours)
{
    for (int i = 0; i < hours; i++)
        world_go_machine(it, PAWL_HOURS(1));
}

ON_ALL_STORES(e34_records_stay_while_another_endpoint_keeps_its_own_for_less, const char *url)
{
    world_hold(url);
    assert_int_equal(charge_once(url, "m-1", 0), 1);
    world it;
    world_open(&it, url, &shared, "metrics",
               &(pawl_endpoint_options){.inbox_retention = PAWL_HOURS(2)});
    go_hours(&it, 8);
    assert_int_equal(charge_once(url, "m-1", 0), 0);
    go_hours(&it, 24 * 7 - 8); /* billing's week */
    assert_int_equal(charge_once(url, "m-1", 0), 0);
    go_hours(&it, 1);
    assert_int_equal(charge_once(url, "m-1", 0), 1);
    world_close(&it);
}

/* An endpoint's last word counts; for its own sweep its option does, without a word. */
ON_ALL_STORES(e34_records_go_when_no_endpoint_keeps_them_longer, const char *url)
{
    world it;
    world_hold(url);
    assert_int_equal(charge_once(url, "m-1", PAWL_HOURS(1)), 1);
    world_open(&it, url, &shared, "metrics",
               &(pawl_endpoint_options){.inbox_retention = PAWL_HOURS(2)});
    MUST_COMMIT(it.store, subscription_set, world_now(&it), .is_remove = true,
                .type = PAWL_TEXT("inbox_retention:7200000000"), .queue = PAWL_TEXT("metrics"));
    world_go_machine(&it, PAWL_MINUTES(90));
    assert_int_equal(charge_once(url, "m-1", PAWL_HOURS(1)), 0);
    world_go_machine(&it, PAWL_MINUTES(60));
    assert_int_equal(charge_once(url, "m-1", PAWL_HOURS(3)), 1);
    world_go_machine(&it, PAWL_MINUTES(15));
    assert_int_equal(charge_once(url, "m-1", PAWL_HOURS(1)), 0);
    world_go_machine(&it, PAWL_MINUTES(5));
    assert_int_equal(charge_once(url, "m-1", PAWL_HOURS(1)), 1);
    world_close(&it);
}

static size_t announcements(const char *url, const pawl_application *of, const char *endpoint)
{
    pawl_subscriptions list;
    size_t             count = 0;
    world             *it    = world_begin(url, of, endpoint, NULL);
    must(pawl_store_subscriptions(it->store, it->arena, &list, world_error()));
    for (size_t i = 0; i < list.count; i++)
        count += pawl_text_equal(list.items[i].type, PAWL_TEXT("inbox_retention:604800000000")) &&
                 pawl_text_equal(list.items[i].queue, pawl_text_of(endpoint));
    return count;
}

/* Each endpoint for itself, though another one says the same. Without messages: a queue with a subscription would
 * be known for one of an endpoint that takes messages. */
TEST(an_endpoint_with_messages_announces_its_retention)
{
    assert_int_equal(announcements("memory:said", &shared, "billing"), 1);
    assert_int_equal(announcements("memory:said", &shared, "metrics"), 1);
    assert_int_equal(announcements("memory:said", &idle, "without"), 0);
}

/* ---- A clock that is wrong ------------------------------------------------------------------- */

/* The machine's clock is ahead of the server's, or behind it. */
TEST(e34_a_server_tells_the_time_of_a_sweep)
{
    pawl__sweep_clock believed = {0};
    assert_int_equal(pawl__retention_time(&believed, 500, 0, 900, 1), 500);
    assert_int_equal(pawl__retention_time(&believed, 500, 0, 400, 2), 400);
    assert_int_equal(believed.time, 0);
}

TEST(e34_a_clock_that_is_ahead_is_believed_after_a_day)
{
    const pawl_time   start    = WORLD_START;
    pawl__sweep_clock believed = {0};
    int64_t           up       = 7; /* monotonic */
    pawl_time         ahead    = start + PAWL_DAYS(21);
    assert_int_equal(pawl__retention_time(&believed, 0, start, ahead, up), start);
    up += PAWL_HOURS(23);
    ahead += PAWL_HOURS(23);
    assert_int_equal(pawl__retention_time(&believed, 0, ahead, ahead, up), start + PAWL_HOURS(23));
    up += PAWL_HOURS(1);
    ahead += PAWL_HOURS(1);
    assert_int_equal(pawl__retention_time(&believed, 0, ahead, ahead, up), ahead);
    /* Another step ahead, and back. */
    up += PAWL_MINUTES(5);
    assert_int_equal(pawl__retention_time(&believed, 0, 0, ahead + PAWL_DAYS(9), up),
                     ahead + PAWL_MINUTES(5));
    up += PAWL_MINUTES(5);
    ahead += PAWL_MINUTES(10);
    assert_int_equal(pawl__retention_time(&believed, 0, 0, ahead, up), ahead);
    up += PAWL_HOURS(20);
    ahead += PAWL_HOURS(20) + PAWL_MINUTES(1); /* set by a minute */
    assert_int_equal(pawl__retention_time(&believed, 0, 0, ahead, up), ahead);
    up += PAWL_HOURS(5); /* a day after the first step */
    ahead += PAWL_HOURS(5);
    assert_int_equal(pawl__retention_time(&believed, 0, 0, ahead + PAWL_DAYS(9), up), ahead);
}

TEST(e34_the_first_clock_of_a_store_without_records_is_believed)
{
    pawl__sweep_clock believed = {0};
    assert_int_equal(pawl__retention_time(&believed, 0, 0, WORLD_START, 7), WORLD_START);
    assert_int_equal(pawl__retention_time(&believed, 0, 0, WORLD_START + PAWL_DAYS(9), 8),
                     WORLD_START + 1);
}

/* The first step of an endpoint, by this machine's clock. */
static void step_in_time(const char *url)
{
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    pawl_step             step     = PAWL_STEP_INIT;
    options.store                  = url;
    must(pawl_endpoint_create(&shared, "billing", &options, &endpoint, world_error()));
    must(pawl_endpoint_step(endpoint, &step, world_error()));
    pawl_endpoint_destroy(endpoint);
}

static void mark(pawl_store *store, int count, const char *name, pawl_time at)
{
    static pawl_inbox_entry marks[1000];
    static char             ids[1000][20];
    for (int i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%s-%d", name, i);
        marks[i] = (pawl_inbox_entry){
            .endpoint = PAWL_TEXT("billing"), .message_id = pawl_text_of(ids[i]), .at = at};
    }
    must(pawl_store_commit(
        store, &(pawl_changes){ONE_UNIT, .now = at, .inbox_entry = {marks, (size_t)count}}, NULL,
        world_error()));
}

static bool is_marked(pawl_store *store, const char *id)
{
    pawl_text text  = pawl_text_of(id);
    bool      known = false;
    must(pawl_store_inbox_known(store, PAWL_TEXT("billing"), &text, 1, &known, world_error()));
    return known;
}

/* Minute by minute; of a name, a record that is old comes before each. */
static long count_sweeps(world *it, const char *old)
{
    fault_plan_set(NULL);
    for (int i = 0; i < 10; i++) {
        if (old != NULL)
            mark(it->store, 1, test_text("%s%d", old != NULL ? old : "", i),
                 pawl_clock_now(it->machine) - PAWL_DAYS(8));
        world_go_machine(it, PAWL_MINUTES(1));
    }
    return fault_counts_now().by_op[fault_op_sweep];
}

/* Each minute; on PostgreSQL each five minutes, until one finds something. */
ON_ALL_STORES(o28_an_idle_server_is_swept_less_often, const char *url)
{
    bool is_rare = strncmp(url, "postgres", 8) == 0;
    fault_bind("swept", url);
    world *it = world_begin("fault:swept", &shared, "billing", NULL);
    world_drain(it);
    assert_int_equal(count_sweeps(it, NULL), is_rare ? 2 : 10);
    assert_int_equal(count_sweeps(it, "old"), is_rare ? 6 : 10);
    assert_int_equal(count_sweeps(it, NULL), is_rare ? 2 : 10);
}

/* By the records of the file the clock is eight days ahead, until a thousand others say the same. */
ON_STORE(e34_records_of_a_file_tell_whether_the_clock_is_ahead, const char *url, "sqlite")
{
    world    *it  = world_begin(url, &shared, "billing", NULL);
    pawl_time now = pawl_clock_now(NULL);
    mark(it->store, 3, "old", now - PAWL_DAYS(8));
    step_in_time(url);
    assert_true(is_marked(it->store, "old-0"));
    mark(it->store, 999, "new", now);
    step_in_time(url);
    assert_true(is_marked(it->store, "old-0"));
    mark(it->store, 1, "more", now);
    step_in_time(url);
    assert_false(is_marked(it->store, "old-0"));
    assert_true(is_marked(it->store, "new-0"));
}

static pawl_time  server;
static pawl_sweep asked;

static pawl_code tell_time(pawl_store *store, const pawl_diagnosis *what, pawl_arena *arena,
                           pawl_finding_rows *rows, pawl_error *error)
{
    static pawl_finding found = {.name = PAWL_TEXT_INIT("clock")};
    assert_true(what->is_brief && what->is_time);
    if (server == 0)
        return pawl_error_set(error, PAWL_EUNSUPPORTED, "no diagnosis");
    if (server < 0)
        return pawl_error_set(error, PAWL_EDENIED, "no time today");
    found.value = server - what->now;
    *rows       = (pawl_finding_rows){&found, 1};
    return PAWL_OK;
}

static pawl_code keep_sweep(pawl_store *store, const pawl_sweep *sweep, int64_t *count, bool *more,
                            pawl_error *error)
{
    asked = *sweep;
    return inner_sweep(store, sweep, count, more, error);
}

/* Rows of each kind are deleted by the server's time where the machine's is ahead of it, and by none where the
 * store fails to say it. */
TEST(e34_a_machine_whose_clock_is_ahead_of_the_server_deletes_nothing_more)
{
    static pawl_store_ops told;
    told          = like_memory("told", keep_sweep);
    told.diagnose = tell_time;
    must(pawl_store_register(&told, world_error()));
    pawl_time now = pawl_clock_now(NULL);
    server        = now - PAWL_DAYS(8);
    step_in_time("told:x");
    assert_int_equal(asked.inbox_before, server - PAWL_DAYS(7));
    assert_int_equal(asked.outbox_before, server - PAWL_DAYS(30));
    assert_int_equal(asked.bodies_before, server - PAWL_DAYS(30));
    assert_int_equal(asked.workers_before, server - PAWL_DAYS(1));
    asked.inbox_before = 7;
    server             = -1;
    step_in_time("told:x");
    assert_int_equal(asked.inbox_before, 7);
    server = 0;
    step_in_time("told:x");
    assert_in_range(asked.inbox_before - now + PAWL_DAYS(7), 0, PAWL_SECONDS(30));
}

/* ---- Options ---------------------------------------------------------------------------------- */

static void refused(pawl_endpoint_options options, const char *text)
{
    pawl_endpoint *endpoint = NULL;
    pawl_error     error    = PAWL_ERROR_INIT;
    options.options_size    = sizeof options;
    options.store           = "memory:refused";
    assert_int_equal(pawl_endpoint_create(&application, "source", &options, &endpoint, &error),
                     PAWL_ECONFIG);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, text);
}

TEST(o28_options_out_of_bounds_are_refused)
{
    refused((pawl_endpoint_options){.outbox_retention = -1}, "option outbox_retention is -1");
    refused((pawl_endpoint_options){.inbox_retention = -1}, "option inbox_retention is -1");
    refused((pawl_endpoint_options){.outbox_idle = -1}, "option outbox_idle is -1");
    refused((pawl_endpoint_options){.outbox_attempts = -1}, "option outbox_attempts is -1");
    refused((pawl_endpoint_options){.outbox_delay = -5}, "option outbox_delay is -5");
    refused((pawl_endpoint_options){.outbox_delay_max = -5}, "option outbox_delay_max is -5");
    refused((pawl_endpoint_options){.outbox_batch = 1000000}, "option outbox_batch is 1000000");
}

TEST(bad_routes_are_refused)
{
    static const pawl_transport_ops deaf = {.ops_size = sizeof deaf};
    static const pawl_transport_ops old  = {.ops_size = 8, .deliver = hear};
    pawl_route both[] = {{.name = "x", .url = "memory:x", .outbound = &ear}, {.name = NULL}};
    refused((pawl_endpoint_options){.routes = both}, "route 'x' leads more than one way");
    both[0] = (pawl_route){.name = "x", .url = "memory:x", .is_outbox = true};
    refused((pawl_endpoint_options){.routes = both}, "route 'x' leads more than one way");
    both[0] = (pawl_route){.name = "x", .outbound = &deaf};
    refused((pawl_endpoint_options){.routes = both}, "no function deliver");
    both[0] = (pawl_route){.name = "x", .outbound = &old};
    refused((pawl_endpoint_options){.routes = both}, "has 8 bytes");
    both[0] = (pawl_route){.name = "x", .url = "nosuch:place"};
    refused((pawl_endpoint_options){.routes = both}, "route 'x': no driver for 'nosuch:'");
    both[0] = (pawl_route){.name = "x", .url = "place"};
    refused((pawl_endpoint_options){.routes = both}, "route 'x': 'place' is not a URL of a store");
}

/* The rows as they were before a route had an outbound transport. */
typedef struct old_route {
    const char *name, *url, *queue, *system_prefix;
} old_route;

TEST(rows_of_an_older_header_are_read)
{
    static const old_route old[] = {
        {.name = "x"}, {.name = "y", .url = "memory:y"}, {.name = NULL}};
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    options.options_size           = offsetof(pawl_endpoint_options, route_size);
    options.store                  = "memory:older";
    options.routes                 = (const pawl_route *)(const void *)old;
    must(pawl_endpoint_create(&application, "source", &options, &endpoint, world_error()));
    pawl_endpoint_destroy(endpoint);
}
