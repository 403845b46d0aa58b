/* test_engine_foreign.c - due timeouts for a destination that no endpoint of the store
 * handles are sent there, then removed. E13.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/operations.h"
#include "support/foreign.h"
#include "support/world.h"

#include "runtime/runtime.h"

RECORD(lamp_state, (TEXT, lamp));
RECORD(switch_on, (TEXT, lamp));
PAWL_RECORD(ping, A_NUMBER);
PAWL_RECORD(remind, A_NUMBER);

static world_log seen;

static pawl_code on_switch_on(pawl_context *ctx, lamp_state *lamp, const switch_on *message)
{
    return pawl_timeout(ctx, "ring", PAWL_SECONDS(60));
}
PAWL_HANDLER(on_switch_on, lamp_state, switch_on);

static pawl_code on_ring(pawl_context *ctx, lamp_state *lamp)
{
    world_note(&seen, "ring(%.*s)", PAWL_TEXT_ARGS(lamp->lamp));
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_ring, lamp_state);

static pawl_code on_ping(pawl_context *ctx, const ping *message)
{
    world_note(&seen, "ping(%d)", message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_ping, ping);

static pawl_code on_remind(pawl_context *ctx, const remind *message)
{
    pawl_text saga = pawl_header_value(ctx, PAWL_HEADER_SAGA);
    world_note(&seen, "remind(%.*s)", PAWL_TEXT_ARGS(saga));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_remind, remind);

static pawl_code note_filter(pawl_context *ctx, const pawl_message *message, void *context)
{
    world_note(&seen, "filter(%.*s)", PAWL_TEXT_ARGS(message->type));
    return PAWL_DISCARD;
}

static const pawl_saga lamp_saga =
    SAGA_OF("Lamp", lamp_state, "lamp",
            {.handle = PAWL_HANDLE(on_switch_on), .key = "lamp", .starts = true},
            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"});

/* One without timeouts, one with, one that is sent to. */
static const pawl_endpoint_spec plain       = {.name     = "plain",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)})};
static const pawl_endpoint_spec house       = {.name = "house", .sagas = PAWL_SAGAS(&lamp_saga)};
static const pawl_endpoint_spec notice      = {.name     = "notice",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_remind)})};
static const pawl_application   application = APPLICATION("foreign", &plain, &house, &notice);

static world *open_world(const char *url, const pawl_endpoint_options *options)
{
    world_forget(&seen);
    world_make_tables(url, &application);
    return world_begin(url, &application, "plain", options);
}

/* Another endpoint of the same store, under the same clocks. */
static pawl_endpoint *open_endpoint(const world *it, const char *name, const pawl_route *routes)
{
    pawl_endpoint_options options  = it->options;
    pawl_endpoint        *endpoint = NULL;
    options.routes                 = routes;
    options.route_size             = sizeof(pawl_route);
    must(pawl_endpoint_create(&application, name, &options, &endpoint, world_error()));
    return endpoint;
}

static void drain(pawl_endpoint *endpoint)
{
    must(pawl_endpoint_drain(endpoint, NULL, world_error()));
}

/* ---- Sent ------------------------------------------------------------------------- */

ON_ALL_STORES(e13_a_due_timeout_for_elsewhere_is_sent_then_removed, const char *url)
{
    world *it = open_world(url, NULL);
    foreign_insert_for(it, "vans", 1, 60);
    pawl_step step = world_drain(it);
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(60));
    step = world_go(it, PAWL_SECONDS(60) - 1);
    assert_int_equal(world_queue(it, "vans").count, 0);
    step = world_go(it, 1);
    assert_int_equal(step.handled, 1);
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
    assert_int_equal(world_timeouts(it).count, 0);
    pawl_queue_rows rows = world_queue(it, "vans");
    assert_int_equal(rows.count, 1);
    const pawl_message *message = &rows.items[0].message;
    assert_true(pawl_text_equal(message->type, PAWL_TEXT("remind")));
    assert_true(pawl_text_equal(message->body, PAWL_TEXT("{}")));
    assert_true(pawl_text_equal(message->correlation_id, PAWL_TEXT("talk-1")));
    assert_true(
        pawl_text_equal(message->causation_id, PAWL_TEXT("01000000-0000-0000-0000-000000000000")));
    assert_true(world_says(message->headers, "\"tenant\":\"t1\""));
    assert_true(world_says(message->headers, "\"pawl.saga\":\"Parcel\""));
    assert_true(
        world_says(message->headers, "\"pawl.saga_id\":\"ab010000-0000-0000-0000-000000000000\""));
    assert_int_equal(rows.items[0].due, WORLD_START + PAWL_SECONDS(60));
}

/* By destination and due time, whatever else there is; a look takes what is due only. */
ON_ALL_STORES(e13_each_goes_at_its_time, const char *url)
{
    world *it = open_world(url, NULL);
    foreign_insert_for(it, "vans", 1, 10);
    foreign_insert_for(it, "vans", 2, 30);
    foreign_insert_for(it, "ships", 3, 20);
    foreign_insert_for(it, "ships", 4, 10);
    for (int i = 0; i < 40; i++)
        world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(i), PAWL_MESSAGE(ping, .number = i));
    world_drain(it);
    pawl_step step = world_go(it, PAWL_SECONDS(10));
    assert_int_equal(world_queue(it, "vans").count, 1);
    assert_int_equal(world_queue(it, "ships").count, 1);
    step = world_go(it, PAWL_SECONDS(40));
    assert_int_equal(world_queue(it, "vans").count, 2);
    assert_int_equal(world_queue(it, "ships").count, 2);
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
}

/* More than one claim takes. */
ON_ALL_STORES(e13_many_are_sent_in_pieces, const char *url)
{
    pawl_endpoint_options options = {.batch_messages = 4};
    world                *it      = open_world(url, &options);
    for (uint8_t i = 1; i <= 10; i++)
        foreign_insert_for(it, i % 2 == 0 ? "vans" : "ships", i, i);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(60));
    assert_int_equal(world_step(it).handled, 4);
    world_drain(it);
    assert_int_equal(world_queue(it, "vans").count, 5);
    assert_int_equal(world_queue(it, "ships").count, 5);
    assert_int_equal(world_timeouts(it).count, 0);
}

ON_ALL_STORES(e13_a_route_leads_through_the_outbox, const char *url)
{
    pawl_route            routes[] = {{.name = "abroad", .url = "memory:foreign-abroad"},
                                      {.name = "next_door", .queue = "door"},
                                      {.name = NULL}};
    pawl_endpoint_options options  = {
         .routes = routes, .route_size = sizeof routes[0], .no_service = true};
    world *it = open_world(url, &options);
    foreign_insert_for(it, "abroad", 1, 60);
    foreign_insert_for(it, "next_door", 2, 60);
    world_go(it, PAWL_SECONDS(60));
    pawl_outbox_row rows = world_outbox_row(it, PAWL_OUTBOX_PENDING);
    assert_true(pawl_text_equal(rows.destination, PAWL_TEXT("abroad")));
    assert_true(pawl_text_equal(rows.message.type, PAWL_TEXT("remind")));
    assert_true(world_says(rows.message.headers, "\"pawl.saga\":\"Parcel\""));
    assert_int_equal(rows.source.size, 0);
    assert_int_equal(world_queue(it, "door").count, 1);
    assert_int_equal(world_timeouts(it).count, 0);
}

/* Set again under its id when it was sent: that is another message, through the outbox
 * as well, whose rows are kept for their ids. */
ON_ALL_STORES(e13_set_again_under_its_id_is_sent_again, const char *url)
{
    pawl_route routes[] = {{.name = "abroad", .url = "memory:foreign-again"}, {.name = NULL}};
    pawl_endpoint_options options = {
        .routes = routes, .route_size = sizeof routes[0], .no_service = true};
    world *it = open_world(url, &options);
    for (int i = 1; i <= 2; i++) {
        foreign_insert_for(it, "abroad", 1, 10 * i);
        foreign_insert_for(it, "vans", 2, 10 * i);
        world_go(it, PAWL_SECONDS(10));
    }
    pawl_outbox_rows rows = world_outbox(it, PAWL_OUTBOX_PENDING);
    assert_int_equal(rows.count, 2);
    assert_false(pawl_text_equal(rows.items[0].message.id, rows.items[1].message.id));
    pawl_queue_rows sent = world_queue(it, "vans");
    assert_int_equal(sent.count, 2);
    assert_false(pawl_text_equal(sent.items[0].message.id, sent.items[1].message.id));
}

/* Without saga, name and correlation id it is a message all the same. */
ON_ALL_STORES(e13_a_bare_timeout_is_sent, const char *url)
{
    pawl_timeout_row row = {.id = {{{5}}}, .destination = PAWL_TEXT("vans"), .due = WORLD_START};
    world           *it  = open_world(url, NULL);
    foreign_insert(it, &row);
    world_drain(it);
    pawl_queue_row rows = world_queue_row(it, "vans");
    assert_true(pawl_text_equal(rows.message.type, PAWL_TEXT("pawl.timeout")));
    assert_int_equal(rows.message.headers.size, 0);
    assert_true(pawl_text_equal(rows.message.correlation_id, rows.message.id));
}

/* A foreign timeout is a message to its receiver like any other. */
ON_ALL_STORES(e13_the_receiver_handles_a_message, const char *url)
{
    static pawl_route     routes[] = {{.name = "bell", .queue = "notice"}, {.name = NULL}};
    pawl_endpoint_options options  = {.routes = routes, .route_size = sizeof routes[0]};
    world                *it       = open_world(url, &options);
    pawl_endpoint        *receiver = open_endpoint(it, "notice", NULL);
    foreign_insert_for(it, "bell", 1, 60);
    world_go(it, PAWL_SECONDS(60));
    LOG_AFTER(drain(receiver), seen, "remind(Parcel) ");
    assert_int_equal(world_dead(it).count, 0);
    pawl_endpoint_destroy(receiver);
}

/* Filters are about what is handled here. */
ON_ALL_STORES(e13_no_filter_stops_it, const char *url)
{
    static pawl_filter filters[] = {{.before = note_filter}, {.before = NULL}};
    pawl_application   filtered  = application;
    filtered.filters             = filters;
    world_forget(&seen);
    world_make_tables(url, &application);
    world *it = world_begin(url, &filtered, "plain", NULL);
    foreign_insert_for(it, "vans", 1, 0);
    world_post(it, NULL, PAWL_MESSAGE(ping, .number = 1));
    LOG_AFTER(world_drain(it), seen, "filter(ping) ");
    assert_int_equal(world_queue(it, "vans").count, 1);
}

/* ---- Not sent --------------------------------------------------------------------- */

/* A timeout that no queue takes becomes a dead letter; the others go out. */
ON_ALL_STORES(e13_one_that_cannot_be_sent_holds_up_no_other, const char *url)
{
    static char      headers[PAWL_HEADERS_SIZE_MAX + 1];
    world           *it  = open_world(url, NULL);
    pawl_timeout_row row = foreign_timeout("vans", 2, 20);
    memset(headers, 'x', sizeof headers - 1);
    memcpy(headers, "{\"long\":\"", strlen("{\"long\":\""));
    memcpy(headers + sizeof headers - 3, "\"}", 3);
    row.headers = pawl_text_of(headers);
    foreign_insert_for(it, "vans", 1, 20);
    foreign_insert(it, &row);
    foreign_insert_for(it, "vans", 3, 20);
    world_go(it, PAWL_SECONDS(20));
    assert_int_equal(world_queue(it, "vans").count, 2);
    assert_int_equal(world_timeouts(it).count, 0);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(pawl_text_equal(dead.items[0].queue, PAWL_TEXT("vans")));
    assert_true(pawl_text_equal(dead.items[0].message.type, PAWL_TEXT("remind")));
    assert_true(world_says(dead.items[0].message.headers, "\"pawl.saga\":\"Parcel\""));
    assert_true(world_says(dead.items[0].error, "message.headers"));
}

/* A timeout of an endpoint waits for it, whether it runs or not, and is handled directly. */
ON_ALL_STORES(e13_one_for_an_endpoint_of_the_store_is_left_to_it, const char *url)
{
    world         *it    = open_world(url, NULL);
    pawl_endpoint *other = open_endpoint(it, "house", NULL);
    world_post(it, NULL, PAWL_MESSAGE(ping, .number = 1));
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = WORLD_START};
    test_send(it->sender, "house", &options, PAWL_MESSAGE(switch_on, .lamp = PAWL_TEXT("l")));
    drain(other);
    pawl_endpoint_destroy(other);
    assert_int_equal(world_timeouts(it).count, 1);
    pawl_step step = world_go(it, PAWL_HOURS(1));
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
    assert_int_equal(world_timeouts(it).count, 1);
    assert_int_equal(world_queue(it, "house").count, 0);
    other = open_endpoint(it, "house", NULL);
    LOG_AFTER(drain(other), seen, "ping(1) ring(l) ");
    assert_int_equal(world_timeouts(it).count, 0);
    pawl_endpoint_destroy(other);
}

/* The endpoint with the route sends the timeout, now or when it runs again; without it any endpoint
 * does. */
ON_ALL_STORES(e13_who_has_the_route_sends_it, const char *url)
{
    static pawl_route routes[] = {{.name = "abroad", .queue = "border"}, {.name = NULL}};
    world            *it       = open_world(url, NULL);
    pawl_endpoint    *other    = open_endpoint(it, "notice", routes);
    pawl_endpoint_destroy(other);
    foreign_insert_for(it, "abroad", 1, 60);
    pawl_step step = world_go(it, PAWL_SECONDS(60));
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
    assert_int_equal(world_timeouts(it).count, 1);
    other = open_endpoint(it, "notice", routes);
    drain(other);
    assert_int_equal(world_queue(it, "border").count, 1);
    assert_int_equal(world_timeouts(it).count, 0);
    pawl_endpoint_destroy(other);
    other = open_endpoint(it, "notice", NULL);
    pawl_endpoint_destroy(other);
    foreign_insert_for(it, "abroad", 2, 60);
    world_drain(it);
    assert_int_equal(world_queue(it, "abroad").count, 1);
}

/* Two that have it, and one that has the beginning of its name. */
ON_ALL_STORES(e13_a_route_of_two_is_anybodys_of_them, const char *url)
{
    static pawl_route     routes[] = {{.name = "abroad", .queue = "border"}, {.name = NULL}};
    static pawl_route     longer[] = {{.name = "abroad2", .queue = "border2"}, {.name = NULL}};
    pawl_endpoint_options options  = {.routes = routes, .route_size = sizeof routes[0]};
    world                *it       = open_world(url, &options);
    pawl_endpoint_destroy(open_endpoint(it, "notice", routes));
    pawl_endpoint_destroy(open_endpoint(it, "house", longer));
    foreign_insert_for(it, "abroad", 1, 60);
    foreign_insert_for(it, "abroad2", 2, 60);
    foreign_insert_for(it, "abroa", 3, 60);
    world_go(it, PAWL_SECONDS(60));
    assert_int_equal(world_queue(it, "border").count, 1);
    assert_int_equal(world_queue(it, "abroa").count, 1);
    assert_int_equal(world_timeouts(it).count, 1);
}

/* Each of two endpoints announces the route: when the first gives it up, the second has it. */
ON_ALL_STORES(e13_a_route_that_one_of_two_gives_up_is_the_others, const char *url)
{
    static pawl_route routes[] = {{.name = "abroad", .queue = "border"}, {.name = NULL}};
    world            *it       = open_world(url, NULL);
    pawl_endpoint_destroy(open_endpoint(it, "notice", routes));
    pawl_endpoint_destroy(open_endpoint(it, "house", routes));
    pawl_endpoint_destroy(open_endpoint(it, "notice", NULL));
    foreign_insert_for(it, "abroad", 1, 60);
    world_go(it, PAWL_SECONDS(60));
    assert_int_equal(world_queue(it, "abroad").count, 0);
    assert_int_equal(world_timeouts(it).count, 1);
}

ON_ALL_STORES(e13_those_that_nobody_sends_are_spoken_of, const char *url)
{
    static pawl_route routes[] = {{.name = "abroad", .queue = "border"}, {.name = NULL}};
    world            *it       = open_world(url, NULL);
    pawl_endpoint_destroy(open_endpoint(it, "notice", routes));
    static test_lines lines;
    test_listen(&lines, PAWL_LOG_WARNING,
                "timeouts for 'abroad' are due since 2026-01-01T09:01:00");
    foreign_insert_for(it, "abroad", 1, 60);
    world_go_both(it, PAWL_MINUTES(11) - 1);
    assert_int_equal(lines.count, 0);
    world_go_both(it, 1);
    assert_int_equal(lines.count, 1);
    world_go_both(it, PAWL_MINUTES(60) - 1);
    assert_int_equal(lines.count, 1);
    world_go_both(it, 1);
    assert_int_equal(lines.count, 2);
    assert_non_null(strstr(lines.last, "queue 'notice'"));
    world_quiet();
}

/* Its own queue's, without a handler: a dead letter tells of it. */
ON_ALL_STORES(e13_one_for_an_endpoint_without_timeouts_is_dead, const char *url)
{
    world *it = open_world(url, NULL);
    foreign_insert_for(it, "plain", 1, 60);
    pawl_step step = world_drain(it);
    assert_int_equal(step.next_due, WORLD_START + PAWL_SECONDS(60));
    step = world_go(it, PAWL_SECONDS(60));
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
    assert_int_equal(world_timeouts(it).count, 0);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_true(world_says(dead.items[0].error, "no handler for timeout 'remind'"));
    assert_true(pawl_text_equal(dead.items[0].queue, PAWL_TEXT("plain")));
}

/* A lease that another one took first, and that ran out since: it is sent once. */
ON_ALL_STORES(e13_a_lost_lease_sends_nothing_twice, const char *url)
{
    pawl_timeout_rows rows;
    world            *it = open_world(url, NULL);
    foreign_insert_for(it, "vans", 1, 0);
    pawl_timeout_claim claim = {.destination = PAWL_TEXT("vans"),
                                .due_max     = WORLD_START,
                                .owner       = {{{7}}},
                                .now         = WORLD_START,
                                .lease       = PAWL_MINUTES(5)};
    must(pawl_store_timeout_claim(it->store, &claim, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    pawl_step step = world_drain(it);
    assert_int_equal(step.next_due, PAWL_TIME_MAX);
    assert_int_equal(world_queue(it, "vans").count, 0);
    world_go_machine(it, PAWL_MINUTES(5));
    assert_int_equal(world_queue(it, "vans").count, 1);
    assert_int_equal(world_timeouts(it).count, 0);
}
