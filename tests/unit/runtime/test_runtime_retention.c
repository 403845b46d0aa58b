/* test_runtime_retention.c - clean-up that fails again and again, and what an
 * endpoint is told about its outbox that it does not take; bodies of dead letters that are old. E34, O28, O29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_calls.h"
#include "pawl/store_dead.h"
#include "pawl/store_driver.h"
#include "support/world.h"

#define NOTE(F) F(INT32, number)
PAWL_RECORD(note, NOTE);
#define CALL(F) F(INT32, number)
PAWL_RECORD(call, CALL);

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    return pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number));
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_endpoint_spec source      = {.name     = "source",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)})};
static const pawl_application   application = APPLICATION("retention", &source);

static size_t heard;

static pawl_code hear(pawl_transport *transport, pawl_delivery *items, size_t count,
                      pawl_arena *arena, pawl_error *error)
{
    (void)transport, (void)items, (void)arena, (void)error;
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

static pawl_store_ops        unswept;
static const pawl_store_ops *swept;

static pawl_code open_memory(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    (void)url;
    return swept->open(store, "memory:unswept", options, error);
}

TEST(o29_ten_failures_in_a_row_are_critical)
{
    pawl_store *store = NULL;
    must(pawl_store_open("memory:unswept", NULL, &store, world_error()));
    swept   = store->ops;
    unswept = *swept;
    pawl_store_close(store);
    unswept.scheme = "unswept";
    unswept.open   = open_memory;
    inner_sweep    = unswept.sweep;
    unswept.sweep  = fail_sweep;
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
    (void)url;
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
    pawl_changes set = {
        .now = now, .unit_count = 1, .group_count = 1, .event_append = {events, COUNT}};
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
    (void)ctx, (void)message;
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
    refused((pawl_endpoint_options){.routes = both}, "route 'x': 'place' is no URL of a store");
}

/* The rows as they were before a route had a sink. */
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
